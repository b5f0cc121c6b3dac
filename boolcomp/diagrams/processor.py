"""The processor of one instruction, simulated: what it delivers, and in how many cycles."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from boolcomp.codes import Code
from boolcomp.diagrams.layout import Leaf
from boolcomp.problem.interval import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.logic.diagram_machine import Accumulator, Image


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
