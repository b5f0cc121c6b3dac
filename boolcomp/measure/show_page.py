"""Interactive pages of programs and truth tables.

Pages also show an initial state, all tables and all maps without scripts.
"""

from __future__ import annotations

import base64
import html
import struct
import zlib
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.base.errors import BoolcompError, DataError, UsageError, mass_text, short, short_above
from boolcomp.base.pages import Column, Fact, Markup, Page, PageSection, Table, Text, page_text
from boolcomp.logic.network import CONSTANTS
from boolcomp.logic.simulation import chunks, simulate_network
from boolcomp.measure import show_scripts
from boolcomp.measure import show_scripts as pictures
from boolcomp.measure.show_scripts import (
    HEIGHT,
    MOST_INPUTS,
    WIDTH,
    arm_steps,
    arm_values,
    data,
    in_script,
    minimised,
    module,
    shown_trajectory,
    still,
    straight_function,
    view_of,
)
from boolcomp.measure.solved import solved_problem
from boolcomp.problem.functions import function_of
from boolcomp.problem.sources import exact_steps
from boolcomp.program.program import NOT_USEFUL
from boolcomp.targets.scripts import export_javascript
from boolcomp.targets.target import ExportOptions, delivered
from boolcomp.twolevel.function import DRAWN, cells, counted, karnaugh
from boolcomp.twolevel.minimisation import minimise

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.codes import Code
    from boolcomp.logic.network import Network
    from boolcomp.measure.show_scripts import QuineSteps, ShownTrajectory
    from boolcomp.problem.problem import Problem
    from boolcomp.problem.robot.model import Robot
    from boolcomp.problem.sources import Source
    from boolcomp.program.program import CodedOutput, Load, Program, TermUse
    from boolcomp.twolevel.pla import Pla
    from boolcomp.words.graph import WordGraph

    Values = NDArray[np.uint8]
    Floats = NDArray[np.float64]

# --------------------------------------------------------------------------------------------------
# Maps of truth tables with many inputs as pictures: a pixel is a cell (see `twolevel.karnaugh`).
# --------------------------------------------------------------------------------------------------


MOST = 18  # inputs of a map
WHITE, INK, FREE = (255, 255, 255, 0), (52, 64, 78, 255), (175, 185, 195, 255)


def split(inputs: int, words: Sequence[int] = ()) -> int:
    """Return the number of bits for rows: those of the first of two words, or half."""
    if len(words) == 2 and max(words) <= 2 * min(words):
        return words[0]
    return inputs // 2


def picture(values: Values, rows: int) -> str:
    """Return a map as a PNG in a data URL: a pixel per cell, dark for 1."""
    found = cells(values, rows)
    high, wide = found.shape
    packed = np.zeros((high, -(-wide // 4)), np.uint8)  # four points of two bits a byte
    for k in range(4):
        part = found[:, k::4]
        packed[:, : part.shape[1]] |= part.astype(np.uint8) << (6 - 2 * k)
    lines = np.concatenate([np.zeros((high, 1), np.uint8), packed], axis=1).tobytes()
    colours = (WHITE, INK, FREE)
    data = b"\x89PNG\r\n\x1a\n" + b"".join([
        _chunk(b"IHDR", struct.pack(">IIBBBBB", wide, high, 2, 3, 0, 0, 0)),
        _chunk(b"PLTE", b"".join(bytes(one[:3]) for one in colours)),
        _chunk(b"tRNS", bytes(one[3] for one in colours)),
        _chunk(b"IDAT", zlib.compress(lines, 9)),
        _chunk(b"IEND", b""),
    ])  # fmt: skip
    return f"data:image/png;base64,{base64.b64encode(data).decode()}"


def _chunk(kind: bytes, data: bytes) -> bytes:
    body = kind + data
    return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))


# --------------------------------------------------------------------------------------------------
# Truth tables on a page: maps with products, and minimisation of small ones by hand.
# --------------------------------------------------------------------------------------------------


MOST_LISTED = 400  # products in a list


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """A table on a page: title, note, bits, words, outputs, values and products.

    `words` are (name, bits of the table, place among the program's inputs, leading bits, bits left
    out). `values` has 2 for don't-cares. `cubes` are products with a letter per output.
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
        return split(len(self.bits), [bits for _, bits, *_ in self.words])


def term_shown(program: Program, term: ShownTerm) -> Shown:
    """Return a term of a program as a table on a page."""
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
        note += " Signs or sums of angles are outside of its table: it is not a sum of products."
    elif term.cubes is None:
        note += " It has too many products to show."
    outputs = tuple(f"bit {k}" for k in range(term.outputs))
    return Shown(
        f"{term.uses[0]}{same}: {term.text}", note, tuple(bits), tuple(words), outputs,
        term.tables, term.cubes, size,
    )  # fmt: skip


def script_values(shown: Shown) -> dict[str, Any]:
    return {
        "inputs": len(shown.bits),
        "rows": shown.rows,
        "words": [[name, bits, place, lead, drop] for name, bits, place, lead, drop in shown.words],
        "outputs": list(shown.outputs),
        "cubes": None if shown.cubes is None else [list(cube) for cube in shown.cubes],
    }


def draw(place: int, shown: Shown, *, opened: bool, live: bool = True) -> str:
    """Return a table as a folding HTML element: maps, products, steps of minimisation.

    With `live` it has a map for the page's script.
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
        f"{html.escape(_axis(shown.bits[shown.rows :]))}; both in Gray order: adjacent cells "
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
    assert shown.values is not None  # noqa: S101 (checked by the caller)
    values, name = shown.values[k], html.escape(shown.outputs[k])
    if small:
        cubes = [cube for cube, owners in shown.cubes or () if owners[k] == "1"]
        drawn = karnaugh(values, shown.rows, shown.bits, cubes)
        drawn = drawn.replace("<svg ", f'<svg data-bit="{k}" ', 1)
    else:
        drawn = (
            f'<img data-bit="{k}" alt="map of {name}: dark cells are 1" '
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
        f"<details><summary>Products: {len(shown.cubes)}</summary><p class='note'>{head}</p>"
        '<pre tabindex="0" role="region" aria-label="products">'
        f"{html.escape(chr(10).join(lines))}{rest}</pre></details>"
    )


def _by_hand(shown: Shown) -> str:
    """Return the Quine-McCluskey steps for every output, for few inputs."""
    if shown.values is None or len(shown.bits) > MOST_INPUTS:
        return ""
    folds = []
    for name, values in zip(shown.outputs, shown.values, strict=True):
        on, free = ([int(k) for k in np.flatnonzero(values == one)] for one in (1, 2))
        steps = minimised(len(shown.bits), on, free)
        folds.append(
            f"<details><summary>{html.escape(name)} by hand: Quine-McCluskey steps</summary>"
            f'<div class="steps">{steps_text(steps, shown.bits)}</div></details>'
        )
    return "".join(folds)


def steps_text(steps: QuineSteps, bits: Sequence[str]) -> str:
    """Return the steps of a minimisation as HTML sections."""
    found = [_minterms(steps, bits)]
    found += [_round(steps, k) for k in range(1, len(steps.rounds))]
    found += [_chart(steps), _taken(steps, bits)]
    return "".join(f'<section class="step">{text}</section>' for text in found)


def _minterms(steps: QuineSteps, bits: Sequence[str]) -> str:
    free = f"; don't-cares: {_listed(steps.free)}" if steps.free else ""
    text = (
        f"<h4>Minterms by weight</h4><p>{html.escape(', '.join(bits))} form a number; the first is "
        f"the highest bit. The function is 1 at {_listed(steps.on)}{free}. Minterms are grouped by "
        "their number of ones; a tick marks those that merge with one in the next group.</p>"
    )
    return text + (_groups(steps.rounds[0]) if steps.rounds else "")


def _round(steps: QuineSteps, k: int) -> str:
    return (
        f"<h4>Merging, round {k}</h4><p>Two rows that differ in one digit merge into a row with – "
        f"for that digit. A row without a tick is prime.</p>{_groups(steps.rounds[k])}"
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


def _chart(steps: QuineSteps) -> str:
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
        "<h4>Primes and their minterms</h4><p>If a minterm has only one cross in its column (⊗), "
        "its prime is essential.</p>"
        '<div class="scrolls" role="group" tabindex="0" aria-label="primes"><table class="chart-of-'
        f'primes"><thead><tr><th scope="col">prime</th>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _taken(steps: QuineSteps, bits: Sequence[str]) -> str:
    essential = ", ".join(f"<code>{steps.primes[p]}</code>" for p in steps.essential) or "none"
    rest = [p for p in steps.cover if p not in steps.essential]
    added = ", ".join(f"<code>{steps.primes[p]}</code>" for p in rest) or "none is needed"
    cover = [steps.primes[p] for p in steps.cover]
    formula = html.escape(formula_of(cover, bits))
    values = np.zeros(1 << steps.inputs, np.uint8)
    values[list(steps.free)], values[list(steps.on)] = 2, 1
    drawn = karnaugh(values, split(steps.inputs, [1] * steps.inputs), bits, cover)
    return (
        f"<h4>The cover</h4><p>Essential: {essential}. Fewest primes for the other minterms: "
        f"{added}.</p><p>{counted(len(cover), 'product')}: <code>{formula}</code></p>{drawn}"
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


# --------------------------------------------------------------------------------------------------
# The model of a program on a page: words, logic and exact outputs, as JSON and functions.
# --------------------------------------------------------------------------------------------------


MOST_NODES = 120_000  # gates on a page: 7 or 13 bytes each, as text a third more
CHECKED, NEAR = 200, 1e-9  # states and tolerance of the comparison of steps with the reference


@dataclass(frozen=True, slots=True, eq=False)
class ShownProgram:
    """A program with one payload, and its problem, robot and function (`of`) if known."""

    program: Program
    load: Load
    problem: Problem | None = None
    robot: Robot | None = None
    of: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for group in self.program.groups for name in group.members)


def shown_program(
    program: Program, source: Source | None, payload: float | None = None
) -> ShownProgram:
    """Return a program to show, with exact values and an arm if its robot or function is known."""
    chosen = program.load(payload)
    if source is None:
        return ShownProgram(program, chosen)
    problem, robot = solved_problem(program, "the program", source, chosen.payload)
    outputs = tuple(one.name for one in chosen.outputs)
    if problem.groups != program.groups or problem.returned.members != outputs:
        raise UsageError(
            f"{problem.name} has other inputs or outputs than the program", "use --robot"
        )
    of = "" if robot is None else function_of(program.name, robot.name)
    return ShownProgram(program, chosen, problem, robot, of)


def code_values(code: Code) -> dict[str, Any]:
    """Return the parameters of a code for the script."""
    raised, base = code.centred
    return {
        "steps": [step.name for step in code.steps], "bits": code.bits, "low": code.low,
        "step": code.step,
        "cells": code.cells, "wraps": code.wraps, "tread": code.tread, "first": code.first,
        "raised": raised, "base": base,
    }  # fmt: skip


def model_values(subject: ShownProgram) -> dict[str, Any]:
    """Return inputs, outputs and gates as JSON values."""
    program = subject.program
    places = {name: k for k, name in enumerate(subject.names)}
    return {
        "name": program.name,
        "groups": [
            {"name": group.name, "places": [places[name] for name in group.members]}
            for group in program.groups
        ],
        "inputs": _inputs(subject),
        "read": [places[word.name] for word in program.inputs],
        "outputs": [_output(one) for one in subject.load.outputs],
        "gates": gates_values(delivered(program, subject.load.payload)),
    }


def _inputs(subject: ShownProgram) -> list[dict[str, Any]]:
    program, problem = subject.program, subject.problem
    words = {word.name: word for word in program.inputs}
    stops = {stop.name: stop.range for stop in program.stops}
    known = {one.name: one for one in problem.inputs} if problem else {}
    found = []
    for name in subject.names:
        word, one = words.get(name), known.get(name)
        span = stops.get(name) or (one.range if one else word.code.range if word else None)
        low, high = (span.low, span.high) if span else (0.0, 0.0)
        found.append({
            "name": name,
            "unit": one.unit if one else word.unit if word else "",
            "low": low,
            "high": high,
            "code": code_values(word.code) if word else None,
            "exact": bool(one and one.exact),
        })  # fmt: skip
    return found


def _output(output: CodedOutput) -> dict[str, Any]:
    known = output.errors
    return {
        "name": output.name,
        "symbol": output.symbol,
        "unit": output.unit,
        "code": code_values(output.code),
        "low": output.code.range.low,
        "high": output.code.range.high,
        "bound": None if output.bound_note else output.bound,
        "worst": known.worst_found if known else None,
    }


def gates_values(network: Network) -> dict[str, Any]:
    """Return a network as base64 arrays: tables, and three operands per node."""
    count = len(network.nodes)
    if count > MOST_NODES:
        raise DataError(
            f"{count} nodes are too many for a page", f"at most {MOST_NODES} are allowed"
        )
    wide = CONSTANTS + network.inputs + count > np.iinfo(np.uint16).max
    operands = np.zeros((count, 3), "<u4" if wide else "<u2")
    for k, node in enumerate(network.nodes):
        operands[k, : len(node.operands)] = node.operands
    return {
        "inputs": network.inputs,
        "outputs": list(network.outputs),
        "wide": wide,
        "luts": _text(np.array([node.lut for node in network.nodes], np.uint8)),
        "operands": _text(operands),
    }


def _text(array: np.ndarray[Any, Any]) -> str:
    return base64.b64encode(array.tobytes()).decode()


def words_function(subject: ShownProgram) -> str:
    """Return the exported module's function of words as `const words`; null in paper mode."""
    if subject.load.graph is None:
        return "const words = null;"
    files = export_javascript(subject.program, subject.load.payload, ExportOptions("words"))
    ((name, text),) = files.items()
    assert isinstance(text, str)  # noqa: S101 (a module is text)
    called = name.removesuffix(".mjs")
    body = text.replace(f"export function {called}(", f"function {called}(")
    return f"const words = (() => {{\n{body}return {called};\n}})();"


def exact_function(subject: ShownProgram) -> tuple[str, str]:
    """Return the exact outputs as `const exact`, and a reason if there are none."""
    none = "const exact = null;"
    if subject.problem is None:
        return none, "its robot or function is unknown"
    try:
        steps = exact_steps(subject.problem, subject.robot, subject.of)
    except BoolcompError as error:
        return none, str(error)
    if steps is None or not _agree(steps, subject.problem):
        return none, "its reference is not a straight-line program"
    return "const exact = " + straight_function("exactly", subject.names, steps) + ";", ""


def _agree(steps: Any, problem: Problem) -> bool:
    """Compare steps with the reference on random states."""
    states = np.concatenate(problem.draw(CHECKED, 0), axis=1)
    if any(one.exact for one in problem.inputs):
        return True  # reference and page both round such states to the middles of cells
    wanted = problem.exact(states)
    columns = dict(zip((one.name for one in problem.inputs), states.T, strict=True))
    found = np.stack(steps.evaluate([columns[name] for name in steps.inputs]), axis=1)
    return bool(np.abs(found - wanted).max() <= NEAR * max(1.0, np.abs(wanted).max()))


# --------------------------------------------------------------------------------------------------
# Terms of paper mode: truth tables and products.
#
# A saved program has the logic of a term, but not its cover. If the logic is AND and OR of
# literals, the products are derived from it and compared with its truth tables.
# --------------------------------------------------------------------------------------------------


MOST_CUBES = 6000  # of a term: more are neither counted nor shown


@dataclass(frozen=True, slots=True)
class ShownTerm:
    """A network of a program and its uses, with tables and products if small enough.

    `words` are (place among the program's inputs, leading bits, bits not read).
    """

    network: int
    uses: tuple[str, ...]
    text: str
    words: tuple[tuple[int, int, int], ...]
    inputs: int
    outputs: int
    nodes: int
    tables: NDArray[np.uint8] | None
    cubes: tuple[tuple[str, str], ...] | None


def terms_of(program: Program, outputs: Sequence[CodedOutput]) -> list[ShownTerm]:
    """Return every network of a program in paper mode once, in the order of its terms."""
    found: dict[int, list[TermUse]] = {}
    for use in (use for output in outputs for use in output.terms):
        found.setdefault(use.network, []).append(use)
    return [_term(program, network, uses) for network, uses in found.items()]


def _term(program: Program, place: int, uses: Sequence[TermUse]) -> ShownTerm:
    network, first = program.networks[place], uses[0]
    tables = tables_of(network) if network.inputs <= MOST else None
    return ShownTerm(
        place,
        tuple(use.name for use in uses),
        first.text,
        tuple((word.input, word.bits, word.dropped) for word in first.words),
        network.inputs,
        len(network.outputs),
        len(network.nodes),
        tables,
        None if tables is None else cubes_of(network, tables),
    )


def tables_of(network: Network) -> NDArray[np.uint8]:
    """Return a network's truth tables, (outputs, minterms)."""
    parts = []
    for _, planes in chunks(network.inputs):
        words = np.stack(simulate_network(network, planes)).astype("<u8")
        parts.append(np.unpackbits(words.view(np.uint8), axis=1, bitorder="little"))
    return np.concatenate(parts, axis=1)[:, : 1 << network.inputs]


def cubes_of(network: Network, tables: NDArray[np.uint8]) -> tuple[tuple[str, str], ...] | None:
    """Return the products of a network of AND and OR as rows of a PLA; None for other networks.

    They are compared with its truth tables.
    """
    owners: dict[tuple[int, int], int] = {}
    reader = _Products(network)
    for output, signal in enumerate(network.outputs):
        cubes = reader.of(signal)
        if cubes is None:
            return None
        for cube in cubes:
            owners[cube] = owners.get(cube, 0) | 1 << output
    if len(owners) > MOST_CUBES:
        return None
    rows = tuple(sorted(_term_row(network, *cube, owner) for cube, owner in owners.items()))
    return rows if np.array_equal(_rasterised(rows, network), tables) else None


def _term_row(network: Network, ones: int, zeros: int, owner: int) -> tuple[str, str]:
    letters = (
        "1" if ones >> k & 1 else "0" if zeros >> k & 1 else "-" for k in range(network.inputs)
    )
    return "".join(letters), "".join("01"[owner >> k & 1] for k in range(len(network.outputs)))


def _rasterised(rows: Sequence[tuple[str, str]], network: Network) -> NDArray[np.uint8]:
    shape = (2,) * network.inputs
    made = np.zeros((len(network.outputs), *shape), np.uint8)
    for cube, owner in rows:
        where = tuple(slice(None) if letter == "-" else int(letter) for letter in cube)
        for k, letter in enumerate(owner):
            if letter == "1":
                made[(k, *where)] = 1
    return made.reshape(len(network.outputs), -1)


Cube = tuple[int, int]  # bit masks of the inputs that are 1 and of those that are 0


class _Products:
    """Expands signals of a network into products of literals, with a cache."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.known: dict[int, frozenset[Cube] | None] = {}

    def of(self, signal: int) -> frozenset[Cube] | None:
        """Return a signal's products; None if a node other than an input is inverted."""
        if signal < CONSTANTS:
            return frozenset([(0, 0)] * signal)
        place = signal - CONSTANTS
        if place < self.network.inputs:
            return frozenset([(1 << place, 0)])
        if signal not in self.known:
            for k in self._below(signal):
                self.known[k] = self._expanded(k)
        return self.known[signal]

    def _below(self, signal: int) -> Iterator[int]:
        """Yield a node and its unexpanded fan-in, in order."""
        first = CONSTANTS + self.network.inputs
        needed, waiting = {signal}, [signal]
        while waiting:
            for k in self.network.nodes[waiting.pop() - first].operands:
                if k >= first and k not in needed and k not in self.known:
                    needed.add(k)
                    waiting.append(k)
        yield from sorted(needed)

    def _expanded(self, signal: int) -> frozenset[Cube] | None:
        first = CONSTANTS + self.network.inputs
        lut, operands = self.network.nodes[signal - first]
        total: set[Cube] = set()
        for product in _sum_of_products(lut, len(operands)):
            made: set[Cube] = {(0, 0)}
            for operand, letter in zip(operands, product, strict=True):
                if letter == "-":
                    continue
                if letter == "0" and operand >= first:
                    return None
                factors = self.of(operand)
                if letter == "0":
                    factors = frozenset([(0, 1 << (operand - CONSTANTS))])
                if factors is None:
                    return None
                made = {(a | c, b | d) for a, b in made for c, d in factors}
                if len(made) > MOST_CUBES:
                    return None
            total |= {(a, b) for a, b in made if not a & b}
        return frozenset(total) if len(total) <= MOST_CUBES else None


@cache
def _sum_of_products(lut: int, operands: int) -> tuple[str, ...]:
    """Return a node's table as products over its operands."""
    rows = [k for k in range(1 << operands) if lut >> (k << (3 - operands)) & 1]
    steps = minimised(operands, rows)
    return tuple(steps.primes[p] for p in steps.cover)


# --------------------------------------------------------------------------------------------------
# The workbench as HTML: the arm, sliders for every input, outputs by logic and exact ones.
# --------------------------------------------------------------------------------------------------


RESTING = ("qd", "qdd", "qddr", "e", "de")  # groups that are zero at rest


@dataclass(frozen=True, slots=True, eq=False)
class WorkbenchParts:
    """A workbench: values and functions for the script, and its parts as HTML.

    `why` is the reason for missing exact values, or empty.
    """

    values: dict[str, Any]
    functions: dict[str, str]
    why: str
    desk: str
    strips: str
    slice: str


def bench_of(subject: ShownProgram) -> WorkbenchParts:
    """Return the workbench of a program."""
    values = model_values(subject)
    exact, why = exact_function(subject)
    groups = [(group.name, group.members) for group in subject.program.groups]
    ranges = {one["name"]: (one["low"], one["high"]) for one in values["inputs"]}
    trajectory = shown_trajectory(groups, ranges)
    start = _start(subject, trajectory)
    known = not why
    values |= {
        "start": start.tolist(),
        "trajectory": {
            "period": trajectory.period,
            "waves": [[w.centre, w.size, w.times, w.phase] for w in trajectory.waves],
        },
        "follows": _follows(subject),
        "points": show_scripts.POINTS,
        "strip": [
            show_scripts.CURVE_WIDE,
            show_scripts.CURVE_HIGH,
            show_scripts.ERRORS,
            show_scripts.GAP,
        ],
    }
    functions = {"exact": exact, "points": "const points = null;"}
    picture = ""
    if subject.robot is not None and "q1" in subject.names:
        picture, functions["points"] = _arm(subject, values, dict(zip(ranges, start, strict=True)))
    made, wanted = _outputs(subject, start[None, :], exact=known)
    desk = (
        f'<div class="desk{"" if picture else " armless"}">{picture}<div class="hands">'
        f"{_buttons(subject, trajectory)}{_readout(subject, made[0], wanted)}"
        f"</div></div>{_sliders(values)}"
    )
    made, wanted = _outputs(subject, trajectory.states(show_scripts.POINTS), exact=known)
    drawn = (
        show_scripts.draw_output(
            k, one, made[:, k], None if wanted is None else wanted[:, k], trajectory.period
        )
        for k, one in enumerate(subject.load.outputs)
    )
    strips = f'<div class="strips">{"".join(drawn)}</div>'
    return WorkbenchParts(values, functions, why, desk, strips, _slice(subject))


def _start(subject: ShownProgram, trajectory: ShownTrajectory) -> Floats:
    """Return the initial state: a bent arm at rest."""
    first: Floats = trajectory.states(1)[0]
    moving = any(group.name == "q" for group in subject.program.groups)
    place = 0
    for group in subject.program.groups:
        for _ in group.members:
            if group.name in RESTING and moving:
                first[place] = 0.0
            elif not moving:
                first[place] = trajectory.waves[place].centre
            place += 1
    return first


def _follows(subject: ShownProgram) -> list[list[int]]:
    """Return the inputs that move with each single joint (or input)."""
    groups = subject.program.groups
    joints = next((group.size for group in groups if group.name == "q"), 0)
    if not joints:
        return [[k] for k in range(len(subject.names))]
    places = {name: k for k, name in enumerate(subject.names)}
    return [
        [places[group.members[k]] for group in groups if group.size == joints]
        for k in range(joints)
    ]


def _outputs(subject: ShownProgram, states: Floats, *, exact: bool) -> tuple[Floats, Floats | None]:
    """Return outputs by logic, and exact ones if known."""
    ends = np.cumsum([group.size for group in subject.program.groups])[:-1]
    arrays = np.split(states, ends, axis=1)
    payload = subject.load.payload
    made = subject.program.evaluate(*arrays, payload=payload, engine="numpy").values
    wanted = subject.problem.exact(states) if exact and subject.problem else None
    return np.asarray(made, np.float64), wanted


def _arm(
    subject: ShownProgram, values: dict[str, Any], posture: dict[str, float]
) -> tuple[str, str]:
    robot = subject.robot
    assert robot is not None  # noqa: S101 (checked by the caller)
    steps = arm_steps(robot)
    view = view_of(robot, steps)
    places = {name: k for k, name in enumerate(subject.names)}
    names = [f"q{k}" for k in range(1, robot.joints + 1)]
    torques = [f"tau{k}" for k in range(1, robot.joints + 1)]
    outputs = {one.name: k for k, one in enumerate(subject.load.outputs)}
    values["arm"] = {
        **arm_values(robot, view),
        "inputs": [places[name] for name in names],
        "outputs": [outputs[name] for name in torques] if set(torques) <= set(outputs) else None,
    }
    turn = "" if view.flat else " Drag the ground or use the arrow keys to turn the view."
    picture = (
        f'<figure class="arm"><svg id="arm-picture" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" '
        f'tabindex="0" role="img" aria-label="{html.escape(robot.name)}, drawn from its '
        f'kinematics">{still(robot, view, steps, posture)}</svg><figcaption>Drag a joint or the '
        f"tip. An arc around a joint shows its torque as a share of its range.{turn}</figcaption>"
        "</figure>"
    )
    return picture, "const points = " + straight_function("places", names, steps) + ";"


def _buttons(subject: ShownProgram, trajectory: ShownTrajectory) -> str:
    noun = "joint" if any(group.name == "q" for group in subject.program.groups) else "input"
    alone = len(_follows(subject))
    names = [f"{noun} {k}" for k in range(1, alone + 1)]
    if noun == "input":
        names = list(subject.names)
    options = "".join(
        f'<option value="{k}">{html.escape(name)} alone</option>' for k, name in enumerate(names)
    )
    return (
        '<div class="play"><button type="button" id="play" aria-pressed="false">Play</button>'
        '<label>along <select id="trajectory"><option value="-1">'
        f"a trajectory of all {noun}s</option>{options if alone > 1 else ''}</select></label>"
        '<input type="range" id="time" min="0" max="1" step="any" value="0" '
        'aria-label="time on the trajectory">'
        f'<span id="clock" class="soft">period {trajectory.period:.1f} s</span>'
        f'<button type="button" id="rest">{"At rest" if noun == "joint" else "Middle"}</button>'
        '<button type="button" id="chance">Any state</button>'
        '<span id="rate" class="soft"></span></div>'
    )


def _readout(subject: ShownProgram, made: Floats, wanted: Floats | None) -> str:
    """Return the table of outputs: exact, by logic, error and bound."""
    heads = [
        ("", "output"), ("exact", "double precision, Newton and Euler or the function itself"),
        ("logic", "by the program's logic, in JavaScript"), ("word", "the output's code word"),
        ("error", "logic minus exact"), ("LSB", "the error in steps of the output's word"),
        ("error / bound", "the width is ± the bound (without one, the largest error found)"),
        ("bound", "proved for all states within range"),
        ("most yet", "the largest error of all states that this page has shown"),
    ]  # fmt: skip
    head = "".join(f'<th scope="col" title="{tip}">{name}</th>' for name, tip in heads)
    rows = []
    for k, one in enumerate(subject.load.outputs):
        exact = None if wanted is None else float(wanted[0, k])
        rows.append(_output_row(k, one, float(made[k]), exact))
    same = ""
    if subject.load.graph is not None:
        same = (
            '<p class="note">Words and gates are calculated separately and compared: '
            '<b id="agree">–</b>.</p>'
        )
    return (
        '<div class="scrolls" role="group" tabindex="0" aria-label="outputs">'
        f'<table class="readout">'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>{same}"
    )


def _output_row(k: int, output: CodedOutput, value: float, exact: float | None) -> str:
    code = output.code
    word = int(code.encode(np.array([value])).words[0])
    unit = html.escape(output.unit)
    cells = {
        "exact": "–" if exact is None else short(exact, 4),
        "logic": short(value, 4),
        "word": format(word, f"0{code.bits}b"),
        "error": "–" if exact is None else short(value - exact, 3),
        "steps": "–" if exact is None else f"{(value - exact) / code.step:.2f}",
    }
    found = "".join(f'<td data-cell="{name}">{text}</td>' for name, text in cells.items())
    gauge = '<span class="gauge"><i data-cell="gauge"></i></span>'
    worst = output.errors.worst_found if output.errors else None
    none = NOT_USEFUL if output.bound_note == NOT_USEFUL else "none"
    bound = f"{none}; found {short(worst, 3)}" if worst else none
    if not output.bound_note:
        bound = short_above(output.bound, 3)
    return (
        f'<tr id="output{k}"><th scope="row">{html.escape(output.symbol)} '
        f"<small>{unit}</small></th>{found}<td>{gauge if bound != none else '–'}</td>"
        f'<td>{bound}</td><td data-cell="most">–</td></tr>'
    )


def _sliders(values: dict[str, Any]) -> str:
    """Return sliders for all inputs, by group."""
    folds = []
    read = set(values["read"])
    for group in values["groups"]:
        rows = "".join(_slider(k, values, read=k in read) for k in group["places"])
        folds.append(f"<fieldset><legend>{html.escape(group['name'])}</legend>{rows}</fieldset>")
    return f'<div class="sliders">{"".join(folds)}</div>'


def _slider(k: int, values: dict[str, Any], *, read: bool) -> str:
    one, value = values["inputs"][k], values["start"][k]
    name, unit = html.escape(one["name"]), html.escape(one["unit"])
    word = f'<code id="bits{k}"></code>' if read else '<small class="soft">not read</small>'
    return (
        f'<div class="slider"><label for="input{k}">{name}</label>'
        f'<input type="range" id="input{k}" min="{one["low"]!r}" max="{one["high"]!r}" step="any" '
        f'value="{value!r}"><output id="value{k}" for="input{k}">{short(value, 4)} {unit}</output>'
        f"{word}</div>"
    )


def _options(names: Sequence[str]) -> str:
    return "".join(f'<option value="{k}">{html.escape(x)}</option>' for k, x in enumerate(names))


def _slice(subject: ShownProgram) -> str:
    """Return the element for slices; the first is over an input that the logic reads."""
    read = {word.name for word in subject.program.inputs}
    first = next((k for k, name in enumerate(subject.names) if name in read), 0)
    options = _options(subject.names).replace(f'value="{first}"', f'value="{first}" selected', 1)
    outputs = [one.symbol for one in subject.load.outputs]
    return (
        '<div class="slice"><div class="play"><label>output <select id="slice-output">'
        f'{_options(outputs)}</select></label><label>over <select id="slice-input">'
        f'{options}</select></label><label><input type="checkbox" id="slice-near"> '
        "near the current state</label></div>"
        '<svg id="slice-picture" viewBox="0 0 640 260" preserveAspectRatio="none" role="img" '
        'aria-labelledby="slice-caption"><rect class="ground" width="640" height="260"/>'
        '<polygon class="band" points=""/><polyline class="logic" points=""/>'
        '<polyline class="exact" points=""/><path class="spot" d=""/></svg>'
        '<p id="slice-caption" class="note">one output over one input</p></div>'
    )


# --------------------------------------------------------------------------------------------------
# Pages of programs and truth tables: sections, scripts, style.
# --------------------------------------------------------------------------------------------------


SCRIPTS = ("core.js", "arm.js", "graph.js", "maps.js", "workbench.js")
EXACTLY = 10.0  # seconds for the proof that a cover of few inputs is minimal
MOST_OUTPUTS = 64  # of a table
MEANINGS = {
    "word": "its place in the graph",
    "stands for": "meaning, without scale factors",
    "bits": "width",
    "seen": "smallest and largest value on some hundred random states",
}


def program_page(subject: ShownProgram) -> str:
    """Return the page of a program."""
    program, load = subject.program, subject.load
    bench = bench_of(subject)
    values = dict(bench.values)
    lead = f'<p class="lead">{html.escape(_lead(subject))}</p>'
    sections = [
        PageSection("Workbench", (Markup(_noscript()), Markup(lead), Markup(bench.desk))),
        PageSection(
            "Along the trajectory", (Text(_strips_note(bench), "note"), Markup(bench.strips))
        ),
        PageSection("One output over one input", (Text(SLICE_NOTE, "note"), Markup(bench.slice))),
    ]
    if load.graph is not None:
        sections += _graph_sections(subject, load.graph, values)
    else:
        sections.append(_terms_section(subject, values))
    sections.append(
        PageSection("What this page is", (Markup(_about(subject, bench)),), opened=False)
    )
    functions = {"words": words_function(subject), **bench.functions}
    title = f"{program.name}: {program.bits} bits, {program.mode} mode"
    return _page(title, tuple(sections), values, functions)


def _page(
    title: str,
    sections: tuple[PageSection, ...],
    values: Mapping[str, Any],
    functions: Mapping[str, str],
) -> str:
    logic = [module("core.js"), *functions.values()]
    logic.append(f"Boolcomp.functions = {{ {', '.join(functions)} }};")
    texts = ["\n".join(logic), *(module(name) for name in SCRIPTS[1:]), module("main.js")]
    # The values are in a separate element, so that tests can run the page's scripts under Node.
    model = f'<script type="application/json" id="model">{data(values)}</script>'
    script = "</script>\n<script>\n".join(map(in_script, texts))
    page = Page(title, sections=sections, script=script, style=module("show.css"))
    text = page_text(page)
    at = text.index("</main>") + len("</main>")
    return f"{text[:at]}\n{model}{text[at:]}"


SLICE_NOTE = (
    "All other inputs are constant. The steps show the logic, the line is exact, and the width of "
    "the band is the proved bound. Drag in the picture to move the input."
)


def _noscript() -> str:
    return (
        '<noscript><p class="note">Scripts are off: pictures, tables and maps are static.</p>'
        "</noscript>"
    )


def _lead(subject: ShownProgram) -> str:
    program = subject.program
    network = program.networks
    nodes = sum(len(one.nodes) for one in network)
    what = (
        f"{nodes} LUT3 nodes"
        if program.mode == "compact"
        else f"{nodes} LUT3 nodes without adders, in {len(network)} tables"
    )
    title = subject.robot.title if subject.robot is not None else ""
    head = f"{title}. " if title and not title.endswith(".") else f"{title} " if title else ""
    load = (
        f" with a payload of {mass_text(subject.load.payload)} kg" if subject.load.payload else ""
    )
    return (
        f"{head}{len(subject.load.outputs)} {program.plural} of {len(program.inputs)} input words"
        f"{load}, by {what}. This logic runs in your browser and is compared with exact values."
    )


def _strips_note(bench: WorkbenchParts) -> str:
    if bench.why:
        return f"Outputs by logic, without exact values: {bench.why}."
    return (
        "Top: the output; the steps show the logic, the line is exact. Bottom: the error of the "
        "logic, between the lines of its proved bound, if there is one."
    )


def _graph_sections(
    subject: ShownProgram, graph: WordGraph, values: dict[str, Any]
) -> Iterator[PageSection]:
    known = pictures.graph_values(subject, graph)
    values["graph"] = known
    note = (
        "Every box is a word, and a line leads to a box that reads it. Two lines of one colour "
        "into a sum are a product. The bar below a box shows the value of its word. Boxes of "
        "outputs show the digits of the output word, others a number."
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
        "word to see its meaning; click it to see its logic.</p></aside></div>"
    )
    yield PageSection("The word graph", (Text(note, "note"), Markup(frame)))
    if known is None:
        return
    heads, rows = pictures.words_table(known, [one.symbol for one in subject.load.outputs])
    budget = "approximate contribution of its rounding to the output's rms error, in LSB"
    columns = [
        Column(head, MEANINGS.get(head, budget if "budget" in head else "")) for head in heads
    ]
    yield PageSection("All words", (Table(columns, rows),), opened=False)


def _terms_section(subject: ShownProgram, values: dict[str, Any]) -> PageSection:
    terms = terms_of(subject.program, subject.load.outputs)
    shown = [term_shown(subject.program, term) for term in terms]
    values["tables"] = [script_values(one) for one in shown]
    note = (
        "Every term is a truth table over Gray words, a sum (OR) of products (AND). Open a term "
        "to see where each bit is 1, and the position of the current state."
    )
    drawn = "".join(draw(k, one, opened=not k) for k, one in enumerate(shown))
    return PageSection("Terms, their tables and products", (Text(note, "note"), Markup(drawn)))


def _about(subject: ShownProgram, bench: WorkbenchParts) -> str:
    facts = [
        Fact("program", f"{subject.program.name}, {subject.program.mode} mode"),
        Fact("specification", subject.program.demand or f"{subject.program.bits} bits"),
        Fact("inputs", "; ".join(map(str, subject.program.inputs))),
    ]
    if subject.problem is not None:
        facts += [Fact("notes", note) for note in subject.problem.notes]
    listed = "".join(
        f"<dt>{html.escape(one.name)}</dt><dd>{html.escape(one.text)}</dd>" for one in facts
    )
    words = (
        "The logic runs twice: as words (the module written by boolcomp export --to javascript), "
        "and as gates (all nodes of the network). Both must be equal. "
        if subject.load.graph is not None
        else "The logic runs as gates: all nodes of the network, including adders. "
    )
    exact = (
        f"There are no exact values: {bench.why}. "
        if bench.why
        else "Exact values are calculated by the reference, translated to JavaScript and compared "
        "with the original when this page was made. "
    )
    text = html.escape(
        words + exact + "The page loads nothing from the network, and sends nothing."
    )
    return f"<dl>{listed}</dl><p>{text}</p>"


def table_page(name: str, pla: Pla) -> str:
    """Return the page of a truth table: maps, a minimal cover, and its derivation by hand."""
    if pla.inputs > MOST or pla.outputs > MOST_OUTPUTS:
        raise DataError(
            f"{pla.inputs} inputs and {pla.outputs} outputs",
            f"a page has at most {MOST} and {MOST_OUTPUTS}",
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
    proved = "the minimum" if cover.proved else f"at least {cover.lower_bound} are needed"
    found = ((pla.inputs, "input"), (pla.outputs, "output"), (cover.products, "product"))
    size = ", ".join(counted(many, noun) for many, noun in found)
    shown = Shown(
        name, f"Products shared by several outputs count once: {cover.products}, {proved}.",
        tuple(bits), tuple((bit, 1, 0, 0, 0) for bit in bits), tuple(outputs),
        values.astype(np.uint8),
        tuple(cover.cubes.rows()) if cover.products <= MOST_CUBES else None, size,
    )  # fmt: skip
    note = (
        "Shaded cells are 1, dashed cells are don't-cares. A loop is a product: all its cells are "
        "1 or don't-cares. Loops continue across the edges: the first and the last row (column) "
        "are adjacent."
    )
    body = (Markup(_noscript()), Text(note, "note"), Markup(draw(0, shown, opened=True)))
    sections = (PageSection("Maps and products", body),)
    return _page(f"{name}: {size}", sections, {"tables": [script_values(shown)]}, {})


def _column(table: np.ndarray[Any, Any], output: int, inputs: int) -> np.ndarray[Any, Any]:
    """Return an output's column of a dense table as bytes."""
    row = np.ascontiguousarray(table[output]).astype("<u8").view(np.uint8)
    return np.unpackbits(row, bitorder="little")[: 1 << inputs]
