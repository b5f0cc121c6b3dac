"""`boolcomp verify`: equivalence of a program, its word graph and its exports; certificates."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from boolcomp.base.errors import DataError, UsageError
from boolcomp.base.results import ResultColumn, Results
from boolcomp.commands.options import FILES, json_option, print_result

if TYPE_CHECKING:
    from boolcomp.checker.claim import ClaimSource
    from boolcomp.measure.verify import Check
    from boolcomp.program.program import Program


@click.command("verify", epilog="Example: boolcomp verify out/2r --robot machado-2r")
@click.argument("program", shell_complete=FILES)
@click.option("--load", type=float, help="Payload in kg [default: all]")
@click.option("--chain-only", is_flag=True, help="Check only the program's certificate.")
@click.option("--robot", help="Robot (name or file) or function file that the certificate is for.")
@click.option("--allow-conditions", is_flag=True, help="Accept bounds that hold on conditions.")
@click.option("--checker", is_flag=True, help="Check the certificate in a separate process.")
@click.option("--with-tools", is_flag=True, help="Also use ABC, Yosys, Icarus, GHDL and Verilator.")
@click.option("--deadline", default=60.0, show_default=True, help="Time limit per proof in s.")
@json_option
def command(
    program: str,
    *,
    load: float | None,
    chain_only: bool,
    robot: str | None,
    allow_conditions: bool,
    checker: bool,
    with_tools: bool,
    deadline: float,
) -> None:
    """Check PROGRAM (a folder made by compile): its network against its word graph and an engine.

    A certificate (compile --certify) is checked first, step by step, by a checker that shares no
    code with the compiler. With --robot it must be for that robot or function, with the same
    parameters, ranges and limits; the compiler reads robots by name and formats other than TOML.
    Exports are written, read back by independent readers and proved equivalent to the program;
    exports of words are compared word by word. --with-tools adds proofs and simulations by other
    tools. Missing tools are listed and skipped. The exit code is 1 if a check fails, is undecided,
    or holds only on conditions that are not allowed.
    """
    from boolcomp.commands.output import progress
    from boolcomp.measure.verify import chain, chain_alone, chain_tools
    from boolcomp.program.files import load_program

    if chain_only and (with_tools or load is not None):
        raise UsageError("--with-tools and --load have no effect with --chain-only")
    claim = _claim_source(robot) if robot is not None else None
    with progress("verifying", None) as step:
        loaded = None if chain_only else load_program(program)
        needed = chain_only or allow_conditions or checker
        confirmed = (
            chain_alone(program, claim) if checker else chain(program, step, claim, needed=needed)
        )
        found = list(confirmed.steps)
        found += chain_tools(program, deadline, step) if with_tools else ()
    if loaded is not None:
        found += _others(loaded, load, deadline, with_tools=with_tools)
    allowed = [one for one in found if one.conditional] if allow_conditions else []
    holds = any(one.holds or one in allowed for one in found) and all(
        one.holds or one.skipped or one in allowed for one in found
    )
    results = Results(COLUMNS, found)
    document = {
        "holds": holds, "checks": results.documents,
        "not_verified": list(confirmed.not_verified), "described": confirmed.described,
        "robot": robot,
    }  # fmt: skip
    lines = [results.text(), *(f"not verified: {name}" for name in confirmed.not_verified)]
    if confirmed.described and robot is None:
        lines.append(confirmed.described)
    print_result(document, "\n".join(lines))
    if not holds:
        left = [one for one in found if one not in allowed]
        raise DataError(_failures(left) or "nothing was verified", where=program)


def _claim_source(name: str) -> ClaimSource:
    """Return the text of a robot or function file; other formats are converted by the compiler."""
    from boolcomp.base.files import is_file, read_text
    from boolcomp.checker.claim import ClaimSource
    from boolcomp.problem.problem import Problem
    from boolcomp.problem.sources import load_source

    path = Path(name)
    loaded = load_source(name)
    if path.suffix == ".toml" and is_file(path):
        return ClaimSource(read_text(path), name)
    return ClaimSource("" if isinstance(loaded, Problem) else str(loaded.mechanism), name)


def _others(
    loaded: Program, load: float | None, deadline: float, *, with_tools: bool
) -> list[Check]:
    """Return the checks that use the compiler's code, and those with tools."""
    from boolcomp.commands.output import progress
    from boolcomp.measure.verify import own_checks, tool_checks
    from boolcomp.measure.verify_words import word_checks

    found: list[Check] = []
    with progress("verifying", None) as step:
        found += own_checks(loaded, load, deadline, step)
        found += word_checks(loaded, load, step)
        if with_tools:
            found += tool_checks(loaded, load, deadline, step)
    return found


def _failures(found: list[Check]) -> str:
    """Return a message that lists failed, undecided and conditional checks."""
    wrong = [check.name for check in found if check.holds is False]
    unknown = [one for one in found if one.holds is None and not one.skipped]
    open_ = [check.name for check in unknown if not check.conditional]
    on = [check.name for check in unknown if check.conditional]
    parts = [f"failed: {', '.join(wrong)}"] if wrong else []
    parts += [f"undecided: {', '.join(open_)}"] if open_ else []
    parts += [f"hold on conditions: {', '.join(on)} (see --allow-conditions)"] if on else []
    return "; ".join(parts)


def _verdict(check: Check) -> str:
    if check.skipped:
        return "skipped"
    if check.conditional:
        return "on conditions"
    return {True: "yes", False: "no", None: "unknown"}[check.holds]


COLUMNS = (
    ResultColumn("name", "check", left=True),
    ResultColumn("method", "method", left=True),
    ResultColumn("cases", "cases"),
    ResultColumn("seconds", "seconds", text=".2f"),
    ResultColumn("holds"),
    ResultColumn("", "holds", _verdict),
    ResultColumn("note", "note", left=True),
    ResultColumn("conditional"),
)
