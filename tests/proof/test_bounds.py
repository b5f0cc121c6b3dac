"""Bounds of compiled programs: their grades, what they count, and what is shown of them."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from shippedarms import built_of, made, shipped

from boolcomp.base import TWO
from boolcomp.compact import Compact, CompactChoices, WordEnds, proved, sketched, usual_demand
from boolcomp.pipeline import compile_compact
from boolcomp.proof import claim_of, graded_bounds, plain_bounds
from boolcomp.words import Bits, Heap, Lookup, WordGraph

Whole = NDArray[np.int64]
Floats = NDArray[np.float64]


EVERY: Any = ("plain", "tables", "tight")


@pytest.mark.parametrize(
    ("bits", "most"), [(5, 1.01), pytest.param(8, 1.01, marks=pytest.mark.check)]
)
def test_bounds_are_above_what_climbing_finds_and_tighter_with_each_grade(
    bits: int, most: float
) -> None:
    built = built_of("machado-2r", bits)
    said = sketched(built.compact, built.ends)
    found = [graded_bounds(said, grade) for grade in EVERY]
    assert found[0] == plain_bounds(said)
    for looser, tighter in pairwise(found):
        for one, other in zip(looser.outputs, tighter.outputs, strict=True):
            assert one.low <= other.low <= other.high <= one.high
    for bound, (up, down) in zip(found[-1].outputs, built.worst.errors, strict=True):
        assert bound.grade == "tight"
        assert up <= float(bound.high)
        assert float(bound.low) <= down
    assert (np.array(found[-1].steps) <= most * built.worst.largest).all()
    assert (np.array(found[0].steps) <= 2 * built.worst.largest).all()
    assert not found[0].unproved


@pytest.mark.check
def test_bounds_of_three_angles_are_tighter_with_each_grade_and_more_effort(tmp_path: Path) -> None:
    said = sketched(*made("planar-3r", tmp_path, 5))
    found = [graded_bounds(said, grade, 10) for grade in EVERY]
    assert graded_bounds(said, "tight", 10, workers=TWO) == found[-1]
    assert sum(found[2].steps) < 0.95 * sum(found[1].steps) < 0.95**2 * sum(found[0].steps)
    for looser, tighter in pairwise([*found, graded_bounds(said, "tight", 20)]):
        for one, other in zip(looser.outputs, tighter.outputs, strict=True):
            assert one.low <= other.low <= other.high <= one.high


def test_a_bound_is_the_sum_of_its_causes_and_the_unit_follows_from_steps() -> None:
    built = built_of("machado-2r")
    for one in plain_bounds(sketched(built.compact, built.ends)).outputs:
        causes = one.causes
        parts = (causes.inputs, causes.tables, causes.bits, causes.rounding)
        assert sum(part.ends[1] for part in parts) == one.high
        assert sum(part.ends[0] for part in parts) == one.low
        assert one.value == pytest.approx(one.steps * one.step, abs=2e-6)


def test_an_output_that_is_held_at_zero_errs_by_its_value() -> None:
    built = built_of("machado-2r", 5)
    problem, word = built.compact.problem, built.compact.specified_words["qdd2"]
    held = sketched(built.compact, WordEnds(built.ends.shifts, (("qdd2",), None)))
    free = plain_bounds(sketched(built.compact, built.ends)).outputs
    bound, other = plain_bounds(held).outputs
    assert other == free[1]
    states, column = np.concatenate(problem.draw(20_000, 1), axis=1), 5
    assert problem.inputs[column].name == "qdd2"
    states[:, column] *= word.step / np.abs(states[:, column]).max()
    exact = problem.reference(*problem.arrays(states))[:, 0] / problem.steps(5)[0]
    assert bound.low <= -exact.max() < free[0].low
    assert free[0].high < -exact.min() <= bound.high
    assert bound.steps < 1.5 * np.abs(exact).max()
    rest = claim_of(held).outputs[0].rest
    assert rest is not None
    assert list(rest) == ["qdd2"]
    assert list(rest["qdd2"].ends) == [-1, 1]


def with_node(compact: Compact, place: int, node: Lookup | Heap) -> Compact:
    """Return a graph with another node at a place."""
    graph = compact.graph
    nodes = (*graph.nodes[:place], node, *graph.nodes[place + 1 :])
    return replace(compact, graph=WordGraph(nodes, graph.scales, graph.results))


@pytest.mark.slow
@pytest.mark.parametrize("grade", EVERY)
def test_another_entry_or_constant_changes_the_bound(grade: Any) -> None:
    built = built_of("machado-2r", 5)
    compact = built.compact

    def ends_of(compact: Compact) -> list[tuple[Fraction, Fraction]]:
        found = graded_bounds(sketched(compact, built.ends), grade)
        return [(one.low, one.high) for one in found.outputs]

    before = ends_of(compact)
    changed = 0
    for place, node in enumerate(compact.graph.nodes):
        if isinstance(node, Lookup):
            half = 1 << node.bits >> 1
            other: Lookup | Heap = replace(node, entries=tuple(half ^ x for x in node.entries))
        elif isinstance(node, Heap):
            other = replace(node, constant=node.constant + 1)
        else:
            continue
        assert ends_of(with_node(compact, place, other)) != before, place
        changed += 1
        if changed == 5:
            break
    assert changed == 5


def test_a_heap_without_enough_bits_is_named() -> None:
    built = built_of("machado-2r")
    graph = built.compact.graph
    results = {result.node for result in graph.results}
    place, heap = next(
        (k, x) for k, x in enumerate(graph.nodes) if isinstance(x, Heap) and k not in results
    )
    other = with_node(built.compact, place, replace(heap, constant=heap.constant + 1000))
    assert place in plain_bounds(sketched(other, built.ends)).unproved


@pytest.mark.slow
def test_the_offset_of_an_output_does_not_change_bounds_of_sums_that_read_it() -> None:
    said = sketched(*shipped("elbow-3r"))
    (read,) = {
        part.node
        for node in said.graph.nodes
        if isinstance(node, Heap)
        for part in node.parts
        if isinstance(part, Bits) and part.node in {one.node for one in said.graph.results}
    }
    scales = list(said.graph.scales)
    scales[read] = replace(scales[read], offset=scales[read].offset + 0.25)
    moved = replace(said, graph=replace(said.graph, scales=tuple(scales)))
    assert plain_bounds(moved).outputs == plain_bounds(said).outputs


@pytest.mark.slow
def test_a_bound_of_little_effort_is_close_to_one_of_much() -> None:
    built = built_of("machado-2r", 5)
    little = proved(built.compact, built.ends, None, None)
    much = proved(built.compact, built.ends, "tight", None)
    assert little is not None
    assert much is not None
    for one, two, worst in zip(little.steps, much.steps, built.worst.largest, strict=True):
        assert worst <= two <= one <= 1.01 * two


def test_a_program_without_its_smallest_waves_has_no_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    choices = CompactChoices(usual_demand(8))
    assert compile_compact("machado-2r", choices).built[0].bounds is not None
    monkeypatch.setattr("boolcomp.compact.widths.MOST_WAVES", 1)
    assert compile_compact("machado-2r", choices).built[0].bounds is None
