"""Loops that numba compiles when they are first called, kept on disk where nobody else can write.

Loading numba takes half a second: `briefly` runs short work as Python, with the same results.

numba's index files are pickles: reading one that somebody else wrote runs what it says. Beside the
source they are as safe as the source itself where the package's folder is this user's and nobody
else may write to it (whoever can write there can change this very file). Everywhere else, in a
shared checkout or a package that the administrator installed, they go into the user's cache, which
is private or not used at all; so does a NUMBA_CACHE_DIR that others may write to.
"""

from __future__ import annotations

import functools
import os
import sys
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from boolcomp.base.store import is_ours, user_cache

if TYPE_CHECKING:
    from collections.abc import Callable

Function = TypeVar("Function", bound="Callable[..., Any]")
Made = TypeVar("Made")

MOST_CALLS = 15_000  # of loops as Python, in all of a process: about a tenth of a second


class _TooLongError(Exception):
    """Work has made more calls of loops than Python is to run."""


class Calls:
    """How many calls of loops Python has run in this process."""

    def __init__(self) -> None:
        self.made = 0


_calls = Calls()
_counted: ContextVar[Calls | None] = ContextVar("counted", default=None)


class Loop:
    """A function that numba compiles, or loads from its cache, when it is first called.

    All else of it, such as what compiled loops that call it ask for, is the compiled function's.
    """

    def __init__(self, function: Callable[..., Any], *, cache: bool, **options: Any) -> None:
        functools.update_wrapper(self, function)
        self._function, self._cache, self._options = function, cache, options

    def __call__(self, *arguments: Any) -> Any:
        """Run compiled, or as Python within `briefly`."""
        calls = _counted.get()
        if calls is None:
            return self._compiled(*arguments)
        calls.made += 1
        if calls.made > MOST_CALLS:
            raise _TooLongError
        return self._function(*arguments)

    def __reduce__(self) -> str:
        return self._function.__qualname__

    def __getattr__(self, name: str) -> Any:
        return getattr(self._compiled, name)

    @functools.cached_property
    def _compiled(self) -> Any:
        import numba  # noqa: PLC0415 (half a second, which short work does without)

        config: Any = numba.config  # its names are made when it is read
        usual = config.CACHE_DIR
        folder = cache_folder(Path(self._function.__code__.co_filename).parent, str(usual))
        config.CACHE_DIR = folder or ""
        try:
            made = numba.njit(cache=self._cache and folder is not None, **self._options)
            compiled = made(self._function)
            _forget_unreadable(compiled)
            return compiled
        finally:
            config.CACHE_DIR = usual


def _forget_unreadable(compiled: Any) -> None:
    """Empty the index of a loop's cache where it names a class that this version does not have.

    numba reads the types of an index before its date: code of an older version is an error.
    """
    index = getattr(compiled._cache, "_cache_file", None)  # noqa: SLF001 (numba offers no other way)
    if index is not None:
        try:
            index.load(())
        except (AttributeError, ImportError):
            index.flush()


def njit(*, cache: bool, **options: Any) -> Callable[[Function], Function]:
    """Do what numba's `njit` does, late, with a cache folder that is private."""

    def decorate(function: Function) -> Function:
        return cast("Function", Loop(function, cache=cache, **options))

    return decorate


def briefly(
    work: Callable[[], Made], *, small: bool = True, loading: Callable[[], None] = lambda: None
) -> Made:
    """Return what work makes, with loops run as Python where that is the shorter way.

    That is so where work is small and numba is not loaded yet. Where loops call each other too
    often the work is done from the start with compiled ones, after `loading` them. It is calls that
    are counted, not seconds, and their limit is the process's.
    """
    if small and not loaded() and _calls.made < MOST_CALLS:
        token = _counted.set(_calls)
        try:
            with np.errstate(over="ignore"):  # keys and random numbers wrap, as they do compiled
                return work()
        except _TooLongError:
            pass
        finally:
            _counted.reset(token)
    loading()
    return work()


def interpreting() -> bool:
    """Tell whether loops run as Python at the moment."""
    return _counted.get() is not None


def loaded() -> bool:
    """Tell whether numba is there at once."""
    return sys.modules.get("numba") is not None


def cache_folder(source: Path, asked: str = "") -> str | None:
    """Return where the loops of a source folder are kept: "" beside it, None nowhere.

    `asked` is the folder that the user chose for all of numba, if any.
    """
    if asked and _private(Path(asked)):
        return asked
    beside = source / "__pycache__"
    if not asked and _private(source) and (_private(beside) or not beside.exists()):
        return ""
    own = user_cache("numba")
    return str(own) if _private(own) else None


def _private(folder: Path) -> bool:
    try:
        return is_ours(folder.stat()) and os.access(folder, os.W_OK)
    except OSError:
        return False
