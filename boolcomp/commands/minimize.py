"""`boolcomp minimize`: a two-level minimiser for anybody's PLA files."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from boolcomp.base.errors import table
from boolcomp.base.files import check_place, write_output
from boolcomp.base.loops import briefly
from boolcomp.commands.options import FilePath, json_option, minimiser_options, print_json
from boolcomp.commands.output import progress
from boolcomp.common.errors import BoolcompError, DataError, UsageError, listing, shown, suggestion

if TYPE_CHECKING:
    from boolcomp.paper.store import Recipe
    from boolcomp.twolevel.cheapest import Prices
    from boolcomp.twolevel.cubes import Cubes
    from boolcomp.twolevel.function import Cover, Function
    from boolcomp.twolevel.pla import Pla

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
        from boolcomp.commands.plafiles import EXTENSIONS

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
        from boolcomp.commands.plafiles import compare, count

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
    from boolcomp.twolevel.cheapest import prices

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
    from boolcomp.twolevel.dense import is_small

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
        from boolcomp.commands.plafiles import primes

        cubes, note = primes(source, str(path), wanted.primes, recipe.deadline)
        cover = Cover(cubes, wanted.primes, note=note)
    elif wanted.phase:
        from boolcomp.twolevel.phases import assigned

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
    from boolcomp.twolevel.clock import Clock
    from boolcomp.twolevel.lists import GaveUpError

    try:
        return function.stated(Clock(deadline))
    except GaveUpError:
        told = "the deadline was reached before its don't-cares were known"
        raise DataError(f"{path}: {told}: --output-type f needs none") from None


def _cheapest(function: Function, recipe: Recipe, prices: Prices) -> tuple[Cover, tuple[int, int]]:
    """Return a verified cover of least cost with what it costs, and what any costs at least."""
    from boolcomp.twolevel.cheapest import cheapest
    from boolcomp.twolevel.minimisation import minimise
    from boolcomp.twolevel.verify import verify

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
    from boolcomp.twolevel import netlists, pla
    from boolcomp.twolevel.cubes import Cubes as Empty

    if wanted.kind in {"blif", "verilog"}:
        signals = netlists.signals(cubes, source.input_names, source.output_names)
        title = "pla" if path == STANDARD else path.stem or "pla"
        write = netlists.blif if wanted.kind == "blif" else netlists.verilog
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
