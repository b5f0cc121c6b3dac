"""The checker's plain bound beside the compiler's, beside what climbing finds, and of damage."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from proof.explainedstates import drawn
from shippedarms import built_of, made_by_name

from boolcomp.checker.claims.nodes import Waves
from boolcomp.checker.errors.plain import Plain
from boolcomp.checker.spans import ONE
from boolcomp.checker.steps import DoesNotHoldError
from boolcomp.compact.assembly import Ends
from boolcomp.compact.result.explained import explained
from boolcomp.proof.bound.checked import claim_of
from boolcomp.proof.bound.plain import plain_bounds
from boolcomp.words.graph import Heap, Lookup, PartialProducts, WordGraph
from boolcomp.words.simulate import node_word

if TYPE_CHECKING:
    from pathlib import Path

    from boolcomp.checker.claims.stands import Claim
    from boolcomp.compact.result.compact import Compact
    from boolcomp.words.graph import Node


def both(given: tuple[Compact, Ends]) -> list[tuple[float, float]]:
    """Return the compiler's plain bound of every output, and the checker's."""
    said = explained(*given)
    claim = claim_of(said)
    plain, theirs = Plain(claim), plain_bounds(said)
    assert set(plain.overflow) <= set(theirs.unproved)
    found = []
    for k, (output, bound) in enumerate(zip(claim.outputs, theirs.outputs, strict=True)):
        low, high = plain.error(output, k).ends
        found.append((bound.steps, float(max(high, -low))))
    return found


@pytest.mark.parametrize(("name", "bits"), [
    ("machado-2r", 5), pytest.param("machado-2r", 8, marks=pytest.mark.slow),
    pytest.param("elbow-3r", 8, marks=pytest.mark.slow),
    pytest.param("puma560", 8, marks=pytest.mark.check),
])  # fmt: skip
def test_the_checker_confirms_what_the_compiler_says_and_not_less_than_climbing_finds(
    name: str, bits: int
) -> None:
    built = built_of(name, bits)
    found = both((built.compact, built.ends))
    for (theirs, ours), worst in zip(found, built.worst.most, strict=True):
        assert worst <= ours <= theirs * 1.02
        assert ours >= 0.55 * theirs  # lost bits by value: a wrist of the PUMA has 0.56


@pytest.mark.check
@pytest.mark.parametrize("name", ["stops", "curved"])
def test_so_it_does_with_stops_and_of_functions_that_are_no_waves(
    name: str, tmp_path: Path
) -> None:
    compact, ends = made_by_name(name, tmp_path)
    for (theirs, ours), sampled in zip(both((compact, ends)), compact.errors.max, strict=True):
        assert sampled <= ours <= theirs * 1.02
        assert ours >= 0.55 * theirs


def holds_at_every_node(compact: Compact, claim: Claim, count: int) -> None:
    """Hold what is known of every function that is no angle against random states."""
    plain, states = Plain(claim), drawn(compact, count, 11)
    for place, (function, seen) in enumerate(zip(claim.functions, plain.seen, strict=True)):
        if getattr(function, "angle", False) or hasattr(function, "items"):
            continue
        turn = float(1 << getattr(function, "turning", 0))
        value = states.values[place]
        inside(value, seen.exact.low, seen.exact.high, None, f"{place}: exact")
        stands = claim.places[place]
        if not stands.words:
            continue
        said = np.zeros(count)
        for k in stands.words:
            scale, bits = claim.graph.scales[k], claim.graph.nodes[k].bits
            offset = 0.0 if place in plain.outputs else scale.offset
            said += offset + (states.words[k] - ((1 << bits) - 1) / 2) * 2.0**scale.lsb
        if stands.product:
            a, b = (
                (states.words[k] - ((1 << claim.graph.nodes[k].bits) - 1) / 2)
                * 2.0 ** claim.graph.scales[k].lsb
                for k in stands.product
            )
            said += a * b
        around = turn if turn > 1 else None
        inside(said, seen.said.low, seen.said.high, around, f"{place}: said")
        inside(said - value, seen.error.low, seen.error.high, around, f"{place}: error")


def inside(x: np.ndarray, low: int, high: int, turn: float | None, what: str) -> None:
    """Hold numbers against a span; those that wrap lie in it but for whole turns."""
    ends = float(Fraction(low, ONE)), float(Fraction(high, ONE))
    if turn is not None:
        middle = sum(ends) / 2
        x = (x - middle + turn / 2) % turn - turn / 2 + middle
    slack = 1e-9 * max(1.0, *map(abs, ends))
    assert x.min() >= ends[0] - slack, what
    assert x.max() <= ends[1] + slack, what


@pytest.mark.slow
def test_exact_values_words_and_errors_of_every_node_lie_where_the_checker_says() -> None:
    built = built_of("machado-2r")
    said = explained(built.compact, built.ends)
    holds_at_every_node(built.compact, claim_of(said), 20_000)


@pytest.mark.check
@pytest.mark.parametrize("name", ["elbow-3r", "puma560", "stops", "curved"])
def test_so_they_do_of_other_graphs(name: str, tmp_path: Path) -> None:
    if name in {"stops", "curved"}:
        compact, ends = made_by_name(name, tmp_path)
    else:
        compact, ends = built_of(name).compact, built_of(name).ends
    holds_at_every_node(compact, claim_of(explained(compact, ends)), 20_000)


def mutants(graph: WordGraph) -> list[tuple[int, Node]]:
    """Return a node in place of every node: an entry, a constant, a dropped bit, a column."""
    found: list[tuple[int, Node]] = []
    for place, node in enumerate(graph.nodes):
        if isinstance(node, Lookup):
            k = len(node.entries) // 3
            entries = (*node.entries[:k], (1 << node.bits >> 1) ^ node.entries[k])
            found.append((place, replace(node, entries=entries + node.entries[k + 1 :])))
            found.append((place, replace(node, entries=(0,) * len(node.entries))))
        elif isinstance(node, Heap):
            found.append((place, replace(node, constant=node.constant + 1)))
            found.append((place, replace(node, constant=max(0, node.constant - 64))))
            first, *others = node.parts
            if isinstance(first, PartialProducts) or not first.column:
                moved = replace(first, column=first.column + 1)
            else:
                moved = replace(first, column=first.column - 1)
            found.append((place, replace(node, parts=(moved, *others))))
            flipped = replace(first, negative=not first.negative)
            found.append((place, replace(node, parts=(flipped, *others))))
            found.append((place, replace(node, bits=node.bits - 1)))
    return found


def test_damage_to_a_graph_is_seen_or_does_not_make_errors_larger_than_is_claimed() -> None:
    built = built_of("machado-2r", 5)
    said = explained(built.compact, built.ends)
    claim = claim_of(said)
    plain = Plain(claim)
    claimed = [plain.error(one, k).ends for k, one in enumerate(claim.outputs)]
    seen = harmless = 0
    for place, node in mutants(said.graph):
        nodes = (*said.graph.nodes[:place], node, *said.graph.nodes[place + 1 :])
        try:
            graph = WordGraph(nodes, said.graph.scales, said.graph.results)
            mutant = Plain(replace(claim, graph=graph))
            ends = [mutant.error(one, k).ends for k, one in enumerate(claim.outputs)]
        except (DoesNotHoldError, ValueError):
            seen += 1
            continue
        wider = any(a[0] < b[0] or a[1] > b[1] for a, b in zip(ends, claimed, strict=True))
        if wider or mutant.overflow:
            seen += 1
            continue
        harmless += 1
        errors = sampled(replace(built.compact, graph=graph), claim, 20_000)
        for (low, high), (least, most) in zip(claimed, errors, strict=True):
            assert float(low) <= least <= most <= float(high), place
    assert seen >= 20
    assert harmless <= 6  # widths with room, and what is made larger and smaller at once


def sampled(compact: Compact, claim: Claim, count: int) -> list[tuple[float, float]]:
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
def test_a_map_that_says_another_word_makes_the_bound_larger_or_is_refused() -> None:
    claim = claim_of(explained(built_of("machado-2r", 5).compact, Ends()))
    plain = Plain(claim)
    before = [plain.error(one, k).size for k, one in enumerate(claim.outputs)]
    changed = 0
    for k, place in enumerate(claim.places):
        if not place.words:
            continue
        for word in range(len(claim.graph.nodes)):
            if word in place.words:
                continue
            places = list(claim.places)
            places[k] = replace(place, words=(word, *place.words[1:]))
            try:
                other = Plain(replace(claim, places=tuple(places)))
                after = [other.error(one, j).size for j, one in enumerate(claim.outputs)]
            except DoesNotHoldError:
                changed += 1
                continue
            assert any(a > b for a, b in zip(after, before, strict=True)), (k, word)
            changed += 1
    assert changed > 100


def test_a_coefficient_that_is_another_makes_the_bound_larger() -> None:
    claim = claim_of(explained(built_of("machado-2r", 5).compact, Ends()))
    plain = Plain(claim)
    before = [plain.error(one, k).size for k, one in enumerate(claim.outputs)]
    for k, function in enumerate(claim.functions):
        if not isinstance(function, Waves):
            continue
        functions = list(claim.functions)
        parts = tuple((n, a * 1.5, b * 1.5) for n, a, b in function.parts)
        functions[k] = replace(function, parts=parts)
        other = Plain(replace(claim, functions=tuple(functions)))
        after = [other.error(one, j).size for j, one in enumerate(claim.outputs)]
        assert any(a > 1.1 * b for a, b in zip(after, before, strict=True))
    assert math.isfinite(float(sum(before)))
