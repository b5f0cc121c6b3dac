"""The threads that share large batches: one pool for each number of them in a process."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor


@cache
def pool(threads: int) -> ThreadPoolExecutor:
    """Return the pool of so many threads; its jobs do not submit others to it.

    The child of a fork has none of its parent's threads, so it makes a pool of its own.
    """
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 (few use threads)

    return ThreadPoolExecutor(threads, thread_name_prefix="boolcomp-engine")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=pool.cache_clear)
