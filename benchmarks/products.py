"""What leaves tables, step by step: products of every term, nodes, and what the program errs by.

    python benchmarks/products.py [ROBOT] [--bits N] [--exact SECONDS] [--store FOLDER]

Paper mode as the paper has it; with faithful rounding; with signs outside of tables; with sums of
angles outside; with all three; with these and a guard bit more, which errs less than the paper's
way.
Every table is minimised by `exact`, which has so many seconds (60) and says how few products
are proved to be needed; where what ships has a smaller cover, that is taken. Equal tables of a step
count once. Nodes have at most three inputs, and are those of the whole program, adders included.
Errors are in LSB of the torque: rms of 10^5 states, the worst that 10^6 evaluations find, and the
bound.

What is checked of every step: that covers make their tables, that the program's words are those of
arithmetic on 10^5 states, that no error there or found is above the bound, and that a value of a
table differs from its term, where sums have their middles, by half a step at most, and by less
than one where it may (all words of terms of up to 20 bits). Anything else ends the run.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.errors import table as aligned
from boolcomp.base.store import shipped_place
from boolcomp.base.workers import ALONE
from boolcomp.paper.covers import (
    CoverStore,
    TermCover,
    cover_words,
    default_store,
    function_of,
    make_covers,
)
from boolcomp.paper.passes import Covered, PaperChoices, program
from boolcomp.paper.plan import Place, PlanOptions
from boolcomp.paper.program import known_errors
from boolcomp.paper.tables import quantised, value_blocks, word_centres
from boolcomp.pipeline import run_passes
from boolcomp.twolevel.function import verify
from boolcomp.twolevel.minimisation import Recipe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.codes import Rounding
    from boolcomp.program.program import Program

STEPS: tuple[tuple[str, Rounding, Place, Place, int], ...] = (
    ("as the paper", "nearest", "inside", "inside", 0),
    ("faithful", "faithful", "inside", "inside", 0),
    ("signs outside", "nearest", "outside", "inside", 0),
    ("sums outside", "nearest", "inside", "outside", 0),
    ("all three", "faithful", "outside", "outside", 0),
    ("all, m + 1", "faithful", "outside", "outside", 1),
)
STATES, SEED = 100_000, 7
LOOKED_AT = 20  # input bits of tables whose entries are compared with their terms


@dataclass(frozen=True)
class Step:
    """What came of one step."""

    name: str
    made: Covered
    program: Program

    @property
    def covers(self) -> dict[str, TermCover]:
        """The covers of all terms, by name."""
        return {one.entry.plan.term.name: one for one in self.made.terms}

    def cell(self, name: str) -> str:
        """Return a term's products, of how many inputs, and how few are proved to be needed."""
        if name not in self.covers:
            return "-"
        one = self.covers[name]
        cover = one.cover
        first = next(k for k, x in self.covers.items() if x.entry.table == one.entry.table)
        if first != name:
            return f"= {first}"
        least = "" if cover.proved else f" (≥ {cover.lower_bound}, {cover.method})"
        return f"{one.entry.table.inputs}: {cover.products}{least}"

    def total(self) -> str:
        """Return the products of all tables that differ, and how few there are at least."""
        distinct = {one.entry.table: one.cover for one in self.made.terms}.values()
        least = sum(one.lower_bound for one in distinct)
        found = sum(one.products for one in distinct)
        return f"{found}" if found == least else f"{found} (≥ {least})"


def smaller(ours: Sequence[TermCover], others: Sequence[TermCover | None]) -> tuple[TermCover, ...]:
    """Return the smaller of two covers of every table, with the bound of the first."""
    found = []
    for one, other in zip(ours, others, strict=True):
        better = other is not None and other.cover.products < one.cover.products
        cover = other.cover if better and other is not None else one.cover
        least = max(one.cover.lower_bound, cover.lower_bound)
        proved = cover.proved or least == cover.products
        found.append(replace(one, cover=replace(cover, lower_bound=least, proved=proved)))
    return tuple(found)


def made(robot: str, options: PlanOptions, seconds: float, store: CoverStore) -> Covered:
    """Return covers of all tables, and what the outputs err by."""
    tables = run_passes(robot, options, "tables")
    plan = run_passes(robot, options, "plan")
    exact = make_covers(tables, Recipe("exact", seconds), store, workers=ALONE)
    ships = CoverStore((shipped_place("tables"),))
    own = [ships.find(one.table, Recipe("own", seconds)) for one in tables]
    known = [
        None if x is None else TermCover(t, x, stored=True)
        for t, x in zip(tables, own, strict=True)
    ]
    covers = smaller(exact, known)
    return Covered(plan, covers, known_errors(plan, words=cover_words(covers)))


def check(step: Step) -> None:
    """End the run where something is not what it should be."""
    plan = step.made.plan
    for one in {one.entry.table: one for one in step.made.terms}.values():
        name = f"{step.name}: {one.entry.plan.term.name}"
        witness = verify(function_of(one.entry.table), one.cover.cubes)
        if witness is not None:
            raise SystemExit(f"{name}: the cover is none: {witness}")
        words = cover_words([one]).get(one.entry.plan, one.entry.table.words())
        own = one.entry.plan
        if own.input_bits <= LOOKED_AT:
            centres = [word_centres(word) for word in own.words]
            exact = np.concatenate(list(value_blocks(own.function, own.words, centres)))
            most = np.abs(own.code.decode(words) - exact).max() / own.code.step
            if most > (0.5 if own.rounding == "nearest" else 1.0) + 1e-6:
                raise SystemExit(f"{name}: an entry errs by {most} steps")
    arrays = plan.problem.draw(STATES, SEED)
    found = step.program.evaluate(*arrays)
    if not np.array_equal(found.words, quantised(plan, arrays, cover_words(step.made.terms)).words):
        raise SystemExit(f"{step.name}: the logic does not compute what its tables say")
    errors = np.abs(found.values - plan.problem.reference(*arrays)).max(axis=0)
    for output, most in zip(step.program.outputs, errors, strict=True):
        worst = output.errors.worst_found if output.errors is not None else None
        if max(most, worst or 0.0) > output.bound:
            raise SystemExit(f"{step.name}: {output.name} errs by more than its bound")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("robot", nargs="?", default="machado-2r")
    parser.add_argument("--bits", type=int, default=8)
    parser.add_argument("--exact", type=float, default=60.0, help="seconds a table")
    parser.add_argument("--store", type=Path, help="of covers [default: the user's cache]")
    asked = parser.parse_args()
    steps = []
    usual = run_passes(asked.robot, PlanOptions(asked.bits), "plan")
    most = max(output.guard_bits for output in usual.outputs)
    for name, rounding, signs, sums, more in STEPS:
        guard = most + more if more else None
        options = PlanOptions(asked.bits, "gray", guard, None, rounding, signs, sums)
        one = made(asked.robot, options, asked.exact, default_store(asked.store))
        steps.append(Step(name, one, program(one, PaperChoices(options))))
        check(steps[-1])
    print(f"{asked.robot}, {asked.bits} bits: inputs of tables, and products")
    names = list(dict.fromkeys(name for step in steps for name in step.covers))
    rows = [[name, *(step.cell(name) for step in steps)] for name in names]
    rows.append(["products", *(step.total() for step in steps)])
    rows.append(["nodes", *(str(len(step.program.network().nodes)) for step in steps)])
    for k, output in enumerate(steps[0].program.outputs):
        rows.append([f"{output.symbol} rms", *(_in_steps(step, k, "rms") for step in steps)])
        rows.append([f"{output.symbol} found", *(_in_steps(step, k, "worst") for step in steps)])
        rows.append([f"{output.symbol} bound", *(_in_steps(step, k, "bound") for step in steps)])
    print(aligned(["table", *(step.name for step in steps)], rows, left=(0,)))
    print(f"{len(steps)} of {len(STEPS)} steps checked")


def _in_steps(step: Step, place: int, what: str) -> str:
    output = step.program.outputs[place]
    if output.errors is None:
        return "-"
    found = {"rms": output.errors.rms, "worst": output.errors.worst_found, "bound": output.bound}
    return f"{(found[what] or 0.0) / output.code.step:.3f}"


if __name__ == "__main__":
    main()
