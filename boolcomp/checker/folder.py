"""The file format of certificates, saved programs as the checker reads them, and verdict steps."""

from __future__ import annotations

import hashlib
import json
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from boolcomp.base.errors import NO_CONES, BoolcompError, DataError, shown
from boolcomp.base.files import is_file, read_json, read_text
from boolcomp.logic.network import parse_network
from boolcomp.words.graph import parse_graph

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from boolcomp.logic.network import Network
    from boolcomp.words.graph import WordGraph


# --------------------------------------------------------------------------------------------------
# The text of a certificate: the claim, then the sections of every load that prove it.
#
#     boolcomp certificate 2
#     = claim
#     …
#     == load 0
#     = graph
#     …
#     = lemmas
#     …
#
# Format 1 has no claim: `boolcomp certificate 1` is followed by the first load.
# --------------------------------------------------------------------------------------------------

NAME = "certificate.txt"
FIRST_LINE, OLD_LINE = "boolcomp certificate 2", "boolcomp certificate 1"
CLAIM = "= claim"
# Unknown sections are refused, because a claim may depend on them.
SECTIONS = ("origin", "sketch", "graph", "first", "lemmas", "terms", "bound")
OF_CONES = ("= words", "= cones")  # sections of adder-bit changes, no longer supported
_LOAD = re.compile(r"== load (0|[1-9]\d{0,4})")


@dataclass(frozen=True, slots=True)
class CertificateSection:
    """The lines of a section, and the line number of the first of them in the file."""

    lines: tuple[str, ...]
    first: int

    @property
    def text(self) -> str:
        return "".join(f"{line}\n" for line in self.lines)

    def where(self, place: int) -> str:
        return f"{NAME}:{self.first + place}"


@dataclass(frozen=True, slots=True)
class Certificate:
    """The claim (None in format 1) and the sections of every load."""

    claim: CertificateSection | None
    loads: tuple[Mapping[str, CertificateSection], ...]


def parse(text: str) -> Certificate:
    """Split a certificate into claim and sections; a `DataError` names the offending line."""
    lines = text.split("\n")
    if lines[0] not in (FIRST_LINE, OLD_LINE) or lines.pop() != "":
        raise DataError(
            f"the first line must be {FIRST_LINE!r}, the last one complete", where=f"{NAME}:1"
        )
    heads = [place for place, line in enumerate(lines) if line.startswith("=")]
    expected = CLAIM if lines[0] == FIRST_LINE else "== load 0"
    if not heads or heads[0] != 1 or lines[1] != expected:
        raise DataError(f"{expected!r} must follow {lines[0]!r}", where=f"{NAME}:2")
    ends = [*heads[1:], len(lines)]
    claim = None
    if lines[0] == FIRST_LINE:
        heads, claim, ends = heads[1:], CertificateSection(tuple(lines[2 : ends[0]]), 3), ends[1:]
    loads: list[dict[str, CertificateSection]] = []
    for place, end in zip(heads, ends, strict=True):
        line, name = lines[place], lines[place][2:]
        if line in OF_CONES:
            raise DataError(NO_CONES, where=f"{NAME}:{place + 1}")
        if load := _LOAD.fullmatch(line):
            good = int(load[1]) == len(loads) and end == place + 1
            loads.append({})
        else:
            good = bool(loads) and line[:2] == "= " and name in SECTIONS and name not in loads[-1]
            if good:
                loads[-1][name] = CertificateSection(tuple(lines[place + 1 : end]), place + 2)
        if not good:
            raise DataError(
                f"{shown(line)} does not begin the next load or a section that this load does "
                "not have yet", f"sections are {', '.join(SECTIONS)}", where=f"{NAME}:{place + 1}",
            )  # fmt: skip
    return Certificate(claim, tuple(loads))


# --------------------------------------------------------------------------------------------------
# A saved program: its files, with verified checksums.
# --------------------------------------------------------------------------------------------------

HEAD = "program.json"
MOST_BYTES = 1 << 26  # of a file
_NAME = re.compile(r"(networks|graphs)/\d{1,6}\.txt")


@dataclass(frozen=True, slots=True)
class LoadFiles:
    """A load: its entry in `program.json`, its graph and network, its sections of the certificate.

    `document` is all of `program.json`. In paper mode, graph and network are None, and the terms
    refer to `networks`.
    """

    place: int
    document: dict[str, Any]
    entry: dict[str, Any]
    graph: WordGraph | None
    network: Network | None
    sections: Mapping[str, CertificateSection]
    networks: tuple[Network, ...] = ()

    def section(self, name: str) -> CertificateSection:
        """Return a section; a missing one is a `DataError`."""
        if name not in self.sections:
            raise DataError(f"load {self.place} has no section {name!r}", where=NAME)
        return self.sections[name]


@dataclass(frozen=True, slots=True)
class ProgramFiles:
    """The folder of a program; `certificate` is None if the folder has none."""

    document: dict[str, Any]
    networks: tuple[Network, ...]
    loads: tuple[LoadFiles, ...]
    certificate: Certificate | None


def read_program(folder: str | Path) -> ProgramFiles:
    """Read a program's folder; a `DataError` describes the damage."""
    source = Path(folder)
    if not is_file(source / HEAD):
        raise DataError(f"not a program: {HEAD} is missing", where=source)
    where, document = f"{source / HEAD}", read_json(source / HEAD, MOST_BYTES)
    try:
        loads, sums = list(document["loads"]), dict(document["files"])
        count = int(document["networks"])
        has_graph = ["meanings" in one for one in loads]
        network_of = [one.get("network") for one in loads]
        checksum = document.pop("checksum")
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise DataError(f"damaged: not the {HEAD} of a program ({error})", where=where) from error
    if checksum != _digest(json.dumps(document, sort_keys=True, separators=(",", ":"))):
        raise DataError("damaged: its checksum does not match its content", where=where)
    if any("\ud800" <= letter <= "\udfff" for letter in json.dumps(document, ensure_ascii=False)):
        raise DataError("damaged: it has unpaired surrogates, which are no characters", where=where)
    texts = {name: _text(source, name, total) for name, total in sums.items()}
    try:
        networks = tuple(
            parse_network(texts[f"networks/{k}.txt"], f"networks/{k}.txt") for k in range(count)
        )
        own = [texts[f"graphs/{k}.txt"] if has else None for k, has in enumerate(has_graph)]
        chosen = [None if k is None else networks[k] for k in network_of]
    except (KeyError, IndexError, TypeError) as error:
        raise DataError(f"damaged: a file or network {error} is missing", where=where) from error
    try:
        certificate = parse(texts[NAME]) if NAME in texts else None
    except DataError as error:
        raise DataError.around(error, source) from error
    sections = ({},) * len(loads) if certificate is None else certificate.loads
    if len(sections) != len(loads):
        counts = f"{len(sections)} loads, but the program has {len(loads)}"
        raise DataError(counts, where=source / NAME)
    graphs = [
        None if text is None else parse_graph(text, f"graphs/{k}.txt") for k, text in enumerate(own)
    ]
    parts = zip(loads, graphs, chosen, sections, strict=True)
    files = tuple(LoadFiles(k, document, *part, networks) for k, part in enumerate(parts))
    return ProgramFiles(document, networks, files, certificate)


def _text(source: Path, name: str, total: str) -> str:
    if name != NAME and not _NAME.fullmatch(name):
        raise DataError(f"damaged: {name!r} is no file of a program", where=source / HEAD)
    text = read_text(source / name, MOST_BYTES)
    if total != _digest(text):
        raise DataError(f"damaged: its checksum is not the one in {HEAD}", where=source / name)
    return text


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


# --------------------------------------------------------------------------------------------------
# Verdicts.
# --------------------------------------------------------------------------------------------------

# Exceptions that numbers and tables of a damaged or forged file may raise.
DAMAGE = (
    ArithmeticError, AttributeError, IndexError, KeyError, MemoryError, RuntimeError, TypeError,
    ValueError,
)  # fmt: skip
NOTHING = "nothing was verified"


@dataclass(frozen=True, slots=True)
class VerdictStep:
    """One line of a verdict: a check, its method, the number of cases, and its result.

    `holds` is None if the checker can neither confirm nor refute the claim. The note of a claim
    that does not hold names the first fault, with a counterexample. A `conditional` claim was
    confirmed on the condition that certain sums, not shown to fit their words, do not overflow.
    """

    name: str
    method: str
    cases: int = 0
    seconds: float = 0.0
    holds: bool | None = None
    note: str = ""
    conditional: bool = False


class CheckedCases(NamedTuple):
    """The number of cases of a successful check, and a remark."""

    cases: int
    note: str = ""


class DoesNotHoldError(DataError):
    """A claim is wrong; the message names it and the reason."""


class NotCoveredError(Exception):
    """A claim of a kind that the checker cannot check."""


def printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)


def whole(steps: Collection[VerdictStep], *, allow_conditions: bool = False) -> bool:
    return bool(steps) and all(
        one.holds is True or (allow_conditions and one.conditional) for one in steps
    )


def checked(name: str, method: str, check: Callable[[], CheckedCases]) -> VerdictStep:
    """Run a check and return its verdict step; a `BoolcompError` of the check refutes the claim."""
    start = time.perf_counter()
    try:
        found, holds = check(), True
    except NotCoveredError as error:
        return VerdictStep(name, "not checked", note=str(error))
    except BoolcompError as error:
        found, holds = CheckedCases(0, str(error)), False
    return VerdictStep(name, method, found.cases, time.perf_counter() - start, holds, found.note)
