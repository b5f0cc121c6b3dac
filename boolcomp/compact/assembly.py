"""From a word graph and its network to a program: what codes its inputs and outputs have."""

from __future__ import annotations

from dataclasses import dataclass, replace
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


@dataclass(frozen=True, slots=True)
class Ends:
    """What is done where words come and go.

    `shifts` are of outputs' codes, in steps; `rest` names, for every output that is exactly zero
    where some inputs are, which.
    """

    shifts: tuple[float, ...] = ()
    rest: tuple[tuple[str, ...] | None, ...] = ()


def input_codes(problem: Problem, demand: Demand, graph: WordGraph) -> dict[str, Code]:
    """Return the codes of a graph's own words by name, in the order of its network's inputs.

    They are natural and mid-rise; of a word with a cell at zero the range is half a step lower.
    """
    words = quantities(problem, demand.input_bits)
    return {
        node.name: Code(words[node.name].range, node.bits, "natural", words[node.name].wraps)
        for node in graph.inputs
    }


def asked_codes(problem: Problem, demand: Demand, graph: WordGraph, ends: Ends) -> dict[str, Code]:
    """Return the codes of words as they are given, by name: whole where anything is asked of them.

    So are those at whose zeros an output rests; of all others low bits that nothing reads are not
    there.
    """
    own = input_codes(problem, demand, graph)
    bits = problem.by_input(demand.input_bits)
    whole = {name for names in ends.rest if names is not None for name in names}
    for one in problem.inputs:
        asked = one.format
        if one.name in own and (asked or one.name in whole):
            kind = asked.code or "natural"
            own[one.name] = Code(one.word, bits[one.name], kind, one.wraps, asked.tread)
    return own


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
        span, kind = Interval(centre - reach, centre + reach), output.format.code or "natural"
        codes.append(Code(span, result.bits, kind, tread=result.tread))
    return tuple(codes)


def program_of_graph(
    problem: Problem, demand: Demand, graph: WordGraph, network: Network, ends: Ends | None = None
) -> Program:
    """Return the program of a graph's network, of one load, with what is done at its `ends`."""
    chosen = ends or Ends()
    inputs = input_codes(problem, demand, graph)
    codes = output_codes(problem, demand, graph, chosen.shifts)
    made = program_of_network(problem, demand.bits, inputs, codes, network)
    given = asked_codes(problem, demand, graph, chosen)
    (load,) = made.loads
    if chosen.rest:
        read = [None if rest is None else [n for n in rest if n in inputs] for rest in chosen.rest]
        pairs = zip(load.outputs, read, strict=True)
        outputs = tuple(
            replace(output, rest=None if rest is None else tuple(rest)) for output, rest in pairs
        )
        load = replace(load, outputs=outputs)
    words = tuple(replace(word, code=given[word.name]) for word in made.inputs)
    return replace(made, inputs=words, loads=(load,))
