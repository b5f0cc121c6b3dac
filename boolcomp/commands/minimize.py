"""`boolcomp minimize`: two-level minimisation, comparison and statistics of PLA files."""

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
    require_name,
)
from boolcomp.base.files import check_place, write_output
from boolcomp.base.loops import briefly
from boolcomp.base.results import ResultColumn, Results, yes
from boolcomp.commands.options import (
    FilePath,
    changed,
    json_option,
    options,
    print_result,
    tabled,
    wants_json,
)
from boolcomp.commands.output import progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.options import GivenOptions
    from boolcomp.twolevel.cubes import Cubes
    from boolcomp.twolevel.exact import ProductPrices
    from boolcomp.twolevel.function import Cover, Function
    from boolcomp.twolevel.minimisation import Recipe
    from boolcomp.twolevel.pla import Pla


STANDARD = Path("-")
USUAL = "products"  # ties are broken by the number of literals
TYPES = ("f", "fd", "fr", "fdr", "blif", "verilog")
PRIMES = ("all", "essential")
BRIEF = (
    "file, inputs, outputs, products, literals, proved, at least, by, phase, cost, cost at least"
)


class MinimizeRequest(NamedTuple):
    """Form and destination of results; without `output` none are written."""

    kind: str
    phase: bool
    primes: str | None
    quiet: bool
    output: Path | None
    several: bool
    prices: ProductPrices | None

    def place(self, path: Path) -> Path | None:
        """Return the path for the result of a file."""
        if self.output is None or self.output == STANDARD:
            return self.output
        if not (self.several or self.output.is_dir()):
            return self.output
        ending = EXTENSIONS.get(self.kind, path.suffix)
        return self.output / path.with_suffix(ending).name


class MinimizedFile(NamedTuple):
    """The result of a file; outputs are inverted where `phase` has a 0.

    With prices, `cost` is the cost of the cover and a lower bound for all covers.
    """

    path: Path
    source: Pla
    cover: Cover
    phase: str
    cost: tuple[int, int] | None


@click.command("minimize", epilog="Example: boolcomp minimize adder.pla -o adder.min.pla")
@click.argument("files", nargs=-1, required=True, type=FilePath())
@options(changed("minimizer", spelled="--method"), "deadline")
@click.option("-o", "--output", type=FilePath(), help="File for the result, '-' for standard "
              "output; a folder for several FILES.")  # fmt: skip
@click.option(
    "--output-type", "kind", default="f", show_default=True,
    help="Output format: f, fd, fr, fdr (PLA: ON, don't-cares, OFF), blif, verilog.",
)  # fmt: skip
@click.option("--phase", is_flag=True, help="Invert outputs if that needs fewer products.")
@click.option(
    "--cost", default="products", show_default=True,
    help="Cost to minimise: products, literals, or 3:1 (prices of both); all but products need "
    "--method exact.",
)  # fmt: skip
@click.option("--primes", help="Write primes instead of a minimum: all, or essential.")
@click.option("--verify", is_flag=True, help="Only check whether the 2nd file implements the 1st.")
@click.option("--stats", is_flag=True, help="Only print statistics of FILES.")
@click.option("-q", "--quiet", is_flag=True, help="Print only the result (-o -).")
@json_option
@click.pass_context
def command(
    context: click.Context, files: tuple[Path, ...], output: Path | None, *,
    options: GivenOptions, kind: str, cost: str, primes: str | None, phase: bool, verify: bool,
    stats: bool, quiet: bool,
) -> None:  # fmt: skip
    """Minimise PLA FILES (types f, fd, fr, fdr) and print a summary of each.

    Products shared by several outputs count once. Every result is checked for equivalence with
    its input before it is written. 'proved' means that fewer products are impossible. FILES may be
    -, standard input; the result then goes to standard output.
    docs/how-to/minimise-pla-files.md compares the options with those of Espresso.
    """
    _check(kind, primes, phase=phase, verify=verify, stats=stats)
    recipe = options.recipe
    if verify or stats:
        if output is not None:
            raise UsageError(f"-o has no effect with {'--verify' if verify else '--stats'}")
        if verify and len(files) != 2:
            raise UsageError(f"--verify compares two files, not {len(files)}")
        if stats:
            count(files)
        elif not compare(files):
            context.exit(1)
        return
    request = _request(files, kind, primes, output, phase=phase, quiet=quiet)
    request = request._replace(prices=_prices(cost, recipe, phase=phase, primes=primes))
    rows, failures = _all_minimised(files, recipe, request)
    results = _results(rows, kind)
    if wants_json() or (rows and not quiet):
        text = tabled(results, BRIEF) if rows else ""
        print_result({"files": results.documents}, text, err=request.output == STANDARD)
    for failure in failures[:-1]:
        click.echo(failure.report, err=True)
    if failures:
        raise failures[-1]


def _check(kind: str, primes: str | None, *, phase: bool, verify: bool, stats: bool) -> None:
    require_name("output type", kind, TYPES)
    if primes is not None:
        require_name("primes", primes, PRIMES)
    flags = {"--verify": verify, "--stats": stats, "--primes": primes is not None, "--phase": phase}
    chosen = [name for name, value in flags.items() if value]
    if len(chosen) > 1:
        raise UsageError(f"{' and '.join(chosen)} exclude each other", "give one")
    if primes is not None and kind in {"blif", "verilog"}:
        raise UsageError(f"--output-type {kind} has no effect with --primes", "give a PLA type")


def _request(
    files: tuple[Path, ...], kind: str, primes: str | None, output: Path | None, *, phase: bool,
    quiet: bool,
) -> MinimizeRequest:  # fmt: skip
    """Return form and destination of results, after checking that they can be written."""
    if files.count(STANDARD) > 1:
        raise UsageError("standard input can be read only once", "give - only once")
    if output is None and not wants_json() and (files == (STANDARD,) or primes):
        output = STANDARD if len(files) == 1 else output
    if output == STANDARD and (len(files) > 1 or wants_json()):
        raise UsageError("-o - writes one PLA file to standard output, without --json")
    if output is not None and len(files) > 1 and output.is_file():
        raise UsageError(
            f"{output} is a file, but there are several results", "give a folder with -o"
        )
    if output is not None and output != STANDARD and not output.is_dir():
        check_place(output / "any" if len(files) > 1 else output)
    request = MinimizeRequest(kind, phase, primes, quiet, output, len(files) > 1, None)
    if output is not None and len(files) > 1:
        names = [place.name for path in files if (place := request.place(path)) is not None]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice:
            raise UsageError(f"two results have the same name, {twice}", "rename one of the files")
    return request


def _prices(cost: str, recipe: Recipe, *, phase: bool, primes: str | None) -> ProductPrices | None:
    """Return prices other than the default; these need exact covers of unchanged functions."""
    if cost == USUAL:
        return None
    from boolcomp.twolevel.exact import prices

    found = prices(cost)
    if recipe.method != "exact" or phase or primes:
        raise UsageError(f"--cost {cost} needs --method exact, without --phase and --primes")
    return found


def _all_minimised(
    files: tuple[Path, ...], recipe: Recipe, request: MinimizeRequest
) -> tuple[list[MinimizedFile], list[BoolcompError]]:
    rows: list[MinimizedFile] = []
    failures: list[BoolcompError] = []
    with progress("minimising", len(files)) as step:
        for path in files:
            try:
                rows.append(_minimised(path, recipe, request))
            except BoolcompError as error:
                failures.append(error)
            step(path.name)
    return rows, failures


def _minimised(path: Path, recipe: Recipe, request: MinimizeRequest) -> MinimizedFile:
    from boolcomp.twolevel import pla
    from boolcomp.twolevel.cubes import is_small

    source = pla.read(path)
    small = is_small(source.inputs, source.outputs)
    row, text = briefly(partial(_made, path, source, recipe, request), small=small)
    if row.cover.note and not request.quiet:
        click.echo(f"note: {path}: {row.cover.note}", err=True)
    place = request.place(path)
    if place == STANDARD:
        click.echo(text, nl=False)
    elif place is not None:
        write_output(place, text)
    return row


def _made(
    path: Path, source: Pla, recipe: Recipe, request: MinimizeRequest
) -> tuple[MinimizedFile, str]:
    """Return the result of a file, and its text, which is empty if none is written."""
    from boolcomp.twolevel.function import Cover
    from boolcomp.twolevel.minimisation import minimise

    function = source.function(str(path))
    phase = (True,) * function.outputs
    cost = None
    if request.primes:
        cubes, note = primes(source, str(path), request.primes, recipe.deadline)
        cover = Cover(cubes, request.primes, note=note)
    elif request.phase:
        from boolcomp.twolevel.minimisation import phase_assignment

        phase, function, cover = phase_assignment(function, recipe.method, recipe.deadline)
    elif request.prices is None:
        cover = minimise(function, recipe.method, recipe.deadline)
    else:
        cover, cost = _cheapest(function, recipe, request.prices)
    text = ""
    if request.place(path) is not None:
        if request.kind in {"fd", "fdr"}:
            function = _stated(function, path, recipe.deadline)
        text = _text(path, source, function, cover.cubes, phase, request.kind)
    return MinimizedFile(path, source, cover, "".join("01"[one] for one in phase), cost), text


def _stated(function: Function, path: Path, deadline: float | None) -> Function:
    """Return a function with an explicit DC set; for type fr that is the complement of ON ∪ OFF."""
    from boolcomp.twolevel.cubes import Clock, GaveUpError

    try:
        return function.stated(Clock(deadline))
    except GaveUpError:
        raise DataError(
            "timeout while computing its don't-cares", "use --output-type f", where=path
        ) from None


def _cheapest(
    function: Function, recipe: Recipe, prices: ProductPrices
) -> tuple[Cover, tuple[int, int]]:
    """Return a verified cover of least cost, with its cost and a lower bound for all covers."""
    from boolcomp.twolevel.exact import cheapest
    from boolcomp.twolevel.function import verify
    from boolcomp.twolevel.minimisation import minimise

    share = None if recipe.deadline is None else recipe.deadline / 5
    start = minimise(function, "own", share)
    found = cheapest(function, prices, start, None if share is None else 4 * share)
    witness = verify(function, found.cover.cubes)
    if witness is not None:
        raise DataError(f"the cover of least cost is wrong: {witness}", "please report this error")
    return found.cover, (found.cost, found.bound)


def _text(
    path: Path, source: Pla, function: Function, cubes: Cubes, phase: tuple[bool, ...], kind: str
) -> str:
    """Return a cover in an output format; DC and OFF sets are those of the file's function."""
    from boolcomp.twolevel import pla
    from boolcomp.twolevel.cubes import Cubes as Empty

    if kind in {"blif", "verilog"}:
        signals = pla.signals(cubes, source.input_names, source.output_names)
        title = "pla" if path == STANDARD else path.stem or "pla"
        write = pla.blif if kind == "blif" else pla.verilog
        return write(cubes, signals, phase, "_".join(title.split()))
    none = Empty.empty(cubes.inputs, cubes.outputs)
    dont_cares = function.dc if "d" in kind else none
    off = function.off if "r" in kind else none
    inverted = None if all(phase) else phase
    names = source.input_names, source.output_names
    return pla.render(pla.from_sets(kind, (cubes, dont_cares, off), *names, inverted))


def _results(rows: list[MinimizedFile], kind: str) -> Results:
    """Return the results as columns; the text has no proof and no lower bound of sets of primes."""
    inverted = any("0" in row.phase for row in rows)
    columns = [
        ResultColumn("file", "file", lambda row: str(row.path), left=True),
        ResultColumn("inputs", "inputs", "source.inputs"),
        ResultColumn("outputs", "outputs", "source.outputs"),
        ResultColumn("products", "products", "cover.products"),
        ResultColumn("literals", "literals", "cover.literals"),
        ResultColumn("connections", "", "cover.connections"),
        ResultColumn("shared", "shared", "cover.shared"),
        ResultColumn("", "proved", lambda row: _known(row.cover, "proved"), yes, left=True),
        ResultColumn("", "at least", lambda row: _known(row.cover, "lower_bound")),
        ResultColumn("proved", "", "cover.proved"),
        ResultColumn("lower_bound", "", "cover.lower_bound"),
        ResultColumn("seconds", "seconds", "cover.seconds", ".2f"),
        ResultColumn("method", "by", "cover.method", left=True),
        ResultColumn("note", "", "cover.note"),
        ResultColumn("phase", "phase" if inverted else "", left=True),
        ResultColumn("output_type", "", lambda _: kind),
    ]
    if any(row.cost for row in rows):
        columns += [
            ResultColumn("cost", "cost", lambda row: row.cost[0]),
            ResultColumn("cost_at_least", "cost at least", lambda row: row.cost[1]),
        ]
    return Results(columns, rows, "-")


def _known(cover: Cover, name: str) -> Any:
    """Return a figure of a cover's proof; None for sets of primes."""
    return None if cover.method in PRIMES else getattr(cover, name)


# --------------------------------------------------------------------------------------------------
# Comparison, statistics and primes of PLA files.
# --------------------------------------------------------------------------------------------------


MOST_PRIMES = 1_000_000
EXTENSIONS = {"blif": ".blif", "verilog": ".v"}


def compare(files: Sequence[Path]) -> bool:
    """Print whether the second file implements the first, or a point where it does not."""
    from boolcomp.twolevel import pla
    from boolcomp.twolevel.cubes import is_small
    from boolcomp.twolevel.function import verify

    first, second = (pla.read(path) for path in files)
    specification = first.function(str(files[0]))
    given = second.function(str(files[1]))
    sizes = specification.inputs, specification.outputs
    if sizes != (given.inputs, given.outputs):
        raise DataError(
            f"{files[0]} has {sizes[0]} inputs and {sizes[1]} outputs, {files[1]} has "
            f"{given.inputs} and {given.outputs}: the files cannot be compared"
        )
    witness = briefly(
        lambda: verify(specification, in_order(given.on, second, first)), small=is_small(*sizes)
    )
    name = ""
    if witness is not None:
        names, place = first.output_names, witness.output
        name = names[place] if names else f"output {place}"
    point, text = None, f"{files[1]} implements {files[0]}: all points of ON, no point of OFF"
    if witness is not None:
        point = {"output": name, "point": witness.point, "expected": witness.expected}
        text = (
            f"{files[1]} does not implement {files[0]}: {name} at inputs {witness.point} is "
            f"{1 - witness.expected} and must be {witness.expected}"
        )
    pair = {"wanted": str(files[0]), "given": str(files[1])}
    print_result({"holds": witness is None, **pair, "witness": point}, text)
    return witness is None


def in_order(cubes: Cubes, own: Pla, other: Pla) -> Cubes:
    """Return cubes with columns in the order of another file, if both have the same names."""
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


STATISTICS = tuple(
    ResultColumn(key, header, left=key in {"file", "kind"}, text=".2%" if "share" in key else "")
    for key, header in {
        "file": "file", "kind": "type", "inputs": "inputs", "outputs": "outputs", "rows": "rows",
        "on_rows": "ON", "dc_rows": "DC", "off_rows": "OFF", "literals": "literals",
        "unate": "unate", "unread": "unread", "on_share": "ON share", "dc_share": "DC share",
    }.items()
)  # fmt: skip


def count(files: Sequence[Path]) -> None:
    """Print statistics of the files."""
    from boolcomp.twolevel import pla
    from boolcomp.twolevel.cubes import is_small

    rows = []
    for path in files:
        source = pla.read(path)
        small = is_small(source.inputs, source.outputs)
        found = briefly(partial(pla.statistics, source, str(path)), small=small)
        rows.append({"file": str(path), **asdict(found)})
    results = Results(STATISTICS, rows, "-")
    short = "file, type, inputs, outputs, rows, ON, DC, OFF, literals, unate, unread"
    print_result({"files": results.documents}, tabled(results, short))


def primes(source: Pla, name: str, kind: str, deadline: float | None) -> tuple[Cubes, str]:
    """Return all primes of ON ∪ DC, or the essential ones, and a note on their number."""
    from boolcomp.twolevel.cubes import Clock, GaveUpError

    clock = Clock(deadline)
    try:
        return (_all if kind == "all" else _essential)(source, name, clock)
    except GaveUpError:
        raise DataError(
            "timeout while computing its primes", "use a longer --deadline", where=name
        ) from None


def _all(source: Pla, name: str, clock: Any) -> tuple[Cubes, str]:
    from boolcomp.twolevel.primes import PrimesTooManyError, all_primes, lightest_first

    function = source.function(name).stated(clock)
    shape, allowed = function.on.shape, function.on.joined(function.dc).valid_rows()
    try:
        found = all_primes(allowed, shape, MOST_PRIMES, clock)
    except PrimesTooManyError as error:
        raise DataError.around(error, name) from error
    return lightest_first(shape.cubes(found).canonical()), f"{len(found)} primes"


def _essential(source: Pla, name: str, clock: Any) -> tuple[Cubes, str]:
    from boolcomp.twolevel.heuristic import primes_around
    from boolcomp.twolevel.minimisation import minimise
    from boolcomp.twolevel.primes import essential, lightest_first

    function = source.function(name).stated(clock)
    share = None if clock.left == float("inf") else clock.left / 3
    start, allowed = minimise(function, "own", share).cubes, function.on.joined(function.dc)
    cover = primes_around(start, allowed, clock).canonical()
    if not len(cover):
        return cover, "no primes are needed"
    chosen = essential(function, cover, clock)
    return lightest_first(
        cover.take(np.flatnonzero(chosen))
    ), f"{int(chosen.sum())} essential primes"
