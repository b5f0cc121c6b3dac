"""From a word graph and its network to a program: what codes its inputs and outputs have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.codes import Code
from boolcomp.compact.sketch.poly import quantities
from boolcomp.problem.interval import Interval
from boolcomp.program.program import program_of_network

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.compact.demand import Demand
    from boolcomp.logic.network import Network
    from boolcomp.problem.problem import Problem
    from boolcomp.program.program import Program
    from boolcomp.words.graph import WordGraph


def input_codes(problem: Problem, demand: Demand, graph: WordGraph) -> dict[str, Code]:
    """Return the codes of a graph's input words by name, in the order of its network's inputs."""
    words = quantities(problem, demand.input_bits)
    return {
        node.name: Code(words[node.name].range, node.bits, "natural", words[node.name].wraps)
        for node in graph.inputs
    }


def output_codes(
    problem: Problem, demand: Demand, graph: WordGraph, shifts: Sequence[float] = ()
) -> tuple[Code, ...]:
    """Return the codes of outputs: about the middles of ranges, wider where those are short.

    Their cells lie `shifts` of a step higher.
    """
    codes = []
    steps, moved = problem.steps(demand.bits), shifts or [0.0] * len(problem.outputs)
    outputs = zip(problem.outputs, steps, moved, graph.results, strict=True)
    for output, step, shift, result in outputs:
        reach, centre = step * 2.0 ** (result.bits - 1), output.range.centre + shift * step
        codes.append(Code(Interval(centre - reach, centre + reach), result.bits, "natural"))
    return tuple(codes)


def program_of_graph(
    problem: Problem,
    demand: Demand,
    graph: WordGraph,
    network: Network,
    shifts: Sequence[float] = (),
) -> Program:
    """Return the program of a graph's network; of one load. `shifts` are of its outputs' codes."""
    inputs = input_codes(problem, demand, graph)
    codes = output_codes(problem, demand, graph, shifts)
    return program_of_network(problem, demand.bits, inputs, codes, network)
