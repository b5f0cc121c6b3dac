"""Programs that keep their word graph: saved, read back, and not believed where it is damaged."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from fuzzprograms import files_of, sealed, written
from small_programs import stages

import boolcomp as bc
from boolcomp.common.errors import DataError
from boolcomp.program.family import family_of
from boolcomp.program.parts import KnownErrors
from boolcomp.program.programfile import load_program
from boolcomp.program.writing import HEAD, save_program
from boolcomp.words.graphtext import parse_graph
from boolcomp.words.simulate import simulate

if TYPE_CHECKING:
    from pathlib import Path

    from boolcomp.program.program import Program

GRAPH = "graphs/0.txt"


@cache
def arm() -> Program:
    """Return the paper's arm at 8 bits, which ships with boolcomp."""
    return bc.compile("machado-2r", bits=8)


def forged(folder: Path, old: str, new: str) -> Path:
    """Write the arm with another graph under right checksums."""
    files = files_of(arm())
    text = files[GRAPH].decode()
    assert old in text
    files[GRAPH] = text.replace(old, new, 1).encode()
    sealed(files, json.loads(files[HEAD]))
    written(files, folder)
    return folder


def test_a_compact_program_knows_its_graph_its_demand_and_its_errors(tmp_path: Path) -> None:
    program = arm()
    assert program.graph is not None
    assert str(program.graph).startswith("w0[10] = input q1 angle")
    load = program.loads[0]
    assert len(load.meanings) == len(program.graph.nodes)
    assert "cos(q1+q2)" in load.meanings
    assert program.demand.startswith("bits=8 ")
    lsb = [output.code.step for output in program.outputs]
    rms = [
        program.errors[name].rms / step for name, step in zip(("tau1", "tau2"), lsb, strict=True)
    ]
    assert rms == pytest.approx([0.425, 0.569], abs=5e-4)
    worst = program.worst_found[1]
    assert worst is not None
    assert worst == program.errors["tau2"].worst_found
    assert worst / lsb[1] == pytest.approx(3.667, abs=5e-3)
    sampled = [program.errors[name].sampled_max for name in ("tau1", "tau2")]
    assert list(program.sampled_max) == sampled
    save_program(program, tmp_path / "p")
    again = load_program(tmp_path / "p")
    assert again == program
    assert again.graph == program.graph
    assert again.errors == program.errors
    assert parse_graph((tmp_path / "p" / GRAPH).read_text()) == program.graph


@pytest.mark.slow
def test_the_graph_gives_the_words_that_the_program_gives() -> None:
    program = arm()
    graph = program.graph
    assert graph is not None
    rng = np.random.default_rng(9)
    words: dict[str, Any] = {w.name: rng.integers(0, w.code.cells, 200) for w in program.inputs}
    found = program.evaluate_words(**words)
    assert np.array_equal(found.words, simulate(graph, words).words)


def test_in_paper_mode_there_is_none() -> None:
    program = stages(4)[2]
    assert program.graph is None
    assert program.errors == {}
    assert program.worst_found == program.sampled_max == (None, None)
    assert program.demand == ""


def test_loads_of_a_family_keep_their_graphs(tmp_path: Path) -> None:
    heavy = replace(arm(), loads=tuple(replace(load, payload=1.0) for load in arm().loads))
    worse = replace(
        heavy.loads[0],
        outputs=tuple(replace(x, errors=KnownErrors(9.0, 0.1, 9.0)) for x in heavy.outputs),
    )
    family = family_of([arm(), replace(heavy, loads=(worse,))])
    save_program(family, tmp_path / "p")
    again = load_program(tmp_path / "p")
    assert again == family
    assert [load.graph for load in again.loads] == [arm().graph] * 2
    assert family.errors["tau1"].rms == 9.0
    assert family.errors["tau1"].sampled_max == arm().errors["tau1"].sampled_max
    unknown = tuple(replace(output, errors=None) for output in heavy.outputs)
    silent = replace(heavy, loads=(replace(heavy.loads[0], outputs=unknown),))
    assert family_of([arm(), silent]).errors == {}


DAMAGE = [
    ("input q1 angle", "input q9 angle", "a word graph does not fit its network"),
    ("w0[10] = input", "w0[9] = input", "0.txt: node 6: a width does not fit"),
    ("w5[", "w5[99999999999", r"0.txt:6: 'w5\[99999999999.* is no line of a word graph"),
    ("w5[", "w5[" + "9" * 5000, r"0.txt:6: 'w5\[9999.* is no line of a word graph"),
    ("unit 2^", "unit 2^99999", r"0.txt:1: 'w0\[10\].* is no line of a word graph"),
    ("unit 2^", "unit 2^0 at nan ", r"0.txt:1: 'w0\[10\].* is no line of a word graph"),
    ("w3[", "w4[", r"0.txt:4: 'w4\[.* is no line of a word graph"),
    ("heap +", "heap + w1>>0 * w2>>0 << 99999 +", "is no line of a word graph"),
    ("tau2[8]", "tau2[7]", "a word graph does not fit its network"),
    ("tau1[8] =", "tau3[8] =", "0.txt:21: 'tau3.* is no line of a word graph"),
    ("tau1[8] = w", "tau1[8] = w9999", "0.txt: "),
]


@pytest.mark.parametrize(("old", "new", "sentence"), DAMAGE)
def test_a_damaged_graph_is_a_sentence(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    with pytest.raises(DataError, match=sentence) as raised:
        load_program(forged(tmp_path, old, new))
    assert len(str(raised.value)) < 600


def entry_changed(text: str) -> tuple[str, str]:
    """Return a table's first entry in its line, and another in its place."""
    line = next(line for line in text.splitlines() if "= table w" in line)
    head, _, rest = line.partition(" = table ")
    source, first, *others = rest.split(" ")
    bits = int(head.partition("[")[2].removesuffix("]"))
    other = str((1 << bits) - 1 - int(first))
    return line, f"{head} = table {' '.join([source, other, *others])}"


def test_a_graph_that_its_network_does_not_compute_is_refused(tmp_path: Path) -> None:
    graph = arm().graph
    assert graph is not None
    old, new = entry_changed(str(graph))
    sentence = "0.txt: its network does not compute what it says"
    for one, other in ((old, new), (" = heap + ", " = heap - ")):
        with pytest.raises(DataError, match=sentence):
            load_program(forged(tmp_path, one, other))


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("meanings", ["q1"], "words without meanings"),
        ("meanings", 3, "'meanings' is 3, not of type list"),
        ("meanings", [3] * 20, "'meanings' is 3, not of type str"),
        ("network", None, "'network' is None, not of type int"),
    ],
)
def test_what_stands_beside_a_graph_is_checked(
    tmp_path: Path, key: str, value: Any, sentence: str
) -> None:
    files = files_of(arm())
    head = json.loads(files[HEAD])
    head["loads"][0][key] = value
    sealed(files, head)
    written(files, tmp_path)
    with pytest.raises(DataError, match=sentence):
        load_program(tmp_path)


def test_a_graph_without_a_network_or_checksum_is_refused(tmp_path: Path) -> None:
    files = files_of(arm())
    head = json.loads(files[HEAD])
    del head["loads"][0]["network"]
    sealed(files, head)
    written(files, tmp_path)
    with pytest.raises(DataError, match="a word graph has no network"):
        load_program(tmp_path)
    save_program(arm(), tmp_path / "p")
    (tmp_path / "p" / GRAPH).write_text("w0")
    with pytest.raises(DataError, match=r"graphs/0.txt: damaged: its checksum"):
        load_program(tmp_path / "p")
    (tmp_path / "p" / GRAPH).unlink()
    with pytest.raises(DataError, match=r"graphs/0.txt"):
        load_program(tmp_path / "p")


def test_a_notebook_shows_a_small_table_in_which_names_are_only_text() -> None:
    program = replace(arm(), name="<i>&")
    text = program._repr_html_()
    assert "&lt;i&gt;&amp;" in text
    assert "<i>" not in text
    assert "559 nodes of at most three inputs, depth 26" in text
    assert "<td>q1</td><td>-pi .. pi</td><td>rad</td><td>10</td><td>natural, wraps</td>" in text
    assert "<td>tau1</td><td>-200 .. 200</td><td>N·m</td><td>8</td><td>1.5625</td>" in text
    assert text.count("<tr>") == 2 + 6 + 2
    step = 1.5625
    assert f"<td>5.675 ({5.675 / step:.3g} LSB)</td><td>" in text
    assert stages(4)[2]._repr_html_().count("<tr>") == 2 + 6 + 2
