"""Programs measured against Newton-Euler, whatever their mode."""

import json

import numpy as np
import pytest
from samples import problem_of
from small_programs import stages

import boolcomp as bc
from boolcomp.measure import documents, draw_samples, error_rows, program_rows


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


def test_a_payload_that_was_not_compiled_is_refused() -> None:
    _, _, program = stages(5)
    samples = draw_samples(problem_of("machado-2r"), 10, seed=1)
    with pytest.raises(bc.UsageError, match="no payload 3"):
        program_rows(program, samples, payload=3.0)
