"""Checks of a program: own checks, simulation by Verilator, external tools, certificates.

Own checks compare the network with the word graph, the exported logic with an engine, and every
export, read back by independent readers, with the exported logic.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.base.errors import BoolcompError, DataError, mass_text
from boolcomp.base.files import temporary_folder, write_bytes, write_text
from boolcomp.base.processes import run_program
from boolcomp.base.results import ResultColumn, Results
from boolcomp.checker.__main__ import NO_CERTIFICATE, check_program
from boolcomp.checker.claim import described, not_verified
from boolcomp.checker.folder import read_program
from boolcomp.checker.lemmas import Lemma, add_final, cone_clauses
from boolcomp.checker.network import first_network
from boolcomp.compact.result import logic_like, plain_network
from boolcomp.logic import formats, lutmapping
from boolcomp.logic.equivalence import equivalent
from boolcomp.logic.network import Builder
from boolcomp.measure.verify_text import read_gates
from boolcomp.targets.networks import netlist_of
from boolcomp.targets.target import (
    COUNT,
    LEVELS,
    VERILOG,
    ExportOptions,
    design_of,
    export_texts,
    frame_of,
    vectors,
)
from boolcomp.words.simulation import agrees

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from boolcomp.checker.claim import ClaimSource
    from boolcomp.checker.folder import LoadFiles
    from boolcomp.checker.network import RuleNetwork
    from boolcomp.logic.formats import Netlist
    from boolcomp.logic.network import Network
    from boolcomp.program.program import Load, Program
    from boolcomp.targets.target import Files, Frame, Level
    from boolcomp.words.graph import WordGraph

    Rows = NDArray[np.uint32]


# --------------------------------------------------------------------------------------------------
# Checks without external tools.
# --------------------------------------------------------------------------------------------------


MOST_EXHAUSTIVE = 20  # bits of all inputs together
SAMPLES, SEED = 1 << 16, 1988
STAGES = 4  # pipeline stages of the export that is read back
VECTORS = 2048
FOUND_WRONG = "including one that is wrong on purpose, which was detected"


@dataclass(frozen=True, slots=True)
class Check:
    """The result of a check: name, method, cases, time; `holds` is None if undecided.

    A check is `skipped` if its tool is missing. A `conditional` check holds on conditions that its
    note states.
    """

    name: str
    method: str
    cases: int = 0
    seconds: float = 0.0
    holds: bool | None = None
    note: str = ""
    skipped: bool = False
    conditional: bool = False


def verdict_of(check: Check) -> str:
    """Return the result of a check as one word."""
    if check.skipped:
        return "skipped"
    if check.conditional:
        return "on conditions"
    return {True: "yes", False: "no", None: "unknown"}[check.holds]


CHECKS = (
    ResultColumn("name", "check", left=True),
    ResultColumn("method", "method", left=True),
    ResultColumn("cases", "cases"),
    ResultColumn("seconds", "seconds", text=".2f"),
    ResultColumn("holds"),
    ResultColumn("", "holds", verdict_of),
    ResultColumn("note", "note", left=True),
    ResultColumn("conditional"),
)


@dataclass(frozen=True, slots=True, repr=False)
class Verification(Results):
    """The table of the checks of a program; with `conditions` a check may hold on conditions.

    >>> import boolcomp as bc
    >>> found = bc.compile("machado-2r", bits=8).verify()
    >>> found.ok, [one.name for one in found.rows if one.skipped]
    (True, ['certificate'])
    """

    columns: Sequence[ResultColumn] = CHECKS
    rows: Sequence[Check] = ()
    conditions: bool = False

    def passed(self, one: Check) -> bool:
        return bool(one.holds) or (self.conditions and one.conditional)

    @property
    def ok(self) -> bool:
        """Whether at least one check holds, and all that are not skipped."""
        return any(map(self.passed, self.rows)) and all(
            self.passed(one) or one.skipped for one in self.rows
        )


def own_checks(
    program: Program, load: float | None, deadline: float, step: Callable[[str], None]
) -> Iterator[Check]:
    """Yield every check that needs no tool; `step` is called with its name before it starts."""
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
        note = "paper mode has no word graph" if joint is None else "the program has no word graph"
        return Check(name, "none", note=note, skipped=True)
    start = time.perf_counter()
    bits = sum(node.bits for node in graph.inputs)
    everything = bits <= MOST_EXHAUSTIVE
    words = _all_words(graph, bits) if everything else _random_words(graph)
    holds = agrees(program.networks[joint.network], graph, words)
    method, note = ("all words", "") if everything else ("random words", "sampled, not proved")
    cases = 1 << bits if everything else SAMPLES
    return Check(name, method, cases, time.perf_counter() - start, holds, note)


def _proved(name: str, network: Network, graph: WordGraph, deadline: float) -> Check:
    start = time.perf_counter()
    if network == plain_network(graph).network:  # as in programs for microcontrollers
        return Check(name, "structure", 0, time.perf_counter() - start, holds=True)
    verdict = equivalent(network, logic_like(graph, network), deadline=deadline)
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
    """Compare the exported logic with the portable engine on the same words."""
    start = time.perf_counter()
    design = design_of(program, load)
    found = vectors(program, load, frame_of(design, VERILOG), VECTORS)
    count = len(found.given)
    ones = (1 << count) - 1
    planes = [_plane(found.given, k) for k in range(design.network.inputs)]
    made = design.network.fold(_Integers(ones), planes)
    wrong = 0
    for k, plane in enumerate(made):
        wrong |= plane ^ _plane(found.expected, k)
    holds = wrong == 1 << found.falsified  # which is wrong on purpose
    note = FOUND_WRONG if holds else "they differ"
    seconds = time.perf_counter() - start
    return Check("delivered logic against engine", "random words", count, seconds, holds, note)


def _plane(rows: tuple[str, ...], column: int) -> int:
    return int("".join(row[column] for row in reversed(rows)), 2)


class _Integers:
    """The algebra of planes as integers, by rows of truth tables, independent of the writers."""

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
    """Write a program, read it back, and prove both equivalent."""
    ((file, content),) = export_texts(
        program, target, load, ExportOptions(pipeline=pipeline)
    ).items()
    ending = f", {pipeline} stages" if pipeline else ""
    return compared(f"{target} read back{ending}", file, content, wanted, deadline)


def compared(name: str, file: str, content: str | bytes, wanted: Netlist, deadline: float) -> Check:
    """Read an export, and prove that it is equivalent to a network with the same port names."""
    start = time.perf_counter()
    try:
        found = netlist_in(file, content)
    except BoolcompError as error:
        return Check(name, "reading", 0, time.perf_counter() - start, holds=False, note=str(error))
    seconds = time.perf_counter() - start
    if (found.inputs, found.outputs) != (wanted.inputs, wanted.outputs):
        return Check(name, "names", 0, seconds, holds=False, note="its ports differ")
    verdict = equivalent(wanted.network, found.network, deadline=deadline)
    holds = None if verdict.verdict == "unknown" else verdict.holds
    seconds = time.perf_counter() - start
    note = "" if verdict.holds else str(verdict)
    return Check(name, verdict.method, verdict.cases, seconds, holds, note)


def netlist_in(file: str, content: str | bytes) -> Netlist:
    """Read a file by its suffix; without one of a netlist it is Verilog."""
    data = content if isinstance(content, bytes) else content.encode()
    if file.endswith((".aig", ".aag")):
        return formats.parse_aiger(data, file)
    read = formats.read_netlist if file.endswith(".blif") else read_gates
    return read(data.decode(), file)


# --------------------------------------------------------------------------------------------------
# Simulation of a million words by Verilator, compared with an engine.
#
# One output word is wrong on purpose and must be detected. Saturation flags are counted and
# compared with the count of the engine.
# --------------------------------------------------------------------------------------------------


SIMULATED, SIMULATION_SEED = 1_000_000, 1988
SOUND = "-fno-const-bit-op-tree"  # some versions are wrong on trees of XOR (issues 4059, 5186)
METHOD = "Verilator, compiled"
_MAIN = """\
#include <cstdint>
#include <cstdio>
#include <vector>
#include "V{module}.h"

int main() {{
    V{module} top;
    std::vector<uint32_t> row({columns});
    std::FILE *file = std::fopen("vectors.bin", "rb");
    unsigned long long rows = 0, differ = 0, last = 0, flags = 0;
    if (!file) return 1;
    while (std::fread(row.data(), 4, row.size(), file) == row.size()) {{
{given}
        top.eval();
        if ({wrong}) {{ differ++; last = rows; }}
        flags += {flags};
        rows++;
    }}
    std::printf("%llu %llu %llu %llu\\n", rows, differ, last, flags);
    top.final();
    return 0;
}}
"""


def verilated(
    program: Program, load: float | None, deadline: float, level: Level = "gates",
    count: int = SIMULATED,
) -> Check:  # fmt: skip
    """Simulate a program's Verilog on seeded words, and compare with the program's engine."""
    name = "verilog words" if level == "words" else "verilog"
    if shutil.which("verilator") is None:
        return Check(name, METHOD, note="verilator was not found on PATH", skipped=True)
    if not (shutil.which("g++") and shutil.which("make")):
        return Check(name, METHOD, note="g++ or make was not found on PATH", skipped=True)
    start = time.perf_counter()
    frame = frame_of(design_of(program, load), VERILOG)
    (text,) = export_texts(program, "verilog", load, ExportOptions(level)).values()
    check = _run(frame, str(text), rows_of(program, load, frame, count), deadline, start)
    return replace(check, name=name)


def rows_of(program: Program, load: float | None, frame: Frame, count: int) -> tuple[Rows, int]:
    """Return a row of words for every sample, inputs then outputs, and the saturation count."""
    rng = np.random.default_rng(SIMULATION_SEED)
    loads = program.loads if load is None else (program.load(load),)
    words = [pin for pin in frame.outputs if not pin.port.flag]
    rows = np.zeros((count, len(frame.inputs) + len(words)), np.uint32)
    saturated = 0
    for place, part in enumerate(np.array_split(np.arange(count), len(loads))):
        block = rows[part[0] : part[-1] + 1] if len(part) else rows[:0]
        given = {
            one.name: rng.integers(0, one.code.cells, len(block), np.uint32)
            for one in program.inputs
        }
        for k, column in enumerate(given.values()):
            block[:, k] = column
        if len(loads) > 1:
            block[:, len(given)] = place
        none = np.zeros(len(block), np.uint32)
        arrays = [
            np.stack([given.get(name, none) for name in group.members], axis=1)
            for group in program.groups
        ]
        found = program.evaluate_words(*arrays, payload=loads[place].payload)
        block[:, len(frame.inputs) :] = found.words.reshape(len(block), -1)
        saturated += found.saturated_outputs
    return rows, saturated


def _run(
    frame: Frame, text: str, vectors: tuple[Rows, int], deadline: float, start: float
) -> Check:
    rows, saturated = vectors
    wrong = len(rows) // 3
    rows[wrong, -1] ^= 1
    files = [f"{frame.module}.v", "main.cpp"]
    build = ["--cc", "--exe", "--build", "-Wall", SOUND, "--top-module", frame.module, *files]
    with temporary_folder() as folder:
        write_text(folder / files[0], text, durable=False)
        write_text(folder / files[1], _harness(frame), durable=False)
        write_bytes(folder / "vectors.bin", rows.tobytes())
        verilator = shutil.which("verilator") or "verilator"
        built = run_program([verilator, *build], deadline, folder=folder)
        model = Path("obj_dir") / f"V{frame.module}"
        if built.code or not (folder / model).is_file():
            note = built.printed.decode("utf-8", "replace").strip()[-200:] or "timeout"
            return Check("", METHOD, 0, time.perf_counter() - start, None, note)
        ended = run_program([str(folder / model)], deadline, folder=folder)
    words = ended.printed.decode("ascii", "replace").split()
    holds = words == [str(len(rows)), "1", str(wrong), str(saturated)]
    note = FOUND_WRONG if holds else " ".join(words)[:200]
    return Check("", METHOD, len(rows), time.perf_counter() - start, holds, note)


def _harness(frame: Frame) -> str:
    """Return a main program that reads rows, and prints the number of wrong ones and the last."""
    given = [f"        top.{pin.name} = row[{k}];" for k, pin in enumerate(frame.inputs)]
    flags = [p.name for p in frame.outputs if p.port.flag]
    words = [p.name for p in frame.outputs if p.name not in flags]
    first = len(frame.inputs)
    return _MAIN.format(
        module=frame.module,
        columns=first + len(words),
        given="\n".join(given),
        wrong=" || ".join(f"top.{name} != row[{first + k}]" for k, name in enumerate(words)),
        flags=" + ".join(["0", *(f"top.{name}" for name in flags)]),
    )


# --------------------------------------------------------------------------------------------------
# Checks of exports by external equivalence checkers and simulators; skipped if not installed.
# --------------------------------------------------------------------------------------------------


_YOSYS = (
    "read_verilog {file}", "hierarchy -auto-top", "proc", "opt", "techmap", "opt",
    "splitnets -ports", "write_blif made.blif",
)  # fmt: skip


class SimulatorRun(NamedTuple):
    """A run of a simulator or linter: target, tool and commands."""

    name: str
    target: str
    tool: str
    pipeline: int
    commands: Callable[[list[str], str], list[list[str]]]
    bench: bool = True
    level: Level = "gates"


def _icarus(files: list[str], top: str) -> list[list[str]]:
    made = ["iverilog", "-g2005", "-Wall", "-s", top, "-o", "bench.vvp", *files]
    return [made, ["vvp", "-n", "bench.vvp"]]


def _verilator(files: list[str], top: str) -> list[list[str]]:
    return [["verilator", "--lint-only", "-Wall", "--top-module", top, *files]]


def _ghdl(files: list[str], top: str) -> list[list[str]]:
    ways = [["-a", *files], ["-e", top], ["-r", top]]
    return [["ghdl", way, "--std=93", *rest] for way, *rest in ways]


SIMULATIONS = tuple(
    SimulatorRun(name, target, tool, pipeline, commands, bench, level)
    for level in LEVELS
    for pipeline in (0, STAGES)
    for name, target, tool, commands, bench in (
        ("Icarus Verilog", "verilog", "iverilog", _icarus, True),
        ("Verilator's lint", "verilog", "verilator", _verilator, False),
        ("GHDL", "vhdl", "ghdl", _ghdl, True),
    )
)


def tool_checks(
    program: Program, load: float | None, deadline: float, step: Callable[[str], None]
) -> Iterator[Check]:
    """Yield the checks of a program's exports by external tools."""
    yield from _by_abc(program, load, deadline, step)
    step("Yosys")
    yield _by_yosys(program, load, deadline)
    loads = program.loads if load is None else (program.load(load),)
    levels = LEVELS if all(one.graph and one.joint for one in loads) else LEVELS[:1]
    for one in SIMULATIONS:
        if one.level in levels:
            step(one.name)
            yield _by_simulation(program, load, one, deadline)
    for level in levels:
        step("Verilator")
        yield verilated(program, load, deadline, level)


def _by_abc(
    program: Program, load: float | None, deadline: float, step: Callable[[str], None]
) -> Iterator[Check]:
    """Compare BLIF with AIGER, and networks with the logic of the word graph."""
    step("ABC")
    (wanted,) = export_texts(program, "blif", load).values()
    (given,) = export_texts(program, "aiger-ascii", load).values()
    files = {"a.blif": str(wanted), "b.blif": _through_aiger(str(given))}
    yield cec("aiger against blif", files, deadline)
    for one in program.loads if load is None else (program.load(load),):
        if one.graph is not None and one.joint is not None:
            ending = f", load {mass_text(one.payload)} kg" if len(program.loads) > 1 else ""
            network = program.networks[one.joint.network]
            like = logic_like(one.graph, network)
            files = {"a.blif": formats.render(network), "b.blif": formats.render(like)}
            yield cec(f"network against word graph{ending}", files, deadline)


def _through_aiger(text: str) -> str:
    return formats.render_netlist(formats.parse_aiger(text.encode()))


def cec(name: str, files: dict[str, str], deadline: float) -> Check:
    """Check by ABC whether two BLIF files with the same signal names are equivalent."""
    start = time.perf_counter()
    tool = lutmapping.find()
    if tool is None:
        return Check(name, "ABC cec", note=lutmapping.MISSING.note, skipped=True)
    found = lutmapping.run(tool, ["cec a.blif b.blif"], files, [], deadline=deadline)
    seconds = time.perf_counter() - start
    holds = True if "are equivalent" in found.printed else None
    if "NOT EQUIVALENT" in found.printed:
        holds = False
    note = "" if holds else (found.note or " ".join(found.printed.split())[:200])
    return Check(name, "ABC cec", 0, seconds, holds, note)


def _by_yosys(program: Program, load: float | None, deadline: float) -> Check:
    """Compare Verilog, read by Yosys, with BLIF."""
    name, method = "verilog against blif", "Yosys, ABC cec"
    command = _yosys()
    if command is None:
        note = "Yosys was not found: pip install 'boolcomp[abc]', or put yosys on PATH"
        return Check(name, method, note=note, skipped=True)
    start = time.perf_counter()
    ((file, text),) = export_texts(program, "verilog", load).items()
    (wanted,) = export_texts(program, "blif", load).values()
    with temporary_folder() as folder:
        write_text(folder / file, str(text), durable=False)
        script = "; ".join(_YOSYS).format(file=file)
        ended = run_program([*command, script], deadline, folder=folder)
        made = folder / "made.blif"
        if ended.code or not made.is_file():
            note = ended.printed.decode("utf-8", "replace").strip()[-200:] or "timeout of Yosys"
            return Check(name, method, 0, time.perf_counter() - start, None, note)
        found = cec(name, {"a.blif": str(wanted), "b.blif": made.read_text("utf-8")}, deadline)
    return Check(name, method, 0, time.perf_counter() - start, found.holds, found.note)


_RUN = (
    "import sys; from pyosys import libyosys as y; d = y.Design(); "
    "[y.run_pass(one.strip(), d) for one in sys.argv[1].split(';')]"
)


def _yosys() -> list[str] | None:
    """Return the command of Yosys, to which a script is appended, or None."""
    found = shutil.which("yosys")
    if found:
        return [found, "-q", "-p"]
    return [sys.executable, "-P", "-c", _RUN] if find_spec("pyosys") else None


def _by_simulation(
    program: Program, load: float | None, one: SimulatorRun, deadline: float
) -> Check:
    words = " words" if one.level == "words" else ""
    name = f"{one.target}{words}{f', {one.pipeline} stages' if one.pipeline else ''}"
    if shutil.which(one.tool) is None:
        return Check(name, one.name, note=f"{one.tool} was not found on PATH", skipped=True)
    files = export_texts(
        program, one.target, load, ExportOptions(one.level, one.pipeline, one.bench)
    )
    return simulated(name, one, files, deadline)


def simulated(name: str, one: SimulatorRun, files: Files, deadline: float) -> Check:
    """Run a test bench or a linter: it must pass without warnings."""
    start = time.perf_counter()
    cases = COUNT if one.bench else 0
    output = b""
    with temporary_folder() as folder:
        for file, text in files.items():
            write_text(folder / file, str(text), durable=False)
        for command in one.commands(list(files), Path(list(files)[-1]).stem):
            tool = shutil.which(command[0]) or command[0]
            ended = run_program([tool, *command[1:]], deadline, folder=folder)
            output += ended.printed
            if ended.code is None:
                note = f"stopped after {deadline:g} s"
                return Check(name, one.name, cases, time.perf_counter() - start, None, note)
            if ended.code:
                break
    text = output.decode("utf-8", "replace").strip()
    holds = not ended.code and ("PASS: " in text if one.bench else not text)
    holds = holds and len(text.splitlines()) == int(one.bench)  # a warning is an additional line
    note = "" if holds else " ".join(text.split())[:200]
    return Check(name, one.name, cases, time.perf_counter() - start, holds, note)


# --------------------------------------------------------------------------------------------------
# A program's certificate, checked by the independent checker and by tools.
# --------------------------------------------------------------------------------------------------


LONGEST = 1e6  # seconds: no time limit of the checker


@dataclass(frozen=True, slots=True)
class CertificateVerdict:
    """The steps of a certificate, the unconfirmed facts of the program, and a description."""

    steps: tuple[Check, ...]
    not_verified: tuple[str, ...]
    described: str


def chain(
    folder: str, step: Callable[[str], None], claim: ClaimSource | None = None, *, needed: bool
) -> CertificateVerdict:
    """Return the checker's verdict on a program; a missing certificate is skipped unless needed."""
    step("certificate")
    program = read_program(folder)
    if program.certificate is None and not needed and claim is None:
        none = Check("certificate", "none", note=NO_CERTIFICATE, skipped=True)
        return CertificateVerdict((none,), (), "")
    found = []
    for one in check_program(program, claim):
        found.append(Check(**asdict(one)))
        step(one.name)
    unverified = not_verified(program, confirmed=claim is not None)
    return CertificateVerdict(tuple(found), tuple(unverified), described(program))


def chain_alone(folder: str, claim: ClaimSource | None = None) -> CertificateVerdict:
    """Return the verdict of the checker in a separate process."""
    command = [sys.executable, "-P", "-m", "boolcomp.checker", "--json"]
    with tempfile.TemporaryDirectory() as scratch:
        if claim is not None:
            (Path(scratch) / "asked.toml").write_text(claim.text, "utf-8")
            command += ["--robot", str(Path(scratch) / "asked.toml")]
        ended = run_program([*command, "--", folder], LONGEST)
    text = ended.printed.decode("utf-8", "replace").strip()
    try:
        found = json.loads(text)
        steps = tuple(Check(**one) for one in found["steps"])
        return CertificateVerdict(steps, tuple(found["not_verified"]), str(found["described"]))
    except (ValueError, TypeError, KeyError) as error:
        raise DataError(text or "the checker ended without output") from error


def chain_tools(folder: str, deadline: float, step: Callable[[str], None]) -> Iterator[Check]:
    """Yield checks of networks by ABC, and of lemmas by another SAT solver."""
    loads = read_program(folder).loads
    for load in loads:
        if "lemmas" not in load.sections or load.network is None:
            continue
        ending = f", load {load.place}" if len(loads) > 1 else ""
        step("ABC")
        first = first_network(load)
        made = network_of(first.nodes, first.outputs)
        files = {"a.blif": formats.render(made), "b.blif": formats.render(load.network)}
        yield cec(f"first against final network{ending}", files, deadline)
        step("CaDiCaL")
        yield _by_solver(f"lemmas{ending}", load, deadline)


def network_of(nodes: RuleNetwork, outputs: list[int]) -> Network:
    """Return the checker's nodes as a network."""
    builder = Builder(nodes.inputs)
    literals = [0, *(builder.input(k) for k in range(nodes.inputs))]
    for table, operands in list(zip(nodes.tables, nodes.operands, strict=True))[len(literals) :]:
        literals.append(builder.node(table, *(literals[k >> 1] ^ (k & 1) for k in operands)))
    return builder.build(literals[k >> 1] ^ (k & 1) for k in outputs)


def _by_solver(name: str, load: LoadFiles, deadline: float) -> Check:
    """Prove every lemma over its cut, without the proofs of the certificate."""
    from pysat.solvers import Cadical153  # noqa: PLC0415 (used with tools only)

    start, method, count = time.perf_counter(), "CaDiCaL", 0
    try:
        nodes = first_network(load).nodes
        if load.network is not None:
            add_final(nodes, load.network)
        section = load.section("lemmas")
        for place, line in enumerate(section.lines):
            lemma = Lemma.parse(nodes, line, section.where(place))
            clauses = cone_clauses(nodes, 2 * lemma.signal, lemma.literal, set(lemma.cut))
            with Cadical153(bootstrap_with=clauses) as solver:
                if solver.solve():
                    seconds = time.perf_counter() - start
                    note = f"{section.where(place)}: wrong lemma: the signals differ over its cut"
                    return Check(name, method, count, seconds, holds=False, note=note)
            nodes.equal[lemma.signal] = lemma.literal
            count += 1
            if time.perf_counter() - start > deadline:
                note = f"{count} of {len(section.lines)} lemmas in time"
                return Check(name, method, count, deadline, None, note)
    except (BoolcompError, KeyError) as error:
        seconds = time.perf_counter() - start
        return Check(name, method, count, seconds, holds=False, note=str(error))
    return Check(name, method, count, time.perf_counter() - start, holds=True)
