"""A cover as a netlist of two levels, BLIF or Verilog, with every shared product there once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.twolevel.cubes import Cubes

ONE = "1'b1"
_SIMPLE = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*")
# Every word of the language looks so: names that do, too, are escaped, which changes no name.
_LIKE_A_WORD = re.compile(r"[a-z][a-z_]+[01]?")


class Signals(NamedTuple):
    """Names of inputs and outputs as the PLA has them, or x0…, y0…, and of products beside them."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    products: tuple[str, ...]


def signals(
    cubes: Cubes,
    input_names: tuple[str, ...] | None = None,
    output_names: tuple[str, ...] | None = None,
) -> Signals:
    """Return a name for everything, each once; none that makes a line of BLIF go on."""
    inputs = input_names or tuple(f"x{k}" for k in range(cubes.inputs))
    outputs = output_names or tuple(f"y{k}" for k in range(cubes.outputs))
    taken: set[str] = set()
    inputs = _each_once(inputs, taken)
    outputs = _each_once(outputs, taken)
    return Signals(inputs, outputs, _each_once([f"p{k}" for k in range(len(cubes))], taken))


def _each_once(names: Sequence[str], taken: set[str]) -> tuple[str, ...]:
    found = []
    for name in map(_closed, names):
        own, count = name, 1
        while own in taken:
            count += 1
            own = f"{name}_{count}"
        taken.add(own)
        found.append(own)
    return tuple(found)


def _closed(name: str) -> str:
    r"""Return a name that may end a line of BLIF, which goes on after a \."""
    return f"{name}_" if name.endswith("\\") else name


def blif(cubes: Cubes, names: Signals, phase: Sequence[bool], title: str) -> str:
    """Return a BLIF model: a node for every product of several outputs, one for every output."""
    rows = cubes.rows()
    shared = {k for k, (_, owners) in enumerate(rows) if owners.count("1") > 1}
    lines = [
        f".model {_closed(title)}",
        _listed(".inputs", names.inputs),
        _listed(".outputs", names.outputs),
    ]
    for k in sorted(shared):
        lines += _node(rows[k][0], names.inputs, names.products[k])
    for j, output in enumerate(names.outputs):
        mine = [k for k, (_, owners) in enumerate(rows) if owners[j] == "1"]
        common = [k for k in mine if k in shared]
        read = [names.products[k] for k in common]
        lines.append(" ".join([".names", *names.inputs, *read, output]))
        value = "1" if phase[j] else "0"
        for k in mine:
            term = "-" * cubes.inputs if k in shared else rows[k][0]
            flags = "".join("1" if other == k else "-" for other in common)
            lines.append(f"{term}{flags} {value}".strip())
        if not mine and not phase[j]:
            lines.append(f"{'-' * cubes.inputs} 1".strip())
    return "\n".join([*lines, ".end", ""])


def _listed(key: str, names: Sequence[str]) -> str:
    return " ".join([key, *names])


def _node(term: str, inputs: Sequence[str], product: str) -> list[str]:
    """Return a product over the inputs that it reads."""
    read = [k for k, letter in enumerate(term) if letter != "-"]
    head = " ".join([".names", *(inputs[k] for k in read), product])
    return [head, f"{''.join(term[k] for k in read)} 1".strip()]


def verilog(cubes: Cubes, names: Signals, phase: Sequence[bool], title: str) -> str:
    """Return a Verilog module: a wire for every product, an assignment for every output."""
    rows = cubes.rows()
    inputs, outputs, products = (tuple(map(legal, own)) for own in names)
    ports = ",\n".join(
        [
            *(f"  input wire {name}" for name in inputs),
            *(f"  output wire {name}" for name in outputs),
        ]
    )
    lines = [f"module {legal(title)} (", ports, ");"]
    for (term, _), product in zip(rows, products, strict=True):
        literals = [
            name if letter == "1" else f"~{name}"
            for letter, name in zip(term, inputs, strict=True)
            if letter != "-"
        ]
        lines.append(f"  wire {product} = {' & '.join(literals) or ONE};")
    for j, output in enumerate(outputs):
        mine = [products[k] for k, (_, owners) in enumerate(rows) if owners[j] == "1"]
        total = " | ".join(mine) or "1'b0"
        lines.append(f"  assign {output} = {total if phase[j] else f'~({total})'};")
    return "\n".join([*lines, "endmodule", ""])


def legal(name: str) -> str:
    """Return a name as Verilog takes it: escaped, with the space that ends it, where it must be."""
    if _SIMPLE.fullmatch(name) and not _LIKE_A_WORD.fullmatch(name):
        return name
    printable = "".join(letter if "!" <= letter <= "~" else "_" for letter in name)
    return f"\\{printable} "
