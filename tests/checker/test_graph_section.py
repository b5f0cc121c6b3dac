"""From sketch to graph: the map of nodes, and the words of `program.json`."""

import copy
import math
from dataclasses import replace
from typing import Any

import pytest
from checker.certified import shipped, with_line

from boolcomp.checker import LoadFiles, check_graph


def notes(load: LoadFiles) -> str:
    """Return what is said of steps that do not hold."""
    return " ".join(step.note for step in check_graph(load) if step.holds is not True)


def with_head(load: LoadFiles, change: Any) -> LoadFiles:
    """Return the same with another `program.json`."""
    document = copy.deepcopy(load.document)
    change(document)
    return replace(load, document=document, entry=document["loads"][0])


def test_the_map_of_what_ships_holds() -> None:
    assert notes(shipped()) == ""
    assert [step.holds for step in check_graph(shipped())] == [True, True]


@pytest.mark.slow
@pytest.mark.parametrize(("old", "new", "said"), [
    ("s3 = w7 w8", "s3 = w7 w15", "s3: w15 reads a word outside"),
    ("s3 = w7 w8", "s3 = w7 w6", "w6 is no lookup"),
    ("s3 = w7 w8", "s3 = w7", "reads w8"),
    ("s4 = w2", "s4 = w5", "s4 is the input qd1: w5"),
    ("s7 = w11 of 0", "s7 = w11", "its heap has 1 parts"),
    ("s7 = w11 of 0", "s7 = w6 of 0", "s7 is a sum"),
    ("s12 = w14 of 0 0 1 2 2 2 3", "s12 = w14 of 0 0 1 2 2 3 3", "s12, addend 3 reads w3"),
    ("s17 = w19 of 0 0 1 1 2 3 4 5 6 6\\n", "", "tau1 is w19, not s17"),
    ("tau2 = shift -0.125", "tau2 = shift 0.125", "the cells of tau2 are displaced"),
    ("tau2 = shift -0.125\\n", "", "outputs are"),
    ("tau2 = shift -0.125", "tau2 = shift -0.125 rest qd1", "tau2 rests where"),
    ("s7 = w11 of 0", "s7 w11", "does not map a node or output"),
])  # fmt: skip
def test_a_wrong_map_is_refused(old: str, new: str, said: str) -> None:
    changed = with_line(shipped(), "graph", old.replace("\\n", "\n"), new)
    assert said in notes(changed)


@pytest.mark.parametrize(("old", "new", "said"), [
    ("input qd1 -1.0 1.0 word -1.0 1.0", "input qd1 -1.0 1.0 word -1.0 2.0", "qd1 has the cells"),
    ("input qd1 -1.0 1.0", "input qd1 -0.5 1.0", "qd1 lies in (-0.5, 1.0), but its word"),
    ("10 of 0 wraps\ninput q2", "10 of 0\ninput q2", "q1 has the cells"),
])  # fmt: skip
def test_inputs_are_those_of_the_program(old: str, new: str, said: str) -> None:
    assert said in notes(with_line(shipped(), "origin", old, new))


def test_a_word_of_half_a_turn_does_not_wrap() -> None:
    half = [-math.pi / 2, math.pi / 2]
    ends = f"{half[0]!r} {half[1]!r} 10 of"
    load = with_line(shipped(), "origin", f"{-math.pi!r} {math.pi!r} 10 of 0", f"{ends} 1")
    changed = with_head(load, lambda x: x["inputs"][0]["code"].update(range=half))
    assert "q1 wraps, but spans no turn" in notes(changed)


def test_an_output_drops_the_bits_below_its_step() -> None:
    load = shipped()
    assert load.graph is not None
    first, *others = load.graph.results
    results = (replace(first, drop=first.drop - 1), *others)
    changed = replace(load, graph=replace(load.graph, results=results))
    assert "tau1 drops 2 bits of a word of unit 2^-3" in notes(changed)


@pytest.mark.parametrize(("change", "said"), [
    (lambda x: x["inputs"][2]["code"].update(range=[-1.5, 1.5]), "its word is -1.5 .. 1.5"),
    (lambda x: x["inputs"][2]["code"].update(zero="tread"), "qd1 has the cells"),
    (lambda x: x["loads"][0]["words"][0].__setitem__(1, 9), "its inputs are"),
    (lambda x: x["stops"].append(["q1", -1.0, 1.0]), "its limits are (-1.0, 1.0)"),
    (lambda x: x["loads"][0]["outputs"][0]["code"].update(bits=9), "another one"),
    (lambda x: x["loads"][0]["outputs"][0]["code"].update(zero="tread"), "another one"),
    (lambda x: x["loads"][0]["outputs"].pop(), "is incomplete"),
])  # fmt: skip
def test_a_program_that_codes_other_words_is_refused(change: Any, said: str) -> None:
    assert said in notes(with_head(shipped(), change))
