/* Two parallel joints in float by hand: AVX-512, 16 samples a turn, polynomials that carry
   the amplitudes, everything in units of the first torque's last bit. */

#include <immintrin.h>

#include "rival.h"

#define V __m512
#define SET(x) _mm512_set1_ps(x)
#define FMA _mm512_fmadd_ps
#define MUL _mm512_mul_ps
#define ADD _mm512_add_ps

#if SAMPLE == 8
#define WIDE(p) _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(p)))
#define WRAP(v) _mm512_srai_epi32(_mm512_slli_epi32(v, 24), 24)
#elif SAMPLE == 16
#define WIDE(p) _mm512_cvtepi16_epi32(_mm256_loadu_si256((const __m256i *)(p)))
#define WRAP(v) _mm512_srai_epi32(_mm512_slli_epi32(v, 16), 16)
#endif

#if SAMPLE == 32
#define UNIT_1 1.0f
#define UNIT_2 1.0f
#define S1 1.0f
#define S2 1.0f
#define R1 1.0f
#define R2 1.0f
#else /* arithmetic in words: x = k + 1/2 */
#define UNIT_1 (CELLS / TORQUE_1)
#define UNIT_2 (TORQUE_1 / TORQUE_2)
#define S1 (SPEED_1 / CELLS)
#define S2 (SPEED_2 / CELLS)
#define R1 (RATE_1 / CELLS)
#define R2 (RATE_2 / CELLS)
#endif

static inline V cosine(V t, float scale, float plus)
{
    V z = MUL(t, t);
    return COSINE_VECTOR(z, scale, plus);
}

static inline V sine(V t, float scale)
{
    V z = MUL(t, t);
    return MUL(t, SINE_VECTOR(z, scale));
}

static inline V value(const sample_t *p)
{
#if SAMPLE == 32
    return _mm512_load_ps(p);
#else
    return ADD(_mm512_cvtepi32_ps(WIDE(p)), SET(0.5f));
#endif
}

static inline void torques(const void *const *in, int64_t i, V *one, V *two)
{
#if SAMPLE == 32
    V k1 = value(IN(0) + i), k2 = value(IN(1) + i);
    const V turn_of = SET(0.159154943f);
    V second = MUL(k2, turn_of), first = MUL(k1, turn_of);
    V both = _mm512_reduce_ps(ADD(ADD(first, second), SET(0.25f * QUARTERS_B)), 0);
    if (QUARTERS_A)
        first = _mm512_reduce_ps(ADD(first, SET(0.25f * QUARTERS_A)), 0);
#else
    __m512i k1 = WIDE(IN(0) + i), k2 = WIDE(IN(1) + i);
    __m512i sum = _mm512_add_epi32(k1, k2);
    if (QUARTERS_A)
        k1 = WRAP(_mm512_add_epi32(k1, _mm512_set1_epi32(QUARTERS_A << (SAMPLE - 2))));
    if (QUARTERS_B)
        sum = _mm512_add_epi32(sum, _mm512_set1_epi32(QUARTERS_B << (SAMPLE - 2)));
    /* t in turns: (k + 1/2) / 2^SAMPLE; the polynomials are in t */
    const V scale = SET(0.5f / CELLS), half = SET(0.25f / CELLS);
    V first = FMA(_mm512_cvtepi32_ps(k1), scale, half);
    V second = FMA(_mm512_cvtepi32_ps(k2), scale, half);
    V both = FMA(_mm512_cvtepi32_ps(WRAP(sum)), scale, SET(0.5f / CELLS));
#endif
    V u = value(IN(2) + i), v = value(IN(3) + i), r1 = value(IN(4) + i), r2 = value(IN(5) + i);
    /* the polynomials carry the robot's amplitudes */
    V mass = cosine(second, MASS_B * UNIT_1 * R1, MASS_D * UNIT_1 * R1);
    V turn = sine(second, MASS_B * UNIT_1 * S1 * S1);
    V weight = cosine(both, WEIGHT_B * UNIT_1, 0.0f);
    V lift = cosine(first, WEIGHT_A * UNIT_1, 0.0f);
    V w = S1 == S2 ? ADD(u, v) : FMA(v, SET(S2 / S1), u);
    V uu = MUL(u, u), rates = R1 == R2 ? ADD(ADD(r1, r1), r2) : FMA(r2, SET(R2 / R1), ADD(r1, r1));
    V speeds = _mm512_fnmadd_ps(w, w, uu);
    V fixed = FMA(r1, SET(MASS_A * UNIT_1 * R1), ADD(lift, weight));
    *one = FMA(mass, rates, FMA(turn, speeds, fixed));
    *two = FMA(mass, r1, FMA(turn, uu, FMA(r2, SET(MASS_E * UNIT_1 * R2), weight)));
}

#if SAMPLE != 32
static inline __m512i rounded(V x, float scale)
{
    /* the nearest to x - 1/2 is x rounded down */
    V y = scale == 1.0f ? ADD(x, SET(-0.5f)) : FMA(x, SET(scale), SET(-0.5f));
    return _mm512_cvtps_epi32(y);
}
#endif

KERNEL
{
    (void)tables;
    for (int64_t i = 0; i < n; i += 16) {
        V one, two;
        torques(in, i, &one, &two);
#if SAMPLE == 32
        _mm512_store_ps(OUT(0) + i, one);
        _mm512_store_ps(OUT(1) + i, two);
#elif SAMPLE == 16
        _mm256_store_si256((__m256i *)(OUT(0) + i), _mm512_cvtsepi32_epi16(rounded(one, 1.0f)));
        _mm256_store_si256((__m256i *)(OUT(1) + i), _mm512_cvtsepi32_epi16(rounded(two, UNIT_2)));
#else
        _mm_store_si128((__m128i *)(OUT(0) + i), _mm512_cvtsepi32_epi8(rounded(one, 1.0f)));
        _mm_store_si128((__m128i *)(OUT(1) + i), _mm512_cvtsepi32_epi8(rounded(two, UNIT_2)));
#endif
    }
}
