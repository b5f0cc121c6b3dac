"""Damaged .npy and .npz files: sizes are checked before they are allocated, nothing is believed."""

from __future__ import annotations

import io
import os
import struct
import zipfile
from typing import TYPE_CHECKING

import numpy as np
import pytest

from boolcomp.common.errors import DataError
from boolcomp.problem.problem import numbered
from boolcomp.problem.samples import CHUNK, read_states

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

GROUPS = [numbered(name, 2) for name in ("q", "qd", "qdd")]
Q = np.arange(12.0).reshape(2, 6)
GOOD = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 6), }"


def npy(header: str, data: bytes = Q.tobytes(), version: int = 1) -> bytes:
    text = header.encode("latin-1") + b"\n"
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text + data


def read(path: Path, data: bytes) -> np.ndarray:
    path.write_bytes(data)
    with read_states(path, GROUPS) as (chunks, count):
        table = np.concatenate([np.concatenate(state.arrays, axis=1) for state in chunks])
    assert count == len(table)
    return table


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("shape", ["(2, 6)", "(2L, 6L)"])
def test_every_version_of_the_format_is_read(tmp_path: Path, version: int, shape: str) -> None:
    data = npy(GOOD.replace("(2, 6)", shape), version=version)
    assert np.array_equal(read(tmp_path / "a.npy", data), Q)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_columns_that_lie_one_after_another_are_read_in_pieces(
    tmp_path: Path, save: Callable[..., None]
) -> None:
    table = np.asfortranarray(np.arange(6.0 * (CHUNK + 3)).reshape(-1, 6))
    stream = io.BytesIO()
    np.save(stream, table)
    assert np.array_equal(read(tmp_path / "a.npy", stream.getvalue()), table)
    stream = io.BytesIO()
    parts = {"q": table[:, :2], "qd": table[:, 2:4], "qdd": table[:, 4:]}
    save(stream, **parts)
    assert np.array_equal(read(tmp_path / "a.npz", stream.getvalue()), table)


HEADERS = [
    (GOOD.replace("(2, 6)", "(1000000000000, 6)"), "takes 48000000000000 bytes, and there are 96"),
    (GOOD.replace("(2, 6)", f"(1{'0' * 4000}, 6)"), "takes an integer of about 400. digits bytes"),
    (GOOD.replace("(2, 6)", f"(1{'0' * 5000}, 6)"), "its header is damaged"),
    (GOOD.replace("(2, 6)", "(-2, 6)"), "its header is damaged"),
    (GOOD.replace("(2, 6)", "(2, True)"), "its header is damaged"),
    (GOOD.replace("(2, 6)", "[2, 6]"), "its header is damaged"),
    (GOOD.replace("(2, 6)", "(2, 6"), "its header is damaged"),
    (GOOD.replace("'shape'", "'shap'"), "its header is damaged"),
    (GOOD.replace("'<f8'", "'<f3'"), "its header is damaged"),
    (GOOD.replace("'<f8'", "'<M8'"), "holds datetime64, not real numbers"),
    (GOOD.replace("'<f8'", "[('a', '<f8')]"), "holds objects or records"),
    ("(" * 5000, "its header is damaged"),
    ("x" * 20000, "its header is damaged"),
    ("", "its header is damaged"),
    ("\0", "its header is damaged"),
]


@pytest.mark.parametrize(("header", "sentence"), HEADERS)
def test_a_header_that_lies_is_a_sentence(tmp_path: Path, header: str, sentence: str) -> None:
    with pytest.raises(DataError, match=rf"a.npy: .*{sentence}"):
        read(tmp_path / "a.npy", npy(header))


def test_a_file_of_another_kind_is_told_its_name(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"not a numpy file: it looks like CSV, so name it .csv"):
        read(tmp_path / "a.npy", b"q1,q2,qd1,qd2,qdd1,qdd2\n1,2,3,4,5,6\n")
    with pytest.raises(DataError, match=r"looks like an archive, so name it .npz"):
        read(tmp_path / "a.npy", b"PK\3\4" + bytes(100))
    with pytest.raises(DataError, match=r"one array; an .npz file with q, qd, qdd is needed"):
        read(tmp_path / "a.npz", npy(GOOD))


def test_an_array_that_becomes_shorter_while_it_is_read_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    np.save(path, np.zeros((3 * CHUNK, 6)))

    def shrinking() -> None:
        with read_states(path, GROUPS) as (chunks, _):
            next(chunks)
            os.truncate(path, 1000)
            list(chunks)

    with pytest.raises(DataError, match="became shorter while it was read"):
        shrinking()


def archive(members: list[tuple[str, bytes]], how: int = zipfile.ZIP_STORED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", how) as packed:
        for name, data in members:
            packed.writestr(name, data)
    return stream.getvalue()


PART = npy(GOOD.replace("6", "2"), bytes(32))
ALL = [("q.npy", PART), ("qd.npy", PART), ("qdd.npy", PART)]


@pytest.mark.filterwarnings("ignore:Duplicate name:UserWarning")
def test_names_that_occur_twice_in_an_archive_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds q twice"):
        read(tmp_path / "a.npz", archive([*ALL, ("q.npy", PART)]))
    with pytest.raises(DataError, match="holds q twice"):
        read(tmp_path / "a.npz", archive([*ALL, ("q", PART)]))


def test_other_compressions_and_locked_members_are_sentences(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="compressed in a way that numpy does not write"):
        read(tmp_path / "a.npz", archive(ALL, zipfile.ZIP_LZMA))
    locked = bytearray(archive(ALL))
    for head, flags in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        locked[locked.index(head) + flags] |= 1
    with pytest.raises(DataError, match=r"a.npz: q: damaged, or not a numpy file: .*encrypted"):
        read(tmp_path / "a.npz", bytes(locked))


@pytest.mark.parametrize("how", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_an_archive_with_a_flipped_bit_in_its_numbers_is_a_sentence(
    tmp_path: Path, how: int
) -> None:
    numbers = np.random.default_rng(0).uniform(size=4).tobytes()  # which no packing makes shorter
    members = [(name, PART[:-32] + numbers) for name, _ in ALL]
    data = bytearray(archive(members, how))
    data[data.index(b"qdd.npy") - 50] ^= 4  # in the last number of qd
    with pytest.raises(DataError, match=r"a.npz: qd: (damaged|not a numpy file)"):
        read(tmp_path / "a.npz", bytes(data))


def test_what_is_no_regular_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.npy")
    with (
        pytest.raises(DataError, match=r"a.npy: cannot be read: not a regular file"),
        read_states(tmp_path / "a.npy", GROUPS),
    ):
        pass
