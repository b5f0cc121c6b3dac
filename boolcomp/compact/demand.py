"""Options of compact mode, their digest, and progress reports."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

from boolcomp.base.errors import EVERY, UsageError, listing, require_name, shown
from boolcomp.logic.synthesis import OBJECTIVES, Objective
from boolcomp.problem.problem import HALF, LSB, Allowed, Promise

if TYPE_CHECKING:
    from boolcomp.problem.problem import Problem
    from boolcomp.proof.bound.bounds import Grade


SEARCH_VERSION = 2  # raised whenever the search or the passes change results
PROMISE_VERSION = 1  # likewise, for results with a guaranteed error
DEPTH_VERSION = 1  # likewise, for logic of few levels
SATURATE_VERSION = 1  # likewise, for outputs that saturate
OWN_BITS_VERSION = 1  # likewise, for outputs whose bits the problem specifies
CODE_VERSION = 1  # likewise, for annealed code of a processor of 8 bits
ROUNDING = 1 / math.sqrt(12)  # the rms error, in steps, of rounding alone
NEARLY = 1 + 1e-6  # factor on the error left besides rounding: units are not exact
USUAL_INPUT = 10  # bits of input words
PROMISED_INPUT = 4  # bits more than outputs have, if one step is left besides rounding
LEAST_INPUT, MOST_INPUT = 2, 16
LEAST_BITS, MOST_BITS = 2, 16
USUAL_EFFORT, LONGEST = 30.0, 1e6  # nominal seconds
LEAST_SEARCHED = 1_000_000  # evaluations of the error search with effort 0
MOST_SEED = (1 << 63) - 1
Target = Literal["luts", "lut4", "lut6", "gates", "carry", "dsp", "mcu8", "mcu32", "simd"]
TARGETS: tuple[Target, ...] = get_args(Target)
USUAL_TARGET: Target = "luts"
MOST_FLASH = {"mcu8": 1 << 16, "mcu32": 1 << 24}  # bytes for tables: addresses of 16 and 32 bits
WITH_FLASH = tuple(MOST_FLASH)
WORD_TARGETS = (*WITH_FLASH, "simd")  # code, not logic
Approximate = Literal["off", "tables", "free"]
APPROXIMATE: tuple[Approximate, ...] = get_args(Approximate)
LEAST_FLASH = 256


@dataclass(frozen=True, slots=True)
class Demand:
    """The options of compact mode.

    `rms` is the allowed rms error of each output (or of all), in steps; the default is the error of
    the paper's tables with these bits. `max` likewise limits the largest error found by a search.
    `error` is a guaranteed error, proved by bounds of a `grade`; widths of inputs are then maxima.
    `input_bits` are the widths of input words by name, by group, or for all `words`; the default is
    `usual_input`. An output that may exceed its range has one bit more, unless it is to `saturate`
    or the problem specifies its bits. `objective` is the quantity that synthesis minimises;
    `target` selects the costs of widths, and `flash` the bytes for tables (0: the default).

    `approximate` makes the result smaller at the cost of error that is allowed (see
    `compact.approximate`). "tables" changes entries of tables; "free" (experimental) changes any
    node, so that nothing is proved.

    `effort` limits the search, in nominal seconds of about a second on one core. Work is counted,
    not timed: the same effort gives the same result on any machine. Less than the default effort
    also makes the error search shorter.
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
            raise UsageError(f"bits must be {LEAST_BITS} to {MOST_BITS}, not {shown(self.bits)}")
        for name, bits in self.input_bits.items():
            if not LEAST_INPUT <= bits <= MOST_INPUT:
                raise UsageError(
                    f"input {name} has {bits} bits", f"give {LEAST_INPUT} to {MOST_INPUT}"
                )
        require_name("objective", self.objective, OBJECTIVES)
        self._check_target()
        self._check_approximate()
        if not 0 <= self.seed <= MOST_SEED:
            raise UsageError(f"a seed is 0 to {MOST_SEED}, not {shown(self.seed)}")
        if not 0 <= self.effort <= LONGEST:
            raise UsageError(f"effort is 0 to {LONGEST:g} nominal seconds, not {self.effort}")
        if self.rms and not min(self.rms) > ROUNDING:
            raise UsageError(
                f"the rms error must be at least {ROUNDING:.3f} LSB (rounding)",
                "allow a larger error",
            )
        if self.max and not min(self.max) > 0.5:
            raise UsageError(
                "the largest error must be above 0.5 LSB (rounding)", "allow a larger error"
            )
        if self.error and (self.rms or self.max):
            other = "an rms error" if self.rms else "a largest error"
            raise UsageError(
                f"a guaranteed error and {other} exclude each other", "give one of them"
            )

    def _check_target(self) -> None:
        """Raise a `UsageError` for an unknown target or one that conflicts with other options."""
        require_name("target", self.target, TARGETS)
        if self.objective == "lut6":  # the older spelling
            if self.target not in (USUAL_TARGET, "lut6"):
                raise UsageError(
                    f"objective lut6 means target lut6, not {self.target}", "give one of them"
                )
            object.__setattr__(self, "target", "lut6")
            object.__setattr__(self, "objective", "nodes")
        if self.flash and self.target not in WITH_FLASH:
            raise UsageError(
                f"target {self.target} has no flash for tables", f"use {listing(WITH_FLASH)}"
            )
        if self.flash and not LEAST_FLASH <= self.flash <= MOST_FLASH[self.target]:
            raise UsageError(
                f"flash of {self.target} is {LEAST_FLASH} to {MOST_FLASH[self.target]} bytes, "
                f"not {shown(self.flash)}"
            )

    def _check_approximate(self) -> None:
        """Raise a `UsageError` for unknown approximation or conflicting options."""
        require_name("approximation", self.approximate, APPROXIMATE)
        if self.approximate == "off":
            return
        if self.error:
            raise UsageError(
                "a guaranteed error and approximate logic exclude each other", "give one of them"
            )
        if self.of_words:
            raise UsageError(
                f"target {self.target} is code, and only logic is approximated", "use off"
            )

    @property
    def exact(self) -> Demand:
        return replace(self, approximate="off")

    @property
    def keeps_graph(self) -> bool:
        return self.approximate != "free"

    @property
    def synthesis(self) -> Objective:
        return "lut6" if self.target == "lut6" else self.objective

    @property
    def of_words(self) -> bool:
        return self.target in WORD_TARGETS

    def evaluations(self, usual: int) -> int:
        """Return the number of evaluations of the error search, fewer with little effort."""
        least = min(LEAST_SEARCHED, usual)
        return least + round((usual - least) * min(1.0, self.effort / USUAL_EFFORT))

    def completed(self, problem: Problem) -> Demand:
        """Return the demand for a problem, with the widths of all its input words."""
        count = len(problem.outputs)
        for name, values in (("rms_error", self.rms), ("max_error", self.max)):
            if len(values) not in (0, 1, count):
                each = problem.plural if problem.places == "inputs" else problem.places
                raise UsageError(
                    f"{name} has {len(values)} values, but {problem.name} has {count}",
                    f"give one for all {each}, or {count}",
                )
        named = {name: bits for name, bits in self.input_bits.items() if name != EVERY}
        error, default = None, self.usual_input
        if self.error is not None:
            error, default = self._promised(self.error, problem)
        own = {} if EVERY in self.input_bits else dict(problem.widths)
        usual = {
            group.name: own.get(group.name, self.input_bits.get(EVERY, default))
            for group in problem.groups
            if any(name not in named for name in group.members)
        }
        for group in problem.groups:  # widths of words' formats
            for one in problem.members(group):
                bits = one.format.bits
                if bits and bits != named.get(group.name, usual.get(group.name)):
                    named.setdefault(one.name, bits)
        widths = {**usual, **named}
        problem.by_input(widths)
        return replace(self, input_bits=widths, error=error)

    def saturating(self, problem: Problem) -> list[bool]:
        """Return for every output whether it keeps its bits and saturates."""
        own = dict(problem.widths)
        return [
            self.saturate or one.name in own or one.format.bits is not None
            for one in problem.outputs
        ]

    def _promised(self, error: Promise, problem: Problem) -> tuple[Promise, int]:
        """Return a guaranteed error in steps of outputs, and the default width of inputs for it."""
        steps = error.steps(problem, self.bits)
        error.check(problem, self.bits)
        pairs = zip(problem.outputs, steps, strict=True)
        parts = [Allowed(one.name, limit, LSB) for one, limit in pairs if math.isfinite(limit)]
        left = (min(steps) - HALF) * NEARLY
        more = PROMISED_INPUT - math.floor(math.log2(left))
        bits = max(problem.output_bits(self.bits)) + more
        return Promise(tuple(parts)), max(LEAST_INPUT, min(MOST_INPUT, bits))

    @property
    def key(self) -> str:
        """All options as text, for digests: a change of it invalidates every stored result."""
        shown = []
        for one in fields(self):
            if not one.compare:  # `input_bits` has the resulting widths
                continue
            value = getattr(self, one.name)
            if one.name in ("target", "flash", "grade", "approximate") and value == one.default:
                continue  # so that older results keep their digests
            if one.name == "grade" and not self.error:
                continue  # a search without a guaranteed error uses no bounds
            if isinstance(value, Promise):
                value = value.text
            elif one.name == "error":
                continue
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
    """Return a demand whose default input words are two bits wider than outputs.

    With `approximate` None tables are approximated, except for code and guaranteed errors.
    """
    usual = min(bits + 2, MOST_INPUT)
    chosen = Demand(bits=bits, input_bits=input_bits or {}, usual_input=usual, **choices)
    none: Approximate = "off" if chosen.of_words or chosen.error else "tables"
    return replace(chosen, approximate=none if approximate is None else approximate)


def digest(problem: Problem, demand: Demand) -> str:
    """Return sixteen hexadecimal digits that identify a problem with a demand."""
    version = f"{SEARCH_VERSION}.{PROMISE_VERSION}" if demand.error else f"{SEARCH_VERSION}"
    if demand.objective == "depth":
        version += f" depth {DEPTH_VERSION}"
    if demand.saturate:
        version += f" saturate {SATURATE_VERSION}"
    elif any(own := demand.saturating(problem)):
        names = [x.name for x, saturates in zip(problem.outputs, own, strict=True) if saturates]
        version += f" own bits {OWN_BITS_VERSION} {' '.join(names)}"
    if demand.target == "mcu8" and demand.effort:
        version += f" code {CODE_VERSION}"
    text = f"{version}\n{demand.completed(problem).key}\n{problem.key}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Counts(NamedTuple):
    """Sizes on which the work of stages after the graph depends.

    `nodes` are the graph's, `inputs` the problem's, `evaluations` those of the error search, and
    `cells` and `boxes` those of bounds.
    """

    nodes: int
    inputs: int
    evaluations: int
    cells: int
    boxes: int


@dataclass(frozen=True, slots=True)
class Progress:
    """The state of a compilation: its stage, the best result so far, and the sampled errors.

    `fraction` estimates the part of the work that is done; `left` estimates the remaining work as a
    multiple of it (None: use `fraction`; infinite: unknown). `counts` are the sizes that later
    stages depend on, once they are known.
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
    pass
