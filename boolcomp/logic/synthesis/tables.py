"""Small truth tables as networks: several starts, each improved, the best kept and stored.

The starts are decision diagrams in several orders of the inputs and, with high effort, what scripts
of ABC make of the table; `resub` improves each. Every result is compared with its table at all
input words. A store keeps results by the content of the table and the recipe.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from boolcomp.base.errors import DataError, UsageError, listing, suggestion
from boolcomp.base.store import find, keep
from boolcomp.base.workers import ALONE
from boolcomp.logic import network as luts
from boolcomp.logic.equivalence import matches
from boolcomp.logic.network import Builder, Network, parse_network, render_network
from boolcomp.logic.simulation import digest
from boolcomp.logic.synthesis import abc
from boolcomp.logic.synthesis.abc import abc_networks, cones
from boolcomp.logic.synthesis.resub import LevelLimits, fits, improve_windows, resubstitute
from boolcomp.twolevel.cubes import Clock

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from boolcomp.base.store import Entry
    from boolcomp.base.workers import Workers
    from boolcomp.logic.simulation import TruthTable


# --------------------------------------------------------------------------------------------------
# Truth tables as decision diagrams, one multiplexer a node, in the best of several orders.
#
# All outputs share one diagram; a function and its complement are one node; a part that depends on
# the last three inputs alone is one node too. Don't-cares are spent on the way: where the two
# halves of a part can be equal, or each other's complement, they are made so.
# --------------------------------------------------------------------------------------------------


MUX = luts.FIRST & luts.SECOND | ~luts.FIRST & luts.THIRD & luts.ALL  # a ? b : c
_LAST = 3


def diagram_networks(table: TruthTable, tries: int = 24) -> list[Network]:
    """Return the networks of the orders that were tried and differ, the smallest first."""
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
    """Yield the orders in which one input has moved: first to the ends, then a place."""
    for k in range(len(order)):
        rest = order[:k] + order[k + 1 :]
        places = (0, len(rest), k + 1, k - 1)
        for place in places:
            if 0 <= place <= len(rest) and place != k:
                yield (*rest[:place], order[k], *rest[place:])


class _Planes:
    """The columns of a table, their inputs to be put in any order."""

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
    """Return a plane that agrees with `on` outside `free`; its two halves alike if they can be."""
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
    """Makes the nodes of planes, each once."""

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
        return self.builder.node(MUX, top, a, b)

    def _last(self, plane: int, level: int) -> int:
        """Return the literal of a plane over the last three inputs or fewer."""
        rest = self.literals[level:]
        repeat = 1 << (_LAST - len(rest))  # a function of the first operands, as in `luts`
        lut = 0
        for row in range(8):
            lut |= (plane >> (row // repeat) & 1) << row
        return self.builder.node(lut, *rest)


# --------------------------------------------------------------------------------------------------
# What a network costs: nodes, depth, or an estimate of 6-input look-up tables.
# --------------------------------------------------------------------------------------------------


Objective = Literal["nodes", "depth", "lut6"]
OBJECTIVES: tuple[Objective, ...] = get_args(Objective)


def measure(network: Network, objective: Objective) -> tuple[int, int, int]:
    """Return what is to be small, most important first; ties go to nodes, then to depth."""
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
# Small truth tables as networks: several starts, each improved, the best kept and stored.
# --------------------------------------------------------------------------------------------------


Effort = Literal["quick", "normal", "high"]
EFFORTS: tuple[Effort, ...] = get_args(Effort)
MOST_INPUTS = 12
TITLE = "boolcomp network, format 1"


@dataclass(frozen=True, slots=True)
class _Plan:
    """What an effort means: orders tried, diagrams and seeds improved, sweeps on each."""

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
    """How tables are synthesised.

    `objective` is what is made small; `slack` is how much deeper than the start, a decision
    diagram, a network may get (None: any depth; with the objective "depth" it is 0).
    """

    objective: Objective = "nodes"
    effort: Effort = "normal"
    slack: int | None = 3
    seed: int = 1
    use_abc: bool = True

    def __post_init__(self) -> None:
        for name, allowed in (("objective", OBJECTIVES), ("effort", EFFORTS)):
            value = getattr(self, name)
            if value not in allowed:
                hint = suggestion(value, allowed)
                raise UsageError(f"{name} {value!r}{hint}: one of {listing(allowed)}")
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
    """A network that agrees with its table, the start it came from, and what went wrong."""

    network: Network
    method: str
    note: str = ""


def synthesise(
    table: TruthTable, recipe: SynthesisRecipe | None = None, folder: Path | None = None
) -> Synthesis:
    """Return the best network found for a table; read from and kept in a folder, if one is given.

    Unless ABC is used it depends on table and recipe alone.
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
    """Synthesise tables; equal ones are made once, and one process of ABC serves many.

    After `deadline` seconds what is left gets the least effort, and is not stored: a clock is here
    alone, so workers are asked only where there is none.
    """
    recipe = recipe or SynthesisRecipe()
    clock = Clock(deadline)
    for table in tables:
        if table.inputs > MOST_INPUTS:
            raise UsageError(f"a table of {table.inputs} inputs: at most {MOST_INPUTS} here")
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
    return abc_networks(abc.find(), starts, min(clock.left, 60.0 + len(tables)))


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
    most = None if slack is None else min(d.depth for d in diagrams) + slack
    starts = [("diagram", network) for network in diagrams[: plan.diagrams]]
    kept = [(name, n) for name, n in extra if most is None or n.depth <= most]
    candidates = [*starts, *kept]
    for name, start in [*starts, *sorted(kept, key=lambda pair: len(pair[1].nodes))[:1]]:
        timing = LevelLimits.of_depth(start, most)
        for turn in range(plan.seeds):
            seed = 1000 * recipe.seed + turn
            if not fits(start):
                better = improve_windows(start, clock, seed=seed, keep_depth=most is not None)
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
    """Return a stored network that agrees with its table."""
    lines = text.split("\n")
    head = [line[2:] for line in lines if line.startswith("# ")]
    network = parse_network("\n".join(lines[len(head) :]), str(path))
    if head[:1] != [TITLE] or not matches(network, table).holds:
        raise DataError("not a network of this table")
    fields = dict(line.partition(": ")[::2] for line in head[1:])
    return Synthesis(network, fields.get("method", ""), fields.get("note", ""))


# --------------------------------------------------------------------------------------------------
# Run the compiled loops once on something tiny, so that deadlines need not count compiling.
# --------------------------------------------------------------------------------------------------


def warm() -> None:
    """Compile or load the loops of `resub`."""
    builder = Builder(3)
    inputs = [builder.input(k) for k in range(3)]
    both = builder.node(luts.AND2, inputs[0], inputs[1])
    network = builder.build([builder.node(luts.XOR2, both, inputs[2]), both])
    resubstitute(network, Clock(), sweeps=1)
