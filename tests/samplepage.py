"""A page with a part of every kind, for the tests of pages."""

from __future__ import annotations

from boolcomp.common.pages import (
    Axis,
    Beside,
    Chart,
    ChartRow,
    Choice,
    Column,
    Drawing,
    Fact,
    KeyFigure,
    Markup,
    Page,
    Section,
    Table,
    Text,
    bars,
    heat,
    histogram,
    lines,
    scatter,
)

BITS = tuple(range(4, 13))
HEADS = 14


def charts() -> tuple[Chart, ...]:
    """Return a chart of every kind."""
    series = Axis("series", "series", names=True)
    kind = Axis("kind", "", names=True)
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
    bits, rms = Axis("bits", "bits", values=BITS), Axis("error", "error, N·m", log=True)
    named = (Axis("name", "name", names=True),)
    q1, q2, error = Axis("q1", "q1, rad"), Axis("q2", "q2, rad"), Axis("error", "error, LSB")
    return (
        lines(errors, bits, rms, colour_by=series, dash_by=kind, title="T1", shows="It halves."),
        scatter(
            points, Axis("nodes", "nodes"), Axis("rms", "rms", log=True), colour_by=series,
            hover=named, front="front", title="Nodes and errors",
        ),
        histogram(
            intervals, Axis("low", "from"), "high", Axis("states", "states"), title="How often"
        ),
        heat(cells, q1, q2, error, cell=(0.5, 0.5), diverging=True, title="Where"),
        bars(words, Axis("word", "word"), Axis("nodes", "nodes"), colour_by=kind, title="Words"),
    )  # fmt: skip


def table() -> Table:
    """Return a table that is wider than a phone."""
    columns = [Column("bits", "the word length"), Column("mode", "how <it> was compiled")]
    columns += [Column("rms", "the root of the mean square", ".2f", "rms_lsb")]
    columns += [Column(f"column {k}", f"what {k} says") for k in range(HEADS - 3)]
    rows = [
        [b, "paper" if b % 2 else "compact", None if b == 5 else 1 / b, *range(b, b + HEADS - 3)]
        for b in BITS
    ]
    return Table(columns, rows, "all figures")


def sample_page() -> Page:
    """Return the page."""
    first, second, third, fourth, fifth = charts()
    square = '<svg width="900" height="90"><rect id="a" width="900" height="90"/></svg>'
    return Page(
        "A page of & for <tests>",
        asked=(Fact("command", "boolcomp report machado-2r", copied=True), Fact("robot", "2R")),
        found=(KeyFigure("559", "nodes", "counted"), KeyFigure("3.64 LSB", "bound", "proved")),
        meaning=(Text("No state errs more."), Text("sampled on 10 states", kind="note")),
        sections=(
            Section("Errors", (Beside((first, third)), second)),
            Section("Where", (Choice("bits", [("8", (fourth,)), ("9", (fifth,))], "9"),)),
            Section("Figures", (table(), Choice("bits", [(n, (Text(f"of {n}"),)) for n in "89"]))),
            Section("Drawn", (Drawing(square, "a square"), Markup("<p>as it is</p>"))),
            Section("Folded", (Text("folded away"),), opened=False),
        ),
    )
