// Large transfers, around the lengths at which copies change their method and far above them:
// blocking and nonblocking, misaligned, between heap and static data, with guards on both sides.
// run: np=1,2,3 std=c99
#include "check.h"

enum { LARGEST = 24 * 1024 * 1024 + 5, GUARD = 64, SHIFTS = 5 };

static unsigned char in_bss[LARGEST + 2 * GUARD + SHIFTS];

static const size_t LENGTHS[] = {
    1023,   1024,    1025,        4095,        4096,           4097,       16383,
    32767,  65536,   65537,       131071,      262143,         262144,     262145,
    524288, 1048575, 1048576 + 7, 2097152 + 1, 4194304 - 1024, 8388608 + 63, LARGEST,
};

static unsigned char byte_of(int pe, size_t length, size_t index)
{
    return (unsigned char)((index ^ (index >> 8) ^ (index >> 16)) + length + (size_t)pe * 13);
}

static void fill(unsigned char *at, size_t length, int pe)
{
    for (size_t i = 0; i < length; i++)
        at[i] = byte_of(pe, length, i);
}

static void expect(const unsigned char *at, size_t length, int pe, const char *what)
{
    for (size_t i = 0; i < length; i++)
        if (at[i] != byte_of(pe, length, i))
            FAIL("%s of %zu bytes from PE %d: byte %zu: expected 0x%02x, got 0x%02x", what, length,
                 pe, i, byte_of(pe, length, i), at[i]);
    for (size_t i = 1; i <= GUARD; i++)
        CHECK(at[-(ptrdiff_t)i] == 0x77 && at[length - 1 + i] == 0x77,
              "%s of %zu bytes: a byte %zu beside the target changed", what, length, i);
}

static void guard(unsigned char *at, size_t length)
{
    memset(at - GUARD, 0x77, GUARD);
    memset(at + length, 0x77, GUARD);
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), right = (me + 1) % npes;
    int left = (me + npes - 1) % npes;
    unsigned char *on_heap = (unsigned char *)shmem_malloc(sizeof in_bss);
    unsigned char *local = (unsigned char *)malloc(sizeof in_bss);
    CHECK(on_heap != NULL && local != NULL, "no memory");

    for (size_t l = 0; l < COUNT_OF(LENGTHS); l++) {
        size_t length = LENGTHS[l] - (l % 3 == 2 ? 3 : 0);
        unsigned char *target = (l % 2 == 0 ? on_heap : in_bss) + GUARD + l % SHIFTS;
        unsigned char *other = (l % 2 == 0 ? in_bss : on_heap) + GUARD + l % SHIFTS;

        // From private memory to one symmetric object and back.
        guard(target, length);
        fill(local + GUARD, length, me);
        shmem_barrier_all();
        shmem_putmem(target, local + GUARD, length, right);
        memset(local, 0x77, length + 2 * GUARD);
        shmem_barrier_all();
        expect(target, length, left, "shmem_putmem");
        shmem_getmem(local + GUARD, target, length, right);
        expect(local + GUARD, length, me, "shmem_getmem");
        shmem_barrier_all();

        // From one symmetric object to the other, nonblocking.
        guard(target, length);
        guard(other, length);
        fill(other, length, me);
        memset(target, 0, length);
        shmem_barrier_all();
        shmem_putmem_nbi(target, other, length, right);
        shmem_barrier_all();
        expect(target, length, left, "shmem_putmem_nbi");
        memset(other, 0, length);
        shmem_getmem_nbi(other, target, length, right);
        shmem_quiet();
        expect(other, length, me, "shmem_getmem_nbi");
        shmem_barrier_all();
    }
    free(local);
    shmem_free(on_heap);
    shmem_finalize();
    return 0;
}
