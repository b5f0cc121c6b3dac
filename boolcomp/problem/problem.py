"""What is to be computed: named inputs and outputs, an exact reference, what terms are made of.

Everything after this room knows a problem's inputs and outputs by name and position, and nothing of
what they mean. A maker (`makers`) turns something else, such as a robot, into a problem.

States of a problem are arrays, one for each group of inputs: (samples, members of the group).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from boolcomp.common.errors import UsageError, listing, suggestion
from boolcomp.problem.span import all_around
from boolcomp.problem.words import USUAL_FORMAT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from boolcomp.problem.expressions.straight import Straight
    from boolcomp.problem.interval import Interval
    from boolcomp.problem.spectra import Spectra
    from boolcomp.problem.words import WordFormat

Floats: TypeAlias = NDArray[np.float64]
Arrays: TypeAlias = "tuple[Floats, ...]"
_NUMBERED = re.compile(r"(.*?)(\d*)\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Input:
    """An input: within `range` values are given and errors measured, within `reach` logic holds.

    Its word spans `word`; of an angle (rad) that `wraps`, 2π + x is x. An `exact` input is a word
    to begin with: its values are the middles of the word's cells (see `exact`). `format` says what
    else was asked of the word.
    """

    name: str
    range: Interval
    unit: str
    word: Interval
    reach: Interval
    angle: bool = False
    wraps: bool = False
    exact: bool = False
    format: WordFormat = USUAL_FORMAT

    @property
    def stopped(self) -> bool:
        """Whether its word can say more than where it may be; a single value always can."""
        if self.range.single:
            return True
        return not all_around(self.range) if self.angle else self.range != self.word

    def __str__(self) -> str:
        return f"{self.name} in {self.range} {self.unit}".rstrip()


@dataclass(frozen=True, slots=True)
class Output:
    """An output: its name in files (`tau1`), in formulas (`T1`) and in sentences (`torque 1`).

    Its word spans `range`; `format` says what else was asked of it. Names of its terms begin with
    the `stem`, its symbol where nothing else is said: T1 has T11, and a `q1` of a user's `q1_1`.
    """

    name: str
    symbol: str
    range: Interval
    unit: str
    title: str = ""
    format: WordFormat = USUAL_FORMAT
    stem: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "stem", self.stem or self.symbol)
        object.__setattr__(self, "title", self.title or self.name)

    @property
    def noun(self) -> str:
        """What it is called where it need not be told from others: `torque`."""
        return self.title.rstrip(" 0123456789")

    def __str__(self) -> str:
        return f"{self.name} in {self.range} {self.unit}".rstrip()


@dataclass(frozen=True, slots=True)
class Group:
    """Inputs, or outputs, that are one array: `q` is q1, q2, …; a lone name is a group of one."""

    name: str
    members: tuple[str, ...]

    @property
    def size(self) -> int:
        """How many columns its array has."""
        return len(self.members)

    @property
    def lone(self) -> bool:
        """Whether it is one input by its own name, whose samples may be a plain list."""
        return self.members == (self.name,)


@dataclass(frozen=True, slots=True)
class SumHint:
    """Inputs whose sum or difference is likely to be needed; a `kind` is tried at once.

    The second is meant times a `gain`. The first may be such a sum: `a+b`.
    """

    kind: str
    first: str
    second: str
    sign: int
    gain: float = 1.0


@dataclass(frozen=True, slots=True)
class PartHint:
    """Output `whole` is likely to hold output `part` (places from 0), with this sign."""

    whole: int
    part: int
    sign: int


@dataclass(frozen=True, slots=True)
class Problem:
    """A function of bounded words. Two problems are equal where names, ranges and `key` are.

    `key` is a text that only equal problems share. `reference` takes the arrays of all groups and
    returns exact outputs, (samples, outputs); `form` makes what terms are made of, or where outputs
    are no sums of waves the steps that calculate them; `calculation` makes such steps where they
    are another way to outputs that are. `recorded` are the steps of a function that a user wrote.
    `plural` is
    what a user calls the outputs ("torques"), `places` what it is that inputs belong to ("joints").
    Up to `dust` an output is rounding of sums that are zero. `constants` are what one may have
    looked for among the outputs, and their only values. `widths` are bits of words that the problem
    itself names, of inputs and outputs; `notes` are sentences for users. `unloaded` is the robot's
    file without the load at the tip, as certificates state it. Names, hints and functions can be
    sent to other processes.
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
            raise UsageError(f"{self.name}: the groups do not hold every input once, in order")
        if self.returned.members != tuple(one.name for one in self.outputs):
            raise UsageError(f"{self.name}: the group of outputs does not hold them in order")

    def __hash__(self) -> int:
        return hash(self.key)

    def __str__(self) -> str:
        lines = [self.name, *(f"  {one}" for one in self.inputs)]
        return "\n".join([*lines, "to", *(f"  {one}" for one in self.outputs)])

    def input(self, name: str) -> Input:
        """Return an input by its name."""
        found = {one.name: one for one in self.inputs}
        if name not in found:
            hint = suggestion(name, found)
            raise UsageError(
                f"{self.name} has no input {name!r}{hint}: inputs are {listing(found)}"
            )
        return found[name]

    def members(self, group: Group) -> tuple[Input, ...]:
        """Return the inputs of a group."""
        found = {one.name: one for one in self.inputs}
        return tuple(found[name] for name in group.members)

    def by_input(self, given: Mapping[str, int]) -> dict[str, int]:
        """Return what is given for every input: under its own name, or for all of its group."""
        names = [*(group.name for group in self.groups), *(one.name for one in self.inputs)]
        known = list(dict.fromkeys(names))
        for name in given:
            if name not in known:
                raise UsageError(
                    f"{self.name} has no input {name!r}{suggestion(name, known)}: "
                    f"inputs are {listing(known)}"
                )
        found = {}
        for group in self.groups:
            for name in group.members:
                if name not in given and group.name not in given:
                    raise UsageError(f"how many bits has {group.name}? Give them for all its words")
                found[name] = given[name] if name in given else given[group.name]
        return found

    @property
    def bits(self) -> int | None:
        """The bits of the outputs' words, where the problem names them."""
        widths = dict(self.widths)
        named = {one.name: widths[one.name] for one in self.outputs if one.name in widths}
        if len(set(named.values())) > 1:
            listed = listing(f"{name} {bits}" for name, bits in named.items())
            raise UsageError(
                f"{self.name}: outputs have one width for all, and these differ: {listed}; give "
                "those that need less a wider range"
            )
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
        low = np.array([one.range.low for one in self.inputs])
        return low, np.array([one.range.high for one in self.inputs])

    def draw(self, count: int, seed: int) -> list[Floats]:
        """Return seeded states, uniform over the inputs' ranges: an array for each group."""
        rng = np.random.default_rng(seed)
        return [
            rng.uniform(low, high, (count, len(low)))
            for low, high in (_ends(self.members(group)) for group in self.groups)
        ]

    def in_steps(self, outputs: Floats, steps: Sequence[float]) -> Floats:
        """Return outputs as their words count them: from the middle of their ranges, in steps."""
        centres = np.array([one.range.centre for one in self.outputs])
        about = outputs - centres if centres.any() else outputs
        return np.asarray(about / np.asarray(steps))

    def output_bits(self, bits: int) -> list[int]:
        """Return how many bits the outputs' words have: their own where asked, else so many."""
        return [one.format.bits or bits for one in self.outputs]

    def steps(self, bits: int) -> list[float]:
        """Return the steps of the outputs' words of so many bits, or of their own."""
        pairs = zip(self.outputs, self.output_bits(bits), strict=True)
        return [one.range.width / (1 << own) for one, own in pairs]


def _ends(inputs: Sequence[Input]) -> tuple[Floats, Floats]:
    return np.array([x.range.low for x in inputs]), np.array([x.range.high for x in inputs])


@cache
def name_order(name: str) -> tuple[str, int]:
    """Sort key of names: q2 before q10."""
    match = _NUMBERED.match(name)
    letters, digits = match.groups() if match else (name, "")
    return letters, int(digits or -1)


def numbered(letters: str, count: int) -> Group:
    """Return the group `q` of `q1`, `q2` and so on."""
    return Group(letters, tuple(f"{letters}{k}" for k in range(1, count + 1)))


def stopped(problem: Problem) -> Iterator[Input]:
    """Yield the inputs whose words can say more than where they may be."""
    return (one for one in problem.inputs if one.stopped)
