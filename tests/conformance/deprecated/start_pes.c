// start_pes in place of shmem_init, with any number, more than once, and without a finalize: the
// end of the program finalizes. _my_pe and _num_pes count as the new names do.
// run: np=1,2,3,4,7
// run: np=2 args=return
// run: np=2 args=finalize
// run: np=2 link=static
// run: np=2 launcher=hydra,openmpi
// run: np=1 launcher=none
#include "check.h"

static long words[64];

int main(int argc, char **argv)
{
    const char *end = argc > 1 ? argv[1] : "exit";
    int initialized = 1;

    start_pes(argc > 1 ? 12 : 0);
    int me = _my_pe(), npes = _num_pes();

    CHECK_INT(me, shmem_my_pe(), "_my_pe");
    CHECK_INT(npes, shmem_n_pes(), "_num_pes");
    start_pes(0);
    start_pes(-3);
    CHECK_INT(_my_pe(), me, "_my_pe after start_pes again");
    for (int pe = 0; pe < npes; pe++)
        shmem_long_p(&words[me], me + 1, pe);
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++)
        CHECK_INT(words[pe], pe + 1, "put after start_pes");
    if (strcmp(end, "finalize") == 0) {
        // One is enough: start_pes had no effect the second time.
        shmem_finalize();
        shmem_query_initialized(&initialized);
        CHECK_INT(initialized, 0, "shmem_query_initialized after shmem_finalize");
    }
    if (strcmp(end, "exit") == 0)
        exit(0);
    return 0;
}
