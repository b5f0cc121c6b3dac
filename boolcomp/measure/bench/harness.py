"""What a bench found: rows, the machine, and both as JSON and as text."""

from __future__ import annotations

import ctypes
import math
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from boolcomp.base.errors import BoolcompError, DataError, short, short_above, table
from boolcomp.base.files import read_text, shipped, temporary_folder
from boolcomp.base.processes import run_program
from boolcomp.base.store import load_library, native_code
from boolcomp.parallel.methods.registry import straight_line
from boolcomp.problem.dynamics.newton_euler import newton_euler
from boolcomp.problem.expressions.algebra import SYMBOLS, Folding
from boolcomp.problem.expressions.tape import Tape

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from numpy.typing import NDArray

    from boolcomp.problem.expressions.tape import Operation, Straight
    from boolcomp.problem.problem import Problem
    from boolcomp.problem.robot.model import Robot
    from boolcomp.problem.words import Interval


# --------------------------------------------------------------------------------------------------
# Compiles the rivals' C: which compilers there are, what the processor can, loaded functions.
#
# A shared object is kept in the user's cache, keyed by all that went into it. It is read back as
# other native code is: this user's own, whole, and by its checksum what was compiled.
# --------------------------------------------------------------------------------------------------


COMPILERS = ("gcc", "clang")
FAST = ("-O3", "-march=native", "-ffast-math", "-funroll-loops", "-mprefer-vector-width=512")
OBJECT = ("-std=gnu11", "-fPIC", "-w", "-c")
MOST_SECONDS = 300.0
ADVANCED = {"avx512": ("avx512f", "avx512bw", "avx512vl", "avx512dq"), "vbmi": ("avx512vbmi",)}


@dataclass(frozen=True, slots=True)
class Compiler:
    """A C compiler: its name, where it is, and the line it prints about itself."""

    name: str
    path: str
    version: str


@cache
def compiler(name: str) -> Compiler | None:
    """Return a compiler that is on the path."""
    path = shutil.which(name)
    if path is None:
        return None
    lines = run_program([path, "--version"], MOST_SECONDS).printed.decode().splitlines()
    return Compiler(name, path, lines[0] if lines else name)


@cache
def processor() -> tuple[str, frozenset[str]]:
    """Return the processor's name and flags; flags are empty where the system does not tell."""
    try:
        text = read_text(Path("/proc/cpuinfo"))
    except DataError:
        return "unknown processor", frozenset()
    pairs = [line.partition(":") for line in text.splitlines()]
    found = {key.strip(): value.strip() for key, _, value in reversed(pairs)}
    return found.get("model name", "unknown processor"), frozenset(found.get("flags", "").split())


def missing(feature: str) -> str:
    """Return why the processor cannot run something (`avx512`, `vbmi`), or nothing."""
    flags = processor()[1]
    lacks = [flag for flag in ADVANCED.get(feature, ()) if flag not in flags]
    return f"the processor has no {', '.join(lacks)}" if lacks else ""


def source(name: str) -> str:
    """Return the text of a file in benchmarks/rivals."""
    return read_text(sources() / name)


def sources() -> Path:
    """Return the folder of the C sources: inside a wheel, or in the checkout."""
    inside = shipped("rivals")
    return inside if inside.is_dir() else inside.parent / "benchmarks" / "rivals"


@dataclass(frozen=True, slots=True)
class Unit:
    """What is compiled: a C text, a header put before it, macros, flags, libraries."""

    text: str
    header: str = ""
    macros: tuple[str, ...] = ()
    flags: tuple[str, ...] = FAST
    libraries: tuple[str, ...] = ()


def compiled_library(by: Compiler, unit: Unit) -> ctypes.CDLL:
    """Return the loaded shared object; a `DataError` with the compiler's words where it fails."""
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
    # Linked apart and without -ffast-math: with it, a shared object that is loaded makes the whole
    # process, Python and numpy with it, take subnormal numbers for zero.
    linked = [by.path, "-shared", "rival.o", "-o", "rival.so", *unit.libraries]
    for each in (command, linked):
        done = run_program(each, MOST_SECONDS, folder=folder)
        if done.code is None:
            raise DataError(f"{by.name} did not finish in {MOST_SECONDS:.0f} s")
        if done.code:
            said = done.printed.decode("utf-8", "replace").strip()[-500:]
            raise DataError(f"{by.name} refuses a rival: {said}")
    return folder / "rival.so"


def function(library: ctypes.CDLL, name: str, result: Any, *arguments: Any) -> Any:
    """Return a function of a shared object; it gives up Python's lock while it runs."""
    found = library[name]
    found.restype, found.argtypes = result, list(arguments)
    return found


# --------------------------------------------------------------------------------------------------
# What a bench found: rows, the machine, and both as JSON and as text.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Timing:
    """One rival, one type of samples, one batch size, one number of cores.

    Nanoseconds a sample are for all torques together: the least of the rounds, and their lower
    and upper quartile. `ratio` is how many times as long as the logic it took, of the same type
    where there is one. Errors are against Newton-Euler on the unquantised states, in last bits of
    the program's words, of the worst joint and of every joint; `own_error` is against the states
    as the type holds them (for logic: against the numpy engine).
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
        """Nanoseconds a sample, 0 where nothing was measured."""
        return self.ns_per_sample or 0.0


@dataclass(frozen=True, slots=True)
class Host:
    """Where it was measured."""

    processor: str
    caches: tuple[str, ...]
    flags: tuple[str, ...]
    compilers: tuple[str, ...]
    gigahertz: float
    cores: int


@dataclass(frozen=True, slots=True)
class Bench:
    """All of it.

    `worst_found` are the program's worst errors, in its last bits, of every torque, that climbing
    found with so many `evaluations`; `sampled_max` are those of random states, as a rival's
    `max_error` is, and `bound` is what no error exceeds, proved (None where nothing is). `lsb` are
    the last bits in the torques' `units`.
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
        """The rivals whose results are not what they promise."""
        return tuple(dict.fromkeys(f"{r.rival} ({r.kind})" for r in self.rows if r.wrong))

    def document(self) -> dict[str, Any]:
        """Return all as JSON values."""
        found = asdict(self)
        found["rows"] = [_document(row) for row in self.rows]
        return found


def _document(row: Timing) -> dict[str, Any]:
    found = asdict(row)
    found["types"] = {"in": row.kind, "out": row.kind}
    found["sampled_max"] = row.max_errors
    return found


def text_report(bench: Bench) -> str:
    """Return everything as text."""
    parts = [_machine_text(bench), *_tables(bench), _sweep(bench), _skipped(bench)]
    if bench.roofline:
        pairs = [[name, _figure(value)] for name, value in bench.roofline.items()]
        parts.append(table(["roofline of the logic", ""], pairs))
    return "\n\n".join(part for part in parts if part)


def _figure(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return f"{value:.0f}" if value == int(value) else f"{value:.3f}"


def _machine_text(bench: Bench) -> str:
    machine = bench.machine
    lines = [
        f"{bench.robot}, {bench.bits} bits, {bench.mode} mode: {bench.nodes} nodes",
        f"{machine.processor}, {machine.cores} cores, {machine.gigahertz:.2f} GHz measured; "
        + ", ".join(machine.caches),
        "; ".join(machine.compilers) or "no C compiler",
        "ns a sample for all torques: the least of the rounds, and how far above it the",
        "upper quartile lies (spread); ratio: times the logic's time; errors: in last bits of the",
        "program's words, worst joint, against Newton-Euler on unquantised random states",
    ]
    if bench.worst_found:
        worst = " ".join(f"{error:.2f}" for error in bench.worst_found)
        lines.append(
            f"worst found of the program: {worst}, searched with {bench.evaluations} evaluations, "
            "not proved"
        )
    if any(error is not None for error in bench.bound):
        errors = " ".join("-" if x is None else short_above(x, 4) for x in bench.bound)
        lines.append(f"no error of the program exceeds: {errors}, proved")
    if bench.lsb:
        pairs = zip(bench.lsb, bench.units, strict=True)
        steps = (f"{short(lsb)} {unit}".rstrip() for lsb, unit in pairs)
        lines.append(f"last bits of the program's words: {', '.join(steps)}")
    return "\n".join(lines)


def _tables(bench: Bench) -> list[str]:
    """Return a table for every batch size and number of cores: a rival a line, types beside it."""
    cases = dict.fromkeys((row.batch, row.cores) for row in bench.rows if not row.skipped)
    return [_case_text(bench, batch, cores) for batch, cores in cases]


def _case_text(bench: Bench, batch: int, cores: int) -> str:
    rows = [r for r in bench.rows if (r.batch, r.cores) == (batch, cores) and r.least]
    kinds = [k for k in ("int8", "int16", "float32", "float64") if any(r.kind == k for r in rows)]
    header = [f"batch {batch}, {cores} core{'s' if cores > 1 else ''}"]
    for kind in kinds:
        header += [f"{kind} ns", "spread", "ratio", "sampled max", "rms"]
    best: dict[str, float] = {}
    for row in rows:
        best[row.rival] = min(best.get(row.rival, row.least), row.least)
    lines = []
    for rival in sorted(best, key=lambda name: best[name]):
        cells = [rival]
        for kind in kinds:
            found = [r for r in rows if r.rival == rival and r.kind == kind]
            cells += _cells(found[0]) if found else [""] * 5
        lines.append(cells)
    return table(header, lines)


def _cells(row: Timing) -> list[str]:
    least = row.least
    quartiles = "" if row.quartiles is None else f"+{100 * (row.quartiles[1] / least - 1):.0f}%"
    ratio = "" if row.ratio is None else f"{row.ratio:.3g}"
    if row.wrong:
        return [_ns(least), quartiles, ratio, "WRONG", f"{row.own_error:.3g}"]
    return [
        _ns(least), quartiles, ratio, f"{row.max_error:.2f}", f"{row.rms_error:.3f}",
    ]  # fmt: skip


def _ns(value: float) -> str:
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"


def _sweep(bench: Bench) -> str:
    """Return ns over batch sizes, one core, the best type of each rival; break-even marked *."""
    one = [r for r in bench.rows if r.cores == 1 and r.ns_per_sample is not None]
    batches = sorted({r.batch for r in one})
    if len(batches) < 2:
        return ""
    lines = []
    for rival, kind in dict.fromkeys((r.rival, r.kind) for r in one):
        cells = [f"{rival} {kind}"]
        for batch in batches:
            found = [r for r in one if (r.rival, r.kind, r.batch) == (rival, kind, batch)]
            if not found or found[0].ns_per_sample is None:
                cells.append("")
                continue
            mark = "*" if found[0].break_even == batch else ""
            cells.append(_ns(found[0].ns_per_sample) + mark)
        lines.append(cells)
    note = "* from this batch size on, the logic is faster"
    return table(["ns a sample, one core", *map(str, batches)], lines) + f"\n{note}"


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
    """Return for every rival the least batch from which on the logic stays faster, on one core."""
    found: dict[tuple[str, Kind], int | None] = {}
    for row in sorted((r for r in rows if r.cores == 1 and r.ratio is not None), key=_batch):
        key = (row.rival, row.kind)
        if (row.ratio or 0.0) <= 1:
            found[key] = None
        elif found.get(key) is None:
            found[key] = row.batch
    return found


def _batch(row: Timing) -> int:
    return row.batch


# --------------------------------------------------------------------------------------------------
# The samples that all rivals run on: states, their words, and the exact outputs.
# --------------------------------------------------------------------------------------------------


Kind = Literal["int8", "int16", "float32", "float64"]
KINDS: tuple[Kind, ...] = ("int8", "int16", "float32", "float64")
BITS: dict[Kind, int] = {"int8": 8, "int16": 16, "float32": 32, "float64": 64}
PERIOD = 1 << 16  # different states; larger batches repeat them
ROOM = 64  # samples: what a rival may read beyond the last one
LINE = 64


def aligned(values: NDArray[Any], samples: int) -> NDArray[Any]:
    """Return a column of so many samples at a cache line, the values repeated, with room behind."""
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
        """How many different states there are."""
        return len(self.outputs)

    def batch(self, kind: Kind, samples: int) -> list[NDArray[Any]]:
        """Return the columns of a batch in a type: values, or words minus half the cells."""
        if (kind, samples) not in self._made:
            self._made[kind, samples] = [
                aligned(self.coded(kind, k), samples) for k in range(len(self.columns))
            ]
        return self._made[kind, samples]

    def forget(self) -> None:
        """Let go of the batches."""
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
        """Return the exact outputs of the states as a type can hold them."""
        columns = []
        for place, one in enumerate(self.problem.inputs):
            column = self.coded(kind, place).astype(np.float64)
            if kind in ("int8", "int16"):
                column = one.range.centre + (column + 0.5) * one.range.width / (1 << BITS[kind])
            columns.append(column)
        return self.problem.exact(np.stack(columns, axis=1))

    def rows(self, kind: Kind, samples: int, count: int) -> tuple[NDArray[Any], ...]:
        """Return the first of a batch in a type of floats, an array for each group of inputs."""
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
    """Return so many states, uniform over the ranges, drawn input by input."""
    rng = np.random.default_rng(seed)
    columns = tuple(rng.uniform(x.range.low, x.range.high, count) for x in problem.inputs)
    return BenchStates(problem, columns, problem.exact(np.stack(columns, axis=1)))


# --------------------------------------------------------------------------------------------------
# Times offers side by side: one process, the same samples, rounds in turn, results checked.
# --------------------------------------------------------------------------------------------------


CHECKED = 1 << 14  # states whose results are compared
ROUNDS = 25
LEAST_ROUNDS = 3
TURN = 1e-2  # seconds that a rival runs in a round
MOST_BYTES = 1 << 30  # of a batch's samples
GROUP = 64


@dataclass(frozen=True, slots=True)
class Case:
    """A batch size and a number of cores."""

    batch: int
    cores: int = 1


@dataclass(frozen=True, slots=True)
class Checked:
    """An offer whose results were compared."""

    offer: Offer
    max_errors: tuple[float, ...] = (0.0,)
    rms_errors: tuple[float, ...] = (0.0,)
    own_error: float = 0.0
    wrong: bool = False


def run(
    offers: Sequence[Offer],
    states: BenchStates,
    bits: int,
    cases: Sequence[Case],
    seconds: float,
    progress: Callable[[str], None] = lambda _: None,
) -> list[Timing]:
    """Return a row for every offer and case. `seconds` is the most that a rival gets in a case."""
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
    """Run an offer once and measure its errors; a skipped row where it cannot run."""
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
    """Tell where outputs are within the range that words hold."""
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
    ready: Sequence[Checked], states: BenchStates, case: Case, seconds: float
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
                    # Untimed: else it pays for what the rival before it left in the caches, or
                    # gains from it where both read the same arrays.
                    for task in one.tasks:
                        task.seconds(1)
                    ns.append(_time(one, pool) / one.times / case.batch * 1e9)
    states.forget()
    return rows + _with_ratios([_row(x, case, ns) for x, ns in zip(running, measured, strict=True)])


def _set_up(
    checked: Checked, states: BenchStates, case: Case, seconds: float, pool: ThreadPoolExecutor
) -> _Running | Timing:
    """Set an offer up, run it once, and choose how often it runs in a round."""
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


def _hindrance(offer: Offer, states: BenchStates, case: Case) -> str:
    """Return why an offer cannot run in a case, or nothing."""
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
    """Return the seconds of so many batches, of the slowest core."""
    if len(one.tasks) == 1:
        return one.tasks[0].seconds(one.times)
    running = [pool.submit(task.seconds, one.times) for task in one.tasks]
    return max(x.result() for x in running)


def _row(one: _Running, case: Case, ns: list[float]) -> Timing:
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
# Polynomials for sines and cosines with the least largest error, for the rivals' C.
# --------------------------------------------------------------------------------------------------


GRID = 600  # points where the error is held
MOST_TERMS = 8


@dataclass(frozen=True, slots=True)
class Polynomial:
    """Coefficients by rising power, and the largest error on the grid."""

    coefficients: tuple[float, ...]
    error: float

    def horner(self, variable: str = "z") -> str:
        """Return a C expression in float."""
        text = c_float(self.coefficients[-1])
        for coefficient in reversed(self.coefficients[:-1]):
            text = f"({c_float(coefficient)} + {variable} * {text})"
        return text

    def vector(self, multiply_add: str, constant: str, plus: str = "") -> str:
        """Return a C expression of intrinsics: the polynomial in z times `scale`, and `plus`."""
        terms = [f"{constant}({c_float(c)} * (scale))" for c in self.coefficients]
        if plus:
            terms[0] = f"{constant}({c_float(self.coefficients[0])} * (scale) + ({plus}))"
        text = terms[-1]
        for term in reversed(terms[:-1]):
            text = f"{multiply_add}(z, {text}, {term})"
        return text


def c_float(value: float) -> str:
    """Return a C constant of type float."""
    text = f"{value:.9g}"
    return f"{text if '.' in text or 'e' in text else text + '.0'}f"


@cache
def wave_polynomial(kind: Literal["cosine", "sine"], error: float) -> Polynomial:
    """Return the shortest polynomial in z = t² for cos 2πt, or sin 2πt = t·p(z), |t| ≤ ½ turns."""
    for terms in range(3, MOST_TERMS):
        found = _fit(kind, terms)
        if found.error <= error:
            return found
    return found


def _fit(kind: Literal["cosine", "sine"], terms: int) -> Polynomial:
    t = np.cos(np.linspace(0, math.pi / 2, GRID)) / 2  # dense where errors are largest
    wave = np.cos(2 * math.pi * t) if kind == "cosine" else np.sin(2 * math.pi * t)
    basis = np.stack([t ** (2 * k + (kind == "sine")) for k in range(terms)], axis=1)
    return minimax(basis, wave)


def minimax(basis: np.ndarray, wanted: np.ndarray) -> Polynomial:
    """Return the coefficients whose combination of the basis has the least largest error."""
    import highspy  # noqa: PLC0415 (only who needs a polynomial loads it)

    scale = np.abs(basis).max(axis=0)
    terms = basis.shape[1]
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)  # noqa: FBT003 (an option of that name)
    everywhere = highspy.kHighsInf
    for _ in range(terms):
        solver.addVar(-everywhere, everywhere)
    solver.addVar(0, everywhere)  # the largest error
    solver.changeColCost(terms, 1.0)
    columns = np.arange(terms + 1, dtype=np.int32)
    for row, value in zip(basis / scale, wanted, strict=True):
        solver.addRow(-everywhere, value, terms + 1, columns, np.append(row, -1.0))
        solver.addRow(value, everywhere, terms + 1, columns, np.append(row, 1.0))
    solver.run()
    coefficients = np.asarray(solver.getSolution().col_value)[:terms] / scale
    error = float(np.abs(basis @ coefficients - wanted).max())
    return Polynomial(tuple(float(c) for c in coefficients), error)


# --------------------------------------------------------------------------------------------------
# Newton-Euler of one robot as straight-line C: constants folded, common expressions once.
#
# What `Tape` records of the recurrence is what a symbolic tool such as CasADi would print. It is
# printed here as scalar C in double precision, and as C over vectors of 16 samples in float, in the
# order that keeps fewest values alive.
# --------------------------------------------------------------------------------------------------


HALF = math.pi * (1 + 1e-9)  # a turn
STATE_ARRAYS = ("q", "qd", "qdd")


def record(robot: Robot, *, lean: bool = False) -> Straight:
    """Return the robot's Newton-Euler recurrence, customised; inputs q1.. qd1.. qdd1..

    `lean` takes the method with fewest operations, masses regrouped, in place of the plain one.
    """
    if lean:
        return straight_line("regrouped", robot)
    tape = Tape()
    state = [[tape.input(f"{kind}{k + 1}") for k in range(robot.joints)] for kind in STATE_ARRAYS]
    torques = newton_euler(robot, Folding(tape), *state)
    return tape.finish([(f"tau{k}", torque) for k, torque in enumerate(torques, 1)])


@dataclass(frozen=True, slots=True)
class _Dialect:
    """How a language writes what the recurrence needs."""

    declare: str
    constant: Callable[[float], str]
    functions: dict[str, str]
    end: str = ";"


SCALAR = _Dialect("const double", repr, {"sin": "sin", "cos": "cos"})
SINGLE = _Dialect("const float", c_float, {"sin": "sine", "cos": "cosine"})
VECTOR = _Dialect("const vector", c_float, {"sin": "sine", "cos": "cosine"})
PYTHON = _Dialect("", repr, {"sin": "sin", "cos": "cos"}, "")


def _body(
    program: Straight, names: Sequence[str], language: _Dialect, near: Collection[int] = ()
) -> tuple[list[str], list[str]]:
    """Return the statements, and the expressions of the outputs.

    `near` are the inputs that are angles of at most half a turn: their waves are simpler.
    """
    made: list[str] = list(names)
    lines = []
    for place, node in enumerate(program.nodes[len(names) :], len(names)):
        if node.kind == "constant":
            made.append(language.constant(node.value))
            continue
        lines.append(
            f"{language.declare} v{place} = {_expression(node, made, language, near)}".strip()
        )
        lines[-1] += language.end
        made.append(f"v{place}")
    return lines, [made[output.node] for output in program.outputs]


def _expression(
    node: Operation, names: Sequence[str], language: _Dialect, near: Collection[int]
) -> str:
    operands = [names[k] for k in node.operands]
    if node.kind in SYMBOLS:
        return f"{operands[0]} {SYMBOLS[node.kind]} {operands[1]}"
    if node.kind == "neg":
        return f"-{operands[0]}"
    function = language.functions[node.kind]
    return f"{'near_' if node.operands[0] in near else ''}{function}({operands[0]})"


def scalar_c(program: Straight) -> str:
    """Return C with a loop over samples in double precision, as CasADi generates it."""
    lines, results = _body(program, [f"in_{name}[i]" for name in program.inputs], SCALAR)
    columns = [
        f"    const double *restrict in_{name} = in[{k}];" for k, name in enumerate(program.inputs)
    ]
    columns += [
        f"    double *restrict out_{output.name} = out[{k}];"
        for k, output in enumerate(program.outputs)
    ]
    stores = [
        f"        out_{output.name}[i] = {result};"
        for output, result in zip(program.outputs, results, strict=True)
    ]
    return "\n".join(
        [
            "#include <math.h>", '#include "rival.h"', "KERNEL", "{", "    (void)tables;", *columns,
            "    for (int64_t i = 0; i < n; i++) {", *(f"        {line}" for line in lines),
            *stores, "    }", "}", "",
        ]
    )  # fmt: skip


def vector_c(program: Straight, robot: Robot, wave_error: float) -> str:
    """Return C over vectors of 16 samples; words and floats alike (SAMPLE of rival.h)."""
    cosine, sine = (wave_polynomial(kind, wave_error) for kind in ("cosine", "sine"))
    loads, names = [], []
    for k, (name, interval) in enumerate(zip(program.inputs, _intervals(robot), strict=True)):
        middle, half = interval.centre, (interval.high - interval.low) / 2
        loads.append(f"const vector {name} = VALUE({k}, {c_float(middle)}, {c_float(half)});")
        names.append(name)
    lines, results = _body(program, names, VECTOR, _near(robot))
    ordered = _late_loads(loads, names, lines)
    stores = []
    for k, (result, link) in enumerate(zip(results, robot.links, strict=True)):
        middle, half = link.torque.centre, (link.torque.high - link.torque.low) / 2
        stores.append(f"PUT({k}, {result}, {c_float(middle)}, {c_float(half)});")
    return "\n".join(
        [
            f"#define COSINE_OF(z) {cosine.horner()}", f"#define SINE_OF(z) {sine.horner()}",
            '#include "vectors.h"', "KERNEL", "{", "    (void)tables;",
            "    for (int64_t i = 0; i < n; i += LANES) {",
            *(f"        {line}" for line in (*ordered, *stores)), "    }", "}", "",
        ]
    )  # fmt: skip


def single_c(program: Straight, robot: Robot, wave_error: float) -> str:
    """Return C of one sample in float: in and out are arrays, waves polynomials."""
    cosine, sine = (wave_polynomial(kind, wave_error) for kind in ("cosine", "sine"))
    names = [f"in[{k}]" for k in range(len(program.inputs))]
    lines, results = _body(program, names, SINGLE, _near(robot))
    stores = [f"out[{k}] = {result};" for k, result in enumerate(results)]
    return "\n".join(
        [
            f"#define COSINE_OF(z) {cosine.horner()}", f"#define SINE_OF(z) {sine.horner()}",
            '#include "single.h"', "SINGLE", "{",
            *(f"    {line}" for line in (*lines, *stores)), "}", "",
        ]
    )  # fmt: skip


def _near(robot: Robot) -> set[int]:
    """Return which inputs are angles of half a turn at most."""
    return {
        k for k, link in enumerate(robot.links) if link.revolute and link.position.magnitude <= HALF
    }


def python_loop(program: Straight) -> str:
    """Return a Python function with a loop over samples, for numba: `torques(columns, results)`."""
    names = [f"columns[{k}, i]" for k in range(len(program.inputs))]
    lines, results = _body(program, names, PYTHON)
    stores = [f"results[{k}, i] = {result}" for k, result in enumerate(results)]
    head = ["def torques(columns, results):", "    for i in range(columns.shape[1]):"]
    return "\n".join([*head, *(f"        {line}" for line in (*lines, *stores)), ""])


def _late_loads(loads: Sequence[str], names: Sequence[str], lines: Sequence[str]) -> list[str]:
    """Put every load before the first statement that needs it."""
    waiting = dict(zip(names, loads, strict=True))
    ordered = []
    for line in lines:
        words = line.replace("(", " ").replace(")", " ").replace(";", " ").split()
        ordered += [waiting.pop(word.lstrip("-")) for word in words if word.lstrip("-") in waiting]
        ordered.append(line)
    return [*ordered, *waiting.values()]


def _intervals(robot: Robot) -> list[Interval]:
    links = robot.links
    kinds = ([x.position for x in links], [x.velocity for x in links])
    return [*kinds[0], *kinds[1], *(x.acceleration for x in links)]


# --------------------------------------------------------------------------------------------------
# What the harness times: a rival set up on a batch.
# --------------------------------------------------------------------------------------------------


ARGUMENTS = 12  # of loop.c's calls


class BenchTask(Protocol):
    """A rival and a batch; it can be run again and again."""

    def seconds(self, times: int) -> float:
        """Run so many batches and return the seconds they took."""

    def results(self) -> list[NDArray[Any]]:
        """Return the columns of outputs of the last batch."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A rival in one type of samples, or the reason why it is not there.

    `bound` is its own error, in the last bits of the final word, against exact outputs of the
    states as its type holds them, or against what is `expected`; where a measured one is larger,
    its results are wrong.
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
        raise DataError("no C compiler: gcc or clang is needed to build the rivals")
    library = compiled_library(by, Unit(source("loop.c"), flags=("-O2",)))
    whole, address = ctypes.c_int64, ctypes.c_void_p
    repeat = function(library, "repeat", ctypes.c_double, address, address, whole)
    return repeat, function(library, "chain", ctypes.c_double, whole)


def address_of(call: Any) -> int:
    """Return where a ctypes function begins."""
    return int(ctypes.cast(call, ctypes.c_void_p).value or 0)


class NativeTask:
    """A native function that is called from C; `kept` must live as long as it."""

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
        """Run so many batches in one call."""
        return float(self._repeat(self._address, self._arguments, times))

    def results(self) -> list[NDArray[Any]]:
        """Return the columns of outputs."""
        return self._outputs if self._decode is None else self._decode(self._outputs)


class PythonTask:
    """A Python function that is called once a batch."""

    def __init__(self, call: Callable[[], Any], outputs: Callable[[], list[NDArray[Any]]]) -> None:
        self._call = call
        self._outputs = outputs

    def seconds(self, times: int) -> float:
        """Call it so many times."""
        start = time.perf_counter()
        for _ in range(times):
            self._call()
        return time.perf_counter() - start

    def results(self) -> list[NDArray[Any]]:
        """Return the columns of outputs."""
        return self._outputs()


def column_task(
    address: int,
    kind: Kind,
    states: BenchStates,
    batch: int,
    count: int,
    tables: Sequence[Any] = (),
) -> NativeTask:
    """Return a task of a rival with the entry of rival.h, on `count` samples of a batch."""
    inputs = states.batch(kind, batch)
    outputs = [np.zeros(count + 64, inputs[0].dtype) for _ in states.problem.outputs]
    outputs = [_at_line(x) for x in outputs]
    ins = (ctypes.c_void_p * len(inputs))(*[x.ctypes.data for x in inputs])
    outs = (ctypes.c_void_p * len(outputs))(*[x.ctypes.data for x in outputs])
    extra = (ctypes.c_void_p * max(1, len(tables)))(*[x.ctypes.data for x in tables])
    arguments = [ctypes.addressof(ins), ctypes.addressof(outs), count, ctypes.addressof(extra)]
    return NativeTask(address, arguments, outputs, (inputs, ins, outs, extra, tables))


def _at_line(like: NDArray[Any]) -> NDArray[Any]:
    room = np.zeros(like.nbytes + 64, np.uint8)
    start = -room.ctypes.data % 64
    return room[start : start + like.nbytes].view(like.dtype)
