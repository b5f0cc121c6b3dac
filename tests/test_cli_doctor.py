"""`doctor` and `completion`: what is here, what is missing, and what a shell is told."""

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest
from conftest import Run

import boolcomp as bc

PUMAS = [f"plain,{name}" for name in bc.robot_names() if name.startswith("puma")]
PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def test_every_package_that_users_may_install_says_what_it_brings(
    run: Run,
) -> None:
    project = tomllib.loads(PROJECT.read_text())["project"]
    asked = {"": project["dependencies"], **project["optional-dependencies"]}
    names = {
        extra: {re.split(r"[\[<>=]", text)[0] for text in packages}
        for extra, packages in asked.items()
        if extra not in {"test", "dev", "docs", "rivals"}  # for those who work on boolcomp
    }
    pieces = json.loads(run("doctor", "--json").out)["pieces"]
    packages = [piece for piece in pieces if piece["kind"] == "package"]
    assert all(piece["brings"] for piece in packages)
    found = {(piece["extra"], piece["name"]) for piece in packages}
    assert found == {(extra, name) for extra, several in names.items() for name in several}


def test_a_whole_installation_is_said_to_be_one(run: Run) -> None:
    result = run("doctor")
    assert (result.code, result.err) == (0, "")
    assert "all required packages are installed" in result.out
    document = json.loads(run("doctor", "--json").out)
    assert document["whole"] is True
    pieces = [piece["name"] for piece in document["pieces"]]
    programs = [piece["name"] for piece in document["pieces"] if piece["kind"] != "package"]
    assert len(set(programs)) == len(programs)
    tools = {"numpy", "iverilog", "verilator", "ghdl", "avr-gcc", "simavr", "qemu-system-arm"}
    assert tools <= set(pieces)


def test_a_broken_package_is_as_good_as_none_and_the_exit_code_says_so(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pysat.py").write_text("raise OSError('wrong ELF class')")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in [name for name in sys.modules if name.partition(".")[0] == "pysat"]:
        monkeypatch.delitem(sys.modules, name)
    result = run("doctor")
    assert result.code == 1
    assert "required, but missing or broken: python-sat" in result.out
    assert "broken: OSError: wrong ELF class" in result.out


def test_a_missing_extra_says_how_it_comes_and_is_no_failure(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = find_spec
    hidden = "boolcomp.base.errors.find_spec"
    monkeypatch.setattr(hidden, lambda name: None if name == "vl_convert" else real(name))
    found = json.loads(run("doctor", "--json").out)
    (piece,) = (one for one in found["pieces"] if one["name"] == "vl-convert-python")
    assert (piece["found"], piece["source"], piece["extra"]) == (False, "missing", "plots")
    assert piece["install"] == "pip install 'boolcomp[plots]'"
    assert found["whole"]


def completed(words: str, capfd: pytest.CaptureFixture[str]) -> list[str]:
    """Return what a bash is told that wants the last of these words completed."""
    from boolcomp.cli import main

    told = {
        "COMP_WORDS": words, "COMP_CWORD": str(len(words.split(" ")) - 1),
        "_BOOLCOMP_COMPLETE": "bash_complete",
    }  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        for name, value in told.items():
            patch.setenv(name, value)
        with pytest.raises(SystemExit) as exited:
            main([])
    assert exited.value.code == 0
    return capfd.readouterr().out.split()


@pytest.mark.parametrize(
    ("words", "values"),
    [
        ("comp", ["plain,compile", "plain,completion"]),
        ("compile puma", ["file,", *PUMAS]),
        ("schedule simulate puma", ["file,", *PUMAS]),
        ("compile machado-2r --of forward-k", ["plain,forward-kinematics"]),
        ("compile machado-2r --target mcu3", ["plain,mcu32"]),
        ("export out --to veri", ["plain,verilog"]),
        ("compile machado-2r --effo", ["plain,--effort"]),
        ("minimize --method exa", ["plain,exact"]),
        ("completion ba", ["plain,bash"]),
        ("compile machado-2r --objective d", ["plain,depth"]),
        ("build out --board ice", ["plain,icebreaker"]),
        ("cycles out --on cor", ["plain,cortex-m0", "plain,cortex-m3"]),
        ("evaluate out --engine w", ["plain,words"]),
        ("schedule run puma560 --engine n", ["plain,numpy"]),
        ("schedule run puma560 --method lag", ["plain,lagrangian", "plain,lagrangian-rows"]),
        ("evaluate out/2r -o o", ["file,"]),  # paths are left to the shell
        ("evaluate ou", ["file,"]),
    ],
)
def test_commands_robots_and_values_are_completed(
    words: str, values: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert completed(f"boolcomp {words}", capfd) == values


def test_a_real_bash_completes_by_the_script_that_is_printed(tmp_path: Path) -> None:
    (tmp_path / "boolcomp").write_text(f'#!/bin/sh\nexec {sys.executable} -m boolcomp "$@"\n')
    (tmp_path / "boolcomp").chmod(0o755)
    asked = (
        'eval "$(boolcomp completion bash)"; COMP_WORDS=(boolcomp compl); COMP_CWORD=1; '
        '_boolcomp_completion boolcomp; echo "${COMPREPLY[@]}"'
    )
    made = subprocess.run(
        ["/bin/bash", "-c", asked], capture_output=True, text=True, check=True,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )  # fmt: skip
    assert made.stdout.split() == ["completion"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_name_the_command_and_how_it_is_asked(run: Run, shell: str) -> None:
    result = run("completion", shell)
    assert (result.code, result.err) == (0, "")
    assert f"_BOOLCOMP_COMPLETE={shell}_complete" in result.out
    document = json.loads(run("completion", shell, "--json").out)
    assert document["script"] == result.out
