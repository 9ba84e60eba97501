// Many nonblocking operations of all kinds outstanding at once, to all PEs, completed by one quiet.
// run: np=1,2,7 std=c99
#include "check.h"

enum { MANY = 500, MAX_PES = 8 };

static long puts_in_bss[MAX_PES][MANY];
static long got[MAX_PES][MANY];
static long fetched[MAX_PES][MANY];
static long counters[MANY];

int main(void)
{
    static long source[MANY];

    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    CHECK(npes <= MAX_PES, "run with at most %d PEs", (int)MAX_PES);
    long *shared = (long *)shmem_calloc(MANY, sizeof *shared);
    CHECK(shared != NULL, "shmem_calloc returned NULL");

    for (int i = 0; i < MANY; i++) {
        source[i] = me * 10000 + i;
        shared[i] = -(me * 10000 + i);
    }
    shmem_barrier_all();
    for (int i = 0; i < MANY; i++)
        for (int pe = 0; pe < npes; pe++) {
            shmem_long_put_nbi(&puts_in_bss[me][i], &source[i], 1, pe);
            shmem_long_get_nbi(&got[pe][i], &shared[i], 1, pe);
            shmem_long_atomic_fetch_add_nbi(&fetched[pe][i], &counters[i], 1, pe);
        }
    shmem_quiet();
    for (int pe = 0; pe < npes; pe++)
        for (int i = 0; i < MANY; i++) {
            CHECK(got[pe][i] == -(pe * 10000 + i), "get_nbi %d from PE %d: expected %d, got %ld",
                  i, pe, -(pe * 10000 + i), got[pe][i]);
            CHECK(fetched[pe][i] >= 0 && fetched[pe][i] < npes,
                  "fetch_add_nbi %d on PE %d fetched %ld of %d", i, pe, fetched[pe][i], npes);
        }
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++)
        for (int i = 0; i < MANY; i++)
            CHECK(puts_in_bss[pe][i] == pe * 10000 + i,
                  "put_nbi %d by PE %d: expected %d, got %ld", i, pe, pe * 10000 + i,
                  puts_in_bss[pe][i]);
    for (int i = 0; i < MANY; i++)
        CHECK(counters[i] == npes, "counter %d: expected %d, got %ld", i, npes, counters[i]);
    shmem_free(shared);
    shmem_finalize();
    return 0;
}
