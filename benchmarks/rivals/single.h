/* One sample in float, for generated straight-line C and closed forms: waves as polynomials. */

#ifndef SINGLE_H
#define SINGLE_H

#include <math.h>

#define TURNS(x) ((x) * 0.159154943f)
#define WAVES(prefix, t) \
    static inline float prefix##cosine(float x) \
    { \
        const float turns = t, z = turns * turns; \
        return COSINE_OF(z); \
    } \
    static inline float prefix##sine(float x) \
    { \
        const float turns = t, z = turns * turns; \
        return turns * (SINE_OF(z)); \
    }

WAVES(, TURNS(x) - rintf(TURNS(x)))
WAVES(near_, TURNS(x)) /* of angles that are never beyond half a turn */

#define SINGLE void rival(const float *restrict in, float *restrict out)

#endif
