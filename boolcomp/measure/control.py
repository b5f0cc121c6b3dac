"""Closed-loop tracking versus word length: torque sources, errors, rows and charts."""

from __future__ import annotations

import importlib
import importlib.util
import math
import re
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.base.errors import (
    BoolcompError,
    DataError,
    UsageError,
    listing,
    require_name,
    shown,
    suggestion,
    warn,
)
from boolcomp.base.pages import (
    Alternatives,
    Beside,
    Chart,
    ChartAxis,
    ChartRow,
    Fact,
    KeyFigure,
    Page,
    PageSection,
    Text,
    lines,
    page_text,
    picture,
    scatter,
)
from boolcomp.base.results import ResultColumn, Results
from boolcomp.codes import Code
from boolcomp.measure.control_loop import (
    BANDWIDTH,
    CUTOFF,
    DAMPING,
    FRICTIONS,
    INTEGRATORS,
    READ,
    ControlLoop,
    TorqueBlock,
    drive_of,
    friction,
    gravity,
    inertia,
    inverse_dynamics,
    law_of,
    plant_of,
    rounded,
    tabled,
    tip,
    trajectory_of,
)
from boolcomp.paper.plan import PlanOptions, make_plan
from boolcomp.problem.functions import USUAL, function_of, robot_problem
from boolcomp.problem.problem import AngleInputs, angles_of, degrees_question, numbered, with_words
from boolcomp.program.program import NOT_USEFUL
from boolcomp.terms.extract import split

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from types import ModuleType

    from numpy.typing import NDArray

    from boolcomp.base.pages import Parts
    from boolcomp.measure.control_loop import KernelProgram, Kind, Law, Recording, Trajectory
    from boolcomp.paper.plan import Plan
    from boolcomp.problem.problem import Group, Problem
    from boolcomp.problem.robot.model import Robot
    from boolcomp.problem.words import WordFormat
    from boolcomp.program.program import Program

    Floats = NDArray[np.float64]
    Telling = Callable[[str], AbstractContextManager[Any]]
    Signals = Mapping[str, Floats]

# --------------------------------------------------------------------------------------------------
# Torque sources: exact arithmetic, rounded words, tables of a plan, programs, functions.
# --------------------------------------------------------------------------------------------------


FEW = 8  # runs up to this number are evaluated one by one, which is faster than small batches
EXTRA_BITS = 2  # of input words, as in compact mode
_MEMBER = re.compile(r"(qddr|qdr|qr|qdd|qd|q|de|e|t)(\d*)")


@dataclass(frozen=True, slots=True, eq=False)
class Arithmetic:
    """Exact torques in doubles."""

    recorded: KernelProgram
    reads: tuple[str, ...]

    def torques(self, signals: Signals) -> Floats:
        return self.recorded.evaluate(*(signals[name] for name in self.reads))


@dataclass(frozen=True, slots=True, eq=False)
class Rounded:
    """Exact torques of rounded inputs, rounded: the result of ideal logic with these words."""

    recorded: KernelProgram
    reads: tuple[str, ...]
    inputs: Floats
    outputs: Floats

    def torques(self, signals: Signals) -> Floats:
        """Round the inputs, calculate, and round the torques."""
        given = np.concatenate([signals[name] for name in self.reads])
        runs = given.shape[1]
        shape = (len(given), runs, self.inputs.shape[1])
        rounded(given, np.broadcast_to(self.inputs[:, None], shape), given)
        found = self.recorded.evaluate(given)
        shape = (len(found), runs, self.outputs.shape[1])
        rounded(found, np.broadcast_to(self.outputs[:, None], shape), found)
        return found


def rounded_block(
    problem: Problem, recorded: KernelProgram, reads: tuple[str, ...], bits: int
) -> tuple[Rounded, tuple[Code, ...]]:
    """Return the block for a word length, inputs two bits longer, and the codes of the outputs."""
    inputs = [
        scale(Code(one.word, one.format.bits or bits + EXTRA_BITS, "natural", one.wraps,
                   one.format.zero == "tread"))
        for one in problem.inputs
    ]  # fmt: skip
    codes = tuple(
        Code(one.range, one.format.bits or bits, "natural", tread=one.format.zero == "tread")
        for one in problem.outputs
    )
    outputs = np.array([scale(code) for code in codes])
    return Rounded(recorded, reads, np.array(inputs), outputs), codes


def scale(code: Code) -> tuple[float, ...]:
    """Return the parameters of a code for the kernel."""
    raised, base = code.centred
    return (code.low, code.step, code.cells, raised, base, float(code.wraps))


@dataclass(frozen=True, slots=True, eq=False)
class Planned:
    """The tables and sums of paper mode, by arithmetic that gives the same words."""

    rows: tuple[tuple[str, int], ...]
    plan: tuple[Any, ...]
    outputs: int

    def torques(self, signals: Signals) -> Floats:
        """Quantise inputs, look up tables, add, and quantise sums."""
        columns = np.stack([signals[name][k] for name, k in self.rows])
        found = np.empty((self.outputs, columns.shape[1]))
        tabled(columns, self.plan, found)
        return found


def planned(plan: Plan) -> Planned:
    """Return the tables of a plan in the kernel's format."""
    names = [name for group in plan.problem.groups for name in group.members]
    words: dict[tuple[str, int], tuple[int, tuple[float, ...]]] = {}
    waves, angles, powers, terms, factors = [], [], [], [], []

    def word(of: Mapping[str, Code], name: str) -> int:
        code = of[name]
        key = (name, code.bits)
        words.setdefault(key, (names.index(name), scale(code)))
        return list(words).index(key)

    for place, output in enumerate(plan.outputs):
        for term in output.terms:
            codes = {one.variable.name: one.code for one in term.words}
            for wave in term.term.waves():
                angles += [(word(codes, name), k) for name, k in wave.multiples]
                powers += [(word(codes, name), k) for name, k in wave.powers]
                waves.append((len(angles), len(powers), wave.cosine, wave.sine))
            factors += [word(codes, one.name) for one in term.term.factor]
            terms.append((len(waves), len(factors), place, scale(term.code)))
    parts = (
        (_whole([[source] for source, _ in words.values()], 1),
         np.array([one for _, one in words.values()])),
        (
            (_whole([one[:2] for one in waves], 2), np.array([one[2:] for one in waves])),
            _whole(angles, 2),
            _whole(powers, 2),
        ),
        (_whole([one[:3] for one in terms], 3), np.array([one[3] for one in terms])),
        np.array(factors, dtype=np.int64),
        np.array([scale(output.word) for output in plan.outputs]),
    )  # fmt: skip
    return Planned(tuple(signal_of(name) for name in names), parts, len(plan.outputs))


def _whole(rows: Sequence[Sequence[int]], columns: int) -> NDArray[np.int64]:
    return np.array(rows, dtype=np.int64).reshape(len(rows), columns)


@dataclass(frozen=True, slots=True, eq=False)
class Compiled:
    """A logic program."""

    program: Program
    rows: tuple[tuple[tuple[str, int], ...], ...]  # of every group

    def torques(self, signals: Signals) -> Floats:
        """Evaluate few runs one by one, many runs together."""
        groups = [np.stack([signals[name][k] for name, k in rows]) for rows in self.rows]
        runs = groups[0].shape[1]
        if runs > FEW:
            return np.ascontiguousarray(
                self.program.evaluate(*(group.T for group in groups)).values.T
            )
        states = [group.T.copy() for group in groups]
        found = [
            self.program.evaluate(*(state[run] for state in states)).values for run in range(runs)
        ]
        return np.stack(found, axis=1)


def compiled(program: Program) -> Compiled:
    """Return a program as a block; its inputs must have names of signals: q1, qd2, e1 and so on."""
    return Compiled(program, _signals_of(program.groups, program.name))


@dataclass(frozen=True, slots=True, eq=False)
class Referred:
    """The reference function of a problem in doubles."""

    problem: Problem
    rows: tuple[tuple[tuple[str, int], ...], ...]

    def torques(self, signals: Signals) -> Floats:
        """Evaluate the problem's reference."""
        groups = [np.stack([signals[n][k] for n, k in rows], axis=1) for rows in self.rows]
        return np.ascontiguousarray(self.problem.reference(*groups).T)


def referred(problem: Problem) -> Referred:
    """Return a problem as a block of exact arithmetic."""
    return Referred(problem, _signals_of(problem.groups, problem.name))


def _signals_of(groups: Sequence[Group], whose: str) -> tuple[tuple[tuple[str, int], ...], ...]:
    return tuple(tuple(signal_of(name, whose) for name in group.members) for group in groups)


def signal_of(name: str, whose: str = "") -> tuple[str, int]:
    """Return the signal and the joint (from 0) of an input's name."""
    match = _MEMBER.fullmatch(name)
    if match is None:
        raise UsageError(
            f"input {shown(name)} is not a signal of the loop",
            "signals are q1, qd1, qdd1 (commanded acceleration), qr1, qdr1, qddr1 (desired "
            "state), e1, de1 (errors of position and speed), and t", where=whose,
        )  # fmt: skip
    return match[1], max(0, int(match[2] or 1) - 1)


@dataclass(frozen=True, slots=True, eq=False)
class Called:
    """A user's Python function of the signals by name, (runs, joints) each."""

    function: Callable[..., Any]
    name: str

    def torques(self, signals: Signals) -> Floats:
        """Call the function; raise a `DataError` unless it returns finite torques."""
        shape = signals["q"].T.shape
        try:
            found = self.function(**{name: array.T for name, array in signals.items()})
            torques = np.asarray(found, dtype=np.float64)
            result = np.broadcast_to(torques, shape)
        except BoolcompError:
            raise
        except (Exception, SystemExit) as error:  # user code may also call sys.exit
            raise DataError(
                f"controller {self.name} failed ({type(error).__name__}: {error})"
            ) from error
        if not np.isfinite(result).all():
            raise DataError(f"controller {self.name} returned a torque that is not finite")
        return np.ascontiguousarray(result.T)


def called(text: str) -> Called:
    """Return a user's function: `module:function`, or `file.py:function`.

    Modules in the current directory are not found, only files.
    """
    place, _, name = text.rpartition(":")
    if place.endswith(".py") and not Path(place).is_file():
        raise UsageError(
            f"controller {shown(text)} names a file that does not exist, {shown(place)}"
        )
    try:
        module = _loaded(Path(place)) if place.endswith(".py") else importlib.import_module(place)
    except (Exception, SystemExit) as error:
        raise DataError(
            f"controller {shown(text)} cannot be loaded ({type(error).__name__}: {error})"
        ) from error
    function = getattr(module, name, None)
    if not callable(function):
        raise UsageError(
            f"{place} has no function {shown(name)}, which controller {shown(text)} names"
        )
    return Called(function, text)


def _loaded(path: Path) -> ModuleType:
    """Run a file as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None  # noqa: S101, PT018 (a .py file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# --------------------------------------------------------------------------------------------------
# Variants of a block: exact arithmetic, rounded words, both modes.
# --------------------------------------------------------------------------------------------------


EXACT, OWN = "exact", "own"
UNBUILT = "simulated by equivalent arithmetic; no logic was compiled"
IDEAL = "no logic: exact torques of rounded inputs, rounded, as by ideal logic"


@dataclass(frozen=True, slots=True, eq=False)
class Variant:
    """A named block; a variant that cannot be made has no block, and a reason in `note`.

    `nodes` is the size of its logic, `steps` are the LSB of the torques. `bounds` are the proved
    bounds of their errors; without them `bound_note` has the reason. `spans` are the ranges of its
    input words.
    """

    mode: str
    bits: int | None
    block: TorqueBlock | None
    nodes: int | None = None
    table_bits: int | None = None
    steps: tuple[float, ...] | None = None
    bounds: tuple[float, ...] | None = None
    spans: Mapping[tuple[str, int], tuple[float, float]] | None = None
    note: str = ""
    bound_note: str = ""


def exact_of(robot: Robot, law: Law) -> Variant:
    """Return the exact block of a law."""
    recorded = inverse_dynamics(robot) if law.kind == "computed-torque" else gravity(robot)
    return Variant(EXACT, None, Arithmetic(recorded, law.reads))


def variants_of(
    robot: Robot,
    law: Law,
    problem: Problem,
    modes: Sequence[str],
    bits: Sequence[int],
    compile_program: Callable[[int], Program],
    *,
    telling: Telling = nullcontext,
) -> Iterator[Variant]:
    """Yield a variant for every mode and word length, with a reason if it cannot be made.

    `telling` shows a title during long work, except compilation, which shows its own progress.
    """

    def paper(width: int) -> Variant:
        with telling(f"{problem.name} at {width} bits, paper mode: heights of terms"):
            return _planned(problem, width)

    makers: dict[str, Callable[[int], Variant]] = {
        "paper": paper,
        "compact": lambda width: program_variant(compile_program(width)),
        "rounded": lambda width: _rounded(robot, law, problem, width),
    }
    for mode in modes:
        for width in bits:
            try:
                yield makers[mode](width)
            except BoolcompError as error:
                yield Variant(mode, width, None, note=str(error))


def _planned(problem: Problem, bits: int) -> Variant:
    plan = make_plan(split(problem).required(), PlanOptions(bits))
    distinct = {(term.term.waves(), term.term.factor): term for term in plan.terms}
    return Variant(
        "paper",
        bits,
        planned(plan),
        table_bits=sum(one.code.bits << one.input_bits for one in distinct.values()),
        steps=tuple(output.code.step for output in plan.outputs),
        spans=_spans(problem),
        note=UNBUILT,
    )


def _rounded(robot: Robot, law: Law, problem: Problem, bits: int) -> Variant:
    recorded = inverse_dynamics(robot) if law.kind == "computed-torque" else gravity(robot)
    block, codes = rounded_block(problem, recorded, law.reads, bits)
    steps = tuple(code.step for code in codes)
    return Variant("rounded", bits, block, steps=steps, spans=_spans(problem), note=IDEAL)


def program_variant(program: Program) -> Variant:
    """Return a program as a variant."""
    bounds = program.useful_bound
    return Variant(
        program.mode,
        program.bits,
        compiled(program),
        nodes=len(program.network().nodes),
        steps=tuple(output.code.step for output in program.outputs),
        bounds=bounds if all(map(math.isfinite, bounds)) else None,
        bound_note=next((one.bound_note for one in program.outputs if one.bound_note), ""),
        spans={
            signal_of(one.name): (one.code.range.low, one.code.range.high)
            for one in program.inputs
            if not one.code.wraps
        },
    )


def referred_variant(problem: Problem) -> Variant:
    return Variant(EXACT, None, referred(problem))


def _spans(problem: Problem) -> dict[tuple[str, int], tuple[float, float]]:
    return {
        signal_of(one.name): (one.word.low, one.word.high)
        for one in problem.inputs
        if not one.wraps
    }


# --------------------------------------------------------------------------------------------------
# Requests of simulations: arm, drive, law, blocks, trajectories.
# --------------------------------------------------------------------------------------------------


LAWS: dict[str, str] = {"computed-torque": USUAL, "pd-gravity": "gravity"}
SECONDS = 10.0
MODE_SETS = {"both": ("paper", "compact"), "all": ("paper", "compact", "rounded"), "exact": ()}
SINGLE = ("paper", "compact", "rounded")


@dataclass(frozen=True, slots=True)
class LoopSettings:
    """Settings of a loop; None selects the value of the robot's file, or the default."""

    seconds: float = SECONDS
    rate: float | None = None
    encoder_bits: int | None = None
    speeds: str | None = None
    cutoff: float = CUTOFF
    friction: str = FRICTIONS[0]
    bandwidth: float = BANDWIDTH
    damping: float = DAMPING
    integrator: str = next(iter(INTEGRATORS))

    def loop(self, robot: Robot, kind: Kind) -> ControlLoop:
        """Return the loop of an arm and a law."""
        require_name("friction", self.friction, FRICTIONS)
        if not 0 < self.seconds <= 1e5:
            raise UsageError(f"time must be above 0 and at most 1e5 s, not {self.seconds:g}")
        plant = plant_of(
            robot, has_friction=self.friction != "none", integrator=self.integrator
        )  # fmt: skip
        drive = drive_of(
            robot, rate=self.rate, encoder_bits=self.encoder_bits, speeds=self.speeds,
            cutoff=self.cutoff,
        )  # fmt: skip
        middles = np.array([[link.position.centre] for link in robot.links])
        law = law_of(robot, kind, np.diagonal(inertia(robot, middles)[0]).copy(),
                     self.bandwidth, self.damping)  # fmt: skip
        added = plant.has_friction and self.friction == "compensated" and kind != OWN
        return ControlLoop(plant, drive, law, friction(robot) if added else None)

    def trajectories(self, robot: Robot, texts: Sequence[str]) -> list[Trajectory]:
        """Return the trajectories of specifications such as `point` or `sine:amplitude=.1`."""
        drive = drive_of(robot, rate=self.rate)
        found = [trajectory_of(robot, text, self.seconds, drive.rate) for text in texts]
        for one in found:
            _warn_of_limits(robot, one)
        return found


@dataclass(frozen=True, slots=True)
class StudyRequest:
    """A law of a robot, modes and word lengths, and a function that compiles programs."""

    robot: Robot
    law: str
    modes: tuple[str, ...]
    bits: tuple[int, ...]
    compile_program: Callable[[Problem, int], Program]
    words: Mapping[str, WordFormat] = field(default_factory=dict)
    telling: Telling = nullcontext

    def variants(self, loop: ControlLoop) -> list[Variant]:
        """Return the exact block, and one for every mode and word length; or that of a function."""
        if is_python(self.law):
            return [function_variant(self.law)]
        problem = with_words(robot_problem(self.robot, LAWS[self.law]), dict(self.words))
        made = variants_of(
            self.robot, loop.law, problem, self.modes, self.bits,
            lambda bits: self.compile_program(problem, bits), telling=self.telling,
        )  # fmt: skip
        return [exact_of(self.robot, loop.law), *made]


def _warn_of_limits(robot: Robot, trajectory: Trajectory) -> None:
    """Warn if a trajectory leaves the joints' ranges, or seems to be in degrees."""
    angles = AngleInputs((numbered("q", robot.joints),), angles_of(robot_problem(robot, "gravity")))
    if question := degrees_question(angles.largest([trajectory.q])):
        warn(f"trajectory {trajectory.name}: {question}")
    kinds = (
        ("position", trajectory.q),
        ("velocity", trajectory.qd),
        ("acceleration", trajectory.qdd),
    )
    beyond = []
    for kind, track in kinds:
        for k, link in enumerate(robot.links):
            span = getattr(link, kind)
            if kind == "position" and link.span.wraps:
                continue
            slack = 1e-9 * (1 + span.magnitude)
            if track[:, k].min() < span.low - slack or track[:, k].max() > span.high + slack:
                beyond.append(f"{kind}_range of joint {k + 1}")
    if beyond:
        text = f"trajectory {trajectory.name} leaves {listing(beyond)}: words saturate"
        warn(text)


def modes_of(text: str) -> tuple[str, ...]:
    """Return the modes of a text: one or several separated by commas, or both, all, exact."""
    if text in MODE_SETS:
        return MODE_SETS[text]
    found = tuple(part.strip() for part in text.split(","))
    for one in found:
        if one not in SINGLE:
            require_name("mode", one, (*SINGLE, *MODE_SETS))
    return tuple(dict.fromkeys(found))


def law_of_program(program: Program, robot: Robot) -> Kind:
    """Return the control law of a program, by its function and inputs."""
    if program.returned.size != robot.joints:
        raise UsageError(
            f"{program.name} has {program.returned.size} outputs, the robot {robot.joints} joints"
        )
    names = tuple(group.name for group in program.groups)
    for kind, reads in READ.items():
        if names == reads and LAWS[kind] in function_of(program.name, robot.name):
            return kind  # type: ignore[return-value]  # keys of READ are kinds
    return OWN  # type: ignore[return-value]  # likewise


def program_variants(program: Program, robot: Robot, loop: ControlLoop) -> list[Variant]:
    """Return the exact variant, if known, and that of a program."""
    if loop.law.kind != OWN:
        return [exact_of(robot, loop.law), program_variant(program)]
    of = function_of(program.name, robot.name)
    if program.name.startswith(f"{robot.name}-"):
        return [referred_variant(robot_problem(robot, of)), program_variant(program)]
    return [program_variant(program)]


def function_variant(text: str) -> Variant:
    return Variant("python", None, called(text))


def is_python(text: str) -> bool:
    """Tell whether a controller is given as a Python function: `module:function`."""
    place, colon, name = text.rpartition(":")
    return bool(colon and place and name.isidentifier() and not Path(text).is_dir())


# --------------------------------------------------------------------------------------------------
# Figures of a recording, per run and joint. All are simulated, none proved.
# --------------------------------------------------------------------------------------------------


LEAST_REST = 0.5  # s: the shortest rest that is analysed
STILL = 1e-9  # rad or m: smaller amplitudes are rounding errors
CROSSINGS = 3  # the fewest for a period


@dataclass(frozen=True, slots=True)
class Rest:
    """Residual motion at rest: half of peak to peak, its period (s), and the mean error.

    Amplitudes are of position and torque; the period is None for aperiodic motion.
    """

    amplitude: float
    torque: float
    period: float | None
    offset: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Figures:
    """Errors of position and torque, and jumps of torque, of one joint in one run.

    Noise is the block's torque minus the exact torque for the same measured states. `limited`
    counts instants at which the drive limited the torque, `outside` inputs of the block that were
    outside the ranges of their words.
    """

    rms_tracking: float
    max_tracking: float
    rms_noise: float | None
    max_noise: float | None
    rms_jump: float
    max_jump: float
    limited: int
    outside: int
    rest: Rest | None


def figures(
    recording: Recording,
    column: int,
    joint: int,
    exact: Floats | None,
    outside: NDArray[np.bool_],
    rate: float,
) -> Figures | None:
    """Return the figures of a joint in a run, or None if the run diverged.

    `exact` are the exact torques and `outside` tells whether an input was outside its word's
    range, (instants,) each.
    """
    if recording.lost[column]:
        return None
    path = recording.trajectories[column % len(recording.trajectories)]
    own = slice(0, path.own)
    error = path.q[own, joint] - recording.q[own, joint, column]
    applied = recording.applied[own, joint, column]
    noise = None if exact is None else recording.made[own, joint, column] - exact[own]
    jumps = np.diff(applied)
    wanted = recording.wanted[own, joint, column]
    return Figures(
        rms_tracking=_rms(error),
        max_tracking=float(np.abs(error).max()),
        rms_noise=None if noise is None else _rms(noise),
        max_noise=None if noise is None else float(np.abs(noise).max()),
        rms_jump=_rms(jumps),
        max_jump=float(np.abs(jumps).max()),
        limited=int(np.count_nonzero(wanted != applied)),
        outside=int(np.count_nonzero(outside[own])),
        rest=_rest(recording, column, joint, rate),
    )


def _rms(values: Floats) -> float:
    return float(np.sqrt((values**2).mean()))


def _rest(recording: Recording, column: int, joint: int, rate: float) -> Rest | None:
    """Return the residual motion in the second half of the rest of a trajectory."""
    path = recording.trajectories[column % len(recording.trajectories)]
    length = path.own - path.rest
    if length < LEAST_REST * rate:
        return None
    last = slice(path.own - length // 2, path.own)
    q, torque = recording.q[last, joint, column], recording.applied[last, joint, column]
    amplitude = float(np.ptp(q)) / 2
    return Rest(
        amplitude=amplitude,
        torque=float(np.ptp(torque)) / 2,
        period=_period(q, rate) if amplitude > STILL else None,
        offset=float((path.q[last, joint] - q).mean()),
        seconds=length // 2 / rate,
    )


def _period(values: Floats, rate: float) -> float | None:
    """Return the mean time between upward crossings of the middle; None for too few."""
    middle = (values.max() + values.min()) / 2
    above = values > middle
    up = np.flatnonzero(above[1:] & ~above[:-1])
    if len(up) < CROSSINGS:
        return None
    period = float(up[-1] - up[0]) / (len(up) - 1) / rate
    return period if math.isfinite(period) else None


# --------------------------------------------------------------------------------------------------
# Studies: blocks on trajectories, and the rows of results.
# --------------------------------------------------------------------------------------------------


PLACES = 200  # points of a trajectory at which M is inverted
ROUNDING = 1e-9  # tolerance, relative to a range, for values at its ends


@dataclass(frozen=True, slots=True)
class StudyRow:
    """One joint (from 1) of one variant on one trajectory.

    `estimate` is the additional tracking error that the proved bound of the torques allows in a
    continuous-time loop along this trajectory. `tip_rms` and `tip_max` are errors of the tip, equal
    for all joints. A variant that was not simulated has no figures, and a reason in `note`.
    """

    trajectory: str
    variant: Variant
    joint: int
    unit: str
    torque_unit: str
    figures: Figures | None = None
    tip_rms: float | None = None
    tip_max: float | None = None
    estimate: float | None = None
    note: str = ""

    @property
    def lsb(self) -> float | None:
        return self.variant.steps[self.joint - 1] if self.variant.steps else None

    @property
    def noise_lsb(self) -> float | None:
        """The rms noise in LSB of the torque's word."""
        if not self.lsb or self.figures is None or self.figures.rms_noise is None:
            return None
        return self.figures.rms_noise / self.lsb

    @property
    def bound(self) -> float | None:
        return self.variant.bounds[self.joint - 1] if self.variant.bounds else None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Study:
    """A loop, the variants of its block, the exact one first, and the results."""

    loop: ControlLoop
    variants: tuple[Variant, ...]
    recording: Recording
    rows: tuple[StudyRow, ...]
    seconds: float

    def __repr__(self) -> str:
        return text_table(self, 1e-3, 1e-3)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"

    @property
    def made(self) -> tuple[Variant, ...]:
        return tuple(one for one in self.variants if one.block is not None)


def study(
    loop: ControlLoop,
    variants: Sequence[Variant],
    trajectories: Sequence[Trajectory],
    progress: Callable[[float], None] = lambda _: None,
) -> Study:
    """Simulate all variants on all trajectories."""
    made = [one for one in variants if one.block is not None]
    blocks = [one.block for one in made if one.block is not None]
    recording = loop.simulate(blocks, trajectories, progress)
    exact = next((one for one in made if one.mode == EXACT), None)
    rows = []
    for t, trajectory in enumerate(trajectories):
        for variant in variants:
            if variant.block is None:
                rows += [
                    _row(loop, trajectory, variant, joint, note=variant.note)
                    for joint in range(loop.plant.robot.joints)
                ]
            else:
                column = recording.run(made.index(variant), t)
                rows += _rows(loop, recording, variant, exact, column)
    seconds = max(one.own for one in trajectories) * loop.drive.period
    return Study(loop, tuple(variants), recording, tuple(rows), seconds)


@contextmanager
def quietly(_: str) -> Iterator[Callable[..., None]]:
    """Show no progress."""
    yield lambda *_: None


def simulated(
    what: Program | StudyRequest, robot: Robot, settings: LoopSettings, texts: Sequence[str],
    telling: Telling = quietly,
) -> Study:  # fmt: skip
    """Simulate a program or a law on trajectories such as `point`."""
    kind: Any = OWN
    if not isinstance(what, StudyRequest):
        kind = law_of_program(what, robot)
    elif what.law in LAWS:
        kind = what.law
    elif not is_python(what.law):
        raise UsageError(
            f"unknown --controller {shown(what.law)}",
            f"{suggestion(what.law, LAWS)}give {listing(LAWS)} or MODULE:FUNCTION, or a program in "
            "place of ROBOT",
        )
    loop = settings.loop(robot, kind)
    trajectories = settings.trajectories(robot, texts)
    if isinstance(what, StudyRequest):
        made = what.variants(loop)
    else:
        made = program_variants(what, robot, loop)
    with telling("simulating") as show:
        return study(loop, made, trajectories, lambda done: show(done, "", ""))


def _row(
    loop: ControlLoop, trajectory: Trajectory, variant: Variant, joint: int, **more: Any
) -> StudyRow:
    link = loop.plant.robot.links[joint]
    unit = "rad" if link.revolute else "m"
    return StudyRow(trajectory.name, variant, joint + 1, unit, link.torque_unit, **more)


def _rows(
    loop: ControlLoop, recording: Recording, variant: Variant, exact: Variant | None, column: int
) -> list[StudyRow]:
    """Return the rows of a run."""
    path = recording.trajectories[column % len(recording.trajectories)]
    if recording.lost[column]:
        when = recording.lost[column] * loop.drive.period
        note = f"lost after {when:.3g} s: the loop is not stable"
        joints = range(loop.plant.robot.joints)
        return [_row(loop, path, variant, joint, note=note) for joint in joints]
    own = slice(0, path.own)
    wanted = (path.q[own].T, path.qd[own].T, path.qdd[own].T)
    seen, speeds = recording.seen[own, :, column].T, recording.speeds[own, :, column].T
    signals = loop.law.signals(seen, speeds, wanted, 0.0)
    signals["t"] = np.repeat(np.arange(path.own)[None] * loop.drive.period, len(seen), axis=0)
    right = None if exact is None or exact.block is None else exact.block.torques(signals)
    off = np.linalg.norm(
        tip(loop.plant.robot, recording.q[own, :, column]) - tip(loop.plant.robot, path.q[own]),
        axis=1,
    )
    estimate = _estimate(loop, variant, path)
    found = []
    for joint in range(loop.plant.robot.joints):
        outside = np.zeros(path.own, np.bool_)
        for (name, k), (low, high) in (variant.spans or {}).items():
            slack = ROUNDING * (high - low)
            if k == joint:
                outside |= (signals[name][k] < low - slack) | (signals[name][k] > high + slack)
        measured = figures(
            recording, column, joint, None if right is None else right[joint], outside,
            loop.drive.rate,
        )  # fmt: skip
        more = {"figures": measured, "tip_rms": float(np.sqrt((off**2).mean())),
                "tip_max": float(off.max()), "note": variant.note}  # fmt: skip
        broken = measured is None or measured.outside or measured.limited
        strays = None if estimate is None or broken else float(estimate[joint])
        found.append(_row(loop, path, variant, joint, estimate=strays, **more))
    return found


def _estimate(loop: ControlLoop, variant: Variant, path: Trajectory) -> Floats | None:
    """Return the tracking errors that the torques' bounds b allow: max |M⁻¹| b ∫|h|."""
    if variant.bounds is None or loop.law.kind != "computed-torque" or not loop.drive.ideal:
        return None
    chosen = np.linspace(0, path.own - 1, min(PLACES, path.own)).astype(np.int64)
    inverse = np.abs(np.linalg.inv(inertia(loop.plant.robot, path.q[chosen].T)))
    return np.asarray((inverse @ np.array(variant.bounds)).max(axis=0) * loop.law.pull)


def results(rows: Sequence[StudyRow]) -> Results:
    """Return rows under all columns, in the order of JSON; that of text is `TEXT`."""
    joints, torques = units(rows)
    return Results((
        ResultColumn("trajectory"),
        ResultColumn("mode", "mode", "variant.mode", left=True,
                     meaning="source of the torques: exact, or a kind of words"),
        ResultColumn("bits", "bits", "variant.bits", meaning="the word length of a torque"),
        ResultColumn("joint", "joint", meaning="counted from 1"),
        ResultColumn("unit"),
        ResultColumn("rms_tracking", "rms", "figures.rms_tracking", ".3g", unit=joints,
                     meaning="tracking error of the joint, rms"),
        ResultColumn("max_tracking", "max", "figures.max_tracking", ".3g", unit=joints,
                     meaning="largest tracking error of the joint"),
        ResultColumn("bound_tracking", "bound", "estimate", ".3g", unit=joints,
                     meaning="tracking error that the proved torque bound allows"),
        ResultColumn("tip_rms"),
        ResultColumn("tip_max"),
        ResultColumn("tip_max_mm", "tip max", lambda row: row.tip_max and 1000 * row.tip_max, ".3g",
                     unit="mm", json=False, meaning="largest error of the tip"),
        ResultColumn("torque_unit"),
        ResultColumn("lsb"),
        ResultColumn("rms_noise", "noise", "figures.rms_noise", ".3g", unit=torques,
                     meaning="torque minus exact torque for the same measured state, rms"),
        ResultColumn("max_noise", "", "figures.max_noise"),
        ResultColumn("rms_noise_lsb", "noise", "noise_lsb", ".2f", unit="LSB",
                     meaning="the same in steps of the torque's word"),
        ResultColumn("rms_jump", "jump", "figures.rms_jump", ".3g", unit=torques,
                     meaning="change of torque from one instant to the next, rms"),
        ResultColumn("max_jump", "", "figures.max_jump"),
        ResultColumn("bound", "torque bound", text=".3g", unit=torques,
                     meaning="proved bound of the torque's error"),
        ResultColumn("rest_amplitude", "rest ±", "figures.rest.amplitude", ".3g", unit=joints,
                     meaning="residual motion at rest, half of peak to peak"),
        ResultColumn("rest_period", "rest period", "figures.rest.period", ".3g", unit="s",
                     meaning="period of the residual motion"),
        ResultColumn("rest_offset", "rest mean", "figures.rest.offset", ".3g", unit=joints,
                     meaning="mean error at rest"),
        ResultColumn("rest_torque", "", "figures.rest.torque"),
        ResultColumn("saturated_inputs", "beyond words", "figures.outside", _count,
                     meaning="instants with an input outside its word's range"),
        ResultColumn("limited_torques", "at limit", "figures.limited", _count,
                     meaning="instants at which the drive limited the torque"),
        ResultColumn("nodes", "nodes", "variant.nodes", meaning="LUT3 nodes of the logic"),
        ResultColumn("table_bits", "", "variant.table_bits"),
        ResultColumn("note"),
        ResultColumn("bound_note", "", lambda row: row.variant.bound_note or None),
    ), rows)  # fmt: skip


def _count(value: int) -> str:
    return str(value or "")


def enough(
    rows: Sequence[StudyRow], tolerance: float, *, tip: bool = False
) -> dict[str, int | None]:
    """Return for every mode the fewest bits at which all joints, or the `tip`, keep a tolerance.

    All larger word lengths must keep it too; None if the largest does not.
    """
    worst: dict[str, dict[int, float]] = {}
    for row in rows:
        if row.variant.bits is not None:
            lengths = worst.setdefault(row.variant.mode, {})
            size = float("inf")
            if row.figures is not None:
                size = (row.tip_max or 0.0) if tip else row.figures.max_tracking
            lengths[row.variant.bits] = max(size, lengths.get(row.variant.bits, 0.0))
    return {mode: _fewest(lengths, tolerance) for mode, lengths in worst.items()}


def _fewest(lengths: Mapping[int, float], tolerance: float) -> int | None:
    found = None
    for bits in sorted(lengths, reverse=True):
        if lengths[bits] > tolerance:
            break
        found = bits
    return found


# --------------------------------------------------------------------------------------------------
# Results as text.
# --------------------------------------------------------------------------------------------------


TEXT = (
    "mode", "bits", "nodes", "joint", "rms_tracking", "max_tracking", "bound_tracking",
    "tip_max_mm", "rms_noise", "rms_noise_lsb", "rms_jump", "rest_amplitude", "rest_period",
    "saturated_inputs", "limited_torques",
)  # fmt: skip


BRIEF = "mode, bits, LUT3=nodes, joint, max, bound, tip max, beyond=beyond words, limited=at limit"


def text_table(found: Study, tolerance: float, at_tip: float, *, brief: bool = False) -> str:
    """Return the tables of all trajectories, explanations, and the numbers of bits needed."""
    known = {one.key: one for one in results(found.rows).columns}
    known["rest_period"] = known["rest_period"]._replace(header="period")
    known["bound_tracking"] = known["bound_tracking"]._replace(value=_bound)
    columns = [known[key] for key in TEXT]
    columns = [one._replace(text=_size) if one.text == ".3g" else one for one in columns]
    parts = []
    for name in dict.fromkeys(row.trajectory for row in found.rows):
        rows = [row for row in found.rows if row.trajectory == name and row.figures is not None]
        table = Results(columns, rows)
        parts.append(f"{name}\n{(table.brief(BRIEF) if brief else table).text()}")
    return "\n".join(
        [*parts, *_notes(found.rows), footnote(found), *answers(found, tolerance, at_tip)]
    )


def _bound(row: StudyRow) -> float | str | None:
    return NOT_USEFUL if row.variant.bound_note == NOT_USEFUL else row.estimate


def _size(value: float | str) -> str:
    """Return a figure with three digits; values below 1e-9 are rounding errors."""
    if isinstance(value, str):
        return value
    return "0" if abs(value) < 1e-9 else f"{value:.3g}"


def _notes(rows: Sequence[StudyRow]) -> list[str]:
    """Return a line for every note, with its variants."""
    notes: dict[str, list[str]] = {}
    for row in rows:
        if row.note:
            bits = "" if row.variant.bits is None else f" {row.variant.bits}"
            name = f"{row.variant.mode}{bits}"
            if row.figures is None:
                name += f" ({row.trajectory})"
            notes.setdefault(row.note, []).append(name)
    return [f"{', '.join(dict.fromkeys(names))}: {note}" for note, names in notes.items()]


def units(rows: Sequence[StudyRow]) -> tuple[str, str]:
    """Return the units of joints and torques of an arm, such as `rad or m`, `N·m or N`."""
    joints = sorted({row.unit for row in rows}, reverse=True)
    torques = sorted({row.torque_unit for row in rows}, reverse=True)
    return " or ".join(joints), " or ".join(torques)


def footnote(found: Study) -> str:
    """Return the explanation of the figures."""
    drive, plant = found.loop.drive, found.loop.plant
    joints, torques = units(found.rows)
    steps = plant.steps(drive.period)
    sensed = "exact states" if drive.ideal else f"encoders, {drive.speeds} speeds"
    return (
        f"simulated, not proved: {found.seconds:g} s at {drive.rate:g} Hz, {sensed}, "
        f"{INTEGRATORS[plant.integrator][0]} with {steps} {'step' if steps == 1 else 'steps'} per "
        "period; tracking in "
        f"{joints}, torques in {torques}\n"
        "bound: tracking error that the proved torque bound allows in a continuous-time loop "
        "without saturation"
    )


def answers(found: Study, tolerance: float, at_tip: float) -> list[str]:
    """Return a line per mode with the bits needed for the tolerances of joints and tip."""
    joints = enough(found.rows, tolerance)
    tips = enough(found.rows, at_tip, tip=True)
    unit, _ = units(found.rows)
    maximum = longest(found.rows)
    return [
        f"{mode}: for {tolerance:g} {unit} at every joint at any time, "
        f"{_verdict(bits, maximum[mode])}; for {1000 * at_tip:g} mm at the tip "
        f"{_verdict(tips[mode], maximum[mode])}"
        for mode, bits in joints.items()
    ]


def longest(rows: Sequence[StudyRow]) -> dict[str, int]:
    """Return the largest word length of every mode."""
    lengths = sorted((row.variant.bits or 0, row.variant.mode) for row in rows)
    return {mode: bits for bits, mode in lengths}


def _verdict(bits: int | None, maximum: int) -> str:
    return f"{maximum} bits are not enough" if bits is None else f"{bits} bits are enough"


# --------------------------------------------------------------------------------------------------
# A study as a page: request, bits needed, charts, and all figures.
# --------------------------------------------------------------------------------------------------


PAGE_POINTS = 400  # points of a line over time
LEVELS = ("exact", "tolerance", "rounding alone")
SERIES = ChartAxis("series", "", names=True, levels=LEVELS)
ROUNDING_ALONE = 12**-0.5  # rms, in steps
BITS = "bits of a torque"


def page(found: Study, tolerances: tuple[float, float], command: str) -> str:
    """Return the page; equal studies and commands give equal bytes."""
    drive, robot = found.loop.drive, found.loop.plant.robot
    names = list(dict.fromkeys(row.trajectory for row in found.rows))
    return page_text(
        Page(
            f"How many bits does control of {robot.name} need?",
            asked=(
                Fact("command", command, copied=True),
                Fact("robot", robot.title or robot.name),
                Fact("law", f"{found.loop.law.kind}, at {drive.rate:g} Hz, {drive.speeds} speeds"),
                Fact("trajectories", ", ".join(names)),
            ),
            found=tuple(_answers(found, tolerances)),
            meaning=(
                *(Text(line) for line in answers(found, *tolerances)),
                *(Text(line, kind="note") for line in footnote(found).splitlines()),
            ),
            sections=(
                PageSection("Against bits and nodes", (Beside(_charts(found, tolerances[0])),)),
                PageSection("Over time", (_over_time(found, names),)),
                PageSection("All figures", (_tables(found, names),)),
            ),
        )
    )


def _answers(found: Study, tolerances: tuple[float, float]) -> list[KeyFigure]:
    """Return the fewest bits of every mode, or the largest number if it is not enough."""
    maximum = longest(found.rows)
    tips = enough(found.rows, tolerances[1], tip=True)
    return [
        KeyFigure(
            f"> {maximum[mode]} bits" if bits is None else f"{bits} bits",
            f"{mode}, for {1000 * tolerances[1]:g} mm at the tip",
            "simulated, these trajectories",
        )
        for mode, bits in tips.items()
    ]


def _charts(found: Study, tolerance: float) -> tuple[Chart, ...]:
    """Return charts of errors and noise against bits, and of errors against nodes, if known."""
    words = [row for row in found.rows if row.variant.bits is not None and row.figures]
    off = f"largest error, {units(found.rows)[0]}"
    tracking: list[ChartRow] = []
    noise: list[ChartRow] = []
    sizes: dict[tuple[str, int], dict[str, float]] = {}
    for row in words:
        known, key = row.figures, (row.variant.mode, row.variant.bits or 0)
        assert known is not None  # noqa: S101 (`words` has only rows with figures)
        line = sizes.setdefault(key, {"tracking": 0.0, "bound": 0.0, "noise": 0.0, "nodes": 0.0})
        line["tracking"] = max(line["tracking"], known.max_tracking)
        line["bound"] = max(line["bound"], row.estimate or 0.0)
        line["noise"] = max(line["noise"], row.noise_lsb or 0.0)
        line["nodes"] = float(row.variant.nodes or 0)
    for (mode, bits), line in sizes.items():
        one: ChartRow = {"bits": bits, "series": mode}
        tracking.append({**one, "error": line["tracking"], "kind": "simulated"})
        if line["bound"]:
            tracking.append({**one, "error": line["bound"], "kind": "from the proved bound"})
        if line["noise"]:
            noise.append({**one, "noise": line["noise"]})
    exact = [r.figures.max_tracking for r in found.rows if r.figures and r.variant.bits is None]
    for bits in sorted({bits for _, bits in sizes}):
        if exact:
            tracking.append(
                {"bits": bits, "series": "exact", "error": max(exact), "kind": "simulated"}
            )
        tracking.append(
            {"bits": bits, "series": "tolerance", "error": tolerance, "kind": "specified"}
        )
        if noise:
            noise.append({"bits": bits, "series": "rounding alone", "noise": ROUNDING_ALONE})
    at = ChartAxis("bits", BITS, values=tuple(sorted({bits for _, bits in sizes})))
    charts: list[Chart] = [
        lines(
            tracking, at, ChartAxis("error", off, log=True, form=".3~g"),
            colour_by=SERIES, dash_by=ChartAxis("kind", "", names=True), title="Tracking",
            shows="The largest error of any joint on any trajectory.",
        ),
        lines(
            noise, at, ChartAxis("noise", "rms in LSB", log=True, form=".3~g"), colour_by=SERIES,
            title="Noise of torques", shows="The largest of all joints.",
        ),
    ]  # fmt: skip
    logic: list[ChartRow] = [
        {"nodes": line["nodes"], "error": line["tracking"], "series": mode, "bits": bits}
        for (mode, bits), line in sizes.items()
        if line["nodes"]
    ]
    if logic:
        charts.append(
            scatter(
                logic, ChartAxis("nodes", "nodes", log=True),
                ChartAxis("error", off, log=True, form=".3~g"),
                colour_by=SERIES, hover=(ChartAxis("bits", "bits"),), title="Error against logic",
                shows="Error against the size of the logic.",
            )
        )  # fmt: skip
    return tuple(chart for chart in charts if chart.rows)


def _over_time(found: Study, names: Sequence[str]) -> Alternatives:
    """Return charts of the errors of all joints over time, per trajectory, for some variants."""
    shown = _page_variants(found)
    options = []
    for place, name in enumerate(names):
        charts = [
            _errors(found, place, joint, shown) for joint in range(found.loop.plant.robot.joints)
        ]
        options.append((name, (Beside(tuple(charts)),)))
    return Alternatives("trajectory", options)


def _errors(found: Study, place: int, joint: int, shown: Sequence[Variant]) -> Chart:
    recording = found.recording
    path = recording.trajectories[place]
    kept = np.unique(np.linspace(0, path.own - 1, min(PAGE_POINTS, path.own)).astype(np.int64))
    rows: list[ChartRow] = []
    for variant in shown:
        column = recording.run(found.made.index(variant), place)
        if recording.lost[column]:
            continue
        error = path.q[kept, joint] - recording.q[kept, joint, column]
        name = variant.mode if variant.bits is None else f"{variant.mode} {variant.bits}"
        rows += [
            {"t": float(k * found.loop.drive.period), "error": float(f"{x:.4g}"), "series": name}
            for k, x in zip(kept, error, strict=True)
        ]
    unit = "rad" if found.loop.plant.robot.links[joint].revolute else "m"
    return lines(
        rows,
        ChartAxis("t", "s"),
        ChartAxis("error", f"error, {unit}", form=".3~g"),
        colour_by=SERIES,
        title=f"{path.name}, joint {joint + 1}",
        points=False,
    )


def _page_variants(found: Study) -> list[Variant]:
    """Return the variants drawn over time: exact, and the middle word length of every mode."""
    shown = []
    for mode in dict.fromkeys(one.mode for one in found.made):
        same = [one for one in found.made if one.mode == mode]
        shown.append(same[len(same) // 2])
    return shown


def _tables(found: Study, names: Sequence[str]) -> Alternatives:
    columns = [one for one in results(found.rows).columns if one.meaning]
    options: list[tuple[str, Parts]] = []
    for name in names:
        rows = [row for row in found.rows if row.trajectory == name]
        notes = dict.fromkeys(
            f"{row.variant.mode} {row.variant.bits}: {row.note}" for row in rows if row.note
        )
        texts = tuple(Text(one, kind="note") for one in notes)
        options.append((name, (Results(columns, rows).page(f"on {name}"), *texts)))
    return Alternatives("trajectory", options)


# --------------------------------------------------------------------------------------------------
# A study as a picture: the charts against bits, and one joint over time.
# --------------------------------------------------------------------------------------------------


def draw(found: Study, tolerance: float, kind: str) -> bytes:
    """Return a picture (`svg` or `png`); over time, of the joint with the largest error."""
    path = found.recording.trajectories[0].name
    known = [row for row in found.rows if row.figures and row.trajectory == path]
    words = [row for row in known if row.variant.bits is not None]
    joint = max(
        words or known[:1],
        key=lambda row: row.figures.max_tracking if row.figures else 0.0,
        default=found.rows[0],
    ).joint
    over_time = _errors(found, 0, joint - 1, _page_variants(found))
    return picture([*_charts(found, tolerance), over_time], kind)
