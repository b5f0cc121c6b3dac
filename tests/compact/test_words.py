"""Words in other codes, ranges and places of zero, from the demand to the delivered logic."""

import math
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from compact.word_robots import Case, small_robot
from numpy.typing import NDArray
from samples import problem_of

import boolcomp as bc
from boolcomp.base.errors import UsageError
from boolcomp.compact.demand import Demand
from boolcomp.compact.network import WordEnds, program_of_graph, word_logic
from boolcomp.compact.realisation import realise
from boolcomp.compact.sketch import quantities
from boolcomp.compact.sketch_terms import build_sketch
from boolcomp.engines.choice import EngineName
from boolcomp.logic.simulation import Planes
from boolcomp.problem.functions import inverse_dynamics_problem
from boolcomp.problem.problem import Problem, with_words
from boolcomp.problem.robot.library import load_robot
from boolcomp.problem.robot.toml import parse_robot
from boolcomp.problem.word_codes import CODE_KINDS
from boolcomp.problem.words import formats
from boolcomp.program.files import load_program
from boolcomp.program.program import Program, save_program
from boolcomp.terms.extract import resting, split
from boolcomp.words.graph import narrowed, parse_graph

Floats = NDArray[np.float64]

ENGINES: list[EngineName] = ["numpy", "llvm", "words"]
ALLOWED = 0.2  # steps², of which rounding makes a twelfth


class Worded(NamedTuple):
    """A problem with words as asked, and a program of it."""

    problem: Problem
    program: Program


@cache
def worded(name: str, asked: tuple[str, ...], bits: int = 6) -> Worded:
    """Return a program whose widths the noise model has chosen: nothing is searched."""
    plain = problem_of(small_robot(2, 2) if name == "small" else name)
    problem = with_words(plain, formats("words", asked))
    demand, terms, steps = Demand(bits).completed(problem), split(problem), problem.steps(bits)
    sketch = build_sketch(terms, demand.input_bits, steps)
    case = Case(problem, steps, quantities(problem, demand.input_bits), sketch)
    chosen, own = case.chosen(ALLOWED), problem.output_bits(bits)
    treads = [one.format.tread for one in problem.outputs]
    none = [0.0] * len(own)
    statistics = chosen.model.statistics
    graph = narrowed(realise(sketch, chosen.widths, statistics, own, none, treads=treads))
    ends = WordEnds(rest=resting(terms))
    program = program_of_graph(problem, demand, graph, word_logic(graph), ends)
    meanings = tuple(f"w{k}" for k in range(len(graph.nodes)))
    loads = (replace(program.loads[0], graph=graph, meanings=meanings),)
    assert parse_graph(str(graph)) == graph
    return Worded(problem, replace(program, loads=loads))


def coded(program: Program, arrays: list[Floats]) -> list[NDArray[np.int64]]:
    """Return the words of states; inputs without a word have 0."""
    codes = {word.name: word.code for word in program.inputs}
    found = [np.zeros(array.shape, np.int64) for array in arrays]
    for group, array, words in zip(program.groups, arrays, found, strict=True):
        for k, name in enumerate(group.members):
            if name in codes:
                words[:, k] = codes[name].encode(array[:, k]).words
    return found


def delivered(program: Program, words: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return the outputs' words of the program's one network, (samples, outputs)."""
    names = [name for group in program.groups for name in group.members]
    columns = dict(zip(names, np.concatenate(words, axis=1).T, strict=True))
    count = len(words[0])
    planes = [
        sum(int(bit) << s for s, bit in enumerate(columns[one.name] >> k & 1))
        for one in program.inputs
        for k in reversed(range(one.code.bits))
    ]
    made = iter(program.network().fold(Planes((1 << count) - 1), planes))
    found = []
    for output in program.outputs:
        bits = [next(made) for _ in range(output.code.bits)]
        next(made)  # whether it saturates
        found.append([int("".join(str(bit >> s & 1) for bit in bits), 2) for s in range(count)])
    return np.array(found).T


def states_of(problem: Problem, count: int = 4000) -> list[Floats]:
    return problem.draw(count, 77)


def errors_of(found: Worded) -> Floats:
    """Return errors in steps."""
    arrays = states_of(found.problem, 20_000)
    values = found.program.evaluate(*arrays).values
    steps = [output.code.step for output in found.program.outputs]
    return np.asarray((values - found.problem.reference(*arrays)) / steps)


@pytest.mark.slow
@pytest.mark.parametrize("kind", CODE_KINDS)
def test_a_code_changes_words_and_nothing_else(kind: str) -> None:
    plain = worded("small", ())
    found = worded("small", (f"q1={kind}", f"qd={kind}", f"qdd2={kind}:10", f"tau={kind}"))
    assert found.program.networks == plain.program.networks
    arrays = states_of(plain.problem)
    expected = plain.program.evaluate(*arrays)
    for engine in ENGINES:
        made = found.program.evaluate(*arrays, engine=engine)
        assert np.array_equal(made.values, expected.values)
        for k, output in enumerate(found.program.outputs):
            assert output.code.kind == kind
            assert np.array_equal(output.code.index(made.words[:, k]), expected.words[:, k])


FORMATS = [
    ("q1=gray:9:0..2*pi", "tau=gray"),
    ("q=twos:tread", "qd=sign-magnitude:tread", "tau=sign-magnitude:tread"),
    ("qd1=sign-magnitude", "qdd=gray:8:tread", "tau1=natural:tread", "tau2=twos:8"),
]


@pytest.mark.slow
@pytest.mark.parametrize("asked", FORMATS)
def test_engines_words_and_the_delivered_logic_agree_bit_for_bit(
    asked: tuple[str, ...], tmp_path: Path
) -> None:
    found = worded("small", asked)
    save_program(found.program, tmp_path / "p")
    program = load_program(tmp_path / "p")
    assert program == found.program
    arrays = [1.2 * array for array in states_of(found.problem, 1000)]  # some saturate
    first = program.evaluate(*arrays, engine="numpy")
    for engine in ENGINES[1:]:
        again = program.evaluate(*arrays, engine=engine)
        assert np.array_equal(first.values, again.values)
        assert np.array_equal(first.words, again.words)
        assert first.saturated_inputs == again.saturated_inputs > 0
    alone = program.evaluate(*(array[0] for array in arrays), engine="words")
    assert np.array_equal(alone.words, first.words[0])
    words = coded(program, arrays)
    for engine in ENGINES:
        from_words = program.evaluate_words(*words, engine=engine)
        assert np.array_equal(from_words.words, first.words)
        assert np.array_equal(from_words.values, first.values)
    made = delivered(program, words)
    assert np.array_equal(made, first.words)
    for k, output in enumerate(program.outputs):
        assert np.array_equal(output.code.decode(made[:, k]), first.values[:, k])


STOPS = [
    ("q1=gray:10", "q2=twos:-pi..pi"), ("q1=sign-magnitude:-3*pi/4..3*pi/4",), ("q3=gray:tread",),
]  # fmt: skip
RESTING = ("tau=tread", "qd=tread", "qdd=tread")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arm", "asked"),
    [*(("small", one) for one in ((), *FORMATS)), *(("scara", one) for one in (*STOPS, RESTING))],
)
def test_errors_are_as_the_noise_model_allows_whatever_the_words(
    arm: str, asked: tuple[str, ...]
) -> None:
    error = errors_of(worded(arm, asked))
    assert ((error**2).mean(axis=0) < 1.2 * ALLOWED).all()
    assert np.abs(error.mean(axis=0)).max() < 0.26


@pytest.mark.slow
def test_an_angle_from_zero_to_a_turn_counts_from_zero_and_wraps() -> None:
    found = worded("small", ("q=natural:10:0..2pi",))
    (word,) = (x for x in found.program.inputs if x.name == "q2")
    assert word.code.encode([0.0, 1e-3, math.pi, -1e-3]).words.tolist() == [0, 0, 512, 1023]
    q, qd, qdd = states_of(found.problem)
    values = found.program.evaluate(q, qd, qdd).values
    assert np.array_equal(found.program.evaluate(q + 6 * math.pi, qd, qdd).values, values)


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", [(), ("qd=tread", "qdd=tread"), ("qd=sign-magnitude:tread", "qdd2=gray")]
)
def test_a_scara_at_rest_gives_exactly_zero_without_weight(words: tuple[str, ...]) -> None:
    found = worded("scara", ("tau=twos:tread", *words))
    rng = np.random.default_rng(3)
    low, high = found.problem.bounds()
    q = rng.uniform(low[:4], high[:4], (300, 4))
    for engine in ENGINES:
        made = found.program.evaluate(q, np.zeros((300, 4)), np.zeros((300, 4)), engine=engine)
        assert (made.values[:, [0, 1, 3]] == 0.0).all()
        assert (made.words[:, [0, 1, 3]] == 0).all()
        assert (made.values[:, 2] < -1).all()  # what slides up and down has a weight
    rests = [output.rest is not None for output in found.program.outputs]
    assert rests == [True, True, False, True]
    moving = found.program.evaluate(*states_of(found.problem)).values
    assert (np.count_nonzero(moving, axis=0) > 2000).all()


@pytest.mark.slow
def test_another_code_reads_the_stored_result_of_natural_words() -> None:
    program = bc.compile("machado-2r", words={"q1": "gray:10", "tau": "twos"})
    plain = bc.compile("machado-2r")
    assert program.networks == plain.networks
    state = [0.3, -0.7], [0.4, 0.9], [-0.5, 0.2]
    assert program(*state).tolist() == plain(*state).tolist()
    assert [word.code.bits for word in program.inputs if word.name == "q1"] == [10]
    nodes = len(program.network().nodes) - len(plain.network().nodes)
    assert 0 < nodes <= 9 + 2  # a chain of XORs, and inverters of the outputs' signs


def test_the_width_of_a_single_word_wins_over_that_of_its_group() -> None:
    problem = with_words(problem_of("machado-2r"), formats("words", ["q1=gray:12", "qd=8"]))
    demand = Demand(8, {"words": 10, "q": 9}).completed(problem)
    widths = problem.by_input(demand.input_bits)
    assert [widths[name] for name in ("q1", "q2", "qd1", "qdd2")] == [12, 9, 8, 10]
    with pytest.raises(
        UsageError, match="the word format of q1 has 12 bits, and its input bits are 9"
    ):
        bc.compile("machado-2r", input_bits={"q1": 9}, words="q1=12")


@pytest.mark.parametrize(("asked", "said"), [
    ("q9=gray", r"has no word 'q9'.*words are"),
    ("q1=0..3", "q1 turns all the way round, so its word spans a turn; use a"),
    ("qd1=-0.5..0.5", "a word of -0.5 .. 0.5 does not hold qd1 in"),
    ("q1=twos:0..2pi", r"q1: a word of 0 .. 2\*pi has no sign: twos is for"),
    ("q1=sign-magnitude:tread", "a whole turn in sign-magnitude with a cell at zero lacks"),
    ("qd1=-2..1.3:tread", "has no cell at zero"),
    ("tau1=0..100:tread", "tau1: a range of 0 .. 100 is not symmetric about zero"),
    ("q1=grey", r"words q1 'grey': 'grey' is no code, .*did you mean 'gray'"),
    ("q1", "words 'q1' is no NAME=FORMAT; give, for example, q1=gray:12"),
    ("q1=pi..0", r"the range 'pi..0' must rise"),
])  # fmt: skip
def test_an_impossible_format_of_a_word_is_refused(asked: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        with_words(problem_of("machado-2r"), formats("words", [asked]))


KEYS = 'word_code = "gray"\nword_bits = 12\nword_zero = "tread"\n'


def test_a_robot_file_gives_the_formats_of_its_joints() -> None:
    text = str(load_robot("machado-2r")).replace("velocity_range", f"{KEYS}velocity_range", 1)
    robot = parse_robot(text)
    assert parse_robot(str(robot)) == robot
    first, second = inverse_dynamics_problem(robot).inputs[:2]
    assert str(first.format) == "gray:12:tread"
    assert not second.format
    demand = Demand(6).completed(inverse_dynamics_problem(robot))
    assert inverse_dynamics_problem(robot).by_input(demand.input_bits)["q1"] == 12
    with pytest.raises(UsageError, match="--code applies to all words"):
        bc.compile(robot, 5, "paper")
