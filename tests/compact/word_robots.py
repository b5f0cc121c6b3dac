"""Small robots, states and widths that the tests of words share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from samples import random_robot

from boolcomp.compact.graph.realise import realise
from boolcomp.compact.result.measure import torque_steps
from boolcomp.compact.result.samples import States, corners, draw
from boolcomp.compact.sketch.build import Form, build_sketch
from boolcomp.compact.sketch.poly import Quantity, quantities
from boolcomp.compact.sketch.sketch import AngleSum, Powers, Sketch, Sum, Waves
from boolcomp.compact.widths.descend import Descent, choose_widths
from boolcomp.compact.widths.noise import Model
from boolcomp.logic.simulation import Planes
from boolcomp.problem.interval import Interval
from boolcomp.problem.robot import Robot, load_robot
from boolcomp.terms import split_torques, torque_amplitude

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from boolcomp.logic.network import Network
    from boolcomp.words.graph import Graph

TEN = {"q": 10, "qd": 10, "qdd": 10}


@dataclass(frozen=True, slots=True)
class Case:
    """A robot at a word length, its sketch, and how its states are drawn."""

    robot: Robot
    steps: list[float]
    words: dict[str, Quantity]
    sketch: Sketch

    def states(self, count: int, seed: int) -> States:
        return draw(self.robot, self.words, self.steps, count, seed)

    def corners(self, count: int, seed: int) -> States:
        return corners(self.robot, self.words, self.steps, count, seed)

    def model(self) -> Model:
        return Model(self.sketch, self.states(1000, 1).values, self.corners(4000, 2).values)

    def graph(self, allowed: float, *, saturate: bool = False, bits: int = 6) -> Graph:
        """Return a graph whose predicted variance is as allowed."""
        model = self.model()
        variances = np.full(self.robot.joints, allowed)
        widths, _ = choose_widths(model, variances)
        count = self.robot.joints
        return realise(
            self.sketch, widths, model.statistics, [bits] * count, [0.0] * count, saturate=saturate
        )

    def chosen(self, allowed: float) -> Descent:
        model = self.model()
        variances = np.full(self.robot.joints, allowed)
        widths, _ = choose_widths(model, variances)
        return Descent(model, widths, variances)


@cache
def small_robot(seed: int, joints: int) -> Robot:
    """Return a random arm whose torque ranges are what it needs, as a user would choose them."""
    robot = random_robot(seed, joints)
    links = []
    for joint, link in enumerate(robot.links, 1):
        reach = float(np.ceil(torque_amplitude(robot, joint)))
        links.append(replace(link, torque=Interval(-reach, reach)))
    return replace(robot, links=tuple(links))


def case(
    robot: Robot | str,
    bits: int = 6,
    input_bits: Mapping[str, int] | None = None,
    form: Form | None = None,
) -> Case:
    arm = load_robot(robot) if isinstance(robot, str) else robot
    steps = torque_steps(arm, bits)
    widths = dict(input_bits or TEN)
    sketch = build_sketch(split_torques(arm), widths, steps, form)
    return Case(arm, steps, quantities(arm, widths), sketch)


def run_network(
    network: Network, graph: Graph, words: Mapping[str, NDArray[np.int64]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the torques' words and the saturation flags of a network, (samples, joints) each."""
    count = len(next(iter(words.values())))
    planes = []
    for node in graph.inputs:
        for bit in reversed(range(node.bits)):
            column = (words[node.name] >> bit & 1).astype(np.uint8)
            planes.append(
                int.from_bytes(np.packbits(column, bitorder="little").tobytes(), "little")
            )
    outputs = network.fold(Planes((1 << count) - 1), planes)
    rows = [
        np.unpackbits(
            np.frombuffer(plane.to_bytes((count + 7) // 8, "little"), np.uint8), bitorder="little"
        )[:count].astype(np.int64)
        for plane in outputs
    ]
    torques, flags, first = [], [], 0
    for result in graph.results:
        torques.append(sum(rows[first + k] << (result.bits - 1 - k) for k in range(result.bits)))
        flags.append(rows[first + result.bits])
        first += result.bits + 1
    return np.stack(torques, axis=1), np.stack(flags, axis=1)


def finest_widths(sketch: Sketch, exact: list[NDArray[np.float64]]) -> dict[tuple[int, str], int]:
    """Return widths with which nothing but inputs is rounded; `exact` are all nodes' values."""
    widths = {}
    for place, node in enumerate(sketch.nodes):
        size = int(np.floor(np.log2(np.abs(exact[place]).max() + 1e-30)))
        if isinstance(node, AngleSum):
            widths[place, "n"] = 16
        elif isinstance(node, (Waves, Powers)):
            widths[place, "t"], widths[place, "e"] = 16, size - 20
        elif isinstance(node, Sum):
            widths[place, "cut"] = -14 if place in sketch.outputs else size - 20
    return widths
