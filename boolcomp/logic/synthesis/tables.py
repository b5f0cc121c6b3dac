"""Small truth tables as networks: several starts, each improved, the best kept and stored.

The starts are decision diagrams in several orders of the inputs and, with high effort, what scripts
of ABC make of the table; `resub` improves each. Every result is compared with its table at all
input words. A store keeps results by the content of the table and the recipe.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, get_args

from boolcomp.base.store import keep
from boolcomp.common.errors import DataError, UsageError, listing, suggestion
from boolcomp.common.places import find
from boolcomp.common.workers import ALONE
from boolcomp.logic.equivalence import matches
from boolcomp.logic.networktext import parse_network, render_network
from boolcomp.logic.synthesis import abc
from boolcomp.logic.synthesis.abctables import abc_networks
from boolcomp.logic.synthesis.builtin.diagram import diagram_networks
from boolcomp.logic.synthesis.builtin.resub import LevelLimits, fits, resubstitute
from boolcomp.logic.synthesis.measure import OBJECTIVES, Objective, measure
from boolcomp.logic.synthesis.resub import improve_windows
from boolcomp.logic.truthtable import digest
from boolcomp.twolevel.clock import Clock

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from boolcomp.common.places import Entry
    from boolcomp.common.workers import Workers
    from boolcomp.logic.network import Network
    from boolcomp.logic.truthtable import TruthTable

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
