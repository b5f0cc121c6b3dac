"""Cones: other logic in a sum's place, what it moves, and what is proved of it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest
from compact.test_approximate import approximated, fewer_states, torques
from compact.word_robots import built_of
from samples import terms_of

from boolcomp.checker.chain import check_program
from boolcomp.checker.cones import moved_by
from boolcomp.checker.container import Section
from boolcomp.checker.folder import read_program
from boolcomp.common.errors import DataError
from boolcomp.compact.approximate.cones import Follower
from boolcomp.compact.approximate.free import Start, with_free_changes
from boolcomp.compact.approximate.judge import drawn
from boolcomp.compact.demand import usual_demand
from boolcomp.compact.errors.measure import network_errors
from boolcomp.compact.graph.coned import ConedLogic
from boolcomp.compact.graph.logic import word_logic
from boolcomp.compact.graph.tables import mux_network
from boolcomp.compact.remade import require_true
from boolcomp.compact.result.booked import booked
from boolcomp.compact.result.network import synthesiser
from boolcomp.compact.result.proved import proved
from boolcomp.compact.result.store import result_store
from boolcomp.logic.equivalence import equivalent
from boolcomp.pipeline import certified as certified_by_checker
from boolcomp.words.cones import Cone, Spot, WordBit, parse_cone
from boolcomp.words.graph import (
    Bits,
    Heap,
    InputWord,
    OutputWord,
    PartialProducts,
    Scale,
    WordGraph,
)

if TYPE_CHECKING:
    from pathlib import Path

    from boolcomp.compact.result.built import Built
    from boolcomp.logic.network import Network

fewer = pytest.fixture(name="fewer", autouse=True, scope="module")(fewer_states.__wrapped__)  # type: ignore[attr-defined]

A, B = InputWord("a", 3, angle=False), InputWord("b", 3, angle=False)
PARTS = (
    Bits(0, 0, 0, negative=False),
    Bits(1, 0, 1, negative=True),
    PartialProducts(0, 0, 1, 0, 0, negative=False),
)
GRAPH = WordGraph((A, B, Heap(PARTS, 5, 8)), (Scale(0, 0.0),) * 3, (OutputWord(2, 0, 8),))
CONES = tuple(
    parse_cone(line)
    for line in ("w2.0.1 = f0 w0:0", "w2.1.4 = c0 w0:1 w1:1", "w2.2.6 = 00", "w2.2.0 = 0f w1:2")
)  # fmt: skip


def words(network: Network) -> list[int]:
    """Return the word that a network makes of every word of its inputs, node by node."""
    found = []
    for row in range(64):
        signals = [0, 1, *(row >> (5 - k) & 1 for k in range(6))]
        for lut, operands in network.nodes:
            x, y, z = [*(signals[k] for k in operands), 0, 0][:3]
            signals.append(lut >> (4 * x + 2 * y + z) & 1)
        found.append(sum(signals[s] << (7 - k) for k, s in enumerate(network.outputs[:8])))
    return found


def coned(*cones: Cone) -> Network:
    return ConedLogic(GRAPH, mux_network, cones).network()


@pytest.mark.parametrize("cone", CONES, ids=str)
def test_a_cone_is_its_text(cone: Cone) -> None:
    assert parse_cone(str(cone)) == cone


@pytest.mark.parametrize(
    "line", ["w2.0 = f0 w0:0", "w2.0.1 = 1f0 w0:0", "w2.0.1 = f0 q1", "w2.0.1 = f0" + 4 * " w0:0"]
)  # fmt: skip
def test_what_is_no_cone_is_a_sentence(line: str) -> None:
    with pytest.raises(DataError, match=r"is no (cone|bit)"):
        parse_cone(line)


def test_without_cones_the_network_is_the_graphs() -> None:
    assert coned() == word_logic(GRAPH)


@pytest.mark.parametrize("cone", CONES, ids=str)
def test_a_cone_moves_its_heap_by_what_its_column_counts_or_by_nothing(cone: Cone) -> None:
    moved = np.subtract(words(coned(cone)), words(coned()))
    counts = 1 << cone.spot.column
    assert set(moved.tolist()) <= {-counts, 0, counts}
    assert moved.any()


def test_what_is_booked_is_what_cones_move_their_heap_by() -> None:
    for chosen in ([CONES[0]], [CONES[2]], CONES[:2], CONES):
        moved = np.subtract(words(coned(*chosen)), words(coned()))
        ((word, (low, high)),) = booked(GRAPH, chosen, mux_network).items()
        assert word == 2
        assert (low, high) == (moved.min(), moved.max())  # of six inputs all values are looked at


def test_cones_of_more_signals_than_are_looked_at_are_booked_apart() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("boolcomp.compact.result.booked.MOST_READ", 2)
        ((_, (low, high)),) = booked(GRAPH, CONES, mux_network).items()
    moved = np.subtract(words(coned(*CONES)), words(coned()))
    assert low <= moved.min()
    assert moved.max() <= high
    assert (low, high) != (moved.min(), moved.max())


def test_where_a_cone_stands_is_in_every_sum_that_reads_it() -> None:
    made = ConedLogic(GRAPH, mux_network, [Cone(Spot(2, 0, 1), 0xF0, (WordBit(0, 0),))])
    assert made.signals[Spot(2, 0, 1)] == made.signals[WordBit(0, 0)]
    assert made.replaced.keys() == {Spot(2, 0, 1)}


# The whole way


@cache
def with_cones() -> Built:
    """Return the paper's arm at 6 bits, smaller by cones where it may err a little more."""
    demand = replace(usual_demand(6), rms=(0.43, 0.58))
    exact = built_of(terms_of("machado-2r"), demand)
    loose = replace(
        exact.compact, allowed=1.25 * exact.compact.allowed,
        demand=replace(exact.compact.demand, approximate="cones"),
    )  # fmt: skip
    start = Start(loose, exact.network, np.zeros((0, 6)), [True, True])
    follower = Follower(loose.graph, synthesiser("nodes"))
    found = with_free_changes(start, 0.3, follower=follower)[0]
    assert len(found.network.nodes) < exact.nodes
    by_rule = ConedLogic(loose.graph, synthesiser("nodes"), found.cones).network()
    assert equivalent(found.network, by_rule).holds
    assert not follower.agrees(exact.network)
    moved = booked(loose.graph, found.cones, synthesiser("nodes"))
    return replace(
        exact, compact=loose, network=found.network, cones=found.cones, booked=moved,
        bounds=proved(loose, exact.ends, moved, "plain", 1),
    )  # fmt: skip


@pytest.fixture(name="certified", scope="module")
def certified_program(tmp_path_factory: pytest.TempPathFactory, fewer: None) -> Path:  # noqa: ARG001
    program, _ = certified_by_checker(with_cones().program(), [with_cones()])
    folder = tmp_path_factory.mktemp("cones") / "program"
    program.save(folder)
    return folder


@pytest.mark.check
def test_a_certificate_of_cones_holds(certified: Path) -> None:
    steps = list(check_program(read_program(certified)))
    assert all(step.holds for step in steps)
    assert "cones: bits of sums" in [step.name for step in steps]


@pytest.mark.slow
def test_the_checker_finds_what_is_booked(certified: Path) -> None:
    load = read_program(certified).loads[0]
    assert load.graph is not None
    cones = tuple(map(parse_cone, load.sections["cones"].lines))
    ours = booked(load.graph, cones, synthesiser("nodes"))  # sums are added up by tables' depths
    theirs = moved_by(load.graph, load.sections)
    assert ours.keys() == theirs.keys()
    for word, (low, high) in theirs.items():
        most = sum(1 << cone.spot.column for cone in cones if cone.spot.word == word)
        assert -most <= low <= 0 <= high <= most
        assert -most <= ours[word][0] <= 0 <= ours[word][1] <= most


@pytest.mark.slow
@pytest.mark.parametrize("what", ["another table", "none", "a bit that comes later", "an angle"])
def test_other_cones_than_the_networks_do_not_hold(certified: Path, what: str) -> None:
    program = read_program(certified)
    load = program.loads[0]
    lines = list(load.sections["cones"].lines)
    cone = parse_cone(lines[0])
    if what == "another table":
        lines = [str(replace(one, table=one.table ^ 0xFF)) for one in map(parse_cone, lines)]
    elif what == "none":
        lines = []
    elif what == "an angle":
        lines[0] = str(replace(cone, spot=Spot(3, 0, 0)))
    else:
        lines[0] = f"{cone.spot} = f0 w{cone.spot.word}.{cone.spot.column + 1}.0"
    sections = {**load.sections, "cones": Section(tuple(lines), 1)}
    changed = replace(program, loads=(replace(load, sections=sections),))
    assert not all(step.holds for step in check_program(changed))


@pytest.mark.check
def test_cones_are_kept_and_read_back_and_believed_of_nobody_else(tmp_path: Path) -> None:
    found = approximated(tmp_path, "cones", effort=0.5)
    results = result_store(torques(), found.compact.demand, tmp_path)
    kept = results.find(require_true)
    assert kept is not None
    assert kept.network == found.network
    said = replace(kept, cones=CONES)
    results.put(said)
    again = results.find(require_true)
    assert again is not None
    assert again.cones == CONES
    with pytest.raises(DataError, match="believed where nobody else can write"):
        require_true(kept, results)


@pytest.mark.slow
def test_bounds_of_cones_hold_and_are_wider_than_those_of_the_graph() -> None:
    found = with_cones()
    assert found.bounds is not None
    states = drawn(found.compact, 1 << 17, 3)
    errors, _, _ = network_errors(found.network, found.compact.graph, states)
    assert (np.abs(errors).max(axis=0) <= np.asarray(found.bounds.steps)).all()
    own = proved(found.compact, found.ends, {}, "plain", 1)
    assert own is not None
    for wide, narrow in zip(found.bounds.outputs, own.outputs, strict=True):
        assert wide.low <= narrow.low
        assert narrow.high <= wide.high
    assert found.bounds.steps != own.steps
