"""Pages of the stages of paper mode: terms, plan (Fig. 1), truth tables."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.pages import (
    ChartAxis,
    ChartRow,
    Fact,
    KeyFigure,
    Markup,
    Page,
    PageSection,
    Text,
    bars,
    page_text,
    require_charts,
)
from boolcomp.base.results import ResultColumn, Results
from boolcomp.measure.show_page import MOST, Shown, draw
from boolcomp.measure.show_scripts import module
from boolcomp.terms.extrema import amplitude
from boolcomp.twolevel.function import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from boolcomp.base.pages import Chart
    from boolcomp.logic.simulation import TruthTable
    from boolcomp.paper.plan import OutputPlan, Plan
    from boolcomp.paper.tables import TermTable
    from boolcomp.problem.problem import Problem
    from boolcomp.terms.extract import Terms

TERM = (
    ResultColumn("", "term", "name", meaning="name: T13 is the third term of torque 1"),
    ResultColumn("", "expression", str),
    ResultColumn("", "amplitude", lambda term: amplitude(term).value, ".6g",
                 meaning="the largest absolute value found"),
    ResultColumn("", "at most", lambda term: amplitude(term).bound, ".6g",
                 meaning="a proved upper limit of the amplitude"),
    ResultColumn("", "even in",
                 lambda x: ", ".join(v.name for v in x.variables if x.parity(v) > 0) or "–",
                 meaning="variables whose sign has no effect: their sign bit is left out"),
)  # fmt: skip
PLANNED = (
    ResultColumn("", "term", "term.name"),
    ResultColumn("", "expression", lambda one: str(one.term)),
    ResultColumn("", "range", "code.range.high", ".6g",
                 meaning="the range of its word is ± this value"),
    ResultColumn("", "amplitude", "amplitude", ".6g", meaning="the largest absolute value"),
    ResultColumn("", "bits", "code.bits",
                 meaning="bits of its word: a halved range needs one bit less"),
    ResultColumn("", "input bits", "input_bits",
                 meaning="input bits of its table, all words together"),
    ResultColumn("", "words",
                 lambda one: " + ".join(f"{w.inputs} {w.variable.name}" for w in one.words),
                 meaning="bits of each input that the table reads"),
    ResultColumn("", "table bits", lambda one: _table_bits(one.input_bits, one.code.bits),
                 meaning="rows of its truth table times its bits"),
    ResultColumn("", "used", lambda one: float(one.used_states), ".6g",
                 meaning="states of its word that occur, counted as in the paper"),
)  # fmt: skip


def terms_page(terms: Terms, command: str) -> str:
    """Return the page of the terms of every output, with their amplitudes."""
    require_charts()
    problem = terms.problem
    sections = []
    for output, several in zip(problem.outputs, terms.outputs, strict=True):
        if several:
            heights = [(term.name, amplitude(term).value) for term in several]
            chart = _bars(heights, "amplitude", output.unit)
            title = f"{output.symbol}: {counted(len(several), 'term')}"
            sections.append(PageSection(title, (chart, Results(TERM, several).page(title))))
    if not sections:
        sections = [PageSection("Steps", (Markup(f"<pre>{html.escape(str(terms.steps))}</pre>"),))]
    count = sum(map(len, terms.outputs))
    found = (KeyFigure(str(count), "terms", f"form: {terms.form}"),)
    text = Text("Each term is tabulated and minimised separately; integer adders sum the terms.")
    return page_text(
        Page(f"Terms of {problem.name}", _facts(problem, command), found, (text,), tuple(sections))
    )


def plan_page(plan: Plan, command: str) -> str:
    """Return the page of a plan: ranges, widths and guard bits of all terms (Fig. 1)."""
    require_charts()
    problem, options = plan.problem, plan.options
    sections = tuple(_planned(output) for output in plan.outputs)
    terms = list(plan.terms)
    bits = sum(_table_bits(term.input_bits, term.code.bits) for term in terms)
    found = (
        KeyFigure(str(len(terms)), "terms", "after splitting"),
        KeyFigure(f"{bits:.4g}", "table bits", "before minimisation"),
    )
    means = Text(
        f"Words of {options.bits} bits in {options.code} code. A term's range is that of its "
        "output, halved as often as its amplitude allows; each halving saves a bit."
    )
    facts = _facts(problem, command)
    return page_text(Page(f"Plan of {problem.name}", facts, found, (means,), sections))


def tables_page(entries: Sequence[TermTable], problem: Problem, command: str) -> str:
    """Return the page of all distinct truth tables, as maps in Gray order."""
    shown: dict[object, tuple[TermTable, list[str]]] = {}
    for entry in entries:
        shown.setdefault(entry.table, (entry, []))[1].append(entry.plan.term.name)
    maps = [_shown(entry, names) for entry, names in shown.values()]
    body = "".join(draw(k, one, opened=k == 0, live=False) for k, one in enumerate(maps))
    found = (
        KeyFigure(str(len(entries)), "tables"),
        KeyFigure(str(len(maps)), "distinct", "equal tables are minimised once"),
    )
    means = Text("Dark cells of a map are 1. Adjacent cells differ in one input bit (Gray order).")
    sections = (PageSection("Maps", (Markup(body),)),)
    facts = _facts(problem, command)
    title = f"Truth tables of {problem.name}"
    return page_text(Page(title, facts, found, (means,), sections, style=module("show.css")))


def _facts(problem: Problem, command: str) -> tuple[Fact, ...]:
    outputs = ", ".join(f"{one.symbol} in {one.unit}" for one in problem.outputs)
    return (Fact("command", command, copied=True), Fact("of", problem.name),
            Fact("outputs", outputs))  # fmt: skip


def _bars(rows: Sequence[tuple[str, float]], what: str, unit: str) -> Chart:
    axis = ChartAxis("height", f"{what}, {unit}" if unit else what)
    named: list[ChartRow] = [{"term": name, "height": value} for name, value in rows]
    return bars(named, ChartAxis("term", "term", names=True), axis, title=f"{what} of every term")


def _table_bits(inputs: int, outputs: int) -> float:
    return float(outputs) * 2.0**inputs


def _planned(output: OutputPlan) -> PageSection:
    title = (
        f"{output.output.symbol}: {output.guard_bits} guard bits, "
        f"range ±{output.code.range.high:g} {output.output.unit}".rstrip()
    )
    bits = [(one.term.name, _table_bits(one.input_bits, one.code.bits)) for one in output.terms]
    chart = _bars(bits, "table bits", "")
    return PageSection(title, (chart, Results(PLANNED, output.terms).page(title)))


def _shown(entry: TermTable, names: Sequence[str]) -> Shown:
    plan, table = entry.plan, entry.table
    words = [(word.variable.name, word.inputs, 0, word.code.bits, 0) for word in plan.words]
    values = _values(table) if table.inputs <= MOST else None
    same = f"; also {', '.join(names[1:])}" if len(names) > 1 else ""
    note = "" if values is not None else f"A map has at most {MOST} inputs."
    size = f"{counted(table.inputs, 'bit')} in, {table.outputs} out"
    outputs = tuple(f"bit {k}" for k in reversed(range(table.outputs)))
    return Shown(
        f"{names[0]}{same}: {plan.term}", note, entry.input_labels, tuple(words), outputs, values,
        None, size,
    )  # fmt: skip


def _values(table: TruthTable) -> NDArray[np.uint8]:
    """Return 0, 1 or 2 (don't-care) for every output and row."""
    ones = np.array([list(column) for column in table.columns], np.uint8)
    if not table.free:
        return ones
    return np.where(np.array([list(column) for column in table.free], np.bool_), 2, ones)
