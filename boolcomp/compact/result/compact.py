"""A compiled word graph with all that is known of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.codes import Code
from boolcomp.compact.graph.logic import Synthesiser, word_logic
from boolcomp.compact.graph.tables import mux_network
from boolcomp.compact.result.measure import Errors, torque_steps
from boolcomp.compact.sketch.poly import Quantity, quantities
from boolcomp.problem.interval import Interval
from boolcomp.problem.makers import inverse_dynamics_problem
from boolcomp.program.program import program_of_network

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from boolcomp.compact.sketch.build import Form
    from boolcomp.compact.sketch.sketch import Sketch
    from boolcomp.compact.widths.demand import Demand
    from boolcomp.logic.network import Network
    from boolcomp.problem.robot import Robot
    from boolcomp.program.program import Program
    from boolcomp.words.graph import Graph

    Floats = NDArray[np.float64]
    Knob = tuple[int, str]


@dataclass(frozen=True, slots=True, eq=False)
class Compact:
    """A compiled graph: what was chosen, what was predicted, what was built and measured.

    `allowed` are the mean square errors asked for, in steps²; `nodes` those of the network whose
    tables are made by cofactors; `errors` those of states that the search looked at.
    """

    robot: Robot
    demand: Demand
    form: Form
    sketch: Sketch
    widths: Mapping[Knob, int]
    graph: Graph
    biases: Floats
    allowed: Floats
    nodes: int
    predicted_cost: float
    predicted_rms: Floats
    errors: Errors

    @property
    def asked_words(self) -> dict[str, Quantity]:
        """The input words as they were asked for; the graph may read less of them."""
        return quantities(self.robot, self.demand.input_bits)

    @property
    def input_codes(self) -> dict[str, Code]:
        """The codes of the input words by name, in the order of the network's inputs."""
        return input_codes(self.robot, self.demand, self.graph)

    @property
    def torque_codes(self) -> tuple[Code, ...]:
        """The codes of the torques' words: about zero, wider than the range where that is short."""
        return torque_codes(self.robot, self.demand, self.graph)

    def network(self, synthesise: Synthesiser = mux_network) -> Network:
        """Return the network of the graph (see `word_logic`)."""
        return word_logic(self.graph, synthesise)


def input_codes(robot: Robot, demand: Demand, graph: Graph) -> dict[str, Code]:
    """Return the codes of a graph's input words by name, in the order of its network's inputs."""
    words = quantities(robot, demand.input_bits)
    return {
        node.name: Code(words[node.name].range, node.bits, "natural", words[node.name].wraps)
        for node in graph.inputs
    }


def torque_codes(robot: Robot, demand: Demand, graph: Graph) -> tuple[Code, ...]:
    """Return the codes of a graph's torques: about zero, wider than the range if that is short."""
    codes = []
    for step, result in zip(torque_steps(robot, demand.bits), graph.results, strict=True):
        reach = step * 2.0 ** (result.bits - 1)
        codes.append(Code(Interval(-reach, reach), result.bits, "natural"))
    return tuple(codes)


def program_of_graph(
    robot: Robot, demand: Demand, graph: Graph, network: Network, payload: float = 0.0
) -> Program:
    """Return the program of a graph's network; the robot carries the payload (kg) already."""
    inputs = input_codes(robot, demand, graph)
    codes = torque_codes(robot, demand, graph)
    problem = inverse_dynamics_problem(robot)
    return program_of_network(problem, demand.bits, inputs, codes, network, payload)
