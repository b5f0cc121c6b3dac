"""`boolcomp verify`: whether a program, its word graph and its exports are one function."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from boolcomp.base.errors import DataError, UsageError, table
from boolcomp.commands.options import json_option, print_json

if TYPE_CHECKING:
    from boolcomp.checker.claim import Asked
    from boolcomp.measure.verify import Check
    from boolcomp.program.program import Program


@click.command("verify", epilog="Example: boolcomp verify out/2r --robot machado-2r")
@click.argument("program")
@click.option("--load", type=float, help="Tip load in kg [default: all]")
@click.option("--chain-only", is_flag=True, help="Check the program's certificate, and no more.")
@click.option("--robot", help="Robot (name or file) or function file that it must be of.")
@click.option("--allow-conditions", is_flag=True, help="Accept bounds that hold on conditions.")
@click.option("--checker", is_flag=True, help="Check the certificate in a process of its own.")
@click.option("--with-tools", is_flag=True, help="Ask ABC, Yosys, Icarus, GHDL, Verilator, too.")
@click.option("--deadline", default=60.0, show_default=True, help="Seconds a proof may take.")
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
    as_json: bool,
) -> None:
    """Check PROGRAM (a folder made by compile): its network against its word graph and an engine.

    Where it has a certificate (compile --certify), a checker that shares no code with the compiler
    checks that first, step by step. With --robot the certificate must speak of that robot or
    function: its parameters, ranges and stops; a name, or a format other than TOML, is read by the
    compiler. Exports are written, read back by readers of their own, and proved equivalent to the
    program, those of words word by word; with tools they are proved and simulated by others as
    well. What is not installed is named and skipped. The exit code is 1 where anything does not
    hold, is not known, or holds on conditions that are not allowed.
    """
    from boolcomp.commands.output import progress
    from boolcomp.measure.verify import chain, chain_alone, chain_tools
    from boolcomp.program.files import load_program

    if chain_only and (with_tools or load is not None):
        raise UsageError("--chain-only checks the certificate: --with-tools and --load add nothing")
    asked = _asked(robot) if robot is not None else None
    with progress("verifying", None) as step:
        loaded = None if chain_only else load_program(program)
        needed = chain_only or allow_conditions or checker
        confirmed = (
            chain_alone(program, asked) if checker else chain(program, step, asked, needed=needed)
        )
        found = list(confirmed.steps)
        found += chain_tools(program, deadline, step) if with_tools else ()
    if loaded is not None:
        found += _others(loaded, load, deadline, with_tools=with_tools)
    allowed = [one for one in found if one.conditional] if allow_conditions else []
    holds = any(one.holds or one in allowed for one in found) and all(
        one.holds or one.skipped or one in allowed for one in found
    )
    if as_json:
        said = {
            "holds": holds, "checks": [_document(check) for check in found],
            "not_verified": list(confirmed.not_verified), "described": confirmed.described,
            "robot": robot,
        }  # fmt: skip
        print_json(said)
    else:
        rows = [
            [check.name, check.method, f"{check.cases}", f"{check.seconds:.2f}",
             _said(check), check.note] for check in found
        ]  # fmt: skip
        click.echo(table(["check", "method", "cases", "seconds", "holds", "note"], rows, (0, 1, 5)))
        for name in confirmed.not_verified:
            click.echo(f"not verified: {name}")
        if confirmed.described and robot is None:
            click.echo(confirmed.described)
    if not holds:
        left = [one for one in found if one not in allowed]
        raise DataError(f"{program}: {_lacking(left) or 'nothing was verified'}")


def _asked(name: str) -> Asked:
    """Return the text of a robot or function file; another format as it is read by the compiler."""
    from boolcomp.base.files import is_file, read_text
    from boolcomp.checker.claim import Asked
    from boolcomp.problem.problem import Problem
    from boolcomp.problem.sources import load_source

    path = Path(name)
    loaded = load_source(name)
    if path.suffix == ".toml" and is_file(path):
        return Asked(read_text(path), name)
    return Asked("" if isinstance(loaded, Problem) else str(loaded.mechanism), name)


def _others(
    loaded: Program, load: float | None, deadline: float, *, with_tools: bool
) -> list[Check]:
    """Return what is checked with the compiler's own machinery, and with tools."""
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


def _lacking(found: list[Check]) -> str:
    """Say what does not hold, and of what nothing is known."""
    wrong = [check.name for check in found if check.holds is False]
    unknown = [one for one in found if one.holds is None and not one.skipped]
    open_ = [check.name for check in unknown if not check.conditional]
    on = [check.name for check in unknown if check.conditional]
    said = [f"these do not hold: {', '.join(wrong)}"] if wrong else []
    said += [f"nothing is known of these: {', '.join(open_)}"] if open_ else []
    said += [f"these hold on conditions: {', '.join(on)} (--allow-conditions)"] if on else []
    return "; ".join(said)


def _said(check: Check) -> str:
    if check.skipped:
        return "skipped"
    if check.conditional:
        return "on conditions"
    return {True: "yes", False: "no", None: "unknown"}[check.holds]


def _document(check: Check) -> dict[str, Any]:
    keys = ("name", "method", "cases", "seconds", "holds", "note", "conditional")
    return {key: asdict(check)[key] for key in keys}
