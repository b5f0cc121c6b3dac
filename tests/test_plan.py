"""The paper's plan: every number of its Fig. 1, and the rules beyond one robot."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import problem_of, random_robot, terms_of
from termtext import parse_term

from boolcomp.codes import Code
from boolcomp.common.errors import DataError, UsageError
from boolcomp.paper.plan import (
    Options,
    OutputPlan,
    Plan,
    TermPlan,
    _halves,
    _leave_out_small,
    guard_bits_for,
    make_plan,
    plan_reach,
)
from boolcomp.paper.words import Word
from boolcomp.problem.interval import Interval
from boolcomp.terms import Term, amplitude


def plan(name: str = "machado-2r", **chosen: object) -> Plan:
    return make_plan(terms_of(name), Options(**chosen))  # type: ignore[arg-type]  # keyword arguments of the dataclass


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
    first, second = plan().outputs
    assert (first.code.range.high, first.guard_bits, first.input_bits) == (200, 2, 48)
    assert (second.code.range.high, second.guard_bits, second.input_bits) == (100, 2, 40)
    # Printed 152.5 and 69.1; the true extremes are a little smaller.
    assert first.amplitude == pytest.approx(152.42, abs=5e-3)
    assert second.amplitude == pytest.approx(69.07, abs=5e-3)
    # Printed 2.14e14 / 0.67e14 and (with the misprint in the exponent mended) 0.76e12 / 0.34e12.
    assert first.used_states == pytest.approx(2.145e14, rel=1e-3)
    assert first.unused_states == pytest.approx(0.67e14, rel=1e-2)
    assert second.used_states == pytest.approx(0.76e12, rel=1e-2)
    assert second.unused_states == pytest.approx(0.34e12, rel=1e-2)


def test_the_dropped_bits_are_those_of_even_words() -> None:
    dropped = {
        term.term.name: [w.variable.name for w in term.words if w.dropped] for term in plan().terms
    }
    assert {name: words for name, words in dropped.items() if words} == {
        "T11": ["q2"],
        "T12": ["q2"],
        "T13": ["qd2"],
        "T15": ["q1"],
        "T21": ["q2"],
        "T22": ["q2"],
        "T24": ["qd1"],
    }


def test_equation_2() -> None:
    assert [guard_bits_for(p) for p in (1, 2, 3, 5, 6, 7, 14, 15)] == [1, 1, 2, 2, 2, 3, 3, 4]


def test_natural_code_drops_no_bit() -> None:
    assert not any(w.dropped for t in plan(code="natural").terms for w in t.words)


@pytest.mark.parametrize("bits", range(4, 11))  # beyond, another table is the largest to split
def test_each_bit_of_the_word_is_a_bit_of_every_term(bits: int) -> None:
    widths = [term.code.bits for term in plan(bits=bits).terms]
    assert widths == [term.code.bits + bits - 8 for term in plan(bits=8).terms]


def test_guard_bits_and_splits_can_be_chosen() -> None:
    wide = plan(guard_bits=4)
    assert [joint.guard_bits for joint in wide.outputs] == [4, 4]
    assert [term.code.bits for term in wide.terms][:2] == [10, 8]
    unsplit = plan(splits=0)
    assert [len(joint.terms) for joint in unsplit.outputs] == [5, 4]
    assert [term.input_bits for term in unsplit.outputs[0].terms][-1] == 20
    assert [len(joint.terms) for joint in plan(splits=5).outputs] == [10, 9]


@pytest.mark.parametrize("name", ["machado-2r", "planar-3r", "elbow-3r"])
@pytest.mark.parametrize("splits", [None, 0, 7])
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
    for joint in make_plan(torques, Options(bits=bits)).outputs:
        assert joint.guard_bits == guard_bits_for(len(joint.terms)) or not joint.terms
        assert sum(amplitude(term).value for term in joint.left_out) <= joint.step / 2
        for term in joint.terms:
            assert term.amplitude <= term.code.range.high * (1 + 1e-9) or term.code.bits == 1
            assert term.code.step == pytest.approx(joint.step, rel=1e-12)
            assert all(word.code.bits == term.code.bits for word in term.words)
            if term.code.bits > 1:
                assert term.amplitude > term.code.range.high / 2 * (1 - 1e-9)


def test_a_term_too_wide_for_a_table_is_refused_by_name_size_and_remedy() -> None:
    with pytest.raises(DataError) as caught:
        plan("planar-3r", bits=12).require_tables()
    message = str(caught.value)
    assert message.startswith("planar-3r: T")
    assert "boolcomp compile --mode compact" in message
    assert "input bits (q" in message
    assert "at most 24" in message
    found = re.search(r"In paper mode, lower --bits to (\d+)$", message)
    assert found is not None
    fits = int(found[1])
    plan("planar-3r", bits=fits).require_tables()
    assert any(term.too_wide for term in plan("planar-3r", bits=fits + 1).terms)
    first = next(term for term in plan("planar-3r", bits=12).terms if term.too_wide)
    assert f"{first.term.name} needs a table of {first.input_bits} input bits" in message


def test_the_papers_arm_needs_no_such_refusal_at_8_bits() -> None:
    plan().require_tables()
    assert not any(term.too_wide for term in plan().terms)


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"bits": 1}, "bits must be 2 to 16, not 1"),
        ({"bits": 17}, "bits must be 2 to 16, not 17"),
        ({"bits": "8"}, "bits must be a whole number, not '8'"),
        ({"guard_bits": -1}, "guard bits must be 0 to 12, not -1"),
        ({"splits": -1}, "splits must be 0 to 200, not -1"),
        ({"rounding": "near"}, r"rounding 'near' \(did you mean 'nearest'\?\)"),
        ({"rounding": "faithful", "code": "natural"}, "faithful rounding needs gray code"),
        ({"code": "binary"}, "code 'binary': codes are gray, natural"),
    ],
)
def test_options_out_of_range_are_sentences(chosen: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Options(**chosen)  # type: ignore[arg-type]  # that is the mistake


def test_a_plan_reads_line_by_line() -> None:
    lines = str(plan()).splitlines()
    assert lines[:3] == [
        "machado-2r: 8 bits, gray code",
        "T1 gray 8 bits, -200 .. 200, 2 guard bits",
        "  T11 = (15.75 + 10 cos q2) qdd1 -> 8 bits over ±50 from 15 bits (q2:7, qdd1:8)",
    ]


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
        terms += [TermPlan(term(f"{place + 1} cos q1"), code, (Word(Q[0], code, 0),))] * count
    return OutputPlan(
        TURNING.outputs[0], Code(Interval(-8.0, 8.0), 4), 20.0, guard, tuple(terms), (), 0
    )


@pytest.mark.parametrize("guard", range(4))
@pytest.mark.parametrize(
    "times", [[], [1], [2], [3], [4], [8], [1, 1], [2, 2], [1, 2], [4, 2], [2, 4, 1], [4, 4]]
)
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


def test_what_a_torque_cannot_reach_is_unused_and_what_it_exceeds_is_not() -> None:
    beyond = output_of([1], 0)
    assert (beyond.used_states, beyond.unused_states) == (16, 0)
    within = replace(beyond, amplitude=4.0)
    assert (within.used_states, within.unused_states) == (8, 8)
    assert beyond.variables == (Q[0],)


@pytest.mark.parametrize(
    ("reach", "bits", "high"),
    [
        (200.0, 10, 200), (100.1, 10, 200), (100.0, 9, 100), (100 * (1 + 1e-10), 9, 100),
        (100 * (1 + 1e-8), 10, 200), (99.0, 9, 100), (300.0, 11, 400), (0.3, 1, 0.390625),
        (1e-9, 1, 0.390625), (0.0, 1, 0.390625), (0.8, 3, 1.5625), (0.79, 3, 1.5625),
        (0.78, 2, 0.78125),
    ],
)  # fmt: skip
def test_a_term_has_the_least_power_of_two_of_the_range_that_covers_it(
    reach: float, bits: int, high: float
) -> None:
    made = plan_reach(term("1 cos q1"), reach, WIDE, 2)
    assert (made.code.bits, made.code.range) == (bits, Interval(-high, high))
    assert [(word.code.bits, word.dropped) for word in made.words] == [(bits, 1)]


def test_a_term_of_several_angle_sums_is_cut_where_its_tables_are_smallest() -> None:
    whole = term("3 + 30 cos q1 + 20 cos q2 + 10 cos(q1 + q2)")
    left, right = _halves(whole, WIDE, 2)
    assert (str(left), str(right)) == ("3 + 30 cos q1", "20 cos q2 + 10 cos(q1 + q2)") or (
        str(left), str(right)
    ) == ("3 + 30 cos q1 + 20 cos q2", "10 cos(q1 + q2)")  # fmt: skip

    def size(part: Term) -> int:
        made = plan_reach(part, sum(abs(wave.cosine) for wave in part.waves()), WIDE, 2)
        return int(2**made.input_bits) * made.code.bits

    cuts = [
        ("3 + 30 cos q1", "20 cos q2 + 10 cos(q1 + q2)"),
        ("3 + 30 cos q1 + 20 cos q2", "10 cos(q1 + q2)"),
    ]
    least = min(size(term(a)) + size(term(b)) for a, b in cuts)
    assert size(left) + size(right) == least


def test_a_term_of_one_angle_sum_is_cut_into_equal_halves() -> None:
    assert [str(half) for half in _halves(term("3 + 5 cos q1"), WIDE, 2)] == [
        "1.5 + 2.5 cos q1"
    ] * 2


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
    left, out = _leave_out_small(terms, code, Options())
    assert [amplitude(one).value for one in left] == pytest.approx(kept)
    assert {*left, *out} == set(terms)


def test_the_ends_of_what_options_may_be_are_allowed() -> None:
    for bits in (4, 16):
        assert Options(bits, guard_bits=0, splits=0).bits == bits
    assert Options(guard_bits=12, splits=200).splits == 200
    for bad in ({"guard_bits": 13}, {"splits": 201}, {"bits": True}):
        with pytest.raises(UsageError):
            Options(**bad)


@pytest.mark.parametrize(("count", "more"), [(1, ""), (2, ", and 1 other would be too large")])
def test_other_terms_too_wide_are_counted(count: int, more: str) -> None:
    wide = Code(Interval(-1.0, 1.0), 13)
    words = tuple(Word(variable, wide, 0) for variable in Q[:2])
    terms = (TermPlan(term("1 cos(q1 + q2)"), wide, words),) * count
    assert terms[0].too_wide
    joint = OutputPlan(TURNING.outputs[0], WIDE, 1.0, 2, terms, (), 0)
    with pytest.raises(DataError) as caught:
        Plan(TURNING, Options(), (joint,)).require_tables()
    assert f"(q1 13, q2 13); tables have at most 24{more}. Compact" in str(caught.value)
    narrow = replace(terms[0], words=(replace(words[0], dropped=1), replace(words[1], dropped=1)))
    Plan(TURNING, Options(), (replace(joint, terms=(narrow,)),)).require_tables()


def test_more_waves_than_heights_are_found_of_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    terms = terms_of("machado-2r")
    waves = sum(len(term.waves()) for parts in terms.outputs for term in parts)
    monkeypatch.setattr("boolcomp.paper.plan.MOST_WAVES", waves)
    assert make_plan(terms)
    monkeypatch.setattr("boolcomp.paper.plan.MOST_WAVES", waves - 1)
    with pytest.raises(DataError, match=rf"machado-2r: its terms have {waves} waves"):
        make_plan(terms)
