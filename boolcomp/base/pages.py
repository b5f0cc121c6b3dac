"""One HTML file without external resources, made of values: pages, tables and charts.

Rows of charts are records; a `ChartAxis` names a field with its title and number format. A spec is
drawn as a static SVG (print, no scripts) and as an interactive chart with tooltips.
"""

from __future__ import annotations

import functools
import html
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from boolcomp.base.errors import UsageError, installing, is_there, number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


# --------------------------------------------------------------------------------------------------
# Colours that are distinct for all kinds of colour vision, on white and on near black.
#
# After Okabe and Ito (Color Universal Design, 2008), with lightness changed so that each colour has
# a contrast of 3 : 1 with its background (WCAG 2.2, 1.4.11). Text has at least 4.5 : 1. Series also
# differ in dash and shape.
# --------------------------------------------------------------------------------------------------


LIGHT = {
    "ground": "#ffffff", "panel": "#f4f6f8", "ink": "#1b2127", "soft": "#55606b",
    "line": "#d5dbe1", "link": "#0b5fa5", "good": "#00694c", "bad": "#a63c06",
    "c1": "#0072b2", "c2": "#c85200", "c3": "#008a63", "c4": "#a64d86",
    "c5": "#9a6a00", "c6": "#2d86b8", "c7": "#5b5b5b", "c8": "#6a4fb3",
}  # fmt: skip
DARK = {
    "ground": "#14181d", "panel": "#1d232a", "ink": "#e8ecf0", "soft": "#a9b4bf",
    "line": "#39434d", "link": "#7cc0f5", "good": "#4fd1a5", "bad": "#ff9c66",
    "c1": "#56b4e9", "c2": "#ff9b52", "c3": "#35c99a", "c4": "#e39ac6",
    "c5": "#f0e442", "c6": "#9fd0ff", "c7": "#bdbdbd", "c8": "#b9a5ff",
}  # fmt: skip
SERIES = tuple(f"c{k}" for k in range(1, 9))
SEQUENTIAL = "cividis"  # heat maps: even, and the same for all kinds of colour vision
DIVERGING = "blueorange"


def colour(name: str) -> str:
    return f"var(--{name}, {LIGHT[name]})"


def variables() -> str:
    """Return the style that gives every colour its value, light and dark; paper is light."""
    light = "".join(f"--{name}:{value};" for name, value in LIGHT.items())
    dark = "".join(f"--{name}:{value};" for name, value in DARK.items())
    return (
        f":root{{color-scheme:light dark;{light}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
    )


# --------------------------------------------------------------------------------------------------
# Parts of pages. A part writes itself as HTML, with unique ids.
# --------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Pen:
    """Gives out the ids of one page, and remembers whether anything is a chart."""

    charts: int = 0
    ids: int = field(default=0, repr=False)

    def fresh(self, kind: str) -> str:
        """Return an id that nothing else on the page has."""
        self.ids += 1
        return f"{kind}{self.ids}"


class PagePart(Protocol):
    """A piece of a page."""

    def markup(self, pen: Pen) -> str:
        """Return it as HTML."""


Parts = tuple[PagePart, ...]
_ID = re.compile(r'\bid="([^"]+)"')


def unique(svg: str, prefix: str) -> str:
    """Return a drawing whose ids are a prefix and numbers, so that a page can contain several.

    Vega numbers its ids from the start of the process.
    """
    for k, name in enumerate(dict.fromkeys(_ID.findall(svg)), 1):
        for before, after in (('id="', '"'), ("url(#", ")"), ('href="#', '"')):
            svg = svg.replace(f"{before}{name}{after}", f"{before}{prefix}-{k}{after}")
    return svg


def markup(parts: Iterable[PagePart], pen: Pen) -> str:
    return "\n".join(part.markup(pen) for part in parts)


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph; `*emphasis*` is not read, nothing is: a text stands as it is."""

    text: str
    kind: str = ""  # "note": small and grey

    def markup(self, pen: Pen) -> str:
        """Return the paragraph."""
        del pen
        name = f' class="{self.kind}"' if self.kind else ""
        return f"<p{name}>{html.escape(self.text)}</p>"


@dataclass(frozen=True, slots=True)
class Markup:
    """HTML as its writer made it, who has escaped whatever others wrote: a drawing, a canvas."""

    text: str

    def markup(self, pen: Pen) -> str:
        """Return it as it is."""
        del pen
        return self.text


@dataclass(frozen=True, slots=True)
class Drawing:
    """An SVG with a text alternative; wide ones scroll."""

    svg: str
    shows: str

    def markup(self, pen: Pen) -> str:
        """Return it as a figure."""
        name = pen.fresh("drawing")
        drawn = unique(self.svg[self.svg.index("<svg") :], name)
        # Its style is its own: nested under its id, it says nothing of the rest of the page.
        drawn = drawn.replace("<style>", f"<style>#{name} {{").replace("</style>", "}</style>")
        label = html.escape(self.shows)
        return (
            f'<figure class="drawing" id="{name}"><div class="scrolls" role="group" tabindex="0" '
            f'aria-label="{label}">{drawn}</div><figcaption>{label}</figcaption></figure>'
        )


@dataclass(frozen=True, slots=True)
class Beside:
    """Parts next to each other if the page is wide enough."""

    parts: Parts

    def markup(self, pen: Pen) -> str:
        return f'<div class="beside">\n{markup(self.parts, pen)}\n</div>'


@dataclass(frozen=True, slots=True)
class Alternatives:
    """One of several bodies is shown, by name; without scripts all of them are.

    Choices of one `label` (bits) on a page choose together.
    """

    label: str
    options: Sequence[tuple[str, Parts]]
    chosen: str = ""  # the first

    def markup(self, pen: Pen) -> str:
        """Return all bodies; the script hides all but one."""
        first = self.chosen or next((name for name, _ in self.options), "")
        bodies = "\n".join(
            f'<section class="option" data-name="{html.escape(name)}" '
            f'aria-label="{html.escape(f"{self.label}: {name}")}">'
            f'<p class="optionname">{html.escape(f"{self.label}: {name}")}</p>\n'
            f"{markup(parts, pen)}\n</section>"
            for name, parts in self.options
        )
        return (
            f'<div class="choice" data-label="{html.escape(self.label)}" '
            f'data-chosen="{html.escape(first)}">\n{bodies}\n</div>'
        )


# --------------------------------------------------------------------------------------------------
# Sortable tables with explained columns; numbers can be copied.
# --------------------------------------------------------------------------------------------------


Cell = str | int | float | None
NOTHING = "–"
MANY = 12  # columns: with more of them they stand closer
LONG = 24  # characters of a text that may take several lines


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, what it says, how its numbers are written (`.3g`), its name in CSV."""

    name: str
    meaning: str = ""
    form: str = ""
    key: str = ""

    def text(self, value: Cell) -> str:
        """Return a cell's text."""
        if value is None:
            return NOTHING
        if isinstance(value, str):
            return value
        return format(value, self.form) if self.form else number(value)


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under columns. The first column names a row; CSV has numbers with all their digits."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""

    def markup(self, pen: Pen) -> str:
        """Return the table, what its columns mean below it."""
        name = pen.fresh("table")
        meanings = [
            (pen.fresh("column") if column.meaning else "", column) for column in self.columns
        ]
        label = html.escape(self.caption or "table")
        caption = f"<caption>{html.escape(self.caption)}</caption>" if self.caption else ""
        body = "\n".join(self._row(row) for row in self.rows)
        texts = [any(isinstance(row[k], str) for row in self.rows) for k in range(len(meanings))]
        head = "".join(
            _column_head(column, place, words=words)
            for (place, column), words in zip(meanings, texts, strict=True)
        )
        close = ' class="many"' if len(self.columns) > MANY else ""
        return (
            f'<div class="table"><div class="scrolls" role="group" tabindex="0" '
            f'aria-label="{label}">\n<table id="{name}"{close}>{caption}'
            f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>{_meanings(meanings)}</div>"
        )

    def _row(self, row: Sequence[Cell]) -> str:
        cells = []
        for k, (column, value) in enumerate(zip(self.columns, row, strict=True)):
            text = column.text(value)
            kind = ""
            if isinstance(value, str):
                kind = ' class="words long"' if len(value) > LONG else ' class="words"'
            exact = "" if value is None or isinstance(value, str) else number(value)
            data = f' data-value="{exact}"' if exact and exact != text else ""
            name, scope = ("td", "") if k else ("th", ' scope="row"')
            cells.append(f"<{name}{scope}{kind}{data}>{html.escape(text)}</{name}>")
        return f"<tr>{''.join(cells)}</tr>"


def _column_head(column: Column, place: str, *, words: bool) -> str:
    """Return a column's head: a button once the script runs, which sorts."""
    tip = f' data-tip="{place}" title="{html.escape(column.meaning)}"' if place else ""
    key = f' data-key="{html.escape(column.key)}"' if column.key else ""
    kind = ' class="words"' if words else ""
    return f'<th scope="col"{kind}{tip}{key}>{html.escape(column.name)}</th>'


def _meanings(columns: Sequence[tuple[str, Column]]) -> str:
    """Return the meanings of columns as a folding list."""
    lines = "".join(
        f'<dt>{html.escape(column.name)}</dt><dd id="{place}">{html.escape(column.meaning)}</dd>'
        for place, column in columns
        if place
    )
    if not lines:
        return ""
    return (
        f'\n<details class="meanings"><summary>What the columns say</summary><dl>{lines}</dl>'
        "</details>"
    )


# --------------------------------------------------------------------------------------------------
# Charts by Vega-Lite: a static picture of each spec, and the library that makes it interactive.
# --------------------------------------------------------------------------------------------------


Spec = dict[str, Any]
VERSION = "6.4"  # of Vega-Lite: vl-convert has several
SCHEMA = f"https://vega.github.io/schema/vega-lite/v{VERSION[0]}.json"
SNIPPET = "window.vegaEmbed = vegaEmbed;"


def require_charts() -> None:
    """Raise a `UsageError` where no chart can be made: before what is drawn is measured."""
    if not is_there("vl-convert-python"):
        raise UsageError("charts need vl-convert-python", installing("vl-convert-python"))


@functools.lru_cache(maxsize=256)  # a page that is written again while work goes on
def still(spec: str) -> str:
    """Return a spec (its JSON) as SVG, for print and for readers without scripts."""
    require_charts()
    import vl_convert  # noqa: PLC0415 (only drawing needs it)

    svg = vl_convert.vegalite_to_svg(spec, vl_version=VERSION)
    return svg.replace("<svg ", '<svg aria-hidden="true" ', 1)


@functools.cache
def library() -> str:
    """Return the script that draws specs in a browser: Vega, Vega-Lite and what embeds them."""
    require_charts()
    import vl_convert  # noqa: PLC0415 (likewise)

    script = vl_convert.javascript_bundle(SNIPPET, vl_version=VERSION)
    return script.replace("</script", "<\\/script")


def script_json(value: object) -> str:
    """Return a value as JSON that may stand inside a script element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")


# --------------------------------------------------------------------------------------------------
# Charts as Vega-Lite specs: lines, points, histograms, heat maps, bars.
# --------------------------------------------------------------------------------------------------


ChartRow = Mapping[str, Cell]
LISTED = 150  # rows of a chart that stand as a table below it as well
WIDE = 520  # of the static picture; the interactive one fills the width
HIGH = 260
STEP = 22  # from bar to bar
NARROW = 320  # what a legend may take of a phone
LETTER = 6.5  # the width of a letter
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [12, 4])
DASHED = 130  # the size of a shape in a legend whose edge is dashed
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"  # comes with vl-convert: the same everywhere
CONFIG: Spec = {
    "aria": False,  # the figure says what it shows, its table the numbers
    "background": "transparent",
    "font": FONT,
    "view": {"continuousWidth": WIDE, "continuousHeight": HIGH, "stroke": colour("line")},
    "axis": {
        "labelColor": colour("soft"), "titleColor": colour("ink"), "gridColor": colour("line"),
        "tickColor": colour("line"), "domainColor": colour("line"), "titleFontWeight": "normal",
        "labelFontSize": 11, "titleFontSize": 12, "gridOpacity": 0.6, "labelOverlap": True,
        "labelFlush": False,
    },
    "legend": {
        "labelColor": colour("ink"), "titleColor": colour("soft"), "titleFontWeight": "normal",
        "labelFontSize": 11, "titleFontSize": 11, "orient": "bottom", "labelLimit": 300,
        "symbolStrokeWidth": 2, "symbolSize": 80, "direction": "vertical",
        "layout": {"bottom": {"direction": "vertical"}},  # Vega's own, which Vega-Lite hands on
    },
    "mark": {"color": colour("c1")},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ChartAxis:
    """A field of the rows: its title, how its numbers are written (as d3 does: `.3~g`).

    `names`: texts, not numbers; in an `order`, where several charts of a page colour the same ones
    alike. `values`: where marks of the axis stand. `levels`: names that are no series but something
    to compare series with, which is grey.
    """

    field: str
    title: str
    log: bool = False
    form: str = ".4~g"
    zero: bool = False
    names: bool = False
    values: tuple[float, ...] = ()
    order: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()

    def encoding(self) -> Spec:
        """Return the axis as a position of a mark."""
        found: Spec = {**self.kind(), "axis": {"title": self.title}}
        if self.names:
            return {**found, "sort": None}
        found["scale"] = {"type": "log"} if self.log else {"zero": self.zero}
        if self.log and self.values:
            found["scale"]["nice"] = False  # no further decade beyond the values
        if self.values:
            found["axis"] |= {"values": list(self.values), "format": ".12~g"}
        return found

    def kind(self) -> Spec:
        return {"field": self.field, "type": "nominal" if self.names else "quantitative"}

    def told(self) -> Spec:
        """Return the tooltip of a mark."""
        written = {} if self.names else {"format": self.form}
        return {**self.kind(), "title": self.title, **written}


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart: a spec, its text alternative, and its numbers as a table if there are not too many.

    Without `still` there is no static picture, which is most of the size of a chart; without
    scripts only the title is shown then.
    """

    title: str
    spec: Spec
    shows: str
    axes: tuple[ChartAxis, ...]
    still: bool = True

    def moving(self) -> Chart:
        return replace(self, still=False)

    @property
    def rows(self) -> Sequence[ChartRow]:
        """The rows that are drawn."""
        values: Sequence[ChartRow] = self.spec["data"]["values"]
        return values

    def markup(self, pen: Pen) -> str:
        """Return the figure: the static picture, the spec and the numbers."""
        pen.charts += 1
        text = script_json(self.spec)
        drawn = "<p>Drawn by a script.</p>"
        if self.still:
            drawn = unique(still(text), pen.fresh("chart"))
        title = f"<figcaption><strong>{html.escape(self.title)}</strong>"
        said = f" <span>{html.escape(self.shows)}</span>" if self.shows else ""
        label = html.escape(f"{self.title}. {self.shows}".strip())
        return (
            f'<figure class="chart{"" if self.still else " moving"}">{title}{said}</figcaption>\n'
            f'<div class="still" role="img" aria-label="{label}">{drawn}</div>\n'
            f'<script type="application/json">{text}</script>'
            f"{self._numbers(pen)}</figure>"
        )

    def _numbers(self, pen: Pen) -> str:
        if len(self.rows) > LISTED:
            return ""
        columns = [Column(axis.title or axis.field, key=axis.field) for axis in self.axes]
        rows = [[row.get(axis.field) for axis in self.axes] for row in self.rows]
        table = Table(columns, rows, f"Numbers of: {self.title}").markup(pen)
        return f'\n<details class="numbers"><summary>Numbers</summary>{table}</details>'


def lines(
    rows: Sequence[ChartRow],
    x: ChartAxis,
    y: ChartAxis,
    *,
    title: str,
    shows: str = "",
    colour_by: ChartAxis | None = None,
    dash_by: ChartAxis | None = None,
    hover: Sequence[ChartAxis] = (),
    points: bool = True,
    high: int = HIGH,
) -> Chart:
    """Return lines with points; series differ in colour, and by a second field in dash and shape.

    If all points have the same abscissa there are no lines, and no dashes.
    """
    more: Spec = {}
    if colour_by:
        more["color"] = _coloured(rows, colour_by)
    if dash_by and points and len(_values(rows, x)) == 1:
        more["detail"] = dash_by.kind()  # otherwise lines of different dash are joined
    elif dash_by:
        more["strokeDash"] = {**dash_by.kind(), **_legend(rows, dash_by, DASHES)}
        more["strokeDash"]["legend"] |= {"symbolType": "stroke", "symbolSize": 400}
    shaped = dash_by if dash_by and len(_values(rows, dash_by)) > 1 else colour_by
    if points and shaped:
        more["shape"] = {**shaped.kind(), **_legend(rows, shaped, SHAPES)}
        if shaped is dash_by and "strokeDash" in more:  # one legend says both
            more["shape"]["legend"]["symbolSize"] = DASHED
            more["strokeDash"]["legend"] = more["shape"]["legend"]
    mark: Spec = {"type": "line", "strokeWidth": 2}
    if points:
        mark["point"] = {"filled": True, "size": 55}
    kinds = [axis for axis in (colour_by, dash_by) if axis]
    made = _chart(rows, mark, (x, y), more, kinds, title=title, shows=shows, hover=hover, high=high)
    return _with_room(made, x, y)


def scatter(
    rows: Sequence[ChartRow],
    x: ChartAxis,
    y: ChartAxis,
    *,
    title: str,
    shows: str = "",
    colour_by: ChartAxis | None = None,
    hover: Sequence[ChartAxis] = (),
    front: str = "",
    high: int = HIGH,
) -> Chart:
    """Return points; those whose field `front` is 1 are joined by steps (a Pareto front)."""
    more: Spec = {}
    if colour_by:
        more["color"] = _coloured(rows, colour_by)
        more["shape"] = {**colour_by.kind(), **_legend(rows, colour_by, SHAPES)}
    kinds = [colour_by] if colour_by else []
    mark = {"type": "point", "filled": True, "size": 70}
    made = _chart(rows, mark, (x, y), more, kinds, title=title, shows=shows, hover=hover, high=high)
    made = _with_room(made, x, y)
    if not front:
        return made
    steps = {
        "transform": [{"filter": f"datum['{front}'] == 1"}],
        "mark": {"type": "line", "interpolate": "step-after", "color": colour("soft")},
        "encoding": {**{at: made.spec["encoding"][at] for at in "xy"}, "order": x.kind()},
    }  # fmt: skip
    return _layered(made, below=(steps,))


def histogram(
    rows: Sequence[ChartRow],
    x: ChartAxis,
    upto: str,
    y: ChartAxis,
    *,
    title: str,
    shows: str = "",
    hover: Sequence[ChartAxis] = (),
    high: int = HIGH,
) -> Chart:
    """Return bars over intervals: each row has its own, from `x.field` to the field `upto`."""
    mark = {"type": "rect", "stroke": colour("ground"), "strokeWidth": 0.5}
    more: Spec = {"x2": {"field": upto}, "y2": {"datum": 0}}
    full = ChartAxis(y.field, y.title, log=y.log, form=y.form, zero=True)
    upper = ChartAxis(upto, "to", form=x.form)
    return _chart(
        rows, mark, (x, full), more, [], title=title, shows=shows, hover=[upper, *hover], high=high
    )


def heat(
    rows: Sequence[ChartRow],
    x: ChartAxis,
    y: ChartAxis,
    value: ChartAxis,
    *,
    cell: tuple[float, float],
    title: str,
    shows: str = "",
    diverging: bool = False,
    high: int = HIGH,
) -> Chart:
    """Return a map: a cell of this size a row, its middle at x and y, coloured by its value."""
    scale: Spec = {"scheme": DIVERGING if diverging else SEQUENTIAL}
    if diverging:
        scale["domainMid"] = 0
    elif value.log:
        scale["type"] = "log"
    legend = {"title": value.title, "orient": "bottom", "direction": "horizontal"}
    more: Spec = {
        "x": {**x.encoding(), "field": "_x"}, "x2": {"field": "_x2"},
        "y": {**y.encoding(), "field": "_y"}, "y2": {"field": "_y2"},
        "color": {**value.kind(), "scale": scale, "legend": {**legend, "gradientLength": 240}},
    }  # fmt: skip
    for name in ("x", "y"):
        more[name]["scale"] = {"zero": False, "nice": False}
    made = _chart(
        rows, {"type": "rect", "strokeWidth": 0}, (x, y), more, [],
        title=title, shows=shows, hover=[value], high=high,
    )  # fmt: skip
    sides = [
        {"calculate": f"datum['{axis.field}'] {sign} {size / 2!r}", "as": name}
        for axis, size, names in ((x, cell[0], ("_x", "_x2")), (y, cell[1], ("_y", "_y2")))
        for sign, name in zip("-+", names, strict=True)
    ]
    return Chart(title, {**made.spec, "transform": sides}, shows, (x, y, value))


def bars(
    rows: Sequence[ChartRow],
    names: ChartAxis,
    y: ChartAxis,
    *,
    title: str,
    shows: str = "",
    colour_by: ChartAxis | None = None,
    hover: Sequence[ChartAxis] = (),
    label: str = "",
) -> Chart:
    """Return bars, a name each, from left to right; those of one name are put end to end.

    On a logarithmic axis a name has one bar. The field `label` is written at the ends of bars.
    """
    more: Spec = {"color": _coloured(rows, colour_by)} if colour_by else {}
    full = ChartAxis(y.field, y.title, log=y.log, form=y.form, zero=not y.log)
    kinds = [colour_by] if colour_by else []
    texts = ChartAxis(names.field, names.title, names=True)
    mark = {"type": "bar"}
    made = _chart(rows, mark, (full, texts), more, kinds, title=title, shows=shows, hover=hover)
    places = made.spec["encoding"]
    if y.log:  # a bar begins at the lower end of the axis
        least = min((value for row in rows if (value := row[y.field])), default=1)
        low = 10.0 ** math.floor(math.log10(float(least)))
        places["x"] |= {"scale": {"type": "log", "domainMin": low}, "stack": None}
        places["x2"] = {"datum": low}
    places["y"]["axis"] = {"title": None}
    made.spec["config"] = {**CONFIG, "axisY": {"labelLimit": 170}}  # of a phone
    if label:
        written = {
            "mark": {"type": "text", "align": "left", "dx": 4, "color": colour("ink")},
            "encoding": {
                **{at: places[at] for at in "xy"}, "text": {"field": label}
            },
        }  # fmt: skip
        made = _layered(made, above=(written,))
    high = STEP * max(1, len({row[names.field] for row in rows}))
    told = tuple(axis for axis in made.axes if axis != texts)
    return Chart(title, {**made.spec, "height": high}, shows, (texts, *told))


def _layered(chart: Chart, below: Sequence[Spec] = (), above: Sequence[Spec] = ()) -> Chart:
    """Return a chart with other marks of its rows below and above its own."""
    inner = {name: chart.spec[name] for name in ("mark", "encoding", "params")}
    outer = {name: value for name, value in chart.spec.items() if name not in inner}
    return replace(chart, spec={**outer, "layer": [*below, inner, *above]})


def _chart(
    rows: Sequence[ChartRow],
    mark: Spec,
    places: tuple[ChartAxis, ChartAxis],
    more: Spec,
    kinds: Sequence[ChartAxis],
    *,
    title: str,
    shows: str,
    hover: Sequence[ChartAxis],
    high: int = HIGH,
) -> Chart:
    """Return a chart of one mark: where it stands, what it tells, what a legend chooses."""
    x, y = places
    axes = tuple(dict.fromkeys([*kinds, x, y, *hover]))
    encoding: Spec = {"x": x.encoding(), "y": y.encoding(), **more}
    encoding["tooltip"] = [axis.told() for axis in axes]
    params = []
    for k, axis in enumerate(kinds):
        chosen = {"type": "point", "fields": [axis.field]}
        params.append({"name": f"chosen{k}", "select": chosen, "bind": "legend"})
    if params:
        both = {"and": [{"param": param["name"]} for param in params]}
        encoding["opacity"] = {"condition": {"test": both, "value": 1}, "value": 0.1}
    kept = [{axis: value for axis, value in row.items() if value is not None} for row in rows]
    spec: Spec = {
        "$schema": SCHEMA,
        "width": "container", "height": high, "autosize": {"type": "fit-x", "contains": "padding"},
        "data": {"values": kept}, "params": params, "mark": mark, "encoding": encoding,
        "config": CONFIG,
    }  # fmt: skip
    return Chart(title, spec, shows, axes)


def _with_room(chart: Chart, x: ChartAxis, y: ChartAxis) -> Chart:
    """Return a chart whose axes have room about a number that is the only one on them.

    Vega would round it to the only mark of its axis; a decade about it, or zero, make it readable.
    """
    for name, axis in (("x", x), ("y", y)):
        values = _values(chart.rows, axis)
        if axis.names or axis.values or len(values) != 1:
            continue
        (value,) = values
        scale = chart.spec["encoding"][name]["scale"]
        if not axis.log:
            scale["zero"] = True
        elif isinstance(value, (int, float)) and value > 0:
            low = math.floor(math.log10(value))
            scale["domain"] = [10.0**low, 10.0 ** (low + 1)]
    return chart


def _values(rows: Sequence[ChartRow], axis: ChartAxis) -> set[Cell]:
    return {row[axis.field] for row in rows if row.get(axis.field) is not None}


def _coloured(rows: Sequence[ChartRow], axis: ChartAxis) -> Spec:
    given = [colour(name) for name in SERIES]
    return {**axis.kind(), **_legend(rows, axis, given, colour("soft"))}


def _legend(
    rows: Sequence[ChartRow], axis: ChartAxis, given: Sequence[Any], level: Any = None
) -> Spec:
    """Return the scale of a field in the order of the rows, and a compact legend."""
    there = list(dict.fromkeys(row.get(axis.field) for row in rows))
    values = [*axis.order, *(value for value in there if value not in axis.order)]
    longest = max((len(str(value)) for value in values), default=1)
    columns = max(1, min(4, int(NARROW / (30 + LETTER * longest))))
    series = [value for value in values if level is None or value not in axis.levels]
    looks = [
        given[series.index(value) % len(given)] if value in series else level for value in values
    ]
    legend: Spec = {"title": axis.title or None, "columns": columns}
    if axis.order:
        legend["values"] = [value for value in values if value in there]
    return {"scale": {"domain": values, "range": looks}, "legend": legend}


# --------------------------------------------------------------------------------------------------
# Picture files: charts next to each other in the light colours; equal values give equal bytes.
# --------------------------------------------------------------------------------------------------


LIVE = {"$schema", "config", "autosize", "params", "tooltip", "opacity"}  # of charts on pages
ACROSS = 3  # charts in a row, at most
PANEL = 300  # the width of each panel
SHARPNESS = 1.5  # pixels of a PNG per unit
_VARIABLE = re.compile(r"var\(--\w+, (#\w+)\)")


def picture(charts: Sequence[Chart], kind: str, title: str = "") -> bytes:
    """Return charts as the content of a file, `svg` or `png`; nothing is read from a network."""
    require_charts()
    import vl_convert  # noqa: PLC0415 (only drawing needs it)

    columns = -(-len(charts) // -(-len(charts) // ACROSS))
    wide = PANEL if columns == ACROSS else WIDE
    spec: Spec = {
        "$schema": SCHEMA, "background": colour("ground"),
        "config": {**CONFIG, "axis": {**CONFIG["axis"], "labelLimit": 0}},
        "columns": columns,
        "concat": [{**_alone(one.spec), "width": wide, "title": one.title} for one in charts],
        "resolve": {"scale": dict.fromkeys(("color", "shape", "strokeDash"), "independent")},
    }  # fmt: skip
    if title:
        spec["title"] = {"text": title, "anchor": "middle"}
    text = _VARIABLE.sub(r"\1", script_json(spec))
    if kind == "png":
        drawn: bytes = vl_convert.vegalite_to_png(
            text, vl_version=VERSION, scale=SHARPNESS, allowed_base_urls=[]
        )
        return drawn
    svg = vl_convert.vegalite_to_svg(text, vl_version=VERSION, allowed_base_urls=[])
    return unique(svg, "part").encode()


def _alone(spec: Spec) -> Spec:
    """Return a chart's spec without what only a page can do."""
    kept = {name: value for name, value in spec.items() if name not in LIVE}
    if "encoding" in kept:
        kept["encoding"] = _alone(kept["encoding"])
    if "layer" in kept:
        kept["layer"] = [_alone(one) for one in kept["layer"]]
    return kept


# --------------------------------------------------------------------------------------------------
# A page: the request, the results and their meaning, then folding sections.
# --------------------------------------------------------------------------------------------------


HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact about the request: a name and a text."""

    name: str
    text: str
    copied: bool = False  # with a button that copies it: a command


@dataclass(frozen=True, slots=True)
class KeyFigure:
    """A key figure with its subject and its kind: sampled, searched or proved."""

    value: str
    of: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class PageSection:
    """Parts under a title, which fold away."""

    title: str
    parts: Parts
    opened: bool = True


@dataclass(frozen=True, slots=True)
class Page:
    """The contents of one HTML file.

    Pages have no date and nothing of the machine; a caller can add them as a `Fact`. `script` and
    `style` of the caller follow those of the page.
    """

    title: str
    asked: tuple[Fact, ...] = ()
    found: tuple[KeyFigure, ...] = ()
    meaning: Parts = ()
    sections: tuple[PageSection, ...] = ()
    script: str = ""
    style: str = ""


def page_text(page: Page) -> str:
    """Return a page as HTML that needs nothing else; the same page is the same bytes."""
    pen = Pen()
    places = [pen.fresh("section") for _ in page.sections]
    body = "\n".join(
        [
            f"<h1>{html.escape(page.title)}</h1>",
            _head(page, pen),
            _contents(page, places),
            *(_section(one, place, pen) for one, place in zip(page.sections, places, strict=True)),
        ]
    )
    scripts = [library()] if pen.charts else []
    scripts += [(HERE / "page.js").read_text(encoding="utf-8"), *filter(None, [page.script])]
    ends = "\n".join(f"<script>{script}</script>" for script in scripts)
    style = variables() + (HERE / "page.css").read_text(encoding="utf-8") + page.style
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(page.title)}</title>
<style>
{style}</style></head><body>
<main>
<noscript><p class="note">Without scripts pictures stand still, tables do not sort, and of several
choices those that are drawn by a script are left out.</p></noscript>
{body}
</main>
{ends}
</body></html>
"""


def _head(page: Page, pen: Pen) -> str:
    parts = []
    if page.asked:
        facts = "\n".join(f"<dt>{html.escape(f.name)}</dt><dd>{_fact(f)}</dd>" for f in page.asked)
        parts.append(f"<h2>What was asked</h2>\n<dl>{facts}</dl>")
    if page.found:
        figures = "\n".join(map(_figure, page.found))
        parts.append(f'<h2>What came out</h2>\n<ul class="figures">{figures}</ul>')
    if page.meaning:
        parts.append(f"<h2>What it means</h2>\n{markup(page.meaning, pen)}")
    boxes = "\n".join(f'<div class="box">{part}</div>' for part in parts)
    return f'<div class="head">\n{boxes}\n</div>' if parts else ""


def _fact(fact: Fact) -> str:
    text = html.escape(fact.text)
    return f'<code class="copied">{text}</code>' if fact.copied else text


def _figure(figure: KeyFigure) -> str:
    note = f"<small>{html.escape(figure.note)}</small>" if figure.note else ""
    return f"<li><b>{html.escape(figure.value)}</b><span>{html.escape(figure.of)}</span>{note}</li>"


def _contents(page: Page, places: list[str]) -> str:
    if len(page.sections) < 3:
        return ""
    links = "\n".join(
        f'<li><a href="#{place}">{html.escape(section.title)}</a></li>'
        for section, place in zip(page.sections, places, strict=True)
    )
    return f'<nav aria-label="Sections"><ul>{links}</ul></nav>'


def _section(section: PageSection, place: str, pen: Pen) -> str:
    opened = " open" if section.opened else ""
    return (
        f'<details class="section" id="{place}"{opened}><summary>'
        f"<h2>{html.escape(section.title)}</h2></summary>\n"
        f"{markup(section.parts, pen)}\n</details>"
    )
