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
# A comment `<!-- setup` before a block holds commands that readers do not see.
BLOCK = re.compile(
    r"(?:^<!-- setup\n(?P<setup>(?:\$ [^\n]*\n)+)-->\n+)?"
    r"^```(?P<kind>\w+)(?: (?P<file>\S+))?\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


def blocks(kind: str) -> Iterator[tuple[str, Path, str]]:
    """Yield the text, the page and the name (`README.md-3`) of every block of a kind.

    The commands of a block's setup come first; their output may be anything.
    """
    for page in PAGES:
        name = page.name if page.parent == ROOT else "-".join(page.relative_to(DOCS).parts)
        for count, match in enumerate(BLOCK.finditer(page.read_text(encoding="utf-8")), 1):
            if match["kind"] == kind:
                setup = (match["setup"] or "").replace("\n", "\n…\n")
                yield setup + match["text"], page, f"{name}-{count}"


def files(page: Path) -> dict[str, str]:
    """Return the files that a page shows, by name."""
    text = page.read_text(encoding="utf-8")
    return {match["file"]: match["text"] for match in BLOCK.finditer(text) if match["file"]}


def commands(block: str) -> Iterator[tuple[list[str], str]]:
    """Yield the words of every command of a console block, and what it prints."""
    for example in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, expected = example.partition("\n")
        yield shlex.split(command, comments=True), expected
