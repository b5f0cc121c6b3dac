"""Draw the pictures of the documentation: `python docs/make_pictures.py [NAME …]`."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import control_pictures
import numpy as np

import boolcomp
from boolcomp.base.pages import ChartAxis, lines, picture
from boolcomp.base.processes import run_program
from boolcomp.compact.demand import usual_demand
from boolcomp.compact.passes import CompactChoices, build
from boolcomp.problem.functions import inverse_dynamics_problem
from boolcomp.problem.robot.library import load_robot
from boolcomp.problem.sources import problem_of
from boolcomp.terms.extract import split
from boolcomp.words.drawing import draw_graph

if TYPE_CHECKING:
    from collections.abc import Callable

    from boolcomp.base.pages import ChartRow
    from boolcomp.compact.result import Built
    from boolcomp.problem.problem import Problem

PICTURES = Path(__file__).resolve().parent / "pictures"
EXAMPLES = Path(__file__).resolve().parents[1] / "examples" / "functions"
POINTS = 2000
PATIENCE = 120.0  # seconds for a browser
HEADLESS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1180,690",
    "--force-device-scale-factor=1", "--virtual-time-budget=3000",
)  # fmt: skip


def draw_words(name: str, path: Path) -> None:
    """Draw the word graph of a robot as compact mode compiles it."""
    built = build(split(inverse_dynamics_problem(load_robot(name))))
    bits = built.compact.demand.bits
    title = f"{name} at {bits} bits: {built.nodes} nodes"
    ranges = {name: word.range for name, word in built.compact.specified_words.items()}
    path.write_text(draw_graph(built.compact.graph, title, bits, ranges))


def compiled(problem: Problem) -> Built:
    """Return a function as compact mode compiles it, or as it is in the store."""
    demand = usual_demand(problem.bits or 8)
    return build(split(problem), CompactChoices(demand))


def draw_function(name: str, path: Path) -> None:
    """Draw the word graph of an example that has several inputs."""
    problem = problem_of(EXAMPLES / f"{name}.toml")
    built = compiled(problem)
    bits = built.compact.demand.bits
    ranges = {name: word.range for name, word in built.compact.specified_words.items()}
    title = f"{name} at {bits} bits: {built.nodes} nodes"
    outputs = [one.title for one in problem.outputs]
    path.write_text(draw_graph(built.compact.graph, title, bits, ranges, outputs))


def draw_curve(name: str, path: Path) -> None:
    """Draw an example of one input and one output: its curve, its words, and what they err by."""
    problem = problem_of(EXAMPLES / f"{name}.toml")
    built = compiled(problem)
    program = built.program()
    (given,), (output,) = problem.inputs, problem.outputs
    x = np.linspace(given.range.low, given.range.high, POINTS)
    exact, words = problem.reference(x[:, None])[:, 0], program(x[:, None])[:, 0]
    drawn: list[ChartRow] = [
        {"x": float(at), "y": float(f"{y:.6g}"), "by": by}
        for by, line in (("logic", words), ("exact", exact))
        for at, y in zip(x, line, strict=True)
    ]
    step = problem.steps(built.compact.demand.bits)[0]
    off: list[ChartRow] = [
        {"x": float(at), "y": float(f"{y:.4g}")}
        for at, y in zip(x, (words - exact) / step, strict=True)
    ]
    at = ChartAxis("x", f"{given.name} {given.unit}".rstrip())
    curves = lines(
        drawn,
        at,
        ChartAxis("y", f"{output.title} {output.unit}".rstrip()),
        colour_by=ChartAxis("by", "", names=True),
        title=f"{name}: {built.nodes} nodes",
        points=False,
    )
    errors = lines(off, at, ChartAxis("y", "error, LSB"), title="logic less exact", points=False)
    path.write_bytes(picture((curves, errors), "svg"))


def photograph(name: str, path: Path) -> None:
    """Take a picture of a program's page (`boolcomp show`) in a headless Chromium."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        print(f"{path.name} is left as it is: there is no Chromium")
        return
    with tempfile.TemporaryDirectory() as folder:
        program, page = Path(folder) / "program", Path(folder) / "page.html"
        boolcomp.compile(name, bits=8).save(program)
        own = [f"--user-data-dir={folder}/own", f"--screenshot={path}"]
        shows = [sys.executable, "-m", "boolcomp", "show", str(program), "-o", str(page)]
        for command in (shows, [browser, *HEADLESS, *own, page.as_uri()]):
            if run_program(command, PATIENCE).code != 0:
                sys.exit(f"{command[0]} failed: {path.name} is left as it is")


def main() -> None:
    """Draw them all, or those whose names are given."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("names", nargs="*", help="of pictures, without .svg")
    wanted = parser.parse_args().names
    drawn: dict[str, Callable[[Path], None]] = {
        "graph-2r": partial(draw_words, "machado-2r"),
        **{f"function-{name}": partial(draw_function, name) for name in ("park", "pid", "scara")},
        **{f"function-{name}": partial(draw_curve, name) for name in ("gelu", "thermistor")},
        "control-bits": control_pictures.draw_bits,
        "control-bandwidth": control_pictures.draw_bandwidth,
        "control-rest": control_pictures.draw_rest,
    }
    for name, draw in drawn.items():
        if not wanted or name in wanted:
            draw(PICTURES / f"{name}.svg")
    if not wanted or "show-2r" in wanted:
        photograph("machado-2r", PICTURES / "show-2r.png")


if __name__ == "__main__":
    main()
