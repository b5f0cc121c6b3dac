"""Signs and sums of angles outside of tables, and tables that round faithfully."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from limited import random_limited, with_ranges
from samples import input_of, terms_of
from small_programs import cover_of

from boolcomp.codes import Code
from boolcomp.logic.network import Builder
from boolcomp.logic.simulation import truth_planes
from boolcomp.paper import program, tables
from boolcomp.paper.covers import cover_words
from boolcomp.paper.passes import PaperChoices
from boolcomp.paper.plan import AngleAddend, PlanOptions, TermPlan, make_plan, words_of
from boolcomp.paper.program import error_bound, explained, network_of_cover, plan_subject
from boolcomp.paper.tables import TermTable, quantised, tabulate
from boolcomp.pipeline import compile_paper
from boolcomp.problem.words import TURN, Interval
from boolcomp.proof.worst import find_worst
from boolcomp.terms.terms import Term, Wave
from boolcomp.twolevel import Recipe

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.problem.robot.model import Robot
    from boolcomp.problem.words import Input

ODD = random_limited(2, 1)
STOPPED = with_ranges("machado-2r", q1=(0.3, 1.4), q2=(-2.5, 2.5), qd1=(-0.5, 1.0))


def joint(name: str, low: float, high: float) -> Input:
    """Return an angle whose word spans a turn or a part of one, as joints have it."""
    return input_of(name, Interval(low, high), angle=True)


def term_of(times: dict[Input, int], factor: tuple[Input, ...] = ()) -> Term:
    """Return 0.9 cos(Σ times · angle), times factors."""
    multiples = tuple((one.name, k) for one, k in times.items())
    return Term("T", "torque 1", (Wave(multiples, (), 0.9),), tuple(times), factor)


TURN_WORD = (-math.pi, math.pi)
QUARTER, EIGHTHS = (0.0, math.pi / 2), (math.pi / 4, 5 * math.pi / 4)


@pytest.mark.parametrize("low", [0.0, -1.2, 2.9])
def test_cells_of_sums_that_occur_are_known(low: float) -> None:
    word, reach = Interval(low // 1 * math.pi / 4, low // 1 * math.pi / 4 + math.pi / 2), 0.4
    inside = Interval(word.low + 0.3, word.low + 0.3 + reach)
    first = replace(input_of("q1", word, angle=True), reach=inside)
    angles = {first: 2, joint("q2", *QUARTER): -1}
    (made,) = words_of(term_of(angles), 4, "gray", sums=True)
    assert made.sum is not None
    q1, q2 = made.sum.addends
    cells = [k for k in range(16) if q1.code.centre(k + 0.5) > inside.low]
    cells = [k for k in cells if q1.code.centre(k - 0.5) <= inside.high]
    found = {
        int(made.sum.cells([np.array(k), np.array(j)])) for k in cells for j in range(q2.code.cells)
    }
    reached = set(np.flatnonzero(made.sum.reached()).tolist())
    assert found <= reached
    ends = {(k + d) % (1 << made.sum.bits) for k in found for d in (-1, 0, 1)}
    assert reached <= ends
    turning = {joint(f"q{k}", *TURN_WORD): 1 for k in (1, 2)}
    (whole,) = words_of(term_of(turning), 3, "gray", sums=True)
    assert whole.sum is not None
    assert whole.sum.reached().all()


def test_only_parts_of_turns_that_a_term_knows_in_one_proportion_are_added() -> None:
    def names(term: Term) -> list[str]:
        words = words_of(term, 4, "gray", sums=True)
        assert all((word.sum is None) == ("+" not in word.variable.name) for word in words)
        return [word.variable.name for word in words]

    a, b, c = (joint(f"q{k}", *TURN_WORD) for k in (1, 2, 3))
    odd, beside = joint("q2", -1.0, 1.3), joint("q2", 0.1, 0.1 + math.pi / 2)  # no half steps
    assert names(term_of({a: 1, odd: 1})) == names(term_of({a: 1, beside: 1})) == ["q1", "q2"]
    with pytest.raises(ValueError, match="q2 does not span a part of a turn"):
        _ = AngleAddend(odd, Code(odd.word, 4), 1).turn_bits
    assert names(term_of({a: 1})) == ["q1"]
    sums = [
        Wave(tuple((f"q{k}", n) for k, n in enumerate(times, 1) if n), (), 1.0)
        for times in ((1, 1, 0), (2, 2, 1), (1, -1, -1), (2, -1, -1), (1, 0, 0))
    ]
    for waves, expected in (
        ((0, 1), ["q1+q2", "q3"]), ((2, 3), ["q1", "q2+q3"]), ((0, 4), ["q1", "q2"]),
    ):  # fmt: skip
        angles = (a, b, c) if max(waves) < 4 else (a, b)
        term = Term("T", "torque 1", tuple(sums[k] for k in waves), angles, ())
        assert names(term) == expected


def test_bits_of_angles_are_dropped_while_halves_are_mirror_images() -> None:
    q, v = joint("q", *TURN_WORD), input_of("v", Interval(-1.0, 1.0))
    cosine = Term("T", "torque 1", (Wave((("q", 1),), (), 1.0),), (q,), (v,))
    sine = Term("T", "torque 1", (Wave((("q", 1),), (), 0.0, 1.0),), (q,), (v, v))
    offset = Term("T", "torque 1", (Wave((), (), 2.0), Wave((("q", 1),), (), 1.0)), (q,), ())

    def dropped(term: Term, *, signs: bool) -> list[tuple[int, tuple[int, ...]]]:
        return [(w.dropped, w.turning) for w in words_of(term, 5, "gray", signs=signs)]

    assert dropped(cosine, signs=True) == [(2, (1,)), (1, (0,))]
    assert dropped(sine, signs=True) == [(2, (0,)), (1, ())]
    assert dropped(offset, signs=True) == [(1, ())]
    assert dropped(cosine, signs=False) == [(1, ()), (0, ())]


def plans(robot: Robot | str, options: PlanOptions) -> list[TermPlan]:
    """Return the plans of terms that are few enough to be looked at."""
    plan = make_plan(terms_of(robot), options)
    return [one for one in plan.terms if sum(word.inputs for word in one.read) <= 14]


def sums_in_cells(plan: TermPlan, cells: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return what words stand for: inputs as they are, sums in the middles of leading parts."""
    at = {}
    for word in plan.words:
        if word.sum is None:
            at[word.variable.name] = cells[word.variable.name]
        else:
            total = sum(one.times * cells[one.variable.name] for one in word.sum.addends)
            place = np.floor((total / TURN + 0.5) * word.code.cells + 1e-9)
            at[word.variable.name] = ((place + 0.5) / word.code.cells - 0.5) * TURN
    return at


@pytest.mark.slow
@pytest.mark.parametrize(
    ("robot", "signs", "sums", "rounding"),
    [
        ("machado-2r", "outside", "outside", "nearest"),
        (STOPPED, "outside", "outside", "faithful"),
        ("machado-2r", "inside", "outside", "faithful"),
        ("planar-3r", "outside", "inside", "nearest"),
    ],
    ids=["2r", "stops", "sums", "signs"],
)  # fmt: skip
def test_logic_says_a_neighbouring_cell_of_every_term_at_all_words(
    robot: Robot | str, signs: Any, sums: Any, rounding: Any
) -> None:
    looked = 0
    for plan in plans(robot, PlanOptions(4, rounding=rounding, signs=signs, sums=sums)):
        table = tabulate(plan)
        cover = cover_of(TermTable("arm", plan, table))
        network = tables.with_outside(plan, network_of_cover(cover))
        told = tables.composed(plan, tables.covered_table(table, cover))
        planes = truth_planes(network)
        for column, plane in zip(told.columns, planes, strict=True):
            assert not table.free or int(column.to01()[::-1], 2) == plane
        grid = np.indices([1 << word.inputs for word in plan.read]).reshape(len(plan.read), -1)
        rows = np.array([[plane >> r & 1 for plane in planes] for r in range(1 << network.inputs)])
        words = rows @ (1 << np.arange(plan.code.bits)[::-1])
        values, inside = {}, np.ones(grid.shape[1], np.bool_)
        for word, row in zip(plan.read, grid, strict=True):
            value, reach = word.code.decode(row), word.variable.reach
            values[word.variable.name] = value
            inside &= (value >= reach.low) & (value <= reach.high)
        exact = plan.function.evaluate(sums_in_cells(plan, values))
        missed = np.abs(plan.code.decode(words) - exact)[inside] / plan.code.step
        assert missed.max() <= (0.5 if rounding == "nearest" else 1.0) + 1e-6
        looked += len(missed)
    assert looked > 500


@pytest.mark.parametrize("rounding", ["nearest", "faithful"])
def test_what_entries_miss_of_sums_is_known_without_a_table(
    rounding: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = make_plan(terms_of("machado-2r"), PlanOptions(6, rounding=rounding, sums="outside"))
    monkeypatch.setattr(program, "MADE", 0)
    sums, term = plan.outputs[0].terms[-1], explained(plan.outputs[0]).terms[-1]
    assert term.table is None
    entries = sums.code.decode(tables.composed(sums, tabulate(sums)).words())
    words = [word.code.decode(np.arange(word.code.cells)) for word in sums.read]
    at = np.meshgrid(*words, indexing="ij")
    values = {word.variable.name: one for word, one in zip(sums.read, at, strict=True)}
    missed = np.abs(entries - sums.term.evaluate(values).ravel()).max() / sums.code.step
    assert 0.5 + 0.3 < missed < term.missed  # more than rounding, by what leading parts leave
    alone = [error_bound(output) for output in plan.outputs]
    worst = find_worst(plan_subject(plan), 2000).largest
    assert (worst * [output.word.step for output in plan.outputs] <= alone).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("robot", "of", "rounding"),
    [
        ("machado-2r", "gravity", "faithful"),
        pytest.param(STOPPED, "inverse-dynamics", "faithful", marks=pytest.mark.check),
        pytest.param("machado-2r", "forward-kinematics", "nearest", marks=pytest.mark.check),
        pytest.param(ODD, "gravity", "nearest", marks=pytest.mark.check),
    ],
    ids=["gravity", "stops", "kinematics", "odd"],
)
def test_programs_say_what_arithmetic_says_and_keep_their_bounds(
    robot: Robot | str, of: str, rounding: Any
) -> None:
    options = PlanOptions(4, rounding=rounding, signs="outside", sums="outside")
    one = compile_paper(robot, PaperChoices(options, Recipe("isop"), evaluations=4000), of=of)
    (made,) = one.made
    arrays = made.plan.problem.draw(20_000, 3)
    found, exact = (
        one.program.evaluate(*arrays, engine="numpy"),
        made.plan.problem.reference(*arrays),
    )
    told = quantised(made.plan, arrays, cover_words(made.terms))
    assert np.array_equal(found.words, told.words)
    errors = np.abs(found.values - exact)
    nearest = np.sqrt(((quantised(made.plan, arrays).values - exact) ** 2).mean(axis=0))
    for k, output in enumerate(one.program.outputs):
        known, rms = output.errors, np.sqrt((errors[:, k] ** 2).mean())
        assert known is not None
        assert known.worst_found is not None
        assert max(errors[:, k].max(), known.sampled_max, known.worst_found) <= output.bound
        assert known.rms == pytest.approx(rms, rel=0.02)
        assert nearest[k] < (0.99 if of == "inverse-dynamics" else 1.001) * rms


def test_adders_of_angles_are_the_arithmetic_of_cells() -> None:
    rng = random.Random(2)  # noqa: S311 (of tests)
    for _ in range(12):
        spans = rng.choices(
            [TURN_WORD, QUARTER, EIGHTHS, (-math.pi / 2, math.pi / 2)], k=rng.choice((2, 3))
        )
        angles = {
            joint(f"q{k}", *one): rng.choice((1, -1, 2, 3, -2)) for k, one in enumerate(spans)
        }
        kind = rng.choice(("gray", "natural", "twos"))
        words = words_of(term_of(angles), rng.choice((2, 3)), kind, sums=True)  # type: ignore[arg-type]
        assert [word.sum is not None for word in words] == [True]
        code = Code(Interval(-1.0, 1.0), words[0].inputs, kind)  # type: ignore[arg-type]
        plan = TermPlan(term_of(angles), code, words)
        builder = Builder(words[0].inputs)
        straight = builder.build([builder.input(k) for k in range(words[0].inputs)])
        network = tables.with_outside(plan, straight)
        planes = truth_planes(network)
        shape = [1 << word.inputs for word in plan.read]
        for row, at in enumerate(np.ndindex(*shape)):
            cells = {
                w.variable.name: w.code.index([k])[0] for w, k in zip(plan.read, at, strict=True)
            }
            wanted, _ = words[0].at({name: np.array(int(k)) for name, k in cells.items()})
            made = sum((plane >> row & 1) << k for k, plane in enumerate(reversed(planes)))
            assert made == int(wanted)
