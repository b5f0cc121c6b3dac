"""Truth tables of three inputs: cofactors, formulas and steps agree with the tables."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from boolcomp.logic import luts

if TYPE_CHECKING:
    from collections.abc import Callable


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


ROWS: list[tuple[int, ...]] = [(row >> 2 & 1, row >> 1 & 1, row & 1) for row in range(8)]
MEANINGS: dict[str, Callable[[int, int, int], int]] = {
    "FIRST": lambda a, _b, _c: a,
    "SECOND": lambda _a, b, _c: b,
    "THIRD": lambda _a, _b, c: c,
    "AND2": lambda a, b, _c: a & b,
    "AND3": lambda a, b, c: a & b & c,
    "OR2": lambda a, b, _c: a | b,
    "OR3": lambda a, b, c: a | b | c,
    "NOT1": lambda a, _b, _c: 1 - a,
    "XOR2": lambda a, b, _c: a ^ b,
    "XOR3": lambda a, b, c: a ^ b ^ c,
    "MAJ3": lambda a, b, c: int(a + b + c > 1),
    "AND_OR": lambda a, b, c: a | b & c,
}


def table(function: Callable[[int, int, int], int]) -> int:
    return sum(function(*row) << place for place, row in enumerate(ROWS))


@pytest.mark.parametrize("name", MEANINGS)
def test_a_named_table_is_its_function(name: str) -> None:
    assert getattr(luts, name) == table(MEANINGS[name])


def test_every_formula_is_its_table() -> None:
    formulas = luts.tables_by_formula()
    assert len(formulas) == 84
    for text, lut in formulas.items():
        python = text.replace("~", "1 ^ ")
        code = re.sub(r"1 \^ (\([^()]*\)|\w)", r"(1 ^ \1)", python)
        assert lut == table(lambda a, b, c, code=code: eval(code, {"a": a, "b": b, "c": c}))  # type: ignore[misc]  # noqa: S307 (our own text)
        assert luts.formula(lut) == text


def test_what_has_no_short_formula_is_a_number() -> None:
    assert luts.formula(luts.MAJ3) == "0xE8"
    assert [luts.formula(lut) for lut in (0, 255, 0x0F, 0x33, 0x99)] == [
        "0",
        "1",
        "~a",
        "~b",
        "0x99",
    ]


def test_the_steps_of_every_table_stay_as_few_as_they_are() -> None:
    tables = [lut for lut in range(1, 255) if lut not in luts.LETTERS]
    counts = Counter(len(luts.steps(lut)) for lut in tables)
    kinds = Counter(
        kind for lut in tables for kind, count in luts.operation_kinds(lut) for _ in range(count)
    )
    assert (dict(counts), dict(kinds)) == (
        {1: 12, 2: 36, 3: 70, 4: 74, 5: 47, 6: 11, 7: 1},
        {"and": 227, "not": 280, "or": 192, "xor": 199},
    )


def test_cofactors_and_support_are_those_of_the_rows() -> None:
    for lut in range(256):
        for place in range(3):
            for value in (0, 1):
                fixed = [(*row[:place], value, *row[place + 1 :]) for row in ROWS]
                rows = [ROWS.index(row) for row in fixed]
                found = luts.cofactors(lut, place)[value]
                assert found == sum((lut >> row & 1) << k for k, row in enumerate(rows))
            zero, one = luts.cofactors(lut, place)
            assert (place in luts.support(lut)) == (zero != one) == luts.depends(lut, place)


def test_an_inverted_input_swaps_the_rows_that_differ_in_it() -> None:
    for lut in range(256):
        for place in range(3):
            swapped = [row ^ 4 >> place for row in range(8)]
            assert luts.inverted(lut, place) == sum(
                (lut >> row & 1) << k for k, row in enumerate(swapped)
            )
