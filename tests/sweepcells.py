"""Cells of sweeps that cost nothing but time: what workers of tests compute in place of compiling.

`python sweepcells.py quick ARGUMENTS…` is `boolcomp ARGUMENTS…` with such cells.
"""

import base64
import hashlib
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

from boolcomp.scale import CellOutcome, compute, installation

PAUSE = 0.15  # seconds of a cell
ENDLESS = "ENDLESS_CELLS"  # the variable that says up to how many bits cells never end
REAL = 4  # bits of cells that are compiled, if any is
DEADLY, REFUSED = 15, 16  # bits of cells that kill their worker, or have no result


def quick(cell: Any, asked_by: list[str]) -> CellOutcome:
    """Return a result that only the cell decides, after a while."""
    del asked_by
    time.sleep(1000 if cell.bits <= int(os.environ.get(ENDLESS, "0")) else PAUSE)
    if cell.bits == DEADLY:
        os.kill(os.getpid(), signal.SIGKILL)
    if cell.bits == REFUSED:
        return CellOutcome(why="no such logic")
    data = f"{cell.function} {cell.bits}\n".encode()
    output = {
        "payload": 0.0, "name": "G1", "unit": "N·m", "bits": cell.bits, "lsb": 0.5, "rms": 0.1,
        "sampled_max": 0.25, "worst_found": 0.5, "bound": 1 / cell.bits,
    }  # fmt: skip
    found = {
        "program": cell.label, "nodes": 10 * cell.bits, "lut6": cell.bits, "depth": 3,
        "input_bits": {"q1": 4}, "outputs": [output],
        "files": {"c/a.c": hashlib.sha256(data).hexdigest()},
    }  # fmt: skip
    return CellOutcome(found, {"c/a.c": base64.b64encode(data).decode()}, time.time() % 1)


def mixed(cell: Any, asked_by: list[str]) -> CellOutcome:
    """Compile cells of 4 bits on few samples; the others cost nothing."""
    if cell.bits != REAL:
        return quick(cell, asked_by)
    with (
        patch("boolcomp.compact.passes.FRESH_SAMPLES", 2000),
        patch("boolcomp.compact.widths.QUICK_SEEN", 2000),
        patch("boolcomp.logic.lutmapping.find", return_value=None),
    ):
        return compute(cell, installation())


def spec(folder: Path, *, bits: list[int], functions: tuple[str, ...] = ("gravity",)) -> Path:
    """Write the file of a sweep."""
    path = folder / "sweep.toml"
    named = ", ".join(f'"{one}"' for one in functions)
    path.write_text(f'robots = ["machado-2r"]\nfunctions = [{named}]\nbits = {bits}\neffort = 0\n')
    return path


def contents(folder: Path) -> dict[str, bytes]:
    """Return all files of a sweep that are to be the same whoever made them."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "costs" not in path.relative_to(folder).parts
    }


if __name__ == "__main__":
    import sweepcells

    from boolcomp.cli import main

    # Known by its module to workers.
    with patch("boolcomp.scale.sweep.compute", getattr(sweepcells, sys.argv[1])):
        main(sys.argv[2:])
