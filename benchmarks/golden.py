"""What the commands print, kept and compared: the same bytes before and after a change.

    python benchmarks/golden.py --write FOLDER      run all commands and keep what they print
    python benchmarks/golden.py --compare FOLDER    run them again; print what differs, exit code 1

Seconds and dates are masked; files that a command writes count by their digests.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import boolcomp

STATES = "q1,q2,qd1,qd2,qdd1,qdd2\n0.3,-0.7,0.4,0.9,-0.5,0.2\n2.1,0.9,-0.8,0.3,0.1,-0.6\n"
PLA = ".i 4\n.o 2\n0--1 10\n1-0- 11\n-110 01\n0-1- 1-\n.e\n"
TIMES = re.compile(r'\b\d+(\.\d+)?(e-?\d+)? s\b|("(seconds|date|made_at)": )[^,\n}]+')


def commands() -> list[str]:
    """Return all command lines."""
    lines = ["--help", "robots", "robots --json", "terms machado-2r", "terms puma560 --json"]
    for robot in boolcomp.robot_names():
        lines += [f"robots {robot}", f"plan {robot} --bits 8", f"plan {robot} --bits 8 --json"]
    lines += [
        "terms machado-2r --form products", "terms stanford --form amplitude-phase",
        "tables machado-2r --bits 4 -o t4", "tables machado-2r --bits 5 --rounding faithful -o f",
        "compile machado-2r --bits 8 -o c8", "compile machado-2r --bits 8 --json",
        "compile machado-2r --bits 8 --mode paper -o p8", "compile machado-2r --bits 4 --json",
        "compile machado-2r --bits 8 --mode paper --json",
        "compile puma560 --rms-error .505 --json",
        "compile elbow-3r --rms-error .505", "plan machado-2r --mode compact --graph g.svg",
        "evaluate c8 -i states.csv", "evaluate p8 -i states.csv",
        "evaluate machado-2r -i states.csv",
        "evaluate p8 -i states.csv --engine numpy", "evaluate c8 -i states.csv -o t.npy --json",
        "report c8 --samples 5000 --evaluations 20000 --json",
        "report machado-2r --bits 4,6 --mode paper --samples 5000 --evaluations 20000 --no-logic",
        "minimize a.pla", "minimize a.pla --method exact --json", "minimize a.pla --method isop",
        "schedule --help", "terms machado-3r", "compile machado-2r --bits 99",
    ]  # fmt: skip
    return lines


def masked(text: str, folder: str) -> str:
    """Return a text without times and the name of the folder."""
    return TIMES.sub(lambda m: f"{m[3] or ''}…", text.replace(folder, "FOLDER"))


def printed() -> dict[str, str]:
    """Run all commands in a folder of their own; return what each printed and wrote."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        (here / "states.csv").write_text(STATES)
        (here / "a.pla").write_text(PLA)
        for line in commands():
            before = {p: p.stat().st_mtime_ns for p in here.rglob("*") if p.is_file()}
            result = subprocess.run(
                [sys.executable, "-P", "-m", "boolcomp", *line.split()], cwd=folder, text=True,
                capture_output=True, check=False, env={**os.environ, "COLUMNS": "200"},
            )  # fmt: skip
            text = f"$ {line}\n{result.stdout}{result.stderr}exit code {result.returncode}\n"
            for path in sorted(here.rglob("*")):
                if path.is_file() and before.get(path) != path.stat().st_mtime_ns:
                    data = path.read_bytes()
                    if path.suffix not in (".png", ".svg", ".html"):
                        digest = hashlib.sha256(data).hexdigest()[:16]
                        text += f"{path.relative_to(here)} {len(data)} {digest}\n"
            found[line] = masked(text, folder)
            print(line, file=sys.stderr, flush=True)
    return found


def main() -> int:
    """Write or compare; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--write", type=Path)
    parser.add_argument("--compare", type=Path)
    given = parser.parse_args()
    found = printed()
    folder = given.write or given.compare
    if folder is None:
        parser.error("say --write FOLDER or --compare FOLDER")
    if given.write:
        folder.mkdir(parents=True, exist_ok=True)
    different = 0
    for k, (line, text) in enumerate(found.items()):
        path = folder / f"{k:03}.txt"
        if given.write:
            path.write_text(text, encoding="utf-8")
            continue
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        if old != text:
            different += 1
            print(f"== {line}")
            print(
                "\n".join(difflib.unified_diff(old.split("\n"), text.split("\n"), lineterm="", n=0))
            )
    print(f"{len(found)} commands, {different} different")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
