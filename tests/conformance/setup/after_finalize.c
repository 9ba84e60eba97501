// After the last finalize a PE may end when and how it likes: the others go on undisturbed, and its
// exit status is the job's.
// run: np=2,3 args=0
// run: np=2,3 expect-exit=5 args=5
// run: np=2 launcher=hydra,openmpi args=0
#include "check.h"

#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const struct timespec moment = {0, 400000000};
    int status = argc > 1 ? atoi(argv[1]) : 0, written;

    shmem_init();
    int me = shmem_my_pe();
    shmem_finalize();
    if (me == 0)
        _exit(status);
    nanosleep(&moment, NULL);
    // Still alive, with all of the C library at hand.
    FILE *file = tmpfile();
    CHECK(file != NULL, "PE %d: tmpfile after finalize failed", me);
    written = fprintf(file, "PE %d", me);
    CHECK(written > 0, "PE %d: fprintf after finalize failed", me);
    fclose(file);
    return 0;
}
