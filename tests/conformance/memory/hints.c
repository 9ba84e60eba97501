// shmem_malloc_with_hints takes every combination of hints; the memory serves for everything.
// run: np=1,2,3
#include "check.h"

struct cell {
    long counter;
    uint64_t signal;
    int plain;
};

int main(void)
{
    static const long hints[] = {0, SHMEM_MALLOC_ATOMICS_REMOTE, SHMEM_MALLOC_SIGNAL_REMOTE,
                                 SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE};

    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), right = (me + 1) % npes;
    for (size_t h = 0; h < COUNT_OF(hints); h++)
        for (size_t size = sizeof(struct cell); size < ((size_t)1 << 20); size *= 5) {
            struct cell *cell = (struct cell *)shmem_malloc_with_hints(size, hints[h]);
            CHECK(cell != NULL, "shmem_malloc_with_hints(%zu, %ld) returned NULL", size, hints[h]);
            CHECK((uintptr_t)cell % 16 == 0, "shmem_malloc_with_hints(%zu, %ld) returned %p", size,
                  hints[h], (void *)cell);
            memset(cell, 0, size);
            shmem_barrier_all();
            shmem_long_atomic_add(&cell->counter, me + 1, 0);
            shmem_int_put_signal(&cell->plain, &me, 1, &cell->signal, 3, SHMEM_SIGNAL_ADD, right);
            shmem_signal_wait_until(&cell->signal, SHMEM_CMP_EQ, 3);
            CHECK_INT(cell->plain, (me + npes - 1) % npes, "put_signal to hinted memory");
            shmem_barrier_all();
            CHECK_INT(shmem_long_atomic_fetch(&cell->counter, 0), (long)npes * (npes + 1) / 2,
                      "atomic_add to hinted memory");
            shmem_free(cell);
        }
    shmem_finalize();
    return 0;
}
