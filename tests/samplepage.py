"""A page with a part of every kind, for the tests of pages."""

from boolcomp.base import pages
from boolcomp.base.pages import Alternatives, ChartAxis, ChartRow, Column, Fact, KeyFigure, Text

BITS = tuple(range(4, 13))
HEADS = 14


def charts() -> tuple[pages.Chart, ...]:
    """Return a chart of every kind."""
    series = ChartAxis("series", "series", names=True)
    kind = ChartAxis("kind", "", names=True)
    errors: list[ChartRow] = [
        {"bits": b, "error": factor * 2.0**-b, "series": name, "kind": what}
        for name, share in (("compact", 1.0), ("paper, m + 1", 1.5))
        for what, factor in (("rms", share), ("worst found", 4 * share))
        for b in BITS
    ]
    points: list[ChartRow] = [
        {"nodes": 300 * k, "rms": 0.5**k, "front": k % 2, "name": f"<p{k}>", "series": "abc"[k % 3]}
        for k in range(1, 9)
    ]
    intervals = [{"low": k / 4, "high": (k + 1) / 4, "states": 100 - k * k} for k in range(-8, 8)]
    cells = [
        {"q1": x / 2, "q2": y / 2, "error": x * y / 16} for x in range(-5, 6) for y in range(-5, 6)
    ]
    words: list[ChartRow] = [{"word": f"w{k}", "nodes": 3 * k + 1, "kind": "sum"} for k in range(5)]
    bits = ChartAxis("bits", "bits", values=BITS)
    rms = ChartAxis("error", "error, N·m", log=True)
    nodes = ChartAxis("nodes", "nodes")
    q1, q2 = ChartAxis("q1", "q1, rad"), ChartAxis("q2", "q2, rad")
    return (
        pages.lines(
            errors, bits, rms, colour_by=series, dash_by=kind, title="T1", shows="It halves."
        ),
        pages.scatter(
            points, nodes, ChartAxis("rms", "rms", log=True), colour_by=series,
            hover=(ChartAxis("name", "name", names=True),), front="front",
            title="Nodes and errors",
        ),
        pages.histogram(
            intervals, ChartAxis("low", "from"), "high", ChartAxis("states", "states"),
            title="How often",
        ),
        pages.heat(cells, q1, q2, ChartAxis("error", "error, LSB"), cell=(0.5, 0.5),
                   diverging=True, title="Where"),
        pages.bars(words, ChartAxis("word", "word"), nodes, colour_by=kind, title="Words"),
    )  # fmt: skip


def table() -> pages.Table:
    """Return a table that is wider than a phone."""
    columns = [Column("bits", "the word length"), Column("mode", "how <it> was compiled")]
    columns += [Column("rms", "the root of the mean square", ".2f", "rms_lsb")]
    columns += [Column(f"column {k}", f"what {k} says") for k in range(HEADS - 3)]
    rows = [
        [b, "paper" if b % 2 else "compact", None if b == 5 else 1 / b, *range(b, b + HEADS - 3)]
        for b in BITS
    ]
    return pages.Table(columns, rows, "all figures")


def sample_page() -> pages.Page:
    """Return the page."""
    first, second, third, fourth, fifth = charts()
    square = '<svg width="900" height="90"><rect id="a" width="900" height="90"/></svg>'
    maps = Alternatives("bits", [("8", (fourth,)), ("9", (fifth,))], "9")
    texts = Alternatives("bits", [(n, (Text(f"of {n}"),)) for n in "89"])
    drawn = pages.Drawing(square, "a square"), pages.Markup("<p>as it is</p>")
    return pages.Page(
        "A page of & for <tests>",
        asked=(Fact("command", "boolcomp report machado-2r", copied=True), Fact("robot", "2R")),
        found=(KeyFigure("559", "nodes", "counted"), KeyFigure("3.64 LSB", "bound", "proved")),
        meaning=(Text("No state errs more."), Text("sampled on 10 states", kind="note")),
        sections=(
            pages.PageSection("Errors", (pages.Beside((first, third)), second)),
            pages.PageSection("Where", (maps,)),
            pages.PageSection("Figures", (table(), texts)),
            pages.PageSection("Drawn", drawn),
            pages.PageSection("Folded", (Text("folded away"),), opened=False),
        ),
    )
