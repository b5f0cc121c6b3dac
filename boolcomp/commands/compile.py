"""`boolcomp compile`: compilation in compact and paper mode, and the printed results."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import click

from boolcomp.base.errors import is_there, listing, missing_package, short, short_above, table
from boolcomp.base.files import check_place
from boolcomp.base.results import ResultColumn, Results, yes
from boolcomp.commands.options import (
    WIDTH,
    FilePath,
    LongHelp,
    completes,
    ends,
    folded,
    json_option,
    option,
    options,
    print_result,
    refuse_others,
    source_argument,
    unchanging,
    wants_all,
)
from boolcomp.commands.output import (
    described,
    error_table,
    figures,
    in_stages,
    in_steps,
    over_loads,
    share,
)
from boolcomp.options import DEMAND, HEADINGS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from boolcomp.commands.output import ProgressShare
    from boolcomp.compact.demand import Progress
    from boolcomp.compact.passes import CompactChoices
    from boolcomp.compact.result import Built, Compact
    from boolcomp.options import GivenOptions
    from boolcomp.paper.covers import TermCover
    from boolcomp.pipeline import CompactCompilation, PaperCompilation
    from boolcomp.problem.problem import Problem
    from boolcomp.problem.robot.model import Robot
    from boolcomp.problem.words import Interval, Output
    from boolcomp.program.program import Program
    from boolcomp.words.graph import WordGraph


# --------------------------------------------------------------------------------------------------
# The command, and paper mode.
# --------------------------------------------------------------------------------------------------


@click.command(
    "compile",
    cls=LongHelp,
    without=HEADINGS["plan"],
    epilog="Example: boolcomp compile machado-2r --bits 8 -o out/2r",
)
@source_argument
@options(
    "function", "payloads", "bits", *DEMAND, "work", "store",
    option(
        "--mode", default="compact", show_default=True, heading="Paper mode", brief=False,
        help="compact: word-level logic. paper: AND/OR product terms of truth tables.",
        metavar="compact|paper", shell_complete=completes("compact paper"),
    ),
    "plan", "minimiser",
    option("-o", "--output", type=FilePath(), help="Folder for the program."),
    json_option,
)  # fmt: skip
@click.pass_context
def command(
    context: click.Context,
    robot: str,
    mode: str,
    *,
    options: GivenOptions,
    output: Path | None,
) -> None:
    """Compile ROBOT (its inverse dynamics, or another function of it) to a logic program.

    A FUNCTION is a TOML file with input words, output words and expressions
    (docs/reference/function-file.md). Words are no wider than the accuracy target requires. Errors
    are sampled, the largest error is searched, and a bound is proved where possible. Results in the
    store are reused. With several payloads, evaluate --payload selects one.
    """
    from boolcomp.pipeline import check_mode
    from boolcomp.problem.sources import load_source

    check_mode(mode)
    refuse_others(context, mode)
    if output is not None:
        check_place(output / "program.json")
    compiled = _compact if mode == "compact" else _paper
    compiled(load_source(robot), options, output)


def _paper(source: Robot | Problem, options: GivenOptions, output: Path | None) -> None:
    from boolcomp.api import compiled_tables

    with share("compiling") as show:
        compiled = compiled_tables(source, options, in_stages(show))
    if output is not None:
        compiled.program.save(output)
    about = described(compiled.program, source, options.of)
    document = {**_paper_document(compiled, output), **about}
    title = _title(source, options.of, compiled.plans[0].options.bits)
    masses = options.values["payloads"]
    note = _note(compiled.seconds, output)
    print_result(document, lambda: f"{title}\n\n{_paper_text(compiled, masses)}", note)
    tables = {term.entry.table: term.stored for covers in compiled.covers for term in covers}
    if any(tables.values()):
        click.echo(
            f"{sum(tables.values())} of {len(tables)} tables read from the store; to minimise "
            "again: --minimizer",
            err=True,
        )


def _note(seconds: float, output: Path | None) -> str:
    if output is None:
        return f"{seconds:.2f} s; nothing was saved: give a folder with -o"
    return (
        f"{seconds:.2f} s, saved in {output}\nnext: boolcomp show {output}\n"
        f"      boolcomp export {output} --to verilog -o {output.name}.v"
    )


def _title(source: Robot | Problem, of: str, bits: int) -> str:
    """Return the title of a result: `machado-2r: inverse-dynamics, 8 bits`."""
    what = "function" if hasattr(source, "reference") else of
    return f"{source.name}: {what}, {bits} bits"


def _paper_text(compiled: PaperCompilation, masses: Sequence[float]) -> str:
    from boolcomp.paper.program import EVALUATIONS, SAMPLES

    program, lines = compiled.program, []
    what = "torque" if program.plural == "torques" else "output"
    ranges = [ends(one.range) for one in compiled.plans[0].problem.outputs]
    for load, covers in zip(program.loads, compiled.covers, strict=True):
        if len(compiled.covers) > 1:
            lines.append(f"payload {load.payload:g} kg")
        if wants_all():
            lines += [_tables(covers, load.payload).text(), ""]
        lines += [error_table(load.outputs, ranges, what), ""]
    nodes = [len(program.network(mass).nodes) for mass in masses]
    first = {one.entry.table: one.cover for covers in compiled.covers for one in covers}
    proved = sum(cover.proved for cover in first.values())
    products = sum(cover.products for cover in first.values())
    kinds = (
        f"rms: {SAMPLES} random states; largest found: search with about {EVALUATIONS} "
        "evaluations; proved: for every input within its range"
    )
    lines += [
        f"{', '.join(map(str, nodes))} LUT3 nodes, including adders",
        f"{len(first)} tables, {products} products; {proved} of the tables proved minimal", kinds,
    ]  # fmt: skip
    notes = (*_promise_kept(compiled), *_beyond(compiled))
    return "\n".join([*lines, *notes, *unchanging(compiled.plans[0].problem)])


def _promise_kept(compiled: PaperCompilation) -> list[str]:
    """Return a line with the guaranteed errors and the proved bounds, if any were requested."""
    if all(allowed is None for allowed in compiled.promised):
        return []
    options, outputs = compiled.plans[0].options, compiled.plans[0].outputs
    pairs = [
        f"{one.output.symbol} {short(bound / one.code.step)} LSB ≤ "
        f"{short(allowed / one.code.step)} LSB"
        for one, bound, allowed in zip(
            outputs, compiled.program.bound, compiled.promised, strict=True
        )
        if allowed is not None
    ]
    guard = ", ".join(str(plan.options.guard_bits) for plan in compiled.plans)
    return [f"proved: {', '.join(pairs)} ({options.bits} bits, {guard} guard bits)"]


def _beyond(compiled: PaperCompilation) -> list[str]:
    return [
        f"{one.output.symbol} can reach ±{short(one.amplitude)}, outside its range "
        f"±{short(one.code.range.high)}{f' with {mass:g} kg' if mass else ''}: it saturates "
        "there, and its bound is relative to the saturated value"
        for mass, plan in zip(compiled.program.payloads, compiled.plans, strict=True)
        for one in plan.outputs
        if one.amplitude > one.code.range.high
    ]


def _tables(covers: Sequence[TermCover], payload: float) -> Results:
    """Return the tables of a payload and their covers."""
    names: dict[object, str] = {}
    for one in covers:
        names.setdefault(one.entry.table, one.entry.plan.term.name)

    def made(one: TermCover) -> str:
        return "store" if one.stored else f"{one.cover.seconds:.2f} s"

    def other(one: TermCover) -> str:
        same = names[one.entry.table]
        return same if same != one.entry.plan.term.name else ""

    columns = (
        ResultColumn("name", "term", "entry.plan.term.name", left=True),
        ResultColumn("payload", "", lambda _: payload),
        ResultColumn("inputs", "inputs", "entry.table.inputs"),
        ResultColumn("outputs", "outputs", "entry.table.outputs"),
        ResultColumn("products", "products", "cover.products"),
        ResultColumn("literals", "literals", "cover.literals"),
        ResultColumn("connections", "", "cover.connections"),
        ResultColumn("shared", "shared", "cover.shared"),
        ResultColumn("proved", "proved", "cover.proved", yes, left=True),
        ResultColumn("lower_bound", "at least", "cover.lower_bound"),
        ResultColumn("seconds", "", "cover.seconds"),
        ResultColumn("method", "by", "cover.method", left=True),
        ResultColumn("", "from", made, left=True),
        ResultColumn("stored"),
        ResultColumn("note", "", "cover.note"),
        ResultColumn("same_as", "", lambda one: names[one.entry.table]),
        ResultColumn("", "same as", other, left=True),
    )
    return Results(columns, covers)


def _paper_document(compiled: PaperCompilation, output: Path | None) -> dict[str, Any]:
    plan = compiled.plans[0]
    options = plan.options
    networks = [compiled.program.network(mass) for mass in compiled.program.payloads]
    return {
        "program": str(output) if output else None,
        "robot": plan.problem.name,
        "mode": "paper",
        "bits": options.bits,
        "rounding": options.rounding,
        "signs": options.signs,
        "sums": options.sums,
        "payloads": list(compiled.program.payloads),
        "seconds": compiled.seconds,
        "luts": max(len(network.nodes) for network in networks),
        "depth": max(network.depth for network in networks),
        "tables": [
            table
            for load, covers in zip(compiled.program.loads, compiled.covers, strict=True)
            for table in _tables(covers, load.payload).documents
        ],
        "joints": [
            {"joint": joint, **found, **in_steps(found), "promised": allowed}
            for joint, (found, allowed) in enumerate(
                zip(over_loads(compiled.program), compiled.promised, strict=True), 1
            )
        ],
    }


# --------------------------------------------------------------------------------------------------
# Compact mode.
# --------------------------------------------------------------------------------------------------


MOST_CHARTS = 8  # more payloads are printed as one table


def _compact(source: Robot | Problem, options: GivenOptions, output: Path | None) -> None:
    from boolcomp.api import compiled_words

    with share("searching") as show:
        compiled = compiled_words(source, options, search_progress(show))
    if output is not None:
        compiled.program.save(output)
    about = described(compiled.program, source, options.of)
    document = {**_compact_document(compiled, output), **about}
    title = _title(source, options.of, compiled.built[0].compact.demand.bits)
    note = _note(compiled.seconds, output)
    print_result(document, lambda: f"{title}\n\n{_compact_text(compiled)}", note)
    print_origin(compiled.built)


def search_progress(show: ProgressShare) -> Callable[[Progress], None]:
    """Return a callback that shows a search's progress and the smallest logic so far."""

    def update(step: Progress) -> None:
        nodes = "" if step.best_nodes is None else f"{step.best_nodes} nodes so far"
        show(step.fraction, step.stage, nodes, step.left)

    return update


def print_origin(built: Sequence[Built]) -> None:
    """Print notes on standard error: results read from the store, results made without ABC."""
    from boolcomp.logic import lutmapping

    stored = sum(one.stored for one in built)
    if stored:
        which = "" if len(built) == 1 else f"{stored} of {len(built)} payloads "
        click.echo(f"{which}read from the store; to search again, use another --effort", err=True)
    if any(one.without_abc for one in built):
        click.echo(
            folded(f"the logic may be larger than necessary: {lutmapping.MISSING.note}"), err=True
        )


def _compact_text(compiled: CompactCompilation) -> str:
    if len(compiled.built) > MOST_CHARTS:
        return _library(compiled)
    lines = []
    for mass, built in zip(compiled.program.payloads, compiled.built, strict=True):
        if len(compiled.built) > 1:
            lines.append(f"payload {mass:g} kg")
        load = compiled.program.load(mass)
        ranges = [ends(one.range) for one in built.compact.problem.outputs]
        widths = ", ".join(f"{one.name} {one.code.bits}" for one in compiled.program.inputs)
        specified = {name: word.bits for name, word in built.compact.specified_words.items()}
        lines += [
            *_labelled("circuit", *_size(built)),
            *_labelled("inputs", f"{widths} bits", *unread(built.dropped, specified)), "",
            error_table(load.outputs, ranges, _called(built)), "",
            *_sentences(built), *_ends(compiled.program, mass, built),
        ]  # fmt: skip
        if wants_all():
            lines += ["", _outputs(built, mass).text(), *_measured(built)]
    return "\n".join(lines)


def _labelled(label: str, *lines: str) -> list[str]:
    """Return lines with a label on their left, broken after 80 columns."""
    pairs = [re.sub(r"(\w) (?=\d)", "\\1\N{NO-BREAK SPACE}", line) for line in lines]
    broken = [part for line in pairs for part in wrap(line, WIDTH - 11, break_on_hyphens=False)]
    plain = [line.replace("\N{NO-BREAK SPACE}", " ") for line in broken]
    return [f"  {'' if k else label:8} {line}" for k, line in enumerate(plain)]


def _library(compiled: CompactCompilation) -> str:
    """Return a table with a line per payload, and totals; errors in LSB, the largest of outputs."""
    from boolcomp.program.program import NOT_USEFUL

    program, rows = compiled.program, []
    for load, built in zip(program.loads, compiled.built, strict=True):
        found = [in_steps(figures(one)) for one in load.outputs]
        notes = {one.bound_note for one in load.outputs}
        each = [
            NOT_USEFUL
            if kind == "bound" and NOT_USEFUL in notes
            else "-"
            if None in values
            else how(max(x for x in values if x is not None), 4)
            for kind, how in (("rms", short), ("worst_found", short), ("bound", short_above))
            for values in [[one[f"{kind}_lsb"] for one in found]]
        ]
        rows.append([f"{load.payload:g}", str(built.nodes), str(built.depth), *each])
    nodes = sum(len(network.nodes) for network in program.networks)
    largest = max(built.nodes for built in compiled.built)
    lines = [
        table(("kg", "LUT3", "depth", "rms", "largest found", "proved limit"), rows),
        "errors in LSB, the largest of all outputs",
        f"{len(rows)} payloads: {nodes} nodes in all networks, {largest} in the largest",
    ]
    if program.per_kilogram:
        pairs = zip(program.outputs, program.per_kilogram, strict=True)
        changes = listing(f"{one.symbol} {short_above(x, 4)} {one.unit}" for one, x in pairs)
        lines.append(
            f"a kilogram changes {changes} at most: evaluate also accepts payloads between these"
        )
    return "\n".join(lines)


def plan_words(problem: Problem, choices: CompactChoices, picture: Path | None) -> None:
    """Print the word graph that compile would choose, and draw it."""
    from boolcomp.base.files import write_output
    from boolcomp.compact.passes import build
    from boolcomp.terms.extract import split
    from boolcomp.words.drawing import draw_graph

    demand = choices.demand
    with share("searching") as show, choices.workers.opened() as opened:
        own = replace(choices, workers=opened, progress=search_progress(show))
        built = build(split(problem), own)
    print_origin([built])
    graph = built.compact.graph
    spans = {name: word.range for name, word in built.compact.specified_words.items()}
    if picture is not None:
        title = f"{problem.name} at {demand.bits} bits: {built.nodes} nodes"
        results = [one.title for one in problem.outputs] if problem.plural == "outputs" else []
        write_output(picture, draw_graph(graph, title, demand.bits, spans, results))
    codes = zip(problem.outputs, built.compact.output_codes, strict=True)
    document = {
        "robot": problem.name, "bits": demand.bits, "mode": "compact", "target": demand.target,
        "approximate": demand.approximate,
        "joints": [
            {"joint": joint, "range": output.range.high, "bits": code.bits, "lsb": code.step}
            for joint, (output, code) in enumerate(codes, 1)
        ],
        "graph": str(graph).splitlines(),
    }  # fmt: skip
    widths = {name: word.bits for name, word in built.compact.specified_words.items()}
    notes = [*_size(built), *unread(built.dropped, widths), *_sentences(built)]
    text = "\n".join([f"{_words(graph, problem.outputs, spans)}\n\n{graph}", *notes])
    print_result(document, text, f"drawn in {picture}" if picture else "")


def _words(graph: WordGraph, outputs: Sequence[Output], spans: Mapping[str, Interval]) -> str:
    """Return a table of the meanings of a graph's words, empty where there is no short name."""
    from boolcomp.words.drawing import word_names

    names = [
        "" if name == f"w{place}" else name for place, name in enumerate(word_names(graph, spans))
    ]
    for output, result in zip(outputs, graph.results, strict=True):
        names[result.node] = output.title
    rows = [
        [f"w{place}", str(node.bits), name]
        for place, (node, name) in enumerate(zip(graph.nodes, names, strict=True))
    ]
    return table(["word", "bits", "meaning, but for a factor"], rows, left=(0, 2))


OF_BOUND = ("bound", "bound_lsb", "grade", "bound_note")


def _outputs(built: Built, mass: float) -> Results:
    """Return the outputs of a payload with their errors."""
    problem, codes, errors = built.compact.problem, built.compact.output_codes, built.errors
    goal = "promised/LSB" if built.compact.demand.error else "allowed rms/LSB"

    def lsb(values: Any) -> Callable[[int], float]:
        return lambda k: float(values[k])

    def unit(values: Any) -> Callable[[int], float]:
        return lambda k: float(values[k]) * codes[k].step

    def bound(key: str) -> Callable[[int], Any]:
        return lambda k: _bound(built, k)[key]

    columns = (
        ResultColumn("joint", "", lambda k: k + 1),
        ResultColumn("payload", "", lambda _: mass),
        ResultColumn("", _called(built), lambda k: problem.outputs[k].symbol, left=True),
        ResultColumn("", "range", lambda k: ends(problem.outputs[k].range)),
        ResultColumn("bits", "bits", lambda k: codes[k].bits),
        ResultColumn("lsb", "LSB", lambda k: codes[k].step, short),
        *(ResultColumn(key, "", bound(key)) for key in OF_BOUND),
        ResultColumn("promised_lsb", "", lambda k: finite(built.promised[k])),
        ResultColumn("", goal, lambda k: _allowed(built, k)),
        ResultColumn("rms_error", "", unit(errors.rms)),
        ResultColumn("max_error", "", unit(errors.max)),
        ResultColumn("rms_error_lsb", "rms/LSB", lsb(errors.rms), ".3f"),
        ResultColumn("max_error_lsb", "", lsb(errors.max)),
        ResultColumn("sampled_max", "", unit(errors.max)),
        ResultColumn("worst_found", "", unit(built.largest)),
        ResultColumn("", "predicted", lsb(built.predicted_rms), ".3f"),
        ResultColumn("sampled_max_lsb", "sampled max", lsb(errors.max), ".2f"),
        ResultColumn("worst_found_lsb", "worst found", lsb(built.largest), ".2f"),
        ResultColumn("bound_over_found", "", built.over_found.__getitem__),
        ResultColumn("predicted_rms_lsb", "", lsb(built.predicted_rms)),
        ResultColumn("", "mean/LSB", lsb(errors.mean), "+.3f"),
    )
    return Results(columns, range(len(codes)))


def _called(built: Built) -> str:
    return "torque" if built.compact.problem.plural == "torques" else "output"


def _allowed(built: Built, k: int) -> str:
    """Return the accuracy target of an output: rms, or the guaranteed error if there is one."""
    if not built.compact.demand.error:
        return f"{built.compact.allowed[k] ** 0.5:.3f}"
    return "" if finite(built.promised[k]) is None else f"{built.promised[k]:.6g}"


def finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _sentences(built: Built) -> list[str]:
    """Return lines on the accuracy target, the proof and words outside their range."""
    compact = built.compact
    problem, demand = compact.problem, compact.demand
    goals = [_allowed(built, k) for k in range(len(problem.outputs))]
    goals = goals[:1] if len(set(goals)) == 1 else goals
    kind = "proved limit" if demand.error else "rms"
    met = "met" if built.holds else "not met"
    sampled = f"rms over {built.errors.samples} random states"
    lines = [f"target: {kind} {', '.join(goals)} LSB, {met} ({sampled})"]
    if demand.max:
        limits = ", ".join(short(limit) for limit in demand.max)
        lines.append(f"largest error found: at most {limits} LSB, {met}")
    lines += _proved(built)
    wider: dict[int, list[str]] = {}
    for output, code in zip(problem.outputs, compact.output_codes, strict=True):
        wider.setdefault(code.bits - (output.format.bits or demand.bits), []).append(output.symbol)
    for more, names in sorted(wider.items()):
        if more > 0:
            extra = "one extra bit" if more == 1 else f"{more} extra bits"
            lines.append(f"{', '.join(names)}: {extra}, for {problem.plural} outside their range")
    if (kept := _saturating_outputs(compact)) and not demand.saturate:
        lines.append(
            f"{', '.join(kept)}: no extra bit (as specified); {problem.plural} outside their "
            "range saturate"
        )
    return [*lines, *unchanging(problem)]


def _measured(built: Built) -> list[str]:
    """Return lines on the measurement of errors, for wide tables."""
    text = (
        f"rms and sampled max: {built.errors.samples} random states. worst found: search with "
        f"{built.worst.evaluations} evaluations (a lower limit of the true maximum)."
    )
    return [text, *_loose(built)]


def _saturating_outputs(compact: Compact) -> list[str]:
    """Return the outputs whose words are narrower than the sums that they are taken from."""
    graph = compact.graph
    return [
        output.symbol
        for output, word in zip(compact.problem.outputs, graph.results, strict=True)
        if graph.nodes[word.node].bits - word.drop > word.bits
    ]


def _size(built: Built) -> list[str]:
    """Return the size of the logic, and the cost of the target if it is not LUT3."""
    from boolcomp.compact.costs import costs_of
    from boolcomp.compact.demand import USUAL_TARGET

    demand = built.compact.demand
    text = f"{built.nodes} LUT3 nodes, depth {built.depth} ({built.lut6} as LUT6)"
    if demand.target == USUAL_TARGET:
        return [text]
    own = " (word graph without logic optimisation)" if demand.of_words else ""
    outside = ", without calls, loads and stores" if demand.of_words else ""
    cost = f"about {built.compact.nodes} {costs_of(demand).unit} before logic optimisation"
    return [f"for {demand.target}: {cost}{outside}", f"as logic: {text}{own}"]


def _proved(built: Built) -> list[str]:
    """Return lines on the proved bounds, or the reason why there is none."""
    from boolcomp.program.program import NOT_USEFUL

    if not built.compact.demand.keeps_graph:
        return ["no bound is proved: nodes were changed according to sampled errors"]
    if built.bounds is None and not is_there("python-flint"):
        return [f"no bound is proved: {missing_package('python-flint')}"]
    if built.bounds is None:
        return ["no bound is proved: the range of an intermediate value is unknown"]
    listed = list(
        zip(built.compact.problem.outputs, built.bounds.outputs, built.useful, strict=True)
    )
    grades: dict[str, list[str]] = {}
    for output, bound, useful in listed:
        if useful:
            grades.setdefault(bound.grade, []).append(output.symbol)
    several = len(grades) > 1 or not all(built.useful)
    lines = [
        f"proved for every input within its range: {grade} bound"
        f"{f' of {listing(symbols)}' if several else ''}"
        f"{'' if grade == 'tight' else '; for a closer one: --proof tight'}"
        for grade, symbols in grades.items()
    ]
    if useless := [output.symbol for output, _, useful in listed if not useful]:
        lines.append(f"{NOT_USEFUL}: the bound of {listing(useless)} exceeds the range of its word")
    if built.bounds.unproved:
        words = listing(f"w{place}" for place in built.bounds.unproved)
        lines.append(f"the bound holds if no sum overflows; not proved for {words}")
    return lines


def _loose(built: Built) -> list[str]:
    """Return a line of the bounds that are far above the largest error found, as ratios."""
    from boolcomp.program.program import WIDE

    symbols = [output.symbol for output in built.compact.problem.outputs]
    loose = [
        f"{symbol} {short(ratio, 2)}"
        for symbol, ratio in zip(symbols, built.over_found, strict=True)
        if ratio is not None and ratio >= WIDE
    ]
    return [f"bound / largest error found: {listing(loose)}"] if loose else []


def _ends(program: Program, mass: float, built: Built) -> list[str]:
    """Return lines on the cost of word formats and of zero at rest, if any are specified."""
    problem, load = built.compact.problem, program.load(mass)
    symbols = [output.symbol for output in load.outputs if output.rest is not None]
    formats = [one.format for one in problem.inputs] + [one.format for one in problem.outputs]
    if not symbols and not any(formats):
        return []
    whole = len(program.network(mass).nodes)
    text = f"word formats: {whole - built.nodes} more nodes, {whole} in all"
    free = [x.symbol for x in load.outputs if x.code.tread and x.rest is None]
    lines = [f"exactly 0 at rest: {listing(symbols)}"] if symbols else []
    if free:
        lines.append(
            "zero code, but no guaranteed zero at rest (with a payload, or not a sum of terms): "
            f"{listing(free)}"
        )
    return [text, *lines]


def unread(dropped: Mapping[str, int], widths: Mapping[str, int]) -> list[str]:
    """Return a line of unused low input bits, and one of unused inputs, if there are any."""
    whole = [name for name, bits in dropped.items() if bits == widths[name]]
    low = [f"{name} {bits}" for name, bits in dropped.items() if bits and name not in whole]
    lines = (("unused low input bits", low), ("unused inputs", whole))
    return [f"{title}: {listing(names)}" for title, names in lines if names]


def _bound(built: Built, place: int) -> dict[str, Any]:
    """Return the proved bound of an output and its tightness, or the reason why there is none."""
    from boolcomp.program.program import bound_note

    note = bound_note(built.proved[place], built.compact.output_codes[place].range)
    shown = None if note or built.bounds is None else built.bounds.outputs[place]
    return {
        "bound": None if shown is None else shown.value,
        "bound_lsb": None if shown is None else shown.steps,
        "grade": None if shown is None else shown.grade,
        "bound_note": note or None,
    }


def _compact_document(compiled: CompactCompilation, output: Path | None) -> dict[str, Any]:
    first = compiled.built[0]
    demand = first.compact.demand
    return {
        "program": str(output) if output else None,
        "robot": compiled.program.name,
        "mode": "compact",
        "bits": demand.bits,
        "target": demand.target,
        "approximate": demand.approximate,
        "payloads": list(compiled.program.payloads),
        "seconds": compiled.seconds,
        "luts": max(built.nodes for built in compiled.built),
        "lut6": first.lut6,
        "depth": max(built.depth for built in compiled.built),
        "predicted_luts": first.predicted_nodes,
        "format_luts": max(
            len(compiled.program.network(mass).nodes) - built.nodes
            for mass, built in zip(compiled.program.payloads, compiled.built, strict=True)
        ),
        "samples": first.errors.samples,
        "stored": all(built.stored for built in compiled.built),
        "evaluations": first.worst.evaluations,
        "holds": all(built.holds for built in compiled.built),
        "tables": [],
        "input_bits": {word.name: word.code.bits for word in compiled.program.inputs},
        "dropped_input_bits": dict(first.dropped),
        "joints": [
            one
            for mass, built in zip(compiled.program.payloads, compiled.built, strict=True)
            for one in _outputs(built, mass).documents
        ],
    }
