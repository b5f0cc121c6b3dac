"""Every example of the README and the documentation is run, and prints what it says."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

from boolcomp.cli import main
from boolcomp.robot import parse_robot

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/*.md")])
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(kind: str) -> list[pytest.ParameterSet]:
    found = []
    for page in PAGES:
        for count, match in enumerate(BLOCK.finditer(page.read_text()), 1):
            if match[1] == kind:
                found.append(pytest.param(match[2], id=f"{page.name}-{count}"))
    return found


@pytest.mark.parametrize("block", blocks("console"))
def test_commands_print_what_the_page_shows(
    block: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    for example in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, expected = example.partition("\n")
        program, *arguments = shlex.split(command)
        assert program == "boolcomp"
        with pytest.raises(SystemExit) as exited:
            main(arguments)
        shown = capsys.readouterr().out
        assert not exited.value.code
        pattern = re.escape(expected.strip()).replace("…", "(?:.|\n)*")
        assert re.fullmatch(pattern, shown.strip()), shown


@pytest.mark.parametrize("block", blocks("pycon"))
def test_python_examples_are_doctests(block: str) -> None:
    test = doctest.DocTestParser().get_doctest(block, {}, "page", None, None)
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


@pytest.mark.parametrize("block", blocks("toml"))
def test_robot_files_in_the_pages_load(block: str) -> None:
    assert parse_robot(block).links


def test_every_page_has_its_links_in_place() -> None:
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_make_targets_that_the_pages_name_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for page in PAGES:
        for target in re.findall(r"`?make ([a-z-]+)`", page.read_text()):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"{page.name}: {target}"
