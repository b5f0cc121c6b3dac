"""Gate-level Verilog read back, by a reader that shares nothing with the writer.

It takes wires, assignments, concatenations and clocked registers of single bits, and nothing else.
Registers are read through: what is returned is the function of a full pipeline. That all signals
of an operation are equally late is checked.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NoReturn

from boolcomp.common.errors import DataError, shown
from boolcomp.logic.netlist import Netlist
from boolcomp.logic.network import Builder

if TYPE_CHECKING:
    from collections.abc import Iterator

_MODULE = re.compile(r"module (\w+) \((.*?)\);(.*)endmodule\s*", re.DOTALL)
_PORT = re.compile(r"(input|output) wire (?:\[(\d{1,4}):0\] )?(\w+)")
_MADE = re.compile(r"(?:wire|assign) (\w+) = (.+)|(\w+) <= (.+)", re.DOTALL)
_TABLE = re.compile(r"(\w+) #\(\d+'h([0-9a-f]+)\) \w+ \((\w+), (.+)\)")
_BARE = re.compile(r"wire (\w+)")  # what a table makes
# What stands behind the module: that of a look-up table, in which only INIT is looked at.
_WITHOUT = re.compile(
    r"endmodule\s+module \w+_lut\d \([^;]*\);[^;]*;(\s*`(ifdef|elsif) \w+[^;]*;)*"
    r"(\s*`else)?\s*assign made = INIT\[\{[a-f, ]+\}\];(\s*`endif)?\s*endmodule"
)
_SKIPPED_GATES = re.compile(r"reg (\[\d+:0\] )?\w+|initial valid = \d+'b0")
_GATE_TOKEN = re.compile(r"\s*(1'b[01]|\w+(?:\[\d+\])?|[~&|^()])")
_MUX = 0xCA  # the second where the first is 1, else the third
_ROWS = (0xF0, 0xCC, 0xAA)
_CONTROLS = ("clock", "enable", "valid_in", "valid_out")


def read_gates(text: str, where: str = "Verilog") -> Netlist:
    """Return what a module computes; a `DataError` for what is no text of gates."""
    return _GateReader(text, where).netlist()


class _GateReader:
    def __init__(self, text: str, where: str) -> None:
        self.where = where
        bare = re.sub(r"//[^\n]*\n|/\*.*?\*/", "\n", text).strip()
        match = _MODULE.fullmatch(_WITHOUT.sub("endmodule", bare))
        if match is None:
            self.fail("no module")
        self.name, ports, body = match.groups()
        self.inputs: list[str] = []
        self.outputs: list[tuple[str, list[str]]] = []
        for port in ports.split(","):
            self.port(port.strip())
        self.tables: set[str] = set()  # names of the modules that are look-up tables
        self.statements = list(self.split(body))
        self.builder = Builder(len(self.inputs))
        # Of every signal its literal, and how many clocks it comes late; None: a constant.
        self.known: dict[str, tuple[int, int | None]] = {"1'b0": (0, None), "1'b1": (1 << 1, None)}
        for k, bit in enumerate(self.inputs):
            self.known[bit] = (self.builder.input(k), 0)

    def fail(self, what: str) -> NoReturn:
        raise DataError(f"{self.where}: {what}")

    def port(self, text: str) -> None:
        match = _PORT.fullmatch(text)
        if match is None:
            self.fail(f"{shown(text)} is no port")
        way, high, name = match.groups()
        if name in _CONTROLS:
            return
        places = reversed(range(int(high) + 1)) if high else ()
        bits = [f"{name}[{k}]" for k in places] if high else [name]
        if way == "input":
            self.inputs += bits
        else:
            self.outputs.append((name, bits))

    def split(self, body: str) -> Iterator[tuple[str, str, bool]]:
        """Yield (name, formula, whether registered) of every signal that is made."""
        for raw in body.split(";"):
            statement = re.sub(r"always @\(posedge clock\)\s+if \(enable\) begin", "", raw)
            statement = re.sub(r"^\s*end\s", "", statement).strip()
            if table := _TABLE.fullmatch(statement):
                self.tables.add(table[1])
                yield table[3], f"{table[2]}: {table[4]}", False
                continue
            if _BARE.fullmatch(statement):
                continue
            match = _MADE.fullmatch(statement)
            if match is None:
                if statement and not _SKIPPED_GATES.fullmatch(statement):
                    self.fail(f"{shown(statement)} is no line of gates")
            elif (match[1] or match[3]) not in ("valid", "valid_out", "unused"):
                yield (match[1] or match[3], match[2] or match[4], match[1] is None)

    def netlist(self) -> Netlist:
        """Make every signal, registers as soon as what they hold is made."""
        made = {name: (formula, clocked) for name, formula, clocked in self.statements}
        if len(made) < len(self.statements):
            self.fail("a signal is made twice")
        for name in made:
            self.make(name, made)
        literals: list[int] = []
        lates: set[int] = set()
        for name, bits in self.outputs:
            formula = made.get(name, ("", False))[0]
            parts = [part.strip() for part in formula.strip("{}").split(",")]
            if len(parts) != len(bits) or not all(part in self.known for part in parts):
                self.fail(f"output {name} is not made of its {len(bits)} bits")
            literals += [self.known[part][0] for part in parts]
            lates |= {late for part in parts if (late := self.known[part][1]) is not None}
        if len(lates) > 1:
            self.fail("outputs come at different clocks")
        network = self.builder.build(literals)
        outputs = tuple(bit for _, bits in self.outputs for bit in bits)
        return Netlist(self.name, tuple(self.inputs), outputs, network)

    def make(self, root: str, made: dict[str, tuple[str, bool]]) -> None:
        """Make a signal after those that it needs."""
        ports = {name for name, _ in self.outputs}
        stack, begun = [root], set()
        while stack:
            name = stack[-1]
            if name in self.known or name in ports:
                stack.pop()
                continue
            formula, clocked = made.get(name) or self.fail(f"{name} is made nowhere")
            entry, _, operands = formula.partition(": ")
            tokens = operands.split(", ") if operands else self.tokens(formula)
            read = sorted({token for token in tokens if token[0] not in "~&|^()"})
            if missing := [one for one in read if one not in self.known]:
                if name in begun:
                    self.fail(f"{name} depends on itself")
                begun.add(name)
                stack += missing
                continue
            self.known[name] = (
                self.looked_up(name, int(entry, 16), tokens)
                if operands
                else self.value(name, tokens, read, clocked=clocked)
            )
            stack.pop()

    def tokens(self, formula: str) -> list[str]:
        found, place = [], 0
        while place < len(formula.rstrip()):
            match = _GATE_TOKEN.match(formula, place)
            if match is None:
                self.fail(f"{shown(formula)} is no formula")
            found.append(match[1])
            place = match.end()
        return found

    def looked_up(self, name: str, table: int, operands: list[str]) -> tuple[int, int | None]:
        """Return an entry of a table: a multiplexer for each operand, the last one first."""
        lates = {late for one in operands if (late := self.known[one][1]) is not None}
        if len(lates) > 1:
            self.fail(f"{name} reads signals of different clocks")
        rows = [2 * (table >> k & 1) for k in range(1 << len(operands))]
        for one in reversed(operands):
            choice = self.known[one][0]
            rows = [
                self.builder.node(_MUX, choice, high, low)
                for low, high in zip(rows[::2], rows[1::2], strict=True)
            ]
        return rows[0], max(lates, default=None)

    def value(
        self, name: str, tokens: list[str], read: list[str], *, clocked: bool
    ) -> tuple[int, int | None]:
        lates = {late for one in read if (late := self.known[one][1]) is not None}
        if len(read) > len(_ROWS) or len(lates) > 1:
            self.fail(f"{name} reads more than three signals, or signals of different clocks")
        rest = list(reversed(tokens))
        table = self.either(rest, dict(zip(read, _ROWS, strict=False)))
        if rest:
            self.fail(f"{name}: {shown(' '.join(tokens))} goes on after its end")
        literal = self.builder.node(table & 0xFF, *(self.known[one][0] for one in read))
        late = max(lates, default=None) if lates else None
        return literal, late if late is None else late + clocked

    def either(self, rest: list[str], rows: dict[str, int]) -> int:
        """Read `a | b`, whose parts are `a ^ b`, whose parts are `a & b`."""
        found = self.differ(rest, rows)
        while rest and rest[-1] == "|":
            rest.pop()
            found |= self.differ(rest, rows)
        return found

    def differ(self, rest: list[str], rows: dict[str, int]) -> int:
        found = self.both(rest, rows)
        while rest and rest[-1] == "^":
            rest.pop()
            found ^= self.both(rest, rows)
        return found

    def both(self, rest: list[str], rows: dict[str, int]) -> int:
        found = self.atom(rest, rows)
        while rest and rest[-1] == "&":
            rest.pop()
            found &= self.atom(rest, rows)
        return found

    def atom(self, rest: list[str], rows: dict[str, int]) -> int:
        token = rest.pop() if rest else self.fail("a formula is cut off")
        if token == "~":  # noqa: S105 (no password)
            return ~self.atom(rest, rows)
        if token == "(":  # noqa: S105 (no password)
            found = self.either(rest, rows)
            if not rest or rest.pop() != ")":
                self.fail("a bracket is not closed")
            return found
        if token not in rows:
            self.fail(f"{shown(token)} is no signal")
        return rows[token]
