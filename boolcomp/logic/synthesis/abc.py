"""ABC as a supervised process: found, limited in time and memory, and never the cause of a crash.

Whatever goes wrong is an `Outcome` with a sentence: ABC missing, out of time, out of memory, dead,
or refusing a command. It runs in a process group and a temporary folder of its own; both are gone
when `run` returns, also when it is interrupted. All aliases are ours: Debian ships none.
"""

from __future__ import annotations

import math
import os
import shutil
import time
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from boolcomp.base.files import temporary_folder
from boolcomp.base.processes import run_program
from boolcomp.common.launcher import Limits

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Status = Literal["done", "missing", "timeout", "memory", "crashed", "refused"]
NAMES = ("yosys-abc", "berkeley-abc", "abc")
MEMORY = 2 << 30
LONGEST = 10**6  # seconds
_OUT_OF_TIME = 24  # SIGXCPU; not every system has the name
MOST_OUTPUT = 1 << 20  # characters kept of what ABC prints

ALIASES = {
    "b": "balance",
    "bl": "balance -l",
    "rw": "rewrite",
    "rwz": "rewrite -z",
    "rwl": "rewrite -l",
    "rwzl": "rewrite -z -l",
    "rf": "refactor",
    "rfz": "refactor -z",
    "rfl": "refactor -l",
    "rfzl": "refactor -z -l",
    "resyn": "b; rw; rwz; b; rwz; b",
    "resyn2": "b; rw; rf; b; rw; rwz; b; rfz; rwz; b",
    "compress2rs": (
        "bl; resub -K 6 -l; rwl; resub -K 6 -N 2 -l; rfl; resub -K 8 -l; bl; resub -K 8 -N 2 -l; "
        "rwl; resub -K 10 -l; rwzl; resub -K 10 -N 2 -l; bl; resub -K 12 -l; rfzl; "
        "resub -K 12 -N 2 -l; rwzl; bl"
    ),
}


@dataclass(frozen=True, slots=True)
class Tool:
    """An ABC program and where it was found."""

    path: Path
    source: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run left: its status, a sentence where it is not "done", what was printed, files.

    Files that ABC had written before it failed are there too; the last may be cut off.
    """

    status: Status
    note: str = ""
    printed: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def done(self) -> bool:
        """Whether ABC ran every command."""
        return self.status == "done"


MISSING = Outcome(
    "missing", "ABC was not found: pip install 'boolcomp[abc]', or put yosys-abc on PATH"
)


def find() -> Tool | None:
    """Return the ABC of the pyosys wheel, else the first on PATH, else None."""
    spec = find_spec("pyosys")
    if spec is not None and spec.origin is not None:
        bundled = Path(spec.origin).with_name("yosys-abc")
        if os.access(bundled, os.X_OK):
            return Tool(bundled, "the pyosys wheel")
    for name in NAMES:
        found = shutil.which(name)
        if found is not None:
            return Tool(Path(found), "PATH")
    return None


def script_of(commands: Iterable[str]) -> str:
    """Return a script that defines our aliases and runs commands, one a line."""
    lines = [f'alias {name} "{meaning}"' for name, meaning in ALIASES.items()]
    return "\n".join([*lines, *commands]) + "\n"


def run(
    tool: Tool | None,
    commands: Iterable[str],
    files: Mapping[str, str],
    wanted: Iterable[str],
    *,
    deadline: float = 60.0,
    memory: int = MEMORY,
) -> Outcome:
    """Run commands on files in a temporary folder; return the wanted files that were written.

    `deadline` is in seconds, `memory` in bytes of address space. Never raises for what ABC does.
    """
    if tool is None:
        return MISSING
    if deadline <= 0:
        return Outcome("timeout", "no time was left for ABC")
    start = time.monotonic()
    with temporary_folder() as folder:
        for file, text in files.items():
            (folder / file).write_text(text, encoding="ascii")
        (folder / "script.abc").write_text(script_of(commands), encoding="ascii")
        status, note, printed = _supervise(tool, folder, min(deadline, LONGEST), memory)
        found = {
            file: (folder / file).read_text(encoding="ascii", errors="replace")
            for file in wanted
            if (folder / file).is_file()
        }
    return Outcome(status, note, printed, found, time.monotonic() - start)


def _supervise(tool: Tool, folder: Path, deadline: float, memory: int) -> tuple[Status, str, str]:
    """Run the script of a folder; no process of the group is left when this returns."""
    command = [str(tool.path), "-s", "-q", "source -x script.abc"]
    limits = Limits(memory, math.ceil(deadline) + 2)
    ended = run_program(command, deadline, folder=folder, limits=limits)
    if ended.code is None:
        return "timeout", f"ABC was stopped after {deadline:.3g} s", ""
    printed = ended.printed[-MOST_OUTPUT:].decode("utf-8", "replace")
    return (*_judged(ended.code, printed, memory), printed)


def _judged(code: int, printed: str, memory: int) -> tuple[Status, str]:
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    last = lines[-1][:200] if lines else "it said nothing"
    if code in (-_OUT_OF_TIME, 128 + _OUT_OF_TIME):
        return "timeout", "ABC used up its processor time"
    if code and any("memory" in line.lower() or "bad_alloc" in line for line in lines[-3:]):
        return "memory", f"ABC needed more than {memory >> 20} MiB: {last}"
    if code < 0:
        return "crashed", f"ABC died by signal {-code}: {last}"
    if code:
        return "crashed", f"ABC ended with exit code {code}: {last}"
    refusal = next((line for line in lines if line.startswith("** cmd error")), None)
    if refusal is not None:
        return "refused", f"ABC refused a command: {refusal[:200]}"
    return "done", ""
