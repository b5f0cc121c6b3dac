"""The pictures of the report's page: errors and costs versus bits, and looks at single programs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from boolcomp.base.charts import Axis, Chart, bars, heat, histogram, lines
from boolcomp.common.pages.parts import Beside, Choice, Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from boolcomp.base.charts import ChartRow
    from boolcomp.common.pages.parts import Parts
    from boolcomp.measure.report.findings import Pictured
    from boolcomp.measure.report.looks import Look
    from boolcomp.measure.report.measure import ReportRow

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
