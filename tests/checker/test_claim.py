"""The claim of a certificate: beside `program.json`, derived from what was asked, or not."""

import copy
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checker.certified import certified, changed, section, steps
from checker.forging import Change, conditioned, made, program, put, restated, swapped

from boolcomp.checker import claim
from boolcomp.checker import folder as container
from boolcomp.checker.__main__ import check_program, main
from boolcomp.checker.folder import LoadFiles, ProgramFiles, read_program, whole
from boolcomp.checker.problem import read_origin
from boolcomp.problem.dynamics import inverse_dynamics
from boolcomp.problem.robot.library import load_robot
from boolcomp.problem.robot.model import with_payload
from boolcomp.program.program import CERTIFICATE, HEAD, render_program
from boolcomp.proof.certificates import with_confirmed_changes

ARM = Path(__file__).resolve().parent.parent.parent / "robots" / "machado-2r.toml"


def origin() -> str:
    return container.parse(certified().certificate).loads[0]["origin"].text


def family(loaded: tuple[float, ...], more: tuple[float, ...] = (), **other: Any) -> ProgramFiles:
    """Return loads of the paper's arm as far as a claim looks at them."""
    document = json.loads(render_program(certified())[HEAD])
    del document["checksum"]
    first = document["loads"][0]
    document["loads"] = [{**copy.deepcopy(first), "payload": mass} for mass in loaded]
    document |= {"per_kilogram": list(more)} if more else {}
    loads = []
    for k, mass in enumerate(other.get("held", loaded)):
        text = origin().replace("payload 0.0", f"payload {mass!r}")
        text = text.replace("mass = 6.25", other["links"][k]) if "links" in other else text
        said = document["loads"][k]
        loads.append(LoadFiles(k, document, said, None, None, {"origin": section(text)}))
    lines = claim.stated(document, [()] * len(loaded))
    stated = container.Certificate(section("\n".join(lines)), tuple(x.sections for x in loads))
    return ProgramFiles(document, (), tuple(loads), stated)


def wrong(program: ProgramFiles) -> dict[str, str]:
    return {one.name: one.note for one in claim.check_claim(program) if not one.holds}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    certified().save(tmp_path / "a")
    return tmp_path / "a"


CHANGES: list[tuple[Change, str]] = [
    (swapped("groups.0.1", "groups.0.2"), "groups are"),
    (swapped("returned.1", "returned.2"), "returned are"),
    (put("loads.0.outputs.0.unit", "kN·m"), "units of tau1"),
    (put("name", "elbow-3r"), "name are"),
    (put("bits", 12), "bits"),
    (made("demand", lambda old: f"{old} error=0.1lsb"),
     "0.1lsb is guaranteed, but not proved for tau1"),
    (put("demand", "error=9lsb error=1lsb"), "with distinct names"),
    (put("loads.0.payload", 5.0), "is 5.0 kg, but the robot's 0.0 kg"),
    (put("per_kilogram", [0.0, 0.0]), "a kilogram changes tau1 by"),
    (put("loads.0.outputs.0.code.bits", 5.0), "5.0 is invalid"),
    (put("robot", "x"), "an unknown key"),
    (put("stops", [["q1", -1.0, 1.0]]), "q1 stops at"),
    (put("version", 2), "version: 2 is invalid"),
    (put("loads.0.outputs.0.bound", None), "the bound in program.json is None"),
    (swapped("inputs.0", "inputs.1"), "in order"),
]  # fmt: skip


def write(folder: Path, *changes: Change) -> None:
    """Write the arm with changes of program.json and of the claim, as a forger makes them."""
    forged = program("arm")
    for change in changes:
        change(forged)
    restated(forged)
    forged.write(folder)


@pytest.mark.parametrize(("change", "said"), CHANGES, ids=[said for _, said in CHANGES])
def test_what_is_changed_in_the_claim_and_the_program_is_found(
    tmp_path: Path, change: Change, said: str
) -> None:
    write(tmp_path, change)
    notes = [one.note for one in check_program(read_program(tmp_path)) if one.holds is False]
    assert any(said in note for note in notes), notes


def test_what_is_changed_in_the_program_alone_is_not_the_claim(folder: Path) -> None:
    changed(folder, HEAD, lambda text: text.replace('"grade": "plain"', '"grade": "tight"'))
    found = steps(folder)["claim"]
    assert found.holds is False
    assert f"{CERTIFICATE}:18 is" in found.note


def test_a_certificate_of_format_1_is_read_and_does_not_hold(folder: Path) -> None:
    def older(text: str) -> str:
        loads = re.sub(r"payload .*\n", "", text[text.index("== load 0") :])
        return f"{container.OLD_LINE}\n{loads}"

    changed(folder, CERTIFICATE, older)
    found = steps(folder)
    assert found.pop("claim").holds is None
    assert all(one.holds for one in found.values())
    assert main([str(folder)]) == 1
    assert "payload" in claim.not_verified(read_program(folder))


def test_a_family_is_of_one_robot_with_the_loads_that_are_said() -> None:
    exact = claim.per_kilogram(read_origin(section(origin())), ("tau1", "tau2"))
    honest = tuple(one * 1.001 for one in exact)
    two = (0.0, 5.0)
    assert not wrong(family(two, honest))
    assert not wrong(family(two))
    less = (honest[0], exact[1] * 0.999)
    swapped = wrong(family(two, held=(5.0, 0.0)))["names"]
    assert "the payload of load 0 is 0.0 kg, but the robot's 5.0 kg" in swapped
    for found, said in (
        (family(two, less), "a kilogram changes tau2 by"),
        (family(two, honest[:1]), "a number for every output"),
        (family((5.0, 5.0)), "have the same mass"),
        (family(two, links=("mass = 6.25", "mass = 6.5")), "load 1 has another robot"),
    ):
        assert said in wrong(found)["loads"]


def test_what_a_kilogram_changes_is_a_bound_of_what_it_does() -> None:
    arm, rng = load_robot("machado-2r"), np.random.default_rng(3)
    most = claim.per_kilogram(read_origin(section(origin())), ("tau1", "tau2"))
    states = [rng.uniform(-one, one, (200_000, 2)) for one in (np.pi, 1, 1)]
    both = [inverse_dynamics(with_payload(arm, mass), *states) for mass in (0.0, 1.0)]
    reached = np.abs(both[1] - both[0]).max(axis=0)
    assert (reached <= most).all()
    assert (reached >= 0.7 * np.array(most)).all()


def test_a_program_without_loads_was_not_verified(folder: Path) -> None:
    write(folder, put("loads", []))
    with pytest.raises(Exception, match="1 loads, but the program has 0"):
        read_program(folder)
    assert not whole([])
    changed(folder, CERTIFICATE, lambda text: text[: text.index("== load 0")])
    assert "there is no load" in steps(folder)["names"].note
    assert main([str(folder)]) == 1


def test_a_bound_on_conditions_is_no_bound(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder, conditioned("w11"))
    found = steps(folder)
    unknown = {name for name, one in found.items() if one.conditional and one.holds is None}
    assert unknown == {"no overflow", "error of tau1", "error of tau2"}
    assert all(one.holds for name, one in found.items() if name not in unknown)
    assert main([str(folder)]) == 1
    assert "error of tau1: holds on conditions (" in capsys.readouterr().out
    assert main([str(folder), "--allow-conditions"]) == 0


@pytest.mark.parametrize(("old", "new", "said"), [
    ("", "", ""),
    ("mass = 6.25", "mass = 6.5", "its mass, centre or inertia of joint 2 differs"),
    ("velocity_range = [-1, 1]", "velocity_range = [-2, 2]", "velocity_range of joint 1"),
    ("rotor_inertia = 5", "rotor_inertia = 6", "its rotor of joint 1 differs"),
    ('name = "machado-2r"', 'name = "other"', "it is 'machado-2r'"),
    ("gravity = [0, -9.8, 0]", "gravity = [0, -9.81, 0]", "gravity differs"),
    ("mass = 6.25", "mess = 6.25", "unknown key 'mess'"),
    ("[[joint]]", "[joint", "not a robot file"),
])  # fmt: skip
def test_the_robot_of_a_file_is_the_certificates_or_the_difference_is_told(
    folder: Path, old: str, new: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = ARM.read_text()
    assert old in text
    (folder.parent / "arm.toml").write_text(text.replace(old, new, 1) if old else text)
    assert main([str(folder), "--robot", str(folder.parent / "arm.toml")]) == int(bool(old))
    printed = capsys.readouterr()
    assert (said or "same as file: holds") in printed.out + printed.err


def test_the_checker_says_what_it_compared_and_what_it_did_not(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(folder)]) == 0
    said = "for the robot described in the certificate, 'machado-2r': q1 -3.14"
    assert said in capsys.readouterr().out
    assert main([str(folder), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["holds"]
    for name in ("made_by", "grade", "symbols", "meanings", "rms, sampled_max", "worst_found"):
        assert name in found["not_verified"]
    assert not {"name", "units", "payload"} & set(found["not_verified"])


def test_a_compiler_that_says_less_of_a_kilogram_states_what_is_confirmed() -> None:
    program = replace(certified(), per_kilogram=(0.0, 1e9))
    made = with_confirmed_changes(program, origin())
    assert made.per_kilogram[0] > 1
    assert made.per_kilogram[1] == 1e9
