"""What a user can do wrong, and the sentence each mistake gets.

An error carries its own exit code, so that the command line needs no table of them: 1 where the
data are bad or a promise does not hold, 2 where the command was used wrongly.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterable


INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells number it."""


class BoolcompError(Exception):
    """Base of every error that is the user's to mend; its text is the whole message."""

    exit_code: ClassVar[int] = 1


class DataError(BoolcompError):
    """The data are bad, or a promise about them does not hold."""


class UsageError(BoolcompError):
    """The command or function was used wrongly: unknown name, value out of range."""

    exit_code: ClassVar[int] = 2


class DataWarning(UserWarning):
    """The data can be used but something about them is doubtful."""


def suggestion(name: str, allowed: Iterable[str]) -> str:
    """Return ` (did you mean 'x'?)` for the nearest allowed spelling, or nothing."""
    near = difflib.get_close_matches(name, list(allowed), n=2, cutoff=0.5)
    if not near:
        return ""
    return f" (did you mean {' or '.join(repr(word) for word in near)}?)"


def listing(allowed: Iterable[str]) -> str:
    """Return the allowed words as they stand in a sentence."""
    return ", ".join(allowed)
