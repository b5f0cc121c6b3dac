"""Stores of covers and results: found by content, verified, shared without being believed."""

import multiprocessing
import socket
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from small_programs import stages

import boolcomp as bc
from boolcomp.base import DataWarning, Folder
from boolcomp.paper import (
    CoverStore,
    PlanOptions,
    TermTable,
    default_store,
    function_of,
    make_covers,
    stored_network,
)
from boolcomp.pipeline import run_passes
from boolcomp.twolevel import Cover, Dense, Recipe, minimise


def tables() -> tuple[TermTable, ...]:
    return stages(5)[1]


def table(name: str) -> TermTable:
    return next(entry for entry in tables() if entry.plan.term.name == name)


def covered(entry: TermTable, method: str, deadline: float = 30.0) -> Cover:
    """Return a cover of a table that has no free rows."""
    table = Dense.from_columns(entry.table.inputs, entry.table.columns)
    return minimise(table, method, deadline)


@pytest.fixture(name="store")
def empty_store(tmp_path: Path) -> CoverStore:
    return CoverStore((Folder(tmp_path / "store"),))


def be_another(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str) -> None:
    """Work as a user with another private cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / name))


def test_what_is_kept_is_found_by_content(store: CoverStore) -> None:
    entry = table("T13")
    cover = covered(entry, "own", 10)
    assert store.find(entry.table, Recipe()) is None
    store.keep(entry, Recipe(), cover)
    found = store.find(entry.table, Recipe())
    assert found is not None
    assert repr(found.cubes) == repr(cover.cubes)
    assert (found.proved, found.lower_bound) == (cover.proved, cover.lower_bound)
    assert store.find(table("T12").table, Recipe()) is None
    assert store.find(entry.table, Recipe("espresso")) is None
    faithful = run_passes("machado-2r", PlanOptions(bits=5, rounding="faithful"))[2]
    assert store.find(faithful.table, Recipe()) is None


def test_a_cover_answers_for_less_work_and_a_proved_minimum_for_any(store: CoverStore) -> None:
    entry = table("T12")
    cover = covered(entry, "isop", 10)
    cut = type(cover)(cover.cubes, "own", lower_bound=1, note="deadline reached")
    store.keep(entry, Recipe("own", 2.0), cut)
    asked = (2.0, 3.0, None)
    found = [store.find(entry.table, Recipe("own", seconds)) for seconds in asked]
    assert [one is None for one in found] == [False, True, True]
    whole = type(cover)(cover.cubes, "own", lower_bound=1)  # it ended before the deadline
    store.keep(entry, Recipe("own", 2.0), whole)
    assert all(store.find(entry.table, Recipe("own", seconds)) for seconds in asked)
    small = table("T13")
    store.keep(small, Recipe("exact"), covered(small, "exact", 30))
    proved = store.find(small.table, Recipe("own"))
    assert proved is not None
    assert proved.proved


@pytest.mark.parametrize("damage", ["cut", "wrong", "header", "junk"])
def test_a_damaged_file_is_a_warning_and_made_anew(
    store: CoverStore, tmp_path: Path, damage: str
) -> None:
    entry = table("T12")
    name = store.keep(entry, Recipe(), covered(entry, "isop", 10))
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


def test_a_second_compile_reads_everything(store: CoverStore) -> None:
    told: list[tuple[int, ...]] = []
    found = []
    for _ in range(2):
        told.clear()
        found.append(
            make_covers(tables(), Recipe("isop"), store, lambda _, *done: told.append(done))
        )
        if len(found) == 1:
            different = {entry.table for entry in tables()}
            assert told == sorted(told)
            assert (told[0][0], len(told)) == (0, 1 + len(different))
            work = sum(one.outputs << one.inputs for one in different)
            assert told[-1][:2] == (work, work)
    assert not told  # what is read takes no time
    assert [{term.stored for term in terms} for terms in found] == [{False}, {True}]
    for one, other in zip(*found, strict=True):
        assert repr(one.cover.cubes) == repr(other.cover.cubes)


@pytest.mark.check
def test_several_processes_may_fill_one_store(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        counts = pool.map(fill, [tmp_path] * 2)
    assert counts[0] == counts[1]
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def fill(folder: Path) -> list[int]:
    entries = run_passes("machado-2r", PlanOptions(bits=4))
    store = CoverStore((Folder(folder),))
    for entry in entries:
        if store.find(entry.table, Recipe("isop")) is None:
            store.keep(entry, Recipe("isop"), covered(entry, "isop"))
    found = [store.find(entry.table, Recipe("isop")) for entry in entries]
    return [cover.products for cover in found if cover is not None]


def test_a_folder_of_tables_that_happens_to_be_here_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    be_another(monkeypatch, tmp_path, "cache")
    own = Folder(tmp_path / "cache" / "boolcomp" / "tables", trusted=True)
    assert default_store().places[0] == own
    (tmp_path / "tables").mkdir()
    assert default_store().places[0] == own
    assert str(tmp_path / "tables") not in map(str, default_store().places)


GRAVITY = ("compile", "machado-2r", "--of", "gravity", "--bits", "4", "--effort", "0")
SWEEP = (
    'robots = ["machado-2r"]\nfunctions = ["gravity"]\nbits = [4, 5]\neffort = 0\n'
    'approximate = "off"\n'
)


def test_a_cover_of_somebody_else_covers_but_is_no_proven_minimum(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry, store = table("T13"), CoverStore((Folder(tmp_path / "shared"),))
    cover = covered(entry, "exact", 30)
    assert cover.proved
    be_another(monkeypatch, tmp_path, "theirs")
    name = store.keep(entry, Recipe("exact"), cover)
    mine = store.find(entry.table, Recipe("exact"))
    assert mine is not None
    assert mine.proved
    be_another(monkeypatch, tmp_path, "mine")
    assert store.find(entry.table, Recipe("exact")) is None
    path = tmp_path / "shared" / name
    path.write_text(path.read_text().replace("method: exact", "method: \x1b[31m"))
    found = store.find(entry.table, Recipe("own"))
    assert found is not None
    assert repr(found.cubes) == repr(cover.cubes)
    assert (found.proved, found.lower_bound) == (False, 1)
    assert (found.method, found.note) == (
        "unknown",
        "from a shared cache: its lower bound is not proved here",
    )


@pytest.mark.check
@pytest.mark.parametrize("store", ["shared", "memory://lab/boolcomp"])
def test_what_one_user_compiled_another_one_proves_and_uses(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: str
) -> None:
    first = run(*GRAVITY, "--store", store, "-o", "first")
    assert first.code == 0
    be_another(monkeypatch, tmp_path, "another")
    second = run(*GRAVITY, "--store", store, "-o", "second")
    assert second.code == 0
    assert "read from the store" in second.err
    assert first.out == second.out
    for name in ("program.json", "networks/0.txt", "graphs/0.txt"):
        one, other = (tmp_path / folder / name for folder in ("first", "second"))
        assert one.read_bytes() == other.read_bytes()
    program = bc.compile("machado-2r", 4, of="gravity", effort=0, store=store)
    assert program.network() == bc.load_program("first").network()


@pytest.fixture(name="opened")
def what_is_opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the addresses that are opened: of stores, and of sockets on any network."""
    found: list[str] = []

    def open_(address: str) -> Any:
        found.append(address)
        raise OSError("no network")

    def connect(_: socket.socket, address: Any) -> None:
        open_(str(address))

    monkeypatch.setattr("boolcomp.base.store._system", open_)
    monkeypatch.setattr(socket.socket, "connect", connect)
    monkeypatch.setattr(socket.socket, "connect_ex", connect)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *given, **_: open_(str(given[0])))
    return found


ADDRESS, HTTP = "memory://lab/boolcomp", "https://lab.example/boolcomp"


def test_no_address_is_opened_but_by_a_command_that_runs_with_it(
    run: Run, opened: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sweep.toml").write_text(SWEEP)
    (tmp_path / "addresses.toml").write_text(f'robots = ["{HTTP}.urdf"]\nbits = [4]\n')
    stages(4)[2].save(tmp_path / "program")
    for line, code in (
        (f"compile machado-2r --store {ADDRESS} --bits eight", 2),
        (f"compile machado-2r --store {ADDRESS} --help", 0),
        (f"compile --store {ADDRESS}", 2),
        (f"sweep sweep.toml -o out --store {ADDRESS} --dry-run", 0),
        (f"robots {HTTP}.urdf", 2),
        (f"compile {HTTP}.toml --bits 4", 2),
        (f"evaluate machado-2r -i {HTTP}.csv", 2),
        (f"evaluate machado-2r -i {ADDRESS}.npy", 2),
        (f"evaluate {ADDRESS} -i states.zarr", 2),
        (f"evaluate program -i {ADDRESS}.zarr -o out.zarr", 2),
        (f"verify {ADDRESS}", 2),
        (f"show {HTTP}.pla", 2),
        (f"import {HTTP}.blif -o out.blif", 2),
        (f"minimize {HTTP}.pla", 2),
        ("sweep addresses.toml -o out", 1),
    ):
        assert run(*line.split()).code == code, line
    with monkeypatch.context() as patch:
        patch.setenv("_BOOLCOMP_COMPLETE", "bash_complete")
        patch.setenv("COMP_WORDS", f"boolcomp compile machado-2r --store {ADDRESS} --mode ")
        patch.setenv("COMP_CWORD", "6")
        assert "compact" in run().out
    assert opened == []
    for command in (GRAVITY, ("sweep", "sweep.toml", "-o", "out")):
        found = run(*command, "--store", ADDRESS)
        assert (found.code, "no network" in found.err) == (1, True)
    assert set(opened) == {ADDRESS}


def test_the_network_of_a_large_cover_is_made_once_and_then_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    be_another(monkeypatch, tmp_path, "someone")
    cubes = minimise(function_of(table("T12").table), "isop").cubes
    made = stored_network(cubes)
    assert not list((tmp_path / "someone").rglob("networks/*.txt"))
    monkeypatch.setattr("boolcomp.paper.covers.WORTH_KEEPING", len(cubes))
    assert stored_network(cubes) == made
    with monkeypatch.context() as patch:
        patch.delattr("boolcomp.paper.covers.network_of_cover")
        assert stored_network(cubes) == made
    (path,) = (tmp_path / "someone").rglob("networks/*.txt")
    path.write_text(path.read_text().replace("0", "1", 1))
    assert stored_network(cubes) == made  # a damaged file is made anew
    (tmp_path / "file").write_text("in the way")  # and none can be written
    be_another(monkeypatch, tmp_path, "file")
    assert stored_network(cubes) == made
