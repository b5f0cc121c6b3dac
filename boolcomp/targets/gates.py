"""A design as lines of a hardware language: one an operation, one a register, names legal.

Verilog and VHDL differ in how such lines are written, and in nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from boolcomp.logic.network import FALSE
from boolcomp.targets.names import Names, escapes
from boolcomp.targets.pipeline import stages_of
from boolcomp.targets.target import unread

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from boolcomp.logic.lutnetwork import Logic
    from boolcomp.targets.target import Design, Port

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
