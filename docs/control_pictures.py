"""Pictures of docs/research/control.md, which `make_pictures.py` draws: arms in closed loop."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from boolcomp.base.pages import ChartAxis, lines, picture
from boolcomp.compact.demand import usual_demand
from boolcomp.compact.passes import CompactChoices
from boolcomp.measure.control import LoopSettings, StudyRequest, study
from boolcomp.pipeline import compile_compact
from boolcomp.problem.robot.library import load_robot
from boolcomp.problem.words import formats

if TYPE_CHECKING:
    from pathlib import Path

    from boolcomp.base.pages import Chart, ChartRow
    from boolcomp.measure.control import Study
    from boolcomp.problem.problem import Problem
    from boolcomp.program.program import Program

TRAJECTORIES = ("point", "circle", "sine")
RULED = (4, 6, 8, 10, 12, 14)
LOST = 3e3  # mm: no error of an arm that still follows
TIP = ChartAxis("error", "largest error at the tip, mm", log=True)
MODES = ChartAxis(
    "mode", "", names=True, order=("rounded", "paper", "compact"), levels=("exact", "1 mm")
)
REST = 0.04  # s of a rest that are drawn
RESTING = {"torque 1, N·m": [-0.4, 0.4], "joint 1 off by, µrad": [-1.2, 1.2]}


@dataclass(frozen=True, slots=True)
class Arm:
    """An arm of the documentation: its programs that ship, by bits, and the effort of those."""

    name: str
    compact: tuple[int, ...]
    paper: bool = True
    efforts: tuple[tuple[int, float], ...] = ()  # of word lengths, where it is not the usual one

    def program(self, problem: Problem, bits: int) -> Program:
        """Return a program that ships."""
        effort = dict(self.efforts).get(bits)
        demand = usual_demand(bits) if effort is None else usual_demand(bits, effort=effort)
        return compile_compact(problem, CompactChoices(demand)).program

    def studied(self, mode: str, bits: tuple[int, ...], **settings: Any) -> Study:
        """Return the arm on all trajectories, in a mode, at word lengths."""
        robot, chosen = load_robot(self.name), LoopSettings(**settings)
        loop = chosen.loop(robot, "computed-torque")
        ways = chosen.trajectories(robot, TRAJECTORIES)
        question = StudyRequest(robot, "computed-torque", (mode,), bits, self.program)
        return study(loop, question.variants(loop), ways)


ARMS = (
    Arm("machado-2r", (4, 6, 8, 10, 12)),
    Arm("scara", (6, 8, 10), efforts=((6, 0.0), (8, 0.0), (10, 0.0))),
    Arm("puma560", (6, 8), efforts=((6, 0.0),)),
    Arm("panda", (), paper=False),
)


@functools.cache
def answers(arm: Arm) -> dict[str, dict[int | None, tuple[float, int | None]]]:
    """Return the largest error of the tip (mm) and the nodes of every mode by bits."""
    found: dict[str, dict[int | None, tuple[float, int | None]]] = {}
    asked = [("rounded", RULED), ("paper", RULED if arm.paper else ()), ("compact", arm.compact)]
    for mode, bits in asked:
        for row in arm.studied(mode, bits).rows if bits else ():
            if row.tip_max is None:
                continue
            line = found.setdefault(row.variant.mode, {})
            size = max(1000 * row.tip_max, line.get(row.variant.bits, (0.0, None))[0])
            line[row.variant.bits] = (size, row.variant.nodes)
    return found


def table() -> str:
    """Return the table of docs/research/control.md: mm at the tip by arm, mode and bits."""
    lines = [
        "| arm | torques | " + " | ".join(f"{bits} bits" for bits in RULED) + " |",
        "|---|---|" + "--:|" * len(RULED),
    ]
    for arm in ARMS:
        for mode, line in answers(arm).items():
            if mode == "exact":
                cells = [f"{line[None][0]:.3g}"] + [""] * (len(RULED) - 1)
            else:
                cells = [_cell(line.get(bits)) for bits in RULED]
            lines.append(f"| {arm.name} | {mode} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(found: tuple[float, int | None] | None) -> str:
    if found is None:
        return "–"
    size, nodes = found
    text = f"{size:.3g}" if size < 1000 else "lost"
    return text if nodes is None else f"{text} ({nodes})"


def draw_bits(path: Path) -> None:
    """Draw the largest error of the tip against bits, an arm a panel."""
    charts = []
    for arm in ARMS:
        rows: list[ChartRow] = []
        for mode, line in answers(arm).items():
            for bits in RULED if mode == "exact" else line:
                size = line[None if mode == "exact" else bits][0]
                if size < LOST:
                    rows.append({"bits": bits, "error": size, "mode": mode})
        rows += [{"bits": bits, "error": 1.0, "mode": "1 mm"} for bits in RULED]
        charts.append(
            lines(rows, ChartAxis("bits", "bits of a torque", values=RULED), TIP, colour_by=MODES,
                  title=arm.name)
        )  # fmt: skip
    path.write_bytes(picture(charts, "svg"))


def draw_bandwidth(path: Path) -> None:
    """Draw what bandwidth and encoders do to the 2R's error at the tip."""
    arm, bits = ARMS[0], (6, 8, 10)
    charts = []
    for key, values, title, log in (
        ("bandwidth", (5.0, 10.0, 20.0, 40.0), "bandwidth, rad/s", True),
        ("encoder_bits", (12, 14, 16, 18, 20), "bits of an encoder's turn", False),
    ):
        sizes: dict[tuple[str, float], float] = {}
        for value in values:
            for row in arm.studied("compact", bits, **{key: value}).rows:
                name = "exact" if row.variant.bits is None else f"{row.variant.bits} bits"
                size = max(1000 * (row.tip_max or 0.0), sizes.get((name, value), 0.0))
                sizes[name, value] = size
        rows: list[ChartRow] = [
            {"value": value, "error": size, "mode": name} for (name, value), size in sizes.items()
        ]
        at = ChartAxis("value", title, log=log, values=values)
        charts.append(lines(rows, at, TIP, colour_by=MODES, title=title))
    path.write_bytes(picture(charts, "svg"))


def rests() -> dict[str, Study]:
    """Return a SCARA that rests, its torques in words without and with a cell at zero."""
    robot, settings = load_robot("scara"), LoopSettings(seconds=2.0)
    loop = settings.loop(robot, "computed-torque")
    ways = settings.trajectories(robot, ["hold", "point:time=1"])
    found = {}
    for zero in ("rise", "tread"):
        words = formats("words", [f"{name}=twos:{zero}" for name in ("qd", "qdd", "tau")])
        question = StudyRequest(
            robot, "computed-torque", ("rounded",), (8,), ARMS[1].program, words
        )
        found[zero] = study(loop, question.variants(loop), ways)
    return found


def draw_rest(path: Path) -> None:
    """Draw the torque and the place of a SCARA's first joint that is to stand still."""
    torques: list[Chart] = []
    places: list[Chart] = []
    for zero, found in rests().items():
        recording = found.recording
        run = recording.run(1, 0)
        count = recording.trajectories[0].own
        last = slice(count - round(REST * found.loop.drive.rate), count)
        off = recording.q[last, 0, run] - recording.trajectories[0].q[last, 0]
        kind = {"rise": "mid-rise: no cell at zero", "tread": "mid-tread: a cell at zero"}[zero]
        for charts, values, title in (
            (torques, recording.applied[last, 0, run], "torque 1, N·m"),
            (places, 1e6 * off, "joint 1 off by, µrad"),
        ):
            rows: list[ChartRow] = [
                {"ms": 1000 * k / found.loop.drive.rate, "value": float(value)}
                for k, value in enumerate(values)
            ]
            chart = lines(
                rows,
                ChartAxis("ms", "ms"),
                ChartAxis("value", title),
                title=kind,
                points=False,
                high=130,
            )
            chart.spec["mark"]["interpolate"] = "step-after"
            chart.spec["encoding"]["y"]["scale"]["domain"] = RESTING[title]
            charts.append(chart)
    path.write_bytes(picture([*torques, *places], "svg"))


if __name__ == "__main__":
    print(table())
