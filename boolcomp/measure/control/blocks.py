"""What makes torques in a loop: exact arithmetic, words, tables of a plan, programs, functions."""

from __future__ import annotations

import importlib
import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from boolcomp.codes import Code
from boolcomp.common.errors import BoolcompError, DataError, UsageError, shown
from boolcomp.measure.control.kernels import rounded, tabled

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import ModuleType

    from numpy.typing import NDArray

    from boolcomp.measure.control.recorded import Recorded
    from boolcomp.paper.plan import Plan
    from boolcomp.problem.problem import Problem
    from boolcomp.program.program import Program

    Floats = NDArray[np.float64]
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
