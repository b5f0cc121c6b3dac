"""Arguments and options that several commands share, and helpers to print results."""

from __future__ import annotations

import functools
import json
import os
import re
import shlex
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import click

from boolcomp.base.errors import UsageError, cut, listing, short, shown, suggestion
from boolcomp.base.files import is_file, similar_names
from boolcomp.options import AUTO, HEADINGS, OPTIONS, GivenOptions, Option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from click.shell_completion import CompletionItem

    from boolcomp.base.results import Results
    from boolcomp.base.store import ResultPlace
    from boolcomp.paper.plan import PlanOptions
    from boolcomp.problem.problem import Problem
    from boolcomp.problem.words import Interval

    Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
    Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


# --------------------------------------------------------------------------------------------------
# Shell completion of values.
# --------------------------------------------------------------------------------------------------


def completes(known: str = "", *, files: bool = False) -> Completer:
    """Return a `shell_complete` for words, or for names in a module: `targets.target:WRITERS`."""

    def complete(_at: click.Context, _of: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        module, _, name = known.partition(":")
        found = getattr(import_module(f"boolcomp.{module}"), name) if name else known.split()
        names = found() if callable(found) else found
        # Files come first: bash drops items that precede them.
        first = [CompletionItem("", type="file")] if files else []
        return [*first, *(CompletionItem(one) for one in names if one.startswith(incomplete))]

    return complete


FILES = completes(files=True)
ROBOTS = completes("problem.robot.library:robot_names", files=True)


# --------------------------------------------------------------------------------------------------
# Paths, and locations of stores.
# --------------------------------------------------------------------------------------------------


if TYPE_CHECKING:
    _PathType = click.ParamType[Path]
    _AnyType = click.ParamType[Any]
else:
    _PathType = _AnyType = click.ParamType  # not generic before click 8.4

MOST_PROCESSES = 256
LONGEST_NAME = 255  # bytes of a file name without its folders


class FilePath(_PathType):
    """A path with a valid file name; with `folder` it must not be an existing file."""

    name = "path"
    shell_complete = staticmethod(FILES)  # type: ignore[assignment]  # it has names for arguments

    def __init__(self, *, folder: bool = False) -> None:
        self.folder = folder

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path, or fail with an error message."""
        text = os.fspath(value)
        if not text:
            self.fail("the name is empty: give a file or folder", param, ctx)
        try:
            longest = max((len(os.fsencode(part)) for part in Path(text).parts), default=0)
        except UnicodeEncodeError:
            longest = LONGEST_NAME + 1
        if longest > LONGEST_NAME or "\0" in text:
            self.fail(f"{shown(text)} is not a valid file name", param, ctx)
        if self.folder and is_file(Path(text)):
            self.fail(f"{shown(text)} is a file, not a folder", param, ctx)
        return Path(text)


class StorePlace(FilePath):
    """The location of a result store: a folder or an address; converting does not open it."""

    name = "place"

    def __init__(self) -> None:
        super().__init__(folder=True)

    def convert(  # type: ignore[override]  # a place, which may be a folder
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> ResultPlace:
        """Return the location, or fail with an error message."""
        from boolcomp.base.store import place_of

        text = os.fspath(value) if isinstance(value, str | os.PathLike) else ""
        if "://" in text:
            return place_of(text)
        return place_of(super().convert(value, param, ctx))


# --------------------------------------------------------------------------------------------------
# Help with headings: the short form has the brief options, --help-all has all.
# --------------------------------------------------------------------------------------------------


HELP_ALL = "boolcomp.help-all"  # key of a context whose help has all options
ORDER = ("What", "Loop", *dict.fromkeys([*HEADINGS.values(), "Help"]))
LEFT = 24  # columns of the widest option whose text begins on the same line


class GroupedOption(click.Option):
    """An option under a heading of the help; only `brief` ones are in the short form.

    `older` spellings are read and not displayed.
    """

    def __init__(
        self, *names: Any, heading: str = "Output", brief: bool = True, older: Sequence[str] = (),
        **more: Any,
    ) -> None:  # fmt: skip
        super().__init__(*names, **more)
        self.heading, self.brief, self.older = heading, brief, older

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Add the option with its older spellings to a parser."""
        displayed, self.opts = self.opts, [*self.opts, *self.older]
        super().add_to_parser(parser, ctx)
        self.opts = displayed


def option(*names: str, **more: Any) -> Decorator:
    return click.option(*names, cls=GroupedOption, **more)


def _help_all(context: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001
    if value:
        context.meta[HELP_ALL] = True
        click.echo(context.get_help(), color=context.color)
        context.exit()


class LongHelp(click.Command):
    """A command with many options: --help shows the brief ones, --help-all shows all.

    `also` is a heading whose options are all in the short form, too; the heading `without` is in
    neither form.
    """

    also = ""

    def __init__(self, *names: Any, without: str = "", **more: Any) -> None:
        super().__init__(*names, **more)
        self.without = without
        whole = click.Option(
            ["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=_help_all,
            help="Show all options and exit.",
        )  # fmt: skip
        self.params.append(whole)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options under their headings."""
        every = ctx.meta.get(HELP_ALL, False)
        found: dict[str, list[tuple[str, str]]] = {heading: [] for heading in ORDER}
        for one in self.get_params(ctx):
            if isinstance(one, click.Argument):
                continue
            record, heading = one.get_help_record(ctx), getattr(one, "heading", "Help")
            brief = heading == self.also or getattr(one, "brief", False)
            if record and heading != self.without and (every or brief):
                found[heading].append(record)
        for heading, rows in found.items():
            if rows:
                with formatter.section(heading):
                    formatter.write_dl([(f"{name:{LEFT}}", it) for name, it in rows], col_max=LEFT)
        if not every:
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_text(f"All options: {ctx.command_path} --help-all")


WIDTH = 80  # columns of short outputs


def _remember(context: click.Context, of: click.Parameter, value: bool) -> None:  # noqa: FBT001
    context.meta[f"boolcomp.{of.name}"] = value or context.meta.get(f"boolcomp.{of.name}", False)


def _flag(*names: str, **more: Any) -> Decorator:
    return option(*names, is_flag=True, expose_value=False, callback=_remember, **more)


def json_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add -v and --json."""
    json_ = _flag("--json", "as_json", help="Print one JSON document.")
    return _flag("-v", "--verbose", help="Print all figures, in wide tables.")(json_(function))


def _megahertz(_at: click.Context, _of: click.Parameter, value: str | None) -> float:
    if value is None:
        return 0.0
    from boolcomp.targets.clock import megahertz

    return megahertz(value)


clock_option = option(
    "--clock", metavar="FREQUENCY", callback=_megahertz,
    help="Clock to reach, 150MHz or 6.67ns: the number of stages follows from it.",
)  # fmt: skip
close_option = option(
    "--close", is_flag=True, help="Correct these stages by nextpnr (stored), in at most two rounds."
)
interface_option = option(
    "--interface", help="plain, valid (default of a pipeline) or stream: AXI4-Stream."
)


page_option = option("--page", type=FilePath(), help="Also write an HTML page: x.html")


# --------------------------------------------------------------------------------------------------
# The options of compilations, as `boolcomp/options.py` declares them.
# --------------------------------------------------------------------------------------------------


class WordLength(_AnyType):
    """A word length, or `auto`."""

    name = "integer"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number of bits, or `auto`."""
        try:
            return value if value == AUTO else int(value)
        except ValueError:
            self.fail(f"{shown(value)} is neither a whole number nor {AUTO}", param, ctx)


class Mass(_AnyType):
    """A mass in kg; for commands with an input of that name also a range, 0..5, as text."""

    name = "float"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return a number, or the text of a range."""
        if ".." in str(value) and ctx and any(x.name == "load_range" for x in ctx.command.params):
            return value
        return click.FLOAT.convert(value, param, ctx)


def payload_option(name: str = "load", **more: Any) -> Decorator:
    """Return the option of one payload, or of a list of them as text."""
    usual = {"type": Mass(), "help": "Payload in kg (programs with several payloads).",
             "heading": "What", "older": ("--load",)}  # fmt: skip
    return option("--payload", name, **{**usual, **more})


def spelled(name: str) -> str:
    """Return the option of the command line that gives a value, for messages."""
    one = OPTIONS[name]
    return one.within or (one.spelled or f"--{name.replace('_', '-')}").split()[0]


def changed(name: str, **properties: Any) -> tuple[str, Option]:
    """Return an option of the table with other properties, for one command."""
    return name, OPTIONS[name]._replace(**properties)


PLAN = (  # the group `plan` without --bits auto
    changed("bits", kind=int, metavar="N",
            help="Word length of a torque, 2 to 16 (paper mode: 4 to 16)."),
    "code", "guard_bits", "splits", "rounding", "signs", "sums",
)  # fmt: skip


def _decorator(name: str, one: Option) -> Decorator:
    own, *older = (one.spelled or f"--{name.replace('_', '-')}").split()
    shape: dict[str, Any] = {
        "heading": HEADINGS[one.group], "brief": one.brief, "hidden": bool(one.within),
        "older": older,
    }  # fmt: skip
    if one.kind is bool:
        return option(own, name, is_flag=True, help=one.help, **shape)
    types: dict[str, Any] = {"store": StorePlace(), "bits": WordLength()}
    return option(
        own, name, default=one.default, help=one.help,
        type=types.get(name, str) if one.kind is str else one.kind, multiple=name == "words",
        show_default="[default" not in one.help, metavar=one.metavar or one.choices or None,
        shell_complete=completes(one.values) if one.values else None, **shape,
    )  # fmt: skip


def options(*items: str | tuple[str, Option] | Decorator) -> Decorator:
    """Add options, in this order; those of the table are passed on as `options`.

    An item is a name or a group of the table, a changed option, or an option of click.
    """
    listed: list[tuple[str, Option] | Decorator] = []
    for item in items:
        if not isinstance(item, str):
            listed.append(item)
            continue
        group = [(name, one) for name, one in OPTIONS.items() if one.group == item]
        listed += group or [(item, OPTIONS[item])]
    names = [item[0] for item in listed if isinstance(item, tuple)]
    own = {OPTIONS[name].within.partition("--accuracy ")[2]: name for name in names}
    kinds = {kind: own[kind] for kind in KINDS if kind in own}
    if kinds:
        heads = [one[0] if isinstance(one, tuple) else "" for one in listed]
        listed.insert(min(map(heads.index, kinds.values())), _accuracy_option(kinds))

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapped(*args: Any, **more: Any) -> Any:
            values = {name: more.pop(name, None) for name in names}
            found = {name: value for name, value in values.items() if value is not None}
            context = click.get_current_context()
            _part(context, found, accuracies(more.pop("accuracy", None) or (), kinds))
            _part(context, found, _load_range(context, found, more))
            if not given(context, "bits"):
                found["bits"] = None
            _check_work(context, found)
            return function(
                *args, options=GivenOptions.read(found, spelled, converted=True), **more
            )

        made: Callable[..., Any] = wrapped
        for item in reversed(listed):
            made = (_decorator(*item) if isinstance(item, tuple) else item)(made)
        return made

    return decorate


KINDS = {  # of accuracy: an example and a description
    "rms": ("0.5", "rms error in LSB"),
    "found": ("3", "largest error found by search, in LSB"),
    "proved": ("1lsb", "limit for every input, slower (1lsb, 0.5Nm, tau1:1lsb,tau2:2lsb)"),
}


def _accuracy_option(kinds: Mapping[str, str]) -> Decorator:
    texts = "; ".join(f"{kind}: {KINDS[kind][1]}" for kind in kinds)
    about = f"Allowed error, of all outputs or of each. {texts} [default: rms of the 1988 tables]"
    shape = "|".join(f"{kind}={KINDS[kind][0]}" for kind in kinds)
    return option("--accuracy", multiple=True, heading="Accuracy", metavar=shape, help=about)


def accuracies(texts: Iterable[str], kinds: Mapping[str, str]) -> dict[str, str]:
    """Return the values of options by `rms=.5,.4`, `found=3` and `proved=tau1:1lsb,tau2:2lsb`."""
    found: dict[str, list[str]] = {}
    for text in texts:
        kind = ""
        for part in text.split(","):
            head, equals, value = (one.strip() for one in part.partition("="))
            if not equals or (head not in kinds and kind and "=" in found[kind][-1]):
                value = part  # one more value of this kind
            elif head not in kinds or head in found:
                why = "is given twice" if head in found else "is no kind of accuracy"
                raise UsageError(
                    f"{shown(head)} {why} (--accuracy {shown(text)})",
                    f"{suggestion(head, kinds)}kinds are {listing(kinds)}, as in rms=0.5",
                )
            else:
                kind = head
            if not kind:
                head = "rms" if text.replace(",", "").replace(".", "").isdecimal() else "proved"
                raise UsageError(
                    f"--accuracy {shown(text)} has no kind", f"give {head}={cut(text)}"
                )
            found.setdefault(kind, []).append(value.replace(":", "="))
    return {kinds[kind]: ",".join(values) for kind, values in found.items()}


def _part(context: click.Context, found: dict[str, Any], parts: Mapping[str, str]) -> None:
    """Enter values that another option gives, as if their own options did."""
    for name, value in parts.items():
        if given(context, name):
            own = f"--{name.replace('_', '-')}"
            raise UsageError(f"{own} and {spelled(name)} are the same", "give one")
        found[name] = value
        context.set_parameter_source(name, click.core.ParameterSource.COMMANDLINE)


def _load_range(context: click.Context, found: Any, more: Any) -> dict[str, str]:
    """Take a range of payloads, 0..5, out of the values of --payload: it is another option."""
    parts, usual = {}, {"payload": None, "payloads": OPTIONS["payloads"].default}
    for name, values in (("payload", more), ("payloads", found)):
        if ".." in str(values.get(name)):
            parts["load_range"], values[name] = values[name], usual[name]
            context.set_parameter_source(name, click.core.ParameterSource.DEFAULT)
    if given(context, "load_range") and given(context, "payloads"):
        raise UsageError("--payload and --load-range are the same", "give one")
    return parts


def _check_work(context: click.Context, found: Mapping[str, Any]) -> None:
    """Raise a `UsageError` for impossible values of --processes and --cluster."""
    if found.get("processes") is not None:
        within("--processes", found["processes"], 1, MOST_PROCESSES)
    if found.get("cluster") is not None:
        from boolcomp.base.workers import way

        if given(context, "processes"):
            raise UsageError("--processes and --cluster exclude each other", "give one")
        way(found["cluster"])


def ends(span: Interval) -> str:
    """Return a range as it is printed in tables: ±1.5 or 0 .. 2."""
    if span.low == -span.high:
        return f"±{short(span.high)}"
    return f"{short(span.low)} .. {short(span.high)}"


def within(option: str, value: int, minimum: int, maximum: int) -> None:
    """Raise a `UsageError` if a number is too small or too large."""
    if not minimum <= value <= maximum:
        raise UsageError(f"{option} must be {minimum} to {maximum}, not {shown(value)}")


def given(context: click.Context, name: str) -> bool:
    return context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE


def refuse_others(context: click.Context, mode: str, *compact: str) -> None:
    """Raise a `UsageError` for an option of the other mode; names in `compact` also have one."""
    modes = {name: one.mode for name, one in OPTIONS.items()} | dict.fromkeys(compact, "compact")
    for name, other in modes.items():
        if other not in ("", mode) and given(context, name):
            raise UsageError(
                f"{_spelling(context, name)} belongs to --mode {other}, not to --mode {mode}"
            )


def refuse_given(context: click.Context, names: Iterable[str], why: str) -> None:
    """Raise a `UsageError` for the first of these options that is given."""
    for name in names:
        if given(context, name):
            raise UsageError(f"{_spelling(context, name)} has no effect: {why}")


def _spelling(context: click.Context, name: str) -> str:
    found = next((one for one in context.command.params if one.name == name), None)
    if not isinstance(found, click.Option) or (found.hidden and name in OPTIONS):
        return spelled(name)
    return (found.secondary_opts or found.opts)[-1]


def wants_json() -> bool:
    return bool(click.get_current_context().meta.get("boolcomp.as_json"))


def wants_all() -> bool:
    """Tell whether wide tables with all figures are to be printed (-v)."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get("boolcomp.verbose"))


def tabled(results: Results, brief: str) -> str:
    """Return a table as text: the columns of `brief`, with -v all."""
    return (results if wants_all() else results.brief(brief)).text()


def folded(text: str) -> str:
    """Break sentences (lines without columns) after 80 characters; with -v they are left."""
    lines = []
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        whole = len(line) <= WIDTH or "  " in line.strip() or wants_all()
        lines += [line] if whole else wrap(
            line, WIDTH, subsequent_indent=" " * (indent + 2), break_on_hyphens=False,
            break_long_words=False,
        )  # fmt: skip
    return "\n".join(lines)


def print_result(
    document: Any, text: str | Callable[[], str], note: str = "", *, err: bool = False,
    file: bool = False,
) -> None:  # fmt: skip
    """Print a document if --json is given, else text, and a note on standard error.

    With `err` the text is a message, too; with `file` it is a file, whose lines are not broken.
    """
    if wants_json():
        click.echo(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))
    else:
        made = text if isinstance(text, str) else text()
        click.echo(made if file else folded(made), err=err)
        if note:
            click.echo(folded(note), err=True)


def unchanging(problem: Problem) -> list[str]:
    """Return a line that lists constant outputs, if there are any, and the problem's notes."""
    named = [f"{name} = {short(value)}" for name, value in problem.constants]
    constant = [f"constant, therefore not compiled: {listing(named)}"] if named else []
    return [*constant, *problem.notes]


def numbers(option: str, text: str) -> tuple[int, ...]:
    """Read `8`, `4-12` or `4,6,8`."""
    result: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,4})(?:\s*-\s*(\d{1,4}))?\s*", part)
        if match is None or int(match[2] or match[1]) < int(match[1]):
            raise UsageError(
                f"{option} {shown(text)} is not a list of numbers",
                "give a number, a range or a list, such as 8, 4-12 or 4,6,8",
            )
        result += range(int(match[1]), int(match[2] or match[1]) + 1)
    return tuple(dict.fromkeys(result))


# --------------------------------------------------------------------------------------------------
# Arguments and options that select a robot, its arm, a function of it, or a file.
# --------------------------------------------------------------------------------------------------


DESCRIPTIONS = (".urdf", ".sdf", ".mjcf", ".xml")  # robot files; the content tells the format


def chain_options(argument: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add --base and --tip, passed on as part of the robot's name: `arm.urdf#base..tip,tip`."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @option(
            "--base", metavar="LINK", heading="What",
            help="Base link of a URDF, MJCF or SDF model [default: the root]",
        )  # fmt: skip
        @option(
            "--tip", "tips", multiple=True, metavar="LINK", heading="What",
            help="End link of a URDF, MJCF or SDF model; repeat for a tree [default: the only "
            "leaf]",
        )  # fmt: skip
        @functools.wraps(function)
        def wrapped(*args: Any, base: str | None, tips: tuple[str, ...], **more: Any) -> Any:
            name = more[argument]
            if base is not None or tips:
                if name is None or not name.endswith(DESCRIPTIONS):
                    raise UsageError(
                        "--base and --tip select an arm of a URDF, MJCF or SDF file", "give one"
                    )
                more[argument] = f"{name}#{base or ''}..{','.join(tips)}"
            return function(*args, **more)

        return wrapped

    return decorate


def source_argument(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add ROBOT|FUNCTION, a name or a file, with --base and --tip."""
    argument = click.argument("robot", metavar="ROBOT|FUNCTION", shell_complete=ROBOTS)
    return argument(chain_options("robot")(function))


def check_robot(name: str) -> None:
    """Raise a `UsageError` for a name that is neither a robot nor a program folder."""
    from boolcomp.problem.robot.library import robot_names

    file = name.partition("#")[0].endswith((".toml", *DESCRIPTIONS)) or is_file(Path(name))
    if name not in robot_names() and not file:
        hint = similar_names(Path(name)) or suggestion(Path(name).name, robot_names())
        raise UsageError(
            "no program folder and no robot has this name",
            hint or "boolcomp robots lists the robots that ship", where=cut(name) or shown(name),
        )  # fmt: skip


def command_text(command: str, source: str, of: str, *more: str) -> str:
    """Return a command line as it is printed on pages."""
    from boolcomp.problem.functions import USUAL

    function = [] if of == USUAL else [f"--of {of}"]
    return " ".join(["boolcomp", command, shlex.quote(source), *function, *more])


def chosen(options: PlanOptions) -> list[str]:
    """Return the options of a plan as command-line words: --bits and all that are not default."""
    return [
        f"--{one.name.replace('_', '-')} {value}"
        for one in fields(options)
        if (value := getattr(options, one.name)) != one.default or one.name == "bits"
    ]
