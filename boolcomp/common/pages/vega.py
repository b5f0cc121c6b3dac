"""Charts by Vega: a spec as the picture that stands still, and the library that makes it live."""

from __future__ import annotations

import functools
import json
from typing import Any

from boolcomp.common.errors import UsageError
from boolcomp.common.packages import installing, is_there

Spec = dict[str, Any]
VERSION = "6.4"  # of Vega-Lite: vl-convert has several
SNIPPET = "window.vegaEmbed = vegaEmbed;"


def require_charts() -> None:
    """Raise a `UsageError` where no chart can be made: before what is drawn is measured."""
    if not is_there("vl-convert-python"):
        raise UsageError(f"charts need vl-convert-python: {installing('vl-convert-python')}")


@functools.lru_cache(maxsize=256)  # a page that is written again while work goes on
def still(spec: str) -> str:
    """Return a spec (its JSON) as SVG, for print and for readers without scripts."""
    require_charts()
    import vl_convert  # noqa: PLC0415 (only who draws needs it)

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
