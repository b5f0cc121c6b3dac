"""Networks as text, one node a line; reading what was written gives the same network.

network 3 inputs 2 outputs 2 nodes
n0 = i0 & ~i1
n1 = i2 | ~i1 & n0
outputs n1 n0
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from boolcomp.common.errors import DataError, shown
from boolcomp.logic import luts
from boolcomp.logic.network import CONSTANTS, Network, Node

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST_LINE = 200  # characters of a node: three times what any takes
_NETWORK_HEAD = re.compile(r"network (\d{1,7}) inputs (\d{1,7}) outputs (\d{1,8}) nodes")
_SIGNAL = re.compile(r"[in](?:0|[1-9]\d{0,8})")
_TABLE = re.compile(r"0x([0-9A-F]{2})\(([^()]*)\)")


def render_network(network: Network) -> str:
    """Return the text of a network."""
    first = CONSTANTS + network.inputs
    names = ["0", "1", *(f"i{k}" for k in range(network.inputs))]
    names += [f"n{k}" for k in range(len(network.nodes))]
    sizes = (network.inputs, len(network.outputs), len(network.nodes))
    lines = ["network {} inputs {} outputs {} nodes".format(*sizes)]
    for signal, (lut, operands) in enumerate(network.nodes, first):
        lines.append(f"{names[signal]} = {_pattern(lut)(*(names[k] for k in operands))}")
    lines.append(" ".join(["outputs", *(names[k] for k in network.outputs)]))
    return "\n".join(lines) + "\n"


@cache
def _pattern(lut: int) -> Callable[..., str]:
    """Return the formula of a table as a format over its operands."""
    text = luts.formula(lut)
    if text.startswith("0x"):
        return lambda *names: f"{text}({', '.join(names)})"
    for place, letter in enumerate("abc"):
        text = text.replace(letter, f"{{{place}}}")
    return text.format


def parse_network(text: str, where: str = "network") -> Network:
    """Read what `render_network` wrote; a `DataError` names the line that is wrong."""
    head = _NETWORK_HEAD.fullmatch(text[:LONGEST_LINE].partition("\n")[0])
    if head is None:
        raise DataError(f"{where}:1: a network begins 'network N inputs N outputs N nodes'")
    inputs, outputs, count = (int(number) for number in head.groups())
    ends = text.count("\n")
    if ends != count + 2 or not text.endswith("\n"):
        raise DataError(f"{where}: {count} nodes need {count + 2} lines, not {ends}")
    lines = text.split("\n")
    nodes = []
    for place, line in enumerate(lines[1:-2]):
        name, _, formula = line.partition(" = ")
        good = name == f"n{place}" and len(line) <= LONGEST_LINE
        node = _parse_node(formula, inputs) if good else None
        if node is None:
            raise DataError(f"{where}:{place + 2}: {shown(line)} is no line for node n{place}")
        nodes.append(node)
    word, *names = lines[-2].split(" ")
    signals = [_parse_signal(name, inputs) for name in names]
    if word != "outputs" or len(names) != outputs or None in signals:
        raise DataError(f"{where}:{count + 2}: expected 'outputs' and {outputs} signals")
    try:
        return Network(inputs, tuple(nodes), tuple(s for s in signals if s is not None))
    except ValueError as error:
        raise DataError(f"{where}: {error}") from error


def _parse_signal(name: str, inputs: int) -> int | None:
    if name in ("0", "1"):
        return int(name)
    if not _SIGNAL.fullmatch(name):
        return None
    if name[0] == "n":
        return CONSTANTS + inputs + int(name[1:])
    return CONSTANTS + int(name[1:]) if int(name[1:]) < inputs else None


def _parse_node(text: str, inputs: int) -> Node | None:
    """Return the node of a formula; operands must be written in rising order."""
    table = _TABLE.fullmatch(text)
    names = table[2].split(", ") if table else _SIGNAL.findall(text)
    signals = {name: _parse_signal(name, inputs) for name in names}
    if not 1 <= len(names) <= 3 or len(signals) != len(names) or None in signals.values():
        return None
    operands = tuple(sorted(s for s in signals.values() if s is not None))
    if table:
        known = luts.formula(int(table[1], 16)).startswith("0x")
        in_order = operands == tuple(signals.values())
        return Node(int(table[1], 16), operands) if known and in_order else None
    letter = {signal: "abc"[k] for k, signal in enumerate(operands)}
    pattern = _SIGNAL.sub(lambda match: letter[signals[match[0]] or 0], text)
    lut = luts.tables_by_formula().get(pattern)
    return None if lut is None else Node(lut, operands)
