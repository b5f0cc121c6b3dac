"""AIGER: networks as AND gates and inverters, as text (`aag`) and binary (`aig`), with symbols.

A literal is twice a variable, plus one where it is inverted; variable 0 is the constant 0, then
come the inputs, then the gates in order. Latches, and properties of AIGER 1.9, are refused.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from boolcomp.common.errors import DataError, shown
from boolcomp.logic import luts
from boolcomp.logic.netlist import MOST_SIGNALS, Netlist
from boolcomp.logic.network import Builder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.logic.network import Network

_AIGER_HEAD = re.compile(rb"(aag|aig)((?: \d{1,9}){5,9})")
_SYMBOL = re.compile(r"([ilobcjf])(\d{1,9}) (.+)")
_LONGEST = 200  # bytes of a line with numbers


class Aig(NamedTuple):
    """AND gates over literals, in order: gate k makes variable `inputs + 1 + k`."""

    inputs: int
    gates: tuple[tuple[int, int], ...]
    outputs: tuple[int, ...]


def aig_of(network: Network) -> Aig:
    """Return a network as AND gates and inverters; equal gates are made once."""
    algebra = _Gates(network.inputs)
    outputs = network.fold(algebra, [2 * (k + 1) for k in range(network.inputs)])
    return Aig(network.inputs, tuple(algebra.gates), outputs)


class _Gates:
    """The algebra of literals."""

    def __init__(self, inputs: int) -> None:
        self.inputs = inputs
        self.gates: list[tuple[int, int]] = []
        self.known: dict[tuple[int, int], int] = {}

    def constant(self, value: int) -> int:
        return value

    def node(self, lut: int, operands: tuple[int, ...]) -> int:
        values = [*operands, *operands[:1] * (3 - len(operands))]
        for kind, x, y in luts.steps(lut):
            a, b = values[x], values[y]
            if kind == "and":
                values.append(self.both(a, b))
            elif kind == "or":
                values.append(self.both(a ^ 1, b ^ 1) ^ 1)
            elif kind == "xor":
                values.append(self.both(self.both(a, b) ^ 1, self.both(a ^ 1, b ^ 1) ^ 1))
            else:
                values.append(a ^ 1)
        return values[-1]

    def both(self, a: int, b: int) -> int:
        """Return the AND of two literals."""
        if b in (a, 1):
            return a
        if a ^ 1 == b or 0 in (a, b):
            return 0
        if a == 1:
            return b
        key = (max(a, b), min(a, b))
        if key not in self.known:
            self.known[key] = 2 * (self.inputs + 1 + len(self.gates))
            self.gates.append(key)
        return self.known[key]


def render_ascii(netlist: Netlist, comments: Sequence[str] = ()) -> str:
    """Return a netlist as AIGER text."""
    aig = aig_of(netlist.network)
    first = 2 * (aig.inputs + 1)
    lines = [f"aag {_sizes(aig)}", *(str(2 * (k + 1)) for k in range(aig.inputs))]
    lines += [str(literal) for literal in aig.outputs]
    lines += [f"{first + 2 * k} {a} {b}" for k, (a, b) in enumerate(aig.gates)]
    return "\n".join(lines) + "\n" + _symbols(netlist, comments)


def render_binary(netlist: Netlist, comments: Sequence[str] = ()) -> bytes:
    """Return a netlist as binary AIGER."""
    aig = aig_of(netlist.network)
    head = "\n".join([f"aig {_sizes(aig)}", *(str(literal) for literal in aig.outputs)]) + "\n"
    body = bytearray()
    for k, (a, b) in enumerate(aig.gates, aig.inputs + 1):
        for delta in (2 * k - a, a - b):
            while delta > 0x7F:
                body.append(delta & 0x7F | 0x80)
                delta >>= 7  # noqa: PLW2901 (seven bits a byte)
            body.append(delta)
    return head.encode() + bytes(body) + _symbols(netlist, comments).encode()


def _sizes(aig: Aig) -> str:
    size = aig.inputs + len(aig.gates)
    return f"{size} {aig.inputs} 0 {len(aig.outputs)} {len(aig.gates)}"


def _symbols(netlist: Netlist, comments: Sequence[str]) -> str:
    lines = [f"i{k} {name}" for k, name in enumerate(netlist.inputs)]
    lines += [f"o{k} {name}" for k, name in enumerate(netlist.outputs)]
    lines += ["c", netlist.name, *comments]
    return "\n".join(lines) + "\n"


def parse_aiger(data: bytes, where: str = "AIGER") -> Netlist:
    """Read AIGER of either kind; a `DataError` says where a file is wrong."""
    return _Reader(data, where).netlist()


class _Reader:
    """Reads a file from front to back; `line` counts from 1, as editors do."""

    def __init__(self, data: bytes, where: str) -> None:
        self.data, self.where = data, where
        self.place = self.row = 0

    def fail(self, what: str) -> NoReturn:
        raise DataError(f"{self.where}:{self.row}: {what}")

    def line(self) -> bytes:
        """Return the next line, which is complete."""
        self.row += 1
        end = self.data.find(b"\n", self.place)
        if end < 0:
            self.fail("the file is cut off")
        found = self.data[self.place : end]
        self.place = end + 1
        return found.removesuffix(b"\r")

    def numbers(self, count: int) -> list[int]:
        """Return the literals of a line, each of a variable that the file has."""
        line = self.line()
        words = line[:_LONGEST].split(b" ")
        if len(words) != count or not all(w.isdigit() and len(w) < 10 for w in words):
            self.fail(f"{shown(line.decode('ascii', 'replace'))} is not {count} literals")
        found = [int(word) for word in words]
        if max(found) > 2 * self.most + 1:
            self.fail(f"literal {max(found)} is of no variable: there are {self.most}")
        return found

    def netlist(self) -> Netlist:
        head = _AIGER_HEAD.fullmatch(self.data[:_LONGEST].partition(b"\n")[0].rstrip(b"\r"))
        self.line()
        if head is None:
            self.fail("AIGER begins 'aag M I L O A' or 'aig M I L O A', five numbers")
        self.most, inputs, latches, outputs, gates, *more = map(int, head[2].split())
        if latches or any(more):
            self.fail("latches and properties are not combinational logic")
        if self.most > MOST_SIGNALS or outputs > MOST_SIGNALS:
            self.fail(f"at most {MOST_SIGNALS} variables and outputs are read")
        binary = head[1] == b"aig"
        if self.most < inputs + gates or (binary and self.most > inputs + gates):
            self.fail(f"{self.most} variables are not those of {inputs} inputs and {gates} gates")
        if len(self.data) < 2 * (outputs + gates):
            self.fail("the file is cut off")
        given = range(1, inputs + 1) if binary else [self.input() for _ in range(inputs)]
        made = [self.numbers(1)[0] for _ in range(outputs)]
        rows = self.deltas(inputs, gates) if binary else self.gates(gates)
        builder = Builder(inputs)
        known = {0: 0} | {variable: builder.input(k) for k, variable in enumerate(given)}
        if len(known) <= inputs:
            self.fail("an input is named twice")
        self.build(builder, known, rows)
        for literal in made:
            if literal >> 1 not in known:
                self.fail(f"output {literal} is of no input and no gate")
        network = builder.build(known[literal >> 1] ^ literal & 1 for literal in made)
        return self.named(network)

    def input(self) -> int:
        (literal,) = self.numbers(1)
        if literal & 1 or not literal:
            self.fail(f"{literal} is no literal of an input")
        return literal >> 1

    def gates(self, count: int) -> dict[int, tuple[int, int, int]]:
        """Return the gates of a text by their variables: two literals, and the line."""
        found: dict[int, tuple[int, int, int]] = {}
        for _ in range(count):
            made, a, b = self.numbers(3)
            if made & 1 or not made or made >> 1 in found:
                self.fail(f"{made} is no literal of a gate, or made twice")
            found[made >> 1] = (a, b, self.row)
        return found

    def deltas(self, inputs: int, count: int) -> dict[int, tuple[int, int, int]]:
        """Return the gates of a binary file by their variables."""
        found = {}
        for variable in range(inputs + 1, inputs + 1 + count):
            a = 2 * variable - self.delta()
            b = a - self.delta()
            if not 0 <= b <= a < 2 * variable:
                self.fail(f"gate {variable} reads what does not come before it")
            found[variable] = (a, b, self.row)
        return found

    def delta(self) -> int:
        value = 0
        for shift in range(0, 35, 7):
            if self.place >= len(self.data):
                self.fail("the file is cut off among its gates")
            byte = self.data[self.place]
            self.place += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        return self.fail("a number among the gates is too long")

    def build(
        self, builder: Builder, known: dict[int, int], rows: dict[int, tuple[int, int, int]]
    ) -> None:
        """Make every gate after those that it reads; they may stand in any order."""
        if clash := known.keys() & rows.keys():
            self.fail(f"variable {min(clash)} is an input and a gate")
        for root in rows:
            stack, open_ = [root], set()
            while stack:
                variable = stack[-1]
                if variable in known:
                    stack.pop()
                    continue
                a, b, self.row = rows[variable]
                missing = [v for v in (a >> 1, b >> 1) if v not in known]
                if not missing:
                    one, two = (known[x >> 1] ^ x & 1 for x in (a, b))
                    known[variable] = builder.node(luts.AND2, one, two)
                    stack.pop()
                    continue
                open_.add(variable)
                for v in missing:
                    if v not in rows:
                        self.fail(f"gate {variable} reads {v}, which is no input and no gate")
                    if v in open_:
                        self.fail(f"gate {v} depends on itself")
                stack += missing

    def named(self, network: Network) -> Netlist:
        """Read symbols, up to the comments; what has none is called i0, o0 and so on."""
        names = {
            "i": [f"i{k}" for k in range(network.inputs)],
            "o": [f"o{k}" for k in range(len(network.outputs))],
        }
        while self.place < len(self.data):
            line = self.line()
            if line == b"c":
                break
            match = _SYMBOL.fullmatch(line.decode("utf-8", "replace"))
            if match is None or int(match[2]) >= len(names.get(match[1], [])):
                self.fail(f"{shown(line.decode('utf-8', 'replace'))} is no symbol of the file")
            names[match[1]][int(match[2])] = match[3]
        return Netlist("network", tuple(names["i"]), tuple(names["o"]), network)
