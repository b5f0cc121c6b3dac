"""`boolcomp plan`: Fig. 1 of the 1988 paper for any robot, or a word graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from boolcomp.base.errors import UsageError, number, short
from boolcomp.base.files import check_place, write_output
from boolcomp.base.results import ResultColumn, Results
from boolcomp.commands.options import (
    PLAN,
    FilePath,
    LongHelp,
    chosen,
    command_text,
    completes,
    json_option,
    option,
    options,
    page_option,
    print_result,
    refuse_others,
    source_argument,
    wants_all,
)
from boolcomp.options import DEMAND

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from boolcomp.options import GivenOptions
    from boolcomp.paper.plan import OutputPlan, Plan, PlanOptions, TableWord, TermPlan

WIDEST_EXPRESSION = 44
# Further options of compact mode.
COMPACT = ("graph", "accuracy", "error", "certify", "processes", "cluster")


@click.command("plan", cls=LongHelp, epilog="Example: boolcomp plan machado-2r --bits 8 --json")
@source_argument
@options(
    "function",
    option(
        "--mode", default="paper", hidden=True, shell_complete=completes("paper compact"),
    ),
    *PLAN, "work", *DEMAND,
    option(
        "-o", "--output", "graph", type=FilePath(), older=("--graph",),
        help="Picture of the word graph: x.svg",
    ),
    "store", page_option, json_option,
)  # fmt: skip
@click.pass_context
def command(
    context: click.Context,
    robot: str,
    mode: str,
    *,
    options: GivenOptions,
    graph: Path | None = None,
    page: Path | None = None,
) -> None:
    """Print Fig. 1 of the 1988 paper for ROBOT: range, width and input words of every term.

    If a term is too wide for a table, the plan is printed, and then an error message names the term
    (exit code 1). For the word graph that compile chooses see boolcomp graph.
    """
    from boolcomp.pipeline import check_mode, run_passes
    from boolcomp.problem.sources import problem_of

    check_mode(mode)
    refuse_others(context, mode, *COMPACT)
    problem = problem_of(robot, options.of)
    if mode == "compact":
        if page is not None:
            raise UsageError("--page needs --mode paper", "for a word graph use -o x.svg")
        from boolcomp.commands.compile import plan_words
        from boolcomp.problem.problem import with_words

        choices = options.compact(options.bits(problem))
        problem = with_words(problem, choices.words)
        if graph is not None and graph.suffix.lower() != ".svg":
            raise UsageError(f"-o {graph} is no name of a picture", "give a name that ends in .svg")
        if graph is not None:
            check_place(graph)
        plan_words(problem, choices, graph)
        return

    plan: Plan = run_passes(problem, options.plan(problem), "plan")
    if page is not None:
        from boolcomp.measure.stages import plan_page

        line = command_text("plan", robot, options.of, *chosen(plan.options))
        write_output(page, plan_page(plan, line))
    charts = "\n\n".join(_chart(output, plan.options) for output in plan.outputs)
    print_result(_document(plan), charts)
    plan.require_tables()


def _chart(plan: OutputPlan, options: PlanOptions) -> str:
    symbol = plan.output.symbol
    total, span = f"sum of {len(plan.terms)} terms", f"±{short(plan.code.range.high)}"
    whole = [
        symbol, total, span, short(plan.amplitude), str(plan.code.bits), str(plan.input_bits),
        f"{plan.used_states:.3g}", f"{plan.unused_states:.3g}",
    ]  # fmt: skip
    results = Results(TERMS, plan.terms)
    if not wants_all():
        whole = [symbol, total, span, str(plan.code.bits), str(plan.input_bits)]
        results = Results((*TERMS, SHORT), plan.terms).brief(BRIEF)
    title = (
        f"{symbol}: {options.bits} bits, {plan.guard_bits} guard bits, {options.code} code, "
        f"common least significant bit {short(plan.step)}"
    )
    lines = [title, results.text([whole])]
    if plan.amplitude > plan.code.range.high:
        lines.append(f"{symbol} can exceed its range: then it saturates")
    if plan.left_out:
        names = ", ".join(_shortened(str(term), 30) for term in plan.left_out)
        lines.append(f"left out (sum below half a common least significant bit): {names}")
    return "\n".join(lines)


def _inputs(term: TermPlan) -> str:
    words = " + ".join(_read(word) for word in term.words)
    return f"{term.input_bits:2} = {words}{'  TOO WIDE' if term.too_wide else ''}"


def _states(name: str) -> Callable[[TermPlan], str]:
    """Return a function that writes a number of input states, in short if it is large."""
    return lambda term: f"{getattr(term, name):{'.3g' if term.too_wide else ''}}"


def _read(word: TableWord) -> str:
    """Return an input of a table: 6 qdd1, or 6 ±qdd1 with the sign outside of the table."""
    name = word.variable.name if word.sum is None else f"({word.variable.name})"
    return f"{word.inputs} {'±' if word.turning else ''}{name}"


def _shortened(text: str, maximum: int) -> str:
    return text if len(text) <= maximum else text[: maximum - 1] + "…"


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
                "terms": Results(TERMS, one.terms).documents,
                "left_out": [str(term) for term in one.left_out],
            }
            for joint, one in enumerate(plan.outputs, 1)
        ],
    }


def _word_document(word: TableWord) -> dict[str, Any]:
    """Return a word, with signs (`turning`) and sums outside of the table if there are any."""
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
    return float(number(float(f"{value:.12g}")))


TERMS = (
    ResultColumn("name", "term", "term.name", left=True),
    ResultColumn("expression", "", lambda one: str(one.term)),
    ResultColumn(
        "", "expression", lambda one: _shortened(str(one.term), WIDEST_EXPRESSION), left=True
    ),
    ResultColumn("range", "range", "code.range.high", lambda x: f"±{short(x)}"),
    ResultColumn("amplitude", "", lambda one: _tidy(one.amplitude)),
    ResultColumn("", "amplitude", "amplitude", short),
    ResultColumn("bits", "bits", "code.bits"),
    ResultColumn("input_bits"),
    ResultColumn("", "input bits", _inputs, left=True),
    ResultColumn("used_states"),
    ResultColumn("", "used", _states("used_states")),
    ResultColumn("unused_states"),
    ResultColumn("", "unused", _states("unused_states")),
    ResultColumn("too_wide"),
    ResultColumn("inputs", "", lambda one: [_word_document(word) for word in one.words]),
)
SHORT = ResultColumn("", "short", lambda one: _shortened(str(one.term), 22), left=True)
BRIEF = "term, expression=short, range, bits, input bits"
