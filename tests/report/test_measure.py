"""What the report measures, and what it says where something is missing."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from samples import problem_of, terms_of
from small_programs import stages

import boolcomp as bc
from boolcomp.base import Folder
from boolcomp.measure import (
    ReportRequest,
    documents,
    draw_samples,
    error_rows,
    program_rows,
    report_rows,
    text_table,
)
from boolcomp.paper import CoverStore, PlanOptions, make_plan
from boolcomp.twolevel import Recipe

ROBOT = bc.load_robot("machado-2r")
TORQUES = terms_of(ROBOT)
PROBLEM = TORQUES.problem


def test_samples_are_seeded_and_within_the_ranges() -> None:
    one, same, other = (
        draw_samples(PROBLEM, 500, 1),
        draw_samples(PROBLEM, 500, 1),
        draw_samples(PROBLEM, 500, 2),
    )
    assert all(map(np.array_equal, one.arrays, same.arrays))
    assert np.array_equal(one.outputs, same.outputs)
    assert not any(map(np.array_equal, one.arrays, other.arrays))
    q, _, qdd = one.arrays
    assert np.abs(q).max() <= np.pi
    assert np.abs(qdd).max() <= 1
    assert one.count == 500
    with pytest.raises(bc.UsageError, match="samples must be 1 to 20000000, not 0"):
        draw_samples(PROBLEM, 0)


@pytest.mark.slow
@pytest.mark.parametrize("bits", [4, 8, 12])
def test_errors_halve_with_every_bit_and_stay_below_the_bound(bits: int) -> None:
    samples = draw_samples(PROBLEM, 20_000)
    for row in error_rows(make_plan(TORQUES, PlanOptions(bits=bits)), samples):
        assert row.total.max <= row.bound
        assert 0.3 < row.total.rms / row.lsb < 0.7
        assert row.own.rms < row.total.rms
        assert row.lsb == (400, 200)[row.place - 1] / 2**bits


@pytest.mark.slow
def test_a_reason_stands_in_the_rows_of_its_own_torque_alone(tmp_path: Path) -> None:
    plan = make_plan(TORQUES, PlanOptions(bits=7))
    widths = {k: max(t.input_bits for t in one.terms) for k, one in enumerate(plan.outputs, 1)}
    assert widths[1] != widths[2]  # else the test says nothing
    question = ReportRequest(
        bits=(7,), extra=(0,), recipe=Recipe("isop"), widest=min(widths.values()), evaluations=100
    )
    rows = report_rows(draw_samples(PROBLEM, 100), question, CoverStore((Folder(tmp_path),)))
    for row in rows:
        assert row.products is None
        assert bool(row.note) == (widths[row.place] > question.widest)


@pytest.mark.slow
def test_bounds_far_above_what_was_found_are_said_to_be() -> None:
    row, other = error_rows(make_plan(TORQUES, PlanOptions(bits=4)), draw_samples(PROBLEM, 200))
    row = replace(row, worst=2.0, evaluations=10, bound=3.98, proved=3.98)
    other = replace(other, worst=1.0, evaluations=10, bound=7.12, proved=7.12)
    assert documents([row])[0]["bound_over_found"] == pytest.approx(1.99)
    assert text_table([row], 200).endswith("(not proved); bound: proved")
    said = "; proved bounds are up to 7.1 times the largest error found"
    assert text_table([row, other], 200).endswith(f"(not proved); bound: proved{said}")
    useless = replace(other, bound=float("inf"))
    assert text_table([useless], 200).endswith(f"(not proved){said}")
    unknown = replace(other, proved=float("inf")), replace(other, worst=None)
    assert [one["bound_over_found"] for one in documents(unknown)] == [None, None]
    assert "times" not in text_table(unknown, 200)


@pytest.mark.slow
def test_a_paper_program_errs_as_its_tables_say() -> None:
    plan, _, program = stages(5)
    samples = draw_samples(problem_of("machado-2r"), 3000, seed=4)
    for measured, said in zip(
        program_rows(program, samples), error_rows(plan, samples), strict=True
    ):
        assert measured.total == said.total
        assert measured.own == pytest.approx(said.own) or measured.own.rms == pytest.approx(
            said.own.rms
        )
        assert (measured.bound, measured.lsb, measured.bits) == (said.bound, said.lsb, said.bits)
        assert measured.program_luts is not None
        assert measured.ns_per_sample is not None
        assert measured.program_luts > 100
        assert measured.ns_per_sample > 0


def test_an_unknown_bound_is_null_in_json() -> None:
    from dataclasses import replace

    _, _, program = stages(5)
    rows = program_rows(program, draw_samples(problem_of("machado-2r"), 600, seed=1))
    document = json.loads(json.dumps(documents([replace(rows[0], bound=np.inf)])))
    assert document[0]["bound"] is None
