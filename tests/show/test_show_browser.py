"""Pages of programs in a browser: they play, are pulled, tell of words, and are read anywhere."""

from pathlib import Path

import pytest
from browser import WIDTHS, Window, needs_chromium
from exports import kept
from showpages import MAJORITY, READY, poisoned, subject_of

import boolcomp
from boolcomp.measure import program_page, table_page
from boolcomp.twolevel import parse

pytestmark = [pytest.mark.check, needs_chromium]


@pytest.fixture(scope="module", name="folder")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the pages that are looked at."""
    folder = tmp_path_factory.mktemp("show")
    arm = boolcomp.compile("machado-2r", bits=8, mode="compact")
    for name, page in {
        "compact": program_page(subject_of(arm, "machado-2r")),
        "puma": program_page(
            subject_of(boolcomp.compile("puma560", bits=8, mode="compact"), "puma560")
        ),
        "paper": program_page(subject_of(kept("format-2-paper"), "machado-2r")),
        "function": program_page(subject_of(kept("export-pid"), "examples/functions/pid.toml")),
        "evil": program_page(subject_of(poisoned("export-pid"))),
        "evilpaper": program_page(subject_of(poisoned("format-2-paper"))),
        "table": table_page("majority.pla", parse(MAJORITY)),
    }.items():
        (folder / f"{name}.html").write_text(page, encoding="utf-8")
    return folder


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["compact", "puma", "paper", "function", "table"])
def test_a_page_fits_its_window_and_the_console_is_quiet(
    window: Window, folder: Path, name: str, width: int
) -> None:
    window.open(folder / f"{name}.html", width)
    window.wait(READY)
    assert window.overflow() <= 0
    assert window.faults() == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", ["compact", "paper", "table"])
def test_axe_finds_nothing_serious(window: Window, folder: Path, name: str, *, dark: bool) -> None:
    window.open(folder / f"{name}.html", dark=dark)
    window.wait(READY)
    opened = "details.section, #term0, #term0 > details"  # the rest is like them
    window.run(f"document.querySelectorAll('{opened}').forEach(one => {{ one.open = true; }})")
    assert window.unreachable() == []


@pytest.mark.parametrize("name", ["evil", "evilpaper"])
def test_nothing_that_a_program_says_runs(window: Window, folder: Path, name: str) -> None:
    window.open(folder / f"{name}.html")
    window.wait(READY)
    assert window.faults() == []
    assert (
        window.run("return [...document.images].filter(one => !one.src.startsWith('data:'))") == []
    )
    for word in window.find("g.word")[:3]:
        window.run("arguments[0].dispatchEvent(new Event('click'))", word)
    assert window.find("img[onerror]") == []


def test_a_trajectory_plays_and_stops(window: Window, folder: Path) -> None:
    window.open(folder / "compact.html")
    window.wait(READY)
    (button,) = window.find("#play")
    button.click()
    assert button.text == "Pause"
    window.wait("return Number(document.getElementById('time').value) > 0.01")
    button.click()
    assert button.text == "Play"
    stood = window.run("return document.getElementById('time').value")
    word = window.run("return document.querySelector('[data-cell=word]').textContent")
    assert len(word) == 8
    assert window.run("return document.getElementById('agree').textContent") == "equal"
    assert window.run("return document.getElementById('time').value") == stood


def test_an_arm_is_pulled_by_its_tip(window: Window, folder: Path) -> None:
    from selenium.webdriver import ActionChains

    window.open(folder / "compact.html")
    window.wait(READY)
    (tip,) = window.find(".grip.end")
    place = (
        "return [arguments[0].getBoundingClientRect().x, arguments[0].getBoundingClientRect().y]"
    )
    x, y = window.run(place, tip)
    ActionChains(window.driver).drag_and_drop_by_offset(tip, -40, 30).perform()
    u, v = window.run(place, tip)
    assert abs(u - x + 40) < 3
    assert abs(v - y - 30) < 3


def test_a_word_says_what_it_is_and_a_click_shows_its_logic(window: Window, folder: Path) -> None:
    window.open(folder / "compact.html")
    window.wait(READY)
    table = window.find("g.word.table")[0]
    window.hover(table)
    name = str(table.get_attribute("aria-label")).split(", ")[0]
    assert window.find("#word-panel h3")[0].text == name
    assert "LSB" in window.find("#word-panel")[0].text
    assert len(window.find("#word-panel .table-curve polyline")) == 1
    total = window.find("g.word.sum, g.word.torque")[-1]
    window.run("arguments[0].dispatchEvent(new Event('click'))", total)
    assert "heap" in window.find("#word-panel pre")[0].text
    assert len(window.find("#word-panel .heap circle")) > 10
    window.run("arguments[0].focus()", table)
    assert window.find("#word-panel h3")[0].text != name  # one that was clicked stays


def test_without_scripts_the_page_is_read(window: Window, folder: Path) -> None:
    window.scripts(on=False)
    try:
        window.open(folder / "paper.html")
        assert not window.find(".play")[0].is_displayed()
        seen = window.find("#arm-picture polyline.link")[-1].rect
        assert seen["width"] + seen["height"] > 50
        assert window.find(".maps img, .maps svg")[0].is_displayed()
        assert not window.find(".map-view")[0].is_displayed()
    finally:
        window.scripts(on=True)
