"""Programs as a stranger may have damaged or forged them: files by name."""

import hashlib
import json
import random
from functools import cache
from pathlib import Path
from typing import Any

from fuzzing import damaged
from small_programs import stages

import boolcomp as bc
from boolcomp.program import HEAD, Program, render_program

Files = dict[str, bytes]

TOKENS = (
    "0", "1", "i0", "n0", "n1", "i99", "n999999999", "~i0", "&", "9999999", "0x96(i0, i1, i2)",
    "i0" * 1000,
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    0, 1, -1, 2, 31, 32, 33, 64, 65, 1 << 40, 10**400, 1e308, -1e308, 1e-308, None, True, "", "q",
    "gray", "x" * 100_000, [], {}, [[]], [0, 1], [-1e308, 1e308], [0.0, 1e-320],
)  # fmt: skip


def files_of(program: Program) -> Files:
    """Return the files of a program."""
    return {name: text.encode() for name, text in render_program(program).items()}


@cache
def program_files() -> tuple[Files, ...]:
    """Return two programs as files: product terms, and one network for all torques."""
    programs = (stages(4)[2], bc.compile("machado-2r", bits=8))
    return tuple(files_of(program) for program in programs)


def sealed(files: Files, head: Any) -> None:
    """Put the right checksums over edited files."""
    head["files"] = {
        name: hashlib.sha256(data).hexdigest() for name, data in files.items() if name != HEAD
    }
    head.pop("checksum", None)
    canonical = json.dumps(head, sort_keys=True, separators=(",", ":"))
    head["checksum"] = hashlib.sha256(canonical.encode()).hexdigest()
    files[HEAD] = json.dumps(head).encode()


def edited(rng: random.Random, head: Any) -> None:
    """Change one value somewhere in a document."""
    place = head
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return
        key = rng.choice(keys)
        if isinstance(place[key], dict | list) and place[key] and rng.random() < 0.85:
            place = place[key]
            continue
        old = place[key]
        if isinstance(old, int | float) and rng.random() < 0.5:
            place[key] = old + rng.choice((1, -1, 0.5, old))
        elif isinstance(place, list) and rng.random() < 0.3:
            place.insert(key, old)
        elif rng.random() < 0.1:
            del place[key]
        else:
            place[key] = rng.choice(VALUES)
        return


def edited_network(rng: random.Random, text: str) -> str:
    """Change lines or signals of a network."""
    lines = text.split("\n")
    for _ in range(rng.choice((1, 1, 2))):
        a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
        kind = rng.randrange(5)
        if kind == 0:
            lines[a], lines[b] = lines[b], lines[a]
        elif kind == 1:
            words = lines[a].split(" ")
            words[rng.randrange(len(words))] = rng.choice(TOKENS)
            lines[a] = " ".join(words)
        elif kind == 2:
            del lines[a]
        elif kind == 3:
            lines[a] = damaged(rng, lines[a].encode()).decode("utf-8", "replace")
        else:
            sizes = (rng.randrange(40), rng.randrange(40), len(lines) - 3)
            lines[0] = "network {} inputs {} outputs {} nodes".format(*sizes)
    return "\n".join(lines)


def forged_program(rng: random.Random) -> Files:
    """Return a program's files with damage, or edits under right checksums."""
    files = dict(rng.choice(program_files()))
    name, kind = rng.choice(list(files)), rng.randrange(8)
    if kind == 0:
        files[name] = damaged(rng, files[name])
    elif kind == 1:
        del files[name]
    elif kind == 2:
        other = rng.choice(list(files))
        files[name], files[other] = files[other], files[name]
    else:
        head = json.loads(files[HEAD])
        if kind < 6:
            for _ in range(rng.choice((1, 1, 2))):
                edited(rng, head)
        elif name != HEAD:
            files[name] = edited_network(rng, files[name].decode()).encode("utf-8", "replace")
        sealed(files, head)
    return files


def written(files: Files, folder: Path) -> None:
    """Put files in a folder, and nothing else."""
    for old in sorted(folder.rglob("*"), reverse=True):
        if old.is_file():
            old.unlink()
    for name, data in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)
