"""One compilation on several workers: the same bytes here, in processes and on Dask."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from clusters import NO_LOOPBACK, loopback

import boolcomp as bc
from boolcomp.base import executor
from boolcomp.program import Program


@pytest.fixture(name="dask", scope="module")
def running_dask() -> Iterator[Any]:
    """Start two workers of Dask on the loopback interface, and give a client."""
    pytest.importorskip("distributed", reason="the extra cluster (Dask) is not installed")
    if not loopback():
        pytest.skip(NO_LOOPBACK)
    with executor("local:2") as pool:
        yield pool._client  # type: ignore[attr-defined]  # noqa: SLF001


def saved(program: Program, folder: Path) -> dict[str, bytes]:
    """Return the files of a program."""
    program.save(folder)
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


WORDS = {"q": 6, "qd": 6, "qdd": 6}
KINDS: dict[str, dict[str, Any]] = {  # none of them ships
    "compact": {
        "rms_error": 0.6, "effort": 0, "input_bits": WORDS, "proof": "tight", "proof_effort": 200,
    },
    "promise": {"error": "2lsb", "effort": 0, "input_bits": dict.fromkeys(WORDS, 8)},
    "paper": {"mode": "paper", "minimizer": "isop"},
}  # fmt: skip


@pytest.mark.check
@pytest.mark.parametrize("kind", KINDS)
def test_a_compilation_gives_the_same_bytes_everywhere(
    kind: str, dask: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("boolcomp.compact.widths.QUICK_SEEN", 300_000)
    monkeypatch.setattr("boolcomp.compact.passes.FRESH_SAMPLES", 300_000)
    monkeypatch.setattr("boolcomp.compact.errors.EVALUATIONS", 40_000)
    made = []
    ways: list[dict[str, Any]] = [{"processes": 1}, {"processes": 2}, {"cluster": dask}]
    for k, where in enumerate(ways[: 2 if kind == "promise" else 3]):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / f"cache{k}"))
        program = bc.compile("machado-2r", 4, **KINDS[kind], **where)
        made.append(saved(program, tmp_path / str(k)))
    assert all(one == made[0] for one in made)
    assert len(made[0]) > 1


@pytest.mark.check
def test_a_client_is_a_cluster_for_python(dask: Any) -> None:
    assert str(bc.compile("machado-2r", 8, cluster=dask)) == str(bc.compile("machado-2r", 8))
    assert dask.status == "running"
