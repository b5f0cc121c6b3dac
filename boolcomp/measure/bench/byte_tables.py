"""The byte tables of the VBMI rival, for an arm of two parallel joints, as a C header.

All products are in units of 1/256 of a torque's last bit. A table holds a function of one word at
the middle of its cells; what the half steps of the multiplied words add is put into a table of the
same angle, so that rounding is centred.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from boolcomp.measure.bench.two_link import TwoLink

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
