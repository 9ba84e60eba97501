// A PE unmaps symmetric memory, which a strict device hears of. A put to it fails, and the message
// names that PE; operations to other PEs go on where those have queues of their own. PE 0 puts, and
// calls quiet at last.
// run: np=3 nodes=several transport=rc device=--strict expect-exit=nonzero "expect-stdout=others go on" "expect-stderr=PE 0: shmem_ctx_quiet: an earlier operation to PE 2 failed: " args=own
// run: np=3 nodes=several transport=dc device=--strict expect-exit=nonzero "expect-stderr=PE 0: shmem_ctx_quiet: an earlier operation to PE 2 failed: " args=one
#define _GNU_SOURCE
#include "check.h"

#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, ROUNDS = 2000 };

static long flag, cell;

// Sends to another PE: PE 1 has a queue of its own at PE 0, or is on PE 0's node.
static void send_to_another(void)
{
    for (long round = 1; round <= ROUNDS; round++) {
        shmem_long_p(&cell, round, 1);
        CHECK_INT(shmem_long_g(&cell, 1), round, "what was put to another PE");
    }
    puts("others go on");
    fflush(stdout);
}

static void tell(int pe)
{
    shmem_long_atomic_set(&flag, 1, pe);
    shmem_quiet();
}

int main(int argc, char **argv)
{
    CHECK(argc == 2, "lost_memory own|one");
    shmem_init();
    int me = shmem_my_pe();
    char *page = shmem_align(PAGE, PAGE);
    CHECK(page != NULL, "shmem_align");
    shmem_barrier_all();
    if (me == 2) {
        CHECK_INT(munmap(page, PAGE), 0, "munmap");
        tell(1);
    }
    // Not by PE 2, whose own operations to PE 0 would fail with the put.
    if (me == 1) {
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
        tell(0);
    }
    if (me != 0)
        for (;;)
            pause();
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
    shmem_putmem(page, "lost", 4, 2);
    if (strcmp(argv[1], "own") == 0)
        send_to_another();
    shmem_ctx_quiet(SHMEM_CTX_DEFAULT);
    puts("quiet returned");
    shmem_global_exit(0);
}
