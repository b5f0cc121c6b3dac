"""Bounds are of what was asked for, where a sketch's function is another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from boolcomp.common.errors import DataError
from boolcomp.common.workers import ALONE
from boolcomp.compact.assembly import Ends
from boolcomp.compact.demand import usual_demand
from boolcomp.compact.errors.samples import word_value
from boolcomp.compact.passes import CompactChoices
from boolcomp.compact.result.explained import explained
from boolcomp.compact.result.proved import bounds_of
from boolcomp.compact.sketch.sketch import Curve
from boolcomp.compact.widths import passes as widths
from boolcomp.pipeline import COMPACT, TipLoad, compile_compact, run
from boolcomp.problem.written.functionfile import parse_function
from boolcomp.proof.bound.ends import beyond_ends
from boolcomp.proof.bound.plain import plain_bounds

if TYPE_CHECKING:
    from pathlib import Path

    from boolcomp.compact.result.compact import Compact
    from boolcomp.problem.problem import Problem

MIDDLES = {"a": 0.31, "b": -0.17, "c": 0.43, "d": -0.37, "e": 0.23, "f": -0.41}
SQUARES = " + ".join(f"({name} - {x})**2" for name, x in MIDDLES.items())


def written(expression: str, low: float, high: float, *, angle: bool = False) -> Problem:
    """Return a function of six words, or of the first two, the first of them an angle."""
    names = list(MIDDLES)[: 2 if angle else None]
    texts = ['name = "peak"']
    for name in names:
        texts.append(f"[inputs.{name}]")
        texts.append("angle = true" if angle and name == "a" else "range = [-1, 1]")
    texts += ["[outputs.u]", f'expression = "{expression}"', f"range = [{low}, {high}]"]
    return parse_function("\n".join(texts))


def compact_of(problem: Problem, tmp_path: Path, rms: tuple[float, ...] = ()) -> Compact:
    """Return a graph with few bits, made with no effort."""
    demand = usual_demand(5, effort=0.0, rms=rms)
    choices = CompactChoices(demand, store=tmp_path, workers=ALONE)
    made = run(COMPACT, [TipLoad(problem)], [choices], "graph")
    compact: Compact = made[0][1]
    return compact


@pytest.mark.slow
def test_a_bound_counts_what_a_curve_is_beyond_where_samples_were(tmp_path: Path) -> None:
    compact = compact_of(written(f"sqrt({SQUARES})", 0, 4), tmp_path)
    said = explained(compact, Ends())
    plain = plain_bounds(said)
    found = beyond_ends(said, plain)
    words = compact.asked_words
    there = {name: word_value(words[name], np.array([x])) for name, x in MIDDLES.items()}
    values = compact.sketch.evaluate(there)
    (step,), (output,) = compact.problem.steps(5), compact.problem.outputs
    sketched = float(values[compact.sketch.outputs[0]][0])
    more = sketched - (0.0 - output.range.centre) / step
    assert more > 0.1  # samples never come near the middle
    assert float(found.outputs[0].high - plain.outputs[0].high) >= more - 1e-9
    assert found.outputs[0].low <= plain.outputs[0].low


@pytest.mark.slow
def test_no_bound_is_said_where_a_curve_has_none_beyond_its_samples(tmp_path: Path) -> None:
    compact = compact_of(written(f"reciprocal({SQUARES} + 0.02)", 0, 60), tmp_path)
    said = explained(compact, Ends())
    with pytest.raises(DataError):
        beyond_ends(said, plain_bounds(said))
    assert bounds_of(said, "plain", 1) is None


@pytest.mark.slow
def test_what_jumps_between_points_is_no_sum_of_waves(tmp_path: Path) -> None:
    spike = "where_positive(0.6*cos(a) + 0.8*sin(a) - 0.99999, b + 2, 0) + 0.5*sin(a)*b"
    compact = compact_of(written(spike, -4, 4, angle=True), tmp_path, (2.0,))
    curves = [node for node in compact.sketch.nodes if isinstance(node, Curve)]
    assert any(step.kind == "step" for curve in curves for step in curve.function.nodes)
    bounds = bounds_of(explained(compact, Ends()), "plain", 1)
    assert bounds is not None
    assert bounds.values[0] >= 3 / 2  # the jump, halved at best


def test_sums_without_their_smallest_waves_have_no_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    choices = CompactChoices(usual_demand(8))
    assert compile_compact("machado-2r", choices).built[0].bounds is not None
    monkeypatch.setattr(widths, "MOST_WAVES", 1)
    assert compile_compact("machado-2r", choices).built[0].bounds is None
