"""Every example of the README and the documentation is run, and prints what it says."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import TYPE_CHECKING

import docblocks
import pytest
from docblocks import PAGES, ROOT

from boolcomp.base import parse_toml
from boolcomp.commands import COMMANDS
from boolcomp.compact import WORK, Demand
from boolcomp.problem import is_function, parse_function, parse_robot
from boolcomp.proof import EVALUATIONS
from boolcomp.scale import parse_spec

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Result


def blocks(kind: str) -> list[pytest.ParameterSet]:
    return [pytest.param(text, page, id=name) for text, page, name in docblocks.blocks(kind)]


@pytest.mark.check
@pytest.mark.parametrize(("block", "page"), blocks("console"))
def test_commands_print_what_the_page_shows(
    block: str, page: Path, warm_run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("boolcomp.compact.errors.EVALUATIONS", EVALUATIONS)
    for name, text in docblocks.files(page).items():
        Path(name).write_text(text)
    for (program, *arguments), expected in docblocks.commands(block):
        assert program == "boolcomp"
        result = warm_run(*arguments)
        assert result.code == 0
        pattern = re.escape(expected.strip()).replace("…", "(?:.|\n)*")
        assert re.fullmatch(pattern, result.out.strip()), result.out


@pytest.mark.check
@pytest.mark.parametrize(("block", "page"), blocks("pycon"))
def test_python_examples_are_doctests(
    block: str, page: Path, warm_run: Callable[..., Result]
) -> None:
    del page, warm_run
    test = doctest.DocTestParser().get_doctest(block, {}, "page", None, None)
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


@pytest.mark.parametrize(("block", "page"), blocks("toml"))
def test_files_of_robots_functions_and_sweeps_in_the_pages_load(block: str, page: Path) -> None:
    del page
    if "robots" in (document := parse_toml(block, "page")):
        assert parse_spec(document).cells
    elif is_function(document):
        assert parse_function(block).outputs
    else:
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


def test_the_readme_says_first_what_boolcomp_does_not_do() -> None:
    text = (ROOT / "README.md").read_text()
    head = text[: text.index("## Two commands")]
    for missing in ("xacro", "no loops", "flashes none"):
        assert missing in head.partition("What it does not do:")[2]
    assert "no multiplier:" not in head  # words are multiplied, by nodes
    assert len(head.split()) < 400
    assert not {"flash", "program", "upload"} & set(COMMANDS)
    for word in ("nodes", "LSB", "modes"):  # words are explained before they are used
        first = re.search(rf"\*?\b{word}\b\*?", text)
        assert first is not None
        assert first[0] == f"*{word}*", text[first.start() - 60 : first.end()]


def test_the_page_on_compact_mode_has_the_figures_of_the_effort() -> None:
    text = " ".join((ROOT / "docs/compact.md").read_text().split())
    assert f"`--effort`, {Demand().effort:g} unless said, in nominal seconds of one core" in text
    assert f"{WORK:,} nodes built and simulated are a second" in text
