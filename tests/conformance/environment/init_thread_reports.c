// An invalid SHMEM_SYMMETRIC_SIZE: shmem_init_thread returns nonzero, or the program ends; never a
// library that goes on with a size of its own.
// run: np=1 env=SHMEM_SYMMETRIC_SIZE=banana expect-exit=nonzero expect-stderr="SHMEM_SYMMETRIC_SIZE"
// run: np=2 env=SHMEM_SYMMETRIC_SIZE=banana expect-exit=nonzero expect-stderr="SHMEM_SYMMETRIC_SIZE"
#include "check.h"

int main(void)
{
    int provided, result = shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);

    if (result == 0) {
        fprintf(stderr, "FAILED: shmem_init_thread returned 0\n");
        shmem_finalize();
        return 0;
    }
    return 3;
}
