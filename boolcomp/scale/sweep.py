"""Running a sweep: what is done is left alone, what is not is computed, wherever that is."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, wait
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from boolcomp.base.processes import WorkerLostError
from boolcomp.base.workers import TICK
from boolcomp.common.errors import BoolcompError, cut
from boolcomp.scale.sweep_spec import LONGEST, Outcome, compute, compute_each, installation
from boolcomp.sweep.batches import Batches
from boolcomp.sweep.estimate import Costs, Remaining
from boolcomp.sweep.folder import Failure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Executor, Future

    from boolcomp.common.places import Place
    from boolcomp.scale.sweep_spec import Cell
    from boolcomp.sweep.folder import Document, Folder


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
