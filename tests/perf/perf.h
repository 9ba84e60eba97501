/* Helpers of the benchmarks: pinning, time, medians. A result is a line "row NAME NANOSECONDS",
 * separated by tabs. */

#ifndef PERF_H
#define PERF_H

#ifndef _GNU_SOURCE
#error "define _GNU_SOURCE first"
#endif

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Binds this process to the CPU number `which` of those that it may use. */
static inline void pin(int which) {
    cpu_set_t allowed, one;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        return;
    }
    which %= CPU_COUNT(&allowed);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &allowed) && which-- == 0) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            (void)sched_setaffinity(0, sizeof one, &one);
            return;
        }
    }
}

/* Returns the nanoseconds since some moment. */
static inline double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static inline int compare_doubles(const void *one, const void *other) {
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

/* Returns the median; sorts the values. */
static inline double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, compare_doubles);
    return values[count / 2];
}

static inline void row(const char *name, double nanoseconds) { printf("row\t%s\t%.3f\n", name, nanoseconds); }

#endif
