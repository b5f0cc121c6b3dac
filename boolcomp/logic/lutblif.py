"""BLIF of look-up tables, as mappers write it: tables of up to six inputs stay whole."""

from __future__ import annotations

from boolcomp.common.errors import DataError
from boolcomp.logic import lutnetwork
from boolcomp.logic.formats import in_order, read_names
from boolcomp.logic.lutnetwork import MOST_INPUTS, LutNetwork, narrowed, support
from boolcomp.logic.network import CONSTANTS, Node


def parse_luts(text: str, where: str = "BLIF") -> LutNetwork:
    """Read tables; constants, wires and operands that nothing depends on are absorbed."""
    _, inputs, outputs, names = read_names(text, where, MOST_INPUTS)
    signals: dict[str, int] = {name: CONSTANTS + k for k, name in enumerate(inputs)}
    nodes: list[Node] = []
    for name in in_order(signals, outputs, names, where):
        found = names[name]
        lut = _table(found.wide, len(found.operands)) if found.wide else found.lut
        node = simplified(lut, [signals[k] for k in found.operands])
        if isinstance(node, int):
            signals[name] = node
        else:
            signals[name] = CONSTANTS + len(inputs) + len(nodes)
            nodes.append(node)
    try:
        return LutNetwork(len(inputs), tuple(nodes), tuple(signals[name] for name in outputs))
    except ValueError as error:
        raise DataError(f"{where}: {error}") from error


def simplified(lut: int, operands: list[int]) -> Node | int:
    """Return a table without constants, twins and idle operands; or the signal that it is."""
    count = len(operands)
    for place, signal in enumerate(operands):
        if signal < CONSTANTS:
            lut = lutnetwork.cofactors(lut, count, place)[signal]
        elif signal in operands[:place]:
            twin = lutnetwork.row(count, operands.index(signal))
            zero, one = lutnetwork.cofactors(lut, count, place)
            lut = zero & ~twin | one & twin
    places = support(lut, count)
    if not places:
        return lut & 1
    lut = narrowed(lut, count, places)
    kept = tuple(operands[k] for k in places)
    if len(kept) == 1 and lut == lutnetwork.row(1, 0):
        return kept[0]
    return Node(lut, kept)


def _table(rows: tuple[str, ...], operands: int) -> int:
    """Return the table of rows of an ON set, or of an OFF set, of more than three operands."""
    whole = (1 << (1 << operands)) - 1
    found = 0
    for text in rows:
        cube = whole
        for place, letter in enumerate(text.partition(" ")[0]):
            high = lutnetwork.row(operands, place)
            if letter != "-":
                cube &= high if letter == "1" else ~high & whole
        found |= cube
    return ~found & whole if rows and rows[0].endswith("0") else found
