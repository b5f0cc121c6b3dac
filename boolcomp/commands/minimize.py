"""`boolcomp minimize`: a two-level minimiser for anybody's PLA files."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import numpy as np

from boolcomp.base.errors import (
    BoolcompError,
    DataError,
    UsageError,
    listing,
    shown,
    suggestion,
    table,
)
from boolcomp.base.files import check_place, write_output
from boolcomp.base.loops import briefly
from boolcomp.commands.options import FilePath, json_option, minimiser_options, print_json
from boolcomp.commands.output import progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.twolevel.cubes import Cubes
    from boolcomp.twolevel.exact import Prices
    from boolcomp.twolevel.function import Cover, Function
    from boolcomp.twolevel.minimisation import Recipe
    from boolcomp.twolevel.pla import Pla


# --------------------------------------------------------------------------------------------------
# `boolcomp minimize`: a two-level minimiser for anybody's PLA files.
# --------------------------------------------------------------------------------------------------


STANDARD = Path("-")
USUAL = "products"  # and among covers of as many the fewest literals
TYPES = ("f", "fd", "fr", "fdr", "blif", "verilog")
PRIMES = ("all", "essential")
HEAD = (
    "file", "inputs", "outputs", "products", "literals", "shared", "proved", "at least", "seconds",
    "by",
)  # fmt: skip


class Wanted(NamedTuple):
    """How results are written, and where: None is nowhere."""

    kind: str
    phase: bool
    primes: str | None
    quiet: bool
    output: Path | None
    several: bool
    prices: Prices | None

    def place(self, path: Path) -> Path | None:
        """Return where the result of a file goes."""
        if self.output is None or self.output == STANDARD:
            return self.output
        if not (self.several or self.output.is_dir()):
            return self.output
        ending = EXTENSIONS.get(self.kind, path.suffix)
        return self.output / path.with_suffix(ending).name


class Row(NamedTuple):
    """What came of a file; outputs are upside down where `phase` has a 0.

    Where prices were given, `cost` is what it costs, and what any cover costs at least.
    """

    path: Path
    source: Pla
    cover: Cover
    phase: str
    cost: tuple[int, int] | None


@click.command("minimize", epilog="Example: boolcomp minimize adder.pla -o adder.min.pla")
@click.argument("files", nargs=-1, required=True, type=FilePath())
@minimiser_options("--method")
@click.option(
    "-o",
    "--output",
    type=FilePath(),
    help="File for the result, '-' for standard output; a folder where there are several FILES.",
)
@click.option(
    "--output-type", "kind", default="f", show_default=True,
    help="What is written: f, fd, fr, fdr (PLA: ON, don't-cares, OFF), blif, verilog.",
)  # fmt: skip
@click.option("--phase", is_flag=True, help="Turn outputs over where that takes fewer products.")
@click.option(
    "--cost", default="products", show_default=True,
    help="What is made least: products, literals, or 3:1 (prices of both); others take exact.",
)  # fmt: skip
@click.option("--primes", help="Write primes instead of a minimum: all, or essential.")
@click.option(
    "--verify", is_flag=True, help="Minimise nothing: does the 2nd file implement the 1st?"
)
@click.option("--stats", is_flag=True, help="Minimise nothing: count what FILES hold.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but the result that goes to -o -.")
@json_option
@click.pass_context
def command(
    context: click.Context,
    files: tuple[Path, ...],
    recipe: Recipe,
    output: Path | None,
    *,
    kind: str,
    cost: str,
    primes: str | None,
    phase: bool,
    verify: bool,
    stats: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Minimise PLA FILES (types f, fd, fr, fdr) and print what came of each.

    Products shared by several outputs count once. Every result is checked for equivalence with
    its input before it is written. 'proved' says that fewer products are impossible. FILES may be
    -, standard input; the result then goes to standard output. docs/minimisation.md compares the
    options with Espresso's.
    """
    _check(kind, primes, phase=phase, verify=verify, stats=stats)
    if verify or stats:
        if output is not None:
            raise UsageError(f"-o means nothing with {'--verify' if verify else '--stats'}")
        if verify and len(files) != 2:
            raise UsageError(f"--verify compares two files, and there are {len(files)}")
        if stats:
            count(files, as_json=as_json)
        elif not compare(files, as_json=as_json):
            context.exit(1)
        return
    wanted = _wanted(files, kind, primes, output, phase=phase, quiet=quiet, as_json=as_json)
    wanted = wanted._replace(prices=_prices(cost, recipe, phase=phase, primes=primes))
    rows, failures = _all_minimised(files, recipe, wanted)
    if as_json:
        print_json({"files": [_document(row, kind) for row in rows]})
    elif rows and not quiet:
        click.echo(_chart(rows), err=wanted.output == STANDARD)
    for failure in failures[:-1]:
        click.echo(f"boolcomp: error: {failure}", err=True)
    if failures:
        raise failures[-1]


def _check(kind: str, primes: str | None, *, phase: bool, verify: bool, stats: bool) -> None:
    if kind not in TYPES:
        hint = suggestion(kind, TYPES)
        raise UsageError(f"output type {shown(kind)}{hint}: types are {listing(TYPES)}")
    if primes is not None and primes not in PRIMES:
        raise UsageError(f"primes {shown(primes)}{suggestion(primes, PRIMES)}: {listing(PRIMES)}")
    asked = {"--verify": verify, "--stats": stats, "--primes": primes is not None, "--phase": phase}
    chosen = [name for name, value in asked.items() if value]
    if len(chosen) > 1:
        raise UsageError(f"{' and '.join(chosen)} do different things: give one of them")
    if primes is not None and kind in {"blif", "verilog"}:
        raise UsageError(f"primes are no cover to build: --output-type {kind} means nothing here")


def _wanted(
    files: tuple[Path, ...], kind: str, primes: str | None, output: Path | None, *, phase: bool,
    quiet: bool, as_json: bool,
) -> Wanted:  # fmt: skip
    """Return where results go, once it is sure that they can."""
    if files.count(STANDARD) > 1:
        raise UsageError("standard input can be read once: give - once")
    if output is None and not as_json and (files == (STANDARD,) or primes):
        output = STANDARD if len(files) == 1 else output
    if output == STANDARD and (len(files) > 1 or as_json):
        raise UsageError("-o - writes one PLA file and nothing else to standard output")
    if output is not None and len(files) > 1 and output.is_file():
        raise UsageError(f"{output} is a file: several results need a folder")
    if output is not None and output != STANDARD and not output.is_dir():
        check_place(output / "any" if len(files) > 1 else output)
    wanted = Wanted(kind, phase, primes, quiet, output, len(files) > 1, None)
    if output is not None and len(files) > 1:
        names = [place.name for path in files if (place := wanted.place(path)) is not None]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice:
            raise UsageError(
                f"the results of two FILES are called {twice}: in one folder they would be one"
            )
    return wanted


def _prices(cost: str, recipe: Recipe, *, phase: bool, primes: str | None) -> Prices | None:
    """Return other prices than the usual: then covers are exact, of the function as it is."""
    if cost == USUAL:
        return None
    from boolcomp.twolevel.exact import prices

    found = prices(cost)
    if recipe.method != "exact" or phase or primes:
        raise UsageError(f"--cost {cost} takes --method exact, and neither --phase nor --primes")
    return found


def _all_minimised(
    files: tuple[Path, ...], recipe: Recipe, wanted: Wanted
) -> tuple[list[Row], list[BoolcompError]]:
    rows: list[Row] = []
    failures: list[BoolcompError] = []
    with progress("minimising", len(files)) as step:
        for path in files:
            try:
                rows.append(_minimised(path, recipe, wanted))
            except BoolcompError as error:
                failures.append(error)
            step(path.name)
    return rows, failures


def _minimised(path: Path, recipe: Recipe, wanted: Wanted) -> Row:
    from boolcomp.twolevel import pla
    from boolcomp.twolevel.cubes import is_small

    source = pla.read(path)
    small = is_small(source.inputs, source.outputs)
    row, text = briefly(partial(_made, path, source, recipe, wanted), small=small)
    if row.cover.note and not wanted.quiet:
        click.echo(f"boolcomp: note: {path}: {row.cover.note}", err=True)
    place = wanted.place(path)
    if place == STANDARD:
        click.echo(text, nl=False)
    elif place is not None:
        write_output(place, text)
    return row


def _made(path: Path, source: Pla, recipe: Recipe, wanted: Wanted) -> tuple[Row, str]:
    """Return what comes of a file, and its text, which is empty where none is written."""
    from boolcomp.twolevel.function import Cover
    from boolcomp.twolevel.minimisation import minimise

    function = source.function(str(path))
    phase = (True,) * function.outputs
    cost = None
    if wanted.primes:
        cubes, note = primes(source, str(path), wanted.primes, recipe.deadline)
        cover = Cover(cubes, wanted.primes, note=note)
    elif wanted.phase:
        from boolcomp.twolevel.minimisation import assigned

        phase, function, cover = assigned(function, recipe.method, recipe.deadline)
    elif wanted.prices is None:
        cover = minimise(function, recipe.method, recipe.deadline)
    else:
        cover, cost = _cheapest(function, recipe, wanted.prices)
    text = ""
    if wanted.place(path) is not None:
        if wanted.kind in {"fd", "fdr"}:
            function = _stated(function, path, recipe.deadline)
        text = _text(path, source, function, cover.cubes, phase, wanted)
    return Row(path, source, cover, "".join("01"[one] for one in phase), cost), text


def _stated(function: Function, path: Path, deadline: float | None) -> Function:
    """Return a function whose don't-cares can be written: of type fr they are what is left."""
    from boolcomp.twolevel.cubes import Clock
    from boolcomp.twolevel.function import GaveUpError

    try:
        return function.stated(Clock(deadline))
    except GaveUpError:
        told = "the deadline was reached before its don't-cares were known"
        raise DataError(f"{path}: {told}: --output-type f needs none") from None


def _cheapest(function: Function, recipe: Recipe, prices: Prices) -> tuple[Cover, tuple[int, int]]:
    """Return a verified cover of least cost with what it costs, and what any costs at least."""
    from boolcomp.twolevel.exact import cheapest
    from boolcomp.twolevel.function import verify
    from boolcomp.twolevel.minimisation import minimise

    share = None if recipe.deadline is None else recipe.deadline / 5
    start = minimise(function, "own", share)
    found = cheapest(function, prices, start, None if share is None else 4 * share)
    wrong = verify(function, found.cover.cubes)
    if wrong is not None:
        raise DataError(f"the cover of least cost is wrong: {wrong}: please report this")
    return found.cover, (found.cost, found.bound)


def _text(
    path: Path,
    source: Pla,
    function: Function,
    cubes: Cubes,
    phase: tuple[bool, ...],
    wanted: Wanted,
) -> str:
    """Return a cover as it is to be written; sets beside ON are those of the file's function."""
    from boolcomp.twolevel import pla
    from boolcomp.twolevel.cubes import Cubes as Empty

    if wanted.kind in {"blif", "verilog"}:
        signals = pla.signals(cubes, source.input_names, source.output_names)
        title = "pla" if path == STANDARD else path.stem or "pla"
        write = pla.blif if wanted.kind == "blif" else pla.verilog
        return write(cubes, signals, phase, "_".join(title.split()))
    none = Empty.empty(cubes.inputs, cubes.outputs)
    dont_cares = function.dc if "d" in wanted.kind else none
    off = function.off if "r" in wanted.kind else none
    turned = None if all(phase) else phase
    names = source.input_names, source.output_names
    return pla.render(pla.from_sets(wanted.kind, (cubes, dont_cares, off), *names, turned))


def _chart(rows: list[Row]) -> str:
    turned = any("0" in row.phase for row in rows)
    priced = any(row.cost for row in rows)
    header = [*HEAD, *(["phase"] if turned else []), *(["cost", "at least"] if priced else [])]
    cells = [
        [
            str(path),
            str(source.inputs),
            str(source.outputs),
            str(cover.products),
            str(cover.literals),
            str(cover.shared),
            *_known(cover),
            f"{cover.seconds:.2f}",
            cover.method,
            *([phase] if turned else []),
            *map(str, cost or ()),
        ]
        for path, source, cover, phase, cost in rows
    ]
    return table(header, cells, left=(0, 6, 9, 10) if turned else (0, 6, 9))


def _known(cover: Cover) -> tuple[str, str]:
    """Return whether a cover is proved minimal, and what any has at least; of primes neither."""
    if cover.method in PRIMES:
        return "-", "-"
    return "yes" if cover.proved else "no", str(cover.lower_bound)


def _document(row: Row, kind: str) -> dict[str, Any]:
    path, source, cover, phase, cost = row
    least = {} if cost is None else {"cost": cost[0], "cost_at_least": cost[1]}
    return {
        "file": str(path),
        "inputs": source.inputs,
        "outputs": source.outputs,
        "products": cover.products,
        "literals": cover.literals,
        "connections": cover.connections,
        "shared": cover.shared,
        "proved": cover.proved,
        "lower_bound": cover.lower_bound,
        "seconds": cover.seconds,
        "method": cover.method,
        "note": cover.note,
        "phase": phase,
        "output_type": kind,
        **least,
    }


# --------------------------------------------------------------------------------------------------
# What `boolcomp minimize` does with PLA files beside minimising: compare, count, list primes.
# --------------------------------------------------------------------------------------------------


STATISTICS = (
    "file", "type", "inputs", "outputs", "rows", "ON", "DC", "OFF", "literals", "unate", "unread",
    "ON share", "DC share",
)  # fmt: skip
MOST_PRIMES = 1_000_000
EXTENSIONS = {"blif": ".blif", "verilog": ".v"}


def compare(files: Sequence[Path], *, as_json: bool) -> bool:
    """Say whether the second file implements the first, and at which point if it does not."""
    from boolcomp.twolevel import pla
    from boolcomp.twolevel.cubes import is_small
    from boolcomp.twolevel.function import verify

    first, second = (pla.read(path) for path in files)
    wanted = first.function(str(files[0]))
    given = second.function(str(files[1]))
    if (wanted.inputs, wanted.outputs) != (given.inputs, given.outputs):
        raise DataError(
            f"{files[0]} has {wanted.inputs} inputs and {wanted.outputs} outputs, {files[1]} has "
            f"{given.inputs} and {given.outputs}: no function is another's"
        )
    witness = briefly(
        lambda: verify(wanted, in_order(given.on, second, first)),
        small=is_small(wanted.inputs, wanted.outputs),
    )
    if as_json:
        point = None if witness is None else {
            "output": _name(first.output_names, witness.output, "output"), "point": witness.point,
            "expected": witness.expected,
        }  # fmt: skip
        pair = {"wanted": str(files[0]), "given": str(files[1])}
        print_json({"holds": witness is None, **pair, "witness": point})
    elif witness is None:
        click.echo(f"{files[1]} implements {files[0]}: every point of ON, none of OFF")
    else:
        name = _name(first.output_names, witness.output, "output")
        click.echo(
            f"{files[1]} does not implement {files[0]}: {name} at inputs {witness.point} is "
            f"{1 - witness.expected} and must be {witness.expected}"
        )
    return witness is None


def _name(names: tuple[str, ...] | None, place: int, kind: str) -> str:
    return names[place] if names else f"{kind} {place}"


def in_order(cubes: Cubes, own: Pla, other: Pla) -> Cubes:
    """Return cubes with their columns in another file's order, where both have the same names."""
    from boolcomp.twolevel.cubes import Cubes, unpack

    inputs = _places(own.input_names, other.input_names, own.inputs)
    outputs = _places(own.output_names, other.output_names, own.outputs)
    planes = ((cubes.zero, inputs), (cubes.one, inputs), (cubes.out, outputs))
    zero, one, out = (unpack(plane, len(order))[:, order] for plane, order in planes)
    return Cubes.from_bits(zero, one, out)


def _places(
    own: tuple[str, ...] | None, other: tuple[str, ...] | None, width: int
) -> Sequence[int]:
    if own is None or other is None or len(set(own)) < width or set(own) != set(other):
        return range(width)
    return [own.index(name) for name in other]


def count(files: Sequence[Path], *, as_json: bool) -> None:
    """Print what the files hold."""
    from boolcomp.twolevel import pla
    from boolcomp.twolevel.cubes import is_small
    from boolcomp.twolevel.pla import statistics

    found = []
    for path in files:
        source = pla.read(path)
        small = is_small(source.inputs, source.outputs)
        found.append((path, briefly(partial(statistics, source, str(path)), small=small)))
    if as_json:
        print_json({"files": [{"file": str(path), **asdict(own)} for path, own in found]})
        return
    rows = [[str(path), *(_cell(value) for value in asdict(own).values())] for path, own in found]
    click.echo(table(STATISTICS, rows, left=(0, 1)))


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.2%}" if isinstance(value, float) else str(value)


def primes(source: Pla, name: str, kind: str, deadline: float | None) -> tuple[Cubes, str]:
    """Return all primes of ON and don't-cares together, or those that every prime cover has."""
    from boolcomp.twolevel.cubes import Clock
    from boolcomp.twolevel.function import GaveUpError

    clock = Clock(deadline)
    try:
        return (_all if kind == "all" else _essential)(source, name, clock)
    except GaveUpError:
        raise DataError(f"{name}: the deadline was reached before its primes were known") from None


def _all(source: Pla, name: str, clock: Any) -> tuple[Cubes, str]:
    import time

    from boolcomp.twolevel.cubes import Shape, packed, unpacked
    from boolcomp.twolevel.primes import PrimesTooManyError, all_primes, lightest_first

    function = source.function(name).stated(clock)
    shape = Shape(function.inputs, function.outputs)
    allowed = packed(function.on.joined(function.dc))
    try:
        found = all_primes(allowed, shape, MOST_PRIMES, time.monotonic() + min(clock.left, 1e7))
    except PrimesTooManyError as error:
        raise DataError(f"{name}: {error}") from error
    return lightest_first(unpacked(found, shape).canonical()), f"{len(found)} primes"


def _essential(source: Pla, name: str, clock: Any) -> tuple[Cubes, str]:
    from boolcomp.twolevel.minimisation import minimise
    from boolcomp.twolevel.primes import essential, lightest_first, primes_around

    function = source.function(name).stated(clock)
    share = None if clock.left == float("inf") else clock.left / 3
    cover = primes_around(function, minimise(function, "own", share).cubes, clock)
    if not len(cover):
        return cover, "no primes are needed"
    chosen = essential(function, cover, clock)
    return lightest_first(
        cover.take(np.flatnonzero(chosen))
    ), f"{int(chosen.sum())} essential primes"
