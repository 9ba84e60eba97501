// The allocation routines are barriers on exit, shmem_free is one on entry, and they complete the
// default context: each in its turn is called late by one PE, and that PE's puts just before,
// without a quiet, are there when the call returns on the others.
// run: np=2,3,7 launcher=oshrun,hydra
#include "check.h"

#include <time.h>

static int arrived[64];
static int me, npes, round_number;

static void come(void)
{
    const struct timespec delay = {0, 30000000};

    round_number++;
    if (me == round_number % npes)
        nanosleep(&delay, NULL);
    for (int pe = 0; pe < npes; pe++)
        shmem_int_put_nbi(&arrived[me], &round_number, 1, pe);
}

static void expect_all(const char *routine)
{
    for (int pe = 0; pe < npes; pe++)
        CHECK(*(volatile int *)&arrived[pe] == round_number,
              "%s returned before PE %d had come: its mark is %d, expected %d", routine, pe,
              arrived[pe], round_number);
    // Nobody goes on to the next round before all have looked.
    shmem_barrier_all();
}

#define BARRIER(routine, call)                                                                     \
    do {                                                                                           \
        come();                                                                                    \
        call;                                                                                      \
        expect_all(routine);                                                                       \
    } while (0)

int main(void)
{
    void *a, *b, *c, *d;

    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    for (int repeat = 0; repeat < 2; repeat++) {
        BARRIER("shmem_malloc", a = shmem_malloc(100));
        BARRIER("shmem_calloc", b = shmem_calloc(100, 8));
        BARRIER("shmem_align", c = shmem_align(256, 100));
        BARRIER("shmem_malloc_with_hints", d = shmem_malloc_with_hints(100, 0));
        BARRIER("shmem_realloc to more", a = shmem_realloc(a, 100000));
        BARRIER("shmem_free", shmem_free(a));
        BARRIER("shmem_free", shmem_free(b));
        BARRIER("shmem_realloc to nothing", c = shmem_realloc(c, 0));
        BARRIER("shmem_free", shmem_free(d));
        BARRIER("shmem_realloc of NULL", a = shmem_realloc(NULL, 50));
        shmem_free(a);
    }
    shmem_finalize();
    return 0;
}
