"""Random traffic over AXI4-Stream in cocotb, with the rules of the protocol as assertions.

Run as a script in a folder with the design TOP.v and `beats.json`: [[given, wanted], ...], integers
that are tdata. The tests know nothing of the design but its ports and its number of stages.
"""

from __future__ import annotations

import json
import os
import random
import sys
from pathlib import Path
from typing import Any

import cocotb
from cocotb.triggers import Timer

BEATS = [tuple(row) for row in json.loads(Path(os.environ["BEATS"]).read_text())]
LATENCY = int(os.environ["STAGES"]) + 1
MOST = 50  # clocks per beat
RATES = (1.0, 1.0, 0.9, 0.8, 0.5, 0.2)
EAGER = 2.0


def last_of(place: int) -> int:
    return int(place % 7 == 3)


class Traffic:
    """Offers beats and takes them, clock by clock, and asserts the rules of both streams."""

    def __init__(self, dut: Any, seed: int) -> None:
        self.dut, self.random = dut, random.Random(seed)  # noqa: S311 (stalls)
        self.given = self.seen = self.clocks = 0
        self.offered = False
        self.waiting: tuple[int, int] | None = None  # a beat of the design that was not taken

    async def reset(self) -> None:
        """Reset for one clock; all beats inside are lost."""
        dut = self.dut
        dut.aclk.value = dut.aresetn.value = dut.s_axis_tvalid.value = dut.m_axis_tready.value = 0
        await Timer(5, "ns")
        dut.aclk.value = 1
        await Timer(5, "ns")
        dut.aresetn.value = 1
        self.given = self.seen
        self.offered, self.waiting = False, None
        assert not int(dut.m_axis_tvalid.value), "valid after reset"

    async def clock(self, push: float, pull: float) -> None:
        """Run one clock; offer and take with these probabilities, EAGER: only what is valid."""
        dut, draw = self.dut, self.random.random
        self.offered = self.given < len(BEATS) and (self.offered or draw() < push)
        ready = bool(int(dut.m_axis_tvalid.value)) if pull == EAGER else draw() < pull
        before = int(dut.s_axis_tready.value)
        word = BEATS[self.given][0] if self.offered else self.random.getrandbits(32) & BEATS[0][0]
        dut.aclk.value = 0
        dut.s_axis_tvalid.value = int(self.offered)
        dut.s_axis_tdata.value = word
        dut.s_axis_tlast.value = last_of(self.given) if self.offered else 1
        dut.m_axis_tready.value = int(ready)
        await Timer(5, "ns")
        assert int(dut.s_axis_tready.value) == before, "s_axis_tready is combinational"
        valid = int(dut.m_axis_tvalid.value)
        if valid:
            beat = int(dut.m_axis_tdata.value), int(dut.m_axis_tlast.value)
            assert self.waiting in (None, beat), "a waiting beat changed"
            self.waiting = None if ready else beat
            if ready:
                assert beat == (BEATS[self.seen][1], last_of(self.seen)), f"beat {self.seen}"
                self.seen += 1
        assert valid or self.waiting is None, "m_axis_tvalid was withdrawn"
        if self.offered and before:
            self.given += 1
            self.offered = False
        dut.aclk.value = 1
        await Timer(5, "ns")
        self.clocks += 1


@cocotb.test()
async def every_beat_arrives_once_and_in_order_under_random_stalls(dut: Any) -> None:
    traffic = Traffic(dut, 1)
    await traffic.reset()
    push = pull = 1.0
    while traffic.seen < len(BEATS):
        if traffic.clocks % 64 == 0:
            push, pull = traffic.random.choice(RATES), traffic.random.choice(RATES)
        await traffic.clock(push, pull)
        assert traffic.clocks < MOST * (len(BEATS) + LATENCY), "beats are lost, or it hangs"
    for _ in range(4 * LATENCY):
        await traffic.clock(1, 1)  # another beat would be beyond the list
    assert traffic.given == len(BEATS)


@cocotb.test()
async def without_stalls_it_takes_and_gives_a_beat_per_clock(dut: Any) -> None:
    traffic = Traffic(dut, 2)
    await traffic.reset()
    count = min(len(BEATS), 500)
    for _ in range(count + LATENCY):
        await traffic.clock(1, 1)
    assert traffic.seen == count
    # A stall of any length costs its own clocks only.
    await traffic.reset()
    traffic.given = traffic.seen = 0
    for pull in (1, 0, 0, 0, 0, 0, 1, 0, 1):
        for _ in range(LATENCY + 3):
            await traffic.clock(1, pull)
    assert traffic.seen == 3 * (LATENCY + 3) - LATENCY
    await traffic.reset()
    traffic.given = traffic.seen = 0
    for _ in range(count + LATENCY):
        await traffic.clock(1, EAGER)
    assert traffic.seen == count


@cocotb.test()
async def after_a_reset_nothing_old_arrives(dut: Any) -> None:
    traffic = Traffic(dut, 3)
    for _ in range(20):
        await traffic.reset()
        for _ in range(traffic.random.randrange(3 * LATENCY + 6)):
            await traffic.clock(0.8, traffic.random.choice((0, 0.5, 1)))
    assert traffic.seen or LATENCY > 8


def main(simulator: str, top: str) -> int:
    """Build a design in the current folder, run the tests, and return how many failed."""
    from cocotb_tools.check_results import get_results
    from cocotb_tools.runner import get_runner

    runner = get_runner(simulator)
    build = f"build_{simulator}"
    options = ["-Wno-fatal", "-fno-const-bit-op-tree"] if simulator == "verilator" else []
    runner.build(sources=[f"{top}.v"], hdl_toplevel=top, build_dir=build, always=True,
                 timescale=("1ns", "1ps"), build_args=options)  # fmt: skip
    results = runner.test(hdl_toplevel=top, test_module="beats", build_dir=build)
    tests, failed = get_results(results)
    return failed if tests == 3 else 99


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
