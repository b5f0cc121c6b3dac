/* Two parallel joints in 16-bit fixed point: AVX-512BW, 32 samples a turn, rounding multiplications
   (mulhrs). An angle is a 16-bit phase that wraps; sines are odd polynomials over a quarter turn.

   Torques are in units of range / 2^15, kept apart as what may not overflow is added saturating. */

#include <immintrin.h>

#include "rival.h"

typedef __m512i V;

#define SET(x) _mm512_set1_epi16((short)(x))
#define MUL _mm512_mulhrs_epi16
#define ADD _mm512_add_epi16
#define SUB _mm512_sub_epi16
#define PLUS _mm512_adds_epi16
#define MINUS _mm512_subs_epi16

#if SAMPLE == 8
/* Mid-rise: word k is the middle of 256 finer ones. */
#define BYTES(j) _mm512_cvtepi8_epi16(_mm256_load_si256((const void *)(IN(j) + i)))
#define WORD(j) ADD(_mm512_slli_epi16(BYTES(j), 8), SET(128))
#define SQUARED(u) (u)
#else
#define WORD(j) _mm512_load_si512((const void *)(IN(j) + i))
#define SQUARED(u) _mm512_max_epi16(u, SET(-32767)) /* the square of -2^15 has no word */
#endif

/* sin(pi/2 x) with x and the result in 2^-15: x + x (c0 + z (c1 + z c2)), z = x^2. */
static inline V quarter(V x)
{
    V z = MUL(x, x);
    V p = ADD(SET(FIXED_SINE_0), MUL(z, ADD(SET(FIXED_SINE_1), MUL(z, SET(FIXED_SINE_2)))));
    return PLUS(x, MUL(x, p));
}

/* cos of a phase: 1/2 turn is 2^15. */
static inline V cosine(V t)
{
    /* t or -1 - t, whichever is not negative: a triangle */
    V k = _mm512_min_epu16(t, _mm512_ternarylogic_epi64(t, t, t, 0x55));
    return quarter(SUB(SET(32767), ADD(k, k)));
}

KERNEL
{
    (void)tables;
    for (int64_t i = 0; i < n; i += 32) {
        V first = ADD(WORD(0), SET(QUARTERS_A << 14)), second = WORD(1);
        V cb = cosine(ADD(ADD(WORD(0), second), SET(QUARTERS_B << 14)));
        V ca = cosine(first), c2 = cosine(second), s2 = cosine(SUB(second, SET(16384)));
        V u = SQUARED(WORD(2)), v = WORD(3), r1 = WORD(4), r2 = WORD(5);
        V w = ADD(_mm512_srai_epi16(u, 1), _mm512_srai_epi16(v, 1));
        V mass = ADD(SET(FIXED_D), MUL(c2, SET(FIXED_B)));
        V turn = MUL(s2, SET(FIXED_SPEED));
        V rates = ADD(_mm512_srai_epi16(r1, 1), _mm512_srai_epi16(r2, 2));
        V uu = MUL(u, u), ww = MUL(w, w);
        V one = ADD(MUL(mass, rates), MUL(r1, SET(FIXED_A)));
        one = ADD(one, MUL(turn, SUB(_mm512_srai_epi16(uu, 2), ww)));
        V two = ADD(ADD(MUL(mass, r1), MUL(r2, SET(FIXED_E))), MUL(turn, uu));
        one = PLUS(MUL(one, SET(FIXED_UNIT_1)),
                   PLUS(MUL(ca, SET(FIXED_GA)), MUL(cb, SET(FIXED_GB1))));
        two = PLUS(MUL(two, SET(FIXED_UNIT_2)), MUL(cb, SET(FIXED_GB2)));
#if SAMPLE == 8
        one = _mm512_srai_epi16(one, 8);
        two = _mm512_srai_epi16(two, 8);
        _mm256_store_si256((__m256i *)(OUT(0) + i), _mm512_cvtepi16_epi8(one));
        _mm256_store_si256((__m256i *)(OUT(1) + i), _mm512_cvtepi16_epi8(two));
#else
        _mm512_store_si512(OUT(0) + i, one);
        _mm512_store_si512(OUT(1) + i, two);
#endif
    }
}
