// When the heap is full all PEs get NULL at the same call, and all of it comes back by free. A
// block that can never fit is refused at once, with nothing lost. The first refusal is told of.
// run: np=1,2,3 env=SHMEM_SYMMETRIC_SIZE=16M expect-stderr="PE 0: shmem_malloc: no room for 18446744073709551615 bytes in the symmetric heap of 16777216 (SHMEM_SYMMETRIC_SIZE)"
#include "check.h"

enum { HEAP = 16 * 1024 * 1024, BLOCK = 65536, MOST = 4096 };

static void *blocks[MOST];
static int counts[64];

// Allocates until NULL; returns how many blocks there were, the same on all PEs.
static int fill(void)
{
    int n = 0, me = shmem_my_pe(), npes = shmem_n_pes();

    while (n < MOST && (blocks[n] = shmem_malloc(BLOCK)) != NULL) {
        memset(blocks[n], n, BLOCK);
        n++;
    }
    CHECK(n < MOST, "a heap of 16 MiB gave %d blocks of 64 KiB", n);
    for (int pe = 0; pe < npes; pe++)
        shmem_int_p(&counts[me], n, pe);
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++)
        CHECK(counts[pe] == n, "PE %d got %d blocks, PE %d %d", pe, counts[pe], me, n);
    shmem_barrier_all();
    return n;
}

static void expect_null(void *got, const char *what)
{
    CHECK(got == NULL, "%s returned %p instead of NULL", what, got);
}

static void impossible(void)
{
    unsigned char *block = (unsigned char *)shmem_malloc(1000);

    CHECK(block != NULL, "shmem_malloc(1000) returned NULL");
    memset(block, 0x42, 1000);
    expect_null(shmem_malloc(SIZE_MAX), "shmem_malloc(SIZE_MAX)");
    expect_null(shmem_malloc(SIZE_MAX - 15), "shmem_malloc(SIZE_MAX - 15)");
    expect_null(shmem_malloc(SIZE_MAX - 4095), "shmem_malloc(SIZE_MAX - 4095)");
    expect_null(shmem_malloc((size_t)PTRDIFF_MAX + 1), "shmem_malloc(PTRDIFF_MAX + 1)");
    expect_null(shmem_malloc(PTRDIFF_MAX), "shmem_malloc(PTRDIFF_MAX)");
    expect_null(shmem_malloc((size_t)1 << 40), "shmem_malloc(1 TiB)");
    expect_null(shmem_malloc_with_hints(SIZE_MAX - 7, SHMEM_MALLOC_ATOMICS_REMOTE),
                "shmem_malloc_with_hints(SIZE_MAX - 7)");
    expect_null(shmem_align(4096, SIZE_MAX - 100), "shmem_align(4096, SIZE_MAX - 100)");
    expect_null(shmem_align((size_t)1 << 40, 8), "shmem_align(1 TiB, 8)");
    expect_null(shmem_align((size_t)1 << 63, 8), "shmem_align(1 << 63, 8)");
    expect_null(shmem_calloc(1, SIZE_MAX), "shmem_calloc(1, SIZE_MAX)");
    expect_null(shmem_realloc(block, SIZE_MAX - 8), "shmem_realloc(block, SIZE_MAX - 8)");
    expect_null(shmem_realloc(block, (size_t)1 << 40), "shmem_realloc(block, 1 TiB)");
    for (int i = 0; i < 1000; i++)
        CHECK(block[i] == 0x42, "a realloc that failed changed byte %d of the block", i);
    shmem_free(block);
}

int main(void)
{
    shmem_init();
    impossible();
    int first = fill();
    CHECK(first >= HEAP / BLOCK * 15 / 16, "a heap of 16 MiB gave only %d blocks of 64 KiB", first);
    expect_null(shmem_malloc(BLOCK), "shmem_malloc in a full heap");
    expect_null(shmem_calloc(BLOCK, 1), "shmem_calloc in a full heap");
    expect_null(shmem_align(64, BLOCK), "shmem_align in a full heap");
    expect_null(shmem_realloc(blocks[0], 2 * BLOCK), "shmem_realloc in a full heap");
    // Freed in an order that leaves holes first; then one block of nearly everything fits.
    for (int i = 0; i < first; i += 2)
        shmem_free(blocks[i]);
    for (int i = 1; i < first; i += 2) {
        for (int byte = 0; byte < BLOCK; byte += 511)
            CHECK(((unsigned char *)blocks[i])[byte] == (unsigned char)i, "block %d changed", i);
        shmem_free(blocks[i]);
    }
    void *large = shmem_malloc((size_t)HEAP / 16 * 15);
    CHECK(large != NULL, "15 of 16 MiB do not fit after all has been freed");
    shmem_free(large);
    CHECK_INT(fill(), first, "blocks in the second filling");
    for (int i = first - 1; i >= 0; i--)
        shmem_free(blocks[i]);
    impossible();
    shmem_finalize();
    return 0;
}
