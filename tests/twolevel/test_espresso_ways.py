"""What users of Espresso expect: sets written out, phases, essential primes, netlists, counts.

The oracle reads rows letter by letter and looks at all points; it shares nothing with the package.
"""

from __future__ import annotations

import itertools
import shutil
import subprocess
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boolcomp.twolevel import netlists, pla
from boolcomp.twolevel.cheapest import Prices, cheapest
from boolcomp.twolevel.cover import in_phase
from boolcomp.twolevel.cubes import Cubes
from boolcomp.twolevel.essential import essential, primes_around
from boolcomp.twolevel.minimise import minimise
from boolcomp.twolevel.phases import assigned
from boolcomp.twolevel.statistics import statistics

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

Point = tuple[int, ...]


def holds(term: str, point: Point) -> bool:
    return all(letter in {"-", str(bit)} for letter, bit in zip(term, point, strict=True))


def values(rows: Sequence[tuple[str, str]], inputs: int, outputs: int) -> dict[Point, str]:
    """Return what rows say at every point: 1, or - where a row with - holds it, else 0."""
    table = {}
    for point in itertools.product((0, 1), repeat=inputs):
        met = [owners for term, owners in rows if holds(term, point)]
        table[point] = "".join(
            "-" if any(w[j] == "-" for w in met) else "1" if any(w[j] == "1" for w in met) else "0"
            for j in range(outputs)
        )
    return table


def text_of(rows: Sequence[tuple[str, str]], inputs: int, outputs: int, *more: str) -> str:
    head = [f".i {inputs}", f".o {outputs}", *more]
    return "\n".join([*head, *(" ".join(row) for row in rows), ".e", ""])


@st.composite
def plas(draw: st.DrawFn, letters: str = "01-") -> tuple[list[tuple[str, str]], int, int]:
    inputs, outputs = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    term = st.text("01-", min_size=inputs, max_size=inputs)
    owners = st.text(letters, min_size=outputs, max_size=outputs)
    return draw(st.lists(st.tuples(term, owners), max_size=8)), inputs, outputs


def in_point_order(cubes: Cubes) -> dict[Point, str]:
    return values(cubes.rows(), cubes.inputs, cubes.outputs)


@given(plas(), st.sampled_from(["f", "fd", "fr", "fdr"]))
def test_every_output_type_reads_back_as_sets_of_the_same_function(
    some: tuple[list[tuple[str, str]], int, int], kind: str
) -> None:
    rows, inputs, outputs = some
    wanted = values(rows, inputs, outputs)
    function = pla.parse(text_of(rows, inputs, outputs)).function()
    cover = minimise(function, "isop").cubes
    sets = (cover, function.dc, function.off)
    written = pla.parse(pla.render(pla.from_sets(kind, sets)))
    again = written.function()
    table = again.dense
    free = np.unpackbits(table.dc.view(np.uint8), axis=1, bitorder="little")
    ones = np.unpackbits(table.on.view(np.uint8), axis=1, bitorder="little")
    for place, point in enumerate(itertools.product((0, 1), repeat=inputs)):
        for j, letter in enumerate(wanted[point]):
            got = "-" if free[j, place] else str(ones[j, place])
            if letter != "-":
                assert got == letter
            elif "d" in kind:
                assert got == "-"


@given(plas(), st.data())
def test_a_phase_line_turns_outputs_over(
    some: tuple[list[tuple[str, str]], int, int], data: st.DataObject
) -> None:
    rows, inputs, outputs = some
    phase = data.draw(st.text("01", min_size=outputs, max_size=outputs))
    straight = values(rows, inputs, outputs)
    read = pla.parse(text_of(rows, inputs, outputs, f".phase {phase}"))
    assert pla.render(pla.parse(pla.render(read))) == pla.render(read)
    table = read.function().dense
    ones = np.unpackbits(table.on.view(np.uint8), axis=1, bitorder="little")
    free = np.unpackbits(table.dc.view(np.uint8), axis=1, bitorder="little")
    opposite = {"0": "1", "1": "0", "-": "-"}
    for place, point in enumerate(itertools.product((0, 1), repeat=inputs)):
        for j, letter in enumerate(straight[point]):
            meant = letter if phase[j] == "1" else opposite[letter]
            assert ("-" if free[j, place] else str(ones[j, place])) == meant


def test_a_function_given_by_lists_is_turned_over_as_one_given_by_tables() -> None:
    chooser = np.random.default_rng(3)
    inputs = 24  # too many for tables
    rows = [("".join(chooser.choice(list("01-"), inputs)), "10") for _ in range(5)]
    function = pla.parse(text_of([*rows, ("-" * 23 + "1", "01")], inputs, 2)).function()
    assert not function.is_dense
    turned = in_phase(function, (False, True))
    for term, _ in rows:
        point = tuple(int(letter) if letter != "-" else 0 for letter in term)
        assert not any(holds(other, point) and w[0] == "1" for other, w in turned.on.rows())
        assert any(holds(other, point) and w[0] == "1" for other, w in turned.off.rows())


@given(plas(letters="01-"))
def test_assigned_phases_cover_what_they_say_and_never_take_more_products(
    some: tuple[list[tuple[str, str]], int, int],
) -> None:
    rows, inputs, outputs = some
    wanted = values(rows, inputs, outputs)
    function = pla.parse(text_of(rows, inputs, outputs)).function()
    found = assigned(function)
    assert found.cover.products <= minimise(function).products
    got = in_point_order(found.cover.cubes)
    for point, letters in wanted.items():
        for j, letter in enumerate(letters):
            if letter != "-":
                assert (got[point][j] == letter) == found.phase[j]


def test_an_or_of_many_is_cheaper_upside_down() -> None:
    rows = [("1-----", "10"), ("-1----", "10"), ("--1---", "10"), ("---111", "01")]
    found = assigned(pla.parse(text_of(rows, 6, 2)).function(), "exact")
    assert found.phase == (False, True)
    assert found.cover.products == 2


def all_prime_terms(table: dict[Point, str], inputs: int, outputs: int) -> set[tuple[str, str]]:
    """Return the multi-output primes of ON and don't-cares by looking at all cubes."""
    cubes = {}
    for letters in itertools.product("01-", repeat=inputs):
        term = "".join(letters)
        inside = [value for point, value in table.items() if holds(term, point)]
        owners = "".join("1" if all(v[j] != "0" for v in inside) else "0" for j in range(outputs))
        if "1" in owners:
            cubes[term] = owners
    return {
        (term, owners)
        for term, owners in cubes.items()
        if not any(
            cubes.get(f"{term[:k]}-{term[k + 1 :]}") == owners
            for k in range(inputs)
            if term[k] != "-"
        )
    }


@given(plas())
def test_essential_primes_are_those_that_alone_hold_some_point(
    some: tuple[list[tuple[str, str]], int, int],
) -> None:
    rows, inputs, outputs = some
    table = values(rows, inputs, outputs)
    every = all_prime_terms(table, inputs, outputs)
    wanted = set()
    for point, letters in table.items():
        for j, letter in enumerate(letters):
            around = [one for one in every if one[1][j] == "1" and holds(one[0], point)]
            if letter == "1" and len(around) == 1:
                wanted.add(around[0])
    function = pla.parse(text_of(rows, inputs, outputs)).function()
    cover = primes_around(function, minimise(function, "isop").cubes)
    assert set(cover.rows()) <= every
    chosen = cover.take(np.flatnonzero(essential(function, cover))) if len(cover) else cover
    assert set(chosen.rows()) == wanted


@pytest.mark.slow
@given(plas(letters="01-"), st.sampled_from([(0, 1), (1, 0), (3, 1), (1, 4)]))
@settings(max_examples=25)
def test_a_cover_of_least_cost_costs_what_the_best_of_all_choices_does(
    some: tuple[list[tuple[str, str]], int, int], price: tuple[int, int]
) -> None:
    rows, inputs, outputs = some
    table = values(rows, inputs, outputs)
    every = sorted(all_prime_terms(table, inputs, outputs))
    wanted = [(p, j) for p, word in table.items() for j, x in enumerate(word) if x == "1"]
    held = [
        {k for k, (p, j) in enumerate(wanted) if owners[j] == "1" and holds(term, p)}
        for term, owners in every
    ]
    costs = [price[0] + price[1] * (inputs - term.count("-")) for term, _ in every]
    best = {frozenset[int](): 0}  # by points held, a prime after the other
    for points, cost in zip(held, costs, strict=True):
        for known, total in list(best.items()):
            joined = known | points
            best[joined] = min(best.get(joined, total + cost), total + cost)
    function = pla.parse(text_of(rows, inputs, outputs)).function()
    found = cheapest(function, Prices(*price), minimise(function))
    assert found.cost == found.bound == best[frozenset(range(len(wanted)))]
    got = in_point_order(found.cover.cubes)
    assert all(got[p][j] == "1" for p, j in wanted)


def test_a_prime_of_more_outputs_than_either_cube_takes_what_a_prime_alone_seemed_to_hold() -> None:
    # At 11 output 0 is held by 1- and by 11 for all three outputs, which the cover does not have.
    rows = [("1-", "110"), ("-0", "110"), ("-1", "011")]
    function = pla.parse(text_of(rows, 2, 3)).function()
    cover = Cubes.from_rows(2, 3, rows)
    chosen = dict(zip(cover.rows(), essential(function, cover).tolist(), strict=True))
    assert chosen == {("1-", "110"): False, ("-0", "110"): True, ("-1", "011"): True}


def evaluated(text: str, point: Point, names: Sequence[str]) -> dict[str, bool]:
    """Evaluate a BLIF model at a point, a table after the other."""
    known = dict(zip(names, map(bool, point), strict=True))
    lines = text.splitlines()
    for k, line in enumerate(lines):
        if not line.startswith(".names"):
            continue
        *read, made = line.split()[1:]
        rows = list(itertools.takewhile(lambda row: not row.startswith("."), lines[k + 1 :]))
        own = tuple(int(known[name]) for name in read)
        met = [row for row in rows if holds(row.split()[0] if read else "", own)]
        value = (rows[0].split()[-1] == "1") if rows else True
        known[made] = bool(met) == value if rows else False
    return known


@given(plas(letters="01"), st.data())
def test_a_blif_model_is_the_cover_in_its_phases(
    some: tuple[list[tuple[str, str]], int, int], data: st.DataObject
) -> None:
    rows, inputs, outputs = some
    phase = tuple(data.draw(st.lists(st.booleans(), min_size=outputs, max_size=outputs)))
    cover = minimise(pla.parse(text_of(rows, inputs, outputs)).function()).cubes
    names = netlists.signals(cover)
    text = netlists.blif(cover, names, phase, "some")
    for point, letters in in_point_order(cover).items():
        known = evaluated(text, point, names.inputs)
        for j, name in enumerate(names.outputs):
            assert known[name] == ((letters[j] == "1") == phase[j])


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("iverilog") is None, reason="iverilog is not installed")
@pytest.mark.parametrize("seed", range(3))
def test_icarus_runs_the_verilog_as_the_cover(seed: int, tmp_path: Path) -> None:
    chooser = np.random.default_rng(seed)
    inputs, outputs = 4, 3
    rows = [
        ("".join(chooser.choice(list("01-"), inputs)), "".join(chooser.choice(["0", "1"], outputs)))
        for _ in range(6)
    ]
    cover = minimise(pla.parse(text_of(rows, inputs, outputs)).function()).cubes
    phase = (True, False, True)
    names = netlists.signals(cover, ("a", "wire", "2x", "q[0]"), ("module", "p0", "y"))
    text = netlists.verilog(cover, names, phase, "2r")
    got = in_point_order(cover)
    checks, ports = [], ", ".join(
        [*(f".{netlists.legal(name)}(x[{3 - k}])" for k, name in enumerate(names.inputs)),
         *(f".{netlists.legal(name)}(y[{2 - k}])" for k, name in enumerate(names.outputs))]
    )  # fmt: skip
    for point, letters in got.items():
        word = "".join(
            str(int((letter == "1") == upright))
            for letter, upright in zip(letters, phase, strict=True)
        )
        bits = "".join(map(str, point))
        checks.append(f"x = 4'b{bits}; #1 if (y !== 3'b{word}) $display(\"wrong at {bits}\");")
    bench = f"""module bench; reg [3:0] x; wire [2:0] y; \\2r  dut ({ports});
initial begin {" ".join(checks)} $display("done"); end endmodule
"""
    (tmp_path / "cover.v").write_text(text + bench)
    made = tmp_path / "bench.out"
    compiler = shutil.which("iverilog") or "iverilog"
    subprocess.run(
        [compiler, "-o", str(made), "-s", "bench", str(tmp_path / "cover.v")], check=True
    )
    runner = shutil.which("vvp") or "vvp"
    done = subprocess.run([runner, str(made)], capture_output=True, text=True, check=True)
    assert done.stdout == "done\n"


def test_names_that_clash_are_told_apart() -> None:
    cover = Cubes.from_rows(2, 2, [("1-", "11"), ("01", "01")])
    names = netlists.signals(cover, ("p0", "a"), ("a", "a_2"))
    every = [*names.inputs, *names.outputs, *names.products]
    assert len(set(every)) == len(every)
    assert names.inputs == ("p0", "a")


def test_statistics_count_rows_literals_and_points() -> None:
    text = ".i 3\n.o 2\n.type fd\n1-0 1-\n--1 01\n.e\n"
    found = statistics(pla.parse(text), "some.pla")
    assert (found.rows, found.on_rows, found.dc_rows, found.off_rows) == (2, 2, 1, 0)
    assert (found.literals, found.unate, found.unread) == (3, 1, 1)
    # Output 0: 2 of 8 points; output 1: 4 of 8, and 2 free: none of the 4.
    assert found.on_share == (2 + 4) / 16
    assert found.dc_share == 2 / 16
