"""Word graphs as procedures: products that are exact, constants, names; what languages print."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from exports import C_FLAGS, build, expected, kept, run_c, run_javascript, run_python, words_of
from targets.exported import of_graph

from boolcomp.common.errors import UsageError
from boolcomp.targets import Options, export_texts
from boolcomp.targets.expressions import Moved, Name, Number, Padded, low, moved
from boolcomp.targets.infix import JavaScript, Python
from boolcomp.targets.procedure import Table, procedure_of
from boolcomp.targets.products import product
from boolcomp.targets.tablesums import with_tables_added
from boolcomp.words.graph import (
    Bits,
    Heap,
    InputWord,
    Lookup,
    OutputWord,
    PartialProducts,
    Scale,
    WordGraph,
)
from boolcomp.words.simulate import simulate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from boolcomp.program.program import Program
    from boolcomp.targets.expressions import Expression


class Kept:
    """Tables by place."""

    def __init__(self) -> None:
        self.found: list[Table] = []

    def table(self, name: str, entries: tuple[int, ...]) -> int:
        self.found.append(Table(f"{name}_{len(self.found)}", entries))
        return len(self.found) - 1


def value(tables: Kept, expression: Expression, **words: int) -> int:
    """Return an expression's value by its Python text."""
    space: dict[str, object] = {one.name: one.entries for one in tables.found}
    space["agreement"] = lambda a, b, x, y: a * b + (x - a) * (y - b)
    found = eval(Python(tables.found).show(expression), space | words)  # noqa: S307 (our own text)
    assert isinstance(found, int)
    return found


def partial_products(a: int, a_bits: int, b: int, b_bits: int, discards: int) -> int:
    """Return the sum of partial products, one after the other."""
    total = 0
    for i in range(a_bits):
        for j in range(b_bits):
            if i + j >= discards and (a // 2**i) % 2 == (b // 2**j) % 2:
                total += 2 ** (i + j - discards)
    return total


SIZES = [(1, 1), (1, 7), (2, 3), (4, 4), (3, 9), (6, 6), (8, 8), (7, 11), (10, 10), (3, 17)]


@pytest.mark.parametrize(("a_bits", "b_bits"), SIZES)
def test_products_are_exact_whatever_they_discard(a_bits: int, b_bits: int) -> None:
    rng = np.random.default_rng(a_bits * 100 + b_bits)
    for discards in range(a_bits + b_bits + 1):
        tables = Kept()
        a, b = Name("a", a_bits), Name("b", b_bits)
        found, most = product(tables, a, a_bits, b, b_bits, discards)
        ends = ((1 << a_bits) - 1, (1 << b_bits) - 1)
        assert most == partial_products(ends[0], a_bits, ends[1], b_bits, discards)
        drawn = rng.integers(0, (ends[0] + 1, ends[1] + 1), (12, 2)).tolist()
        for x, y in [(0, 0), ends, (0, ends[1]), *drawn]:
            wanted = partial_products(x, a_bits, y, b_bits, discards)
            assert value(tables, found, a=x, b=y) == wanted <= found.most


@pytest.mark.parametrize("discards", range(12))
def test_products_with_constants_are_tables(discards: int) -> None:
    for constant in (0, 5, 22, 31):
        for a, b in ((Number(constant), Name("x", 6)), (Name("x", 6), Number(constant))):
            bits = (5, 6) if isinstance(a, Number) else (6, 5)
            tables = Kept()
            found, _ = product(tables, a, bits[0], b, bits[1], discards)
            for x in range(64):
                given = (constant, 5, x, 6, discards)
                assert value(tables, found, x=x) == partial_products(*given)


def test_moving_is_simplified_only_where_nothing_is_lost() -> None:
    x = Name("x", 8)
    assert moved(moved(x, -3), 2) == Moved(Moved(x, -3), 2)
    assert moved(moved(x, -3), 5) == Moved(Moved(x, -3), 5)
    assert moved(moved(x, 5), -3) == Moved(x, 2)
    assert moved(moved(x, 3), -3) == x
    assert moved(moved(x, -3), -3) == Moved(x, -6)
    assert moved(Padded(x, 4, 9), -2) == Padded(x, 2, 2)
    assert moved(Padded(x, 4, 9), -4) == x
    assert low(Padded(x, 4, 9), 3) == Number(1)


def tiny(names: tuple[str, ...] = ("x", "y"), name: str = "tiny") -> Program:
    """Return the program of a table and a difference."""
    nodes = (
        InputWord(names[0], 3, angle=False), InputWord(names[1], 3, angle=False),
        Lookup(0, 2, (0, 1, 3, 2), 2),
        Heap((Bits(2, 0, 0, negative=False), Bits(1, 1, 0, negative=True)), 1, 3),
    )  # fmt: skip
    graph = WordGraph(nodes, (Scale(0, 0.0),) * 4, (OutputWord(3, 1, 2),))
    return of_graph(name, graph, (*names, f"f({names[0]})", f"f({names[0]})-{names[1]}"), "z")


def wide() -> Program:
    """Return the program of sums of 40 bits, one of which is multiplied and wraps."""
    nodes = (
        InputWord("x", 9, angle=False), InputWord("y", 12, angle=False),
        Heap((Bits(0, 0, 31, negative=False), Bits(1, 0, 0, negative=True)), 77, 40),
        Heap((PartialProducts(2, 0, 1, 0, -13, negative=True),), (1 << 38) + 5, 39, wraps=True),
    )  # fmt: skip
    graph = WordGraph(nodes, (Scale(0, 0.0),) * 4, (OutputWord(3, 30, 7), OutputWord(2, 28, 12)))
    return of_graph("wide", graph, ("x", "y", "sum", "product"), "z")


def test_words_of_more_than_32_bits_are_right_where_they_are_not_refused(tmp_path: Path) -> None:
    program = wide()
    words = words_of(program, 3000)
    wanted = expected(program, words)
    (text,) = export_texts(program, "python").values()
    assert np.array_equal(run_python(str(text), words), wanted)
    if shutil.which("gcc"):
        assert np.array_equal(run_c(export_texts(program, "c"), words, tmp_path), wanted)
    with pytest.raises(UsageError, match="bits: JavaScript has"):
        export_texts(program, "javascript")


GOLDEN = """\
unsigned tiny(const tiny_inputs *given, tiny_outputs *made)
{
    unsigned saturated = 0;
    const uint8_t x_word = (uint8_t)((unsigned)given->x & 7U);
    const uint8_t y_word = (uint8_t)((unsigned)given->y & 7U);
    const uint8_t f_x = (uint8_t)((unsigned)READ8(&f_x_table[(uint8_t)((unsigned)x_word >> 1)]));@
    const uint8_t f_x_y = (uint8_t)(4U
        + (unsigned)f_x
        - ((unsigned)y_word >> 1)); /* f(x)-y */
    const uint8_t z_cell = (uint8_t)((unsigned)f_x_y >> 1);
    made->z = (uint8_t)((unsigned)z_cell);
    return saturated;
}
"""


def test_a_tiny_graph_is_written_like_this_in_c() -> None:
    files = export_texts(tiny(), "c")
    assert sorted(files) == ["tiny.c", "tiny.h"]
    text = str(files["tiny.c"])
    assert text[text.index("unsigned tiny(") :] == GOLDEN.replace("@", " /* f(x) */")
    assert "static const uint8_t f_x_table[4] TABLE = {\n    0, 1, 3, 2,\n};" in text


def test_a_tiny_graph_is_written_like_this_in_python() -> None:
    text = str(export_texts(tiny(), "python")["tiny.py"])
    assert text[text.index("def tiny") :].splitlines()[2:] == [
        "    saturated = 0",
        "    x_word = x & 7",
        "    y_word = y & 7",
        "    f_x = f_x_table[x_word >> 1]  # f(x)",
        "    f_x_y = 4 + f_x - (y_word >> 1)  # f(x)-y",
        "    z_cell = f_x_y >> 1",
        "    z = z_cell",
        "    return z, saturated",
    ]


@pytest.mark.parametrize("target", ["c", "c-sliced", "python", "javascript"])
@pytest.mark.parametrize(
    "names", [("int", "class"), ("new", "this"), ("1", "λ·π"), ("given", "GIVEN"), ("z", "Z")]
)
def test_names_are_legal_and_differ_in_every_language(target: str, names: tuple[str, str]) -> None:
    for program in (tiny(names, "switch"), tiny(names, '9 arms */ """')):
        files = export_texts(program, target)
        assert all(name[:1].isalpha() and name.isascii() for name in files)
        for text in files.values():
            assert str(text).isascii()
        if target == "python":
            words = words_of(program, 50)
            (text,) = files.values()
            assert np.array_equal(run_python(str(text), words), expected(program, words))
        if target in ("c", "c-sliced") and shutil.which("gcc"):
            _parses(files)


NAMES = [("i", "left"), ("saturated", "given"), ("sum", "n0"), ("Q", "q"), ("made", "x_table")]


@pytest.mark.parametrize("names", NAMES)
def test_words_keep_their_names_in_code(tmp_path: Path, names: tuple[str, str]) -> None:
    program = tiny(names, "z")  # its output is called z, too
    words = words_of(program, 50)
    wanted = expected(program, words)
    for level in ("words", "gates"):
        (text,) = map(str, export_texts(program, "python", options=Options(level)).values())
        assert f"def z({names[0]}, {names[1]}):" in text
        assert np.array_equal(run_python(text, words), wanted)
        (text,) = map(str, export_texts(program, "javascript", options=Options(level)).values())
        assert f"function z({names[0]}, {names[1]})" in text
        if shutil.which("node"):
            assert np.array_equal(run_javascript(text, words, tmp_path), wanted)
    files = export_texts(program, "c")
    fields = re.findall(r"^    uint16_t (\w+);", str(files["z.h"]), re.MULTILINE)
    assert fields == [*names, "z"]
    if shutil.which("gcc"):
        assert np.array_equal(run_c(files, words, tmp_path), wanted)


@pytest.mark.parametrize("target", ["verilog", "vhdl"])
@pytest.mark.parametrize("level", ["words", "gates"])
def test_words_keep_their_names_in_hardware(target: str, level: Any) -> None:
    (text,) = map(
        str, export_texts(tiny(("i", "left"), "z"), target, options=Options(level)).values()
    )
    ports = re.findall(r"(?:input|output) wire (?:\[.*\] )?(\w+)|(\w+) *: (?:in|out) ", text)
    assert ["".join(port) for port in ports] == ["i", "left", "z"]


FORCED = {
    "c": "int", "c-header": "virtual", "python": "lambda", "javascript": "new", "verilog": "always",
    "vhdl": "signal", "bdd-verilog": "always", "blif": "always",
}  # fmt: skip


@pytest.mark.parametrize("target", FORCED)
def test_a_name_that_a_language_forbids_is_listed_at_the_head(target: str) -> None:
    word = FORCED[target]
    files = export_texts(tiny(("x", word)), target)
    (text,) = [str(text) for name, text in files.items() if name != "tiny.c"]
    line = f"called {word}_2 here: {word}, which the language does not allow"
    assert text.count(line) == 1
    assert len(text.partition(line)[0].splitlines()) < 10
    assert not any("here:" in str(text) for text in export_texts(tiny(), target).values())


def _parses(files: Mapping[str, object]) -> None:
    with TemporaryDirectory() as folder:
        for name, text in files.items():
            (Path(folder) / name).write_text(str(text))
        (source,) = Path(folder).glob("*.c")
        build(["gcc", *C_FLAGS, "-fsyntax-only", str(source)])
        header = next(name for name in files if name.endswith(".h") and "nodes" not in name)
        if shutil.which("g++"):
            (Path(folder) / "x.cpp").write_text(f'extern "C" {{\n#include "{header}"\n}}\n')
            build(["g++", "-Wall", "-Wextra", "-fsyntax-only", str(Path(folder) / "x.cpp")])


def test_what_nothing_reads_is_not_written() -> None:
    program = kept("export-loads")
    procedure = procedure_of(program, program.loads[0])
    text = " ".join(step.name for step in procedure.steps)
    assert [given.name for given in procedure.inputs if not given.read] == [
        given.name for given in procedure.inputs if f"{given.name}_word" not in text
    ]


def test_javascript_refuses_words_that_its_numbers_cannot_hold() -> None:
    printer = JavaScript([])
    assert printer.bare(Moved(Name("x", 40), -5)) == "Math.floor(x / 32)"
    with pytest.raises(UsageError, match="60 bits: JavaScript has 53 at most"):
        printer.bare(Moved(Name("x", 60), -5))


def test_a_program_without_its_graph_has_no_words() -> None:
    program = tiny()
    (load,) = program.loads
    bare = replace(program, loads=(replace(load, graph=None, meanings=()),))
    with pytest.raises(UsageError, match="tiny has no word graph"):
        procedure_of(bare, bare.loads[0])


def pair() -> WordGraph:
    """Return a sum of a coarse table, inverted, and a fine one, and of a word."""
    coarse, fine = tuple(range(3, 7)), tuple(k * 5 % 8 for k in range(16))
    parts = (
        Bits(2, 1, 2, negative=True), Bits(3, 0, 1, negative=False), Bits(1, 0, 0, negative=False)
    )  # fmt: skip
    nodes = (
        InputWord("x", 5, angle=False), InputWord("y", 3, angle=False),
        Lookup(0, 2, coarse, 3), Lookup(0, 4, fine, 3), Heap(parts, 1, 6),
    )  # fmt: skip
    return WordGraph(nodes, (Scale(0, 0.0),) * 5, (OutputWord(4, 0, 6),))


def test_tables_of_one_word_that_are_only_added_become_one() -> None:
    graph, said = with_tables_added(pair(), ("x", "y", "f(x)", "f(x), fine", "f(x)+y"))
    tables = [node for node in graph.nodes if isinstance(node, Lookup)]
    assert said == ["x", "y", "f(x)", "f(x), fine", "f(x)", "f(x)+y"]
    assert tables[-1].read == 4
    x, y = (column.ravel() for column in np.indices((32, 8)))
    words = {"x": x, "y": y}
    assert np.array_equal(simulate(graph, words).words, simulate(pair(), words).words)
    heap = graph.nodes[-1]
    assert isinstance(heap, Heap)
    assert [part.node for part in heap.parts if isinstance(part, Bits)] == [1, 4]


def test_tables_that_are_multiplied_as_well_stay_as_they_are() -> None:
    product = PartialProducts(3, 0, 1, 0, 0, negative=False)
    nodes = pair().nodes
    heap = nodes[4]
    assert isinstance(heap, Heap)
    graph = replace(pair(), nodes=(*nodes[:4], replace(heap, parts=(*heap.parts, product))))
    assert with_tables_added(graph, ("",) * 5)[0] == graph
