"""Logic as a network of look-up tables: hash-consed, immutable, with one traversal.

A signal is a number: 0 and 1 are the constants, then come the inputs, then the nodes in topological
order. A node is the truth table of its operands, which are earlier signals. Networks of LUT3 (nodes
of at most three operands) are in a normal form. Operands are not constant, distinct and rising; no
node ignores an operand; no two nodes are equal; every node is needed. So equal construction gives
equal networks. Networks of wider tables are mappings for FPGAs: their operands may be in any
order, and nodes may be equal or idle.

Every operation on a network (evaluate, count, lower, prove) is a `NodeAlgebra` for `fold`.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, permutations, product
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeVar

from boolcomp.base.errors import DataError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

# --------------------------------------------------------------------------------------------------
# Truth tables of up to three inputs, as 8-bit numbers. Bit `4a + 2b + c` of a table is its value at
# inputs a, b, c (as in the AVX-512 instruction `vpternlog`). A function of fewer inputs uses the
# first ones and ignores the others, so every table can be evaluated with three operands. A table of
# n > 3 operands has 2^n bits in the same order: the first operand is most significant.
# --------------------------------------------------------------------------------------------------

FIRST, SECOND, THIRD = 0xF0, 0xCC, 0xAA
LETTERS = (FIRST, SECOND, THIRD)
ALL = 0xFF
AND2, AND3, OR2, OR3 = 0xC0, 0x80, 0xFC, 0xFE
NOT1, XOR2, XOR3, MAJ3 = 0x0F, 0x3C, 0x96, 0xE8
AND_OR = 0xF8  # a | b & c
MUX = 0xCA  # b if a else c

Kind = Literal["not", "and", "or", "xor"]
# (kind, x, y): x and y are 0, 1, 2 for the inputs, 3 and up for the steps before.
Step = tuple[Kind, int, int]


@cache
def letter(place: int, operands: int = 3) -> int:
    """Return the table of an operand."""
    if operands <= 3:
        return LETTERS[place]
    block = 1 << (operands - 1 - place)
    return sum(((1 << block) - 1) << k for k in range(block, 1 << operands, 2 * block))


@cache
def cofactors(lut: int, place: int, operands: int = 3) -> tuple[int, int]:
    """Return the tables with one input fixed at 0 and at 1, still of all inputs."""
    high = letter(place, operands)
    shift = (1 << max(operands, 3) - 1) >> place
    low, one = lut & ~high, lut & high
    return low | low << shift, one | one >> shift


@cache
def depends(lut: int, place: int, operands: int = 3) -> bool:
    """Tell whether a table depends on an input."""
    zero, one = cofactors(lut, place, operands)
    return zero != one


@cache
def support(lut: int, operands: int = 3) -> tuple[int, ...]:
    return tuple(k for k in range(max(operands, 3)) if depends(lut, k, operands))


def entries(lut: int, operands: int) -> list[int]:
    """Return the values of a table, first that for operands that are all 0."""
    apart = max(0, 3 - operands)
    return [lut >> (k << apart) & 1 for k in range(1 << operands)]


@cache
def inverted(lut: int, place: int) -> int:
    """Return the table with one input inverted."""
    zero, one = cofactors(lut, place)
    high = LETTERS[place]
    return zero & high | one & ~high & ALL


@cache
def compose(lut: int, inputs: tuple[int, int, int]) -> int:
    """Return the table of `lut` over three functions, given as tables."""
    result = 0
    for row in range(8):
        if lut >> row & 1:
            term = ALL
            for k, table in enumerate(inputs):
                term &= table if row >> (2 - k) & 1 else ~table & ALL
            result |= term
    return result


@cache
def formula(lut: int) -> str:
    return _formulas().get(lut, f"0x{lut:02X}")


@cache
def _formulas() -> dict[int, str]:
    """Map the tables of formulas that read each input at most once to these, simplest first."""
    found: dict[int, str] = {0: "0", ALL: "1"}
    literals = [[(t, x), (~t & ALL, f"~{x}")] for t, x in zip(LETTERS, "abc", strict=True)]
    for k in range(3):
        found.update((table, text) for table, text in literals[k])
    found[FIRST ^ SECOND] = "a ^ b"
    found[FIRST ^ SECOND ^ ALL] = "~(a ^ b)"
    for (x, xt), (y, yt) in product(literals[0], literals[1]):
        found.setdefault(x & y, f"{xt} & {yt}")
        found.setdefault(x | y, f"{xt} | {yt}")
    found[XOR3], found[~XOR3 & ALL] = "a ^ b ^ c", "~(a ^ b ^ c)"
    for (x, xt), (y, yt), (z, zt) in product(*literals):
        found.setdefault(x & y & z, f"{xt} & {yt} & {zt}")
        found.setdefault(x | y | z, f"{xt} | {yt} | {zt}")
    for places in permutations(range(3)):
        if places[1] > places[2]:
            continue
        for (x, xt), (y, yt), (z, zt) in product(*(literals[k] for k in places)):
            found.setdefault(x | y & z, f"{xt} | {yt} & {zt}")
            found.setdefault(x & (y | z), f"{xt} & ({yt} | {zt})")
    return found


@cache
def tables_by_formula() -> dict[str, int]:
    return {text: lut for lut, text in _formulas().items()}


@cache
def steps(lut: int) -> tuple[Step, ...]:
    """Return two-input steps that compute a table (not a constant or a bare input); the last is it.

    Shannon's expansion by the cheapest input.
    """
    found: dict[Step, int] = {}
    _expand(lut, found)
    return tuple(found)


def _step(found: dict[Step, int], kind: Kind, x: int, y: int) -> int:
    return found.setdefault((kind, min(x, y), max(x, y)), 3 + len(found))


def _expand(lut: int, found: dict[Step, int]) -> int:
    """Append the steps of a table; return the place of its value."""
    if lut in LETTERS:
        return LETTERS.index(lut)
    if ~lut & ALL in LETTERS:
        place = LETTERS.index(~lut & ALL)
        return _step(found, "not", place, place)
    place = min((k for k in range(3) if depends(lut, k)), key=lambda k: _cost(lut, k))
    return _branch(lut, place, found)


def _branch(lut: int, place: int, found: dict[Step, int]) -> int:
    zero, one = cofactors(lut, place)
    if zero ^ one == ALL:
        return _step(found, "xor", _expand(zero, found), place)
    if zero & ~one == 0 or one & ~zero == 0:  # monotone in this input, or in its inverse
        literal = place if zero & ~one == 0 else _step(found, "not", place, place)
        less, more = (zero, one) if zero & ~one == 0 else (one, zero)
        both = literal
        if more != ALL:
            both = _step(found, "and", literal, _expand(more, found))
        return both if less == 0 else _step(found, "or", both, _expand(less, found))
    # One operation fewer than (x & one) | (~x & zero).
    chosen = _step(found, "and", _expand(zero ^ one, found), place)
    return _step(found, "xor", _expand(zero, found), chosen)


@cache
def _cost(lut: int, place: int) -> tuple[int, int]:
    found: dict[Step, int] = {}
    _branch(lut, place, found)
    # An inverted input is nearly free; an `xor` excludes a plain formula.
    return (len(found), sum(kind == "xor" for kind, _, _ in found))


@cache
def operation_kinds(lut: int) -> tuple[tuple[Kind, int], ...]:
    """Return the number of operations of each kind in `steps`, for kinds that occur."""
    kinds: tuple[Kind, ...] = ("not", "and", "or", "xor")
    counts = ((kind, sum(step[0] == kind for step in steps(lut))) for kind in kinds)
    return tuple((kind, count) for kind, count in counts if count)


# --------------------------------------------------------------------------------------------------
# Networks, and their builder.
# --------------------------------------------------------------------------------------------------

Value = TypeVar("Value")
LUT3, LUT6 = 3, 6  # most operands of a node, in normal form and in mappings
FALSE, TRUE = 0, 1
CONSTANTS = 2


class Node(NamedTuple):
    """A truth table and its operands, which are earlier signals."""

    lut: int
    operands: tuple[int, ...]


class NodeAlgebra(Protocol[Value]):
    """The values that a traversal computes for constants and nodes."""

    def constant(self, value: int) -> Value: ...

    def node(self, lut: int, operands: tuple[Value, ...]) -> Value: ...


@dataclass(frozen=True, slots=True, repr=False)
class Network:
    """Nodes of up to `k` operands in topological order, and the signals that are the outputs."""

    inputs: int
    nodes: tuple[Node, ...]
    outputs: tuple[int, ...]
    k: int = LUT3

    def __post_init__(self) -> None:
        self.check()

    def check(self) -> None:
        """Raise ValueError for invalid nodes, or if a LUT3 network is not in normal form."""
        first, normal = CONSTANTS + self.inputs, self.k == LUT3
        used = set(self.outputs)
        for signal, (lut, operands) in enumerate(self.nodes, first):
            if not 1 <= len(operands) <= self.k:
                raise ValueError(f"node {signal - first} has {len(operands)} inputs, table {lut}")
            if not min(operands) >= CONSTANTS or not max(operands) < signal:
                raise ValueError(f"node {signal - first} reads constants or later nodes")
            if len(set(operands)) < len(operands):
                raise ValueError(f"node {signal - first} reads a signal twice")
            if normal and any(a >= b for a, b in pairwise(operands)):
                raise ValueError(f"the operands of node {signal - first} do not rise")
            if not _normal(lut, len(operands)):
                raise ValueError(f"node {signal - first}: 0x{lut:02X} is not of its operands")
            used.update(operands)
        if not all(0 <= signal < first + len(self.nodes) for signal in self.outputs):
            raise ValueError("an output is no signal of the network")
        if normal and len(set(self.nodes)) != len(self.nodes):
            raise ValueError("two nodes are equal")
        if normal and any(signal not in used for signal in range(first, first + len(self.nodes))):
            raise ValueError("a node is not needed by any output")

    def fold(self, algebra: NodeAlgebra[Value], inputs: Sequence[Value]) -> tuple[Value, ...]:
        """Return the outputs' values, computed node by node in order.

        A value is released after its last use.
        """
        if len(inputs) != self.inputs:
            raise ValueError(f"{len(inputs)} values for {self.inputs} inputs")
        values: list[Value | None] = [algebra.constant(0), algebra.constant(1), *inputs]
        last = self._last_uses()
        for signal, (lut, operands) in enumerate(self.nodes, len(values)):
            values.append(algebra.node(lut, tuple(values[k] for k in operands)))  # type: ignore[misc]
            for k in operands:
                if last[k] == signal:
                    values[k] = None
        return tuple(values[k] for k in self.outputs)  # type: ignore[misc]

    def _last_uses(self) -> list[int]:
        first = CONSTANTS + self.inputs
        last = [0] * (first + len(self.nodes))
        for signal, (_, operands) in enumerate(self.nodes, first):
            for k in operands:
                last[k] = signal
        for k in self.outputs:
            last[k] = len(last)
        return last

    def operations(self) -> dict[str, int]:
        """Count the two-input operations by kind, inversions included."""
        counts: dict[str, int] = {}
        for lut, _ in self.nodes:
            for kind, count in operation_kinds(lut):
                counts[kind] = counts.get(kind, 0) + count
        return dict(sorted(counts.items()))

    @property
    def depth(self) -> int:
        return max(self.fold(DepthAlgebra(), [0] * self.inputs), default=0)

    def __str__(self) -> str:
        return render_network(self)

    def __repr__(self) -> str:
        return (
            f"Network({self.inputs} inputs, {len(self.outputs)} outputs, {len(self.nodes)} nodes)"
        )


class DepthAlgebra:
    """The algebra of depths."""

    def constant(self, value: int) -> int:  # noqa: ARG002 (every constant is at depth 0)
        return 0

    def node(self, lut: int, operands: tuple[int, ...]) -> int:  # noqa: ARG002 (every node counts)
        return 1 + max(operands)


@cache
def _normal(lut: int, operands: int) -> bool:
    """Tell whether a table depends on exactly its first operands (and is no bare operand)."""
    if operands == 1:
        return lut == NOT1
    return not lut >> max(8, 1 << operands) and support(lut, operands) == tuple(range(operands))


class Builder:
    """Builds a network node by node; equal nodes are shared.

    Literals are twice a signal, plus one if the signal is inverted. Inversions are absorbed into
    the tables of the nodes that read them.
    """

    def __init__(self, inputs: int) -> None:
        self.inputs = inputs
        self._nodes: list[Node] = []
        self._known: dict[Node, int] = {}

    @property
    def made(self) -> int:
        return len(self._nodes)

    @property
    def nodes(self) -> tuple[Node, ...]:
        return tuple(self._nodes)

    def input(self, place: int) -> int:
        """Return the literal of an input."""
        if not 0 <= place < self.inputs:
            raise ValueError(f"input {place} of {self.inputs}")
        return 2 * (CONSTANTS + place)

    def node(self, lut: int, *literals: int) -> int:
        """Return the literal of a table over at most three literals, simplified."""
        chosen = [2 * FALSE, 2 * FALSE, 2 * FALSE]
        chosen[: len(literals)] = literals
        for place, literal in enumerate(chosen):
            signal = literal >> 1
            if literal & 1:
                lut = inverted(lut, place)
            if signal < CONSTANTS:
                lut = cofactors(lut, place)[signal]
            elif earlier := [k for k in range(place) if chosen[k] >> 1 == signal]:
                lut = compose(lut, _identified(place, earlier[0]))
        return self._normalised(lut, [literal >> 1 for literal in chosen])

    def _normalised(self, lut: int, signals: list[int]) -> int:
        places = list(support(lut))
        if not places:
            return 2 * (TRUE if lut else FALSE)
        places.sort(key=signals.__getitem__)
        if len(places) == 1:
            return 2 * signals[places[0]] + int(lut != LETTERS[places[0]])
        if places != sorted(places) or places != list(range(len(places))):
            tables = [FIRST, SECOND, THIRD]
            for new, old in enumerate(places):
                tables[old] = LETTERS[new]
            lut = compose(lut, (tables[0], tables[1], tables[2]))
        return 2 * self._add(Node(lut, tuple(signals[k] for k in places)))

    def _add(self, node: Node) -> int:
        signal = self._known.get(node)
        if signal is None:
            signal = CONSTANTS + self.inputs + len(self._nodes)
            self._known[node] = signal
            self._nodes.append(node)
        return signal

    def uses(self) -> Counter[int]:
        return Counter(2 * signal for node in self._nodes for signal in node.operands)

    def product(self, literal: int) -> tuple[int, int] | None:
        """Return the two literals whose AND is a literal, if its node is such an AND."""
        place = (literal >> 1) - CONSTANTS - self.inputs
        if literal & 1 or place < 0:
            return None
        lut, operands = self._nodes[place]
        for a, b in ((0, 0), (0, 1), (1, 0), (1, 1)):
            if lut == (FIRST ^ -a & ALL) & (SECOND ^ -b & ALL):
                return 2 * operands[0] + a, 2 * operands[1] + b
        return None

    def all_of(self, literals: Iterable[int]) -> int:
        return self._tree(AND3, AND2, 2 * TRUE, literals)

    def any_of(self, literals: Iterable[int]) -> int:
        return self._tree(OR3, OR2, 2 * FALSE, literals)

    def _tree(self, three: int, two: int, empty: int, literals: Iterable[int]) -> int:
        level = sorted(set(literals) - {empty})
        if not level:
            return empty
        if len(level) % 2 == 0:  # n/2 nodes suffice if one pair comes first
            level = [*level[2:], self.node(two, *level[:2])] if len(level) > 2 else level
        done = 0
        while len(level) - done > 2:
            # Each node replaces three signals at the head by one at the tail: depth log3.
            level.append(self.node(three, *level[done : done + 3]))
            done += 3
        return self.node(two, *level[done:]) if len(level) - done == 2 else level[done]

    def size(self, outputs: Iterable[int]) -> int:
        """Return the number of nodes that the network of given literals has."""
        first = CONSTANTS + self.inputs
        return sum(self._needed([self._positive(literal) for literal in outputs])[first:])

    def build(self, outputs: Iterable[int]) -> Network:
        """Return the network of given literals: their nodes, renumbered in order."""
        signals = [self._positive(literal) for literal in outputs]
        needed, first = self._needed(signals), CONSTANTS + self.inputs
        place = list(range(first)) + [0] * len(self._nodes)
        kept: list[Node] = []
        for signal in range(first, len(needed)):
            if needed[signal]:
                lut, operands = self._nodes[signal - first]
                place[signal] = first + len(kept)
                kept.append(Node(lut, tuple(place[k] for k in operands)))
        return Network(self.inputs, tuple(kept), tuple(place[k] for k in signals))

    def _needed(self, outputs: Iterable[int]) -> list[bool]:
        """Tell for every signal whether the outputs depend on it."""
        first = CONSTANTS + self.inputs
        needed = [False] * (first + len(self._nodes))
        for signal in outputs:
            needed[signal] = True
        for signal in range(len(needed) - 1, first - 1, -1):
            if needed[signal]:
                for k in self._nodes[signal - first].operands:
                    needed[k] = True
        return needed

    def _positive(self, literal: int) -> int:
        signal = literal >> 1
        if not literal & 1:
            return signal
        if signal < CONSTANTS:
            return 1 - signal
        if signal >= CONSTANTS + self.inputs:  # the inverse of the node, not one more node
            lut, operands = self._nodes[signal - CONSTANTS - self.inputs]
            return self._add(Node(~lut & ALL, operands))
        return self._add(Node(NOT1, (signal,)))


def _identified(place: int, earlier: int) -> tuple[int, int, int]:
    """Return three projections, one of them replaced by another."""
    tables = [FIRST, SECOND, THIRD]
    tables[place] = LETTERS[earlier]
    return (tables[0], tables[1], tables[2])


def rebuilt(
    inputs: int, nodes: Iterable[tuple[int, int, Iterable[int]]], outputs: Iterable[int]
) -> Network:
    """Return the network of nodes (signal, table, operands) in normal form, operands first."""
    builder = Builder(inputs)
    literals = {signal: 2 * signal for signal in range(CONSTANTS + inputs)}
    for signal, lut, operands in nodes:
        literals[signal] = builder.node(lut, *(literals[k] for k in operands))
    return builder.build(literals[k] for k in outputs)


def copied(
    network: Network, builder: Builder, literals: Sequence[int] | None = None
) -> tuple[int, ...]:
    """Return the outputs of a network over literals, rebuilt [default: the builder's inputs]."""
    if literals is None:
        literals = [builder.input(k) for k in range(network.inputs)]
    return network.fold(CopyAlgebra(builder), literals)


def used_inputs(network: Network) -> tuple[int, ...]:
    """Return the places of the inputs that a network reads."""
    used = {k for node in network.nodes for k in node.operands} | {*network.outputs}
    return tuple(k for k in range(network.inputs) if CONSTANTS + k in used)


def restricted(network: Network, used: Sequence[int]) -> Network:
    """Return a network over some of its inputs, which include all that it reads."""
    builder = Builder(len(used))
    literals = [0] * network.inputs
    for place, k in enumerate(used):
        literals[k] = builder.input(place)
    return builder.build(copied(network, builder, literals))


class CopyAlgebra:
    """The algebra that rebuilds nodes."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder

    def constant(self, value: int) -> int:
        return 2 * value

    def node(self, lut: int, operands: tuple[int, ...]) -> int:
        return self.builder.node(lut, *operands)


# --------------------------------------------------------------------------------------------------
# Networks as text, one node per line; `parse_network(render_network(network)) == network`.
#
# network 3 inputs 2 outputs 2 nodes
# n0 = i0 & ~i1  # noqa: ERA001 (a format)
# n1 = i2 | ~i1 & n0  # noqa: ERA001 (a format)
# outputs n1 n0
# --------------------------------------------------------------------------------------------------

LONGEST_LINE = 200  # characters of a node: three times the longest
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
        read = [names[k] for k in operands]
        lines.append(f"{names[signal]} = {_pattern(lut, len(read))(*read)}")
    lines.append(" ".join(["outputs", *(names[k] for k in network.outputs)]))
    return "\n".join(lines) + "\n"


@cache
def _pattern(lut: int, operands: int) -> Callable[..., str]:
    """Return the formula of a table as a format over its operands."""
    text = formula(lut) if operands <= LUT3 else f"0x{lut:0{1 << operands - 2}X}"
    if text.startswith("0x"):
        return lambda *names: f"{text}({', '.join(names)})"
    for place, letter in enumerate("abc"):
        text = text.replace(letter, f"{{{place}}}")
    return text.format


def parse_network(text: str, where: str = "network") -> Network:
    """Read the text of a network; a DataError names the wrong line."""
    head = _NETWORK_HEAD.fullmatch(text[:LONGEST_LINE].partition("\n")[0])
    if head is None:
        raise DataError("a network begins 'network N inputs N outputs N nodes'", where=f"{where}:1")
    inputs, outputs, count = (int(number) for number in head.groups())
    ends = text.count("\n")
    if ends != count + 2 or not text.endswith("\n"):
        raise DataError(f"{count} nodes need {count + 2} lines, not {ends}", where=where)
    lines = text.split("\n")
    nodes = []
    for place, line in enumerate(lines[1:-2]):
        name, _, formula = line.partition(" = ")
        good = name == f"n{place}" and len(line) <= LONGEST_LINE
        node = _parse_node(formula, inputs) if good else None
        if node is None:
            raise DataError(
                f"{shown(line)} is no line for node n{place}", where=f"{where}:{place + 2}"
            )
        nodes.append(node)
    word, *names = lines[-2].split(" ")
    signals = [_parse_signal(name, inputs) for name in names]
    if word != "outputs" or len(names) != outputs or None in signals:
        raise DataError(f"expected 'outputs' and {outputs} signals", where=f"{where}:{count + 2}")
    try:
        return Network(inputs, tuple(nodes), tuple(s for s in signals if s is not None))
    except ValueError as error:
        raise DataError.around(error, where) from error


def _parse_signal(name: str, inputs: int) -> int | None:
    if name in ("0", "1"):
        return int(name)
    if not _SIGNAL.fullmatch(name):
        return None
    if name[0] == "n":
        return CONSTANTS + inputs + int(name[1:])
    return CONSTANTS + int(name[1:]) if int(name[1:]) < inputs else None


def _parse_node(text: str, inputs: int) -> Node | None:
    """Return the node of a formula; operands must be in rising order."""
    table = _TABLE.fullmatch(text)
    names = table[2].split(", ") if table else _SIGNAL.findall(text)
    signals = {name: _parse_signal(name, inputs) for name in names}
    if not 1 <= len(names) <= 3 or len(signals) != len(names) or None in signals.values():
        return None
    operands = tuple(sorted(s for s in signals.values() if s is not None))
    if table:
        known = formula(int(table[1], 16)).startswith("0x")
        in_order = operands == tuple(signals.values())
        return Node(int(table[1], 16), operands) if known and in_order else None
    letter = {signal: "abc"[k] for k, signal in enumerate(operands)}
    pattern = _SIGNAL.sub(lambda match: letter[signals[match[0]] or 0], text)
    lut = tables_by_formula().get(pattern)
    return None if lut is None else Node(lut, operands)
