"""Programs: sums, wiring, saving and loading, and that they compute what the plan says."""

from __future__ import annotations

import itertools
import json
import os
import pickle
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_programs import cover_of, stages

from boolcomp.common.errors import DataError, UsageError
from boolcomp.logic.order import most_live
from boolcomp.logic.sums import Addend, Sum, sum_network
from boolcomp.paper.assembly import program_of
from boolcomp.program import writing
from boolcomp.program.family import family_of
from boolcomp.program.programfile import load_program
from boolcomp.program.writing import render_program, save_program

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.codes import CodeKind
    from boolcomp.paper.plan import Plan
    from boolcomp.paper.truth import TermTable
    from boolcomp.program.program import Program


class Numbers:
    """The algebra of arrays of truth values."""

    def constant(self, value: int) -> NDArray[np.bool_]:
        return np.bool_(value)  # type: ignore[return-value]

    def node(self, lut: int, operands: tuple[NDArray[np.bool_], ...]) -> NDArray[np.bool_]:
        index = np.zeros(np.shape(operands[0]), np.int64)
        for k, value in enumerate(operands):
            index = index | value.astype(np.int64) << (2 - k)
        return (lut >> index & 1).astype(np.bool_)


addends = st.builds(
    Addend, st.integers(1, 4), st.sampled_from(["gray", "natural"]), st.integers(1, 3)
)


@given(st.lists(addends, min_size=1, max_size=3), st.integers(1, 5), st.integers(0, 3))
def test_the_network_of_a_sum_adds_rounds_and_saturates(
    parts: list[Addend], bits: int, guard: int
) -> None:
    total = Sum(tuple(parts), bits, guard)
    network = sum_network(total)
    cells = list(itertools.product(*(range(part.cells) for part in parts)))[::7]
    columns = []
    for k, part in enumerate(parts):
        words = np.array([cell[k] for cell in cells])
        words = words ^ words >> 1 if part.kind == "gray" else words
        columns += [(words >> b & 1).astype(np.bool_) for b in reversed(range(part.bits))]
    outputs = network.fold(Numbers(), columns)
    rows = np.array([np.broadcast_to(bit, len(cells)) for bit in outputs])
    for cell, (*bits_of_cell, flag) in zip(cells, rows.T.tolist(), strict=True):
        word = int("".join("01"[bit] for bit in bits_of_cell), 2)
        assert (word, flag) == total.cell(cell)


def test_the_offset_of_a_sum_is_that_of_its_ranges() -> None:
    total = Sum((Addend(8, "gray"), Addend(6, "gray", 2), Addend(5, "gray")), 8, 2)
    halves = (1 << 10) - (256 - 1) - 2 * (64 - 1) - (32 - 1)
    assert total.offset == halves // 2
    assert (total.lowest, total.highest - total.lowest) == (total.offset, 255 + 126 + 31)


def direct(
    plan: Plan, tables: tuple[TermTable, ...], states: list[NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Return the rounded sum of the tabulated terms, without any logic."""
    values = {
        f"{kind}{joint}": array[:, joint - 1]
        for kind, array in zip(("q", "qd", "qdd"), states, strict=True)
        for joint in range(1, array.shape[1] + 1)
    }
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
                coded = fine.encode(values[word.variable.name]).words >> np.uint32(
                    fine.bits - word.code.bits
                )
                index = index << word.inputs | coded & ((1 << word.inputs) - 1)
            total += term.code.decode(next(entries).table.words()[index])
        cell, _ = joint.code.cell(total)
        torques.append(joint.word.centre(cell))
    return np.stack(torques, axis=1)


def states(count: int, reach: float = 1.0) -> list[NDArray[np.float64]]:
    rng = np.random.default_rng(5)
    return [rng.uniform(-reach * s, reach * s, (count, 2)) for s in (np.pi, 1.0, 1.0)]


@pytest.mark.slow
@pytest.mark.parametrize("code", ["gray", "natural"])
def test_torques_are_the_rounded_sum_of_the_tabulated_terms(code: CodeKind) -> None:
    plan, tables, program = stages(5, code)
    samples = states(3000)
    found = program.evaluate(*samples, engine="numpy")
    assert (found.torques == direct(plan, tables, samples)).all()
    for k, joint in enumerate(plan.outputs):
        assert (joint.word.decode(found.words[:, k]) == found.torques[:, k]).all()
    assert found.saturated_inputs == 0


@pytest.mark.slow
def test_the_logic_of_terms_holds_only_and_or_not() -> None:
    _, _, program = stages(6)
    kinds = {kind for network in program.networks for kind in network.operations()}
    assert kinds == {"and", "or", "not"}
    assert all(len(node.operands) <= 3 for n in program.networks for node in n.nodes)


@pytest.mark.slow
def test_sums_hold_nothing_but_adders_and_the_way_out_of_the_gray_code() -> None:
    _, _, program = stages(6)
    wiring = program.wiring()
    sums = [n for n in wiring.networks if n not in program.networks]
    assert len(sums) == 2
    assert all(len(network.nodes) < 200 for network in sums)
    assert most_live(sums[0]) < 60


def test_identical_tables_are_stored_once_and_equal_uses_computed_once() -> None:
    _, _, program = stages(5)
    uses = {t.name: t for output in program.outputs for t in output.terms}
    assert uses["T12"].network == uses["T21"].network == uses["T22"].network
    assert uses["T16"].network == uses["T25"].network == uses["T26"].network
    assert len(program.wiring().calls) == len(set(uses.values())) - 3 + 2


def test_covers_of_other_tables_are_refused() -> None:
    plan, tables, _ = stages(4)
    covers = [cover_of(table) for table in tables]
    with pytest.raises(UsageError, match="not those of the plan"):
        program_of(plan, tables[1:], covers[1:])
    with pytest.raises(ValueError, match="does not fit its words"):
        program_of(plan, tables, [*covers[1:], covers[0]])


def test_a_family_holds_equal_networks_once_and_selects_by_payload() -> None:
    light, heavy = stages(4)[2], stages(5)[2]
    heavy = replace(heavy, bits=4, loads=(replace(heavy.loads[0], payload=2.5),))
    family = family_of([light, heavy])
    assert family.payloads == (0.0, 2.5)
    assert len(family.networks) == len(set(light.networks) | set(heavy.networks))
    samples = states(200)
    for payload, member in ((0.0, light), (2.5, heavy)):
        mine = family.torques(*samples, payload=payload, engine="numpy")
        assert (mine == member.torques(*samples, engine="numpy")).all()
    with pytest.raises(UsageError, match=r"no payload 1.0: this program has 0, 2.5 kg"):
        family.torques(*samples, payload=1.0)
    with pytest.raises(UsageError, match=r"has loads of 0, 2.5 kg: say which with payload="):
        family.torques(*samples)


def test_members_of_a_family_must_fit_each_other() -> None:
    with pytest.raises(UsageError, match="one robot, word length and mode"):
        family_of([stages(4)[2], stages(5)[2]])


def test_a_saved_program_is_loaded_as_an_equal_program(tmp_path: Path) -> None:
    program = stages(4)[2]
    program.save(tmp_path / "new" / "2r")
    assert load_program(tmp_path / "new" / "2r") == program
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["2r"]


def test_saving_again_replaces_a_program_but_nothing_else(tmp_path: Path) -> None:
    save_program(stages(5)[2], tmp_path / "p")
    save_program(stages(4)[2], tmp_path / "p")
    assert load_program(tmp_path / "p") == stages(4)[2]
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("all my work")
    with pytest.raises(DataError, match="with other things in it"):
        save_program(stages(4)[2], tmp_path / "other")
    with pytest.raises(DataError, match="is a file"):
        save_program(stages(4)[2], tmp_path / "other" / "thesis.tex")


def test_rendering_a_program_twice_gives_the_same_bytes() -> None:
    program = stages(4)[2]
    assert render_program(program) == render_program(pickle.loads(pickle.dumps(program)))  # noqa: S301 (our own bytes)


def test_a_program_of_a_later_format_is_refused_by_name(tmp_path: Path) -> None:
    save_program(stages(4)[2], tmp_path / "p")
    head = tmp_path / "p" / "program.json"
    head.write_text(head.read_text().replace('"version": 3', '"version": 6'))
    with pytest.raises(DataError, match="a program of format 6, made by boolcomp"):
        load_program(tmp_path / "p")


def test_a_directory_without_a_program_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no program"):
        load_program(tmp_path)


def test_truncated_and_missing_files_are_refused(tmp_path: Path) -> None:
    for name, text in render_program(stages(4)[2]).items():
        save_program(stages(4)[2], tmp_path / "p")
        path = tmp_path / "p" / name
        path.write_text(text[: len(text) // 2])
        with pytest.raises(DataError, match="damaged"):
            load_program(tmp_path / "p")
        path.unlink()
        with pytest.raises(DataError):
            load_program(tmp_path / "p")
        shutil.rmtree(tmp_path / "p")


def test_parts_that_contradict_each_other_are_refused_though_the_checksum_is_right(
    tmp_path: Path,
) -> None:

    save_program(stages(4)[2], tmp_path / "p")
    head = tmp_path / "p" / "program.json"
    document = json.loads(head.read_text())
    changes = [
        ("bits", "eight"), ("mode", "exact"), ("networks", -1), ("networks", 10**9),
        ("loads", []), ("loads", [{"payload": 1e999, "outputs": []}]), ("inputs", []),
        ("files", {}),
        ("inputs", [{"name": "x", "unit": "", "code": {}}]), ("name", None),
        ("groups", [["q"]]), ("returned", ["tau", "tau1"]), ("places", 3), ("bits", True),
    ]  # fmt: skip
    for key, value in changes:
        wrong = {**document, key: value}
        del wrong["checksum"]
        wrong["checksum"] = writing.digest(writing.canonical(wrong))
        head.write_text(json.dumps(wrong))
        with pytest.raises(DataError):
            load_program(tmp_path / "p")


def test_a_wiring_is_written_one_readable_call_a_line() -> None:
    wiring = stages(4)[2].wiring()
    lines = str(wiring).splitlines()
    assert lines[0] == f"wiring of q of 2, qd of 2, qdd of 2: {wiring.planes} planes"
    assert lines[1] == "p0 = q1 gray 5 bits, -pi .. pi"
    assert len(lines) == 1 + len(wiring.ports) + len(wiring.calls) + 2
    late = replace(wiring.calls[0], inputs=(wiring.planes - 1,) * len(wiring.calls[0].inputs))
    with pytest.raises(ValueError, match="not written yet"):
        replace(wiring, calls=(late, *wiring.calls[1:]))


def test_a_program_is_written_with_its_words_networks_and_sums() -> None:
    lines = str(stages(4)[2]).splitlines()
    assert lines[0] == "program machado-2r: 4 bits, paper mode"
    assert "  input q1 gray 5 bits, -pi .. pi" in lines
    assert any(line.startswith("    T1 gray 4 bits") and "T11(network 0)" in line for line in lines)


@pytest.mark.check
def test_a_saved_program_has_the_same_bytes_under_any_hash_seed() -> None:
    text = (
        "import sys; sys.path.insert(0, 'tests'); from small_programs import stages;"
        "from boolcomp.program.writing import render_program; import hashlib;"
        "print(hashlib.sha256(repr(render_program(stages(5)[2])).encode()).hexdigest())"
    )
    root = Path(__file__).parent.parent
    found = {
        subprocess.run(
            [sys.executable, "-c", text], cwd=root, check=True, capture_output=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("0", "1", "77")
    }  # fmt: skip
    assert len(found) == 1


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Program]:
    folder = tmp_path_factory.mktemp("saved") / "p"
    program = stages(4)[2]
    save_program(program, folder)
    return folder, program


def corrupt(saved: tuple[Path, Program], name: str, place: int, value: int) -> None:
    """Replace one byte; the program is then refused, or is the same as before."""
    folder, program = saved
    path = folder / name
    whole = path.read_bytes()
    place %= len(whole)
    path.write_bytes(whole[:place] + bytes([value]) + whole[place + 1 :])
    try:
        assert load_program(folder) == program
    except DataError:
        pass
    finally:
        path.write_bytes(whole)


@given(st.sampled_from(["program.json", "networks/0.txt", "networks/5.txt"]), st.data())
def test_one_changed_byte_is_refused_or_harmless(
    saved: tuple[Path, Program], name: str, data: st.DataObject
) -> None:
    corrupt(saved, name, data.draw(st.integers(0, 1 << 20)), data.draw(st.integers(0, 255)))


@pytest.mark.check
def test_every_single_changed_byte_is_refused_or_harmless(saved: tuple[Path, Program]) -> None:
    for path in sorted(saved[0].rglob("*.*")):
        whole = path.read_bytes()
        for place in range(len(whole)):
            corrupt(
                saved,
                str(path.relative_to(saved[0])),
                place,
                whole[place] ^ (0x01, 0x20, 0x80)[place % 3],
            )
