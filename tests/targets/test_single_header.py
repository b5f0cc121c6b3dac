"""A program as one header: what includes it, in C and C++, has the words of the logic."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from exports import C_MAIN, build, expected, kept, words_of

import boolcomp
from boolcomp.targets import export_texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

PAGE = Path(__file__).resolve().parents[2] / "docs" / "microcontroller.md"
BOARD = """\
struct Port {
    void begin(long) {}
    void println(long) {}
};
static Port Serial;
int analogRead(int pin);
"""
STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-O1"]
LANGUAGES = {"c": ["gcc", "-std=c99"], "c++": ["g++", "-x", "c++", "-std=c++11"]}


def run_included(
    text: str, name: str, words: NDArray[np.int64], folder: Path, language: str
) -> NDArray[np.int64]:
    """Return what a program gives that includes a header and is linked with nothing."""
    fields = re.findall(r"^    uint\d+_t (\w+);", text, re.MULTILINE)
    count = words.shape[1]
    given = "\n".join(f"given.{f} = (uint16_t)row[{k}];" for k, f in enumerate(fields[:count]))
    made = "\n".join(f"result[{k}] = made.{f};" for k, f in enumerate(fields[count:]))
    main = C_MAIN.replace("GIVEN", given).replace("MADE", made).replace("NAME", name)
    main = main.replace("INPUTS", str(count)).replace("OUTPUTS", str(len(fields) - count))
    (folder / "main.c").write_text(main)
    build([*LANGUAGES[language], *STRICT, "-o", str(folder / "run"), str(folder / "main.c")])
    raw = words.astype("<u4").tobytes()
    found = subprocess.run([str(folder / "run")], input=raw, capture_output=True, check=True)
    return np.frombuffer(found.stdout, "<u4").reshape(len(words), -1).astype(np.int64)


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", ["export-formats", "export-pid"])
def test_one_header_is_all_that_is_needed(kind: str, language: str, tmp_path: Path) -> None:
    program = kept(kind)
    words = words_of(program, 500)
    ((file, text),) = export_texts(program, "c-header").items()
    (tmp_path / file).write_text(str(text))
    found = run_included(str(text), file.removesuffix(".h"), words, tmp_path, language)
    assert np.array_equal(found, expected(program, words))


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_headers_of_several_programs_stand_side_by_side(language: str, tmp_path: Path) -> None:
    loads = export_texts(kept("export-loads"), "c-header")
    files = {**loads, **export_texts(kept("export-formats"), "c-header")}
    assert len(files) == len(loads) + 1 >= 3
    for file, text in files.items():
        (tmp_path / file).write_text(str(text))
    lines = [f'#include "{file}"' for file in [*files, *files]]
    (tmp_path / "main.c").write_text("\n".join([*lines, "int main(void) { return 0; }", ""]))
    build([*LANGUAGES[language], *STRICT, "-o", str(tmp_path / "run"), str(tmp_path / "main.c")])


def test_names_of_tables_and_macros_begin_with_the_programs_own() -> None:
    for file, text in export_texts(kept("export-loads"), "c-header").items():
        name = file.removesuffix(".h")
        tables = re.findall(r"^static const \w+ (\w+)\[", str(text), re.MULTILINE)
        macros = re.findall(r"^#define (\w+)", str(text), re.MULTILINE)
        assert tables
        assert all(table.startswith(f"{name}_") for table in tables)
        assert len(macros) == 11  # the guard; where tables are, three ways to read, an order: twice
        assert all(macro.startswith(f"{name.upper()}_") for macro in macros)


@pytest.mark.slow
@pytest.mark.parametrize("compiler", [["g++"], ["avr-g++", "-mmcu=atmega328p"]], ids=lambda c: c[0])
def test_the_sketch_of_the_page_builds_with_its_header_alone(
    compiler: list[str], tmp_path: Path
) -> None:
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"not installed: {compiler[0]}")
    (text,) = re.findall(
        r"^```cpp sketch.ino\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL
    )
    for file, content in export_texts(boolcomp.compile("machado-2r", bits=8), "c-header").items():
        (tmp_path / file).write_text(str(content))
    (tmp_path / "sketch.cpp").write_text(BOARD + text)  # what the Arduino core says of a board
    files = ["-c", "-o", str(tmp_path / "sketch.o"), str(tmp_path / "sketch.cpp")]
    build([*compiler, "-std=gnu++11", *STRICT, *files])
