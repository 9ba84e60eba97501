// Queries of the own number, the number of PEs, the library and the reachable PEs and addresses;
// query_initialized before, between, after.
// run: np=1,2,3,7 std=c99 launcher=oshrun,hydra,openmpi
// run: np=1 std=c99 launcher=none
#include "check.h"

#if SHMEM_MAJOR_VERSION != 1 || SHMEM_MINOR_VERSION != 6
#error "the specification in use is OpenSHMEM 1.6"
#endif
#if !(SHMEM_THREAD_SINGLE < SHMEM_THREAD_FUNNELED && SHMEM_THREAD_FUNNELED < SHMEM_THREAD_SERIALIZED \
      && SHMEM_THREAD_SERIALIZED < SHMEM_THREAD_MULTIPLE)
#error "thread levels have to be constants that increase"
#endif

// Comparison and signal constants are integer constant expressions, each different.
enum { EQ = SHMEM_CMP_EQ, SET = SHMEM_SIGNAL_SET };
static const char VENDOR[] = SHMEM_VENDOR_STRING;

static int in_data = 1;
static int in_bss[100];
static const int CONSTANT = 5;
static int present[1024];

static int initialized(void)
{
    int answer = 12345;
    shmem_query_initialized(&answer);
    CHECK(answer != 12345, "shmem_query_initialized wrote nothing");
    return answer;
}

static void constants(void)
{
    const int comparisons[] = {EQ,           SHMEM_CMP_NE, SHMEM_CMP_GT,
                               SHMEM_CMP_GE, SHMEM_CMP_LT, SHMEM_CMP_LE};
    char name[SHMEM_MAX_NAME_LEN + 1];
    int major = -1, minor = -1;

    for (size_t i = 0; i < COUNT_OF(comparisons); i++)
        for (size_t j = 0; j < i; j++)
            CHECK(comparisons[i] != comparisons[j], "two comparisons share the value %d",
                  comparisons[i]);
    CHECK((int)SET != SHMEM_SIGNAL_ADD, "SHMEM_SIGNAL_SET equals SHMEM_SIGNAL_ADD");
    CHECK((SHMEM_MALLOC_ATOMICS_REMOTE & SHMEM_MALLOC_SIGNAL_REMOTE) == 0, "hints share bits");
    CHECK(SHMEM_CTX_INVALID != SHMEM_CTX_DEFAULT, "the default context is the invalid one");

    shmem_info_get_version(&major, &minor);
    CHECK_INT(major, SHMEM_MAJOR_VERSION, "major version");
    CHECK_INT(minor, SHMEM_MINOR_VERSION, "minor version");
    memset(name, '#', sizeof name);
    shmem_info_get_name(name);
    CHECK(strcmp(name, VENDOR) == 0, "shmem_info_get_name: expected \"%s\", got \"%s\"", VENDOR,
          name);
    CHECK(strlen(name) < SHMEM_MAX_NAME_LEN, "the name has %zu bytes, at most %d with its null",
          strlen(name), SHMEM_MAX_NAME_LEN);
    CHECK(name[SHMEM_MAX_NAME_LEN] == '#', "shmem_info_get_name wrote past SHMEM_MAX_NAME_LEN");
}

// Checks the accessibility: 1 for a symmetric object, at its first and its last byte; 0, without a
// word, for all the rest.
static void accessibility(int npes)
{
    char *on_heap = (char *)shmem_malloc(1000);
    char *from_malloc = (char *)malloc(1000);
    static char in_function[10];
    int on_stack = 0;

    CHECK(on_heap != NULL && from_malloc != NULL, "no memory");
    for (int pe = 0; pe < npes; pe++) {
        CHECK_INT(shmem_pe_accessible(pe), 1, "pe_accessible of a PE");
        CHECK_INT(shmem_addr_accessible(on_heap, pe), 1, "addr_accessible of heap");
        CHECK_INT(shmem_addr_accessible(on_heap + 999, pe), 1, "addr_accessible inside heap");
        CHECK_INT(shmem_addr_accessible(&in_data, pe), 1, "addr_accessible of .data");
        CHECK_INT(shmem_addr_accessible(&in_bss[99], pe), 1, "addr_accessible of .bss");
        CHECK_INT(shmem_addr_accessible(in_function, pe), 1, "addr_accessible of a local static");
        CHECK_INT(shmem_addr_accessible(&on_stack, pe), 0, "addr_accessible of stack");
        CHECK_INT(shmem_addr_accessible(from_malloc, pe), 0, "addr_accessible of malloc");
        CHECK_INT(shmem_addr_accessible(NULL, pe), 0, "addr_accessible of NULL");
        CHECK_INT(shmem_addr_accessible(&CONSTANT, pe), 0, "addr_accessible of a constant");
        CHECK_INT(shmem_addr_accessible((const void *)(uintptr_t)&constants, pe), 0,
                  "addr_accessible of a function");
        CHECK_INT(shmem_addr_accessible(stderr, pe), 0, "addr_accessible in a shared library");
        CHECK_INT(shmem_addr_accessible((const void *)UINTPTR_MAX, pe), 0,
                  "addr_accessible of the highest address");
    }
    const int no_pes[] = {-1, npes, npes + 1, 1 << 20, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < COUNT_OF(no_pes); i++) {
        CHECK_INT(shmem_pe_accessible(no_pes[i]), 0, "pe_accessible of no PE");
        CHECK_INT(shmem_addr_accessible(on_heap, no_pes[i]), 0, "addr_accessible on no PE");
        CHECK_INT(shmem_addr_accessible(&in_data, no_pes[i]), 0, "addr_accessible on no PE");
        CHECK(shmem_ptr(on_heap, no_pes[i]) == NULL, "shmem_ptr to PE %d is not NULL", no_pes[i]);
    }
    free(from_malloc);
    shmem_free(on_heap);
}

int main(void)
{
    CHECK_INT(initialized(), 0, "query_initialized before shmem_init");
    shmem_init();
    CHECK(initialized() != 0, "query_initialized is 0 after shmem_init");
    int me = shmem_my_pe(), npes = shmem_n_pes();
    CHECK(npes >= 1 && me >= 0 && me < npes, "PE %d of %d", me, npes);

    // Every number from 0 to npes - 1 is somebody's, exactly once.
    for (int pe = 0; pe < npes; pe++)
        shmem_int_atomic_inc(&present[me], pe);
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++)
        CHECK_INT(present[pe], 1, "PEs with this number");
    constants();
    accessibility(npes);
    shmem_finalize();
    CHECK_INT(initialized(), 0, "query_initialized after shmem_finalize");
    return 0;
}
