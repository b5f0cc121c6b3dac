"""Table 4 of Zalzala and Morris 1989: what each formulation takes for an arm of n joints.

The formulas are printed (from Hollerbach 1980) beside the figures for n = 6. Two of them do not
give their own figure; both are kept, and said.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from boolcomp.common.text import short, table

if TYPE_CHECKING:
    from collections.abc import Sequence

_DEGREE = 4
Coefficients = tuple[Fraction | int, ...]


@dataclass(frozen=True, slots=True)
class Formulation:
    """A formulation: coefficients of n⁴ … n⁰, and the figures printed for six joints."""

    name: str
    multiplications: Coefficients
    additions: Coefficients
    printed: tuple[int, int]

    def at(self, joints: int) -> tuple[Fraction, Fraction]:
        """Return what the formulas give for so many joints."""
        return _value(self.multiplications, joints), _value(self.additions, joints)

    @property
    def note(self) -> str:
        """What the formula gives for six joints, where that is not what is printed."""
        pairs = zip(self.at(6), self.printed, ("multiplications", "additions"), strict=True)
        wrong = [
            f"{short(float(value), 8)} {what}" for value, figure, what in pairs if value != figure
        ]
        return f"the printed formula gives {' and '.join(wrong)}" if wrong else ""


def _value(coefficients: Coefficients, joints: int) -> Fraction:
    powers = range(_DEGREE, -1, -1)
    terms = (Fraction(c) * joints**k for c, k in zip(coefficients, powers, strict=True))
    return sum(terms, Fraction(0))


FORMULATIONS = (
    Formulation(
        "Uicker, Kahn",
        (Fraction(65, 2), Fraction(1037, 12), Fraction(685, 4), Fraction(160, 3), -128),
        (25, Fraction(199, 3), Fraction(259, 2), Fraction(127, 3), -96),
        (66271, 51548),
    ),
    Formulation(
        "Waters",
        (0, 0, Fraction(213, 2), Fraction(1241, 2), -212),
        (0, 0, 82, 514, -384),
        (7051, 5652),
    ),
    Formulation("Hollerbach (4x4)", (0, 0, 0, 830, -592), (0, 0, 0, 675, -464), (4388, 3586)),
    Formulation("Hollerbach (3x3)", (0, 0, 0, 412, -277), (0, 0, 0, 320, -201), (2195, 1719)),
    Formulation("Newton-Euler", (0, 0, 0, 150, -48), (0, 0, 0, 131, -48), (852, 738)),
    Formulation("Horn, Raibert (table look-up)", (0, 2, 1, 0, 0), (0, 1, 1, 2, 0), (468, 264)),
    Formulation("DRL", (0, 0, 0, 65, -7), (0, 0, 0, 53, -11), (383, 307)),
    Formulation("DRL (pipelined)", (0, 0, 0, 0, 47), (0, 0, 0, 0, 36), (47, 36)),
)


def report(formulations: Sequence[Formulation] = FORMULATIONS, joints: int = 6) -> str:
    """Return the table for so many joints, with what is printed for six."""
    rows = []
    for entry in formulations:
        products, sums = (short(float(value), 8) for value in entry.at(joints))
        printed = f"{entry.printed[0]}/{entry.printed[1]}"
        rows.append([entry.name, products, sums, printed, entry.note])
    header = ("formulation", f"mul (n={joints})", f"add (n={joints})", "printed (n=6)", "note")
    return table(header, rows, left=(0, 4))
