"""Pictures that need no other file; the same values are the same bytes."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from boolcomp.common.errors import UsageError
from boolcomp.common.packages import installing, is_there

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

# Fixed names inside the SVG, and no date.
SETTINGS: dict[Any, Any] = {"svg.hashsalt": "boolcomp", "font.size": 9, "svg.fonttype": "path"}


def require_matplotlib() -> None:
    """Raise a `UsageError` where nothing can be drawn: before what is drawn is measured."""
    if not is_there("matplotlib"):
        raise UsageError(f"pictures need matplotlib: {installing('matplotlib')}")


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
