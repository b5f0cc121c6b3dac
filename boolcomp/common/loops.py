"""Loops that numba compiles, kept on disk where nobody else can write.

numba's index files are pickles: reading one that somebody else wrote runs what it says. Beside the
source they are as safe as the source itself where the package's folder is this user's and nobody
else may write to it (whoever can write there can change this very file). Everywhere else, in a
shared checkout or a package that the administrator installed, they go into the user's cache, which
is private or not used at all; so does a NUMBA_CACHE_DIR that others may write to.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numba

from boolcomp.common.cache import is_ours, user_cache

if TYPE_CHECKING:
    from collections.abc import Callable

config: Any = numba.config  # its names are made when it is read
Loop = TypeVar("Loop", bound="Callable[..., Any]")


def njit(*, cache: bool, **options: Any) -> Callable[[Loop], Loop]:
    """Do what numba's `njit` does, with a cache folder that is private."""

    def decorate(function: Loop) -> Loop:
        folder = cache_folder(Path(function.__code__.co_filename).parent)
        usual = config.CACHE_DIR
        config.CACHE_DIR = folder or ""
        try:
            made = numba.njit(cache=cache and folder is not None, **options)
            return made(function)  # type: ignore[no-any-return]
        finally:
            config.CACHE_DIR = usual

    return decorate


def cache_folder(source: Path) -> str | None:
    """Return where the loops of a source folder are kept: "" beside it, None nowhere."""
    asked = str(config.CACHE_DIR)
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
