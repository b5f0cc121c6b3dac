"""One table a term, for an arm of two joints: tables made by numpy, look-ups generated as C.

Terms of the same variables share a table, whose entries hold both torques side by side, in 1/256
of a last bit; input words have the widths that the paper's plan gives them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.codes import Code
from boolcomp.paper.plan import Options, make_plan
from boolcomp.problem.makers import inverse_dynamics_problem
from boolcomp.terms.extract import split

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from boolcomp.problem.problem import Problem
    from boolcomp.problem.robot.model import Robot
    from boolcomp.terms.term import Term

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
    plan = make_plan(split(problem), Options(bits=min(bits, WORD_BITS), splits=0))
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
