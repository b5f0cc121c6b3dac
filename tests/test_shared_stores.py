"""Commands, sweeps and Python with stores that others share."""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING, Any

import pytest
from small_programs import stages

import boolcomp
from boolcomp.common.errors import DataError
from boolcomp.common.places import Folder
from boolcomp.logic.truthtable import digest
from boolcomp.paper.plan import Options
from boolcomp.paper.store import FOREIGN, Recipe, Store, function_of
from boolcomp.pipeline import run_passes
from boolcomp.twolevel.minimise import minimise

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Result

    from boolcomp.paper.truth import TermTable

GRAVITY = ("compile", "machado-2r", "--of", "gravity", "--bits", "4", "--effort", "0")
SWEEP = (
    'robots = ["machado-2r"]\nfunctions = ["gravity"]\nbits = [4, 5]\neffort = 0\n'
    'approximate = "off"\n'
)


def be_another(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / name))


@pytest.mark.check
@pytest.mark.parametrize("kind", ["folder", "memory"])
def test_what_one_user_compiled_another_one_proves_and_uses(
    run: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    store = "shared" if kind == "folder" else "memory://lab/boolcomp"
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
    program = boolcomp.compile("machado-2r", 4, of="gravity", effort=0, store=store)
    assert program.network() == boolcomp.load_program("first").network()


@pytest.mark.check
def test_workers_of_sweeps_share_a_store_and_a_lie_in_it_changes_nothing(
    run: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sweep.toml").write_text(SWEEP)
    command = ("sweep", "sweep.toml", "--processes", "2")
    assert run(*command, "-o", "alone").code == 0
    be_another(monkeypatch, tmp_path, "another")
    assert run(*command, "-o", "first", "--store", "shared").code == 0
    be_another(monkeypatch, tmp_path, "third")
    assert run(*command, "-o", "second", "--store", "shared").code == 0
    costs = [json.loads(path.read_text()) for path in (tmp_path / "second/costs").iterdir()]
    assert [cost["stored"] for cost in costs] == [True, True]
    one, other = sorted((tmp_path / "shared").glob("*.compact.json"))
    text = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(text)
    be_another(monkeypatch, tmp_path, "fourth")
    assert run(*command, "-o", "third", "--store", "shared").code == 0
    costs = [json.loads(path.read_text()) for path in (tmp_path / "third/costs").iterdir()]
    assert [cost["stored"] for cost in costs] == [False, False]
    for name in ("first", "second", "third"):
        assert (tmp_path / name / "results.csv").read_bytes() == (
            tmp_path / "alone/results.csv"
        ).read_bytes()


def test_a_store_that_is_not_there_is_said_before_any_work(run: Callable[..., Result]) -> None:
    wrong = run(*GRAVITY, "--store", "s4://lab/x")
    assert wrong.code == 2
    assert "no kind of store is called 's4' (did you mean 's3'" in wrong.err
    with pytest.raises(DataError, match="its boolcomp-store"):
        refused()


@pytest.fixture(name="opened")
def what_is_opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the addresses that are opened: of stores, and of sockets on any network."""
    found: list[str] = []

    def open_(address: str) -> Any:
        found.append(address)
        raise OSError("no network")

    def connect(_: socket.socket, address: Any) -> None:
        open_(str(address))

    monkeypatch.setattr("boolcomp.common.buckets._system", open_)
    monkeypatch.setattr(socket.socket, "connect", connect)
    monkeypatch.setattr(socket.socket, "connect_ex", connect)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *given, **_: open_(str(given[0])))
    return found


ADDRESS = "memory://lab/boolcomp"
HTTP = "https://lab.example/boolcomp"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (f"compile machado-2r --store {ADDRESS} --bits eight", 2),
        (f"compile machado-2r --store {ADDRESS} --help", 0),
        (f"compile --store {ADDRESS}", 2),
        (f"sweep sweep.toml -o out --store {ADDRESS} --dry-run", 0),
        (f"robots {HTTP}.urdf", 2),
        (f"compile {HTTP}.toml --bits 4", 2),
        (f"evaluate machado-2r -i {HTTP}.csv", 1),
        (f"evaluate machado-2r -i {ADDRESS}.npy", 1),
        (f"evaluate {ADDRESS} -i states.zarr", 2),
        (f"evaluate program -i {ADDRESS}.zarr -o out.zarr", 2),
        (f"verify {ADDRESS}", 1),
        (f"show {HTTP}.pla", 2),
        (f"import {HTTP}.blif -o out.blif", 1),
        (f"minimize {HTTP}.pla", 1),
        ("sweep addresses.toml -o out", 1),
    ],
)
def test_no_address_is_opened_but_by_a_command_that_runs_with_it(
    line: str, code: int, run: Callable[..., Result], opened: list[str], tmp_path: Path
) -> None:
    (tmp_path / "sweep.toml").write_text(SWEEP)
    (tmp_path / "addresses.toml").write_text(f'robots = ["{HTTP}.urdf"]\nbits = [4]\n')
    stages(4)[2].save(tmp_path / "program")
    assert run(*line.split()).code == code
    assert opened == []


def test_completing_a_line_opens_no_address(
    run: Callable[..., Result], opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    line = f"boolcomp compile machado-2r --store {ADDRESS} --mode "
    monkeypatch.setenv("_BOOLCOMP_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", "6")
    assert "compact" in run().out
    assert opened == []


@pytest.mark.parametrize("command", [GRAVITY, ("sweep", "sweep.toml", "-o", "out")])
def test_a_command_that_runs_with_an_address_opens_it(
    command: tuple[str, ...], run: Callable[..., Result], opened: list[str], tmp_path: Path
) -> None:
    (tmp_path / "sweep.toml").write_text(SWEEP)
    found = run(*command, "--store", ADDRESS)
    assert (found.code, "no network" in found.err) == (1, True)
    assert set(opened) == {ADDRESS}


def refused() -> Any:
    from boolcomp.common.places import place_of

    place_of("memory://foreign").write("boolcomp-store.txt", "of another kind")
    return boolcomp.compile("machado-2r", 4, of="gravity", effort=0, store="memory://foreign")


@pytest.fixture(scope="module", name="entry")
def a_table() -> TermTable:
    made: tuple[TermTable, ...] = run_passes("machado-2r", Options(bits=5))
    return next(entry for entry in made if entry.plan.term.name == "T13")


def test_a_cover_of_somebody_else_covers_but_is_no_proven_minimum(
    entry: TermTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store((Folder(tmp_path / "shared"),))
    cover = minimise(function_of(entry.table), "exact", 30)
    assert cover.proved
    be_another(monkeypatch, tmp_path, "theirs")
    name = store.keep(entry, Recipe("exact"), cover)
    mine = store.find(entry.table, Recipe("exact"))
    assert mine is not None
    assert mine.proved
    be_another(monkeypatch, tmp_path, "mine")
    assert store.find(entry.table, Recipe("exact")) is None
    path = tmp_path / "shared" / name
    assert digest(entry.table) in name
    path.write_text(path.read_text().replace("method: exact", "method: \x1b[31m"))
    found = store.find(entry.table, Recipe("own"))
    assert found is not None
    assert repr(found.cubes) == repr(cover.cubes)
    assert (found.proved, found.lower_bound) == (False, 1)
    assert (found.method, found.note) == ("unknown", FOREIGN)
