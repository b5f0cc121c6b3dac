"""Files of programs: what earlier versions wrote is read, and gives the results that it gave."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from boolcomp.commands.said import promised
from boolcomp.common.errors import DataError
from boolcomp.program.parts import KnownErrors
from boolcomp.program.programfile import load_program
from boolcomp.program.writing import HEAD, canonical, digest, save_program

if TYPE_CHECKING:
    from boolcomp.program.program import Program

OLD = Path(__file__).parent / "programs"
KINDS = ["format-1", "format-2-paper", "format-2-compact"]


def written(files: dict[str, str], folder: Path) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def old(kind: str, folder: Path) -> tuple[dict[str, Any], Program]:
    """Return what a version wrote down beside its program, and the program as it is read now."""
    document: dict[str, Any] = json.loads((OLD / f"{kind}.json").read_text())
    return document, load_program(written(document["files"], folder))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("engine", ["numpy", "llvm"])
def test_programs_of_earlier_formats_give_what_they_gave(
    tmp_path: Path, kind: str, engine: Any
) -> None:
    document, program = old(kind, tmp_path / "p")
    q, *rest = (np.array(x) for x in document["states"])
    if kind == "format-1":  # it knew of no turns: angles beyond one were put on an end
        q = np.clip(q, -3.1, 3.1)
    found = program.evaluate(q, *rest, engine=engine)
    kept = (np.abs(np.array(document["states"][0])) < 3.1).all(axis=1)
    rows = kept if kind == "format-1" else np.ones(len(q), bool)
    assert rows.any()
    assert found.values[rows].tolist() == np.array(document["torques"])[rows].tolist()
    assert found.words[rows].tolist() == np.array(document["words"])[rows].tolist()
    if kind != "format-1":
        counts = [found.saturated_inputs, found.saturated_outputs, found.beyond_stops]
        assert counts == document["counts"]


@pytest.mark.parametrize("kind", KINDS)
def test_programs_of_earlier_formats_get_the_names_of_robots(tmp_path: Path, kind: str) -> None:
    program = old(kind, tmp_path / "p")[1]
    assert program.name == "machado-2r"
    assert [group.members for group in program.groups] == [
        ("q1", "q2"), ("qd1", "qd2"), ("qdd1", "qdd2")
    ]  # fmt: skip
    assert program.returned.members == ("tau1", "tau2")
    assert [output.symbol for output in program.outputs] == ["T1", "T2"]
    assert (program.plural, program.places) == ("torques", "joints")
    save_program(program, tmp_path / "again")
    assert load_program(tmp_path / "again") == program
    assert json.loads((tmp_path / "again" / HEAD).read_text())["version"] == 3


@pytest.mark.parametrize("kind", KINDS)
def test_the_worst_error_of_earlier_programs_was_not_sought(tmp_path: Path, kind: str) -> None:
    program = old(kind, tmp_path / "p")[1]
    assert program.worst_found == program.sampled_max == (None, None)
    assert program._repr_html_().count("<td>not sought</td>") == 2
    assert "T1 not sought" in promised(
        tuple(replace(output, bound=math.inf) for output in program.outputs)
    )


def test_errors_that_were_measured_without_a_search_are_kept(tmp_path: Path) -> None:
    program = old("format-2-paper", tmp_path / "p")[1]
    known = KnownErrors(0.5, 2.0)
    (load, *_), step = program.loads, program.outputs[0].code.step
    outputs = tuple(replace(output, errors=known) for output in load.outputs)
    measured = replace(program, loads=(replace(load, outputs=outputs),))
    save_program(measured, tmp_path / "q")
    again = load_program(tmp_path / "q")
    assert again == measured
    assert again.errors["tau1"] == known
    assert again.sampled_max == (2.0, 2.0)
    assert again.worst_found == (None, None)
    assert f"<td>2 ({2 / step:.3g} LSB)</td><td>not sought</td>" in again._repr_html_()


def test_stops_of_earlier_formats_are_found_by_name(tmp_path: Path) -> None:
    assert [str(one) for one in old("format-2-paper", tmp_path)[1].stops] == [
        "q2 within -2.5 .. 2.5"
    ]


def test_full_turns_of_the_first_format_wrap(tmp_path: Path) -> None:
    program = old("format-1", tmp_path)[1]
    assert [word.code.wraps for word in program.inputs] == [True, True, *[False] * 4]
    assert program.stops == ()


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        ("stops.0.1", 7, "stops belong to no joint"),
        ("inputs.0.kind", "x", "input 'x' is not known"),
        ("inputs.0.joint", 3, "belongs to no input"),
        ("loads.0.torques.0.joint", 2, "not in the order of the joints"),
        ("loads.0.torques", [], "json: stops belong to no joint"),
        ("loads", [], "one load or several|belongs to no input|belong to no joint"),
        ("stops.0", [0, 1, 2], "a stop is not"),
    ],
)
def test_what_earlier_formats_cannot_say_is_refused(
    tmp_path: Path, path: str, value: Any, sentence: str
) -> None:
    document = json.loads((OLD / "format-2-paper.json").read_text())
    head = json.loads(document["files"][HEAD])
    *keys, last = [int(k) if k.isdecimal() else k for k in path.split(".")]
    place = head
    for key in keys:
        place = place[key]
    place[last] = value
    del head["checksum"]
    head["checksum"] = digest(canonical(head))
    written({**document["files"], HEAD: json.dumps(head)}, tmp_path)
    with pytest.raises(DataError, match=sentence):
        load_program(tmp_path)
