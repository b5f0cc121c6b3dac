"""Loops run as Python, or compiled, and nobody can tell from the results."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boolcomp.base import loops
from boolcomp.twolevel import Dense, minimise

NOT_NEEDED = {
    "numba", "highspy", "llvmlite", "rich", "flint", "scipy", "numpy.ma", "tomllib", "decimal"
}  # fmt: skip
SMALL = ".i 2\n.o 1\n11 1\n10 1\n.e\n"


def some(inputs: int, outputs: int, seed: int) -> Dense:
    noise = np.random.default_rng(seed)
    shape = outputs, 1 << inputs
    plane = [np.packbits(noise.random(shape) < p, axis=1, bitorder="little") for p in (0.5, 0.2)]
    on, dc = (np.pad(one, ((0, 0), (0, 8 - one.shape[1]))).view(np.uint64) for one in plane)
    return Dense(inputs, outputs, on & ~dc, dc)


@pytest.fixture
def early(monkeypatch: pytest.MonkeyPatch) -> loops.LoopCalls:
    """Make this process one that has not loaded numba, and has run no loops yet."""
    calls = loops.LoopCalls()
    monkeypatch.setattr(loops, "loaded", lambda: False)
    monkeypatch.setattr(loops, "_calls", calls)
    return calls


@pytest.mark.parametrize("method", ["own", "exact", "isop"])
@pytest.mark.parametrize(("inputs", "outputs"), [(2, 1), (3, 2), (4, 3), (5, 1)])
def test_small_functions_have_the_same_covers_without_numba(
    early: loops.LoopCalls, method: str, inputs: int, outputs: int
) -> None:
    for seed in range(3):
        table = some(inputs, outputs, seed)
        brief = minimise(table, method, 60.0)
        assert 0 < early.made <= loops.MOST_CALLS
        left, early.made = early.made, loops.MOST_CALLS
        assert repr(minimise(table, method, 60.0)) == repr(brief)
        early.made = left


def test_what_is_too_long_for_python_is_done_again_compiled(
    early: loops.LoopCalls, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = some(4, 3, 1)
    whole = repr(minimise(table))
    monkeypatch.setattr(loops, "MOST_CALLS", early.made // 2)
    early.made = 0
    assert repr(minimise(table)) == whole
    assert early.made == loops.MOST_CALLS + 1
    assert not loops.interpreting()


@pytest.mark.slow
@pytest.mark.parametrize("more", [(), ("--method", "exact")])
def test_a_small_file_is_minimised_without_numba_and_highs(
    tmp_path: Path, more: tuple[str, ...]
) -> None:
    path = tmp_path / "small.pla"
    path.write_text(SMALL)
    code = (
        "import sys\nfrom boolcomp.cli import main\ntry:\n    main(sys.argv[1:])\n"
        f"finally:\n    print({NOT_NEEDED} & set(sys.modules))"
    )
    command = [sys.executable, "-c", code, "minimize", str(path), *more]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.endswith("set()\n")


OLDER = """
import pickle, sys
from pathlib import Path
import older

class Gone(tuple): pass
Gone.__module__ = "older"
older.Gone = Gone
print(older.twice(2))
(index,) = Path(sys.argv[1]).rglob("older.twice*.nbi")
with index.open("rb") as file:
    version = pickle.load(file)
    stamp, overloads = pickle.loads(file.read())
data = pickle.dumps((stamp, {Gone(): "older.nbc", **overloads}))
index.write_bytes(pickle.dumps(version) + data)
"""


@pytest.mark.check
def test_a_cache_that_names_a_class_of_an_older_version_is_made_again(tmp_path: Path) -> None:
    (tmp_path / "older.py").write_text(
        "from boolcomp.base.loops import njit\n@njit(cache=True)\ndef twice(x):\n    return 2 * x\n"
    )
    tmp_path.chmod(0o700)
    for text in (OLDER, "import older\nprint(older.twice(2))"):
        done = subprocess.run(
            [sys.executable, "-c", text, str(tmp_path)],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (done.stdout, done.stderr) == ("4\n", "")


def test_loops_run_as_python_where_numba_is_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    config: Any = import_module("numba").config
    monkeypatch.setattr(config, "DISABLE_JIT", 1)
    loop = loops.CompiledLoop(lambda x: type(x).__name__, cache=True)
    assert [loop("a text"), loop([])] == ["str", "list"]
