"""Verilog at gate level: its text, its names, and that a reader of its own gets the same back."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from targets.exported import AWKWARD, arm, family, tiny

from boolcomp.codes import Code
from boolcomp.logic import XOR3, Builder, equivalent, evaluate
from boolcomp.measure import compared, read_gates
from boolcomp.problem import CODE_KINDS, CodeKind, Interval
from boolcomp.program import Program
from boolcomp.targets import ExportOptions, export_texts, netlist_of


def text(program: Program, pipeline: int = 0) -> str:
    (content,) = export_texts(program, "verilog", None, ExportOptions(pipeline=pipeline)).values()
    assert isinstance(content, str)
    return content


def test_every_table_of_three_inputs_is_read_back_as_it_is() -> None:
    builder = Builder(4)
    a, b, c, d = (builder.input(k) for k in range(4))
    found = [0, 0, 0]
    for lut in range(256):
        made = builder.node(lut, a, b, c)
        found[lut % 3] = builder.node(XOR3, found[lut % 3] ^ lut % 2, made, d * (lut > 99))
    for tables in (builder.build(found), *(
        builder.build([builder.node(lut, a, b, c), d, a]) for lut in (0xCA, 0x1B, 0x96, 0xE8, 0x7F)
    )):  # fmt: skip
        program = replace(tiny(), networks=(tables,))
        wanted, _ = netlist_of(program, None)
        assert equivalent(read_gates(text(program)).network, wanted.network).holds


@pytest.mark.parametrize("mode", ["paper", "compact"])
@pytest.mark.parametrize("pipeline", [0, 1, 5])
def test_the_arm_is_read_back_as_it_is(mode: str, pipeline: int) -> None:
    program = arm(mode, 4)
    wanted, _ = netlist_of(program, None)
    found = read_gates(text(program, pipeline=pipeline))
    assert (found.inputs, found.outputs) == (wanted.inputs, wanted.outputs)
    assert equivalent(found.network, wanted.network).holds


def test_a_mutated_export_is_caught() -> None:
    program = arm("paper", 4)
    wanted, _ = netlist_of(program, None)
    good = text(program)
    lines = [
        k for k, line in enumerate(good.split("\n")) if re.match(r"    wire n\d+ = .* & ", line)
    ]
    for k in lines[:: len(lines) // 6]:
        mutant = good.split("\n")
        mutant[k] = mutant[k].replace(" & ", " | ", 1)
        check = compared("mutant", "x.v", "\n".join(mutant), wanted, 60)
        assert check.holds is False, mutant[k]
    assert compared("as written", "x.v", good, wanted, 60).holds


def test_a_register_too_few_is_caught() -> None:
    good = text(arm("paper", 4), pipeline=3)
    name = re.findall(r"(n\d+_s\d) <= n\d+;", good)[-1]
    source = re.search(rf"{name} <= (n\d+);", good)
    assert source is not None
    mutant = re.sub(rf"(?<!reg )\b{name}\b(?! <=)", source[1], good)
    wanted, _ = netlist_of(arm("paper", 4), None)
    check = compared("mutant", "x.v", mutant, wanted, 60)
    assert check.holds is False
    assert "different delays" in check.note


def test_names_are_legal_and_all_different() -> None:
    found = read_gates(text(tiny(AWKWARD)))
    names = {bit.partition("[")[0] for bit in (*found.inputs, *found.outputs)}
    assert names == {"if_2", "x_1q", "double_2", "tau1", "tau1_saturated"}
    clash = read_gates(text(tiny(("n0", "N0", "clock"))))
    assert {bit.partition("[")[0] for bit in clash.inputs} == {"n0", "N0_2", "clock_2"}


def test_what_a_name_says_cannot_leave_its_comment() -> None:
    evil = text(tiny(("a\nendmodule //", "b */ x", "c\\")))
    assert len(re.findall(r"^\s*endmodule", evil, re.MULTILINE)) == 1
    assert evil.isascii()
    assert not any(line.endswith("\\") for line in evil.split("\n"))
    ordered = text(tiny(("synthesis translate_off", "verilator lint_off", "pragma")))
    assert not re.findall(r"^//\s*(synthesis|verilator|pragma)", ordered, re.MULTILINE)


def test_several_loads_are_one_module_with_a_port_that_selects() -> None:
    program = family()
    found = read_gates(text(program))
    assert found.inputs[-2:] == ("load[1]", "load[0]")
    for place, payload in enumerate(program.payloads):
        alone, _ = netlist_of(program, payload)
        for row in product((0, 1), repeat=5):
            choice = (place >> 1 & 1, place & 1)
            assert evaluate(found.network, (*row, *choice)) == evaluate(alone.network, row)
    last, _ = netlist_of(program, program.payloads[-1])
    assert evaluate(found.network, (1, 0, 1, 1, 0, 1, 1)) == evaluate(last.network, (1, 0, 1, 1, 0))


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
