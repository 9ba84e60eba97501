// Every PE (processing element: one running copy of this program) says hello, and knows its neighbour by a message.
//
//   oshrun -n 4 examples/c/hello.c
//
// The lines come in any order: the PEs run at the same time and nothing here makes one wait for another's printing.
// run: np=1,2,3,4,16
// run: np=2 expect-stdout="Hello from PE 1 of 2. My left neighbour is PE 0."

#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

// A global or static variable exists on every PE, and every PE can name all of them: it is *symmetric*. Another PE can
// write to mine directly, without my taking part. (Local variables and malloc'ed memory are private.)
static int left_neighbour = -1;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
    int npes = shmem_n_pes();

    // Write my number into the variable of the PE to my right; the last PE writes to PE 0.
    shmem_int_p(&left_neighbour, me, (me + 1) % npes);

    // After the barrier every PE has written, and everything written has arrived.
    shmem_barrier_all();
    printf("Hello from PE %d of %d. My left neighbour is PE %d.\n", me, npes, left_neighbour);

    int expected = (me + npes - 1) % npes;
    shmem_finalize();
    return left_neighbour == expected ? EXIT_SUCCESS : EXIT_FAILURE;
}
