// A PE that sees a write behind a fence sees the writes before it: streams of data and flag
// without any handshake, over puts of many sizes, atomics and both forms of fence.
// run: np=2 std=c99
#include "check.h"

#include <sched.h>

enum { LONGEST = 1 << 17, MARGIN = 4, ROUNDS = 3000 };

static uint64_t data_in_bss[LONGEST + MARGIN];
static long flag = 1;

static const size_t LENGTHS[] = {1, 2, 7, 8, 32, 64, 257, 300, 511, 1027, 4096, 32768, LONGEST};

// Writes on PE 0, round after round, the same number in all words, then behind a fence in the flag.
static void write_stream(uint64_t *data, size_t length, long rounds, int how)
{
    uint64_t *source = (uint64_t *)malloc(length * sizeof *source);

    CHECK(source != NULL, "no memory");
    for (long round = 1; round <= rounds; round++) {
        for (size_t i = 0; i < length; i++)
            source[i] = (uint64_t)round;
        if (how == 0)
            shmem_uint64_put(data, source, length, 1);
        else if (how == 1)
            shmem_uint64_put_nbi(data, source, length, 1);
        else
            for (size_t i = 0; i < length; i++)
                shmem_uint64_atomic_set(&data[i], (uint64_t)round, 1);
        if (how == 1)
            shmem_ctx_fence(SHMEM_CTX_DEFAULT);
        else
            shmem_fence();
        if (round % 2)
            shmem_long_p(&flag, round, 1);
        else
            shmem_long_atomic_set(&flag, round, 1);
        // The source of a nonblocking put may not change before it is complete.
        if (how == 1)
            shmem_quiet();
    }
    free(source);
}

// Checks on PE 1 that at any time all words are at least as new as the flag was before.
static void read_stream(const uint64_t *data, size_t length, long rounds, int how)
{
    long seen = 0, now, spins = 0;

    while (seen < rounds) {
        // By the library or by plain loads, which look more often.
        if (rounds % 2 == 0)
            shmem_long_wait_until(&flag, SHMEM_CMP_GT, seen);
        while ((now = __atomic_load_n(&flag, __ATOMIC_ACQUIRE)) == seen)
            if (++spins % 100000 == 0)
                sched_yield();
        seen = now;
        // The last words first, and of long ones the last only: the sooner, the sharper.
        for (size_t k = 0; k < length && k < 600; k++) {
            size_t i = length - 1 - k;
            uint64_t got = *(volatile const uint64_t *)&data[i];
            CHECK(got >= (uint64_t)seen,
                  "stream of kind %d, %zu words: the flag said %ld, word %zu still held %llu", how,
                  length, seen, i, (unsigned long long)got);
        }
    }
}

static void stream(uint64_t *data, size_t length, long rounds, int how)
{
    memset(data, 0, length * sizeof *data);
    flag = 0;
    shmem_barrier_all();
    if (shmem_my_pe() == 0)
        write_stream(data, length, rounds, how);
    else if (shmem_my_pe() == 1)
        read_stream(data, length, rounds, how);
    shmem_barrier_all();
}

int main(void)
{
    shmem_init();
    uint64_t *on_heap = (uint64_t *)shmem_malloc(sizeof data_in_bss);
    CHECK(on_heap != NULL, "shmem_malloc returned NULL");
    for (size_t l = 0; l < COUNT_OF(LENGTHS); l++) {
        long rounds = LENGTHS[l] >= 32768 ? 60 : LENGTHS[l] > 1027 ? 600 : ROUNDS;
        stream(on_heap + l % 3, LENGTHS[l] - l % 3 * (LENGTHS[l] > 64), rounds, 0);
        stream(on_heap, LENGTHS[l], rounds + 1, 0);
        stream(data_in_bss, LENGTHS[l], rounds + 1, 1);
        if (LENGTHS[l] <= 64)
            stream(on_heap, LENGTHS[l], rounds, 2);
    }
    // Fences without a context or with an invalid one do nothing.
    shmem_ctx_fence(SHMEM_CTX_INVALID);
    shmem_free(on_heap);
    shmem_finalize();
    return 0;
}
