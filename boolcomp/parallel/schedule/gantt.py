"""Gantt charts: who does what when, as SVG and as text."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from boolcomp.base.errors import short

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boolcomp.parallel.schedule.placed import Placement, Schedule

_LEFT, _TOP, _LANE, _BAR, _FOOT = 48, 40, 34, 22, 46
_CHARACTER = 6.2  # the width of one at 10 px
_COLOURS = ("#9ecae1", "#a1d99b", "#fdd0a2", "#dadaeb", "#fbb4b9", "#d9d9d9", "#ffeda0", "#b3e2cd")
_STYLE = (
    "text{font-family:ui-sans-serif,system-ui,sans-serif;font-size:10px;fill:#222}"
    ".title{font-size:12px;font-weight:600}.axis{stroke:#999}.grid{stroke:#e4e4e4}"
    ".lane{fill:#f7f7f7}.task{stroke:#555;stroke-width:.5}"
    ".send{stroke:#c33;stroke-width:.8;fill:none;opacity:.55}"
)


def gantt_svg(schedule: Schedule, width: int = 960) -> str:
    """Return the chart as an SVG document; a tooltip gives every task's and message's times."""
    height = _TOP + _LANE * schedule.processors + _FOOT
    title = (
        f"{schedule.graph} on {schedule.processors} × {schedule.machine} by {schedule.scheduler}: "
        f"{short(schedule.makespan_us)} µs, speed-up {short(schedule.speedup, 3)}"
    )
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" aria-label="{escape(title)}">'
    )
    lines = [
        opening,
        f"<style>{_STYLE}</style>",
        f'<text class="title" x="{_LEFT}" y="20">{escape(title)}</text>',
        *_svg_lines(schedule, width),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _svg_lines(schedule: Schedule, width: int) -> Iterator[str]:
    span = schedule.makespan_us or 1.0
    scale = (width - _LEFT - 16) / span
    bottom = _TOP + _LANE * schedule.processors

    def x(time: float) -> float:
        return _LEFT + time * scale

    for lane in range(schedule.processors):
        top = _TOP + _LANE * lane
        used = f"{schedule.utilisation[lane]:.0%}"
        yield (
            f'<rect class="lane" x="{_LEFT}" y="{top}" width="{span * scale:.2f}" '
            f'height="{_LANE - 4}"/>'
        )
        yield f'<text x="4" y="{top + 13}">P{lane}</text>'
        yield f'<text x="4" y="{top + 25}" fill="#777">{used}</text>'
    for tick in ticks(span):
        yield (
            f'<line class="grid" x1="{x(tick):.2f}" y1="{_TOP - 4}" x2="{x(tick):.2f}" '
            f'y2="{bottom + 4}"/>'
        )
        yield f'<text x="{x(tick):.2f}" y="{bottom + 17}" text-anchor="middle">{short(tick)}</text>'
    yield f'<line class="axis" x1="{_LEFT}" y1="{bottom}" x2="{x(span):.2f}" y2="{bottom}"/>'
    yield f'<text x="{_LEFT}" y="{bottom + 34}">time in µs</text>'
    for placement in schedule.placements:
        yield from _svg_task(placement, x(placement.start_us), x(placement.end_us))
    for transfer in schedule.transfers:
        ends = (transfer.source, transfer.target)
        y1, y2 = (_TOP + _LANE * lane + 4 + _BAR / 2 for lane in ends)
        yield (
            f'<path class="send" d="M{x(transfer.start_us):.2f} {y1:.1f} '
            f'L{x(transfer.end_us):.2f} {y2:.1f}"><title>{escape(str(transfer))} µs</title></path>'
        )


def _svg_task(placement: Placement, left: float, right: float) -> Iterator[str]:
    top = _TOP + _LANE * placement.processor + 4
    colour = _COLOURS[_kind(placement.task)]
    yield (
        f'<rect class="task" x="{left:.2f}" y="{top}" width="{max(right - left, 0.3):.2f}" '
        f'height="{_BAR}" fill="{colour}"><title>{escape(str(placement))} µs</title></rect>'
    )
    if right - left > _CHARACTER * len(placement.task) + 4:
        yield (
            f'<text x="{(left + right) / 2:.2f}" y="{top + 15}" text-anchor="middle">'
            f"{escape(placement.task)}</text>"
        )


def _kind(task: str) -> int:
    """Return a colour's number: tasks of one name but for their digits look alike."""
    letters = "".join(c for c in task.partition("/")[0] if not c.isdigit()) or task
    return sum(ord(c) * (k + 1) for k, c in enumerate(letters)) % len(_COLOURS)


def ticks(span: float, most: int = 10) -> list[float]:
    """Return round times from 0 to the span: steps of 1, 2 or 5 of some power of ten."""
    exponent = -9
    while True:
        for digit in (1, 2, 5):
            step = digit * 10.0**exponent
            if span / step <= most:
                return [float(short(k * step, 12)) for k in range(int(span / step + 1e-9) + 1)]
        exponent += 1


def gantt_text(schedule: Schedule, width: int = 100) -> str:
    """Return the chart for a terminal: `[name==]` a task, `.` idle; a `>` below marks a message.

    A cell stands for the span of time that the last line gives.
    """
    span = schedule.makespan_us or 1.0
    label = len(f"P{schedule.processors - 1} ")
    cells = max(width - label - 5, 10)
    lines = [
        f"{schedule.graph} on {schedule.processors} × {schedule.machine} by {schedule.scheduler}"
    ]

    def cell(time: float) -> int:
        return min(round(time / span * cells), cells)

    for processor in range(schedule.processors):
        lane = ["."] * cells
        sent = [" "] * cells
        for placement in schedule.placements:
            if placement.processor == processor:
                start, end = cell(placement.start_us), cell(placement.end_us)
                lane[start:end] = _bar(placement.task, end - start)
        for transfer in schedule.transfers:
            if transfer.source == processor:
                sent[min(cell(transfer.start_us), cells - 1)] = ">"
        share = f"{schedule.utilisation[processor]:4.0%}"
        lines.append(f"P{processor} ".ljust(label) + "".join(lane) + f" {share}")
        if ">" in sent:
            lines.append((" " * label + "".join(sent)).rstrip())
    axis = [" "] * (cells + 12)
    for tick in ticks(span, 6):
        text = f"|{short(tick)}"
        axis[cell(tick) : cell(tick) + len(text)] = text
    lines.append((" " * label + "".join(axis)).rstrip()[:width])
    lines.append(
        f"{short(schedule.makespan_us)} µs, speed-up {short(schedule.speedup, 4)}, "
        f"a column is {short(span / cells, 3)} µs"
    )
    return "\n".join(lines)


def _bar(name: str, cells: int) -> list[str]:
    if cells < 2:
        return list("#" * cells)
    inside = name[: cells - 2] if len(name) <= cells - 2 else ""
    return list("[" + inside.ljust(cells - 2, "=") + "]")
