"""Values that many calls are given: pickled once here, unpickled once in every worker.

What a call is given travels with it: a problem is some kilobytes, a program some hundred. What
costs is what functions make of such a value and keep by it (samples, models, compiled code), so a
worker that has seen a value gives its calls the very same one.
"""

from __future__ import annotations

import hashlib
import pickle
import threading
from collections import OrderedDict
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from boolcomp.base.processes import WorkerLostError
from boolcomp.base.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable

Result = TypeVar("Result")

KEPT = 6  # values that a worker remembers, those that were asked for last


class Shared:
    """A value that many calls are given."""

    def __init__(self, value: Any) -> None:
        self.value = value

    @cached_property
    def pickled(self) -> tuple[bytes, bytes]:
        """The value's digest, and its bytes."""
        data = pickle.dumps(self.value)
        return hashlib.sha256(data).digest(), data

    def __reduce__(self) -> tuple[Callable[..., Shared], tuple[bytes, bytes]]:
        return _received, self.pickled


class _Known(threading.local):
    """Values by their digests: each thread has its own, for what is kept by them may change."""

    def __init__(self) -> None:
        self.values: OrderedDict[bytes, Shared] = OrderedDict()


_KNOWN = _Known()


def _received(digest: bytes, data: bytes) -> Shared:
    """Return a value that was sent: the same one as before, where it is known."""
    known = _KNOWN.values
    found = known.pop(digest, None)
    if found is None:
        found = Shared(pickle.loads(data))  # noqa: S301 (it came with a pickled call)
        found.pickled = digest, data
    known[digest] = found
    while len(known) > KEPT:
        known.popitem(last=False)
    return found


def called(version: str, function: Callable[..., Result], *given: Any) -> Result:
    """Call a function with the values that are shared, for one who has this version of us."""
    if version != VERSION:
        raise WorkerLostError(
            f"a worker has boolcomp {VERSION}, and it is asked by one of {version}"
        )
    return function(*[one.value if isinstance(one, Shared) else one for one in given])
