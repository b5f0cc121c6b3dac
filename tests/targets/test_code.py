"""Programs as C, Python and JavaScript give the words that their logic gives."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from exports import (
    C_FLAGS,
    build,
    expected,
    kept,
    run_avr,
    run_c,
    run_javascript,
    run_python,
    run_sliced,
    words_of,
)
from small_programs import stages
from targets.exported import tiny

import boolcomp
from boolcomp.common.errors import UsageError
from boolcomp.logic.network import Builder
from boolcomp.targets import Options, export_texts

if TYPE_CHECKING:
    from boolcomp.program.program import Program

SHIPPED = [("machado-2r", 4), ("machado-2r", 8), ("elbow-3r", 8)]
KEPT = ["export-formats", "export-pid"]
GATES = Options("gates")


def needs(*tools: str) -> pytest.MarkDecorator:
    missing = [tool for tool in tools if shutil.which(tool) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


def only(files: dict[str, Any]) -> str:
    (text,) = files.values()
    assert isinstance(text, str)
    return text


def resting() -> Program:
    """Return a program whose first output is zero where two inputs are."""
    program = kept("export-formats")
    (load,) = program.loads
    first = replace(load.outputs[0], rest=("qdd1", "qdd2"))
    return replace(program, loads=(replace(load, outputs=(first, *load.outputs[1:])),))


def zeroed(program: Program, words: Any) -> Any:
    """Return words of which some rows are zero (or beside it) in the last two inputs."""
    words = words.copy()
    for column, word in ((-2, program.inputs[-2]), (-1, program.inputs[-1])):
        half = word.code.cells // 2
        zeros = word.code.word(np.array([half - (not word.code.tread), half]))
        words[::2, column] = zeros[np.arange(len(words[::2])) % 2]
    return words


@pytest.mark.parametrize("name", KEPT)
def test_python_gives_the_words_of_the_logic(name: str) -> None:
    program = kept(name)
    words = words_of(program, 2000)
    assert np.array_equal(
        run_python(only(export_texts(program, "python")), words), expected(program, words)
    )


@pytest.mark.parametrize("name", KEPT)
def test_python_by_bits_gives_the_words_of_the_logic(name: str) -> None:
    program = kept(name)
    words = words_of(program, 1000)
    text = only(export_texts(program, "python", options=GATES))
    assert np.array_equal(run_python(text, words), expected(program, words))


def test_an_output_at_rest_is_zero_in_every_language(tmp_path: Path) -> None:
    program = resting()
    words = zeroed(program, words_of(program, 2000))
    wanted = expected(program, words)
    assert not np.array_equal(wanted, expected(kept("export-formats"), words))
    assert np.array_equal(run_python(only(export_texts(program, "python")), words), wanted)
    if shutil.which("gcc"):
        assert np.array_equal(run_c(export_texts(program, "c"), words, tmp_path), wanted)
    if shutil.which("node"):
        text = only(export_texts(program, "javascript"))
        assert np.array_equal(run_javascript(text, words, tmp_path), wanted)


@pytest.mark.slow
@pytest.mark.parametrize("code", ["gray", "natural", "twos", "sign-magnitude"])
def test_programs_of_paper_mode_are_written_bit_by_bit(code: Any) -> None:
    program = stages(4, code)[2]
    words = words_of(program, 500)
    assert np.array_equal(
        run_python(only(export_texts(program, "python")), words), expected(program, words)
    )


@needs("gcc")
@pytest.mark.slow
@pytest.mark.parametrize("name", KEPT)
def test_c_gives_the_words_of_the_logic_and_does_nothing_undefined(
    name: str, tmp_path: Path
) -> None:
    program = kept(name)
    words = words_of(program, 100_000)
    wanted = expected(program, words)
    files = export_texts(program, "c")
    assert np.array_equal(run_c(files, words, tmp_path, "gcc", "-O2"), wanted)
    sanitized = ("-O1", "-fsanitize=undefined", "-fno-sanitize-recover")
    assert np.array_equal(run_c(files, words, tmp_path, "gcc", *sanitized), wanted)


@needs("gcc")
@pytest.mark.slow
@pytest.mark.parametrize(("robot", "bits"), SHIPPED)
def test_shipped_arms_in_every_language_give_the_words_of_the_logic(
    robot: str, bits: int, tmp_path: Path
) -> None:
    program = boolcomp.compile(robot, bits=bits)
    words = words_of(program, 100_000)
    wanted = expected(program, words)
    assert np.array_equal(run_c(export_texts(program, "c"), words, tmp_path), wanted)
    assert np.array_equal(run_sliced(export_texts(program, "c-sliced"), words, tmp_path), wanted)
    few = [*range(2000), *range(100_000, len(words))]
    text = only(export_texts(program, "python"))
    assert np.array_equal(run_python(text, words[few]), wanted[few])
    if shutil.which("node"):
        text = only(export_texts(program, "javascript"))
        assert np.array_equal(run_javascript(text, words[few], tmp_path), wanted[few])


@needs("gcc")
@pytest.mark.slow
def test_the_puma_in_c_gives_the_words_of_its_logic(tmp_path: Path) -> None:
    program = boolcomp.compile("puma560", bits=8)
    words = words_of(program, 100_000)
    files = export_texts(program, "c")
    assert np.array_equal(run_c(files, words, tmp_path), expected(program, words))


@needs("clang")
@pytest.mark.slow
@pytest.mark.parametrize("name", KEPT)
def test_clang_has_nothing_to_say_of_c(name: str, tmp_path: Path) -> None:
    program = kept(name)
    words = words_of(program, 1000)
    found = run_c(export_texts(program, "c"), words, tmp_path, "clang")
    assert np.array_equal(found, expected(program, words))


@needs("gcc")
@pytest.mark.slow
@pytest.mark.parametrize("flags", [["-O1"], ["-O1", "-mavx2"], ["-O1", "-mavx512f"]])
def test_bit_sliced_c_gives_the_words_of_the_logic(flags: list[str], tmp_path: Path) -> None:
    feature = flags[-1].removeprefix("-m")
    if len(flags) > 1 and feature not in _features():
        pytest.skip(f"this machine has no {feature}")
    program = kept("export-formats")
    words = words_of(program, 5001)
    found = run_sliced(export_texts(program, "c-sliced"), words, tmp_path, *flags)
    assert np.array_equal(found, expected(program, words))


@needs("gcc")
@pytest.mark.slow
def test_bit_sliced_c_of_constants_is_without_warnings(tmp_path: Path) -> None:
    program = replace(tiny(), networks=(Builder(4).build([2, 0, 0]),))
    words = words_of(program, 100)
    found = run_sliced(export_texts(program, "c-sliced"), words, tmp_path)
    assert np.array_equal(found, expected(program, words))


def _features() -> set[str]:
    try:
        with open("/proc/cpuinfo", encoding="ascii") as file:  # noqa: PTH123 (no path of ours)
            return set(file.read().split())
    except OSError:
        return set()


@needs("node")
@pytest.mark.parametrize("name", KEPT)
def test_javascript_gives_the_words_of_the_logic(name: str, tmp_path: Path) -> None:
    program = kept(name)
    words = words_of(program, 5000)
    for options in (Options(), GATES):
        text = only(export_texts(program, "javascript", options=options))
        assert np.array_equal(run_javascript(text, words, tmp_path), expected(program, words))


@needs("avr-gcc", "simavr")
@pytest.mark.slow
@pytest.mark.parametrize("name", KEPT)
def test_c_is_right_where_an_int_has_16_bits(name: str, tmp_path: Path) -> None:
    program = kept(name)
    words = words_of(program, 60)[:200]
    wrong, _ = run_avr(export_texts(program, "c"), words, expected(program, words), tmp_path)
    assert wrong == 0


@needs("avr-gcc", "simavr")
@pytest.mark.slow
def test_the_arm_of_the_paper_runs_on_an_8_bit_machine(tmp_path: Path) -> None:
    program = boolcomp.compile("machado-2r", bits=8)
    words = words_of(program, 100)[:300]
    found = expected(program, words)
    wrong, cycles = run_avr(export_texts(program, "c"), words, found, tmp_path)
    assert (wrong, cycles < 390) == (0, True)


@needs("gcc")
@pytest.mark.parametrize("change", ["table", "constant", "shift"])
def test_a_mutated_export_is_caught(change: str, tmp_path: Path) -> None:
    program = kept("export-formats")
    words = words_of(program, 3000)
    files = export_texts(program, "c")
    (source,) = (name for name in files if name.endswith(".c"))
    old, new = {
        "table": ("    0, 0, 1, 1, 3,", "    0, 0, 1, 2, 3,"),
        "constant": ("(68U", "(70U"), "shift": ("tau1_rounded = (uint8_t)((unsigned)w10 >> 3)",
        "tau1_rounded = (uint8_t)((unsigned)w10 >> 4)"),
    }[change]  # fmt: skip
    text = str(files[source])
    assert text.count(old) == 1
    mutated = {**files, source: text.replace(old, new)}
    assert not np.array_equal(run_c(mutated, words, tmp_path), expected(program, words))


def test_words_beyond_their_bits_are_cut_off_and_read_nothing_else() -> None:
    program = kept("export-formats")
    words = words_of(program, 300)
    bits = np.array([word.code.bits for word in program.inputs])
    text = only(export_texts(program, "python"))
    far = run_python(text, words + (np.arange(len(words))[:, None] << bits))
    assert np.array_equal(far, run_python(text, words))


@pytest.mark.parametrize("target", ["c", "c-sliced", "python", "javascript"])
def test_the_same_program_gives_the_same_bytes(target: str) -> None:
    assert export_texts(kept("export-pid"), target) == export_texts(kept("export-pid"), target)


@pytest.mark.parametrize("target", ["c", "c-sliced", "python", "javascript"])
def test_a_family_is_written_a_load_a_file(target: str) -> None:
    family = kept("export-loads")
    names = set(export_texts(family, target))
    assert {name.split("_kg")[0] for name in names} == {"machado_2r_0", "machado_2r_2"}
    assert len(export_texts(family, target, 2.0)) == len(names) // 2


def test_every_load_gives_its_own_words() -> None:
    family = kept("export-loads")
    words = words_of(family, 500)
    texts = export_texts(family, "python")
    for load in family.payloads:
        text = texts[f"machado_2r_{load:g}_kg.py"]
        assert np.array_equal(run_python(str(text), words), expected(family, words, load))


def test_words_of_a_program_without_a_graph_are_refused() -> None:
    for target, options in (("c", Options()), ("python", Options("words"))):
        with pytest.raises(UsageError, match="has no word graph to write"):
            export_texts(stages(4)[2], target, options=options)


def test_c_has_one_level() -> None:
    with pytest.raises(UsageError, match="C99 is written as words"):
        export_texts(kept("export-pid"), "c", options=GATES)


PAGE = Path(__file__).parents[2] / "docs" / "microcontroller.md"


@pytest.mark.slow
@pytest.mark.parametrize(
    "compiler",
    [
        pytest.param(["gcc"], marks=needs("gcc")),
        pytest.param(["avr-gcc", "-mmcu=atmega328p"], marks=needs("avr-gcc")),
    ],
    ids=["gcc", "avr-gcc"],
)
def test_the_main_program_of_the_page_builds(compiler: list[str], tmp_path: Path) -> None:
    (text,) = re.findall(r"^```c main.c\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    files = export_texts(boolcomp.compile("machado-2r", bits=8), "c")
    for name, content in {**files, "main.c": text}.items():
        (tmp_path / name).write_text(str(content))
    sources = [str(tmp_path / "main.c"), str(tmp_path / "machado_2r.c")]
    build([*compiler, *C_FLAGS, "-O2", "-o", str(tmp_path / "run"), *sources])


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
