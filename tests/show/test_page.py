"""Pages as text: whole without scripts, escaped, the same bytes again, and small."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from exports import kept
from showpages import EVIL, MAJORITY, model_of, page_of, poisoned, subject_of

from boolcomp.measure import program_page, table_page
from boolcomp.twolevel import parse


class Seen(HTMLParser):
    """Elements of a page, their ids, and the texts outside of scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.inside = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.inside = tag

    def handle_endtag(self, tag: str) -> None:
        del tag
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside not in {"script", "style"}:
            self.text.append(data)

    def ids(self) -> list[str]:
        return [found for _, attrs in self.elements if (found := attrs.get("id")) is not None]


@pytest.mark.parametrize("name", ["format-2-paper", "export-pid"])
def test_texts_of_a_program_run_nowhere(name: str) -> None:
    page = program_page(subject_of(poisoned(name)))
    plain = program_page(subject_of(kept(name)))
    found, wanted = Seen(page), Seen(plain)
    assert [tag for tag, _ in found.elements] == [tag for tag, _ in wanted.elements]
    assert not any(name.startswith("on") for _, attrs in found.elements for name in attrs)
    assert EVIL in "".join(found.text)
    assert model_of(page)["name"] == f"arm{EVIL}"


def test_labels_of_a_table_run_nowhere() -> None:
    label = "<img/src=x/onerror=alert(1)>"
    text = MAJORITY.replace("a b c", f"{label} b c").replace("most", f"{label}2")
    found = Seen(table_page(f"{label}.pla", parse(text)))
    assert not [attrs for tag, attrs in found.elements if tag == "img"]
    assert label in "".join(found.text)


@pytest.mark.parametrize("name", ["format-2-paper", "export-pid", "export-loads"])
def test_a_page_asks_for_nothing_and_is_the_same_again(name: str) -> None:
    page = page_of(name)
    assert page == program_page(subject_of(kept(name)))
    sources = [
        attrs[key]
        for tag, attrs in Seen(page).elements
        for key in ("src", "href")
        if key in attrs and tag != "a"
    ]
    assert all(str(one).startswith("data:") for one in sources)
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", page)
    assert len(page) < 3_000_000


def test_without_scripts_a_state_can_be_read() -> None:
    program = kept("format-2-paper")
    page = page_of("format-2-paper", "machado-2r")
    start = model_of(page)["start"]
    sizes = [group.size for group in program.groups]
    arrays, at = [], 0
    for size in sizes:
        arrays.append(start[at : at + size])
        at += size
    values = program(*arrays)
    cells = dict(re.findall(r'<tr id="(output\d)">.*?data-cell="logic">([^<]*)<', page))
    assert [float(cells[f"output{k}"]) for k in range(len(values))] == pytest.approx(
        list(values), rel=1e-3
    )
    assert '<polyline class="link"' in page
    assert page.count('class="strip"') == len(program.outputs)


def test_a_program_of_an_unknown_arm_is_shown_without_exact_values() -> None:
    page = page_of("format-2-paper")
    assert "const exact = null;" in page
    assert "const points = null;" in page
    assert "There are no exact values" in page
    assert model_of(page).get("arm") is None


def test_steps_that_are_not_the_reference_are_not_called_exact() -> None:
    subject = subject_of(kept("format-2-paper"), "machado-2r")
    problem = subject.problem
    assert problem is not None
    wrong = replace(problem, reference=lambda *arrays: 1.001 * problem.reference(*arrays))
    page = program_page(replace(subject, problem=wrong))
    assert "const exact = null;" in page
    assert "its reference is not a straight-line program" in page


def test_a_function_of_no_robot_has_sliders_and_exact_values() -> None:
    page = page_of("export-pid", "examples/functions/pid.toml")
    assert "function exactly(" in page
    assert 'id="arm-picture"' not in page
    assert len(re.findall(r'id="input\d+"', page)) == len(model_of(page)["inputs"])


def test_a_table_is_shown_with_a_minimal_cover_and_by_hand() -> None:
    page = table_page("majority.pla", parse(MAJORITY))
    (table,) = model_of(page)["tables"]
    assert table["inputs"] == 3
    rows = {cube for cube, owners in table["cubes"] if owners[0] == "1"}
    assert rows == {"11-", "1-1", "-11"}
    assert "a b + a c + b c" in page or "b c + a c + a b" in page
    assert page.count('class="step"') >= 7
    assert "the minimum" in page
