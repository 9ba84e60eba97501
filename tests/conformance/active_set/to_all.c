// All reductions of active sets, for every type and operation; pSync is back to its first values
// afterwards.
// run: np=1,2,3,4,7 std=c99
#include "check.h"

#define CALL_REDUCE(NAME, TYPE, STEM)                                                              \
    (shmem_##NAME##_##STEM##_to_all((TYPE *)dest, (const TYPE *)source, (int)n, g->start,          \
                                    g->log_stride, g->size, (TYPE *)work, psync),                  \
     sync_is_restored())
#define SCAN_CASES(NAME, TYPE)

static int sync_is_restored(void);
// As large as the specification asks for, for elements of up to 16 bytes: max(n / 2 + 1, MIN).
static uint64_t work[2 * (23 / 2 + 1 + SHMEM_REDUCE_MIN_WRKDATA_SIZE)];
static long psync[SHMEM_REDUCE_SYNC_SIZE];

#include "../collective/reduce.h"

static int sync_is_restored(void)
{
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++)
        CHECK_INT(psync[i], SHMEM_SYNC_VALUE, "an element of pSync after a reduction");
    return 0;
}

#define INTEGERS(X) X(short, short) X(int, int) X(long, long) X(longlong, long long)
#define REALS(X) X(float, float) X(double, double) X(longdouble, long double)

#define INTEGER_TYPE(NAME, TYPE)                                                                   \
    BASICS(NAME, TYPE, INTEGER)                                                                    \
    RUN(NAME, AND, BITWISE_CASES(NAME, TYPE) ORDER_CASES(NAME, TYPE) SUM_CASES(NAME, TYPE))
#define REAL_TYPE(NAME, TYPE)                                                                      \
    BASICS(NAME, TYPE, REAL) RUN(NAME, MAX, ORDER_CASES(NAME, TYPE) SUM_CASES(NAME, TYPE))
#define COMPLEX_TYPE(NAME, TYPE) BASICS(NAME, TYPE, COMPLEX) RUN(NAME, SUM, SUM_CASES(NAME, TYPE))

INTEGERS(INTEGER_TYPE)
REALS(REAL_TYPE)
COMPLEX_TYPES(COMPLEX_TYPE)

static const struct reducer REDUCERS[] = {INTEGERS(REDUCER) REALS(REDUCER) COMPLEX_TYPES(REDUCER)};

int main(void)
{
    struct group groups[GROUP_MAX];

    shmem_init();
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++)
        psync[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    run_reductions(REDUCERS, COUNT_OF(REDUCERS), INSCAN, groups, group_active_sets(groups));
    shmem_finalize();
    return 0;
}
