// An aligned element of 1, 2, 4 or 8 bytes is never seen half written: one PE writes elements whose
// bytes are all the same, by p and by put of 1 to 65536 elements at all alignments; the other reads
// them by plain loads, by g and by get. A timer interrupts the writer at short intervals, for a copy
// may stop anywhere then.
// run: np=2 nodes=1 timeout=40
#define _GNU_SOURCE
#include "check.h"

#include <signal.h>
#include <sys/time.h>

enum { MOST = 65536, SHIFTS = 9, BYTES = (MOST + SHIFTS) * 8 };

static uint64_t in_bss[BYTES / 8];
static long stop;

static const size_t COUNTS[] = {1, 2, 3, 5, 8, 13, 31, 64, 100, 257, 1024, 4099, 32771, MOST};

static void put_element(unsigned char *at, size_t size, int byte)
{
    uint64_t value = (uint64_t)byte * UINT64_C(0x101010101010101);

    switch (size) {
    case 1:
        shmem_uint8_p((uint8_t *)at, (uint8_t)value, 1);
        break;
    case 2:
        shmem_uint16_p((uint16_t *)(void *)at, (uint16_t)value, 1);
        break;
    case 4:
        shmem_uint32_p((uint32_t *)(void *)at, (uint32_t)value, 1);
        break;
    default:
        shmem_uint64_p((uint64_t *)(void *)at, value, 1);
    }
}

static void write_once(unsigned char *at, size_t size, size_t count, int round)
{
    static uint64_t source_words[BYTES / 8];
    // The source is as misaligned as the target in one round, otherwise in the next.
    unsigned char *source = (unsigned char *)source_words + (round / 2 % 5) * (int)size;
    int byte = round % 2 ? 0xff : round % 251;

    memset(source, byte, count * size);
    // A single element by p in two rounds of four, by put in the other two.
    if (count == 1 && round & 2) {
        put_element(at, size, byte);
        return;
    }
    switch (size) {
    case 1:
        shmem_uint8_put((uint8_t *)at, (uint8_t *)source, count, 1);
        break;
    case 2:
        shmem_uint16_put((uint16_t *)(void *)at, (uint16_t *)(void *)source, count, 1);
        break;
    case 4:
        shmem_put32(at, source, count, 1);
        break;
    default:
        shmem_uint64_put_nbi((uint64_t *)(void *)at, (uint64_t *)(void *)source, count, 1);
        shmem_quiet();
    }
}

// Reads one element as a whole: volatile, so that the compiler does not split it.
static uint64_t element(const unsigned char *at, size_t size, size_t i)
{
    switch (size) {
    case 1:
        return *(const volatile uint8_t *)(at + i);
    case 2:
        return *(const volatile uint16_t *)(at + i * 2);
    case 4:
        return *(const volatile uint32_t *)(at + i * 4);
    default:
        return *(const volatile uint64_t *)(at + i * 8);
    }
}

static void expect_whole(uint64_t value, size_t size, size_t count, size_t i, const char *how)
{
    uint64_t want = 0;

    for (size_t byte = 0; byte < size; byte++)
        want = want << 8 | (value & 0xff);
    CHECK(value == want, "element %zu of %zu, %zu bytes each, read by %s, is torn: 0x%llx", i,
          count, size, how, (unsigned long long)value);
}

static uint64_t by_g(const unsigned char *at, size_t size, int pe)
{
    switch (size) {
    case 1:
        return shmem_uint8_g((const uint8_t *)at, pe);
    case 2:
        return shmem_uint16_g((const uint16_t *)(const void *)at, pe);
    case 4:
        return shmem_uint32_g((const uint32_t *)(const void *)at, pe);
    default:
        return shmem_uint64_g((const uint64_t *)(const void *)at, pe);
    }
}

// Reads PE 1's own memory by loads and, by get from itself, through the library's copies.
static void read_once(const unsigned char *at, size_t size, size_t count)
{
    static uint64_t copy_words[BYTES / 8];
    static size_t turn;
    unsigned char *copy = (unsigned char *)copy_words + turn % 7 * size;

    // Copies change their step at the ends: those are watched closely, then all is read once.
    for (size_t look = 0; look < 64; look++) {
        size_t i = look / 2 % 4 < count ? look / 2 % 4 : 0;
        i = look % 2 ? i : count - 1 - i;
        expect_whole(element(at, size, i), size, count, i, "load");
    }
    for (size_t i = 0; i < count; i++)
        expect_whole(element(at, size, i), size, count, i, "load");
    for (size_t i = turn++ % 16; i < count; i += 1 + count / 64)
        expect_whole(by_g(at + i * size, size, 1), size, count, i, "g");
    // Short gets are as likely to be caught in the middle as long ones, if there are enough of them.
    for (int repeat = count * size <= 64 ? 100 : 1; repeat > 0; repeat--) {
        if (size == 8)
            shmem_uint64_get((uint64_t *)(void *)copy, (const uint64_t *)(const void *)at, count,
                             1);
        else if (size == 4)
            shmem_get32(copy, at, count, 1);
        else if (size == 2)
            shmem_uint16_get((uint16_t *)(void *)copy, (const uint16_t *)(const void *)at, count,
                             1);
        else
            shmem_uint8_get(copy, at, count, 1);
        for (size_t i = 0; i < count; i++)
            expect_whole(element(copy, size, i), size, count, i, "get");
    }
}

static void run(unsigned char *object, size_t size, size_t count, size_t shift)
{
    unsigned char *at = object + shift * size;
    size_t bytes = count * size;
    int rounds = count <= 3         ? 2000000
                 : bytes <= 64    ? 200000
                 : bytes <= 512   ? 20000
                 : bytes <= 16384 ? 3000
                                  : 100;

    memset(object, 0, BYTES);
    stop = 0;
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        for (int round = 0; round < rounds; round++)
            write_once(at, size, count, round);
        shmem_quiet();
        shmem_long_p(&stop, 1, 1);
    } else {
        while (!shmem_long_test(&stop, SHMEM_CMP_EQ, 1))
            read_once(at, size, count);
    }
    shmem_barrier_all();
}

static void tick(int signal)
{
    (void)signal;
}

static void interrupt_at_short_intervals(void)
{
    const struct itimerval interval = {{0, 40}, {0, 40}};
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = tick;
    action.sa_flags = SA_RESTART;
    CHECK_INT(sigaction(SIGALRM, &action, NULL), 0, "sigaction");
    CHECK_INT(setitimer(ITIMER_REAL, &interval, NULL), 0, "setitimer");
}

int main(void)
{
    shmem_init();
    CHECK_INT(shmem_n_pes(), 2, "PEs");
    if (shmem_my_pe() == 0)
        interrupt_at_short_intervals();
    unsigned char *on_heap = (unsigned char *)shmem_malloc(BYTES);
    CHECK(on_heap != NULL, "shmem_malloc returned NULL");
    for (size_t size = 1; size <= 8; size *= 2)
        for (size_t c = 0; c < COUNT_OF(COUNTS); c++) {
            run(on_heap, size, COUNTS[c], (c * 5 + size) % SHIFTS);
            run((unsigned char *)in_bss, size, COUNTS[c], (c * 3 + 1) % SHIFTS);
        }
    shmem_free(on_heap);
    shmem_finalize();
    return 0;
}
