"""The pictures of the report's page: errors and costs versus bits, and looks at single programs."""

from __future__ import annotations

import contextlib
import csv
import html
import io
import json
import math
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.base.charts import (
    Axis,
    Beside,
    Chart,
    Choice,
    Column,
    Markup,
    Table,
    Text,
    bars,
    heat,
    histogram,
    lines,
)
from boolcomp.base.errors import DataError, short, short_above, table
from boolcomp.base.files import read_json, write_bytes, write_text
from boolcomp.base.pages import KeyFigure, Page, Section, page_text
from boolcomp.measure.report.chart import draw_errors
from boolcomp.measure.report.rows import Surveyor, documents
from boolcomp.program.program import NOT_USEFUL, WIDE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from boolcomp.base.charts import Cell, ChartRow, Parts
    from boolcomp.base.pages import Fact
    from boolcomp.measure.report.rows import Look, ReportRow, Samples
    from boolcomp.problem.problem import Problem


# --------------------------------------------------------------------------------------------------
# The report as text: a table for people, CSV for spreadsheets.
# --------------------------------------------------------------------------------------------------


HEADER = (
    "bits", "mode", "m", "torque", "LSB", "sampled max", "sampled max/LSB", "worst found/LSB",
    "rms/LSB", "mean/LSB", ">1 LSB", "own rms/LSB", "bound/LSB", "products", "literals",
    "table bits", "nodes", "depth", "compile s", "native s", "ns/sample", "note",
)  # fmt: skip


def header(rows: Sequence[ReportRow]) -> tuple[str, ...]:
    """Return `HEADER`, with outputs where they are no torques."""
    torques = all(row.output.noun == "torque" for row in rows)
    return tuple("output" if name == "torque" and not torques else name for name in HEADER)


def cells(rows: Sequence[ReportRow]) -> list[list[str]]:
    """Return the cells under `header`; `-` where there is nothing."""
    return [
        [
            str(row.bits),
            row.mode,
            "-"
            if row.mode == "compact"
            else f"{row.guard_bits}{f' (+{row.extra})' if row.extra else ''}",
            row.output.symbol,
            short(row.lsb, 4),
            short(row.total.max, 4),
            f"{row.total.max / row.lsb:.2f}",
            "-" if row.worst is None else f"{row.worst / row.lsb:.2f}",
            f"{row.total.rms / row.lsb:.3f}",
            f"{row.total.mean / row.lsb:+.3f}",
            f"{row.total.beyond_lsb:.2%}",
            f"{row.own.rms / row.lsb:.3f}",
            NOT_USEFUL if row.bound_note == NOT_USEFUL else _up_text(row.bound / row.lsb),
            _whole(row.products),
            _whole(row.literals),
            _whole(row.table_bits),
            _whole(row.program_luts),
            _whole(row.depth),
            "-" if row.seconds is None else f"{row.seconds:.2f}",
            "-" if row.native_seconds is None else f"{row.native_seconds:.2f}",
            "-" if row.ns_per_sample is None else f"{row.ns_per_sample:.1f}",
            row.note,
        ]
        for row in rows
    ]


def _up_text(bound: float) -> str:
    """Return a bound, no smaller; `-` where there is none."""
    return f"{math.ceil(100 * bound - 1e-9) / 100:.2f}" if math.isfinite(bound) else "-"


def _whole(value: int | None) -> str:
    return "-" if value is None else str(value)


def text_table(rows: Sequence[ReportRow], samples: int) -> str:
    """Return the table for people, and below it what its errors are."""
    columns = table(header(rows), cells(rows), left=(1, 3, len(HEADER) - 1))
    return f"{columns}\n{footnote(rows, samples)}"


def footnote(rows: Sequence[ReportRow], samples: int) -> str:
    """Say what errors are: sampled, searched, or proved."""
    evaluations = sorted({row.evaluations for row in rows if row.worst is not None})
    searched = f", the worst searched with {' or '.join(map(str, evaluations))} evaluations"
    bounds = "; bounds are proved" if any(math.isfinite(row.bound) for row in rows) else ""
    ratios = [row.over_found for row in rows if row.over_found is not None]
    if max(ratios, default=0.0) >= WIDE:
        bounds += f"; what is proved is up to {short(max(ratios), 2)} times the worst found"
    return (
        f"errors are sampled on {samples} states{searched if evaluations else ''}, not "
        f"proved{bounds}"
    )


def csv_table(rows: Sequence[ReportRow]) -> str:
    """Return the rows as CSV under the keys of the JSON document."""
    items = documents(rows)
    stream = io.StringIO()
    writer = csv.DictWriter(stream, fieldnames=list(items[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(items)
    return stream.getvalue()


# --------------------------------------------------------------------------------------------------
# The tables of the report's page, with what every column says.
# --------------------------------------------------------------------------------------------------


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


# --------------------------------------------------------------------------------------------------
# The pictures of the report's page: errors and costs versus bits, and looks at single programs.
# --------------------------------------------------------------------------------------------------


KIND = Axis("kind", "", names=True)
WORDS = 24  # of a graph that are drawn, those that take most
SPREAD = 1e-6  # of states: rarer errors are no bar


def error_charts(rows: Sequence[ReportRow]) -> tuple[Chart, ...]:
    """Return a chart an output: rms, sampled max, worst found and bound versus bits."""
    charts = []
    for place in sorted({row.place for row in rows}):
        mine = [row for row in rows if row.place == place]
        output = mine[0].output
        points: list[ChartRow] = []
        for row in sorted(mine, key=lambda row: (row.mode != "compact", row.extra, row.bits)):
            kinds = [("rms", row.total.rms), ("sampled max", row.total.max)]
            if row.worst is not None:
                kinds.append(("worst found", row.worst))
            if math.isfinite(row.bound):
                kinds.append(("bound", row.bound))
            points += [
                {"bits": row.bits, "error": rounded(error), "kind": kind, "series": row.series}
                for kind, error in kinds
                if error > 0
            ]
        charts.append(
            lines(
                points, _bits(row.bits for row in mine),
                Axis("error", f"error, {output.unit}".rstrip(", "), log=True),
                colour_by=_series(rows), dash_by=KIND, title=output.title,
                shows=f"Error of {output.symbol}: sampled, searched and proved. A click on the "
                "legend leaves one series or kind.",
            )
        )  # fmt: skip
    return tuple(charts)


def _series(rows: Sequence[ReportRow]) -> Axis:
    """Return what is compared, in the same order and colours in all charts."""
    order = sorted({(row.mode != "compact", row.extra, row.series) for row in rows})
    return Axis("series", "", names=True, order=tuple(name for _, _, name in order))


def _bits(lengths: Iterable[int]) -> Axis:
    """Return the axis of these word lengths."""
    values = sorted(set(lengths))
    return Axis("bits", "bits", values=tuple(values))


def rounded(value: float) -> float:
    """Return a number with the digits that a picture shows."""
    return float(f"{value:.4g}")


def cost_charts(rows: Sequence[ReportRow], looks: Sequence[Look]) -> Parts:
    """Return nodes, tables of six inputs, products and table bits versus bits."""
    nodes: dict[tuple[str, int], int] = {}
    products: dict[tuple[str, int], int] = {}
    bits: dict[tuple[str, int], int] = {}
    for row in rows:
        key = row.series, row.bits
        if row.program_luts is not None:
            nodes[key] = row.program_luts
        if row.products is not None:
            products[key] = products.get(key, 0) + row.products
        if row.table_bits is not None:
            bits[key] = bits.get(key, 0) + row.table_bits
    six = {(look.series, look.bits): look.lut6 for look in looks if look.lut6}
    found = []
    for title, name, counts, shows in (
        ("Nodes", "nodes", nodes, "Nodes of three inputs, of all outputs together."),
        ("Tables of an FPGA", "LUT6", six, "Look-up tables of six inputs."),
        ("Product terms", "products", products, "AND terms of the paper's covers."),
        ("Table bits", "bits of tables", bits, "What memories for the paper's tables would hold."),
    ):
        if counts:
            found.append(
                lines(
                    [{"series": s, "bits": b, "count": n} for (s, b), n in counts.items()],
                    _bits(b for _, b in counts), Axis("count", name, log=True, form=",d"),
                    colour_by=_series(rows), title=title, shows=shows,
                )
            )  # fmt: skip
    if not found:
        return (Text("No logic was made (--no-logic)."),)
    return (Beside(tuple(found)),)


def look_choice(pictured: Pictured, chosen: tuple[str, int]) -> Choice:
    """Return the looks by series and word length, those of the head chosen, which stand still."""
    found = []
    for series in dict.fromkeys(look.series for look in pictured.looks):
        options = [
            (str(look.bits), _look(look, pictured, still=(series, look.bits) == chosen))
            for look in pictured.looks
            if look.series == series
        ]
        found.append((series, (Choice("bits", options, str(chosen[1])),)))
    return Choice("how", found, chosen[0])


def _look(look: Look, pictured: Pictured, *, still: bool) -> Parts:
    charts: list[Chart] = []
    surveyor = pictured.surveyor
    for place, output in enumerate(surveyor.samples.problem.outputs):
        name = f"{output.symbol}, {look.series}"
        charts += [
            _histogram(look, place, name),
            _map(look, place, name, pictured),
            _walk(look, place, name, pictured, output.unit),
        ]
    if look.words:
        charts.append(_nodes(look))
    return (Beside(tuple(chart if still else chart.moving() for chart in charts)),)


def _histogram(look: Look, place: int, name: str) -> Chart:
    edges = [rounded(edge) for edge in look.edges]
    rows: list[ChartRow] = [
        {"from": low, "to": high, "share": rounded(100 * share)}
        for low, high, share in zip(edges, edges[1:], look.shares[place], strict=False)
        if share > SPREAD
    ]
    return histogram(
        rows, Axis("from", "error, LSB"), "to", Axis("share", "% of states", form=".3~g"),
        title=f"How often: {name}", shows="Share of random states by their error.",
    )  # fmt: skip


def _map(look: Look, place: int, name: str, pictured: Pictured) -> Chart:
    surveyor = pictured.surveyor
    across, down = surveyor.across or ("", "")
    x, y = surveyor.middles(across), surveyor.middles(down)
    cell = (float(x[1] - x[0]), float(y[1] - y[0]))
    values = look.maps[place]
    rows: list[ChartRow] = [
        {"x": rounded(x[i]), "y": rounded(y[k]), "e": round(float(values[i, k]), 3)}
        for i in range(len(x))
        for k in range(len(y))
        if not math.isnan(values[i, k])
    ]
    units = {one.name: one.unit for one in surveyor.samples.problem.inputs}
    return heat(
        rows, Axis("x", f"{across}, {units[across]}"), Axis("y", f"{down}, {units[down]}"),
        Axis("e", "rms error, LSB", form=".3f"), cell=cell, title=f"Where: {name}",
        shows=f"Rms error of random states over {across} and {down}.",
    )  # fmt: skip


def _walk(look: Look, place: int, name: str, pictured: Pictured, unit: str) -> Chart:
    exact = pictured.surveyor.exact[:, place]
    rows: list[ChartRow] = [
        {"k": k, "v": rounded(value), "of": kind}
        for kind, values in (("exact", exact), ("logic", look.walked[:, place]))
        for k, value in enumerate(values)
    ]
    return lines(
        rows, Axis("k", "step of the walk"), Axis("v", unit),
        colour_by=Axis("of", "", names=True), dash_by=Axis("of", "", names=True), points=False,
        title=f"Along a walk: {name}", shows="Every input swings through its range.",
    )  # fmt: skip


def _nodes(look: Look) -> Chart:
    words = sorted(look.words, key=lambda word: -word.nodes)[:WORDS]
    rows: list[ChartRow] = [
        {"word": word.name, "kind": kind, "nodes": count, "bits": word.bits}
        for word in words
        for kind, count in (
            ("tables", word.tables), ("products", word.products), ("sums", word.sums),
        )
        if count
    ]  # fmt: skip
    made = sum(word.nodes for word in look.words)
    after = f"; passes over the whole network leave {look.nodes}" if look.nodes else ""
    return bars(
        rows, Axis("word", "word", names=True), Axis("nodes", "nodes", form="d"), colour_by=KIND,
        hover=(Axis("bits", "bits", form="d"),), title=f"Where the nodes go: {look.series}",
        shows=f"By word, as made by rule: {made} in all{after}.",
    )  # fmt: skip


# --------------------------------------------------------------------------------------------------
# The report as one page: what was asked, what came out, what it means; pictures, tables.
# --------------------------------------------------------------------------------------------------


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


# --------------------------------------------------------------------------------------------------
# What others measured, shown in the report: files of `bench`, `area`, benchmarks/codes.py.
#
# A file is told by its keys; what it holds is drawn as it is, and nothing is measured again.
# --------------------------------------------------------------------------------------------------


MOST_BARS = 24
KINDS = "files of `bench -o` (bench.json), `area --json` and `benchmarks/codes.py --json`"


def read_beside(paths: Sequence[Path]) -> list[Section]:
    """Return a section for every file."""
    return [_section(path) for path in paths]


def _section(path: Path) -> Section:
    document = read_json(path)
    try:
        for keys, make in WAYS:
            found = document if isinstance(document, list) else document.get("rows")
            if isinstance(found, list) and found and keys <= set(found[0]):
                return make(document, found)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DataError(f"{path}: not what it looks like: {error!r}") from error
    raise DataError(f"{path}: none of {KINDS}")


def _bench(document: Any, rows: list[Any]) -> Section:
    """Return ns a sample of every rival with one core, and the rms error beside it."""
    timed = [row for row in rows if row["cores"] == 1 and row["ns_per_sample"] is not None]
    batches = [row["batch"] for row in timed]
    batch = max(sorted(set(batches)), key=batches.count)
    mine = sorted((row for row in timed if row["batch"] == batch), key=_nanoseconds)
    drawn: list[ChartRow] = [
        {
            "rival": f"{row['rival']}, {row['kind']}", "ns": row["ns_per_sample"],
            "what": "logic" if row["logic"] else "arithmetic", "rms": row["rms_error"],
        }
        for row in mine[:MOST_BARS]
    ]  # fmt: skip
    chart = bars(
        drawn, Axis("rival", "rival", names=True), Axis("ns", "ns a sample", form=".3g"),
        colour_by=Axis("what", "", names=True), hover=(Axis("rms", "rms error, LSB"),),
        title=f"Nanoseconds a sample, batches of {batch}, one core",
        shows=f"On {document['machine']['processor']}; outputs were checked.",
    )  # fmt: skip
    columns = (
        Column("rival"), Column("type", "of samples, in and out"),
        Column("ns a sample", "the least of the rounds", ".3g", "ns_per_sample"),
        Column("ratio", "times as long as the logic took", ".2f"),
        Column("rms, LSB", "against exact values, worst output", ".3g", "rms_error"),
        Column("wrong", "whether results are not what they promise"),
    )  # fmt: skip
    cells = [
        [r["rival"], r["kind"], r["ns_per_sample"], r["ratio"], r["rms_error"],
         "WRONG" if r["wrong"] else ""]
        for r in mine
    ]  # fmt: skip
    title = f"Beside rivals: {document['program']}, {document['bits']} bits"
    return Section(title, (chart, Table(columns, cells)))


def _nanoseconds(row: Any) -> float:
    return float(row["ns_per_sample"])


def _area(document: Any, rows: list[Any]) -> Section:
    """Return what designs take of FPGAs."""
    names = ("target", "design", "luts", "carries", "dsp", "bram", "ff", "levels", "fmax_mhz")
    meanings = (
        "which FPGA", "gates, mapped tables or words", "look-up tables", "carries",
        "multiplier blocks", "memory blocks", "flip-flops", "tables from register to register",
        "estimated clock",
    )  # fmt: skip
    columns = [Column(name, said) for name, said in zip(names, meanings, strict=True)]
    drawn: list[ChartRow] = [
        {"design": f"{row['target']}, {row['design']}", "luts": row["luts"]} for row in rows
    ]
    chart = bars(
        drawn, Axis("design", "design", names=True), Axis("luts", "look-up tables", form=",d"),
        title="Look-up tables by target",
    )  # fmt: skip
    del document
    table = Table(columns, [[row[name] for name in names] for row in rows])
    note = Text("Clocks are estimates of place and route.", kind="note")
    return Section("What it takes of FPGAs", (chart, table, note))


def _codes(document: Any, rows: list[Any]) -> Section:
    """Return product terms by code of outputs, sums over the terms that all codes have."""
    known = {"term", "bits", "code", "inputs"}
    codes = [name for name in rows[0] if name not in known]
    totals: list[ChartRow] = [
        {
            "output": code, "input": f"inputs in {kind} code",
            "products": sum(row[code] for row in rows if row["code"] == kind),
        }
        for code in codes
        for kind in dict.fromkeys(row["code"] for row in rows)
    ]  # fmt: skip
    chart = bars(
        totals, Axis("output", "code of outputs", names=True),
        Axis("products", "product terms", form=",d"),
        colour_by=Axis("input", "", names=True), title="Product terms by code",
        shows="Sums over the terms and word lengths that were minimised.",
    )  # fmt: skip
    columns = [Column(name) for name in ("term", "bits", "code", "inputs", *codes)]
    table = Table(columns, [[row[column.name] for column in columns] for row in rows])
    del document
    return Section("Which code is best", (chart, table))


WAYS: tuple[tuple[set[str], Callable[[Any, list[Any]], Section]], ...] = (
    ({"rival", "ns_per_sample", "cores", "batch"}, _bench),
    ({"target", "design", "luts"}, _area),
    ({"term", "code", "inputs"}, _codes),
)


# --------------------------------------------------------------------------------------------------
# What a report has found so far, and what was asked: the page of it can be written at any time.
# --------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Pictured:
    """Rows and looks in the order in which they came; `heard` is told of every new one."""

    surveyor: Surveyor
    heard: Callable[[], None] = lambda: None
    rows: list[ReportRow] = field(default_factory=list)
    looks: list[Look] = field(default_factory=list)

    def add(self, rows: Sequence[ReportRow], *looks: Look) -> None:
        """Take what one compilation or plan gave."""
        self.rows += rows
        self.looks += looks
        if rows:
            self.heard()


@dataclass(frozen=True, slots=True)
class Asked:
    """What a page says first: of what, the facts, how many states were drawn; what is not done."""

    name: str
    facts: tuple[Fact, ...]
    samples: int
    seed: int
    missing: str = ""


# --------------------------------------------------------------------------------------------------
# The files of a report, written while it is made: what Ctrl-C leaves is a report of what is done.
#
# Files are written when the first word length is done, then whenever that takes no more than a
# small part of the time, and in the end. Each is written whole or not at all.
# --------------------------------------------------------------------------------------------------


RARELY = 8.0  # times as long as writing took, before it is done again


class Written:
    """A folder that holds the report of what is done."""

    def __init__(self, folder: Path, asked: Asked, beside: Sequence[Section] = ()) -> None:
        self.folder, self.asked, self.beside = folder, asked, beside
        self.rows: list[ReportRow] = []

    @contextlib.contextmanager
    def of(self, samples: Samples, across: str | None, bits: Sequence[int]) -> Iterator[Pictured]:
        """Provide what takes rows; files are written as they come, and once more in the end."""
        pictured = Pictured(Surveyor(samples, across))
        next_time = 0.0

        def heard() -> None:
            nonlocal next_time
            start = time.monotonic()
            if start >= next_time:
                self._write(pictured, bits)
                next_time = time.monotonic() + RARELY * (time.monotonic() - start)

        pictured.heard = heard
        self.rows = pictured.rows
        try:
            yield pictured
        except KeyboardInterrupt:
            # Its time is short: what does not come to its end leaves the page that is there.
            if pictured.rows:
                self._page(pictured, bits)
            raise
        if pictured.rows:
            self._write(pictured, ())

    def _write(self, pictured: Pictured, bits: Sequence[int]) -> None:
        """Write all files; of `bits` it is not known whether they are done."""
        rows, folder = pictured.rows, self.folder
        self._page(pictured, bits)
        write_bytes(folder / "errors.svg", draw_errors(rows, "svg"))
        if not bits:
            write_bytes(folder / "errors.png", draw_errors(rows, "png"))
        write_text(folder / "report.txt", text_table(rows, self.asked.samples) + "\n")
        write_text(folder / "report.csv", csv_table(rows))
        write_text(folder / "report.json", json.dumps({"rows": documents(rows)}, indent=2) + "\n")

    def _page(self, pictured: Pictured, bits: Sequence[int]) -> None:
        asked = self.asked
        if bits:
            done = {row.bits for row in pictured.rows}
            left = ", ".join(str(b) for b in bits if b not in done)
            missing = "This report was interrupted, or is still being made."
            asked = replace(
                asked, missing=f"{missing} Not begun: {left} bits." if left else missing
            )
        page = report_page(asked, pictured, self.beside)
        write_text(self.folder / "report.html", page)
