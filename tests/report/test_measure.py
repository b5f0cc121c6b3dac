"""What the report measures, and what it says where something is missing."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from samples import problem_of, terms_of

from boolcomp.common.errors import UsageError
from boolcomp.common.pages.parts import Pen
from boolcomp.common.places import Folder
from boolcomp.measure.report import draw_samples, error_rows
from boolcomp.measure.report.chart import draw_errors, errors_figure
from boolcomp.measure.report.columns import figures_table
from boolcomp.measure.report.compare import Question, report_rows
from boolcomp.measure.report.measure import documents, errors
from boolcomp.measure.report.tabulate import csv_table, text_table
from boolcomp.paper.plan import Options, make_plan
from boolcomp.paper.store import Recipe, Store
from boolcomp.problem.interval import Interval
from boolcomp.problem.robot import load_robot

if TYPE_CHECKING:
    from pathlib import Path

ROBOT = load_robot("machado-2r")
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
    with pytest.raises(UsageError, match="samples must be 1 to 20000000, not 0"):
        draw_samples(PROBLEM, 0)


def test_errors_are_summarised() -> None:
    found = errors(np.array([3.0, -4.0, 0.0, 1.0]), 2.0)
    assert (found.max, found.mean, found.beyond_lsb) == (4.0, 0.0, 0.5)
    assert found.rms == pytest.approx(np.sqrt(26 / 4))


@pytest.mark.slow
@pytest.mark.parametrize("bits", [4, 8, 12])
def test_errors_halve_with_every_bit_and_stay_below_the_bound(bits: int) -> None:
    samples = draw_samples(PROBLEM, 20_000)
    for row in error_rows(make_plan(TORQUES, Options(bits=bits)), samples):
        assert row.total.max <= row.bound
        assert 0.3 < row.total.rms / row.lsb < 0.7
        assert row.own.rms < row.total.rms
        assert row.lsb == (400, 200)[row.place - 1] / 2**bits


@pytest.mark.check
def test_more_guard_bits_err_less_and_every_joint_keeps_its_terms(tmp_path: Path) -> None:
    samples = draw_samples(PROBLEM, 5000)
    question = Question(bits=(6,), extra=(0, 1, 2))
    rows = report_rows(samples, question, Store((Folder(tmp_path),)))
    assert [(row.extra, row.guard_bits, row.place) for row in rows] == [
        (0, 2, 1), (0, 2, 2), (1, 3, 1), (1, 3, 2), (2, 4, 1), (2, 4, 2),
    ]  # fmt: skip
    first = [row.total.rms for row in rows if row.place == 1]
    assert first == sorted(first, reverse=True)
    assert all(row.products is None for row in rows)


@pytest.mark.check
def test_products_are_counted_once_a_distinct_table(tmp_path: Path) -> None:
    samples = draw_samples(PROBLEM, 100)
    question = Question(bits=(4,), extra=(0,), recipe=Recipe("isop"))
    told: list[str] = []
    rows = report_rows(samples, question, Store((Folder(tmp_path),)), told.append)
    assert told == ["4 bits, m + 0"]
    assert all(row.products and row.literals and row.seconds is not None for row in rows)


@pytest.mark.check
def test_a_table_too_wide_to_minimise_has_an_error_and_a_reason(tmp_path: Path) -> None:
    samples = draw_samples(PROBLEM, 100)
    question = Question(bits=(12,), extra=(0,), recipe=Recipe("isop"), widest=18)
    for row in report_rows(samples, question, Store((Folder(tmp_path),))):
        assert row.total.max > 0
        assert row.products is None
        assert re.search(r"not minimised: T\d+ has \d\d input bits, more than 18", row.note)


def test_a_reason_stands_in_the_rows_of_its_own_torque_alone(tmp_path: Path) -> None:
    plan = make_plan(TORQUES, Options(bits=8))
    widths = {k: max(t.input_bits for t in one.terms) for k, one in enumerate(plan.outputs, 1)}
    assert widths[1] != widths[2]  # else the test says nothing
    question = Question(
        bits=(8,), extra=(0,), recipe=Recipe("isop"), widest=min(widths.values()), evaluations=100
    )
    rows = report_rows(draw_samples(PROBLEM, 100), question, Store((Folder(tmp_path),)))
    for row in rows:
        assert row.products is None
        assert bool(row.note) == (widths[row.place] > question.widest)


@pytest.mark.check
def test_the_legend_of_the_picture_covers_no_curves() -> None:
    samples = draw_samples(PROBLEM, 50)
    plans = {bits: make_plan(TORQUES, Options(bits=bits)) for bits in (4, 5)}
    rows = [
        replace(row, extra=extra, program_luts=100 * bits)
        for bits, plan in plans.items()
        for row in error_rows(plan, samples, evaluations=100)
        for extra in range(5)
    ]
    for some in (rows, [row for row in rows if row.place == 1]):
        figure = errors_figure(some)
        figure.canvas.draw()
        (legend,) = figure.legends
        box = legend.get_window_extent()
        assert len(legend.get_texts()) == 1 + 5 * 5  # sampled, found, proved, rms, nodes
        assert figure.bbox.contains(box.x0, box.y0)
        assert figure.bbox.contains(box.x1, box.y1)
        for panel in figure.axes:
            assert panel.get_legend() is None
            around = panel.get_tightbbox()
            assert around is not None
            assert not around.overlaps(box)


@pytest.mark.slow
def test_text_csv_json_and_page_tell_the_same() -> None:
    samples = draw_samples(PROBLEM, 200)
    rows = error_rows(make_plan(TORQUES, Options(bits=5)), samples)
    rows = (replace(rows[0], products=7, literals=30, note="why & how"), rows[1])
    agreed = {
        "bits", "mode", "joint", "lsb", "max_error", "rms_error", "bound", "products", "luts",
        "seconds", "ns_per_sample",
    }  # fmt: skip
    assert agreed <= set(documents(rows)[0])
    table = list(csv.DictReader(io.StringIO(csv_table(rows))))
    assert [float(row["max_error"]) for row in table] == [row.total.max for row in rows]
    assert len(text_table(rows, 200).splitlines()) == 5
    assert text_table(rows, 200).endswith("sampled on 200 states, not proved; bounds are proved")
    html = figures_table(rows).markup(Pen())
    assert '<td class="words">why &amp; how</td>' in html
    assert html.count("<tr>") == 3
    for row in rows:
        assert f'data-value="{row.total.max!r}">{row.total.max:.4g}<' in html


@pytest.mark.slow
def test_bounds_far_above_what_was_found_are_said_to_be() -> None:
    row, other = error_rows(make_plan(TORQUES, Options(bits=4)), draw_samples(PROBLEM, 200))
    row = replace(row, worst=2.0, evaluations=10, bound=3.98, proved=3.98)
    other = replace(other, worst=1.0, evaluations=10, bound=7.12, proved=7.12)
    assert documents([row])[0]["bound_over_found"] == pytest.approx(1.99)
    assert text_table([row], 200).endswith("not proved; bounds are proved")
    said = "; what is proved is up to 7.1 times the worst found"
    assert text_table([row, other], 200).endswith(said)
    useless = replace(other, bound=float("inf"))
    assert text_table([useless], 200).endswith(f"not proved{said}")
    unknown = replace(other, proved=float("inf")), replace(other, worst=None)
    assert [one["bound_over_found"] for one in documents(unknown)] == [None, None]
    assert "times" not in text_table(unknown, 200)


def test_pictures_are_the_same_bytes_every_time() -> None:
    rows = error_rows(make_plan(TORQUES, Options(bits=5)), draw_samples(PROBLEM, 200))
    for kind, start in (("svg", b"<?xml"), ("png", b"\x89PNG")):
        one = draw_errors(rows, kind)
        assert one == draw_errors(rows, kind)
        assert one.startswith(start)


@pytest.mark.parametrize("splits", [0, 1, 2, 3, 6])
def test_torques_have_no_bias_however_terms_repeat(splits: int) -> None:
    arm = load_robot("machado-2r")
    link = replace(arm.links[0], torque=Interval(-12.0, 12.0))
    pendulum = replace(arm, name="pendulum", links=(link,))
    plan = make_plan(terms_of(pendulum), Options(bits=6, splits=splits, guard_bits=2))
    for row in error_rows(plan, draw_samples(problem_of(pendulum), 200_000, seed=2)):
        assert abs(row.total.mean) < 0.02 * row.lsb


@pytest.mark.check
def test_errors_of_a_sliding_joint_are_in_newtons() -> None:
    robot = load_robot("stanford")
    rows = error_rows(
        make_plan(terms_of(robot), Options(bits=4)), draw_samples(problem_of(robot), 100)
    )
    assert [row.output.unit for row in rows] == ["N·m", "N·m", "N", "N·m", "N·m", "N·m"]
    assert documents(rows)[2]["unit"] == "N"
