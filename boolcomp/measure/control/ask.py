"""What a user asks of a simulation, put together: arm, drive, law, blocks, trajectories."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.common.errors import DataWarning, UsageError, listing, shown, suggestion
from boolcomp.measure.control.blocks import called
from boolcomp.measure.control.drive import CUTOFF, FRICTIONS, drive_of
from boolcomp.measure.control.laws import BANDWIDTH, DAMPING, READ, law_of
from boolcomp.measure.control.loop import Loop
from boolcomp.measure.control.plant import inertia, plant_of
from boolcomp.measure.control.recorded import friction
from boolcomp.measure.control.trajectories import trajectory_of
from boolcomp.measure.control.variants import (
    OWN,
    Variant,
    exact_of,
    program_variant,
    referred_variant,
    variants_of,
)
from boolcomp.problem.degrees import Angles, angles_of
from boolcomp.problem.functions import USUAL, function_of, robot_problem
from boolcomp.problem.problem import numbered
from boolcomp.problem.worded import with_words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from boolcomp.measure.control.laws import Kind
    from boolcomp.measure.control.trajectories import Trajectory
    from boolcomp.measure.control.variants import Telling
    from boolcomp.problem.problem import Problem
    from boolcomp.problem.robot.model import Robot
    from boolcomp.problem.words import WordFormat
    from boolcomp.program.program import Program

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
