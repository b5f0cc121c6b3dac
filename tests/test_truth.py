"""Truth tables: against direct evaluation, exhaustively; made once, and small."""

import resource
from dataclasses import replace

import numpy as np
import pytest
from bitarray import frozenbitarray
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import input_of, random_robot, terms_of
from termtext import parse_term

import boolcomp as bc
from boolcomp.codes import Code
from boolcomp.logic import TruthTable
from boolcomp.paper import (
    PlanOptions,
    TableWord,
    TermPlan,
    TermTable,
    make_plan,
    make_tables,
    render_table,
    signature,
    tabulate,
)
from boolcomp.pipeline import run_passes
from boolcomp.problem import CodeKind, Input, Interval


def tables(bits: int = 8, code: str = "gray") -> tuple[TermTable, ...]:
    result: tuple[TermTable, ...] = run_passes("machado-2r", PlanOptions(bits=bits, code=code))  # type: ignore[arg-type]  # parametrised over the literals
    return result


def exact_values(plan: TermPlan) -> np.ndarray:
    """Return the value of the term row by row, the slow and obvious way."""
    rows = np.arange(1 << plan.input_bits, dtype=np.uint32)
    values = {}
    left = plan.input_bits
    for word in plan.words:
        left -= word.inputs
        bits = rows >> np.uint32(left) & np.uint32((1 << word.inputs) - 1)
        values[word.variable.name] = word.code.decode(bits)
    return np.broadcast_to(plan.term.evaluate(values), rows.shape)


def directly(plan: TermPlan) -> np.ndarray:
    """Return the output words row by row."""
    return plan.code.encode(exact_values(plan)).words


@pytest.mark.slow
@settings(max_examples=10)
@given(st.integers(0, 3000))
def test_every_row_is_right_for_random_robots(seed: int) -> None:
    plan = make_plan(terms_of(random_robot(seed, joints=1 + seed % 2)), PlanOptions(bits=4))
    for term in plan.terms:
        if term.input_bits <= 14:
            assert np.array_equal(tabulate(term).words(), directly(term))


def test_faithful_rounding_frees_the_bit_that_tells_the_neighbours_apart() -> None:
    nearest = run_passes("machado-2r", PlanOptions(bits=6))
    faithful = run_passes("machado-2r", PlanOptions(bits=6, rounding="faithful"))
    for near, free in zip(nearest, faithful, strict=True):
        assert near.table.columns == free.table.columns
        masks = TruthTable(free.table.inputs, free.table.free).words()
        code, value = free.plan.code, exact_values(free.plan)
        either = code.decode(near.table.words() ^ masks)
        assert np.all(np.bitwise_count(masks) <= 1)
        # The other word's cell is the neighbour on the value's side, less than a step away.
        moved = masks != 0
        assert (np.abs(either - value)[moved] < code.step * (1 + 1e-6)).all()
        assert (np.abs(either - value)[moved] > code.step * (0.5 - 1e-6)).all()
        inside = np.abs(value) < code.range.high - code.step / 2
        centred = np.abs(code.decode(near.table.words()) - value) < 1e-7 * code.step
        assert (moved == (inside & ~centred)).all()


def test_a_value_on_the_border_of_two_cells_is_the_same_on_every_machine() -> None:
    """cos(q1 + q2) is zero at q1 + q2 = ±pi/2 up to rounding: such rows go up."""
    entry = next(e for e in tables() if e.plan.term.name == "T25")
    words = entry.plan.words
    cells = np.arange(256)
    first, second = words[0].code.word(cells), words[1].code.word((63 - cells) % 256)
    outputs = entry.table.words()[first.astype(int) << 8 | second]
    assert (entry.plan.code.index(outputs) == 128).all()


def test_twenty_inputs_take_less_than_200_megabytes() -> None:
    terms = make_plan(terms_of("machado-2r"), PlanOptions(bits=10)).terms
    plan = next(term for term in terms if term.input_bits == 20)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    table = tabulate(plan)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000
    assert table.inputs == 20
    with pytest.raises(bc.UsageError, match="a column of 2 inputs has 4 rows"):
        TruthTable(2, (frozenbitarray("010"),))


def test_a_plan_that_is_too_wide_makes_no_table(monkeypatch: pytest.MonkeyPatch) -> None:
    small = planned("1 sin q1 qd1", [(HALF, 3, 0), (SPEED, 3, 0)])
    for most in (6, 5):
        monkeypatch.setattr("boolcomp.paper.tables.MOST_INPUT_BITS", most)
        if most == 6:
            assert tabulate(small).inputs == 6
    with pytest.raises(bc.DataError, match="a table of 6 input bits is too large"):
        tabulate(small)
    monkeypatch.undo()
    plan = make_plan(terms_of("planar-3r"), PlanOptions(bits=12))
    wide = next(term for term in plan.terms if term.too_wide)
    with pytest.raises(bc.DataError, match=r"a table of \d+ input bits is too large"):
        tabulate(wide)
    with pytest.raises(bc.DataError, match="planar-3r"):
        make_tables(plan)


HALF = replace(input_of("q1", Interval(-2.0, 2.0)), reach=Interval(-0.5, 1.0))
SPEED = input_of("qd1", Interval(-2.0, 2.0))


def planned(
    text: str, words: list[tuple[Input, int, int]], high: float = 4.0, kind: CodeKind = "gray"
) -> TermPlan:
    """Return the plan of a term of 3 bits over ± high: its words' variables, bits and dropped."""
    term = parse_term(
        text, "T11", "torque 1", {variable.name: variable for variable, _, _ in words}
    )
    made = tuple(TableWord(v, Code(v.word, bits, kind), dropped) for v, bits, dropped in words)
    return TermPlan(term, Code(Interval(-high, high), 3, kind), made)


def test_rows_are_free_where_a_cell_lies_beyond_what_the_joint_may_do() -> None:
    plan = planned("1 sin q1 qd1", [(SPEED, 1, 0), (HALF, 3, 0)], kind="natural")
    table = tabulate(plan)
    # Cells of width 1/2 from -2: 0, 1, 2 end where the range begins, 6 begins where it ends.
    assert {column.to01() for column in table.free} == {"1110000111100001"}
    assert len(table.free) == 3


def test_a_row_of_a_word_without_its_first_bit_is_free_where_both_its_cells_are() -> None:
    table = tabulate(planned("1 cos q1", [(HALF, 3, 1)]))
    assert {column.to01() for column in table.free} == {"1000"}


def test_a_border_of_the_range_that_rounding_moved_is_still_the_border() -> None:
    above = replace(HALF, reach=Interval(-0.5, 1.0 - 1e-11))
    beyond = replace(HALF, reach=Interval(-0.5, 1.0 - 1e-3))
    for variable, ends in ((above, "11100001"), (beyond, "11100011")):
        table = tabulate(planned("1 sin q1", [(variable, 3, 0)], kind="natural"))
        assert table.free[0].to01() == ends


@pytest.mark.parametrize("chunk", [1, 3, 40])
def test_a_table_is_the_same_however_large_its_blocks_are(
    chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = input_of("q2", Interval(-2.0, 2.0))
    words = [(HALF, 3, 0), (other, 2, 0), (SPEED, 2, 0)]
    for rounding in ("nearest", "faithful"):
        plan = replace(planned("1 cos(q1 + q2) qd1", words), rounding=rounding)
        whole = tabulate(plan)
        with monkeypatch.context() as patch:
            patch.setattr("boolcomp.paper.tables.CHUNK", chunk)
            assert tabulate(plan) == whole
        assert np.array_equal(whole.words(), directly(plan))


def test_signatures_tell_coefficients_ranges_and_codes_apart() -> None:
    wide, shifted = Interval(-4.0, 4.0), Interval(0.0, 4.0)
    one = planned("3 sin q1 qd1", [(HALF, 3, 0), (SPEED, 3, 0)])
    fast = replace(SPEED, reach=wide, word=wide)
    assert signature(one) == signature(planned("1.5 sin q1 qd1", [(HALF, 3, 0), (fast, 3, 0)]))
    assert signature(one) == signature(
        planned("6 sin q1 qd1", [(HALF, 3, 0), (SPEED, 3, 0)], high=8.0)
    )
    later = replace(SPEED, reach=shifted, word=shifted)
    others = [
        planned("2 sin q1 qd1", [(HALF, 3, 0), (SPEED, 3, 0)]),
        planned("3 cos q1 qd1", [(HALF, 3, 0), (SPEED, 3, 0)]),
        planned("3 sin q1 qd1", [(HALF, 3, 0), (SPEED, 2, 0)]),
        planned("3 sin q1 qd1", [(HALF, 3, 0), (SPEED, 3, 0)], kind="natural"),
        planned("3 sin q1 qd1", [(replace(HALF, word=HALF.reach), 3, 0), (SPEED, 3, 0)]),
        planned("3 sin q1 qd1", [(HALF, 3, 0), (later, 3, 0)]),
        planned("2 sin q1 qd1", [(HALF, 3, 0), (later, 3, 0)]),
        planned("1.5 sin q1 qd1^2", [(HALF, 3, 0), (SPEED, 3, 0)]),
    ]
    assert len({signature(plan) for plan in [one, *others]}) == 9


def test_every_row_of_a_file_is_a_row_of_its_table() -> None:
    free = 0
    for options in (
        PlanOptions(5),
        PlanOptions(6, rounding="faithful"),
        PlanOptions(4, "sign-magnitude"),
    ):
        for entry in run_passes("machado-2r", options):
            table = entry.table
            rows = [line for line in render_table(entry).splitlines() if line[0] in "01"]
            assert len(rows) == 1 << table.inputs
            for number, row in enumerate(rows):
                outputs = "".join(
                    "-" if table.free and table.free[k][number] else str(column[number])
                    for k, column in enumerate(table.columns)
                )
                assert row == f"{number:0{table.inputs}b} {outputs}"
            free += sum(column.count() for column in table.free)
    assert free > 100
