"""Machines: what things cost on them, their files, and the errors of bad files."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from parallel.schedule.graphs import linked, named_graph, shared

import boolcomp
from boolcomp.base import DataError, UsageError
from boolcomp.parallel import load_machine, reproduce
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


def test_a_finding_holds_to_its_last_printed_digit() -> None:
    count = next(x for x in reproduce("zomaya") if x.kind == "count")
    assert replace(count, printed="0.68", ours=0.6845).holds
    assert not replace(count, printed="0.68", ours=0.6861).holds
    assert replace(count, printed="2", ours=3.0, kind="model").residual == 0.5
    assert replace(count, printed="2", ours=2.01, kind="model").holds
    assert not replace(count, printed="2", ours=2.1, kind="model").holds


def test_what_was_measured_on_several_processors_is_predicted_to_a_fifth() -> None:
    rows = [
        x for x in reproduce("zeng") if x.note == "predicted" and x.figure.startswith("version")
    ]
    versions = [x for x in rows if not x.figure.startswith("version 5")]
    assert max(abs(x.residual) for x in versions) < 0.2
    assert sum(abs(x.residual) for x in versions) / len(versions) < 0.06


def test_the_model_of_three_transputers_needs_a_graph() -> None:
    names = ("J/1", "M/1", "L/1", "k/1", "q/1", "r/1", "solve")
    needs = {"M/1": "J/1", "L/1": "M/1", "k/1": "J/1", "q/1": "J/1", "r/1": "k/1", "solve": "r/1"}
    edges = (*((a, b, 6) for b, a in needs.items()), ("q/1", "r/1", 6))
    cycle = named_graph(dict.fromkeys(names, Operations(100, 80)), edges)
    found = {x.figure: x for x in reproduce("schaefer", cycle)}
    assert 1596 * 5 / 7 <= found["cycle on three transputers (µs)"].ours < 1596
