"""`boolcomp compile --mode compact`: what is said and printed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

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

    from boolcomp.base.store import Place
    from boolcomp.base.workers import Workers
    from boolcomp.commands.options import CompactOptions
    from boolcomp.commands.output import Share
    from boolcomp.compact.demand import Demand, Progress
    from boolcomp.compact.result import Built, Compact
    from boolcomp.paper.covers import Store, TermCover
    from boolcomp.paper.plan import Options
    from boolcomp.pipeline import CompactCompilation, PaperCompilation
    from boolcomp.problem.problem import Output, Problem, Promise
    from boolcomp.problem.robot.model import Robot
    from boolcomp.problem.words import Interval
    from boolcomp.program.program import Program
    from boolcomp.twolevel.minimisation import Recipe
    from boolcomp.words.graph import WordGraph


# --------------------------------------------------------------------------------------------------
# `boolcomp compile`: from a robot to a program, in compact mode or in the paper's.
# --------------------------------------------------------------------------------------------------


class Asked(NamedTuple):
    """Options of a plan; what no error may exceed, and whether bits are to be found for that.

    And whether there is to be a certificate, and where the work is done.
    """

    options: Options
    error: Promise | None
    auto: bool
    certify: bool
    workers: Workers | None


ONLY = {"paper": {**ONLY_PAPER, **ONLY_MINIMISED}, "compact": ONLY_COMPACT}


@click.command("compile", epilog="Example: boolcomp compile machado-2r --bits 8 -o out/2r")
@source_argument
@function_options
@click.option(
    "--mode",
    default="compact",
    show_default=True,
    help="compact: word-level logic. paper: AND/OR product terms of truth tables.",
)
@demand_options()
@plan_options(auto=True)
@minimiser_options("--minimizer")
@click.option(
    "--payloads", default="0", show_default=True, help="Tip loads in kg: 0,1,2.5, or 0:5:0.05."
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
    options: Options,
    recipe: Recipe,
    store: Store,
    payloads: str,
    output: Path | None,
    as_json: bool,
) -> None:
    """Compile ROBOT to a program of logic: its inverse dynamics, or another function of it.

    Or a FUNCTION: a TOML file with words for inputs and outputs and expressions between
    (docs/functions.md); its outputs are as wide as it says, unless --bits is given.

    Compact mode adds, multiplies and looks up words no wider than the allowed error asks for. Paper
    mode minimises the truth table of every term. Errors of both are sampled, the worst is searched,
    and bounds are proved where they can be. What the store holds is not made again. With several
    payloads the program holds a family, and evaluate --payload selects.
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
        asked = Asked(options, choices.error, auto, choices.certify, choices.workers)
        _compile_paper(loaded, of, asked, recipe, store, masses, output=output, as_json=as_json)


def _compile_paper(
    robot: Robot | Problem,
    of: str,
    asked: Asked,
    recipe: Recipe,
    store: Store,
    masses: tuple[float, ...],
    *,
    output: Path | None,
    as_json: bool,
) -> None:
    from boolcomp.base.workers import all_cores
    from boolcomp.paper.passes import PaperChoices
    from boolcomp.pipeline import compile_paper

    with share("compiling") as show:
        choices = PaperChoices(
            asked.options, recipe, store, in_stages(show),
            error=asked.error, free=asked.auto, certify=asked.certify,
            workers=asked.workers or all_cores(),
        )  # fmt: skip
        compiled = compile_paper(robot, choices, masses, of)
    if output is not None:
        compiled.program.save(output)
    if as_json:
        print_json({**_paper_document(compiled, output), **described(compiled.program, robot, of)})
    else:
        _print_paper(compiled, masses, output)
    tables = {term.entry.table: term.stored for covers in compiled.covers for term in covers}
    if any(tables.values()):
        click.echo(
            f"{sum(tables.values())} of {len(tables)} tables read from the store; another "
            "--minimizer searches anew, a longer --deadline where one had cut it short",
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
    click.echo(f"{', '.join(map(str, nodes))} nodes of at most three inputs, adders included")
    click.echo(
        f"rms and sampled max are of {SAMPLES} random states, the worst was searched with about "
        f"{EVALUATIONS} evaluations; the bound is proved"
    )
    for sentence in [
        *_promise_kept(compiled),
        *_beyond(compiled),
        *unchanging(compiled.plans[0].problem),
    ]:
        click.echo(sentence)
    click.echo(f"{compiled.seconds:.2f} s{f', saved in {output}' if output else ''}", err=True)


def _promise_kept(compiled: PaperCompilation) -> list[str]:
    """Return a sentence of what was promised, and is proved."""
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
    """Return a sentence for every output that can leave its range."""
    return [
        f"{one.output.symbol} can reach ±{short(one.amplitude)}, beyond its range "
        f"±{short(one.code.range.high)}{f' with {mass:g} kg' if mass else ''}: it saturates "
        "there, and the bound is from the nearest that its word can say"
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
# `boolcomp compile --mode compact`: what is said and printed.
# --------------------------------------------------------------------------------------------------


MOST_CHARTS = 8  # loads of which all is printed


def compile_words(
    robot: Robot | Problem,
    of: str,
    options: CompactOptions,
    bits: int | str,
    masses: tuple[float, ...],
    store: Place | None,
    *,
    output: Path | None,
    as_json: bool,
) -> None:
    """Compile, save, and print the words' widths, the network and its errors.

    Bits may be `auto`: they are found for a promise.
    """
    from boolcomp.base.workers import TWO
    from boolcomp.compact.passes import CompactChoices
    from boolcomp.pipeline import compile_compact, with_bits_found

    with share("searching") as show, (options.workers or TWO).opened() as opened:
        demand = options.demand(USUAL_BITS if isinstance(bits, str) else bits)
        choices = CompactChoices(
            demand, store, workers=opened, progress=listener(show),
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
    say_whence(compiled.built)


def listener(show: Share) -> Callable[[Progress], None]:
    """Return what hears the search and shows where it is and the smallest logic so far."""

    def told(step: Progress) -> None:
        nodes = "" if step.best_nodes is None else f"{step.best_nodes} nodes so far"
        show(step.fraction, step.stage, nodes, step.left)

    return told


def say_whence(built: Sequence[Built]) -> None:
    """Say on standard error what was read and not searched, and where ABC would have helped."""
    from boolcomp.logic.synthesis import abc

    stored = sum(one.stored for one in built)
    if stored:
        which = "" if len(built) == 1 else f"{stored} of {len(built)} loads "
        click.echo(f"{which}read from the store; another --effort searches anew", err=True)
    if any(one.without_abc for one in built):
        click.echo(f"the result may be larger than it need be: {abc.MISSING.note}", err=True)


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
    """Return a line a load, and what they take together; errors in LSB, the largest of outputs."""
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
        f"{len(rows)} loads: {nodes} nodes in all networks, {largest} in the largest alone",
    ]
    if program.per_kilogram:
        pairs = zip(program.outputs, program.per_kilogram, strict=True)
        changes = listing(f"{one.symbol} {short_above(x, 4)} {one.unit}" for one, x in pairs)
        lines.append(f"a kilogram changes {changes} at most: evaluate takes masses between, too")
    return "\n".join(lines)


def plan_words(
    problem: Problem,
    demand: Demand,
    workers: Workers | None,
    store: Place | None,
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
        choices = CompactChoices(demand, store, workers=opened, progress=listener(show))
        built = build(split(problem), choices)
    say_whence([built])
    graph = built.compact.graph
    spans = {name: word.range for name, word in built.compact.asked_words.items()}
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
    """Return what every word of a graph means: nothing where no short name says it."""
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
    """Return what an output may err by: in rms, or at all where that is promised."""
    if not built.compact.demand.error:
        return f"{built.compact.allowed[k] ** 0.5:.3f}"
    return f"{built.promised[k]:.6g}" if math.isfinite(built.promised[k]) else ""


def _sentence(built: Built) -> str:
    """Say what was built, and which bits of inputs nobody reads."""
    text = (
        f"{_size(built)}\n"
        f"errors are sampled on {built.errors.samples} fresh states, the worst (in LSB) searched "
        f"with {built.worst.evaluations} evaluations, not proved"
    )
    text += _proved(built) + _wide(built)
    compact = built.compact
    problem = compact.problem
    wider = [
        output.symbol
        for output, code in zip(problem.outputs, compact.output_codes, strict=True)
        if code.bits > (output.format.bits or compact.demand.bits)
    ]
    if wider:
        text += (
            f"\n{', '.join(wider)}: one bit more, for {problem.plural} beyond the range, or near "
            "its ends"
        )
    if (kept := _saturating_outputs(compact)) and not compact.demand.saturate:
        text += (
            f"\n{', '.join(kept)}: no bit more than was said, so that {problem.plural} beyond the "
            "range, or near its ends, saturate"
        )
    asked = {name: word.bits for name, word in compact.asked_words.items()}
    return "\n".join([text, *unread(built.dropped, asked), *unchanging(problem)])


def _saturating_outputs(compact: Compact) -> list[str]:
    """Return the outputs whose words are narrower than the sums that they are cut from."""
    graph = compact.graph
    return [
        output.symbol
        for output, word in zip(compact.problem.outputs, graph.results, strict=True)
        if graph.nodes[word.node].bits - word.drop > word.bits
    ]


def _size(built: Built) -> str:
    """Say how large the logic is, and what the target counts, where that is something else."""
    from boolcomp.compact.costs import costs_of
    from boolcomp.compact.demand import USUAL_TARGET

    compact = built.compact
    demand, usual = compact.demand, compact.demand.target == USUAL_TARGET
    predicted = f"predicted {built.predicted_nodes:.0f}; " if usual else ""
    text = (
        f"{built.nodes} nodes of at most three inputs ({predicted}"
        f"{built.lut6} if they had six), depth {built.depth}"
    )
    if usual:
        return text
    own = " (as the graph says, not made smaller)" if demand.of_words else ""
    outside = ", calls, loads and stores left out" if demand.of_words else ""
    return (
        f"for {demand.target}: about {compact.nodes} {costs_of(demand).unit}, before any pass "
        f"(predicted {compact.predicted_cost:.0f}){outside}\nas logic: {text}{own}"
    )


def _proved(built: Built) -> str:
    """Say what no error exceeds."""
    if not built.compact.demand.is_proved:
        return "\nno bound is proved: nodes were changed where sampled errors allow it"
    if built.bounds is None and not is_there("python-flint"):
        return f"\nno bound is proved here: {needed('python-flint')}"
    if built.bounds is None:
        return (
            "\nno bound is proved: of what is calculated on the way it is not seen where it stays"
        )
    listed = list(
        zip(built.compact.problem.outputs, built.bounds.outputs, built.useful, strict=True)
    )
    grades = {bound.grade for _, bound, useful in listed if useful}
    several = len(grades) > 1
    sizes = [
        f"{output.symbol} {bound.rounded:g}"
        + (f" LSB ≤ {most:.6g}" if most < math.inf else "")
        + (f" ({bound.grade})" if several else "")
        for (output, bound, useful), most in zip(listed, built.promised, strict=True)
        if useful
    ]
    what = "" if built.compact.demand.error else "no error exceeds "
    kind = "" if several else f" ({''.join(grades)} bound)"
    text = f"\nproved: {what}{listing(sizes)} LSB{kind}" if sizes else ""
    if wide := [output.symbol for output, _, useful in listed if not useful]:
        text += f"\n{NOT_USEFUL}: what is proved of {listing(wide)} is wider than its word"
    if built.bounds.unproved:
        words = listing(f"w{place}" for place in built.bounds.unproved)
        text += f"\nthat holds while no sum overflows; not proved of {words}"
    return text


def _wide(built: Built) -> str:
    """Say which bounds are far above the worst found, and by how much."""
    symbols = [output.symbol for output in built.compact.problem.outputs]
    wide = [
        f"{symbol} {short(ratio, 2)}"
        for symbol, ratio in zip(symbols, built.over_found, strict=True)
        if ratio is not None and ratio >= WIDE
    ]
    return f"\nbounds over the worst found: {listing(wide)} times" if wide else ""


def _ends(program: Program, mass: float, built: Built) -> list[str]:
    """Return a line of what words' codes and zeros cost beside the logic, if anything is asked."""
    problem, load = built.compact.problem, program.load(mass)
    symbols = [output.symbol for output in load.outputs if output.rest is not None]
    formats = [one.format for one in problem.inputs] + [one.format for one in problem.outputs]
    if not symbols and not any(formats):
        return []
    whole = len(program.network(mass).nodes)
    text = f"words as asked for: {whole - built.nodes} nodes more, {whole} in all"
    free = [x.symbol for x in load.outputs if x.code.tread and x.rest is None]
    lines = [f"exactly 0 where what moves it is: {listing(symbols)}"] if symbols else []
    if free:
        lines.append(
            f"a cell at 0, but no promise at rest (a load, or no sum of terms): {listing(free)}"
        )
    return [text, *lines]


def unread(dropped: Mapping[str, int], asked: Mapping[str, int]) -> list[str]:
    """Return a line of the low bits that nobody reads, and one of the inputs nobody reads."""
    whole = [name for name, bits in dropped.items() if bits == asked[name]]
    low = [f"{name} {bits}" for name, bits in dropped.items() if bits and name not in whole]
    lines = (("low bits that nobody reads", low), ("not read at all", whole))
    return [f"{what}: {listing(names)}" for what, names in lines if names]


def _bound(built: Built, place: int) -> dict[str, Any]:
    """Return what no error of an output exceeds, how tight that is, or why nothing is said."""
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
