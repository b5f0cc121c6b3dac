"""The papers' figures: those that follow from counts agree, and models are near."""

from dataclasses import replace

import pytest

from boolcomp.base import UsageError
from boolcomp.parallel import reproduce


def test_an_unknown_paper_gets_the_nearest_name() -> None:
    with pytest.raises(UsageError, match="did you mean 'zomaya'"):
        reproduce("zomaia")


def test_a_finding_holds_to_its_last_printed_digit() -> None:
    count = next(x for x in reproduce("zomaya") if x.kind == "count")
    assert replace(count, printed="0.68", ours=0.6845).holds
    assert not replace(count, printed="0.68", ours=0.6861).holds
    assert replace(count, printed="2", ours=3.0, kind="model").residual == 0.5


def test_the_model_of_four_transputers_gives_two_milliseconds() -> None:
    found = {x.figure: x for x in reproduce("zomaya")}
    assert abs(found["parallel on four T800s (ms), diagonal"].residual) < 0.02
    assert abs(found["semi-customised on one T800 (ms), diagonal"].residual) < 0.02


def test_what_was_measured_on_several_processors_is_predicted_to_a_fifth() -> None:
    rows = [
        x for x in reproduce("zeng") if x.note == "predicted" and x.figure.startswith("version")
    ]
    versions = [x for x in rows if not x.figure.startswith("version 5")]
    assert max(abs(x.residual) for x in versions) < 0.2
    assert sum(abs(x.residual) for x in versions) / len(versions) < 0.06
