/* Calls a compiled rival again and again: the clock is read outside, and nothing is left out. */

#include <stdint.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef void (*any_t)(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
                      int64_t, int64_t, int64_t, int64_t);

/* Seconds of so many calls with up to twelve whole numbers or addresses. */
double repeat(any_t call, const int64_t *a, int64_t times)
{
    double start = now();
    for (int64_t k = 0; k < times; k++) {
        call(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]);
        __asm__ volatile("" ::: "memory");
    }
    return now() - start;
}

/* Seconds of a chain of so many additions, each waiting for the one before: a cycle each. */
double chain(int64_t times)
{
    int64_t x = 1;
    double start = now();
    for (int64_t k = 0; k < times; k += 16)
        __asm__ volatile("add $1, %0\n\tadd $3, %0\n\tadd $5, %0\n\tadd $7, %0\n\t"
                         "add $1, %0\n\tadd $3, %0\n\tadd $5, %0\n\tadd $7, %0\n\t"
                         "add $1, %0\n\tadd $3, %0\n\tadd $5, %0\n\tadd $7, %0\n\t"
                         "add $1, %0\n\tadd $3, %0\n\tadd $5, %0\n\tadd $7, %0"
                         : "+r"(x));
    return now() - start;
}
