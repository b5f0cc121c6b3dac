"""C99, bit-sliced: the logic itself, 64 samples at a time, or 256 and 512 where the machine can.

A plane holds one bit of all samples. The nodes are written once, in a file of their own, which is
included for every width; what an operation is, the width says. Samples of 16 bits are transposed
to planes and back in squares of 16 by 16, four of them in a 64-bit word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.common.errors import UsageError
from boolcomp.logic import luts
from boolcomp.logic.network import CONSTANTS
from boolcomp.logic.order import in_order
from boolcomp.targets.c_header import loads_of
from boolcomp.targets.c_slicing import HEADER, SOURCE
from boolcomp.targets.names import comment
from boolcomp.targets.target import design_of, unread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boolcomp.program.program import Program
    from boolcomp.targets import Files, Options
    from boolcomp.targets.target import Design, Port

WIDEST = 16  # bits of a sample's word
MACROS = {"not": "NOT", "and": "AND", "or": "OR", "xor": "XOR"}


def export_c_sliced(program: Program, load: float | None, options: Options) -> Files:  # noqa: ARG001 (there is one way)
    """Return source, header and nodes of a program's logic, of each of its loads."""
    files: Files = {}
    for name, one in loads_of(program, load):
        design = design_of(program, one.payload)
        for port in (*design.inputs, *design.outputs):
            if port.bits > WIDEST:
                raise UsageError(f"{port.name} has {port.bits} bits: samples have {WIDEST} at most")
        said = {
            "NAME": name, "GUARD": name.upper(), "TITLE": comment(program.name),
            "INPUT_PLANES": str(design.network.inputs),
            "OUTPUT_PLANES": str(len(design.network.outputs)),
            "INPUTS": str(len(design.inputs)), "OUTPUTS": str(len(design.outputs)),
            "GIVEN_WORDS": _about(design.inputs), "MADE_WORDS": _about(design.outputs),
            "GIVEN_BITS": ", ".join(str(port.bits) for port in design.inputs),
            "MADE_BITS": ", ".join(str(port.bits) for port in design.outputs),
        }  # fmt: skip
        files[f"{name}_sliced.h"] = _filled(HEADER, said)
        files[f"{name}_sliced.c"] = _filled(SOURCE, said)
        files[f"{name}_nodes.h"] = "\n".join([*_nodes(design), ""])
    return files


def _about(ports: tuple[Port, ...]) -> str:
    """Return what there is to say of words, and which planes are theirs."""
    lines = []
    place = 0
    for k, port in enumerate(ports):
        planes = f"planes {place} .. {place + port.bits - 1}" if port.bits > 1 else f"plane {place}"
        lines += [f"   {k}: {comment(port.name)}, {planes}", *(f"      {x}" for x in port.notes)]
        place += port.bits
    return "\n".join(lines)


def _filled(text: str, said: dict[str, str]) -> str:
    for word, value in said.items():
        text = text.replace(f"@{word}@", value)
    return text


def _nodes(design: Design) -> Iterator[str]:
    """Yield the lines of the nodes: planes of words come least significant bit first."""
    network = in_order(design.network)
    yield "/* The nodes of the logic, in an order in which few values are needed at a time. */"
    signals = ["ZERO", "ONES", *(f"given[{k}]" for k in _places(design.inputs))]
    for place, (lut, operands) in enumerate(network.nodes):
        yield f"const PLANE n{place} = {_operation(lut, [signals[k] for k in operands])};"
        signals.append(f"n{place}")
    if len(signals) != CONSTANTS + network.inputs + len(network.nodes):
        raise ValueError("ports do not fit their network")
    for place, signal in zip(_places(design.outputs), network.outputs, strict=True):
        yield f"made[{place}] = {signals[signal]};"
    if len(unread(network)) == network.inputs:  # compilers are told that this is meant
        yield "(void)given;"


def _places(ports: tuple[Port, ...]) -> Iterator[int]:
    """Yield the planes of words' bits as the network has them, most significant first."""
    first = 0
    for port in ports:
        yield from reversed(range(first, first + port.bits))
        first += port.bits


def _operation(lut: int, operands: list[str]) -> str:
    """Return a node; one of three operands is a single operation where the machine has those."""
    texts = [*operands, *[""] * (3 - len(operands))]
    for kind, x, y in luts.steps(lut):
        args = texts[x] if kind == "not" else f"{texts[x]}, {texts[y]}"
        texts.append(f"{MACROS[kind]}({args})")
    if len(operands) < 3:
        return texts[-1]
    return f"LUT(0x{lut:02X}, {', '.join(operands)}, {texts[-1]})"
