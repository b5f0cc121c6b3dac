"""What can be checked of a program with nothing but ourselves.

The network against the word graph; the delivered logic against what an engine gives; every export,
read back by our own readers, against the delivered logic.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.errors import mass_text
from boolcomp.common.errors import BoolcompError
from boolcomp.compact.result.network import plain_network, table_network
from boolcomp.logic import aiger, formats
from boolcomp.logic.equivalence import equivalent
from boolcomp.measure.verification.gatetext import read_gates
from boolcomp.targets import Options, export_texts
from boolcomp.targets.gates import gates_of
from boolcomp.targets.netlists import netlist_of
from boolcomp.targets.target import design_of
from boolcomp.targets.vectors import vectors
from boolcomp.targets.verilog import VERILOG_SYNTAX
from boolcomp.words.agreement import agrees

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from boolcomp.logic.netlist import Netlist
    from boolcomp.logic.network import Network
    from boolcomp.program.parts import Load
    from boolcomp.program.program import Program
    from boolcomp.words.graph import WordGraph

MOST_EXHAUSTIVE = 20  # bits of all inputs together
SAMPLES, SEED = 1 << 16, 1988
STAGES = 4  # of the pipelined export that is read back
VECTORS = 2048


@dataclass(frozen=True, slots=True)
class Check:
    """What was checked, how, on how many cases, and what came of it; None: not checked.

    What needs a tool that is not installed is `skipped`: nothing is known, and nothing promised.
    What is `conditional` holds on conditions that its note says.
    """

    name: str
    method: str
    cases: int = 0
    seconds: float = 0.0
    holds: bool | None = None
    note: str = ""
    skipped: bool = False
    conditional: bool = False


def own_checks(
    program: Program, load: float | None, deadline: float, step: Callable[[str], None]
) -> Iterator[Check]:
    """Yield every check that needs no tool; `step` hears of each before it begins."""
    for one in program.loads if load is None else (program.load(load),):
        ending = f", load {mass_text(one.payload)} kg" if len(program.loads) > 1 else ""
        step(f"graph{ending}")
        yield _against_graph(program, one, f"network against word graph{ending}")
        if one.graph is not None and one.joint is not None:
            step(f"logic of the graph{ending}")
            network = program.networks[one.joint.network]
            yield _proved(
                f"network against the graph's logic{ending}", network, one.graph, deadline
            )
    step("engine")
    yield _against_engine(program, load)
    wanted, _ = netlist_of(program, load)
    for target, pipeline in (("blif", 0), ("aiger", 0), ("aiger-ascii", 0), ("verilog", 0),
                             ("verilog", STAGES)):  # fmt: skip
        step(target)
        yield read_back(program, load, target, pipeline, wanted, deadline)


def _against_graph(program: Program, load: Load, name: str) -> Check:
    graph, joint = load.graph, load.joint
    if graph is None or joint is None:
        note = "a program of paper mode has none" if joint is None else "it is not in the program"
        return Check(name, "none", note=note, skipped=True)
    start = time.perf_counter()
    bits = sum(node.bits for node in graph.inputs)
    everything = bits <= MOST_EXHAUSTIVE
    words = _all_words(graph, bits) if everything else _random_words(graph)
    holds = agrees(program.networks[joint.network], graph, words)
    method, note = ("all words", "") if everything else ("random words", "sampled, not proved")
    cases = 1 << bits if everything else SAMPLES
    return Check(name, method, cases, time.perf_counter() - start, holds, note)


@cache
def logic_of(graph: WordGraph) -> Network:
    """Return the network that a graph says by rule: heaps of adders, tables made one by one."""
    return table_network(graph).network


def _proved(name: str, network: Network, graph: WordGraph, deadline: float) -> Check:
    start = time.perf_counter()
    if network == plain_network(graph).network:  # as programs for microcontrollers have it
        return Check(name, "structure", 0, time.perf_counter() - start, holds=True)
    verdict = equivalent(network, logic_of(graph), deadline=deadline)
    holds = None if verdict.verdict == "unknown" else verdict.holds
    note = "" if verdict.holds else str(verdict)
    seconds = time.perf_counter() - start
    return Check(name, verdict.method, verdict.cases, seconds, holds, note)


def _all_words(graph: WordGraph, bits: int) -> dict[str, NDArray[np.int64]]:
    rows = np.arange(1 << bits, dtype=np.int64)
    words, place = {}, bits
    for node in graph.inputs:
        place -= node.bits
        words[node.name] = rows >> place & ((1 << node.bits) - 1)
    return words


def _random_words(graph: WordGraph) -> dict[str, NDArray[np.int64]]:
    rng = np.random.default_rng(SEED)
    return {node.name: rng.integers(0, 1 << node.bits, SAMPLES, np.int64) for node in graph.inputs}


def _against_engine(program: Program, load: float | None) -> Check:
    """Compare the delivered logic with what the portable engine makes of the same words."""
    start = time.perf_counter()
    design = design_of(program, load)
    found = vectors(program, load, gates_of(design, VERILOG_SYNTAX, 0), VECTORS)
    count = len(found.given)
    ones = (1 << count) - 1
    planes = [_plane(found.given, k) for k in range(design.network.inputs)]
    made = design.network.fold(_Integers(ones), planes)
    wrong = 0
    for k, plane in enumerate(made):
        wrong |= plane ^ _plane(found.wanted, k)
    holds = wrong == 1 << found.wrong  # which is wrong on purpose
    note = "one of them wrong on purpose, and found so" if holds else "they differ"
    seconds = time.perf_counter() - start
    return Check("delivered logic against engine", "random words", count, seconds, holds, note)


def _plane(rows: tuple[str, ...], column: int) -> int:
    return int("".join(row[column] for row in reversed(rows)), 2)


class _Integers:
    """The algebra of planes as integers, row by row of a table: nothing that writers use."""

    def __init__(self, ones: int) -> None:
        self.ones = ones

    def constant(self, value: int) -> int:
        return self.ones if value else 0

    def node(self, lut: int, operands: tuple[int, ...]) -> int:
        found = 0
        for row in range(1 << len(operands)):
            if lut >> (row << (3 - len(operands))) & 1:
                term = self.ones
                for k, plane in enumerate(reversed(operands)):
                    term &= plane if row >> k & 1 else self.ones ^ plane
                found |= term
        return found


def read_back(
    program: Program,
    load: float | None,
    target: str,
    pipeline: int,
    wanted: Netlist,
    deadline: float,
) -> Check:
    """Write a program, read it by our own reader, and prove both equivalent."""
    ((file, content),) = export_texts(program, target, load, Options(pipeline=pipeline)).items()
    ending = f", {pipeline} stages" if pipeline else ""
    return compared(f"{target} read back{ending}", file, content, wanted, deadline)


def compared(name: str, file: str, content: str | bytes, wanted: Netlist, deadline: float) -> Check:
    """Read an export, and prove that it is a network under the same names."""
    start = time.perf_counter()
    try:
        found = _reader(file)(content)
    except BoolcompError as error:
        return Check(name, "reading", 0, time.perf_counter() - start, holds=False, note=str(error))
    seconds = time.perf_counter() - start
    if (found.inputs, found.outputs) != (wanted.inputs, wanted.outputs):
        return Check(name, "names", 0, seconds, holds=False, note="its ports are others")
    verdict = equivalent(wanted.network, found.network, deadline=deadline)
    holds = None if verdict.verdict == "unknown" else verdict.holds
    seconds = time.perf_counter() - start
    note = "" if verdict.holds else str(verdict)
    return Check(name, verdict.method, verdict.cases, seconds, holds, note)


def _reader(file: str) -> Callable[[str | bytes], Netlist]:
    def read(content: str | bytes) -> Netlist:
        data = content if isinstance(content, bytes) else content.encode()
        if file.endswith((".aig", ".aag")):
            return aiger.parse_aiger(data, file)
        text = data.decode()
        return (
            formats.read_netlist(text, file) if file.endswith(".blif") else read_gates(text, file)
        )

    return read
