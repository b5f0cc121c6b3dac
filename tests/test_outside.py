"""Signs and sums of angles outside of tables, and tables that round faithfully."""

from __future__ import annotations

import itertools
import json
import math
import random
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from limited import random_limited, with_ranges
from samples import input_of, terms_of

import boolcomp as bc
from boolcomp.codes import Code
from boolcomp.common.errors import UsageError
from boolcomp.common.places import Folder
from boolcomp.logic.network import Builder
from boolcomp.logic.simulation import truth_planes
from boolcomp.paper import bounds
from boolcomp.paper.assembly import program_of
from boolcomp.paper.bounds import error_bound, explained
from boolcomp.paper.coverlogic import network_of_cover
from boolcomp.paper.covers import TermCover, said_words
from boolcomp.paper.known import plan_subject
from boolcomp.paper.outside import composed, said, with_outside
from boolcomp.paper.passes import PaperChoices
from boolcomp.paper.plan import Options, TermPlan, make_plan
from boolcomp.paper.quantised import quantised
from boolcomp.paper.store import Recipe, Store, function_of
from boolcomp.paper.truth import tabulate
from boolcomp.paper.words import Addend, AngleSum, words_of
from boolcomp.pipeline import PAPER, PaperCompilation, TipLoad, compile_paper, run
from boolcomp.problem.interval import Interval
from boolcomp.problem.span import TURN, part_of
from boolcomp.proof.worst import find_worst
from boolcomp.terms.term import Term
from boolcomp.terms.waves import Wave
from boolcomp.twolevel.minimise import minimise

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Result
    from numpy.typing import NDArray

    from boolcomp.problem.problem import Input
    from boolcomp.problem.robot import Robot

ALL = Options(4, rounding="faithful", signs="outside", sums="outside")
STOPPED = with_ranges("machado-2r", q1=(0.3, 1.4), q2=(-2.5, 2.5), qd1=(-0.5, 1.0))


def joint(name: str, low: float, high: float) -> Input:
    """Return an angle whose word spans a turn or a part of one, as joints have it."""
    return input_of(name, Interval(low, high), angle=True)


def in_turns(word: Interval) -> tuple[Fraction, Fraction]:
    """Return where a word begins and its width, in turns, exactly: it lies about an eighth."""
    part = part_of(word)
    assert part is not None
    width = Fraction(1, 1 << part)
    return Fraction(round(word.centre / (TURN / 8)), 8) - width / 2, width


def exact_sum(addends: tuple[Addend, ...], cells: tuple[int, ...]) -> Fraction:
    """Return what middles of cells add up to, in turns above minus half a turn, within one."""
    total = Fraction(1, 2)
    for one, cell in zip(addends, cells, strict=True):
        low, width = in_turns(one.code.range)
        total += one.times * (low + width * (2 * cell + 1) / (2 * one.code.cells))
    return total % 1


def term_of(times: dict[Input, int], factor: tuple[Input, ...] = ()) -> Term:
    """Return 0.9 cos(Σ times · angle), times factors."""
    multiples = tuple((one.name, k) for one, k in times.items())
    return Term("T", "torque 1", (Wave(multiples, (), 0.9),), tuple(times), factor)


TURN_WORD = (-math.pi, math.pi)
QUARTER, EIGHTHS = (0.0, math.pi / 2), (math.pi / 4, 5 * math.pi / 4)


@pytest.mark.parametrize(
    ("ranges", "times", "read", "kept"),
    [
        ((TURN_WORD, TURN_WORD), (1, 1), (4, 3), 3),
        ((TURN_WORD, TURN_WORD), (1, -1), (4, 3), 3),
        ((TURN_WORD, TURN_WORD), (2, -1), (3, 3), 3),
        ((TURN_WORD, TURN_WORD, TURN_WORD), (1, 1, 1), (3, 3, 3), 3),
        ((TURN_WORD, TURN_WORD), (3, 2), (3, 3), 3),
        ((TURN_WORD, TURN_WORD), (5, 1), (4, 3), 2),
        ((TURN_WORD, QUARTER), (1, 1), (3, 3), 5),
        ((QUARTER, EIGHTHS), (1, 1), (3, 3), 5),
        ((QUARTER, QUARTER), (1, 2), (3, 3), 5),
    ],
)  # fmt: skip
def test_cells_of_sums_are_what_middles_add_up_to(
    ranges: tuple[tuple[float, float], ...],
    times: tuple[int, ...],
    read: tuple[int, ...],
    kept: int,
) -> None:
    angles = {joint(f"q{k}", *one): t for k, (one, t) in enumerate(zip(ranges, times, strict=True))}
    (word,) = words_of(term_of(angles), 3, "gray", sums=True)
    assert word.sum is not None
    addends = word.sum.addends
    assert tuple(one.times for one in addends) == times
    assert (tuple(one.code.bits for one in addends), word.code.bits) == (read, kept)
    missed = []
    for cells in itertools.product(*(range(one.code.cells) for one in addends)):
        (found,) = word.sum.cells([np.array([k]) for k in cells])
        exact = exact_sum(addends, cells)
        assert Fraction(2 * int(found) + 1, 2 << word.sum.bits) == exact
        leading = int(found) >> (word.sum.bits - kept)
        missed.append(Fraction(2 * leading + 1, 2 << kept) - exact)
        index, _ = word.at(
            {one.variable.name: np.array(k) for one, k in zip(addends, cells, strict=True)}
        )
        assert int(index) == int(word.code.word(leading)) & ((1 << word.inputs) - 1)
    assert sum(missed) == 0
    plain = [
        Fraction(abs(t)) * in_turns(one.code.range)[1] / 16
        for t, one in zip(times, addends, strict=True)
    ]
    finer = [
        abs(t) * in_turns(one.code.range)[1] / (2 * one.code.cells)
        for t, one in zip(times, addends, strict=True)
    ]
    assert max(missed) + sum(finer) <= sum(plain)
    square = sum(x**2 for x in missed) / len(missed) + sum(x**2 / 3 for x in finer)
    assert square <= sum(x**2 / 3 for x in plain)


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


def test_a_word_that_is_no_part_of_a_turn_is_not_added() -> None:
    odd, whole = joint("q1", -1.0, 1.3), joint("q2", *TURN_WORD)
    words = words_of(term_of({odd: 1, whole: 1}), 4, "gray", sums=True)
    assert [(word.variable.name, word.sum) for word in words] == [("q1", None), ("q2", None)]
    (alone,) = words_of(term_of({whole: 1}), 4, "gray", sums=True)
    assert (alone.variable, alone.sum, alone.code.bits) == (whole, None, 4)
    beside = joint("q3", 0.1, 0.1 + math.pi / 2)  # a part of a turn that begins between half steps
    words = words_of(term_of({whole: 1, beside: 1}), 4, "gray", sums=True)
    assert [word.sum for word in words] == [None, None]


def test_only_angles_that_a_term_knows_in_one_proportion_are_added() -> None:
    a, b, c = (joint(f"q{k}", *TURN_WORD) for k in (1, 2, 3))
    waves = (
        Wave((("q1", 1), ("q2", 1)), (), 1.0),
        Wave((("q1", 2), ("q2", 2), ("q3", 1)), (), 0.5),
    )
    mixed = Term("T", "torque 1", waves, (a, b, c), ())
    assert [w.variable.name for w in words_of(mixed, 4, "gray", sums=True)] == ["q1+q2", "q3"]
    twice = tuple(Wave((("q1", k), ("q2", -1), ("q3", -1)), (), 1.0) for k in (1, 2))
    words = words_of(Term("T", "torque 1", twice, (a, b, c), ()), 4, "gray", sums=True)
    assert [(word.variable.name, word.sum is None) for word in words] == [
        ("q1", True), ("q2+q3", False),
    ]  # fmt: skip
    apart = Term("T", "torque 1", (waves[0], Wave((("q1", 1),), (), 1.0)), (a, b), ())
    assert [w.variable.name for w in words_of(apart, 4, "gray", sums=True)] == ["q1", "q2"]


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


def plans(robot: Robot | str, options: Options) -> list[TermPlan]:
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
@pytest.mark.parametrize("robot", ["machado-2r", "planar-3r", STOPPED], ids=["2r", "3r", "stops"])
@pytest.mark.parametrize("signs", ["inside", "outside"])
@pytest.mark.parametrize("sums", ["inside", "outside"])
@pytest.mark.parametrize("rounding", ["nearest", "faithful"])
def test_logic_says_a_neighbouring_cell_of_every_term_at_all_words(
    robot: Robot | str, signs: Any, sums: Any, rounding: Any
) -> None:
    looked = 0
    for plan in plans(robot, Options(4, rounding=rounding, signs=signs, sums=sums)):
        table = tabulate(plan)
        cover = minimise(function_of(table), "isop")
        network = with_outside(plan, network_of_cover(cover.cubes))
        told = composed(plan, said(table, cover.cubes))
        planes = truth_planes(network)
        for column, plane in zip(told.columns, planes, strict=True):
            bits = column.to01()[::-1]
            assert not table.free or int(bits, 2) == plane
        grid = np.indices([1 << word.inputs for word in plan.read]).reshape(len(plan.read), -1)
        rows = np.array([[plane >> r & 1 for plane in planes] for r in range(1 << network.inputs)])
        words = rows @ (1 << np.arange(plan.code.bits)[::-1])
        values, inside = {}, np.ones(grid.shape[1], np.bool_)
        for word, row in zip(plan.read, grid, strict=True):
            values[word.variable.name] = word.code.decode(row)
            reach = word.variable.reach
            inside &= (values[word.variable.name] >= reach.low) & (
                values[word.variable.name] <= reach.high
            )
        exact = plan.function.evaluate(sums_in_cells(plan, values))
        missed = np.abs(plan.code.decode(words) - exact)[inside] / plan.code.step
        assert missed.max() <= (0.5 if rounding == "nearest" else 1.0) + 1e-6
        looked += len(missed)
    assert looked > 500


@pytest.mark.parametrize("seed", range(3))
def test_adders_of_angles_are_the_arithmetic_of_cells(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 (of tests)
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
        network = with_outside(plan, straight)
        planes = truth_planes(network)
        shape = [1 << word.inputs for word in plan.read]
        for row, at in enumerate(np.ndindex(*shape)):
            cells = {
                w.variable.name: w.code.index([k])[0] for w, k in zip(plan.read, at, strict=True)
            }
            wanted, _ = words[0].at({name: np.array(int(k)) for name, k in cells.items()})
            made = sum((plane >> row & 1) << k for k, plane in enumerate(reversed(planes)))
            assert made == int(wanted)


@pytest.mark.parametrize("rounding", ["nearest", "faithful"])
def test_what_entries_miss_of_sums_is_known_without_a_table(
    rounding: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = make_plan(terms_of("machado-2r"), Options(6, rounding=rounding, sums="outside"))
    monkeypatch.setattr(bounds, "MADE", 0)
    sums, term = plan.outputs[0].terms[-1], explained(plan.outputs[0]).terms[-1]
    assert term.estimated
    entries = term.code.decode(composed(sums, tabulate(sums)).words())
    words = [word.code.decode(np.arange(word.code.cells)) for word in term.words]
    at = np.meshgrid(*words, indexing="ij")
    values = {word.variable.name: one for word, one in zip(term.words, at, strict=True)}
    missed = np.abs(entries - term.term.evaluate(values).ravel()).max() / term.code.step
    assert 0.5 + 0.3 < missed < term.missed  # more than rounding, by what leading parts leave
    alone = [error_bound(output) for output in plan.outputs]
    worst = find_worst(plan_subject(plan), 2000).most
    assert (worst * [output.word.step for output in plan.outputs] <= alone).all()


def test_signs_cost_an_exclusive_or_each_and_nothing_else_is_there() -> None:
    plan = next(p for p in plans("machado-2r", Options(4, signs="outside")) if p.term.name == "T14")
    table = network_of_cover(minimise(function_of(tabulate(plan)), "isop").cubes)
    assert set(table.operations()) <= {"and", "or", "not"}
    assert sum(len(word.turning) for word in plan.words) == 3
    assert with_outside(plan, table).operations()["xor"] <= 3


@pytest.mark.parametrize(
    ("robot", "of"),
    [("machado-2r", "inverse-dynamics"), (STOPPED, "gravity")],
    ids=["2r", "stops"],
)
@pytest.mark.parametrize("rounding", ["nearest", "faithful"])
def test_logic_says_what_arithmetic_says(robot: Robot | str, of: str, rounding: Any) -> None:
    choices = PaperChoices(Options(4, rounding=rounding, signs="outside", sums="outside"))
    (tabulated,) = run(PAPER, [TipLoad(robot, of=of)], choices, "tables")
    covers = [
        TermCover(entry, minimise(function_of(entry.table), "isop"), stored=False)
        for entry in tabulated.tables
    ]
    made = program_of(tabulated.plan, tabulated.tables, [one.cover for one in covers])
    arrays = tabulated.plan.problem.draw(2000, 5)
    found = made.evaluate(*arrays, engine="numpy")
    told = quantised(tabulated.plan, arrays, said_words(covers))
    assert np.array_equal(found.words, told.words)
    assert bool(said_words(covers)) == (rounding == "faithful")
    errors = np.abs(found.values - tabulated.plan.problem.reference(*arrays))
    assert (errors.max(axis=0) <= made.bound).all()


def compiled(robot: Robot | str, options: Options, folder: Path, **more: Any) -> PaperCompilation:
    store = Store((Folder(folder),))
    choices = PaperChoices(options, Recipe("isop"), store, evaluations=20_000)
    return compile_paper(robot, choices, **more)


@pytest.mark.check
@pytest.mark.parametrize(
    ("robot", "of"),
    [("machado-2r", "inverse-dynamics"), (STOPPED, "inverse-dynamics"), ("elbow-3r", "gravity"),
     ("planar-3r", "inverse-dynamics"), ("machado-2r", "forward-kinematics")],
    ids=["2r", "stops", "elbow", "planar", "kinematics"],
)  # fmt: skip
def test_programs_say_what_was_measured_and_keep_their_bounds(
    robot: Robot | str, of: str, tmp_path: Path
) -> None:
    one = compiled(robot, ALL, tmp_path, of=of)
    (made,) = one.made
    arrays = made.plan.problem.draw(20_000, 3)
    found = one.program.evaluate(*arrays)
    told = quantised(made.plan, arrays, said_words(made.terms))
    assert np.array_equal(found.words, told.words)
    errors = np.abs(found.values - made.plan.problem.reference(*arrays))
    for output, most in zip(one.program.outputs, errors.max(axis=0), strict=True):
        assert output.errors is not None
        assert output.errors.worst_found is not None
        assert max(most, output.errors.sampled_max) <= output.bound
        assert output.errors.worst_found <= output.bound


@pytest.mark.check
def test_known_errors_of_faithful_tables_are_those_of_the_logic(tmp_path: Path) -> None:
    one = compiled("machado-2r", Options(5, rounding="faithful"), tmp_path)
    (made,) = one.made
    arrays = made.plan.problem.draw(100_000, 11)
    errors = one.program.evaluate(*arrays).values - made.plan.problem.reference(*arrays)
    nearest = quantised(made.plan, arrays).values - made.plan.problem.reference(*arrays)
    for k, output in enumerate(one.program.outputs):
        rms = np.sqrt((errors[:, k] ** 2).mean())
        assert output.errors is not None
        assert output.errors.rms == pytest.approx(rms, rel=0.01)
        assert np.sqrt((nearest[:, k] ** 2).mean()) < 0.97 * rms


@pytest.mark.check
@pytest.mark.parametrize("seed", range(4))
def test_random_arms_with_stops_keep_their_bounds(seed: int, tmp_path: Path) -> None:
    robot = random_limited(2, seed)
    one = compiled(
        robot, Options(4, rounding="faithful", signs="outside", sums="outside"), tmp_path
    )
    (made,) = one.made
    arrays = made.plan.problem.draw(5000, seed)
    found = one.program.evaluate(*arrays, engine="numpy")
    assert np.array_equal(found.words, quantised(made.plan, arrays, said_words(made.terms)).words)
    for output in one.program.outputs:
        assert output.errors is not None
        assert output.errors.sampled_max <= output.bound


@pytest.mark.check
def test_the_checker_confirms_what_stands_outside(
    run: Callable[..., Result], tmp_path: Path
) -> None:
    folder = tmp_path / "g"
    done = run(
        "compile", "machado-2r", "--of", "gravity", "--mode", "paper", "--bits", "5", "--certify",
        "--rounding", "faithful", "--signs", "outside", "--sums", "outside", "-o", str(folder),
        "--json",
    )  # fmt: skip
    document = json.loads(done.out)
    assert (document["rounding"], document["signs"], document["sums"]) == (
        "faithful", "outside", "outside",
    )  # fmt: skip
    checks = json.loads(run("verify", str(folder), "--json").out)
    assert checks["holds"]
    errors = [one for one in checks["checks"] if "error of" in one["name"]]
    assert errors
    assert all(one["holds"] for one in errors)


def test_plans_say_what_stands_outside(run: Callable[..., Result]) -> None:
    asked = ("plan", "machado-2r", "--signs", "outside", "--sums", "outside")
    assert "6 ±(q1+q2)" in run(*asked).out
    terms = json.loads(run(*asked, "--json").out)["joints"][0]["terms"]
    assert terms[-1]["inputs"] == [
        {
            "variable": "q1+q2", "bits": 8, "dropped": 2, "turning": [6],
            "sum": [
                {"variable": "q1", "bits": 9, "times": 1},
                {"variable": "q2", "bits": 8, "times": 1},
            ],
        }
    ]  # fmt: skip
    usual = json.loads(run("plan", "machado-2r", "--json").out)["joints"][0]["terms"]
    assert [(one["name"], one["bits"], one["expression"]) for one in usual] == [
        (one["name"], one["bits"], one["expression"]) for one in terms
    ]
    assert all(set(w) == {"variable", "bits", "dropped"} for one in usual for w in one["inputs"])


def test_tables_say_what_stands_outside(run: Callable[..., Result], tmp_path: Path) -> None:
    run(
        "tables",
        "machado-2r",
        "--bits",
        "4",
        "--signs",
        "outside",
        "--sums",
        "outside",
        "-o",
        str(tmp_path),
    )
    text = (tmp_path / "T16.pla").read_text()
    assert (
        "# input: q1+q2 gray 4 bits, -pi .. pi, drops 2, bit 2 turns the sign, the sum of 1 q1"
        in text
    )
    assert "# Bits that turn the sign" in text
    assert ".i 2\n" in text


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"signs": "out"}, r"signs 'out' \(did you mean 'outside'\?\): inside, outside"),
        ({"sums": "no"}, "sums 'no': inside, outside"),
        ({"signs": "outside", "code": "sign-magnitude"}, "signs outside need gray code"),
    ],
)
def test_what_cannot_stand_outside_is_a_sentence(chosen: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Options(**chosen)


def test_sums_of_angles_are_a_sum_for_no_one_else() -> None:
    quarter = Code(Interval(0.0, math.pi / 2), 3)
    total = AngleSum(
        (Addend(joint("q", *QUARTER), quarter, 1), Addend(joint("p", *QUARTER), quarter, 1))
    )
    assert total.middle % 2 == 0
    with pytest.raises(ValueError, match="between cells"):
        _ = total.offset


@pytest.mark.check
def test_pages_say_what_stands_outside(run: Callable[..., Result], tmp_path: Path) -> None:
    asked = ("--bits", "4", "--signs", "outside", "--guard-bits", "3")
    run("plan", "machado-2r", *asked, "--page", str(tmp_path / "plan.html"))
    page = (tmp_path / "plan.html").read_text()
    assert "boolcomp plan machado-2r --bits 4 --guard-bits 3 --signs outside<" in page
    run("compile", "machado-2r", "--mode", "paper", *asked, "-o", str(tmp_path / "p"))
    run("show", str(tmp_path / "p"), "-o", str(tmp_path / "p.html"))
    assert "Signs or sums of angles stand outside of its table" in (tmp_path / "p.html").read_text()


@pytest.mark.check
def test_reports_of_faithful_tables_are_of_their_covers(
    run: Callable[..., Result], tmp_path: Path
) -> None:
    asked = (
        "report", "machado-2r", "--mode", "paper", "--bits", "4", "--extra", "0", "--rounding",
        "faithful", "--signs", "outside", "--sums", "outside", "--samples", "20000",
        "--evaluations", "20000", "--minimizer", "isop", "-o", str(tmp_path / "r"),
    )  # fmt: skip
    rows = json.loads(run(*asked, "--json").out)["rows"]
    program = bc.compile(
        "machado-2r", bits=4, mode="paper", rounding="faithful", signs="outside", sums="outside",
        minimizer="isop",
    )  # fmt: skip
    for row, output in zip(rows, program.outputs, strict=True):
        assert output.errors is not None
        assert row["rms_error"] == pytest.approx(output.errors.rms, rel=0.02)
        assert row["bound"] == output.bound
        assert row["worst_found"] <= row["bound"]
    refused = run(*asked, "--no-logic")
    assert refused.code == 2
    assert "known of their covers only" in refused.err
