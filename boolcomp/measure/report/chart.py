"""The report as pictures in files: error versus bits, SVG and PNG."""

from __future__ import annotations

import math
from itertools import cycle
from typing import TYPE_CHECKING, Any

from boolcomp.base.charts import blank, picture

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from boolcomp.measure.report.rows import ReportRow

COLOURS = (
    "#3367b0", "#c8553d", "#4f9d69", "#8e6bb0", "#b8860b", "#2a9fa5", "#7d4f35", "#c4619c",
)  # fmt: skip
LEGEND = (1.95, 0.16)  # inches across a column, and down a line


def draw_errors(rows: Sequence[ReportRow], kind: str) -> bytes:
    """Return a picture (`svg` or `png`): error versus bits, one panel an output, and nodes."""
    return picture(lambda: errors_figure(rows), kind)


def errors_figure(rows: Sequence[ReportRow]) -> Figure:
    """Return the figure: a panel an output, one of nodes where they are known, a legend below."""
    places = sorted({row.place for row in rows})
    counted = any(row.program_luts is not None for row in rows)
    panels = len(places) + counted
    across = min(panels, 3)
    down = -(-panels // across)
    figure = blank(4.2 * across, 3.4 * down)
    axes: Any = figure.subplots(down, across, squeeze=False).ravel()
    for panel, place in zip(axes, places, strict=False):
        _draw_output(panel, [row for row in rows if row.place == place])
    if counted:
        _draw_nodes(axes[len(places)], rows)
    for panel in axes[panels:]:
        panel.set_axis_off()
    _add_legend(figure, list(_series(rows)))
    return figure


def _add_legend(figure: Figure, series: Sequence[str]) -> None:
    """Put one legend for all panels below them: a column a series, where the width allows it."""
    known: dict[str, Any] = {}
    for panel in figure.axes:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            known.setdefault(label, handle)
    # What is of no series, a step, comes first: legends make their first columns longer.
    place = {
        label: k for k, one in enumerate(series) for label in known if label.endswith(f", {one}")
    }
    labels = sorted(known, key=lambda label: place.get(label, -1))
    width, height = figure.get_size_inches()
    columns = max(1, min(len(series), int(width / LEGEND[0])))
    figure.set_size_inches(width, height + LEGEND[1] * (1 + -(-len(labels) // columns)))
    figure.legend(
        [known[label] for label in labels], labels, fontsize=7, ncols=columns,
        loc="outside lower center",
    )  # fmt: skip


def _draw_output(panel: Any, rows: Sequence[ReportRow]) -> None:
    for (series, line), colour in zip(_series(rows).items(), cycle(COLOURS), strict=False):
        bits = [row.bits for row in line]
        panel.plot(
            bits, [r.total.max for r in line], "o-", color=colour, label=f"sampled max, {series}"
        )
        if all(r.worst is not None for r in line):
            worst = [r.worst for r in line]
            panel.plot(bits, worst, "^:", color=colour, label=f"worst found, {series}")
        if all(math.isfinite(r.bound) for r in line):
            proved = [r.bound for r in line]
            panel.plot(bits, proved, "_-.", color=colour, lw=0.8, ms=12, label=f"bound, {series}")
        panel.plot(bits, [r.total.rms for r in line], "s--", color=colour, label=f"rms, {series}")
    steps = {row.bits: row.lsb for row in rows}
    bits = sorted(steps)
    panel.plot(bits, [steps[b] for b in bits], ":", color="grey", label="1 LSB")
    panel.set_yscale("log")
    output = rows[0].output
    panel.set(title=output.title, xlabel="bits", ylabel=f"error, {output.unit}", xticks=bits)
    panel.grid(visible=True, which="major", alpha=0.3)


def _series(rows: Sequence[ReportRow]) -> dict[str, list[ReportRow]]:
    """Return rows by what they have in common, each in the order of bits."""
    found: dict[str, list[ReportRow]] = {}
    for row in sorted(rows, key=lambda row: (row.mode != "paper", row.extra, row.bits)):
        found.setdefault(row.series, []).append(row)
    return found


def _draw_nodes(panel: Any, rows: Sequence[ReportRow]) -> None:
    for (series, line), colour in zip(_series(rows).items(), cycle(COLOURS), strict=False):
        nodes = {row.bits: row.program_luts for row in line if row.program_luts is not None}
        if nodes:
            panel.plot(
                list(nodes), list(nodes.values()), "D-", color=colour, label=f"nodes, {series}"
            )
    panel.set_yscale("log")
    bits = sorted({row.bits for row in rows})
    title = f"nodes, all {rows[0].output.noun}s"
    panel.set(title=title, xlabel="bits", ylabel="nodes of 3 inputs", xticks=bits)
    panel.grid(visible=True, which="major", alpha=0.3)
