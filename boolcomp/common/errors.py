"""What a user can do wrong, and the sentence each mistake gets.

An error carries its own exit code, so that the command line needs no table of them: 1 where the
data are bad or a promise does not hold, 2 where the command was used wrongly.
"""

from __future__ import annotations

import difflib
import functools
import math
import reprlib
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable


P = ParamSpec("P")
T = TypeVar("T")
LONGEST_NAME = 60  # characters of a name or value in a message
LONGEST_MESSAGE = 1200  # characters


class BoolcompError(Exception):
    """Base of every error that is the user's to mend; its text is the whole message."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str = "") -> None:
        super().__init__(cut(message, LONGEST_MESSAGE))


class DataError(BoolcompError):
    """The data are bad, or a promise about them does not hold."""


class UsageError(BoolcompError):
    """The command or function was used wrongly: unknown name, value out of range."""

    exit_code: ClassVar[int] = 2


class DataWarning(UserWarning):
    """The data can be used but something about them is doubtful."""


class SaturationWarning(DataWarning):
    """Values lay beyond what words can say or joints may do; some torques are not what they seem.

    `warnings.simplefilter("ignore", boolcomp.SaturationWarning)` turns it off.
    """


class _Shown(reprlib.Repr):
    """Values as messages show them: a few parts of a list, and no integer of a thousand digits."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxlong = self.maxother = LONGEST_NAME
        self.maxlevel = 2

    def repr_int(self, x: int, level: int) -> str:
        del level
        if x.bit_length() <= 3 * LONGEST_NAME:
            return repr(x)
        return f"an integer of about {math.ceil(x.bit_length() * math.log10(2))} digits"


_SHOWN = _Shown()


def shown(value: object) -> str:
    """Return a value of a user's as a message shows it: as Python writes it, cut to a line."""
    return _SHOWN.repr(value)


def cut(text: str, most: int = LONGEST_NAME) -> str:
    """Return a text with an ellipsis in its middle where it is too long for a message."""
    end = most // 3
    return text if len(text) <= most else f"{text[: most - 1 - end]}…{text[-end:]}"


def suggestion(name: object, allowed: Iterable[str], cutoff: float = 0.5) -> str:
    """Return ` (did you mean 'x'?)` for the nearest allowed spelling, or nothing.

    The `cutoff` is how alike it has to be: 0 takes any, 1 none but the same.
    """
    given = str(name)
    if len(given) > LONGEST_NAME:
        return ""
    near = difflib.get_close_matches(given, list(allowed), n=2, cutoff=cutoff)
    if not near:
        return ""
    return f" (did you mean {' or '.join(repr(word) for word in near)}?)"


def spelled(function: Callable[P, T]) -> Callable[P, T]:
    """Let a function say of a keyword that it has not which one is the nearest."""
    code: Any = getattr(function, "__code__")  # noqa: B009 (of a function, which this is)
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]

    @functools.wraps(function)
    def called(*args: P.args, **named: P.kwargs) -> T:
        for name in named:
            if name not in names:
                hint = suggestion(name, names)
                raise UsageError(f"{code.co_name} has no {name!r}{hint}: it has {listing(names)}")
        return function(*args, **named)

    return called


def require_name(kind: str, name: object, allowed: Collection[str]) -> None:
    """Refuse a name of some kind that is none of those allowed, with the nearest of them."""
    if name not in allowed:
        hint = suggestion(name, allowed)
        raise UsageError(f"{kind} {shown(name)}{hint}: {kind}s are {listing(allowed)}")


def listing(allowed: Iterable[str]) -> str:
    """Return the allowed words as they stand in a sentence."""
    return ", ".join(allowed)
