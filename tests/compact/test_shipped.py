"""What the documentation says of results that ship is said of results that are there."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

from samples import problem_of

from boolcomp.common.files import shipped
from boolcomp.compact.demand import Demand, digest

ROOT = Path(__file__).resolve().parents[2]


def _is_there(robot: str, demand: Demand) -> bool:
    name = f"{robot}-{demand.bits}.{digest(problem_of(robot), demand)}.compact.json"
    return (shipped("tables") / name).is_file()


def test_every_row_of_the_benchmark_ships() -> None:
    module = runpy.run_path(str(ROOT / "benchmarks" / "compact.py"))
    missing = [row.name for row in module["ROWS"] if not _is_there(row.robot, row.demand)]
    assert missing == []


def test_what_the_demonstration_compiles_in_compact_mode_ships() -> None:
    lines = re.findall(
        r"boolcomp compile (\S+) --bits (\d+)(.*) -o", (ROOT / "Makefile").read_text()
    )
    compact = [line for line in lines if "--mode paper" not in line[2]]
    assert len(compact) >= 2
    for robot, bits, more in compact:
        rms = re.search(r"--rms-error (\S+)", more)
        assert set(re.findall(r"--\S+", more)) <= {"--rms-error"}
        width = int(bits)
        inputs = dict.fromkeys(("q", "qd", "qdd"), width + 2)
        allowed = tuple(float(x) for x in rms[1].split(",")) if rms else ()
        assert _is_there(robot, Demand(width, inputs, allowed)), (robot, more)
