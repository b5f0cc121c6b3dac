"""Programs to disk: a directory with `program.json` and one text file a network.

    program.json        what the program is, and the SHA-256 of every other file and of itself
    networks/0.txt      the networks, as `networktext` writes them
    graphs/0.txt        the word graph of every load that has one of its own, as `Graph` is printed
    certificate.txt     what the checker reads, where there is one

It is data and nothing else: native code is made on the machine that runs it. A directory appears
whole under its name or not at all; `programfile` reads it.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boolcomp.base.files import exchange, folder_of, sync_folder, temporary_folder, write_text
from boolcomp.base.version import VERSION as BOOLCOMP
from boolcomp.common.errors import DataError
from boolcomp.logic.networktext import render_network

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from boolcomp.codes import Code
    from boolcomp.program.parts import CodedOutput, Load, Slice
    from boolcomp.program.program import Program

# 2: one network for all outputs of a load; 3: names; 4: signed codes, cells at zero; 5: loads that
# have the graph of another
FORMAT, VERSION, SIGNS, BEFORE_SIGNS = "boolcomp program", 5, 4, 3
HEAD, CERTIFICATE = "program.json", "certificate.txt"


def save_program(program: Program, folder: str | Path) -> None:
    """Write a program to a directory; a program that is there already is replaced."""
    target = Path(os.path.realpath(folder))  # a symbolic link stays one
    if target.is_dir() and any(target.iterdir()) and not (target / HEAD).is_file():
        raise DataError(f"{folder}: is a directory with other things in it, and no program")
    if target.exists() and not target.is_dir():
        raise DataError(f"{folder}: is a file; a program is saved to a directory")
    try:
        with folder_of(target), temporary_folder(target) as temporary:
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


def render_program(program: Program) -> dict[str, str]:
    """Return the files of a program: texts by their names inside its directory."""
    files = {network_name(k): render_network(n) for k, n in enumerate(program.networks)}
    shared = _shared_graphs(program)
    files |= {
        graph_name(k): str(load.graph)
        for k, load in enumerate(program.loads)
        if load.graph and shared[k] == k
    }
    files |= {CERTIFICATE: program.certificate} if program.certificate else {}
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": _version(program, shared),
        "made_by": f"boolcomp {BOOLCOMP}",
        "name": program.name,
        "bits": program.bits,
        "mode": program.mode,
        "plural": program.plural,
        "places": program.places,
        "demand": program.demand,
        "groups": [[group.name, *group.members] for group in program.groups],
        "returned": [program.returned.name, *program.returned.members],
        "inputs": [
            {"name": word.name, "unit": word.unit, "code": _code(word.code)}
            for word in program.inputs
        ],
        "networks": len(program.networks),
        "loads": [
            {**_load(load), **({} if shared[k] == k else {"graph": shared[k]})}
            for k, load in enumerate(program.loads)
        ],
        **({"per_kilogram": list(program.per_kilogram)} if program.per_kilogram else {}),
        "stops": [[one.name, one.range.low, one.range.high] for one in program.stops],
    }
    return {HEAD: sealed(document, files), **files}


def sealed(document: dict[str, Any], files: Mapping[str, str]) -> str:
    """Return the text of `program.json`: a document with the checksums of the files and its own."""
    whole = {key: value for key, value in document.items() if key != "checksum"}
    whole["files"] = {name: digest(text) for name, text in files.items()}
    whole["checksum"] = digest(canonical(whole))
    return json.dumps(whole, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _shared_graphs(program: Program) -> list[int]:
    """Return of every load which one's graph it has: equal graphs are one file.

    A certificate is of one file a load.
    """
    first: dict[str, int] = {}
    return [
        k if not load.graph or program.certificate else first.setdefault(str(load.graph), k)
        for k, load in enumerate(program.loads)
    ]


def _version(program: Program, shared: list[int]) -> int:
    """Return the earliest format that can say this."""
    if shared != list(range(len(shared))):
        return VERSION
    return SIGNS if _has_signs(program) else BEFORE_SIGNS


def _has_signs(program: Program) -> bool:
    """Tell whether words are of a kind that earlier versions do not know."""
    codes = [word.code for word in program.inputs]
    codes += [output.code for load in program.loads for output in load.outputs]
    joint = any(load.joint for load in program.loads)
    plain = ("natural",) if joint else ("natural", "gray")
    return any(code.tread or code.kind not in plain for code in codes)


def network_name(k: int) -> str:
    """Return the name of the file of a network."""
    return f"networks/{k}.txt"


def graph_name(k: int) -> str:
    """Return the name of the file of a load's word graph."""
    return f"graphs/{k}.txt"


def digest(text: str) -> str:
    """Return the checksum of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def canonical(document: dict[str, Any]) -> str:
    """Return the text of a document that its checksum is of."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"))


def _code(code: Code) -> dict[str, Any]:
    section = {"kind": code.kind, "bits": code.bits, "range": [code.range.low, code.range.high]}
    section |= {"wraps": True} if code.wraps else {}
    return {**section, "zero": "tread"} if code.tread else section


def _load(load: Load) -> dict[str, Any]:
    outputs = [_output_document(output) for output in load.outputs]
    section: dict[str, Any] = {"payload": load.payload, "outputs": outputs}
    if load.joint is None:
        return section
    section |= {"network": load.joint.network, "words": _words(load.joint.words)}
    return section if load.graph is None else {**section, "meanings": list(load.meanings)}


def _words(words: Sequence[Slice]) -> list[list[int]]:
    return [[word.input, word.bits, word.dropped] for word in words]


def _output_document(output: CodedOutput) -> dict[str, Any]:
    return {
        "name": output.name,
        "symbol": output.symbol,
        "unit": output.unit,
        "code": _code(output.code),
        "guard_bits": output.guard_bits,
        "terms": [
            {
                "name": term.name,
                "text": term.text,
                "network": term.network,
                "code": _code(term.code),
                "words": _words(term.words),
            }
            for term in output.terms
        ],
        "left_out": list(output.left_out),
        "bound": output.bound if math.isfinite(output.bound) else None,
        "errors": None if output.errors is None else asdict(output.errors),
        **({} if output.rest is None else {"rest": list(output.rest)}),
        **({"grade": output.grade} if output.grade else {}),
    }
