"""The checker's bounds beside the compiler's and what climbing finds; groups that do not split.

Plain bounds take every word alone, boxes split inputs, tight bounds look at all words of groups.
"""

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from limited import random_limited
from proof.sketchedstates import drawn
from shippedarms import built_of, made, made_by_name

from boolcomp.base import DataError
from boolcomp.checker import BoxedOutput, NotCoveredError, PlainBound, Tight, groups_of
from boolcomp.compact import sketched
from boolcomp.problem import parse_function
from boolcomp.proof import claim_of, plain_bounds
from boolcomp.words import WordGraph, node_word

ARM = "machado-2r"
GROUPS = (("qd1", "qd2"), ("qdd1",), ("qdd2",)), (("qd1",), ("qdd1",), ("qdd2",))


def given(name: str, bits: int, folder: Path | None = None) -> tuple[Any, Any]:
    """Return a compact graph and the ends of its outputs."""
    if folder is not None and name in {"stops", "curved"}:
        return made_by_name(name, folder)
    built = built_of(name, bits)
    return built.compact, built.ends


def plain_of(name: str, bits: int, graph: WordGraph | None = None) -> PlainBound:
    claim = claim_of(sketched(*given(name, bits)))
    return PlainBound(replace(claim, graph=graph or claim.graph))


def ends_of(plain: PlainBound) -> list[tuple[Fraction, Fraction]]:
    return [plain.error(one, k).ends for k, one in enumerate(plain.claim.outputs)]


def sampled(compact: Any, claim: Any, count: int) -> list[tuple[float, float]]:
    """Return between which numbers outputs' errors lie at random states, without rounding."""
    states, found = drawn(compact, count, 3), []
    for one, result in zip(claim.outputs, compact.graph.results, strict=True):
        words, _ = node_word(compact.graph, result.node, states.words)
        bits = compact.graph.nodes[result.node].bits
        said = (words >> result.drop) + 0.5 - 2.0 ** (bits - result.drop - 1) + float(one.shift)
        error = said - states.values[one.node]
        found.append((float(error.min()), float(error.max())))
    return found


def drawn_problem(seed: int, folder: Path) -> tuple[Any, Any]:
    """Return a graph of an arm with stops, or of an expression, made with no effort."""
    if seed % 4 == 0:
        return made(random_limited(1 + seed // 4 % 2, seed), folder, 4, (4.0,))
    rng = np.random.default_rng(seed)
    factors = ["x", "y", "z", "sin(q)", "cos(2 * q)", "cos(q + p)", "sqrt(2 + x)", "exp(0.3 * y)"]
    addends = [
        " * ".join([f"{rng.uniform(0.5, 3):.2f}", *rng.choice(factors, int(rng.integers(1, 4)))])
        for _ in range(int(rng.integers(1, 5)))
    ]
    text = " - ".join(addends)
    lines = ['name = "drawn"']
    for name in (name for name in "xyzqp" if re.search(rf"\b{name}\b", text)):
        low, high = float(rng.uniform(-1.5, 0)), float(rng.uniform(0.1, 1.5))
        lines += [f"[inputs.{name}]", f"range = [{low:.2f}, {high:.2f}]"]
        lines += ["angle = true"] * (name in "qp")
    lines += ["[outputs.f]", f'expression = "{text}"']
    return made(parse_function("\n".join(lines) + "\n"), folder, 4, (4.0,))


@pytest.mark.parametrize("seeds", [
    pytest.param(range(20), marks=pytest.mark.slow),
    pytest.param(range(20, 200), marks=pytest.mark.check),
], ids=["20", "200"])  # fmt: skip
def test_plain_bounds_of_compiler_and_checker_hold_for_random_problems(
    seeds: range, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("boolcomp.compact.widths.QUICK_SEEN", 1000)
    ratios, tiny = [], Fraction(1, 10**9)
    for seed in seeds:
        compact, ends = drawn_problem(seed, tmp_path)
        said = sketched(compact, ends)
        theirs, plain = plain_bounds(said), PlainBound(claim_of(said))
        found = sampled(compact, plain.claim, 2000)
        for one, (low, high), (least, most) in zip(
            theirs.outputs, ends_of(plain), found, strict=True
        ):
            assert max(low, one.low) <= min(high, one.high), seed
            if not theirs.unproved or not plain.overflow:  # either shows that no heap overflows
                for first, last in ((low, high), (one.low, one.high)):
                    assert first - tiny <= least <= most <= last + tiny, seed
            ratios.append((high - low) / (one.high - one.low))
    assert len(ratios) >= len(seeds)
    assert max(ratios) < 1.1  # the checker's is seldom the wider


@pytest.mark.slow
def test_boxes_confirm_less_than_plain_bounds_and_never_less_than_what_is_found() -> None:
    built, plain = built_of(ARM, 8), plain_of(ARM, 8)
    for column, output in enumerate(plain.claim.outputs):
        worst = Fraction(built.worst.largest[column])
        enough, small = worst * Fraction(11, 10), worst * Fraction(999, 1000)
        assert enough < max(map(abs, plain.error(output, column).ends))
        boxes = BoxedOutput(plain, column)
        boxes.confirm(-enough, enough, 100_000)
        with pytest.raises(NotCoveredError, match="boxes did not confirm it: where w0 = "):
            boxes.confirm(-small, small, 50_000)


# tight bounds ------------------------------------------------------------------------------------
PROVED = {  # least and largest errors, as another calculation of cells and groups had them
    (ARM, 4): [(-2.2884, 2.2884), (-2.5212, 2.4990)],
    (ARM, 8): [(-3.6337, 3.6337), (-3.6007, 3.6692)],
    ("elbow-3r", 8): [(-6.1201, 6.1201), (-4.4386, 4.4033), (-3.9481, 3.9481)],
}


@pytest.mark.parametrize(("name", "bits", "column"), [
    (ARM, 4, 0), (ARM, 4, 1), pytest.param(ARM, 8, 0, marks=pytest.mark.slow),
    pytest.param(ARM, 8, 1, marks=pytest.mark.slow),
    *(pytest.param("elbow-3r", 8, column, marks=pytest.mark.check) for column in range(3)),
])  # fmt: skip
def test_tight_bounds_are_confirmed_and_not_a_tenth_of_a_percent_less(
    name: str, bits: int, column: int
) -> None:
    plain = plain_of(name, bits)
    groups = groups_of(plain.claim, plain.claim.outputs[column].node)
    tight = Tight(plain, column, groups)
    low, high = (Fraction(end) for end in PROVED[name, bits][column])
    more, less = Fraction(10001, 10000), Fraction(999, 1000)
    assert tight.confirm(low * more, high * more) >= 1 << (2 * bits)
    for ends in ((low * less, high * more), (low * more, high * less)):
        with pytest.raises(DataError, match=r"is claimed, but -?\d\.\d+ confirmed where w"):
            tight.confirm(*ends)


def test_groups_are_those_of_inputs_that_are_multiplied() -> None:
    for column, groups in enumerate(GROUPS):
        claim = plain_of(ARM, 4).claim
        found = groups_of(claim, claim.outputs[column].node)
        assert set(map(frozenset, found)) == set(map(frozenset, groups))


@pytest.mark.parametrize(("column", "groups"), [
    (0, (("qd1",), ("qd2",), ("qdd1",), ("qdd2",))),  # the first two are multiplied
    (0, (("qd1", "qd2"), ("qdd1",))),  # an input of no group
    (0, ()),
])  # fmt: skip
def test_groups_that_do_not_split_an_output_are_refused(column: int, groups: Any) -> None:
    with pytest.raises(NotCoveredError):
        Tight(plain_of(ARM, 4), column, groups)
