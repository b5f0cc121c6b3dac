"""Programs on disk: a directory with `program.json` and one text file a network.

    program.json        what the program is, and the SHA-256 of every other file and of itself
    networks/0.txt      the networks, as `networktext` writes them

It is data and nothing else: native code is made on the machine that runs it. A directory appears
whole under its name or not at all; what is damaged, incomplete or newer is refused.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from boolcomp.codes import CODE_KINDS, Code
from boolcomp.common.errors import BoolcompError, DataError, cut, shown
from boolcomp.common.files import (
    exchange,
    is_file,
    read_text,
    sync_folder,
    temporary_folder,
    write_text,
)
from boolcomp.common.version import VERSION as BOOLCOMP
from boolcomp.logic.networktext import parse_network, render_network
from boolcomp.problem.interval import Interval
from boolcomp.problem.robot import Stops
from boolcomp.problem.span import part_of
from boolcomp.program.parts import ARRAYS, Input, Load, Slice, TermUse, Torque, Whole
from boolcomp.program.program import MODES, Program

if TYPE_CHECKING:
    from collections.abc import Sequence

FORMAT, VERSION = "boolcomp program", 2  # 2: one network for all torques of a load
HEAD = "program.json"
MOST_NETWORKS = 100_000
MOST_HEAD = 1 << 24  # bytes
MOST_BYTES = 1 << 26  # of all networks: about two million nodes
MOST_VALUE = 1e15  # of a range, a load or a bound: nothing overflows, and no robot has it


def save_program(program: Program, folder: str | Path) -> None:
    """Write a program to a directory; a program that is there already is replaced."""
    target = Path(os.path.realpath(folder))  # a symbolic link stays one
    if target.is_dir() and any(target.iterdir()) and not (target / HEAD).is_file():
        raise DataError(f"{folder}: is a directory with other things in it, and no program")
    if target.exists() and not target.is_dir():
        raise DataError(f"{folder}: is a file; a program is saved to a directory")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with temporary_folder(target) as temporary:
            new = temporary / "new"
            for name, text in render_program(program).items():
                write_text(new / name, text)
            if target.exists():
                exchange(new, target, temporary / "old")
            else:
                new.rename(target)
            sync_folder(target.parent)
    except OSError as error:
        raise DataError(f"{folder}: cannot be written: {error.strerror}") from error


def load_program(folder: str | Path) -> Program:
    """Read a program; a `DataError` says what is wrong with one that cannot be used."""
    source = Path(folder)
    if not is_file(source / HEAD):
        raise DataError(f"{source}: no program: it has no {HEAD}")
    document = _document(read_text(source / HEAD, MOST_HEAD), f"{source / HEAD}")
    reader = _Reader(document, str(source / HEAD))
    sums = reader.field(document, "files", dict)
    networks, left = [], MOST_BYTES
    for k in range(reader.count(document, "networks", MOST_NETWORKS)):
        name = _network_name(k)
        text = read_text(source / name, left)
        left -= len(text)
        if sums.get(name) != _digest(text):
            raise DataError(f"{source / name}: damaged: its checksum is not the one in {HEAD}")
        networks.append(parse_network(text, str(source / name)))
    try:
        return reader.program(tuple(networks))
    except (ValueError, TypeError, OverflowError, BoolcompError) as error:
        raise DataError(f"{source / HEAD}: {error}") from error


def render_program(program: Program) -> dict[str, str]:
    """Return the files of a program: texts by their names inside its directory."""
    files = {_network_name(k): render_network(n) for k, n in enumerate(program.networks)}
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "made_by": f"boolcomp {BOOLCOMP}",
        "robot": program.robot,
        "bits": program.bits,
        "mode": program.mode,
        "inputs": [
            {"kind": word.kind, "joint": word.joint, "code": _code(word.code)}
            for word in program.inputs
        ],
        "networks": len(program.networks),
        "loads": [_load(load) for load in program.loads],
        "stops": [[one.array, one.column, one.range.low, one.range.high] for one in program.stops],
        "files": {name: _digest(text) for name, text in files.items()},
    }
    document["checksum"] = _digest(_canonical(document))
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    return {HEAD: text + "\n", **files}


def _network_name(k: int) -> str:
    return f"networks/{k}.txt"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _canonical(document: dict[str, Any]) -> str:
    return json.dumps(document, sort_keys=True, separators=(",", ":"))


def _code(code: Code) -> dict[str, Any]:
    section = {"kind": code.kind, "bits": code.bits, "range": [code.range.low, code.range.high]}
    return {**section, "wraps": True} if code.wraps else section


def _load(load: Load) -> dict[str, Any]:
    section = {"payload": load.payload, "torques": [_torque(torque) for torque in load.torques]}
    if load.whole is None:
        return section
    return {**section, "network": load.whole.network, "words": _words(load.whole.words)}


def _words(words: Sequence[Slice]) -> list[list[int]]:
    return [[word.input, word.bits, word.dropped] for word in words]


def _torque(torque: Torque) -> dict[str, Any]:
    return {
        "joint": torque.joint,
        "code": _code(torque.code),
        "guard_bits": torque.guard_bits,
        "terms": [
            {
                "name": term.name,
                "text": term.text,
                "network": term.network,
                "code": _code(term.code),
                "words": _words(term.words),
            }
            for term in torque.terms
        ],
        "left_out": list(torque.left_out),
        "bound": torque.bound if math.isfinite(torque.bound) else None,
    }


def _document(text: str, where: str) -> dict[str, Any]:
    """Return the JSON document after checking its format, version and checksum, in this order."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: damaged: not JSON ({cut(str(error), 200)})") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise DataError(f"{where}: not a boolcomp program")
    version = document.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise DataError(f"{where}: damaged: it has no version")
    if version > VERSION:
        raise DataError(
            f"{where}: a program of format {shown(version)}, made by "
            f"{cut(str(document.get('made_by')))}; this boolcomp ({BOOLCOMP}) reads up to format "
            f"{VERSION}"
        )
    checksum = document.pop("checksum", None)
    if checksum != _digest(_canonical(document)):
        raise DataError(f"{where}: damaged: its checksum is not the one it states")
    return document


class _Reader:
    """Turns the document into values, each of the type it must have."""

    def __init__(self, document: dict[str, Any], where: str) -> None:
        self.document = document
        self.where = where

    def fail(self, what: str) -> NoReturn:
        raise DataError(f"{self.where}: {what}")

    def field(self, section: Any, key: str, kind: type) -> Any:
        """Return an entry of a section; numbers that are whole also pass as real."""
        if not isinstance(section, dict) or key not in section:
            self.fail(f"{key!r} is missing")
        value = section[key]
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(max(-MOST_VALUE - 1, min(MOST_VALUE + 1, value)))
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            self.fail(f"{key!r} is {shown(value)}, not of type {kind.__name__}")
        if isinstance(value, float) and not abs(value) <= MOST_VALUE:
            self.fail(f"{key!r} is not from -{MOST_VALUE:g} to {MOST_VALUE:g}")
        return value

    def count(self, section: Any, key: str, most: int) -> int:
        value: int = self.field(section, key, int)
        if not 0 <= value <= most:
            self.fail(f"{key!r} is {shown(value)}, not 0 to {most}")
        return value

    def program(self, networks: tuple[Any, ...]) -> Program:
        document = self.document
        mode = self.field(document, "mode", str)
        if mode not in MODES:
            self.fail(f"mode {shown(mode)} is not known")
        return Program(
            self.field(document, "robot", str),
            self.field(document, "bits", int),
            mode,
            tuple(self.input(item) for item in self.field(document, "inputs", list)),
            networks,
            tuple(self.load(item) for item in self.field(document, "loads", list)),
            tuple(self.stop(item) for item in self.field({"stops": [], **document}, "stops", list)),
        )

    def stop(self, item: Any) -> Stops:
        if not isinstance(item, list) or len(item) != 4:
            self.fail("stops are not four numbers")
        array, column = (self.field({"stops": part}, "stops", int) for part in item[:2])
        low, high = (self.field({"stops": part}, "stops", float) for part in item[2:])
        if not low <= high:
            self.fail(f"stops are empty: {low} .. {high}")
        return Stops(array, column, Interval(low, high))

    def input(self, item: Any) -> Input:
        kind = self.field(item, "kind", str)
        if kind not in ARRAYS:
            self.fail(f"input {shown(kind)} is not known")
        code = self.code(item)
        # Programs of earlier versions do not say so, but their full turns are turns, too.
        if "stops" not in self.document and kind == "q" and part_of(code.range) == 0:
            code = replace(code, wraps=True)
        return Input(kind, self.field(item, "joint", int), code)

    def code(self, item: Any) -> Code:
        section = self.field(item, "code", dict)
        kind = self.field(section, "kind", str)
        ends = self.field(section, "range", list)
        if kind not in CODE_KINDS or len(ends) != 2:
            self.fail("a code is not one")
        low, high = (self.field({"range": end}, "range", float) for end in ends)
        if not low < high:
            self.fail(f"a range is empty: {low} .. {high}")
        wraps = self.field({"wraps": False, **section}, "wraps", bool)
        return Code(Interval(low, high), self.field(section, "bits", int), kind, wraps)

    def load(self, item: Any) -> Load:
        torques = tuple(self.torque(torque) for torque in self.field(item, "torques", list))
        payload, whole = self.field(item, "payload", float), None
        if "network" in item:
            whole = Whole(self.field(item, "network", int), self.words(item))
        return Load(payload, torques, whole)

    def torque(self, item: Any) -> Torque:
        left_out = self.field(item, "left_out", list)
        return Torque(
            self.field(item, "joint", int),
            self.code(item),
            self.count(item, "guard_bits", 64),
            tuple(self.term(term) for term in self.field(item, "terms", list)),
            tuple(self.field({"left_out": text}, "left_out", str) for text in left_out),
            math.inf if item.get("bound") is None else self.field(item, "bound", float),
        )

    def words(self, item: Any) -> tuple[Slice, ...]:
        words = []
        for word in self.field(item, "words", list):
            if not isinstance(word, list) or len(word) != 3:
                self.fail("a word that is read is not three numbers")
            words.append(Slice(*(self.field({"words": part}, "words", int) for part in word)))
        return tuple(words)

    def term(self, item: Any) -> TermUse:
        return TermUse(
            self.field(item, "name", str),
            self.field(item, "text", str),
            self.field(item, "network", int),
            self.code(item),
            self.words(item),
        )
