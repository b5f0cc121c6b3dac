"""Specifications of sweeps, and their cells: one compilation each, with its outcome.

A cell is a value that can be sent to workers: it contains the text of its robot, not a file name.
Its key covers everything that its result depends on. Costs are stored apart from results.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import math
import time
from dataclasses import dataclass, field, fields, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boolcomp.base import VERSION
from boolcomp.base.errors import (
    MASSES,
    BoolcompError,
    DataError,
    UsageError,
    cut,
    number,
    parse_toml,
    reals,
    require_name,
    shown,
    whole,
    widths,
)
from boolcomp.base.files import is_file, read_text, temporary_folder
from boolcomp.base.processes import WorkerLostError
from boolcomp.base.workers import ALONE
from boolcomp.compact.demand import PROMISE_VERSION, SEARCH_VERSION
from boolcomp.logic import lutmapping
from boolcomp.options import DEMAND, OPTIONS, GivenOptions
from boolcomp.pipeline import compile_compact
from boolcomp.problem.function_files import parse_function
from boolcomp.problem.functions import USUAL, function_name, robot_problem
from boolcomp.problem.problem import Problem, promise_of
from boolcomp.problem.robot.library import robot_of
from boolcomp.problem.robot.model import with_payload
from boolcomp.problem.robot.toml import parse_robot
from boolcomp.problem.sources import load_source
from boolcomp.proof.bound.bounds import EFFORT
from boolcomp.targets.target import WRITERS, export_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from boolcomp.base.store import ResultPlace
    from boolcomp.compact.passes import CompactChoices
    from boolcomp.pipeline import CompactCompilation
    from boolcomp.problem.robot.model import Robot
    from boolcomp.program.program import Program


# --------------------------------------------------------------------------------------------------
# One cell of a sweep and its outcome.
# --------------------------------------------------------------------------------------------------


FORMAT = 1  # of results: raised whenever they say more, or other things
PROGRAM = "program"  # an export: the folder that `compile -o` writes
LONGEST = 1000  # characters of what went wrong


@dataclass(frozen=True, slots=True)
class SweepCell:
    """One compilation: `robot` is the text of a robot file, `label` its name in the sweep.

    Without a `function` it is the text of a function file, which has no payload. `settings` are
    those of all cells, by name; `exports` among them are targets of `export`, or `program`.
    """

    label: str = field(compare=False)
    robot: str
    function: str
    bits: int
    input_bits: tuple[tuple[str, int], ...]
    rms_error: tuple[float, ...]
    max_error: tuple[float, ...]
    error: str
    payloads: tuple[float, ...]
    target: str
    settings: Mapping[str, Any]

    @property
    def asked(self) -> dict[str, Any]:
        """The whole request, with a digest in place of the robot's text."""
        own = {one.name: getattr(self, one.name) for one in fields(self)}
        del own["label"]
        own["input_bits"] = dict(self.input_bits)
        own["robot"] = digest(self.robot)
        own |= own.pop("settings")
        made: dict[str, Any] = json.loads(canonical(own))  # as it is read from files
        return made

    @property
    def key(self) -> str:
        """The key: the request and the version of the compiler."""
        versions = [FORMAT, *installation(), SEARCH_VERSION, PROMISE_VERSION]
        return hashlib.sha256(canonical([versions, self.asked]).encode()).hexdigest()[:24]

    @property
    def choices(self) -> CompactChoices:
        """The choices of a compilation in one process; a `UsageError` for wrong values."""
        own = {one.name: getattr(self, one.name) for one in fields(self) if one.name in OPTIONS}
        shared = {name: value for name, value in self.settings.items() if value != SETTINGS[name]}
        if "proof" in shared:
            shared["proof_effort"] = self.settings["proof_effort"]
        own |= {"input_bits": dict(self.input_bits), "error": self.error or None, **shared}
        given = GivenOptions.read({name: own[name] for name in own if name in OPTIONS})
        return given.compact(self.bits, workers=ALONE)

    @property
    def source(self) -> Robot | Problem:
        """The robot, or the problem that a function file describes."""
        read = parse_robot if self.function else parse_function
        return read(self.robot, self.label)

    @property
    def group(self) -> str:
        return ", ".join(filter(None, [self.label, self.function]))

    @property
    def apart(self) -> str:
        """The settings in which cells of equal bits in a group differ."""
        widths = " ".join(f"{name}={bits}" for name, bits in self.input_bits)
        known = {
            "inputs": widths, "rms": " ".join(map(str, self.rms_error)),
            "max": " ".join(map(str, self.max_error)), "error": self.error,
        }  # fmt: skip
        parts = [f"{name} {value}" for name, value in known.items() if value]
        if self.function:
            parts.append(f"{' '.join(f'{mass:g}' for mass in self.payloads)} kg")
        return ", ".join([*parts, self.target])

    def __str__(self) -> str:
        return f"{self.group}, {self.bits} bits, {self.apart}"


@dataclass(frozen=True, slots=True)
class CellOutcome:
    """The outcome of a cell: a result with exported files (base64 by name), or an error."""

    result: dict[str, Any] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    stored: bool = False  # nothing was searched: the seconds say nothing of other cells
    why: str = ""


@lru_cache(maxsize=1024)
def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


@cache
def installation() -> list[str]:
    return [VERSION, "abc" if lutmapping.find() else "builtin"]


def compute(cell: SweepCell, asked_by: list[str], store: ResultPlace | None = None) -> CellOutcome:
    """Compile, measure, prove and export a cell.

    Results of a shared store are verified instead of searched. The installation must be that of the
    caller, because results depend on it.
    """
    if installation() != asked_by:
        own, other = " ".join(installation()), " ".join(asked_by)
        raise WorkerLostError(f"a worker has boolcomp {own}, the caller has {other}")
    start = time.perf_counter()
    try:
        choices = replace(cell.choices, store=store)
        compiled = compile_compact(cell.source, choices, cell.payloads, cell.function or USUAL)
        files = _exported_files(compiled.program, cell.settings["exports"])
    except BoolcompError as error:
        return CellOutcome(why=str(error))
    except Exception as error:  # noqa: BLE001 (a failing cell must not end the sweep)
        return CellOutcome(
            why=cut(f"failed unexpectedly: {type(error).__name__}: {error}", LONGEST)
        )
    stored = all(built.stored for built in compiled.built)
    texts = {name: base64.b64encode(data).decode() for name, data in files.items()}
    found = {**_found(compiled), "files": {k: digest_of(data) for k, data in files.items()}}
    return CellOutcome(found, texts, time.perf_counter() - start, stored)


def compute_each(
    function: Callable[[SweepCell, list[str]], CellOutcome],
    cells: Sequence[SweepCell],
    asked_by: list[str],
) -> tuple[CellOutcome, ...]:
    return tuple(function(cell, asked_by) for cell in cells)


def digest_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _exported_files(program: Program, targets: tuple[str, ...]) -> dict[str, bytes]:
    """Return exported files by target and name, sorted."""
    files: dict[str, bytes] = {}
    for target in targets:
        if target == PROGRAM:
            with temporary_folder() as folder:
                saved = folder / PROGRAM
                program.save(saved)
                for path in saved.rglob("*"):
                    if path.is_file():
                        files[f"{PROGRAM}/{path.relative_to(saved).as_posix()}"] = path.read_bytes()
            continue
        for name, content in export_texts(program, target).items():
            data = content if isinstance(content, bytes) else content.encode()
            files[f"{target}/{name}"] = data
    return dict(sorted(files.items()))


def _found(compiled: CompactCompilation) -> dict[str, Any]:
    """Return the figures of a compilation that are the same for every run."""
    program, first = compiled.program, compiled.built[0]
    return {
        "program": program.name,
        "nodes": max(built.nodes for built in compiled.built),
        "lut6": first.lut6,
        "depth": max(built.depth for built in compiled.built),
        "input_bits": {word.name: word.code.bits for word in program.inputs},
        "outputs": [
            {
                "payload": load.payload,
                "name": one.name,
                "unit": one.unit,
                "bits": one.code.bits,
                "lsb": one.code.step,
                "rms": None if one.errors is None else one.errors.rms,
                "sampled_max": None if one.errors is None else one.errors.sampled_max,
                "worst_found": None if one.errors is None else one.errors.worst_found,
                "bound": None if one.bound_note else one.bound,
                "bound_note": one.bound_note or None,
            }
            for load in program.loads
            for one in load.outputs
        ],
    }


# --------------------------------------------------------------------------------------------------
# Specifications: a TOML file with a list for each axis and settings of all cells.
# --------------------------------------------------------------------------------------------------


MOST_BYTES = 1 << 20
MOST_CELLS = 100_000


@dataclass(frozen=True, slots=True)
class Spec:
    """A sweep: its name and its cells, in the order of the file's axes, the last one fastest."""

    name: str
    cells: tuple[SweepCell, ...]


@dataclass(frozen=True, slots=True)
class _Axis:
    """A key with a list of values: how one of them is read, and what stands where none is given.

    Where single values are lists themselves (a family of loads), a list of numbers is several.
    """

    read: Callable[[str, Any], Any]
    usual: Any


def read_spec(path: Path) -> Spec:
    """Read a specification; error messages name the file."""
    try:
        document = parse_toml(read_text(path, MOST_BYTES), str(path))
        return parse_spec(document, path.stem, path.parent)
    except UsageError as error:
        raise DataError.around(error, path) from error


def parse_spec(document: dict[str, Any], name: str = "sweep", folder: Path = Path()) -> Spec:
    """Return the sweep that a document describes; files of robots are looked for in `folder`."""
    _check_keys(document)
    if not {"robots", FILES} & set(document):
        raise UsageError(
            f"it names no robots or {FILES}", 'add, for example, robots = ["machado-2r"]'
        )
    if "errors" in document and ("rms_errors" in document or "max_errors" in document):
        raise UsageError("give either errors (guaranteed) or rms_errors and max_errors")
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
        raise UsageError(
            f"{count} cells are too many for one sweep", f"at most {MOST_CELLS} are allowed"
        )
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


def _cells(
    texts: dict[str, str], axes: dict[str, list[Any]], settings: Mapping[str, Any]
) -> Iterator[SweepCell]:
    names = [one.name for one in fields(SweepCell)][2:-1]
    others = [values for key, values in axes.items() if key != "robots"]
    for (label, text), *rest in itertools.product(texts.items(), *others):
        yield SweepCell(label, text, **dict(zip(names, rest, strict=True)), settings=settings)


def _refuse_of_robots(document: dict[str, Any]) -> None:
    for key in OF_ROBOTS[1:]:
        if key in document:
            raise UsageError(f"{key} apply to robots only, not to function files")


def _check_keys(document: dict[str, Any]) -> None:
    known = ["name", *AXES, FILES, *SETTINGS]
    for key in document:
        require_name("key", key, known)


def _values(key: str, axis: _Axis, document: dict[str, Any]) -> list[Any]:
    """Return the values along an axis, each once."""
    if key not in document:
        return [axis.usual]
    given = document[key]
    values = [axis.read(key, one) for one in (given if isinstance(given, list) else [given])]
    if not values:
        raise UsageError(f"{key} is empty", "leave it out, or name something")
    for place, value in enumerate(values):
        if value in values[:place]:
            raise UsageError(f"{shown(given[place])} is listed twice", where=key)
    return values


def _check_cells(cells: Sequence[SweepCell], robots: dict[str, Robot], count: int) -> None:
    """Refuse invalid specifications before any cell runs."""
    if len({cell.robot for cell in cells}) < count:
        raise UsageError("two of the robots or files are the same one", "name it once")
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
        raise UsageError(f"robots: {shown(name)} is a function file", f"name it in {FILES}")
    return robot_of(found)


def _function_file(name: str, folder: Path) -> tuple[str, int | None]:
    """Return the text of a function file, and the bits that it names for its outputs."""
    beside = folder / name
    text = read_text(beside if is_file(beside) else Path(name), MOST_BYTES)
    try:
        return text, parse_function(text, name).bits
    except BoolcompError as error:
        raise UsageError.around(error, name) from error


def _settings(document: dict[str, Any]) -> dict[str, Any]:
    return {
        name: _setting(name, document[name]) if name in document else usual
        for name, usual in SETTINGS.items()
    }


def _setting(name: str, given: Any) -> Any:
    if name == "exports":
        return _targets_given(given)
    option = OPTIONS[name]
    readers: dict[type, Callable[[str, Any], Any]] = {str: _text, int: _whole}
    return readers.get(option.kind, option.value)(name, given)


def _text(key: str, given: Any) -> str:
    if not isinstance(given, str) or not given:
        raise UsageError(f"{shown(given)} is no name", "give a text", where=key)
    return given


def _whole(key: str, given: Any) -> int:
    if isinstance(given, str):
        raise UsageError(
            f"{shown(given)} is not a whole number", "give a whole number, such as 8", where=key
        )
    return whole(key, given)


def _function(key: str, given: Any) -> str:
    del key
    return function_name(given)


def _widths(key: str, given: Any) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(widths(key, given).items()))


def _masses(key: str, given: Any) -> tuple[float, ...]:
    masses = reals(key, given, MASSES)
    if not masses or len(set(masses)) < len(masses):
        raise UsageError(
            f"{shown(given)} is empty, or has a mass twice", "give different masses", where=key
        )
    return masses


def _error(key: str, given: Any) -> str:
    promise = promise_of(key, given)
    return ",".join(map(str, promise.parts)) if promise else ""


def _targets_given(given: Any) -> tuple[str, ...]:
    known = [*WRITERS, PROGRAM]
    names = tuple(given) if isinstance(given, list) else (given,)
    for name in names:
        require_name("export", name, known)
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
}  # in the order of the fields of `SweepCell`
FILES = "function_files"
OF_ROBOTS = ("robots", "functions", "payloads")  # what files have none of
# Options shared by all cells with their defaults. Keys of cells have "" for None.
SETTINGS: dict[str, Any] = {
    **{
        name: "" if one.default is None else one.default
        for name, one in OPTIONS.items()
        if one.group in DEMAND and name not in {*AXES, "rms_error", "max_error", "error"}
        and name not in {"target", "words"}
    },
    "proof_effort": EFFORT, "exports": (),
}  # fmt: skip


def family(masses: tuple[float, ...]) -> str:
    return " ".join(map(number, masses))
