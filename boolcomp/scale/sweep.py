"""Many compilations from one specification: cells, runs that can be resumed, and their page."""

from __future__ import annotations

import base64
import contextlib
import heapq
import json
import math
from collections import Counter, deque
from concurrent.futures import FIRST_COMPLETED, wait
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from operator import index
from typing import TYPE_CHECKING, Any

from boolcomp.base.errors import BoolcompError, DataError, cut
from boolcomp.base.files import check_place, read_bytes, read_json, write_bytes, write_text
from boolcomp.base.pages import (
    Alternatives,
    Beside,
    Chart,
    ChartAxis,
    Column,
    Fact,
    KeyFigure,
    Page,
    PageSection,
    Table,
    Text,
    lines,
    page_text,
    scatter,
)
from boolcomp.base.processes import WorkerLostError
from boolcomp.base.results import ResultColumn, Results
from boolcomp.base.store import DAMAGE
from boolcomp.base.workers import TICK
from boolcomp.scale.sweep_spec import (
    LONGEST,
    CellOutcome,
    canonical,
    compute,
    compute_each,
    digest_of,
    family,
    installation,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Executor, Future
    from pathlib import Path

    from boolcomp.base.pages import ChartRow, Parts
    from boolcomp.base.store import ResultPlace
    from boolcomp.scale.sweep_spec import Spec, SweepCell


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


def rows(spec: Spec, state: SweepState) -> list[dict[str, Any]]:
    """Return the rows of all cells that are done, in the order of the sweep."""
    found = []
    for place in sorted(state.done):
        cell, result = spec.cells[place], state.done[place]
        own = {**_cell_columns(cell), **{key: result[key] for key in ("nodes", "lut6", "depth")}}
        for one in result["outputs"]:
            named = {"bound_note": None, **one, "output": one["name"], "output_bits": one["bits"]}
            found.append({**own, **{key: named[key] for key in OF_OUTPUT}})
    return found


def _cell_columns(cell: SweepCell) -> dict[str, Any]:
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


def failures(spec: Spec, state: SweepState) -> list[dict[str, Any]]:
    return [
        {**_cell_columns(spec.cells[place]), "why": state.failed[place].why}
        for place in sorted(state.failed)
    ]


def write_tables(spec: Spec, state: SweepState, folder: Path) -> list[Path]:
    """Write `results.csv` and `.json`; `.parquet` and `.html` where what they need is installed."""
    found = rows(spec, state)
    document = {"sweep": spec.name, "cells": len(spec.cells), "rows": found}
    columns = [ResultColumn(key) for key in (*OF_CELL, *OF_OUTPUT)]
    write_text(folder / "results.csv", Results(columns, found).csv)
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
SERIES = ChartAxis("series", "", names=True)
BITS, NODES = ChartAxis("bits", "bits"), ChartAxis("nodes", "nodes", log=True)
COLUMNS = (
    ResultColumn("", "cell", lambda one: str(one.cell),
                 meaning="robot, function, bits and what else was asked"),
    ResultColumn("", "nodes", "nodes",
                 meaning="of the logic, three inputs each; of a family its largest load"),
    ResultColumn("", "depth", "depth", meaning="nodes one after another"),
    ResultColumn("", "rms, LSB", lambda one: one.errors["rms"], ".3g",
                 meaning="sampled; the largest of all outputs and loads, as are those that follow"),
    ResultColumn("", "worst found, LSB", lambda one: one.errors["worst_found"], ".3g",
                 meaning="the largest error that a search found"),
    ResultColumn("", "bound, LSB", lambda one: one.errors["bound"], ".3g",
                 meaning="what no error exceeds: proved; none where it is not"),
    ResultColumn("", "bound, %", lambda one: one.shares["bound"], ".3g",
                 meaning="the same of the output's range: comparable between word lengths"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Point:
    """A finished cell: its errors in LSB and in per cent of a range, None where not known."""

    cell: SweepCell
    group: str
    series: str
    nodes: int
    depth: int
    errors: dict[str, float | None]
    shares: dict[str, float | None]


def page(spec: Spec, state: SweepState) -> str:
    """Return the page; the same results are the same bytes."""
    points = [_point(spec.cells[place], state.done[place]) for place in sorted(state.done)]
    sections = []
    if points:
        sections.append(PageSection("Against bits", (_choice(points, _against_bits),)))
        sections.append(PageSection("Pareto fronts", (_choice(points, _fronts),)))
        sections.append(PageSection("All cells", _cells(points)))
    if state.failed:
        sections.append(PageSection(f"Failures: {len(state.failed)}", (_failures(spec, state),)))
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
    """Yield the settings in which cells differ, and those common to all."""
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
    yield Fact("effort", f"{cells[0].settings['effort']:g}")


def _found(spec: Spec, state: SweepState, points: Sequence[_Point]) -> Iterable[KeyFigure]:
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


def _point(cell: SweepCell, result: Document) -> _Point:
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


def _choice(points: Sequence[_Point], drawn: Any) -> Alternatives:
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
    return Alternatives("robot and function", options)


def _against_bits(points: Sequence[_Point]) -> Parts:
    """Return nodes, and errors of every kind that is known, against bits."""
    at = ChartAxis("bits", "bits", values=tuple(sorted({one.cell.bits for one in points})))
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
            nodes, at, NODES, colour_by=SERIES, hover=(ChartAxis("depth", "depth"),),
            title="Nodes against bits", shows="Of three inputs each.",
        ),
    ]  # fmt: skip
    if errors:
        charts.append(lines(
            errors, at, ChartAxis("error", "error, LSB", log=True, form=".3~g"), colour_by=SERIES,
            dash_by=ChartAxis("kind", "", names=True), title="Errors against bits",
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
                rows, NODES, ChartAxis("error", f"{title}, % of range", log=True, form=".3~g"),
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
    table = Results(COLUMNS, points[:MOST_ROWS]).page("All cells that are done")
    if len(points) <= MOST_ROWS:
        return (table,)
    return (table, Text(f"{len(points) - MOST_ROWS} more are in results.csv.", "note"))


def _failures(spec: Spec, state: SweepState) -> Table:
    places = sorted(state.failed)[:MOST_ROWS]
    rows = [[str(spec.cells[place]), state.failed[place].why] for place in places]
    return Table((Column("cell"), Column("why")), rows, "Cells that have no result")


# --------------------------------------------------------------------------------------------------
# Batches of cells for workers.
#
# Every task costs its scheduler and client time (docs/research/clusters.md), so many workers with
# small tasks would wait for them. Cells known to be small are therefore sent together, more of them
# for more workers. Cells of unknown cost are sent alone, and so are cells of a batch whose workers
# were lost.
#
# The longest cells are sent first, so that workers finish at about the same time.
# --------------------------------------------------------------------------------------------------


LEAST = 1.0  # seconds that a task is to take
RATE = 100  # tasks a second for a scheduler at most: a tenth of its capacity
TAIL = 4  # tasks for every worker are to be left, as long as there are so many cells


class CellQueue:
    """The cells that are left, by their places: taken batch by batch."""

    def __init__(self, cells: Sequence[SweepCell], places: Iterable[int], costs: CellTimes) -> None:
        self._cells, self._costs = cells, costs
        self._alone: deque[int] = deque()
        self._left = deque(sorted(places, key=self._rank))

    def _rank(self, place: int) -> tuple[bool, float]:
        """Order first what nothing is known of, as others may be like it; then the longest."""
        cell = self._cells[place]
        seconds = self._costs.of(cell)
        if seconds is None:
            return False, -cell.bits * len(cell.payloads)
        return True, -seconds

    def __bool__(self) -> bool:
        return bool(self._alone or self._left)

    def take(self, workers: int) -> tuple[int, ...]:
        """Return the places of the next batch, given the number of workers."""
        if self._alone:
            return (self._alone.popleft(),)
        room = max(LEAST, workers / RATE)
        most = math.ceil(len(self._left) / (TAIL * workers))
        batch: list[int] = []
        while self._left and len(batch) < most:
            seconds = self._costs.of(self._cells[self._left[0]])
            room -= math.inf if seconds is None else seconds
            if batch and room < 0:
                break
            batch.append(self._left.popleft())
        return tuple(batch)

    def again(self, places: Iterable[int]) -> None:
        self._alone.extend(places)


# --------------------------------------------------------------------------------------------------
# How long what is left of a sweep will take, by what similar cells took, where any did.
# --------------------------------------------------------------------------------------------------


ALIKE = ("robot", "function", "target", "effort", "certify", "proof", "objective")
Kind = tuple[Any, ...]  # the values of ALIKE


class CellTimes:
    """Times of cells on one core, by kind and bits; a family takes as long as its payloads."""

    def __init__(self, documents: Iterable[Document] = ()) -> None:
        self._known: dict[Kind, dict[int, tuple[float, int]]] = {}
        for one in documents:
            found = _measured(one)
            if found is not None:
                self._add(*found)

    def learn(self, cell: SweepCell, seconds: float) -> None:
        self._add(_kind(cell), cell.bits, seconds / len(cell.payloads))

    def _add(self, kind: Kind, bits: int, seconds: float) -> None:
        known = self._known.setdefault(kind, {})
        total, count = known.get(bits, (0.0, 0))
        known[bits] = (total + seconds, count + 1)

    def of(self, cell: SweepCell) -> float | None:
        """Return the expected time of a cell; None if no similar one was measured.

        Similar cells have the same robot, function, target and effort, and the nearest bits.
        """
        each = self._each(_kind(cell), cell.bits)
        return None if each is None else each * len(cell.payloads)

    def _each(self, kind: Kind, bits: int) -> float | None:
        known = self._known.get(kind)
        if not known:
            return None
        nearest = min(abs(one - bits) for one in known)
        near = [known[one] for one in {bits - nearest, bits + nearest} if one in known]
        return sum(total for total, _ in near) / sum(count for _, count in near)


class Remaining:
    """How much of a sweep's work is done, as long as it runs."""

    def __init__(self, cells: Iterable[SweepCell], costs: CellTimes) -> None:
        self._costs = costs
        self._loads: Counter[tuple[Kind, int]] = Counter()
        self._sum = 0.0  # of seconds
        for cell in cells:
            self._loads[_kind(cell), cell.bits] += len(cell.payloads)

    def finished(self, cell: SweepCell, seconds: float) -> None:
        """Hear of a cell that is no longer left."""
        self._loads[_kind(cell), cell.bits] -= len(cell.payloads)
        self._sum += seconds

    @property
    def share(self) -> float:
        """The completed part of the work; cells of unknown cost count as the mean of others."""
        known, loads, unknown = 0.0, 0, 0
        for (kind, bits), count in self._loads.items():
            each = self._costs._each(kind, bits)  # noqa: SLF001 (of this very module)
            if each is None:
                unknown += count
            else:
                known, loads = known + each * count, loads + count
        if unknown and not loads:
            return 0.0
        left = known * (1 + (unknown / loads if unknown else 0))
        return self._sum / (self._sum + left) if self._sum else 0.0


def makespan(seconds: Sequence[float], workers: int) -> float:
    """Return when the last is done where each worker takes the longest that is left."""
    ends = [0.0] * workers
    for one in sorted(seconds, reverse=True):
        heapq.heapreplace(ends, ends[0] + one)
    return max(ends)


def _measured(document: Any) -> tuple[Kind, int, float] | None:
    """Return a kind of cell and its time for each payload; None for damaged files."""
    try:
        asked = document["asked"]
        kind = tuple(asked.get(key) for key in ALIKE)
        hash(kind)
        bits, seconds = index(asked["bits"]), document["seconds"] / len(asked["payloads"])
        sane = bool(0 <= seconds < math.inf)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
        return None
    return (kind, bits, seconds) if sane else None


def _kind(cell: SweepCell) -> Kind:
    return tuple(cell.asked[key] for key in ALIKE)


# --------------------------------------------------------------------------------------------------
# Results of cells in a folder.
#
# `cells/KEY.json` is a finished result with its checksum, `exports/KEY/` are its exported files,
# `failed/KEY.json` is the reason of a failure, `costs/KEY.json` the time. Files are written as a
# whole, the result last, so that an interrupted run leaves only finished cells; damaged ones are
# made again. Writes are not synchronised: a power failure can damage the results of the last half
# minute. Only costs depend on the machine and the time.
# --------------------------------------------------------------------------------------------------


Document = dict[str, Any]
PARTS = {"depth", "files", "input_bits", "lut6", "nodes", "outputs", "program"}  # of a result


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a cell has no result; `lost` where that was a worker's end, not the cell's fault."""

    why: str
    lost: bool


@dataclass(frozen=True, slots=True)
class SweepFolder:
    """Where a sweep keeps what it finds."""

    path: Path

    def check(self) -> None:
        check_place(self._place("cells", "any"))

    def _place(self, kind: str, key: str) -> Path:
        return self.path / kind / f"{key}.json"

    def result(self, cell: SweepCell) -> Document | None:
        """Return the result of a cell that is done, exports and all."""
        asked = cell.asked
        try:
            document = read_json(self._place("cells", cell.key))
            found: Document = document["result"]
            whole = found.keys() >= PARTS and document["sha256"] == _seal(asked, found)
            if whole and document["asked"] == asked and self._exported(cell, found):
                return found
        except DAMAGE:  # whatever else lies there
            pass
        return None

    def _exported(self, cell: SweepCell, found: Document) -> bool:
        return all(
            digest_of(read_bytes(self.path / "exports" / cell.key / name)) == digest
            for name, digest in found["files"].items()
        )

    def put(self, cell: SweepCell, outcome: CellOutcome) -> None:
        """Write a finished cell: what it exported, what it cost, then the result."""
        key, asked = cell.key, cell.asked
        for name, text in outcome.files.items():
            place = self.path / "exports" / key / name
            write_bytes(place, base64.b64decode(text), durable=False)
        cost = {"seconds": outcome.seconds, "stored": outcome.stored, "asked": asked}
        write_text(self._place("costs", key), _rendered(cost), durable=False)
        seal = _seal(asked, outcome.result)
        document = {"asked": asked, "result": outcome.result, "sha256": seal}
        write_text(self._place("cells", key), _rendered(document), durable=False)
        self._forget(key)

    def failure(self, cell: SweepCell) -> Failure | None:
        """Return why a cell had no result when it was tried last."""
        try:
            document = read_json(self._place("failed", cell.key))
            return Failure(str(document["why"]), bool(document["lost"]))
        except DAMAGE:
            return None

    def fail(self, cell: SweepCell, failure: Failure) -> None:
        """Write down why a cell has no result."""
        document = {"asked": cell.asked, "why": failure.why, "lost": failure.lost}
        write_text(self._place("failed", cell.key), _rendered(document), durable=False)

    def _forget(self, key: str) -> None:
        """Forget a failure."""
        with contextlib.suppress(OSError):
            self._place("failed", key).unlink(missing_ok=True)

    def costs(self) -> list[Document]:
        """Return the times of all searched cells, of any sweep."""
        found = []
        with contextlib.suppress(OSError):
            for path in sorted((self.path / "costs").glob("*.json")):
                with contextlib.suppress(*DAMAGE):
                    one = read_json(path)
                    if not one["stored"] and float(one["seconds"]) >= 0 and one["asked"]["bits"]:
                        found.append(one)
        return found


def _seal(asked: Document, result: Document) -> str:
    return digest_of(canonical([asked, result]).encode())


def _rendered(document: Document) -> str:
    try:
        return json.dumps(document, sort_keys=True, allow_nan=False) + "\n"
    except ValueError as error:
        raise DataError("a result with a number that JSON cannot say") from error


# --------------------------------------------------------------------------------------------------
# Running a sweep: unfinished cells are computed here, in processes or on a cluster.
# --------------------------------------------------------------------------------------------------


@dataclass
class SweepState:
    """Which cells are done, which failed, and which are left, by their places; `made`: how many."""

    done: dict[int, Document] = field(default_factory=dict)
    failed: dict[int, Failure] = field(default_factory=dict)
    left: list[int] = field(default_factory=list)
    made: int = 0


def state_of(cells: Sequence[SweepCell], folder: SweepFolder, *, retry: bool = False) -> SweepState:
    """Read the state of a sweep. Failed cells are repeated only with `retry`."""
    state = SweepState()
    for place, cell in enumerate(cells):
        result = folder.result(cell)
        if result is not None:
            state.done[place] = result
            continue
        failure = folder.failure(cell)
        if failure is None or failure.lost or retry:
            state.left.append(place)
        else:
            state.failed[place] = failure
    return state


def run(
    cells: Sequence[SweepCell],
    folder: SweepFolder,
    pool: Executor,
    state: SweepState,
    step: Callable[[float, str], None] = lambda _, __: None,
    store: ResultPlace | None = None,
) -> None:
    """Compute the unfinished cells, and store each result when it arrives.

    `step` is called with the completed part of the work and a note. Workers read and write results
    of compilations in `store`, if one is given.
    """
    work = compute if store is None else partial(compute, store=store)
    costs = CellTimes(folder.costs())
    remaining = Remaining((cells[place] for place in state.left), costs)
    left = set(state.left)
    step(0.0, f"{len(left)} of {len(cells)} cells left")
    try:
        for place, found in _results(work, cells, pool, CellQueue(cells, state.left, costs)):
            cell = cells[place]
            _keep(place, cell, found, folder, state)
            left.remove(place)
            seconds = found.seconds if isinstance(found, CellOutcome) else 0.0
            if place in state.done and isinstance(found, CellOutcome) and not found.stored:
                costs.learn(cell, seconds)
            remaining.finished(cell, seconds)
            step(remaining.share, f"{len(left)} of {len(cells)} cells left")
    finally:
        state.left[:] = sorted(left)


def _results(
    work: Callable[..., CellOutcome], cells: Sequence[SweepCell], pool: Executor, batches: CellQueue
) -> Iterator[tuple[int, CellOutcome | Failure]]:
    """Yield the outcomes of cells as they arrive."""
    own = installation()
    running: dict[Future[tuple[CellOutcome, ...]], tuple[int, ...]] = {}
    try:
        while running or batches:
            ahead: int = getattr(pool, "ahead", 1)
            workers: int = getattr(pool, "workers", max(1, ahead // 2))
            while batches and len(running) < ahead:
                batch = batches.take(workers)
                asked = [cells[place] for place in batch]
                running[pool.submit(compute_each, work, asked, own)] = batch
            done = wait(running, TICK, FIRST_COMPLETED).done
            for future in sorted(done, key=running.__getitem__):
                batch = running.pop(future)
                found = _outcomes(future, len(batch))
                if len(batch) > 1 and isinstance(found[0], Failure) and found[0].lost:
                    batches.again(batch)
                else:
                    yield from zip(batch, found, strict=True)
    finally:
        for future in running:
            future.cancel()


def _outcomes(
    future: Future[tuple[CellOutcome, ...]], count: int
) -> Sequence[CellOutcome | Failure]:
    try:
        return future.result()
    except WorkerLostError as error:
        failure = Failure(str(error), lost=True)
    except BoolcompError as error:
        failure = Failure(str(error), lost=False)
    except Exception as error:  # noqa: BLE001 (whatever a cluster says: the other cells go on)
        failure = Failure(cut(f"{type(error).__name__}: {error}", LONGEST), lost=True)
    return [failure] * count


def _keep(
    place: int,
    cell: SweepCell,
    found: CellOutcome | Failure,
    folder: SweepFolder,
    state: SweepState,
) -> None:
    if isinstance(found, CellOutcome):
        if not found.why:
            folder.put(cell, found)
            state.done[place] = found.result
            state.made += 1
            return
        found = Failure(found.why, lost=False)
    folder.fail(cell, found)
    state.failed[place] = found
