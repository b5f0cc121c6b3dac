"""Files of programs: read as they were written, and refused where they are damaged or forged."""

import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzzprograms import files_of, sealed, written
from hypothesis import given
from hypothesis import strategies as st
from small_programs import compact, family, stages

import boolcomp as bc
from boolcomp.program import HEAD, KnownErrors, Program, render_program

OLD = Path(__file__).parent / "programs"
KINDS = ["format-1", "format-2-paper", "format-2-compact"]
GRAPH, NETWORK = "graphs/0.txt", "networks/0.txt"


def changed(program: Program, folder: Path, key: str, value: Any) -> Path:
    """Write a program with another value in its head, at `a.0.b`, under right checksums."""
    files = files_of(program)
    head = place = json.loads(files[HEAD])
    *path, last = [int(k) if k.isdecimal() else k for k in key.split(".")]
    for one in path:
        place = place[one]
    place[last] = value
    sealed(files, head)
    written(files, folder)
    return folder


def forged(program: Program, folder: Path, name: str, old: str, new: str) -> Path:
    """Write a program with another text in a file, under right checksums."""
    files = files_of(program)
    text = files[name].decode()
    assert old in text
    files[name] = text.replace(old, new, 1).encode()
    sealed(files, json.loads(files[HEAD]))
    written(files, folder)
    return folder


def refused(folder: Path, sentence: str) -> None:
    with pytest.raises(bc.DataError, match=sentence) as raised:
        bc.load_program(folder)
    assert len(str(raised.value)) < 600


def test_programs_of_all_kinds_are_read_as_they_were_saved(tmp_path: Path) -> None:
    arm = compact()
    (load,) = arm.loads
    first, second = load.outputs
    graded = replace(load, outputs=(replace(first, bound=1.0, grade="tight"), second))
    for k, program in enumerate(
        (stages(4)[2], family(), arm, compact(8), replace(arm, loads=(graded,)))
    ):
        program.save(tmp_path / "new" / str(k))
        again = bc.load_program(tmp_path / "new" / str(k))
        assert again == program
        assert again.graph == program.graph
        assert again.errors == program.errors
        assert render_program(again) == render_program(pickle.loads(pickle.dumps(program)))  # noqa: S301 (our own bytes)
    assert [one.grade for one in again.outputs] == ["tight", second.grade]
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == list("01234")


def test_saving_again_replaces_a_program_but_nothing_else(tmp_path: Path) -> None:
    stages(5)[2].save(tmp_path / "p")
    stages(4)[2].save(tmp_path / "p")
    assert bc.load_program(tmp_path / "p") == stages(4)[2]
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("all my work")
    for place, sentence in (("other", "with other files"), ("other/thesis.tex", "a file")):
        with pytest.raises(bc.DataError, match=sentence):
            stages(4)[2].save(tmp_path / place)
    refused(tmp_path / "other", "no program")


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved") / "p"
    stages(4)[2].save(folder)
    return folder


def corrupt(folder: Path, name: str, place: int, value: int) -> None:
    """Replace one byte; the program is then refused, or is the same as before."""
    path = folder / name
    whole = path.read_bytes()
    place %= len(whole)
    path.write_bytes(whole[:place] + bytes([value]) + whole[place + 1 :])
    try:
        assert bc.load_program(folder) == stages(4)[2]
    except bc.DataError:
        pass
    finally:
        path.write_bytes(whole)


@given(st.sampled_from([HEAD, NETWORK, "networks/5.txt"]), st.data())
def test_one_changed_byte_is_refused_or_harmless(
    saved: Path, name: str, data: st.DataObject
) -> None:
    corrupt(saved, name, data.draw(st.integers(0, 1 << 20)), data.draw(st.integers(0, 255)))


@pytest.mark.check
def test_every_single_changed_byte_is_refused_or_harmless(saved: Path) -> None:
    for path in sorted(saved.rglob("*.*")):
        whole = path.read_bytes()
        for place in range(len(whole)):
            new = whole[place] ^ (0x01, 0x20, 0x80)[place % 3]
            corrupt(saved, str(path.relative_to(saved)), place, new)


def test_truncated_and_missing_files_are_refused(tmp_path: Path) -> None:
    for program in (stages(4)[2], compact()):
        for name, text in render_program(program).items():
            written(files_of(program), tmp_path)
            (tmp_path / name).write_text(text[: len(text) // 2])
            refused(tmp_path, "damaged")
            (tmp_path / name).unlink()
            refused(tmp_path, ".")


LONG = 10**400
HEADS: list[tuple[str, Any, str]] = [
    ("version", 6, "the program has format 6, made by boolcomp"),
    ("bits", "eight", "not of type int"),
    ("mode", "m" * 1_000_000, "mode 'mmm.* is not known"),
    ("networks", 10**9, r"networks/\d+\.txt: "),
    ("networks", LONG, r"networks/\d+\.txt: "),
    ("loads", [], "needs at least one load"),
    ("loads", [{"payload": 1e999, "outputs": []}], r"'loads\[0\]\.payload' is not from"),
    ("loads.0.payload", 1e308, r"'loads\[0\]\.payload' is not from"),
    ("inputs", [], "reads bits beyond its input words"),
    ("inputs", [{"name": "x", "unit": "", "code": {}}], r"'inputs\[0\]\.code\.kind' is missing"),
    ("inputs.0.code", {"kinds": "gray"}, r"code\.kind' is missing; did you mean 'kinds'"),
    ("loads.0.outputs.0.guard_bits", 65, "guard bits are 0 to 64"),
    ("inputs.0.code.kind", "grey", r"code\.kind 'grey' is not known; did you mean 'gray'"),
    ("inputs.0.code.range", [1, 1], "the range of a code is empty"),
    ("inputs.0.code.range", [1, 0], "a range is empty: 1.0 .. 0.0"),
    ("inputs.0.code.range", [1], r"range' is \[1\], not 2 values"),
    ("inputs.0.code.range", [-1.5e308, 1.5e308], r"range\[0\]' is not from -1e\+15 to 1e\+15"),
    ("inputs.0.code.range", [-1, LONG], r"range\[1\]' is not from -1e\+15"),
    ("inputs.0.code.bits", LONG, "a word has 1 to|an integer of about 401 digits"),
    ("name", None, "not of type str"),
    ("demand", "bits=4 approximate=cones", r"adder-bit changes .* boolcomp 0\.1\.0 .* again"),
    ("name", ["r"] * 1_000_000, r"'name' is \['r', 'r', .*not of type str"),
    ("groups", [["q"]], "a group needs a name and those"),
    ("returned", ["tau", "tau1"], "differ from the returned group"),
]


@pytest.mark.parametrize(("key", "value", "sentence"), HEADS)
def test_a_head_that_no_program_has_is_refused_under_a_right_checksum(
    tmp_path: Path, key: str, value: Any, sentence: str
) -> None:
    refused(changed(stages(4)[2], tmp_path, key, value), sentence)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("input q1 angle", "input q9 angle", "a word graph does not fit its network"),
        ("w0[10] = input", "w0[9] = input", "0.txt: node 6: a width does not fit"),
        ("w5[", "w5[99999999999", r"0.txt:6: 'w5\[99999999999.* is no line of a word graph"),
        ("unit 2^", "unit 2^0 at nan ", r"0.txt:1: 'w0\[10\].* is no line of a word graph"),
        ("w3[", "w4[", r"0.txt:4: 'w4\[.* is no line of a word graph"),
        ("heap +", "heap + w1>>0 * w2>>0 << 99999 +", "is no line of a word graph"),
        ("tau2[8]", "tau2[7]", "a word graph does not fit its network"),
        ("tau1[8] =", "tau3[8] =", "0.txt:21: 'tau3.* is no line of a word graph"),
        ("tau1[8] = w", "tau1[8] = w9999", "0.txt: "),
        (" = heap + ", " = heap - ", "0.txt: its network does not compute this graph"),
    ],
)
def test_a_damaged_graph_is_refused(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    refused(forged(compact(8), tmp_path, GRAPH, old, new), sentence)


def test_a_graph_without_a_network_is_refused(tmp_path: Path) -> None:
    files = files_of(compact())
    head = json.loads(files[HEAD])
    del head["loads"][0]["network"]
    sealed(files, head)
    written(files, tmp_path)
    refused(tmp_path, "a word graph has no network")


def test_very_large_files_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = files_of(stages(4)[2])
    written({**files, HEAD: files[HEAD] + b" " * (1 << 24)}, tmp_path)
    refused(tmp_path, r"program.json: larger than 16777216 bytes")
    written(files, tmp_path)
    sizes = [path.stat().st_size for path in tmp_path.glob("networks/*")]
    assert len(sizes) > 2
    monkeypatch.setattr("boolcomp.program.files.MOST_BYTES", sum(sizes))
    bc.load_program(tmp_path)
    monkeypatch.setattr("boolcomp.program.files.MOST_BYTES", max(sizes) + 1)
    refused(tmp_path, "larger than")


def old(kind: str, folder: Path) -> tuple[dict[str, Any], Program]:
    """Return what a version wrote down beside its program, and the program as it is read now."""
    document: dict[str, Any] = json.loads((OLD / f"{kind}.json").read_text())
    written({name: text.encode() for name, text in document["files"].items()}, folder)
    return document, bc.load_program(folder)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("engine", ["numpy", "llvm"])
def test_programs_of_earlier_formats_give_what_they_gave(
    tmp_path: Path, kind: str, engine: Any
) -> None:
    document, program = old(kind, tmp_path)
    q, *rest = (np.array(x) for x in document["states"])
    rows = np.ones(len(q), bool)
    if kind == "format-1":  # it knew of no turns: angles beyond one were put on an end
        rows = (np.abs(q) < 3.1).all(axis=1)
        q = np.clip(q, -3.1, 3.1)
    found = program.evaluate(q, *rest, engine=engine)
    assert rows.any()
    assert found.values[rows].tolist() == np.array(document["torques"])[rows].tolist()
    assert found.words[rows].tolist() == np.array(document["words"])[rows].tolist()
    if kind != "format-1":
        counts = [found.saturated_inputs, found.saturated_outputs, found.beyond_stops]
        assert counts == document["counts"]


def test_errors_that_were_measured_without_a_search_are_kept(tmp_path: Path) -> None:
    program = old("format-2-paper", tmp_path / "p")[1]
    outputs = tuple(replace(x, errors=KnownErrors(0.5, 2.0)) for x in program.outputs)
    replace(program, loads=(replace(program.loads[0], outputs=outputs),)).save(tmp_path / "q")
    again = bc.load_program(tmp_path / "q")
    assert again.outputs[0].errors == KnownErrors(0.5, 2.0)
    assert (again.errors["tau1"].rms, again.errors["tau1"].found) == (0.5, None)
    assert (again.sampled_max, again.worst_found) == ((2.0, 2.0), (None, None))
    step = program.outputs[0].code.step
    assert f"<td>2 ({2 / step:.3g} LSB)</td><td>not sought</td>" in again._repr_html_()


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        ("stops.0.1", 7, "a stop names no joint"),
        ("inputs.0.kind", "x", "input 'x' is not known"),
        ("inputs.0.joint", 3, "belongs to no input"),
        ("loads.0.torques.0.joint", 2, "not in the order of the joints"),
        ("loads.0.torques", [], "json: a stop names no joint"),
        ("loads", [], "at least one load|belongs to no input|names no joint"),
        ("stops.0", [0, 1, 2], "a stop needs"),
    ],
)
def test_what_earlier_formats_cannot_say_is_refused(
    tmp_path: Path, path: str, value: Any, sentence: str
) -> None:
    files = json.loads((OLD / "format-2-paper.json").read_text())["files"]
    head = place = json.loads(files[HEAD])
    *keys, last = [int(k) if k.isdecimal() else k for k in path.split(".")]
    for key in keys:
        place = place[key]
    place[last] = value
    made = {name: text.encode() for name, text in files.items()}
    sealed(made, head)
    written(made, tmp_path)
    refused(tmp_path, sentence)
