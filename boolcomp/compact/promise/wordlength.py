"""Which word length of outputs takes the fewest nodes to keep an error in their units.

Longer words leave more steps to what is not rounding, and have more columns: the model tells which
of them is smaller, in a second or so each.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from boolcomp.base.processes import WorkerLostError
from boolcomp.common.errors import DataError, UsageError
from boolcomp.common.workers import ALONE
from boolcomp.compact.demand import LEAST_BITS, MOST_BITS, ignore_progress
from boolcomp.compact.promise.passes import predicted
from boolcomp.compact.widths.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.common.workers import Workers
    from boolcomp.compact.demand import Demand
    from boolcomp.terms.extract import Terms

BEYOND = 2  # longer words that are tried after the best


def bits_for(several: Sequence[Terms], demand: Demand, workers: Workers = ALONE) -> int:
    """Return the word length for several loads; what no word length keeps is a `DataError`."""
    if demand.error is None or not demand.error.absolute:
        raise UsageError(
            "bits are found only for an error that is promised in a unit: --error 0.5Nm"
        )
    best, fewest, refused = 0, math.inf, None
    for bits in range(LEAST_BITS, MOST_BITS + 1):
        if best and bits > best + BEYOND:
            break
        one = replace(demand, bits=bits)
        try:
            nodes = sum(
                predicted(terms, one, Ledger(0.0, ignore_progress, None, workers))
                for terms in several
            )
        except WorkerLostError:
            raise
        except DataError as error:  # rounding alone, or inputs, make more
            refused = error
            continue
        if nodes < fewest:
            best, fewest = bits, nodes
    if not best:
        raise refused or DataError("no word length keeps the errors that are promised")
    return best
