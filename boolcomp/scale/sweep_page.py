"""The results of a sweep as a page: nodes and bounds against bits, Pareto fronts, failures."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from boolcomp.base.charts import Axis, Beside, Chart, Choice, Column, Table, Text, lines, scatter
from boolcomp.base.files import write_bytes, write_text
from boolcomp.base.pages import Fact, KeyFigure, Page, Section, page_text
from boolcomp.scale.sweep_spec import family

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from boolcomp.base.charts import ChartRow, Parts
    from boolcomp.scale.sweep import Document, State
    from boolcomp.scale.sweep_spec import Cell, Spec


# --------------------------------------------------------------------------------------------------
# The results of a sweep as tables: a row for every output of every load of every cell.
# --------------------------------------------------------------------------------------------------


OF_CELL = (
    "robot", "function", "bits", "input_bits", "rms_error", "max_error", "error", "payloads",
    "target", "key", "nodes", "lut6", "depth",
)  # fmt: skip
OF_OUTPUT = (
    "payload", "output", "unit", "output_bits", "lsb", "rms", "sampled_max", "worst_found", "bound",
    "bound_note",
)  # fmt: skip


def rows(spec: Spec, state: State) -> list[dict[str, Any]]:
    """Return the rows of all cells that are done, in the order of the sweep."""
    found = []
    for place in sorted(state.done):
        cell, result = spec.cells[place], state.done[place]
        own = {**_cell_columns(cell), **{key: result[key] for key in ("nodes", "lut6", "depth")}}
        for one in result["outputs"]:
            named = {"bound_note": None, **one, "output": one["name"], "output_bits": one["bits"]}
            found.append({**own, **{key: named[key] for key in OF_OUTPUT}})
    return found


def _cell_columns(cell: Cell) -> dict[str, Any]:
    return {
        "robot": cell.label,
        "function": cell.function,
        "bits": cell.bits,
        "input_bits": " ".join(f"{name}={bits}" for name, bits in cell.input_bits),
        "rms_error": family(cell.rms_error),
        "max_error": family(cell.max_error),
        "error": cell.error,
        "payloads": family(cell.payloads),
        "target": cell.target,
        "key": cell.key,
    }


def failures(spec: Spec, state: State) -> list[dict[str, Any]]:
    """Return the cells that failed, and why."""
    return [
        {**_cell_columns(spec.cells[place]), "why": state.failed[place].why}
        for place in sorted(state.failed)
    ]


def write_tables(spec: Spec, state: State, folder: Path) -> list[Path]:
    """Write `results.csv` and `.json`; `.parquet` and `.html` where what they need is installed."""
    found = rows(spec, state)
    document = {"sweep": spec.name, "cells": len(spec.cells), "rows": found}
    write_text(folder / "results.csv", _csv(found))
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    write_text(folder / "results.json", text + "\n")
    written = [folder / "results.csv", folder / "results.json"]
    if found and find_spec("pyarrow") is not None:
        write_bytes(folder / "results.parquet", _parquet(found))
        written.append(folder / "results.parquet")
    if find_spec("vl_convert") is not None:
        write_text(folder / "results.html", page(spec, state))
        written.append(folder / "results.html")
    return written


def _csv(found: Sequence[dict[str, Any]]) -> str:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, [*OF_CELL, *OF_OUTPUT], lineterminator="\n")
    writer.writeheader()
    writer.writerows(found)
    return stream.getvalue()


def _parquet(found: list[dict[str, Any]]) -> bytes:
    import pyarrow as pa  # noqa: PLC0415 (where it is installed)
    from pyarrow import parquet  # noqa: PLC0415 (likewise)

    sink = pa.BufferOutputStream()
    parquet.write_table(pa.Table.from_pylist(found), sink)
    data: bytes = sink.getvalue().to_pybytes()
    return data


# --------------------------------------------------------------------------------------------------
# The results of a sweep as a page: nodes and bounds against bits, Pareto fronts, failures.
# --------------------------------------------------------------------------------------------------


MOST_GROUPS = 12  # robots and functions that are drawn
MOST_ROWS = 2000  # cells of a table
KINDS = {"bound": "bound", "worst_found": "worst found", "rms": "rms"}
SERIES = Axis("series", "", names=True)
BITS, NODES = Axis("bits", "bits"), Axis("nodes", "nodes", log=True)
COLUMNS = (
    Column("cell", "robot, function, bits and what else was asked"),
    Column("nodes", "of the logic, three inputs each; of a family its largest load"),
    Column("depth", "nodes one after another"),
    Column("rms, LSB", "sampled; the largest of all outputs and loads, as are those that follow",
           ".3g"),
    Column("worst found, LSB", "the largest error that a search found", ".3g"),
    Column("bound, LSB", "what no error exceeds: proved; none where it is not", ".3g"),
    Column("bound, %", "the same of the output's range: comparable between word lengths", ".3g"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Point:
    """A finished cell: its errors in LSB and in per cent of a range, None where not known."""

    cell: Cell
    group: str
    series: str
    nodes: int
    depth: int
    errors: dict[str, float | None]
    shares: dict[str, float | None]


def page(spec: Spec, state: State) -> str:
    """Return the page; the same results are the same bytes."""
    points = [_point(spec.cells[place], state.done[place]) for place in sorted(state.done)]
    sections = []
    if points:
        sections.append(Section("Against bits", (_choice(points, _against_bits),)))
        sections.append(Section("Pareto fronts", (_choice(points, _fronts),)))
        sections.append(Section("All cells", _cells(points)))
    if state.failed:
        sections.append(Section(f"Failures: {len(state.failed)}", (_failures(spec, state),)))
    return page_text(
        Page(
            f"Sweep: {spec.name}",
            asked=tuple(_spec_facts(spec)),
            found=tuple(_found(spec, state, points)),
            meaning=(
                Text("Every cell is a program that was compiled, and measured on its own. An error "
                     "in LSB counts steps of the output's word, which halve with every bit; in per "
                     "cent of the output's range word lengths can be compared."),
                Text("rms is sampled, the worst found was searched for, the bound is proved. Of "
                     "cells with several outputs or loads the largest error is shown.", "note"),
            ),
            sections=tuple(sections),
        )
    )  # fmt: skip


def _spec_facts(spec: Spec) -> Iterable[Fact]:
    """Yield what cells differ in, and what is the same for all."""
    cells = spec.cells
    axes: dict[str, list[str]] = {
        "robots and files": [one.label for one in cells],
        "functions": [one.function for one in cells if one.function],
        "bits": [str(one.bits) for one in cells],
        "widths of inputs": [" ".join(f"{k}={n}" for k, n in one.input_bits) for one in cells],
        "allowed rms": [family(one.rms_error) for one in cells],
        "allowed maximum": [family(one.max_error) for one in cells],
        "promise": [one.error for one in cells],
        "loads, kg": [family(one.payloads) for one in cells if one.function],
        "target": [one.target for one in cells],
    }
    yield Fact("cells", str(len(cells)))
    for name, values in axes.items():
        unlike = list(dict.fromkeys(value or "usual" for value in values))
        if unlike not in ([], ["usual"]):
            more = f" and {len(unlike) - 12} more" if len(unlike) > 12 else ""
            yield Fact(name, ", ".join(unlike[:12]) + more)
    yield Fact("effort", f"{cells[0].settings.effort:g}")


def _found(spec: Spec, state: State, points: Sequence[_Point]) -> Iterable[KeyFigure]:
    failed = f"{len(state.failed)} failed" if state.failed else ""
    yield KeyFigure(f"{len(points)} of {len(spec.cells)}", "cells are done", failed)
    proved = [one for one in points if one.shares["bound"] is not None]
    if not proved:
        return
    within = [one for one in proved if (one.errors["bound"] or 0) <= 1]
    if within:
        least = min(within, key=lambda one: one.nodes)
        yield KeyFigure(f"{least.nodes} nodes", f"the fewest within 1 LSB: {least.cell}", "proved")
    best = min(proved, key=lambda one: one.shares["bound"] or 0)
    share = f"{best.shares['bound']:.2g} %"
    yield KeyFigure(share, f"of the range, the smallest bound: {best.cell}", "proved")


def _point(cell: Cell, result: Document) -> _Point:
    outputs = result["outputs"]
    errors = {kind: _most(outputs, kind, lambda one: one["lsb"]) for kind in KINDS}
    ranges = {
        kind: _most(outputs, kind, lambda one: one["lsb"] * 2 ** one["bits"] / 100)
        for kind in KINDS
    }
    return _Point(cell, cell.group, cell.apart, result["nodes"], result["depth"], errors, ranges)


def _most(outputs: Sequence[dict[str, Any]], kind: str, unit: Any) -> float | None:
    """Return the largest error of a kind, as shown; None where one of them is not known."""
    values = [None if one[kind] is None else one[kind] / unit(one) for one in outputs]
    known = [value for value in values if value is not None]
    return float(f"{max(known):.5g}") if known and len(known) == len(values) else None


def _choice(points: Sequence[_Point], drawn: Any) -> Choice:
    """Return a body for each robot and function."""
    groups: dict[str, list[_Point]] = {}
    for point in points:
        groups.setdefault(point.group, []).append(point)
    options: list[tuple[str, Parts]] = [
        (name, drawn(own)) for name, own in list(groups.items())[:MOST_GROUPS]
    ]
    if len(groups) > MOST_GROUPS:
        rest = f"{len(groups) - MOST_GROUPS} more are in results.csv only."
        options.append(("others", (Text(rest, "note"),)))
    return Choice("robot and function", options)


def _against_bits(points: Sequence[_Point]) -> Parts:
    """Return nodes, and errors of every kind that is known, against bits."""
    at = Axis("bits", "bits", values=tuple(sorted({one.cell.bits for one in points})))
    nodes: list[ChartRow] = [
        {"bits": one.cell.bits, "nodes": one.nodes, "series": one.series, "depth": one.depth}
        for one in points
    ]
    errors: list[ChartRow] = [
        {"bits": one.cell.bits, "error": one.errors[kind], "kind": title, "series": one.series}
        for kind, title in KINDS.items()
        for one in points
        if one.errors[kind] is not None
    ]
    charts: list[Chart] = [
        lines(
            nodes, at, NODES, colour_by=SERIES, hover=(Axis("depth", "depth"),),
            title="Nodes against bits", shows="Of three inputs each.",
        ),
    ]  # fmt: skip
    if errors:
        charts.append(lines(
            errors, at, Axis("error", "error, LSB", log=True, form=".3~g"), colour_by=SERIES,
            dash_by=Axis("kind", "", names=True), title="Errors against bits",
            shows="Bounds are proved, the worst is searched for, rms is sampled.",
        ))  # fmt: skip
    return (Beside(tuple(charts)),)


def _fronts(points: Sequence[_Point]) -> Parts:
    """Return nodes against errors: what nothing else beats in both is joined."""
    charts = []
    for kind, title in (("bound", "proven bound"), ("rms", "rms error")):
        known = [one for one in points if one.shares[kind] is not None]
        best = front([(one.nodes, one.shares[kind] or 0.0) for one in known])
        rows: list[ChartRow] = [
            {"nodes": one.nodes, "error": one.shares[kind], "series": one.series,
             "bits": one.cell.bits, "front": int(k in best)}
            for k, one in enumerate(known)
        ]  # fmt: skip
        if rows:
            charts.append(scatter(
                rows, NODES, Axis("error", f"{title}, % of range", log=True, form=".3~g"),
                colour_by=SERIES, hover=(BITS,), front="front",
                title=f"Nodes against {title}", shows="What is joined nothing else beats.",
            ))  # fmt: skip
    return (Beside(tuple(charts)),) if charts else (Text("No errors are known.", "note"),)


def front(pairs: Sequence[tuple[float, float]]) -> set[int]:
    """Return the places of those that no other one beats in one number and equals in the other."""
    best, least = set(), float("inf")
    for place in sorted(range(len(pairs)), key=lambda k: (*pairs[k], k)):
        if pairs[place][1] < least:
            least = pairs[place][1]
            best.add(place)
    return best


def _cells(points: Sequence[_Point]) -> Parts:
    rows = [
        [str(one.cell), one.nodes, one.depth, one.errors["rms"], one.errors["worst_found"],
         one.errors["bound"], one.shares["bound"]]
        for one in points[:MOST_ROWS]
    ]  # fmt: skip
    table = Table(COLUMNS, rows, "All cells that are done")
    if len(points) <= MOST_ROWS:
        return (table,)
    return (table, Text(f"{len(points) - MOST_ROWS} more are in results.csv.", "note"))


def _failures(spec: Spec, state: State) -> Table:
    places = sorted(state.failed)[:MOST_ROWS]
    rows = [[str(spec.cells[place]), state.failed[place].why] for place in places]
    return Table((Column("cell"), Column("why")), rows, "Cells that have no result")
