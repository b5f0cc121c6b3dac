"""Verilog of words read back, by a reader that shares nothing with the writer.

It takes unsigned vectors of stated widths, sums, case tables, one signed product a line, and
clocked registers, which are read through: what is returned is what a full pipeline computes. That
all signals of an operation are equally late, and all widths equal where they must be, is checked.
Comments say which signal stands for which word of a graph; those are claims, to be proved.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NoReturn

from boolcomp.common.errors import DataError, shown
from boolcomp.measure.verification.wordformula import (
    Case,
    Described,
    Formula,
    Joined,
    Literal,
    Operation,
    Reference,
    references,
)

if TYPE_CHECKING:
    from collections.abc import Collection

_WORD_TOKEN = re.compile(
    r"//\s*((?:load \d+ )?w\d+|cell of [^\n]*?)(?::[^\n]*)?\n|//[^\n]*\n|\(\* keep \*\)|"
    r"(\d+'[bd]\d+|\$?\w+|<=|~\^|@\*|[-~&|^+*?:;,=(){}\[\]@])|\s+"
)
_LITERAL = re.compile(r"(\d+)'([bd])(\d+)")
_SKIPPED_WORDS = ("valid", "valid_out", "unused")
CONTROLS = ("clock", "enable", "valid_in", "valid_out")
WIDEST = 62  # bits of a word; simulation is in 64


def read_words(text: str, where: str = "Verilog") -> Described:
    """Return what a module of words says; a `DataError` for what is none."""
    return _WordReader(text, where).module()


class _WordReader:
    def __init__(self, text: str, where: str) -> None:
        self.where = where
        self.tokens: list[tuple[str, str]] = []  # what a comment claims, or a token
        place = 0
        while place < len(text):
            match = _WORD_TOKEN.match(text, place)
            if match is None:
                self.fail(f"{shown(text[place : place + 20])} is no text of words")
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
        """Return the next token; claims before it wait for the next signal."""
        while self.tokens[self.place][0]:
            self.waiting.append(self.tokens[self.place][0])
            self.place += 1
        return self.tokens[self.place][1]

    def take(self, wanted: str = "") -> str:
        token = self.peek()
        if wanted and token != wanted:
            self.fail(f"{shown(token)} stands where {shown(wanted)} should")
        self.place += 1
        return token

    def took(self, wanted: str) -> bool:
        """Tell whether the next token is this one, and take it."""
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
            self.fail(f"{shown(name)} is there already, or too wide")
        self.found.spans[name] = (low, bits)

    def span(self) -> tuple[int, int]:
        """Read the numbers of bits, if there are any."""
        if not self.took("["):
            return 0, 1
        high = int(self.take())
        self.take(":")
        low = int(self.take())
        self.take("]")
        return low, high - low + 1

    def item(self, word: str) -> None:
        """Read one item of a module."""
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
            self.fail(f"{shown(word)} begins no line of words")

    def make(self, name: str, formula: Formula) -> None:
        if name in _SKIPPED_WORDS:
            return
        if name not in self.found.spans or name in self.found.made:
            self.fail(f"{shown(name)} is not declared, or made twice")
        bits = self.found.spans[name][1]
        product = isinstance(formula, Operation) and formula.sign == "*"
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
            self.fail(f"{name} has not every entry")
        values = tuple(entries[k] for k in range(len(entries)))
        self.make(name, Case(index, values, bits))

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
            self.fail(f"{shown(text)} is no constant")
        return Literal(int(match[3], 2 if match[2] == "b" else 10), int(match[1]))

    def expression(self) -> Formula:
        """Read a choice, or what stands in one."""
        first = self.binary(0)
        if not self.took("?"):
            return first
        then = self.binary(0)
        self.take(":")
        otherwise = self.binary(0)
        if first.bits != 1 or then.bits != otherwise.bits:
            self.fail("a choice of words of two widths")
        return Operation("?", (first, then, otherwise), then.bits)

    def binary(self, level: int) -> Formula:
        """Read operators of one rank, the weakest first."""
        ranks = (("|",), ("^", "~^"), ("&",), ("+",), ("*",))
        if level == len(ranks):
            return self.unary()
        found = self.binary(level + 1)
        while self.peek() in ranks[level]:
            sign = self.take()
            other = self.binary(level + 1)
            if sign == "*":
                found = Operation("*", (found, other), found.bits + other.bits)
                continue
            if other.bits != found.bits:
                self.fail(f"{found.bits} bits {sign} {other.bits} bits")
            plain = Operation("^" if sign == "~^" else sign, (found, other), found.bits)
            found = Operation("~", (plain,), found.bits) if sign == "~^" else plain
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
            return Operation("~", (part,), part.bits)
        if token in ("&", "|"):
            return Operation("all" if token == "&" else "any", (self.unary(),), 1)  # noqa: S105
        if token == "$signed":  # noqa: S105
            return self.unary()
        return self.literal(token) if "'" in token else self.reference(token)

    def braces(self) -> Formula:
        """Read words side by side, or one so many times."""
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
        if name in ("valid", "valid_in"):  # only where a pipeline says that it is full
            return Literal(0, self.picked())
        if name not in self.found.spans:
            self.fail(f"{shown(name)} is no signal")
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
        """Return how many bits are picked of a word that is of no interest."""
        if not self.took("["):
            return 1
        high = low = int(self.take())
        if self.took(":"):
            low = int(self.take())
        self.take("]")
        return high - low + 1

    def read_through(self) -> None:
        """Put what registers hold where they are read, once all times are known to agree."""
        late = dict.fromkeys(self.found.inputs, 0)
        order: list[tuple[str, Formula]] = [*self.found.made.items()]
        sources: dict[str, Reference] = {}
        for name, formula in self.held.items():
            if not isinstance(formula, Reference) or self.found.spans[name][1] != formula.bits:
                self.fail(f"register {name} holds other bits than it has")
            sources[name] = formula
        made = {name: [ref.name for ref in references(formula)] for name, formula in order}
        made |= {name: [source.name] for name, source in sources.items()}
        for name in made:
            self.time(name, made, sources, late)
        ends = {late[name] for name in self.found.outputs if made.get(name)}
        if ends - {self.found.stages}:
            self.fail("outputs come at other clocks than the module says")
        self.found.made = {name: self.through(formula, sources) for name, formula in order}

    def through(self, formula: Formula, sources: dict[str, Reference]) -> Formula:
        """Return a formula over what registers hold; their bits may have other numbers."""
        if isinstance(formula, Reference):
            while formula.name in sources:
                source = sources[formula.name]
                low = formula.low - self.found.spans[formula.name][0] + source.low
                formula = Reference(source.name, low, formula.bits)
        elif isinstance(formula, Joined):
            parts = tuple(self.through(part, sources) for part in formula.parts)
            return Joined(parts, formula.bits)
        elif isinstance(formula, Operation):
            parts = tuple(self.through(part, sources) for part in formula.parts)
            return Operation(formula.sign, parts, formula.bits)
        elif isinstance(formula, Case):
            return Case(self.through(formula.key, sources), formula.entries, formula.bits)
        return formula

    def time(
        self, root: str, made: dict[str, list[str]], held: Collection[str], late: dict[str, int]
    ) -> None:
        """Find how many clocks a signal comes late."""
        stack, begun = [root], set()
        while stack:
            name = stack[-1]
            if name in late:
                stack.pop()
                continue
            read = made.get(name)
            if read is None or (missing := [one for one in read if one not in late]):
                if read is None or name in begun:
                    self.fail(f"{name} is made nowhere, or depends on itself")
                begun.add(name)
                stack += missing
                continue
            times = {late[one] for one in read}
            if len(times) > 1:
                self.fail(f"{name} reads signals of different clocks")
            late[name] = max(times, default=0) + (name in held)
            stack.pop()
