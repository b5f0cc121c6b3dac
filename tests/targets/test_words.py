"""Verilog and VHDL of words: their text, and that a proof of every word finds what is wrong."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from compact.word_robots import case, small_robot
from exports import kept
from targets.exported import of_graph, tiny
from targets.test_code import resting

from boolcomp.common.errors import UsageError
from boolcomp.compact.sketch.build import Form
from boolcomp.measure.verification.wordchecks import words_compared, words_read_back
from boolcomp.measure.verification.wordtext import read_words
from boolcomp.measure.verification.wordvalues import Polynomials, simulated_module
from boolcomp.problem.interval import Interval
from boolcomp.targets import Options, export_texts
from boolcomp.words.graph import (
    Bits,
    Heap,
    InputWord,
    Lookup,
    OutputWord,
    PartialProducts,
    Scale,
    WordGraph,
)

if TYPE_CHECKING:
    from boolcomp.program.program import Program

UNIT = Interval(-1.0, 1.0)
KEPT = ("export-formats", "export-loads", "export-pid")
MODULE = """\
module two_words (
    input wire [3:0] a,
    input wire [2:0] b,
    output wire [5:0] y
);

    wire [2:0] curve_index = {3{a[3]}} ^ a[2:0];

    // w2: curve, 3 bits (0 .. 5), LSB 2^0
    reg [2:0] curve;
    always @*
        case (curve_index)
            3'd0: curve = 3'd0; 3'd1: curve = 3'd1; 3'd2: curve = 3'd3; 3'd3: curve = 3'd4;
            3'd4: curve = 3'd5; 3'd5: curve = 3'd5; 3'd6: curve = 3'd5; default: curve = 3'd5;
        endcase

    (* keep *) wire [2:0] y_sum_part;
    assign y_sum_part =
          {2'b0, b[0] ~^ curve[2]}
        + {1'b0, {2{b[1]}} ~^ curve[2:1]};

    (* keep *) wire [3:0] y_sum_part_2;
    assign y_sum_part_2 =
          {1'b0, {3{b[2]}} ~^ curve}
        + {1'b0, y_sum_part};

    // w3: sum of y, 6 bits, LSB 0.03125
    wire [5:0] y_sum =
          {2'b0, y_sum_part_2}
        + {2'b0, ~a}
        + 6'd7;

    assign y = y_sum;
endmodule
"""


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


def text(program: Program, pipeline: int = 0, target: str = "verilog") -> str:
    (content,) = export_texts(program, target, None, Options("words", pipeline)).values()
    return str(content)


def holds(program: Program, verilog: str) -> bool:
    """Tell whether every check of a text holds."""
    return all(check.holds for check in words_compared(program, None, "x.v", verilog))


def test_the_text_of_a_table_and_a_product_is_known() -> None:
    found = text(two_words())
    assert found.isascii()
    assert found[found.index("module two_words") :] == MODULE


def test_a_text_is_the_same_every_time() -> None:
    for target in ("verilog", "vhdl"):
        assert text(kept(KEPT[0]), 3, target) == text(kept(KEPT[0]), 3, target)


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


MUTATIONS = {
    "an entry of a table": (r"3'd3: curve = 3'd4", "3'd3: curve = 3'd5"),
    "the last entry": (r"default: curve = 3'd5", "default: curve = 3'd1"),
    "a shift": (r"\{1'b0, \{3\{b\[2\]\}\} ~\^ curve\}", "{{3{b[2]}} ~^ curve, 1'b0}"),
    "a constant that is dropped": (r"\n *\+ 6'd7", ""),
    "another constant": (r"6'd7", "6'd6"),
    "an inverse": (r"~a", "a"),
    "another operation": (r"\{2\{b\[1\]\}\} ~\^", "{2{b[1]}} ^"),
    "a digit for another": (r"b\[0\] ~\^", "b[1] ~^"),
    "an index that is not reflected": (r"\{3\{a\[3\]\}\}", "{3{1'b0}}"),
    "an output": (r"assign y = y_sum", "assign y = {y_sum[5:1], y_sum[1]}"),
    "a row that is left out": (r"\{2'b0, b\[0\] ~\^ curve\[2\]\}", "3'b0"),
    "a row that is there twice": (r"\+ (\{1'b0, y_sum_part\});", r"+ \1 + \1;"),
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
    assert "too many" in found.note or "nowhere" in found.note or "no sum" in found.note


def test_a_register_too_few_is_caught() -> None:
    good = text(two_words(), 3)
    name, source = re.findall(r"^            (\w+_s\d) <= (\w+);$", good, re.MULTILINE)[-1]
    mutant = re.sub(rf"(?<!reg )(?<!\] )\b{name}\b(?! <=)", source, good)
    assert mutant != good
    check = words_compared(two_words(), None, "x.v", mutant)[0]
    assert check.holds is False
    assert "clocks" in check.note


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
    for wrong in ("$signed({a[4], a[3:0], 1'b1})", "$signed({~a[4], a[3:0], 1'b0})"):
        assert not holds(program, found.replace("$signed({~a[4], a[3:0], 1'b1})", wrong))


def test_a_product_alone_has_the_name_of_its_word() -> None:
    parts = (PartialProducts(0, 0, 1, 0, 0, negative=False),)
    nodes = (InputWord("a", 4, angle=False), InputWord("b", 3, angle=False), Heap(parts, 11, 8))
    graph = WordGraph(nodes, (Scale(0, 0.0),) * 3, (OutputWord(2, 0, 8),))
    assert holds(of_graph("alone", graph), text(of_graph("alone", graph)))
    rows = replace(parts[0], drop_b=2)
    graph = replace(graph, nodes=(*nodes[:2], replace(nodes[2], parts=(rows,), constant=0)))
    assert holds(of_graph("row", graph), text(of_graph("row", graph)))


def test_a_table_that_is_a_bit_of_its_index_is_that_bit() -> None:
    parts = (PartialProducts(2, 0, 1, 0, 0, negative=False), Bits(2, 0, 1, negative=True))
    nodes = (InputWord("a", 3, angle=False), InputWord("b", 3, angle=False),
             Lookup(0, 3, (1, 1, 1, 1, 0, 0, 0, 0), 1), Heap(parts, 3, 5))  # fmt: skip
    program = of_graph("bit", WordGraph(nodes, (Scale(0, 0.0),) * 4, (OutputWord(3, 0, 5),)))
    assert "wire w2 = ~a[2];" in text(program)
    assert holds(program, text(program))


def test_what_never_changes_has_no_wires() -> None:
    nodes = (
        InputWord("a", 4, angle=False),
        Lookup(0, 1, (6, 6), 3),
        Heap((Bits(0, 1, 3, negative=False), Bits(1, 0, 0, negative=True)), 4, 6),
        Heap((Bits(2, 0, 2, negative=False), PartialProducts(1, 0, 0, 2, 1, negative=False)), 1, 8),
    )
    graph = WordGraph(nodes, (Scale(0, 0.0),) * 4, (OutputWord(3, 0, 8),))
    program = of_graph("still", graph)
    found = text(program)
    assert holds(program, found)
    assert "case" not in found
    for pipeline in (1, 2):
        checks = words_read_back(program, None, pipeline)
        assert all(check.holds for check in checks)


def test_names_are_legal_and_no_word_of_the_language() -> None:
    names = ("always", "signal", "resize")
    words = tuple(InputWord(name, 3, angle=False) for name in names)
    heap = Heap(tuple(Bits(k, 0, 0, negative=False) for k in range(3)), 0, 5)
    graph = WordGraph((*words, heap), (Scale(0, 0.0),) * 4, (OutputWord(3, 0, 5),))
    program = of_graph("module", graph, (*names, "case"))
    found = read_words(text(program))
    assert found.name == "module_2"
    assert list(found.inputs) == ["always_2", "signal", "resize"]
    assert "case" not in found.spans
    assert "signal_2 : in" in text(program, target="vhdl")


def test_a_program_without_a_word_graph_says_so() -> None:
    with pytest.raises(UsageError, match="tiny arm has no word graph to write"):
        text(tiny())


def test_polynomials_are_what_simulation_says() -> None:
    module = read_words(text(two_words()))
    over = Polynomials(module, frozenset({"a", "b", "curve"}))
    found, most = over.number(module.made["y_sum"], 6)
    for a, b, curve in product(range(16), range(8), range(8)):
        given = {"a": np.array([a]), "b": np.array([b]), "curve": np.array([curve])}
        bits = {(name, k): int(word[0]) >> k & 1 for name, word in given.items() for k in range(4)}
        value = sum(
            factor for monomial, factor in found.items() if all(bits[bit] for bit in monomial)
        )
        assert value % 64 == simulated_module(module, given, "y_sum")[0]
        assert value <= most


@pytest.mark.slow
@pytest.mark.parametrize("saturate", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_the_graph_of_a_random_arm_is_proved(seed: int, *, saturate: bool) -> None:
    arm = case(small_robot(seed, 1 + seed % 3), form=Form(speeds=bool(seed % 2)))
    graph = arm.graph(0.2, saturate=saturate, bits=5 if saturate else 7)
    program = of_graph("arm", graph)
    for pipeline in (0, 5):
        checks = words_read_back(program, None, pipeline)
        assert all(check.holds for check in checks), checks
