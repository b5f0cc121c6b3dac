"""Verilog and VHDL in simulators of our own: exports give the program's words, benches say so."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from exports import kept
from small_programs import stages
from targets import verilog, vhdl
from targets.exported import AWKWARD, family, of_graph, tiny
from targets.test_languages import SPECIAL, resting
from targets.verilog import Simulation
from wordgraphs import interpreted, random_graph

from boolcomp.codes import Code
from boolcomp.logic import run_image
from boolcomp.problem import CODE_KINDS, Interval
from boolcomp.program import Program
from boolcomp.targets import ExportOptions, export_texts, image_of
from boolcomp.words import Bits, Heap, InputWord, OutputWord, Scale, WordGraph

PASSED = r"PASS: (\d+) vectors hold, the wrong one differs"
PROGRAMS: dict[str, Callable[[], Program]] = {
    "loads": lambda: kept("export-loads"),
    "resting": resting,
    "awkward": lambda: tiny(AWKWARD),
    "family": family,
    "constant tables": lambda: of_graph("some", SPECIAL["constant tables"]),
}


def benched(target: str, files: dict[str, Any]) -> str:
    """Return what the bench of an export says."""
    texts = [str(text) for text in files.values()]
    if target == "vhdl":
        return vhdl.simulation(*texts).says()
    (_, bench) = files
    return verilog.simulation(bench.removesuffix(".v"), *texts).says()


class Called:
    """The function of an export in Python, as if it were a simulation."""

    def __init__(self, program: Program) -> None:
        (text,) = export_texts(program, "python").values()
        space: dict[str, Any] = {}
        exec(str(text), space)  # noqa: S102 (our own text)
        self.made, self.v = space[program.name], dict[str, int]()

    def give(self, x: int) -> None:
        self.v["y"], self.v["y_saturated"] = self.made(x)


class Processor:
    """The processor of a program: words are set, and it runs until it is done."""

    def __init__(self, text: str) -> None:
        self.found = alone("verilog", text)
        self.v = self.found.v
        assert not self.found.design.unread
        self.cycles = 0

    def give(self, **given: int) -> None:
        self.found.give(start=1, **given)
        self.found.clock()
        self.found.give(start=0, **{name: ~word & 1 for name, word in given.items()})
        self.cycles = 1
        while not self.v["done"]:
            assert self.v["busy"]
            self.found.clock()
            self.cycles += 1
        assert not self.v["busy"]


def alone(target: str, text: str) -> Simulation:
    if target == "vhdl":
        return vhdl.simulation(text)
    return verilog.simulation(re.findall(r"(?m)^module (\w+)", text)[0], text)


def coded(cell: int, code: Code) -> int:
    """Return the word of a cell, by what the page on codes says."""
    half = 1 << code.bits - 1
    if code.kind == "gray":
        return cell ^ cell >> 1
    if code.kind == "twos":
        return (cell - half) % (1 << code.bits)
    if code.kind == "natural":
        return cell
    if code.tread:
        size = max(cell, 1) - half
        return size if size >= 0 else half - size
    return cell - half if cell >= half else 2 * half - 1 - cell


CODES = [
    Code(Interval(-1.0, 1.0), bits, kind, tread=tread)
    for kind in CODE_KINDS for bits in (1, 2, 5) for tread in (False, True)
    if bits > 1 or not tread
]  # fmt: skip


def doubled(code: Code) -> Program:
    """Return a program whose output is twice its input, in a code."""
    bits = code.bits
    heap = Heap((Bits(0, 0, 1, negative=False),), 1 << bits, bits + 2)
    graph = WordGraph((InputWord("x", bits, angle=False), heap), (Scale(0, 0.0),) * 2,
                      (OutputWord(1, 0, bits),))  # fmt: skip
    program = of_graph("coded", graph)
    (load,) = program.loads
    load = replace(load, outputs=(replace(load.outputs[0], code=code),))
    return replace(program, inputs=(replace(program.inputs[0], code=code),), loads=(load,))


@pytest.mark.parametrize("target", ["verilog", "vhdl", "python", "gates", "bdd-verilog"])
@pytest.mark.parametrize("code", CODES, ids=str)
def test_words_in_every_code_are_read_saturated_and_written(target: str, code: Code) -> None:
    program = doubled(code)
    graph = program.loads[0].graph
    assert graph is not None
    made: Any = None
    if target == "python":
        made = Called(program)
    elif target == "bdd-verilog":
        (text,) = export_texts(program, target).values()
        made = Processor(str(text))
    else:
        level: Any = "gates" if target == "gates" else "words"
        (text,) = export_texts(
            program, target.replace("gates", "verilog"), None, ExportOptions(level)
        ).values()
        made = alone(target, str(text))
    for cell in range(code.first, code.cells):
        (wanted,), saturated = interpreted(graph, [cell])
        made.give(x=coded(cell, code))
        assert made.v["y"] == coded(wanted, code)
        assert made.v["y_saturated"] == saturated


@pytest.mark.parametrize("name", ["tiny", "own", "family"])
def test_the_processor_passes_its_bench_and_reads_all_its_bits(name: str) -> None:
    program = {"tiny": tiny(), "own": tiny(("memory", "start", "sum0")), "family": family()}[name]
    files = dict(export_texts(program, "bdd-verilog", None, ExportOptions(test_bench=True)))
    assert re.fullmatch(rf"{PASSED}, \d+ cycles", benched("verilog", files))
    assert not alone("verilog", str(next(iter(files.values())))).design.unread


@pytest.mark.parametrize("target", ["verilog", "vhdl"])
@pytest.mark.parametrize("seed", range(0, 40, 3))
def test_words_of_random_graphs_are_what_their_digits_say(seed: int, target: str) -> None:
    graph = random_graph(seed)
    program = of_graph("some", graph)
    rng = np.random.default_rng(seed)
    ports = [(x.name, x.code.bits) for x in program.inputs]
    made = [output.name for output in program.outputs]
    for pipeline in (0, 3):
        (text,) = export_texts(program, target, None, ExportOptions("words", pipeline)).values()
        found = alone(target, str(text))
        assert target == "vhdl" or not found.design.unread
        for row in rng.integers(0, [1 << bits for _, bits in ports], (25, len(ports))).tolist():
            given = {name: word for (name, _), word in zip(ports, row, strict=True)}
            found.give(**given)
            for _ in range(pipeline):
                found.clock()
            assert [found.v[name] for name in made] == interpreted(graph, row)[0]


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("target", ["verilog", "vhdl"])
def test_a_pipeline_moves_on_while_it_is_enabled_and_says_what_is_valid(
    target: str, depth: int
) -> None:
    texts = [
        str(
            next(iter(export_texts(family(), target, None, ExportOptions("gates", count)).values()))
        )
        for count in (0, depth)
    ]
    plain, found = (alone(target, text) for text in texts)
    rng = np.random.default_rng(3)
    rows: list[tuple[int, tuple[int, int]]] = []
    for step in range(60):
        words = dict(
            zip(("a", "b", "c", "load"), rng.integers(0, [4, 2, 4, 4]).tolist(), strict=True)
        )
        enable, valid = int(step % 5 != 2), int(step % 3 != 1)
        found.give(enable=enable, valid_in=valid, **words)
        found.clock()
        plain.give(**words)
        if enable:
            rows.append((valid, (plain.v["tau1"], plain.v["tau1_saturated"])))
        if len(rows) >= depth:
            made = found.v["tau1"], found.v["tau1_saturated"]
            assert (found.v["valid_out"], made) == rows[len(rows) - depth]


@pytest.mark.parametrize("target", ["verilog", "vhdl"])
@pytest.mark.parametrize("pipeline", [0, 2])
def test_a_bench_fails_where_a_gate_is_another(target: str, pipeline: int) -> None:
    files = dict(
        export_texts(tiny(), target, None, ExportOptions("gates", pipeline, test_bench=True))
    )
    name = next(iter(files))
    files[name] = re.sub(r"\^|xor", "|" if target == "verilog" else "or", str(files[name]), count=1)
    assert benched(target, files).startswith("FAIL")


@pytest.mark.parametrize("pipeline", [0, 4])
@pytest.mark.parametrize("target", ["verilog", "vhdl"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_bench_finds_every_vector_right_but_the_wrong_one(
    name: str, target: str, pipeline: int
) -> None:
    program = PROGRAMS[name]()
    level: Any = "gates" if program.loads[0].graph is None else "words"
    files = dict(
        export_texts(program, target, None, ExportOptions(level, pipeline, test_bench=True))
    )
    found = re.fullmatch(PASSED, benched(target, files))
    assert found
    loads = len(program.loads)
    assert int(found[1]) == -(-256 // loads) * loads - 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", CODE_KINDS)
def test_the_processor_adds_up_what_its_walks_find(kind: Any) -> None:
    program = stages(4, kind)[2]
    ((_, text),) = export_texts(program, "bdd-verilog").items()
    found, image = Processor(str(text)), image_of(program)
    most = (1 << image.word_bits) - 1
    for k, output in enumerate(image.outputs):
        _, wide = found.found.design.spans[f"sum{k}"]
        times = sum(n for walk in image.walks for at, n in walk.adds if at == k)
        assert (
            -(1 << wide - 1)
            <= output.offsets[0]
            <= output.offsets[0] + times * most
            < (1 << wide - 1)
        )
    rng = np.random.default_rng(6)
    cells = [word.code.cells for word in program.inputs]
    rows = rng.integers(0, cells, (12, len(cells))).tolist()
    rows += [[0] * len(cells), [one - 1 for one in cells]]
    for row in rows:
        found.give(**{x.name: word for x, word in zip(program.inputs, row, strict=True)})
        ran = run_image(image, row)
        assert tuple(found.v[output.name] for output in program.outputs) == ran.words
        assert found.cycles == ran.cycles


@pytest.mark.slow
def test_an_output_of_no_terms_is_what_its_sum_begins_with() -> None:
    program = stages(4)[2]
    (load,) = program.loads
    first, second = load.outputs
    outputs = (replace(first, terms=()), second)
    program = replace(program, loads=(replace(load, outputs=outputs),))
    ((_, text),) = export_texts(program, "bdd-verilog").items()
    found, image = Processor(str(text)), image_of(program)
    for row in ([0] * len(program.inputs), [3] * len(program.inputs)):
        found.give(**{x.name: word for x, word in zip(program.inputs, row, strict=True)})
        assert tuple(found.v[x.name] for x in program.outputs) == run_image(image, row).words


@pytest.mark.slow
@pytest.mark.parametrize("often", [1, 3, 10])
def test_a_sum_has_the_bits_that_all_its_terms_may_take_and_no_more(often: int) -> None:
    program = stages(4)[2]
    (load,) = program.loads
    outputs = tuple(replace(output, terms=output.terms * often) for output in load.outputs)
    program = replace(program, loads=(replace(load, outputs=outputs),))
    ((_, text),) = export_texts(program, "bdd-verilog").items()
    image = image_of(program)
    most = (1 << image.word_bits) - 1
    needed = []
    for k, output in enumerate(image.outputs):
        (first,) = output.offsets
        last = first + most * sum(n for walk in image.walks for at, n in walk.adds if at == k)
        fits = next(n for n in range(99) if -(2**n) <= min(first, 0) and max(last, 0) < 2**n)
        needed.append(max(image.word_bits + 1, output.bits + output.guard_bits + 2, fits + 1))
    (wide,) = {int(one) + 1 for one in re.findall(r"reg \[(\d+):0\] sum\d;", str(text))}
    assert wide == max(needed)
