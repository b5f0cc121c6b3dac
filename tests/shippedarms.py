"""Results that ship, and small graphs made with no effort, of which several tests hold bounds."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from limited import with_ranges

from boolcomp.base import ALONE
from boolcomp.compact import Built, Compact, CompactChoices, WordEnds, usual_demand
from boolcomp.pipeline import COMPACT, compile_compact, problems_of, run
from boolcomp.problem import Problem, Robot, parse_function

CURVED = """\
name = "curved"
[inputs.x]
range = [0.25, 1]
[inputs.q]
angle = true
range = [-0.75, 0.75]
[outputs.y]
expression = "sqrt(x) * cos(q) + exp(0.3 * x) - tanh(2 * sin(q)) + x * x"
"""


@cache
def built_of(name: str, bits: int = 8) -> Built:
    """Return a result that ships, with a plain bound."""
    demand = usual_demand(bits)
    if name != "machado-2r":
        demand = replace(demand, rms=(0.505,))
    return compile_compact(name, CompactChoices(demand, proof="plain")).built[0]


def shipped(name: str) -> tuple[Compact, WordEnds]:
    """Return the graph of a result that ships, and what is done to its outputs."""
    built = built_of(name)
    return built.compact, built.ends


def made(
    source: str | Robot | Problem, folder: Path, bits: int, rms: tuple[float, ...] = (), **load: Any
) -> tuple[Compact, WordEnds]:
    """Return a small graph, made with no effort; no network is made of it."""
    demand = replace(usual_demand(bits), effort=0.0, rms=rms)
    choices = CompactChoices(demand, folder, also_shipped=False, workers=ALONE)
    _, compact = run(COMPACT, problems_of(source, **load), [choices], "graph")[0]
    return compact, WordEnds()


def made_by_name(name: str, folder: Path) -> tuple[Compact, WordEnds]:
    """Return a small graph of the paper's arm with "stops", or of a "curved" function."""
    if name == "stops":
        return made(with_ranges("machado-2r", q1=(0.3, 1.4), q2=(-2.9, -1.9)), folder, 5)
    return made(parse_function(CURVED), folder, 5)
