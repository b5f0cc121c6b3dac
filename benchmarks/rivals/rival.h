/* What every rival has in common: its entry, its types, and the constants of the robot.

   KERNEL(in, out, n, tables): `in` holds the columns q1.. qd1.. qdd1.., `out` the torques' columns,
   each a contiguous array that begins at a cache line and has room for n rounded up to 64.

   The type of a sample is chosen when it is compiled: SAMPLE is 8, 16 (words, cell index minus half
   the number of cells, mid-rise: word k stands for (k + 1/2) range / 2^(SAMPLE - 1)) or 32 (float).
   The macros in capitals come from a header that boolcomp writes for a robot. */

#ifndef RIVAL_H
#define RIVAL_H

#include <stdint.h>

#if SAMPLE == 8
typedef int8_t sample_t;
#define CELLS 128.0f
#elif SAMPLE == 16
typedef int16_t sample_t;
#define CELLS 32768.0f
#else
typedef float sample_t;
#endif

#define KERNEL \
    void rival(const void *const *restrict in, void *const *restrict out, int64_t n, \
               const void *const *restrict tables)
#define IN(k) ((const sample_t *)__builtin_assume_aligned(in[k], 64))
#define OUT(k) ((sample_t *)__builtin_assume_aligned(out[k], 64))

#endif
