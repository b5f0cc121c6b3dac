"""One function for every way to minimise; whatever comes out has been verified."""

from __future__ import annotations

import math
from functools import cache, partial
from typing import Literal, get_args

from boolcomp.base.loops import briefly, interpreting
from boolcomp.common.errors import UsageError, listing, suggestion
from boolcomp.twolevel import heuristic, isop
from boolcomp.twolevel.clock import Clock
from boolcomp.twolevel.cubes import Cubes
from boolcomp.twolevel.dense import Dense, is_small
from boolcomp.twolevel.function import Cover, Function
from boolcomp.twolevel.lists import GaveUpError
from boolcomp.twolevel.verify import Witness, missing, verify

Method = Literal["exact", "espresso", "isop", "own"]
METHODS: tuple[Method, ...] = get_args(Method)

_RESERVE = 0.05  # of the time is kept for verification,
_PER_POINT = 1e-6  # and so many seconds for each point of a table,
_PER_PAIR = 1e-8  # or for each pair of cubes where there is no table, but
_SHARE = 0.05  # of it to find out whether there is anything to cover
_MOST_RESERVE = 0.7  # of the time at most


def minimise(
    function: Function | Dense,
    method: str = "own",
    deadline: float | None = None,
    *,
    effort: float = 1.0,
) -> Cover:
    """Return a verified cover of a function with few products.

    `exact` proves the minimum where it can, `own` is our heuristic, `espresso` pyeda's Espresso,
    `isop` an irredundant sum, at once. At the deadline (seconds; it does not count the compiling of
    loops that the first call of a process may need) the best cover so far comes back; its note says
    so. `effort` scales how long `own` goes on without a gain.
    """
    if method not in METHODS:
        raise UsageError(f"method {method!r}{suggestion(method, METHODS)}: {listing(METHODS)}")
    if isinstance(function, Dense):
        function = Function.from_dense(function)
    return briefly(
        partial(_cover, function, method, deadline, effort),
        small=is_small(function.inputs, function.outputs),
        loading=partial(_warm, function.is_dense, method == "exact"),
    )


def _cover(function: Function, method: str, deadline: float | None, effort: float) -> Cover:
    """Return a verified cover, as above."""
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
    """Load, or the first time after installing compile, the loops: outside any deadline."""
    if interpreting():  # within longer work that is begun again, compiled
        return
    from boolcomp.twolevel.warm import warm  # noqa: PLC0415 (imports this module's own)

    warm(dense=dense)
    if exact:
        from boolcomp.twolevel.warm_exact import warm_exact  # noqa: PLC0415 (only who asks needs it)

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
    """Tell whether some point must be covered; None where the time did not suffice to know."""
    if function.is_dense:
        return bool(function.dense.on.any())
    nothing = Cubes.empty(function.inputs, function.outputs)
    try:
        return missing(function, nothing, Clock(_SHARE * clock.left)) is not None
    except GaveUpError:
        return None


def _start(function: Function, clock: Clock) -> tuple[Cubes, str]:
    """Return the first cover, which every method starts from and falls back on."""
    if not function.is_dense:
        from boolcomp.twolevel import improve_lists  # noqa: PLC0415 (truth tables do without)

        found = improve_lists.irredundant(function, clock)
        return found, "deadline reached" if clock.over else ""
    product_sum = isop.isop(function.dense, clock)
    if product_sum is not None:
        return product_sum, ""
    note = "no time for more than listing points"
    if function.given_on is not None:
        return function.given_on, note
    return isop.minterms(function.dense), note


def _minimised(function: Function, start: Cubes, method: str, clock: Clock, effort: float) -> Cover:
    if method == "exact":
        from boolcomp.twolevel.exact import minimise_exact  # noqa: PLC0415 (only who asks needs it)

        begin = Clock(None if clock.left == math.inf else clock.left / 5)
        first = _own(function, start, begin, effort).cubes
        return minimise_exact(function, max(0.0, clock.left), start=first)
    if method == "espresso":
        from boolcomp.twolevel import espresso  # noqa: PLC0415 (only who asks needs it)

        answer = espresso.run(function, start, clock.left)
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
    if not _listed(function, clock):
        return Cover(start, "isop")
    from boolcomp.twolevel import improve_lists  # noqa: PLC0415 (truth tables do without)

    cubes = improve_lists.improve_lists(function, start, clock, effort)
    reached = improve_lists.within_reach(function)
    return Cover(
        cubes, "own", note="" if reached else "its OFF set is too large: grown within ON and DC"
    )


def _listed(function: Function, clock: Clock) -> bool:
    """Find ON and DC as cubes where only a table is given; False where there is no time to."""
    if function.given_on is not None:
        return True
    table = function.dense
    only_dc = Dense(table.inputs, table.outputs, table.dc, table.dc & ~table.dc)
    for name, planes in (("on", table), ("dc", only_dc)):
        if name not in function.__dict__:
            found = isop.isop(planes, clock)
            if found is None:
                return False
            # Kept where the cached property of that name would keep it.
            function.__dict__[name] = found
    return True


def _checked(
    function: Function, found: Cover, start: Cubes, clock: Clock, *, at_least: int
) -> Cover:
    """Verify; fall back to the start, and from there to the cubes given, with a note.

    `at_least` is a proved bound.
    """
    cubes, note, method = found.cubes, found.note, found.method
    wrong = _wrong(function, cubes, clock)
    # A bound outlives a cover that there was no time to verify, but not one that is wrong.
    bound = max(at_least, 0 if isinstance(wrong, Witness) else found.lower_bound)
    if wrong is not None and cubes is not start:
        note, method = f"{method}'s cover is discarded: {wrong}", "isop"
        cubes = start
        wrong = _wrong(function, cubes, clock)
    if wrong is not None:
        note = f"{note or 'the irredundant sum is discarded'}; these are the ON cubes: {wrong}"
        cubes, method = function.on, "given"
    cubes = cubes.valid().canonical()
    return Cover(cubes, method, bound == len(cubes), bound, clock.elapsed, note)


def _wrong(function: Function, cubes: Cubes, clock: Clock) -> Witness | str | None:
    if cubes is function.given_on:
        return None  # right by definition
    try:
        return verify(function, cubes, clock)
    except GaveUpError:
        return "no time to verify it"
