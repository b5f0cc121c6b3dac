"""The checker's tight bound: what the compiler claims it confirms, and hardly anything less."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest
from shippedarms import built_of

from boolcomp.checker.errors.plain import Plain
from boolcomp.checker.errors.tight import Tight
from boolcomp.checker.steps import DoesNotHoldError, NotCoveredError
from boolcomp.compact.result.explained import explained
from boolcomp.proof.bound.checked import claim_of
from boolcomp.proof.bound.graded import graded_bounds
from boolcomp.words.graph import Heap, Lookup, WordGraph

GROUPS = {
    "machado-2r": ((("qd1", "qd2"), ("qdd1",), ("qdd2",)), (("qd1",), ("qdd1",), ("qdd2",))),
}


@cache
def bounds(name: str, bits: int) -> list[tuple[Fraction, Fraction]]:
    """Return what the compiler proves, and what cells that bend add to it in the checker."""
    built = built_of(name, bits)
    found = graded_bounds(explained(built.compact, built.ends), "tight").outputs
    beside = [Fraction(one.remainder) for one in found]
    return [(one.low - k, one.high + k) for one, k in zip(found, beside, strict=True)]


def plain_of(name: str, bits: int, graph: WordGraph | None = None) -> Plain:
    built = built_of(name, bits)
    claim = claim_of(explained(built.compact, built.ends))
    return Plain(replace(claim, graph=graph or claim.graph))


@pytest.mark.check
@pytest.mark.parametrize(("name", "bits", "column"), [
    ("machado-2r", 4, 0), ("machado-2r", 4, 1), ("machado-2r", 7, 0), ("machado-2r", 8, 0),
    ("machado-2r", 8, 1),
])  # fmt: skip
def test_it_confirms_what_the_compiler_found_another_way_and_not_a_tenth_of_a_percent_less(
    name: str, bits: int, column: int
) -> None:
    low, high = bounds(name, bits)[column]
    tight = Tight(plain_of(name, bits), column, GROUPS[name][column])
    assert tight.confirm(low, high) >= 1 << (2 * bits)
    built = built_of(name, bits)
    found = graded_bounds(explained(built.compact, built.ends), "tight").outputs[column]
    less = found.low * Fraction(999, 1000), found.high * Fraction(999, 1000)
    for ends in ((less[0], high), (low, less[1])):
        with pytest.raises(DoesNotHoldError, match=r"is claimed, and -?\d\.\d+ confirmed where w"):
            tight.confirm(*ends)


@pytest.mark.slow
def test_less_than_climbing_finds_is_never_confirmed() -> None:
    built = built_of("machado-2r", 7)
    plain = plain_of("machado-2r", 7)
    for column, (most, least) in enumerate(built.worst.errors):
        tight = Tight(plain, column, GROUPS["machado-2r"][column])
        far, tiny = Fraction(10), Fraction(1, 10**6)
        for ends in ((-far, Fraction(most) - tiny), (Fraction(least) + tiny, far)):
            with pytest.raises(DoesNotHoldError):
                tight.confirm(*ends)


@pytest.mark.parametrize("groups", [
    (("qd1",), ("qd2",), ("qdd1",), ("qdd2",)), (("qd1", "qd2"), ("qdd1",)), (),
])  # fmt: skip
def test_inputs_that_are_multiplied_or_in_no_group_are_no_groups(
    groups: tuple[tuple[str, ...], ...],
) -> None:
    with pytest.raises(NotCoveredError):
        Tight(plain_of("machado-2r", 4), 0, groups)


@pytest.mark.slow
def test_one_group_of_inputs_that_are_independent_confirms_the_same() -> None:
    low, high = bounds("machado-2r", 4)[1]
    with pytest.raises(NotCoveredError, match="several functions"):
        Tight(plain_of("machado-2r", 4), 1, (("qd1", "qdd1", "qdd2"),))
    Tight(plain_of("machado-2r", 4), 1, (("qdd2",), ("qdd1",), ("qd1",))).confirm(low, high)


@pytest.mark.slow
def test_damage_to_a_graph_is_not_confirmed() -> None:
    graph = built_of("machado-2r", 4).compact.graph
    ends = bounds("machado-2r", 4)
    refused = 0
    for place, node in enumerate(graph.nodes):
        if isinstance(node, Lookup):
            k = len(node.entries) // 2
            entries = (*node.entries[:k], (1 << node.bits) - 1 - node.entries[k])
            other: Lookup | Heap = replace(node, entries=entries + node.entries[k + 1 :])
        elif isinstance(node, Heap):
            other = replace(node, constant=node.constant + 2)
        else:
            continue
        nodes = (*graph.nodes[:place], other, *graph.nodes[place + 1 :])
        plain = plain_of("machado-2r", 4, WordGraph(nodes, graph.scales, graph.results))
        refused += any(
            not confirmed(plain, column, *ends[column]) for column in range(2)
        )  # fmt: skip
    tables = sum(isinstance(node, Lookup | Heap) for node in graph.nodes)
    assert refused >= tables - 1


def confirmed(plain: Plain, column: int, low: Fraction, high: Fraction) -> bool:
    try:
        Tight(plain, column, GROUPS["machado-2r"][column]).confirm(low, high)
    except DoesNotHoldError:
        return False
    return True
