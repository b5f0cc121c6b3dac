"""Function files: functions in TOML, with words of inputs and outputs, and expressions.

    name = "pid"
    [inputs.e]
    range = [-1, 1]
    bits = 10
    [let]
    s = "2*e"
    [outputs.u]
    expression = "clip(s, -1, 1)"
    range = [-1, 1]

Every message contains file, line and key, and the nearest spelling.
"""

from __future__ import annotations

import ast
import math
import re
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from boolcomp.base.errors import (
    LONGEST_NAME,
    BoolcompError,
    DataError,
    cut,
    listing,
    number,
    parse_number,
    shown,
    suggestion,
)
from boolcomp.base.toml import TomlTable
from boolcomp.problem import operations
from boolcomp.problem.build import RecordedFunction
from boolcomp.problem.tape import Recorder, Value, power
from boolcomp.problem.words import MOST_SIZE, Interval, Word, name_problem

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from boolcomp.problem.problem import Problem


# --------------------------------------------------------------------------------------------------
# Expressions: parsed by Python's parser, evaluated here; only the listed nodes are allowed.
# --------------------------------------------------------------------------------------------------

LONGEST = 2000  # characters
DEEPEST = 40  # operations within operations
LONGEST_PART = 60  # characters of an expression in a message
ARITY = dict.fromkeys(operations.__all__, 1) | {
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
    """The values of names in an expression; `key` is its place in the file."""

    recorder: Recorder
    values: Mapping[str, Any]
    key: str
    later: Mapping[str, str]  # names that cannot be used here, with the reason

    def fail(self, reason: str, hint: str = "") -> NoReturn:
        raise DataError(reason, hint, where=self.key)


def read_expression(text: str, scope: Scope) -> Any:
    """Evaluate an expression with the values in its scope, to a value or a number."""
    if len(text) > LONGEST:
        scope.fail(f"an expression has at most {LONGEST} characters", "use [let] for its parts")
    whole = " ".join(text.split())
    if not whole:
        scope.fail("an empty expression")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(whole, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = "it is nested too deep, or contains a number that is too long"
        if isinstance(error, SyntaxError) and error.msg:
            at = f" at character {error.offset}" if error.offset else ""
            reason = cut(error.msg, LONGEST_PART) + at
        scope.fail(f"{shown(whole)} is no expression ({reason})")
    return _FunctionReader(whole, scope).value(tree.body, DEEPEST)


def expressions(texts: Mapping[str, str]) -> Callable[..., Any]:
    """Return expressions, by the names of their results, as a function of recorded values."""

    def function(**values: Value) -> dict[str, Any]:
        recorder = next(iter(values.values())).tape
        return {
            name: read_expression(text, Scope(recorder, values, name, {}))
            for name, text in texts.items()
        }

    return function


@dataclass(slots=True)
class _FunctionReader:
    text: str
    scope: Scope

    def part(self, node: ast.AST) -> str:
        """Return the source text of a node."""
        segment = ast.get_source_segment(self.text, node) if isinstance(node, ast.expr) else None
        return cut(segment or self.text, LONGEST_PART)

    def fail(self, node: ast.AST, reason: str, hint: str = "") -> NoReturn:
        self.scope.fail(f"{self.part(node)}: {reason}", hint)

    def value(self, node: ast.AST, deep: int) -> Any:
        """Return the value of a node; `deep` is the number of operations that it may contain."""
        if not deep:
            self.fail(node, f"more than {DEEPEST} operations within each other", "use [let]")
        if isinstance(node, ast.Constant):
            return self._number(node)
        if isinstance(node, ast.Name):
            return self._name(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            x = self.value(node.operand, deep - 1)
            return self._result(node, lambda: -x) if isinstance(node.op, ast.USub) else x
        if isinstance(node, ast.BinOp):
            return self._operation(node, deep - 1)
        if isinstance(node, ast.Call):
            return self._call(node, deep - 1)
        hint = HINTS.get(type(node), "use numbers, names, + - * / **, brackets and functions")
        return self.fail(node, "not allowed in an expression", hint)

    def _number(self, node: ast.Constant) -> float:
        value = node.value
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self.fail(node, "not a number")
        if not abs(value) <= MOST_SIZE:  # an integer may be too large for a float
            self.fail(node, f"numbers are within ±{MOST_SIZE:g}")
        return float(value)

    def _name(self, node: ast.Name) -> Any:
        name = node.id
        if name in self.scope.values:
            return self.scope.values[name]
        if name in CONSTANTS:
            return CONSTANTS[name]
        if name in ARITY:
            return self.fail(node, f"{name} is a function", f"write {_example(name)}")
        if name in self.scope.later:
            return self.fail(node, self.scope.later[name])
        known = [*self.scope.values, *CONSTANTS]
        near = suggestion(name, [*known, *ARITY]) or f"names are {listing(known)}"
        return self.fail(node, "unknown name", near)

    def _operation(self, node: ast.BinOp, deep: int) -> Any:
        one, other = self.value(node.left, deep), self.value(node.right, deep)
        if isinstance(node.op, ast.Pow):
            if not isinstance(other, float):
                return self.fail(node, "an exponent is a whole number")
            place = f"{self.scope.key}: {self.part(node)}"
            return self._result(node, lambda: power(one, other, place))
        if type(node.op) not in OPERATORS:
            hint = HINTS.get(type(node.op), "operators are + - * / **")
            return self.fail(node, "not allowed in an expression", hint)
        return self._result(node, lambda: OPERATORS[type(node.op)](one, other))

    def _call(self, node: ast.Call, deep: int) -> Any:
        if not isinstance(node.func, ast.Name):
            return self.fail(node.func, "not a function")
        name = node.func.id
        if name not in ARITY:
            if name in self.scope.values or name in CONSTANTS:
                return self.fail(node, f"{name} is no function", f"write a product as {name} * (…)")
            near = suggestion(name, ARITY) or f"functions are {listing(ARITY)}"
            return self.fail(node.func, "unknown function", near)
        if node.keywords or any(isinstance(x, ast.Starred) for x in node.args):
            return self.fail(node, "arguments by name or by *", f"write {_example(name)}")
        if len(node.args) != ARITY[name]:
            return self.fail(node, f"{len(node.args)} values given", f"write {_example(name)}")
        given = [self.value(x, deep) for x in node.args]
        return self._result(node, lambda: getattr(operations, name)(*given))

    def _result(self, node: ast.AST, make: Callable[[], Any]) -> Any:
        """Return the result of an operation; steps and errors have the place of its node."""
        self.scope.recorder.place = lambda: f"{self.scope.key}: {self.part(node)}"
        try:
            found = make()
        except BoolcompError as error:
            if error.where.startswith(self.scope.key):
                raise DataError(error.what, error.hint, where=error.where) from None
            self.fail(node, error.what, error.hint)
        except ZeroDivisionError:
            self.fail(node, "it divides by zero for all inputs")
        except OverflowError:
            self.fail(node, f"numbers are within ±{MOST_SIZE:g}")
        if isinstance(found, Value):
            return found
        number = float(found)
        if not abs(number) <= MOST_SIZE:
            self.fail(node, f"numbers are within ±{MOST_SIZE:g}, and this is {number:.3g}")
        return number


def _example(name: str) -> str:
    """Return an example of a function's call."""
    given = {"atan2": "y, x", "minimum": "a, b", "maximum": "a, b", "clip": "x, low, high",
             "where_positive": "x, a, b"}  # fmt: skip
    return f"{name}({given.get(name, 'x')})"


# --------------------------------------------------------------------------------------------------
# Files.
# --------------------------------------------------------------------------------------------------

MOST_BYTES = 200_000
MOST_NAMES = 500  # inputs, values and outputs of a file
TOP_KEYS = ("name", "title", "source", "inputs", "let", "outputs")
INPUT_KEYS = ("range", "bits", "unit", "angle", "title")
OUTPUT_KEYS = ("expression", "range", "bits", "unit", "title")
TURN = (-math.pi, math.pi)
_FILE_NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9_.-]{{0,{LONGEST_NAME - 1}}}")


def is_function(document: Mapping[str, Any]) -> bool:
    return "joint" not in document and not {"inputs", "outputs", "let"}.isdisjoint(document)


def parse_function(text: str, where: str = "function") -> Problem:
    """Parse the text of a function file; `where` names it in messages."""
    if len(text) > MOST_BYTES:
        raise DataError(
            f"larger than {MOST_BYTES} bytes, the maximum of a function file", where=where
        )
    return _FunctionFile(TomlTable.read(text, where)).problem()


@dataclass(frozen=True, slots=True)
class _FunctionFile:
    top: TomlTable

    def problem(self) -> Problem:
        """Check the document and return its problem."""
        top, where = self.top, self.top.where
        top.check_keys(TOP_KEYS)
        name = top.string("name", required=True)
        if not _FILE_NAME.fullmatch(name):
            top.fail("name", f"{shown(name)} may hold letters, digits, '-', '_' and '.' only, "
                             f"{LONGEST_NAME} at most")  # fmt: skip
        for key in ("title", "source"):
            top.string(key)
        tables = {key: self.top.section(key).table for key in ("inputs", "let", "outputs")}
        for key in ("inputs", "outputs"):
            if not tables[key]:
                top.fail(key, f"a function needs at least one [{key}.NAME]")
        if sum(map(len, tables.values())) > MOST_NAMES:
            top.fail("", f"more than {MOST_NAMES} inputs, values and outputs")
        self.check_names(tables)
        inputs, outputs = (
            {one: self.word(key, one) for one in tables[key]} for key in ("inputs", "outputs")
        )
        recorder = Recorder(place=lambda: where)
        values = self.values(recorder, inputs, tables["let"], tables["outputs"])
        steps = recorder.finish(values.items())
        try:
            return RecordedFunction(name, steps, inputs, outputs).problem()
        except BoolcompError as error:  # errors of steps begin with their place
            place = error.where if error.where.startswith(where) else where
            raise DataError(error.what, error.hint, where=place) from None

    def values(
        self,
        recorder: Recorder,
        inputs: Mapping[str, Word],
        let: Mapping[str, Any],
        outputs: Mapping[str, Any],
    ) -> dict[str, Any]:
        """Return the outputs' values, calculated from the inputs and [let]."""
        known: dict[str, Any] = {one: recorder.input(one) for one in inputs}
        later = dict.fromkeys(let, "it is defined further below: [let] is evaluated in order")
        reason = "it is an output, which expressions cannot use: put it in [let], too"
        later |= dict.fromkeys(outputs, reason)
        section = self.top.inner("let", let)
        for one, given in let.items():
            if isinstance(given, (int, float)) and not isinstance(given, bool):
                text = repr(given)
            else:
                text = section.string(one, kind="an expression as text, or a number")
            known[one] = read_expression(text, Scope(recorder, known, section.at(one), later))
        found = {}
        for one, table in outputs.items():
            section = self.top.inner(f"outputs.{one}", table)
            text = section.string("expression", required=True, kind="an expression as text")
            place = section.at("expression")
            value = read_expression(text, Scope(recorder, known, place, later))
            if not isinstance(value, Value):
                raise DataError(
                    f"it is always {number(value)}, so there is nothing to compile", where=place
                )
            found[one] = value
        return found

    def check_names(self, tables: Mapping[str, Mapping[str, Any]]) -> None:
        """Raise DataError for invalid or duplicate names."""
        seen: dict[str, str] = {}
        for table, entries in tables.items():
            for one in entries:
                key = f"{table}.{one}"
                if one in ARITY:
                    self.top.fail(key, f"{one} is a function", "choose another name")
                if one in seen:
                    self.top.fail(key, f"{shown(one)} is already used as {seen[one]}")
                if problem := name_problem(one):
                    self.top.fail(key, problem)
                seen[one] = key

    def word(self, kind: str, name: str) -> Word:
        """Return the word of an input's or an output's table."""
        keys = INPUT_KEYS if kind == "inputs" else OUTPUT_KEYS
        section = self.top.section(kind).section(name, keys)
        angle, bits = section.truth("angle", default=False), section.table.get("bits")
        if bits is not None and (isinstance(bits, bool) or not isinstance(bits, int)):
            section.fail("bits", f"must be a whole number, not {shown(bits)}")
        span = _interval(section)
        if span is None and kind == "inputs":
            if not angle:
                self.top.fail(f"{kind}.{name}", "its range is missing", "add range = [low, high]")
            span = Interval(*TURN)
        unit = section.string("unit")
        section.string("title")
        try:
            return Word(span, bits, unit, angle)
        except BoolcompError as error:
            section.fail("bits" if "bits" in error.what else "range", error.what, error.hint)


def _interval(section: TomlTable) -> Interval | None:
    """Return a range given by two numbers, or texts such as "pi/2"."""
    given = section.table.get("range")
    if given is None:
        return None
    if not isinstance(given, list) or len(given) != 2:
        section.fail("range", f"must be two numbers, [low, high], not {shown(given)}")
    ends = []
    for one in given:
        value = parse_number(one) if isinstance(one, str) else one
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            section.fail("range", f"must hold numbers, or angles such as 'pi/2', not {shown(one)}")
        if abs(value) > 1e300:  # an integer may be too large for a float
            section.fail("range", f"must hold smaller numbers than {shown(one)}")
        ends.append(float(value))
    return Interval(*ends)
