// A right program passes under the checking library as it does without, and nothing is said.
// run: np=1,2,4 env=SHMEM_CHECK=1 refuse-stderr="farreach"
// run: np=2 refuse-stderr="farreach"
// run: np=2 env=SHMEM_CHECK=1 env=SHMEM_DEBUG=1 expect-stderr="with checks"
// run: np=2 env=SHMEM_DEBUG=1 refuse-stderr="with checks"
// run: np=2 env=SHMEM_CHECK=1 link=static expect-stderr="PE 0: SHMEM_CHECK is set, but this is not the checking library"
// run: np=2 env=SHMEM_CHECK=1 launcher=hydra expect-stderr="PE 0: SHMEM_CHECK is set, but this is not the checking library"
// run: np=1 env=SHMEM_INFO=1 expect-stdout="SHMEM_CHECK "
#include "check.h"

static long object[8], copy[8];
static uint64_t signal;

int main(void)
{
    int me, pes, round, next;
    long *block;

    shmem_init();
    me = shmem_my_pe();
    pes = shmem_n_pes();
    next = (me + 1) % pes;
    for (round = 0; round < 20; round++) {
        block = shmem_malloc(sizeof object);
        CHECK(block != NULL, "no memory");
        object[0] = me + round;
        shmem_long_put(block, object, 8, next);
        // Calls that do not touch memory may have any address.
        shmem_long_put(NULL, NULL, 0, next);
        shmem_barrier_all();
        CHECK_INT(block[0], (me + pes - 1) % pes + round, "what came");
        shmem_long_get(copy, block, 8, next);
        CHECK_INT(copy[0], me + round, "what is there");
        if (me == 0)
            shmem_sync_all();
        else
            // It is a barrier_all without the quiet (section 9.10).
            shmem_barrier_all();
        shmem_long_put_signal(block, object, 8, &signal, 1, SHMEM_SIGNAL_ADD, next);
        shmem_signal_wait_until(&signal, SHMEM_CMP_EQ, (uint64_t)round + 1);
        block = shmem_realloc(block, 4096);
        CHECK(block != NULL, "no memory");
        shmem_free(block);
        shmem_free(NULL);
    }
    shmem_finalize();
    return 0;
}
