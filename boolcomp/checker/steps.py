"""A step of a chain: what was checked, how, on how many cases, and what came of it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from boolcomp.common.errors import BoolcompError, DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection


# What numbers and tables raise that nothing was made for.
DAMAGE = (
    ArithmeticError, AttributeError, IndexError, KeyError, MemoryError, RuntimeError, TypeError,
    ValueError,
)  # fmt: skip
NOTHING = "nothing was verified"


@dataclass(frozen=True, slots=True)
class Step:
    """One line of a verdict; `holds` is None where nothing is known.

    The note of what does not hold names the first thing that does not, with a counterexample. What
    is `conditional` was checked, and holds while sums do not overflow that were not shown to fit.
    """

    name: str
    method: str
    cases: int = 0
    seconds: float = 0.0
    holds: bool | None = None
    note: str = ""
    conditional: bool = False


class Found(NamedTuple):
    """What a check looked at: how many cases, and what there is to say of them."""

    cases: int
    note: str = ""


class DoesNotHoldError(DataError):
    """A claim that is wrong: its text says which, and shows it."""


class NotCoveredError(Exception):
    """What the checker does not know how to check."""


def printable(text: str) -> str:
    """Return a text in which nothing moves a cursor or begins another line."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)


def whole(steps: Collection[Step], *, allow_conditions: bool = False) -> bool:
    """Tell whether all steps hold, of which there must be some."""
    return bool(steps) and all(
        one.holds is True or (allow_conditions and one.conditional) for one in steps
    )


def checked(name: str, method: str, check: Callable[[], Found]) -> Step:
    """Return the step of a check, which raises an error of ours where something does not hold."""
    start = time.perf_counter()
    try:
        found, holds = check(), True
    except BoolcompError as error:
        found, holds = Found(0, str(error)), False
    return Step(name, method, found.cases, time.perf_counter() - start, holds, found.note)
