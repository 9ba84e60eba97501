// shmem_realloc keeps the content up to the lesser size, growing, shrinking, in place or moved, on
// every PE; NULL and 0 as pointer and size mean malloc and free; hints are accepted before it.
// run: np=1,2,3,7 env=SHMEM_SYMMETRIC_SIZE=64M
#include "check.h"

static int me, npes;

static unsigned char byte_of(int pe, size_t i)
{
    return (unsigned char)((i * 7 + (i >> 8)) ^ (size_t)(pe * 37 + 5));
}

static void fill(unsigned char *at, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        at[i] = byte_of(me, i);
}

static void expect(const unsigned char *at, size_t length, const char *what)
{
    for (size_t i = 0; i < length; i++)
        CHECK(at[i] == byte_of(me, i), "%s: byte %zu of %zu: expected 0x%02x, got 0x%02x", what, i,
              length, byte_of(me, i), at[i]);
}

// Checks that the new block is symmetric: the neighbour's can be read through it.
static void expect_symmetric(const unsigned char *at, size_t length)
{
    int right = (me + 1) % npes;

    shmem_barrier_all();
    CHECK(shmem_uchar_g(at, right) == byte_of(right, 0)
              && shmem_uchar_g(at + length - 1, right) == byte_of(right, length - 1),
          "%zu bytes at %p do not hold on PE %d what it has stored", length, (const void *)at,
          right);
    shmem_barrier_all();
}

// Blocks whose sizes are multiples of every unit of allocation, grown past blocks that lie in the way
// on both sides: nothing of their last bytes may be lost.
static void grow_exactly(void)
{
    for (size_t unit = 16; unit <= 65536; unit *= 4)
        for (size_t k = 1; k <= 5; k++) {
            unsigned char *block = (unsigned char *)shmem_malloc(unit * k);
            void *in_the_way[4];
            for (int i = 0; i < 4; i++)
                in_the_way[i] = shmem_malloc(unit);
            CHECK(block != NULL, "no memory");
            fill(block, 0, unit * k);
            block = (unsigned char *)shmem_realloc(block, unit * (2 * k + 1));
            CHECK(block != NULL, "shmem_realloc returned NULL");
            expect(block, unit * k, "shmem_realloc of a block with others in the way");
            shmem_free(block);
            for (int i = 0; i < 4; i++)
                shmem_free(in_the_way[i]);
        }
}

int main(void)
{
    static const size_t sizes[] = {1,     16,      17,    4000,    4096,   100,     5000000,
                                   30,    70000,   69999, 1048576, 524288, 1048577, 3,
                                   65536, 8388608, 8,     15,      16,     31};

    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();

    // A chain of sizes; in every second round a neighbour behind the block stops growth in place.
    for (int round = 0; round < 4; round++) {
        size_t old_size = 10;
        unsigned char *block = (unsigned char *)(round < 2
                                                     ? shmem_realloc(NULL, old_size)
                                                     : shmem_malloc_with_hints(
                                                           old_size, SHMEM_MALLOC_ATOMICS_REMOTE));
        void *neighbour = round % 2 ? shmem_malloc(64) : NULL;
        CHECK(block != NULL, "no memory");
        fill(block, 0, old_size);
        for (size_t s = 0; s < COUNT_OF(sizes); s++) {
            size_t size = sizes[s], kept = size < old_size ? size : old_size;
            block = (unsigned char *)shmem_realloc(block, size);
            CHECK(block != NULL, "shmem_realloc to %zu returned NULL", size);
            CHECK((uintptr_t)block % 16 == 0, "shmem_realloc returned %p", (void *)block);
            expect(block, kept, "shmem_realloc");
            fill(block, kept, size);
            expect_symmetric(block, size);
            old_size = size;
        }
        shmem_free(neighbour);
        void *none = shmem_realloc(block, 0);
        CHECK(none == NULL, "shmem_realloc(block, 0) returned %p", none);
    }

    grow_exactly();

    // The space that realloc(block, 0) gave back is there again.
    for (int i = 0; i < 40; i++) {
        void *block = shmem_malloc((size_t)48 << 20);
        CHECK(block != NULL, "48 MiB of 64 MiB are not free in round %d", i);
        CHECK(shmem_realloc(block, 0) == NULL, "shmem_realloc(block, 0) is not NULL");
    }

    // A neighbour's last put, without any quiet, moves along: realloc completes it.
    unsigned char *block = (unsigned char *)shmem_malloc(1000);
    CHECK(block != NULL, "no memory");
    unsigned char source[1000];
    int right = (me + 1) % npes;
    for (size_t i = 0; i < sizeof source; i++)
        source[i] = byte_of(right, i);
    shmem_putmem_nbi(block, source, sizeof source, right);
    block = (unsigned char *)shmem_realloc(block, 2000000);
    CHECK(block != NULL, "shmem_realloc returned NULL");
    expect(block, 1000, "put right before shmem_realloc");
    shmem_free(block);
    shmem_finalize();
    return 0;
}
