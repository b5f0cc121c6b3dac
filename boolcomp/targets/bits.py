"""A network as assignments of bits, 0 or 1, in any language with `&`, `|`, `^` and shifts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.logic import luts
from boolcomp.logic.network import CONSTANTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from boolcomp.targets.names import Names
    from boolcomp.targets.ports import Design

OPERATORS = {"and": "&", "or": "|", "xor": "^"}


def formula(lut: int, operands: Sequence[str], inverse: str = "1 ^ ") -> str:
    """Return a table over operands as a formula; `inverse` stands before what is inverted."""
    texts = [*operands, *[""] * (3 - len(operands))]
    for kind, x, y in luts.steps(lut):
        if kind == "not":
            texts.append(f"({inverse}{texts[x]})")
        else:
            texts.append(f"({texts[x]} {OPERATORS[kind]} {texts[y]})")
    return texts[-1]


def bit_assignments(
    design: Design, given: Sequence[str], made: Sequence[str], names: Names
) -> Iterator[tuple[str, str]]:
    """Yield names and formulas: the bits of what is given, nodes, words made, what saturated.

    Bit k of `saturated` stands for word k.
    """
    for name in (*given, *made):
        names.new(name)
    signals = ["0", "1"]
    used = {k for node in design.network.nodes for k in node.operands} | {*design.network.outputs}
    for port, name in zip(design.inputs, given, strict=True):
        for k in reversed(range(port.bits)):
            bit = names.new(f"{name}_{k}")
            if len(signals) in used:
                yield bit, f"{name} >> {k} & 1"
            signals.append(bit)
    first = CONSTANTS + design.network.inputs
    for place, (lut, operands) in enumerate(design.network.nodes):
        node = names.new(f"n{place}")
        text = formula(lut, [signals[k] for k in operands])
        yield node, text[1:-1]
        signals.append(node)
    if len(signals) != first + len(design.network.nodes):
        raise ValueError("ports do not fit their network")
    outputs = [signals[k] for k in design.network.outputs]
    flags = []
    words = list(made)
    place = 0
    for port in design.outputs:
        bits = outputs[place : place + port.bits]
        place += port.bits
        if is_flag(port.name):
            flags.append(f"{bits[0]} << {len(made) - len(words) - 1}")
        else:
            yield (
                words.pop(0),
                " | ".join(f"{b} << {port.bits - 1 - k}" for k, b in enumerate(bits)),
            )
    yield "saturated", " | ".join(flags) or "0"


def is_flag(name: str) -> bool:
    """Tell whether an output's port says if the one before it saturated."""
    return name.endswith("_saturated")
