"""The checker's bounds beside the compiler's, beside what climbing finds, and of damaged graphs.

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
from boolcomp.checker import (
    BoxedOutput,
    ClaimedWaves,
    NotCoveredError,
    PlainBound,
    Tight,
    groups_of,
)
from boolcomp.compact import sketched
from boolcomp.problem import parse_function
from boolcomp.proof import claim_of, plain_bounds
from boolcomp.words import Heap, Lookup, PartialProducts, Scale, WordGraph, node_word

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


def with_node(graph: WordGraph, place: int, node: Any) -> WordGraph:
    changed = (*graph.nodes[:place], node, *graph.nodes[place + 1 :])
    return WordGraph(changed, graph.scales, graph.results)


@pytest.mark.parametrize(("name", "bits"), [
    (ARM, 5), pytest.param("elbow-3r", 8, marks=pytest.mark.slow),
    pytest.param("puma560", 8, marks=pytest.mark.check),
    pytest.param("stops", 5, marks=pytest.mark.check),
    pytest.param("curved", 5, marks=pytest.mark.check),
])  # fmt: skip
def test_plain_bounds_are_close_to_the_compilers_and_no_less_than_what_is_found(
    name: str, bits: int, tmp_path: Path
) -> None:
    compact, ends = given(name, bits, tmp_path)
    said = sketched(compact, ends)
    plain, theirs = PlainBound(claim_of(said)), plain_bounds(said)
    assert set(plain.overflow) <= set(theirs.unproved)
    small = name in {"stops", "curved"}
    found = compact.errors.max if small else built_of(name, bits).worst.largest
    for k, (low, high) in enumerate(ends_of(plain)):
        most, ours = theirs.outputs[k].steps, float(max(high, -low))
        assert found[k] <= ours <= most * 1.02
        assert ours >= 0.55 * most  # lost bits by value: a wrist of the PUMA has 0.56


@pytest.mark.parametrize(("name", "bits"), [
    (ARM, 5), *(pytest.param(name, 8, marks=pytest.mark.check)
                for name in ("elbow-3r", "puma560", "stops", "curved")),
])  # fmt: skip
def test_values_words_and_errors_of_every_node_lie_in_the_checkers_spans(
    name: str, bits: int, tmp_path: Path
) -> None:
    compact, ends = given(name, bits, tmp_path)
    claim, count = claim_of(sketched(compact, ends)), 20_000 if bits > 5 else 4000
    plain, states = PlainBound(claim), drawn(compact, count, 11)
    for place, (function, seen) in enumerate(zip(claim.functions, plain.seen, strict=True)):
        if getattr(function, "angle", False) or hasattr(function, "items"):
            continue  # an angle has no value
        turn = float(1 << getattr(function, "turning", 0))
        value = states.values[place]
        inside(value, seen.exact, None, f"{place}: exact")
        stands = claim.places[place]
        if not stands.words:
            continue
        said = np.zeros(count)
        for k in stands.words:
            said += centred(claim, states, k)
            said += 0.0 if place in plain.outputs else claim.graph.scales[k].offset
        if stands.product:
            a, b = (centred(claim, states, k) for k in stands.product)
            said += a * b
        around = turn if turn > 1 else None
        inside(said, seen.value, around, f"{place}: said")
        inside(said - value, seen.error, around, f"{place}: error")


def centred(claim: Any, states: Any, k: int) -> np.ndarray:
    """Return what a word says, without its offset."""
    scale, bits = claim.graph.scales[k], claim.graph.nodes[k].bits
    return np.asarray((states.words[k] - ((1 << bits) - 1) / 2) * 2.0**scale.lsb)


def inside(x: np.ndarray, span: Any, turn: float | None, what: str) -> None:
    """Hold numbers against a span; those that wrap lie in it but for whole turns."""
    ends = [float(end) for end in span.ends]
    if turn is not None:
        middle = sum(ends) / 2
        x = (x - middle + turn / 2) % turn - turn / 2 + middle
    slack = 1e-9 * max(1.0, *map(abs, ends))
    assert x.min() >= ends[0] - slack, what
    assert x.max() <= ends[1] + slack, what


def mutants(graph: WordGraph) -> list[tuple[int, Any]]:
    """Return a node in place of every node: an entry, a constant, a column, a sign, fewer bits."""
    found: list[tuple[int, Any]] = []
    for place, node in enumerate(graph.nodes):
        if isinstance(node, Lookup):
            k = len(node.entries) // 3
            entries = (*node.entries[:k], (1 << node.bits >> 1) ^ node.entries[k])
            found.append((place, replace(node, entries=entries + node.entries[k + 1 :])))
            found.append((place, replace(node, entries=(0,) * len(node.entries))))
        elif isinstance(node, Heap):
            first, *rest = node.parts
            up = isinstance(first, PartialProducts) or not first.column
            moved = replace(first, column=first.column + (1 if up else -1))
            turned = replace(first, negative=not first.negative)
            changes: list[dict[str, Any]] = [
                {"constant": node.constant + 1}, {"constant": max(0, node.constant - 64)},
                {"parts": (moved, *rest)}, {"parts": (turned, *rest)}, {"bits": node.bits - 1},
            ]  # fmt: skip
            found += [(place, replace(node, **change)) for change in changes]
    return found


def test_a_damaged_graph_has_a_wider_bound_or_errs_no_more_than_is_claimed() -> None:
    compact, _ = given(ARM, 5)
    plain = plain_of(ARM, 5)
    claimed, seen, harmless = ends_of(plain), 0, 0
    for place, node in mutants(plain.claim.graph):
        try:
            graph = with_node(plain.claim.graph, place, node)
            mutant = PlainBound(replace(plain.claim, graph=graph))
            ends = ends_of(mutant)
        except (DataError, ValueError):
            seen += 1
            continue
        wider = any(a[0] < b[0] or a[1] > b[1] for a, b in zip(ends, claimed, strict=True))
        if wider or mutant.overflow:
            seen += 1
            continue
        harmless += 1
        errors = sampled(replace(compact, graph=graph), plain.claim, 20_000)
        for (low, high), (least, most) in zip(claimed, errors, strict=True):
            assert float(low) <= least <= most <= float(high)
    assert seen >= 20
    assert harmless <= 6  # widths with room, and what is made larger and smaller at once


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


@pytest.mark.slow
def test_a_map_that_names_another_word_has_a_larger_bound_or_is_refused() -> None:
    plain = plain_of(ARM, 5)
    claim, changed = plain.claim, 0
    before = [max(-low, high) for low, high in ends_of(plain)]
    for k, place in enumerate(claim.places):
        for word in set(range(len(claim.graph.nodes))) - set(place.words) if place.words else ():
            places = list(claim.places)
            places[k] = replace(place, words=(word, *place.words[1:]))
            changed += 1
            try:
                ends = ends_of(PlainBound(replace(claim, places=tuple(places))))
            except DataError:
                continue
            after = [max(-low, high) for low, high in ends]
            assert any(a > b for a, b in zip(after, before, strict=True)), (k, word)
    assert changed > 100


def test_another_coefficient_makes_the_bound_larger() -> None:
    plain = plain_of(ARM, 5)
    claim, changed = plain.claim, 0
    before = [max(-low, high) for low, high in ends_of(plain)]
    for k, function in enumerate(claim.functions):
        if isinstance(function, ClaimedWaves):
            functions = list(claim.functions)
            parts = tuple((n, a * 1.5, b * 1.5) for n, a, b in function.parts)
            functions[k] = replace(function, parts=parts)
            ends = ends_of(PlainBound(replace(claim, functions=tuple(functions))))
            after = [max(-low, high) for low, high in ends]
            assert any(a > b * Fraction(11, 10) for a, b in zip(after, before, strict=True))
            changed += 1
    assert changed


def value(scale: Scale, bits: int, word: int) -> Fraction:
    """Return what a word stands for."""
    return (
        Fraction(scale.offset) + Fraction(2 * word + 1 - (1 << bits), 2) * Fraction(2) ** scale.lsb
    )


def test_a_table_says_no_less_and_no_more_than_its_entries() -> None:
    plain, held = plain_of(ARM, 5), 0
    claim = plain.claim
    for place, seen in enumerate(plain.seen):
        stands = claim.places[place]
        if len(stands.words) == 1 and not stands.product:
            (k,) = stands.words
            node = claim.graph.nodes[k]
            if isinstance(node, Lookup) and seen.words is not None:
                said = {value(claim.graph.scales[k], node.bits, e) for e in node.entries}
                assert seen.value.ends == (min(said), max(said))
                held += 1
    assert held > 1


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


@pytest.mark.check
def test_several_functions_of_the_angles_have_a_bound_near_the_largest_error_found() -> None:
    built, plain = built_of("elbow-3r", 8), plain_of("elbow-3r", 8)
    tight = Tight(plain, 0, groups_of(plain.claim, plain.claim.outputs[0].node))
    assert tight.joints
    for found, worst in zip(tight.worst, np.abs(built.worst.errors[0]), strict=True):
        assert worst <= found.error <= worst * 1.01


def test_groups_are_those_of_inputs_that_are_multiplied() -> None:
    for column, groups in enumerate(GROUPS):
        claim = plain_of(ARM, 4).claim
        found = groups_of(claim, claim.outputs[column].node)
        assert set(map(frozenset, found)) == set(map(frozenset, groups))


@pytest.mark.slow
def test_tight_bounds_confirm_no_less_than_climbing_finds() -> None:
    built, plain, tiny = built_of(ARM, 7), plain_of(ARM, 7), Fraction(1, 10**6)
    for column, (most, least) in enumerate(built.worst.errors):
        tight = Tight(plain, column, GROUPS[column])
        far = Fraction(10)
        for ends in ((-far, Fraction(most) - tiny), (Fraction(least) + tiny, far)):
            with pytest.raises(DataError):
                tight.confirm(*ends)


@pytest.mark.parametrize(("column", "groups"), [
    (0, (("qd1",), ("qd2",), ("qdd1",), ("qdd2",))),  # the first two are multiplied
    (0, (("qd1", "qd2"), ("qdd1",))),  # an input of no group
    (0, ()),
])  # fmt: skip
def test_groups_that_do_not_split_an_output_are_refused(column: int, groups: Any) -> None:
    with pytest.raises(NotCoveredError):
        Tight(plain_of(ARM, 4), column, groups)


@pytest.mark.slow
def test_the_tight_bound_of_a_damaged_graph_is_not_confirmed() -> None:
    graph, refused, damaged = given(ARM, 4)[0].graph, 0, 0
    for place, node in enumerate(graph.nodes):
        if isinstance(node, Lookup):
            k = len(node.entries) // 2
            entries = (*node.entries[:k], (1 << node.bits) - 1 - node.entries[k])
            other: Any = replace(node, entries=entries + node.entries[k + 1 :])
        elif isinstance(node, Heap):
            other = replace(node, constant=node.constant + 2)
        else:
            continue
        damaged += 1
        plain = plain_of(ARM, 4, with_node(graph, place, other))
        try:
            for column in range(2):
                tight = Tight(plain, column, GROUPS[column])
                tight.confirm(*(Fraction(end * 1.0001) for end in PROVED[ARM, 4][column]))
        except DataError:
            refused += 1
    assert refused >= damaged - 1
