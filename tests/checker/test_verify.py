"""Certificates on the command line: made by compile, checked by verify."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from checker.certified import certified, changed

import boolcomp as bc
from boolcomp.measure.verification.certified import chain_tools

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Result


def test_compile_certifies_and_verify_checks_only_the_chain(run: Callable[..., Result]) -> None:
    made = run("compile", "machado-2r", "--bits", "4", "--certify", "-o", "arm")
    assert made.code == 0
    assert (Path("arm") / "certificate.txt").is_file()
    found = json.loads(run("verify", "arm", "--chain-only", "--json").out)
    checks = {check["name"]: check["holds"] for check in found["checks"]}
    assert checks["first: graph to network"]
    assert checks["lemmas: first to final network"]
    assert set(found["checks"][0]) == {
        "name",
        "method",
        "cases",
        "seconds",
        "holds",
        "note",
        "conditional",
    }
    assert found["holds"] == all(checks.values())


def test_verify_names_what_does_not_hold(run: Callable[..., Result]) -> None:
    run("compile", "machado-2r", "--bits", "4", "--certify", "-o", "arm")
    changed(
        Path("arm"), "certificate.txt",
        lambda text: re.sub(r"^(\d+ = )", r"\g<1>0 ", text, count=1, flags=re.MULTILINE),
    )  # fmt: skip
    wrong = run("verify", "arm", "--chain-only")
    assert wrong.code == 1
    assert "arm: these do not hold: lemmas: first to final network\n" in wrong.err


def test_a_program_without_a_certificate_has_no_chain(run: Callable[..., Result]) -> None:
    run("compile", "machado-2r", "--bits", "4", "-o", "arm")
    assert not (Path("arm") / "certificate.txt").exists()
    wrong = run("verify", "arm", "--chain-only")
    assert wrong.code == 1
    assert "compile with --certify" in wrong.out
    assert "nothing is known of these: certificate" in wrong.err
    whole = run("verify", "arm", "--json")
    assert whole.code == 0
    assert json.loads(whole.out)["checks"][0]["note"] == "there is none: compile with --certify"
    assert run("verify", "arm", "--chain-only", "--with-tools").code == 2


def test_a_program_of_paper_mode_without_one_has_no_chain_either(
    run: Callable[..., Result],
) -> None:
    bc.compile("machado-2r", 4, mode="paper").save("arm")
    wrong = run("verify", "arm", "--chain-only")
    assert wrong.code == 1
    assert "compile with --certify" in wrong.out
    assert "nothing is known of these: certificate" in wrong.err


def test_what_is_no_certificate_is_named_with_its_folder(run: Callable[..., Result]) -> None:
    certified().save("arm")
    changed(Path("arm"), "certificate.txt", lambda text: text.replace("= origin", "= orogin"))
    wrong = run("verify", "arm", "--chain-only")
    assert wrong.code == 1
    assert "arm: certificate.txt:23: '= orogin' is no head" in wrong.err


def test_certificates_are_the_same_bytes_again() -> None:
    one, two = (bc.compile("machado-2r", 5, certify=True).certificate for _ in range(2))
    assert one == two


@pytest.mark.check
def test_every_load_has_its_own_sections_and_is_checked(run: Callable[..., Result]) -> None:
    choices = "--bits", "4", "--effort", "0", "--payloads", "0,1"
    run("compile", "machado-2r", *choices, "--certify", "-o", "arm")
    found = json.loads(run("verify", "arm", "--chain-only", "--json").out)
    holds = {check["name"]: check["holds"] for check in found["checks"]}
    for place in (0, 1):
        assert holds[f"lemmas: first to final network, load {place}"]


@pytest.mark.slow
def test_other_solvers_say_the_same_of_networks_and_lemmas(tmp_path: Path) -> None:
    certified(5).save(tmp_path / "a")
    said = {one.method: one for one in chain_tools(str(tmp_path / "a"), 60.0, lambda _: None)}
    assert said["CaDiCaL"].holds
    assert said["ABC cec"].holds or said["ABC cec"].skipped
    changed(
        tmp_path / "a", "certificate.txt",
        lambda text: re.sub(r" over \d+", " over", text, count=1),
    )  # fmt: skip
    said = {one.method: one for one in chain_tools(str(tmp_path / "a"), 60.0, lambda _: None)}
    assert said["CaDiCaL"].holds is False
