"""Certificates of paper mode: what holds, what is caught, and that a bound is one."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checker.certified import changed, steps

import boolcomp as bc
from boolcomp.base import DataError
from boolcomp.checker import Sums, read_program
from boolcomp.logic import XOR2, Builder, parse_network, render_network
from boolcomp.program import Program

STEPS = [
    "claim", "names", "demand", "robot to waves", "sum of terms", "waves to terms",
    "error of tau1", "error of tau2",
]  # fmt: skip


@cache
def certified() -> Program:
    """Return the gravity of the paper's arm at four bits, with its certificate."""
    return bc.compile("machado-2r", 4, of="gravity", mode="paper", certify=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    certified().save(tmp_path / "a")
    return tmp_path / "a"


def wrong(folder: Path) -> dict[str, str]:
    """Return what does not hold of a folder, with notes."""
    return {name: one.note for name, one in steps(folder).items() if one.holds is not True}


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
    outputs[output] = builder.node(XOR2, outputs[output], builder.all_of(here), 0)
    changed(folder, f"networks/{path.name}", lambda _: render_network(builder.build(outputs)))


@pytest.mark.slow
def test_all_steps_hold(folder: Path) -> None:
    assert list(steps(folder)) == STEPS
    assert not wrong(folder)


def test_errors_do_not_depend_on_the_size_of_blocks(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (load,) = read_program(folder).loads
    outputs = Sums(load).outputs
    whole = [Sums(load).confirm(output, Fraction(0)) for output in outputs]
    monkeypatch.setattr("boolcomp.checker.tabled.BLOCK", 500)
    assert [Sums(load).confirm(output, Fraction(0)) for output in outputs] == whole


@pytest.mark.slow
def test_the_first_bit_of_an_entry_that_is_flipped_is_caught_in_every_table(folder: Path) -> None:
    paths = sorted((folder / "networks").iterdir())
    for path in paths:
        certified().save(folder)
        flipped(folder, path, 0, 0)
        assert "entries of" in " ".join(wrong(folder).values())
    assert len(paths) > 1


@pytest.mark.slow
@pytest.mark.parametrize(("old", "new", "step"), [
    (r"66\.15 0\.0 q1", "76.15 0.0 q1", "waves to terms"),
    (r"(word \S+ \S+) 4 ", r"\1 5 ", "sum of terms"),
    (r"(?m)^tau2 \S+ .*\n", "", "sum of terms"),
    (r"(?m)^(tau1 T\S+ -?\d\.)\d\d(\d+ )", r"\g<1>00\2", "error of tau1"),
    (r"(?m)^(tau2 -)(\S+)( \S+)$", r"\g<1>0.5\3", "error of tau2"),
    (r"= bound\n", "= bound\nx\n", "terms"),
    (r"input q2 \S+", "input q2 -3.0", "robot to waves"),
])  # fmt: skip
def test_a_change_of_the_certificate_is_named(folder: Path, old: str, new: str, step: str) -> None:
    changed(folder, "certificate.txt", lambda text: re.sub(old, new, text, count=1))
    assert step in wrong(folder)


def _term(load: Any) -> Any:
    return load["outputs"][0]["terms"][0]


@pytest.mark.slow
@pytest.mark.parametrize(("change", "step"), [
    (lambda load: load["outputs"][0].update(bound=1.0), "error of tau1"),
    (lambda load: load["outputs"][0].update(guard_bits=5), "sum of terms"),
    (lambda load: load["outputs"][1]["code"].update(range=[-99.0, 101.0]), "error of tau2"),
    (lambda load: _term(load)["code"].update(kind="natural"), "error of tau1"),
    (lambda load: _term(load)["words"][0].__setitem__(2, 3), "error of tau1"),
    (lambda load: load["outputs"][0]["terms"].pop(), "sum of terms"),
])  # fmt: skip
def test_a_change_of_the_program_is_named(
    folder: Path, change: Callable[[Any], Any], step: str
) -> None:
    def made(text: str) -> str:
        document = json.loads(text)
        change(document["loads"][0])
        return json.dumps(document)

    changed(folder, "program.json", made)
    assert step in wrong(folder)


@pytest.mark.slow
def test_the_errors_that_are_confirmed_are_hardly_larger_either_way_than_those_found(
    folder: Path,
) -> None:
    program = certified()
    (load,) = read_program(folder).loads
    sums = Sums(load)
    q = np.stack(np.meshgrid(*[np.linspace(-np.pi, np.pi, 301)] * 2), axis=-1).reshape(-1, 2)
    first, both = np.cos(q[:, 0]), np.cos(q[:, 0] + q[:, 1])
    exact = np.stack([66.15 * first + 49 * both, 49 * both], axis=1)
    wrong = (program(q) - exact) / [float(one.code.step) for one in sums.outputs]
    for output, found in zip(sums.outputs, wrong.T, strict=True):
        confirmed = sums.confirm(output, Fraction(0))
        assert confirmed.low <= found.min() <= found.max() <= confirmed.high
        assert confirmed.low > 1.15 * found.min()
        assert confirmed.high < 1.15 * found.max()
        assert all(low < 0 < high for low, high in confirmed.terms)


@pytest.mark.slow
def test_an_output_that_is_held_at_zero_is_no_sum_of_tables(folder: Path) -> None:
    (load,) = read_program(folder).loads
    first, *others = load.entry["outputs"]
    held = {**load.entry, "outputs": [{**first, "rest": ["q1"]}, *others]}
    with pytest.raises(DataError, match="is held at zero, which paper mode does not support"):
        Sums(replace(load, entry=held))
