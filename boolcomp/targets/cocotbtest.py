"""A test of a Verilog module for cocotb, in Python: vectors, one of them wrong on purpose.

The file is a test module and starts itself: run as a program it builds and simulates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.targets.vectors import vectors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boolcomp.program.program import Program
    from boolcomp.targets.gates import Framed, Pin

_HEAD = '''\
"""{count} vectors of {module} for cocotb 2; vector {wrong} is wrong on purpose.

The test passes where it, and no other, is found to differ. To run it:

    pip install cocotb
    python test_{module}.py

Icarus Verilog simulates unless SIM names another simulator.
"""

import os
import sys
from pathlib import Path

import cocotb
from cocotb.triggers import Timer

MODULE = "{module}"
INPUTS = ({inputs},)
OUTPUTS = ({outputs},)
WRONG = {wrong}
# Of every vector the words of the inputs, then those of the outputs.
VECTORS = [
'''
_PLAIN = '''\
async def differing(dut):
    """Yield the numbers of all vectors whose outputs are others."""
    for place, row in enumerate(VECTORS):
        for name, word in zip(INPUTS, row):
            getattr(dut, name).value = word
        await Timer(10, "ns")
        if made(dut) != row[len(INPUTS) :]:
            yield place
'''
_CLOCKED = '''\
async def differing(dut):
    """Yield the numbers of all vectors whose outputs are others; every fifth clock is a stall."""
    seen = given = 0
    for clock in range(2 * (len(VECTORS) + {stages}) + 10):
        dut.clock.value = 0
        dut.enable.value = int(clock % 5 != 4)
        dut.valid_in.value = int(given < len(VECTORS))
        for name, word in zip(INPUTS, VECTORS[min(given, len(VECTORS) - 1)]):
            getattr(dut, name).value = word
        await Timer(5, "ns")
        dut.clock.value = 1
        await Timer(5, "ns")
        if clock % 5 != 4:
            given += 1
            if int(dut.valid_out.value):
                if seen >= len(VECTORS) or made(dut) != VECTORS[seen][len(INPUTS) :]:
                    yield seen
                seen += 1
    if seen != len(VECTORS):
        yield -1
'''
_TAIL = '''

def made(dut):
    """Return the words of the outputs."""
    return tuple(int(getattr(dut, name).value) for name in OUTPUTS)


@cocotb.test()
async def vectors_hold_and_the_wrong_one_differs(dut):
    found = [place async for place in differing(dut)]
    assert found == [WRONG], f"vectors {found} differ, not {WRONG} alone"


def main():
    """Build the module, simulate it, and return how many tests failed."""
    from cocotb_tools.check_results import get_results
    from cocotb_tools.runner import get_runner

    here = Path(__file__).resolve().parent
    runner = get_runner(os.environ.get("SIM", "icarus"))
    build = here / "sim_build"
    runner.build(
        sources=[here / f"{MODULE}.v"],
        hdl_toplevel=MODULE,
        build_dir=build,
        timescale=("1ns", "1ps"),
        always=True,
    )
    results = runner.test(hdl_toplevel=MODULE, test_module=f"test_{MODULE}", build_dir=build)
    tests, failed = get_results(results)
    return failed if tests else 1


if __name__ == "__main__":
    sys.exit(main())
'''


def cocotb_test(program: Program, load: float | None, frame: Framed) -> str:
    """Return the text of a test."""
    found = vectors(program, load, frame)
    lines = [
        _HEAD.format(
            count=len(found.given),
            module=frame.module,
            wrong=found.wrong,
            inputs=_names(frame.inputs),
            outputs=_names(frame.outputs),
        ).rstrip("\n")
    ]
    for given, wanted in zip(found.given, found.wanted, strict=True):
        words = [*_words(frame.inputs, given), *_words(frame.outputs, wanted)]
        lines.append(f"    ({', '.join(words)}),")
    loop = _CLOCKED.replace("{stages}", str(frame.stages)) if frame.stages else _PLAIN
    return "\n".join([*lines, "]", "", "", loop.rstrip("\n")]) + "\n" + _TAIL


def _names(pins: tuple[Pin, ...]) -> str:
    return ", ".join(f'"{pin.name}"' for pin in pins)


def _words(pins: tuple[Pin, ...], bits: str) -> Iterator[str]:
    place = 0
    for pin in pins:
        yield str(int(bits[place : place + pin.port.bits], 2))
        place += pin.port.bits
