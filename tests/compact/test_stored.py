"""Results of compact mode in stores: kept, read back, and believed only where they are proved."""

import hashlib
import json
import math
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compact.word_robots import built_of, case, fewer_states, small_robot
from samples import terms_of

from boolcomp.base import ALONE, DataError, DataWarning, Folder
from boolcomp.compact import (
    Built,
    CompactChoices,
    Demand,
    program_of_graph,
    require_true,
    result_store,
)
from boolcomp.logic import parse_network
from boolcomp.pipeline import compile_compact
from boolcomp.proof import subject_of
from boolcomp.terms import Terms
from boolcomp.words import agrees

QUICK = Demand(bits=4, rms=(0.6,), effort=0.0, seed=3)
Document = dict[str, Any]


@cache
def torques() -> Terms:
    return terms_of(small_robot(3, 1))


@pytest.fixture(name="fewer", autouse=True, scope="module")
def few() -> Iterator[None]:
    with fewer_states(20_000):
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


def lines(body: str) -> str:
    """Return a body under its checksum."""
    return f"{hashlib.sha256(body.encode()).hexdigest()}\n{body}\n"


def opened(folder: Path) -> tuple[Path, Document]:
    (path,) = folder.glob("*.compact.json")
    return path, json.loads(path.read_text().partition("\n")[2])


def sealed(document: Document) -> str:
    return lines(json.dumps(document, indent=0))


def write(folder: Path, document: Document) -> None:
    opened(folder)[0].write_text(sealed(document))


def read(folder: Path, demand: Demand = QUICK) -> Any:
    return result_store(torques(), demand, folder, also_shipped=False).find(require_true)


@pytest.mark.slow
def test_a_result_is_stored_and_read_back_as_it_was(made: tuple[Built, Path]) -> None:
    first, folder = made
    again = build(folder)
    assert not first.stored
    assert again.stored
    assert str(again) == str(first)
    for name in ("network", "steps"):
        assert getattr(again, name) == getattr(first, name)
    for name in ("errors", "states", "evaluations"):
        assert np.array_equal(getattr(again.worst, name), getattr(first.worst, name))
    assert first.worst.evaluations >= 40_000
    assert (first.worst.largest > first.errors.max).all()
    for name in ("graph", "widths", "form", "sketch"):
        assert getattr(again.compact, name) == getattr(first.compact, name)
    assert again.compact.biases.tolist() == first.compact.biases.tolist()
    assert not list(folder.glob("*.partial.json"))


@pytest.mark.slow
@pytest.mark.parametrize("damage", [
    lambda text: text[: len(text) // 2],
    lambda text: text.replace(b'"lut6": ', b'"lut6": 1', 1),
    lambda text: b"\xff\xfe" + text,
], ids=["cut", "changed", "binary"])  # fmt: skip
def test_a_damaged_result_is_made_anew(
    made: tuple[Built, Path], store: Path, damage: Callable[[bytes], bytes]
) -> None:
    (path,) = store.glob("*.compact.json")
    text = path.read_bytes()
    spoilt = damage(text)
    assert spoilt != text
    path.write_bytes(spoilt)
    with pytest.warns(DataWarning, match="damaged, or its contents are wrong"):
        again = build(store)
    assert not again.stored
    assert str(again) == str(made[0])
    assert path.read_bytes() == text


@pytest.mark.parametrize("body", ["[" * 100_000, "[]", '{"same": 1e999}', "1" * 5000])
def test_an_entry_of_a_store_that_no_result_can_be_is_not_used(body: str, tmp_path: Path) -> None:
    results = result_store(torques(), QUICK, tmp_path, also_shipped=False)
    (tmp_path / f"{results.name}.compact.json").write_text(lines(body))
    with pytest.warns(DataWarning, match="damaged, or its contents are wrong"):
        assert results.find() is None
    partial = results._partial  # noqa: SLF001 (it is poisoned, too)
    partial.parent.mkdir(parents=True, exist_ok=True)
    partial.write_text(lines(body))
    partial.chmod(0o600)
    assert results.stages() == ({"same": math.inf} if "same" in body else {})


def test_a_result_of_adder_bit_changes_is_not_used_and_a_version_that_reads_it_is_named(
    tmp_path: Path,
) -> None:
    results = result_store(torques(), QUICK, tmp_path, also_shipped=False)
    path = tmp_path / f"{results.name}.compact.json"
    path.write_text(sealed({"cones": ["w2.0.1 = f0 w0:0"]}))
    with pytest.warns(DataWarning) as told:
        assert results.find() is None
    (said,) = (str(one.message) for one in told)
    assert said.startswith(f"{path}: adder-bit changes (--approximate cones)")
    assert "boolcomp 0.1.0 from before November 2026" in said


@pytest.mark.slow
def test_an_older_result_without_a_worst_error_is_completed(
    made: tuple[Built, Path], store: Path
) -> None:
    path, document = opened(store)
    text = path.read_text()
    del document["worst"]
    write(store, document)
    again = build(store)
    assert again.stored
    assert again.worst.errors.tolist() == made[0].worst.errors.tolist()
    assert path.read_text() == text


def at_rest(built: Built, document: Document) -> float:
    """Say of the error at rest, which is true, that it is the worst; return it."""
    compact = built.compact
    program = program_of_graph(compact.problem, compact.demand, compact.graph, built.network)
    error = float(subject_of(program, compact.problem).errors(np.zeros((1, 3)))[0, 0])
    document["worst"].update(errors=[[error, error]], states=[[[0.0] * 3] * 2])
    return error


@pytest.mark.slow
@pytest.mark.parametrize(("share", "believed"), [(1.05, True), (0.95, False)])
def test_a_stored_result_that_breaks_a_demanded_maximum_is_not_used(
    made: tuple[Built, Path], store: Path, share: float, *, believed: bool
) -> None:
    built, (path, document) = made[0], opened(store)
    path.unlink()
    at_rest(built, document)
    demand = replace(built.compact.demand, max=(float(built.worst.largest[0]) * share,))
    document["demand"] = demand.key
    results = result_store(torques(), demand, Folder(store, trusted=True), also_shipped=False)
    (store / f"{results.name}.compact.json").write_text(sealed(document))
    with nullcontext() if believed else pytest.warns(DataWarning, match="contents are wrong"):
        assert (results.find() is not None) == believed


@pytest.mark.slow
def test_a_result_that_breaks_its_demand_is_neither_delivered_nor_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Built, "holds", property(lambda _: False))
    with pytest.raises(
        DataError, match=r"misses the accuracy target: .*largest error found [0-9.]+ LSB"
    ):
        compile_compact(small_robot(3, 1), CompactChoices(QUICK, tmp_path, workers=ALONE))
    assert list(tmp_path.glob("*.compact.json")) == []


@pytest.mark.slow
def test_a_result_that_cannot_be_written_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.warns(DataWarning, match="the result is not kept"):
        built = build(tmp_path / "file" / "store")
    assert not built.stored


@pytest.fixture(name="foreign")
def store_of_somebody_else(
    made: tuple[Built, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Return a copy of the store, read by somebody whose private cache knows nothing of it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "mine"))
    return Path(shutil.copytree(made[1], tmp_path / "shared"))


@pytest.mark.slow
def test_a_true_result_of_somebody_else_is_proved_once(
    foreign: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.warns(DataWarning, match="contents are wrong"):
        assert result_store(torques(), QUICK, foreign, also_shipped=False).find() is None
    first = read(foreign)
    assert first is not None

    def never(*_: object) -> Any:
        raise AssertionError("proved twice")

    again = result_store(torques(), QUICK, foreign, also_shipped=False).find(never)
    assert again is not None
    assert again.network == first.network
    monkeypatch.setenv("XDG_CACHE_HOME", str(foreign.parent / "third"))
    with pytest.warns(DataWarning, match="contents are wrong"):
        assert result_store(torques(), QUICK, foreign, also_shipped=False).find() is None


def with_a_trap(document: Document) -> None:
    """Let one word of all inputs, and no other, flip an output's first bit."""
    head, *nodes, outputs = document["network"]
    count, inputs = len(nodes), int(head.split()[1])
    _, first, *others = outputs.split()
    chain = [f"n{count} = i0 & ~i1"]
    chain += [f"n{count + k} = i{k + 1} & n{count + k - 1}" for k in range(1, inputs - 1)]
    last = count + inputs - 1
    chain.append(f"n{last} = {first} ^ n{last - 1}")
    head = head.replace(f" {count} nodes", f" {last + 1} nodes")
    document["network"] = [head, *nodes, *chain, " ".join(["outputs", f"n{last}", *others])]
    trapped = parse_network("".join(f"{line}\n" for line in document["network"]))
    document["steps"][-1][1:3] = [len(trapped.nodes), trapped.depth]


def times(key: str, name: str, factor: float) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        document[key][name] = (np.asarray(document[key][name]) * factor).tolist()

    return change


def put(key: str, value: Callable[[Any], Any]) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        document[key] = value(document[key])

    return change


def with_a_tamer_worst(document: Document) -> None:
    """Say of a state that is not the worst that it is; its error is the true one."""
    document["worst"]["states"] = (np.asarray(document["worst"]["states"]) * 0).tolist()


LIES: dict[str, Callable[[Document], None]] = {
    "a trap": with_a_trap,
    "smaller rms": times("fresh", "rms", 0.95),
    "smaller maximum": times("fresh", "max", 0.9),
    "what is demanded": put("demanded", lambda values: [9.0 * value for value in values]),
    "biases": put("biases", lambda values: [value + 0.5 for value in values]),
    "widths": put("widths", lambda found: {**found, min(found): found[min(found)] - 1}),
    "nodes": put("built", lambda nodes: nodes - 1),
    "predicted": put("predicted cost", lambda cost: 0.9 * cost),
    "history": put("steps", lambda steps: [*steps[:-1], [*steps[-1][:3], "\x1b[2J"]]),
    "no history": put("steps", lambda _: []),
    "another worst": with_a_tamer_worst,
    "a worst that is smaller": times("worst", "errors", 0.5),
    "numbers that are none": put("biases", lambda values: [float("nan") for _ in values]),
    "no numbers": put("demanded", lambda _: ["all"]),
    "infinitely many": put("worst", lambda found: {**found, "evaluations": math.inf}),
    "another kind": put("fresh", lambda _: "x"),
}


@pytest.mark.slow
@pytest.mark.parametrize("lie", LIES)
def test_a_false_result_is_not_used_whatever_its_checksum(foreign: Path, lie: str) -> None:
    path, document = opened(foreign)
    before = json.dumps(document)
    LIES[lie](document)
    assert json.dumps(document) != before
    write(foreign, document)
    assert path.is_file()
    with pytest.warns(DataWarning, match="damaged, or its contents are wrong"):
        assert read(foreign) is None


FALSE: dict[str, tuple[Callable[[Any], Any], str]] = {
    "form": (lambda form: replace(form, shared=False), "its form is unknown"),
    "predicted_rms": (lambda rms: 0.9 * rms, "the predicted error is "),
    "predicted_cost": (lambda cost: 0.9 * cost, "its cost is "),
    "allowed": (lambda squares: 1.1 * squares, "the demanded error is "),
    "biases": (lambda biases: biases + 0.5, "its graph is not that of its widths"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FALSE)
def test_the_first_false_value_of_a_result_is_named(foreign: Path, name: str) -> None:
    results = result_store(torques(), QUICK, foreign, also_shipped=False)
    kept = results.find(lambda found, _: found)
    assert kept is not None
    change, said = FALSE[name]
    wrong: Any = {name: change(getattr(kept.compact, name))}
    with pytest.raises(DataError, match=said):
        require_true(replace(kept, compact=replace(kept.compact, **wrong)), results)


@pytest.mark.slow
def test_a_network_that_differs_at_one_word_is_found_out_by_proof_alone(
    foreign: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, document = opened(foreign)
    with_a_trap(document)
    write(foreign, document)
    monkeypatch.setattr("boolcomp.compact.result._is_true", lambda *_: True)
    monkeypatch.setattr("boolcomp.compact.passes._require_errors", lambda *_: None)
    with pytest.warns(DataWarning, match="contents are wrong"):
        assert read(foreign) is None
    monkeypatch.setattr("boolcomp.compact.passes._require_logic", lambda *_: None)
    assert read(foreign) is not None  # nothing else would have found it


@pytest.mark.slow
def test_a_result_under_the_name_of_another_is_not_used(foreign: Path) -> None:
    path, _ = opened(foreign)
    other = replace(QUICK, seed=4)
    name = result_store(torques(), other, foreign, also_shipped=False).name
    path.rename(foreign / f"{name}.compact.json")
    with pytest.warns(DataWarning, match="contents are wrong"):
        assert read(foreign, other) is None


@pytest.mark.slow
def test_unfinished_stages_are_kept_in_the_private_cache(foreign: Path) -> None:
    results = result_store(torques(), QUICK, foreign, also_shipped=False)
    results.note({"paper": [1.0]})
    assert results.stages() == {"paper": [1.0]}
    assert not list(foreign.glob("*.partial.json"))
    other = result_store(torques(), QUICK, foreign.parent / "other", also_shipped=False)
    assert other.stages() == {}


@pytest.mark.check
def test_a_finished_compilation_describes_its_graph_and_network(tmp_path: Path) -> None:
    heard: list[Any] = []
    demand = Demand(bits=4, rms=(0.5, 0.6), effort=0.1)
    terms = terms_of("machado-2r")
    built = built_of(terms, demand, store=tmp_path, progress=heard.append)
    fractions = [progress.fraction for progress in heard]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    stages = dict.fromkeys(progress.stage for progress in heard)
    last = ["passes", "fresh states", "worst error", "bounds", "done"]
    assert [*stages] == ["screen", "refine", "improve", "tables", *last]
    assert heard[-1].best_nodes == built.nodes
    assert built.holds
    assert built.network.inputs == sum(code.bits for code in built.compact.input_codes.values())
    assert len(built.network.outputs) == sum(c.bits + 1 for c in built.compact.output_codes)
    words = case("machado-2r", bits=4).states(5000, seed=4).words
    given = {one.name: words[one.name] >> 10 - one.bits for one in built.compact.graph.inputs}
    assert agrees(built.network, built.compact.graph, given)
    assert re.fullmatch(r" *\d+% done, best \d+ nodes, rms 0\.\d{3} 0\.\d{3}", str(heard[-1]))
    assert "fresh states" in str(built)
