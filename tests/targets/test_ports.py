"""Ports: words in their codes, and notes that say which number a word stands for."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from targets.exported import tiny

import boolcomp as bc
from boolcomp.codes import Code
from boolcomp.problem import CODE_KINDS, CodeKind, Interval
from boolcomp.targets import export_texts

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Result


def cell_said(text: str, word: int, code: Code) -> int:
    """Return the cell that a sentence gives a word, as a reader would work it out."""
    if text == "the word":
        return word
    if text == "the word as natural binary":
        return next(k for k in range(code.cells) if k ^ k >> 1 == word)
    half = code.cells // 2
    if match := re.fullmatch(r"the signed word \+ (\d+)", text):
        return int(match[1]) + (word - code.cells if word >= half else word)
    match = re.fullmatch(r"(\d+) \+ magnitude, or (\d+) - magnitude where the sign is 1", text)
    assert match is not None, text
    return int(match[2]) - (word - half) if word >= half else int(match[1]) + word


@pytest.mark.parametrize("kind", CODE_KINDS)
@pytest.mark.parametrize("tread", [False, True])
def test_what_a_word_stands_for_is_said_right(kind: CodeKind, tread: bool) -> None:  # noqa: FBT001 (a parameter)
    code = Code(Interval(-1.5, 2.5), 4, kind, tread=tread)
    first, *others = tiny().inputs
    program = replace(tiny(), inputs=(replace(first, code=code), *others))
    ((_, text),) = export_texts(program, "verilog").items()
    pattern = r"^//   - value = (\S+) \+ \(cell \+ (\S+)\) \* (\S+), cell = (.*)$"
    match = re.search(pattern, str(text), re.MULTILINE)
    assert match is not None
    base, raised, step = (float(match[k]) for k in (1, 2, 3))
    for word in range(16):
        cell = cell_said(match[4], word, code)
        value = base + (cell + raised) * step
        assert value == pytest.approx(float(code.decode(np.array([word]))[0]), abs=1e-12)


@pytest.mark.check
@pytest.mark.parametrize(
    ("kind", "zero"), [("gray", "rise"), ("twos", "tread"), ("sign-magnitude", "tread")]
)
def test_a_function_in_any_code_is_exported_as_it_is(
    kind: str, zero: str, run: Callable[..., Result]
) -> None:
    program = bc.compile(
        lambda x, y: x * y - y,
        inputs={"x": bc.word(-1, 1, bits=5), "y": bc.word(-2, 2, bits=4)},
        outputs={"z": bc.word(-2, 2, bits=5)},
        words={"x": f"{kind}:5:{zero}", "z": f"{kind}:5:{zero}"},
        effort=0, saturate=True, rms_error=1.0,
    )  # fmt: skip
    program.save("product")
    document = json.loads(run("verify", "product", "--json").out)
    assert document["holds"]
    assert "all words" in {check["method"] for check in document["checks"]}
