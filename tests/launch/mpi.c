/* MPI and OpenSHMEM in one process: both speak to the launcher by PMI-1, over one connection.
 *
 * The argument is a row of steps: M and S initialise MPI and OpenSHMEM, m and s finalize them, u
 * uses both, e ends PE 0 by _exit(0). */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* MPICH's ABI: its headers are another package of Debian than its launcher. */
typedef int MPI_Comm;
typedef int MPI_Datatype;
typedef int MPI_Op;
enum { MPI_COMM_WORLD = 0x44000000, MPI_INT = 0x4c000405, MPI_SUM = 0x58000003 };
int MPI_Init(int *argc, char ***argv);
int MPI_Finalize(void);
int MPI_Comm_rank(MPI_Comm comm, int *rank);
int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm);

static int rank;
static long count;

static void use(void) {
    int one = 1, pes = 0;
    MPI_Allreduce(&one, &pes, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    shmem_barrier_all();
    for (int pe = 0; pe < pes; pe++) shmem_long_atomic_inc(&count, pe);
    shmem_barrier_all();
    if (rank != shmem_my_pe() || pes != shmem_n_pes() || count % pes != 0 || count == 0) {
        fprintf(stderr, "rank %d is PE %d of %d, and has counted %ld\n", rank, shmem_my_pe(), pes,
                count);
        exit(1);
    }
}

static void step(char name) {
    switch (name) {
    case 'M':
        MPI_Init(NULL, NULL);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        break;
    case 'm': MPI_Finalize(); break;
    case 'S': shmem_init(); break;
    case 's': shmem_finalize(); break;
    case 'u': use(); break;
    case 'e':
        if (rank == 0) _exit(0);
        break;
    default: fprintf(stderr, "no step is named %c\n", name); exit(2);
    }
}

int main(int argc, char **argv) {
    for (const char *name = argc > 1 ? argv[1] : ""; *name != 0; name++) step(*name);
    printf("rank %d is done\n", rank);
    return 0;
}
