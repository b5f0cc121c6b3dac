"""Programs that ship with their certificates: whoever has only the checker believes them."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from checker.certified import changed

import boolcomp as bc
from boolcomp.checker.bound import read_bounds
from boolcomp.checker.container import NAME, SECTIONS, parse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from boolcomp.checker.container import Section

ROOT = Path(__file__).resolve().parent.parent.parent
SHIPPED, ROBOTS = ROOT / "certified", ROOT / "robots"


def checked(folder: Path, elsewhere: Path, *options: str) -> tuple[int, list[str]]:
    """Run the checker alone from another folder; return its exit code and its lines."""
    command = [sys.executable, "-P", "-m", "boolcomp.checker", str(folder), *options]
    made = subprocess.run(command, capture_output=True, text=True, check=False, cwd=elsewhere)
    return made.returncode, (made.stdout + made.stderr).splitlines()


@pytest.mark.check
@pytest.mark.parametrize(("name", "outputs"), [("machado-2r-8", 2), ("elbow-3r-8", 3)])
def test_the_checker_confirms_every_step_of_a_program_that_ships(
    name: str, outputs: int, tmp_path: Path
) -> None:
    code, lines = checked(SHIPPED / name, tmp_path, "--robot", str(ROBOTS / f"{name[:-2]}.toml"))
    assert code == 0
    unverified = [line for line in lines if line.startswith("not verified: ")]
    lines = [line for line in lines if line not in unverified]
    assert all(": holds (" in line for line in lines)
    assert len(lines) == 11 + outputs
    assert "not verified: worst_found" in unverified
    for k in range(outputs):
        assert sum(line.startswith(f"error of tau{k + 1}: holds") for line in lines) == 1


@pytest.mark.check
def test_the_checker_names_all_that_does_not_hold_of_a_damaged_one(tmp_path: Path) -> None:
    shutil.copytree(SHIPPED / "machado-2r-8", tmp_path / "arm")

    def damaged(text: str) -> str:
        lemmas, bounds = text.index("= lemmas\n"), text.index("= bound\n")
        wrong = re.sub(
            r"^(\d+ = )~?(\d+)", r"\g<1>0", text[lemmas:bounds], count=1, flags=re.MULTILINE
        )
        lower = re.sub(r"(tau1 tight \S+) 3\.\d+", r"\1 3.6", text[bounds:])
        return text[:lemmas] + wrong + lower

    changed(tmp_path / "arm", NAME, damaged)
    code, lines = checked(tmp_path / "arm", tmp_path)
    assert code == 1
    wrong = [line.partition(" (")[0] for line in lines if "DOES NOT HOLD" in line]
    assert wrong == [
        "lemmas: first to final network: DOES NOT HOLD",
        "error of tau1: DOES NOT HOLD",
    ]


def test_a_changed_byte_of_a_program_that_ships_is_a_sentence(tmp_path: Path) -> None:
    shutil.copytree(SHIPPED / "machado-2r-8", tmp_path / "arm")
    path = tmp_path / "arm" / "networks" / "0.txt"
    path.write_text(path.read_text() + "\n")
    code, lines = checked(tmp_path / "arm", tmp_path)
    assert code == 1
    assert lines == [f"{path}: damaged: its checksum is not the one in program.json"]


@pytest.mark.check
def test_what_ships_is_what_compile_makes_and_no_bound_has_grown() -> None:
    made = _sections(bc.compile("machado-2r", 8, proof="tight", certify=True).certificate)
    shipped = _sections((SHIPPED / "machado-2r-8" / NAME).read_text())
    assert made.keys() == shipped.keys() == set(SECTIONS) - {"terms", "words", "cones"}  # of others
    for name in made.keys() - {"bound"}:
        assert made[name].text == shipped[name].text
    pairs = [read_bounds(one["bound"]).outputs for one in (made, shipped)]
    for now, then in zip(*pairs, strict=True):
        assert now.name == then.name
        assert then.low <= now.low < now.high <= then.high


def _sections(text: str) -> Mapping[str, Section]:
    (load,) = parse(text).loads
    return load
