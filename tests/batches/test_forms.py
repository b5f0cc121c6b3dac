"""Files evaluated in chunks: every form gives what one call of the program gives."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from batchfiles import NAMES, RESULTS, program, read, states, torques, write, write_parquet

import boolcomp as bc
from boolcomp.problem import problem_of

ROWS = 5003
SOURCES = ["s.npy", "s.parquet", "s.zarr", "npys", "parquets"]
TARGETS = ["t.npy", "t.parquet", "t.zarr", "t"]


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a chunk be many pieces, and an array many chunks."""
    monkeypatch.setattr("boolcomp.scale.batches.piece_rows", lambda *_: 300)
    monkeypatch.setattr("boolcomp.scale.batch_files.ROWS", 512)


def evaluated(source: Path, target: Path, **choices: Any) -> Any:
    return bc.evaluate_files(program(), source, target, **{"chunk": 1000, **choices})


@pytest.mark.parametrize(
    ("source", "target"), [*zip(SOURCES, [*TARGETS, "t.npy"], strict=True), ("s.npy", "t.zarr")]
)
def test_every_form_gives_what_one_call_gives(source: str, target: str, tmp_path: Path) -> None:
    table = states(ROWS)
    found = evaluated(write(tmp_path / source, table), tmp_path / target)
    assert np.array_equal(read(tmp_path / target), torques(table))
    alone = program().evaluate(*np.split(table, 3, axis=1))
    counts = alone.saturated_inputs, alone.saturated_outputs, alone.beyond_stops
    assert (found.saturated_inputs, found.saturated_outputs, found.beyond_stops) == counts
    assert found.samples == ROWS
    assert found.chunks > 1
    assert alone.saturated_inputs > 0
    assert [one.name for one in tmp_path.iterdir() if "unfinished" in one.name] == []


@pytest.mark.parametrize("source", SOURCES)
def test_float32_stays_float32(source: str, tmp_path: Path) -> None:
    table = states(ROWS).astype(np.float32)
    evaluated(write(tmp_path / source, table), tmp_path / "t.npy")
    found = read(tmp_path / "t.npy")
    assert found.dtype == np.float32
    assert np.array_equal(found, torques(table))


@pytest.mark.parametrize(
    ("source", "kind"), [("s.npy", "uint8"), ("s.zarr", "uint16"), ("s.parquet", "uint64")]
)
def test_unsigned_integers_are_code_words(source: str, kind: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    codes = {word.name: word.code for word in program().inputs}
    table = np.stack([rng.integers(0, codes[name].cells, ROWS) for name in NAMES], axis=1)
    evaluated(write(tmp_path / source, table.astype(kind)), tmp_path / "t.npy")
    alone = program().evaluate_words(*np.split(table, 3, axis=1)).values
    assert np.array_equal(read(tmp_path / "t.npy"), alone)


def test_columns_of_parquet_go_by_their_names_and_others_are_left_alone(tmp_path: Path) -> None:
    table = states(ROWS)
    columns: dict[str, Any] = {name: table[:, k] for k, name in [*enumerate(NAMES)][::-1]}
    columns = {"robot": np.arange(ROWS), **columns, "place": ["left"] * ROWS}
    write_parquet(tmp_path / "s.parquet", columns, {"q1": "rad"})
    evaluated(tmp_path / "s.parquet", tmp_path / "t.parquet")
    assert np.array_equal(read(tmp_path / "t.parquet"), torques(table))


def test_columns_of_zarr_go_by_their_names_where_the_array_says_them(tmp_path: Path) -> None:
    import zarr

    table = states(ROWS)
    names = {"columns": [*NAMES[::-1]], "units": [""] * 6}
    zarr.create_array(
        str(tmp_path / "s.zarr"), data=table[:, ::-1], chunks=(700, 4), attributes=names
    )
    evaluated(tmp_path / "s.zarr", tmp_path / "t.npy")
    assert np.array_equal(read(tmp_path / "t.npy"), torques(table))


def test_results_say_their_names_and_units(tmp_path: Path) -> None:
    import pyarrow.parquet as pq
    import zarr

    write(tmp_path / "s.npy", states(10))
    evaluated(tmp_path / "s.npy", tmp_path / "t.zarr")
    evaluated(tmp_path / "s.npy", tmp_path / "t.parquet")
    array: Any = zarr.open_array(str(tmp_path / "t.zarr"), mode="r")
    assert array.attrs.asdict() == {"columns": [*RESULTS], "units": ["N·m", "N·m"]}
    schema = pq.read_schema(tmp_path / "t.parquet" / "00000000.parquet")
    assert [(field.name, field.metadata[b"unit"].decode()) for field in schema] == [
        ("tau1", "N·m"), ("tau2", "N·m"),
    ]  # fmt: skip


def test_a_folder_of_files_gives_files_of_the_same_names_in_the_order_of_numbers(
    tmp_path: Path,
) -> None:
    table = states(ROWS)
    write(tmp_path / "npys", table)  # part9 .. part12, of which one is empty
    evaluated(tmp_path / "npys", tmp_path / "t", chunk=2000)
    assert sorted(one.name for one in (tmp_path / "t").iterdir()) == [
        "part10.npy", "part11.npy", "part12.npy", "part9.npy",
    ]  # fmt: skip
    ninth = np.load(tmp_path / "t" / "part9.npy")
    assert np.array_equal(ninth, torques(table[: len(ninth)]))


@pytest.mark.parametrize("target", TARGETS)
def test_no_rows_give_no_rows(target: str, tmp_path: Path) -> None:
    found = evaluated(write(tmp_path / "s.npy", states(0)), tmp_path / target)
    assert found.samples == 0
    assert read(tmp_path / target).shape == (0, 2)


@pytest.mark.parametrize("kind", ["float64", "uint16"])
def test_errors_are_summed_up_exactly_in_any_order(kind: str, tmp_path: Path) -> None:
    if kind == "float64":
        table = meant = np.clip(states(ROWS), -1, 1)
    else:
        words = np.random.default_rng(2).integers(0, 4, (ROWS, 6))
        table = words.astype(kind)
        codes = {word.name: word.code for word in program().inputs}
        columns = [codes[x].centre(codes[x].index(words[:, k])) for k, x in enumerate(NAMES)]
        meant = np.stack(columns, axis=1)
    write(tmp_path / "s.npy", table)
    once = evaluated(tmp_path / "s.npy", tmp_path / "a.npy", against="machado-2r", chunk=ROWS)
    often = evaluated(tmp_path / "s.npy", tmp_path / "b.npy", against="machado-2r", chunk=700)
    assert once.errors == often.errors
    exact = problem_of("machado-2r").reference(*np.split(meant, 3, axis=1))
    steps = np.array([output.code.step for output in program().outputs])
    errors = np.abs(read(tmp_path / "a.npy") - exact) / steps
    for k, one in enumerate(once.errors):
        assert one.name == RESULTS[k]
        assert one.rms == pytest.approx(np.sqrt((errors[:, k] ** 2).mean()), abs=1e-5)
        assert one.largest == pytest.approx(errors[:, k].max(), abs=1e-5)


def test_what_cannot_be_compared_is_a_sentence(tmp_path: Path) -> None:
    write(tmp_path / "s.npy", states(10))
    said = "puma560: q1, q2, q3, .* there, and q1, q2, qd1, qd2, qdd1, qdd2 give tau1, tau2 in"
    with pytest.raises(bc.UsageError, match=said):
        evaluated(tmp_path / "s.npy", tmp_path / "t.npy", against="puma560")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["s.npy"]


@pytest.mark.parametrize("target", ["t.npz", "t.csv", "t.parqet"])
def test_other_endings_are_refused_with_those_that_are_known(target: str, tmp_path: Path) -> None:
    write(tmp_path / "s.npy", states(10))
    with pytest.raises(bc.UsageError, match=r"endings are \.npy, \.zarr, \.parquet"):
        evaluated(tmp_path / "s.npy", tmp_path / target)
