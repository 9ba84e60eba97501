// shmem_pcontrol takes any level and any arguments, at any time, and does nothing.
// run: np=1,2,3,4,7
#include "check.h"

#include <limits.h>

static long word;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), right = (me + 1) % shmem_n_pes();
    static const int LEVELS[] = {0, 1, 2, 3, 4, -1, INT_MAX, INT_MIN};

    for (size_t i = 0; i < COUNT_OF(LEVELS); i++) {
        shmem_long_put_nbi(&word, &(const long){(long)i + 1}, 1, right);
        shmem_pcontrol(LEVELS[i]);
        shmem_pcontrol(LEVELS[i], "a string", 1.5, &word, 'c', 10L, (long double)2, right);
        shmem_barrier_all();
        CHECK_INT(word, (long)i + 1, "a put around shmem_pcontrol");
        shmem_barrier_all();
    }
    shmem_finalize();
    return 0;
}
