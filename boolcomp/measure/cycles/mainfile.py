"""The main program in C around a design: rows in flash, calls, what differs, what is told.

What boards have of their own stands before it: PLACED and READ (tables in flash), say, BEGIN and
END (about the call that is measured), FLOOR and TOP (the ends of what the stack may use).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from boolcomp.measure.cycles.design import Design

PAINTED = 4  # calls before which the stack is painted
_MAIN = """\
@BOARD@
#include "@NAME@.h"
#define PAINT 0xA5A5U
static const @ELEMENT@ rows[@COUNT@][@WIDTH@] PLACED = {
@ROWS@
};
static void tell(uint32_t number)
{
    char digits[11];
    uint8_t k = 0;
    do {
        digits[k++] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    while (k)
        say(digits[--k]);
    say(' ');
}
int main(void)
{
    uint16_t k, wrong = 0, last = 0, deepest = 0;
    uint32_t cycles = 0;
    START
    for (k = 0; k < @COUNT@; k++) {
        @NAME@_inputs given;
        @NAME@_outputs made;
@LOAD@
        if (k < @PAINTED@) {
            volatile uint16_t *place = FLOOR, *top = TOP;
            while (place < top)
                *place++ = PAINT;
        }
        BEGIN
        @NAME@(&given, &made);
        END
        if (k < @PAINTED@) {
            volatile uint16_t *place = FLOOR, *top = TOP;
            while (place < top && *place == PAINT)
                place++;
            if ((uint16_t)((uintptr_t)top - (uintptr_t)place) > deepest)
                deepest = (uint16_t)((uintptr_t)top - (uintptr_t)place);
        }
        if (k < @COUNT@ - 1)
            cycles += TAKEN;
        if (@DIFFERS@) {
            wrong++;
            last = k;
        }
    }
    tell(wrong);
    tell(last);
    tell(cycles);
    tell(EMPTY);
    tell(deepest);
    say('.');
    say('\\n');
    FINISH
    return 0;
}
"""


def main_text(design: Design, board: str) -> str:
    """Return the main program; the last row is not among the calls whose cycles are added."""
    inputs = len(design.given)
    load = "".join(
        f"        given.{name} = READ(&rows[k][{k}]);\n" for k, name in enumerate(design.given)
    )
    gaps = {
        "BOARD": board,
        "NAME": design.function,
        "ELEMENT": design.element,
        "COUNT": str(len(design.rows)),
        "WIDTH": str(inputs + len(design.made)),
        "ROWS": ",\n".join(f"{{{', '.join(map(literal, row))}}}" for row in design.rows),
        "LOAD": load,
        "PAINTED": str(PAINTED),
        "DIFFERS": differs(design, "READ(&rows[k][{}])"),
    }
    text = _MAIN
    for name, part in gaps.items():
        text = text.replace(f"@{name}@", part)
    return text


def differs(design: Design, wanted: str) -> str:
    """Return the condition in C that anything made is not what it must be."""
    parts = []
    for k, name in enumerate(design.made):
        right = wanted.format(len(design.given) + k)
        if design.tolerance:
            most = literal(design.tolerance[k])
            parts.append(f"!(made.{name} - {right} <= {most} && {right} - made.{name} <= {most})")
        else:
            parts.append(f"made.{name} != {right}")
    return " || ".join(parts)


def literal(value: float) -> str:
    """Return a number in C."""
    if isinstance(value, int):
        return f"{value}U" if value > 0x7FFF else str(value)
    return f"{value!r}f"
