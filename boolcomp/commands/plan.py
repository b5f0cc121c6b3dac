"""`boolcomp plan`: the paper's Fig. 1 for any robot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from boolcomp.base.errors import UsageError, number, short, table
from boolcomp.base.files import write_output
from boolcomp.commands.options import (
    ONLY_COMPACT,
    ONLY_PAPER,
    FilePath,
    chosen,
    demand_options,
    function_options,
    json_option,
    own_bits,
    page_option,
    plan_options,
    print_json,
    refuse_others,
    source_argument,
    store_option,
    told,
)

if TYPE_CHECKING:
    from pathlib import Path

    from boolcomp.commands.options import CompactOptions
    from boolcomp.paper.covers import Store
    from boolcomp.paper.plan import Options, OutputPlan, Plan, TermPlan, Word

ONLY = {
    "paper": ONLY_PAPER,
    "compact": {
        **ONLY_COMPACT,
        "graph": "--graph",
        "error": "--error",
        "certify": "--certify",
        "processes": "--processes",
        "cluster": "--cluster",
    },
}
WIDEST_EXPRESSION = 44


@click.command("plan", epilog="Example: boolcomp plan machado-2r --bits 8 --json")
@source_argument
@function_options
@click.option(
    "--mode", default="paper", show_default=True, help="paper: its Fig. 1. compact: a word graph."
)
@plan_options()
@demand_options()
@click.option("--graph", type=FilePath(), help="Picture of the word graph: x.svg")
@store_option
@page_option
@json_option
@click.pass_context
def command(
    context: click.Context,
    robot: str,
    of: str,
    mode: str,
    *,
    options: Options,
    choices: CompactOptions,
    graph: Path | None,
    store: Store,
    page: Path | None,
    as_json: bool,
) -> None:
    """Print the paper's Fig. 1 for ROBOT: every term's range, width and input words.

    The plan is printed whatever comes of it; where a term is too wide for a table the exit code
    is 1 and a sentence says which. In compact mode the plan is the word graph that compile would
    choose: found by search, or read from the store.
    """
    from boolcomp.pipeline import check_mode, run_passes
    from boolcomp.problem.sources import problem_of

    check_mode(mode)
    refuse_others(context, mode, ONLY)
    problem = problem_of(robot, of)
    options = own_bits(context, options, problem)
    if mode == "compact":
        if page is not None:
            raise UsageError("--page is of the paper's plan; of a word graph say --graph x.svg")
        from boolcomp.commands.compile import plan_words
        from boolcomp.problem.problem import with_words

        folder = context.params.get("place")
        demand = choices.demand(options.bits)
        problem = with_words(problem, choices.words)
        if graph is not None and graph.suffix.lower() != ".svg":
            raise UsageError(f"--graph {graph}: the picture is an SVG: give a name ending in .svg")
        plan_words(problem, demand, choices.workers, folder, graph, as_json=as_json)
        return
    del store

    plan: Plan = run_passes(problem, options, "plan")
    if page is not None:
        from boolcomp.measure.stages import plan_page

        write_output(page, plan_page(plan, told("plan", robot, of, *chosen(options))))
    if as_json:
        print_json(_document(plan))
    else:
        click.echo("\n\n".join(_chart(output, options) for output in plan.outputs))
    plan.require_tables()


def _chart(plan: OutputPlan, options: Options) -> str:
    header = ["term", "expression", "range", "amplitude", "bits", "input bits", "used", "unused"]
    symbol = plan.output.symbol
    whole = [
        symbol,
        f"sum of {len(plan.terms)} terms",
        f"±{short(plan.code.range.high)}",
        short(plan.amplitude),
        str(plan.code.bits),
        str(plan.input_bits),
        f"{plan.used_states:.3g}",
        f"{plan.unused_states:.3g}",
    ]
    rows = [_row(term) for term in plan.terms]
    title = (
        f"{symbol}: {options.bits} bits, {plan.guard_bits} guard bits, {options.code} code, "
        f"common least significant bit {short(plan.step)}"
    )
    lines = [title, table(header, [whole, *rows], left=(0, 1, 5))]
    if plan.amplitude > plan.code.range.high:
        lines.append(f"{symbol} can exceed its range: it saturates there")
    if plan.left_out:
        names = ", ".join(_shortened(str(term), 30) for term in plan.left_out)
        lines.append(f"left out, together below half a common least significant bit: {names}")
    return "\n".join(lines)


def _row(term: TermPlan) -> list[str]:
    words = " + ".join(_read(word) for word in term.words)
    return [
        term.term.name,
        _shortened(str(term.term), WIDEST_EXPRESSION),
        f"±{short(term.code.range.high)}",
        short(term.amplitude),
        str(term.code.bits),
        f"{term.input_bits:2} = {words}{'  TOO WIDE' if term.too_wide else ''}",
        str(term.used_states) if not term.too_wide else f"{term.used_states:.3g}",
        str(term.unused_states) if not term.too_wide else f"{term.unused_states:.3g}",
    ]


def _read(word: Word) -> str:
    """Return what a table reads: 6 qdd1, or 6 ±qdd1 where a sign stands outside."""
    name = word.variable.name if word.sum is None else f"({word.variable.name})"
    return f"{word.inputs} {'±' if word.turning else ''}{name}"


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _document(plan: Plan) -> dict[str, Any]:
    return {
        "robot": plan.problem.name,
        "bits": plan.options.bits,
        "code": plan.options.code,
        "joints": [
            {
                "joint": joint,
                "range": one.code.range.high,
                "amplitude": _tidy(one.amplitude),
                "bits": one.code.bits,
                "guard_bits": one.guard_bits,
                "input_bits": one.input_bits,
                "used_states": one.used_states,
                "unused_states": one.unused_states,
                "lsb": one.step,
                "terms": [_term_document(term) for term in one.terms],
                "left_out": [str(term) for term in one.left_out],
            }
            for joint, one in enumerate(plan.outputs, 1)
        ],
    }


def _term_document(term: TermPlan) -> dict[str, Any]:
    return {
        "name": term.term.name,
        "expression": str(term.term),
        "range": term.code.range.high,
        "amplitude": _tidy(term.amplitude),
        "bits": term.code.bits,
        "input_bits": term.input_bits,
        "used_states": term.used_states,
        "unused_states": term.unused_states,
        "too_wide": term.too_wide,
        "inputs": [_word_document(word) for word in term.words],
    }


def _word_document(word: Word) -> dict[str, Any]:
    """Return a word; what stands outside of the table is there where anything does."""
    found: dict[str, Any] = {
        "variable": word.variable.name, "bits": word.code.bits, "dropped": word.dropped,
    }  # fmt: skip
    if word.turning:
        found["turning"] = [word.code.bits - 1 - place for place in word.turning]
    if word.sum is not None:
        found["sum"] = [
            {"variable": one.variable.name, "bits": one.code.bits, "times": one.times}
            for one in word.sum.addends
        ]
    return found


def _tidy(value: float) -> float:
    """Round to 12 digits, so that no machine's last bit shows in the output."""
    return float(number(float(f"{value:.12g}")))
