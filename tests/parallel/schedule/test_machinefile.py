"""Machine files and the sentences for bad ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from boolcomp.common.errors import DataError, UsageError
from boolcomp.parallel.schedule.machine import Links, Shared
from boolcomp.parallel.schedule.machinefile import (
    FOLDER,
    load_machine,
    machine_names,
    parse_machine,
)

if TYPE_CHECKING:
    from pathlib import Path

TEXT = (FOLDER / "t800.toml").read_text(encoding="utf-8")
SHARED = (FOLDER / "encore.toml").read_text(encoding="utf-8")


def test_the_machines_that_ship_can_be_read() -> None:
    for name in machine_names():
        if name != "this-machine":
            assert load_machine(name).name == name
    assert isinstance(load_machine("t800").memory, Links)
    assert isinstance(load_machine("encore").memory, Shared)


def test_the_t800_has_the_costs_of_the_paper() -> None:
    machine = load_machine("t800")
    assert (machine.costs.multiplication, machine.costs.addition) == (0.55, 0.35)
    assert machine.delay(12, 0, 1, 4) == pytest.approx(19.2)


def test_a_machine_is_read_from_any_path(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(TEXT.replace('"t800"', '"mine"'), encoding="utf-8")
    assert load_machine(str(path)).name == "mine"


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("addition = 0.35", "addition = -0.35", "operations.addition: must be a cost of 0"),
        ("addition = 0.35", "addition = nan", "operations.addition: must be a cost of 0"),
        ("addition = 0.35", 'addition = "cheap"', "operations.addition: must be a number"),
        ("addition = 0.35", "additon = 0.35", "unknown key .did you mean 'addition'"),
        ("addition = 0.35", "", "operations.addition: missing"),
        ("count = 4", "count = 0", "links.count: must be a whole number from 1"),
        ("overlap = true", "overlap = 1", "links.overlap: must be true or false"),
        ('"full"', '"rings"', "did you mean 'ring'"),
        ("[links]", "[linx]", "unknown key .did you mean 'links'"),
        ("processors = 1024", "processors = true", "processors: must be a whole number"),
        ("name = ", "name = = ", "not a TOML file"),
        ('name = "t800"', "name = 800", "name: must be text"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(old: str, new: str, sentence: str) -> None:
    assert old in TEXT
    with pytest.raises(DataError, match=sentence):
        parse_machine(TEXT.replace(old, new))


def test_a_machine_has_links_or_shared_memory() -> None:
    both = SHARED + TEXT[TEXT.index("[links]") :]
    for text in (both, TEXT[: TEXT.index("[links]")]):
        with pytest.raises(DataError, match=r"either a .links. or a .shared. section"):
            parse_machine(text)


def test_an_unknown_name_gets_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 't800'"):
        load_machine("t80")
    with pytest.raises(DataError, match="cannot be read"):
        load_machine("nowhere.toml")
