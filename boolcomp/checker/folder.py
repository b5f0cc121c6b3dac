"""A saved program as the checker sees it: the files, their checksums, and no more than that."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boolcomp.base.files import is_file, read_json, read_text
from boolcomp.checker.container import NAME, parse
from boolcomp.common.errors import DataError
from boolcomp.logic.networktext import parse_network
from boolcomp.words.graphtext import parse_graph

if TYPE_CHECKING:
    from collections.abc import Mapping

    from boolcomp.checker.container import Certificate, Section
    from boolcomp.logic.network import Network
    from boolcomp.words.graph import WordGraph

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
