"""BLIF, AIGER and PLA: what is written reads back, and small programs have two levels."""

import pytest
from targets.exported import arm, tiny

from boolcomp.base import UsageError
from boolcomp.logic import (
    AND2,
    CONSTANTS,
    Builder,
    Netlist,
    equivalent,
    evaluate,
    parse_aiger,
    read_netlist,
    render_netlist,
)
from boolcomp.program import Program
from boolcomp.targets import ExportOptions, export_texts, netlist_of
from boolcomp.twolevel import parse


def content(program: Program, target: str) -> str | bytes:
    (found,) = export_texts(program, target).values()
    return found


def test_names_that_become_equal_are_numbered_in_time_that_grows_like_them() -> None:
    count = 30_000  # counting from 2 for each would take 450 million steps
    names = tuple(chr(0x4E00 + k % 20_000) + "\u00e9" * (1 + k // 20_000) for k in range(count))
    network = Builder(count).build([2 * CONSTANTS])
    text = render_netlist(Netlist("m", names, ("y",), network))
    found = read_netlist(text).inputs
    assert found[:3] == ("__", "___2", "___3")
    assert len(set(found)) == count


@pytest.mark.parametrize(
    ("names", "node"),
    [(("a", "b"), "n0"), (("n0", "nna"), "nnn0"), (("n" * 3_000_000, "a"), "b0")],
)
def test_nodes_have_names_that_begin_like_no_other(names: tuple[str, str], node: str) -> None:
    builder = Builder(2)
    both = builder.node(AND2, builder.input(0), builder.input(1))
    text = render_netlist(Netlist("m", names, ("y",), builder.build([both])))
    assert text.splitlines()[-3] == f".names {node} y"
    assert read_netlist(text).inputs == names


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "bits"), [("paper", 4), ("compact", 6)])
def test_the_arm_comes_back_from_every_netlist(mode: str, bits: int) -> None:
    program = arm(mode, bits)
    wanted, _ = netlist_of(program, None)
    assert read_netlist(str(content(program, "blif"))) == wanted
    text = content(program, "aiger-ascii")
    data = content(program, "aiger")
    assert isinstance(text, str)
    assert isinstance(data, bytes)
    assert parse_aiger(text.encode()) == parse_aiger(data)
    assert parse_aiger(data).inputs == wanted.inputs
    assert equivalent(parse_aiger(data).network, wanted.network).holds


def test_a_pla_of_a_tiny_program_has_its_outputs() -> None:
    program = tiny()
    wanted, _ = netlist_of(program, None)
    found = parse(str(content(program, "pla")))
    assert (found.input_names, found.output_names) == (wanted.inputs, wanted.outputs)
    for row in range(32):
        word = tuple(row >> k & 1 for k in reversed(range(5)))
        point = f"{row:05b}"
        met = [owners for term, owners in found.on.rows()
               if all(a in ("-", b) for a, b in zip(term, point, strict=True))]  # fmt: skip
        made = tuple(int(any(owners[k] == "1" for owners in met)) for k in range(3))
        assert made == evaluate(wanted.network, word)


def test_paper_mode_has_a_pla_a_term_and_compact_mode_none() -> None:
    program = arm("paper", 4)
    files = export_texts(program, "pla")
    names = [term.name for output in program.outputs for term in output.terms]
    assert sorted(files) == sorted(f"{name}.pla" for name in names)
    with pytest.raises(
        UsageError, match="machado-2r has 23 input bits, and PLA files at most 16; compile"
    ):
        export_texts(arm("compact", 4), "pla")


@pytest.mark.parametrize(
    ("target", "options", "message"),
    [
        ("blif", ExportOptions(pipeline=2), "BLIF has no registers; leave out --pipeline"),
        ("aiger", ExportOptions(test_bench=True), "no test bench for AIGER"),
        ("c", ExportOptions("gates"), "C99 is written as words"),
        ("vhdl", ExportOptions(pipeline=65), "1 to 64 stages, not 65"),
        ("vhdl", ExportOptions(luts=4), "leave out --luts"),
        ("verilog", ExportOptions(luts=3), "4, 5, 6|4, 5 or 6|4, 5 and 6"),
        ("verilog", ExportOptions("words"), "tiny arm has no word graph"),
        ("vhdl", ExportOptions(cocotb=True), "no test in cocotb for VHDL-93; leave out --cocotb"),
        ("verilgo", ExportOptions(), "did you mean 'verilog'"),
    ],
)
def test_an_export_that_a_target_does_not_have_is_refused(
    target: str, options: ExportOptions, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        export_texts(tiny(), target, None, options)
