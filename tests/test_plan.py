"""The paper's plan: every number of its Fig. 1, and the rules beyond one robot."""

import re
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import problem_of, random_robot, terms_of
from termtext import parse_term

import boolcomp as bc
from boolcomp.codes import Code
from boolcomp.paper.plan import (
    OutputPlan,
    Plan,
    PlanOptions,
    TableWord,
    TermPlan,
    _halves,
    _leave_out_small,
    guard_bits_for,
    make_plan,
    plan_reach,
)
from boolcomp.problem.words import Interval
from boolcomp.terms.extrema import amplitude
from boolcomp.terms.terms import Term


def plan(name: str = "machado-2r", **chosen: object) -> Plan:
    return make_plan(terms_of(name), PlanOptions(**chosen))  # type: ignore[arg-type]  # keyword arguments of the dataclass


# Fig. 1 as printed: name, expression, range, amplitude, width, input bits, used, unused states.
FIGURE_1 = [
    ("T11", "(15.75 + 10 cos q2) qdd1", 50, 25.75, 8, 15, 16876, 15892),
    ("T12", "(4 + 5 cos q2) qdd2", 12.5, 9, 6, 11, 1475, 573),
    ("T13", "-5 sin q2 qd2^2", 6.25, 5, 5, 9, 410, 102),
    ("T14", "-10 sin q2 qd1 qd2", 12.5, 10, 6, 18, 209715, 52429),
    ("T15", "66.15 cos q1", 100, 66.15, 9, 8, 170, 86),
    ("T16", "49 cos(q1 + q2)", 50, 49, 8, 16, 64226, 1310),
    ("T21", "(2 + 2.5 cos q2) qdd1", 6.25, 4.5, 6, 11, 1474, 574),
    ("T22", "(2 + 2.5 cos q2) qdd1", 6.25, 4.5, 6, 11, 1474, 574),
    ("T23", "9 qdd2", 12.5, 9, 7, 7, 92, 36),
    ("T24", "5 sin q2 qd1^2", 6.25, 5, 6, 11, 1638, 410),
    ("T25", "24.5 cos(q1 + q2)", 25, 24.5, 8, 16, 64226, 1310),
    ("T26", "24.5 cos(q1 + q2)", 25, 24.5, 8, 16, 64226, 1310),
]


def test_every_term_of_figure_1_is_derived() -> None:
    for term, row in zip(plan().terms, FIGURE_1, strict=True):
        name, expression, high, height, bits, inputs, used, unused = row
        assert (term.term.name, str(term.term)) == (name, expression)
        assert term.code.range.high == high
        assert term.amplitude == pytest.approx(height, abs=1e-9)
        assert (term.code.bits, term.input_bits) == (bits, inputs)
        # The paper rounds some of these and truncates others: one state either way.
        assert abs(term.used_states - used) <= 1
        assert abs(term.unused_states - unused) <= 1


def test_the_torques_of_figure_1_are_derived() -> None:
    # Printed 152.5 and 69.1; the true extremes are a little smaller. Of the second torque's states
    # the misprint in the exponent is mended.
    rows = ((200, 48, 152.42, 2.145e14, 0.67e14), (100, 40, 69.07, 0.76e12, 0.34e12))
    for joint, (high, inputs, most, used, unused) in zip(plan().outputs, rows, strict=True):
        assert (joint.code.range.high, joint.guard_bits, joint.input_bits) == (high, 2, inputs)
        assert joint.amplitude == pytest.approx(most, abs=5e-3)
        assert joint.used_states == pytest.approx(used, rel=1e-2)
        assert joint.unused_states == pytest.approx(unused, rel=1e-2)


def test_bits_of_even_words_are_dropped_in_gray_code() -> None:
    dropped = {
        (term.term.name, w.variable.name) for term in plan().terms for w in term.words if w.dropped
    }
    assert dropped == {
        ("T11", "q2"), ("T12", "q2"), ("T13", "qd2"), ("T15", "q1"), ("T21", "q2"), ("T22", "q2"),
        ("T24", "qd1"),
    }  # fmt: skip
    assert not any(w.dropped for t in plan(code="natural").terms for w in t.words)


def test_guard_bits_follow_equation_2() -> None:
    assert [guard_bits_for(p) for p in (1, 2, 3, 5, 6, 7, 14, 15)] == [1, 1, 2, 2, 2, 3, 3, 4]


@pytest.mark.parametrize(
    ("name", "splits"), [("machado-2r", None), ("planar-3r", 7), ("elbow-3r", 0)]
)
def test_splitting_leaves_the_torque_as_it_was(name: str, splits: int | None) -> None:
    torques = terms_of(name)
    for joint, terms in zip(plan(name, splits=splits).outputs, torques.outputs, strict=True):
        assert _coefficients(t.term for t in joint.terms) == pytest.approx(_coefficients(terms))


def _coefficients(terms: object) -> dict[object, float]:
    total: dict[object, float] = {}
    for term in terms:  # type: ignore[attr-defined]  # any iterable of terms
        for wave in term.waves():
            for part in ("cosine", "sine"):
                key = (term.factor, wave.multiples, wave.powers, part)
                total[key] = total.get(key, 0.0) + getattr(wave, part)
    return {key: value for key, value in total.items() if value}


@pytest.mark.slow
@settings(max_examples=10)
@given(st.integers(0, 5000), st.integers(4, 12))
def test_every_plan_obeys_the_rules(seed: int, bits: int) -> None:
    torques = terms_of(random_robot(seed, joints=1 + seed % 2))
    for joint in make_plan(torques, PlanOptions(bits=bits)).outputs:
        assert joint.guard_bits == guard_bits_for(len(joint.terms)) or not joint.terms
        assert sum(amplitude(term).value for term in joint.left_out) <= joint.step / 2
        for term in joint.terms:
            assert term.amplitude <= term.code.range.high * (1 + 1e-9) or term.code.bits == 1
            assert term.code.step == pytest.approx(joint.step, rel=1e-12)
            assert all(word.code.bits == term.code.bits for word in term.words)
            if term.code.bits > 1:
                assert term.amplitude > term.code.range.high / 2 * (1 - 1e-9)


def test_a_term_too_wide_for_a_table_is_refused_by_name_size_and_remedy() -> None:
    with pytest.raises(bc.DataError) as caught:
        plan("planar-3r", bits=12).require_tables()
    message = str(caught.value)
    assert message.startswith("planar-3r: T")
    assert "boolcomp compile --mode compact" in message
    assert "input bits (q" in message
    others = sum(term.too_wide for term in plan("planar-3r", bits=12).terms) - 1
    assert f"tables have at most 24, and {others} others would be too large" in message
    found = re.search(r"In paper mode, lower --bits to (\d+)$", message)
    assert found is not None
    fits = int(found[1])
    plan("planar-3r", bits=fits).require_tables()
    assert any(term.too_wide for term in plan("planar-3r", bits=fits + 1).terms)
    first = next(term for term in plan("planar-3r", bits=12).terms if term.too_wide)
    assert f"{first.term.name} needs a table of {first.input_bits} input bits" in message


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"bits": 1}, "bits must be 2 to 16, not 1"),
        ({"bits": 17}, "bits must be 2 to 16, not 17"),
        ({"bits": True}, "bits must be a whole number, not True"),
        ({"bits": "8"}, "bits must be a whole number, not '8'"),
        ({"guard_bits": -1}, "guard bits must be 0 to 12, not -1"),
        ({"guard_bits": 13}, "guard bits must be 0 to 12, not 13"),
        ({"splits": 201}, "splits must be 0 to 200, not 201"),
        ({"splits": -1}, "splits must be 0 to 200, not -1"),
        ({"rounding": "near"}, r"unknown rounding 'near'; did you mean 'nearest'\?"),
        ({"rounding": "faithful", "code": "natural"}, "faithful rounding needs gray code"),
        ({"code": "binary"}, "unknown code 'binary'; codes are gray, natural"),
        ({"signs": "out"}, r"unknown signs 'out'; did you mean 'outside'\? signs are inside,"),
        ({"sums": "no"}, "unknown sums 'no'; sums are inside, outside"),
        ({"signs": "outside", "code": "sign-magnitude"}, "signs outside need gray code"),
    ],
)
def test_options_out_of_range_are_sentences(chosen: dict[str, object], message: str) -> None:
    with pytest.raises(bc.UsageError, match=message):
        PlanOptions(**chosen)  # type: ignore[arg-type]  # that is the mistake


TURNING = problem_of("planar-3r")
Q = TURNING.inputs[:3]
WIDE = Code(Interval(-200.0, 200.0), 8)


def term(text: str) -> Term:
    return parse_term(text, "T11", "torque 1", {variable.name: variable for variable in Q})


def output_of(times: list[int], guard: int) -> OutputPlan:
    """Return a torque of ± 8 in 4 bits whose distinct terms are there so many times."""
    step = 1.0 / 2**guard
    terms = []
    for place, count in enumerate(times):
        code = Code(Interval(-4 * step, 4 * step), 3)
        terms += [TermPlan(term(f"{place + 1} cos q1"), code, (TableWord(Q[0], code, 0),))] * count
    return OutputPlan(
        TURNING.outputs[0], Code(Interval(-8.0, 8.0), 4), 20.0, guard, tuple(terms), (), 0
    )


@pytest.mark.parametrize("guard", [0, 1, 3])
@pytest.mark.parametrize("times", [[], [1], [3], [8], [2, 2], [1, 2], [2, 4, 1], [4, 4]])
def test_a_torque_is_decoded_at_the_mean_of_the_sums_that_share_a_cell(
    times: list[int], guard: int
) -> None:
    sums = {
        sum((k + Fraction(1, 2)) * count for k, count in zip(cells, times, strict=True))
        for cells in product(range(8), repeat=len(times))
    }
    whole = 1 << guard
    places = {(total + whole * len(times)) % whole for total in sums}
    mean = sum(places) / Fraction(len(places)) if times else Fraction(0)
    if not times:  # nothing is added: the sum is the lower end of a cell, and no other
        places = {Fraction(0)}
    shift = (mean - Fraction(whole, 2)) / whole if times else Fraction(-1, 2)
    output = output_of(times, guard).word
    assert output.range == Interval(float(-8 + shift), float(8 + shift))
    assert (output.bits, output.kind) == (4, "gray")


@pytest.mark.parametrize(
    ("reach", "bits", "high"),
    [
        (200.0, 10, 200), (100 * (1 + 1e-10), 9, 100), (100 * (1 + 1e-8), 10, 200),
        (300.0, 11, 400), (0.3, 1, 0.390625), (0.0, 1, 0.390625), (0.79, 3, 1.5625),
        (0.78, 2, 0.78125),
    ],
)  # fmt: skip
def test_a_term_has_the_least_power_of_two_of_the_range_that_covers_it(
    reach: float, bits: int, high: float
) -> None:
    made = plan_reach(term("1 cos q1"), reach, WIDE, 2)
    assert (made.code.bits, made.code.range) == (bits, Interval(-high, high))
    assert [(word.code.bits, word.dropped) for word in made.words] == [(bits, 1)]


def test_a_term_is_cut_where_its_tables_are_smallest_and_one_angle_sum_into_halves() -> None:
    def size(part: Term) -> int:
        made = plan_reach(part, sum(abs(wave.cosine) for wave in part.waves()), WIDE, 2)
        return int(2**made.input_bits) * made.code.bits

    left, right = _halves(term("3 + 30 cos q1 + 20 cos q2 + 10 cos(q1 + q2)"), WIDE, 2)
    cuts = [
        ("3 + 30 cos q1", "20 cos q2 + 10 cos(q1 + q2)"),
        ("3 + 30 cos q1 + 20 cos q2", "10 cos(q1 + q2)"),
    ]
    assert (str(left), str(right)) in cuts
    assert size(left) + size(right) == min(size(term(a)) + size(term(b)) for a, b in cuts)
    halves = [str(half) for half in _halves(term("3 + 5 cos q1"), WIDE, 2)]
    assert halves == ["1.5 + 2.5 cos q1"] * 2


@pytest.mark.parametrize(
    ("heights", "kept"),
    [
        # A torque of ±128 in 8 bits: half a common step is 1/4 of a guard bit's, 1/8 of two's.
        ([100, 0.1, 0.02, 0.03], [100]),  # two go, then there is a guard bit less and room for more
        ([100, 50, 0.0625, 0.0625], [100, 50]),
        ([100, 50, 0.0625, 0.0626, 20], [100, 50, 0.0626, 20]),
        ([100, 0.25], [100]),
        ([100, 0.2501], [100, 0.2501]),
        ([0.1], []),
    ],
)
def test_the_smallest_terms_go_while_all_that_went_stay_within_half_a_common_step(
    heights: list[float], kept: list[float]
) -> None:
    terms = [term(f"{height!r} cos q{1 + k % 3}") for k, height in enumerate(heights)]
    code = Code(Interval(-128.0, 128.0), 8)
    left, out = _leave_out_small(terms, code, PlanOptions())
    assert [amplitude(one).value for one in left] == pytest.approx(kept)
    assert {*left, *out} == set(terms)


def test_more_waves_than_heights_are_found_of_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    terms = terms_of("machado-2r")
    waves = sum(len(term.waves()) for parts in terms.outputs for term in parts)
    monkeypatch.setattr("boolcomp.paper.plan.MOST_WAVES", waves)
    assert make_plan(terms)
    monkeypatch.setattr("boolcomp.paper.plan.MOST_WAVES", waves - 1)
    with pytest.raises(bc.DataError, match=rf"machado-2r: its terms have {waves} waves"):
        make_plan(terms)


def test_the_rules_of_the_paper_begin_at_four_bits_and_have_most_splits_and_guard_bits() -> None:
    assert plan(bits=4).options.bits == 4
    assert (PlanOptions(splits=200).splits, PlanOptions(guard_bits=12).guard_bits) == (200, 12)
    with pytest.raises(bc.UsageError, match="in paper mode bits must be 4 to 16, not 3"):
        plan(bits=3)
