"""Networks in AIGER and BLIF, written and read.

BLIF inputs are i0, i1, …, nodes n0, n1, …, outputs o0, o1, …, unless they have names; every node is
a `.names` of its ON set. Files may have any names, any order, ON or OFF sets.
`read_netlist` decomposes nodes of more than three inputs; `parse_luts` keeps up to six.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, reduce
from itertools import product
from string import ascii_lowercase
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from boolcomp.base.errors import DataError, cut, shown
from boolcomp.logic import network as luts
from boolcomp.logic.network import CONSTANTS, LUT3, LUT6, Builder, Network, Node, copied

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MOST_BYTES = 1 << 26  # of a file that is read
MOST_SIGNALS = 1 << 22  # inputs, gates, outputs


@dataclass(frozen=True, slots=True)
class Netlist:
    """A network, its name, and the names of its inputs and outputs."""

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    network: Network

    def __post_init__(self) -> None:
        sizes = (self.network.inputs, len(self.network.outputs))
        if (len(self.inputs), len(self.outputs)) != sizes:
            raise ValueError("names do not fit their network")


# --------------------------------------------------------------------------------------------------
# AIGER: networks as AND gates and inverters, as text (`aag`) and binary (`aig`), with symbols. A
# literal is twice a variable, plus one if it is inverted; variable 0 is the constant 0, then come
# the inputs, then the gates in order. Latches and properties of AIGER 1.9 raise DataError.
# --------------------------------------------------------------------------------------------------

_AIGER_HEAD = re.compile(rb"(aag|aig)((?: \d{1,9}){5,9})")
_SYMBOL = re.compile(r"([ilobcjf])(\d{1,9}) (.+)")
_LONGEST = 200  # bytes of a line with numbers


class Aig(NamedTuple):
    """AND gates over literals, in order: gate k is variable `inputs + 1 + k`."""

    inputs: int
    gates: tuple[tuple[int, int], ...]
    outputs: tuple[int, ...]


def aig_of(network: Network) -> Aig:
    """Return a network as AND gates and inverters; equal gates are shared."""
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
                delta >>= 7  # noqa: PLW2901 (seven bits per byte)
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
    return _Reader(data, where).netlist()


class _Reader:
    """Reads a file from front to back; `row` is the number of the line, from 1."""

    def __init__(self, data: bytes, where: str) -> None:
        self.data, self.where = data, where
        self.place = self.row = 0

    def fail(self, reason: str) -> NoReturn:
        raise DataError(reason, where=f"{self.where}:{self.row}")

    def line(self) -> bytes:
        """Return the next line, which must be complete."""
        self.row += 1
        end = self.data.find(b"\n", self.place)
        if end < 0:
            self.fail("the file is cut off")
        found = self.data[self.place : end]
        self.place = end + 1
        return found.removesuffix(b"\r")

    def numbers(self, count: int) -> list[int]:
        """Return the literals of a line; the file must have their variables."""
        line = self.line()
        words = line[:_LONGEST].split(b" ")
        if len(words) != count or not all(w.isdigit() and len(w) < 10 for w in words):
            self.fail(f"expected {count} literals, not {shown(line.decode('ascii', 'replace'))}")
        found = [int(word) for word in words]
        if max(found) > 2 * self.variables + 1:
            self.fail(f"literal {max(found)} is of no variable: the file has {self.variables}")
        return found

    def netlist(self) -> Netlist:
        head = _AIGER_HEAD.fullmatch(self.data[:_LONGEST].partition(b"\n")[0].rstrip(b"\r"))
        self.line()
        if head is None:
            self.fail("AIGER begins 'aag M I L O A' or 'aig M I L O A', five numbers")
        self.variables, inputs, latches, outputs, gates, *more = map(int, head[2].split())
        if latches or any(more):
            self.fail("latches and properties are not combinational logic")
        if self.variables > MOST_SIGNALS or outputs > MOST_SIGNALS:
            self.fail(f"at most {MOST_SIGNALS} variables and outputs are read")
        binary = head[1] == b"aig"
        if self.variables < inputs + gates or (binary and self.variables > inputs + gates):
            self.fail(
                f"{self.variables} variables are not those of {inputs} inputs and {gates} gates"
            )
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
                self.fail(f"{made} is no literal of a gate, or defined twice")
            found[made >> 1] = (a, b, self.row)
        return found

    def deltas(self, inputs: int, count: int) -> dict[int, tuple[int, int, int]]:
        """Return the gates of a binary file by their variables."""
        found = {}
        for variable in range(inputs + 1, inputs + 1 + count):
            a = 2 * variable - self.delta()
            b = a - self.delta()
            if not 0 <= b <= a < 2 * variable:
                self.fail(f"gate {variable} reads a later gate")
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
        """Build every gate after its operands; the order of the file is arbitrary."""
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
        """Read symbols up to the comments; the default names are i0, o0 and so on."""
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


# --------------------------------------------------------------------------------------------------
# BLIF.
# --------------------------------------------------------------------------------------------------

LONGEST_PREFIX = 8  # letters before the number of a node
WIDEST = 4096  # inputs of a node that is decomposed
_IGNORED = (".default_input_arrival", ".default_output_required", ".area", ".delay")


@dataclass(frozen=True, slots=True)
class BlifNames:
    """One `.names` of a file: its line, its signals, its table."""

    line: int
    operands: tuple[str, ...]
    lut: int
    rows: tuple[str, ...] = ()  # instead of the table, of one with more than three inputs


def render(network: Network, model: str = "network") -> str:
    """Return a network as BLIF."""
    inputs = tuple(f"i{k}" for k in range(network.inputs))
    outputs = tuple(f"o{k}" for k in range(len(network.outputs)))
    return render_netlist(Netlist(model, inputs, outputs, network))


def render_netlist(netlist: Netlist) -> str:
    return render_logic(netlist.network, netlist.name, netlist.inputs, netlist.outputs)


def render_logic(
    network: Network, model: str, inputs: Sequence[str], outputs: Sequence[str]
) -> str:
    """Return a network as BLIF with names."""
    inputs, outputs = _tokens(inputs, outputs)
    prefix = _prefix([*inputs, *outputs])
    names = ["", "", *inputs, *(f"{prefix}{k}" for k in range(len(network.nodes)))]
    lines = [_words(".model", _tokens([model])[0] or ["network"])]
    lines += [_words(".inputs", inputs), _words(".outputs", outputs)]
    for place, (lut, operands) in enumerate(network.nodes):
        lines.append(_words(".names", [*(names[k] for k in operands), f"{prefix}{place}"]))
        lines.append(_cover(lut, len(operands)))
    for place, signal in enumerate(network.outputs):
        if signal < CONSTANTS:
            lines += [f".names {outputs[place]}", *["1"] * signal]
        else:
            lines += [f".names {names[signal]} {outputs[place]}", "1 1"]
    return "\n".join([*lines, ".end"]) + "\n"


def _prefix(names: Sequence[str]) -> str:
    """Return a prefix that no name has: n, nn, …, or of another letter if that is long."""
    runs = {
        letter: max((len(name) - len(name.lstrip(letter)) for name in names), default=0)
        for letter in ("n", *ascii_lowercase)
    }
    letter = "n" if runs["n"] < LONGEST_PREFIX else min(runs, key=runs.__getitem__)
    return letter * (runs[letter] + 1)


def _tokens(*groups: Iterable[str]) -> list[list[str]]:
    taken: set[str] = set()
    counts: dict[str, int] = {}  # the last number that a text got
    found: list[list[str]] = []
    for group in groups:
        found.append([])
        for name in group:
            text = re.sub(r"[^!-~]|[#\\=]", "_", name) or "_"
            token = text
            while token in taken:
                counts[text] = counts.get(text, 1) + 1
                token = f"{text}_{counts[text]}"
            taken.add(token)
            found[-1].append(token)
    return found


def _words(keyword: str, names: Iterable[str]) -> str:
    return " ".join([keyword, *names])


@cache
def _cover(lut: int, operands: int) -> str:
    """Return the ON set of a table, one point per line."""
    shift = max(0, 3 - operands)  # the first operands are the high bits of a row's number
    rows = (row for row in range(1 << operands) if lut >> (row << shift) & 1)
    return "\n".join(f"{row:0{operands}b} 1" for row in rows)


def parse_luts(text: str, where: str = "BLIF") -> Network:
    """Read a network of up to six inputs a node; constants, wires and unused operands vanish."""
    _, inputs, outputs, names = read_names(text, where, LUT6)
    signals = {name: CONSTANTS + k for k, name in enumerate(inputs)}
    nodes: list[Node] = []
    for name in topological(signals.copy(), outputs, names, where):
        found, operands = names[name], [signals[k] for k in names[name].operands]
        lut = _table(found.rows, len(operands)) if found.rows else found.lut
        made = simplified(lut, operands)
        if isinstance(made, Node):
            nodes.append(made)
            made = CONSTANTS + len(inputs) + len(nodes) - 1
        signals[name] = made
    return Network(len(inputs), tuple(nodes), tuple(signals[name] for name in outputs), LUT6)


def simplified(lut: int, operands: Sequence[int]) -> Node | int:
    """Return a table without constant, equal and unused operands, or the signal it equals."""
    kept = list(dict.fromkeys(k for k in operands if k >= CONSTANTS))
    known, values = luts.entries(lut, len(operands)), []
    for point in product((0, 1), repeat=len(kept)):
        bits = {luts.FALSE: 0, luts.TRUE: 1, **dict(zip(kept, point, strict=True))}
        values.append(known[reduce(lambda row, k: 2 * row + bits[k], operands, 0)])
    for place in reversed(range(len(kept))):
        block = 1 << (len(kept) - 1 - place)
        zero = [value for row, value in enumerate(values) if not row & block]
        if zero == [value for row, value in enumerate(values) if row & block]:
            values = zero
            del kept[place]
    if len(kept) < 2 and values in ([0], [1], [0, 1]):
        return kept[0] if kept else values[0]
    rows = max(1, 8 // len(values))  # of a table for each value
    table = sum(((1 << rows) - 1) << rows * k for k, value in enumerate(values) if value)
    return Node(table, tuple(kept))


def read_netlist(text: str, where: str = "BLIF", widest: int = WIDEST) -> Netlist:
    """Read a network of `.names`; those of more than three inputs are decomposed."""
    model, inputs, outputs, names = read_names(text, where, widest)
    builder = Builder(len(inputs))
    literals = {name: builder.input(k) for k, name in enumerate(inputs)}
    for name in topological(literals.copy(), outputs, names, where):
        found = names[name]
        operands = [literals[k] for k in found.operands]
        if len(operands) <= LUT3:
            literals[name] = builder.node(found.lut, *operands)
        else:
            literals[name] = _sum_of_products(builder, found.rows, operands)
    network = builder.build(literals[name] for name in outputs)
    return Netlist(model, tuple(inputs), tuple(outputs), network)


def _sum_of_products(builder: Builder, rows: tuple[str, ...], operands: list[int]) -> int:
    """Return the literal of rows of an ON set or of an OFF set."""
    products = []
    for row in rows:
        cube = row.partition(" ")[0]
        chosen = zip(cube, operands, strict=True)
        products.append(builder.all_of(k ^ (c == "0") for c, k in chosen if c != "-"))
    return builder.any_of(products) ^ (bool(rows) and rows[0].endswith("0"))


def clean(network: Network) -> Network:
    """Return a network rebuilt: inverters and constants absorbed, equal nodes shared."""
    builder = Builder(network.inputs)
    return builder.build(copied(network, builder))


def topological(
    inputs: Iterable[str], outputs: list[str], names: dict[str, BlifNames], where: str
) -> Iterator[str]:
    """Yield the needed names in topological order; in the order of the file where possible."""
    state = dict.fromkeys(inputs, 2)  # 1: on the stack, 2: done
    needed = _needed(inputs, outputs, names, where)
    for root in (name for name in names if name in needed):
        stack = [root]
        while stack:
            name = stack[-1]
            if state.get(name, 0) == 2:
                stack.pop()
                continue
            missing = [k for k in names[name].operands if state.get(k, 0) != 2]
            if not missing:
                state[name] = 2
                stack.pop()
                yield name
                continue
            state[name] = 1
            if any(state.get(k, 0) == 1 for k in missing):
                raise DataError(f"{name} depends on itself", where=f"{where}:{names[name].line}")
            stack += missing


def _needed(
    inputs: Iterable[str], outputs: list[str], names: dict[str, BlifNames], where: str
) -> set[str]:
    known = set(inputs)
    needed: set[str] = set()
    stack = [(name, 0) for name in outputs]
    while stack:
        name, line = stack.pop()
        if name in known or name in needed:
            continue
        if name not in names:
            place = f"{where}:{line}" if line else where
            raise DataError(f"{name} is neither an input nor defined by .names", where=place)
        needed.add(name)
        stack += [(k, names[name].line) for k in names[name].operands]
    return needed


def _logical_lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, words) without comments; continued lines are joined."""
    words: list[str] = []
    first = 0
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.partition("#")[0].rstrip()
        first = first or number
        words += line.removesuffix("\\").split()
        if line.endswith("\\"):
            continue
        if words:
            yield first, words
        words, first = [], 0
    if words:
        yield first, words


def read_names(
    text: str, where: str, widest: int
) -> tuple[str, list[str], list[str], dict[str, BlifNames]]:
    """Return the model, the inputs, the outputs and every `.names` by the signal it defines."""
    model = "network"
    ports: dict[str, list[str]] = {".inputs": [], ".outputs": []}
    names: dict[str, BlifNames] = {}
    rows: list[tuple[int, list[str]]] = []
    head: tuple[int, list[str]] | None = None
    ended = False
    for line, words in [*_logical_lines(text), (0, [".end of text"])]:
        if not words[0].startswith("."):
            if head is None:
                raise DataError(
                    f"{' '.join(words)!r} belongs to no .names", where=f"{where}:{line}"
                )
            rows.append((line, words))
            continue
        if head is not None:
            _define(head, rows, names, where, widest)
        head, rows = None, []
        if ended and line:
            raise DataError(f"{words[0]} follows .end", where=f"{where}:{line}")
        if words[0] == ".names":
            head = (line, words[1:])
        elif words[0] in ports:
            ports[words[0]] += words[1:]
        elif words[0] == ".model":
            model = " ".join(words[1:]) or model
        elif line and words[0] not in (".end", *_IGNORED):
            raise DataError(
                f"{words[0]} is not combinational", "only .names is read", where=f"{where}:{line}"
            )
        ended = ended or words[0] == ".end"
    _check_ports(ports[".inputs"], names, where, ended=ended)
    return model, ports[".inputs"], ports[".outputs"], names


def _check_ports(
    inputs: list[str], names: dict[str, BlifNames], where: str, *, ended: bool
) -> None:
    if not ended:
        raise DataError("the file has no .end, so it is cut off", where=where)
    if len(set(inputs)) != len(inputs):
        raise DataError("an input is named twice", where=where)
    if clash := set(inputs) & set(names):
        raise DataError(f"{min(clash)} is an input and defined by .names", where=where)


def _define(
    head: tuple[int, list[str]],
    rows: list[tuple[int, list[str]]],
    names: dict[str, BlifNames],
    where: str,
    widest: int,
) -> None:
    line, words = head
    if not words:
        raise DataError(".names without a signal", where=f"{where}:{line}")
    *operands, name = words
    if name in names:
        raise DataError(f"{name} is defined twice", where=f"{where}:{line}")
    if len(operands) > widest:
        many = len(operands)
        raise DataError(
            f"{name} has {many} inputs, at most {widest} are allowed", where=f"{where}:{line}"
        )
    texts = tuple(" ".join(row) for _, row in rows)
    try:
        if len(operands) <= LUT3:
            names[name] = BlifNames(line, tuple(operands), _table(texts, len(operands)))
        else:
            _check_rows(texts, len(operands))
            names[name] = BlifNames(line, tuple(operands), 0, texts)
    except ValueError as error:
        raise DataError(f"{name}: {error}", where=f"{where}:{line}") from error


def _check_rows(rows: tuple[str, ...], operands: int) -> None:
    """Raise ValueError for invalid rows of a `.names`, or a mixture of ON and OFF sets."""
    for row in rows:
        cube, _, value = row.rpartition(" ")
        if len(cube) != operands or set(cube) - set("01-") or value not in ("0", "1"):
            raise ValueError(f"{cut(row)!r} is no row of {operands} inputs and an output")
    if len({row[-1] for row in rows}) > 1:
        raise ValueError("rows of the ON set and of the OFF set are mixed")


@cache
def _table(rows: tuple[str, ...], operands: int) -> int:
    """Return the table of the rows of a `.names`."""
    _check_rows(rows, operands)
    points: set[str] = set()
    values = {row[-1] for row in rows}
    for row in rows:
        cube = row.rpartition(" ")[0]
        points.update(map("".join, product(*("01" if c == "-" else c for c in cube))))
    lut, width = 0, max(3, operands)
    for place in range(1 << width):
        point = f"{place:0{width}b}"[:operands]
        lut |= int((point in points) != (values == {"0"})) << place
    return lut
