"""The store: found again by content, verified, safe to share."""

from __future__ import annotations

import multiprocessing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from boolcomp.common.errors import DataWarning, UsageError
from boolcomp.common.places import Folder
from boolcomp.logic.truthtable import digest
from boolcomp.paper.covers import make_covers
from boolcomp.paper.plan import Options
from boolcomp.paper.store import Recipe, Store, default_store, function_of
from boolcomp.pipeline import run_passes
from boolcomp.twolevel.minimise import minimise

if TYPE_CHECKING:
    from boolcomp.paper.truth import TermTable


@pytest.fixture(scope="module", name="entries")
def small_tables() -> tuple[TermTable, ...]:
    made: tuple[TermTable, ...] = run_passes("machado-2r", Options(bits=5))
    return made


@pytest.fixture(name="store")
def empty_store(tmp_path: Path) -> Store:
    return Store((Folder(tmp_path / "store"),))


def test_what_is_kept_is_found_by_content(entries: tuple[TermTable, ...], store: Store) -> None:
    entry = entries[0]
    cover = minimise(function_of(entry.table), "own", 10)
    assert store.find(entry.table, Recipe()) is None
    store.keep(entry, Recipe(), cover)
    found = store.find(entry.table, Recipe())
    assert found is not None
    assert repr(found.cubes) == repr(cover.cubes)
    assert (found.proved, found.lower_bound) == (cover.proved, cover.lower_bound)
    assert store.find(entries[1].table, Recipe()) is None
    assert store.find(entry.table, Recipe("espresso")) is None


def test_faithful_and_nearest_tables_are_kept_apart(entries: tuple[TermTable, ...]) -> None:
    faithful = run_passes("machado-2r", Options(bits=5, rounding="faithful"))
    assert digest(faithful[0].table) != digest(entries[0].table)


def test_a_cover_cut_short_does_not_answer_for_more_time(
    entries: tuple[TermTable, ...], store: Store
) -> None:
    entry = entries[0]
    cover = minimise(function_of(entry.table), "isop", 10)
    cut = type(cover)(cover.cubes, "own", lower_bound=1, note="deadline reached")
    store.keep(entry, Recipe("own", 2.0), cut)
    assert store.find(entry.table, Recipe("own", 2.0)) is not None
    assert store.find(entry.table, Recipe("own", 3.0)) is None
    assert store.find(entry.table, Recipe("own", None)) is None


def test_a_proved_minimum_answers_the_heuristic_too(
    entries: tuple[TermTable, ...], store: Store
) -> None:
    entry = next(e for e in entries if e.plan.term.name == "T13")
    store.keep(entry, Recipe("exact"), minimise(function_of(entry.table), "exact", 30))
    found = store.find(entry.table, Recipe("own"))
    assert found is not None
    assert found.proved


@pytest.mark.parametrize("damage", ["cut", "wrong", "header", "junk"])
def test_a_damaged_file_is_a_warning_and_made_anew(
    entries: tuple[TermTable, ...], store: Store, tmp_path: Path, damage: str
) -> None:
    entry = entries[0]
    name = store.keep(entry, Recipe(), minimise(function_of(entry.table), "own", 10))
    path = tmp_path / "store" / name
    text = path.read_text()
    rows = text.splitlines(keepends=True)
    damaged = {
        "cut": text[: len(text) // 2],
        "wrong": "".join(rows[:-3] + rows[-2:]),
        "header": text.replace("lower bound: ", "lower bound: x"),
        "junk": "\x00junk",
    }[damage]
    path.write_text(damaged)
    with pytest.warns(DataWarning, match="made anew"):
        assert store.find(entry.table, Recipe()) is None


@pytest.mark.slow
def test_a_second_compile_reads_everything(entries: tuple[TermTable, ...], store: Store) -> None:
    told: list[tuple[int, ...]] = []
    tables = {entry.table for entry in entries}
    first = make_covers(entries, Recipe(), store, lambda _, *done: told.append(done))
    assert told == sorted(told)
    assert told[0][0] == 0
    assert told[-1][0] == told[-1][1] == sum(one.outputs << one.inputs for one in tables)
    assert len(told) == 1 + len(tables)
    assert not any(term.stored for term in first)
    told.clear()
    second = make_covers(entries, Recipe(), store, lambda _, *done: told.append(done))
    assert not told  # what is read takes no time
    assert all(term.stored for term in second)
    for one, other in zip(first, second, strict=True):
        assert repr(one.cover.cubes) == repr(other.cover.cubes)


@pytest.mark.check
def test_several_processes_may_fill_one_store(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        counts = pool.map(fill, [tmp_path] * 2)
    assert counts[0] == counts[1]
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def fill(folder: Path) -> list[int]:
    entries = run_passes("machado-2r", Options(bits=4))
    store = Store((Folder(folder),))
    for entry in entries:
        if store.find(entry.table, Recipe("isop")) is None:
            store.keep(entry, Recipe("isop"), minimise(function_of(entry.table), "isop"))
    found = [store.find(entry.table, Recipe("isop")) for entry in entries]
    return [cover.products for cover in found if cover is not None]


def test_a_folder_of_tables_that_happens_to_be_here_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    own = Folder(tmp_path / "cache" / "boolcomp" / "tables", trusted=True)
    assert default_store().places[0] == own
    (tmp_path / "tables").mkdir()
    here = Path.cwd() / "tables"
    assert here not in {Path(str(place)).absolute() for place in default_store().places}
    assert default_store().places[0] == own


def test_recipes_out_of_range_are_sentences() -> None:
    with pytest.raises(UsageError, match=r"method 'expresso' \(did you mean 'espresso'"):
        Recipe("expresso")
    with pytest.raises(UsageError, match="a deadline is a positive number of seconds, not -1"):
        Recipe("own", -1)
