"""A processor that tests a bit a cycle, in Verilog-2005, with a program in its memory.

Words are taken in at a clock with `start` while it is not `busy`; at the clock after the last leaf
outputs are there, `done` is 1 for a cycle, and they stay until the next start. The memory is read
at clocks, as block memory is: the next address depends on the instruction that was read last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from boolcomp.targets.bdd import bench, image_of, notes, sizes
from boolcomp.targets.gates import Pin
from boolcomp.targets.hdl import pin_range
from boolcomp.targets.target import VERILOG, Names, design_of, escapes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from boolcomp.logic.diagram_machine import Accumulator, Image
    from boolcomp.program.program import Program
    from boolcomp.targets.target import Design, Files, Options

OWN = (
    "clock", "start", "busy", "done", "memory", "instruction", "place", "walk", "given", "leaf",
    "tested", "word", "begins", "following", "coming", "entry", "first", "last", "unused",
    "next_place",
)  # fmt: skip


class Naming(NamedTuple):
    """What a module, its ports, and the sums of its outputs are called."""

    module: str
    inputs: tuple[Pin, ...]
    outputs: tuple[Pin, ...]
    sums: tuple[str, ...]


def export_bdd_verilog(program: Program, load: float | None, options: Options) -> Files:
    """Return a program's processor, and its test bench where one is wanted."""
    image, design = image_of(program, load), design_of(program, load)
    named = _naming(image, design)
    files: Files = {f"{named.module}.v": render(image, design, named)}
    if options.test_bench:
        most = max(image.worst_cycles(k) for k in range(len(image.loads)))
        pins = named.inputs, named.outputs
        files[f"{named.module}_tb.v"] = bench(program, load, named.module, pins, most)
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
    """Yield for every output its port and, where it has one, that of its flag."""
    words = [k for k, pin in enumerate(named.outputs) if not pin.port.flag]
    for k in words:
        after = named.outputs[k + 1 : k + 2]
        flag = after[0].name if after and after[0].port.flag else None
        yield named.outputs[k].name, flag


def _walk_bits(image: Image) -> int:
    return len(image.walks).bit_length()


def _sum_bits(image: Image) -> int:
    """Return how many bits all sums have: enough for each, and one more than a word."""
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
    words = [pin.name for pin in named.inputs]
    words = words[: len(image.inputs)]
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
    """Yield how it is decided which instruction comes next, and which walk is the last."""
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
    """Yield which walk is the first one, by the load."""
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
    """Yield how an output's word, and its flag, are made of its sum."""
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
    """Return the word of a cell."""
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
