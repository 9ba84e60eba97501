// Long puts and gets from and to private memory of every kind, blocking and not, again and again with the same
// buffers and with more of them than the device keeps registered; with default and private contexts. Nothing else of the
// buffers changes, and no limit of the device makes a transfer fail.
// run: np=2
// run: np=2 nodes=several env=SHMEM_DEBUG=1 expect-stderr="registration cache: " refuse-stderr=" 0 hits"
// run: np=2 nodes=several env=FARREACH_REGISTRATION_CACHE=0 env=SHMEM_DEBUG=1 expect-stderr="registration cache: 0 hits, 0 misses"
// run: np=2 nodes=several env=FARREACH_REGISTRATION_CACHE=8m,2 env=SHMEM_DEBUG=1 expect-stderr="2 entries of"
// run: np=2 nodes=several device="--max-pinned 29360128" env=SHMEM_SYMMETRIC_SIZE=16m env=SHMEM_DEBUG=1 expect-stderr=" refusals" refuse-stderr=" 0 refusals"
// run: np=2 env=FARREACH_REGISTRATION_CACHE=some expect-exit=1 nodes=1 expect-stderr="is neither a number of bytes, perhaps with k, m, g or t"
#include "registration/buffers.h"

enum { KINDS = 5, LONGEST = 1 << 20, GUARD = 64, SMALL = 3000 };

static const unsigned char constants[LONGEST + 2 * GUARD] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
static unsigned char target[KINDS][LONGEST];

// Writes a picture that depends on its writer, and on the round.
static void paint(unsigned char *at, size_t bytes, unsigned who, unsigned round)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = picture(i, who, round);
}

static void expect(const unsigned char *at, size_t bytes, unsigned who, unsigned round,
                   const char *what)
{
    for (size_t i = 0; i < bytes; i++)
        if (at[i] != picture(i, who, round))
            FAIL("%s, round %u: byte %zu of %zu is %d, expected %d", what, round, i, bytes, at[i],
                 picture(i, who, round));
}

static void expect_guards(const unsigned char *buffer, size_t bytes)
{
    for (int i = 0; i < GUARD; i++) {
        CHECK_INT(buffer[i], 0xee, "before the buffer");
        CHECK_INT(buffer[GUARD + bytes + i], 0xee, "behind the buffer");
    }
}

static const size_t lengths[] = {LONGEST, 300000, SMALL, LONGEST - 1, 70000, 262145};

static void rounds(shmem_ctx_t ctx, unsigned char *const buffers[KINDS])
{
    int me = shmem_my_pe(), npes = shmem_n_pes(), right = (me + 1) % npes,
        left = (me + npes - 1) % npes;

    for (unsigned round = 0; round < 2 * sizeof lengths / sizeof *lengths; round++) {
        size_t bytes = lengths[round / 2];
        for (int kind = 0; kind < KINDS; kind++) {
            memset(buffers[kind], 0xee, bytes + 2 * GUARD);
            paint(buffers[kind] + GUARD, bytes, (unsigned)(me + kind), round);
        }
        shmem_barrier_all();
        for (int kind = 0; kind < KINDS; kind++) {
            if (round % 2) {
                shmem_ctx_putmem_nbi(ctx, target[kind], buffers[kind] + GUARD, bytes, right);
                continue;
            }
            shmem_ctx_putmem(ctx, target[kind], buffers[kind] + GUARD, bytes, right);
            // Its own again when the call returns.
            memset(buffers[kind] + GUARD, 0x11, bytes);
        }
        shmem_ctx_quiet(ctx);
        shmem_barrier_all();
        for (int kind = 0; kind < KINDS; kind++)
            expect(target[kind], bytes, (unsigned)(left + kind), round, "put");
        for (int kind = 0; kind < KINDS; kind++) {
            if (round % 2)
                shmem_ctx_getmem_nbi(ctx, buffers[kind] + GUARD, target[kind], bytes, right);
            else
                shmem_ctx_getmem(ctx, buffers[kind] + GUARD, target[kind], bytes, right);
        }
        if (round % 2)
            shmem_ctx_quiet(ctx);
        for (int kind = 0; kind < KINDS; kind++) {
            expect(buffers[kind] + GUARD, bytes, (unsigned)(me + kind), round, "get");
            expect_guards(buffers[kind], bytes);
        }
        shmem_barrier_all();
    }
    shmem_ctx_putmem(ctx, target[0], constants + GUARD, LONGEST, right);
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    CHECK(memcmp(target[0], constants + GUARD, LONGEST) == 0, "constants have not arrived");
    shmem_barrier_all();
}

int main(void)
{
    enum { BYTES = LONGEST + 2 * GUARD };
    unsigned char on_stack[BYTES];
    shmem_ctx_t own;

    shmem_init();
    unsigned char *const buffers[KINDS] = {
        on_stack,
        (unsigned char *)malloc(BYTES),
        map(BYTES),
        map(BYTES + 4096) + 123,
        (unsigned char *)calloc(1, BYTES),
    };
    rounds(SHMEM_CTX_DEFAULT, buffers);
    CHECK_INT(shmem_ctx_create(SHMEM_CTX_PRIVATE, &own), 0, "shmem_ctx_create");
    rounds(own, buffers);
    shmem_ctx_destroy(own);
    shmem_finalize();
    return 0;
}
