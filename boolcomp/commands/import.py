"""`boolcomp import`: BLIF and AIGER networks as LUT3 networks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from boolcomp.base.errors import UsageError, listing, shown
from boolcomp.base.files import read_bytes, read_text, write_output
from boolcomp.commands.options import FilePath, json_option, print_result

if TYPE_CHECKING:
    from pathlib import Path

    from boolcomp.logic.formats import Netlist

READ = (".blif", ".aig", ".aag")
WRITTEN = (*READ, ".txt")


@click.command("import", epilog="Example: boolcomp import adder.blif -o adder.aig")
@click.argument("file", type=FilePath())
@click.option("-o", "--output", required=True, type=FilePath(), help=f"File: {listing(WRITTEN)}.")
@json_option
def command(file: Path, output: Path) -> None:
    """Read FILE (.blif, .aig, .aag) and write its logic as LUT3 nodes.

    .txt is the format of networks in program folders: one node per line, without names. Only
    combinational logic is supported: files with latches or subcircuits are rejected.
    """
    _check(file, READ)
    _check(output, WRITTEN)
    from boolcomp.logic.order import merged

    read = _read(file)
    netlist = replace(read, network=merged(read.network))
    _write(netlist, output)
    network = netlist.network
    document = {
            "name": netlist.name, "inputs": network.inputs, "outputs": len(network.outputs),
            "nodes": len(network.nodes), "depth": network.depth, "output": str(output),
        }  # fmt: skip
    text = (
        f"{len(network.nodes)} LUT3 nodes, depth {network.depth}: "
        f"{network.inputs} inputs, {len(network.outputs)} outputs"
    )
    print_result(document, text, err=True)


def _check(path: Path, allowed: tuple[str, ...]) -> None:
    if path.suffix not in allowed:
        raise UsageError(
            f"{shown(str(path))} has an unknown ending",
            f"the file name must end in {listing(allowed)}", where=shown(str(path)),
        )  # fmt: skip


def _read(path: Path) -> Netlist:
    from boolcomp.logic import formats
    from boolcomp.logic.formats import MOST_BYTES

    if path.suffix == ".blif":
        return formats.read_netlist(read_text(path, MOST_BYTES), str(path))
    return formats.parse_aiger(read_bytes(path, MOST_BYTES), str(path))


def _write(netlist: Netlist, path: Path) -> None:
    from boolcomp.logic import formats
    from boolcomp.logic.network import render_network

    if path.suffix == ".blif":
        write_output(path, formats.render_netlist(netlist))
    elif path.suffix == ".aag":
        write_output(path, formats.render_ascii(netlist))
    elif path.suffix == ".aig":
        write_output(path, formats.render_binary(netlist))
    else:
        write_output(path, render_network(netlist.network))
