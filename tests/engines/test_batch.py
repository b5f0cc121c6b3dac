"""What callers may hand over: shapes, types, and a defined answer to everything else."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from small_programs import stages

from boolcomp.base import DataError, UsageError

PROGRAM = stages(4)[2]
ENGINES = ["numpy", "llvm"]


@pytest.mark.parametrize("engine", ENGINES)
def test_lists_rows_and_numbers_give_the_torques_of_the_full_arrays(engine: Any) -> None:
    q, qd, qdd = [[0.5, -0.3], [0.1, 0.2]], [[0.1, 0.9], [0.0, 0.0]], [[1, 0], [-1, 1]]
    full = PROGRAM.torques(q, qd, qdd, engine=engine)
    assert full.shape == (2, 2)
    assert full.dtype == np.float64
    row = PROGRAM.torques(q[0], np.array(qd[0]), qdd[0], engine=engine)
    assert row.shape == (2,)
    assert (row == full[0]).all()
    assert (
        PROGRAM.torques([0.5, -0.3], 0, 0, engine=engine)
        == PROGRAM.torques([0.5, -0.3], [0, 0], [[0, 0]], engine=engine)[0]
    ).all()
    assert PROGRAM.torques(np.zeros((0, 2)), 0, 0, engine=engine).shape == (0, 2)


def test_arrays_in_other_memory_orders_are_read_alike() -> None:
    rng = np.random.default_rng(0)
    crooked = np.frombuffer(b"x" + rng.uniform(-1, 1, 200).tobytes(), np.float64, offset=1)
    odd = crooked.reshape(100, 2)
    assert (PROGRAM.torques(odd, odd, odd) == PROGRAM.torques(*[odd.copy()] * 3)).all()
    swapped = odd.astype(">f8")
    assert (PROGRAM.torques(swapped, odd, odd) == PROGRAM.torques(*[odd.copy()] * 3)).all()
    q = rng.uniform(-3, 3, (2, 100)).T
    wide = rng.uniform(-1, 1, (200, 4))[::2, ::2]
    plain = PROGRAM.torques(q.copy(), wide.copy(), wide.copy())
    assert (PROGRAM.torques(q, wide, wide) == plain).all()


SHAPES = [
    ((np.zeros(3), 0, 0), r"q has shape \(3,\); this program takes \(2,\) or \(samples, 2\)"),
    ((np.zeros((1, 2, 2)), 0, 0), r"q has shape \(1, 2, 2\)"),
    ((np.zeros((4, 2)), np.zeros((5, 2)), 0), "as many samples each, not q 4, qd 5"),
    ((0.1, 0.2, 0.3), "numbers alone are not enough; this program has 2 joints"),
    (([[1, 2], [3]], 0, 0), "q is not an array of numbers"),
    ((["a", "b"], 0, 0), "not real numbers"),
]


@pytest.mark.parametrize(("arrays", "message"), SHAPES)
def test_wrong_shapes_and_types_are_errors_that_say_what_is_taken(
    arrays: tuple[Any, Any, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        PROGRAM.torques(*arrays)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("value", "place"), [(np.nan, (0, 0)), (np.inf, (69, 1)), (np.nan, (70, 0))]
)
def test_a_value_that_is_not_finite_is_named(
    engine: Any, value: float, place: tuple[int, int]
) -> None:
    for kind in (np.float64, np.float32):
        qd = np.zeros((71, 2), kind)
        qd[place] = value
        name = f"qd{place[1] + 1} of sample {place[0]} is {value}"
        with pytest.raises(DataError, match=name):
            PROGRAM.torques(np.zeros((71, 2), kind), qd, np.zeros((71, 2), kind), engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_values_out_of_range_saturate_and_are_counted(engine: Any) -> None:
    edge = PROGRAM.evaluate([3.1, 3.1], [0.99, 0.99], [0.99, -0.99], engine=engine)
    over = PROGRAM.evaluate([3.1, 3.1], [2.0, 0.99], [1.5, -7.0], engine=engine)
    assert (edge.saturated_inputs, over.saturated_inputs) == (0, 3)
    assert (edge.torques == over.torques).all()


@pytest.mark.parametrize("engine", ENGINES)
def test_an_angle_and_the_same_a_few_turns_on_have_one_torque(engine: Any) -> None:
    rng = np.random.default_rng(4)
    q, turns = rng.uniform(-3.1, 3.1, (300, 2)), rng.integers(-90, 90, (300, 2))
    for kind in (np.float64, np.float32):
        here = PROGRAM.evaluate(q.astype(kind), 0.5, -0.5, engine=engine)
        there = PROGRAM.evaluate((q + 2 * np.pi * turns).astype(kind), 0.5, -0.5, engine=engine)
        same = (here.torques == there.torques).mean()
        assert same == 1 if kind is np.float64 else same > 0.9  # float32 forgets where in the turn
        assert there.saturated_inputs == there.beyond_stops == 0
    ends = [[-np.pi, 0.1], [np.pi, 0.1], [3 * np.pi, 0.1], [-3 * np.pi, 0.1], [-np.pi - 1e-15, 0.1]]
    found = PROGRAM.evaluate(ends, np.zeros((5, 2)), np.zeros((5, 2)), engine=engine)
    assert (found.torques == found.torques[0]).all()


@pytest.mark.parametrize("engine", ENGINES)
def test_an_angle_too_many_turns_away_is_an_error_that_names_it(engine: Any) -> None:
    q = np.zeros((70, 2))
    q[66, 1] = 1e300
    with pytest.raises(DataError, match=r"q2 of sample 66 is 1e\+300, more than 1048576 turns"):
        PROGRAM.torques(q, np.zeros((70, 2)), np.zeros((70, 2)), engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_integer_words_are_their_own_method_and_must_fit(engine: Any) -> None:
    found = PROGRAM.evaluate_words([[1, 2]], [1, 0], 0, engine=engine)
    assert found.words.shape == (1, 2)
    for words in ([99, 0], [-1, 0]):
        with pytest.raises(DataError, match=rf"q1: word {words[0]} does not fit in \d bits"):
            PROGRAM.evaluate_words(words, 0, 0, engine=engine)
    with pytest.raises(UsageError, match="code words are integers"):
        PROGRAM.evaluate_words([0.5, 1], 0, 0, engine=engine)


def test_an_unknown_engine_is_an_error_with_the_nearest_name() -> None:
    wrong: Any = "nunpy"
    with pytest.raises(UsageError, match=r"engine 'nunpy'; did you mean 'numpy'\?"):
        PROGRAM.torques([0, 0], 0, 0, engine=wrong)


def test_without_llvmlite_auto_is_numpy_and_llvm_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from boolcomp.engines import make_engine

    assert make_engine(PROGRAM.wiring()).name == "llvm"
    monkeypatch.setitem(sys.modules, "llvmlite.binding", None)
    assert make_engine(PROGRAM.wiring()).name == "numpy"
    with pytest.raises(UsageError, match="engine 'llvm' needs the package llvmlite"):
        make_engine(PROGRAM.wiring(), "llvm")


def test_importing_the_package_loads_no_engine() -> None:
    text = "import boolcomp.program.program, boolcomp.engines, sys\n"
    text += "assert 'llvmlite' not in sys.modules"
    subprocess.run([sys.executable, "-c", text], check=True)
