"""The program as an offer: every way in and out gives the numpy engine's torques."""

from __future__ import annotations

import pytest
from samples import problem_of
from small_programs import stages

from boolcomp.measure.bench.harness import Case, Checked, check, run
from boolcomp.measure.bench.logic import LogicSubject, logic_offers
from boolcomp.measure.bench.states import draw_states


@pytest.mark.slow
def test_all_ways_in_and_out_agree_with_the_numpy_engine() -> None:
    program = stages(5)[2]
    states = draw_states(problem_of("machado-2r"), 3000)
    offers = list(logic_offers(program, "logic"))
    kinds = {(offer.rival, offer.kind) for offer in offers}
    assert ("logic", LogicSubject(program).words) in kinds
    assert ("logic, planes in and out", LogicSubject(program).words) in kinds
    for offer in offers:
        found = check(offer, states, 5)
        assert isinstance(found, Checked), offer
        assert not found.wrong, f"{offer.rival} {offer.kind}"
        assert max(found.max_errors) < 4


@pytest.mark.slow
def test_batches_that_fill_no_block_and_two_cores() -> None:
    program = stages(4)[2]
    states = draw_states(problem_of("machado-2r"), 1000)
    rows = run(list(logic_offers(program, "logic")), states, 4, [Case(1), Case(1000, 2)], 0.05)
    assert not any(row.wrong for row in rows)
    assert all(row.ns_per_sample or row.skipped for row in rows)
