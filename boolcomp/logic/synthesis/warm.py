"""Run the compiled loops once on something tiny, so that deadlines need not count compiling."""

from __future__ import annotations

from boolcomp.logic import luts
from boolcomp.logic.network import Builder
from boolcomp.logic.synthesis.builtin.resub import resubstitute
from boolcomp.twolevel.clock import Clock


def warm() -> None:
    """Compile or load the loops of `resub`."""
    builder = Builder(3)
    inputs = [builder.input(k) for k in range(3)]
    both = builder.node(luts.AND2, inputs[0], inputs[1])
    network = builder.build([builder.node(luts.XOR2, both, inputs[2]), both])
    resubstitute(network, Clock(), sweeps=1)
