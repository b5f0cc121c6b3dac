"""Running a sweep: what is done is left alone, what is not is computed, wherever that is."""

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
from operator import index
from typing import TYPE_CHECKING, Any

from boolcomp.base.errors import BoolcompError, DataError, cut
from boolcomp.base.files import check_place, read_bytes, read_json, write_bytes, write_text
from boolcomp.base.processes import WorkerLostError
from boolcomp.base.store import DAMAGE
from boolcomp.base.workers import TICK
from boolcomp.scale.sweep_spec import (
    LONGEST,
    Outcome,
    canonical,
    compute,
    compute_each,
    digest,
    digest_of,
    installation,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Executor, Future
    from pathlib import Path

    from boolcomp.base.store import Place
    from boolcomp.scale.sweep_spec import Cell


# --------------------------------------------------------------------------------------------------
# Which cells go to a worker together.
#
# A task costs its scheduler and its client time, whatever it does (docs/cluster.md): many workers
# with small tasks would wait for them. So cells that are known to be small go together, the more
# the more workers there are. A cell of which nothing is known goes alone, and so does one that was
# lost with its workers in the company of others: it may be what ended them.
#
# The longest come first, so that in the end nobody waits for a long one that was begun last.
# --------------------------------------------------------------------------------------------------


LEAST = 1.0  # seconds that a task is to take
RATE = 100  # tasks a second that a scheduler is to see at most: a tenth of what it can do
TAIL = 4  # tasks for every worker are to be left, as long as there are so many cells


class Batches:
    """The cells that are left, by their places: taken batch by batch."""

    def __init__(self, cells: Sequence[Cell], places: Iterable[int], costs: Costs) -> None:
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
        """Return the places of the next batch, for one of so many workers."""
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
        """Put back what was lost in company: each goes alone now."""
        self._alone.extend(places)


# --------------------------------------------------------------------------------------------------
# How long what is left of a sweep will take, by what similar cells took, where any did.
# --------------------------------------------------------------------------------------------------


ALIKE = ("robot", "function", "target", "effort", "certify", "proof", "objective")
Kind = tuple[Any, ...]  # the values of ALIKE


class Costs:
    """What cells took on one core, by what makes them alike, and by their bits.

    A family of loads takes as long as its loads.
    """

    def __init__(self, documents: Iterable[Document] = ()) -> None:
        self._known: dict[Kind, dict[int, tuple[float, int]]] = {}
        for one in documents:
            found = _measured(one)
            if found is not None:
                self._add(*found)

    def learn(self, cell: Cell, seconds: float) -> None:
        """Hear of what a cell took."""
        self._add(_kind(cell), cell.bits, seconds / len(cell.payloads))

    def _add(self, kind: Kind, bits: int, seconds: float) -> None:
        known = self._known.setdefault(kind, {})
        total, count = known.get(bits, (0.0, 0))
        known[bits] = (total + seconds, count + 1)

    def of(self, cell: Cell) -> float | None:
        """Return what a cell is likely to take; None where no similar one was measured.

        Similar ones are of the same robot, function, target and effort, and of the nearest bits.
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

    def __init__(self, cells: Iterable[Cell], costs: Costs) -> None:
        self._costs = costs
        self._loads: Counter[tuple[Kind, int]] = Counter()
        self._sum = 0.0  # of seconds
        for cell in cells:
            self._loads[_kind(cell), cell.bits] += len(cell.payloads)

    def finished(self, cell: Cell, seconds: float) -> None:
        """Hear of a cell that is no longer left."""
        self._loads[_kind(cell), cell.bits] -= len(cell.payloads)
        self._sum += seconds

    @property
    def share(self) -> float:
        """Which part of the work is done; loads of which nothing is known take what others do."""
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
    """Return what kind of cell took how long a load; None for what no sweep has written."""
    try:
        asked = document["asked"]
        kind = tuple(asked.get(key) for key in ALIKE)
        hash(kind)
        bits, seconds = index(asked["bits"]), document["seconds"] / len(asked["payloads"])
        sane = bool(0 <= seconds < math.inf)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
        return None
    return (kind, bits, seconds) if sane else None


def _kind(cell: Cell) -> Kind:
    shared = cell.settings
    own: Mapping[str, Any] = {
        "robot": digest(cell.robot), "function": cell.function, "target": cell.target,
        "effort": shared.effort, "certify": shared.certify, "proof": shared.proof,
        "objective": shared.objective,
    }  # fmt: skip
    return tuple(own[key] for key in ALIKE)


# --------------------------------------------------------------------------------------------------
# Results of cells in a folder: a cell is done, or it is not.
#
# `cells/KEY.json` is a finished result with its checksum, `exports/KEY/` what it exported,
# `failed/KEY.json` why there is none, `costs/KEY.json` how long it took. Files are written whole,
# the result last, so that whatever ends a run leaves finished cells and no others; what is damaged
# is made anew. So nothing waits for the disk: a power failure may damage what the last half minute
# finished. Nothing but costs depends on who made a cell, or when.
# --------------------------------------------------------------------------------------------------


Document = dict[str, Any]
PARTS = {"depth", "files", "input_bits", "lut6", "nodes", "outputs", "program"}  # of a result


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a cell has no result; `lost` where that was a worker's end, not the cell's fault."""

    why: str
    lost: bool


@dataclass(frozen=True, slots=True)
class Folder:
    """Where a sweep keeps what it finds."""

    path: Path

    def check(self) -> None:
        """Raise a `DataError` where nothing can be written, before work that takes long."""
        check_place(self._place("cells", "any"))

    def _place(self, kind: str, key: str) -> Path:
        return self.path / kind / f"{key}.json"

    def result(self, cell: Cell) -> Document | None:
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

    def _exported(self, cell: Cell, found: Document) -> bool:
        return all(
            digest_of(read_bytes(self.path / "exports" / cell.key / name)) == digest
            for name, digest in found["files"].items()
        )

    def put(self, cell: Cell, outcome: Outcome) -> None:
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

    def failure(self, cell: Cell) -> Failure | None:
        """Return why a cell had no result when it was tried last."""
        try:
            document = read_json(self._place("failed", cell.key))
            return Failure(str(document["why"]), bool(document["lost"]))
        except DAMAGE:
            return None

    def fail(self, cell: Cell, failure: Failure) -> None:
        """Write down why a cell has no result."""
        document = {"asked": cell.asked, "why": failure.why, "lost": failure.lost}
        write_text(self._place("failed", cell.key), _rendered(document), durable=False)

    def _forget(self, key: str) -> None:
        """Forget a failure."""
        with contextlib.suppress(OSError):
            self._place("failed", key).unlink(missing_ok=True)

    def costs(self) -> list[Document]:
        """Return what cells took that were searched for, whatever sweep they were of."""
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
# Running a sweep: what is done is left alone, what is not is computed, wherever that is.
# --------------------------------------------------------------------------------------------------


@dataclass
class State:
    """Which cells are done, which failed, and which are left, by their places; `made`: how many."""

    done: dict[int, Document] = field(default_factory=dict)
    failed: dict[int, Failure] = field(default_factory=dict)
    left: list[int] = field(default_factory=list)
    made: int = 0


def state_of(cells: Sequence[Cell], folder: Folder, *, retry: bool = False) -> State:
    """Read how far a sweep is. What failed by itself fails again: it is left only to `retry`."""
    state = State()
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
    cells: Sequence[Cell],
    folder: Folder,
    pool: Executor,
    state: State,
    step: Callable[[float, str], None] = lambda _, __: None,
    store: Place | None = None,
) -> None:
    """Compute what is left, and keep each cell as it comes.

    `step` is told which part of the work is done, and a note. Workers look for results of
    compilations, and keep them, in a `store`, if one is given.
    """
    work = compute if store is None else partial(compute, store=store)
    costs = Costs(folder.costs())
    remaining = Remaining((cells[place] for place in state.left), costs)
    left = set(state.left)
    step(0.0, f"{len(left)} of {len(cells)} cells left")
    try:
        for place, found in _found(work, cells, pool, Batches(cells, state.left, costs)):
            cell = cells[place]
            _keep(place, cell, found, folder, state)
            left.remove(place)
            seconds = found.seconds if isinstance(found, Outcome) else 0.0
            if place in state.done and isinstance(found, Outcome) and not found.stored:
                costs.learn(cell, seconds)
            remaining.finished(cell, seconds)
            step(remaining.share, f"{len(left)} of {len(cells)} cells left")
    finally:
        state.left[:] = sorted(left)


def _found(
    work: Callable[..., Outcome], cells: Sequence[Cell], pool: Executor, batches: Batches
) -> Iterator[tuple[int, Outcome | Failure]]:
    """Yield what came of each cell, as it comes."""
    own = installation()
    running: dict[Future[tuple[Outcome, ...]], tuple[int, ...]] = {}
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


def _outcomes(future: Future[tuple[Outcome, ...]], count: int) -> Sequence[Outcome | Failure]:
    try:
        return future.result()
    except WorkerLostError as error:
        failure = Failure(str(error), lost=True)
    except BoolcompError as error:
        failure = Failure(str(error), lost=False)
    except Exception as error:  # noqa: BLE001 (whatever a cluster says: the other cells go on)
        failure = Failure(cut(f"{type(error).__name__}: {error}", LONGEST), lost=True)
    return [failure] * count


def _keep(place: int, cell: Cell, found: Outcome | Failure, folder: Folder, state: State) -> None:
    if isinstance(found, Outcome):
        if not found.why:
            folder.put(cell, found)
            state.done[place] = found.result
            state.made += 1
            return
        found = Failure(found.why, lost=False)
    folder.fail(cell, found)
    state.failed[place] = found
