"""Truth tables as PLA files whose commented header says what every bit means.

The header alone is enough to rebuild the table: the robot, the term with its coefficients, the
code and range of its value, and the code, range and dropped bits of every input word.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.codes import CODE_KINDS, ROUNDINGS, Code
from boolcomp.common.errors import DataError, listing
from boolcomp.common.text import parse_number
from boolcomp.paper.plan import TermPlan, Word
from boolcomp.paper.truth import TermTable, tabulate
from boolcomp.problem.interval import Interval
from boolcomp.problem.span import part_of
from boolcomp.terms import Variable, parse_term

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.codes import CodeKind
    from boolcomp.logic.truthtable import TruthTable
    from boolcomp.terms.variables import Kind

TITLE = "boolcomp truth table, format 1"
MEANING = """\
Words are mid-rise: cell k of 2^bits stands for low + (k + 1/2) (high - low) / 2^bits. In gray
code its word is k xor (k >> 1). A dropped word lacks its most significant bits: the term repeats.
Labels count bits from 0, the least significant; the most significant comes first."""
LIMITED = "Outputs are free where an input's cell lies beyond what it is said to be within."
_CODE = r"(?P<kind>\w+) (?P<bits>\d+) bits, (?P<low>\S+) \.\. (?P<high>[^\s,]+)"
_OUTPUT = re.compile(r"(?P<name>\S+) " + _CODE)
_INPUT = re.compile(
    r"(?P<variable>(?P<letter>qd?d?)(?P<joint>\d+)) " + _CODE
    + r"(?:, drops (?P<dropped>\d+))?(?P<turns>, turns)?"
    + r"(?:, within (?P<within_low>\S+) \.\. (?P<within_high>[^\s,]+))?"
)  # fmt: skip


def render_table(entry: TermTable) -> str:
    """Return the PLA text of a term's table: commented header, labels, one row an input word."""
    plan, table = entry.plan, entry.table
    lines = [TITLE, f"robot: {entry.robot}"]
    lines.append(f"term: {plan.term.name} of torque {plan.term.joint} = {plan.term}")
    lines.append(f"output: {plan.term.name} {plan.code}")
    lines.append(f"rounding: {plan.rounding}")
    lines += [f"input: {word}{_beyond_code(word.variable)}" for word in plan.words]
    lines += MEANING.split("\n")
    if any(word.variable.word for word in plan.words):
        lines.append(LIMITED)
    head = "".join(f"# {line}\n" for line in lines)
    labels = [("ilb", entry.input_labels), ("ob", entry.output_labels)]
    keys = f".i {table.inputs}\n.o {table.outputs}\n" + "".join(
        f".{key} {' '.join(names)}\n" for key, names in labels if names
    )
    return f"{head}{keys}.p {1 << table.inputs}\n{_rows(table)}.e\n"


def parse_table(text: str, where: str = "table") -> TermTable:
    """Read a file that `render_table` wrote; header and rows are checked against each other."""
    robot, plan = parse_header(text, where)
    rows = [line for line in text.splitlines() if line[:1] in "01"]
    width = plan.input_bits + plan.code.bits + 1
    if len(rows) != 1 << plan.input_bits or any(len(row) != width for row in rows):
        raise DataError(
            f"{where}: the header promises {1 << plan.input_bits} rows of {width} characters, "
            f"and the file has {len(rows)} rows"
        )
    letters = np.frombuffer("".join(rows).encode(), dtype=np.uint8).reshape(len(rows), width)
    outputs = letters[:, plan.input_bits + 1 :].T
    if (letters[:, : plan.input_bits] - ord("0") != _counting(plan.input_bits)).any():
        raise DataError(f"{where}: the rows do not count up from zero")
    table = tabulate(plan)
    columns, free = _shown(table)
    if (outputs != np.where(free, ord("-"), columns + ord("0"))).any():
        raise DataError(f"{where}: the rows are not those of the term in the header")
    return TermTable(robot, plan, table)


def parse_header(text: str, where: str = "table") -> tuple[str, TermPlan]:
    """Return the robot's name and the plan of the term that the header describes."""
    lines = [line[1:].strip() for line in text.split("\n.", 1)[0].splitlines() if line[:1] == "#"]
    if not lines or lines[0] != TITLE:
        raise DataError(f"{where}: the first line must be '# {TITLE}'")
    fields = [line.partition(": ") for line in lines[1:] if ": " in line]
    keyed = {key: value for key, _, value in fields}
    missing = [key for key in ("robot", "term", "output", "rounding") if key not in keyed]
    if missing:
        raise DataError(f"{where}: the header lacks '# {missing[0]}: …'")
    words = tuple(_word(value, where) for key, _, value in fields if key == "input")
    output = _OUTPUT.fullmatch(keyed["output"])
    term = re.fullmatch(r"(\S+) of torque (\d+) = (.*)", keyed["term"])
    if output is None or term is None:
        raise DataError(f"{where}: the header's term or output cannot be read")
    variables = {word.variable.name: word.variable for word in words}
    parsed = parse_term(term[3], term[1], int(term[2]), variables)
    rounding = next((known for known in ROUNDINGS if known == keyed["rounding"]), None)
    if rounding is None:
        raise DataError(f"{where}: rounding {keyed['rounding']!r} is not {listing(ROUNDINGS)}")
    return keyed["robot"], TermPlan(parsed, _code(output, where), words, rounding)


def _word(text: str, where: str) -> Word:
    match = _INPUT.fullmatch(text)
    if match is None:
        raise DataError(f"{where}: input {text!r} cannot be read")
    letter = match["letter"]
    kind: Kind = "q" if letter == "q" else "qd" if letter == "qd" else "qdd"
    code = _code(match, where)
    turns, reach, spanned = match["turns"] is not None, code.range, None
    if match["within_low"] is not None:
        reach, spanned = _interval(match, "within_low", "within_high", where), code.range
    elif turns and part_of(reach) == 0:
        code = replace(code, wraps=True)
    variable = Variable(kind, int(match["joint"]), reach, turns, spanned, code.wraps)
    return Word(variable, code, int(match["dropped"] or 0))


def _beyond_code(variable: Variable) -> str:
    """Return what a header says of a variable beyond its code."""
    turns = ", turns" if variable.turns else ""
    return turns if variable.word is None else f"{turns}, within {variable.range}"


def _code(match: re.Match[str], where: str) -> Code:
    kinds: dict[str, CodeKind] = {kind: kind for kind in CODE_KINDS}
    if match["kind"] not in kinds:
        text = f"{match['kind']} {match['bits']} bits, {match['low']} .. {match['high']}"
        raise DataError(f"{where}: {text!r} is no code (codes are {listing(CODE_KINDS)})")
    interval = _interval(match, "low", "high", where)
    return Code(interval, int(match["bits"]), kinds[match["kind"]])


def _interval(match: re.Match[str], low: str, high: str, where: str) -> Interval:
    ends = parse_number(match[low]), parse_number(match[high])
    if ends[0] is None or ends[1] is None or ends[0] >= ends[1]:
        raise DataError(f"{where}: {match[low]} .. {match[high]} are no rising numbers")
    return Interval(ends[0], ends[1])


def _rows(table: TruthTable) -> str:
    """Return all rows as text, made as one block of bytes."""
    count = 1 << table.inputs
    rows = np.empty((count, table.inputs + table.outputs + 2), dtype=np.uint8)
    rows[:, : table.inputs] = _counting(table.inputs) + ord("0")
    rows[:, table.inputs] = ord(" ")
    columns, free = _shown(table)
    rows[:, table.inputs + 1 : -1] = np.where(free, ord("-"), columns + ord("0")).T
    rows[:, -1] = ord("\n")
    return rows.tobytes().decode("ascii")


def _shown(table: TruthTable) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return the columns and the free columns as rows of bits."""
    count = 1 << table.inputs
    columns, free = (
        np.array(
            [np.unpackbits(np.frombuffer(c.tobytes(), dtype=np.uint8))[:count] for c in several],
            dtype=np.uint8,
        ).reshape(-1, count)
        for several in (table.columns, table.free)
    )
    return columns, free if table.free else np.zeros_like(columns)


def _counting(bits: int) -> NDArray[np.uint8]:
    """Return the bits of 0, 1, 2 … as rows, most significant first."""
    words = np.arange(1 << bits, dtype=np.uint32)
    shifts = np.arange(bits - 1, -1, -1, dtype=np.uint32)
    return (words[:, None] >> shifts & np.uint32(1)).astype(np.uint8)
