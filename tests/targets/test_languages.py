"""Programs as C, C++, Python and JavaScript give the words that their logic and graph give."""

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exports import (
    C_FLAGS,
    C_MAIN,
    build,
    expected,
    kept,
    run_avr,
    run_c,
    run_hdl,
    run_javascript,
    run_python,
    run_sliced,
    words_of,
)
from matrix import code_checks
from small_programs import stages
from targets.exported import of_graph, tiny
from wordgraphs import interpreted, random_graph

import boolcomp
from boolcomp.base import UsageError
from boolcomp.codes import Code
from boolcomp.logic import Builder
from boolcomp.problem import CODE_KINDS, Interval
from boolcomp.program import Program
from boolcomp.targets import ExportOptions, export_texts, procedure_of
from boolcomp.words import (
    MACHINES,
    Angles,
    Bits,
    Heap,
    InputWord,
    Lookup,
    Node,
    OutputWord,
    PartialProducts,
    Scale,
    Turn,
    WordGraph,
    interpret,
)

KEPT = ["export-formats", "export-pid"]
GATES = ExportOptions("gates")
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "microcontroller.md"
MCU = "bits=8 target=mcu8"
SANITIZED = ("-O1", "-fsanitize=undefined", "-fno-sanitize-recover")


def needs(*tools: str) -> pytest.MarkDecorator:
    missing = [tool for tool in tools if shutil.which(tool) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


def only(program: Program, target: str, options: ExportOptions | None = None) -> str:
    (text,) = export_texts(program, target, options=options or ExportOptions()).values()
    return str(text)


def graph_of(*nodes: Node, results: tuple[OutputWord, ...]) -> WordGraph:
    return WordGraph(nodes, (Scale(0, 0.0),) * len(nodes), results)


def word(name: str, bits: int) -> InputWord:
    return InputWord(name, bits, angle=False)


def bits(node: int, drop: int, column: int, *, negative: bool = False) -> Bits:
    return Bits(node, drop, column, negative)


def product(a: int, b: int, column: int = 0, *, negative: bool = False) -> PartialProducts:
    return PartialProducts(a, 0, b, 0, column, negative)


def small(names: tuple[str, ...] = ("x", "y"), name: str = "small") -> Program:
    """Return the program of a table and a difference."""
    graph = graph_of(
        word(names[0], 3), word(names[1], 3), Lookup(0, 2, (0, 1, 3, 2), 2),
        Heap((bits(2, 0, 0), bits(1, 1, 0, negative=True)), 1, 3), results=(OutputWord(3, 1, 2),),
    )  # fmt: skip
    return of_graph(name, graph, (*names, f"f({names[0]})", f"f({names[0]})-{names[1]}"), "z")


SPECIAL = {
    "constant tables": graph_of(
        word("a", 4), Lookup(0, 1, (6, 6), 3), Lookup(0, 1, (5, 5), 3),
        Heap((bits(0, 1, 3), bits(1, 0, 0)), 4, 6),
        Heap((bits(3, 0, 2), product(1, 0, 1), product(0, 1, -2), product(1, 2, -1)), 1, 8),
        results=(OutputWord(4, 0, 8),),
    ),
    "sums of 40 bits": graph_of(
        word("x", 9), word("y", 12), Heap((bits(0, 0, 31), bits(1, 0, 0, negative=True)), 77, 40),
        Heap((product(2, 1, -13, negative=True),), (1 << 38) + 5, 39, wraps=True),
        results=(OutputWord(3, 30, 7), OutputWord(2, 28, 12)),
    ),
    "a sum far below its middle": graph_of(
        word("x", 9), word("y", 12), Heap((bits(0, 0, 25), bits(1, 0, 0, negative=True)), 77, 37),
        results=(OutputWord(2, 4, 16), OutputWord(2, 28, 9)),
    ),
    "every way of a product": graph_of(
        word("a", 11), word("b", 11), word("c", 2), word("d", 8),
        *(Heap((part,), 9, 12, wraps=True)
          for part in (product(0, 1), product(0, 1, -3), product(1, 0, -9), product(2, 3, -1),
                       product(2, 3, -4, negative=True), product(3, 3, -6))),
        results=tuple(OutputWord(k, 0, 12) for k in range(4, 10)),
    ),
    "tables that are only added": graph_of(
        word("x", 5), word("y", 3), Lookup(0, 2, (3, 4, 5, 6), 3),
        Lookup(0, 4, tuple(k * 5 % 8 for k in range(16)), 3),
        Heap((bits(2, 1, 2, negative=True), bits(3, 0, 1), bits(1, 0, 0)), 1, 6),
        results=(OutputWord(4, 0, 6),),
    ),
    "digits that are added several times": graph_of(
        word("a", 9), word("b", 3), word("c", 5),
        Heap((bits(0, 0, 0), bits(0, 0, 1), bits(0, 0, 3, negative=True)), 5000, 16),
        Heap((product(1, 2), bits(1, 0, 2), bits(1, 0, 0)), 3, 9),
        Heap((product(4, 2), bits(3, 0, 1), bits(3, 0, 2), bits(4, 0, 3, negative=True)), 3, 19),
        results=(OutputWord(3, 0, 16), OutputWord(5, 2, 16)),
    ),
    "angles of a turn": graph_of(
        InputWord("p", 10, angle=True), InputWord("q", 12, angle=True),
        Angles((Turn(0, 10, 2, negative=False), Turn(1, 12, 0, negative=True)), 1234, 12),
        Angles((Turn(2, 12, 0, negative=False), Turn(1, 9, 3, negative=True),
                Turn(0, 6, 2, negative=True)), 77, 12),
        Angles((Turn(3, 8, 0, negative=True), Turn(2, 12, 0, negative=False)), 900, 12),
        *(Lookup(k, 8, tuple(row * (2 * k + 77) % 61 for row in range(256)), 6)
          for k in (0, 1, 2, 3, 4, 2)),
        Lookup(4, 5, tuple(row * 5 % 41 for row in range(32)), 6),
        Heap((product(5, 6), bits(7, 0, 2), bits(11, 0, 3), bits(0, 1, 0)), 3, 14),
        Heap((product(8, 9), bits(10, 1, 0, negative=True)), 70, 14, wraps=True),
        results=(OutputWord(12, 0, 14), OutputWord(13, 2, 12)),
    ),
}  # fmt: skip


CODES = [
    Code(Interval(-1.0, 1.0), bits, kind, tread=tread)
    for kind in CODE_KINDS for bits in (1, 2, 5) for tread in (False, True)
    if bits > 1 or not tread
]  # fmt: skip


def doubled() -> Program:
    """Return a program of which every output is twice an input, each in another code."""
    count = len(CODES)
    words = [word(f"x{k}", code.bits) for k, code in enumerate(CODES)]
    heaps = [Heap((bits(k, 0, 1),), 1 << n, n + 2) for k, n in enumerate(x.bits for x in CODES)]
    results = tuple(OutputWord(count + k, 0, code.bits) for k, code in enumerate(CODES))
    program = of_graph("coded", graph_of(*words, *heaps, results=results))
    (load,) = program.loads
    outputs = [replace(x, code=code) for x, code in zip(load.outputs, CODES, strict=True)]
    inputs = [replace(x, code=code) for x, code in zip(program.inputs, CODES, strict=True)]
    load = replace(load, outputs=tuple(outputs))
    return replace(program, inputs=tuple(inputs), loads=(load,))


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


def ran(program: Program, target: str, words: Any, folder: Path, level: str = "words") -> Any:
    """Return what the export in a language gives."""
    files = dict(export_texts(program, target, options=ExportOptions(level)))  # type: ignore[arg-type]  # a level
    if target == "c":
        return run_c(files, words, folder, "gcc", *SANITIZED)
    (text,) = map(str, files.values())
    if target == "python":
        return run_python(text, words)
    return (run_javascript if target == "javascript" else run_hdl)(text, words, folder)


RUNS = [("python", ""), *(
    pytest.param(target, demand, marks=[pytest.mark.slow, needs(tool)])
    for target, tool, demand in [("c", "gcc", ""), ("c", "gcc", MCU), ("javascript", "node", ""),
                                 ("verilog", "iverilog", ""), ("vhdl", "ghdl", "")]
)]  # fmt: skip


@pytest.mark.parametrize("machine", ["mcu8", "mcu32"])
@pytest.mark.parametrize("name", KEPT)
def test_operations_that_languages_print_give_the_words_of_the_logic(
    name: str, machine: str
) -> None:
    program = kept(name)
    words = words_of(program, 200)
    made = procedure_of(program, program.load(None), MACHINES[machine])
    values, marks = interpret(made.code, list(words.T))
    flags = sum(mark.astype(np.int64) << k for k, mark in enumerate(marks))
    assert np.array_equal(np.column_stack([*values, flags]), expected(program, words))


def test_words_that_javascript_cannot_hold_are_refused() -> None:
    with pytest.raises(
        UsageError, match="a word has 41 bits, and JavaScript at most 32; export the"
    ):
        export_texts(of_graph("wide", SPECIAL["sums of 40 bits"]), "javascript")
    heap = Heap((bits(0, 0, 0), bits(0, 0, 44)), 1 << 55, 57)
    far = graph_of(word("x", 12), heap, results=(OutputWord(1, 40, 16),))
    with pytest.raises(UsageError, match="57 bits, and JavaScript at most 53"):
        export_texts(of_graph("far", far), "javascript")


def test_c_whose_tables_are_beyond_near_addresses_does_not_compile_for_avr(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = boolcomp.compile("machado-2r", bits=4)
    assert "#error" not in str(export_texts(program, "c"))
    monkeypatch.setattr("boolcomp.targets.c.NEAR_FLASH", 100)
    found = re.search(
        r'#if defined\(__AVR__\)\n#error "the tables have ([1-9]\d\d) bytes: addresses of 16 bits',
        str(export_texts(program, "c")["machado_2r.c"]),
    )
    assert found is not None
    monkeypatch.setattr("boolcomp.targets.c.NEAR_FLASH", int(found[1]))
    assert "#error" not in str(export_texts(program, "c"))


@pytest.mark.slow
@pytest.mark.parametrize("name", [*KEPT, "gray", "natural", "twos", "sign-magnitude"])
def test_programs_in_every_language_give_the_words_of_the_logic(name: str) -> None:
    program = kept(name) if name in KEPT else stages(4, name)[2]
    wrong = [x for x in code_checks(program, 1000) if not x.holds and not x.skipped]
    assert not wrong, wrong


def resting() -> Program:
    """Return a program whose first output is zero where two inputs are."""
    program = kept("export-formats")
    (load,) = program.loads
    first = replace(load.outputs[0], rest=("qdd1", "qdd2"))
    return replace(program, loads=(replace(load, outputs=(first, *load.outputs[1:])),))


def test_an_output_at_rest_is_zero_in_every_language() -> None:
    program = resting()
    words = words_of(program, 1000)
    for column, given in ((-2, program.inputs[-2]), (-1, program.inputs[-1])):
        half = given.code.cells // 2  # zero, or beside it
        zeros = given.code.word(np.array([half - (not given.code.tread), half]))
        words[::2, column] = zeros[np.arange(len(words[::2])) % 2]
    wanted = expected(program, words)
    assert not np.array_equal(wanted, expected(kept("export-formats"), words))
    assert np.array_equal(run_python(only(program, "python"), words), wanted)
    assert all(check.holds or check.skipped for check in code_checks(program, 1000))


@needs("gcc")
@pytest.mark.slow
@pytest.mark.parametrize("flags", [["-O1"], ["-O1", "-mavx2"], ["-O1", "-mavx512f"]])
def test_bit_sliced_c_gives_the_words_of_the_logic(flags: list[str], tmp_path: Path) -> None:
    cpu = Path("/proc/cpuinfo")
    features = cpu.read_text().split() if cpu.exists() else []
    if len(flags) > 1 and flags[-1].removeprefix("-m") not in features:
        pytest.skip(f"this machine has no {flags[-1]}")
    for program in (
        kept("export-formats"),
        replace(tiny(), networks=(Builder(4).build([2, 0, 0]),)),
    ):
        words = words_of(program, 5001)
        found = run_sliced(export_texts(program, "c-sliced"), words, tmp_path, *flags)
        assert np.array_equal(found, expected(program, words))


@needs("avr-gcc", "simavr")
@pytest.mark.slow
def test_c_is_right_where_an_int_has_16_bits(tmp_path: Path) -> None:
    graph = random_graph(1)
    for program in (kept(KEPT[0]), kept(KEPT[1]), replace(of_graph("some", graph), demand=MCU)):
        words = words_of(program, 60)[:200]
        wrong, _ = run_avr(export_texts(program, "c"), words, expected(program, words), tmp_path)
        assert wrong == 0


@needs("avr-gcc", "simavr")
@pytest.mark.slow
def test_the_paper_arm_takes_less_than_390_cycles_of_an_8_bit_machine(tmp_path: Path) -> None:
    program = boolcomp.compile("machado-2r", bits=8)
    words = words_of(program, 100)[:300]
    wrong, cycles = run_avr(export_texts(program, "c"), words, expected(program, words), tmp_path)
    assert (wrong, cycles < 390) == (0, True)


def test_bits_beyond_those_of_a_word_are_cut_off() -> None:
    program = kept("export-formats")
    words = words_of(program, 300)
    sizes = np.array([word.code.bits for word in program.inputs])
    text = only(program, "python")
    far = run_python(text, words + (np.arange(len(words))[:, None] << sizes))
    assert np.array_equal(far, run_python(text, words))


def test_a_program_named_as_a_keyword_of_its_language_gets_another_name() -> None:
    for name, target in (("lambda", "python"), ("typeof", "javascript")):
        assert f" {name}_2(" in only(replace(tiny(), name=name), target, GATES)


def test_every_load_is_a_file_of_its_own_words() -> None:
    family = kept("export-loads")
    words = words_of(family, 500)
    texts = export_texts(family, "python")
    for load in family.payloads:
        text = texts[f"machado_2r_{load:g}_kg.py"]
        assert np.array_equal(run_python(str(text), words), expected(family, words, load))
    for target in ("c", "c-sliced", "javascript"):
        names = set(export_texts(family, target))
        assert {name.split("_kg")[0] for name in names} == {"machado_2r_0", "machado_2r_2"}
        assert len(export_texts(family, target, 2.0)) == len(names) // 2


@needs("gcc")
def test_a_path_of_c_is_that_of_the_code_and_its_header_has_its_name(tmp_path: Path) -> None:
    written = boolcomp.export(small(), "c", tmp_path / "mine.c")
    assert {one.name for one in written} == {"mine.c", "mine.h"}
    subprocess.run(["gcc", "-c", "mine.c"], cwd=tmp_path, check=True)  # noqa: S607


def test_levels_that_are_not_there_are_refused() -> None:
    for target, options in (("c", ExportOptions()), ("python", ExportOptions("words"))):
        with pytest.raises(UsageError, match="has no word graph"):
            export_texts(stages(4)[2], target, options=options)
    with pytest.raises(UsageError, match="C99 is written as words"):
        export_texts(kept("export-pid"), "c", options=GATES)


def parses(files: dict[str, Any], folder: Path) -> None:
    """Let compilers of C and C++ read what was written, with all warnings as errors."""
    for name, text in files.items():
        (folder / name).write_text(str(text))
    (source,) = (name for name in files if name.endswith(".c"))
    build(["gcc", *C_FLAGS, "-fsyntax-only", str(folder / source)])
    header = next(name for name in files if name.endswith(".h") and "nodes" not in name)
    if shutil.which("g++"):
        (folder / "x.cpp").write_text(f'extern "C" {{\n#include "{header}"\n}}\n')
        build(["g++", "-Wall", "-Wextra", "-fsyntax-only", str(folder / "x.cpp")])


@pytest.mark.parametrize("names", [("int", "class"), ("1", "λ·π"), ("given", "GIVEN"), ("z", "Z")])
def test_names_are_legal_and_differ_in_every_language(
    names: tuple[str, str], tmp_path: Path
) -> None:
    for program in (small(names, "switch"), small(names, '9 arms */ """')):
        words = words_of(program, 50)
        for target in ("c", "c-sliced", "python", "javascript"):
            files = export_texts(program, target)
            assert all(name[:1].isalpha() and name.isascii() for name in files)
            assert all(str(text).isascii() for text in files.values())
            if target in ("c", "c-sliced") and shutil.which("gcc"):
                parses(dict(files), tmp_path)
        found = run_python(only(program, "python"), words)
        assert np.array_equal(found, expected(program, words))


FORCED = {
    "c": "int", "c-header": "virtual", "python": "lambda", "javascript": "new", "verilog": "always",
    "vhdl": "signal", "bdd-verilog": "always", "blif": "always",
}  # fmt: skip


@pytest.mark.parametrize("target", FORCED)
def test_a_name_that_a_language_forbids_is_listed_at_the_head(target: str) -> None:
    files = export_texts(small(("x", FORCED[target])), target)
    (text,) = [str(text) for name, text in files.items() if name != "small.c"]
    line = f"called {FORCED[target]}_2 here: {FORCED[target]}, which the language does not allow"
    assert text.count(line) == 1
    assert len(text.partition(line)[0].splitlines()) < 10
    assert not any("here:" in str(text) for text in export_texts(small(), target).values())


STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-O1"]
LANGUAGES = {"c": ["gcc", "-std=c99"], "c++": ["g++", "-x", "c++", "-std=c++11"]}


@needs("gcc", "g++")
@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_headers_of_several_programs_stand_side_by_side_and_are_all_that_is_needed(
    language: str, tmp_path: Path
) -> None:
    program = kept("export-formats")
    words = words_of(program, 500)
    loads = export_texts(kept("export-loads"), "c-header")
    headers = {**loads, **export_texts(program, "c-header")}
    for file, text in headers.items():
        (tmp_path / file).write_text(str(text))
    fields = re.findall(r"^    uint\d+_t (\w+);", str(headers["machado_2r.h"]), re.MULTILINE)
    count = words.shape[1]
    given = "\n".join(f"given.{f} = (uint16_t)row[{k}];" for k, f in enumerate(fields[:count]))
    made = "\n".join(f"result[{k}] = made.{f};" for k, f in enumerate(fields[count:]))
    main = C_MAIN.replace("GIVEN", given).replace("MADE", made).replace("NAME", "machado_2r")
    main = main.replace("INPUTS", str(count)).replace("OUTPUTS", str(len(fields) - count))
    lines = "\n".join(f'#include "{file}"' for file in [*headers, *headers])
    (tmp_path / "main.c").write_text(f"{lines}\n{main}")
    build([*LANGUAGES[language], *STRICT, "-o", str(tmp_path / "run"), str(tmp_path / "main.c")])
    raw = words.astype("<u4").tobytes()
    found = subprocess.run([str(tmp_path / "run")], input=raw, capture_output=True, check=True)
    got = np.frombuffer(found.stdout, "<u4").reshape(len(words), -1)
    assert np.array_equal(got, expected(program, words))


def test_names_of_tables_and_macros_of_headers_begin_with_the_programs_own() -> None:
    for file, text in export_texts(kept("export-loads"), "c-header").items():
        name = file.removesuffix(".h")
        tables = re.findall(r"^static const \w+ (\w+)\[", str(text), re.MULTILINE)
        macros = re.findall(r"^#define (\w+)", str(text), re.MULTILINE)
        assert tables
        assert all(table.startswith(f"{name}_") for table in tables)
        assert all(macro.startswith(f"{name.upper()}_") for macro in macros)


BOARD = """\
struct Port {
    void begin(long) {}
    void println(long) {}
};
static Port Serial;
int analogRead(int pin);
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "compiler"),
    [
        ("c", ["gcc"]), ("c", ["avr-gcc", "-mmcu=atmega328p"]),
        ("c-header", ["g++"]), ("c-header", ["avr-g++", "-mmcu=atmega328p"]),
    ],
    ids=str,
)  # fmt: skip
def test_the_programs_of_the_page_on_microcontrollers_build(
    kind: str, compiler: list[str], tmp_path: Path
) -> None:
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"not installed: {compiler[0]}")
    block = r"```c main.c" if kind == "c" else r"```cpp sketch.ino"
    (text,) = re.findall(rf"^{block}\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    for name, content in export_texts(boolcomp.compile("machado-2r", bits=8), kind).items():
        (tmp_path / name).write_text(str(content))
    out = ["-o", str(tmp_path / "run")]
    if kind == "c":
        (tmp_path / "main.c").write_text(text)
        sources = [str(tmp_path / "main.c"), str(tmp_path / "machado_2r.c")]
        build([*compiler, *C_FLAGS, "-O2", *out, *sources])
    else:  # what the Arduino core says of a board
        (tmp_path / "sketch.cpp").write_text(BOARD + text)
        build([*compiler, "-std=gnu++11", *STRICT, *out, "-c", str(tmp_path / "sketch.cpp")])


HELPED = """\
#include <stdio.h>
#include "NAME.h"
int main(void)
{
    long count;
    for (count = -12000; count < 12000; count += 7)
        printf("GIVEN\\n"ARGUMENTS);
    for (count = 0; count < 16; count++)
        printf("%ld %ld\\n", (long)NAME_tau1_in_drive_units((uint32_t)count, 4000),
               (long)NAME_tau2_in_drive_units((uint32_t)count, -30000));
    return 0;
}
"""


@needs("gcc")
def test_helpers_make_the_words_of_counts_and_drive_units_of_words(tmp_path: Path) -> None:
    program = kept("export-formats")
    files = export_texts(program, "c")
    for name, content in files.items():
        (tmp_path / name).write_text(str(content))
    first, counts = -5001, 10007
    names = [word.name for word in program.inputs]
    text = HELPED.replace("GIVEN", " ".join("%u" for _ in names))
    calls = [f", (unsigned)NAME_{n}_of_count((int32_t)count, {first}, {counts})" for n in names]
    text = text.replace("ARGUMENTS", "".join(calls)).replace("NAME", "machado_2r")
    (tmp_path / "main.c").write_text(text)
    sources = [str(tmp_path / "main.c"), str(tmp_path / "machado_2r.c")]
    build(["gcc", *C_FLAGS, "-fsanitize=undefined", "-o", str(tmp_path / "run"), *sources])
    said = subprocess.run([tmp_path / "run"], capture_output=True, text=True, check=True)
    lines = [list(map(int, line.split())) for line in said.stdout.splitlines()]
    at = np.arange(-12000, 12000, 7)
    for column, word in enumerate(program.inputs):
        place = (at + 0.001 - first) / counts  # of the range; no count lies on a border but its end
        values = word.code.range.low + place * word.code.range.width
        found = [line[column] for line in lines[: len(at)]]
        assert found == word.code.encode(values).words.tolist(), word.name
    for column, (output, full) in enumerate(zip(program.outputs, (4000, -30000), strict=True)):
        values = output.code.decode(np.arange(16)) / output.code.range.width * full
        found = [line[column] for line in lines[len(at) :]]
        assert np.abs(np.array(found) - values).max() <= 0.5


@pytest.mark.parametrize("given", [*range(8), 12, 21, 30, *SPECIAL])
@pytest.mark.parametrize(("target", "demand"), RUNS)
def test_code_gives_what_the_digits_of_a_graph_say(
    given: int | str, target: str, demand: str, tmp_path: Path
) -> None:
    if (given, target) == ("sums of 40 bits", "javascript"):
        return  # refused: see below
    graph = random_graph(given) if isinstance(given, int) else SPECIAL[given]
    program = replace(of_graph("some", graph, output="z"), demand=demand)
    words = words_of(program, 200)
    said = [interpreted(graph, row) for row in words.tolist()]
    found = ran(program, target, words, tmp_path)
    assert np.array_equal(found[:, :-1], [made for made, _ in said])
    assert [int(flags).bit_count() for flags in found[:, -1]] == [count for _, count in said]


@pytest.mark.parametrize("level", ["words", "gates"])
@pytest.mark.parametrize(("target", "demand"), RUNS)
def test_words_in_every_code_are_read_saturated_and_written(
    target: str, demand: str, level: str, tmp_path: Path
) -> None:
    if (target, level) == ("c", "gates"):
        return  # refused: see below
    program = replace(doubled(), demand=demand)
    graph = program.loads[0].graph
    assert graph is not None
    cells = [[max(row % code.cells, code.first) for code in CODES] for row in range(32)]
    words = [[coded(*one) for one in zip(row, CODES, strict=True)] for row in cells]
    said = [interpreted(graph, row) for row in cells]
    found = ran(program, target, np.array(words), tmp_path, level)
    wanted = [[coded(*one) for one in zip(row, CODES, strict=True)] for row, _ in said]
    assert np.array_equal(found[:, :-1], wanted)
    assert [int(flags).bit_count() for flags in found[:, -1]] == [count for _, count in said]
