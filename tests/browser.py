"""A headless Chromium in which tests look at pages: sizes, colours, print, scripts off, axe.

    @needs_chromium
    @pytest.mark.slow
    def test_a_page(window: Window, tmp_path: Path) -> None:   # the fixture is in conftest.py
        window.open(page)
        assert window.faults() == []

One browser serves all tests of a file. What is looked at must be a file: pages need nothing else.
"""

import base64
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from clusters import loopback

WIDTHS = (360, 768, 1280)  # a phone, a tablet, a desk
DRIVER = shutil.which("chromedriver")
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
LACKS = [
    name
    for name, there in (
        ("chromium", CHROMIUM), ("chromedriver", DRIVER), ("selenium", find_spec("selenium")),
        ("selenium-axe-python", find_spec("selenium_axe_python")),
        ("a loopback interface", loopback()),
    )
    if not there
]  # fmt: skip
needs_chromium = pytest.mark.skipif(bool(LACKS), reason=f"not installed: {', '.join(LACKS)}")
SERIOUS = {"serious", "critical"}


@dataclass(frozen=True, slots=True)
class Window:
    """A browser's only window."""

    driver: Any

    def open(self, page: Path, width: int = 1280, *, dark: bool = False) -> None:
        """Open a file in a window of this width, light or dark, with all its charts live."""
        self.size(width)
        self.media("screen", dark=dark)
        self.driver.get(page.resolve().as_uri())

    def size(self, width: int, height: int = 900) -> None:
        """Make the window so large, in pixels of CSS."""
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 500,
        )  # fmt: skip

    def media(self, kind: str = "screen", *, dark: bool = False) -> None:
        """Show the page as on screen or on paper (`print`), light or dark."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.command("Emulation.setEmulatedMedia", media=kind, features=[scheme])

    def scripts(self, *, on: bool) -> None:
        """Switch scripts on or off, for pages that are opened from now on."""
        self.command("Emulation.setScriptExecutionDisabled", value=not on)

    def command(self, name: str, **arguments: Any) -> Any:
        """Run a command of the protocol of Chromium's developer tools."""
        return self.driver.execute_cdp_cmd(name, arguments)

    def run(self, script: str, *arguments: Any) -> Any:
        """Run a script in the page; it gives back what it returns."""
        return self.driver.execute_script(script, *arguments)

    def find(self, selector: str) -> list[Any]:
        """Return the elements that CSS selects."""
        found: list[Any] = self.driver.find_elements("css selector", selector)
        return found

    def hover(self, element: Any) -> None:
        """Point at the middle of an element."""
        from selenium.webdriver import ActionChains

        self.run("arguments[0].scrollIntoView({block:'center',behavior:'instant'})", element)
        ActionChains(self.driver).move_to_element(element).perform()

    def press(self, *keys: str) -> None:
        """Press keys, where the focus is."""
        from selenium.webdriver import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    def wait(self, script: str, seconds: float = 20.0) -> None:
        """Wait until a script returns what is true."""
        from selenium.webdriver.support.ui import WebDriverWait

        WebDriverWait(self.driver, seconds, 0.05).until(
            lambda driver: driver.execute_script(script)
        )

    def enliven(self) -> None:
        """Scroll through the page until every chart that can be seen is live."""
        self.wait(
            "const some = [...document.querySelectorAll('figure.chart')].find(f => !f.dataset.live"
            " && f.checkVisibility()); if (some) some.scrollIntoView({behavior: 'instant'});"
            " else scrollTo({top: 0, behavior: 'instant'}); return !some;"
        )

    def faults(self) -> list[str]:
        """Return what the console complained of since the last call, and what was asked for."""
        said = [f"{line['level']}: {line['message']}" for line in self.driver.get_log("browser")]
        asked = self.run("return performance.getEntriesByType('resource').map(one => one.name)")
        return said + [f"asked for {name}" for name in asked]

    def overflow(self) -> float:
        """Return how many pixels the page is wider than its window."""
        wide = self.run("return document.documentElement.scrollWidth - innerWidth")
        return float(wide)

    def unreachable(self) -> list[str]:
        """Return what axe-core finds that is serious, a line a fault.

        Charts are one picture to who does not see them: what is inside is not looked at.
        """
        import selenium_axe_python

        path = Path(selenium_axe_python.__file__).parent / "axe-core" / "axe.min.js"
        self.driver.execute_script(path.read_text(encoding="utf-8"))
        found = self.driver.execute_async_script(
            "const done = arguments[0]; const of = {exclude: [['figure svg']]};"
            "axe.run(of, {resultTypes: ['violations']}).then(r => done(r.violations))"
        )
        return [
            f"{one['impact']}: {one['id']}: {one['help']}: {one['nodes'][0]['html'][:300]}"
            for one in found
            if one["impact"] in SERIOUS
        ]

    def screenshot(self, path: Path, *, whole: bool = True) -> None:
        """Keep what the window shows as a PNG file."""
        shot = self.command("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))

    def pdf(self, path: Path) -> None:
        """Print the page."""
        printed = self.command("Page.printToPDF", printBackground=False)
        path.write_bytes(base64.b64decode(printed["data"]))


@contextmanager
def chromium(folder: Path) -> Iterator[Window]:
    """Start a browser whose files are in a folder; it ends with the block."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for option in (
        "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        "--no-first-run", "--disable-background-networking", "--hide-scrollbars",
        f"--user-data-dir={folder}",
    ):  # fmt: skip
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(str(DRIVER)))
    try:
        yield Window(driver)
    finally:
        driver.quit()


def specs(page: str) -> list[dict[str, Any]]:
    """Return the specs of a page's charts."""
    parts = page.split('<script type="application/json">')[1:]
    return [json.loads(part.partition("</script>")[0]) for part in parts]
