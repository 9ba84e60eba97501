// shmem_ptr: loads and stores to heap and static data of every PE, at both ends and in the middle
// of objects, the address itself for the calling PE, NULL for all that is not symmetric.
// run: np=1,2,3,7 nodes=1 launcher=oshrun
// run: np=3 launcher=hydra,openmpi
#include "check.h"

enum { WORDS = 5000 };

static long in_data[WORDS] = {1};
static long in_bss[WORDS];
static const long CONSTANT = 3;
static int me, npes;

static void share(long *object, const char *where)
{
    static const size_t places[] = {0, 1, WORDS / 2, WORDS - 1};

    for (size_t p = 0; p < COUNT_OF(places); p++) {
        long *at = object + places[p];
        for (int pe = 0; pe < npes; pe++) {
            long *direct = (long *)shmem_ptr(at, pe);
            CHECK(direct != NULL, "%s: shmem_ptr to PE %d is NULL", where, pe);
            CHECK(pe != me || direct == at, "%s: shmem_ptr to oneself is %p, not %p", where,
                  (void *)direct, (void *)at);
            CHECK(shmem_ptr(object, pe) == (void *)(direct - places[p]),
                  "%s: shmem_ptr does not keep distances", where);
            // One after the other, each adds its mark to every PE's word.
            for (int turn = 0; turn < npes; turn++) {
                if (turn == me)
                    *direct += 1L << (8 * me);
                shmem_barrier_all();
            }
        }
        shmem_barrier_all();
        long want = p == 0 && where[1] == 'd' ? 1 : 0;
        for (int pe = 0; pe < npes; pe++)
            want += 1L << (8 * pe);
        CHECK(*(volatile long *)at == want, "%s, word %zu: expected 0x%lx, got 0x%lx", where,
              places[p], (unsigned long)want, (unsigned long)*at);
        CHECK_INT(shmem_long_g(at, (me + 1) % npes), want, "the same by g");
        shmem_barrier_all();
    }
}

int main(void)
{
    long on_stack = 0;

    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    long *on_heap = (long *)shmem_calloc(WORDS, sizeof *on_heap);
    long *from_malloc = (long *)malloc(sizeof *from_malloc);
    CHECK(on_heap != NULL && from_malloc != NULL, "no memory");
    share(on_heap, "heap");
    share(in_data, ".data");
    share(in_bss, ".bss");

    const void *const others[] = {&on_stack, from_malloc, &CONSTANT, NULL,
                                  (const void *)(uintptr_t)&share, (const void *)8, stdout};
    for (size_t i = 0; i < COUNT_OF(others); i++)
        for (int pe = -1; pe <= npes; pe++)
            CHECK(shmem_ptr(others[i], pe) == NULL,
                  "shmem_ptr(%p, %d) is not NULL (address number %zu)", others[i], pe, i);
    for (int k = 0; k < 3; k++) {
        const int no_pe[] = {-1, npes, INT32_MIN};
        CHECK(shmem_ptr(in_bss, no_pe[k]) == NULL && shmem_ptr(on_heap, no_pe[k]) == NULL,
              "shmem_ptr to PE %d is not NULL", no_pe[k]);
    }
    free(from_malloc);
    shmem_free(on_heap);
    shmem_finalize();
    return 0;
}
