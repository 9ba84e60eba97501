// Every byte count from 0 to 300 at every combination of small misalignments: putmem and getmem
// copy exactly the bytes asked for, and not one byte beside them changes.
// run: np=2,3 std=c99
#include "check.h"

enum { LONGEST = 300, MARGIN = 32, SHIFTS = 9, BUFFER = LONGEST + 2 * MARGIN + SHIFTS };

static unsigned char in_bss[BUFFER];
static int me, npes;

static unsigned char byte_of(int pe, size_t length, size_t index)
{
    return (unsigned char)(1 + (index * 7 + length * 3 + (size_t)pe * 11) % 199);
}

// Checks that `buffer` holds `length` bytes by `pe` from `start` on and 0xee everywhere else.
static void expect(const unsigned char *buffer, size_t start, size_t length, int pe,
                   const char *what)
{
    for (size_t i = 0; i < BUFFER; i++) {
        unsigned char want = i >= start && i < start + length ? byte_of(pe, length, i - start) : 0xee;
        CHECK(buffer[i] == want,
              "%s of %zu bytes to offset %zu: byte %zu: expected 0x%02x, got 0x%02x", what, length,
              start, i, want, buffer[i]);
    }
}

static void put_and_get(unsigned char *object, size_t length, size_t dest_shift,
                        size_t source_shift)
{
    unsigned char source[BUFFER], copy[BUFFER];
    int right = (me + 1) % npes, left = (me + npes - 1) % npes;
    size_t start = MARGIN + dest_shift;

    memset(object, 0xee, BUFFER);
    for (size_t i = 0; i < length; i++)
        source[source_shift + i] = byte_of(me, length, i);
    shmem_barrier_all();
    shmem_putmem(object + start, source + source_shift, length, right);
    shmem_barrier_all();
    expect(object, start, length, left, "shmem_putmem");
    memset(copy, 0xee, sizeof copy);
    shmem_getmem(copy + MARGIN + source_shift, object + start, length, right);
    expect(copy, MARGIN + source_shift, length, me, "shmem_getmem");
    shmem_barrier_all();
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    unsigned char *on_heap = (unsigned char *)shmem_malloc(BUFFER);
    CHECK(on_heap != NULL, "shmem_malloc returned NULL");

    for (size_t length = 0; length <= LONGEST; length++)
        for (size_t k = 0; k < 3; k++) {
            size_t dest_shift = (length + k * 4) % SHIFTS, source_shift = (length / SHIFTS + k * 5) % SHIFTS;
            put_and_get(k % 2 == 0 ? on_heap : in_bss, length, dest_shift, source_shift);
        }
    for (size_t dest_shift = 0; dest_shift < SHIFTS; dest_shift++)
        for (size_t source_shift = 0; source_shift < SHIFTS; source_shift++) {
            put_and_get(on_heap, 23, dest_shift, source_shift);
            put_and_get(in_bss, 131, dest_shift, source_shift);
        }
    shmem_free(on_heap);
    shmem_finalize();
    return 0;
}
