"""The program of the processor of one instruction: what stands in its memory, as text and as bits.

    word 22                              bits of an instruction
    input q1 8 from 40                   an input word, and the number of its lowest bit
    output tau1 8 guard 2 offset 5 gray  cell = (offset + all words) >> guard, put within 8 bits
    walk 0 tau1*1 tau2*2                 a walk begins here; its word counts for these outputs
    0: if bit 6 goto 57                  test a bit, jump; else the next instruction
    1: if not bit 3 goto 9
    2: leaf 17                           the end of a walk, and its word

In bits an instruction is, the first bit first: whether it is a leaf; of a test what the bit must be
to jump, its number, the target; of a leaf, at the end, its word. The bit after all inputs is 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from boolcomp.codes import Code
from boolcomp.problem.words import Interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from boolcomp.logic.diagrams import DiagramNode, Forest
    from boolcomp.problem.words import CodeKind


# --------------------------------------------------------------------------------------------------
# Diagrams as instructions in a row: test a bit and jump, or fall through to the next one.
#
# A test is followed by one of the two nodes that it leads to, and jumps to the other. A node can
# follow one test only; so what follows what is a matching of tests with nodes, and the more pairs
# it has the fewer instructions are spent on jumps that test nothing. A test that nothing can follow
# has a leaf of its own behind it where it leads to a leaf, which takes as many instructions as a
# jump and a cycle less, else a jump.
# --------------------------------------------------------------------------------------------------


class Branch(NamedTuple):
    """Go to the instruction `target` where a bit is `when`, else to the next one."""

    bit: int
    when: int
    target: int


class Leaf(NamedTuple):
    """The end of a walk, and its word."""

    word: int


Instruction = Branch | Leaf


class Layout(NamedTuple):
    """Instructions, and at which of them every walk begins."""

    instructions: tuple[Instruction, ...]
    entries: tuple[int, ...]


def laid_out(forest: Forest, roots: Sequence[int], always: int) -> Layout:
    """Return the instructions of a forest; `always` is the number of a bit that is always 1."""
    after = followers(forest.nodes, visits(forest, roots))
    followed = set(after.values())
    places: dict[int, int] = {}
    row: list[int | None] = []  # nodes in order; None: a jump to what the node before it has left
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
    return Layout(tuple(made), tuple(places[root] for root in roots))


def _spare(node: DiagramNode) -> int | None:
    """Return the leaf that stands behind a test that nothing follows, if it leads to one."""
    return next((one for one in (node.zero, node.one) if one < 0), None)


def visits(forest: Forest, roots: Sequence[int]) -> list[float]:
    """Return how often each test is made on the mean, where bits are drawn at random."""
    found = [0.0] * len(forest.nodes)
    for root in roots:
        if root >= 0:
            found[root] += 1
    for k in reversed(range(len(found))):  # tests stand after those that they lead to
        for one in (forest.nodes[k].zero, forest.nodes[k].one):
            if one >= 0:
                found[one] += found[k] / 2
    return found


def followers(nodes: Sequence[DiagramNode], weights: Sequence[float]) -> dict[int, int]:
    """Return by test the node behind it, for as many tests as can be.

    Of all such matchings it is the one that takes the fewest jumps on the mean: tests that would
    need one come first, the most frequent of them before others, and none that has a node behind
    it loses it to a later one (the sets that can be matched are a matroid).
    """
    order = sorted(range(len(nodes)), key=lambda k: (_spare(nodes[k]) is not None, -weights[k], k))
    after: dict[int, int] = {}
    owner: dict[int, int] = {}
    dead: set[int] = set()  # from here no free node is found, now or later
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
# The program of the processor of one instruction: what stands in its memory, as text and as bits.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Input:
    """A word that is read, and the number of its lowest bit among all bits that can be tested."""

    name: str
    bits: int
    low: int


@dataclass(frozen=True, slots=True)
class Accumulator:
    """What becomes an output: its offset for every load, and what is made of the sum of words.

    The cell is the sum without its lowest `guard_bits`, put on an end of 0 .. 2^bits - 1 where it
    lies beyond, and is delivered in a code. If `whole`, the one word that is added is the output's
    own with a last bit that says whether it saturated.
    """

    name: str
    bits: int
    guard_bits: int
    offsets: tuple[int, ...]
    kind: CodeKind
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Walk:
    """Where a walk begins, and how many times its word is added to which outputs."""

    entry: int
    adds: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Image:
    """A program of the processor: instructions, and the walks of every load in order."""

    inputs: tuple[Input, ...]
    outputs: tuple[Accumulator, ...]
    walks: tuple[Walk, ...]
    loads: tuple[tuple[int, int], ...]
    instructions: tuple[Instruction, ...]
    _lengths: dict[str, list[float]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def always(self) -> int:
        """The number of the bit that is always 1: a test of it is a jump."""
        return sum(word.bits for word in self.inputs)

    @property
    def bit_bits(self) -> int:
        """The bits of the number of a bit."""
        return max(1, self.always.bit_length())

    @property
    def address_bits(self) -> int:
        """The bits of the place of an instruction."""
        return max(1, (len(self.instructions) - 1).bit_length())

    @property
    def word_bits(self) -> int:
        """The bits of the largest word of a leaf."""
        return max(max(1, i.word.bit_length()) for i in self.instructions if isinstance(i, Leaf))

    @property
    def width(self) -> int:
        """The bits of an instruction."""
        return 1 + max(1 + self.bit_bits + self.address_bits, self.word_bits)

    @property
    def tests(self) -> int:
        """The instructions that test a bit which can be 0."""
        return sum(isinstance(i, Branch) and i.bit != self.always for i in self.instructions)

    @property
    def jumps(self) -> int:
        """The instructions that only jump."""
        return sum(isinstance(i, Branch) and i.bit == self.always for i in self.instructions)

    @property
    def memory_bits(self) -> int:
        """The bits of all instructions, and of where walks begin."""
        return self.width * len(self.instructions) + self.address_bits * len(self.walks)

    def mean_cycles(self, load: int = 0) -> float:
        """Return the cycles of a sample, where all words are equally likely, on the mean.

        An instruction takes one; the first is fetched in one more.
        """
        first, end = self.loads[load]
        lengths = self._length("mean", lambda a, b: (a + b) / 2)
        return 1 + sum(lengths[walk.entry] for walk in self.walks[first:end])

    def worst_cycles(self, load: int = 0) -> int:
        """Return what no sample exceeds: every walk as long as it can be."""
        first, end = self.loads[load]
        lengths = self._length("worst", max)
        return 1 + int(sum(lengths[walk.entry] for walk in self.walks[first:end]))

    def _length(self, name: str, join: Callable[[float, float], float]) -> list[float]:
        """Return the instructions from every one to a leaf, the two ways of a test joined."""
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
        """Return the bits of an instruction, the first most significant."""
        if isinstance(instruction, Leaf):
            return 1 << (self.width - 1) | instruction.word
        low = instruction.bit << self.address_bits | instruction.target
        return instruction.when << (self.bit_bits + self.address_bits) | low

    def binary(self) -> bytes:
        """Return the instructions one after the other, each in whole bytes, the highest first."""
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
# The processor of one instruction, simulated: what it delivers, and in how many cycles.
# --------------------------------------------------------------------------------------------------


class Run(NamedTuple):
    """The words of all outputs, which of them saturated, and the cycles from start to done."""

    words: tuple[int, ...]
    saturated: tuple[bool, ...]
    cycles: int


def run_image(image: Image, words: Sequence[int], load: int = 0) -> Run:
    """Return what the processor makes of a word for every input.

    In the first cycle it takes the words in and fetches an instruction; then every cycle is one.
    """
    given = 1
    for asked, word in zip(image.inputs, words, strict=True):
        given = given << asked.bits | word
    sums = [one.offsets[load] for one in image.outputs]
    cycles = 1
    first, end = image.loads[load]
    for walk in image.walks[first:end]:
        place = walk.entry
        while not isinstance(one := image.instructions[place], Leaf):
            cycles += 1
            place = one.target if given >> one.bit & 1 == one.when else place + 1
        cycles += 1
        for output, times in walk.adds:
            sums[output] += times * one.word
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
