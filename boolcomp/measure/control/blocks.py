"""What makes torques in a loop: exact arithmetic, words, tables of a plan, programs, functions."""

from __future__ import annotations

import importlib
import importlib.util
import math
import re
import warnings
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from boolcomp.base.errors import (
    BoolcompError,
    DataError,
    DataWarning,
    UsageError,
    listing,
    shown,
    suggestion,
)
from boolcomp.codes import Code
from boolcomp.measure.control.loop import (
    BANDWIDTH,
    CUTOFF,
    DAMPING,
    FRICTIONS,
    READ,
    Loop,
    drive_of,
    friction,
    gravity,
    inertia,
    inverse_dynamics,
    law_of,
    plant_of,
    rounded,
    tabled,
)
from boolcomp.measure.control.trajectories import trajectory_of
from boolcomp.paper.plan import Options, make_plan
from boolcomp.problem.functions import USUAL, function_of, robot_problem
from boolcomp.problem.problem import Angles, angles_of, numbered, with_words
from boolcomp.terms.extract import split

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from types import ModuleType

    from numpy.typing import NDArray

    from boolcomp.measure.control.loop import Kind, Law, Recorded
    from boolcomp.measure.control.trajectories import Trajectory
    from boolcomp.paper.plan import Plan
    from boolcomp.problem.problem import Problem
    from boolcomp.problem.robot.model import Robot
    from boolcomp.problem.words import WordFormat
    from boolcomp.program.program import Program

    Floats = NDArray[np.float64]
    Telling = Callable[[str], AbstractContextManager[object]]


# --------------------------------------------------------------------------------------------------
# What makes torques in a loop: exact arithmetic, words, tables of a plan, programs, functions.
# --------------------------------------------------------------------------------------------------


if TYPE_CHECKING:
    Signals = Mapping[str, Floats]


FEW = 8  # runs that are evaluated one by one: single states are quick, small batches are not
EXTRA_BITS = 2  # of input words, as compact mode has them
_MEMBER = re.compile(r"(qddr|qdr|qr|qdd|qd|q|de|e|t)(\d*)")


class Block(Protocol):
    """Something that makes torques."""

    def torques(self, signals: Signals) -> Floats:
        """Return (joints, runs) of signals (joints, runs) by name."""


@dataclass(frozen=True, slots=True, eq=False)
class Arithmetic:
    """The exact torques, in doubles."""

    recorded: Recorded
    reads: tuple[str, ...]

    def torques(self, signals: Signals) -> Floats:
        """Calculate."""
        return self.recorded.evaluate(*(signals[name] for name in self.reads))


@dataclass(frozen=True, slots=True, eq=False)
class Rounded:
    """Exact torques of rounded inputs, rounded: what ideal logic of such words would give."""

    recorded: Recorded
    reads: tuple[str, ...]
    inputs: Floats
    outputs: Floats

    def torques(self, signals: Signals) -> Floats:
        """Round, calculate, round."""
        given = np.concatenate([signals[name] for name in self.reads])
        runs = given.shape[1]
        shape = (len(given), runs, self.inputs.shape[1])
        rounded(given, np.broadcast_to(self.inputs[:, None], shape), given)
        found = self.recorded.evaluate(given)
        shape = (len(found), runs, self.outputs.shape[1])
        rounded(found, np.broadcast_to(self.outputs[:, None], shape), found)
        return found


def rounded_block(
    problem: Problem, recorded: Recorded, reads: tuple[str, ...], bits: int
) -> tuple[Rounded, tuple[Code, ...]]:
    """Return words of so many bits, inputs of two more, and the codes of the outputs."""
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
    """Return what the kernel reads of a code."""
    raised, base = code.centred
    return (code.low, code.step, code.cells, raised, base, float(code.wraps))


@dataclass(frozen=True, slots=True, eq=False)
class Planned:
    """The paper's tables and sums, by arithmetic that gives the same words."""

    rows: tuple[tuple[str, int], ...]
    plan: tuple[Any, ...]
    outputs: int

    def torques(self, signals: Signals) -> Floats:
        """Put inputs in cells, look up, add, put sums in cells."""
        columns = np.stack([signals[name][k] for name, k in self.rows])
        found = np.empty((self.outputs, columns.shape[1]))
        tabled(columns, self.plan, found)
        return found


def planned(plan: Plan) -> Planned:
    """Return a plan's tables for the kernel."""
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
    """A program of logic, run on the engine that suits."""

    program: Program
    rows: tuple[tuple[tuple[str, int], ...], ...]  # of every group

    def torques(self, signals: Signals) -> Floats:
        """Evaluate: a few runs one by one, many together."""
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
    """Return a program as a block: its inputs are named as signals are, q1, qd2, e1 and so on."""
    rows = tuple(
        tuple(signal_of(name, program.name) for name in group.members) for group in program.groups
    )
    return Compiled(program, rows)


@dataclass(frozen=True, slots=True, eq=False)
class Referred:
    """What a problem says is exact: a function of a robot, or a function file, in doubles."""

    problem: Problem
    rows: tuple[tuple[tuple[str, int], ...], ...]

    def torques(self, signals: Signals) -> Floats:
        """Evaluate the problem's reference."""
        groups = [np.stack([signals[n][k] for n, k in rows], axis=1) for rows in self.rows]
        return np.ascontiguousarray(self.problem.reference(*groups).T)


def referred(problem: Problem) -> Referred:
    """Return a problem as a block of exact arithmetic."""
    rows = tuple(
        tuple(signal_of(name, problem.name) for name in group.members) for group in problem.groups
    )
    return Referred(problem, rows)


def signal_of(name: str, whose: str = "") -> tuple[str, int]:
    """Return the signal and the joint (from 0) that an input's name says."""
    match = _MEMBER.fullmatch(name)
    if match is None:
        raise UsageError(
            f"{whose}: no controller has an input {shown(name)}: inputs are q1, qd1, qdd1 (the "
            "commanded acceleration), qr1, qdr1, qddr1 (the wanted state), e1, de1 (its "
            "difference), and t"
        )
    return match[1], max(0, int(match[2] or 1) - 1)


@dataclass(frozen=True, slots=True, eq=False)
class Called:
    """A user's Python function of the signals by name, (runs, joints) each."""

    function: Callable[..., Any]
    name: str

    def torques(self, signals: Signals) -> Floats:
        """Call it; what it gives must be torques of all runs and joints."""
        shape = signals["q"].T.shape
        try:
            found = self.function(**{name: array.T for name, array in signals.items()})
            torques = np.asarray(found, dtype=np.float64)
            result = np.broadcast_to(torques, shape)
        except BoolcompError:
            raise
        except (Exception, SystemExit) as error:  # who leaves has simulated nothing
            said = f"{type(error).__name__}: {error}"
            raise DataError(f"controller {self.name}: {said}") from error
        if not np.isfinite(result).all():
            raise DataError(f"controller {self.name}: it gives what is no finite number")
        return np.ascontiguousarray(result.T)


def called(text: str) -> Called:
    """Return the function that a user names: `module:function`, or `file.py:function`.

    Nothing is looked for in the current directory, but what is named as a file.
    """
    place, _, name = text.rpartition(":")
    if place.endswith(".py") and not Path(place).is_file():
        raise UsageError(f"controller {shown(text)}: no file {shown(place)}")
    try:
        module = _loaded(Path(place)) if place.endswith(".py") else importlib.import_module(place)
    except (Exception, SystemExit) as error:
        said = f"{type(error).__name__}: {error}"
        raise DataError(f"controller {shown(text)}: {said}") from error
    function = getattr(module, name, None)
    if not callable(function):
        raise UsageError(f"controller {shown(text)}: {place} has no function {shown(name)}")
    return Called(function, text)


def _loaded(path: Path) -> ModuleType:
    """Run a file as a module of its own."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None  # noqa: S101, PT018 (it ends in .py)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# --------------------------------------------------------------------------------------------------
# What is compared in a loop: the same block by exact arithmetic, by words, by either mode.
# --------------------------------------------------------------------------------------------------


MODES = ("paper", "compact", "rounded")
EXACT, OWN = "exact", "own"
UNBUILT = "words by arithmetic that does what the logic does; no logic was made"
IDEAL = "no logic: exact torques of rounded words, rounded; what ideal logic would give"


@dataclass(frozen=True, slots=True, eq=False)
class Variant:
    """A block under a name; what could not be made has none, and its `note` says why.

    `nodes` are those of its logic, `steps` what one LSB of each torque is, `bounds` what no
    torque's error exceeds, proved, or `bound_note` why they are not shown; `spans` are the ranges
    of its inputs' words.
    """

    mode: str
    bits: int | None
    block: Block | None
    nodes: int | None = None
    table_bits: int | None = None
    steps: tuple[float, ...] | None = None
    bounds: tuple[float, ...] | None = None
    spans: Mapping[tuple[str, int], tuple[float, float]] | None = None
    note: str = ""
    bound_note: str = ""


def exact_of(robot: Robot, law: Law) -> Variant:
    """Return the law's block in doubles."""
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
    """Yield a variant for every mode and word length; what cannot be made says why.

    What may take long is done while `telling` what it is; compilation tells of itself.
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
    plan = make_plan(split(problem).required(), Options(bits))
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
    """Return what a problem says is exact as a variant."""
    return Variant(EXACT, None, referred(problem))


def _spans(problem: Problem) -> dict[tuple[str, int], tuple[float, float]]:
    return {
        signal_of(one.name): (one.word.low, one.word.high)
        for one in problem.inputs
        if not one.wraps
    }


# --------------------------------------------------------------------------------------------------
# What a user asks of a simulation, put together: arm, drive, law, blocks, trajectories.
# --------------------------------------------------------------------------------------------------


LAWS: dict[str, str] = {"computed-torque": USUAL, "pd-gravity": "gravity"}
SECONDS = 10.0
MODE_SETS = {"both": ("paper", "compact"), "all": ("paper", "compact", "rounded"), "exact": ()}
SINGLE = ("paper", "compact", "rounded")


@dataclass(frozen=True, slots=True)
class Settings:
    """What is chosen of a loop; None is what the robot's file says, or what is usual."""

    seconds: float = SECONDS
    rate: float | None = None
    encoder_bits: int | None = None
    speeds: str | None = None
    cutoff: float = CUTOFF
    friction: str = FRICTIONS[0]
    bandwidth: float = BANDWIDTH
    damping: float = DAMPING

    def loop(self, robot: Robot, kind: Kind) -> Loop:
        """Return an arm in its loop under a law."""
        if self.friction not in FRICTIONS:
            hint = suggestion(self.friction, FRICTIONS)
            said = shown(self.friction)
            raise UsageError(f"friction {said}{hint}: it is {listing(FRICTIONS)}")
        if not 0 < self.seconds <= 1e5:
            raise UsageError(f"a time of {self.seconds:g} s: it lies above 0 and up to 1e5")
        plant = plant_of(robot, rubs=self.friction != "none")
        drive = drive_of(
            robot, rate=self.rate, encoder_bits=self.encoder_bits, speeds=self.speeds,
            cutoff=self.cutoff,
        )  # fmt: skip
        middles = np.array([[link.position.centre] for link in robot.links])
        law = law_of(robot, kind, np.diagonal(inertia(robot, middles)[0]).copy(),
                     self.bandwidth, self.damping)  # fmt: skip
        added = plant.rubs and self.friction == "compensated" and kind != OWN
        return Loop(plant, drive, law, friction(robot) if added else None)

    def trajectories(self, robot: Robot, texts: Sequence[str]) -> list[Trajectory]:
        """Return the trajectories that texts say."""
        drive = drive_of(robot, rate=self.rate)
        found = [trajectory_of(robot, text, self.seconds, drive.rate) for text in texts]
        for one in found:
            _warn_of_limits(robot, one)
        return found


@dataclass(frozen=True, slots=True)
class Question:
    """A law of a robot, by name, in modes and at word lengths; how programs are come by."""

    robot: Robot
    law: str
    modes: tuple[str, ...]
    bits: tuple[int, ...]
    compile_program: Callable[[Problem, int], Program]
    words: Mapping[str, WordFormat] = field(default_factory=dict)
    telling: Telling = nullcontext

    def variants(self, loop: Loop) -> list[Variant]:
        """Return the exact block, and one for every mode and word length."""
        problem = with_words(robot_problem(self.robot, LAWS[self.law]), dict(self.words))
        made = variants_of(
            self.robot, loop.law, problem, self.modes, self.bits,
            lambda bits: self.compile_program(problem, bits), telling=self.telling,
        )  # fmt: skip
        return [exact_of(self.robot, loop.law), *made]


def _warn_of_limits(robot: Robot, trajectory: Trajectory) -> None:
    """Warn of what is asked of joints beyond their ranges, where words saturate, and of degrees."""
    angles = Angles((numbered("q", robot.joints),), angles_of(robot_problem(robot, "gravity")))
    if question := angles.seen([trajectory.q], len(trajectory.q)).question:
        warnings.warn(f"trajectory {trajectory.name}: {question}", DataWarning, stacklevel=4)
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
        said = f"trajectory {trajectory.name}: it goes beyond {listing(beyond)}"
        warnings.warn(said, DataWarning, stacklevel=4)


def modes_of(text: str) -> tuple[str, ...]:
    """Return the modes that a text names: one, several separated by commas, both, all, exact."""
    if text in MODE_SETS:
        return MODE_SETS[text]
    found = tuple(part.strip() for part in text.split(","))
    for one in found:
        if one not in SINGLE:
            allowed = (*SINGLE, *MODE_SETS)
            hint = suggestion(one, allowed)
            raise UsageError(f"--mode {shown(one)}{hint}: modes are {listing(allowed)}")
    return tuple(dict.fromkeys(found))


def law_of_program(program: Program, robot: Robot) -> Kind:
    """Return which law a program serves: by what it was compiled of, or by what it reads."""
    if program.returned.size != robot.joints:
        raise UsageError(
            f"{program.name} makes {program.returned.size} outputs, where {robot.name} has "
            f"{robot.joints} joints"
        )
    names = tuple(group.name for group in program.groups)
    for kind, reads in READ.items():
        if names == reads and LAWS[kind] in function_of(program.name, robot.name):
            return kind  # type: ignore[return-value]  # keys of READ are kinds
    return OWN  # type: ignore[return-value]  # likewise


def program_variants(program: Program, robot: Robot, loop: Loop) -> list[Variant]:
    """Return what is exact, where that is known, and a program."""
    if loop.law.kind != OWN:
        return [exact_of(robot, loop.law), program_variant(program)]
    of = function_of(program.name, robot.name)
    if program.name.startswith(f"{robot.name}-"):
        return [referred_variant(robot_problem(robot, of)), program_variant(program)]
    return [program_variant(program)]


def function_variant(text: str) -> Variant:
    """Return a user's Python function as what is simulated."""
    return Variant("python", None, called(text))


def is_python(text: str) -> bool:
    """Tell whether a controller is named as a Python function: `module:function`."""
    place, colon, name = text.rpartition(":")
    return bool(colon and place and name.isidentifier() and not Path(text).is_dir())
