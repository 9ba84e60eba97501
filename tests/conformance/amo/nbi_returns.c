// Nonblocking fetching operations over a device do not wait. A PE that waits for the software
// device calls its hook, and the one of this program counts the calls.
// run: np=2 nodes=several cflags=-rdynamic
#define _GNU_SOURCE
#include "check.h"

#include <dlfcn.h>

enum { SOME = 32 };

static long sums[SOME], shared[SOME];
static unsigned int small_sums[SOME];
static int kicks;

// Counts the calls; is found before the device's, to which it goes on.
int farreach_softhca_kick(void)
{
    static int (*next)(void);
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "farreach_softhca_kick");
    CHECK(next != NULL, "the device has no hook");
    kicks++;
    return next();
}

// Starts the operations; all objects hold `before`.
static void start(shmem_ctx_t ctx, int pe, int before)
{
    long own[SOME];
    unsigned int small[SOME];

    for (int i = 0; i < SOME; i++) {
        own[i] = shared[i] = -7;
        small[i] = 7;
    }
    shmem_ctx_quiet(ctx);
    int kicked = kicks;
    for (int i = 0; i < SOME; i++) {
        shmem_ctx_long_atomic_fetch_add_nbi(ctx, i % 2 ? &own[i] : &shared[i], &sums[i], 1, pe);
        shmem_ctx_uint_atomic_swap_nbi(ctx, &small[i], &small_sums[i], 1, pe);
    }
    CHECK_INT(kicks, kicked, "calls of the hook by operations that do not wait");
    shmem_ctx_quiet(ctx);
    CHECK(kicks > kicked, "quiet does not wait for the device");
    for (int i = 0; i < SOME; i++) {
        CHECK_INT(i % 2 ? own[i] : shared[i], before, "fetched by an addition");
        CHECK_INT(small[i], before, "fetched by a swap");
    }
}

int main(void)
{
    shmem_ctx_t own;

    shmem_init();
    int other = 1 - shmem_my_pe();
    CHECK(shmem_ptr(sums, other) == NULL, "the other PE is near");
    if (shmem_my_pe() == 0)
        start(SHMEM_CTX_DEFAULT, other, 0);
    CHECK_INT(shmem_ctx_create(0, &own), 0, "shmem_ctx_create");
    if (shmem_my_pe() == 0)
        start(own, other, 1);
    shmem_ctx_destroy(own);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
