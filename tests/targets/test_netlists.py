"""BLIF, AIGER and PLA: what is written reads back, and small programs have two levels."""

import re
import shutil
from typing import Any

import pytest
from targets.exported import arm, tiny

from boolcomp.base import UsageError
from boolcomp.logic import (
    CONSTANTS,
    Builder,
    Netlist,
    equivalent,
    evaluate,
    parse_aiger,
    read_netlist,
    render_netlist,
)
from boolcomp.measure import SIMULATIONS, read_gates, simulated
from boolcomp.program import Program
from boolcomp.targets import ExportOptions, export_texts, netlist_of
from boolcomp.twolevel import parse


def content(program: Program, target: str) -> str | bytes:
    (found,) = export_texts(program, target).values()
    return found


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


def test_names_that_become_equal_are_numbered_in_time_that_grows_like_them() -> None:
    count = 30_000  # counting from 2 for each would take 450 million steps
    names = tuple(chr(0x4E00 + k % 20_000) + "\u00e9" * (1 + k // 20_000) for k in range(count))
    network = Builder(count).build([2 * CONSTANTS])
    text = render_netlist(Netlist("m", names, ("y",), network))
    found = read_netlist(text).inputs
    assert found[:3] == ("__", "___2", "___3")
    assert len(set(found)) == count


@pytest.mark.slow
@pytest.mark.parametrize("inputs", [4, 6])
def test_blif_of_tables_is_proved_to_be_the_program(inputs: int) -> None:
    program = arm("compact", 4)
    (text,) = export_texts(program, "blif", None, ExportOptions(luts=inputs)).values()
    assert isinstance(text, str)
    found = read_netlist(text)
    assert equivalent(found.network, netlist_of(program, None)[0].network).holds
    widest = max(len(line.split()) - 2 for line in text.splitlines() if line.startswith(".names"))
    assert 3 < widest <= inputs
    assert found.inputs[0] == "q1[5]"


def test_a_wrong_entry_of_a_table_is_seen_by_the_reader() -> None:
    (text,) = export_texts(tiny(), "verilog", None, ExportOptions(luts=4)).values()
    entries = re.search(r"#\(16'h(\w+)\)", str(text))
    assert entries is not None
    wrong = f"{int(entries[1], 16) ^ 1:04x}"
    other = str(text).replace(f"#(16'h{entries[1]})", f"#(16'h{wrong})", 1)
    found = equivalent(read_gates(other).network, netlist_of(tiny(), None)[0].network)
    assert found.verdict == "different"


@pytest.mark.slow
@pytest.mark.parametrize("tool", SIMULATIONS[:2], ids=lambda one: one.name)
@pytest.mark.parametrize("inputs", [4, 5, 6])
def test_simulators_take_tables_without_a_warning(tool: Any, inputs: int) -> None:
    if shutil.which(tool.tool) is None:
        pytest.skip(f"{tool.tool} is not installed")
    files = export_texts(tiny(), "verilog", None, ExportOptions(luts=inputs, test_bench=tool.bench))
    check = simulated("tables", tool, files, 60.0)
    assert check.holds, check.note
