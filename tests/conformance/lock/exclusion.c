// Locks exclude: counters that are read and written without atomics lose nothing, and no two PEs
// are inside at once; with locks in .data, .bss, on the heap and in an array, set by set_lock and
// by test_lock, two held at a time.
// run: np=1,2,3,7 nodes=1 args=400
// run: np=4 nodes=several args=15
// run: np=4 nodes=several transport=rc device=--delay-seed=2 args=15
#include "check.h"

enum { LOCKS = 5 };

static long in_data[1] = {0};
static long in_bss, array[LOCKS];
static long counters[LOCKS], inside[LOCKS];
static int me, npes;

// Runs a critical region: reads, thinks, writes; the memory is that of another PE for each lock.
static void region(int which)
{
    int home = (which + 1) % npes;

    CHECK_INT(shmem_long_atomic_fetch_inc(&inside[which], home), 0, "PEs in the region");
    long count = shmem_long_g(&counters[which], home);
    for (volatile int i = 0; i < 50; i++)
        ;
    shmem_long_p(&counters[which], count + 1, home);
    // The next PE may read at once: clear_lock completes the store.
    CHECK_INT(shmem_long_atomic_fetch_add(&inside[which], -1, home), 1, "PEs in the region");
}

static void by_set(long *lock, int which)
{
    shmem_set_lock(lock);
    region(which);
    shmem_clear_lock(lock);
}

static void by_test(long *lock, int which)
{
    int status;

    while ((status = shmem_test_lock(lock)) != 0)
        CHECK_INT(status, 1, "shmem_test_lock of a lock that is set");
    region(which);
    shmem_clear_lock(lock);
}

static void expect(int which, long want, const char *where)
{
    shmem_barrier_all();
    long got = shmem_long_g(&counters[which], (which + 1) % npes);
    CHECK(got == want, "%s: %ld passages, counted %ld", where, want, got);
    shmem_barrier_all();
    counters[which] = 0;
    shmem_barrier_all();
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 100;

    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    long *on_heap = (long *)shmem_calloc(1, sizeof *on_heap);
    CHECK(on_heap != NULL, "shmem_calloc returned NULL");
    for (int i = 0; i < rounds; i++)
        by_set(in_data, 0);
    expect(0, (long)rounds * npes, "set_lock, .data");
    for (int i = 0; i < rounds / 4; i++)
        by_test(&in_bss, 1);
    expect(1, (long)(rounds / 4) * npes, "test_lock, .bss");
    for (int i = 0; i < rounds; i++)
        (i + me) % 4 == 0 ? by_test(on_heap, 2) : by_set(on_heap, 2);
    expect(2, (long)rounds * npes, "both, heap");
    // Several locks, each PE in another order, and two held at once.
    for (int i = 0; i < rounds; i++)
        by_set(&array[(i + me) % LOCKS], (i + me) % LOCKS);
    for (int i = 0; i < rounds; i++) {
        int outer = i % (LOCKS - 1);
        shmem_set_lock(&array[outer]);
        region(outer);
        by_set(&array[outer + 1], outer + 1);
        shmem_clear_lock(&array[outer]);
    }
    shmem_barrier_all();
    long sum = 0;
    for (int which = 0; which < LOCKS; which++)
        sum += shmem_long_g(&counters[which], (which + 1) % npes);
    CHECK_INT(sum, 3L * rounds * npes, "passages of all locks of the array");
    shmem_barrier_all();
    shmem_free(on_heap);
    shmem_finalize();
    return 0;
}
