"""Tables that are symmetric in their index, folded: the symmetric part is kept once.

A table that is even, odd, periodic or antiperiodic in its index needs one input less. What is
found is exact: only the entries are looked at, not the function they came from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Folded:
    """entries[k] = core[index] ^ (all ones where the parity of `flip` is odd).

    Bit i of the index is the parity of the bits of k in mask `inputs[i]`.
    """

    inputs: tuple[int, ...]
    core: tuple[int, ...]
    flip: int


def fold(entries: Sequence[int], bits: int) -> Folded:
    """Fold a table of 2^t entries of `bits` bits as often as it is symmetric."""
    core = np.asarray(entries, dtype=np.int64)
    full = (1 << bits) - 1
    masks = [1 << i for i in range(len(core).bit_length() - 1)]
    flip = 0
    while masks:
        half = len(core) // 2
        low, high = core[:half], core[half:]
        top = masks[-1]
        for reflected in (False, True):
            other = high[::-1] if reflected else high
            sign = 0 if np.array_equal(other, low) else full
            if sign and not np.array_equal(other ^ full, low):
                continue
            masks.pop()
            if reflected:
                masks = [mask ^ top for mask in masks]
            flip ^= top if sign else 0
            core = low
            break
        else:
            break
    return Folded(tuple(masks), tuple(core.tolist()), flip)


def canonical(folded: Folded, bits: int) -> tuple[Folded, bool, bool]:
    """Return the least of a core, its mirror image, and their inverses; which of both was done.

    A sine and a cosine of one amplitude then share their core, and so do f and -f.
    """
    full = (1 << bits) - 1
    choices = []
    for mirrored in (False, True):
        core = folded.core[::-1] if mirrored else folded.core
        for inverted in (False, True):
            entries = tuple(e ^ full for e in core) if inverted else core
            choices.append((entries, mirrored, inverted))
    core, mirrored, inverted = min(choices)
    return Folded(folded.inputs, core, folded.flip), mirrored, inverted
