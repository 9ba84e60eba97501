/* shmem_direct.h: operations of OpenSHMEM in line at the place of the call, by Farreach.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Printed from the tables of shmem/cabi by `cargo xtask headers`: change those, not this file.
 * shmem.h includes it where SHMEM_DIRECT is defined. p, g, the atomics, ptr and fence to PEs of the
 * node are then in line; all else calls the library, by the names with p before them: a profiling
 * library sees none of these calls. */
#ifndef FARREACH_SHMEM_DIRECT_H
#define FARREACH_SHMEM_DIRECT_H

#ifndef FARREACH_SHMEM_H
#error "include shmem.h with SHMEM_DIRECT defined"
#endif

#if defined(__GNUC__)

#ifdef __cplusplus
extern "C" {
#endif

/* The version of what follows. */
#define FARREACH_DIRECT_VERSION 1

/* The library's record of a PE, as this one reaches it. */
struct farreach_direct_peer {
    size_t window_length; /* bytes from the window's base that loads and stores reach */
    size_t atomic_length; /* the same for the processor's atomics */
    uintptr_t distance;   /* from an own address to that of the same object of the PE */
    unsigned char rest[40];
};

/* The library fills this table of each program, and of each shared library, that was compiled so.
 * There are no PEs but between initialization and finalization, nor for the checking library. */
struct farreach_direct {
    uint32_t version, bytes; /* of this struct */
    uint32_t pe_count;
    uint32_t near_count; /* the same, if all of them are on this node, and else 0 */
    const struct farreach_direct_peer *peers;
    uintptr_t window;
    struct { uintptr_t base; size_t length; } ranges[2]; /* of symmetric memory */
    size_t stores_alone; /* whether a fence orders the processor's stores and nothing else */
    /* Functions that go on with p to a PE elsewhere. */
    void (*p_float)(float *dest, float value, int pe, const struct farreach_direct_peer *peer, size_t offset);
    void (*p_double)(double *dest, double value, int pe, const struct farreach_direct_peer *peer, size_t offset);
    void (*p_char)(char *dest, char value, int pe, const struct farreach_direct_peer *peer, size_t offset);
    void (*p_schar)(signed char *dest, signed char value, int pe, const struct farreach_direct_peer *peer, size_t offset);
    void (*p_short)(short *dest, short value, int pe, const struct farreach_direct_peer *peer, size_t offset);
    void (*p_int)(int *dest, int value, int pe, const struct farreach_direct_peer *peer, size_t offset);
    void (*p_long)(long *dest, long value, int pe, const struct farreach_direct_peer *peer, size_t offset);
    void (*p_longlong)(long long *dest, long long value, int pe, const struct farreach_direct_peer *peer, size_t offset);
    void (*p_uchar)(unsigned char *dest, unsigned char value, int pe, const struct farreach_direct_peer *peer, size_t offset);
    void (*p_ushort)(unsigned short *dest, unsigned short value, int pe, const struct farreach_direct_peer *peer, size_t offset);
    void (*p_uint)(unsigned int *dest, unsigned int value, int pe, const struct farreach_direct_peer *peer, size_t offset);
    void (*p_ulong)(unsigned long *dest, unsigned long value, int pe, const struct farreach_direct_peer *peer, size_t offset);
    void (*p_ulonglong)(unsigned long long *dest, unsigned long long value, int pe, const struct farreach_direct_peer *peer, size_t offset);
    void (*p_int8)(int8_t *dest, int8_t value, int pe, const struct farreach_direct_peer *peer, size_t offset);
    void (*p_int16)(int16_t *dest, int16_t value, int pe, const struct farreach_direct_peer *peer, size_t offset);
    void (*p_int32)(int32_t *dest, int32_t value, int pe, const struct farreach_direct_peer *peer, size_t offset);
    void (*p_int64)(int64_t *dest, int64_t value, int pe, const struct farreach_direct_peer *peer, size_t offset);
    void (*p_uint8)(uint8_t *dest, uint8_t value, int pe, const struct farreach_direct_peer *peer, size_t offset);
    void (*p_uint16)(uint16_t *dest, uint16_t value, int pe, const struct farreach_direct_peer *peer, size_t offset);
    void (*p_uint32)(uint32_t *dest, uint32_t value, int pe, const struct farreach_direct_peer *peer, size_t offset);
    void (*p_uint64)(uint64_t *dest, uint64_t value, int pe, const struct farreach_direct_peer *peer, size_t offset);
    void (*p_size)(size_t *dest, size_t value, int pe, const struct farreach_direct_peer *peer, size_t offset);
    void (*p_ptrdiff)(ptrdiff_t *dest, ptrdiff_t value, int pe, const struct farreach_direct_peer *peer, size_t offset);
};

/* The layout is the library's, or this does not compile. */
typedef char farreach_direct_layout[(sizeof(struct farreach_direct_peer) == 64 &&
        sizeof(struct farreach_direct) == 256 &&
        offsetof(struct farreach_direct_peer, window_length) == 0 &&
        offsetof(struct farreach_direct_peer, atomic_length) == 8 &&
        offsetof(struct farreach_direct_peer, distance) == 16 &&
        offsetof(struct farreach_direct, pe_count) == 8 &&
        offsetof(struct farreach_direct, near_count) == 12 &&
        offsetof(struct farreach_direct, peers) == 16 &&
        offsetof(struct farreach_direct, window) == 24 &&
        offsetof(struct farreach_direct, ranges) == 32 &&
        offsetof(struct farreach_direct, stores_alone) == 64 &&
        offsetof(struct farreach_direct, p_float) == 72) ? 1 : -1];

/* The table of this program or shared library. A library that lacks the two functions, or knows
 * another version, leaves it as it is. */
extern struct farreach_direct farreach_direct_1 __attribute__((__visibility__("hidden")));
struct farreach_direct farreach_direct_1 __attribute__((__weak__, __visibility__("hidden"))) = {
    FARREACH_DIRECT_VERSION, sizeof(struct farreach_direct), 0, 0, NULL, 0, {{0, 0}, {0, 0}}, 0,
    NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL};
extern void farreach_direct_register(struct farreach_direct *table) __attribute__((__weak__));
extern void farreach_direct_forget(struct farreach_direct *table) __attribute__((__weak__));
static void __attribute__((__constructor__, __used__)) farreach_direct_begin(void)
{
    if (farreach_direct_register) farreach_direct_register(&farreach_direct_1);
}
static void __attribute__((__destructor__, __used__)) farreach_direct_end(void)
{
    if (farreach_direct_forget) farreach_direct_forget(&farreach_direct_1);
}

/* The compiler has the function's body for the place of a call, and takes the library's for its
 * address. */
#define FARREACH_DIRECT extern __inline__ __attribute__((__gnu_inline__, __always_inline__))

/* Other PEs load from and store to the object, as if its address were passed to a function. */
#define FARREACH_SHARED(object) __asm__ volatile("" : : "r"(object))

#ifdef __x86_64__
#define FARREACH_ORDER_LOADS() __asm__ volatile("" : : : "memory")
#define FARREACH_ORDER_STORES() __asm__ volatile("" : : : "memory")
#else
#define FARREACH_ORDER_LOADS() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define FARREACH_ORDER_STORES() __atomic_thread_fence(__ATOMIC_RELEASE)
#endif

/* Whether the compiler sees that the context is the default one. */
#define FARREACH_IS_DEFAULT(ctx) \
    (__builtin_constant_p((ctx) == SHMEM_CTX_DEFAULT) && (ctx) == SHMEM_CTX_DEFAULT)

#define FARREACH_PEER(pe) (farreach_direct_1.peers + (uint32_t)(pe))
#define FARREACH_OFFSET(object) ((uintptr_t)(object) - farreach_direct_1.window)

/* With `at` where the object is on the PE, if it is in reach: does the rest. */
#define FARREACH_AT(type, object, length, ...) \
    FARREACH_SHARED(object); \
    if (__builtin_expect((uint32_t)pe < farreach_direct_1.pe_count, 1)) { \
        const struct farreach_direct_peer *const peer = FARREACH_PEER(pe); \
        if (__builtin_expect(FARREACH_OFFSET(object) < peer->length, 1)) { \
            typedef type farreach_object __attribute__((__may_alias__)); \
            volatile farreach_object *const at = \
                (volatile farreach_object *)((uintptr_t)(object) + peer->distance); \
            __VA_ARGS__; \
        } \
    }

#define FARREACH_PUT(type, t) \
    FARREACH_SHARED(dest); \
    if (__builtin_expect((uint32_t)pe < farreach_direct_1.pe_count, 1)) { \
        typedef type farreach_object __attribute__((__may_alias__)); \
        const struct farreach_direct_peer *const peer = FARREACH_PEER(pe); \
        const size_t offset = FARREACH_OFFSET(dest); \
        if (__builtin_expect(offset < peer->window_length, 1)) \
            *(volatile farreach_object *)((uintptr_t)dest + peer->distance) = value; \
        else \
            farreach_direct_1.p_##t(dest, value, pe, peer, offset); \
        return; \
    }

#define FARREACH_FENCE() \
    if (__builtin_expect(farreach_direct_1.stores_alone != 0, 1)) { \
        FARREACH_ORDER_STORES(); \
        return; \
    }

#define FARREACH_IS_IN(object, n) \
    ((uintptr_t)(object) - farreach_direct_1.ranges[n].base < farreach_direct_1.ranges[n].length)
#define FARREACH_PTR() \
    FARREACH_SHARED(dest); \
    if (__builtin_expect((uint32_t)pe < farreach_direct_1.near_count, 1) && \
        (FARREACH_IS_IN(dest, 0) || FARREACH_IS_IN(dest, 1))) \
        return (void *)((uintptr_t)dest + FARREACH_PEER(pe)->distance);

void *pshmem_ptr(const void *dest, int pe);
FARREACH_DIRECT void *shmem_ptr(const void *dest, int pe)
{
    FARREACH_PTR();
    return pshmem_ptr(dest, pe);
}

void pshmem_float_p(float *dest, float value, int pe);
FARREACH_DIRECT void shmem_float_p(float *dest, float value, int pe)
{
    FARREACH_PUT(float, float);
    pshmem_float_p(dest, value, pe);
}
void pshmem_ctx_float_p(shmem_ctx_t ctx, float *dest, float value, int pe);
FARREACH_DIRECT void shmem_ctx_float_p(shmem_ctx_t ctx, float *dest, float value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(float, dest, window_length, *at = value; return);
    }
    pshmem_ctx_float_p(ctx, dest, value, pe);
}
void pshmem_double_p(double *dest, double value, int pe);
FARREACH_DIRECT void shmem_double_p(double *dest, double value, int pe)
{
    FARREACH_PUT(double, double);
    pshmem_double_p(dest, value, pe);
}
void pshmem_ctx_double_p(shmem_ctx_t ctx, double *dest, double value, int pe);
FARREACH_DIRECT void shmem_ctx_double_p(shmem_ctx_t ctx, double *dest, double value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(double, dest, window_length, *at = value; return);
    }
    pshmem_ctx_double_p(ctx, dest, value, pe);
}
void pshmem_longdouble_p(long double *dest, long double value, int pe);
FARREACH_DIRECT void shmem_longdouble_p(long double *dest, long double value, int pe)
{
    FARREACH_AT(long double, dest, window_length, *at = value; return);
    pshmem_longdouble_p(dest, value, pe);
}
void pshmem_ctx_longdouble_p(shmem_ctx_t ctx, long double *dest, long double value, int pe);
FARREACH_DIRECT void shmem_ctx_longdouble_p(shmem_ctx_t ctx, long double *dest, long double value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(long double, dest, window_length, *at = value; return);
    }
    pshmem_ctx_longdouble_p(ctx, dest, value, pe);
}
void pshmem_char_p(char *dest, char value, int pe);
FARREACH_DIRECT void shmem_char_p(char *dest, char value, int pe)
{
    FARREACH_PUT(char, char);
    pshmem_char_p(dest, value, pe);
}
void pshmem_ctx_char_p(shmem_ctx_t ctx, char *dest, char value, int pe);
FARREACH_DIRECT void shmem_ctx_char_p(shmem_ctx_t ctx, char *dest, char value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(char, dest, window_length, *at = value; return);
    }
    pshmem_ctx_char_p(ctx, dest, value, pe);
}
void pshmem_schar_p(signed char *dest, signed char value, int pe);
FARREACH_DIRECT void shmem_schar_p(signed char *dest, signed char value, int pe)
{
    FARREACH_PUT(signed char, schar);
    pshmem_schar_p(dest, value, pe);
}
void pshmem_ctx_schar_p(shmem_ctx_t ctx, signed char *dest, signed char value, int pe);
FARREACH_DIRECT void shmem_ctx_schar_p(shmem_ctx_t ctx, signed char *dest, signed char value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(signed char, dest, window_length, *at = value; return);
    }
    pshmem_ctx_schar_p(ctx, dest, value, pe);
}
void pshmem_short_p(short *dest, short value, int pe);
FARREACH_DIRECT void shmem_short_p(short *dest, short value, int pe)
{
    FARREACH_PUT(short, short);
    pshmem_short_p(dest, value, pe);
}
void pshmem_ctx_short_p(shmem_ctx_t ctx, short *dest, short value, int pe);
FARREACH_DIRECT void shmem_ctx_short_p(shmem_ctx_t ctx, short *dest, short value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(short, dest, window_length, *at = value; return);
    }
    pshmem_ctx_short_p(ctx, dest, value, pe);
}
void pshmem_int_p(int *dest, int value, int pe);
FARREACH_DIRECT void shmem_int_p(int *dest, int value, int pe)
{
    FARREACH_PUT(int, int);
    pshmem_int_p(dest, value, pe);
}
void pshmem_ctx_int_p(shmem_ctx_t ctx, int *dest, int value, int pe);
FARREACH_DIRECT void shmem_ctx_int_p(shmem_ctx_t ctx, int *dest, int value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int, dest, window_length, *at = value; return);
    }
    pshmem_ctx_int_p(ctx, dest, value, pe);
}
void pshmem_long_p(long *dest, long value, int pe);
FARREACH_DIRECT void shmem_long_p(long *dest, long value, int pe)
{
    FARREACH_PUT(long, long);
    pshmem_long_p(dest, value, pe);
}
void pshmem_ctx_long_p(shmem_ctx_t ctx, long *dest, long value, int pe);
FARREACH_DIRECT void shmem_ctx_long_p(shmem_ctx_t ctx, long *dest, long value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(long, dest, window_length, *at = value; return);
    }
    pshmem_ctx_long_p(ctx, dest, value, pe);
}
void pshmem_longlong_p(long long *dest, long long value, int pe);
FARREACH_DIRECT void shmem_longlong_p(long long *dest, long long value, int pe)
{
    FARREACH_PUT(long long, longlong);
    pshmem_longlong_p(dest, value, pe);
}
void pshmem_ctx_longlong_p(shmem_ctx_t ctx, long long *dest, long long value, int pe);
FARREACH_DIRECT void shmem_ctx_longlong_p(shmem_ctx_t ctx, long long *dest, long long value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(long long, dest, window_length, *at = value; return);
    }
    pshmem_ctx_longlong_p(ctx, dest, value, pe);
}
void pshmem_uchar_p(unsigned char *dest, unsigned char value, int pe);
FARREACH_DIRECT void shmem_uchar_p(unsigned char *dest, unsigned char value, int pe)
{
    FARREACH_PUT(unsigned char, uchar);
    pshmem_uchar_p(dest, value, pe);
}
void pshmem_ctx_uchar_p(shmem_ctx_t ctx, unsigned char *dest, unsigned char value, int pe);
FARREACH_DIRECT void shmem_ctx_uchar_p(shmem_ctx_t ctx, unsigned char *dest, unsigned char value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned char, dest, window_length, *at = value; return);
    }
    pshmem_ctx_uchar_p(ctx, dest, value, pe);
}
void pshmem_ushort_p(unsigned short *dest, unsigned short value, int pe);
FARREACH_DIRECT void shmem_ushort_p(unsigned short *dest, unsigned short value, int pe)
{
    FARREACH_PUT(unsigned short, ushort);
    pshmem_ushort_p(dest, value, pe);
}
void pshmem_ctx_ushort_p(shmem_ctx_t ctx, unsigned short *dest, unsigned short value, int pe);
FARREACH_DIRECT void shmem_ctx_ushort_p(shmem_ctx_t ctx, unsigned short *dest, unsigned short value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned short, dest, window_length, *at = value; return);
    }
    pshmem_ctx_ushort_p(ctx, dest, value, pe);
}
void pshmem_uint_p(unsigned int *dest, unsigned int value, int pe);
FARREACH_DIRECT void shmem_uint_p(unsigned int *dest, unsigned int value, int pe)
{
    FARREACH_PUT(unsigned int, uint);
    pshmem_uint_p(dest, value, pe);
}
void pshmem_ctx_uint_p(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe);
FARREACH_DIRECT void shmem_ctx_uint_p(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned int, dest, window_length, *at = value; return);
    }
    pshmem_ctx_uint_p(ctx, dest, value, pe);
}
void pshmem_ulong_p(unsigned long *dest, unsigned long value, int pe);
FARREACH_DIRECT void shmem_ulong_p(unsigned long *dest, unsigned long value, int pe)
{
    FARREACH_PUT(unsigned long, ulong);
    pshmem_ulong_p(dest, value, pe);
}
void pshmem_ctx_ulong_p(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe);
FARREACH_DIRECT void shmem_ctx_ulong_p(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned long, dest, window_length, *at = value; return);
    }
    pshmem_ctx_ulong_p(ctx, dest, value, pe);
}
void pshmem_ulonglong_p(unsigned long long *dest, unsigned long long value, int pe);
FARREACH_DIRECT void shmem_ulonglong_p(unsigned long long *dest, unsigned long long value, int pe)
{
    FARREACH_PUT(unsigned long long, ulonglong);
    pshmem_ulonglong_p(dest, value, pe);
}
void pshmem_ctx_ulonglong_p(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe);
FARREACH_DIRECT void shmem_ctx_ulonglong_p(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned long long, dest, window_length, *at = value; return);
    }
    pshmem_ctx_ulonglong_p(ctx, dest, value, pe);
}
void pshmem_int8_p(int8_t *dest, int8_t value, int pe);
FARREACH_DIRECT void shmem_int8_p(int8_t *dest, int8_t value, int pe)
{
    FARREACH_PUT(int8_t, int8);
    pshmem_int8_p(dest, value, pe);
}
void pshmem_ctx_int8_p(shmem_ctx_t ctx, int8_t *dest, int8_t value, int pe);
FARREACH_DIRECT void shmem_ctx_int8_p(shmem_ctx_t ctx, int8_t *dest, int8_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int8_t, dest, window_length, *at = value; return);
    }
    pshmem_ctx_int8_p(ctx, dest, value, pe);
}
void pshmem_int16_p(int16_t *dest, int16_t value, int pe);
FARREACH_DIRECT void shmem_int16_p(int16_t *dest, int16_t value, int pe)
{
    FARREACH_PUT(int16_t, int16);
    pshmem_int16_p(dest, value, pe);
}
void pshmem_ctx_int16_p(shmem_ctx_t ctx, int16_t *dest, int16_t value, int pe);
FARREACH_DIRECT void shmem_ctx_int16_p(shmem_ctx_t ctx, int16_t *dest, int16_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int16_t, dest, window_length, *at = value; return);
    }
    pshmem_ctx_int16_p(ctx, dest, value, pe);
}
void pshmem_int32_p(int32_t *dest, int32_t value, int pe);
FARREACH_DIRECT void shmem_int32_p(int32_t *dest, int32_t value, int pe)
{
    FARREACH_PUT(int32_t, int32);
    pshmem_int32_p(dest, value, pe);
}
void pshmem_ctx_int32_p(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe);
FARREACH_DIRECT void shmem_ctx_int32_p(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int32_t, dest, window_length, *at = value; return);
    }
    pshmem_ctx_int32_p(ctx, dest, value, pe);
}
void pshmem_int64_p(int64_t *dest, int64_t value, int pe);
FARREACH_DIRECT void shmem_int64_p(int64_t *dest, int64_t value, int pe)
{
    FARREACH_PUT(int64_t, int64);
    pshmem_int64_p(dest, value, pe);
}
void pshmem_ctx_int64_p(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe);
FARREACH_DIRECT void shmem_ctx_int64_p(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int64_t, dest, window_length, *at = value; return);
    }
    pshmem_ctx_int64_p(ctx, dest, value, pe);
}
void pshmem_uint8_p(uint8_t *dest, uint8_t value, int pe);
FARREACH_DIRECT void shmem_uint8_p(uint8_t *dest, uint8_t value, int pe)
{
    FARREACH_PUT(uint8_t, uint8);
    pshmem_uint8_p(dest, value, pe);
}
void pshmem_ctx_uint8_p(shmem_ctx_t ctx, uint8_t *dest, uint8_t value, int pe);
FARREACH_DIRECT void shmem_ctx_uint8_p(shmem_ctx_t ctx, uint8_t *dest, uint8_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(uint8_t, dest, window_length, *at = value; return);
    }
    pshmem_ctx_uint8_p(ctx, dest, value, pe);
}
void pshmem_uint16_p(uint16_t *dest, uint16_t value, int pe);
FARREACH_DIRECT void shmem_uint16_p(uint16_t *dest, uint16_t value, int pe)
{
    FARREACH_PUT(uint16_t, uint16);
    pshmem_uint16_p(dest, value, pe);
}
void pshmem_ctx_uint16_p(shmem_ctx_t ctx, uint16_t *dest, uint16_t value, int pe);
FARREACH_DIRECT void shmem_ctx_uint16_p(shmem_ctx_t ctx, uint16_t *dest, uint16_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(uint16_t, dest, window_length, *at = value; return);
    }
    pshmem_ctx_uint16_p(ctx, dest, value, pe);
}
void pshmem_uint32_p(uint32_t *dest, uint32_t value, int pe);
FARREACH_DIRECT void shmem_uint32_p(uint32_t *dest, uint32_t value, int pe)
{
    FARREACH_PUT(uint32_t, uint32);
    pshmem_uint32_p(dest, value, pe);
}
void pshmem_ctx_uint32_p(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe);
FARREACH_DIRECT void shmem_ctx_uint32_p(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(uint32_t, dest, window_length, *at = value; return);
    }
    pshmem_ctx_uint32_p(ctx, dest, value, pe);
}
void pshmem_uint64_p(uint64_t *dest, uint64_t value, int pe);
FARREACH_DIRECT void shmem_uint64_p(uint64_t *dest, uint64_t value, int pe)
{
    FARREACH_PUT(uint64_t, uint64);
    pshmem_uint64_p(dest, value, pe);
}
void pshmem_ctx_uint64_p(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe);
FARREACH_DIRECT void shmem_ctx_uint64_p(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(uint64_t, dest, window_length, *at = value; return);
    }
    pshmem_ctx_uint64_p(ctx, dest, value, pe);
}
void pshmem_size_p(size_t *dest, size_t value, int pe);
FARREACH_DIRECT void shmem_size_p(size_t *dest, size_t value, int pe)
{
    FARREACH_PUT(size_t, size);
    pshmem_size_p(dest, value, pe);
}
void pshmem_ctx_size_p(shmem_ctx_t ctx, size_t *dest, size_t value, int pe);
FARREACH_DIRECT void shmem_ctx_size_p(shmem_ctx_t ctx, size_t *dest, size_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(size_t, dest, window_length, *at = value; return);
    }
    pshmem_ctx_size_p(ctx, dest, value, pe);
}
void pshmem_ptrdiff_p(ptrdiff_t *dest, ptrdiff_t value, int pe);
FARREACH_DIRECT void shmem_ptrdiff_p(ptrdiff_t *dest, ptrdiff_t value, int pe)
{
    FARREACH_PUT(ptrdiff_t, ptrdiff);
    pshmem_ptrdiff_p(dest, value, pe);
}
void pshmem_ctx_ptrdiff_p(shmem_ctx_t ctx, ptrdiff_t *dest, ptrdiff_t value, int pe);
FARREACH_DIRECT void shmem_ctx_ptrdiff_p(shmem_ctx_t ctx, ptrdiff_t *dest, ptrdiff_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(ptrdiff_t, dest, window_length, *at = value; return);
    }
    pshmem_ctx_ptrdiff_p(ctx, dest, value, pe);
}

float pshmem_float_g(const float *source, int pe);
FARREACH_DIRECT float shmem_float_g(const float *source, int pe)
{
    FARREACH_AT(float, source, window_length, float value = *at; FARREACH_ORDER_LOADS(); return value;);
    return pshmem_float_g(source, pe);
}
float pshmem_ctx_float_g(shmem_ctx_t ctx, const float *source, int pe);
FARREACH_DIRECT float shmem_ctx_float_g(shmem_ctx_t ctx, const float *source, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(float, source, window_length, float value = *at; FARREACH_ORDER_LOADS(); return value;);
    }
    return pshmem_ctx_float_g(ctx, source, pe);
}
double pshmem_double_g(const double *source, int pe);
FARREACH_DIRECT double shmem_double_g(const double *source, int pe)
{
    FARREACH_AT(double, source, window_length, double value = *at; FARREACH_ORDER_LOADS(); return value;);
    return pshmem_double_g(source, pe);
}
double pshmem_ctx_double_g(shmem_ctx_t ctx, const double *source, int pe);
FARREACH_DIRECT double shmem_ctx_double_g(shmem_ctx_t ctx, const double *source, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(double, source, window_length, double value = *at; FARREACH_ORDER_LOADS(); return value;);
    }
    return pshmem_ctx_double_g(ctx, source, pe);
}
long double pshmem_longdouble_g(const long double *source, int pe);
FARREACH_DIRECT long double shmem_longdouble_g(const long double *source, int pe)
{
    FARREACH_AT(long double, source, window_length, long double value = *at; FARREACH_ORDER_LOADS(); return value;);
    return pshmem_longdouble_g(source, pe);
}
long double pshmem_ctx_longdouble_g(shmem_ctx_t ctx, const long double *source, int pe);
FARREACH_DIRECT long double shmem_ctx_longdouble_g(shmem_ctx_t ctx, const long double *source, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(long double, source, window_length, long double value = *at; FARREACH_ORDER_LOADS(); return value;);
    }
    return pshmem_ctx_longdouble_g(ctx, source, pe);
}
char pshmem_char_g(const char *source, int pe);
FARREACH_DIRECT char shmem_char_g(const char *source, int pe)
{
    FARREACH_AT(char, source, window_length, char value = *at; FARREACH_ORDER_LOADS(); return value;);
    return pshmem_char_g(source, pe);
}
char pshmem_ctx_char_g(shmem_ctx_t ctx, const char *source, int pe);
FARREACH_DIRECT char shmem_ctx_char_g(shmem_ctx_t ctx, const char *source, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(char, source, window_length, char value = *at; FARREACH_ORDER_LOADS(); return value;);
    }
    return pshmem_ctx_char_g(ctx, source, pe);
}
signed char pshmem_schar_g(const signed char *source, int pe);
FARREACH_DIRECT signed char shmem_schar_g(const signed char *source, int pe)
{
    FARREACH_AT(signed char, source, window_length, signed char value = *at; FARREACH_ORDER_LOADS(); return value;);
    return pshmem_schar_g(source, pe);
}
signed char pshmem_ctx_schar_g(shmem_ctx_t ctx, const signed char *source, int pe);
FARREACH_DIRECT signed char shmem_ctx_schar_g(shmem_ctx_t ctx, const signed char *source, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(signed char, source, window_length, signed char value = *at; FARREACH_ORDER_LOADS(); return value;);
    }
    return pshmem_ctx_schar_g(ctx, source, pe);
}
short pshmem_short_g(const short *source, int pe);
FARREACH_DIRECT short shmem_short_g(const short *source, int pe)
{
    FARREACH_AT(short, source, window_length, short value = *at; FARREACH_ORDER_LOADS(); return value;);
    return pshmem_short_g(source, pe);
}
short pshmem_ctx_short_g(shmem_ctx_t ctx, const short *source, int pe);
FARREACH_DIRECT short shmem_ctx_short_g(shmem_ctx_t ctx, const short *source, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(short, source, window_length, short value = *at; FARREACH_ORDER_LOADS(); return value;);
    }
    return pshmem_ctx_short_g(ctx, source, pe);
}
int pshmem_int_g(const int *source, int pe);
FARREACH_DIRECT int shmem_int_g(const int *source, int pe)
{
    FARREACH_AT(int, source, window_length, int value = *at; FARREACH_ORDER_LOADS(); return value;);
    return pshmem_int_g(source, pe);
}
int pshmem_ctx_int_g(shmem_ctx_t ctx, const int *source, int pe);
FARREACH_DIRECT int shmem_ctx_int_g(shmem_ctx_t ctx, const int *source, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int, source, window_length, int value = *at; FARREACH_ORDER_LOADS(); return value;);
    }
    return pshmem_ctx_int_g(ctx, source, pe);
}
long pshmem_long_g(const long *source, int pe);
FARREACH_DIRECT long shmem_long_g(const long *source, int pe)
{
    FARREACH_AT(long, source, window_length, long value = *at; FARREACH_ORDER_LOADS(); return value;);
    return pshmem_long_g(source, pe);
}
long pshmem_ctx_long_g(shmem_ctx_t ctx, const long *source, int pe);
FARREACH_DIRECT long shmem_ctx_long_g(shmem_ctx_t ctx, const long *source, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(long, source, window_length, long value = *at; FARREACH_ORDER_LOADS(); return value;);
    }
    return pshmem_ctx_long_g(ctx, source, pe);
}
long long pshmem_longlong_g(const long long *source, int pe);
FARREACH_DIRECT long long shmem_longlong_g(const long long *source, int pe)
{
    FARREACH_AT(long long, source, window_length, long long value = *at; FARREACH_ORDER_LOADS(); return value;);
    return pshmem_longlong_g(source, pe);
}
long long pshmem_ctx_longlong_g(shmem_ctx_t ctx, const long long *source, int pe);
FARREACH_DIRECT long long shmem_ctx_longlong_g(shmem_ctx_t ctx, const long long *source, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(long long, source, window_length, long long value = *at; FARREACH_ORDER_LOADS(); return value;);
    }
    return pshmem_ctx_longlong_g(ctx, source, pe);
}
unsigned char pshmem_uchar_g(const unsigned char *source, int pe);
FARREACH_DIRECT unsigned char shmem_uchar_g(const unsigned char *source, int pe)
{
    FARREACH_AT(unsigned char, source, window_length, unsigned char value = *at; FARREACH_ORDER_LOADS(); return value;);
    return pshmem_uchar_g(source, pe);
}
unsigned char pshmem_ctx_uchar_g(shmem_ctx_t ctx, const unsigned char *source, int pe);
FARREACH_DIRECT unsigned char shmem_ctx_uchar_g(shmem_ctx_t ctx, const unsigned char *source, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned char, source, window_length, unsigned char value = *at; FARREACH_ORDER_LOADS(); return value;);
    }
    return pshmem_ctx_uchar_g(ctx, source, pe);
}
unsigned short pshmem_ushort_g(const unsigned short *source, int pe);
FARREACH_DIRECT unsigned short shmem_ushort_g(const unsigned short *source, int pe)
{
    FARREACH_AT(unsigned short, source, window_length, unsigned short value = *at; FARREACH_ORDER_LOADS(); return value;);
    return pshmem_ushort_g(source, pe);
}
unsigned short pshmem_ctx_ushort_g(shmem_ctx_t ctx, const unsigned short *source, int pe);
FARREACH_DIRECT unsigned short shmem_ctx_ushort_g(shmem_ctx_t ctx, const unsigned short *source, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned short, source, window_length, unsigned short value = *at; FARREACH_ORDER_LOADS(); return value;);
    }
    return pshmem_ctx_ushort_g(ctx, source, pe);
}
unsigned int pshmem_uint_g(const unsigned int *source, int pe);
FARREACH_DIRECT unsigned int shmem_uint_g(const unsigned int *source, int pe)
{
    FARREACH_AT(unsigned int, source, window_length, unsigned int value = *at; FARREACH_ORDER_LOADS(); return value;);
    return pshmem_uint_g(source, pe);
}
unsigned int pshmem_ctx_uint_g(shmem_ctx_t ctx, const unsigned int *source, int pe);
FARREACH_DIRECT unsigned int shmem_ctx_uint_g(shmem_ctx_t ctx, const unsigned int *source, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned int, source, window_length, unsigned int value = *at; FARREACH_ORDER_LOADS(); return value;);
    }
    return pshmem_ctx_uint_g(ctx, source, pe);
}
unsigned long pshmem_ulong_g(const unsigned long *source, int pe);
FARREACH_DIRECT unsigned long shmem_ulong_g(const unsigned long *source, int pe)
{
    FARREACH_AT(unsigned long, source, window_length, unsigned long value = *at; FARREACH_ORDER_LOADS(); return value;);
    return pshmem_ulong_g(source, pe);
}
unsigned long pshmem_ctx_ulong_g(shmem_ctx_t ctx, const unsigned long *source, int pe);
FARREACH_DIRECT unsigned long shmem_ctx_ulong_g(shmem_ctx_t ctx, const unsigned long *source, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned long, source, window_length, unsigned long value = *at; FARREACH_ORDER_LOADS(); return value;);
    }
    return pshmem_ctx_ulong_g(ctx, source, pe);
}
unsigned long long pshmem_ulonglong_g(const unsigned long long *source, int pe);
FARREACH_DIRECT unsigned long long shmem_ulonglong_g(const unsigned long long *source, int pe)
{
    FARREACH_AT(unsigned long long, source, window_length, unsigned long long value = *at; FARREACH_ORDER_LOADS(); return value;);
    return pshmem_ulonglong_g(source, pe);
}
unsigned long long pshmem_ctx_ulonglong_g(shmem_ctx_t ctx, const unsigned long long *source, int pe);
FARREACH_DIRECT unsigned long long shmem_ctx_ulonglong_g(shmem_ctx_t ctx, const unsigned long long *source, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned long long, source, window_length, unsigned long long value = *at; FARREACH_ORDER_LOADS(); return value;);
    }
    return pshmem_ctx_ulonglong_g(ctx, source, pe);
}
int8_t pshmem_int8_g(const int8_t *source, int pe);
FARREACH_DIRECT int8_t shmem_int8_g(const int8_t *source, int pe)
{
    FARREACH_AT(int8_t, source, window_length, int8_t value = *at; FARREACH_ORDER_LOADS(); return value;);
    return pshmem_int8_g(source, pe);
}
int8_t pshmem_ctx_int8_g(shmem_ctx_t ctx, const int8_t *source, int pe);
FARREACH_DIRECT int8_t shmem_ctx_int8_g(shmem_ctx_t ctx, const int8_t *source, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int8_t, source, window_length, int8_t value = *at; FARREACH_ORDER_LOADS(); return value;);
    }
    return pshmem_ctx_int8_g(ctx, source, pe);
}
int16_t pshmem_int16_g(const int16_t *source, int pe);
FARREACH_DIRECT int16_t shmem_int16_g(const int16_t *source, int pe)
{
    FARREACH_AT(int16_t, source, window_length, int16_t value = *at; FARREACH_ORDER_LOADS(); return value;);
    return pshmem_int16_g(source, pe);
}
int16_t pshmem_ctx_int16_g(shmem_ctx_t ctx, const int16_t *source, int pe);
FARREACH_DIRECT int16_t shmem_ctx_int16_g(shmem_ctx_t ctx, const int16_t *source, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int16_t, source, window_length, int16_t value = *at; FARREACH_ORDER_LOADS(); return value;);
    }
    return pshmem_ctx_int16_g(ctx, source, pe);
}
int32_t pshmem_int32_g(const int32_t *source, int pe);
FARREACH_DIRECT int32_t shmem_int32_g(const int32_t *source, int pe)
{
    FARREACH_AT(int32_t, source, window_length, int32_t value = *at; FARREACH_ORDER_LOADS(); return value;);
    return pshmem_int32_g(source, pe);
}
int32_t pshmem_ctx_int32_g(shmem_ctx_t ctx, const int32_t *source, int pe);
FARREACH_DIRECT int32_t shmem_ctx_int32_g(shmem_ctx_t ctx, const int32_t *source, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int32_t, source, window_length, int32_t value = *at; FARREACH_ORDER_LOADS(); return value;);
    }
    return pshmem_ctx_int32_g(ctx, source, pe);
}
int64_t pshmem_int64_g(const int64_t *source, int pe);
FARREACH_DIRECT int64_t shmem_int64_g(const int64_t *source, int pe)
{
    FARREACH_AT(int64_t, source, window_length, int64_t value = *at; FARREACH_ORDER_LOADS(); return value;);
    return pshmem_int64_g(source, pe);
}
int64_t pshmem_ctx_int64_g(shmem_ctx_t ctx, const int64_t *source, int pe);
FARREACH_DIRECT int64_t shmem_ctx_int64_g(shmem_ctx_t ctx, const int64_t *source, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int64_t, source, window_length, int64_t value = *at; FARREACH_ORDER_LOADS(); return value;);
    }
    return pshmem_ctx_int64_g(ctx, source, pe);
}
uint8_t pshmem_uint8_g(const uint8_t *source, int pe);
FARREACH_DIRECT uint8_t shmem_uint8_g(const uint8_t *source, int pe)
{
    FARREACH_AT(uint8_t, source, window_length, uint8_t value = *at; FARREACH_ORDER_LOADS(); return value;);
    return pshmem_uint8_g(source, pe);
}
uint8_t pshmem_ctx_uint8_g(shmem_ctx_t ctx, const uint8_t *source, int pe);
FARREACH_DIRECT uint8_t shmem_ctx_uint8_g(shmem_ctx_t ctx, const uint8_t *source, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(uint8_t, source, window_length, uint8_t value = *at; FARREACH_ORDER_LOADS(); return value;);
    }
    return pshmem_ctx_uint8_g(ctx, source, pe);
}
uint16_t pshmem_uint16_g(const uint16_t *source, int pe);
FARREACH_DIRECT uint16_t shmem_uint16_g(const uint16_t *source, int pe)
{
    FARREACH_AT(uint16_t, source, window_length, uint16_t value = *at; FARREACH_ORDER_LOADS(); return value;);
    return pshmem_uint16_g(source, pe);
}
uint16_t pshmem_ctx_uint16_g(shmem_ctx_t ctx, const uint16_t *source, int pe);
FARREACH_DIRECT uint16_t shmem_ctx_uint16_g(shmem_ctx_t ctx, const uint16_t *source, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(uint16_t, source, window_length, uint16_t value = *at; FARREACH_ORDER_LOADS(); return value;);
    }
    return pshmem_ctx_uint16_g(ctx, source, pe);
}
uint32_t pshmem_uint32_g(const uint32_t *source, int pe);
FARREACH_DIRECT uint32_t shmem_uint32_g(const uint32_t *source, int pe)
{
    FARREACH_AT(uint32_t, source, window_length, uint32_t value = *at; FARREACH_ORDER_LOADS(); return value;);
    return pshmem_uint32_g(source, pe);
}
uint32_t pshmem_ctx_uint32_g(shmem_ctx_t ctx, const uint32_t *source, int pe);
FARREACH_DIRECT uint32_t shmem_ctx_uint32_g(shmem_ctx_t ctx, const uint32_t *source, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(uint32_t, source, window_length, uint32_t value = *at; FARREACH_ORDER_LOADS(); return value;);
    }
    return pshmem_ctx_uint32_g(ctx, source, pe);
}
uint64_t pshmem_uint64_g(const uint64_t *source, int pe);
FARREACH_DIRECT uint64_t shmem_uint64_g(const uint64_t *source, int pe)
{
    FARREACH_AT(uint64_t, source, window_length, uint64_t value = *at; FARREACH_ORDER_LOADS(); return value;);
    return pshmem_uint64_g(source, pe);
}
uint64_t pshmem_ctx_uint64_g(shmem_ctx_t ctx, const uint64_t *source, int pe);
FARREACH_DIRECT uint64_t shmem_ctx_uint64_g(shmem_ctx_t ctx, const uint64_t *source, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(uint64_t, source, window_length, uint64_t value = *at; FARREACH_ORDER_LOADS(); return value;);
    }
    return pshmem_ctx_uint64_g(ctx, source, pe);
}
size_t pshmem_size_g(const size_t *source, int pe);
FARREACH_DIRECT size_t shmem_size_g(const size_t *source, int pe)
{
    FARREACH_AT(size_t, source, window_length, size_t value = *at; FARREACH_ORDER_LOADS(); return value;);
    return pshmem_size_g(source, pe);
}
size_t pshmem_ctx_size_g(shmem_ctx_t ctx, const size_t *source, int pe);
FARREACH_DIRECT size_t shmem_ctx_size_g(shmem_ctx_t ctx, const size_t *source, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(size_t, source, window_length, size_t value = *at; FARREACH_ORDER_LOADS(); return value;);
    }
    return pshmem_ctx_size_g(ctx, source, pe);
}
ptrdiff_t pshmem_ptrdiff_g(const ptrdiff_t *source, int pe);
FARREACH_DIRECT ptrdiff_t shmem_ptrdiff_g(const ptrdiff_t *source, int pe)
{
    FARREACH_AT(ptrdiff_t, source, window_length, ptrdiff_t value = *at; FARREACH_ORDER_LOADS(); return value;);
    return pshmem_ptrdiff_g(source, pe);
}
ptrdiff_t pshmem_ctx_ptrdiff_g(shmem_ctx_t ctx, const ptrdiff_t *source, int pe);
FARREACH_DIRECT ptrdiff_t shmem_ctx_ptrdiff_g(shmem_ctx_t ctx, const ptrdiff_t *source, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(ptrdiff_t, source, window_length, ptrdiff_t value = *at; FARREACH_ORDER_LOADS(); return value;);
    }
    return pshmem_ctx_ptrdiff_g(ctx, source, pe);
}

float pshmem_float_atomic_fetch(const float *source, int pe);
FARREACH_DIRECT float shmem_float_atomic_fetch(const float *source, int pe)
{
    FARREACH_AT(float, source, atomic_length, float found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    return pshmem_float_atomic_fetch(source, pe);
}
float pshmem_ctx_float_atomic_fetch(shmem_ctx_t ctx, const float *source, int pe);
FARREACH_DIRECT float shmem_ctx_float_atomic_fetch(shmem_ctx_t ctx, const float *source, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(float, source, atomic_length, float found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    }
    return pshmem_ctx_float_atomic_fetch(ctx, source, pe);
}
double pshmem_double_atomic_fetch(const double *source, int pe);
FARREACH_DIRECT double shmem_double_atomic_fetch(const double *source, int pe)
{
    FARREACH_AT(double, source, atomic_length, double found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    return pshmem_double_atomic_fetch(source, pe);
}
double pshmem_ctx_double_atomic_fetch(shmem_ctx_t ctx, const double *source, int pe);
FARREACH_DIRECT double shmem_ctx_double_atomic_fetch(shmem_ctx_t ctx, const double *source, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(double, source, atomic_length, double found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    }
    return pshmem_ctx_double_atomic_fetch(ctx, source, pe);
}
int pshmem_int_atomic_fetch(const int *source, int pe);
FARREACH_DIRECT int shmem_int_atomic_fetch(const int *source, int pe)
{
    FARREACH_AT(int, source, atomic_length, int found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    return pshmem_int_atomic_fetch(source, pe);
}
int pshmem_ctx_int_atomic_fetch(shmem_ctx_t ctx, const int *source, int pe);
FARREACH_DIRECT int shmem_ctx_int_atomic_fetch(shmem_ctx_t ctx, const int *source, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int, source, atomic_length, int found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    }
    return pshmem_ctx_int_atomic_fetch(ctx, source, pe);
}
long pshmem_long_atomic_fetch(const long *source, int pe);
FARREACH_DIRECT long shmem_long_atomic_fetch(const long *source, int pe)
{
    FARREACH_AT(long, source, atomic_length, long found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    return pshmem_long_atomic_fetch(source, pe);
}
long pshmem_ctx_long_atomic_fetch(shmem_ctx_t ctx, const long *source, int pe);
FARREACH_DIRECT long shmem_ctx_long_atomic_fetch(shmem_ctx_t ctx, const long *source, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(long, source, atomic_length, long found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    }
    return pshmem_ctx_long_atomic_fetch(ctx, source, pe);
}
long long pshmem_longlong_atomic_fetch(const long long *source, int pe);
FARREACH_DIRECT long long shmem_longlong_atomic_fetch(const long long *source, int pe)
{
    FARREACH_AT(long long, source, atomic_length, long long found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    return pshmem_longlong_atomic_fetch(source, pe);
}
long long pshmem_ctx_longlong_atomic_fetch(shmem_ctx_t ctx, const long long *source, int pe);
FARREACH_DIRECT long long shmem_ctx_longlong_atomic_fetch(shmem_ctx_t ctx, const long long *source, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(long long, source, atomic_length, long long found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    }
    return pshmem_ctx_longlong_atomic_fetch(ctx, source, pe);
}
unsigned int pshmem_uint_atomic_fetch(const unsigned int *source, int pe);
FARREACH_DIRECT unsigned int shmem_uint_atomic_fetch(const unsigned int *source, int pe)
{
    FARREACH_AT(unsigned int, source, atomic_length, unsigned int found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    return pshmem_uint_atomic_fetch(source, pe);
}
unsigned int pshmem_ctx_uint_atomic_fetch(shmem_ctx_t ctx, const unsigned int *source, int pe);
FARREACH_DIRECT unsigned int shmem_ctx_uint_atomic_fetch(shmem_ctx_t ctx, const unsigned int *source, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned int, source, atomic_length, unsigned int found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    }
    return pshmem_ctx_uint_atomic_fetch(ctx, source, pe);
}
unsigned long pshmem_ulong_atomic_fetch(const unsigned long *source, int pe);
FARREACH_DIRECT unsigned long shmem_ulong_atomic_fetch(const unsigned long *source, int pe)
{
    FARREACH_AT(unsigned long, source, atomic_length, unsigned long found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    return pshmem_ulong_atomic_fetch(source, pe);
}
unsigned long pshmem_ctx_ulong_atomic_fetch(shmem_ctx_t ctx, const unsigned long *source, int pe);
FARREACH_DIRECT unsigned long shmem_ctx_ulong_atomic_fetch(shmem_ctx_t ctx, const unsigned long *source, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned long, source, atomic_length, unsigned long found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    }
    return pshmem_ctx_ulong_atomic_fetch(ctx, source, pe);
}
unsigned long long pshmem_ulonglong_atomic_fetch(const unsigned long long *source, int pe);
FARREACH_DIRECT unsigned long long shmem_ulonglong_atomic_fetch(const unsigned long long *source, int pe)
{
    FARREACH_AT(unsigned long long, source, atomic_length, unsigned long long found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    return pshmem_ulonglong_atomic_fetch(source, pe);
}
unsigned long long pshmem_ctx_ulonglong_atomic_fetch(shmem_ctx_t ctx, const unsigned long long *source, int pe);
FARREACH_DIRECT unsigned long long shmem_ctx_ulonglong_atomic_fetch(shmem_ctx_t ctx, const unsigned long long *source, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned long long, source, atomic_length, unsigned long long found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    }
    return pshmem_ctx_ulonglong_atomic_fetch(ctx, source, pe);
}
int32_t pshmem_int32_atomic_fetch(const int32_t *source, int pe);
FARREACH_DIRECT int32_t shmem_int32_atomic_fetch(const int32_t *source, int pe)
{
    FARREACH_AT(int32_t, source, atomic_length, int32_t found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    return pshmem_int32_atomic_fetch(source, pe);
}
int32_t pshmem_ctx_int32_atomic_fetch(shmem_ctx_t ctx, const int32_t *source, int pe);
FARREACH_DIRECT int32_t shmem_ctx_int32_atomic_fetch(shmem_ctx_t ctx, const int32_t *source, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int32_t, source, atomic_length, int32_t found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    }
    return pshmem_ctx_int32_atomic_fetch(ctx, source, pe);
}
int64_t pshmem_int64_atomic_fetch(const int64_t *source, int pe);
FARREACH_DIRECT int64_t shmem_int64_atomic_fetch(const int64_t *source, int pe)
{
    FARREACH_AT(int64_t, source, atomic_length, int64_t found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    return pshmem_int64_atomic_fetch(source, pe);
}
int64_t pshmem_ctx_int64_atomic_fetch(shmem_ctx_t ctx, const int64_t *source, int pe);
FARREACH_DIRECT int64_t shmem_ctx_int64_atomic_fetch(shmem_ctx_t ctx, const int64_t *source, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int64_t, source, atomic_length, int64_t found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    }
    return pshmem_ctx_int64_atomic_fetch(ctx, source, pe);
}
uint32_t pshmem_uint32_atomic_fetch(const uint32_t *source, int pe);
FARREACH_DIRECT uint32_t shmem_uint32_atomic_fetch(const uint32_t *source, int pe)
{
    FARREACH_AT(uint32_t, source, atomic_length, uint32_t found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    return pshmem_uint32_atomic_fetch(source, pe);
}
uint32_t pshmem_ctx_uint32_atomic_fetch(shmem_ctx_t ctx, const uint32_t *source, int pe);
FARREACH_DIRECT uint32_t shmem_ctx_uint32_atomic_fetch(shmem_ctx_t ctx, const uint32_t *source, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(uint32_t, source, atomic_length, uint32_t found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    }
    return pshmem_ctx_uint32_atomic_fetch(ctx, source, pe);
}
uint64_t pshmem_uint64_atomic_fetch(const uint64_t *source, int pe);
FARREACH_DIRECT uint64_t shmem_uint64_atomic_fetch(const uint64_t *source, int pe)
{
    FARREACH_AT(uint64_t, source, atomic_length, uint64_t found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    return pshmem_uint64_atomic_fetch(source, pe);
}
uint64_t pshmem_ctx_uint64_atomic_fetch(shmem_ctx_t ctx, const uint64_t *source, int pe);
FARREACH_DIRECT uint64_t shmem_ctx_uint64_atomic_fetch(shmem_ctx_t ctx, const uint64_t *source, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(uint64_t, source, atomic_length, uint64_t found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    }
    return pshmem_ctx_uint64_atomic_fetch(ctx, source, pe);
}
size_t pshmem_size_atomic_fetch(const size_t *source, int pe);
FARREACH_DIRECT size_t shmem_size_atomic_fetch(const size_t *source, int pe)
{
    FARREACH_AT(size_t, source, atomic_length, size_t found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    return pshmem_size_atomic_fetch(source, pe);
}
size_t pshmem_ctx_size_atomic_fetch(shmem_ctx_t ctx, const size_t *source, int pe);
FARREACH_DIRECT size_t shmem_ctx_size_atomic_fetch(shmem_ctx_t ctx, const size_t *source, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(size_t, source, atomic_length, size_t found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    }
    return pshmem_ctx_size_atomic_fetch(ctx, source, pe);
}
ptrdiff_t pshmem_ptrdiff_atomic_fetch(const ptrdiff_t *source, int pe);
FARREACH_DIRECT ptrdiff_t shmem_ptrdiff_atomic_fetch(const ptrdiff_t *source, int pe)
{
    FARREACH_AT(ptrdiff_t, source, atomic_length, ptrdiff_t found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    return pshmem_ptrdiff_atomic_fetch(source, pe);
}
ptrdiff_t pshmem_ctx_ptrdiff_atomic_fetch(shmem_ctx_t ctx, const ptrdiff_t *source, int pe);
FARREACH_DIRECT ptrdiff_t shmem_ctx_ptrdiff_atomic_fetch(shmem_ctx_t ctx, const ptrdiff_t *source, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(ptrdiff_t, source, atomic_length, ptrdiff_t found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    }
    return pshmem_ctx_ptrdiff_atomic_fetch(ctx, source, pe);
}

void pshmem_float_atomic_set(float *dest, float value, int pe);
FARREACH_DIRECT void shmem_float_atomic_set(float *dest, float value, int pe)
{
    FARREACH_AT(float, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    pshmem_float_atomic_set(dest, value, pe);
}
void pshmem_ctx_float_atomic_set(shmem_ctx_t ctx, float *dest, float value, int pe);
FARREACH_DIRECT void shmem_ctx_float_atomic_set(shmem_ctx_t ctx, float *dest, float value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(float, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    }
    pshmem_ctx_float_atomic_set(ctx, dest, value, pe);
}
void pshmem_double_atomic_set(double *dest, double value, int pe);
FARREACH_DIRECT void shmem_double_atomic_set(double *dest, double value, int pe)
{
    FARREACH_AT(double, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    pshmem_double_atomic_set(dest, value, pe);
}
void pshmem_ctx_double_atomic_set(shmem_ctx_t ctx, double *dest, double value, int pe);
FARREACH_DIRECT void shmem_ctx_double_atomic_set(shmem_ctx_t ctx, double *dest, double value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(double, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    }
    pshmem_ctx_double_atomic_set(ctx, dest, value, pe);
}
void pshmem_int_atomic_set(int *dest, int value, int pe);
FARREACH_DIRECT void shmem_int_atomic_set(int *dest, int value, int pe)
{
    FARREACH_AT(int, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    pshmem_int_atomic_set(dest, value, pe);
}
void pshmem_ctx_int_atomic_set(shmem_ctx_t ctx, int *dest, int value, int pe);
FARREACH_DIRECT void shmem_ctx_int_atomic_set(shmem_ctx_t ctx, int *dest, int value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    }
    pshmem_ctx_int_atomic_set(ctx, dest, value, pe);
}
void pshmem_long_atomic_set(long *dest, long value, int pe);
FARREACH_DIRECT void shmem_long_atomic_set(long *dest, long value, int pe)
{
    FARREACH_AT(long, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    pshmem_long_atomic_set(dest, value, pe);
}
void pshmem_ctx_long_atomic_set(shmem_ctx_t ctx, long *dest, long value, int pe);
FARREACH_DIRECT void shmem_ctx_long_atomic_set(shmem_ctx_t ctx, long *dest, long value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(long, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    }
    pshmem_ctx_long_atomic_set(ctx, dest, value, pe);
}
void pshmem_longlong_atomic_set(long long *dest, long long value, int pe);
FARREACH_DIRECT void shmem_longlong_atomic_set(long long *dest, long long value, int pe)
{
    FARREACH_AT(long long, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    pshmem_longlong_atomic_set(dest, value, pe);
}
void pshmem_ctx_longlong_atomic_set(shmem_ctx_t ctx, long long *dest, long long value, int pe);
FARREACH_DIRECT void shmem_ctx_longlong_atomic_set(shmem_ctx_t ctx, long long *dest, long long value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(long long, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    }
    pshmem_ctx_longlong_atomic_set(ctx, dest, value, pe);
}
void pshmem_uint_atomic_set(unsigned int *dest, unsigned int value, int pe);
FARREACH_DIRECT void shmem_uint_atomic_set(unsigned int *dest, unsigned int value, int pe)
{
    FARREACH_AT(unsigned int, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    pshmem_uint_atomic_set(dest, value, pe);
}
void pshmem_ctx_uint_atomic_set(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe);
FARREACH_DIRECT void shmem_ctx_uint_atomic_set(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned int, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    }
    pshmem_ctx_uint_atomic_set(ctx, dest, value, pe);
}
void pshmem_ulong_atomic_set(unsigned long *dest, unsigned long value, int pe);
FARREACH_DIRECT void shmem_ulong_atomic_set(unsigned long *dest, unsigned long value, int pe)
{
    FARREACH_AT(unsigned long, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    pshmem_ulong_atomic_set(dest, value, pe);
}
void pshmem_ctx_ulong_atomic_set(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe);
FARREACH_DIRECT void shmem_ctx_ulong_atomic_set(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned long, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    }
    pshmem_ctx_ulong_atomic_set(ctx, dest, value, pe);
}
void pshmem_ulonglong_atomic_set(unsigned long long *dest, unsigned long long value, int pe);
FARREACH_DIRECT void shmem_ulonglong_atomic_set(unsigned long long *dest, unsigned long long value, int pe)
{
    FARREACH_AT(unsigned long long, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    pshmem_ulonglong_atomic_set(dest, value, pe);
}
void pshmem_ctx_ulonglong_atomic_set(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe);
FARREACH_DIRECT void shmem_ctx_ulonglong_atomic_set(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned long long, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    }
    pshmem_ctx_ulonglong_atomic_set(ctx, dest, value, pe);
}
void pshmem_int32_atomic_set(int32_t *dest, int32_t value, int pe);
FARREACH_DIRECT void shmem_int32_atomic_set(int32_t *dest, int32_t value, int pe)
{
    FARREACH_AT(int32_t, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    pshmem_int32_atomic_set(dest, value, pe);
}
void pshmem_ctx_int32_atomic_set(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe);
FARREACH_DIRECT void shmem_ctx_int32_atomic_set(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int32_t, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    }
    pshmem_ctx_int32_atomic_set(ctx, dest, value, pe);
}
void pshmem_int64_atomic_set(int64_t *dest, int64_t value, int pe);
FARREACH_DIRECT void shmem_int64_atomic_set(int64_t *dest, int64_t value, int pe)
{
    FARREACH_AT(int64_t, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    pshmem_int64_atomic_set(dest, value, pe);
}
void pshmem_ctx_int64_atomic_set(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe);
FARREACH_DIRECT void shmem_ctx_int64_atomic_set(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int64_t, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    }
    pshmem_ctx_int64_atomic_set(ctx, dest, value, pe);
}
void pshmem_uint32_atomic_set(uint32_t *dest, uint32_t value, int pe);
FARREACH_DIRECT void shmem_uint32_atomic_set(uint32_t *dest, uint32_t value, int pe)
{
    FARREACH_AT(uint32_t, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    pshmem_uint32_atomic_set(dest, value, pe);
}
void pshmem_ctx_uint32_atomic_set(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe);
FARREACH_DIRECT void shmem_ctx_uint32_atomic_set(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(uint32_t, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    }
    pshmem_ctx_uint32_atomic_set(ctx, dest, value, pe);
}
void pshmem_uint64_atomic_set(uint64_t *dest, uint64_t value, int pe);
FARREACH_DIRECT void shmem_uint64_atomic_set(uint64_t *dest, uint64_t value, int pe)
{
    FARREACH_AT(uint64_t, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    pshmem_uint64_atomic_set(dest, value, pe);
}
void pshmem_ctx_uint64_atomic_set(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe);
FARREACH_DIRECT void shmem_ctx_uint64_atomic_set(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(uint64_t, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    }
    pshmem_ctx_uint64_atomic_set(ctx, dest, value, pe);
}
void pshmem_size_atomic_set(size_t *dest, size_t value, int pe);
FARREACH_DIRECT void shmem_size_atomic_set(size_t *dest, size_t value, int pe)
{
    FARREACH_AT(size_t, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    pshmem_size_atomic_set(dest, value, pe);
}
void pshmem_ctx_size_atomic_set(shmem_ctx_t ctx, size_t *dest, size_t value, int pe);
FARREACH_DIRECT void shmem_ctx_size_atomic_set(shmem_ctx_t ctx, size_t *dest, size_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(size_t, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    }
    pshmem_ctx_size_atomic_set(ctx, dest, value, pe);
}
void pshmem_ptrdiff_atomic_set(ptrdiff_t *dest, ptrdiff_t value, int pe);
FARREACH_DIRECT void shmem_ptrdiff_atomic_set(ptrdiff_t *dest, ptrdiff_t value, int pe)
{
    FARREACH_AT(ptrdiff_t, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    pshmem_ptrdiff_atomic_set(dest, value, pe);
}
void pshmem_ctx_ptrdiff_atomic_set(shmem_ctx_t ctx, ptrdiff_t *dest, ptrdiff_t value, int pe);
FARREACH_DIRECT void shmem_ctx_ptrdiff_atomic_set(shmem_ctx_t ctx, ptrdiff_t *dest, ptrdiff_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(ptrdiff_t, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    }
    pshmem_ctx_ptrdiff_atomic_set(ctx, dest, value, pe);
}

int pshmem_int_atomic_compare_swap(int *dest, int cond, int value, int pe);
FARREACH_DIRECT int shmem_int_atomic_compare_swap(int *dest, int cond, int value, int pe)
{
    FARREACH_AT(int, dest, atomic_length, __atomic_compare_exchange_n(at, &cond, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return cond;);
    return pshmem_int_atomic_compare_swap(dest, cond, value, pe);
}
int pshmem_ctx_int_atomic_compare_swap(shmem_ctx_t ctx, int *dest, int cond, int value, int pe);
FARREACH_DIRECT int shmem_ctx_int_atomic_compare_swap(shmem_ctx_t ctx, int *dest, int cond, int value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int, dest, atomic_length, __atomic_compare_exchange_n(at, &cond, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return cond;);
    }
    return pshmem_ctx_int_atomic_compare_swap(ctx, dest, cond, value, pe);
}
long pshmem_long_atomic_compare_swap(long *dest, long cond, long value, int pe);
FARREACH_DIRECT long shmem_long_atomic_compare_swap(long *dest, long cond, long value, int pe)
{
    FARREACH_AT(long, dest, atomic_length, __atomic_compare_exchange_n(at, &cond, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return cond;);
    return pshmem_long_atomic_compare_swap(dest, cond, value, pe);
}
long pshmem_ctx_long_atomic_compare_swap(shmem_ctx_t ctx, long *dest, long cond, long value, int pe);
FARREACH_DIRECT long shmem_ctx_long_atomic_compare_swap(shmem_ctx_t ctx, long *dest, long cond, long value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(long, dest, atomic_length, __atomic_compare_exchange_n(at, &cond, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return cond;);
    }
    return pshmem_ctx_long_atomic_compare_swap(ctx, dest, cond, value, pe);
}
long long pshmem_longlong_atomic_compare_swap(long long *dest, long long cond, long long value, int pe);
FARREACH_DIRECT long long shmem_longlong_atomic_compare_swap(long long *dest, long long cond, long long value, int pe)
{
    FARREACH_AT(long long, dest, atomic_length, __atomic_compare_exchange_n(at, &cond, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return cond;);
    return pshmem_longlong_atomic_compare_swap(dest, cond, value, pe);
}
long long pshmem_ctx_longlong_atomic_compare_swap(shmem_ctx_t ctx, long long *dest, long long cond, long long value, int pe);
FARREACH_DIRECT long long shmem_ctx_longlong_atomic_compare_swap(shmem_ctx_t ctx, long long *dest, long long cond, long long value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(long long, dest, atomic_length, __atomic_compare_exchange_n(at, &cond, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return cond;);
    }
    return pshmem_ctx_longlong_atomic_compare_swap(ctx, dest, cond, value, pe);
}
unsigned int pshmem_uint_atomic_compare_swap(unsigned int *dest, unsigned int cond, unsigned int value, int pe);
FARREACH_DIRECT unsigned int shmem_uint_atomic_compare_swap(unsigned int *dest, unsigned int cond, unsigned int value, int pe)
{
    FARREACH_AT(unsigned int, dest, atomic_length, __atomic_compare_exchange_n(at, &cond, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return cond;);
    return pshmem_uint_atomic_compare_swap(dest, cond, value, pe);
}
unsigned int pshmem_ctx_uint_atomic_compare_swap(shmem_ctx_t ctx, unsigned int *dest, unsigned int cond, unsigned int value, int pe);
FARREACH_DIRECT unsigned int shmem_ctx_uint_atomic_compare_swap(shmem_ctx_t ctx, unsigned int *dest, unsigned int cond, unsigned int value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned int, dest, atomic_length, __atomic_compare_exchange_n(at, &cond, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return cond;);
    }
    return pshmem_ctx_uint_atomic_compare_swap(ctx, dest, cond, value, pe);
}
unsigned long pshmem_ulong_atomic_compare_swap(unsigned long *dest, unsigned long cond, unsigned long value, int pe);
FARREACH_DIRECT unsigned long shmem_ulong_atomic_compare_swap(unsigned long *dest, unsigned long cond, unsigned long value, int pe)
{
    FARREACH_AT(unsigned long, dest, atomic_length, __atomic_compare_exchange_n(at, &cond, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return cond;);
    return pshmem_ulong_atomic_compare_swap(dest, cond, value, pe);
}
unsigned long pshmem_ctx_ulong_atomic_compare_swap(shmem_ctx_t ctx, unsigned long *dest, unsigned long cond, unsigned long value, int pe);
FARREACH_DIRECT unsigned long shmem_ctx_ulong_atomic_compare_swap(shmem_ctx_t ctx, unsigned long *dest, unsigned long cond, unsigned long value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned long, dest, atomic_length, __atomic_compare_exchange_n(at, &cond, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return cond;);
    }
    return pshmem_ctx_ulong_atomic_compare_swap(ctx, dest, cond, value, pe);
}
unsigned long long pshmem_ulonglong_atomic_compare_swap(unsigned long long *dest, unsigned long long cond, unsigned long long value, int pe);
FARREACH_DIRECT unsigned long long shmem_ulonglong_atomic_compare_swap(unsigned long long *dest, unsigned long long cond, unsigned long long value, int pe)
{
    FARREACH_AT(unsigned long long, dest, atomic_length, __atomic_compare_exchange_n(at, &cond, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return cond;);
    return pshmem_ulonglong_atomic_compare_swap(dest, cond, value, pe);
}
unsigned long long pshmem_ctx_ulonglong_atomic_compare_swap(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long cond, unsigned long long value, int pe);
FARREACH_DIRECT unsigned long long shmem_ctx_ulonglong_atomic_compare_swap(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long cond, unsigned long long value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned long long, dest, atomic_length, __atomic_compare_exchange_n(at, &cond, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return cond;);
    }
    return pshmem_ctx_ulonglong_atomic_compare_swap(ctx, dest, cond, value, pe);
}
int32_t pshmem_int32_atomic_compare_swap(int32_t *dest, int32_t cond, int32_t value, int pe);
FARREACH_DIRECT int32_t shmem_int32_atomic_compare_swap(int32_t *dest, int32_t cond, int32_t value, int pe)
{
    FARREACH_AT(int32_t, dest, atomic_length, __atomic_compare_exchange_n(at, &cond, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return cond;);
    return pshmem_int32_atomic_compare_swap(dest, cond, value, pe);
}
int32_t pshmem_ctx_int32_atomic_compare_swap(shmem_ctx_t ctx, int32_t *dest, int32_t cond, int32_t value, int pe);
FARREACH_DIRECT int32_t shmem_ctx_int32_atomic_compare_swap(shmem_ctx_t ctx, int32_t *dest, int32_t cond, int32_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int32_t, dest, atomic_length, __atomic_compare_exchange_n(at, &cond, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return cond;);
    }
    return pshmem_ctx_int32_atomic_compare_swap(ctx, dest, cond, value, pe);
}
int64_t pshmem_int64_atomic_compare_swap(int64_t *dest, int64_t cond, int64_t value, int pe);
FARREACH_DIRECT int64_t shmem_int64_atomic_compare_swap(int64_t *dest, int64_t cond, int64_t value, int pe)
{
    FARREACH_AT(int64_t, dest, atomic_length, __atomic_compare_exchange_n(at, &cond, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return cond;);
    return pshmem_int64_atomic_compare_swap(dest, cond, value, pe);
}
int64_t pshmem_ctx_int64_atomic_compare_swap(shmem_ctx_t ctx, int64_t *dest, int64_t cond, int64_t value, int pe);
FARREACH_DIRECT int64_t shmem_ctx_int64_atomic_compare_swap(shmem_ctx_t ctx, int64_t *dest, int64_t cond, int64_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int64_t, dest, atomic_length, __atomic_compare_exchange_n(at, &cond, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return cond;);
    }
    return pshmem_ctx_int64_atomic_compare_swap(ctx, dest, cond, value, pe);
}
uint32_t pshmem_uint32_atomic_compare_swap(uint32_t *dest, uint32_t cond, uint32_t value, int pe);
FARREACH_DIRECT uint32_t shmem_uint32_atomic_compare_swap(uint32_t *dest, uint32_t cond, uint32_t value, int pe)
{
    FARREACH_AT(uint32_t, dest, atomic_length, __atomic_compare_exchange_n(at, &cond, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return cond;);
    return pshmem_uint32_atomic_compare_swap(dest, cond, value, pe);
}
uint32_t pshmem_ctx_uint32_atomic_compare_swap(shmem_ctx_t ctx, uint32_t *dest, uint32_t cond, uint32_t value, int pe);
FARREACH_DIRECT uint32_t shmem_ctx_uint32_atomic_compare_swap(shmem_ctx_t ctx, uint32_t *dest, uint32_t cond, uint32_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(uint32_t, dest, atomic_length, __atomic_compare_exchange_n(at, &cond, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return cond;);
    }
    return pshmem_ctx_uint32_atomic_compare_swap(ctx, dest, cond, value, pe);
}
uint64_t pshmem_uint64_atomic_compare_swap(uint64_t *dest, uint64_t cond, uint64_t value, int pe);
FARREACH_DIRECT uint64_t shmem_uint64_atomic_compare_swap(uint64_t *dest, uint64_t cond, uint64_t value, int pe)
{
    FARREACH_AT(uint64_t, dest, atomic_length, __atomic_compare_exchange_n(at, &cond, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return cond;);
    return pshmem_uint64_atomic_compare_swap(dest, cond, value, pe);
}
uint64_t pshmem_ctx_uint64_atomic_compare_swap(shmem_ctx_t ctx, uint64_t *dest, uint64_t cond, uint64_t value, int pe);
FARREACH_DIRECT uint64_t shmem_ctx_uint64_atomic_compare_swap(shmem_ctx_t ctx, uint64_t *dest, uint64_t cond, uint64_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(uint64_t, dest, atomic_length, __atomic_compare_exchange_n(at, &cond, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return cond;);
    }
    return pshmem_ctx_uint64_atomic_compare_swap(ctx, dest, cond, value, pe);
}
size_t pshmem_size_atomic_compare_swap(size_t *dest, size_t cond, size_t value, int pe);
FARREACH_DIRECT size_t shmem_size_atomic_compare_swap(size_t *dest, size_t cond, size_t value, int pe)
{
    FARREACH_AT(size_t, dest, atomic_length, __atomic_compare_exchange_n(at, &cond, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return cond;);
    return pshmem_size_atomic_compare_swap(dest, cond, value, pe);
}
size_t pshmem_ctx_size_atomic_compare_swap(shmem_ctx_t ctx, size_t *dest, size_t cond, size_t value, int pe);
FARREACH_DIRECT size_t shmem_ctx_size_atomic_compare_swap(shmem_ctx_t ctx, size_t *dest, size_t cond, size_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(size_t, dest, atomic_length, __atomic_compare_exchange_n(at, &cond, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return cond;);
    }
    return pshmem_ctx_size_atomic_compare_swap(ctx, dest, cond, value, pe);
}
ptrdiff_t pshmem_ptrdiff_atomic_compare_swap(ptrdiff_t *dest, ptrdiff_t cond, ptrdiff_t value, int pe);
FARREACH_DIRECT ptrdiff_t shmem_ptrdiff_atomic_compare_swap(ptrdiff_t *dest, ptrdiff_t cond, ptrdiff_t value, int pe)
{
    FARREACH_AT(ptrdiff_t, dest, atomic_length, __atomic_compare_exchange_n(at, &cond, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return cond;);
    return pshmem_ptrdiff_atomic_compare_swap(dest, cond, value, pe);
}
ptrdiff_t pshmem_ctx_ptrdiff_atomic_compare_swap(shmem_ctx_t ctx, ptrdiff_t *dest, ptrdiff_t cond, ptrdiff_t value, int pe);
FARREACH_DIRECT ptrdiff_t shmem_ctx_ptrdiff_atomic_compare_swap(shmem_ctx_t ctx, ptrdiff_t *dest, ptrdiff_t cond, ptrdiff_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(ptrdiff_t, dest, atomic_length, __atomic_compare_exchange_n(at, &cond, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return cond;);
    }
    return pshmem_ctx_ptrdiff_atomic_compare_swap(ctx, dest, cond, value, pe);
}

float pshmem_float_atomic_swap(float *dest, float value, int pe);
FARREACH_DIRECT float shmem_float_atomic_swap(float *dest, float value, int pe)
{
    FARREACH_AT(float, dest, atomic_length, float found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    return pshmem_float_atomic_swap(dest, value, pe);
}
float pshmem_ctx_float_atomic_swap(shmem_ctx_t ctx, float *dest, float value, int pe);
FARREACH_DIRECT float shmem_ctx_float_atomic_swap(shmem_ctx_t ctx, float *dest, float value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(float, dest, atomic_length, float found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    }
    return pshmem_ctx_float_atomic_swap(ctx, dest, value, pe);
}
double pshmem_double_atomic_swap(double *dest, double value, int pe);
FARREACH_DIRECT double shmem_double_atomic_swap(double *dest, double value, int pe)
{
    FARREACH_AT(double, dest, atomic_length, double found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    return pshmem_double_atomic_swap(dest, value, pe);
}
double pshmem_ctx_double_atomic_swap(shmem_ctx_t ctx, double *dest, double value, int pe);
FARREACH_DIRECT double shmem_ctx_double_atomic_swap(shmem_ctx_t ctx, double *dest, double value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(double, dest, atomic_length, double found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    }
    return pshmem_ctx_double_atomic_swap(ctx, dest, value, pe);
}
int pshmem_int_atomic_swap(int *dest, int value, int pe);
FARREACH_DIRECT int shmem_int_atomic_swap(int *dest, int value, int pe)
{
    FARREACH_AT(int, dest, atomic_length, int found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    return pshmem_int_atomic_swap(dest, value, pe);
}
int pshmem_ctx_int_atomic_swap(shmem_ctx_t ctx, int *dest, int value, int pe);
FARREACH_DIRECT int shmem_ctx_int_atomic_swap(shmem_ctx_t ctx, int *dest, int value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int, dest, atomic_length, int found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    }
    return pshmem_ctx_int_atomic_swap(ctx, dest, value, pe);
}
long pshmem_long_atomic_swap(long *dest, long value, int pe);
FARREACH_DIRECT long shmem_long_atomic_swap(long *dest, long value, int pe)
{
    FARREACH_AT(long, dest, atomic_length, long found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    return pshmem_long_atomic_swap(dest, value, pe);
}
long pshmem_ctx_long_atomic_swap(shmem_ctx_t ctx, long *dest, long value, int pe);
FARREACH_DIRECT long shmem_ctx_long_atomic_swap(shmem_ctx_t ctx, long *dest, long value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(long, dest, atomic_length, long found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    }
    return pshmem_ctx_long_atomic_swap(ctx, dest, value, pe);
}
long long pshmem_longlong_atomic_swap(long long *dest, long long value, int pe);
FARREACH_DIRECT long long shmem_longlong_atomic_swap(long long *dest, long long value, int pe)
{
    FARREACH_AT(long long, dest, atomic_length, long long found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    return pshmem_longlong_atomic_swap(dest, value, pe);
}
long long pshmem_ctx_longlong_atomic_swap(shmem_ctx_t ctx, long long *dest, long long value, int pe);
FARREACH_DIRECT long long shmem_ctx_longlong_atomic_swap(shmem_ctx_t ctx, long long *dest, long long value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(long long, dest, atomic_length, long long found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    }
    return pshmem_ctx_longlong_atomic_swap(ctx, dest, value, pe);
}
unsigned int pshmem_uint_atomic_swap(unsigned int *dest, unsigned int value, int pe);
FARREACH_DIRECT unsigned int shmem_uint_atomic_swap(unsigned int *dest, unsigned int value, int pe)
{
    FARREACH_AT(unsigned int, dest, atomic_length, unsigned int found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    return pshmem_uint_atomic_swap(dest, value, pe);
}
unsigned int pshmem_ctx_uint_atomic_swap(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe);
FARREACH_DIRECT unsigned int shmem_ctx_uint_atomic_swap(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned int, dest, atomic_length, unsigned int found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    }
    return pshmem_ctx_uint_atomic_swap(ctx, dest, value, pe);
}
unsigned long pshmem_ulong_atomic_swap(unsigned long *dest, unsigned long value, int pe);
FARREACH_DIRECT unsigned long shmem_ulong_atomic_swap(unsigned long *dest, unsigned long value, int pe)
{
    FARREACH_AT(unsigned long, dest, atomic_length, unsigned long found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    return pshmem_ulong_atomic_swap(dest, value, pe);
}
unsigned long pshmem_ctx_ulong_atomic_swap(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe);
FARREACH_DIRECT unsigned long shmem_ctx_ulong_atomic_swap(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned long, dest, atomic_length, unsigned long found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    }
    return pshmem_ctx_ulong_atomic_swap(ctx, dest, value, pe);
}
unsigned long long pshmem_ulonglong_atomic_swap(unsigned long long *dest, unsigned long long value, int pe);
FARREACH_DIRECT unsigned long long shmem_ulonglong_atomic_swap(unsigned long long *dest, unsigned long long value, int pe)
{
    FARREACH_AT(unsigned long long, dest, atomic_length, unsigned long long found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    return pshmem_ulonglong_atomic_swap(dest, value, pe);
}
unsigned long long pshmem_ctx_ulonglong_atomic_swap(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe);
FARREACH_DIRECT unsigned long long shmem_ctx_ulonglong_atomic_swap(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned long long, dest, atomic_length, unsigned long long found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    }
    return pshmem_ctx_ulonglong_atomic_swap(ctx, dest, value, pe);
}
int32_t pshmem_int32_atomic_swap(int32_t *dest, int32_t value, int pe);
FARREACH_DIRECT int32_t shmem_int32_atomic_swap(int32_t *dest, int32_t value, int pe)
{
    FARREACH_AT(int32_t, dest, atomic_length, int32_t found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    return pshmem_int32_atomic_swap(dest, value, pe);
}
int32_t pshmem_ctx_int32_atomic_swap(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe);
FARREACH_DIRECT int32_t shmem_ctx_int32_atomic_swap(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int32_t, dest, atomic_length, int32_t found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    }
    return pshmem_ctx_int32_atomic_swap(ctx, dest, value, pe);
}
int64_t pshmem_int64_atomic_swap(int64_t *dest, int64_t value, int pe);
FARREACH_DIRECT int64_t shmem_int64_atomic_swap(int64_t *dest, int64_t value, int pe)
{
    FARREACH_AT(int64_t, dest, atomic_length, int64_t found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    return pshmem_int64_atomic_swap(dest, value, pe);
}
int64_t pshmem_ctx_int64_atomic_swap(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe);
FARREACH_DIRECT int64_t shmem_ctx_int64_atomic_swap(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int64_t, dest, atomic_length, int64_t found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    }
    return pshmem_ctx_int64_atomic_swap(ctx, dest, value, pe);
}
uint32_t pshmem_uint32_atomic_swap(uint32_t *dest, uint32_t value, int pe);
FARREACH_DIRECT uint32_t shmem_uint32_atomic_swap(uint32_t *dest, uint32_t value, int pe)
{
    FARREACH_AT(uint32_t, dest, atomic_length, uint32_t found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    return pshmem_uint32_atomic_swap(dest, value, pe);
}
uint32_t pshmem_ctx_uint32_atomic_swap(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe);
FARREACH_DIRECT uint32_t shmem_ctx_uint32_atomic_swap(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(uint32_t, dest, atomic_length, uint32_t found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    }
    return pshmem_ctx_uint32_atomic_swap(ctx, dest, value, pe);
}
uint64_t pshmem_uint64_atomic_swap(uint64_t *dest, uint64_t value, int pe);
FARREACH_DIRECT uint64_t shmem_uint64_atomic_swap(uint64_t *dest, uint64_t value, int pe)
{
    FARREACH_AT(uint64_t, dest, atomic_length, uint64_t found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    return pshmem_uint64_atomic_swap(dest, value, pe);
}
uint64_t pshmem_ctx_uint64_atomic_swap(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe);
FARREACH_DIRECT uint64_t shmem_ctx_uint64_atomic_swap(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(uint64_t, dest, atomic_length, uint64_t found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    }
    return pshmem_ctx_uint64_atomic_swap(ctx, dest, value, pe);
}
size_t pshmem_size_atomic_swap(size_t *dest, size_t value, int pe);
FARREACH_DIRECT size_t shmem_size_atomic_swap(size_t *dest, size_t value, int pe)
{
    FARREACH_AT(size_t, dest, atomic_length, size_t found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    return pshmem_size_atomic_swap(dest, value, pe);
}
size_t pshmem_ctx_size_atomic_swap(shmem_ctx_t ctx, size_t *dest, size_t value, int pe);
FARREACH_DIRECT size_t shmem_ctx_size_atomic_swap(shmem_ctx_t ctx, size_t *dest, size_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(size_t, dest, atomic_length, size_t found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    }
    return pshmem_ctx_size_atomic_swap(ctx, dest, value, pe);
}
ptrdiff_t pshmem_ptrdiff_atomic_swap(ptrdiff_t *dest, ptrdiff_t value, int pe);
FARREACH_DIRECT ptrdiff_t shmem_ptrdiff_atomic_swap(ptrdiff_t *dest, ptrdiff_t value, int pe)
{
    FARREACH_AT(ptrdiff_t, dest, atomic_length, ptrdiff_t found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    return pshmem_ptrdiff_atomic_swap(dest, value, pe);
}
ptrdiff_t pshmem_ctx_ptrdiff_atomic_swap(shmem_ctx_t ctx, ptrdiff_t *dest, ptrdiff_t value, int pe);
FARREACH_DIRECT ptrdiff_t shmem_ctx_ptrdiff_atomic_swap(shmem_ctx_t ctx, ptrdiff_t *dest, ptrdiff_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(ptrdiff_t, dest, atomic_length, ptrdiff_t found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    }
    return pshmem_ctx_ptrdiff_atomic_swap(ctx, dest, value, pe);
}

int pshmem_int_atomic_fetch_inc(int *dest, int pe);
FARREACH_DIRECT int shmem_int_atomic_fetch_inc(int *dest, int pe)
{
    FARREACH_AT(int, dest, atomic_length, return __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST););
    return pshmem_int_atomic_fetch_inc(dest, pe);
}
int pshmem_ctx_int_atomic_fetch_inc(shmem_ctx_t ctx, int *dest, int pe);
FARREACH_DIRECT int shmem_ctx_int_atomic_fetch_inc(shmem_ctx_t ctx, int *dest, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int, dest, atomic_length, return __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_int_atomic_fetch_inc(ctx, dest, pe);
}
long pshmem_long_atomic_fetch_inc(long *dest, int pe);
FARREACH_DIRECT long shmem_long_atomic_fetch_inc(long *dest, int pe)
{
    FARREACH_AT(long, dest, atomic_length, return __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST););
    return pshmem_long_atomic_fetch_inc(dest, pe);
}
long pshmem_ctx_long_atomic_fetch_inc(shmem_ctx_t ctx, long *dest, int pe);
FARREACH_DIRECT long shmem_ctx_long_atomic_fetch_inc(shmem_ctx_t ctx, long *dest, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(long, dest, atomic_length, return __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_long_atomic_fetch_inc(ctx, dest, pe);
}
long long pshmem_longlong_atomic_fetch_inc(long long *dest, int pe);
FARREACH_DIRECT long long shmem_longlong_atomic_fetch_inc(long long *dest, int pe)
{
    FARREACH_AT(long long, dest, atomic_length, return __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST););
    return pshmem_longlong_atomic_fetch_inc(dest, pe);
}
long long pshmem_ctx_longlong_atomic_fetch_inc(shmem_ctx_t ctx, long long *dest, int pe);
FARREACH_DIRECT long long shmem_ctx_longlong_atomic_fetch_inc(shmem_ctx_t ctx, long long *dest, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(long long, dest, atomic_length, return __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_longlong_atomic_fetch_inc(ctx, dest, pe);
}
unsigned int pshmem_uint_atomic_fetch_inc(unsigned int *dest, int pe);
FARREACH_DIRECT unsigned int shmem_uint_atomic_fetch_inc(unsigned int *dest, int pe)
{
    FARREACH_AT(unsigned int, dest, atomic_length, return __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST););
    return pshmem_uint_atomic_fetch_inc(dest, pe);
}
unsigned int pshmem_ctx_uint_atomic_fetch_inc(shmem_ctx_t ctx, unsigned int *dest, int pe);
FARREACH_DIRECT unsigned int shmem_ctx_uint_atomic_fetch_inc(shmem_ctx_t ctx, unsigned int *dest, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned int, dest, atomic_length, return __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_uint_atomic_fetch_inc(ctx, dest, pe);
}
unsigned long pshmem_ulong_atomic_fetch_inc(unsigned long *dest, int pe);
FARREACH_DIRECT unsigned long shmem_ulong_atomic_fetch_inc(unsigned long *dest, int pe)
{
    FARREACH_AT(unsigned long, dest, atomic_length, return __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST););
    return pshmem_ulong_atomic_fetch_inc(dest, pe);
}
unsigned long pshmem_ctx_ulong_atomic_fetch_inc(shmem_ctx_t ctx, unsigned long *dest, int pe);
FARREACH_DIRECT unsigned long shmem_ctx_ulong_atomic_fetch_inc(shmem_ctx_t ctx, unsigned long *dest, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned long, dest, atomic_length, return __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_ulong_atomic_fetch_inc(ctx, dest, pe);
}
unsigned long long pshmem_ulonglong_atomic_fetch_inc(unsigned long long *dest, int pe);
FARREACH_DIRECT unsigned long long shmem_ulonglong_atomic_fetch_inc(unsigned long long *dest, int pe)
{
    FARREACH_AT(unsigned long long, dest, atomic_length, return __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST););
    return pshmem_ulonglong_atomic_fetch_inc(dest, pe);
}
unsigned long long pshmem_ctx_ulonglong_atomic_fetch_inc(shmem_ctx_t ctx, unsigned long long *dest, int pe);
FARREACH_DIRECT unsigned long long shmem_ctx_ulonglong_atomic_fetch_inc(shmem_ctx_t ctx, unsigned long long *dest, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned long long, dest, atomic_length, return __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_ulonglong_atomic_fetch_inc(ctx, dest, pe);
}
int32_t pshmem_int32_atomic_fetch_inc(int32_t *dest, int pe);
FARREACH_DIRECT int32_t shmem_int32_atomic_fetch_inc(int32_t *dest, int pe)
{
    FARREACH_AT(int32_t, dest, atomic_length, return __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST););
    return pshmem_int32_atomic_fetch_inc(dest, pe);
}
int32_t pshmem_ctx_int32_atomic_fetch_inc(shmem_ctx_t ctx, int32_t *dest, int pe);
FARREACH_DIRECT int32_t shmem_ctx_int32_atomic_fetch_inc(shmem_ctx_t ctx, int32_t *dest, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int32_t, dest, atomic_length, return __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_int32_atomic_fetch_inc(ctx, dest, pe);
}
int64_t pshmem_int64_atomic_fetch_inc(int64_t *dest, int pe);
FARREACH_DIRECT int64_t shmem_int64_atomic_fetch_inc(int64_t *dest, int pe)
{
    FARREACH_AT(int64_t, dest, atomic_length, return __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST););
    return pshmem_int64_atomic_fetch_inc(dest, pe);
}
int64_t pshmem_ctx_int64_atomic_fetch_inc(shmem_ctx_t ctx, int64_t *dest, int pe);
FARREACH_DIRECT int64_t shmem_ctx_int64_atomic_fetch_inc(shmem_ctx_t ctx, int64_t *dest, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int64_t, dest, atomic_length, return __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_int64_atomic_fetch_inc(ctx, dest, pe);
}
uint32_t pshmem_uint32_atomic_fetch_inc(uint32_t *dest, int pe);
FARREACH_DIRECT uint32_t shmem_uint32_atomic_fetch_inc(uint32_t *dest, int pe)
{
    FARREACH_AT(uint32_t, dest, atomic_length, return __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST););
    return pshmem_uint32_atomic_fetch_inc(dest, pe);
}
uint32_t pshmem_ctx_uint32_atomic_fetch_inc(shmem_ctx_t ctx, uint32_t *dest, int pe);
FARREACH_DIRECT uint32_t shmem_ctx_uint32_atomic_fetch_inc(shmem_ctx_t ctx, uint32_t *dest, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(uint32_t, dest, atomic_length, return __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_uint32_atomic_fetch_inc(ctx, dest, pe);
}
uint64_t pshmem_uint64_atomic_fetch_inc(uint64_t *dest, int pe);
FARREACH_DIRECT uint64_t shmem_uint64_atomic_fetch_inc(uint64_t *dest, int pe)
{
    FARREACH_AT(uint64_t, dest, atomic_length, return __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST););
    return pshmem_uint64_atomic_fetch_inc(dest, pe);
}
uint64_t pshmem_ctx_uint64_atomic_fetch_inc(shmem_ctx_t ctx, uint64_t *dest, int pe);
FARREACH_DIRECT uint64_t shmem_ctx_uint64_atomic_fetch_inc(shmem_ctx_t ctx, uint64_t *dest, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(uint64_t, dest, atomic_length, return __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_uint64_atomic_fetch_inc(ctx, dest, pe);
}
size_t pshmem_size_atomic_fetch_inc(size_t *dest, int pe);
FARREACH_DIRECT size_t shmem_size_atomic_fetch_inc(size_t *dest, int pe)
{
    FARREACH_AT(size_t, dest, atomic_length, return __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST););
    return pshmem_size_atomic_fetch_inc(dest, pe);
}
size_t pshmem_ctx_size_atomic_fetch_inc(shmem_ctx_t ctx, size_t *dest, int pe);
FARREACH_DIRECT size_t shmem_ctx_size_atomic_fetch_inc(shmem_ctx_t ctx, size_t *dest, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(size_t, dest, atomic_length, return __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_size_atomic_fetch_inc(ctx, dest, pe);
}
ptrdiff_t pshmem_ptrdiff_atomic_fetch_inc(ptrdiff_t *dest, int pe);
FARREACH_DIRECT ptrdiff_t shmem_ptrdiff_atomic_fetch_inc(ptrdiff_t *dest, int pe)
{
    FARREACH_AT(ptrdiff_t, dest, atomic_length, return __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST););
    return pshmem_ptrdiff_atomic_fetch_inc(dest, pe);
}
ptrdiff_t pshmem_ctx_ptrdiff_atomic_fetch_inc(shmem_ctx_t ctx, ptrdiff_t *dest, int pe);
FARREACH_DIRECT ptrdiff_t shmem_ctx_ptrdiff_atomic_fetch_inc(shmem_ctx_t ctx, ptrdiff_t *dest, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(ptrdiff_t, dest, atomic_length, return __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_ptrdiff_atomic_fetch_inc(ctx, dest, pe);
}

void pshmem_int_atomic_inc(int *dest, int pe);
FARREACH_DIRECT void shmem_int_atomic_inc(int *dest, int pe)
{
    FARREACH_AT(int, dest, atomic_length, (void)__atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); return;);
    pshmem_int_atomic_inc(dest, pe);
}
void pshmem_ctx_int_atomic_inc(shmem_ctx_t ctx, int *dest, int pe);
FARREACH_DIRECT void shmem_ctx_int_atomic_inc(shmem_ctx_t ctx, int *dest, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int, dest, atomic_length, (void)__atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_int_atomic_inc(ctx, dest, pe);
}
void pshmem_long_atomic_inc(long *dest, int pe);
FARREACH_DIRECT void shmem_long_atomic_inc(long *dest, int pe)
{
    FARREACH_AT(long, dest, atomic_length, (void)__atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); return;);
    pshmem_long_atomic_inc(dest, pe);
}
void pshmem_ctx_long_atomic_inc(shmem_ctx_t ctx, long *dest, int pe);
FARREACH_DIRECT void shmem_ctx_long_atomic_inc(shmem_ctx_t ctx, long *dest, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(long, dest, atomic_length, (void)__atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_long_atomic_inc(ctx, dest, pe);
}
void pshmem_longlong_atomic_inc(long long *dest, int pe);
FARREACH_DIRECT void shmem_longlong_atomic_inc(long long *dest, int pe)
{
    FARREACH_AT(long long, dest, atomic_length, (void)__atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); return;);
    pshmem_longlong_atomic_inc(dest, pe);
}
void pshmem_ctx_longlong_atomic_inc(shmem_ctx_t ctx, long long *dest, int pe);
FARREACH_DIRECT void shmem_ctx_longlong_atomic_inc(shmem_ctx_t ctx, long long *dest, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(long long, dest, atomic_length, (void)__atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_longlong_atomic_inc(ctx, dest, pe);
}
void pshmem_uint_atomic_inc(unsigned int *dest, int pe);
FARREACH_DIRECT void shmem_uint_atomic_inc(unsigned int *dest, int pe)
{
    FARREACH_AT(unsigned int, dest, atomic_length, (void)__atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); return;);
    pshmem_uint_atomic_inc(dest, pe);
}
void pshmem_ctx_uint_atomic_inc(shmem_ctx_t ctx, unsigned int *dest, int pe);
FARREACH_DIRECT void shmem_ctx_uint_atomic_inc(shmem_ctx_t ctx, unsigned int *dest, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned int, dest, atomic_length, (void)__atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_uint_atomic_inc(ctx, dest, pe);
}
void pshmem_ulong_atomic_inc(unsigned long *dest, int pe);
FARREACH_DIRECT void shmem_ulong_atomic_inc(unsigned long *dest, int pe)
{
    FARREACH_AT(unsigned long, dest, atomic_length, (void)__atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); return;);
    pshmem_ulong_atomic_inc(dest, pe);
}
void pshmem_ctx_ulong_atomic_inc(shmem_ctx_t ctx, unsigned long *dest, int pe);
FARREACH_DIRECT void shmem_ctx_ulong_atomic_inc(shmem_ctx_t ctx, unsigned long *dest, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned long, dest, atomic_length, (void)__atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_ulong_atomic_inc(ctx, dest, pe);
}
void pshmem_ulonglong_atomic_inc(unsigned long long *dest, int pe);
FARREACH_DIRECT void shmem_ulonglong_atomic_inc(unsigned long long *dest, int pe)
{
    FARREACH_AT(unsigned long long, dest, atomic_length, (void)__atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); return;);
    pshmem_ulonglong_atomic_inc(dest, pe);
}
void pshmem_ctx_ulonglong_atomic_inc(shmem_ctx_t ctx, unsigned long long *dest, int pe);
FARREACH_DIRECT void shmem_ctx_ulonglong_atomic_inc(shmem_ctx_t ctx, unsigned long long *dest, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned long long, dest, atomic_length, (void)__atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_ulonglong_atomic_inc(ctx, dest, pe);
}
void pshmem_int32_atomic_inc(int32_t *dest, int pe);
FARREACH_DIRECT void shmem_int32_atomic_inc(int32_t *dest, int pe)
{
    FARREACH_AT(int32_t, dest, atomic_length, (void)__atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); return;);
    pshmem_int32_atomic_inc(dest, pe);
}
void pshmem_ctx_int32_atomic_inc(shmem_ctx_t ctx, int32_t *dest, int pe);
FARREACH_DIRECT void shmem_ctx_int32_atomic_inc(shmem_ctx_t ctx, int32_t *dest, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int32_t, dest, atomic_length, (void)__atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_int32_atomic_inc(ctx, dest, pe);
}
void pshmem_int64_atomic_inc(int64_t *dest, int pe);
FARREACH_DIRECT void shmem_int64_atomic_inc(int64_t *dest, int pe)
{
    FARREACH_AT(int64_t, dest, atomic_length, (void)__atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); return;);
    pshmem_int64_atomic_inc(dest, pe);
}
void pshmem_ctx_int64_atomic_inc(shmem_ctx_t ctx, int64_t *dest, int pe);
FARREACH_DIRECT void shmem_ctx_int64_atomic_inc(shmem_ctx_t ctx, int64_t *dest, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int64_t, dest, atomic_length, (void)__atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_int64_atomic_inc(ctx, dest, pe);
}
void pshmem_uint32_atomic_inc(uint32_t *dest, int pe);
FARREACH_DIRECT void shmem_uint32_atomic_inc(uint32_t *dest, int pe)
{
    FARREACH_AT(uint32_t, dest, atomic_length, (void)__atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); return;);
    pshmem_uint32_atomic_inc(dest, pe);
}
void pshmem_ctx_uint32_atomic_inc(shmem_ctx_t ctx, uint32_t *dest, int pe);
FARREACH_DIRECT void shmem_ctx_uint32_atomic_inc(shmem_ctx_t ctx, uint32_t *dest, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(uint32_t, dest, atomic_length, (void)__atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_uint32_atomic_inc(ctx, dest, pe);
}
void pshmem_uint64_atomic_inc(uint64_t *dest, int pe);
FARREACH_DIRECT void shmem_uint64_atomic_inc(uint64_t *dest, int pe)
{
    FARREACH_AT(uint64_t, dest, atomic_length, (void)__atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); return;);
    pshmem_uint64_atomic_inc(dest, pe);
}
void pshmem_ctx_uint64_atomic_inc(shmem_ctx_t ctx, uint64_t *dest, int pe);
FARREACH_DIRECT void shmem_ctx_uint64_atomic_inc(shmem_ctx_t ctx, uint64_t *dest, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(uint64_t, dest, atomic_length, (void)__atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_uint64_atomic_inc(ctx, dest, pe);
}
void pshmem_size_atomic_inc(size_t *dest, int pe);
FARREACH_DIRECT void shmem_size_atomic_inc(size_t *dest, int pe)
{
    FARREACH_AT(size_t, dest, atomic_length, (void)__atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); return;);
    pshmem_size_atomic_inc(dest, pe);
}
void pshmem_ctx_size_atomic_inc(shmem_ctx_t ctx, size_t *dest, int pe);
FARREACH_DIRECT void shmem_ctx_size_atomic_inc(shmem_ctx_t ctx, size_t *dest, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(size_t, dest, atomic_length, (void)__atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_size_atomic_inc(ctx, dest, pe);
}
void pshmem_ptrdiff_atomic_inc(ptrdiff_t *dest, int pe);
FARREACH_DIRECT void shmem_ptrdiff_atomic_inc(ptrdiff_t *dest, int pe)
{
    FARREACH_AT(ptrdiff_t, dest, atomic_length, (void)__atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); return;);
    pshmem_ptrdiff_atomic_inc(dest, pe);
}
void pshmem_ctx_ptrdiff_atomic_inc(shmem_ctx_t ctx, ptrdiff_t *dest, int pe);
FARREACH_DIRECT void shmem_ctx_ptrdiff_atomic_inc(shmem_ctx_t ctx, ptrdiff_t *dest, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(ptrdiff_t, dest, atomic_length, (void)__atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_ptrdiff_atomic_inc(ctx, dest, pe);
}

int pshmem_int_atomic_fetch_add(int *dest, int value, int pe);
FARREACH_DIRECT int shmem_int_atomic_fetch_add(int *dest, int value, int pe)
{
    FARREACH_AT(int, dest, atomic_length, return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST););
    return pshmem_int_atomic_fetch_add(dest, value, pe);
}
int pshmem_ctx_int_atomic_fetch_add(shmem_ctx_t ctx, int *dest, int value, int pe);
FARREACH_DIRECT int shmem_ctx_int_atomic_fetch_add(shmem_ctx_t ctx, int *dest, int value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int, dest, atomic_length, return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_int_atomic_fetch_add(ctx, dest, value, pe);
}
long pshmem_long_atomic_fetch_add(long *dest, long value, int pe);
FARREACH_DIRECT long shmem_long_atomic_fetch_add(long *dest, long value, int pe)
{
    FARREACH_AT(long, dest, atomic_length, return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST););
    return pshmem_long_atomic_fetch_add(dest, value, pe);
}
long pshmem_ctx_long_atomic_fetch_add(shmem_ctx_t ctx, long *dest, long value, int pe);
FARREACH_DIRECT long shmem_ctx_long_atomic_fetch_add(shmem_ctx_t ctx, long *dest, long value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(long, dest, atomic_length, return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_long_atomic_fetch_add(ctx, dest, value, pe);
}
long long pshmem_longlong_atomic_fetch_add(long long *dest, long long value, int pe);
FARREACH_DIRECT long long shmem_longlong_atomic_fetch_add(long long *dest, long long value, int pe)
{
    FARREACH_AT(long long, dest, atomic_length, return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST););
    return pshmem_longlong_atomic_fetch_add(dest, value, pe);
}
long long pshmem_ctx_longlong_atomic_fetch_add(shmem_ctx_t ctx, long long *dest, long long value, int pe);
FARREACH_DIRECT long long shmem_ctx_longlong_atomic_fetch_add(shmem_ctx_t ctx, long long *dest, long long value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(long long, dest, atomic_length, return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_longlong_atomic_fetch_add(ctx, dest, value, pe);
}
unsigned int pshmem_uint_atomic_fetch_add(unsigned int *dest, unsigned int value, int pe);
FARREACH_DIRECT unsigned int shmem_uint_atomic_fetch_add(unsigned int *dest, unsigned int value, int pe)
{
    FARREACH_AT(unsigned int, dest, atomic_length, return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST););
    return pshmem_uint_atomic_fetch_add(dest, value, pe);
}
unsigned int pshmem_ctx_uint_atomic_fetch_add(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe);
FARREACH_DIRECT unsigned int shmem_ctx_uint_atomic_fetch_add(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned int, dest, atomic_length, return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_uint_atomic_fetch_add(ctx, dest, value, pe);
}
unsigned long pshmem_ulong_atomic_fetch_add(unsigned long *dest, unsigned long value, int pe);
FARREACH_DIRECT unsigned long shmem_ulong_atomic_fetch_add(unsigned long *dest, unsigned long value, int pe)
{
    FARREACH_AT(unsigned long, dest, atomic_length, return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST););
    return pshmem_ulong_atomic_fetch_add(dest, value, pe);
}
unsigned long pshmem_ctx_ulong_atomic_fetch_add(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe);
FARREACH_DIRECT unsigned long shmem_ctx_ulong_atomic_fetch_add(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned long, dest, atomic_length, return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_ulong_atomic_fetch_add(ctx, dest, value, pe);
}
unsigned long long pshmem_ulonglong_atomic_fetch_add(unsigned long long *dest, unsigned long long value, int pe);
FARREACH_DIRECT unsigned long long shmem_ulonglong_atomic_fetch_add(unsigned long long *dest, unsigned long long value, int pe)
{
    FARREACH_AT(unsigned long long, dest, atomic_length, return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST););
    return pshmem_ulonglong_atomic_fetch_add(dest, value, pe);
}
unsigned long long pshmem_ctx_ulonglong_atomic_fetch_add(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe);
FARREACH_DIRECT unsigned long long shmem_ctx_ulonglong_atomic_fetch_add(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned long long, dest, atomic_length, return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_ulonglong_atomic_fetch_add(ctx, dest, value, pe);
}
int32_t pshmem_int32_atomic_fetch_add(int32_t *dest, int32_t value, int pe);
FARREACH_DIRECT int32_t shmem_int32_atomic_fetch_add(int32_t *dest, int32_t value, int pe)
{
    FARREACH_AT(int32_t, dest, atomic_length, return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST););
    return pshmem_int32_atomic_fetch_add(dest, value, pe);
}
int32_t pshmem_ctx_int32_atomic_fetch_add(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe);
FARREACH_DIRECT int32_t shmem_ctx_int32_atomic_fetch_add(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int32_t, dest, atomic_length, return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_int32_atomic_fetch_add(ctx, dest, value, pe);
}
int64_t pshmem_int64_atomic_fetch_add(int64_t *dest, int64_t value, int pe);
FARREACH_DIRECT int64_t shmem_int64_atomic_fetch_add(int64_t *dest, int64_t value, int pe)
{
    FARREACH_AT(int64_t, dest, atomic_length, return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST););
    return pshmem_int64_atomic_fetch_add(dest, value, pe);
}
int64_t pshmem_ctx_int64_atomic_fetch_add(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe);
FARREACH_DIRECT int64_t shmem_ctx_int64_atomic_fetch_add(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int64_t, dest, atomic_length, return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_int64_atomic_fetch_add(ctx, dest, value, pe);
}
uint32_t pshmem_uint32_atomic_fetch_add(uint32_t *dest, uint32_t value, int pe);
FARREACH_DIRECT uint32_t shmem_uint32_atomic_fetch_add(uint32_t *dest, uint32_t value, int pe)
{
    FARREACH_AT(uint32_t, dest, atomic_length, return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST););
    return pshmem_uint32_atomic_fetch_add(dest, value, pe);
}
uint32_t pshmem_ctx_uint32_atomic_fetch_add(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe);
FARREACH_DIRECT uint32_t shmem_ctx_uint32_atomic_fetch_add(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(uint32_t, dest, atomic_length, return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_uint32_atomic_fetch_add(ctx, dest, value, pe);
}
uint64_t pshmem_uint64_atomic_fetch_add(uint64_t *dest, uint64_t value, int pe);
FARREACH_DIRECT uint64_t shmem_uint64_atomic_fetch_add(uint64_t *dest, uint64_t value, int pe)
{
    FARREACH_AT(uint64_t, dest, atomic_length, return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST););
    return pshmem_uint64_atomic_fetch_add(dest, value, pe);
}
uint64_t pshmem_ctx_uint64_atomic_fetch_add(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe);
FARREACH_DIRECT uint64_t shmem_ctx_uint64_atomic_fetch_add(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(uint64_t, dest, atomic_length, return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_uint64_atomic_fetch_add(ctx, dest, value, pe);
}
size_t pshmem_size_atomic_fetch_add(size_t *dest, size_t value, int pe);
FARREACH_DIRECT size_t shmem_size_atomic_fetch_add(size_t *dest, size_t value, int pe)
{
    FARREACH_AT(size_t, dest, atomic_length, return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST););
    return pshmem_size_atomic_fetch_add(dest, value, pe);
}
size_t pshmem_ctx_size_atomic_fetch_add(shmem_ctx_t ctx, size_t *dest, size_t value, int pe);
FARREACH_DIRECT size_t shmem_ctx_size_atomic_fetch_add(shmem_ctx_t ctx, size_t *dest, size_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(size_t, dest, atomic_length, return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_size_atomic_fetch_add(ctx, dest, value, pe);
}
ptrdiff_t pshmem_ptrdiff_atomic_fetch_add(ptrdiff_t *dest, ptrdiff_t value, int pe);
FARREACH_DIRECT ptrdiff_t shmem_ptrdiff_atomic_fetch_add(ptrdiff_t *dest, ptrdiff_t value, int pe)
{
    FARREACH_AT(ptrdiff_t, dest, atomic_length, return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST););
    return pshmem_ptrdiff_atomic_fetch_add(dest, value, pe);
}
ptrdiff_t pshmem_ctx_ptrdiff_atomic_fetch_add(shmem_ctx_t ctx, ptrdiff_t *dest, ptrdiff_t value, int pe);
FARREACH_DIRECT ptrdiff_t shmem_ctx_ptrdiff_atomic_fetch_add(shmem_ctx_t ctx, ptrdiff_t *dest, ptrdiff_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(ptrdiff_t, dest, atomic_length, return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_ptrdiff_atomic_fetch_add(ctx, dest, value, pe);
}

void pshmem_int_atomic_add(int *dest, int value, int pe);
FARREACH_DIRECT void shmem_int_atomic_add(int *dest, int value, int pe)
{
    FARREACH_AT(int, dest, atomic_length, (void)__atomic_fetch_add(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_int_atomic_add(dest, value, pe);
}
void pshmem_ctx_int_atomic_add(shmem_ctx_t ctx, int *dest, int value, int pe);
FARREACH_DIRECT void shmem_ctx_int_atomic_add(shmem_ctx_t ctx, int *dest, int value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int, dest, atomic_length, (void)__atomic_fetch_add(at, value, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_int_atomic_add(ctx, dest, value, pe);
}
void pshmem_long_atomic_add(long *dest, long value, int pe);
FARREACH_DIRECT void shmem_long_atomic_add(long *dest, long value, int pe)
{
    FARREACH_AT(long, dest, atomic_length, (void)__atomic_fetch_add(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_long_atomic_add(dest, value, pe);
}
void pshmem_ctx_long_atomic_add(shmem_ctx_t ctx, long *dest, long value, int pe);
FARREACH_DIRECT void shmem_ctx_long_atomic_add(shmem_ctx_t ctx, long *dest, long value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(long, dest, atomic_length, (void)__atomic_fetch_add(at, value, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_long_atomic_add(ctx, dest, value, pe);
}
void pshmem_longlong_atomic_add(long long *dest, long long value, int pe);
FARREACH_DIRECT void shmem_longlong_atomic_add(long long *dest, long long value, int pe)
{
    FARREACH_AT(long long, dest, atomic_length, (void)__atomic_fetch_add(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_longlong_atomic_add(dest, value, pe);
}
void pshmem_ctx_longlong_atomic_add(shmem_ctx_t ctx, long long *dest, long long value, int pe);
FARREACH_DIRECT void shmem_ctx_longlong_atomic_add(shmem_ctx_t ctx, long long *dest, long long value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(long long, dest, atomic_length, (void)__atomic_fetch_add(at, value, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_longlong_atomic_add(ctx, dest, value, pe);
}
void pshmem_uint_atomic_add(unsigned int *dest, unsigned int value, int pe);
FARREACH_DIRECT void shmem_uint_atomic_add(unsigned int *dest, unsigned int value, int pe)
{
    FARREACH_AT(unsigned int, dest, atomic_length, (void)__atomic_fetch_add(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_uint_atomic_add(dest, value, pe);
}
void pshmem_ctx_uint_atomic_add(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe);
FARREACH_DIRECT void shmem_ctx_uint_atomic_add(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned int, dest, atomic_length, (void)__atomic_fetch_add(at, value, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_uint_atomic_add(ctx, dest, value, pe);
}
void pshmem_ulong_atomic_add(unsigned long *dest, unsigned long value, int pe);
FARREACH_DIRECT void shmem_ulong_atomic_add(unsigned long *dest, unsigned long value, int pe)
{
    FARREACH_AT(unsigned long, dest, atomic_length, (void)__atomic_fetch_add(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_ulong_atomic_add(dest, value, pe);
}
void pshmem_ctx_ulong_atomic_add(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe);
FARREACH_DIRECT void shmem_ctx_ulong_atomic_add(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned long, dest, atomic_length, (void)__atomic_fetch_add(at, value, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_ulong_atomic_add(ctx, dest, value, pe);
}
void pshmem_ulonglong_atomic_add(unsigned long long *dest, unsigned long long value, int pe);
FARREACH_DIRECT void shmem_ulonglong_atomic_add(unsigned long long *dest, unsigned long long value, int pe)
{
    FARREACH_AT(unsigned long long, dest, atomic_length, (void)__atomic_fetch_add(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_ulonglong_atomic_add(dest, value, pe);
}
void pshmem_ctx_ulonglong_atomic_add(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe);
FARREACH_DIRECT void shmem_ctx_ulonglong_atomic_add(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned long long, dest, atomic_length, (void)__atomic_fetch_add(at, value, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_ulonglong_atomic_add(ctx, dest, value, pe);
}
void pshmem_int32_atomic_add(int32_t *dest, int32_t value, int pe);
FARREACH_DIRECT void shmem_int32_atomic_add(int32_t *dest, int32_t value, int pe)
{
    FARREACH_AT(int32_t, dest, atomic_length, (void)__atomic_fetch_add(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_int32_atomic_add(dest, value, pe);
}
void pshmem_ctx_int32_atomic_add(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe);
FARREACH_DIRECT void shmem_ctx_int32_atomic_add(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int32_t, dest, atomic_length, (void)__atomic_fetch_add(at, value, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_int32_atomic_add(ctx, dest, value, pe);
}
void pshmem_int64_atomic_add(int64_t *dest, int64_t value, int pe);
FARREACH_DIRECT void shmem_int64_atomic_add(int64_t *dest, int64_t value, int pe)
{
    FARREACH_AT(int64_t, dest, atomic_length, (void)__atomic_fetch_add(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_int64_atomic_add(dest, value, pe);
}
void pshmem_ctx_int64_atomic_add(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe);
FARREACH_DIRECT void shmem_ctx_int64_atomic_add(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int64_t, dest, atomic_length, (void)__atomic_fetch_add(at, value, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_int64_atomic_add(ctx, dest, value, pe);
}
void pshmem_uint32_atomic_add(uint32_t *dest, uint32_t value, int pe);
FARREACH_DIRECT void shmem_uint32_atomic_add(uint32_t *dest, uint32_t value, int pe)
{
    FARREACH_AT(uint32_t, dest, atomic_length, (void)__atomic_fetch_add(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_uint32_atomic_add(dest, value, pe);
}
void pshmem_ctx_uint32_atomic_add(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe);
FARREACH_DIRECT void shmem_ctx_uint32_atomic_add(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(uint32_t, dest, atomic_length, (void)__atomic_fetch_add(at, value, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_uint32_atomic_add(ctx, dest, value, pe);
}
void pshmem_uint64_atomic_add(uint64_t *dest, uint64_t value, int pe);
FARREACH_DIRECT void shmem_uint64_atomic_add(uint64_t *dest, uint64_t value, int pe)
{
    FARREACH_AT(uint64_t, dest, atomic_length, (void)__atomic_fetch_add(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_uint64_atomic_add(dest, value, pe);
}
void pshmem_ctx_uint64_atomic_add(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe);
FARREACH_DIRECT void shmem_ctx_uint64_atomic_add(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(uint64_t, dest, atomic_length, (void)__atomic_fetch_add(at, value, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_uint64_atomic_add(ctx, dest, value, pe);
}
void pshmem_size_atomic_add(size_t *dest, size_t value, int pe);
FARREACH_DIRECT void shmem_size_atomic_add(size_t *dest, size_t value, int pe)
{
    FARREACH_AT(size_t, dest, atomic_length, (void)__atomic_fetch_add(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_size_atomic_add(dest, value, pe);
}
void pshmem_ctx_size_atomic_add(shmem_ctx_t ctx, size_t *dest, size_t value, int pe);
FARREACH_DIRECT void shmem_ctx_size_atomic_add(shmem_ctx_t ctx, size_t *dest, size_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(size_t, dest, atomic_length, (void)__atomic_fetch_add(at, value, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_size_atomic_add(ctx, dest, value, pe);
}
void pshmem_ptrdiff_atomic_add(ptrdiff_t *dest, ptrdiff_t value, int pe);
FARREACH_DIRECT void shmem_ptrdiff_atomic_add(ptrdiff_t *dest, ptrdiff_t value, int pe)
{
    FARREACH_AT(ptrdiff_t, dest, atomic_length, (void)__atomic_fetch_add(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_ptrdiff_atomic_add(dest, value, pe);
}
void pshmem_ctx_ptrdiff_atomic_add(shmem_ctx_t ctx, ptrdiff_t *dest, ptrdiff_t value, int pe);
FARREACH_DIRECT void shmem_ctx_ptrdiff_atomic_add(shmem_ctx_t ctx, ptrdiff_t *dest, ptrdiff_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(ptrdiff_t, dest, atomic_length, (void)__atomic_fetch_add(at, value, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_ptrdiff_atomic_add(ctx, dest, value, pe);
}

unsigned int pshmem_uint_atomic_fetch_and(unsigned int *dest, unsigned int value, int pe);
FARREACH_DIRECT unsigned int shmem_uint_atomic_fetch_and(unsigned int *dest, unsigned int value, int pe)
{
    FARREACH_AT(unsigned int, dest, atomic_length, return __atomic_fetch_and(at, value, __ATOMIC_SEQ_CST););
    return pshmem_uint_atomic_fetch_and(dest, value, pe);
}
unsigned int pshmem_ctx_uint_atomic_fetch_and(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe);
FARREACH_DIRECT unsigned int shmem_ctx_uint_atomic_fetch_and(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned int, dest, atomic_length, return __atomic_fetch_and(at, value, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_uint_atomic_fetch_and(ctx, dest, value, pe);
}
unsigned long pshmem_ulong_atomic_fetch_and(unsigned long *dest, unsigned long value, int pe);
FARREACH_DIRECT unsigned long shmem_ulong_atomic_fetch_and(unsigned long *dest, unsigned long value, int pe)
{
    FARREACH_AT(unsigned long, dest, atomic_length, return __atomic_fetch_and(at, value, __ATOMIC_SEQ_CST););
    return pshmem_ulong_atomic_fetch_and(dest, value, pe);
}
unsigned long pshmem_ctx_ulong_atomic_fetch_and(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe);
FARREACH_DIRECT unsigned long shmem_ctx_ulong_atomic_fetch_and(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned long, dest, atomic_length, return __atomic_fetch_and(at, value, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_ulong_atomic_fetch_and(ctx, dest, value, pe);
}
unsigned long long pshmem_ulonglong_atomic_fetch_and(unsigned long long *dest, unsigned long long value, int pe);
FARREACH_DIRECT unsigned long long shmem_ulonglong_atomic_fetch_and(unsigned long long *dest, unsigned long long value, int pe)
{
    FARREACH_AT(unsigned long long, dest, atomic_length, return __atomic_fetch_and(at, value, __ATOMIC_SEQ_CST););
    return pshmem_ulonglong_atomic_fetch_and(dest, value, pe);
}
unsigned long long pshmem_ctx_ulonglong_atomic_fetch_and(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe);
FARREACH_DIRECT unsigned long long shmem_ctx_ulonglong_atomic_fetch_and(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned long long, dest, atomic_length, return __atomic_fetch_and(at, value, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_ulonglong_atomic_fetch_and(ctx, dest, value, pe);
}
int32_t pshmem_int32_atomic_fetch_and(int32_t *dest, int32_t value, int pe);
FARREACH_DIRECT int32_t shmem_int32_atomic_fetch_and(int32_t *dest, int32_t value, int pe)
{
    FARREACH_AT(int32_t, dest, atomic_length, return __atomic_fetch_and(at, value, __ATOMIC_SEQ_CST););
    return pshmem_int32_atomic_fetch_and(dest, value, pe);
}
int32_t pshmem_ctx_int32_atomic_fetch_and(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe);
FARREACH_DIRECT int32_t shmem_ctx_int32_atomic_fetch_and(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int32_t, dest, atomic_length, return __atomic_fetch_and(at, value, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_int32_atomic_fetch_and(ctx, dest, value, pe);
}
int64_t pshmem_int64_atomic_fetch_and(int64_t *dest, int64_t value, int pe);
FARREACH_DIRECT int64_t shmem_int64_atomic_fetch_and(int64_t *dest, int64_t value, int pe)
{
    FARREACH_AT(int64_t, dest, atomic_length, return __atomic_fetch_and(at, value, __ATOMIC_SEQ_CST););
    return pshmem_int64_atomic_fetch_and(dest, value, pe);
}
int64_t pshmem_ctx_int64_atomic_fetch_and(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe);
FARREACH_DIRECT int64_t shmem_ctx_int64_atomic_fetch_and(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int64_t, dest, atomic_length, return __atomic_fetch_and(at, value, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_int64_atomic_fetch_and(ctx, dest, value, pe);
}
uint32_t pshmem_uint32_atomic_fetch_and(uint32_t *dest, uint32_t value, int pe);
FARREACH_DIRECT uint32_t shmem_uint32_atomic_fetch_and(uint32_t *dest, uint32_t value, int pe)
{
    FARREACH_AT(uint32_t, dest, atomic_length, return __atomic_fetch_and(at, value, __ATOMIC_SEQ_CST););
    return pshmem_uint32_atomic_fetch_and(dest, value, pe);
}
uint32_t pshmem_ctx_uint32_atomic_fetch_and(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe);
FARREACH_DIRECT uint32_t shmem_ctx_uint32_atomic_fetch_and(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(uint32_t, dest, atomic_length, return __atomic_fetch_and(at, value, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_uint32_atomic_fetch_and(ctx, dest, value, pe);
}
uint64_t pshmem_uint64_atomic_fetch_and(uint64_t *dest, uint64_t value, int pe);
FARREACH_DIRECT uint64_t shmem_uint64_atomic_fetch_and(uint64_t *dest, uint64_t value, int pe)
{
    FARREACH_AT(uint64_t, dest, atomic_length, return __atomic_fetch_and(at, value, __ATOMIC_SEQ_CST););
    return pshmem_uint64_atomic_fetch_and(dest, value, pe);
}
uint64_t pshmem_ctx_uint64_atomic_fetch_and(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe);
FARREACH_DIRECT uint64_t shmem_ctx_uint64_atomic_fetch_and(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(uint64_t, dest, atomic_length, return __atomic_fetch_and(at, value, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_uint64_atomic_fetch_and(ctx, dest, value, pe);
}

void pshmem_uint_atomic_and(unsigned int *dest, unsigned int value, int pe);
FARREACH_DIRECT void shmem_uint_atomic_and(unsigned int *dest, unsigned int value, int pe)
{
    FARREACH_AT(unsigned int, dest, atomic_length, (void)__atomic_fetch_and(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_uint_atomic_and(dest, value, pe);
}
void pshmem_ctx_uint_atomic_and(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe);
FARREACH_DIRECT void shmem_ctx_uint_atomic_and(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned int, dest, atomic_length, (void)__atomic_fetch_and(at, value, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_uint_atomic_and(ctx, dest, value, pe);
}
void pshmem_ulong_atomic_and(unsigned long *dest, unsigned long value, int pe);
FARREACH_DIRECT void shmem_ulong_atomic_and(unsigned long *dest, unsigned long value, int pe)
{
    FARREACH_AT(unsigned long, dest, atomic_length, (void)__atomic_fetch_and(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_ulong_atomic_and(dest, value, pe);
}
void pshmem_ctx_ulong_atomic_and(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe);
FARREACH_DIRECT void shmem_ctx_ulong_atomic_and(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned long, dest, atomic_length, (void)__atomic_fetch_and(at, value, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_ulong_atomic_and(ctx, dest, value, pe);
}
void pshmem_ulonglong_atomic_and(unsigned long long *dest, unsigned long long value, int pe);
FARREACH_DIRECT void shmem_ulonglong_atomic_and(unsigned long long *dest, unsigned long long value, int pe)
{
    FARREACH_AT(unsigned long long, dest, atomic_length, (void)__atomic_fetch_and(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_ulonglong_atomic_and(dest, value, pe);
}
void pshmem_ctx_ulonglong_atomic_and(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe);
FARREACH_DIRECT void shmem_ctx_ulonglong_atomic_and(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned long long, dest, atomic_length, (void)__atomic_fetch_and(at, value, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_ulonglong_atomic_and(ctx, dest, value, pe);
}
void pshmem_int32_atomic_and(int32_t *dest, int32_t value, int pe);
FARREACH_DIRECT void shmem_int32_atomic_and(int32_t *dest, int32_t value, int pe)
{
    FARREACH_AT(int32_t, dest, atomic_length, (void)__atomic_fetch_and(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_int32_atomic_and(dest, value, pe);
}
void pshmem_ctx_int32_atomic_and(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe);
FARREACH_DIRECT void shmem_ctx_int32_atomic_and(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int32_t, dest, atomic_length, (void)__atomic_fetch_and(at, value, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_int32_atomic_and(ctx, dest, value, pe);
}
void pshmem_int64_atomic_and(int64_t *dest, int64_t value, int pe);
FARREACH_DIRECT void shmem_int64_atomic_and(int64_t *dest, int64_t value, int pe)
{
    FARREACH_AT(int64_t, dest, atomic_length, (void)__atomic_fetch_and(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_int64_atomic_and(dest, value, pe);
}
void pshmem_ctx_int64_atomic_and(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe);
FARREACH_DIRECT void shmem_ctx_int64_atomic_and(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int64_t, dest, atomic_length, (void)__atomic_fetch_and(at, value, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_int64_atomic_and(ctx, dest, value, pe);
}
void pshmem_uint32_atomic_and(uint32_t *dest, uint32_t value, int pe);
FARREACH_DIRECT void shmem_uint32_atomic_and(uint32_t *dest, uint32_t value, int pe)
{
    FARREACH_AT(uint32_t, dest, atomic_length, (void)__atomic_fetch_and(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_uint32_atomic_and(dest, value, pe);
}
void pshmem_ctx_uint32_atomic_and(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe);
FARREACH_DIRECT void shmem_ctx_uint32_atomic_and(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(uint32_t, dest, atomic_length, (void)__atomic_fetch_and(at, value, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_uint32_atomic_and(ctx, dest, value, pe);
}
void pshmem_uint64_atomic_and(uint64_t *dest, uint64_t value, int pe);
FARREACH_DIRECT void shmem_uint64_atomic_and(uint64_t *dest, uint64_t value, int pe)
{
    FARREACH_AT(uint64_t, dest, atomic_length, (void)__atomic_fetch_and(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_uint64_atomic_and(dest, value, pe);
}
void pshmem_ctx_uint64_atomic_and(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe);
FARREACH_DIRECT void shmem_ctx_uint64_atomic_and(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(uint64_t, dest, atomic_length, (void)__atomic_fetch_and(at, value, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_uint64_atomic_and(ctx, dest, value, pe);
}

unsigned int pshmem_uint_atomic_fetch_or(unsigned int *dest, unsigned int value, int pe);
FARREACH_DIRECT unsigned int shmem_uint_atomic_fetch_or(unsigned int *dest, unsigned int value, int pe)
{
    FARREACH_AT(unsigned int, dest, atomic_length, return __atomic_fetch_or(at, value, __ATOMIC_SEQ_CST););
    return pshmem_uint_atomic_fetch_or(dest, value, pe);
}
unsigned int pshmem_ctx_uint_atomic_fetch_or(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe);
FARREACH_DIRECT unsigned int shmem_ctx_uint_atomic_fetch_or(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned int, dest, atomic_length, return __atomic_fetch_or(at, value, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_uint_atomic_fetch_or(ctx, dest, value, pe);
}
unsigned long pshmem_ulong_atomic_fetch_or(unsigned long *dest, unsigned long value, int pe);
FARREACH_DIRECT unsigned long shmem_ulong_atomic_fetch_or(unsigned long *dest, unsigned long value, int pe)
{
    FARREACH_AT(unsigned long, dest, atomic_length, return __atomic_fetch_or(at, value, __ATOMIC_SEQ_CST););
    return pshmem_ulong_atomic_fetch_or(dest, value, pe);
}
unsigned long pshmem_ctx_ulong_atomic_fetch_or(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe);
FARREACH_DIRECT unsigned long shmem_ctx_ulong_atomic_fetch_or(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned long, dest, atomic_length, return __atomic_fetch_or(at, value, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_ulong_atomic_fetch_or(ctx, dest, value, pe);
}
unsigned long long pshmem_ulonglong_atomic_fetch_or(unsigned long long *dest, unsigned long long value, int pe);
FARREACH_DIRECT unsigned long long shmem_ulonglong_atomic_fetch_or(unsigned long long *dest, unsigned long long value, int pe)
{
    FARREACH_AT(unsigned long long, dest, atomic_length, return __atomic_fetch_or(at, value, __ATOMIC_SEQ_CST););
    return pshmem_ulonglong_atomic_fetch_or(dest, value, pe);
}
unsigned long long pshmem_ctx_ulonglong_atomic_fetch_or(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe);
FARREACH_DIRECT unsigned long long shmem_ctx_ulonglong_atomic_fetch_or(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned long long, dest, atomic_length, return __atomic_fetch_or(at, value, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_ulonglong_atomic_fetch_or(ctx, dest, value, pe);
}
int32_t pshmem_int32_atomic_fetch_or(int32_t *dest, int32_t value, int pe);
FARREACH_DIRECT int32_t shmem_int32_atomic_fetch_or(int32_t *dest, int32_t value, int pe)
{
    FARREACH_AT(int32_t, dest, atomic_length, return __atomic_fetch_or(at, value, __ATOMIC_SEQ_CST););
    return pshmem_int32_atomic_fetch_or(dest, value, pe);
}
int32_t pshmem_ctx_int32_atomic_fetch_or(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe);
FARREACH_DIRECT int32_t shmem_ctx_int32_atomic_fetch_or(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int32_t, dest, atomic_length, return __atomic_fetch_or(at, value, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_int32_atomic_fetch_or(ctx, dest, value, pe);
}
int64_t pshmem_int64_atomic_fetch_or(int64_t *dest, int64_t value, int pe);
FARREACH_DIRECT int64_t shmem_int64_atomic_fetch_or(int64_t *dest, int64_t value, int pe)
{
    FARREACH_AT(int64_t, dest, atomic_length, return __atomic_fetch_or(at, value, __ATOMIC_SEQ_CST););
    return pshmem_int64_atomic_fetch_or(dest, value, pe);
}
int64_t pshmem_ctx_int64_atomic_fetch_or(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe);
FARREACH_DIRECT int64_t shmem_ctx_int64_atomic_fetch_or(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int64_t, dest, atomic_length, return __atomic_fetch_or(at, value, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_int64_atomic_fetch_or(ctx, dest, value, pe);
}
uint32_t pshmem_uint32_atomic_fetch_or(uint32_t *dest, uint32_t value, int pe);
FARREACH_DIRECT uint32_t shmem_uint32_atomic_fetch_or(uint32_t *dest, uint32_t value, int pe)
{
    FARREACH_AT(uint32_t, dest, atomic_length, return __atomic_fetch_or(at, value, __ATOMIC_SEQ_CST););
    return pshmem_uint32_atomic_fetch_or(dest, value, pe);
}
uint32_t pshmem_ctx_uint32_atomic_fetch_or(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe);
FARREACH_DIRECT uint32_t shmem_ctx_uint32_atomic_fetch_or(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(uint32_t, dest, atomic_length, return __atomic_fetch_or(at, value, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_uint32_atomic_fetch_or(ctx, dest, value, pe);
}
uint64_t pshmem_uint64_atomic_fetch_or(uint64_t *dest, uint64_t value, int pe);
FARREACH_DIRECT uint64_t shmem_uint64_atomic_fetch_or(uint64_t *dest, uint64_t value, int pe)
{
    FARREACH_AT(uint64_t, dest, atomic_length, return __atomic_fetch_or(at, value, __ATOMIC_SEQ_CST););
    return pshmem_uint64_atomic_fetch_or(dest, value, pe);
}
uint64_t pshmem_ctx_uint64_atomic_fetch_or(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe);
FARREACH_DIRECT uint64_t shmem_ctx_uint64_atomic_fetch_or(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(uint64_t, dest, atomic_length, return __atomic_fetch_or(at, value, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_uint64_atomic_fetch_or(ctx, dest, value, pe);
}

void pshmem_uint_atomic_or(unsigned int *dest, unsigned int value, int pe);
FARREACH_DIRECT void shmem_uint_atomic_or(unsigned int *dest, unsigned int value, int pe)
{
    FARREACH_AT(unsigned int, dest, atomic_length, (void)__atomic_fetch_or(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_uint_atomic_or(dest, value, pe);
}
void pshmem_ctx_uint_atomic_or(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe);
FARREACH_DIRECT void shmem_ctx_uint_atomic_or(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned int, dest, atomic_length, (void)__atomic_fetch_or(at, value, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_uint_atomic_or(ctx, dest, value, pe);
}
void pshmem_ulong_atomic_or(unsigned long *dest, unsigned long value, int pe);
FARREACH_DIRECT void shmem_ulong_atomic_or(unsigned long *dest, unsigned long value, int pe)
{
    FARREACH_AT(unsigned long, dest, atomic_length, (void)__atomic_fetch_or(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_ulong_atomic_or(dest, value, pe);
}
void pshmem_ctx_ulong_atomic_or(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe);
FARREACH_DIRECT void shmem_ctx_ulong_atomic_or(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned long, dest, atomic_length, (void)__atomic_fetch_or(at, value, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_ulong_atomic_or(ctx, dest, value, pe);
}
void pshmem_ulonglong_atomic_or(unsigned long long *dest, unsigned long long value, int pe);
FARREACH_DIRECT void shmem_ulonglong_atomic_or(unsigned long long *dest, unsigned long long value, int pe)
{
    FARREACH_AT(unsigned long long, dest, atomic_length, (void)__atomic_fetch_or(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_ulonglong_atomic_or(dest, value, pe);
}
void pshmem_ctx_ulonglong_atomic_or(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe);
FARREACH_DIRECT void shmem_ctx_ulonglong_atomic_or(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned long long, dest, atomic_length, (void)__atomic_fetch_or(at, value, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_ulonglong_atomic_or(ctx, dest, value, pe);
}
void pshmem_int32_atomic_or(int32_t *dest, int32_t value, int pe);
FARREACH_DIRECT void shmem_int32_atomic_or(int32_t *dest, int32_t value, int pe)
{
    FARREACH_AT(int32_t, dest, atomic_length, (void)__atomic_fetch_or(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_int32_atomic_or(dest, value, pe);
}
void pshmem_ctx_int32_atomic_or(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe);
FARREACH_DIRECT void shmem_ctx_int32_atomic_or(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int32_t, dest, atomic_length, (void)__atomic_fetch_or(at, value, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_int32_atomic_or(ctx, dest, value, pe);
}
void pshmem_int64_atomic_or(int64_t *dest, int64_t value, int pe);
FARREACH_DIRECT void shmem_int64_atomic_or(int64_t *dest, int64_t value, int pe)
{
    FARREACH_AT(int64_t, dest, atomic_length, (void)__atomic_fetch_or(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_int64_atomic_or(dest, value, pe);
}
void pshmem_ctx_int64_atomic_or(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe);
FARREACH_DIRECT void shmem_ctx_int64_atomic_or(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int64_t, dest, atomic_length, (void)__atomic_fetch_or(at, value, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_int64_atomic_or(ctx, dest, value, pe);
}
void pshmem_uint32_atomic_or(uint32_t *dest, uint32_t value, int pe);
FARREACH_DIRECT void shmem_uint32_atomic_or(uint32_t *dest, uint32_t value, int pe)
{
    FARREACH_AT(uint32_t, dest, atomic_length, (void)__atomic_fetch_or(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_uint32_atomic_or(dest, value, pe);
}
void pshmem_ctx_uint32_atomic_or(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe);
FARREACH_DIRECT void shmem_ctx_uint32_atomic_or(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(uint32_t, dest, atomic_length, (void)__atomic_fetch_or(at, value, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_uint32_atomic_or(ctx, dest, value, pe);
}
void pshmem_uint64_atomic_or(uint64_t *dest, uint64_t value, int pe);
FARREACH_DIRECT void shmem_uint64_atomic_or(uint64_t *dest, uint64_t value, int pe)
{
    FARREACH_AT(uint64_t, dest, atomic_length, (void)__atomic_fetch_or(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_uint64_atomic_or(dest, value, pe);
}
void pshmem_ctx_uint64_atomic_or(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe);
FARREACH_DIRECT void shmem_ctx_uint64_atomic_or(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(uint64_t, dest, atomic_length, (void)__atomic_fetch_or(at, value, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_uint64_atomic_or(ctx, dest, value, pe);
}

unsigned int pshmem_uint_atomic_fetch_xor(unsigned int *dest, unsigned int value, int pe);
FARREACH_DIRECT unsigned int shmem_uint_atomic_fetch_xor(unsigned int *dest, unsigned int value, int pe)
{
    FARREACH_AT(unsigned int, dest, atomic_length, return __atomic_fetch_xor(at, value, __ATOMIC_SEQ_CST););
    return pshmem_uint_atomic_fetch_xor(dest, value, pe);
}
unsigned int pshmem_ctx_uint_atomic_fetch_xor(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe);
FARREACH_DIRECT unsigned int shmem_ctx_uint_atomic_fetch_xor(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned int, dest, atomic_length, return __atomic_fetch_xor(at, value, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_uint_atomic_fetch_xor(ctx, dest, value, pe);
}
unsigned long pshmem_ulong_atomic_fetch_xor(unsigned long *dest, unsigned long value, int pe);
FARREACH_DIRECT unsigned long shmem_ulong_atomic_fetch_xor(unsigned long *dest, unsigned long value, int pe)
{
    FARREACH_AT(unsigned long, dest, atomic_length, return __atomic_fetch_xor(at, value, __ATOMIC_SEQ_CST););
    return pshmem_ulong_atomic_fetch_xor(dest, value, pe);
}
unsigned long pshmem_ctx_ulong_atomic_fetch_xor(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe);
FARREACH_DIRECT unsigned long shmem_ctx_ulong_atomic_fetch_xor(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned long, dest, atomic_length, return __atomic_fetch_xor(at, value, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_ulong_atomic_fetch_xor(ctx, dest, value, pe);
}
unsigned long long pshmem_ulonglong_atomic_fetch_xor(unsigned long long *dest, unsigned long long value, int pe);
FARREACH_DIRECT unsigned long long shmem_ulonglong_atomic_fetch_xor(unsigned long long *dest, unsigned long long value, int pe)
{
    FARREACH_AT(unsigned long long, dest, atomic_length, return __atomic_fetch_xor(at, value, __ATOMIC_SEQ_CST););
    return pshmem_ulonglong_atomic_fetch_xor(dest, value, pe);
}
unsigned long long pshmem_ctx_ulonglong_atomic_fetch_xor(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe);
FARREACH_DIRECT unsigned long long shmem_ctx_ulonglong_atomic_fetch_xor(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned long long, dest, atomic_length, return __atomic_fetch_xor(at, value, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_ulonglong_atomic_fetch_xor(ctx, dest, value, pe);
}
int32_t pshmem_int32_atomic_fetch_xor(int32_t *dest, int32_t value, int pe);
FARREACH_DIRECT int32_t shmem_int32_atomic_fetch_xor(int32_t *dest, int32_t value, int pe)
{
    FARREACH_AT(int32_t, dest, atomic_length, return __atomic_fetch_xor(at, value, __ATOMIC_SEQ_CST););
    return pshmem_int32_atomic_fetch_xor(dest, value, pe);
}
int32_t pshmem_ctx_int32_atomic_fetch_xor(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe);
FARREACH_DIRECT int32_t shmem_ctx_int32_atomic_fetch_xor(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int32_t, dest, atomic_length, return __atomic_fetch_xor(at, value, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_int32_atomic_fetch_xor(ctx, dest, value, pe);
}
int64_t pshmem_int64_atomic_fetch_xor(int64_t *dest, int64_t value, int pe);
FARREACH_DIRECT int64_t shmem_int64_atomic_fetch_xor(int64_t *dest, int64_t value, int pe)
{
    FARREACH_AT(int64_t, dest, atomic_length, return __atomic_fetch_xor(at, value, __ATOMIC_SEQ_CST););
    return pshmem_int64_atomic_fetch_xor(dest, value, pe);
}
int64_t pshmem_ctx_int64_atomic_fetch_xor(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe);
FARREACH_DIRECT int64_t shmem_ctx_int64_atomic_fetch_xor(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int64_t, dest, atomic_length, return __atomic_fetch_xor(at, value, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_int64_atomic_fetch_xor(ctx, dest, value, pe);
}
uint32_t pshmem_uint32_atomic_fetch_xor(uint32_t *dest, uint32_t value, int pe);
FARREACH_DIRECT uint32_t shmem_uint32_atomic_fetch_xor(uint32_t *dest, uint32_t value, int pe)
{
    FARREACH_AT(uint32_t, dest, atomic_length, return __atomic_fetch_xor(at, value, __ATOMIC_SEQ_CST););
    return pshmem_uint32_atomic_fetch_xor(dest, value, pe);
}
uint32_t pshmem_ctx_uint32_atomic_fetch_xor(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe);
FARREACH_DIRECT uint32_t shmem_ctx_uint32_atomic_fetch_xor(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(uint32_t, dest, atomic_length, return __atomic_fetch_xor(at, value, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_uint32_atomic_fetch_xor(ctx, dest, value, pe);
}
uint64_t pshmem_uint64_atomic_fetch_xor(uint64_t *dest, uint64_t value, int pe);
FARREACH_DIRECT uint64_t shmem_uint64_atomic_fetch_xor(uint64_t *dest, uint64_t value, int pe)
{
    FARREACH_AT(uint64_t, dest, atomic_length, return __atomic_fetch_xor(at, value, __ATOMIC_SEQ_CST););
    return pshmem_uint64_atomic_fetch_xor(dest, value, pe);
}
uint64_t pshmem_ctx_uint64_atomic_fetch_xor(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe);
FARREACH_DIRECT uint64_t shmem_ctx_uint64_atomic_fetch_xor(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(uint64_t, dest, atomic_length, return __atomic_fetch_xor(at, value, __ATOMIC_SEQ_CST););
    }
    return pshmem_ctx_uint64_atomic_fetch_xor(ctx, dest, value, pe);
}

void pshmem_uint_atomic_xor(unsigned int *dest, unsigned int value, int pe);
FARREACH_DIRECT void shmem_uint_atomic_xor(unsigned int *dest, unsigned int value, int pe)
{
    FARREACH_AT(unsigned int, dest, atomic_length, (void)__atomic_fetch_xor(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_uint_atomic_xor(dest, value, pe);
}
void pshmem_ctx_uint_atomic_xor(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe);
FARREACH_DIRECT void shmem_ctx_uint_atomic_xor(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned int, dest, atomic_length, (void)__atomic_fetch_xor(at, value, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_uint_atomic_xor(ctx, dest, value, pe);
}
void pshmem_ulong_atomic_xor(unsigned long *dest, unsigned long value, int pe);
FARREACH_DIRECT void shmem_ulong_atomic_xor(unsigned long *dest, unsigned long value, int pe)
{
    FARREACH_AT(unsigned long, dest, atomic_length, (void)__atomic_fetch_xor(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_ulong_atomic_xor(dest, value, pe);
}
void pshmem_ctx_ulong_atomic_xor(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe);
FARREACH_DIRECT void shmem_ctx_ulong_atomic_xor(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned long, dest, atomic_length, (void)__atomic_fetch_xor(at, value, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_ulong_atomic_xor(ctx, dest, value, pe);
}
void pshmem_ulonglong_atomic_xor(unsigned long long *dest, unsigned long long value, int pe);
FARREACH_DIRECT void shmem_ulonglong_atomic_xor(unsigned long long *dest, unsigned long long value, int pe)
{
    FARREACH_AT(unsigned long long, dest, atomic_length, (void)__atomic_fetch_xor(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_ulonglong_atomic_xor(dest, value, pe);
}
void pshmem_ctx_ulonglong_atomic_xor(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe);
FARREACH_DIRECT void shmem_ctx_ulonglong_atomic_xor(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(unsigned long long, dest, atomic_length, (void)__atomic_fetch_xor(at, value, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_ulonglong_atomic_xor(ctx, dest, value, pe);
}
void pshmem_int32_atomic_xor(int32_t *dest, int32_t value, int pe);
FARREACH_DIRECT void shmem_int32_atomic_xor(int32_t *dest, int32_t value, int pe)
{
    FARREACH_AT(int32_t, dest, atomic_length, (void)__atomic_fetch_xor(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_int32_atomic_xor(dest, value, pe);
}
void pshmem_ctx_int32_atomic_xor(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe);
FARREACH_DIRECT void shmem_ctx_int32_atomic_xor(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int32_t, dest, atomic_length, (void)__atomic_fetch_xor(at, value, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_int32_atomic_xor(ctx, dest, value, pe);
}
void pshmem_int64_atomic_xor(int64_t *dest, int64_t value, int pe);
FARREACH_DIRECT void shmem_int64_atomic_xor(int64_t *dest, int64_t value, int pe)
{
    FARREACH_AT(int64_t, dest, atomic_length, (void)__atomic_fetch_xor(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_int64_atomic_xor(dest, value, pe);
}
void pshmem_ctx_int64_atomic_xor(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe);
FARREACH_DIRECT void shmem_ctx_int64_atomic_xor(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(int64_t, dest, atomic_length, (void)__atomic_fetch_xor(at, value, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_int64_atomic_xor(ctx, dest, value, pe);
}
void pshmem_uint32_atomic_xor(uint32_t *dest, uint32_t value, int pe);
FARREACH_DIRECT void shmem_uint32_atomic_xor(uint32_t *dest, uint32_t value, int pe)
{
    FARREACH_AT(uint32_t, dest, atomic_length, (void)__atomic_fetch_xor(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_uint32_atomic_xor(dest, value, pe);
}
void pshmem_ctx_uint32_atomic_xor(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe);
FARREACH_DIRECT void shmem_ctx_uint32_atomic_xor(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(uint32_t, dest, atomic_length, (void)__atomic_fetch_xor(at, value, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_uint32_atomic_xor(ctx, dest, value, pe);
}
void pshmem_uint64_atomic_xor(uint64_t *dest, uint64_t value, int pe);
FARREACH_DIRECT void shmem_uint64_atomic_xor(uint64_t *dest, uint64_t value, int pe)
{
    FARREACH_AT(uint64_t, dest, atomic_length, (void)__atomic_fetch_xor(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_uint64_atomic_xor(dest, value, pe);
}
void pshmem_ctx_uint64_atomic_xor(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe);
FARREACH_DIRECT void shmem_ctx_uint64_atomic_xor(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_AT(uint64_t, dest, atomic_length, (void)__atomic_fetch_xor(at, value, __ATOMIC_SEQ_CST); return;);
    }
    pshmem_ctx_uint64_atomic_xor(ctx, dest, value, pe);
}

float pshmem_float_fetch(const float *source, int pe);
FARREACH_DIRECT float shmem_float_fetch(const float *source, int pe)
{
    FARREACH_AT(float, source, atomic_length, float found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    return pshmem_float_fetch(source, pe);
}
double pshmem_double_fetch(const double *source, int pe);
FARREACH_DIRECT double shmem_double_fetch(const double *source, int pe)
{
    FARREACH_AT(double, source, atomic_length, double found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    return pshmem_double_fetch(source, pe);
}
int pshmem_int_fetch(const int *source, int pe);
FARREACH_DIRECT int shmem_int_fetch(const int *source, int pe)
{
    FARREACH_AT(int, source, atomic_length, int found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    return pshmem_int_fetch(source, pe);
}
long pshmem_long_fetch(const long *source, int pe);
FARREACH_DIRECT long shmem_long_fetch(const long *source, int pe)
{
    FARREACH_AT(long, source, atomic_length, long found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    return pshmem_long_fetch(source, pe);
}
long long pshmem_longlong_fetch(const long long *source, int pe);
FARREACH_DIRECT long long shmem_longlong_fetch(const long long *source, int pe)
{
    FARREACH_AT(long long, source, atomic_length, long long found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    return pshmem_longlong_fetch(source, pe);
}
unsigned int pshmem_uint_fetch(const unsigned int *source, int pe);
FARREACH_DIRECT unsigned int shmem_uint_fetch(const unsigned int *source, int pe)
{
    FARREACH_AT(unsigned int, source, atomic_length, unsigned int found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    return pshmem_uint_fetch(source, pe);
}
unsigned long pshmem_ulong_fetch(const unsigned long *source, int pe);
FARREACH_DIRECT unsigned long shmem_ulong_fetch(const unsigned long *source, int pe)
{
    FARREACH_AT(unsigned long, source, atomic_length, unsigned long found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    return pshmem_ulong_fetch(source, pe);
}
unsigned long long pshmem_ulonglong_fetch(const unsigned long long *source, int pe);
FARREACH_DIRECT unsigned long long shmem_ulonglong_fetch(const unsigned long long *source, int pe)
{
    FARREACH_AT(unsigned long long, source, atomic_length, unsigned long long found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    return pshmem_ulonglong_fetch(source, pe);
}
int32_t pshmem_int32_fetch(const int32_t *source, int pe);
FARREACH_DIRECT int32_t shmem_int32_fetch(const int32_t *source, int pe)
{
    FARREACH_AT(int32_t, source, atomic_length, int32_t found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    return pshmem_int32_fetch(source, pe);
}
int64_t pshmem_int64_fetch(const int64_t *source, int pe);
FARREACH_DIRECT int64_t shmem_int64_fetch(const int64_t *source, int pe)
{
    FARREACH_AT(int64_t, source, atomic_length, int64_t found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    return pshmem_int64_fetch(source, pe);
}
uint32_t pshmem_uint32_fetch(const uint32_t *source, int pe);
FARREACH_DIRECT uint32_t shmem_uint32_fetch(const uint32_t *source, int pe)
{
    FARREACH_AT(uint32_t, source, atomic_length, uint32_t found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    return pshmem_uint32_fetch(source, pe);
}
uint64_t pshmem_uint64_fetch(const uint64_t *source, int pe);
FARREACH_DIRECT uint64_t shmem_uint64_fetch(const uint64_t *source, int pe)
{
    FARREACH_AT(uint64_t, source, atomic_length, uint64_t found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    return pshmem_uint64_fetch(source, pe);
}
size_t pshmem_size_fetch(const size_t *source, int pe);
FARREACH_DIRECT size_t shmem_size_fetch(const size_t *source, int pe)
{
    FARREACH_AT(size_t, source, atomic_length, size_t found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    return pshmem_size_fetch(source, pe);
}
ptrdiff_t pshmem_ptrdiff_fetch(const ptrdiff_t *source, int pe);
FARREACH_DIRECT ptrdiff_t shmem_ptrdiff_fetch(const ptrdiff_t *source, int pe)
{
    FARREACH_AT(ptrdiff_t, source, atomic_length, ptrdiff_t found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;);
    return pshmem_ptrdiff_fetch(source, pe);
}

void pshmem_float_set(float *dest, float value, int pe);
FARREACH_DIRECT void shmem_float_set(float *dest, float value, int pe)
{
    FARREACH_AT(float, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    pshmem_float_set(dest, value, pe);
}
void pshmem_double_set(double *dest, double value, int pe);
FARREACH_DIRECT void shmem_double_set(double *dest, double value, int pe)
{
    FARREACH_AT(double, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    pshmem_double_set(dest, value, pe);
}
void pshmem_int_set(int *dest, int value, int pe);
FARREACH_DIRECT void shmem_int_set(int *dest, int value, int pe)
{
    FARREACH_AT(int, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    pshmem_int_set(dest, value, pe);
}
void pshmem_long_set(long *dest, long value, int pe);
FARREACH_DIRECT void shmem_long_set(long *dest, long value, int pe)
{
    FARREACH_AT(long, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    pshmem_long_set(dest, value, pe);
}
void pshmem_longlong_set(long long *dest, long long value, int pe);
FARREACH_DIRECT void shmem_longlong_set(long long *dest, long long value, int pe)
{
    FARREACH_AT(long long, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    pshmem_longlong_set(dest, value, pe);
}
void pshmem_uint_set(unsigned int *dest, unsigned int value, int pe);
FARREACH_DIRECT void shmem_uint_set(unsigned int *dest, unsigned int value, int pe)
{
    FARREACH_AT(unsigned int, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    pshmem_uint_set(dest, value, pe);
}
void pshmem_ulong_set(unsigned long *dest, unsigned long value, int pe);
FARREACH_DIRECT void shmem_ulong_set(unsigned long *dest, unsigned long value, int pe)
{
    FARREACH_AT(unsigned long, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    pshmem_ulong_set(dest, value, pe);
}
void pshmem_ulonglong_set(unsigned long long *dest, unsigned long long value, int pe);
FARREACH_DIRECT void shmem_ulonglong_set(unsigned long long *dest, unsigned long long value, int pe)
{
    FARREACH_AT(unsigned long long, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    pshmem_ulonglong_set(dest, value, pe);
}
void pshmem_int32_set(int32_t *dest, int32_t value, int pe);
FARREACH_DIRECT void shmem_int32_set(int32_t *dest, int32_t value, int pe)
{
    FARREACH_AT(int32_t, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    pshmem_int32_set(dest, value, pe);
}
void pshmem_int64_set(int64_t *dest, int64_t value, int pe);
FARREACH_DIRECT void shmem_int64_set(int64_t *dest, int64_t value, int pe)
{
    FARREACH_AT(int64_t, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    pshmem_int64_set(dest, value, pe);
}
void pshmem_uint32_set(uint32_t *dest, uint32_t value, int pe);
FARREACH_DIRECT void shmem_uint32_set(uint32_t *dest, uint32_t value, int pe)
{
    FARREACH_AT(uint32_t, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    pshmem_uint32_set(dest, value, pe);
}
void pshmem_uint64_set(uint64_t *dest, uint64_t value, int pe);
FARREACH_DIRECT void shmem_uint64_set(uint64_t *dest, uint64_t value, int pe)
{
    FARREACH_AT(uint64_t, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    pshmem_uint64_set(dest, value, pe);
}
void pshmem_size_set(size_t *dest, size_t value, int pe);
FARREACH_DIRECT void shmem_size_set(size_t *dest, size_t value, int pe)
{
    FARREACH_AT(size_t, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    pshmem_size_set(dest, value, pe);
}
void pshmem_ptrdiff_set(ptrdiff_t *dest, ptrdiff_t value, int pe);
FARREACH_DIRECT void shmem_ptrdiff_set(ptrdiff_t *dest, ptrdiff_t value, int pe)
{
    FARREACH_AT(ptrdiff_t, dest, atomic_length, __atomic_store(at, &value, __ATOMIC_RELEASE); return;);
    pshmem_ptrdiff_set(dest, value, pe);
}

int pshmem_int_cswap(int *dest, int cond, int value, int pe);
FARREACH_DIRECT int shmem_int_cswap(int *dest, int cond, int value, int pe)
{
    FARREACH_AT(int, dest, atomic_length, __atomic_compare_exchange_n(at, &cond, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return cond;);
    return pshmem_int_cswap(dest, cond, value, pe);
}
long pshmem_long_cswap(long *dest, long cond, long value, int pe);
FARREACH_DIRECT long shmem_long_cswap(long *dest, long cond, long value, int pe)
{
    FARREACH_AT(long, dest, atomic_length, __atomic_compare_exchange_n(at, &cond, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return cond;);
    return pshmem_long_cswap(dest, cond, value, pe);
}
long long pshmem_longlong_cswap(long long *dest, long long cond, long long value, int pe);
FARREACH_DIRECT long long shmem_longlong_cswap(long long *dest, long long cond, long long value, int pe)
{
    FARREACH_AT(long long, dest, atomic_length, __atomic_compare_exchange_n(at, &cond, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return cond;);
    return pshmem_longlong_cswap(dest, cond, value, pe);
}
unsigned int pshmem_uint_cswap(unsigned int *dest, unsigned int cond, unsigned int value, int pe);
FARREACH_DIRECT unsigned int shmem_uint_cswap(unsigned int *dest, unsigned int cond, unsigned int value, int pe)
{
    FARREACH_AT(unsigned int, dest, atomic_length, __atomic_compare_exchange_n(at, &cond, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return cond;);
    return pshmem_uint_cswap(dest, cond, value, pe);
}
unsigned long pshmem_ulong_cswap(unsigned long *dest, unsigned long cond, unsigned long value, int pe);
FARREACH_DIRECT unsigned long shmem_ulong_cswap(unsigned long *dest, unsigned long cond, unsigned long value, int pe)
{
    FARREACH_AT(unsigned long, dest, atomic_length, __atomic_compare_exchange_n(at, &cond, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return cond;);
    return pshmem_ulong_cswap(dest, cond, value, pe);
}
unsigned long long pshmem_ulonglong_cswap(unsigned long long *dest, unsigned long long cond, unsigned long long value, int pe);
FARREACH_DIRECT unsigned long long shmem_ulonglong_cswap(unsigned long long *dest, unsigned long long cond, unsigned long long value, int pe)
{
    FARREACH_AT(unsigned long long, dest, atomic_length, __atomic_compare_exchange_n(at, &cond, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return cond;);
    return pshmem_ulonglong_cswap(dest, cond, value, pe);
}
int32_t pshmem_int32_cswap(int32_t *dest, int32_t cond, int32_t value, int pe);
FARREACH_DIRECT int32_t shmem_int32_cswap(int32_t *dest, int32_t cond, int32_t value, int pe)
{
    FARREACH_AT(int32_t, dest, atomic_length, __atomic_compare_exchange_n(at, &cond, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return cond;);
    return pshmem_int32_cswap(dest, cond, value, pe);
}
int64_t pshmem_int64_cswap(int64_t *dest, int64_t cond, int64_t value, int pe);
FARREACH_DIRECT int64_t shmem_int64_cswap(int64_t *dest, int64_t cond, int64_t value, int pe)
{
    FARREACH_AT(int64_t, dest, atomic_length, __atomic_compare_exchange_n(at, &cond, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return cond;);
    return pshmem_int64_cswap(dest, cond, value, pe);
}
uint32_t pshmem_uint32_cswap(uint32_t *dest, uint32_t cond, uint32_t value, int pe);
FARREACH_DIRECT uint32_t shmem_uint32_cswap(uint32_t *dest, uint32_t cond, uint32_t value, int pe)
{
    FARREACH_AT(uint32_t, dest, atomic_length, __atomic_compare_exchange_n(at, &cond, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return cond;);
    return pshmem_uint32_cswap(dest, cond, value, pe);
}
uint64_t pshmem_uint64_cswap(uint64_t *dest, uint64_t cond, uint64_t value, int pe);
FARREACH_DIRECT uint64_t shmem_uint64_cswap(uint64_t *dest, uint64_t cond, uint64_t value, int pe)
{
    FARREACH_AT(uint64_t, dest, atomic_length, __atomic_compare_exchange_n(at, &cond, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return cond;);
    return pshmem_uint64_cswap(dest, cond, value, pe);
}
size_t pshmem_size_cswap(size_t *dest, size_t cond, size_t value, int pe);
FARREACH_DIRECT size_t shmem_size_cswap(size_t *dest, size_t cond, size_t value, int pe)
{
    FARREACH_AT(size_t, dest, atomic_length, __atomic_compare_exchange_n(at, &cond, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return cond;);
    return pshmem_size_cswap(dest, cond, value, pe);
}
ptrdiff_t pshmem_ptrdiff_cswap(ptrdiff_t *dest, ptrdiff_t cond, ptrdiff_t value, int pe);
FARREACH_DIRECT ptrdiff_t shmem_ptrdiff_cswap(ptrdiff_t *dest, ptrdiff_t cond, ptrdiff_t value, int pe)
{
    FARREACH_AT(ptrdiff_t, dest, atomic_length, __atomic_compare_exchange_n(at, &cond, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return cond;);
    return pshmem_ptrdiff_cswap(dest, cond, value, pe);
}

float pshmem_float_swap(float *dest, float value, int pe);
FARREACH_DIRECT float shmem_float_swap(float *dest, float value, int pe)
{
    FARREACH_AT(float, dest, atomic_length, float found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    return pshmem_float_swap(dest, value, pe);
}
double pshmem_double_swap(double *dest, double value, int pe);
FARREACH_DIRECT double shmem_double_swap(double *dest, double value, int pe)
{
    FARREACH_AT(double, dest, atomic_length, double found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    return pshmem_double_swap(dest, value, pe);
}
int pshmem_int_swap(int *dest, int value, int pe);
FARREACH_DIRECT int shmem_int_swap(int *dest, int value, int pe)
{
    FARREACH_AT(int, dest, atomic_length, int found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    return pshmem_int_swap(dest, value, pe);
}
long pshmem_long_swap(long *dest, long value, int pe);
FARREACH_DIRECT long shmem_long_swap(long *dest, long value, int pe)
{
    FARREACH_AT(long, dest, atomic_length, long found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    return pshmem_long_swap(dest, value, pe);
}
long long pshmem_longlong_swap(long long *dest, long long value, int pe);
FARREACH_DIRECT long long shmem_longlong_swap(long long *dest, long long value, int pe)
{
    FARREACH_AT(long long, dest, atomic_length, long long found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    return pshmem_longlong_swap(dest, value, pe);
}
unsigned int pshmem_uint_swap(unsigned int *dest, unsigned int value, int pe);
FARREACH_DIRECT unsigned int shmem_uint_swap(unsigned int *dest, unsigned int value, int pe)
{
    FARREACH_AT(unsigned int, dest, atomic_length, unsigned int found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    return pshmem_uint_swap(dest, value, pe);
}
unsigned long pshmem_ulong_swap(unsigned long *dest, unsigned long value, int pe);
FARREACH_DIRECT unsigned long shmem_ulong_swap(unsigned long *dest, unsigned long value, int pe)
{
    FARREACH_AT(unsigned long, dest, atomic_length, unsigned long found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    return pshmem_ulong_swap(dest, value, pe);
}
unsigned long long pshmem_ulonglong_swap(unsigned long long *dest, unsigned long long value, int pe);
FARREACH_DIRECT unsigned long long shmem_ulonglong_swap(unsigned long long *dest, unsigned long long value, int pe)
{
    FARREACH_AT(unsigned long long, dest, atomic_length, unsigned long long found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    return pshmem_ulonglong_swap(dest, value, pe);
}
int32_t pshmem_int32_swap(int32_t *dest, int32_t value, int pe);
FARREACH_DIRECT int32_t shmem_int32_swap(int32_t *dest, int32_t value, int pe)
{
    FARREACH_AT(int32_t, dest, atomic_length, int32_t found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    return pshmem_int32_swap(dest, value, pe);
}
int64_t pshmem_int64_swap(int64_t *dest, int64_t value, int pe);
FARREACH_DIRECT int64_t shmem_int64_swap(int64_t *dest, int64_t value, int pe)
{
    FARREACH_AT(int64_t, dest, atomic_length, int64_t found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    return pshmem_int64_swap(dest, value, pe);
}
uint32_t pshmem_uint32_swap(uint32_t *dest, uint32_t value, int pe);
FARREACH_DIRECT uint32_t shmem_uint32_swap(uint32_t *dest, uint32_t value, int pe)
{
    FARREACH_AT(uint32_t, dest, atomic_length, uint32_t found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    return pshmem_uint32_swap(dest, value, pe);
}
uint64_t pshmem_uint64_swap(uint64_t *dest, uint64_t value, int pe);
FARREACH_DIRECT uint64_t shmem_uint64_swap(uint64_t *dest, uint64_t value, int pe)
{
    FARREACH_AT(uint64_t, dest, atomic_length, uint64_t found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    return pshmem_uint64_swap(dest, value, pe);
}
size_t pshmem_size_swap(size_t *dest, size_t value, int pe);
FARREACH_DIRECT size_t shmem_size_swap(size_t *dest, size_t value, int pe)
{
    FARREACH_AT(size_t, dest, atomic_length, size_t found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    return pshmem_size_swap(dest, value, pe);
}
ptrdiff_t pshmem_ptrdiff_swap(ptrdiff_t *dest, ptrdiff_t value, int pe);
FARREACH_DIRECT ptrdiff_t shmem_ptrdiff_swap(ptrdiff_t *dest, ptrdiff_t value, int pe)
{
    FARREACH_AT(ptrdiff_t, dest, atomic_length, ptrdiff_t found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;);
    return pshmem_ptrdiff_swap(dest, value, pe);
}

int pshmem_int_finc(int *dest, int pe);
FARREACH_DIRECT int shmem_int_finc(int *dest, int pe)
{
    FARREACH_AT(int, dest, atomic_length, return __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST););
    return pshmem_int_finc(dest, pe);
}
long pshmem_long_finc(long *dest, int pe);
FARREACH_DIRECT long shmem_long_finc(long *dest, int pe)
{
    FARREACH_AT(long, dest, atomic_length, return __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST););
    return pshmem_long_finc(dest, pe);
}
long long pshmem_longlong_finc(long long *dest, int pe);
FARREACH_DIRECT long long shmem_longlong_finc(long long *dest, int pe)
{
    FARREACH_AT(long long, dest, atomic_length, return __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST););
    return pshmem_longlong_finc(dest, pe);
}
unsigned int pshmem_uint_finc(unsigned int *dest, int pe);
FARREACH_DIRECT unsigned int shmem_uint_finc(unsigned int *dest, int pe)
{
    FARREACH_AT(unsigned int, dest, atomic_length, return __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST););
    return pshmem_uint_finc(dest, pe);
}
unsigned long pshmem_ulong_finc(unsigned long *dest, int pe);
FARREACH_DIRECT unsigned long shmem_ulong_finc(unsigned long *dest, int pe)
{
    FARREACH_AT(unsigned long, dest, atomic_length, return __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST););
    return pshmem_ulong_finc(dest, pe);
}
unsigned long long pshmem_ulonglong_finc(unsigned long long *dest, int pe);
FARREACH_DIRECT unsigned long long shmem_ulonglong_finc(unsigned long long *dest, int pe)
{
    FARREACH_AT(unsigned long long, dest, atomic_length, return __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST););
    return pshmem_ulonglong_finc(dest, pe);
}
int32_t pshmem_int32_finc(int32_t *dest, int pe);
FARREACH_DIRECT int32_t shmem_int32_finc(int32_t *dest, int pe)
{
    FARREACH_AT(int32_t, dest, atomic_length, return __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST););
    return pshmem_int32_finc(dest, pe);
}
int64_t pshmem_int64_finc(int64_t *dest, int pe);
FARREACH_DIRECT int64_t shmem_int64_finc(int64_t *dest, int pe)
{
    FARREACH_AT(int64_t, dest, atomic_length, return __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST););
    return pshmem_int64_finc(dest, pe);
}
uint32_t pshmem_uint32_finc(uint32_t *dest, int pe);
FARREACH_DIRECT uint32_t shmem_uint32_finc(uint32_t *dest, int pe)
{
    FARREACH_AT(uint32_t, dest, atomic_length, return __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST););
    return pshmem_uint32_finc(dest, pe);
}
uint64_t pshmem_uint64_finc(uint64_t *dest, int pe);
FARREACH_DIRECT uint64_t shmem_uint64_finc(uint64_t *dest, int pe)
{
    FARREACH_AT(uint64_t, dest, atomic_length, return __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST););
    return pshmem_uint64_finc(dest, pe);
}
size_t pshmem_size_finc(size_t *dest, int pe);
FARREACH_DIRECT size_t shmem_size_finc(size_t *dest, int pe)
{
    FARREACH_AT(size_t, dest, atomic_length, return __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST););
    return pshmem_size_finc(dest, pe);
}
ptrdiff_t pshmem_ptrdiff_finc(ptrdiff_t *dest, int pe);
FARREACH_DIRECT ptrdiff_t shmem_ptrdiff_finc(ptrdiff_t *dest, int pe)
{
    FARREACH_AT(ptrdiff_t, dest, atomic_length, return __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST););
    return pshmem_ptrdiff_finc(dest, pe);
}

void pshmem_int_inc(int *dest, int pe);
FARREACH_DIRECT void shmem_int_inc(int *dest, int pe)
{
    FARREACH_AT(int, dest, atomic_length, (void)__atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); return;);
    pshmem_int_inc(dest, pe);
}
void pshmem_long_inc(long *dest, int pe);
FARREACH_DIRECT void shmem_long_inc(long *dest, int pe)
{
    FARREACH_AT(long, dest, atomic_length, (void)__atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); return;);
    pshmem_long_inc(dest, pe);
}
void pshmem_longlong_inc(long long *dest, int pe);
FARREACH_DIRECT void shmem_longlong_inc(long long *dest, int pe)
{
    FARREACH_AT(long long, dest, atomic_length, (void)__atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); return;);
    pshmem_longlong_inc(dest, pe);
}
void pshmem_uint_inc(unsigned int *dest, int pe);
FARREACH_DIRECT void shmem_uint_inc(unsigned int *dest, int pe)
{
    FARREACH_AT(unsigned int, dest, atomic_length, (void)__atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); return;);
    pshmem_uint_inc(dest, pe);
}
void pshmem_ulong_inc(unsigned long *dest, int pe);
FARREACH_DIRECT void shmem_ulong_inc(unsigned long *dest, int pe)
{
    FARREACH_AT(unsigned long, dest, atomic_length, (void)__atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); return;);
    pshmem_ulong_inc(dest, pe);
}
void pshmem_ulonglong_inc(unsigned long long *dest, int pe);
FARREACH_DIRECT void shmem_ulonglong_inc(unsigned long long *dest, int pe)
{
    FARREACH_AT(unsigned long long, dest, atomic_length, (void)__atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); return;);
    pshmem_ulonglong_inc(dest, pe);
}
void pshmem_int32_inc(int32_t *dest, int pe);
FARREACH_DIRECT void shmem_int32_inc(int32_t *dest, int pe)
{
    FARREACH_AT(int32_t, dest, atomic_length, (void)__atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); return;);
    pshmem_int32_inc(dest, pe);
}
void pshmem_int64_inc(int64_t *dest, int pe);
FARREACH_DIRECT void shmem_int64_inc(int64_t *dest, int pe)
{
    FARREACH_AT(int64_t, dest, atomic_length, (void)__atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); return;);
    pshmem_int64_inc(dest, pe);
}
void pshmem_uint32_inc(uint32_t *dest, int pe);
FARREACH_DIRECT void shmem_uint32_inc(uint32_t *dest, int pe)
{
    FARREACH_AT(uint32_t, dest, atomic_length, (void)__atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); return;);
    pshmem_uint32_inc(dest, pe);
}
void pshmem_uint64_inc(uint64_t *dest, int pe);
FARREACH_DIRECT void shmem_uint64_inc(uint64_t *dest, int pe)
{
    FARREACH_AT(uint64_t, dest, atomic_length, (void)__atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); return;);
    pshmem_uint64_inc(dest, pe);
}
void pshmem_size_inc(size_t *dest, int pe);
FARREACH_DIRECT void shmem_size_inc(size_t *dest, int pe)
{
    FARREACH_AT(size_t, dest, atomic_length, (void)__atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); return;);
    pshmem_size_inc(dest, pe);
}
void pshmem_ptrdiff_inc(ptrdiff_t *dest, int pe);
FARREACH_DIRECT void shmem_ptrdiff_inc(ptrdiff_t *dest, int pe)
{
    FARREACH_AT(ptrdiff_t, dest, atomic_length, (void)__atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); return;);
    pshmem_ptrdiff_inc(dest, pe);
}

int pshmem_int_fadd(int *dest, int value, int pe);
FARREACH_DIRECT int shmem_int_fadd(int *dest, int value, int pe)
{
    FARREACH_AT(int, dest, atomic_length, return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST););
    return pshmem_int_fadd(dest, value, pe);
}
long pshmem_long_fadd(long *dest, long value, int pe);
FARREACH_DIRECT long shmem_long_fadd(long *dest, long value, int pe)
{
    FARREACH_AT(long, dest, atomic_length, return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST););
    return pshmem_long_fadd(dest, value, pe);
}
long long pshmem_longlong_fadd(long long *dest, long long value, int pe);
FARREACH_DIRECT long long shmem_longlong_fadd(long long *dest, long long value, int pe)
{
    FARREACH_AT(long long, dest, atomic_length, return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST););
    return pshmem_longlong_fadd(dest, value, pe);
}
unsigned int pshmem_uint_fadd(unsigned int *dest, unsigned int value, int pe);
FARREACH_DIRECT unsigned int shmem_uint_fadd(unsigned int *dest, unsigned int value, int pe)
{
    FARREACH_AT(unsigned int, dest, atomic_length, return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST););
    return pshmem_uint_fadd(dest, value, pe);
}
unsigned long pshmem_ulong_fadd(unsigned long *dest, unsigned long value, int pe);
FARREACH_DIRECT unsigned long shmem_ulong_fadd(unsigned long *dest, unsigned long value, int pe)
{
    FARREACH_AT(unsigned long, dest, atomic_length, return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST););
    return pshmem_ulong_fadd(dest, value, pe);
}
unsigned long long pshmem_ulonglong_fadd(unsigned long long *dest, unsigned long long value, int pe);
FARREACH_DIRECT unsigned long long shmem_ulonglong_fadd(unsigned long long *dest, unsigned long long value, int pe)
{
    FARREACH_AT(unsigned long long, dest, atomic_length, return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST););
    return pshmem_ulonglong_fadd(dest, value, pe);
}
int32_t pshmem_int32_fadd(int32_t *dest, int32_t value, int pe);
FARREACH_DIRECT int32_t shmem_int32_fadd(int32_t *dest, int32_t value, int pe)
{
    FARREACH_AT(int32_t, dest, atomic_length, return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST););
    return pshmem_int32_fadd(dest, value, pe);
}
int64_t pshmem_int64_fadd(int64_t *dest, int64_t value, int pe);
FARREACH_DIRECT int64_t shmem_int64_fadd(int64_t *dest, int64_t value, int pe)
{
    FARREACH_AT(int64_t, dest, atomic_length, return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST););
    return pshmem_int64_fadd(dest, value, pe);
}
uint32_t pshmem_uint32_fadd(uint32_t *dest, uint32_t value, int pe);
FARREACH_DIRECT uint32_t shmem_uint32_fadd(uint32_t *dest, uint32_t value, int pe)
{
    FARREACH_AT(uint32_t, dest, atomic_length, return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST););
    return pshmem_uint32_fadd(dest, value, pe);
}
uint64_t pshmem_uint64_fadd(uint64_t *dest, uint64_t value, int pe);
FARREACH_DIRECT uint64_t shmem_uint64_fadd(uint64_t *dest, uint64_t value, int pe)
{
    FARREACH_AT(uint64_t, dest, atomic_length, return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST););
    return pshmem_uint64_fadd(dest, value, pe);
}
size_t pshmem_size_fadd(size_t *dest, size_t value, int pe);
FARREACH_DIRECT size_t shmem_size_fadd(size_t *dest, size_t value, int pe)
{
    FARREACH_AT(size_t, dest, atomic_length, return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST););
    return pshmem_size_fadd(dest, value, pe);
}
ptrdiff_t pshmem_ptrdiff_fadd(ptrdiff_t *dest, ptrdiff_t value, int pe);
FARREACH_DIRECT ptrdiff_t shmem_ptrdiff_fadd(ptrdiff_t *dest, ptrdiff_t value, int pe)
{
    FARREACH_AT(ptrdiff_t, dest, atomic_length, return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST););
    return pshmem_ptrdiff_fadd(dest, value, pe);
}

void pshmem_int_add(int *dest, int value, int pe);
FARREACH_DIRECT void shmem_int_add(int *dest, int value, int pe)
{
    FARREACH_AT(int, dest, atomic_length, (void)__atomic_fetch_add(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_int_add(dest, value, pe);
}
void pshmem_long_add(long *dest, long value, int pe);
FARREACH_DIRECT void shmem_long_add(long *dest, long value, int pe)
{
    FARREACH_AT(long, dest, atomic_length, (void)__atomic_fetch_add(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_long_add(dest, value, pe);
}
void pshmem_longlong_add(long long *dest, long long value, int pe);
FARREACH_DIRECT void shmem_longlong_add(long long *dest, long long value, int pe)
{
    FARREACH_AT(long long, dest, atomic_length, (void)__atomic_fetch_add(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_longlong_add(dest, value, pe);
}
void pshmem_uint_add(unsigned int *dest, unsigned int value, int pe);
FARREACH_DIRECT void shmem_uint_add(unsigned int *dest, unsigned int value, int pe)
{
    FARREACH_AT(unsigned int, dest, atomic_length, (void)__atomic_fetch_add(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_uint_add(dest, value, pe);
}
void pshmem_ulong_add(unsigned long *dest, unsigned long value, int pe);
FARREACH_DIRECT void shmem_ulong_add(unsigned long *dest, unsigned long value, int pe)
{
    FARREACH_AT(unsigned long, dest, atomic_length, (void)__atomic_fetch_add(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_ulong_add(dest, value, pe);
}
void pshmem_ulonglong_add(unsigned long long *dest, unsigned long long value, int pe);
FARREACH_DIRECT void shmem_ulonglong_add(unsigned long long *dest, unsigned long long value, int pe)
{
    FARREACH_AT(unsigned long long, dest, atomic_length, (void)__atomic_fetch_add(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_ulonglong_add(dest, value, pe);
}
void pshmem_int32_add(int32_t *dest, int32_t value, int pe);
FARREACH_DIRECT void shmem_int32_add(int32_t *dest, int32_t value, int pe)
{
    FARREACH_AT(int32_t, dest, atomic_length, (void)__atomic_fetch_add(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_int32_add(dest, value, pe);
}
void pshmem_int64_add(int64_t *dest, int64_t value, int pe);
FARREACH_DIRECT void shmem_int64_add(int64_t *dest, int64_t value, int pe)
{
    FARREACH_AT(int64_t, dest, atomic_length, (void)__atomic_fetch_add(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_int64_add(dest, value, pe);
}
void pshmem_uint32_add(uint32_t *dest, uint32_t value, int pe);
FARREACH_DIRECT void shmem_uint32_add(uint32_t *dest, uint32_t value, int pe)
{
    FARREACH_AT(uint32_t, dest, atomic_length, (void)__atomic_fetch_add(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_uint32_add(dest, value, pe);
}
void pshmem_uint64_add(uint64_t *dest, uint64_t value, int pe);
FARREACH_DIRECT void shmem_uint64_add(uint64_t *dest, uint64_t value, int pe)
{
    FARREACH_AT(uint64_t, dest, atomic_length, (void)__atomic_fetch_add(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_uint64_add(dest, value, pe);
}
void pshmem_size_add(size_t *dest, size_t value, int pe);
FARREACH_DIRECT void shmem_size_add(size_t *dest, size_t value, int pe)
{
    FARREACH_AT(size_t, dest, atomic_length, (void)__atomic_fetch_add(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_size_add(dest, value, pe);
}
void pshmem_ptrdiff_add(ptrdiff_t *dest, ptrdiff_t value, int pe);
FARREACH_DIRECT void shmem_ptrdiff_add(ptrdiff_t *dest, ptrdiff_t value, int pe)
{
    FARREACH_AT(ptrdiff_t, dest, atomic_length, (void)__atomic_fetch_add(at, value, __ATOMIC_SEQ_CST); return;);
    pshmem_ptrdiff_add(dest, value, pe);
}

void pshmem_fence(void);
FARREACH_DIRECT void shmem_fence(void)
{
    FARREACH_FENCE();
    pshmem_fence();
}
void pshmem_ctx_fence(shmem_ctx_t ctx);
FARREACH_DIRECT void shmem_ctx_fence(shmem_ctx_t ctx)
{
    if (FARREACH_IS_DEFAULT(ctx)) {
        FARREACH_FENCE();
    }
    pshmem_ctx_fence(ctx);
}

#ifdef __cplusplus
}
#endif

#endif /* __GNUC__ */

#endif /* FARREACH_SHMEM_DIRECT_H */
