// Nonblocking fetching operations with every type, more of them outstanding than an implementation
// may have room for, into private and symmetric memory: each number is fetched once. Quiet delivers
// them, and so do a barrier and the end of a context. run: np=1,2,3,7 std=c99
// run: np=2 nodes=several std=c99 device=--no-masked-atomics args=8
#include "check.h"

enum { MANY = 150 };

static shmem_ctx_t on;
static int right, smallest = 1;

// A series of operations on one object of the right neighbour, which nobody else uses: it begins
// with 0.
#define SERIES(NAME, TYPE, OP, OPERATION)                                                          \
    static TYPE target_##OP##_##NAME, shared_##OP##_##NAME[MANY], *private_##OP##_##NAME;          \
    static void start_##OP##_##NAME(void)                                                          \
    {                                                                                              \
        private_##OP##_##NAME = malloc(MANY * sizeof(TYPE));                                       \
        CHECK(private_##OP##_##NAME != NULL, "malloc returned NULL");                              \
        for (int i = 0; i < MANY; i++) {                                                           \
            TYPE *fetch = i % 2 ? &shared_##OP##_##NAME[i] : &private_##OP##_##NAME[i];            \
            TYPE *target = &target_##OP##_##NAME;                                                  \
            *fetch = (TYPE)(MANY + 1);                                                             \
            OPERATION;                                                                             \
        }                                                                                          \
    }                                                                                              \
    static void finish_##OP##_##NAME(void)                                                         \
    {                                                                                              \
        char seen[MANY + 1] = {0};                                                                 \
        for (int i = 0; i < MANY; i++)                                                             \
            mark(#NAME " " #OP, seen,                                                              \
                 (long)(i % 2 ? shared_##OP##_##NAME[i] : private_##OP##_##NAME[i]));              \
        free(private_##OP##_##NAME);                                                               \
    }

// Checks that each of the numbers up to MANY is fetched once at most.
static void mark(const char *what, char *seen, long value)
{
    CHECK(value >= 0 && value <= MANY, "%s fetched %ld", what, value);
    CHECK(!seen[value], "%s fetched %ld twice", what, value);
    seen[value] = 1;
}

#define SWAPS(NAME, TYPE)                                                                          \
    SERIES(NAME, TYPE, swap,                                                                       \
           shmem_ctx_##NAME##_atomic_swap_nbi(on, fetch, target, (TYPE)(i + 1), right))
#define SUMS(NAME, TYPE)                                                                           \
    SERIES(NAME, TYPE, add, shmem_ctx_##NAME##_atomic_fetch_add_nbi(on, fetch, target, 1, right))  \
    SERIES(NAME, TYPE, inc, shmem_ctx_##NAME##_atomic_fetch_inc_nbi(on, fetch, target, right))     \
    SERIES(NAME, TYPE, compare_swap,                                                               \
           shmem_ctx_##NAME##_atomic_compare_swap_nbi(on, fetch, target, (TYPE)i, (TYPE)(i + 1),   \
                                                      right))
AMO_EXTENDED_TYPES(SWAPS)
AMO_TYPES(SUMS)

#define ROW(NAME, TYPE, OP)                                                                        \
    {sizeof(TYPE), start_##OP##_##NAME, finish_##OP##_##NAME, &target_##OP##_##NAME},
#define SWAP_ROW(NAME, TYPE) ROW(NAME, TYPE, swap)
#define SUM_ROWS(NAME, TYPE)                                                                       \
    ROW(NAME, TYPE, add) ROW(NAME, TYPE, inc) ROW(NAME, TYPE, compare_swap)

static const struct series {
    size_t size;
    void (*start)(void), (*finish)(void);
    void *target;
} SERIES_OF_ALL[] = {AMO_EXTENDED_TYPES(SWAP_ROW) AMO_TYPES(SUM_ROWS)};

// Starts all series, outstanding at once, and then calls the routine that delivers them.
static void run(shmem_ctx_t ctx, void (*deliver)(shmem_ctx_t))
{
    size_t count = sizeof SERIES_OF_ALL / sizeof *SERIES_OF_ALL;

    on = ctx;
    for (size_t i = 0; i < count; i++)
        memset(SERIES_OF_ALL[i].target, 0, SERIES_OF_ALL[i].size);
    shmem_barrier_all();
    for (size_t i = 0; i < count; i++)
        if (SERIES_OF_ALL[i].size >= (size_t)smallest)
            SERIES_OF_ALL[i].start();
    deliver(ctx);
    for (size_t i = 0; i < count; i++)
        if (SERIES_OF_ALL[i].size >= (size_t)smallest)
            SERIES_OF_ALL[i].finish();
    shmem_barrier_all();
}

static void by_barrier(shmem_ctx_t ctx)
{
    (void)ctx;
    shmem_barrier_all();
}

int main(int argc, char **argv)
{
    shmem_ctx_t own;

    smallest = argc > 1 ? atoi(argv[1]) : 1;
    shmem_init();
    right = (shmem_my_pe() + 1) % shmem_n_pes();
    run(SHMEM_CTX_DEFAULT, shmem_ctx_quiet);
    run(SHMEM_CTX_DEFAULT, by_barrier);
    CHECK_INT(shmem_ctx_create(0, &own), 0, "shmem_ctx_create");
    run(own, shmem_ctx_quiet);
    run(own, shmem_ctx_destroy);
    shmem_finalize();
    return 0;
}
