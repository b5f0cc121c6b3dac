"""Programs that tests of exports share: one of a few nodes, and the paper's arm at few bits."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from small_programs import stages

import boolcomp
from boolcomp.codes import Code
from boolcomp.compact.graph.logic import word_logic
from boolcomp.logic import luts
from boolcomp.logic.network import Builder
from boolcomp.problem.interval import Interval
from boolcomp.problem.problem import Group
from boolcomp.program.parts import CodedInput, CodedOutput, JointNetwork, KnownErrors, Load, Slice
from boolcomp.program.program import Program, family_of

if TYPE_CHECKING:
    from boolcomp.logic.network import Network
    from boolcomp.words.graph import WordGraph

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
    majority = builder.node(luts.MAJ3, a, b, c)
    chosen = builder.node(0xCA, d, majority, b ^ 1)
    return builder.build([majority ^ other, chosen, builder.node(luts.AND2, a, d)])


def family() -> Program:
    """Return a program of two loads."""
    return family_of([tiny(), tiny(payload=1.5), tiny(payload=2.5)])


@cache
def arm(mode: str, bits: int) -> Program:
    """Return the paper's arm, minimised in no time or from what ships."""
    if mode == "paper":
        return stages(bits)[2]
    rms = ".43,.58" if bits == 6 else None  # what ships
    return boolcomp.compile("machado-2r", bits=bits, rms_error=rms)


def of_graph(graph: WordGraph, name: str, meanings: tuple[str, ...]) -> Program:
    """Return a graph's program."""
    names = tuple(node.name for node in graph.inputs)
    codes = [Code(Interval(-1.0, 1.0), node.bits, "natural") for node in graph.inputs]
    outputs = tuple(
        CodedOutput("z" * k, "Z" * k, "", Code(Interval(-1.0, 1.0), result.bits, "natural"))
        for k, result in enumerate(graph.results, 1)
    )
    joint = JointNetwork(0, tuple(Slice(k, code.bits, 0) for k, code in enumerate(codes)))
    load = Load(0.0, outputs, joint, graph, meanings)
    return Program(
        name, 3, "compact", (Group("x", names),), Group("z", tuple(x.name for x in outputs)),
        tuple(CodedInput(*one) for one in zip(names, codes, strict=True)),
        (word_logic(graph),), (load,),
    )  # fmt: skip
