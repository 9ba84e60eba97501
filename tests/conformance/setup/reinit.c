// After the last finalize the library can be initialized again, five times over: static data keeps
// its values across, the heap starts afresh, communication works each time.
// run: np=1,2,3,7
// run: np=1 launcher=none
#include "check.h"

static long in_data[3] = {11, 22, 33};
static long in_bss[300000];
static long *pointer = &in_data[1];

int main(void)
{
    static int rounds;
    int me = -1, npes = -1;

    in_bss[299999] = 4;
    for (int round = 1; round <= 5; round++) {
        int provided, initialized = -1;
        if (round % 2)
            shmem_init();
        else
            CHECK_INT(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided), 0, "shmem_init_thread");
        CHECK(round == 1 || (shmem_my_pe() == me && shmem_n_pes() == npes),
              "round %d: was PE %d of %d, is PE %d of %d", round, me, npes, shmem_my_pe(),
              shmem_n_pes());
        me = shmem_my_pe();
        npes = shmem_n_pes();
        int right = (me + 1) % npes, left = (me + npes - 1) % npes;

        CHECK_INT(in_bss[299999], 4, ".bss after initialization");
        CHECK_INT(in_data[0], round == 1 ? 11 : (round - 1) * 100 + left, ".data, put last round");
        CHECK_INT(*pointer, round == 1 ? 22 : (round - 1) * 10 + me, ".data, stored in between");
        CHECK_INT(in_data[2], 33, ".data, never touched");
        long *on_heap = (long *)shmem_calloc(100000, sizeof *on_heap);
        CHECK(on_heap != NULL, "shmem_calloc returned NULL in round %d", round);
        shmem_barrier_all();
        shmem_long_p(&in_data[0], round * 100 + me, right);
        shmem_long_p(&on_heap[99999], round * 1000 + me, right);
        shmem_long_atomic_add(&in_bss[0], 1, 0);
        shmem_barrier_all();
        CHECK_INT(on_heap[99999], round * 1000 + left, "heap");
        if (me == 0)
            CHECK_INT(in_bss[0], (long)round * npes, "atomics of all rounds");
        // The heap is left allocated on purpose in odd rounds: finalize releases it.
        if (round % 2 == 0)
            shmem_free(on_heap);
        shmem_finalize();

        shmem_query_initialized(&initialized);
        CHECK_INT(initialized, 0, "query_initialized after the last finalize");
        CHECK_INT(in_data[0], round * 100 + left, ".data after the last finalize");
        *pointer = round * 10 + me;
        rounds = round;
    }
    CHECK_INT(rounds, 5, "rounds");
    return 0;
}
