"""`boolcomp compile`: compilation in compact and paper mode, and the printed results."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from boolcomp.base.errors import is_there, listing, needed, short, short_above, table
from boolcomp.base.errors import masses as the_masses
from boolcomp.base.files import check_place
from boolcomp.commands.options import (
    AUTO,
    ONLY_COMPACT,
    ONLY_MINIMISED,
    ONLY_PAPER,
    USUAL_BITS,
    FilePath,
    completes,
    demand_options,
    ends,
    function_options,
    is_auto,
    json_option,
    minimiser_options,
    own_bits,
    plan_options,
    print_json,
    refuse_others,
    source_argument,
    store_option,
    unchanging,
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
from boolcomp.program.program import NOT_USEFUL, WIDE, bound_note

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from boolcomp.base.store import ResultPlace
    from boolcomp.base.workers import Workers
    from boolcomp.commands.options import CompactOptions
    from boolcomp.commands.output import ProgressShare
    from boolcomp.compact.demand import Demand, Progress
    from boolcomp.compact.result import Built, Compact
    from boolcomp.paper.covers import CoverStore, TermCover
    from boolcomp.paper.passes import PaperChoices
    from boolcomp.paper.plan import PlanOptions
    from boolcomp.pipeline import CompactCompilation, PaperCompilation
    from boolcomp.problem.problem import Problem
    from boolcomp.problem.robot.model import Robot
    from boolcomp.problem.words import Interval, Output
    from boolcomp.program.program import Program
    from boolcomp.twolevel.minimisation import Recipe
    from boolcomp.words.graph import WordGraph


# --------------------------------------------------------------------------------------------------
# The command, and paper mode.
# --------------------------------------------------------------------------------------------------


ONLY = {"paper": {**ONLY_PAPER, **ONLY_MINIMISED}, "compact": ONLY_COMPACT}


@click.command("compile", epilog="Example: boolcomp compile machado-2r --bits 8 -o out/2r")
@source_argument
@function_options
@click.option(
    "--mode",
    default="compact",
    show_default=True,
    help="compact: word-level logic. paper: AND/OR product terms of truth tables.",
    shell_complete=completes("compact paper"),
)
@demand_options()
@plan_options(auto=True)
@minimiser_options("--minimizer")
@click.option(
    "--payloads", default="0", show_default=True, help="Payloads in kg: 0,1,2.5, or 0:5:0.05."
)
@store_option
@click.option("-o", "--output", type=FilePath(), help="Folder for the program.")
@json_option
@click.pass_context
def command(
    context: click.Context,
    robot: str,
    of: str,
    mode: str,
    *,
    choices: CompactOptions,
    options: PlanOptions,
    recipe: Recipe,
    store: CoverStore,
    payloads: str,
    output: Path | None,
    as_json: bool,
) -> None:
    """Compile ROBOT (its inverse dynamics, or another function of it) to a logic program.

    A FUNCTION is a TOML file with input words, output words and expressions
    (docs/reference/function-file.md); --bits overrides the output widths of the file.

    Compact mode adds, multiplies and looks up words no wider than the accuracy target requires.
    Paper mode minimises the truth table of every term. Both sample errors, search the largest
    error, and prove a bound where possible. Results in the store are reused. With several payloads
    the program has one network per payload, and evaluate --payload selects one.
    """
    from boolcomp.pipeline import check_mode
    from boolcomp.problem.sources import load_source

    check_mode(mode)
    refuse_others(context, mode, ONLY)
    if output is not None:
        check_place(output / "program.json")
    loaded, masses = load_source(robot), the_masses("--payloads", payloads)
    options, auto = own_bits(context, options, loaded), is_auto(context)
    if mode == "compact":
        compile_words(loaded, of, choices, AUTO if auto else options.bits, masses,
                      context.params.get("place"), output=output, as_json=as_json)  # fmt: skip
    else:
        from boolcomp.base.workers import all_cores
        from boolcomp.paper.passes import PaperChoices

        paper = PaperChoices(
            options, recipe, store, error=choices.error, free=auto, certify=choices.certify,
            workers=choices.workers or all_cores(),
        )  # fmt: skip
        _compile_paper(loaded, of, paper, masses, output=output, as_json=as_json)


def _compile_paper(
    robot: Robot | Problem,
    of: str,
    choices: PaperChoices,
    masses: tuple[float, ...],
    *,
    output: Path | None,
    as_json: bool,
) -> None:
    from boolcomp.pipeline import compile_paper

    with share("compiling") as show:
        compiled = compile_paper(robot, replace(choices, progress=in_stages(show)), masses, of)
    if output is not None:
        compiled.program.save(output)
    if as_json:
        print_json({**_paper_document(compiled, output), **described(compiled.program, robot, of)})
    else:
        _print_paper(compiled, masses, output)
    tables = {term.entry.table: term.stored for covers in compiled.covers for term in covers}
    if any(tables.values()):
        click.echo(
            f"{sum(tables.values())} of {len(tables)} tables read from the store; to minimise "
            "them again, use another --minimizer, or a longer --deadline after a timeout",
            err=True,
        )


def _print_paper(compiled: PaperCompilation, masses: Sequence[float], output: Path | None) -> None:
    from boolcomp.paper.program import EVALUATIONS, SAMPLES

    program = compiled.program
    what = "torque" if program.plural == "torques" else "output"
    for load, covers in zip(program.loads, compiled.covers, strict=True):
        if len(compiled.covers) > 1:
            click.echo(f"payload {load.payload:g} kg")
        click.echo(_paper_chart(covers))
        click.echo(error_table(load.outputs, what, steps=True))
    nodes = [len(program.network(mass).nodes) for mass in masses]
    click.echo(f"{', '.join(map(str, nodes))} LUT3 nodes, including adders")
    click.echo(
        f"rms and sampled max: {SAMPLES} random states; worst found: search with about "
        f"{EVALUATIONS} evaluations; bound: proved"
    )
    for sentence in [
        *_promise_kept(compiled),
        *_beyond(compiled),
        *unchanging(compiled.plans[0].problem),
    ]:
        click.echo(sentence)
    click.echo(f"{compiled.seconds:.2f} s{f', saved in {output}' if output else ''}", err=True)


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


def _paper_chart(covers: Sequence[TermCover]) -> str:
    header = [
        "term", "inputs", "outputs", "products", "literals", "shared", "proved", "at least",
        "by", "from", "same as",
    ]  # fmt: skip
    return table(header, [_row(term, covers) for term in covers], left=(0, 6, 8, 9, 10))


def _row(term: TermCover, covers: Sequence[TermCover]) -> list[str]:
    cover, entry = term.cover, term.entry
    same = _same_as(term, covers)
    return [
        entry.plan.term.name,
        str(entry.table.inputs),
        str(entry.table.outputs),
        str(cover.products),
        str(cover.literals),
        str(cover.shared),
        "yes" if cover.proved else "no",
        str(cover.lower_bound),
        cover.method,
        "store" if term.stored else f"{cover.seconds:.2f} s",
        same if same != entry.plan.term.name else "",
    ]


def _same_as(term: TermCover, covers: Sequence[TermCover]) -> str:
    return next(c.entry.plan.term.name for c in covers if c.entry.table == term.entry.table)


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
            _table(term, covers, load.payload)
            for load, covers in zip(compiled.program.loads, compiled.covers, strict=True)
            for term in covers
        ],
        "joints": [
            {"joint": joint, **found, **in_steps(found), "promised": allowed}
            for joint, (found, allowed) in enumerate(
                zip(over_loads(compiled.program), compiled.promised, strict=True), 1
            )
        ],
    }


def _table(term: TermCover, covers: Sequence[TermCover], payload: float) -> dict[str, Any]:
    return {
        "name": term.entry.plan.term.name,
        "payload": payload,
        "inputs": term.entry.table.inputs,
        "outputs": term.entry.table.outputs,
        "products": term.cover.products,
        "literals": term.cover.literals,
        "connections": term.cover.connections,
        "shared": term.cover.shared,
        "proved": term.cover.proved,
        "lower_bound": term.cover.lower_bound,
        "seconds": term.cover.seconds,
        "method": term.cover.method,
        "stored": term.stored,
        "note": term.cover.note,
        "same_as": _same_as(term, covers),
    }


# --------------------------------------------------------------------------------------------------
# Compact mode.
# --------------------------------------------------------------------------------------------------


MOST_CHARTS = 8  # more payloads are printed as one table


def compile_words(
    robot: Robot | Problem,
    of: str,
    options: CompactOptions,
    bits: int | str,
    masses: tuple[float, ...],
    store: ResultPlace | None,
    *,
    output: Path | None,
    as_json: bool,
) -> None:
    """Compile, save, and print the network and its errors.

    If `bits` is `auto`, they are searched for the guaranteed error.
    """
    from boolcomp.base.workers import TWO
    from boolcomp.compact.passes import CompactChoices
    from boolcomp.pipeline import compile_compact, with_bits_found

    with share("searching") as show, (options.workers or TWO).opened() as opened:
        demand = options.demand(USUAL_BITS if isinstance(bits, str) else bits)
        choices = CompactChoices(
            demand, store, workers=opened, progress=search_progress(show),
            words=options.words, **options.proofs,
        )  # fmt: skip
        if isinstance(bits, str):
            choices = with_bits_found(robot, choices, masses, of)
        compiled = compile_compact(robot, choices, masses, of)
    if output is not None:
        compiled.program.save(output)
    if as_json:
        print_json(
            {**_compact_document(compiled, output), **described(compiled.program, robot, of)}
        )
    else:
        _print_compact(compiled, output)
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
        click.echo(f"the logic may be larger than necessary: {lutmapping.MISSING.note}", err=True)


def _print_compact(compiled: CompactCompilation, output: Path | None) -> None:
    if len(compiled.built) > MOST_CHARTS:
        click.echo(_library(compiled))
        click.echo(f"{compiled.seconds:.2f} s{f', saved in {output}' if output else ''}", err=True)
        return
    for mass, built in zip(compiled.program.payloads, compiled.built, strict=True):
        if len(compiled.built) > 1:
            click.echo(f"payload {mass:g} kg")
        click.echo(_compact_chart(built))
        click.echo("\n".join([_sentence(built), *_ends(compiled.program, mass, built)]))
        outputs = compiled.program.load(mass).outputs
        click.echo(error_table(outputs, _called(built), steps=False))
    click.echo(f"{compiled.seconds:.2f} s{f', saved in {output}' if output else ''}", err=True)


def _library(compiled: CompactCompilation) -> str:
    """Return a table with a line per payload, and totals; errors in LSB, the largest of outputs."""
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
        table(("kg", "nodes", "depth", "rms", "worst found", "bound"), rows),
        "errors in LSB, the largest of all outputs; the bound is proved",
        f"{len(rows)} payloads: {nodes} nodes in all networks, {largest} in the largest",
    ]
    if program.per_kilogram:
        pairs = zip(program.outputs, program.per_kilogram, strict=True)
        changes = listing(f"{one.symbol} {short_above(x, 4)} {one.unit}" for one, x in pairs)
        lines.append(
            f"a kilogram changes {changes} at most: evaluate also accepts payloads between these"
        )
    return "\n".join(lines)


def plan_words(
    problem: Problem,
    demand: Demand,
    workers: Workers | None,
    store: ResultPlace | None,
    picture: Path | None,
    *,
    as_json: bool,
) -> None:
    """Print the word graph that compile would choose, and draw it."""
    from boolcomp.base.files import write_output
    from boolcomp.base.workers import TWO
    from boolcomp.compact.passes import CompactChoices, build
    from boolcomp.terms.extract import split
    from boolcomp.words.drawing import draw_graph

    with share("searching") as show, (workers or TWO).opened() as opened:
        choices = CompactChoices(demand, store, workers=opened, progress=search_progress(show))
        built = build(split(problem), choices)
    print_origin([built])
    graph = built.compact.graph
    spans = {name: word.range for name, word in built.compact.specified_words.items()}
    if picture is not None:
        title = f"{problem.name} at {demand.bits} bits: {built.nodes} nodes"
        results = [one.title for one in problem.outputs] if problem.plural == "outputs" else []
        write_output(picture, draw_graph(graph, title, demand.bits, spans, results))
    if as_json:
        lines = str(graph).splitlines()
        joints = [
            {"joint": joint, "range": output.range.high, "bits": code.bits, "lsb": code.step}
            for joint, (output, code) in enumerate(
                zip(problem.outputs, built.compact.output_codes, strict=True), 1
            )
        ]
        document = {
            "robot": problem.name,
            "bits": demand.bits,
            "mode": "compact",
            "target": demand.target,
            "approximate": demand.approximate,
        }
        print_json({**document, "joints": joints, "graph": lines})
        return
    click.echo(_words(graph, problem.outputs, spans))
    click.echo(f"\n{graph}", nl=False)
    click.echo(_sentence(built))
    if picture is not None:
        click.echo(f"drawn in {picture}", err=True)


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


def _compact_chart(built: Built) -> str:
    compact = built.compact
    header = [
        _called(built), "range", "bits", "LSB", "allowed rms/LSB", "rms/LSB", "predicted",
        "sampled max", "worst found", "mean/LSB",
    ]  # fmt: skip
    if compact.demand.error:
        header[4] = "promised/LSB"
    rows = [
        [
            output.symbol,
            ends(output.range),
            str(code.bits),
            short(code.step),
            _allowed(built, k),
            f"{built.errors.rms[k]:.3f}",
            f"{built.predicted_rms[k]:.3f}",
            f"{built.errors.max[k]:.2f}",
            f"{built.largest[k]:.2f}",
            f"{built.errors.mean[k]:+.3f}",
        ]
        for k, (output, code) in enumerate(
            zip(compact.problem.outputs, compact.output_codes, strict=True)
        )
    ]
    return table(header, rows, left=(0,))


def _called(built: Built) -> str:
    return "torque" if built.compact.problem.plural == "torques" else "output"


def _allowed(built: Built, k: int) -> str:
    """Return the accuracy target of an output: rms, or the guaranteed error if there is one."""
    if not built.compact.demand.error:
        return f"{built.compact.allowed[k] ** 0.5:.3f}"
    return f"{built.promised[k]:.6g}" if math.isfinite(built.promised[k]) else ""


def _sentence(built: Built) -> str:
    """Return lines on size, errors, bounds and unused input bits."""
    text = (
        f"{_size(built)}\n"
        f"rms and sampled max: {built.errors.samples} random states. worst found: search with "
        f"{built.worst.evaluations} evaluations (a lower limit of the true maximum)."
    )
    text += _proved(built) + _loose(built)
    compact = built.compact
    problem = compact.problem
    wider = [
        output.symbol
        for output, code in zip(problem.outputs, compact.output_codes, strict=True)
        if code.bits > (output.format.bits or compact.demand.bits)
    ]
    if wider:
        text += f"\n{', '.join(wider)}: one extra bit, for {problem.plural} outside their range"
    if (kept := _saturating_outputs(compact)) and not compact.demand.saturate:
        text += (
            f"\n{', '.join(kept)}: no extra bit (as specified); {problem.plural} outside their "
            "range saturate"
        )
    widths = {name: word.bits for name, word in compact.specified_words.items()}
    return "\n".join([text, *unread(built.dropped, widths), *unchanging(problem)])


def _saturating_outputs(compact: Compact) -> list[str]:
    """Return the outputs whose words are narrower than the sums that they are taken from."""
    graph = compact.graph
    return [
        output.symbol
        for output, word in zip(compact.problem.outputs, graph.results, strict=True)
        if graph.nodes[word.node].bits - word.drop > word.bits
    ]


def _size(built: Built) -> str:
    """Return the size of the logic, and the cost of the target if it is not LUT3."""
    from boolcomp.compact.costs import costs_of
    from boolcomp.compact.demand import USUAL_TARGET

    demand = built.compact.demand
    text = f"{built.nodes} LUT3 nodes, depth {built.depth} ({built.lut6} as LUT6)"
    if demand.target == USUAL_TARGET:
        return text
    own = " (word graph without logic optimisation)" if demand.of_words else ""
    outside = ", without calls, loads and stores" if demand.of_words else ""
    return (
        f"for {demand.target}: about {built.compact.nodes} {costs_of(demand).unit} before logic "
        f"optimisation{outside}\n"
        f"as logic: {text}{own}"
    )


def _proved(built: Built) -> str:
    """Return lines on the proved bounds, or the reason why there is none."""
    if not built.compact.demand.keeps_graph:
        return "\nno bound is proved: nodes were changed according to sampled errors"
    if built.bounds is None and not is_there("python-flint"):
        return f"\nno bound is proved: {needed('python-flint')}"
    if built.bounds is None:
        return "\nno bound is proved: the range of an intermediate value is unknown"
    listed = list(
        zip(built.compact.problem.outputs, built.bounds.outputs, built.useful, strict=True)
    )
    grades = {bound.grade for _, bound, useful in listed if useful}
    several = len(grades) > 1
    sizes = [
        f"{output.symbol} {bound.rounded:g}"
        + (f" LSB ≤ {limit:.6g}" if limit < math.inf else "")
        + (f" ({bound.grade})" if several else "")
        for (output, bound, useful), limit in zip(listed, built.promised, strict=True)
        if useful
    ]
    what = "" if built.compact.demand.error else "no error exceeds "
    kind = "" if several else f" ({''.join(grades)} bound)"
    text = f"\nproved: {what}{listing(sizes)} LSB{kind}" if sizes else ""
    if useless := [output.symbol for output, _, useful in listed if not useful]:
        text += f"\n{NOT_USEFUL}: the bound of {listing(useless)} exceeds the range of its word"
    if built.bounds.unproved:
        words = listing(f"w{place}" for place in built.bounds.unproved)
        text += f"\nthe bound holds if no sum overflows; not proved for {words}"
    return text


def _loose(built: Built) -> str:
    """Return a line of the bounds that are far above the largest error found, as ratios."""
    symbols = [output.symbol for output in built.compact.problem.outputs]
    loose = [
        f"{symbol} {short(ratio, 2)}"
        for symbol, ratio in zip(symbols, built.over_found, strict=True)
        if ratio is not None and ratio >= WIDE
    ]
    return f"\nbound / largest error found: {listing(loose)}" if loose else ""


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
            {
                "joint": joint,
                "payload": mass,
                "bits": code.bits,
                "lsb": code.step,
                **_bound(built, joint - 1),
                "promised_lsb": None
                if math.isinf(built.promised[joint - 1])
                else built.promised[joint - 1],
                "rms_error": float(built.errors.rms[joint - 1]) * code.step,
                "max_error": float(built.errors.max[joint - 1]) * code.step,
                "rms_error_lsb": float(built.errors.rms[joint - 1]),
                "max_error_lsb": float(built.errors.max[joint - 1]),
                "sampled_max": float(built.errors.max[joint - 1]) * code.step,
                "worst_found": float(built.largest[joint - 1]) * code.step,
                "sampled_max_lsb": float(built.errors.max[joint - 1]),
                "worst_found_lsb": float(built.largest[joint - 1]),
                "bound_over_found": built.over_found[joint - 1],
                "predicted_rms_lsb": float(built.predicted_rms[joint - 1]),
            }
            for mass, built in zip(compiled.program.payloads, compiled.built, strict=True)
            for joint, code in enumerate(built.compact.output_codes, 1)
        ],
    }
