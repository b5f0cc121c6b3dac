"""Forged programs: what was changed is not confirmed; readers fail with a sentence, or not."""

from __future__ import annotations

import contextlib
import io
import random
from typing import TYPE_CHECKING

import pytest
from checker import forging
from checker.forgeries import FORGERIES, Forgery

from boolcomp.api import load_program
from boolcomp.checker import container
from boolcomp.checker.__main__ import main
from boolcomp.common.errors import BoolcompError
from boolcomp.program.writing import CERTIFICATE, HEAD

if TYPE_CHECKING:
    from pathlib import Path

    from boolcomp.program.program import Program

pytestmark = pytest.mark.slow
if container.FIRST_LINE == "boolcomp certificate 1":
    pytest.skip("certificates of format 1 state no claim", allow_module_level=True)
CUTS = 40  # of a certificate, at ends of lines, and elsewhere
TAILS = " 1e400", " nan", "\0", "\x85", "\ud800", " 9" * 5000, "=", " |"
WORDS = "nan", "-1", "1e400", "", "9" * 5000, "~"
SMALL = "arm", "loads", "product", "tabled"


def checked(*arguments: str | Path) -> tuple[int, str]:
    """Run the checker on arguments; return its exit code, and what it prints to a terminal."""
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2)]
    with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
        code = main([str(one) for one in arguments])
    for one in streams:
        one.flush()
    return code, "".join(one.buffer.getvalue().decode() for one in streams)


def forged(one: Forgery, folder: Path, *, again: bool) -> Path:
    """Write a forgery to a folder, with the claim that was there or one made anew."""
    files = forging.program(one.program)
    one.change(files)
    if again:
        forging.restated(files)
    files.write(folder / "program")
    return folder / "program"


def file_of(program: str, folder: Path) -> Path:
    """Return the file that a program is of, as its user has it."""
    path = folder / "asked.toml"
    path.write_text(forging.PROGRAMS[program][1], "utf-8")
    return path


def test_there_are_forgeries_of_every_kind() -> None:
    names = [one.name for one in FORGERIES]
    assert len(set(names)) == len(names) >= 150
    assert {one.program for one in FORGERIES} == set(forging.PROGRAMS)


@pytest.mark.parametrize("name", list(forging.PROGRAMS))
def test_what_nobody_changed_holds(name: str, tmp_path: Path) -> None:
    forging.program(name).write(tmp_path / "program")
    code, said = checked(tmp_path / "program")
    assert "DOES NOT HOLD" not in said
    assert code == (1 if name == "conditional" else 0)


@pytest.mark.parametrize("one", FORGERIES, ids=[one.name for one in FORGERIES])
def test_readers_of_a_forged_program_refuse_it_or_read_it(one: Forgery, tmp_path: Path) -> None:
    try:
        program = load_program(forged(one, tmp_path, again=False))
    except BoolcompError as error:
        said = str(error).splitlines()
    else:
        said = []
        _same_by_name(program)
    assert len(said) <= 1


def _same_by_name(program: Program) -> None:
    """Check that a program gives the same by names and by places of inputs."""
    rng = random.Random(0)  # noqa: S311 (the same numbers anywhere)
    given = {name: rng.uniform(-1, 1) for group in program.groups for name in group.members}
    arrays = [[given[name] for name in group.members] for group in program.groups]
    payload = program.payloads[0]
    by_name = program.evaluate(**given, payload=payload).values  # type: ignore[arg-type]  # no engine
    assert program.evaluate(*arrays, payload=payload).values.tolist() == by_name.tolist()
    assert len(by_name) == program.returned.size


def damaged(name: str, new: str, folder: Path) -> tuple[int, str]:
    """Check a program with another certificate, whose checksums are right."""
    files = forging.program(name)
    files.files[CERTIFICATE] = new
    files.write(folder / "program")
    return checked(folder / "program")


@pytest.mark.parametrize("name", SMALL)
def test_a_certificate_that_ends_early_does_not_hold(name: str, tmp_path: Path) -> None:
    old = forging.program(name).files[CERTIFICATE]
    rng = random.Random(name)  # noqa: S311 (the same places anywhere)
    ends = [k + 1 for k, letter in enumerate(old[:-1]) if letter == "\n"]
    places = [
        *ends[:4],
        *rng.sample(ends, min(len(ends), CUTS)),
        *rng.sample(range(len(old)), CUTS),
    ]
    for place in [0, *places]:
        code, said = damaged(name, old[:place], tmp_path)
        assert (code, bool(said)) == (1, True), place


@pytest.mark.parametrize("name", SMALL)
def test_a_damaged_certificate_is_no_traceback(name: str, tmp_path: Path) -> None:
    old = forging.program(name).files[CERTIFICATE]
    rng = random.Random(name)  # noqa: S311 (the same damage anywhere)
    for _ in range(CUTS):
        lines = old.split("\n")
        one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
        kind = rng.randrange(6)
        if kind == 0:
            del lines[one]
        elif kind == 1:
            lines.insert(other, lines[one])
        elif kind == 2:
            lines[one], lines[other] = lines[other], lines[one]
        elif kind == 3:
            lines[one] = lines[one][: rng.randrange(len(lines[one]) + 1)]
        elif kind == 4:
            lines[one] += rng.choice(
                (" 1e400", " nan", "\0", "\x85", "\ud800", " 9" * 5000, "=", " |")
            )
        else:
            words = lines[one].split(" ")
            words[rng.randrange(len(words))] = rng.choice(
                ("nan", "-1", "1e400", "", "9" * 5000, "~")
            )
            lines[one] = " ".join(words)
        code, said = damaged(name, "\n".join(lines), tmp_path)
        assert code in (0, 1)
        assert said


@pytest.mark.parametrize("file", [CERTIFICATE, HEAD])
def test_bytes_that_are_no_text_are_a_sentence(file: str, tmp_path: Path) -> None:
    forging.program("arm").write(tmp_path)
    (tmp_path / file).write_bytes(random.Random(0).randbytes(4000))  # noqa: S311
    code, said = checked(tmp_path)
    assert (code, len(said.splitlines())) == (1, 1)
