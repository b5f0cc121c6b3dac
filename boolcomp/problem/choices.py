"""Choices of a robot's function, and function names that contain them: `control:kp=50:kd=14`.

The name is complete: a program that stores it is compared with the function it was compiled from.
Default values are left out, and every number is written in one way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from boolcomp.base.errors import UsageError, listing, number, reals, shown, suggestion

if TYPE_CHECKING:
    from collections.abc import Sequence

Values: TypeAlias = Mapping[str, tuple[float, ...]]

KP, KD = 100.0, 20.0  # gains of a joint that settles, critically damped, as exp(-10 t)
ELBOWS = {"up": (1.0,), "down": (-1.0,)}
_ADVICE = "give one number above zero, or one a joint: 4,2.5"


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice: its title in messages, its option, and its default values, if any."""

    title: str
    option: str
    usual: tuple[float, ...] = ()


CHOICES = {
    "smoothing": Choice("a smoothing of dry friction", "smoothing"),
    "kp": Choice("a gain kp", "kp", (KP,)),
    "kd": Choice("a gain kd", "kd", (KD,)),
    "load": Choice("a load as an input", "load-range"),
    "elbow": Choice("an elbow", "elbow", ELBOWS["up"]),
}


def split_name(of: str) -> tuple[str, dict[str, tuple[float, ...]]]:
    """Split a text such as `control:kp=50` into the function's name and its choices."""
    name, *parts = of.split(":")
    values: dict[str, tuple[float, ...]] = {}
    for part in parts:
        key, equals, text = part.partition("=")
        if key not in CHOICES or not equals:
            hint = suggestion(key, CHOICES)
            raise UsageError(
                f"function {shown(of)}: {shown(part)} is no choice{hint}: choices are "
                f"{listing(CHOICES)}, as in control:kp=50"
            )
        if key in values:
            raise UsageError(f"function {shown(of)}: {key} is chosen twice")
        values[key] = chosen(key, text, key)
    return name, values


def chosen(key: str, given: object, name: str) -> tuple[float, ...]:
    """Return the value of a choice as numbers; `name` is its name in messages."""
    if key == "elbow":
        if given not in ELBOWS:
            raise UsageError(f"{name} {shown(given)}{suggestion(str(given), ELBOWS)}: up or down")
        return ELBOWS[str(given)]
    if key == "load":
        return _load(name, given)
    found = reals(name, given, _ADVICE)  # type: ignore[arg-type]  # which refuses other types
    if not found or min(found) <= 0:
        raise UsageError(f"{name} {shown(given)}: {_ADVICE}")
    return found


def _load(name: str, given: object) -> tuple[float, float]:
    """Return the ends of a range of masses, given as `0..5` or as two numbers."""
    if isinstance(given, str):
        ends = given.split("..")
    else:
        ends = list(given) if isinstance(given, (tuple, list)) else []
    found = reals(name, ends, "give kg, such as 0..5") if len(ends) == 2 else ()
    if len(found) != 2 or not 0 <= found[0] < found[1]:
        raise UsageError(f"{name} {shown(given)}: give a range of kg that rises, such as 0..5")
    return found[0], found[1]


def join_name(name: str, values: Values) -> str:
    """Join a function's name and its choices, without default values."""
    parts = [
        f"{key}={_text(key, values[key])}"
        for key, choice in CHOICES.items()
        if key in values and values[key] != choice.usual
    ]
    return ":".join([name, *parts])


def _text(key: str, values: Sequence[float]) -> str:
    if key == "elbow":
        return next(word for word, value in ELBOWS.items() if value == values)
    return (".." if key == "load" else ",").join(number(value) for value in values)


def each_joint(values: Values, key: str, joints: int, robot: str) -> tuple[float, ...]:
    """Return the values of a choice for every joint, from one value for all or one each."""
    found = values[key]
    if len(found) not in (1, joints):
        raise UsageError(
            f"{key} has {len(found)} values: one for all joints of {robot}, or {joints}"
        )
    return found * joints if len(found) == 1 else found


def refuse_unknown(name: str, values: Values, takes: Sequence[str]) -> None:
    """Raise a `UsageError` for a choice that the function does not have."""
    for key in values:
        if key not in takes:
            has = f"it has {listing(takes)}" if takes else "it has no choices"
            raise UsageError(f"{name} has no {key} ({CHOICES[key].title}): {has}")
