// Transfers of more bytes than a message of the device has: put and get, blocking and not, from and to symmetric and
// private memory, of lengths around multiples of the longest message; blocks, of which some messages hold few; and more
// reads and atomics at a time than a device answers at a time.
// run: np=2
// run: np=2 nodes=several device="--max-message 65536"
// run: np=2 nodes=several device="--max-message 4096" env=FARREACH_REGISTRATION_CACHE=0
#include "registration/buffers.h"

enum { MESSAGE = 65536, BYTES = 20 * MESSAGE, MANY = 3000 };

static unsigned char target[BYTES + 2], source[BYTES + 2], result[BYTES + 2];
static long counter, numbers[MANY];

static void paint(unsigned char *at, size_t bytes, unsigned round)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = picture(i, (unsigned)shmem_my_pe(), round);
}

static void expect(const unsigned char *at, size_t bytes, int who, unsigned round, const char *what)
{
    for (size_t i = 0; i < bytes; i++)
        if (at[i] != picture(i, (unsigned)who, round))
            FAIL("%s of %zu bytes: byte %zu is %d, expected %d", what, bytes, i, at[i],
                 picture(i, (unsigned)who, round));
    CHECK_INT(at[bytes], 0, "the byte behind");
}

static void move(unsigned char *from, unsigned char *to, size_t bytes, unsigned round)
{
    int me = shmem_my_pe(), npes = shmem_n_pes(), right = (me + 1) % npes,
        left = (me + npes - 1) % npes;

    memset(target, 0, bytes + 1);
    memset(to, 0, bytes + 1);
    paint(from, bytes, round);
    shmem_barrier_all();
    if (round % 2)
        shmem_putmem_nbi(target, from, bytes, right);
    else
        shmem_putmem(target, from, bytes, right);
    shmem_barrier_all();
    expect(target, bytes, left, round, "put");
    if (round % 2) {
        shmem_getmem_nbi(to, target, bytes, right);
        shmem_quiet();
    } else {
        shmem_getmem(to, target, bytes, right);
    }
    expect(to, bytes, me, round, "get");
    shmem_barrier_all();
}

// Blocks with gaps at one side: the target of put and the source of get have none.
static void blocks(size_t bytes, size_t count)
{
    int me = shmem_my_pe(), npes = shmem_n_pes(), right = (me + 1) % npes,
        left = (me + npes - 1) % npes;
    size_t stride = bytes + 3, all = bytes * count;

    memset(target, 0, sizeof target);
    memset(result, 0, sizeof result);
    for (size_t block = 0; block < count; block++)
        for (size_t i = 0; i < bytes; i++)
            source[block * stride + i] = picture(block * bytes + i, (unsigned)me, 99);
    shmem_barrier_all();
    shmem_uint8_ibput(target, source, (ptrdiff_t)bytes, (ptrdiff_t)stride, bytes, count, right);
    memset(source, 0, sizeof source);
    shmem_barrier_all();
    expect(target, all, left, 99, "ibput");
    shmem_uint8_ibget(result, target, (ptrdiff_t)stride, (ptrdiff_t)bytes, bytes, count, right);
    for (size_t block = 0; block < count; block++) {
        for (size_t i = 0; i < bytes; i++)
            CHECK_INT(result[block * stride + i], picture(block * bytes + i, (unsigned)me, 99),
                      "ibget");
        CHECK_INT(result[block * stride + bytes], 0, "a gap");
    }
    shmem_barrier_all();
}

static void many(void)
{
    static long there[MANY], before[MANY];
    int me = shmem_my_pe(), npes = shmem_n_pes(), right = (me + 1) % npes;

    for (int i = 0; i < MANY; i++)
        numbers[i] = 10L * i + me;
    shmem_barrier_all();
    for (int i = 0; i < MANY; i++) {
        shmem_long_get_nbi(&there[i], &numbers[i], 1, right);
        shmem_long_atomic_fetch_add_nbi(&before[i], &counter, 1, right);
    }
    shmem_quiet();
    for (int i = 0; i < MANY; i++) {
        CHECK_INT(there[i], 10L * i + right, "get_nbi of many");
        CHECK_INT(before[i], i, "fetch_add_nbi of many");
    }
    shmem_barrier_all();
    CHECK_INT(counter, MANY, "the counter");
}

int main(void)
{
    static const size_t lengths[] = {MESSAGE - 1,     MESSAGE,         MESSAGE + 1,
                                     4 * MESSAGE + 3, 8 * MESSAGE + 1, BYTES};

    shmem_init();
    unsigned char *private_source = map(BYTES + 2), *private_result = map(BYTES + 2);
    for (unsigned round = 0; round < 2 * sizeof lengths / sizeof *lengths; round++) {
        move(source, result, lengths[round / 2], round);
        move(private_source, private_result, lengths[round / 2], round);
    }
    blocks(700, 500);
    blocks(5000, 70);
    blocks(MESSAGE - 1, 9);
    many();
    shmem_finalize();
    return 0;
}
