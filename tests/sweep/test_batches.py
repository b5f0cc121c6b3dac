"""Cells that go to workers together, in which order, and how long they are said to take."""

from typing import Any

import pytest

from boolcomp.scale import CellQueue, CellTimes, parse_spec


def cells(bits: list[int], loads: int = 1) -> tuple[Any, ...]:
    masses = [k / 10 for k in range(loads)]
    document = {"robots": "machado-2r", "functions": "gravity", "effort": 0, "bits": bits}
    return parse_spec({**document, "payloads": masses}).cells


def costs(**seconds: float) -> CellTimes:
    """Return what is known where cells of so many bits took so many seconds."""
    known = CellTimes()
    for bits, one in seconds.items():
        known.learn(cells([int(bits[1:])])[0], one)
    return known


def taken(batches: Any, workers: int) -> list[tuple[int, ...]]:
    found = []
    while batches:
        found.append(batches.take(workers))
    return found


def test_cells_of_which_nothing_is_known_go_first_and_alone_then_the_longest() -> None:
    some = cells([4, 5, 6, 7, 8])
    known = costs(b4=3.0, b5=2.0, b6=6.0, b7=1.5, b8=9.0)
    assert taken(CellQueue(some, range(5), known), 1) == [(4,), (2,), (0,), (1,), (3,)]
    assert taken(CellQueue(some, range(5), CellTimes()), 1) == [(4,), (3,), (2,), (1,), (0,)]


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
    assert CellTimes([document]).of(cell) is None
    ours = {"asked": cell.asked, "seconds": 3.0}
    assert CellTimes([document, ours]).of(cell) == 3.0
