"""Pages of one HTML file that need nothing else: words, tables and charts that explain themselves.

`page_text` makes the text of a `Page`. Its parts are values; the same values are the same bytes.
"""

from boolcomp.base.charts import Axis, Chart, ChartRow, bars, heat, histogram, lines, scatter
from boolcomp.base.pages import Fact, KeyFigure, Page, Section, page_text
from boolcomp.common.pages.parts import Beside, Choice, Drawing, Markup, Parts, Text
from boolcomp.common.pages.tables import Column, Table
from boolcomp.common.pages.vega import require_charts

__all__ = [
    "Axis",
    "Beside",
    "Chart",
    "ChartRow",
    "Choice",
    "Column",
    "Drawing",
    "Fact",
    "KeyFigure",
    "Markup",
    "Page",
    "Parts",
    "Section",
    "Table",
    "Text",
    "bars",
    "heat",
    "histogram",
    "lines",
    "page_text",
    "require_charts",
    "scatter",
]
