// A token goes round the ring of PEs: each PE waits for it, adds its own number, and hands it to the next.
//
//   oshrun -n 4 examples/c/ring.c [ROUNDS]
//
// Shows shmem_*_put_signal, which writes data and then a signal beside it. A PE that has seen the
// signal may read the data; nothing else is needed, no barrier and no answer from the receiver.
// run: np=1,2,3,4,16
// run: np=4 args=2000
// run: np=2 expect-exit=2 expect-stderr="usage: ring" args=many

#include <inttypes.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { HOPS, SUM, TOKEN_LENGTH };

static long token[TOKEN_LENGTH]; // symmetric: the PE to the left writes here ...
static uint64_t arrived;         // ... and then sets this to the number of the round

static void wait_for_token(uint64_t round, long hops_expected)
{
    shmem_signal_wait_until(&arrived, SHMEM_CMP_EQ, round);
    if (token[HOPS] != hops_expected) {
        fprintf(stderr, "ring: PE %d: the token made %ld hops by round %" PRIu64 ", not %ld\n", shmem_my_pe(),
                token[HOPS], round, hops_expected);
        shmem_global_exit(EXIT_FAILURE); // ends all PEs
    }
}

static double seconds(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
    shmem_init();
    long me = shmem_my_pe();
    long npes = shmem_n_pes();

    char *rest = "";
    long rounds = argc > 1 ? strtol(argv[1], &rest, 10) : 100;
    if (argc > 2 || rounds < 1 || rounds > 1000000 || *rest != '\0') {
        if (me == 0)
            fprintf(stderr, "usage: ring [ROUNDS]   (1 to 1000000, 100 when not given)\n");
        shmem_finalize();
        return 2;
    }

    double start = seconds();
    for (long round = 1; round <= rounds; round++) {
        if (me != 0)
            wait_for_token((uint64_t)round, (round - 1) * npes + me);
        long mine[TOKEN_LENGTH] = {token[HOPS] + 1, token[SUM] + me};
        shmem_long_put_signal(token, mine, TOKEN_LENGTH, &arrived, (uint64_t)round, SHMEM_SIGNAL_SET,
                              (int)((me + 1) % npes));
        if (me == 0) // PE 0 starts every round and sees it end
            wait_for_token((uint64_t)round, round * npes);
    }

    int status = EXIT_SUCCESS;
    if (me == 0) {
        long expected = rounds * (npes * (npes - 1) / 2);
        if (token[SUM] != expected)
            status = EXIT_FAILURE;
        printf("%ld rounds over %ld PEs: sum %ld (%s), %.2f us a hop\n", rounds, npes, token[SUM],
               status == EXIT_SUCCESS ? "right" : "WRONG", (seconds() - start) * 1e6 / (double)token[HOPS]);
    }
    shmem_finalize();
    return status;
}
