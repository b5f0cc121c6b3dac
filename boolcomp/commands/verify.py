"""`boolcomp verify`: whether a program, its word graph and its exports are one function."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from boolcomp.commands.options import json_option, print_json
from boolcomp.common.errors import DataError, UsageError
from boolcomp.common.text import table

if TYPE_CHECKING:
    from boolcomp.measure.verification.checks import Check
    from boolcomp.program.program import Program


@click.command("verify", epilog="Example: boolcomp verify out/2r --with-tools")
@click.argument("program")
@click.option("--load", type=float, help="Tip load in kg [default: all]")
@click.option("--chain-only", is_flag=True, help="Check the program's certificate, and no more.")
@click.option("--with-tools", is_flag=True, help="Ask ABC, Yosys, Icarus, GHDL, Verilator, too.")
@click.option("--deadline", default=60.0, show_default=True, help="Seconds a proof may take.")
@json_option
def command(
    program: str,
    *,
    load: float | None,
    chain_only: bool,
    with_tools: bool,
    deadline: float,
    as_json: bool,
) -> None:
    """Check PROGRAM (a folder made by compile): its network against its word graph and an engine.

    Where it has a certificate (compile --certify), a checker that shares no code with the compiler
    checks that first, step by step. Its exports are written, read back by readers of their own, and
    proved equivalent to it, those of words word by word; with tools they are proved and simulated
    by others as well. What is not installed is named and skipped. The exit code is 1 where anything
    does not hold, or is not known.
    """
    from boolcomp.commands.progress import progress
    from boolcomp.measure.verification.certified import chain_checks, chain_tools
    from boolcomp.program.programfile import load_program

    if chain_only and (with_tools or load is not None):
        raise UsageError("--chain-only checks the certificate: --with-tools and --load add nothing")
    found: list[Check] = []
    with progress("verifying", None) as step:
        loaded = None if chain_only else load_program(program)
        found += chain_checks(program, step, needed=chain_only)
        found += chain_tools(program, deadline, step) if with_tools else ()
    if loaded is not None:
        found += _others(loaded, load, deadline, with_tools=with_tools)
    holds = all(check.holds or check.skipped for check in found)
    if as_json:
        print_json({"holds": holds, "checks": [_document(check) for check in found]})
    else:
        rows = [
            [check.name, check.method, f"{check.cases}", f"{check.seconds:.2f}",
             _said(check), check.note] for check in found
        ]  # fmt: skip
        click.echo(table(["check", "method", "cases", "seconds", "holds", "note"], rows, (0, 1, 5)))
    if not holds:
        raise DataError(f"{program}: {_lacking(found)}")


def _others(
    loaded: Program, load: float | None, deadline: float, *, with_tools: bool
) -> list[Check]:
    """Return what is checked with the compiler's own machinery, and with tools."""
    from boolcomp.commands.progress import progress
    from boolcomp.measure.verification.checks import own_checks
    from boolcomp.measure.verification.tools import tool_checks
    from boolcomp.measure.verification.wordchecks import word_checks

    found: list[Check] = []
    with progress("verifying", None) as step:
        found += own_checks(loaded, load, deadline, step)
        found += word_checks(loaded, load, step)
        if with_tools:
            found += tool_checks(loaded, load, deadline, step)
    return found


def _lacking(found: list[Check]) -> str:
    """Say what does not hold, and of what nothing is known."""
    wrong = [check.name for check in found if check.holds is False]
    open_ = [check.name for check in found if check.holds is None and not check.skipped]
    said = [f"these do not hold: {', '.join(wrong)}"] if wrong else []
    said += [f"nothing is known of these: {', '.join(open_)}"] if open_ else []
    return "; ".join(said)


def _said(check: Check) -> str:
    if check.skipped:
        return "skipped"
    return {True: "yes", False: "no", None: "unknown"}[check.holds]


def _document(check: Check) -> dict[str, Any]:
    keys = ("name", "method", "cases", "seconds", "holds", "note")
    return {key: asdict(check)[key] for key in keys}
