"""Times offers side by side: one process, the same samples, rounds in turn, results checked."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.common.errors import BoolcompError
from boolcomp.measure.bench.rows import Timing, break_evens
from boolcomp.measure.bench.states import BITS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from boolcomp.measure.bench.states import BenchStates, Kind
    from boolcomp.measure.bench.tasks import BenchTask, Offer

CHECKED = 1 << 14  # states whose results are compared
ROUNDS = 25
LEAST_ROUNDS = 3
TURN = 1e-2  # seconds that a rival runs in a round
MOST_BYTES = 1 << 30  # of a batch's samples
GROUP = 64


@dataclass(frozen=True, slots=True)
class Case:
    """A batch size and a number of cores."""

    batch: int
    cores: int = 1


@dataclass(frozen=True, slots=True)
class Checked:
    """An offer whose results were compared."""

    offer: Offer
    max_errors: tuple[float, ...] = (0.0,)
    rms_errors: tuple[float, ...] = (0.0,)
    own_error: float = 0.0
    wrong: bool = False


def run(
    offers: Sequence[Offer],
    states: BenchStates,
    bits: int,
    cases: Sequence[Case],
    seconds: float,
    progress: Callable[[str], None] = lambda _: None,
) -> list[Timing]:
    """Return a row for every offer and case. `seconds` is the most that a rival gets in a case."""
    rows: list[Timing] = []
    ready: list[Checked] = []
    for offer in offers:
        progress(f"check {offer.rival}")
        found = check(offer, states, bits)
        if isinstance(found, Timing):
            rows.append(found)
        else:
            ready.append(found)
    for case in cases:
        progress(f"batch {case.batch}, cores {case.cores}")
        rows += _timed_case(ready, states, case, seconds)
    even = break_evens(rows)
    return [replace(row, break_even=even.get((row.rival, row.kind))) for row in rows]


def check(offer: Offer, states: BenchStates, bits: int) -> Checked | Timing:
    """Run an offer once and measure its errors; a skipped row where it cannot run."""
    nothing = Timing(offer.rival, offer.kind, 0, 1, skipped=offer.skipped, logic=offer.logic)
    if offer.make is None:
        return nothing
    count = min(CHECKED, states.count)
    try:
        task = offer.make(states, states.count, count)
        task.seconds(1)
    except BoolcompError as reason:
        return replace(nothing, skipped=str(reason))
    results = [x[:count] for x in task.results()]
    found = states.decoded(offer.kind, results)
    steps = np.array(states.problem.steps(bits))
    exact = states.outputs[:count]
    given = states.as_given(offer.kind)[:count]
    if offer.expected is not None:
        given = offer.expected(states, count)
    inside = _inside(states, exact, offer.kind) & _inside(states, given, offer.kind)
    error = np.where(inside, (found - exact) / steps, 0.0)
    own = np.where(inside, (found - given) / steps, 0.0)
    rms = np.sqrt((error**2).sum(axis=0) / np.maximum(1, inside.sum(axis=0)))
    worst = float(np.abs(own).max())
    wrong = not (np.isfinite(found).all() and worst <= offer.bound)
    largest = np.abs(error).max(axis=0)
    return Checked(offer, tuple(largest.tolist()), tuple(rms.tolist()), worst, wrong)


def _inside(states: BenchStates, outputs: NDArray[np.float64], kind: Kind) -> NDArray[np.bool_]:
    """Tell where outputs are within the range that words hold."""
    if kind not in ("int8", "int16"):
        return np.ones(outputs.shape, np.bool_)
    ranges = [output.range for output in states.problem.outputs]
    low, high = np.array([x.low for x in ranges]), np.array([x.high for x in ranges])
    return np.asarray((outputs >= low) & (outputs <= high))


@dataclass(slots=True)
class _Running:
    """An offer set up for a case, on every core."""

    checked: Checked
    tasks: list[BenchTask]
    times: int = 1
    rounds: int = ROUNDS


def _timed_case(
    ready: Sequence[Checked], states: BenchStates, case: Case, seconds: float
) -> list[Timing]:
    running: list[_Running] = []
    rows: list[Timing] = []
    with ThreadPoolExecutor(case.cores) as pool:
        for checked in ready:
            found = _set_up(checked, states, case, seconds, pool)
            if isinstance(found, Timing):
                rows.append(found)
            else:
                running.append(found)
        measured: list[list[float]] = [[] for _ in running]
        for turn in range(ROUNDS):
            for one, ns in zip(running, measured, strict=True):
                if turn < one.rounds:
                    # Untimed: else it pays for what the rival before it left in the caches, or
                    # gains from it where both read the same arrays.
                    for task in one.tasks:
                        task.seconds(1)
                    ns.append(_time(one, pool) / one.times / case.batch * 1e9)
    states.forget()
    return rows + _with_ratios([_row(x, case, ns) for x, ns in zip(running, measured, strict=True)])


def _set_up(
    checked: Checked, states: BenchStates, case: Case, seconds: float, pool: ThreadPoolExecutor
) -> _Running | Timing:
    """Set an offer up, run it once, and choose how often it runs in a round."""
    offer = checked.offer
    nothing = Timing(offer.rival, offer.kind, case.batch, case.cores, logic=offer.logic)
    make, share = offer.make, case.batch // case.cores
    hindrance = _hindrance(offer, states, case)
    if make is None or hindrance:
        return replace(nothing, skipped=hindrance)
    try:
        tasks = [make(states, share, share) for _ in range(case.cores)]
        one = _Running(checked, tasks)
        first = _time(one, pool)
        if first > seconds:
            return replace(nothing, skipped=f"a batch takes more than {seconds:g} s")
        once = min(first, _time(one, pool))
    except BoolcompError as error:
        return replace(nothing, skipped=str(error))
    one.times = max(1, round(TURN / max(once, 1e-9)))
    one.rounds = max(LEAST_ROUNDS, min(ROUNDS, int(seconds / max(once * one.times, 1e-9))))
    return one


def _hindrance(offer: Offer, states: BenchStates, case: Case) -> str:
    """Return why an offer cannot run in a case, or nothing."""
    if offer.make is None:
        return offer.skipped
    if case.cores > 1 and not offer.threads:
        return "runs on one core"
    if case.cores > 1 and case.batch // case.cores < GROUP:
        return "too few samples to share"
    columns = len(states.problem.inputs) + len(states.problem.outputs)
    size = case.batch * columns * BITS[offer.kind] // 8
    return f"its samples take {size / 2**30:.1f} GiB" if size > MOST_BYTES else ""


def _time(one: _Running, pool: ThreadPoolExecutor) -> float:
    """Return the seconds of so many batches, of the slowest core."""
    if len(one.tasks) == 1:
        return one.tasks[0].seconds(one.times)
    running = [pool.submit(task.seconds, one.times) for task in one.tasks]
    return max(x.result() for x in running)


def _row(one: _Running, case: Case, ns: list[float]) -> Timing:
    found, offer = one.checked, one.checked.offer
    low, high = (float(x) for x in np.quantile(ns, (0.25, 0.75)))
    return Timing(
        offer.rival, offer.kind, case.batch, case.cores, min(ns), (low, high), None,
        max(found.max_errors), max(found.rms_errors), found.max_errors, found.rms_errors,
        found.own_error, offer.bound, found.wrong,
        logic=offer.logic,
    )  # fmt: skip


def _with_ratios(rows: list[Timing]) -> list[Timing]:
    """Compare every row with the fastest logic of its type, or else of any type."""
    logic = [row for row in rows if row.logic and row.ns_per_sample is not None]

    def ratio(row: Timing) -> float | None:
        alike = [x for x in logic if x.kind == row.kind] or logic
        least = min((x.ns_per_sample or 0.0 for x in alike), default=0.0)
        return row.ns_per_sample / least if least and row.ns_per_sample is not None else None

    return [replace(row, ratio=ratio(row)) for row in rows]
