"""ns per sample of the paper's arm at 8 bits, two-level, by every engine; compile times; errors.

Both torques, float64 in and out, one core, the batch in the second-level cache, coding of the
inputs and decoding of the outputs included unless a row says otherwise. All engines run the same
samples in one process and must give the torques that arithmetic on the quantised terms gives, bit
for bit. The 16-input tables, T16 and T25 = T26 (one table), have a row of their own.

    python benchmarks/evaluate.py [--rounds 30]
"""

from __future__ import annotations

import argparse
import ctypes
import os
import sys
import tempfile
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.errors import table
from boolcomp.engines.engine import Batch, evaluate
from boolcomp.engines.llvm import host
from boolcomp.engines.native import NativeEngine
from boolcomp.engines.numpy import NumpyEngine
from boolcomp.logic.order import most_live
from boolcomp.paper.program import program_of
from boolcomp.paper.tables import quantised
from boolcomp.pipeline import compile_paper
from boolcomp.problem.dynamics import inverse_dynamics
from boolcomp.problem.robot.library import load_robot

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from boolcomp.engines.engine import Engine
    from boolcomp.program.program import Program

BATCH = 16_384  # 6 columns of float64: 768 KB
LARGE = 1 << 17  # numpy's best: its own time per operation counts less
WIDE = ("T16", "T25", "T26")
BOUND_NS, BOUND_NUMPY, BOUND_SECONDS = 12.0, 100.0, 10.0


def samples(count: int) -> list[NDArray[np.float64]]:
    """Return random q, qd and qdd over their ranges."""
    rng = np.random.default_rng(1)
    return [rng.uniform(-s, s, (count, 2)) for s in (np.pi, 1.0, 1.0)]


def without(program: Program, names: tuple[str, ...]) -> Program:
    """Return the program without some terms."""
    load = program.loads[0]
    outputs = tuple(
        replace(output, terms=tuple(t for t in output.terms if t.name not in names))
        for output in load.outputs
    )
    return replace(program, loads=(replace(load, outputs=outputs),))


def fastest(work: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Return the least and the median seconds of a call."""
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds), float(np.median(seconds))


def row(label: str, engine: Engine, states: list[NDArray[np.float64]], rounds: int) -> list[str]:
    """Measure an engine on a batch."""
    least, median = fastest(lambda: evaluate(engine, states, coded=False), rounds)
    count = len(states[0])
    return [label, str(count), f"{least / count * 1e9:.2f}", f"{median / count * 1e9:.2f}"]


def logic_alone(engine: NativeEngine, rounds: int) -> list[str]:
    """Measure the logic without the way in and out: planes to planes."""
    size = engine.layout.block_bytes * engine.blocks
    room = np.zeros(size + 64, np.uint8)
    start = -room.ctypes.data % 64
    logic = engine._logic.function("logic", ctypes.c_void_p, ctypes.c_int64)  # noqa: SLF001 (a part is measured)
    tile = room[start:].ctypes.data
    repeat = max(1, BATCH // (engine.blocks * engine.width))

    def work() -> None:
        for _ in range(repeat):
            logic(tile, engine.blocks)

    least, median = fastest(work, rounds)
    count = repeat * engine.blocks * engine.width
    label = f"llvm {engine.width}, logic alone"
    return [label, str(count), f"{least / count * 1e9:.2f}", f"{median / count * 1e9:.2f}"]


def measure(title: str, program: Program, rounds: int) -> tuple[float, float, float]:
    """Print the rows of one program; return ns of llvm and of numpy, and seconds to compile."""
    wiring = program.wiring()
    used = {call.network for call in wiring.calls}
    nodes = [len(wiring.networks[k].nodes) for k in sorted(used)]
    live = max(most_live(network) for network in wiring.networks)
    executed = sum(len(wiring.networks[call.network].nodes) for call in wiring.calls)
    print(f"\n== {title}: {sum(nodes)} nodes, {executed} executed, {live} live")
    rows, best, seconds = [], 0.0, 0.0
    widths = [width for width in (512, 256, 64) if width < 512 or host().has_ternary]
    states = samples(BATCH)
    numpy_engine = NumpyEngine(wiring)
    expected = evaluate(numpy_engine, states, coded=False)
    for width in widths:
        start = time.perf_counter()
        engine = NativeEngine(wiring, width)
        found = evaluate(engine, states, coded=False)
        cold = time.perf_counter() - start
        start = time.perf_counter()
        evaluate(NativeEngine(wiring, width), states, coded=False)
        warm = time.perf_counter() - start
        if found.torques.tobytes() != expected.torques.tobytes():
            sys.exit(f"llvm {width} does not agree with numpy")
        print(f"llvm {width}: compiled in {cold:.2f} s, read from the cache in {warm:.2f} s")
        rows += [row(f"llvm {width}", engine, states, rounds), logic_alone(engine, rounds)]
        if width == widths[0]:
            best, seconds = float(rows[0][2]), cold
    rows.append(row("numpy", numpy_engine, samples(LARGE), max(3, rounds // 10)))
    print(table(["engine", "batch", "ns/sample", "median"], rows))
    return best, float(rows[-1][2]), seconds


def codes_only(program: Program, rounds: int) -> None:
    """Print what float32 samples and code words cost instead of float64."""
    engine = NativeEngine(program.wiring())
    for kind in (np.float32, np.uint32):
        arrays = [np.zeros((BATCH, 2), kind) for _ in range(3)]
        batch = Batch((arrays[0], arrays[1], arrays[2]))
        least, _ = fastest(lambda batch=batch: engine.run(batch), rounds)  # type: ignore[misc]
        print(f"llvm {engine.width}, {kind.__name__} in: {least / BATCH * 1e9:.2f} ns/sample")


def main() -> None:
    """Measure, check, and say whether the bounds hold."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=30)
    rounds = parser.parse_args().rounds
    robot = load_robot("machado-2r")
    compiled = compile_paper(robot)
    plan, covers = compiled.plans[0], compiled.covers[0]
    print(f"covers in {compiled.seconds:.1f} s (minimised, or read from the store)")
    start = time.perf_counter()
    program = program_of(plan, [c.entry for c in covers], [c.cover for c in covers])
    print(f"networks of all covers in {time.perf_counter() - start:.2f} s")
    check = samples(200_000)
    found = program.evaluate(*check)
    if (found.torques != quantised(plan, check).values).any():
        sys.exit("the program does not compute the rounded sum of the quantised terms")
    steps = np.array([joint.code.step for joint in plan.outputs])
    error = (found.torques - inverse_dynamics(robot, *check)) / steps
    print(
        f"error against Newton-Euler in LSB: max {abs(error).max(axis=0).round(3)}, "
        f"rms {np.sqrt((error**2).mean(axis=0)).round(4)}, mean {error.mean(axis=0).round(4)}"
    )
    os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp()  # nothing is there yet: cold
    rest = without(program, WIDE)
    native, portable, _ = measure("without T16 and T25 = T26", rest, rounds)
    codes_only(rest, rounds)
    full, _, seconds = measure("all terms", program, rounds)
    print(f"\nT16 and T25 = T26 cost {full - native:.2f} ns/sample")
    for holds, what in (
        (native <= BOUND_NS, f"llvm {native:.2f} ns/sample, at most {BOUND_NS:.0f}"),
        (
            portable <= BOUND_NUMPY * native,
            f"numpy {portable / native:.1f} times as long, at most 100",
        ),
        (seconds <= BOUND_SECONDS, f"compiled in {seconds:.2f} s, at most {BOUND_SECONDS:.0f}"),
    ):
        print(f"{'holds' if holds else 'DOES NOT HOLD'}: {what}")


if __name__ == "__main__":
    main()
