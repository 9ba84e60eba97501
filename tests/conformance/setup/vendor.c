// shmem.h names this implementation and its version by macros that the preprocessor can compare;
// they say the same as SHMEM_VENDOR_STRING and shmem_info_get_name.
// run: np=1 std=c99,c11 cflags="-Wundef"
// run: np=1 launcher=none std=c99
#include "check.h"

#if !defined FARREACH_SHMEM || FARREACH_SHMEM != 1
#error "the header does not name the implementation"
#endif
#define MAJOR FARREACH_SHMEM_MAJOR_VERSION
#define MINOR FARREACH_SHMEM_MINOR_VERSION
#define PATCH FARREACH_SHMEM_PATCH_VERSION
#if MAJOR < 0 || MINOR < 0 || PATCH < 0
#error "the parts of the version are no numbers"
#endif
#if FARREACH_SHMEM_VERSION != MAJOR * 10000 + MINOR * 100 + PATCH
#error "the version is not made of its parts"
#endif
#if FARREACH_SHMEM_VERSION < 100
#error "the first version was 0.1.0"
#endif

int main(void)
{
    char expected[SHMEM_MAX_NAME_LEN], name[SHMEM_MAX_NAME_LEN];

    snprintf(expected, sizeof expected, "Farreach %d.%d.%d", MAJOR, MINOR, PATCH);
    shmem_init();
    shmem_info_get_name(name);
    CHECK(strcmp(SHMEM_VENDOR_STRING, expected) == 0, "SHMEM_VENDOR_STRING is \"%s\", not \"%s\"",
          SHMEM_VENDOR_STRING, expected);
    CHECK(strcmp(name, expected) == 0, "shmem_info_get_name gives \"%s\", not \"%s\"", name,
          expected);
    shmem_finalize();
    return 0;
}
