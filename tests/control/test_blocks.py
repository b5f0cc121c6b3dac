"""Blocks that make torques: tables of a plan, rounded words, programs, users' functions."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from control.textbook import torques
from small_programs import stages

import boolcomp as bc
from boolcomp.codes import Code
from boolcomp.measure import Called, called, compiled, inverse_dynamics, rounded_block
from boolcomp.problem import Problem, inverse_dynamics_problem

READS = ("q", "qd", "qdd")


def problem_of(name: str) -> Problem:
    return inverse_dynamics_problem(bc.load_robot(name))


def drawn(problem: Problem, count: int, reach: float = 1.2) -> dict[str, np.ndarray]:
    """Return states by signal, some of them beyond their words."""
    arrays = [np.asarray(x) * reach for x in problem.draw(count, 5)]
    return dict(zip(READS, (x.T.copy() for x in arrays), strict=True))


def test_rounded_words_are_rounded_before_and_after_exact_torques() -> None:
    problem = problem_of("machado-2r")
    block, codes = rounded_block(problem, inverse_dynamics(bc.load_robot("machado-2r")), READS, 6)
    signals = drawn(problem, 50)
    state = []
    for k, one in enumerate(problem.inputs):
        code = Code(one.word, 8, "natural", one.wraps)
        state.append(code.centre(code.cell(signals[READS[k // 2]][k % 2])[0]))
    q, qd, qdd = (np.array(state[k : k + 2]) for k in (0, 2, 4))
    exact = np.array([torques(q[:, i], qd[:, i], qdd[:, i]) for i in range(50)])
    words = [code.centre(code.cell(exact[:, k])[0]) for k, code in enumerate(codes)]
    assert np.allclose(block.torques(signals), words, rtol=0, atol=1e-9)
    assert [code.step for code in codes] == [400 / 64, 200 / 64]


@pytest.mark.parametrize("runs", [1, 3, 20])
def test_a_program_gives_what_it_evaluates_however_many_runs_there_are(runs: int) -> None:
    program = stages(4)[2]
    signals = drawn(problem_of("machado-2r"), runs)
    found = compiled(program).torques(signals)
    exact = program.evaluate(*(signals[name].T for name in READS)).values
    assert found.shape == (2, runs)
    assert np.array_equal(found.T, exact)


def test_a_users_function_is_called_with_runs_as_rows() -> None:
    def law(q: np.ndarray, e: np.ndarray, **_: Any) -> np.ndarray:
        assert q.shape == e.shape == (3, 2)
        return 10 * e + [1.0, 2.0]

    e = np.arange(6.0).reshape(2, 3)
    found = Called(law, "law").torques({"q": e, "e": e})
    assert np.array_equal(found, 10 * e + [[1.0], [2.0]])


def test_what_a_users_function_does_wrong_is_a_sentence() -> None:
    q = np.zeros((2, 3))
    for law, said in (
        (lambda **_: 1 / 0, "ZeroDivisionError"),
        (lambda **_: np.zeros(7), "ValueError"),
        (lambda **_: np.nan, "is not finite"),
    ):
        with pytest.raises(bc.DataError, match=f"controller law .*{said}"):
            Called(law, "law").torques({"q": q})


def test_a_users_function_is_found_in_a_file_or_a_module(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("def law(e, **_):\n    return 3 * e\n")
    block = called(f"{path}:law")
    assert np.array_equal(block.torques({"q": np.ones((2, 1)), "e": np.ones((2, 1))}), [[3], [3]])
    assert called("math:hypot").function(3, 4) == 5
    with pytest.raises(bc.UsageError, match=r"controller .* names a file that does not exist"):
        called(f"{tmp_path}/none.py:law")
    with pytest.raises(bc.UsageError, match="has no function 'lw'"):
        called(f"{path}:lw")
    with pytest.raises(bc.DataError, match="ModuleNotFoundError"):
        called("no_such_module:law")
