"""The runner of mutants, on a tree of one module and one test file."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
MODULE = """
def lower(x, most):
    if x > most:
        return most
    return x

def unused(x):
    return -x
"""
TESTS = """
from tiny.room import lower, unused

def test_of_two_the_lower_one_is_returned():
    assert lower(3, 2) == 2
    assert lower(1, 2) == 1
"""
OPPOSITE = """
def test_the_opposite_is_returned():
    assert unused(1) == -1
"""


@pytest.fixture(name="mutants")
def runner() -> Iterator[Any]:
    """Return the module of the runner, which imports the tree's modules."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        import mutants

        patch.setattr(mutants, "HEAVY", ())
        patch.setattr(mutants, "ROOMS", ("room",))
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        yield mutants
    for name in ("tiny", "tiny.room"):
        sys.modules.pop(name, None)


@pytest.fixture(name="tree")
def small_tree(tmp_path: Path) -> Path:
    for folder in ("tiny", "tests", "benchmarks"):
        (tmp_path / folder).mkdir()
    (tmp_path / "tiny" / "__init__.py").touch()
    (tmp_path / "tiny" / "room.py").write_text(MODULE)
    (tmp_path / "tests" / "test_room.py").write_text(TESTS)
    return tmp_path


@pytest.fixture(name="ran")
def on_the_tree(
    mutants: Any, tree: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[[], tuple[int, str]]:
    """Run the tree's mutants, update its list, and return the exit code and what is printed."""

    def run() -> tuple[int, str]:
        mutants.text_of.cache_clear()
        code = mutants.main(["--root", str(tree), "--cores", "1", "--accept"])
        return code, capsys.readouterr().out

    return run


def listed(tree: Path) -> Any:
    return json.loads((tree / "benchmarks" / "mutants.json").read_text())


@pytest.mark.check
def test_survivors_are_listed_until_a_test_kills_them_or_a_reason_is_given(
    tree: Path, ran: Callable[[], tuple[int, str]]
) -> None:
    code, said = ran()
    assert code == 1
    assert said.splitlines()[-1].split()[:-1] == ["room", "3", "1", "0", "2", "66.7%", "1"]
    assert "tiny/room.py:8 unused: operator, no test runs it\n  - return -x" in said
    border, opposite = listed(tree)
    assert border == {
        "function": "lower", "before": "if x > most:", "after": "if (x >= most):", "open": True
    }  # fmt: skip
    assert opposite["after"] == "return (x)"

    del border["open"], opposite["open"]
    border["equivalent because"] = "both are x"
    (tree / "benchmarks" / "mutants.json").write_text(json.dumps([border, opposite]))
    with (tree / "tests" / "test_room.py").open("a") as file:
        file.write(OPPOSITE)
    code, said = ran()
    assert (code, said.splitlines()[-1].split()[:5]) == (0, ["room", "3", "2", "1", "0"])
    test = "tests/test_room.py::test_the_opposite_is_returned"
    assert listed(tree) == [border, opposite | {"killed by": test}]
