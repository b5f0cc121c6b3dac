"""The section `sketch`: the function that a graph calculates, node by node, without any width.

    s0 = input q1 angle                  an angle counts turns (see `origin`), else cells of a word
    s1 = input qd1
    s2 = turns | 1 s0 | -2 s0            a sum of angles
    s3 = waves s2 | 0 1.5 0.0 | 1 0.0 1.6     Re Σ (a + ib) exp(2πikφ) over k, a, b
    s4 = powers s1 | 0.0 | 0.0 | 1.0     Σ c x^k
    s5 = curve s1 1.0 0.0 0.5 -inf inf | x | 2.0 | mul 0 1 | sin 2
                                         factor · f(middle + unit·x), which stands still beyond
                                         low .. high; the last step is f, x of an angle is in rad
    s6 = sum 0.5 | 0.25 s3 | 1.0 s4 s3   a constant, multiples of nodes and of products of two
    s7 = turning 16 0.0 | 1.5 s1         the same, an angle: it counts 2^-16 turns
    tau1 = 0.0 1.5625 s6                 an output: the middle of its range, steps of a sum

Every number is the double that its text names.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from boolcomp.common.errors import DataError, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.checker.container import Section

MOST = 64  # of a multiple, a harmonic, a power, and the places of a turn
_LINE = re.compile(r"(\w+) = (.+)")
_NODE = re.compile(r"s(0|[1-9]\d{0,5})")
_ONE = "neg sqrt sin cos sign exp log atan asin acos tanh abs step wrap"
_ARITY = {"x": 0, "add": 2, "sub": 2, "mul": 2, "div": 2, "atan2": 2}
_ARITY |= dict.fromkeys(_ONE.split(" "), 1)


@dataclass(frozen=True, slots=True)
class Given:
    """An input; an `angle` counts turns."""

    name: str
    angle: bool


@dataclass(frozen=True, slots=True)
class Turns:
    """Σ multiple·angle, over (multiple, node)."""

    items: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Waves:
    """Re Σ (a + ib) exp(2πikφ) of an angle, over (k, a, b)."""

    source: int
    parts: tuple[tuple[int, float, float], ...]


@dataclass(frozen=True, slots=True)
class Powers:
    """Σ c_k x^k."""

    source: int
    coefficients: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Operation:
    """A step of a curve: `x`, a `constant`, or an operation on earlier steps."""

    kind: str
    operands: tuple[int, ...] = ()
    value: float = 0.0


@dataclass(frozen=True, slots=True)
class Curve:
    """factor · f(middle + unit·x), which stands still beyond low .. high; x of an angle is rad."""

    source: int
    unit: float
    middle: float
    factor: float
    low: float
    high: float
    angle: bool
    steps: tuple[Operation, ...]


@dataclass(frozen=True, slots=True)
class Total:
    """A constant and addends, (factor, nodes); a `turning` one counts 2^-turning turns."""

    constant: float
    addends: tuple[tuple[float, tuple[int, ...]], ...]
    turning: int = 0


@dataclass(frozen=True, slots=True)
class Result:
    """An output: middle + step · node."""

    name: str
    middle: float
    step: float
    node: int


Node: TypeAlias = Given | Turns | Waves | Powers | Curve | Total


@dataclass(frozen=True, slots=True)
class Sketch:
    """Nodes, each of which reads earlier ones, and the outputs."""

    nodes: tuple[Node, ...]
    results: tuple[Result, ...]


def read_sketch(section: Section) -> Sketch:
    """Read the section; a `DataError` names the line that is wrong."""
    nodes: list[Node] = []
    results: list[Result] = []
    for row, line in enumerate(section.lines):
        try:
            name, text = _LINE.fullmatch(line).groups()  # type: ignore[union-attr]  # (caught)
            if name == f"s{len(nodes)}" and not results:
                kind, _, rest = text.partition(" ")
                nodes.append(_node(kind, [one.split() for one in rest.split("|")], nodes))
            else:
                results.append(Result(name, *_read("rrs", text.split(), nodes)))
                _require_node(results[-1].step > 0 and _sum(nodes[results[-1].node]))
        except (AttributeError, ValueError, KeyError, IndexError, OverflowError) as error:
            raise DataError(
                f"{section.where(row)}: {shown(line)} is no line of a sketch"
            ) from error
    return Sketch(tuple(nodes), tuple(results))


def is_angle(node: Node) -> bool:
    """Tell whether a node is an angle."""
    if isinstance(node, Given):
        return node.angle
    return isinstance(node, Turns) or (isinstance(node, Total) and node.turning > 0)


def _sum(node: Node) -> bool:
    return isinstance(node, Total) and not node.turning


def _require_node(holds: bool) -> None:  # noqa: FBT001 (what is checked)
    if not holds:
        raise ValueError("no line of a sketch")


def _read(kinds: str, words: Sequence[str], nodes: Sequence[Node]) -> tuple[Any, ...]:
    """Read words: i a small whole number, r a real one, e an end, s a node, a an angle's."""
    _require_node(len(kinds) == len(words))
    found: list[Any] = []
    for kind, word in zip(kinds, words, strict=True):
        if kind in "sa":
            found.append(int(_NODE.fullmatch(word)[1]))  # type: ignore[index]  # (caught)
            _require_node(is_angle(nodes[found[-1]]) == (kind == "a"))
        else:
            found.append(int(word) if kind == "i" else float(word))
            _require_node(not math.isnan(found[-1]) and (kind == "e" or math.isfinite(found[-1])))
            _require_node(kind != "i" or abs(found[-1]) <= MOST)
    return tuple(found)


def _node(kind: str, listed: list[list[str]], nodes: Sequence[Node]) -> Node:
    """Return a node of what stands between its strokes."""
    head, *items = listed

    def read(kinds: str) -> tuple[Any, ...]:
        return tuple(_read(kinds, one, nodes) for one in items)

    if kind == "input":
        _require_node(head[1:] in ([], ["angle"]) and not items)
        return Given(head[0], len(head) > 1)
    if kind == "turns":
        _require_node(not head)
        return Turns(read("ia"))
    if kind == "waves":
        (source,) = _read("a", head, nodes)
        found = Waves(source, read("irr"))
        _require_node(all(k >= 0 for k, _, _ in found.parts))
        return found
    if kind == "powers":
        _require_node(len(items) <= MOST)
        (source,) = _read("s", head, nodes)
        return Powers(source, tuple(c for (c,) in read("r")))
    if kind == "curve":
        angle = head[-1] == "angle"
        numbers = _read("arrree" if angle else "srrree", head[: len(head) - angle], nodes)
        _require_node(numbers[1] != 0 and numbers[4] <= numbers[5] and bool(items))
        source, unit, middle, factor, low, high = numbers
        return Curve(
            source,
            unit,
            middle,
            factor,
            low,
            high,
            angle,
            tuple(operation(one, k) for k, one in enumerate(items)),
        )
    _require_node(kind in ("sum", "turning"))
    *turning, constant = _read("ir" if kind == "turning" else "r", head, nodes)
    addends = [_read("rs" if len(one) == 2 else "rss", one, nodes) for one in items]
    _require_node(not turning or turning[0] > 0)
    return Total(constant, tuple((factor, tuple(read)) for factor, *read in addends), *turning)


def operation(words: list[str], before: int) -> Operation:
    """Read a step of a curve, or of a function; a `ValueError` says that it is none."""
    kind, *listed = words
    if kind not in _ARITY:
        (value,) = _read("r", words, ())
        return Operation("constant", (), value)
    operands = tuple(map(int, listed))
    _require_node(len(operands) == _ARITY[kind] and all(0 <= k < before for k in operands))
    return Operation(kind, operands)
