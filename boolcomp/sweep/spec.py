"""What a sweep is of: a TOML file with a list for each axis, and choices that all cells share."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boolcomp.base.errors import number, parse_toml
from boolcomp.base.files import is_file, read_text
from boolcomp.common.choices import MASSES, flag, real, reals, whole, widths
from boolcomp.common.errors import BoolcompError, DataError, UsageError, listing, shown, suggestion
from boolcomp.problem.functions import USUAL, function_name, robot_problem
from boolcomp.problem.problem import Problem
from boolcomp.problem.promise import promise_of
from boolcomp.problem.robot.library import robot_of
from boolcomp.problem.robot.payload import with_payload
from boolcomp.problem.sources import load_source
from boolcomp.problem.written.files import parse_function
from boolcomp.scale.sweep_spec import PROGRAM, Cell, Settings
from boolcomp.targets import WRITERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from boolcomp.problem.robot.model import Robot

MOST_BYTES = 1 << 20
MOST_CELLS = 100_000


@dataclass(frozen=True, slots=True)
class Spec:
    """A sweep: its name and its cells, in the order of the file's axes, the last one fastest."""

    name: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class _Axis:
    """A key with a list of values: how one of them is read, and what stands where none is given.

    Where single values are lists themselves (a family of loads), a list of numbers is several.
    """

    read: Callable[[str, Any], Any]
    usual: Any


def read_spec(path: Path) -> Spec:
    """Read the file of a sweep; whatever is wrong with it is said with its name."""
    try:
        document = parse_toml(read_text(path, MOST_BYTES), str(path))
        return parse_spec(document, path.stem, path.parent)
    except UsageError as error:
        raise DataError(f"{path}: {error}") from error


def parse_spec(document: dict[str, Any], name: str = "sweep", folder: Path = Path()) -> Spec:
    """Return the sweep that a document describes; files of robots are looked for in `folder`."""
    _check_keys(document)
    if not {"robots", FILES} & set(document):
        raise UsageError(f'it names no robots: robots = ["machado-2r"], nor {FILES}')
    if "errors" in document and ("rms_errors" in document or "max_errors" in document):
        raise UsageError("errors are promised, rms_errors and max_errors are not: give one of them")
    settings = _settings(document)
    axes = {key: _values(key, axis, document) for key, axis in AXES.items()}
    files = _values(FILES, _Axis(_text, ""), document) if FILES in document else []
    if "robots" not in document:
        _refuse_of_robots(document)
        axes["robots"] = []
    count = math.prod(map(len, axes.values())) + len(files) * math.prod(
        len(values) for key, values in axes.items() if key not in OF_ROBOTS
    )
    if count > MOST_CELLS:
        raise UsageError(f"{count} cells are too many for one sweep: at most {MOST_CELLS}")
    robots = {one: _robot(one, folder) for one in axes["robots"]}
    written = {one: _function_file(one, folder) for one in files}
    cells = [*_cells({one: str(robot) for one, robot in robots.items()}, axes, settings)]
    for one, (text, bits) in written.items():
        own = {**axes, "functions": [""], "payloads": [(0.0,)]}
        if "bits" not in document and bits is not None:
            own["bits"] = [bits]
        cells += _cells({one: text}, own, settings)
    _check_cells(cells, robots, len(robots) + len(written))
    return Spec(_text("name", document.get("name", name)), tuple(cells))


def _cells(texts: dict[str, str], axes: dict[str, list[Any]], settings: Settings) -> Iterator[Cell]:
    names = [one.name for one in fields(Cell)][2:-1]
    others = [values for key, values in axes.items() if key != "robots"]
    for (label, text), *rest in itertools.product(texts.items(), *others):
        yield Cell(label, text, **dict(zip(names, rest, strict=True)), settings=settings)


def _refuse_of_robots(document: dict[str, Any]) -> None:
    for key in OF_ROBOTS[1:]:
        if key in document:
            raise UsageError(f"{key} are of robots: a function file says what it is of")


def _check_keys(document: dict[str, Any]) -> None:
    known = ["name", *AXES, FILES, *(one.name for one in fields(Settings))]
    for key in document:
        if key not in known:
            raise UsageError(
                f"unknown key {shown(key)}{suggestion(key, known)}: keys are {listing(known)}"
            )


def _values(key: str, axis: _Axis, document: dict[str, Any]) -> list[Any]:
    """Return the values along an axis, each once."""
    if key not in document:
        return [axis.usual]
    given = document[key]
    values = [axis.read(key, one) for one in (given if isinstance(given, list) else [given])]
    if not values:
        raise UsageError(f"{key} is empty: leave it out, or name something")
    for place, value in enumerate(values):
        if value in values[:place]:
            raise UsageError(f"{key}: {shown(given[place])} stands there twice")
    return values


def _check_cells(cells: Sequence[Cell], robots: dict[str, Robot], count: int) -> None:
    """Refuse what can be seen to be wrong before anything runs."""
    if len({cell.robot for cell in cells}) < count:
        raise UsageError("two of the robots or files are the same one: name it once")
    demands = {
        (c.bits, c.input_bits, c.rms_error, c.max_error, c.error, c.target): c for c in cells
    }
    for cell in demands.values():
        _ = cell.choices
    for cell in {(c.label, c.function, c.payloads): c for c in cells if c.function}.values():
        try:
            for mass in cell.payloads:
                robot_problem(with_payload(robots[cell.label], mass), cell.function)
        except BoolcompError as error:
            raise UsageError(f"{cell.label}, {cell.function}: {error}") from error


def _robot(name: str, folder: Path) -> Robot:
    beside = folder / name
    found = load_source(str(beside) if is_file(beside) else name)
    if isinstance(found, Problem):
        raise UsageError(f"robots: {shown(name)} is a function file: name it in {FILES}")
    return robot_of(found)


def _function_file(name: str, folder: Path) -> tuple[str, int | None]:
    """Return the text of a function file, and the bits that it names for its outputs."""
    beside = folder / name
    text = read_text(beside if is_file(beside) else Path(name), MOST_BYTES)
    try:
        return text, parse_function(text, name).bits
    except BoolcompError as error:
        raise UsageError(str(error)) from error


def _settings(document: dict[str, Any]) -> Settings:
    given = {key: read(key, document[key]) for key, read in _SHARED.items() if key in document}
    return Settings(**given)


def _text(key: str, given: Any) -> str:
    if not isinstance(given, str) or not given:
        raise UsageError(f"{key}: {shown(given)} is no name: give a text")
    return given


def _whole(key: str, given: Any) -> int:
    if isinstance(given, str):
        raise UsageError(f"{key}: {shown(given)}: give a whole number")
    return whole(key, given)


def _function(key: str, given: Any) -> str:
    del key
    return function_name(given)


def _widths(key: str, given: Any) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(widths(key, given).items()))


def _masses(key: str, given: Any) -> tuple[float, ...]:
    masses = reals(key, given, MASSES)
    if not masses or len(set(masses)) < len(masses):
        raise UsageError(f"{key}: {shown(given)}: a family of loads has one or several, all unlike")
    return masses


def _error(key: str, given: Any) -> str:
    promise = promise_of(key, given)
    return ",".join(map(str, promise.parts)) if promise else ""


def _targets_given(key: str, given: Any) -> tuple[str, ...]:
    known = [*WRITERS, PROGRAM]
    names = tuple(given) if isinstance(given, list) else (given,)
    for name in names:
        if name not in known:
            hint = suggestion(name, known)
            raise UsageError(f"{key}: {shown(name)}{hint}: exports are {listing(known)}")
    return tuple(dict.fromkeys(names))


AXES = {
    "robots": _Axis(_text, ""),
    "functions": _Axis(_function, USUAL),
    "bits": _Axis(_whole, 8),
    "input_bits": _Axis(_widths, ()),
    "rms_errors": _Axis(reals, ()),
    "max_errors": _Axis(reals, ()),
    "errors": _Axis(_error, ""),
    "payloads": _Axis(_masses, (0.0,)),
    "targets": _Axis(_text, "luts"),
}  # in the order of the fields of `Cell`
FILES = "function_files"
OF_ROBOTS = ("robots", "functions", "payloads")  # what files have none of
_SHARED: dict[str, Callable[[str, Any], Any]] = {
    "effort": real,
    "seed": _whole,
    "saturate": flag,
    "objective": _text,
    "approximate": _text,
    "flash": _whole,
    "proof": _text,
    "proof_effort": _whole,
    "certify": flag,
    "exports": _targets_given,
}


def family(masses: tuple[float, ...]) -> str:
    """Write a family of loads as tables show it."""
    return " ".join(map(number, masses))
