"""The paper's processor of one instruction beside other forms of the same torques: memory, cycles.

    python benchmarks/bdd.py                     # the paper's arm at 4, 6 and 8 bits
    python benchmarks/bdd.py --tables elbow-3r 4 # diagrams of a robot's tables alone, no covers

Cycles are those of both torques of a sample; every form has a memory of its own width, and adds a
term's word in a cycle. Walks are simulated on random words, and their words compared with the
program's. An operation a cycle is code for a processor that combines two bits (of the last form:
looks three up) and puts the result into a register; tables whole are a word of memory a row.
"""

from __future__ import annotations

import argparse
import time
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import boolcomp
from boolcomp.engines.numpy import lower
from boolcomp.logic.diagrams import (
    DiagramInput,
    DiagramWalk,
    Forest,
    Image,
    Leaf,
    diagram_of,
    laid_out,
    run_image,
    words_of,
)
from boolcomp.paper.plan import PlanOptions
from boolcomp.pipeline import run_passes
from boolcomp.targets.bdd import image_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from boolcomp.engines.engine import Call, Wiring
    from boolcomp.logic.diagrams import Diagram
    from boolcomp.logic.network import Network
    from boolcomp.logic.simulation import TruthTable
    from boolcomp.program.program import Program

SAMPLES, SEED = 500, 1988
BITS = (4, 6, 8)
SHIPPED = {6: ".43,.58"}  # results of compact mode; else the usual demand
OPERATION, LOOKUP = 3, 8  # bits that say which


class Row(NamedTuple):
    """A form: how much there is of it, its bytes, and the cycles of a sample."""

    form: str
    amount: str
    bits: int
    mean: float
    worst: int


def rows(program: Program, compact: Program) -> Iterator[Row]:
    """Yield a row a form."""
    image = image_of(program)
    checked(program, image)
    wiring = program.wiring()
    yield image_row("diagrams of words, fall through", image)
    leaves = {one for one in image.instructions if isinstance(one, Leaf)}
    two = 1 + max(image.bit_bits + 2 * image.address_bits, image.word_bits)
    plain = image.tests + len(leaves)
    yield Row("the same with two addresses", f"{plain} instructions", two * plain, *unjumped(image))
    yield image_row("diagrams of bits, a walk a bit", image_of_bits(wiring, image))
    yield tables_row(wiring)
    yield code_row("two levels, an operation a cycle", wiring)
    yield code_row("compact, an operation a cycle", compact.wiring())
    (network,) = compact.networks
    count = len(network.nodes)
    bits = count * (LOOKUP + 4 * address_bits(network))
    yield Row("compact, a node a cycle", f"{count} nodes", bits, count, count)


def unjumped(image: Image) -> tuple[float, int]:
    """Return the cycles of walks whose tests have two addresses, mean and worst."""

    @cache
    def length(place: int) -> tuple[float, int]:
        one = image.instructions[place]
        if isinstance(one, Leaf):
            return 1, 1
        if one.bit == image.always:
            return length(one.target)
        a, b = length(place + 1), length(one.target)
        return 1 + (a[0] + b[0]) / 2, 1 + max(a[1], b[1])

    found = [length(walk.entry) for walk in image.walks]
    return 1 + sum(mean for mean, _ in found), 1 + sum(worst for _, worst in found)


def tables_row(wiring: Wiring) -> Row:
    """Return what tables take that are stored whole: a row is read in a cycle."""
    calls = tables(wiring)
    different = {network for network, _ in calls}
    bits = sum(len(network.outputs) << network.inputs for network in different)
    return Row("tables whole", f"{len(different)} tables", bits, 1 + len(calls), 1 + len(calls))


def address_bits(network: Network) -> int:
    """Return the bits that say where a value is while a network is calculated."""
    kept = network.inputs + len(network.outputs) + lower(network).registers
    return (kept - 1).bit_length()


def code_row(form: str, wiring: Wiring) -> Row:
    """Return what code takes that calculates the networks of tables, an operation a cycle."""
    calls = tables(wiring)
    bits = steps = 0
    for network in {network for network, _ in calls}:
        code = lower(network).steps
        bits += len(code) * (OPERATION + 3 * address_bits(network))
    for network, _ in calls:
        steps += len(lower(network).steps)
    cycles = steps + (len(calls) if len(calls) > 1 else 0)
    return Row(form, f"{steps} operations", bits, cycles, cycles)


def image_row(form: str, image: Image) -> Row:
    """Return what walks take."""
    leaves = len(image.instructions) - image.tests - image.jumps
    amount = f"{image.tests} tests, {image.jumps} jumps, {leaves} leaves"
    return Row(form, amount, image.memory_bits, image.mean_cycles(), image.worst_cycles())


def checked(program: Program, image: Image) -> None:
    """Compare what the simulated processor delivers with the numpy engine's words."""
    rng = np.random.default_rng(SEED)
    words = {x.name: rng.integers(0, x.code.cells, SAMPLES) for x in program.inputs}
    zeros = np.zeros(SAMPLES, np.int64)
    arrays = [
        np.stack([words.get(name, zeros) for name in group.members], axis=1)
        for group in program.groups
    ]
    made = program.evaluate_words(*arrays, engine="numpy").words
    total = 0
    for k, row in enumerate(np.stack(list(words.values()), axis=1).tolist()):
        ran = run_image(image, row)
        total += ran.cycles
        if ran.words != tuple(made[k].tolist()):
            raise SystemExit(f"the processor delivers {ran.words}, the program {made[k]}")
    if abs(total / SAMPLES - image.mean_cycles()) > 0.02 * image.mean_cycles():
        raise SystemExit("the mean of cycles is not what was simulated")


def tables(wiring: Wiring) -> list[tuple[Network, Call]]:
    """Return the calls of tables, each with its network."""
    made = [(wiring.networks[call.network], call) for call in wiring.calls]
    return [(network, call) for network, call in made if call.total is None and call.port is None]


def image_of_bits(wiring: Wiring, like: Image) -> Image:
    """Return walks of every bit of every table for itself, whose leaves are 0 and 1."""
    forest = Forest()
    roots: list[int] = []
    for network, call in tables(wiring):
        words = words_of(network)
        width = len(network.outputs)
        for k in range(width):
            diagram = diagram_of(words >> k & 1, network.inputs)
            roots.append(forest.add(diagram, [like.always - 1 - plane for plane in call.inputs]))
    return image_of_walks(forest, roots, like.inputs)


def image_of_walks(forest: Forest, roots: list[int], inputs: tuple[DiagramInput, ...]) -> Image:
    """Return the memory of walks whose words go nowhere."""
    instructions, entries = laid_out(forest, roots, sum(word.bits for word in inputs))
    walks = tuple(DiagramWalk(entry, ()) for entry in entries)
    return Image(inputs, (), walks, ((0, len(walks)),), instructions)


def image_of_tables(source: str, bits: int) -> Image:
    """Return the walks through a robot's tables, which need no covers."""
    entries = run_passes(source, PlanOptions(bits), until="tables")
    reads: dict[str, int] = {}
    for word in (word for entry in entries for word in entry.plan.words):
        reads[word.variable.name] = max(reads.get(word.variable.name, 0), word.code.bits)
    inputs, low = [], sum(reads.values())
    for name, width in reads.items():
        low -= width
        inputs.append(DiagramInput(name, width, low))
    lows = {word.name: word.low for word in inputs}
    forest = Forest()
    made: dict[TruthTable, Diagram] = {}
    roots: dict[int, None] = {}  # equal tables of equal bits are walked once
    for entry in entries:
        if entry.table not in made:
            spans = tuple(word.inputs for word in entry.plan.words if word.inputs)
            words = entry.table.words().astype(np.int64)
            made[entry.table] = diagram_of(words, entry.table.inputs, spans)
        tested = [
            lows[word.variable.name] + reads[word.variable.name] - 1 - k
            for word in entry.plan.words
            for k in range(word.dropped, word.code.bits)
        ]
        roots[forest.add(made[entry.table], tested)] = None
    return image_of_walks(forest, list(roots), tuple(inputs))


def printed(found: Iterable[Row]) -> None:
    """Print a line a form."""
    for row in found:
        size = -(-row.bits // 8)
        print(f"  {row.form:34} {row.amount:40} {size:8} {row.mean:9.1f} {row.worst:7}", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bits", type=int, nargs="*", default=BITS)
    parser.add_argument("--tables", nargs=2, metavar=("ROBOT", "BITS"))
    given = parser.parse_args()
    print(f"  {'form':34} {'amount':40} {'bytes':>8} {'cycles':>9} {'at most':>7}")
    if given.tables:
        start = time.perf_counter()
        robot, bits = given.tables
        image = image_of_tables(robot, int(bits))
        print(f"{robot}, {bits} bits, {time.perf_counter() - start:.0f} s")
        printed([image_row("diagrams of words, fall through", image)])
        return
    for bits in given.bits:
        program = boolcomp.compile("machado-2r", bits=bits, mode="paper")
        compact = boolcomp.compile("machado-2r", bits=bits, rms_error=SHIPPED.get(bits))
        print(f"machado-2r, {bits} bits")
        printed(rows(program, compact))


if __name__ == "__main__":
    main()
