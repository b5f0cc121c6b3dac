"""Every example of the README and the documentation is run, and prints what it says."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from boolcomp.robot import parse_robot

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Result

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/*.md")])
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(kind: str) -> list[pytest.ParameterSet]:
    found = []
    for page in PAGES:
        for count, match in enumerate(BLOCK.finditer(page.read_text()), 1):
            if match[1] == kind:
                found.append(pytest.param(match[3], page, id=f"{page.name}-{count}"))
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("block", "page"), blocks("console"))
def test_commands_print_what_the_page_shows(
    block: str, page: Path, warm_run: Callable[..., Result]
) -> None:
    for match in BLOCK.finditer(page.read_text()):
        if match[2]:  # a file that the page shows
            Path(match[2]).write_text(match[3])
    for example in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, expected = example.partition("\n")
        program, *arguments = shlex.split(command)
        assert program == "boolcomp"
        result = warm_run(*arguments)
        assert result.code == 0
        pattern = re.escape(expected.strip()).replace("…", "(?:.|\n)*")
        assert re.fullmatch(pattern, result.out.strip()), result.out


@pytest.mark.slow
@pytest.mark.parametrize(("block", "page"), blocks("pycon"))
def test_python_examples_are_doctests(
    block: str, page: Path, warm_run: Callable[..., Result]
) -> None:
    del page, warm_run
    test = doctest.DocTestParser().get_doctest(block, {}, "page", None, None)
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


@pytest.mark.parametrize(("block", "page"), blocks("toml"))
def test_robot_files_in_the_pages_load(block: str, page: Path) -> None:
    del page
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
