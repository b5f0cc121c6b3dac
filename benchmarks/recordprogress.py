"""Record stages of compilations for tests/progress_recordings.json: processor time, not clocks.

    python benchmarks/recordprogress.py [NAME …]

Work is done in one process. Every stage is recorded as it is told, with the share of it that is
done, the nodes so far, and the counts that estimates follow from. Estimates are printed beside what
was true.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from boolcomp import pipeline
from boolcomp.base.errors import table
from boolcomp.base.store import place_of
from boolcomp.base.workers import ALONE, Course
from boolcomp.compact import passes
from boolcomp.compact import passes as compact
from boolcomp.compact.demand import Listener, Progress, usual_demand
from boolcomp.paper import passes as paper
from boolcomp.paper.covers import CoverStore
from boolcomp.paper.plan import PlanOptions
from boolcomp.problem.sources import load_source

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / "tests" / "progress_recordings.json"
ARM = """<robot name="three">
<link name="base"/>
<joint name="j1" type="revolute"><parent link="base"/><child link="l1"/>
  <origin xyz="0 0 0.2"/><axis xyz="0 0 1"/>
  <limit lower="-2.5" upper="2.5" effort="8" velocity="2"/></joint>
<link name="l1"><inertial><origin xyz="0 0 0.1"/><mass value="3"/>
  <inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j2" type="revolute"><parent link="l1"/><child link="l2"/>
  <origin xyz="0 0 0.2"/><axis xyz="0 1 0"/>
  <limit lower="-1.5" upper="1.5" effort="20" velocity="2"/></joint>
<link name="l2"><inertial><origin xyz="0.2 0 0"/><mass value="2"/>
  <inertia ixx="0.005" iyy="0.03" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j3" type="revolute"><parent link="l2"/><child link="l3"/>
  <origin xyz="0.4 0 0"/><axis xyz="0 1 0"/>
  <limit lower="-2" upper="2" effort="5" velocity="2"/></joint>
<link name="l3"><inertial><origin xyz="0.15 0 0"/><mass value="1"/>
  <inertia ixx="0.002" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
</robot>
"""
COMPACT = {  # source, bits, effort
    "2r": ("machado-2r", 8, 2.0),
    "elbow": ("elbow-3r", 8, 0.0),
    "urdf-3r": (ARM, 6, 1.0),
    "pid": (str(ROOT / "examples" / "functions" / "pid.toml"), 8, 1.0),
}


def spent() -> float:
    """Return the processor time of this process and of those that it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def of_compact(name: str, folder: Path) -> dict[str, Any]:
    """Record a compilation in compact mode."""
    source, bits, effort = COMPACT[name]
    if source.startswith("<"):
        (folder / "arm.urdf").write_text(source)
        source = str(folder / "arm.urdf")
    made: dict[str, Any] = {"name": name, "mode": "compact", "effort": effort}
    heard: list[list[Any]] = []

    def recorded(listener: Listener, demand: Any) -> Listener:
        inner = passes.on_course(listener, demand)

        def told(step: Progress) -> None:
            at, part = round(spent() - start, 2), round(step.fraction, 4)
            heard.append([at, step.stage, part, step.best_nodes])
            if step.counts is not None:
                made["counts"] = step.counts
            inner(step)

        return told

    def show(step: Progress) -> None:
        told.append((step.fraction, step.left or 0.0))

    told: list[tuple[float, float]] = []
    start = spent()
    demand = usual_demand(bits, approximate=None, effort=effort)
    choices = compact.CompactChoices(
        demand, str(folder), also_shipped=False, workers=ALONE, progress=show
    )
    with patch.object(pipeline, "on_course", recorded):
        pipeline.compile_compact(load_source(source), choices)
    made |= {"approximate": demand.approximate, "took": heard[-1][0], "heard": heard}
    report(made, told)
    return made


def of_paper(name: str, folder: Path) -> dict[str, Any]:
    """Record a compilation in paper mode."""
    made: dict[str, Any] = {"name": name, "mode": "paper"}
    heard: list[list[Any]] = []
    told: list[tuple[float, float]] = []

    def recorded(choices: paper.PaperChoices) -> paper.PaperChoices:
        course = Course(paper.WORK, ())

        def hear(stage: str, what: str, part: float, **more: Any) -> None:
            del what
            counted = dict(more.get("counted") or {})
            course.expect(counted, paper.GUESSED)
            heard.append([round(spent() - start, 2), stage, round(part, 4), counted])
            told.append((course.at(stage, part), course.left))

        return replace(choices, progress=hear)

    start = spent()
    store = CoverStore((place_of(folder),))
    choices = paper.PaperChoices(PlanOptions(8), store=store, workers=ALONE)
    with patch.object(paper, "on_course", recorded):
        pipeline.compile_paper(load_source("machado-2r"), choices)
    made |= {"took": heard[-1][0], "heard": heard}
    report(made, told)
    return made


def report(made: dict[str, Any], told: list[tuple[float, float]]) -> None:
    """Print what was estimated beside what it was."""
    rows = [
        [stage, f"{part:.2f}", f"{at:.1f}", f"{fraction:.0%}", f"{at * left:.1f}",
         f"{made['took'] - at:.1f}"]
        for (at, stage, part, _), (fraction, left) in zip(made["heard"], told, strict=True)
    ]  # fmt: skip
    head = ("stage", "part", "s", "done", "said left, s", "left, s")
    print(f"{made['name']}: {made['took']} s\n{table(head, rows)}\n", flush=True)


def main() -> None:
    """Record, and keep what else was recorded."""
    kept = {one["name"]: one for one in json.loads(PLACE.read_text())} if PLACE.exists() else {}
    for name in sys.argv[1:] or [*COMPACT, "paper"]:
        with tempfile.TemporaryDirectory() as folder:
            record = of_paper if name == "paper" else of_compact
            kept[name] = record(name, Path(folder))
    lines = ",\n".join(json.dumps(one) for one in kept.values())
    PLACE.write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
