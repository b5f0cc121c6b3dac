"""Make the documentation a small site, in out/site: `python docs/make_site.py [FOLDER]`.

docs/site/index.md is its first page, the README its overview; gallery.py makes its programs. The
pages of docs/ and its folders are copied to one folder, together with the files that they link. A
broken link or anchor ends the build. The site loads nothing from other hosts; its search needs a
server (`python -m http.server`).
"""

from __future__ import annotations

import argparse
import logging
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import gallery

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
LANDING = DOCS / "site"  # pages of the site alone
FOCUSABLE = '<pre tabindex="0"><span></span><code>'
CARDS = "<!-- cards -->"
FILES = "files"  # where linked files lie that are no pages


def _sorted(folder: str, pattern: str = "*.md") -> tuple[str, ...]:
    """Return the names of the pages in a folder, README first."""
    found = sorted(DOCS.glob(f"{folder}/{pattern}"))
    found.sort(key=lambda path: path.stem != "README")
    return tuple("-".join(path.relative_to(DOCS).with_suffix("").parts) for path in found)


# Tutorials and how-tos in the order in which readers mostly need them; the rest is sorted by name.
NAVIGATION: dict[str, tuple[str, ...]] = {
    "Tutorials": tuple(
        f"tutorials-{name}"
        for name in ("first-program", "your-own-robot", "to-an-fpga", "truth-tables-in-class")
    ),
    "How to": tuple(
        f"how-to-{name}"
        for name in (
            "choose-word-lengths", "guarantee-an-error", "compile-your-own-function",
            "other-robot-functions", "export-and-verify", "microcontroller", "large-files",
            "sweeps-and-clusters", "payload-libraries", "minimise-pla-files",
        )
    ),
    "Reference": _sorted("reference"),
    "Explanation": _sorted("explanation"),
    "Contributing": (
        "CONTRIBUTING", "contributing-architecture", "contributing-where-to-change",
        "contributing-messages", "contributing-release", "contributing-decisions-README",
        "CHANGELOG",
    ),
    "Representations": tuple(
        f"contributing-representations-{name}"
        for name in ("README", "expr", "sketch", "word-graph", "int-ops", "network", "cubes")
    ),
    "Decisions": _sorted("contributing/decisions", "0*.md"),
    "Research notes": _sorted("research"),
}  # fmt: skip
FIRST = {"index": "Start", "overview": "Overview", "gallery": "Gallery"}
FOLDED = ("Research notes", "Decisions", "Representations")  # not part of the manual
_LINK = re.compile(r"(?<=\]\()(?!https?:|#|mailto:)([^)\s#]+)")
_CODE = re.compile(r"<code.*?</code>", re.DOTALL)
_NAMED_FENCE = re.compile(r"^([ ]*```\w+) (\S+)$", re.MULTILINE)  # as in ```toml park.toml


def pages() -> dict[str, Path]:
    """Return the pages by their names in the site, and where their texts are."""
    found = {"index": LANDING / "index.md", "gallery": LANDING / "gallery.md"}
    found |= {"overview": ROOT / "README.md"}
    found |= {name: ROOT / f"{name}.md" for name in ("CHANGELOG", "CONTRIBUTING")}
    names = {path: path.relative_to(DOCS).with_suffix("") for path in sorted(DOCS.rglob("*.md"))}
    return found | {
        "-".join(name.parts): path for path, name in names.items() if LANDING not in path.parents
    }


def moved(text: str, page: Path, folder: Path) -> str:
    """Return a page's text as the site has it: its links, and file names as titles of blocks.

    Files that links name are copied.
    """
    known = {path: f"{name}.md" for name, path in pages().items()}

    def link(match: re.Match[str]) -> str:
        target = (page.parent / match[1]).resolve()
        if target in known:
            return known[target]
        if not target.is_file():
            raise SystemExit(f"{page.relative_to(ROOT)}: nothing is at {match[1]}")
        place = target.relative_to(DOCS) if target.is_relative_to(DOCS) else FILES / _flat(target)
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(target, folder / place)
        return place.as_posix()

    return _NAMED_FENCE.sub(r'\1 title="\2"', _LINK.sub(link, text))


def _flat(target: Path) -> Path:
    """Return a name for a file from elsewhere in the project: a browser shows it as text."""
    name = target.relative_to(ROOT).as_posix().replace("/", "-")
    return Path(name if target.suffix in {".svg", ".png"} else f"{name}.txt")


def configuration(source: Path, target: Path) -> dict[str, Any]:
    """Return what mkdocs is told; every page has its place."""
    names = set(pages()) - set(FIRST)
    placed = {name for section in NAVIGATION.values() for name in section}
    if names - placed:
        raise SystemExit(f"no place in the site for {', '.join(sorted(names - placed))}")
    navigation: list[dict[str, Any]] = [{name: f"{page}.md"} for page, name in FIRST.items()]
    sections = {
        title: [f"{name}.md" for name in section if name in names]
        for title, section in NAVIGATION.items()
    }
    navigation += [{title: section} for title, section in sections.items() if title not in FOLDED]
    navigation.append({"More": [{title: sections[title]} for title in FOLDED if title in sections]})
    return {
        "site_name": "boolcomp",
        "docs_dir": str(source),
        "site_dir": str(target),
        "use_directory_urls": False,
        "nav": navigation,
        "theme": {
            "name": "material",
            "font": False,
            "features": ["navigation.sections", "content.code.copy", "toc.follow"],
            "palette": [
                {"media": "(prefers-color-scheme: light)", "scheme": "default",
                 "toggle": {"icon": "material/weather-night", "name": "dark"}},
                {"media": "(prefers-color-scheme: dark)", "scheme": "slate",
                 "toggle": {"icon": "material/weather-sunny", "name": "light"}},
            ],
        },
        "plugins": ["material/search"],
        "extra": {"generator": False},
        "extra_css": ["site.css"],
        "extra_javascript": ["site.js"],
        "markdown_extensions": [
            "md_in_html", "tables", "pymdownx.highlight", "pymdownx.superfences",
            {"toc": {"permalink": True}},
        ],
        "validation": {
            "nav": {"omitted_files": "warn", "not_found": "warn"},
            "links": {"not_found": "warn", "anchors": "warn", "unrecognized_links": "warn"},
        },
    }  # fmt: skip


def make(target: Path) -> None:
    """Build the site; a warning of mkdocs, or a code fence in a finished page, ends it."""
    from mkdocs.commands.build import build  # noqa: PLC0415 (an extra)
    from mkdocs.config import load_config  # noqa: PLC0415 (likewise)

    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "pages"
        source.mkdir()
        for name in ("site.css", "site.js"):
            shutil.copyfile(LANDING / name, source / name)
        cards = gallery.make(source)
        for name, path in pages().items():
            text = moved(path.read_text("utf-8"), path, source).replace(CARDS, cards)
            (source / f"{name}.md").write_text(text, "utf-8")
        settings = configuration(source, target.resolve())
        build(load_config(config_file=_empty(Path(folder)), strict=True, **settings))
    (target / "404.html").unlink()  # of servers that have a site for errors
    texts = {one.name: one.read_text("utf-8") for one in sorted(target.glob("*.html"))}
    for name, text in texts.items():  # blocks that scroll are reached by the keyboard
        (target / name).write_text(text.replace("<pre><span></span><code>", FOCUSABLE), "utf-8")
    if broken := [name for name, text in texts.items() if "```" in _CODE.sub("", text)]:
        raise SystemExit(f"a code fence is left in {', '.join(broken)}")


def _empty(folder: Path) -> str:
    """Return a configuration file that says nothing: mkdocs reads one whatever it is told."""
    path = folder / "mkdocs.yml"
    path.write_text("site_name: boolcomp\n")
    return str(path)


def main() -> None:
    """Build where the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "out" / "site")
    folder = parser.parse_args().folder
    logging.basicConfig(level=logging.WARNING, format="%(message)s")  # of broken links
    try:
        make(folder)
    except ImportError as error:
        sys.exit(f"{error.name} is missing: pip install -e '.[docs]'")
    print(f"the site is in {folder}: open {folder / 'index.html'}")


if __name__ == "__main__":
    main()
