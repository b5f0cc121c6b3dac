"""Truth tables of three inputs: cofactors, formulas and steps agree with the tables."""

from __future__ import annotations

from collections import Counter

import pytest

from boolcomp.logic import luts


def run(lut: int) -> int:
    """Compute a table from its steps, on the tables of the inputs."""
    values = list(luts.LETTERS)
    for kind, x, y in luts.steps(lut):
        a, b = values[x], values[y]
        values.append({"not": ~a & 255, "and": a & b, "or": a | b, "xor": a ^ b}[kind])
    return values[-1]


def test_the_steps_of_every_table_compute_it() -> None:
    tables = [lut for lut in range(1, 255) if lut not in luts.LETTERS]
    assert [run(lut) for lut in tables] == tables


def test_a_formula_without_xor_has_steps_without_xor() -> None:
    for formula, lut in luts.tables_by_formula().items():
        if not {"^", "0", "1"} & set(formula) and lut not in luts.LETTERS:
            kinds = dict(luts.operation_kinds(lut))
            assert "xor" not in kinds
            assert Counter(formula)["&"] == kinds.get("and", 0)
            assert Counter(formula)["|"] == kinds.get("or", 0)


def test_inverting_an_input_twice_changes_nothing() -> None:
    for lut in range(256):
        for place in range(3):
            assert luts.inverted(luts.inverted(lut, place), place) == lut


@pytest.mark.parametrize("lut", [luts.AND3, luts.OR2, luts.AND_OR, luts.MAJ3, luts.XOR3])
def test_composing_with_the_inputs_gives_the_table_itself(lut: int) -> None:
    assert luts.compose(lut, luts.LETTERS) == lut
