// The predefined teams: the world has all PEs in their order; the shared team has exactly the PEs
// to whose memory this PE has a pointer; both may be used where a constant address may. Also all
// questions about SHMEM_TEAM_INVALID.
// run: np=1,2,3,4,7
#include "check.h"

static shmem_team_t world = SHMEM_TEAM_WORLD, shared = SHMEM_TEAM_SHARED;
static const shmem_team_t none = SHMEM_TEAM_INVALID;
static long word;

static void try_none(void)
{
    shmem_team_config_t config = {77};
    shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
    shmem_team_t x = SHMEM_TEAM_WORLD, y = SHMEM_TEAM_WORLD;

    CHECK_INT(shmem_team_my_pe(none), -1, "shmem_team_my_pe of no team");
    CHECK_INT(shmem_team_n_pes(none), -1, "shmem_team_n_pes of no team");
    CHECK_INT(shmem_team_translate_pe(none, 0, world), -1, "translate_pe from no team");
    CHECK_INT(shmem_team_translate_pe(world, 0, none), -1, "translate_pe to no team");
    CHECK_INT(shmem_team_translate_pe(none, 0, none), -1, "translate_pe from no team to none");
    CHECK(shmem_team_ptr(none, &word, 0) == NULL, "shmem_team_ptr of no team is not NULL");
    CHECK(shmem_team_get_config(none, SHMEM_TEAM_NUM_CONTEXTS, &config) != 0,
          "shmem_team_get_config of no team returned 0");
    CHECK_INT(config.num_contexts, 77, "what shmem_team_get_config of no team leaves alone");
    CHECK(shmem_team_split_strided(none, 0, 1, 1, NULL, 0, &x) != 0,
          "shmem_team_split_strided of no team returned 0");
    CHECK(x == none, "shmem_team_split_strided of no team made one");
    x = SHMEM_TEAM_WORLD;
    CHECK(shmem_team_split_2d(none, 1, NULL, 0, &x, NULL, 0, &y) != 0,
          "shmem_team_split_2d of no team returned 0");
    CHECK(x == none && y == none, "shmem_team_split_2d of no team made one");
    CHECK(shmem_team_create_ctx(none, 0, &ctx) != 0, "shmem_team_create_ctx of no team: 0");
    CHECK(ctx == SHMEM_CTX_INVALID, "shmem_team_create_ctx of no team made one");
    shmem_team_destroy(none);
}

static void try_shared(int me, int npes)
{
    int members = 0, last = -1;

    for (int pe = 0; pe < npes; pe++) {
        int number = shmem_team_translate_pe(world, pe, shared);
        CHECK_INT(number >= 0, shmem_ptr(&word, pe) != NULL, "a member, and has a pointer");
        if (number < 0)
            continue;
        CHECK_INT(number, last + 1, "numbers in the shared team ascend with the PEs'");
        CHECK_INT(shmem_team_translate_pe(shared, number, world), pe, "there and back");
        CHECK(shmem_team_ptr(shared, &word, number) == shmem_ptr(&word, pe),
              "shmem_team_ptr of the shared team differs from shmem_ptr");
        last = number;
        members++;
    }
    CHECK_INT(shmem_team_n_pes(shared), members, "shmem_team_n_pes of the shared team");
    CHECK_INT(shmem_team_my_pe(shared), shmem_team_translate_pe(world, me, shared),
              "shmem_team_my_pe of the shared team");
    CHECK_INT(shmem_team_translate_pe(shared, members, world), -1, "one above the last");
    // Its members can meet.
    long *first = (long *)shmem_team_ptr(shared, &word, 0);
    CHECK(first != NULL, "no pointer to the first of the shared team");
    CHECK_INT(shmem_team_sync(shared), 0, "sync of the shared team");
    if (shmem_team_my_pe(shared) == members - 1)
        *first = 4711;
    CHECK_INT(shmem_team_sync(shared), 0, "sync of the shared team");
    CHECK_INT(*first, 4711, "a store through a pointer, seen after a sync");
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();

    CHECK(world != none && shared != none && world != shared, "handles of teams are equal");
    CHECK_INT(shmem_team_my_pe(world), me, "shmem_team_my_pe of the world");
    CHECK_INT(shmem_team_n_pes(world), npes, "shmem_team_n_pes of the world");
    for (int pe = 0; pe < npes; pe++) {
        CHECK_INT(shmem_team_translate_pe(world, pe, world), pe, "translate_pe in the world");
        CHECK(shmem_team_ptr(world, &word, pe) == shmem_ptr(&word, pe),
              "shmem_team_ptr of the world differs from shmem_ptr");
    }
    CHECK_INT(shmem_team_translate_pe(world, npes, world), -1, "translate_pe of too high a PE");
    CHECK_INT(shmem_team_translate_pe(world, -1, world), -1, "translate_pe of PE -1");
    try_none();
    try_shared(me, npes);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
