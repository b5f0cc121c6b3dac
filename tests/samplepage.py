"""A page with a part of every kind, for the tests of pages."""

from __future__ import annotations

from boolcomp.common import pages

BITS = tuple(range(4, 13))
HEADS = 14


def charts() -> tuple[pages.Chart, ...]:
    """Return a chart of every kind."""
    series = pages.Axis("series", "series", names=True)
    kind = pages.Axis("kind", "", names=True)
    errors: list[pages.ChartRow] = [
        {"bits": b, "error": factor * 2.0**-b, "series": name, "kind": what}
        for name, share in (("compact", 1.0), ("paper, m + 1", 1.5))
        for what, factor in (("rms", share), ("worst found", 4 * share))
        for b in BITS
    ]
    points: list[pages.ChartRow] = [
        {"nodes": 300 * k, "rms": 0.5**k, "front": k % 2, "name": f"<p{k}>", "series": "abc"[k % 3]}
        for k in range(1, 9)
    ]
    intervals = [{"low": k / 4, "high": (k + 1) / 4, "states": 100 - k * k} for k in range(-8, 8)]
    cells = [
        {"q1": x / 2, "q2": y / 2, "error": x * y / 16} for x in range(-5, 6) for y in range(-5, 6)
    ]
    words: list[pages.ChartRow] = [
        {"word": f"w{k}", "nodes": 3 * k + 1, "kind": "sum"} for k in range(5)
    ]
    bits, rms = pages.Axis("bits", "bits", values=BITS), pages.Axis("error", "error, N·m", log=True)
    named = (pages.Axis("name", "name", names=True),)
    q1, q2, error = (
        pages.Axis("q1", "q1, rad"),
        pages.Axis("q2", "q2, rad"),
        pages.Axis("error", "error, LSB"),
    )
    return (
        pages.lines(
            errors, bits, rms, colour_by=series, dash_by=kind, title="T1", shows="It halves."
        ),
        pages.scatter(
            points,
            pages.Axis("nodes", "nodes"),
            pages.Axis("rms", "rms", log=True),
            colour_by=series,
            hover=named,
            front="front",
            title="Nodes and errors",
        ),
        pages.histogram(
            intervals,
            pages.Axis("low", "from"),
            "high",
            pages.Axis("states", "states"),
            title="How often",
        ),
        pages.heat(cells, q1, q2, error, cell=(0.5, 0.5), diverging=True, title="Where"),
        pages.bars(
            words,
            pages.Axis("word", "word"),
            pages.Axis("nodes", "nodes"),
            colour_by=kind,
            title="Words",
        ),
    )


def table() -> pages.Table:
    """Return a table that is wider than a phone."""
    columns = [
        pages.Column("bits", "the word length"),
        pages.Column("mode", "how <it> was compiled"),
    ]
    columns += [pages.Column("rms", "the root of the mean square", ".2f", "rms_lsb")]
    columns += [pages.Column(f"column {k}", f"what {k} says") for k in range(HEADS - 3)]
    rows = [
        [b, "paper" if b % 2 else "compact", None if b == 5 else 1 / b, *range(b, b + HEADS - 3)]
        for b in BITS
    ]
    return pages.Table(columns, rows, "all figures")


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
            pages.Text("No state errs more."),
            pages.Text("sampled on 10 states", kind="note"),
        ),
        sections=(
            pages.Section("Errors", (pages.Beside((first, third)), second)),
            pages.Section(
                "Where", (pages.Choice("bits", [("8", (fourth,)), ("9", (fifth,))], "9"),)
            ),
            pages.Section(
                "Figures",
                (table(), pages.Choice("bits", [(n, (pages.Text(f"of {n}"),)) for n in "89"])),
            ),
            pages.Section(
                "Drawn", (pages.Drawing(square, "a square"), pages.Markup("<p>as it is</p>"))
            ),
            pages.Section("Folded", (pages.Text("folded away"),), opened=False),
        ),
    )
