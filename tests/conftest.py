"""What all tests share: repeatable Hypothesis, and a way to run commands."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from browser import Window, chromium
from hypothesis import settings

from boolcomp.cli import main

# No deadlines: the machine may be busy.
settings.register_profile("boolcomp", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("boolcomp")


@dataclass(frozen=True)
class Result:
    """What a command left behind."""

    code: int
    out: str
    err: str


Run = Callable[..., Result]  # of the words of a command


@pytest.fixture(name="run")
def runner(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Run:
    """Run commands in an empty folder, with a cache of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def run(*arguments: str) -> Result:
        with pytest.raises(SystemExit) as exited:
            main(arguments)
        out, err = capsys.readouterr()
        return Result(int(exited.value.code or 0), out, err)

    return run


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Keep covers, networks and native code of tests in a folder of theirs for the session."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        yield folder


@pytest.fixture(scope="session", autouse=True)
def shorter_searches() -> Iterator[None]:
    """Seek the worst error of what compiles in a small part of the usual evaluations.

    20 million are 20 s of a processor for the smallest program. What the search finds is the matter
    of tests/measure/test_worst.py; pages show what users see, and their commands search as usual.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("boolcomp.compact.errors.EVALUATIONS", 400_000)
        patch.setattr("boolcomp.paper.program.EVALUATIONS", 4000)
        yield


@pytest.fixture(name="warm_run")
def runner_with_session_cache(run: Run, own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run commands in an empty folder, with the cache that lasts."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(own_cache))
    return run


@pytest.fixture(scope="module", name="window")
def one_browser_a_file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Window]:
    """Start a headless Chromium for the tests of a file, which are marked `needs_chromium`."""
    with chromium(tmp_path_factory.mktemp("chromium")) as found:
        yield found
