/* Two parallel joints in bytes: AVX-512 VBMI, 64 samples a turn. Sines, cosines, inertias and
   squares are 256-entry tables in registers; products are maddubs into 16 bits, 2^8 of them to the
   last bit.

   With k for words and S, M, .. for looked-up bytes, sums of pairs:

   T1 = (M11 a1 + M12 a2) + (V S + GB cb) + (GA ca + CN N)      V = u^2 - w^2 + offset, w = u + v
   T2 = (M12' a1 + E a2) + (u^2' S + GB' cb)                    N takes the offset out again

   M12 may be negative, and bytes that are multiplied have no sign: there a changes its own.
   The tables carry what the half steps of mid-rise words add. */

#include <immintrin.h>

#include "rival.h"

typedef __m512i V;

#define LOAD(k) _mm512_load_si512((const void *)(IN(k) + i))
#define TABLE(name) _mm512_load_si512(name), _mm512_load_si512(name + 64)
#define LOW _mm512_unpacklo_epi8
#define HIGH _mm512_unpackhi_epi8
#define MADD _mm512_maddubs_epi16
#define PLUS _mm512_adds_epi16
#define BYTES(x) _mm512_set1_epi8((char)(x))

/* A function of 256 values: two halves of 128, chosen by the top bit. */
static inline V look(const int8_t *t, V k, __mmask64 top)
{
    V below = _mm512_permutex2var_epi8(_mm512_load_si512(t), k, _mm512_load_si512(t + 64));
    V above = _mm512_permutex2var_epi8(_mm512_load_si512(t + 128), k, _mm512_load_si512(t + 192));
    return _mm512_mask_blend_epi8(top, below, above);
}

/* An even function: half a table, after folding k onto -1 - k. */
static inline V look_half(const int8_t *t, V k)
{
    return _mm512_permutex2var_epi8(_mm512_load_si512(t), k, _mm512_load_si512(t + 64));
}

static inline V folded(V k)
{
    return _mm512_min_epu8(k, _mm512_ternarylogic_epi64(k, k, k, 0x55));
}

#define SUMS(end, one, two) \
    { \
        V s = end(sine, both); \
        one = PLUS(PLUS(MADD(end(m11, m12), end(a1, a2_signed)), MADD(end(speeds, gb1), s)), \
                   MADD(lift, end(first, fix))); \
        two = PLUS(MADD(end(mass, e), end(a1_signed, a2)), MADD(end(square, gb2), s)); \
        one = _mm512_srai_epi16(one, 8); \
        two = _mm512_srai_epi16(two, 8); \
    }

KERNEL
{
    const V e = BYTES(BYTE_E), gb1 = BYTES(BYTE_GB1), gb2 = BYTES(BYTE_GB2);
    const V lift = _mm512_set1_epi16(BYTE_GA | BYTE_CN << 8), top = BYTES(0x80);
    (void)tables;
    for (int64_t i = 0; i < n; i += 64) {
        V q2 = LOAD(1), q12 = _mm512_add_epi8(LOAD(0), q2);
        __mmask64 m2 = _mm512_movepi8_mask(q2);
        V half = folded(q2);
        V m11 = look_half(TABLE_M11, half), mass = look_half(TABLE_M12, half);
        V m12 = SAME_MASS ? _mm512_avg_epu8(mass, _mm512_setzero_si512())
                          : look_half(TABLE_M12_1, half);
        V sine = look(TABLE_S, q2, m2), fix = look(TABLE_N, q2, m2);
        V first = look_half(TABLE_CA, folded(LOAD(0)));
        V both = look(TABLE_CB, q12, _mm512_movepi8_mask(q12));
        V u = LOAD(2);
        V w = _mm512_avg_epu8(_mm512_xor_si512(u, top), _mm512_xor_si512(LOAD(3), top));
        V square = look_half(TABLE_U, folded(u));
        V speeds = SAME_SQUARE ? _mm512_avg_epu8(square, _mm512_setzero_si512())
                               : look_half(TABLE_U_1, folded(u));
        speeds = _mm512_add_epi8(speeds, look(TABLE_W, w, _mm512_movepi8_mask(w)));
        V a1 = LOAD(4), a2 = LOAD(5), a1_signed = a1, a2_signed = a2, l1, l2, h1, h2;
        if (MASS_POSITIVE_TO < 127) { /* -(k + 1/2) is -1 - k and a half: all bits turned */
            __mmask64 negative = _mm512_cmpgt_epu8_mask(half, BYTES(MASS_POSITIVE_TO));
            a1_signed = _mm512_xor_si512(a1, _mm512_movm_epi8(negative));
            a2_signed = _mm512_xor_si512(a2, _mm512_movm_epi8(negative));
        }
        SUMS(LOW, l1, l2)
        SUMS(HIGH, h1, h2)
        _mm512_store_si512(OUT(0) + i, _mm512_packs_epi16(l1, h1));
        _mm512_store_si512(OUT(1) + i, _mm512_packs_epi16(l2, h2));
    }
}
