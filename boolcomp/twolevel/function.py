"""Functions (`Function`), their covers (`Cover`), verification, quick covers and Karnaugh maps."""

from __future__ import annotations

import html
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.errors import DataError
from boolcomp.twolevel import cubes as truth
from boolcomp.twolevel import function_kernels as kernels
from boolcomp.twolevel.cubes import (
    Clock,
    Cubes,
    Dense,
    GaveUpError,
    pack,
    points,
    points_of,
    serving,
    unpack,
    words_for,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bitarray import frozenbitarray
    from numpy.typing import NDArray

    from boolcomp.twolevel.cubes import U64, Shape

    Values = NDArray[np.uint8]


# --------------------------------------------------------------------------------------------------
# The uncovered part of a list of cubes, by cofactor recursion, for functions of many inputs.
# --------------------------------------------------------------------------------------------------

_LIST_BUDGET = 1 << 22  # visits to cubes between checks of the clock: some ten milliseconds
_MOST_MEMBERS = 1 << 27
_MOST_WORDS = 1 << 23  # 64 MB


def walk_over(shape: Shape, cubes: int, leaves: int = 1) -> kernels.Walk:
    """Return buffers of walks over a number of cubes."""
    words, depth = shape.words, shape.inputs + 3
    return kernels.Walk(
        members=np.zeros(8 * cubes + 64, np.int32), start=np.zeros(depth, np.int64),
        split=np.zeros(depth, np.int64), side=np.zeros(depth, np.int64),
        regions=np.zeros((depth, 2 * words), np.uint64), state=np.zeros(5, np.int64),
        bound=np.zeros((1, 2 * words), np.uint64),
        leaves=np.zeros((leaves, 2 * words), np.uint64),
        tally=np.zeros(128 * words, np.int64), preferred=np.zeros(words, np.uint64),
    )  # fmt: skip


def enlarged(walk: kernels.Walk, limit: int = 1) -> kernels.Walk:
    """Double the full buffer; raise `GaveUpError` where it is too large."""
    if walk.state[kernels.STORED] == len(walk.leaves):
        if walk.leaves.size > _MOST_WORDS or len(walk.leaves) >= limit:
            raise GaveUpError
        return walk._replace(leaves=np.concatenate([walk.leaves, np.zeros_like(walk.leaves)]))
    if walk.members.size > _MOST_MEMBERS:
        raise GaveUpError
    return walk._replace(members=np.concatenate([walk.members, np.zeros_like(walk.members)]))


def missed_part(
    cover: U64, targets: U64, shape: Shape, clock: Clock, preferred: U64 | None = None
) -> U64 | None:
    """Return a part of some target outside all cubes (outputs ignored), or None if there is none.

    A part has the input planes only. `preferred` (input values) selects the half of a cube searched
    first. Raises `GaveUpError` where the clock runs out.
    """
    walk, at = walk_over(shape, len(cover)), np.array([0, 1])
    if preferred is not None:
        walk.preferred[:] = preferred
    while True:
        status = kernels.first_missed(targets, at, cover, walk, _LIST_BUDGET)
        if status == kernels.FOUND:
            part: U64 = walk.regions[walk.state[kernels.DEPTH]]
            return part
        if status == kernels.DONE:
            return None
        clock.check()
        if status == kernels.MORE_ROOM:
            walk = enlarged(walk)


def missed_point(
    cover: U64, cube: U64, output: int, shape: Shape, clock: Clock, preferred: U64
) -> U64 | None:
    """Return a packed point of an output in a cube, outside the cover; None if there is none.

    `cover` is of this output. Input values without a constraint are those of `preferred`.
    """
    part = missed_part(cover, cube[None], shape, clock, preferred)
    if part is None:
        return None
    words, point = shape.words, np.zeros(shape.width, np.uint64)
    zero, one = part[:words], part[words:]
    point[words : shape.out_at] = one & (~zero | preferred)
    point[:words] = zero & ~point[words : shape.out_at]
    point[shape.out_at + output // 64] = np.uint64(1 << (output % 64))
    return point


def uncovered_parts(cubes: U64, shape: Shape, clock: Clock, limit: int = _MOST_WORDS) -> U64:
    """Return the uncovered points as disjoint regions; `GaveUpError` beyond `limit` of them."""
    walk = walk_over(shape, len(cubes), 64)
    kernels.begin(cubes, walk, shape.everything(), -1, -1)
    while True:
        status = kernels.explore(cubes, walk, kernels.COLLECT, _LIST_BUDGET)
        if status == kernels.DONE:
            return walk.leaves[: walk.state[kernels.STORED]]
        if status == kernels.MORE_ROOM:
            walk = enlarged(walk, limit)
        clock.check()


def complement(cubes: Cubes, clock: Clock | None = None, limit: int = _MOST_WORDS) -> Cubes:
    """Return the complement of every output; equal cubes are shared.

    Raises `GaveUpError` where the clock runs out or there are more than about `limit` cubes.
    """
    shape, clock, found = cubes.shape, clock or Clock(), [cubes.shape.none()]
    total = 0
    for j in range(cubes.outputs):
        mine = cubes.packed[serving(cubes.packed, j, shape)]
        parts = uncovered_parts(mine, shape, clock, limit)
        total += len(parts)
        if total > limit:
            raise GaveUpError
        clock.check()
        owner = np.repeat(pack(np.eye(1, cubes.outputs, j, np.bool_)), len(parts), axis=0)
        found.append(np.concatenate([parts, owner], axis=1))
    return Cubes(cubes.inputs, cubes.outputs, np.concatenate(found)).canonical()


def some_point(region: U64, inputs: int) -> str:
    """Return a point of a region as the letters of a PLA row."""
    zero = unpack(region[None], inputs)[0]
    return "".join("0" if may_be_zero else "1" for may_be_zero in zero)


# --------------------------------------------------------------------------------------------------
# Exact verification of a cover; a counterexample is a point.
#
# Functions of few inputs are compared as truth tables, others by cofactor recursion on cube lists.
# --------------------------------------------------------------------------------------------------

_PAIRS = 1 << 26  # pairs of cubes compared between checks of the clock
_FEW_PAIRS = 1 << 24  # fewer are compared without truth tables


@dataclass(frozen=True, slots=True)
class Witness:
    """A point where a cover does not have the value `expected`."""

    output: int
    point: str
    expected: int

    def __str__(self) -> str:
        return (
            f"output {self.output} at inputs {self.point or '(none)'} is {1 - self.expected}, "
            f"must be {self.expected}"
        )


def verify(function: Function, cubes: Cubes, clock: Clock | None = None) -> Witness | None:
    """Return a point where the cover is wrong, or None if it is right.

    Raises `GaveUpError` where the clock runs out first (functions of many inputs only).
    """
    if (cubes.inputs, cubes.outputs) != (function.inputs, function.outputs):
        raise ValueError("the cover has other inputs or outputs than the function")
    cubes = cubes.valid()
    if function.is_dense and truth.raster_work(cubes) <= truth.MOST_WORK:
        return _verify_dense(function.dense, cubes)
    return missing(function, cubes, clock) or _excess(function, cubes, clock)


def _verify_dense(table: truth.Dense, cubes: Cubes) -> Witness | None:
    got = truth.rasterised(cubes)
    for faults, expected in ((table.on & ~got, 1), (table.off & got, 0)):
        place = _first_bit(faults)
        if place is not None:
            return Witness(place[0], truth.point(table.inputs, place[1]), expected)
    return None


def _first_bit(planes: U64) -> tuple[int, int] | None:
    """Return row and index of some set bit."""
    where = np.flatnonzero(planes.ravel())
    if not len(where):
        return None
    row, word = divmod(int(where[0]), planes.shape[1])
    bits = int(planes[row, word])
    return row, 64 * word + (bits & -bits).bit_length() - 1


def missing(function: Function, cubes: Cubes, clock: Clock | None) -> Witness | None:
    return _outside(function.on, cubes.joined(function.dc), 1, clock)


def _excess(function: Function, cubes: Cubes, clock: Clock | None) -> Witness | None:
    """Return a forbidden point inside the cover."""
    if function.given_off is not None:
        met = meeting(cubes, function.given_off, clock)
        return None if met is None else Witness(met[0], met[1], 0)
    return _outside(cubes, function.on.joined(function.dc), 0, clock)


def _outside(targets: Cubes, space: Cubes, expected: int, clock: Clock | None) -> Witness | None:
    """Return a point of some target outside `space`."""
    shape, clock = targets.shape, clock or Clock()
    rows, cover = targets.valid().packed, space.packed
    if 0 < len(rows) * len(cover) <= _FEW_PAIRS:  # only those that no single cube contains
        rows = rows.copy()
        kernels.drop_contained(rows, cover, shape.words)
    left = unpack(np.bitwise_or.reduce(rows[:, shape.out_at :])[None], targets.outputs)[0]
    for j in np.flatnonzero(left).tolist():
        mine = cover[serving(cover, j, shape)]
        part = missed_part(mine, rows[serving(rows, j, shape)], shape, clock)
        if part is not None:
            return Witness(j, some_point(part, targets.inputs), expected)
        clock.check()
    return None


def meeting(first: Cubes, second: Cubes, clock: Clock | None = None) -> tuple[int, str] | None:
    """Return an output and a point that two lists have in common, or None."""
    first, second, clock = first.valid(), second.valid(), clock or Clock()
    pairs = len(first) * len(second)
    if pairs == 0:
        return None
    if (
        pairs > _FEW_PAIRS
        and truth.fits(first.inputs, first.outputs)
        and (truth.raster_work(first) + truth.raster_work(second) <= truth.MOST_WORK)
    ):
        place = _first_bit(truth.rasterised(first) & truth.rasterised(second))
        return None if place is None else (place[0], truth.point(first.inputs, place[1]))
    step = max(1, _PAIRS // len(second))
    a, b, shape = first.packed, second.packed, first.shape
    for start in range(0, len(first), step):
        i, k = kernels.first_conflict(a, b, shape.words, start, min(start + step, len(first)))
        if i >= 0:
            common = a[i] & b[k]
            output = int(unpack(common[None, shape.out_at :], first.outputs).argmax())
            return output, some_point(common, first.inputs)
        clock.check()
    return None


# --------------------------------------------------------------------------------------------------
# Irredundant sums of products (Minato 1992, Morreale 1970): the first cover of every function.
#
#     isop(L, U):  L0' = L0 & ~U1    f0 = isop(L0', U0)
#                  L1' = L1 & ~U0    f1 = isop(L1', U1)
#                  L*  = (L0 & ~f0) | (L1 & ~f1)    f* = isop(L*, U0 & U1)
#                  f   = ~x f0 | x f1 | f*
#
# run for all outputs at once. Where U is constant 1 for some output with uncovered points, one
# product is emitted, shared by all outputs whose U is constant 1 there.
# --------------------------------------------------------------------------------------------------

_ISOP_BUDGET = 1 << 20  # words of work between checks of the clock: a millisecond or two


def isop(table: Dense, clock: Clock | None = None) -> Cubes:
    """Return an irredundant cover of a table; `GaveUpError` where the clock runs out.

    Every product is needed by some outputs; it may have further, superfluous ones.
    """
    inputs, outputs = table.inputs, table.outputs
    if outputs == 0:
        return Cubes.empty(inputs, outputs)
    clock = clock or Clock()
    sizes = [outputs * words_for(1 << (inputs - k)) for k in range(inputs + 1)]
    at = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    lower, upper, done = (np.zeros(at[-1], np.uint64) for _ in range(3))
    lower[: sizes[0]] = _spread(table.on, inputs).ravel()
    upper[: sizes[0]] = _spread(table.on | table.dc, inputs).ravel()
    stage, path = np.zeros(inputs + 1, np.int64), np.zeros(2 * inputs + 2, np.int64)
    state = np.zeros(2, np.int64)
    found = np.zeros((1024, 2 + words_for(outputs)), np.uint64)
    while True:
        status = kernels.isop(
            inputs, outputs, lower, upper, done, at, stage, path, state, found, _ISOP_BUDGET
        )
        if status == kernels.ISOP_DONE:
            return Cubes(inputs, outputs, found[: state[1]].copy())
        if status == kernels.ISOP_MORE_ROOM:
            found = np.concatenate([found, np.zeros_like(found)])
        else:
            clock.check()


def _spread(words: U64, inputs: int) -> U64:
    """Repeat a table of fewer than 64 points over its word."""
    for bit in range(inputs, 6):
        words = words | words << np.uint64(1 << bit)
    return words


def minterms(table: Dense) -> Cubes:
    """Return the cover with one product per point, in canonical order."""
    on = points_of(table.on, table.inputs)
    where = np.flatnonzero(on.any(axis=0))
    return points(table.inputs, where, on[:, where].T)


# --------------------------------------------------------------------------------------------------
# Functions and covers.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Function:
    """A multi-output, incompletely specified function, as cubes or as truth tables or as both.

    A cover must contain every point of `on` that is not in `dc`, and no point of `off`. By default
    `off` is everything outside `on` and `dc`; if it is given, all other points outside `on` are
    don't-cares. Make one with `from_cubes`, `from_columns` or `from_dense`.
    """

    inputs: int
    outputs: int
    given_on: Cubes | None = None
    given_dc: Cubes | None = None
    given_off: Cubes | None = None
    given_table: Dense | None = None

    @classmethod
    def from_cubes(cls, on: Cubes, dc: Cubes | None = None, off: Cubes | None = None) -> Function:
        """Build a function from cubes; DataError with a witness where OFF meets ON or DC."""
        for other in (dc, off):
            if other is not None and (other.inputs, other.outputs) != (on.inputs, on.outputs):
                raise ValueError("the sets have different numbers of inputs or outputs")
        none = Cubes.empty(on.inputs, on.outputs)
        dc = none if dc is None else dc.valid()
        function = cls(on.inputs, on.outputs, on.valid(), dc, off if off is None else off.valid())
        if function.given_off is not None:
            witness = meeting(function.on.joined(dc), function.given_off)
            if witness is not None:
                raise DataError(
                    f"output {witness[0]} is both ON or DC and OFF at inputs {witness[1]!r}"
                )
        return function

    @classmethod
    def from_columns(
        cls, inputs: int, on: Sequence[frozenbitarray], dc: Sequence[frozenbitarray] | None = None
    ) -> Function:
        return cls.from_dense(Dense.from_columns(inputs, on, dc))

    @classmethod
    def from_dense(cls, table: Dense) -> Function:
        return cls(table.inputs, table.outputs, given_table=table)

    @cached_property
    def is_dense(self) -> bool:
        """Whether `dense` exists: few inputs, and little work to fill the tables."""
        if self.given_table is not None:
            return True
        if not truth.fits(self.inputs, self.outputs):
            return False
        sets = [s for s in (self.given_on, self.given_dc, self.given_off) if s is not None]
        return sum(truth.raster_work(s) for s in sets) <= truth.MOST_WORK

    @cached_property
    def dense(self) -> Dense:
        """The function as truth tables of 2^inputs bits per output; requires `is_dense`."""
        if self.given_table is not None:
            return self.given_table
        on, dc = truth.rasterised(self.on), truth.rasterised(self.dc)
        if self.given_off is None:
            return Dense(self.inputs, self.outputs, on & ~dc, dc)
        off = truth.rasterised(self.given_off)
        empty = Dense(self.inputs, self.outputs, off & ~off, off & ~off)
        return Dense(self.inputs, self.outputs, on & ~dc, ~(on & ~dc | off) & empty.universe)

    @cached_property
    def on(self) -> Cubes:
        """Cubes of the points to cover: as given, else a cover that may include DC points."""
        if self.given_on is not None:
            return self.given_on
        return isop(self.dense)

    @cached_property
    def dc(self) -> Cubes:
        """Cubes of don't-care points: as given, else an irredundant cover of them."""
        if self.given_dc is not None:
            return self.given_dc
        return isop(_fully(self.dense, self.dense.dc))

    def stated(self, clock: Clock | None = None) -> Function:
        """Return the function with ON and DC as cubes, and all don't-cares in DC.

        Raises `GaveUpError` where the clock runs out.
        """
        if self.given_off is None and self.given_on is not None:
            return self
        if self.is_dense:
            table = self.dense
            on, dc = isop(table, clock), isop(_fully(table, table.dc), clock)
            return Function(self.inputs, self.outputs, on, dc, given_table=table)
        left = complement(self.on.joined(self.off), clock)
        return Function.from_cubes(self.on, self.dc.joined(left))

    @cached_property
    def off(self) -> Cubes:
        """Cubes of the points where an output must be 0, derived where they were not given.

        For functions of many inputs this may take very long: `complement` has a clock.
        """
        if self.given_off is not None:
            return self.given_off
        if self.is_dense:
            return isop(_fully(self.dense, self.dense.off))
        return complement(self.on.joined(self.dc))


def in_phase(function: Function, phase: Sequence[bool]) -> Function:
    """Return the function with the outputs that are False in `phase` complemented."""
    if all(phase):
        return function
    kept = pack(np.array([phase], np.bool_))
    if function.is_dense:
        table = function.dense
        upright = np.array(phase, np.bool_)[:, None]
        on = np.where(upright, table.on, table.off)
        return Function.from_dense(Dense(table.inputs, table.outputs, on, table.dc.copy()))
    ones, zeros = function.on, function.off

    def chosen(direct: Cubes, complemented: Cubes) -> Cubes:
        first = direct.with_outputs(direct.out & kept)
        return first.joined(complemented.with_outputs(complemented.out & ~kept))

    off = None if function.given_off is None else chosen(zeros, ones)
    return Function.from_cubes(chosen(ones, zeros), function.dc, off)


def _fully(table: Dense, on: U64) -> Dense:
    """Return a plane of a table as a function without don't-cares."""
    return Dense(table.inputs, table.outputs, on, on & ~on)


@dataclass(frozen=True, slots=True, eq=False)
class Cover:
    """A sum of products for every output.

    `proved` is True if no cover has fewer products; `lower_bound` is the largest proved bound on
    that number. `note` explains failures and missing proofs. `method` made the cover; it may differ
    from the requested one. A product of several outputs counts once.
    """

    cubes: Cubes
    method: str
    proved: bool = False
    lower_bound: int = 0
    seconds: float = 0.0
    note: str = ""

    @property
    def products(self) -> int:
        return len(self.cubes)

    @property
    def literals(self) -> int:
        return self.cubes.literals

    @property
    def connections(self) -> int:
        return self.cubes.connections

    @property
    def shared(self) -> int:
        return int((unpack(self.cubes.out, self.cubes.outputs).sum(axis=1) > 1).sum())

    def _repr_html_(self) -> str:
        return cover_html(self)

    def __repr__(self) -> str:
        bound = "minimum" if self.proved else f"at least {self.lower_bound}"
        head = (
            f"Cover({self.products} products ({bound}), {self.literals} literals, "
            f"{self.connections} connections, by {self.method})"
        )
        return "\n".join([head, *([f"  note: {self.note}"] if self.note else []), repr(self.cubes)])


# --------------------------------------------------------------------------------------------------
# Karnaugh maps: truth tables of at most six inputs in Gray order, with products, as SVG.
#
# The first input bits number the rows, the others the columns, both in Gray order: neighbours
# differ in one input. Values are 0, 1 and 2 (don't-care).
# --------------------------------------------------------------------------------------------------

DRAWN = 6  # inputs of a map, at most
MOST = 8  # outputs of a drawn cover, at most
CELL, EDGE = 34, 58  # pixels of a cell, and of the margin for names
COLOURS = 8
# For notebooks, which have no style sheet: distinguishable colours (Okabe and Ito).
INKS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#882255", "#666666")
STYLE = (
    "svg.karnaugh{max-width:24rem;margin:.3rem;background:#fff}"
    "svg.karnaugh text{font:13px system-ui,sans-serif;fill:#223}"
    "svg.karnaugh .cell{fill:#fff;stroke:#99a}svg.karnaugh .v1{fill:#e8eef6}"
    "svg.karnaugh .v2{fill:#f4f4f4}svg.karnaugh .loop{fill:none;stroke-width:2.2}"
    + "".join(f"svg.karnaugh .c{k + 1}{{stroke:{ink}}}" for k, ink in enumerate(INKS))
)


def cover_html(cover: Cover) -> str:
    """Return maps of the outputs of a small cover, else its text, for notebooks."""
    cubes, head = cover.cubes, repr(cover).partition("\n")[0]
    if not (0 < cubes.inputs <= DRAWN and 0 < cubes.outputs <= MOST):
        return f"<pre>{html.escape(repr(cover))}</pre>"
    rows, names = cubes.inputs // 2, [f"x{k}" for k in range(cubes.inputs)]
    maps = []
    for output in range(cubes.outputs):
        own = [term for term, owners in cubes.rows() if owners[output] == "1"]
        ones = [any(holds(term, k) for term in own) for k in range(1 << cubes.inputs)]
        drawn = karnaugh(np.array(ones, np.uint8), rows, names, own)
        maps.append(f"<figure>{drawn}<figcaption>y{output}</figcaption></figure>")
    flow = f'<div style="display:flex;flex-wrap:wrap">{"".join(maps)}</div>'
    return f"<div><style>{STYLE}</style>{html.escape(head)}{flow}</div>"


def holds(cube: str, minterm: int) -> bool:
    """Tell whether a product of letters 0, 1, - contains a minterm, highest bit first."""
    last = len(cube) - 1
    return all(letter in {"-", "01"[minterm >> (last - k) & 1]} for k, letter in enumerate(cube))


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def gray(k: int) -> int:
    return k ^ k >> 1


def cells(values: Values, rows: int) -> Values:
    """Return a truth table (minterms in order) as a map of (rows, columns)."""
    inputs = len(values).bit_length() - 1
    down = np.array([gray(k) for k in range(1 << rows)])
    along = np.array([gray(k) for k in range(1 << (inputs - rows))])
    return np.asarray(values[(down[:, None] << (inputs - rows)) | along[None, :]])


def karnaugh(values: Values, rows: int, names: Sequence[str], cubes: Sequence[str] = ()) -> str:
    """Return a map of at most six inputs with loops of products, as SVG."""
    found = cells(values, rows)
    down, along = found.shape
    left = EDGE if rows else 20
    width, height = left + CELL * along + 12, EDGE + CELL * down + 12
    columns = len(names) - rows
    shown = f"map of {', '.join(names)}, with {counted(len(cubes), 'product')}"
    lines = [
        (
            f'<svg class="karnaugh" viewBox="0 0 {width} {height}" role="img" '
            f'style="--wide:{width}px" aria-label="{html.escape(shown)}">'
        )
    ]
    lines.append(_name(left - 8, 14, " ".join(names[:rows]), "end") if rows else "")
    lines.append(_name(left + CELL * along / 2, 14, " ".join(names[rows:]), "middle"))
    lines += [
        _name(left + CELL * (k + 0.5), EDGE - 8, _word(k, columns), "middle", "word")
        for k in range(along)
    ]
    lines += [
        _name(left - 8, EDGE + CELL * (k + 0.5) + 4, _word(k, rows), "end", "word")
        for k in range(down if rows else 0)
    ]
    for r in range(down):
        for c in range(along):
            value = int(found[r, c])
            x, y = left + CELL * c, EDGE + CELL * r
            minterm = gray(r) << columns | gray(c)
            lines.append(
                f'<rect class="cell v{value}" x="{x}" y="{y}" width="{CELL}" height="{CELL}">'
                f"<title>{minterm}</title></rect>"
            )
            lines.append(_name(x + CELL / 2, y + CELL / 2 + 5, "01–"[value], "middle", "digit"))
    for k, cube in enumerate(cubes):
        lines += _loops(k, cube, rows, (left, EDGE), (down, along))
    return "\n".join([*filter(None, lines), "</svg>"])


def _name(x: float, y: float, text: str, anchor: str, kind: str = "axis") -> str:
    at = f'x="{x:g}" y="{y:g}" text-anchor="{anchor}"'
    return f'<text class="{kind}" {at}>{html.escape(text)}</text>'


def _word(place: int, bits: int) -> str:
    return format(gray(place), f"0{bits}b") if bits else ""


def _loops(
    k: int, cube: str, rows: int, corner: tuple[int, int], shape: tuple[int, int]
) -> list[str]:
    """Return a product as loops around its cells, open where it continues on the opposite side."""
    inset = 3 + 3 * (k % 3)
    over = 7
    loops = []
    for first, last in _runs(cube[:rows], shape[0]):
        for begin, end in _runs(cube[rows:], shape[1]):
            x, y = corner[0] + CELL * begin + inset, corner[1] + CELL * first + inset
            w, h = CELL * (end - begin) - 2 * inset, CELL * (last - first) - 2 * inset
            if _around(cube[rows:], shape[1]):
                x, w = (x - inset - over, w + inset + over) if not begin else (x, w + inset + over)
            if _around(cube[:rows], shape[0]):
                y, h = (y - inset - over, h + inset + over) if not first else (y, h + inset + over)
            loops.append(
                f'<rect class="loop c{k % COLOURS + 1}" data-cube="{k}" x="{x}" y="{y}" '
                f'width="{w}" height="{h}" rx="9"><title>{html.escape(cube)}</title></rect>'
            )
    return loops


def _runs(part: str, count: int) -> list[tuple[int, int]]:
    """Return the positions of a cube on an axis as runs (first, end)."""
    runs: list[tuple[int, int]] = []
    for k in range(count):
        if not holds(part, gray(k)):
            continue
        if runs and runs[-1][1] == k:
            runs[-1] = (runs[-1][0], k + 1)
        else:
            runs.append((k, k + 1))
    return runs


def _around(part: str, count: int) -> bool:
    """Tell whether a cube wraps around: it contains both ends of an axis, but not all of it."""
    runs = _runs(part, count)
    return len(runs) == 2 and runs[0][0] == 0 and runs[1][1] == count
