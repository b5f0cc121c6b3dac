"""What users of Espresso expect: sets written out, phases, essential primes, netlists, counts.

The oracle reads rows letter by letter and looks at all points; it shares nothing with the package.
"""

import itertools
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twolevel.strategies import Rows, cubes, holds, points, slow_primes

from boolcomp.twolevel import Clock, Cubes, Function, pla
from boolcomp.twolevel.exact import ProductPrices, cheapest
from boolcomp.twolevel.heuristic import primes_around
from boolcomp.twolevel.minimisation import minimise, phase_assignment
from boolcomp.twolevel.pla import statistics
from boolcomp.twolevel.primes import essential

File = tuple[Rows, int, int]


def table_of(rows: Rows, inputs: int, outputs: int) -> dict[str, str]:
    """Return what rows say at every point: 1, or - where a row with - holds it, else 0."""
    table = {}
    for point in points(inputs):
        met = [owners for term, owners in rows if holds(term, point)]
        table[point] = "".join(
            "-" if any(w[j] == "-" for w in met) else "1" if any(w[j] == "1" for w in met) else "0"
            for j in range(outputs)
        )
    return table


def table_in(function: Function) -> dict[str, str]:
    """Return what the truth table of a function says at every point."""
    dense = function.dense
    planes = [
        np.unpackbits(x.view(np.uint8), axis=1, bitorder="little") for x in (dense.on, dense.dc)
    ]
    on, dc = planes
    return {
        point: "".join("-" if dc[j, k] else str(on[j, k]) for j in range(function.outputs))
        for k, point in enumerate(points(function.inputs))
    }


def text_of(some: File, *more: str) -> str:
    rows, inputs, outputs = some
    head = [f".i {inputs}", f".o {outputs}", *more]
    return "\n".join([*head, *(" ".join(row) for row in rows), ".e", ""])


def function_of(some: File, *more: str) -> Function:
    return pla.parse(text_of(some, *more)).function()


@st.composite
def plas(draw: st.DrawFn, letters: str = "01-") -> File:
    inputs, outputs = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    term = st.text("01-", min_size=inputs, max_size=inputs)
    owners = st.text(letters, min_size=outputs, max_size=outputs)
    return draw(st.lists(st.tuples(term, owners), max_size=8)), inputs, outputs


def primes_of(some: File) -> set[tuple[str, str]]:
    """Return the primes of ON and don't-cares."""
    rows, inputs, outputs = some
    marked = [(term, owners.replace("-", "1")) for term, owners in rows]
    return slow_primes(Cubes.from_rows(inputs, outputs, marked))


def in_point_order(cubes: Cubes) -> dict[str, str]:
    return table_of(cubes.rows(), cubes.inputs, cubes.outputs)


@given(plas(), st.sampled_from(["f", "fd", "fr", "fdr"]))
def test_every_output_type_reads_back_as_sets_of_the_same_function(some: File, kind: str) -> None:
    wanted, function = table_of(*some), function_of(some)
    sets = (minimise(function, "isop").cubes, function.dc, function.off)
    got = table_in(pla.parse(pla.render(pla.from_sets(kind, sets))).function())
    for point, letters in wanted.items():
        for letter, found in zip(letters, got[point], strict=True):
            assert found == letter or (letter == "-" and "d" not in kind)


@given(plas(), st.data())
def test_a_phase_line_turns_outputs_over(some: File, data: st.DataObject) -> None:
    phase = data.draw(st.text("01", min_size=some[2], max_size=some[2]))
    read = pla.parse(text_of(some, f".phase {phase}"))
    assert pla.render(pla.parse(pla.render(read))) == pla.render(read)
    got, opposite = table_in(read.function()), {"0": "1", "1": "0", "-": "-"}
    for point, letters in table_of(*some).items():
        complemented = (
            x if one == "1" else opposite[x] for x, one in zip(letters, phase, strict=True)
        )
        assert got[point] == "".join(complemented)


@given(plas())
def test_assigned_phases_cover_what_they_say_and_never_take_more_products(some: File) -> None:
    function = function_of(some)
    found = phase_assignment(function)
    assert found.cover.products <= minimise(function).products
    got = in_point_order(found.cover.cubes)
    for point, letters in table_of(*some).items():
        for j, letter in enumerate(letters):
            assert letter == "-" or (got[point][j] == letter) == found.phase[j]


@given(plas())
def test_essential_primes_are_those_that_alone_hold_some_point(some: File) -> None:
    table = table_of(*some)
    every = primes_of(some)
    wanted = set()
    for point, letters in table.items():
        for j, letter in enumerate(letters):
            around = [one for one in every if one[1][j] == "1" and holds(one[0], point)]
            if letter == "1" and len(around) == 1:
                wanted.add(around[0])
    function = function_of(some)
    allowed = function.on.joined(function.dc)
    cover = primes_around(minimise(function, "isop").cubes, allowed, Clock()).canonical()
    assert set(cover.rows()) <= every
    chosen = cover.take(np.flatnonzero(essential(function, cover))) if len(cover) else cover
    assert set(chosen.rows()) == wanted


@pytest.mark.slow
@given(plas(), st.sampled_from([(0, 1), (1, 0), (3, 1), (1, 4)]))
@settings(max_examples=25)
def test_a_cover_of_least_cost_costs_what_the_best_of_all_choices_does(
    some: File, price: tuple[int, int]
) -> None:
    table, inputs = table_of(*some), some[1]
    every = sorted(primes_of(some))
    wanted = [(p, j) for p, word in table.items() for j, x in enumerate(word) if x == "1"]
    best = {frozenset[int](): 0}  # by points held, a prime after the other
    for term, owners in every:
        cost = price[0] + price[1] * (inputs - term.count("-"))
        held = {k for k, (p, j) in enumerate(wanted) if owners[j] == "1" and holds(term, p)}
        for known, total in list(best.items()):
            joined = known | held
            best[joined] = min(best.get(joined, total + cost), total + cost)
    function = function_of(some)
    found = cheapest(function, ProductPrices(*price), minimise(function))
    assert found.cost == found.bound == best[frozenset(range(len(wanted)))]
    got = in_point_order(found.cover.cubes)
    assert all(got[p][j] == "1" for p, j in wanted)


def evaluated(text: str, point: str, names: Sequence[str]) -> dict[str, bool]:
    """Evaluate a BLIF model at a point, a table after the other."""
    known = {name: bit == "1" for name, bit in zip(names, point, strict=True)}
    lines = text.splitlines()
    for k, line in enumerate(lines):
        if not line.startswith(".names"):
            continue
        *read, made = line.split()[1:]
        rows = list(itertools.takewhile(lambda row: not row.startswith("."), lines[k + 1 :]))
        own = "".join("01"[known[name]] for name in read)
        met = [row for row in rows if holds(row.split()[0] if read else "", own)]
        known[made] = bool(met) == (rows[0].split()[-1] == "1") if rows else False
    return known


@given(plas(letters="01"), st.data())
def test_a_blif_model_is_the_cover_in_its_phases(some: File, data: st.DataObject) -> None:
    phase = tuple(data.draw(st.lists(st.booleans(), min_size=some[2], max_size=some[2])))
    cover = minimise(function_of(some)).cubes
    names = pla.signals(cover)
    text = pla.blif(cover, names, phase, "some")
    for point, letters in in_point_order(cover).items():
        known = evaluated(text, point, names.inputs)
        assert [known[name] for name in names.outputs] == [
            (letter == "1") == upright for letter, upright in zip(letters, phase, strict=True)
        ]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("iverilog") is None, reason="iverilog is not installed")
def test_icarus_runs_the_verilog_as_the_cover(tmp_path: Path) -> None:
    chooser = np.random.default_rng(0)
    rows = [
        ("".join(chooser.choice(list("01-"), 4)), "".join(chooser.choice(["0", "1"], 3)))
        for _ in range(6)
    ]
    cover = minimise(function_of((rows, 4, 3))).cubes
    phase = (True, False, True)
    names = pla.signals(cover, ("a", "wire", "2x", "q[0]"), ("module", "p0", "y"))
    ports = ", ".join(
        [*(f".{pla.legal(name)}(x[{3 - k}])" for k, name in enumerate(names.inputs)),
         *(f".{pla.legal(name)}(y[{2 - k}])" for k, name in enumerate(names.outputs))]
    )  # fmt: skip
    checks = []
    for point, letters in in_point_order(cover).items():
        pairs = zip(letters, phase, strict=True)
        word = "".join(str(int((letter == "1") == upright)) for letter, upright in pairs)
        checks.append(f"x = 4'b{point}; #1 if (y !== 3'b{word}) $display(\"wrong at {point}\");")
    bench = f"""module bench; reg [3:0] x; wire [2:0] y; \\2r  dut ({ports});
initial begin {" ".join(checks)} $display("done"); end endmodule
"""
    (tmp_path / "cover.v").write_text(pla.verilog(cover, names, phase, "2r") + bench)
    made, compiler, runner = tmp_path / "bench.out", *map(shutil.which, ("iverilog", "vvp"))
    assert compiler and runner  # noqa: PT018 (they come together)
    subprocess.run([compiler, "-o", made, "-s", "bench", tmp_path / "cover.v"], check=True)
    done = subprocess.run([runner, made], capture_output=True, text=True, check=True)
    assert done.stdout == "done\n"


def test_names_that_clash_are_told_apart() -> None:
    cover = Cubes.from_rows(2, 2, [("1-", "11"), ("01", "01")])
    names = pla.signals(cover, ("p0", "a"), ("a", "a_2"))
    every = [*names.inputs, *names.outputs, *names.products]
    assert len(set(every)) == len(every)
    assert names.inputs == ("p0", "a")


def test_statistics_count_rows_literals_and_points() -> None:
    found = statistics(pla.parse(".i 3\n.o 2\n.type fd\n1-0 1-\n--1 01\n.e\n"), "some.pla")
    assert (found.rows, found.on_rows, found.dc_rows, found.off_rows) == (2, 2, 1, 0)
    assert (found.literals, found.unate, found.unread) == (3, 1, 1)
    # Output 0: 2 of 8 points; output 1: 4 of 8, and 2 free: none of the 4.
    assert (found.on_share, found.dc_share) == ((2 + 4) / 16, 2 / 16)


@given(cubes)
def test_a_cover_is_written_in_canonical_order_and_read_back(some: Cubes) -> None:
    if some.inputs + some.outputs:
        again = pla.parse(pla.render(pla.from_cubes(some)))
        assert again.on.rows() == some.valid().canonical().rows()
