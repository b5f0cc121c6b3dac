"""The processor of one instruction: its texts are its program, its words are the logic's."""

import itertools
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from small_programs import stages
from targets.exported import family, tiny

from boolcomp.logic import run_image
from boolcomp.problem import CodeKind
from boolcomp.program import Program
from boolcomp.targets import image_of


class Ran(NamedTuple):
    """What an interpreter of texts makes of some words: cells and cycles."""

    cells: list[int]
    cycles: int


def interpreted(text: str, words: list[int], load: int = 0) -> Ran:
    """Run a program's text, reading nothing but its lines."""
    lines = text.splitlines()
    bits: dict[int, int] = {}
    inputs = [line.split() for line in lines if line.startswith("input ")]
    for (_, _, width, _, low), word in zip(inputs, words, strict=True):
        bits |= {int(low) + k: word >> k & 1 for k in range(int(width))}
    code = {int(a): b for a, b in (line.split(": ") for line in lines if line[0].isdigit())}
    heads = [line for line in lines if line.split()[0] in ("load", "output", "walk")]
    if heads[0] == "load 0":
        start = heads.index(f"load {load}")
        heads = list(itertools.takewhile(lambda x: not x.startswith("load"), heads[start + 1 :]))
    outputs = [line.split()[1:] for line in heads if line.startswith("output")]
    sums = {name: int(how[3]) if how[0] == "guard" else 0 for name, _, *how in outputs}
    cycles = 1
    for _, at, *adds in (line.split() for line in heads if line.startswith("walk")):
        place, steps = walked(code, bits, int(at))
        cycles += steps
        for name, times in (add.split("*") for add in adds):
            sums[name] += int(times) * int(code[place].split()[1])
    cells = []
    for name, width, *how in outputs:
        most = (1 << int(width)) - 1
        cell = sums[name] if how[0] == "whole" else sums[name] >> int(how[1])
        cells.append(cell if how[0] == "whole" else min(max(cell, 0), most))
    return Ran(cells, cycles)


def walked(code: dict[int, str], bits: dict[int, int], place: int) -> tuple[int, int]:
    """Return the leaf at the end of a walk, and how many instructions that took."""
    steps = 1
    while not code[place].startswith("leaf"):
        *test, _, target = code[place].split()
        taken = bits[int(test[-1])] ^ ("not" in test) if test else 1
        place = int(target) if taken else place + 1
        steps += 1
    return place, steps


@cache
def arm(bits: int, code: CodeKind = "gray") -> Program:
    return stages(bits, code)[2]


def random_words(program: Program, count: int) -> NDArray[np.int64]:
    rng = np.random.default_rng(5)
    return np.stack([rng.integers(0, x.code.cells, count) for x in program.inputs], axis=1)


def wanted(program: Program, words: NDArray[np.int64], payload: float) -> NDArray[np.uint32]:
    names = [x.name for x in program.inputs]
    arrays = [
        np.stack(
            [words[:, names.index(m)] if m in names else np.zeros(len(words), int)
             for m in group.members], axis=1,
        )
        for group in program.groups
    ]  # fmt: skip
    return program.evaluate_words(*arrays, payload=payload, engine="numpy").words


@pytest.mark.slow
@pytest.mark.parametrize("code", ["gray", "natural", "twos", "sign-magnitude"])
def test_the_processor_delivers_the_words_of_the_numpy_engine(code: CodeKind) -> None:
    program = arm(4, code)
    image = image_of(program)
    words = random_words(program, 300)
    for row, made in zip(words, wanted(program, words, 0.0), strict=True):
        assert run_image(image, row.tolist()).words == tuple(made.tolist())


def test_the_text_alone_gives_the_words_and_the_cycles() -> None:
    program = arm(4)
    image = image_of(program)
    for row in random_words(program, 100).tolist():
        ran, found = interpreted(str(image), row), run_image(image, row)
        codes = [output.code for output in program.outputs]
        words = [int(code.word(cell)) for code, cell in zip(codes, ran.cells, strict=True)]
        assert words == list(found.words)
        assert ran.cycles == found.cycles


def test_every_load_has_walks_of_its_own_and_shares_what_is_equal() -> None:
    program = family()
    image = image_of(program)
    every = np.stack(np.meshgrid(range(4), range(2), range(4)), axis=-1).reshape(-1, 3)
    for load, one in enumerate(program.loads):
        made = wanted(program, every, one.payload)
        for row, word in zip(every.tolist(), made[:, 0].tolist(), strict=True):
            assert run_image(image, row, load).words == (word,)
            assert interpreted(str(image), row, load).cells[0] >> 1 == word
    alone = [image_of(program, payload) for payload in program.payloads]
    assert image.walks[1].entry == image.walks[2].entry  # the second and third are one function
    assert image.tests <= alone[0].tests + alone[1].tests


def test_cycles_are_means_over_all_words_and_none_exceeds_the_worst() -> None:
    program = tiny()
    image = image_of(program)
    every = itertools.product(range(4), range(2), range(4))
    cycles = [run_image(image, row).cycles for row in every]
    assert Fraction(image.mean_cycles()) == Fraction(sum(cycles), len(cycles))
    assert image.worst_cycles() == max(cycles)
    larger = image_of(arm(4))
    drawn = [run_image(larger, row).cycles for row in random_words(arm(4), 400).tolist()]
    assert max(drawn) <= larger.worst_cycles()
    assert np.mean(drawn) == pytest.approx(larger.mean_cycles(), abs=0.3)


def decoded(image: Any) -> list[str]:
    """Return the lines of a memory from its bits, by the description of what bits mean."""
    size = -(-image.width // 8)
    data = image.binary()
    lines = []
    for k in range(0, len(data), size):
        bits = format(int.from_bytes(data[k : k + size], "big"), f"0{image.width}b")
        if bits[0] == "1":
            lines.append(f"{k // size}: leaf {int(bits[1:], 2)}")
            continue
        target = int(bits[-image.address_bits :], 2)
        number = int(bits[-image.address_bits - image.bit_bits : -image.address_bits], 2)
        sense = "" if bits[-image.address_bits - image.bit_bits - 1] == "1" else "not "
        test = "" if number == image.always else f"if {sense}bit {number} "
        lines.append(f"{k // size}: {test}goto {target}")
    return lines


@pytest.mark.parametrize("program", [tiny(), arm(4)], ids=["tiny", "arm"])
def test_the_bits_of_the_memory_are_those_of_the_text(program: Program) -> None:
    image = image_of(program)
    lines = [line for line in str(image).splitlines() if line[0].isdigit()]
    assert decoded(image) == lines
    assert image.memory_bits >= image.width * len(lines)
