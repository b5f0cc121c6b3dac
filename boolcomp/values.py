"""Options of compilations as values: accuracy, cost and search.

Each stands for keywords of `boolcomp.compile`, which are the options of the command.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

from boolcomp.base.errors import UsageError, listing, require_name, shown, suggestion
from boolcomp.options import OPTIONS, GivenOptions, reference
from boolcomp.problem.sources import problem_of

if TYPE_CHECKING:
    from pathlib import Path

    from boolcomp.base.errors import Number
    from boolcomp.base.store import ResultPlace
    from boolcomp.compact.demand import Approximate, Target
    from boolcomp.logic.synthesis import Objective
    from boolcomp.problem.problem import Problem, Promised
    from boolcomp.problem.robot.model import Robot

    Limits: TypeAlias = "Number | Sequence[Number] | Mapping[str, Number]"


@dataclass(frozen=True, slots=True)
class OptionValues:
    """Keywords of `compile` in one value; None stands for the default."""

    option: ClassVar[str] = ""  # that of the only field, if it has another name

    def __new__(cls, *_: object, **named: object) -> Self:
        for name in named:
            require_name("keyword", name, [one.name for one in fields(cls)])
        return object.__new__(cls)

    @property
    def keywords(self) -> dict[str, Any]:
        """The keywords of `compile` that are given."""
        every = {self.option or one.name: getattr(self, one.name) for one in fields(self)}
        return {name: value for name, value in every.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Rms(OptionValues):
    """Limit of √(mean (logic - exact)²) over random states, in LSB: the step range / 2^bits.

    One limit is for all outputs; several are in order, or by name.

    >>> import boolcomp as bc
    >>> bc.compile("puma560", bits=8, accuracy=bc.Rms(0.505)).name
    'puma560'
    """

    limit: Limits
    option: ClassVar[str] = "rms_error"


@dataclass(frozen=True, slots=True)
class Found(OptionValues):
    """Limit of the largest |logic - exact| that a search finds, in LSB; the maximum may be larger.

    >>> import boolcomp as bc
    >>> bc.Found({"tau1": 3, "tau2": 4}).keywords
    {'max_error': {'tau1': 3, 'tau2': 4}}
    """

    limit: Limits
    option: ClassVar[str] = "max_error"


@dataclass(frozen=True, slots=True)
class Proved(OptionValues):
    """Limit of |logic - exact| that is proved for all inputs in range, with a unit.

    The unit is `lsb`, that of the output, or `abs` for an output without one: "1lsb", "0.5Nm".

    >>> import boolcomp as bc
    >>> bc.Proved({"tau1": "1lsb", "tau2": "2Nm"}).keywords
    {'error': {'tau1': '1lsb', 'tau2': '2Nm'}}
    """

    limit: Promised
    option: ClassVar[str] = "error"


@dataclass(frozen=True, slots=True)
class Cost(OptionValues):
    """The cost that a search minimises.

    >>> import boolcomp as bc
    >>> bc.Cost(target="mcu8", flash=8192).keywords  # bytes
    {'target': 'mcu8', 'flash': 8192}
    """

    target: Target | None = None
    objective: Objective | None = None
    flash: Number | None = None
    approximate: Approximate | None = None


@dataclass(frozen=True, slots=True)
class Search(OptionValues):
    """The effort and the place of a search; the place does not change its result.

    >>> import boolcomp as bc
    >>> bc.compile("machado-2r", bits=8, search=bc.Search(effort=30)).bits  # nominal seconds
    8
    """

    effort: Number | None = None
    seed: Number | None = None
    processes: Number | None = None
    cluster: Any = None
    store: str | Path | ResultPlace | None = None


GROUPED = {one.name for kind in (Cost, Search) for one in fields(kind)}
for _kind in (Cost, Search):
    _kind.__doc__ = f"{_kind.__doc__}\n{reference(one.name for one in fields(_kind))}\n"


def merged(
    mode: str, source: Robot | Problem, options: Mapping[str, Any],
    accuracy: OptionValues | Sequence[OptionValues] | None, *others: OptionValues | None,
) -> dict[str, Any]:  # fmt: skip
    """Return the keywords of options and values together; limits by name are put in order.

    An option that is given twice, that no mode has, or only the other one, is a `UsageError`.
    """
    found = dict(options)
    limits = [accuracy]
    if isinstance(accuracy, Iterable) and not isinstance(accuracy, str):
        limits = list(accuracy)
    for value in (one for one in (*limits, *others) if one is not None):
        if not isinstance(value, OptionValues):
            raise UsageError(
                f"{shown(value)} is no option value",
                "give a value such as Rms(0.5), Cost(…) or Search(effort=0)",
            )
        for name, given in value.keywords.items():
            if found.get(name) is not None:
                raise UsageError(f"{name} is given twice", f"{type(value).__name__} gives it, too")
            found[name] = given
    _refuse_others(mode, found)
    named = [name for name in ("rms_error", "max_error") if isinstance(found.get(name), Mapping)]
    if named:
        rest = {name: value for name, value in found.items() if name not in named}
        names = problem_of(source, GivenOptions.read(rest).of).returned.members
        found |= {name: _in_order(name, found[name], names) for name in named}
    return found


def _in_order(option: str, limits: Mapping[str, Any], names: Sequence[str]) -> list[Any]:
    for one in limits:
        require_name("output", one, names)
    if missing := [one for one in names if one not in limits]:
        raise UsageError(
            f"{option} has no limit for {listing(missing)}", "give one for each output"
        )
    return [limits[one] for one in names]


def _refuse_others(mode: str, given: Mapping[str, Any]) -> None:
    """Raise a `UsageError` for an option that no mode has, or only the other one."""
    allowed = [name for name, one in OPTIONS.items() if one.mode in ("", mode) or mode == "both"]
    for name, value in given.items():
        if name not in OPTIONS:
            known = ["mode", "accuracy", "cost", "search", *allowed, "inputs", "outputs", "name"]
            near = suggestion(name, known)
            raise UsageError(f"mode {mode} has no {name!r}", f"{near}it has {listing(known)}")
        usual, other = OPTIONS[name].default, OPTIONS[name].mode
        if name not in allowed and value is not usual and str(value) != str(usual):
            raise UsageError(f"{name} belongs to mode {other}, not to mode {mode}")
