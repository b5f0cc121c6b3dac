"""Every export of a set of programs, built without a warning, run, compared; mutants are caught."""

import re
from collections.abc import Callable

import pytest
from exports import expected, kept, run_python, words_of
from matrix import matrix
from targets.exported import arm, planar

from boolcomp.measure import compared
from boolcomp.program import Program
from boolcomp.targets import export_texts, netlist_of

WORDS = 2000  # `benchmarks/every_export.py` takes a million
PROGRAMS: dict[str, Callable[[], Program]] = {
    "2R, 4 bits": lambda: arm("compact", 4),
    "2R, 6 bits": lambda: arm("compact", 6),
    "2R, 8 bits": lambda: arm("compact", 8),
    "2R, 4 bits, paper": lambda: arm("paper", 4),
    "2R, 6 bits, paper": lambda: arm("paper", 6),
    "planar-3r, 6 bits": planar,
    "a function of a user": lambda: kept("export-pid"),
}


@pytest.mark.check
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_export_is_clean_and_equal(name: str) -> None:
    checks = list(matrix(PROGRAMS[name](), WORDS))
    wrong = [check for check in checks if not check.holds and not check.skipped]
    assert not wrong, wrong
    done = [check for check in checks if check.holds]
    assert len(done) >= 7, [check.note for check in checks]


@pytest.mark.slow
def test_mutants_of_exports_are_caught() -> None:
    program = kept("export-pid")
    wanted, _ = netlist_of(program, None)
    ((file, gates),) = export_texts(program, "blif").items()
    lines = str(gates).split("\n")
    covers = [k for k, line in enumerate(lines) if re.fullmatch("[01-]{2,3} 1", line)]
    for k in covers[:: len(covers) // 4]:
        mutant = [*lines]
        mutant[k] = mutant[k].replace("1", "0", 1) if mutant[k][0] == "1" else "1" + mutant[k][1:]
        assert not compared("mutant", file, "\n".join(mutant), wanted, 60).holds
    words = words_of(program, WORDS)
    source = str(next(iter(export_texts(program, "python").values())))
    wrong = source.replace("i_next = f_w9 >> 2", "i_next = f_w9 >> 3")
    assert wrong != source
    assert (run_python(wrong, words) != expected(program, words)).any()
