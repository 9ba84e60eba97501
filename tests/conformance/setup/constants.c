// The constants of the specification, old names included, can be used where C wants a constant
// expression; handles where it wants an address. They differ where they have to.
// run: np=1 std=c99,c11
#include "check.h"

// Sizes of arrays, values of enumerators, initializers of static objects.
static long sync_array[SHMEM_SYNC_SIZE], old_barrier[_SHMEM_BARRIER_SYNC_SIZE];
static long bcast[SHMEM_BCAST_SYNC_SIZE], old_bcast[_SHMEM_BCAST_SYNC_SIZE];
static long reduce[SHMEM_REDUCE_SYNC_SIZE], old_reduce[_SHMEM_REDUCE_SYNC_SIZE];
static long barrier[SHMEM_BARRIER_SYNC_SIZE], alltoall[SHMEM_ALLTOALL_SYNC_SIZE];
static long collect[SHMEM_COLLECT_SYNC_SIZE], old_collect[_SHMEM_COLLECT_SYNC_SIZE];
static long alltoalls[SHMEM_ALLTOALLS_SYNC_SIZE];
static double work[SHMEM_REDUCE_MIN_WRKDATA_SIZE], old_work[_SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static char name[SHMEM_MAX_NAME_LEN], old_name[_SHMEM_MAX_NAME_LEN];
static long values[2] = {SHMEM_SYNC_VALUE, _SHMEM_SYNC_VALUE};
enum {
    MAJOR = SHMEM_MAJOR_VERSION,
    MINOR = SHMEM_MINOR_VERSION,
    OLD_VERSION = _SHMEM_MAJOR_VERSION * 100 + _SHMEM_MINOR_VERSION,
    SET = SHMEM_SIGNAL_SET,
    ADD = SHMEM_SIGNAL_ADD,
};
static const char vendor[] = SHMEM_VENDOR_STRING, old_vendor[] = _SHMEM_VENDOR_STRING;
static const shmem_team_t teams[] = {SHMEM_TEAM_WORLD, SHMEM_TEAM_SHARED, SHMEM_TEAM_INVALID};
static const shmem_ctx_t contexts[] = {SHMEM_CTX_DEFAULT, SHMEM_CTX_INVALID};
static const long options[] = {SHMEM_CTX_SERIALIZED,   SHMEM_CTX_PRIVATE,
                               SHMEM_CTX_NOSTORE,      SHMEM_TEAM_NUM_CONTEXTS,
                               SHMEM_CTX_SESSION_BATCH, SHMEM_CTX_SESSION_TOTAL_OPS};
static const shmem_team_config_t team_config = {.num_contexts = 2};
static const shmem_ctx_session_config_t session_config = {.total_ops = SIZE_MAX};

// Returns a number by labels: no two comparisons are the same.
static int number(int cmp)
{
    switch (cmp) {
    case SHMEM_CMP_EQ:
        return 1;
    case SHMEM_CMP_NE:
        return 2;
    case SHMEM_CMP_GT:
        return 3;
    case SHMEM_CMP_GE:
        return 4;
    case SHMEM_CMP_LT:
        return 5;
    case SHMEM_CMP_LE:
        return 6;
    default:
        return 0;
    }
}

int main(void)
{
    static const int old[] = {_SHMEM_CMP_EQ, _SHMEM_CMP_NE, _SHMEM_CMP_GT,
                              _SHMEM_CMP_GE, _SHMEM_CMP_LT, _SHMEM_CMP_LE};

    for (size_t i = 0; i < COUNT_OF(old); i++)
        CHECK_INT(number(old[i]), i + 1, "an old name of a comparison");
    CHECK_INT(MAJOR * 100 + MINOR, 106, "the version");
    CHECK_INT(OLD_VERSION, 106, "the version by its old names");
    CHECK(SET != ADD, "the two signal operators are the same");
    CHECK_INT(values[0], values[1], "SHMEM_SYNC_VALUE");
    CHECK(COUNT_OF(sync_array) >= COUNT_OF(barrier) && COUNT_OF(sync_array) >= COUNT_OF(bcast)
              && COUNT_OF(sync_array) >= COUNT_OF(reduce)
              && COUNT_OF(sync_array) >= COUNT_OF(collect)
              && COUNT_OF(sync_array) >= COUNT_OF(alltoall)
              && COUNT_OF(sync_array) >= COUNT_OF(alltoalls),
          "SHMEM_SYNC_SIZE is not enough for every collective");
    CHECK(COUNT_OF(barrier) == COUNT_OF(old_barrier) && COUNT_OF(bcast) == COUNT_OF(old_bcast)
              && COUNT_OF(reduce) == COUNT_OF(old_reduce)
              && COUNT_OF(collect) == COUNT_OF(old_collect) && COUNT_OF(work) == COUNT_OF(old_work)
              && COUNT_OF(name) == COUNT_OF(old_name) && sizeof vendor == sizeof old_vendor,
          "an old name has another value");
    CHECK(sizeof vendor <= SHMEM_MAX_NAME_LEN, "the vendor string is too long");
    CHECK(SHMEM_THREAD_SINGLE < SHMEM_THREAD_FUNNELED
              && SHMEM_THREAD_FUNNELED < SHMEM_THREAD_SERIALIZED
              && SHMEM_THREAD_SERIALIZED < SHMEM_THREAD_MULTIPLE,
          "thread levels do not ascend");
    for (size_t i = 0; i < 3; i++)
        CHECK(options[i] != 0 && (options[i] & (options[i] - 1)) == 0
                  && options[i] != options[(i + 1) % 3],
              "an option of contexts is no bit of its own");
    CHECK(options[3] != 0 && options[4] != 0 && options[5] != 0, "a mask is 0");
    shmem_init();
    CHECK_INT(shmem_team_n_pes(teams[0]), 1, "a handle from a static initializer");
    CHECK_INT(shmem_team_my_pe(teams[1]), 0, "a handle from a static initializer");
    CHECK_INT(shmem_team_n_pes(teams[2]), -1, "a handle from a static initializer");
    shmem_ctx_session_start(contexts[0], options[4], &session_config, options[5]);
    shmem_ctx_session_stop(contexts[0]);
    shmem_ctx_quiet(contexts[1]);
    CHECK_INT(team_config.num_contexts, 2, "num_contexts");
    shmem_finalize();
    return 0;
}
