"""Pictures of a study: tracking and torque against bits and nodes, and errors over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.common.pictures import blank, picture

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from boolcomp.measure.control.study import Row, Study

COLOURS = {"exact": "#444444", "paper": "#c8553d", "compact": "#3367b0", "rounded": "#4f9d69"}
OTHER = "#8e6bb0"
MARKS = {"paper": "s", "compact": "o", "rounded": "^"}
CHART_POINTS = 2000  # of a line over time


def draw(found: Study, tolerance: float, kind: str) -> bytes:
    """Return a picture (`svg` or `png`) of a study."""
    return picture(lambda: figure_of(found, tolerance), kind)


def figure_of(found: Study, tolerance: float) -> Figure:
    """Return the figure: largest tracking errors and noise against bits, and errors over time."""
    figure = blank(10.5, 3.6)
    left, middle, right = figure.subplots(1, 3)
    draw_tracking(left, found.rows, tolerance)
    draw_noise(middle, found.rows)
    draw_errors(right, found)
    return figure


def draw_tracking(panel: Any, rows: Sequence[Row], tolerance: float) -> None:
    """Draw the largest error of any joint on any trajectory against bits."""
    for mode, line in _lines(rows, lambda row: row.figures and row.figures.max_tracking).items():
        panel.plot(list(line), list(line.values()), MARKS.get(mode, "D") + "-",
                   color=COLOURS.get(mode, OTHER), label=f"{mode}, simulated")  # fmt: skip
    for mode, line in _lines(rows, lambda row: row.estimate).items():
        panel.plot(list(line), list(line.values()), "_--", color=COLOURS.get(mode, OTHER), lw=0.8,
                   ms=10, label=f"{mode}, of the proven bound")  # fmt: skip
    exact = [r.figures.max_tracking for r in rows if r.figures and r.variant.bits is None]
    if exact:
        panel.axhline(max(exact), color=COLOURS["exact"], lw=0.9, label="exact torques")
    panel.axhline(tolerance, color="#b8860b", ls=":", lw=1.2, label="tolerance")
    _finish(panel, rows, "largest tracking error, rad or m")


def draw_noise(panel: Any, rows: Sequence[Row]) -> None:
    """Draw the noise of torques in LSB, the largest of all joints, against bits."""

    def noise(row: Row) -> float | None:
        told = row.figures.rms_noise if row.figures else None
        return told / row.lsb if told is not None and row.lsb else None

    for mode, line in _lines(rows, noise).items():
        panel.plot(list(line), list(line.values()), MARKS.get(mode, "D") + "-",
                   color=COLOURS.get(mode, OTHER), label=mode)  # fmt: skip
    panel.axhline(12**-0.5, color="grey", ls=":", label="rounding alone")
    _finish(panel, rows, "noise of torque, rms in LSB")


def draw_errors(panel: Any, found: Study) -> None:
    """Draw the error of one joint over time, on the first trajectory: exact, few bits, many."""
    made, recording = found.made, found.recording
    path = recording.trajectories[0]
    known = [row for row in found.rows if row.figures and row.trajectory == path.name]
    worst = max(
        (row for row in known if row.variant.bits is not None),
        key=lambda row: row.figures.max_tracking if row.figures else 0.0,
        default=known[0] if known else None,
    )
    joint = worst.joint - 1 if worst else 0
    times = np.arange(path.own) * found.loop.drive.period
    every = max(1, path.own // CHART_POINTS)
    for place, variant in enumerate(made):
        column = recording.run(place, 0)
        if recording.lost[column] or variant not in _chart_variants(found):
            continue
        error = path.q[: path.own, joint] - recording.q[: path.own, joint, column]
        name = variant.mode if variant.bits is None else f"{variant.mode} {variant.bits}"
        panel.plot(times[::every], error[::every], lw=0.8, label=name,
                   color=COLOURS.get(variant.mode, OTHER),
                   alpha=1.0 if variant.bits is None else 0.75)  # fmt: skip
    panel.set(title=f"{path.name}, joint {joint + 1}", xlabel="s", ylabel="error, rad or m")
    panel.grid(visible=True, alpha=0.3)
    panel.legend(fontsize=6)


def _chart_variants(found: Study) -> list[Any]:
    """Return the variants whose errors are drawn: what is exact, and one of every mode."""
    chosen = []
    for mode in dict.fromkeys(one.mode for one in found.made):
        same = [one for one in found.made if one.mode == mode]
        chosen.append(same[len(same) // 2])
    return chosen


def _lines(rows: Sequence[Row], value: Any) -> dict[str, dict[int, float]]:
    """Return the largest value of every mode by bits, of all joints and trajectories."""
    lines: dict[str, dict[int, float]] = {}
    for row in rows:
        found = value(row)
        if found and row.variant.bits is not None:
            line = lines.setdefault(row.variant.mode, {})
            line[row.variant.bits] = max(found, line.get(row.variant.bits, 0.0))
    return {mode: dict(sorted(line.items())) for mode, line in lines.items()}


def _finish(panel: Any, rows: Sequence[Row], label: str) -> None:
    bits = sorted({row.variant.bits for row in rows if row.variant.bits is not None})
    if bits:
        panel.set(xticks=bits)
    panel.set_yscale("log")
    panel.set(xlabel="bits of a torque", ylabel=label)
    panel.grid(visible=True, which="major", alpha=0.3)
    panel.legend(fontsize=6)
