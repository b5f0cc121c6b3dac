"""Read the tables that boolcomp writes, from their text alone: an oracle of `render_table`."""

from __future__ import annotations

import re
from dataclasses import replace

from termtext import parse_term

from boolcomp.codes import CODE_KINDS, ROUNDINGS, Code
from boolcomp.common.text import parse_number
from boolcomp.paper.plan import TermPlan
from boolcomp.paper.truth import TermTable, tabulate
from boolcomp.paper.truthfile import TITLE
from boolcomp.paper.words import Word
from boolcomp.problem.interval import Interval
from boolcomp.problem.problem import Input
from boolcomp.problem.span import part_of

_CODE = r"(?P<kind>\w+) (?P<bits>\d+) bits, (?P<low>\S+) \.\. (?P<high>[^\s,]+)"
_OUTPUT = re.compile(r"(?P<name>\S+) " + _CODE)
_INPUT = re.compile(
    r"(?P<variable>qd?d?\d+) " + _CODE
    + r"(?:, drops (?P<dropped>\d+))?(?P<turns>, turns)?"
    + r"(?:, within (?P<within_low>\S+) \.\. (?P<within_high>[^\s,]+))?"
)  # fmt: skip


def parse_table(text: str) -> TermTable:
    """Read a file that `render_table` wrote; its rows must be those of the term in its header."""
    robot, plan = parse_header(text)
    rows = [line for line in text.splitlines() if line[:1] in "01"]
    table = tabulate(plan)
    assert len(rows) == 1 << plan.input_bits
    columns = [column.to01() for column in table.columns]
    free = [column.to01() for column in table.free] or ["0" * len(rows)] * len(columns)
    for number, row in enumerate(rows):
        outputs = [
            "-" if f[number] == "1" else c[number] for c, f in zip(columns, free, strict=True)
        ]
        assert row == f"{number:0{plan.input_bits}b} {''.join(outputs)}"
    return TermTable(robot, plan, table)


def parse_header(text: str) -> tuple[str, TermPlan]:
    """Return the robot's name and the plan of the term that the header describes."""
    lines = [line[1:].strip() for line in text.split("\n.", 1)[0].splitlines() if line[:1] == "#"]
    assert lines[0] == TITLE
    fields = [line.partition(": ") for line in lines[1:] if ": " in line]
    keyed = {key: value for key, _, value in fields}
    words = tuple(_word(value) for key, _, value in fields if key == "input")
    output = _OUTPUT.fullmatch(keyed["output"])
    term = re.fullmatch(r"(\S+) of (torque \d+) = (.*)", keyed["term"])
    assert output is not None
    assert term is not None
    variables = {word.variable.name: word.variable for word in words}
    parsed = parse_term(term[3], term[1], term[2], variables)
    rounding = next(known for known in ROUNDINGS if known == keyed["rounding"])
    return keyed["robot"], TermPlan(parsed, _code(output), words, rounding)


def _word(text: str) -> Word:
    match = _INPUT.fullmatch(text)
    assert match is not None
    code = _code(match)
    turns, reach = match["turns"] is not None, code.range
    if match["within_low"] is not None:
        reach = _interval(match["within_low"], match["within_high"])
    elif turns and part_of(reach) == 0:
        code = replace(code, wraps=True)
    name = match["variable"]
    variable = Input(name, reach, _unit(name), code.range, reach, turns, code.wraps)
    return Word(variable, code, int(match["dropped"] or 0))


def _unit(name: str) -> str:
    return {"q": "rad", "qd": "rad/s", "qdd": "rad/s²"}[name.rstrip("0123456789")]


def _code(match: re.Match[str]) -> Code:
    kind = next(kind for kind in CODE_KINDS if kind == match["kind"])
    return Code(_interval(match["low"], match["high"]), int(match["bits"]), kind)


def _interval(low: str, high: str) -> Interval:
    ends = parse_number(low), parse_number(high)
    assert ends[0] is not None
    assert ends[1] is not None
    return Interval(ends[0], ends[1])
