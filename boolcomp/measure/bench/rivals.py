"""The rivals in C: for arms of two parallel joints by hand, for any arm generated."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from boolcomp.measure.bench import straight, term_tables
from boolcomp.measure.bench.build import (
    FAST,
    Unit,
    compiled_library,
    compiler,
    function,
    missing,
    source,
)
from boolcomp.measure.bench.byte_tables import byte_header
from boolcomp.measure.bench.states import BITS
from boolcomp.measure.bench.tasks import Offer, address_of, column_task
from boolcomp.measure.bench.two_link import TwoLink, fixed_header, header, two_link

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from boolcomp.measure.bench.build import Compiler
    from boolcomp.measure.bench.states import BenchStates, Kind
    from boolcomp.measure.bench.tasks import BenchTask
    from boolcomp.problem.robot.model import Robot

WORDS: tuple[Kind, ...] = ("int8", "int16", "float32")
# Of a last bit, what a polynomial may err: less where words do not round it away.
WAVE_SHARE: dict[Kind, float] = {"int8": 3 / 16, "int16": 1 / 16, "float32": 1 / 16}
OWN = 0.3  # last bits: all that polynomials and float arithmetic may add
BYTES_OWN = 1.3  # last bits of 8: five products of rounded bytes
TABLES_OWN = 4.0  # last bits: words cut as the paper's plan cuts them
PRESSED = ("-fschedule-insns", "-fsched-pressure")  # gcc: a tenth, where words are converted
SCALAR = ("-O3", "-march=native", "-fno-math-errno")  # as CasADi's C is compiled


def wave_error(robot: Robot, bits: int, kind: Kind) -> float:
    """Return how far a sine may be off, of its amplitude: a small part of the finest last bit."""
    fine = bits if kind != "int8" else min(bits, 8)
    return WAVE_SHARE[kind] / (1 << (fine - 1)) / max(1, robot.joints - 1)


def c_offers(robot: Robot, bits: int) -> Iterator[Offer]:
    """Yield every C rival in every type; what cannot hold the words is skipped, not handicapped."""
    for offer in _all_offers(robot, bits):
        if offer.skipped == "" and bits > BITS[offer.kind]:
            why = f"{BITS[offer.kind]}-bit words cannot hold torques of {bits} bits"
            yield Offer(offer.rival, offer.kind, None, skipped=why)
        else:
            yield offer


def _all_offers(robot: Robot, bits: int) -> Iterator[Offer]:
    arm = two_link(robot)
    if isinstance(arm, TwoLink):
        yield from _two_link_offers(robot, arm, bits)
    yield from _any_arm(robot, bits)


def _rounding(kind: Kind, bits: int) -> float:
    """Return half a last bit of a type's words, in last bits of the final word."""
    return 0.5 * 2.0 ** (bits - BITS[kind]) if kind in ("int8", "int16") else 0.0


def _offer(
    rival: str,
    kind: Kind,
    by: str,
    unit: Unit,
    bound: float,
    *,
    needs: str = "",
    tables: Sequence[Any] = (),
) -> Offer:
    """Return an offer of C that is compiled when it is set up."""
    found = compiler(by)
    lacks = missing(needs) if needs else ""
    if found is None or lacks:
        return Offer(rival, kind, None, skipped=lacks or f"no {by}")
    return Offer(rival, kind, _maker(found, unit, kind, tables), bound)


def _maker(
    by: Compiler, unit: Unit, kind: Kind, tables: Sequence[Any]
) -> Callable[[BenchStates, int, int], BenchTask]:
    def make(states: BenchStates, batch: int, count: int) -> BenchTask:
        library = compiled_library(by, unit)
        address = address_of(function(library, "rival", None))
        return column_task(address, kind, states, batch, count, tables)

    return make


def _sample(kind: Kind) -> str:
    return f"SAMPLE={BITS[kind]}"


def _two_link_offers(robot: Robot, arm: TwoLink, bits: int) -> Iterator[Offer]:
    for kind in WORDS:
        text = header(arm, wave_error(robot, bits, kind))
        macro = (_sample(kind),)
        bound = _rounding(kind, bits) + OWN
        yield from _hand(kind, text, macro, bound)
        for by in ("gcc", "clang"):
            yield _offer(
                f"{by} -O3 float", kind, by,
                Unit(source("two_link_float.c"), text, macro),
                bound,
            )  # fmt: skip
        yield _offer(
            "libmvec", kind, "gcc",
            Unit(
                source("two_link_float.c"), text, (*macro, "LIBMVEC"),
                libraries=("-lmvec", "-lm"),
            ),
            bound,
        )  # fmt: skip
    yield from _bytes(arm, bits)
    yield from _fixed(arm, bits)
    yield from _looked_up(robot, bits)


def _hand(kind: Kind, text: str, macro: tuple[str, ...], bound: float) -> Iterator[Offer]:
    for by in ("gcc", "clang"):
        yield _offer(
            f"AVX-512 float by hand ({by})", kind, by,
            Unit(source("two_link_avx512.c"), text, macro), bound, needs="avx512",
        )  # fmt: skip


def _bytes(arm: TwoLink, bits: int) -> Iterator[Offer]:
    text = byte_header(arm)
    for by in ("gcc", "clang"):
        name = f"VBMI byte tables ({by})"
        if text is None:
            yield Offer(name, "int8", None, skipped="the arm's constants do not fit in bytes")
            continue
        bound = BYTES_OWN * 2.0 ** (bits - 8)
        macro = (_sample("int8"),)
        yield _offer(
            name, "int8", by, Unit(source("two_link_bytes.c"), text, macro), bound, needs="vbmi"
        )


def _fixed(arm: TwoLink, bits: int) -> Iterator[Offer]:
    text = fixed_header(arm)
    for kind in WORDS[:2]:
        for by in ("gcc", "clang"):
            name = f"int16 fixed point ({by})"
            if text is None:
                yield Offer(name, kind, None, skipped="the arm's constants do not fit in 16 bits")
                continue
            bound = _rounding(kind, bits) + 0.05 * 2.0 ** (bits - 8)
            whole = header(arm, 1e-3) + text
            macro = (_sample(kind),)
            yield _offer(
                name, kind, by,
                Unit(source("two_link_fixed.c"), whole, macro),
                bound, needs="avx512",
            )  # fmt: skip


def _looked_up(robot: Robot, bits: int) -> Iterator[Offer]:
    made = term_tables.term_tables(robot, bits)
    names = ("term tables, AVX-512 gathers", "term tables, scalar")
    if isinstance(made, str):
        yield from (Offer(name, "int8", None, skipped=made) for name in names)
        return
    macro = (_sample("int8"),)
    bound = TABLES_OWN * max(1.0, 2.0 ** (bits - 8))
    for name, text, needs in (
        (names[0], term_tables.gather_c(made), "avx512"),
        (names[1], term_tables.term_tables_c(made), ""),
    ):
        yield _offer(
            name, "int8", "gcc", Unit(text, "", macro), bound, needs=needs, tables=made.tables
        )


def _any_arm(robot: Robot, bits: int) -> Iterator[Offer]:
    program, lean = straight.record(robot), straight.record(robot, lean=True)
    # gcc keeps the order it is given and does best with the recurrence's own.
    orders = {
        "Newton-Euler, vectors of float": {"gcc": program, "clang": program.live_order()},
        "lean Newton-Euler, vectors of float": {"gcc": lean, "clang": lean.live_order()},
    }
    for kind in WORDS:
        error, macro = wave_error(robot, bits, kind), (_sample(kind),)
        for name, by, ordered in ((n, b, x) for n, each in orders.items() for b, x in each.items()):
            text = straight.vector_c(ordered, robot, error)
            flags = (*FAST, *PRESSED) if by == "gcc" and kind != "float32" else FAST
            yield _offer(
                f"{name} ({by})", kind, by, Unit(text, "", macro, flags, ("-lm",)),
                _rounding(kind, bits) + OWN,
            )  # fmt: skip
    macro = (_sample("float64"),)
    for by in ("gcc", "clang"):
        yield _offer(
            f"Newton-Euler, scalar double ({by})", "float64", by,
            Unit(straight.scalar_c(program), "", macro, SCALAR, ("-lm",)),
            1e-6 * math.ldexp(1.0, bits - 8),
        )  # fmt: skip
