"""The store of minimised tables: a second compile reads what the first one found.

A cover is kept as a PLA file whose header says which table it belongs to (by a digest of the
table's content), how it was made, and for which term first. It is found again by content and
method, whatever the term or robot is called; it is verified against its table whenever it is read.
Files are written whole or not at all, so several processes may share a store. That a cover is the
smallest is believed of those that this user made; from others it is a cover, and no minimum.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from boolcomp.base.store import vouch
from boolcomp.common.errors import DataError, UsageError, listing, suggestion
from boolcomp.common.places import find, own_place, place_of, shipped_place
from boolcomp.logic.truthtable import digest
from boolcomp.twolevel.function import Cover, Function
from boolcomp.twolevel.minimisation import METHODS
from boolcomp.twolevel.verify import verify

if TYPE_CHECKING:
    from boolcomp.common.places import Entry, Place, Where
    from boolcomp.logic.truthtable import TruthTable
    from boolcomp.paper.tables import TermTable

TITLE = "boolcomp cover, format 1"


FOREIGN = "from a shared store: how small it can be was not proved here"
LONGEST = 1e7  # seconds of a deadline


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a cover is asked for: the method, and the seconds it may take (None: any)."""

    method: str = "own"
    deadline: float | None = 60.0

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            hint = suggestion(self.method, METHODS)
            raise UsageError(f"method {self.method!r}{hint}: methods are {listing(METHODS)}")
        if self.deadline is not None and not 0 < self.deadline <= LONGEST:
            most = f": at most {LONGEST:g}" if self.deadline > LONGEST else ""
            raise UsageError(
                f"a deadline is a positive number of seconds, not {self.deadline}{most}"
            )


@dataclass(frozen=True, slots=True)
class Store:
    """Places of covers: all are searched, new covers go to the first."""

    places: tuple[Place, ...]

    def find(self, table: TruthTable, recipe: Recipe) -> Cover | None:
        """Return a verified cover that answers the recipe, or None.

        One that a deadline cut short answers only a recipe with no more time than it had. What
        `exact` found answers `own` too, since it starts from there; from a shared place it answers
        nobody who asks for a minimum. A damaged file is a warning, and as good as none.
        """
        wanted = float("inf") if recipe.deadline is None else recipe.deadline
        methods = ["exact", "own"] if recipe.method == "own" else [recipe.method]
        names = [f"*.{digest(table)}.{method}.pla" for method in methods]
        for name in names:
            found = find(self.places, name, partial(_read, table=table), "{error}: made anew")
            for cover, had, believed in found:
                if recipe.method == "exact" and not believed:
                    continue
                if cover.proved or had is None or had >= wanted:
                    return cover
        return None

    def keep(self, entry: TermTable, recipe: Recipe, cover: Cover) -> str:
        """Write the cover of a term's table to the first place; return the file's name."""
        place = self.places[0]
        stem = f"{entry.problem}-{entry.plan.term.name}-{entry.plan.code.bits}"
        name, text = f"{digest(entry.table)}.{recipe.method}.pla", _render(entry, recipe, cover)
        made = place.write(name, text, stem)
        if not place.trusted:
            vouch(name, text)
        return made


def default_store(first: Where | None = None) -> Store:
    """Return the store of this user: the user's cache. What ships with boolcomp is searched too.

    A place may be named, which is searched, and written to, first.
    """
    named = () if first is None else (place_of(first),)
    return Store((*named, own_place("tables"), shipped_place("tables")))


def function_of(table: TruthTable) -> Function:
    """Return the table as what the minimisers take."""
    return Function.from_columns(table.inputs, table.columns, table.free or None)


def _render(entry: TermTable, recipe: Recipe, cover: Cover) -> str:
    from boolcomp.twolevel import pla  # noqa: PLC0415 (only who reads or writes needs it)

    plan = entry.plan
    # What a deadline cut short, and nothing else, says how long it had.
    had = "" if recipe.deadline is None or not cover.note else f"{recipe.deadline:g}"
    lines = [
        TITLE,
        f"table: {digest(entry.table)}",
        f"method: {cover.method}",
        f"products: {cover.products}, literals: {cover.literals}",
        f"proved: {'yes' if cover.proved else 'no'}",
        f"lower bound: {cover.lower_bound}",
        f"stopped after: {f'{had} s' if had else 'never'}",
        f"note: {cover.note}",
        f"robot: {entry.problem}",
        f"term: {plan.term.name} of {plan.term.output} = {plan.term}",
        f"output: {plan.term.name} {plan.code}, {plan.rounding}",
        *(f"input: {word}" for word in plan.words),
    ]
    head = "".join(f"# {line}".rstrip() + "\n" for line in lines)
    return head + pla.render(pla.from_cubes(cover.cubes, entry.input_labels, entry.output_labels))


def _read(path: Entry, text: str, table: TruthTable) -> tuple[Cover, float | None, bool]:
    """Return the cover, the seconds it had if a deadline cut it short, and whether that is known.

    Where it is not, nothing is said of how much smaller another cover could be.
    """
    from boolcomp.twolevel import pla  # noqa: PLC0415 (only who reads or writes needs it)

    head = [line[2:] for line in text.splitlines() if line.startswith("# ")]
    fields = dict(line.split(": ", 1) for line in head if ": " in line)
    found = pla.parse(text, str(path))
    try:
        stopped = fields["stopped after"]
        had = None if stopped == "never" else float(stopped.removesuffix(" s"))
        bound, proved = int(fields["lower bound"]), fields["proved"] == "yes"
        made_by = fields["method"]
    except (KeyError, ValueError) as error:
        raise DataError(f"{path}: the header is damaged ({error})") from error
    if (found.inputs, found.outputs) != (table.inputs, table.outputs):
        raise DataError(f"{path}: not a cover of this table")
    witness = verify(function_of(table), found.on)
    if witness is not None:
        raise DataError(f"{path}: does not cover its table: {witness}")
    cover = Cover(found.on, made_by, proved, bound, 0.0, fields.get("note", ""))
    if not path.believed:
        made_by = made_by if made_by in METHODS else "unknown"
        cover = Cover(found.on, made_by, lower_bound=min(1, cover.products), note=FOREIGN)
    return cover, had, path.believed
