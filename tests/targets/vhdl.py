"""A small simulator of VHDL: what exports and their benches use of it; types are checked.

A text is translated to signals, lines of Python that make them and processes, which the simulator
of Verilog runs. The functions at the head of exports are known by their names.
"""

import re
from typing import Any

from targets.verilog import Design, Simulation

TOKEN = re.compile(r"--[^\n]*|\"[^\"]*\"|'[01]'|\w+|<=|>=|/=|=>|:=|[^\s\w]")
Typed = tuple[str, str, int]  # Python, a type, and its bits


class Text:
    """An entity and its architecture, added to a design."""

    def __init__(self, design: Design, text: str, prefix: str = "") -> None:
        self.design, self.prefix = design, prefix
        self.types: dict[str, tuple[str, int, int]] = {}  # type, lowest bit, bits
        self.reads: set[str] = set()
        self.variables: set[str] = set()
        self.rows: dict[str, list[tuple[str, str]]] = {}
        self.texts: dict[str, str] = {}
        body = re.sub(r"(?s)    -- a word or bit in a place.*    end every;\n", "", text)
        self.rest = [one for one in TOKEN.findall(body) if not one.startswith("--")][::-1]
        while self.rest:
            self.unit()

    def peek(self) -> str:
        return self.rest[-1] if self.rest else ""

    def take(self, wanted: str = "") -> str:
        found: str = self.rest.pop()
        assert wanted in ("", found), f"{found} in place of {wanted}"
        return found

    def took(self, wanted: str) -> bool:
        return self.peek() == wanted and bool(self.rest.pop())

    def past(self, *words: str) -> None:
        for one in words:
            self.take(one)

    def until(self, end: str) -> list[str]:
        found = []
        while not self.took(end):
            found.append(self.take())
        return found

    def unit(self) -> None:
        one = self.take()
        if one in ("library", "use"):
            self.until(";")
        elif one == "entity":
            self.entity()
        else:
            assert one == "architecture", one
            self.until("is")
            while not self.took("begin"):
                self.declaration()
            while not self.took("end"):
                self.concurrent()
            self.until(";")

    def entity(self) -> None:
        self.name = self.take()
        self.take("is")
        self.ways: dict[str, str] = {}
        if self.took("port"):
            self.take("(")
            while not self.took(")"):
                name = self.take()
                self.take(":")
                self.ways[name] = self.take()
                self.declared([name])
                self.took(";")
            self.take(";")
        self.past("end", self.name, ";")

    def declared(self, names: list[str]) -> None:
        """Take the type of signals."""
        kind = self.take()
        low, bits = 0, 1
        if self.took("("):
            high = int(self.take())
            self.take("downto")
            low = int(self.take())
            bits = high - low + 1
            self.take(")")
            assert bits > 0
        else:
            assert kind in ("std_logic", "integer"), kind
        for name in names:
            assert name not in self.types, f"{name} twice"
            self.types[name] = kind, low, bits
            self.design.spans[self.prefix + name] = low, bits
            self.design.values[self.prefix + name] = (1 << bits) - 1

    def declaration(self) -> None:
        kind = self.take()
        if kind in ("attribute", "type"):
            self.until(";")
            return
        names = [self.take()]
        while self.took(","):
            names.append(self.take())
        self.take(":")
        if kind == "constant":
            found = "".join(self.until(";"))
            self.rows[names[0]] = re.findall(r'(\d+)=>"([01]+)"', found)
            assert [int(k) for k, _ in self.rows[names[0]]] == [*range(len(self.rows[names[0]]))]
            return
        self.declared(names)
        if self.took(":="):
            self.until(";")
            for name in names:
                self.design.values[self.prefix + name] = 0
        else:
            self.take(";")

    # Expressions.

    def expression(self) -> Typed:
        text, kind, bits = self.relation()
        first = ""
        while self.peek() in ("and", "or", "xor"):
            one = self.take()
            assert first in ("", one), "operations of several kinds without brackets"
            first = one
            other = self.relation()
            kind, bits = agreed((text, kind, bits), other)
            sign = {"and": "&", "or": "|", "xor": "^"}[one]
            text = f"({text} {sign} {other[0]})"
        return text, kind, bits

    def relation(self) -> Typed:
        text, kind, bits = self.sum()
        if self.peek() not in ("=", "/=", "<", ">="):
            return text, kind, bits
        sign = {"=": "==", "/=": "!="}.get(one := self.take(), one)
        other = self.sum()
        agreed((text, kind, bits), other)
        return f"int({text} {sign} {other[0]})", "boolean", 1

    def sum(self) -> Typed:
        text, kind, bits = self.term()
        while self.peek() in ("+", "-", "&"):
            sign, other = self.take(), self.term()
            if sign == "&":
                assert {kind, other[1]} <= {"std_logic", "unsigned", "literal", "joined"}
                text, kind, bits = f"({text} << {other[2]} | {other[0]})", "joined", bits + other[2]
                continue
            kind, bits = agreed((text, kind, bits), other)
            assert kind in ("unsigned", "literal", "integer"), kind
            text = f"({text} {sign} {other[0]})"
            text = text if kind == "integer" else f"({text} & {(1 << bits) - 1})"
        return text, kind, bits

    def term(self) -> Typed:
        text, kind, bits = self.factor()
        while self.peek() in ("*", "mod"):
            sign, other = self.take(), self.factor()
            if sign == "mod":
                return f"({text} % {other[0]})", "integer", 32
            assert kind == other[1] == "signed"
            wide = bits + other[2]
            a, b = f"signed({text}, {bits})", f"signed({other[0]}, {other[2]})"
            text, bits = f"({a} * {b} & {(1 << wide) - 1})", wide
        return text, kind, bits

    def factor(self) -> Typed:
        if self.took("not"):
            text, kind, bits = self.primary()
            assert kind in ("std_logic", "unsigned"), kind
            return f"({text} ^ {(1 << bits) - 1})", kind, bits
        return self.primary()

    def primary(self) -> Typed:  # noqa: PLR0911 (a kind a line)
        one = self.take()
        if one == "(":
            found = self.expression()
            self.take(")")
            return found
        if one == "-":
            return f"-{self.take()}", "integer", 32
        if one[0] == "'":
            return one[1], "std_logic", 1
        if one[0] == '"':
            return str(int(one[1:-1], 2)), "literal", len(one) - 2
        if one.isdigit():
            return one, "integer", 32
        if one in ("unsigned", "signed", "std_logic_vector"):
            qualified = self.took("'")
            self.take("(")
            text, kind, bits = self.expression()
            self.take(")")
            if qualified:
                assert kind in (one, "joined"), f"{kind} for {one}"
            else:
                assert kind not in ("std_logic", "joined", "integer", one), f"{kind} to {one}"
            return text, one, bits
        if one in ("place", "flip", "some", "every", "to_unsigned") and self.peek() == "(":
            return self.called(one)
        return self.named(one)

    def called(self, name: str) -> Typed:
        self.take("(")
        text, kind, bits = self.expression()
        given = []
        while self.took(","):
            given.append(self.expression())
        self.take(")")
        if name == "to_unsigned":
            ((wide, _, _),) = given
            assert kind == "integer"
            assert int(text) < min(1 << 31, 1 << int(wide)), "a number that is too large"
            return text, "unsigned", int(wide)
        if name == "place":
            (column, _, _), (wide, _, _) = given
            assert kind in ("unsigned", "literal", "std_logic"), kind
            assert int(column) + bits <= int(wide), "a word beyond its sum"
            return f"({text} << {column})", "unsigned", int(wide)
        assert kind in ("unsigned", "literal"), f"{name} of {kind}"
        if name == "flip":
            ((by, of, _),) = given
            assert of == "std_logic"
            return f"({text} ^ -({by}) & {(1 << bits) - 1})", "unsigned", bits
        if name == "some":
            return f"int({text} != 0)", "std_logic", 1
        return f"int({text} == {(1 << bits) - 1})", "std_logic", 1

    def named(self, name: str) -> Typed:
        if name in self.variables:
            return name, "integer", 32
        if name in self.rows:
            self.take("(")
            text, _, _ = self.expression()
            self.take(")")
            bits = len(self.rows[name][0][1])
            return f"int({name}[{text}][1], 2)", "std_logic_vector", bits
        kind, low, bits = self.types[name]
        full = self.prefix + name
        self.reads.add(full)
        read = self.design.read
        if not self.took("("):
            read[full] = -1
            return f"v['{full}']", kind, bits
        high = first = int(self.take())
        if self.took("downto"):
            first = int(self.take())
        else:
            kind = "std_logic"
        self.take(")")
        assert low <= first <= high < low + bits, f"{name}({high} downto {first})"
        read[full] = read.get(full, 0) | (2 << high - low) - (1 << first - low)
        return f"(v['{full}'] >> {first - low} & {(2 << high - first) - 1})", kind, high - first + 1

    # Statements.

    def fits(self, name: str, value: Typed) -> str:
        """Return a value for a signal, its type and bits checked."""
        kind, _, bits = self.types[name]
        assert value[2] == bits, f"{value[2]} bits for {name}, which has {bits}"
        known = {kind, "literal"} if bits > 1 or kind != "std_logic" else {kind}
        known |= {"joined"} if kind == "std_logic_vector" else set()
        assert value[1] in known, f"{value[1]} for {name}, which is {kind}"
        return value[0]

    def concurrent(self) -> None:
        self.reads = set()
        if self.peek() == "process":
            self.process()
            return
        if self.took("with"):
            self.select()
            return
        name = self.take()
        if self.took(":"):
            self.instance()
            return
        place = int("".join(self.until(")"))) if self.took("(") else None
        assert place is None, "bits are set in processes alone"
        self.take("<=")
        text = self.fits(name, self.expression())
        while self.took("when"):
            asked = self.expression()
            assert asked[1] == "boolean"
            self.take("else")
            text = f"({text} if {asked[0]} else {self.fits(name, self.expression())})"
        self.take(";")
        self.made(name, text)

    def made(self, name: str, text: str) -> None:
        assert self.ways.get(name) != "in"
        full = self.prefix + name
        assert full not in {one for one, _, _ in self.design.makes}, f"{name} is driven twice"
        self.design.makes.append((full, {*self.reads}, f"    v['{full}'] = {text}"))

    def select(self) -> None:
        asked = self.expression()
        self.take("select")
        name = self.take()
        self.take("<=")
        rows: dict[str, str] = {}
        while True:
            value = self.fits(name, self.expression())
            self.take("when")
            if self.took("others"):
                break
            at = self.expression()
            agreed(asked, at)
            assert at[0] not in rows, "a choice twice"
            rows[at[0]] = value
            self.take(",")
        self.take(";")
        table = ", ".join(f"{k}: {x}" for k, x in rows.items())
        assert len(rows) < 1 << asked[2], "others of none"
        self.made(name, f"{{{table}}}.get({asked[0]}, {value})")

    def instance(self) -> None:
        self.past("entity", "work", ".")
        name = self.take()
        inner = Text(self.design, self.design.modules[name], "dut.")  # type: ignore[arg-type]  # texts of its own
        self.past("port", "map", "(")
        given = set()
        parts: dict[str, list[str]] = {}
        while not self.took(")"):
            port = self.take()
            given.add(port)
            self.take("=>")
            self.reads = set()
            whole = self.peek()
            text, kind, bits = self.expression()
            assert (kind, bits) == (inner.types[port][0], inner.types[port][2]), port
            if inner.ways[port] == "in":
                line = f"    v['dut.{port}'] = {text}"
                self.design.makes.append((f"dut.{port}", {*self.reads}, line))
            else:
                at = re.search(r">> (\d+)", text)
                parts.setdefault(whole, []).append(f"v['dut.{port}'] << {at[1] if at else 0}")
            self.took(",")
        self.take(";")
        assert given == {*inner.ways}
        for whole, texts in parts.items():
            full = self.prefix + whole
            reads = {re.findall("'(.*?)'", text)[0] for text in texts}
            self.design.makes.append((full, reads, f"    v['{full}'] = {' | '.join(texts)}"))

    def process(self) -> None:
        self.take("process")
        if self.took("("):
            clock = self.take()
            self.past(")", "begin", "if", "rising_edge", "(", clock, ")", "then")
            lines = ["def run(v, new):", *self.statements(1), "    return"]
            self.past("if", ";", "end", "process", ";")
            space: dict[str, Any] = {"signed": signed}
            exec("\n".join(lines), space)  # noqa: S102 (our own lines)
            self.design.read[self.prefix + clock] = -1
            self.design.clocked.append(("posedge", self.prefix + clock, space["run"]))
            return
        starts = []
        while self.took("variable"):
            names = [one for one in self.until(":") if one != ","]
            self.variables |= {*names}
            self.past("integer", ":=")
            starts += [f"    {name} = {''.join(self.until(';'))}" for name in names[:1]]
            value = starts[-1].partition(" = ")[2]
            starts += [f"    {name} = {value}" for name in names[1:]]
        self.take("begin")
        lines = ["def run(v):", "    new = {}", *starts, *self.statements(1)]
        self.past("process", ";")
        space = {"signed": signed, **self.rows}
        exec("\n".join(lines), space)  # noqa: S102 (our own lines)
        self.design.starts.append(space["run"])

    def statements(self, depth: int) -> list[str]:
        """Take statements up to what ends them; that, too."""
        room, found = "    " * depth, list[str]()
        while not self.took("end"):
            if self.peek() in ("elsif", "else"):
                return found
            found += [room + line for line in self.statement()]
        return found or [f"{room}pass"]

    def statement(self) -> list[str]:  # noqa: C901, PLR0911 (a kind a line)
        one = self.take()
        if one == "if":
            found = [f"if {self.expression()[0]}:"]
            self.take("then")
            inner = self.statements(1) or ["    pass"]
            found += inner
            while self.took("elsif"):
                found += [f"elif {self.expression()[0]}:"]
                self.take("then")
                found += self.statements(1)
            if self.took("else"):
                found += ["else:", *self.statements(1)]
            self.past("if", ";")
            return found
        if one == "for":
            name = self.take()
            self.variables.add(name)
            self.take("in")
            first = self.expression()[0]
            self.take("to")
            last = self.expression()[0]
            self.take("loop")
            found = [f"for {name} in range({first}, {last} + 1):", *self.statements(1)]
            self.past("loop", ";")
            return found
        if one == "wait":
            write = ["v.update(new)", "new.clear()"]
            if self.took(";"):
                return [*write, "yield '$finish'"]
            self.take("for")
            time = int(self.take())
            self.past("ns", ";")
            return [*write, f"yield {time}"]
        if one == "report":
            said = " ".join(self.until(";"))
            text = re.sub(r'" & integer \' image \( (\w+) \)', r"{\1}", said)
            text = re.sub(r'& "', "", text).replace('"', "")
            return [f"yield f'$display {text}'"]
        place = None
        if self.took("("):
            place = int(self.take())
            self.take(")")
        kind = self.take()
        value = self.expression()
        self.take(";")
        if kind == ":=":
            assert value[1] == "integer"
            return [f"{one} = {value[0]}"]
        full = self.prefix + one
        if place is None:
            return [f"new['{full}'] = {self.fits(one, value)}"]
        assert value[1] == "std_logic"
        old = f"new['{full}'] & ~(1 << {place})"
        return [f"new['{full}'] = {old} | {value[0]} << {place}"]


def simulation(*texts: str) -> Simulation:
    """Return the simulation of an entity, or of a bench of it."""
    design = Design()
    design.modules = {re.findall(r"(?m)^entity (\w+)", text)[0]: text for text in texts}  # type: ignore[misc]  # texts in place of tokens
    found = Text(design, texts[-1])
    design.read |= {name: -1 for name, way in found.ways.items() if way == "out"}
    return Simulation(design)


def signed(value: int, bits: int) -> int:
    """Return what bits mean in two's complement."""
    return value - (value >> bits - 1 << bits)


def agreed(one: Typed, other: Typed) -> tuple[str, int]:
    """Return the type of two values, which have to have the same."""
    kinds = {one[1], other[1]} - {"literal"}
    assert len(kinds) <= 1, f"{one[1]} beside {other[1]}"
    assert one[2] == other[2], f"{one[2]} beside {other[2]} bits"
    return (kinds.pop() if kinds else "literal"), one[2]
