"""Certificates as files of programs, and their sections."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from checker.certified import certified, changed, steps

from boolcomp.checker import container
from boolcomp.checker.__main__ import main
from boolcomp.checker.chain import LINKS, TABLED
from boolcomp.checker.container import FIRST_LINE, OLD_LINE
from boolcomp.checker.folder import read_program
from boolcomp.common.errors import DataError
from boolcomp.program.programfile import load_program
from boolcomp.program.writing import CERTIFICATE, render_program
from boolcomp.proof.certificate.writing import WRITERS

if TYPE_CHECKING:
    from pathlib import Path


def test_a_program_keeps_its_certificate_and_is_saved_unchanged(tmp_path: Path) -> None:
    program = certified()
    program.save(tmp_path / "a")
    loaded = load_program(tmp_path / "a")
    assert loaded.certificate == program.certificate != ""
    assert render_program(loaded) == render_program(program)


def test_a_program_without_one_has_no_such_file_and_proves_nothing(tmp_path: Path) -> None:
    plain = replace(certified(), certificate="")
    assert CERTIFICATE not in render_program(plain)
    plain.save(tmp_path / "a")
    assert [one.holds for one in steps(tmp_path / "a").values()] == [None]


def test_checker_and_compiler_know_the_same_sections() -> None:
    assert tuple(WRITERS) == ("words", *LINKS)  # words are read with the program's files
    assert {"words", *LINKS, *TABLED} == set(container.SECTIONS)
    assert CERTIFICATE == container.NAME
    assert certified().certificate.startswith(FIRST_LINE)


def test_sections_are_read_as_they_stand() -> None:
    text = f"{FIRST_LINE}\n= claim\nx 1\n== load 0\n= graph\na\n\nb\n= first\n"
    found = container.parse(text)
    (load,) = found.loads
    assert found.claim
    assert found.claim.lines == ("x 1",)
    assert found.claim.where(0) == "certificate.txt:3"
    assert load["graph"].text == "a\n\nb\n"
    assert load["graph"].where(2) == "certificate.txt:8"
    assert load["first"].lines == ()


def test_format_1_has_no_claim() -> None:
    found = container.parse(f"{OLD_LINE}\n== load 0\n= graph\na\n")
    assert found.claim is None
    assert found.loads[0]["graph"].where(0) == "certificate.txt:4"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        ("boolcomp certificate 3\n", 1),
        (f"{FIRST_LINE}\n", 2),
        (f"{OLD_LINE}\n", 2),
        (f"{FIRST_LINE}\n= graph\n", 2),
        (f"{FIRST_LINE}\n== load 0\n", 2),
        (f"{OLD_LINE}\n= claim\n", 2),
        (f"{OLD_LINE}\nx\n== load 0\n", 2),
        (f"{OLD_LINE}\n== load 1\n", 2),
        (f"{FIRST_LINE}\n= claim\n== load 1\n", 3),
        (f"{FIRST_LINE}\n= claim\n= claim\n", 3),
        (f"{OLD_LINE}\n== load 0\nx\n= graph\n", 2),
        (f"{OLD_LINE}\n== load 0\n= graphs\n", 3),
        (f"{OLD_LINE}\n== load 0\n= graph\n= graph\n", 4),
        (f"{OLD_LINE}\n== load 0\n=graph\n", 3),
    ],
)
def test_what_is_no_certificate_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(DataError, match=f"certificate.txt:{line}:"):
        container.parse(text)


def test_a_damaged_file_is_a_sentence_and_exit_code_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    certified().save(tmp_path / "a")
    path = tmp_path / "a" / CERTIFICATE
    path.write_text(path.read_text() + "x")
    assert main([str(tmp_path / "a")]) == 1
    assert "checksum" in capsys.readouterr().err
    assert main([str(tmp_path)]) == 1
    assert main([]) == 2


def test_a_file_outside_the_folder_is_not_read(tmp_path: Path) -> None:
    certified().save(tmp_path / "a")
    head = tmp_path / "a" / "program.json"
    changed(tmp_path / "a", "program.json", lambda text: text.replace("4", "5", 1))
    text = head.read_text()
    (tmp_path / "networks").mkdir()
    (tmp_path / "networks" / "0.txt").write_text("x")
    head.write_text(text)
    changed(
        tmp_path / "a", "program.json", lambda text: text.replace('"graphs/0', '"../networks/0')
    )
    with pytest.raises(DataError, match="no file of a program"):
        read_program(tmp_path / "a")


def test_a_missing_section_is_not_known(tmp_path: Path) -> None:
    certified().save(tmp_path / "a")
    changed(tmp_path / "a", CERTIFICATE, lambda text: text[: text.index("= lemmas")])
    assert steps(tmp_path / "a")["lemmas"].holds is None


def test_the_checker_imports_nothing_of_the_compiler() -> None:
    import subprocess

    code = "import boolcomp.checker.__main__, sys; print(*sys.modules)"
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    rooms = {name.split(".")[1] for name in made.stdout.split() if name.startswith("boolcomp.")}
    assert rooms == {"checker", "common", "logic", "words"}
