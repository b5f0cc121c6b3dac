"""Product terms dealt to shares: together they are the whole, and loads are balanced."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_programs import stages

from boolcomp.common.errors import UsageError
from boolcomp.parallel.sharding.deal import deal_terms, terms_of
from boolcomp.parallel.sharding.runners import Slot, Work, make_runner
from boolcomp.parallel.sharding.shares import make_pipeline, make_shares
from boolcomp.parallel.sharding.stages import whole_stage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from boolcomp.parallel.sharding.stages import Stage
    from boolcomp.program.program import Program

PROGRAM = stages(4)[2]
SAMPLES = 700


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 5])
def test_shares_have_as_much_to_do_as_each_other(count: int) -> None:
    program = stages(6)[2]
    terms = terms_of(program.load(), program.wiring())
    shares = deal_terms(terms, [0] * count)
    loads = [share.load for share in shares]
    assert max(loads) <= 1.15 * sum(loads) / count
    cut = {call for share in shares for call in share.parts}
    assert len(cut) <= count
    whole = [call for share in shares for call in share.whole]
    assert sorted([*whole, *cut]) == sorted(terms.calls)
    assert make_shares(PROGRAM, 3) == make_shares(PROGRAM, 3)


def run_stages(parts: Sequence[Stage], engine: str) -> tuple[Work, list[int]]:
    """Run stages one after the other on one chunk."""
    rng = np.random.default_rng(5)
    rows = -(-SAMPLES // 64) * 64
    q, qd, qdd = (rng.uniform(-3.3, 3.3, (rows, 2)) for _ in range(3))
    for array in (q, qd, qdd):
        array[SAMPLES:] = 0
    torques, words = np.zeros((rows, 2)), np.zeros((rows, 2), np.uint32)
    a, b, c, d, e = (x.ctypes.data for x in (q, qd, qdd, torques, words))
    work = Work(SAMPLES, 1024, (q, qd, qdd), torques, words, (a, b, c, d, e))
    slots = []
    for part in parts:
        room = np.zeros(len(part.sent) * 128 + 64, np.uint8)
        start = -room.ctypes.data % 64
        slots.append(Slot(room.ctypes.data + start, room[start:]))
    totals = np.zeros(3, np.int64)
    for k, part in enumerate(parts):
        counts = np.zeros(4, np.int64)
        handed = [slots[feed.stage] for feed in part.feeds]
        make_runner(part, engine).run_chunk(work, 0, handed, slots[k], counts)
        totals += counts[:3] * np.array([part.counting, 1, 1])
    return work, totals.tolist()


@pytest.mark.parametrize("make", [make_shares, make_pipeline])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_stages_run_one_after_the_other_give_the_results_of_the_whole(
    make: Callable[[Program, int], tuple[Stage, ...]], count: int
) -> None:
    whole, totals = run_stages([whole_stage(PROGRAM.wiring())], "numpy")
    assert totals[0] > 0
    work, found = run_stages(make(PROGRAM, count), "numpy")
    assert found == totals
    assert np.array_equal(work.words, whole.words)
    assert np.array_equal(work.values, whole.values)


@pytest.mark.slow
def test_native_stages_give_the_results_of_numpy() -> None:
    parts = make_shares(PROGRAM, 3)
    by_numpy, totals = run_stages(parts, "numpy")
    native, found = run_stages(parts, "llvm")
    assert found == totals
    assert np.array_equal(by_numpy.values[:SAMPLES], native.values[:SAMPLES])
    assert np.array_equal(by_numpy.words[:SAMPLES], native.words[:SAMPLES])


def test_more_shares_than_terms_leaves_some_idle() -> None:
    parts = make_shares(PROGRAM, 300)
    assert len(parts) == 300
    work, _ = run_stages(parts, "numpy")
    whole, _ = run_stages([whole_stage(PROGRAM.wiring())], "numpy")
    assert np.array_equal(work.words[:SAMPLES], whole.words[:SAMPLES])


@pytest.mark.parametrize("count", [0, 2000])
def test_a_senseless_number_of_shares_is_refused(count: int) -> None:
    with pytest.raises(UsageError, match="1 to 1024 processes"):
        make_shares(PROGRAM, count)


@settings(max_examples=10)
@given(st.integers(2, 4), st.integers(0, 3))
def test_partial_sums_never_need_more_planes_than_their_words(count: int, place: int) -> None:
    parts = make_shares(PROGRAM, count)
    stage = parts[min(place, count - 2)]
    outputs = sum(len(stage.networks[call.network].outputs) for call in stage.calls)
    assert len(stage.sent) <= outputs
