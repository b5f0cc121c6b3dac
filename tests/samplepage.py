"""A page with a part of every kind, for the tests of pages."""

from boolcomp.base import pages
from boolcomp.base import pages as base_charts
from boolcomp.base import pages as parts
from boolcomp.base import pages as tables

BITS = tuple(range(4, 13))
HEADS = 14


def charts() -> tuple[base_charts.Chart, ...]:
    """Return a chart of every kind."""
    series = base_charts.ChartAxis("series", "series", names=True)
    kind = base_charts.ChartAxis("kind", "", names=True)
    errors: list[base_charts.ChartRow] = [
        {"bits": b, "error": factor * 2.0**-b, "series": name, "kind": what}
        for name, share in (("compact", 1.0), ("paper, m + 1", 1.5))
        for what, factor in (("rms", share), ("worst found", 4 * share))
        for b in BITS
    ]
    points: list[base_charts.ChartRow] = [
        {"nodes": 300 * k, "rms": 0.5**k, "front": k % 2, "name": f"<p{k}>", "series": "abc"[k % 3]}
        for k in range(1, 9)
    ]
    intervals = [{"low": k / 4, "high": (k + 1) / 4, "states": 100 - k * k} for k in range(-8, 8)]
    cells = [
        {"q1": x / 2, "q2": y / 2, "error": x * y / 16} for x in range(-5, 6) for y in range(-5, 6)
    ]
    words: list[base_charts.ChartRow] = [
        {"word": f"w{k}", "nodes": 3 * k + 1, "kind": "sum"} for k in range(5)
    ]
    bits, rms = (
        base_charts.ChartAxis("bits", "bits", values=BITS),
        base_charts.ChartAxis("error", "error, N·m", log=True),
    )
    named = (base_charts.ChartAxis("name", "name", names=True),)
    q1, q2, error = (
        base_charts.ChartAxis("q1", "q1, rad"),
        base_charts.ChartAxis("q2", "q2, rad"),
        base_charts.ChartAxis("error", "error, LSB"),
    )
    return (
        base_charts.lines(
            errors, bits, rms, colour_by=series, dash_by=kind, title="T1", shows="It halves."
        ),
        base_charts.scatter(
            points,
            base_charts.ChartAxis("nodes", "nodes"),
            base_charts.ChartAxis("rms", "rms", log=True),
            colour_by=series,
            hover=named,
            front="front",
            title="Nodes and errors",
        ),
        base_charts.histogram(
            intervals,
            base_charts.ChartAxis("low", "from"),
            "high",
            base_charts.ChartAxis("states", "states"),
            title="How often",
        ),
        base_charts.heat(cells, q1, q2, error, cell=(0.5, 0.5), diverging=True, title="Where"),
        base_charts.bars(
            words,
            base_charts.ChartAxis("word", "word"),
            base_charts.ChartAxis("nodes", "nodes"),
            colour_by=kind,
            title="Words",
        ),
    )


def table() -> tables.Table:
    """Return a table that is wider than a phone."""
    columns = [
        tables.Column("bits", "the word length"),
        tables.Column("mode", "how <it> was compiled"),
    ]
    columns += [tables.Column("rms", "the root of the mean square", ".2f", "rms_lsb")]
    columns += [tables.Column(f"column {k}", f"what {k} says") for k in range(HEADS - 3)]
    rows = [
        [b, "paper" if b % 2 else "compact", None if b == 5 else 1 / b, *range(b, b + HEADS - 3)]
        for b in BITS
    ]
    return tables.Table(columns, rows, "all figures")


def sample_page() -> pages.Page:
    """Return the page."""
    first, second, third, fourth, fifth = charts()
    square = '<svg width="900" height="90"><rect id="a" width="900" height="90"/></svg>'
    return pages.Page(
        "A page of & for <tests>",
        asked=(
            pages.Fact("command", "boolcomp report machado-2r", copied=True),
            pages.Fact("robot", "2R"),
        ),
        found=(
            pages.KeyFigure("559", "nodes", "counted"),
            pages.KeyFigure("3.64 LSB", "bound", "proved"),
        ),
        meaning=(
            parts.Text("No state errs more."),
            parts.Text("sampled on 10 states", kind="note"),
        ),
        sections=(
            pages.PageSection("Errors", (parts.Beside((first, third)), second)),
            pages.PageSection(
                "Where", (parts.Alternatives("bits", [("8", (fourth,)), ("9", (fifth,))], "9"),)
            ),
            pages.PageSection(
                "Figures",
                (
                    table(),
                    parts.Alternatives("bits", [(n, (parts.Text(f"of {n}"),)) for n in "89"]),
                ),
            ),
            pages.PageSection(
                "Drawn", (parts.Drawing(square, "a square"), parts.Markup("<p>as it is</p>"))
            ),
            pages.PageSection("Folded", (parts.Text("folded away"),), opened=False),
        ),
    )
