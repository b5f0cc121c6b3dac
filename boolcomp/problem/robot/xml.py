"""XML as elements with line numbers, without entities and document types, limited in size.

Names and numbers of elements are checked: every error names line and element.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn
from xml.parsers import expat

from boolcomp.base.errors import DataError, cut, listing, number, shown, suggestion
from boolcomp.problem.robot import model
from boolcomp.problem.robot.model import unit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boolcomp.problem.robot.model import Triple

TEXT = "its text"  # the key of the text between an element's tags; other keys are attributes
PRINTED = 1e-12  # numbers that differ less from a right angle (or zero) were printed with 12 digits


@dataclass(slots=True, eq=False)
class Element:
    """An element: its name, attributes, children and text, and its first line."""

    tag: str
    attributes: dict[str, str]
    where: str
    line: int
    children: list[Element] = field(default_factory=list)
    text: str = ""
    absent: bool = False

    def all(self, tag: str) -> Iterator[Element]:
        return (child for child in self.children if child.tag == tag)

    def one(self, tag: str) -> Element | None:
        """Return the only child of this name, or None."""
        found = list(self.all(tag))
        if len(found) > 1:
            found[1].fail(f"a second <{tag}> in <{self.tag}>")
        return found[0] if found else None

    def fail(self, problem: str, hint: str = "") -> NoReturn:
        raise DataError(f"{self.label}: {problem}", hint, where=f"{self.where}:{self.line}")

    @property
    def label(self) -> str:
        """The element in messages: `<joint name="elbow">`."""
        name = self.attributes.get("name")
        if name is not None and not name.isprintable():
            name = shown(name)
        return f"<{cut(self.tag)}>" if name is None else f'<{cut(self.tag)} name="{cut(name)}">'

    def everything(self) -> Iterator[Element]:
        """Yield the element and all in it."""
        todo = [self]
        while todo:
            yield (one := todo.pop())
            todo += one.children

    def some(self, tag: str) -> Element:
        """Return the only child of this name, or an absent one, whose numbers are the defaults."""
        return self.one(tag) or Element(tag, {}, self.where, self.line, absent=True)

    def needed(self, tag: str) -> Element:
        """Return the only child of this name, or fail."""
        inner = self.one(tag)
        return self.fail(f"<{tag}> is missing") if inner is None else inner

    def get(self, key: str) -> str:
        return self.attributes.get(key, "")

    def name(self, default: str = "") -> str:
        """Return its name, which must be printable."""
        name = self.attributes.get("name", default)
        if not name:
            self.fail("name is missing")
        if not name.isprintable():
            self.fail(f"name {shown(name)} holds characters that cannot be printed")
        return name

    def kind(self, allowed: tuple[str, ...], usual: str = "") -> str:
        """Return its type, which must be allowed."""
        kind = self.attributes.get("type", usual)
        if kind not in allowed:
            near = suggestion(kind, allowed) or f"types are {listing(allowed)}"
            self.fail(f"unknown type {shown(kind)}", near)
        return kind

    # `meant` is the key of robot files whose limits apply to a number; None allows infinity.

    def numbers(
        self, key: str, counts: tuple[int, ...], meant: str | None, default: str = ""
    ) -> list[float]:
        """Return numbers separated by spaces; their count must be one of `counts`."""
        text = self.text if key == TEXT else self.attributes.get(key, default)
        if key != TEXT and key not in self.attributes and not default:
            self.fail(f"{key} is missing")
        words = text.split()
        if len(words) not in counts:
            names = {1: "a number", 2: "two numbers", 3: "three numbers"}
            allowed = " or ".join(names.get(count, f"{count} numbers") for count in counts)
            self.fail(f"{key} must be {allowed}, not {shown(text)}")
        return [self._value(key, meant, word) for word in words]

    def triple(self, key: str, meant: str, default: str = "0 0 0") -> Triple:
        """Return three numbers separated by spaces."""
        x, y, z = self.numbers(key, (3,), meant, default)
        return (x, y, z)

    def number(self, key: str, meant: str | None, default: float | None = None) -> float:
        """Return a number; without a default it must be there."""
        text = self.text.strip() if key == TEXT else self.attributes.get(key)
        if text is None or self.absent:
            return self.fail(f"{key} is missing") if default is None else default
        return self._value(key, meant, text)

    def positive(self, key: str, meant: str, default: float | None = 0.0) -> float:
        """Return a number that must not be negative."""
        value = self.number(key, meant, default)
        if value < 0:
            self.fail(f"{key} must not be negative, not {number(value)}")
        return value

    def axis(self, key: str, default: str = "") -> Triple:
        """Return a direction, scaled to length one; components that are nearly zero are zero."""
        given = self.triple(key, "axis", default)
        if not any(given):
            self.fail(f"{key} must not be zero", "give its direction, such as 0 0 1")
        return unit(without_dust(unit(given)))

    def _value(self, key: str, meant: str | None, text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            self.fail(f"{key} must be a number, not {shown(text)}")
        if math.isnan(value) or (meant and math.isinf(value)):
            self.fail(f"{key} must be finite, not {shown(text)}")
        if meant and (problem := model.size_problem(meant, value, revolute=True)):
            self.fail(f"{key} {problem}")
        return value


def without_dust(v: Triple) -> Triple:
    """Return a vector whose components that are nearly zero are zero."""
    x, y, z = (0.0 if abs(part) < PRINTED else part for part in v)
    return (x, y, z)


# --------------------------------------------------------------------------------------------------
# The parser.
# --------------------------------------------------------------------------------------------------

MOST_BYTES = 1 << 23
MOST_ELEMENTS = 20_000
MOST_DEPTH = 64
MOST_TEXT = 4096  # characters of an element's text that are kept


def parse_xml(text: str, where: str) -> Element:
    """Parse an XML text and return its outermost element."""
    if len(text) > MOST_BYTES:
        raise DataError(f"larger than {MOST_BYTES} characters", where=where)
    reader = _XmlReader(where)
    try:
        reader.parser.Parse(text, True)  # noqa: FBT003 (the interface of expat)
    except expat.ExpatError as error:
        problem = expat.ErrorString(error.code)
        raise DataError(f"not XML: {problem}", where=f"{where}:{error.lineno}") from error
    except UnicodeEncodeError as error:
        raise DataError("not XML (an invalid character)", where=where) from error
    return reader.open[0].children[0]  # expat has refused an empty document


class _XmlReader:
    """The callbacks of an expat parser, which build the elements."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.count = 0
        self.open = [Element("", {}, where, 0)]  # a parent of the outermost element
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = lambda _: self.open.pop()
        self.parser.CharacterDataHandler = self.characters
        self.parser.StartDoctypeDeclHandler = self.document_type

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.count += 1
        element = Element(tag, attributes, self.where, self.parser.CurrentLineNumber)
        if self.count > MOST_ELEMENTS:
            element.fail(f"more than {MOST_ELEMENTS} elements")
        if len(self.open) > MOST_DEPTH:
            element.fail(f"elements nested more than {MOST_DEPTH} deep")
        self.open[-1].children.append(element)
        self.open.append(element)

    def characters(self, data: str) -> None:
        inner = self.open[-1]
        if len(inner.text) < MOST_TEXT:
            inner.text += data

    def document_type(self, *_: object) -> None:
        raise DataError(
            "a document type (<!DOCTYPE …>) is not read", "remove that line and its entities",
            where=f"{self.where}:{self.parser.CurrentLineNumber}",
        )  # fmt: skip
