"""Whole networks, improved for as long as one likes: scripts of ABC and our own windows in turn.

Every step is compared with the network before it; only what is equivalent and no worse is kept, so
the result may be taken at any time. What a step could not do is a note, never an exception.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.base.errors import UsageError, listing, suggestion
from boolcomp.logic import formats
from boolcomp.logic.equivalence import equivalent
from boolcomp.logic.synthesis import abc
from boolcomp.logic.synthesis.abc import read
from boolcomp.logic.synthesis.resub import (
    LevelLimits,
    bypassed,
    fits,
    improve_windows,
    resubstitute,
)
from boolcomp.logic.synthesis.tables import OBJECTIVES, Objective, measure
from boolcomp.twolevel.cubes import Clock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from boolcomp.logic.network import Network

    Change = Callable[[Network, Clock], Network | str]
    Report = Callable[["Step"], None] | None

MAP = ("if -K 3 -a", "mfs2 -a -e")
SCRIPTS: dict[str, tuple[str, ...]] = {
    "map": ("strash", *MAP),
    "mfs": ("mfs2 -a -e -W 4 -M 500",),
    "resyn": ("strash", "resyn2", "dch", "compress2rs", *MAP),
    "dch": ("strash", "dch", *MAP, "strash", "dch", *MAP),
    "depth": ("strash", "dch -f", "if -K 3", "mfs2 -e"),
}
QUICK = ("map", "mfs", "depth")  # those that take less than a second
BOTH = ("mfs",)  # keeps levels: of use whatever is to be small
BYPASSES = 4  # times at the beginning, in turn with what ABC maps
LEAVES = (10, 12, 9, 11)  # of windows, in turn
SMALL_SWEEPS = 20
CHECK_SECONDS = 60.0
SMALL_INPUTS = 10


@dataclass(frozen=True, slots=True)
class Step:
    """One pass: its name, the nodes and the depth after it, and what became of it."""

    name: str
    nodes: int
    depth: int
    note: str


@dataclass(frozen=True, slots=True)
class Optimised:
    """The best network found and the steps that were taken."""

    network: Network
    steps: tuple[Step, ...]


def optimise(
    network: Network,
    deadline: float | None = 60.0,
    objective: Objective = "nodes",
    *,
    rounds: int = 8,
    quick: bool = False,
    use_abc: bool = True,
    keep_depth: bool = True,
    seed: int = 1,
    report: Report = None,
) -> Optimised:
    """Improve a network until a round gains nothing, `rounds` are done, or time is up.

    Equivalent for certain. With `keep_depth` it never gets deeper. The same input gives the same
    result unless the deadline ends it. A `quick` round leaves out what takes long. `report` is told
    of every step.
    """
    if objective not in OBJECTIVES:
        hint = suggestion(objective, OBJECTIVES)
        raise UsageError(f"objective {objective!r}{hint}: one of {listing(OBJECTIVES)}")
    clock = Clock(deadline)
    run = _Improvement(network, objective, clock, keep_depth=keep_depth)
    tool = abc.find() if use_abc else None
    if use_abc and tool is None:
        run.note("ABC", abc.MISSING.note, report)
    for turn in range(rounds):
        before = run.cost
        for one in _passes(turn, seed, tool, objective, keep_depth=keep_depth, quick=quick):
            if clock.over:
                break
            if one.name not in run.useless:
                run.step(one, report)
        if clock.over or run.cost == before:
            break
    return Optimised(run.best, tuple(run.steps))


@dataclass(frozen=True, slots=True)
class _Pass:
    """A pass: what it returns is a network, or why there is none.

    One that is `exact` has compared every change with what it replaced, at all values. One that is
    not `steady` is not tried again once it has changed nothing.
    """

    name: str
    change: Change
    exact: bool = False
    steady: bool = True


def _passes(
    turn: int,
    seed: int,
    tool: abc.Tool | None,
    objective: Objective,
    *,
    keep_depth: bool,
    quick: bool,
) -> Iterator[_Pass]:
    """Yield the passes of a round."""
    number = 1000 * seed + 2 * turn

    def scripted(script: tuple[str, ...]) -> Change:
        return lambda network, clock: by_script(tool, script, network, clock.left)

    def windowed(leaves: int, number: int) -> Change:
        return lambda network, clock: improve_windows(
            network, clock, leaves=leaves, seed=number, keep_depth=keep_depth
        )

    def small(network: Network, clock: Clock) -> Network | str:
        if not fits(network) or network.inputs > SMALL_INPUTS:
            return "too large for complete truth tables"
        timing = LevelLimits.of_depth(network, 0 if keep_depth else None)
        return resubstitute(network, clock, sweeps=SMALL_SWEEPS, seed=number, timing=timing)

    for _ in range(BYPASSES if objective == "depth" and not turn else 0):
        yield _Pass("bypass", bypassed, steady=False)
        if tool is not None:
            yield _Pass("ABC depth", scripted(SCRIPTS["depth"]))
    scripts = BOTH if objective == "depth" else [name for name in SCRIPTS if name != "depth"]
    for name in scripts if tool is not None else ():
        if name in QUICK or not quick:
            yield _Pass(f"ABC {name}", scripted(SCRIPTS[name]))
    yield _Pass("resub", small, exact=True)
    for k in range(1 if quick else 2):
        leaves = LEAVES[(2 * turn + k) % len(LEAVES)]
        yield _Pass(f"windows of {leaves}", windowed(leaves, number + k), exact=True)


def by_script(
    tool: abc.Tool | None, script: tuple[str, ...], network: Network, deadline: float
) -> Network | str:
    """Return what a script of ABC makes of a network (unverified), or why it made nothing."""
    if not network.nodes:
        return network
    commands = ["read_blif a.blif", *script, "write_blif b.blif"]
    files = {"a.blif": formats.render(network)}
    outcome = abc.run(tool, commands, files, ["b.blif"], deadline=deadline)
    if not outcome.done:
        return outcome.note
    made = read(outcome.files.get("b.blif"), network)
    return "ABC wrote nodes of more than three inputs" if made is None else made


class _Improvement:
    """The best network so far."""

    def __init__(
        self, network: Network, objective: Objective, clock: Clock, *, keep_depth: bool
    ) -> None:
        cleaned = formats.clean(network)
        self.best = min(network, cleaned, key=lambda n: measure(n, objective))
        self.objective, self.clock = objective, clock
        self.most = network.depth if keep_depth else 1 << 30
        self.cost = measure(self.best, objective)
        self.steps: list[Step] = []
        self.useless: set[str] = set()  # passes that are not tried again

    def note(self, name: str, text: str, report: Report) -> None:
        """Write a step down."""
        self.steps.append(Step(name, len(self.best.nodes), self.best.depth, text))
        if report is not None:
            report(self.steps[-1])

    def step(self, one: _Pass, report: Report) -> None:
        """Run a pass and keep its result if it is equivalent and no worse."""
        made = one.change(self.best, self.clock)
        self.note(one.name, self._judged(one, made), report)

    def _judged(self, one: _Pass, made: Network | str) -> str:
        if isinstance(made, str):
            self.useless.add(one.name)
            return made
        cost = measure(made, self.objective)
        if made == self.best:
            if not one.steady:
                self.useless.add(one.name)
            return "no change"
        if cost > self.cost or made.depth > self.most:
            self.useless.add(one.name)
            return f"worse: {len(made.nodes)} nodes, depth {made.depth}"
        verdict = equivalent(self.best, made, deadline=CHECK_SECONDS)
        if not (verdict.holds or (one.exact and verdict.verdict == "unknown")):
            return f"not taken: {verdict}"
        kept = "better" if cost < self.cost else "as good"
        self.best, self.cost = made, cost
        proof = str(verdict) if verdict.holds else "equivalent part by part"
        return f"{kept}, {proof}"
