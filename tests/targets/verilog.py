"""A small simulator of Verilog: what exports and their benches use of the language, and no more.

A design is compiled to Python. Registers begin at 1s, so that what is never set shows.
"""

import heapq
import re
from collections.abc import Iterator
from itertools import count
from typing import Any

TOKEN = re.compile(
    r"//[^\n]*|/\*.*?\*/|\(\* keep \*\)|`\w+|\"[^\"]*\"|\d+'[bdh][0-9a-f]+|\$?\w+"
    r"|<=|>=|===|!==|==|!=|&&|\|\||<<|>>|~\^|[^\s\w]",
    re.DOTALL,
)
LEVELS = [["?"], ["||"], ["&&"], ["|"], ["^", "~^"], ["&"], ["==", "!=", "===", "!=="],
          ["<", "<=", ">", ">="], ["<<", ">>"], ["+", "-"], ["*", "/", "%"]]  # fmt: skip
PYTHON = {"||": "or", "&&": "and", "===": "==", "!==": "!=", "/": "//"}


def tokens(text: str) -> list[str]:
    """Return the tokens of a text for a tool without macros."""
    found: list[str] = []
    kept = [True]
    for one in TOKEN.findall(text):
        if one in ("`ifdef", "`elsif"):
            kept = [*kept, False] if one == "`ifdef" else kept
        elif one == "`else":
            kept[-1] = True
        elif one == "`endif":
            kept.pop()
        elif all(kept) and not one.startswith(("//", "/*", "(*")):
            found.append(one)
    return found


class Reader:
    """Takes tokens one after the other, and makes trees of expressions and statements."""

    def __init__(self, found: list[str]) -> None:
        self.rest = found[::-1]
        self.inner: list[str] = []  # integers of blocks

    def peek(self) -> str:
        return self.rest[-1] if self.rest else ""

    def take(self, wanted: str = "") -> str:
        found = self.rest.pop()
        assert wanted in ("", found), f"{found} in place of {wanted}"
        return found

    def took(self, wanted: str) -> bool:
        return self.peek() == wanted and bool(self.rest.pop())

    def many(self, ends: str = ")") -> list[Any]:
        found = [self.expression()]
        while self.took(","):
            found.append(self.expression())
        self.take(ends)
        return found

    def expression(self, level: int = 0) -> Any:
        if level == len(LEVELS):
            return self.atom()
        left = self.expression(level + 1)
        if not level:
            if self.took("?"):
                then = self.expression()
                self.take(":")
                return ("?", left, then, self.expression())
            return left
        while self.peek() in LEVELS[level]:
            sign, right = self.take(), self.expression(level + 1)
            if sign == "-" and left[0] == right[0] == "number" and left[3] and right[3]:
                left = ("number", left[1] - right[1], 32, True)
            else:
                left = (sign, left, right)
        return left

    def atom(self) -> Any:  # noqa: PLR0911 (a kind a line)
        one = self.take()
        if one in ("~", "!", "&", "|", "-"):
            return (f"{one}1", self.atom())
        if one == "(":
            (found,) = self.many()
            return found
        if one == "{":
            first = self.expression()
            if self.took("{"):
                (inner,) = self.many("}")
                self.take("}")
                return ("repeat", first, inner)
            return ("join", [first, *(self.many("}") if self.took(",") else self.closed())])
        if one == "$signed":
            self.take("(")
            return ("signed", *self.many())
        if re.match(r"\d", one):
            size, _, rest = one.partition("'")
            base = {"b": 2, "d": 10, "h": 16, "": 10}[rest[:1]]
            value = int(rest[1:] or size, base)
            bits = int(size) if rest else 32
            assert value < 1 << bits, one
            return ("number", value, bits, not rest)
        if self.took("["):
            high = self.expression()
            low = self.expression() if self.took(":") else None
            self.take("]")
            return ("part", one, high, low)
        return ("name", one)

    def closed(self) -> list[Any]:
        self.take("}")
        return []

    def assignment(self) -> tuple[str, Any, Any]:
        target = self.atom()
        kind = self.take()
        assert kind in ("=", "<="), kind
        return (kind, target, self.expression())

    def statement(self) -> Any:  # noqa: PLR0911 (a kind a line)
        one = self.peek()
        if one in ("begin", "fork"):
            return self.block()
        if one == "if":
            self.take()
            asked = self.atom()
            then = self.statement()
            return ("if", asked, then, self.statement() if self.took("else") else ("begin", []))
        if one == "case":
            return self.case()
        if one == "for":
            self.take()
            self.take("(")
            first = self.assignment()
            self.take(";")
            asked = self.expression()
            self.take(";")
            step = self.assignment()
            self.take(")")
            body = ("begin", [self.statement(), step])
            return ("begin", [first, ("while", asked, body)])
        if one in ("while", "repeat"):
            self.take()
            return (one, self.atom(), self.statement())
        if one == "forever":
            self.take()
            return ("while", ("number", 1, 1, False), self.statement())
        if one in ("#", "@"):
            self.take()
            wait = self.atom() if one == "#" else (self.take("("), self.take(), self.take())[1:]
            if one == "@":
                self.take(")")
            after = ("begin", []) if self.took(";") else self.statement()
            return ("begin", [(one, wait), after])
        if one.startswith("$"):
            name = self.take()
            given = self.shown() if self.took("(") else []
            self.take(";")
            return (name, given)
        found = ("begin", []) if one == ";" else self.assignment()
        self.take(";")
        return found

    def shown(self) -> list[Any]:
        text = self.take()
        return [text.strip('"'), *(self.many() if self.took(",") else [self.take(")")][1:])]

    def block(self) -> Any:
        kind = self.take()
        if self.took(":"):
            self.take()
        found: list[Any] = []
        while not self.took("join" if kind == "fork" else "end"):
            if self.took("integer"):
                while (one := self.take()) != ";":
                    self.inner += [one] * (one != ",")
            else:
                found.append(self.statement())
        return (kind, found)

    def case(self) -> Any:
        self.take()
        asked = self.atom()
        rows: list[tuple[Any, Any]] = []
        while not self.took("endcase"):
            at = None if self.took("default") else self.expression()
            self.take(":")
            rows.append((at, self.statement()))
        return ("case", asked, rows)


class Design:
    """All modules of some texts as one: its signals, what makes them, and its processes."""

    def __init__(self, *texts: str) -> None:
        self.modules: dict[str, list[str]] = {}
        for text in texts:
            found = tokens(text)
            while found:
                end = found.index("endmodule")
                self.modules[found[1]] = found[2:end]
                found = found[end + 1 :]
        self.spans: dict[str, tuple[int, int]] = {}  # of a signal its lowest bit and its bits
        self.signed: set[str] = set()
        self.read: dict[str, int] = {}  # which bits something reads
        self.memories: dict[str, int] = {}
        self.values: dict[str, Any] = {}
        self.makes: list[tuple[str, set[str], str]] = []  # what is made, of what, by which lines
        self.clocked: list[tuple[str, str, Any]] = []
        self.starts: list[Any] = []

    def build(self, name: str, prefix: str = "", parameters: dict[str, Any] | None = None) -> None:
        """Add a module, the names of its signals behind a prefix."""
        module = Module(self, name, prefix, parameters or {})
        self.read |= {name: -1 for name, way in module.ports.items() if way == "output"}

    @property
    def unread(self) -> list[str]:
        """The signals that have bits which nothing reads, as linters count."""
        return [
            name
            for name, (_, bits) in self.spans.items()
            if ~self.read.get(name, 0) & ((1 << bits) - 1) and not name.endswith("unused")
        ]

    def settled(self) -> Any:
        """Return a function that makes all signals anew, each after those that it is made of."""
        lines, left = ["def settle(v):"], [*self.makes]
        while left:
            waiting = {name for name, _, _ in left}
            now = [one for one in left if not one[1] & waiting - {one[0]}]
            assert now, f"a circle: {waiting}"
            lines += [text for _, _, text in now]
            left = [one for one in left if one not in now]
        space: dict[str, Any] = {"extended": extended, "signed": signed}
        exec("\n".join([*lines, "    return"]), space)  # noqa: S102 (our own lines)
        return space["settle"]


def extended(value: int, bits: int, wide: int) -> int:
    """Return a signed number in more bits."""
    return value | ((1 << wide) - (1 << bits)) * (value >> bits - 1)


def signed(value: int, bits: int) -> int:
    """Return what bits mean in two's complement."""
    return value - (value >> bits - 1 << bits)


class Module:
    """Adds a module to a design."""

    def __init__(self, design: Design, name: str, prefix: str, parameters: dict[str, Any]) -> None:
        self.compiled: dict[str, Any] = {}  # expressions and assignments of processes
        self.design, self.prefix, self.parameters = design, prefix, parameters
        self.reader = Reader([*design.modules[name]])
        self.ports: dict[str, str] = {}
        if self.reader.took("("):
            while not self.reader.took(")"):
                self.reader.took(",")
                way = self.reader.take()
                (name,) = self.declare(self.reader.take(), port=True)
                self.ports[name.removeprefix(prefix)] = way
            self.reader.take(";")
        elif self.reader.peek() == ";":
            self.reader.take()
        while self.reader.rest:
            self.item()

    def declare(self, kind: str, *, port: bool = False) -> list[str]:
        wide_sign = self.reader.took("signed")
        low, bits = 0, 1
        if self.reader.took("["):
            high, low = (self.fixed(end) for end in (":", "]"))
            bits = high - low + 1
            assert bits > 0, "a range that runs up"
        if kind == "integer":
            bits, wide_sign = 32, True
        made = []
        while True:
            name = self.prefix + self.reader.take()
            assert name not in self.design.spans, f"{name} twice"
            self.design.spans[name] = low, bits
            if wide_sign:
                self.design.signed.add(name)
            self.design.values[name] = (1 << bits) - 1
            if port:
                return [name]
            if self.reader.took("["):
                first, last = (self.fixed(end) for end in (":", "]"))
                assert first == 0
                self.design.memories[name] = last + 1
                self.design.values[name] = [(1 << bits) - 1] * (last + 1)
            made.append(name)
            if not self.reader.took(","):
                return made

    def fixed(self, end: str) -> int:
        found = int(eval(self.text(self.reader.expression(), 32)))  # noqa: S307 (our own text)
        self.reader.take(end)
        return found

    def item(self) -> None:
        one = self.reader.take()
        if one in ("wire", "reg", "integer"):
            (*_, name) = self.declare(one)
            if self.reader.took("="):
                value = self.reader.expression()
                if one == "wire":
                    self.make(("name", name[len(self.prefix) :]), value)
                else:
                    self.design.values[name] = eval(  # noqa: S307 (our own text)
                        self.text(value, self.design.spans[name][1])
                    )
            self.reader.take(";")
        elif one == "assign":
            _, target, value = self.reader.assignment()
            self.make(target, value)
            self.reader.take(";")
        elif one == "parameter":
            self.reader.take("[")
            high, _ = (self.fixed(end) for end in (":", "]"))
            name = self.reader.take()
            self.reader.take("=")
            given = self.parameters.get(name, self.reader.expression())
            self.reader.take(";")
            self.design.spans[self.prefix + name] = 0, high + 1
            self.design.values[self.prefix + name] = eval(self.text(given, high + 1))  # noqa: S307
        elif one == "initial":
            self.design.starts.append(self.process(self.reader.statement(), once=True))
            for name in self.reader.inner:
                self.design.spans[self.prefix + name] = 0, 32
                self.design.signed.add(self.prefix + name)
            self.reader.inner.clear()
        elif one == "always":
            self.always()
        else:
            self.instance(one)

    def always(self) -> None:
        if self.reader.peek() == "#":
            self.design.starts.append(self.process(self.reader.statement(), once=False))
            return
        self.reader.take("@")
        if self.reader.took("*"):
            body = self.reader.statement()
            (name,) = {*targets(body)}
            reads: set[str] = set()
            lines = self.lines(body, 1, reads, blocking=True)
            self.design.makes.append((self.prefix + name, reads, "\n".join(lines)))
            return
        self.reader.take("(")
        edge, clock = self.reader.take(), self.prefix + self.reader.take()
        self.reader.take(")")
        self.design.read[clock] = -1
        body = self.reader.statement()
        lines = ["def run(v, new):", *self.lines(body, 1, set(), blocking=False), "    return"]
        space: dict[str, Any] = {"extended": extended, "signed": signed}
        exec("\n".join(lines), space)  # noqa: S102 (our own lines)
        self.design.clocked.append((edge, clock, space["run"]))

    def instance(self, kind: str) -> None:
        parameters: dict[str, Any] = {}
        if self.reader.took("#"):
            self.reader.take("(")
            (parameters["INIT"],) = self.reader.many()
        inner = f"{self.prefix}{self.reader.take()}."
        self.reader.take("(")
        given: list[tuple[str, Any]] = []
        while not self.reader.took(")"):
            name = ""
            if self.reader.took("."):
                name = self.reader.take()
                self.reader.take("(")
                given.append((name, self.reader.many()[0]))
            else:
                given.append((name, self.reader.expression()))
            self.reader.took(",")
        self.reader.take(";")
        module = Module(self.design, kind, inner, parameters)
        names = [*module.ports]
        pairs = [(n or names[k], value) for k, (n, value) in enumerate(given)]
        assert sorted(name for name, _ in pairs) == sorted(names), f"ports of {kind}"
        for name, value in pairs:
            bits = self.design.spans[inner + name][1]
            assert self.bits(value) == bits, f"{inner}{name} has {bits} bits"
            if module.ports[name] == "output":
                self.make(value, ("name", inner + name), self.prefix)
            else:
                reads: set[str] = set()
                text = self.text(value, bits, reads=reads)
                self.design.makes.append((inner + name, reads, f"    v['{inner}{name}'] = {text}"))

    def make(self, target: Any, value: Any, stripped: str = "") -> None:
        """Add what drives a signal, or some of its bits."""
        if stripped or (value[0] == "name" and "." in value[1]):
            value = ("whole", value[1])
        reads: set[str] = set()
        name = self.prefix + target[1]
        lines = self.assigned(target, value, 1, reads, "v")
        if target[0] == "part":  # a part of a signal: others are made elsewhere
            others = [k for k, (one, _, _) in enumerate(self.design.makes) if one == name]
            for k in others:
                _, other, text = self.design.makes[k]
                self.design.makes[k] = (name, other | reads, "\n".join([text, *lines]))
                return
        self.design.makes.append((name, reads, "\n".join(lines)))

    # Expressions: bits, sign, and Python that gives a value of so many bits without a sign.

    def bits(self, value: Any) -> int:  # noqa: C901, PLR0911 (a kind a line)
        kind = value[0]
        if kind == "number":
            return int(value[2])
        if kind == "whole":
            return self.design.spans[value[1]][1]
        if kind == "name":
            return 32 if value[1] == "$time" else self.design.spans[self.prefix + value[1]][1]
        if kind == "part":
            if self.prefix + value[1] in self.design.memories:
                return self.design.spans[self.prefix + value[1]][1]
            return 1 if value[3] is None else value[2][1] - value[3][1] + 1
        if kind == "join":
            return sum(self.bits(one) for one in value[1])
        if kind == "repeat":
            return int(value[1][1]) * self.bits(value[2])
        if kind in ("signed", "~1", "-1"):
            return self.bits(value[1])
        if kind == "?":
            return max(self.bits(value[2]), self.bits(value[3]))
        if kind in ("<<", ">>"):
            return self.bits(value[1])
        if kind in ("+", "-", "*", "/", "%", "&", "|", "^", "~^"):
            return max(self.bits(value[1]), self.bits(value[2]))
        return 1

    def sign(self, value: Any) -> bool:
        kind = value[0]
        if kind == "number":
            return bool(value[3])
        if kind == "name":
            return self.prefix + value[1] in self.design.signed
        if kind == "signed":
            return True
        if kind in ("~1", "-1"):
            return self.sign(value[1])
        if kind in ("+", "-", "*", "/", "%", "&", "|", "^", "~^"):
            return self.sign(value[1]) and self.sign(value[2])
        return False

    def text(  # noqa: PLR0911 (a kind a line)
        self, value: Any, wide: int, *, sign: bool | None = None, reads: set[str] | None = None
    ) -> str:
        """Return Python for an expression in a place of so many bits."""
        reads = set() if reads is None else reads
        sign = self.sign(value) if sign is None else sign
        kind, own = value[0], self.bits(value)
        wide = max(wide, own)
        most = (1 << wide) - 1

        def inner(one: Any) -> str:
            return self.text(one, wide, sign=sign, reads=reads)

        if kind in ("+", "-", "*", "&", "|", "^"):
            return f"(({inner(value[1])} {kind} {inner(value[2])}) & {most})"
        if kind in ("/", "%"):
            return f"({inner(value[1])} {PYTHON.get(kind, kind)} {inner(value[2])})"
        if kind == "~^":
            return f"({inner(value[1])} ^ {inner(value[2])} ^ {most})"
        if kind == "~1":
            return f"({inner(value[1])} ^ {most})"
        if kind == "-1":
            return f"(-{inner(value[1])} & {most})"
        if kind in ("<<", ">>"):
            return f"(({inner(value[1])} {kind} {self.text(value[2], 0, reads=reads)}) & {most})"
        if kind == "?":
            asked = self.text(value[1], 0, reads=reads)
            return f"({inner(value[2])} if {asked} else {inner(value[3])})"
        text = self.leaf(value, reads)
        return f"extended({text}, {own}, {wide})" if sign and wide > own else text

    def leaf(self, value: Any, reads: set[str]) -> str:  # noqa: C901, PLR0911 (a kind a line)
        """Return Python for what has a width of its own."""
        kind = value[0]
        if kind == "number":
            return str(value[1])
        if kind in ("name", "whole"):
            if value[1] == "$time":
                return "v['$time']"
            name = value[1] if kind == "whole" else self.prefix + value[1]
            reads.add(name)
            self.design.read[name] = -1
            return f"v['{name}']"
        if kind == "part":
            return self.part(value, reads)
        if kind == "join":
            text = "0"
            for one in value[1]:
                text = f"({text} << {self.bits(one)} | {self.text(one, 0, reads=reads)})"
            return text
        if kind == "repeat":
            bits = self.bits(value[2])
            ones = sum(1 << k * bits for k in range(value[1][1]))
            return f"({self.text(value[2], 0, reads=reads)} * {ones})"
        if kind == "signed":
            return self.text(value[1], 0, reads=reads)
        if kind in ("&1", "|1", "!1"):
            text = self.text(value[1], 0, reads=reads)
            if kind == "&1":
                return f"int({text} == {(1 << self.bits(value[1])) - 1})"
            return f"int({text} {'!=' if kind == '|1' else '=='} 0)"
        if kind in ("&&", "||"):
            a, b = (self.text(one, 0, reads=reads) for one in value[1:])
            return f"int(bool({a} {PYTHON[kind]} {b}))"
        wide = max(self.bits(one) for one in value[1:])
        both = self.sign(value[1]) and self.sign(value[2])
        a, b = (self.text(one, wide, sign=both, reads=reads) for one in value[1:])
        if both:
            a, b = f"signed({a}, {wide})", f"signed({b}, {wide})"
        return f"int({a} {PYTHON.get(kind, kind)} {b})"

    def part(self, value: Any, reads: set[str]) -> str:
        name = self.prefix + value[1]
        reads.add(name)
        low, bits = self.design.spans[name]
        high = self.text(value[2], 0, reads=reads)
        fixed = value[2][0] == "number" and name not in self.design.memories
        last = value[2][1] - low if fixed else 0
        first = value[3][1] - low if value[3] else last
        mask = (2 << last) - (1 << first) if fixed else -1
        self.design.read[name] = self.design.read.get(name, 0) | mask
        if name in self.design.memories:
            return f"v['{name}'][{high}]"
        if value[3] is None and not fixed:
            return f"(v['{name}'] >> {high} - {low} & 1)"
        assert 0 <= first <= last < bits, f"{name}[{last}:{first}]"
        return f"(v['{name}'] >> {first} & {(1 << last - first + 1) - 1})"

    # Statements: Python lines.

    def assigned(
        self,
        target: Any,
        value: Any,
        depth: int,
        reads: set[str],
        into: str,
        *,
        loose: bool = False,
    ) -> list[str]:
        name = self.prefix + target[1]
        wide, own = self.bits(target), self.bits(value)
        assert loose or wide == own or value[0] == "*", f"{own} bits for {name}, which has {wide}"
        low, bits = self.design.spans[name]
        room = "    " * depth
        if target[0] == "name":
            text = self.text(value, bits, reads=reads)
            cut = f" & {(1 << bits) - 1}" if self.bits(value) > bits else ""
            return [f"{room}{into}['{name}'] = {text}{cut}"]
        if name in self.design.memories:
            at = self.text(target[2], 0, reads=reads)
            text = self.text(value, bits, reads=reads)
            return [f"{room}{into}['{name}'][{at}] = {text}"]
        at = self.text(target[3] or target[2], 0, reads=reads)
        ones = (1 << self.bits(target)) - 1
        text = self.text(value, self.bits(target), reads=reads)
        old = f"{into}['{name}'] & ~({ones} << {at} - {low})"
        return [f"{room}{into}['{name}'] = {old} | ({text}) << {at} - {low}"]

    def lines(self, one: Any, depth: int, reads: set[str], *, blocking: bool) -> list[str]:
        """Return Python for a statement without waiting."""
        room = "    " * depth
        if one[0] == "begin":
            found = [line for each in one[1]
                     for line in self.lines(each, depth, reads, blocking=blocking)]  # fmt: skip
            return found or [f"{room}pass"]
        if one[0] == "if":
            asked = self.text(one[1], 0, reads=reads)
            then, other = (
                self.lines(x, depth + 1, reads, blocking=blocking) for x in (one[2], one[3])
            )
            return [f"{room}if {asked}:", *then, f"{room}else:", *other]
        if one[0] == "case":
            found = [f"{room}at = {self.text(one[1], 0, reads=reads)}"]
            assert one[2][-1][0] is None, "a case without a default"
            for k, (at, body) in enumerate(one[2]):
                if at is not None:
                    assert self.bits(at) == self.bits(one[1]), "a case of another width"
                    found.append(f"{room}{'el' * bool(k)}if at == {self.text(at, 0)}:")
                else:
                    found.append(f"{room}else:" if k else f"{room}if 1:")
                found += self.lines(body, depth + 1, reads, blocking=blocking)
            return found
        assert one[0] == ("=" if blocking else "<="), one
        return self.assigned(one[1], one[2], depth, reads, "v" if blocking else "new")

    # Processes: generators that yield what they wait for.

    def process(self, body: Any, *, once: bool) -> Any:
        def run(v: dict[str, Any]) -> Iterator[Any]:
            yield from self.run(body, v)
            while not once:
                yield from self.run(body, v)

        return run

    def value(self, one: Any, v: dict[str, Any]) -> int:
        key = str(one)
        if key not in self.compiled:
            space = {"extended": extended, "signed": signed}
            self.compiled[key] = eval(f"lambda v: {self.text(one, 0)}", space)  # noqa: S307
        return int(self.compiled[key](v))

    def run(self, one: Any, v: dict[str, Any]) -> Iterator[Any]:  # noqa: C901, PLR0912
        kind = one[0]
        if kind == "begin":
            for each in one[1]:
                yield from self.run(each, v)
        elif kind == "=":
            key = str(one)
            if key not in self.compiled:
                lines = ["def run(v):", *self.assigned(one[1], one[2], 1, set(), "v", loose=True)]
                space: dict[str, Any] = {"extended": extended, "signed": signed}
                exec("\n".join(lines), space)  # noqa: S102 (our own lines)
                self.compiled[key] = space["run"]
            self.compiled[key](v)
        elif kind == "if":
            yield from self.run(one[2 if self.value(one[1], v) else 3], v)
        elif kind == "while":
            while self.value(one[1], v):
                yield from self.run(one[2], v)
        elif kind == "repeat":
            for _ in range(self.value(one[1], v)):
                yield from self.run(one[2], v)
        elif kind == "#":
            yield self.value(one[1], v)
        elif kind == "@":
            yield (one[1][0], self.prefix + one[1][1])
        elif kind == "fork":
            yield [self.run(each, v) for each in one[1]]
        elif kind == "$display":
            text, *rest = one[1]
            given = [signed(self.value(x, v), self.bits(x)) for x in rest]
            yield f"$display {text.replace('%0d', '%d') % tuple(given)}"
        else:
            yield kind


def targets(one: Any) -> Iterator[str]:
    """Yield the names of what a statement sets."""
    if one[0] == "=":
        yield one[1][1]
    elif one[0] == "begin":
        for each in one[1]:
            yield from targets(each)
    elif one[0] == "case":
        for _, body in one[2]:
            yield from targets(body)


class Simulation:
    """A design at work: signals are set and read by name, clocks and time go on."""

    def __init__(self, design: Design) -> None:
        self.design = design
        self.v = self.design.values
        self.v["$time"] = 0
        self.settle = self.design.settled()
        self.watched = {name for _, name, _ in self.design.clocked}
        self.waiting: list[tuple[str, str, Any]] = []
        self.later: list[tuple[int, int, Any]] = []
        self.order = count()
        self.said: list[str] = []
        self.done = False
        self.joins: dict[int, list[Any]] = {}
        for start in self.design.starts:
            heapq.heappush(self.later, (0, next(self.order), start(self.v)))
        self.before: dict[str, int] = {}
        self.settle(self.v)
        self.run(0)

    def give(self, **values: int) -> None:
        """Give signals values, and let everything follow."""
        self.before = {name: self.v[name] for name in self.all_watched()}
        self.v.update(values)
        self.follow()

    def all_watched(self) -> set[str]:
        return self.watched | {name for _, name, _ in self.waiting}

    def clock(self, name: str = "clock") -> None:
        """Let a clock rise and fall."""
        self.give(**{name: 0})
        self.give(**{name: 1})
        self.give(**{name: 0})

    def follow(self) -> None:
        """Settle, and run what waits for edges."""
        self.settle(self.v)
        while edges := [
            ("posedge" if self.v[name] else "negedge", name)
            for name, was in self.before.items()
            if self.v[name] != was
        ]:
            self.before = {name: self.v[name] for name in self.all_watched()}
            new: dict[str, Any] = {}
            for edge, name, run in self.design.clocked:
                if (edge, name) in edges:
                    run(self.v, New(self.v, new))
            self.v.update(new)
            self.settle(self.v)
            ready = [one for one in self.waiting if (one[0], one[1]) in edges]
            self.waiting = [one for one in self.waiting if (one[0], one[1]) not in edges]
            for _, _, process in ready:
                self.resume(process)
            self.settle(self.v)

    def resume(self, process: Any) -> None:
        """Run a process until it waits."""
        for wanted in process:
            if isinstance(wanted, int):
                at = self.v["$time"] + wanted
                heapq.heappush(self.later, (at, next(self.order), process))
                return
            if isinstance(wanted, tuple):
                self.waiting.append((*wanted, process))
                self.before.setdefault(wanted[1], self.v[wanted[1]])
                return
            if isinstance(wanted, list):
                left = [len(wanted), process]
                for each in wanted:
                    self.resume(self.joined(each, left))
                return
            if wanted == "$finish":
                self.done = True
                return
            self.said.append(wanted.removeprefix("$display "))

    def joined(self, process: Any, left: list[Any]) -> Iterator[Any]:
        yield from process
        left[0] -= 1
        if not left[0]:
            self.resume(left[1])

    def run(self, until: int) -> None:
        """Let time go on."""
        while self.later and self.later[0][0] <= until and not self.done:
            at, _, process = heapq.heappop(self.later)
            self.v["$time"] = at
            self.before = {name: self.v[name] for name in self.all_watched()}
            self.resume(process)
            self.follow()

    def says(self, until: int = 10_000_000) -> str:
        """Return what a bench prints."""
        self.run(until)
        return "\n".join(self.said)


class New(dict[str, Any]):
    """What registers become at an edge: parts of them keep what they were."""

    def __init__(self, old: dict[str, Any], new: dict[str, Any]) -> None:
        super().__init__()
        self.old, self.new = old, new

    def __getitem__(self, name: str) -> Any:
        return self.new.get(name, self.old[name])

    def __setitem__(self, name: str, value: Any) -> None:
        self.new[name] = value


def simulation(top: str, *texts: str) -> Simulation:
    """Return the simulation of a module, or of a bench of it."""
    design = Design(*texts)
    design.build(top)
    return Simulation(design)
