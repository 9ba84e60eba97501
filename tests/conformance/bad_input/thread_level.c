// A thread level that does not exist: shmem_init_thread says so and returns nonzero.
// run: np=1,2 expect-stderr="farreach: " expect-stderr="17"
#include "check.h"

int main(void)
{
    int provided = -5;

    if (shmem_init_thread(17, &provided) == 0) {
        fprintf(stderr, "FAILED: shmem_init_thread(17) returned 0\n");
        return 1;
    }
    return 0;
}
