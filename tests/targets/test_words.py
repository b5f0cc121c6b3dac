"""Verilog and VHDL of words: their text, and that a proof of every word finds what is wrong."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from exports import kept
from targets.exported import of_graph
from targets.test_languages import resting
from wordgraphs import random_graph

from boolcomp.measure import read_words, words_compared, words_read_back
from boolcomp.targets import Options, export_texts
from boolcomp.words import (
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
    from boolcomp.program import Program

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


def text(program: Program, pipeline: int = 0, target: str = "verilog") -> str:
    (content,) = export_texts(program, target, None, Options("words", pipeline)).values()
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


@pytest.mark.parametrize(
    "seed", [2, 3, *(pytest.param(k, marks=pytest.mark.slow) for k in (5, 6, 7, 9))]
)
def test_random_graphs_are_proved(seed: int) -> None:
    program = of_graph("some", random_graph(seed, fits=True))
    for pipeline in (0, 5):
        checks = words_read_back(program, None, pipeline)
        assert all(check.holds for check in checks), checks
