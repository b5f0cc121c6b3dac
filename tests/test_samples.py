"""Files of states and results: every kind read and written, every mistake or damage a sentence."""

import csv
import io
import os
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import boolcomp as bc
from boolcomp.base import DataWarning
from boolcomp.problem import CHUNK, numbered, read_states, write_results

Q = np.arange(12.0).reshape(2, 6)
GROUPS = [numbered(name, 2) for name in ("q", "qd", "qdd")]
TAU = numbered("tau", 2)
NAMES = ("q1", "q2", "qd1", "qd2", "qdd1", "qdd2")
HEAD = ",".join(NAMES) + "\n"
PARTS = {"q": Q[:, :2], "qd": Q[:, 2:4], "qdd": Q[:, 4:]}


def states(path: Path, data: str | bytes | None = None) -> np.ndarray:
    """Return all states of a file as one array; the file is written first if data are given."""
    if data is not None:
        path.write_bytes(data.encode() if isinstance(data, str) else data)
    with read_states(path, GROUPS) as (chunks, count):
        table = np.concatenate([np.concatenate(one.arrays, axis=1) for one in chunks])
    assert count is None or count == len(table)
    return table


def lines(rows: Any, order: list[int] | None = None, mark: str = ",") -> str:
    """Return rows as CSV, columns in this order."""
    order = order or list(range(6))
    return "".join(mark.join(str(row[k]) for k in order) + "\n" for row in (NAMES, *rows))


@pytest.mark.parametrize(
    "text",
    [
        lines(Q, [5, 0, 3, 1, 4, 2], ", ") + "\n\n",
        "\ufeff" + lines(Q).replace("\n", "\r\n"),
        lines([[f'"{x}"' for x in row] for row in Q]).replace("q1", '"q1"', 1),
    ],
    ids=["any order", "of Windows", "quoted"],
)
def test_csv_is_read_as_it_is_written_elsewhere(tmp_path: Path, text: str) -> None:
    assert np.array_equal(states(tmp_path / "a.csv", text), Q)


def test_standard_input_is_csv(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(lines(Q)))
    assert np.array_equal(states(Path("-")), Q)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_arrays_are_read_in_any_real_type_and_order(
    tmp_path: Path, save: Callable[..., None]
) -> None:
    table = np.asfortranarray(np.arange(6.0 * (CHUNK + 3)).reshape(-1, 6))
    np.save(tmp_path / "a.npy", table)
    assert np.array_equal(states(tmp_path / "a.npy"), table)
    save(tmp_path / "a.npz", q=table[:, :2], qd=table[:, 2:4].astype(np.float32),
         qdd=table[:, 4:].astype(int))  # fmt: skip
    assert np.array_equal(states(tmp_path / "a.npz"), table)


@pytest.mark.parametrize(
    ("place", "name"), [(0, "time"), (2, "T"), (6, '"Time"')], ids=["first", "inside", "last"]
)
def test_a_column_of_times_comes_out_first_letter_by_letter(
    tmp_path: Path, place: int, name: str
) -> None:
    stamps = ["12:00:00.10", '"0.50"', '"0,5"', '"a ""b"", c"', "-1e-3"]
    rows = [["0"] * 6 for _ in stamps]
    names = list(NAMES)
    for row, cell in zip([names, *rows], [name, *stamps], strict=True):
        row.insert(place, cell)
    (tmp_path / "a.csv").write_text("\n".join(",".join(row) for row in [names, *rows]) + "\n")
    with (
        read_states(tmp_path / "a.csv", GROUPS) as (chunks, _),
        write_results(tmp_path / "t.csv", TAU) as sink,
    ):
        for state in chunks:
            sink.write(state.arrays[0] + 1, state.times)
    found = (tmp_path / "t.csv").read_text().splitlines()
    assert found == [f"{name.strip(chr(34))},tau1,tau2", *(f"{stamp},1,1" for stamp in stamps)]


@given(st.text('",; \tab1', max_size=12), st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
def test_what_pythons_csv_writes_is_read(stamp: str, quoting: Literal[0, 1]) -> None:
    cell, text = io.StringIO(), io.StringIO()
    csv.writer(cell, quoting=quoting, lineterminator="").writerow([stamp, "end"])
    csv.writer(text, quoting=quoting).writerows([["t", *NAMES], [stamp, *Q[0]]])
    text.seek(0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", text)
        with read_states(Path("-"), GROUPS) as (chunks, _):
            (state,) = chunks
    assert np.array_equal(np.concatenate(state.arrays, axis=1), Q[:1])
    assert state.times is not None
    name, (found,) = state.times
    assert (name, found.strip()) == ("t", cell.getvalue().rpartition(",")[0].strip())


def test_times_are_left_out_of_arrays_with_one_warning(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("t," + HEAD + "9,0,1,2,3,4,5\n")
    with (
        read_states(tmp_path / "a.csv", GROUPS) as (chunks, _),
        write_results(tmp_path / "t.npy", TAU) as sink,
    ):
        (state,) = chunks
        with pytest.warns(DataWarning, match="the column t is left out: only CSV keeps it"):
            sink.write(state.arrays[0], state.times)
        sink.write(state.arrays[0], state.times)
    assert np.load(tmp_path / "t.npy").tolist() == [[0.0, 1.0]] * 2


@pytest.mark.parametrize("suffix", [".csv", ".npy", ".npz"])
def test_results_are_written_whole(tmp_path: Path, suffix: str) -> None:
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


def test_a_failure_leaves_and_prints_nothing(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    def fail() -> None:
        with write_results(tmp_path / "t.csv", TAU) as sink:
            sink.write(np.zeros((1, 2)))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert not list(tmp_path.iterdir())
    with pytest.raises(ZeroDivisionError), write_results(Path("-"), TAU):
        raise ZeroDivisionError
    assert capfdbinary.readouterr().out == b""


@pytest.mark.check
def test_long_files_stream_in_constant_memory(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text(HEAD + (",".join(["0.25"] * 6) + "\n") * 5 * CHUNK)

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


def npy(header: str, data: bytes = Q.tobytes(), version: int = 1) -> bytes:
    text = header.encode("latin-1") + b"\n"
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text + data


def saved(array: Any, **more: Any) -> bytes:
    stream = io.BytesIO()
    if array is None:
        np.savez(stream, **more)
    else:
        np.save(stream, array, **more)
    return stream.getvalue()


GOOD = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 6), }"
ROW = "1,2,3,4,5,6\n"
LONG = 1 << 20
CSV: list[tuple[str | bytes, str]] = [
    (HEAD.replace(",qdd2", ""), ":1: missing columns qdd2"),
    (HEAD.replace("qd2", "qq2"), r":1: unknown column 'qq2'; did you mean 'q2'"),
    (HEAD.replace("qd1", "QD1"), ":1: unknown column 'QD1'"),
    (HEAD.replace("qd2", "q1"), ":1: column 'q1' is given twice"),
    ("t,time," + HEAD, "two columns of times"),
    ("", ": empty; the first line must name the columns"),
    (b"q1,\xff\n", ": not UTF-8 text"),
    (HEAD + ROW + "\n1,2,3,4,5\n", ":4: 5 values for 6 columns"),
    (HEAD + "1,2,3,4,5,six\n", ":2: 'six' is not a number"),
    (HEAD + "1_0,2,3,4,5,6\n", ":2: '1_0' is not a number"),
    (HEAD + '"1,5",2,3,4,5,6\n', ":2: '\"1,5\"' is not a number"),
    (HEAD + '1," 1,5","1""",4,5,6,\n', ":2: 7 values for 6 columns"),
    (HEAD + ROW + "1,2,,4,5,6\n", ":3: '' is not a number"),
    ("t," + HEAD + "0\n", ":2: 1 values for 7 columns"),
    ("q1,t," + HEAD[3:] + "1,0,2,3,4,5,6\n1\n", ":3: 1 values for 7 columns"),
    ("t," + HEAD + "noon,1,2,3,x,5,6\n", ":2: 'x' is not a number"),
    ("t," + HEAD + "noon,1,2,3,4,5,6\n,1,2,3\n", ":3: 4 values for 7 columns"),
    (HEAD + ROW * 65537 + "1,2\n", ":65539: 2 values for 6 columns"),
    ('"q1\n",' + HEAD[3:], ":1: the line ends inside quotes; "),
    (HEAD + ROW + '"' + ROW, ":3: the line ends inside quotes; "),
    ("t," + HEAD + '"0\n5",1,2,3,4,5,6\n', ":2: the line ends inside quotes; "),
    (HEAD[:-1] + ',t\n1,2,3,4,5,6,"0', ":2: the line ends inside quotes; "),
    (HEAD + '1,2,3,4, "5,""6\n', ":2: the line ends inside quotes; "),
    (HEAD + '"' * 1_000_001 + "\n", ":2: the line ends inside quotes; "),
    (HEAD + '"a" ' * 250_000 + ",b\n", ":2: 2 values for 6 columns"),  # as quick as any line
    ((HEAD + ROW).replace(",", ";"), ":1: columns are separated by semicolons; use commas"),
    (HEAD + ROW.replace(",", "\t"), ":2: 1 values for 6 columns; .* by tabs"),
    (HEAD + "1," * LONG, f":2: longer than {LONG} characters"),
    ("q" * 2 * LONG, f":1: longer than {LONG} characters"),
    ("q" * 1_000_000 + "\n", "unknown column 'qqq"),
    (HEAD + ROW * 70000 + "0,0,0,nan,0,0\n", ": qd2 of sample 70000 is nan"),
]
NPY: list[tuple[bytes, str]] = [
    (b"junk", "not a numpy file"),
    (HEAD.encode() + b"1,2,3,4,5,6\n", "not a numpy file; it looks like CSV: name it .csv"),
    (b"PK\3\4" + bytes(100), "looks like an archive: name it .npz"),
    (saved(Q[:, :5]), r"shape \(2, 5\); shape \(samples, 6\) is needed"),
    (saved(Q.astype(complex)), "holds complex128, not real numbers"),
    (saved(np.array([{}], dtype=object), allow_pickle=True), "holds objects or records, not real"),
    (saved(np.where(np.arange(12) < 9, Q.ravel(), np.inf).reshape(2, 6)), "qd2 of sample 1 is inf"),
    (npy(GOOD.replace("(2, 6)", "(1000000000000, 6)")), "takes 48000000000000 bytes, and there"),
    (npy(GOOD.replace("(2, 6)", f"(1{'0' * 4000}, 6)")), "takes an integer of about 400. digits"),
    (npy(GOOD.replace("'<f8'", "'<M8'")), "holds datetime64, not real numbers"),
    (npy(GOOD.replace("'<f8'", "[('a', '<f8')]")), "holds objects or records"),
    (b"\x93NUMPY\2\0\xff\xff\xff\xff" + GOOD.encode(), "its header is damaged"),
    *((npy(text), "its header is damaged") for text in (
        GOOD.replace("(2, 6)", f"(1{'0' * 5000}, 6)"), GOOD.replace("(2, 6)", "(-2, 6)"),
        GOOD.replace("(2, 6)", "(2, True)"), GOOD.replace("(2, 6)", "[2, 6]"),
        GOOD.replace("(2, 6)", "(2, 6"), GOOD.replace("'shape'", "'shap'"),
        GOOD.replace("'<f8'", "'<f3'"), GOOD.replace("'<f8'", "('<f8', -1)"),
        "(" * 5000, "x" * 20000, "", "\0",
    )),
]  # fmt: skip


def archive(members: list[tuple[str, bytes]], how: int = zipfile.ZIP_STORED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", how) as packed:
        for name, data in members:
            packed.writestr(name, data)
    return stream.getvalue()


def locked(data: bytes) -> bytes:
    """Return an archive whose first member is said to be encrypted."""
    found = bytearray(data)
    for head, flags in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        found[found.index(head) + flags] |= 1
    return bytes(found)


def flipped(how: int) -> bytes:
    """Return an archive with another bit in the last number of qd."""
    numbers = np.random.default_rng(0).uniform(size=4).tobytes()  # which no packing makes shorter
    data = bytearray(archive([(name, PART[:-32] + numbers) for name, _ in MEMBERS], how))
    data[data.index(b"qdd.npy") - 50] ^= 4
    return bytes(data)


PART = npy(GOOD.replace("6", "2"), bytes(32))
MEMBERS = [("q.npy", PART), ("qd.npy", PART), ("qdd.npy", PART)]
NPZ: list[tuple[Callable[[], bytes], str]] = [
    (lambda: b"", "not a numpy file"),
    (lambda: npy(GOOD), "there is one array only; an .npz file with q, qd, qdd is needed"),
    (lambda: saved(None, **{**PARTS, "qd": Q[:1, :2]}), r"qd has shape \(1, 2\): \(2, 2\) is need"),
    (lambda: saved(None, q=Q, qd=Q, qddd=Q), r"unknown array 'qddd'; did you mean 'qdd'"),
    (lambda: saved(None, q=Q), "missing arrays qd, qdd"),
    (lambda: saved(None, **{**PARTS, "qd": Q[:, 2:4] * np.nan}), "qd1 of sample 0 is nan"),
    (lambda: archive([*MEMBERS, ("q.npy", PART)]), "holds q twice"),
    (lambda: archive([*MEMBERS, ("q", PART)]), "holds q twice"),
    (lambda: archive(MEMBERS, zipfile.ZIP_LZMA), "compressed in a way that numpy does not write"),
    (lambda: locked(archive(MEMBERS)), "q: damaged, or not a numpy file: .*encrypted"),
    (lambda: flipped(zipfile.ZIP_STORED), "qd: (damaged|not a numpy file)"),
    (lambda: flipped(zipfile.ZIP_DEFLATED), "qd: (damaged|not a numpy file)"),
]


def refused(path: Path, data: str | bytes, sentence: str) -> None:
    with pytest.raises(bc.DataError, match=rf"{path.name}.*{sentence}") as raised:
        states(path, data)
    assert len(str(raised.value)) < 600


@pytest.mark.parametrize(("text", "sentence"), CSV, ids=[said for _, said in CSV])
def test_mistakes_in_csv_name_file_and_line(
    tmp_path: Path, text: str | bytes, sentence: str
) -> None:
    refused(tmp_path / "a.csv", text, sentence)


def test_mistakes_in_arrays_are_sentences(tmp_path: Path) -> None:
    for data, sentence in NPY:
        refused(tmp_path / "a.npy", data, sentence)


@pytest.mark.filterwarnings("ignore:Duplicate name:UserWarning")
def test_mistakes_in_archives_are_sentences(tmp_path: Path) -> None:
    for make, sentence in NPZ:
        refused(tmp_path / "a.npz", make(), sentence)


def test_files_that_are_none_or_become_shorter_are_sentences(tmp_path: Path) -> None:
    for name in ("no.csv", "no.npy", "no.npz"):
        with pytest.raises(bc.DataError, match=r"no such file or folder"):
            states(tmp_path / name)
    with pytest.raises(bc.UsageError, match=r"unknown ending '\.txt'; .*\.csv, \.npy, \.npz"):
        states(tmp_path / "a.txt")
    os.mkfifo(tmp_path / "pipe.npy")
    with pytest.raises(bc.DataError, match=r"pipe.npy: cannot be read: not a regular file"):
        states(tmp_path / "pipe.npy")
    np.save(tmp_path / "a.npy", np.zeros((3 * CHUNK, 6)))

    def shrinking() -> None:
        with read_states(tmp_path / "a.npy", GROUPS) as (chunks, _):
            next(chunks)
            os.truncate(tmp_path / "a.npy", 1000)
            list(chunks)

    with pytest.raises(bc.DataError, match="became shorter while it was read"):
        shrinking()
