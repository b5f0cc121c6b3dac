"""Fill the generated parts of the pages: `python docs/make_reference.py [--check]`.

A part lies between the lines `<!-- generated: NAME -->` and `<!-- end -->`. It is made from the
command line, the docstrings, the robots that ship and docs/results.json (see make_results.py).
A number after `<!--KEY.KEY-->` is that value of docs/results.json. Such a comment must not begin a
line, because Markdown would end the paragraph.
With --check nothing is written, and the exit code is 1 if a page has to change.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import math
import re
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import boolcomp
from boolcomp.api import CompiledProgram, RobotArm
from boolcomp.base import errors
from boolcomp.base.results import Results
from boolcomp.commands.group import cli
from boolcomp.commands.options import HELP_ALL
from boolcomp.commands.schedule import findings_of
from boolcomp.measure.report_page import Report
from boolcomp.measure.verify import Verification
from boolcomp.parallel.places import page_rows
from boolcomp.problem import Problem
from boolcomp.problem.outputs import NamedOutputs
from boolcomp.problem.robot.library import robot_names
from boolcomp.program.program import OutputErrors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

ROOT = Path(__file__).resolve().parents[1]
PAGES = (ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md")))
PART = re.compile(r"(^<!-- generated: ([\w-]+) -->\n).*?(^<!-- end -->$)", re.DOTALL | re.MULTILINE)
FIGURE = re.compile(r"(?<=\S )(<!--(\w[^>\n]*)-->)\d+")
WIDTH = 80  # of help texts


def commands() -> str:
    """Return the help of all commands, a section each."""
    return "\n".join(
        f"## {name}\n\n```text\n{text}\n```\n" for name, text in _helps(cli, "boolcomp", WIDTH)
    )


def _helps(command: click.Command, name: str, width: int) -> Iterator[tuple[str, str]]:
    with click.Context(
        command, info_name=name, max_content_width=width, terminal_width=width,
        **cli.context_settings,
    ) as at:  # fmt: skip
        at.meta[HELP_ALL] = True
        yield name, command.get_help(at)
        if isinstance(command, click.Group):
            for one in command.list_commands(at):
                if found := command.get_command(at, one):
                    yield from _helps(found, f"{name} {one}", width)


RECORDS = {  # the classes of values, and their members that are listed
    "A robot": (RobotArm, ("problem", "check")),
    "A problem": (Problem, ("__call__", "input")),
    "A program": (CompiledProgram, ()),
    "Outputs and errors of a program": (NamedOutputs, ()),
    "": (OutputErrors, ("found",)),
    "Results of measurements": (Report, ("save",)),
    " ": (Verification, ("ok",)),
    "  ": (Results, ("documents", "csv")),
}


def python() -> str:
    """Return signatures and docstrings of the public names in groups, and of their values."""
    parts = []
    for title, modules in boolcomp.GROUPS.items():
        parts.append(f"## {title}\n")
        names = [name for listed in modules.values() for name in listed.split()]
        parts += [_described(name, getattr(boolcomp, name)) for name in names]
    for title, (kind, chosen) in RECORDS.items():
        parts += [f"## {title}\n"] if title.strip() else []
        parts.append(_described(kind.__name__, kind))
        every = [name for name, _ in inspect.getmembers(kind) if not name.startswith("_")]
        own = every if kind is CompiledProgram else chosen
        members = {name: inspect.getattr_static(kind, name) for name in own}
        parts += [
            _described(f"{kind.__name__}.{name}", getattr(kind, name))
            for name, member in members.items()
            if inspect.getdoc(member)
        ]
    return "\n".join(parts)


class _Plain(str):
    """An annotation that is printed without quotes."""

    __slots__ = ()

    __repr__ = str.__str__


def _described(name: str, value: object) -> str:
    """Return a section with the signature of a name (not of errors) and its docstring."""
    error = isinstance(value, type) and issubclass(value, Exception)
    signature = name + (_signature(value) if callable(value) and not error else "")
    return f"### {name}\n\n```text\n{signature}\n\n{inspect.getdoc(value) or ''}\n```\n"


def _signature(value: Callable[..., object]) -> str:
    """Return a signature in lines of at most 100 characters, without addresses of functions."""
    found = inspect.signature(value)
    plain = found.replace(
        parameters=[
            one.replace(annotation=_Plain(one.annotation))
            if isinstance(one.annotation, str)
            else one
            for one in found.parameters.values()
        ],
        return_annotation=_Plain(found.return_annotation),
    )
    text = re.sub(r"<[^<>]*(?:<\w+>)?[^<>]* at 0x\w+>", "…", str(plain))
    return textwrap.fill(text, 100, subsequent_indent="    ", break_on_hyphens=False)


def robots() -> str:
    """Return a table of the robots that ship."""
    rows = []
    for name in robot_names():
        robot = boolcomp.load_robot(name)
        joints = "".join("R" if link.revolute else "P" for link in robot.links)
        mass = sum(link.mass for link in robot.links)
        rows.append((f"`{name}`", joints, f"{mass:.6g}", robot.title))
    return _table("robot|joints|mass, kg:|title", rows)


def _results() -> Any:
    return json.loads((ROOT / "docs" / "results.json").read_text("utf-8"))


def _table(columns: str, rows: Iterable[Sequence[object]]) -> str:
    """Return a table; columns with a colon at the end are numbers."""
    titles = columns.split("|")
    rule = ["--:" if title.endswith(":") else "---" for title in titles]
    lines = [[title.rstrip(":") for title in titles], rule, *(map(str, row) for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def first() -> str:
    """Return the table of the README: two programs, a column each."""
    two = list(_results()["first"].values())
    rows: dict[str, Callable[[Any], str]] = {
        "circuit: LUT3, depth": lambda x: f"{x['luts']}, {x['depth']}",
        "mapped by ABC to LUT4; LUT6": lambda x: f"{x['lut4']}; {x['lut6']}",
        "rms error, worst joint": lambda x: f"{x['rms']:.2f} LSB",
        "largest error found by search": lambda x: f"{x['found']:.1f} LSB",
        "proved limit of the error": lambda x: f"{_up(x['bound'])} LSB",
        "largest tip error in closed loop, 1 kHz ²": lambda x: f"{x['tip_mm']:.2f} mm",
        "AVR cycles; with `--target mcu8` ³": lambda x: _cycles(x["cycles"]),
    }
    return _table(
        "torques of 8 bits|2 joints (`machado-2r`):|6 joints (`puma560`) ¹:",
        [(title, *map(cell, two)) for title, cell in rows.items()],
    )


def landing() -> str:
    """Return the figures of the first page of the site."""
    two = _results()["first"]["machado-2r"]
    return (
        f"**{two['luts']} LUT3**, depth {two['depth']} · largest tip error in closed loop "
        f"**{two['tip_mm']:.2f} mm** · no error above **{_up(two['bound'])} LSB**, proved\n"
    )


def _up(bound: float) -> str:
    """Return a bound with one decimal, rounded up."""
    return f"{math.ceil(bound * 10) / 10:.1f}"


def _cycles(found: dict[str, int]) -> str:
    return f"{found['words']}; {found['words, --target mcu8']}"


def _sizes(rows: Iterable[Any], kind: str) -> str:
    return _table(
        f"{kind}|bits:|rms target, LSB|LUT3:|LUT6:|depth:|rms:|largest found:|proved:|grade",
        [
            (one["name"], one["bits"], one["target"] or "default", one["luts"], one["lut6"],
             one["depth"], f"{one['rms']:.2f}", f"{one['found']:.2f}",
             f"{_up(one['bound'])}" if one["bound"] else "none", one["grade"] or "")
            for one in rows
        ],
    )  # fmt: skip


def loops() -> str:
    """Return the tip errors of arms by word length."""
    found = dict(_results()["loops"])
    for arm, one in _results()["first"].items():
        found.setdefault(arm, {str(one["bits"]): one})
    bits = sorted({int(one) for row in found.values() for one in row if one != "exact"})
    return _table(
        f"arm|exact torques:|{'|'.join(f'{one} bits:' for one in bits)}",
        [
            (arm, _tip(row.get("exact")),
             *(_tip(row.get(str(one))) for one in bits))
            for arm, row in found.items()
        ],
    )  # fmt: skip


def _tip(one: Any) -> str:
    if not one:
        return ""
    return f"{one['tip_mm']:.2g}" + (f" ({one['luts']})" if one["luts"] else "")


def cycles() -> str:
    """Return the cycles of an AVR by design."""
    two = [one["cycles"] for one in _results()["first"].values()]
    designs = dict.fromkeys(name for one in two for name in one)
    return _table(
        "design|machado-2r:|puma560:",
        [(name, *(one.get(name, "") for one in two)) for name in designs],
    )


def luts() -> str:
    """Return the cells of the programs of the README."""
    rows = [(name, x["luts"], x["lut4"], x["lut6"]) for name, x in _results()["first"].items()]
    return _table("program|LUT3:|LUT4:|LUT6:", rows)


def fpga() -> str:
    """Return the recorded figures of nextpnr and of Verilog by hand."""
    return _table(
        "design|program|LUT4:|multipliers:|MHz:",
        [
            (one["design"], one["program"], one["lut4"], one["multipliers"], one.get("mhz", ""))
            for one in _results()["recorded"]["fpga"]
        ],
    )


def messages() -> str:
    """Return the messages of all places that raise an error, by room, with their hints."""
    rooms: dict[str, set[tuple[str, str]]] = {}
    for path in sorted((ROOT / "boolcomp").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and (row := _message(node)):
                rooms.setdefault(path.relative_to(ROOT / "boolcomp").parts[0], set()).add(row)
    return "\n".join(
        f"## {room}\n\n{_table('message|hint', sorted(rows))}" for room, rows in rooms.items()
    )


def papers() -> str:
    """Return a row for every table and figure of the papers."""
    return _table("paper|place|shows|result", page_rows(findings_of))


def _message(call: ast.Call) -> tuple[str, str] | None:
    """Return the message and the hint of a call that raises or makes an error."""
    name = str(getattr(call.func, "id", getattr(call.func, "attr", "")))
    given = [_template(one) for one in call.args]
    if name in {"unknown", "require_name"} and len(given) > 1:
        return f"unknown {given[0]} …", "did you mean …? … are …"
    if name in {"fail", "_refuse"}:
        given = given[len(given) > 1 and isinstance(call.args[0], ast.Name | ast.Attribute) :]
        keyed = len(given) > 1 and re.fullmatch(r"[a-z_.…]*", given[0]) is not None
        given = [f"{given[0]}: {given[1]}", *given[2:]] if keyed else given
    elif name not in ERRORS:
        return None
    texts = [" ".join(text.split()).replace("|", "\\|").replace("<", "&lt;") for text in given]
    what, hint = (*texts, "", "")[:2]
    return (what, hint) if what.strip("…: ") else None


def _template(node: ast.expr) -> str:
    """Return a text with … in the place of values."""
    if isinstance(node, ast.JoinedStr):
        return "".join(map(_template, node.values))
    if isinstance(node, ast.BinOp):
        return _template(node.left) + _template(node.right)
    return str(node.value) if isinstance(node, ast.Constant) else "…"


ERRORS = {name for name, value in vars(errors).items()
          if isinstance(value, type) and issubclass(value, errors.BoolcompError)}  # fmt: skip
PARTS: dict[str, Callable[[], str]] = {
    "messages": messages,
    "papers": papers,
    "commands": commands,
    "python": python,
    "robots": robots,
    "first": first,
    "landing": landing,
    "results-programs": lambda: _sizes(_results()["programs"], "arm"),
    "results-functions": lambda: _sizes(_results()["functions"], "function"),
    "results-loops": loops,
    "results-cycles": cycles,
    "results-luts": luts,
    "results-fpga": fpga,
}


def _figure(match: re.Match[str]) -> str:
    found = _results()
    for key in match[2].split("."):
        found = found[int(key) if isinstance(found, list) else key]
    return f"{match[1]}{found}"


def filled(text: str) -> str:
    """Return a page with all generated parts and figures made anew."""
    text = FIGURE.sub(_figure, text)
    return PART.sub(lambda match: f"{match[1]}\n{PARTS[match[2]]()}\n{match[3]}", text)


def main() -> int:
    """Write or check the pages."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    changed = [page for page in PAGES if (text := page.read_text("utf-8")) != filled(text)]
    for page in changed:
        if not check:
            page.write_text(filled(page.read_text("utf-8")), "utf-8")
        print(f"{page.relative_to(ROOT)}: {'out of date' if check else 'written'}")
    return bool(check and changed)


if __name__ == "__main__":
    sys.exit(main())
