/* Vectors of 16 floats for generated straight-line C, in the compilers' own vector types. */

#ifndef VECTORS_H
#define VECTORS_H

#include <math.h>

#include "rival.h"

#define LANES 16
typedef float vector __attribute__((vector_size(64), may_alias));
typedef int32_t whole __attribute__((vector_size(64), may_alias));
typedef sample_t samples __attribute__((vector_size(LANES * sizeof(sample_t)), may_alias));

/* By hand where there is AVX-512: gcc 12 takes twice as long over converting bytes. */
#ifdef __AVX512F__
#include <immintrin.h>
static inline vector nearest(vector x)
{
    return (vector)_mm512_roundscale_ps((__m512)x, 8);
}
#if SAMPLE == 8
#define WIDE(p) (vector)_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_load_si128((const void *)(p))))
#define NARROW(x) (samples)_mm512_cvtsepi32_epi8(_mm512_cvtps_epi32((__m512)(x)))
#elif SAMPLE == 16
#define WIDE(p) \
    (vector)_mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(_mm256_load_si256((const void *)(p))))
#define NARROW(x) (samples)_mm512_cvtsepi32_epi16(_mm512_cvtps_epi32((__m512)(x)))
#endif
#else
static inline vector nearest(vector x)
{
    for (int k = 0; k < LANES; k++)
        x[k] = rintf(x[k]);
    return x;
}
#define WIDE(p) __builtin_convertvector(*(const samples *)(p), vector)
static inline samples narrow(vector x)
{
    samples k;
    for (int j = 0; j < LANES; j++)
        k[j] = (sample_t)rintf(fminf(fmaxf(x[j], -CELLS), CELLS - 1.0f));
    return k;
}
#define NARROW(x) narrow(x)
#endif

static inline vector reduced(vector x)
{
    vector t = x * 0.159154943f;
    return t - nearest(t);
}
#define COSINE(t) \
    const vector z = (t) * (t); \
    return COSINE_OF(z)
#define SINE(t) \
    const vector z = (t) * (t); \
    return (t) * (SINE_OF(z))
static inline vector cosine(vector x)
{
    const vector t = reduced(x);
    COSINE(t);
}
static inline vector sine(vector x)
{
    const vector t = reduced(x);
    SINE(t);
}
/* Of angles that are never beyond half a turn. */
static inline vector near_cosine(vector x)
{
    const vector t = x * 0.159154943f;
    COSINE(t);
}
static inline vector near_sine(vector x)
{
    const vector t = x * 0.159154943f;
    SINE(t);
}

#if SAMPLE == 32
#define VALUE(k, middle, half) (*(const vector *)(IN(k) + i))
#define PUT(k, x, middle, half) (*(vector *)(OUT(k) + i) = (x))
#else
#define VALUE(k, middle, half) \
    (WIDE(IN(k) + i) * ((half) / CELLS) + ((middle) + 0.5f * (half) / CELLS))
/* The nearest to x - 1/2 is x rounded down. */
#define PUT(k, x, middle, half) \
    (*(samples *)(OUT(k) + i) = \
         NARROW((x) * (CELLS / (half)) - (0.5f + (middle) * (CELLS / (half)))))
#endif

#endif
