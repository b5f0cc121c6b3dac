"""Measure a plan against Newton-Euler on seeded random states.

Two errors are told apart. The total error compares with Newton-Euler on the unquantised inputs: it
is what a user sees. The compiler's own part compares with Newton-Euler on the inputs put on the
centres of the finest words: it is what better tables could still gain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.common.errors import UsageError, shown
from boolcomp.paper.bounds import error_bound
from boolcomp.paper.quantised import finest_codes, finest_inputs, quantised_torques
from boolcomp.problem.dynamics import inverse_dynamics
from boolcomp.problem.makers import inverse_dynamics_problem
from boolcomp.proof.worst import Subject, axes_of, find_worst

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from boolcomp.paper.plan import Plan
    from boolcomp.problem.robot import Robot
    from boolcomp.proof.worst import Worst

    Floats = NDArray[np.float64]


MOST_SAMPLES = 20_000_000  # what memory holds with room to spare
SEARCHED = 1_000_000  # evaluations that seek the worst error of a plan


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """States within a robot's ranges, (n, joints) each, and their exact torques."""

    robot: Robot
    q: Floats
    qd: Floats
    qdd: Floats
    torques: Floats

    @property
    def count(self) -> int:
        """The number of states."""
        return len(self.q)


@dataclass(frozen=True, slots=True)
class Errors:
    """Maximum, rms and mean error, in N·m (N where the joint slides); share beyond one LSB."""

    max: float
    rms: float
    mean: float
    beyond_lsb: float


@dataclass(frozen=True, slots=True)
class Row:
    """One joint at one word length.

    `guard_bits` are those of the terms, `extra` how many of them are more than the paper's m;
    compact mode has neither. `luts` are nodes of the joint's own tables, `program_luts` those of
    all logic of all torques. `worst` is the worst error found by climbing with so many
    `evaluations`, in N·m (N where the joint slides). What could not be had is None, and `note` says
    why; a bound that is not known is infinite.
    """

    robot: str
    mode: str
    bits: int
    guard_bits: int
    extra: int
    joint: int
    lsb: float
    total: Errors
    own: Errors
    bound: float
    saturated: int
    table_bits: int | None
    products: int | None = None
    literals: int | None = None
    luts: int | None = None
    program_luts: int | None = None
    depth: int | None = None
    seconds: float | None = None
    native_seconds: float | None = None
    ns_per_sample: float | None = None
    worst: float | None = None
    evaluations: int = 0
    note: str = ""
    unit: str = "N·m"

    @property
    def series(self) -> str:
        """What rows that differ only in bits and joint have in common: `paper, m + 1`."""
        if self.mode == "compact":
            return "compact"
        return f"paper, m + {self.extra}" if self.extra else "paper, m"


def draw_samples(robot: Robot, count: int, seed: int = 0) -> Samples:
    """Return seeded states, uniform over the robot's ranges, with exact torques."""
    if not 1 <= count <= MOST_SAMPLES:
        raise UsageError(f"samples must be 1 to {MOST_SAMPLES}, not {shown(count)}")
    if seed < 0:
        raise UsageError(f"a seed must not be negative, not {shown(seed)}")
    rng = np.random.default_rng(seed)
    arrays = []
    for kind in ("position", "velocity", "acceleration"):
        ranges = [getattr(link, kind) for link in robot.links]
        low, high = [r.low for r in ranges], [r.high for r in ranges]
        arrays.append(rng.uniform(low, high, (count, robot.joints)))
    q, qd, qdd = arrays
    return Samples(robot, q, qd, qdd, inverse_dynamics(robot, q, qd, qdd))


def error_rows(
    plan: Plan, samples: Samples, extra: int = 0, evaluations: int = 0
) -> tuple[Row, ...]:
    """Return a row for every joint, with errors but without products.

    The worst error is sought with so many evaluations, if there are any.
    """
    state = (samples.q, samples.qd, samples.qdd)
    found = quantised_torques(plan, *state).torques
    coded = inverse_dynamics(samples.robot, *finest_inputs(plan, *state))
    rows = []
    for k, joint in enumerate(plan.joints):
        lsb = joint.code.step
        beyond = np.abs(samples.torques[:, k]) > joint.code.range.high
        distinct = {term.term.waves() + term.term.factor: term for term in joint.terms}
        rows.append(
            Row(
                robot=plan.robot,
                mode="paper",
                bits=plan.options.bits,
                guard_bits=joint.guard_bits,
                extra=extra,
                joint=joint.joint,
                lsb=lsb,
                total=errors(found[:, k] - samples.torques[:, k], lsb),
                own=errors(found[:, k] - coded[:, k], lsb),
                bound=error_bound(joint),
                saturated=int(beyond.sum()),
                table_bits=sum(t.code.bits << t.input_bits for t in distinct.values()),
                unit=samples.robot.links[k].torque_unit,
                note=f"{beyond.sum()} samples saturate: no bound for them" if beyond.any() else "",
            )
        )
    if not evaluations:
        return tuple(rows)
    return with_worst(rows, find_worst(plan_subject(plan, samples.robot), evaluations))


def plan_subject(plan: Plan, robot: Robot) -> Subject:
    """Return what a plan's tables give, by arithmetic, as what is searched for its worst error."""

    def logic(q: Floats, qd: Floats, qdd: Floats) -> Floats:
        return quantised_torques(plan, q, qd, qdd).torques

    codes = tuple(joint.output for joint in plan.joints)
    problem = inverse_dynamics_problem(robot)
    return Subject(problem, axes_of(problem, finest_codes(plan)), codes, logic)


def with_worst(rows: Sequence[Row], worst: Worst) -> tuple[Row, ...]:
    """Return the rows of all joints with the worst errors that a search found.

    A sample may have been worse; where samples saturate their errors are another matter.
    """
    found = []
    for row, steps in zip(rows, worst.most, strict=True):
        size = max(float(steps) * row.lsb, 0.0 if row.saturated else row.total.max)
        found.append(replace(row, worst=size, evaluations=worst.evaluations))
    return tuple(found)


def errors(difference: Floats, lsb: float) -> Errors:
    """Summarise differences."""
    size = np.abs(difference)
    return Errors(
        float(size.max()),
        float(np.sqrt((difference**2).mean())),
        float(difference.mean()),
        float((size > lsb).mean()),
    )


def documents(rows: Sequence[Row]) -> list[dict[str, object]]:
    """Return rows under the keys that `boolcomp report --json` promises."""
    return [
        {
            "robot": row.robot,
            "mode": row.mode,
            "bits": row.bits,
            "guard_bits": row.guard_bits,
            "extra_guard_bits": row.extra,
            "joint": row.joint,
            "lsb": row.lsb,
            "max_error": row.total.max,
            "rms_error": row.total.rms,
            "mean_error": row.total.mean,
            "max_error_lsb": row.total.max / row.lsb,
            "rms_error_lsb": row.total.rms / row.lsb,
            "sampled_max": row.total.max,
            "sampled_max_lsb": row.total.max / row.lsb,
            "worst_found": row.worst,
            "worst_found_lsb": None if row.worst is None else row.worst / row.lsb,
            "evaluations": row.evaluations,
            "share_beyond_lsb": row.total.beyond_lsb,
            "own_max_error": row.own.max,
            "own_rms_error": row.own.rms,
            "bound": row.bound if math.isfinite(row.bound) else None,
            "saturated": row.saturated,
            "table_bits": row.table_bits,
            "products": row.products,
            "literals": row.literals,
            "luts": row.luts,
            "program_luts": row.program_luts,
            "depth": row.depth,
            "seconds": row.seconds,
            "native_seconds": row.native_seconds,
            "ns_per_sample": row.ns_per_sample,
            "note": row.note,
            "unit": row.unit,
        }
        for row in rows
    ]
