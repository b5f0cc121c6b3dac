"""PLA files: anybody's are read or refused with a sentence, ours are read back unchanged."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boolcomp.base import DataError, DataWarning
from boolcomp.twolevel import parse, read, render


@st.composite
def files(draw: st.DrawFn) -> str:
    """Return the text of good files in many styles."""
    inputs, outputs = draw(st.integers(0, 6)), draw(st.integers(0, 4))
    if inputs + outputs == 0:
        return ".i 0\n.o 0\n.e\n"
    kind = draw(st.sampled_from(["", *(f".type {kind}\n" for kind in ("f", "fd", "fr", "fdr"))]))
    end = draw(st.sampled_from(["", ".e\n", ".end\nleft over"]))
    space = draw(st.sampled_from([" ", "|", " | ", "\t", "\n"]))
    comment = draw(st.sampled_from(["", "# remark\n", "  \n"]))
    term = st.text("01-2", min_size=inputs, max_size=inputs)
    word = st.text("01-~24", min_size=outputs, max_size=outputs)
    rows: list[tuple[str, str]] = draw(st.lists(st.tuples(term, word), max_size=6))
    body = "".join(f"{a}{space}{b}\n{comment}" for a, b in rows)
    text = f"{comment}.i {inputs}\n.o {outputs}\n{kind}.p {len(rows)}\n{body}{end}"
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


@given(files())
def test_a_file_is_read_back_as_it_was_written(text: str) -> None:
    first = parse(text)
    again = parse(render(first))
    assert render(again) == render(first)
    for one, other in ((first.on, again.on), (first.dc, again.dc), (first.off, again.off)):
        assert one.rows() == other.rows()
    assert again.kind == first.kind


@settings(max_examples=200)
@given(st.one_of(st.binary(max_size=200), st.text(".iope 01-2~\n#typefdr", max_size=120)))
def test_junk_is_refused_with_a_sentence(junk: bytes | str) -> None:
    try:
        parse(junk, "junk.pla").function("junk.pla")
    except DataError as error:
        assert str(error).startswith("junk.pla")  # noqa: PT017 (most junk raises, some is a file)


@given(files(), st.data())
def test_a_file_damaged_anywhere_is_read_or_refused(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text)))
    insert = data.draw(st.sampled_from(["", "x", "\0", "\n", "1", ".i 3\n", ".mv 4\n"]))
    try:
        parse(text[:at] + insert + text[at + data.draw(st.integers(0, 3)) :]).function()
    except DataError as error:
        assert str(error)  # noqa: PT017 (either outcome is right)


def test_letters_mean_what_they_mean_in_espresso() -> None:
    body = ".i 1\n.o 6\n{}0 014-2~\n"
    everything = parse(body.format(".type fdr\n"))
    sets = (everything.on, everything.dc, everything.off)
    assert [one.rows()[0][1] for one in sets] == ["011000", "000110", "100000"]
    only_on = parse(body.format(".type f\n"))
    assert (len(only_on.dc.valid()), len(only_on.off.valid())) == (0, 0)
    assert len(parse(".i 2\n.o 1\n?1 1\n31 1\n").function().on) == 0  # rows of no points


@pytest.mark.parametrize(("text", "on", "dc", "off"), [
    (".i 2\n.o 1\n11 1\n0- -\n", 0b1000, 0b0011, 0b0100),  # fd unless something else is said
    (".i 1\n.o 1\n1 1\n1 -\n", 0, 0b10, 0b01),  # a don't-care wins
    (".i 2\n.o 1\n.type fr\n11 1\n00 0\n", 0b1000, 0b0110, 0b0001),  # unnamed points are free
])  # fmt: skip
def test_types_say_what_rows_leave_open(text: str, on: int, dc: int, off: int) -> None:
    table = parse(text).function().dense
    assert [int(plane[0, 0]) for plane in (table.on, table.dc, table.off)] == [on, dc, off]


def test_labels_comments_continued_rows_and_line_ends_are_read() -> None:
    text = (
        "# head\r\n.i 3 # three\r\n.o 2\r\n.ilb a b c\r\n.ob x y\r\n01\r\n- | 10 # row\r\n1--11\r\n"
    )
    file = parse(text)
    assert (file.input_names, file.output_names) == (("a", "b", "c"), ("x", "y"))
    assert file.on.rows() == [("01-", "10"), ("1--", "11")]


def test_the_end_line_may_be_missing_but_announced_rows_may_not() -> None:
    assert len(parse(".i 1\n.o 1\n.p 1\n1 1").on) == 1
    assert "announces 9" in parse(".i 1\n.o 1\n.p 9\n1 1\n.e\n").notes[0]


@pytest.mark.parametrize(("text", "words"), [
    ("", "p:1: no .i line"), (".i 2\n", "p:2: no .o line"), (".i 1\n.o 1\n.p 2\n1 1\n", "cut off"),
    (".i 2\n.o 1\n.tpye fd\n", "p:3: unknown directive '.tpye'; did you mean '.type"),
    (".i 2\n.o 1\n.type fx\n", r"p:3: unknown \.type 'fx'; types are f, fd,"),
    (".i 2\n.i 3\n", "p:2: .i is given twice"),
    (".i 1000000\n.o 1000000\n", r"p:1: \.i 1000000 is too large; at most 65536 columns are"),
    (".i 2\n.o 1\n01 5\n", "p:3: output 0 is '5'; use one of 0 1 - ~ 2 3 4"),
    (".i 2\n.o 1\n01\n", "p:3: a row of 2 letters, but 3 are needed"),
    (".i 2\n.o 1\n.ilb a b c\n", "3 names for 2 inputs"),
    ("01 1\n", "p:1: a row before .i and .o"),
    (".i 2\n.o 1\n01 1\n.type fr\n", ".type must come before the first row"),
    (".mv 4 2 3\n", r"p:1: .mv \(multiple-valued variables\) is not supported"),
    (".i 2\n.o 1\n.phase 11\n.e\n", ".phase has 2 letters for 1 outputs"),
])  # fmt: skip
def test_mistakes_are_told_with_place_and_remedy(text: str, words: str) -> None:
    with pytest.raises(DataError, match=words):
        parse(text, "p")


def test_files_are_read_from_disk_or_the_reason_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.pla"
    path.write_bytes(b".i 1\n.o 1\n1 1\n.e\n")
    assert len(read(path).on) == 1
    with pytest.raises(DataError, match=r"missing\.pla: no such file or folder"):
        read(tmp_path / "missing.pla")
    monkeypatch.setattr("boolcomp.twolevel.pla.MOST_BYTES", 10)
    with pytest.raises(DataError, match="larger than the maximum of 0 MiB"):
        read(path)


@pytest.mark.parametrize("key", [".ilb", ".ob"])
def test_a_count_swallowed_by_a_label_line_is_read_with_a_warning(tmp_path: Path, key: str) -> None:
    (tmp_path / "a.pla").write_text(f".i 2\n.o 2\n{key} a b .p 1\n01 11\n.e\n")
    with pytest.warns(DataWarning, match=rf"a\.pla: the {key} line ends in \.p 1"):
        found = read(tmp_path / "a.pla")
    assert ("a", "b") in (found.input_names, found.output_names)
    assert len(found.on) == 1
    with pytest.raises(DataError, match="cut off"):
        parse(f".i 2\n.o 2\n{key} a b .p 2\n01 11\n")


def test_labels_of_some_columns_alone_are_passed_over_with_a_remark() -> None:
    found = parse(".i 2\n.o 3\n.ilb a b\n.ob y\n-1 111\n.e\n")
    assert (found.input_names, found.output_names) == (("a", "b"), None)
    assert found.notes == (".ob names 1 of 3 outputs: ignored",)


def test_messages_show_only_the_beginning_of_long_words() -> None:
    word = "x" * 1_000_000
    for text in (
        f".{word}\n", f".i {word}\n", f".type {word}\n", f"{word}\n", f".i 1\n.o 1\n{word}\n",
        f".i 1\n.o 1\n.ob {word} {word}\n", f".i 1\n.o 1\n.e {word}\n", f".mv {word}\n",
        ".ilb " + "a " * 200_000 + "\n.i 1\n.o 1\n",
    ):  # fmt: skip
        with pytest.raises(DataError) as caught:
            parse(text, "p")
        assert len(str(caught.value)) < 250
