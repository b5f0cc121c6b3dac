"""Numbers, angles and tables as text."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import boolcomp as bc
from boolcomp.base import (
    parse_json,
    parse_number,
)


def test_angles_are_read_with_pi() -> None:
    known = {"pi": 1, "-pi/2": -1 / 2, "2*pi/3": 2 / 3, "+1.5*pi": 1.5}
    assert all(parse_number(text) == pytest.approx(x * math.pi) for text, x in known.items())
    assert (parse_number("0.25"), parse_number("-1e-3")) == (0.25, -1e-3)
    for text in ("", "tau", "pi/0", "pi pi", "1/2", "*pi", "pi*2"):
        value = parse_number(text)
        assert value is None or math.isnan(value), text


DEEPEST = 64  # arrays and objects within each other


@settings(max_examples=30)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text('[]{}"\\\\a\u20ac', max_size=6),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text('[{"\\\\'), inner),
        max_leaves=80,
    )
)
def test_json_reads_as_it_was_written(value: object) -> None:
    assert parse_json(json.dumps(value), "a") == value
    assert parse_json(json.dumps(value, ensure_ascii=False, indent=1), "a") == value


@pytest.mark.parametrize(
    ("begin", "end"), [("[", "]"), ('{"a":', "}"), (r'[{"[": 1, "\\": ', "}]")]
)
def test_json_is_read_to_a_depth_and_no_deeper(begin: str, end: str) -> None:
    levels = DEEPEST // len(end)
    deepest = begin * levels + "1" + end * levels
    assert parse_json(deepest, "a.json") == json.loads(deepest)
    for text in (f"[{deepest}]", begin * 100_000, "[" + "[]," * 100 + begin * 100_000):
        with pytest.raises(bc.DataError, match=f"^a.json: .* nested deeper than {DEEPEST}"):
            parse_json(text, "a.json")


@pytest.mark.parametrize(
    "text",
    ["", "[", "]" * 100, "{'a': 1}", '["' + '\\"[' * 10**6, "[" + "1" * 5000 + "]", "[1] [2]"],
)
def test_what_is_no_json_is_a_sentence(text: str) -> None:
    with pytest.raises(bc.DataError, match=r"a\.json: damaged, not JSON: "):
        parse_json(text, "a.json")


def test_long_json_is_not_parsed() -> None:
    assert parse_json("[1, 2]", "a", most=6) == [1, 2]
    with pytest.raises(bc.DataError, match="a: larger than 5 characters of JSON"):
        parse_json("[1, 2]", "a", most=5)
