"""The store of minimised tables: a second compile reads what the first one found.

A cover is kept as a PLA file whose header says which table it belongs to (by a digest of the
table's content), how it was made, and for which term first. It is found again by content and
method, whatever the term or robot is called; it is verified against its table whenever it is read.
Files are written whole or not at all, so several processes may share a store. That a cover is the
smallest is believed of those that this user made; from others it is a cover, and no minimum.
"""

from __future__ import annotations

import hashlib
import warnings
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from boolcomp.base.errors import DataError, DataWarning
from boolcomp.base.store import (
    find,
    keep,
    own_place,
    place_of,
    sealed,
    shipped_place,
    unsealed,
    user_cache,
    vouch,
)
from boolcomp.base.version import VERSION
from boolcomp.base.workers import ALONE
from boolcomp.logic.network import parse_network, render_network
from boolcomp.logic.simulation import digest
from boolcomp.paper.program import network_of_cover
from boolcomp.paper.tables import said
from boolcomp.twolevel.cubes import MOST_BITS, MOST_INPUTS, fits
from boolcomp.twolevel.function import Cover, Function, verify
from boolcomp.twolevel.minimisation import METHODS, Recipe, minimise

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from boolcomp.base.store import Entry, Place, Where
    from boolcomp.base.workers import Workers
    from boolcomp.logic.network import Network
    from boolcomp.logic.simulation import TruthTable
    from boolcomp.paper.tables import Said, TermTable
    from boolcomp.twolevel.cubes import Cubes


# --------------------------------------------------------------------------------------------------
# The store of minimised tables: a second compile reads what the first one found.
# --------------------------------------------------------------------------------------------------


TITLE = "boolcomp cover, format 1"


FOREIGN = "from a shared store: how small it can be was not proved here"


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


# --------------------------------------------------------------------------------------------------
# Minimise every table of a problem: identical ones once, what the store holds not at all.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TermCover:
    """A term's table and a verified cover of it; `stored` where the store had it."""

    entry: TermTable
    cover: Cover
    stored: bool

    def __str__(self) -> str:
        cover = self.cover
        bound = "minimum" if cover.proved else f"at least {cover.lower_bound}"
        return f"{self.entry.plan.term.name}: {cover.products} products ({bound})"


def make_covers(
    tables: Sequence[TermTable],
    recipe: Recipe,
    store: Store,
    done: Callable[[TermTable, int, int], None] = lambda *_: None,
    workers: Workers = ALONE,
) -> tuple[TermCover, ...]:
    """Return a cover for every term.

    `done` is told the first term of every distinct table that is minimised, and how many points
    of how many are done with it; before, that none are.
    """
    first: dict[TruthTable, TermTable] = {}
    for entry in tables:
        first.setdefault(entry.table, entry)
        if not fits(entry.table.inputs, entry.table.outputs):
            raise DataError(
                f"{entry.problem}: the table of {entry.plan.term.name} has {entry.table.inputs} "
                f"inputs and {entry.table.outputs} outputs; minimisation takes {MOST_INPUTS} "
                f"inputs and 2^{MOST_BITS.bit_length() - 1} bits. Lower --bits, or use compact "
                "mode, which has no tables"
            )
    covers: dict[TruthTable, Cover] = {}

    for table in first:
        found = store.find(table, recipe)
        if found is not None:
            covers[table] = found
    stored = frozenset(covers)
    missing = {digest(table): entry for table, entry in first.items() if table not in covers}
    points = sum(_points(entry.table) for entry in missing.values())
    for entry in list(missing.values())[:1]:
        done(entry, 0, points)
    made = 0
    for entry, cover in _minimised(missing, recipe, workers):
        covers[entry.table] = cover
        try:
            store.keep(entry, recipe, cover)
        except DataError as error:
            warnings.warn(f"a table is not kept: {error}", DataWarning, stacklevel=2)
        made += _points(entry.table)
        done(entry, made, points)
    return tuple(TermCover(entry, covers[entry.table], entry.table in stored) for entry in tables)


def _points(table: TruthTable) -> int:
    return table.outputs << table.inputs


def said_words(covers: Sequence[TermCover]) -> Said:
    """Return the words that covers say, of tables whose rounding left them a choice."""
    free = [one for one in covers if one.entry.plan.rounding == "faithful"]
    known = {one.entry.table: said(one.entry.table, one.cover.cubes).words() for one in free}
    return {one.entry.plan: known[one.entry.table] for one in free}


def _minimised(
    entries: Mapping[str, TermTable], recipe: Recipe, workers: Workers
) -> Iterator[tuple[TermTable, Cover]]:
    """Yield covers as they come."""
    # The largest first: they take longest, and the small ones fill the gaps.
    rising = sorted(entries.values(), key=lambda entry: -entry.table.inputs)
    calls = [(entry.table, recipe) for entry in rising]
    for place, cover in workers.completed(minimise_table, calls):
        yield rising[place], cover


def minimise_table(table: TruthTable, recipe: Recipe) -> Cover:
    """Minimise one table (what a worker process runs)."""
    return minimise(function_of(table), recipe.method, recipe.deadline)


# --------------------------------------------------------------------------------------------------
# Networks of covers, kept in the user's cache: factoring twenty thousand products takes seconds.
#
# Keyed by the content of the cover; a file that is damaged or from another version is made anew.
# --------------------------------------------------------------------------------------------------


WORTH_KEEPING = 200  # products; smaller covers are factored faster than a file is read


def stored_network(cubes: Cubes) -> Network:
    """Return `network_of_cover(cubes)`, from the cache where it is there."""
    if len(cubes) < WORTH_KEEPING:
        return network_of_cover(cubes)
    content = f"{VERSION} {cubes.inputs} {cubes.outputs}".encode()
    content += b"".join(array.tobytes() for array in (cubes.zero, cubes.one, cubes.out))
    folder, name = user_cache("networks"), f"{hashlib.sha256(content).hexdigest()[:32]}.txt"
    found = find([folder], name, lambda path, text: parse_network(unsealed(text), str(path)))
    for network in found:
        return network
    network = network_of_cover(cubes)
    keep(folder / name, sealed(render_network(network)), durable=False)
    return network
