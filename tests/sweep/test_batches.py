"""Cells that go to workers together, in which order, and how long they are said to take."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from typing import TYPE_CHECKING, Any

import pytest
import sweepcells
from sweepcells import DEADLY

from boolcomp.base import WorkerLostError
from boolcomp.scale import Batches, Costs, Folder, parse_spec, run, state_of

if TYPE_CHECKING:
    from pathlib import Path


def cells(bits: list[int], loads: int = 1) -> tuple[Any, ...]:
    masses = [k / 10 for k in range(loads)]
    document = {"robots": "machado-2r", "functions": "gravity", "effort": 0, "bits": bits}
    return parse_spec({**document, "payloads": masses}).cells


def costs(**seconds: float) -> Costs:
    """Return what is known where cells of so many bits took so many seconds."""
    known = Costs()
    for bits, one in seconds.items():
        known.learn(cells([int(bits[1:])])[0], one)
    return known


def taken(batches: Batches, workers: int) -> list[tuple[int, ...]]:
    found = []
    while batches:
        found.append(batches.take(workers))
    return found


def test_cells_of_which_nothing_is_known_go_first_and_alone_then_the_longest() -> None:
    some = cells([4, 5, 6, 7, 8])
    known = costs(b4=3.0, b5=2.0, b6=6.0, b7=1.5, b8=9.0)
    assert taken(Batches(some, range(5), known), 1) == [(4,), (2,), (0,), (1,), (3,)]
    assert taken(Batches(some, range(5), Costs()), 1) == [(4,), (3,), (2,), (1,), (0,)]


class Losing(Executor):
    """Loses its worker at every task that holds a deadly cell."""

    ahead, workers = 2, 1

    def __init__(self) -> None:
        self.asked: list[int] = []

    def submit(self, function: Any, /, *given: Any, **named: Any) -> Future[Any]:
        """Call, or lose the worker."""
        made: Future[Any] = Future()
        self.asked.append(len(given[1]))
        if any(cell.bits == DEADLY for cell in given[1]):
            made.set_exception(WorkerLostError("it died"))
        else:
            made.set_result(function(*given, **named))
        return made


def test_a_cell_that_ends_its_workers_takes_none_of_its_company_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("boolcomp.scale.sweep.compute", sweepcells.quick)
    monkeypatch.setattr(sweepcells, "PAUSE", 0)
    some = cells([4, DEADLY], 16)
    folder, pool = Folder(tmp_path), Losing()
    for place in (0, 1):  # so that it is known how little they take
        folder.put(some[place * 16], sweepcells.quick(cells([4])[0], []))
    known = [
        {"asked": cell.asked, "seconds": 0.01, "stored": False} for cell in (some[0], some[16])
    ]
    monkeypatch.setattr(Folder, "costs", lambda _: known)
    state = state_of(some, folder)
    run(some, folder, pool, state)
    assert max(pool.asked) > 1
    assert {some[place].bits for place in state.failed} == {DEADLY}
    assert (state.made, len(state.failed), state.left) == (15, 15, [])


def test_nearest_bits_on_both_sides_say_together_what_a_cell_takes() -> None:
    known = costs(b4=1.0, b6=5.0, b9=100.0)
    assert [known.of(cells([bits])[0]) for bits in (4, 5, 6, 7, 16)] == [1.0, 3.0, 5.0, 5.0, 100.0]


@pytest.mark.parametrize(
    "document",
    [
        {"asked": {"bits": 4}, "seconds": 1}, {"asked": [], "seconds": 1}, {},
        {"asked": {"bits": "4", "payloads": [0]}, "seconds": 1},
        {"asked": {"bits": 4, "payloads": []}, "seconds": 1},
        {"asked": {"bits": 4, "payloads": [0], "robot": []}, "seconds": 1},
        {"asked": {"bits": 4, "payloads": [0]}, "seconds": float("nan")},
        {"asked": {"bits": 4, "payloads": [0]}, "seconds": "1"},
    ],
)  # fmt: skip
def test_costs_that_no_sweep_wrote_are_passed_over(document: dict[str, Any]) -> None:
    cell = cells([4])[0]
    assert Costs([document]).of(cell) is None
    ours = {"asked": cell.asked, "seconds": 3.0}
    assert Costs([document, ours]).of(cell) == 3.0
