"""The simulator by hand, and under the independent checker."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from conftest import Run
from hypothesis import given, settings
from hypothesis import strategies as st
from parallel.schedule.graphs import free, graph_of, graphs, linked, machines, named_graph

from boolcomp.base import DataError
from boolcomp.parallel import (
    Assignment,
    TaskGraph,
    check_schedule,
    communication,
    exact_communication,
    parse_assignment,
    pipelined,
    simulate,
)
from boolcomp.problem import Operations, Tape, task

CHAIN = graph_of("a1 b1 c1", "ab2 bc2")


def test_times_add_up_along_a_chain() -> None:
    # 1 µs a task; a message of 2 words takes 0.5 + 2 · 1.5 = 3.5 µs a hop.
    schedule = simulate(CHAIN, Assignment((("a", "c"), (), ("b",))), linked("line"))
    assert schedule.makespan_us == 1 + 2 * 3.5 + 1 + 2 * 3.5 + 1
    assert (schedule.sequential_us, schedule.critical_path_us) == (3, 3)
    assert len(schedule.transfers) == 4
    check_schedule(schedule, CHAIN, linked("line"))


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ((("b", "a"), ("c",)), "can never begin task 'b'"),
        ((("a", "b"),), "'c' of graph g is on no processor"),
        ((("a", "b", "c", "a"),), "'a' of graph g is assigned 2 times"),
        ((("a", "b", "c", "bb"),), "no task 'bb'; did you mean 'b"),
    ],
)
def test_a_bad_assignment_is_refused(lists: tuple[tuple[str, ...], ...], message: str) -> None:
    with pytest.raises(DataError, match=message):
        simulate(CHAIN, Assignment(lists), linked())


def test_a_pipeline_of_equal_stages_has_the_papers_speed_up() -> None:
    graph = graph_of("a1 b1 c1", "ab0 bc0")
    lists = Assignment((("a",), ("b",), ("c",)))
    run = pipelined(graph, lists, linked(word=0.0), 50)
    # S = n η with η = l / (n + l - 1) but for the 0.5 µs of a message between stages.
    assert run.makespan_us == pytest.approx(50 + 2 + 2 * 0.5)
    assert run.interval_us == pytest.approx(1)
    assert run.speedup == pytest.approx(150 / 53)


@settings(max_examples=25, deadline=None)
@given(graphs(), machines(), st.integers(1, 4), st.randoms(use_true_random=False))
def test_any_consistent_assignment_gives_a_valid_schedule(
    graph: TaskGraph, machine: Any, processors: int, draw: object
) -> None:
    lists: list[list[str]] = [[] for _ in range(processors)]
    for name in graph.order():
        lists[draw.randrange(processors)].append(name)  # type: ignore[attr-defined]
    assignment = Assignment(tuple(tuple(held) for held in lists))
    schedule = simulate(graph, assignment, machine)
    check_schedule(schedule, graph, machine)
    assert schedule.makespan_us >= schedule.critical_path_us * (1 - 1e-9)
    once = pipelined(graph, assignment, machine, 1)
    assert once.makespan_us == schedule.makespan_us


@pytest.mark.parametrize(
    ("tasks", "edges", "message"),
    [
        ("a1 a1", "", "2 tasks are named 'a'"),
        ("a1 b1", "ax1", "unknown task 'x'"),
        ("a1 b1", "ab-1", "a negative number of words"),
        ("a1 b1", "ab1 ab1", "twice"),
        ("a1 b1 c1", "ab1 bc1 cb1", r"cycle.*(b -> c -> b|c -> b -> c)"),
        ("a1 b1 c1", "bc1 cb1 ca1", r"cycle: (b -> c -> b|c -> b -> c)\b"),
    ],
)
def test_a_bad_graph_is_refused(tasks: str, edges: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        graph_of(tasks, edges).check()


GRAPH = graph_of("a1 b1 c1", "ab1 ac2")
MACHINE = linked(count=1)
GOOD = simulate(GRAPH, Assignment((("a", "b"), ("c",))), MACHINE)
SENT, STRANGE = GOOD.transfers[0], replace(GOOD.placements[0], task="x")
SVG = "{http://www.w3.org/2000/svg}"


def moved(task: str, **changes: float) -> Any:
    placements = tuple(
        replace(x, **changes) if x.task == task else x  # type: ignore[arg-type]
        for x in GOOD.placements
    )
    return replace(GOOD, placements=placements, makespan_us=99.0)


@pytest.mark.parametrize(
    ("schedule", "fault"),
    [
        (moved("b", start_us=0.5, end_us=1.5), "at the same time"),
        (moved("b", start_us=1.0, end_us=1.5), "takes 0.5"),
        (moved("c", start_us=1.5, end_us=2.5), "before the words"),
        (moved("c", start_us=-1, end_us=0), "outside of the schedule"),
        (moved("c", processor=2), "on processor 2 of 2"),
        (replace(GOOD, transfers=()), "do not arrive"),
        (replace(GOOD, placements=GOOD.placements[:2]), "done 0 times"),
        (replace(GOOD, placements=(*GOOD.placements, GOOD.placements[0])), "done 2 times"),
        (
            replace(GOOD, placements=(*GOOD.placements, STRANGE)),
            "not of the",
        ),
        (replace(GOOD, transfers=(replace(SENT, words=1),)), "only 1 words"),
        (replace(GOOD, transfers=(replace(SENT, end_us=1.5),)), "too quick"),
        (replace(GOOD, transfers=(replace(SENT, start_us=0),)), "before its words"),
        (
            replace(
                GOOD,
                transfers=(*GOOD.transfers, replace(SENT, start_us=2, end_us=5.5)),
            ),
            "on one channel",
        ),
        (
            replace(
                GOOD,
                processors=3,
                transfers=(*GOOD.transfers, replace(SENT, target=2)),
            ),
            "more than 1 links",
        ),
    ],
)
def test_every_kind_of_fault_is_found(schedule: Any, fault: str) -> None:
    with pytest.raises(DataError, match=f"is not valid[^$]*{fault}"):
        check_schedule(schedule, GRAPH, MACHINE)


def test_a_sender_that_calculates_meanwhile_is_found() -> None:
    with pytest.raises(DataError, match="while it sends"):
        check_schedule(GOOD, GRAPH, linked(overlap=False))


def test_a_missing_link_is_found() -> None:
    graph = replace(GRAPH, edges=())
    schedule = replace(
        GOOD,
        transfers=(replace(SENT, target=2, words=1, end_us=9.0),),
        processors=3,
        makespan_us=9.0,
    )
    with pytest.raises(DataError, match="line topology"):
        check_schedule(schedule, graph, linked("line"))


def test_the_chart_shows_every_task_and_message_at_its_time(run: Run) -> None:
    asked = ("schedule", "simulate", "machado-2r", "--processors", "3", "-o", "made", "--json")
    schedule = json.loads(run(*asked).out)
    (chart,) = Path("made").glob("*.svg")
    root = ET.fromstring(chart.read_text())  # noqa: S314 (our own text)
    bars = [x for x in root.iter(f"{SVG}rect") if x.get("class") == "task"]
    assert len(bars) == len(schedule["tasks"]) > 12
    sent = sum(len(vector["tasks"]) for vector in schedule["communication"])
    assert len(list(root.iter(f"{SVG}path"))) == sent > 0
    for bar, placement in zip(bars, schedule["tasks"], strict=True):
        share = (float(bar.attrib["x"]) - 48) / (960 - 48 - 16)
        assert abs(share - placement["start_us"] / schedule["makespan_us"]) < 1e-4
        assert placement["task"] in (bar[0].text or "")


TASKS = ("M/1", "M/2", "k/1", "solve")
NEEDS = (("M/1", "M/2", 1), ("M/1", "solve", 3), ("M/2", "solve", 2), ("k/1", "solve", 2))
ASSIGNED = named_graph({name: Operations(k) for k, name in enumerate(TASKS, 1)}, NEEDS)
GOOD_FILE = '[processors]\nP0 = ["M*", "solve"]\nP1 = ["k*"]\n'


def read(text: str) -> Assignment:
    return parse_assignment(text, ASSIGNED, free(), 2)


def test_patterns_are_sorted_by_urgency_or_left_as_given() -> None:
    assert read(GOOD_FILE).lists == (("M/1", "M/2", "solve"), ("k/1",))
    given = 'order = "given"\n' + GOOD_FILE.replace('"M*", "solve"', '"solve", "M/2", "M/1"')
    assert read(given).lists[0] == ("solve", "M/2", "M/1")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("P1", "P2", "processors.P2: unknown processor; .*processors are P0 to P1"),
        ("P1", "p1", "did you mean 'P1'"),
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
    assert old in GOOD_FILE
    with pytest.raises(DataError, match=message):
        read(GOOD_FILE.replace(old, new))


def test_each_word_is_sent_once() -> None:
    lists = Assignment((("M/1", "k/1"), ("M/2", "solve")))
    (vector,) = communication(ASSIGNED, lists)
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
