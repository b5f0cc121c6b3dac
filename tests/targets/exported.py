"""Programs that tests of exports share: one of a few nodes, and the paper's arm at few bits."""

from collections.abc import Sequence
from functools import cache

from compact.word_robots import case
from small_programs import stages

import boolcomp
from boolcomp.codes import Code
from boolcomp.compact import word_logic
from boolcomp.logic import AND2, MAJ3, Builder, Network
from boolcomp.problem import Group, Interval
from boolcomp.program import (
    CodedInput,
    CodedOutput,
    JointNetwork,
    KnownErrors,
    Load,
    Program,
    Slice,
    family_of,
)
from boolcomp.words import WordGraph

AWKWARD = ("if", "1q", "double")


def tiny(names: tuple[str, ...] = ("a", "b", "c"), payload: float = 0.0) -> Program:
    """Return a program of three words and a few nodes; with a payload it is another function."""
    groups = (Group("x", names),)
    unit = Interval(-1.0, 1.0)
    inputs = (
        CodedInput(names[0], Code(unit, 2, "gray"), "rad"),
        CodedInput(names[1], Code(unit, 1, "natural")),
        CodedInput(names[2], Code(unit, 2, "twos"), "m/s"),
    )
    errors = KnownErrors(0.25, 0.5, 0.75)
    outputs = (CodedOutput("tau1", "T1", "N·m", Code(unit, 2, "natural"), errors=errors),)
    words = (Slice(0, 2, 0), Slice(1, 1, 0), Slice(2, 1, 0))
    load = Load(payload, outputs, JointNetwork(0, words))
    network = _network(other=payload > 0)
    return Program("tiny arm", 4, "compact", groups, Group("tau", ("tau1",)), inputs, (network,),
                   (load,))  # fmt: skip


def _network(*, other: bool) -> Network:
    builder = Builder(4)
    a, b, c, d = (builder.input(k) for k in range(4))
    majority = builder.node(MAJ3, a, b, c)
    chosen = builder.node(0xCA, d, majority, b ^ 1)
    return builder.build([majority ^ other, chosen, builder.node(AND2, a, d)])


def family() -> Program:
    """Return a program of two loads."""
    return family_of([tiny(), tiny(payload=1.5), tiny(payload=2.5)])


def of_graph(
    name: str, graph: WordGraph, meanings: Sequence[str] = (), output: str = "y", below: int = 0
) -> Program:
    """Return a program of one graph: natural words, one output after another.

    Words of inputs have so many bits below those that the graph reads.
    """
    unit = Interval(-1.0, 1.0)
    codes = [Code(unit, node.bits + below, "natural") for node in graph.inputs]
    inputs = tuple(CodedInput(n.name, c) for n, c in zip(graph.inputs, codes, strict=True))
    names = [f"{output}{k or ''}" for k in range(len(graph.results))]
    outputs = tuple(
        CodedOutput(name, name, "", Code(unit, result.bits, "natural"))
        for name, result in zip(names, graph.results, strict=True)
    )
    meanings = meanings or [f"w{k}" for k in range(len(graph.nodes))]
    joint = JointNetwork(0, tuple(Slice(k, n.bits, 0) for k, n in enumerate(graph.inputs)))
    load = Load(0.0, outputs, joint, graph, tuple(meanings))
    groups = (Group("x", tuple(node.name for node in graph.inputs)),)
    network = word_logic(graph)
    return Program(
        name, 4, "compact", groups, Group(output, tuple(names)), inputs, (network,), (load,)
    )


@cache
def arm(mode: str, bits: int) -> Program:
    """Return the paper's arm, minimised in no time or from what ships."""
    if mode == "paper":
        return stages(bits)[2]
    rms = ".43,.58" if bits == 6 else None  # what ships
    return boolcomp.compile("machado-2r", bits=bits, rms_error=rms)


@cache
def planar() -> Program:
    """Return the planar arm of three joints at 6 bits, its words as the noise model has them."""
    return of_graph("planar", case("planar-3r").graph(0.2, bits=6))
