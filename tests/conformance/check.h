// Helpers of the programs of this directory: a check that names the PE that failed, the place and
// the values and then ends the job, and the lists of types for which the OpenSHMEM specification
// defines its typed routines. Fits C99, C11 and C++17.
#ifndef FARREACH_TESTS_CHECK_H
#define FARREACH_TESTS_CHECK_H

#include <shmem.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Prints one line about a failure and ends the whole job with status 1.
static inline void check_failed(const char *file, int line, const char *format, ...)
{
    const char *base = strrchr(file, '/');
    int initialized = 0;
    char text[1024];
    va_list args;

    shmem_query_initialized(&initialized);
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "FAILED: PE %d: %s:%d: %s\n", initialized ? shmem_my_pe() : -1,
            base != NULL ? base + 1 : file, line, text);
    fflush(stderr);
    if (initialized)
        shmem_global_exit(1);
    exit(1);
}

// FAIL(format, ...): unconditional failure.
#define FAIL(...) check_failed(__FILE__, __LINE__, __VA_ARGS__)

// CHECK(condition, format, ...): failure unless the condition holds.
#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition))                                                                          \
            check_failed(__FILE__, __LINE__, __VA_ARGS__);                                         \
    } while (0)

// CHECK_INT(got, want, what): two integers that must be equal; `what` is a string.
#define CHECK_INT(got, want, what)                                                                 \
    do {                                                                                           \
        long long check_got = (long long)(got), check_want = (long long)(want);                    \
        if (check_got != check_want)                                                               \
            check_failed(__FILE__, __LINE__, "%s: expected %lld (0x%llx), got %lld (0x%llx)",      \
                         (what), check_want, (unsigned long long)check_want, check_got,            \
                         (unsigned long long)check_got);                                           \
    } while (0)

// RMA types, AMO types, and the floats that make them the extended and the seven bitwise ones.
// X(NAME, TYPE)
#define AMO_TYPES(X)                                                                               \
    X(int, int)                                                                                    \
    X(long, long)                                                                                  \
    X(longlong, long long)                                                                         \
    X(uint, unsigned int)                                                                          \
    X(ulong, unsigned long)                                                                        \
    X(ulonglong, unsigned long long)                                                               \
    X(int32, int32_t)                                                                              \
    X(int64, int64_t)                                                                              \
    X(uint32, uint32_t)                                                                            \
    X(uint64, uint64_t)                                                                            \
    X(size, size_t)                                                                                \
    X(ptrdiff, ptrdiff_t)

#define AMO_EXTENDED_TYPES(X)                                                                      \
    X(float, float)                                                                                \
    X(double, double)                                                                              \
    AMO_TYPES(X)

#define AMO_BITWISE_TYPES(X)                                                                       \
    X(uint, unsigned int)                                                                          \
    X(ulong, unsigned long)                                                                        \
    X(ulonglong, unsigned long long)                                                               \
    X(int32, int32_t)                                                                              \
    X(int64, int64_t)                                                                              \
    X(uint32, uint32_t)                                                                            \
    X(uint64, uint64_t)

#define RMA_TYPES(X)                                                                               \
    AMO_EXTENDED_TYPES(X)                                                                          \
    X(longdouble, long double)                                                                     \
    X(char, char)                                                                                  \
    X(schar, signed char)                                                                          \
    X(short, short)                                                                                \
    X(uchar, unsigned char)                                                                        \
    X(ushort, unsigned short)                                                                      \
    X(int8, int8_t)                                                                                \
    X(int16, int16_t)                                                                              \
    X(uint8, uint8_t)                                                                              \
    X(uint16, uint16_t)

// Types of the reductions: RMA_TYPES have max, min, sum and prod, and the scans; these have and, or
// and xor, too.
#define REDUCE_BITWISE_TYPES(X)                                                                    \
    X(uchar, unsigned char)                                                                        \
    X(ushort, unsigned short)                                                                      \
    X(uint, unsigned int)                                                                          \
    X(ulong, unsigned long)                                                                        \
    X(ulonglong, unsigned long long)                                                               \
    X(int8, int8_t)                                                                                \
    X(int16, int16_t)                                                                              \
    X(int32, int32_t)                                                                              \
    X(int64, int64_t)                                                                              \
    X(uint8, uint8_t)                                                                              \
    X(uint16, uint16_t)                                                                            \
    X(uint32, uint32_t)                                                                            \
    X(uint64, uint64_t)                                                                            \
    X(size, size_t)

// The remaining types of reductions have sum and prod, and the scans.
__extension__ typedef double _Complex complex_double;
__extension__ typedef float _Complex complex_float;
#define COMPLEX_TYPES(X) X(complexd, complex_double) X(complexf, complex_float)

// The fixed-size routines: X(BITS, BYTES)
#define RMA_SIZES(X) X(8, 1) X(16, 2) X(32, 4) X(64, 8) X(128, 16)

// PLAIN(NAME, STEM) and WITH_CTX(NAME, STEM) name a typed routine. A program that defines GENERIC
// before including this file reaches the same routines through the type-generic names, which are
// _Generic selections in C11 and overloads in C++.
#ifdef GENERIC
#define PLAIN(NAME, STEM) shmem_##STEM
#define WITH_CTX(NAME, STEM) shmem_##STEM
#else
#define PLAIN(NAME, STEM) shmem_##NAME##_##STEM
#define WITH_CTX(NAME, STEM) shmem_ctx_##NAME##_##STEM
#endif

// The context of the forms that take one: the default one, or, where a program defines OWN_CONTEXT
// as its options, one that is made after shmem_init. Only the program itself completes the latter.
#ifdef OWN_CONTEXT
static shmem_ctx_t own_context = SHMEM_CTX_INVALID;
#define CTX own_context
#define CTX_BEGIN() CHECK_INT(shmem_ctx_create(OWN_CONTEXT, &own_context), 0, "shmem_ctx_create")
#define CTX_COMPLETE() shmem_ctx_quiet(own_context)
#define CTX_END() shmem_ctx_destroy(own_context)
#else
#define CTX SHMEM_CTX_DEFAULT
#define CTX_BEGIN() ((void)0)
#define CTX_COMPLETE() ((void)0)
#define CTX_END() ((void)0)
#endif

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#endif
