"""Small networks for truth tables, and improvement of whole networks; the best are stored.

Tables start from decision diagrams in several input orders and, at high effort, from scripts of
ABC; `resub` improves each start. Every result is compared with its table for all input words. The
store is keyed by the content of the table and the recipe. Steps on whole networks are kept only if
the result is equivalent and no worse; failures of a step become notes, not exceptions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from boolcomp.base.errors import DataError, UsageError, require_name
from boolcomp.base.store import find, keep
from boolcomp.base.workers import ALONE
from boolcomp.logic import formats, lutmapping
from boolcomp.logic import network as luts
from boolcomp.logic.equivalence import equivalent, matches
from boolcomp.logic.lutmapping import abc_networks, cones, read
from boolcomp.logic.network import Builder, Network, parse_network, render_network
from boolcomp.logic.resub import (
    LevelLimits,
    bypassed,
    fits,
    improve_windows,
    resubstitute,
)
from boolcomp.logic.simulation import digest
from boolcomp.twolevel.cubes import Clock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from boolcomp.base.store import Entry
    from boolcomp.base.workers import Workers
    from boolcomp.logic.simulation import TruthTable

    Change = Callable[[Network, Clock], Network | str]
    Report = Callable[["SynthesisStep"], None] | None

# --------------------------------------------------------------------------------------------------
# Truth tables as decision diagrams, one multiplexer per node, in the best of several orders. All
# outputs share one diagram; a function and its complement share a node; a function of the last
# three inputs alone is one node. Don't-cares make the two halves of a function equal or
# complementary where they can.
# --------------------------------------------------------------------------------------------------

_LAST = 3


def diagram_networks(table: TruthTable, tries: int = 24) -> list[Network]:
    """Return the distinct networks of the orders tried, the smallest first."""
    source = _Planes(table)
    found: dict[tuple[int, ...], Network] = {}

    def cost(order: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
        if order not in found and len(found) < tries:
            found[order] = source.network(order)
        network = found.get(order)
        return (len(network.nodes) if network else 1 << 62), order

    same = tuple(range(table.inputs))
    best = min(same, same[::-1], key=cost)
    improved = True
    while improved and len(found) < tries:
        better = min(_neighbours(best), key=cost, default=best)
        improved = cost(better) < cost(best)
        best = min(best, better, key=cost)
    ranked = sorted(found, key=cost)
    return list(dict.fromkeys(found[order] for order in ranked))


def _neighbours(order: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield the orders in which one input has moved: to the ends, or by one place."""
    for k in range(len(order)):
        rest = order[:k] + order[k + 1 :]
        places = (0, len(rest), k + 1, k - 1)
        for place in places:
            if 0 <= place <= len(rest) and place != k:
                yield (*rest[:place], order[k], *rest[place:])


class _Planes:
    """The columns of a table, for any order of inputs."""

    def __init__(self, table: TruthTable) -> None:
        self.inputs = table.inputs
        columns = [*table.columns, *table.free]
        bits = [np.unpackbits(np.frombuffer(c.tobytes(), np.uint8)) for c in columns]
        rows = 1 << table.inputs
        self.cubes = [b[:rows].reshape((2,) * table.inputs) for b in bits]
        if any(c.endian != "big" for c in columns):
            raise ValueError("the columns of a truth table are big-endian")
        self.outputs = table.outputs

    def network(self, order: Sequence[int]) -> Network:
        """Return the network of the diagram in an order, the first input at its top."""
        planes = [self._plane(cube, order) for cube in self.cubes]
        if len(planes) > self.outputs:
            pairs = zip(planes[: self.outputs], planes[self.outputs :], strict=True)
            planes = [filled(on & ~free, free, self.inputs) for on, free in pairs]
        diagram = _Diagram(self.inputs, order)
        return diagram.builder.build(diagram.literal(plane, 0) for plane in planes)

    def _plane(self, cube: np.ndarray, order: Sequence[int]) -> int:
        turned = np.ascontiguousarray(cube.transpose(order)).ravel()
        return int.from_bytes(np.packbits(turned, bitorder="little").tobytes(), "little")


def filled(on: int, free: int, inputs: int) -> int:
    """Return a plane that is `on` outside `free`, its halves equal or complementary if possible."""
    if not free:
        return on
    if not inputs:
        return 0
    half = 1 << (inputs - 1)
    mask = (1 << half) - 1
    low, high = on & mask, on >> half
    low_free, high_free = free & mask, free >> half
    both, known = low_free & high_free, mask & ~(low_free | high_free)
    if not (low ^ high) & known:
        part = filled(low | high, both, inputs - 1)
        return part << half | part
    if not ~(low ^ high) & known:
        part = filled(low | (high ^ mask) & ~high_free, both, inputs - 1)
        return (part ^ mask) << half | part
    return filled(high, high_free, inputs - 1) << half | filled(low, low_free, inputs - 1)


class _Diagram:
    """Makes the nodes of planes; equal ones are shared."""

    def __init__(self, inputs: int, order: Sequence[int]) -> None:
        self.inputs = inputs
        self.builder = Builder(inputs)
        self.literals = [self.builder.input(k) for k in order]
        self.known: dict[tuple[int, int], int] = {}

    def literal(self, plane: int, level: int) -> int:
        """Return the literal of a plane over the inputs from a level on."""
        width = 1 << (self.inputs - level)
        everything = (1 << width) - 1
        inverse = plane & 1
        if inverse:
            plane ^= everything
        key = (plane, level)
        if key not in self.known:
            self.known[key] = self._made(plane, level, width)
        return self.known[key] ^ inverse

    def _made(self, plane: int, level: int, width: int) -> int:
        if self.inputs - level <= _LAST:
            return self._last(plane, level)
        half = width // 2
        low, high = plane & ((1 << half) - 1), plane >> half
        if low == high:
            return self.literal(low, level + 1)
        top = self.literals[level]
        a, b = self.literal(high, level + 1), self.literal(low, level + 1)
        if a ^ b == 1:
            return self.builder.node(luts.XOR2, top, b)
        return self.builder.node(luts.MUX, top, a, b)

    def _last(self, plane: int, level: int) -> int:
        """Return the literal of a plane over the last three inputs or fewer."""
        rest = self.literals[level:]
        repeat = 1 << (_LAST - len(rest))  # a function of the first operands
        lut = 0
        for row in range(8):
            lut |= (plane >> (row // repeat) & 1) << row
        return self.builder.node(lut, *rest)


# --------------------------------------------------------------------------------------------------
# The cost of a network: nodes, depth, or an estimate of 6-input look-up tables.
# --------------------------------------------------------------------------------------------------

Objective = Literal["nodes", "depth", "lut6"]
OBJECTIVES: tuple[Objective, ...] = get_args(Objective)


def measure(network: Network, objective: Objective) -> tuple[int, int, int]:
    """Return the cost of a network; ties are broken by nodes, then by depth."""
    nodes, depth = len(network.nodes), network.depth
    if objective == "depth":
        return depth, nodes, 0
    if objective == "lut6":
        return lut6_count(network), nodes, depth
    return nodes, depth, 0


def lut6_count(network: Network) -> int:
    """Return how many 6-input tables hold a network when nodes absorb those only they read.

    An upper bound on what a mapper finds.
    """
    return len(cones(network, 6))


# --------------------------------------------------------------------------------------------------
# Small truth tables as networks: several starts, each improved, the best stored.
# --------------------------------------------------------------------------------------------------

Effort = Literal["quick", "normal", "high"]
EFFORTS: tuple[Effort, ...] = get_args(Effort)
MOST_INPUTS = 12
TITLE = "boolcomp network, format 1"


@dataclass(frozen=True, slots=True)
class _Plan:
    """The parameters of an effort: orders tried, diagrams and seeds improved, sweeps on each."""

    tries: int
    diagrams: int
    seeds: int
    sweeps: int
    stale: int
    abc: bool


_PLANS = {
    "quick": _Plan(8, 1, 1, 6, 2, abc=False),
    "normal": _Plan(24, 2, 2, 40, 6, abc=False),
    "high": _Plan(48, 3, 4, 300, 40, abc=True),
}


@dataclass(frozen=True, slots=True)
class SynthesisRecipe:
    """The options of a synthesis.

    `objective` is minimised; `slack` is the allowed depth beyond that of the start, a decision
    diagram (None: any depth; 0 with the objective "depth").
    """

    objective: Objective = "nodes"
    effort: Effort = "normal"
    slack: int | None = 3
    seed: int = 1
    use_abc: bool = True

    def __post_init__(self) -> None:
        for name, allowed in (("objective", OBJECTIVES), ("effort", EFFORTS)):
            require_name(name, getattr(self, name), allowed)
        if self.slack is not None and self.slack < 0:
            raise UsageError(f"slack is a number of levels, not {self.slack}")

    @property
    def key(self) -> str:
        """The recipe as part of a file's name."""
        slack = "any" if self.slack is None else self.slack
        abc_too = "-abc" if self.use_abc and _PLANS[self.effort].abc else ""
        return f"{self.objective}-{self.effort}-{slack}-{self.seed}{abc_too}"


@dataclass(frozen=True, slots=True)
class Synthesis:
    """A network that agrees with its table, the start it came from, and a note on failures."""

    network: Network
    method: str
    note: str = ""


def synthesise(
    table: TruthTable, recipe: SynthesisRecipe | None = None, folder: Path | None = None
) -> Synthesis:
    """Return the best network found for a table; `folder` is a cache of results.

    The result depends on table and recipe alone unless ABC is used.
    """
    return synthesise_all([table], recipe, folder)[0]


def synthesise_all(
    tables: Sequence[TruthTable],
    recipe: SynthesisRecipe | None = None,
    folder: Path | None = None,
    *,
    deadline: float | None = None,
    workers: Workers = ALONE,
) -> tuple[Synthesis, ...]:
    """Synthesise distinct tables, with one process of ABC for all.

    After `deadline` seconds the remaining tables get the least effort and are not stored. With a
    deadline there is only one worker, as clocks are not shared.
    """
    recipe = recipe or SynthesisRecipe()
    clock = Clock(deadline)
    for table in tables:
        if table.inputs > MOST_INPUTS:
            raise UsageError(
                f"a table has {table.inputs} inputs", f"at most {MOST_INPUTS} are allowed"
            )
    distinct = {digest(table): table for table in tables}
    found: dict[str, Synthesis] = {}
    if folder is not None:
        for name, table in distinct.items():
            for stored in find([folder], f"{name}.{recipe.key}.net", partial(_read, table=table)):
                found[name] = stored
    missing = {name: table for name, table in distinct.items() if name not in found}
    extra, note = _abc_starts(list(missing.values()), recipe, clock)
    names, chosen = list(missing), workers if deadline is None else ALONE
    calls = [
        (missing[name], recipe, starts, note, clock)
        for name, starts in zip(names, extra, strict=True)
    ]
    for k, made in chosen.completed(_made, calls):
        found[names[k]] = made
        if folder is not None and not clock.over:
            text = _text(names[k], recipe, made)
            keep(folder / f"{names[k]}.{recipe.key}.net", text, durable=False)
    return tuple(found[digest(table)] for table in tables)


def _abc_starts(
    tables: list[TruthTable], recipe: SynthesisRecipe, clock: Clock
) -> tuple[list[list[tuple[str, Network]]], str]:
    if not (tables and recipe.use_abc and _PLANS[recipe.effort].abc):
        return [[] for _ in tables], ""
    starts = [diagram_networks(table, 8)[0] for table in tables]
    return abc_networks(lutmapping.find(), starts, min(clock.left, 60.0 + len(tables)))


def _made(
    table: TruthTable,
    recipe: SynthesisRecipe,
    extra: list[tuple[str, Network]],
    note: str,
    clock: Clock,
) -> Synthesis:
    plan = _PLANS["quick" if clock.over else recipe.effort]
    diagrams = diagram_networks(table, plan.tries)
    slack = 0 if recipe.objective == "depth" else recipe.slack
    limit = None if slack is None else min(d.depth for d in diagrams) + slack
    starts = [("diagram", network) for network in diagrams[: plan.diagrams]]
    kept = [(name, n) for name, n in extra if limit is None or n.depth <= limit]
    candidates = [*starts, *kept]
    for name, start in [*starts, *sorted(kept, key=lambda pair: len(pair[1].nodes))[:1]]:
        timing = LevelLimits.of_depth(start, limit)
        for turn in range(plan.seeds):
            seed = 1000 * recipe.seed + turn
            if not fits(start):
                better = improve_windows(start, clock, seed=seed, keep_depth=limit is not None)
                candidates.append((f"{name} and windows", better))
                continue
            better = resubstitute(
                start, clock, table=table, sweeps=plan.sweeps, stale=plan.stale, seed=seed,
                timing=timing,
            )  # fmt: skip
            candidates.append((f"{name} and resub", better))
    good = [(name, network) for name, network in candidates if matches(network, table).holds]
    if len(good) < len(candidates):
        note = "; ".join(filter(None, [note, f"{len(candidates) - len(good)} results were wrong"]))
    method, best = min(good, key=lambda pair: measure(pair[1], recipe.objective))
    return Synthesis(best, method, note)


def _text(name: str, recipe: SynthesisRecipe, made: Synthesis) -> str:
    lines = [TITLE, f"table: {name}", f"recipe: {recipe.key}", f"method: {made.method}"]
    lines.append(f"note: {made.note}".rstrip())
    return "".join(f"# {line}\n" for line in lines) + render_network(made.network)


def _read(path: Entry, text: str, table: TruthTable) -> Synthesis:
    """Return a stored network, verified against its table."""
    lines = text.split("\n")
    head = [line[2:] for line in lines if line.startswith("# ")]
    network = parse_network("\n".join(lines[len(head) :]), str(path))
    if head[:1] != [TITLE] or not matches(network, table).holds:
        raise DataError("not a network of this table")
    fields = dict(line.partition(": ")[::2] for line in head[1:])
    return Synthesis(network, fields.get("method", ""), fields.get("note", ""))


def warm() -> None:
    """Compile or load the loops of resubstitution (`make` does, before tests are timed)."""
    builder = Builder(3)
    inputs = [builder.input(k) for k in range(3)]
    both = builder.node(luts.AND2, inputs[0], inputs[1])
    network = builder.build([builder.node(luts.XOR2, both, inputs[2]), both])
    resubstitute(network, Clock(), sweeps=1)


# --------------------------------------------------------------------------------------------------
# Whole networks, improved until a deadline by scripts of ABC and windows in turn.
# --------------------------------------------------------------------------------------------------

SCRIPTS: dict[str, tuple[str, ...]] = {
    "map": ("strash", *lutmapping.MAP),
    "mfs": ("mfs2 -a -e -W 4 -M 500",),
    "resyn": ("strash", "resyn2", "dch", "compress2rs", *lutmapping.MAP),
    "dch": ("strash", "dch", *lutmapping.MAP, "strash", "dch", *lutmapping.MAP),
    "depth": ("strash", "dch -f", "if -K 3", "mfs2 -e"),
}
QUICK = ("map", "mfs", "depth")  # scripts that take less than a second
BOTH = ("mfs",)  # keeps levels: useful for every objective
BYPASSES = 4  # at the beginning, in turn with ABC
LEAVES = (10, 12, 9, 11)  # of windows, in turn
SMALL_SWEEPS = 20
CHECK_SECONDS = 60.0
SMALL_INPUTS = 10


@dataclass(frozen=True, slots=True)
class SynthesisStep:
    """One pass: its name, the nodes and the depth after it, and its result."""

    name: str
    nodes: int
    depth: int
    note: str


@dataclass(frozen=True, slots=True)
class Finished:
    """A network and the steps that led to it."""

    network: Network
    steps: tuple[SynthesisStep, ...]


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
) -> Finished:
    """Improve a network until a round gains nothing, `rounds` are done, or time is up.

    The result is equivalent, and with `keep_depth` no deeper. It is deterministic unless the
    deadline ends it. A `quick` round omits slow passes. `report` is called with every step.
    """
    require_name("objective", objective, OBJECTIVES)
    clock = Clock(deadline)
    run = _Improvement(network, objective, clock, keep_depth=keep_depth)
    tool = lutmapping.find() if use_abc else None
    if use_abc and tool is None:
        run.note("ABC", lutmapping.MISSING.note, report)
    for turn in range(rounds):
        before = run.cost
        for one in _passes(turn, seed, tool, objective, keep_depth=keep_depth, quick=quick):
            if clock.over:
                break
            if one.name not in run.useless:
                run.step(one, report)
        if clock.over or run.cost == before:
            break
    return Finished(run.best, tuple(run.steps))


@dataclass(frozen=True, slots=True)
class _Pass:
    """A pass, which returns a network or a reason why there is none.

    An `exact` pass compares every change with its original at all values. A pass that is not
    `steady` is not repeated once it has changed nothing.
    """

    name: str
    change: Change
    exact: bool = False
    steady: bool = True


def _passes(
    turn: int,
    seed: int,
    tool: lutmapping.AbcTool | None,
    objective: Objective,
    *,
    keep_depth: bool,
    quick: bool,
) -> Iterator[_Pass]:
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
    tool: lutmapping.AbcTool | None, script: tuple[str, ...], network: Network, deadline: float
) -> Network | str:
    """Return the result of a script of ABC (unverified), or the reason why there is none."""
    if not network.nodes:
        return network
    commands = ["read_blif a.blif", *script, "write_blif b.blif"]
    files = {"a.blif": formats.render(network)}
    outcome = lutmapping.run(tool, commands, files, ["b.blif"], deadline=deadline)
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
        self.depth_limit = network.depth if keep_depth else 1 << 30
        self.cost = measure(self.best, objective)
        self.steps: list[SynthesisStep] = []
        self.useless: set[str] = set()  # passes that are not tried again

    def note(self, name: str, text: str, report: Report) -> None:
        self.steps.append(SynthesisStep(name, len(self.best.nodes), self.best.depth, text))
        if report is not None:
            report(self.steps[-1])

    def step(self, one: _Pass, report: Report) -> None:
        """Run a pass and keep its result if it is equivalent and no worse."""
        made = one.change(self.best, self.clock)
        self.note(one.name, self._accept(one, made), report)

    def _accept(self, one: _Pass, made: Network | str) -> str:
        if isinstance(made, str):
            self.useless.add(one.name)
            return made
        cost = measure(made, self.objective)
        if made == self.best:
            if not one.steady:
                self.useless.add(one.name)
            return "no change"
        if cost > self.cost or made.depth > self.depth_limit:
            self.useless.add(one.name)
            return f"worse: {len(made.nodes)} nodes, depth {made.depth}"
        verdict = equivalent(self.best, made, deadline=CHECK_SECONDS)
        if not (verdict.holds or (one.exact and verdict.verdict == "unknown")):
            return f"rejected: {verdict}"
        kept = "better" if cost < self.cost else "as good"
        self.best, self.cost = made, cost
        proof = str(verdict) if verdict.holds else "equivalent part by part"
        return f"{kept}, {proof}"
