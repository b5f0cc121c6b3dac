"""Product terms dealt to processors, executed: the speed-up that the paper of 1988 claims.

    python benchmarks/dealt.py [ROBOT] [--bits N] [--samples N]

Every share is a loop over its products: AND of an input word with a mask, comparison, OR into the
output word of its table. Speed-ups are ratios within one run, of the least of 25 rounds. The
column `busiest` compares the processor time of all products with that of the busiest share, so
other programs matter little. The column `threads` compares times on the clock, for at most as many
shares as this machine has processors. The words of all shares, joined by OR, must be those of the
tables.
"""

from __future__ import annotations

import argparse
import os
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

from boolcomp.base.errors import table
from boolcomp.commands.schedule import covered
from boolcomp.problem.robot.library import load_robot
from boolcomp.twolevel.cubes import pack, unpack

if TYPE_CHECKING:
    from collections.abc import Callable

SHARES = (1, 2, 4, 8, 16, 32, 64)
ROUNDS = 25


@njit(nogil=True, cache=True)
def evaluate(words: Any, products: Any, found: Any) -> None:
    """OR the output words of satisfied products (table, mask, value, output) into `found`."""
    for s in range(words.shape[0]):
        for k in range(products.shape[0]):
            place = products[k, 0]
            if words[s, place] & products[k, 1] == products[k, 2]:
                found[s, place] |= products[k, 3]


def least(work: Callable[..., float], *given: int) -> float:
    return min(work(*given) for _ in range(ROUNDS))


def main() -> None:
    """Print a row for every number of shares."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("robot", nargs="?", default="machado-2r")
    parser.add_argument("--bits", type=int, default=8)
    parser.add_argument("--samples", type=int, default=500)
    asked = parser.parse_args()
    terms = covered(load_robot(asked.robot), asked.bits)[0].terms
    rows = []
    for place, term in enumerate(terms):
        cubes = term.cover.cubes
        may = [unpack(bits, cubes.inputs) for bits in (cubes.zero, cubes.one)]
        columns = [may[0] ^ may[1], may[1] & ~may[0], unpack(cubes.out, cubes.outputs)]
        # The first bit of a row and of a word is the most significant one.
        packed = [pack(column[:, ::-1])[:, 0] for column in columns]
        rows.append(np.stack([np.full(len(cubes), place), *packed], axis=1))
    products = np.ascontiguousarray(np.concatenate(rows).astype(np.int64))
    rng = np.random.default_rng(1988)
    sizes = [1 << term.entry.table.inputs for term in terms]
    words = rng.integers(0, sizes, (asked.samples, len(terms)))
    exact = np.stack(
        [np.asarray(term.entry.table.words())[words[:, k]] for k, term in enumerate(terms)], axis=1
    )
    shown = []
    first: dict[str, float] = {}
    for count in SHARES:
        parts = [np.ascontiguousarray(part) for part in np.array_split(products, count)]
        found = np.zeros((count, *words.shape), dtype=np.int64)

        def one(k: int, parts: list[Any] = parts, found: Any = found) -> float:
            found[k] = 0
            started = time.thread_time()
            evaluate(words, parts[k], found[k])
            return time.thread_time() - started

        busiest = max(least(one, k) for k in range(count))
        if not np.array_equal(np.bitwise_or.reduce(found, axis=0), exact):
            raise SystemExit(f"{count} shares give other words than the tables")
        times = {"busiest": busiest}
        if count <= (os.cpu_count() or 1):
            with ThreadPoolExecutor(count) as pool:

                def both(count: int = count, pool: ThreadPoolExecutor = pool) -> float:
                    started = time.perf_counter()
                    list(pool.map(one, range(count)))
                    return time.perf_counter() - started

                times["threads"] = least(both)
        first = first or times
        us = 1e6 * busiest / asked.samples
        ratios = [f"{first[x] / times[x]:.2f}" if x in times else "" for x in first]
        shown.append([str(count), f"{us:.1f}", *ratios])
    print(f"{asked.robot} at {asked.bits} bits: {len(products)} products in {len(terms)} tables")
    print(table(["shares", "µs", "busiest", "threads"], shown))


if __name__ == "__main__":
    main()
