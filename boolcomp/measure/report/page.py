"""The report as one page: what was asked, what came out, what it means; pictures, tables."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.errors import short, short_above
from boolcomp.base.pages import KeyFigure, Page, Section, page_text
from boolcomp.common.pages.parts import Beside, Text
from boolcomp.measure.report.columns import figures_table, proofs_table, words_tables
from boolcomp.measure.report.pictures import cost_charts, error_charts, look_choice
from boolcomp.measure.report.tabulate import footnote
from boolcomp.program.parts import NOT_USEFUL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.common.pages.parts import Parts
    from boolcomp.measure.report.findings import Asked, Pictured
    from boolcomp.measure.report.measure import ReportRow

USUAL_BITS = 8
PROOFS = (
    "The bound is proved: from the tables or words of the logic and from what they stand for, "
    "without trying states. plain, tables, tight say how close it comes (--proof). compile "
    "--certify keeps the proof as a certificate, which `python -m boolcomp.checker` checks without "
    "the compiler. Worst found is what climbing over states ended at: no error is known to be "
    "larger, but only the bound promises it. rms and sampled max are of random states."
)
MAPS = (
    "Errors in steps (LSB) at the random states: how often, and their rms in every cell of the "
    "two inputs along which errors vary most (--map chooses others). The walk swings every input "
    "through its range."
)


def report_page(asked: Asked, pictured: Pictured, beside: Sequence[Section] = ()) -> str:
    """Return the page of all that was found."""
    rows = pictured.rows
    shown, problem = shown_rows(rows), pictured.surveyor.samples.problem
    sections = [
        Section("Errors versus bits", (Beside(error_charts(rows)),)),
        Section("What the logic takes", cost_charts(rows, pictured.looks)),
    ]
    if pictured.looks:
        parts: Parts = (
            Text(MAPS, kind="note"),
            look_choice(pictured, (shown[0].series, shown[0].bits)),
        )
        sections.append(Section("Where it errs, and where the nodes go", parts))
    sections += [
        Section("What is proved, and by whom", (Text(PROOFS), proofs_table(rows, pictured.looks))),
        *beside,
        Section("All figures", (figures_table(rows), Text(footnote(rows, asked.samples)))),
        Section("What was compiled", words_tables(problem), opened=False),
    ]
    page = Page(
        f"{asked.name}: what logic errs by, and what it takes",
        asked=asked.facts,
        found=_page_figures(shown),
        meaning=_meaning(rows, shown, asked),
        sections=tuple(sections),
    )
    return page_text(page)


def shown_rows(rows: Sequence[ReportRow]) -> list[ReportRow]:
    """Return the rows that stand for the report in its head: compact, 8 bits or what is nearest."""
    mode = "compact" if any(row.mode == "compact" for row in rows) else "paper"
    mine = [row for row in rows if row.mode == mode and not row.extra]
    bits = min({row.bits for row in mine}, key=lambda b: (abs(b - USUAL_BITS), b))
    return [row for row in mine if row.bits == bits]


def _page_figures(shown: Sequence[ReportRow]) -> tuple[KeyFigure, ...]:
    first = shown[0]
    what = f"{first.bits} bits, {first.series}"
    found = []
    if first.program_luts is not None:
        found.append(KeyFigure(f"{first.program_luts}", "nodes of three inputs", what))
    row = max(shown, key=lambda row: row.total.rms / row.lsb)
    rms = f"{row.total.rms / row.lsb:.2f} LSB"
    found.append(KeyFigure(rms, f"rms, {row.output.symbol}", "sampled"))
    known = [row for row in shown if row.worst is not None]
    if known:
        row = max(known, key=lambda row: (row.worst or 0.0) / row.lsb)
        worst = (row.worst or 0.0) / row.lsb
        found.append(KeyFigure(f"{worst:.2f} LSB", f"worst found, {row.output.symbol}", "searched"))
    row = max(shown, key=lambda row: row.bound / row.lsb)
    if math.isfinite(row.bound):
        bound = short_above(row.bound / row.lsb, 3)
        found.append(KeyFigure(f"{bound} LSB", f"bound, {row.output.symbol}", "proved"))
    if first.ns_per_sample is not None:
        found.append(KeyFigure(f"{first.ns_per_sample:.3g} ns", "a sample, one core", "measured"))
    return tuple(found)


def _meaning(rows: Sequence[ReportRow], shown: Sequence[ReportRow], asked: Asked) -> Parts:
    """Say in sentences what an engineer would read off the pictures."""
    sentences = [Text(asked.missing)] if asked.missing else []
    for row in shown:
        span = row.output.range.width
        if row.bound_note == NOT_USEFUL:
            text = f"{row.output.symbol} at {row.bits} bits, {row.series}: {NOT_USEFUL}: "
            sentences.append(Text(f"{text}what is proved is wider than the output's word."))
        if math.isfinite(row.bound):
            unit = f" {row.output.unit}" if row.output.unit else ""
            text = (
                f"{row.output.symbol} at {row.bits} bits, {row.series}: no input within its range "
                f"errs by more than {short_above(row.bound, 3)}{unit}, "
                f"{short_above(100 * row.bound / span, 2)} % of the range; typically (rms) by "
                f"{short(row.total.rms, 3)}{unit}."
            )
            sentences.append(Text(text))
    for series, (nodes, errors) in growth([row for row in rows if not row.extra]).items():
        text = (
            f"Each further bit takes {nodes:.2f} times the nodes for {errors:.2f} times the error"
        )
        sentences.append(Text(f"{text} ({series}, a fit)."))
    return tuple(sentences)


def growth(rows: Sequence[ReportRow]) -> dict[str, tuple[float, float]]:
    """Return by what factor nodes and rms errors change with a bit, by series: fits to logarithms.

    Errors are those of the first output.
    """
    points: dict[str, list[tuple[int, int, float]]] = {}
    for row in rows:
        if row.program_luts and row.place == 1 and row.total.rms > 0:
            points.setdefault(row.series, []).append((row.bits, row.program_luts, row.total.rms))
    found = {}
    for series, line in points.items():
        if len(line) > 1:
            bits, nodes, errors = np.array(line).T
            fits = [float(np.exp(np.polyfit(bits, np.log(y), 1)[0])) for y in (nodes, errors)]
            found[series] = (fits[0], fits[1])
    return found
