"""One cell of a sweep: what is compiled, and what is known of it afterwards.

A cell is a value that can be sent anywhere: it holds the text of its robot, not the name of a
file. Its key is of all that its result depends on; what it cost is told apart from the result.
"""

from __future__ import annotations

import base64
import hashlib
import json
import time
from dataclasses import dataclass, field, fields, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from boolcomp.base.files import temporary_folder
from boolcomp.base.processes import WorkerLostError
from boolcomp.base.version import VERSION
from boolcomp.common.errors import BoolcompError, cut
from boolcomp.common.workers import ALONE
from boolcomp.compact.demand import PROMISE_VERSION, SEARCH_VERSION, usual_demand
from boolcomp.compact.passes import CompactChoices
from boolcomp.logic.synthesis import abc
from boolcomp.pipeline import compile_compact
from boolcomp.problem.functions import USUAL
from boolcomp.problem.promise import promise_of
from boolcomp.problem.robot.toml import parse_robot
from boolcomp.problem.written.files import parse_function
from boolcomp.proof.bound.result import EFFORT
from boolcomp.targets import export_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from boolcomp.common.places import Place
    from boolcomp.compact.demand import Demand
    from boolcomp.pipeline import CompactCompilation
    from boolcomp.problem.problem import Problem
    from boolcomp.problem.robot.model import Robot
    from boolcomp.program.program import Program

FORMAT = 1  # of results: raised whenever they say more, or other things
PROGRAM = "program"  # an export: the folder that `compile -o` writes
LONGEST = 1000  # characters of what went wrong


@dataclass(frozen=True, slots=True)
class Settings:
    """What all cells of a sweep share; the exports are targets of `export`, and `program`."""

    effort: float = 30.0
    seed: int = 0
    saturate: bool = False
    objective: str = "nodes"
    approximate: str = ""  # tables; off of code and of promises
    flash: int = 0
    proof: str = ""  # plain, and of a promise tight
    proof_effort: int = EFFORT
    certify: bool = False
    exports: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cell:
    """What is compiled: `robot` is the text of a robot file, `label` what the sweep calls it.

    Without a `function` it is the text of a function file, which carries no load.
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
    settings: Settings

    @property
    def asked(self) -> dict[str, Any]:
        """All that was asked, but for the robot's text: its digest stands there."""
        own = {one.name: getattr(self, one.name) for one in fields(self)}
        del own["label"]
        own["input_bits"] = dict(self.input_bits)
        own["robot"] = digest(self.robot)
        shared = own.pop("settings")
        shared = {one.name: getattr(shared, one.name) for one in fields(shared)}
        made: dict[str, Any] = json.loads(canonical({**own, **shared}))  # as files say it
        return made

    @property
    def key(self) -> str:
        """What only cells of equal results share: of what was asked, and who answers."""
        versions = [FORMAT, *installation(), SEARCH_VERSION, PROMISE_VERSION]
        return hashlib.sha256(canonical([versions, self.asked]).encode()).hexdigest()[:24]

    @property
    def demand(self) -> Demand:
        """The demand; what nobody can ask for is a `UsageError`."""
        own = self.settings
        choices: dict[str, Any] = {
            "objective": own.objective, "target": self.target,
            "approximate": own.approximate or None,
        }  # fmt: skip
        return usual_demand(
            self.bits, dict(self.input_bits), rms=self.rms_error, max=self.max_error,
            error=promise_of("errors", self.error or None), grade=own.proof or "tight",
            saturate=own.saturate, flash=own.flash, effort=own.effort, seed=own.seed, **choices,
        )  # fmt: skip

    @property
    def choices(self) -> CompactChoices:
        """What is chosen of the compilation: it uses no workers, others have other cells."""
        own = self.settings
        asked = own.proof or own.proof_effort != EFFORT
        proofs: dict[str, Any] = {
            "proof": own.proof or None, "proof_effort": own.proof_effort if asked else None,
        }  # fmt: skip
        return CompactChoices(self.demand, workers=ALONE, certify=own.certify, **proofs)

    @property
    def source(self) -> Robot | Problem:
        """The robot, or the problem that a function file describes."""
        read = parse_robot if self.function else parse_function
        return read(self.robot, self.label)

    @property
    def group(self) -> str:
        """Of which robot and function it is, or of which file."""
        return ", ".join(filter(None, [self.label, self.function]))

    @property
    def apart(self) -> str:
        """What tells it apart from others of its group that have as many bits."""
        widths = " ".join(f"{name}={bits}" for name, bits in self.input_bits)
        said = {
            "inputs": widths, "rms": " ".join(map(str, self.rms_error)),
            "max": " ".join(map(str, self.max_error)), "error": self.error,
        }  # fmt: skip
        parts = [f"{name} {value}" for name, value in said.items() if value]
        if self.function:
            parts.append(f"{' '.join(f'{mass:g}' for mass in self.payloads)} kg")
        return ", ".join([*parts, self.target])

    def __str__(self) -> str:
        return f"{self.group}, {self.bits} bits, {self.apart}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a cell: a result with exported files (base64 by name), or why there is none."""

    result: dict[str, Any] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    stored: bool = False  # nothing was searched: the seconds say nothing of other cells
    why: str = ""


@lru_cache(maxsize=1024)
def digest(text: str) -> str:
    """Return by which name cells say the text of a robot."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def canonical(value: Any) -> str:
    """Return the one text of a JSON value that digests are of."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


@cache
def installation() -> list[str]:
    """Return what of an installation decides on results: the version, and whether ABC is there."""
    return [VERSION, "abc" if abc.find() else "builtin"]


def compute(cell: Cell, asked_by: list[str], store: Place | None = None) -> Outcome:
    """Compile, measure, prove and export a cell, wherever this runs.

    What a shared store has is proved, and not searched for. Where the installation is not that of
    who asks, the result would not be, either.
    """
    if installation() != asked_by:
        own, other = " ".join(installation()), " ".join(asked_by)
        raise WorkerLostError(f"a worker has boolcomp {own}, and it is asked by one of {other}")
    start = time.perf_counter()
    try:
        choices = replace(cell.choices, store=store)
        compiled = compile_compact(cell.source, choices, cell.payloads, cell.function or USUAL)
        files = _exported_files(compiled.program, cell.settings.exports)
    except BoolcompError as error:
        return Outcome(why=str(error))
    except Exception as error:  # noqa: BLE001 (one cell is not to end thousands)
        return Outcome(why=cut(f"failed unexpectedly: {type(error).__name__}: {error}", LONGEST))
    stored = all(built.stored for built in compiled.built)
    texts = {name: base64.b64encode(data).decode() for name, data in files.items()}
    found = {**_found(compiled), "files": {k: digest_of(data) for k, data in files.items()}}
    return Outcome(found, texts, time.perf_counter() - start, stored)


def compute_each(
    function: Callable[[Cell, list[str]], Outcome], cells: Sequence[Cell], asked_by: list[str]
) -> tuple[Outcome, ...]:
    """Do the same for several cells, one after another: what a worker is asked for at once."""
    return tuple(function(cell, asked_by) for cell in cells)


def digest_of(data: bytes) -> str:
    """Return the digest by which a file is known."""
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
    """Return what a compilation says of itself, without anything that another one may not say."""
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
