"""The documentation as a site: all pages in it, every link in place, nothing from elsewhere."""

import importlib.util
import re
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import markdown
import pytest
from browser import Window, needs_chromium

ROOT = Path(__file__).resolve().parent.parent


def site_maker() -> ModuleType:
    sys.path.append(str(ROOT / "docs"))  # of the gallery
    spec = importlib.util.spec_from_file_location("make_site", ROOT / "docs" / "make_site.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SITE: Any = site_maker()


def test_every_page_has_a_place_in_the_site() -> None:
    placed = [name for section in SITE.NAVIGATION.values() for name in section]
    assert len(set(placed)) == len(placed)
    manual = {path for path in ROOT.rglob("docs/**/*.md") if path.parent != SITE.LANDING}
    assert len(manual) == len(set(placed) - {"CONTRIBUTING", "CHANGELOG"})
    assert set(SITE.pages()) - set(SITE.FIRST) <= set(placed)


def test_links_between_pages_and_to_files_are_those_of_the_site(tmp_path: Path) -> None:
    text = "[a](docs/research/proofs.md#how) [b](#here) [c](LICENSE) ![d](docs/pictures/errors.svg)"
    made = SITE.moved(text, ROOT / "README.md", tmp_path)
    assert (
        made
        == "[a](research-proofs.md#how) [b](#here) [c](files/LICENSE.txt) ![d](pictures/errors.svg)"
    )
    assert (tmp_path / "files/LICENSE.txt").read_text() == (ROOT / "LICENSE").read_text()
    assert (tmp_path / "pictures/errors.svg").is_file()


def test_a_link_to_nothing_ends_the_build_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"README.md: nothing is at docs/missing.md"):
        SITE.moved("[a](docs/missing.md)", ROOT / "README.md", tmp_path)


def test_a_fence_that_names_a_file_is_a_block_with_that_title(tmp_path: Path) -> None:
    text = "Here:\n\n```toml park.toml\na = 1\n```\n\nthen\n\n```console\n$ boolcomp\n```\n"
    kinds = SITE.configuration(tmp_path, tmp_path)["markdown_extensions"]
    html = markdown.markdown(
        SITE.moved(text, ROOT / "README.md", tmp_path),
        extensions=[one for one in kinds if isinstance(one, str)],
    )
    assert ("```" not in html, html.count("<pre"), "<p>then</p>" in html) == (True, 2, True)
    assert re.search(r'class="filename">park.toml<', html)


@pytest.mark.filterwarnings("ignore")
def test_a_code_fence_in_a_finished_page_ends_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.md"
    page.write_text("```toml park.toml\nx = 1\n\ny = 2\n```\n")
    monkeypatch.setattr(SITE, "pages", lambda: {"index": page})
    monkeypatch.setattr(SITE, "FIRST", {"index": "page"})
    monkeypatch.setattr(SITE.gallery, "make", lambda _: "")
    monkeypatch.setattr(SITE, "NAVIGATION", {})
    monkeypatch.setattr(SITE, "ROOT", tmp_path)
    settings = SITE.configuration(tmp_path, tmp_path)
    settings["markdown_extensions"] = []
    monkeypatch.setattr(
        SITE,
        "configuration",
        lambda source, target: {**settings, "docs_dir": str(source), "site_dir": str(target)},
    )
    with pytest.raises(SystemExit, match=r"left in index.html"):
        SITE.make(tmp_path / "site")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("made") / "site"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of mkdocs' own packages; links are errors by `strict`
        SITE.make(made)
    return made


@pytest.mark.check
def test_the_site_is_made_without_a_warning_and_loads_nothing_from_elsewhere(site: Path) -> None:
    made = {path.stem for path in site.glob("*.html")}
    assert set(SITE.pages()) <= made
    for path in site.glob("*.html"):
        text = path.read_text()
        loaded = re.findall(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=\"([^\"]+)\"", text)
        assert [one for one in loaded if "//" in one] == [], path.name


@pytest.mark.check
def test_files_of_the_gallery_are_there(site: Path) -> None:
    text = (site / "gallery.html").read_text()
    names = re.findall(r'(?:href|src)="((?:demo|downloads)/[^"]+)"', text)
    assert text.count("<article>") == 6
    assert all((site / name).is_file() for name in names)
    assert {name.rpartition(".")[2] for name in names} == {"html", "v", "blif", "txt", "pla", "png"}


@needs_chromium
@pytest.mark.check
@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("dark", [False, True])
def test_pages_fit_a_phone_and_axe_finds_nothing_serious(
    window: Window, site: Path, width: int, *, dark: bool
) -> None:
    names = ("index", "gallery", "overview", "reference-results", "explanation-errors-and-bounds")
    for name in names:
        window.open(site / f"{name}.html", width, dark=dark)
        if name == names[0]:  # a page remembers the scheme of its first visit
            window.run("localStorage.clear()")
            window.driver.refresh()
        assert (window.overflow(), window.unreachable()) == (0, []), name
