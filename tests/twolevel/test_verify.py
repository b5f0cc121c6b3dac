"""Verification: right covers pass, wrong ones are caught at a point that can be checked."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from twolevel.strategies import as_lists, cubes_of, functions, implements, values

from boolcomp.twolevel import lists
from boolcomp.twolevel.clock import Clock
from boolcomp.twolevel.cover import Function
from boolcomp.twolevel.cubes import Cubes
from boolcomp.twolevel.verify import Witness, meeting, verify


@given(functions())
def test_the_on_set_covers_its_own_function(function: Function) -> None:
    assert implements(function, function.on)
    assert implements(as_lists(function), function.on)


@given(functions(), st.data())
def test_both_ways_of_verifying_agree_and_their_witnesses_are_true(
    function: Function, data: st.DataObject
) -> None:
    cover = data.draw(cubes_of(function.inputs, function.outputs))
    witnesses = [verify(function, cover), verify(as_lists(function), cover)]
    assert (witnesses[0] is None) == (witnesses[1] is None)
    for witness in witnesses:
        if witness is not None:
            assert values(cover, witness.point)[witness.output] == str(1 - witness.expected)
            on = values(function.on, witness.point)[witness.output]
            assert on == str(witness.expected)
            assert values(function.dc, witness.point)[witness.output] == "0"


@given(functions(), st.data())
def test_with_an_off_set_everything_else_is_free(function: Function, data: st.DataObject) -> None:
    off = function.off
    given_off = Function.from_cubes(function.on, None, off)
    cover = data.draw(cubes_of(function.inputs, function.outputs))
    for both in (given_off, as_lists(given_off)):
        witness = verify(both, cover)
        if witness is not None and witness.expected == 0:
            assert values(off, witness.point)[witness.output] == "1"
        assert implements(both, function.on)


def test_lists_that_meet_only_in_other_outputs_do_not_meet() -> None:
    first = Cubes.from_rows(2, 2, [("1-", "10")])
    assert meeting(first, Cubes.from_rows(2, 2, [("-1", "01")])) is None
    assert meeting(first, Cubes.from_rows(2, 2, [("-1", "11")])) == (0, "11")


def test_many_cubes_are_compared_as_tables_and_by_pairs_alike() -> None:
    rows = [(f"{x:013b}", "1") for x in range(1 << 13)]
    first = Cubes.from_rows(13, 1, rows[:5000])
    assert meeting(first, Cubes.from_rows(13, 1, rows[5000:])) is None
    assert meeting(first, Cubes.from_rows(13, 1, rows[4999:])) == (0, rows[4999][0])


def test_a_witness_reads_as_a_sentence() -> None:
    assert str(Witness(2, "01", 1)) == "output 2 at inputs 01 is 0, must be 1"
    assert str(Witness(0, "", 0)) == "output 0 at inputs (none) is 1, must be 0"


def test_a_cover_of_another_shape_is_our_own_mistake() -> None:
    function = Function.from_cubes(Cubes.from_rows(2, 1, [("1-", "1")]))
    with pytest.raises(ValueError, match="other inputs"):
        verify(function, Cubes.empty(3, 1), Clock())


def test_only_outputs_where_no_cube_holds_another_are_walked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    walked: list[int] = []
    monkeypatch.setattr(lists, "first_uncovered", lambda targets, *_: walked.append(len(targets)))
    on = Cubes.from_rows(30, 1000, [("1" + "-" * 29, "1" * 1000), ("11" + "-" * 28, "1" * 1000)])
    assert verify(Function.from_cubes(on), on.take(np.array([0]))) is None
    assert walked == []


def test_the_clock_is_looked_at_after_every_output() -> None:
    halves = [("0" + "-" * 29, "1" * 50), ("1" + "-" * 29, "1" * 50)]
    whole = Cubes.from_rows(30, 50, [("-" * 30, "1" * 50)])
    with pytest.raises(lists.GaveUpError):
        verify(Function.from_cubes(Cubes.from_rows(30, 50, halves)), whole, Clock(0.0))
