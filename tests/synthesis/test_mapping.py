"""Networks as look-up tables: what they compute, tried row by row, and what is refused."""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from synthesis.networks import adder, looked_up, random_network

from boolcomp.base import DataError, UsageError, read_entry, write_entry
from boolcomp.logic import Network, Node, find, in_lut3, lutmapping, mapped, parse_luts

needs_abc = pytest.mark.skipif(find() is None, reason="ABC is not installed")


def same_everywhere(a: Any, b: Any) -> bool:
    return all(
        looked_up(a, word) == looked_up(b, word) for word in product((0, 1), repeat=a.inputs)
    )


@pytest.mark.parametrize("inputs", [3, 4, 6])
@pytest.mark.parametrize("seed", range(2))
def test_without_abc_tables_are_cones_of_the_network(
    inputs: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("boolcomp.logic.lutmapping.find", lambda: None)
    network = random_network(seed, 8, 40, 4)
    found = mapped(network, inputs)
    assert "ABC was not found" in found.note
    assert max(len(node.operands) for node in found.luts.nodes) <= inputs
    assert len(found.luts.nodes) <= len(network.nodes)
    assert same_everywhere(network, found.luts)
    assert same_everywhere(network, in_lut3(found.luts))


@pytest.mark.slow
@needs_abc
@pytest.mark.parametrize("inputs", [4])
@pytest.mark.parametrize("goal", ["area", "depth"])
def test_abc_maps_into_tables_that_are_the_network(inputs: int, goal: Any) -> None:
    network = random_network(9, 8, 60, 4)
    found = mapped(network, inputs, goal)
    assert found.method.startswith("ABC")
    assert same_everywhere(network, found.luts)
    assert mapped(network, inputs, goal) == found


@pytest.mark.slow
@needs_abc
@pytest.mark.parametrize("inputs", [8, 24])  # compared at all words, and by random words and proof
def test_tables_that_are_another_function_are_not_taken(
    monkeypatch: pytest.MonkeyPatch, inputs: int
) -> None:
    network = random_network(8, inputs, 80, 4)

    def lies(text: str, where: str) -> Any:
        good = parse_luts(text, where)
        last = good.nodes[-1]
        whole = (1 << max(8, 1 << len(last.operands))) - 1
        return replace(good, nodes=(*good.nodes[:-1], last._replace(lut=~last.lut & whole)))

    monkeypatch.setattr("boolcomp.logic.lutmapping.parse_luts", lies)
    found = mapped(network, 4)
    assert (
        same_everywhere(network, found.luts) if inputs == 8 else not found.method.startswith("ABC")
    )
    assert "rejected" in found.note


@pytest.fixture(name="kept")
def kept_mapping(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file of the mapping of ADDER, in a cache without other files."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    mapped(ADDER, 6)
    (path,) = (tmp_path / "boolcomp" / "mappings").iterdir()
    return path


ADDER = adder(120)


@pytest.mark.slow
@needs_abc
def test_a_mapping_is_kept_and_found_without_abc_running(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = mapped(ADDER, 6)
    assert first.method.startswith("ABC")
    monkeypatch.setattr(lutmapping, "_mapped", None)  # a call fails
    assert mapped(ADDER, 6) == first
    others: list[dict[str, Any]] = [{"inputs": 5}, {"goal": "depth"}, {"stages": 2}]
    for other in [*others, {"network": adder(120, majority=False)}]:
        with pytest.raises(TypeError):
            mapped(**{"network": ADDER, "inputs": 6, **other})
    monkeypatch.setattr(lutmapping, "find", lambda: None)
    assert mapped(ADDER, 6).method.startswith("cones")
    assert [path.name for path in kept.parent.iterdir()] == [kept.name]


@pytest.mark.slow
@needs_abc
def test_a_damaged_or_forged_mapping_is_not_used_but_made_anew(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = mapped(ADDER, 6)
    whole = kept.read_bytes()
    good = json.loads((read_entry(kept) or b"").decode())
    lut, operands = good["nodes"][-1]
    mask = (1 << max(8, 1 << len(operands))) - 1
    contents = [b"", b"[]", b"{}", b"\xff", json.dumps(good).encode()[:-5]]
    forged: list[dict[str, Any]] = [
        {"nodes": [*good["nodes"][:-1], [~lut & mask, operands]]},
        {"nodes": good["nodes"][:-1]},
        {"nodes": [*good["nodes"], [lut, [10**6, 3]]]},
        {"nodes": [*good["nodes"][:-1], [str(lut), operands]]},
        {"outputs": good["outputs"][1:]},
        {"outputs": good["outputs"][::-1]},
        {"nodes": None},
    ]
    contents += [json.dumps(good | one).encode() for one in forged]
    made: list[lutmapping.MappedTables] = []

    def again(*_: object, **__: object) -> lutmapping.MappedTables:
        made.append(right)
        return right

    monkeypatch.setattr(lutmapping, "_mapped", again)
    for content in contents:
        write_entry(kept, content)
        assert mapped(ADDER, 6) == right
    assert len(made) == len(contents)
    for damaged in (whole[:-9], whole[1:], b"", whole.replace(b"ABC", b"abc")):
        kept.write_bytes(damaged)
        kept.chmod(0o600)
        assert mapped(ADDER, 6) == right
    kept.chmod(0o666)  # others may have written it
    assert mapped(ADDER, 6) == right
    assert len(made) == len(contents) + 5
    assert kept.read_bytes() == whole
    assert kept.stat().st_mode & 0o777 == 0o600


@needs_abc
def test_a_mapping_cut_off_by_its_deadline_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert "no time" in mapped(ADDER, 6, deadline=0.0).note
    assert not (tmp_path / "boolcomp" / "mappings").exists() or not [
        *(tmp_path / "boolcomp" / "mappings").iterdir()
    ]


def test_a_table_of_seven_inputs_and_one_of_two_are_refused() -> None:
    with pytest.raises(UsageError, match="3 to 6 inputs, not 7"):
        mapped(random_network(1, 3, 5, 1), 7)
    rows = ".model x\n.inputs a b c d e f g\n.outputs z\n.names a b c d e f g z\n1111111 1\n.end\n"
    with pytest.raises(DataError, match="at most 6"):
        parse_luts(rows)


@pytest.mark.parametrize(("operands", "lut", "outputs", "sentence"), [
    ((1, 3), 0xC0, (4,), "node 0 reads constants or later nodes"),
    ((2, 4), 0xC0, (4,), "node 0 reads constants or later nodes"),
    ((2, 5), 0xC0, (4,), "node 0 reads constants or later nodes"),
    ((2, 2), 0xC0, (4,), "node 0 reads a signal twice"), ((), 0xC0, (4,), "node 0 has 0 inputs"),
    ((2, 3), 0xF0, (4,), "0xF0 is not of its operands"),
    ((2, 3), 0xC0, (5,), "an output is no signal"), ((2, 3), 0xC0, (-1,), "an output is no signal"),
])  # fmt: skip
def test_a_network_of_tables_reads_what_comes_before_them(
    operands: tuple[int, ...], lut: int, outputs: tuple[int, ...], sentence: str
) -> None:
    assert Network(2, (Node(0xC0, (2, 3)),), (4, 0, 2), 6).depth == 1
    with pytest.raises(ValueError, match=sentence):
        Network(2, (Node(lut, operands),), outputs, 6)
