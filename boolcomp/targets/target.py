"""What all exports of a program's logic share: its words as ports, and one network between them.

Words stand most significant bit first, in the codes that the program reads and delivers. A port of
one bit beside an output says whether the output saturated, where it can. Several loads become one
network: a port `load` selects among them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.base.errors import mass_text, short, short_above
from boolcomp.common.errors import UsageError
from boolcomp.logic.network import CONSTANTS, FALSE, Builder, copied
from boolcomp.logic.wordcodes import word_of
from boolcomp.targets.names import comment

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from boolcomp.codes import Code
    from boolcomp.logic.lutnetwork import Logic
    from boolcomp.logic.network import Network
    from boolcomp.program.parts import CodedInput, CodedOutput, KnownErrors, Load
    from boolcomp.program.program import Program

SELECT = "load"  # the port that selects among loads
CHOICE = 0xCA  # b where a, else c
KINDS = {
    "gray": "Gray", "natural": "natural binary", "twos": "two's complement",
    "sign-magnitude": "sign and magnitude",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Port:
    """A word at the border of a design: its name in the program, its bits, what there is to say.

    A `flag` is no word of the program: it says whether the output before it saturated.
    """

    name: str
    bits: int
    notes: tuple[str, ...]
    flag: bool = False


@dataclass(frozen=True, slots=True)
class Design:
    """A network whose inputs and outputs are the bits of ports, and what there is to say of it."""

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
    pruned = _pruned(network, kept)
    return Design(program.name, tuple(inputs), tuple(outputs), pruned, _head(program, pruned))


def delivered(program: Program, load: float) -> Network:
    """Return a load's logic, all words in their codes: for every output its word, its flag.

    `Program.network` leaves Gray outputs of paper mode as cells; here they are words as well.
    """
    network = program.network(load)
    builder = Builder(network.inputs)
    made = copied(network, builder, [builder.input(k) for k in range(network.inputs)])
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
    """Return the networks of loads as one; several with the bits of a selection as last inputs."""
    first = delivered(program, loads[0].payload)
    if len(loads) == 1:
        return first
    widths = {tuple(output.code.bits for output in load.outputs) for load in loads}
    if len(widths) > 1:
        raise UsageError("the loads have outputs of different widths: say which with --load")
    select = (len(loads) - 1).bit_length()
    builder = Builder(first.inputs + select)
    words = [builder.input(k) for k in range(first.inputs)]
    choice = [builder.input(first.inputs + k) for k in range(select)]
    rows = [copied(delivered(program, load.payload), builder, words) for load in loads]
    for bit in reversed(choice):  # an odd one out stands for both: the last load
        rows = [
            tuple(builder.node(CHOICE, bit, one, zero) for one, zero in zip(b, a, strict=True))
            for a, b in zip(rows[::2], [*rows[1::2], *rows[-1:]], strict=False)
        ]
    return builder.build(rows[0])


def _pruned(network: Network, outputs: Sequence[int]) -> Network:
    builder = Builder(network.inputs)
    wanted = dict(zip(network.outputs, copied(
        network, builder, [builder.input(k) for k in range(network.inputs)]
    ), strict=True))  # fmt: skip
    return builder.build(wanted[signal] for signal in outputs)


def _selection(loads: Sequence[Load]) -> Port:
    bits = (len(loads) - 1).bit_length()
    known = ", ".join(f"{k}: {mass_text(load.payload)} kg" for k, load in enumerate(loads))
    return Port(SELECT, bits, (f"load, natural binary {bits} bits: {known}, the last above",))


def _head(program: Program, network: Network) -> tuple[str, ...]:
    text = f"program {program.name}, compiled in {program.mode} mode"
    size = f"{len(network.nodes)} nodes of at most three inputs, depth {network.depth}"
    return (comment(text), size)


def input_notes(word: CodedInput) -> tuple[str, ...]:
    """Return what there is to say of an input: range, unit, code, what its words stand for."""
    wraps = ", wraps" if word.code.wraps else ", saturate values beyond"
    return (comment(f"{word.name}: {code_notes(word.code, word.unit)}{wraps}"), _values(word.code))


def output_notes(output: CodedOutput) -> tuple[str, ...]:
    """Return what there is to say of an output: range, unit, code, and the errors as known."""
    head = comment(f"{output.symbol} ({output.name}): {code_notes(output.code, output.unit)}")
    return (head, _values(output.code), *_errors(output))


def _output_notes(outputs: Sequence[CodedOutput]) -> tuple[str, ...]:
    """Return the notes of an output with several loads, those that differ once a load."""
    every = [output_notes(output) for output in outputs]
    if len(set(every)) == 1:
        return every[0]
    return tuple(f"load {place}: {note}" for place, notes in enumerate(every) for note in notes)


def code_notes(code: Code, unit: str) -> str:
    """Say which code a word has, its bits, range and LSB."""
    low, high = short(code.range.low), short(code.range.high)
    unit = f" {unit}" if unit else ""
    return (
        f"{KINDS[code.kind]} {code.bits} bits, {low} .. {high}{unit}, LSB {short(code.step)}{unit}"
    )


def _values(code: Code) -> str:
    """Say which number a word stands for, digits enough to calculate with."""
    (raised, base), half = code.centred, code.cells // 2
    cell = {
        "natural": "the word", "gray": "the word as natural binary",
        "twos": f"the signed word + {half}",
        "sign-magnitude": f"{half} + magnitude, or {half - (not code.tread)} - magnitude where the "
        "sign is 1",
    }[code.kind]  # fmt: skip
    return comment(f"value = {base!r} + (cell + {raised!r}) * {code.step!r}, cell = {cell}")


def _errors(output: CodedOutput) -> Iterator[str]:
    """Say of what kind every figure is: measured on samples, searched for, or proved."""
    unit = f" {output.unit}" if output.unit else ""
    known = output.errors
    if known is not None:
        yield comment(
            f"error{unit}: rms {short(known.rms)} and largest {short(known.sampled_max)} of random "
            f"states, {_sought(known)}; not proved"
        )
    if not output.bound_note:
        yield comment(f"error{unit}: at most {short_above(output.bound)}, proved")
    elif known is None:
        yield "error: not measured"


def _sought(known: KnownErrors) -> str:
    if known.worst_found is None:
        return "the worst not sought"
    return f"worst found by search {short(known.worst_found)}"


def unread(network: Logic) -> list[int]:
    """Return the inputs that nothing reads."""
    used = {k for node in network.nodes for k in node.operands} | set(network.outputs)
    return [k for k in range(network.inputs) if CONSTANTS + k not in used]
