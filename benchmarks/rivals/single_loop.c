/* Calls a function of one sample again and again: samples that know nothing of each other, or each
   waiting for the result before it. Numbers in and out have 32 bits, whatever they mean. */

#include <stdint.h>
#include <time.h>

typedef void (*one_t)(const int32_t *in, int32_t *out);

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double apart(one_t one, const int32_t *in, int32_t *out, int64_t n, int64_t wide, int64_t made)
{
    double start = now();
    for (int64_t k = 0; k < n; k++)
        one(in + k * wide, out + k * made);
    return now() - start;
}

/* `none` is 0, which the compiler cannot know. */
double chained(one_t one, const int32_t *in, int32_t *out, int64_t n, int64_t wide, int64_t made,
               int32_t none)
{
    int32_t given[32], before = 0;
    double start = now();
    for (int64_t k = 0; k < n; k++) {
        for (int64_t j = 0; j < wide; j++)
            given[j] = in[k * wide + j] ^ (before & none);
        one(given, out + k * made);
        before = out[k * made];
        for (int64_t j = 1; j < made; j++)
            before |= out[k * made + j];
    }
    return now() - start;
}
