"""Every example of the README and the documentation is run, and prints what it says."""

from __future__ import annotations

import dataclasses
import doctest
import importlib
import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import click
import docblocks
import pytest
from docblocks import PAGES, ROOT

from boolcomp.commands import COMMANDS
from boolcomp.compact import WORK, Demand
from boolcomp.problem import parse_function, parse_robot
from boolcomp.scale import parse_spec

with pytest.MonkeyPatch.context() as patch:  # a folder of scripts
    patch.syspath_prepend(str(ROOT / "docs"))
    import make_reference

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Result

CONTRIBUTING = [ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/contributing/**/*.md"))]


def blocks(kind: str) -> list[pytest.ParameterSet]:
    return [pytest.param(text, page, id=name) for text, page, name in docblocks.blocks(kind)]


def there(tool: str) -> bool:
    """Tell whether a tool of the extra `hardware` is installed."""
    wheel = f"yowasp_{tool.replace('-', '_')}"
    return bool(shutil.which(tool) or importlib.util.find_spec(wheel))


@pytest.mark.check
@pytest.mark.parametrize(("block", "page"), blocks("console"))
def test_commands_print_what_the_page_shows(
    block: str, page: Path, warm_run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("boolcomp.compact.errors.EVALUATIONS", 20_000_000)  # as users have
    for name, text in docblocks.files(page).items():
        Path(name).write_text(text)
    missing = [tool for tool in docblocks.needs(page).get(block, ()) if not there(tool)]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
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


@pytest.mark.parametrize(("block", "page"), blocks("sh"))
def test_commands_and_options_in_shell_blocks_exist(block: str, page: Path) -> None:
    del page
    for line in re.findall(r"^boolcomp .*$", block, re.MULTILINE):
        _, name, *words = shlex.split(line, comments=True)
        command = importlib.import_module(f"boolcomp.commands.{name}").command
        assert isinstance(command, click.Command), line
        at = click.Context(command, help_option_names=["-h", "--help"])  # click keeps the first
        command.make_parser(at).parse_args(words)


@pytest.mark.parametrize(("block", "page"), blocks("toml"))
def test_files_of_robots_functions_and_sweeps_in_the_pages_load(block: str, page: Path) -> None:
    del page
    if "robots" in (document := tomllib.loads(block)):
        assert parse_spec(document).cells
    elif "outputs" in document:
        assert parse_function(block).outputs
    else:
        assert parse_robot(block).links


MANUAL = [one for one in PAGES if one.parent.name != "research"]


def test_the_manual_has_at_most_16000_words_by_hand() -> None:
    words = [
        word
        for page in MANUAL
        for word in make_reference.PART.sub("", page.read_text("utf-8")).split()
        if any(map(str.isalnum, word))
    ]
    assert len(MANUAL) > 30
    assert len(words) <= 16_000


def test_the_generated_parts_of_the_pages_are_up_to_date() -> None:
    texts = {page: page.read_text("utf-8") for page in PAGES}
    parts = {page.name for page, text in texts.items() if make_reference.PART.search(text)}
    assert {"command-line.md", "python.md", "robots.md"} <= parts
    assert [page for page, text in texts.items() if make_reference.filled(text) != text] == []


def test_every_page_has_its_links_in_place() -> None:
    for page in [*PAGES, *CONTRIBUTING]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_make_targets_that_the_pages_name_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for page in [*PAGES, *CONTRIBUTING]:
        for target in re.findall(r"`?make ([a-z-]+)`", page.read_text()):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"{page.name}: {target}"


def test_the_readme_has_at_most_650_words_and_states_the_limits() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert sum(any(map(str.isalnum, word)) for word in text.split()) <= 650
    limits = " ".join(text.partition("## Limits")[2].split())
    for missing in (
        "no xacro",
        "no loops",
        "does not program boards",
        "macOS and Windows could not",
    ):
        assert missing in limits
    assert not {"flash", "program", "upload"} & set(COMMANDS)
    first = text.partition("## Is it for you?")[0]
    for definition in ("A LUT3 is a Boolean function of three bits", "LSB is the step"):
        assert definition in " ".join(first.split())


# Numbers with a unit of measurements, and those with thousands. Each exception has a reason.
MEASURED = re.compile(
    r"(?<![\w.,])\d(?:[\d.,]*\d)?[\s-]?\*?(?:%|×|(?:percent|nodes?|LUTs?\d?|LSB|cycles|[kMG]i?B|"
    r"[kM]?Hz|[nµm]?s|mm|seconds?|minutes?|times|products|multipliers|N·m)\b)|\d+,\d{3}"
)
STATED = {
    "1 LSB": "the unit; an accuracy target",
    "64 LSB": "1/64 LSB: resolution of decoders",
    "200 N·m": "range in a robot file",
    "1.5625 N·m": "a step of that range",
    "1 mm": "default of an option",
    "1 kHz": "setting of simulations",
    "10 s": "length of trajectories",
    "10 ms": "timeout of the UART",
    "115,200": "rate of the UART",
    "100 MHz": "a clock that is asked for",
    "12 MHz": "clock of a board",
    "25 MHz": "clock of a board",
    "15 minutes": "length of a lesson",
    "2 %": "rule for friction and for turns",
    "1.05 times": "rule for ranges",
    "1.1 times": "rule for ranges",
    "20,000": "rule for ranges; limit of files",
    "65,536": "limit of PLA files",
    "256 MiB": "limit of PLA files",
    "8 MiB": "limit of robot files",
    "16 MiB": "limit of programs",
    "64 MiB": "limit of programs",
    "100,000": "limit of sweeps",
    "64 MB": "size of chunks",
    "131,072": "rows of chunks",
}


def typed_figures(text: str) -> list[str]:
    """Return the measured figures of a page that are not generated."""
    for made in (make_reference.PART, make_reference.FIGURE, docblocks.BLOCK):
        text = made.sub("", text)
    text = re.sub(r"`[^`\n]*`|\]\([^)]*\)", "", text)
    return [" ".join(one.split()) for one in MEASURED.findall(text)]


def test_measured_figures_are_generated() -> None:
    typed = [(page, one) for page in MANUAL for one in typed_figures(page.read_text("utf-8"))]
    assert [(page.name, one) for page, one in typed if one not in STATED] == []
    assert {one for _, one in typed} == set(STATED)


def test_a_typed_figure_is_found_and_an_outdated_one_is_filled() -> None:
    luts = make_reference.filled("It has <!--first.machado-2r.luts-->1 LUT3.")
    assert re.fullmatch(r"It has <!--first.machado-2r.luts-->\d{3} LUT3\.", luts)
    assert typed_figures(luts) == []
    assert typed_figures("At\n  <!--first.machado-2r.luts-->559 *LUT3*") == ["559 *LUT3"]
    assert typed_figures("46 times, 2.8 % or 26,374 in 0.7 mm") == [
        "46 times", "2.8 %", "26,374", "0.7 mm",
    ]  # fmt: skip


def test_the_page_on_robot_files_describes_every_key() -> None:
    keys = importlib.import_module("boolcomp.problem.robot.toml")
    page = (ROOT / "docs/reference/robot-file.md").read_text("utf-8")
    described = set(re.findall(r"`\[*(\w+)(?: = true)?\]*`", page))
    assert {*keys.ROBOT_KEYS, *keys.JOINT_KEYS, *keys.PAYLOAD_KEYS} <= described


def test_the_page_on_compact_mode_has_the_figures_of_the_effort() -> None:
    text = " ".join((ROOT / "docs/research/compact-mode.md").read_text().split())
    assert f"`--effort` (default {Demand().effort:g}) counts work" in text
    assert f"{WORK:,} LUT3 built and simulated count as a second" in text


def test_every_path_on_pages_for_contributors_exists() -> None:
    paths = {
        (page.name, path)
        for page in CONTRIBUTING
        for path in re.findall(
            r"`([\w.]+(?:/[\w.]+)*(?:/|\.(?:py|js|css)))`", page.read_text("utf-8")
        )
    }
    places = (ROOT / "boolcomp", ROOT)
    missing = [one for one in paths if not any((place / one[1]).exists() for place in places)]
    assert sorted(missing) == []
    assert len({path for _, path in paths}) > 100


@pytest.mark.parametrize("page", sorted(ROOT.glob("docs/contributing/representations/[!R]*.md")))
def test_pages_of_representations_list_the_fields_of_their_classes(page: Path) -> None:
    text = page.read_text("utf-8")
    sources = re.findall(r"`(\w+/\w+)\.py`", text[: text.index("\n|")])
    modules = [importlib.import_module(f"boolcomp.{one.replace('/', '.')}") for one in sources]
    listed = re.findall(r"^\| `(\w+)` \| ([^|]*)\|", text, re.MULTILINE)
    assert len(listed) > 1
    for name, row in listed:
        kind = next(found for one in modules if (found := getattr(one, name, None)))
        fields = getattr(kind, "_fields", None) or [one.name for one in dataclasses.fields(kind)]
        assert re.findall(r"`(\w+)`", row) == list(fields), name


def test_every_path_of_one_torque_has_the_stated_number_of_files_below_fifteen() -> None:
    page = (ROOT / "docs/contributing/architecture.md").read_text("utf-8")
    ways = re.findall(r"\*\*([^*]+)\*\* \((\d+) files\)(.*?)(?=\n\*\*|\n## )", page, re.DOTALL)
    files = {name: set(re.findall(r"`([\w/]+\.py)`", text)) for name, _, text in ways}
    assert {name: len(paths) for name, paths in files.items()} == {
        name: int(count) for name, count, _ in ways
    }
    assert len(ways) == 6
    assert max(map(len, files.values())) < 15
    assert len(page.split()) <= 1500


def test_every_name_in_the_table_of_changes_occurs_in_a_file_of_its_row() -> None:
    page = (ROOT / "docs/contributing/where-to-change.md").read_text("utf-8")
    rows = [line for line in page.split("\n") if line.startswith("| ")]
    count = 0
    for row in rows:
        paths = [ROOT / "boolcomp" / one for one in re.findall(r"`([\w/]+\.py)`", row)]
        text = "".join(path.read_text("utf-8") for path in paths if path.is_file())
        for name in re.findall(r"`@?(?:\w+\.)?([A-Za-z_]+)`", row.replace(".py`", "/`")):
            assert re.search(rf"\b{name}\b", text), f"{name} in: {row}"
            count += 1
    assert count > 40


def test_every_decision_is_listed_with_its_title_and_has_three_parts() -> None:
    pages = [page for page in CONTRIBUTING if page.parent.name == "decisions"]
    listed = (ROOT / "docs/contributing/decisions/README.md").read_text("utf-8").split("\n- ")[1:]
    decisions = [page for page in pages if page.name != "README.md"]
    titles = [page.read_text("utf-8").partition("\n")[0][2:] for page in decisions]
    assert [one.strip() for one in listed] == [
        f"[{title}]({page.name})" for title, page in zip(titles, decisions, strict=True)
    ]
    for number, page in enumerate(decisions, 1):
        text = page.read_text("utf-8")
        assert text.startswith(f"# {number}. ")
        assert page.name.startswith(f"{number:04}-")
        assert re.findall("^## (.*)$", text, re.MULTILINE) == [
            "Context",
            "Decision",
            "Consequences",
        ]
        assert 50 <= len(text.split()) <= 200, page.name


def patched() -> dict[str, str]:
    """Return the files that the patches of where-to-change.md change, after the change."""
    page = (ROOT / "docs" / "contributing" / "where-to-change.md").read_text("utf-8")
    found: dict[str, str] = {}
    for patch in re.findall(r"```diff\n(.*?)```", page, re.DOTALL):
        assert len(patch.splitlines()) < 80
        for part in re.split(r"^--- a/", patch, flags=re.MULTILINE)[1:]:
            name, _, *lines = part.splitlines()
            for hunk in re.split(r"^@@.*$", "\n".join(lines), flags=re.MULTILINE)[1:]:
                rows = hunk.strip("\n").split("\n")
                old, new = ("\n".join(x[1:] for x in rows if x[:1] != sign) for sign in "+-")
                source = found.get(name) or (ROOT / name).read_text("utf-8")
                assert source.count(f"\n{old}\n") == 1, (name, old)
                found[name] = source.replace(f"\n{old}\n", f"\n{new}\n")
    return found


def test_example_patches_apply_to_the_sources() -> None:
    assert len(patched()) >= 6


@pytest.mark.check
def test_the_code_of_the_example_is_compiled_evaluated_exported_and_simulated(
    tmp_path: Path,
) -> None:
    shutil.copytree(
        ROOT / "boolcomp", tmp_path / "boolcomp", ignore=shutil.ignore_patterns("__pycache__")
    )
    for name, text in patched().items():
        (tmp_path / name).write_text(text, "utf-8")
    paths = os.pathsep.join([str(tmp_path), str(ROOT / "tests")])
    subprocess.run(  # most loops run once: they are not compiled
        [sys.executable, "-P", "-W", "ignore", str(ROOT / "tests" / "examplecode.py"), "out"],
        check=True, cwd=tmp_path, env={**os.environ, "PYTHONPATH": paths, "NUMBA_DISABLE_JIT": "1"},
    )  # fmt: skip
    assert (tmp_path / "out" / "compact" / "program.json").exists()


NOTEBOOKS = sorted(ROOT.glob("examples/*.ipynb"))


def test_notebooks_are_committed_without_outputs() -> None:
    assert [one.stem for one in NOTEBOOKS] == ["first_program", "urdf_to_fpga"]
    for path in NOTEBOOKS:
        cells = json.loads(path.read_text("utf-8"))["cells"]
        code = [one for one in cells if one["cell_type"] == "code"]
        assert len(code) > 5
        assert all((one["outputs"], one["execution_count"]) == ([], None) for one in code)


@pytest.mark.check
@pytest.mark.parametrize(
    ("path", "shown"),
    list(zip(NOTEBOOKS, ("559 nodes", "T2      -1.5098"), strict=True)),
    ids=lambda one: getattr(one, "stem", ""),
)
def test_notebooks_run_from_the_first_cell_to_the_last(
    path: Path, shown: str, tmp_path: Path
) -> None:
    import nbclient
    import nbformat

    notebook = nbformat.read(path, 4)
    at = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=200, kernel_name="python3", resources=at).execute()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    texts = [json.dumps(output, ensure_ascii=False) for cell in code for output in cell.outputs]
    assert any(shown in text for text in texts)
    assert sum("<td>no</td>" in text for text in texts) == 0
    assert sum("<td>verilog read back</td>" in text for text in texts) == 1


def run_demo(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the recipe of `make demo` in another folder."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    recipe = re.search(r"^demo: .*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    assert recipe is not None
    python, script = recipe[1].split()
    assert python == "@$(BIN)/python"
    return subprocess.run(
        [sys.executable, str(ROOT / script)],
        check=False, cwd=folder, capture_output=True, encoding="utf-8",
    )  # fmt: skip


@pytest.mark.check
def test_the_demo_prints_at_most_60_lines_of_100_columns_and_ends_with_its_files(
    tmp_path: Path,
) -> None:
    done = run_demo(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert len(lines) <= 60
    assert max(map(len, lines)) <= 100
    titles = [line.removeprefix("== ") for line in lines if line.startswith("== ")]
    assert [title.split()[:2] for title in titles[:4]] == [
        ["The", "arm:"], ["Its", "program:"], ["Its", "torques:"], ["Its", "page:"],
    ]  # fmt: skip
    assert lines[-4] == "== Look at"
    for line in lines[-3:]:
        assert (tmp_path / line.split()[0]).stat().st_size > 10_000, line


@pytest.mark.check
def test_a_command_that_fails_ends_the_demo_with_its_message_and_code(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file where the demo needs a folder")
    done = run_demo(tmp_path)
    assert done.returncode in (1, 2)
    assert done.stderr.startswith("error: ")
    assert "Look at" not in done.stdout
