"""Karnaugh maps: truth tables of at most six inputs in Gray order, with products on them, as SVG.

The first bits count the rows, the others the columns, both in Gray order, so that neighbours differ
in one input. Values are 0, 1 and 2 (either will do).
"""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from boolcomp.twolevel.function import Cover

    Values = NDArray[np.uint8]

DRAWN = 6  # inputs of a map whose cells are squares
MOST = 8  # outputs of a cover that are drawn
CELL, EDGE = 34, 58  # pixels: of a square, of the room for names beside it
COLOURS = 8
# For notebooks, where a page's style sheet is not: colours that can be told apart (Okabe and Ito).
INKS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#882255", "#666666")
STYLE = (
    "svg.karnaugh{max-width:24rem;margin:.3rem;background:#fff}"
    "svg.karnaugh text{font:13px system-ui,sans-serif;fill:#223}"
    "svg.karnaugh .cell{fill:#fff;stroke:#99a}svg.karnaugh .v1{fill:#e8eef6}"
    "svg.karnaugh .v2{fill:#f4f4f4}svg.karnaugh .loop{fill:none;stroke-width:2.2}"
    + "".join(f"svg.karnaugh .c{k + 1}{{stroke:{ink}}}" for k, ink in enumerate(INKS))
)


def cover_html(cover: Cover) -> str:
    """Return a cover for notebooks: a map of every output where they are few, else its text."""
    cubes, head = cover.cubes, repr(cover).partition("\n")[0]
    if not (0 < cubes.inputs <= DRAWN and 0 < cubes.outputs <= MOST):
        return f"<pre>{html.escape(repr(cover))}</pre>"
    rows, names = cubes.inputs // 2, [f"x{k}" for k in range(cubes.inputs)]
    maps = []
    for output in range(cubes.outputs):
        own = [term for term, owners in cubes.rows() if owners[output] == "1"]
        ones = [any(holds(term, k) for term in own) for k in range(1 << cubes.inputs)]
        drawn = karnaugh(np.array(ones, np.uint8), rows, names, own)
        maps.append(f"<figure>{drawn}<figcaption>y{output}</figcaption></figure>")
    flow = f'<div style="display:flex;flex-wrap:wrap">{"".join(maps)}</div>'
    return f"<div><style>{STYLE}</style>{html.escape(head)}{flow}</div>"


def holds(cube: str, minterm: int) -> bool:
    """Tell whether a product of letters 0, 1, - holds a minterm, whose highest bit comes first."""
    last = len(cube) - 1
    return all(letter in {"-", "01"[minterm >> (last - k) & 1]} for k, letter in enumerate(cube))


def counted(number: int, noun: str) -> str:
    """Return a number of things in words: one of them has no s."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def gray(k: int) -> int:
    """Return the Gray word of a place."""
    return k ^ k >> 1


def cells(values: Values, rows: int) -> Values:
    """Return a truth table (minterms in order) as its map, (rows, columns)."""
    inputs = len(values).bit_length() - 1
    down = np.array([gray(k) for k in range(1 << rows)])
    along = np.array([gray(k) for k in range(1 << (inputs - rows))])
    return np.asarray(values[(down[:, None] << (inputs - rows)) | along[None, :]])


def karnaugh(values: Values, rows: int, names: Sequence[str], cubes: Sequence[str] = ()) -> str:
    """Return a map of at most six inputs as SVG, with the products that hold its ones."""
    found = cells(values, rows)
    high, wide = found.shape
    left = EDGE if rows else 20
    width, height = left + CELL * wide + 12, EDGE + CELL * high + 12
    columns = len(names) - rows
    shown = f"map of {', '.join(names)}, with {counted(len(cubes), 'product')}"
    lines = [
        (
            f'<svg class="karnaugh" viewBox="0 0 {width} {height}" role="img" '
            f'style="--wide:{width}px" aria-label="{html.escape(shown)}">'
        )
    ]
    lines.append(_name(left - 8, 14, " ".join(names[:rows]), "end") if rows else "")
    lines.append(_name(left + CELL * wide / 2, 14, " ".join(names[rows:]), "middle"))
    lines += [
        _name(left + CELL * (k + 0.5), EDGE - 8, _word(k, columns), "middle", "word")
        for k in range(wide)
    ]
    lines += [
        _name(left - 8, EDGE + CELL * (k + 0.5) + 4, _word(k, rows), "end", "word")
        for k in range(high if rows else 0)
    ]
    for r in range(high):
        for c in range(wide):
            value = int(found[r, c])
            x, y = left + CELL * c, EDGE + CELL * r
            minterm = gray(r) << columns | gray(c)
            lines.append(
                f'<rect class="cell v{value}" x="{x}" y="{y}" width="{CELL}" height="{CELL}">'
                f"<title>{minterm}</title></rect>"
            )
            lines.append(_name(x + CELL / 2, y + CELL / 2 + 5, "01–"[value], "middle", "digit"))
    for k, cube in enumerate(cubes):
        lines += _loops(k, cube, rows, (left, EDGE), (high, wide))
    return "\n".join([*filter(None, lines), "</svg>"])


def _name(x: float, y: float, text: str, anchor: str, kind: str = "axis") -> str:
    at = f'x="{x:g}" y="{y:g}" text-anchor="{anchor}"'
    return f'<text class="{kind}" {at}>{html.escape(text)}</text>'


def _word(place: int, bits: int) -> str:
    return format(gray(place), f"0{bits}b") if bits else ""


def _loops(
    k: int, cube: str, rows: int, corner: tuple[int, int], shape: tuple[int, int]
) -> list[str]:
    """Return a product as loops about its cells: open to a side where it goes on behind it."""
    inset = 3 + 3 * (k % 3)
    over = 7
    loops = []
    for first, last in _runs(cube[:rows], shape[0]):
        for begin, end in _runs(cube[rows:], shape[1]):
            x, y = corner[0] + CELL * begin + inset, corner[1] + CELL * first + inset
            w, h = CELL * (end - begin) - 2 * inset, CELL * (last - first) - 2 * inset
            if _around(cube[rows:], shape[1]):
                x, w = (x - inset - over, w + inset + over) if not begin else (x, w + inset + over)
            if _around(cube[:rows], shape[0]):
                y, h = (y - inset - over, h + inset + over) if not first else (y, h + inset + over)
            loops.append(
                f'<rect class="loop c{k % COLOURS + 1}" data-cube="{k}" x="{x}" y="{y}" '
                f'width="{w}" height="{h}" rx="9"><title>{html.escape(cube)}</title></rect>'
            )
    return loops


def _places(part: str, count: int) -> list[int]:
    return [k for k in range(count) if holds(part, gray(k))]


def _runs(part: str, count: int) -> list[tuple[int, int]]:
    """Return the places of a cube on an axis as runs from … to before."""
    runs: list[tuple[int, int]] = []
    for k in _places(part, count):
        if runs and runs[-1][1] == k:
            runs[-1] = (runs[-1][0], k + 1)
        else:
            runs.append((k, k + 1))
    return runs


def _around(part: str, count: int) -> bool:
    """Tell whether a cube holds both ends of an axis, and not all of it: they are neighbours."""
    runs = _runs(part, count)
    return len(runs) == 2 and runs[0][0] == 0 and runs[1][1] == count
