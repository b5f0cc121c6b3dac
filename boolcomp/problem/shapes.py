"""The shapes of what is given: for every group of inputs a number, one state, or samples of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.common.errors import UsageError, listing, suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from boolcomp.problem.problem import Group


def gathered(
    groups: Sequence[Group], given: Sequence[ArrayLike], named: Mapping[str, ArrayLike], whose: str
) -> list[ArrayLike]:
    """Return what is given for every group: in order, by its name, or by those of its members."""
    if len(given) == len(groups) and not named:  # as it mostly is: small batches feel all else
        return list(given)
    names = [group.name for group in groups]
    if not given and named.keys() == {*names}:
        return [named[name] for name in names]
    if len(given) > len(groups):
        raise UsageError(f"{whose} takes {listed(names)}, not {len(given)} arrays")
    known = [*names, *(name for group in groups for name in group.members if not group.lone)]
    for name in named:
        if name not in known:
            raise UsageError(
                f"{whose} has no input {name!r}{suggestion(name, known)}: "
                f"inputs are {listing(known)}"
            )
    return [
        _given_for(group, given[k : k + 1], {n: named[n] for n in (group.name, *group.members)
                                             if n in named}, whose)
        for k, group in enumerate(groups)
    ]  # fmt: skip


def _given_for(
    group: Group, given: Sequence[ArrayLike], named: Mapping[str, ArrayLike], whose: str
) -> ArrayLike:
    """Return what is given for one group, once."""
    ways = [*given, *([named[group.name]] if group.name in named else [])]
    columns = [named[name] for name in group.members if name in named and not group.lone]
    if len(ways) + bool(columns) > 1:
        raise UsageError(f"{group.name} is given twice")
    if ways:
        return ways[0]
    missing = [name for name in group.members if name not in named]
    if len(columns) < group.size:
        lacks = listing(missing) if columns else group.name
        raise UsageError(f"{whose} needs {lacks}, too")
    arrays = [array_of(name, x) for name, x in zip(group.members, columns, strict=True)]
    counts = {array.size for array in arrays if array.ndim}
    if any(array.ndim > 1 for array in arrays) or len(counts) > 1:
        raise UsageError(f"{listed(group.members)} must be numbers, or as many samples each")
    return np.stack(np.broadcast_arrays(*arrays), axis=-1)


def array_of(name: str, given: ArrayLike) -> NDArray[Any]:
    """Return an array of real numbers, of whatever type it has."""
    try:
        array = np.asarray(given)
    except ValueError as error:
        raise UsageError(f"{name} is not an array of numbers: {error}") from error
    if array.dtype.kind not in "fuib":
        raise UsageError(f"{name} holds {array.dtype}, not real numbers")
    return array


def full_shapes(
    groups: Sequence[Group], arrays: Sequence[NDArray[Any]], outputs: int, whose: str, places: str
) -> tuple[list[NDArray[Any]], tuple[int, ...]]:
    """Return (samples, members) arrays, and the shape of results for what was given.

    That is (samples, outputs), (outputs,), or () where lone numbers have a lone result. An array
    has a row a sample, or is (members,) for all samples, or a number for all members; that of a
    group that is one input by its own name may be (samples,).
    """
    rows = len(arrays[0]) if arrays and arrays[0].ndim else 0
    if all(x.shape == (rows, len(g.members)) for g, x in zip(groups, arrays, strict=True)):
        return list(arrays), (rows, outputs)
    given = [
        x[:, None] if group.lone and x.ndim == 1 else x
        for group, x in zip(groups, arrays, strict=True)
    ]
    samples = {}
    for group, x in zip(groups, given, strict=True):
        if x.shape and (x.ndim > 2 or x.shape[-1] != group.size):
            one = "a number" if group.lone else f"({group.size},)"
            many = "(samples,)" if group.lone else f"(samples, {group.size})"
            raise UsageError(f"{group.name} has shape {x.shape}: {whose} takes {one} or {many}")
        if x.ndim == 2:
            samples[group.name] = len(x)
    if len(set(samples.values())) > 1:
        counts = ", ".join(f"{name} {count}" for name, count in samples.items())
        names = listed([group.name for group in groups])
        raise UsageError(f"{names} must have as many samples each, not {counts}")
    most = max((group.size for group in groups), default=0)
    if most > 1 and not any(x.shape for x in given):
        raise UsageError(f"numbers alone do not say enough: {whose} has {most} {places}")
    rows = next(iter(samples.values()), 1)
    full = [_full(x, (rows, group.size)) for group, x in zip(groups, given, strict=True)]
    if samples:
        return full, (rows, outputs)
    return full, () if outputs == 1 and not any(x.shape for x in given) else (outputs,)


def _full(array: NDArray[Any], shape: tuple[int, int]) -> NDArray[Any]:
    if array.size == shape[0] * shape[1]:
        return array.reshape(shape)
    return np.broadcast_to(array, shape)


def listed(names: Sequence[str]) -> str:
    """Return names as they stand in a sentence: `q, qd and qdd`."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
