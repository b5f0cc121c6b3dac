"""Pages in a browser: they fit, sort, choose, tell numbers, print, and read without scripts."""

from pathlib import Path

import pytest
from browser import WIDTHS, Window, needs_chromium
from samplepage import BITS, sample_page

from boolcomp.base import page_text

pytestmark = [pytest.mark.check, needs_chromium]


@pytest.fixture(scope="module", name="page")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(page_text(sample_page()), encoding="utf-8")
    return path


@pytest.mark.parametrize("width", WIDTHS)
def test_a_page_fits_its_window_without_a_complaint(window: Window, page: Path, width: int) -> None:
    window.open(page, width)
    window.enliven()
    assert window.overflow() <= 0
    assert window.faults() == []
    assert len(window.find(".live svg")) == 4  # of five, one stands behind a choice


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing_serious(window: Window, page: Path, *, dark: bool) -> None:
    window.open(page, dark=dark)
    window.enliven()
    window.run("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert window.unreachable() == []


def test_axe_finds_what_is_wrong(window: Window, page: Path) -> None:
    window.open(page)
    window.run("document.querySelector('h1').style.color = '#eee'")
    assert any("color-contrast" in fault for fault in window.unreachable())


def test_a_table_sorts_by_click_and_by_key(window: Window, page: Path) -> None:
    window.open(page)
    table = window.find("table")[-1]
    rms = "arguments[0].tHead.rows[0].cells[2]"
    first = "return [...arguments[0].tBodies[0].rows].map(row => row.cells[0].textContent)"
    window.run(f"{rms}.querySelector('button').click()", table)
    assert window.run(f"return {rms}.ariaSort", table) == "ascending"
    there = [str(b) for b in reversed(BITS) if b != 5]
    assert window.run(first, table) == [*there, "5"]  # which has none
    window.run(f"{rms}.querySelector('button').focus()", table)
    window.press("\ue007")  # Enter
    assert window.run(f"return {rms}.ariaSort", table) == "descending"
    assert window.run(first, table)[:2] in (["4", "6"], ["5", "4"])
    window.run("arguments[0].tHead.rows[0].cells[1].querySelector('button').click()", table)
    assert window.run(f"return {rms}.ariaSort", table) == "none"
    assert window.run(first, table)[0] in {"4", "12", "10", "8", "6"}  # compact before paper


def test_columns_explain_themselves_at_pointer_and_focus(window: Window, page: Path) -> None:
    window.open(page)
    head = window.find("th[data-tip] button")[2]
    window.hover(head)
    assert window.find(".tip")[0].text == "the root of the mean square"
    window.press("\ue00c")  # Escape
    assert not window.find(".tip")[0].is_displayed()
    window.run("arguments[0].focus()", window.find("th[data-tip] button")[0])
    assert window.find(".tip")[0].text == "the word length"


def test_what_is_copied_has_all_digits(window: Window, page: Path) -> None:
    window.open(page)
    window.run(
        "window.kept = ''; Object.defineProperty(navigator, 'clipboard', {value: {writeText:"
        " text => { window.kept = text; return Promise.resolve(); }}})"
    )
    window.run("[...document.querySelectorAll('.tools button')].at(-1).click()")
    lines = window.run("return window.kept").splitlines()
    assert lines[0].startswith("bits,mode,rms_lsb,column 0")
    assert lines[2].startswith("5,paper,,5,")
    assert lines[3].startswith(f"6,compact,{1 / 6!r},6,")
    window.run("document.querySelector('code.copied + button, .copied ~ button').click()")
    assert window.run("return window.kept") == "boolcomp report machado-2r"


def test_paper_is_white_shows_what_stands_still_and_unfolds(window: Window, page: Path) -> None:
    window.open(page, dark=True)
    window.enliven()
    window.media("print", dark=True)
    assert window.run("return getComputedStyle(document.documentElement).backgroundColor") == (
        "rgb(255, 255, 255)"
    )
    assert not [live for live in window.find(".live") if live.is_displayed()]
    assert len([still for still in window.find(".still") if still.is_displayed()]) == 4
    assert not [one for one in window.find("button.small, .chooser") if one.is_displayed()]
    window.run("dispatchEvent(new Event('beforeprint'))")
    assert "folded away" in window.run("return document.body.innerText")


def test_without_scripts_everything_can_be_read(window: Window, page: Path) -> None:
    window.scripts(on=False)
    try:
        window.open(page, 360)
        assert len([still for still in window.find(".still") if still.is_displayed()]) == 5
        assert [one.text.split("\n")[0] for one in window.find(".option")][:2] == [
            "bits: 8", "bits: 9",
        ]  # fmt: skip
        assert window.find("td[data-value]")
    finally:
        window.scripts(on=True)
