"""What the words of a graph mean, read off the graph alone: cos(q1+q2), qdd1·(0.8+cos(q2)).

Factors that only scale are left out. A table is named by the waves or powers that its entries
follow; one that corrects another (a bipartite pair) is the fine part of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.compact.graph.graph import Angles, Bits, Heap, Input, Lookup

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.compact.graph.graph import Graph

LONGEST = 26  # characters: a longer name says less than `w7`
WAVES = 4  # multiples of an angle that a table may follow
VISIBLE = 0.04  # an amplitude below this part of the largest is left out of a name
HUGE = 20
FIT = 0.12  # what rounding may leave of a table, as a part of its rms


def word_names(graph: Graph) -> tuple[str, ...]:
    """Return a name for every word; `w7` where its meaning takes too long to write."""
    names: list[str] = []
    for place in range(len(graph.nodes)):
        name = _name(graph, place, names)
        names.append(name if 0 < len(name) <= LONGEST else f"w{place}")
    return tuple(names)


def _name(graph: Graph, place: int, names: list[str]) -> str:
    node = graph.nodes[place]
    if isinstance(node, Input):
        return node.name
    if isinstance(node, Angles):
        return _joined([(names[k], factor) for k, factor in _turns(graph, place).items()])
    if isinstance(node, Lookup):
        return _table_name(graph, place, node, names)
    return _heap_name(node, names)


def _turns(graph: Graph, place: int) -> dict[int, float]:
    """Return how often an angle sum holds every word that is none itself."""
    node = graph.nodes[place]
    if not isinstance(node, Angles):
        return {place: 1.0}
    total: dict[int, float] = {}
    for turn in node.turns:
        # The leading bits of a word count turns: what shifts them past the top is a multiple.
        times = 2.0 ** (turn.read + turn.shift - node.bits) * (-1 if turn.negative else 1)
        for k, inner in _turns(graph, turn.node).items():
            total[k] = total.get(k, 0.0) + times * inner
    return {k: times for k, times in sorted(total.items()) if times}


def _joined(items: list[tuple[str, float]]) -> str:
    """Join names with their signs, and whole multiples beyond one."""
    total: dict[str, float] = {}
    for name, factor in items:
        total[name] = total.get(name, 0.0) + factor
    text = ""
    for name, factor in total.items():
        size = round(abs(factor))
        times = f"{size}" if size > 1 else ""
        inner = f"({name})" if times and _is_sum(name) else name
        text += f"{'-' if factor < 0 else '+'}{times}{inner}"
    return text.replace("+-", "-").removeprefix("+")


def _is_sum(name: str) -> bool:
    depth = 0
    for k, letter in enumerate(name):
        depth += (letter == "(") - (letter == ")")
        if k and not depth and letter in "+-":
            return True
    return name.startswith("-")


def _heap_name(node: Heap, names: list[str]) -> str:
    """Name a sum by what is added; a constant's digits are one factor, with its first sign."""
    weights: dict[str, tuple[float, bool]] = {}
    for part in node.parts:
        if isinstance(part, Bits):
            name, weight = names[part.node], part.column - part.drop
        else:
            name, weight = _product(names[part.a], names[part.b]), part.column
        if name not in weights or weight > weights[name][0]:
            weights[name] = (weight, part.negative)
    if node.wraps and len(weights) == 1:
        return next(iter(weights))
    return _joined([(name, -1.0 if negative else 1.0) for name, (_, negative) in weights.items()])


def _product(a: str, b: str) -> str:
    """Write speeds and accelerations first, and a sign before all."""
    minus = 0
    factors = []
    for name in (a, b):
        plain = name.startswith("-") and not _is_sum(name[1:])
        minus += plain
        factors.append(name[1:] if plain else name)
    factors.sort(key=lambda name: ("cos" in name or "sin" in name, len(name), name))
    text = "·".join(f"({name})" if _is_sum(name) else name for name in factors)
    return f"-{text}" if minus % 2 else text


def _table_name(graph: Graph, place: int, node: Lookup, names: list[str]) -> str:
    source = graph.nodes[node.source]
    angle = (
        isinstance(source, Angles)
        or (isinstance(source, Input) and source.angle)
        or (isinstance(source, Heap) and source.wraps)
    )
    scale = graph.scales[place]
    middle = ((1 << node.bits) - 1) / 2
    values = (np.array(node.entries) - middle) * 2.0**scale.lsb + scale.offset
    of = names[node.source]
    found = _waves(values, of) if angle else _powers(values, of)
    if found:
        return found
    for other in reversed(range(place)):
        pair = graph.nodes[other]
        if isinstance(pair, Lookup) and pair.source == node.source and pair.read < node.read:
            return f"{names[other].removesuffix(', fine')}, fine"
    return f"f({of})"


def _waves(values: NDArray[np.float64], of: str) -> str:
    """Return the few waves of an angle that a table follows; nothing where it does not."""
    count = len(values)
    angle = 2 * np.pi * ((np.arange(count) + 0.5) / count - 0.5)
    mean = float(values.mean())
    rest = values - mean
    size = float(np.sqrt((rest**2).mean()))
    parts: list[tuple[str, float]] = []
    for k in range(1, min(WAVES, count // 4) + 1):
        inner = of if k == 1 else f"{k}({of})" if _is_sum(of) else f"{k}{of}"
        for curve, letters in ((np.cos(k * angle), "cos"), (np.sin(k * angle), "sin")):
            amplitude = 2 * float((rest * curve).mean())
            if abs(amplitude) > VISIBLE * size:
                parts.append((f"{letters}({inner})", amplitude))
                rest = rest - amplitude * curve
    if not parts or np.sqrt((rest**2).mean()) > FIT * size:
        return ""
    largest = max(abs(amplitude) for _, amplitude in parts)
    text = f"{mean / largest:.1g}" if abs(mean) > 3 * VISIBLE * largest else ""
    text = "c" if abs(mean) > HUGE * largest else text  # a constant beside which waves are small
    for wave, amplitude in parts:
        factor = f"{abs(amplitude) / largest:.1g}"
        text += f"{'-' if amplitude < 0 else '+'}{'' if factor == '1' else factor}{wave}"
    return text.removeprefix("+")


def _powers(values: NDArray[np.float64], of: str) -> str:
    """Return the square (or the multiple) of a word that a table follows."""
    x = (np.arange(len(values)) + 0.5) / len(values) - 0.5
    rest = values - values.mean()
    size = np.sqrt((rest**2).mean())
    inner = f"({of})" if _is_sum(of) else of
    for curve, name in ((x, of), (x * x - (x * x).mean(), f"{inner}²")):
        factor = (rest * curve).sum() / (curve**2).sum()
        if np.sqrt(((rest - factor * curve) ** 2).mean()) <= FIT * size:
            return f"-{name}" if factor < 0 else name
    return ""
