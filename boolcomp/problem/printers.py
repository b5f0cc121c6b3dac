"""Printers of straight-line programs: C, Python (for numba), JavaScript, vectors of LLVM."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from boolcomp.base.errors import number
from boolcomp.problem.algebra import ARITHMETIC

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from boolcomp.problem.tape import Operation, Straight

TURN = "6.283185307179586"
SIGN, WRAP = "(({0} > 0) - ({0} < 0))", f"{{0}} - {TURN} * floor({{0}} / {TURN} + 0.5)"


@dataclass(frozen=True, slots=True)
class Language:
    """An assignment of {1} to {0}, constants, the functions' prefix and operations of other text.

    Operations that `own` does not contain have the text of `RULES`.
    """

    assignment: str
    constant: Callable[[float], str] = repr
    prefix: str = ""
    own: Mapping[str, str] = field(default_factory=dict)

    def expression(self, node: Operation, operands: Sequence[str]) -> str:
        """Return an operation of these expressions."""
        if node.kind in self.own:
            return self.own[node.kind].format(*operands)
        return ("" if node.kind in ARITHMETIC else self.prefix) + node.text(operands)


LANGUAGES = {
    "c": Language(
        "const double {0} = {1};",
        own={"sign": SIGN, "step": "({0} > 0)", "wrap": WRAP, "abs": "fabs({0})"},
    ),
    "python": Language(  # with the functions of `math`
        "{0} = {1}", own={"sign": f"1.0 * {SIGN}", "step": "1.0 * ({0} > 0)", "wrap": WRAP}
    ),
    "javascript": Language(
        "const {0} = {1};",
        number,
        "Math.",
        {
            "neg": "-({0})",  # brackets for negative numbers
            "step": "{0} > 0 ? 1 : 0",
            "wrap": "{0} - (2 * Math.PI) * Math.floor({0} / (2 * Math.PI) + 0.5)",
        },
    ),
}


def statements(
    steps: Straight, inputs: Sequence[str], language: Language | str
) -> tuple[list[str], list[str]]:
    """Return an assignment for every operation, and the expressions of the outputs.

    `inputs` are the expressions of the program's inputs, in their order; `language` may be a name.
    """
    known = LANGUAGES[language] if isinstance(language, str) else language
    names, lines = list(inputs), []
    for place, node in enumerate(steps.nodes[len(names) :], len(names)):
        if node.kind == "constant":
            names.append(known.constant(node.value))
        else:
            names.append(f"v{place}")
            expression = known.expression(node, [names[k] for k in node.operands])
            lines.append(known.assignment.format(names[-1], expression))
    return lines, [names[one.node] for one in steps.outputs]


# --------------------------------------------------------------------------------------------------
# Operations on vectors as LLVM text.
#
# Sine and cosine are reduced by multiples of pi/2 in three parts. Taylor series to x^15 and x^16 on
# ±pi/4 have a remainder below half a unit in the last place, for |x| up to `LARGEST_ANGLE`.
# --------------------------------------------------------------------------------------------------

LARGEST_ANGLE = 1e6
_HALF_PI = Fraction("1.5707963267948966192313216916397514420985846996875529")
_BITS = 33  # of a part: its products with counts below 2^20 are exact
_TERMS = 8
_OPERATORS = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}


class LlvmVectors:
    """Writer of operations on vectors of `width` doubles, as `lines` of a function."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.vector, self.whole = f"<{width} x double>", f"<{width} x i32>"
        self.lines: list[str] = []
        self.count = 0
        self.turns: dict[str, tuple[str, str, str]] = {}

    @property
    def declarations(self) -> str:
        return (
            f"declare {self.vector} @llvm.rint.v{self.width}f64({self.vector})\n"
            f"declare {self.vector} @llvm.sqrt.v{self.width}f64({self.vector})"
        )

    def emit(self, text: str) -> str:
        """Write an instruction; return the name of its value."""
        self.count += 1
        name = f"%v{self.count}"
        self.lines.append(f"  {name} = {text}")
        return name

    def constant(self, value: float) -> str:
        return self._splat("double", "0x" + struct.pack(">d", value).hex().upper())

    def whole_constant(self, value: int) -> str:
        return self._splat("i32", str(value))

    def _splat(self, kind: str, text: str) -> str:
        return "<" + ", ".join([f"{kind} {text}"] * self.width) + ">"

    def operation(self, kind: str, operands: Sequence[str]) -> str:
        """Write an operation; return the name of its value."""
        if kind in _OPERATORS:
            return self.binary(_OPERATORS[kind], *operands)
        (x,) = operands
        if kind == "neg":
            return self.emit(f"fneg {self.vector} {x}")
        if kind == "sqrt":
            return self._call("sqrt", x)
        if kind == "sign":
            zero, one = self.constant(0.0), self.constant(1.0)
            up = self._chosen(self.emit(f"fcmp ogt {self.vector} {x}, {zero}"), one, zero)
            down = self._chosen(self.emit(f"fcmp olt {self.vector} {x}, {zero}"), one, zero)
            return self.binary("fsub", up, down)
        return self._circular(kind, x)

    def binary(self, operator: str, a: str, b: str) -> str:
        # Contraction: fused multiply-add rounds once less.
        return self.emit(f"{operator} contract {self.vector} {a}, {b}")

    def _call(self, name: str, x: str) -> str:
        function = f"@llvm.{name}.v{self.width}f64"
        return self.emit(f"call {self.vector} {function}({self.vector} {x})")

    def _chosen(self, condition: str, yes: str, no: str) -> str:
        kinds = f"<{self.width} x i1> {condition}, {self.vector} {yes}, {self.vector} {no}"
        return self.emit(f"select {kinds}")

    def _circular(self, kind: str, x: str) -> str:
        if x not in self.turns:
            self.turns[x] = self._turn(x)
        sine, cosine, quarter = self.turns[x]
        if kind == "cos":  # cos x = sin(x + pi/2)
            quarter = self.emit(f"add {self.whole} {quarter}, {self.whole_constant(1)}")
        odd = self._bit(quarter, 1)
        value = self._chosen(odd, cosine, sine)
        negated = self.emit(f"fneg {self.vector} {value}")
        return self._chosen(self._bit(quarter, 2), negated, value)

    def _bit(self, quarter: str, bit: int) -> str:
        masked = self.emit(f"and {self.whole} {quarter}, {self.whole_constant(bit)}")
        return self.emit(f"icmp ne {self.whole} {masked}, zeroinitializer")

    def _turn(self, x: str) -> tuple[str, str, str]:
        """Return sine and cosine of a reduced angle, and its quarter turns."""
        scaled = self.binary("fmul", x, self.constant(float(1 / _HALF_PI)))
        turns = self._call("rint", scaled)
        rest = x
        for part in half_pi_parts():
            rest = self.binary("fsub", rest, self.binary("fmul", turns, self.constant(part)))
        square = self.binary("fmul", rest, rest)
        odd = self._series(
            [(-1) ** n / math.factorial(2 * n + 1) for n in range(1, _TERMS)], square
        )
        even = self._series(
            [(-1) ** n / math.factorial(2 * n) for n in range(2, _TERMS + 1)], square
        )
        cube = self.binary("fmul", rest, square)
        sine = self.binary("fadd", rest, self.binary("fmul", cube, odd))
        half = self.binary("fmul", square, self.constant(0.5))
        one = self.binary("fsub", self.constant(1.0), half)
        fourth = self.binary("fmul", square, square)
        cosine = self.binary("fadd", one, self.binary("fmul", fourth, even))
        quarter = self.emit(f"fptosi {self.vector} {turns} to {self.whole}")
        return sine, cosine, quarter

    def _series(self, factors: list[float], square: str) -> str:
        value = self.constant(factors[-1])
        for factor in factors[-2::-1]:
            value = self.binary("fadd", self.binary("fmul", value, square), self.constant(factor))
        return value


def half_pi_parts() -> tuple[float, float, float]:
    """Return pi/2 as a sum of three numbers, the first two of few bits."""
    first = _truncated(_HALF_PI)
    second = _truncated(_HALF_PI - Fraction(first))
    return first, second, float(_HALF_PI - Fraction(first) - Fraction(second))


def _truncated(value: Fraction) -> float:
    scale = Fraction(2) ** (_BITS - math.frexp(float(value))[1])
    return float(Fraction(math.floor(value * scale)) / scale)
