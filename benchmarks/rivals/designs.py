"""The rivals of `boolcomp cycles`: float, fixed point of any arm, two joints by hand.

In fixed point every value has the binary places that its largest value allows; products are the
upper halves of 16 by 16 bits, on an AVR in assembly; waves come from a table of 1024 entries; the
mean error is subtracted at the end. Formats are as coarse as the program beside them allows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.measure.bench import source
from boolcomp.measure.cycles import (
    HOST,
    JUDGED,
    BoardDesign,
    declared,
    in_steps,
    outputs_of,
)
from boolcomp.parallel.registry import straight_line
from boolcomp.problem.algebra import ARITHMETIC, OPERATIONS
from boolcomp.problem.functions import USUAL, function_of
from boolcomp.problem.printers import Language, statements
from boolcomp.problem.tape import Straight

from .offers import QUARTER, TwoLink, two_link

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.measure.cycles import Subject
    from boolcomp.problem.problem import Problem
    from boolcomp.problem.robot.model import Robot
    from boolcomp.problem.tape import Operation
    from boolcomp.program.program import CodedOutput

    Floats = NDArray[np.float64]
    Words = NDArray[np.int64]


# --------------------------------------------------------------------------------------------------
# Two parallel joints in fixed point, written by hand (`benchmarks/rivals/two_link_mcu.c`).
#
# Its tables are made here, and the words that it is given: phases of 16 bits, bytes for speeds and
# accelerations. What it must make is what the same C makes on this machine; how much that errs is
# measured against the problem's reference.
# --------------------------------------------------------------------------------------------------


HAND_NAME = "fixed point by hand"
HAND_FUNCTION = "two_link_mcu"
GIVEN = ("q1", "q2", "qd1", "qd2", "qdd1", "qdd2")
MADE = ("tau1", "tau2")
RATE, SPEED = 42, 63  # steps of an acceleration's and a speed's largest value: sums fit in bytes
BITS = 8  # of the words that it makes
ENTRIES = 256


def hand_design(subject: Subject, robot: Robot, deadline: float) -> BoardDesign | str:
    """Return the rival for a robot, or why it has none."""
    arm = two_link(robot)
    if isinstance(arm, str):
        return arm
    header = _header(arm)
    if header is None:
        return "its constants do not fit in bytes"
    if subject.problem is None or any(x.code.bits > BITS for x in subject.load.outputs):
        return f"it makes words of {BITS} bits"
    files = {
        f"{HAND_FUNCTION}.h": declared(HAND_FUNCTION, "int16_t", GIVEN, MADE) + header,
        f"{HAND_FUNCTION}.c": source(f"{HAND_FUNCTION}.c"),
    }
    states = np.hstack(subject.problem.draw(JUDGED, subject.seed))
    words = _hand_words(arm, states)
    bare = BoardDesign(HAND_NAME, HAND_FUNCTION, files, GIVEN, MADE, "int16_t", ())
    made = outputs_of(bare, words, deadline)
    ranges = np.array(arm.torques)
    values = (made + 0.5) * ranges / (ENTRIES // 2) - ranges
    errors = values - subject.problem.exact(states)
    rows = np.column_stack([words, made])[: subject.states].tolist()
    return BoardDesign(
        HAND_NAME, HAND_FUNCTION, files, GIVEN, MADE, "int16_t", tuple(map(tuple, rows)), (),
        in_steps(errors, subject.steps),
    )  # fmt: skip


def _hand_words(arm: TwoLink, states: Floats) -> Words:
    """Return the words of states."""
    turns = np.floor(states[:, :2] / (2 * np.pi) * 65536).astype(np.int64) & 0xFFFF
    phases = np.where(turns > 0x7FFF, turns - 0x10000, turns)
    speeds = np.rint(states[:, 2:4] / arm.speeds[0] * SPEED).astype(np.int64)
    rates = np.rint(states[:, 4:] / arm.rates[0] * RATE).astype(np.int64)
    return np.hstack([phases, speeds, rates])


def _header(arm: TwoLink) -> str | None:
    """Return tables and constants in units of the first range / 2^15, or None: they do not fit."""
    unit = arm.torques[0] / 2**15
    shift = round(float(np.log2(arm.torques[0] / arm.torques[1])))
    angle = (np.arange(ENTRIES) + 0.5) / ENTRIES * 2 * np.pi
    rate = unit * RATE / arm.rates[0]
    speed = unit * SPEED**2 / arm.speeds[0] ** 2 / 256
    half_2 = 0x8000 >> max(0, shift)
    weight_b = arm.weight_b * _wave(angle, arm.quarters_b) / unit + half_2
    weight_a = arm.weight_a * _wave(angle, arm.quarters_a) / unit + 0x8000 - half_2
    mass = np.rint((arm.d + arm.b * np.cos(angle)) / rate).astype(np.int64)
    turn = np.rint(arm.b * np.sin(angle) / speed).astype(np.int64)
    own = [round(arm.a / rate), round(arm.e / rate)]
    small = max(int(abs(x).max()) for x in (mass, turn, np.array(own))) < ENTRIES // 2
    if not (arm.equal_ranges and small and arm.torques[1] * 2**shift == arm.torques[0]):
        return None
    tables = {
        "WEIGHT_A": np.rint(weight_a).astype(np.int64) & 0xFFFF,
        "WEIGHT_B": np.rint(weight_b).astype(np.int64) & 0xFFFF,
        "MASS_TURN": (mass & 0xFF) | (turn & 0xFF) << 8,
    }
    lines = [f"#define {k} {', '.join(f'{x}U' for x in v.tolist())}" for k, v in tables.items()]
    lines += [f"#define OWN_1 {own[0]}", f"#define OWN_2 {own[1]}", f"#define SHIFT_2 {shift}"]
    return "\n".join([*lines, ""]) if shift >= 0 else None


def _wave(angle: Floats, quarters: int) -> Floats:
    return np.asarray(np.cos(angle + quarters * QUARTER))


# --------------------------------------------------------------------------------------------------
# Formats of 16-bit fixed point for every value of a straight-line program.
#
# A value v is the integer v 2^f. No f is larger than its largest value allows (`tops`), and none
# larger than those who read it need: a sum its own, a product all there are. Products of two values
# in 16 bits are moved down by 16 bits at least, which costs nothing, and up again by `up` at most.
# Angles are whole turns in 2^16, and wrap.
# --------------------------------------------------------------------------------------------------


WORD = 16
MARGIN = 1.15  # times the largest value that was met
WAVE = WORD - 1  # binary places of a sine
KINDS = frozenset(("input", "constant", "add", "sub", "neg", "mul", "sin", "cos"))
WAVES = frozenset(("sin", "cos"))


@dataclass(frozen=True, slots=True)
class Formats:
    """The binary places of every node; those of angles and constants mean nothing."""

    places: tuple[int, ...]
    angles: frozenset[int]


def angles_of(program: Straight, turning: Collection[str]) -> frozenset[int] | str:
    """Return the nodes that are angles: inputs that turn, and their sums; or who reads them else.

    Everybody else would have to know how many turns they made.
    """
    found: set[int] = set()
    for place, node in enumerate(program.nodes):
        reads = [k in found for k in node.operands]
        linear = node.kind in ("add", "sub", "neg")
        if (node.kind == "input" and node.name in turning) or (linear and reads and all(reads)):
            found.add(place)
        elif any(reads) and node.kind not in WAVES:
            return f"an angle is read by {node.kind}"
    return frozenset(found)


def tops(program: Straight, columns: Mapping[str, Floats]) -> list[int]:
    """Return the most binary places that every node's largest value allows."""
    values: list[Floats] = []
    found = []
    for node in program.nodes:
        values.append(_value(node, values, columns))
        most = float(np.abs(values[-1]).max()) * MARGIN
        found.append(WORD - 1 - math.ceil(math.log2(most)) if most > 0 else WORD - 1)
    return found


def _value(node: Operation, values: list[Floats], columns: Mapping[str, Floats]) -> Floats:
    if node.kind == "input":
        return columns[node.name]
    if node.kind == "constant":
        return np.array([node.value])
    if node.kind == "neg":
        return -values[node.operands[0]]
    operands = [values[k] for k in node.operands]
    return np.asarray(OPERATIONS[node.kind](*operands))


def formats(program: Straight, most: list[int], angles: frozenset[int], up: int) -> Formats:
    """Choose the places of every node: first what readers need, then what products have."""
    nodes = program.nodes
    wanted = [-math.inf] * len(nodes)
    for one in program.outputs:
        wanted[one.node] = math.inf
    places = list(most)
    for place in reversed(range(len(nodes))):
        node = nodes[place]
        if node.kind in ("add", "sub", "neg"):
            operands = max(most[k] for k in node.operands)
            places[place] = int(min(most[place], wanted[place], operands))
        elif node.kind == "mul":
            places[place] = int(min(most[place], wanted[place]))
        elif node.kind in WAVES:
            places[place] = WAVE
        for k in node.operands:
            need = places[place] if node.kind in ("add", "sub", "neg") else math.inf
            wanted[k] = max(wanted[k], need)
    for place, node in enumerate(nodes):
        if node.kind == "mul" and not any(nodes[k].kind == "constant" for k in node.operands):
            natural = sum(places[k] for k in node.operands) - WORD
            places[place] = min(places[place], natural + up)
    return Formats(tuple(places), angles)


# --------------------------------------------------------------------------------------------------
# Newton-Euler of any arm in 16-bit fixed point, as C: the method with fewest operations.
# --------------------------------------------------------------------------------------------------


FIXED_FUNCTION = "fixed_torques"
SAMPLED = 20_000  # states, and as many corners, whose largest values are met
FIXED_JUDGED = 100_000
UPS = (0, 1, 2, 3, 4, 6, 8)  # how far products may be moved up again
WAVES_BITS = 10
ROOM = 1.02  # times the program's own error that the coarsest formats may have
_HEAD = """\
#include "fixed_torques.h"
#if defined(__AVR__)
#include <avr/pgmspace.h>
#define PLACED PROGMEM
#define READ(place) ((int16_t)pgm_read_word(place))
typedef int16_t word;
typedef uint16_t bits;
static inline word __attribute__((always_inline)) times(word a, word b, const uint8_t up)
{
    word made;
    uint8_t low, zero = 0;
    __asm__("mul %A3, %A4\\n\\tmov %1, r1\\n\\tmuls %B3, %B4\\n\\tmovw %A0, r0\\n\\t"
            "mulsu %B3, %A4\\n\\tsbc %B0, %2\\n\\tadd %1, r0\\n\\t"
            "adc %A0, r1\\n\\tadc %B0, %2\\n\\t"
            "mulsu %B4, %A3\\n\\tsbc %B0, %2\\n\\tadd %1, r0\\n\\t"
            "adc %A0, r1\\n\\tadc %B0, %2\\n\\t"
            ".rept %5\\n\\tlsl %1\\n\\trol %A0\\n\\trol %B0\\n\\t.endr\\n\\tclr r1"
            : "=&r"(made), "=&r"(low), "+r"(zero) : "a"(a), "a"(b), "n"(up) : "r0", "r1");
    return made;
}
#define TIMES(a, b, up) times(a, b, up)
#else
#define PLACED
#define READ(place) (*(place))
typedef int32_t word;
typedef uint32_t bits;
#define TIMES(a, b, up) (((a) * (b)) >> (16 - (up)))
#endif
#define UP(a, by) ((word)((bits)(a) << (by)))
#define DOWN(a, by) ((word)((a) >> (by)))
#define SUM(a, b) ((word)((bits)(a) + (bits)(b)))
#define LESS(a, b) ((word)((bits)(a) - (bits)(b)))
"""


@dataclass(frozen=True, slots=True)
class _Printer:
    """Prints statements of one program in its formats."""

    program: Straight
    formats: Formats

    def at(self, place: int, wanted: int) -> str:
        """Return a node with so many binary places."""
        node = self.program.nodes[place]
        if node.kind == "constant":
            return str(round(node.value * 2.0**wanted))
        return moved(self.name(place), wanted - self.formats.places[place])

    def name(self, place: int) -> str:
        """Return the name of a node that is no constant."""
        return f"v{place}"

    def statement(self, place: int) -> str:
        """Return the expression of a node."""
        node, places = self.program.nodes[place], self.formats.places
        if node.kind == "input":
            return f"given->{node.name}"
        if place in self.formats.angles:
            signs = {"add": "SUM", "sub": "LESS"}
            names = [self.name(k) for k in node.operands]
            return f"{signs[node.kind]}({', '.join(names)})" if len(names) > 1 else f"-{names[0]}"
        if node.kind in WAVES:
            quarter = (1 << WAVES_BITS - 2) * (node.kind == "cos")
            phase = f"((uint16_t){self.name(node.operands[0])} >> {WORD - WAVES_BITS})"
            return f"READ(&waves[{phase} + {quarter}])"
        own = places[place]
        if node.kind == "mul":
            return self.product(node, own)
        parts = [self.at(k, own) for k in node.operands]
        if node.kind == "neg":
            return f"LESS(0, {parts[0]})"
        return f"{'SUM' if node.kind == 'add' else 'LESS'}({', '.join(parts)})"

    def product(self, node: Operation, own: int) -> str:
        """Return a product; a constant has the places that make moves unnecessary."""
        a, b = node.operands
        nodes, places = self.program.nodes, self.formats.places
        if nodes[a].kind == "constant":
            a, b = b, a
        if nodes[b].kind == "constant":
            return scaled(self.name(a), nodes[b].value * 2.0 ** (own - places[a]))
        up = own - (places[a] + places[b] - WORD)
        text = f"TIMES({self.name(a)}, {self.name(b)}, {max(0, up)})"
        return moved(text, min(0, up))


def moved(text: str, by: int) -> str:
    """Return a value times 2^by."""
    if not by:
        return text
    return f"UP({text}, {by})" if by > 0 else f"DOWN({text}, {-by})"


def scaled(text: str, factor: float) -> str:
    """Return a value times a factor, with a constant of 16 bits and moves as few as can be."""
    if factor and math.frexp(abs(factor))[0] == 0.5:
        shifted = moved(text, math.frexp(abs(factor))[1] - 1)
        return shifted if factor > 0 else f"LESS(0, {shifted})"
    up = max(0, WORD - (WORD - 1) + math.ceil(math.log2(abs(factor)))) if factor else 0
    constant = round(factor * 2.0 ** (WORD - up))
    if abs(constant) >= 1 << WORD - 1:
        up, constant = up + 1, round(factor * 2.0 ** (WORD - up - 1))
    return f"TIMES({text}, {constant}, {up})"


def fixed_design(subject: Subject, program: Straight, deadline: float) -> BoardDesign | str:
    """Return the coarsest formats that err no more than the program; else the finest, as they are.

    Why there are none is a text.
    """
    problem = subject.problem
    if problem is None:
        return "its problem is not known"
    if strange := sorted({node.kind for node in program.nodes} - KINDS):
        return f"{', '.join(strange)} is not written in fixed point here"
    turning = {one.name for one in problem.inputs if one.unit == "rad"}
    angles = angles_of(program, turning)
    if isinstance(angles, str):
        return angles
    most = tops(program, problem.columns(_met(problem)))
    states = np.hstack(problem.draw(FIXED_JUDGED, subject.seed))
    exact = problem.exact(states)
    found = None
    for up in UPS:
        chosen = formats(program, most, angles, up)
        words = _fixed_words(program, problem, chosen, states)
        found = _judged(subject, (program, chosen), words, exact, deadline)
        limits = subject.own or ()
        if limits and all(a <= ROOM * b for a, b in zip(found.rms or (), limits, strict=True)):
            break
    return found if found is not None else "no formats"


def _judged(
    subject: Subject, made: tuple[Straight, Formats], words: Words, exact: Floats, deadline: float
) -> BoardDesign:
    """Return a design with its errors; what they are in the mean is taken off first."""
    program, chosen = made
    outputs = subject.load.outputs
    design = _design(subject, program, chosen, [0.0] * len(outputs))
    off = _values(outputs, outputs_of(design, words, deadline)) - exact
    mean = (np.median(off, axis=0) / np.array(subject.steps)).tolist()
    design = _design(subject, program, chosen, mean)
    cells = outputs_of(design, words, deadline)
    errors = _values(outputs, cells) - exact
    rows = np.column_stack([words, cells])[: subject.states].tolist()
    return BoardDesign(
        design.name, FIXED_FUNCTION, design.files, design.given, design.made, "int16_t",
        tuple(map(tuple, rows)), (), in_steps(errors, subject.steps),
    )  # fmt: skip


def _design(
    subject: Subject, program: Straight, chosen: Formats, mean: Sequence[float]
) -> BoardDesign:
    printer = _Printer(program, chosen)
    lines = []
    for place, node in enumerate(program.nodes):
        if node.kind != "constant":
            lines.append(f"    const word v{place} = {printer.statement(place)};")
    made = tuple(output.name for output in program.outputs)
    for one, output, off in zip(program.outputs, subject.load.outputs, mean, strict=True):
        places = WORD - output.code.bits
        value = scaled(
            printer.name(one.node),
            2.0 ** (places - chosen.places[one.node]) / output.code.step,
        )
        first = float(output.code.centre(np.zeros(1, np.int64))[0]) / output.code.step
        offset = round((0.5 - first - off) * 2**places) & 0xFFFF
        text = f"(uint16_t)((uint16_t){value} + {offset}U) >> {places}"
        lines.append(f"    made->{one.name} = (int16_t)({text});")
    table = waves()
    head = f"static const int16_t waves[{len(table)}] PLACED = {{{', '.join(map(str, table))}}};"
    name = FIXED_FUNCTION
    function = f"void {name}(const {name}_inputs *given, {name}_outputs *made)"
    source = "\n".join([_HEAD + head, function, "{", *lines, "}", ""])
    header = declared(FIXED_FUNCTION, "int16_t", program.inputs, made)
    files = {f"{FIXED_FUNCTION}.h": header, f"{FIXED_FUNCTION}.c": source}
    return BoardDesign(
        "fixed point, Newton-Euler", FIXED_FUNCTION, files, program.inputs, made, "int16_t", ()
    )


def waves() -> list[int]:
    """Return sines in the middle of cells of a turn, and a quarter more, for cosines."""
    count = 1 << WAVES_BITS
    cells = np.arange(count + count // 4) + 0.5
    table = np.rint(np.sin(cells * 2 * np.pi / count) * 2 ** (WORD - 1))
    return [int(x) for x in np.clip(table, -(1 << WORD - 1), (1 << WORD - 1) - 1)]


def _fixed_words(program: Straight, problem: Problem, chosen: Formats, states: Floats) -> Words:
    """Return what the program is given at states."""
    columns = problem.columns(problem.arrays(states))
    found = []
    for place, name in enumerate(program.inputs):
        if place in chosen.angles:
            phase = np.floor(columns[name] / (2 * np.pi) * (1 << WORD)).astype(np.int64)
            found.append((phase + (1 << WORD - 1)) % (1 << WORD) - (1 << WORD - 1))
        else:
            found.append(np.rint(columns[name] * 2.0 ** chosen.places[place]).astype(np.int64))
    return np.column_stack(found)


def _values(outputs: Sequence[CodedOutput], cells: Words) -> Floats:
    columns = [output.code.centre(cells[:, k]) for k, output in enumerate(outputs)]
    return np.column_stack(columns)


def _met(problem: Problem) -> list[Floats]:
    """Return random states and corners."""
    drawn = np.hstack(problem.draw(SAMPLED, 1))
    corners = np.hstack(problem.draw(SAMPLED, 2))
    low, high = problem.bounds()
    angle = np.array([one.unit == "rad" for one in problem.inputs])
    ends = np.where(corners > (low + high) / 2, high, low)
    corners = np.where(angle, corners, ends)
    return list(problem.arrays(np.vstack([drawn, corners])))


# --------------------------------------------------------------------------------------------------
# Newton-Euler in float as a design: the method with fewest operations, constants folded.
#
# What an engineer has who takes the processor's numbers as they come: states and torques in float,
# the sines of the compiler's library.
# --------------------------------------------------------------------------------------------------


FLOATS = Language(
    "const float {0} = {1};", "{!r}f".format,
    own={"sin": "sinf({0})", "cos": "cosf({0})", "sqrt": "sqrtf({0})"},
)  # fmt: skip
TOLERANCE = 2e-4  # of half an output's range: that of sums in float


def float_design(
    problem: Problem, program: Straight, name: str, states: int, seed: int
) -> BoardDesign | str:
    """Return a straight-line program in float, or why there is none."""
    kinds = {node.kind for node in program.nodes if not node.free} - {*ARITHMETIC, *FLOATS.own}
    if strange := sorted(kinds):
        return f"{', '.join(strange)} is not written in float here"
    function = "torques"
    given = program.inputs
    made = tuple(output.name for output in program.outputs)
    source = [f'#include "{function}.h"', "#include <math.h>"]
    source += [f"void {function}(const {function}_inputs *given, {function}_outputs *made)", "{"]
    source += [*body(program, made), "}", ""]
    files = {f"{function}.h": declared(function, "float", given, made)}
    arrays = problem.draw(states, seed)
    columns = problem.columns(arrays)
    rows = np.column_stack([*(columns[one] for one in given), problem.reference(*arrays)])
    files[f"{function}.c"] = "\n".join(source)
    half = tuple(TOLERANCE * output.range.width / 2 for output in problem.outputs)
    return BoardDesign(
        name, function, files, given, made, "float",
        tuple(tuple(map(float, row)) for row in rows.astype(np.float32)), half, None,
        "float in and out",
    )  # fmt: skip


def body(program: Straight, made: Sequence[str]) -> list[str]:
    """Return the statements of a straight-line program."""
    lines, results = statements(program, [f"given->{name}" for name in program.inputs], FLOATS)
    stores = [f"made->{name} = {x};" for name, x in zip(made, results, strict=True)]
    return [f"    {line}" for line in (*lines, *stores)]


# --------------------------------------------------------------------------------------------------
# What else does the work of a program on a microcontroller, as designs.
# --------------------------------------------------------------------------------------------------


FIXED = "fixed point"
FLOAT_STATES = 25  # they take a hundred times as long


def designs(
    subject: Subject, deadline: float, progress: Callable[[str], None]
) -> Iterator[tuple[str, BoardDesign | str]]:
    """Yield every rival by its name: a design, or why there is none."""
    progress("float")
    program = _steps(subject)
    yield "float", program if isinstance(program, str) else _float(subject, program)
    progress(FIXED)
    if isinstance(program, str) or HOST.missing():
        yield FIXED, HOST.missing() or str(program)
    else:
        yield FIXED, fixed_design(subject, program, deadline)
    progress(HAND_NAME)
    yield HAND_NAME, _by_hand(subject, deadline)


def _steps(subject: Subject) -> Straight | str:
    """Return the calculation with fewest operations, or why there is none."""
    problem = subject.problem
    if problem is None:
        return "the file of its robot or function is not known: say it with --robot FILE"
    if _dynamics(subject) and subject.robot is not None:
        return straight_line("regrouped", subject.robot)
    found = problem.form() if problem.calculation is None else problem.calculation()
    return found if isinstance(found, Straight) else "its outputs are sums of waves, and no steps"


def _dynamics(subject: Subject) -> bool:
    """Tell whether a program is the inverse dynamics of a robot."""
    problem, robot = subject.problem, subject.robot
    if problem is None or robot is None:
        return False
    return function_of(problem.name, robot.name) == USUAL


def _float(subject: Subject, program: Straight) -> BoardDesign | str:
    name = "float, Newton-Euler" if _dynamics(subject) else "float"
    states = min(FLOAT_STATES, subject.states)
    assert subject.problem is not None  # noqa: S101 (its steps are known)
    return float_design(subject.problem, program, name, states, subject.seed)


def _by_hand(subject: Subject, deadline: float) -> BoardDesign | str:
    if not _dynamics(subject) or subject.robot is None:
        return "it calculates only the inverse dynamics of two parallel joints"
    if HOST.missing():
        return HOST.missing()
    return hand_design(subject, subject.robot, deadline)
