// Type-generic calls as programs write them: arrays and pointer arithmetic, literals of another
// type, const and non-const sources, nested calls, conditional contexts. Compiled as C11 and C++.
#include "check.h"

static long counter;
static long long wide[4];
static short small_ints[4] = {1, 2, 3, 4};
static char text[8];
static unsigned char bytes[4];
static double reals[4];
static float floats[2];
static uint64_t signal_word;
static unsigned int bits;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), right = (me + 1) % npes;
    shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
    const short constants[4] = {5, 6, 7, 8};
    short writable[4] = {9, 10, 11, 12};

    // Literals convert to the type of the object.
    shmem_p(&counter, 5, right);
    shmem_p(ctx, wide + 1, 'a', right);
    shmem_p(&reals[2], 1, right);
    shmem_p(text, 'x', right);
    shmem_p(npes > 100 ? SHMEM_CTX_INVALID : ctx, &floats[1], 2.5, right);
    shmem_barrier_all();
    CHECK_INT(counter, 5, "long set from an int literal");
    CHECK_INT(wide[1], 'a', "long long set from a character literal");
    CHECK(reals[2] == 1.0, "double set from an int literal: got %g", reals[2]);
    CHECK_INT(text[0], 'x', "char");
    CHECK(floats[1] == 2.5f, "float set from a double literal: got %g", (double)floats[1]);
    shmem_barrier_all();

    // Sources with and without const, arrays that decay.
    shmem_put(small_ints, constants, 2, right);
    shmem_put(ctx, small_ints + 2, writable, sizeof writable / sizeof writable[0] / 2, right);
    shmem_barrier_all();
    CHECK_INT(small_ints[1], 6, "put from a const array");
    CHECK_INT(small_ints[3], 10, "put from a non-const array");
    const short *read_only = small_ints;
    short copy[4] = {0, 0, 0, 0};
    shmem_get(copy, read_only, 4, right);
    CHECK_INT(copy[0], 5, "get through a pointer to const");
    CHECK_INT(shmem_g(read_only + 3, right), 10, "g through a pointer to const");
    CHECK_INT(shmem_g(ctx, &small_ints[2], right), 9, "g with ctx");
    shmem_get_nbi(copy, small_ints + 2, 2, right);
    shmem_put_nbi(ctx, bytes, (const unsigned char *)"abc", 3, right);
    shmem_quiet();
    CHECK_INT(copy[1], 10, "get_nbi");
    shmem_barrier_all();
    CHECK_INT(bytes[2], 'c', "put_nbi");

    // One call inside another, results in expressions.
    shmem_p(&wide[3], shmem_g(&counter, right) + shmem_g(ctx, &counter, me), me);
    shmem_quiet();
    CHECK_INT(wide[3], 10, "p of a sum of two g");
    shmem_barrier_all();
    shmem_atomic_set(&counter, 10, me);
    shmem_barrier_all();
    shmem_atomic_add(&counter, 1, right);
    shmem_atomic_inc(ctx, &counter, right);
    shmem_barrier_all();
    CHECK_INT(shmem_atomic_fetch_add(ctx, &counter, -2, me), 12, "atomic_fetch_add");
    CHECK_INT(shmem_atomic_compare_swap(&counter, 10, 7, me), 10, "atomic_compare_swap");
    CHECK_INT(shmem_atomic_swap(ctx, &counter, 3, me), 7, "atomic_swap");
    CHECK_INT(shmem_atomic_fetch_inc(&counter, me), 3, "atomic_fetch_inc");
    const long *constant_counter = &counter;
    CHECK_INT(shmem_atomic_fetch(constant_counter, me), 4, "atomic_fetch of const");
    shmem_atomic_set(&reals[0], 4, me);
    CHECK(shmem_atomic_fetch(&reals[0], me) == 4.0, "atomic_set of a double from an int");
    shmem_atomic_or(&bits, 6, me);
    shmem_atomic_and(ctx, &bits, 3, me);
    shmem_atomic_xor(&bits, 1, me);
    CHECK_INT(shmem_atomic_fetch_or(&bits, 8, me), 3, "bitwise operations");

    // Waiting and signalling.
    shmem_signal_set(&signal_word, 1, right);
    CHECK_INT(shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, 1), 1, "signal_wait_until");
    shmem_barrier_all();
    shmem_signal_add(ctx, &signal_word, 2, right);
    shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, 3);
    shmem_barrier_all();
    shmem_signal_set(ctx, &signal_word, 0, me);
    shmem_quiet();
    CHECK_INT(shmem_signal_fetch(&signal_word), 0, "signal_set with ctx");
    shmem_barrier_all();
    shmem_put_signal(wide, wide + 1, 1, &signal_word, 4, SHMEM_SIGNAL_SET, right);
    shmem_wait_until(&signal_word, SHMEM_CMP_EQ, 4);
    shmem_barrier_all();
    shmem_put_signal_nbi(ctx, wide + 2, wide + 1, 1, &signal_word, 4, SHMEM_SIGNAL_ADD, right);
    shmem_wait_until(&signal_word, SHMEM_CMP_EQ, 8);
    CHECK_INT(wide[0], 'a', "put_signal");
    CHECK_INT(wide[2], 'a', "put_signal_nbi");
    shmem_quiet();
    CHECK_INT(shmem_test(&signal_word, SHMEM_CMP_NE, 8), 0, "test");
    CHECK_INT(shmem_test_all(&counter, 1, NULL, SHMEM_CMP_LT, 5), 1, "test_all");
    shmem_finalize();
    return 0;
}
