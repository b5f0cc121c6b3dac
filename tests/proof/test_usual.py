"""The grade of bounds where none is asked for: it follows from counted work alone."""

from __future__ import annotations

import pytest
from shippedarms import built_of

from boolcomp.compact.result import proved as module
from boolcomp.compact.result.explained import explained
from boolcomp.compact.result.proved import proved
from boolcomp.proof.bound import usual
from boolcomp.proof.bound.meaning import Total
from boolcomp.proof.bound.result import BOXES, EFFORT
from boolcomp.proof.bound.usual import USUAL, usual_grade


def test_work_is_that_of_the_boxes_of_all_outputs(monkeypatch: pytest.MonkeyPatch) -> None:
    built = built_of("machado-2r", 4)
    said = explained(built.compact, built.ends)
    assert usual_grade(said) == "tight"
    work = 0
    for result in said.results:
        reached = {result.meaning}
        for place in reversed(range(result.meaning + 1)):  # what a meaning reads comes before it
            one = said.meanings[place]
            if place not in reached:
                continue
            if isinstance(one, Total):
                read = [
                    k for x in one.addends for k in (getattr(x, name, None) for name in
                    ("meaning", "a", "b")) if k is not None
                ]  # fmt: skip
            elif hasattr(one, "items"):
                read = [k for k, _ in one.items]
            else:
                read = [one.source] if hasattr(one, "source") else []
            reached |= set(read)
            work += (1 + len(read)) * USUAL * BOXES
    monkeypatch.setattr(usual, "MOST", work)
    assert usual_grade(said) == "tight"
    monkeypatch.setattr(usual, "MOST", work - 1)
    assert usual_grade(said) == "plain"


@pytest.mark.parametrize(("grade", "effort", "asked"), [
    (None, None, ("tight", USUAL)), (None, 50, ("tight", 50)), ("tight", None, ("tight", EFFORT)),
    ("plain", None, ("plain", EFFORT)), ("tables", 7, ("tables", 7)),
])  # fmt: skip
def test_an_effort_alone_asks_for_a_tight_bound(
    grade: str | None, effort: int | None, asked: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    built, seen = built_of("machado-2r", 4), []

    def bounds_of(_: object, *given: object) -> None:
        seen.append(given[:2])

    monkeypatch.setattr(module, "bounds_of", bounds_of)
    assert proved(built.compact, built.ends, {}, grade, effort) is None  # type: ignore[arg-type]
    assert seen == [asked]


def test_bounds_are_plain_where_cones_move_words(monkeypatch: pytest.MonkeyPatch) -> None:
    built, seen = built_of("machado-2r", 4), []
    monkeypatch.setattr(module, "bounds_of", lambda *given: seen.append(given[1]))
    proved(built.compact, built.ends, {9: (0, 1)}, None, None)
    assert seen == ["plain"]


@pytest.mark.slow
def test_little_effort_is_close_to_much() -> None:
    built = built_of("machado-2r", 5)
    little = proved(built.compact, built.ends, {}, None, None)
    much = proved(built.compact, built.ends, {}, "tight", None)
    assert little is not None
    assert much is not None
    for one, two, worst in zip(little.steps, much.steps, built.worst.most, strict=True):
        assert worst <= two <= one <= 1.01 * two
