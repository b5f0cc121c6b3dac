"""Forged programs: what was changed is not confirmed; readers fail with a sentence, or not."""

import contextlib
import io
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checker import forging
from checker.forgeries import FORGERIES, Expected, Forgery
from checker.forging import CERTIFICATE
from conftest import Run

import boolcomp as bc
from boolcomp.base import BoolcompError
from boolcomp.checker import main
from boolcomp.program import HEAD, Program

pytestmark = pytest.mark.check
CUTS = 16  # of a certificate, at ends of lines, and elsewhere
STATES = 2000
NAMED = {one.name: one for one in FORGERIES}
# What readers of programs refuse, though nothing that is claimed is wrong: labels of other types.
UNREADABLE = {name for name in NAMED if name.startswith("type: ")}
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
    for change in one.changes:
        change(files)
    if again:
        forging.restated(files)
    files.write(folder / f"again-{again}")
    return folder / f"again-{again}"


def file_of(program: str, folder: Path) -> Path:
    """Return the file that a program is of, as its user has it."""
    path = folder / "asked.toml"
    path.write_text(forging.PROGRAMS[program][1], "utf-8")
    return path


@pytest.mark.parametrize("name", list(forging.PROGRAMS))
def test_an_unchanged_program_holds(name: str, tmp_path: Path) -> None:
    forging.program(name).write(tmp_path / "program")
    code, said = checked(tmp_path / "program")
    assert "DOES NOT HOLD" not in said
    assert code == (1 if name == "conditional" else 0)


@pytest.mark.parametrize("one", FORGERIES, ids=list(NAMED))
def test_no_forgery_is_confirmed_with_the_old_claim_or_a_new_one(
    one: Forgery, tmp_path: Path
) -> None:
    for again, expected in ((False, one.alone), (True, one.again)):
        folder = forged(one, tmp_path, again=again)
        code, said = checked(folder)
        assert said
        assert not any(line.startswith("error of all") for line in said.splitlines())
        assert not any(letter in said for letter in "\x1b\x9b")
        if code:  # as it should be of most; of a few more is known
            assert code == 1
            continue
        assert expected is not Expected.REFUSED
        if expected is Expected.WITH_FILE:
            assert "described in the certificate" in said
            assert checked(folder, "--robot", file_of(one.program, tmp_path))[0] == 1
            continue
        if expected is Expected.NOT_VERIFIED:
            listed = [line for line in said.splitlines() if line.startswith("not verified: ")]
            assert any(one.what in line for line in listed)
        if one.name not in UNREADABLE:
            errs_no_more_than_it_says(one.program, bc.load_program(folder))
    said_of_reading: list[str] = []
    try:
        gives_the_same_by_name(bc.load_program(tmp_path / "again-False"))
    except BoolcompError as error:  # of reading it, or of names that are there twice
        said_of_reading = str(error).splitlines()
    assert len(said_of_reading) <= 1


def errs_no_more_than_it_says(name: str, program: Program) -> None:
    """Compare a program with its formulas, called by position, at random states in its ranges."""
    rng = np.random.default_rng(0)
    angles, rates = rng.uniform(-np.pi, np.pi, (2, STATES)), rng.uniform(-1, 1, (4, STATES))
    for load in program.loads:
        states = [angles, rates[:2], rates[2:]]
        if name in ("arm", "tabled", "conditional"):
            exact = torques(angles, rates[:2], rates[2:], load.payload)
        elif name == "loads":
            states = states[:1]
            exact = torques(angles, 0 * rates, 0 * rates, load.payload)
        else:
            assert name == "product"
            x, u = rates[:2]
            states, exact = [x, u], np.array([x * u + 0.5 * u, x - u])
        columns = [one.T if one.ndim > 1 else one for one in states]
        found = program(*columns, payload=load.payload, engine="numpy")
        for k, output in enumerate(load.outputs):
            assert np.abs(found[:, k] - exact[k]).max() <= output.bound


def torques(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, mass: float) -> np.ndarray:
    """Return the torques of the paper's arm, its equations (3) to (6), with a mass at the tip."""
    m, g, r = 6.25 + mass, 9.8, 0.8
    coupled, second = m * r * np.cos(q[1]), m * r**2
    first = 0.5 + m + second + 2 * coupled + 5
    sine = m * r * np.sin(q[1])
    weight = m * g * r * np.cos(q[0] + q[1])
    tau1 = first * qdd[0] + (second + coupled) * qdd[1] - sine * (2 * qd[0] + qd[1]) * qd[1]
    tau1 += (0.5 + m) * g * np.cos(q[0]) + weight
    tau2 = (second + coupled) * qdd[0] + (second + 5) * qdd[1] + sine * qd[0] ** 2 + weight
    return np.array([tau1, tau2])


def gives_the_same_by_name(program: Program) -> None:
    """Check that a program gives the same by names and by places of inputs."""
    rng = random.Random(0)  # noqa: S311 (the same numbers anywhere)
    given: dict[str, Any] = {
        name: [rng.uniform(-1, 1) for _ in range(3)]
        for group in program.groups
        for name in group.members
    }
    arrays = [np.transpose([given[name] for name in group.members]) for group in program.groups]
    payload = program.payloads[0]
    by_name = program.evaluate(**given, payload=payload, engine="numpy")
    by_place = program.evaluate(*arrays, payload=payload, engine="numpy")
    assert by_place.values.tolist() == by_name.values.tolist()
    assert by_name.values.shape == (3, program.returned.size)


def test_the_formulas_are_those_of_the_arm() -> None:
    q, qd, qdd = [0.3, -0.7], [0.4, 0.9], [-0.5, 0.2]
    exact = bc.inverse_dynamics("machado-2r", q=q, qd=qd, qdd=qdd)
    assert torques(np.array(q), np.array(qd), np.array(qdd), 0.0) == pytest.approx(exact)


@pytest.mark.parametrize(("name", "code"), [
    ("condition: as it is", 0), ("condition: while a word does not overflow", 0),
    ("condition: the figures stay", 1), ("condition: a figure is invented", 1),
    ("condition: dropped, and a figure invented", 1),
])  # fmt: skip
def test_no_figure_holds_where_conditions_are_allowed(name: str, code: int, tmp_path: Path) -> None:
    folder = forged(NAMED[name], tmp_path, again=True)
    assert checked(folder)[0] == 1
    assert checked(folder, "--allow-conditions")[0] == code


@pytest.mark.parametrize("name", [
    "payload: 0 is said to be 5 kg", "demand: an invented error", "section: none at all",
])  # fmt: skip
def test_the_command_refuses_a_forgery_with_its_exit_code(
    name: str, run: Run, tmp_path: Path
) -> None:
    for again in (False, True):
        said = run("verify", "--chain-only", str(forged(NAMED[name], tmp_path, again=again)))
        assert said.code == 1
        assert said.err
        assert "Traceback" not in said.out + said.err


def test_the_command_confirms_a_file_and_refuses_another(run: Run, tmp_path: Path) -> None:
    forging.program("product").write(tmp_path / "program")
    file = file_of("product", tmp_path)
    asked = "verify", "--chain-only", str(tmp_path / "program"), "--robot"
    assert run(*asked, str(file)).code == 0
    other = forging.PRODUCT.replace("x*u", "x*x").encode()
    for text in (other, forging.STOPPED.encode(), bytes(range(256))):
        file.write_bytes(text)
        assert run(*asked, str(file)).code == 1


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
    cut = rng.sample(ends, min(len(ends), CUTS)), rng.sample(range(len(old)), CUTS)
    for place in (0, *ends[:4], *cut[0], *cut[1]):
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
            lines[one] += rng.choice(TAILS)
        else:
            words = lines[one].split(" ")
            words[rng.randrange(len(words))] = rng.choice(WORDS)
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
