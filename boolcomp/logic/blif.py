"""Networks as BLIF, and back: `parse(render(network))` is the same network.

Inputs are i0, i1, …, nodes n0, n1, …, outputs o0, o1, …; every node is a `.names` of its ON set.
The reader takes what ABC writes: any names, nodes in any order, ON or OFF sets, at most three
inputs a node.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import TYPE_CHECKING

from boolcomp.common.errors import DataError
from boolcomp.logic import luts
from boolcomp.logic.network import CONSTANTS, Builder, Network, Node, copied

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MOST_FAN_IN = 3
_IGNORED = (".default_input_arrival", ".default_output_required", ".area", ".delay")


@dataclass(frozen=True, slots=True)
class _Names:
    """One `.names` of a file: the line it stands in, its signals, its table."""

    line: int
    operands: tuple[str, ...]
    lut: int


def render(network: Network, model: str = "network") -> str:
    """Return a network as BLIF."""
    names = ["", "", *(f"i{k}" for k in range(network.inputs))]
    names += [f"n{k}" for k in range(len(network.nodes))]
    lines = [f".model {model}", _words(".inputs", names[CONSTANTS : CONSTANTS + network.inputs])]
    lines.append(_words(".outputs", [f"o{k}" for k in range(len(network.outputs))]))
    for place, (lut, operands) in enumerate(network.nodes):
        lines.append(_words(".names", [*(names[k] for k in operands), f"n{place}"]))
        lines.append(_cover(lut, len(operands)))
    for place, signal in enumerate(network.outputs):
        if signal < CONSTANTS:
            lines += [f".names o{place}", *["1"] * signal]
        else:
            lines += [f".names {names[signal]} o{place}", "1 1"]
    return "\n".join([*lines, ".end"]) + "\n"


def _words(keyword: str, names: Iterable[str]) -> str:
    return " ".join([keyword, *names])


@cache
def _cover(lut: int, operands: int) -> str:
    """Return the ON set of a table, one point a line."""
    shift = 3 - operands  # the first operands are the high bits of a row's number
    rows = (row for row in range(1 << operands) if lut >> (row << shift) & 1)
    return "\n".join(f"{row:0{operands}b} 1" for row in rows)


def parse(text: str, where: str = "BLIF") -> Network:
    """Read a network node for node; a `DataError` says where a file is wrong."""
    inputs, outputs, names = _read(text, where)
    signals: dict[str, int] = {name: CONSTANTS + k for k, name in enumerate(inputs)}
    nodes: list[Node] = []
    for name in _in_order(signals, outputs, names, where):
        node = _node(names[name], signals)
        if isinstance(node, int):
            signals[name] = node
        else:
            signals[name] = CONSTANTS + len(inputs) + len(nodes)
            nodes.append(node)
    wanted = tuple(signals[name] for name in outputs)
    try:
        return Network(len(inputs), tuple(nodes), wanted)
    except ValueError:  # equal, useless or degenerate nodes: legal BLIF, but no normal form
        return _normalised(len(inputs), nodes, wanted)


def clean(network: Network) -> Network:
    """Return a network rebuilt: inverters and constants absorbed, equal nodes made once."""
    builder = Builder(network.inputs)
    literals = [builder.input(k) for k in range(network.inputs)]
    return builder.build(copied(network, builder, literals))


def _normalised(inputs: int, nodes: list[Node], outputs: tuple[int, ...]) -> Network:
    builder = Builder(inputs)
    literals = [0, 2, *(builder.input(k) for k in range(inputs))]
    for lut, operands in nodes:
        literals.append(builder.node(lut, *(literals[k] for k in operands)))
    return builder.build(literals[k] for k in outputs)


def _node(names: _Names, signals: dict[str, int]) -> Node | int:
    """Return a node with rising operands, or the signal that a constant or a buffer is."""
    operands = [signals[name] for name in names.operands]
    lut = names.lut
    if lut in (0, luts.ALL):
        return lut & 1
    if len(operands) == 1 and lut == luts.FIRST:
        return operands[0]
    order = sorted(range(len(operands)), key=operands.__getitem__)
    tables = [luts.FIRST, luts.SECOND, luts.THIRD]
    for new, old in enumerate(order):
        tables[old] = luts.LETTERS[new]
    lut = luts.compose(lut, (tables[0], tables[1], tables[2]))
    return Node(lut, tuple(operands[k] for k in order))


def _in_order(
    inputs: Iterable[str], outputs: list[str], names: dict[str, _Names], where: str
) -> Iterator[str]:
    """Yield the needed names so that each comes after its operands; file order where possible."""
    state = dict.fromkeys(inputs, 2)  # 1: being visited, 2: done
    needed = _needed(inputs, outputs, names, where)
    for root in (name for name in names if name in needed):
        stack = [root]
        while stack:
            name = stack[-1]
            if state.get(name, 0) == 2:
                stack.pop()
                continue
            missing = [k for k in names[name].operands if state.get(k, 0) != 2]
            if not missing:
                state[name] = 2
                stack.pop()
                yield name
                continue
            state[name] = 1
            if any(state.get(k, 0) == 1 for k in missing):
                raise DataError(f"{where}:{names[name].line}: {name} depends on itself")
            stack += missing


def _needed(
    inputs: Iterable[str], outputs: list[str], names: dict[str, _Names], where: str
) -> set[str]:
    known = set(inputs)
    needed: set[str] = set()
    stack = [(name, 0) for name in outputs]
    while stack:
        name, line = stack.pop()
        if name in known or name in needed:
            continue
        if name not in names:
            place = f"{where}:{line}" if line else where
            raise DataError(f"{place}: {name} is neither an input nor defined by .names")
        needed.add(name)
        stack += [(k, names[name].line) for k in names[name].operands]
    return needed


def _logical_lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, words) without comments, continued lines joined."""
    words: list[str] = []
    first = 0
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.partition("#")[0].rstrip()
        first = first or number
        words += line.removesuffix("\\").split()
        if line.endswith("\\"):
            continue
        if words:
            yield first, words
        words, first = [], 0
    if words:
        yield first, words


def _read(text: str, where: str) -> tuple[list[str], list[str], dict[str, _Names]]:
    """Return the inputs, the outputs and every `.names` by the signal it defines."""
    ports: dict[str, list[str]] = {".inputs": [], ".outputs": []}
    names: dict[str, _Names] = {}
    rows: list[tuple[int, list[str]]] = []
    head: tuple[int, list[str]] | None = None
    ended = False
    for line, words in [*_logical_lines(text), (0, [".end of text"])]:
        if not words[0].startswith("."):
            if head is None:
                raise DataError(f"{where}:{line}: {' '.join(words)!r} belongs to no .names")
            rows.append((line, words))
            continue
        if head is not None:
            _define(head, rows, names, where)
        head, rows = None, []
        if ended and line:
            raise DataError(f"{where}:{line}: {words[0]} stands after .end")
        if words[0] == ".names":
            head = (line, words[1:])
        elif words[0] in ports:
            ports[words[0]] += words[1:]
        elif line and words[0] not in (".model", ".end", *_IGNORED):
            raise DataError(f"{where}:{line}: {words[0]} is not combinational logic of .names")
        ended = ended or words[0] == ".end"
    _check_ports(ports[".inputs"], names, where, ended=ended)
    return ports[".inputs"], ports[".outputs"], names


def _check_ports(inputs: list[str], names: dict[str, _Names], where: str, *, ended: bool) -> None:
    if not ended:
        raise DataError(f"{where}: the file has no .end: it is cut off")
    if len(set(inputs)) != len(inputs):
        raise DataError(f"{where}: an input is named twice")
    if clash := set(inputs) & set(names):
        raise DataError(f"{where}: {min(clash)} is an input and defined by .names")


def _define(
    head: tuple[int, list[str]],
    rows: list[tuple[int, list[str]]],
    names: dict[str, _Names],
    where: str,
) -> None:
    line, words = head
    if not words:
        raise DataError(f"{where}:{line}: .names without a signal")
    *operands, name = words
    if name in names:
        raise DataError(f"{where}:{line}: {name} is defined twice")
    if len(operands) > MOST_FAN_IN:
        raise DataError(f"{where}:{line}: {name} has {len(operands)} inputs, at most 3 are allowed")
    texts = tuple(" ".join(row) for _, row in rows)
    try:
        names[name] = _Names(line, tuple(operands), _table(texts, len(operands)))
    except ValueError as error:
        raise DataError(f"{where}:{line}: {name}: {error}") from error


@cache
def _table(rows: tuple[str, ...], operands: int) -> int:
    """Return the table of the rows of a `.names`, a function of its first operands."""
    points: set[str] = set()
    values = set()
    for row in rows:
        cube, _, value = row.rpartition(" ")
        if len(cube) != operands or set(cube) - set("01-") or value not in ("0", "1"):
            raise ValueError(f"{row!r} is no row of {operands} inputs and an output")
        values.add(value)
        points.update(map("".join, product(*("01" if c == "-" else c for c in cube))))
    if len(values) > 1:
        raise ValueError("rows of the ON set and of the OFF set are mixed")
    lut = 0
    for place in range(8):
        point = f"{place:03b}"[:operands]
        lut |= int((point in points) != (values == {"0"})) << place
    return lut
