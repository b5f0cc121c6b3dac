"""What was simulated as text, and as CSV."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from boolcomp.base.errors import table
from boolcomp.measure.control.study import documents, enough
from boolcomp.program.parts import NOT_USEFUL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.measure.control.study import Row, Study

HEADER = (
    "mode", "bits", "nodes", "joint", "rms/{0}", "max/{0}", "bound/{0}", "tip max/mm",
    "noise/{1}", "noise/LSB", "jump/{1}", "rest ±/{0}", "period/s", "beyond words", "at limit",
)  # fmt: skip
MANY = 40  # characters of a note that a table has room for


def text_table(found: Study, tolerance: float, at_tip: float) -> str:
    """Return the tables of all trajectories, what their figures are, and how many bits it takes."""
    parts = []
    header = [one.format(*units(found.rows)) for one in HEADER]
    for name in dict.fromkeys(row.trajectory for row in found.rows):
        rows = [row for row in found.rows if row.trajectory == name]
        cells = [_cells(row) for row in rows if row.figures is not None]
        parts.append(f"{name}\n{table(header, cells, left=(0,))}")
    return "\n".join(
        [*parts, *_notes(found.rows), footnote(found), *answers(found, tolerance, at_tip)]
    )


def _cells(row: Row) -> list[str]:
    told = row.figures
    assert told is not None  # noqa: S101 (rows without figures have no line)
    rest, lsb = told.rest, row.lsb
    noise = told.rms_noise
    return [
        row.variant.mode,
        _some(row.variant.bits),
        _some(row.variant.nodes),
        str(row.joint),
        _size(told.rms_tracking),
        _size(told.max_tracking),
        NOT_USEFUL if row.variant.bound_note == NOT_USEFUL else _size(row.estimate),
        _size(None if row.tip_max is None else 1000 * row.tip_max),
        _size(noise),
        f"{noise / lsb:.2f}" if lsb and noise is not None else "",
        _size(told.rms_jump),
        _size(None if rest is None else rest.amplitude),
        _size(None if rest is None else rest.period),
        str(told.outside or ""),
        str(told.limited or ""),
    ]


def _some(value: int | None) -> str:
    return "" if value is None else str(value)


def _size(value: float | None) -> str:
    """Return a figure to three digits: below a billionth it is rounding."""
    if value is None:
        return ""
    return "0" if abs(value) < 1e-9 else f"{value:.3g}"


def _notes(rows: Sequence[Row]) -> list[str]:
    """Return a line for every note, with what it is of."""
    notes: dict[str, list[str]] = {}
    for row in rows:
        if row.note:
            bits = "" if row.variant.bits is None else f" {row.variant.bits}"
            name = f"{row.variant.mode}{bits}"
            if row.figures is None:
                name += f" ({row.trajectory})"
            notes.setdefault(row.note, []).append(name)
    return [f"{', '.join(dict.fromkeys(names))}: {note}" for note, names in notes.items()]


def units(rows: Sequence[Row]) -> tuple[str, str]:
    """Return what joints and torques of an arm are counted in: `rad or m`, `N·m or N`."""
    joints = sorted({row.unit for row in rows}, reverse=True)
    torques = sorted({row.torque_unit for row in rows}, reverse=True)
    return " or ".join(joints), " or ".join(torques)


def footnote(found: Study) -> str:
    """Say what figures are."""
    drive, plant = found.loop.drive, found.loop.plant
    joints, torques = units(found.rows)
    steps = plant.steps(drive.period)
    sensed = "exact states" if drive.ideal else f"encoders, {drive.speeds} speeds"
    return (
        f"simulated, not proved: {found.seconds:g} s at {drive.rate:g} Hz, {sensed}, "
        f"Runge-Kutta with {steps} {'step' if steps == 1 else 'steps'} a period; tracking in "
        f"{joints}, torques in {torques}\n"
        "bound: how far the proven bound of torques would let a joint stray, of a loop without "
        "sampling in which nothing saturates"
    )


def answers(found: Study, tolerance: float, at_tip: float) -> list[str]:
    """Return a line for every mode: from how many bits on no joint, and no tip, strays by more."""
    joints = enough(found.rows, tolerance)
    tips = enough(found.rows, at_tip, tip=True)
    unit, _ = units(found.rows)
    most = longest(found.rows)
    return [
        f"{mode}: for {tolerance:g} {unit} at every joint, all the time, "
        f"{_said(bits, most[mode])}; for {1000 * at_tip:g} mm at the tip "
        f"{_said(tips[mode], most[mode])}"
        for mode, bits in joints.items()
    ]


def longest(rows: Sequence[Row]) -> dict[str, int]:
    """Return the most bits of every mode."""
    lengths = sorted((row.variant.bits or 0, row.variant.mode) for row in rows)
    return {mode: bits for bits, mode in lengths}


def _said(bits: int | None, most: int) -> str:
    return f"{most} bits are not enough" if bits is None else f"{bits} bits are enough"


def csv_table(rows: Sequence[Row]) -> str:
    """Return rows as CSV under the keys of the JSON document."""
    items = documents(rows)
    stream = io.StringIO()
    writer = csv.DictWriter(stream, fieldnames=list(items[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(items)
    return stream.getvalue()
