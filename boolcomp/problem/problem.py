"""Problems: functions of named, bounded inputs, with exact references and the form of their terms.

All later rooms identify the inputs and outputs of a problem by name and position alone.
States of a problem are arrays, one for each group of inputs: (samples, members of the group).
This file also holds guaranteed errors, word formats applied to a problem, and the check for angles
in degrees.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from html import escape
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from boolcomp.base.errors import (
    DataError,
    UsageError,
    listing,
    require_name,
    shown,
    suggestion,
    unknown,
)
from boolcomp.base.results import html_table
from boolcomp.problem.outputs import with_names
from boolcomp.problem.words import (
    MOST_BITS,
    NEARLY,
    TURN,
    Input,
    Output,
    WordFormat,
    part_of,
    span_of,
    word_problem,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from boolcomp.problem.fourier import Spectra
    from boolcomp.problem.outputs import NamedOutputs
    from boolcomp.problem.tape import Straight
    from boolcomp.problem.words import Interval


Floats: TypeAlias = NDArray[np.float64]
Arrays: TypeAlias = "tuple[Floats, ...]"
_NUMBERED = re.compile(r"(.*?)(\d*)\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Group:
    """Inputs or outputs that form one array: `q` is q1, q2, …; a lone name is a group of one."""

    name: str
    members: tuple[str, ...]

    @property
    def size(self) -> int:
        """The number of columns of its array."""
        return len(self.members)

    @property
    def lone(self) -> bool:
        """Whether the group is one input of the same name, whose samples may be a flat list."""
        return self.members == (self.name,)


@dataclass(frozen=True, slots=True)
class SumHint:
    """Inputs whose sum or difference is likely to be useful; hints of a `kind` are tried at once.

    The second input is multiplied by `gain`. The first may itself be such a sum: `a+b`.
    """

    kind: str
    first: str
    second: str
    sign: int
    gain: float = 1.0


@dataclass(frozen=True, slots=True)
class PartHint:
    """Output `whole` is likely to contain output `part` (indices from 0), with this sign."""

    whole: int
    part: int
    sign: int


@dataclass(frozen=True, slots=True, repr=False)
class Problem:
    """A function of bounded words. Problems are equal if their names, ranges and `key` are.

    `key` is a text that only equal problems share. `reference` maps the arrays of all groups to
    exact outputs, (samples, outputs). `form` returns the spectra of the outputs, or the steps that
    calculate them if they are not sums of waves. `calculation` returns such steps where spectra
    exist, too. `recorded` holds the steps of a user-written function. `plural` is the user's word
    for the outputs ("torques"), `places` for the owners of inputs ("joints"). Output values up to
    `dust` are rounding errors of zero. `constants` are outputs that do not vary, with their values.
    `widths` are the bits of words that the problem specifies; `notes` are sentences for users.
    `unloaded` is the robot's file without a payload, as certificates contain it. Problems can be
    pickled.
    """

    name: str
    key: str
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    groups: tuple[Group, ...]
    returned: Group
    reference: Callable[..., Floats] = field(compare=False, repr=False)
    form: Callable[[], Spectra | Straight] = field(compare=False, repr=False)
    sums: tuple[SumHint, ...] = ()
    parts: tuple[PartHint, ...] = ()
    plural: str = "outputs"
    places: str = "inputs"
    dust: float = 0.0
    calculation: Callable[[], Straight] | None = field(default=None, compare=False, repr=False)
    recorded: Straight | None = field(default=None, compare=False, repr=False)
    constants: tuple[tuple[str, float], ...] = ()
    widths: tuple[tuple[str, int], ...] = ()
    notes: tuple[str, ...] = ()
    unloaded: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        names = [one.name for one in self.inputs]
        grouped = [name for group in self.groups for name in group.members]
        if grouped != names or len(set(names)) != len(names):
            raise UsageError("the groups do not hold every input once, in order", where=self.name)
        if self.returned.members != tuple(one.name for one in self.outputs):
            raise UsageError("the group of outputs does not hold them in order", where=self.name)

    def __hash__(self) -> int:
        return hash(self.key)

    def __str__(self) -> str:
        lines = [self.name, *(f"  {one}" for one in self.inputs)]
        return "\n".join([*lines, "to", *(f"  {one}" for one in self.outputs)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return tables of inputs and outputs, for notebooks."""
        tables = (
            html_table((kind, "range", "unit"), [(x.name, str(x.range), x.unit or "–") for x in of])
            for kind, of in (("input", self.inputs), ("output", self.outputs))
        )
        return f"<div><b>{escape(self.name)}</b>{''.join(tables)}</div>"

    def __call__(self, *arrays: ArrayLike, **named: ArrayLike) -> NamedOutputs:
        """Return the exact outputs in double precision; arguments are those of a program."""
        given = collect_arrays(self.groups, arrays, named, self.name)
        doubles = [
            array_of(group.name, x).astype(np.float64)
            for group, x in zip(self.groups, given, strict=True)
        ]
        full, shape = full_shapes(self.groups, doubles, len(self.outputs), self.name, self.places)
        found = self.reference(*full).reshape(shape)
        return with_names(found, self.returned.members)

    def input(self, name: str) -> Input:
        """Return an input by its name."""
        found = {one.name: one for one in self.inputs}
        require_name("input", name, found)
        return found[name]

    def members(self, group: Group) -> tuple[Input, ...]:
        """Return the inputs of a group."""
        found = {one.name: one for one in self.inputs}
        return tuple(found[name] for name in group.members)

    def by_input(self, given: Mapping[str, int]) -> dict[str, int]:
        """Return the given value of every input, found under its own name or that of its group."""
        names = [*(group.name for group in self.groups), *(one.name for one in self.inputs)]
        known = list(dict.fromkeys(names))
        for name in given:
            require_name("input", name, known)
        found = {}
        for group in self.groups:
            for name in group.members:
                if name not in given and group.name not in given:
                    raise UsageError(
                        f"bits of {group.name} are missing", "give them for all its words"
                    )
                found[name] = given[name] if name in given else given[group.name]
        return found

    @property
    def bits(self) -> int | None:
        """The bits of the outputs' words, where the problem specifies them."""
        widths = dict(self.widths)
        named = {one.name: widths[one.name] for one in self.outputs if one.name in widths}
        if len(set(named.values())) > 1:
            listed = listing(f"{name} {bits}" for name, bits in named.items())
            raise UsageError(
                f"outputs have one width for all, and these differ: {listed}",
                "give those that need less a wider range", where=self.name,
            )  # fmt: skip
        return next(iter(named.values()), None)

    def columns(self, arrays: Sequence[Floats]) -> dict[str, Floats]:
        """Return the columns of the groups' arrays by the inputs' names."""
        return {
            name: array[:, k]
            for group, array in zip(self.groups, arrays, strict=True)
            for k, name in enumerate(group.members)
        }

    def arrays(self, states: Floats) -> Arrays:
        """Return the groups' arrays of states in one array, (samples, inputs)."""
        ends = np.cumsum([group.size for group in self.groups])[:-1]
        return tuple(np.ascontiguousarray(part) for part in np.split(states, ends, axis=-1))

    def exact(self, states: Floats) -> Floats:
        """Return the exact outputs at states in one array, (samples, inputs)."""
        return self.reference(*self.arrays(states))

    def bounds(self) -> tuple[Floats, Floats]:
        """Return the least and the largest value of every input."""
        return _ends(self.inputs)

    def draw(self, count: int, seed: int) -> list[Floats]:
        """Return seeded states, uniform over the inputs' ranges: an array for each group."""
        rng = np.random.default_rng(seed)
        return [
            rng.uniform(low, high, (count, len(low)))
            for low, high in (_ends(self.members(group)) for group in self.groups)
        ]

    def in_steps(self, outputs: Floats, steps: Sequence[float]) -> Floats:
        """Return outputs in steps of their words, relative to the centres of their ranges."""
        centres = np.array([one.range.centre for one in self.outputs])
        about = outputs - centres if centres.any() else outputs
        return np.asarray(about / np.asarray(steps))

    def output_bits(self, bits: int) -> list[int]:
        """Return the bits of every output's word: those of its format, else `bits`."""
        return [one.format.bits or bits for one in self.outputs]

    def steps(self, bits: int) -> list[float]:
        """Return the step of every output's word, of its own bits or else of `bits`."""
        pairs = zip(self.outputs, self.output_bits(bits), strict=True)
        return [one.range.width / (1 << own) for one, own in pairs]


def _ends(inputs: Sequence[Input]) -> tuple[Floats, Floats]:
    return np.array([x.range.low for x in inputs]), np.array([x.range.high for x in inputs])


@cache
def name_order(name: str) -> tuple[str, int]:
    """Return a sort key that puts q2 before q10."""
    match = _NUMBERED.match(name)
    letters, digits = match.groups() if match else (name, "")
    return letters, int(digits or -1)


def numbered(letters: str, count: int) -> Group:
    """Return the group `q` with the members `q1`, `q2` and so on."""
    return Group(letters, tuple(f"{letters}{k}" for k in range(1, count + 1)))


# --------------------------------------------------------------------------------------------------
# Shapes of arguments: a number, one state, or an array of samples for every group of inputs.
# --------------------------------------------------------------------------------------------------


def collect_arrays(
    groups: Sequence[Group], given: Sequence[ArrayLike], named: Mapping[str, ArrayLike], whose: str
) -> list[ArrayLike]:
    """Collect one array per input group from positional, group-named or member-named arguments."""
    if len(given) == len(groups) and not named:  # the fast path, which small batches need
        return list(given)
    names = [group.name for group in groups]
    if not given and named.keys() == {*names}:
        return [named[name] for name in names]
    if len(given) > len(groups):
        raise UsageError(f"{whose} takes {listed(names)}, not {len(given)} arrays")
    known = [*names, *(name for group in groups for name in group.members if not group.lone)]
    for name in named:
        require_name("input", name, known)
    return [
        _given_for(group, given[k : k + 1], {n: named[n] for n in (group.name, *group.members)
                                             if n in named}, whose)
        for k, group in enumerate(groups)
    ]  # fmt: skip


def _given_for(
    group: Group, given: Sequence[ArrayLike], named: Mapping[str, ArrayLike], whose: str
) -> ArrayLike:
    """Return the argument of one group; a group that is given twice is an error."""
    ways = [*given, *([named[group.name]] if group.name in named else [])]
    columns = [named[name] for name in group.members if name in named and not group.lone]
    if len(ways) + bool(columns) > 1:
        raise UsageError(f"{group.name} is given twice")
    if ways:
        return ways[0]
    missing = [name for name in group.members if name not in named]
    if len(columns) < group.size:
        lacks = listing(missing) if columns else group.name
        raise UsageError(f"{whose} needs {lacks}, too")
    arrays = [array_of(name, x) for name, x in zip(group.members, columns, strict=True)]
    counts = {array.size for array in arrays if array.ndim}
    if any(array.ndim > 1 for array in arrays) or len(counts) > 1:
        raise UsageError(f"{listed(group.members)} must be numbers, or as many samples each")
    return np.stack(np.broadcast_arrays(*arrays), axis=-1)


def array_of(name: str, given: ArrayLike) -> NDArray[Any]:
    """Return an array of real numbers of any type."""
    try:
        array = np.asarray(given)
    except ValueError as error:
        raise UsageError(f"{name} is not an array of numbers ({error})") from error
    if array.dtype.kind not in "fuib":
        raise UsageError(f"{name} holds {array.dtype}, not real numbers")
    return array


def full_shapes(
    groups: Sequence[Group], arrays: Sequence[NDArray[Any]], outputs: int, whose: str, places: str
) -> tuple[list[NDArray[Any]], tuple[int, ...]]:
    """Return (samples, members) arrays, and the shape of the results.

    Results are (samples, outputs), (outputs,), or () where single numbers give a single result.
    An array is (samples, members), (members,) for all samples, or a number for all members. The
    array of a lone group may be (samples,).
    """
    rows = len(arrays[0]) if arrays and arrays[0].ndim else 0
    if all(x.shape == (rows, len(g.members)) for g, x in zip(groups, arrays, strict=True)):
        return list(arrays), (rows, outputs)
    given = [
        x[:, None] if group.lone and x.ndim == 1 else x
        for group, x in zip(groups, arrays, strict=True)
    ]
    samples = {}
    for group, x in zip(groups, given, strict=True):
        if x.shape and (x.ndim > 2 or x.shape[-1] != group.size):
            one = "a number" if group.lone else f"({group.size},)"
            many = "(samples,)" if group.lone else f"(samples, {group.size})"
            raise UsageError(f"{group.name} has shape {x.shape}", f"{whose} takes {one} or {many}")
        if x.ndim == 2:
            samples[group.name] = len(x)
    if len(set(samples.values())) > 1:
        counts = ", ".join(f"{name} {count}" for name, count in samples.items())
        names = listed([group.name for group in groups])
        raise UsageError(f"{names} must have as many samples each, not {counts}")
    most = max((group.size for group in groups), default=0)
    if most > 1 and not any(x.shape for x in given):
        raise UsageError("numbers alone are not enough", f"{whose} has {most} {places}")
    rows = next(iter(samples.values()), 1)
    full = [
        x.reshape(rows, group.size)
        if x.size == rows * group.size
        else np.broadcast_to(x, (rows, group.size))
        for group, x in zip(groups, given, strict=True)
    ]
    if samples:
        return full, (rows, outputs)
    return full, () if outputs == 1 and not any(x.shape for x in given) else (outputs,)


def listed(names: Sequence[str]) -> str:
    """Return names joined for a sentence: `q, qd and qdd`."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


# --------------------------------------------------------------------------------------------------
# Extremes of a function over a box, found by sampling and compass search.
# --------------------------------------------------------------------------------------------------

FINEST = 1e-8  # last step of compass search, as a part of a range
GAIN = 1e-13  # relative gains below are rounding errors, which a search could follow for ever
MOST_ROUNDS = 300  # of compass search; a narrow ridge could take for ever
SAMPLES = 100_000
BEST = 8  # samples from which the search for every extreme starts
FINE = 1e-6  # last step of the search for extremes, as a part of a range
# Ratio of a range to the extreme found: the search proves nothing. A word in compact mode is sized
# for 1.02 times the largest value and 3 steps more, 2.3 % of the range at 8 bits.
MARGIN = 1.05


def extremes(
    exact: Callable[[Floats], Floats],
    bounds: tuple[Floats, Floats],
    samples: int = SAMPLES,
    best: int = BEST,
    fine: float = FINE,
) -> tuple[Floats, Floats]:
    """Return a function's values at uniform samples of a box, and its extremes (not proved).

    Values are (samples, outputs). Extremes are (2, outputs): the largest value of every output and
    of its negative, found by compass search from the `best` samples of each.
    """
    low, high = bounds
    states = np.random.default_rng(1988).uniform(low, high, size=(samples, len(low)))
    values = exact(states)
    n = values.shape[1]
    # One search for every output and sign, from its best samples.
    order = np.argsort(np.concatenate([values, -values], axis=1), axis=0)[-best:]
    which = np.repeat(np.arange(2 * n), best)
    place, sign = which % n, np.where(which < n, 1.0, -1.0)

    def height(x: Floats, rows: NDArray[np.int64]) -> Floats:
        return np.asarray(exact(x)[np.arange(len(x)), place[rows]] * sign[rows])

    _, found = climb(height, states[order.T.ravel()], low, high, 0.25, fine)
    # Nine digits are the same on every machine; + 0.0 turns -0.0 into 0.0.
    largest = [float(f"{value:.9g}") + 0.0 for value in found.reshape(2 * n, best).max(axis=1)]
    return values, np.array(largest).reshape(2, n)


def climb(
    height: Callable[[Floats, NDArray[np.int64]], Floats],
    starts: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    step: float,
    until: float = FINEST,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the maxima that compass search inside a box finds from every start, and their heights.

    Every round tries a step either way along each axis, and its two ends (many extrema are
    corners); steps halve where nothing was better. `height` takes points and the indices of their
    starts, so that one search can maximise several functions. Points that cannot be better (the
    point itself, the ends again if the point has not moved) are not evaluated again.
    """
    every = np.arange(len(starts))
    points, best = starts.copy(), height(starts, every)
    count, axes = points.shape
    steps, moved = np.full(count, step), np.ones(count, dtype=bool)
    spans = high - low
    for _ in range(MOST_ROUNDS):
        rows = every[steps >= until]
        if not len(rows):
            break
        here, pace = points[rows], steps[rows, None] * spans
        places = np.stack([here + pace, here - pace, here * 0 + low, here * 0 + high])
        places = np.clip(places, low, high)
        fresh = places != here
        fresh[2:] &= moved[rows, None]
        index = np.nonzero(fresh)
        row, axis = index[1], index[2]
        tried = here[row]
        tried[np.arange(len(row)), axis] = places[index]
        raised = np.full(places.shape, -np.inf)
        raised[index] = height(tried, rows[row])
        heights = raised.transpose(1, 0, 2).reshape(len(rows), -1)
        choice = heights.argmax(axis=1)
        found = heights[np.arange(len(rows)), choice]
        gain = np.where(best[rows] < 0, -GAIN, GAIN)  # a height below zero rises towards it
        moved[rows] = better = found > best[rows] * (1 + gain)
        k = np.flatnonzero(better)
        which, along = divmod(choice[k], axes)
        points[rows[k], along] = places[which, k, along]
        best[rows[k]] = found[k]
        steps[rows[~better]] /= 2
    return points, best


# --------------------------------------------------------------------------------------------------
# Problems whose inputs are words rather than measured quantities.
#
# Such inputs have no quantisation error: the function is compared at the middles of cells alone.
# --------------------------------------------------------------------------------------------------

# For every member of every group: low end, step, cells, and whether the word wraps.
Words = tuple[tuple[tuple[float, float, int, bool], ...], ...]
TIE = 1e-9  # of a cell: values this close below a border belong to the next cell, as in `codes`


def with_exact_words(problem: Problem, bits: Mapping[str, int]) -> Problem:
    """Return a problem whose inputs are words of these bits, by their names or their group's."""
    widths = problem.by_input(bits)
    words = tuple(
        tuple(_word(one, widths[one.name]) for one in problem.members(group))
        for group in problem.groups
    )
    text = " ".join(f"{name}={width}" for name, width in sorted(widths.items()))
    return replace(
        problem,
        key=f"{problem.key}\nexact words: {text}",
        inputs=tuple(replace(one, exact=True) for one in problem.inputs),
        reference=partial(_at_words, problem.reference, words),
    )


def _word(one: Input, bits: int) -> tuple[float, float, int, bool]:
    return one.word.low, one.word.width / (1 << bits), 1 << bits, one.wraps


def _at_words(reference: Callable[..., Floats], words: Words, *arrays: Floats) -> Floats:
    """Evaluate a reference at the middles of the cells that contain the states."""
    return reference(
        *(
            np.stack([_middle(column, *word) for column, word in zip(a.T, w, strict=True)], axis=1)
            for a, w in zip(arrays, words, strict=True)
        )
    )


def _middle(column: Floats, low: float, step: float, cells: int, wraps: bool) -> Floats:  # noqa: FBT001
    if not step:  # a single value
        return column
    cell = np.floor((column - low) / step + TIE)
    cell = cell % cells if wraps else np.clip(cell, 0, cells - 1)
    return np.asarray(low + (cell + 0.5) * step)


# --------------------------------------------------------------------------------------------------
# Guaranteed errors of outputs: `1lsb`, `0.5Nm`, `tau1=1lsb,tau2=0.2Nm`.
#
# A unit is required: LSB of the output's word (`lsb`), the output's own unit, or `abs` (the
# output's own unit, or none).
# --------------------------------------------------------------------------------------------------

EXAMPLE = "such as 1lsb or 0.5Nm, one for all or one each: 1lsb,0.8lsb, or tau1=1lsb"
LSB, ABSOLUTE = "lsb", "abs"
HALF = 0.5  # of a step: the error of rounding alone
LARGEST_PROMISE = 1e6
PREFIXES = {"m": 1e-3, "c": 1e-2, "k": 1e3, "u": 1e-6, "µ": 1e-6}
_PART = re.compile(r"(?:([^=]+)=)?\s*([0-9.]+(?:e[-+]?[0-9]+)?)\s*(\S.*)?", re.IGNORECASE)

Promised: TypeAlias = str | Iterable[str] | Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Allowed:
    """A limit of error, an amount with a unit, for the output or group `name`, or for all."""

    name: str
    amount: float
    unit: str

    @property
    def absolute(self) -> bool:
        """Whether the unit does not depend on the output's word."""
        return _plain(self.unit) != LSB

    def steps(self, output: Output, step: float) -> float:
        """Return the amount in steps of an output's word."""
        unit = _plain(self.unit)
        if unit == LSB:
            return self.amount
        if unit not in {_plain(output.unit), ABSOLUTE}:
            own, factor = output.unit or ABSOLUTE, PREFIXES.get(self.unit[:1])
            scaled = factor and output.unit and _plain(self.unit[1:]) == _plain(output.unit)
            near = f"{self.amount * (factor or 1):.10g}{own}" if scaled else f"0.5{own}"
            has = f"the unit {output.unit}" if output.unit else "no unit"
            raise UsageError(
                f"{output.name} has {has}, so its error cannot be {self}", f"give {near}, or 1lsb"
            )
        steps = self.amount / step
        return steps if steps * step <= self.amount else math.nextafter(steps, 0.0)

    def __str__(self) -> str:
        text = f"{self.amount:.10g}{self.unit}"
        return f"{self.name}={text}" if self.name else text


@dataclass(frozen=True, slots=True)
class Promise:
    """Guaranteed errors of a problem's outputs, in parts as the user specified them."""

    parts: tuple[Allowed, ...]

    @property
    def absolute(self) -> bool:
        """Whether no part depends on the widths of words."""
        return all(part.absolute for part in self.parts)

    def steps(self, problem: Problem, bits: int) -> tuple[float, ...]:
        """Return the allowed error of every output in steps of its word; infinite without limit.

        `bits` is the width of output words that have no width of their own.
        """
        pairs = zip(problem.outputs, self._each(problem), problem.steps(bits), strict=True)
        return tuple(part.steps(one, step) if part else math.inf for one, part, step in pairs)

    def check(self, problem: Problem, bits: int) -> None:
        """Raise a DataError, with the bits that suffice, if rounding alone exceeds a limit."""
        for output, steps, step in zip(
            problem.outputs, self.steps(problem, bits), problem.steps(bits), strict=True
        ):
            if steps > HALF:
                continue
            part = next(
                one for one in self._each(problem) if one and one.steps(output, step) == steps
            )
            unit = f" {output.unit}" if output.unit else ""
            advice = "allow a larger error"
            cells = output.range.width / (2 * steps * step)
            if part.absolute and (wider := math.floor(math.log2(cells)) + 1) <= MOST_BITS:
                advice += f", or give it {wider} bits or more"
            raise DataError(
                f"{output.name} cannot be kept within {part.amount:.10g} {part.unit}: rounding "
                f"alone causes an error of half a step, {HALF * step:.4g}{unit}", advice,
                where=problem.name,
            )  # fmt: skip

    @property
    def text(self) -> str:
        """The parts with all digits, for digests."""
        return ",".join(f"{one.name}={one.amount!r}{one.unit}" for one in self.parts)

    def _each(self, problem: Problem) -> list[Allowed | None]:
        """Return the limit of every output, None where it has none."""
        names = [one.name for one in problem.outputs]
        if not self.parts[0].name:
            if len(self.parts) not in (1, len(names)):
                each = problem.plural if problem.places == "inputs" else problem.places
                raise UsageError(
                    f"error {self} has {len(self.parts)} values, but {problem.name} has "
                    f"{len(names)} {each}", f"give one for all, or {len(names)}",
                )  # fmt: skip
            return [self.parts[k % len(self.parts)] for k in range(len(names))]
        group = problem.returned
        found: dict[str, Allowed] = {}
        for part in self.parts:
            if part.name not in (*names, group.name):
                raise unknown("output", part.name, names, near=(*names, group.name))
            own = part.name in names
            found |= dict.fromkeys([part.name] if own else set(names) - found.keys(), part)
        return [found.get(name) for name in names]

    def __str__(self) -> str:
        return ",".join(map(str, self.parts))


def promise_of(name: str, given: Promised | None) -> Promise | None:
    """Return the guaranteed errors that texts specify, if any."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        texts = [f"{key}={value}" for key, value in given.items()]
    elif isinstance(given, str):
        texts = given.split(",")
    elif isinstance(given, Iterable):
        texts = [str(one) for one in given]
    else:
        raise UsageError(
            f"{name} {shown(given)} is a number without a unit", f"give one, {EXAMPLE}"
        )
    parts = tuple(_part(name, text) for text in texts)
    keys = [part.name for part in parts if part.name]
    if not parts or 0 < len(keys) < len(parts):
        raise UsageError(
            f"{name} {shown(given)} names some outputs only", f"name all or none, {EXAMPLE}"
        )
    if len(set(keys)) < len(keys):
        raise UsageError(f"{name} {shown(given)} names an output twice")
    return Promise(parts)


def _part(name: str, text: str) -> Allowed:
    found = _PART.fullmatch(text.strip())
    try:
        amount = float(found[2]) if found else math.nan
    except ValueError:
        amount = math.nan
    if found is None or not 0 < amount <= LARGEST_PROMISE:
        raise UsageError(
            f"{name} {shown(text)} is no amount above 0 and at most {LARGEST_PROMISE:g}",
            f"give it with a unit, {EXAMPLE}",
        )
    if not found[3]:
        raise UsageError(f"{name} {shown(text)} has no unit", f"give one, {EXAMPLE}")
    return Allowed((found[1] or "").strip(), amount, found[3].strip())


def _plain(unit: str) -> str:
    """Normalise a unit: N·m, N*m, N m and Nm are the same, and case is ignored."""
    return re.sub(r"[·*.\s⋅]", "", unit).casefold()


# --------------------------------------------------------------------------------------------------
# Word formats of a user applied to a problem: ranges, widths, codes, zeros.
# --------------------------------------------------------------------------------------------------


def with_words(problem: Problem, given: Mapping[str, WordFormat]) -> Problem:
    """Return a problem whose words have these formats, by their names or those of their groups.

    Unspecified parts of a format keep their values. The new key contains all changes of numbers:
    ranges, zeros, and widths of outputs. Codes do not change numbers.
    """
    if not given:
        return problem
    groups = (*problem.groups, problem.returned)
    names = [group.name for group in groups]
    names += [one.name for one in problem.inputs] + [one.name for one in problem.outputs]
    for name in given:
        if name not in names:
            known = list(dict.fromkeys(names))
            raise UsageError(
                f"{problem.name} has no word {shown(name)}",
                f"{suggestion(name, known)}words are {listing(known)}",
            )
    of_group = {name: given[g.name] for g in groups if g.name in given for name in g.members}
    formats = {**of_group, **{k: v.over(of_group.get(k, WordFormat())) for k, v in given.items()}}
    inputs = tuple(_input(x, formats[x.name]) if x.name in formats else x for x in problem.inputs)
    outputs = tuple(
        _output(x, formats[x.name]) if x.name in formats else x for x in problem.outputs
    )
    changes = [_change(new, old) for new, old in zip(inputs, problem.inputs, strict=True)]
    changes += [_change(new, old) for new, old in zip(outputs, problem.outputs, strict=True)]
    key = problem.key + "".join(f"\nword {change}" for change in changes if change)
    return replace(problem, inputs=inputs, outputs=outputs, key=key)


def _input(one: Input, given: WordFormat) -> Input:
    """Return an input whose word has the given format."""
    if one.range.single:
        raise UsageError(f"{one.name} never moves, so its word cannot have the format {given}")
    found = given.over(one.format)
    word, reach, wraps = one.word, one.reach, one.wraps
    if given.range is not None:
        if wraps and part_of(given.range) != 0:
            raise UsageError(
                f"{one.name} turns all the way round, so its word spans a turn",
                f"use a range such as 0..2pi, not {given.range}",
            )
        if not wraps and not given.range.holds(one.range):
            raise UsageError(f"a word of {given.range} does not hold {one}")
        span = span_of(one.range, given.range, revolute=one.angle)
        word, reach, wraps = span.word, span.reach, span.wraps
    if problem := word_problem(word, found, wraps=wraps):
        raise UsageError(problem, where=one.name)
    return replace(one, word=word, reach=reach, wraps=wraps, format=found)


def _output(one: Output, given: WordFormat) -> Output:
    """Return an output whose word has the given format."""
    found = given.over(one.format)
    span = given.range or one.range
    if found.tread and abs(span.centre) > NEARLY * span.width:
        raise UsageError(f"a range of {span} is not symmetric about zero", where=one.name)
    if problem := word_problem(span, found, wraps=False):
        raise UsageError(problem, where=one.name)
    return replace(one, range=span, format=found)


def _change(new: Input | Output, old: Input | Output) -> str:
    """Describe how a word's numeric format differs from the original; empty if it does not."""
    span, before = (getattr(x, "word", x.range) for x in (new, old))
    parts = [f"{span.low!r}..{span.high!r}"] if span != before else []
    parts += ["tread" if new.format.tread else "rise"] * (new.format.tread != old.format.tread)
    if not hasattr(new, "word") and new.format.bits != old.format.bits:
        parts.append(str(new.format.bits))
    return f"{new.name}={':'.join(parts)}" if parts else ""


# --------------------------------------------------------------------------------------------------
# Angles that look like degrees: counted while states are read.
# --------------------------------------------------------------------------------------------------

LARGEST_ANGLE = 2 * TURN  # rad: larger angles of joints that turn all the way round look strange
SLACK = 1e-6  # of a turn


def angles_of(problem: Problem) -> dict[str, Interval | None]:
    """Return the angles among a problem's inputs with their limits, None for full turns."""
    return {
        one.name: None if one.wraps and one.range.width > TURN * (1 - SLACK) else one.range
        for one in problem.inputs
        if one.angle
    }


def degrees_question(angle: float) -> str:
    """Return a question about the result of `AngleInputs.largest`; an empty text for 0."""
    if not angle:
        return ""
    return f"an angle of {angle:.4g} rad is more than a turn: are the angles in degrees?"


class AngleInputs:
    """The angles among inputs, and the largest plausible size of each.

    It is a turn, or the limits of the angle if they are larger; two turns without limits.
    """

    def __init__(self, groups: Sequence[Group], stops: Mapping[str, Interval | None]) -> None:
        """Take the groups of all inputs, and the limits of the angles among them."""
        self.sizes = [
            (
                place,
                [(k, _size(stops[name])) for k, name in enumerate(group.members) if name in stops],
            )
            for place, group in enumerate(groups)
        ]
        # If all values of a group lie within these, its angles need no closer check.
        self.limits = [(place, min(size for _, size in own)) for place, own in self.sizes if own]

    def plausible(self, arrays: Sequence[ArrayLike]) -> bool:
        """Return, quickly, whether all angles of one state are plausible; False if unknown."""
        for place, size in self.limits:
            given: Any = arrays[place]
            try:
                if not (-size <= min(given) and max(given) <= size):
                    return False
            except (TypeError, ValueError):  # a number, or a nested array
                if not isinstance(given, int | float) or not abs(given) <= size:
                    return False
        return True

    def largest(self, arrays: Sequence[ArrayLike]) -> float:
        """Return the largest angle beyond its plausible size; 0 if there is none.

        Every group has an array (samples, members), or one state for all samples.
        """
        found = 0.0
        for place, own in self.sizes:
            given = np.asarray(arrays[place])
            for k, size in own if given.size else ():
                angle = float(np.abs(given[..., k] if given.ndim else given).max())
                found = max(found, angle) if angle > size else found
        return found


def _size(stops: Interval | None) -> float:
    return LARGEST_ANGLE if stops is None else max(TURN, stops.magnitude * (1 + SLACK))
