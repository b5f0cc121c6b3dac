"""Maps of truth tables of many inputs as pictures: a point is a cell (see `twolevel.karnaugh`)."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.twolevel.karnaugh import cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Values = NDArray[np.uint8]

MOST = 18  # inputs of a map
WHITE, INK, FREE = (255, 255, 255, 0), (52, 64, 78, 255), (175, 185, 195, 255)


def split(inputs: int, words: Sequence[int] = ()) -> int:
    """Return how many bits count the rows: those of the first of two words, or else half."""
    if len(words) == 2 and max(words) <= 2 * min(words):
        return words[0]
    return inputs // 2


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
