"""Newton-Euler of any arm in 16-bit fixed point, as C: the method with fewest operations.

Every value has the binary places that its largest value allows; products are the upper halves of
16 by 16 bits, on an AVR in assembly; waves come from a table of 1024 entries; what is off in the
mean is taken off at the end, for nothing. It is as coarse as the program beside it allows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.measure.cycles.design import Design, declared
from boolcomp.measure.cycles.formats import KINDS, WAVES, WORD, angles_of, formats, tops
from boolcomp.measure.cycles.onhost import outputs_of
from boolcomp.measure.cycles.words import in_steps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from boolcomp.measure.cycles.formats import Formats
    from boolcomp.measure.cycles.subject import Subject
    from boolcomp.problem.expressions.straight import Operation, Straight
    from boolcomp.problem.problem import Problem
    from boolcomp.program.parts import CodedOutput

    Floats = NDArray[np.float64]
    Words = NDArray[np.int64]

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


def fixed_design(subject: Subject, program: Straight, deadline: float) -> Design | str:
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
) -> Design:
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
    return Design(
        design.name, FIXED_FUNCTION, design.files, design.given, design.made, "int16_t",
        tuple(map(tuple, rows)), (), in_steps(errors, subject.steps),
    )  # fmt: skip


def _design(subject: Subject, program: Straight, chosen: Formats, mean: Sequence[float]) -> Design:
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
    return Design(
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
