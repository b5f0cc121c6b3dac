"""The report's page: what it says first, and that its pictures are what was measured."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from samples import problem_of, terms_of

from boolcomp.base.errors import DataError, UsageError
from boolcomp.base.pages import Fact, Pen
from boolcomp.base.store import user_cache
from boolcomp.measure import report as kept
from boolcomp.measure.report import Surveyor, draw_samples, error_rows
from boolcomp.measure.report_page import (
    PageFacts,
    ReportFolder,
    read_beside,
    report_page,
    shown_rows,
)
from boolcomp.paper.plan import PlanOptions, make_plan
from boolcomp.paper.tables import quantised
from boolcomp.problem.robot.library import load_robot

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from boolcomp.measure.report import Pictured

ROBOT = load_robot("machado-2r")
TERMS = terms_of(ROBOT)
PROBLEM = problem_of(ROBOT)
SAMPLES = draw_samples(PROBLEM, 3000)
ASKED = PageFacts("2r <&>", (Fact("command", "boolcomp report"),), 3000, 0)


def measured(bits: int, pictured: Pictured) -> None:
    plan = make_plan(TERMS, PlanOptions(bits=bits))
    seen: list[NDArray[np.float64]] = []
    rows = error_rows(plan, SAMPLES, seen=seen.append)
    rows = tuple(replace(row, program_luts=100 * 3**bits) for row in rows)

    def logic(*arrays: NDArray[np.float64]) -> NDArray[np.float64]:
        return quantised(plan, arrays).values

    pictured.add(rows, pictured.surveyor.look(bits, "paper, m", seen[0], logic))


@pytest.fixture(scope="module", name="pictured")
def two_word_lengths() -> Pictured:
    from boolcomp.measure.report import Pictured

    made = Pictured(Surveyor(SAMPLES))
    for bits in (4, 5):
        measured(bits, made)
    return made


def test_errors_that_are_seen_are_those_that_rows_sum_up(pictured: Pictured) -> None:
    seen: list[NDArray[np.float64]] = []
    rows = error_rows(make_plan(TERMS, PlanOptions(bits=4)), SAMPLES, seen=seen.append)
    for row, column in zip(rows, seen[0].T, strict=True):
        assert np.abs(column).max() * row.lsb == pytest.approx(row.total.max)
    look = pictured.looks[0]
    assert look.shares.sum(axis=1) == pytest.approx([1.0, 1.0])


def test_the_inputs_of_the_map_are_those_that_were_named() -> None:
    assert Surveyor(SAMPLES, "q1, qdd2").across == ("q1", "qdd2")
    with pytest.raises(
        UsageError, match="unknown input 'q3'; inputs are q1, q2, qd1, qd2, qdd1, qdd2"
    ):
        Surveyor(SAMPLES, "q1,q3")
    for wrong in ("q1", "q1,q1", "q1,q2,qd1"):
        with pytest.raises(UsageError, match="does not name two inputs; use q1,q2"):
            Surveyor(SAMPLES, wrong)


@pytest.mark.slow
def test_a_page_says_first_what_was_asked_what_came_out_and_what_it_means(
    pictured: Pictured,
) -> None:
    text = report_page(ASKED, pictured)
    heads = ["What was asked", "What came out", "What it means", "Errors versus bits"]
    places = [text.index(f">{head}<") for head in heads]
    assert places == sorted(places)
    assert "2r &lt;&amp;&gt;" in text
    row = shown_rows(pictured.rows)[0]
    assert f"{row.program_luts}" in text
    assert "for all inputs within their ranges" in text
    assert text == report_page(ASKED, pictured)


@pytest.mark.check
def test_what_is_done_lies_in_the_folder_when_a_report_is_interrupted(tmp_path: Path) -> None:
    written = ReportFolder(tmp_path, ASKED)
    with contextlib.suppress(KeyboardInterrupt), written.of(SAMPLES, None, (4, 5, 6)) as pictured:
        measured(4, pictured)
        measured(5, pictured)  # too soon after to be written
        raise KeyboardInterrupt
    text = (tmp_path / "report.html").read_text()
    assert "interrupted, or is not finished yet. Not started: 6 bits." in text
    assert {row["bits"] for row in json.loads((tmp_path / "report.json").read_text())["rows"]} == {
        4
    }
    with written.of(SAMPLES, None, (4,)) as pictured:
        measured(4, pictured)
    assert "interrupted" not in (tmp_path / "report.html").read_text()
    assert (tmp_path / "errors.png").exists()


def test_the_worst_of_a_plan_is_sought_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    plan = make_plan(TERMS, PlanOptions(bits=4))
    first = kept.worst_of_plan(plan, 4_000)
    monkeypatch.setattr(kept, "find_worst", lambda *_, **__: pytest.fail("sought again"))
    again = kept.worst_of_plan(plan, 4_000)
    assert np.array_equal(first.errors, again.errors)
    assert first.evaluations == again.evaluations
    other = make_plan(TERMS, PlanOptions(bits=5))
    with pytest.raises(pytest.fail.Exception):
        kept.worst_of_plan(other, 4_000)
    with pytest.raises(pytest.fail.Exception):
        kept.worst_of_plan(plan, 4_001)


@pytest.mark.slow
def test_a_worst_that_the_plan_does_not_have_is_sought_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from boolcomp.base.store import sealed, unsealed

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    plan = make_plan(TERMS, PlanOptions(bits=4))
    first = kept.worst_of_plan(plan, 4_000)
    (path,) = user_cache(kept.FOLDER).iterdir()
    found = json.loads(unsealed(path.read_text()))
    more: list[dict[str, object]] = [
        {**found, "errors": (2 * first.errors).tolist()},
        {**found, "errors": found["errors"][:1]},
        {"errors": []},
    ]
    bodies = [*map(json.dumps, more), "[" * 100_000, '{"errors": 1e999, "states": 1}']
    for body in bodies:
        path.write_text(sealed(body))
        assert np.array_equal(kept.worst_of_plan(plan, 4_000).errors, first.errors)


BENCH = {
    "program": "p", "bits": 8, "machine": {"processor": "a <chip>"},
    "rows": [
        {
            "rival": "closed form", "kind": "float32", "batch": 512, "cores": 1,
            "ns_per_sample": 8.25, "ratio": 2.5, "rms_error": 0.3, "wrong": False, "logic": False,
        },
    ],
}  # fmt: skip
AREA = {
    "rows": [
        {
            "target": "ice40", "design": "luts", "luts": 514, "carries": 0, "dsp": 0, "bram": 0,
            "ff": 0, "levels": 20, "fmax_mhz": None, "note": "",
        },
    ],
}  # fmt: skip
CODES = [{"term": "T11", "bits": 5, "code": "gray", "inputs": 9, "gray mid-rise": 12}]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("document", "title", "figure"),
    [(BENCH, "Comparison with rivals: p, 8 bits", "8.25"), (AREA, "FPGA cells", "514"),
     (CODES, "Codes of words", "12")],
    ids=["bench", "area", "codes"],
)  # fmt: skip
def test_what_others_measured_is_shown_beside(
    tmp_path: Path, document: object, title: str, figure: str
) -> None:
    path = tmp_path / "found.json"
    path.write_text(json.dumps(document))
    (section,) = read_beside([path])
    assert section.title == title
    text = "".join(part.markup(Pen()) for part in section.parts)
    assert figure in text
    assert "<chip>" not in text


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"rows": 3}', '{"rows": [[1]]}', "[[[["])
def test_files_of_something_else_are_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "found.json"
    path.write_text(content)
    with pytest.raises(DataError, match=r"found\.json"):
        read_beside([path])
