"""What is said of answers whose type rounds them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

import boolcomp as bc

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Result


@pytest.mark.check
def test_float32_answers_are_off_by_no_more_than_is_said(
    run: Callable[..., Result], tmp_path: Path
) -> None:
    words = {"x": bc.word(-3.3, 3.3, bits=9)}
    program = bc.compile(
        bc.function_problem(lambda x: 1.0 * x, words, {"y": bc.word(-3.3, 3.3)}),
        bits=9, rms_error=0.6, effort=0, approximate="off", store=tmp_path / "store",
    )  # fmt: skip
    program.save(tmp_path / "program")
    states = program.inputs[0].code.centre(range(1 << 9)).reshape(-1, 1).astype(np.float32)
    np.save(tmp_path / "x.npy", states)
    given = ["evaluate", str(tmp_path / "program"), "-i", str(tmp_path / "x.npy"), "-o"]
    told = run(*given, str(tmp_path / "y.npy"), "--json")
    assert told.code == 0, told.err
    (output,) = json.loads(told.out)["outputs"]
    answers = np.load(tmp_path / "y.npy")
    assert answers.dtype == np.float32
    error = np.abs(answers.astype(np.float64) - program(states.astype(np.float64))).max()
    assert output["rounding"] / 8 < error <= output["rounding"]
    assert output["rounding"] == program.rounding("float32")[0]
    said = run(*given, str(tmp_path / "z.npy"))
    assert "rounding to float32 adds at most y 4e-07" in said.err
    double = tmp_path / "double.npy"
    np.save(double, states.astype(np.float64))
    given[3] = str(double)
    (output,) = json.loads(run(*given, str(tmp_path / "w.npy"), "--json").out)["outputs"]
    assert output["rounding"] == program.rounding()[0] < 1e-14
