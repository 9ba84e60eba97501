// The handles as objects, for programs that do not read the macros of the header: they are equal to
// the macros, and routines take them.
// run: np=1,2 std=c99,c11
#include "check.h"

static const shmem_team_t teams[] = {SHMEM_TEAM_INVALID, SHMEM_TEAM_WORLD, SHMEM_TEAM_SHARED};
static const shmem_ctx_t contexts[] = {SHMEM_CTX_INVALID, SHMEM_CTX_DEFAULT};

#undef SHMEM_TEAM_INVALID
#undef SHMEM_TEAM_WORLD
#undef SHMEM_TEAM_SHARED
#undef SHMEM_CTX_INVALID
#undef SHMEM_CTX_DEFAULT

int main(void)
{
    static int number;

    CHECK(SHMEM_TEAM_INVALID == teams[0], "SHMEM_TEAM_INVALID is another");
    CHECK(SHMEM_TEAM_WORLD == teams[1], "SHMEM_TEAM_WORLD is another");
    CHECK(SHMEM_TEAM_SHARED == teams[2], "SHMEM_TEAM_SHARED is another");
    CHECK(SHMEM_CTX_INVALID == contexts[0], "SHMEM_CTX_INVALID is another");
    CHECK(SHMEM_CTX_DEFAULT == contexts[1], "SHMEM_CTX_DEFAULT is another");

    shmem_init();
    const int me = shmem_my_pe(), npes = shmem_n_pes();
    CHECK_INT(shmem_team_my_pe(SHMEM_TEAM_WORLD), me, "shmem_team_my_pe of the world");
    CHECK_INT(shmem_team_n_pes(SHMEM_TEAM_INVALID), -1, "shmem_team_n_pes of no team");
    CHECK_INT(shmem_team_sync(SHMEM_TEAM_SHARED), 0, "shmem_team_sync");
    shmem_ctx_int_p(SHMEM_CTX_DEFAULT, &number, me + 1, (me + 1) % npes);
    shmem_ctx_quiet(SHMEM_CTX_DEFAULT);
    CHECK_INT(shmem_team_sync(SHMEM_TEAM_WORLD), 0, "shmem_team_sync");
    CHECK_INT(number, (me + npes - 1) % npes + 1, "a number put on the default context");
    shmem_finalize();
    return 0;
}
