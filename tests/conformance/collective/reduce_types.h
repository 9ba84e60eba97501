// The reductions and scans of teams for all types and operations. The includer chooses the language
// and whether the routines are reached by their own or by their generic names.
#include "check.h"

#define CALL_REDUCE(NAME, TYPE, STEM)                                                              \
    PLAIN(NAME, STEM##_reduce)(g->team, (TYPE *)dest, (const TYPE *)source, n)
#define SCAN_CASES(NAME, TYPE)                                                                     \
    case INSCAN:                                                                                   \
        return PLAIN(NAME, sum_inscan)(g->team, (TYPE *)dest, (const TYPE *)source, n);            \
    case EXSCAN:                                                                                   \
        return PLAIN(NAME, sum_exscan)(g->team, (TYPE *)dest, (const TYPE *)source, n);

#include "reduce.h"

#define ORDERED_INTEGERS(X)                                                                        \
    X(char, char)                                                                                  \
    X(schar, signed char)                                                                          \
    X(short, short)                                                                                \
    X(int, int)                                                                                    \
    X(long, long)                                                                                  \
    X(longlong, long long)                                                                         \
    X(ptrdiff, ptrdiff_t)
#define REALS(X) X(float, float) X(double, double) X(longdouble, long double)

#define BITWISE_TYPE(NAME, TYPE)                                                                   \
    BASICS(NAME, TYPE, INTEGER)                                                                    \
    RUN(NAME, AND, BITWISE_CASES(NAME, TYPE) ORDER_CASES(NAME, TYPE) SUM_CASES(NAME, TYPE))
#define ORDERED_TYPE(NAME, TYPE)                                                                   \
    BASICS(NAME, TYPE, INTEGER) RUN(NAME, MAX, ORDER_CASES(NAME, TYPE) SUM_CASES(NAME, TYPE))
#define REAL_TYPE(NAME, TYPE)                                                                      \
    BASICS(NAME, TYPE, REAL) RUN(NAME, MAX, ORDER_CASES(NAME, TYPE) SUM_CASES(NAME, TYPE))
#define COMPLEX_TYPE(NAME, TYPE) BASICS(NAME, TYPE, COMPLEX) RUN(NAME, SUM, SUM_CASES(NAME, TYPE))

REDUCE_BITWISE_TYPES(BITWISE_TYPE)
ORDERED_INTEGERS(ORDERED_TYPE)
REALS(REAL_TYPE)
COMPLEX_TYPES(COMPLEX_TYPE)

static const struct reducer REDUCERS[] = {
    REDUCE_BITWISE_TYPES(REDUCER) ORDERED_INTEGERS(REDUCER) REALS(REDUCER) COMPLEX_TYPES(REDUCER)};

int main(void)
{
    struct group groups[GROUP_MAX];
    int count;

    shmem_init();
    count = group_teams(groups);
    run_reductions(REDUCERS, COUNT_OF(REDUCERS), OPS, groups, count);
    group_destroy(groups, count);
    shmem_finalize();
    return 0;
}
