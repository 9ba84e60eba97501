// The texts of SHMEM_VERSION and SHMEM_INFO cannot be printed, because standard output is full or
// closed: the job goes on all the same, and its memory is as it should be. Nor does anything that
// the program itself prints there find its way into that memory.
// run: np=1,2 env=SHMEM_VERSION=1 env=SHMEM_INFO=1 args=full
// run: np=1,2 env=SHMEM_VERSION=1 env=SHMEM_INFO=1 args=closed
// run: np=1,2 env=SHMEM_VERSION=1 env=SHMEM_INFO=1 env=SHMEM_DEBUG=1 args=all-closed
// run: np=2 launcher=hydra,openmpi env=SHMEM_VERSION=1 args=full
// run: np=1 launcher=none env=SHMEM_VERSION=1 args=full
// run: np=1 launcher=none env=SHMEM_VERSION=1 args=closed
#include "check.h"

#include <fcntl.h>
#include <unistd.h>

static int cell;
static long words[100000];

// Writes much more than the job's own records to a standard stream that is not there.
static void print_into_nothing(void)
{
    static char text[65536];

    memset(text, 'x', sizeof text);
    for (int stream = 0; stream < 2; stream++)
        for (int i = 0; i < 128; i++)
            if (write(stream, text, sizeof text) < 0)
                break;
}

int main(int argc, char **argv)
{
    CHECK(argc == 2, "usage: full|closed|all-closed");
    if (strcmp(argv[1], "full") == 0) {
        int full = open("/dev/full", O_WRONLY);
        CHECK(full >= 0 && dup2(full, 1) == 1, "no /dev/full");
        close(full);
    } else {
        close(1);
    }
    if (strcmp(argv[1], "all-closed") == 0) {
        close(0);
        close(2);
    }
    // A job whose records are spoiled may hang.
    alarm(5);
    shmem_init();
    if (strcmp(argv[1], "full") != 0)
        print_into_nothing();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    for (long i = 0; i < (long)COUNT_OF(words); i++)
        CHECK(words[i] == 0, "word %ld of .bss is %ld after shmem_init", i, words[i]);
    shmem_int_p(&cell, me + 1, (me + 1) % npes);
    shmem_barrier_all();
    CHECK_INT(cell, (me + npes - 1) % npes + 1, "p");
    shmem_finalize();
    return 0;
}
