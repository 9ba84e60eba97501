// Under valgrind, which moves executables: static data keeps its values and is symmetric.
// run: np=2 valgrind
// run: np=2 valgrind link=no-pie
#include "check.h"

static long in_data[5] = {10, 20, 30, 40, 50};
static long in_bss[100000];
static long *inside = &in_data[3];

int main(void)
{
    in_bss[99999] = 3;
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), right = (me + 1) % npes;
    int left = (me + npes - 1) % npes;

    CHECK(in_data[4] == 50 && *inside == 40 && in_bss[99999] == 3 && in_bss[5] == 0,
          "values after shmem_init: %ld, %ld, %ld", in_data[4], *inside, in_bss[99999]);
    shmem_barrier_all();
    shmem_long_p(inside, 70 + me, right);
    shmem_long_atomic_inc(&in_bss[99999], right);
    shmem_barrier_all();
    CHECK_INT(in_data[3], 70 + left, "p to .data");
    CHECK_INT(in_bss[99999], 4, "atomic_inc in .bss");
    long *direct = (long *)shmem_ptr(&in_bss[7], right);
    CHECK(direct != NULL, "shmem_ptr is NULL");
    *direct = 90 + me;
    shmem_barrier_all();
    CHECK_INT(*(volatile long *)&in_bss[7], 90 + left, "store through shmem_ptr");
    shmem_finalize();
    CHECK(in_data[3] == 70 + left, "after shmem_finalize");
    return 0;
}
