"""Files of states and torques: every kind read and written, every mistake a sentence."""

from __future__ import annotations

import io
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from boolcomp.common.errors import DataError, DataWarning, UsageError
from boolcomp.problem.problem import numbered
from boolcomp.problem.samples import CHUNK, column_names, read_states, write_results

Q = np.arange(12.0).reshape(2, 6)
GROUPS = [numbered(name, 2) for name in ("q", "qd", "qdd")]
TAU = numbered("tau", 2)


def states(path: Path, joints: int = 2) -> list[np.ndarray]:
    groups = [numbered(name, joints) for name in ("q", "qd", "qdd")]
    with read_states(path, groups) as (chunks, count):
        parts = list(chunks)
    joined = [np.concatenate([part.arrays[k] for part in parts]) for k in range(3)]
    assert count is None or count == len(joined[0])
    return joined


def check(found: list[np.ndarray]) -> None:
    for k, array in enumerate(found):
        assert np.array_equal(array, Q[:, 2 * k : 2 * k + 2])


def test_csv_columns_may_stand_in_any_order(tmp_path: Path) -> None:
    order = [5, 0, 3, 1, 4, 2]
    names = column_names(GROUPS)
    lines = [",".join(names[k] for k in order)]
    lines += [", ".join(str(row[k]) for k in order) for row in Q]
    (tmp_path / "a.csv").write_text("\n".join([*lines, "", ""]))
    check(states(tmp_path / "a.csv"))


def test_windows_line_ends_and_byte_order_marks_are_taken(tmp_path: Path) -> None:
    text = "\r\n".join([",".join(column_names(GROUPS)), *(",".join(map(str, row)) for row in Q)])
    (tmp_path / "a.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())
    check(states(tmp_path / "a.csv"))


def test_npy_and_npz_hold_the_same(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", Q.astype(np.float32))
    check(states(tmp_path / "a.npy"))
    np.savez(tmp_path / "a.npz", q=Q[:, :2], qd=Q[:, 2:4], qdd=Q[:, 4:].astype(int))
    check(states(tmp_path / "a.npz"))


HEAD = "q1,q2,qd1,qd2,qdd1,qdd2\n"
MISTAKES = [
    ("a.csv", "q1,q2,qd1,qd2,qdd1\n", r"a.csv:1: missing columns: qdd2"),
    ("a.csv", HEAD.replace("qd2", "qq2"), r"a.csv:1: unknown column 'qq2' \(did you mean 'q2'"),
    ("a.csv", HEAD.replace("qd2", "q1"), r"a.csv:1: column 'q1' is given twice"),
    ("a.csv", "", r"a.csv: empty: the first line must name the columns"),
    ("a.csv", HEAD + "1,2,3,4,5,6\n\n1,2,3,4,5\n", r"a.csv:4: 5 values for 6 columns"),
    ("a.csv", HEAD + "1,2,3,4,5,six\n", r"a.csv:2: 'six' is not a number"),
    ("a.csv", HEAD + "1,2,3,4,5,6\n1,2,,4,5,6\n", r"a.csv:3: '' is not a number"),
    ("a.csv", "t," + HEAD + "0,1,2,3,4,5,6\n0\n", r"a.csv:3: 1 values for 7 columns"),
    ("a.csv", "q1,t," + HEAD[3:] + "1,0,2,3,4,5,6\n1\n", r"a.csv:3: 1 values for 7 columns"),
    ("a.csv", "t," + HEAD + "0\n", r"a.csv:2: 1 values for 7 columns"),
    ("a.csv", "t," + HEAD + "noon,1,2,3,x,5,6\n", r"a.csv:2: 'x' is not a number"),
    ("a.csv", "t," + HEAD + "noon,1,2,3,4,5,6\n,1,2,3\n", r"a.csv:3: 4 values for 7 columns"),
    ("a.csv", HEAD + "1,2,3,4,5,6\n" * 65537 + "1,2\n", r"a.csv:65539: 2 values for 6 columns"),
    ("a.npy", "junk", r"a.npy: not a numpy file"),
    ("a.npz", "", r"a.npz: not a numpy file"),
]


@pytest.mark.parametrize(("name", "text", "message"), MISTAKES)
def test_mistakes_in_files_name_file_and_line(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=message):
        states(tmp_path / name)


def test_latin_letters_and_missing_files_are_sentences(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"q1,\xff\n")
    with pytest.raises(DataError, match=r"a.csv: not UTF-8 text"):
        states(tmp_path / "a.csv")
    for name in ("no.csv", "no.npy", "no.npz"):
        with pytest.raises(DataError, match="cannot be read: No such file"):
            states(tmp_path / name)
    with pytest.raises(UsageError, match=r"a.txt: unknown kind of file.*\.csv, \.npy, \.npz"):
        states(tmp_path / "a.txt")


def test_arrays_of_the_wrong_shape_or_kind_are_sentences(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", Q[:, :5])
    with pytest.raises(DataError, match=r"shape \(2, 5\): \(samples, 6\) is needed"):
        states(tmp_path / "a.npy")
    np.save(tmp_path / "b.npy", Q.astype(complex))
    with pytest.raises(DataError, match="holds complex128, not real numbers"):
        states(tmp_path / "b.npy")
    np.savez(tmp_path / "c.npz", q=Q[:, :2], qd=Q[:1, :2], qdd=Q[:, :2])
    with pytest.raises(DataError, match=r"qd has shape \(1, 2\): \(2, 2\) is needed"):
        states(tmp_path / "c.npz")
    np.savez(tmp_path / "d.npz", q=Q, qd=Q, qddd=Q)
    with pytest.raises(DataError, match=r"unknown array 'qddd' \(did you mean 'qdd'"):
        states(tmp_path / "d.npz")
    np.savez(tmp_path / "e.npz", q=Q)
    with pytest.raises(DataError, match="missing arrays: qd, qdd"):
        states(tmp_path / "e.npz")
    np.save(tmp_path / "f.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match="holds objects or records, not real numbers"):
        states(tmp_path / "f.npy")


@pytest.mark.parametrize("suffix", [".csv", ".npy", ".npz"])
def test_torques_are_written_whole(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t{suffix}"
    tau = np.array([[1.5, -2.25], [1e-7, 3e8], [0.1, 123456.789]])
    with write_results(path, TAU) as sink:
        sink.write(tau[:2])
        sink.write(tau[2:])
        assert not path.exists()
    if suffix == ".csv":
        assert path.read_text().splitlines()[0] == "tau1,tau2"
        found = np.loadtxt(path, delimiter=",", skiprows=1)
    else:
        found = np.load(path)
        found = found["tau"] if suffix == ".npz" else found
    assert np.allclose(found, tau, rtol=1e-8, atol=0)


def test_a_failure_leaves_no_output(tmp_path: Path) -> None:
    def fail() -> None:
        with write_results(tmp_path / "t.csv", TAU) as sink:
            sink.write(np.zeros((1, 2)))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_long_files_stream_in_constant_memory(tmp_path: Path) -> None:
    line = ",".join(["0.25"] * 6) + "\n"
    path = tmp_path / "long.csv"
    with path.open("w") as stream:
        stream.write(HEAD)
        for _ in range(5):
            stream.write(line * CHUNK)

    def peak(samples: int) -> int:
        tracemalloc.start()
        done = 0
        with (
            read_states(path, GROUPS) as (chunks, _),
            write_results(tmp_path / "t.npy", TAU) as sink,
        ):
            for (q, *_), _ in chunks:
                sink.write(q)
                done += len(q)
                if done >= samples:
                    break
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    assert peak(5 * CHUNK) < 1.2 * peak(2 * CHUNK)
    assert np.load(tmp_path / "t.npy").shape == (2 * CHUNK, 2)


def test_standard_input_is_csv(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(HEAD + "0,1,2,3,4,5\n6,7,8,9,10,11\n"))
    check(states(Path("-")))


def csv(path: Path, text: str) -> list[np.ndarray]:
    path.write_text(text)
    return states(path)


def test_quoted_cells_are_read_as_quoted_headers_are(tmp_path: Path) -> None:
    rows = "\n".join(", ".join(f'"{x}"' for x in row) for row in Q)
    head = ",".join(f'"{name}"' for name in column_names(GROUPS))
    check(csv(tmp_path / "a.csv", f"{head}\n{rows}\n"))
    with pytest.raises(DataError, match=r"a.csv:2: '\"1,5\"' is not a number"):
        csv(tmp_path / "a.csv", HEAD + '"1,5",2,3,4,5,6\n')
    with pytest.raises(DataError, match=r"a.csv:2: 7 values for 6 columns"):
        csv(tmp_path / "a.csv", HEAD + '1," 1,5","1""",4,5,6,\n')


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('"q1\n",' + HEAD[3:], 1),
        (HEAD + '1,2,3,4,5,6\n"1,2,3,4,5,6\n', 3),
        ("t," + HEAD + '"0\n5",1,2,3,4,5,6\n', 2),
        (HEAD[:-1] + ',t\n1,2,3,4,5,6,"0""\n"\n', 2),
        (HEAD[:-1] + ',t\n1,2,3,4,5,6,"0', 2),
    ],
)
def test_a_line_that_ends_inside_quotes_is_a_sentence(tmp_path: Path, text: str, line: int) -> None:
    with pytest.raises(DataError, match=rf"a.csv:{line}: the line ends inside quotes: "):
        csv(tmp_path / "a.csv", text)


@pytest.mark.parametrize(("mark", "name"), [(";", "semicolons"), ("\t", "tabs")])
def test_another_separator_is_named(tmp_path: Path, mark: str, name: str) -> None:
    with pytest.raises(
        DataError, match=f"a.csv:1: columns are separated by commas here, not by {name}"
    ):
        csv(tmp_path / "a.csv", (HEAD + "1,2,3,4,5,6\n").replace(",", mark))
    with pytest.raises(DataError, match=f"a.csv:2: 1 values for 6 columns: .* by {name}"):
        csv(tmp_path / "a.csv", HEAD + "1,2,3,4,5,6\n".replace(",", mark))


@pytest.mark.parametrize("name", ["T", "Time", "TIME", '"Time"'])
def test_the_column_of_times_may_have_capitals(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.csv").write_text(f"{name},{HEAD}noon,0,1,2,3,4,5\n")
    with read_states(tmp_path / "a.csv", GROUPS) as (chunks, _):
        (state,) = chunks
    assert state.times == (name.strip('"'), ["noon"])
    with pytest.raises(DataError, match="unknown column 'QD1'"):
        csv(tmp_path / "a.csv", HEAD.replace("qd1", "QD1"))


@pytest.mark.parametrize("place", [0, 2, 6])
def test_a_column_of_times_comes_out_first_letter_by_letter(tmp_path: Path, place: int) -> None:
    stamps = ["12:00:00.10", '"0.50"', '"0,5"', '"a ""b"", c"', "-1e-3"]
    rows = [["0"] * 6 for _ in stamps]
    names = list(column_names(GROUPS))
    for row, cell in zip([names, *rows], ["time", *stamps], strict=True):
        row.insert(place, cell)
    (tmp_path / "a.csv").write_text("\n".join(",".join(row) for row in [names, *rows]) + "\n")
    with (
        read_states(tmp_path / "a.csv", GROUPS) as (chunks, _),
        write_results(tmp_path / "t.csv", TAU) as sink,
    ):
        for state in chunks:
            sink.write(state.arrays[0] + 1, state.times)
    lines = (tmp_path / "t.csv").read_text().splitlines()
    assert lines == ["time,tau1,tau2", *(f"{stamp},1,1" for stamp in stamps)]


def test_two_columns_of_times_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="two columns of times"):
        csv(tmp_path / "a.csv", "t,time," + HEAD)


def test_times_are_left_out_of_arrays_with_a_warning(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("t," + HEAD + "9,0,1,2,3,4,5\n")
    with (
        read_states(tmp_path / "a.csv", GROUPS) as (chunks, _),
        write_results(tmp_path / "t.npy", TAU) as sink,
    ):
        (state,) = chunks
        with pytest.warns(DataWarning, match="the column t is left out: only CSV keeps it"):
            sink.write(state.arrays[0], state.times)
        sink.write(state.arrays[0], state.times)  # once is enough
    assert np.load(tmp_path / "t.npy").tolist() == [[0.0, 1.0]] * 2


def test_a_csv_line_without_end_is_not_read_to_its_end(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"a.csv:2: longer than 1048576 letters"):
        csv(tmp_path / "a.csv", HEAD + "1," * (1 << 20))
    with pytest.raises(DataError, match=r"a.csv:1: longer than 1048576 letters"):
        csv(tmp_path / "a.csv", "q" * (1 << 21))


def test_a_number_is_what_csv_takes_for_one(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"a.csv:2: '1_0' is not a number"):
        csv(tmp_path / "a.csv", HEAD + "1_0,2,3,4,5,6\n")


@pytest.mark.parametrize("suffix", [".csv", ".npy", ".npz"])
def test_a_value_that_is_not_finite_is_named_by_its_place_in_the_file(
    tmp_path: Path, suffix: str
) -> None:
    path, table = tmp_path / f"a{suffix}", np.zeros((70001, 6))
    table[70000, 3] = np.nan
    if suffix == ".csv":
        np.savetxt(path, table, delimiter=",", header=HEAD.strip(), comments="", fmt="%g")
    elif suffix == ".npy":
        np.save(path, table)
    else:
        np.savez(path, q=table[:, :2], qd=table[:, 2:4], qdd=table[:, 4:])
    with pytest.raises(DataError, match=rf"a{suffix}: qd2 of sample 70000 is nan"):
        states(path)


def test_names_of_columns_are_cut_in_messages(tmp_path: Path) -> None:
    with pytest.raises(DataError) as raised:
        csv(tmp_path / "a.csv", "q" * 1_000_000 + "\n")
    assert len(str(raised.value)) < 400


def test_nothing_is_printed_before_the_first_torques_are(
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    with pytest.raises(ZeroDivisionError), write_results(Path("-"), TAU):
        raise ZeroDivisionError
    assert capfdbinary.readouterr().out == b""
