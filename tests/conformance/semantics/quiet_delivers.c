// Quiet delivers without any help of the target: PE 0 puts and quiets while PE 1 sleeps outside the
// library; PE 1 then reads the new values by plain loads before it makes any call.
// run: np=2 launcher=oshrun,hydra,openmpi
#include "check.h"

#include <time.h>

enum { WORDS = 40000, ROUNDS = 4 };

static volatile long in_bss[WORDS];
static volatile int in_data = 1;
static volatile long atomic_target;
static volatile double quiet_returned;
static double read_at;

// Returns the time: CLOCK_MONOTONIC is the same for all processes of a machine.
static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void deliver(long *on_heap, int round)
{
    static long source[WORDS];
    double now;

    for (int i = 0; i < WORDS; i++)
        source[i] = round * 100000 + i;
    // PE 1 is asleep by now.
    nanosleep(&(struct timespec){0, 50000000}, NULL);
    shmem_int_p((int *)&in_data, 1000 + round, 1);
    shmem_long_put((long *)in_bss, source, WORDS, 1);
    shmem_long_put_nbi(on_heap, source, WORDS, 1);
    shmem_long_atomic_add((long *)&atomic_target, 5, 1);
    shmem_quiet();
    now = seconds();
    // Nor is this PE in the library while PE 1 looks: quiet has done all there was to do.
    nanosleep(&(struct timespec){0, round * 60000000L + 100000000L}, NULL);
    shmem_double_p((double *)&quiet_returned, now, 1);
}

// Returns nonzero if PE 0 was so slow that its quiet came after the look: the round says nothing.
static int look(volatile long *on_heap, int round)
{
    double wake = seconds() + 0.06 * round + 0.06;
    int seen_int;
    long seen_atomic, bad_bss = -1, bad_heap = -1;

    while (seconds() < wake)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    read_at = seconds();
    seen_int = in_data;
    seen_atomic = atomic_target;
    for (long i = 0; i < WORDS; i++) {
        if (in_bss[i] != round * 100000 + i && bad_bss < 0)
            bad_bss = i;
        if (on_heap[i] != round * 100000 + i && bad_heap < 0)
            bad_heap = i;
    }
    // The library may be asked from here on: had PE 0's quiet returned before the look?
    shmem_barrier_all();
    if (quiet_returned >= read_at)
        return 1;
    CHECK_INT(seen_int, 1000 + round, "int put while this PE slept");
    CHECK(bad_bss < 0, "word %ld in .bss was not there after PE 0's quiet", bad_bss);
    CHECK(bad_heap < 0, "word %ld on the heap was not there after PE 0's quiet", bad_heap);
    CHECK_INT(seen_atomic, 5 * round, "atomic_add while this PE slept");
    return 0;
}

int main(void)
{
    int conclusive = 0;

    shmem_init();
    CHECK_INT(shmem_n_pes(), 2, "PEs");
    long *on_heap = (long *)shmem_malloc(WORDS * sizeof *on_heap);
    CHECK(on_heap != NULL, "shmem_malloc returned NULL");
    for (int round = 1; round <= ROUNDS; round++) {
        shmem_barrier_all();
        if (shmem_my_pe() == 0) {
            deliver(on_heap, round);
            shmem_barrier_all();
        } else {
            conclusive += !look(on_heap, round);
        }
        shmem_barrier_all();
    }
    CHECK(shmem_my_pe() == 0 || conclusive > 0, "PE 0 was too slow in all rounds");
    shmem_free(on_heap);
    shmem_finalize();
    return 0;
}
