"""FPGAs as their tools know them: how Yosys synthesises for them, and what their cells are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.common.errors import require_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True, slots=True)
class Device:
    """A family: inputs of its tables, Yosys's command for it, its cells by name, nextpnr's part."""

    name: str
    about: str
    luts: int
    synthesis: str
    macro: str = ""  # makes our look-up tables cells of the family
    dsp: str = ""  # what Yosys is told so that products go into multipliers
    no_dsp: str = ""
    router: str = ""
    part: tuple[str, ...] = ()
    tables: str = r"\$lut"
    carries: str = "-"
    multipliers: str = "-"
    memories: str = "-"
    registers: str = r"\$_.*DFF.*|\$.*dff.*"


DEVICES = {
    one.name: one
    for one in (
        Device(
            "ice40", "Lattice iCE40 HX8K", 4, "synth_ice40 -top {top}", "BOOLCOMP_ICE40", "-dsp",
            router="nextpnr-ice40", part=("--hx8k", "--package", "ct256", "--opt-timing"),
            tables="SB_LUT4", carries="SB_CARRY", multipliers="SB_MAC16", memories="SB_RAM.*",
            registers="SB_DFF.*",
        ),
        Device(
            "ecp5", "Lattice ECP5-25F, speed grade 6", 4, "synth_ecp5 -nowidelut -top {top}",
            "BOOLCOMP_ECP5", no_dsp="-nodsp",
            router="nextpnr-ecp5", part=(
                "--25k", "--package", "CABGA381", "--speed", "6", "--placer-heap-timingweight", "20"
            ),
            tables="LUT4", carries="CCU2C", multipliers="MULT18X18D|ALU54B", memories="DP16KD",
            registers="TRELLIS_FF",
        ),
        Device(
            "xilinx7", "Xilinx 7 series", 6,
            "synth_xilinx -family xc7 -nowidelut -noiopad -noclkbuf -flatten -top {top}",
            "BOOLCOMP_XILINX", no_dsp="-nodsp", tables="LUT[1-6]|INV", carries="CARRY4",
            multipliers="DSP48E1", memories="RAMB.*", registers="FD[RSCP]E.*",
        ),
        Device("lut4", "tables of four inputs", 4, "synth -flatten -lut 4 -top {top}"),
        Device("lut6", "tables of six inputs", 6, "synth -flatten -lut 6 -top {top}"),
    )
}  # fmt: skip


def device(name: str) -> Device:
    """Return a device by name."""
    require_name("target", name, DEVICES)
    return DEVICES[name]


@dataclass(frozen=True, slots=True)
class Cells:
    """What a design takes: tables, carry cells, multipliers, memories, flip-flops."""

    luts: int
    carries: int
    dsp: int
    bram: int
    ff: int


def counted(cells: Mapping[str, int], family: Device) -> Cells:
    """Sort cells by what they are."""

    def sum_of(pattern: str) -> int:
        known = re.compile(pattern)
        return sum(count for kind, count in cells.items() if known.fullmatch(kind))

    return Cells(*(
        sum_of(pattern)
        for pattern in (
            family.tables, family.carries, family.multipliers, family.memories, family.registers
        )
    ))  # fmt: skip


def flip_flops(cells: Iterable[str], family: Device) -> list[str]:
    """Return which kinds of cells are flip-flops."""
    known = re.compile(family.registers)
    return [kind for kind in cells if known.fullmatch(kind)]
