"""Delays of FPGA cells and wires, for the stages of pipelines and the choice of adders.

`benchmarks/device_delays.py` fits the rows on critical paths of nextpnr and prints their errors. A
real board differs. A path between registers takes `register` and `detour`, and for every operation
in it a wire (`route`) and the cells of the operation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log2

from boolcomp.base.errors import require_name

USUAL_SIZE = 1000  # cells of a design for which the wires of the table hold


@dataclass(frozen=True, slots=True)
class Delays:
    """Delays of a device in ps.

    `register` is from the clock to an output, with the set-up of the next register. `carry_in` is
    from an operand to a carry chain, `carry` from bit to bit, `carry_out` from the chain to a bit
    of the sum. `route` is the wire from cell to cell, `detour` the excess of the longest wires of a
    path. Both grow by `growth` when a design doubles, and by `tangle` in designs of look-up tables
    only.
    """

    about: str
    inputs: int  # of a look-up table
    register: int
    lut: int
    carry_in: int
    carry: int
    carry_out: int
    route: int
    detour: int
    growth: float
    tangle: float
    fitted: bool = True

    @property
    def tailed(self) -> bool:
        """Whether a look-up table is between the last carry of a chain and a register: iCE40."""
        return "iCE40" in self.about

    @property
    def level(self) -> int:
        """The delay of a look-up table and of the wire to it."""
        return self.route + self.lut

    @property
    def overhead(self) -> int:
        """The delay of a path between registers without its operations."""
        return self.register + self.detour

    def sum(self, bits: int) -> int:
        """Return the delay of the sum of two words by a carry chain, and of the wire to it."""
        return self.route + self.carry_in + max(0, bits - 2) * self.carry + self.carry_out

    def sized(self, cells: int, *, tables: bool = False) -> Delays:
        """Return the delays in a design of about `cells` look-up tables and carry cells."""
        scale = max(0.5, 1 + self.growth * log2(max(1, cells) / USUAL_SIZE))
        scale *= 1 + self.tangle * tables
        return replace(self, route=round(self.route * scale), detour=round(self.detour * scale))


DELAYS = {  # register, look-up table, carry: in, next, out; wires: route, detour, growth, tangle
    "ice40": Delays("Lattice iCE40 HX8K", 4, 540, 403, 251, 139, 577, 604, 740, 0.04, 0.35),
    # Fitted on the 2R alone, with the growth of the HX8K.
    "up5k": Delays("Lattice iCE40 UP5K", 4, 1390, 1214, 657, 325, 1519, 1704, 1143, 0.04, 0.31),
    "ecp5": Delays("Lattice ECP5, speed grade 6", 4, 655, 236, 447, 35, 425, 772, 869, 0.06, 0.01),
    # Cells: Project X-Ray's database of Artix-7 (CLBLL_L.sdf, slow corner). Wires: assumed.
    "xilinx7": Delays("AMD Artix-7", 6, 400, 124, 650, 29, 313, 550, 600, 0.04, 0.3, fitted=False),
}  # fmt: skip


def delays_of(device: str, cells: int = USUAL_SIZE, *, tables: bool = False) -> Delays:
    """Return the delays of a device in a design of about `cells` cells, all of them `tables`."""
    require_name("device", device, DELAYS)
    return DELAYS[device].sized(cells, tables=tables)
