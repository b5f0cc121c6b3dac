"""`boolcomp compile`: from a robot to a program, in compact mode or in the paper's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import click

from boolcomp.base.errors import short, table
from boolcomp.base.files import check_place
from boolcomp.commands.options import (
    ONLY_COMPACT,
    ONLY_MINIMISED,
    ONLY_PAPER,
    FilePath,
    demand_options,
    json_option,
    minimiser_options,
    plan_options,
    print_json,
    refuse_others,
    store_option,
    unchanging,
)
from boolcomp.commands.output import in_stages, share
from boolcomp.commands.said import described, error_table, in_steps, over_loads
from boolcomp.commands.sources import function_options, own_bits, source_argument
from boolcomp.commands.wordlength import AUTO, is_auto
from boolcomp.common.choices import masses as the_masses

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from boolcomp.commands.options import CompactOptions
    from boolcomp.common.workers import Workers
    from boolcomp.paper.covers import TermCover
    from boolcomp.paper.plan import Options
    from boolcomp.paper.store import Recipe, Store
    from boolcomp.pipeline import PaperCompilation
    from boolcomp.problem.problem import Problem
    from boolcomp.problem.promise import Promise
    from boolcomp.problem.robot.model import Robot


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
        from boolcomp.commands.compact import compile_words

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
    from boolcomp.common.workers import all_cores
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
    from boolcomp.paper.known import EVALUATIONS, SAMPLES

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
