"""The shapes of q, qd and qdd: a number for all, one number a joint, or samples of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.common.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray


def array_of(name: str, given: ArrayLike) -> NDArray[Any]:
    """Return an array of real numbers, of whatever type it has."""
    try:
        array = np.asarray(given)
    except ValueError as error:
        raise UsageError(f"{name} is not an array of numbers: {error}") from error
    if array.dtype.kind not in "fuib":
        raise UsageError(f"{name} holds {array.dtype}, not real numbers")
    return array


def common_shape(arrays: Mapping[str, NDArray[Any]], joints: int, whose: str) -> tuple[int, ...]:
    """Return the shape of the torques: (samples, joints), (joints,), or () for a lone number.

    Every array has that shape, or is (joints,) for all samples, or a number for all joints.
    """
    for name, array in arrays.items():
        if array.shape and (array.ndim > 2 or array.shape[-1] != joints):
            raise UsageError(
                f"{name} has shape {array.shape}: {whose} takes ({joints},) or (samples, {joints})"
            )
    samples = {name: len(array) for name, array in arrays.items() if array.ndim == 2}
    if len(set(samples.values())) > 1:
        counts = ", ".join(f"{name} {count}" for name, count in samples.items())
        raise UsageError(f"{listed(arrays)} must have as many samples each, not {counts}")
    if samples:
        return (next(iter(samples.values())), joints)
    if any(array.shape for array in arrays.values()):
        return (joints,)
    if joints > 1:
        raise UsageError(f"numbers alone do not say enough: {whose} has {joints} joints")
    return ()


def listed(names: Mapping[str, object]) -> str:
    """Return names as they stand in a sentence: `q, qd and qdd`."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
