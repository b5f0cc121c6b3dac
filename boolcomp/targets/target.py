"""Export a program to other tools: targets and their options, ports, names, comments and vectors.

Words are most significant bit first, in the codes of the program. If an output can saturate, a port
of one bit after it is its saturation flag. Several loads become one network: a port `load` selects
one of them.
"""

from __future__ import annotations

import builtins
import importlib
import keyword
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from boolcomp.base.errors import (
    UsageError,
    listing,
    mass_text,
    require_name,
    short,
    short_above,
    spelled,
)
from boolcomp.base.files import is_file, is_stream, outputs
from boolcomp.logic import network as logic_network
from boolcomp.logic.adders import word_of
from boolcomp.logic.network import CONSTANTS, FALSE, MUX, Builder, copied
from boolcomp.logic.simulation import Planes
from boolcomp.problem.word_codes import CODES
from boolcomp.targets.clock import ClockGoal, megahertz
from boolcomp.targets.delays import DELAYS, delays_of
from boolcomp.targets.stages import MOST_STAGES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.codes import Code
    from boolcomp.logic.network import Network
    from boolcomp.program.program import CodedInput, CodedOutput, Load, Program
    from boolcomp.words.graph import Angles, Heap, InputWord, Lookup, WordGraph

# --------------------------------------------------------------------------------------------------
# Targets. The function of a target takes `(program, load, options)` and returns the texts (or
# bytes) of its files by name. `load` is one of the program's payloads; None means all of them.
# --------------------------------------------------------------------------------------------------

Level = Literal["gates", "words"]
LEVELS: tuple[Level, ...] = get_args(Level)
Interface = Literal["plain", "valid", "stream"]
INTERFACES: tuple[Interface, ...] = get_args(Interface)
MOST_LOADS = 32  # in one design
LUTS = (4, 5, 6)
Files = dict[str, "str | bytes"]


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """Select how a program is exported; see `Target` for the options of each target."""

    level: Level | None = None  # None: the first level of the target
    pipeline: int = 0  # stages between registers; 0: combinational
    test_bench: bool = False
    luts: int = 0  # inputs of look-up tables; 0: the nodes are not mapped
    cocotb: bool = False  # a test in Python
    interface: Interface | None = None  # None: valid for a pipeline, else plain
    clock: float = 0.0  # in MHz: the number of stages follows; 0: no goal
    device: str = ""  # of `delays.DELAYS`; gates are mapped into its look-up tables
    margin: float = 1.0  # stages are planned for a clock this many times as fast

    @property
    def goal(self) -> ClockGoal | None:
        return ClockGoal(self.clock, self.device, self.margin) if self.clock else None


@dataclass(frozen=True, slots=True)
class Target:
    """Describe an export format: the function that writes it and the options it supports."""

    writer: str  # module:function, of this package
    ending: str
    about: str
    levels: tuple[Level, ...] = ("gates",)
    pipelined: bool = False
    benched: bool = False
    mapped: bool = False
    cocotb: bool = False

    def write(self, program: Program, load: float | None, options: ExportOptions) -> Files:
        """Return the files of a program; raise UsageError for an unsupported option."""
        if options.level is not None and options.level not in self.levels:
            raise UsageError(f"{self.about} is written as {listing(self.levels)}")
        if not 0 <= options.pipeline <= MOST_STAGES:
            raise UsageError(f"a pipeline has 1 to {MOST_STAGES} stages, not {options.pipeline}")
        if options.pipeline and not self.pipelined:
            raise UsageError(f"{self.about} has no registers", "leave out --pipeline")
        if options.test_bench and not self.benched:
            raise UsageError(f"there is no test bench for {self.about}", "leave out --test-bench")
        options = self.on_device(options)
        if options.luts and not self.mapped:
            raise UsageError(f"{self.about} is not written as look-up tables", "leave out --luts")
        if options.luts and options.level == "words":
            raise UsageError("words are not look-up tables", "leave out --luts, or --level")
        if options.luts not in (0, *LUTS):
            known = listing(map(str, LUTS))
            raise UsageError(f"look-up tables have {known} inputs, not {options.luts}")
        if options.cocotb and not self.cocotb:
            raise UsageError(f"there is no test in cocotb for {self.about}", "leave out --cocotb")
        self._require_interface(options)
        module, _, function = self.writer.partition(":")
        write = getattr(importlib.import_module(f"boolcomp.targets.{module}"), function)
        files: Files = write(program, load, options)
        return files

    def on_device(self, options: ExportOptions) -> ExportOptions:
        """Return the options with the look-up tables of the device; refuse contradictions."""
        if options.clock and not self.pipelined:
            raise UsageError(f"{self.about} has no clock", "leave out --clock")
        if options.clock and options.pipeline:
            raise UsageError(
                "--clock and --pipeline exclude each other",
                "leave out --pipeline: the number of stages follows from the clock",
            )
        if options.clock and not options.device:
            raise UsageError("--clock needs a device", f"give one with --device: {listing(DELAYS)}")
        if not options.device:
            return options
        inputs = delays_of(options.device).inputs
        if options.luts > inputs:
            raise UsageError(
                f"look-up tables of {options.device} have {inputs} inputs, not {options.luts}",
                "leave out --luts",
            )
        gates = self.mapped and options.level != "words"
        return replace(options, luts=options.luts or inputs) if gates else options

    def _require_interface(self, options: ExportOptions) -> None:
        stages = options.pipeline or options.clock
        if options.interface is not None and not self.pipelined:
            raise UsageError(f"{self.about} has no interfaces", "leave out --interface")
        if options.interface == "plain" and stages:
            raise UsageError(
                "a pipeline has the interface valid or stream",
                f"leave out --{'pipeline' if options.pipeline else 'clock'}",
            )
        if options.interface == "valid" and not stages:
            raise UsageError("the interface valid is that of a pipeline", "add --pipeline N")


WRITERS = {
    "verilog": Target(
        "hdl:export_verilog", ".v", "Verilog-2005", LEVELS,
        pipelined=True, benched=True, mapped=True, cocotb=True,
    ),
    "vhdl": Target("hdl:export_vhdl", ".vhd", "VHDL-93", LEVELS, pipelined=True, benched=True),
    "systemverilog-package": Target("packages:export_package", ".sv", "a SystemVerilog package"),
    "fusesoc": Target(
        "packages:export_fusesoc", ".core", "a FuseSoC core", LEVELS,
        pipelined=True, benched=True, mapped=True,
    ),
    "amaranth": Target(
        "packages:export_amaranth", ".py", "an Amaranth component", LEVELS,
        pipelined=True, mapped=True,
    ),
    "blif": Target("networks:export_blif", ".blif", "BLIF", mapped=True),
    "aiger": Target("networks:export_aiger", ".aig", "AIGER"),
    "aiger-ascii": Target("networks:export_aiger_ascii", ".aag", "AIGER as text"),
    "pla": Target("networks:export_pla", ".pla", "PLA"),
    "symbiyosys": Target("networks:export_sby", ".sby", "a task of SymbiYosys", pipelined=True),
    "c": Target("c:export_c", ".c", "C99", ("words",)),
    "c-header": Target("c:export_c_header", ".h", "C99 in one header", ("words",)),
    "c-sliced": Target("c:export_c_sliced", ".c", "bit-sliced C99"),
    "bdd": Target("bdd:export_bdd", ".bdd", "a processor's program as text", ("words",)),
    "bdd-binary": Target("bdd:export_bdd_binary", ".bin", "a processor's memory", ("words",)),
    "bdd-verilog": Target(
        "bdd:export_bdd_verilog", ".v", "a processor that tests bits", ("words",), benched=True
    ),
    "python": Target("scripts:export_python", ".py", "Python", ("words", "gates")),
    "javascript": Target("scripts:export_javascript", ".mjs", "JavaScript", ("words", "gates")),
}  # fmt: skip


def writer(name: str) -> Target:
    """Return a target by name; raise UsageError if there is none."""
    require_name("target", name, WRITERS)
    return WRITERS[name]


def target_of(path: str | Path) -> str:
    """Return the first target whose files end like a path."""
    ending, endings = (
        Path(path).suffix,
        {one.ending: name for name, one in reversed(WRITERS.items())},
    )
    require_name("ending", ending, endings)
    return endings[ending]


def export_texts(
    program: Program, target: str, load: float | None = None, options: ExportOptions | None = None
) -> Files:
    """Return the files of a program for a target; all loads if `load` is None."""
    if load is not None:
        program.load(load)  # raises UsageError for a load that the program does not have
    elif len(program.loads) > MOST_LOADS:
        nodes = sum(len(network.nodes) for network in program.networks)
        raise UsageError(
            f"{len(program.loads)} loads in one design are about {nodes} nodes, and at most "
            f"{MOST_LOADS} loads are joined", "select one with --payload, such as "
            f"{mass_text(program.payloads[0])},{mass_text(program.payloads[-1])}",
        )  # fmt: skip
    return writer(target).write(program, load, options or ExportOptions())


# --------------------------------------------------------------------------------------------------
# Names of a program as identifiers of another language: legal and distinct.
# --------------------------------------------------------------------------------------------------

LONGEST = 60
LONGEST_COMMENT = 400
_SPELT = str.maketrans({
    "·": "*", "°": " deg", "²": "^2", "³": "^3", "±": "+-", "π": "pi", "τ": "tau", "µ": "u",
    "μ": "u", "½": "1/2", "×": "x", "−": "-", "–": "-", "\\": "/",
})  # fmt: skip


def why_no_graph(program: Program) -> str:
    """Describe the mode of a program that keeps no word graph."""
    how = program.asked.get("approximate")
    return f"{program.mode} mode{f', approximated: {how}' if how else ''}"


class Names:
    """Makes distinct identifiers.

    Identifiers are ASCII letters, digits and single underscores between them, and begin with a
    letter: all languages allow them. A reserved or taken name gets a number. Names that differ in
    case alone are equal, unless `case` is set because the language distinguishes them.
    """

    def __init__(self, reserved: Iterable[str], *, case: bool = False) -> None:
        self._folded = str if case else str.lower
        self._taken = {self._folded(word) for word in reserved}

    def new(self, name: str, otherwise: str = "x") -> str:
        """Return an identifier that is as similar to a name as possible."""
        text = re.sub("[^A-Za-z0-9]+", "_", name.translate(_SPELT)).strip("_")[:LONGEST].strip("_")
        if not text[:1].isalpha():
            text = f"{otherwise}_{text}" if text else otherwise
        found, count = text, 1
        while self._folded(found) in self._taken:
            count += 1
            found = f"{text}_{count}"
        self._taken.add(self._folded(found))
        return found


def word_names(program: Program, keywords: Iterable[str]) -> dict[str, str]:
    """Return the identifiers of a program's inputs and outputs: their names where these are legal.

    Only keywords of the language, which is case-sensitive, force another name.
    """
    names = Names(keywords, case=True)
    found = {one.name: names.new(one.name, "input") for one in program.inputs}
    return found | {one.name: names.new(one.name, "output") for one in program.loads[0].outputs}


def escapes(called: Iterable[tuple[str, str]]) -> list[str]:
    return [
        comment(f"called {identifier} here: {name}, which the language does not allow")
        for name, identifier in called
        if name != identifier
    ]


def comment(text: str) -> str:
    """Return a text as printable ASCII that cannot end a comment."""
    spelt = text.translate(_SPELT).encode("ascii", "replace").decode()
    spelt = "".join(c if c.isprintable() else " " for c in spelt)[:LONGEST_COMMENT]
    return spelt.replace("*/", "* /").replace("/*", "/ *").rstrip()


# --------------------------------------------------------------------------------------------------
# A program's logic as one network between ports, which are its words.
# --------------------------------------------------------------------------------------------------

SELECT = "load"  # the port that selects among loads


@dataclass(frozen=True, slots=True)
class Port:
    """An input or output word of a design: its name in the program, its bits, comments on it.

    A port with `flag` is no word of the program but the saturation flag of the output before it.
    """

    name: str
    bits: int
    notes: tuple[str, ...]
    flag: bool = False


@dataclass(frozen=True, slots=True)
class Design:
    """A network whose inputs and outputs are the bits of ports, and comments on it."""

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    network: Network
    notes: tuple[str, ...]

    def __post_init__(self) -> None:
        given, made = (sum(p.bits for p in ports) for ports in (self.inputs, self.outputs))
        if (given, made) != (self.network.inputs, len(self.network.outputs)):
            raise ValueError("ports do not fit their network")


def design_of(program: Program, load: float | None = None) -> Design:
    """Return a program's logic with one load, or with all of them and a port to select one."""
    loads = program.loads if load is None else (program.load(load),)
    inputs = [Port(x.name, x.code.bits, input_notes(x)) for x in program.inputs]
    if len(loads) > 1:
        inputs.append(_selection(loads))
    network = _joined(program, loads)
    outputs: list[Port] = []
    kept: list[int] = []
    place = 0
    for k, output in enumerate(loads[0].outputs):
        bits = output.code.bits
        outputs.append(Port(output.name, bits, _output_notes([one.outputs[k] for one in loads])))
        kept += network.outputs[place : place + bits]
        flag = network.outputs[place + bits]
        if flag != FALSE:
            note = f"{output.name} saturated: the value lies beyond its range"
            outputs.append(Port(f"{output.name}_saturated", 1, (note,), flag=True))
            kept.append(flag)
        place += bits + 1
    builder = Builder(network.inputs)
    made = dict(zip(network.outputs, copied(network, builder), strict=True))
    pruned = builder.build(made[signal] for signal in kept)
    notes = (
        comment(f"program {program.name}, compiled in {program.mode} mode"),
        f"{len(pruned.nodes)} nodes of at most three inputs, depth {pruned.depth}",
    )
    return Design(program.name, tuple(inputs), tuple(outputs), pruned, notes)


CONTROLS = ("clock", "enable", "valid_in", "valid_out")  # ports of a pipeline


class Pin(NamedTuple):
    """A port and its legal name."""

    name: str
    port: Port

    @property
    def bits(self) -> tuple[str, ...]:
        """The names of the bits in Verilog and in netlists, most significant first."""
        if self.port.bits == 1:
            return (self.name,)
        return tuple(f"{self.name}[{k}]" for k in reversed(range(self.port.bits)))


class Frame(NamedTuple):
    """The legal names of a design in a hardware language: its module and its ports."""

    module: str
    inputs: tuple[Pin, ...]
    outputs: tuple[Pin, ...]


def frame_of(design: Design, reserved: Collection[str], names: Names | None = None) -> Frame:
    """Return the names of a design, none of which is reserved; `names` has names inside."""
    names = names or Names([*reserved, *CONTROLS])
    module = Names(reserved).new(design.name, "boolcomp")  # a port may have the same name
    inputs = tuple(Pin(names.new(port.name), port) for port in design.inputs)
    outputs = tuple(Pin(names.new(port.name), port) for port in design.outputs)
    return Frame(module, inputs, outputs)


def header(design: Design, frame: Frame, pipeline: Sequence[str] = ()) -> list[str]:
    """Return the comments at the head of a file: its design, its stages, and every word's meaning.

    None begins with a user's name: tools interpret `synthesis` or `verilator` there as directives.
    """
    every = (*frame.inputs, *frame.outputs)
    lines = [*design.notes, *escapes((pin.port.name, pin.name) for pin in every), *pipeline]
    for kind, pins in (("input", frame.inputs), ("output", frame.outputs)):
        for pin in pins:
            lines.append(f"{kind} {pin.name}")
            lines += [f"  - {note}" for note in pin.port.notes]
    return lines


def delivered(program: Program, load: float) -> Network:
    """Return a load's logic with coded words: the outputs are the word and the flag of each output.

    `Program.network` leaves Gray outputs of paper mode as cells; here they are coded as well.
    """
    network = program.network(load)
    builder = Builder(network.inputs)
    made = copied(network, builder)
    outputs: list[int] = []
    place = 0
    for result in program.wiring(load).results:
        bits = list(made[place : place + result.code.bits])
        if result.kind is None:
            bits = word_of(builder, bits, result.code.kind, tread=result.code.tread)
        outputs += [*bits, made[place + result.code.bits]]
        place += result.code.bits + 1
    return builder.build(outputs)


def _joined(program: Program, loads: Sequence[Load]) -> Network:
    """Return one network of all loads; the selection bits are its last inputs."""
    first = delivered(program, loads[0].payload)
    if len(loads) == 1:
        return first
    widths = {tuple(output.code.bits for output in load.outputs) for load in loads}
    if len(widths) > 1:
        raise UsageError("the loads have outputs of different widths", "select one with --payload")
    select = (len(loads) - 1).bit_length()
    builder = Builder(first.inputs + select)
    words = [builder.input(k) for k in range(first.inputs)]
    choice = [builder.input(first.inputs + k) for k in range(select)]
    rows = [copied(delivered(program, load.payload), builder, words) for load in loads]
    for bit in reversed(choice):  # the last of an odd number is selected by both values
        rows = [
            tuple(builder.node(MUX, bit, one, zero) for one, zero in zip(b, a, strict=True))
            for a, b in zip(rows[::2], [*rows[1::2], *rows[-1:]], strict=False)
        ]
    return builder.build(rows[0])


def _selection(loads: Sequence[Load]) -> Port:
    bits = (len(loads) - 1).bit_length()
    known = ", ".join(f"{k}: {mass_text(load.payload)} kg" for k, load in enumerate(loads))
    return Port(SELECT, bits, (f"load, natural binary {bits} bits: {known}, the last above",))


def input_notes(word: CodedInput) -> tuple[str, ...]:
    """Return comments on an input: range, unit, code, value of a word."""
    wraps = ", wraps" if word.code.wraps else ", saturate values beyond"
    return (comment(f"{word.name}: {code_notes(word.code, word.unit)}{wraps}"), _values(word.code))


def output_notes(output: CodedOutput) -> tuple[str, ...]:
    """Return comments on an output: range, unit, code, value of a word, known errors."""
    head = comment(f"{output.symbol} ({output.name}): {code_notes(output.code, output.unit)}")
    return (head, _values(output.code), *_errors(output))


def _output_notes(outputs: Sequence[CodedOutput]) -> tuple[str, ...]:
    """Return the comments on an output of several loads; distinct ones are per load."""
    every = [output_notes(output) for output in outputs]
    if len(set(every)) == 1:
        return every[0]
    return tuple(f"load {place}: {note}" for place, notes in enumerate(every) for note in notes)


def code_notes(code: Code, unit: str) -> str:
    """Describe a code: its kind, bits, range and LSB."""
    low, high = short(code.range.low), short(code.range.high)
    unit = f" {unit}" if unit else ""
    title = CODES[code.kind].title
    return f"{title} {code.bits} bits, {low} .. {high}{unit}, LSB {short(code.step)}{unit}"


def _values(code: Code) -> str:
    """Give the formula for the number that a word represents, with all digits."""
    (raised, base), half = code.centred, code.cells // 2
    cell = CODES[code.kind].cell.format(half=half, below=half - (not code.tread))
    return comment(f"value = {base!r} + (cell + {raised!r}) * {code.step!r}, cell = {cell}")


def _errors(output: CodedOutput) -> Iterator[str]:
    """Describe the known errors: measured on samples, found by search, or proved."""
    unit = f" {output.unit}" if output.unit else ""
    known = output.errors
    parts = []
    if not output.bound_note:
        parts.append(f"at most {short_above(output.bound)}, proved")
    if known is not None:
        worst = known.worst_found
        found = "not searched" if worst is None else f"largest found by search {short(worst)}"
        parts.append(
            f"rms {short(known.rms)} and largest {short(known.sampled_max)} of random states, "
            f"{found}"
        )
    if known is not None and output.bound_note:
        parts.append("no bound is proved")
    yield comment(f"error{unit}: {'; '.join(parts)}" if parts else "error: not measured")


def unread(network: Network) -> list[int]:
    """Return the unused inputs."""
    used = {k for node in network.nodes for k in node.operands} | {*network.outputs}
    return [k for k in range(network.inputs) if CONSTANTS + k not in used]


# --------------------------------------------------------------------------------------------------
# Names reserved by hardware languages and their common tools.
# --------------------------------------------------------------------------------------------------

_VERILOG = """
    accept_on alias always always_comb always_ff always_latch and assert assign assume automatic
    before begin bind bins binsof bit break buf bufif0 bufif1 byte case casex casez cell chandle
    checker class clocking cmos config const constraint context continue cover covergroup coverpoint
    cross deassign default defparam design disable dist do edge else end endcase endchecker endclass
    endclocking endconfig endfunction endgenerate endgroup endinterface endmodule endpackage
    endprimitive endprogram endproperty endspecify endsequence endtable endtask enum event
    eventually expect export extends extern final first_match for force foreach forever fork
    forkjoin function generate genvar global highz0 highz1 if iff ifnone ignore_bins illegal_bins
    implements implies import incdir include initial inout input inside instance int integer
    interconnect interface intersect join join_any join_none large let liblist library local
    localparam logic longint macromodule matches medium modport module nand negedge nettype new
    nexttime nmos nor noshowcancelled not notif0 notif1 null or output package packed parameter pmos
    posedge primitive priority program property protected pull0 pull1 pulldown pullup
    pulsestyle_ondetect pulsestyle_onevent pure rand randc randcase randsequence rcmos real realtime
    ref reg reject_on release repeat restrict return rnmos rpmos rtran rtranif0 rtranif1 s_always
    s_eventually s_nexttime s_until s_until_with scalared sequence shortint shortreal showcancelled
    signed small soft solve specify specparam static string strong strong0 strong1 struct super
    supply0 supply1 sync_accept_on sync_reject_on table tagged task this throughout time
    timeprecision timeunit tran tranif0 tranif1 tri tri0 tri1 triand trior trireg type typedef union
    unique unique0 unsigned until until_with untyped use uwire var vectored virtual void wait
    wait_order wand weak weak0 weak1 while wildcard wire with within wor xnor xor unused valid
    main dut
"""  # Verilog-2005, SystemVerilog, and names that the exported texts use
_VHDL = """
    abs access after alias all and architecture array assert assume assume_guarantee attribute
    begin block body buffer bus case component configuration constant context cover default
    disconnect downto else elsif end entity exit fairness file for force function generate generic
    group guarded if impure in inertial inout is label library linkage literal loop map mod nand new
    next nor not null of on open or others out package parameter port postponed procedure process
    property protected pure range record register reject release rem report restrict
    restrict_guarantee return rol ror select sequence severity shared signal sla sll sra srl strong
    subtype then to transport type unaffected units until use variable vmode vprop vunit wait when
    while with xnor xor ieee std work std_logic std_logic_vector boolean bit integer natural
    positive string character real time rising_edge true false valid gates words dut
    unsigned signed numeric_std resize shift_left to_unsigned place flip some every keep
"""  # VHDL up to 2008, common types, and names that the exported texts use
_CPP = """
    alignas alignof asm auto bitand bitor bool catch char char16_t char32_t compl const_cast
    constexpr decltype delete double dynamic_cast eval explicit false float friend goto inline long
    mutable name namespace new noexcept not_eq nullptr operator or_eq private public register
    reinterpret_cast short sizeof static_assert static_cast switch template thread_local throw trace
    true try typeid typename using volatile wchar_t xor_eq and_eq
"""  # C++ (Verilator translates to it), and members of Verilator's models
VERILOG = frozenset((_VERILOG + _CPP).split())
VHDL = frozenset(_VHDL.split())

# --------------------------------------------------------------------------------------------------
# A network as assignments of bits, 0 or 1, in any language with `&`, `|`, `^` and shifts.
# --------------------------------------------------------------------------------------------------

OPERATORS = {"and": "&", "or": "|", "xor": "^"}


def formula(lut: int, operands: Sequence[str]) -> str:
    """Return the formula of a LUT3, in brackets."""
    texts = [*operands, *[""] * (3 - len(operands))]
    for kind, x, y in logic_network.steps(lut):
        if kind == "not":
            texts.append(f"(1 ^ {texts[x]})")
        else:
            texts.append(f"({texts[x]} {OPERATORS[kind]} {texts[y]})")
    return texts[-1]


def bit_assignments(
    network: Network,
    given: Mapping[str, int],
    made: Mapping[str, int],
    names: Names,
    flags_name: str = "saturated",
) -> Iterator[tuple[str, str]]:
    """Yield names and formulas: input bits, nodes, output words, and the word of saturation flags.

    `given` and `made` hold the bits of words by name. The network's outputs are, for every word,
    its bits, most significant first, and its flag, which becomes bit k of the flags for word k.
    """
    for name in (*given, *made):
        names.new(name)
    signals = ["0", "1"]
    used = {k for node in network.nodes for k in node.operands} | {*network.outputs}
    for name, bits in given.items():
        for k in reversed(range(bits)):
            bit = names.new(f"{name}_{k}")
            if len(signals) in used:
                yield bit, f"{name} >> {k} & 1"
            signals.append(bit)
    if len(signals) != CONSTANTS + network.inputs:
        raise ValueError("words do not fit their network")
    for place, (lut, operands) in enumerate(network.nodes):
        node = names.new(f"n{place}")
        yield node, formula(lut, [signals[k] for k in operands])[1:-1]
        signals.append(node)
    outputs = [signals[k] for k in network.outputs]
    flags = []
    for k, (name, bits) in enumerate(made.items()):
        word, flag, outputs = outputs[:bits], outputs[bits], outputs[bits + 1 :]
        yield name, " | ".join(f"{bit} << {bits - 1 - i}" for i, bit in enumerate(word))
        if flag != "0":
            flags.append(f"{flag} << {k}")
    yield flags_name, " | ".join(flags) or "0"


# --------------------------------------------------------------------------------------------------
# Templates: files of the package in the language that is written.
# --------------------------------------------------------------------------------------------------

TEMPLATES = Path(__file__).parent / "templates"


def fill(template: str, **values: str | int | Sequence[str]) -> str:
    """Return the text of a template.

    `@name@` is a value; a line that consists of it may become several or none. The lines from `@if
    name` to `@end` are left out where the value is empty or 0, those from `@unless name` elsewhere.
    """
    lines: list[str] = []
    wanted = True
    for line in (TEMPLATES / template).read_text("utf-8").splitlines():
        if condition := re.fullmatch("@(if|unless) (\\w+)", line):
            wanted = bool(values[condition[2]]) == (condition[1] == "if")
        elif line == "@end":
            wanted = True
        elif wanted and (several := re.fullmatch("( *)@(\\w+)@", line)):
            parts = values[several[2]]
            parts = [str(parts)] if isinstance(parts, str | int) else parts
            lines += [f"{several[1]}{part}" if part else "" for part in parts]
        elif wanted:
            lines.append(re.sub("@(\\w+)@", lambda found: str(values[found[1]]), line))
    return "\n".join(lines) + "\n"


def separated(items: Iterable[str], by: str) -> list[str]:
    """Return items with a separator after each but the last."""
    *rest, last = items
    return [*(f"{item}{by}" for item in rest), last]


# --------------------------------------------------------------------------------------------------
# Exports as files on disk, each whole or not at all.
# --------------------------------------------------------------------------------------------------


@spelled
def export(
    program: Program,
    target: str,
    path: str | Path,
    *,
    load: float | None = None,
    level: Any = None,
    pipeline: int = 0,
    luts: int = 0,
    test_bench: bool = False,
    cocotb: bool = False,
    interface: Any = None,
    clock: float | str = 0,
    device: str = "",
) -> list[Path]:
    """Write a program for other tools, and return the paths of the files.

    `path` is a file if it has the target's ending, else a folder; the other parameters are the
    options of the command `boolcomp export`.
    """
    options = ExportOptions(
        checked("level", level, LEVELS), pipeline, test_bench, luts, cocotb,
        checked("interface", interface, INTERFACES), megahertz(clock) if clock else 0.0, device,
    )  # fmt: skip
    return write_files(
        export_texts(program, target, load, options), Path(path), writer(target).ending
    )


def checked(kind: str, name: Any, known: Collection[str]) -> Any:
    """Return a name or None; raise UsageError for an unknown name."""
    if name is not None:
        require_name(kind, str(name), known)
    return name


def write_files(files: Files, output: Path, ending: str) -> list[Path]:
    """Write files to a folder, or one file to a path, and return their paths."""
    places = {name: output / name for name in files}
    others = {one.ending for one in WRITERS.values()} - {ending}
    if output.suffix in others:
        raise UsageError(
            f"{output.name} is named as another target's file", f"use the ending {ending}"
        )
    a_file = output.suffix == ending or is_file(output) or is_stream(output)
    if len(files) == 1 and a_file:
        places = dict.fromkeys(files, output)
        if ending == ".sby":  # its Verilog is in the same folder, under its name
            files = {
                name: str(text).replace(name.replace(".sby", ".v"), f"{output.stem}.v")
                for name, text in files.items()
            }
    elif output.suffix == ending and not is_stream(output):
        # The path of the first file with this ending; the others keep their names.
        places = {name: output.parent / name for name in files}
        first = next((name for name in files if name.endswith(ending)), next(iter(files)))
        places[first] = output
        for name in files:  # headers of this file are named after it
            if name.endswith(".h") and name.startswith(Path(first).stem) and ending != ".h":
                own = name.replace(Path(first).stem, output.stem, 1)
                places[name] = output.parent / own
                files = {
                    key: text.replace(name, own) if isinstance(text, str) else text
                    for key, text in files.items()
                }
        if len(set(places.values())) < len(places):
            raise UsageError(f"{output.name} is the name of another file of these", "give another")
    elif a_file:
        raise UsageError(f"there are several files ({listing(files)})", "give a folder")
    with outputs() as put:
        for name, content in files.items():
            put(places[name], content)
    return list(places.values())


# --------------------------------------------------------------------------------------------------
# Keywords force other names of inputs and outputs. Steps and tables also avoid all `WORDS`: names
# that the exported texts use, and names of libraries that must not be hidden; in lower case.
# --------------------------------------------------------------------------------------------------


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# C, C++ (it may include the header), and macros that compilers and headers define.
C_KEYWORDS = _set(
    "auto break case char const continue default do double else enum extern float for goto if "
    "inline int long register restrict return short signed sizeof static struct switch typedef "
    "union unsigned void volatile while asm typeof typeof_unqual bool true false "
    "alignas alignof and and_eq bitand bitor catch char8_t char16_t char32_t class co_await "
    "co_return co_yield compl concept const_cast consteval constexpr constinit decltype delete "
    "dynamic_cast explicit export friend mutable namespace new noexcept not not_eq nullptr "
    "operator or or_eq private protected public reinterpret_cast requires static_assert "
    "static_cast template this thread_local throw try typeid typename using virtual wchar_t xor "
    "xor_eq int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t "
    "linux unix near far interrupt errno stdin stdout stderr NAN INFINITY I SP SREG EOF NULL"
)
C_WORDS = frozenset(map(str.lower, C_KEYWORDS)) | _set(
    "count counts cut far8 far16 far32 first full given input int8 intptr_t j0 j1 jn "
    "lanes left load look low made main now output page8 page16 part8 part16 plane planes progmem "
    "range samples saturated signal size_t sum table uint8 uintptr_t "
    "word words y0 y1 yn"
)
PYTHON_KEYWORDS = frozenset([*keyword.kwlist, "agreement"])  # a function of the exported module
PYTHON_WORDS = frozenset([*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "saturated"])
# Keywords in modules, which are strict, and globals that the exported texts use.
JAVASCRIPT_KEYWORDS = _set(
    "arguments await break case catch class const continue debugger default delete do else enum "
    "eval export extends false finally for function if implements import in instanceof interface "
    "let new null package private protected public return static super switch this throw true try "
    "typeof undefined var void while with yield Math NaN Infinity agreement"
)
JAVASCRIPT_WORDS = frozenset(map(str.lower, JAVASCRIPT_KEYWORDS)) | _set(
    "abstract array async boolean byte char double final float get goto int long native number "
    "object of saturated set short string symbol synchronized throws transient volatile"
)

# --------------------------------------------------------------------------------------------------
# Vectors for test benches: random words of inputs, and the words that the program's engine returns.
#
# Engines only count saturations: the flags come from the joined logic.
# --------------------------------------------------------------------------------------------------

COUNT, SEED = 256, 1988


@dataclass(frozen=True, slots=True)
class Vectors:
    """The bits of all inputs and outputs in the order of ports; vector `falsified` is wrong."""

    given: tuple[str, ...]
    expected: tuple[str, ...]
    falsified: int


def vectors(program: Program, load: float | None, frame: Frame, count: int = COUNT) -> Vectors:
    """Return vectors for a design's ports; one of them has an inverted output bit."""
    if not program.inputs:
        raise UsageError(
            f"{program.name} has no inputs: a bench tests nothing", "leave out --test-bench"
        )
    rng = np.random.default_rng(SEED)
    loads = program.loads if load is None else (program.load(load),)
    given: list[str] = []
    expected: list[str] = []
    flags = {pin.port.name for pin in frame.outputs if pin.port.flag}
    select = (len(loads) - 1).bit_length()
    share = -(-count // len(loads))
    for place, one in enumerate(loads):
        words = _words(program, rng, share)
        ending = f"{place:0{select}b}" if select else ""
        given += [row + ending for row in _rows(words, [x.code.bits for x in program.inputs])]
        expected += _expected(program, one.payload, words, flags)
    wrong = len(given) // 3
    expected[wrong] = expected[wrong][:-1] + "10"[int(expected[wrong][-1])]
    return Vectors(tuple(given), tuple(expected), wrong)


def _words(program: Program, rng: np.random.Generator, count: int) -> dict[str, NDArray[Any]]:
    """Return words of every input: all zeros, all ones, then random words."""
    words = {}
    for one in program.inputs:
        ones = one.code.cells - 1
        drawn = rng.integers(0, ones, count - 2, np.int64, endpoint=True)
        words[one.name] = np.concatenate([[0, ones], drawn])
    return words


def _expected(
    program: Program, payload: float, words: dict[str, NDArray[Any]], names: set[str]
) -> list[str]:
    samples = len(next(iter(words.values())))
    arrays = [
        np.stack([words.get(k, np.zeros(samples, np.int64)) for k in group.members], axis=1)
        for group in program.groups
    ]
    made = program.evaluate_words(*arrays, payload=payload, engine="numpy").words
    flags = _flags(program, payload, words)
    rows = [""] * samples
    for k, output in enumerate(program.load(payload).outputs):
        bits = output.code.bits
        column = made.reshape(samples, -1)[:, k]
        rows = [f"{row}{int(word):0{bits}b}" for row, word in zip(rows, column, strict=True)]
        if f"{output.name}_saturated" in names:
            rows = [f"{row}{flag}" for row, flag in zip(rows, flags[k], strict=True)]
    return rows


def _flags(program: Program, payload: float, words: dict[str, NDArray[Any]]) -> list[list[int]]:
    """Return the flags of every output, one integer 0 or 1 per sample."""
    samples = len(next(iter(words.values())))
    planes = [
        sum(int(word >> bit & 1) << row for row, word in enumerate(words[one.name].tolist()))
        for one in program.inputs
        for bit in reversed(range(one.code.bits))
    ]
    outputs = delivered(program, payload).fold(Planes((1 << samples) - 1), planes)
    found = []
    place = -1
    for output in program.load(payload).outputs:
        place += output.code.bits + 1
        found.append([int(outputs[place]) >> row & 1 for row in range(samples)])
    return found


def _rows(words: dict[str, NDArray[Any]], bits: list[int]) -> list[str]:
    columns = [
        [f"{word:0{width}b}" for word in column.tolist()]
        for column, width in zip(words.values(), bits, strict=True)
    ]
    return ["".join(row) for row in zip(*columns, strict=True)]


# --------------------------------------------------------------------------------------------------
# Comments on the words of a graph: meaning, range, LSB.
# --------------------------------------------------------------------------------------------------

READING = (
    "a word w of n bits stands for middle + LSB * (w + 1/2 - 2^(n-1)), middle 0 if not said; "
    "names of inner words leave out what only scales them, identifiers the sign, too"
)


def with_words(design: Design) -> Design:
    """Return a design whose comments describe words instead of gates."""
    head, size = design.notes
    return replace(design, notes=(head, f"words of its graph; as gates {size}"))


def word_notes(load: Load, graph: WordGraph, meanings: Sequence[str]) -> list[str]:
    """Return a comment for every word.

    The LSB of an angle is a part of a turn; that of a sum which becomes an output is in the
    output's unit. All others are in steps that the search chose, powers of two.
    """
    outputs = {
        result.node: (output, result)
        for output, result in zip(load.outputs, graph.results, strict=True)
    }
    notes = []
    for place, (node, units) in enumerate(
        zip(graph.nodes, graph.fold(WordUnits(graph)), strict=True)
    ):
        name, text = meanings[place], units
        if place in outputs:
            output, result = outputs[place]
            name = f"sum of {output.name}" if name == f"w{place}" else name
            if not graph.heaps[place].wraps:
                step = output.code.step / (1 << result.drop)
                text = f", LSB {short(step)}{f' {output.unit}' if output.unit else ''}"
                left = node.bits - result.drop - result.bits
                text += f", {left} bits more than {output.name} has" if left else ""
        notes.append(comment(f"{name}, {node.bits} bits{text}"))
    return notes


class WordUnits:
    """Comments on the numbers of words: the range of tables, and the LSB."""

    def __init__(self, graph: WordGraph) -> None:
        self.scales = graph.scales

    def scale(self, place: int) -> str:
        """Return the LSB and the middle of a word's numbers."""
        scale = self.scales[place]
        middle = f", middle {short(scale.offset)}" if scale.offset else ""
        return f", LSB 2^{scale.lsb}{middle}"

    def input(self, _place: int, _node: InputWord) -> str:
        return ", leading bits"

    def angles(self, _place: int, node: Angles | Heap) -> str:
        return f", LSB 2^-{node.bits} turn"

    def lookup(self, place: int, node: Lookup) -> str:
        return f" ({min(node.entries)} .. {max(node.entries)}){self.scale(place)}"

    def heap(self, place: int, node: Heap) -> str:
        return self.angles(place, node) if node.wraps else self.scale(place)
