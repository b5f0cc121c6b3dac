"""The report's page in a browser."""

from pathlib import Path

import pytest
from browser import WIDTHS, Window, needs_chromium

from boolcomp.cli import main

pytestmark = [pytest.mark.check, needs_chromium]


@pytest.fixture(scope="module", name="page")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    few = ("--samples", "2000", "--evaluations", "2000", "--extra", "0")
    with pytest.raises(SystemExit) as exited:
        main(["report", "machado-2r", "--bits", "4,5", *few, "-o", str(folder)])
    assert not exited.value.code
    return folder / "report.html"


@pytest.mark.parametrize("width", WIDTHS)
def test_a_report_fits_its_window_without_a_complaint(
    window: Window, page: Path, width: int
) -> None:
    window.open(page, width)
    window.enliven()
    assert window.overflow() <= 0
    assert window.faults() == []


def test_the_bit_selector_changes_what_is_drawn(window: Window, page: Path) -> None:
    window.open(page)
    window.find("input[value='4']")[0].send_keys(" ")
    window.enliven()
    shown = "return [...document.querySelectorAll('.option[data-name=\"4\"]')].filter("
    assert window.run(f"{shown}o => o.checkVisibility()).length") == 1
    assert window.run("return document.querySelectorAll('.moving[data-live=yes]').length") > 4
    window.find("input[value='paper, m']")[0].send_keys(" ")
    window.enliven()
    assert window.run(f"{shown}o => o.checkVisibility()).length") == 1
    assert window.faults() == []


def test_a_report_can_be_read_by_all(window: Window, page: Path) -> None:
    window.driver.set_script_timeout(110)
    window.open(page, dark=True)
    window.run("document.querySelectorAll('details.section').forEach(one => { one.open = true; })")
    assert window.unreachable() == []
