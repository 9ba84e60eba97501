// The checking library: a lock is cleared by a PE that does not hold it, or set by one that does.
// run: np=2 nodes=1 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_clear_lock: lock 0x" expect-stderr="is not held by PE 1, which clears it: PE 0 holds it" args=others
// run: np=2 nodes=1 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="is not held by PE 1, which clears it: nobody holds it" args=free
// run: np=2 nodes=several env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_clear_lock: lock 0x" expect-stderr="is not held by PE 1, which clears it" args=others
// run: np=2 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="is not held by PE 1, which clears it" args=twice
// run: np=2 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_set_lock: lock 0x" expect-stderr="is held by PE 1 already, which calls this" args=set-again
// run: np=2 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_test_lock: lock 0x" expect-stderr="is held by PE 1 already, which calls this" args=test-again
// run: np=2 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_set_lock: lock 0x" expect-stderr="is not symmetric" args=local
// run: np=2,4 env=SHMEM_CHECK=1 refuse-stderr="farreach" args=right
#include "check.h"

static long lock, other_lock;

static void wrong(const char *what)
{
    long local = 0;

    if (strcmp(what, "others") == 0 || strcmp(what, "free") == 0) {
        shmem_clear_lock(&lock);
    } else if (strcmp(what, "twice") == 0) {
        shmem_set_lock(&other_lock);
        shmem_clear_lock(&other_lock);
        shmem_clear_lock(&other_lock);
    } else if (strcmp(what, "set-again") == 0) {
        CHECK_INT(shmem_test_lock(&other_lock), 0, "test_lock of a free lock");
        shmem_set_lock(&other_lock);
    } else if (strcmp(what, "test-again") == 0) {
        shmem_set_lock(&other_lock);
        shmem_test_lock(&other_lock);
    } else if (strcmp(what, "local") == 0) {
        shmem_set_lock(&local);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int i;

    shmem_init();
    if (shmem_my_pe() == 0 && strcmp(what, "others") == 0)
        shmem_set_lock(&lock);
    shmem_barrier_all();
    if (shmem_my_pe() == 1)
        wrong(what);
    for (i = 0; i < 20 && strcmp(what, "right") == 0; i++) {
        shmem_set_lock(&lock);
        // One that others want as well; not to have got it is no mistake.
        if (shmem_test_lock(&other_lock) == 0)
            shmem_clear_lock(&other_lock);
        shmem_clear_lock(&lock);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
