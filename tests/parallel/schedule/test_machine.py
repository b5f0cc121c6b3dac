"""What machines say that things cost."""

from __future__ import annotations

from itertools import pairwise

import pytest
from parallel.schedule.graphs import linked, shared

from boolcomp.common.errors import UsageError
from boolcomp.parallel.schedule.machine import TOPOLOGIES, Links, Topology
from boolcomp.problem.dynamics.operations import Operations


def test_operations_cost_what_the_machine_says() -> None:
    assert linked().time(Operations(2, 4, 1, 1, 1)) == 2 * 0.5 + 4 * 0.25 + 1 + 2 + 4


@pytest.mark.parametrize(
    ("topology", "path"),
    [("full", (1, 4)), ("line", (1, 2, 3, 4)), ("ring", (1, 0, 4)), ("star", (1, 0, 4))],
)
def test_messages_take_the_shortest_way(topology: Topology, path: tuple[int, ...]) -> None:
    links = Links(topology, 4, 0.0, 1.0, overlap=True)
    assert links.path(1, 4, 5) == path
    assert all(links.neighbours(a, b, 5) for a, b in pairwise(path))


def test_a_delay_counts_every_hop() -> None:
    assert linked("line").delay(2, 0, 3, 4) == 3 * (0.5 + 2 * 1.5)
    assert shared().delay(2, 0, 1, 4) == 1.0 + 2 * 0.125 + 0.25
    assert linked().delay(2, 1, 1, 4) == 0


def test_a_machine_has_only_so_many_processors() -> None:
    with pytest.raises(UsageError, match="1 to 64 processors, not 65"):
        linked().check_processors(65)


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_hops_are_the_length_of_the_path(topology: Topology) -> None:
    links = Links(topology, 4, 0.0, 1.0, overlap=True)
    for processors in (1, 2, 5, 6):
        for a in range(processors):
            for b in range(processors):
                assert links.hops(a, b, processors) == len(links.path(a, b, processors)) - 1
