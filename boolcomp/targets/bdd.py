"""A program as the program of a processor that tests bits: its tables as walks, its sums as adds.

Of a program of paper mode every table is a diagram; what is added of it are the cells of its words.
Of a compact program the whole logic is one table for each output, which has to have few input bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.base.errors import UsageError
from boolcomp.codes import Code
from boolcomp.logic.diagram_machine import Accumulator, Image, Input, Walk, laid_out
from boolcomp.logic.diagrams import MOST_INPUTS, MOST_WORD, Forest, diagram_of, narrowed, words_of
from boolcomp.logic.network import Builder, copied
from boolcomp.problem.words import Interval
from boolcomp.targets.benches import bundle
from boolcomp.targets.gates import Gates
from boolcomp.targets.target import Names, delivered, design_of, vectors

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from boolcomp.engines.engine import Wiring
    from boolcomp.logic.diagrams import Diagram
    from boolcomp.logic.network import Network
    from boolcomp.program.program import Load, Program
    from boolcomp.targets.gates import Pin
    from boolcomp.targets.target import Design, Files, Options


# --------------------------------------------------------------------------------------------------
# A program as the program of a processor that tests bits: its tables as walks, its sums as adds.
# --------------------------------------------------------------------------------------------------


UNIT = Interval(-1.0, 1.0)


def image_of(program: Program, load: float | None = None) -> Image:
    """Return what the processor's memory holds for one load, or for all of them."""
    loads = program.loads if load is None else (program.load(load),)
    shapes = {tuple((o.code.bits, o.guard_bits) for o in one.outputs) for one in loads}
    if len(shapes) > 1:
        raise UsageError("the loads have outputs of different widths: say which with --load")
    if not program.inputs:
        raise UsageError(f"{program.name} reads nothing: there is no bit to test")
    maker = _Maker(program, loads[0])
    for one in loads:
        if one.joint is None:
            maker.terms(program.wiring(one.payload))
        else:
            maker.joint(delivered(program, one.payload), one)
    if any(first == end for first, end in maker.loads):
        raise UsageError(f"{program.name} has a load without terms: there is no table to walk")
    return maker.image()


class _Maker:
    """Makes walks, one load after the other; diagrams share what is equal."""

    def __init__(self, program: Program, load: Load) -> None:
        left = sum(word.code.bits for word in program.inputs)
        self.program, self.outputs = program, load.outputs
        self.whole = load.joint is not None
        self.names = Names(())
        self.inputs = []
        for word in program.inputs:
            left -= word.code.bits
            self.inputs.append(Input(self.names.new(word.name), word.code.bits, left))
        self.forest = Forest()
        self.roots: list[int] = []
        self.adds: list[tuple[tuple[int, int], ...]] = []
        self.loads: list[tuple[int, int]] = []
        self.offsets: list[list[int]] = []
        self.made: dict[tuple[Network, tuple[int, ...], Code | None], Diagram] = {}

    def terms(self, wiring: Wiring) -> None:
        """Walk the tables of a load, in the order of their calls."""
        first = len(self.roots)
        bits = [
            word.low + k for word in self.inputs for k in reversed(range(word.bits))
        ]  # of every plane that tables read: those of words in their codes
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
        """Walk the logic of a load, an output a walk."""
        first, place = len(self.roots), 0
        reads = tuple(reversed(range(network.inputs)))
        builder = Builder(network.inputs)
        made = copied(network, builder, [builder.input(k) for k in range(network.inputs)])
        for k, output in enumerate(load.outputs):
            end = place + output.code.bits + 1
            part = builder.build(made[place:end])
            self.roots.append(self._walked(part, reads, None))
            self.adds.append(((k, 1),))
            place = end
        self.loads.append((first, len(self.roots)))
        self.offsets.append([0] * len(load.outputs))

    def _walked(self, whole: Network, given: Sequence[int], code: Code | None) -> int:
        """Return where the walk through a network's table begins; its words are cells of a code."""
        network, kept = narrowed(whole)
        reads = [given[k] for k in kept]
        if network.inputs > MOST_INPUTS or len(network.outputs) > MOST_WORD:
            raise UsageError(
                f"{self.program.name} has logic that reads {network.inputs} bits at once: a walk "
                f"tests at most {MOST_INPUTS}; compile it with --mode paper, or to fewer bits"
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
        layout = laid_out(self.forest, self.roots, always)
        outputs = tuple(
            Accumulator(
                self.names.new(output.name), output.code.bits, output.guard_bits,
                tuple(offsets[k] for offsets in self.offsets), output.code.kind,
                self.whole,
            )
            for k, output in enumerate(self.outputs)
        )  # fmt: skip
        walks = tuple(map(Walk, layout.entries, self.adds))
        return Image(tuple(self.inputs), outputs, walks, tuple(self.loads), layout.instructions)


# --------------------------------------------------------------------------------------------------
# The program of a processor that tests bits, as text (see `diagrams.image`).
# --------------------------------------------------------------------------------------------------


def export_bdd(program: Program, load: float | None, options: Options) -> Files:
    """Return the program's instructions, what they read and what becomes of their words."""
    del options
    image = image_of(program, load)
    head = [*notes(design_of(program, load)), *sizes(image)]
    text = "".join(f"# {line}\n" for line in head)
    return {f"{Names(()).new(program.name, 'boolcomp')}.bdd": f"{text}{image}"}


def notes(design: Design) -> Iterator[str]:
    """Yield what there is to say of a program and of its words.

    No line begins with a user's name: tools take some words there for orders.
    """
    yield design.notes[0]
    for kind, ports in (("input", design.inputs), ("output", design.outputs)):
        for port in ports:
            yield f"{kind} {port.notes[0]}"
            yield from (f"  - {note}" for note in port.notes[1:])


def sizes(image: Image) -> Iterator[str]:
    """Yield how large a memory is, and how long its walks are."""
    leaves = len(image.instructions) - image.tests - image.jumps
    yield (
        f"{len(image.instructions)} instructions of {image.width} bits: {image.tests} tests, "
        f"{image.jumps} jumps, {leaves} leaves"
    )
    for load in range(len(image.loads)):
        which = f"load {load}: " if len(image.loads) > 1 else ""
        mean, worst = image.mean_cycles(load), image.worst_cycles(load)
        yield f"{which}{mean:.1f} cycles on the mean of all words, at most {worst}"


# --------------------------------------------------------------------------------------------------
# The memory of a processor that tests bits: its instructions, each in whole bytes.
# --------------------------------------------------------------------------------------------------


def export_bdd_binary(program: Program, load: float | None, options: Options) -> Files:
    """Return the instructions of a program; where walks begin, its text says."""
    del options
    name = Names(()).new(program.name, "boolcomp")
    return {f"{name}.bin": image_of(program, load).binary()}


# --------------------------------------------------------------------------------------------------
# A bench for a processor that tests bits: it checks itself, and that it can fail.
#
# One of its vectors is wrong; and no run may take longer than the longest walks do.
# --------------------------------------------------------------------------------------------------


def bench(
    program: Program,
    load: float | None,
    module: str,
    pins: tuple[tuple[Pin, ...], tuple[Pin, ...]],
    most: int,
) -> str:
    """Return the text of a bench; it prints a line that begins with PASS, or with FAIL."""
    found = vectors(program, load, Gates(module, *pins, (), (), (), (), 0, ""))
    count, ins, outs = len(found.given), len(found.given[0]), len(found.wanted[0])
    ports = [f".{name}({name})" for name in ("clock", "start", "busy", "done")]
    ports += [*bundle(pins[0], "inputs", ins), *bundle(pins[1], "outputs", outs)]
    held = f"{count - 1} vectors hold, the wrong one differs"
    lines = [
        f"// {count} vectors of {module}; vector {found.wrong} is wrong on purpose: the",
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
    for k, (given, wanted) in enumerate(zip(found.given, found.wanted, strict=True)):
        lines.append(f"        given[{k}] = {ins}'b{given};")
        lines.append(f"        wanted[{k}] = {outs}'b{wanted};")
    lines += [
        *_loop(count, most),
        f"        if (caught == 1 && differ == {found.wrong})",
        f'            $display("PASS: {held}, %0d cycles", all);',
        '        else $display("FAIL: %0d vectors differ, the last is %0d", caught, differ);',
        "        $finish;",
        "    end",
        "endmodule",
    ]
    return "\n".join(lines) + "\n"


def _loop(count: int, most: int) -> list[str]:
    """Return a loop that starts the processor on every vector, and takes its words away at once."""
    return [
        f"        for (place = 0; place < {count}; place = place + 1) begin",
        "            @(negedge clock);",
        "            inputs = given[place];",
        "            start = 1'b1;",
        "            @(negedge clock);",
        "            start = 1'b0;",
        "            inputs = ~given[place];",
        "            cycles = 1;",
        f"            while (done !== 1'b1 && cycles <= {most}) begin",
        "                @(negedge clock);",
        "                cycles = cycles + 1;",
        "            end",
        "            all = all + cycles;",
        f"            if (outputs !== wanted[place] || busy !== 1'b0 || cycles > {most}) begin",
        "                caught = caught + 1;",
        "                differ = place;",
        "            end",
        "        end",
    ]
