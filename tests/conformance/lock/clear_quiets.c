// A PE's puts while it held a lock are there when the next one has it: clear_lock completes the
// default context's operations, nonblocking ones of all sizes and to any PE.
// run: np=2,3,7 nodes=1 args=300
// run: np=2,4 nodes=several args=40
// run: np=4 nodes=several transport=rc device=--delay-seed=1 args=40
#include "check.h"

enum { WORDS = 3000 };

static long lock, turns, data[WORDS], small, count;
static int me, npes;

int main(int argc, char **argv)
{
    static long source[WORDS];
    int rounds = argc > 1 ? atoi(argv[1]) : 100, mine = 0;

    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    // The data lie on the last PE, the lock's words where the library wants them.
    int home = npes - 1;
    while (mine < rounds) {
        shmem_set_lock(&lock);
        long turn = shmem_long_g(&turns, home);
        size_t length = 1 + (size_t)(turn * 37) % WORDS;
        if (turn > 0) {
            static long seen[WORDS];
            size_t before = 1 + (size_t)((turn - 1) * 37) % WORDS;
            CHECK_INT(shmem_long_g(&small, home), turn, "a long put by the holder before");
            CHECK_INT(shmem_long_atomic_fetch(&count, home), turn, "atomic_incs of the holders");
            shmem_long_get(seen, data, before, home);
            for (size_t i = 0; i < before; i++)
                CHECK(seen[i] == turn * 5 + (long)i, "turn %ld: data[%zu] is %ld, not %ld", turn, i,
                      seen[i], turn * 5 + (long)i);
        }
        turn++;
        for (size_t i = 0; i < length; i++)
            source[i] = turn * 5 + (long)i;
        shmem_long_p(&small, turn, home);
        shmem_long_atomic_inc(&count, home);
        shmem_long_p(&turns, turn, home);
        shmem_long_put_nbi(data, source, length, home);
        shmem_clear_lock(&lock);
        // The source may be used again at once.
        memset(source, 0xee, sizeof source);
        mine++;
    }
    shmem_barrier_all();
    if (me == home)
        CHECK_INT(turns, (long)rounds * npes, "turns of all PEs");
    shmem_finalize();
    return 0;
}
