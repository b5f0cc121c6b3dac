"""Verilog at gate level: its text, its names, and that a reader of its own gets the same back."""

from __future__ import annotations

import re
from itertools import product
from typing import TYPE_CHECKING

import pytest
from targets.exported import AWKWARD, arm, family, tiny

from boolcomp.logic import luts
from boolcomp.logic.equivalence import equivalent, evaluate
from boolcomp.measure.verification.checks import compared
from boolcomp.measure.verification.gatetext import read_gates
from boolcomp.targets import Options, export_texts
from boolcomp.targets.formulas import Spelling
from boolcomp.targets.netlists import netlist_of
from boolcomp.targets.reserved import VERILOG

if TYPE_CHECKING:
    from boolcomp.program.program import Program

GOLDEN = """\
// program tiny arm, compiled in compact mode
// 4 nodes of at most three inputs, depth 3
// input a
//   - a: Gray 2 bits, -1 .. 1 rad, LSB 0.5 rad, saturate values beyond
//   - value = -1.0 + (cell + 0.5) * 0.5, cell = the word as natural binary
// input b
//   - b: natural binary 1 bits, -1 .. 1, LSB 1, saturate values beyond
//   - value = -1.0 + (cell + 0.5) * 1.0, cell = the word
// input c
//   - c: two's complement 2 bits, -1 .. 1 m/s, LSB 0.5 m/s, saturate values beyond
//   - value = -1.0 + (cell + 0.5) * 0.5, cell = the signed word + 2
// output tau1
//   - T1 (tau1): natural binary 2 bits, -1 .. 1 N*m, LSB 0.5 N*m
//   - value = -1.0 + (cell + 0.5) * 0.5, cell = the word
//   - error N*m: rms 0.25 and largest 0.5 of random states, worst found by search 0.75; not proved
// output tau1_saturated
//   - tau1 saturated: the value lies beyond its range
// with Verilator, simulate with -fno-const-bit-op-tree: else some versions are wrong
"""
MODULE = """\
module tiny_arm (
    input wire [1:0] a,
    input wire b,
    input wire [1:0] c,
    output wire [1:0] tau1,
    output wire tau1_saturated
);
    wire n0 = a[1] ^ a[0];
    wire n1 = a[1] ^ ((a[1] ^ b) & (a[1] ^ n0));
    wire n2 = n0 ^ (c[1] | (n0 ^ n1));
    wire n3 = a[1] & ~c[1];
    wire unused = &{1'b0, c[0]};
    assign tau1 = {n1, n2};
    assign tau1_saturated = n3;
endmodule
"""


def text(program: Program, pipeline: int = 0) -> str:
    (content,) = export_texts(program, "verilog", None, Options(pipeline=pipeline)).values()
    assert isinstance(content, str)
    return content


def test_every_table_has_a_formula_that_computes_it() -> None:
    spelling = Spelling({"and": " & ", "or": " | ", "xor": " ^ "}, "(1-{})")
    for lut in range(1, 255):
        formula = spelling.write(lut, ("a", "b", "c"))
        for row, (a, b, c) in enumerate(product((0, 1), repeat=3)):
            found = eval(formula, {"a": a, "b": b, "c": c})  # noqa: S307 (a formula of ours)
            assert found == lut >> row & 1


def test_formulas_of_few_operations_are_found() -> None:
    spelling = Spelling({"and": "&", "or": "|", "xor": "^"}, "~{}")
    assert spelling.write(luts.XOR3, "abc") in {"a^b^c", "b^c^a", "c^a^b", "b^a^c"}
    assert len(re.findall("[&|^]", spelling.write(luts.MAJ3, "abc"))) == 4
    assert len(re.findall("[&|^]", spelling.write(0xCA, "abc"))) == 3


def test_the_text_of_a_tiny_program_is_known() -> None:
    found = text(tiny())
    assert found.startswith(GOLDEN)
    assert found[len(GOLDEN) :] == MODULE


def test_a_text_is_the_same_every_time() -> None:
    assert text(arm("paper", 4), pipeline=3) == text(arm("paper", 4), pipeline=3)


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
    name = re.findall(r"(n_r\d+) <= n\d+;", good)[-1]
    source = re.search(rf"{name} <= (n\d+);", good)
    assert source is not None
    mutant = re.sub(rf"(?<!reg )\b{name}\b(?! <=)", source[1], good)
    wanted, _ = netlist_of(arm("paper", 4), None)
    check = compared("mutant", "x.v", mutant, wanted, 60)
    assert check.holds is False
    assert "different clocks" in check.note


def test_names_are_legal_and_all_different() -> None:
    found = read_gates(text(tiny(AWKWARD)))
    names = {bit.partition("[")[0] for bit in (*found.inputs, *found.outputs)}
    assert names == {"if_2", "x_1q", "double_2", "tau1", "tau1_saturated"}
    clash = read_gates(text(tiny(("n0", "N0", "clock"))))
    assert {bit.partition("[")[0] for bit in clash.inputs} == {"n0", "N0_2", "clock_2"}
    assert not names & VERILOG


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
