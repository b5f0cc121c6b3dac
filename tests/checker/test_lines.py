"""How large the checker is, as docs/research/certificates.md says: who trusts it has to read it."""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

from boolcomp import checker

ROOM = Path(str(checker.__file__)).parent
PAGE = ROOM.parent.parent / "docs" / "research" / "certificates.md"
SILENT = {tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT,
          tokenize.ENDMARKER}  # fmt: skip


def lines_of(path: Path) -> int:
    """Return how many lines of a module hold code: no blank ones, comments or docstrings."""
    text, found = path.read_text(), set[int]()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in SILENT:
            found |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            found -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(found)


def test_the_page_says_how_many_lines_the_checker_has() -> None:
    lines = {path.relative_to(ROOM).as_posix(): lines_of(path) for path in ROOM.rglob("*.py")}
    rows = re.findall(r"^\| ([^|:]+): ([^|]+) \| (\d+) \|$", PAGE.read_text(), re.MULTILINE)
    said = {what: int(count) for what, _, count in rows}
    found = {}
    for what, rooms, _ in rows:
        names = re.findall(r"`([\w/.]+)`", rooms)
        rooms_of = re.compile("|".join(f"{name}.*" if name[-1] == "/" else name for name in names))
        here = [one for one in lines if names and rooms_of.fullmatch(one)]
        found[what] = sum(lines.pop(one) for one in (here or list(lines)))
    assert not lines
    assert len(found) >= 4
    assert said == pytest.approx(found, rel=0.03)
