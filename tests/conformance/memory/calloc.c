// shmem_calloc: all bits zero also in reused memory, on every PE, before anybody can write to it;
// NULL when count times size overflows.
// run: np=1,2,3,7 env=SHMEM_SYMMETRIC_SIZE=24M
#include "check.h"

static int me, npes;

static void expect_zero(const unsigned char *at, size_t length, int round)
{
    for (size_t i = 0; i < length; i++)
        CHECK(at[i] == 0, "round %d: byte %zu of %zu is 0x%02x", round, i, length, at[i]);
}

static void overflow(void)
{
    static const size_t pairs[][2] = {
        {SIZE_MAX, SIZE_MAX},
        {SIZE_MAX, 2},
        {2, SIZE_MAX},
        {(size_t)1 << 32, (size_t)1 << 32},
        {((size_t)1 << 61) + 1, 8}, // wraps to 8
        {8, ((size_t)1 << 61) + 1},
        {((size_t)1 << 63) + 8, 2}, // wraps to 16
        {SIZE_MAX / 3 + 2, 3},
    };

    for (size_t i = 0; i < COUNT_OF(pairs); i++) {
        void *got = shmem_calloc(pairs[i][0], pairs[i][1]);
        CHECK(got == NULL, "shmem_calloc(%zu, %zu) returned %p", pairs[i][0], pairs[i][1], got);
    }
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    overflow();
    for (int round = 0; round < 60; round++) {
        // Dirty nearly the whole heap, on other PEs too.
        size_t dirty_size = (size_t)4 << 20;
        unsigned char *dirty[5];
        for (int i = 0; i < 5 && round % 10 == 0; i++) {
            dirty[i] = (unsigned char *)shmem_malloc(dirty_size);
            CHECK(dirty[i] != NULL, "shmem_malloc(4 MiB) returned NULL");
            memset(dirty[i], 0xd7, dirty_size);
        }
        for (int i = 0; i < 5 && round % 10 == 0; i++)
            shmem_free(dirty[(i * 3) % 5]);

        size_t count = (size_t)(1 + round * round * 37), size = (size_t)(1 + round % 13);
        unsigned char *zeroed = (unsigned char *)shmem_calloc(count, size);
        CHECK(zeroed != NULL, "shmem_calloc(%zu, %zu) returned NULL", count, size);
        CHECK((uintptr_t)zeroed % 16 == 0, "shmem_calloc returned %p, unaligned", (void *)zeroed);
        expect_zero(zeroed, count * size, round);
        shmem_barrier_all();
        // Barrier on exit: this put comes after all the zeroing.
        memset(zeroed, 0xff, count * size);
        shmem_free(zeroed);
        zeroed = (unsigned char *)shmem_calloc(size, count);
        CHECK(zeroed != NULL, "shmem_calloc(%zu, %zu) returned NULL", size, count);
        int right = (me + 1) % npes;
        shmem_uchar_p(zeroed + count * size - 1, (unsigned char)(round | 1), right);
        shmem_barrier_all();
        CHECK(zeroed[count * size - 1] == (unsigned char)(round | 1),
              "round %d: a put right behind shmem_calloc was lost", round);
        expect_zero(zeroed, count * size - 1, round);
        memset(zeroed, 0xff, count * size);
        shmem_free(zeroed);
    }
    shmem_finalize();
    return 0;
}
