"""What one can say of a PLA file without minimising it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.twolevel.cubes import unpack
from boolcomp.twolevel.dense import points_of

if TYPE_CHECKING:
    from boolcomp.twolevel.pla import Pla


@dataclass(frozen=True, slots=True)
class Statistics:
    """Sizes of a file and of the function that it gives.

    `unate` are inputs that ON rows read in one phase only, `unread` those that no row reads;
    `on_share`, `dc_share` are parts of all points of all outputs, None where there are too many to
    look at them.
    """

    kind: str
    inputs: int
    outputs: int
    rows: int
    on_rows: int
    dc_rows: int
    off_rows: int
    literals: int
    unate: int
    unread: int
    on_share: float | None
    dc_share: float | None


def statistics(pla: Pla, name: str) -> Statistics:
    """Count; a `DataError` with a witness where the file's sets contradict each other."""
    function = pla.function(name)
    zero, one = unpack(pla.on.zero, pla.inputs), unpack(pla.on.one, pla.inputs)
    negative, positive = (zero & ~one).any(axis=0), (one & ~zero).any(axis=0)
    shares: list[float | None] = [None, None]
    if function.is_dense and pla.outputs:
        table = function.dense
        shares = [float(points_of(plane, pla.inputs).mean()) for plane in (table.on, table.dc)]
    on_rows, dc_rows, off_rows = (
        int(np.any(plane.out, axis=1).sum()) for plane in (pla.on, pla.dc, pla.off)
    )
    return Statistics(
        kind=pla.kind, inputs=pla.inputs, outputs=pla.outputs, rows=len(pla.on),
        on_rows=on_rows, dc_rows=dc_rows, off_rows=off_rows, literals=pla.on.literals,
        unate=int((negative ^ positive).sum()), unread=int((~negative & ~positive).sum()),
        on_share=shares[0], dc_share=shares[1],
    )  # fmt: skip
