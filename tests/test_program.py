"""Programs of both modes: what they compute, their parts, and what they show."""

import hashlib
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from limited import with_ranges
from numpy.typing import NDArray
from samples import terms_of
from small_programs import compact, cover_of, family, stages

import boolcomp as bc
from boolcomp.logic import Planes
from boolcomp.paper import (
    PlanOptions,
    function_of,
    make_plan,
    make_tables,
    program_of,
    render_table,
)
from boolcomp.program import JointNetwork, KnownErrors, Program, Slice, family_of, render_program
from boolcomp.twolevel import minimise
from boolcomp.words import simulate


def states(count: int) -> list[NDArray[np.float64]]:
    rng = np.random.default_rng(5)
    return [rng.uniform(-reach, reach, (count, 2)) for reach in (np.pi, 1.0, 1.0)]


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


def test_loads_of_a_family_keep_their_graphs_and_its_errors_are_the_worst_of_all() -> None:
    arm = compact()
    assert arm.loads[0].outputs[0].errors is not None
    worse = tuple(replace(x, errors=KnownErrors(99.0, 0.1, 99.0)) for x in arm.outputs)
    heavy = replace(arm, loads=(replace(arm.loads[0], payload=1.0, outputs=worse),))
    both = family_of([arm, heavy])
    assert [load.graph for load in both.loads] == [arm.graph] * 2
    assert both.errors["tau1"].rms == 99.0
    assert both.errors["tau1"].sampled_max == arm.errors["tau1"].sampled_max
    with pytest.raises(bc.UsageError, match=r"unknown output 'tau_1'") as wrong:
        both.errors["tau_1"]
    assert "did you mean 'tau1'" in str(wrong.value.hint)
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


def test_a_wiring_is_written_line_by_line() -> None:
    wiring = stages(4)[2].wiring()
    shown = str(wiring).splitlines()
    assert shown[0] == f"wiring of q of 2, qd of 2, qdd of 2: {wiring.planes} planes"
    assert shown[1] == "p0 = q1 gray 5 bits, -pi .. pi"
    assert len(shown) == 1 + len(wiring.ports) + len(wiring.calls) + 2


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
