"""What other people's tools say of a program's exports: equivalence checkers and simulators.

A tool that is not installed makes a check that is skipped, and says what is missing.
"""

from __future__ import annotations

import shutil
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from boolcomp.base.errors import mass_text
from boolcomp.base.files import temporary_folder, write_text
from boolcomp.base.processes import run_program
from boolcomp.logic import aiger, formats
from boolcomp.logic.synthesis import abc
from boolcomp.measure.verification.verilated import verilated
from boolcomp.measure.verify import Check, logic_of
from boolcomp.targets import LEVELS, Options, export_texts
from boolcomp.targets.vectors import COUNT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from boolcomp.program.program import Program
    from boolcomp.targets import Files, Level

STAGES = 4
_YOSYS = (
    "read_verilog {file}", "hierarchy -auto-top", "proc", "opt", "techmap", "opt",
    "splitnets -ports", "write_blif made.blif",
)  # fmt: skip


class Simulated(NamedTuple):
    """What a simulator, or a lint, needs of a program: a target, a tool, and its commands."""

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
    Simulated(name, target, tool, pipeline, commands, bench, level)
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
    """Yield every check that tools make of a program's exports."""
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
    """Compare BLIF with AIGER, and networks with what the word graph says, bit by bit."""
    step("ABC")
    (wanted,) = export_texts(program, "blif", load).values()
    (given,) = export_texts(program, "aiger-ascii", load).values()
    files = {"a.blif": str(wanted), "b.blif": _through_aiger(str(given))}
    yield cec("aiger against blif", files, deadline)
    for one in program.loads if load is None else (program.load(load),):
        if one.graph is not None and one.joint is not None:
            ending = f", load {mass_text(one.payload)} kg" if len(program.loads) > 1 else ""
            files = {
                "a.blif": formats.render(program.networks[one.joint.network]),
                "b.blif": formats.render(logic_of(one.graph)),
            }
            yield cec(f"network against word graph{ending}", files, deadline)


def _through_aiger(text: str) -> str:
    return formats.render_netlist(aiger.parse_aiger(text.encode()))


def cec(name: str, files: dict[str, str], deadline: float) -> Check:
    """Ask ABC whether two BLIF files are equivalent, by the names of their signals."""
    start = time.perf_counter()
    tool = abc.find()
    if tool is None:
        return Check(name, "ABC cec", note=abc.MISSING.note, skipped=True)
    found = abc.run(tool, ["cec a.blif b.blif"], files, [], deadline=deadline)
    seconds = time.perf_counter() - start
    holds = {True: True, False: None}["are equivalent" in found.printed]
    if "NOT EQUIVALENT" in found.printed:
        holds = False
    note = "" if holds else (found.note or " ".join(found.printed.split())[:200])
    return Check(name, "ABC cec", 0, seconds, holds, note)


def _by_yosys(program: Program, load: float | None, deadline: float) -> Check:
    """Compare Verilog, as Yosys reads it, with BLIF."""
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
            note = ended.printed.decode("utf-8", "replace").strip()[-200:] or "Yosys took too long"
            return Check(name, method, 0, time.perf_counter() - start, None, note)
        found = cec(name, {"a.blif": str(wanted), "b.blif": made.read_text("utf-8")}, deadline)
    return Check(name, method, 0, time.perf_counter() - start, found.holds, found.note)


_RUN = (
    "import sys; from pyosys import libyosys as y; d = y.Design(); "
    "[y.run_pass(one.strip(), d) for one in sys.argv[1].split(';')]"
)


def _yosys() -> list[str] | None:
    """Return the command to which a script is added."""
    found = shutil.which("yosys")
    if found:
        return [found, "-q", "-p"]
    return [sys.executable, "-P", "-c", _RUN] if find_spec("pyosys") else None


def _by_simulation(program: Program, load: float | None, one: Simulated, deadline: float) -> Check:
    words = " words" if one.level == "words" else ""
    name = f"{one.target}{words}{f', {one.pipeline} stages' if one.pipeline else ''}"
    if shutil.which(one.tool) is None:
        return Check(name, one.name, note=f"{one.tool} was not found on PATH", skipped=True)
    files = export_texts(program, one.target, load, Options(one.level, one.pipeline, one.bench))
    return simulated(name, one, files, deadline)


def simulated(name: str, one: Simulated, files: Files, deadline: float) -> Check:
    """Run a test bench, or a lint: it passes where nothing is warned of, and the bench says so."""
    start = time.perf_counter()
    cases = COUNT if one.bench else 0
    said = b""
    with temporary_folder() as folder:
        for file, text in files.items():
            write_text(folder / file, str(text), durable=False)
        for command in one.commands(list(files), Path(list(files)[-1]).stem):
            tool = shutil.which(command[0]) or command[0]
            ended = run_program([tool, *command[1:]], deadline, folder=folder)
            said += ended.printed
            if ended.code is None:
                note = f"stopped after {deadline:g} s"
                return Check(name, one.name, cases, time.perf_counter() - start, None, note)
            if ended.code:
                break
    text = said.decode("utf-8", "replace").strip()
    holds = not ended.code and ("PASS: " in text if one.bench else not text)
    holds = holds and len(text.splitlines()) == int(one.bench)  # a warning is a line more
    note = "" if holds else " ".join(text.split())[:200]
    return Check(name, one.name, cases, time.perf_counter() - start, holds, note)
