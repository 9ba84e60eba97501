// A PE that sees the signal sees all the data that was put with it, from 64 bytes to 1 MiB: seen by
// signal_wait_until, by wait_until, by test, and by plain loads alone.
// run: np=2 nodes=1 timeout=40
// run: np=2 nodes=several timeout=40 args=100
#include "check.h"

#include <sched.h>

enum { LARGEST = 1 << 20 };

static uint64_t in_bss[LARGEST / 8];
static uint64_t signal_in_bss;
static uint64_t acknowledged;
// So many times fewer rounds: an unanswered put over the software device takes up to a millisecond.
static uint64_t fewer = 1;

static void put(uint64_t *data, const uint64_t *source, size_t words, uint64_t *sig,
                uint64_t round)
{
    switch (round % 4) {
    case 0:
        shmem_uint64_put_signal(data, source, words, sig, round, SHMEM_SIGNAL_SET, 1);
        break;
    case 1:
        shmem_putmem_signal(data, source, words * 8, sig, 1, SHMEM_SIGNAL_ADD, 1);
        break;
    case 2:
        shmem_put32_signal_nbi(data, source, words * 2, sig, round, SHMEM_SIGNAL_SET, 1);
        break;
    default:
        shmem_ctx_uint64_put_signal_nbi(SHMEM_CTX_DEFAULT, data, source, words, sig, 1,
                                        SHMEM_SIGNAL_ADD, 1);
    }
}

static void wait_for(uint64_t *sig, uint64_t round)
{
    long spins = 0;

    switch (round / 4 % 4) {
    case 0:
        shmem_signal_wait_until(sig, SHMEM_CMP_EQ, round);
        break;
    case 1:
        shmem_uint64_wait_until(sig, SHMEM_CMP_EQ, round);
        break;
    case 2:
        while (!shmem_uint64_test(sig, SHMEM_CMP_EQ, round))
            continue;
        break;
    default:
        while (__atomic_load_n(sig, __ATOMIC_ACQUIRE) != round)
            if (++spins > 10000)
                sched_yield();
    }
}

static void run(uint64_t *data, uint64_t *sig, size_t bytes)
{
    size_t words = bytes / 8;
    uint64_t rounds = bytes <= 4096 ? 4000 : bytes <= 65536 ? 400 : 64;
    rounds = rounds / fewer + 4;
    uint64_t *source = (uint64_t *)malloc(bytes);

    CHECK(source != NULL, "no memory");
    memset(data, 0, bytes);
    *sig = acknowledged = 0;
    shmem_barrier_all();
    for (uint64_t round = 1; round <= rounds; round++) {
        if (shmem_my_pe() == 0) {
            for (size_t i = 0; i < words; i++)
                source[i] = round << 32 | i;
            put(data, source, words, sig, round);
            // Before the source changes again, and the data.
            shmem_quiet();
            shmem_uint64_wait_until(&acknowledged, SHMEM_CMP_EQ, round);
        } else {
            wait_for(sig, round);
            for (size_t k = 0; k < words; k++) {
                size_t i = words - 1 - k;
                uint64_t got = *(volatile uint64_t *)&data[i];
                CHECK(got == (round << 32 | i),
                      "%zu bytes, round %llu: signal seen, word %zu is 0x%llx instead of 0x%llx",
                      bytes, (unsigned long long)round, i, (unsigned long long)got,
                      (unsigned long long)(round << 32 | i));
            }
            shmem_uint64_p(&acknowledged, round, 0);
        }
    }
    shmem_barrier_all();
    free(source);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        fewer = strtoull(argv[1], NULL, 10);
    shmem_init();
    CHECK_INT(shmem_n_pes(), 2, "PEs");
    uint64_t *on_heap = (uint64_t *)shmem_malloc(LARGEST);
    uint64_t *signal_on_heap = (uint64_t *)shmem_malloc(sizeof *signal_on_heap);
    CHECK(on_heap != NULL && signal_on_heap != NULL, "shmem_malloc returned NULL");
    for (size_t bytes = 64; bytes <= LARGEST; bytes *= 2) {
        run(on_heap, &signal_in_bss, bytes);
        run(in_bss, signal_on_heap, bytes);
    }
    shmem_free(signal_on_heap);
    shmem_free(on_heap);
    shmem_finalize();
    return 0;
}
