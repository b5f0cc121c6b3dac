"""The fenced blocks of the README and the pages of docs/, and the commands in them."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md",
    *sorted(one for one in DOCS.rglob("*.md") if DOCS / "contributing" not in one.parents),
]
# Comments before a block: `<!-- setup` holds commands that readers do not see, `<!-- needs:` tools.
BLOCK = re.compile(
    r"(?:^<!-- setup\n(?P<setup>(?:\$ [^\n]*\n)+)-->\n+)?"
    r"(?:^<!-- needs: (?P<needs>[^\n]*) -->\n+)?"
    r"^```(?P<kind>\w+)(?: (?P<file>\S+))?\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


def blocks(kind: str) -> Iterator[tuple[str, Path, str]]:
    """Yield the text, the page and the name (`README.md-3`) of every block of a kind.

    The commands of a block's setup come first; their output may be anything.
    """
    for page in PAGES:
        name = page.name if page.parent == ROOT else "-".join(page.relative_to(DOCS).parts)
        for count, match in enumerate(_matches(page), 1):
            if match["kind"] == kind:
                yield _whole(match), page, f"{name}-{count}"


def files(page: Path) -> dict[str, str]:
    """Return the files that a page shows, and the page of its `<!-- files: …`, by name."""
    text = page.read_text(encoding="utf-8")
    more = re.search(r"^<!-- files: (\S+) -->$", text, re.MULTILINE)
    found = files(page.parent / more[1]) if more else {}
    return found | {match["file"]: match["text"] for match in _matches(page) if match["file"]}


def needs(page: Path) -> dict[str, list[str]]:
    """Return the tools that blocks of a page need, by the texts that `blocks` yields."""
    return {_whole(m): m["needs"].split() for m in _matches(page) if m["needs"]}


def _matches(page: Path) -> list[re.Match[str]]:
    return list(BLOCK.finditer(page.read_text(encoding="utf-8")))


def _whole(match: re.Match[str]) -> str:
    return (match["setup"] or "").replace("\n", "\n…\n") + match["text"]


def commands(block: str) -> Iterator[tuple[list[str], str]]:
    """Yield the words of every command of a console block, and what it prints."""
    for example in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, expected = example.partition("\n")
        yield shlex.split(command, comments=True), expected
