"""benchmarks/prose.py: every rule has an example that violates it, and plain English none."""

import tomllib
from pathlib import Path

import pytest

with pytest.MonkeyPatch.context() as patch:  # a folder of scripts, with names of folders here
    patch.syspath_prepend(str(Path(__file__).resolve().parent.parent / "benchmarks"))
    import prose

LONG = " ".join(["word"] * 31)
WRONG = {
    "free relative as subject": ["What is read stays.", "Good.\nWho trusts it reads on."],
    "relative clause without antecedent": [
        "Return what is read.", "Refuse what is no name.", "A part of that of which it is made.",
        "The rest of what is there.", "Tables of what was rounded.",
    ],
    "opening with Of": ["Of a plan: its bits.", "It is fast. Of a robot the name."],
    "nobody, anybody": ["Bits that nobody reads."],
    "errs": ["It errs.", "Entries err by a step."],
    "asked, wanted": ["The bound that was asked for.", "A figure is wanted."],
    "of today, of before": ["The search of today.", "This option goes before that."],
    "beside": ["A table beside the logic."],
    "personification": ["The program knows it.", "Its tables say so."],
    "said, told": ["Nothing is said of it.", "The line was\nbelieved."],
    "stands": ["The constant stands in a heap."],
    "so many": ["It ends after so many nodes."],
    "glossary: payload": ["A tip load of 1 kg."],
    "glossary: guarantee": ["A promise of an error."],
    "glossary: largest error found": ["The worst found is small."],
    "glossary: LUT3": ["It has 5 nodes of at\nmost three inputs."],
    prose.LONG: [LONG],
}  # fmt: skip
RIGHT = [
    "What is a word? It is a fixed-point number.",
    "Return the largest error. Of course, it is bounded.",
    "The two results are told apart by their sign, and x stands for a bit.",
    "The files are next to each other; `who` and `What is promised` are code.",
    f"{' '.join(['word'] * 20)}. {' '.join(['Word'] * 20)}.",
]


def rules(path: str, text: str) -> list[str]:
    """Return the names of violated rules."""
    return [hit.rule.split(" (")[0] for hit in prose.hits(path, text)]


@pytest.mark.parametrize(
    ("rule", "text"), [(rule, text) for rule, texts in WRONG.items() for text in texts]
)
def test_every_rule_finds_its_examples(rule: str, text: str) -> None:
    assert rules("docs/page.md", text) == [rule]


def test_every_rule_has_an_example() -> None:
    assert {name for name, *_ in prose.RULES} | {prose.LONG} == set(WRONG)


@pytest.mark.parametrize("text", RIGHT)
def test_plain_english_violates_no_rule(text: str) -> None:
    assert rules("docs/page.md", text) == []


@pytest.mark.parametrize(
    "source",
    [
        '"""Bits that WHO reads."""\n',
        'def f():\n    """Return bits.\n\n    These are bits that\n    WHO reads.\n    """\n',
        "# Bits that\n# WHO reads.\n",
        "x = 1  # that WHO reads\n",
        "import x  # noqa: PLC0415 (WHO needs it)\n",
        '@click.option("--x", help="Bits that WHO reads.")\n',
        'raise UsageError(\n    f"{x}: bits that "\n    "WHO reads"\n)\n',
        'error = DataError("WHO reads it")\n',
    ],
)
def test_docstrings_comments_help_and_messages_are_checked(source: str) -> None:
    (hit,) = prose.hits("boolcomp/a.py", source.replace("WHO", "nobody"))
    assert (hit.rule.split(" (")[0], hit.words) == ("nobody, anybody", "nobody")
    assert "WHO" in source.split("\n")[hit.line - 1]


@pytest.mark.parametrize(
    "source",
    [
        'x = "nobody"\n',
        'TEMPLATE = """\nnobody\n# nobody\n"""\n',
        '"""Title.\n\nExample:\n\n    nobody = 1\n"""\n',
        'raise UsageError(f"{nobody}")\n',
    ],
)
def test_code_is_not_checked(source: str) -> None:
    assert rules("boolcomp/a.py", source) == []


def test_pages_for_users_name_no_modules() -> None:
    text = "See `words/graph.py`, boolcomp.words.graph and benchmarks/proof.py.\n"
    assert rules("docs/page.md", text) == ["path of a module"] * 2
    assert rules("docs/contributing/page.md", text) == []


def test_more_hits_than_a_room_is_allowed_are_an_error_and_allowances_only_fall() -> None:
    allowed = {"boolcomp/base": 2, "docs/a.md": 1}
    assert prose.over({"boolcomp/base": 2, "docs/a.md": 0}, allowed) == []
    (message,) = prose.over({"boolcomp/base": 3}, allowed)
    assert message.startswith("boolcomp/base: 3 hits, 2 allowed: ")
    (message,) = prose.over({"boolcomp/new": 1}, allowed)
    assert message.startswith("boolcomp/new: 1 hits, 0 allowed: ")

    text = '[tool.boolcomp.prose]\n"boolcomp/base" = 2\n"docs/a.md" = 1\n\n[b]\ny = 2\n'
    lower = prose.lowered(text, {"boolcomp/base": 1, "boolcomp/new": 5})
    assert lower == '[tool.boolcomp.prose]\n"boolcomp/base" = 1\n\n[b]\ny = 2\n'
    more = prose.lowered(text, {"boolcomp/base": 9, "docs/a.md": 9})
    assert tomllib.loads(more) == tomllib.loads(text)
