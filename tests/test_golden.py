"""The golden net finds small changes in what is compiled, run, written and printed."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from boolcomp.compact import realisation
from boolcomp.words import Lookup

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
TABLE = ("shipped", "machado-2r-4.7d6d9f2628566b09.compact.json")


@pytest.fixture(name="golden", scope="module")
def net() -> Any:
    """Return the module of the golden net."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        import golden

        return golden


def found(golden: Any, group: str, title: str) -> str:
    """Return the differences that the quick form finds in what has such a title."""
    ((_, bench),) = golden.made_by([group], whole=False, only=f"^{title}$")
    assert len(bench.made) == 1
    return "\n".join(golden.differences(group, bench))


def test_a_wrong_bit_in_a_table_is_found(golden: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong(Lookup):
        def __new__(cls, source: int, read: int, entries: Sequence[int], *more: Any) -> Any:
            return Lookup(source, read, (entries[0] ^ 1, *entries[1:]), *more)

    monkeypatch.setattr(realisation, "Lookup", Wrong)
    text = found(golden, *TABLE)
    assert "made: 14 lines, before 14 lines" in text
    assert "+w5[5] = table w4:5 1 0 2" in text


def test_a_difference_is_printed_with_its_lines(golden: Any, tmp_path: Path) -> None:
    def made(text: str) -> Any:
        bench = golden.Bench(tmp_path, whole=False)
        bench.keep("thing", **{"": "short\n", "file.v": text})
        return bench

    lines = [f"line {k}" for k in range(100)]
    golden.accept("group", made("\n".join(lines)), tmp_path)
    assert golden.differences("group", made("\n".join(lines)), tmp_path) == []
    changed = [*lines[:50], "another line", *lines[51:]]
    (text,) = golden.differences("group", made("\n".join(changed)), tmp_path)
    assert text == (
        "== thing (group.txt)\n"
        "file.v: 100 lines, before 100 lines; the first difference is in 51 to 51, now:\n"
        "+another line"
    )
    (text,) = golden.differences("group", made("\n".join(lines[:60])), tmp_path)
    assert "file.v: 60 lines, before 100 lines; the first difference is in 61" in text
    (text,) = golden.differences("group", golden.Bench(tmp_path, whole=False), tmp_path)
    assert "no longer made" in text


def test_times_dates_and_paths_are_masked(golden: Any, tmp_path: Path) -> None:
    bench = golden.Bench(tmp_path, whole=False)
    table = "a  seconds  by\n-  -------  --\nx     0.25  me"
    text = bench.masked(f'{tmp_path}/a 2.5 s 2026-01-02 "seconds": 3.25,\n{table}')
    assert text == 'FOLDER/a … s DATE "seconds": …,\n' + table.replace("   0.25", "…")
