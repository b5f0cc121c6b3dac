"""Decision-diagram programs as text, as a memory image, and as a processor in Verilog.

In a program of paper mode every table is a diagram; in a compact program the whole logic is one
table for each output, which must have few input bits. The Verilog processor reads words at a clock
with `start` while it is not `busy`. At the clock after the last leaf the outputs are valid and
`done` is 1 for a cycle; they stay until the next start. The memory is synchronous, as block memory
is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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
from boolcomp.problem.word_codes import CODES, Step
from boolcomp.problem.words import Interval
from boolcomp.targets.benches import bench
from boolcomp.targets.target import (
    VERILOG,
    Names,
    delivered,
    design_of,
    escapes,
    fill,
    frame_of,
    separated,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from boolcomp.engines.engine import Wiring
    from boolcomp.logic.diagrams import Diagram
    from boolcomp.logic.network import Network
    from boolcomp.program.program import Load, Program
    from boolcomp.targets.target import Design, ExportOptions, Files, Frame, Pin


UNIT = Interval(-1.0, 1.0)


def image_of(program: Program, load: float | None = None) -> Image:
    """Return the processor's memory for one load or for all: tables as walks, sums as additions."""
    loads = program.loads if load is None else (program.load(load),)
    shapes = {tuple((o.code.bits, o.guard_bits) for o in one.outputs) for one in loads}
    if len(shapes) > 1:
        raise UsageError("the loads have outputs of different widths", "select one with --payload")
    if not program.inputs:
        raise UsageError(f"{program.name} has no inputs, so there is no bit to test")
    maker = _WalkMaker(program, loads[0])
    for one in loads:
        if one.joint is None:
            maker.terms(program.wiring(one.payload))
        else:
            maker.joint(delivered(program, one.payload), one)
    if any(first == end for first, end in maker.loads):
        raise UsageError(
            f"{program.name} has no terms: there is no table to walk", "use --mode paper"
        )
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
                f"{self.program.name} has a table of {network.inputs} input bits, a walk tests "
                f"at most {MOST_INPUTS}", "compile it with --mode paper, or for fewer bits",
            )  # fmt: skip
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
# A processor in Verilog-2005 that tests one bit per cycle, with a program in its memory.
# --------------------------------------------------------------------------------------------------

OWN = (
    "clock", "start", "busy", "done", "memory", "instruction", "place", "walk", "given", "leaf",
    "tested", "word", "begins", "following", "coming", "entry", "first", "last", "unused",
    "next_place",
)  # fmt: skip


def export_bdd_verilog(program: Program, load: float | None, options: ExportOptions) -> Files:
    """Return a program's processor and, as an option, its test bench."""
    image, design = image_of(program, load), design_of(program, load)
    names = Names([*VERILOG, *OWN])
    sums = [names.new(f"sum{k}") for k in range(len(image.outputs))]
    for name in sums:
        names.new(f"{name}_cell")
    frame = frame_of(design, VERILOG, names)
    files: Files = {f"{frame.module}.v": render(image, design, frame, sums)}
    if options.test_bench:
        cycles = max(image.worst_cycles(k) for k in range(len(image.loads)))
        files[f"{frame.module}_tb.v"] = bench(program, load, frame, ".v", cycles=cycles)
    return files


def render(image: Image, design: Design, frame: Frame, sums: Sequence[str]) -> str:
    """Return the text of a module."""
    a, w, n, s = image.address_bits, image.width, len(image.walks).bit_length(), _sum_bits(image)
    escaped = escapes((pin.port.name, pin.name) for pin in (*frame.inputs, *frame.outputs))
    head = [*notes(design), *escaped, *sizes(image)]
    head.append("start while not busy; outputs are there with done")
    delivered = zip(image.outputs, sums, _pairs(frame), strict=True)
    return fill(
        "bdd.v", name=frame.module, head=[f"// {line}" for line in head],
        ports=separated(_ports(frame), ","), high=w - 1, end=len(image.instructions) - 1,
        places=_span(a), walks=_span(n), always=image.always, sum_high=s - 1,
        sum_registers=[f"reg [{s - 1}:0] {name};" for name in sums], sums=", ".join(sums),
        tested=f"[{a + image.bit_bits - 1}:{a}]" if image.bit_bits > 1 else f"[{a}]",
        value=a + image.bit_bits, pad=s - image.word_bits, word_high=image.word_bits - 1, a=a, n=n,
        words=", ".join(pin.name for pin in frame.inputs[: len(image.inputs)]), place_high=a - 1,
        first=[*_first(image, frame.inputs[-1], n)], entries=[*_entries(image, n)],
        last=" | ".join(f"walk == {n}'d{end - 1}" for _, end in image.loads),
        offsets=[*_offsets(image, sums, n, s)], adds=[*_adds(image, sums, n, s)],
        delivered=[line for one in delivered for line in _delivered(*one, s)],
        memory=[
            f"memory[{place}] = {w}'h{image.code(one):0{-(-w // 4)}x};"
            for place, one in enumerate(image.instructions)
        ],
    )  # fmt: skip


def _ports(frame: Frame) -> Iterator[str]:
    yield from ("input wire clock", "input wire start")
    yield from (f"input wire {_span(pin.port.bits)}{pin.name}" for pin in frame.inputs)
    yield from ("output reg busy", "output reg done")
    yield from (f"output wire {_span(pin.port.bits)}{pin.name}" for pin in frame.outputs)


def _pairs(frame: Frame) -> Iterator[tuple[str, str | None]]:
    """Yield the names of every output's port and of its flag, or None without a flag."""
    words = [k for k, pin in enumerate(frame.outputs) if not pin.port.flag]
    for k in words:
        after = frame.outputs[k + 1 : k + 2]
        flag = after[0].name if after and after[0].port.flag else None
        yield frame.outputs[k].name, flag


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


def _first(image: Image, select: Pin, bits: int) -> Iterator[str]:
    """Yield the choice of the first walk, by the load if there are several."""
    starts = [first for first, _ in image.loads]
    if len(starts) == 1:
        yield f"wire {_span(bits)}first = {bits}'d0;"
        return
    yield f"reg {_span(bits)}first;"
    yield "always @*"
    yield f"    case ({select.name})"
    for load, start in enumerate(starts[:-1]):
        yield f"        {select.port.bits}'d{load}: first = {bits}'d{start};"
    yield f"        default: first = {bits}'d{starts[-1]};"
    yield "    endcase"


def _entries(image: Image, bits: int) -> Iterator[str]:
    """Yield the first instruction of every walk."""
    *walks, last = (f"entry = {image.address_bits}'d{walk.entry};" for walk in image.walks)
    yield from (f"{bits}'d{k}: {text}" for k, text in enumerate(walks))
    yield f"default: {last}"


def _offsets(image: Image, sums: Sequence[str], n: int, s: int) -> Iterator[str]:
    """Yield the first value of every accumulator, by the first walk of a load."""
    for name, output in zip(sums, image.outputs, strict=True):
        offsets = [f"{s}'h{offset % (1 << s):x}" for offset in output.offsets]
        text = offsets[-1]
        for place in reversed(range(len(offsets) - 1)):
            text = f"first == {n}'d{image.loads[place][0]} ? {offsets[place]} : {text}"
        yield f"{name} <= {text};"


def _adds(image: Image, sums: Sequence[str], n: int, s: int) -> Iterator[str]:
    """Yield the additions after every walk."""
    for k, walk in enumerate(image.walks):
        adds = " ".join(
            f"{sums[output]} <= {sums[output]} + "
            + ("word;" if times == 1 else f"{s}'d{times} * word;")
            for output, times in walk.adds
        )
        yield f"{n}'d{k}: begin {adds} end"


def _delivered(
    output: Accumulator, total: str, ports: tuple[str, str | None], bits: int
) -> Iterator[str]:
    """Yield an output's word and flag, as functions of its sum."""
    name, flag = ports
    if output.whole:
        yield f"assign {name} = {total}[{output.bits}:1];"
        if flag:
            yield f"assign {flag} = {total}[0];"
        return
    low, high = output.guard_bits, output.guard_bits + output.bits
    negative, above = f"{total}[{bits - 1}]", f"(|{total}[{bits - 2}:{high}])"
    n = output.bits
    kept = f"({total}[{high - 1}:{low}] | {{{n}{{{above}}}}}) & {{{n}{{~{negative}}}}}"
    cell = f"{total}_cell"
    yield f"wire {_span(n)}{cell} = {kept};"
    word = cell
    for k, step in enumerate(CODES[output.kind].steps):
        if k:  # a name, of which bits can be selected
            yield f"wire {_span(n)}{cell}_{k} = {word};"
            word = f"{cell}_{k}"
        word = _after(step, word, n)
    yield f"assign {name} = {word};"
    if flag:
        yield f"assign {flag} = {negative} | {above};"


def _after(step: Step, word: str, n: int) -> str:
    """Return a word of n bits after a step, in a code without zero code."""
    if n == 1:
        return word if step is Step.FOLD else f"~{word}"
    if step is Step.FOLD:
        return f"{word} ^ {{1'b0, {word}[{n - 1}:1]}}"
    first, rest = f"~{word}[{n - 1}]", f"{word}[{n - 2}:0]"
    if step is Step.MAGNITUDE:
        rest += f" ^ {{{n - 1}{{{first}}}}}"
    return f"{{{first}, {rest}}}"
