"""The page of a sweep's results: fronts, figures, failures."""

import pytest
import sweepcells
from browser import specs

from boolcomp.scale import Failure, Spec, SweepState, page, parse_spec

pytest.importorskip("vl_convert", reason="charts need vl-convert-python")


@pytest.fixture(name="swept", scope="module")
def some_results() -> tuple[Spec, SweepState]:
    """Return a sweep of two robots; one cell failed, of one nothing is proved."""
    spec = parse_spec({
        "name": "two arms", "robots": ["machado-2r", "puma560"], "functions": "gravity",
        "bits": [4, 6, 8], "payloads": [0, 1], "effort": 0,
    })  # fmt: skip
    state = SweepState()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweepcells, "PAUSE", 0)
        for place, cell in enumerate(spec.cells):
            result = sweepcells.quick(cell, []).result
            result["nodes"] += int(100 * sum(cell.payloads))
            state.done[place] = result
    del state.done[3]
    state.failed[3] = Failure("no such <logic>", lost=False)
    state.done[0]["outputs"][0]["bound"] = None
    return spec, state


@pytest.mark.slow
def test_charts_hold_the_numbers_of_the_cells(swept: tuple[Spec, SweepState]) -> None:
    spec, state = swept
    nodes, errors, _, _, bounds, rms, *_ = specs(page(spec, state))  # of two robots each
    points = {(row["bits"], row["series"], row["nodes"]) for row in nodes["data"]["values"]}
    assert (6, "1 kg, luts", 160) not in points  # it failed
    assert points == {
        (4, "0 kg, luts", 40), (4, "1 kg, luts", 140), (6, "0 kg, luts", 60),
        (8, "0 kg, luts", 80), (8, "1 kg, luts", 180),
    }  # fmt: skip
    proved = {row["error"] for row in errors["data"]["values"] if row["kind"] == "bound"}
    assert proved == {2 / 4, round(2 / 6, 5), 2 / 8}  # 1 / bits, in LSB of a half
    assert len(bounds["data"]["values"]) == 4  # nothing is proved of one
    on_front = {row["nodes"]: row["front"] for row in rms["data"]["values"]}
    assert on_front == {40: 1, 60: 1, 80: 1, 140: 0, 180: 0}  # more bits: a smaller part of range


@pytest.mark.slow
def test_failures_stand_with_their_sentence_and_nothing_is_left_unescaped(
    swept: tuple[Spec, SweepState],
) -> None:
    text = page(*swept)
    assert "Failures: 1" in text
    assert "no such &lt;logic&gt;" in text
    assert "no such <logic>" not in text
    assert "11 of 12" in text


def test_a_sweep_without_a_result_is_a_page_too(swept: tuple[Spec, SweepState]) -> None:
    spec, state = swept
    text = page(spec, SweepState(failed=state.failed))
    assert "0 of 12" in text
    assert not specs(text)
