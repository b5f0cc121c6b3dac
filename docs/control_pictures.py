"""Pictures of docs/control.md, which `make_pictures.py` draws: arms in closed loop."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import pyplot as plt

from boolcomp.compact.demand import usual_demand
from boolcomp.compact.passes import CompactChoices
from boolcomp.measure.control.blocks import Question, Settings
from boolcomp.measure.control.study import COLOURS, MARKS, study
from boolcomp.pipeline import compile_compact
from boolcomp.problem.robot.library import load_robot
from boolcomp.problem.words import formats

if TYPE_CHECKING:
    from pathlib import Path

    from boolcomp.measure.control.study import Study
    from boolcomp.problem.problem import Problem
    from boolcomp.program.program import Program

TRAJECTORIES = ("point", "circle", "sine")
RULED = (4, 6, 8, 10, 12, 14)
REST = 0.04  # s of a rest that are drawn


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
        robot, chosen = load_robot(self.name), Settings(**settings)
        loop = chosen.loop(robot, "computed-torque")
        ways = chosen.trajectories(robot, TRAJECTORIES)
        question = Question(robot, "computed-torque", (mode,), bits, self.program)
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
    """Return the table of docs/control.md: millimetres at the tip, by arm, mode and bits."""
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
    figure, panels = plt.subplots(1, 4, figsize=(12, 3.3), layout="constrained", sharey=True)
    for panel, arm in zip(panels, ARMS, strict=True):
        for mode, line in answers(arm).items():
            colour = COLOURS[mode]
            if mode == "exact":
                panel.axhline(line[None][0], color=colour, lw=0.9, label="exact")
                continue
            sizes = {bits: size for bits, (size, _) in line.items() if bits is not None}
            panel.plot(list(sizes), list(sizes.values()), MARKS[mode] + "-", color=colour,
                       label=mode, ms=4)  # fmt: skip
        panel.axhline(1.0, color="#b8860b", ls=":", lw=1.2, label="1 mm")
        panel.set(title=arm.name, xlabel="bits of a torque", yscale="log", xticks=RULED)
        panel.set_ylim(5e-3, 3e3)
        panel.grid(visible=True, alpha=0.3)
    panels[0].set_ylabel("largest error at the tip, mm")
    panels[0].legend(fontsize=7)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def draw_bandwidth(path: Path) -> None:
    """Draw what bandwidth and encoders do to the 2R's error at the tip."""
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.3), layout="constrained", sharey=True)
    arm, bits = ARMS[0], (6, 8, 10)
    axes = (
        ("bandwidth", (5.0, 10.0, 20.0, 40.0), "bandwidth, rad/s"),
        ("encoder_bits", (12, 14, 16, 18, 20), "bits of an encoder's turn"),
    )
    for panel, (key, values, label) in zip(panels, axes, strict=True):
        lines: dict[str, list[float]] = {}
        for value in values:
            worst: dict[str, float] = {}
            for row in arm.studied("compact", bits, **{key: value}).rows:
                name = "exact" if row.variant.bits is None else f"{row.variant.bits} bits"
                worst[name] = max(1000 * (row.tip_max or 0.0), worst.get(name, 0.0))
            for name, size in worst.items():
                lines.setdefault(name, []).append(size)
        for name, line in lines.items():
            panel.plot(values, line, "o-", ms=4, label=name,
                       color=COLOURS["exact"] if name == "exact" else None)  # fmt: skip
        panel.set(xlabel=label, yscale="log", xticks=values)
        panel.grid(visible=True, alpha=0.3)
    panels[0].set(xscale="log", ylabel="largest error at the tip, mm")
    panels[0].set_xticks(axes[0][1], [f"{x:g}" for x in axes[0][1]])
    panels[0].minorticks_off()
    panels[1].legend(fontsize=7)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def rests() -> dict[str, Study]:
    """Return a SCARA that rests, its torques in words without and with a cell at zero."""
    robot, settings = load_robot("scara"), Settings(seconds=2.0)
    loop = settings.loop(robot, "computed-torque")
    ways = settings.trajectories(robot, ["hold", "point:time=1"])
    found = {}
    for zero in ("rise", "tread"):
        words = formats("words", [f"{name}=twos:{zero}" for name in ("qd", "qdd", "tau")])
        question = Question(robot, "computed-torque", ("rounded",), (8,), ARMS[1].program, words)
        found[zero] = study(loop, question.variants(loop), ways)
    return found


def draw_rest(path: Path) -> None:
    """Draw the torque and the place of a SCARA's first joint that is to stand still."""
    figure, panels = plt.subplots(2, 2, figsize=(9, 4), layout="constrained", sharex=True)
    for column, (zero, found) in enumerate(rests().items()):
        recording = found.recording
        run = recording.run(1, 0)
        count = recording.trajectories[0].own
        last = slice(count - round(REST * found.loop.drive.rate), count)
        times = 1000 * np.arange(last.stop - last.start) / found.loop.drive.rate
        off = recording.q[last, 0, run] - recording.trajectories[0].q[last, 0]
        for panel, values in zip(
            panels[:, column], (recording.applied[last, 0, run], 1e6 * off), strict=True
        ):
            panel.step(times, values, where="post", color=COLOURS["compact"], lw=1)
            panel.grid(visible=True, alpha=0.3)
        kind = {"rise": "mid-rise: no cell at zero", "tread": "mid-tread: a cell at zero"}[zero]
        panels[0, column].set(title=kind, ylim=(-0.4, 0.4))
        panels[1, column].set(xlabel="ms", ylim=(-1.2, 1.2))
    panels[0, 0].set_ylabel("torque 1, N·m")
    panels[1, 0].set_ylabel("joint 1 off by, µrad")
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    print(table())
