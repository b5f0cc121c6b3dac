"""Readers of gate-level and word-level Verilog, independent of the writers.

Registers are removed: the result is the function of a full pipeline, after a check that all
operands of an operation have the same delay.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, NoReturn, TypeAlias

from boolcomp.base.errors import DataError, shown
from boolcomp.logic.formats import Netlist
from boolcomp.logic.network import Builder

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator


# --------------------------------------------------------------------------------------------------
# Gate-level Verilog: wires, assignments, concatenations and clocked registers of single bits.
# --------------------------------------------------------------------------------------------------


_MODULE = re.compile(r"module (\w+) \((.*?)\);(.*)endmodule\s*", re.DOTALL)
_PORT = re.compile(r"(input|output) wire (?:\[(\d{1,4}):0\] )?(\w+)")
_MADE = re.compile(r"(?:wire|assign) (\w+) = (.+)|(\w+) <= (.+)", re.DOTALL)
_TABLE = re.compile(r"(\w+) #\(\d+'h([0-9a-f]+)\) \w+ \((\w+), (.+)\)")
_BARE = re.compile(r"wire (\w+)")  # output of a table
# The module of a look-up table after the main module; only its INIT is used.
_WITHOUT = re.compile(
    r"endmodule\s+module \w+_lut\d \([^;]*\);[^;]*;(\s*`(ifdef|elsif) \w+[^;]*;)*"
    r"(\s*`else)?\s*assign made = INIT\[\{[a-f, ]+\}\];(\s*`endif)?\s*endmodule"
)
_SKIPPED_GATES = re.compile(r"reg (\[\d+:0\] )?\w+|initial valid = \d+'b0")
_GATE_TOKEN = re.compile(r"\s*(1'b[01]|\w+(?:\[\d+\])?|[~&|^()])")
_MUX = 0xCA  # the second operand if the first is 1, else the third
_ROWS = (0xF0, 0xCC, 0xAA)
_CONTROLS = ("clock", "enable", "valid_in", "valid_out")


def read_gates(text: str, where: str = "Verilog") -> Netlist:
    return _GateReader(text, where).netlist()


class _GateReader:
    def __init__(self, text: str, where: str) -> None:
        self.where = where
        bare = re.sub(r"//[^\n]*\n|/\*.*?\*/", "\n", text).strip()
        match = _MODULE.fullmatch(_WITHOUT.sub("endmodule", bare))
        if match is None:
            self.fail("a module is missing")
        self.name, ports, body = match.groups()
        self.inputs: list[str] = []
        self.outputs: list[tuple[str, list[str]]] = []
        for port in ports.split(","):
            self.port(port.strip())
        self.tables: set[str] = set()  # names of the modules that are look-up tables
        self.statements = list(self.split(body))
        self.builder = Builder(len(self.inputs))
        # Literal and delay (clocks; None: a constant) of every signal.
        self.known: dict[str, tuple[int, int | None]] = {"1'b0": (0, None), "1'b1": (1 << 1, None)}
        for k, bit in enumerate(self.inputs):
            self.known[bit] = (self.builder.input(k), 0)

    def fail(self, what: str) -> NoReturn:
        raise DataError(f"{self.where}: {what}")

    def port(self, text: str) -> None:
        match = _PORT.fullmatch(text)
        if match is None:
            self.fail(f"{shown(text)} is not a port")
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
        """Yield (name, formula, whether registered) of every assignment."""
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
                    self.fail(f"{shown(statement)} is not a statement of gates")
            elif (match[1] or match[3]) not in ("valid", "valid_out", "unused"):
                yield (match[1] or match[3], match[2] or match[4], match[1] is None)

    def netlist(self) -> Netlist:
        """Build the logic of all signals and return the netlist."""
        made = {name: (formula, clocked) for name, formula, clocked in self.statements}
        if len(made) < len(self.statements):
            self.fail("a signal is assigned twice")
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
            self.fail("outputs have different delays")
        network = self.builder.build(literals)
        outputs = tuple(bit for _, bits in self.outputs for bit in bits)
        return Netlist(self.name, tuple(self.inputs), outputs, network)

    def make(self, root: str, made: dict[str, tuple[str, bool]]) -> None:
        """Build a signal after its operands."""
        ports = {name for name, _ in self.outputs}
        stack, begun = [root], set()
        while stack:
            name = stack[-1]
            if name in self.known or name in ports:
                stack.pop()
                continue
            formula, clocked = made.get(name) or self.fail(f"{name} is not assigned")
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
                self.fail(f"{shown(formula)} is not a formula")
            found.append(match[1])
            place = match.end()
        return found

    def looked_up(self, name: str, table: int, operands: list[str]) -> tuple[int, int | None]:
        """Return a table as multiplexers, one level per operand from the last to the first."""
        lates = {late for one in operands if (late := self.known[one][1]) is not None}
        if len(lates) > 1:
            self.fail(f"{name} reads signals of different delays")
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
            self.fail(f"{name} reads more than three signals, or signals of different delays")
        rest = list(reversed(tokens))
        table = self.either(rest, dict(zip(read, _ROWS, strict=False)))
        if rest:
            self.fail(f"{name}: {shown(' '.join(tokens))} is not a formula")
        literal = self.builder.node(table & 0xFF, *(self.known[one][0] for one in read))
        late = max(lates, default=None) if lates else None
        return literal, late if late is None else late + clocked

    def either(self, rest: list[str], rows: dict[str, int]) -> int:
        """Parse `a | b`, whose operands are `a ^ b`, whose operands are `a & b`."""
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
        token = rest.pop() if rest else self.fail("a formula is incomplete")
        if token == "~":  # noqa: S105 (no password)
            return ~self.atom(rest, rows)
        if token == "(":  # noqa: S105 (no password)
            found = self.either(rest, rows)
            if not rest or rest.pop() != ")":
                self.fail("a bracket is not closed")
            return found
        if token not in rows:
            self.fail(f"{shown(token)} is not a signal")
        return rows[token]


# --------------------------------------------------------------------------------------------------
# A module of words: formulas of all signals.
# --------------------------------------------------------------------------------------------------


class Literal(NamedTuple):
    """A constant."""

    value: int
    bits: int


class Reference(NamedTuple):
    """Bits of a signal, by their numbers."""

    name: str
    low: int
    bits: int


class Joined(NamedTuple):
    """A concatenation of parts, least significant first."""

    parts: tuple[Formula, ...]
    bits: int


class VerilogOperation(NamedTuple):
    """An operation: `~ ^ & | + ?`, `*` of odd numbers, `all` and `any` of a word."""

    sign: str
    parts: tuple[Formula, ...]
    bits: int


class TableCase(NamedTuple):
    """A table."""

    key: Formula
    entries: tuple[int, ...]
    bits: int


Formula: TypeAlias = Literal | Reference | Joined | VerilogOperation | TableCase


@dataclass(slots=True)
class Described:
    """A module: ports (name, bits), formulas of signals, their spans (lowest bit, bits).

    `claims` maps words to the signals that comments assign to them, which are to be proved.
    """

    name: str = ""
    inputs: dict[str, int] = field(default_factory=dict)
    outputs: dict[str, int] = field(default_factory=dict)
    made: dict[str, Formula] = field(default_factory=dict)
    spans: dict[str, tuple[int, int]] = field(default_factory=dict)
    claims: dict[str, str] = field(default_factory=dict)
    stages: int = 0


def references(formula: Formula) -> Iterator[Reference]:
    """Yield all bits that a formula reads."""
    if isinstance(formula, Reference):
        yield formula
    elif isinstance(formula, Joined | VerilogOperation):
        for part in formula.parts:
            yield from references(part)
    elif isinstance(formula, TableCase):
        yield from references(formula.key)


# --------------------------------------------------------------------------------------------------
# Word-level Verilog: unsigned vectors, sums, case tables, signed products, clocked registers.
# --------------------------------------------------------------------------------------------------


_WORD_TOKEN = re.compile(
    r"//\s*((?:load \d+ )?w\d+|cell of [^\n]*?)(?::[^\n]*)?\n|//[^\n]*\n|\(\* keep \*\)|"
    r"(\d+'[bd]\d+|\$?\w+|<=|~\^|@\*|[-~&|^+*?:;,=(){}\[\]@])|\s+"
)
_LITERAL = re.compile(r"(\d+)'([bd])(\d+)")
_SKIPPED_WORDS = ("valid", "valid_out", "unused")
CONTROLS = ("clock", "enable", "valid_in", "valid_out")
WIDEST = 62  # bits of a word; simulation is in 64


def read_words(text: str, where: str = "Verilog") -> Described:
    return _WordReader(text, where).module()


class _WordReader:
    def __init__(self, text: str, where: str) -> None:
        self.where = where
        self.tokens: list[tuple[str, str]] = []  # a claim of a comment, or a token
        place = 0
        while place < len(text):
            match = _WORD_TOKEN.match(text, place)
            if match is None:
                self.fail(f"{shown(text[place : place + 20])} is not a token")
            place = match.end()
            if match[1] or match[2]:
                self.tokens.append((match[1] or "", match[2] or ""))
        self.tokens.append(("", "the end"))
        self.place = 0
        self.waiting: list[str] = []
        self.found = Described()
        self.held: dict[str, Formula] = {}

    def fail(self, what: str) -> NoReturn:
        raise DataError(f"{self.where}: {what}")

    def peek(self) -> str:
        """Return the next token; claims before it apply to the next signal."""
        while self.tokens[self.place][0]:
            self.waiting.append(self.tokens[self.place][0])
            self.place += 1
        return self.tokens[self.place][1]

    def take(self, wanted: str = "") -> str:
        token = self.peek()
        if wanted and token != wanted:
            self.fail(f"{shown(token)} in place of {shown(wanted)}")
        self.place += 1
        return token

    def took(self, wanted: str) -> bool:
        """Tell whether the next token is as given, and consume it then."""
        if self.peek() != wanted:
            return False
        self.place += 1
        return True

    def module(self) -> Described:
        self.take("module")
        self.found.name = self.take()
        self.take("(")
        while not self.took(")"):
            way = self.take()
            self.take("wire")
            _, bits = self.span()
            name = self.take()
            if name not in CONTROLS:
                (self.found.inputs if way == "input" else self.found.outputs)[name] = bits
                self.declare(name, 0, bits)
            self.took(",")
        self.take(";")
        self.waiting.clear()
        while not self.took("endmodule"):
            self.item(self.take())
        self.read_through()
        return self.found

    def declare(self, name: str, low: int, bits: int) -> None:
        if name in self.found.spans or bits > WIDEST:
            self.fail(f"{shown(name)} is declared twice, or too wide")
        self.found.spans[name] = (low, bits)

    def span(self) -> tuple[int, int]:
        """Parse a range of bits; without one, a single bit."""
        if not self.took("["):
            return 0, 1
        high = int(self.take())
        self.take(":")
        low = int(self.take())
        self.take("]")
        return low, high - low + 1

    def item(self, word: str) -> None:
        """Parse one item of a module."""
        if word in ("wire", "reg"):
            self.took("signed")
            low, bits = self.span()
            name = self.take()
            claims, self.waiting = self.waiting, []
            if name not in _SKIPPED_WORDS:
                self.declare(name, low, bits)
                self.found.claims |= dict.fromkeys(claims, name)
            if self.took("="):
                self.make(name, self.expression())
            self.take(";")
        elif word == "assign":
            name = self.take()
            self.take("=")
            self.make(name, self.expression())
            self.take(";")
        elif word == "initial":
            while self.take() != ";":
                pass
        elif word == "always" and self.took("@*"):
            self.table()
        elif word == "always":
            self.clocked()
        else:
            self.fail(f"{shown(word)} does not start a statement of words")

    def make(self, name: str, formula: Formula) -> None:
        if name in _SKIPPED_WORDS:
            return
        if name not in self.found.spans or name in self.found.made:
            self.fail(f"{shown(name)} is not declared, or assigned twice")
        bits = self.found.spans[name][1]
        product = isinstance(formula, VerilogOperation) and formula.sign == "*"
        if formula.bits > bits or (formula.bits < bits and not product):
            self.fail(f"{name} has {bits} bits and is made of {formula.bits}")
        self.found.made[name] = formula

    def table(self) -> None:
        self.take("case")
        self.take("(")
        index = self.expression()
        self.take(")")
        entries: dict[int, int] = {}
        name = ""
        bits = 0
        while not self.took("endcase"):
            label = self.take()
            key = (1 << index.bits) - 1 if label == "default" else self.literal(label).value
            self.take(":")
            name = name or self.peek()
            self.take(name)
            self.take("=")
            entry = self.literal(self.take())
            self.take(";")
            bits = entry.bits
            if entries.setdefault(key, entry.value) != entry.value or entry.value >> bits:
                self.fail(f"{name} has two entries {key}, or one that is too large")
        if sorted(entries) != list(range(1 << index.bits)):
            self.fail(f"{name} lacks entries")
        values = tuple(entries[k] for k in range(len(entries)))
        self.make(name, TableCase(index, values, bits))

    def clocked(self) -> None:
        for word in ("@", "(", "posedge", "clock", ")", "if", "(", "enable", ")", "begin"):
            self.take(word)
        while not self.took("end"):
            name = self.take()
            self.take("<=")
            formula = self.expression()
            self.take(";")
            if name == "valid":
                self.found.stages = formula.bits
            else:
                self.held[name] = formula

    def literal(self, text: str) -> Literal:
        match = _LITERAL.fullmatch(text)
        if match is None:
            self.fail(f"{shown(text)} is not a constant")
        return Literal(int(match[3], 2 if match[2] == "b" else 10), int(match[1]))

    def expression(self) -> Formula:
        """Parse a conditional expression, or a binary one."""
        first = self.binary(0)
        if not self.took("?"):
            return first
        then = self.binary(0)
        self.take(":")
        otherwise = self.binary(0)
        if first.bits != 1 or then.bits != otherwise.bits:
            self.fail("a conditional expression has operands of different widths")
        return VerilogOperation("?", (first, then, otherwise), then.bits)

    def binary(self, level: int) -> Formula:
        """Parse operators of one precedence, from the lowest."""
        ranks = (("|",), ("^", "~^"), ("&",), ("+",), ("*",))
        if level == len(ranks):
            return self.unary()
        found = self.binary(level + 1)
        while self.peek() in ranks[level]:
            sign = self.take()
            other = self.binary(level + 1)
            if sign == "*":
                found = VerilogOperation("*", (found, other), found.bits + other.bits)
                continue
            if other.bits != found.bits:
                self.fail(f"operands of {sign} have {found.bits} and {other.bits} bits")
            plain = VerilogOperation("^" if sign == "~^" else sign, (found, other), found.bits)
            found = VerilogOperation("~", (plain,), found.bits) if sign == "~^" else plain
        return found

    def unary(self) -> Formula:
        token = self.take()
        if token in ("(", "{"):
            found = self.expression() if token == "(" else None  # noqa: S105 (no password)
            if found is None:
                return self.braces()
            self.take(")")
            return found
        if token == "~":  # noqa: S105 (no password)
            part = self.unary()
            return VerilogOperation("~", (part,), part.bits)
        if token in ("&", "|"):
            return VerilogOperation("all" if token == "&" else "any", (self.unary(),), 1)  # noqa: S105
        if token == "$signed":  # noqa: S105
            return self.unary()
        return self.literal(token) if "'" in token else self.reference(token)

    def braces(self) -> Formula:
        """Parse a concatenation or a replication."""
        if self.peek().isdigit():
            count = int(self.take())
            self.take("{")
            part = self.expression()
            self.take("}")
            self.take("}")
            return Joined((part,) * count, count * part.bits)
        parts = [self.expression()]
        while self.took(","):
            parts.append(self.expression())
        self.take("}")
        return Joined(tuple(reversed(parts)), sum(part.bits for part in parts))

    def reference(self, name: str) -> Formula:
        if name in ("valid", "valid_in"):  # used only for the valid bits of a pipeline
            return Literal(0, self.picked())
        if name not in self.found.spans:
            self.fail(f"{shown(name)} is not a signal")
        low, bits = self.found.spans[name]
        if not self.took("["):
            return Reference(name, low, bits)
        high = first = int(self.take())
        if self.took(":"):
            first = int(self.take())
        self.take("]")
        if not low <= first <= high < low + bits:
            self.fail(f"{name} has no bits {high} to {first}")
        return Reference(name, first, high - first + 1)

    def picked(self) -> int:
        """Parse a bit selection and return its number of bits."""
        if not self.took("["):
            return 1
        high = low = int(self.take())
        if self.took(":"):
            low = int(self.take())
        self.take("]")
        return high - low + 1

    def read_through(self) -> None:
        """Replace registers by their inputs, after a check of all delays."""
        late: dict[str, int | None] = dict.fromkeys(self.found.inputs, 0)
        order: list[tuple[str, Formula]] = [*self.found.made.items()]
        sources: dict[str, Reference] = {}
        for name, formula in self.held.items():
            if not isinstance(formula, Reference) or self.found.spans[name][1] != formula.bits:
                self.fail(f"register {name} differs in width from its input")
            sources[name] = formula
        made = {name: [ref.name for ref in references(formula)] for name, formula in order}
        made |= {name: [source.name] for name, source in sources.items()}
        for name in made:
            self.time(name, made, sources, late)
        ends = {late[name] for name in self.found.outputs if made.get(name)}
        if ends - {self.found.stages, None}:
            self.fail("delays of outputs differ from the number of stages of the module")
        self.found.made = {name: self.through(formula, sources) for name, formula in order}

    def through(self, formula: Formula, sources: dict[str, Reference]) -> Formula:
        """Return a formula with registers replaced by their inputs."""
        if isinstance(formula, Reference):
            while formula.name in sources:
                source = sources[formula.name]
                low = formula.low - self.found.spans[formula.name][0] + source.low
                formula = Reference(source.name, low, formula.bits)
        elif isinstance(formula, Joined):
            parts = tuple(self.through(part, sources) for part in formula.parts)
            return Joined(parts, formula.bits)
        elif isinstance(formula, VerilogOperation):
            parts = tuple(self.through(part, sources) for part in formula.parts)
            return VerilogOperation(formula.sign, parts, formula.bits)
        elif isinstance(formula, TableCase):
            return TableCase(self.through(formula.key, sources), formula.entries, formula.bits)
        return formula

    def time(
        self,
        root: str,
        made: dict[str, list[str]],
        held: Collection[str],
        late: dict[str, int | None],
    ) -> None:
        """Compute the delay of a signal in clocks; None for a constant."""
        stack, begun = [root], set()
        while stack:
            name = stack[-1]
            if name in late:
                stack.pop()
                continue
            read = made.get(name)
            if read is None or (missing := [one for one in read if one not in late]):
                if read is None or name in begun:
                    self.fail(f"{name} is not assigned, or depends on itself")
                begun.add(name)
                stack += missing
                continue
            times = {time for one in read if (time := late[one]) is not None}
            if len(times) > 1:
                self.fail(f"{name} reads signals of different delays")
            late[name] = max(times) + (name in held) if times else None
            stack.pop()
