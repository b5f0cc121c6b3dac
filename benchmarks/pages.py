"""Pages of programs in headless Chromium: bytes, time to open, frames per second while they play.

    python benchmarks/pages.py [--seconds 4]

Chromium draws without a graphics card here, on as few cores as the machine has: a screen of one's
own does better. Frames are counted with requestAnimationFrame, which stops at 60 a second. Beside
each stands what the page's own script takes of a frame, and the same with layout. It is checked
that gates and words give the same in the last state, within the bound of exact values.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from browser import LACKS, chromium

import boolcomp
from boolcomp.base.errors import table
from boolcomp.measure.show_page import ShownProgram, program_page
from boolcomp.problem.functions import USUAL
from boolcomp.problem.robot.library import load_robot
from boolcomp.problem.sources import problem_of

if TYPE_CHECKING:
    from browser import Window

    from boolcomp.program.program import Mode

CASES: tuple[tuple[str, Mode], ...] = (
    ("machado-2r", "compact"), ("machado-2r", "paper"), ("puma560", "compact"),
)  # fmt: skip
LARGEST, SLOWEST, FEWEST = 3_000_000, 1.0, 30.0  # bytes, seconds, frames per second: what is asked
PLACES = {"arm": "arm-picture", "graph": "graph-picture", "maps": "term0"}
READY = "return typeof Boolcomp !== 'undefined' && Boolcomp.ready"
FRAMES = """
const [id, seconds, done] = arguments;
const place = document.getElementById(id);
if (!place) return done(null);
place.scrollIntoView({ block: "center", behavior: "instant" });
Boolcomp.bench.play();
let start = null, last = null, count = 0, longest = 0;
const frame = (now) => {
  if (start === null) start = now;
  else { count += 1; longest = Math.max(longest, now - last); }
  last = now;
  if (now - start < 1000 * seconds) return requestAnimationFrame(frame);
  Boolcomp.bench.pause();
  done([(1000 * count) / (now - start), longest]);
};
setTimeout(() => requestAnimationFrame(frame), 300);
"""
COST = """
const run = (layout) => {
  const start = performance.now();
  for (let k = 0; k < 100; k++) {
    Boolcomp.bench.toTime(k / 100);
    if (layout) document.body.getBoundingClientRect();
  }
  return (performance.now() - start) / 100;
};
return [run(false), run(true)];
"""
CHECK = """
const found = Boolcomp.run.at(Boolcomp.bench.state);
const model = JSON.parse(document.getElementById("model").textContent);
return found.same && found.values.every((value, k) =>
  model.outputs[k].bound === null || Math.abs(value - found.exact[k]) <= model.outputs[k].bound);
"""


def page_of(robot: str, mode: Mode) -> str:
    """Return the page of an arm's torques at 8 bits."""
    arm = load_robot(robot)
    program = boolcomp.compile(robot, bits=8, mode=mode)
    return program_page(ShownProgram(program, program.loads[0], problem_of(arm), arm, USUAL))


def opened(window: Window, path: Path) -> float:
    """Return how long it takes until a page is there and its script has run: the best of three."""
    found = []
    for _ in range(3):
        window.open(path)
        window.wait(READY)
        timing = "const n = performance.getEntriesByType('navigation')[0]; return n.loadEventEnd"
        window.wait(f"{timing} > 0")
        found.append(window.run(timing) / 1000)
    return float(min(found))


def row(window: Window, path: Path, name: str, seconds: float) -> list[Any]:
    """Return a page's row of the table: what is asked of it comes first."""
    size, seconds_open = path.stat().st_size, opened(window, path)
    window.driver.set_script_timeout(60)
    rates = {}
    for place, element in PLACES.items():
        found = window.driver.execute_async_script(FRAMES, element, seconds)
        if found is not None:
            rates[place] = found
    script, layout = window.run(COST)
    right = bool(window.run(CHECK)) and window.faults() == []
    slowest = min(rate for rate, _ in rates.values())
    held = size < LARGEST and seconds_open < SLOWEST and slowest >= FEWEST and right
    said = ", ".join(f"{place} {rate:.0f}" for place, (rate, _) in rates.items())
    longest = max(one for _, one in rates.values())
    return [
        name, f"{size / 1e6:.2f}", f"{seconds_open:.2f}", said, f"{longest:.0f}",
        f"{script:.2f}", f"{layout:.2f}", "yes" if right else "NO", "yes" if held else "NO",
    ]  # fmt: skip


def main() -> int:
    """Print a row for every page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=4.0, help="of playing, at every place")
    seconds = parser.parse_args().seconds
    if LACKS:
        sys.exit(f"not installed: {', '.join(LACKS)}")
    head = [
        "page", "MB", "opens in s", "frames/s", "longest ms", "script ms", "with layout ms",
        "right", "holds",
    ]  # fmt: skip
    rows = []
    with tempfile.TemporaryDirectory() as folder, chromium(Path(folder) / "profile") as window:
        for robot, mode in CASES:
            path = Path(folder) / f"{robot}-{mode}.html"
            start = time.process_time()
            path.write_text(page_of(robot, mode), encoding="utf-8")
            made = time.process_time() - start
            name = f"{robot}, {mode}"
            print(f"{name}: compiled and written in {made:.1f} s of the processor", file=sys.stderr)
            rows.append(row(window, path, name, seconds))
    print(table(head, rows, left=(0, 3)))
    print(f"asked: below {LARGEST / 1e6:g} MB, {SLOWEST:g} s, {FEWEST:g} frames/s or more")
    return 0 if all(one[-1] == "yes" for one in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
