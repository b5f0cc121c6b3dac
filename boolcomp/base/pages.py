"""A page: what was asked, what came out, what it means; then sections that fold."""

from __future__ import annotations

import html
from dataclasses import dataclass
from pathlib import Path

from boolcomp.base.charts import (
    Parts,
    Pen,
    library,
    markup,
    variables,
)

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that was asked, or is known of what was: a name and a text."""

    name: str
    text: str
    copied: bool = False  # with a button that copies it: a command


@dataclass(frozen=True, slots=True)
class KeyFigure:
    """One number that matters, with what it is of, and of which kind: sampled, searched, proved."""

    value: str
    of: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """Parts under a title, which fold away."""

    title: str
    parts: Parts
    opened: bool = True


@dataclass(frozen=True, slots=True)
class Page:
    """What one HTML file says.

    Nothing is asked of the clock or the machine here: who wants a date on a page makes it a `Fact`.
    `script` and `style` are the caller's own, put after the page's.
    """

    title: str
    asked: tuple[Fact, ...] = ()
    found: tuple[KeyFigure, ...] = ()
    meaning: Parts = ()
    sections: tuple[Section, ...] = ()
    script: str = ""
    style: str = ""


def page_text(page: Page) -> str:
    """Return a page as HTML that needs nothing else; the same page is the same bytes."""
    pen = Pen()
    places = [pen.fresh("section") for _ in page.sections]
    body = "\n".join(
        [
            f"<h1>{html.escape(page.title)}</h1>",
            _head(page, pen),
            _contents(page, places),
            *(_section(one, place, pen) for one, place in zip(page.sections, places, strict=True)),
        ]
    )
    scripts = [library()] if pen.charts else []
    scripts += [(HERE / "page.js").read_text(encoding="utf-8"), *filter(None, [page.script])]
    ends = "\n".join(f"<script>{script}</script>" for script in scripts)
    style = variables() + (HERE / "page.css").read_text(encoding="utf-8") + page.style
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(page.title)}</title>
<style>
{style}</style></head><body>
<main>
<noscript><p class="note">Without scripts pictures stand still, tables do not sort, and of several
choices those that are drawn by a script are left out.</p></noscript>
{body}
</main>
{ends}
</body></html>
"""


def _head(page: Page, pen: Pen) -> str:
    parts = []
    if page.asked:
        facts = "\n".join(f"<dt>{html.escape(f.name)}</dt><dd>{_fact(f)}</dd>" for f in page.asked)
        parts.append(f"<h2>What was asked</h2>\n<dl>{facts}</dl>")
    if page.found:
        figures = "\n".join(map(_figure, page.found))
        parts.append(f'<h2>What came out</h2>\n<ul class="figures">{figures}</ul>')
    if page.meaning:
        parts.append(f"<h2>What it means</h2>\n{markup(page.meaning, pen)}")
    boxes = "\n".join(f'<div class="box">{part}</div>' for part in parts)
    return f'<div class="head">\n{boxes}\n</div>' if parts else ""


def _fact(fact: Fact) -> str:
    text = html.escape(fact.text)
    return f'<code class="copied">{text}</code>' if fact.copied else text


def _figure(figure: KeyFigure) -> str:
    note = f"<small>{html.escape(figure.note)}</small>" if figure.note else ""
    return f"<li><b>{html.escape(figure.value)}</b><span>{html.escape(figure.of)}</span>{note}</li>"


def _contents(page: Page, places: list[str]) -> str:
    if len(page.sections) < 3:
        return ""
    links = "\n".join(
        f'<li><a href="#{place}">{html.escape(section.title)}</a></li>'
        for section, place in zip(page.sections, places, strict=True)
    )
    return f'<nav aria-label="Sections"><ul>{links}</ul></nav>'


def _section(section: Section, place: str, pen: Pen) -> str:
    opened = " open" if section.opened else ""
    return (
        f'<details class="section" id="{place}"{opened}><summary>'
        f"<h2>{html.escape(section.title)}</h2></summary>\n"
        f"{markup(section.parts, pen)}\n</details>"
    )
