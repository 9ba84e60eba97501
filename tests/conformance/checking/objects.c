// The checking library: objects that are freed, never allocated, too short for the request, not
// symmetric, or upon each other end the job with the routine, the argument and the PE.
// run: np=2 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_int_put: dest 0x" expect-stderr="for PE 0 lies in memory of the heap that was freed" args=freed-dest
// run: np=2 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_getmem: source 0x" expect-stderr="for PE 0 lies in memory of the heap that was freed" args=freed-source
// run: np=2 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_int_put: source 0x" expect-stderr=" lies in memory of the heap that was freed" args=freed-local
// run: np=2 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_int_atomic_inc: dest 0x" expect-stderr="for PE 0 lies in memory of the heap that was freed" args=freed-atomic
// run: np=2 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_long_test: ivar 0x" expect-stderr="lies in memory of the heap that was freed" args=freed-ivar
// run: np=2 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_int_p: dest 0x" expect-stderr="for PE 0 lies in memory of the heap that was never allocated" args=never-allocated
// run: np=2 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_putmem: 65 bytes at dest 0x" expect-stderr="for PE 0 run over the end of their block of the heap, which has 64 bytes from 0x" args=over-the-end
// run: np=2 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_int_wait_until: ivar 0x" expect-stderr="is not symmetric: static data is at" args=local-ivar
// run: np=2 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_signal_fetch: sig_addr 0x" expect-stderr="is not symmetric" args=local-signal
// run: np=2 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_int_put: 32 bytes at dest 0x" expect-stderr="and 32 bytes at source 0x" expect-stderr="share memory of PE 1, and must not overlap" args=overlap-put
// run: np=2 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_int_get: 32 bytes at dest 0x" expect-stderr="share memory of PE 1, and must not overlap" args=overlap-same
// run: np=2 nodes=1 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_int_get: 32 bytes at dest 0x" expect-stderr="share memory of PE 0, and must not overlap" args=overlap-pointer
// run: np=2 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_int_put_signal: 16 bytes at dest 0x" expect-stderr="and 8 bytes at sig_addr 0x" args=overlap-signal
// run: np=2 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_int_atomic_fetch_inc_nbi: 4 bytes at fetch 0x" expect-stderr="share memory of PE 1" args=overlap-fetch
// run: np=2 env=SMA_CHECK=1 expect-exit=1 expect-stderr="lies in memory of the heap that was freed" args=freed-dest
// run: np=2 env=SHMEM_CHECK=0 refuse-stderr="farreach" args=freed-dest
// run: np=2 refuse-stderr="farreach" args=overlap-same
#include "check.h"

static int object[16];

// Makes the mistakes, on PE 1.
static void freed(const char *what, int *block)
{
    int local[4] = {0};

    if (strcmp(what, "freed-dest") == 0)
        shmem_int_put(block, local, 4, 0);
    else if (strcmp(what, "freed-source") == 0)
        shmem_getmem(local, block, sizeof local, 0);
    else if (strcmp(what, "freed-local") == 0)
        shmem_int_put(object, block, 4, 0);
    else if (strcmp(what, "freed-atomic") == 0)
        shmem_int_atomic_inc(block, 0);
    else if (strcmp(what, "freed-ivar") == 0)
        shmem_long_test((long *)(void *)block, SHMEM_CMP_EQ, 0);
}

static void elsewhere(const char *what, int *block)
{
    int local[4] = {0};
    uint64_t signal = 0;
    char bytes[65] = {0};

    if (strcmp(what, "never-allocated") == 0)
        shmem_int_p(block + (1 << 20), 1, 0);
    else if (strcmp(what, "over-the-end") == 0)
        shmem_putmem(block, bytes, sizeof bytes, 0);
    else if (strcmp(what, "local-ivar") == 0)
        shmem_int_wait_until(local, SHMEM_CMP_EQ, 0);
    else if (strcmp(what, "local-signal") == 0)
        shmem_signal_fetch(&signal);
}

static void overlap(const char *what, int *block)
{
    int me = shmem_my_pe();

    if (strcmp(what, "overlap-put") == 0)
        shmem_int_put(object + 4, object, 8, me);
    else if (strcmp(what, "overlap-same") == 0)
        shmem_int_get(object, object, 8, me);
    else if (strcmp(what, "overlap-pointer") == 0)
        shmem_int_get(shmem_ptr(block, 0), block + 7, 8, 0);
    else if (strcmp(what, "overlap-signal") == 0)
        shmem_int_put_signal(block, object, 4, (uint64_t *)(void *)(block + 2), 1, SHMEM_SIGNAL_SET, 0);
    else if (strcmp(what, "overlap-fetch") == 0)
        shmem_int_atomic_fetch_inc_nbi(object, object, me);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int *kept, *gone;

    shmem_init();
    kept = shmem_malloc(64);
    gone = shmem_malloc(64);
    CHECK(kept != NULL && gone != NULL, "no memory");
    shmem_free(gone);
    if (shmem_my_pe() == 1) {
        freed(what, gone);
        elsewhere(what, kept);
        overlap(what, kept);
    }
    shmem_barrier_all();
    shmem_free(kept);
    shmem_finalize();
    return 0;
}
