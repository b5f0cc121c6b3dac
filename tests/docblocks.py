"""The fenced blocks of the README and the pages of docs/, and the commands in them."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/*.md")])
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(kind: str) -> Iterator[tuple[str, Path, str]]:
    """Yield the text, the page and the name (`README.md-3`) of every block of a kind."""
    for page in PAGES:
        for count, match in enumerate(BLOCK.finditer(page.read_text(encoding="utf-8")), 1):
            if match[1] == kind:
                yield match[3], page, f"{page.name}-{count}"


def files(page: Path) -> dict[str, str]:
    """Return the files that a page shows, by name."""
    text = page.read_text(encoding="utf-8")
    return {match[2]: match[3] for match in BLOCK.finditer(text) if match[2]}


def commands(block: str) -> Iterator[tuple[list[str], str]]:
    """Yield the words of every command of a console block, and what it prints."""
    for example in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, expected = example.partition("\n")
        yield shlex.split(command), expected
