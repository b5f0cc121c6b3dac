"""The options of a compilation. Each is declared once, as a key of `CompileOptions`.

The keys are the keywords of `boolcomp.compile`, their annotations the types that mypy checks. The
commands (`commands/options.py`), sweeps (`scale/sweep_spec.py`), shell completion and the reference
read the `Option` in the annotation. An option whose name is a field of `Demand`, `CompactChoices`,
`PlanOptions` or `Recipe` is passed to it without further work.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Self, TypedDict

from boolcomp.base.errors import (
    Number,
    Reals,
    UsageError,
    Widths,
    flag,
    masses,
    real,
    reals,
    whole,
    widths,
)
from boolcomp.problem.word_codes import CODE_KINDS, CodeKind

if TYPE_CHECKING:
    from pathlib import Path

    from boolcomp.base.store import ResultPlace
    from boolcomp.base.workers import Workers
    from boolcomp.codes import Rounding
    from boolcomp.compact.demand import Approximate, Demand, Target
    from boolcomp.compact.passes import CompactChoices
    from boolcomp.logic.synthesis import Objective
    from boolcomp.paper.covers import CoverStore
    from boolcomp.paper.passes import PaperChoices
    from boolcomp.paper.plan import Place, PlanOptions
    from boolcomp.problem.problem import Promise, Promised
    from boolcomp.problem.words import Formats, WordFormat
    from boolcomp.proof.bound.bounds import Grade
    from boolcomp.twolevel.minimisation import Recipe

Reader = Callable[[str, Any], Any]

AUTO = "auto"
USUAL_BITS = 8


# --------------------------------------------------------------------------------------------------
# Readers of values, given as text or as Python values. The name is used in messages.
# --------------------------------------------------------------------------------------------------


def _bits(name: str, given: Any) -> Any:
    return given if given is None or given == AUTO else whole(name, given)


def _seconds(name: str, given: Any) -> float:
    return real(name, given or 0)


def _promise(name: str, given: "Promised | None") -> "Promise | None":
    if given is None:
        return None
    from boolcomp.problem.problem import promise_of  # noqa: PLC0415 (imports numpy)

    return promise_of(name, given)


def _formats(name: str, given: "Formats | None") -> "dict[str, WordFormat]":
    if given is None:
        return {}
    from boolcomp.problem.words import formats  # noqa: PLC0415 (imports numpy)

    return formats(name, given)


def _grade(_: str, given: object) -> "Grade | None":
    if given is None:
        return None
    from boolcomp.proof.bound.bounds import grade_of  # noqa: PLC0415 (imports numpy)

    return grade_of(given)


def _place(_: str, given: "str | Path | ResultPlace | None") -> "ResultPlace | None":
    from boolcomp.base.store import place_of  # noqa: PLC0415 (start-up time)

    return None if given is None else place_of(given)


# --------------------------------------------------------------------------------------------------
# The table.
# --------------------------------------------------------------------------------------------------


Mode = Literal["paper", "compact", ""]
Group = Literal[
    "function", "bits", "formats", "accuracy", "cost", "proving", "work", "plan", "minimiser",
    "payloads", "store", "",
]  # fmt: skip
DEMAND: tuple[Group, ...] = ("formats", "accuracy", "cost", "proving")
HEADINGS: Mapping[Group, str] = {
    "function": "What", "payloads": "What", "bits": "Words", "formats": "Words",
    "accuracy": "Accuracy", "cost": "Cost", "proving": "Proof", "plan": "Paper mode",
    "minimiser": "Paper mode", "work": "Run", "store": "Run", "": "Output",
}  # fmt: skip


class Option(NamedTuple):
    """An option: its group (options that a command has together), default, help, and only mode.

    The group gives the heading in the help of a command; `brief` options are in its short form.
    The command line converts values to `kind`; Python values and texts are read by `read`, by
    default the reader of that type. Help lists the words in `values` as choices, and shell
    completion proposes them, or those of a name in a module. `spelled` is the spelling on the
    command line, if it is not `--name`; older spellings follow. `within` is the option of the
    command line that also gives the value: help then leaves out the option itself. `older` marks an
    older spelling, in Python only, of another option.
    """

    group: Group
    default: Any = None
    help: str = ""
    mode: Mode = ""
    kind: type = str
    read: Reader | None = None
    values: str = ""
    spelled: str = ""
    metavar: str | None = None
    brief: bool = False
    within: str = ""
    older: str = ""

    @property
    def choices(self) -> str:
        return "" if ":" in self.values else self.values.replace(" ", "|")

    def value(self, name: str, given: Any) -> Any:
        """Return a value from a text or from a value of Python."""
        if self.read is not None:
            return self.read(name, given)
        reader = {int: whole, float: real, bool: flag}.get(self.kind)
        optional = given is None and self.default is None
        return given if optional or reader is None else reader(name, given)


# fmt: off
class CompileOptions(TypedDict, total=False):
    """The keywords of `boolcomp.compile`; the help texts are those of the command line."""

    of: Annotated[str, Option(
        "function", "inverse-dynamics",
        "Function of the robot: gravity, bias, inertia, forward-kinematics, jacobian, "
        "reactions, derivatives, computed-torque, pd-gravity, control, forward-dynamics, "
        "inverse-kinematics. Choices follow: control:kp=50:kd=14, inverse-dynamics:friction.",
        values="problem.functions:NAMES", metavar="NAME[:KEY=VALUE]", brief=True
    )]
    friction: Annotated[bool, Option(
        "function", default=False, help="Include joint friction (inverse dynamics only).",
        kind=bool, within="--of"
    )]
    smoothing: Annotated[Reals | None, Option(
        "function", None,
        "Speed v (rad/s, m/s) at which dry friction is smoothed to tanh(qd/v): one value or one"
        " per joint [default: 2 % of a joint's largest speed]", metavar="SPEED",
        within="--of"
    )]
    kp: Annotated[Reals | None, Option(
        "function", None,
        "Position gain, one value or one per joint (control only) [default: 100]", metavar="GAIN",
        within="--of"
    )]
    kd: Annotated[Reals | None, Option(
        "function", None, "Speed gain, one value or one per joint (control only) [default: 20]",
        metavar="GAIN", within="--of"
    )]
    load_range: Annotated[str | tuple[Number, Number] | None, Option(
        "function", None, "Range of the payload (kg) as an input word: 0..5", metavar="LO..HI",
        within="--payload"
    )]
    wrench: Annotated[Reals | None, Option(
        "function", None,
        "Largest force (N) and moment (N·m) of the tip on its surroundings, six input words: 20,5",
        metavar="N,NM", within="--of"
    )]
    elbow: Annotated[str | None, Option(
        "function", None, "Elbow of the arm (inverse kinematics only) [default: up]",
        values="up down", within="--of"
    )]
    processes: Annotated[Number | None, Option(
        "work", None,
        "Number of worker processes [default: 2; paper mode and report: one per core]", kind=int
    )]
    cluster: Annotated[Any, Option(
        "work", None,
        "Use a Dask cluster: tcp://host:8786, a scheduler file, or local:4 (local workers).",
        metavar="PLACE"
    )]
    error: Annotated["Promised | None", Option(
        "accuracy", None,
        "Guarantee that no error exceeds this value: 1lsb, 0.5Nm, 1lsb,0.8lsb or tau1=1lsb. "
        "Slower. --input-bits then sets maximum widths [default: about bits + 5]", read=_promise,
        within="--accuracy proved"
    )]
    rms_error: Annotated[Reals | None, Option(
        "accuracy", None,
        "Allowed rms error in LSB: .5, or .43,.58 [default: that of the 1988 tables]", "compact",
        read=reals, within="--accuracy rms"
    )]
    max_error: Annotated[Reals | None, Option(
        "accuracy", None,
        "Limit in LSB on the largest error found by search, one value or one per joint.",
        "compact", read=reals, within="--accuracy found"
    )]
    input_bits: Annotated[Widths | None, Option(
        "formats", None, "Widths of input words: 10, or q=12,qd=8,qdd3=9 [default: bits + 2]",
        "compact", read=widths, metavar="N|NAME=N", brief=True
    )]
    saturate: Annotated[bool, Option(
        "formats", default=False, mode="compact", kind=bool,
        help="Saturate torques outside their range [default: add a bit to their words]"
    )]
    objective: Annotated["Objective", Option(
        "cost", "nodes", "Quantity to minimise.", "compact", values="nodes depth lut6"
    )]
    approximate: Annotated["Approximate | None", Option(
        "cost", None,
        "Trade unused error budget for size: off, tables (change table entries; bound still "
        "proved), free (experimental: change any node; no bound) [default: tables; off if "
        "an error is to be proved and for code targets]", "compact", values="off tables free"
    )]
    target: Annotated["Target", Option(
        "cost", "luts", "Cost model of the search; luts counts LUT3 nodes.", "compact",
        values="luts lut4 lut6 gates carry dsp mcu8 mcu32 simd", brief=True
    )]
    flash: Annotated[Number, Option(
        "cost", 0, "Bytes for tables (targets mcu8, mcu32) [default: 16384, 65536]", "compact",
        int
    )]
    effort: Annotated[Number, Option(
        "cost", 30.0,
        "Search budget, about seconds of one core [default: 30]. Work is counted, not timed: the "
        "result is the same on any machine. Below 30 the error search is shorter, too.",
        "compact", float, metavar="SECONDS", brief=True
    )]
    seed: Annotated[Number, Option("cost", 0, "Seed of samples and search.", "compact", int)]
    proof: Annotated["Grade | str | None", Option(
        "proving", None,
        "Tightness of the proved bound; tables: of every addend by itself [default: tight if it "
        "takes about 5 s at most or an error is to be proved, else plain]", "compact",
        read=_grade, values="plain tables tight", brief=True
    )]
    proof_effort: Annotated[Number | None, Option(
        "proving", None,
        "Work budget of a tight bound, counted, not timed: the bound is the same on any machine"
        " [default: 2000; 20 without --proof]", "compact", int
    )]
    certify: Annotated[bool, Option(
        "proving", default=False, help="Save a certificate with the program, for verify.",
        kind=bool, brief=True
    )]
    words: Annotated["Formats | None", Option(
        "formats", None,
        f"Format of a word: q1=gray:12:0..2pi, tau=twos:10:tread. Code ({', '.join(CODE_KINDS)}), "
        "bits, low..high, rise (no zero code) or tread (zero code).", "compact",
        read=_formats, spelled="--word", metavar="NAME=FORMAT", brief=True
    )]
    code: Annotated[CodeKind, Option(
        "plan", "gray", "Code of words.", "paper", values=" ".join(CODE_KINDS)
    )]
    guard_bits: Annotated[Number | None, Option(
        "plan", None, "Extra bits of every term [default: int log2(p+1)]", "paper", int
    )]
    splits: Annotated[Number | None, Option(
        "plan", None, "Cuts per torque [default: all cuts that cost nothing]", "paper", int
    )]
    rounding: Annotated["Rounding", Option(
        "plan", "nearest", "Rounding of table entries.", "paper", values="nearest faithful"
    )]
    signs: Annotated["Place", Option(
        "plan", "inside", "Signs of odd terms inside or outside of tables.", "paper",
        values="inside outside"
    )]
    sums: Annotated["Place", Option(
        "plan", "inside", "Sums of angles inside or outside of tables.", "paper",
        values="inside outside"
    )]
    minimizer: Annotated[str, Option(
        "minimiser", "own", "exact (with proof), own (heuristic), espresso, isop (fastest).",
        "paper", values="own exact espresso isop"
    )]
    deadline: Annotated[Number | None, Option(
        "minimiser", 60.0, "Seconds per table; 0: no limit.", "paper", float, _seconds
    )]
    payloads: Annotated[Reals, Option(
        "payloads", "0", "Payload in kg, a range as an input word (0..5), or a program for each: "
        "0,1,2.5, 0:5:0.05.", read=masses, spelled="--payload --payloads",
        metavar="KG|LO..HI|LIST", brief=True
    )]
    store: Annotated["str | Path | None", Option(
        "store", None,
        "Cache of results: a folder or s3://bucket/folder [default: the user's cache]",
        read=_place
    )]
    rms: Annotated[Reals | None, Option("", mode="compact", read=reals, older="rms_error")]
    max: Annotated[Reals | None, Option("", mode="compact", read=reals, older="max_error")]


# fmt: on


BITS = Option(  # a key of its own: `compile` also takes it by its place
    "bits", USUAL_BITS,
    "Word length of a torque, 2 to 16 (paper mode: 4 to 16), or auto: the fewest bits for a "
    "proved error in a unit.", read=_bits, metavar="N|auto", brief=True,
)  # fmt: skip
OPTIONS: Mapping[str, Option] = {
    "bits": BITS,
    **{name: one.__metadata__[0] for name, one in CompileOptions.__annotations__.items()},
}


# --------------------------------------------------------------------------------------------------
# The values of all options, and the choices of the passes that they make.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GivenOptions:
    """The values of all options by name: given ones, as their readers return them, or defaults."""

    values: Mapping[str, Any]

    @classmethod
    def read(
        cls,
        given: Mapping[str, Any],
        spell: Callable[[str], str] = str,
        *,
        converted: bool = False,
    ) -> Self:
        """Read values; `spell` returns the name of an option in messages.

        `converted` values have the types of their options, texts excepted.
        """
        values = {}
        for name, option in OPTIONS.items():
            value, key = given.get(name, option.default), option.older or name
            if option.older and value is None:
                continue
            if option.older and given.get(key) is not None:
                raise UsageError(f"{name} is the older spelling of {key}", "give one of them")
            known = converted and name in given and option.kind is not str
            values[key] = value if known else option.value(spell(name), value)
        return cls(values)

    @property
    def of(self) -> str:
        """The full name of the function of the robot."""
        from boolcomp.problem.functions import (  # noqa: PLC0415 (imports numpy)
            CHOICES,
            function_name,
        )

        chosen = {key: self.values[one.option.replace("-", "_")] for key, one in CHOICES.items()}
        return function_name(self.values["of"], friction=self.values["friction"], **chosen)

    @property
    def workers(self) -> "Workers | None":
        """The workers that options select, if any."""
        from boolcomp.base.workers import Workers  # noqa: PLC0415 (start-up time)

        processes, cluster = self.values["processes"], self.values["cluster"]
        return None if processes is None and cluster is None else Workers.of(processes, cluster)

    @property
    def auto(self) -> bool:
        """Whether the word length is searched for a guaranteed error."""
        return bool(self.values["bits"] == AUTO)

    def bits(self, source: object = None) -> int:
        """Return the word length: the given one, that of a function file or problem, or 8."""
        given = self.values["bits"]
        own = getattr(source, "bits", None) if given is None else given
        return own if isinstance(own, int) else USUAL_BITS

    def plan(self, source: object = None) -> "PlanOptions":
        """Return the options of a plan, for paper mode."""
        from boolcomp.paper.plan import PlanOptions  # noqa: PLC0415 (imports numpy)

        return PlanOptions(**{**self._of(PlanOptions), "bits": self.bits(source)})

    @property
    def recipe(self) -> "Recipe":
        """The method of minimisation and its deadline."""
        from boolcomp.twolevel.minimisation import Recipe  # noqa: PLC0415 (imports numpy)

        return Recipe(self.values["minimizer"], self.values["deadline"] or None)

    @property
    def covers(self) -> "CoverStore":
        """The store of covers: the given place, or the user's cache and the shipped covers."""
        from boolcomp.paper.covers import default_store  # noqa: PLC0415 (imports numpy)

        return default_store(self.store)

    @property
    def store(self) -> "ResultPlace | None":
        """The given store of results, which must be there."""
        place: ResultPlace | None = self.values["store"]
        return place and place.check()

    def demand(self, bits: int) -> "Demand":
        """Return the accuracy target and cost model at a word length."""
        from boolcomp.compact.demand import Demand, usual_demand  # noqa: PLC0415 (imports numpy)

        renamed = {
            "rms": self.values["rms_error"], "max": self.values["max_error"],
            "grade": self.values["proof"] or "tight",
        }  # fmt: skip
        return usual_demand(**{**self._of(Demand), **renamed, "bits": bits})

    def compact(self, bits: int, **others: Any) -> "CompactChoices":
        """Return the choices of compact mode at a word length."""
        from boolcomp.base.workers import TWO  # noqa: PLC0415 (start-up time)
        from boolcomp.compact.passes import CompactChoices  # noqa: PLC0415 (imports numpy)

        own = {
            "demand": self.demand(bits), "workers": self.workers or TWO, "store": self.store,
        }  # fmt: skip
        return CompactChoices(**{**self._of(CompactChoices), **own, **others})

    def paper(self, source: object, **others: Any) -> "PaperChoices":
        """Return the choices of paper mode for a robot or problem."""
        from boolcomp.base.workers import all_cores  # noqa: PLC0415 (start-up time)
        from boolcomp.paper.passes import PaperChoices  # noqa: PLC0415 (imports numpy)

        own = {
            "options": self.plan(source), "recipe": self.recipe, "store": self.covers,
            "free": self.auto, "workers": self.workers or all_cores(),
        }  # fmt: skip
        return PaperChoices(**{**self._of(PaperChoices), **own, **others})

    def _of(self, choices: Any) -> dict[str, Any]:
        """Return the values of options that are fields of a class."""
        return {
            one.name: self.values[one.name] for one in fields(choices) if one.name in self.values
        }


def reference(names: Iterable[str] = OPTIONS) -> str:
    """Return options as text, a paragraph each, as Python spells them."""
    parts = []
    for name, one in ((name, OPTIONS[name]) for name in names if not OPTIONS[name].older):
        usual = one.default is not None and one.kind is not bool and "[default" not in one.help
        text = f"{one.help} [default: {one.default}]" if usual else one.help
        text = re.sub(r"--([a-z-]+)", lambda found: found[1].replace("-", "_"), text)
        notes = ", ".join(filter(None, (one.choices, f"mode {one.mode}" if one.mode else "")))
        only = f" ({notes})" if notes else ""
        parts.append(
            fill(f"{name}{only}: {text}", 96, initial_indent="    ", subsequent_indent=" " * 8)
        )
    return "\n".join(parts)
