"""Read a term of a robot back from its text: `(15.75 + 10 cos q2) qdd1`, `-5 sin q2 qd2^2`."""

import re
from collections.abc import Mapping
from typing import Any

from boolcomp.problem import Input, name_order
from boolcomp.terms import Term, collect

Powers = tuple[tuple[str, int], ...]

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d*)?(?:e[+-]?\d+)?)|(?P<function>cos|sin)\b"
    r"|(?P<variable>q(?:dd|d)?\d+)|(?P<mark>[-+()^]))"
)


def parse_term(text: str, name: str, output: str, variables: Mapping[str, Input]) -> Term:
    """Return the term of a robot with this text; `variables` gives each name its range."""
    waves, factor = _Reader(text, variables).term()
    names = {one for wave in waves for one in wave.names}
    arguments = tuple(
        v for v in sorted(variables.values(), key=lambda v: name_order(v.name)) if v.name in names
    )
    return Term(name, output, waves, arguments, factor)


class _Reader:
    """A cursor over the tokens; each method reads one rule of the grammar."""

    def __init__(self, text: str, variables: Mapping[str, Input]) -> None:
        self.text, self.variables, self.place = text, variables, 0
        self.tokens: list[tuple[str, str]] = []
        end = 0
        while end < len(text.rstrip()):
            match = _TOKEN.match(text, end)
            if match is None:
                raise ValueError(f"term {text!r}: cannot be read from {text[end:].strip()!r} on")
            self.tokens.append((str(match.lastgroup), match.group(str(match.lastgroup))))
            end = match.end()

    def term(self) -> tuple[Any, tuple[Input, ...]]:
        """Read `sum` or `(sum) factor`, or one wave followed by its factor."""
        if self._take("("):
            waves = self._sum()
            self._expect(")")
        else:
            waves = self._sum()
        factor = []
        while self.place < len(self.tokens):
            factor += self._factor()
        return collect(waves), tuple(factor)

    def _sum(self) -> list[tuple[Powers, Powers, complex]]:
        parts = [self._wave(-1.0 if self._take("-") else 1.0)]
        while (plus := self._take("+")) or self._take("-"):
            parts.append(self._wave(1.0 if plus else -1.0))
        return parts

    def _wave(self, sign: float) -> tuple[Powers, Powers, complex]:
        amplitude = sign * float(self._kind("number") or self._fail("a number"))
        powers = []
        while self._next("variable") and self.variables_kind() == "q":
            variable = self._variable()
            power = int(self._kind("number") or "1") if self._take("^") else 1
            powers.append((variable.name, power))
        function = self._kind("function")
        if function is None:
            return (), tuple(powers), complex(amplitude)
        coefficient = complex(amplitude) if function == "cos" else complex(0, -amplitude)
        return self._angle_sum(), tuple(powers), coefficient

    def _angle_sum(self) -> Powers:
        if not self._take("("):
            return ((self._variable().name, 1),)
        multiples = []
        sign = -1 if self._take("-") else 1
        while True:
            multiple = int(self._kind("number") or "1")
            multiples.append((self._variable().name, sign * multiple))
            if self._take(")"):
                return tuple(multiples)
            sign = 1 if self._take("+") else -1
            if sign < 0:
                self._expect("-")

    def _factor(self) -> list[Input]:
        variable = self._variable()
        if self._take("^"):
            return [variable] * int(self._kind("number") or "1")
        return [variable]

    def _variable(self) -> Input:
        name = self._kind("variable") or self._fail("a variable")
        if name not in self.variables:
            raise ValueError(f"term {self.text!r}: {name} has no range")
        return self.variables[name]

    def variables_kind(self) -> str:
        """Return the kind (`q`, `qd`, `qdd`) of the variable that comes next."""
        return self.tokens[self.place][1].rstrip("0123456789")

    def _next(self, kind: str) -> bool:
        return self.place < len(self.tokens) and self.tokens[self.place][0] == kind

    def _kind(self, kind: str) -> str | None:
        if not self._next(kind):
            return None
        self.place += 1
        return self.tokens[self.place - 1][1]

    def _take(self, mark: str) -> bool:
        if self._next("mark") and self.tokens[self.place][1] == mark:
            self.place += 1
            return True
        return False

    def _expect(self, mark: str) -> None:
        if not self._take(mark):
            self._fail(repr(mark))

    def _fail(self, wanted: str) -> str:
        rest = " ".join(token for _, token in self.tokens[self.place :]) or "the end"
        raise ValueError(f"term {self.text!r}: expected {wanted} before {rest!r}")
