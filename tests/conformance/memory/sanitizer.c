// A program with AddressSanitizer: transfers from and to memory that its runtime watches, and an
// overflow that it finds.
// run: np=2 nodes=1 cflags=-fsanitize=address
// run: np=2 nodes=several transport=rc cflags=-fsanitize=address
// run: np=2 nodes=several transport=rc cflags=-fsanitize=address expect-exit=nonzero expect-stderr=heap-buffer-overflow args=overflow
#include "check.h"

#include <shmem.h>
#include <stdlib.h>

enum { COUNT = 100000 };

static long arrivals;

int main(int argc, char **argv)
{
    (void)argv;
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), next = (me + 1) % npes;
    int before = (me + npes - 1) % npes;
    long *own = malloc(COUNT * sizeof *own);
    long *there = shmem_malloc(COUNT * sizeof *there);
    volatile int last = argc > 1 ? COUNT : COUNT - 1;

    CHECK(own != NULL && there != NULL, "no memory");
    for (int i = 0; i <= last; i++)
        own[i] = me * COUNT + i;
    shmem_long_put(there, own, COUNT, next);
    shmem_barrier_all();
    for (int i = 0; i < COUNT; i++)
        CHECK_INT(there[i], before * COUNT + i, "put");
    shmem_long_get(own, there, COUNT, next);
    for (int i = 0; i < COUNT; i++)
        CHECK_INT(own[i], me * COUNT + i, "got back");
    shmem_long_atomic_inc(&arrivals, 0);
    shmem_barrier_all();
    if (me == 0)
        CHECK_INT(arrivals, npes, "arrivals");
    free(own);
    shmem_finalize();
    return 0;
}
