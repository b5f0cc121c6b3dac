"""Pages are values made text: escaped, deterministic, complete without scripts."""

import html
import json
import re
from html.parser import HTMLParser

import pytest
from browser import specs
from samplepage import charts, sample_page

from boolcomp.base import pages as vega
from boolcomp.base.pages import (
    DARK,
    LIGHT,
    SERIES,
    Pen,
    page_text,
)

VOID = {"meta", "link", "br", "rect", "path", "line", "input"}


class Reader(HTMLParser):
    """What a reader of HTML sees: open elements, ids, faults."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.faults: list[str] = []
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.ids += [value for name, value in attrs if name == "id" and value]
        self.addresses += [found[k] or "" for k in ("src", "href", "xlink:href") if k in found]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID and (not self.open or self.open.pop() != tag):
            self.faults.append(f"</{tag}> at {self.getpos()}")


@pytest.fixture(scope="module", name="text")
def page_once() -> str:
    return page_text(sample_page())


@pytest.mark.slow
def test_a_page_is_well_formed_with_ids_of_its_own_and_asks_for_nothing(text: str) -> None:
    reader = Reader()
    reader.feed(text)
    assert (reader.faults, reader.open) == ([], [])
    assert len(set(reader.ids)) == len(reader.ids)
    assert all(re.fullmatch(r"#\w+", address) for address in reader.addresses)
    assert "@import" not in text.partition("<script>")[0]


@pytest.mark.slow
def test_what_others_wrote_is_escaped_everywhere(text: str) -> None:
    assert "<tests>" not in text
    assert "A page of &amp; for &lt;tests&gt;" in text
    assert "how &lt;it&gt; was compiled" in text
    assert "<p1>" not in text  # nor in a chart's data


def luminance(text: str) -> float:
    """Relative luminance, as WCAG 2.2 defines it."""
    found = 0.0
    for k, weight in enumerate((0.2126, 0.7152, 0.0722)):
        share = int(text[1 + 2 * k : 3 + 2 * k], 16) / 255
        found += weight * (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4)
    return found


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_colours_stand_out_from_their_ground(scheme: dict[str, str]) -> None:
    for ground in ("ground", "panel"):
        for name in ("ink", "soft", "link", "good", "bad"):
            assert contrast(scheme[name], scheme[ground]) >= 4.5, (name, ground)
    for name in SERIES:
        assert contrast(scheme[name], scheme["ground"]) >= 3, name


@pytest.mark.slow
def test_charts_draw_the_rows_that_they_were_given(text: str) -> None:
    made = charts()
    found = specs(text)
    assert {json.dumps(spec["data"]["values"]) for spec in found} == {
        json.dumps(chart.rows) for chart in made
    }
    drawn = made[3].markup(Pen()).partition('class="mark-rect')[2]
    cells = drawn.partition("</g>")[0].count("<path")
    assert cells == len(made[3].rows)  # of the map


@pytest.mark.slow
@pytest.mark.parametrize("place", range(5))
def test_charts_keep_the_schema_of_vega_lite(place: int) -> None:
    import altair as alt
    import jsonschema

    spec = json.loads(json.dumps(charts()[place].spec))
    del spec["config"]["legend"]["layout"]  # Vega's own
    whole = alt.LayerChart if "layer" in spec else alt.Chart
    whole.from_dict(spec)
    spec["encodign"] = {}
    with pytest.raises(jsonschema.ValidationError):
        whole.from_dict(spec)


@pytest.mark.slow
def test_a_picture_has_all_charts_in_the_light_colours_and_the_same_bytes() -> None:
    first = vega.picture(charts(), "svg", "All of <them>")
    text = first.decode()
    assert "var(" not in text
    assert f'fill="{LIGHT["ground"]}"' in text
    shown = re.findall(r"<text[^>]*>([^<]*)</text>", text)
    titles = {html.escape(one.title, quote=False) for one in charts()}
    assert {*titles, "All of &lt;them&gt;"} <= set(shown)
    assert vega.picture(charts(), "svg", "All of <them>") == first
    png = vega.picture(charts(), "png")
    assert (png[:4], png == vega.picture(charts(), "png")) == (b"\x89PNG", True)
    width = int.from_bytes(png[16:20])
    assert width > vega.SHARPNESS * vega.ACROSS * vega.PANEL
