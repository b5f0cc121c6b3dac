"""The columns of codes that input words are: one each, or two where a word is wide."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from boolcomp.common.errors import UsageError
from boolcomp.engines.native import transpose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.engines.native.lines import Sample
    from boolcomp.engines.wiring import Port

MOST_BITS = 30  # cell indices are converted through signed 32-bit numbers


@dataclass(frozen=True, slots=True)
class PortPart:
    """A column of codes: an input word, or 16 bits at most of one that is wider."""

    port: Port
    part: Port
    shift: int

    @property
    def wide(self) -> bool:
        """Whether it is part of a wider word."""
        return self.port.code.bits > transpose.MOST_TRANSPOSED


def parts_of(ports: Sequence[Port], sample: Sample) -> list[PortPart]:
    """Return the columns of codes of input words."""
    parts = []
    for port in ports:
        code = port.code
        if code.bits > MOST_BITS:
            raise UsageError(f"an input word of {code.bits} bits is more than {MOST_BITS}")
        natural = replace(code, kind="natural")
        above = code.bits - transpose.MOST_TRANSPOSED
        if above > 0:
            low = replace(natural, bits=transpose.MOST_TRANSPOSED)
            high = replace(natural, bits=above)
            parts.append(PortPart(port, replace(port, code=high), transpose.MOST_TRANSPOSED))
            parts.append(PortPart(port, replace(port, code=low, first=port.first + above), 0))
        else:  # what comes as a word is cut as it is; the transposition makes Gray ones of cells
            parts.append(
                PortPart(port, replace(port, code=natural if sample == "i32" else code), 0)
            )
    return parts
