"""Whole networks: every step is equivalent and no worse, whatever ABC does."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthesis.networks import adder, random_network
from synthesis.test_abc import fake

from boolcomp.base import UsageError
from boolcomp.logic import (
    AND2,
    OR2,
    XOR2,
    Builder,
    equivalent,
    lutmapping,
    measure,
    optimise,
    render,
)


@pytest.mark.slow
@given(st.integers(0, 10**6), st.sampled_from(["nodes", "depth", "lut6"]))
@settings(max_examples=3)
def test_what_comes_out_is_equivalent_and_no_worse(seed: int, objective: Any) -> None:
    network = random_network(seed, 11, 60, 8)
    found = optimise(network, None, objective, rounds=1, use_abc=seed % 3 == 0).network
    assert equivalent(network, found).holds
    assert measure(found, objective) <= measure(network, objective)
    assert found.depth <= network.depth


def test_the_same_network_gives_the_same_result_and_every_step_is_told() -> None:
    network = random_network(7, 14, 120, 10)
    told: list[Any] = []
    first = optimise(network, None, rounds=2, use_abc=False, report=told.append)
    assert first.steps == tuple(told)
    assert optimise(network, None, rounds=2, use_abc=False) == first
    assert [step.nodes for step in told] == sorted((step.nodes for step in told), reverse=True)


def test_what_abc_gets_wrong_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = "sed 's/^11 1/10 1/' a.blif > b.blif"
    tool = fake(tmp_path, body)
    monkeypatch.setattr("boolcomp.logic.lutmapping.find", lambda: tool)
    network = random_network(9, 13, 60, 8)
    found = optimise(network, None, rounds=1)
    assert equivalent(network, found.network).holds
    assert all("rejected: different" in step.note for step in found.steps[:1])


def test_an_unknown_objective_is_refused() -> None:
    with pytest.raises(UsageError, match="did you mean 'depth'"):
        optimise(random_network(1, 3, 5, 1), 1.0, "dept")  # type: ignore[arg-type]


def test_passes_for_depth_make_an_adder_of_fewer_levels_for_few_nodes() -> None:
    plain = adder(12)
    made = optimise(plain, None, "depth", rounds=1, use_abc=False)
    assert made.steps[0].name == "bypass"
    assert plain.depth == 12
    assert made.network.depth <= 7
    assert made.steps[0].nodes <= 2 * len(plain.nodes)
    assert equivalent(plain, made.network).holds


@pytest.mark.parametrize("deeper", [False, True])
def test_fewer_nodes_that_are_deeper_and_more_nodes_that_are_not_are_worse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, deeper: bool
) -> None:
    builder = Builder(16)
    inputs = [builder.input(k) for k in range(16)]
    chain, level = inputs[0], inputs
    for one in inputs[1:]:
        chain = builder.node(AND2, chain, one)
    while len(level) > 1:
        level = [builder.node(AND2, *pair) for pair in zip(level[::2], level[1::2], strict=True)]
    twice = builder.node(XOR2, inputs[0], inputs[1])  # what the tree has and the chain has not
    more = builder.node(XOR2, twice, inputs[0])
    tree = builder.node(AND2, level[0], builder.node(OR2, more, level[0]))
    given, other = (tree, chain) if deeper else (chain, tree)
    network = builder.build([given])
    (tmp_path / "other.blif").write_text(render(builder.build([other])))
    tool = fake(tmp_path, f"cp {tmp_path}/other.blif b.blif")
    monkeypatch.setattr(lutmapping, "find", lambda: tool)
    found = optimise(network, None, rounds=1)
    assert found.steps[0].note.startswith("worse: ")
    assert found.network.depth <= network.depth
