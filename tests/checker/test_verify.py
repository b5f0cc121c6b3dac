"""Certificates as files of programs, and on the command line: what is checked, and what is told."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from checker.certified import certified, changed

import boolcomp as bc
from boolcomp.base import DataError
from boolcomp.checker import main, parse, read_program
from boolcomp.measure import chain_tools
from boolcomp.program import render_program

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Result

CERTIFICATE, HEADS = "certificate.txt", {k: f"boolcomp certificate {k}" for k in "12"}
ROOT = Path(__file__).resolve().parent.parent.parent
SHIPPED = ROOT / "certified" / "machado-2r-8"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    certified().save(tmp_path / "arm")
    return tmp_path / "arm"


# files -------------------------------------------------------------------------------------------
def test_a_program_keeps_its_certificate_and_is_saved_unchanged(folder: Path) -> None:
    loaded = bc.load_program(folder)
    assert loaded.certificate == certified().certificate != ""
    assert render_program(loaded) == render_program(certified())


def test_sections_are_read_as_they_stand() -> None:
    text = f"{HEADS['2']}\n= claim\nx 1\n== load 0\n= graph\na\n\nb\n= first\n"
    found = parse(text)
    (load,) = found.loads
    assert found.claim is not None
    assert (found.claim.lines, found.claim.where(0)) == (("x 1",), "certificate.txt:3")
    assert (load["graph"].text, load["graph"].where(2)) == ("a\n\nb\n", "certificate.txt:8")
    assert load["first"].lines == ()


@pytest.mark.parametrize(("text", "line"), [
    ("", 1), ("boolcomp certificate 3\n", 1), ("2\n", 2), ("1\n", 2), ("2\n= graph\n", 2),
    ("2\n== load 0\n", 2), ("1\n= claim\n", 2), ("1\nx\n== load 0\n", 2), ("1\n== load 1\n", 2),
    ("2\n= claim\n== load 1\n", 3), ("2\n= claim\n= claim\n", 3), ("1\n== load 0\nx\n= graph\n", 2),
    ("1\n== load 0\n= graphs\n", 3), ("1\n== load 0\n= graph\n= graph\n", 4),
    ("1\n== load 0\n=graph\n", 3),
])  # fmt: skip
def test_a_text_that_is_no_certificate_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(DataError, match=f"certificate.txt:{line}:"):
        parse(HEADS.get(text[:1], text[:1]) + text[1:])


@pytest.mark.parametrize("section", ["words", "cones"])
def test_a_certificate_of_adder_bit_changes_is_refused_with_the_version_that_reads_it(
    section: str,
) -> None:
    said = r"certificate.txt:4: adder-bit changes .* boolcomp 0\.1\.0 .* compile again$"
    with pytest.raises(DataError, match=said):
        parse(f"{HEADS['2']}\n= claim\n== load 0\n= {section}\nx\n= graph\n")


def test_a_file_outside_the_folder_is_not_read(folder: Path) -> None:
    (folder.parent / "networks").mkdir()
    (folder.parent / "networks" / "0.txt").write_text("x")
    changed(folder, "program.json", lambda text: text.replace('"graphs/0', '"../networks/0'))
    with pytest.raises(DataError, match="no file of a program"):
        read_program(folder)


def test_the_checker_imports_nothing_of_the_compiler() -> None:
    code = "import boolcomp.checker.__main__, sys; print(*sys.modules)"
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    rooms = {name.split(".")[1] for name in made.stdout.split() if name.startswith("boolcomp.")}
    assert rooms == {"base", "checker", "logic", "words"}


# programs that ship ------------------------------------------------------------------------------
def checked(folder: Path, elsewhere: Path, *options: str) -> tuple[int, list[str]]:
    """Run the checker alone from another folder; return its exit code and its lines."""
    command = [sys.executable, "-P", "-m", "boolcomp.checker", str(folder), *options]
    made = subprocess.run(command, capture_output=True, text=True, check=False, cwd=elsewhere)
    return made.returncode, (made.stdout + made.stderr).splitlines()


@pytest.mark.check
@pytest.mark.parametrize(("name", "outputs"), [("machado-2r", 2), ("elbow-3r", 3)])
def test_the_checker_confirms_every_step_of_a_program_that_ships(
    name: str, outputs: int, tmp_path: Path
) -> None:
    robot = str(ROOT / "robots" / f"{name}.toml")
    code, lines = checked(ROOT / "certified" / f"{name}-8", tmp_path, "--robot", robot)
    assert code == 0
    assert "not verified: worst_found" in lines
    lines = [line for line in lines if not line.startswith("not verified: ")]
    assert all(": holds (" in line for line in lines)
    assert len(lines) == 11 + outputs
    errors = [line.partition(": holds")[0] for line in lines if line.startswith("error of ")]
    assert errors == [f"error of tau{k + 1}" for k in range(outputs)]


def test_a_changed_byte_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(SHIPPED, tmp_path / "arm")
    path = tmp_path / "arm" / "networks" / "0.txt"
    path.write_text(path.read_text() + "\n")
    assert main([str(tmp_path / "arm")]) == 1
    said = f"{path}: damaged: its checksum is not the one in program.json"
    assert capsys.readouterr().err.splitlines() == [said]
    assert main([str(tmp_path)]) == 1
    assert main([]) == 2


@pytest.mark.check
def test_what_ships_is_what_compile_makes_and_no_bound_has_grown() -> None:
    texts = (bc.compile("machado-2r", 8, proof="tight", certify=True).certificate,
             (SHIPPED / CERTIFICATE).read_text())  # fmt: skip
    (made,), (shipped,) = (parse(text).loads for text in texts)
    assert list(made) == list(shipped)
    assert {"origin", "sketch", "graph", "first", "lemmas", "bound"} <= made.keys()
    for name in made.keys() - {"bound"}:
        assert made[name].text == shipped[name].text
    for now, then in zip(made["bound"].lines, shipped["bound"].lines, strict=True):
        (name, _, low, high, *_), (same, _, least, most, *_) = now.split(), then.split()
        assert name == same
        assert float(least) <= float(low) < float(high) <= float(most)


@pytest.mark.slow
def test_certificates_are_the_same_bytes_again() -> None:
    one, two = (bc.compile("machado-2r", 5, certify=True).certificate for _ in range(2))
    assert one == two


# the command -------------------------------------------------------------------------------------
def test_compile_certifies_and_verify_checks_the_chain_alone(run: Callable[..., Result]) -> None:
    assert run("compile", "machado-2r", "--bits", "4", "--certify", "-o", "arm").code == 0
    found = json.loads(run("verify", "arm", "--chain-only", "--json").out)
    checks = {check["name"]: check["holds"] for check in found["checks"]}
    assert {"first: graph to network", "lemmas: first to final network"} <= set(checks)
    assert found["holds"] == all(checks.values()) is True


def test_verify_names_what_does_not_hold(run: Callable[..., Result], folder: Path) -> None:
    wrong_lemma = re.compile(r"(?m)^(\d+ = )")
    changed(folder, CERTIFICATE, lambda text: wrong_lemma.sub(r"\g<1>0 ", text, count=1))
    wrong = run("verify", str(folder), "--chain-only")
    assert wrong.code == 1
    assert "failed: lemmas: first to final network" in wrong.err


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["compact", "paper"])
def test_a_program_without_a_certificate_has_no_chain(
    mode: str, run: Callable[..., Result]
) -> None:
    bc.compile("machado-2r", 4, mode=mode).save("arm")
    wrong = run("verify", "arm", "--chain-only")
    assert wrong.code == 1
    assert "compile with --certify" in wrong.out
    assert "undecided: certificate" in wrong.err
    if mode == "compact":
        whole = run("verify", "arm", "--json")
        assert whole.code == 0
        assert json.loads(whole.out)["checks"][0]["note"] == "there is none: compile with --certify"
        assert run("verify", "arm", "--chain-only", "--with-tools").code == 2


@pytest.mark.slow
def test_other_solvers_say_the_same_of_networks_and_lemmas(tmp_path: Path) -> None:
    certified(5).save(tmp_path / "a")
    said = {one.method: one for one in chain_tools(str(tmp_path / "a"), 60.0, lambda _: None)}
    assert said["CaDiCaL"].holds
    assert said["ABC cec"].holds or said["ABC cec"].skipped
    changed(tmp_path / "a", CERTIFICATE, lambda text: re.sub(r" over \d+", " over", text, count=1))
    said = {one.method: one for one in chain_tools(str(tmp_path / "a"), 60.0, lambda _: None)}
    assert said["CaDiCaL"].holds is False


@pytest.mark.check
@pytest.mark.parametrize("asked", [("scara", "--effort", "0"), ("puma560", "--rms-error", ".505")])
def test_a_program_with_changed_tables_is_certified_and_verified(
    run: Callable[..., Result], asked: tuple[str, ...]
) -> None:
    """Changed tables have other depths; one lemma of the PUMA needs both ways to differ at once."""
    assert not run("compile", *asked, "--certify", "-o", "arm").code
    checks = json.loads(run("verify", "arm", "--json").out)["checks"]
    proved = {one["name"]: one["holds"] for one in checks}
    assert proved["lemmas: first to final network"]
    assert proved["network against the graph's logic"]
