"""What runs inside a page gives what `evaluate` gives, bit for bit."""

import base64
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from browser import Window, needs_chromium
from exports import expected, kept, words_of
from showpages import (
    DRAWN,
    READY,
    Words,
    drawn,
    in_node,
    in_page,
    model_of,
    needs_node,
    page_of,
    subject_of,
)
from small_programs import stages

import boolcomp
from boolcomp.measure import program_page
from boolcomp.problem import with_exact_words
from boolcomp.program import Program

KEPT = ["export-formats", "export-pid", "format-2-paper", "export-loads"]
STATES = 100_000


@needs_node
@pytest.mark.parametrize("name", KEPT)
def test_gates_and_words_of_a_page_give_the_words_of_the_logic(name: str, tmp_path: Path) -> None:
    program = kept(name)
    words = words_of(program, 3000)
    wanted = expected(program, words, program.loads[0].payload)
    runs = "[machine.byGates, machine.byWords]"
    script = f"{DRAWN} return {runs}.map((run) => run && all(run, given));"
    gates, steps = in_node(page_of(name), script, tmp_path, words.tolist())
    assert np.array_equal(gates, wanted)
    assert (steps is None) == (program.loads[0].graph is None)
    if steps is not None:
        assert np.array_equal(steps, wanted)


@needs_node
@pytest.mark.parametrize("name", KEPT)
def test_values_are_put_in_words_and_read_as_evaluate_does(name: str, tmp_path: Path) -> None:
    program = kept(name)
    rng = np.random.default_rng(3)
    reach = {word.name: word.code.range for word in program.inputs}
    names = [member for group in program.groups for member in group.members]
    ends = [reach.get(name) for name in names]
    states = np.stack([
        rng.uniform(-1, 1, 900) if one is None
        else rng.uniform(one.centre - 0.7 * one.width, one.centre + 0.7 * one.width, 900)
        for one in ends
    ], axis=1)  # fmt: skip
    for k, one in enumerate(ends):  # borders of cells, on which rounding errors decide
        if one is not None:
            states[:200, k] = one.low + one.width * rng.integers(0, 65, 200) / 64
    sizes = np.cumsum([group.size for group in program.groups])[:-1]
    payload = program.loads[0].payload
    found = program.evaluate(*np.split(states, sizes, axis=1), payload=payload, engine="numpy")
    script = "return [machine.run(given), given.map((one) => machine.at(one).found)];"
    values, words = in_node(page_of(name), script, tmp_path, states.tolist())
    assert np.array_equal(np.array(words)[:, :-1], found.words)
    assert np.allclose(values, found.values, rtol=1e-14, atol=0)


@needs_node
def test_exact_words_count_as_the_middles_of_their_cells(tmp_path: Path) -> None:
    program = kept("format-2-paper")
    subject = subject_of(program, "machado-2r")
    assert subject.problem is not None
    bits = {word.name: word.code.bits for word in program.inputs}
    problem = with_exact_words(subject.problem, bits)
    states = np.concatenate(problem.draw(50, 2), axis=1)
    page = program_page(replace(subject, problem=problem))
    found = in_node(page, "return given.map(machine.exact);", tmp_path, states.tolist())
    assert np.allclose(found, problem.exact(states), rtol=1e-12)
    assert not np.allclose(found, subject.problem.exact(states), rtol=1e-3)


@pytest.fixture(scope="module", name="shipped", params=["machado-2r", "puma560"])
def compiled(request: pytest.FixtureRequest) -> tuple[Program, str]:
    program = boolcomp.compile(request.param, bits=8, mode="compact")
    return program, program_page(subject_of(program, request.param))


@needs_node
@pytest.mark.slow
def test_exact_outputs_of_a_page_are_those_of_the_reference(
    shipped: tuple[Program, str], tmp_path: Path
) -> None:
    program, page = shipped
    problem = subject_of(program, program.name).problem
    assert problem is not None
    states = np.concatenate(problem.draw(500, 2), axis=1)
    found = in_node(page, "return given.map(machine.exact);", tmp_path, states.tolist())
    wanted = problem.exact(states)
    assert np.abs(np.array(found) - wanted).max() < 1e-12 * np.abs(wanted).max()


@pytest.fixture(scope="module", name="paper")
def paper_arm() -> tuple[str, Words]:
    """Return the page of the paper's arm at 8 bits, and the words that its logic gives."""
    program = stages(8)[2]
    words = drawn(STATES, [word.code.bits for word in program.inputs])
    return program_page(subject_of(program, "machado-2r")), expected(program, words)


def rows_of(text: str) -> Words:
    return np.frombuffer(base64.b64decode(text), "<i4").reshape(STATES, -1).astype(np.int64)


@needs_chromium
@pytest.mark.check
def test_the_paper_arm_in_a_browser_gives_the_words_of_evaluate(
    paper: tuple[str, Words], tmp_path: Path, window: Window
) -> None:
    page, wanted = paper
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    window.open(tmp_path / "page.html")
    window.wait(READY)
    assert np.array_equal(rows_of(window.run(in_page("byGates", STATES))), wanted)


@needs_node
def test_joints_are_where_geometry_has_them(tmp_path: Path) -> None:
    page = page_of("format-2-compact", "machado-2r")
    assert model_of(page)["arm"]["flat"] is True
    postures = np.random.default_rng(0).uniform(-3, 3, (50, 2))
    found = np.array(
        in_node(page, "return given.map((q) => places(...q));", tmp_path, postures.tolist())
    )
    first, both = postures[:, 0], postures.sum(axis=1)
    elbow = np.stack([np.cos(first), np.sin(first)], axis=1)
    tip = elbow + 0.8 * np.stack([np.cos(both), np.sin(both)], axis=1)
    assert np.allclose(found[:, 12:14], elbow, atol=1e-12)  # of joint 2: its place
    assert np.allclose(found[:, 18:20], tip, atol=1e-12)
