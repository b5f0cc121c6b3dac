"""What no error of an output may exceed: `1lsb`, `0.5Nm`, `tau1=1lsb,tau2=0.2Nm`.

A unit is a must: LSB of the output's word (`lsb`), the output's own unit, or `abs`, which is that
of outputs without one as well.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from boolcomp.common.errors import DataError, UsageError, listing, shown, suggestion
from boolcomp.problem.words import MOST_BITS

if TYPE_CHECKING:
    from boolcomp.problem.problem import Output, Problem

EXAMPLE = "such as 1lsb or 0.5Nm, one for all or one each: 1lsb,0.8lsb, or tau1=1lsb"
LSB, ABSOLUTE = "lsb", "abs"
HALF = 0.5  # of a step: rounding alone
LARGEST_PROMISE = 1e6
_PART = re.compile(r"(?:([^=]+)=)?\s*([0-9.]+(?:e[-+]?[0-9]+)?)\s*(\S.*)?", re.IGNORECASE)

Promised: TypeAlias = str | Iterable[str] | Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Allowed:
    """A part of a promise: of an output or a group by `name`, or of all; an amount with a unit."""

    name: str
    amount: float
    unit: str

    @property
    def absolute(self) -> bool:
        """Whether it is said in a unit that knows no word."""
        return _plain(self.unit) != LSB

    def steps(self, output: Output, step: float) -> float:
        """Return the amount in steps of an output's word."""
        unit = _plain(self.unit)
        if unit == LSB:
            return self.amount
        if unit not in {_plain(output.unit), ABSOLUTE}:
            own = [LSB, *filter(None, [output.unit]), ABSOLUTE]
            raise UsageError(
                f"error {self}: {output.name} has {_unit_of(output)}{suggestion(self.unit, own)}: "
                f"give {listing(own)}"
            )
        steps = self.amount / step
        return steps if steps * step <= self.amount else math.nextafter(steps, 0.0)

    def __str__(self) -> str:
        text = f"{self.amount:.10g}{self.unit}"
        return f"{self.name}={text}" if self.name else text


@dataclass(frozen=True, slots=True)
class Promise:
    """What no error may exceed, in parts as they were said."""

    parts: tuple[Allowed, ...]

    @property
    def absolute(self) -> bool:
        """Whether no part depends on how wide words are."""
        return all(part.absolute for part in self.parts)

    def steps(self, problem: Problem, bits: int) -> tuple[float, ...]:
        """Return what is allowed of every output, in steps of its word; infinite where nothing is.

        `bits` are those of outputs whose words have no width of their own.
        """
        pairs = zip(problem.outputs, self._each(problem), problem.steps(bits), strict=True)
        return tuple(part.steps(one, step) if part else math.inf for one, part, step in pairs)

    def check(self, problem: Problem, bits: int) -> None:
        """Refuse what rounding alone breaks, and say how many bits would do."""
        for output, steps, step in zip(
            problem.outputs, self.steps(problem, bits), problem.steps(bits), strict=True
        ):
            if steps > HALF:
                continue
            part = next(
                one for one in self._each(problem) if one and one.steps(output, step) == steps
            )
            most, unit = HALF * step, f" {output.unit}" if output.unit else ""
            advice = "promise more"
            if part.absolute and (wider := _bits_for(output, steps * step)) <= MOST_BITS:
                advice += f", or give it {wider} bits or more"
            raise DataError(
                f"{problem.name}: {output.name} cannot be kept within {part.amount:.10g} "
                f"{part.unit}: rounding alone makes half a step, {most:.4g}{unit}: {advice}"
            )

    @property
    def text(self) -> str:
        """All digits of it, for digests."""
        return ",".join(f"{one.name}={one.amount!r}{one.unit}" for one in self.parts)

    def _each(self, problem: Problem) -> list[Allowed | None]:
        """Return the part of every output."""
        names = [one.name for one in problem.outputs]
        if not self.parts[0].name:
            if len(self.parts) not in (1, len(names)):
                each = problem.plural if problem.places == "inputs" else problem.places
                raise UsageError(
                    f"error {self}: {len(self.parts)} values: one for all {each} of "
                    f"{problem.name}, or {len(names)}"
                )
            return [self.parts[k % len(self.parts)] for k in range(len(names))]
        group = problem.returned
        found: dict[str, Allowed] = {}
        for part in self.parts:
            if part.name not in (*names, group.name):
                known = dict.fromkeys([*names, group.name])
                raise UsageError(
                    f"error {self}: {problem.name} has no output {part.name!r}"
                    f"{suggestion(part.name, known)}: outputs are {listing(names)}"
                )
            own = part.name in names
            found |= dict.fromkeys([part.name] if own else set(names) - found.keys(), part)
        return [found.get(name) for name in names]

    def __str__(self) -> str:
        return ",".join(map(str, self.parts))


def promise_of(name: str, given: Promised | None) -> Promise | None:
    """Return the promise that texts ask for; None where none is."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        texts = [f"{key}={value}" for key, value in given.items()]
    elif isinstance(given, str):
        texts = given.split(",")
    elif isinstance(given, Iterable):
        texts = [str(one) for one in given]
    else:
        raise UsageError(f"{name} {shown(given)}: a number without a unit: {EXAMPLE}")
    parts = tuple(_part(name, text) for text in texts)
    keys = [part.name for part in parts if part.name]
    if not parts or 0 < len(keys) < len(parts):
        raise UsageError(f"{name} {shown(given)}: names for all amounts, or for none: {EXAMPLE}")
    if len(set(keys)) < len(keys):
        raise UsageError(f"{name} {shown(given)}: an output is named twice")
    return Promise(parts)


def _part(name: str, text: str) -> Allowed:
    found = _PART.fullmatch(text.strip())
    try:
        amount = float(found[2]) if found else math.nan
    except ValueError:
        amount = math.nan
    if found is None or not 0 < amount <= LARGEST_PROMISE:
        raise UsageError(
            f"{name} {shown(text)}: no amount above 0, at most {LARGEST_PROMISE:g}, with a unit: "
            f"{EXAMPLE}"
        )
    if not found[3]:
        raise UsageError(f"{name} {shown(text)}: LSB, or what? Give a unit: {EXAMPLE}")
    return Allowed((found[1] or "").strip(), amount, found[3].strip())


def _plain(unit: str) -> str:
    """Return a unit as it is compared: N·m, N*m, N m and Nm are the same, and case is none."""
    return re.sub(r"[·*.\s⋅]", "", unit).casefold()


def _bits_for(output: Output, error: float) -> int:
    """Return how many bits make half a step smaller than an error."""
    return math.floor(math.log2(output.range.width / (2 * error))) + 1


def _unit_of(output: Output) -> str:
    return f"the unit {output.unit}" if output.unit else "no unit"
