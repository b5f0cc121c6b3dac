"""Loops that numba compiles at their first call, cached on disk in private folders.

Loading numba takes half a second: `briefly` runs short work as Python, with the same results.

The index files of numba are pickles, and reading a pickle can run code. They are stored next to the
source if only this user can write to the folder of the package: then they are as safe as the
source. Otherwise they are stored in the user's private cache, or nowhere if that is not private.
This is so for shared checkouts, packages of an administrator and a NUMBA_CACHE_DIR that others can
write to.
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


class LoopCalls:
    """How many calls of loops Python has run in this process."""

    def __init__(self) -> None:
        self.made = 0


_calls = LoopCalls()
_counted: ContextVar[LoopCalls | None] = ContextVar("counted", default=None)


class CompiledLoop:
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
    index = getattr(getattr(compiled, "_cache", None), "_cache_file", None)  # none: not compiled
    if index is not None:
        try:
            index.load(())
        except (AttributeError, ImportError):
            index.flush()


def njit(*, cache: bool, **options: Any) -> Callable[[Function], Function]:
    """Do what numba's `njit` does, late, with a cache folder that is private."""

    def decorate(function: Function) -> Function:
        return cast("Function", CompiledLoop(function, cache=cache, **options))

    return decorate


def briefly(
    work: Callable[[], Made], *, small: bool = True, loading: Callable[[], None] = lambda: None
) -> Made:
    """Return the result of a function, with loops run as plain Python if that takes less time.

    This is the case for small work if numba is not loaded yet. If the number of calls of loops
    exceeds the limit of the process, the work starts again with compiled loops, after `loading`
    them.
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
    return _counted.get() is not None


def loaded() -> bool:
    return sys.modules.get("numba") is not None


def cache_folder(source: Path, asked: str = "") -> str | None:
    """Return the cache folder for the loops of a source folder: "" the same folder, None no cache.

    `asked` is NUMBA_CACHE_DIR, if it is set.
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
