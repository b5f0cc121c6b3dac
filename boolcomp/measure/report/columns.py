"""The tables of the report's page, with what every column says."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING

from boolcomp.common.pages.parts import Markup
from boolcomp.common.pages.tables import Column, Table
from boolcomp.measure.report.measure import documents
from boolcomp.measure.report.tabulate import header
from boolcomp.program.parts import NOT_USEFUL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.common.pages.parts import Parts
    from boolcomp.common.pages.tables import Cell
    from boolcomp.measure.report.looks import Look
    from boolcomp.measure.report.measure import ReportRow
    from boolcomp.problem.problem import Problem

# In the order of `tabulate.HEADER`: key of the JSON document, form, meaning.
FIGURES: tuple[tuple[str, str, str], ...] = (
    ("bits", "", "word length of inputs and outputs"),
    ("mode", "", "paper: product terms, as in 1988; compact: logic of words"),
    ("guard_bits", "", "guard bits of the paper's terms, with those beyond its rule"),
    ("output", "", "which output"),
    ("lsb", ".4g", "one step of the output's word, in its unit"),
    ("sampled_max", ".4g", "largest error of random states, in the output's unit"),
    ("sampled_max_lsb", ".2f", "the same in steps"),
    ("worst_found_lsb", ".2f", "largest error that a search found, in steps: not proved"),
    ("rms_error_lsb", ".3f", "root of the mean square error of random states, in steps"),
    ("mean_error_lsb", "+.3f", "mean error, in steps: a bias"),
    ("share_beyond_lsb", ".2%", "how many random states err by more than one step"),
    ("own_rms_error_lsb", ".3f", "what remains against inputs in their finest cells: of the logic"),
    ("bound_lsb", ".2f", "no error exceeds this, proved; in steps"),
    ("products", "", "product terms of the output's tables"),
    ("literals", "", "literals in them"),
    ("table_bits", "", "bits of the output's truth tables: what a memory would need"),
    ("program_luts", "", "nodes of three inputs, of all logic"),
    ("depth", "", "most nodes from an input to an output"),
    ("seconds", ".2f", "seconds it took to compile, as kept in the store"),
    ("native_seconds", ".2f", "seconds of the first call: making native code, or reading it"),
    ("ns_per_sample", ".1f", "nanoseconds a sample on one core, floats in and out"),
    ("note", "", "what could not be had, and why"),
)


def figures_table(rows: Sequence[ReportRow]) -> Table:
    """Return all figures."""
    names = header(rows)
    columns = [
        Column(name, meaning, form, key)
        for name, (key, form, meaning) in zip(names, FIGURES, strict=True)
    ]
    return Table(
        columns,
        [_row_figures(row, found) for row, found in zip(rows, documents(rows), strict=True)],
    )


def _row_figures(row: ReportRow, found: dict[str, object]) -> list[Cell]:
    more: dict[str, object] = {
        "output": row.output.symbol,
        "guard_bits": None if row.mode == "compact" else _guard(row),
        "mean_error_lsb": row.total.mean / row.lsb,
        "own_rms_error_lsb": row.own.rms / row.lsb,
        "bound_lsb": _up(row.bound / row.lsb),
    }
    cells: list[Cell] = []
    for key, _, _ in FIGURES:
        value = more[key] if key in more else found[key]
        if value is not None and not isinstance(value, str | int | float):
            raise TypeError(f"{key} is no figure")
        cells.append(value)
    return cells


def _guard(row: ReportRow) -> str:
    return f"{row.guard_bits}{f' (+{row.extra})' if row.extra else ''}"


def _up(bound: float) -> float | None:
    """Return a bound as it is printed, no smaller."""
    return math.ceil(100 * bound - 1e-9) / 100 if math.isfinite(bound) else None


def proofs_table(rows: Sequence[ReportRow], looks: Sequence[Look]) -> Table:
    """Return what is known of errors: sampled, searched, proved, in that order."""
    grades = {
        (look.bits, look.series, k): grade
        for look in looks
        for k, grade in enumerate(look.grades, 1)
    }
    columns = (
        Column("bits", "word length"),
        Column("series", "how it is compiled"),
        Column("output", "which output"),
        Column("rms, LSB", "sampled on random states", ".3f", "rms_error_lsb"),
        Column("sampled max, LSB", "the largest of random states", ".2f", "sampled_max_lsb"),
        Column("worst found, LSB", "searched by climbing", ".2f", "worst_found_lsb"),
        Column("bound, LSB", "proved: no input within its range errs more", ".2f", "bound_lsb"),
        Column(
            "bound / found", "1: the bound is reached; more: it may be loose", ".2f", "tightness"
        ),
        Column("grade", "how the bound was proved: plain, tables, tight"),
    )
    cells: list[list[Cell]] = []
    for row in rows:
        bound = _up(row.bound / row.lsb)
        worst = None if row.worst is None else row.worst / row.lsb
        if row.bound_note == NOT_USEFUL:
            grades[row.bits, row.series, row.place] = NOT_USEFUL
        grade = grades.get((row.bits, row.series, row.place), "") or (
            "tables" if row.mode == "paper" and bound is not None else None
        )
        cells.append([
            row.bits, row.series, row.output.symbol, row.total.rms / row.lsb,
            row.total.max / row.lsb, worst, bound,
            bound / worst if bound is not None and worst else None, grade,
        ])  # fmt: skip
    return Table(columns, cells)


def words_tables(problem: Problem) -> Parts:
    """Return the inputs and outputs of a problem, and the text that it was made of."""
    inputs = Table(
        (
            Column("input", "its name"), Column("range", "within which states are drawn"),
            Column("unit"), Column("word spans", "what its word can say"),
        ),
        [[one.name, str(one.range), one.unit, str(one.word)] for one in problem.inputs],
        "Inputs",
    )  # fmt: skip
    outputs = Table(
        (
            Column("output", "its symbol"), Column("what it is"),
            Column("range", "what its word spans"), Column("unit"),
        ),
        [[one.symbol, one.title, str(one.range), one.unit] for one in problem.outputs],
        "Outputs",
    )  # fmt: skip
    text = html.escape(problem.key)
    key = Markup(
        '<details><summary>The text that it was made of</summary><div class="scrolls" '
        f'tabindex="0" role="group" aria-label="its text"><pre>{text}</pre></div></details>'
    )
    return inputs, outputs, key
