"""The files of a report, written while it is made: what Ctrl-C leaves is a report of what is done.

Files are written when the first word length is done, then whenever that takes no more than a small
part of the time, and in the end. Each is written whole or not at all.
"""

from __future__ import annotations

import contextlib
import json
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from boolcomp.base.files import write_bytes, write_text
from boolcomp.measure.report.chart import draw_errors
from boolcomp.measure.report.findings import Asked, Pictured
from boolcomp.measure.report.looks import Surveyor
from boolcomp.measure.report.measure import documents
from boolcomp.measure.report.page import report_page
from boolcomp.measure.report.tabulate import csv_table, text_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from boolcomp.base.pages import Section
    from boolcomp.measure.report.measure import ReportRow, Samples

RARELY = 8.0  # times as long as writing took, before it is done again


class Written:
    """A folder that holds the report of what is done."""

    def __init__(self, folder: Path, asked: Asked, beside: Sequence[Section] = ()) -> None:
        self.folder, self.asked, self.beside = folder, asked, beside
        self.rows: list[ReportRow] = []

    @contextlib.contextmanager
    def of(self, samples: Samples, across: str | None, bits: Sequence[int]) -> Iterator[Pictured]:
        """Provide what takes rows; files are written as they come, and once more in the end."""
        pictured = Pictured(Surveyor(samples, across))
        next_time = 0.0

        def heard() -> None:
            nonlocal next_time
            start = time.monotonic()
            if start >= next_time:
                self._write(pictured, bits)
                next_time = time.monotonic() + RARELY * (time.monotonic() - start)

        pictured.heard = heard
        self.rows = pictured.rows
        try:
            yield pictured
        except KeyboardInterrupt:
            # Its time is short: what does not come to its end leaves the page that is there.
            if pictured.rows:
                self._page(pictured, bits)
            raise
        if pictured.rows:
            self._write(pictured, ())

    def _write(self, pictured: Pictured, bits: Sequence[int]) -> None:
        """Write all files; of `bits` it is not known whether they are done."""
        rows, folder = pictured.rows, self.folder
        self._page(pictured, bits)
        write_bytes(folder / "errors.svg", draw_errors(rows, "svg"))
        if not bits:
            write_bytes(folder / "errors.png", draw_errors(rows, "png"))
        write_text(folder / "report.txt", text_table(rows, self.asked.samples) + "\n")
        write_text(folder / "report.csv", csv_table(rows))
        write_text(folder / "report.json", json.dumps({"rows": documents(rows)}, indent=2) + "\n")

    def _page(self, pictured: Pictured, bits: Sequence[int]) -> None:
        asked = self.asked
        if bits:
            done = {row.bits for row in pictured.rows}
            left = ", ".join(str(b) for b in bits if b not in done)
            missing = "This report was interrupted, or is still being made."
            asked = replace(
                asked, missing=f"{missing} Not begun: {left} bits." if left else missing
            )
        page = report_page(asked, pictured, self.beside)
        write_text(self.folder / "report.html", page)
