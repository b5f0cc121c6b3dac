"""From a graph to its final network: what is right passes, and what is not is found."""

import re
from pathlib import Path
from typing import Any

import pytest
from checker.certified import certified, changed, steps

LEMMA = r"^(\d+) = (~?\d+) over( .*)?$"


@pytest.mark.parametrize(("old", "new"), [
    (r"^(\d+) = (\d+) over", r"\1 = ~\2 over"), (r"^(\d+) = (~?\d+) over \d+", r"\1 = \2 over"),
    (LEMMA, r"\1 = 0 over\3"), (LEMMA, r"\1 = \1 over\3"), (LEMMA, r"\1 = 9999999 over\3"),
    (LEMMA, r"9999999 = \2 over\3"), (LEMMA, r"\1 = \2 over 9999999"),
    (LEMMA, r"\1 = \2 by\3: / 0"), (LEMMA, r"\1 = \2 by\3: --3 / x"),
    (LEMMA, r"\1 = \2 by\3: -3- / 1"), (LEMMA, r"\1 = \2 by\3: / -99"),
])  # fmt: skip
def test_a_lemma_that_is_changed_is_refused(folder: Path, old: str, new: str) -> None:
    wrong = re.compile(old, re.MULTILINE)
    changed(folder, "certificate.txt", lambda text: wrong.sub(new, text, count=1))
    step = steps(folder)["lemmas"]
    assert step.holds is False
    assert "certificate.txt:" in step.note


def test_a_node_that_computes_something_else_is_found_with_words_that_show_it(folder: Path) -> None:
    lines = str(certified().networks[0]).splitlines()
    line = next(line for line in lines if re.search(r" & [in]\d+$", line))
    wrong = line.replace(" & ", " | ")
    changed(folder, "networks/0.txt", lambda text: text.replace(line, wrong))
    step = steps(folder)["lemmas"]
    assert step.holds is False
    assert re.search(
        r"for the input words q1=\d+ .* output bit \d+ of the network is [01]", step.note
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    certified().save(tmp_path / "a")
    return tmp_path / "a"


@pytest.mark.parametrize(("file", "old", "new"), [
    ("graphs/0.txt", r"(table \S+ )(\d+)", lambda said: f"{said[1]}{int(said[2]) ^ 1}"),
    ("program.json", r'("words": \[\s*\[\s*\d+,\s*)(\d+)', lambda x: f"{x[1]}{int(x[2]) - 1}"),
    ("program.json", r'("symbol": "T1".*?"bits": )(\d+)', lambda x: f"{x[1]}{int(x[2]) + 1}"),
    ("program.json", r'("symbol": "T1".*?"bits": \d+)', lambda x: f'{x[1]}, "zero": "tread"'),
])  # fmt: skip
def test_another_entry_or_word_is_found(folder: Path, file: str, old: str, new: Any) -> None:
    changed(folder, file, lambda text: re.sub(old, new, text, count=1, flags=re.DOTALL))
    found = steps(folder)
    assert False in (found["first"].holds, found["lemmas"].holds)
