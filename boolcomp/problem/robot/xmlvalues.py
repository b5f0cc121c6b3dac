"""Names and numbers of XML elements, checked: every mistake names line and element.

`meant` is the key of robot files whose limits a number has to keep; without one it may be infinite.
A key is an attribute's name; `TEXT` stands for what an element holds between its tags.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from boolcomp.base.errors import number
from boolcomp.common.errors import shown
from boolcomp.problem.interval import width_problem
from boolcomp.problem.robot import limits
from boolcomp.problem.robot.frames import unit

if TYPE_CHECKING:
    from boolcomp.problem.robot.model import Triple
    from boolcomp.problem.robot.xmltext import Element

TEXT = "its text"
PRINTED = 1e-12  # so near a right angle (or zero) a number of twelve digits was meant as one


def name_of(element: Element, default: str = "") -> str:
    """Return an element's name; it will stand in comments."""
    name = element.attributes.get("name", default)
    if not name:
        element.fail("name is missing")
    if not name.isprintable():
        element.fail(f"name {shown(name)} holds characters that cannot be printed")
    return name


def numbers_of(
    element: Element, key: str, counts: tuple[int, ...], meant: str | None, default: str = ""
) -> list[float]:
    """Return so many numbers, separated by spaces; without a default they must be there."""
    text = element.text if key == TEXT else element.attributes.get(key, default)
    if key != TEXT and key not in element.attributes and not default:
        element.fail(f"{key} is missing")
    words = text.split()
    if len(words) not in counts:
        names = {1: "a number", 2: "two numbers", 3: "three numbers"}
        wanted = " or ".join(names.get(count, f"{count} numbers") for count in counts)
        element.fail(f"{key} must be {wanted}, not {shown(text)}")
    return [_value(element, key, meant, word) for word in words]


def triple_of(element: Element, key: str, meant: str, default: str = "0 0 0") -> Triple:
    """Return three numbers."""
    x, y, z = numbers_of(element, key, (3,), meant, default)
    return (x, y, z)


def number_of(element: Element, key: str, meant: str | None, default: float | None = None) -> float:
    """Return a number."""
    if default is not None and key != TEXT and key not in element.attributes:
        return default
    text = element.text.strip() if key == TEXT else element.attributes.get(key)
    if text is None:
        element.fail(f"{key} is missing")
    return _value(element, key, meant, text)


def positive_of(element: Element | None, key: str, meant: str) -> float:
    """Return a number that is not negative, zero where there is none."""
    value = 0.0 if element is None else number_of(element, key, meant, 0.0)
    if value < 0 and element is not None:
        element.fail(f"{key} must not be negative, not {number(value)}")
    return value


def axis_of(element: Element, key: str, default: str) -> Triple:
    """Return a direction at length one; what is printed as nearly zero is zero."""
    given = triple_of(element, key, "axis", default)
    if not any(given):
        element.fail(f"{key} must not be zero: give its direction, such as 0 0 1")
    x, y, z = (0.0 if abs(part) < PRINTED else part for part in unit(given))
    return unit((x, y, z))


def limit_size(value: float, meant: str, *, revolute: bool) -> float | None:
    """Return a limit's size; zero, nothing or more than any arm has says that there is none."""
    size = abs(value)
    unheard = width_problem(-size, size) or limits.size_problem(meant, size, revolute=revolute)
    return None if unheard else size


def _value(element: Element, key: str, meant: str | None, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        element.fail(f"{key} must be a number, not {shown(text)}")
    if math.isnan(value) or (meant and math.isinf(value)):
        element.fail(f"{key} must be finite, not {shown(text)}")
    if meant and (problem := limits.size_problem(meant, value, revolute=True)):
        element.fail(f"{key} {problem}")
    return value
