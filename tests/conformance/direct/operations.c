// Each operation that a program does in line (SHMEM_DIRECT), of each type, beside the library's
// function, by whose address it is called: to the own PE and to the next one, in the heap and in
// static data, by the table that the library fills and, with that emptied, by the library's call.
// run: np=1,2 nodes=1 std=c99 cflags="-DSHMEM_DIRECT"
// run: np=2 nodes=1 std=c99 env=SHMEM_CHECK=1 cflags="-DSHMEM_DIRECT"
// run: np=2 nodes=several std=c99 cflags="-DSHMEM_DIRECT"
// run: np=2 nodes=1 link=static,no-pie cflags="-DSHMEM_DIRECT -O0"
// run: np=2 nodes=1 cc=clang cflags="-DSHMEM_DIRECT -pedantic -O1"
#include "check.h"

#ifndef SHMEM_DIRECT
#error "compile this with -DSHMEM_DIRECT"
#endif

typedef void (*function)(void);

// The library's function, of whose address the compiler knows nothing.
#define LIBRARY(name) ((__typeof__(&name))hide((function)name))
static function hide(function address)
{
    volatile function hidden = address;
    return hidden;
}

static union { double alignment; char bytes[64]; } in_static_data;
static int me, other;

// Stores and loads: each way of reading finds the values of the other way of writing.
#define PUT_AND_GET(NAME, TYPE)                                                                    \
    static void put_and_get_##NAME(void *place, int pe)                                            \
    {                                                                                              \
        TYPE *object = (TYPE *)place;                                                              \
        shmem_##NAME##_p(object, (TYPE)17, pe);                                                    \
        shmem_quiet();                                                                             \
        CHECK(LIBRARY(shmem_##NAME##_g)(object, pe) == (TYPE)17, #NAME "_p in line, g");           \
        LIBRARY(shmem_##NAME##_p)(object, (TYPE)18, pe);                                           \
        shmem_quiet();                                                                             \
        CHECK(shmem_##NAME##_g(object, pe) == (TYPE)18, #NAME "_p, g in line");                    \
        shmem_ctx_##NAME##_p(SHMEM_CTX_DEFAULT, object, (TYPE)19, pe);                             \
        shmem_ctx_quiet(SHMEM_CTX_DEFAULT);                                                        \
        CHECK(shmem_ctx_##NAME##_g(SHMEM_CTX_DEFAULT, object, pe) == (TYPE)19, #NAME "_p, ctx");   \
    }
RMA_TYPES(PUT_AND_GET)

#define FETCH(NAME) LIBRARY(shmem_##NAME##_atomic_fetch)(object, pe)

#define SET_AND_SWAP(NAME, TYPE)                                                                   \
    static void set_and_swap_##NAME(void *place, int pe)                                           \
    {                                                                                              \
        TYPE *object = (TYPE *)place;                                                              \
        shmem_##NAME##_atomic_set(object, (TYPE)5, pe);                                            \
        CHECK(FETCH(NAME) == (TYPE)5, #NAME " set");                                               \
        CHECK(shmem_##NAME##_atomic_swap(object, (TYPE)6, pe) == (TYPE)5, #NAME " swap");          \
        CHECK(shmem_##NAME##_atomic_fetch(object, pe) == (TYPE)6, #NAME " fetch");                 \
        shmem_ctx_##NAME##_atomic_set(SHMEM_CTX_DEFAULT, object, (TYPE)7, pe);                     \
        CHECK(shmem_ctx_##NAME##_atomic_swap(SHMEM_CTX_DEFAULT, object, (TYPE)8, pe) == (TYPE)7,   \
              #NAME " set and swap, ctx");                                                         \
        CHECK(shmem_ctx_##NAME##_atomic_fetch(SHMEM_CTX_DEFAULT, object, pe) == (TYPE)8,           \
              #NAME " fetch, ctx");                                                                \
        shmem_##NAME##_set(object, (TYPE)9, pe);                                                   \
        CHECK(shmem_##NAME##_swap(object, (TYPE)10, pe) == (TYPE)9, #NAME " old set and swap");    \
        CHECK(shmem_##NAME##_fetch(object, pe) == (TYPE)10, #NAME " old fetch");                   \
    }
AMO_EXTENDED_TYPES(SET_AND_SWAP)

#define ADD_AND_COMPARE(NAME, TYPE)                                                                \
    static void add_and_compare_##NAME(void *place, int pe)                                        \
    {                                                                                              \
        TYPE *object = (TYPE *)place;                                                              \
        LIBRARY(shmem_##NAME##_atomic_set)(object, (TYPE)-3, pe);                                  \
        shmem_##NAME##_atomic_add(object, (TYPE)5, pe);                                            \
        CHECK(FETCH(NAME) == (TYPE)2, #NAME " add");                                               \
        CHECK(shmem_##NAME##_atomic_fetch_add(object, (TYPE)7, pe) == (TYPE)2, #NAME " fadd");     \
        shmem_##NAME##_atomic_inc(object, pe);                                                     \
        CHECK(shmem_##NAME##_atomic_fetch_inc(object, pe) == (TYPE)10, #NAME " inc and finc");     \
        CHECK(shmem_##NAME##_atomic_compare_swap(object, (TYPE)4, (TYPE)1, pe) == (TYPE)11,        \
              #NAME " compare_swap that differs");                                                 \
        CHECK(FETCH(NAME) == (TYPE)11, #NAME " compare_swap has swapped");                         \
        CHECK(shmem_##NAME##_atomic_compare_swap(object, (TYPE)11, (TYPE)1, pe) == (TYPE)11,       \
              #NAME " compare_swap");                                                              \
        CHECK(FETCH(NAME) == (TYPE)1, #NAME " compare_swap has not swapped");                      \
        shmem_ctx_##NAME##_atomic_add(SHMEM_CTX_DEFAULT, object, (TYPE)1, pe);                     \
        shmem_ctx_##NAME##_atomic_inc(SHMEM_CTX_DEFAULT, object, pe);                              \
        CHECK(shmem_ctx_##NAME##_atomic_fetch_add(SHMEM_CTX_DEFAULT, object, (TYPE)1, pe)          \
              == (TYPE)3, #NAME " fadd, ctx");                                                     \
        CHECK(shmem_ctx_##NAME##_atomic_fetch_inc(SHMEM_CTX_DEFAULT, object, pe) == (TYPE)4,       \
              #NAME " finc, ctx");                                                                 \
        CHECK(shmem_ctx_##NAME##_atomic_compare_swap(SHMEM_CTX_DEFAULT, object, (TYPE)5, (TYPE)6,  \
                                                     pe) == (TYPE)5, #NAME " compare_swap, ctx");  \
        shmem_##NAME##_add(object, (TYPE)1, pe);                                                   \
        shmem_##NAME##_inc(object, pe);                                                            \
        CHECK(shmem_##NAME##_fadd(object, (TYPE)1, pe) == (TYPE)8, #NAME " old fadd");             \
        CHECK(shmem_##NAME##_finc(object, pe) == (TYPE)9, #NAME " old finc");                      \
        CHECK(shmem_##NAME##_cswap(object, (TYPE)10, (TYPE)0, pe) == (TYPE)10, #NAME " cswap");    \
        CHECK(FETCH(NAME) == (TYPE)0, #NAME " old cswap");                                         \
    }
AMO_TYPES(ADD_AND_COMPARE)

#define BITS(NAME, TYPE)                                                                           \
    static void bits_##NAME(void *place, int pe)                                                   \
    {                                                                                              \
        TYPE *object = (TYPE *)place;                                                              \
        LIBRARY(shmem_##NAME##_atomic_set)(object, (TYPE)0x7b, pe);                                \
        shmem_##NAME##_atomic_and(object, (TYPE)0x3e, pe);                                         \
        CHECK(FETCH(NAME) == (TYPE)0x3a, #NAME " and");                                            \
        shmem_##NAME##_atomic_or(object, (TYPE)0x41, pe);                                          \
        CHECK(FETCH(NAME) == (TYPE)0x7b, #NAME " or");                                             \
        shmem_##NAME##_atomic_xor(object, (TYPE)0x0f, pe);                                         \
        CHECK(shmem_##NAME##_atomic_fetch_and(object, (TYPE)0x3c, pe) == (TYPE)0x74,               \
              #NAME " xor and fetch_and");                                                         \
        CHECK(shmem_##NAME##_atomic_fetch_or(object, (TYPE)0x01, pe) == (TYPE)0x34,                \
              #NAME " fetch_or");                                                                  \
        CHECK(shmem_##NAME##_atomic_fetch_xor(object, (TYPE)0x35, pe) == (TYPE)0x35,               \
              #NAME " fetch_xor");                                                                 \
        shmem_ctx_##NAME##_atomic_or(SHMEM_CTX_DEFAULT, object, (TYPE)0x0f, pe);                   \
        shmem_ctx_##NAME##_atomic_and(SHMEM_CTX_DEFAULT, object, (TYPE)0x3c, pe);                  \
        shmem_ctx_##NAME##_atomic_xor(SHMEM_CTX_DEFAULT, object, (TYPE)0x04, pe);                  \
        CHECK(shmem_ctx_##NAME##_atomic_fetch_or(SHMEM_CTX_DEFAULT, object, (TYPE)1, pe)           \
              == (TYPE)0x08, #NAME " bits, ctx");                                                  \
        CHECK(shmem_ctx_##NAME##_atomic_fetch_and(SHMEM_CTX_DEFAULT, object, (TYPE)1, pe)          \
              == (TYPE)0x09, #NAME " fetch_and, ctx");                                             \
        CHECK(shmem_ctx_##NAME##_atomic_fetch_xor(SHMEM_CTX_DEFAULT, object, (TYPE)1, pe)          \
              == (TYPE)0x01, #NAME " fetch_xor, ctx");                                             \
        CHECK(FETCH(NAME) == (TYPE)0, #NAME " fetch_xor");                                         \
    }
AMO_BITWISE_TYPES(BITS)

static void pointers(char *place, int pe)
{
    CHECK(shmem_ptr(place, pe) == LIBRARY(shmem_ptr)(place, pe), "shmem_ptr");
    CHECK(shmem_ptr(&place, pe) == NULL, "shmem_ptr of the stack");
    CHECK(shmem_ptr(place, shmem_n_pes()) == NULL, "shmem_ptr to nobody");
    CHECK(shmem_ptr(place, -1) == NULL, "shmem_ptr to PE -1");
    // The hole between static data and the heap, wherever that is.
    for (uintptr_t step = 1; step < (uintptr_t)1 << 47; step <<= 1) {
        CHECK(shmem_ptr(place + step, pe) == LIBRARY(shmem_ptr)(place + step, pe), "hole");
        CHECK(shmem_ptr(place - step, pe) == LIBRARY(shmem_ptr)(place - step, pe), "hole below");
    }
}

static void all(char *place, int pe)
{
#define RUN(what, NAME) what##_##NAME(place, pe);
#define RUN_PUT_AND_GET(NAME, TYPE) RUN(put_and_get, NAME)
#define RUN_SET_AND_SWAP(NAME, TYPE) RUN(set_and_swap, NAME)
#define RUN_ADD_AND_COMPARE(NAME, TYPE) RUN(add_and_compare, NAME)
#define RUN_BITS(NAME, TYPE) RUN(bits, NAME)
    RMA_TYPES(RUN_PUT_AND_GET)
    AMO_EXTENDED_TYPES(RUN_SET_AND_SWAP)
    AMO_TYPES(RUN_ADD_AND_COMPARE)
    AMO_BITWISE_TYPES(RUN_BITS)
    pointers(place, pe);
}

int main(void)
{
    char *in_heap;

    shmem_init();
    me = shmem_my_pe();
    other = (me + 1) % shmem_n_pes();
    in_heap = shmem_calloc(shmem_n_pes(), 64);
    // Each place belongs to one writer at a time: the PE before.
    for (int emptied = 0; emptied < 2; emptied++) {
        uint32_t count = farreach_direct_1.pe_count;
        if (emptied)
            farreach_direct_1.pe_count = farreach_direct_1.near_count = 0;
        all(in_heap + 64 * (size_t)me, other);
        shmem_barrier_all();
        all(in_static_data.bytes, other);
        shmem_barrier_all();
        all(in_static_data.bytes, me);
        shmem_barrier_all();
        farreach_direct_1.pe_count = count;
        shmem_fence();
        shmem_ctx_fence(SHMEM_CTX_DEFAULT);
    }
    shmem_free(in_heap);
    shmem_finalize();
    return 0;
}
