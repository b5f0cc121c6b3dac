"""Minimisation by every method, with verified results; output phases; Espresso in a process."""

from __future__ import annotations

import itertools
import math
import time
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from boolcomp.base.errors import UsageError, require_name
from boolcomp.base.loops import briefly, interpreting
from boolcomp.base.processes import Limits, Worker, how_it_ended
from boolcomp.twolevel import espresso_worker, heuristic, setcover
from boolcomp.twolevel import function as twolevel_function
from boolcomp.twolevel.cubes import (
    Clock,
    Cubes,
    Dense,
    GaveUpError,
    is_small,
    pack,
    unpack,
)
from boolcomp.twolevel.function import (
    Cover,
    Function,
    Witness,
    in_phase,
    missing,
    verify,
)
from boolcomp.twolevel.setcover import LocalSearch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boolcomp.twolevel.cubes import Flags


Method = Literal["exact", "espresso", "isop", "own"]
METHODS: tuple[Method, ...] = get_args(Method)
LONGEST = 1e7  # seconds of a deadline

# Time reserved for verification: a share of it, and seconds per point or per pair of cubes.
_RESERVE, _PER_POINT, _PER_PAIR, _MOST_RESERVE = 0.05, 1e-6, 1e-8, 0.7
_SHARE = 0.05  # of the time, to find a point that must be covered


@dataclass(frozen=True, slots=True)
class Recipe:
    """A method and its deadline in seconds (None: no limit)."""

    method: str = "own"
    deadline: float | None = 60.0

    def __post_init__(self) -> None:
        require_name("method", self.method, METHODS)
        if self.deadline is not None and not 0 < self.deadline <= LONGEST:
            limit = f": at most {LONGEST:g}" if self.deadline > LONGEST else ""
            raise UsageError(
                f"a deadline is a positive number of seconds, not {self.deadline}{limit}"
            )


def minimise(
    function: Function | Dense,
    method: str = "own",
    deadline: float | None = None,
    *,
    effort: float = 1.0,
) -> Cover:
    """Return a verified cover of a function with few products.

    `exact` proves the minimum where possible, `own` is a heuristic, `espresso` pyeda's Espresso,
    `isop` an irredundant sum without a search. At the deadline (in seconds, without the compilation
    of loops) the best cover is returned with a note. `effort` scales the search of `own` without a
    gain.
    """
    require_name("method", method, METHODS)
    if isinstance(function, Dense):
        function = Function.from_dense(function)
    return briefly(
        partial(_cover, function, method, deadline, effort),
        small=is_small(function.inputs, function.outputs),
        loading=partial(_warm, function.is_dense, method == "exact"),
    )


def _cover(function: Function, method: str, deadline: float | None, effort: float) -> Cover:
    clock = Clock(deadline)
    inner = _working_time(function, deadline)
    needed = _needs_a_product(function, inner)
    if needed is False:
        nothing = Cubes.empty(function.inputs, function.outputs)
        return Cover(nothing, method, proved=True, seconds=clock.elapsed)
    start, note = _start(function, inner)
    found = Cover(start, "isop", note=note)
    if method != "isop":
        found = _minimised(function, start, method, inner, effort)
    return _checked(function, found, start, clock, at_least=int(needed is True))


@cache
def _warm(dense: bool, exact: bool) -> None:  # noqa: FBT001 (cache keys)
    """Load, or after an installation compile, the loops outside the deadline."""
    if interpreting():  # within a longer task that is repeated with compiled loops
        return
    warm(dense=dense)
    if exact:
        from boolcomp.twolevel.exact import warm_exact  # noqa: PLC0415 (rarely needed)

        warm_exact()


def _working_time(function: Function, deadline: float | None) -> Clock:
    if deadline is None:
        return Clock(None)
    if function.is_dense:
        more = _PER_POINT * (1 << function.inputs)
    else:
        more = _PER_PAIR * (len(function.on) + len(function.dc)) ** 2
    reserve = min(_MOST_RESERVE * deadline, _RESERVE * deadline + more)
    return Clock(deadline - reserve)


def _needs_a_product(function: Function, clock: Clock) -> bool | None:
    """Tell whether some point must be covered; None where the time did not suffice."""
    if function.is_dense:
        return bool(function.dense.on.any())
    nothing = Cubes.empty(function.inputs, function.outputs)
    try:
        return missing(function, nothing, Clock(_SHARE * clock.left)) is not None
    except GaveUpError:
        return None


def _start(function: Function, clock: Clock) -> tuple[Cubes, str]:
    """Return the cover that every method starts from and falls back on, and a note."""
    if not function.is_dense:
        found = heuristic.irredundant(function, clock)
        return found, "deadline reached" if clock.over else ""
    try:
        return twolevel_function.isop(function.dense, clock), ""
    except GaveUpError:
        pass
    note = "no time for more than listing points"
    if function.given_on is not None:
        return function.given_on, note
    return twolevel_function.minterms(function.dense), note


def _minimised(function: Function, start: Cubes, method: str, clock: Clock, effort: float) -> Cover:
    if method == "exact":
        from boolcomp.twolevel.exact import minimise_exact  # noqa: PLC0415 (rarely needed)

        first = _own(function, start, Clock(clock.left / 5), effort).cubes
        return minimise_exact(function, first, max(0.0, clock.left))
    if method == "espresso":
        answer = run_espresso(function, start, clock.left)
        if answer.cubes is None:
            return Cover(start, "isop", note=f"{answer.note}; this is the irredundant sum")
        return Cover(answer.cubes, "espresso")
    found = Cover(start, "isop") if clock.over else _own(function, start, clock, effort)
    if clock.over and not found.proved:
        bound = found.lower_bound
        return Cover(found.cubes, found.method, lower_bound=bound, note="deadline reached")
    return found


def _own(function: Function, start: Cubes, clock: Clock, effort: float) -> Cover:
    if function.is_dense and heuristic.suits(function.dense):
        found, bound = heuristic.improve(function.dense, start, clock, effort)
        return Cover(found, "own", len(found) == bound, bound)
    try:
        function = function.stated(clock) if function.given_on is None else function
    except GaveUpError:
        return Cover(start, "isop")
    cubes = heuristic.improve_lists(function, start, clock, effort)
    reached = heuristic.within_reach(function)
    return Cover(
        cubes, "own", note="" if reached else "the OFF set is too large: grown within ON and DC"
    )


def _checked(
    function: Function, found: Cover, start: Cubes, clock: Clock, *, at_least: int
) -> Cover:
    """Verify; fall back to the start, then to the given cubes, with a note.

    `at_least` is a proved bound.
    """
    cubes, note, method = found.cubes, found.note, found.method
    fault = _fault(function, cubes, clock)
    # The bound of an unverified cover is kept, that of a wrong cover is not.
    bound = max(at_least, 0 if isinstance(fault, Witness) else found.lower_bound)
    if fault is not None and cubes is not start:
        note, method = f"{method}'s cover is discarded: {fault}", "isop"
        cubes = start
        fault = _fault(function, cubes, clock)
    if fault is not None:
        note = f"{note or 'the irredundant sum is discarded'}; these are the ON cubes: {fault}"
        cubes, method = function.on, "given"
    cubes = cubes.valid().canonical()
    return Cover(cubes, method, bound == len(cubes), bound, clock.elapsed, note)


def _fault(function: Function, cubes: Cubes, clock: Clock) -> Witness | str | None:
    if cubes is function.given_on:
        return None  # right by definition
    try:
        return verify(function, cubes, clock)
    except GaveUpError:
        return "no time to verify it"


# --------------------------------------------------------------------------------------------------
# Output phase assignment: outputs whose complement is cheaper.
#
# Function and complement are minimised together (Sasao, 1984), which gives the number of products
# of every choice of phases. The best choices are minimised separately; the fewest products win.
# Phases without a gain are kept.
# --------------------------------------------------------------------------------------------------

ALL = 10  # outputs, at most, for which all choices are counted
TRIED = 3  # choices that are minimised, apart from the given phases
_BOTH = 0.25  # of the time for function and complement together


class Phased(NamedTuple):
    """A cover of the function in certain phases (False: complemented)."""

    phase: tuple[bool, ...]
    function: Function
    cover: Cover


def phase_assignment(
    function: Function, method: str = "own", deadline: float | None = None
) -> Phased:
    """Return phases and a verified cover with few products; never more than without phases."""
    clock = Clock(deadline)
    direct = (True,) * function.outputs
    both = minimise(_with_complement(function), "own", _share(clock, _BOTH))
    choices = [direct, *itertools.islice(_choices(both.cubes, function.outputs), TRIED)]
    best: Phased | None = None
    for place, phase in enumerate(dict.fromkeys(choices)):
        if best is not None and clock.over:
            break
        phased = in_phase(function, phase)
        cover = minimise(phased, method, _share(clock, 1 / (len(choices) - place)))
        size = cover.products, cover.literals
        if best is None or size < (best.cover.products, best.cover.literals):
            best = Phased(phase, phased, cover)
    assert best is not None  # noqa: S101 (the direct phases come first, at any time)
    return best


def _share(clock: Clock, part: float) -> float | None:
    return None if math.isinf(clock.left) else max(0.01, clock.left * part)


def _with_complement(function: Function) -> Function:
    """Return a function with twice the outputs: the given ones, then their complements."""
    width = function.outputs
    complement = in_phase(function, (False,) * width)
    sets = []
    for kind in ("on", "dc"):
        first, second = getattr(function, kind), getattr(complement, kind)
        sets.append(_shifted(first, width, 0).joined(_shifted(second, width, width)))
    return Function.from_cubes(*sets)


def _shifted(cubes: Cubes, width: int, first: int) -> Cubes:
    """Return cubes over twice the outputs, theirs from number `first` on."""
    out = np.zeros((len(cubes), 2 * width), np.bool_)
    out[:, first : first + width] = unpack(cubes.out, width)
    planes = cubes.packed[:, : cubes.shape.out_at]
    return Cubes(cubes.inputs, 2 * width, np.concatenate([planes, pack(out)], axis=1))


def _choices(cubes: Cubes, width: int) -> Iterator[tuple[bool, ...]]:
    """Yield phases, fewest products first; for many outputs, local minima."""
    serves = unpack(cubes.out, 2 * width)
    if width <= ALL:
        every = list(itertools.product((True, False), repeat=width))
        every.sort(key=lambda phase: _needed(serves, phase))
        yield from every
    else:
        yield _descended(serves, (True,) * width)
        yield _descended(serves, (False,) * width)
        each = serves.sum(axis=0)
        yield _descended(serves, tuple((each[:width] <= each[width:]).tolist()))


def _needed(serves: Flags, phase: tuple[bool, ...]) -> int:
    """Count the products that serve an output in its phase."""
    width = len(phase)
    columns = [k if direct else width + k for k, direct in enumerate(phase)]
    return int(serves[:, columns].any(axis=1).sum())


def _descended(serves: Flags, phase: tuple[bool, ...]) -> tuple[bool, ...]:
    """Complement one output after the other while that needs fewer products."""
    fewest = _needed(serves, phase)
    place, idle = 0, 0
    while idle < len(phase):
        changed = (*phase[:place], not phase[place], *phase[place + 1 :])
        needed = _needed(serves, changed)
        idle += 1
        if needed < fewest:
            phase, fewest, idle = changed, needed, 0
        place = (place + 1) % len(phase)
    return phase


# --------------------------------------------------------------------------------------------------
# Runs of every compiled loop on a tiny problem, so that deadlines do not include compilation.
# --------------------------------------------------------------------------------------------------


def warm(*, dense: bool) -> None:
    """Compile or load the loops for truth tables, or those for lists of cubes."""
    on = Cubes.from_rows(3, 1, [("000", "1"), ("011", "1"), ("11-", "1"), ("1-1", "1")])
    dc = Cubes.from_rows(3, 1, [("001", "1")])
    function = Function.from_cubes(on, dc)
    if dense:
        # The second has too many inputs for a list of all primes.
        for inputs in (3, 13):
            padding = "-" * (inputs - 3)
            padded = [Cubes.from_rows(inputs, 1, [(a + padding, b) for a, b in s.rows()])
                      for s in (on, dc)]  # fmt: skip
            table: Dense = Function.from_cubes(*padded).dense
            heuristic.improve(table, twolevel_function.isop(table), Clock())
        verify(function, on)
    # Local search needs a problem that its bound does not settle; its work here is 0.
    matrix = setcover.matrix(function.dense, function.on)
    assert matrix is not None  # noqa: S101 (it is tiny)
    LocalSearch(matrix, np.zeros(1, np.int32), 0).improve(0)
    if dense:
        return
    lists = Function.from_cubes(on, dc, Cubes.from_rows(3, 1, [("010", "1")]))
    verify(lists, heuristic.improve_lists(lists, on, Clock()))
    lists = Function(3, 1, on, dc)
    lists.__dict__["is_dense"] = False  # as if it had too many inputs
    verify(lists, heuristic.improve_lists(lists, on, Clock()))


# --------------------------------------------------------------------------------------------------
# Espresso, from pyeda, in a process of its own.
#
# The C engine exits the whole process on contradictory input, holds the interpreter's lock, leaks
# and has global settings. It therefore runs in a worker with a time and a memory limit. It starts
# from a good cover, never from minterms.
# --------------------------------------------------------------------------------------------------

MEMORY = 2 << 30
_PATIENCE = 1.0  # seconds that a worker has to end by itself
_LONGEST = 10**6  # seconds


@dataclass(frozen=True, slots=True)
class EspressoAnswer:
    """The cover that Espresso found, or None and an explanation; seconds of the C engine alone."""

    cubes: Cubes | None
    note: str = ""
    seconds: float = 0.0


def has_espresso() -> bool:
    return find_spec("pyeda") is not None


def run_espresso(function: Function, start: Cubes, deadline: float = math.inf) -> EspressoAnswer:
    """Minimise from the cover `start`; failures and an expired deadline (seconds) become notes."""
    if not has_espresso():
        return EspressoAnswer(None, "pyeda is not installed: `pip install 'boolcomp[espresso]'`")
    if function.inputs == 0 or function.outputs == 0 or len(start) == 0:
        return EspressoAnswer(start)
    if deadline <= 0:
        return EspressoAnswer(None, "no time was left for Espresso")
    job, rows = _request(function, start)
    limits = Limits(MEMORY, math.ceil(min(deadline, _LONGEST)) + 1)
    end = time.monotonic() + min(deadline, _LONGEST)
    worker = Worker(limits=limits, quiet=True)
    try:
        return _read(function, *worker.call(espresso_worker.minimised, job, rows, end=end))
    except TimeoutError:
        note = f"Espresso was stopped after {deadline:.3g} s"
    except EOFError:
        note = _death(worker)
    except ImportError:
        note = "pyeda is installed but its Espresso cannot be imported"
    except MemoryError:
        note = f"Espresso needed more than {MEMORY >> 20} MiB"
    except Exception as error:  # noqa: BLE001 (any failure becomes a note)
        note = f"Espresso failed: {error}"
    finally:
        worker.end()
    return EspressoAnswer(None, note)


def _request(function: Function, start: Cubes) -> tuple[dict[str, int], bytes]:
    given_off = function.given_off
    other = function.dc if given_off is None else given_off
    # In a row for pyeda 1 puts an output into the ON set, 2 into the DC set, 0 (type r) into OFF.
    # With type fr every 0 counts, so ON rows need a 2 for outputs that they do not belong to.
    rows = _letters(start, "01" if given_off is None else "21")
    rows += _letters(other, "02" if given_off is None else "20")
    job = {
        "inputs": function.inputs, "outputs": function.outputs,
        "type": 1 | (2 if given_off is None else 4),
    }  # fmt: skip
    return job, rows


def _letters(cubes: Cubes, owners: str) -> bytes:
    """Write cubes as letters without separators; `owners` are the letters for "no" and "yes"."""
    letters = np.frombuffer(owners.encode(), np.uint8)
    values = letters[unpack(cubes.out, cubes.outputs).astype(np.uint8)]
    return np.concatenate([cubes.letters(), values], axis=1).tobytes()


def _read(function: Function, rows: bytes, seconds: float) -> EspressoAnswer:
    letters = np.frombuffer(rows, np.uint8).reshape(-1, function.inputs + function.outputs)
    terms, owners = letters[:, : function.inputs], letters[:, function.inputs :]
    cubes = Cubes.from_bits(terms != ord("1"), terms != ord("0"), owners == ord("1"))
    return EspressoAnswer(cubes, seconds=seconds)


def _death(worker: Worker) -> str:
    how = how_it_ended(worker.end(_PATIENCE))
    reason = worker.last_words or f"the memory limit is {MEMORY >> 20} MiB"
    return f"the Espresso worker died{how}: {reason}"
