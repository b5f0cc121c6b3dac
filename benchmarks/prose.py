"""Check the English of docstrings, comments, help texts, error messages and pages: in `make lint`.

    python benchmarks/prose.py            fails where a room has more hits than its allowance
    python benchmarks/prose.py PATH …     prints every hit in these files or folders
    python benchmarks/prose.py --count    prints the hits of each room by rule
    python benchmarks/prose.py --accept   lowers allowances in pyproject.toml to today's counts

A room is a folder of the package, a page, or another folder with Python files. An allowance in
`[tool.boolcomp.prose]` may only fall; a room without one has 0. Source text is searched by regular
expressions, which take a fifth of the time of a parser. Line length in code is left to ruff (E501).
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

ROOT = Path(__file__).resolve().parents[1]
PLACES = (
    "boolcomp", "benchmarks", "docs", "examples", "tests", "README.md", "CONTRIBUTING.md",
)  # fmt: skip
MOST_WORDS = 30
LONG, PATHS = "long sentence", "path of a module (belongs in docs/contributing or docs/research)"
PATHS_ALLOWED = ("docs/contributing", "docs/research", "CONTRIBUTING.md")
AGENTS = (
    "program|file|table|graph|compiler|checker|word|logic|module|function|certificate|network|"
    "bound|store|package|engine|room|pass|command|option|key|term|node|page|report|text|problem|"
    "line|name|comment|robot|plan|cover|solver|search"
)
# Name, pattern, advice. A space stands for any white space, `^` for the start of a sentence.
RULES = (
    ("free relative as subject", r"^(?:What|Who|Whoever|Those (?:that|who)|Whatever) [^?]*$",
     "begin with the noun"),
    ("relative clause without antecedent",
     (r"\b(?:[Rr]eturn|[Yy]ield|[Ss]ay|[Ss]ee|[Tt]ell|[Kk]now|[Rr]efuse|[Dd]rop|[Kk]eep|[Tt]ake)"
      r" (?:what|those|whatever|who)\b|\b(?:of|by|from|than|with|and|or|all|only|to|as|that) what "
      r"(?:is|are|was|were|has|have|it|they|its|cannot|may|must)\b|\bthat of which\b|\bonly who\b|"
      r"\bwhat (?:is|are|was|were) \w+(?:ed|ne|id|en|pt|ad|ld)\b"),
     "name the thing"),
    ("opening with Of", r"^Of (?!course\b)[^?]*$", "put the scope last, in brackets"),
    ("nobody, anybody", r"\b(?:[Nn]o|[Aa]ny|[Ee]very|[Ss]ome)body\b", "name the agent"),
    ("errs", r"\berrs\b|\berr(?:ed)? (?:by|more|less|at)\b", "has an error of"),
    ("asked, wanted", r"\basked (?:for|of)\b|\b(?:is|are|was|were|as|be) (?:asked|wanted)\b",
     "requested, specified"),
    ("of today, of before", r"\bof (?:today|before)\b|\bgo(?:es)? before\b", "takes precedence"),
    ("beside", r"\bbeside\b", "compared with, next to"),
    ("personification", (rf"\b(?:{AGENTS})s? (?:promise|believe|say|trust|know|want|hear|tell|"
     r"think|speak|ask|care)s?\b"), "states, contains, requires"),
    ("said, told", (r"\b(?:is|are|was|were|be|been|as|nothing|all) (?:said|told|heard|"
     r"believed)\b(?! apart)"), "stated, specified, printed"),
    ("stands", r"\bstands? (?:in|on|at|there|still|outside|alone|above|below|once|first|last)\b",
     "is in, is listed"),
    ("so many", r"\b(?:after|of|in|by|with|on|to) so (?:many|much)\b", "give the number"),
    ("glossary: payload", r"\btip loads?\b", "payload"),
    ("glossary: guarantee", r"\bpromise[sd]?\b", "guaranteed error, accuracy target"),
    ("glossary: largest error found", r"\bworst found\b", "largest error found"),
    ("glossary: LUT3", r"\bnodes? of at most three inputs\b", "LUT3"),
)  # fmt: skip
COMPILED = [(name, re.compile(words.replace(" ", r"\s+")), so) for name, words, so in RULES]

TRIPLE = re.compile(r'(?P<before>^[ ]*|\S[ ]*)r?"""(?P<text>.*?)"""', re.DOTALL | re.MULTILINE)
COMMENTS = re.compile(r"(?:^[ ]*#(?!!).*\n)+|(?<=\S)  # .*$", re.MULTILINE)
SPOKEN = re.compile(r"\b(?:help|epilog|short_help)=\(?|\b\w+Error\(")
STRING = re.compile(r"""\s*([fr]{0,2})("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')""")
PATH = re.compile(
    r"(?<![\w/])(?!(?:benchmarks|docs|examples|tests)/)(?:\w+/)+\w+\.py\b|\bboolcomp(?:\.\w+){2,}"
)
CODE = re.compile(r"``[^`]+``|`[^`]+`|\[([^]]*)\]\([^)]*\)|<[^>\n]+>|\$\$?[^$\n]+\$")
MARKS = re.compile(r"-{9,}|#(?: noqa(?:: [A-Z]+\d+(?:, [A-Z]+\d+)*)?| fmt: .*| type: .*)?")
FENCE = re.compile(r"^([ ]*)(```|~~~).*?^\1\2[ ]*$", re.DOTALL | re.MULTILINE)
SENTENCE_END = re.compile(
    r"(?<=[.!?])\*{0,2}\s+(?=[A-ZÀ-Þ*\"'(`])|\n\s*\n|\n(?=\s*(?:[-*|]|\d+\.) )| \| "
)


class Hit(NamedTuple):
    """A violation of a rule."""

    path: str
    line: int
    rule: str
    words: str


def prose(text: str, *, page: bool) -> Iterator[tuple[int, str]]:
    """Yield pieces of prose of a page or of source text, each with its line."""
    if page:
        yield 1, FENCE.sub(_blank, text)
        return
    for match in TRIPLE.finditer(text):
        if not match["before"].strip():
            yield _line(text, match.start("text")), _without_blocks(match["text"])
    rest = TRIPLE.sub(_blank, text)
    for match in COMMENTS.finditer(rest):
        yield _line(rest, match.start()), MARKS.sub("", match[0])
    for match in SPOKEN.finditer(rest):
        place, parts = match.end(), []
        while literal := STRING.match(rest, place):
            part = re.sub(r"\\.", " ", literal[2][1:-1])
            parts.append("\n" * literal[0].count("\n"))
            parts.append(re.sub(r"\{[^{}]*\}", "X", part) if "f" in literal[1] else part)
            place = literal.end()
        yield _line(rest, match.end()), "".join(parts)


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


def _blank(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")


def _without_blocks(text: str) -> str:
    """Return a docstring without indented blocks, which are code."""
    lines = text.split("\n")
    indents = [len(one) - len(one.lstrip()) for one in lines[1:] if one.strip()]
    block = " " * (min(indents, default=0) + 4)
    return "\n".join("" if one.startswith(block) else one for one in lines)


def hits(path: str, text: str) -> Iterator[Hit]:
    """Yield all violations in a file."""
    page = path.endswith(".md")
    for first, piece in prose(text, page=page):
        if page and not path.startswith(PATHS_ALLOWED):
            for match in PATH.finditer(piece):
                yield Hit(path, first + _line(piece, match.start()) - 1, PATHS, match[0])
        bare = CODE.sub(lambda match: (match[1] or "X") + _blank(match), piece)
        start = 0
        for end in (*SENTENCE_END.finditer(bare), None):
            sentence = bare[start : end.start() if end else None]
            line = first + _line(bare, start) - 1
            start = end.end() if end else 0
            yield from _of_sentence(path, line, sentence)


def _of_sentence(path: str, line: int, sentence: str) -> Iterator[Hit]:
    begin = re.match(r"(?:[\s|*>(\"-]|\d+\. )*", sentence)
    start = begin.end() if begin else 0
    line += sentence.count("\n", 0, start)
    sentence = sentence[start:]
    for name, pattern, advice in COMPILED:
        if match := pattern.search(sentence):
            found = " ".join(match[0].split())
            yield Hit(path, line + _line(sentence, match.start()) - 1, f"{name} ({advice})", found)
    count = sum(any(map(str.isalnum, word)) for word in sentence.split())
    if count > MOST_WORDS:
        yield Hit(
            path,
            line,
            f"{LONG} (at most {MOST_WORDS} words)",
            f"{count} words: {sentence[:40].replace(chr(10), ' ')}",
        )


def room(path: str) -> str:
    """Return the room of a file: what has an allowance."""
    parts = path.split("/")
    if path.endswith(".md"):
        return path
    return "/".join(parts[:2] if parts[0] == "boolcomp" and len(parts) > 2 else parts[:1])


def files(places: Iterable[Path]) -> Iterator[Path]:
    """Yield source files and pages in folders, and files as they are."""
    for place in places:
        if place.is_file():
            yield place
        else:
            yield from sorted(one for one in place.rglob("*") if one.suffix in {".py", ".md"})


def over(counts: Mapping[str, int], allowances: Mapping[str, int]) -> list[str]:
    """Return a message for every room with more hits than its allowance."""
    return [
        f"{name}: {count} hits, {allowances.get(name, 0)} allowed: "
        f"`python benchmarks/prose.py {name}` prints them"
        for name, count in sorted(counts.items())
        if count > allowances.get(name, 0)
    ]


def lowered(text: str, counts: Mapping[str, int]) -> str:
    """Return pyproject.toml with allowances lowered to the counts; those of 0 are removed."""
    head, table, tail = text.partition("[tool.boolcomp.prose]\n")
    rows, gap, rest = tail.partition("\n\n")
    allowances = tomllib.loads(rows)
    new = {name: min(most, counts.get(name, 0)) for name, most in allowances.items()}
    lines = [f'"{name}" = {most}' for name, most in sorted(new.items()) if most]
    return head + table + "\n".join(lines) + ("\n\n" if gap else "\n") + rest


def main() -> int:
    """Run the action that the options select."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--count", action="store_true")
    parser.add_argument("--accept", action="store_true")
    options = parser.parse_args()
    found = [
        hit
        for path in files(options.paths or [ROOT / one for one in PLACES])
        for hit in hits(path.resolve().relative_to(ROOT).as_posix(), path.read_text("utf-8"))
    ]
    counts = Counter(room(hit.path) for hit in found)
    if options.count:
        for name, count in sorted(counts.items()):
            rules = Counter(hit.rule.split(" (")[0] for hit in found if room(hit.path) == name)
            print(f"{name}: {count}: " + ", ".join(f"{a} {b}" for a, b in rules.most_common()))
        print(f"total: {counts.total()}")
        return 0
    if options.paths:
        for hit in found:
            print(f"{hit.path}:{hit.line}: {hit.rule}: {hit.words}")
        return bool(found)
    project = ROOT / "pyproject.toml"
    text = project.read_text("utf-8")
    if options.accept:
        text = lowered(text, counts)
        project.write_text(text, "utf-8")
    wrong = over(counts, tomllib.loads(text)["tool"]["boolcomp"]["prose"])
    print("\n".join(wrong) or f"prose: {counts.total()} hits, none beyond the allowances")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
