"""Simulate word graphs, compare networks with them, fold tables, and name the curves of tables."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.logic import simulation
from boolcomp.words.graph import (
    Angles,
    Bits,
    Heap,
    InputWord,
    Lookup,
    Node,
    PartialProducts,
    WordGraph,
    reads,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.logic.network import Network

    Words = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Wave = tuple[str, int, float]  # cos or sin, the multiple of the angle, the amplitude


@dataclass(frozen=True, slots=True, eq=False)
class Simulated:
    """The outputs' words, (samples, outputs); the heaps that wrapped; the number of saturations."""

    words: Words
    wrapped: tuple[int, ...]
    saturated: int


def simulate(graph: WordGraph, inputs: Mapping[str, Words]) -> Simulated:
    """Evaluate a graph on integer words, bit for bit as its logic does."""
    return Resimulation(inputs).simulate(graph)


class Resimulation:
    """Simulates similar graphs on the same inputs; words of equal nodes are reused."""

    def __init__(self, inputs: Mapping[str, Words]) -> None:
        self.inputs = inputs
        self._nodes: tuple[Node, ...] = ()
        self._values: list[Words] = []
        self._over: list[int] = []

    def simulate(self, graph: WordGraph) -> Simulated:
        """Evaluate a graph; compare `simulate`."""
        values: list[Words] = []
        overs: list[int] = []
        same: list[bool] = []
        for place, node in enumerate(graph.nodes):
            known = place < len(self._nodes) and self._nodes[place] == node
            kept = known and all(same[k] for k in reads(node))
            same.append(kept)
            if kept:
                word, over = self._values[place], self._over[place]
            elif isinstance(node, InputWord):
                word, over = self.inputs[node.name], 0
            else:
                word, over = node_word(graph, place, values)
            values.append(word)
            overs.append(over)
        self._nodes, self._values, self._over = graph.nodes, values, overs
        made = finish(graph, values, [place for place, over in enumerate(overs) if over])
        if graph.inputs:
            return made
        count = len(next(iter(self.inputs.values()))) if self.inputs else 1
        words = np.repeat(made.words, count, axis=0)
        return Simulated(words, made.wrapped, made.saturated * count)


def word_values(graph: WordGraph, inputs: Mapping[str, Words]) -> list[Words]:
    """Return the words of all nodes."""
    values: list[Words] = []
    for place, node in enumerate(graph.nodes):
        if isinstance(node, InputWord):
            values.append(inputs[node.name])
        else:
            values.append(node_word(graph, place, values)[0])
    return values


def with_word(graph: WordGraph, values: Sequence[Words], place: int, words: Words) -> list[Words]:
    """Return the words of all nodes if those of one node are others."""
    found, changed = list(values), {place}
    found[place] = words
    for later in range(place + 1, len(graph.nodes)):
        if changed.intersection(reads(graph.nodes[later])):
            found[later] = node_word(graph, later, found)[0]
            changed.add(later)
    return found


def finish(graph: WordGraph, values: Sequence[Words], wrapped: Sequence[int]) -> Simulated:
    """Round and saturate the outputs, given the words of all nodes."""
    columns, saturated = [], 0
    for result in graph.results:
        heap = graph.nodes[result.node]
        cell = values[result.node] >> result.drop
        surplus = heap.bits - result.drop - result.bits
        middle = (1 << (surplus + result.bits)) >> 1
        low, high = middle - (1 << result.bits >> 1), middle + (1 << result.bits >> 1) - 1
        clipped = np.clip(cell, low, high)
        saturated += int((clipped != cell).sum())
        columns.append(clipped - low)
    return Simulated(np.stack(columns, axis=1), tuple(wrapped), saturated)


def node_word(graph: WordGraph, place: int, values: Sequence[Words]) -> tuple[Words, int]:
    """Return a node's word from those before it, and the number of samples on which it wrapped."""
    node = graph.nodes[place]
    if isinstance(node, Angles):
        total = _filled(values, node.constant)
        for turn in node.turns:
            word = values[turn.node] >> (graph.nodes[turn.node].bits - turn.read)
            word = ((1 << turn.read) - 1) ^ word if turn.negative else word
            total += word << turn.shift
        return total & ((1 << node.bits) - 1), 0
    if isinstance(node, Lookup):
        index = values[node.source] >> (graph.nodes[node.source].bits - node.read)
        return np.asarray(node.entries, dtype=np.int64)[masked(index, node.mask)], 0
    if not isinstance(node, Heap):
        raise TypeError(f"node {place} is an input")
    total = _filled(values, node.constant)
    for part in node.parts:
        if isinstance(part, Bits):
            row, word = part.layout(graph.nodes), values[part.node]
            word = word >> row.drop
            total += (((1 << row.bits) - 1) ^ word if part.negative else word) << row.column
        else:
            _add_products(total, graph.nodes, values, part)
    kept = total & ((1 << node.bits) - 1)
    return kept, 0 if node.wraps else int((kept != total).sum())


def masked(words: Words, mask: int) -> Words:
    """Return the bits of words that a mask selects, without gaps; all bits for mask 0."""
    if not mask:
        return words
    found, place = np.zeros_like(words), 0
    while mask:
        low = (mask & -mask).bit_length() - 1  # runs of ones are moved as a whole
        run = (~(mask >> low) & ((mask >> low) + 1)).bit_length() - 1
        ones = (1 << run) - 1
        found |= (words >> low & ones) << place
        mask, place = mask & ~(ones << low), place + run
    return found


def _filled(values: Sequence[Words], constant: int) -> Words:
    return np.full_like(values[0], constant) if values else np.full(1, constant, np.int64)


def _add_products(
    total: Words, nodes: Sequence[Node], values: Sequence[Words], part: PartialProducts
) -> None:
    """Add partial products row by row: a digit of the shorter word copies or inverts the other."""
    grid, a, b = part.layout(nodes), values[part.a], values[part.b]
    if grid.a > grid.b:
        grid, a, b = grid.swapped, b, a
    for i, row in grid.rows():
        flip = -((a >> i & 1) ^ (not part.negative))
        total += ((b >> row.drop ^ flip) & ((1 << row.bits) - 1)) << row.column


# --------------------------------------------------------------------------------------------------
# Comparison of a network with its word graph.
# --------------------------------------------------------------------------------------------------

SAMPLES, SEED = 4094, 0x90DE  # besides both ends of all words


def agrees(network: Network, graph: WordGraph, words: Mapping[str, Words]) -> bool:
    """Return whether a network computes the words of its graph, bit for bit."""
    simulated, made = simulate(graph, words), network_words(network, graph, words)
    same = np.array_equal(made.words, simulated.words)
    return same and made.saturated == simulated.saturated


def network_words(network: Network, graph: WordGraph, words: Mapping[str, Words]) -> Simulated:
    """Return the output words of a network that has the inputs and outputs of a graph."""
    count = len(next(iter(words.values()))) if words else 1
    planes = []
    for node in graph.inputs:
        planes += [row_planes(words[node.name] >> k & 1) for k in reversed(range(node.bits))]
    ones = np.full(-(-count // 64), (1 << 64) - 1, np.uint64)
    outputs = network.fold(simulation.Planes(ones), planes)
    place = saturated = 0
    columns = []
    for result in graph.results:
        column = np.zeros(count, np.int64)
        for k in reversed(range(result.bits)):
            column |= _bits(outputs[place], count).astype(np.int64) << k
            place += 1
        columns.append(column)
        saturated += int(_bits(outputs[place], count).sum())
        place += 1
    return Simulated(np.stack(columns, axis=1), (), saturated)


def seems_right(network: Network, graph: WordGraph) -> bool:
    """Return whether a network agrees with its graph on some thousands of seeded words."""
    rng = np.random.default_rng(SEED)
    words = {}
    for node in graph.inputs:
        maximum = (1 << node.bits) - 1
        drawn = rng.integers(0, maximum, SAMPLES, np.int64, endpoint=True)
        words[node.name] = np.concatenate([[0, maximum], drawn])
    return agrees(network, graph, words)


def row_planes(column: Words) -> simulation.Words:
    """Pack a column of bits, one for each row, into words of 64 rows."""
    packed = np.packbits(column.astype(np.uint8), bitorder="little")
    padded = np.zeros(-(-len(packed) // 8) * 8, np.uint8)
    padded[: len(packed)] = packed
    return padded.view(np.uint64)


def _bits(plane: simulation.Words, count: int) -> NDArray[np.uint8]:
    return np.unpackbits(plane.view(np.uint8), count=count, bitorder="little")


# --------------------------------------------------------------------------------------------------
# Folding of tables: an even, odd, periodic or antiperiodic table needs one input less.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Folded:
    """A folded table: entries[k] = core[index] ^ (all ones if the parity of k & flip is odd).

    Bit i of the index is the parity of the bits of k in mask `inputs[i]`.
    """

    inputs: tuple[int, ...]
    core: tuple[int, ...]
    flip: int


def fold(entries: Sequence[int], bits: int) -> Folded:
    """Fold a table of 2^t entries of `bits` bits as often as possible."""
    core = np.asarray(entries, dtype=np.int64)
    full = (1 << bits) - 1
    masks = [1 << i for i in range(len(core).bit_length() - 1)]
    flip = 0
    while masks:
        half = len(core) // 2
        low, high = core[:half], core[half:]
        top = masks[-1]
        for reflected in (False, True):
            other = high[::-1] if reflected else high
            sign = 0 if np.array_equal(other, low) else full
            if sign and not np.array_equal(other ^ full, low):
                continue
            masks.pop()
            if reflected:
                masks = [mask ^ top for mask in masks]
            flip ^= top if sign else 0
            core = low
            break
        else:
            break
    return Folded(tuple(masks), tuple(core.tolist()), flip)


def canonical(folded: Folded, bits: int) -> tuple[Folded, bool, bool]:
    """Return the least of a core, its mirror image and their inverses; whether mirrored, inverted.

    A sine and a cosine of one amplitude then share their core, as do f and -f.
    """
    full = (1 << bits) - 1
    choices = []
    for mirrored in (False, True):
        core = folded.core[::-1] if mirrored else folded.core
        for inverted in (False, True):
            entries = tuple(e ^ full for e in core) if inverted else core
            choices.append((entries, mirrored, inverted))
    core, mirrored, inverted = min(choices)
    return Folded(folded.inputs, core, folded.flip), mirrored, inverted


# --------------------------------------------------------------------------------------------------
# Names of tables by simple curves: waves of an angle, a square, a multiple.
#
# A curve with the digits of its name must agree with the entries but for a factor, and for a
# constant unless the name has one.
# --------------------------------------------------------------------------------------------------

WAVES = 4  # largest multiple of an angle in names of tables over a whole turn
ARC_WAVES = 2  # the same over a part of a turn, where many curves look alike
ARC_CELLS = 8  # least number of cells over a part of a turn
POINTS = 256  # of a table that are compared
VISIBLE = 0.04  # an amplitude below this part of the largest is left out of a name
HUGE = 20  # ratio to the waves from which a constant is called c
FIT = 0.12  # rms of the residual of a curve, as a part of the table's rms
COARSE = 0.25  # the same if entries have few bits
ROUNDED = 0.35  # rms of rounding an entry with a margin, as a part of its lowest bit
DIGITS = (1, 2, 3)  # of factors in names, the least number that agrees
CURVES = {"cos": np.cos, "sin": np.sin}


def is_sum(name: str) -> bool:
    """Return whether a name needs brackets before a factor."""
    depth = 0
    for k, letter in enumerate(name):
        depth += (letter == "(") - (letter == ")")
        if k and not depth and letter in "+-":
            return True
    return name.startswith("-")


def wave_name(values: Floats, angle: Floats, of: str, lsb: float) -> str:
    """Return the sum of a few waves that a table follows, as text; empty if there is none.

    `angle` rises evenly over a turn or an arc; entries are multiples of `lsb` plus a constant.
    """
    count = len(values)
    whole = count > 1 and abs((angle[1] - angle[0]) * count - 2 * np.pi) < 1e-6
    if not values.std() or (not whole and count < ARC_CELLS):
        return ""
    slack = _slack(values, lsb)
    found = _over_a_turn(values, angle, slack) if whole else _over_an_arc(values, angle, lsb)
    for waves, constant in found:
        for digits in DIGITS:
            text, shown, free = _written(waves, constant, of, digits, angle)
            if _agree(values, shown, slack, free=free):
                return text
    return ""


def _slack(values: Floats, lsb: float) -> float:
    """Return the largest rms of the residual of a curve."""
    size = float(values.std())
    return max(FIT * size, min(ROUNDED * lsb, COARSE * size))


def _over_a_turn(values: Floats, angle: Floats, slack: float) -> Iterator[tuple[list[Wave], float]]:
    mean = float(values.mean())
    rest = values - mean
    size = float(rest.std())
    waves: list[Wave] = []
    for k in range(1, min(WAVES, len(values) // 4) + 1):
        for letters, function in CURVES.items():
            curve = function(k * angle)
            amplitude = 2 * float((rest * curve).mean())
            if abs(amplitude) > VISIBLE * size:
                waves.append((letters, k, amplitude))
                rest = rest - amplitude * curve
    if waves and rest.std() <= slack:
        yield waves, mean


def _over_an_arc(values: Floats, angle: Floats, lsb: float) -> Iterator[tuple[list[Wave], float]]:
    """Yield fits by few low waves; fits within the rounding of entries come first."""
    stride = max(1, len(values) // POINTS)
    values, angle = values[::stride], angle[::stride]
    known = [(letters, k) for k in range(1, ARC_WAVES + 1) for letters in CURVES]
    rough: list[tuple[list[Wave], float]] = []
    for count, constant in itertools.product((1, 2, 3), (False, True)):
        fits = []
        for chosen in itertools.combinations(known, count):
            columns = [CURVES[letters](k * angle) for letters, k in chosen]
            factors, left = _fitted(values, [*columns, *[np.ones_like(angle)] * constant])
            waves = [(*wave, float(f)) for wave, f in zip(chosen, factors, strict=False)]
            highest = max(k for _, k in chosen)
            fits.append((left > ROUNDED * lsb, highest * (left <= ROUNDED * lsb), left, waves,
                         float(factors[-1]) if constant else 0.0))  # fmt: skip
        poor, _, left, waves, number = min(fits, key=lambda fit: fit[:3])
        if not poor:
            yield waves, number
        elif left <= _slack(values, lsb):
            rough.append((waves, number))
    yield from rough


def _written(
    waves: Sequence[Wave], constant: float, of: str, digits: int, angle: Floats
) -> tuple[str, Floats, bool]:
    """Return a sum of waves as text, its values, and whether its constant is free."""
    largest = max(abs(amplitude) for *_, amplitude in waves)
    text, shown = "", np.zeros_like(angle)
    huge = abs(constant) > HUGE * largest
    visible = not huge and abs(constant) > 3 * VISIBLE * largest
    if visible:
        text = _shown(constant / largest, digits)
        shown += float(text)
    elif huge:
        text = "c"
    for letters, k, amplitude in waves:
        size = _shown(abs(amplitude) / largest, digits)
        inner = of if k == 1 else f"{k}({of})" if is_sum(of) else f"{k}{of}"
        text += f"{'-' if amplitude < 0 else '+'}{'' if size == '1' else size}{letters}({inner})"
        shown += np.copysign(float(size), amplitude) * CURVES[letters](k * angle)
    return text.removeprefix("+"), shown, not visible


def _shown(value: float, digits: int) -> str:
    return np.format_float_positional(float(f"{value:.{digits}g}"), trim="-")


def power_name(values: Floats, x: Floats, of: str, lsb: float) -> str:
    """Return the multiple or square of a word that a table follows, as text."""
    size = values.std()
    if not size or len(values) < 2:
        return ""
    linear, left = _fitted(values, [x, np.ones_like(x)])
    name = f"-{of}" if linear[0] < 0 else of
    if left <= max(ROUNDED * lsb, VISIBLE * size):
        return name
    slack = _slack(values, lsb)
    square, left_of_square = _fitted(values, [x * x, x, np.ones_like(x)])
    if left_of_square <= slack and square[0]:
        vertex = -square[1] / (2 * square[0])
        sign = "-" if square[0] < 0 else ""
        if abs(vertex) < VISIBLE * (x[-1] - x[0]):
            return f"{sign}({of})²" if is_sum(of) else f"{sign}{of}²"
        for digits in DIGITS:
            constant = f"{'-' if vertex > 0 else '+'}{_shown(abs(vertex), digits)}"
            shown = np.copysign(1.0, square[0]) * (x + float(constant)) ** 2
            if _agree(values, shown, slack, free=True):
                return f"{sign}({of}{constant})²"
    return name if left <= slack else ""


def _fitted(values: Floats, columns: Sequence[Floats]) -> tuple[Floats, float]:
    """Return the factors of a least-squares fit, and the rms of its residual."""
    matrix = np.stack(columns, axis=1)
    factors: Floats = np.linalg.lstsq(matrix, values, rcond=None)[0].astype(np.float64)
    return factors, float(np.sqrt(((values - matrix @ factors) ** 2).mean()))


def _agree(values: Floats, shown: Floats, slack: float, *, free: bool) -> bool:
    """Return whether a table is a positive multiple of a curve (plus a constant, if free)."""
    factors, left = _fitted(values, [shown, *[np.ones_like(shown)] * free])
    return bool(factors[0] > 0 and left <= slack)
