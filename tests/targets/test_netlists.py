"""BLIF, AIGER and PLA: what is written reads back, and small programs have two levels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from targets.exported import arm, tiny

from boolcomp.common.errors import UsageError
from boolcomp.logic import aiger, blif, luts
from boolcomp.logic.equivalence import equivalent, evaluate
from boolcomp.logic.netlist import Netlist
from boolcomp.logic.network import CONSTANTS, Builder
from boolcomp.targets import Options, export_texts, writer
from boolcomp.targets.netlists import netlist_of
from boolcomp.twolevel import pla
from boolcomp.twolevel.cubes import unpack

if TYPE_CHECKING:
    from boolcomp.program.program import Program


def content(program: Program, target: str) -> str | bytes:
    (found,) = export_texts(program, target).values()
    return found


def test_blif_of_a_tiny_program_is_known() -> None:
    text = str(content(tiny(), "blif"))
    assert text[text.index(".model") :] == (
        ".model tiny_arm\n.inputs a[1] a[0] b c[1] c[0]\n.outputs tau1[1] tau1[0] tau1_saturated\n"
        ".names a[1] a[0] n0\n01 1\n10 1\n.names a[1] b n0 n1\n011 1\n101 1\n110 1\n111 1\n"
        ".names c[1] n0 n1 n2\n001 1\n011 1\n100 1\n101 1\n.names a[1] c[1] n3\n10 1\n"
        ".names n1 tau1[1]\n1 1\n.names n2 tau1[0]\n1 1\n.names n3 tau1_saturated\n1 1\n.end\n"
    )


def test_names_that_become_equal_are_numbered_in_time_that_grows_like_them() -> None:
    count = 30_000  # counting from 2 for each would take 450 million steps
    names = tuple(chr(0x4E00 + k % 20_000) + "\u00e9" * (1 + k // 20_000) for k in range(count))
    network = Builder(count).build([2 * CONSTANTS])
    text = blif.render_netlist(Netlist("m", names, ("y",), network))
    found = blif.read_netlist(text).inputs
    assert found[:3] == ("__", "___2", "___3")
    assert len(set(found)) == count


@pytest.mark.parametrize(
    ("names", "node"),
    [(("a", "b"), "n0"), (("n0", "nna"), "nnn0"), (("n" * 3_000_000, "a"), "b0")],
)
def test_nodes_have_names_that_begin_like_no_other(names: tuple[str, str], node: str) -> None:
    builder = Builder(2)
    both = builder.node(luts.AND2, builder.input(0), builder.input(1))
    text = blif.render_netlist(Netlist("m", names, ("y",), builder.build([both])))
    assert text.splitlines()[-3] == f".names {node} y"
    assert blif.read_netlist(text).inputs == names


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["paper", "compact"])
@pytest.mark.parametrize("bits", [4, 6])
def test_the_arm_comes_back_from_every_netlist(mode: str, bits: int) -> None:
    program = arm(mode, bits) if (mode, bits) != ("paper", 6) else arm(mode, 5)
    wanted, _ = netlist_of(program, None)
    assert blif.read_netlist(str(content(program, "blif"))) == wanted
    text = content(program, "aiger-ascii")
    data = content(program, "aiger")
    assert isinstance(text, str)
    assert isinstance(data, bytes)
    assert aiger.parse_aiger(text.encode()) == aiger.parse_aiger(data)
    assert aiger.parse_aiger(data).inputs == wanted.inputs
    assert equivalent(aiger.parse_aiger(data).network, wanted.network).holds


def test_a_pla_of_a_tiny_program_has_its_outputs() -> None:
    program = tiny()
    wanted, _ = netlist_of(program, None)
    found = pla.parse(str(content(program, "pla")))
    assert (found.input_names, found.output_names) == (wanted.inputs, wanted.outputs)
    zero, one = unpack(found.on.zero, 5), unpack(found.on.one, 5)
    outputs = unpack(found.on.out, 3)
    for row in range(32):
        word = tuple(row >> k & 1 for k in reversed(range(5)))
        hit = [all((o if bit else z) for bit, z, o in zip(word, zs, os, strict=True))
               for zs, os in zip(zero, one, strict=True)]  # fmt: skip
        made = tuple(int(any(h and out[k] for h, out in zip(hit, outputs, strict=True)))
                     for k in range(3))  # fmt: skip
        assert made == evaluate(wanted.network, word)


def test_paper_mode_has_a_pla_a_term_and_compact_mode_none() -> None:
    program = arm("paper", 4)
    files = export_texts(program, "pla")
    names = [term.name for output in program.outputs for term in output.terms]
    assert sorted(files) == sorted(f"{name}.pla" for name in names)
    with pytest.raises(UsageError, match="logic many levels: a PLA has two; at most 16 bits"):
        export_texts(arm("compact", 4), "pla")


@pytest.mark.parametrize(
    ("target", "options", "sentence"),
    [
        ("blif", Options(pipeline=2), "BLIF has no registers: leave out --pipeline"),
        ("aiger", Options(test_bench=True), "no test bench for AIGER"),
        ("c", Options("gates"), "C99 is written as words"),
        ("vhdl", Options(pipeline=65), "1 to 64 stages, not 65"),
    ],
)
def test_what_a_target_cannot_do_is_a_sentence(
    target: str, options: Options, sentence: str
) -> None:
    with pytest.raises(UsageError, match=sentence):
        export_texts(tiny(), target, None, options)


def test_a_target_that_is_none_gets_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'verilog'"):
        writer("verilgo")
