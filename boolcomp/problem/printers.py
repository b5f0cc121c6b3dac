"""Printers of straight-line programs: assignments in C, Python (for numba) and JavaScript."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from boolcomp.base.errors import number
from boolcomp.problem.algebra import ARITHMETIC

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from boolcomp.problem.tape import Operation, Straight

TURN = "6.283185307179586"
SIGN, WRAP = "(({0} > 0) - ({0} < 0))", f"{{0}} - {TURN} * floor({{0}} / {TURN} + 0.5)"


@dataclass(frozen=True, slots=True)
class Language:
    """An assignment of {1} to {0}, constants, the functions' prefix and operations of other text.

    Operations that `own` does not contain have the text of `RULES`.
    """

    assignment: str
    constant: Callable[[float], str] = repr
    prefix: str = ""
    own: Mapping[str, str] = field(default_factory=dict)

    def expression(self, node: Operation, operands: Sequence[str]) -> str:
        """Return an operation of these expressions."""
        if node.kind in self.own:
            return self.own[node.kind].format(*operands)
        return ("" if node.kind in ARITHMETIC else self.prefix) + node.text(operands)


LANGUAGES = {
    "c": Language(
        "const double {0} = {1};",
        own={"sign": SIGN, "step": "({0} > 0)", "wrap": WRAP, "abs": "fabs({0})"},
    ),
    "python": Language(  # with the functions of `math`
        "{0} = {1}", own={"sign": f"1.0 * {SIGN}", "step": "1.0 * ({0} > 0)", "wrap": WRAP}
    ),
    "javascript": Language(
        "const {0} = {1};",
        number,
        "Math.",
        {
            "neg": "-({0})",  # brackets for negative numbers
            "step": "{0} > 0 ? 1 : 0",
            "wrap": "{0} - (2 * Math.PI) * Math.floor({0} / (2 * Math.PI) + 0.5)",
        },
    ),
}


def statements(
    steps: Straight, inputs: Sequence[str], language: Language | str
) -> tuple[list[str], list[str]]:
    """Return an assignment for every operation, and the expressions of the outputs.

    `inputs` are the expressions of the program's inputs, in their order; `language` may be a name.
    """
    known = LANGUAGES[language] if isinstance(language, str) else language
    names, lines = list(inputs), []
    for place, node in enumerate(steps.nodes[len(names) :], len(names)):
        if node.kind == "constant":
            names.append(known.constant(node.value))
        else:
            names.append(f"v{place}")
            expression = known.expression(node, [names[k] for k in node.operands])
            lines.append(known.assignment.format(names[-1], expression))
    return lines, [names[one.node] for one in steps.outputs]
