"""Decision diagrams of tables of words, and a processor that evaluates them by testing bits.

A diagram of words tests a bit once for all bits of the word. No test has two equal branches, and no
two tests are equal. The program of the processor as text:

    word 22                              bits of an instruction
    input q1 8 from 40                   an input word, and the number of its lowest bit
    output tau1 8 guard 2 offset 5 gray  cell = (offset + all words) >> guard, clamped to 8 bits
    walk 0 tau1*1 tau2*2                 start of a walk; its word counts for these outputs
    0: if bit 6 goto 57                  test a bit, jump; otherwise the next instruction
    1: if not bit 3 goto 9
    2: leaf 17                           the end of a walk, and its word

The bits of an instruction begin with the leaf flag. A test continues with the bit value that jumps,
the number of the bit and the target. A leaf has its word at the end. The bit after all inputs is 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.codes import Code
from boolcomp.logic.network import restricted, used_inputs
from boolcomp.logic.simulation import truth_planes
from boolcomp.problem.words import Interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from boolcomp.logic.network import Network
    from boolcomp.problem.word_codes import CodeKind

    Pairs = NDArray[np.int64]  # successors on 0 and on 1 of each node: nodes of the next level

# --------------------------------------------------------------------------------------------------
# A table as the levels of a decision diagram, one input per level, in any order. Every path has a
# node in each level, even with two equal branches: so a swap of neighbouring inputs changes no
# other level. `reduced` removes the redundant tests.
# --------------------------------------------------------------------------------------------------

DIRECT = 1 << 12


class Levels:
    """The distinct subfunctions of a table by level; `order` is the input of each level.

    Branches of the last level are places in `leaves`, the rising distinct words of the table. No
    two nodes of a level have the same branches.
    """

    def __init__(self, words: NDArray[np.int64], inputs: int, order: Sequence[int]) -> None:
        if len(words) != 1 << inputs or sorted(order) != list(range(inputs)):
            raise ValueError("a table has a word for every combination of its inputs")
        self.order = list(order)
        turned = np.ascontiguousarray(words.reshape((2,) * inputs).transpose(order)).ravel()
        self.leaves, places = _distinct(turned, int(turned.max()) + 1)
        found: list[Pairs] = []
        below = len(self.leaves)
        for _ in range(inputs):
            pairs, places = _numbered(places.reshape(-1, 2), below)
            found.append(pairs)
            below = len(pairs)
        self.pairs = found[::-1]
        self.sizes = [_tests(pairs) for pairs in self.pairs]

    @property
    def size(self) -> int:
        return sum(self.sizes)

    def swap(self, level: int) -> None:
        """Swap a level and the next one."""
        upper, lower = self.pairs[level], self.pairs[level + 1]
        last = level + 2 == len(self.pairs)
        below = len(self.leaves) if last else len(self.pairs[level + 2])
        on_zero, on_one = lower[upper[:, 0]], lower[upper[:, 1]]
        crossed = np.concatenate([np.stack([on_zero[:, k], on_one[:, k]], axis=1) for k in (0, 1)])
        self.pairs[level + 1], places = _numbered(crossed, below)
        self.pairs[level] = places.reshape(2, -1).T.copy()
        self.sizes[level : level + 2] = map(_tests, self.pairs[level : level + 2])
        self.order[level : level + 2] = self.order[level + 1], self.order[level]


def _numbered(pairs: Pairs, below: int) -> tuple[Pairs, NDArray[np.int64]]:
    """Return the distinct pairs, rising, and the place of every given pair among them."""
    keys, places = _distinct(pairs[:, 0] * below + pairs[:, 1], below * below)
    return np.stack([keys // below, keys % below], axis=1), places


def _distinct(numbers: NDArray[np.int64], end: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct numbers, rising, and the place of every given number among them.

    All are from 0 to `end`; a small `end` needs no sort.
    """
    if end > max(DIRECT, 2 * len(numbers)):
        found, places = np.unique(numbers, return_inverse=True)
        return found, places.reshape(-1).astype(np.int64)
    there = np.zeros(end, np.bool_)
    there[numbers] = True
    return np.flatnonzero(there), (np.cumsum(there) - 1)[numbers]


def _tests(pairs: Pairs) -> int:
    return int(np.count_nonzero(pairs[:, 0] != pairs[:, 1]))


# --------------------------------------------------------------------------------------------------
# An order of inputs with few tests, by sifting (Rudell, 1993). Each input, that of the largest
# level first, moves through all levels and then to the best one; repeated until no gain.
# --------------------------------------------------------------------------------------------------

ROUNDS = 8
GROWTH = 1.3  # relative to the smallest diagram so far, at which an input turns back


def sifted(words: NDArray[np.int64], inputs: int, orders: Sequence[Sequence[int]]) -> Levels:
    """Return the levels of a table in the best order that sifting finds from given orders."""
    found = [Levels(words, inputs, order) for order in orders]
    for levels in found:
        _sift(levels)
    return min(found, key=lambda levels: (levels.size, levels.order))


def _sift(levels: Levels) -> None:
    for _ in range(ROUNDS):
        before = levels.size
        by_size = sorted(zip(levels.sizes, levels.order, strict=True), key=lambda x: (-x[0], x[1]))
        for _, one in by_size:
            _settle(levels, levels.order.index(one))
        if levels.size == before:
            return


def _settle(levels: Levels, start: int) -> None:
    """Move the input of a level to the best level; it stays if there is no gain."""
    last = len(levels.order) - 1
    best = (levels.size, 0, start)
    place = start
    ways = (1, -1) if last - start <= start else (-1, 1)  # the shorter one first
    for step in ways:
        while 0 <= place + step <= last:
            place = _moved(levels, place, step)
            best = min(best, (levels.size, abs(place - start), place))
            if levels.size > GROWTH * best[0]:
                break
    while place != best[2]:
        place = _moved(levels, place, 1 if place < best[2] else -1)


def _moved(levels: Levels, place: int, step: int) -> int:
    levels.swap(min(place, place + step))
    return place + step


# --------------------------------------------------------------------------------------------------
# A reduced ordered decision diagram whose leaves are words.
# --------------------------------------------------------------------------------------------------

TRIED = 20  # inputs up to which several initial orders are tried


class DiagramNode(NamedTuple):
    """A test of an input, and the nodes that follow on 0 and on 1."""

    input: int
    zero: int
    one: int


@dataclass(frozen=True, slots=True, repr=False)
class Diagram:
    """The tests of a function of `inputs` bits, from the root on, and the words of its leaves."""

    inputs: int
    order: tuple[int, ...]
    tests: tuple[DiagramNode, ...]
    leaves: tuple[int, ...]

    @property
    def root(self) -> int:
        return 0 if self.tests else ~0

    def words(self) -> NDArray[np.int64]:
        """Return the word of every combination of inputs, the first input most significant."""
        rows = np.arange(1 << self.inputs)
        at = np.full(len(rows), self.root)
        leaves = np.asarray(self.leaves, np.int64)
        if self.tests:
            tests = np.asarray(self.tests, np.int64)
            for _ in self.order:
                one = tests[np.maximum(at, 0)]
                bit = rows >> (self.inputs - 1 - one[:, 0]) & 1
                at = np.where(at < 0, at, np.where(bit == 1, one[:, 2], one[:, 1]))
        found: NDArray[np.int64] = leaves[~at]
        return found

    def __str__(self) -> str:
        def name(node: int) -> str:
            return f"= {self.leaves[~node]}" if node < 0 else f"n{node}"

        lines = [f"diagram of {self.inputs} inputs from {name(self.root)}"]
        lines += [
            f"n{k}: x{test.input} ? {name(test.one)} : {name(test.zero)}"
            for k, test in enumerate(self.tests)
        ]
        return "\n".join(lines) + "\n"

    def __repr__(self) -> str:
        return f"Diagram({self.inputs} inputs, {len(self.tests)} tests, {len(self.leaves)} leaves)"


def diagram_of(words: NDArray[np.int64], inputs: int, spans: Sequence[int] = ()) -> Diagram:
    """Return the diagram of a table of words in the best order found.

    Row r is the word for the inputs r, the first of them most significant. If the inputs are the
    bits of several words, `spans` bits each, interleaved orders are tried too. The diagram is
    compared with the whole table.
    """
    widths = spans or (inputs,)
    if sum(widths) != inputs:
        raise ValueError(f"{widths} bits are not {inputs} inputs")
    straight = list(range(inputs))
    firsts = [sum(widths[:k]) for k in range(len(widths))]
    interleaved = [
        first + k
        for k in range(max(widths, default=0))
        for first, width in zip(firsts, widths, strict=True)
        if k < width
    ]
    several = [straight, straight[::-1], interleaved, interleaved[::-1]]
    orders = [interleaved] if inputs > TRIED else several
    distinct = [order for k, order in enumerate(orders) if order not in orders[:k]]
    made = reduced(sifted(np.asarray(words, np.int64), inputs, distinct))
    if not np.array_equal(made.words(), words):
        raise AssertionError("a diagram differs from its table")
    return made


def reduced(levels: Levels) -> Diagram:
    """Return the diagram of levels, without redundant tests."""
    below = ~np.arange(len(levels.leaves))
    found: list[DiagramNode] = []  # last levels first
    for one, pairs in zip(reversed(levels.order), reversed(levels.pairs), strict=True):
        targets = below[pairs]
        below = targets[:, 0].copy()
        for k in np.flatnonzero(targets[:, 0] != targets[:, 1]).tolist():
            below[k] = len(found)
            found.append(DiagramNode(one, *targets[k].tolist()))
    last = len(found) - 1

    def turned(node: int) -> int:
        return node if node < 0 else last - node

    tests = tuple(DiagramNode(t.input, turned(t.zero), turned(t.one)) for t in reversed(found))
    order = tuple(levels.order)
    return Diagram(len(order), order, tests, tuple(levels.leaves.tolist()))


# --------------------------------------------------------------------------------------------------
# Several diagrams over one set of bits with shared subdiagrams.
# --------------------------------------------------------------------------------------------------


class Forest:
    """Tests of numbered bits, each after its successors, and the words of leaves.

    Nodes are numbered as in a diagram: a test by its place, a leaf by ~ its place.
    """

    def __init__(self) -> None:
        self.nodes: list[DiagramNode] = []
        self.leaves: list[int] = []
        self._nodes: dict[DiagramNode, int] = {}
        self._leaves: dict[int, int] = {}

    def add(self, diagram: Diagram, bits: Sequence[int]) -> int:
        """Add a diagram whose inputs are the given bits; return its root."""
        leaves = [self._leaf(word) for word in diagram.leaves]
        places = [0] * len(diagram.tests)

        def place(node: int) -> int:
            return leaves[~node] if node < 0 else places[node]

        for k in reversed(range(len(places))):
            test = diagram.tests[k]
            made = DiagramNode(bits[test.input], place(test.zero), place(test.one))
            places[k] = self._nodes.setdefault(made, len(self.nodes))
            if places[k] == len(self.nodes):
                self.nodes.append(made)
        return place(diagram.root)

    def _leaf(self, word: int) -> int:
        place = self._leaves.setdefault(word, len(self.leaves))
        if place == len(self.leaves):
            self.leaves.append(word)
        return ~place


# --------------------------------------------------------------------------------------------------
# The tables of networks, as words.
# --------------------------------------------------------------------------------------------------

MOST_INPUTS = 22  # of one table, as in paper mode
MOST_WORD = 62  # bits


def words_of(network: Network) -> NDArray[np.int64]:
    """Return a network's output word for every input word, first outputs most significant."""
    rows = 1 << network.inputs
    if network.inputs > MOST_INPUTS or len(network.outputs) > MOST_WORD:
        raise ValueError(f"{network!r} is too large for a table")
    words = np.zeros(rows, np.int64)
    for plane in truth_planes(network):
        data = np.frombuffer(plane.to_bytes(-(-rows // 8), "little"), np.uint8)
        words = words << 1 | np.unpackbits(data, count=rows, bitorder="little")
    return words


def narrowed(network: Network) -> tuple[Network, tuple[int, ...]]:
    """Return a network without its unused inputs, and the places of the others."""
    kept = used_inputs(network)
    return restricted(network, kept), kept


# --------------------------------------------------------------------------------------------------
# Diagrams as a sequence of instructions: test a bit and jump, or fall through to the next one. A
# test is followed by one of its successors and jumps to the other. A node can follow one test only:
# a maximum matching of tests with nodes needs the fewest unconditional jumps. An unmatched test is
# followed by a copy of its leaf, which saves a cycle against a jump, or without a leaf by a jump.
# --------------------------------------------------------------------------------------------------


class Branch(NamedTuple):
    """Jump to the instruction `target` if a bit is `when`, else continue with the next one."""

    bit: int
    when: int
    target: int


class Leaf(NamedTuple):
    """The end of a walk, and its word."""

    word: int


Instruction = Branch | Leaf


def laid_out(
    forest: Forest, roots: Sequence[int], always: int
) -> tuple[tuple[Instruction, ...], tuple[int, ...]]:
    """Return the instructions of a forest, and the place of every root; bit `always` is 1."""
    after = followers(forest.nodes, visits(forest, roots))
    followed = set(after.values())
    places: dict[int, int] = {}
    row: list[
        int | None
    ] = []  # nodes in order; None: a jump to the zero successor of the node before
    for head in (k for k in reversed(range(len(forest.nodes))) if k not in followed):
        at: int | None = head
        while at is not None:
            places.setdefault(at, len(row))
            row.append(at)
            at = after.get(at) if at >= 0 else None
        if (last := row[-1]) is not None and last >= 0:
            row.append(_spare(forest.nodes[last]))
            if (leaf := row[-1]) is not None:
                places.setdefault(leaf, len(row) - 1)
    for leaf in range(len(forest.leaves)):
        if ~leaf not in places:
            places[~leaf] = len(row)
            row.append(~leaf)
    made: list[Instruction] = []
    for place, one in enumerate(row):
        if one is None:
            before = row[place - 1]
            made.append(Branch(always, 1, places[forest.nodes[before or 0].zero]))
        elif one < 0:
            made.append(Leaf(forest.leaves[~one]))
        else:
            node, following = forest.nodes[one], row[place + 1]
            when = int(following in (None, node.zero))
            made.append(Branch(node.input, when, places[node.one if when else node.zero]))
    return tuple(made), tuple(places[root] for root in roots)


def _spare(node: DiagramNode) -> int | None:
    return next((one for one in (node.zero, node.one) if one < 0), None)


def visits(forest: Forest, roots: Sequence[int]) -> list[float]:
    """Return the expected number of executions of each test for random bits."""
    found = [0.0] * len(forest.nodes)
    for root in roots:
        if root >= 0:
            found[root] += 1
    for k in reversed(range(len(found))):  # a test comes after its successors
        for one in (forest.nodes[k].zero, forest.nodes[k].one):
            if one >= 0:
                found[one] += found[k] / 2
    return found


def followers(nodes: Sequence[DiagramNode], weights: Sequence[float]) -> dict[int, int]:
    """Return the node after each matched test.

    The maximum matching with the fewest expected jumps. Tests that would need a jump come first,
    the most frequent before others. A matched test stays matched (the sets of tests that can
    be matched are a matroid).
    """
    order = sorted(range(len(nodes)), key=lambda k: (_spare(nodes[k]) is not None, -weights[k], k))
    after: dict[int, int] = {}
    owner: dict[int, int] = {}
    dead: set[int] = set()  # no free node can be reached from these
    for start in order:
        came: dict[int, int] = {}
        waiting = [start]
        free = None
        for test in waiting:
            for one in (nodes[test].zero, nodes[test].one):
                if one in came or one in dead:
                    continue
                came[one] = test
                if one not in owner:
                    free = one
                    break
                waiting.append(owner[one])
            if free is not None:
                break
        if free is None:
            dead.update(came)
            continue
        while free is not None:
            test = came[free]
            before = None if test == start else after[test]
            after[test], owner[free] = free, test
            free = before
    return after


# --------------------------------------------------------------------------------------------------
# The program of the one-instruction processor, as text and as bits.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DiagramInput:
    """An input word, and the number of its lowest bit among all bits."""

    name: str
    bits: int
    low: int


@dataclass(frozen=True, slots=True)
class Accumulator:
    """An output: its offset for every load, and the conversion of its sum.

    The cell is the sum without its lowest `guard_bits`, clamped to 0 .. 2^bits - 1 and coded. If
    `whole`, the single added word is the output's word with its saturation flag as the last bit.
    """

    name: str
    bits: int
    guard_bits: int
    offsets: tuple[int, ...]
    kind: CodeKind
    whole: bool = False


@dataclass(frozen=True, slots=True)
class DiagramWalk:
    """The first instruction of a walk, and the multiples of its word added to outputs."""

    entry: int
    adds: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Image:
    """A program of the processor: instructions, and the walks of every load in order."""

    inputs: tuple[DiagramInput, ...]
    outputs: tuple[Accumulator, ...]
    walks: tuple[DiagramWalk, ...]
    loads: tuple[tuple[int, int], ...]
    instructions: tuple[Instruction, ...]
    _lengths: dict[str, list[float]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def always(self) -> int:
        return sum(word.bits for word in self.inputs)

    @property
    def bit_bits(self) -> int:
        return max(1, self.always.bit_length())

    @property
    def address_bits(self) -> int:
        return max(1, (len(self.instructions) - 1).bit_length())

    @property
    def word_bits(self) -> int:
        return max(max(1, i.word.bit_length()) for i in self.instructions if isinstance(i, Leaf))

    @property
    def width(self) -> int:
        return 1 + max(1 + self.bit_bits + self.address_bits, self.word_bits)

    @property
    def tests(self) -> int:
        return sum(isinstance(i, Branch) and i.bit != self.always for i in self.instructions)

    @property
    def jumps(self) -> int:
        return sum(isinstance(i, Branch) and i.bit == self.always for i in self.instructions)

    @property
    def memory_bits(self) -> int:
        return self.width * len(self.instructions) + self.address_bits * len(self.walks)

    def mean_cycles(self, load: int = 0) -> float:
        """Return the mean cycles of a sample if all words are equally likely.

        Every instruction takes one cycle, the fetch of the first one another.
        """
        first, end = self.loads[load]
        lengths = self._length("mean", lambda a, b: (a + b) / 2)
        return 1 + sum(lengths[walk.entry] for walk in self.walks[first:end])

    def worst_cycles(self, load: int = 0) -> int:
        """Return an upper bound on cycles: every walk takes its longest path."""
        first, end = self.loads[load]
        lengths = self._length("worst", max)
        return 1 + int(sum(lengths[walk.entry] for walk in self.walks[first:end]))

    def _length(self, name: str, join: Callable[[float, float], float]) -> list[float]:
        """Return the path length from every instruction to a leaf; `join` combines branches."""
        if name in self._lengths:
            return self._lengths[name]
        found: list[float] = [0] * len(self.instructions)
        for start in range(len(found)):
            stack = [start]
            while stack:
                one = self.instructions[stack[-1]]
                ways = self._after(stack[-1])
                if missing := [way for way in ways if not found[way]]:
                    stack += missing
                    continue
                lengths = [found[way] for way in ways]
                found[stack.pop()] = 1 + (
                    0 if isinstance(one, Leaf) else lengths[0] if len(ways) == 1 else join(*lengths)
                )
        self._lengths[name] = found
        return found

    def _after(self, place: int) -> tuple[int, ...]:
        one = self.instructions[place]
        if isinstance(one, Leaf):
            return ()
        return (one.target,) if one.bit == self.always else (place + 1, one.target)

    def code(self, instruction: Instruction) -> int:
        """Return the bits of an instruction."""
        if isinstance(instruction, Leaf):
            return 1 << (self.width - 1) | instruction.word
        low = instruction.bit << self.address_bits | instruction.target
        return instruction.when << (self.bit_bits + self.address_bits) | low

    def binary(self) -> bytes:
        """Return the instructions in order, each in whole bytes, big-endian."""
        size = -(-self.width // 8)
        return b"".join(self.code(one).to_bytes(size, "big") for one in self.instructions)

    def __str__(self) -> str:
        return "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"word {self.width}"
        for word in self.inputs:
            yield f"input {word.name} {word.bits} from {word.low}"
        for load, (first, end) in enumerate(self.loads):
            if len(self.loads) > 1:
                yield f"load {load}"
            for output in self.outputs:
                head = f"output {output.name} {output.bits}"
                how = f"guard {output.guard_bits} offset {output.offsets[load]} {output.kind}"
                yield f"{head} {'whole' if output.whole else how}"
            for walk in self.walks[first:end]:
                adds = " ".join(f"{self.outputs[k].name}*{times}" for k, times in walk.adds)
                yield f"walk {walk.entry} {adds}"
        for place, one in enumerate(self.instructions):
            if isinstance(one, Leaf):
                yield f"{place}: leaf {one.word}"
            elif one.bit == self.always:
                yield f"{place}: goto {one.target}"
            else:
                yield f"{place}: if {'' if one.when else 'not '}bit {one.bit} goto {one.target}"


# --------------------------------------------------------------------------------------------------
# A simulation of the one-instruction processor.
# --------------------------------------------------------------------------------------------------


class Run(NamedTuple):
    """The words of all outputs, their saturation flags, and the cycles from start to done."""

    words: tuple[int, ...]
    saturated: tuple[bool, ...]
    cycles: int


def run_image(image: Image, words: Sequence[int], load: int = 0) -> Run:
    """Return the result of the processor for a word of every input.

    The first cycle reads the words and fetches an instruction; then each instruction takes one.
    """
    given = 1
    for one, word in zip(image.inputs, words, strict=True):
        given = given << one.bits | word
    sums = [one.offsets[load] for one in image.outputs]
    cycles = 1
    first, end = image.loads[load]
    for walk in image.walks[first:end]:
        place = walk.entry
        while not isinstance(step := image.instructions[place], Leaf):
            cycles += 1
            place = step.target if given >> step.bit & 1 == step.when else place + 1
        cycles += 1
        for output, times in walk.adds:
            sums[output] += times * step.word
    made = [delivered(output, total) for output, total in zip(image.outputs, sums, strict=True)]
    return Run(tuple(word for word, _ in made), tuple(flag for _, flag in made), cycles)


def delivered(output: Accumulator, total: int) -> tuple[int, bool]:
    """Return the word of an output, and whether it saturated."""
    if output.whole:
        return total >> 1, bool(total & 1)
    last = (1 << output.bits) - 1
    cell = total >> output.guard_bits
    code = Code(Interval(-1.0, 1.0), output.bits, output.kind)
    return int(code.word(min(max(cell, 0), last))), not 0 <= cell <= last
