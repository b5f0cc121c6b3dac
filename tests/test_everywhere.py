"""One compilation on several workers: the same bytes here, in processes and on Dask; no orphans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import boolcomp as bc
from boolcomp.common.executor import executor
from boolcomp.common.places import Folder
from boolcomp.common.workers import ALONE, TWO, Workers
from boolcomp.compact import remade
from boolcomp.compact.demand import Demand
from boolcomp.compact.errors import worst as compact_worst
from boolcomp.compact.passes import CompactChoices
from boolcomp.compact.widths import passes as widths
from boolcomp.paper.passes import PaperChoices
from boolcomp.paper.plan import Options
from boolcomp.paper.store import Recipe, Store
from boolcomp.pipeline import compile_compact, compile_paper
from boolcomp.problem.promise import promise_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from boolcomp.program.program import Program

COUNTS = (
    (widths, "QUICK_SEEN", 300_000),
    (remade, "FRESH_SAMPLES", 300_000),
    (compact_worst, "EVALUATIONS", 40_000),
)


@pytest.fixture(name="dask", scope="module")
def running_dask() -> Iterator[Any]:
    """Start two workers of Dask on the loopback interface, and give a client."""
    pytest.importorskip("distributed", reason="the extra cluster (Dask) is not installed")
    with executor("local:2") as pool:
        yield pool._client  # type: ignore[attr-defined]  # noqa: SLF001


def saved(program: Program, folder: Path) -> dict[str, bytes]:
    """Return the files of a program."""
    program.save(folder)
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def compact(workers: Workers, folder: Path, demand: Demand, **more: Any) -> dict[str, bytes]:
    """Compile from nothing in compact mode."""
    choices = CompactChoices(demand, folder / "store", also_shipped=False, workers=workers, **more)
    return saved(compile_compact("machado-2r", choices).program, folder / "program")


def paper(workers: Workers, folder: Path) -> dict[str, bytes]:
    """Compile from nothing in paper mode."""
    choices = PaperChoices(
        Options(4),
        Recipe("isop"),
        Store((Folder(folder / "store"),)),
        evaluations=20_000,
        workers=workers,
    )
    return saved(compile_paper("machado-2r", choices).program, folder / "program")


@pytest.mark.check
def test_a_compilation_in_compact_mode_gives_the_same_bytes_everywhere(
    dask: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name, count in COUNTS:
        monkeypatch.setattr(module, name, count)
    demand = Demand(bits=4, rms=(0.6,), effort=0.0, input_bits={"q": 6, "qd": 6, "qdd": 6})
    made = [
        compact(workers, tmp_path / str(k), demand, proof="tight", proof_effort=200)
        for k, workers in enumerate((ALONE, TWO, Workers(dask)))
    ]
    assert made[0] == made[1] == made[2]
    assert len(made[0]) > 1


@pytest.mark.check
def test_a_compilation_in_paper_mode_gives_the_same_bytes_everywhere(
    dask: Any, tmp_path: Path
) -> None:
    made = [
        paper(workers, tmp_path / str(k)) for k, workers in enumerate((ALONE, TWO, Workers(dask)))
    ]
    assert made[0] == made[1] == made[2]
    assert len(made[0]) > 1


@pytest.mark.check
def test_a_promise_is_kept_with_the_same_bytes_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name, count in COUNTS:
        monkeypatch.setattr(module, name, count)
    demand = Demand(
        bits=4,
        effort=0.0,
        error=promise_of("error", "2lsb"),
        input_bits={"q": 8, "qd": 8, "qdd": 8},
    )
    made = [compact(w, tmp_path / str(k), demand) for k, w in enumerate((ALONE, TWO))]
    assert made[0] == made[1]


def test_a_client_is_a_cluster_for_python(dask: Any) -> None:
    assert str(bc.compile("machado-2r", 8, cluster=dask)) == str(bc.compile("machado-2r", 8))
    assert dask.status == "running"
