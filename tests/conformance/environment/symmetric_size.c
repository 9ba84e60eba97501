// SHMEM_SYMMETRIC_SIZE in all the forms of the specification: the heap is at least as large, so that
// 15/16 of the first argument can be allocated, and the second argument cannot.
// run: np=2 env=SHMEM_SYMMETRIC_SIZE=20m args=20971520 1073741824
// run: np=2 env=SHMEM_SYMMETRIC_SIZE=20M args=20971520 1073741824
// run: np=2 env=SHMEM_SYMMETRIC_SIZE=3.1M args=3250586 1073741824
// run: np=2 env=SHMEM_SYMMETRIC_SIZE=.5m args=524288 1073741824
// run: np=2 env=SHMEM_SYMMETRIC_SIZE=0.5m args=524288 1073741824
// run: np=2 env=SHMEM_SYMMETRIC_SIZE=20kk args=20480 16777216
// run: np=2 env=SHMEM_SYMMETRIC_SIZE=20k args=20480 16777216
// run: np=2 env=SHMEM_SYMMETRIC_SIZE=20K args=20480 16777216
// run: np=2 env=SHMEM_SYMMETRIC_SIZE=7000000 args=7000000 1073741824
// run: np=2 env=SHMEM_SYMMETRIC_SIZE=1g args=1073741824 8589934592
// run: np=2 env=SHMEM_SYMMETRIC_SIZE=2.5G args=2684354560 8589934592
// run: np=2 env=SHMEM_SYMMETRIC_SIZE=0.002t args=2199023255 17179869184
// run: np=2 env=SHMEM_SYMMETRIC_SIZE=64mb args=67108864 1073741824
// run: np=1 env=SHMEM_SYMMETRIC_SIZE=0 args=0 16777216
// run: np=2 env=SMA_SYMMETRIC_SIZE=20m args=20971520 268435456
// run: np=2 env=SMA_SYMMETRIC_SIZE=2g env=SHMEM_SYMMETRIC_SIZE=20m args=20971520 1073741824
// run: np=2 launcher=hydra,openmpi env=SHMEM_SYMMETRIC_SIZE=20m args=20971520 1073741824
// run: np=2 args=536870912 1099511627776
// run: np=1 env=SHMEM_SYMMETRIC_SIZE=banana expect-exit=nonzero expect-stderr="SHMEM_SYMMETRIC_SIZE" expect-stderr="banana" args=0 0
// run: np=2 env=SHMEM_SYMMETRIC_SIZE=-5m expect-exit=nonzero expect-stderr="SHMEM_SYMMETRIC_SIZE" expect-stderr="-5m" args=0 0
// run: np=2 env=SHMEM_SYMMETRIC_SIZE=20x expect-exit=nonzero expect-stderr="SHMEM_SYMMETRIC_SIZE" args=0 0
// run: np=1 env=SHMEM_SYMMETRIC_SIZE=m expect-exit=nonzero expect-stderr="SHMEM_SYMMETRIC_SIZE" args=0 0
// run: np=1 env=SHMEM_SYMMETRIC_SIZE=nan expect-exit=nonzero expect-stderr="SHMEM_SYMMETRIC_SIZE" args=0 0
// run: np=1 env=SHMEM_SYMMETRIC_SIZE=1.2.3 expect-exit=nonzero expect-stderr="SHMEM_SYMMETRIC_SIZE" args=0 0
// run: np=2 env=SHMEM_SYMMETRIC_SIZE=1000t expect-exit=nonzero expect-stderr="1099511627776000" args=0 0
// run: np=1 env=SHMEM_SYMMETRIC_SIZE=99999999999t expect-exit=nonzero expect-stderr="SHMEM_SYMMETRIC_SIZE" args=0 0
// run: np=1 env=SMA_SYMMETRIC_SIZE=banana expect-exit=nonzero expect-stderr="SYMMETRIC_SIZE" args=0 0
#include "check.h"

int main(int argc, char **argv)
{
    CHECK(argc == 3, "usage: ENOUGH_FOR TOO_MUCH");
    size_t enough = (size_t)strtoull(argv[1], NULL, 10), too_much = (size_t)strtoull(argv[2], NULL, 10);

    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), right = (me + 1) % npes;
    size_t size = enough / 16 * 15;
    if (size > 0) {
        char *block = (char *)shmem_malloc(size);
        CHECK(block != NULL, "shmem_malloc(%zu) returned NULL with a heap of %zu bytes", size,
              enough);
        shmem_char_p(block + size - 1, 'e', right);
        shmem_barrier_all();
        CHECK_INT(block[size - 1], 'e', "last byte of the block");
        shmem_free(block);
    }
    if (too_much > 0) {
        void *block = shmem_malloc(too_much);
        CHECK(block == NULL, "shmem_malloc(%zu) succeeded with a heap of %zu bytes", too_much,
              enough);
    }
    shmem_finalize();
    return 0;
}
