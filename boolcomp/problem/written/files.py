"""Function files: a function as TOML, with words for inputs and outputs and expressions between.

    name = "pid"
    [inputs.e]
    range = [-1, 1]
    bits = 10
    [let]
    s = "2*e"
    [outputs.u]
    expression = "clip(s, -1, 1)"
    range = [-1, 1]

Every message says file, line and key, and the nearest right spelling.
"""

from __future__ import annotations

import ast
import math
import re
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

from boolcomp.base.errors import (
    LONGEST_NAME,
    BoolcompError,
    DataError,
    cut,
    listing,
    number,
    parse_number,
    parse_toml,
    shown,
    suggestion,
)
from boolcomp.problem.words import MOST_SIZE, Interval
from boolcomp.problem.written import algebra
from boolcomp.problem.written.build import Written
from boolcomp.problem.written.tracing import Recorder, Value, Word, name_problem, power

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from boolcomp.problem.problem import Problem


# --------------------------------------------------------------------------------------------------
# Expressions as text: read by Python's own parser, and nothing of it evaluated but arithmetic.
#
# What is allowed is listed here, node by node; all else is refused with the part that is meant.
# --------------------------------------------------------------------------------------------------


LONGEST = 2000  # characters
DEEPEST = 40  # operations within operations
LONGEST_PART = 60  # characters of an expression in a sentence
ARITY = dict.fromkeys(algebra.__all__, 1) | {
    "atan2": 2, "minimum": 2, "maximum": 2, "clip": 3, "where_positive": 3,
}  # fmt: skip
CONSTANTS = {"pi": math.pi}
OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
}
HINTS: dict[type[ast.AST], str] = {
    ast.BitXor: "powers are written **",
    ast.IfExp: "write where_positive(x, a, b)",
    ast.Compare: "write where_positive(x, a, b)",
    ast.BoolOp: "write where_positive(x, a, b)",
    ast.Tuple: "a decimal has a point, and an expression one value",
    ast.Attribute: "names have no points",
}


@dataclass(slots=True)
class Scope:
    """What names mean where an expression stands; `key` says where that is."""

    recorder: Recorder
    values: Mapping[str, Any]
    key: str
    later: Mapping[str, str]  # names that mean something elsewhere, and why not here

    def fail(self, why: str) -> NoReturn:
        """Refuse the expression."""
        raise DataError(f"{self.key}: {why}")


def read_expression(text: str, scope: Scope) -> Any:
    """Return what an expression makes of the values in its scope: a value, or a number."""
    if len(text) > LONGEST:
        scope.fail(f"an expression has at most {LONGEST} characters: use [let] for its parts")
    whole = " ".join(text.split())
    if not whole:
        scope.fail("an empty expression")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(whole, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        scope.fail(f"{shown(whole)} is no expression: {_said(error)}")
    return _Reader(whole, scope).value(tree.body, DEEPEST)


def _said(error: Exception) -> str:
    """Return what the parser says, in a few words."""
    if isinstance(error, SyntaxError) and error.msg:
        at = f" at character {error.offset}" if error.offset else ""
        return cut(error.msg, LONGEST_PART) + at
    return "it is nested too deep, or holds a number that is too long"


@dataclass(slots=True)
class _Reader:
    text: str
    scope: Scope

    def part(self, node: ast.AST) -> str:
        """Return the part of the text that a node stands for."""
        segment = ast.get_source_segment(self.text, node) if isinstance(node, ast.expr) else None
        return cut(segment or self.text, LONGEST_PART)

    def fail(self, node: ast.AST, why: str) -> NoReturn:
        self.scope.fail(f"{self.part(node)}: {why}")

    def value(self, node: ast.AST, deep: int) -> Any:
        """Return the value of a node."""
        if not deep:
            self.fail(node, f"more than {DEEPEST} operations within each other: use [let]")
        if isinstance(node, ast.Constant):
            return self._number(node)
        if isinstance(node, ast.Name):
            return self._name(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            x = self.value(node.operand, deep - 1)
            return self._made(node, lambda: -x) if isinstance(node.op, ast.USub) else x
        if isinstance(node, ast.BinOp):
            return self._operation(node, deep - 1)
        if isinstance(node, ast.Call):
            return self._call(node, deep - 1)
        hint = HINTS.get(type(node), "numbers, names, + - * / **, brackets and functions are")
        return self.fail(node, f"not allowed in an expression: {hint}")

    def _number(self, node: ast.Constant) -> float:
        value = node.value
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self.fail(node, "no number")
        if not abs(value) <= MOST_SIZE:  # before an integer becomes a float: it may be too large
            self.fail(node, f"numbers are within ±{MOST_SIZE:g}")
        return float(value)

    def _name(self, node: ast.Name) -> Any:
        name = node.id
        if name in self.scope.values:
            return self.scope.values[name]
        if name in CONSTANTS:
            return CONSTANTS[name]
        if name in ARITY:
            return self.fail(node, f"{name} is a function: write {_example(name)}")
        if name in self.scope.later:
            return self.fail(node, self.scope.later[name])
        known = [*self.scope.values, *CONSTANTS]
        hint = suggestion(name, [*known, *ARITY]) or f": names are {listing(known)}"
        return self.fail(node, f"unknown name{hint}")

    def _operation(self, node: ast.BinOp, deep: int) -> Any:
        one, other = self.value(node.left, deep), self.value(node.right, deep)
        if isinstance(node.op, ast.Pow):
            if not isinstance(other, float):
                return self.fail(node, "an exponent is a whole number")
            place = f"{self.scope.key}: {self.part(node)}"
            return self._made(node, lambda: power(one, other, place))
        if type(node.op) not in OPERATORS:
            hint = HINTS.get(type(node.op), "operators are + - * / **")
            return self.fail(node, f"not allowed in an expression: {hint}")
        return self._made(node, lambda: OPERATORS[type(node.op)](one, other))

    def _call(self, node: ast.Call, deep: int) -> Any:
        if not isinstance(node.func, ast.Name):
            return self.fail(node.func, "no function")
        name = node.func.id
        if name not in ARITY:
            if name in self.scope.values or name in CONSTANTS:
                return self.fail(node, f"{name} is no function: a product is written {name} * (…)")
            hint = suggestion(name, ARITY) or f": functions are {listing(ARITY)}"
            return self.fail(node.func, f"unknown function{hint}")
        if node.keywords or any(isinstance(x, ast.Starred) for x in node.args):
            return self.fail(node, f"write {_example(name)}")
        if len(node.args) != ARITY[name]:
            return self.fail(node, f"{len(node.args)} values given: write {_example(name)}")
        given = [self.value(x, deep) for x in node.args]
        return self._made(node, lambda: getattr(algebra, name)(*given))

    def _made(self, node: ast.AST, make: Callable[[], Any]) -> Any:
        """Return what is made of a node's operands, its place being the part that it is."""
        self.scope.recorder.place = lambda: f"{self.scope.key}: {self.part(node)}"
        try:
            found = make()
        except BoolcompError as error:
            if str(error).startswith(self.scope.key):
                raise DataError(str(error)) from None
            self.fail(node, str(error))
        except ZeroDivisionError:
            self.fail(node, "it divides by zero, whatever its inputs are")
        except OverflowError:
            self.fail(node, f"numbers are within ±{MOST_SIZE:g}")
        if isinstance(found, Value):
            return found
        number = float(found)
        if not abs(number) <= MOST_SIZE:
            self.fail(node, f"numbers are within ±{MOST_SIZE:g}, and this is {number:.3g}")
        return number


def _example(name: str) -> str:
    """Return how a function is called."""
    given = {"atan2": "y, x", "minimum": "a, b", "maximum": "a, b", "clip": "x, low, high",
             "where_positive": "x, a, b"}  # fmt: skip
    return f"{name}({given.get(name, 'x')})"


# --------------------------------------------------------------------------------------------------
# Function files: a function as TOML, with words for inputs and outputs and expressions between.
# --------------------------------------------------------------------------------------------------


MOST_BYTES = 200_000
MOST_NAMES = 500  # inputs, values and outputs of a file
TOP_KEYS = ("name", "title", "source", "inputs", "let", "outputs")
INPUT_KEYS = ("range", "bits", "unit", "angle", "title")
OUTPUT_KEYS = ("expression", "range", "bits", "unit", "title")
TURN = (-math.pi, math.pi)
_FILE_NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9_.-]{{0,{LONGEST_NAME - 1}}}")
_HEADER = re.compile(r"\s*\[\s*([A-Za-z0-9_.\"'\s-]+?)\s*\]")
_KEY = re.compile(r"\s*([A-Za-z0-9_\"'-]+(?:\s*\.\s*[A-Za-z0-9_\"'-]+)*)\s*=")


def is_function(document: Mapping[str, Any]) -> bool:
    """Tell whether a TOML document describes a function of a user's, and no robot."""
    return "joint" not in document and not {"inputs", "outputs", "let"}.isdisjoint(document)


def parse_function(text: str, where: str = "function") -> Problem:
    """Read the text of a function file; `where` names it in messages."""
    if len(text) > MOST_BYTES:
        raise DataError(f"{where}: too large: a function file has at most {MOST_BYTES} bytes")
    return _File(where, text, parse_toml(text, where)).problem()


@dataclass(frozen=True)
class _File:
    """A document, and where its keys stand."""

    where: str
    text: str
    document: Mapping[str, Any]

    def problem(self) -> Problem:
        """Return the problem."""
        self.check_keys("", self.document, TOP_KEYS)
        name = self.string("name", self.document.get("name"))
        if not _FILE_NAME.fullmatch(name):
            self.fail("name", f"{shown(name)} may hold letters, digits, '-', '_' and '.' only, "
                              f"{LONGEST_NAME} at most")  # fmt: skip
        for key in ("title", "source"):
            self.string(key, self.document.get(key, ""))
        tables = {key: self.table(key) for key in ("inputs", "let", "outputs")}
        for key in ("inputs", "outputs"):
            if not tables[key]:
                self.fail(key, f"a function needs at least one [{key}.NAME]")
        if sum(map(len, tables.values())) > MOST_NAMES:
            self.fail("", f"more than {MOST_NAMES} inputs, values and outputs")
        self.check_names(tables)
        inputs = {one: self.word("inputs", one, said) for one, said in tables["inputs"].items()}
        outputs = {one: self.word("outputs", one, said) for one, said in tables["outputs"].items()}
        recorder = Recorder(lambda: self.where)
        values = self.values(recorder, inputs, tables["let"], tables["outputs"])
        steps = recorder.tape.finish([(one, values[one].wire) for one in outputs])
        try:
            return Written(name, steps, inputs, outputs).problem()
        except BoolcompError as error:  # a step's place says it, an output's name its key
            said = str(error)
            if said.startswith(self.where):
                raise DataError(said) from None
            raise DataError(f"{self.where}: {said.removeprefix(f'{name}: ')}") from None

    def values(
        self,
        recorder: Recorder,
        inputs: Mapping[str, Word],
        let: Mapping[str, Any],
        outputs: Mapping[str, Any],
    ) -> dict[str, Any]:
        """Return the outputs' values, of what stands between."""
        known: dict[str, Any] = {one: recorder.input(one) for one in inputs}
        later = dict.fromkeys(let, "it is defined further below: [let] is read in order")
        reason = "it is an output, and outputs are not read: put it in [let], too"
        later |= dict.fromkeys(outputs, reason)
        for one, said in let.items():
            key = f"let.{one}"
            if isinstance(said, (int, float)) and not isinstance(said, bool):
                said = repr(said)  # noqa: PLW2901 (a number is an expression)
            text = self.string(key, said, "an expression as text, or a number")
            known[one] = read_expression(text, Scope(recorder, known, self.at(key), later))
        found = {}
        for one, said in outputs.items():
            key = f"outputs.{one}.expression"
            text = self.string(key, said.get("expression"), "an expression as text")
            value = read_expression(text, Scope(recorder, known, self.at(key), later))
            if not isinstance(value, Value):
                self.fail(key, f"it is always {number(value)}: there is nothing to compile")
            found[one] = value
        return found

    def check_names(self, tables: Mapping[str, Mapping[str, Any]]) -> None:
        """Refuse names that are none, and one that stands for two things."""
        seen: dict[str, str] = {}
        for table, entries in tables.items():
            for one in entries:
                key = f"{table}.{one}"
                if one in ARITY:
                    self.fail(key, f"{one} is a function: take another name")
                if one in seen:
                    self.fail(key, f"{shown(one)} is there already, as {seen[one]}")
                if problem := name_problem(one):
                    self.fail(key, problem)
                seen[one] = key

    def word(self, table: str, name: str, said: Any) -> Word:
        """Return the word that a table of the file says."""
        key = f"{table}.{name}"
        if not isinstance(said, dict):
            self.fail(key, f"must be a table, [{key}], not {shown(said)}")
        self.check_keys(key, said, INPUT_KEYS if table == "inputs" else OUTPUT_KEYS)
        turning = said.get("angle", False)
        if not isinstance(turning, bool):
            self.fail(f"{key}.angle", f"must be true or false, not {shown(turning)}")
        bits = said.get("bits")
        if bits is not None and (isinstance(bits, bool) or not isinstance(bits, int)):
            self.fail(f"{key}.bits", f"must be a whole number, not {shown(bits)}")
        span = self.interval(f"{key}.range", said.get("range"))
        if span is None and table == "inputs":
            if not turning:
                self.fail(key, "its range is missing: range = [low, high]")
            span = Interval(*TURN)
        unit = self.string(f"{key}.unit", said.get("unit", ""))
        self.string(f"{key}.title", said.get("title", ""))
        try:
            return Word(span, bits, unit, turning)
        except BoolcompError as error:
            self.fail(f"{key}.bits" if "bits" in str(error) else f"{key}.range", str(error))

    def interval(self, key: str, said: Any) -> Interval | None:
        """Return a range: two numbers, or texts such as "pi/2"."""
        if said is None:
            return None
        if not isinstance(said, list) or len(said) != 2:
            self.fail(key, f"must be two numbers, [low, high], not {shown(said)}")
        ends = []
        for one in said:
            value = parse_number(one) if isinstance(one, str) else one
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                self.fail(key, f"must hold numbers, or angles such as 'pi/2', not {shown(one)}")
            if abs(value) > 1e300:  # an integer may be too large for a float
                self.fail(key, f"must hold smaller numbers than {shown(one)}")
            ends.append(float(value))
        return Interval(*ends)

    def table(self, key: str) -> dict[str, Any]:
        """Return a table of the document; nothing where it has none."""
        found = self.document.get(key, {})
        if not isinstance(found, dict):
            self.fail(key, f"must be a table, not {shown(found)}")
        return found

    def string(self, key: str, value: Any, what: str = "text") -> str:
        """Return a text."""
        if value is None:
            self.fail(key, "missing")
        if not isinstance(value, str):
            self.fail(key, f"must be {what}, not {shown(value)}")
        return value

    def check_keys(self, path: str, table: Mapping[str, Any], allowed: tuple[str, ...]) -> None:
        """Refuse keys that mean nothing."""
        for key in table:
            if key not in allowed:
                hint = suggestion(key, allowed) or f" (allowed: {listing(allowed)})"
                self.fail(f"{path}.{key}" if path else key, f"unknown key{hint}")

    def fail(self, key: str, problem: str) -> NoReturn:
        """Refuse the file for what a key says."""
        raise DataError(f"{self.at(key)}: {problem}")

    def at(self, key: str) -> str:
        """Return file, line and key, as far as they are known."""
        line = self.lines.get(key) or self.lines.get(key.rpartition(".")[0])
        place = f"{self.where}:{line}" if line else self.where
        return f"{place}: {cut(key)}" if key else place

    @cached_property
    def lines(self) -> dict[str, int]:
        """Return the line of every key that stands at the beginning of one."""
        found: dict[str, int] = {}
        for key, row in _lines(self.text):
            found.setdefault(key, row)
        return found


def _lines(text: str) -> Iterator[tuple[str, int]]:
    table = ""
    for row, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = _plain(header[1])
            yield table, row
        elif key := _KEY.match(line):
            yield f"{table}.{_plain(key[1])}".lstrip("."), row


def _plain(key: str) -> str:
    return ".".join(part.strip().strip("\"'") for part in key.split("."))
