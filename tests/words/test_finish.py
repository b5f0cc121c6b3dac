"""Compact mode to its end, and its results as files."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from words.word_robots import small_robot

from boolcomp.compiler import compile_robot_words
from boolcomp.errors import DataError, DataWarning
from boolcomp.measure.worst import subject_of
from boolcomp.robot import load_robot
from boolcomp.terms import split_torques
from boolcomp.words.compact import program_of_graph
from boolcomp.words.demand import Demand, Progress
from boolcomp.words.finish import Built, compile_compact
from boolcomp.words.keep import keeper, render
from boolcomp.words.measure import Sampling, agrees

if TYPE_CHECKING:
    from pathlib import Path

    from boolcomp.multilevel.measure import Objective
    from boolcomp.terms import Torques

QUICK = Demand(bits=4, rms=(0.6,), effort=0.0, seed=3)


@cache
def torques() -> Torques:
    return split_torques(small_robot(3, 1))


@pytest.fixture(name="fewer", autouse=True)
def fewer_states(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boolcomp.words.compile.SEEN", 20_000)
    monkeypatch.setattr("boolcomp.words.finish.FRESH_SAMPLES", 20_000)
    monkeypatch.setattr("boolcomp.words.worst.EVALUATIONS", 40_000)
    monkeypatch.setattr("boolcomp.words.worst.CHECKED", 40_000)
    monkeypatch.setattr("boolcomp.words.compile.EVALUATIONS", 40_000)
    monkeypatch.setattr("boolcomp.words.compile.CLIMBED", 40_000)


def build(folder: Path) -> Built:
    return compile_compact(torques(), QUICK, store=folder, processes=1)


@pytest.mark.slow
def test_a_result_is_stored_and_read_back_as_it_was(tmp_path: Path) -> None:
    made, read = build(tmp_path), build(tmp_path)
    assert not made.stored
    assert read.stored
    assert read.seconds < 1
    assert str(read) == str(made)
    assert read.network == made.network
    assert read.worst.errors.tolist() == made.worst.errors.tolist()
    assert read.worst.states.tolist() == made.worst.states.tolist()
    assert read.worst.evaluations == made.worst.evaluations >= 40_000
    assert (made.worst.most > made.errors.max).all()
    assert read.steps == made.steps
    first, second = made.compact, read.compact
    assert (first.graph, first.widths, first.form) == (second.graph, second.widths, second.form)
    assert first.sketch == second.sketch
    assert first.biases.tolist() == second.biases.tolist()
    assert [p.name for p in tmp_path.glob("*.partial.json")] == []


@pytest.mark.slow
def test_two_stores_hold_the_same_bytes(tmp_path: Path) -> None:
    files = []
    for name in ("a", "b"):
        build(tmp_path / name)
        (path,) = (tmp_path / name).glob("*.compact.json")
        files.append((path.name, path.read_bytes()))
    assert files[0] == files[1]
    assert files[0][0].startswith("random-3-4.")


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "binary"])
def test_a_damaged_result_is_made_anew(tmp_path: Path, damage: str) -> None:
    made = build(tmp_path)
    (path,) = tmp_path.glob("*.compact.json")
    text = path.read_bytes()
    spoilt = {
        "cut": text[: len(text) // 2],
        "changed": text.replace(b'"lut6": ', b'"lut6": 1', 1),
        "empty": b"",
        "binary": b"\xff\xfe" + text,
    }[damage]
    assert spoilt != text
    path.write_bytes(spoilt)
    with pytest.warns(DataWarning, match="damaged, or not what it says"):
        again = build(tmp_path)
    assert not again.stored
    assert str(again) == str(made)
    assert path.read_bytes() == text


def sealed(document: dict[str, Any]) -> str:
    body = json.dumps(document, indent=0)
    return f"{hashlib.sha256(body.encode()).hexdigest()}\n{body}\n"


def opened(folder: Path) -> tuple[Path, dict[str, Any]]:
    (path,) = folder.glob("*.compact.json")
    return path, json.loads(path.read_text().partition("\n")[2])


@pytest.mark.slow
def test_a_result_of_before_the_worst_was_sought_gets_it(tmp_path: Path) -> None:
    made = build(tmp_path)
    path, document = opened(tmp_path)
    text = path.read_text()
    del document["worst"]
    path.write_text(sealed(document))
    again = build(tmp_path)
    assert again.stored
    assert again.worst.errors.tolist() == made.worst.errors.tolist()
    assert path.read_text() == text


@pytest.mark.slow
def test_a_result_that_errs_otherwise_than_it_says_is_made_anew(tmp_path: Path) -> None:
    build(tmp_path)
    path, document = opened(tmp_path)
    text = path.read_text()
    document["worst"]["errors"][0][0] += 0.01
    path.write_text(sealed(document))
    with pytest.warns(DataWarning, match="not what it says"):
        assert not build(tmp_path).stored
    assert path.read_text() == text


@pytest.mark.slow
def test_a_maximum_that_a_stored_result_does_not_hold_is_found_out(tmp_path: Path) -> None:
    made = build(tmp_path)
    path, document = opened(tmp_path)
    path.unlink()
    still = np.zeros((1, 3))
    compact = made.compact
    program = program_of_graph(compact.robot, QUICK, compact.graph, made.network)
    error = subject_of(program, compact.robot).errors(still)[0, 0]
    document["worst"].update(errors=[[error, error]], states=[[[0.0] * 3] * 2])
    for share, believed in ((1.05, True), (0.95, False)):
        demand = replace(QUICK, max=(float(made.worst.most[0]) * share,))
        other = keeper(torques(), demand, tmp_path, also_shipped=False)
        document["demand"] = demand.key
        (tmp_path / f"{other.name}.compact.json").write_text(sealed(document))
        if believed:
            assert other.find() is not None
        else:
            with pytest.warns(DataWarning, match="not what it says"):
                assert other.find() is None


@pytest.mark.slow
def test_a_demanded_maximum_is_that_which_climbing_finds(tmp_path: Path) -> None:
    free = build(tmp_path)
    most = float(free.worst.most[0] + free.errors.max[0]) / 2  # no sample breaks it
    demand = replace(QUICK, max=(most,))
    bound = compile_compact(torques(), demand, store=tmp_path, processes=1)
    assert bound.holds
    assert bound.worst.most[0] <= most
    assert bound.nodes > free.nodes


@pytest.mark.slow
def test_what_does_not_hold_is_neither_delivered_nor_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Built, "holds", property(lambda _: False))
    with pytest.raises(DataError, match=r"does not hold what was asked: .*worst found [0-9.]+ LSB"):
        compile_robot_words(small_robot(3, 1), QUICK, tmp_path, processes=1)
    assert list(tmp_path.glob("*.compact.json")) == []


@pytest.mark.slow
def test_a_result_that_cannot_be_kept_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.warns(DataWarning, match="the result is not kept"):
        built = build(tmp_path / "file" / "store")
    assert not built.stored


@pytest.mark.slow
def test_another_demand_or_robot_is_another_result(tmp_path: Path) -> None:
    made = build(tmp_path)
    assert keeper(torques(), QUICK, tmp_path).find() is not None
    assert keeper(torques(), Demand(bits=4, rms=(0.61,)), tmp_path).find() is None
    other = split_torques(small_robot(4, 1))
    assert keeper(other, QUICK, tmp_path).find() is None
    kept = keeper(torques(), QUICK, tmp_path).find()
    assert kept is not None
    assert render(kept).count("\n") > made.nodes


@pytest.mark.slow
def test_what_was_built_says_what_it_is(tmp_path: Path) -> None:
    heard: list[Progress] = []
    demand = Demand(bits=6, rms=(0.43, 0.58), effort=1.0)
    robot = load_robot("machado-2r")
    built = compile_compact(split_torques(robot), demand, store=tmp_path, progress=heard.append)
    fractions = [progress.fraction for progress in heard]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert built.holds
    assert not built.errors.wrapped
    assert built.network.inputs == sum(code.bits for code in built.compact.input_codes.values())
    assert len(built.network.outputs) == sum(c.bits + 1 for c in built.compact.torque_codes)
    assert 0 < built.lut6 < built.nodes
    assert abs(built.predicted_nodes / built.nodes - 1) < 0.15
    assert np.abs(np.asarray(built.predicted_rms) / built.errors.rms - 1).max() < 0.2
    for name, bits in built.dropped.items():
        left = built.compact.input_codes.get(name)
        assert bits == 10 - (left.bits if left else 0)
    sampling = Sampling(robot, demand.input_bits, 6, 5000, 4)
    for _, states in sampling.blocks(built.compact.graph):
        assert agrees(built.network, built.compact.graph, states.words)
    assert any("equivalent" in step.note for step in built.steps)
    assert "fresh states" in str(built)


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["depth", "lut6"])
def test_other_objectives_give_networks_of_the_same_torques(
    tmp_path: Path, objective: Objective
) -> None:
    arm = split_torques(load_robot("machado-2r"))
    objectives: tuple[Objective, ...] = ("nodes", objective)
    plain, other = (
        compile_compact(
            arm, Demand(bits=5, rms=(0.5,), effort=0.0, objective=o), store=tmp_path / o
        )
        for o in objectives
    )
    assert plain.compact.graph == other.compact.graph
    if objective == "depth":
        assert other.depth <= plain.depth
    else:
        assert other.lut6 <= plain.lut6 * 1.02
