"""A design: a function in C, what it is given, and what it must make of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Element = Literal["uint8_t", "uint16_t", "uint32_t", "int16_t", "float"]
Row: TypeAlias = tuple[float, ...]  # what is given, then what must be made of it


@dataclass(frozen=True, slots=True)
class Design:
    """C files of one function, and rows of what it is given and must make.

    `function(const function_inputs *, function_outputs *)` is declared in `function.h`; its structs
    have the fields `given` and `made`, all of them read and written as `element`s. What is made
    must be within `tolerance` of the rows. `rms` are errors in last bits of the outputs' words.
    """

    name: str
    function: str
    files: Mapping[str, str]
    given: tuple[str, ...]
    made: tuple[str, ...]
    element: Element
    rows: tuple[Row, ...]
    tolerance: Row = ()
    rms: Row | None = None
    about: str = ""

    @property
    def sources(self) -> tuple[str, ...]:
        """The files that are compiled."""
        return tuple(name for name in self.files if name.endswith(".c"))

    def first(self, rows: int) -> Design:
        """Return the design with the first rows alone."""
        return replace(self, rows=self.rows[:rows])

    def with_a_wrong_row(self) -> Design:
        """Return the design with one more row, the first again with a last word that is wrong.

        Whoever compares must find it, and no other.
        """
        *most, last = self.rows[0]
        least = 4 * max(self.tolerance, default=0.0)
        return replace(self, rows=(*self.rows, (*most, wrong(last, least, self.element))))


def wrong(value: float, least: float, element: Element) -> float:
    """Return another value: the lowest bit of a word changed, a number moved."""
    return value + max(least, 1.0) if element == "float" else int(value) ^ 1


@dataclass(frozen=True, slots=True)
class Measured:
    """What one call of a design's function takes, in the mean of all rows.

    Bytes of `flash` and of static memory are the design's own, without what is linked from
    libraries; `stack` is the deepest that calls were found to reach. `wrong` are the rows that were
    not what they must be. What a board does not tell is None.
    """

    cycles: float | None = None
    instructions: float | None = None
    nanoseconds: float | None = None
    flash: int = 0
    static: int = 0
    stack: int | None = None
    wrong: int = 0

    @property
    def ram(self) -> int | None:
        """Bytes of static memory and stack."""
        return None if self.stack is None else self.static + self.stack


def declared(function: str, element: Element, given: Sequence[str], made: Sequence[str]) -> str:
    """Return the header of a function of structs of one type."""
    inputs = "".join(f" {element} {name};" for name in given)
    outputs = "".join(f" {element} {name};" for name in made)
    return (
        f"#ifndef {function.upper()}_H\n#define {function.upper()}_H\n#include <stdint.h>\n"
        f"typedef struct {{{inputs} }} {function}_inputs;\n"
        f"typedef struct {{{outputs} }} {function}_outputs;\n"
        f"void {function}(const {function}_inputs *given, {function}_outputs *made);\n#endif\n"
    )
