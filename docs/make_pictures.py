"""Draw the pictures of the documentation: `python docs/make_pictures.py` (needs matplotlib)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt

from boolcomp.compact.passes import build
from boolcomp.measure.report.wordgraph import draw_graph
from boolcomp.pipeline import run_passes
from boolcomp.problem.makers import inverse_dynamics_problem
from boolcomp.problem.robot import load_robot
from boolcomp.terms import split

if TYPE_CHECKING:
    from boolcomp.paper.truth import TermTable

PICTURES = Path(__file__).resolve().parent / "pictures"
# Fixed names inside the SVG and no date: the same picture is the same file.
mpl.rcParams["svg.hashsalt"] = "boolcomp"
mpl.rcParams["font.size"] = 9


def draw_term(entry: TermTable, path: Path) -> None:
    """Draw a term of two words: its value, its cells, and each bit of its Gray word."""
    plan = entry.plan
    across, down = (word.code for word in plan.words)
    x, y = (code.centre(np.arange(code.cells)) for code in (across, down))
    names = [word.variable.name for word in plan.words]
    value = plan.term.evaluate({names[0]: x[None, :], names[1]: y[:, None]})
    words = plan.code.encode(value).words.reshape(value.shape)
    cells = plan.code.index(words)
    figure = plt.figure(figsize=(9.6, 3.3), layout="constrained")
    grid = figure.add_gridspec(2, 7)
    extent = (across.range.low, across.range.high, down.range.low, down.range.high)
    for place, image, title in (
        (grid[:, :2], value, f"{plan.term}, N·m"),
        (grid[:, 2:4], cells, f"cell of {plan.code.cells} over ±{plan.code.range.high:g}"),
    ):
        axes = figure.add_subplot(place)
        shown = axes.imshow(image, origin="lower", extent=extent, aspect="auto", cmap="coolwarm")
        axes.set(title=title, xlabel=f"{names[0]}, rad", ylabel=f"{names[1]}, rad/s²")
        figure.colorbar(shown, ax=axes, location="bottom", shrink=0.8)
    for k in range(plan.code.bits):
        axes = figure.add_subplot(grid[k // 3, 4 + k % 3])
        bit = words >> (plan.code.bits - 1 - k) & 1
        axes.imshow(bit, origin="lower", extent=extent, aspect="auto", cmap="Greys", vmax=1.4)
        axes.set(title=f"Gray bit {plan.code.bits - 1 - k}", xticks=[], yticks=[])
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def draw_words(name: str, path: Path) -> None:
    """Draw the word graph of a robot as compact mode compiles it."""
    built = build(split(inverse_dynamics_problem(load_robot(name))))
    bits = built.compact.demand.bits
    title = f"{name} at {bits} bits: {built.nodes} nodes"
    ranges = {name: word.range for name, word in built.compact.asked_words.items()}
    path.write_text(draw_graph(built.compact.graph, title, bits, ranges))


def main() -> None:
    """Draw them all."""
    tables = {entry.plan.term.name: entry for entry in run_passes("machado-2r")}
    draw_term(tables["T12"], PICTURES / "t12.svg")
    draw_words("machado-2r", PICTURES / "graph-2r.svg")


if __name__ == "__main__":
    main()
