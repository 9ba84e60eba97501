// MPI and GASNet in one process: both speak to the launcher by PMI-1, over one connection. M and G
// initialise MPI and GASNet, m finalizes MPI, u uses both, x is gasnet_exit; without it main
// returns.
// run: nodes=1 np=1,2,3 mode=seq launcher=oshrun,hydra cflags=-l:libmpich.so.12 args=MGumx
// run: nodes=1 np=1,2,3 mode=seq launcher=oshrun,hydra cflags=-l:libmpich.so.12 args=GMumx
// run: nodes=1 np=2 mode=par launcher=oshrun,hydra cflags=-l:libmpich.so.12 args=MGum
// run: nodes=1 np=2 mode=par launcher=oshrun,hydra cflags=-l:libmpich.so.12 args=GMumu
// run: nodes=1 np=2 mode=seq launcher=oshrun,hydra cflags=-l:libmpich.so.12 args=MGux
#include <gasnet.h>
#include <stdio.h>
#include <stdlib.h>

// MPICH's ABI: its headers are another package of Debian than its launcher.
enum { MPI_COMM_WORLD = 0x44000000, MPI_INT = 0x4c000405, MPI_SUM = 0x58000003 };
int MPI_Init(int *argc, char ***argv);
int MPI_Finalize(void);
int MPI_Comm_rank(int comm, int *rank);
int MPI_Allreduce(const void *from, void *to, int count, int type, int op, int comm);

static int has_mpi;

static void fail(const char *what) {
  fprintf(stderr, "%s\n", what);
  abort();
}

static void begin_mpi(void) {
  if (MPI_Init(NULL, NULL) != 0) fail("MPI_Init");
  has_mpi = 1;
}

static void end_mpi(void) {
  if (MPI_Finalize() != 0) fail("MPI_Finalize");
  has_mpi = 0;
}

static void begin_gasnet(int *argc, char ***argv) {
  if (gasnet_init(argc, argv) != GASNET_OK) fail("gasnet_init");
  if (gasnet_attach(NULL, 0, GASNET_PAGESIZE, 0) != GASNET_OK) fail("gasnet_attach");
}

static void use(void) {
  if (has_mpi) {
    int one = 1, all = 0, rank = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank != (int)gasnet_mynode() || all != (int)gasnet_nodes()) fail("numbers differ");
  }
  gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
  if (gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS) != GASNET_OK) fail("barrier");
}

int main(int argc, char **argv) {
  for (const char *step = argc > 1 ? argv[1] : ""; *step != 0; step++) switch (*step) {
      case 'M': begin_mpi(); break;
      case 'm': end_mpi(); break;
      case 'G': begin_gasnet(&argc, &argv); break;
      case 'u': use(); break;
      case 'x': gasnet_exit(0);
      default: fail("no such step");
    }
  return 0;
}
