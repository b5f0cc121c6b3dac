"""What pages are made of: a part says how it is written as HTML, with ids that are its own."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(slots=True)
class Pen:
    """Gives out the ids of one page, and remembers whether anything is a chart."""

    charts: int = 0
    ids: int = field(default=0, repr=False)

    def fresh(self, kind: str) -> str:
        """Return an id that nothing else on the page has."""
        self.ids += 1
        return f"{kind}{self.ids}"


class Part(Protocol):
    """A piece of a page."""

    def markup(self, pen: Pen) -> str:
        """Return it as HTML."""


Parts = tuple[Part, ...]
_ID = re.compile(r'\bid="([^"]+)"')


def unique(svg: str, prefix: str) -> str:
    """Return a drawing whose ids are a prefix and numbers: several of them may stand on one page.

    Vega numbers its ids from the start of the process, which is no matter of the page.
    """
    for k, name in enumerate(dict.fromkeys(_ID.findall(svg)), 1):
        for before, after in (('id="', '"'), ("url(#", ")"), ('href="#', '"')):
            svg = svg.replace(f"{before}{name}{after}", f"{before}{prefix}-{k}{after}")
    return svg


def markup(parts: Iterable[Part], pen: Pen) -> str:
    """Return parts one below the other."""
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
    """An SVG of one's own, with what it shows for those who do not see it; wide ones scroll."""

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
    """Parts beside each other where there is room."""

    parts: Parts

    def markup(self, pen: Pen) -> str:
        """Return them as a grid."""
        return f'<div class="beside">\n{markup(self.parts, pen)}\n</div>'


@dataclass(frozen=True, slots=True)
class Choice:
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
