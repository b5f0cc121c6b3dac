"""The bench as a picture: time a sample of every rival, and over batch sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from boolcomp.common.pictures import blank, picture

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from boolcomp.measure.bench.rows import Bench, Timing

COLOURS = {"int8": "#c8553d", "int16": "#d9a441", "float32": "#3367b0", "float64": "#7a8794"}
MOST_LINES = 8


def draw_bench(bench: Bench, kind: str) -> bytes:
    """Return a picture (`svg` or `png`): bars for one case, lines over batch sizes."""
    return picture(lambda: _figure(bench), kind)


def _figure(bench: Bench) -> Figure:
    one = [r for r in bench.rows if r.cores == 1 and r.ns_per_sample is not None]
    bars = _bar_rows(one)
    names = list(dict.fromkeys(r.rival for r in bars))
    panels = 1 + (len({r.batch for r in one}) > 1)
    figure = blank(7.0 * panels + 1.0, max(3.5, 0.3 * len(bars) + 0.9))
    axes: Any = figure.subplots(1, panels, squeeze=False)[0]
    _draw_bars(axes[0], bars, names)
    if panels > 1:
        _draw_lines(axes[1], one)
    title = f"{bench.robot}, {bench.bits} bits, {bench.mode} mode: {bench.nodes} nodes"
    figure.suptitle(f"{title}; {bench.machine.processor}", fontsize=10)
    return figure


def _bar_rows(rows: Sequence[Timing]) -> list[Timing]:
    """Return the rows of the batch that most rivals ran (of several, the one nearest the cache)."""
    sizes = {r.batch for r in rows}
    if not sizes:
        return []
    batch = min(sizes, key=lambda b: (-sum(r.batch == b for r in rows), abs(b - 4096)))
    chosen = [r for r in rows if r.batch == batch]
    fastest: dict[str, float] = {}
    for row in chosen:
        least = fastest.get(row.rival, row.least)
        fastest[row.rival] = min(least, row.least)
    kinds = list(COLOURS)
    return sorted(chosen, key=lambda r: (fastest[r.rival], r.rival, kinds.index(r.kind)))


def _draw_bars(panel: Any, rows: Sequence[Timing], names: Sequence[str]) -> None:
    places, middles = [], []
    at = 0.0
    for name in names:
        group = [r for r in rows if r.rival == name]
        places += [at + 0.8 * k for k in range(len(group))]
        middles.append(at + 0.4 * (len(group) - 1))
        at += 0.8 * len(group) + 0.5
    values = [r.least for r in rows]
    edges = ["black" if r.logic else "none" for r in rows]
    colours = [COLOURS[r.kind] for r in rows]
    panel.barh(places, values, height=0.7, color=colours, edgecolor=edges, linewidth=1.2)
    for place, row in zip(places, rows, strict=True):
        least = row.least
        text = f" {least:.3g}" + ("" if row.rms_error is None else f"  (rms {row.rms_error:.2g})")
        panel.text(least, place, " WRONG" if row.wrong else text, va="center", fontsize=7)
    panel.set_yticks(middles, names)
    for label, name in zip(panel.get_yticklabels(), names, strict=True):
        if any(r.logic for r in rows if r.rival == name):
            label.set_fontweight("bold")
    panel.invert_yaxis()
    panel.set_xscale("log")
    panel.margins(y=0.01)
    panel.set_xlim(0.5 * min(values, default=1.0), 40 * max(values, default=1.0))
    batch = rows[0].batch if rows else 0
    panel.set(xlabel="ns a sample, all torques (error: rms in last bits)")
    panel.set_title(f"batches of {batch}, one core; logic framed", fontsize=9)
    panel.grid(visible=True, axis="x", alpha=0.3)
    for kind, colour in COLOURS.items():
        if any(r.kind == kind for r in rows):
            panel.barh([0], [0], color=colour, label=f"{kind} in and out")
    panel.legend(fontsize=7, loc="upper right")


def _draw_lines(panel: Any, rows: Sequence[Timing]) -> None:
    fastest: dict[str, float] = {}
    for row in rows:
        least = row.least
        fastest[row.rival] = min(fastest.get(row.rival, least), least)
    families: dict[str, str] = {}  # of one text by two compilers the faster is enough
    for name in sorted(fastest, key=lambda name: fastest[name]):
        families.setdefault(name.split(" (")[0], name)
    shown = list(families.values())[:MOST_LINES]
    shown += [r for r in dict.fromkeys(x.rival for x in rows if x.logic) if r not in shown]
    for name in shown:
        mine = [r for r in rows if r.rival == name]
        kinds = [k for k in COLOURS if any(r.kind == k for r in mine)]
        line = sorted((r for r in mine if r.kind == kinds[0]), key=lambda r: r.batch)
        style = {"linewidth": 2.4, "marker": "o"} if line[0].logic else {"marker": "."}
        panel.plot(
            [r.batch for r in line], [r.ns_per_sample for r in line], label=f"{name}, {kinds[0]}",
            **style,
        )  # fmt: skip
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set(xlabel="samples a batch", ylabel="ns a sample, all torques")
    panel.set_title("over batch sizes, one core", fontsize=9)
    panel.grid(visible=True, alpha=0.3)
    panel.legend(fontsize=7)
