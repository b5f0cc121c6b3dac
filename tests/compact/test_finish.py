"""Compact mode to its end, and its results as files."""

from __future__ import annotations

import hashlib
import json
import math
import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from compact.word_robots import built_of, small_robot
from samples import problem_of, terms_of

from boolcomp.common.errors import DataError, DataWarning
from boolcomp.common.places import Folder
from boolcomp.common.workers import ALONE
from boolcomp.compact.assembly import program_of_graph
from boolcomp.compact.demand import Demand, Progress
from boolcomp.compact.errors.measure import Sampling
from boolcomp.compact.passes import CompactChoices
from boolcomp.compact.result.built import Built
from boolcomp.compact.result.store import render, result_store
from boolcomp.pipeline import compile_compact
from boolcomp.problem.robot import load_robot
from boolcomp.proof.worst import subject_of
from boolcomp.words.agreement import agrees

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from boolcomp.logic.synthesis.measure import Objective
    from boolcomp.terms import Terms

QUICK = Demand(bits=4, rms=(0.6,), effort=0.0, seed=3)


@cache
def torques() -> Terms:
    return terms_of(small_robot(3, 1))


@pytest.fixture(name="fewer", autouse=True, scope="module")
def fewer_states() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("boolcomp.compact.widths.passes.SEEN", 20_000)
        patch.setattr("boolcomp.compact.remade.FRESH_SAMPLES", 20_000)
        patch.setattr("boolcomp.compact.errors.worst.EVALUATIONS", 40_000)
        patch.setattr("boolcomp.compact.errors.worst.CHECKED", 40_000)
        patch.setattr("boolcomp.compact.widths.passes.EVALUATIONS", 40_000)
        patch.setattr("boolcomp.compact.widths.passes.CLIMBED", 40_000)
        yield


def build(folder: Path) -> Built:
    return built_of(torques(), QUICK, store=folder, workers=ALONE)


@pytest.fixture(name="made", scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory, fewer: None) -> tuple[Built, Path]:  # noqa: ARG001
    """Return a result made from nothing, and the store that keeps it."""
    folder = tmp_path_factory.mktemp("store")
    return build(folder), folder


@pytest.fixture(name="store")
def store_of_its_own(made: tuple[Built, Path], tmp_path: Path) -> Path:
    """Return a copy of the store, to be damaged."""
    return Path(shutil.copytree(made[1], tmp_path / "store"))


@pytest.mark.slow
def test_a_result_is_stored_and_read_back_as_it_was(made: tuple[Built, Path]) -> None:
    first_built, folder = made
    read = build(folder)
    assert not first_built.stored
    assert read.stored
    assert str(read) == str(first_built)
    assert read.network == first_built.network
    assert read.steps == first_built.steps
    assert read.worst.errors.tolist() == first_built.worst.errors.tolist()
    assert read.worst.states.tolist() == first_built.worst.states.tolist()
    assert read.worst.evaluations == first_built.worst.evaluations >= 40_000
    assert (first_built.worst.most > first_built.errors.max).all()
    first, second = first_built.compact, read.compact
    assert (first.graph, first.widths, first.form) == (second.graph, second.widths, second.form)
    assert first.sketch == second.sketch
    assert first.biases.tolist() == second.biases.tolist()
    assert [p.name for p in folder.glob("*.partial.json")] == []


@pytest.mark.slow
def test_two_stores_hold_the_same_bytes(made: tuple[Built, Path], tmp_path: Path) -> None:
    build(tmp_path)
    (first,), (second,) = (folder.glob("*.compact.json") for folder in (made[1], tmp_path))
    assert first.name == second.name
    assert first.name.startswith("random-3-4.")
    assert first.read_bytes() == second.read_bytes()


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda text: text[: len(text) // 2],
    "changed": lambda text: text.replace(b'"lut6": ', b'"lut6": 1', 1),
    "empty": lambda _: b"",
    "binary": lambda text: b"\xff\xfe" + text,
}


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_result_is_not_believed(store: Path, damage: str) -> None:
    (path,) = store.glob("*.compact.json")
    text = path.read_bytes()
    spoilt = DAMAGES[damage](text)
    assert spoilt != text
    path.write_bytes(spoilt)
    with pytest.warns(DataWarning, match="damaged, or not what it says"):
        assert result_store(torques(), QUICK, store).find() is None


@pytest.mark.slow
def test_a_damaged_result_is_made_anew(made: tuple[Built, Path], store: Path) -> None:
    (path,) = store.glob("*.compact.json")
    text = path.read_bytes()
    path.write_bytes(text[: len(text) // 2])
    with pytest.warns(DataWarning, match="damaged, or not what it says"):
        again = build(store)
    assert not again.stored
    assert str(again) == str(made[0])
    assert path.read_bytes() == text


def lines(body: str) -> str:
    """Return a body under its own checksum."""
    return f"{hashlib.sha256(body.encode()).hexdigest()}\n{body}\n"


def sealed(document: dict[str, Any]) -> str:
    return lines(json.dumps(document, indent=0))


def opened(folder: Path) -> tuple[Path, dict[str, Any]]:
    (path,) = folder.glob("*.compact.json")
    return path, json.loads(path.read_text().partition("\n")[2])


@pytest.mark.parametrize(
    "body", ["[" * 100_000, '{"title": ' * 100_000, "[]", "null", '{"same": 1e999}', "1" * 5000]
)
def test_a_poisoned_entry_of_a_store_is_passed_over(body: str, tmp_path: Path) -> None:
    results = result_store(torques(), QUICK, tmp_path, also_shipped=False)
    (tmp_path / f"{results.name}.compact.json").write_text(lines(body))
    with pytest.warns(DataWarning, match="damaged, or not what it says"):
        assert results.find() is None
    partial = results._partial  # noqa: SLF001 (it is poisoned, too)
    partial.parent.mkdir(parents=True, exist_ok=True)
    partial.write_text(lines(body))
    partial.chmod(0o600)
    assert results.stages() == ({"same": math.inf} if "same" in body else {})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "value"),
    [("worst", {"errors": [], "states": [], "evaluations": math.inf}), ("fresh", "x")],
)
def test_numbers_and_kinds_that_no_result_has_are_passed_over(
    key: str, value: Any, store: Path
) -> None:
    path, document = opened(store)
    path.write_text(sealed({**document, key: value}))
    with pytest.warns(DataWarning, match="damaged, or not what it says"):
        assert result_store(torques(), QUICK, store).find() is None


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


@pytest.mark.check
def test_a_result_that_errs_otherwise_than_it_says_is_made_anew(tmp_path: Path) -> None:
    build(tmp_path)
    path, document = opened(tmp_path)
    text = path.read_text()
    document["worst"]["errors"][0][0] += 0.01
    path.write_text(sealed(document))
    with pytest.warns(DataWarning, match="not what it says"):
        assert not build(tmp_path).stored
    assert path.read_text() == text


@pytest.mark.check
def test_a_maximum_that_a_stored_result_does_not_hold_is_found_out(tmp_path: Path) -> None:
    made = build(tmp_path)
    path, document = opened(tmp_path)
    path.unlink()
    still = np.zeros((1, 3))
    compact = made.compact
    program = program_of_graph(compact.problem, compact.demand, compact.graph, made.network)
    error = subject_of(program, compact.problem).errors(still)[0, 0]
    document["worst"].update(errors=[[error, error]], states=[[[0.0] * 3] * 2])
    for share, believed in ((1.05, True), (0.95, False)):
        demand = replace(compact.demand, max=(float(made.worst.most[0]) * share,))
        own = Folder(tmp_path, trusted=True)
        other = result_store(torques(), demand, own, also_shipped=False)
        document["demand"] = demand.key
        (tmp_path / f"{other.name}.compact.json").write_text(sealed(document))
        if believed:
            assert other.find() is not None
        else:
            with pytest.warns(DataWarning, match="not what it says"):
                assert other.find() is None


@pytest.mark.check
def test_a_demanded_maximum_is_that_which_climbing_finds(tmp_path: Path) -> None:
    free = build(tmp_path)
    most = float(free.worst.most[0] + free.errors.max[0]) / 2  # no sample breaks it
    demand = replace(QUICK, max=(most,))
    bound = built_of(torques(), demand, store=tmp_path, workers=ALONE)
    assert bound.holds
    assert bound.worst.most[0] <= most
    assert bound.nodes > free.nodes


@pytest.mark.slow
def test_what_does_not_hold_is_neither_delivered_nor_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Built, "holds", property(lambda _: False))
    with pytest.raises(DataError, match=r"does not hold what was asked: .*worst found [0-9.]+ LSB"):
        compile_compact(small_robot(3, 1), CompactChoices(QUICK, tmp_path, workers=ALONE))
    assert list(tmp_path.glob("*.compact.json")) == []


@pytest.mark.slow
def test_a_result_that_cannot_be_kept_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.warns(DataWarning, match="the result is not kept"):
        built = build(tmp_path / "file" / "store")
    assert not built.stored


@pytest.mark.slow
def test_another_demand_or_robot_is_another_result(made: tuple[Built, Path]) -> None:
    built, folder = made
    assert result_store(torques(), Demand(bits=4, rms=(0.61,)), folder).find() is None
    other = terms_of(small_robot(4, 1))
    assert result_store(other, QUICK, folder).find() is None
    kept = result_store(torques(), QUICK, folder).find()
    assert kept is not None
    assert render(kept).count("\n") > built.nodes


@pytest.mark.check
def test_what_was_built_says_what_it_is(tmp_path: Path) -> None:
    heard: list[Progress] = []
    demand = Demand(bits=6, rms=(0.43, 0.58), effort=0.2)
    robot = load_robot("machado-2r")
    built = built_of(terms_of(robot), demand, store=tmp_path, progress=heard.append)
    fractions = [progress.fraction for progress in heard]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    stages = dict.fromkeys(progress.stage for progress in heard)
    last = ["passes", "fresh states", "worst error", "bounds", "done"]
    assert [*stages] == ["screen", "refine", "improve", "tables", *last]
    assert heard[-1].best_nodes == built.nodes
    assert built.holds
    assert not built.errors.wrapped
    assert built.network.inputs == sum(code.bits for code in built.compact.input_codes.values())
    assert len(built.network.outputs) == sum(c.bits + 1 for c in built.compact.output_codes)
    assert 0 < built.lut6 < built.nodes
    assert abs(built.predicted_nodes / built.nodes - 1) < 0.15
    assert np.abs(np.asarray(built.predicted_rms) / built.errors.rms - 1).max() < 0.2
    for name, bits in built.dropped.items():
        left = built.compact.input_codes.get(name)
        assert bits == 10 - (left.bits if left else 0)
    sampling = Sampling(problem_of(robot), demand.input_bits, 6, 5000, 4)
    for _, states in sampling.blocks(built.compact.graph):
        assert agrees(built.network, built.compact.graph, states.words)
    assert any("equivalent" in step.note for step in built.steps)
    assert "fresh states" in str(built)


@pytest.mark.check
@pytest.mark.parametrize("objective", ["depth", "lut6"])
def test_other_objectives_give_networks_of_the_same_torques(
    tmp_path: Path, objective: Objective
) -> None:
    arm = terms_of("machado-2r")
    objectives: tuple[Objective, ...] = ("nodes", objective)
    plain, other = (
        built_of(arm, Demand(bits=5, rms=(0.5,), effort=0.0, objective=o), store=tmp_path / o)
        for o in objectives
    )
    if objective == "depth":
        assert other.depth < plain.depth
        assert other.nodes <= 1.25 * plain.nodes  # with no effort few passes take them back
    else:
        assert other.lut6 <= plain.lut6 * 1.05


def test_results_that_happen_to_lie_here_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tables").mkdir()
    places = result_store(torques(), QUICK, None).places
    assert tmp_path / "tables" not in {Path(str(place)).absolute() for place in places}
