"""Truth tables as PLA files whose commented header says what every bit means.

The header alone is enough to rebuild the table: the problem, the term with its coefficients, the
code and range of its value, and the code, range and dropped bits of every input word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.logic.truthtable import TruthTable
    from boolcomp.paper.tables import TermTable
    from boolcomp.problem.problem import Input

TITLE = "boolcomp truth table, format 1"
MEANING = """\
Words are mid-rise: cell k of 2^bits stands for low + (k + 1/2) (high - low) / 2^bits. In gray
code its word is k xor (k >> 1). A dropped word lacks its most significant bits: the term repeats.
Labels count bits from 0, the least significant; the most significant comes first."""
SIGNED = {
    "twos": "In twos (two's complement) its word is k with the most significant bit inverted.",
    "sign-magnitude": """\
In sign-magnitude the most significant bit is 1 below the centre of the range; the others count
cells from it.""",
}
OUTSIDE = """\
Bits that turn the sign are among those that are dropped: outside, an XOR puts them into the first
output bit. A sum is made outside, of angles modulo a turn: cells of it are leading bits."""
LIMITED = "Outputs are free where an input's cell lies beyond what it is said to be within."


def render_table(entry: TermTable) -> str:
    """Return the PLA text of a term's table: commented header, labels, one row an input word."""
    plan, table = entry.plan, entry.table
    lines = [TITLE, f"robot: {entry.problem}"]
    lines.append(f"term: {plan.term.name} of {plan.term.output} = {plan.term}")
    lines.append(f"output: {plan.term.name} {plan.code}")
    lines.append(f"rounding: {plan.rounding}")
    lines += [f"input: {word}{_beyond_code(word.variable)}" for word in plan.words]
    lines += MEANING.split("\n")
    if not plan.whole:
        lines += OUTSIDE.split("\n")
    lines += SIGNED.get(plan.code.kind, "").splitlines()
    if any(word.variable.word != word.variable.reach for word in plan.read):
        lines.append(LIMITED)
    head = "".join(f"# {line}\n" for line in lines)
    labels = [("ilb", entry.input_labels), ("ob", entry.output_labels)]
    keys = f".i {table.inputs}\n.o {table.outputs}\n" + "".join(
        f".{key} {' '.join(names)}\n" for key, names in labels if names
    )
    return f"{head}{keys}.p {1 << table.inputs}\n{_rows_text(table)}.e\n"


def _beyond_code(variable: Input) -> str:
    """Return what a header says of a variable beyond its code."""
    turns = ", turns" if variable.angle else ""
    return turns if variable.word == variable.reach else f"{turns}, within {variable.reach}"


def _rows_text(table: TruthTable) -> str:
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
