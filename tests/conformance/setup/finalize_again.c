// One shmem_finalize more than there were initializations is told of, and does nothing: the program
// goes on, and its exit status is its own.
// run: np=1,3 expect-stderr="PE 0: shmem_finalize was called after shmem_finalize, and does nothing"
// run: np=2 launcher=hydra expect-stderr="PE 1: shmem_finalize was called after shmem_finalize"
#include "check.h"

int main(void)
{
    int is_initialized = -1;

    shmem_init();
    shmem_finalize();
    shmem_finalize();
    shmem_query_initialized(&is_initialized);
    CHECK_INT(is_initialized, 0, "initialized behind shmem_finalize");
    // A session of its own.
    shmem_init();
    CHECK(shmem_my_pe() < shmem_n_pes(), "no PE");
    shmem_finalize();
    return 0;
}
