"""A report as text, CSV and page, and the files of a report folder."""

from __future__ import annotations

import contextlib
import html
import json
import math
import platform
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.base import VERSION
from boolcomp.base.errors import DataError, require_name, short, short_above
from boolcomp.base.files import read_json, write_bytes, write_output
from boolcomp.base.pages import (
    Alternatives,
    Beside,
    Chart,
    ChartAxis,
    Column,
    Fact,
    KeyFigure,
    Markup,
    Page,
    PageSection,
    Table,
    Text,
    bars,
    heat,
    histogram,
    lines,
    page_text,
    picture,
)
from boolcomp.base.results import ResultColumn, Results
from boolcomp.measure.fpga import COLUMNS as AREA
from boolcomp.measure.report import COLUMNS, Pictured, Surveyor, documents, rounded_up
from boolcomp.program.program import NOT_USEFUL, WIDE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from boolcomp.base.pages import Cell, ChartRow, Parts
    from boolcomp.measure.report import Look, ReportRow, Samples
    from boolcomp.problem.problem import Problem


# --------------------------------------------------------------------------------------------------
# The columns of the report in tables, and its text table.
# --------------------------------------------------------------------------------------------------


HEADER = (
    "bits", "mode", "m", "torque", "LSB", "sampled max", "sampled max/LSB", "worst found/LSB",
    "rms/LSB", "mean/LSB", ">1 LSB", "own rms/LSB", "bound/LSB", "products", "literals",
    "table bits", "nodes", "depth", "compile s", "native s", "ns/sample", "note",
)  # fmt: skip


def columns(rows: Sequence[ReportRow]) -> list[ResultColumn]:
    """Return the columns of tables, with `output` in place of `torque` for other outputs."""
    known = {one.header: one for one in COLUMNS}
    if not all(row.output.noun == "torque" for row in rows):
        known["torque"] = known["torque"]._replace(header="output")
    return [known[name] for name in HEADER]


BRIEF = (  # of the table that the command prints, and notebooks
    "bits, mode, m, torque, output, LUT3=nodes, depth, rms=rms/LSB, found=worst found/LSB, "
    "proved=bound/LSB, LSB"
)


def text_table(rows: Sequence[ReportRow], samples: int, *, brief: bool = False) -> str:
    """Return the text table with its footnote."""

    def bound(row: ReportRow) -> str | None:
        known = rounded_up(row.bound / row.lsb)
        if row.bound_note == NOT_USEFUL:
            return NOT_USEFUL
        return None if known is None else f"{known:.2f}"

    shown = [
        one._replace(value=bound, text="") if one.key == "bound_lsb" else one
        for one in columns(rows)
    ]
    results = Results(shown, rows, "-")
    if not brief:
        return f"{results.text()}\n{footnote(rows, samples)}"
    notes = dict.fromkeys(f"{row.bits} bits, {row.mode}: {row.note}" for row in rows if row.note)
    lines = (results.brief(BRIEF).text(), *notes, footnote(rows, samples, brief=True))
    return "\n".join(["errors in LSB of each torque or output", *lines])


def footnote(rows: Sequence[ReportRow], samples: int, *, brief: bool = False) -> str:
    """Return a line that tells which errors are sampled, searched and proved."""
    evaluations = sorted({row.evaluations for row in rows if row.worst is not None})
    sampled, found, proved = ("rms", "found", "proved") if brief else (
        "rms, mean and sampled max", "worst found", "bound: proved")  # fmt: skip
    text = f"{sampled}: {samples} random states"
    if evaluations:
        counts = " or ".join(map(str, evaluations))
        text += f"; {found}: search with {counts} evaluations (not proved)"
    if any(math.isfinite(row.bound) for row in rows):
        text += f"; {proved}{': for all states' * brief}"
    ratios = [row.over_found for row in rows if row.over_found is not None]
    if max(ratios, default=0.0) >= WIDE:
        text += f"; proved bounds are up to {short(max(ratios), 2)} times the largest error found"
    return text


# --------------------------------------------------------------------------------------------------
# The tables of the report's page, with the meanings of their columns.
# --------------------------------------------------------------------------------------------------


def proofs_table(rows: Sequence[ReportRow], looks: Sequence[Look]) -> Table:
    """Return the table of errors: sampled, searched, proved."""
    grades = {
        (look.bits, look.series, k): grade
        for look in looks
        for k, grade in enumerate(look.grades, 1)
    }
    columns = (
        Column("bits", "word length"),
        Column("series", "mode and guard bits"),
        Column("output", "symbol of the output"),
        Column("rms, LSB", "sampled on random states", ".3f", "rms_error_lsb"),
        Column("sampled max, LSB", "the largest of random states", ".2f", "sampled_max_lsb"),
        Column("worst found, LSB", "largest error found by search", ".2f", "worst_found_lsb"),
        Column("bound, LSB", "proved for all inputs within their ranges", ".2f", "bound_lsb"),
        Column(
            "bound / found", "1: the bound is reached; above: it may be loose", ".2f", "tightness"
        ),
        Column("grade", "tightness of the proof: plain, tables, tight"),
    )
    cells: list[list[Cell]] = []
    for row in rows:
        bound = rounded_up(row.bound / row.lsb)
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
    """Return tables of the inputs and outputs of a problem, and its source text."""
    inputs = Table(
        (
            Column("input", "name"), Column("range", "range of the random states"),
            Column("unit"), Column("word spans", "range of its word"),
        ),
        [[one.name, str(one.range), one.unit, str(one.word)] for one in problem.inputs],
        "Inputs",
    )  # fmt: skip
    outputs = Table(
        (
            Column("output", "symbol"), Column("what it is"),
            Column("range", "range of its word"), Column("unit"),
        ),
        [[one.symbol, one.title, str(one.range), one.unit] for one in problem.outputs],
        "Outputs",
    )  # fmt: skip
    text = html.escape(problem.key)
    key = Markup(
        '<details><summary>Source text</summary><div class="scrolls" '
        f'tabindex="0" role="group" aria-label="source text"><pre>{text}</pre></div></details>'
    )
    return inputs, outputs, key


# --------------------------------------------------------------------------------------------------
# The charts of the report's page: errors and costs versus bits, and looks of single programs.
# --------------------------------------------------------------------------------------------------


KIND = ChartAxis("kind", "", names=True)
LSB = "1 LSB"
NODES = "Nodes"
WORDS = 24  # number of words that are drawn, those with most nodes
SPREAD = 1e-6  # share of states: smaller shares have no bar


def error_charts(rows: Sequence[ReportRow]) -> tuple[Chart, ...]:
    """Return a chart per output: rms, sampled, found and proved errors, and LSB versus bits."""
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
        points += [
            {"bits": bits, "error": rounded(lsb), "kind": LSB, "series": LSB}
            for bits, lsb in sorted({row.bits: row.lsb for row in mine}.items())
        ]
        charts.append(
            lines(
                points, _bits(row.bits for row in mine),
                ChartAxis("error", f"error, {output.unit}".rstrip(", "), log=True),
                colour_by=_series(rows), dash_by=KIND, title=output.title,
                shows=f"Error of {output.symbol}: sampled, searched and proved. Click on the "
                "legend to show only one series or kind.",
            )
        )  # fmt: skip
    return tuple(charts)


def _series(rows: Sequence[ReportRow]) -> ChartAxis:
    """Return the axis of series, with the same order and colours in all charts."""
    order = sorted({(row.mode != "compact", row.extra, row.series) for row in rows})
    return ChartAxis(
        "series", "", names=True, order=tuple(name for _, _, name in order), levels=(LSB,)
    )


def _bits(lengths: Iterable[int]) -> ChartAxis:
    """Return the axis of these word lengths."""
    values = sorted(set(lengths))
    return ChartAxis("bits", "bits", values=tuple(values))


def rounded(value: float) -> float:
    return float(f"{value:.4g}")


def draw_errors(rows: Sequence[ReportRow], kind: str) -> bytes:
    """Return a picture (`svg` or `png`): errors of every output, and nodes, versus bits."""
    nodes = [one for one in cost_charts(rows, ()) if one.title == NODES]
    return picture([*error_charts(rows), *nodes], kind)


def cost_charts(rows: Sequence[ReportRow], looks: Sequence[Look]) -> tuple[Chart, ...]:
    """Return charts of nodes, LUT6, products and table bits versus bits."""
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
        (NODES, "nodes", nodes, "LUT3 nodes of all outputs together."),
        ("Tables of an FPGA", "LUT6", six, "Look-up tables of six inputs."),
        ("Product terms", "products", products, "AND terms of the covers of paper mode."),
        ("Table bits", "bits of tables", bits, "Size of memories for the tables of paper mode."),
    ):
        if counts:
            found.append(
                lines(
                    [{"series": s, "bits": b, "count": n} for (s, b), n in counts.items()],
                    _bits(b for _, b in counts), ChartAxis("count", name, log=True, form=",d"),
                    colour_by=_series(rows), title=title, shows=shows,
                )
            )  # fmt: skip
    return tuple(found)


def look_choice(pictured: Pictured, chosen: tuple[str, int]) -> Alternatives:
    """Return the looks by series and word length; the chosen one is not animated."""
    found = []
    for series in dict.fromkeys(look.series for look in pictured.looks):
        options = [
            (str(look.bits), _look(look, pictured, still=(series, look.bits) == chosen))
            for look in pictured.looks
            if look.series == series
        ]
        found.append((series, (Alternatives("bits", options, str(chosen[1])),)))
    return Alternatives("how", found, chosen[0])


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
        rows, ChartAxis("from", "error, LSB"), "to", ChartAxis("share", "% of states", form=".3~g"),
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
        rows,
        ChartAxis("x", f"{across}, {units[across]}"),
        ChartAxis("y", f"{down}, {units[down]}"),
        ChartAxis("e", "rms error, LSB", form=".3f"),
        cell=cell,
        title=f"Where: {name}",
        shows=f"rms error of random states over {across} and {down}.",
    )


def _walk(look: Look, place: int, name: str, pictured: Pictured, unit: str) -> Chart:
    exact = pictured.surveyor.exact[:, place]
    rows: list[ChartRow] = [
        {"k": k, "v": rounded(value), "of": kind}
        for kind, values in (("exact", exact), ("logic", look.walked[:, place]))
        for k, value in enumerate(values)
    ]
    return lines(
        rows,
        ChartAxis("k", "step of the walk"),
        ChartAxis("v", unit),
        colour_by=ChartAxis("of", "", names=True),
        dash_by=ChartAxis("of", "", names=True),
        points=False,
        title=f"Along a walk: {name}",
        shows="Every input oscillates through its range.",
    )


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
    after = f"; {look.nodes} after optimisation of the whole network" if look.nodes else ""
    return bars(
        rows,
        ChartAxis("word", "word", names=True),
        ChartAxis("nodes", "nodes", form="d"),
        colour_by=KIND,
        hover=(ChartAxis("bits", "bits", form="d"),),
        title=f"Where the nodes go: {look.series}",
        shows=f"Nodes by word before optimisation: {made} in all{after}.",
    )


# --------------------------------------------------------------------------------------------------
# The report as a page: request, results, explanations; charts, tables.
# --------------------------------------------------------------------------------------------------


USUAL_BITS = 8
NO_LOGIC = Text("No logic was compiled (--no-logic).")
PROOFS = (
    "The bound is proved from the tables or words of the logic and their meanings, for all inputs "
    "within their ranges. Its tightness is plain, tables or tight (--proof). compile --certify "
    "saves the proof as a certificate, which `python -m boolcomp.checker` checks without the "
    "compiler. Worst found is the largest error found by a search, a lower limit of the true "
    "maximum. rms and sampled max are measured on random states."
)
MAPS = (
    "Errors in steps (LSB) at the random states: their histogram, and their rms in every cell of "
    "the two inputs along which errors vary most (--map selects others). Along the walk every "
    "input oscillates through its range."
)


def report_page(facts: PageFacts, pictured: Pictured, beside: Sequence[PageSection] = ()) -> str:
    """Return the page of a report."""
    rows = pictured.rows
    shown, problem = shown_rows(rows), pictured.surveyor.samples.problem
    costs = cost_charts(rows, pictured.looks)
    sections = [
        PageSection("Errors versus bits", (Beside(error_charts(rows)),)),
        PageSection("Size of the logic", (Beside(costs) if costs else NO_LOGIC,)),
    ]
    if pictured.looks:
        parts: Parts = (
            Text(MAPS, kind="note"),
            look_choice(pictured, (shown[0].series, shown[0].bits)),
        )
        sections.append(PageSection("Distribution of errors and nodes", parts))
    sections += [
        PageSection("Proved bounds", (Text(PROOFS), proofs_table(rows, pictured.looks))),
        *beside,
        PageSection(
            "All figures",
            (Results(columns(rows), rows).page(), Text(footnote(rows, facts.samples))),
        ),
        PageSection("Inputs and outputs", words_tables(problem), opened=False),
    ]
    page = Page(
        f"{facts.name}: errors and size of the logic",
        asked=facts.facts,
        found=_page_figures(shown),
        meaning=_meaning(rows, shown, facts),
        sections=tuple(sections),
    )
    return page_text(page)


def shown_rows(rows: Sequence[ReportRow]) -> list[ReportRow]:
    """Return the rows for the head of the report: compact if present, nearest to 8 bits."""
    mode = "compact" if any(row.mode == "compact" for row in rows) else "paper"
    mine = [row for row in rows if row.mode == mode and not row.extra]
    bits = min({row.bits for row in mine}, key=lambda b: (abs(b - USUAL_BITS), b))
    return [row for row in mine if row.bits == bits]


def _page_figures(shown: Sequence[ReportRow]) -> tuple[KeyFigure, ...]:
    first = shown[0]
    what = f"{first.bits} bits, {first.series}"
    found = []
    if first.program_luts is not None:
        found.append(KeyFigure(f"{first.program_luts}", "LUT3 nodes", what))
    row = max(shown, key=lambda row: row.total.rms / row.lsb)
    rms = f"{row.total.rms / row.lsb:.2f} LSB"
    found.append(KeyFigure(rms, f"rms, {row.output.symbol}", "sampled"))
    known = [row for row in shown if row.worst is not None]
    if known:
        row = max(known, key=lambda row: (row.worst or 0.0) / row.lsb)
        worst = (row.worst or 0.0) / row.lsb
        found.append(
            KeyFigure(f"{worst:.2f} LSB", f"largest error found, {row.output.symbol}", "searched")
        )
    row = max(shown, key=lambda row: row.bound / row.lsb)
    if math.isfinite(row.bound):
        bound = short_above(row.bound / row.lsb, 3)
        found.append(KeyFigure(f"{bound} LSB", f"bound, {row.output.symbol}", "proved"))
    if first.ns_per_sample is not None:
        found.append(KeyFigure(f"{first.ns_per_sample:.3g} ns", "per sample, one core", "measured"))
    return tuple(found)


def _meaning(rows: Sequence[ReportRow], shown: Sequence[ReportRow], facts: PageFacts) -> Parts:
    """Return sentences that summarise the charts."""
    sentences = [Text(facts.missing)] if facts.missing else []
    for row in shown:
        span = row.output.range.width
        if row.bound_note == NOT_USEFUL:
            text = f"{row.output.symbol} at {row.bits} bits, {row.series}: {NOT_USEFUL}: "
            sentences.append(Text(f"{text}the proved bound exceeds the range of the word."))
        if math.isfinite(row.bound):
            unit = f" {row.output.unit}" if row.output.unit else ""
            text = (
                f"{row.output.symbol} at {row.bits} bits, {row.series}: the error is at most "
                f"{short_above(row.bound, 3)}{unit} for all inputs within their ranges, "
                f"{short_above(100 * row.bound / span, 2)} % of the output's range; the rms error "
                f"is {short(row.total.rms, 3)}{unit}."
            )
            sentences.append(Text(text))
    for series, (nodes, errors) in growth([row for row in rows if not row.extra]).items():
        text = (
            f"Each additional bit multiplies the nodes by {nodes:.2f} and the error by {errors:.2f}"
        )
        sentences.append(Text(f"{text} ({series}, fitted)."))
    return tuple(sentences)


def growth(rows: Sequence[ReportRow]) -> dict[str, tuple[float, float]]:
    """Return the factors of nodes and rms errors per bit, by series, fitted to logarithms.

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
# External results in the report: files of `bench`, `area`, benchmarks/codes.py.
#
# The kind of a file is determined by its keys. Its figures are drawn without new measurements.
# --------------------------------------------------------------------------------------------------


IN_CACHE = 4096  # samples a batch
MOST_LINES = 8  # rivals over batch sizes, with all logic
TYPES = ("int8", "int16", "float32", "float64")
KINDS = "files of `bench -o` (bench.json), `area --json` and `benchmarks/codes.py --json`"


def read_beside(paths: Sequence[Path]) -> list[PageSection]:
    return [_section(path) for path in paths]


def _section(path: Path) -> PageSection:
    document = read_json(path)
    try:
        for keys, make in WAYS:
            found = document if isinstance(document, list) else document.get("rows")
            if isinstance(found, list) and found and keys <= set(found[0]):
                return make(document, found)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DataError(f"a key is missing or has a wrong value: {error!r}", where=path) from error
    raise DataError("unknown kind of file", f"kinds are {KINDS}", where=path)


def draw_bench(document: Any, kind: str) -> bytes:
    """Return a bench (`bench.json`) as a picture: bars for one case, lines over batch sizes."""
    title = (
        f"{document['robot']}, {document['bits']} bits, {document['mode']} mode: "
        f"{document['nodes']} nodes; {document['machine']['processor']}"
    )
    return picture(bench_charts(document, _timed(document["rows"])), kind, title)


def bench_charts(document: Any, rows: list[Any]) -> tuple[Chart, ...]:
    """Return charts of ns per sample of every rival in one case, and over batch sizes."""
    batch, mine = _case(rows)
    drawn: list[ChartRow] = [
        {
            "rival": f"{row['rival']}, {row['kind']}", "ns": row["ns_per_sample"],
            "what": "logic" if row["logic"] else "arithmetic", "rms": row["rms_error"],
            "label": "WRONG" if row["wrong"] else f"{row['ns_per_sample']:.3g}"
            + ("" if row["rms_error"] is None else f" (rms {row['rms_error']:.2g})"),
        }
        for row in mine
    ]  # fmt: skip
    chart = bars(
        drawn, ChartAxis("rival", "rival", names=True),
        ChartAxis("ns", "ns per sample, all torques (error: rms in LSB)", log=True, form=".3g"),
        colour_by=ChartAxis("what", "", names=True), hover=(ChartAxis("rms", "rms error, LSB"),),
        label="label", title=f"Nanoseconds per sample, batches of {batch}, {_cores(rows)}",
        shows=f"On {document['machine']['processor']}; outputs were checked.",
    )  # fmt: skip
    sizes = {row["batch"] for row in rows}
    return (chart, _over_batches(rows)) if len(sizes) > 1 else (chart,)


def _timed(rows: list[Any]) -> list[Any]:
    """Return the timed rows with the fewest cores."""
    found = [row for row in rows if row["ns_per_sample"] is not None]
    return [row for row in found if row["cores"] == min(one["cores"] for one in found)]


def _cores(rows: list[Any]) -> str:
    return "one core" if rows[0]["cores"] == 1 else f"{rows[0]['cores']} cores"


def _case(rows: list[Any]) -> tuple[int, list[Any]]:
    """Return the batch size of most rivals, nearest to `IN_CACHE` on a tie, and its rows."""
    batches = [row["batch"] for row in rows]
    batch = min(set(batches), key=lambda b: (-batches.count(b), abs(b - IN_CACHE)))
    return batch, sorted((row for row in rows if row["batch"] == batch), key=_nanoseconds)


def _over_batches(rows: list[Any]) -> Chart:
    """Return the fastest rivals and all logic over batch sizes, each in its narrowest type."""
    fastest = list(dict.fromkeys(row["rival"] for row in sorted(rows, key=_nanoseconds)))
    families: dict[str, str] = {}  # the faster of two compilers of the same source
    for name in fastest:
        families.setdefault(name.split(" (")[0], name)
    shown = [*list(families.values())[:MOST_LINES], *(r["rival"] for r in rows if r["logic"])]
    drawn: list[ChartRow] = []
    for name in dict.fromkeys(shown):
        own = [row for row in rows if row["rival"] == name]
        kind = min((row["kind"] for row in own), key=TYPES.index)
        drawn += [
            {"batch": row["batch"], "ns": row["ns_per_sample"], "rival": f"{name}, {kind}"}
            for row in sorted(own, key=lambda row: row["batch"])
            if row["kind"] == kind
        ]
    return lines(
        drawn, ChartAxis("batch", "samples per batch", log=True),
        ChartAxis("ns", "ns per sample, all torques", log=True, form=".3g"),
        colour_by=ChartAxis("rival", "", names=True), title=f"Over batch sizes, {_cores(rows)}",
    )  # fmt: skip


def _bench(document: Any, rows: list[Any]) -> PageSection:
    """Return the section of a bench: ns per sample and rms error of every rival."""
    timed = _timed(rows)
    mine = _case(timed)[1]
    columns = (
        ResultColumn("", "rival", "rival"),
        ResultColumn("", "type", "kind", meaning="type of inputs and outputs"),
        ResultColumn("ns_per_sample", "ns per sample", text=".3g", meaning="minimum of the rounds"),
        ResultColumn("", "ratio", "ratio", ".2f", meaning="time divided by that of the logic"),
        ResultColumn("rms_error", "rms", text=".3g", unit="LSB",
                     meaning="relative to exact values, worst output"),
        ResultColumn("", "wrong", lambda row: "WRONG" if row["wrong"] else "",
                     meaning="whether errors exceed their limits"),
    )  # fmt: skip
    title = f"Comparison with rivals: {document['program']}, {document['bits']} bits"
    return PageSection(title, (*bench_charts(document, timed), Results(columns, mine).page()))


def _nanoseconds(row: Any) -> float:
    return float(row["ns_per_sample"])


def _area(document: Any, rows: list[Any]) -> PageSection:
    """Return the section of an area file: FPGA cells of designs."""
    columns = [
        ResultColumn("", one.key, one.key, meaning=one.meaning) for one in AREA if one.meaning
    ]
    drawn: list[ChartRow] = [
        {"design": f"{row['target']}, {row['design']}", "luts": row["luts"]} for row in rows
    ]
    chart = bars(
        drawn,
        ChartAxis("design", "design", names=True),
        ChartAxis("luts", "look-up tables", form=",d"),
        title="Look-up tables by target",
    )
    del document
    note = Text("Clocks are estimates of place and route.", kind="note")
    return PageSection("FPGA cells", (chart, Results(columns, rows).page(), note))


def _codes(document: Any, rows: list[Any]) -> PageSection:
    """Return the section of codes: product terms by code of outputs, summed over terms."""
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
        totals, ChartAxis("output", "code of outputs", names=True),
        ChartAxis("products", "product terms", form=",d"),
        colour_by=ChartAxis("input", "", names=True), title="Product terms by code",
        shows="Sums over the terms and word lengths that were minimised.",
    )  # fmt: skip
    names = ("term", "bits", "code", "inputs", *codes)
    columns = [ResultColumn("", name, name) for name in names]
    del document
    return PageSection("Codes of words", (chart, Results(columns, rows).page()))


WAYS: tuple[tuple[set[str], Callable[[Any, list[Any]], PageSection]], ...] = (
    ({"rival", "ns_per_sample", "cores", "batch"}, _bench),
    ({"target", "design", "luts"}, _area),
    ({"term", "code", "inputs"}, _codes),
)


# --------------------------------------------------------------------------------------------------
# The results of a report so far, and its facts; the page can be written at any time.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PageFacts:
    """The head of a page: name, facts, number and seed of states, missing results."""

    name: str
    facts: tuple[Fact, ...]
    samples: int
    seed: int
    missing: str = ""


def page_facts(name: str, command: str, samples: int, seed: int) -> PageFacts:
    """Return the facts of a page: command, samples, versions, date and machine."""
    python = f"Python {platform.python_version()}"
    facts = (
        Fact("command", command, copied=True),
        Fact("what", name),
        Fact("states", f"{samples:,} random ones, seed {seed}"),
        Fact("boolcomp", VERSION),
        Fact("date", datetime.now(tz=UTC).date().isoformat()),
        Fact("machine", f"{platform.system()}, {platform.machine()}, {python}"),
    )
    return PageFacts(name, facts, samples, seed)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Report:
    """A report: its facts, its rows with their looks, and sections of other results."""

    facts: PageFacts
    pictured: Pictured
    beside: Sequence[PageSection] = ()

    @property
    def rows(self) -> tuple[ReportRow, ...]:
        return tuple(self.pictured.rows)

    def content(self, ending: str) -> bytes:
        """Return the file with an ending: `.html` is the page."""
        rows = self.rows
        if ending in (".svg", ".png"):
            return draw_errors(rows, ending[1:])
        texts: dict[str, Callable[[], str]] = {
            ".html": lambda: report_page(self.facts, self.pictured, self.beside),
            ".txt": lambda: f"{self}\n",
            ".csv": lambda: Results(COLUMNS, rows).csv,
            ".json": lambda: json.dumps({"rows": documents(rows)}, indent=2) + "\n",
        }
        require_name("ending", ending, (*texts, ".svg", ".png"))
        return texts[ending]().encode()

    def save(self, path: str | Path) -> Path:
        """Write a page (.html), a picture (.svg, .png), or the rows (.txt, .csv, .json).

        >>> import boolcomp as bc, tempfile
        >>> found = bc.report("machado-2r", bits=8, samples=1000)
        >>> found.save(f"{tempfile.mkdtemp()}/rows.csv").read_text()[:15]
        'robot,mode,bits'
        """
        write_output(Path(path), self.content(Path(path).suffix))
        return Path(path)

    def __str__(self) -> str:
        return text_table(self.rows, self.facts.samples)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return Results(columns(self.rows), self.rows, "–").brief(BRIEF)._repr_html_()


# --------------------------------------------------------------------------------------------------
# The files of a report, written during the measurement: an interrupted report is complete so far.
#
# Files are written after the first word length, then as often as writing takes a small share of the
# time, and at the end. Each is written atomically.
# --------------------------------------------------------------------------------------------------


RARELY = 8.0  # pause between writes, as a multiple of the time of a write


class ReportFolder:
    """A folder with the files of a report, updated during the measurement."""

    def __init__(self, folder: Path, facts: PageFacts, beside: Sequence[PageSection] = ()) -> None:
        self.folder, self.facts, self.beside = folder, facts, beside
        self.rows: list[ReportRow] = []

    @contextlib.contextmanager
    def of(self, samples: Samples, across: str | None, bits: Sequence[int]) -> Iterator[Pictured]:
        """Provide a receiver of rows; files are written as rows arrive, and at the end."""
        pictured = Pictured(Surveyor(samples, across))
        next_time, writing = 0.0, False

        def updated() -> None:
            nonlocal next_time, writing
            start = time.monotonic()
            if start >= next_time:
                writing = True
                self._write(pictured, bits)
                writing = False
                next_time = time.monotonic() + RARELY * (time.monotonic() - start)

        pictured.updated = updated
        self.rows = pictured.rows
        try:
            yield pictured
        except KeyboardInterrupt:
            # Only the page; an interrupt during a write leaves the files of the write before.
            if pictured.rows and not writing:
                self._page(pictured, bits)
            raise
        if pictured.rows:
            self._write(pictured, ())

    def _write(self, pictured: Pictured, bits: Sequence[int]) -> None:
        """Write all files; `bits` are the requested word lengths of an unfinished report."""
        self._page(pictured, bits)
        report = Report(self.facts, pictured)
        pictures = ("errors.svg",) if bits else ("errors.svg", "errors.png")
        for name in (*pictures, "report.txt", "report.csv", "report.json"):
            path = self.folder / name
            write_bytes(path, report.content(path.suffix))

    def _page(self, pictured: Pictured, bits: Sequence[int]) -> None:
        facts = self.facts
        if bits:
            done = {row.bits for row in pictured.rows}
            left = ", ".join(str(b) for b in bits if b not in done)
            missing = "This report was interrupted, or is not finished yet."
            facts = replace(
                facts, missing=f"{missing} Not started: {left} bits." if left else missing
            )
        page = Report(facts, pictured, self.beside).content(".html")
        write_bytes(self.folder / "report.html", page)
