// iput, iget, ibput and ibget, with and without a context: strides of 1 and more, equal and
// different, blocks of several sizes, no elements at all, to this PE and to both neighbours. The
// bytes between the elements stay as they were. The includer has the types and their routines.
#include "values.h"

// The same arguments for all four; iput and iget have blocks of one element.
typedef void (*strided_fn)(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,
                           size_t bsize, size_t nblocks, int pe);

struct strided {
    strided_fn iput, iget, ibput, ibget;
};

// The context of the forms with one: by turns the default one and one of the program's own.
static shmem_ctx_t strided_ctx = SHMEM_CTX_DEFAULT;

struct pattern {
    ptrdiff_t dst, sst;
    size_t bsize, nblocks;
};

// The larger of the strides times nblocks is at most ROOM.
enum { ROOM = 60 };
static const struct pattern PATTERNS[] = {
    {1, 1, 1, 1}, {1, 1, 1, 13}, {2, 1, 1, 9}, {1, 3, 1, 7}, {4, 4, 1, 10}, {7, 5, 1, 8},
    {3, 3, 1, 0}, {2, 2, 2, 6},  {3, 5, 3, 5}, {9, 4, 4, 3}, {6, 11, 5, 1}, {8, 8, 3, 0},
};
enum { PATTERN_COUNT = COUNT_OF(PATTERNS) };

static int me, npes;
// One room for each pattern and each of the two PEs that write; a guard at the end of each room.
static long double dest_object[PATTERN_COUNT][2][ROOM + 1];
static long double source_object[PATTERN_COUNT][ROOM + 1];

static uint64_t seed_of(int round, int owner, int target, size_t pattern, size_t index)
{
    return ((((uint64_t)round * 64 + (uint64_t)owner) * 64 + (uint64_t)target) * 64 + pattern) * 256
           + index;
}

static void fill_sources(const struct kind *k, int round, int target)
{
    for (size_t p = 0; p < PATTERN_COUNT; p++)
        for (size_t i = 0; i < ROOM; i++)
            k->make((unsigned char *)source_object[p] + i * k->size,
                    seed_of(round, me, target, p, i));
}

// Paints the picture that a transfer by the pattern leaves in its destination.
static void paint(struct picture *picture, const struct pattern *pattern, size_t p, int round,
                  int owner, int target)
{
    for (size_t block = 0; block < pattern->nblocks; block++)
        for (size_t e = 0; e < pattern->bsize; e++)
            picture_paint(picture, block * (size_t)pattern->dst + e,
                          seed_of(round, owner, target, p, block * (size_t)pattern->sst + e));
}

static const char *describe(const char *routine, const struct pattern *p, int owner)
{
    static char text[160];

    snprintf(text, sizeof text, "%s of PE %d (dst %td, sst %td, bsize %zu, nblocks %zu)", routine,
             owner, p->dst, p->sst, p->bsize, p->nblocks);
    return text;
}

// Lets every PE put to PE me + step; with two steps at once two PEs write to each.
static void try_puts(const struct kind *k, const struct strided *f, int round)
{
    static struct picture pictures[PATTERN_COUNT][2];
    static const int STEPS[2] = {0, 1};

    for (size_t p = 0; p < PATTERN_COUNT; p++)
        for (int s = 0; s < 2; s++) {
            int writer = (me + npes - STEPS[s]) % npes;
            picture_begin(&pictures[p][s], k, dest_object[p][s], (ROOM + 1) * k->size);
            paint(&pictures[p][s], &PATTERNS[p], p, round, writer, me);
        }
    shmem_barrier_all();
    for (int s = 0; s < 2; s++) {
        int target = (me + STEPS[s]) % npes;
        fill_sources(k, round, target);
        for (size_t p = 0; p < PATTERN_COUNT; p++) {
            const struct pattern *a = &PATTERNS[p];
            strided_fn put = a->bsize == 1 && (p + (size_t)s) % 3 != 0 ? f->iput : f->ibput;
            put(dest_object[p][s], source_object[p], a->dst, a->sst, a->bsize, a->nblocks, target);
        }
        // On return the sources have been read.
        memset(source_object, 0xdd, sizeof source_object);
    }
    shmem_ctx_quiet(strided_ctx);
    shmem_barrier_all();
    for (size_t p = 0; p < PATTERN_COUNT; p++)
        for (int s = 0; s < 2; s++)
            picture_compare(&pictures[p][s], dest_object[p][s],
                            describe("i(b)put", &PATTERNS[p], (me + npes - STEPS[s]) % npes));
}

// Lets every PE get from both neighbours, or from itself, into memory that is not symmetric.
static void try_gets(const struct kind *k, const struct strided *f, int round)
{
    static struct picture picture;
    long double local[ROOM + 1];

    fill_sources(k, round, me);
    shmem_barrier_all();
    for (int step = 0; step < 2; step++) {
        int owner = (me + npes - step) % npes;
        for (size_t p = 0; p < PATTERN_COUNT; p++) {
            const struct pattern *a = &PATTERNS[p];
            strided_fn get = a->bsize == 1 && (p + (size_t)step) % 3 != 0 ? f->iget : f->ibget;
            picture_begin(&picture, k, local, (ROOM + 1) * k->size);
            paint(&picture, a, p, round, owner, owner);
            get(local, source_object[p], a->dst, a->sst, a->bsize, a->nblocks, owner);
            picture_compare(&picture, local, describe("i(b)get", a, owner));
        }
    }
    shmem_barrier_all();
}

// Runs both forms: those without and with a context.
static int run_strided(size_t count, const struct kind *kinds, const struct strided (*forms)[2])
{
    shmem_ctx_t own;
    int round = 0;

    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    CHECK_INT(shmem_ctx_create(0, &own), 0, "shmem_ctx_create");
    for (size_t k = 0; k < count; k++)
        for (int form = 0; form < 2; form++) {
            strided_ctx = form == 1 && k % 2 == 0 ? own : SHMEM_CTX_DEFAULT;
            try_puts(&kinds[k], &forms[k][form], ++round);
            try_gets(&kinds[k], &forms[k][form], ++round);
        }
    shmem_ctx_destroy(own);
    shmem_finalize();
    return 0;
}
