"""Machines: what things cost on them, their files, and the errors of bad files."""

from itertools import pairwise
from pathlib import Path

import pytest
from parallel.schedule.graphs import linked, shared

import boolcomp
from boolcomp.base import DataError, UsageError
from boolcomp.parallel import load_machine
from boolcomp.problem import Operations

FOLDER = Path(boolcomp.__file__).parent / "parallel" / "machines"
TEXT = (FOLDER / "t800.toml").read_text(encoding="utf-8")
SHARED = (FOLDER / "encore.toml").read_text(encoding="utf-8")


def test_operations_and_messages_cost_what_the_machine_says() -> None:
    assert linked().time(Operations(2, 4, 1, 1, 1)) == 2 * 0.5 + 4 * 0.25 + 1 + 2 + 4
    assert linked("line").delay(2, 0, 3, 4) == 3 * (0.5 + 2 * 1.5)  # every hop counts
    assert shared().delay(2, 0, 1, 4) == 1.0 + 2 * 0.125 + 0.25
    assert linked().delay(2, 1, 1, 4) == 0
    with pytest.raises(UsageError, match="1 to 64 processors, not 65"):
        linked().check_processors(65)


@pytest.mark.parametrize(
    ("topology", "path"),
    [("full", (1, 4)), ("line", (1, 2, 3, 4)), ("ring", (1, 0, 4)), ("star", (1, 0, 4))],
)
def test_messages_take_the_shortest_way(topology: str, path: tuple[int, ...]) -> None:
    links = linked(topology).memory
    assert links.path(1, 4, 5) == path
    assert all(links.neighbours(a, b, 5) for a, b in pairwise(path))
    pairs = [(a, b, count) for count in (1, 2, 6) for a in range(count) for b in range(count)]
    assert all(links.hops(*pair) == len(links.path(*pair)) - 1 for pair in pairs)


def test_the_machines_that_ship_can_be_read(tmp_path: Path) -> None:
    for path in FOLDER.glob("*.toml"):
        assert load_machine(path.stem).name == path.stem
    machine = load_machine("t800")
    assert (machine.costs.multiplication, machine.costs.addition) == (0.55, 0.35)
    assert machine.delay(12, 0, 1, 4) == pytest.approx(19.2)  # as the paper says
    path = tmp_path / "mine.toml"
    path.write_text(TEXT.replace('"t800"', '"mine"'), encoding="utf-8")
    assert load_machine(str(path)).name == "mine"


@pytest.mark.slow
def test_this_machine_is_measured() -> None:
    machine = load_machine("this-machine")
    assert 0 < machine.costs.addition <= machine.costs.multiplication < machine.costs.division < 1
    assert machine.delay(1, 0, 1, 2) > 0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("addition = 0.35", "addition = -0.35", "operations.addition: must be a cost of 0"),
        ("addition = 0.35", 'addition = "cheap"', "operations.addition: must be a number"),
        ("addition = 0.35", "", "operations.addition: missing"),
        ("count = 4", "count = 0", "links.count: must be a whole number from 1"),
        ("overlap = true", "overlap = 1", "links.overlap: must be true or false"),
        ('"full"', '"rings"', r"bad\.toml:17: links\.topology: unknown"),
        ("[links]", "[linx]", "unknown key; did you mean 'links"),
        ('name = "t800"', "name = 800", "name: must be text"),
        (TEXT[TEXT.index("[links]") :], "", r"either a .links. or a .shared. section"),
        (TEXT, SHARED + TEXT[TEXT.index("[links]") :], r"either a .links. or a .shared. section"),
    ],
)
def test_a_bad_machine_file_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in TEXT
    path = tmp_path / "bad.toml"
    path.write_text(TEXT.replace(old, new), encoding="utf-8")
    with pytest.raises(DataError, match=message):
        load_machine(str(path))


def test_an_unknown_machine_gets_the_nearest_name() -> None:
    with pytest.raises(UsageError, match="did you mean 't800'"):
        load_machine("t80")
    with pytest.raises(DataError, match=r"no such file or folder"):
        load_machine("nowhere.toml")
