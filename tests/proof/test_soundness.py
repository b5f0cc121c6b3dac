"""The benchmark that holds bounds against states passes, and fails of a bound that is too small."""

from pathlib import Path

import pytest

from boolcomp.proof import Climbers

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
with pytest.MonkeyPatch.context() as patch:  # some of its modules have names of tests' folders
    patch.syspath_prepend(BENCHMARKS)
    import randomproblems
    import soundness


def run(log: Path, *options: str) -> int:
    return soundness.main(
        ["--random", "3", "--only", "random clip", "--states", "1000000", "--climb", "100000",
         "--log", str(log), *options]
    )  # fmt: skip


@pytest.mark.check
def test_a_bound_that_is_one_percent_too_small_is_found_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(soundness, "FastClimbers", Climbers)  # they take long to be compiled
    log = tmp_path / "log.jsonl"
    assert run(log) == 0
    lines = log.read_text()
    assert lines.count("\n") == 2
    assert run(log, "--shrink", "0.01") == 1
    assert log.read_text() == lines  # nothing was run again
    assert "1 programs, 1 with errors above a bound" in capsys.readouterr().out


@pytest.mark.check
def test_a_curve_of_three_tables_that_bends_is_not_taken_for_a_pair() -> None:
    program, _ = randomproblems.random_program("smooth", 35)
    assert program.bound[0] > 0
