"""Equivalence by ABC's `cec`: a proof, an input word that shows a difference, or a sentence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.logic import blif
from boolcomp.logic.synthesis import abc

if TYPE_CHECKING:
    from boolcomp.logic.network import Network

_VALUE = re.compile(r"\bp?i(\d+)=([01])")
CONFLICTS = 10**9


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether two networks are equal; a witness to be tried, or why nothing is known."""

    equal: bool
    witness: tuple[int, ...] | None = None
    note: str = ""


def check(tool: abc.Tool, a: Network, b: Network, deadline: float) -> Answer:
    """Compare two networks of equal inputs and outputs, for at most `deadline` seconds."""
    seconds = max(1, int(min(deadline, abc.LONGEST)))
    files = {"a.blif": blif.render(a), "b.blif": blif.render(b)}
    command = f"cec -n -T {seconds} -C {CONFLICTS} a.blif b.blif"
    outcome = abc.run(tool, [command], files, (), deadline=deadline)
    if not outcome.done:
        return Answer(False, None, outcome.note)  # noqa: FBT003 (the field is named above)
    if "Networks are equivalent" in outcome.printed:
        return Answer(True)  # noqa: FBT003
    if "NOT EQUIVALENT" not in outcome.printed:
        return Answer(False, None, "ABC's cec did not decide")  # noqa: FBT003
    word = [0] * a.inputs
    for place, value in _VALUE.findall(outcome.printed.partition("Input pattern:")[2]):
        if int(place) < a.inputs:
            word[int(place)] = int(value)
    return Answer(False, tuple(word))  # noqa: FBT003
