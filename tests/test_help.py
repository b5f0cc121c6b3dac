"""Help: groups of commands, brief and whole lists of options, and the commands of `paper`."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from conftest import Run

import boolcomp as bc
from boolcomp import api
from boolcomp.commands import COMMANDS
from boolcomp.options import OPTIONS

LISTED = re.compile(r"^  (?:-\w, )?(--[a-z-]+)", re.MULTILINE)
OF_PAPER = {"terms", "plan", "tables"}


def listed(run: Run, line: str) -> list[str]:
    """Return the options below the first heading of a help."""
    text = run(*line.split()).out.partition("\nWhat:\n")[2].partition("\n  Example:")[0]
    return LISTED.findall(text)


def test_commands_are_listed_once_in_groups_and_older_spellings_are_not(run: Run) -> None:
    text = run("--help").out.partition("\nStart:")[2]
    assert re.findall(r"^(\w[\w ]*):$", text, re.MULTILINE) == [
        "Measure", "Check and ship", "Inputs", "More",
    ]  # fmt: skip
    names = re.findall(r"^  ([a-z]+)  +[A-Z]", text, re.MULTILINE)
    assert len(names) == len(set(names))
    assert set(names) == set(COMMANDS) - OF_PAPER


@pytest.mark.parametrize(
    "name", ["compile", "graph", "plan", "report", "simulate", "paper compile"]
)
def test_long_help_has_a_brief_and_a_whole_form(run: Run, name: str) -> None:
    text = run(*name.split(), "--help").out
    brief, whole = listed(run, f"{name} -h"), listed(run, f"{name} --help-all")
    assert f"All options: boolcomp {name} --help-all" in text
    assert len(brief) == len(set(brief)) <= (16 if name == "compile" else 20)
    assert set(brief) < set(whole)
    assert len(whole) == len(set(whole)) > 20
    for hidden in ("--kp", "--kd", "--smoothing", "--load-range", "--elbow", "--friction"):
        assert hidden not in brief
        assert (hidden in whole) is (name == "simulate" and hidden == "--friction")


def test_help_of_compile_has_no_option_of_paper_mode(run: Run) -> None:
    whole = set(listed(run, "compile --help-all"))
    paper = {f"--{name.replace('_', '-')}" for name, one in OPTIONS.items() if one.mode == "paper"}
    assert paper
    assert not whole & {*paper, "--mode"}
    assert paper <= set(listed(run, "paper compile --help"))


CHOICES = {name: one for name, one in OPTIONS.items() if one.choices}


@pytest.mark.parametrize("name", CHOICES)
def test_choices_in_help_are_those_of_the_error_message(name: str) -> None:
    given: dict[str, Any] = {name: "x", "mode": CHOICES[name].mode or "compact"}
    if name == "elbow":
        given["of"] = "inverse-kinematics"
    with pytest.raises(bc.UsageError) as caught:
        bc.compile("machado-2r", **given)
    known = re.findall(r"[a-z][\w-]+", re.sub(r".*'x'|.* of | or |.* are ", " ", str(caught.value)))
    assert sorted(known) == sorted(CHOICES[name].values.split())


@pytest.mark.parametrize(
    "line",
    [
        "terms machado-2r --of gravity", "plan machado-2r --of gravity --bits 4",
        "tables machado-2r --of gravity --bits 4",
        "compile machado-2r --of gravity --bits 4 --minimizer isop",
    ],
)  # fmt: skip
@pytest.mark.parametrize("form", [["--json"], []])
def test_commands_of_paper_are_the_older_spellings(run: Run, line: str, form: list[str]) -> None:
    older = ["--mode", "paper"] if line.startswith("compile") else []
    run(*line.split(), *older)  # the store has the covers afterwards
    first = run(*line.split(), *older, *form)
    second = run("paper", *line.split(), *form)
    assert first.code == second.code == 0
    seconds = re.compile(r'"\w*seconds": [\d.]+')
    assert seconds.sub("", second.out) == seconds.sub("", first.out)


def test_paper_has_no_option_of_compact_mode(run: Run) -> None:
    for line in ("plan machado-2r --graph x.svg", "compile machado-2r --effort 0"):
        result = run("paper", *line.split())
        assert result.code == 2
        assert f"no such option '{line.split()[2]}'" in result.err
    assert "unknown command 'plann'\n  hint: did you mean 'plan'?" in run("paper", "plann").err


@pytest.fixture
def values_of(run: Run, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], tuple[Any, str]]:
    """Return a function that returns the values of options on a command line of compile."""
    found: list[tuple[Any, str]] = []

    def compiled(_: object, options: Any, progress: object) -> None:
        del progress
        of = {"of", "friction", "smoothing", "kp", "kd", "elbow"}
        values = {name: x for name, x in options.values.items() if name not in of}
        found.append((values, options.of))
        raise bc.UsageError

    monkeypatch.setattr(api, "compiled_words", compiled)

    def values(line: str) -> tuple[Any, str]:
        run("compile", "machado-2r", *line.split())
        return found.pop()

    return values


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("--rms-error .5", "--accuracy rms=.5"),
        ("--rms-error .5,.4 --max-error 3", "--accuracy rms=.5,.4,found=3"),
        ("--rms-error .5,.4 --max-error 3", "--accuracy found=3 --accuracy rms=.5,.4"),
        ("--error 1lsb,2lsb", "--accuracy proved=1lsb,2lsb"),
        ("--error tau1=1lsb,tau2=0.5Nm", "--accuracy proved=tau1:1lsb,tau2:0.5Nm"),
        ("--error tau1=1lsb,tau2=0.5Nm", "--accuracy proved=tau1=1lsb,tau2=0.5Nm"),
        ("--payloads 0,1", "--payload 0,1"),
        ("--load-range 0..5", "--payload 0..5"),
        ("--of control --kp 50 --kd 14,15", "--of control:kp=50:kd=14,15"),
        ("--friction", "--of inverse-dynamics:friction"),
        ("--friction --smoothing .1", "--of inverse-dynamics:friction=yes:smoothing=.1"),
        ("--of inverse-kinematics --elbow down", "--of inverse-kinematics:elbow=down"),
    ],
)
def test_older_spellings_of_options_mean_the_same(
    values_of: Callable[[str], tuple[Any, str]], older: str, newer: str
) -> None:
    assert values_of(older) == values_of(newer) != values_of("")
