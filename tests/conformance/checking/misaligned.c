// The checking library tells of objects that are not aligned to their size: those of atomic
// operations and tests, signals and locks.
// run: np=2 nodes=1 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_long_atomic_add: dest 0x" expect-stderr="for PE 0 is not aligned to 8 bytes" args=add
// run: np=2 nodes=1 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_int_atomic_fetch: source 0x" expect-stderr="for PE 0 is not aligned to 4 bytes" args=fetch
// run: np=2 nodes=1 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_double_atomic_swap_nbi: fetch 0x" expect-stderr=" is not aligned to 8 bytes" args=fetched
// run: np=2 nodes=1 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_signal_add: sig_addr 0x" expect-stderr="for PE 0 is not aligned to 8 bytes" args=signal-add
// run: np=2 nodes=1 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_putmem_signal_nbi: sig_addr 0x" expect-stderr="for PE 0 is not aligned to 8 bytes" args=put-signal
// run: np=2 nodes=1 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_signal_fetch: sig_addr 0x" expect-stderr=" is not aligned to 8 bytes" args=signal-fetch
// run: np=2 nodes=1 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_int_test: ivar 0x" expect-stderr=" is not aligned to 4 bytes" args=test
// run: np=2 nodes=1 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_long_test_all: ivars 0x" expect-stderr=" is not aligned to 8 bytes" args=test-all
// run: np=2 nodes=1 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_test_lock: lock 0x" expect-stderr=" is not aligned to 8 bytes" args=lock
// run: np=2 nodes=1 env=SHMEM_CHECK=1 refuse-stderr="farreach" args=right
#include "check.h"

static char bytes[256];

int main(int argc, char **argv)
{
    char local[32] = {0};
    long *aligned = (long *)(void *)(bytes + 64 - (uintptr_t)bytes % 64);
    void *odd = (char *)aligned + 2, *half = (char *)aligned + 4, *local_odd = local + 1;

    CHECK(argc == 2, "usage: HOW");
    const char *how = argv[1];
    shmem_init();
    if (shmem_my_pe() == 1) {
        if (strcmp(how, "add") == 0)
            shmem_long_atomic_add(half, 1, 0);
        else if (strcmp(how, "fetch") == 0)
            shmem_int_atomic_fetch(odd, 0);
        else if (strcmp(how, "fetched") == 0)
            shmem_double_atomic_swap_nbi(local_odd, (double *)(void *)aligned, 1, 0);
        else if (strcmp(how, "signal-add") == 0)
            shmem_signal_add(odd, 1, 0);
        else if (strcmp(how, "put-signal") == 0)
            shmem_putmem_signal_nbi(aligned + 4, local, 8, half, 1, SHMEM_SIGNAL_SET, 0);
        else if (strcmp(how, "signal-fetch") == 0)
            shmem_signal_fetch(odd);
        else if (strcmp(how, "test") == 0)
            shmem_int_test(odd, SHMEM_CMP_EQ, 0);
        else if (strcmp(how, "test-all") == 0)
            shmem_long_test_all(half, 2, NULL, SHMEM_CMP_EQ, 0);
        else if (strcmp(how, "lock") == 0)
            shmem_test_lock(half);
        else {
            // None of these need more than their own size, and an array of none needs nothing.
            shmem_int_atomic_add(half, 1, 0);
            shmem_int_test(half, SHMEM_CMP_EQ, 0);
            shmem_long_test_all(odd, 0, NULL, SHMEM_CMP_EQ, 0);
            shmem_putmem(odd, local_odd, 8, 0);
        }
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
