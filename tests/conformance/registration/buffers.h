// Helpers of the programs about private memory.
#ifndef FARREACH_TESTS_BUFFERS_H
#define FARREACH_TESTS_BUFFERS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "check.h"

#include <sys/mman.h>

static inline unsigned char picture(size_t i, unsigned who, unsigned round)
{
    return (unsigned char)(i * 7 + (i >> 8) * 13 + (i >> 16) * 101 + who * 31 + round * 57);
}

// Maps new private memory.
static inline unsigned char *map(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(at != MAP_FAILED, "mmap of %zu bytes failed", bytes);
    return (unsigned char *)at;
}

#endif
