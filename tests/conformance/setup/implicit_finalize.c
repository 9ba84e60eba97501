// A program that returns from main or calls exit(0) without finalizing finalizes implicitly: no PE
// is gone before all have come to it, and the job ends well.
// run: np=1,2,3 launcher=oshrun,hydra,openmpi args=return
// run: np=1,2,3 args=exit
// run: np=2 args=twice
#define _DEFAULT_SOURCE // gethostname
#include "check.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

static long pids[64], hosts[64];
static int cell;

// Returns the state letter of a process, or 0 if there is no such process.
static char state_of(long pid)
{
    char path[64], line[512], *paren;
    char state = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    file = fopen(path, "r");
    if (file == NULL)
        return 0;
    if (fgets(line, sizeof line, file) != NULL && (paren = strrchr(line, ')')) != NULL)
        state = paren[2];
    fclose(file);
    return state;
}

// Returns a number of the host's name: processes of other hosts cannot be looked at.
static long host(void)
{
    char name[256] = "";
    unsigned long number = 5381;

    gethostname(name, sizeof name - 1);
    for (const char *at = name; *at != 0; at++)
        number = number * 33 + (unsigned char)*at;
    return (long)number;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "return";
    const struct timespec delay = {0, 300000000};

    shmem_init();
    if (strcmp(how, "twice") == 0)
        shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    for (int pe = 0; pe < npes; pe++) {
        shmem_long_p(&pids[me], (long)getpid(), pe);
        shmem_long_p(&hosts[me], host(), pe);
    }
    shmem_barrier_all();
    if (me == npes - 1) {
        // All others have left main; they must wait for this PE.
        nanosleep(&delay, NULL);
        for (int pe = 0; pe < npes; pe++) {
            char state = state_of(pids[pe]);
            CHECK(hosts[pe] != hosts[me] || (state != 0 && state != 'Z' && state != 'X'),
                  "PE %d (process %ld) ended before PE %d came to the implicit finalize", pe,
                  pids[pe], me);
            shmem_int_p(&cell, 5, pe);
            shmem_quiet();
            CHECK_INT(shmem_int_g(&cell, pe), 5, "put to a PE that has left main");
        }
    }
    if (strcmp(how, "exit") == 0)
        exit(0);
    return 0;
}
