"""What is compared in a loop: the same block by exact arithmetic, by words, by either mode."""

from __future__ import annotations

import math
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.common.errors import BoolcompError
from boolcomp.measure.control.blocks import (
    Arithmetic,
    compiled,
    planned,
    referred,
    rounded_block,
    signal_of,
)
from boolcomp.measure.control.recorded import gravity, inverse_dynamics
from boolcomp.paper.plan import Options, make_plan
from boolcomp.terms.extract import split

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from boolcomp.measure.control.blocks import Block
    from boolcomp.measure.control.laws import Law
    from boolcomp.problem.problem import Problem
    from boolcomp.problem.robot.model import Robot
    from boolcomp.program.program import Program

    Telling = Callable[[str], AbstractContextManager[object]]

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
