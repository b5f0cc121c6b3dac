"""Measure the figures of the README and of the page on results: `docs/make_results.py [PART …]`.

Commands are run with --json, and docs/results.json gets their figures. Programs that ship are read
from the store. `recorded` in that file holds figures of tools that are not installed everywhere
(nextpnr), of benchmarks/weights.py and of long searches; they are kept as they are.
`python docs/make_reference.py` writes the tables.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

RESULTS = Path(__file__).resolve().parent / "results.json"
EXAMPLES = RESULTS.parents[1] / "examples" / "functions"
MILLIMETRES = 1000
NO_EFFORT = ("--effort", "0")
# Shipped programs: arm, bits, accuracy target (rms, in LSB; empty: the default), other options.
PROGRAMS: tuple[tuple[str, int, str, tuple[str, ...]], ...] = (
    ("machado-2r", 6, "", ()), ("machado-2r", 8, "", ()), ("machado-2r", 8, ".43,.58", ()),
    ("machado-2r", 10, ".43,.58", ()), ("machado-2r", 12, ".43,.58", ()),
    ("elbow-3r", 8, ".505", ()), ("planar-3r", 8, ".505", ()), ("scara", 8, "", NO_EFFORT),
    ("puma560", 8, ".505", ()), ("puma560", 10, ".52", ("--effort", "10")),
    ("stanford-scaled", 8, ".505", ()),
    ("panda", 8, "", ("--of", "gravity", *NO_EFFORT)),
)  # fmt: skip
FUNCTIONS = ("gelu", "park", "pid", "scara", "thermistor")
LOOPS: dict[str, tuple[str, ...]] = {  # word lengths in closed loop
    "machado-2r": ("--bits", "6,8,10,12"),
    "scara": ("--bits", "6,8,10", *NO_EFFORT),
}
# Programs of the README, and the options of their search for cycles.
FIRST = (("machado-2r", 8, "", ()), ("puma560", 8, ".505", NO_EFFORT))


def told(*words: str) -> Any:
    """Return the JSON document that a command prints."""
    command = [sys.executable, "-P", "-m", "boolcomp", *words, "--json"]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def compiled(subject: str, bits: int, rms: str, *words: str) -> dict[str, Any]:
    """Compile and return size and errors; errors are those of the worst output, in LSB."""
    sizes = ["--bits", str(bits)] if bits else []
    found = told("compile", subject, *sizes, *(["--rms-error", rms] if rms else []), *words)
    outputs = found["joints"]
    bounds = [one["bound_lsb"] for one in outputs]  # None where one holds on conditions
    return {
        "name": found["robot"],
        "bits": found["bits"],
        "target": rms,
        "luts": found["luts"],
        "depth": found["depth"],
        "lut6": found["lut6"],
        "rms": max(one["rms_error_lsb"] for one in outputs),
        "found": max(one["worst_found_lsb"] for one in outputs),
        "bound": None if None in bounds else max(bounds),
        "grade": outputs[0]["grade"],
    }


def first(subject: str, bits: int, rms: str, effort: tuple[str, ...]) -> dict[str, Any]:
    """Return the figures of a program of the README: logic, cycles, closed loop."""
    with tempfile.TemporaryDirectory() as folder:
        place = f"{folder}/program"
        figures = compiled(subject, bits, rms, "-o", place)
        cells = {one["target"]: one for one in told("area", place, "--on", "lut4,lut6")["rows"]}
        figures |= {name: cells[name]["luts"] for name in ("lut4", "lut6")}
        loop = told("simulate", place, "-t", "point", "-t", "circle", "-t", "sine")["rows"]
        figures["tip_mm"] = MILLIMETRES * max(x["tip_max"] for x in loop if x["mode"] != "exact")
        figures["cycles"] = cycles(place)
        rates = ["--rms-error", rms or ".43,.58"]
        fast = ("--target", "mcu8", *effort, "-o", f"{folder}/fast")
        told("compile", subject, "--bits", str(bits), *rates, *fast)
        figures["cycles"]["words, --target mcu8"] = cycles(f"{folder}/fast")["words"]
    return figures


def cycles(place: str) -> dict[str, float]:
    """Return the cycles of an AVR for a program and for its rivals."""
    rows = told("cycles", place, "--on", "avr")["rows"]
    return {one["design"]: round(one["cycles"]) for one in rows if not one["skipped"]}


def loops(arm: str) -> dict[str, Any]:
    """Return the largest tip error, in mm, for exact torques and at each word length."""
    words = ("-t", "point", "-t", "circle", "-t", "sine", "--mode", "compact", *LOOPS[arm])
    tips: dict[str, Any] = {}
    for one in told("simulate", arm, *words)["rows"]:
        made = tips.setdefault(str(one["bits"] or "exact"), {"tip_mm": 0.0, "luts": one["nodes"]})
        made["tip_mm"] = max(made["tip_mm"], MILLIMETRES * one["tip_max"])
    return tips


PARTS: dict[str, Callable[[], Any]] = {
    "first": lambda: {one[0]: first(*one) for one in FIRST},
    "programs": lambda: [compiled(*one[:3], *one[3]) for one in PROGRAMS],
    "functions": lambda: [
        compiled(str(EXAMPLES / f"{name}.toml"), 0, "", *NO_EFFORT) for name in FUNCTIONS
    ],
    "loops": lambda: {arm: loops(arm) for arm in LOOPS},
}


def main() -> None:
    """Measure the parts that the command line names, or all, and write each when it is done."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar=" ".join(PARTS))
    for part in parser.parse_args().parts or PARTS:
        made = rounded(PARTS[part]())
        results = json.loads(RESULTS.read_text("utf-8")) | {part: made}
        text = json.dumps(results, indent=1, ensure_ascii=False)
        RESULTS.write_text(text + "\n", "utf-8")


def rounded(value: Any) -> Any:
    """Return a value with numbers of five digits, which no machine changes."""
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    return [rounded(one) for one in value] if isinstance(value, list) else value


if __name__ == "__main__":
    main()
