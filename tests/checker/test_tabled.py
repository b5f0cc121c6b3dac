"""Certificates of paper mode: what holds, what is caught, and that a bound is one."""

from __future__ import annotations

import itertools
import json
import math
import random
import re
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest
from checker.certified import changed, steps
from synthesis.networks import random_network

from boolcomp.checker.tabledcells import largest
from boolcomp.checker.tablednets import KINDS, cells_of, table_of, words_of
from boolcomp.codes import Code
from boolcomp.logic import luts
from boolcomp.logic.network import Builder
from boolcomp.logic.networktext import parse_network, render_network
from boolcomp.paper.passes import PaperChoices
from boolcomp.paper.plan import Options
from boolcomp.pipeline import compile_paper
from boolcomp.problem.interval import Interval
from boolcomp.program.programfile import load_program

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Result

    from boolcomp.program.program import Program

STEPS = [
    "claim", "names", "demand", "robot to waves", "sum of terms", "waves to terms",
    "error of tau1", "error of tau2",
]  # fmt: skip
Q = np.random.default_rng(5).uniform(-np.pi, np.pi, (20_000, 2))


@cache
def certified() -> Program:
    """Return the gravity of the paper's arm at four bits, with its certificate."""
    choices = PaperChoices(Options(bits=4), evaluations=0, certify=True)
    return compile_paper("machado-2r", choices, of="gravity").program


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    certified().save(tmp_path / "a")
    return tmp_path / "a"


def wrong(folder: Path) -> dict[str, str]:
    """Return what does not hold of a folder, with notes."""
    return {name: one.note for name, one in steps(folder).items() if one.holds is not True}


def errors(program: Program) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Return the largest errors on random states, of the paper's eq. (5) with masses at rest."""
    first, both = np.cos(Q[:, 0]), np.cos(Q[:, 0] + Q[:, 1])
    exact = np.stack([66.15 * first + 49 * both, 49 * both], axis=1)
    found: np.ndarray[tuple[int, ...], np.dtype[np.float64]] = np.abs(program(Q) - exact).max(
        axis=0
    )
    return found


def flipped(folder: Path, path: Path, row: int, output: int) -> None:
    """Change one bit of one entry of a table."""
    network = parse_network(path.read_text("utf-8"))
    builder = Builder(network.inputs)
    places = [builder.input(k) for k in range(network.inputs)]
    literals = [0, 1, *places]
    for lut, operands in network.nodes:
        three = [*(literals[k] for k in operands), 0, 0][:3]
        literals.append(builder.node(lut, *three))
    here = [x ^ (not row >> k & 1) for k, x in enumerate(reversed(places))]
    outputs = [literals[k] for k in network.outputs]
    outputs[output] = builder.node(luts.XOR2, outputs[output], builder.all_of(here), 0)
    changed(folder, f"networks/{path.name}", lambda _: render_network(builder.build(outputs)))


@pytest.mark.check
def test_all_steps_hold(folder: Path) -> None:
    assert list(steps(folder)) == STEPS
    assert not wrong(folder)


def test_no_state_errs_by_more_than_what_is_certified() -> None:
    found, bounds = errors(certified()), np.array(certified().bound)
    assert (found <= bounds).all()
    assert (found > bounds / 2).all()


@pytest.mark.slow
def test_certificates_are_the_same_bytes_again() -> None:
    choices = PaperChoices(Options(bits=4), evaluations=0, certify=True)
    again = compile_paper("machado-2r", choices, of="gravity").program
    assert again.certificate == certified().certificate


@pytest.mark.slow
def test_the_first_bit_of_an_entry_that_is_flipped_is_caught_in_every_table(folder: Path) -> None:
    paths = sorted((folder / "networks").iterdir())
    for path in paths:
        certified().save(folder)
        flipped(folder, path, 0, 0)
        assert "entries of" in " ".join(wrong(folder).values())
    assert len(paths) > 1


@pytest.mark.check
def test_any_bit_that_is_flipped_is_caught_or_leaves_the_bounds_true(folder: Path) -> None:
    rng, caught = random.Random(4), 0  # noqa: S311 (which bits, for a test)
    paths = sorted((folder / "networks").iterdir())
    for _ in range(12):
        certified().save(folder)
        path = rng.choice(paths)
        network = parse_network(path.read_text("utf-8"))
        row, output = rng.randrange(1 << network.inputs), rng.randrange(len(network.outputs))
        flipped(folder, path, row, output)
        caught += bool(wrong(folder))
        if not wrong(folder):
            program = load_program(folder)
            assert (errors(program) <= program.bound).all()
    assert caught > 6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "step"),
    [
        (r"66\.15 0\.0 q1", "76.15 0.0 q1", "waves to terms"),
        (r"q1\*1 q2\*1", "q1*1 q2*2", "waves to terms"),
        (r"mass = 6\.25", "mass = 7.25", "waves to terms"),
        (r"(word \S+ \S+) 4 ", r"\1 5 ", "sum of terms"),
        (r"(?m)^tau2 \S+ .*\n", "", "sum of terms"),
        (r"(?m)^(tau1 T\S+ -?\d\.)\d\d(\d+ )", r"\g<1>00\2", "error of tau1"),
        (r"(?m)^(tau2 -)(\S+)( \S+)$", r"\g<1>0.5\3", "error of tau2"),
        (r"= bound\n", "= bound\nx\n", "terms"),
        (r"input q2 \S+", "input q2 -3.0", "robot to waves"),
    ],
)
def test_a_change_of_the_certificate_is_named(folder: Path, old: str, new: str, step: str) -> None:
    changed(folder, "certificate.txt", lambda text: re.sub(old, new, text, count=1))
    assert step in wrong(folder)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "step"),
    [
        (lambda load: load["outputs"][0].update(bound=1.0), "error of tau1"),
        (lambda load: load["outputs"][0].update(guard_bits=5), "sum of terms"),
        (lambda load: load["outputs"][1]["code"].update(range=[-99.0, 101.0]), "error of tau2"),
        (lambda load: load["outputs"][1]["code"].update(kind="natural"), "claim"),
        (
            lambda load: load["outputs"][0]["terms"][0]["code"].update(kind="natural"),
            "error of tau1",
        ),
        (
            lambda load: load["outputs"][0]["terms"][0]["words"][0].__setitem__(2, 3),
            "error of tau1",
        ),
        (lambda load: load["outputs"][0]["terms"].pop(), "sum of terms"),
        (lambda load: load["outputs"][0]["terms"][0].update(network=99), "terms"),
    ],
)
def test_a_change_of_the_program_is_named(
    folder: Path, change: Callable[[dict[str, object]], None], step: str
) -> None:
    def made(text: str) -> str:
        document = json.loads(text)
        change(document["loads"][0])
        return json.dumps(document)

    changed(folder, "program.json", made)
    assert step in wrong(folder)


@pytest.mark.check
def test_compile_says_and_verify_checks_it(run: Callable[..., Result]) -> None:
    choices = "machado-2r", "--of", "gravity", "--mode", "paper", "--bits", "4", "--certify"
    assert run("compile", *choices, "-o", "arm").code == 0
    found = run("verify", "arm", "--chain-only")
    assert found.code == 0
    assert all(name in found.out for name in STEPS)


@pytest.mark.parametrize("kind", KINDS)
def test_words_are_those_of_codes(kind: str) -> None:
    code, cells = Code(Interval(-1, 1), 5, kind), np.arange(32)  # type: ignore[arg-type]  # any of them
    assert (words_of(cells, 5, kind) == code.word(cells)).all()
    assert (cells_of(words_of(cells, 5, kind), 5, kind) == cells).all()


@pytest.mark.parametrize("seed", range(5))
def test_tables_are_what_networks_give_word_by_word(seed: int) -> None:
    network = random_network(seed, 5, 12, 3)
    for row, word in enumerate(table_of(network)):
        values = [0, 1, *(row >> (4 - k) & 1 for k in range(5))]
        for lut, operands in network.nodes:
            a, b, c = [*(values[k] for k in operands), 0, 0][:3]
            values.append(lut >> (4 * a + 2 * b + c) & 1)
        bits = [values[k] for k in network.outputs]
        assert word == int("".join(map(str, bits)), 2)


@pytest.mark.parametrize("most", [1 << 20, 1])
def test_the_largest_sum_of_tables_is_that_of_all_states_or_more(most: int) -> None:
    rng = np.random.default_rng(3)
    sizes = {"a": 3, "b": 4, "c": 5}
    scopes = [("a", "b"), ("b", "c"), ("a", "c"), ("b",), ()]
    tables = [(one, rng.integers(-99, 99, [sizes[n] for n in one])) for one in scopes]
    best = -math.inf
    for state in itertools.product(*(range(n) for n in sizes.values())):
        at = dict(zip(sizes, state, strict=True))
        best = max(best, sum(int(t[tuple(at[n] for n in one)]) for one, t in tables))
    found = largest(tables, most)
    assert found == best if most > 1 else found > best
