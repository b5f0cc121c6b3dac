"""Pages are values made text: escaped, deterministic, complete without scripts."""

import html
import json
import math
import re
from html.parser import HTMLParser

import pytest
from browser import specs
from samplepage import charts, sample_page, table

from boolcomp.base import pages as vega
from boolcomp.base.errors import UsageError
from boolcomp.base.pages import (
    DARK,
    LIGHT,
    SERIES,
    Column,
    Drawing,
    Page,
    PageSection,
    Pen,
    Table,
    Text,
    page_text,
    unique,
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
def test_a_page_is_the_same_bytes_every_time(text: str) -> None:
    assert page_text(sample_page()) == text


@pytest.mark.slow
def test_what_others_wrote_is_escaped_everywhere(text: str) -> None:
    assert "<tests>" not in text
    assert "A page of &amp; for &lt;tests&gt;" in text
    assert "how &lt;it&gt; was compiled" in text
    assert "<p1>" not in text  # nor in a chart's data


def test_a_page_without_charts_needs_no_library() -> None:
    text = page_text(Page("plain", sections=(PageSection("one", (Text("word"),)),)))
    assert len(text) < 20_000


def test_where_charts_cannot_be_made_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vega, "is_there", lambda _: False)
    with pytest.raises(UsageError, match=r"pip install 'boolcomp\[plots\]'"):
        vega.require_charts()


def test_cells_are_written_for_people_and_kept_with_all_their_digits() -> None:
    columns = [Column("a"), Column("b", form=".2f"), Column("c"), Column("d")]
    text = Table(columns, [[1, 2 / 3, "x & y", None]]).markup(Pen())
    assert '<th scope="row">1</th>' in text
    assert f'<td data-value="{2 / 3!r}">0.67</td>' in text
    assert '<td class="words">x &amp; y</td>' in text
    assert "<td>–</td>" in text


def test_every_explained_column_points_to_its_explanation() -> None:
    text = table().markup(Pen())
    for column in table().columns:
        (place,) = re.findall(
            rf'data-tip="(\w+)"[^>]*>{re.escape(html.escape(column.name))}</th>', text
        )
        assert f'<dd id="{place}">{html.escape(column.meaning)}</dd>' in text


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


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_the_first_series_differ_for_those_who_see_no_red_or_no_green(
    scheme: dict[str, str],
) -> None:
    # Viénot, Brettel and Mollon 1999: dichromats see one mixture of red and green, and blue.
    mixtures = {"protanopia": (0.11238, 0.88762), "deuteranopia": (0.29275, 0.70725)}
    for red, green in mixtures.values():
        seen = []
        for name in SERIES[:4]:
            linear = [(int(scheme[name][k : k + 2], 16) / 255) ** 2.2 for k in (1, 3, 5)]
            mixed = red * linear[0] + green * linear[1]
            seen.append((mixed ** (1 / 2.2), linear[2] ** (1 / 2.2)))
        apart = [math.dist(a, b) for k, a in enumerate(seen) for b in seen[:k]]
        assert min(apart) > 0.1, apart


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


def test_ids_of_drawings_are_their_own() -> None:
    svg = '<svg><clipPath id="a"/><path id="ab" clip-path="url(#a)"/><use href="#ab"/></svg>'
    assert unique(svg, "x") == (
        '<svg><clipPath id="x-1"/><path id="x-2" clip-path="url(#x-1)"/><use href="#x-2"/></svg>'
    )


def test_the_style_of_a_drawing_says_nothing_of_the_page() -> None:
    drawn = Drawing("<?xml?><svg><style>text{fill:red}</style></svg>", "a text").markup(Pen())
    assert "<style>#drawing1 {text{fill:red}}</style>" in drawn
    assert "<?xml" not in drawn


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


def test_names_to_compare_with_are_grey_and_take_no_colour_of_a_series() -> None:
    rows = [{"x": k, "y": k, "of": name} for k in (1, 2) for name in ("a", "limit", "b")]
    of = vega.ChartAxis("of", "", names=True, levels=("limit",))
    at = vega.ChartAxis("x", "x", log=True, values=(1, 2))
    chart = vega.lines(rows, at, vega.ChartAxis("y", "y"), colour_by=of, title="levels")
    colours = dict(zip(*chart.spec["encoding"]["color"]["scale"].values(), strict=True))
    assert colours == {
        "a": vega.colour("c1"), "limit": vega.colour("soft"), "b": vega.colour("c2")
    }  # fmt: skip
    assert chart.spec["encoding"]["x"]["scale"] == {"type": "log", "nice": False}


def test_bars_on_a_logarithmic_axis_begin_at_a_decade_below_all() -> None:
    rows = [{"name": name, "ns": ns, "said": f"{ns} ns"} for name, ns in (("a", 0.3), ("b", 700))]
    chart = vega.bars(
        rows,
        vega.ChartAxis("name", "name", names=True),
        vega.ChartAxis("ns", "ns", log=True),
        title="t",
        label="said",
    )
    drawn, written = chart.spec["layer"]
    assert drawn["encoding"]["x2"] == {"datum": 0.1}
    assert drawn["encoding"]["x"]["scale"]["domainMin"] == 0.1
    assert written["encoding"]["text"] == {"field": "said"}
    text = vega.picture([chart], "svg").decode()
    assert "0.3 ns" in text
    drawings = re.findall(r'd="M0,[\d.]+h([\d.]+)v[^"]*" fill="#0072b2"', text)
    lengths = [float(one) for one in drawings]
    assert len(lengths) == 2
    assert lengths[0] * math.log(700 / 0.1) == pytest.approx(
        lengths[1] * math.log(0.3 / 0.1), rel=1e-2
    )
