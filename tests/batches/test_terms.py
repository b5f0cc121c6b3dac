"""Product terms dealt to shares whose planes go from one to the other: the results are the same."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from batchfiles import bytes_of, program, states, write
from clusters import needs_loopback

from boolcomp.base.errors import DataError, UsageError
from boolcomp.base.workers import Workers
from boolcomp.scale import batches
from boolcomp.scale.batch_files import columns_of, find_source, results_of
from boolcomp.scale.batches import (
    BatchJob,
    ChunkPlan,
    Tally,
    check_shard,
    checksum_of,
    evaluate_chunk,
    evaluate_files,
)
from boolcomp.scale.journal import NPY, ResultTarget, create

ROWS = 1700


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a chunk be several pieces, the last of them no whole block."""
    monkeypatch.setattr("boolcomp.scale.batches.piece_rows", lambda *_: 600)


def job_for(tmp_path: Path, name: str, engine: Any = "numpy") -> tuple[BatchJob, ChunkPlan]:
    """Return the job and the only chunk of the states in s.npy."""
    program().save(tmp_path / "program")
    columns, results = columns_of(program()), results_of(program(), None)
    source = find_source(tmp_path / "s.npy", columns)
    real = "float32" if source.dtype == "float32" else "float64"
    target = ResultTarget(NPY, str(tmp_path / name), name, ROWS, real, results)
    create(target)
    checksum = checksum_of(tmp_path / "program")
    job = BatchJob(
        str(tmp_path / "program"), checksum, None, engine, 1, columns, source.dtype, target
    )
    return job, ChunkPlan(source, NPY, ROWS)


def by_terms(job: BatchJob, plan: ChunkPlan, count: int) -> Tally:
    """Do all shares of the only chunk."""
    others = [batches.partial(job, plan[0], k, count) for k in range(count - 1)]
    return batches.joined(job, plan[0], count, *others)


@pytest.mark.parametrize("kind", ["float64", "float32", "uint8"])
@pytest.mark.parametrize("count", [2, 3])
def test_shares_joined_are_the_whole(count: int, kind: str, tmp_path: Path) -> None:
    table = np.abs(states(ROWS)) % 2 if kind == "uint8" else states(ROWS)
    write(tmp_path / "s.npy", table.astype(kind))
    job, plan = job_for(tmp_path, "terms.npy")
    tally = by_terms(job, plan, count)
    job, plan = job_for(tmp_path, "samples.npy")
    alone = evaluate_chunk(job, plan[0])
    assert (tmp_path / "terms.npy").read_bytes() == (tmp_path / "samples.npy").read_bytes()
    assert tally._replace(seconds=alone.seconds, sent=0) == alone
    padded = [-(-rows // 512) * 512 for rows in (600, 600, 500)]
    sent = sum(len(batches.share_of(job, k, count).stage.sent) for k in range(count - 1))
    assert tally.sent == sum(padded) * sent // 8 > 0


def test_a_bad_value_is_named_by_whoever_comes_to_it(tmp_path: Path) -> None:
    table = states(ROWS)
    table[1300, 2] = np.inf
    write(tmp_path / "s.npy", table)
    job, plan = job_for(tmp_path, "t.npy")
    with pytest.raises(DataError, match=r"s\.npy: qd1 of sample 1300 is inf"):
        by_terms(job, plan, 2)


def test_terms_are_of_programs_that_have_some_and_of_clusters(tmp_path: Path) -> None:
    write(tmp_path / "s.npy", states(ROWS))
    given: Any = (tmp_path / "s.npy", tmp_path / "t.npy")
    with pytest.raises(
        UsageError, match="--shard terms distributes product terms, and a compact program"
    ):
        check_shard("terms", "compact")
    with pytest.raises(UsageError, match="sends planes among workers"):
        evaluate_files(program(), *given, shard="terms")
    wrong: Any = "term"
    with pytest.raises(UsageError, match="did you mean 'terms'"):
        evaluate_files(program(), *given, shard=wrong)
    assert not list(tmp_path.glob("*.unfinished"))


@needs_loopback
@pytest.mark.check
def test_dask_workers_hand_planes_to_each_other(tmp_path: Path) -> None:
    write(tmp_path / "s.npy", states(70_000))
    evaluate_files(program(), tmp_path / "s.npy", tmp_path / "samples", chunk=20_000)
    found = evaluate_files(
        program(), tmp_path / "s.npy", tmp_path / "terms", chunk=20_000, shard="terms",
        workers=Workers("local:2"),
    )  # fmt: skip
    assert bytes_of(tmp_path / "terms") == bytes_of(tmp_path / "samples")
    assert found.sent > 70_000
