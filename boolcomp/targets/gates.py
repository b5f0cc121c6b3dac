"""A network as lines of a hardware language, cut into pipeline stages with few flip-flops.

A stage is a range of levels; no stage is deeper than the depth of the network divided by the number
of stages, rounded up. First the levels of nodes are chosen for short lifetimes of signals. Then
dynamic programming over the signals that cross levels chooses the cuts. Finally single nodes move
to other stages where that saves flip-flops. A signal that is read n stages later needs n of them.
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


SWEEPS = 40  # over all nodes; usually few sweeps change anything


def stages_of(network: Logic, count: int) -> tuple[int, ...]:
    """Return the stage of every node, 0 to `count - 1`; outputs are read after the last."""
    if count < 2 or not network.nodes:
        return (0,) * len(network.nodes)
    readers = _readers(network)
    best: tuple[int, list[int]] | None = None
    deepest = -(-network.depth // count)
    for levels in _levellings(readers, network.depth):
        stages = readers.with_inputs(_by_cuts(readers, levels, network.depth, count, deepest))
        refine(readers, stages, count, deepest)
        cost = registers(readers, stages, count)
        if best is None or cost < best[0]:
            best = cost, stages
    assert best is not None  # noqa: S101 (there are two levellings)
    return tuple(best[1][readers.first :])


def _readers(network: Logic) -> Readers:
    first = CONSTANTS + network.inputs
    operands = [*[()] * first, *(node.operands for node in network.nodes)]
    return Readers(first, operands, network.outputs)


def flip_flops(network: Logic, stages: Sequence[int], count: int) -> int:
    """Return the number of flip-flops between stages and after the last one."""
    readers = _readers(network)
    return registers(readers, readers.with_inputs(stages), count)


class Readers:
    """The users of signals; constants are left out, outputs are used after the last stage.

    Signals before `first` are constants and inputs. Every signal has a delay and a number of bits.
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
        return [*[0] * self.first, *stages]

    def last(self, signal: int, places: Sequence[int], end: int) -> int:
        """Return the place of the last use of a signal."""
        if self.kept[signal]:
            return end
        return max((places[k] for k in self.users[signal]), default=places[signal])


def registers(readers: Readers, stages: Sequence[int], count: int) -> int:
    return sum(
        (readers.last(signal, stages, count) - stages[signal]) * readers.widths[signal]
        for signal in range(CONSTANTS, readers.size)
    )


def _levellings(readers: Readers, depth: int) -> Iterable[list[int]]:
    """Yield the earliest and the latest levels of all signals (inputs at 0), improved."""
    early = [0] * readers.size
    for k in range(readers.first, readers.size):
        early[k] = 1 + max(early[j] for j in readers.operands[k])
    late = [0] * readers.size
    for k in reversed(range(readers.first, readers.size)):
        late[k] = min((late[j] for j in readers.users[k]), default=depth + 1) - 1
    for levels in (early, late):
        yield _shortened(readers, levels, depth)


def _shortened(readers: Readers, levels: list[int], depth: int) -> list[int]:
    """Move nodes to levels where the lifetimes of signals are shorter, until none moves."""
    for sweep in range(SWEEPS):
        changed = False
        later = sweep % 2 == 0
        order = range(readers.first, readers.size)
        for k in reversed(order) if later else order:
            earliest = 1 + max(levels[j] for j in readers.operands[k])
            latest = min((levels[j] for j in readers.users[k]), default=depth + 1) - 1
            target = latest if later else earliest
            if target != levels[k] and _gain(readers, levels, k, target, depth + 1) >= 0:
                levels[k] = target
                changed = True
        if not changed:
            break
    return levels


def _gain(readers: Readers, places: list[int], k: int, target: int, end: int) -> int:
    """Return the reduction of all lifetimes if one node moves."""
    before = places[k]
    gain = (target - before) * readers.widths[k]
    for j in readers.operands[k]:
        last = readers.last(j, places, end)
        places[k] = target
        gain += (last - readers.last(j, places, end)) * readers.widths[j]
        places[k] = before
    return gain


def _by_cuts(
    readers: Readers, levels: Sequence[int], depth: int, count: int, deepest: int
) -> list[int]:
    """Return the stages of nodes, cut at the levels that fewest signals cross."""
    crossing = [0] * (depth + 1)
    for signal in range(CONSTANTS, readers.size):
        for level in range(levels[signal], readers.last(signal, levels, depth + 1)):
            crossing[level] += 1

    @cache
    def cheapest(cuts: int, above: int) -> tuple[int, tuple[int, ...]]:
        """Return the least cost of `cuts` cuts below a level, and their levels."""
        if cuts == 0:
            return (0, ()) if above <= deepest else (1 << 60, ())
        found = (1 << 60, (0,) * cuts)
        for cut in range(max(0, above - deepest), above + 1):
            cost, places = cheapest(cuts - 1, cut)
            found = min(found, (cost + crossing[cut], (*places, cut)))
        return found

    _, cuts = cheapest(count - 1, depth)
    return [sum(levels[k] > cut for cut in cuts) for k in range(readers.first, readers.size)]


def refine(readers: Readers, stages: list[int], count: int, deepest: int) -> None:
    """Move nodes to other stages where that saves flip-flops and no stage becomes too deep.

    Sweeps to later stages go from the last node to the first, sweeps to earlier ones the other way:
    so the remaining depth is known. Moves without gain are made as well, as they enable others.
    """
    known = registers(readers, stages, count)
    idle = 0
    for sweep in range(SWEEPS):
        _sweep(readers, stages, count, deepest, later=sweep % 2 == 0)
        now = registers(readers, stages, count)
        idle = idle + 1 if now == known else 0
        known = now
        if idle == 4:
            break


def _sweep(readers: Readers, stages: list[int], count: int, deepest: int, *, later: bool) -> None:
    """Move every node to the stage of the largest gain, the last of equals."""
    depths = [0] * readers.size
    order = range(readers.first, readers.size)
    for k in reversed(order) if later else order:
        if later:
            near = readers.users[k]
            choices = range(stages[k], min((stages[j] for j in near), default=count - 1) + 1)
        else:
            near = [j for j in readers.operands[k] if j >= readers.first]
            choices = range(stages[k], max((stages[j] for j in near), default=0) - 1, -1)
        best, largest = (stages[k], 0), -(1 << 60)
        for stage in choices:
            below = max((depths[j] for j in near if stages[j] == stage), default=0)
            gain = _gain(readers, stages, k, stage, count)
            if readers.delays[k] + below <= deepest and gain >= largest:
                best, largest = (stage, readers.delays[k] + below), gain
        stages[k], depths[k] = best


# --------------------------------------------------------------------------------------------------
# A design as lines of a hardware language, one per node and register, with legal names. Verilog and
# VHDL differ only in the text of a line.
# --------------------------------------------------------------------------------------------------

CONTROLS = ("clock", "enable", "valid_in", "valid_out")


class StagedSignal(NamedTuple):
    """A signal by name, and the stage that computes it (None for a constant)."""

    name: str
    stage: int | None


class GateLine(NamedTuple):
    """A signal that is a table of others."""

    name: str
    lut: int
    operands: tuple[str, ...]


class Pin(NamedTuple):
    """A port and its legal name."""

    name: str
    port: Port


@dataclass(frozen=True, slots=True)
class Gates:
    """A design's lines in order, registers (new name, old name), and drivers of outputs.

    `drives` holds the names of the bits of every output port, most significant first; `idle` the
    unused bits of inputs. `stages` 0 is combinational: no clock, no control ports.
    """

    module: str
    inputs: tuple[Pin, ...]
    outputs: tuple[Pin, ...]
    lines: tuple[GateLine, ...]
    registers: tuple[tuple[str, str], ...]
    drives: tuple[tuple[str, ...], ...]
    idle: tuple[str, ...]
    stages: int
    prefix: str

    @property
    def flip_flops(self) -> int:
        return len(self.registers)


class Framed(Protocol):
    """A module of gates or words as test benches need it."""

    @property
    def module(self) -> str: ...

    @property
    def inputs(self) -> tuple[Pin, ...]: ...

    @property
    def outputs(self) -> tuple[Pin, ...]: ...

    @property
    def stages(self) -> int: ...

    @property
    def flip_flops(self) -> int: ...


class Syntax(NamedTuple):
    """The reserved words of a language, the format of a bit of a word, the two constants."""

    reserved: frozenset[str]
    bit: str
    constants: tuple[str, str]


def gates_of(design: Design, syntax: Syntax, stages: int, logic: Logic | None = None) -> Gates:
    """Return the lines of a design in a language, in `stages` stages.

    `logic` replaces the design's network: equivalent look-up tables.
    """
    logic = logic or design.network
    module = Names(syntax.reserved).new(design.name, "boolcomp")  # a port may have the same name
    names = Names([*syntax.reserved, *CONTROLS])
    inputs = tuple(Pin(names.new(port.name), port) for port in design.inputs)
    outputs = tuple(Pin(names.new(port.name), port) for port in design.outputs)
    prefix = _prefix([module, *(pin.name for pin in (*inputs, *outputs))])
    bits = [bit for pin in inputs for bit in bits_of(pin, syntax.bit)]
    lines = _Lines(syntax.constants, prefix, stages_of(logic, stages))
    made = logic.fold(lines, [StagedSignal(bit, 0) for bit in bits])
    driven = iter([lines.at(signal, stages) for signal in made])
    drives = tuple(tuple(next(driven) for _ in range(pin.port.bits)) for pin in outputs)
    idle = tuple(bits[k] for k in unread(logic))
    return Gates(
        module, inputs, outputs, tuple(lines.lines), tuple(lines.registers.items()), drives, idle,
        stages, prefix,
    )  # fmt: skip


def bits_of(pin: Pin, bit: str) -> Iterable[str]:
    """Yield the names of a port's bits, most significant first."""
    if pin.port.bits == 1:
        yield pin.name
    else:
        for place in reversed(range(pin.port.bits)):
            yield bit.format(pin.name, place)


def header(design: Design, gates: Framed) -> list[str]:
    """Return the comments at the head of a file: its design, and the meaning of every word.

    None begins with a user's name: tools interpret `synthesis` or `verilator` there as directives.
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
    """Return a prefix for the names of nodes such that no port has the name of a node."""
    prefix = "n"
    while any(name.lower().startswith(prefix) for name in names):
        prefix += "n"
        if len(prefix) > max(map(len, names)):
            break
    return prefix


class _Lines:
    """An algebra that writes a line per node, and registers for signals of earlier stages."""

    def __init__(self, constants: tuple[str, str], prefix: str, stages: Sequence[int]) -> None:
        self.constants, self.prefix, self.stages = constants, prefix, stages
        self.lines: list[GateLine] = []
        self.registers: dict[str, str] = {}
        self.delayed: dict[tuple[str, int], str] = {}

    def constant(self, value: int) -> StagedSignal:
        return StagedSignal(self.constants[value != FALSE], None)

    def node(self, lut: int, operands: tuple[StagedSignal, ...]) -> StagedSignal:
        place = len(self.lines)
        stage = self.stages[place]
        name = f"{self.prefix}{place}"
        self.lines.append(GateLine(name, lut, tuple(self.at(one, stage) for one in operands)))
        return StagedSignal(name, stage)

    def at(self, signal: StagedSignal, stage: int) -> str:
        """Return the name that a signal has in a stage, after the registers up to there."""
        if signal.stage is None or signal.stage >= stage:
            return signal.name
        if (signal.name, stage) not in self.delayed:
            before = self.at(signal, stage - 1)
            new = f"{self.prefix}_r{len(self.registers)}"
            self.registers[new] = before
            self.delayed[signal.name, stage] = new
        return self.delayed[signal.name, stage]
