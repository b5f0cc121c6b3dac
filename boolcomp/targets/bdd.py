"""Decision-diagram programs as text, as a memory image, and as a processor in Verilog.

In a program of paper mode every table is a diagram; in a compact program the whole logic is one
table for each output, which must have few input bits. The Verilog processor reads words at a clock
with `start` while it is not `busy`. At the clock after the last leaf the outputs are valid and
`done` is 1 for a cycle; they stay until the next start. The memory is synchronous, as block memory
is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from boolcomp.base.errors import UsageError
from boolcomp.codes import Code
from boolcomp.logic.diagrams import (
    MOST_INPUTS,
    MOST_WORD,
    Accumulator,
    DiagramInput,
    DiagramWalk,
    Forest,
    Image,
    diagram_of,
    laid_out,
    narrowed,
    words_of,
)
from boolcomp.logic.network import Builder, copied
from boolcomp.problem.words import Interval
from boolcomp.targets.benches import bundle
from boolcomp.targets.gates import Gates, Pin
from boolcomp.targets.hdl import pin_range
from boolcomp.targets.target import VERILOG, Names, delivered, design_of, escapes, vectors

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from boolcomp.engines.engine import Wiring
    from boolcomp.logic.diagrams import Diagram
    from boolcomp.logic.network import Network
    from boolcomp.program.program import Load, Program
    from boolcomp.targets.target import Design, ExportOptions, Files


UNIT = Interval(-1.0, 1.0)


def image_of(program: Program, load: float | None = None) -> Image:
    """Return the processor's memory for one load or for all: tables as walks, sums as additions."""
    loads = program.loads if load is None else (program.load(load),)
    shapes = {tuple((o.code.bits, o.guard_bits) for o in one.outputs) for one in loads}
    if len(shapes) > 1:
        raise UsageError("the loads have outputs of different widths: select one with --load")
    if not program.inputs:
        raise UsageError(f"{program.name} has no inputs: there is no bit to test")
    maker = _WalkMaker(program, loads[0])
    for one in loads:
        if one.joint is None:
            maker.terms(program.wiring(one.payload))
        else:
            maker.joint(delivered(program, one.payload), one)
    if any(first == end for first, end in maker.loads):
        raise UsageError(f"{program.name} has a load without terms: there is no table to walk")
    return maker.image()


class _WalkMaker:
    """Makes the walks of loads; equal diagrams are shared."""

    def __init__(self, program: Program, load: Load) -> None:
        left = sum(word.code.bits for word in program.inputs)
        self.program, self.outputs = program, load.outputs
        self.whole = load.joint is not None
        self.names = Names(())
        self.inputs = []
        for word in program.inputs:
            left -= word.code.bits
            self.inputs.append(DiagramInput(self.names.new(word.name), word.code.bits, left))
        self.forest = Forest()
        self.roots: list[int] = []
        self.adds: list[tuple[tuple[int, int], ...]] = []
        self.loads: list[tuple[int, int]] = []
        self.offsets: list[list[int]] = []
        self.made: dict[tuple[Network, tuple[int, ...], Code | None], Diagram] = {}

    def terms(self, wiring: Wiring) -> None:
        """Add a walk per table of a load, in the order of calls."""
        first = len(self.roots)
        bits = [
            word.low + k for word in self.inputs for k in reversed(range(word.bits))
        ]  # the input bit of every plane, first those of coded words
        bits += [-1] * (wiring.planes - len(bits))
        walks: dict[int, tuple[Network, tuple[int, ...]]] = {}
        uses: dict[int, list[tuple[int, int]]] = {}
        codes: dict[int, Code] = {}
        offsets: list[int] = []
        for call in wiring.calls:
            network = wiring.networks[call.network]
            if call.port is not None:
                low = self.inputs[call.port].low
                made = len(network.outputs)
                bits[call.first : call.first + made] = reversed(range(low, low + made))
            elif call.total is None:
                walks[call.first] = network, tuple(bits[plane] for plane in call.inputs)
            else:
                place = 0
                for addend in call.total.addends:
                    use = uses.setdefault(call.inputs[place], [])
                    use.append((len(offsets), addend.times))
                    codes[call.inputs[place]] = Code(UNIT, addend.bits, addend.kind)
                    place += addend.bits
                offsets.append(call.total.offset)
        for plane, (network, reads) in walks.items():
            self.roots.append(self._walked(network, reads, codes[plane]))
            self.adds.append(tuple(uses[plane]))
        self.loads.append((first, len(self.roots)))
        self.offsets.append(offsets)

    def joint(self, network: Network, load: Load) -> None:
        """Add a walk per output of a load."""
        first, place = len(self.roots), 0
        reads = tuple(reversed(range(network.inputs)))
        builder = Builder(network.inputs)
        made = copied(network, builder)
        for k, output in enumerate(load.outputs):
            end = place + output.code.bits + 1
            part = builder.build(made[place:end])
            self.roots.append(self._walked(part, reads, None))
            self.adds.append(((k, 1),))
            place = end
        self.loads.append((first, len(self.roots)))
        self.offsets.append([0] * len(load.outputs))

    def _walked(self, whole: Network, given: Sequence[int], code: Code | None) -> int:
        """Return the start of the walk through a network's table; `code` codes its cells."""
        network, kept = narrowed(whole)
        reads = [given[k] for k in kept]
        if network.inputs > MOST_INPUTS or len(network.outputs) > MOST_WORD:
            raise UsageError(
                f"{self.program.name} has a table of {network.inputs} input bits, a walk tests at "
                f"most {MOST_INPUTS}: compile it with --mode paper, or for fewer bits"
            )
        spans = tuple(
            sum(word.low <= bit < word.low + word.bits for bit in reads) for word in self.inputs
        )
        key = network, tuple(span for span in spans if span), code
        if key not in self.made:
            words = words_of(network)
            words = words if code is None else code.index(words).astype("int64")
            self.made[key] = diagram_of(words, network.inputs, key[1])
        return self.forest.add(self.made[key], reads)

    def image(self) -> Image:
        """Return the walks of all loads in one memory."""
        always = sum(word.bits for word in self.inputs)
        instructions, entries = laid_out(self.forest, self.roots, always)
        outputs = tuple(
            Accumulator(
                self.names.new(output.name), output.code.bits, output.guard_bits,
                tuple(offsets[k] for offsets in self.offsets), output.code.kind,
                self.whole,
            )
            for k, output in enumerate(self.outputs)
        )  # fmt: skip
        walks = tuple(map(DiagramWalk, entries, self.adds))
        return Image(tuple(self.inputs), outputs, walks, tuple(self.loads), instructions)


# --------------------------------------------------------------------------------------------------
# The processor's program as text, and its memory in whole bytes (see `diagrams.Image`).
# --------------------------------------------------------------------------------------------------


def export_bdd(program: Program, load: float | None, options: ExportOptions) -> Files:
    """Return the text of the instructions, their inputs and their accumulators."""
    del options
    image = image_of(program, load)
    head = [*notes(design_of(program, load)), *sizes(image)]
    text = "".join(f"# {line}\n" for line in head)
    return {f"{Names(()).new(program.name, 'boolcomp')}.bdd": f"{text}{image}"}


def notes(design: Design) -> Iterator[str]:
    """Yield comments on a program and its words.

    No line begins with a user's name: tools interpret some words there as directives.
    """
    yield design.notes[0]
    for kind, ports in (("input", design.inputs), ("output", design.outputs)):
        for port in ports:
            yield f"{kind} {port.notes[0]}"
            yield from (f"  - {note}" for note in port.notes[1:])


def sizes(image: Image) -> Iterator[str]:
    """Yield the size of the memory and the length of walks."""
    leaves = len(image.instructions) - image.tests - image.jumps
    yield (
        f"{len(image.instructions)} instructions of {image.width} bits: {image.tests} tests, "
        f"{image.jumps} jumps, {leaves} leaves"
    )
    for load in range(len(image.loads)):
        which = f"load {load}: " if len(image.loads) > 1 else ""
        mean, worst = image.mean_cycles(load), image.worst_cycles(load)
        yield f"{which}{mean:.1f} cycles on the mean of all words, at most {worst}"


def export_bdd_binary(program: Program, load: float | None, options: ExportOptions) -> Files:
    """Return the instructions of a program; the starts of walks are in its text."""
    del options
    name = Names(()).new(program.name, "boolcomp")
    return {f"{name}.bin": image_of(program, load).binary()}


# --------------------------------------------------------------------------------------------------
# A self-checking bench for the processor. One vector is falsified: the bench must find it. No run
# may exceed the cycles of the longest walks.
# --------------------------------------------------------------------------------------------------


def bench(
    program: Program,
    load: float | None,
    module: str,
    pins: tuple[tuple[Pin, ...], tuple[Pin, ...]],
    maximum: int,
) -> str:
    """Return the text of a bench, which prints a line that begins with PASS or FAIL."""
    found = vectors(program, load, Gates(module, *pins, (), (), (), (), 0, ""))
    count, ins, outs = len(found.given), len(found.given[0]), len(found.expected[0])
    ports = [f".{name}({name})" for name in ("clock", "start", "busy", "done")]
    ports += [*bundle(pins[0], "inputs", ins), *bundle(pins[1], "outputs", outs)]
    held = f"{count - 1} vectors hold, the wrong one differs"
    lines = [
        f"// {count} vectors of {module}; vector {found.falsified} is wrong on purpose: the",
        "// bench passes where it, and no other, is found to differ",
        f"module {module}_tb;",
        f"    reg [{ins - 1}:0] given [0:{count - 1}];",
        f"    reg [{outs - 1}:0] wanted [0:{count - 1}];",
        f"    reg [{ins - 1}:0] inputs;",
        f"    wire [{outs - 1}:0] outputs;",
        *(f"    integer {name};" for name in ("place", "differ", "caught", "cycles", "all")),
        "    reg clock;",
        "    reg start;",
        "    wire busy;",
        "    wire done;",
        f"    {module} dut ({', '.join(ports)});",
        "    initial begin",
        "        clock = 1'b0;",
        "        forever #5 clock = ~clock;",
        "    end",
        "    initial begin",
        "        differ = 0;",
        "        caught = 0;",
        "        all = 0;",
        "        start = 1'b0;",
        f"        inputs = {{{ins}{{1'b0}}}};",
    ]
    for k, (given, wanted) in enumerate(zip(found.given, found.expected, strict=True)):
        lines.append(f"        given[{k}] = {ins}'b{given};")
        lines.append(f"        wanted[{k}] = {outs}'b{wanted};")
    lines += [
        *_loop(count, maximum),
        f"        if (caught == 1 && differ == {found.falsified})",
        f'            $display("PASS: {held}, %0d cycles", all);',
        '        else $display("FAIL: %0d vectors differ, the last is %0d", caught, differ);',
        "        $finish;",
        "    end",
        "endmodule",
    ]
    return "\n".join(lines) + "\n"


def _loop(count: int, maximum: int) -> list[str]:
    return [
        f"        for (place = 0; place < {count}; place = place + 1) begin",
        "            @(negedge clock);",
        "            inputs = given[place];",
        "            start = 1'b1;",
        "            @(negedge clock);",
        "            start = 1'b0;",
        "            inputs = ~given[place];",
        "            cycles = 1;",
        f"            while (done !== 1'b1 && cycles <= {maximum}) begin",
        "                @(negedge clock);",
        "                cycles = cycles + 1;",
        "            end",
        "            all = all + cycles;",
        f"            if (outputs !== wanted[place] || busy !== 1'b0 || cycles > {maximum}) begin",
        "                caught = caught + 1;",
        "                differ = place;",
        "            end",
        "        end",
    ]


# --------------------------------------------------------------------------------------------------
# A processor in Verilog-2005 that tests one bit per cycle, with a program in its memory.
# --------------------------------------------------------------------------------------------------

OWN = (
    "clock", "start", "busy", "done", "memory", "instruction", "place", "walk", "given", "leaf",
    "tested", "word", "begins", "following", "coming", "entry", "first", "last", "unused",
    "next_place",
)  # fmt: skip


class Naming(NamedTuple):
    """The names of a module, its ports and its accumulators."""

    module: str
    inputs: tuple[Pin, ...]
    outputs: tuple[Pin, ...]
    sums: tuple[str, ...]


def export_bdd_verilog(program: Program, load: float | None, options: ExportOptions) -> Files:
    """Return a program's processor and, as an option, its test bench."""
    image, design = image_of(program, load), design_of(program, load)
    named = _naming(image, design)
    files: Files = {f"{named.module}.v": render(image, design, named)}
    if options.test_bench:
        maximum = max(image.worst_cycles(k) for k in range(len(image.loads)))
        pins = named.inputs, named.outputs
        files[f"{named.module}_tb.v"] = bench(program, load, named.module, pins, maximum)
    return files


def _naming(image: Image, design: Design) -> Naming:
    names = Names([*VERILOG, *OWN])
    sums = tuple(names.new(f"sum{k}") for k in range(len(image.outputs)))
    for name in sums:
        names.new(f"{name}_cell")
    module = Names(VERILOG).new(design.name, "boolcomp")
    inputs = tuple(Pin(names.new(port.name), port) for port in design.inputs)
    outputs = tuple(Pin(names.new(port.name), port) for port in design.outputs)
    return Naming(module, inputs, outputs, sums)


def render(image: Image, design: Design, named: Naming) -> str:
    """Return the text of a module."""
    escaped = escapes((pin.port.name, pin.name) for pin in (*named.inputs, *named.outputs))
    head = [*notes(design), *escaped, *sizes(image)]
    head.append("start while not busy; outputs are there with done")
    lines = [f"// {line}" for line in head]
    lines += [f"module {named.module} (", ",\n".join(f"    {port}" for port in _ports(named)), ");"]
    lines += _signals(image, named)
    lines += _sequence(image, named)
    lines += _clocked(image, named)
    for output, total, pins in zip(image.outputs, named.sums, _pairs(named), strict=True):
        lines += _delivered(output, total, _sum_bits(image), pins)
    lines.append(f"    wire unused = &{{1'b0, {', '.join(named.sums)}}};")
    lines.append("    initial begin")
    lines += ["        busy = 1'b0;", "        done = 1'b0;"]
    digits = -(-image.width // 4)
    lines += [
        f"        memory[{place}] = {image.width}'h{image.code(one):0{digits}x};"
        for place, one in enumerate(image.instructions)
    ]
    return "\n".join([*lines, "    end", "endmodule"]) + "\n"


def _ports(named: Naming) -> Iterator[str]:
    yield from ("input wire clock", "input wire start")
    yield from (f"input wire {pin_range(pin)}{pin.name}" for pin in named.inputs)
    yield from ("output reg busy", "output reg done")
    yield from (f"output wire {pin_range(pin)}{pin.name}" for pin in named.outputs)


def _pairs(named: Naming) -> Iterator[tuple[str, str | None]]:
    """Yield the names of every output's port and of its flag, or None without a flag."""
    words = [k for k, pin in enumerate(named.outputs) if not pin.port.flag]
    for k in words:
        after = named.outputs[k + 1 : k + 2]
        flag = after[0].name if after and after[0].port.flag else None
        yield named.outputs[k].name, flag


def _walk_bits(image: Image) -> int:
    return len(image.walks).bit_length()


def _sum_bits(image: Image) -> int:
    """Return the width of all accumulators: enough for each, and more than a word."""
    found = image.word_bits + 1
    largest = (1 << image.word_bits) - 1
    for k, output in enumerate(image.outputs):
        times = [sum(n for walk in image.walks[a:b] for at, n in walk.adds if at == k)
                 for a, b in image.loads]  # fmt: skip
        low = min(output.offsets)
        high = max(one + n * largest for one, n in zip(output.offsets, times, strict=True))
        least = 2 + output.bits + output.guard_bits
        found = max(found, least, 1 + max(high.bit_length(), (-low).bit_length()))
    return found


def _span(bits: int) -> str:
    return "" if bits == 1 else f"[{bits - 1}:0] "


def _signals(image: Image, named: Naming) -> Iterator[str]:
    a, w = image.address_bits, image.width
    bit = f"[{a + image.bit_bits - 1}:{a}]" if image.bit_bits > 1 else f"[{a}]"
    words = [pin.name for pin in named.inputs[: len(image.inputs)]]
    yield f"    reg [{w - 1}:0] memory [0:{len(image.instructions) - 1}];"
    yield f"    reg [{w - 1}:0] instruction;"
    yield f"    reg {_span(a)}place;"
    yield f"    reg {_span(_walk_bits(image))}walk;"
    yield f"    reg [{image.always}:0] given;"
    yield from (f"    reg [{_sum_bits(image) - 1}:0] {name};" for name in named.sums)
    yield f"    wire leaf = instruction[{w - 1}];"
    yield f"    wire tested = given[instruction{bit}] == instruction[{a + image.bit_bits}];"
    pad = _sum_bits(image) - image.word_bits
    word = f"instruction[{image.word_bits - 1}:0]"
    yield f"    wire [{_sum_bits(image) - 1}:0] word = {{{pad}'d0, {word}}};"
    yield "    wire begins = start & ~busy;"
    yield f"    wire [{image.always}:0] coming = {{1'b1, {', '.join(words)}}};"


def _sequence(image: Image, named: Naming) -> Iterator[str]:
    """Yield the choice of the next instruction and of the last walk."""
    a, n = image.address_bits, _walk_bits(image)
    starts = [first for first, _ in image.loads]
    if len(starts) == 1:
        yield f"    wire {_span(n)}first = {n}'d0;"
    else:
        yield from _chosen(named.inputs[-1], n, starts)
    yield f"    wire {_span(n)}following = begins ? first : walk + {n}'d1;"
    yield f"    reg {_span(a)}entry;"
    yield "    always @*"
    yield "        case (following)"
    for k, walk in enumerate(image.walks[:-1]):
        yield f"            {n}'d{k}: entry = {a}'d{walk.entry};"
    yield f"            default: entry = {a}'d{image.walks[-1].entry};"
    yield "        endcase"
    ends = " | ".join(f"walk == {n}'d{end - 1}" for _, end in image.loads)
    yield f"    wire last = {ends};"
    target = f"tested ? instruction[{a - 1}:0] : place + {a}'d1"
    yield f"    wire {_span(a)}next_place = begins | leaf ? entry : {target};"


def _chosen(select: Pin, bits: int, starts: Sequence[int]) -> Iterator[str]:
    """Yield the choice of the first walk by the load."""
    yield f"    reg {_span(bits)}first;"
    yield "    always @*"
    yield f"        case ({select.name})"
    for load, start in enumerate(starts[:-1]):
        yield f"            {select.port.bits}'d{load}: first = {bits}'d{start};"
    yield f"            default: first = {bits}'d{starts[-1]};"
    yield "        endcase"


def _clocked(image: Image, named: Naming) -> Iterator[str]:
    n, s = _walk_bits(image), _sum_bits(image)
    yield "    always @(posedge clock) begin"
    yield "        instruction <= memory[next_place];"
    yield "        place <= next_place;"
    yield "        done <= busy & leaf & last;"
    yield "        if (begins) begin"
    yield "            busy <= 1'b1;"
    yield "            given <= coming;"
    yield "            walk <= first;"
    for name, output in zip(named.sums, image.outputs, strict=True):
        offsets = [f"{s}'h{offset % (1 << s):x}" for offset in output.offsets]
        text = offsets[-1]
        for place in reversed(range(len(offsets) - 1)):
            text = f"first == {n}'d{image.loads[place][0]} ? {offsets[place]} : {text}"
        yield f"            {name} <= {text};"
    yield "        end else if (busy & leaf) begin"
    yield "            busy <= ~last;"
    yield f"            walk <= walk + {n}'d1;"
    yield "            case (walk)"
    for k, walk in enumerate(image.walks):
        adds = " ".join(
            f"{named.sums[output]} <= {named.sums[output]} + "
            + ("word;" if times == 1 else f"{s}'d{times} * word;")
            for output, times in walk.adds
        )
        yield f"                {n}'d{k}: begin {adds} end"
    yield "                default: ;"
    yield "            endcase"
    yield "        end"
    yield "    end"


def _delivered(
    output: Accumulator, total: str, bits: int, ports: tuple[str, str | None]
) -> Iterator[str]:
    """Yield an output's word and flag, as functions of its sum."""
    name, flag = ports
    if output.whole:
        yield f"    assign {name} = {total}[{output.bits}:1];"
        if flag:
            yield f"    assign {flag} = {total}[0];"
        return
    low, high = output.guard_bits, output.guard_bits + output.bits
    negative, above = f"{total}[{bits - 1}]", f"(|{total}[{bits - 2}:{high}])"
    n = output.bits
    kept = f"({total}[{high - 1}:{low}] | {{{n}{{{above}}}}}) & {{{n}{{~{negative}}}}}"
    cell = f"{total}_cell"
    yield f"    wire {_span(n)}{cell} = {kept};"
    yield f"    assign {name} = {_word(cell, output)};"
    if flag:
        yield f"    assign {flag} = {negative} | {above};"


def _word(cell: str, output: Accumulator) -> str:
    n = output.bits
    if output.kind == "natural" or (n == 1 and output.kind == "gray"):
        return cell
    if n == 1:
        return f"~{cell}"
    first, rest = f"{cell}[{n - 1}]", f"{cell}[{n - 2}:0]"
    if output.kind == "gray":
        return f"{cell} ^ {{1'b0, {cell}[{n - 1}:1]}}"
    if output.kind == "twos":
        return f"{{~{first}, {rest}}}"
    return f"{{~{first}, {rest} ^ {{{n - 1}{{~{first}}}}}}}"
