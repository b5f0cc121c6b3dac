/* Two parallel joints in float, sines and cosines as polynomials: left to the compiler's
   vectoriser. With LIBMVEC the C library's vector functions take the place of polynomials. */

#include <math.h>

#include "rival.h"

#if SAMPLE == 32
#define VALUE(x, range) (x)
#define TURNS(x) ((x) * 0.159154943f)
#else
#define VALUE(x, range) (((float)(x) + 0.5f) * ((range) / CELLS))
#define TURNS(x) (((float)(x) + 0.5f) * (0.5f / CELLS))
#endif

#ifdef LIBMVEC
#define REDUCED(t) (t)
#else
#define REDUCED(t) ((t) - rintf(t))
static inline float cosine(float t) /* of t turns, |t| <= 1/2 */
{
    float z = t * t;
    return COSINE_OF(z);
}
static inline float sine(float t)
{
    float z = t * t;
    return t * SINE_OF(z);
}
#endif

#define FIRST(q1) REDUCED(TURNS(q1) + 0.25f * QUARTERS_A)
#define BOTH(q1, q2) REDUCED(TURNS(q1) + TURNS(q2) + 0.25f * QUARTERS_B)

typedef struct {
    float first, both, cosine, sine;
} waves_t;

/* One sample, its waves given. */
static inline void torques(waves_t wave, float d1, float d2, float a1, float a2, float *t1,
                           float *t2)
{
    float u = VALUE(d1, SPEED_1), w = u + VALUE(d2, SPEED_2);
    float r1 = VALUE(a1, RATE_1), r2 = VALUE(a2, RATE_2);
    float mass = MASS_D + MASS_B * wave.cosine, turn = MASS_B * wave.sine;
    float weight = WEIGHT_B * wave.both, uu = u * u;
    *t1 = mass * (r1 + r1 + r2) + MASS_A * r1 + turn * (uu - w * w) + WEIGHT_A * wave.first
          + weight;
    *t2 = mass * r1 + MASS_E * r2 + turn * uu + weight;
}

#if SAMPLE == 32
#define PUT(y, range) (y)
#else
static inline sample_t word(float x)
{
    float y = x + CELLS; /* not negative: cutting off is rounding down */
    y = y < 0.0f ? 0.0f : y;
    y = y > 2.0f * CELLS - 0.5f ? 2.0f * CELLS - 0.5f : y;
    return (sample_t)((int32_t)y ^ (int32_t)CELLS);
}
#define PUT(y, range) word((y) * (CELLS / (range)))
#endif

#ifdef LIBMVEC
/* The library's functions keep no register: first all waves of a block, then the rest. A pair of
   sine and cosine of one angle would become a call that is not vectorised. */
#define BLOCK 256
#define WAVES(to, angle, shift) \
    for (int64_t j = 0; j < count; j++) \
        to[j] = sinf(6.28318531f * (angle) + (shift))

KERNEL
{
    const sample_t *q1 = IN(0), *q2 = IN(1), *d1 = IN(2), *d2 = IN(3), *a1 = IN(4), *a2 = IN(5);
    sample_t *restrict t1 = OUT(0), *restrict t2 = OUT(1);
    (void)tables;
    n = (n + 63) / 64 * 64;
    for (int64_t i = 0; i < n; i += BLOCK) {
        float first[BLOCK], both[BLOCK], cosine[BLOCK], sine[BLOCK];
        int64_t count = n - i < BLOCK ? n - i : BLOCK;
        WAVES(first, FIRST(q1[i + j]), 1.57079633f);
        WAVES(both, BOTH(q1[i + j], q2[i + j]), 1.57079633f);
        WAVES(cosine, TURNS(q2[i + j]), 1.57079633f);
        WAVES(sine, TURNS(q2[i + j]), 0.0f);
#pragma GCC ivdep
        for (int64_t j = 0; j < count; j++) {
            waves_t wave = {first[j], both[j], cosine[j], sine[j]};
            float one, two;
            torques(wave, d1[i + j], d2[i + j], a1[i + j], a2[i + j], &one, &two);
            t1[i + j] = PUT(one, TORQUE_1);
            t2[i + j] = PUT(two, TORQUE_2);
        }
    }
}
#else
KERNEL
{
    const sample_t *q1 = IN(0), *q2 = IN(1), *d1 = IN(2), *d2 = IN(3), *a1 = IN(4), *a2 = IN(5);
    sample_t *restrict t1 = OUT(0), *restrict t2 = OUT(1);
    (void)tables;
    n = (n + 63) / 64 * 64;
    for (int64_t start = 0; start < n; start += 64) /* a known count needs no rest */
#pragma GCC ivdep
        for (int64_t i = start; i < start + 64; i++) {
            float first = QUARTERS_A ? FIRST(q1[i]) : TURNS(q1[i]), second = TURNS(q2[i]);
            float both = BOTH(q1[i], q2[i]);
            waves_t wave = {cosine(first), cosine(both), cosine(second), sine(second)};
            float one, two;
            torques(wave, d1[i], d2[i], a1[i], a2[i], &one, &two);
            t1[i] = PUT(one, TORQUE_1);
            t2[i] = PUT(two, TORQUE_2);
        }
}
#endif
