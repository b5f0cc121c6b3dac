"""XML as small elements that know their lines: no entities, no document types, limited in size."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn
from xml.parsers import expat

from boolcomp.common.errors import DataError, cut, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_BYTES = 1 << 23
MOST_ELEMENTS = 20_000
MOST_DEPTH = 64
MOST_TEXT = 4096  # characters that are kept of what an element holds between its tags


@dataclass(slots=True, eq=False)
class Element:
    """One element: its name, attributes, children and text, and the line that it begins on."""

    tag: str
    attributes: dict[str, str]
    where: str
    line: int
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def all(self, tag: str) -> Iterator[Element]:
        """Yield the children of this name."""
        return (child for child in self.children if child.tag == tag)

    def one(self, tag: str) -> Element | None:
        """Return the only child of this name, None where there is none."""
        found = list(self.all(tag))
        if len(found) > 1:
            found[1].fail(f"a second <{tag}> in <{self.tag}>")
        return found[0] if found else None

    def fail(self, problem: str) -> NoReturn:
        """Raise a `DataError` that names file, line and element."""
        raise DataError(f"{self.where}:{self.line}: {self.label}: {problem}")

    @property
    def label(self) -> str:
        """The element as messages show it: `<joint name="elbow">`."""
        name = self.attributes.get("name")
        if name is not None and not name.isprintable():
            name = shown(name)
        return f"<{cut(self.tag)}>" if name is None else f'<{cut(self.tag)} name="{cut(name)}">'


def parse_xml(text: str, where: str) -> Element:
    """Read an XML text to its outermost element."""
    if len(text) > MOST_BYTES:
        raise DataError(f"{where}: too large: at most {MOST_BYTES} characters are read")
    reader = _Reader(where)
    try:
        reader.parser.Parse(text, True)  # noqa: FBT003 (the interface of expat)
    except expat.ExpatError as error:
        problem = expat.ErrorString(error.code)
        raise DataError(f"{where}:{error.lineno}: not XML: {problem}") from error
    except UnicodeEncodeError as error:
        raise DataError(f"{where}: not XML: a character that no text has") from error
    assert reader.root is not None  # noqa: S101 (expat has refused an empty document)
    return reader.root


class _Reader:
    """What expat calls while it reads."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.root: Element | None = None
        self.count = 0
        self.open: list[Element] = []
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.StartDoctypeDeclHandler = self.document_type

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.count += 1
        element = Element(tag, attributes, self.where, self.parser.CurrentLineNumber)
        if self.count > MOST_ELEMENTS:
            element.fail(f"more than {MOST_ELEMENTS} elements")
        if len(self.open) >= MOST_DEPTH:
            element.fail(f"elements nested more than {MOST_DEPTH} deep")
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def end(self, tag: str) -> None:
        del tag
        self.open.pop()

    def characters(self, data: str) -> None:
        inner = self.open[-1]
        if len(inner.text) < MOST_TEXT:
            inner.text += data

    def document_type(self, *_: object) -> None:
        raise DataError(
            f"{self.where}:{self.parser.CurrentLineNumber}: a document type (<!DOCTYPE …>) is not "
            "read: take that line and its entities out"
        )
