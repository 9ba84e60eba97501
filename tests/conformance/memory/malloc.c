// shmem_malloc: aligned for any type, the same symmetric address everywhere, no overlap, freed
// memory comes back, through thousands of allocations of all sizes in changing order.
// run: np=1,2,3,7 std=c11 launcher=oshrun
// run: np=2 std=c11 launcher=hydra
#include "check.h"

#include <stdalign.h>

enum { LIVE = 64, STEPS = 1200 };

static struct {
    unsigned char *at;
    size_t size;
    unsigned char mark;
} blocks[LIVE];

static ptrdiff_t theirs;
static unsigned char *first;
static int me, npes;

static uint64_t random_state = 88172645463325252u;

static size_t random_below(size_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (size_t)(random_state % limit);
}

static size_t random_size(void)
{
    size_t magnitude = random_below(18);
    return 1 + random_below((size_t)1 << magnitude);
}

static void expect_mark(int i)
{
    for (size_t byte = 0; byte < blocks[i].size; byte++)
        CHECK(blocks[i].at[byte] == blocks[i].mark,
              "block of %zu bytes: byte %zu changed from 0x%02x to 0x%02x", blocks[i].size, byte,
              blocks[i].mark, blocks[i].at[byte]);
}

// Checks that the address is as far from the first block here as it is on PE 0.
static void expect_same_offset(void *at)
{
    if (me == 0)
        for (int pe = 0; pe < npes; pe++)
            shmem_ptrdiff_p(&theirs, (unsigned char *)at - first, pe);
    shmem_barrier_all();
    CHECK((unsigned char *)at - first == theirs,
          "the block lies at offset %td from the first one, on PE 0 at %td",
          (unsigned char *)at - first, theirs);
    shmem_barrier_all();
}

static void allocate(int i, int step)
{
    size_t size = random_size();
    unsigned char *at = (unsigned char *)shmem_malloc(size);

    CHECK(at != NULL, "shmem_malloc(%zu) returned NULL in step %d", size, step);
    CHECK((uintptr_t)at % alignof(max_align_t) == 0, "shmem_malloc(%zu) returned %p, unaligned",
          size, (void *)at);
    for (int j = 0; j < LIVE; j++)
        CHECK(blocks[j].at == NULL || at + size <= blocks[j].at
                  || blocks[j].at + blocks[j].size <= at,
              "two blocks overlap: %zu bytes at %p, %zu bytes at %p", size, (void *)at,
              blocks[j].size, (void *)blocks[j].at);
    blocks[i].at = at;
    blocks[i].size = size;
    blocks[i].mark = (unsigned char)(step * 3 + me);
    memset(at, blocks[i].mark, size);
    // The neighbour can be reached at both ends of it.
    CHECK_INT(shmem_addr_accessible(at + size - 1, (me + 1) % npes), 1, "accessible");
    if (step % 50 == 0)
        expect_same_offset(at);
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    first = (unsigned char *)shmem_malloc(1);
    CHECK(first != NULL, "shmem_malloc(1) returned NULL");

    for (int step = 0; step < STEPS; step++) {
        int i = (int)random_below(LIVE);
        if (blocks[i].at != NULL) {
            expect_mark(i);
            shmem_free(blocks[i].at);
            blocks[i].at = NULL;
        } else {
            allocate(i, step);
        }
    }
    for (int i = 0; i < LIVE; i++)
        if (blocks[i].at != NULL) {
            expect_mark(i);
            shmem_free(blocks[i].at);
        }

    // Nothing leaks: in total far more than any heap holds.
    for (int i = 0; i < 300; i++) {
        size_t size = (size_t)(40 + i % 7) << 20;
        unsigned char *large = (unsigned char *)shmem_malloc(size);
        CHECK(large != NULL, "shmem_malloc(%zu) returned NULL in round %d", size, i);
        large[0] = large[size - 1] = 1;
        shmem_free(large);
    }
    shmem_free(first);
    shmem_finalize();
    return 0;
}
