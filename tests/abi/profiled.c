// A program that puts ints to its neighbour, by the name PUT: shmem_int_put, or the generic name of C11 and C++. Four times,
// once of them with the profiler turned off.

#include <shmem.h>

#include <stdio.h>

static int dest[4];

int main(void)
{
    shmem_init();
    const int me = shmem_my_pe(), npes = shmem_n_pes();
    for (int i = 0; i < 4; ++i) {
        const int source = 10 * me + i;
        shmem_pcontrol(i == 2 ? 0 : 1);
        PUT(&dest[i], &source, 1, (me + 1) % npes);
    }
    shmem_barrier_all();
    for (int i = 0; i < 4; ++i) {
        const int expected = 10 * ((me + npes - 1) % npes) + i;
        if (dest[i] != expected) {
            fprintf(stderr, "PE %d: element %d is %d and not %d\n", me, i, dest[i], expected);
            shmem_global_exit(1);
        }
    }
    shmem_finalize();
    return 0;
}
