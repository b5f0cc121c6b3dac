"""A reader of gate-level and word-level Verilog, independent of the writers.

Registers are removed: the result is the function of a full pipeline, after a check that all
operands of an operation have the same delay.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from operator import and_, or_, xor
from typing import TYPE_CHECKING, NamedTuple, NoReturn, TypeAlias

from boolcomp.base.errors import DataError, shown
from boolcomp.logic.formats import Netlist
from boolcomp.logic.network import ALL, MUX, TRUE, Builder

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence


# --------------------------------------------------------------------------------------------------
# A module: formulas of all signals.
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

    Every signal is made after those that it reads. `claims` maps words to the signals that comments
    assign to them, which are to be proved.
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
# Verilog: unsigned vectors, sums, tables by case or as cells, signed products, clocked registers.
# --------------------------------------------------------------------------------------------------


_TOKEN = re.compile(
    r"//\s*((?:load \d+ )?w\d+|cell of [^\n]*?)(?::[^\n]*)?\n|//[^\n]*\n|\(\* keep \*\)|"
    r"/\*.*?\*/|(\d+'[bdh][0-9a-f]+|\$?\w+|<=|~\^|@\*|&&|\|\||[-~&|^+*?:;,=(){}\[\]@#])|\s+"
)
_LITERAL = re.compile(r"(\d+)'([bdh])([0-9a-f]+)")
_BASES = {"b": 2, "d": 10, "h": 16}
# The module of a look-up table after the main module; only its INIT is used.
_CELL = re.compile(
    r"endmodule\s+(/\*[^\n]*\*/\s+)?(//[^\n]*\s+)*module \w+_lut\d \([^;]*\);[^;]*;"
    r"(\s*`(ifdef|elsif) \w+[^;]*;)*"
    r"(\s*`else)?\s*assign made = INIT\[\{[a-f, ]+\}\];(\s*`endif)?\s*endmodule"
)
CONTROLS = ("clock", "enable", "valid_in", "valid_out")
WIDEST = 62  # bits of a word; simulation is in 64


def read_words(text: str, where: str = "Verilog") -> Described:
    """Read a module, whose words fit the simulation."""
    found = _Reader(text, where).module()
    if any(bits > WIDEST for _, bits in found.spans.values()):
        raise DataError(f"a word has more than {WIDEST} bits", where=where)
    return found


def _merged(parts: Sequence[Formula]) -> tuple[Formula, ...]:
    """Return parts of a concatenation; adjacent bits of one signal are merged."""
    found: list[Formula] = []
    for part in parts:
        last = found[-1] if found else None
        if isinstance(part, Reference) and isinstance(last, Reference) and (
            (part.name, part.low) == (last.name, last.low + last.bits)
        ):  # fmt: skip
            found[-1] = Reference(last.name, last.low, last.bits + part.bits)
        else:
            found.append(part)
    return tuple(found)


class _Reader:
    def __init__(self, text: str, where: str) -> None:
        self.where = where
        text = _CELL.sub("endmodule", text)
        self.tokens: list[tuple[str, str]] = []  # a claim of a comment, or a token
        place = 0
        while place < len(text):
            match = _TOKEN.match(text, place)
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
        self.signed: set[str] = set()
        self.products = 0  # of the formula that is read
        self.controls: list[str] = []  # ports and statements of valid bits

    def fail(self, what: str) -> NoReturn:
        raise DataError(what, where=self.where)

    def peek(self) -> str:
        """Return the next token; claims before it apply to the next signal."""
        while self.tokens[self.place][0]:
            self.waiting.append(self.tokens[self.place][0])
            self.place += 1
        return self.tokens[self.place][1]

    def take(self, wanted: str = "") -> str:
        token = self.peek()
        if self.place == len(self.tokens) - 1 and token != wanted:
            self.fail("the file is cut off")
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
            low, bits = self.span()
            name = self.take()
            if way not in ("input", "output") or low:
                self.fail(f"port {shown(name)} is {way}, or has no bit 0")
            if name in CONTROLS:
                self.controls.append(f"{way} {name} {bits}")
            else:
                (self.found.inputs if way == "input" else self.found.outputs)[name] = bits
                self.declare(name, 0, bits)
            self.took(",")
        self.take(";")
        self.waiting.clear()
        while not self.took("endmodule"):
            self.item(self.take())
        self.take("the end")
        self.read_through()
        return self.found

    def declare(self, name: str, low: int, bits: int) -> None:
        if name in self.found.spans:
            self.fail(f"{shown(name)} is declared twice")
        self.found.spans[name] = (low, bits)

    def span(self) -> tuple[int, int]:
        """Parse a range of bits; without one, a single bit."""
        if not self.took("["):
            return 0, 1
        high = self.number()
        self.take(":")
        low = self.number()
        self.take("]")
        if high < low:
            self.fail(f"bits {high} to {low} are in ascending order")
        return low, high - low + 1

    def number(self) -> int:
        token = self.take()
        if not re.fullmatch(r"[0-9]{1,6}", token):
            self.fail(f"{shown(token)} is not a number")
        return int(token)

    def item(self, word: str) -> None:
        """Parse one item of a module."""
        if word in ("wire", "reg"):
            self.declared(word)
        elif word == "assign":
            name = self.take()
            self.take("=")
            if name == "valid_out":
                last = f" [ {self.found.stages - 1} ]" * (self.found.stages > 1)
                self.control(name, f"valid{last}")
            else:
                self.make(name, self.expression())
                self.take(";")
        elif word == "initial":
            self.take("valid")
            self.take("=")
            self.control(word, f"{self.found.stages}'b0")
        elif word == "always" and self.took("@*"):
            self.table()
        elif word == "always":
            self.clocked()
        elif self.took("#"):
            self.looked_up()
        else:
            self.fail(f"{shown(word)} does not start a statement")

    def declared(self, kind: str) -> None:
        signed = self.took("signed")
        low, bits = self.span()
        name = self.take()
        claims, self.waiting = self.waiting, []
        if name == "valid":
            self.found.stages = bits
        elif name != "unused":
            self.declare(name, low, bits)
            self.signed |= {name} if signed else set()
            self.found.claims |= dict.fromkeys(claims, name)
        if self.took("="):
            formula = self.expression()
            if kind == "wire":  # else it is the first value of a register
                self.make(name, formula)
        self.take(";")

    def control(self, name: str, wanted: str) -> None:
        """Consume the only right side of a statement of valid bits."""
        for token in wanted.split():
            self.take(token)
        self.take(";")
        self.controls.append(name)

    def make(self, name: str, formula: Formula) -> None:
        products, self.products = self.products, 0
        if name == "unused":
            return
        if name not in self.found.spans or name in {**self.found.made, **self.found.inputs}:
            self.fail(f"{shown(name)} is not declared, or assigned twice")
        bits = self.found.spans[name][1]
        product = isinstance(formula, VerilogOperation) and formula.sign == "*"
        if products != int(product):  # the width of an inner product depends on its context
            self.fail(f"{name} is made of a product and other operations")
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
            bits = bits or entry.bits
            if entries.setdefault(key, entry.value) != entry.value or entry.bits != bits:
                self.fail(f"{name} has two entries {key}, or one of another width")
        if sorted(entries) != list(range(1 << index.bits)):
            self.fail(f"{name} lacks entries")
        values = tuple(entries[k] for k in range(len(entries)))
        self.make(name, TableCase(index, values, bits))

    def looked_up(self) -> None:
        """Parse a look-up table: its entries, its name, its output, and operands."""
        self.take("(")
        entries = self.literal(self.take())
        self.take(")")
        self.take()
        self.take("(")
        name = self.take()
        operands = []
        while self.took(","):
            operands.append(self.expression())
        self.take(")")
        self.take(";")
        key = Joined(tuple(reversed(operands)), sum(part.bits for part in operands))
        if entries.bits != 1 << key.bits:
            self.fail(f"{name} has {entries.bits} entries for {key.bits} bits")
        bits = tuple(entries.value >> k & 1 for k in range(entries.bits))
        self.make(name, TableCase(key, bits, 1))

    def clocked(self) -> None:
        for word in ("@", "(", "posedge", "clock", ")", "if", "(", "enable", ")", "begin"):
            self.take(word)
        while not self.took("end"):
            name = self.take()
            self.take("<=")
            if name == "valid":
                shifted = f"{{ valid [ {self.found.stages - 2} : 0 ] , valid_in }}"
                self.control(name, shifted if self.found.stages > 1 else "valid_in")
                continue
            if name not in self.found.spans or name in self.held:
                self.fail(f"register {shown(name)} is not declared, or assigned twice")
            self.held[name] = self.expression()
            self.take(";")

    def literal(self, text: str) -> Literal:
        match = _LITERAL.fullmatch(text)
        base = _BASES[match[2]] if match else 0
        if match is None or any(int(digit, 16) >= base for digit in match[3]):
            self.fail(f"{shown(text)} is not a constant")
        value, bits = int(match[3], base), int(match[1])
        if not bits or value >> bits:
            self.fail(f"{text} has more than {bits} bits")
        return Literal(value, bits)

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
        start = self.place
        found = self.binary(level + 1)
        while self.peek() in ranks[level]:
            signed = self.is_signed(start)
            sign = self.take()
            start = self.place
            other = self.binary(level + 1)
            if sign == "*":
                if not (signed and self.is_signed(start)):
                    self.fail("a product of words that are not signed")
                self.products += 1
                found = VerilogOperation("*", (found, other), found.bits + other.bits)
                continue
            if other.bits != found.bits:
                self.fail(f"operands of {sign} have {found.bits} and {other.bits} bits")
            plain = VerilogOperation("^" if sign == "~^" else sign, (found, other), found.bits)
            found = VerilogOperation("~", (plain,), found.bits) if sign == "~^" else plain
        return found

    def is_signed(self, start: int) -> bool:
        """Tell whether the operand from a token up to the next token is signed."""
        operand = [token for _, token in self.tokens[start : self.place] if token]
        return operand[:1] == ["$signed"] or (len(operand) == 1 and operand[0] in self.signed)

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
        if token == "$signed" and self.peek() == "(":  # noqa: S105
            return self.unary()
        return self.literal(token) if "'" in token else self.reference(token)

    def braces(self) -> Formula:
        """Parse a concatenation or a replication."""
        if self.peek().isdigit():
            count = self.number()
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
        if name not in self.found.spans:
            self.fail(f"{shown(name)} is not a signal")
        low, bits = self.found.spans[name]
        if not self.took("["):
            return Reference(name, low, bits)
        high = first = self.number()
        if self.took(":"):
            first = self.number()
        self.take("]")
        if not low <= first <= high < low + bits:
            self.fail(f"{name} has no bits {high} to {first}")
        return Reference(name, first, high - first + 1)

    def read_through(self) -> None:
        """Replace registers by their inputs, after a check of valid bits and of all delays."""
        wanted = {f"input {name} 1" for name in CONTROLS[:3]}
        wanted |= {"output valid_out 1", "valid", "valid_out", "initial"}
        if sorted(self.controls) != (sorted(wanted) if self.found.stages else []):
            self.fail("ports or statements of a pipeline are missing, or occur twice")
        if missing := self.found.spans.keys() - {*self.found.made, *self.held, *self.found.inputs}:
            self.fail(f"{min(missing)} is not assigned")
        if driven := self.held.keys() & {**self.found.made, **self.found.inputs}.keys():
            self.fail(f"register {min(driven)} is assigned twice")
        late: dict[str, int | None] = dict.fromkeys(self.found.inputs, 0)
        old = self.found.made
        sources: dict[str, Reference] = {}
        for name, formula in self.held.items():
            if not isinstance(formula, Reference) or self.found.spans[name][1] != formula.bits:
                self.fail(f"register {name} differs in width from its input")
            sources[name] = formula
        made = {name: [ref.name for ref in references(formula)] for name, formula in old.items()}
        made |= {name: [source.name] for name, source in sources.items()}
        for name in made:
            self.time(name, made, sources, late)
        ends = {late[name] for name in self.found.outputs if made.get(name)}
        if ends - {self.found.stages, None}:
            self.fail("delays of outputs differ from the number of stages of the module")
        self.found.made = {name: self.through(old[name], sources) for name in late if name in old}
        self.found.claims = {word: x for word, x in self.found.claims.items() if x in old}

    def through(self, formula: Formula, sources: dict[str, Reference]) -> Formula:
        """Return a formula with registers replaced by their inputs."""
        if isinstance(formula, Reference):
            while formula.name in sources:
                source = sources[formula.name]
                low = formula.low - self.found.spans[formula.name][0] + source.low
                formula = Reference(source.name, low, formula.bits)
        elif isinstance(formula, Joined):
            parts = tuple(self.through(part, sources) for part in formula.parts)
            upright = tuple(self.upright(part, sources) for part in parts)
            return Joined(parts if upright == parts else _merged(upright), formula.bits)
        elif isinstance(formula, VerilogOperation):
            parts = tuple(self.through(part, sources) for part in formula.parts)
            return VerilogOperation(formula.sign, parts, formula.bits)
        elif isinstance(formula, TableCase):
            return TableCase(self.through(formula.key, sources), formula.entries, formula.bits)
        return formula

    def upright(self, formula: Formula, sources: dict[str, Reference]) -> Formula:
        """Return the bit itself for the inverse of a signal that is the inverse of a bit."""
        if isinstance(formula, VerilogOperation) and formula.sign == "~" and formula.bits == 1:
            (inner,) = formula.parts
            cuts = self.found.claims.values()  # the cut points of a proof
            name = inner.name if isinstance(inner, Reference) else ""
            made = self.found.made.get(name) if name not in cuts else None
            if isinstance(made, VerilogOperation) and (made.sign, made.bits) == ("~", 1):
                return self.through(made.parts[0], sources)
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


# --------------------------------------------------------------------------------------------------
# Gate-level Verilog: formulas of single bits as a network.
# --------------------------------------------------------------------------------------------------

_ROWS = (0xF0, 0xCC, 0xAA)  # values of three signals in the rows of a table


def read_gates(text: str, where: str = "Verilog") -> Netlist:
    """Read a module of single bits as a netlist, without registers."""
    module = _Reader(text, where).module()
    ports = [
        [Reference(name, k, 1) for name, bits in some.items() for k in reversed(range(bits))]
        for some in (module.inputs, module.outputs)
    ]
    builder = Builder(len(ports[0]))
    known = {bit: builder.input(k) for k, bit in enumerate(ports[0])}
    try:
        for name, formula in module.made.items():
            bits = formula.parts if isinstance(formula, Joined) else (formula,)
            made = [_literal(bit, builder, known) for bit in bits]
            low = module.spans[name][0]
            known |= {Reference(name, k, 1): literal for k, literal in enumerate(made, low)}
        network = builder.build([known[bit] for bit in ports[1]])
    except KeyError as error:
        raise DataError(f"{shown(str(error))} is no gate, or is not made", where=where) from error
    inputs, outputs = (
        tuple(bit.name + f"[{bit.low}]" * (module.spans[bit.name][1] > 1) for bit in some)
        for some in ports
    )
    return Netlist(module.name, inputs, outputs, network)


def _literal(formula: Formula, builder: Builder, known: Mapping[Reference, int]) -> int:
    """Return the literal of a formula of one bit that reads at most three, or is a table."""
    if isinstance(formula, TableCase) and isinstance(formula.key, Joined):
        rows = [2 * TRUE * one for one in formula.entries]
        for part in formula.key.parts:
            choice = _literal(part, builder, known)
            pairs = zip(rows[1::2], rows[::2], strict=True)
            rows = [builder.node(MUX, choice, high, low) for high, low in pairs]
        return rows[0]
    read = sorted(set(references(formula)))
    table = _table(formula, dict(zip(read, _ROWS, strict=False)))
    return builder.node(table & ALL, *(known[one] for one in read))


def _table(formula: Formula, rows: Mapping[Reference, int]) -> int:
    if isinstance(formula, Reference):
        return rows[formula]
    if isinstance(formula, Literal) and formula.bits == 1:
        return ALL * formula.value
    if not isinstance(formula, VerilogOperation) or formula.bits != 1:
        raise KeyError(str(formula))
    parts = [_table(part, rows) for part in formula.parts]
    if formula.sign == "~":
        return ~parts[0]
    return int({"&": and_, "|": or_, "^": xor}[formula.sign](*parts))
