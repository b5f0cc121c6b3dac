"""Stages of a pipeline, and few flip-flops between them.

For a number of stages, the least stage delay that suffices is found first. Then signals are
assigned to stages in a few ways, and single signals move to other stages where that saves
flip-flops. For a largest stage delay, stages and flip-flops are the fewest: a linear program. A
signal that is read n stages later needs n registers of its width.
"""

from __future__ import annotations

from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.logic.network import CONSTANTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from boolcomp.logic.network import Network


MOST_STAGES = 64
MOST_PAIRS = 300_000  # of a linear program: a minute
SWEEPS = 40  # over all signals; usually few sweeps change anything
NEVER = 1 << 60


class Readers:
    """The users of signals; constants are left out, outputs are used after the last stage.

    Signals before `first` are constants and inputs. Every signal has a delay and a number of bits.
    """

    def __init__(
        self,
        first: int,
        operands: Sequence[Sequence[int]],
        outputs: Iterable[int],
        delays: Sequence[int] | None = None,
        widths: Sequence[int] | None = None,
    ) -> None:
        self.first, self.operands = first, operands
        self.size = len(operands)
        self.delays, self.widths = delays or [1] * self.size, widths or [1] * self.size
        self.users: list[list[int]] = [[] for _ in range(self.size)]
        for signal in range(self.first, self.size):
            for k in self.operands[signal]:
                self.users[k].append(signal)
        self.kept = [False] * self.size
        for signal in outputs:
            self.kept[signal] = signal >= CONSTANTS

    @staticmethod
    def of(network: Network) -> Readers:
        """Return the users of a network's signals; all delays and widths are 1."""
        first = CONSTANTS + network.inputs
        operands = [*[()] * first, *(node.operands for node in network.nodes)]
        return Readers(first, operands, network.outputs)

    def with_inputs(self, stages: Iterable[int]) -> list[int]:
        return [*[0] * self.first, *stages]

    def last(self, signal: int, places: Sequence[int], end: int) -> int:
        """Return the place of the last use of a signal."""
        if self.kept[signal]:
            return end
        return max((places[k] for k in self.users[signal]), default=places[signal])


def stages_of(network: Network, count: int) -> tuple[int, ...]:
    """Return the stage of every node, 0 to `count - 1`; outputs are read after the last."""
    return tuple(StagePlan(Readers.of(network), count).stages())


def flip_flops(network: Network, stages: Sequence[int], count: int) -> int:
    """Return the number of flip-flops between stages and after the last one."""
    readers = Readers.of(network)
    return registers(readers, readers.with_inputs(stages), count)


class StagePlan:
    """The possible stages of signals; `longest` is a stage delay, by default the least sufficient.

    With `fewest` the bits that are held are the fewest for this delay, else few, as in designs that
    are too large.
    """

    def __init__(
        self, readers: Readers, count: int, longest: int = 0, *, fewest: bool = False
    ) -> None:
        self.readers, self.count, self.fewest = readers, count, fewest
        self.longest = longest or _shortest(readers, count)

    @staticmethod
    def within(readers: Readers, longest: int) -> StagePlan:
        """Return a plan of the least number of stages for a stage delay."""
        return StagePlan(readers, 1 + max(_early(readers, longest)[0]), longest, fewest=True)

    def stages(self) -> list[int]:
        """Return the stage of every signal, such that few bits are held."""
        readers, count = self.readers, self.count
        if count < 2 or readers.first == readers.size:
            return [0] * (readers.size - readers.first)
        if self.fewest:
            pairs = list(islice(_apart(readers, self.longest), MOST_PAIRS))
            if len(pairs) < MOST_PAIRS:
                return _fewest(readers, count, pairs)[readers.first :]
        best: tuple[int, list[int]] | None = None
        for stages, later in _beginnings(readers, count, self.longest):
            cost = _refine(readers, stages, count, self.longest, later=later)
            if best is None or cost < best[0]:
                best = cost, stages
        assert best is not None  # noqa: S101 (there are at least two beginnings)
        return best[1][readers.first :]


def registers(readers: Readers, stages: Sequence[int], count: int) -> int:
    return sum(
        (readers.last(signal, stages, count) - stages[signal]) * readers.widths[signal]
        for signal in range(CONSTANTS, readers.size)
    )


def _shortest(readers: Readers, count: int) -> int:
    """Return the least stage delay for which `count` stages suffice."""
    if count < 2:
        return max(_early(readers, NEVER)[1])
    low, high = max(readers.delays), sum(readers.delays)
    while low < high:
        middle = (low + high) // 2
        if max(_early(readers, middle)[0]) < max(1, count):
            high = middle
        else:
            low = middle + 1
    return low


def _beginnings(readers: Readers, count: int, longest: int) -> Iterator[tuple[list[int], bool]]:
    """Yield the earliest and the latest stages; for equal delays cuts between such levels.

    With each is whether signals move to later stages first.
    """
    if set(readers.delays[readers.first :]) != {1}:
        yield _early(readers, longest)[0], True
        yield _late(readers, longest, count)[0], True
        return
    _, early = _early(readers, NEVER)
    _, after = _late(readers, NEVER, count)
    depth = max(early)
    late = readers.with_inputs(depth + 1 - levels for levels in after[readers.first :])
    yield _by_cuts(readers, early, depth, count, longest), True
    yield _by_cuts(readers, late, depth, count, longest), False


def _early(readers: Readers, longest: int) -> tuple[list[int], list[int]]:
    """Return the earliest stages, and the delay from the begin of a stage to each signal."""
    stages, times = [0] * readers.size, [0] * readers.size
    for k in range(readers.first, readers.size):
        near = readers.operands[k]
        stage = max((stages[j] for j in near), default=0)
        start = max((times[j] for j in near if stages[j] == stage), default=0)
        if start + readers.delays[k] > longest:
            stage, start = stage + 1, 0
        stages[k], times[k] = stage, start + readers.delays[k]
    return stages, times


def _late(readers: Readers, longest: int, count: int) -> tuple[list[int], list[int]]:
    """Return the latest stages, and the delay from each signal, its own included, to the end."""
    stages, tails = [0] * readers.size, [0] * readers.size
    for k in reversed(range(readers.first, readers.size)):
        near = readers.users[k]
        stage = min((stages[j] for j in near), default=count - 1)
        after = max((tails[j] for j in near if stages[j] == stage), default=0)
        if after + readers.delays[k] > longest:
            stage, after = stage - 1, 0
        stages[k], tails[k] = stage, after + readers.delays[k]
    return stages, tails


def _by_cuts(
    readers: Readers, levels: Sequence[int], depth: int, count: int, deepest: int
) -> list[int]:
    """Return the stages of nodes, cut at the levels that fewest signals cross."""
    crossing = [0] * (depth + 1)
    for signal in range(CONSTANTS, readers.size):
        for level in range(levels[signal], readers.last(signal, levels, depth + 1)):
            crossing[level] += 1

    @cache
    def cheapest(cuts: int, above: int) -> tuple[int, tuple[int, ...]]:
        """Return the least cost of `cuts` cuts below a level, and their levels."""
        if cuts == 0:
            return (0, ()) if above <= deepest else (NEVER, ())
        found = (NEVER, (0,) * cuts)
        for cut in range(max(0, above - deepest), above + 1):
            cost, places = cheapest(cuts - 1, cut)
            found = min(found, (cost + crossing[cut], (*places, cut)))
        return found

    _, cuts = cheapest(count - 1, depth)
    found = (sum(levels[k] > cut for cut in cuts) for k in range(readers.first, readers.size))
    return readers.with_inputs(found)


def _refine(readers: Readers, stages: list[int], count: int, deepest: int, *, later: bool) -> int:
    """Move signals to stages where that saves flip-flops and none becomes too deep; count these.

    Sweeps to later stages go from the last signal to the first, sweeps to earlier ones the other
    way: so the remaining depth is known. Moves without gain are made as well, as they enable
    others.
    """
    known = registers(readers, stages, count)
    idle = 0
    for sweep in range(SWEEPS):
        _sweep(readers, stages, count, deepest, later=later ^ (sweep % 2 == 1))
        now = registers(readers, stages, count)
        idle = idle + 1 if now == known else 0
        known = now
        if idle == 4:
            break
    return known


def _sweep(readers: Readers, stages: list[int], count: int, deepest: int, *, later: bool) -> None:
    """Move every signal to the stage of the largest gain, the last of equals."""
    depths = [0] * readers.size
    order = range(readers.first, readers.size)
    for k in reversed(order) if later else order:
        if later:
            near = readers.users[k]
            choices = range(stages[k], min((stages[j] for j in near), default=count - 1) + 1)
        else:
            near = [j for j in readers.operands[k] if j >= readers.first]
            choices = range(stages[k], max((stages[j] for j in near), default=0) - 1, -1)
        best, largest = (stages[k], 0), -NEVER
        for stage in choices:
            below = max((depths[j] for j in near if stages[j] == stage), default=0)
            gain = _gain(readers, stages, k, stage, count)
            if readers.delays[k] + below <= deepest and gain >= largest:
                best, largest = (stage, readers.delays[k] + below), gain
        stages[k], depths[k] = best


def _gain(readers: Readers, places: list[int], k: int, target: int, end: int) -> int:
    """Return the reduction of all lifetimes if one signal moves."""
    before = places[k]
    gain = (target - before) * readers.widths[k]
    for j in readers.operands[k]:
        last = readers.last(j, places, end)
        places[k] = target
        gain += (last - readers.last(j, places, end)) * readers.widths[j]
        places[k] = before
    return gain


# --------------------------------------------------------------------------------------------------
# The fewest registers for a largest stage delay, as a linear program: variables are the stages of
# signals and of their last uses, rows are differences of two of them. Its matrix is totally
# unimodular: the stages of a basic solution are whole numbers.
# --------------------------------------------------------------------------------------------------


def _fewest(readers: Readers, count: int, rows: list[tuple[int, int, int]]) -> list[int]:
    """Return the stages of all signals with the fewest registers, the earliest of equals.

    `rows` are the pairs of signals in different stages.
    """
    size = readers.size
    held = np.zeros(2 * size)  # the cost of a stage: of a signal, of its last use
    for signal in range(CONSTANTS, size):
        users, width = readers.users[signal], readers.widths[signal]
        rows += [(signal, user, 0) for user in users]
        if users and not readers.kept[signal]:
            held[size + signal] = width
            rows += [(user, size + signal, 0) for user in users]
        if users or readers.kept[signal]:
            held[signal] = -width
    upper = np.full(2 * size, count - 1.0)
    upper[: readers.first] = 0  # inputs
    return _earliest(np.array(rows), held, upper)[:size]


def _apart(readers: Readers, longest: int) -> Iterator[tuple[int, int, int]]:
    """Yield the nearest pairs of signals that are in different stages: the path is too long."""
    paths: list[dict[int, int]] = [{} for _ in range(readers.size)]
    for signal in range(readers.first, readers.size):
        found = paths[signal]
        for operand in readers.operands[signal]:
            for begin, delay in paths[operand].items():
                found[begin] = max(found.get(begin, 0), delay + readers.delays[signal])
        for begin in [begin for begin, delay in found.items() if delay > longest]:
            del found[begin]
            yield begin, signal, 1
        found[signal] = readers.delays[signal]
        for operand in readers.operands[signal]:
            if readers.users[operand] and readers.users[operand][-1] == signal:
                paths[operand] = {}  # not read again


def _earliest(rows: NDArray[Any], cost: NDArray[Any], upper: NDArray[Any]) -> list[int]:
    """Return the least of the solutions of least cost of x[b] - x[a] >= c, 0 <= x <= upper.

    Rows are (a, b, c). Rows and limits with a price hold with equality in all of these solutions;
    the least one does not depend on the solver.
    """
    import highspy  # noqa: PLC0415 (slow to import)

    before, after, least = rows.T
    model, count, size = highspy.HighsLp(), len(rows), len(cost)
    model.num_col_, model.num_row_ = size, count
    model.col_cost_, model.col_lower_, model.col_upper_ = cost, np.zeros(size), upper
    model.row_lower_ = least.astype(np.float64)
    model.row_upper_ = np.full(count, highspy.kHighsInf)
    matrix = model.a_matrix_
    matrix.format_ = highspy.MatrixFormat.kRowwise
    matrix.start_ = np.arange(0, 2 * count + 1, 2, dtype=np.int32)
    matrix.index_ = rows[:, :2].astype(np.int32).ravel()
    matrix.value_ = np.tile([-1.0, 1.0], count)
    solver = highspy.Highs()
    for name, value in (("output_flag", False), ("threads", 1)):
        solver.setOptionValue(name, value)
    solver.passModel(model)
    solver.run()
    solution = solver.getSolution()
    tight = np.abs(solution.row_dual) > 0.5
    found = np.where(np.asarray(solution.col_dual) < -0.5, upper, 0).astype(np.int64)
    known = -1
    while known < (known := int(found.sum())):
        np.maximum.at(found, after, found[before] + least)
        np.maximum.at(found, before[tight], found[after[tight]] - least[tight])
        if (found > upper).any():
            raise ValueError("the prices of the linear program are wrong")
    return [int(stage) for stage in found]
