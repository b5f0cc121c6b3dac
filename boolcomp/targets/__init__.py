"""Programs as files for other tools: one module a target, all over the same fold.

A target's function takes `(program, load, options)` and returns the texts (or bytes) of its files
by name. `load` is one of the program's payloads, or None: all of them.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from boolcomp.base.errors import mass_text
from boolcomp.common.errors import UsageError, listing, require_name

if TYPE_CHECKING:
    from boolcomp.program.program import Program

Level = Literal["gates", "words"]
LEVELS: tuple[Level, ...] = get_args(Level)
MOST_STAGES = 64
MOST_LOADS = 32  # in one design
LUTS = (4, 5, 6)
Files = dict[str, "str | bytes"]


@dataclass(frozen=True, slots=True)
class Options:
    """How a program is exported; not every target knows all of it (see `Target`)."""

    level: Level | None = None  # the first of those that a target has
    pipeline: int = 0  # stages between registers; 0: combinational
    test_bench: bool = False
    luts: int = 0  # inputs of look-up tables that the logic is mapped into; 0: nodes as they are
    cocotb: bool = False  # a test in Python


@dataclass(frozen=True, slots=True)
class Target:
    """What a program can be exported to: the function that writes it, and the options it knows."""

    writer: str  # module:function
    ending: str
    about: str
    levels: tuple[Level, ...] = ("gates",)
    pipelined: bool = False
    benched: bool = False
    mapped: bool = False
    cocotb: bool = False

    def write(self, program: Program, load: float | None, options: Options) -> Files:
        """Return the files of a program; what this target cannot do is a `UsageError`."""
        if options.level is not None and options.level not in self.levels:
            raise UsageError(f"{self.about} is written as {listing(self.levels)}")
        if not 0 <= options.pipeline <= MOST_STAGES:
            raise UsageError(f"a pipeline has 1 to {MOST_STAGES} stages, not {options.pipeline}")
        if options.pipeline and not self.pipelined:
            raise UsageError(f"{self.about} has no registers: leave out --pipeline")
        if options.test_bench and not self.benched:
            raise UsageError(f"there is no test bench for {self.about}: leave out --test-bench")
        if options.luts and not self.mapped:
            raise UsageError(f"{self.about} is not written as look-up tables: leave out --luts")
        if options.luts and options.level == "words":
            raise UsageError("words are not look-up tables: leave out --luts, or --level")
        if options.luts not in (0, *LUTS):
            known = listing(map(str, LUTS))
            raise UsageError(f"look-up tables have {known} inputs, not {options.luts}")
        if options.cocotb and not self.cocotb:
            raise UsageError(f"there is no test in cocotb for {self.about}: leave out --cocotb")
        module, _, function = self.writer.partition(":")
        write = getattr(importlib.import_module(module), function)
        files: Files = write(program, load, options)
        return files


WRITERS = {
    "verilog": Target(
        "boolcomp.targets.verilog:export_verilog",
        ".v",
        "Verilog-2005",
        LEVELS,
        pipelined=True,
        benched=True,
        mapped=True,
        cocotb=True,
    ),
    "vhdl": Target(
        "boolcomp.targets.vhdl:export_vhdl", ".vhd", "VHDL-93", LEVELS, pipelined=True, benched=True
    ),
    "blif": Target("boolcomp.targets.blif:export_blif", ".blif", "BLIF", mapped=True),
    "aiger": Target("boolcomp.targets.aiger:export_aiger", ".aig", "AIGER"),
    "aiger-ascii": Target(
        "boolcomp.targets.aiger_ascii:export_aiger_ascii", ".aag", "AIGER as text"
    ),
    "pla": Target("boolcomp.targets.networks:export_pla", ".pla", "PLA"),
    "c": Target("boolcomp.targets.c:export_c", ".c", "C99", ("words",)),
    "c-header": Target(
        "boolcomp.targets.c_single:export_c_header", ".h", "C99 in one header", ("words",)
    ),
    "c-sliced": Target("boolcomp.targets.c_sliced:export_c_sliced", ".c", "bit-sliced C99"),
    "bdd": Target(
        "boolcomp.targets.bdd:export_bdd", ".bdd", "a processor's program as text", ("words",)
    ),
    "bdd-binary": Target(
        "boolcomp.targets.bdd_binary:export_bdd_binary", ".bin", "a processor's memory", ("words",)
    ),
    "bdd-verilog": Target(
        "boolcomp.targets.bdd_verilog:export_bdd_verilog",
        ".v",
        "a processor that tests bits",
        ("words",),
        benched=True,
    ),
    "python": Target("boolcomp.targets.python:export_python", ".py", "Python", ("words", "gates")),
    "javascript": Target(
        "boolcomp.targets.javascript:export_javascript", ".mjs", "JavaScript", ("words", "gates")
    ),
}


def writer(name: str) -> Target:
    """Return a target by name."""
    require_name("target", name, WRITERS)
    return WRITERS[name]


def export_texts(
    program: Program, target: str, load: float | None = None, options: Options | None = None
) -> Files:
    """Return the files of a program for a target by name; all loads where none is named."""
    if load is not None:
        program.load(load)  # one that it does not have is a sentence
    elif len(program.loads) > MOST_LOADS:
        nodes = sum(len(network.nodes) for network in program.networks)
        raise UsageError(
            f"{len(program.loads)} loads in one design are about {nodes} nodes, and at most "
            f"{MOST_LOADS} loads are joined: say which with --load, such as "
            f"{mass_text(program.payloads[0])},{mass_text(program.payloads[-1])}"
        )
    return writer(target).write(program, load, options or Options())
