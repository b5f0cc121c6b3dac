"""What `boolcomp minimize` does with PLA files beside minimising: compare, count, list primes."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from boolcomp.base.errors import table
from boolcomp.base.loops import briefly
from boolcomp.commands.options import print_json
from boolcomp.common.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from boolcomp.twolevel.cubes import Cubes
    from boolcomp.twolevel.pla import Pla

STATISTICS = (
    "file", "type", "inputs", "outputs", "rows", "ON", "DC", "OFF", "literals", "unate", "unread",
    "ON share", "DC share",
)  # fmt: skip
MOST_PRIMES = 1_000_000
EXTENSIONS = {"blif": ".blif", "verilog": ".v"}


def compare(files: Sequence[Path], *, as_json: bool) -> bool:
    """Say whether the second file implements the first, and at which point if it does not."""
    from boolcomp.twolevel import pla
    from boolcomp.twolevel.dense import is_small
    from boolcomp.twolevel.verify import verify

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
    from boolcomp.twolevel.dense import is_small
    from boolcomp.twolevel.statistics import statistics

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
    from boolcomp.twolevel.clock import Clock
    from boolcomp.twolevel.lists import GaveUpError

    clock = Clock(deadline)
    try:
        return (_all if kind == "all" else _essential)(source, name, clock)
    except GaveUpError:
        raise DataError(f"{name}: the deadline was reached before its primes were known") from None


def _all(source: Pla, name: str, clock: Any) -> tuple[Cubes, str]:
    import time

    from boolcomp.twolevel.essential import lightest_first
    from boolcomp.twolevel.packed import Shape, packed, unpacked
    from boolcomp.twolevel.primes import PrimesTooManyError, all_primes

    function = source.function(name).stated(clock)
    shape = Shape(function.inputs, function.outputs)
    allowed = packed(function.on.joined(function.dc))
    try:
        found = all_primes(allowed, shape, MOST_PRIMES, time.monotonic() + min(clock.left, 1e7))
    except PrimesTooManyError as error:
        raise DataError(f"{name}: {error}") from error
    return lightest_first(unpacked(found, shape).canonical()), f"{len(found)} primes"


def _essential(source: Pla, name: str, clock: Any) -> tuple[Cubes, str]:
    from boolcomp.twolevel.essential import essential, lightest_first, primes_around
    from boolcomp.twolevel.minimisation import minimise

    function = source.function(name).stated(clock)
    share = None if clock.left == float("inf") else clock.left / 3
    cover = primes_around(function, minimise(function, "own", share).cubes, clock)
    if not len(cover):
        return cover, "no primes are needed"
    chosen = essential(function, cover, clock)
    return lightest_first(
        cover.take(np.flatnonzero(chosen))
    ), f"{int(chosen.sum())} essential primes"
