// The checking library: PEs that are in different collectives, or in one with different arguments, end the job with the
// routines and the PEs.
// run: np=2 nodes=1 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="shmem_calloc: the collectives do not match: PE 0 calls shmem_calloc(count 2, size 8), PE 1 calls shmem_malloc(size 16)" args=routines
// run: np=2 nodes=1 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 0 calls shmem_malloc(size 8), PE 1 calls shmem_malloc(size 16)" args=size
// run: np=2 nodes=1 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 0 calls shmem_barrier_all(), PE 1 calls shmem_free(ptr at 0x40 of the heap)" args=barrier
// run: np=2 nodes=1 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 0 calls shmem_free(ptr at 0x0 of the heap), PE 1 calls shmem_free(ptr at 0x40 of the heap)" args=pointer
// run: np=3 nodes=1 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="the collectives do not match: PE " expect-stderr="PE 1 calls shmem_malloc(size 16)" args=routines
#include "check.h"

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    void *first, *second;
    int other;

    shmem_init();
    other = shmem_my_pe() == 1;
    first = shmem_malloc(64);
    second = shmem_malloc(64);
    CHECK(first != NULL && second != NULL, "no memory");
    if (strcmp(what, "routines") == 0)
        (void)(other ? shmem_malloc(16) : shmem_calloc(2, 8));
    else if (strcmp(what, "size") == 0)
        (void)shmem_malloc(other ? 16 : 8);
    else if (strcmp(what, "barrier") == 0 && other)
        shmem_free(second);
    else if (strcmp(what, "barrier") == 0)
        shmem_barrier_all();
    else if (strcmp(what, "pointer") == 0)
        shmem_free(other ? second : first);
    shmem_finalize();
    return 0;
}
