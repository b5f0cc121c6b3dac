"""The checker's arithmetic: sums of waves and curves, spans of many at once, tables of sums."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from checker.certified import section
from flint import arb
from synthesis.networks import random_network

from boolcomp.base.errors import DataError
from boolcomp.checker import problem
from boolcomp.checker.boxes import ByWord, Many, fixed
from boolcomp.checker.boxes import many_of as near_number
from boolcomp.checker.folder import NotCoveredError
from boolcomp.checker.problem import Functions
from boolcomp.checker.robot import Space, Sum, Variable, number, precise, read_robot
from boolcomp.checker.spans import ONE, Span
from boolcomp.checker.tabled import KINDS, cells_of, largest, table_of, words_of
from boolcomp.codes import Code
from boolcomp.problem.functions import robot_problem
from boolcomp.problem.robot.library import load_robot
from boolcomp.problem.words import Interval
from boolcomp.proof.certificates.writer import origin_text

if TYPE_CHECKING:
    from collections.abc import Mapping


def value(space: Any, of: Any, at: Mapping[str, float]) -> float:
    """Return a sum at a state."""
    found = 0j
    for key, c in of.parts.items():
        factors = (
            complex(np.exp(1j * k * at[one.name])) if one.angle else at[one.name] ** k
            for one, k in space.exponents(key)
        )
        found += complex(c) * math.prod(factors)
    assert abs(found.imag) < 1e-9 * (1 + abs(found.real))
    return float(found.real)


VARIABLES = [
    Variable("q", angle=True, low=-4.0, high=4.0),
    Variable("x", angle=False, low=-1.0, high=3.0),
    Variable("z", angle=False, low=-5.0, high=2.0),
    Variable("c", angle=False, low=2.5, high=2.5),
    Variable("f", angle=True, low=0.5, high=0.5),
]
SPACE = Space(VARIABLES)
AT = {"q": 0.7, "x": -0.3, "z": 1.9, "c": 2.5, "f": 0.5}


def made() -> Sum:
    """Return x³ sin q - 2 z² cos² q + x z sin f + c² - 1."""
    sine, cosine = SPACE.sine("q"), SPACE.cosine("q")
    x, z, c = SPACE.value("x"), SPACE.value("z"), SPACE.value("c")
    return (x * x * x * sine - (z * z * cosine * cosine).times(2)
            + x * z * SPACE.sine("f") + c * c - number(1))  # fmt: skip


def test_a_sum_is_the_function_that_it_was_made_of() -> None:
    q, x, z, c, f = AT.values()
    wanted = x**3 * math.sin(q) - 2 * (z * math.cos(q)) ** 2 + x * z * math.sin(f) + c * c - 1
    with precise():
        assert value(SPACE, made(), AT) == pytest.approx(wanted, abs=1e-14)
        assert value(SPACE, SPACE.held(made()), AT) == pytest.approx(wanted, abs=1e-14)
        left = {one.name for key in SPACE.held(made()).parts for one, _ in SPACE.exponents(key)}
    assert left == {"q", "x", "z"}


def test_a_slope_is_that_of_the_function() -> None:
    q, x, z, c, f = AT.values()
    with precise():
        found = {name: value(SPACE, SPACE.derivative(made(), name), AT) for name in AT}
    assert found == {
        "q": pytest.approx(x**3 * math.cos(q) + 2 * z * z * math.sin(2 * q)),
        "x": pytest.approx(3 * x * x * math.sin(q) + z * math.sin(f)),
        "z": pytest.approx(-4 * z * math.cos(q) ** 2 + x * math.sin(f)),
        "c": pytest.approx(2 * c),
        "f": pytest.approx(x * z * math.cos(f)),
    }


def test_what_cancels_is_gone() -> None:
    with precise():
        assert not (made() - made()).parts
        unit = SPACE.sine("q") * SPACE.sine("q") + SPACE.cosine("q") * SPACE.cosine("q")
        assert list(unit.parts) == [0]
        assert unit.parts[0] == 1


def test_the_most_of_a_sum_counts_the_farther_end_of_every_input() -> None:
    with precise():
        x, z = SPACE.value("x"), SPACE.value("z")
        found = SPACE.most(x * x * z + SPACE.sine("q").times(0.25) - number(arb(1) / 8))
    assert float(found.mid()) == pytest.approx(9 * 5 + 0.25 + 0.125)


def test_products_that_are_too_large_are_refused() -> None:
    with precise():
        power = SPACE.value("x")
        for _ in range(14):
            power = power * power
        with pytest.raises(DataError, match="factors: too many"):
            power * power


def test_an_axis_of_a_robot_file_need_not_have_length_one() -> None:
    text = str(load_robot("panda"))
    assert "axis = [0, 0, 1]" in text
    space = Space([Variable(f"q{k}", angle=True, low=-1.0, high=1.0) for k in range(1, 8)])
    with precise():
        one, other = (
            read_robot(text.replace("axis = [0, 0, 1]", f"axis = {axis}", 1), space).joints[0]
            for axis in ("[0, 0, 1]", "[0, 0, 4]")
        )
        for row, same in zip(one.motion, other.motion, strict=True):
            assert all(not (a - b).parts for a, b in zip(row, same, strict=True))


# curves ------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("kind", "slope"), [
    ("sin", 1.0), ("tanh", 1.0), ("exp", 20.0856), ("inverse", 1.0), ("log", 1.0), ("sqrt", 0.5),
])  # fmt: skip
def test_what_an_argument_is_off_goes_through_the_largest_slope(kind: str, slope: float) -> None:
    with precise():
        space = Functions([Variable("x", angle=False, low=1.0, high=3.0)])
        x, away = space.value("x"), arb(2) ** -30
        one = space.apply("div", [number(1), x]) if kind == "inverse" else space.apply(kind, [x])
        moved = x + number(away)
        other = (
            space.apply("div", [number(1), moved])
            if kind == "inverse"
            else space.apply(kind, [moved])
        )
        off = float(space.most(one - other).mid() / away)
    assert off == pytest.approx(slope, rel=1e-4)


def test_an_angle_that_is_nearly_a_whole_multiple_is_that_and_what_it_is_off() -> None:
    with precise():
        space = Functions([Variable("a", angle=True, low=-2.0, high=1.0)])
        away = arb(2) ** -25
        near = space.apply("sin", [space.angle("a").times(2 + away)])
        off = space.most(near - space.apply("sin", [space.angle("a").times(2)]))
    assert float((off / away).mid()) == pytest.approx(2.0, rel=1e-4)


def test_where_a_sum_lies_is_found_product_by_product() -> None:
    with precise():
        space = Functions([Variable("x", angle=False, low=-2.0, high=1.0),
                           Variable("z", angle=False, low=1.0, high=3.0)])  # fmt: skip
        x, z = space.value("x"), space.value("z")
        for made, ends in ((x * x, (0, 4)), (x * z, (-6, 3)), (z * z, (1, 9)), (x * x * x, (-8, 1)),
                           (-(x * x) * z + number(1), (-11, 1))):  # fmt: skip
            assert tuple(float(end.mid()) for end in space.reached(made)) == ends


def test_a_function_without_a_value_is_not_covered() -> None:
    with precise():
        space = Functions([Variable("x", angle=False, low=-1.0, high=1.0)])
        for kind in ("log", "sqrt"):
            with pytest.raises(NotCoveredError, match="may be anything"):
                space.apply(kind, [space.value("x")])
        with pytest.raises(NotCoveredError, match="inverse"):
            space.apply("div", [number(1), space.value("x")])


# spans of many at once ---------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(3))
def test_products_and_multiples_of_spans_hold_those_of_all_that_they_hold(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = (np.sort(rng.integers(-(1 << 29), 1 << 29, (2, 50)), axis=0) for _ in range(2))
    x, y = Many(a[0], a[1], 20), Many(b[0], b[1], 25)
    found, factor = (x * y).to(17), Fraction(float(rng.uniform(-3, 3)))
    times = x.times(factor, 15)

    def held(by: Many, scale: int, exact: list[Fraction]) -> bool:
        ends = zip(by.low.tolist(), by.high.tolist(), exact, strict=True)
        return all(low <= k * (1 << scale) <= high for low, high, k in ends)

    for one in a.tolist():
        assert held(times, 15, [Fraction(k, 1 << 20) * factor for k in one])
        for two in b.tolist():
            products = [Fraction(k * n, 1 << 45) for k, n in zip(one, two, strict=True)]
            assert held(found, 17, products)
    near = near_number(factor)
    assert int(near.low) <= factor * Fraction(2) ** near.scale <= int(near.high)


def test_a_range_of_words_that_wraps_holds_the_spans_of_all_of_them() -> None:
    rng = np.random.default_rng(5)
    values = np.array([int(k) << 60 for k in rng.integers(-99, 99, 32)], object)
    found = ByWord(np.arange(32), Span(values, values + ONE), 32, 10)
    exact = fixed(Span(values, values + ONE), 10)
    for first in range(-40, 40, 7):
        for long in range(1, 33):
            words = np.arange(first, first + long) % 32
            one = found.over(np.array([first]), np.array([first + long - 1]))
            assert (one.low[0], one.high[0]) == (exact.low[words].min(), exact.high[words].max())


# sums of tables ----------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", KINDS)
def test_words_are_those_of_codes(kind: str) -> None:
    code, cells = Code(Interval(-1, 1), 5, kind), np.arange(32)  # type: ignore[arg-type]  # any of them
    assert (words_of(cells, 5, kind) == code.word(cells)).all()
    assert (cells_of(words_of(cells, 5, kind), 5, kind) == cells).all()


@pytest.mark.parametrize("seed", range(3))
def test_tables_are_what_networks_give_word_by_word(seed: int) -> None:
    network = random_network(seed, 5, 12, 3)
    for row, word in enumerate(table_of(network)):
        values = [0, 1, *(row >> (4 - k) & 1 for k in range(5))]
        for lut, operands in network.nodes:
            a, b, c = [*(values[k] for k in operands), 0, 0][:3]
            values.append(lut >> (4 * a + 2 * b + c) & 1)
        assert word == int("".join(str(values[k]) for k in network.outputs), 2)


@pytest.mark.parametrize("most", [1 << 20, 1])
def test_the_largest_sum_of_tables_is_that_of_all_states_or_more(most: int) -> None:
    rng = np.random.default_rng(3)
    sizes = {"a": 3, "b": 4, "c": 5}
    scopes = [("a", "b"), ("b", "c"), ("a", "c"), ("b",), ()]
    tables = [(one, rng.integers(-99, 99, [sizes[n] for n in one])) for one in scopes]
    best = max(
        sum(int(t[tuple(at[n] for n in one)]) for one, t in tables)
        for state in itertools.product(*(range(n) for n in sizes.values()))
        for at in [dict(zip(sizes, state, strict=True))]
    )
    found = largest(tables, most)
    assert found == best if most > 1 else found > best


# dynamics ----------------------------------------------------------------------------------------
FRICTION = "inverse-dynamics-with-friction"


def test_friction_is_at_the_motor_and_its_sign_is_smoothed() -> None:
    arm = load_robot("machado-2r")
    text = origin_text(robot_problem(arm), {"q": 8, "qd": 8, "qdd": 8})
    text = text.replace("gear_ratio = 1", "gear_ratio = -3").replace("inverse-dynamics", FRICTION)
    text = text.replace("viscous_friction = 0", "viscous_friction = 0.25")
    space, found = problem.function_of(section(text))
    state = dict.fromkeys(space.variables, 0.0)
    still, moving = (value(space, found["tau2"], {**state, "qd2": speed}) for speed in (0.0, 1.0))
    assert moving - still == pytest.approx(0.25 * 9)
    rough = text.replace("coulomb_friction = [0, 0]", "coulomb_friction = [2, 1]")
    rough = rough.replace(FRICTION, f"{FRICTION}:smoothing=0.5,0.25")
    space, found = problem.function_of(section(rough))
    name = next(name for name in space.variables if name.startswith("tanh"))
    ends = space.variables[name][1].low, space.variables[name][1].high
    assert ends == pytest.approx((np.tanh(-1 / 0.5), np.tanh(1 / 0.5)), abs=1e-9)
    dry = [value(space, found["tau1"], {**state, name: sign}) for sign in (0.0, 1.0, -1.0)]
    assert [x - dry[0] for x in dry[1:]] == pytest.approx([2 * 3, -1 * 3])
