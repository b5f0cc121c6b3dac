"""Exports for a processor that tests bits: texts, and Verilog that simulators agree with."""

import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Run
from small_programs import stages
from targets.exported import AWKWARD, arm, family, tiny

from boolcomp.base import UsageError
from boolcomp.logic import run_image as simulated
from boolcomp.program import Program
from boolcomp.targets import ExportOptions, export_texts, image_of

PROGRAMS: dict[str, Callable[[], Program]] = {
    "tiny": tiny,
    "awkward": lambda: tiny(AWKWARD),
    "own": lambda: tiny(("memory", "start", "sum0")),
    "family": family,
    "gray": lambda: stages(4)[2],
    "natural": lambda: stages(4, "natural")[2],
    "twos": lambda: stages(4, "twos")[2],
    "sign-magnitude": lambda: stages(4, "sign-magnitude")[2],
    "an output of no terms": lambda: often(0),
    "terms thrice": lambda: often(3),
}


def often(times: int) -> Program:
    """Return the arm with the terms of one output so many times."""
    program = stages(4)[2]
    (load,) = program.loads
    first, second = load.outputs
    load = replace(load, outputs=(replace(first, terms=first.terms * times), second))
    return replace(program, loads=(load,))


def built(program: Program, folder: Path, change: Callable[[str], str] = str) -> str:
    """Return what the bench of a program's processor prints, its text changed."""
    if shutil.which("iverilog") is None:
        pytest.skip("iverilog is not installed")
    files = export_texts(program, "bdd-verilog", None, ExportOptions(test_bench=True))
    names = list(files)
    for name, text in files.items():
        (folder / name).write_text(change(str(text)) if name == names[0] else str(text))
    made = ["iverilog", "-g2005", "-Wall", "-o", "bench", *names]
    done = subprocess.run(made, cwd=folder, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    vvp = [shutil.which("vvp") or "vvp", "-n", "bench"]
    return subprocess.check_output(vvp, cwd=folder, text=True).strip()


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_icarus_agrees_in_words_and_in_cycles(name: str, tmp_path: Path) -> None:
    program = PROGRAMS[name]()
    said = built(program, tmp_path)
    found = re.fullmatch(r"PASS: (\d+) vectors hold, the wrong one differs, (\d+) cycles", said)
    assert found, said
    image = image_of(program)
    bench = next(tmp_path.glob("*_tb.v")).read_text()
    cycles = 0
    for row in re.findall(r" given\[\d+\] = \d+'b([01]+);", bench):
        load = row[image.always :]
        words = [
            int(row[image.always - x.low - x.bits : image.always - x.low], 2) for x in image.inputs
        ]
        cycles += simulated(image, words, int(load or "0", 2)).cycles
    assert cycles == int(found[2])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tiny", "family"])
def test_a_bit_of_the_memory_that_is_wrong_fails_the_bench(name: str, tmp_path: Path) -> None:
    program = PROGRAMS[name]()
    at = image_of(program).walks[0].entry

    def inverted(text: str) -> str:
        pattern = rf"(memory\[{at}\] = )(\d+)'h([0-9a-f]+);"

        def changed(match: re.Match[str]) -> str:
            sense = 1 << image_of(program).address_bits + image_of(program).bit_bits
            return f"{match[1]}{match[2]}'h{int(match[3], 16) ^ sense:x};"

        made, count = re.subn(pattern, changed, text)
        assert count == 1
        return made

    assert built(program, tmp_path, inverted).startswith("FAIL")


@pytest.mark.parametrize("times", [1, 3, 10])
def test_a_sum_has_the_bits_that_all_its_terms_may_take_and_no_more(times: int) -> None:
    program = often(times)
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


@pytest.mark.slow
@pytest.mark.parametrize("name", ["own", "family", "twos"])
def test_verilator_warns_of_nothing(name: str, tmp_path: Path) -> None:
    if shutil.which("verilator") is None:
        pytest.skip("verilator is not installed")
    ((file, text),) = export_texts(PROGRAMS[name](), "bdd-verilog").items()
    (tmp_path / file).write_text(str(text))
    lint = ["verilator", "--lint-only", "-Wall", file]
    done = subprocess.run(lint, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_text_and_memory_are_of_one_image(run: Run) -> None:
    tiny().save("tiny")
    text = run("export", "tiny", "--to", "bdd", "-o", "-").out
    assert "\nword 9\ninput a 2 from 3\n" in text
    assert run("export", "tiny", "--to", "bdd-binary", "-o", "x.bin").code == 0
    assert Path("x.bin").read_bytes() == image_of(tiny()).binary()


@pytest.mark.slow
def test_a_compact_program_of_many_bits_is_refused_with_a_sentence() -> None:
    program = arm("compact", 6)
    for target in ("bdd", "bdd-binary", "bdd-verilog"):
        with pytest.raises(UsageError, match=r"a table of (2[3-9]|3\d) input bits, .*--mode paper"):
            export_texts(program, target)
    with pytest.raises(UsageError, match="engine 'bdd' supports tables of at most 22 input bits"):
        program.engine(name="bdd")


def test_a_load_of_no_terms_is_refused() -> None:
    program = stages(4)[2]
    (load,) = program.loads
    nothing = tuple(replace(output, terms=()) for output in load.outputs)
    empty = replace(program, loads=(replace(load, outputs=nothing),))
    with pytest.raises(UsageError, match="has no terms"):
        image_of(empty)
