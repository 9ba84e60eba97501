// SHMEM_CTX_INVALID does nothing where it is given to fence, quiet, destroy and session_start, and
// has no team.
// run: np=1,2,3,4,7
#include "check.h"

static long word;
static shmem_ctx_t none = SHMEM_CTX_INVALID;

int main(void)
{
    const shmem_ctx_session_config_t config = {10};
    shmem_team_t team = SHMEM_TEAM_WORLD;

    shmem_init();
    int me = shmem_my_pe(), right = (me + 1) % shmem_n_pes();
    for (int i = 1; i <= 3; i++) {
        shmem_long_p(&word, i, right);
        shmem_ctx_fence(none);
        shmem_ctx_quiet(none);
        shmem_ctx_destroy(none);
        shmem_ctx_session_start(none, SHMEM_CTX_SESSION_BATCH, &config,
                                SHMEM_CTX_SESSION_TOTAL_OPS);
        shmem_ctx_session_start(none, 0, NULL, 0);
        team = SHMEM_TEAM_WORLD;
        CHECK(shmem_ctx_get_team(none, &team) != 0, "shmem_ctx_get_team of no context returned 0");
        CHECK(team == SHMEM_TEAM_INVALID, "shmem_ctx_get_team of no context gave a team");
        shmem_barrier_all();
        CHECK_INT(word, i, "a put around operations on no context");
        shmem_barrier_all();
    }
    shmem_finalize();
    return 0;
}
