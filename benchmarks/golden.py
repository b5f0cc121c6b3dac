"""The golden net: what commands print and write and engines compute, kept and compared.

    python benchmarks/golden.py [--whole] [--accept] [--jobs N] [--only REGEX] [--times] [GROUP...]

Without --whole the quick form runs, which is part of `make test`; `make check` runs the whole one.
The store, benchmarks/golden/, has a file for every group, and one more (…-whole.txt) for what only
the whole form makes. Short texts are kept as they are, long ones as digests of their parts. Times,
dates, versions and paths are masked. A difference is printed with its first lines, and the exit
code is 1. With --accept what was made is recorded instead. What needs a package or a processor that
is not there is skipped with a notice, and its record is left alone.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import hashlib
import io
import math
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from unittest import mock

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "benchmarks")]

from goldengroups import GROUPS, MissingError  # noqa: E402 (the path is set before)

from boolcomp.base import VERSION  # noqa: E402
from boolcomp.cli import main as boolcomp  # noqa: E402
from boolcomp.compact import errors  # noqa: E402
from boolcomp.paper import program  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

STORE = ROOT / "benchmarks" / "golden"
LINES, LETTERS = 40, 3000  # of a text that is kept as it is
HEAD = 4  # lines of a longer one
PARTS = 240  # of a longer one, each with a short digest
SHOWN, WIDEST = 24, 200  # lines of a difference, and their letters
COLUMNS = 100
ENVIRONMENT = {"COLUMNS": str(COLUMNS), "TZ": "UTC", "LC_ALL": "C.UTF-8", "PYTHONUTF8": "1"}
MASKS = (
    (re.compile(r"\b\d+(\.\d+)?(e-?\d+)? (s|ns (?:a|per) sample)\b"), "… \\3"),
    (re.compile(r'("(\w*_)?(seconds|date|made_at)": )[^,\n}]+'), "\\1…"),
    (re.compile(r"(a sample, speed-up |minimum of )[\d.]+"), "\\1…"),
    (re.compile(r"\b20\d\d-\d\d-\d\d\b"), "DATE"),
    (re.compile(r"\b(Linux|Darwin|Windows), \w+, Python [\d.]+"), "MACHINE"),
    (re.compile(rf"(?<=boolcomp )v?{re.escape(VERSION)}\b"), "VERSION"),
)
LIBRARY = re.compile(r"<script>[^\n]{0,200}(?:(?!</script>).){200000,}</script>", re.DOTALL)


class Kept(NamedTuple):
    """What is kept of one thing that was made: lines, and the texts that digests stand for."""

    lines: list[str]
    texts: dict[str, list[str]]


@dataclass
class Bench:
    """A folder and a cache in which commands run, in this process; what they print is masked."""

    folder: Path
    whole: bool
    times: bool = False
    only: str = ""  # what titles must match
    made: dict[str, Kept] = field(default_factory=dict)
    whole_made: dict[str, Kept] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    only_whole: bool = False
    _since: float = 0.0

    def wants(self, title: str) -> bool:
        """Tell whether a thing of this title is made in this form."""
        if self.only_whole and not self.whole:
            return False
        return re.search(self.only, self.masked(title)) is not None

    def keep(self, title: str, **texts: str | bytes) -> None:
        """Keep texts by name under a title."""
        into = self.whole_made if self.only_whole else self.made
        title = self.masked(title)
        if not self.wants(title):
            return
        if title in self.made or title in self.whole_made:
            raise ValueError(f"two things have the title {title!r}")
        kept = Kept([], {})
        for name, text in texts.items():
            _put(kept, name, self.masked(text) if isinstance(text, str) else text)
        into[title] = kept
        if self.times:
            spent = processor_seconds()
            print(f"{spent - self._since:7.2f} s  {title}", file=sys.stderr, flush=True)
            self._since = spent

    def skip(self, what: str, why: str) -> None:
        """Note what is left out."""
        self.skipped.append(f"{what}: {why}")

    def masked(self, text: str) -> str:
        """Return a text without times, dates, versions and paths."""
        text = text.replace(str(self.folder), "FOLDER").replace(str(ROOT), "ROOT")
        for pattern, instead in MASKS:
            text = pattern.sub(instead, text)
        text = LIBRARY.sub("<script>LIBRARY</script>", text)
        return _without_column(text, "seconds") if "seconds" in text else text

    def run(self, line: str | Sequence[str], title: str = "") -> None:
        """Run a command; keep what it prints, its exit code and the files that it writes."""
        words = shlex.split(line) if isinstance(line, str) else list(line)
        title = title or f"boolcomp {shlex.join(words)}"
        if not self.wants(title):
            return
        before = self._files()
        code, out, err = called(words)
        told = [one for one in err.split("\n") if code or "warning" in one]
        printed = out + "".join(f"{one}\n" for one in told if one)
        texts: dict[str, str | bytes] = {"": f"{printed}exit code {code}\n"}
        for path, stamp in self._files().items():
            if before.get(path) != stamp:
                texts[path.relative_to(self.folder).as_posix()] = self._read(path)
        self.keep(title, **texts)

    def quietly(self, line: str) -> None:
        """Run a command whose result others need; nothing is kept."""
        code, _, err = called(shlex.split(line))
        if code:
            raise RuntimeError(f"boolcomp {line}: exit code {code}\n{err}")

    def _files(self) -> dict[Path, tuple[int, int]]:
        paths = (p for p in sorted(self.folder.rglob("*")) if "cache" not in p.parts)
        found = {p: p.stat() for p in paths if p.is_file()}
        return {path: (stat.st_mtime_ns, stat.st_ino) for path, stat in found.items()}

    @staticmethod
    def _read(path: Path) -> str | bytes:
        data = path.read_bytes()
        if path.suffix == ".png":
            return b"a picture"  # its bytes are those of the library that draws
        with contextlib.suppress(UnicodeDecodeError):
            return data.decode()
        return data


def _without_column(text: str, head: str) -> str:
    """Return a text with the column of this head masked in its tables."""
    lines, place = text.split("\n"), None
    for k, line in enumerate(lines):
        if k and re.fullmatch(r"-[- ]+", line):
            found = re.search(rf"(?<= ){head}\b", lines[k - 1])
            place = found and found.span()
        elif place and len(line) >= place[1] and re.match(r" *[\d.]+$", line[slice(*place)]):
            lines[k] = line[: place[0]] + "…" + line[place[1] :]
        else:
            place = None
    return "\n".join(lines)


def called(words: Sequence[str]) -> tuple[int, str, str]:
    """Run a command in this process; return its exit code and what it printed."""
    printed = io.BytesIO(), io.BytesIO()
    out, err = (io.TextIOWrapper(one, "utf-8", write_through=True) for one in printed)
    given, sys.argv = sys.argv, ["boolcomp", *words]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            boolcomp(words)
    except SystemExit as exited:
        code = int(exited.code or 0)
    finally:
        sys.argv = given
    return code, printed[0].getvalue().decode(), printed[1].getvalue().decode()


def processor_seconds() -> float:
    """Return the processor time of this process and of those that it waited for."""
    usages = (resource.getrusage(x) for x in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def digest(data: str | bytes) -> str:
    """Return a short digest."""
    data = data.encode() if isinstance(data, str) else data
    return hashlib.sha256(data).hexdigest()[:12]


def _digests(lines: list[str], step: int) -> list[str]:
    """Return digests of so many lines each."""
    return [digest("\n".join(lines[k : k + step]))[:4] for k in range(0, len(lines), step)]


def _put(kept: Kept, name: str, text: str | bytes) -> None:
    """Add a text to what is kept: as it is, or as its size and digests of its parts."""
    if isinstance(text, bytes):
        kept.lines.append(f"> {name}: {len(text)} bytes: {digest(text)}")
        return
    lines = text.rstrip("\n").split("\n")
    if not name and len(lines) <= LINES and len(text) <= LETTERS:
        kept.lines.extend(lines)
        return
    if not name:
        kept.lines.extend(line[:WIDEST] for line in lines[:HEAD])
    step = math.ceil(len(lines) / PARTS)
    digests = [digest(text), *_digests(lines, step)]
    kept.lines.append(f"> {name or 'all'}: {len(lines)} lines by {step}: {' '.join(digests)}")
    kept.texts[kept.lines[-1]] = lines


def made_by(
    names: Sequence[str], *, whole: bool, times: bool = False, only: str = ""
) -> Iterator[tuple[str, Bench]]:
    """Run groups one by one, each in a folder of its own; all share a cache."""
    with tempfile.TemporaryDirectory() as top:
        before, here = dict(os.environ), Path.cwd()
        os.environ.update(ENVIRONMENT, XDG_CACHE_HOME=str(Path(top, "cache").resolve()))
        try:
            for name in names:
                folder = Path(top, name).resolve()
                folder.mkdir()
                os.chdir(folder)
                bench = Bench(folder, whole, times, only, _since=processor_seconds())
                with warnings.catch_warnings(), fewer_evaluations():
                    warnings.simplefilter("ignore")
                    try:
                        GROUPS[name](bench)
                    except MissingError as missing:
                        bench.skip(f"the rest of {name}", str(missing))
                yield name, bench
        finally:
            os.chdir(here)
            os.environ.clear()
            os.environ.update(before)


@contextlib.contextmanager
def fewer_evaluations() -> Iterator[None]:
    """Seek worst errors with a small part of the usual evaluations."""
    shorter = mock.patch.object
    with shorter(errors, "EVALUATIONS", 100_000), shorter(program, "EVALUATIONS", 2000):
        yield


def stored(path: Path) -> dict[str, list[str]]:
    """Return what is recorded, lines by title."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    for line in text.split("\n")[:-1]:
        if line.startswith("== "):
            lines = found.setdefault(line[3:], [])
        else:
            lines.append(line[2:])
    return found


def record(path: Path, things: dict[str, list[str]]) -> None:
    """Write what is recorded; a file of nothing is removed."""
    text = "".join(
        f"== {title}\n" + "".join(f"  {line}".rstrip() + "\n" for line in lines)
        for title, lines in things.items()
    )
    if text:
        path.write_text(text, encoding="utf-8")
    else:
        path.unlink(missing_ok=True)


def differences(name: str, bench: Bench, store: Path = STORE) -> list[str]:
    """Return the differences between what a group made and what is recorded, as texts."""
    found = []
    for path, made in places(name, bench, store):
        known = stored(path)
        for title, kept in made.items():
            lines = [line.rstrip() for line in kept.lines]
            if title not in known:
                found.append(f"== {title}: is not recorded in {path.name}")
            elif lines != known[title]:
                found.append(f"== {title} ({path.name})\n{_first(known[title], lines, kept)}")
        lost = [] if bench.skipped else [x for x in known if x not in made and bench.wants(x)]
        found += [f"== {title}: is recorded in {path.name} and no longer made" for title in lost]
    return found


def places(name: str, bench: Bench, store: Path) -> Iterator[tuple[Path, dict[str, Kept]]]:
    """Yield the files of a group, and what is in each."""
    yield store / f"{name}.txt", bench.made
    if bench.whole:
        yield store / f"{name}-whole.txt", bench.whole_made


def accept(name: str, bench: Bench, store: Path = STORE) -> None:
    """Record what a group made; what was skipped keeps its record."""
    for path, made in places(name, bench, store):
        new = {title: kept.lines for title, kept in made.items()}
        old = stored(path) if bench.skipped else {}
        record(path, {**old, **new})


def _first(old: list[str], new: list[str], kept: Kept) -> str:
    """Return the first lines that differ."""
    shown = []
    digests = {line.partition(": ")[0]: line for line in old if line.startswith("> ")}
    for line in difflib.unified_diff(old, new, lineterm="", n=0):
        body = line[1:].rstrip()
        before = digests.get(body.partition(": ")[0])
        if line.startswith("+> ") and before and body in kept.texts:
            shown += _part(before, body, kept.texts[body])
        elif not line.startswith(("---", "+++", "@@", "-> ")):
            shown.append(line[:WIDEST])
    rest = len(shown) - SHOWN
    return "\n".join([*shown[:SHOWN], *([f"… {rest} lines more"] if rest > 0 else [])])


def _part(old: str, new: str, lines: list[str]) -> list[str]:
    """Return the first part of a long text whose digest is another, as it is now."""
    (_, counted, was), (name, count, _) = (one.split(": ", 2) for one in (old, new))
    step = int(counted.rpartition(" ")[2])
    before, after = was.split()[1:], _digests(lines, step)
    pairs = enumerate(zip(before, after, strict=False))
    k = next((k for k, (one, other) in pairs if one != other), min(len(before), len(after)))
    part = lines[k * step : (k + 1) * step]
    sizes = f"{count.partition(' by ')[0]}, before {counted.partition(' by ')[0]}"
    head = f"{name[2:]}: {sizes}; the first difference is in {k * step + 1} to"
    return [f"{head} {k * step + len(part)}, now:", *(f"+{line[:WIDEST]}" for line in part)]


def side_by_side(names: Sequence[str], jobs: int, more: Sequence[str]) -> int:
    """Run every group in a process of its own, so many at once; return the worst exit code."""
    waiting, code = list(names), 0
    running: dict[int, str] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            name = waiting.pop(0)
            command = [sys.executable, "-P", __file__, *more, "--", name]
            running[subprocess.Popen(command).pid] = name
        pid, status = os.wait()
        if running.pop(pid, None) is not None:
            code = max(code, abs(os.waitstatus_to_exitcode(status)))
    return code


def main() -> int:
    """Compare or record; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--whole", action="store_true", help="everything")
    parser.add_argument("--accept", action="store_true", help="record what was made")
    parser.add_argument("--jobs", type=int, default=1, help="groups side by side")
    parser.add_argument("--only", default="", metavar="REGEX", help="what has such a title")
    parser.add_argument("--times", action="store_true", help="processor seconds of every thing")
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=", ".join(GROUPS))
    given = parser.parse_args()
    unknown = [name for name in given.groups if name not in GROUPS]
    if unknown:
        parser.error(f"no group {unknown[0]!r}: groups are {', '.join(GROUPS)}")
    if given.accept and given.only:
        parser.error("--accept records whole groups: leave out --only")
    names = given.groups or list(GROUPS)
    if given.jobs > 1:
        options = ("whole", "accept", "times")
        flags = [f"--{name}" for name in options if getattr(given, name)]
        flags.append(f"--only={given.only}")
        return side_by_side(names, given.jobs, flags)
    STORE.mkdir(exist_ok=True)
    different = 0
    form = {"whole": given.whole, "times": given.times, "only": given.only}
    for name, bench in made_by(names, **form):
        for notice in bench.skipped:
            print(f"golden: {notice}: skipped")
        found = differences(name, bench)
        different += len(found)
        if given.accept:
            accept(name, bench)
        else:
            print("".join(f"{text}\n" for text in found), end="")
        told = "recorded" if given.accept else "different"
        count = len(bench.made) + len(bench.whole_made)
        print(f"golden: {name}: {count} things, {len(found)} {told}", flush=True)
    if different and not given.accept:
        print("golden: where a difference is meant, `make golden-accept` records it")
    return int(different > 0 and not given.accept)


if __name__ == "__main__":
    sys.exit(main())
