"""Charts as Vega-Lite specs: lines, points, histograms, heat maps, bars.

Rows are records; an `Axis` names a field of them, and says how it is called and written. The same
spec is drawn twice: as SVG that stands still (print, no scripts), and live, where pointing at a
mark tells its numbers and a click on the legend takes a series out of the crowd.
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from boolcomp.common.pages.colours import DIVERGING, SEQUENTIAL, SERIES, colour
from boolcomp.common.pages.parts import unique
from boolcomp.common.pages.tables import Cell, Column, Table
from boolcomp.common.pages.vega import VERSION, Spec, script_json, still

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.common.pages.parts import Pen

ChartRow = Mapping[str, Cell]
LISTED = 150  # rows of a chart that stand as a table below it as well
WIDE = 520  # of the picture that stands still; the live one is as wide as its place
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
class Axis:
    """A field of the rows: its title, how its numbers are written (as d3 does: `.3~g`).

    `names`: texts, not numbers; in an `order`, where several charts of a page colour the same ones
    alike. `values`: where marks of the axis stand.
    """

    field: str
    title: str
    log: bool = False
    form: str = ".4~g"
    zero: bool = False
    names: bool = False
    values: tuple[float, ...] = ()
    order: tuple[str, ...] = ()

    def encoding(self) -> Spec:
        """Return the axis as a position of a mark."""
        found: Spec = {**self.kind(), "axis": {"title": self.title}}
        if self.names:
            return {**found, "sort": None}
        found["scale"] = {"type": "log"} if self.log else {"zero": self.zero}
        if self.values:
            found["axis"] |= {"values": list(self.values), "format": ".12~g"}
        return found

    def kind(self) -> Spec:
        """Return the field, and whether it is names or numbers."""
        return {"field": self.field, "type": "nominal" if self.names else "quantitative"}

    def told(self) -> Spec:
        """Return what pointing at a mark tells of it."""
        written = {} if self.names else {"format": self.form}
        return {**self.kind(), "title": self.title, **written}


@dataclass(frozen=True, slots=True)
class Chart:
    """A spec with what it shows, and the numbers in it as a table where there are not too many.

    One of many that a `Choice` offers need not stand `still`, which is most of its size: without
    scripts there is only its title then.
    """

    title: str
    spec: Spec
    shows: str
    axes: tuple[Axis, ...]
    still: bool = True

    def moving(self) -> Chart:
        """Return the chart without the picture that stands still."""
        return replace(self, still=False)

    @property
    def rows(self) -> Sequence[ChartRow]:
        """What is drawn."""
        values: Sequence[ChartRow] = self.spec["data"]["values"]
        return values

    def markup(self, pen: Pen) -> str:
        """Return the figure: the picture that stands still, the spec, the numbers."""
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
    x: Axis,
    y: Axis,
    *,
    title: str,
    shows: str = "",
    colour_by: Axis | None = None,
    dash_by: Axis | None = None,
    hover: Sequence[Axis] = (),
    points: bool = True,
    high: int = HIGH,
) -> Chart:
    """Return lines with points: a colour a series, a dash and a shape for what is told apart twice.

    Where all points stand above one place there are no lines, and so no dashes.
    """
    more: Spec = {}
    if colour_by:
        more["color"] = _coloured(rows, colour_by)
    if dash_by and points and len(_values(rows, x)) == 1:
        more["detail"] = dash_by.kind()  # else what is told apart is joined
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
    x: Axis,
    y: Axis,
    *,
    title: str,
    shows: str = "",
    colour_by: Axis | None = None,
    hover: Sequence[Axis] = (),
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
    inner = {name: made.spec[name] for name in ("mark", "encoding", "params")}
    outer = {name: value for name, value in made.spec.items() if name not in inner}
    return Chart(title, {**outer, "layer": [steps, inner]}, shows, made.axes)


def histogram(
    rows: Sequence[ChartRow],
    x: Axis,
    upto: str,
    y: Axis,
    *,
    title: str,
    shows: str = "",
    hover: Sequence[Axis] = (),
    high: int = HIGH,
) -> Chart:
    """Return bars over intervals: each row has its own, from `x.field` to the field `upto`."""
    mark = {"type": "rect", "stroke": colour("ground"), "strokeWidth": 0.5}
    more: Spec = {"x2": {"field": upto}, "y2": {"datum": 0}}
    full = Axis(y.field, y.title, log=y.log, form=y.form, zero=True)
    upper = Axis(upto, "to", form=x.form)
    return _chart(
        rows, mark, (x, full), more, [], title=title, shows=shows, hover=[upper, *hover], high=high
    )


def heat(
    rows: Sequence[ChartRow],
    x: Axis,
    y: Axis,
    value: Axis,
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
    names: Axis,
    y: Axis,
    *,
    title: str,
    shows: str = "",
    colour_by: Axis | None = None,
    hover: Sequence[Axis] = (),
) -> Chart:
    """Return bars, a name each, from left to right; those of one name are put end to end."""
    more: Spec = {"color": _coloured(rows, colour_by)} if colour_by else {}
    full = Axis(y.field, y.title, log=y.log, form=y.form, zero=not y.log)
    kinds = [colour_by] if colour_by else []
    texts = Axis(names.field, names.title, names=True)
    mark = {"type": "bar"}
    made = _chart(rows, mark, (full, texts), more, kinds, title=title, shows=shows, hover=hover)
    made.spec["encoding"]["y"]["axis"] = {"title": None, "labelLimit": 170}
    high = STEP * len({row[names.field] for row in rows})
    told = tuple(axis for axis in made.axes if axis != texts)
    return Chart(title, {**made.spec, "height": high}, shows, (texts, *told))


def _chart(
    rows: Sequence[ChartRow],
    mark: Spec,
    places: tuple[Axis, Axis],
    more: Spec,
    kinds: Sequence[Axis],
    *,
    title: str,
    shows: str,
    hover: Sequence[Axis],
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
        "$schema": f"https://vega.github.io/schema/vega-lite/v{VERSION[0]}.json",
        "width": "container", "height": high, "autosize": {"type": "fit-x", "contains": "padding"},
        "data": {"values": kept}, "params": params, "mark": mark, "encoding": encoding,
        "config": CONFIG,
    }  # fmt: skip
    return Chart(title, spec, shows, axes)


def _with_room(chart: Chart, x: Axis, y: Axis) -> Chart:
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


def _values(rows: Sequence[ChartRow], axis: Axis) -> set[Cell]:
    return {row[axis.field] for row in rows if row.get(axis.field) is not None}


def _coloured(rows: Sequence[ChartRow], axis: Axis) -> Spec:
    return {**axis.kind(), **_legend(rows, axis, [colour(name) for name in SERIES])}


def _legend(rows: Sequence[ChartRow], axis: Axis, given: Sequence[Any]) -> Spec:
    """Return what values of a field look like, in the order of rows, and a legend for phones."""
    there = list(dict.fromkeys(row.get(axis.field) for row in rows))
    values = [*axis.order, *(value for value in there if value not in axis.order)]
    longest = max((len(str(value)) for value in values), default=1)
    columns = max(1, min(4, int(NARROW / (30 + LETTER * longest))))
    looks = [given[k % len(given)] for k in range(len(values))]
    legend: Spec = {"title": axis.title or None, "columns": columns}
    if axis.order:
        legend["values"] = [value for value in values if value in there]
    return {"scale": {"domain": values, "range": looks}, "legend": legend}
