"""Exports as look-up tables: read back, simulated, the same bytes again."""

import re
import shutil
from typing import Any

import pytest
from targets.exported import arm, tiny

from boolcomp.logic import equivalent, read_netlist
from boolcomp.measure import SIMULATIONS, read_gates, simulated
from boolcomp.targets import ExportOptions, export_texts, netlist_of


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


@pytest.mark.check
@pytest.mark.parametrize(("inputs", "stages"), [(4, 3), (6, 0)])
def test_verilog_of_tables_is_read_back_as_the_program(inputs: int, stages: int) -> None:
    program = arm("compact", 4)
    options = ExportOptions(luts=inputs, pipeline=stages)
    (text,) = export_texts(program, "verilog", None, options).values()
    assert equivalent(read_gates(str(text)).network, netlist_of(program, None)[0].network).holds
    assert export_texts(program, "verilog", None, options) == {"machado_2r.v": text}


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
