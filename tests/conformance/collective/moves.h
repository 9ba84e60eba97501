// broadcast, collect, fcollect, alltoall and alltoalls over several groups of PEs, with every root.
// The sources are overwritten as soon as the routine has returned, and the memory that a routine
// has no business to write stays as it was. The includer has the types, their routines and the
// groups.
#include "group.h"
#include "values.h"

struct mover {
    struct kind kind;
    int (*broadcast)(const struct group *g, void *dest, const void *source, size_t nelems,
                     int root);
    int (*collect)(const struct group *g, void *dest, const void *source, size_t nelems);
    int (*fcollect)(const struct group *g, void *dest, const void *source, size_t nelems);
    int (*alltoall)(const struct group *g, void *dest, const void *source, size_t nelems);
    int (*alltoalls)(const struct group *g, void *dest, const void *source, ptrdiff_t dst,
                     ptrdiff_t sst, size_t nelems);
    int root_keeps_dest; // the broadcast of an active set leaves the root's dest alone
};

enum { MOVE_ELEMENTS = 7 * 5 * 3 + 3, MOVE_WORDS = MOVE_ELEMENTS * 2 };

static uint64_t in_bss[2][MOVE_WORDS];
static uint64_t in_data[2][MOVE_WORDS] = {{1}};
static struct picture picture;
static int me, npes;

// One run of a routine.
struct move {
    const struct mover *mover;
    const struct group *group;
    unsigned char *dest, *source;
    uint64_t round;
    size_t nelems;
    char text[160];
};

static uint64_t seed_of(const struct move *v, int member, size_t index)
{
    return (v->round * 64 + (uint64_t)v->group->members[member]) * 1024 + index;
}

static void begin(struct move *v, size_t from)
{
    picture_begin(&picture, &v->mover->kind, v->dest, MOVE_WORDS * 8);
    memset(v->source, 0xcc, MOVE_WORDS * 8);
    for (size_t i = 0; i < from && v->group->me >= 0; i++)
        v->mover->kind.make(v->source + i * v->mover->kind.size, seed_of(v, v->group->me, i));
    // Every member's dest is ready; that the sources are is the routine's own business.
    shmem_barrier_all();
}

static void end(struct move *v, int status, const char *routine, size_t nelems)
{
    memset(v->source, 0xee, MOVE_WORDS * 8);
    snprintf(v->text, sizeof v->text, "%s over %s, member %d of %d, %zu elements", routine,
             v->group->name, v->group->me, v->group->size, nelems);
    CHECK_INT(status, 0, v->text);
    picture_compare(&picture, v->dest, v->text);
}

static void try_broadcast(struct move *v, int root)
{
    const struct group *g = v->group;

    begin(v, v->nelems);
    if (g->me < 0)
        return;
    if (!v->mover->root_keeps_dest || g->me != root)
        for (size_t i = 0; i < v->nelems; i++)
            picture_paint(&picture, i, seed_of(v, root, i));
    end(v, v->mover->broadcast(g, v->dest, v->source, v->nelems, root), "broadcast", v->nelems);
}

// Collects as many elements as v->nelems says of the first member, and one more or less of the
// others, among them none at all.
static void try_collect(struct move *v)
{
    const struct group *g = v->group;
    size_t mine = 0, at = 0;

    if (g->me >= 0)
        mine = (v->nelems + (size_t)g->me * 3) % 5;
    begin(v, mine);
    if (g->me < 0)
        return;
    for (int member = 0; member < g->size; member++)
        for (size_t i = 0; i < (v->nelems + (size_t)member * 3) % 5; i++)
            picture_paint(&picture, at++, seed_of(v, member, i));
    end(v, v->mover->collect(g, v->dest, v->source, mine), "collect", mine);
}

static void try_fcollect(struct move *v)
{
    const struct group *g = v->group;

    begin(v, v->nelems);
    if (g->me < 0)
        return;
    for (int member = 0; member < g->size; member++)
        for (size_t i = 0; i < v->nelems; i++)
            picture_paint(&picture, (size_t)member * v->nelems + i, seed_of(v, member, i));
    end(v, v->mover->fcollect(g, v->dest, v->source, v->nelems), "fcollect", v->nelems);
}

// Tries alltoall or alltoalls; dst and sst are 0 for alltoall.
static void try_alltoall(struct move *v, ptrdiff_t dst, ptrdiff_t sst)
{
    const struct group *g = v->group;
    size_t to = dst > 0 ? (size_t)dst : 1, from = sst > 0 ? (size_t)sst : 1;

    begin(v, (size_t)g->size * v->nelems * from);
    if (g->me < 0)
        return;
    for (int member = 0; member < g->size; member++)
        for (size_t i = 0; i < v->nelems; i++)
            picture_paint(&picture, to * ((size_t)member * v->nelems + i),
                          seed_of(v, member, from * ((size_t)g->me * v->nelems + i)));
    if (dst == 0)
        end(v, v->mover->alltoall(g, v->dest, v->source, v->nelems), "alltoall", v->nelems);
    else
        end(v, v->mover->alltoalls(g, v->dest, v->source, dst, sst, v->nelems), "alltoalls",
            v->nelems);
}

static void try_mover(const struct mover *m, struct group *groups, int count, uint64_t *round)
{
    static const size_t LENGTHS[] = {1, 5, 0};
    static int turn;

    for (int g = 0; g < count; g++)
        for (size_t l = 0; l < COUNT_OF(LENGTHS); l++) {
            struct move v = {m, &groups[g], NULL, NULL, 0, LENGTHS[l], ""};
            uint64_t(*object)[MOVE_WORDS] = (g + (int)l) % 2 ? in_bss : in_data;
            v.dest = (unsigned char *)object[0];
            v.source = (unsigned char *)object[1];
            v.round = ++*round;
            try_broadcast(&v, turn++ % groups[g].size);
            v.round = ++*round;
            try_collect(&v);
            v.round = ++*round;
            try_fcollect(&v);
            v.round = ++*round;
            try_alltoall(&v, 0, 0);
            v.round = ++*round;
            try_alltoall(&v, 2, 3);
            v.round = ++*round;
            try_alltoall(&v, 3, 1);
        }
}

static void run_moves(const struct mover *movers, size_t movers_count, struct group *groups,
                      int groups_count)
{
    uint64_t round = 0;

    me = shmem_my_pe();
    npes = shmem_n_pes();
    CHECK(npes <= 7, "run with at most 7 PEs");
    for (size_t i = 0; i < movers_count; i++)
        try_mover(&movers[i], groups, groups_count, &round);
    shmem_barrier_all();
}
