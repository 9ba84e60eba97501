// shmem_align for every alignment from 8 bytes to 4 MiB: aligned on every PE, usable to the last
// byte, freed like any other block.
// run: np=1,2,3 env=SHMEM_SYMMETRIC_SIZE=64M
#include "check.h"

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), right = (me + 1) % npes;

    for (int round = 0; round < 3; round++)
        for (size_t alignment = sizeof(void *); alignment <= (size_t)4 << 20; alignment *= 2) {
            static const size_t sizes[] = {1, 24, 4096, 100001};
            unsigned char *blocks[COUNT_OF(sizes)];
            void *offset = shmem_malloc(8 + (size_t)round * 40);
            CHECK(offset != NULL, "shmem_malloc returned NULL");
            for (size_t s = 0; s < COUNT_OF(sizes); s++) {
                blocks[s] = (unsigned char *)shmem_align(alignment, sizes[s]);
                CHECK(blocks[s] != NULL, "shmem_align(%zu, %zu) returned NULL", alignment,
                      sizes[s]);
                CHECK((uintptr_t)blocks[s] % alignment == 0, "shmem_align(%zu, %zu) returned %p",
                      alignment, sizes[s], (void *)blocks[s]);
                shmem_uchar_p(blocks[s], (unsigned char)(me + 1), right);
                if (sizes[s] > 1)
                    shmem_uchar_p(blocks[s] + sizes[s] - 1, (unsigned char)(me + 2), right);
            }
            shmem_barrier_all();
            for (size_t s = 0; s < COUNT_OF(sizes); s++) {
                int left = (me + npes - 1) % npes;
                CHECK_INT(blocks[s][0], left + 1, "first byte of an aligned block");
                CHECK_INT(blocks[s][sizes[s] - 1], sizes[s] > 1 ? left + 2 : left + 1,
                          "last byte of an aligned block");
            }
            for (size_t s = 0; s < COUNT_OF(sizes); s++)
                shmem_free(blocks[(s + (size_t)round) % COUNT_OF(sizes)]);
            shmem_free(offset);
        }
    // All of it has come back.
    void *large = shmem_malloc((size_t)56 << 20);
    CHECK(large != NULL, "56 of 64 MiB are not free in the end");
    shmem_free(large);
    shmem_finalize();
    return 0;
}
