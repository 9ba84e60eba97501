// Beyond the standard: the generic names of the six routines for several objects take short and
// unsigned short too. All of them are satisfied, one, some, none, and where status masks all.
// run: np=1,2,3 std=c11
#include "check.h"

enum { COUNT = 5 };

// NAME has objects of TYPE, which its left neighbour sets to FROM, FROM + 1 and so on.
#define SHORTS(NAME, TYPE, FROM)                                                                   \
    static TYPE NAME##_there[COUNT];                                                               \
                                                                                                   \
    static void NAME(void)                                                                         \
    {                                                                                              \
        const int none[COUNT] = {1, 1, 1, 1, 1}, outer[COUNT] = {0, 1, 1, 1, 0};                   \
        size_t indices[COUNT] = {0};                                                               \
        TYPE *there = NAME##_there;                                                                \
        int right = (shmem_my_pe() + 1) % shmem_n_pes();                                           \
                                                                                                   \
        CHECK_INT(shmem_test_all(there, COUNT, none, SHMEM_CMP_NE, 0), 1, #NAME " test_all");      \
        CHECK_INT(shmem_test_any(there, COUNT, none, SHMEM_CMP_EQ, 0), -1, #NAME " test_any");     \
        CHECK_INT(shmem_test_some(there, COUNT, indices, none, SHMEM_CMP_EQ, 0), 0, #NAME);        \
        shmem_wait_until_all(there, COUNT, none, SHMEM_CMP_NE, 0);                                 \
        CHECK_INT(shmem_wait_until_any(there, COUNT, none, SHMEM_CMP_NE, 0), -1, #NAME);           \
        CHECK_INT(shmem_wait_until_some(there, COUNT, indices, none, SHMEM_CMP_NE, 0), 0, #NAME);  \
        CHECK_INT(shmem_test_any(there, 0, NULL, SHMEM_CMP_EQ, 0), -1, #NAME " of nothing");       \
        shmem_barrier_all();                                                                       \
        for (int i = 0; i < COUNT; i++)                                                            \
            shmem_p(&there[i], (TYPE)((FROM) + i), right);                                         \
        shmem_wait_until_all(there, COUNT, NULL, SHMEM_CMP_GE, (TYPE)(FROM));                      \
        for (int i = 0; i < COUNT; i++)                                                            \
            CHECK_INT(there[i], (FROM) + i, #NAME " wait_until_all");                              \
        CHECK_INT(shmem_wait_until_any(there, COUNT, outer, SHMEM_CMP_GT, (TYPE)(FROM)), 4,        \
                  #NAME " wait_until_any");                                                        \
        CHECK_INT(shmem_wait_until_some(there, COUNT, indices, outer, SHMEM_CMP_GE, (TYPE)(FROM)), \
                  2, #NAME " wait_until_some");                                                    \
        CHECK(indices[0] == 0 && indices[1] == 4, #NAME " wait_until_some: %zu and %zu",           \
              indices[0], indices[1]);                                                             \
        CHECK_INT(shmem_test_some(there, COUNT, indices, NULL, SHMEM_CMP_LT, (TYPE)((FROM) + 1)),  \
                  1, #NAME " test_some");                                                          \
        CHECK_INT(indices[0], 0, #NAME " test_some");                                              \
        CHECK_INT(shmem_test_any(there, COUNT, NULL, SHMEM_CMP_EQ, (TYPE)((FROM) + 3)), 3,         \
                  #NAME " test_any");                                                              \
        CHECK_INT(shmem_test_all(there, COUNT, NULL, SHMEM_CMP_GT, (TYPE)(FROM)), 0,               \
                  #NAME " test_all");                                                              \
        CHECK_INT(shmem_test_all(there, COUNT, NULL, SHMEM_CMP_GE, (TYPE)(FROM)), 1,               \
                  #NAME " test_all");                                                              \
    }
SHORTS(negative, short, -3000)
SHORTS(large, unsigned short, 60000)

int main(void)
{
    shmem_init();
    large();
    for (int i = 0; i < COUNT; i++)
        negative_there[i] = -30000;
    shmem_barrier_all();
    negative();
    shmem_finalize();
    return 0;
}
