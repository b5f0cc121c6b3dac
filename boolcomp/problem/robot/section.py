"""One table of a robot file: its values by key, checked, in messages that say file and line."""

from __future__ import annotations

import math
import re
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from boolcomp.base.errors import number, parse_number
from boolcomp.common.errors import DataError, DataWarning, cut, listing, shown, suggestion
from boolcomp.problem.interval import Interval, width_problem
from boolcomp.problem.robot import limits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from boolcomp.problem.robot.model import Triple

_KEY = r"""(?:{key}|"{key}"|'{key}')\s*[=.]"""


@dataclass(frozen=True, slots=True)
class Section:
    """A table of the file and where it stands; `joint` counts those of joints, 0: another."""

    where: str
    text: str
    path: str
    table: Mapping[str, Any]
    joint: int

    def fail(self, key: str, problem: str) -> NoReturn:
        """Raise a `DataError` about the value of a key."""
        raise DataError(self._message(key, problem))

    def warn(self, key: str, problem: str) -> None:
        """Warn of the value of a key."""
        warnings.warn(self._message(key, problem), DataWarning, stacklevel=4)

    def _message(self, key: str, problem: str) -> str:
        return f"{self.where}{self._line(key)}: {self.path}{cut(key)}: {problem}"

    def _line(self, key: str) -> str:
        """Find the key's line, or its section's, as `:12`; nothing where the text hides it."""
        section, found = 0, 0
        for row, line in enumerate(self.text.splitlines(), 1):
            if re.match(r"\s*\[\[\s*joint\s*\]\]", line):
                section += 1
                if section == self.joint:
                    found = row
            if section == self.joint and re.match(r"\s*" + _KEY.format(key=re.escape(key)), line):
                return f":{row}"
        return f":{found}" if found else ""

    def check_keys(self, allowed: tuple[str, ...]) -> None:
        """Refuse a key that is not allowed."""
        for key in self.table:
            if key not in allowed:
                hint = suggestion(key, allowed) or f" (allowed: {listing(allowed)})"
                self.fail(key, f"unknown key{hint}")

    def value(self, key: str, default: Any = None) -> Any:
        """Return a key's value; without a default it must be there."""
        if key in self.table:
            return self.table[key]
        if default is None:
            self.fail(key, "missing")
        return default

    def string(self, key: str, *, required: bool = False) -> str:
        """Return a text, empty where there is none."""
        value = self.value(key, None if required else "")
        if not isinstance(value, str):
            self.fail(key, f"must be text, not {shown(value)}")
        return str(value)

    def number(self, key: str, default: float | None = None) -> float:
        """Return a number, or the angle that a text says."""
        return self.one_number(key, self.value(key, default))

    def one_number(self, key: str, value: Any) -> float:
        """Return the number that stands at a key, alone or in a list."""
        result = parse_number(value) if isinstance(value, str) else value
        if isinstance(result, bool) or not isinstance(result, int | float):
            self.fail(key, f"must be a number or an angle such as 'pi/2', not {shown(value)}")
        if isinstance(result, float) and not math.isfinite(result):
            self.fail(key, f"must be finite, not {shown(value)}")
        # Before it becomes a float: an integer may be too large for one.
        revolute = self.table.get("type") != "prismatic"
        if problem := limits.size_problem(key, result, revolute=revolute):
            self.fail(key, problem)
        return float(result)

    def numbers(self, key: str, lengths: tuple[int, ...], default: Any = None) -> list[float]:
        """Return a list of numbers, as long as one of `lengths`."""
        value = self.value(key, default)
        if not isinstance(value, list | tuple) or len(value) not in lengths:
            counts = " or ".join(str(length) for length in lengths)
            self.fail(key, f"must be a list of {counts} numbers, not {shown(value)}")
        return [self.one_number(key, item) for item in value]

    def triple(self, key: str, default: Any = None) -> Triple:
        """Return three numbers."""
        x, y, z = self.numbers(key, (3,), default)
        return (x, y, z)

    def interval(self, key: str, *, single: bool = False) -> Interval:
        """Return two numbers that rise, or, where one alone will do, may be equal."""
        low, high = self.numbers(key, (2,))
        if low > high or (low == high and not single):
            self.fail(key, f"must rise, not go from {number(low)} to {number(high)}")
        if low < high and (problem := width_problem(low, high)):
            self.fail(key, problem)
        return Interval(low, high)
