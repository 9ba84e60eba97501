// Exchanges of PEs that share a processor across the end of 31 and of 32 bits of the count of their
// arrivals. To come there would take minutes: the program finds the count in the library's own
// memory, the 4 MiB before the heap, and moves it on.
// run: np=3,6 nodes=1
#define _GNU_SOURCE
#include "check.h"

#include <sched.h>

enum { WORKSPACE = 4 << 20, BLOCK = 12 << 10, WORDS = BLOCK / 8, EACH = 300, MAX_PES = 8 };

static long source[MAX_PES * EACH], dest[MAX_PES * EACH];
static int me, npes;

static void exchange(long round)
{
    for (int i = 0; i < npes * EACH; i++)
        source[i] = (round * 100 + me) * 100000 + i;
    shmem_long_alltoall(SHMEM_TEAM_WORLD, dest, source, EACH);
    for (int pe = 0; pe < npes; pe++)
        for (int i = 0; i < EACH; i++)
            CHECK_INT(dest[pe * EACH + i], (round * 100 + pe) * 100000 + me * EACH + i,
                      "a word of another PE's block");
    shmem_barrier_all();
}

// Returns the word of PE 0's block of the world team that has counted the arrivals at `rounds`
// exchanges and at one more: the first, as behind it the PE tells its own number, which may be the
// last.
static uint64_t *find_count(const char *heap, long rounds)
{
    uint64_t *block = (uint64_t *)(heap - WORKSPACE), *found = NULL;
    static uint64_t before[WORDS];

    for (int i = 0; i < WORDS; i++)
        before[i] = __atomic_load_n(&block[i], __ATOMIC_RELAXED);
    shmem_barrier_all();
    exchange(rounds + 1);
    for (int i = 0; me == 0 && i < WORDS && found == NULL; i++) {
        uint64_t now = __atomic_load_n(&block[i], __ATOMIC_RELAXED);
        if (before[i] == (uint64_t)(rounds * npes) && now == before[i] + (uint64_t)npes)
            found = &block[i];
    }
    CHECK(me != 0 || found != NULL, "no word before the heap counts arrivals: where is it now?");
    return found;
}

int main(void)
{
    cpu_set_t one;

    // All on one processor, so that they know that they share it.
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++) {
        CPU_SET(cpu, &one);
        if (sched_setaffinity(0, sizeof one, &one) != 0)
            CPU_ZERO(&one);
    }
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    char *heap = (char *)shmem_malloc(64);
    long round = 0;

    // More often than anything else may count.
    while (round < 40)
        exchange(++round);
    uint64_t *count = find_count(heap, round++);
    for (int bits = 31; bits <= 32; bits++) {
        if (me == 0) {
            // Whole exchanges, the second of which goes across the end.
            uint64_t exchanges = (UINT64_C(1) << bits) / (uint64_t)npes - 1;
            __atomic_store_n(count, exchanges * (uint64_t)npes, __ATOMIC_RELAXED);
        }
        shmem_barrier_all();
        for (int i = 0; i < 4; i++)
            exchange(++round);
    }
    shmem_finalize();
    return 0;
}
