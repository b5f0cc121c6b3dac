"""Assignment files, and the communication that follows from an assignment."""

import pytest
from parallel.schedule.graphs import free, named_graph

from boolcomp.base import DataError
from boolcomp.parallel import (
    Assignment,
    communication,
    exact_communication,
    parse_assignment,
)
from boolcomp.problem import Operations, Tape, task

TASKS = ("M/1", "M/2", "k/1", "solve")
NEEDS = (("M/1", "M/2", 1), ("M/1", "solve", 3), ("M/2", "solve", 2), ("k/1", "solve", 2))
GRAPH = named_graph({name: Operations(k) for k, name in enumerate(TASKS, 1)}, NEEDS)
GOOD = '[processors]\nP0 = ["M*", "solve"]\nP1 = ["k*"]\n'


def read(text: str) -> Assignment:
    return parse_assignment(text, GRAPH, free(), 2)


def test_patterns_are_sorted_by_urgency_or_left_as_given() -> None:
    assert read(GOOD).lists == (("M/1", "M/2", "solve"), ("k/1",))
    given = 'order = "given"\n' + GOOD.replace('"M*", "solve"', '"solve", "M/2", "M/1"')
    assert read(given).lists[0] == ("solve", "M/2", "M/1")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("P1", "P2", r"assignment:3: processors\.P2: unknown processor; processors are"),
        ("P1", "p1", r"assignment:3: processors\.p1: unknown processor; processors are"),
        ('"k*"', '"kk*"', "no task matches 'kk.'"),
        ('"k*"', '"k*", "M/1"', "processors.P1: task 'M/1' is on P0 too"),
        ('"k*"', '"k/1"]\nP0 = [', "not a TOML file"),
        ('P1 = ["k*"]', "", "task 'k/1' is on no processor"),
        ('["k*"]', '"k*"', "must be a list"),
        ("[processors]", "[processor]", "did you mean 'processors'"),
        ("[processors]", 'order = "prio"\n[processors]', "order: unknown order 'prio'"),
    ],
)
def test_a_bad_assignment_file_is_refused(old: str, new: str, message: str) -> None:
    assert old in GOOD
    with pytest.raises(DataError, match=message):
        read(GOOD.replace(old, new))


def test_each_word_is_sent_once() -> None:
    lists = Assignment((("M/1", "k/1"), ("M/2", "solve")))
    (vector,) = communication(GRAPH, lists)
    assert (vector.source, vector.target, vector.words) == (0, 1, 3 + 2)
    assert vector.tasks == ("M/1", "k/1")


def test_a_program_tells_the_least_that_must_be_sent() -> None:
    tape = Tape()
    x, y = tape.input("x"), tape.input("y")
    with task(tape, "a"):
        product, total = x * y, x + y
    with task(tape, "b"):
        once = product * product
    with task(tape, "c"):
        result = once + product
    straight = tape.finish([("r", result), ("s", total)])
    names = [node.task for node in straight.nodes]
    (vector,) = exact_communication(straight, names, Assignment((("a",), ("b", "c"))))
    assert (vector.words, vector.tasks) == (1, ("a",))  # for b and c, and the sum for nobody
    assert straight.nodes[vector.nodes[0]].kind == "mul"
