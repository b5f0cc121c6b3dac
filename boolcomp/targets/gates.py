"""A network cut into stages, with registers between them: where flip-flops are fewest.

A stage is a run of levels; no stage is deeper than the depth of the network divided by their
number, rounded up. Levels of nodes are chosen first, so that signals live short, then the cuts
between levels by dynamic programming over the signals that cross them; then single nodes move
to other stages where that saves flip-flops. A signal that is read n stages later takes n of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, Protocol

from boolcomp.logic.network import CONSTANTS, FALSE
from boolcomp.targets.target import Names, escapes, unread

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from boolcomp.logic.lutnetwork import Logic
    from boolcomp.targets.target import Design, Port


# --------------------------------------------------------------------------------------------------
# A network cut into stages, with registers between them: where flip-flops are fewest.
# --------------------------------------------------------------------------------------------------


SWEEPS = 40  # over all nodes; usually a handful changes nothing any more


def stages_of(network: Logic, count: int) -> tuple[int, ...]:
    """Return the stage of every node, 0 to `count - 1`; outputs are read after the last."""
    if count < 2 or not network.nodes:
        return (0,) * len(network.nodes)
    books = _readers(network)
    best: tuple[int, list[int]] | None = None
    deepest = -(-network.depth // count)
    for levels in _levellings(books, network.depth):
        stages = books.with_inputs(_by_cuts(books, levels, network.depth, count, deepest))
        refine(books, stages, count, deepest)
        cost = registers(books, stages, count)
        if best is None or cost < best[0]:
            best = cost, stages
    assert best is not None  # noqa: S101 (there are two ways to level)
    return tuple(best[1][books.first :])


def _readers(network: Logic) -> Readers:
    first = CONSTANTS + network.inputs
    operands = [*[()] * first, *(node.operands for node in network.nodes)]
    return Readers(first, operands, network.outputs)


def flip_flops(network: Logic, stages: Sequence[int], count: int) -> int:
    """Return how many flip-flops hold signals between stages, and after the last."""
    books = _readers(network)
    return registers(books, books.with_inputs(stages), count)


class Readers:
    """Who reads a signal; constants are left out, outputs are read by nobody and at the end.

    Signals before `first` are inputs. Of every signal there is a delay, and how many bits it has.
    """

    def __init__(
        self,
        first: int,
        operands: Sequence[Sequence[int]],
        outputs: Iterable[int],
        delays: Sequence[int] | None = None,
        widths: Sequence[int] | None = None,
    ) -> None:
        self.first, self.operands = first, operands
        self.size = len(operands)
        self.delays, self.widths = delays or [1] * self.size, widths or [1] * self.size
        self.users: list[list[int]] = [[] for _ in range(self.size)]
        for signal in range(self.first, self.size):
            for k in self.operands[signal]:
                self.users[k].append(signal)
        self.kept = [False] * self.size
        for signal in outputs:
            self.kept[signal] = signal >= CONSTANTS

    def with_inputs(self, stages: Iterable[int]) -> list[int]:
        """Return stages of all signals: constants and inputs are there at the beginning."""
        return [*[0] * self.first, *stages]

    def last(self, signal: int, places: Sequence[int], end: int) -> int:
        """Return where a signal is read for the last time."""
        if self.kept[signal]:
            return end
        return max((places[k] for k in self.users[signal]), default=places[signal])


def registers(books: Readers, stages: Sequence[int], count: int) -> int:
    """Return how many flip-flops stages of all signals take."""
    return sum(
        (books.last(signal, stages, count) - stages[signal]) * books.widths[signal]
        for signal in range(CONSTANTS, books.size)
    )


def _levellings(books: Readers, depth: int) -> Iterable[list[int]]:
    """Yield ways to level all signals (inputs at 0): as early, or as late as can be, improved."""
    early = [0] * books.size
    for k in range(books.first, books.size):
        early[k] = 1 + max(early[j] for j in books.operands[k])
    late = [0] * books.size
    for k in reversed(range(books.first, books.size)):
        late[k] = min((late[j] for j in books.users[k]), default=depth + 1) - 1
    for levels in (early, late):
        yield _shortened(books, levels, depth)


def _shortened(books: Readers, levels: list[int], depth: int) -> list[int]:
    """Move nodes to where they and their operands live shortest, while that helps."""
    for sweep in range(SWEEPS):
        changed = False
        later = sweep % 2 == 0
        order = range(books.first, books.size)
        for k in reversed(order) if later else order:
            least = 1 + max(levels[j] for j in books.operands[k])
            most = min((levels[j] for j in books.users[k]), default=depth + 1) - 1
            target = most if later else least
            if target != levels[k] and _gain(books, levels, k, target, depth + 1) >= 0:
                levels[k] = target
                changed = True
        if not changed:
            break
    return levels


def _gain(books: Readers, places: list[int], k: int, target: int, end: int) -> int:
    """Return how much less signals live where one node moves."""
    before = places[k]
    gain = (target - before) * books.widths[k]
    for j in books.operands[k]:
        last = books.last(j, places, end)
        places[k] = target
        gain += (last - books.last(j, places, end)) * books.widths[j]
        places[k] = before
    return gain


def _by_cuts(
    books: Readers, levels: Sequence[int], depth: int, count: int, deepest: int
) -> list[int]:
    """Return the stages of nodes, by the cuts between levels that fewest signals cross."""
    crossing = [0] * (depth + 1)
    for signal in range(CONSTANTS, books.size):
        for level in range(levels[signal], books.last(signal, levels, depth + 1)):
            crossing[level] += 1

    @cache
    def cheapest(cuts: int, above: int) -> tuple[int, tuple[int, ...]]:
        """Return the cost of so many cuts below a level, and where they are."""
        if cuts == 0:
            return (0, ()) if above <= deepest else (1 << 60, ())
        found = (1 << 60, (0,) * cuts)
        for cut in range(max(0, above - deepest), above + 1):
            cost, places = cheapest(cuts - 1, cut)
            found = min(found, (cost + crossing[cut], (*places, cut)))
        return found

    _, cuts = cheapest(count - 1, depth)
    return [sum(levels[k] > cut for cut in cuts) for k in range(books.first, books.size)]


def refine(books: Readers, stages: list[int], count: int, deepest: int) -> None:
    """Move nodes to other stages where that takes fewer flip-flops, and no stage gets too deep.

    Later from the last node to the first, earlier the other way round: so the depth that is left
    is known. Moves that cost nothing are made as well; others come of them.
    """
    known = registers(books, stages, count)
    idle = 0
    for sweep in range(SWEEPS):
        (_later if sweep % 2 == 0 else _earlier)(books, stages, count, deepest)
        now = registers(books, stages, count)
        idle = idle + 1 if now == known else 0
        known = now
        if idle == 4:
            break


def _later(books: Readers, stages: list[int], count: int, deepest: int) -> None:
    tails = [0] * books.size
    for k in reversed(range(books.first, books.size)):
        users = books.users[k]
        most = min((stages[j] for j in users), default=count - 1)
        stages[k], tails[k] = _best(
            books, stages, k, range(stages[k], most + 1), tails, users, count, deepest
        )


def _earlier(books: Readers, stages: list[int], count: int, deepest: int) -> None:
    heads = [0] * books.size
    for k in range(books.first, books.size):
        operands = [j for j in books.operands[k] if j >= books.first]
        least = max((stages[j] for j in operands), default=0)
        stages[k], heads[k] = _best(
            books, stages, k, range(stages[k], least - 1, -1), heads, operands, count, deepest
        )


def _best(  # noqa: PLR0917 (the books of a sweep)
    books: Readers, stages: list[int], k: int, choices: Iterable[int], depths: list[int],
    near: Sequence[int], count: int, deepest: int,
) -> tuple[int, int]:  # fmt: skip
    """Return the stage of a node that saves most, the last of equals, and its depth there."""
    found, most = (stages[k], 0), -(1 << 60)
    for stage in choices:
        depth = books.delays[k] + max((depths[j] for j in near if stages[j] == stage), default=0)
        gain = _gain(books, stages, k, stage, count)
        if depth <= deepest and gain >= most:
            found, most = (stage, depth), gain
    return found


# --------------------------------------------------------------------------------------------------
# A design as lines of a hardware language: one an operation, one a register, names legal.
#
# Verilog and VHDL differ in how such lines are written, and in nothing else.
# --------------------------------------------------------------------------------------------------


CONTROLS = ("clock", "enable", "valid_in", "valid_out")


class Signal(NamedTuple):
    """A signal by name, and the stage in which it is made; None: a constant, always there."""

    name: str
    stage: int | None


class Line(NamedTuple):
    """A signal that is made of others by a table."""

    name: str
    lut: int
    operands: tuple[str, ...]


class Pin(NamedTuple):
    """A port by its legal name."""

    name: str
    port: Port


@dataclass(frozen=True, slots=True)
class Gates:
    """A design's lines in order, its registers (new name, old name), and what outputs are made of.

    `drives` holds for every output port the names of its bits, most significant first; `idle` the
    bits of inputs that nothing reads. `stages` 0 is combinational: no clock, no control ports.
    """

    module: str
    inputs: tuple[Pin, ...]
    outputs: tuple[Pin, ...]
    lines: tuple[Line, ...]
    registers: tuple[tuple[str, str], ...]
    drives: tuple[tuple[str, ...], ...]
    idle: tuple[str, ...]
    stages: int
    prefix: str

    @property
    def flip_flops(self) -> int:
        """How many bits are held between stages."""
        return len(self.registers)


class Framed(Protocol):
    """A module of gates or words as test benches see it: its name, its ports, its stages."""

    @property
    def module(self) -> str:
        """Its legal name."""
        ...

    @property
    def inputs(self) -> tuple[Pin, ...]:
        """Its ports, but for those that control a pipeline."""
        ...

    @property
    def outputs(self) -> tuple[Pin, ...]:
        """The same of outputs."""
        ...

    @property
    def stages(self) -> int:
        """The stages between registers; 0: combinational."""
        ...

    @property
    def flip_flops(self) -> int:
        """How many bits are held between stages."""
        ...


class Syntax(NamedTuple):
    """What a language says of names: its reserved words, a bit of a word, the two constants."""

    reserved: frozenset[str]
    bit: str
    constants: tuple[str, str]


def gates_of(design: Design, syntax: Syntax, stages: int, logic: Logic | None = None) -> Gates:
    """Return the lines of a design in a language, in so many stages.

    `logic` is what is written in place of the design's network: look-up tables that are the same.
    """
    logic = logic or design.network
    module = Names(syntax.reserved).new(design.name, "boolcomp")  # ports may be called so, too
    names = Names([*syntax.reserved, *CONTROLS])
    inputs = tuple(Pin(names.new(port.name), port) for port in design.inputs)
    outputs = tuple(Pin(names.new(port.name), port) for port in design.outputs)
    prefix = _prefix([module, *(pin.name for pin in (*inputs, *outputs))])
    bits = [bit for pin in inputs for bit in bits_of(pin, syntax.bit)]
    lines = _Lines(syntax.constants, prefix, stages_of(logic, stages))
    made = logic.fold(lines, [Signal(bit, 0) for bit in bits])
    driven = iter([lines.at(signal, stages) for signal in made])
    drives = tuple(tuple(next(driven) for _ in range(pin.port.bits)) for pin in outputs)
    idle = tuple(bits[k] for k in unread(logic))
    return Gates(
        module, inputs, outputs, tuple(lines.lines), tuple(lines.registers.items()), drives, idle,
        stages, prefix,
    )  # fmt: skip


def bits_of(pin: Pin, bit: str) -> Iterable[str]:
    """Yield the names of a port's bits, most significant first; a port of one bit is one."""
    if pin.port.bits == 1:
        yield pin.name
    else:
        for place in reversed(range(pin.port.bits)):
            yield bit.format(pin.name, place)


def header(design: Design, gates: Framed) -> list[str]:
    """Return the comments at the head of a file: what it is, and what every word stands for.

    None begins with a user's name: tools take `synthesis` or `verilator` there for orders.
    """
    pins = (*gates.inputs, *gates.outputs)
    lines = [*design.notes, *escapes((pin.port.name, pin.name) for pin in pins)]
    if gates.stages:
        lines.append(
            f"{gates.stages} stages, {gates.flip_flops} flip-flops and {gates.stages} of valid"
            f": an output belongs to the inputs of {gates.stages} clocks before; no reset"
        )
        lines.append("while enable is 1 the pipeline moves on, valid_in comes along")
    for kind, pins in (("input", gates.inputs), ("output", gates.outputs)):
        for pin in pins:
            lines.append(f"{kind} {pin.name}")
            lines += [f"  - {note}" for note in pin.port.notes]
    return lines


def _prefix(names: Sequence[str]) -> str:
    """Return how the names of nodes begin, so that no port has one of them."""
    prefix = "n"
    while any(name.lower().startswith(prefix) for name in names):
        prefix += "n"
        if len(prefix) > max(map(len, names)):
            break
    return prefix


class _Lines:
    """The algebra that writes a line a node, and registers where signals go to later stages."""

    def __init__(self, constants: tuple[str, str], prefix: str, stages: Sequence[int]) -> None:
        self.constants, self.prefix, self.stages = constants, prefix, stages
        self.lines: list[Line] = []
        self.registers: dict[str, str] = {}
        self.delayed: dict[tuple[str, int], str] = {}

    def constant(self, value: int) -> Signal:
        return Signal(self.constants[value != FALSE], None)

    def node(self, lut: int, operands: tuple[Signal, ...]) -> Signal:
        place = len(self.lines)
        stage = self.stages[place]
        name = f"{self.prefix}{place}"
        self.lines.append(Line(name, lut, tuple(self.at(one, stage) for one in operands)))
        return Signal(name, stage)

    def at(self, signal: Signal, stage: int) -> str:
        """Return the name that a signal has in a stage, after the registers on its way there."""
        if signal.stage is None or signal.stage >= stage:
            return signal.name
        if (signal.name, stage) not in self.delayed:
            before = self.at(signal, stage - 1)
            new = f"{self.prefix}_r{len(self.registers)}"
            self.registers[new] = before
            self.delayed[signal.name, stage] = new
        return self.delayed[signal.name, stage]
