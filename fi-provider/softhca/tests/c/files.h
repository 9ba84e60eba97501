/*
 * Memory of files in memory, some of which the device maps as well.
 */
#ifndef FILES_H
#define FILES_H

#include "side.h"
#include <fcntl.h>

/* Makes a file in memory of SIZE bytes, which it keeps where it is sealed. */
static inline int new_file(int is_sealed)
{
    int file = memfd_create("side", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    CHECK(file >= 0 && !ftruncate(file, SIZE));
    CHECK(!is_sealed || !fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK));
    return file;
}

/* Maps length bytes of a file from byte at on, at a given address or where there is room. */
static inline char *map(int file, size_t at, size_t length, char *where, int rights)
{
    char *memory = mmap(where, length, rights, MAP_SHARED | (where ? MAP_FIXED : 0), file, at);
    CHECK(memory != MAP_FAILED);
    return memory;
}

/* Makes memory that the device maps as well, by the descriptor, which stays open. */
static inline char *mapped_memory(void)
{
    return map(new_file(1), 0, SIZE, NULL, PROT_READ | PROT_WRITE);
}

#endif
