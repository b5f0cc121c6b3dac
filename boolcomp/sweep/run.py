"""Running a sweep: what is done is left alone, what is not is computed, wherever that is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from boolcomp.common.errors import BoolcompError, cut
from boolcomp.common.executor import WorkerLostError, completed
from boolcomp.sweep.cell import LONGEST, compute, installation
from boolcomp.sweep.folder import Failure

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Executor, Future

    from boolcomp.sweep.cell import Cell, Outcome
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
    step: Callable[[str], None] = lambda _: None,
) -> None:
    """Compute what is left, and keep each cell as it comes; `step` is told its name."""
    places = list(state.left)
    own = installation()
    calls = [(cells[place], own) for place in places]
    for k, future in completed(pool, compute, calls):
        place = places[k]
        _keep(place, cells[place], future, folder, state)
        state.left.remove(place)
        step(str(cells[place]))


def _keep(place: int, cell: Cell, future: Future[Outcome], folder: Folder, state: State) -> None:
    try:
        outcome = future.result()
    except WorkerLostError as error:
        failure = Failure(str(error), lost=True)
    except BoolcompError as error:
        failure = Failure(str(error), lost=False)
    except Exception as error:  # noqa: BLE001 (whatever a cluster says: the other cells go on)
        failure = Failure(cut(f"{type(error).__name__}: {error}", LONGEST), lost=True)
    else:
        if not outcome.why:
            folder.put(cell, outcome)
            state.done[place] = outcome.result
            state.made += 1
            return
        failure = Failure(outcome.why, lost=False)
    folder.fail(cell, failure)
    state.failed[place] = failure
