"""A program's certificate, checked by code that shares nothing with the compiler."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.checker.chain import check_program
from boolcomp.checker.folder import read_program
from boolcomp.measure.verification.checks import Check

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def chain_checks(folder: str, step: Callable[[str], None], *, needed: bool) -> Iterator[Check]:
    """Yield the steps of a program's certificate; none where there is none, unless it is needed."""
    step("certificate")
    program = read_program(folder)
    if program.certified or needed:
        for one in check_program(program):
            yield Check(one.name, one.method, one.cases, one.seconds, one.holds, one.note)
            step(one.name)
