"""Throughput of a program compared with optimised C and libraries; outputs are checked."""

from __future__ import annotations

import ctypes
import math
import re
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from boolcomp.base.errors import BoolcompError, DataError, UsageError, short, short_above, table
from boolcomp.base.files import read_text, temporary_folder
from boolcomp.base.processes import cores, run_program
from boolcomp.base.results import ResultColumn, Results, pivoted
from boolcomp.base.store import load_library, native_code
from boolcomp.engines.choice import engine_name, make_engine
from boolcomp.problem.functions import inverse_dynamics_problem
from boolcomp.proof.worst import EVALUATIONS, find_worst, subject_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from boolcomp.problem.problem import Problem
    from boolcomp.problem.robot.model import Robot
    from boolcomp.program.program import Program

    Make = Callable[["BenchStates", int, int], "BenchTask"]

# --------------------------------------------------------------------------------------------------
# Compilers, processor features, and compilation and loading of the rivals' C code.
#
# Shared objects are cached per user, keyed by everything that determines them. Like other native
# code they are loaded only if owned by the user and unchanged according to their checksum.
# --------------------------------------------------------------------------------------------------


COMPILERS = ("gcc", "clang")
FAST = ("-O3", "-march=native", "-ffast-math", "-funroll-loops", "-mprefer-vector-width=512")
OBJECT = ("-std=gnu11", "-fPIC", "-w", "-c")
MOST_SECONDS = 300.0
ADVANCED = {"avx512": ("avx512f", "avx512bw", "avx512vl", "avx512dq"), "vbmi": ("avx512vbmi",)}


@dataclass(frozen=True, slots=True)
class Compiler:
    """A C compiler: its name, path, and first line of its version text."""

    name: str
    path: str
    version: str


@cache
def compiler(name: str) -> Compiler | None:
    """Return a compiler on PATH, or None."""
    path = shutil.which(name)
    if path is None:
        return None
    lines = run_program([path, "--version"], MOST_SECONDS).printed.decode().splitlines()
    return Compiler(name, path, lines[0] if lines else name)


@cache
def processor() -> tuple[str, frozenset[str]]:
    """Return the processor's name and flags; flags are empty if unknown."""
    try:
        text = read_text(Path("/proc/cpuinfo"))
    except DataError:
        return "unknown processor", frozenset()
    pairs = [line.partition(":") for line in text.splitlines()]
    found = {key.strip(): value.strip() for key, _, value in reversed(pairs)}
    return found.get("model name", "unknown processor"), frozenset(found.get("flags", "").split())


def missing(feature: str) -> str:
    """Return why the processor lacks a feature (`avx512`, `vbmi`), or an empty text."""
    flags = processor()[1]
    absent = [flag for flag in ADVANCED.get(feature, ()) if flag not in flags]
    return f"the processor has no {', '.join(absent)}" if absent else ""


def source(name: str) -> str:
    return read_text(sources() / name)


def sources() -> Path:
    """Return the folder of the rivals, in a wheel or in a checkout."""
    package = Path(__file__).resolve().parents[1]
    inside = package / "shipped" / "rivals"
    return inside if inside.is_dir() else package.parent / "benchmarks" / "rivals"


def rivals(name: str) -> ModuleType:
    """Return a Python module from the folder of the rivals, without a search of `sys.path`."""
    path = sources() / f"{name}.py"
    if not path.is_file():
        raise DataError("the rivals are not installed", "use a clone of the repository", where=path)
    package = ModuleType("boolcomp_rivals")
    package.__path__ = [str(path.parent)]
    sys.modules.setdefault(package.__name__, package)
    return import_module(f"{package.__name__}.{name}")


@dataclass(frozen=True, slots=True)
class Unit:
    """A compilation unit: C source, a header included before it, macros, flags, libraries."""

    text: str
    header: str = ""
    macros: tuple[str, ...] = ()
    flags: tuple[str, ...] = FAST
    libraries: tuple[str, ...] = ()


def compiled_library(by: Compiler, unit: Unit) -> ctypes.CDLL:
    """Return the loaded shared object; raise a `DataError` with the compiler's message."""
    cpu, flags = processor()
    common = source("rival.h")
    parts = [by.version, cpu, *sorted(flags), *OBJECT, "-shared", common, unit.text, unit.header]
    parts += [*unit.macros, *unit.flags, *unit.libraries]

    def make() -> bytes:
        with temporary_folder() as folder:
            return _run(by, unit, folder).read_bytes()

    return load_library(native_code("rivals", ".so", parts, make))


def _run(by: Compiler, unit: Unit, folder: Path) -> Path:
    (folder / "rival.c").write_text(unit.text, encoding="utf-8")
    (folder / "robot.h").write_text(unit.header, encoding="utf-8")
    command = [by.path, *OBJECT, *unit.flags, *(f"-D{macro}" for macro in unit.macros)]
    command += ["-include", "robot.h", "-I", str(sources()), "-I", str(folder), "rival.c"]
    # Linked separately, without -ffast-math: a shared object linked with it would flush subnormal
    # numbers to zero in the whole process, including Python and numpy.
    linked = [by.path, "-shared", "rival.o", "-o", "rival.so", *unit.libraries]
    for each in (command, linked):
        done = run_program(each, MOST_SECONDS, folder=folder)
        if done.code is None:
            raise DataError(f"{by.name} did not finish in {MOST_SECONDS:.0f} s")
        if done.code:
            text = done.printed.decode("utf-8", "replace").strip()[-500:]
            raise DataError(f"{by.name} cannot compile a rival ({text})")
    return folder / "rival.so"


def function(library: ctypes.CDLL, name: str, result: Any, *arguments: Any) -> Any:
    """Return a function of a shared object; it releases the GIL while it runs."""
    found = library[name]
    found.restype, found.argtypes = result, list(arguments)
    return found


# --------------------------------------------------------------------------------------------------
# Results of a bench, as JSON and as text.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Timing:
    """Times and errors of one rival for a sample type, a batch size and a number of cores.

    Nanoseconds per sample are for all torques together: the minimum of the rounds, and their lower
    and upper quartile. `ratio` is the time divided by that of the logic, of the same type if there
    is one. Errors are relative to Newton-Euler on the unquantised states, in LSB of the program's
    words, of the worst joint and of every joint. `own_error` is relative to the states as the type
    represents them (for logic: to the numpy engine).
    """

    rival: str
    kind: Kind
    batch: int
    cores: int
    ns_per_sample: float | None = None
    quartiles: tuple[float, float] | None = None
    ratio: float | None = None
    max_error: float | None = None
    rms_error: float | None = None
    max_errors: tuple[float, ...] = ()
    rms_errors: tuple[float, ...] = ()
    own_error: float | None = None
    bound: float | None = None
    wrong: bool = False
    skipped: str = ""
    logic: bool = False
    break_even: int | None = None

    @property
    def least(self) -> float:
        return self.ns_per_sample or 0.0

    @property
    def spread(self) -> float | None:
        """The distance of the upper quartile from the minimum, relative to it."""
        return None if self.quartiles is None else self.quartiles[1] / self.least - 1


@dataclass(frozen=True, slots=True)
class Host:
    """The machine of a measurement."""

    processor: str
    caches: tuple[str, ...]
    flags: tuple[str, ...]
    compilers: tuple[str, ...]
    gigahertz: float
    cores: int


@dataclass(frozen=True, slots=True)
class Bench:
    """All results of a bench.

    Errors are in LSB, one per torque: `worst_found` by a search of `evaluations`, `sampled_max` on
    random states like a rival's `max_error`, `bound` proved (None where not proved). `lsb` are the
    LSB in the torques' `units`.
    """

    program: str
    robot: str
    bits: int
    mode: str
    nodes: int
    machine: Host
    rows: tuple[Timing, ...]
    roofline: dict[str, float | str] = field(default_factory=dict)
    worst_found: tuple[float, ...] = ()
    evaluations: int = 0
    sampled_max: tuple[float, ...] = ()
    bound: tuple[float | None, ...] = ()
    lsb: tuple[float, ...] = ()
    units: tuple[str, ...] = ()

    @property
    def wrong(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(f"{r.rival} ({r.kind})" for r in self.rows if r.wrong))

    def document(self) -> dict[str, Any]:
        """Return the results as JSON values."""
        found = asdict(self)
        for row in found["rows"]:
            types = {"in": row["kind"], "out": row["kind"]}
            row.update(types=types, sampled_max=row["max_errors"])
        return found


def text_report(bench: Bench, *, brief: bool = False) -> str:
    """Return the results as text; the short form has a line per rival, of its fastest type."""
    if brief:
        skipped = len({row.rival for row in bench.rows if row.skipped})
        note = f"{skipped} rivals were skipped at least once: see -v" if skipped else ""
        few = (_machine_text(bench, brief=True), _sweep(bench, brief=True), note)
        return "\n".join(filter(None, few))
    parts = [_machine_text(bench), *_tables(bench), _sweep(bench), _skipped(bench)]
    if bench.roofline:
        pairs = [[name, _figure(value)] for name, value in bench.roofline.items()]
        parts.append(table(["roofline of the logic", ""], pairs))
    return "\n\n".join(part for part in parts if part)


def _figure(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return f"{value:.0f}" if value == int(value) else f"{value:.3f}"


def _machine_text(bench: Bench, *, brief: bool = False) -> str:
    machine = bench.machine
    lines = [
        f"{bench.robot}, {bench.bits} bits, {bench.mode} mode: {bench.nodes} nodes",
        f"{machine.processor}, {machine.cores} cores, {machine.gigahertz:.2f} GHz measured; "
        + ", ".join(machine.caches),
        "; ".join(machine.compilers) or "no C compiler",
    ]
    lines += (
        []
        if brief
        else [
            "ns per sample for all torques: minimum of the rounds, and the distance of the upper",
            "quartile (spread); ratio: time divided by that of the logic; errors: in LSB of the",
            "program's words, worst joint, relative to Newton-Euler on unquantised random states",
        ]
    )
    if bench.worst_found:
        worst = " ".join(f"{error:.2f}" for error in bench.worst_found)
        lines.append(
            f"largest errors found of the program, in LSB: {worst} (search with "
            f"{bench.evaluations} evaluations, not proved)"
        )
    if any(error is not None for error in bench.bound):
        errors = " ".join("-" if x is None else short_above(x, 4) for x in bench.bound)
        lines.append(f"proved bounds of the program, in LSB: {errors}")
    if bench.lsb:
        pairs = zip(bench.lsb, bench.units, strict=True)
        steps = (f"{short(lsb)} {unit}".rstrip() for lsb, unit in pairs)
        lines.append(f"LSB of the program's words: {', '.join(steps)}")
    return "\n".join(lines)


def _tables(bench: Bench) -> list[str]:
    """Return a table per batch size and number of cores, with rivals as rows, types as columns."""
    cases = dict.fromkeys((row.batch, row.cores) for row in bench.rows if not row.skipped)
    return [_case_text(bench, batch, cores) for batch, cores in cases]


def _case_text(bench: Bench, batch: int, cores: int) -> str:
    rows = [r for r in bench.rows if (r.batch, r.cores) == (batch, cores) and r.least]
    title = f"batch {batch}, {cores} core{'s' if cores > 1 else ''}"
    columns = [ResultColumn("name", title, left=True)]
    for kind in (k for k in BITS if any(r.kind == k for r in rows)):
        columns += [
            ResultColumn("", f"{kind} ns", f"{kind}.least", _ns),
            ResultColumn("", "spread", f"{kind}.spread", "+.0%"),
            ResultColumn("", "ratio", f"{kind}.ratio", ".3g"),
            ResultColumn("", "sampled max", kind,
                         lambda r: "WRONG" if r.wrong else f"{r.max_error:.2f}"),
            ResultColumn("", "rms", kind,
                         lambda r: f"{r.own_error:.3g}" if r.wrong else f"{r.rms_error:.3f}"),
        ]  # fmt: skip
    rows.sort(key=lambda row: row.least)
    return Results(columns, pivoted(rows, lambda r: r.rival, lambda r: r.kind)).text()


def _ns(value: float) -> str:
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"


def _sweep(bench: Bench, *, brief: bool = False) -> str:
    """Return a table of ns per sample against batch size on one core; * marks break-even."""
    one = [r for r in bench.rows if r.cores == 1 and r.ns_per_sample is not None]
    batches = sorted({r.batch for r in one})
    if brief:
        fastest = {r.rival: r.kind for r in sorted(one, key=lambda r: (r.batch, -r.least))}
        one = [r for r in one if r.kind == fastest[r.rival]]
        batches = sorted({batches[0], batches[len(batches) // 2], batches[-1]}) if batches else []
    elif len(batches) < 2:
        return ""

    def marked(row: Timing) -> str:
        if row.wrong:
            return "WRONG"
        return _ns(row.least) + ("*" if row.break_even == row.batch else "")

    columns = [ResultColumn("name", "ns per sample, one core", left=True)]
    columns += [ResultColumn("", batch, batch, marked) for batch in map(str, batches)]
    rows = pivoted(one, lambda r: f"{r.rival} {r.kind}", lambda r: r.batch)
    return f"{Results(columns, rows).text()}\n* from this batch size on, the logic is faster"


def _skipped(bench: Bench) -> str:
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in bench.rows:
        if row.skipped:
            place = row.kind if not row.batch else f"{row.kind} at {row.batch}"
            reasons.setdefault((row.rival, row.skipped), []).append(place)
    lines = [
        f"skipped: {rival} ({', '.join(dict.fromkeys(kinds))}): {reason}"
        for (rival, reason), kinds in reasons.items()
    ]
    return "\n".join(lines)


def break_evens(rows: Sequence[Timing]) -> dict[tuple[str, Kind], int | None]:
    """Return for every rival the smallest batch from which on the logic is faster on one core."""
    found: dict[tuple[str, Kind], int | None] = {}
    for row in sorted(
        (r for r in rows if r.cores == 1 and r.ratio is not None), key=lambda row: row.batch
    ):
        key = (row.rival, row.kind)
        if (row.ratio or 0.0) <= 1:
            found[key] = None
        elif found.get(key) is None:
            found[key] = row.batch
    return found


# --------------------------------------------------------------------------------------------------
# The samples of all rivals: states, their words, and the exact outputs.
# --------------------------------------------------------------------------------------------------


Kind = Literal["int8", "int16", "float32", "float64"]
BITS: dict[Kind, int] = {"int8": 8, "int16": 16, "float32": 32, "float64": 64}
PERIOD = 1 << 16  # distinct states; larger batches repeat them
ROOM = 64  # samples that a rival may read beyond the last one
LINE = 64


def aligned(values: NDArray[Any], samples: int) -> NDArray[Any]:
    """Return a column of samples, aligned to a cache line and padded; values repeat."""
    room = np.zeros((samples + 2 * ROOM) * values.itemsize + LINE, np.uint8)
    start = -room.ctypes.data % LINE
    column = room[start:].view(np.uint8)[: (samples + ROOM) * values.itemsize].view(values.dtype)
    column[:] = np.resize(values, samples + ROOM)
    return column


@dataclass(frozen=True, slots=True, eq=False)
class BenchStates:
    """Random states over a problem's ranges, and their outputs by its reference."""

    problem: Problem
    columns: tuple[NDArray[np.float64], ...]
    outputs: NDArray[np.float64]
    _made: dict[tuple[Kind, int], list[NDArray[Any]]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return len(self.outputs)

    def batch(self, kind: Kind, samples: int) -> list[NDArray[Any]]:
        """Return the columns of a batch in a type: values, or words minus half of the cells."""
        if (kind, samples) not in self._made:
            self._made[kind, samples] = [
                aligned(self.coded(kind, k), samples) for k in range(len(self.columns))
            ]
        return self._made[kind, samples]

    def forget(self) -> None:
        self._made.clear()

    def coded(self, kind: Kind, place: int) -> NDArray[Any]:
        """Return one column in a type."""
        column = self.columns[place]
        if kind in ("float32", "float64"):
            return column.astype(kind)
        interval, half = self.problem.inputs[place].range, 1 << (BITS[kind] - 1)
        step = interval.width / (2 * half)
        cells = np.clip(np.floor((column - interval.low) / step), 0, 2 * half - 1)
        return (cells - half).astype(kind)

    def as_given(self, kind: Kind) -> NDArray[np.float64]:
        """Return the exact outputs of the states as a type represents them."""
        columns = []
        for place, one in enumerate(self.problem.inputs):
            column = self.coded(kind, place).astype(np.float64)
            if kind in ("int8", "int16"):
                column = one.range.centre + (column + 0.5) * one.range.width / (1 << BITS[kind])
            columns.append(column)
        return self.problem.exact(np.stack(columns, axis=1))

    def rows(self, kind: Kind, samples: int, count: int) -> tuple[NDArray[Any], ...]:
        """Return the first samples of a batch as floats, one array per group of inputs."""
        columns = [column[:count] for column in self.batch(kind, samples)]
        return self.problem.arrays(np.stack(columns, axis=1))

    def decoded(self, kind: Kind, outputs: list[NDArray[Any]]) -> NDArray[np.float64]:
        """Return (states, outputs) from columns of results: words of a type, or values."""
        columns = []
        for one, output in zip(self.problem.outputs, outputs, strict=True):
            column = output[: self.count].astype(np.float64)
            if output.dtype.kind == "i":
                column = one.range.centre + (column + 0.5) * one.range.width / (1 << BITS[kind])
            columns.append(column)
        return np.stack(columns, axis=1)


def draw_states(problem: Problem, count: int = PERIOD, seed: int = 1) -> BenchStates:
    """Return random states, uniform over the ranges, drawn input by input."""
    rng = np.random.default_rng(seed)
    columns = tuple(rng.uniform(x.range.low, x.range.high, count) for x in problem.inputs)
    return BenchStates(problem, columns, problem.exact(np.stack(columns, axis=1)))


# --------------------------------------------------------------------------------------------------
# Timing of offers in one process: the same samples, rounds in turn, results checked.
# --------------------------------------------------------------------------------------------------


CHECKED = 1 << 14  # states whose results are compared
ROUNDS = 25
LEAST_ROUNDS = 3
TURN = 1e-2  # seconds per rival and round
MOST_BYTES = 1 << 30  # of a batch's samples
GROUP = 64


@dataclass(frozen=True, slots=True)
class BenchCase:
    """A batch size and a number of cores."""

    batch: int
    cores: int = 1


@dataclass(frozen=True, slots=True)
class Checked:
    """An offer with the measured errors of its results."""

    offer: Offer
    max_errors: tuple[float, ...] = (0.0,)
    rms_errors: tuple[float, ...] = (0.0,)
    own_error: float = 0.0
    wrong: bool = False


def run(
    offers: Sequence[Offer],
    states: BenchStates,
    bits: int,
    cases: Sequence[BenchCase],
    seconds: float,
    progress: Callable[[str], None] = lambda _: None,
) -> list[Timing]:
    """Return a row for every offer and case; `seconds` limits the time of a rival in a case."""
    rows: list[Timing] = []
    ready: list[Checked] = []
    for offer in offers:
        progress(f"check {offer.rival}")
        found = check(offer, states, bits)
        if isinstance(found, Timing):
            rows.append(found)
        else:
            ready.append(found)
    for case in cases:
        progress(f"batch {case.batch}, cores {case.cores}")
        rows += _timed_case(ready, states, case, seconds)
    even = break_evens(rows)
    return [replace(row, break_even=even.get((row.rival, row.kind))) for row in rows]


def check(offer: Offer, states: BenchStates, bits: int) -> Checked | Timing:
    """Run an offer once and measure its errors; return a skipped row if it cannot run."""
    nothing = Timing(offer.rival, offer.kind, 0, 1, skipped=offer.skipped, logic=offer.logic)
    if offer.make is None:
        return nothing
    count = min(CHECKED, states.count)
    try:
        task = offer.make(states, states.count, count)
        task.seconds(1)
    except BoolcompError as reason:
        return replace(nothing, skipped=str(reason))
    results = [x[:count] for x in task.results()]
    found = states.decoded(offer.kind, results)
    steps = np.array(states.problem.steps(bits))
    exact = states.outputs[:count]
    given = states.as_given(offer.kind)[:count]
    if offer.expected is not None:
        given = offer.expected(states, count)
    inside = _inside(states, exact, offer.kind) & _inside(states, given, offer.kind)
    error = np.where(inside, (found - exact) / steps, 0.0)
    own = np.where(inside, (found - given) / steps, 0.0)
    rms = np.sqrt((error**2).sum(axis=0) / np.maximum(1, inside.sum(axis=0)))
    worst = float(np.abs(own).max())
    wrong = not (np.isfinite(found).all() and worst <= offer.bound)
    largest = np.abs(error).max(axis=0)
    return Checked(offer, tuple(largest.tolist()), tuple(rms.tolist()), worst, wrong)


def _inside(states: BenchStates, outputs: NDArray[np.float64], kind: Kind) -> NDArray[np.bool_]:
    """Tell where outputs are within the range of their words."""
    if kind not in ("int8", "int16"):
        return np.ones(outputs.shape, np.bool_)
    ranges = [output.range for output in states.problem.outputs]
    low, high = np.array([x.low for x in ranges]), np.array([x.high for x in ranges])
    return np.asarray((outputs >= low) & (outputs <= high))


@dataclass(slots=True)
class _Running:
    """An offer set up for a case, on every core."""

    checked: Checked
    tasks: list[BenchTask]
    times: int = 1
    rounds: int = ROUNDS


def _timed_case(
    ready: Sequence[Checked], states: BenchStates, case: BenchCase, seconds: float
) -> list[Timing]:
    running: list[_Running] = []
    rows: list[Timing] = []
    with ThreadPoolExecutor(case.cores) as pool:
        for checked in ready:
            found = _set_up(checked, states, case, seconds, pool)
            if isinstance(found, Timing):
                rows.append(found)
            else:
                running.append(found)
        measured: list[list[float]] = [[] for _ in running]
        for turn in range(ROUNDS):
            for one, ns in zip(running, measured, strict=True):
                if turn < one.rounds:
                    # An untimed run, so that the content of the caches does not depend on the
                    # previous rival.
                    for task in one.tasks:
                        task.seconds(1)
                    ns.append(_time(one, pool) / one.times / case.batch * 1e9)
    states.forget()
    return rows + _with_ratios([_row(x, case, ns) for x, ns in zip(running, measured, strict=True)])


def _set_up(
    checked: Checked, states: BenchStates, case: BenchCase, seconds: float, pool: ThreadPoolExecutor
) -> _Running | Timing:
    """Set an offer up, run it once, and choose its number of runs per round."""
    offer = checked.offer
    nothing = Timing(offer.rival, offer.kind, case.batch, case.cores, logic=offer.logic)
    make, share = offer.make, case.batch // case.cores
    hindrance = _hindrance(offer, states, case)
    if make is None or hindrance:
        return replace(nothing, skipped=hindrance)
    try:
        tasks = [make(states, share, share) for _ in range(case.cores)]
        one = _Running(checked, tasks)
        first = _time(one, pool)
        if first > seconds:
            return replace(nothing, skipped=f"a batch takes more than {seconds:g} s")
        once = min(first, _time(one, pool))
    except BoolcompError as error:
        return replace(nothing, skipped=str(error))
    one.times = max(1, round(TURN / max(once, 1e-9)))
    one.rounds = max(LEAST_ROUNDS, min(ROUNDS, int(seconds / max(once * one.times, 1e-9))))
    return one


def _hindrance(offer: Offer, states: BenchStates, case: BenchCase) -> str:
    """Return why an offer cannot run in a case, or an empty text."""
    if offer.make is None:
        return offer.skipped
    if case.cores > 1 and not offer.threads:
        return "runs on one core"
    if case.cores > 1 and case.batch // case.cores < GROUP:
        return "too few samples to share"
    columns = len(states.problem.inputs) + len(states.problem.outputs)
    size = case.batch * columns * BITS[offer.kind] // 8
    return f"its samples take {size / 2**30:.1f} GiB" if size > MOST_BYTES else ""


def _time(one: _Running, pool: ThreadPoolExecutor) -> float:
    """Return the seconds of a round on the slowest core."""
    if len(one.tasks) == 1:
        return one.tasks[0].seconds(one.times)
    running = [pool.submit(task.seconds, one.times) for task in one.tasks]
    return max(x.result() for x in running)


def _row(one: _Running, case: BenchCase, ns: list[float]) -> Timing:
    found, offer = one.checked, one.checked.offer
    low, high = (float(x) for x in np.quantile(ns, (0.25, 0.75)))
    return Timing(
        offer.rival, offer.kind, case.batch, case.cores, min(ns), (low, high), None,
        max(found.max_errors), max(found.rms_errors), found.max_errors, found.rms_errors,
        found.own_error, offer.bound, found.wrong,
        logic=offer.logic,
    )  # fmt: skip


def _with_ratios(rows: list[Timing]) -> list[Timing]:
    """Compare every row with the fastest logic of its type, or else of any type."""
    logic = [row for row in rows if row.logic and row.ns_per_sample is not None]

    def ratio(row: Timing) -> float | None:
        alike = [x for x in logic if x.kind == row.kind] or logic
        least = min((x.ns_per_sample or 0.0 for x in alike), default=0.0)
        return row.ns_per_sample / least if least and row.ns_per_sample is not None else None

    return [replace(row, ratio=ratio(row)) for row in rows]


# --------------------------------------------------------------------------------------------------
# Offers and tasks: rivals, and rivals set up on a batch.
# --------------------------------------------------------------------------------------------------


ARGUMENTS = 12  # of loop.c's calls


class BenchTask(Protocol):
    """A rival and a batch, to be run repeatedly."""

    def seconds(self, times: int) -> float:
        """Run the batch several times and return the seconds."""

    def results(self) -> list[NDArray[Any]]:
        """Return the columns of outputs of the last run."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A rival for one type of samples, or the reason why it is skipped.

    `bound` is the allowed error in LSB of the final word, relative to exact outputs of the states
    as its type represents them, or to `expected`. Results with a larger error are wrong.
    """

    rival: str
    kind: Kind
    make: Callable[[BenchStates, int, int], BenchTask] | None
    bound: float = 0.0
    skipped: str = ""
    threads: bool = True
    logic: bool = False
    expected: Callable[[BenchStates, int], NDArray[Any]] | None = None


@cache
def loops() -> tuple[Any, Any]:
    """Return the C functions `repeat` and `chain`."""
    by = compiler("gcc") or compiler("clang")
    if by is None:
        raise DataError("no C compiler was found", "install gcc or clang, which build the rivals")
    library = compiled_library(by, Unit(source("loop.c"), flags=("-O2",)))
    whole, address = ctypes.c_int64, ctypes.c_void_p
    repeat = function(library, "repeat", ctypes.c_double, address, address, whole)
    return repeat, function(library, "chain", ctypes.c_double, whole)


def address_of(call: Any) -> int:
    return int(ctypes.cast(call, ctypes.c_void_p).value or 0)


class NativeTask:
    """A native function that is called from C; `kept` holds references that it needs."""

    def __init__(
        self,
        address: int,
        arguments: Sequence[int],
        outputs: list[NDArray[Any]],
        kept: Any = None,
        decode: Callable[[Sequence[NDArray[Any]]], list[NDArray[Any]]] | None = None,
    ) -> None:
        full = [*arguments, *[0] * (ARGUMENTS - len(arguments))]
        self._arguments = (ctypes.c_int64 * ARGUMENTS)(
            *(x - (1 << 64) if x >> 63 == 1 else x for x in full)
        )
        self._address = address
        self._outputs = outputs
        self._kept = kept
        self._decode = decode
        self._repeat = loops()[0]

    def seconds(self, times: int) -> float:
        return float(self._repeat(self._address, self._arguments, times))

    def results(self) -> list[NDArray[Any]]:
        return self._outputs if self._decode is None else self._decode(self._outputs)


class PythonTask:
    """A Python function that is called once per batch."""

    def __init__(self, call: Callable[[], Any], outputs: Callable[[], list[NDArray[Any]]]) -> None:
        self._call = call
        self._outputs = outputs

    def seconds(self, times: int) -> float:
        """Call the function several times and return the seconds."""
        start = time.perf_counter()
        for _ in range(times):
            self._call()
        return time.perf_counter() - start

    def results(self) -> list[NDArray[Any]]:
        return self._outputs()


# --------------------------------------------------------------------------------------------------
# The machine and its clock frequency.
# --------------------------------------------------------------------------------------------------


CHAIN = 400_000  # a tenth of a millisecond: some runs are not interrupted
CHAINS = 200
TELLING = ("avx2", "fma", "avx512f", "avx512bw", "avx512vl", "avx512vbmi", "gfni")


def this_machine() -> Host:
    """Return the processor, compilers, clock and cores of this machine."""
    name, flags = processor()
    found = (compiler(each) for each in COMPILERS)
    return Host(
        name,
        caches(),
        tuple(flag for flag in TELLING if flag in flags),
        tuple(f"{x.name}: {x.version}" for x in found if x is not None),
        gigahertz(),
        cores(),
    )


def gigahertz() -> float:
    """Return cycles per nanosecond, from a chain of dependent additions (one cycle each)."""
    chain = loops()[1]
    return max(CHAIN / float(chain(CHAIN)) / 1e9 for _ in range(CHAINS))


def caches() -> tuple[str, ...]:
    """Return the first core's caches, such as `L1 data 48K`; empty if unknown."""
    found = []
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        try:
            parts = [(folder / x).read_text().strip() for x in ("level", "type", "size")]
        except OSError:
            continue
        level, kind, size = parts
        found.append(f"L{level}{'' if kind == 'Unified' else f' {kind.lower()}'} {size}")
    return tuple(found)


# --------------------------------------------------------------------------------------------------
# Roofline of the logic: nodes per cycle and their limit, spills, conversion of inputs and outputs.
#
# The limit is 3.75 ternary operations of 512 bits per cycle, measured on Zen 5. It is only a
# reference value for narrower vectors and for processors with fewer vector ports.
# --------------------------------------------------------------------------------------------------


LIMIT = 3.75
ROOFLINE_ROUNDS = 15
ROOFLINE_TURN = 2e-3

_VECTOR = re.compile(r"[xyz]mm\d")
_STACK = re.compile(r"\(%r(?:sp|bp|dx)\)")
_COPY = re.compile(r"vmov\w+\s+%[xyz]mm\d+, %[xyz]mm\d+$")


def roofline(program: Program, whole_ns: float | None) -> dict[str, float | str]:
    """Return the roofline figures; `whole_ns` is the time per sample including conversions."""
    engine: Any = make_engine(program.wiring(), engine_name("auto"))
    if getattr(engine, "name", "") != "llvm" or not hasattr(engine, "layout"):
        return {}
    wiring = engine.wiring
    nodes = sum(len(wiring.networks[call.network].nodes) for call in wiring.calls)
    seconds, samples = _logic_alone(engine)
    if not samples:
        return {}
    clock = gigahertz()
    alone = seconds / samples * 1e9
    cycles = alone * clock
    found: dict[str, float | str] = {
        "nodes executed": float(nodes),
        "lanes": float(engine.width),
        "clock, GHz (chain of additions)": clock,
        "logic alone, ns a sample": alone,
        "nodes a cycle": nodes / engine.width / cycles,
        "limit, nodes a cycle": LIMIT,
        "limit, ns a sample": nodes / engine.width / LIMIT / clock,
        "share of the limit": nodes / engine.width / cycles / LIMIT,
    }
    if whole_ns is not None:
        found["with the way in and out, ns a sample"] = whole_ns
        found["share of the way in and out"] = max(0.0, 1 - alone / whole_ns)
    found.update(code_counts(engine))
    return found


def _logic_alone(engine: Any) -> tuple[float, int]:
    """Return the minimum seconds of a tile with resident planes, and its number of samples."""
    address = getattr(engine, "address", None)
    if address is None:
        return 0.0, 0
    size = engine.layout.block_bytes * engine.blocks
    room = np.zeros(size + GROUP, np.uint8)
    room[:] = np.random.default_rng(0).integers(0, 256, len(room), np.uint8)
    start = room.ctypes.data + -room.ctypes.data % GROUP
    task = NativeTask(address, [start, engine.blocks], [], room)
    task.seconds(1)
    once = min(task.seconds(1) for _ in range(3))
    times = max(1, round(ROOFLINE_TURN / once))
    return min(
        task.seconds(times) for _ in range(ROOFLINE_ROUNDS)
    ) / times, engine.blocks * engine.width


def code_counts(engine: Any) -> dict[str, float | str]:
    """Return the numbers of vector instructions and of spills in the assembly of the logic."""
    from boolcomp.engines import llvm as machine  # noqa: PLC0415 (an engine exists)
    from boolcomp.engines import planes  # noqa: PLC0415 (an engine exists)
    from boolcomp.engines.avx512 import logic_assembly  # noqa: PLC0415 (likewise)

    if engine.width == 512 and machine.assembles():
        return spills(logic_assembly(engine.pieces, engine.layout))
    from llvmlite import binding as llvm  # noqa: PLC0415 (likewise)

    target = llvm.Target.from_default_triple().create_target_machine(
        cpu=engine.machine.cpu, features=engine.machine.features, opt=2, jit=True
    )
    module = llvm.parse_assembly(planes.logic_module(engine.pieces, engine.layout))
    return spills(target.emit_assembly(module))


def spills(assembly: str) -> dict[str, float | str]:
    """Count vector instructions, loads from and stores to the stack, and copies.

    boolcomp's assembly addresses spills by rdx, LLVM's by the stack or frame pointer; in AT&T
    syntax the memory operand of a store is the last one.
    """
    vector = [line.rstrip('"') for line in assembly.splitlines() if _VECTOR.search(line)]
    touching = [line for line in vector if _STACK.search(line)]
    stores = [line for line in touching if line.endswith(")")]
    return {
        "vector instructions": float(len(vector)),
        "vector loads from the stack": float(len(touching) - len(stores)),
        "vector stores to the stack": float(len(stores)),
        "vector copies": float(sum(bool(_COPY.search(line)) for line in vector)),
    }


# --------------------------------------------------------------------------------------------------
# The program's native code as an offer, called from C like every rival.
# --------------------------------------------------------------------------------------------------


SAME = 1e-3  # LSB: every engine gives the same words
BYTE = 8
MOST_FORCED = 8000  # nodes: for more, LLVM needs minutes with few registers


class LogicSubject:
    """A program and its engine, created on first use; `width` forces narrower vectors."""

    def __init__(self, program: Program, width: int | None = None) -> None:
        self.program, self.width = program, width
        self.wiring = program.wiring()
        self._engine: Any = None

    @property
    def engine(self) -> Any:
        """The native engine; raises a `UsageError` if there is none."""
        if self._engine is None:
            self._engine = make_engine(self.wiring, engine_name("auto"))
            if self.width is not None and self._engine.name == "llvm":
                if self.width >= self._engine.width:
                    raise UsageError(f"this machine has no vectors wider than {self.width} bits")
                self._engine = type(self._engine)(self.wiring, self.width)
        if self._engine.name != "llvm":
            raise UsageError("llvmlite is not installed", "pip install llvmlite")
        return self._engine

    @property
    def words(self) -> Kind:
        """The type of all input and output words."""
        codes = [port.code for port in self.wiring.ports] + [r.code for r in self.wiring.results]
        return "int8" if all(code.bits <= BYTE for code in codes) else "int16"

    def columns(self, states: BenchStates, samples: int) -> list[NDArray[Any]]:
        """Return a column of signed codes per port: cells minus half their number."""
        made = []
        for port in self.wiring.ports:
            place = sum(group.size for group in states.problem.groups[: port.array]) + port.column
            cells, _ = port.code.cell(states.columns[place])
            kind = np.int8 if port.code.bits <= BYTE else np.int16
            made.append(aligned((cells - port.code.cells // 2).astype(kind), samples))
        return made

    def room(self, samples: int) -> list[NDArray[Any]]:
        """Return empty columns for the results' codes."""
        widths = [result.code.bits for result in self.wiring.results]
        kinds = [np.int8 if bits <= BYTE else np.int16 for bits in widths]
        return [aligned(np.zeros(1, kind), samples) for kind in kinds]

    def decoded(self, codes: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Return the torques of columns of codes."""
        pairs = zip(self.wiring.results, codes, strict=True)
        return [r.code.centre(k.astype(np.int64) + r.code.cells // 2) for r, k in pairs]

    def expected(self, kind: Kind) -> Callable[[BenchStates, int], NDArray[Any]]:
        """Return a function that computes the torques with the numpy engine."""

        def torques(states: BenchStates, count: int) -> NDArray[Any]:
            real = np.float32 if kind == "float32" else np.float64
            rows = [x.astype(real) for x in _rows(states, count)]
            return self.program.torques(*rows, engine="numpy")

        return torques


def logic_offers(program: Program, label: str) -> Iterator[Offer]:
    """Yield offers of the program with words, with planes and with floats as inputs and outputs."""
    subject = LogicSubject(program)
    kind = subject.words

    def offer(name: str, kind: Kind, make: Make, **more: Any) -> Offer:
        return Offer(name, kind, make, SAME, expected=subject.expected(kind), **more)

    yield offer(label, kind, _codes(subject), logic=True)
    yield offer(f"{label}, planes in and out", kind, _planes(subject))
    reals: tuple[Kind, ...] = ("float32", "float64")
    for real in reals:
        yield offer(label, real, _reals(subject, real), logic=True)
    if program.graph is not None:
        yield offer(f"{label}, words in lanes", kind, lane_codes(subject))
        for real in reals:
            yield offer(f"{label}, words in lanes", real, lane_reals(subject, real))
    if sum(len(network.nodes) for network in program.networks) <= MOST_FORCED:
        for width, name in ((256, "AVX2"), (64, "64-bit words")):
            yield offer(f"{label}, forced to {name}", kind, _codes(LogicSubject(program, width)))
    yield offer(f"{label}, called from Python", "float64", _python(program), threads=False)


def _rows(states: BenchStates, count: int) -> tuple[NDArray[np.float64], ...]:
    columns = [np.resize(x, count) for x in states.columns]
    return states.problem.arrays(np.stack(columns, axis=1))


def _pointers(columns: Sequence[NDArray[Any]]) -> Any:
    return (ctypes.c_void_p * len(columns))(*(column.ctypes.data for column in columns))


def _tile(engine: Any) -> NDArray[Any]:
    return aligned(np.zeros(1, np.uint8), engine.layout.block_bytes * engine.blocks)


def _codes(subject: LogicSubject) -> Make:
    def make(states: BenchStates, batch: int, count: int) -> BenchTask:
        del batch
        engine = subject.engine
        blocks = -(-count // engine.width)
        given = subject.columns(states, blocks * engine.width)
        made = subject.room(blocks * engine.width)
        return _loop(subject, "codes", (given, made, blocks, count), subject.decoded)

    return make


def _planes(subject: LogicSubject) -> Make:
    def make(states: BenchStates, batch: int, count: int) -> BenchTask:
        del batch
        engine = subject.engine
        blocks = -(-count // engine.width)
        samples = blocks * engine.width
        given = engine.to_planes([x[:samples] for x in subject.columns(states, samples)])
        made = engine.run_planes(given)

        def decode(columns: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
            del columns
            return subject.decoded(engine.from_planes(made, count).columns)

        return _loop(subject, "planes", (given, made, blocks, count), decode)

    return make


def _loop(
    subject: LogicSubject,
    name: str,
    over: tuple[Any, Any, int, int],
    decode: Callable[[Sequence[NDArray[Any]]], list[NDArray[Any]]],
) -> BenchTask:
    """Return an engine's loop as a task; `over` are inputs, outputs, blocks and samples."""
    given, made, blocks, count = over
    engine = subject.engine
    runner = engine._codes  # noqa: SLF001 (only the loop is measured)
    tile, counts = _tile(engine), np.zeros(engine.width // GROUP, np.int64)
    mask = np.full(engine.width // 8, 255, np.uint8)
    ends = [x.ctypes.data if isinstance(x, np.ndarray) else _pointers(x) for x in (given, made)]
    addresses = [x if isinstance(x, int) else ctypes.addressof(x) for x in ends]
    arguments = [
        *addresses, 0, blocks, mask.ctypes.data, counts.ctypes.data, tile.ctypes.data,
        engine.address,
    ]  # fmt: skip
    kept = (given, made, ends, tile, counts, mask, engine)
    columns = [] if isinstance(made, np.ndarray) else [x[:count] for x in made]
    call = runner._loops[name]  # noqa: SLF001 (likewise)
    return NativeTask(address_of(call), arguments, columns, kept, decode)


def _reals(subject: LogicSubject, kind: Kind) -> Make:
    def make(states: BenchStates, batch: int, count: int) -> BenchTask:
        del batch
        engine = subject.engine
        whole = -(-count // GROUP) * GROUP
        rows = [x.astype(kind) for x in _rows(states, whole)]
        run = engine._function(np.dtype(kind))  # noqa: SLF001 (only the loop is measured)
        torques, words = np.zeros(rows[0].shape, kind), np.zeros(rows[0].shape, np.uint32)
        counts, tile = np.zeros(3, np.int64), _tile(engine)
        arguments = [
            *(x.ctypes.data for x in rows), whole // GROUP, (1 << GROUP) - 1, torques.ctypes.data,
            words.ctypes.data, tile.ctypes.data, counts.ctypes.data, engine.address,
        ]  # fmt: skip
        kept = (engine, rows, words, counts, tile)
        return NativeTask(address_of(run), arguments, list(torques[:count].T), kept)

    return make


def _python(program: Program) -> Make:
    def make(states: BenchStates, batch: int, count: int) -> BenchTask:
        del batch
        rows = _rows(states, count)
        found: list[Any] = [None]

        def call() -> None:
            found[0] = program.torques(*rows)

        return PythonTask(call, lambda: list(found[0].T))

    return make


# --------------------------------------------------------------------------------------------------
# The program's word graph as an offer, with words in vector lanes, called from C like every rival.
# --------------------------------------------------------------------------------------------------


def engine_of(subject: LogicSubject) -> Any:
    """Return the words engine of a program; raise a `UsageError` if there is none."""
    if engine_name("auto") != "llvm":
        raise UsageError("there is no native engine", "pip install llvmlite")
    return make_engine(subject.wiring, "words")


def lane_codes(subject: LogicSubject) -> Make:
    """Return a factory of tasks on columns of codes."""

    def make(states: BenchStates, batch: int, count: int) -> BenchTask:
        del batch
        engine = engine_of(subject)
        groups = -(-count // GROUP)
        given, made = subject.columns(states, groups * GROUP), subject.room(groups * GROUP)
        ends = [_pointers(x) for x in (given, made)]
        counts = np.zeros(3, np.int64)
        run = engine.columns
        arguments = [*(ctypes.addressof(x) for x in ends), groups, -1, counts.ctypes.data]
        kept = (engine, given, made, ends, counts)
        columns = [x[:count] for x in made]
        return NativeTask(address_of(run), arguments, columns, kept, subject.decoded)

    return make


def lane_reals(subject: LogicSubject, kind: Kind) -> Make:
    """Return a factory of tasks on rows of floats."""

    def make(states: BenchStates, batch: int, count: int) -> BenchTask:
        del batch
        engine = engine_of(subject)
        groups = -(-count // GROUP)
        rows = [aligned_rows(x, kind) for x in _rows(states, groups * GROUP)]
        shape = (groups * GROUP, len(subject.wiring.results))
        values, words = np.zeros(shape, kind), np.zeros(shape, np.uint32)
        counts = np.zeros(3, np.int64)
        run = engine.rows(np.dtype(kind))
        ends = [x.ctypes.data for x in (values, words, counts)]
        arguments = [*(x.ctypes.data for x in rows), groups, *ends]
        kept = (engine, rows, values, words, counts)
        return NativeTask(address_of(run), arguments, list(values[:count].T), kept)

    return make


def aligned_rows(rows: NDArray[Any], kind: Kind) -> NDArray[Any]:
    """Return rows in a type, aligned to a cache line."""
    flat = aligned(rows.astype(kind).ravel(), rows.size)
    return flat[: rows.size].reshape(rows.shape)


# --------------------------------------------------------------------------------------------------
# A bench of a program: all its rivals, in all cases.
# --------------------------------------------------------------------------------------------------


IN_CACHE = 4096
SHARED = 65536  # samples: enough for a second thread, and still in the cache


def all_offers(
    robot: Robot, program: Program, others: Sequence[Program] = (), *, packages: bool = True
) -> list[Offer]:
    """Return offers of the program, other programs and every rival; `packages`: Python's too."""
    offers: list[Offer] = []
    for one in (program, *others):
        mode = "compact logic" if one.mode == "compact" else "two-level logic"
        offers += logic_offers(one, f"boolcomp, {mode}")
    found = rivals("offers")
    offers += found.c_offers(robot, program.bits)
    return [*offers, *found.library_offers(robot, program.bits)] if packages else offers


def make_bench(
    name: str,
    robot: Robot,
    program: Program,
    *,
    batches: Sequence[int],
    cores: Sequence[int],
    seconds: float,
    others: Sequence[Program] = (),
    packages: bool = True,
    evaluations: int | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Bench:
    """Run all offers and return the results; `evaluations` of the error search default to all.

    On one core every batch size is run; on more cores the largest, and the one nearest to `SHARED`.
    """
    problem = inverse_dynamics_problem(robot)
    states = draw_states(problem)
    cases = [BenchCase(batch) for batch in batches if 1 in cores]
    shared = {max(batches), min(batches, key=lambda batch: abs(batch - SHARED))}
    cases += [BenchCase(batch, count) for count in cores if count > 1 for batch in sorted(shared)]
    offers = all_offers(robot, program, others, packages=packages)
    rows = run(offers, states, program.bits, cases, seconds, progress)
    mine = [r for r in rows if r.logic and r.cores == 1 and r.ns_per_sample is not None]
    nearest = min((abs(r.batch - IN_CACHE) for r in mine), default=0)
    whole = min(
        (r.ns_per_sample or 0.0 for r in mine if abs(r.batch - IN_CACHE) == nearest), default=None
    )
    progress("roofline and worst error")
    wiring = program.wiring()
    nodes = sum(len(wiring.networks[call.network].nodes) for call in wiring.calls)
    found = roofline(program, whole)
    return Bench(
        name, problem.name, program.bits, program.mode, nodes, this_machine(), tuple(rows), found,
        *_worst(program, problem, EVALUATIONS if evaluations is None else evaluations),
        *_known(program, rows),
    )  # fmt: skip


def _known(program: Program, rows: Sequence[Timing]) -> tuple[Any, ...]:
    """Return the program's sampled errors, bounds, LSB and units."""
    sampled = next((r.max_errors for r in rows if r.logic and r.kind == "float64"), ())
    steps = tuple(output.code.step for output in program.outputs)
    proved = tuple(
        bound / lsb if math.isfinite(bound) else None
        for bound, lsb in zip(program.useful_bound, steps, strict=True)
    )
    return sampled, proved, steps, tuple(output.unit for output in program.outputs)


def _worst(program: Program, problem: Problem, evaluations: int) -> tuple[tuple[float, ...], int]:
    """Return the largest errors found of the program, and the number of evaluations."""
    if not evaluations:
        return (), 0
    worst = find_worst(subject_of(program, problem), evaluations)
    return tuple(worst.largest.tolist()), worst.evaluations
