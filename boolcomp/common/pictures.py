"""Pictures and pages that need no other file; the same values are the same bytes."""

from __future__ import annotations

import html
import io
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from boolcomp.common.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from matplotlib.figure import Figure

# Fixed names inside the SVG, and no date.
SETTINGS: dict[Any, Any] = {"svg.hashsalt": "boolcomp", "font.size": 9, "svg.fonttype": "path"}


def require_matplotlib() -> None:
    """Raise a `UsageError` where nothing can be drawn: before what is drawn is measured."""
    if find_spec("matplotlib") is None:
        raise UsageError("pictures need matplotlib: pip install 'boolcomp[plots]'")


def picture(draw: Callable[[], Figure], kind: str) -> bytes:
    """Return what is drawn as a file's content, `svg` or `png`."""
    require_matplotlib()
    import matplotlib as mpl  # noqa: PLC0415 (only who draws needs it)

    with mpl.rc_context(SETTINGS):
        stream = io.BytesIO()
        metadata = {"Date": None} if kind == "svg" else {"Software": None}
        draw().savefig(stream, format=kind, dpi=120, metadata=metadata)
    return stream.getvalue()


def blank(width: float, height: float) -> Figure:
    """Return an empty figure, in inches."""
    require_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 (likewise)
    from matplotlib.figure import Figure  # noqa: PLC0415 (likewise)

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def html_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of texts."""
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in header)
    body = "\n".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table>"


def html_page(title: str, body: str, width: str = "84rem", padding: str = ".25rem") -> str:
    """Return one HTML page that needs nothing else, with its title above."""
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>
<style>
body {{ font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; padding: 0 1rem }}
body {{ max-width: {width} }}
svg {{ max-width: 100%; height: auto }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums }}
th, td {{ padding: {padding} .6rem; text-align: right; border-bottom: 1px solid #ddd }}
th {{ background: #f4f4f4 }}
</style></head><body>
<h1>{html.escape(title)}</h1>
{body}
</body></html>
"""
