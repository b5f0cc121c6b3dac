"""What is installed with boolcomp, and where."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

PROJECT = tomllib.loads((Path(__file__).resolve().parent.parent / "pyproject.toml").read_text())[
    "project"
]
WHEELS = {("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "x86_64"), ("darwin", "arm64")}
SYSTEMS = sorted(WHEELS | {("win32", "AMD64"), ("linux", "riscv64"), ("linux", "armv7l")})


def abc() -> Requirement:
    (found,) = [r for r in map(Requirement, PROJECT["dependencies"]) if r.name == "pyosys"]
    return found


@pytest.mark.parametrize(("system", "machine"), SYSTEMS)
def test_abc_comes_by_itself_where_there_is_a_wheel(system: str, machine: str) -> None:
    marker = abc().marker
    assert marker is not None
    place = {"sys_platform": system, "platform_machine": machine}
    expected = (system, machine) in WHEELS
    assert marker.evaluate({**place, "platform_python_implementation": "CPython"}) is expected
    assert not marker.evaluate({**place, "platform_python_implementation": "PyPy"})


def test_the_extra_abc_still_asks_for_it() -> None:
    (asked,) = map(Requirement, PROJECT["optional-dependencies"]["abc"])
    assert (asked.name, asked.specifier) == ("pyosys", abc().specifier)
