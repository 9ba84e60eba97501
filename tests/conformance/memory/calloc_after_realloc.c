// shmem_calloc of memory that a block has grown over: zero, though nobody was ever given it as a
// block of its own. Blocks that grow where they are, and blocks that move.
// run: np=1,2 env=SHMEM_SYMMETRIC_SIZE=16M
#include "check.h"

static void expect_zero(const unsigned char *at, size_t length, const char *what)
{
    for (size_t i = 0; i < length; i++)
        CHECK(at[i] == 0, "%s: byte %zu of %zu is 0x%02x", what, i, length, at[i]);
}

// Grows a block of 64 bytes to `size`, with `behind` bytes in use behind it, and writes to it.
static void grow_and_free(size_t size, size_t behind)
{
    unsigned char *block = (unsigned char *)shmem_malloc(64);
    void *other = behind > 0 ? shmem_malloc(behind) : NULL;
    unsigned char *grown = (unsigned char *)shmem_realloc(block, size);

    CHECK(grown != NULL && (grown == block) == (behind == 0), "realloc to %zu: %p, was %p", size,
          (void *)grown, (void *)block);
    memset(grown, 0xd7, size);
    shmem_free(grown);
    shmem_free(other);
}

int main(void)
{
    // Each larger than all that was in use before it; from 1 MiB on pages are given back.
    static const size_t sizes[] = {200, 5000, 70000, 1500000, 6000000};

    shmem_init();
    for (int i = 0; i < 5; i++) {
        for (size_t behind = 0; behind <= 64; behind += 64) {
            grow_and_free(sizes[i], behind);
            unsigned char *zeroed = (unsigned char *)shmem_calloc(sizes[i] + 1000, 1);
            CHECK(zeroed != NULL, "shmem_calloc(%zu, 1) returned NULL", sizes[i] + 1000);
            expect_zero(zeroed, sizes[i] + 1000, behind > 0 ? "moved" : "grown");
            shmem_free(zeroed);
        }
    }
    shmem_finalize();
    return 0;
}
