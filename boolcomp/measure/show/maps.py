"""Maps of truth tables in Gray order: squares for a few inputs, pictures for more.

The first bits count the rows, the others the columns, both in Gray order, so that neighbours differ
in one input. Up to six inputs a map is drawn with its products on it (Karnaugh); beyond, a point of
a picture is a cell. Values are 0, 1 and 2 (either will do).
"""

from __future__ import annotations

import base64
import html
import struct
import zlib
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.measure.show.quine import holds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Values = NDArray[np.uint8]

DRAWN = 6  # inputs of a map whose cells are squares
MOST = 18  # inputs of a map
CELL, EDGE = 34, 58  # pixels: of a square, of the room for names beside it
COLOURS = 8
WHITE, INK, FREE = (255, 255, 255, 0), (52, 64, 78, 255), (175, 185, 195, 255)


def counted(number: int, noun: str) -> str:
    """Return a number of things in words: one of them has no s."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def gray(k: int) -> int:
    """Return the Gray word of a place."""
    return k ^ k >> 1


def split(inputs: int, words: Sequence[int] = ()) -> int:
    """Return how many bits count the rows: those of the first of two words, or else half."""
    if len(words) == 2 and max(words) <= 2 * min(words):
        return words[0]
    return inputs // 2


def cells(values: Values, rows: int) -> Values:
    """Return a truth table (minterms in order) as its map, (rows, columns)."""
    inputs = len(values).bit_length() - 1
    down = np.array([gray(k) for k in range(1 << rows)])
    along = np.array([gray(k) for k in range(1 << (inputs - rows))])
    return np.asarray(values[(down[:, None] << (inputs - rows)) | along[None, :]])


def picture(values: Values, rows: int) -> str:
    """Return a map as a PNG in a data URL: a point for a cell, dark where it is 1."""
    found = cells(values, rows)
    high, wide = found.shape
    packed = np.zeros((high, -(-wide // 4)), np.uint8)  # four points of two bits a byte
    for k in range(4):
        part = found[:, k::4]
        packed[:, : part.shape[1]] |= part.astype(np.uint8) << (6 - 2 * k)
    lines = np.concatenate([np.zeros((high, 1), np.uint8), packed], axis=1).tobytes()
    colours = (WHITE, INK, FREE)
    data = b"\x89PNG\r\n\x1a\n" + b"".join([
        _chunk(b"IHDR", struct.pack(">IIBBBBB", wide, high, 2, 3, 0, 0, 0)),
        _chunk(b"PLTE", b"".join(bytes(one[:3]) for one in colours)),
        _chunk(b"tRNS", bytes(one[3] for one in colours)),
        _chunk(b"IDAT", zlib.compress(lines, 9)),
        _chunk(b"IEND", b""),
    ])  # fmt: skip
    return f"data:image/png;base64,{base64.b64encode(data).decode()}"


def _chunk(kind: bytes, data: bytes) -> bytes:
    body = kind + data
    return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))


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
