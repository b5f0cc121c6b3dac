"""What a user may choose of compact mode, and what is said while it works."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

from boolcomp.base.errors import EVERY, UsageError, listing, require_name, shown
from boolcomp.logic.synthesis.tables import OBJECTIVES, Objective
from boolcomp.problem.problem import HALF, LSB, Allowed, Promise

if TYPE_CHECKING:
    from boolcomp.problem.problem import Problem
    from boolcomp.proof.bound.meaning import Grade


SEARCH_VERSION = 2  # of what a demand leads to: raised whenever the search or the passes change
PROMISE_VERSION = 1  # likewise, of demands with a promise
DEPTH_VERSION = 1  # likewise, of logic of few levels
SATURATE_VERSION = 1  # likewise, of outputs that saturate
OWN_BITS_VERSION = 1  # likewise, of outputs whose bits the problem says
ROUNDING = 1 / math.sqrt(12)  # the rms error, in steps, of rounding alone
NEARLY = 1 + 1e-6  # times what a promise leaves beside rounding: units are not exact
USUAL_INPUT = 10  # bits of input words
PROMISED_INPUT = 4  # beyond the outputs' bits, where a promise leaves a step beside rounding
LEAST_INPUT, MOST_INPUT = 2, 16
LEAST_BITS, MOST_BITS = 2, 16
USUAL_EFFORT, LONGEST = 30.0, 1e6  # nominal seconds
LEAST_SEARCHED = 1_000_000  # evaluations that seek the worst error, with no effort
MOST_SEED = (1 << 63) - 1
Target = Literal["luts", "lut4", "lut6", "gates", "carry", "dsp", "mcu8", "mcu32", "simd"]
TARGETS: tuple[Target, ...] = get_args(Target)
USUAL_TARGET: Target = "luts"
WITH_FLASH = ("mcu8", "mcu32")
WORD_TARGETS = (*WITH_FLASH, "simd")  # code, not logic
Approximate = Literal["off", "tables", "cones", "free"]
APPROXIMATE: tuple[Approximate, ...] = get_args(Approximate)
LEAST_FLASH, MOST_FLASH = 256, 1 << 24  # bytes


@dataclass(frozen=True, slots=True)
class Demand:
    """What a user may choose.

    `rms` is the allowed rms error, in steps of the outputs' words, of each output (or of all);
    without it the paper's own error at these bits is allowed. `max` likewise limits the largest
    error (the worst that climbing finds, not proved). `error` is a promise: what no error may
    exceed, proved by bounds of a `grade`; widths of inputs are then the most that the search may
    read. `input_bits` gives the widths of input words by name, or for all of a group, or of all
    `words`; what is not named has `usual_input`. An output that may exceed its range has one bit
    more, unless it is to `saturate` or the problem says how many bits it has. `objective` is what
    synthesis makes small; `target` is what the logic or code is for, which says what widths cost,
    and `flash` how many bytes its tables may take (0: a usual number).

    What is found may be made smaller where it then errs a little more, as is allowed: `approximate`
    says how (see `compact.approximate`). Of "tables" only entries are others, and all is proved as
    ever; of "cones" bits of sums are, too, so that the logic is no longer its graph's, and what
    that moves is in the bounds; of "free" it is any node, and nothing is proved.

    `effort` is how long to look for less, in nominal seconds: work is counted, not timed, so the
    same effort gives the same result on any machine. One unit is about a second on one core. With
    less than the usual effort fewer evaluations seek the worst error.
    """

    bits: int = 8
    input_bits: Mapping[str, int] = field(default_factory=dict)
    rms: tuple[float, ...] = ()
    max: tuple[float, ...] = ()
    saturate: bool = False
    seed: int = 0
    effort: float = USUAL_EFFORT
    objective: Objective = "nodes"
    target: Target = USUAL_TARGET
    flash: int = 0
    error: Promise | None = None
    grade: Grade = "tight"
    approximate: Approximate = "off"
    usual_input: int = field(default=USUAL_INPUT, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "effort", float(self.effort))
        if not LEAST_BITS <= self.bits <= MOST_BITS:
            raise UsageError(f"bits are {LEAST_BITS} to {MOST_BITS}, not {shown(self.bits)}")
        for name, bits in self.input_bits.items():
            if not LEAST_INPUT <= bits <= MOST_INPUT:
                raise UsageError(f"input {name} of {bits} bits: {LEAST_INPUT} to {MOST_INPUT} here")
        require_name("objective", self.objective, OBJECTIVES)
        self._check_target()
        self._check_approximate()
        if not 0 <= self.seed <= MOST_SEED:
            raise UsageError(f"a seed is 0 to {MOST_SEED}, not {shown(self.seed)}")
        if not 0 <= self.effort <= LONGEST:
            raise UsageError(f"effort is 0 to {LONGEST:g} nominal seconds, not {self.effort}")
        if self.rms and not min(self.rms) > ROUNDING:
            raise UsageError(
                f"rounding alone makes an rms error of {ROUNDING:.3f} steps: allow more"
            )
        if self.max and not min(self.max) > 0.5:
            raise UsageError("rounding alone makes an error of half a step: allow more")
        if self.error and (self.rms or self.max):
            other = "an rms error" if self.rms else "a largest error that is searched for"
            raise UsageError(f"an error that is promised and {other}: ask for one of them")

    def _check_target(self) -> None:
        """Refuse a target that is not there, or is at odds with what else is asked."""
        require_name("target", self.target, TARGETS)
        if self.objective == "lut6":  # the older spelling
            if self.target not in (USUAL_TARGET, "lut6"):
                raise UsageError(
                    f"objective lut6 is target lut6, and the target is {self.target}: give one"
                )
            object.__setattr__(self, "target", "lut6")
            object.__setattr__(self, "objective", "nodes")
        if self.flash and self.target not in WITH_FLASH:
            raise UsageError(
                f"target {self.target} has no flash for tables: {listing(WITH_FLASH)} have"
            )
        if self.flash and not LEAST_FLASH <= self.flash <= MOST_FLASH:
            raise UsageError(
                f"flash is {LEAST_FLASH} to {MOST_FLASH} bytes, not {shown(self.flash)}"
            )

    def _check_approximate(self) -> None:
        """Refuse approximation that is not there, or is at odds with what else is asked."""
        require_name("approximate", self.approximate, APPROXIMATE)
        if self.approximate == "off":
            return
        if self.error:
            raise UsageError(
                "an error that is promised, and logic that is approximated: ask for one of them"
            )
        if self.of_words:
            raise UsageError(f"target {self.target} is code: only logic is approximated")

    @property
    def exact(self) -> Demand:
        """The same without approximation, which begins with what that leads to."""
        return replace(self, approximate="off")

    @property
    def keeps_graph(self) -> bool:
        """Whether the logic that is made is that of its word graph."""
        return self.approximate in ("off", "tables")

    @property
    def is_proved(self) -> bool:
        """Whether there is a proof of what the logic errs by."""
        return self.approximate != "free"

    @property
    def synthesis(self) -> Objective:
        """What synthesis and the passes make small."""
        return "lut6" if self.target == "lut6" else self.objective

    @property
    def of_words(self) -> bool:
        """Whether widths are chosen for code; logic is then only what that is checked against."""
        return self.target in WORD_TARGETS

    def evaluations(self, usual: int) -> int:
        """Return how many evaluations seek the worst error: as many as usual, or fewer.

        Fewer do with less than the usual effort.
        """
        least = min(LEAST_SEARCHED, usual)
        return least + round((usual - least) * min(1.0, self.effort / USUAL_EFFORT))

    def completed(self, problem: Problem) -> Demand:
        """Return this for a problem, with the widths of all its input words."""
        count = len(problem.outputs)
        for name, values in (("rms_error", self.rms), ("max_error", self.max)):
            if len(values) not in (0, 1, count):
                each = problem.plural if problem.places == "inputs" else problem.places
                raise UsageError(
                    f"{name} has {len(values)} values: one for all {each} of "
                    f"{problem.name}, or {count}"
                )
        named = {name: bits for name, bits in self.input_bits.items() if name != EVERY}
        error, beyond = None, self.usual_input
        if self.error is not None:
            error, beyond = self._promised(self.error, problem)
        own = {} if EVERY in self.input_bits else dict(problem.widths)  # those that it names
        usual = {
            group.name: own.get(group.name, self.input_bits.get(EVERY, beyond))
            for group in problem.groups
            if any(name not in named for name in group.members)
        }
        for group in problem.groups:  # widths that words' formats ask for
            for one in problem.members(group):
                bits = one.format.bits
                if bits and bits != named.get(group.name, usual.get(group.name)):
                    named.setdefault(one.name, bits)
        widths = {**usual, **named}
        problem.by_input(widths)
        return replace(self, input_bits=widths, error=error)

    def saturating(self, problem: Problem) -> list[bool]:
        """Return which outputs keep their bits and saturate: all, or those whose bits are said."""
        said = dict(problem.widths)
        return [
            self.saturate or one.name in said or one.format.bits is not None
            for one in problem.outputs
        ]

    def _promised(self, error: Promise, problem: Problem) -> tuple[Promise, int]:
        """Return a promise in steps of a problem's outputs, and how wide inputs may be for it."""
        steps = error.steps(problem, self.bits)
        error.check(problem, self.bits)
        pairs = zip(problem.outputs, steps, strict=True)
        parts = [Allowed(one.name, most, LSB) for one, most in pairs if math.isfinite(most)]
        beside = (min(steps) - HALF) * NEARLY
        more = PROMISED_INPUT - math.floor(math.log2(beside))
        bits = max(problem.output_bits(self.bits)) + more
        return Promise(tuple(parts)), max(LEAST_INPUT, min(MOST_INPUT, bits))

    @property
    def key(self) -> str:
        """All choices as text, for digests: a change of it makes every stored result anew."""
        shown = []
        for one in fields(self):
            if not one.compare:  # what stands for it is in `input_bits`
                continue
            value = getattr(self, one.name)
            if one.name in ("target", "flash", "grade", "approximate") and value == one.default:
                continue  # as in results of before there were targets
            if one.name == "grade" and not self.error:
                continue  # what is not promised is searched for without bounds
            if isinstance(value, Promise):
                value = value.text
            elif one.name == "error":
                continue  # likewise
            if isinstance(value, Mapping):
                value = ",".join(f"{name}={bits}" for name, bits in sorted(value.items()))
            elif isinstance(value, tuple):
                value = ",".join(repr(float(x)) for x in value) or "paper's"
            shown.append(f"{one.name}={value}")
        return " ".join(shown)

    def __str__(self) -> str:
        return self.key if self.max else self.key.replace(" max=paper's", " max=any")


def usual_demand(
    bits: int,
    input_bits: Mapping[str, int] | None = None,
    approximate: Approximate | None = "off",
    **choices: Any,
) -> Demand:
    """Return the demand with the usual input words: two bits wider than the outputs'.

    Where None says how to approximate, as users do who say nothing of it, it is tables; off of code
    and of promises.
    """
    usual = min(bits + 2, MOST_INPUT)
    chosen = Demand(bits=bits, input_bits=input_bits or {}, usual_input=usual, **choices)
    none: Approximate = "off" if chosen.of_words or chosen.error else "tables"
    return replace(chosen, approximate=none if approximate is None else approximate)


def digest(problem: Problem, demand: Demand) -> str:
    """Return sixteen hexadecimal digits that only equal problems with equal demands share."""
    version = f"{SEARCH_VERSION}.{PROMISE_VERSION}" if demand.error else f"{SEARCH_VERSION}"
    if demand.objective == "depth":
        version += f" depth {DEPTH_VERSION}"
    if demand.saturate:
        version += f" saturate {SATURATE_VERSION}"
    elif any(own := demand.saturating(problem)):
        names = [one.name for one, said in zip(problem.outputs, own, strict=True) if said]
        version += f" own bits {OWN_BITS_VERSION} {' '.join(names)}"
    text = f"{version}\n{demand.completed(problem).key}\n{problem.key}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Counts(NamedTuple):
    """What the work of stages after the graph depends on.

    That is the graph's nodes, the problem's inputs, evaluations that seek the worst error, and
    cells and steps of boxes that bounds look at.
    """

    nodes: int
    inputs: int
    evaluations: int
    cells: int
    boxes: int


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a compilation is: a stage, the best nodes so far, its sampled errors in steps.

    `fraction` is a guess of how much of all the work is done, and `left` of what is left, in terms
    of what is done (None: the fraction says it; infinite: not known yet). `counts` is what work of
    later stages is known from here on.
    """

    stage: str
    best_nodes: int | None = None
    errors: tuple[float, ...] = ()
    fraction: float = 0.0
    note: str = ""
    left: float | None = None
    counts: Counts | None = None

    def __str__(self) -> str:
        parts = [f"{self.fraction:4.0%} {self.stage}"]
        if self.best_nodes is not None:
            parts.append(f"best {self.best_nodes} nodes")
        if self.errors:
            parts.append(f"rms {' '.join(f'{x:.3f}' for x in self.errors)}")
        return ", ".join([*parts, *filter(None, [self.note])])


Listener: TypeAlias = Callable[[Progress], None]


def ignore_progress(_: Progress) -> None:
    """Do nothing."""
