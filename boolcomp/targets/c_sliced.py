"""The texts of bit-sliced C that are the same for all programs, but for names and numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.base.errors import UsageError
from boolcomp.logic import network as luts
from boolcomp.logic.network import CONSTANTS
from boolcomp.logic.order import in_order
from boolcomp.targets.c import loads_of
from boolcomp.targets.target import comment, design_of, unread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boolcomp.program.program import Program
    from boolcomp.targets.target import Design, Files, Options, Port


# --------------------------------------------------------------------------------------------------
# The texts of bit-sliced C that are the same for all programs, but for names and numbers.
# --------------------------------------------------------------------------------------------------


HEADER = """\
/* @TITLE@, bit-sliced: its logic on many samples at a time.
   Words are in the codes said below. Of words given:
@GIVEN_WORDS@
   Of words made:
@MADE_WORDS@
   Planes of a word come least significant bit first; bit k of a plane is that of sample k. */
#ifndef @GUARD@_SLICED_H
#define @GUARD@_SLICED_H

#include <stddef.h>
#include <stdint.h>

#define @GUARD@_INPUT_PLANES @INPUT_PLANES@
#define @GUARD@_OUTPUT_PLANES @OUTPUT_PLANES@

/* The planes of 64 samples. */
void @NAME@_planes(const uint64_t given[@INPUT_PLANES@], uint64_t made[@OUTPUT_PLANES@]);

/* `count` samples, each word a column; of two's complement, words made lack their sign's copies. */
void @NAME@_samples(const int16_t *const given[@INPUTS@], int16_t *const made[@OUTPUTS@],
                    size_t count);

#endif /* @GUARD@_SLICED_H */
"""

SOURCE = """\
/* @TITLE@, bit-sliced: see @NAME@_sliced.h */
#include "@NAME@_sliced.h"

/* 64 samples at a time, on any machine. */
#define PLANE uint64_t
#define ZERO UINT64_C(0)
#define ONES (~UINT64_C(0))
#define NOT(a) (~(a))
#define AND(a, b) ((a) & (b))
#define OR(a, b) ((a) | (b))
#define XOR(a, b) ((a) ^ (b))
#define LUT(table, a, b, c, steps) (steps)

void @NAME@_planes(const uint64_t given[@INPUT_PLANES@], uint64_t made[@OUTPUT_PLANES@])
{
#include "@NAME@_nodes.h"
}

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#undef PLANE
#undef ZERO
#undef ONES
#undef NOT
#undef AND
#undef OR
#undef XOR
#undef LUT
#endif

#if defined(__AVX512F__)
#define LANES 8
#define PLANE __m512i
#define ZERO _mm512_setzero_si512()
#define ONES _mm512_set1_epi64(-1)
#define NOT(a) _mm512_xor_si512(a, ONES)
#define AND(a, b) _mm512_and_si512(a, b)
#define OR(a, b) _mm512_or_si512(a, b)
#define XOR(a, b) _mm512_xor_si512(a, b)
#define LUT(table, a, b, c, steps) _mm512_ternarylogic_epi64(a, b, c, table)
#define LOAD(place) _mm512_loadu_si512((const void *)(place))
#define STORE(place, value) _mm512_storeu_si512((void *)(place), value)
#elif defined(__AVX2__)
#define LANES 4
#define PLANE __m256i
#define ZERO _mm256_setzero_si256()
#define ONES _mm256_set1_epi64x(-1)
#define NOT(a) _mm256_xor_si256(a, ONES)
#define AND(a, b) _mm256_and_si256(a, b)
#define OR(a, b) _mm256_or_si256(a, b)
#define XOR(a, b) _mm256_xor_si256(a, b)
#define LUT(table, a, b, c, steps) (steps)
#define LOAD(place) _mm256_loadu_si256((const __m256i *)(const void *)(place))
#define STORE(place, value) _mm256_storeu_si256((__m256i *)(void *)(place), value)
#else
#define LANES 1
#endif

#if LANES == 1
static void lanes(uint64_t given[@INPUT_PLANES@][LANES], uint64_t made[@OUTPUT_PLANES@][LANES])
{
    @NAME@_planes(&given[0][0], &made[0][0]);
}
#else
static void nodes(const PLANE given[@INPUT_PLANES@], PLANE made[@OUTPUT_PLANES@])
{
#include "@NAME@_nodes.h"
}

static void lanes(uint64_t given[@INPUT_PLANES@][LANES], uint64_t made[@OUTPUT_PLANES@][LANES])
{
    PLANE in[@INPUT_PLANES@], out[@OUTPUT_PLANES@];
    size_t k;
    for (k = 0; k < @INPUT_PLANES@; k++)
        in[k] = LOAD(given[k]);
    nodes(in, out);
    for (k = 0; k < @OUTPUT_PLANES@; k++)
        STORE(made[k], out[k]);
}
#endif

/* Four squares of 16 by 16 bits, one in each quarter of all words, about their diagonals. */
static void transpose(uint64_t rows[16])
{
    static const uint64_t masks[4] = {
        UINT64_C(0x00FF00FF00FF00FF), UINT64_C(0x0F0F0F0F0F0F0F0F),
        UINT64_C(0x3333333333333333), UINT64_C(0x5555555555555555)
    };
    unsigned stage, k;
    for (stage = 0; stage < 4; stage++) {
        const unsigned width = 8U >> stage;
        for (k = 0; k < 16; k++) {
            if (!(k & width)) {
                const uint64_t swap = ((rows[k] >> width) ^ rows[k + width]) & masks[stage];
                rows[k] ^= swap << width;
                rows[k + width] ^= swap;
            }
        }
    }
}

void @NAME@_samples(const int16_t *const given[@INPUTS@], int16_t *const made[@OUTPUTS@],
                    size_t count)
{
    static const unsigned char given_bits[@INPUTS@] = {@GIVEN_BITS@};
    static const unsigned char made_bits[@OUTPUTS@] = {@MADE_BITS@};
    uint64_t in[@INPUT_PLANES@][LANES], out[@OUTPUT_PLANES@][LANES], rows[16];
    size_t first, word, lane, place, k, r, s;
    for (first = 0; first < count; first += (size_t)64 * LANES) {
        for (word = 0, place = 0; word < @INPUTS@; place += given_bits[word++]) {
            for (lane = 0; lane < LANES; lane++) {
                for (r = 0; r < 16; r++)
                    rows[r] = 0;
                for (s = 0; s < 64; s++) {
                    const size_t at = first + 64 * lane + s;
                    if (at < count)
                        rows[s & 15] |= (uint64_t)(uint16_t)given[word][at] << (s & 48);
                }
                transpose(rows);
                for (k = 0; k < given_bits[word]; k++)
                    in[place + k][lane] = rows[k];
            }
        }
        lanes(in, out);
        for (word = 0, place = 0; word < @OUTPUTS@; place += made_bits[word++]) {
            for (lane = 0; lane < LANES; lane++) {
                for (r = 0; r < 16; r++)
                    rows[r] = r < made_bits[word] ? out[place + r][lane] : 0;
                transpose(rows);
                for (s = 0; s < 64; s++) {
                    const size_t at = first + 64 * lane + s;
                    if (at < count) {
                        const uint16_t value = (uint16_t)(rows[s & 15] >> (s & 48));
                        made[word][at] = (int16_t)(value < 0x8000U ? (int32_t)value
                                                                   : (int32_t)value - 0x10000);
                    }
                }
            }
        }
    }
}
"""


# --------------------------------------------------------------------------------------------------
# C99, bit-sliced: the logic itself, 64 samples at a time, or 256 and 512 where the machine can.
#
# A plane holds one bit of all samples. The nodes are written once, in a file of their own, which is
# included for every width; what an operation is, the width says. Samples of 16 bits are transposed
# to planes and back in squares of 16 by 16, four of them in a 64-bit word.
# --------------------------------------------------------------------------------------------------


WIDEST = 16  # bits of a sample's word
MACROS = {"not": "NOT", "and": "AND", "or": "OR", "xor": "XOR"}


def export_c_sliced(program: Program, load: float | None, options: Options) -> Files:  # noqa: ARG001 (there is one way)
    """Return source, header and nodes of a program's logic, of each of its loads."""
    files: Files = {}
    for name, one in loads_of(program, load):
        design = design_of(program, one.payload)
        for port in (*design.inputs, *design.outputs):
            if port.bits > WIDEST:
                raise UsageError(f"{port.name} has {port.bits} bits: samples have {WIDEST} at most")
        said = {
            "NAME": name, "GUARD": name.upper(), "TITLE": comment(program.name),
            "INPUT_PLANES": str(design.network.inputs),
            "OUTPUT_PLANES": str(len(design.network.outputs)),
            "INPUTS": str(len(design.inputs)), "OUTPUTS": str(len(design.outputs)),
            "GIVEN_WORDS": _about(design.inputs), "MADE_WORDS": _about(design.outputs),
            "GIVEN_BITS": ", ".join(str(port.bits) for port in design.inputs),
            "MADE_BITS": ", ".join(str(port.bits) for port in design.outputs),
        }  # fmt: skip
        files[f"{name}_sliced.h"] = _filled(HEADER, said)
        files[f"{name}_sliced.c"] = _filled(SOURCE, said)
        files[f"{name}_nodes.h"] = "\n".join([*_nodes(design), ""])
    return files


def _about(ports: tuple[Port, ...]) -> str:
    """Return what there is to say of words, and which planes are theirs."""
    lines = []
    place = 0
    for k, port in enumerate(ports):
        planes = f"planes {place} .. {place + port.bits - 1}" if port.bits > 1 else f"plane {place}"
        lines += [f"   {k}: {comment(port.name)}, {planes}", *(f"      {x}" for x in port.notes)]
        place += port.bits
    return "\n".join(lines)


def _filled(text: str, said: dict[str, str]) -> str:
    for word, value in said.items():
        text = text.replace(f"@{word}@", value)
    return text


def _nodes(design: Design) -> Iterator[str]:
    """Yield the lines of the nodes: planes of words come least significant bit first."""
    network = in_order(design.network)
    yield "/* The nodes of the logic, in an order in which few values are needed at a time. */"
    signals = ["ZERO", "ONES", *(f"given[{k}]" for k in _places(design.inputs))]
    for place, (lut, operands) in enumerate(network.nodes):
        yield f"const PLANE n{place} = {_operation(lut, [signals[k] for k in operands])};"
        signals.append(f"n{place}")
    if len(signals) != CONSTANTS + network.inputs + len(network.nodes):
        raise ValueError("ports do not fit their network")
    for place, signal in zip(_places(design.outputs), network.outputs, strict=True):
        yield f"made[{place}] = {signals[signal]};"
    if len(unread(network)) == network.inputs:  # compilers are told that this is meant
        yield "(void)given;"


def _places(ports: tuple[Port, ...]) -> Iterator[int]:
    """Yield the planes of words' bits as the network has them, most significant first."""
    first = 0
    for port in ports:
        yield from reversed(range(first, first + port.bits))
        first += port.bits


def _operation(lut: int, operands: list[str]) -> str:
    """Return a node; one of three operands is a single operation where the machine has those."""
    texts = [*operands, *[""] * (3 - len(operands))]
    for kind, x, y in luts.steps(lut):
        args = texts[x] if kind == "not" else f"{texts[x]}, {texts[y]}"
        texts.append(f"{MACROS[kind]}({args})")
    if len(operands) < 3:
        return texts[-1]
    return f"LUT(0x{lut:02X}, {', '.join(operands)}, {texts[-1]})"
