"""What the decoder of an output takes off: the mean of the errors, which costs no logic.

A heap that discards low bits decodes its word at the middle of a cell. Where the sums that share a
cell do not fill it evenly (all products of a sum may be whole steps, so that its lowest bit never
changes) their mean lies beside it, by up to a quarter of a step. The code's range is put there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from boolcomp.compact.errors.measure import Errors
    from boolcomp.proof.worst import Worst

    Floats = NDArray[np.float64]

GRAIN = 64  # parts of a step: what a million samples know, and few digits in a range


def decoder_shifts(errors: Errors, worst: Worst, most: Sequence[float]) -> Floats:
    """Return by how many steps each output's words are to stand for more than their cells' middles.

    None does where the largest error is, or would be, beyond a demanded one (`most`): what is kept
    holds as it is stored, too.
    """
    shifts = -np.round(errors.mean * GRAIN) / GRAIN
    sampled = np.maximum(errors.max, errors.moved(shifts).max)
    largest = np.maximum(sampled, np.maximum(worst.most, worst.moved(shifts).most))
    limits = np.broadcast_to(np.asarray(most or (np.inf,)), largest.shape)
    return np.asarray(np.where(largest > limits, 0.0, shifts)) + 0.0
