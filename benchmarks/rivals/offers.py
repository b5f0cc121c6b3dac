"""The rivals of `boolcomp bench`: C for arms of two joints and of any, and Python packages."""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.base.errors import UsageError
from boolcomp.codes import Code
from boolcomp.measure.bench import (
    BITS,
    FAST,
    NativeTask,
    Offer,
    PythonTask,
    Unit,
    address_of,
    compiled_library,
    compiler,
    function,
    missing,
    source,
)
from boolcomp.paper.plan import PlanOptions, make_plan
from boolcomp.problem.dynamics import gravity_torques, inertia_matrix, inverse_dynamics
from boolcomp.problem.functions import inverse_dynamics_problem
from boolcomp.problem.robot.model import free_fall
from boolcomp.terms.extract import split

from .straight import (
    STATE_ARRAYS,
    c_float,
    live_order,
    minimax,
    python_loop,
    record,
    scalar_c,
    vector_c,
    wave_polynomial,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from boolcomp.measure.bench import BenchStates, BenchTask, Compiler, Kind
    from boolcomp.problem.problem import Problem
    from boolcomp.problem.robot.model import Link, Robot
    from boolcomp.terms.terms import Term

    Make = Callable[[BenchStates, int, int], BenchTask]


# --------------------------------------------------------------------------------------------------
# One table a term, for an arm of two joints: tables made by numpy, look-ups generated as C.
#
# Terms of the same variables share a table, whose entries hold both torques side by side, in 1/256
# of a last bit; input words have the widths that the paper's plan gives them.
# --------------------------------------------------------------------------------------------------


WORD_BITS = 8
MOST_INDEX_BITS = 15  # 128 KB, with seven other tables
FINE = 256
HALF = 32767
Key = tuple[int, ...]
SUM: Key = (6,)  # the column of q1 + q2, which is not among the inputs
BOTH = (("q1", 1), ("q2", 1))


@dataclass(frozen=True, slots=True, eq=False)
class TermTables:
    """Tables of T1 + 2^16 T2 in 1/256 of a last bit; the words that index each: (column, bits)."""

    tables: tuple[NDArray[np.int32], ...]
    words: tuple[tuple[tuple[int, int], ...], ...]


def term_tables(robot: Robot, bits: int) -> TermTables | str:
    """Return the tables of an arm of two joints, or why there are none."""
    if robot.joints != 2:
        return "for two joints only: entries hold a pair of torques"
    problem = inverse_dynamics_problem(robot)
    names = [one.name for one in problem.inputs]
    plan = make_plan(split(problem), PlanOptions(bits=min(bits, WORD_BITS), splits=0))
    full = all(x.revolute and x.position.magnitude == math.pi for x in robot.links)
    groups: dict[Key, dict[int, list[Term]]] = {}
    widths: dict[Key, list[int]] = {}
    for place, output in enumerate(plan.outputs):
        for whole in output.terms:
            bits_of = {word.variable: min(word.code.bits, WORD_BITS) for word in whole.words}
            for key, term in _parts(whole.term, names, full=full):
                groups.setdefault(key, {}).setdefault(place, []).append(term)
                wide = [WORD_BITS] if key == SUM else [bits_of[v] for v in term.variables]
                known = widths.setdefault(key, wide)
                widths[key] = [max(pair) for pair in zip(known, wide, strict=True)]
    tables, words = [], []
    for key, terms in groups.items():
        wide = widths[key]
        while sum(wide) > MOST_INDEX_BITS:  # larger tables cost more than their bits are worth
            wide[wide.index(max(wide))] -= 1
        chosen = tuple(zip(key, wide, strict=True))
        tables.append(_table(problem, chosen, terms))
        words.append(chosen)
    if max(sum(np.abs(entries).max(axis=0) for entries in tables)) > HALF:
        return "the terms may sum to more than 16 bits hold"
    packed = ((x[:, 0] + (x[:, 1] << 16)).astype(np.int32) for x in tables)
    return TermTables(tuple(packed), tuple(words))


def _parts(term: Term, names: Sequence[str], *, full: bool) -> Iterator[tuple[Key, Term]]:
    """Yield a term under the columns it reads; what depends on q1 + q2 alone is parted from it."""
    waves = term.waves()
    if full and not term.factor and not any(wave.powers for wave in waves):
        for multiples in dict.fromkeys(wave.multiples for wave in waves):
            part = term.part(wave for wave in waves if wave.multiples == multiples)
            yield SUM if multiples == BOTH else _columns(part, names), part
    else:
        yield _columns(term, names), term


def _columns(term: Term, names: Sequence[str]) -> Key:
    return tuple(names.index(variable.name) for variable in term.variables)


def _table(
    problem: Problem, words: Sequence[tuple[int, int]], terms: dict[int, list[Term]]
) -> NDArray[np.int64]:
    if (words[0][0],) == SUM:
        # Of two words in the middle of their cells: a whole number of steps, and wrapping.
        steps = np.arange(1 << WORD_BITS, dtype=np.float64) + 1
        angles = steps * (2 * math.pi / (1 << WORD_BITS))
        at: dict[str, NDArray[np.float64]] = {
            "q1": np.asarray(angles, np.float64),
            "q2": np.zeros(1 << WORD_BITS),
        }
    else:
        read = [(problem.inputs[column], bits) for column, bits in words]
        codes = [(one.name, Code(one.range, bits, "natural")) for one, bits in read]
        axes = [code.centre(np.arange(code.cells)) for _, code in codes]
        grid = np.meshgrid(*axes, indexing="ij")
        at = {name: values.ravel() for (name, _), values in zip(codes, grid, strict=True)}
    size = len(next(iter(at.values())))
    entries = np.zeros((size, 2))
    for place, several in terms.items():
        unit = problem.outputs[place].range.width / (FINE << WORD_BITS)
        for term in several:
            entries[:, place] += np.broadcast_to(term.evaluate(at), size) / unit
    return np.round(entries).astype(np.int64)


def term_tables_c(made: TermTables) -> str:
    """Return C that looks up one sample after the other."""
    heads = [f"    const uint8_t *restrict b{column} = in[{column}];" for column in range(6)]
    body, loaded = [], set()
    for k, words in enumerate(made.words):
        heads.append(f"    const int32_t *restrict t{k} = tables[{k}];")
        parts = []
        for place, (column, bits) in enumerate(words):
            if column not in loaded:
                loaded.add(column)
                load = f"b{column}[i] ^ 0x80u" if column not in SUM else "(uint8_t)(b0[i] + b1[i])"
                body.append(f"        uint32_t x{column} = {load};")
            parts.append(_moved(f"x{column}", bits, _shift(words, place)))
        body.append(f"        sum += t{k}[{' | '.join(f'({part})' for part in parts)}];")
    return "\n".join(
        [
            '#include "rival.h"', "KERNEL", "{", *heads, "    int8_t *restrict first = out[0];",
            "    int8_t *restrict second = out[1];", "    for (int64_t i = 0; i < n; i++) {",
            "        int32_t sum = 0;", *body, "        first[i] = (int8_t)(sum >> 8);",
            "        second[i] = (int8_t)((sum - (int16_t)sum) >> 24);", "    }", "}", "",
        ]
    )  # fmt: skip


def _moved(word: str, bits: int, shift: int) -> str:
    """Return the leading bits of a byte, shifted up: one shift and a mask where both are needed."""
    down = WORD_BITS - bits - shift
    if bits == WORD_BITS or not shift:
        return f"{word} << {shift}" if not down or shift else f"{word} >> {down}"
    mask = ((1 << bits) - 1) << shift
    return f"({word} {f'>> {down}' if down >= 0 else f'<< {-down}'}) & {mask}"


def gather_c(made: TermTables) -> str:
    """Return C that looks up 16 samples at a time: AVX-512 gathers of pairs."""
    body, loaded = [], set()
    for k, words in enumerate(made.words):
        parts = []
        for place, (column, bits) in enumerate(words):
            if column not in loaded:
                loaded.add(column)
                load = f"_mm_load_si128((const void *)(IN({column}) + i))"
                flipped = f"_mm_xor_si128({load}, _mm_set1_epi8((char)0x80))"
                if column in SUM:
                    loads = (f"_mm_load_si128((const void *)(IN({j}) + i))" for j in (0, 1))
                    flipped = f"_mm_add_epi8({', '.join(loads)})"
                body.append(f"        V x{column} = _mm512_cvtepu8_epi32({flipped});")
            cut = f"_mm512_srli_epi32(x{column}, {8 - bits})" if bits < 8 else f"x{column}"
            shift = _shift(words, place)
            parts.append(f"_mm512_slli_epi32({cut}, {shift})" if shift else cut)
        index = parts[0]
        for part in parts[1:]:
            index = f"_mm512_or_si512({index}, {part})"
        body.append(f"        V e{k} = _mm512_i32gather_epi32({index}, tables[{k}], 4);")
        body.append(f"        sum = _mm512_add_epi32(sum, e{k});")
    return "\n".join(
        [
            "#include <immintrin.h>", '#include "rival.h"', "typedef __m512i V;", "KERNEL", "{",
            "    for (int64_t i = 0; i < n; i += 16) {", "        V sum = _mm512_setzero_si512();",
            *body,
            "        V low = _mm512_srai_epi32(_mm512_slli_epi32(sum, 16), 16);",
            "        V one = _mm512_srli_epi32(sum, 8);",
            "        V two = _mm512_srli_epi32(_mm512_sub_epi32(sum, low), 24);",
            "        _mm_store_si128((__m128i *)(OUT(0) + i), _mm512_cvtepi32_epi8(one));",
            "        _mm_store_si128((__m128i *)(OUT(1) + i), _mm512_cvtepi32_epi8(two));",
            "    }", "}", "",
        ]
    )  # fmt: skip


def _shift(words: Sequence[tuple[int, int]], place: int) -> int:
    return sum(bits for _, bits in words[place + 1 :])


# --------------------------------------------------------------------------------------------------
# The byte tables of the VBMI rival, for an arm of two parallel joints, as a C header.
#
# All products are in units of 1/256 of a torque's last bit. A table holds a function of one word at
# the middle of its cells; what the half steps of the multiplied words add is put into a table of
# the same angle, so that rounding is centred.
# --------------------------------------------------------------------------------------------------


UNIT = 256 * 128  # of a torque's range
WORD = 128
FULL = 127
MOST_SPEEDS = 255 / 5.0  # levels of a square: u² - w² + 4 reaches from 0 to 5


def byte_header(arm: TwoLink) -> str | None:
    """Return the header, or None where the arm's constants do not fit in bytes."""
    if not arm.equal_ranges or arm.quarters_a % 2 or arm.b < 0:
        return None
    rate, square = arm.rates[0], arm.speeds[0] ** 2
    u1, u2 = UNIT / arm.torques[0], UNIT / arm.torques[1]  # units in a N·m
    words = np.arange(256).astype(np.uint8).astype(np.int8).astype(float)  # by their bytes
    angle = (words + 0.5) * math.pi / WORD
    m = arm.d + arm.b * np.cos(angle)
    m11 = (arm.a + 2 * m) * u1 * rate / WORD
    # Bytes that are multiplied have no sign: where M is negative, accelerations change theirs.
    m12, m12_1 = np.abs(m) * u2 * rate / WORD, np.abs(m) * u1 * rate / WORD
    last = int(np.count_nonzero(m[:128] >= 0)) - 1
    e = arm.e * u2 * rate / WORD
    # S and the squares share what precision there is.
    levels = min(MOST_SPEEDS, math.sqrt(abs(arm.b) * square * u1))
    offset = round(4 * levels)
    sine = np.round(arm.b * np.sin(angle) * square * u1 / levels)
    ratio = u2 / u1
    speed = ((words + 0.5) / WORD) ** 2
    middle = ((np.arange(256) - 128 + 0.25) / WORD * 2) ** 2  # of the rounded mean of two words
    amplitude, gb1, gb2 = _shared_wave(arm.weight_b * u1, arm.weight_b * u2)
    shift = (float(m12.mean()) + e) / 2 / gb2
    both = amplitude * np.cos((words + 1) * math.pi / WORD + arm.quarters_b * math.pi / 2) + shift
    ga = math.ceil(abs(arm.weight_a) * u1 / FULL)
    first = arm.weight_a * u1 / ga * np.cos(angle + arm.quarters_a * math.pi / 2)
    halves = (m11 + m12_1) / 2 - gb1 * shift
    fix = halves - offset * sine
    cn = math.ceil(np.abs(fix).max() / FULL)
    tables: dict[str, tuple[NDArray[np.float64], bool]] = {
        "TABLE_M11": (m11[:128], False), "TABLE_M12": (m12[:128], False),
        "TABLE_M12_1": (m12_1[:128], False), "TABLE_S": (sine, True), "TABLE_N": (fix / cn, True),
        "TABLE_CA": (first[:128], True), "TABLE_CB": (both, True),
        "TABLE_U": ((speed * levels * ratio)[:128], False),
        "TABLE_U_1": ((speed * levels)[:128], False),
        "TABLE_W": (np.round(offset - middle * levels) % 256, False),
    }  # fmt: skip
    same = ratio == 2.0
    numbers = {"BYTE_E": e, "BYTE_GB1": gb1, "BYTE_GB2": gb2, "BYTE_GA": ga, "BYTE_CN": cn}
    numbers["MASS_POSITIVE_TO"] = last
    if any(not 0 <= round(x) <= 255 for x in numbers.values()) or not _fit(tables.values()):
        return None
    lines = [f"#define {name} {round(x)}" for name, x in numbers.items()]
    lines += [f"#define SAME_MASS {int(same)}", f"#define SAME_SQUARE {int(same)}"]
    lines += [_c_table(name, values) for name, (values, _) in tables.items()]
    return "#include <stdint.h>\n" + "\n".join(lines) + "\n"


def _shared_wave(one: float, two: float) -> tuple[float, int, int]:
    """Return an amplitude of at most 126 and two whole factors that make nearly both products."""
    found = min(
        (abs(round(two / k) * k - two) + abs(round(one / k) * k - one), -k)
        for k in np.arange(100, 126, 0.01)
    )
    amplitude = -found[1]
    return amplitude, round(one / amplitude), round(two / amplitude)


def _fit(tables: Iterable[tuple[NDArray[np.float64], bool]]) -> bool:
    ends = {True: (-128, 127), False: (0, 255)}
    return all(
        ends[signed][0] <= round(values.min()) and round(values.max()) <= ends[signed][1]
        for values, signed in tables
    )


def _c_table(name: str, values: NDArray[np.float64]) -> str:
    signed = np.round(values).astype(np.int64).astype(np.uint8).astype(np.int8)
    body = ",".join(map(str, signed))
    return f"static const int8_t {name}[{len(values)}] __attribute__((aligned(64))) = {{{body}}};"


# --------------------------------------------------------------------------------------------------
# Two parallel revolute joints in closed form, and the C header that the rivals are made from.
#
# T1 = M(q2) (2 q̈1 + q̈2) + A q̈1 + S(q2) (q̇1² - (q̇1 + q̇2)²) + Ga cos(q1 + a) + Gb cos(q1 + q2 + b)
#     T2 = M(q2) q̈1 + E q̈2 + S(q2) q̇1² + Gb cos(q1 + q2 + b)       M = D + B cos q2, S = B sin q2
#
# `two_link` measures the constants from Newton-Euler and proves the form on random states. a and b
# are whole quarter turns; other arms of the kind have no such rivals, and are told why.
# --------------------------------------------------------------------------------------------------


FORM_ERROR = 1e-9  # of the torque range
QUARTER = math.pi / 2
STATES = 64


@dataclass(frozen=True, slots=True)
class TwoLink:
    """The constants: kg·m² and N·m, quarter turns, and half the range of every variable."""

    a: float
    b: float
    d: float
    e: float
    weight_a: float
    weight_b: float
    quarters_a: int
    quarters_b: int
    speeds: tuple[float, float]
    rates: tuple[float, float]
    torques: tuple[float, float]

    @property
    def equal_ranges(self) -> bool:
        """Whether both joints have the same range of speed and of acceleration."""
        return self.speeds[0] == self.speeds[1] and self.rates[0] == self.rates[1]


def two_link(robot: Robot) -> TwoLink | str:
    """Return the closed form of a robot, or the reason why it has none."""
    if robot.joints != 2 or not all(link.revolute for link in robot.links):
        return "not two revolute joints"
    if abs(math.sin(robot.links[0].alpha)) > 1e-12:
        return "the joints are not parallel"
    for link in robot.links:
        ranges = (link.velocity, link.acceleration, link.torque)
        if any(r.low != -r.high for r in ranges):
            return "a range is not symmetric about zero"
        if (link.position.low, link.position.high) != (-math.pi, math.pi):
            return "a position range is not a full turn, -pi to pi"
    found = _constants(robot)
    if not isinstance(found, str) and _misfit(robot, found) > FORM_ERROR:
        return "the closed form does not fit the arm"
    return found


def _constants(robot: Robot) -> TwoLink | str:
    turns = np.array([[0.0, 0.0], [0.0, math.pi], [0.0, QUARTER]])
    mass = inertia_matrix(robot, turns)
    d, b = (mass[0, 0, 1] + mass[1, 0, 1]) / 2, (mass[0, 0, 1] - mass[1, 0, 1]) / 2
    still = gravity_torques(robot, np.array([[0.0, 0.0], [-QUARTER, 0.0]]))
    waves = []
    for cosine, sine in (still[:, 0] - still[:, 1], still[:, 1]):
        size = math.hypot(cosine, sine)
        quarters = round(math.atan2(sine, cosine) / QUARTER)
        # Written as size·cos(q + quarters·π/2): at q = -π/2 that is size·sin(quarters·π/2).
        if abs(math.atan2(sine, cosine) - quarters * QUARTER) > 1e-9:
            return "gravity or a centre of mass lies askew: phases are not quarter turns"
        waves.append((size, quarters % 4))
    if abs(mass[2, 0, 1] - d) > 1e-9 * max(1.0, abs(d)):
        return "a centre of mass is off the line of its link"
    links = robot.links
    return TwoLink(
        a=float((mass[0, 0, 0] + mass[1, 0, 0]) / 2 - 2 * d),
        b=float(b),
        d=float(d),
        e=float(mass[0, 1, 1]),
        weight_a=waves[0][0],
        weight_b=waves[1][0],
        quarters_a=waves[0][1],
        quarters_b=waves[1][1],
        speeds=(links[0].velocity.high, links[1].velocity.high),
        rates=(links[0].acceleration.high, links[1].acceleration.high),
        torques=(links[0].torque.high, links[1].torque.high),
    )


def closed_form(
    arm: TwoLink, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return both torques: the numpy rival, in the arrays' own precision."""
    (q1, q2), (u, v), (r1, r2) = q.T, qd.T, qdd.T
    mass = arm.d + arm.b * np.cos(q2)
    turn = arm.b * np.sin(q2)
    weight = arm.weight_b * np.cos(q1 + q2 + arm.quarters_b * QUARTER)
    lift = arm.weight_a * np.cos(q1 + arm.quarters_a * QUARTER)
    square, both = u * u, u + v
    one = mass * (2 * r1 + r2) + arm.a * r1 + turn * (square - both * both) + lift + weight
    two = mass * r1 + arm.e * r2 + turn * square + weight
    return one, two


def _misfit(robot: Robot, arm: TwoLink) -> float:
    rng = np.random.default_rng(0)
    q = rng.uniform(-math.pi, math.pi, (STATES, 2))
    qd, qdd = rng.uniform(-1, 1, (2, STATES, 2)) * np.array([[arm.speeds], [arm.rates]])
    found = np.stack(closed_form(arm, q, qd, qdd), axis=1)
    return float(np.abs((found - inverse_dynamics(robot, q, qd, qdd)) / arm.torques).max())


def header(arm: TwoLink, wave_error: float) -> str:
    """Return the C header of an arm for the float rivals; waves err so much of their amplitude."""
    numbers = {
        "MASS_A": arm.a, "MASS_B": arm.b, "MASS_D": arm.d, "MASS_E": arm.e,
        "WEIGHT_A": arm.weight_a, "WEIGHT_B": arm.weight_b,
        "SPEED_1": arm.speeds[0], "SPEED_2": arm.speeds[1],
        "RATE_1": arm.rates[0], "RATE_2": arm.rates[1],
        "TORQUE_1": arm.torques[0], "TORQUE_2": arm.torques[1],
    }  # fmt: skip
    lines = [f"#define {name} {c_float(value)}" for name, value in numbers.items()]
    lines += [f"#define QUARTERS_A {arm.quarters_a}", f"#define QUARTERS_B {arm.quarters_b}"]
    cosine, sine = (wave_polynomial(kind, wave_error) for kind in ("cosine", "sine"))
    lines += [
        f"#define COSINE_OF(z) {cosine.horner()}",
        f"#define SINE_OF(z) {sine.horner()}",
        f"#define COSINE_VECTOR(z, scale, plus) {cosine.vector('FMA', 'SET', 'plus')}",
        f"#define SINE_VECTOR(z, scale) {sine.vector('FMA', 'SET')}",
    ]
    return "\n".join(lines) + "\n"


def fixed_header(arm: TwoLink) -> str | None:
    """Return the C header for 16-bit fixed point, or None where the constants do not fit."""
    rate, speed = arm.rates[0], arm.speeds[0]
    mass, squares = abs(arm.d) + abs(arm.b), abs(arm.b) * speed**2 / rate
    one = (abs(arm.a) + 3 * mass + 3 * squares) / 4
    two = mass + abs(arm.e) + squares
    unit = 1.01 * max(one, two)  # kg·m²: the dynamic part of T2 in 2^15, that of T1 in 2^17
    x = np.linspace(1e-3, 1, 400)
    basis = np.stack([x, x**3, x**5], axis=1)
    sine = minimax(basis, np.sin(QUARTER * x) - x).coefficients
    numbers = {
        "FIXED_SINE_0": sine[0], "FIXED_SINE_1": sine[1], "FIXED_SINE_2": sine[2],
        "FIXED_A": arm.a / (4 * unit), "FIXED_B": arm.b / unit, "FIXED_D": arm.d / unit,
        "FIXED_E": arm.e / unit, "FIXED_SPEED": arm.b * speed**2 / (unit * rate),
        "FIXED_UNIT_1": 4 * unit * rate / arm.torques[0],
        "FIXED_UNIT_2": unit * rate / arm.torques[1],
        "FIXED_GA": arm.weight_a / arm.torques[0], "FIXED_GB1": arm.weight_b / arm.torques[0],
        "FIXED_GB2": arm.weight_b / arm.torques[1],
    }  # fmt: skip
    if not arm.equal_ranges or any(abs(value) >= 1 for value in numbers.values()):
        return None
    return "".join(f"#define {name} {round(value * 32768)}\n" for name, value in numbers.items())


# --------------------------------------------------------------------------------------------------
# The rivals in C: for arms of two parallel joints by hand, for any arm generated.
# --------------------------------------------------------------------------------------------------


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
        return _column_task(address, kind, states, batch, count, tables)

    return make


def _column_task(
    address: int,
    kind: Kind,
    states: BenchStates,
    batch: int,
    count: int,
    tables: Sequence[Any] = (),
) -> NativeTask:
    """Return a task of a rival with the entry of rival.h, on `count` samples of a batch."""
    inputs = states.batch(kind, batch)
    outputs = [np.zeros(count + 64, inputs[0].dtype) for _ in states.problem.outputs]
    outputs = [_at_line(x) for x in outputs]
    ins = (ctypes.c_void_p * len(inputs))(*[x.ctypes.data for x in inputs])
    outs = (ctypes.c_void_p * len(outputs))(*[x.ctypes.data for x in outputs])
    extra = (ctypes.c_void_p * max(1, len(tables)))(*[x.ctypes.data for x in tables])
    arguments = [ctypes.addressof(ins), ctypes.addressof(outs), count, ctypes.addressof(extra)]
    return NativeTask(address, arguments, outputs, (inputs, ins, outs, extra, tables))


def _at_line(like: NDArray[Any]) -> NDArray[Any]:
    room = np.zeros(like.nbytes + 64, np.uint8)
    start = -room.ctypes.data % 64
    return room[start : start + like.nbytes].view(like.dtype)


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
    made = term_tables(robot, bits)
    names = ("term tables, AVX-512 gathers", "term tables, scalar")
    if isinstance(made, str):
        yield from (Offer(name, "int8", None, skipped=made) for name in names)
        return
    macro = (_sample("int8"),)
    bound = TABLES_OWN * max(1.0, 2.0 ** (bits - 8))
    for name, text, needs in (
        (names[0], gather_c(made), "avx512"),
        (names[1], term_tables_c(made), ""),
    ):
        yield _offer(
            name, "int8", "gcc", Unit(text, "", macro), bound, needs=needs, tables=made.tables
        )


def _any_arm(robot: Robot, bits: int) -> Iterator[Offer]:
    program, lean = record(robot), record(robot, lean=True)
    # gcc keeps the order it is given and does best with the recurrence's own.
    orders = {
        "Newton-Euler, vectors of float": {"gcc": program, "clang": live_order(program)},
        "lean Newton-Euler, vectors of float": {"gcc": lean, "clang": live_order(lean)},
    }
    for kind in WORDS:
        error, macro = wave_error(robot, bits, kind), (_sample(kind),)
        for name, by, ordered in ((n, b, x) for n, each in orders.items() for b, x in each.items()):
            text = vector_c(ordered, robot, error)
            flags = (*FAST, *PRESSED) if by == "gcc" and kind != "float32" else FAST
            yield _offer(
                f"{name} ({by})", kind, by, Unit(text, "", macro, flags, ("-lm",)),
                _rounding(kind, bits) + OWN,
            )  # fmt: skip
    macro = (_sample("float64"),)
    for by in ("gcc", "clang"):
        yield _offer(
            f"Newton-Euler, scalar double ({by})", "float64", by,
            Unit(scalar_c(program), "", macro, SCALAR, ("-lm",)),
            1e-6 * math.ldexp(1.0, bits - 8),
        )  # fmt: skip


# --------------------------------------------------------------------------------------------------
# A robot of ours as a MuJoCo model: each DH link is a body on a joint about (along) its axis z.
# --------------------------------------------------------------------------------------------------


def mujoco_model(mujoco: Any, robot: Robot) -> Any:
    """Return the model; masses and inertias are set past its reader, which refuses some of ours."""
    model = mujoco.MjModel.from_xml_string(_text(robot))
    for k, link in enumerate(robot.links, 1):
        xx, yy, zz, xy, yz, xz = link.inertia
        turn = _turned(link)
        tensor = turn @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ turn.T
        moments, axes = np.linalg.eigh(tensor)
        if np.linalg.det(axes) < 0:
            axes[:, 0] = -axes[:, 0]
        model.body_mass[k] = max(link.mass, 1e-12)
        model.body_inertia[k] = moments
        model.body_ipos[k] = turn @ np.array(link.center_of_mass) + np.array([link.a, 0, link.d])
        quaternion = np.zeros(4)
        mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(axes).ravel())
        model.body_iquat[k] = quaternion
        model.body_sameframe[k] = 0
    mujoco.mj_setConst(model, mujoco.MjData(model))
    return model


def _turned(link: Link) -> NDArray[np.float64]:
    c, s = math.cos(link.alpha), math.sin(link.alpha)
    return np.array([[1.0, 0, 0], [0, c, -s], [0, s, c]])


def _text(robot: Robot) -> str:
    opening, place, twist = [], "0 0 0", 0.0
    for link in robot.links:
        # From the frame of the link before to the joint: its twist about x, then theta about z.
        tx, tz = twist / 2, link.theta / 2
        quaternion = (
            math.cos(tx) * math.cos(tz),
            math.sin(tx) * math.cos(tz),
            -math.sin(tx) * math.sin(tz),
            math.cos(tx) * math.sin(tz),
        )
        numbers = " ".join(repr(x) for x in quaternion)
        kind = "hinge" if link.revolute else "slide"
        opening.append(
            f'<body pos="{place}" quat="{numbers}">'
            f'<joint type="{kind}" axis="0 0 1" armature="{link.joint_inertia!r}"/>'
            '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
        )
        place, twist = f"{link.a!r} 0 {link.d!r}", link.alpha
    gravity = " ".join(repr(float(g)) for g in free_fall(robot))
    return (
        f'<mujoco><compiler angle="radian"/><option gravity="{gravity}">'
        '<flag constraint="disable" contact="disable"/></option><worldbody>'
        + "".join(opening)
        + "</body>" * robot.joints
        + "</worldbody></mujoco>"
    )


# --------------------------------------------------------------------------------------------------
# Rivals that come as packages: numpy, numba, and CasADi, Pinocchio and MuJoCo where installed.
# --------------------------------------------------------------------------------------------------


PACKAGES = {"CasADi": "casadi", "Pinocchio": "pinocchio", "MuJoCo": "mujoco"}
CALLS = {
    "casadi": "mapped function", "pinocchio": "a call a sample", "mujoco": "a call a sample",
}  # fmt: skip
EXACT, SINGLE = 1e-6, 0.05  # last bits of 8


def library_offers(robot: Robot, bits: int) -> Iterator[Offer]:
    """Yield the rivals that are Python packages."""
    exact, single = (bound * 2.0 ** (bits - 8) for bound in (EXACT, SINGLE))
    arm = two_link(robot)
    for kind, bound in (("float64", exact), ("float32", single)):
        yield Offer("numba", kind, _numba(kind, robot, arm), bound)  # type: ignore[arg-type]
    yield Offer("numpy", "float64", _numpy(robot, arm), exact, threads=False)
    for name, package in PACKAGES.items():
        label = f"{name}, {CALLS[package]}"
        if importlib.util.find_spec(package) is None:
            yield Offer(label, "float64", None, skipped=f"{package} is not installed")
            continue
        if name == "MuJoCo" and (robot.general or robot.branched):
            yield Offer(label, "float64", None, skipped="its model is a chain of DH frames")
            continue
        make = {"CasADi": _casadi, "Pinocchio": _pinocchio, "MuJoCo": _mujoco}[name](robot)
        yield Offer(label, "float64", make, exact, threads=False)
        if name == "Pinocchio":
            batched = f"{name}, a call a batch"
            yield Offer(batched, "float64", _pinocchio_batch(robot), exact, threads=False)


def _numpy(robot: Robot, arm: TwoLink | str) -> Make:
    def make(states: BenchStates, batch: int, count: int) -> BenchTask:
        rows = states.rows("float64", batch, count)
        found: list[Any] = [None]

        def call() -> None:
            if isinstance(arm, TwoLink):
                found[0] = closed_form(arm, rows[0], rows[1], rows[2])
            else:
                found[0] = tuple(inverse_dynamics(robot, *rows).T)

        return PythonTask(call, lambda: list(found[0]))

    return make


def _numba(kind: Kind, robot: Robot, arm: TwoLink | str) -> Make:
    del arm

    def make(states: BenchStates, batch: int, count: int) -> BenchTask:
        import numba  # noqa: PLC0415 (only who runs it loads it)

        space: dict[str, Any] = {"sin": np.sin, "cos": np.cos}
        exec(python_loop(record(robot)), space)  # noqa: S102 (our own text)
        loop = numba.njit(fastmath=True, nogil=True)(space["torques"])
        columns = np.stack([x[:count] for x in states.batch(kind, batch)])
        results = np.zeros((robot.joints, count), columns.dtype)
        loop(columns, results)  # compiled before the clock runs
        return PythonTask(lambda: loop(columns, results), lambda: list(results))

    return make


def _casadi(robot: Robot) -> Make:
    def make(states: BenchStates, batch: int, count: int) -> BenchTask:
        casadi: Any = importlib.import_module("casadi")

        from boolcomp.problem.algebra import Algebra, Folding  # noqa: PLC0415 (likewise)
        from boolcomp.problem.dynamics import newton_euler  # noqa: PLC0415 (for CasADi)

        class Symbols(Algebra):
            """CasADi's expressions as an algebra."""

            def constant(self, value: float) -> float:
                return value

            def function(self, kind: str, *x: Any) -> Any:
                return getattr(casadi, kind)(*x)

        n = robot.joints
        symbols = [casadi.SX.sym(name, n) for name in STATE_ARRAYS]
        state = [[x[k] for k in range(n)] for x in symbols]
        torques = newton_euler(robot, Folding(Symbols()), *state)
        one = casadi.Function("torques", symbols, [casadi.cse(casadi.vertcat(*torques))])
        mapped = one.map(count)
        rows = [np.ascontiguousarray(x.T) for x in states.rows("float64", batch, count)]
        found: list[Any] = [None]

        def call() -> None:
            found[0] = mapped(*rows)

        return PythonTask(call, lambda: list(np.asarray(found[0])))

    return make


def _pinocchio(robot: Robot) -> Make:
    def make(states: BenchStates, batch: int, count: int) -> BenchTask:
        import pinocchio as pin  # noqa: PLC0415 (only who runs it loads it)

        model = _pinocchio_model(pin, robot)
        data = model.createData()
        rows = list(zip(*states.rows("float64", batch, count), strict=True))
        rnea = pin.rnea

        def call() -> None:
            for q, qd, qdd in rows:
                rnea(model, data, q, qd, qdd)

        def results() -> list[Any]:
            found = [rnea(model, data, *row).copy() for row in rows]
            return list(np.array(found).T)

        return PythonTask(call, results)

    return make


def _pinocchio_batch(robot: Robot) -> Make:
    def make(states: BenchStates, batch: int, count: int) -> BenchTask:
        import pinocchio as pin  # noqa: PLC0415 (only who runs it loads it)

        if not hasattr(pin, "rneaInParallel"):
            raise UsageError("this Pinocchio has no calls for batches")
        pool = pin.ModelPool(_pinocchio_model(pin, robot), 1)
        columns = [np.asfortranarray(x.T) for x in states.rows("float64", batch, count)]
        found = np.zeros((robot.joints, count), order="F")
        return PythonTask(lambda: pin.rneaInParallel(1, pool, *columns, found), lambda: list(found))

    return make


def _pinocchio_model(pin: Any, robot: Robot) -> Any:
    model = pin.Model()
    model.gravity.linear = np.array(free_fall(robot))
    placements = [pin.SE3.Identity()]
    for k, (link, before) in enumerate(zip(robot.links, robot.parents, strict=True)):
        joint, turned, placement = _pinocchio_joint(pin, link)
        parent = model.addJoint(before, joint, placements[before] * turned, f"joint{k}")
        placements.append(placement)
        xx, yy, zz, xy, yz, xz = link.inertia
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        body = pin.Inertia(link.mass, np.array(link.center_of_mass), tensor)
        model.appendBodyToJoint(parent, body, placement)
    model.armature = np.array([link.joint_inertia for link in robot.links])
    return model


def _pinocchio_joint(pin: Any, link: Link) -> tuple[Any, Any, Any]:
    """Return a joint, its placement in the frame before, and the link's frame in its own."""
    if link.pose is not None:
        made = (
            pin.JointModelRevoluteUnaligned if link.revolute else pin.JointModelPrismaticUnaligned
        )
        place = pin.SE3(pin.rpy.rpyToMatrix(*link.pose.rotation), np.array(link.pose.origin))
        return made(np.array(link.axis)), place, pin.SE3.Identity()
    joint = pin.JointModelRZ() if link.revolute else pin.JointModelPZ()
    turned = pin.SE3(pin.rpy.rpyToMatrix(0, 0, link.theta), np.zeros(3))
    twist = pin.rpy.rpyToMatrix(link.alpha, 0, 0)
    return joint, turned, pin.SE3(twist, np.array([link.a, 0, link.d]))


def _mujoco(robot: Robot) -> Make:
    def make(states: BenchStates, batch: int, count: int) -> BenchTask:
        mujoco: Any = importlib.import_module("mujoco")

        model = mujoco_model(mujoco, robot)
        data = mujoco.MjData(model)
        rows = states.rows("float64", batch, count)
        found = np.zeros((count, robot.joints))
        inverse = mujoco.mj_inverse

        def call() -> None:
            for k, (q, qd, qdd) in enumerate(zip(*rows, strict=True)):
                data.qpos[:], data.qvel[:], data.qacc[:] = q, qd, qdd
                inverse(model, data)
                found[k] = data.qfrc_inverse

        return PythonTask(call, lambda: list(found.T))

    return make
