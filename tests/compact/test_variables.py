"""Width variables: their names in files, and which of them there are."""

from __future__ import annotations

import pytest

from boolcomp.compact.sketch.sketch import AngleSum, Linear, Product, Sketch, Source, Waves, WordSum
from boolcomp.compact.sketch.variables import (
    Role,
    live_nodes,
    operands,
    own_variables,
    shape_variables,
    variable,
    widths_of,
    widths_text,
)

SKETCH = Sketch(
    (
        Source("q1", 4, angle=True),
        Source("q2", 4, angle=True),
        Source("qd1", 4, angle=False),
        AngleSum(((0, 1), (1, 1))),
        Waves(3, ((1, 1.0, 0.0),)),
        WordSum((Linear(4, 1.0),), 0.5),
        WordSum((Linear(2, 3.0), Product(2, 5, -0.5)), 0.0),
    ),
    (6,),
)


def test_files_list_widths_by_place_and_name_and_are_read_back() -> None:
    widths = {
        Role.DROP_A.of(12, 2): 3, Role.DROP_A.of(12, 10): 4, Role.CUT.of(12): -5,
        Role.SHIFT.of(12): 1, Role.EXPONENT.of(3): 7, Role.DIGITS.of(12, 0): 2,
    }  # fmt: skip
    text = widths_text(widths)
    assert list(text.items()) == [
        ("3 e", 7), ("12 a10", 4), ("12 a2", 3), ("12 c", 1), ("12 cut", -5), ("12 d0", 2)
    ]  # fmt: skip
    assert widths_of(text) == widths


@pytest.mark.parametrize("name", ["", "x", "3", "a-1", "cut 1", "A"])
def test_a_name_that_names_no_width_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no"):
        variable(0, name)


def test_every_node_has_the_variables_of_its_kind() -> None:
    names = [[v.name for v in own_variables(k, SKETCH.nodes[k])] for k in (3, 4, 6)]
    assert names == [["n"], ["t", "e", "s", "p"], ["cut", "k0", "d0", "k1", "a1", "b1"]]
    shapes = [[f"{v.node} {v.name}" for v in own] for own in shape_variables(SKETCH)]
    assert shapes == [
        [],
        [],
        [],
        ["3 n"],
        ["4 t", "4 e", "4 s", "4 p", "3 n"],
        ["5 cut"],
        ["6 cut"],
    ]


def test_what_only_a_dropped_addend_reads_is_not_live() -> None:
    assert live_nodes(SKETCH, {}) == frozenset(range(7))
    assert live_nodes(SKETCH, {Role.KEEP.of(6, 1): 0}) == {2, 6}


def test_operands_are_what_products_tables_and_exact_sums_read() -> None:
    assert operands(SKETCH) == {2, 3, 5}
    exact = Sketch(
        (*SKETCH.nodes[:3], AngleSum(((0, 1), (1, 1)), exact=True), WordSum((), 0.0)), (4,)
    )
    assert operands(exact) == {0, 1}
