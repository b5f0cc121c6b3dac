"""How long `boolcomp report` takes from the store, and how large its page is.

    python benchmarks/report.py [ROBOT] [--bits 4-12] [--samples N]

The report is made twice: the first fills the store (searches of compact mode, covers, worst errors
of plans), the second reads it. Both must say the same; the exit code is 1 where they do not, where
the page is 3 MB or more, or where the second takes more than 30 s of the clock. Where Chromium is
installed, the milliseconds until the page is loaded are printed as well.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ALLOWED, LARGEST = 30.0, 3_000_000  # seconds; bytes
MEASURED = ("seconds", "native_seconds", "ns_per_sample")  # anew every time

Rows = list[dict[str, Any]]


def report(arguments: argparse.Namespace, folder: Path) -> tuple[Rows, float, float]:
    """Make a report; return its rows, the seconds that it took and those of the processor."""
    command = [
        str(Path(sys.executable).with_name("boolcomp")), "report", arguments.robot,
        "--bits", arguments.bits, "--samples", str(arguments.samples), "-o", str(folder), "--json",
    ]  # fmt: skip
    before, start = os.times(), time.perf_counter()
    made = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    seconds, after = time.perf_counter() - start, os.times()
    used = after.children_user - before.children_user + after.children_system
    rows: Rows = json.loads(made.stdout)["rows"]
    for row in rows:
        for name in MEASURED:
            row[name] = None
    return rows, seconds, used - before.children_system


def opened(page: Path, folder: Path) -> float | None:
    """Return the milliseconds until Chromium has loaded the page; None where it is missing."""
    sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
    try:
        from browser import LACKS, chromium  # noqa: PLC0415 (only where tests are installed)
    except ImportError:
        return None
    if LACKS:
        return None
    with chromium(folder) as window:
        window.open(page)
        loaded = "return performance.getEntriesByType('navigation')[0].loadEventEnd"
        return float(window.run(loaded))


def main() -> None:
    """Print a line for each report, then the page."""
    parser = argparse.ArgumentParser(description="report from the store")
    parser.add_argument("robot", nargs="?", default="machado-2r")
    parser.add_argument("--bits", default="4-12")
    parser.add_argument("--samples", type=int, default=1_000_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        first, seconds, used = report(arguments, folder / "first")
        print(f"first   {seconds:6.1f} s, {used:6.1f} s of the processor")
        again, seconds, used = report(arguments, folder / "again")
        print(f"again   {seconds:6.1f} s, {used:6.1f} s of the processor (at most {ALLOWED:g} s)")
        page = folder / "again" / "report.html"
        size = page.stat().st_size
        print(f"page    {size / 1e6:6.2f} MB (less than {LARGEST / 1e6:g})")
        milliseconds = opened(page, folder / "chromium")
        print("opened  " + ("-" if milliseconds is None else f"{milliseconds:6.0f} ms"))
        same = first == again
    print("both say the same" if same else "WRONG: they differ")
    sys.exit(not same or size >= LARGEST or seconds > ALLOWED)


if __name__ == "__main__":
    main()
