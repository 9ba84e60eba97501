// Objects that are not aligned to their size: locks and awaited objects are told everywhere, those
// of atomic operations and signals over a device, with routine, argument, address and PE.
// (checking/misaligned.c: the checking library's messages on a node.)
// run: np=2 nodes=several expect-exit=nonzero expect-stderr="PE 1: shmem_long_atomic_add: dest 0x" expect-stderr="for PE 0 is not aligned to 8 bytes" args=add
// run: np=2 nodes=several expect-exit=nonzero expect-stderr="PE 1: shmem_int_atomic_fetch_nbi: source 0x" expect-stderr="for PE 0 is not aligned to 4 bytes" args=fetch
// run: np=2 nodes=several expect-exit=nonzero expect-stderr="PE 1: shmem_putmem_signal: sig_addr 0x" expect-stderr="for PE 0 is not aligned to 8 bytes" args=signal
// run: np=2 expect-exit=nonzero expect-stderr="PE 1: shmem_set_lock: lock 0x" expect-stderr=" is not aligned to 8 bytes" args=set-lock
// run: np=2 nodes=1 expect-exit=nonzero expect-stderr="PE 1: shmem_test_lock: lock 0x" expect-stderr=" is not aligned to 8 bytes" args=test-lock
// run: np=2 nodes=1 expect-exit=nonzero expect-stderr="PE 1: shmem_clear_lock: lock 0x" expect-stderr=" is not aligned to 8 bytes" args=clear-lock
// run: np=2 nodes=1 expect-exit=nonzero expect-stderr="PE 1: shmem_long_wait_until: ivar 0x" expect-stderr=" is not aligned to 8 bytes" args=wait
// run: np=2 nodes=1 expect-exit=nonzero expect-stderr="PE 1: shmem_int_wait_until_any: ivars 0x" expect-stderr=" is not aligned to 4 bytes" args=wait-any
// run: np=2 nodes=1 expect-exit=nonzero expect-stderr="PE 1: shmem_signal_wait_until: sig_addr 0x" expect-stderr=" is not aligned to 8 bytes" args=wait-signal
#include "check.h"

static char bytes[256];

int main(int argc, char **argv)
{
    // Two bytes behind a multiple of eight.
    void *odd = bytes + 10 - (uintptr_t)bytes % 8;
    char local[8] = {0};
    int fetched;

    CHECK(argc == 2, "usage: HOW");
    const char *how = argv[1];
    shmem_init();
    if (shmem_my_pe() == 1) {
        if (strcmp(how, "add") == 0)
            shmem_long_atomic_add(odd, 1, 0);
        else if (strcmp(how, "fetch") == 0)
            shmem_int_atomic_fetch_nbi(&fetched, odd, 0);
        else if (strcmp(how, "signal") == 0)
            shmem_putmem_signal(bytes, local, sizeof local, odd, 1, SHMEM_SIGNAL_SET, 0);
        else if (strcmp(how, "set-lock") == 0)
            shmem_set_lock(odd);
        else if (strcmp(how, "test-lock") == 0)
            shmem_test_lock(odd);
        else if (strcmp(how, "clear-lock") == 0)
            shmem_clear_lock(odd);
        else if (strcmp(how, "wait") == 0)
            shmem_long_wait_until(odd, SHMEM_CMP_EQ, 1);
        else if (strcmp(how, "wait-any") == 0)
            shmem_int_wait_until_any(odd, 4, NULL, SHMEM_CMP_EQ, 1);
        else if (strcmp(how, "wait-signal") == 0)
            shmem_signal_wait_until(odd, SHMEM_CMP_EQ, 1);
        // The runner expects a nonzero status: this one must not pass for the library's.
        fprintf(stderr, "FAILED: the call returned\n");
        shmem_global_exit(0);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
