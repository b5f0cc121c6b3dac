"""Arguments and options that several commands share, and helpers to print results."""

from __future__ import annotations

import functools
import json
import os
import re
import shlex
from dataclasses import dataclass, field, fields, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from boolcomp.base.errors import UsageError, cut, listing, reals, short, shown, suggestion, widths
from boolcomp.base.files import is_file, similar_names

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from click.shell_completion import CompletionItem

    from boolcomp.base.store import ResultPlace
    from boolcomp.base.workers import Workers
    from boolcomp.compact.demand import Demand
    from boolcomp.paper.plan import PlanOptions
    from boolcomp.problem.problem import Problem, Promise
    from boolcomp.problem.robot.model import Robot
    from boolcomp.problem.words import Interval, WordFormat
    from boolcomp.program.program import Program

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
# The type of --bits, which may be `auto` with an --error in a unit.
# --------------------------------------------------------------------------------------------------


USUAL_BITS = 8
AUTO, _FOUND = "auto", "boolcomp.bits"

if TYPE_CHECKING:
    _IntegerType = click.ParamType[int]
else:
    _IntegerType = click.ParamType  # not generic before click 8.4


class WordLength(_IntegerType):
    """A word length, or `auto`: then a flag is set in the context and the value is the default."""

    name = "integer"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number of bits."""
        if value == AUTO and ctx is not None:
            ctx.meta[_FOUND] = True
            return USUAL_BITS
        try:
            return int(value)
        except ValueError:
            self.fail(f"{shown(value)} is neither a whole number nor {AUTO}", param, ctx)


def is_auto(context: click.Context) -> bool:
    return bool(context.meta.get(_FOUND))


# --------------------------------------------------------------------------------------------------
# The options of parallel work: --processes and --cluster.
# --------------------------------------------------------------------------------------------------


MOST_PROCESSES = 256


def cluster_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add --cluster, passed on as an argument of `executor`, or None; it excludes --processes."""

    @click.option(
        "--cluster",
        help="Use a Dask cluster: tcp://host:8786, a scheduler file, or local:4 (local workers).",
    )
    @functools.wraps(function)
    def wrapped(*args: Any, cluster: str | None, **more: Any) -> Any:
        if cluster is not None:
            from boolcomp.base.workers import way

            if given(click.get_current_context(), "processes"):
                raise UsageError("--processes and --cluster exclude each other: give one")
            way(cluster)
        return function(*args, cluster=cluster, **more)

    return wrapped


def work_options(usual: str = "2") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add --processes and --cluster, passed on as `workers`: None if neither was given.

    The help text of --processes states the default as `usual`.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @click.option(
            "--processes", type=int, help=f"Number of worker processes [default: {usual}]"
        )
        @cluster_option
        @functools.wraps(function)
        def wrapped(*args: Any, processes: int | None, cluster: str | None, **more: Any) -> Any:
            return function(*args, workers=_workers(processes, cluster), **more)

        return wrapped

    return decorate


def _workers(processes: int | None, cluster: str | None) -> Workers | None:
    if processes is not None and not 1 <= processes <= MOST_PROCESSES:
        raise UsageError(f"--processes must be 1 to {MOST_PROCESSES}, not {shown(processes)}")
    if processes is None and cluster is None:
        return None
    from boolcomp.base.workers import Workers

    return Workers.of(processes, cluster)


# --------------------------------------------------------------------------------------------------
# Paths, plans, minimisers, stores, compact mode; helpers for values and JSON.
# --------------------------------------------------------------------------------------------------


if TYPE_CHECKING:
    _PathType = click.ParamType[Path]
else:
    _PathType = click.ParamType  # not generic before click 8.4

# Options of one mode only, keyed by click's parameter names.
ONLY_PAPER = {
    "code": "--code", "guard_bits": "--guard-bits", "splits": "--splits",
    "rounding": "--rounding", "signs": "--signs", "sums": "--sums",
}  # fmt: skip
ONLY_MINIMISED = {"method": "--minimizer", "deadline": "--deadline"}
ONLY_COMPACT = {
    "rms_error": "--rms-error", "max_error": "--max-error", "input_bits": "--input-bits",
    "saturate": "--saturate", "objective": "--objective", "target": "--target",
    "flash": "--flash", "effort": "--effort",
    "seed": "--seed", "word": "--word",
    "proof": "--proof", "proof_effort": "--proof-effort",
    "approximate": "--approximate",
}  # fmt: skip

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


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
page_option = click.option("--page", type=FilePath(), help="Also write an HTML page: x.html")


def plan_options(
    *, bits: bool = True, auto: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the options of a plan, passed on as `PlanOptions`.

    Without `bits` the options --bits and --guard-bits are left out; with `auto` the value of
    --bits may be `auto`: see `is_auto`.
    """
    choices = {
        "bits": click.option(
            "--bits",
            type=WordLength() if auto else int,
            default=USUAL_BITS,
            show_default=True,
            help="Word length of a torque, 2 to 16 (paper mode: 4 to 16)"
            + (", or auto: the fewest bits for an --error in a unit." if auto else "."),
        ),
        "code": click.option(
            "--code",
            default="gray",
            show_default=True,
            help="Code of words: gray, natural, twos, sign-magnitude.",
            shell_complete=completes("gray natural twos sign-magnitude"),
        ),
        "guard_bits": click.option(
            "--guard-bits", type=int, help="Extra bits of every term [default: int log2(p+1)]"
        ),
        "splits": click.option(
            "--splits", type=int, help="Cuts per torque [default: all cuts that cost nothing]"
        ),
        "rounding": click.option(
            "--rounding",
            default="nearest",
            show_default=True,
            help="Rounding of table entries: nearest, faithful.",
            shell_complete=completes("nearest faithful"),
        ),
        "signs": click.option(
            "--signs",
            default="inside",
            show_default=True,
            help="Signs of odd terms inside or outside of tables: inside, outside.",
            shell_complete=completes("inside outside"),
        ),
        "sums": click.option(
            "--sums",
            default="inside",
            show_default=True,
            help="Sums of angles inside or outside of tables: inside, outside.",
            shell_complete=completes("inside outside"),
        ),
    }
    if not bits:
        del choices["bits"], choices["guard_bits"]

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapped(*args: Any, **given: Any) -> Any:
            from boolcomp.paper.plan import PlanOptions

            options = PlanOptions(**{name: given.pop(name) for name in choices})
            return function(*args, options=options, **given)

        for option in reversed(choices.values()):
            wrapped = option(wrapped)
        return wrapped

    return decorate


def minimiser_options(
    name: str, deadline: float = 60.0
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the option of the method under this name and --deadline, passed on as a `Recipe`."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @click.option(
            name,
            "method",
            default="own",
            show_default=True,
            help="exact (with proof), own (heuristic), espresso, isop (fastest).",
            shell_complete=completes("twolevel.minimisation:METHODS"),
        )
        @click.option(
            "--deadline",
            default=deadline,
            show_default=True,
            help="Seconds per table; 0: no limit.",
        )
        @functools.wraps(function)
        def wrapped(*args: Any, method: str, deadline: float, **more: Any) -> Any:
            from boolcomp.twolevel.minimisation import Recipe

            return function(*args, recipe=Recipe(method, deadline or None), **more)

        return wrapped

    return decorate


def store_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add --store, passed on as a `CoverStore`."""

    @click.option(
        "--store",
        "place",
        type=StorePlace(),
        help="Cache of results: a folder or s3://bucket/folder [default: the user's cache]",
    )
    @functools.wraps(function)
    def wrapped(*args: Any, place: ResultPlace | None, **more: Any) -> Any:
        from boolcomp.paper.covers import default_store

        return function(*args, store=default_store(place and place.check()), **more)

    return wrapped


@dataclass(frozen=True, slots=True)
class CompactOptions:
    """The options of compact mode; None selects the default of `Demand`."""

    rms: tuple[float, ...]
    max: tuple[float, ...]
    input_bits: dict[str, int]
    saturate: bool
    objective: Any
    effort: float | None
    seed: int
    target: Any = "luts"
    flash: int = 0
    workers: Workers | None = None
    words: dict[str, WordFormat] = field(default_factory=dict)
    proof: Any = None
    proof_effort: int | None = None
    certify: bool = False
    error: Promise | None = None
    approximate: Any = None

    @property
    def proofs(self) -> dict[str, Any]:
        """The options of bounds and certificates as arguments of `CompactChoices`."""
        effort = {} if self.proof_effort is None else {"proof_effort": self.proof_effort}
        return {"proof": self.proof, "certify": self.certify, **effort}

    def demand(self, bits: int) -> Demand:
        """Return the accuracy target and cost model at a word length."""
        from boolcomp.compact.demand import usual_demand

        given = {} if self.effort is None else {"effort": self.effort}
        return usual_demand(
            bits, self.input_bits, rms=self.rms, max=self.max, saturate=self.saturate,
            objective=self.objective, target=self.target, flash=self.flash, seed=self.seed,
            error=self.error, grade=self.proof or "tight", approximate=self.approximate, **given,
        )  # fmt: skip


_DEMAND = {
    "error": click.option(
        "--error",
        help="Guarantee that no error exceeds this value: 1lsb, 0.5Nm, 1lsb,0.8lsb or tau1=1lsb. "
        "Slower. --input-bits then sets maximum widths [default: about bits + 5]",
    ),
    "rms_error": click.option(
        "--rms-error",
        help="Allowed rms error in LSB: .5, or .43,.58 [default: that of the 1988 tables]",
    ),
    "max_error": click.option(
        "--max-error",
        help="Limit in LSB on the largest error found by search, one value or one per joint.",
    ),
    "input_bits": click.option(
        "--input-bits", help="Widths of input words: 10, or q=12,qd=8,qdd3=9 [default: bits + 2]"
    ),
    "saturate": click.option(
        "--saturate",
        is_flag=True,
        help="Saturate torques outside their range [default: add a bit to their words]",
    ),
    "objective": click.option(
        "--objective",
        default="nodes",
        show_default=True,
        help="Quantity to minimise: nodes, depth.",
        shell_complete=completes("logic.synthesis:OBJECTIVES"),
    ),
    "approximate": click.option(
        "--approximate",
        help="Trade unused error budget for size: off, tables (change table entries; bound still "
        "proved), free (experimental: change any node; no bound) [default: tables; off with "
        "--error and for code targets]",
    ),
    "target": click.option(
        "--target",
        default="luts",
        show_default=True,
        help="Cost model of the search: luts (LUT3), lut4, lut6, gates, carry, dsp; mcu8, mcu32, "
        "simd.",
        shell_complete=completes("compact.demand:TARGETS"),
    ),
    "flash": click.option(
        "--flash", default=0, help="Bytes for tables (targets mcu8, mcu32) [default: 16384, 65536]"
    ),
    "effort": click.option(
        "--effort",
        type=float,
        help="Search budget for smaller logic, in nominal seconds of one core [default: 30]. "
        "Smaller values also shorten the search for the largest error, 0 to a million evaluations. "
        "Work is counted, not timed: the result is the same on any machine.",
    ),
    "seed": click.option(
        "--seed", default=0, show_default=True, help="Seed of samples and search."
    ),
    "proof": click.option(
        "--proof",
        help="Tightness of the proved bound: plain, tables (every addend by itself), or tight "
        "[default: tight if it takes about 5 s at most or with --error, else plain].",
        shell_complete=completes("plain tables tight"),
    ),
    "proof_effort": click.option(
        "--proof-effort",
        type=int,
        help="Work budget of a tight bound, counted, not timed: the bound is the same on any "
        "machine [default: 2000; 20 without --proof]",
    ),
    "certify": click.option(
        "--certify", is_flag=True, help="Save a certificate with the program, for verify."
    ),
    "word": click.option(
        "--word",
        multiple=True,
        metavar="NAME=FORMAT",
        help="Format of a word: q1=gray:12:0..2pi, tau=twos:10:tread. Code (gray, natural, twos, "
        "sign-magnitude), bits, low..high, rise (no zero code) or tread (zero code).",
    ),
}
ONLY_COMPILED = ("error", "seed", "word", "certify", "approximate")


def demand_options(*, seed: bool = True) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the options of compact mode, passed on as `CompactOptions`.

    Without `seed` the options of compilation alone are left out.
    """
    options = {k: option for k, option in _DEMAND.items() if seed or k not in ONLY_COMPILED}

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapped(*args: Any, workers: Workers | None, **given: Any) -> Any:
            from boolcomp.problem.problem import promise_of
            from boolcomp.problem.words import formats

            chosen = {name: given.pop(name) for name in options}
            choices = CompactOptions(
                reals("--rms-error", chosen.pop("rms_error")),
                reals("--max-error", chosen.pop("max_error")),
                widths("--input-bits", chosen.pop("input_bits")),
                words=formats("--word", chosen.pop("word", ())),
                error=promise_of("--error", chosen.pop("error", None)),
                workers=workers,
                **{"seed": 0, **chosen},
            )
            return function(*args, choices=choices, **given)

        for option in reversed(options.values()):
            wrapped = option(wrapped)
        return work_options("2; paper mode and report: one per core")(wrapped)

    return decorate


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


def refuse_others(context: click.Context, mode: str, only: Mapping[str, Mapping[str, str]]) -> None:
    """Raise a `UsageError` if an option of another mode is given; `only` lists them by mode."""
    for other, names in only.items():
        for name, option in names.items():
            if other != mode and given(context, name):
                raise UsageError(f"{option} belongs to --mode {other}, not to --mode {mode}")


def refuse_given(context: click.Context, names: Mapping[str, str], why: str) -> None:
    """Raise a `UsageError` for the first of these options that is given."""
    for name, option in names.items():
        if given(context, name):
            raise UsageError(f"{option} has no effect: {why}")


def print_json(document: Any) -> None:
    click.echo(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))


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
                f"{option} {shown(text)}: give a number, a range or a list: 8, 4-12, 4,6,8"
            )
        result += range(int(match[1]), int(match[2] or match[1]) + 1)
    return tuple(dict.fromkeys(result))


# --------------------------------------------------------------------------------------------------
# Arguments and options that select a robot, its arm, a function of it, or a file.
# --------------------------------------------------------------------------------------------------


DESCRIPTIONS = (".urdf", ".sdf", ".mjcf", ".xml")  # robot files; the content tells the format

# Options that select a function of a robot, keyed by click's parameter names.
FUNCTION = {
    "of": "--of", "friction": "--friction", "smoothing": "--smoothing", "kp": "--kp", "kd": "--kd",
    "load_range": "--load-range", "elbow": "--elbow",
}  # fmt: skip
_FUNCTION = (
    click.option(
        "--of",
        default="inverse-dynamics",
        show_default=True,
        help="Function of the robot: gravity, bias, inertia, forward-kinematics, jacobian, "
        "derivatives, computed-torque, pd-gravity, control, forward-dynamics, inverse-kinematics.",
        shell_complete=completes("problem.functions:NAMES"),
    ),
    click.option(
        "--friction", is_flag=True, help="Include joint friction (inverse dynamics only)."
    ),
    click.option(
        "--smoothing",
        help="Speed v (rad/s, m/s) at which dry friction is smoothed to tanh(qd/v): one value or "
        "one per joint [default: 2 % of a joint's largest speed]",
    ),
    click.option(
        "--kp", help="Position gain, one value or one per joint (control only) [default: 100]"
    ),
    click.option(
        "--kd", help="Speed gain, one value or one per joint (control only) [default: 20]"
    ),
    click.option("--load-range", help="Range of the payload (kg) as an input word: 0..5"),
    click.option("--elbow", help="up or down (inverse kinematics only) [default: up]"),
)


def function_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that select a function of a robot, passed on as its full name `of`."""

    @functools.wraps(function)
    def wrapped(
        *args: Any, of: str, friction: bool, load_range: str | None, elbow: str | None, **more: Any
    ) -> Any:
        from boolcomp.problem.functions import function_name

        gains = {key: more.pop(key) for key in ("smoothing", "kp", "kd")}
        name = function_name(of, friction=friction, load=load_range, elbow=elbow, **gains)
        return function(*args, of=name, **more)

    for option in reversed(_FUNCTION):
        wrapped = option(wrapped)
    return wrapped


def chain_options(argument: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add --base and --tip, passed on as part of the robot's name: `arm.urdf#base..tip,tip`."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @click.option("--base", help="Base link of a URDF, MJCF or SDF model [default: the root]")
        @click.option(
            "--tip",
            "tips",
            multiple=True,
            help="End link of a URDF, MJCF or SDF model; repeat for a tree [default: the only "
            "leaf]",
        )
        @functools.wraps(function)
        def wrapped(*args: Any, base: str | None, tips: tuple[str, ...], **more: Any) -> Any:
            name = more[argument]
            if base is not None or tips:
                if name is None or not name.endswith(DESCRIPTIONS):
                    raise UsageError(
                        "--base and --tip select an arm of a URDF, MJCF or SDF file: give such a "
                        "file"
                    )
                more[argument] = f"{name}#{base or ''}..{','.join(tips)}"
            return function(*args, **more)

        return wrapped

    return decorate


def source_argument(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add ROBOT|FUNCTION, a name or a file, with --base and --tip."""
    argument = click.argument("robot", metavar="ROBOT|FUNCTION", shell_complete=ROBOTS)
    return argument(chain_options("robot")(function))


def own_bits(context: click.Context, options: PlanOptions, source: Robot | Problem) -> PlanOptions:
    """Return options with the word length of a function file, unless --bits is given."""
    bits = None if given(context, "bits") else getattr(source, "bits", None)
    return options if bits is None else replace(options, bits=bits)


def check_robot(name: str) -> None:
    """Raise a `UsageError` for a name that is neither a robot nor a program folder."""
    from boolcomp.problem.robot.library import robot_names

    file = name.partition("#")[0].endswith((".toml", *DESCRIPTIONS)) or is_file(Path(name))
    if name not in robot_names() and not file:
        hint = similar_names(Path(name)) or suggestion(Path(name).name, robot_names())
        raise UsageError(f"{cut(name) or shown(name)}: neither a program folder nor a robot{hint}")


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


def shipped(name: str) -> str | None:
    """Return the built-in robot of a program's name, whatever its function, or None."""
    from boolcomp.problem.functions import USUAL, function_of
    from boolcomp.problem.robot.library import robot_names

    return next(
        (one for one in robot_names() if name == one or function_of(name, one) != USUAL), None
    )


def solved_problem(
    program: Program, place: str, name: str, payload: float
) -> tuple[Problem, Robot | None]:
    """Return the problem of a program with a payload, and its robot, from a robot's name or file.

    Raise a `UsageError` if the program was compiled for another one.
    """
    from boolcomp.problem.functions import function_of, robot_problem
    from boolcomp.problem.problem import Problem
    from boolcomp.problem.robot.model import with_payload
    from boolcomp.problem.sources import load_source, problem_of

    loaded = load_source(name)
    if isinstance(loaded, Problem):
        problem, robot = problem_of(loaded, mass=payload), None
    else:
        robot = with_payload(loaded, payload)
        problem = robot_problem(robot, function_of(program.name, loaded.name))
    if (problem.name, len(problem.outputs)) != (program.name, len(program.outputs)):
        raise UsageError(
            f"{place} was compiled for {program.name} with {len(program.outputs)} outputs, not "
            f"for {problem.name} with {len(problem.outputs)}: give its robot with --robot"
        )
    return problem, robot


def shipped_or_refused(source: str, name: str) -> str:
    """Return the built-in robot of a program; raise a `UsageError` if there is none."""
    robot = shipped(name)
    if robot is None:
        here = f"{name}.toml"
        file = here if is_file(Path(here)) else "FILE"
        raise UsageError(
            f"{source} was compiled for {shown(name)}, which is not a built-in robot: "
            f"give its robot or function file with --robot {file}"
        )
    return robot
