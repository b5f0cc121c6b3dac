"""The cache of minimised tables and of networks made from them, and the minimisation of tables.

A cover is a PLA file. Its header has a digest of its table's content, the method, and the first
term that it was made for. Lookup uses content and method, independently of names of terms and
robots. Every cover is verified against its table when it is read. Files are written atomically, so
that several processes may share a cache. The header's claim that a cover is minimum is accepted
only for covers made by this user; covers from other users are used without such a claim.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from boolcomp.base import VERSION
from boolcomp.base.errors import DataError, warn
from boolcomp.base.store import (
    attest,
    find,
    keep,
    own_place,
    place_of,
    sealed,
    shipped_place,
    unsealed,
    user_cache,
)
from boolcomp.base.workers import ALONE
from boolcomp.logic.network import parse_network, render_network
from boolcomp.logic.simulation import digest
from boolcomp.paper.program import network_of_cover
from boolcomp.paper.tables import covered_table
from boolcomp.twolevel.cubes import MOST_BITS, MOST_INPUTS, fits
from boolcomp.twolevel.function import Cover, Function, verify
from boolcomp.twolevel.minimisation import METHODS, Recipe, minimise

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from boolcomp.base.store import Entry, ResultPlace, Where
    from boolcomp.base.workers import Workers
    from boolcomp.logic.network import Network
    from boolcomp.logic.simulation import TruthTable
    from boolcomp.paper.tables import CoverWords, TermTable
    from boolcomp.twolevel.cubes import Cubes


# --------------------------------------------------------------------------------------------------
# The cache.
# --------------------------------------------------------------------------------------------------

TITLE = "boolcomp cover, format 1"
FOREIGN = "from a shared cache: its lower bound is not proved here"


@dataclass(frozen=True, slots=True)
class CoverStore:
    """Places of covers: all are searched; new covers are written to the first."""

    places: tuple[ResultPlace, ...]

    def find(self, table: TruthTable, recipe: Recipe) -> Cover | None:
        """Return a verified cover for a recipe, or None.

        A cover whose minimisation a deadline ended is used only for recipes with no more time. A
        cover by `exact` is also used for `own`, the method that `exact` starts with. A recipe for
        minimum covers does not use those of a shared place. A damaged file causes a warning.
        """
        deadline = float("inf") if recipe.deadline is None else recipe.deadline
        methods = ["exact", "own"] if recipe.method == "own" else [recipe.method]
        names = [f"*.{digest(table)}.{method}.pla" for method in methods]
        for name in names:
            found = find(self.places, name, partial(_read, table=table), "{error}: made anew")
            for cover, had, believed in found:
                if recipe.method == "exact" and not believed:
                    continue
                if cover.proved or had is None or had >= deadline:
                    return cover
        return None

    def keep(self, entry: TermTable, recipe: Recipe, cover: Cover) -> str:
        """Write the cover of a term's table to the first place; return the file's name."""
        place = self.places[0]
        stem = f"{entry.problem}-{entry.plan.term.name}-{entry.plan.code.bits}"
        name, text = f"{digest(entry.table)}.{recipe.method}.pla", _render(entry, recipe, cover)
        made = place.write(name, text, stem)
        if not place.trusted:
            attest(name, text)
        return made


def default_store(first: Where | None = None) -> CoverStore:
    """Return the user's cache and the covers that ship, preceded by a named place if any."""
    named = () if first is None else (place_of(first),)
    return CoverStore((*named, own_place("tables"), shipped_place("tables")))


def function_of(table: TruthTable) -> Function:
    return Function.from_columns(table.inputs, table.columns, table.free or None)


def _render(entry: TermTable, recipe: Recipe, cover: Cover) -> str:
    from boolcomp.twolevel import pla  # noqa: PLC0415 (only files need it)

    plan = entry.plan
    # Only covers whose minimisation a deadline ended have a note, and state this deadline.
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
    """Return the cover, its deadline if that ended minimisation, and whether the place is trusted.

    The lower bound of a cover from another place is discarded.
    """
    from boolcomp.twolevel import pla  # noqa: PLC0415 (only files need it)

    head = [line[2:] for line in text.splitlines() if line.startswith("# ")]
    fields = dict(line.split(": ", 1) for line in head if ": " in line)
    found = pla.parse(text, str(path))
    try:
        stopped = fields["stopped after"]
        had = None if stopped == "never" else float(stopped.removesuffix(" s"))
        bound, proved = int(fields["lower bound"]), fields["proved"] == "yes"
        made_by = fields["method"]
    except (KeyError, ValueError) as error:
        raise DataError(f"the header is damaged: {error}", where=path) from error
    if (found.inputs, found.outputs) != (table.inputs, table.outputs):
        raise DataError("not a cover of this table", where=path)
    witness = verify(function_of(table), found.on)
    if witness is not None:
        raise DataError(f"does not cover its table: {witness}", where=path)
    cover = Cover(found.on, made_by, proved, bound, 0.0, fields.get("note", ""))
    if not path.believed:
        made_by = made_by if made_by in METHODS else "unknown"
        cover = Cover(found.on, made_by, lower_bound=min(1, cover.products), note=FOREIGN)
    return cover, had, path.believed


# --------------------------------------------------------------------------------------------------
# Minimisation of all tables of a problem: equal tables once, cached ones not at all.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TermCover:
    """A term's table and a verified cover of it; `stored` if the cover was cached."""

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
    store: CoverStore,
    done: Callable[[TermTable, int, int], None] = lambda *_: None,
    workers: Workers = ALONE,
) -> tuple[TermCover, ...]:
    """Return a cover for every term.

    `done` is called before the first and after each minimised table. Its arguments are the first
    term of the table, the number of points minimised so far, and that of all points to be
    minimised.
    """
    first: dict[TruthTable, TermTable] = {}
    for entry in tables:
        first.setdefault(entry.table, entry)
        if not fits(entry.table.inputs, entry.table.outputs):
            raise DataError(
                f"the table of {entry.plan.term.name} has {entry.table.inputs} inputs and "
                f"{entry.table.outputs} outputs; minimisation takes {MOST_INPUTS} inputs and "
                f"2^{MOST_BITS.bit_length() - 1} bits",
                "lower --bits, or use compact mode, which has no tables", where=entry.problem,
            )  # fmt: skip
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
            warn(f"a cover is not cached: {error}")
        made += _points(entry.table)
        done(entry, made, points)
    return tuple(TermCover(entry, covers[entry.table], entry.table in stored) for entry in tables)


def _points(table: TruthTable) -> int:
    return table.outputs << table.inputs


def cover_words(covers: Sequence[TermCover]) -> CoverWords:
    """Return the words of covers of tables with free bits, by plan."""
    free = [one for one in covers if one.entry.plan.rounding == "faithful"]
    words = {
        one.entry.table: covered_table(one.entry.table, one.cover.cubes).words() for one in free
    }
    return {one.entry.plan: words[one.entry.table] for one in free}


def _minimised(
    entries: Mapping[str, TermTable], recipe: Recipe, workers: Workers
) -> Iterator[tuple[TermTable, Cover]]:
    """Yield covers in order of completion."""
    # Large tables first: they take longest, and small ones fill the remaining time of workers.
    rising = sorted(entries.values(), key=lambda entry: -entry.table.inputs)
    calls = [(entry.table, recipe) for entry in rising]
    for place, cover in workers.completed(minimise_table, calls):
        yield rising[place], cover


def minimise_table(table: TruthTable, recipe: Recipe) -> Cover:
    return minimise(function_of(table), recipe.method, recipe.deadline)


# --------------------------------------------------------------------------------------------------
# Networks of covers, cached because factoring twenty thousand products takes seconds.
#
# The key is a digest of the cover; a file that is damaged or from another version is replaced.
# --------------------------------------------------------------------------------------------------

WORTH_KEEPING = 200  # products; a smaller cover is factored faster than a file is read


def stored_network(cubes: Cubes) -> Network:
    """Return `network_of_cover(cubes)`, from the cache if possible."""
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
