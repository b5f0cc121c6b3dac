"""The portfolio: tables become verified networks, once, with or without ABC."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from synthesis.networks import product, sine, tables
from synthesis.test_abc import fake, no_abc

from boolcomp.base import UsageError
from boolcomp.logic import (
    SynthesisRecipe,
    TruthTable,
    abc_networks,
    diagram_networks,
    matches,
    synthesise,
    synthesise_all,
)

QUICK = SynthesisRecipe(effort="quick")


@given(tables())
@settings(max_examples=30)
def test_a_synthesised_network_agrees_with_its_table(table: TruthTable) -> None:
    assert matches(synthesise(table, QUICK).network, table).holds


def test_equal_tables_get_the_same_network_and_the_order_is_kept() -> None:
    wanted = [product(3), sine(5, 6), product(3)]
    made = synthesise_all(wanted, QUICK)
    assert made[0] is made[2]
    assert all(matches(m.network, t).holds for m, t in zip(made, wanted, strict=True))


def test_depth_is_bought_with_nodes() -> None:
    flat = synthesise(sine(6, 8), SynthesisRecipe("depth", "quick")).network
    small = synthesise(sine(6, 8), SynthesisRecipe("nodes", "quick", slack=None)).network
    assert flat.depth < small.depth
    assert len(small.nodes) < len(flat.nodes)


def test_a_second_synthesis_reads_what_the_first_one_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = synthesise(sine(5, 6), QUICK, tmp_path)
    monkeypatch.setattr("boolcomp.logic.synthesis._made", None)
    assert synthesise(sine(5, 6), QUICK, tmp_path) == first


@pytest.mark.parametrize("damage", ["", "# other title\n", "# boolcomp network, format 1\nx\n"])
def test_a_damaged_file_is_made_anew(tmp_path: Path, damage: str) -> None:
    first = synthesise(sine(5, 6), QUICK, tmp_path)
    (path,) = tmp_path.iterdir()
    text = path.read_text()
    path.write_text(damage)
    assert synthesise(sine(5, 6), QUICK, tmp_path) == first
    assert path.read_text() == text


def test_the_network_of_another_table_is_not_believed(tmp_path: Path) -> None:
    synthesise(sine(5, 6), QUICK, tmp_path)
    (path,) = tmp_path.iterdir()
    text = path.read_text()
    path.write_text(text.replace(" & ", " | "))
    assert matches(synthesise(sine(5, 6), QUICK, tmp_path).network, sine(5, 6)).holds


def test_what_a_deadline_cut_short_is_right_and_not_stored(tmp_path: Path) -> None:
    made = synthesise_all([sine(5, 6)], QUICK, tmp_path, deadline=1e-9)
    assert matches(made[0].network, sine(5, 6)).holds
    assert list(tmp_path.iterdir()) == []


def test_without_abc_high_effort_gives_a_result_and_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    no_abc(monkeypatch)
    made = synthesise(product(2), SynthesisRecipe(effort="high"))
    assert matches(made.network, product(2)).holds
    assert "ABC was not found" in made.note


def test_a_network_that_crashes_abc_does_not_cost_the_others_their_results(tmp_path: Path) -> None:
    # It writes what it read, until it meets network 1 and dies; $3 is `source -x script.abc`.
    body = (
        "while read -r command file; do\n"
        'case "$command" in\n'
        'read_blif) read_from="$file"; test "$file" = 1.blif && exit 9;;\n'
        'write_blif) cp "$read_from" "$file";;\n'
        "esac\ndone < script.abc"
    )
    starts = [diagram_networks(t)[0] for t in (product(2), sine(5, 6), product(3))]
    found, note = abc_networks(fake(tmp_path, body), starts, 30)
    assert [len(results) for results in found] == [3, 0, 3]
    assert note.startswith("ABC ended with exit code 9")


def test_wrong_results_of_abc_are_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = (
        "while read -r command file; do\n"
        'test "$command" = write_blif && printf '
        "'.model x\\n.inputs i0 i1 i2 i3\\n.outputs o0 o1 o2 o3\\n.names o0\\n.names o1\\n"
        ".names o2\\n.names o3\\n.end\\n' > $file\n"
        "done < script.abc\nexit 0"
    )
    tool = fake(tmp_path, body)
    monkeypatch.setattr("boolcomp.logic.lutmapping.find", lambda: tool)
    made = synthesise(product(2), SynthesisRecipe(effort="high"))
    assert matches(made.network, product(2)).holds
    assert "results were wrong" in made.note


@pytest.mark.parametrize(("arguments", "sentence"), [
    ({"effort": "hih"}, "did you mean 'high'"), ({"objective": "node"}, "did you mean 'nodes'"),
    ({"slack": -1}, "slack is a number of levels"),
])  # fmt: skip
def test_a_wrong_recipe_is_refused(arguments: dict[str, object], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        SynthesisRecipe(**arguments)  # type: ignore[arg-type]
