"""The documentation as a site: all pages in it, every link in place, nothing from elsewhere."""

import importlib.util
import re
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import markdown
import pytest

ROOT = Path(__file__).resolve().parent.parent


def site_maker() -> ModuleType:
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
    assert len(list(ROOT.rglob("docs/**/*.md"))) == len(set(placed) - {"CONTRIBUTING", "CHANGELOG"})
    assert set(SITE.pages()) - {"index"} <= set(placed)


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


@pytest.mark.check
def test_the_site_is_made_without_a_warning_and_loads_nothing_from_elsewhere(
    tmp_path: Path,
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of mkdocs' own packages; links are errors by `strict`
        SITE.make(tmp_path / "site")
    made = {path.stem for path in (tmp_path / "site").glob("*.html")}
    assert set(SITE.pages()) <= made
    for path in (tmp_path / "site").glob("*.html"):
        loaded = re.findall(
            r"<(?:script|link|img|iframe)[^>]*(?:src|href)=\"([^\"]+)\"", path.read_text()
        )
        assert [one for one in loaded if "//" in one] == [], path.name
