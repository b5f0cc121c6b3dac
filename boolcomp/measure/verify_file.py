"""The proof that a given file (Verilog, VHDL, BLIF, AIGER) is equivalent to a program.

Verilog is read by the readers of exports first. Yosys reads files that these do not read or prove.
A pipeline is unrolled over its latency and proved by sweeping, from any state.
"""

from __future__ import annotations

import re
import shutil
import time
from collections import Counter
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from boolcomp.base.errors import (
    BoolcompError,
    DataError,
    UsageError,
    listing,
    parse_json,
    require_name,
)
from boolcomp.base.files import read_bytes, temporary_folder, write_text
from boolcomp.base.processes import run_program
from boolcomp.logic.equivalence import Comparison, equivalent, evaluate
from boolcomp.logic.formats import MOST_BYTES
from boolcomp.logic.network import AND2, FALSE, TRUE, Builder, Network, copied
from boolcomp.measure import fpga
from boolcomp.measure.verify import Check, netlist_in
from boolcomp.measure.verify_stream import EVERY, StreamWrapper, stream_ports, wrapper_compared
from boolcomp.measure.verify_text import CONTROLS, read_gates, read_words
from boolcomp.measure.verify_words import words_compared
from boolcomp.targets.networks import netlist_of
from boolcomp.targets.stream import layout_of
from boolcomp.targets.target import VERILOG, design_of, frame_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from pathlib import Path
    from typing import Any

    from boolcomp.logic.formats import Netlist
    from boolcomp.program.program import Program


SUFFIXES = (".v", ".vhd", ".vhdl", ".blif", ".aig", ".aag")
MOST_STAGES = 64
_COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\\\S+', re.DOTALL)
_MODULE = re.compile(r"\bmodule\s+(\w+).*?\bendmodule\b", re.DOTALL)
_OTHERS = re.compile(r"select (\w+) <=[^;]*[\"']([01]+)[\"'] when others;")
_ENDCASE = re.compile(r"(\d'b[01]+: (\w+) <= [^;]*;)\s*endcase")
# Verilog whose simulation and synthesis may differ, or that depends on more than the file.
_UNCLEAR = (
    (r"\binout\b", "inout ports are not supported"),
    (r"`include\b|\$readmem[bh]\b", "{0} reads another file"),
    (r"`(?:ifn?def|elsif)\s+(?!BOOLCOMP_)\w+", "its logic depends on a macro: {0}"),
    (r"``|`unconnected_drive\b|\bimport\b", "{0} is not compared"),
    (r"(?<![\w$\\])\$(?!(?:un)?signed\b|clog2\b|bits\b)\w+", "{0} is no logic"),
    (r"@\s*\(\s*(?!\*|posedge\b|negedge\b)[^)]*\)", "a sensitivity list is not compared: {0}"),
    (r"\b(?:function|task|fork|force|deassign)\b", "{0} is not compared"),
    (r"(?:=|\b(?:assign|always|initial|begin)|;)\s*#", "a delay is not compared"),
    (r"\(\*[^)]*\b(?:init|gclk|blackbox|whitebox)\b[^)]*\)", "an attribute is not compared: {0}"),
)
# A blocking assignment; words after an `always` block; parts of blocks that are no statements.
_ASSIGNED = re.compile(r"(?<![\w$.])([A-Za-z_][\w$]*)\s*(?:\[[^\]]*\]\s*)*(?<![<>=!])=(?!=)")
_NEXT = re.compile(r"\b(?:always\w*|assign|endmodule|wire|input|output|initial|generate)\b")
_NO_STATEMENT = re.compile(r"\bfor\s*\([^)]*\)|\b(?:reg|integer|localparam|parameter)\b[^;]*;")
_PRAGMA = re.compile(r"\b(?:translate_o(?:n|ff)|full_case|parallel_case)\b")
_YOSYS = (
    "read_verilog {file}", "hierarchy -check -top {top}", "{core}", "proc", "flatten", "check",
    "setundef -undriven -anyseq", "memory_collect", "memory_map -keepdc",
    "setundef -undriven -anyseq",
    "techmap t:$div t:$mod t:$divfloor t:$modfloor t:$pow %u %u %u %u %n",
    "dfflegalize -cell $_DFF_P_ 01 -cell $_DFF_???_ 01 -cell $_DLATCH_?_ x -cell $_SR_??_ x",
    "opt -nodffe -nosdff", "aigmap", "clean", "write_json made.json",
)  # fmt: skip


def file_checked(
    program: Program, load: float | None, path: Path, top: str | None, deadline: float,
    step: Callable[[str], None] = lambda _: None,
) -> Check:  # fmt: skip
    """Prove that a file is equivalent to a program; raise an error if it cannot be compared."""
    require_name("ending", path.suffix, SUFFIXES)
    start = time.perf_counter()
    data = read_bytes(path, MOST_BYTES)
    proof = _FileProof(program, load, path.name, deadline, step)
    if path.suffix in (".v", ".vhd", ".vhdl"):
        text = data.decode("utf-8", "replace")
        verdict = proof.verilog(text, top) if path.suffix == ".v" else proof.vhdl(text, top)
    elif top is not None:
        raise UsageError("--top names a module of Verilog or an entity of VHDL")
    else:
        verdict = proof.netlist(netlist_in(path.name, data))
    seconds = time.perf_counter() - start
    holds = None if verdict.verdict == "unknown" else verdict.holds
    if proof.sampled:
        note = f"{verdict.method}: these schedules are samples, as there are too many states"
        return Check(
            path.name, verdict.method, verdict.cases, seconds, None, note, conditional=True
        )
    return Check(path.name, verdict.method, verdict.cases, seconds, holds, verdict.note)


class ClockedLogic(NamedTuple):
    """The logic between registers, and the registers' initial values 0, 1 or x.

    Inputs are those of the program, `enable` and `valid_in` of a pipeline, the registers, and
    undriven signals. Outputs are those of the program, `valid_out`, and the registers' next values.
    """

    network: Network
    starts: str
    undriven: int


class _FileProof:
    def __init__(
        self, program: Program, load: float | None, file: str, deadline: float,
        step: Callable[[str], None],
    ) -> None:  # fmt: skip
        self.program, self.load, self.file, self.deadline = program, load, file, deadline
        self.step = step
        self.wanted, _ = netlist_of(program, load)
        self.tried: list[str] = []
        self.stages = 0  # of the module that was proved
        self.sampled = False  # whether the schedules of a stream are samples

    def same(self, kind: str, found: Collection[str], wanted: Collection[str]) -> None:
        """Raise an error that names the ports that differ."""
        parts = [
            f"{word} {listing(sorted(names)[:4])}{' …' if len(names) > 4 else ''}"
            for word, names in (
                ("lacks", {*wanted} - {*found}), ("also has", {*found} - {*wanted})
            )
            if names
        ]  # fmt: skip
        if parts:
            raise DataError(
                f"its {kind} differ from the program's: it {' and '.join(parts)}", where=self.file
            )

    def netlist(self, found: Netlist) -> Comparison:
        """Compare a netlist whose ports may be in another order."""
        self.step("equivalence")
        self.same("inputs", found.inputs, self.wanted.inputs)
        self.same("outputs", found.outputs, self.wanted.outputs)
        builder = Builder(len(self.wanted.inputs))
        given = [builder.input(self.wanted.inputs.index(name)) for name in found.inputs]
        made = dict(zip(found.outputs, copied(found.network, builder, given), strict=True))
        return self.proved(builder.build(made[name] for name in self.wanted.outputs))

    def proved(self, found: Network) -> Comparison:
        """Compare a network, whose further inputs are undriven signals."""
        builder = Builder(found.inputs)
        given = [builder.input(k) for k in range(len(self.wanted.inputs))]
        wanted = builder.build(copied(self.wanted.network, builder, given))
        verdict = equivalent(wanted, found, deadline=self.deadline)
        if verdict.witness is not None:
            word = verdict.witness[: len(self.wanted.inputs)]
            note = self.difference(word, evaluate(found, verdict.witness))
            return Comparison("different", verdict.method, verdict.cases, note=note)
        return self.undecided(verdict) if verdict.verdict == "unknown" else verdict

    def undecided(self, verdict: Comparison) -> Comparison:
        tried = "; ".join([*self.tried, f"{verdict.method}: {verdict.note}"])
        return Comparison("unknown", verdict.method, verdict.cases, note=f"tried {tried}")

    def difference(self, word: Sequence[int], made: Sequence[int]) -> str:
        """Describe an input word and both outputs."""
        given = _words(self.wanted.inputs, word)
        right = _words(self.wanted.outputs, evaluate(self.wanted.network, tuple(word)))
        wrong = _words(self.wanted.outputs, made)
        name = next((one for one in right if right[one] != wrong[one]), None)
        if name is None:
            return "valid_out differs"
        values = ", ".join(f"{one} = {value}" for one, value in given.items())
        return f"{name} is {wrong[name]} in the file, {right[name]} in the program, at {values}"

    # Verilog and VHDL.

    def verilog(self, text: str, top: str | None) -> Comparison:
        """Try the readers of exports, then Yosys."""
        plain = _COMMENT.sub(
            lambda match: match[0] if match[0][0] == "\\" else re.sub(r"\S", " ", match[0]), text
        )
        self.clear(text, plain)
        modules = re.findall(r"\bmodule\s+(\w+)", plain)
        twice = sorted(name for name, count in Counter(modules).items() if count > 1)
        if twice:
            raise DataError(f"module {twice[0]} is defined twice", where=self.file)
        top = top or self.top(plain, modules)
        require_name("module", top, modules)
        if len(modules) == 1:
            return self.by_readers(text) or self.by_yosys(text, top)
        spans = {match[1]: match.span() for match in _MODULE.finditer(plain)}
        start, end = spans.get(top, (0, 0))
        inside = {*re.findall(r"\w+", plain[start:end])} & {*modules} - {top}
        if inside and re.search(r"\bs_axis_tdata\b", plain[start:end]):
            return self.stream(text, top, inside)
        found = None
        if not inside and len(spans) == len(modules) and "`" not in plain:
            found = self.by_readers(text[start:end])
        return found or self.by_yosys(text, top)

    def stream(self, text: str, top: str, inside: set[str]) -> Comparison:
        """Prove the core, then the wrapper around any core of its latency."""
        if len(inside) != 1:
            raise UsageError("a module with streams must contain one module", where=self.file)
        (core,) = inside
        found = self.verilog(text, core)
        if not found.holds:
            return replace(found, note=f"{core}: {found.note}")
        module = self.synthesised(text, top, core)
        if isinstance(module, Comparison):
            return module
        self.step("streams")
        frame = frame_of(design_of(self.program, self.load), VERILOG)
        layout = layout_of(self.program, frame, self.stages)
        logic = self.logic(module, *stream_ports(layout), "aclk", core)
        wrapper = StreamWrapper(logic.network, layout, len(logic.starts), logic.undriven)
        verdict = wrapper_compared(wrapper, self.wanted.network, self.deadline)
        if verdict.verdict == "unknown":
            return self.undecided(verdict)
        self.sampled = verdict.verdict == "equivalent" and verdict.method != EVERY
        return replace(verdict, method=f"{found.method}; {verdict.method}")

    def clear(self, text: str, plain: str) -> None:
        """Raise an error at text that tools read differently, or that needs other files."""
        found = _PRAGMA.search(text)
        if found is not None:
            raise DataError(f"{found[0]}: synthesis differs from simulation", where=self.file)
        for pattern, sentence in _UNCLEAR:
            found = re.search(pattern, plain)
            if found is not None:
                what = " ".join(found[0].split())[:60]
                raise DataError(sentence.format(what), where=self.file)
        for head, block in _always(plain):
            written = list(_ASSIGNED.finditer(block))
            if written and "edge" in head:
                what = (
                    f"{written[0][1]} is assigned by = at a clock edge, which simulators may delay"
                )
                raise DataError(what, where=self.file)
            for name in {one[1] for one in written}:
                first = re.search(rf"(?<![\w$.]){name}\b", block)
                if first and not _ASSIGNED.match(block, first.start()):
                    what = f"{name} is read before it is assigned in always @*"
                    raise DataError(what, where=self.file)

    def top(self, plain: str, modules: list[str]) -> str:
        tops = [one for one in modules if len(re.findall(rf"\b{one}\b", plain)) == 1]
        tops = modules if len(modules) == 1 else tops  # a port may have its name
        if len(tops) != 1:
            what = f"several top modules: {listing(tops)}" if tops else "no top module"
            raise UsageError(what, "--top NAME selects a module", where=self.file)
        return tops[0]

    def vhdl(self, text: str, top: str | None) -> Comparison:
        found = re.search(r"(?i)\btextio\b|\bforeign\b|\bfile\s+\w+\s*:", text)
        if found is not None:
            raise DataError(f"{found[0]} reads another file", where=self.file)
        entities = re.findall(r"(?im)^\s*entity\s+(\w+)\s+is", text)
        used = {one.lower() for one in re.findall(r"(?im)^[^-\n]*\bentity\s+work\.(\w+)", text)}
        entities = [one for one in entities if one.lower() not in used] if top is None else entities
        ghdl = shutil.which("ghdl")
        if ghdl is None:
            raise UsageError("VHDL is read by GHDL, which was not found on PATH", where=self.file)
        if top is None and len(entities) != 1:
            what = f"several entities: {listing(entities)}" if entities else "no entity"
            raise UsageError(what, "--top NAME selects an entity", where=self.file)
        self.step("GHDL")
        made = {}
        with temporary_folder() as folder:
            write_text(folder / "file.vhd", text, durable=False)
            for form in ("vhdl", "verilog"):
                command = [ghdl, "--synth", "--std=93", f"--out={form}", "file.vhd", "-e"]
                ended = run_program([*command, top or entities[0]], self.deadline, folder=folder)
                made[form] = ended.printed.decode("utf-8", "replace")
                if ended.code is None:
                    note = f"GHDL was stopped after {self.deadline:g} s"
                    return Comparison("unknown", "GHDL", 0, note=note)
                if ended.code:
                    raise DataError(f"GHDL: {_last(made[form])}", where=self.file)
        # GHDL 2 omits the default of a case in Verilog, but not in VHDL.
        others = dict(_OTHERS.findall(made["vhdl"]))
        text = _ENDCASE.sub(
            lambda m: f"{m[1]} default: {m[2]} <= {len(others[m[2]])}'b{others[m[2]]}; endcase"
            if m[2] in others else m[0],
            made["verilog"],
        )  # fmt: skip
        return self.verilog(text[text.index("module ") :], None)

    def by_readers(self, text: str) -> Comparison | None:
        """Return the verdict on gates or words as they are exported; None if there is none."""
        self.step("reading")
        try:
            module = read_words(text, self.file)
            ports = [
                tuple(_bit(name, k, bits) for name, bits in some.items() for k in range(bits)[::-1])
                for some in (module.inputs, module.outputs)
            ]
            if ports != [self.wanted.inputs, self.wanted.outputs]:
                return None
            self.stages = module.stages
        except BoolcompError as error:
            self.tried.append(f"reading: {error.what}")
            return None
        try:
            return self.netlist(read_gates(text, self.file))
        except BoolcompError:
            self.step("words")
        check, *_ = words_compared(self.program, self.load, self.file, text)
        if check.holds and "sampled" not in check.note:
            return Comparison("equivalent", check.method, check.cases, note=check.note)
        self.tried.append(f"{check.method}: {check.note}")
        return None

    def by_yosys(self, text: str, top: str) -> Comparison:
        module = self.synthesised(text, top)
        if isinstance(module, Comparison):
            return module
        self.step("equivalence")
        clocked = any(one["type"] == "$_DFF_P_" for one in module["cells"].values())
        clocked |= "clock" in module["ports"]
        inputs = [*self.wanted.inputs, *(CONTROLS[1:3] if clocked else ())]
        outputs = [*self.wanted.outputs, *(CONTROLS[3:] if clocked else ())]
        logic = self.logic(module, inputs, outputs, "clock" if clocked else "")
        return self.pipeline(logic) if clocked else self.proved(logic.network)

    def synthesised(self, text: str, top: str, core: str = "") -> dict[str, Any] | Comparison:
        """Return a module as Yosys maps it, with a core as a black box; a verdict if it is late."""
        tool = fpga.find("yosys")
        if tool is None:
            note = "; ".join([*self.tried, fpga.missing("yosys")])
            raise UsageError(f"undecided without Yosys: {note}", where=self.file)
        self.step("Yosys")
        script = "; ".join(_YOSYS).format(
            file="file.v", top=top, core=f"blackbox {core}" if core else "proc"
        )
        with temporary_folder() as folder:
            write_text(folder / "file.v", text, durable=False)
            ended = run_program([*tool.command, "-p", script], self.deadline, folder=folder)
            made, printed = folder / "made.json", ended.printed.decode("utf-8", "replace")
            if ended.code is None:
                stopped = Comparison("unknown", "Yosys", 0, note=f"stopped, {self.deadline:g} s")
                return self.undecided(stopped)
            if ended.code or not made.is_file():
                raise DataError(f"Yosys: {_last(printed)}", where=self.file)
            if re.search("multiple conflicting drivers|Drivers conflicting", printed):
                raise DataError("a net has several drivers", where=self.file)
            document = parse_json(made.read_text("utf-8"), "the netlist of Yosys")
        found: dict[str, Any] = document["modules"][top]
        return found

    def logic(
        self, module: dict[str, Any], inputs: Sequence[str], outputs: Sequence[str], clock: str,
        core: str = "",
    ) -> ClockedLogic:  # fmt: skip
        """Return the logic of a module of Yosys; constants x and undriven nets are inputs.

        The outputs of a core inside are further inputs, its inputs further outputs.
        """
        ports: dict[str, dict[str, Any]] = {"input": {}, "output": {}}
        for name, port in module["ports"].items():
            bits, known = port["bits"], ports[port["direction"]]
            more = {_bit(name, k, len(bits)): b for k, b in enumerate(bits)}
            if not more.keys().isdisjoint(known):
                raise DataError(f"two ports have the bit {min(more)}", where=self.file)
            known |= more
        cells = [one for one in module["cells"].values() if one["type"] != "$scopeinfo"]
        registers = [one["connections"] for one in cells if one["type"] == "$_DFF_P_"]
        self.same("inputs", ports["input"], [*inputs, *([clock] if clock else [])])
        self.same("outputs", ports["output"], outputs)
        kinds = {one["type"] for one in cells}
        kinds -= {"$_AND_", "$_NOT_", "$_DFF_P_", "$anyseq", core}
        if kinds:
            what = "latches" if any("LATCH" in one for one in kinds) else listing(sorted(kinds))
            raise DataError(f"{what} cannot be compared", where=self.file)
        boxes = (one["connections"] for one in cells if one["type"] == core)
        box: dict[str, list[Any]] = next(boxes, {})
        wired = {
            _bit(pin, k, len(bits)): x for pin, bits in box.items() for k, x in enumerate(bits)
        }
        controls = CONTROLS if core and self.stages else ()
        driven = [*self.wanted.inputs, *controls[1:3]] if core else []
        driving = [*self.wanted.outputs, *controls[3:]] if core else []
        clocks = [one["C"][0] for one in registers] + [wired[pin] for pin in controls[:1] if box]
        if any(net != ports["input"][clock] for net in clocks):
            raise DataError(
                f"a register is not clocked by the rising edge of {clock}", where=self.file
            )
        gates = {
            one["connections"]["Y"][0]: one["connections"]
            for one in cells if one["type"] in ("$_AND_", "$_NOT_")
        }  # fmt: skip
        roots = [ports["output"][name] for name in outputs]
        roots += [*(wired.get(name, "x") for name in driven), *(one["D"][0] for one in registers)]
        given = [ports["input"][name] for name in inputs]
        given += [*(wired.get(name, name) for name in driving), *(x["Q"][0] for x in registers)]
        read = {*roots, *(one[pin][0] for one in gates.values() for pin in "AB" if pin in one)}
        undriven = sorted(map(str, read - {*given, *gates, "0", "1"}))
        builder = Builder(len(given) + len(undriven))
        known = {"0": 2 * FALSE, "1": 2 * TRUE}
        known |= {str(net): builder.input(k) for k, net in enumerate([*given, *undriven])}
        for root in roots:
            self.built(builder, known, gates, root)
        starts = {
            net: value
            for one in module["netnames"].values() if "init" in one["attributes"]
            for net, value in zip(one["bits"], reversed(one["attributes"]["init"]), strict=False)
        }  # fmt: skip
        network = builder.build(known[str(net)] for net in roots)
        first = "".join(starts.get(one["Q"][0], "x") for one in registers)
        return ClockedLogic(network, first, len(undriven))

    def built(
        self, builder: Builder, known: dict[str, int], gates: dict[Any, Any], root: int
    ) -> None:
        """Build a gate after its operands."""
        stack, begun = [root], set()
        while stack:
            net = stack[-1]
            if str(net) in known:
                stack.pop()
                continue
            read = [gates[net][pin][0] for pin in "AB" if pin in gates[net]]
            missing = [one for one in read if str(one) not in known]
            if missing and net in begun:
                raise DataError("it has a combinational loop", where=self.file)
            begun.add(net)
            stack += missing
            if not missing:
                made = [known[str(one)] for one in read]
                known[str(net)] = builder.node(AND2, *made) if len(made) > 1 else made[0] ^ 1

    # Pipelines.

    def pipeline(self, logic: ClockedLogic) -> Comparison:
        """Prove a pipeline over its latency from any state, while it waits, and at its start.

        A difference counts only from the initial state.
        """
        stages = self.latency(logic)
        self.stages = stages or 0
        if stages is None:
            note = f"valid_out does not follow valid_in within {MOST_STAGES} clocks"
            return Comparison("different", "evaluation", 1, note=note)
        verdict = equivalent(*self.unrolled(logic, stages, initial=False), deadline=self.deadline)
        method = f"{verdict.method}, {stages} stages unrolled"
        if verdict.holds:
            return Comparison("equivalent", method, verdict.cases)
        a, b = self.unrolled(logic, stages, initial=True)
        early = equivalent(a, b, deadline=self.deadline)
        if early.witness is not None:
            word = early.witness[: len(self.wanted.inputs)]
            made = evaluate(b, early.witness)[: len(self.wanted.outputs)]
            note = f"{self.difference(word, made)}, {stages} clocks before"
            return Comparison("different", method, verdict.cases, note=note)
        note = verdict.note or "a difference in a state that may not be reached"
        return self.undecided(Comparison("unknown", method, verdict.cases, note=note))

    def unrolled(
        self, logic: ClockedLogic, stages: int, *, initial: bool
    ) -> tuple[Network, Network]:
        """Return the program and the file after as many clocks as the pipeline has stages.

        Inputs are, of every clock, words, valid_in and undriven signals; the registers at the
        start, unless their values are known; and `enable` of the last clock.
        """
        count, ends = len(self.wanted.inputs), len(self.wanted.outputs)
        size, states = count + 1 + logic.undriven, len(logic.starts)
        builder = Builder((stages + 1) * size + states + 1)
        given = [builder.input(k) for k in range(builder.inputs)]
        anything = given[(stages + 1) * size : -1]
        start = [
            {"0": 2 * FALSE, "1": 2 * TRUE}.get(value, free)
            for value, free in zip(logic.starts, anything, strict=True)
        ]

        def clock(state: Sequence[int], t: int, enable: int) -> tuple[int, ...]:
            words, valid, *rest = given[t * size :][:count], *given[t * size :][count:size]
            return copied(logic.network, builder, [*words, enable, valid, *state, *rest])

        wanted = [*copied(self.wanted.network, builder, given[:count]), given[count]]
        filling: list[int] = []
        for known in (start,) if initial else (start, anything):
            state: Sequence[int] = known
            for t in range(stages):
                filling.append(clock(state, t, given[-1])[ends])
                state = clock(state, t, 2 * TRUE)[ends + 1 :]
        made = [*clock(state, stages, given[-1])[: ends + 1], *filling[:stages]]
        wanted += [2 * FALSE] * stages
        if not initial:  # registers wait while enable is 0
            made += clock(anything, 0, 2 * FALSE)[ends + 1 :]
            wanted += anything
        return builder.build(wanted), builder.build(made)

    def latency(self, logic: ClockedLogic) -> int | None:
        """Return the number of clocks from valid_in to valid_out, or None."""
        count, ends = len(self.wanted.inputs), len(self.wanted.outputs)
        state = tuple(int(value == "1") for value in logic.starts)
        for t in range(MOST_STAGES + 1):
            word = (*(0,) * count, 1, int(t == 0), *state, *(0,) * logic.undriven)
            made = evaluate(logic.network, word)
            if made[ends]:
                return t
            state = made[ends + 1 :]
        return None


def _always(plain: str) -> Iterator[tuple[str, str]]:
    """Yield the head and the statements of every `always` block."""
    for match in re.finditer(r"\balways\w*\s*(@\s*(?:\([^)]*\)|\*))?", plain):
        after = _NEXT.search(plain, match.end())
        block = plain[match.end() : after.start() if after else len(plain)]
        yield match[0], _NO_STATEMENT.sub(" ", block)


def _bit(name: str, place: int, bits: int) -> str:
    return f"{name}[{place}]" if bits > 1 else name


def _words(names: Sequence[str], bits: Sequence[int]) -> dict[str, int]:
    """Return the values of words, whose bits are in order, most significant first."""
    pairs = zip((name.partition("[")[0] for name in names), bits, strict=True)
    return {
        name: int("".join(str(bit) for _, bit in some), 2)
        for name, some in groupby(pairs, lambda pair: pair[0])
    }


def _last(text: str) -> str:
    """Return the line of an error, else the last line."""
    lines = text.strip().splitlines() or [""]
    return next((line for line in lines if "error" in line.lower()), lines[-1])[:200]
