"""Arguments and options that several commands share, and how results are printed."""

from __future__ import annotations

import functools
import json
import os
import re
import shlex
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from boolcomp.base.errors import UsageError, cut, listing, reals, short, shown, suggestion, widths
from boolcomp.base.files import is_file

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from boolcomp.base.store import Place
    from boolcomp.base.workers import Workers
    from boolcomp.compact.demand import Demand
    from boolcomp.paper.plan import Options
    from boolcomp.problem.problem import Problem, Promise
    from boolcomp.problem.robot.model import Robot
    from boolcomp.problem.words import Interval, WordFormat


# --------------------------------------------------------------------------------------------------
# The option of a word length, which may be `auto` where an error is promised in a unit.
# --------------------------------------------------------------------------------------------------


USUAL_BITS = 8
AUTO, _FOUND = "auto", "boolcomp.bits"

if TYPE_CHECKING:
    _IntegerType = click.ParamType[int]
else:
    _IntegerType = click.ParamType  # not generic before click 8.4


class WordLength(_IntegerType):
    """A word length, or `auto`, which the context remembers; bits are then the usual ones."""

    name = "integer"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number."""
        if value == AUTO and ctx is not None:
            ctx.meta[_FOUND] = True
            return USUAL_BITS
        try:
            return int(value)
        except ValueError:
            self.fail(f"{shown(value)}: a whole number, or {AUTO}", param, ctx)


def is_auto(context: click.Context) -> bool:
    """Tell whether the word length is to be found."""
    return bool(context.meta.get(_FOUND))


# --------------------------------------------------------------------------------------------------
# The options that say where work is done: --processes and --cluster.
# --------------------------------------------------------------------------------------------------


MOST_PROCESSES = 256


def cluster_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add --cluster, and hand it on as what `executor` takes, or None.

    Who gives --processes too, if a command has that, is told that they are two ways.
    """

    @click.option(
        "--cluster",
        help="Dask does the work: tcp://host:8786, a scheduler file, or local:4 (workers here).",
    )
    @functools.wraps(function)
    def wrapped(*args: Any, cluster: str | None, **more: Any) -> Any:
        if cluster is not None:
            from boolcomp.base.workers import way

            said = click.get_current_context().get_parameter_source("processes")
            if said is click.core.ParameterSource.COMMANDLINE:
                raise UsageError(
                    "--processes are of this machine, --cluster is another way: give one"
                )
            way(cluster)
        return function(*args, cluster=cluster, **more)

    return wrapped


def work_options(usual: str = "2") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add --processes and --cluster, handed on as `workers`: None where none of them was given.

    `usual` is what is said of that.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @click.option("--processes", type=int, help=f"That work side by side [default: {usual}]")
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
# Arguments and options that several commands share, and how results are printed.
# --------------------------------------------------------------------------------------------------


if TYPE_CHECKING:
    _PathType = click.ParamType[Path]
else:
    _PathType = click.ParamType  # not generic before click 8.4

# Options that only one mode has, by the names that click gives their values.
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

LONGEST_NAME = 255  # bytes of a file's name, without its folders


class FilePath(_PathType):
    """A path whose name a file can have; `folder` says that it must be none of a file."""

    name = "path"

    def __init__(self, *, folder: bool = False) -> None:
        self.folder = folder

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path, or fail with a sentence."""
        text = os.fspath(value)
        if not text:
            self.fail("an empty name: give that of a file or folder", param, ctx)
        try:
            longest = max((len(os.fsencode(part)) for part in Path(text).parts), default=0)
        except UnicodeEncodeError:
            self.fail(f"{shown(text)} cannot be the name of a file", param, ctx)
        if longest > LONGEST_NAME or "\0" in text:
            self.fail(f"{shown(text)} cannot be the name of a file", param, ctx)
        if self.folder and is_file(Path(text)):
            self.fail(f"{shown(text)} is a file, and not a folder", param, ctx)
        return Path(text)


class StorePlace(FilePath):
    """Where results are kept: a folder, or an address, which only a command that runs opens."""

    name = "place"

    def __init__(self) -> None:
        super().__init__(folder=True)

    def convert(  # type: ignore[override]  # a place, which may be a folder
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Place:
        """Return the place, or fail with a sentence."""
        from boolcomp.base.store import place_of

        text = os.fspath(value) if isinstance(value, str | os.PathLike) else ""
        if "://" in text:
            return place_of(text)
        return place_of(super().convert(value, param, ctx))


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
page_option = click.option("--page", type=FilePath(), help="The same as a page: x.html")


def plan_options(
    *, bits: bool = True, auto: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the options of a plan, and hand them on as plan `Options`; `bits` may be left out.

    They may be `auto` as well: see `is_auto`.
    """
    choices = {
        "bits": click.option(
            "--bits",
            type=WordLength() if auto else int,
            default=USUAL_BITS,
            show_default=True,
            help="Word length of a torque, 2 to 16 (mode paper: 4 to 16)"
            + (", or auto: what an --error in a unit takes." if auto else "."),
        ),
        "code": click.option(
            "--code",
            default="gray",
            show_default=True,
            help="Code of words: gray, natural, twos, sign-magnitude.",
        ),
        "guard_bits": click.option(
            "--guard-bits", type=int, help="Extra bits of every term [default: int log2(p+1)]"
        ),
        "splits": click.option(
            "--splits", type=int, help="Cuts per torque [default: as many as are free]"
        ),
        "rounding": click.option(
            "--rounding",
            default="nearest",
            show_default=True,
            help="Of tables: nearest, faithful.",
        ),
        "signs": click.option(
            "--signs", default="inside", show_default=True, help="Of odd terms: inside, outside."
        ),
        "sums": click.option(
            "--sums", default="inside", show_default=True, help="Of angles: inside, outside."
        ),
    }
    if not bits:
        del choices["bits"], choices["guard_bits"]

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapped(*args: Any, **given: Any) -> Any:
            from boolcomp.paper.plan import Options

            options = Options(**{name: given.pop(name) for name in choices})
            return function(*args, options=options, **given)

        for option in reversed(choices.values()):
            wrapped = option(wrapped)
        return wrapped

    return decorate


def minimiser_options(
    name: str, deadline: float = 60.0
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the method's option under this name and --deadline, and hand them on as a `Recipe`."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @click.option(
            name,
            "method",
            default="own",
            show_default=True,
            help="exact (with proof), own (heuristic), espresso, isop (at once).",
        )
        @click.option(
            "--deadline", default=deadline, show_default=True, help="Seconds a table; 0: no limit."
        )
        @functools.wraps(function)
        def wrapped(*args: Any, method: str, deadline: float, **more: Any) -> Any:
            from boolcomp.twolevel.minimisation import Recipe

            return function(*args, recipe=Recipe(method, deadline or None), **more)

        return wrapped

    return decorate


def store_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add --store, and hand it on as a `Store`."""

    @click.option(
        "--store",
        "place",
        type=StorePlace(),
        help="Folder, or s3://bucket/folder, of results [default: the user's cache]",
    )
    @functools.wraps(function)
    def wrapped(*args: Any, place: Place | None, **more: Any) -> Any:
        from boolcomp.paper.covers import default_store

        return function(*args, store=default_store(place and place.check()), **more)

    return wrapped


@dataclass(frozen=True, slots=True)
class CompactOptions:
    """What was said of compact mode; None is what `Demand` takes by itself."""

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
        """What was said of bounds and certificates."""
        effort = {} if self.proof_effort is None else {"proof_effort": self.proof_effort}
        return {"proof": self.proof, "certify": self.certify, **effort}

    def demand(self, bits: int) -> Demand:
        """Return the demand at a word length."""
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
        help="What no error may exceed, proved: 1lsb, 0.5Nm, 1lsb,0.8lsb or tau1=1lsb. Widths of "
        "inputs are then the most that may be read [default: about bits + 5]",
    ),
    "rms_error": click.option(
        "--rms-error", help="Allowed rms error in LSB: .5, or .43,.58 [default: the paper's own]"
    ),
    "max_error": click.option(
        "--max-error", help="Largest error in LSB that a search may find, for all joints or each."
    ),
    "input_bits": click.option(
        "--input-bits", help="Widths of input words: 10, or q=12,qd=8,qdd3=9 [default: bits + 2]"
    ),
    "saturate": click.option(
        "--saturate", is_flag=True, help="Torques beyond their range saturate [default: a bit more]"
    ),
    "objective": click.option(
        "--objective", default="nodes", show_default=True, help="Made small: nodes, depth."
    ),
    "approximate": click.option(
        "--approximate",
        help="Smaller logic that errs more, as allowed: off, tables (their entries: all is still "
        "proved), cones (bits of sums too: in the bounds), free (any node: nothing is proved). "
        "[default: tables; off of code and of --error]",
    ),
    "target": click.option(
        "--target",
        default="luts",
        show_default=True,
        help="What widths are chosen for: luts (nodes of three inputs), lut4, lut6, gates, carry, "
        "dsp; mcu8, mcu32, simd.",
    ),
    "flash": click.option(
        "--flash", default=0, help="Bytes for tables, of mcu8 and mcu32 [default: 16384, 65536]"
    ),
    "effort": click.option(
        "--effort",
        type=float,
        help="How long to look for less logic, in nominal seconds of one core [default: 30]. "
        "Below that fewer evaluations seek the worst error, with 0 a million. Work is counted, "
        "not timed: the same result anywhere.",
    ),
    "seed": click.option("--seed", default=0, show_default=True, help="Of samples and search."),
    "proof": click.option(
        "--proof",
        help="How tight a bound is proved: plain, tables (every addend by itself), or tight "
        "[default: tight where that takes about 5 s at most, else plain; of an --error tight].",
    ),
    "proof_effort": click.option(
        "--proof-effort",
        type=int,
        help="Of a tight bound: how much is looked at. Work is counted, not timed: the same bound "
        "anywhere [default: 2000; 20 without --proof]",
    ),
    "certify": click.option(
        "--certify", is_flag=True, help="Save a certificate with the program, for verify."
    ),
    "word": click.option(
        "--word",
        multiple=True,
        metavar="NAME=FORMAT",
        help="A word as it is given or wanted: q1=gray:12:0..2pi, tau=twos:10:tread. Code (gray, "
        "natural, twos, sign-magnitude), bits, low..high, rise or tread (a cell at zero).",
    ),
}
ONLY_COMPILED = ("error", "seed", "word", "certify", "approximate")


def demand_options(*, seed: bool = True) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the options of compact mode, handed on as `CompactOptions`.

    Without `seed` those of compilation alone are left out.
    """
    options = {k: option for k, option in _DEMAND.items() if seed or k not in ONLY_COMPILED}

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapped(*args: Any, workers: Workers | None, **given: Any) -> Any:
            from boolcomp.problem.problem import promise_of
            from boolcomp.problem.words import formats

            chosen = {name: given.pop(name) for name in options}
            asked = formats("--word", chosen.pop("word", ()))
            promised = promise_of("--error", chosen.pop("error", None))
            choices = CompactOptions(
                reals("--rms-error", chosen.pop("rms_error")),
                reals("--max-error", chosen.pop("max_error")),
                widths("--input-bits", chosen.pop("input_bits")),
                words=asked,
                error=promised,
                workers=workers,
                **{"seed": 0, **chosen},
            )
            return function(*args, choices=choices, **given)

        for option in reversed(options.values()):
            wrapped = option(wrapped)
        return work_options("2; in paper mode and reports one a core")(wrapped)

    return decorate


def ends(span: Interval) -> str:
    """Return a range as tables show it."""
    if span.low == -span.high:
        return f"±{short(span.high)}"
    return f"{short(span.low)} .. {short(span.high)}"


def within(option: str, value: int, least: int, most: int) -> None:
    """Raise a `UsageError` for a whole number that is too small or too large."""
    if not least <= value <= most:
        raise UsageError(f"{option} must be {least} to {most}, not {shown(value)}")


def given(context: click.Context, name: str) -> bool:
    """Tell whether an option was given on the command line."""
    return context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE


def refuse_others(context: click.Context, mode: str, only: Mapping[str, Mapping[str, str]]) -> None:
    """Raise a `UsageError` for a given option that another mode has: `only` has them by mode."""
    for other, names in only.items():
        for name, option in names.items():
            if other != mode and given(context, name):
                raise UsageError(f"{option} belongs to --mode {other}, not to --mode {mode}")


def print_json(document: Any) -> None:
    """Print one JSON document on standard output."""
    click.echo(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))


def unchanging(problem: Problem) -> list[str]:
    """Return a line of what is constant and no output, if anything is, and the problem's notes."""
    named = [f"{name} = {short(value)}" for name, value in problem.constants]
    constant = [f"constant, and not compiled: {listing(named)}"] if named else []
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
# Arguments and options that say what is meant: a robot, its arm, which function of it, a file.
# --------------------------------------------------------------------------------------------------


DESCRIPTIONS = (".urdf", ".sdf", ".mjcf", ".xml")  # of robots; which one it is its text says

# What says which function of a robot is meant, by the names that click gives their values.
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
    ),
    click.option(
        "--friction", is_flag=True, help="Of inverse dynamics: with friction of the joints."
    ),
    click.option(
        "--smoothing",
        help="Speed v (rad/s, m/s) of dry friction, whose sign is tanh(qd/v): for all joints or "
        "each [default: 2 % of a joint's largest speed]",
    ),
    click.option("--kp", help="Of control: gain of positions, for all or each [default: 100]"),
    click.option("--kd", help="Of control: gain of speeds, for all or each [default: 20]"),
    click.option("--load-range", help="Mass at the tip (kg) as an input word: 0..5"),
    click.option("--elbow", help="Of inverse kinematics: up or down [default: up]"),
)


def function_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add what says which function of a robot is meant; `of` is handed on, with all choices."""

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
    """Add --base and --tip, and hand them on in the robot's name, as `arm.urdf#base..tip,tip`."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @click.option("--base", help="Of a URDF: the link that stands [default: the root]")
        @click.option(
            "--tip",
            "tips",
            multiple=True,
            help="Of a URDF: the link where the arm ends [default: the last]; again for a branch",
        )
        @functools.wraps(function)
        def wrapped(*args: Any, base: str | None, tips: tuple[str, ...], **more: Any) -> Any:
            name = more[argument]
            if base is not None or tips:
                if name is None or not name.endswith(DESCRIPTIONS):
                    raise UsageError("--base and --tip choose an arm of a URDF: give an .urdf file")
                more[argument] = f"{name}#{base or ''}..{','.join(tips)}"
            return function(*args, **more)

        return wrapped

    return decorate


def robot_argument(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add ROBOT: a name, a .toml file, or a .urdf file with --base and --tip."""
    return click.argument("robot")(chain_options("robot")(function))


def source_argument(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add ROBOT as above, which may be a function file as well."""
    return click.argument("robot", metavar="ROBOT|FUNCTION")(chain_options("robot")(function))


def own_bits(context: click.Context, options: Options, source: Robot | Problem) -> Options:
    """Return options with the word length that a function itself names, unless --bits is given."""
    bits = None if given(context, "bits") else getattr(source, "bits", None)
    return options if bits is None else replace(options, bits=bits)


def check_robot(name: str) -> None:
    """Raise a `UsageError` for what is no robot where a program's folder would do as well."""
    from boolcomp.problem.robot.library import robot_names

    file = name.partition("#")[0].endswith((".toml", *DESCRIPTIONS)) or is_file(Path(name))
    if name not in robot_names() and not file:
        hint = suggestion(Path(name).name, robot_names())
        raise UsageError(
            f"{cut(name) or shown(name)}: neither a program's folder nor a robot{hint}"
        )


def told(command: str, source: str, of: str, *more: str) -> str:
    """Return a command as a page says it, so that it can be given again."""
    from boolcomp.problem.functions import USUAL

    function = [] if of == USUAL else [f"--of {of}"]
    return " ".join(["boolcomp", command, shlex.quote(source), *function, *more])


def chosen(options: Options) -> list[str]:
    """Return the options of a plan as a command says them: the bits, and what is not usual."""
    said = [(one.name, getattr(options, one.name), one.default) for one in fields(options)]
    return [
        f"--{name.replace('_', '-')} {value}"
        for name, value, usual in said
        if name == "bits" or value != usual
    ]


def shipped(name: str) -> str | None:
    """Return the robot that ships of which programs have this name, whatever the function."""
    from boolcomp.problem.functions import USUAL, function_of
    from boolcomp.problem.robot.library import robot_names

    return next(
        (one for one in robot_names() if name == one or function_of(name, one) != USUAL), None
    )


def shipped_or_refused(source: str, name: str) -> str:
    """Return the robot that ships of a program; for any other its file has to be said."""
    robot = shipped(name)
    if robot is None:
        here = f"{name}.toml"
        file = here if is_file(Path(here)) else "FILE"
        raise UsageError(
            f"{source} was compiled for {shown(name)}, which is none of the robots that ship: "
            f"say its robot file with --robot {file} (of a function its file)"
        )
    return robot
