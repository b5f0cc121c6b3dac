"""A network as look-up tables of four to six inputs: by ABC, else by cones of our own.

ABC's mapper, its resubstitution and its SAT-based windows (`satlut`) find about a fifth fewer
tables than its mapper alone. Whatever it writes is read back and proved equivalent to the
network; what is not proved is not taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from boolcomp.common.errors import BoolcompError, UsageError
from boolcomp.logic import formats
from boolcomp.logic.equivalence import MOST_EXHAUSTIVE, RANDOM_WORDS, SEED, equivalent
from boolcomp.logic.lutblif import parse_luts
from boolcomp.logic.lutnetwork import MOST_INPUTS, LutNetwork
from boolcomp.logic.simulation import Planes, random_planes
from boolcomp.logic.synthesis import abc
from boolcomp.logic.synthesis.cones import cone_luts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from boolcomp.logic.network import Network

Goal = Literal["area", "depth"]
ABC, CONES = "ABC, proved equivalent", "cones of nodes, equivalent by construction"
GOALS: tuple[Goal, ...] = get_args(Goal)
LEAST_INPUTS = 3
SECONDS = 600.0  # a mapping takes 1 (2R) to 20 (PUMA 560); what is cut off depends on the machine
# Restructured for delay (`if -g`) a network has fewer levels and more tables: stages may want it.
_STARTS: dict[Goal, tuple[str, ...]] = {
    "area": ("strash; dch",),
    "depth": ("strash; dch", "strash; if -g -K 6; strash; dch -f"),
}
_SAT = "&get -mn; &satlut{depth} -N {window} -C 2000 -I 10000; &put"
_WINDOWS = (48, 100)  # nodes in a window of the SAT solver, run by run


@dataclass(frozen=True, slots=True)
class MappedTables:
    """A network's tables, by what they were found, and what went wrong on the way."""

    luts: LutNetwork
    method: str
    note: str = ""


def mapped(
    network: Network,
    inputs: int,
    goal: Goal = "area",
    deadline: float = SECONDS,
    stages: int = 1,
    *,
    quick: bool = False,
) -> MappedTables:
    """Return look-up tables of at most so many inputs that are proved to be the network.

    The goal "area" is few tables; "depth" few tables among those whose deepest of so many stages
    is least deep, which is what a pipeline wants. `quick` leaves out large SAT-based windows, which
    take most of the time.
    """
    if not LEAST_INPUTS <= inputs <= MOST_INPUTS:
        raise UsageError(f"tables have {LEAST_INPUTS} to {MOST_INPUTS} inputs, not {inputs}")
    own = MappedTables(cone_luts(network, inputs), CONES)
    if not network.nodes:
        return own
    best, note = own, ""
    tool = abc.find()
    if tool is None:
        return MappedTables(own.luts, own.method, abc.MISSING.note)
    given = {"a.blif": formats.render(network)}
    candidates = [own]
    for start in _STARTS[goal]:
        commands, files = _script(start, inputs, goal, _WINDOWS[:1] if quick else _WINDOWS)
        outcome = abc.run(tool, commands, given, files, deadline=deadline)
        note = outcome.note or note
        candidates += _read(outcome, network)
    candidates.sort(key=lambda one: _cost(one.luts, goal, stages))  # stable: the first of equals
    for best in candidates:
        if best is own:
            return MappedTables(best.luts, best.method, note)
        if _proved(tool, network, best.luts, deadline):
            return MappedTables(best.luts, best.method, note)
        note = "what ABC made was not taken: it is not proved to be the network"
    return own


def _proved(tool: abc.Tool, network: Network, luts: LutNetwork, deadline: float) -> bool:
    """Tell whether tables are the network: random words by our own simulation, then ABC's `cec`.

    What is proved is what we read, written anew, not what ABC had in memory. Our own sweeping
    takes ten times as long here; networks of few inputs are compared at all words instead.
    """
    made = luts.network()
    if network.inputs <= MOST_EXHAUSTIVE:
        return equivalent(network, made).holds
    words = random_planes(network.inputs, RANDOM_WORDS, SEED)
    planes = Planes(~words[0] | words[0])
    pairs = zip(network.fold(planes, words), made.fold(planes, words), strict=True)
    if any((x != y).any() for x, y in pairs):
        return False
    outputs = [f"o{k}" for k in range(len(network.outputs))]
    inputs = [f"i{k}" for k in range(network.inputs)]
    files = {
        "a.blif": formats.render(network),
        "b.blif": formats.render_logic(luts, "network", inputs, outputs),
    }
    outcome = abc.run(tool, ["cec a.blif b.blif"], files, (), deadline=deadline)
    return outcome.done and "Networks are equivalent" in outcome.printed


def _script(
    start: str, inputs: int, goal: Goal, windows: Sequence[int]
) -> tuple[list[str], list[str]]:
    """Return commands, and the files that they leave one after the other."""
    fewest = " -a" if goal == "area" else ""
    depth = "" if goal == "area" else " -d"
    commands = ["read_blif a.blif", *start.split("; "), f"if -K {inputs}{fewest}"]
    steps = [f"mfs2{fewest} -e"]
    for turn, window in enumerate(windows):
        steps += [f"mfs2{fewest} -e"] * bool(turn)
        steps.append(_SAT.format(depth=depth, window=window))
    files = [f"made{k}.blif" for k in range(len(steps))]
    for step, file in zip(steps, files, strict=True):
        commands += [step, f"write_blif {file}"]
    return commands, files


def _read(outcome: abc.Outcome, network: Network) -> Iterator[MappedTables]:
    """Yield what ABC wrote as far as it can be read; the last file may be cut off."""
    for file, text in reversed(list(outcome.files.items())):
        try:
            luts = parse_luts(text, file)
        except BoolcompError:
            continue
        if (luts.inputs, len(luts.outputs)) == (network.inputs, len(network.outputs)):
            yield MappedTables(luts, ABC)


def _cost(luts: LutNetwork, goal: Goal, stages: int) -> tuple[int, int]:
    size, depth = len(luts.nodes), luts.depth
    return (size, depth) if goal == "area" else (-(-depth // stages), size)
