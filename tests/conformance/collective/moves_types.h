// The collective routines that move data, for all 24 types. The includer chooses the language and
// whether the routines are reached by their own or by their generic names.
#include "moves.h"

#define WRAP_MOVE(NAME, TYPE, STEM)                                                                \
    static int STEM##_##NAME(const struct group *g, void *dest, const void *source, size_t n)      \
    {                                                                                              \
        return PLAIN(NAME, STEM)(g->team, (TYPE *)dest, (const TYPE *)source, n);                  \
    }

#define WRAP_TEAM(NAME, TYPE)                                                                      \
    static int broadcast_##NAME(const struct group *g, void *dest, const void *source, size_t n,   \
                                int root)                                                          \
    {                                                                                              \
        return PLAIN(NAME, broadcast)(g->team, (TYPE *)dest, (const TYPE *)source, n, root);       \
    }                                                                                              \
    WRAP_MOVE(NAME, TYPE, collect)                                                                 \
    WRAP_MOVE(NAME, TYPE, fcollect)                                                                \
    WRAP_MOVE(NAME, TYPE, alltoall)                                                                \
    static int alltoalls_##NAME(const struct group *g, void *dest, const void *source,             \
                                ptrdiff_t dst, ptrdiff_t sst, size_t n)                            \
    {                                                                                              \
        return PLAIN(NAME, alltoalls)(g->team, (TYPE *)dest, (const TYPE *)source, dst, sst, n);   \
    }

#define WRAP(NAME, TYPE) MAKE_VALUE(NAME, TYPE) WRAP_TEAM(NAME, TYPE)

RMA_TYPES(WRAP)

#define ROW(NAME, TYPE)                                                                            \
    {KIND(NAME, TYPE), broadcast_##NAME, collect_##NAME, fcollect_##NAME,                          \
     alltoall_##NAME, alltoalls_##NAME, 0},

static const struct mover MOVERS[] = {RMA_TYPES(ROW)};

int main(void)
{
    struct group groups[GROUP_MAX];
    int count;

    shmem_init();
    count = group_teams(groups);
    run_moves(MOVERS, COUNT_OF(MOVERS), groups, count);
    group_destroy(groups, count);
    shmem_finalize();
    return 0;
}
