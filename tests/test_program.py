"""Programs of both modes: what they compute, their parts, and what they show."""

import hashlib
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from limited import with_ranges
from numpy.typing import NDArray
from samples import by_name, terms_of
from small_programs import compact, cover_of, family, stages

import boolcomp as bc
from boolcomp.logic import Planes, most_live
from boolcomp.paper import (
    Plan,
    PlanOptions,
    TermTable,
    function_of,
    make_plan,
    make_tables,
    program_of,
    quantised,
    render_table,
)
from boolcomp.problem import CodeKind
from boolcomp.program import JointNetwork, KnownErrors, Program, Slice, family_of, render_program
from boolcomp.twolevel import minimise
from boolcomp.words import simulate


def direct(
    plan: Plan, tables: tuple[TermTable, ...], states: list[NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Return the rounded sum of the tabulated terms, without any logic."""
    values = by_name(*states)
    finest: dict[str, int] = {}
    for word in (word for term in plan.terms for word in term.words):
        finest[word.variable.name] = max(finest.get(word.variable.name, 0), word.code.bits)
    entries = iter(tables)
    torques = []
    for joint in plan.outputs:
        total = np.zeros(len(states[0]))
        for term in joint.terms:
            index = np.zeros(len(states[0]), np.int64)
            for word in term.words:
                fine = replace(word.code, bits=finest[word.variable.name])
                coded = fine.encode(values[word.variable.name]).words
                coded = coded >> np.uint32(fine.bits - word.code.bits)
                index = index << word.inputs | coded & ((1 << word.inputs) - 1)
            total += term.code.decode(next(entries).table.words()[index])
        cell, _ = joint.code.cell(total)
        torques.append(joint.word.centre(cell))
    return np.stack(torques, axis=1)


def states(count: int) -> list[NDArray[np.float64]]:
    rng = np.random.default_rng(5)
    return [rng.uniform(-reach, reach, (count, 2)) for reach in (np.pi, 1.0, 1.0)]


@pytest.mark.slow
@pytest.mark.parametrize("code", ["gray", "natural"])
def test_torques_are_the_rounded_sum_of_the_tabulated_terms(code: CodeKind) -> None:
    plan, tables, program = stages(5, code)
    samples = states(3000)
    found = program.evaluate(*samples, engine="numpy")
    assert (found.torques == direct(plan, tables, samples)).all()
    assert np.array_equal(found.words, quantised(plan, samples).words)
    for k, joint in enumerate(plan.outputs):
        assert (joint.word.decode(found.words[:, k]) == found.torques[:, k]).all()
    assert found.saturated_inputs == 0


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["numpy", "llvm"])
def test_compact_words_are_those_of_the_word_graph(engine: Any) -> None:
    program = compact(8)
    assert program.graph is not None
    rng = np.random.default_rng(9)
    words: dict[str, Any] = {w.name: rng.integers(0, w.code.cells, 3000) for w in program.inputs}
    found = program.evaluate_words(**words, engine=engine)
    assert np.array_equal(found.words, simulate(program.graph, words).words)
    values: dict[str, Any] = {w.name: w.code.decode(words[w.name]) for w in program.inputs}
    assert np.array_equal(program.evaluate(**values, engine=engine).words, found.words)


@pytest.mark.slow
def test_terms_hold_and_or_not_and_sums_little_more_than_adders() -> None:
    _, _, program = stages(6)
    kinds = {kind for network in program.networks for kind in network.operations()}
    assert kinds == {"and", "or", "not"}
    sums = [n for n in program.wiring().networks if n not in program.networks]
    assert len(sums) == 2
    assert all(len(network.nodes) < 200 for network in sums)
    assert most_live(sums[0]) < 60


def test_equal_tables_are_stored_once_and_equal_uses_computed_once() -> None:
    program = stages(5)[2]
    uses = {t.name: t for output in program.outputs for t in output.terms}
    assert uses["T12"].network == uses["T21"].network == uses["T22"].network
    assert uses["T16"].network == uses["T25"].network == uses["T26"].network
    assert len(program.wiring().calls) == len(set(uses.values())) - 3 + 2


def test_errors_of_some_outputs_alone_are_refused() -> None:
    plan, tables, _ = stages(4)
    with pytest.raises(bc.UsageError, match="the measured errors are not those of the plan"):
        program_of(plan, tables, [cover_of(t) for t in tables], known=(KnownErrors(1.0, 2.0),))


def test_covers_of_other_tables_are_refused() -> None:
    plan, tables, _ = stages(4)
    covers = [cover_of(table) for table in tables]
    with pytest.raises(bc.UsageError, match="not those of the plan"):
        program_of(plan, tables[1:], covers[1:])
    with pytest.raises(ValueError, match="does not fit its words"):
        program_of(plan, tables, [*covers[1:], covers[0]])


@pytest.mark.parametrize("make", [lambda: stages(4)[2], lambda: compact(4)])
def test_all_logic_of_a_program_is_one_network(make: Any) -> None:
    program: Program = make()
    ports = program.wiring().ports
    rng = np.random.default_rng(1)
    words = [rng.integers(0, port.code.cells, 64) for port in ports]
    planes = [
        sum(int(word >> bit & 1) << k for k, word in enumerate(column))
        for port, column in zip(ports, words, strict=True)
        for bit in reversed(range(port.code.bits))
    ]
    outputs = iter(program.network().fold(Planes((1 << 64) - 1), planes))
    arrays = [np.zeros((64, 2), np.uint32) for _ in range(3)]
    for port, column in zip(ports, words, strict=True):
        arrays[port.array][:, port.column] = column
    expected = program.evaluate_words(*arrays)
    for place, output in enumerate(program.outputs):
        cells = output.code.index(expected.words[:, place])
        for bit in reversed(range(output.code.bits)):
            assert next(outputs) == sum(int(c >> bit & 1) << k for k, c in enumerate(cells))
        next(outputs)


def test_threads_change_nothing() -> None:
    arrays = states(70_000)
    alone, shared = (compact().evaluate(*arrays, threads=k) for k in (1, 2))
    assert np.array_equal(alone.words, shared.words)
    assert alone.saturated_inputs == shared.saturated_inputs


def test_a_family_holds_equal_networks_once_and_selects_by_payload() -> None:
    light, heavy = stages(4)[2], stages(5)[2]
    assert family().payloads == (0.0, 2.5)
    assert len(family().networks) == len(set(light.networks) | set(heavy.networks))
    samples = states(200)
    for payload, member in ((0.0, light), (2.5, heavy)):
        mine = family().torques(*samples, payload=payload, engine="numpy")
        assert (mine == member.torques(*samples, engine="numpy")).all()


def test_loads_of_a_family_keep_their_graphs_and_its_errors_are_the_worst_of_all() -> None:
    arm = compact()
    assert arm.loads[0].outputs[0].errors is not None
    worse = tuple(replace(x, errors=KnownErrors(99.0, 0.1, 99.0)) for x in arm.outputs)
    heavy = replace(arm, loads=(replace(arm.loads[0], payload=1.0, outputs=worse),))
    both = family_of([arm, heavy])
    assert [load.graph for load in both.loads] == [arm.graph] * 2
    assert both.errors["tau1"].rms == 99.0
    assert both.errors["tau1"].sampled_max == arm.errors["tau1"].sampled_max
    unknown = tuple(replace(output, errors=None) for output in worse)
    silent = replace(heavy, loads=(replace(heavy.loads[0], outputs=unknown),))
    assert family_of([arm, silent]).errors == {}


def test_members_and_payloads_must_fit() -> None:
    with pytest.raises(bc.UsageError, match="one robot, word length and mode"):
        family_of([stages(4)[2], stages(5)[2]])
    with pytest.raises(bc.UsageError, match=r"no payload 1\.0; this program has 0, 2.5 kg"):
        family().torques(*states(2), payload=1.0)
    with pytest.raises(bc.UsageError, match=r"has loads of 0, 2.5 kg; select one with payload="):
        family().torques(*states(2))


def test_parts_that_do_not_fit_are_refused() -> None:
    program = compact()
    load, wiring = program.loads[0], stages(4)[2].wiring()
    assert load.joint is not None
    words = load.joint.words
    for joint, sentence in (
        (JointNetwork(0, words[1:]), "does not fit its words"),
        (JointNetwork(1, words), "no network"),
        (JointNetwork(0, (Slice(99, 8, 0), *words)), "reads bits beyond its input words"),
    ):
        with pytest.raises(ValueError, match=sentence):
            replace(program, loads=(replace(load, joint=joint),))
    late = replace(wiring.calls[0], inputs=(wiring.planes - 1,) * len(wiring.calls[0].inputs))
    with pytest.raises(ValueError, match="not written yet"):
        replace(wiring, calls=(late, *wiring.calls[1:]))


def test_a_wiring_and_a_program_are_written_line_by_line() -> None:
    program = stages(4)[2]
    wiring, lines = program.wiring(), str(program).splitlines()
    shown = str(wiring).splitlines()
    assert shown[0] == f"wiring of q of 2, qd of 2, qdd of 2: {wiring.planes} planes"
    assert shown[1] == "p0 = q1 gray 5 bits, -pi .. pi"
    assert len(shown) == 1 + len(wiring.ports) + len(wiring.calls) + 2
    assert lines[0] == "program machado-2r: 4 bits, paper mode"
    assert "  input q1 gray 5 bits, -pi .. pi" in lines
    assert any(line.startswith("    T1 gray 4 bits") and "T11(network 0)" in line for line in lines)


def test_a_compact_program_knows_its_graph_its_demand_and_its_errors() -> None:
    program = compact(8)
    assert program.graph is not None
    assert str(program.graph).startswith("w0[10] = input q1 angle")
    meanings = program.loads[0].meanings
    assert len(meanings) == len(program.graph.nodes)
    assert "cos(q1+q2)" in meanings
    assert program.demand.startswith("bits=8 ")
    for name, rms, worst in (("tau1", 0.425, None), ("tau2", 0.569, 3.667)):
        errors = program.errors[name]
        step = next(one.code.step for one in program.outputs if one.name == name)
        assert errors.rms / step == pytest.approx(rms, abs=5e-4)
        assert errors.worst_found is not None
        assert worst is None or errors.worst_found / step == pytest.approx(worst, abs=5e-3)
    paper = stages(4)[2]
    assert (paper.graph, paper.errors, paper.demand) == (None, {}, "")
    assert paper.worst_found == paper.sampled_max == (None, None)


def test_a_notebook_shows_a_small_table_in_which_names_are_only_text() -> None:
    text = replace(compact(8), name="<i>&")._repr_html_()
    assert "&lt;i&gt;&amp;" in text
    assert "<i>" not in text
    assert "559 nodes of at most three inputs, depth 26" in text
    assert "<td>q1</td><td>-pi .. pi</td><td>rad</td><td>10</td><td>natural, wraps</td>" in text
    assert "<td>tau1</td><td>-200 .. 200</td><td>N·m</td><td>8</td><td>1.5625</td>" in text
    assert f"<td>5.675 ({5.675 / 1.5625:.3g} LSB)</td><td>" in text
    assert text.count("<tr>") == stages(4)[2]._repr_html_().count("<tr>") == 2 + 6 + 2


ALWAYS: dict[tuple[str, int, str], tuple[PlanOptions, str]] = {
    ("machado-2r", 4, "gray"): (PlanOptions(4), "23c6bd 242e58 5b9209"),
    ("machado-2r", 5, "twos"): (
        PlanOptions(5, "twos", splits=3, guard_bits=1),
        "be5519 a4ae6e e2a5c9",
    ),
    ("machado-2r", 4, "faithful"): (PlanOptions(4, rounding="faithful"), "23c6bd cfb9ea 72852d"),
    ("machado-2r", 4, "outside"): (
        PlanOptions(4, signs="outside", sums="outside"),
        "7fb6bf 5bf84e 5d7575",
    ),
    ("stops", 4, "sign-magnitude"): (PlanOptions(4, "sign-magnitude"), "519c15 60d825 63d593"),
    ("stops", 4, "sums"): (
        PlanOptions(4, sums="outside", rounding="faithful"),
        "75e119 d9abc6 362213",
    ),
    ("machado-2r", 4, "natural"): (PlanOptions(4, "natural", guard_bits=0), "1a9155 850bb0 7fea33"),
}


@pytest.mark.parametrize("case", ALWAYS)
def test_a_program_of_paper_mode_is_what_it_always_was(case: tuple[str, int, str]) -> None:
    options, known = ALWAYS[case]
    stops = with_ranges("machado-2r", q1=(0.3, 1.4), q2=(-2.9, -1.9))
    plan = make_plan(terms_of(stops if case[0] == "stops" else case[0]), options)
    entries = make_tables(plan)
    covers = {entry.table: minimise(function_of(entry.table), "isop") for entry in entries}
    program = program_of(plan, entries, [covers[entry.table] for entry in entries])
    files = re.sub('"made_by": ".*"', "", "".join(render_program(program).values()))
    texts = [str(plan), "".join(render_table(one) for one in entries), files]
    found = " ".join(hashlib.sha256(text.encode()).hexdigest()[:6] for text in texts)
    assert found == known
