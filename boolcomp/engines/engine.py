"""The wiring that an engine evaluates, batches and results, and checks of a caller's arrays."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from boolcomp.base.errors import DataError, UsageError
from boolcomp.codes import MOST_TURNS
from boolcomp.logic.network import CONSTANTS, Builder
from boolcomp.logic.order import in_order
from boolcomp.problem.problem import array_of, full_shapes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import ThreadPoolExecutor

    from numpy.typing import ArrayLike, NDArray

    from boolcomp.codes import Code
    from boolcomp.logic.adders import Sum
    from boolcomp.logic.network import Network
    from boolcomp.problem.problem import Group
    from boolcomp.problem.word_codes import CodeKind
    from boolcomp.problem.words import Interval
    from boolcomp.words.graph import WordGraph


Part = TypeVar("Part")
SLACK = 1e-9  # relative tolerance at a joint limit


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Samples: a contiguous (samples, members) array for every group, all of one type.

    float64 or float32 hold values, uint32 holds code words. Words fit their codes; values are
    arbitrary.
    """

    arrays: tuple[NDArray[Any], ...]

    @property
    def samples(self) -> int:
        return len(self.arrays[0])

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.arrays[0].dtype

    @property
    def coded(self) -> bool:
        return self.dtype == np.uint32

    def empty_results(self, count: int) -> tuple[NDArray[Any], NDArray[np.uint32]]:
        """Return new arrays for the values and words of `count` results."""
        kind = np.float32 if self.dtype == np.float32 else np.float64
        return np.empty((self.samples, count), kind), np.empty((self.samples, count), np.uint32)


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """Outputs, their code words, and the numbers of input and output values that saturated.

    `beyond_stops` counts input values beyond joint limits, also those within the range of a word.
    Equal inputs give bit-identical results on every engine.
    """

    values: NDArray[Any]
    words: NDArray[np.uint32]
    saturated_inputs: int
    saturated_outputs: int
    beyond_stops: int = 0

    @property
    def torques(self) -> NDArray[Any]:
        return self.values

    def doubt(self, plural: str, places: str) -> str:
        """Describe saturations and violated limits for a user; empty if there are none."""
        if not (self.saturated_inputs or self.saturated_outputs or self.beyond_stops):
            return ""  # early: the usual case of single states
        counts = (
            (self.saturated_inputs, "input values beyond their words"),
            (
                self.beyond_stops,
                "input values " * (not self.saturated_inputs) + f"beyond the {places}' stops",
            ),
            (self.saturated_outputs, f"{plural} beyond theirs"),
        )
        return ", ".join(f"{count} {text}" for count, text in counts if count)


class Engine(Protocol):
    """An engine for one wiring."""

    @property
    def name(self) -> str: ...

    @property
    def wiring(self) -> Wiring: ...

    def run(self, batch: Batch) -> Evaluation:
        """Return (samples, outputs) results; raise DataError for NaN and infinities."""


def evaluate(engine: Engine, arrays: Sequence[ArrayLike], *, coded: bool) -> Evaluation:
    """Check the caller's arrays, run an engine, and return results in their shape.

    An array is (samples, members), (members,), or a number for all members of its group; arrays
    with samples have the same number of them.
    """
    wiring = engine.wiring
    batch, shape = batch_of(wiring, arrays, coded=coded)
    found = engine.run(batch)
    words = found.words
    for place, result in enumerate(wiring.results):
        if result.kind is not None:
            words[:, place] = result.given.word(words[:, place])
    return Evaluation(
        found.values.reshape(shape),
        words.reshape(shape),
        found.saturated_inputs,
        found.saturated_outputs,
        0 if coded else _beyond(wiring, batch),
    )


def batch_of(
    wiring: Wiring, arrays: Sequence[ArrayLike], *, coded: bool
) -> tuple[Batch, tuple[int, ...]]:
    """Return the batch of the caller's arrays, and the shape of its results."""
    given = [_array(g.name, x, coded=coded) for g, x in zip(wiring.groups, arrays, strict=True)]
    full, shape = full_shapes(
        wiring.groups, given, len(wiring.results), "this program", wiring.places
    )
    dtype: Any = np.uint32
    if not coded:
        dtype = np.float32 if all(x.dtype == np.float32 for x in given) else np.float64
    else:
        _check_words(wiring, full)
        full = _in_planes(wiring, full)
    batch = Batch(tuple(np.require(x, dtype, ["C", "A"]) for x in full))
    if not coded:
        _check_unused(wiring, batch)
    return batch, shape


def _beyond(wiring: Wiring, batch: Batch) -> int:
    if not wiring.stops:
        return 0
    columns = {
        name: array[:, k]
        for group, array in zip(wiring.groups, batch.arrays, strict=True)
        for k, name in enumerate(group.members)
    }
    return sum(_beyond_stop(one, columns[one.name]) for one in wiring.stops)


def _beyond_stop(one: Stop, column: NDArray[Any]) -> int:
    if not len(column):
        return 0
    slack = SLACK * max(1.0, one.range.magnitude)
    if column.dtype == np.float32:  # a value at the limit may be rounded beyond it
        slack = max(slack, float(np.spacing(np.float32(one.range.magnitude))))
    low, high = one.range.low - slack, one.range.high + slack
    if low <= column.min() and column.max() <= high:
        return 0
    return int(np.count_nonzero((column < low) | (column > high)))


def _array(name: str, given: ArrayLike, *, coded: bool) -> NDArray[Any]:
    array = array_of(name, given)
    if coded and array.dtype.kind not in "ui":
        raise UsageError(f"{name} holds {array.dtype}, but code words are integers")
    return array if array.dtype == np.float32 or coded else array.astype(np.float64, copy=False)


def _check_words(wiring: Wiring, given: Sequence[NDArray[Any]]) -> None:
    for port in wiring.ports:
        column = given[port.array][:, port.column]
        if not column.size:
            continue
        for word in (int(column.min()), int(column.max())):
            if not 0 <= word < port.code.cells:
                raise DataError(
                    f"word {word} does not fit in {port.code.bits} bits", where=wiring.name(port)
                )


def _in_planes(wiring: Wiring, given: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    found = list(given)
    coded = [port for port in wiring.ports if port.kind is not None]
    for array in {port.array for port in coded}:
        found[array] = np.array(found[array], np.uint32)
    for port in coded:
        column = found[port.array][:, port.column]
        column[:] = port.code.word(port.given.index(column))
    return found


def _check_unused(wiring: Wiring, batch: Batch) -> None:
    """Raise DataError for NaN and infinities in unused columns."""
    used = {(port.array, port.column) for port in wiring.ports}
    for k, array in enumerate(batch.arrays):
        for column in range(array.shape[1]):
            if (k, column) not in used and not np.isfinite(array[:, column]).all():
                raise not_finite(wiring, batch)


def not_codable(wiring: Wiring, batch: Batch, first: int = 0) -> DataError:
    """Return the error for the first value that is not finite, or an angle too many turns away.

    `first` is the number of the batch's first sample.
    """
    if all(np.isfinite(array).all() for array in batch.arrays):
        for port in wiring.ports:
            column = batch.arrays[port.array][:, port.column]
            if port.code.wraps and (far := port.code.too_far(column)).any():
                row = int(np.argmax(far))
                return DataError(
                    f"{wiring.name(port)} of sample {first + row} is {column[row]:g}, more than "
                    f"{MOST_TURNS} turns, which leaves no accuracy within a turn",
                    "subtract whole turns",
                )
    return not_finite(wiring, batch, first)


def not_finite(wiring: Wiring, batch: Batch, first: int = 0) -> DataError:
    """Return the error for the first value that is NaN or infinite."""
    for group, array in zip(wiring.groups, batch.arrays, strict=True):
        places = np.argwhere(~np.isfinite(array))
        if len(places):
            row, column = (int(k) for k in places[0])
            name, value = group.members[column], array[row, column]
            return DataError(f"{name} of sample {first + row} is {value}, not a finite number")
    raise AssertionError("all values are finite")


# --------------------------------------------------------------------------------------------------
# Wirings: numbered planes, and calls of networks that read and write them. A plane is one bit of
# every sample. Input words come first, then the outputs of every call in order. Engines do not use
# problems or terms: names are for messages.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EnginePort:
    """An input word: its code, and the array (of a group) and column of its values.

    Its planes are `first` and following, most significant bit first. `kind` is the code of the
    caller's words if it differs from that of the planes.
    """

    array: int
    column: int
    code: Code
    first: int
    kind: CodeKind | None = None

    @property
    def given(self) -> Code:
        return self.code if self.kind is None else replace(self.code, kind=self.kind)


@dataclass(frozen=True, slots=True)
class Call:
    """One use of a network: the planes of its inputs, and the first of its outputs' planes.

    `port` is set for a network that only codes a port's cells as words, `total` for one that only
    adds words.
    """

    network: int
    inputs: tuple[int, ...]
    first: int
    port: int | None = None
    total: Sum | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """An output: its code, the first plane of its cell, and the plane of its saturation flags.

    The planes of the cell are natural binary, most significant bit first. `kind` is the code of
    the caller's words if it differs from that of `code`.
    """

    name: str
    code: Code
    first: int
    saturated: int
    kind: CodeKind | None = None

    @property
    def given(self) -> Code:
        return self.code if self.kind is None else replace(self.code, kind=self.kind)


@dataclass(frozen=True, slots=True)
class Stop:
    """A joint limit or an allowed range of an input, narrower than that of its word."""

    name: str
    range: Interval

    def __str__(self) -> str:
        return f"{self.name} within {self.range}"


@dataclass(frozen=True, slots=True)
class PortBits:
    """The bits of a port's cell that are a graph's input word: all above the lowest `drop`."""

    port: int
    drop: int


@dataclass(frozen=True, slots=True)
class WordLogic:
    """A word graph with the same results as a wiring.

    `cuts` has an entry for every input word. `rests` holds the ports of every result that is zero
    where they are all zero, or None.
    """

    graph: WordGraph
    cuts: tuple[PortBits, ...]
    rests: tuple[tuple[int, ...] | None, ...]


@dataclass(frozen=True, slots=True)
class Wiring:
    """The input of an engine: ports, networks and their calls in order, results.

    Samples come as an array for each of the `groups`. Values beyond `stops` are counted. `places`
    is the plural of the owners of inputs, for messages. `logic` computes the same with words.
    """

    groups: tuple[Group, ...]
    ports: tuple[EnginePort, ...]
    networks: tuple[Network, ...]
    calls: tuple[Call, ...]
    results: tuple[Result, ...]
    planes: int
    stops: tuple[Stop, ...] = ()
    places: str = "inputs"
    logic: WordLogic | None = None

    @property
    def widths(self) -> tuple[int, ...]:
        return tuple(group.size for group in self.groups)

    def name(self, port: EnginePort) -> str:
        return self.groups[port.array].members[port.column]

    def __post_init__(self) -> None:
        written, widths = 0, self.widths
        for port in self.ports:
            if port.first != written or not 0 <= port.array < len(widths):
                raise ValueError("the ports' planes do not follow each other")
            if not 0 <= port.column < widths[port.array]:
                raise ValueError("a port reads a column that no array has")
            written += port.code.bits
        for call in self.calls:
            network = self.networks[call.network]
            if len(call.inputs) != network.inputs or call.first != written:
                raise ValueError("a call does not fit its network, or its planes")
            if not all(0 <= plane < written for plane in call.inputs):
                raise ValueError("a call reads planes that are not written yet")
            written += len(network.outputs)
        if written != self.planes:
            raise ValueError("the number of planes is wrong")

    def __str__(self) -> str:
        arrays = ", ".join(f"{group.name} of {group.size}" for group in self.groups)
        lines = [f"wiring of {arrays}: {self.planes} planes"]
        lines += [f"p{port.first} = {self.name(port)} {port.given}" for port in self.ports]
        lines += [
            f"p{call.first} = network {call.network}({', '.join(f'p{k}' for k in call.inputs)})"
            for call in self.calls
        ]
        lines += [
            f"{result.name} = p{result.first} {result.given}, saturated p{result.saturated}"
            for result in self.results
        ]
        lines += [str(one) for one in self.stops]
        return "\n".join(lines)


# --------------------------------------------------------------------------------------------------
# Large networks cut into pieces, joined by the wiring. A compiler's time and memory grow faster
# than the length of a function; pieces pass values through planes.
# --------------------------------------------------------------------------------------------------

MOST_REMADE = 8  # nodes of a value that is computed again in every piece
CUT_REACH = 8  # a cut may move by this fraction of a piece to where fewer values pass


class _Piece:
    """Part of a network: `reads` and `makes` are signals of the whole."""

    def __init__(self, whole: Network, run: range, sizes: Sequence[int], needed: set[int]) -> None:
        first = CONSTANTS + whole.inputs
        inside = set(run)
        reads = set()
        stack = list(run)
        while stack:
            for signal in whole.nodes[stack.pop() - first].operands:
                if signal in inside or signal in reads:
                    continue
                if signal >= first and sizes[signal - first] <= MOST_REMADE:
                    inside.add(signal)
                    stack.append(signal)
                else:
                    reads.add(signal)
        self.reads = sorted(reads)
        self.makes = [signal for signal in run if signal in needed]
        builder = Builder(len(self.reads))
        literals = {signal: builder.input(k) for k, signal in enumerate(self.reads)}
        for signal in sorted(inside):
            lut, operands = whole.nodes[signal - first]
            literals[signal] = builder.node(lut, *(literals[k] for k in operands))
        self.network = in_order(builder.build(literals[signal] for signal in self.makes))


def split_network(network: Network, size: int) -> list[_Piece]:
    """Return pieces of about `size` nodes that together compute the outputs of a network.

    A value of few nodes is computed again in every piece that needs it, which costs less than a
    plane.
    """
    first = CONSTANTS + network.inputs
    sizes: list[int] = []
    for _, operands in network.nodes:
        below = sum(sizes[k - first] for k in operands if k >= first)
        sizes.append(min(1 + below, MOST_REMADE + 1))
    cuts = _cuts(network, size)
    needed = set(network.outputs)
    pieces = []
    for run in reversed([range(a, b) for a, b in pairwise(cuts)]):
        piece = _Piece(network, run, sizes, needed)
        needed.update(signal for signal in piece.reads if signal >= first)
        if piece.makes:
            pieces.append(piece)
    return pieces[::-1]


def _cuts(network: Network, size: int) -> list[int]:
    """Return the first signals of pieces, chosen where few values pass, and the end of the last."""
    first, nodes = CONSTANTS + network.inputs, len(network.nodes)
    last: dict[int, int] = {}
    for signal, node in enumerate(network.nodes, first):
        last.update(dict.fromkeys(node.operands, signal))
    changes = [0] * (nodes + 1)
    for signal, end in last.items():
        if signal >= first:
            changes[signal + 1 - first] += 1
            changes[end + 1 - first] -= 1
    passing = list(accumulate(changes))  # earlier values that node k or a later one reads
    count = -(-nodes // size)
    reach = nodes // count // CUT_REACH
    cuts = [first]
    for k in range(1, count):
        even = nodes * k // count
        near = range(even - reach, even + reach + 1)
        cuts.append(first + min(near, key=lambda at: (passing[at], abs(at - even))))
    return [*cuts, first + nodes]


def split_calls(wiring: Wiring, limit: int, each: int | None = None) -> Wiring:
    """Return a wiring with the same results whose networks have about `limit` nodes at most.

    Larger networks are cut into pieces of about `each` nodes [default: limit]. Outputs of a split
    network that are inputs or constants come from a network without nodes.
    """
    if all(len(network.nodes) <= limit for network in wiring.networks):
        return wiring
    networks: dict[Network, int] = {}
    large = {
        k: in_order(network)
        for k, network in enumerate(wiring.networks)
        if len(network.nodes) > limit
    }
    pieces = {k: split_network(network, each or limit) for k, network in large.items()}
    calls: list[Call] = []
    planes = sum(port.code.bits for port in wiring.ports)
    place = {k: k for k in range(planes)}

    def call(network: Network, inputs: tuple[int, ...]) -> int:
        nonlocal planes
        calls.append(Call(networks.setdefault(network, len(networks)), inputs, planes))
        planes += len(network.outputs)
        return calls[-1].first

    for old in wiring.calls:
        network = wiring.networks[old.network]
        inputs = tuple(place[k] for k in old.inputs)
        if old.network in pieces:
            made = {CONSTANTS + k: plane for k, plane in enumerate(inputs)}
            for piece in pieces[old.network]:
                at = call(piece.network, tuple(made[signal] for signal in piece.reads))
                made.update((signal, at + k) for k, signal in enumerate(piece.makes))
            network, inputs = _gathering(large[old.network], made)
        at = call(network, inputs)
        place.update((old.first + k, at + k) for k in range(len(network.outputs)))
    results = tuple(
        replace(r, first=place[r.first], saturated=place[r.saturated]) for r in wiring.results
    )
    return replace(
        wiring, networks=tuple(networks), calls=tuple(calls), results=results, planes=planes
    )


def _gathering(network: Network, made: dict[int, int]) -> tuple[Network, tuple[int, ...]]:
    """Return a network without nodes that collects a split network's outputs."""
    reads = sorted({signal for signal in network.outputs if signal >= CONSTANTS})
    builder = Builder(len(reads))
    literals = {0: 0, 1: 2, **{signal: builder.input(k) for k, signal in enumerate(reads)}}
    gathered = builder.build(literals[signal] for signal in network.outputs)
    return gathered, tuple(made[signal] for signal in reads)


@cache
def pool(threads: int) -> ThreadPoolExecutor:
    """Return the pool of a number of threads, one per process; its jobs do not submit others to it.

    After a fork the child creates a pool of its own, as it has none of the parent's threads.
    """
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 (few use threads)

    return ThreadPoolExecutor(threads, thread_name_prefix="boolcomp-engine")


def in_threads(
    threads: int, work: Callable[[int, int], Part], count: int, grain: int
) -> list[Part]:
    """Return the results of `work(start, end)` for the parts of 0 .. count, one per thread.

    The parts are multiples of `grain` if possible; the caller's thread processes the first.
    """
    grains = -(-count // grain)
    parts = max(1, min(threads, grains))
    cuts = [min(count, grains * k // parts * grain) for k in range(parts + 1)]
    others = [pool(threads - 1).submit(work, *cut) for cut in pairwise(cuts[1:])]
    return [work(*cuts[:2]), *(job.result() for job in others)]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=pool.cache_clear)
