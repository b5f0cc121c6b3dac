"""Truth tables on a page: maps with products, and how small ones are minimised by hand."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.measure.show.maps import MOST, picture, split
from boolcomp.measure.show.quine import MOST_INPUTS, minimised
from boolcomp.twolevel.karnaugh import DRAWN, counted, karnaugh

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from boolcomp.measure.show.quine import Steps
    from boolcomp.measure.show.terms import Term
    from boolcomp.program.program import Program

MOST_LISTED = 400  # products in a list that can be read


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """A table on a page: its title, what is said of it, its bits and words, values, products.

    `words` are (name, bits of it, and where a program makes it: its place, leading bits, bits left
    out); `values` has 2 where either will do; `owners` of a product are letters, one an output.
    """

    title: str
    note: str
    bits: tuple[str, ...]
    words: tuple[tuple[str, int, int, int, int], ...]
    outputs: tuple[str, ...]
    values: NDArray[np.uint8] | None
    cubes: tuple[tuple[str, str], ...] | None
    size: str = ""

    @property
    def rows(self) -> int:
        """How many of its bits count the rows of its map."""
        return split(len(self.bits), [bits for _, bits, *_ in self.words])


def term_shown(program: Program, term: Term) -> Shown:
    """Return a term of a program as it is shown."""
    words, bits = [], []
    for place, leading, dropped in term.words:
        name = program.inputs[place].name
        words.append((name, leading - dropped, place, leading, dropped))
        bits += [f"{name}.{k}" for k in range(dropped, leading)]
    same = f"; also {', '.join(term.uses[1:])}" if len(term.uses) > 1 else ""
    size = f"{counted(term.inputs, 'bit')} in, {term.outputs} out"
    if term.cubes is not None:
        size += f", {counted(len(term.cubes), 'product')}"
    note = f"{counted(term.nodes, 'node')} of logic, before the adders."
    if term.tables is None:
        note += f" A map has at most {MOST} inputs."
    elif term.cubes is None and "xor" in program.networks[term.network].operations():
        note += " Signs or sums of angles stand outside of its table: it is no sum of products."
    elif term.cubes is None:
        note += " Its products are too many to be shown here."
    outputs = tuple(f"bit {k}" for k in range(term.outputs))
    return Shown(
        f"{term.uses[0]}{same}: {term.text}", note, tuple(bits), tuple(words), outputs,
        term.tables, term.cubes, size,
    )  # fmt: skip


def script_values(shown: Shown) -> dict[str, Any]:
    """Return what the script needs of a table."""
    return {
        "inputs": len(shown.bits),
        "rows": shown.rows,
        "words": [[name, bits, place, lead, drop] for name, bits, place, lead, drop in shown.words],
        "outputs": list(shown.outputs),
        "cubes": None if shown.cubes is None else [list(cube) for cube in shown.cubes],
    }


def draw(place: int, shown: Shown, *, opened: bool, live: bool = True) -> str:
    """Return a table as HTML that folds: its maps, its products, the steps of its minimising.

    A `live` one has a map that the page's script draws on.
    """
    head = (
        f'<details class="term" id="term{place}"{" open" if opened else ""}><summary>'
        f"<b>{html.escape(shown.title)}</b> <small>{html.escape(shown.size)}</small></summary>"
        f'<p class="note">{html.escape(shown.note)}</p>'
    )
    if shown.values is None:
        return f"{head}</details>"
    small = len(shown.bits) <= DRAWN
    figures = "".join(_figure(k, shown, small=small) for k in range(len(shown.outputs)))
    axes = (
        f"Down: {html.escape(_axis(shown.bits[: shown.rows]))}; along: "
        f"{html.escape(_axis(shown.bits[shown.rows :]))}; both in Gray order, so that neighbours "
        "differ in one bit."
    )
    wide = "" if small else f' style="aspect-ratio:{_ratio(shown)}"'
    stage = (
        f'<div class="map-view needs-script"><div class="stage"{wide}></div>'
        '<div class="beside-map"><p class="said" aria-live="polite"></p>'
        "<label>products, one by one "
        '<input type="range" class="products" min="0" max="0" value="0" step="1"></label>'
        '<span class="count soft"></span></div></div>'
    )
    body = f'{stage if live else ""}<p class="note">{axes}</p><div class="maps">{figures}</div>'
    return f"{head}{body}{_products(shown)}{_by_hand(shown)}</details>"


def _ratio(shown: Shown) -> str:
    return f"{1 << (len(shown.bits) - shown.rows)}/{1 << shown.rows}"


def _axis(bits: Sequence[str]) -> str:
    return ", ".join(bits) if bits else "nothing"


def _figure(k: int, shown: Shown, *, small: bool) -> str:
    assert shown.values is not None  # noqa: S101 (who calls has asked)
    values, name = shown.values[k], html.escape(shown.outputs[k])
    if small:
        cubes = [cube for cube, owners in shown.cubes or () if owners[k] == "1"]
        drawn = karnaugh(values, shown.rows, shown.bits, cubes)
        drawn = drawn.replace("<svg ", f'<svg data-bit="{k}" ', 1)
    else:
        drawn = (
            f'<img data-bit="{k}" alt="map of {name}: dark where it is 1" '
            f'src="{picture(values, shown.rows)}" style="aspect-ratio:{_ratio(shown)}">'
        )
    return f"<figure>{drawn}<figcaption>{name}</figcaption></figure>"


def _products(shown: Shown) -> str:
    if not shown.cubes:
        return ""
    lines = [f"{cube} {owners}" for cube, owners in shown.cubes[:MOST_LISTED]]
    more = len(shown.cubes) - len(lines)
    rest = f"\n… and {more} more" if more > 0 else ""
    head = html.escape(f"{' '.join(shown.bits)} → {' '.join(shown.outputs)}")
    return (
        f"<details><summary>Its products: {len(shown.cubes)}</summary><p class='note'>{head}</p>"
        '<pre tabindex="0" role="region" aria-label="products">'
        f"{html.escape(chr(10).join(lines))}{rest}</pre></details>"
    )


def _by_hand(shown: Shown) -> str:
    """Return Quine and McCluskey's steps for every output, where there are few inputs."""
    if shown.values is None or len(shown.bits) > MOST_INPUTS:
        return ""
    folds = []
    for name, values in zip(shown.outputs, shown.values, strict=True):
        on, free = ([int(k) for k in np.flatnonzero(values == one)] for one in (1, 2))
        steps = minimised(len(shown.bits), on, free)
        folds.append(
            f"<details><summary>{html.escape(name)} by hand: Quine and McCluskey's steps</summary>"
            f'<div class="steps">{steps_text(steps, shown.bits)}</div></details>'
        )
    return "".join(folds)


def steps_text(steps: Steps, bits: Sequence[str]) -> str:
    """Return the steps of a minimising as HTML, a section each."""
    found = [_minterms(steps, bits)]
    found += [_round(steps, k) for k in range(1, len(steps.rounds))]
    found += [_chart(steps), _taken(steps, bits)]
    return "".join(f'<section class="step">{text}</section>' for text in found)


def _minterms(steps: Steps, bits: Sequence[str]) -> str:
    free = f"; either will do: {_listed(steps.free)}" if steps.free else ""
    text = (
        f"<h4>Minterms by weight</h4><p>{html.escape(', '.join(bits))} make a number, the first "
        f"the highest bit. It must be 1 at {_listed(steps.on)}{free}. They are written down in "
        "groups of equally many ones; a tick says that one merges with a neighbour in the next "
        "group.</p>"
    )
    return text + (_groups(steps.rounds[0]) if steps.rounds else "")


def _round(steps: Steps, k: int) -> str:
    return (
        f"<h4>Merging, round {k}</h4><p>Two that differ in one digit become one with – there. What "
        f"has no tick cannot merge any more: it is prime.</p>{_groups(steps.rounds[k])}"
    )


def _groups(groups: Iterable[Any]) -> str:
    rows = []
    for group in groups:
        for k, row in enumerate(group):
            weight = f'<th scope="rowgroup" rowspan="{len(group)}">{row.cube.count("1")}</th>'
            tick = "✓" if row.merged else "prime"
            kind = "merged" if row.merged else "prime"
            rows.append(
                f'<tr class="{kind}">{weight if not k else ""}<td>{_listed(row.minterms)}</td>'
                f"<td><code>{row.cube}</code></td><td>{tick}</td></tr>"
            )
    return (
        '<div class="scrolls" role="group" tabindex="0" aria-label="groups"><table><thead><tr>'
        '<th scope="col">ones</th><th scope="col">minterms</th><th scope="col">digits</th>'
        f'<th scope="col"></th></tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
    )


def _chart(steps: Steps) -> str:
    head = "".join(f'<th scope="col">{k}</th>' for k in steps.on)
    rows = []
    for p, (prime, held) in enumerate(zip(steps.primes, steps.chart, strict=True)):
        marks = []
        for c, one in enumerate(held):
            alone = one and sum(row[c] for row in steps.chart) == 1
            marks.append(f"<td>{'⊗' if alone else '×' if one else ''}</td>")
        kind = "essential" if p in steps.essential else ""
        rows.append(
            f'<tr class="{kind}"><th scope="row"><code>{prime}</code></th>{"".join(marks)}</tr>'
        )
    return (
        "<h4>Primes, and what they hold</h4><p>A minterm with one cross in its column (⊗) leaves "
        "no choice: its prime is essential.</p>"
        '<div class="scrolls" role="group" tabindex="0" aria-label="primes"><table class="chart-of-'
        f'primes"><thead><tr><th scope="col">prime</th>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _taken(steps: Steps, bits: Sequence[str]) -> str:
    essential = ", ".join(f"<code>{steps.primes[p]}</code>" for p in steps.essential) or "none"
    rest = [p for p in steps.cover if p not in steps.essential]
    added = ", ".join(f"<code>{steps.primes[p]}</code>" for p in rest) or "none is needed"
    cover = [steps.primes[p] for p in steps.cover]
    formula = html.escape(formula_of(cover, bits))
    values = np.zeros(1 << steps.inputs, np.uint8)
    values[list(steps.free)], values[list(steps.on)] = 2, 1
    drawn = karnaugh(values, split(steps.inputs, [1] * steps.inputs), bits, cover)
    return (
        f"<h4>The cover</h4><p>Essential: {essential}. For what they leave, as few others as can "
        f"be: {added}.</p><p>{counted(len(cover), 'product')}: <code>{formula}</code></p>{drawn}"
    )


def formula_of(cubes: Sequence[str], bits: Sequence[str]) -> str:
    """Return products as a formula: a' is not a."""
    if not cubes:
        return "0"
    products = []
    for cube in cubes:
        letters = [
            f"{name}{'' if digit == '1' else chr(39)}"
            for name, digit in zip(bits, cube, strict=True)
            if digit != "-"
        ]
        products.append(" ".join(letters) or "1")
    return " + ".join(products)


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers)) or "nothing"
