"""A program as the program of a processor that tests bits: its tables as walks, its sums as adds.

Of a program of paper mode every table is a diagram; what is added of it are the cells of its words.
Of a compact program the whole logic is one table for each output, which has to have few input bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.codes import Code
from boolcomp.common.errors import UsageError
from boolcomp.diagrams.forest import Forest
from boolcomp.diagrams.layout import laid_out
from boolcomp.diagrams.tables import MOST_INPUTS, MOST_WORD, narrowed, words_of
from boolcomp.logic.diagram_machine import Accumulator, Image, Input, Walk
from boolcomp.logic.diagrams import diagram_of
from boolcomp.logic.network import Builder, copied
from boolcomp.problem.interval import Interval
from boolcomp.targets.names import Names
from boolcomp.targets.target import delivered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.engines.wiring import Wiring
    from boolcomp.logic.diagrams import Diagram
    from boolcomp.logic.network import Network
    from boolcomp.program.parts import Load
    from boolcomp.program.program import Program

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
