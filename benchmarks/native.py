"""The native engine beside what the machine can do: ratios, all measured in one run.

Codes in and out (int8 or int16 columns), one core, in cache, minimum of many rounds; outputs are
checked against the numpy engine first, on 100,003 words and as many floats. `ideal` is nodes /
(512 x 3.75) cycles a sample: as many ternary operations a cycle as a loop with constant sources
does. `codes/bound` is the whole over ideal plus transposition, which is what the whole takes beyond
the logic alone. The clock is measured by a chain of additions, so it is that of the run. 256 and 64
bits are forced, and two threads run a batch larger than the caches.

Then, for programs of robots that ship, the best vectors of float by turns with the logic: words in
and out, 4096 samples in cache, runs of some 10 us, the least of each (`boolcomp bench` has all
rivals). Instructions, spills, copies and bytes of the logic's code are the same in every run.

    python benchmarks/native.py [PROGRAM ...] [--rounds 200] [--seconds 10]

PROGRAM is the folder of a saved program; without one the paper's arm is compiled in compact mode.
With `--rounds 0` only outputs are checked, code is counted and floats are met.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from rivals.offers import c_offers

import boolcomp as bc
from boolcomp.base.errors import table
from boolcomp.engines import llvm
from boolcomp.engines.avx512 import logic_assembly
from boolcomp.engines.engine import evaluate
from boolcomp.engines.native import NativeEngine, code_type
from boolcomp.engines.numpy import NumpyEngine
from boolcomp.measure import bench
from boolcomp.measure.bench import Timing, code_counts, draw_states, logic_offers
from boolcomp.measure.bench import compiler as host_compiler
from boolcomp.problem.functions import inverse_dynamics_problem
from boolcomp.problem.robot.library import robot_names

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from boolcomp.engines.engine import Wiring
    from boolcomp.program.program import Program

    Columns = list[NDArray[Any]]

BATCH, LARGE = 1 << 14, 1 << 22
PER_CYCLE = 3.75 * 512  # node samples
SMALL, SMALL_FACTOR, LARGE_FACTOR = 3000, 1.35, 2.0
THREADS, AVX2, PORTABLE = 1.85, 2.5, 16.0
FLOATS = 2.0  # times as fast as the best vectors of float, asked of programs that are not small
FLOAT_BATCH, TURNS = 4096, 2
CHECKED = 100_003
CHAIN = 100
LOGIC = "logic"


def fastest(work: Callable[[], object], rounds: int) -> float:
    """Return the least seconds of a call."""
    least = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        least = min(least, time.perf_counter() - start)
    return least


def clock() -> Callable[[], float]:
    """Return what measures cycles a second."""
    lines = [".globl chain", "chain:", "1:", *["add $1, %rax"] * CHAIN, "dec %rdi", "jnz 1b", "ret"]
    code = llvm.NativeCode("".join(f'module asm "{line}"\n' for line in lines), llvm.host())
    chain = code.function("chain", ctypes.c_int64)
    turns = 5000
    clock.code = code  # type: ignore[attr-defined]  # alive as long as the function
    return lambda: CHAIN * turns / fastest(lambda: chain(turns), 30)


def samples(wiring: Wiring, count: int) -> Columns:
    """Return random codes for every port."""
    rng = np.random.default_rng(1)
    columns: Columns = []
    for port in wiring.ports:
        half = 1 << port.code.bits - 1
        columns.append(rng.integers(-half, half, count).astype(code_type(port.code.bits)))
    return columns


def check(wiring: Wiring, engine: NativeEngine) -> None:
    """Stop unless the engine gives the codes of the numpy engine."""
    columns = samples(wiring, CHECKED)
    words = [np.zeros((CHECKED, width), np.uint32) for width in wiring.widths]
    for port, column in zip(wiring.ports, columns, strict=True):
        cells = column.astype(np.int64) + (1 << port.code.bits - 1)
        words[port.array][:, port.column] = port.code.word(cells)
    expected = evaluate(NumpyEngine(wiring), words, coded=True)
    found = engine.run_codes(columns)
    for result, column, word in zip(wiring.results, found.columns, expected.words.T, strict=True):
        cells = column.astype(np.int64) + (1 << result.code.bits - 1)
        if (result.code.word(cells) != word).any():
            sys.exit(f"width {engine.width} does not agree with numpy")
    if found.saturated != expected.saturated_outputs:
        sys.exit(f"width {engine.width} counts other saturated samples than numpy")
    rng = np.random.default_rng(2)
    rows = [np.zeros((CHECKED, width)) for width in wiring.widths]
    for port in wiring.ports:
        low, high = port.code.range.low, port.code.range.high
        rows[port.array][:, port.column] = rng.uniform(low, high, CHECKED)
    one, other = (evaluate(e, rows, coded=False) for e in (engine, NumpyEngine(wiring)))
    if (one.words != other.words).any() or (one.torques != other.torques).any():
        sys.exit(f"width {engine.width} does not agree with numpy on floats")


def per_sample(work: Callable[[int], object], rounds: int) -> float:
    """Return ns a sample of a batch, without what a call costs whatever its length."""
    half = BATCH // 2
    difference = fastest(lambda: work(BATCH), rounds) - fastest(lambda: work(half), rounds)
    return difference / (BATCH - half) * 1e9


def parts(engine: NativeEngine, rounds: int) -> dict[str, float]:
    """Return ns a sample of codes to codes, of planes to planes, of both transpositions."""
    columns = {n: [x[:n] for x in samples(engine.wiring, BATCH)] for n in (BATCH, BATCH // 2)}
    given = {n: engine.to_planes(x) for n, x in columns.items()}
    made = {n: engine.run_planes(x) for n, x in given.items()}
    out = {n: list(engine.run_codes(x).columns) for n, x in columns.items()}
    return {
        "codes": per_sample(lambda n: engine.run_codes(columns[n], out[n]), rounds),
        "planes": per_sample(lambda n: engine.run_planes(given[n], made[n]), rounds),
        "in": per_sample(lambda n: engine.to_planes(columns[n]), rounds),
        "out": per_sample(lambda n: engine.from_planes(made[n], n), rounds),
        "logic": logic_alone(engine, rounds),
    }


def logic_alone(engine: NativeEngine, rounds: int) -> float:
    """Return ns a sample of the logic on a tile that stays where it is."""
    logic = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(engine.address)
    turns, most = 16, engine.blocks
    with engine.tile() as tile:

        def work(blocks: int) -> None:
            for _ in range(turns):
                logic(tile, blocks)

        seconds = fastest(lambda: work(most), rounds)
        if most > 1:  # without what a call costs whatever its length
            seconds = (seconds - fastest(lambda: work(1), rounds)) * most / (most - 1)
    return seconds / (turns * most * engine.width) * 1e9


def measure(name: str, wiring: Wiring, rounds: int, hertz: Callable[[], float]) -> None:
    """Print the tables of one program, and which bounds hold."""
    nodes = sum(len(wiring.networks[call.network].nodes) for call in wiring.calls)
    print(f"\n== {name}: {nodes} nodes executed")
    rows, found = [], {}
    for width in (w for w in (512, 256, 64) if w < 512 or llvm.host().has_ternary):
        start = time.perf_counter()
        engine = NativeEngine(wiring, width)
        engine.run_codes(samples(wiring, 1))
        first = time.perf_counter() - start
        check(wiring, engine)
        ideal = nodes / PER_CYCLE / hertz() * 1e9
        ns = found[width] = parts(engine, rounds)
        whole = ns["codes"] / (ideal + ns["codes"] - ns["logic"])
        found[width] |= {"whole": whole, "first": first}
        rows.append([
            str(width), str(engine.blocks), f"{first:.2f}",
            *(f"{ns[k]:.3f}" for k in ("codes", "planes", "in", "out", "logic")),
            f"{ideal:.3f}", f"{ns['logic'] / ideal:.2f}", f"{whole:.2f}",
            f"{ns['codes'] / found[max(found)]['codes']:.2f}",
        ])  # fmt: skip
    head = ["bits", "blocks", "first call s", "codes ns", "planes ns", "in ns", "out ns",
            "logic ns", "ideal ns", "logic/ideal", "codes/bound", "times widest"]  # fmt: skip
    print(table(head, rows))
    gain = two_threads(wiring, rounds)
    print(f"two threads: {gain:.2f} times one, {LARGE} samples")
    factor = SMALL_FACTOR if nodes <= SMALL else LARGE_FACTOR
    bounds = [(gain >= THREADS, f"two threads {gain:.2f}, at least {THREADS}")]
    if 512 in found:
        wide = found[512]
        bounds += [
            (wide["whole"] <= factor, f"{wide['whole']:.2f} of what is ideal, at most {factor}"),
            *(
                (found[w]["codes"] <= most * wide["codes"],
                 f"{w} bits {found[w]['codes'] / wide['codes']:.2f} times 512, at most {most}")
                for w, most in ((256, AVX2), (64, PORTABLE))
            ),
        ]  # fmt: skip
    for holds, what in bounds:
        print(f"{'holds' if holds else 'DOES NOT HOLD'}: {what}")


def code_of_logic(wiring: Wiring) -> None:
    """Print the counts of the logic's code."""
    engine = NativeEngine(wiring)
    counts = {what: f"{count:.0f}" for what, count in code_counts(engine).items()}
    module = logic_assembly(engine.pieces, engine.layout) if engine.width == 512 else None
    if module is not None:
        lines = [line for line in module.splitlines() if "%zmm" in line]
        counts["three sources"] = str(sum("vpternlogq" in line for line in lines))
    counts["pieces"] = str(sum(bool(network.nodes) for network in engine.pieces.networks))
    counts["planes a block"] = str(engine.layout.slots)
    print("; ".join(f"{what} {count}" for what, count in counts.items()))


def against_floats(program: Program, seconds: float) -> None:
    """Print how many times as fast as the best vectors of float the logic is."""
    robot = bc.load_robot(program.name)
    states = draw_states(inverse_dynamics_problem(robot))
    mine = [o for o in logic_offers(program, LOGIC) if o.rival == LOGIC and "int" in o.kind]
    floats = [o for o in c_offers(robot, program.bits)
              if o.make and "vectors of float" in o.rival and "int" in o.kind]  # fmt: skip
    tasks = []
    for offer in [*mine, *floats]:
        found = bench.check(offer, states, program.bits)
        if isinstance(found, Timing) or found.wrong or offer.make is None:
            sys.exit(f"{offer.rival} is wrong")
        tasks.append(offer.make(states, FLOAT_BATCH, FLOAT_BATCH))
    least = [float("inf")] * len(tasks)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for k, task in enumerate(tasks):
            task.seconds(1)  # what the one before left in the caches
            least[k] = min(least[k], task.seconds(TURNS) / TURNS)
    ns = [x / FLOAT_BATCH * 1e9 for x in least]
    for offer, x in zip([*mine, *floats], ns, strict=True):
        print(f"{offer.rival}, {offer.kind}: {x:.3f} ns")
    gain = min(ns[1:]) / ns[0]
    nodes = sum(len(network.nodes) for network in program.networks)
    large = program.mode == "compact" and nodes > SMALL
    asked = f", asked {FLOATS}" if large else ""
    verdict = "" if not large else "holds: " if gain >= FLOATS else "DOES NOT HOLD: "
    print(f"{verdict}{gain:.2f} times as fast as the best vectors of float{asked}")


def two_threads(wiring: Wiring, rounds: int) -> float:
    """Return how many times as fast two threads are on a large batch."""
    columns = samples(wiring, LARGE)
    one, two = NativeEngine(wiring), NativeEngine(wiring, threads=2)
    out = list(one.run_codes(columns).columns)
    seconds = [float("inf"), float("inf")]
    for _ in range(max(5, rounds // 10)):  # by turns: other work on the machine meets both
        for k, engine in enumerate((one, two)):
            seconds[k] = min(seconds[k], fastest(lambda e=engine: e.run_codes(columns, out), 1))  # type: ignore[misc]
    return seconds[0] / seconds[1]


def main() -> None:
    """Measure every program named, or the paper's arm."""
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=10.0)
    arguments = parser.parse_args()
    programs = {name: bc.load_program(name) for name in arguments.programs}
    if not programs:
        programs["machado-2r, 8 bits, compact"] = bc.compile(
            bc.load_robot("machado-2r"), bits=8, mode="compact"
        )
    os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp()  # nothing is there yet: cold
    hertz = clock()
    print(f"{llvm.host().cpu}, {hertz() / 1e9:.2f} GHz, {os.cpu_count()} processors")
    for name, program in programs.items():
        wiring = program.wiring()
        if arguments.rounds:
            measure(name, wiring, arguments.rounds, hertz)
        else:
            print(f"\n== {name}")
            for width in (w for w in (512, 256, 64) if w < 512 or llvm.host().has_ternary):
                check(wiring, NativeEngine(wiring, width))
            print(f"every width agrees with numpy on {CHECKED} words and floats")
        code_of_logic(wiring)
        if program.name in robot_names() and host_compiler("gcc"):
            against_floats(program, arguments.seconds)


if __name__ == "__main__":
    main()
