"""Programs that tests of exports share: one of a few nodes, and the paper's arm at few bits."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from small_programs import stages

import boolcomp
from boolcomp.codes import Code
from boolcomp.logic import luts
from boolcomp.logic.network import Builder
from boolcomp.problem.interval import Interval
from boolcomp.problem.problem import Group
from boolcomp.program.parts import CodedInput, CodedOutput, JointNetwork, KnownErrors, Load, Slice
from boolcomp.program.program import Program, family_of

if TYPE_CHECKING:
    from boolcomp.logic.network import Network

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
