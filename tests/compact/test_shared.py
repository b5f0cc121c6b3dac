"""Results from a place that others write to: proved, or not used."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from compact.word_robots import built_of, small_robot
from samples import terms_of

from boolcomp.common.cache import sealed, unsealed
from boolcomp.common.errors import DataWarning
from boolcomp.common.workers import ALONE
from boolcomp.compact.assembly import program_of_graph
from boolcomp.compact.demand import Demand
from boolcomp.compact.graph.logic import word_logic
from boolcomp.compact.remade import require_true
from boolcomp.compact.result.store import result_store, unproved
from boolcomp.logic import luts
from boolcomp.logic.network import Builder, copied
from boolcomp.logic.networktext import parse_network, render_network
from boolcomp.proof.worst import subject_of
from boolcomp.words.graph import Lookup
from boolcomp.words.graphtext import parse_graph

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from boolcomp.compact.result.store import StoredResult
    from boolcomp.terms import Terms

QUICK = Demand(bits=4, rms=(0.6,), effort=0.0, seed=3)
Document = dict[str, Any]


@cache
def torques() -> Terms:
    return terms_of(small_robot(3, 1))


@pytest.fixture(name="fewer", autouse=True, scope="module")
def fewer_states() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("boolcomp.compact.widths.passes.SEEN", 20_000)
        patch.setattr("boolcomp.compact.remade.FRESH_SAMPLES", 20_000)
        patch.setattr("boolcomp.compact.errors.worst.EVALUATIONS", 40_000)
        patch.setattr("boolcomp.compact.errors.worst.CHECKED", 10_000)
        yield


@pytest.fixture(name="foreign", scope="module")
def made_by_another(tmp_path_factory: pytest.TempPathFactory, fewer: None) -> Path:  # noqa: ARG001
    """Return a store that somebody else filled."""
    folder = tmp_path_factory.mktemp("foreign")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("theirs")))
        built_of(torques(), QUICK, store=folder, workers=ALONE)
    return folder


def opened(folder: Path) -> tuple[Path, Document]:
    (path,) = folder.glob("*.compact.json")
    document: Document = json.loads(unsealed(path.read_text()))
    return path, document


def stored(folder: Path, document: Document) -> None:
    path, _ = opened(folder)
    path.write_text(sealed(json.dumps(document, indent=0)))


def read(folder: Path, demand: Demand = QUICK) -> StoredResult | None:
    return result_store(torques(), demand, folder, also_shipped=False).find(require_true)


@pytest.fixture(name="store")
def copy_of_it(foreign: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of that store, to be changed, and be somebody who knows nothing of it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "mine"))
    (path,) = foreign.glob("*.compact.json")
    folder = tmp_path / "shared"
    folder.mkdir()
    (folder / path.name).write_bytes(path.read_bytes())
    return folder


@pytest.mark.slow
def test_an_honest_result_of_somebody_else_is_proved_once_and_then_known(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.warns(DataWarning, match="not what it says"):
        assert result_store(torques(), QUICK, store, also_shipped=False).find(unproved) is None
    first = read(store)
    assert first is not None

    def never(*_: object) -> StoredResult:
        raise AssertionError("proved twice")

    again = result_store(torques(), QUICK, store, also_shipped=False).find(never)
    assert again is not None
    assert again.network == first.network
    monkeypatch.setenv("XDG_CACHE_HOME", str(store.parent / "third"))
    with pytest.warns(DataWarning, match="not what it says"):
        assert result_store(torques(), QUICK, store, also_shipped=False).find() is None


def with_a_trap(document: Document) -> None:
    """Let one word of all inputs, and no other, flip an output's first bit."""
    network = parse_network("".join(f"{line}\n" for line in document["network"]))
    build = Builder(network.inputs)
    inputs = [build.input(place) for place in range(network.inputs)]
    made = list(copied(network, build, inputs))
    rng = np.random.default_rng(5)
    hit = build.all_of(wire ^ int(bit) for wire, bit in zip(
        inputs, rng.integers(0, 2, network.inputs), strict=True
    ))  # fmt: skip
    made[0] = build.node(luts.XOR2, made[0], hit)
    trapped = build.build(made)
    document["network"] = render_network(trapped).splitlines()
    document["steps"][-1][1:3] = [len(trapped.nodes), trapped.depth]


def with_another_table(document: Document) -> None:
    """Change an entry of a table, and make the network that the changed graph says."""
    graph = parse_graph("".join(f"{line}\n" for line in document["graph"]))
    place = next(k for k, node in enumerate(graph.nodes) if isinstance(node, Lookup))
    node = graph.nodes[place]
    assert isinstance(node, Lookup)
    entries = list(node.entries)
    entries[3] ^= 1
    nodes = list(graph.nodes)
    nodes[place] = replace(node, entries=tuple(entries))
    changed = replace(graph, nodes=tuple(nodes))
    network = word_logic(changed)
    document["graph"] = str(changed).splitlines()
    document["network"] = render_network(network).splitlines()
    document["steps"][-1][1:3] = [len(network.nodes), network.depth]


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
    "a table": with_another_table,
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
}


@pytest.mark.slow
@pytest.mark.parametrize("lie", LIES)
def test_nothing_that_is_not_true_is_used_whatever_its_checksum(store: Path, lie: str) -> None:
    path, document = opened(store)
    before = json.dumps(document)
    LIES[lie](document)
    assert json.dumps(document) != before
    stored(store, document)
    assert path.is_file()
    with pytest.warns(DataWarning, match="damaged, or not what it says"):
        assert read(store) is None


@pytest.mark.slow
def test_a_network_is_proved_to_be_its_graph_and_not_sampled(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, document = opened(store)
    with_a_trap(document)
    stored(store, document)
    monkeypatch.setattr("boolcomp.compact.result.store._is_true", lambda *_: True)
    monkeypatch.setattr("boolcomp.compact.remade._require_errors", lambda *_: None)
    with pytest.warns(DataWarning, match="not what it says"):
        assert read(store) is None
    monkeypatch.setattr("boolcomp.compact.remade._require_logic", lambda *_: None)
    assert read(store) is not None  # nothing else would have found it


@pytest.mark.slow
def test_a_worst_error_that_is_true_but_not_the_worst_is_found_out(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = read(store)
    assert kept is not None
    assert kept.worst is not None
    compact = kept.compact
    program = program_of_graph(compact.problem, compact.demand, compact.graph, kept.network)
    still = np.zeros((1, 3))
    error = subject_of(program, compact.problem).errors(still)[0, 0]
    assert abs(error) < 0.8 * kept.worst.most[0]
    _, document = opened(store)
    document["worst"].update(errors=[[error, error]], states=[[[0.0] * 3] * 2])
    stored(store, document)
    monkeypatch.setenv("XDG_CACHE_HOME", str(store.parent / "third"))
    with pytest.warns(DataWarning, match="not what it says"):
        assert read(store) is None


@pytest.mark.slow
def test_how_many_tables_of_six_inputs_it_takes_is_counted_here(store: Path) -> None:
    _, document = opened(store)
    stored(store, {**document, "lut6": 1})
    for _ in range(2):
        kept = read(store)
        assert kept is not None
        assert kept.lut6 == document["lut6"]


@pytest.mark.slow
def test_a_result_under_the_name_of_another_is_not_used(store: Path) -> None:
    path, _ = opened(store)
    other = replace(QUICK, seed=4)
    name = result_store(torques(), other, store, also_shipped=False).name
    path.rename(store / f"{name}.compact.json")
    with pytest.warns(DataWarning, match="not what it says"):
        assert read(store, other) is None


@pytest.mark.slow
def test_what_is_not_finished_stays_at_home(store: Path) -> None:
    results = result_store(torques(), QUICK, store, also_shipped=False)
    results.note({"paper": [1.0]})
    assert results.stages() == {"paper": [1.0]}
    assert not list(store.glob("*.partial.json"))
    other = result_store(torques(), QUICK, store.parent / "other", also_shipped=False)
    assert other.stages() == {}
