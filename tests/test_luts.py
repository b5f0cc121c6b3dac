"""Truth tables of three inputs: names, formulas, steps and cofactors agree with the rows."""

import re
from collections import Counter
from collections.abc import Callable

import pytest

from boolcomp.logic import network

ROWS: list[tuple[int, ...]] = [(row >> 2 & 1, row >> 1 & 1, row & 1) for row in range(8)]
TABLES = [lut for lut in range(1, 255) if lut not in network.LETTERS]
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


def run(lut: int) -> int:
    """Compute a table from its steps, on the tables of the inputs."""
    values = list(network.LETTERS)
    for kind, x, y in network.steps(lut):
        a, b = values[x], values[y]
        values.append({"not": ~a & 255, "and": a & b, "or": a | b, "xor": a ^ b}[kind])
    return values[-1]


def test_a_named_table_is_its_function() -> None:
    for name, meaning in MEANINGS.items():
        assert getattr(network, name) == table(meaning), name


def test_every_formula_is_its_table_and_has_steps_like_it() -> None:
    formulas = network.tables_by_formula()
    assert len(formulas) == 84
    for text, lut in formulas.items():
        python = text.replace("~", "1 ^ ")
        code = re.sub(r"1 \^ (\([^()]*\)|\w)", r"(1 ^ \1)", python)
        assert lut == table(lambda a, b, c, code=code: eval(code, {"a": a, "b": b, "c": c}))  # type: ignore[misc]  # noqa: S307 (our own text)
        assert network.formula(lut) == text
        if not {"^", "0", "1"} & set(text) and lut in TABLES:
            kinds = dict(network.operation_kinds(lut))
            counted = Counter(text)
            found = [kinds.get(kind, 0) for kind in ("xor", "and", "or")]
            assert found == [0, counted["&"], counted["|"]]
    assert [network.formula(lut) for lut in (network.MAJ3, 0, 255, 0x0F)] == [
        "0xE8",
        "0",
        "1",
        "~a",
    ]


def test_the_steps_of_every_table_compute_it_and_are_as_few_as_known() -> None:
    assert [run(lut) for lut in TABLES] == TABLES
    counts = Counter(len(network.steps(lut)) for lut in TABLES)
    kinds = Counter(
        kind for lut in TABLES for kind, count in network.operation_kinds(lut) for _ in range(count)
    )
    assert dict(counts) == {1: 12, 2: 36, 3: 70, 4: 74, 5: 47, 6: 11, 7: 1}
    assert dict(kinds) == {"and": 227, "not": 280, "or": 192, "xor": 199}


def test_cofactors_support_and_inverted_inputs_are_those_of_the_rows() -> None:
    for lut in range(256):
        for place in range(3):
            for value in (0, 1):
                fixed = [(*row[:place], value, *row[place + 1 :]) for row in ROWS]
                rows = [ROWS.index(row) for row in fixed]
                found = network.cofactors(lut, place)[value]
                assert found == sum((lut >> row & 1) << k for k, row in enumerate(rows))
            zero, one = network.cofactors(lut, place)
            assert (place in network.support(lut)) == (zero != one) == network.depends(lut, place)
            swapped = sum((lut >> (row ^ 4 >> place) & 1) << row for row in range(8))
            assert network.inverted(lut, place) == swapped


def test_composing_is_substituting() -> None:
    assert all(network.compose(lut, network.LETTERS) == lut for lut in range(256))
    assert network.compose(network.AND2, (network.OR2, network.THIRD, 0)) == table(
        lambda a, b, c: (a | b) & c
    )


def test_tables_of_more_operands_have_the_cofactors_and_entries_of_their_rows() -> None:
    for operands in (4, 6):
        rows = range(1 << operands)
        lut = sum((row % 5 == 1) << row for row in rows) | 1 << 3
        assert network.entries(lut, operands) == [lut >> row & 1 for row in rows]
        for place in range(operands):
            bit = 1 << (operands - 1 - place)
            assert network.letter(place, operands) == sum(bool(row & bit) << row for row in rows)
            fixed = network.cofactors(lut, place, operands)
            for value, table in enumerate(fixed):
                chosen = [row & ~bit | bit * value for row in rows]
                assert table == sum((lut >> row & 1) << k for k, row in enumerate(chosen))
            assert network.depends(lut, place, operands) == (fixed[0] != fixed[1])
        low = network.letter(operands - 1, operands)
        assert network.support(low, operands) == (operands - 1,)


def test_only_networks_of_three_operands_are_in_normal_form_and_all_are_written() -> None:
    twice = (network.Node(0xC0, (2, 3)), network.Node(0xC0, (2, 3)))
    for nodes in (twice, (network.Node(0x30, (3, 2)),)):
        assert network.Network(4, nodes, (6,), 6).depth == 1
        with pytest.raises(ValueError, match=r"equal|rise"):
            network.Network(4, nodes, (6,))
    wide = network.Node(0x8000, (2, 3, 4, 5))
    assert "n0 = 0x8000(i0, i1, i2, i3)" in str(network.Network(4, (wide,), (6,), 6))
    with pytest.raises(ValueError, match="not of its operands"):
        network.Network(4, (network.Node(0x18000, (2, 3, 4, 5)),), (6,), 6)
