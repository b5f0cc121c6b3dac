"""Maps: neighbours differ in one input, pictures show the table, loops hold their products."""

from __future__ import annotations

import base64
import io
import re

import numpy as np
import pytest

from boolcomp.measure import minterms, picture, split
from boolcomp.twolevel import CELL, EDGE, cells, karnaugh

RECT = re.compile(r'<rect class="loop c\d" data-cube="(\d+)" x="(\S+)" y="(\S+)" width="(\S+)" '
                  r'height="(\S+)"')  # fmt: skip


@pytest.mark.parametrize(("inputs", "rows"), [(2, 1), (4, 2), (5, 2), (6, 3), (7, 3), (3, 0)])
def test_neighbours_on_a_map_differ_in_one_input(inputs: int, rows: int) -> None:
    found = cells(np.arange(1 << inputs).astype(np.uint8), rows)
    assert sorted(found.ravel()) == list(range(1 << inputs))
    for axis in (0, 1):
        if found.shape[axis] > 1:
            apart = found ^ np.roll(found, 1, axis)
            assert {int(x).bit_count() for x in apart.ravel()} == {1}


@pytest.mark.slow
@pytest.mark.parametrize("inputs", [1, 2, 3, 6, 9])
def test_a_picture_has_a_point_for_every_cell(inputs: int) -> None:
    import matplotlib.image as mpl

    rng = np.random.default_rng(inputs)
    values = rng.integers(0, 3, 1 << inputs).astype(np.uint8)
    rows = split(inputs)
    url = picture(values, rows)
    data = base64.b64decode(url.removeprefix("data:image/png;base64,"))
    seen = mpl.imread(io.BytesIO(data), format="png")
    clear = seen[..., 3] < 0.5
    dark = (seen[..., 0] < 0.3) & ~clear
    wanted = cells(values, rows)
    assert np.array_equal(clear, wanted == 0)
    assert np.array_equal(dark, wanted == 1)


@pytest.mark.parametrize("cube", ["0-1-", "-0-0", "1111", "----", "-0--", "---0", "10--", "01-1"])
def test_loops_hold_the_cells_of_their_product_and_no_others(cube: str) -> None:
    inputs, rows = 4, 2
    values = np.zeros(16, np.uint8)
    values[list(minterms(cube))] = 1
    text = karnaugh(values, rows, "abcd", [cube])
    numbers = cells(np.arange(1 << inputs).astype(np.uint8), rows)
    inside = set()
    for _, x, y, w, h in RECT.findall(text):
        for (r, c), minterm in np.ndenumerate(numbers):
            across = EDGE + CELL * (c + 0.5), EDGE + CELL * (r + 0.5)
            if 0 < across[0] - float(x) < float(w) and 0 < across[1] - float(y) < float(h):
                inside.add(int(minterm))
    assert inside == set(minterms(cube))
