"""What synthesis has always made of a few tables and networks: the same bytes on any machine."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest
from synthesis.networks import product, random_network, sine

from boolcomp.logic.synthesis.builtin.diagram import diagram_networks
from boolcomp.logic.synthesis.builtin.resub import LevelLimits, resubstitute
from boolcomp.logic.synthesis.builtin.windows import improve_windows
from boolcomp.logic.synthesis.optimise import optimise
from boolcomp.logic.synthesis.portfolio import SynthesisRecipe, synthesise
from boolcomp.twolevel.clock import Clock

if TYPE_CHECKING:
    from collections.abc import Callable

    from boolcomp.logic.network import Network

BIG = random_network(11, 14, 120, 9)
SMALL = random_network(5, 7, 60, 5)
MADE: dict[str, Callable[[], Network]] = {
    "diagrams of a sine": lambda: diagram_networks(sine(6, 6))[0],
    "diagrams of a product": lambda: diagram_networks(product(3))[0],
    "few orders": lambda: diagram_networks(sine(5, 4), 2)[-1],
    "resubstitution": lambda: resubstitute(SMALL, Clock(), sweeps=3, seed=2),
    "another seed": lambda: resubstitute(SMALL, Clock(), sweeps=3, seed=3),
    "no deeper": lambda: resubstitute(
        SMALL, Clock(), sweeps=3, timing=LevelLimits.of_depth(SMALL, SMALL.depth)
    ),
    "windows of ten": lambda: improve_windows(BIG, Clock(), leaves=10, seed=1),
    "windows of eight": lambda: improve_windows(BIG, Clock(), leaves=8, seed=4, keep_depth=False),
    "quick": lambda: synthesise(sine(5, 6), SynthesisRecipe(effort="quick", use_abc=False)).network,
    "quick depth": lambda: (
        synthesise(product(3), SynthesisRecipe("depth", "quick", use_abc=False)).network
    ),
    "usual": lambda: synthesise(product(2), SynthesisRecipe(use_abc=False)).network,
    "all passes": lambda: optimise(BIG, None, rounds=2, use_abc=False).network,
    "a quick round": lambda: optimise(BIG, None, rounds=1, quick=True, use_abc=False).network,
}
GOLDEN = {
    "diagrams of a sine": (55, 4, "c7d880f97835"),
    "diagrams of a product": (36, 4, "37117997309f"),
    "few orders": (24, 3, "cfde81638578"),
    "resubstitution": (9, 5, "eeed47ca5d11"),
    "another seed": (9, 6, "0b524866cd89"),
    "no deeper": (11, 8, "8095ffc2c323"),
    "windows of ten": (63, 11, "fe3bfe76e747"),
    "windows of eight": (63, 14, "bf670347f9ec"),
    "quick": (27, 6, "40ee56e96c53"),
    "quick depth": (23, 4, "4b568f042647"),
    "usual": (5, 3, "9a3b93f06649"),
    "all passes": (60, 12, "8286b3e6c40b"),
    "a quick round": (63, 12, "c61d2ec14fd3"),
}


@pytest.mark.parametrize("name", MADE)
def test_synthesis_makes_what_it_always_made(name: str) -> None:
    network = MADE[name]()
    digest = hashlib.sha256(str(network).encode()).hexdigest()[:12]
    assert (len(network.nodes), network.depth, digest) == GOLDEN[name]


def test_the_steps_of_an_improvement_say_what_they_gained() -> None:
    steps = optimise(BIG, None, rounds=2, use_abc=False).steps
    assert [(step.name, step.nodes, step.note) for step in steps] == [
        ("resub", 68, "too large for complete truth tables"),
        ("windows of 10", 63, "better, equivalent (exhaustive, 8192 cases)"),
        ("windows of 12", 60, "better, equivalent (exhaustive, 8192 cases)"),
        ("windows of 9", 60, "as good, equivalent (exhaustive, 8192 cases)"),
        ("windows of 11", 60, "as good, equivalent (exhaustive, 8192 cases)"),
    ]
