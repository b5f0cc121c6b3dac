"""The report as text: a table for people, CSV for spreadsheets."""

from __future__ import annotations

import csv
import io
import math
from typing import TYPE_CHECKING

from boolcomp.base.errors import short, table
from boolcomp.measure.report.measure import documents
from boolcomp.program.parts import NOT_USEFUL, WIDE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.measure.report.measure import ReportRow

HEADER = (
    "bits", "mode", "m", "torque", "LSB", "sampled max", "sampled max/LSB", "worst found/LSB",
    "rms/LSB", "mean/LSB", ">1 LSB", "own rms/LSB", "bound/LSB", "products", "literals",
    "table bits", "nodes", "depth", "compile s", "native s", "ns/sample", "note",
)  # fmt: skip


def header(rows: Sequence[ReportRow]) -> tuple[str, ...]:
    """Return `HEADER`, with outputs where they are no torques."""
    torques = all(row.output.noun == "torque" for row in rows)
    return tuple("output" if name == "torque" and not torques else name for name in HEADER)


def cells(rows: Sequence[ReportRow]) -> list[list[str]]:
    """Return the cells under `header`; `-` where there is nothing."""
    return [
        [
            str(row.bits),
            row.mode,
            "-"
            if row.mode == "compact"
            else f"{row.guard_bits}{f' (+{row.extra})' if row.extra else ''}",
            row.output.symbol,
            short(row.lsb, 4),
            short(row.total.max, 4),
            f"{row.total.max / row.lsb:.2f}",
            "-" if row.worst is None else f"{row.worst / row.lsb:.2f}",
            f"{row.total.rms / row.lsb:.3f}",
            f"{row.total.mean / row.lsb:+.3f}",
            f"{row.total.beyond_lsb:.2%}",
            f"{row.own.rms / row.lsb:.3f}",
            NOT_USEFUL if row.bound_note == NOT_USEFUL else _up_text(row.bound / row.lsb),
            _whole(row.products),
            _whole(row.literals),
            _whole(row.table_bits),
            _whole(row.program_luts),
            _whole(row.depth),
            "-" if row.seconds is None else f"{row.seconds:.2f}",
            "-" if row.native_seconds is None else f"{row.native_seconds:.2f}",
            "-" if row.ns_per_sample is None else f"{row.ns_per_sample:.1f}",
            row.note,
        ]
        for row in rows
    ]


def _up_text(bound: float) -> str:
    """Return a bound, no smaller; `-` where there is none."""
    return f"{math.ceil(100 * bound - 1e-9) / 100:.2f}" if math.isfinite(bound) else "-"


def _whole(value: int | None) -> str:
    return "-" if value is None else str(value)


def text_table(rows: Sequence[ReportRow], samples: int) -> str:
    """Return the table for people, and below it what its errors are."""
    columns = table(header(rows), cells(rows), left=(1, 3, len(HEADER) - 1))
    return f"{columns}\n{footnote(rows, samples)}"


def footnote(rows: Sequence[ReportRow], samples: int) -> str:
    """Say what errors are: sampled, searched, or proved."""
    evaluations = sorted({row.evaluations for row in rows if row.worst is not None})
    searched = f", the worst searched with {' or '.join(map(str, evaluations))} evaluations"
    bounds = "; bounds are proved" if any(math.isfinite(row.bound) for row in rows) else ""
    ratios = [row.over_found for row in rows if row.over_found is not None]
    if max(ratios, default=0.0) >= WIDE:
        bounds += f"; what is proved is up to {short(max(ratios), 2)} times the worst found"
    return (
        f"errors are sampled on {samples} states{searched if evaluations else ''}, not "
        f"proved{bounds}"
    )


def csv_table(rows: Sequence[ReportRow]) -> str:
    """Return the rows as CSV under the keys of the JSON document."""
    items = documents(rows)
    stream = io.StringIO()
    writer = csv.DictWriter(stream, fieldnames=list(items[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(items)
    return stream.getvalue()
