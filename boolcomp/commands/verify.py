"""`boolcomp verify`: equivalence of a program, its word graph and its exports; certificates."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from boolcomp.base.errors import DataError, UsageError, listing
from boolcomp.commands.options import FILES, json_option, payload_option, print_result, tabled

if TYPE_CHECKING:
    from boolcomp.measure.verify import Check


@click.command("verify", epilog="Example: boolcomp verify out/2r --robot machado-2r")
@click.argument("program", shell_complete=FILES)
@payload_option(help="Payload in kg [default: all]")
@click.option("--chain-only", is_flag=True, help="Check only the program's certificate.")
@click.option("--file", shell_complete=FILES, help="Prove this .v, .vhd, .blif, .aig or .aag file.")
@click.option("--top", help="Its module or entity [default: the only one on top].")
@click.option("--robot", help="Robot (name or file) or function file that the certificate is for.")
@click.option("--allow-conditions", is_flag=True, help="Accept bounds that hold on conditions.")
@click.option("--checker", is_flag=True, help="Check the certificate in a separate process.")
@click.option("--with-tools", is_flag=True, help="Also use ABC, Yosys, Icarus, GHDL and Verilator.")
@click.option("--deadline", default=60.0, show_default=True, help="Time limit per proof in s.")
@json_option
def command(
    program: str, *, load: float | None, chain_only: bool, file: str | None, top: str | None,
    robot: str | None, allow_conditions: bool, checker: bool, with_tools: bool, deadline: float,
) -> None:  # fmt: skip
    """Check PROGRAM (a folder made by compile): its network against its word graph and an engine.

    A certificate (compile --certify) is checked first, step by step, by a checker that shares no
    code with the compiler. With --robot it must be for that robot or function, with the same
    parameters, ranges and limits; the compiler reads robots by name and formats other than TOML.
    Exports are written, read back by independent readers and proved equivalent to the program;
    exports of words are compared word by word. --with-tools adds proofs and simulations by other
    tools. Missing tools are listed and skipped. The exit code is 1 if a check fails, is undecided,
    or holds only on conditions that are not allowed. With --file, only the equivalence of that file
    and the program is proved. Verilog is read by Yosys unless it is as exported, VHDL by GHDL.
    """
    from boolcomp.commands.output import progress
    from boolcomp.measure.solved import claim_source
    from boolcomp.measure.verify import (
        CertificateVerdict,
        Verification,
        chain,
        chain_alone,
        chain_tools,
        verdict_of,
    )
    from boolcomp.measure.verify_file import file_checked
    from boolcomp.measure.verify_words import all_checks
    from boolcomp.program.files import load_program

    if chain_only and (with_tools or load is not None):
        raise UsageError("--with-tools and --payload have no effect with --chain-only")
    if file is not None and (chain_only or robot or checker or with_tools):
        raise UsageError("--file has no effect with other checks", "give only --payload, --top")
    if top is not None and file is None:
        raise UsageError("--top has no effect without --file")
    claim = claim_source(robot) if robot is not None else None
    with progress("verifying", None) as step:
        loaded = None if chain_only else load_program(program)
        needed = chain_only or allow_conditions or checker
        if file is not None:
            confirmed = CertificateVerdict((), (), "")
        elif checker:
            confirmed = chain_alone(program, claim)
        else:
            confirmed = chain(program, step, claim, needed=needed)
        found = list(confirmed.steps)
        found += chain_tools(program, deadline, step) if with_tools else ()
    if loaded is not None:
        with progress("verifying", None) as step:
            if file is not None:
                found.append(file_checked(loaded, load, Path(file), top, deadline, step))
            else:
                found += all_checks(loaded, load, deadline, step, tools=with_tools)
    made = Verification(rows=found, conditions=allow_conditions)
    document = {
        "holds": made.ok, "checks": made.documents,
        "not_verified": list(confirmed.not_verified), "described": confirmed.described,
        "robot": robot,
    }  # fmt: skip
    names = {"yes": "hold", "no": "fail", "unknown": "undecided"}
    counts = Counter(names.get(verdict, verdict) for verdict in map(verdict_of, found))
    total = listing(f"{count} {name}" for name, count in sorted(counts.items()))
    lines = [tabled(made, "check, method, holds"), f"checks: {total}"]
    lines += [f"{one.name}: {one.note}" for one in found if one.note and not one.holds]
    lines += [*(f"not verified: {name}" for name in confirmed.not_verified)]
    if confirmed.described and robot is None:
        lines.append(confirmed.described)
    print_result(document, "\n".join(lines))
    if not made.ok:
        left = [one for one in found if not made.passed(one)]
        raise DataError(_failures(left) or "nothing was verified", where=program)


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
