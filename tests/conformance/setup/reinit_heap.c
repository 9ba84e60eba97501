// SHMEM_SYMMETRIC_SIZE may change between the last finalize and the next initialization: as much
// memory or less is there, and no PE's heap lies in another's; more is refused with a message, after
// which the library can still be initialized with less.
// run: np=1,2,4 env=SHMEM_SYMMETRIC_SIZE=16m args=16m 15
// run: np=1,2,4 env=SHMEM_SYMMETRIC_SIZE=16m args=8m 7
// run: np=2 launcher=hydra,openmpi env=SHMEM_SYMMETRIC_SIZE=16m args=8m 7
// run: np=2,3 env=SHMEM_SYMMETRIC_SIZE=16m expect-exit=1 expect-stderr="shmem_init: SHMEM_SYMMETRIC_SIZE gives" expect-stderr="at the first initialisation" args=64m 40
// run: np=1 env=SHMEM_SYMMETRIC_SIZE=16m launcher=none expect-exit=1 expect-stderr="shmem_init: SHMEM_SYMMETRIC_SIZE gives" args=64m 40
// run: np=2 expect-exit=1 expect-stderr="shmem_init: SHMEM_SYMMETRIC_SIZE gives" args=2g 600
// run: np=1,2 env=SHMEM_SYMMETRIC_SIZE=16m expect-stderr="shmem_init_thread: SHMEM_SYMMETRIC_SIZE gives" args=8m 7 64m
#define _POSIX_C_SOURCE 200809L
#include "check.h"

// Fills a block with this PE's number; the others' writes to theirs must not appear in it.
static void use_heap(size_t mebibytes)
{
    int me = shmem_my_pe(), npes = shmem_n_pes(), right = (me + 1) % npes;
    size_t length = mebibytes << 20;
    char *block = (char *)shmem_malloc(length);

    CHECK(block != NULL, "shmem_malloc of %zu MiB returned NULL", mebibytes);
    memset(block, me + 1, length);
    shmem_barrier_all();
    for (size_t i = 0; i < length; i += 64)
        CHECK(block[i] == me + 1, "byte %zu of PE %d's block is %d", i, me, block[i]);
    CHECK_INT(shmem_char_g(block + length - 1, right), right + 1, "g of the last byte");
    shmem_barrier_all();
    shmem_free(block);
}

int main(int argc, char **argv)
{
    int provided;

    CHECK(argc >= 3, "usage: SIZE MEBIBYTES [REFUSED]");
    shmem_init();
    shmem_finalize();
    if (argc > 3) {
        setenv("SHMEM_SYMMETRIC_SIZE", argv[3], 1);
        CHECK(shmem_init_thread(SHMEM_THREAD_SINGLE, &provided) != 0, "a heap of %s was not refused",
              argv[3]);
    }
    setenv("SHMEM_SYMMETRIC_SIZE", argv[1], 1);
    shmem_init();
    use_heap((size_t)atoi(argv[2]));
    shmem_finalize();
    return 0;
}
