"""A saved program as the checker sees it: the files, their checksums, and no more than that."""

from __future__ import annotations

import hashlib
import json
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from boolcomp.base.errors import BoolcompError, DataError, shown
from boolcomp.base.files import is_file, read_json, read_text
from boolcomp.logic.network import parse_network
from boolcomp.words.graph import parse_graph

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from boolcomp.logic.network import Network
    from boolcomp.words.graph import WordGraph


# --------------------------------------------------------------------------------------------------
# A certificate's text: what is claimed, then for every load the sections that show it.
#
# boolcomp certificate 2
# = claim
# …
# == load 0
# = graph
# …
# = lemmas
# …
#
# Format 1 has no claim: `boolcomp certificate 1` is followed by the first load.
# --------------------------------------------------------------------------------------------------


NAME = "certificate.txt"
FIRST_LINE, OLD_LINE = "boolcomp certificate 2", "boolcomp certificate 1"
CLAIM = "= claim"
# A section that is not known is refused: something may rest on it.
SECTIONS = ("words", "origin", "sketch", "graph", "cones", "first", "lemmas", "terms", "bound")
_LOAD = re.compile(r"== load (0|[1-9]\d{0,4})")


@dataclass(frozen=True, slots=True)
class Section:
    """The lines of a section, and the number of the first of them in the file."""

    lines: tuple[str, ...]
    first: int

    @property
    def text(self) -> str:
        """The lines as they stand in the file."""
        return "".join(f"{line}\n" for line in self.lines)

    def where(self, place: int) -> str:
        """Return where a line stands, as messages begin."""
        return f"{NAME}:{self.first + place}"


@dataclass(frozen=True, slots=True)
class Certificate:
    """The lines of the claim, None in format 1, and the sections of every load."""

    claim: Section | None
    loads: tuple[Mapping[str, Section], ...]


def parse(text: str) -> Certificate:
    """Return the sections of every load; a `DataError` names the line that is wrong."""
    lines = text.split("\n")
    if lines[0] not in (FIRST_LINE, OLD_LINE) or lines.pop() != "":
        raise DataError(f"{NAME}:1: a certificate begins {FIRST_LINE!r} and ends with a line end")
    heads = [place for place, line in enumerate(lines) if line.startswith("=")]
    expected = CLAIM if lines[0] == FIRST_LINE else "== load 0"
    if not heads or heads[0] != 1 or lines[1] != expected:
        raise DataError(f"{NAME}:2: {expected!r} follows {lines[0]!r}")
    ends = [*heads[1:], len(lines)]
    claim = None
    if lines[0] == FIRST_LINE:
        heads, claim, ends = heads[1:], Section(tuple(lines[2 : ends[0]]), 3), ends[1:]
    loads: list[dict[str, Section]] = []
    for place, end in zip(heads, ends, strict=True):
        line, name = lines[place], lines[place][2:]
        if load := _LOAD.fullmatch(line):
            good = int(load[1]) == len(loads) and end == place + 1
            loads.append({})
        else:
            good = bool(loads) and line[:2] == "= " and name in SECTIONS and name not in loads[-1]
            if good:
                loads[-1][name] = Section(tuple(lines[place + 1 : end]), place + 2)
        if not good:
            raise DataError(
                f"{NAME}:{place + 1}: {shown(line)} is no head of the next load, nor of a section "
                f"that is known and new: {', '.join(SECTIONS)}"
            )
    return Certificate(claim, tuple(loads))


# --------------------------------------------------------------------------------------------------
# A saved program as the checker sees it: the files, their checksums, and no more than that.
# --------------------------------------------------------------------------------------------------


HEAD = "program.json"
MOST_BYTES = 1 << 26  # of any file
_NAME = re.compile(r"(networks|graphs)/\d{1,6}\.txt")


@dataclass(frozen=True, slots=True)
class LoadFiles:
    """What is said of one load: its part of `program.json`, its graph and network, its sections.

    `document` is the whole of `program.json`, `said` this load's part of it. Graph and network are
    None in paper mode, whose terms read `networks`.
    """

    place: int
    document: dict[str, Any]
    said: dict[str, Any]
    graph: WordGraph | None
    network: Network | None
    sections: Mapping[str, Section]
    networks: tuple[Network, ...] = ()

    def section(self, name: str) -> Section:
        """Return a section that must be there."""
        if name not in self.sections:
            raise DataError(f"{NAME}: load {self.place} has no section {name!r}")
        return self.sections[name]


@dataclass(frozen=True, slots=True)
class ProgramFiles:
    """A program's folder: `certificate` is None where there is none in it."""

    document: dict[str, Any]
    networks: tuple[Network, ...]
    loads: tuple[LoadFiles, ...]
    certificate: Certificate | None


def read_program(folder: str | Path) -> ProgramFiles:
    """Read a program's folder; a `DataError` says what is damaged."""
    source = Path(folder)
    if not is_file(source / HEAD):
        raise DataError(f"{source}: no program: it has no {HEAD}")
    where, document = f"{source / HEAD}", read_json(source / HEAD, MOST_BYTES)
    try:
        loads, sums = list(document["loads"]), dict(document["files"])
        count = int(document["networks"])
        has_graph = ["meanings" in one for one in loads]
        network_of = [one.get("network") for one in loads]
        checksum = document.pop("checksum")
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise DataError(f"{where}: damaged: it is no program ({error})") from error
    if checksum != _digest(json.dumps(document, sort_keys=True, separators=(",", ":"))):
        raise DataError(f"{where}: damaged: its checksum is not the one it states")
    if any("\ud800" <= letter <= "\udfff" for letter in json.dumps(document, ensure_ascii=False)):
        raise DataError(f"{where}: damaged: it holds what is no letter")
    texts = {name: _text(source, name, total) for name, total in sums.items()}
    try:
        networks = tuple(
            parse_network(texts[f"networks/{k}.txt"], f"networks/{k}.txt") for k in range(count)
        )
        own = [texts[f"graphs/{k}.txt"] if has else None for k, has in enumerate(has_graph)]
        chosen = [None if k is None else networks[k] for k in network_of]
    except (KeyError, IndexError, TypeError) as error:
        raise DataError(f"{where}: damaged: a file or network {error} is missing") from error
    try:
        certificate = parse(texts[NAME]) if NAME in texts else None
    except DataError as error:
        raise DataError(f"{source}: {error}") from error
    sections = ({},) * len(loads) if certificate is None else certificate.loads
    if len(sections) != len(loads):
        said = f"{len(sections)} loads, and the program has {len(loads)}"
        raise DataError(f"{source / NAME}: {said}")
    graphs = [_graph(k, text, one) for k, (text, one) in enumerate(zip(own, sections, strict=True))]
    parts = zip(loads, graphs, chosen, sections, strict=True)
    files = tuple(LoadFiles(k, document, *part, networks) for k, part in enumerate(parts))
    return ProgramFiles(document, networks, files, certificate)


def _graph(load: int, own: str | None, sections: Mapping[str, Section]) -> WordGraph | None:
    """Return a load's word graph: its file, or a section, where its network is not quite that."""
    if "words" not in sections:
        return None if own is None else parse_graph(own, f"graphs/{load}.txt")
    if own is not None:
        raise DataError(f"{NAME}: load {load} has a word graph of its own, and a section 'words'")
    return parse_graph(sections["words"].text, f"{NAME}: words of load {load}")


def _text(source: Path, name: str, total: str) -> str:
    if name != NAME and not _NAME.fullmatch(name):
        raise DataError(f"{source / HEAD}: damaged: {name!r} is no file of a program")
    text = read_text(source / name, MOST_BYTES)
    if total != _digest(text):
        raise DataError(f"{source / name}: damaged: its checksum is not the one in {HEAD}")
    return text


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


# --------------------------------------------------------------------------------------------------
# A step of a chain: what was checked, how, on how many cases, and what came of it.
# --------------------------------------------------------------------------------------------------


# What numbers and tables raise that nothing was made for.
DAMAGE = (
    ArithmeticError, AttributeError, IndexError, KeyError, MemoryError, RuntimeError, TypeError,
    ValueError,
)  # fmt: skip
NOTHING = "nothing was verified"


@dataclass(frozen=True, slots=True)
class Step:
    """One line of a verdict; `holds` is None where nothing is known.

    The note of what does not hold names the first thing that does not, with a counterexample. What
    is `conditional` was checked, and holds while sums do not overflow that were not shown to fit.
    """

    name: str
    method: str
    cases: int = 0
    seconds: float = 0.0
    holds: bool | None = None
    note: str = ""
    conditional: bool = False


class Found(NamedTuple):
    """What a check looked at: how many cases, and what there is to say of them."""

    cases: int
    note: str = ""


class DoesNotHoldError(DataError):
    """A claim that is wrong: its text says which, and shows it."""


class NotCoveredError(Exception):
    """What the checker does not know how to check."""


def printable(text: str) -> str:
    """Return a text in which nothing moves a cursor or begins another line."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)


def whole(steps: Collection[Step], *, allow_conditions: bool = False) -> bool:
    """Tell whether all steps hold, of which there must be some."""
    return bool(steps) and all(
        one.holds is True or (allow_conditions and one.conditional) for one in steps
    )


def checked(name: str, method: str, check: Callable[[], Found]) -> Step:
    """Return the step of a check, which raises an error of ours where something does not hold."""
    start = time.perf_counter()
    try:
        found, holds = check(), True
    except BoolcompError as error:
        found, holds = Found(0, str(error)), False
    return Step(name, method, found.cases, time.perf_counter() - start, holds, found.note)
