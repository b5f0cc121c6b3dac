"""Stages of a network: none too deep, none before what it reads, and few flip-flops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st
from synthesis.networks import networks

from boolcomp.logic import CONSTANTS
from boolcomp.targets import flip_flops, stages_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.logic import Network


def deepest(network: Network, stages: Sequence[int]) -> int:
    """Return the most nodes that follow each other in one stage; refuse what reads the future."""
    first = CONSTANTS + network.inputs
    depths: list[int] = []
    for k, (_, operands) in enumerate(network.nodes):
        before = [j - first for j in operands if j >= first]
        assert all(stages[j] <= stages[k] for j in before)
        depths.append(1 + max((depths[j] for j in before if stages[j] == stages[k]), default=0))
    return max(depths, default=0)


def counted(network: Network, stages: Sequence[int], count: int) -> int:
    """Return the flip-flops, rank by rank: a signal made before a rank and read after it."""
    first = CONSTANTS + network.inputs
    made = [0] * first + list(stages)
    read: list[set[int]] = [set() for _ in made]
    for k, (_, operands) in enumerate(network.nodes):
        for j in operands:
            read[j].add(stages[k])
    for j in network.outputs:
        read[j].add(count)
    return sum(
        made[j] < rank and any(stage >= rank for stage in read[j])
        for rank in range(1, count + 1)
        for j in range(CONSTANTS, len(made))
    )


@given(networks, st.integers(1, 6))
def test_stages_follow_each_other_and_none_is_too_deep(network: Network, count: int) -> None:
    stages = stages_of(network, count)
    assert all(0 <= stage < count for stage in stages)
    assert deepest(network, stages) <= -(-network.depth // count)
    assert flip_flops(network, stages, count) == counted(network, stages, count)
