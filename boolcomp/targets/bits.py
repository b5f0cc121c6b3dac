"""A network as assignments of bits, 0 or 1, in any language with `&`, `|`, `^` and shifts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.logic import luts
from boolcomp.logic.network import CONSTANTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from boolcomp.logic.network import Network
    from boolcomp.targets.names import Names

OPERATORS = {"and": "&", "or": "|", "xor": "^"}


def formula(lut: int, operands: Sequence[str]) -> str:
    """Return a table over operands as a formula in brackets."""
    texts = [*operands, *[""] * (3 - len(operands))]
    for kind, x, y in luts.steps(lut):
        if kind == "not":
            texts.append(f"(1 ^ {texts[x]})")
        else:
            texts.append(f"({texts[x]} {OPERATORS[kind]} {texts[y]})")
    return texts[-1]


def bit_assignments(
    network: Network,
    given: Mapping[str, int],
    made: Mapping[str, int],
    names: Names,
    flags_name: str = "saturated",
) -> Iterator[tuple[str, str]]:
    """Yield names and formulas: the bits of what is given, nodes, words made, what saturated.

    Words are names and their bits; the network's outputs are, for every word, its bits, most
    significant first, and whether it saturated, which is bit k of a word of flags for word k.
    """
    for name in (*given, *made):
        names.new(name)
    signals = ["0", "1"]
    used = {k for node in network.nodes for k in node.operands} | {*network.outputs}
    for name, bits in given.items():
        for k in reversed(range(bits)):
            bit = names.new(f"{name}_{k}")
            if len(signals) in used:
                yield bit, f"{name} >> {k} & 1"
            signals.append(bit)
    if len(signals) != CONSTANTS + network.inputs:
        raise ValueError("words do not fit their network")
    for place, (lut, operands) in enumerate(network.nodes):
        node = names.new(f"n{place}")
        yield node, formula(lut, [signals[k] for k in operands])[1:-1]
        signals.append(node)
    outputs = [signals[k] for k in network.outputs]
    flags = []
    for k, (name, bits) in enumerate(made.items()):
        word, flag, outputs = outputs[:bits], outputs[bits], outputs[bits + 1 :]
        yield name, " | ".join(f"{bit} << {bits - 1 - i}" for i, bit in enumerate(word))
        if flag != "0":
            flags.append(f"{flag} << {k}")
    yield flags_name, " | ".join(flags) or "0"
