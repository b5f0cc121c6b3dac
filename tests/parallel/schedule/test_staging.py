"""Segments of a program, and assignments for batches."""

from __future__ import annotations

import pytest
from parallel.schedule.graphs import there_and_back

from boolcomp.common.errors import DataError
from boolcomp.parallel.schedule.placed import Assignment
from boolcomp.parallel.schedule.staging import stage


def test_a_value_that_crosses_begins_a_stage() -> None:
    straight, names = there_and_back()
    staged = stage(straight, names, Assignment((("out", "back"), ("beyond",))))
    assert (staged.stages, staged.exchanged) == (3, 2)
    assert [(x.processor, x.stage) for x in staged.segments] == [(0, 0), (1, 1), (0, 2)]
    done: set[tuple[int, int]] = set()
    for segment in staged.segments:
        assert set(segment.reads) <= done
        done |= {(k, segment.processor) for k in segment.writes}
    # The cosine, which only its own processor uses, is put off until it does: nothing is kept.
    assert len(staged.slots) == 2
    assert staged.segments[2].suppliers == ((0, 0), (1, 1))


def test_what_is_on_both_processors_is_not_exchanged() -> None:
    straight, names = there_and_back()
    staged = stage(straight, names, Assignment((("out", "back"), ("out", "beyond"))))
    assert (staged.stages, staged.exchanged) == (2, 1)
    sines = [sum(straight.nodes[k].kind == "sin" for k in x.nodes) for x in staged.segments]
    assert sum(sines) == 2


def test_on_one_processor_there_is_one_segment_and_nothing_is_handed_on() -> None:
    straight, names = there_and_back()
    staged = stage(straight, names, Assignment((("out", "beyond", "back"),)))
    assert (staged.stages, len(staged.segments), staged.slots) == (1, 1, ())


def test_tasks_without_a_processor_are_named() -> None:
    straight, names = there_and_back()
    with pytest.raises(DataError, match="'back' of the program is on no processor"):
        stage(straight, names, Assignment((("out", "beyond"),)))
