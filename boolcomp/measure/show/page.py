"""The page of a program, and that of a truth table: sections, their scripts, their style."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.base.errors import mass_text
from boolcomp.base.pages import Fact, Page, Section, page_text
from boolcomp.common.errors import DataError
from boolcomp.common.pages.parts import Markup, Text
from boolcomp.common.pages.tables import Column, Table
from boolcomp.measure.show import graph as pictures
from boolcomp.measure.show import tables
from boolcomp.measure.show.maps import MOST
from boolcomp.measure.show.model import words_function
from boolcomp.measure.show.scripts import data, in_script, module
from boolcomp.measure.show.terms import MOST_CUBES, terms_of
from boolcomp.measure.show.workbench import bench_of
from boolcomp.twolevel.karnaugh import counted
from boolcomp.twolevel.minimisation import minimise

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from boolcomp.measure.show.model import Subject
    from boolcomp.measure.show.workbench import Bench
    from boolcomp.twolevel.pla import Pla
    from boolcomp.words.graph import WordGraph

SCRIPTS = ("core.js", "arm.js", "graph.js", "maps.js", "workbench.js")
EXACTLY = 10.0  # seconds for a cover of few inputs to be proved the smallest
MOST_OUTPUTS = 64  # of a table that is shown
MEANINGS = {
    "word": "its place in the graph",
    "stands for": "factors that only scale are left out",
    "bits": "how wide it is",
    "seen": "the least and the largest of some hundred random states",
}


def program_page(subject: Subject) -> str:
    """Return the page of a program."""
    program, load = subject.program, subject.load
    bench = bench_of(subject)
    values = dict(bench.values)
    lead = f'<p class="lead">{html.escape(_lead(subject))}</p>'
    sections = [
        Section("Workbench", (Markup(_noscript()), Markup(lead), Markup(bench.desk))),
        Section("Along the trajectory", (Text(_strips_note(bench), "note"), Markup(bench.strips))),
        Section("One output over one input", (Text(SLICE_NOTE, "note"), Markup(bench.slice))),
    ]
    if load.graph is not None:
        sections += _graph_sections(subject, load.graph, values)
    else:
        sections.append(_terms_section(subject, values))
    sections.append(Section("What this page is", (Markup(_about(subject, bench)),), opened=False))
    functions = {"words": words_function(subject), **bench.functions}
    title = f"{program.name}: {program.bits} bits, {program.mode} mode"
    return _page(title, tuple(sections), values, functions)


def _page(
    title: str,
    sections: tuple[Section, ...],
    values: Mapping[str, Any],
    functions: Mapping[str, str],
) -> str:
    logic = [module("core.js"), *functions.values()]
    logic.append(f"Boolcomp.functions = {{ {', '.join(functions)} }};")
    texts = ["\n".join(logic), *(module(name) for name in SCRIPTS[1:]), module("main.js")]
    # The values stand in an element of their own, so that what runs under Node is the page's text.
    model = f'<script type="application/json" id="model">{data(values)}</script>'
    script = "</script>\n<script>\n".join(map(in_script, texts))
    page = Page(title, sections=sections, script=script, style=module("show.css"))
    text = page_text(page)
    at = text.index("</main>") + len("</main>")
    return f"{text[:at]}\n{model}{text[at:]}"


SLICE_NOTE = (
    "All other inputs stay as they are. The steps are the logic's, the line is exact, the band is "
    "as wide as the proven bound. Drag in the picture to move the input."
)


def _noscript() -> str:
    return (
        '<noscript><p class="note">Scripts are off: pictures, tables and maps are here to be read; '
        "nothing moves.</p></noscript>"
    )


def _lead(subject: Subject) -> str:
    program = subject.program
    network = program.networks
    nodes = sum(len(one.nodes) for one in network)
    what = (
        f"{nodes} nodes of logic with at most three inputs"
        if program.mode == "compact"
        else f"{nodes} nodes of logic before the adders, in {len(network)} tables"
    )
    title = subject.robot.title if subject.robot is not None else ""
    head = f"{title}. " if title and not title.endswith(".") else f"{title} " if title else ""
    load = f" with {mass_text(subject.load.payload)} kg at the tip" if subject.load.payload else ""
    return (
        f"{head}{len(subject.load.outputs)} {program.plural} of {len(program.inputs)} input words"
        f"{load}, by {what}. Below, this very logic runs in your browser, beside exact values."
    )


def _strips_note(bench: Bench) -> str:
    if bench.why:
        return f"Outputs by logic. There are no exact values beside them: {bench.why}."
    return (
        "Above, the output: steps are the logic's, the line is exact. Below, the error of the "
        "logic, between the lines of its proven bound where there is one."
    )


def _graph_sections(
    subject: Subject, graph: WordGraph, values: dict[str, Any]
) -> Iterator[Section]:
    known = pictures.graph_values(subject, graph)
    values["graph"] = known
    note = (
        "Every box is a word; what flows along a line is read by the box on its right. Two lines "
        "of one colour into a sum are a product. The bar below a box is its word's height. "
        "The box of an output has the digits of the word that it gives, others have a number."
    )
    buttons = (
        '<div class="play needs-script"><button type="button" id="graph-fit">Fit</button>'
        '<button type="button" id="graph-in" aria-label="larger">+</button>'
        '<button type="button" id="graph-out" aria-label="smaller">−</button>'
        f'<span class="legend">{pictures.legend(graph)}</span></div>'
    )
    frame = (
        f'{buttons}<div class="graph"><div id="graph-frame" role="group" tabindex="0" '
        f'aria-label="the word graph, which scrolls">{pictures.draw_graph(subject, graph)}</div>'
        '<aside id="word-panel" class="needs-script" aria-live="off"><p class="soft">Point at a '
        "word to see what it is; click it for its logic.</p></aside></div>"
    )
    yield Section("The word graph", (Text(note, "note"), Markup(frame)))
    if known is None:
        return
    heads, rows = pictures.words_table(known, [one.symbol for one in subject.load.outputs])
    said = "what its rounding alone adds to the output's error: about so many LSB, rms"
    columns = [Column(head, MEANINGS.get(head, said if "budget" in head else "")) for head in heads]
    yield Section("All words", (Table(columns, rows),), opened=False)


def _terms_section(subject: Subject, values: dict[str, Any]) -> Section:
    terms = terms_of(subject.program, subject.load.outputs)
    shown = [tables.term_shown(subject.program, term) for term in terms]
    values["tables"] = [tables.script_values(one) for one in shown]
    note = (
        "Every term is a truth table over Gray words, made of products (AND) that are added (OR). "
        "Open one: its maps show where each bit is 1, and where the state above lies on them."
    )
    drawn = "".join(tables.draw(k, one, opened=not k) for k, one in enumerate(shown))
    return Section("Terms, their tables and products", (Text(note, "note"), Markup(drawn)))


def _about(subject: Subject, bench: Bench) -> str:
    facts = [
        Fact("program", f"{subject.program.name}, {subject.program.mode} mode"),
        Fact("asked", subject.program.demand or f"{subject.program.bits} bits"),
        Fact("inputs", "; ".join(map(str, subject.program.inputs))),
    ]
    if subject.problem is not None:
        facts += [Fact("notes", note) for note in subject.problem.notes]
    listed = "".join(
        f"<dt>{html.escape(one.name)}</dt><dd>{html.escape(one.text)}</dd>" for one in facts
    )
    words = (
        "The logic runs twice: as words, which is the module that boolcomp export --to javascript "
        "writes, and as gates, all nodes of the network. They must be equal. "
        if subject.load.graph is not None
        else "The logic runs as gates: all nodes of the network, adders included. "
    )
    exact = (
        f"There are no exact values: {bench.why}. "
        if bench.why
        else "Exact values are the reference's own calculation, printed as JavaScript; it was "
        "compared with the reference when this page was made. "
    )
    text = html.escape(words + exact + "Nothing is loaded from anywhere, and nothing is sent.")
    return f"<dl>{listed}</dl><p>{text}</p>"


def table_page(name: str, pla: Pla) -> str:
    """Return the page of a truth table: its maps, a minimal cover, how one finds it by hand."""
    if pla.inputs > MOST or pla.outputs > MOST_OUTPUTS:
        raise DataError(
            f"{name}: {pla.inputs} inputs and {pla.outputs} outputs; at most {MOST} and "
            f"{MOST_OUTPUTS} can be shown"
        )
    function = pla.function(name)
    cover = minimise(function, "exact" if pla.inputs <= MOST // 2 else "own", EXACTLY)
    dense = function.dense
    values = np.stack([
        _column(dense.on, k, pla.inputs) + 2 * _column(dense.dc, k, pla.inputs)
        for k in range(pla.outputs)
    ]) if pla.outputs else np.zeros((0, 1 << pla.inputs), np.uint8)  # fmt: skip
    bits = pla.input_names or tuple(f"x{k}" for k in range(1, pla.inputs + 1))
    outputs = pla.output_names or tuple(f"y{k}" for k in range(1, pla.outputs + 1))
    proved = "no cover has fewer" if cover.proved else f"at least {cover.lower_bound} are needed"
    found = ((pla.inputs, "input"), (pla.outputs, "output"), (cover.products, "product"))
    size = ", ".join(counted(many, noun) for many, noun in found)
    shown = tables.Shown(
        name, f"Products that several outputs share count once: {cover.products}, {proved}.",
        tuple(bits), tuple((bit, 1, 0, 0, 0) for bit in bits), tuple(outputs),
        values.astype(np.uint8),
        tuple(cover.cubes.rows()) if cover.products <= MOST_CUBES else None, size,
    )  # fmt: skip
    note = (
        "Shaded is 1, dashed either. A loop is a product: all cells in it are 1 (or either). It "
        "goes on behind the edge, for the first and the last row (column) are neighbours."
    )
    body = (Markup(_noscript()), Text(note, "note"), Markup(tables.draw(0, shown, opened=True)))
    page = (Section("Maps and products", body),)
    return _page(f"{name}: {size}", page, {"tables": [tables.script_values(shown)]}, {})


def _column(table: np.ndarray[Any, Any], output: int, inputs: int) -> np.ndarray[Any, Any]:
    """Return an output's column of a dense table as bytes."""
    row = np.ascontiguousarray(table[output]).astype("<u8").view(np.uint8)
    return np.unpackbits(row, bitorder="little")[: 1 << inputs]
