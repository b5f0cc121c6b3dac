"""Verilog and VHDL of words: their text, and that a proof of every word finds what is wrong."""

import re
import shutil
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exports import kept, run_ports, words_of
from targets.exported import of_graph
from targets.test_languages import resting
from wordgraphs import random_graph

from boolcomp.measure import words_compared, words_read_back
from boolcomp.program import Program
from boolcomp.targets import DELAYS, ExportOptions, export_texts
from boolcomp.words import (
    Bits,
    Heap,
    InputWord,
    Lookup,
    OutputWord,
    PartialProducts,
    Scale,
    WordGraph,
    parse_graph,
)

DEVICES = ("", *DELAYS)
KEPT = ("export-formats", "export-loads", "export-pid")


def two_words() -> Program:
    """Return a program of a table, a product of which something is discarded, and a sum."""
    half = (0, 1, 3, 4, 5, 5, 5, 5)
    nodes = (
        InputWord("a", 4, angle=False),
        InputWord("b", 3, angle=False),
        Lookup(0, 4, (*half, *reversed(half)), 3),
        Heap((PartialProducts(1, 0, 2, 0, -2, negative=False), Bits(0, 0, 0, negative=True)), 7, 6),
    )
    graph = WordGraph(nodes, (Scale(0, 0.0),) * 4, (OutputWord(3, 0, 6),))
    return of_graph("two words", graph, ("a", "b", "curve", "w3"))


def text(program: Program, pipeline: int = 0, target: str = "verilog", device: str = "") -> str:
    options = ExportOptions("words", pipeline, device=device)
    (content,) = export_texts(program, target, None, options).values()
    return str(content)


def holds(program: Program, verilog: str) -> bool:
    """Tell whether every check of a text holds."""
    return all(check.holds for check in words_compared(program, None, "x.v", verilog))


@pytest.mark.parametrize("name", KEPT)
@pytest.mark.parametrize("pipeline", [0, 1, 4])
def test_words_in_codes_and_of_several_loads_are_proved(name: str, pipeline: int) -> None:
    checks = words_read_back(kept(name), None, pipeline)
    assert [check.holds for check in checks] == [True, True], checks
    assert checks[0].cases > 5
    assert "sampled" not in checks[0].note


@pytest.mark.slow
def test_what_rests_is_held_at_zero() -> None:
    program = resting()
    good = text(program)
    checks = words_read_back(program, None, 2)
    assert all(check.holds for check in checks), checks
    wrong = re.sub(r"= tau1_rests \? (\d)'b1", r"= tau1_rests ? \1'b0", good)
    assert wrong != good
    assert not holds(program, wrong)


@pytest.mark.parametrize("device", DEVICES)
def test_words_for_a_device_are_proved(device: str) -> None:
    for seed, pipeline in product((0, 2, 3), (0, 2, 6)):
        program = of_graph("some", random_graph(seed, fits=True))
        assert holds(program, text(program, pipeline, device=device))


def test_a_register_of_the_ice40_holds_the_inverse_of_a_carry() -> None:
    parts = tuple(Bits(k, 0, 0, negative=False) for k in range(3))
    inputs = tuple(InputWord(name, 6, angle=False) for name in "abc")
    graph = WordGraph((*inputs, Heap(parts, 0, 8)), (Scale(0, 0.0),) * 4, (OutputWord(3, 0, 8),))
    program = of_graph("three", graph)
    found = text(program, 2, device="ice40")
    (register,) = re.findall(r"(y_sum_part_top_\w+) <= y_sum_part_top;", found)
    assert "wire y_sum_part_top = ~y_sum_part[6];" in found
    assert "_top" not in text(program, 2, device="ecp5")
    assert holds(program, found)
    assert not holds(program, found.replace(f"~{register}", register))


def test_a_register_before_a_table_has_a_first_value() -> None:
    found = text(two_words(), 6)
    before = re.findall(r"case \((\w+_s\d)\)", found)
    assert before
    for name in before:
        assert re.search(rf"reg \[\d:0\] {name} = \d'b0;", found)


def test_a_sum_that_loses_its_carry_in_a_concatenation_is_not_the_whole_sum() -> None:
    parts = tuple(Bits(k, 0, 0, negative=False) for k in range(2))
    inputs = tuple(InputWord(name, 3, angle=False) for name in "ab")
    graph = WordGraph((*inputs, Heap(parts, 0, 4)), (Scale(0, 0.0),) * 3, (OutputWord(2, 0, 4),))
    program = of_graph("two", graph)
    good = text(program)
    assert holds(program, good)
    wrong = good.replace("{1'b0, a}\n        + {1'b0, b}", "{1'b0, a + b}")
    assert wrong != good
    assert not words_compared(program, None, "x.v", wrong)[0].holds


MUTATIONS = {
    "an entry of a table": (r"3'd3: curve = 3'd4", "3'd3: curve = 3'd5"),
    "a shift": (r"\{1'b0, \{3\{b\[2\]\}\} ~\^ curve\}", "{{3{b[2]}} ~^ curve, 1'b0}"),
    "a constant that is dropped": (r"\n *\+ 6'd1", ""),
    "an inverse": (r"~a", "a"),
    "another operation": (r"\{2\{b\[1\]\}\} ~\^", "{2{b[1]}} ^"),
    "an index that is not reflected": (r"\{3\{a\[3\]\}\}", "{3{1'b0}}"),
    "an output": (r"assign y = y_sum", "assign y = {y_sum[5:1], y_sum[1]}"),
    "a row that is left out": (r"\{2'b0, b\[0\] ~\^ curve\[2\]\}", "3'b0"),
    "a row that is there twice": (r"\+ (\{1'b0, y_sum_part_3\})", r"+ \1 + \1"),
    "no text of words": (r"endcase", "end"),
}


@pytest.mark.parametrize("what", MUTATIONS)
def test_a_mutated_text_is_caught(what: str) -> None:
    program = two_words()
    good = text(program)
    wrong = re.sub(*MUTATIONS[what], good)
    assert wrong != good
    assert not holds(program, wrong)
    assert holds(program, good)


def test_every_word_of_its_own_is_proved_and_not_only_sampled() -> None:
    wrong = text(two_words()).replace("// w2: curve", "// w9: curve")
    found = words_compared(two_words(), None, "x.v", wrong)[0]
    assert found.holds is False
    assert "too many" in found.note or "has no signal" in found.note or "not a sum" in found.note


def test_a_register_too_few_is_caught() -> None:
    good = text(two_words(), 3)
    name, source = re.findall(r"^            (\w+_s\d) <= (\w+);$", good, re.MULTILINE)[-1]
    mutant = re.sub(rf"(?<!reg )(?<!\] )\b{name}\b(?! <=)", source, good)
    assert mutant != good
    check = words_compared(two_words(), None, "x.v", mutant)[0]
    assert check.holds is False
    assert "delays" in check.note


@pytest.mark.slow
@pytest.mark.parametrize("target", ["verilog", "vhdl"])
def test_a_pipeline_moves_on_while_it_is_enabled_and_says_what_is_valid(
    target: str, tmp_path: Path
) -> None:
    if shutil.which(tool := {"verilog": "iverilog", "vhdl": "ghdl"}[target]) is None:
        pytest.skip(f"{tool} is not installed")
    rng = np.random.default_rng(3)
    for depth, program in product((1, 3), (kept("export-pid"), of_graph("some", random_graph(12)))):
        words = words_of(program, 60)[:60]
        enable, valid = rng.integers(0, 3, (2, len(words))) > 0
        plain = run_ports(text(program, target=target), words, tmp_path)
        rows = np.column_stack([enable, valid, words])
        staged = run_ports(text(program, depth, target, "ice40"), rows, tmp_path)
        moved = np.flatnonzero(enable)  # a row leaves `depth` moves after its own
        for before, after in zip(moved, moved[depth - 1 :], strict=False):
            assert staged["valid_out"][after] == valid[before]
            assert all(staged[port][after] == made[before] for port, made in plain.items())


@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize(("column", "bits"), [(0, 9), (2, 11)])
def test_a_product_of_which_nothing_is_discarded_is_a_multiplication(
    column: int, bits: int, *, negative: bool
) -> None:
    parts = (PartialProducts(0, 0, 1, 1, column, negative=negative), Bits(1, 0, 1, negative=False))
    nodes = (InputWord("a", 5, angle=False), InputWord("b", 4, angle=False), Heap(parts, -9, bits))
    graph = WordGraph(nodes, (Scale(0, 0.0),) * 3, (OutputWord(2, 1, 6),))
    program = of_graph("product", graph)
    found = text(program)
    assert len(re.findall(r"^[^/].* \* ", found, re.MULTILINE)) == 1
    assert "$signed({~a[4], a[3:0], 1'b1})" in found
    assert holds(program, found)
    factor = "{~a[4], a[3:0], 1'b1}"
    for wrong in ("{a[4], a[3:0], 1'b1}", "{~a[4], a[3:0], 1'b0}"):
        assert not holds(program, found.replace(f"$signed({factor})", f"$signed({wrong})"))
    assert not holds(program, found.replace(f"$signed({factor})", factor))  # unsigned


def test_names_are_legal_and_no_word_of_the_language() -> None:
    names = ("always", "signal", "resize")
    words = tuple(InputWord(name, 3, angle=False) for name in names)
    heap = Heap(tuple(Bits(k, 0, 0, negative=False) for k in range(3)), 0, 5)
    graph = WordGraph((*words, heap), (Scale(0, 0.0),) * 4, (OutputWord(3, 0, 5),))
    program = of_graph("module", graph, (*names, "case"))
    found = text(program)
    assert re.search(r"^module (\w+)", found, re.MULTILINE)[1] == "module_2"  # type: ignore[index]
    assert re.findall(r"input wire \[2:0\] (\w+)", found) == ["always_2", "signal", "resize"]
    assert not re.search(r"(wire|reg) \[\d+:0\] case\b", found)
    assert holds(program, found)
    assert "signal_2 : in" in text(program, target="vhdl")


@pytest.mark.parametrize(
    "seed", [2, 3, *(pytest.param(k, marks=pytest.mark.check) for k in (5, 6, 7, 9))]
)
def test_random_graphs_are_proved(seed: int) -> None:
    program = of_graph("some", random_graph(seed, fits=True))
    for pipeline in (0, 5):
        checks = words_read_back(program, None, pipeline)
        assert all(check.holds for check in checks), checks


@pytest.mark.parametrize(
    "heaps",
    [
        ("wrapping + w0>>3 << 0 + w1>>2 << 0 + 0", "heap + w2>>0 << 1 + w0>>1 << 2 + 1"),
        ("wrapping + w0>>3 << 0 - w1>>2 << 0 + 1", "heap + w2>>0 << 1 + w0>>1 << 2 + 1"),
        ("wrapping + w0>>3 * w1>>2 << 0 + w0>>2 << 0 + 1", "heap - w2>>0 << 0 + 3"),
        ("wrapping - w0>>2 * w1>>2 << -1 - w1>>1 << 0 + 0", "heap + w2>>0 * w0>>0 << 0 + 3"),
        ("wrapping - w0>>3 << 0 + 0", "heap + w2>>0 << 4 + 3"),
        ("wrapping + w0>>3 << 0 + 1", "wrapping + w0>>3 * w1>>1 << 3 + w0>>0 << 1 + 3"),
    ],
)
@pytest.mark.parametrize("pipeline", [0, 1])
def test_sums_of_which_one_bit_changes_are_proved(heaps: tuple[str, str], pipeline: int) -> None:
    one, other = heaps
    lines = ["w0[4] = input a", "w1[3] = input b", f"w2[1] = {one}", f"w3[5] = {other}"]
    graph = parse_graph("\n".join([*(f"{line} unit 2^0" for line in lines), "tau1[5] = w3 >> 0"]))
    program = of_graph("bits", graph)
    checks = words_read_back(program, None, pipeline)
    assert all(check.holds for check in checks), checks


CANCELLING = WordGraph(
    (
        InputWord("a", 4, angle=False),
        InputWord("b", 3, angle=False),
        Heap((Bits(0, 0, 0, negative=False), Bits(0, 0, 0, negative=True)), 3, 5),
        Heap((Bits(0, 1, 2, negative=False), Bits(2, 0, 0, negative=False),
              PartialProducts(0, 0, 1, 0, 0, negative=True)), 3, 5, wraps=True),
        Heap((PartialProducts(0, 0, 1, 0, 0, negative=True), Bits(1, 0, 2, negative=True)), 9, 3,
             wraps=True),
    ),
    (Scale(0, 0.0),) * 5,
    (OutputWord(2, 0, 5), OutputWord(3, 0, 4), OutputWord(4, 0, 3)),
)  # fmt: skip


@pytest.mark.parametrize("given", [CANCELLING, 2, 12])
@pytest.mark.parametrize("pipeline", [0, 3])
def test_sums_that_wrap_before_their_end_or_cancel_are_proved(given: Any, pipeline: int) -> None:
    program = of_graph("some", random_graph(given) if isinstance(given, int) else given)
    checks = words_read_back(program, None, pipeline)
    assert all(check.holds for check in checks), checks
    (text_of,) = export_texts(program, "verilog", None, ExportOptions("words", pipeline)).values()
    if given is CANCELLING:
        wrong = re.sub(r"5'd(\d+);", lambda one: f"5'd{int(one[1]) ^ 4};", str(text_of), count=1)
        assert wrong != text_of
        assert not holds(program, wrong)


@pytest.mark.parametrize(
    ("constant", "wanted"),
    [(2**31 - 2, "to_unsigned(2147483646, 40)"), (2**31, f'"{2**31:033b}"')],
)
def test_constants_in_vhdl_are_numbers_as_far_as_its_integers_reach(
    constant: int, wanted: str
) -> None:
    nodes = (
        InputWord("a", 32, angle=False),
        InputWord("b", 32, angle=False),
        Heap((Bits(0, 0, 0, negative=False), Bits(1, 0, 8, negative=False)), constant, 40),
    )
    graph = WordGraph(nodes, (Scale(0, 0.0),) * 3, (OutputWord(2, 8, 32),))
    assert f"+ {wanted};" in text(of_graph("large", graph), target="vhdl")


@pytest.mark.parametrize("pipeline", [1, 5])
def test_a_constant_output_is_read_back_in_stages(pipeline: int) -> None:
    nodes = (
        InputWord("a", 4, angle=False),
        Lookup(0, 1, (6, 6), 3),
        Heap((Bits(0, 1, 3, negative=False),), 4, 6),
        Heap((Bits(1, 0, 1, negative=True),), 9, 5),
    )
    results = (OutputWord(2, 0, 6), OutputWord(3, 0, 5))
    program = of_graph("some", WordGraph(nodes, (Scale(0, 0.0),) * 4, results))
    checks = words_read_back(program, None, pipeline)
    assert all(check.holds for check in checks), checks
