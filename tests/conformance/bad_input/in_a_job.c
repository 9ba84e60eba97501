// One PE makes a wrong call while the others wait or compute: the job ends with one message that
// names PE, routine and value.
// run: np=3 expect-exit=nonzero expect-stderr="farreach: PE 1: shmem_int_p: pe 3 is out of range (0 to 2)" args=p-beyond 1
// run: np=2 expect-exit=nonzero expect-stderr="farreach: PE 0: shmem_long_get: pe -1 is out of range (0 to 1)" args=get-negative 0
// run: np=2 expect-exit=nonzero expect-stderr="farreach: PE 1: shmem_long_atomic_fetch_add: pe 2 is out of range (0 to 1)" args=atomic-beyond 1
// run: np=2 expect-exit=nonzero expect-stderr="farreach: PE 1: shmem_putmem: " expect-stderr="symmetric" args=put-stack 1
// run: np=2 expect-exit=nonzero expect-stderr="farreach: PE 0: shmem_getmem: " expect-stderr="0x0" args=get-null 0
// run: np=2 expect-exit=nonzero expect-stderr="farreach: PE 1: shmem_double_put: " expect-stderr="PTRDIFF_MAX" args=put-too-long 1
// run: np=2 expect-exit=nonzero expect-stderr="farreach: PE 1: shmem_int_put: " expect-stderr="PTRDIFF_MAX" args=put-overflow 1
// run: np=2 expect-exit=nonzero expect-stderr="farreach: PE 0: shmem_putmem: " expect-stderr="symmetric" args=past-heap 0
// run: np=2 expect-exit=nonzero expect-stderr="farreach: PE 0: shmem_putmem: " expect-stderr="symmetric" args=past-static 0
// run: np=2 expect-exit=nonzero expect-stderr="farreach: PE 1: shmem_long_get: " expect-stderr="symmetric" args=get-constant 1
// run: np=2 nodes=1 expect-exit=nonzero expect-stderr="farreach: PE 1: shmem_long_p: " expect-stderr="symmetric" args=put-constant 1
// run: np=2 expect-exit=nonzero expect-stderr="farreach: PE 0: shmem_long_g: " expect-stderr="symmetric" args=get-code 0
// run: np=2 nodes=1 expect-exit=nonzero expect-stderr="farreach: PE 0: shmem_long_atomic_inc: " expect-stderr="symmetric" args=atomic-constant 0
// run: np=2 expect-exit=nonzero expect-stderr="farreach: PE 1: shmem_long_atomic_fetch: " expect-stderr="symmetric" args=fetch-code 1
// run: np=2 expect-exit=nonzero expect-stderr="farreach: PE 1: shmem_putmem: " expect-stderr="symmetric" args=put-large-constant 1
// run: np=2 expect-exit=nonzero expect-stderr="farreach: PE 1: shmem_char_p: " expect-stderr="symmetric" args=beyond-heap 1
// run: np=3 launcher=hydra,openmpi expect-exit=nonzero expect-stderr="farreach: PE 1: shmem_int_p: pe 3 is out of range (0 to 2)" args=p-beyond 1
#include "check.h"

static int in_bss[16];
static long words[16];
static double reals[16];
static char *heap_block;
static const long CONSTANT[100000] = {1, 2, 3};

static void wrong_call(const char *how)
{
    int npes = shmem_n_pes(), other = shmem_my_pe() == 0 ? 1 : 0;
    char on_stack[64] = {0}, *null = NULL;
    char *block = (char *)words, *on_heap = heap_block;

    if (strcmp(how, "p-beyond") == 0)
        shmem_int_p(in_bss, 1, npes);
    else if (strcmp(how, "get-negative") == 0)
        shmem_long_get(words, words + 8, 1, -1);
    else if (strcmp(how, "atomic-beyond") == 0)
        shmem_long_atomic_fetch_add(words, 1, npes);
    else if (strcmp(how, "put-stack") == 0)
        shmem_putmem(on_stack, words, 8, other);
    else if (strcmp(how, "get-null") == 0)
        shmem_getmem(words, null, 8, other);
    else if (strcmp(how, "put-too-long") == 0)
        shmem_double_put(reals, reals + 1, (size_t)PTRDIFF_MAX, other);
    else if (strcmp(how, "put-overflow") == 0)
        shmem_int_put(in_bss, in_bss + 8, SIZE_MAX / 4 + 2, other);
    else if (strcmp(how, "get-constant") == 0)
        shmem_long_get(words, CONSTANT, 1, other);
    else if (strcmp(how, "put-constant") == 0)
        shmem_long_p((long *)(uintptr_t)&CONSTANT[1], 5, other);
    else if (strcmp(how, "get-code") == 0)
        words[0] = shmem_long_g((const long *)((uintptr_t)&wrong_call & ~(uintptr_t)7), other);
    else if (strcmp(how, "atomic-constant") == 0)
        shmem_long_atomic_inc((long *)(uintptr_t)&CONSTANT[2], other);
    else if (strcmp(how, "fetch-code") == 0)
        words[0] = shmem_long_atomic_fetch((const long *)((uintptr_t)&wrong_call & ~(uintptr_t)7),
                                           other);
    else if (strcmp(how, "put-large-constant") == 0)
        shmem_putmem((void *)(uintptr_t)CONSTANT, CONSTANT, sizeof CONSTANT, other);
    else if (strcmp(how, "beyond-heap") == 0)
        shmem_char_p(on_heap + ((size_t)600 << 20), 'x', other);
    else if (strcmp(how, "past-heap") == 0)
        shmem_putmem(on_heap, on_heap, (size_t)1 << 40, other);
    else if (strcmp(how, "past-static") == 0)
        shmem_putmem(block, block, (size_t)1 << 36, other);
}

int main(int argc, char **argv)
{
    volatile unsigned long work = 0;

    CHECK(argc == 3, "usage: HOW WHO");
    shmem_init();
    heap_block = (char *)shmem_malloc(64);
    if (shmem_my_pe() == atoi(argv[2])) {
        wrong_call(argv[1]);
        fprintf(stderr, "FAILED: the call returned\n");
        // The runner expects a nonzero status: this one must not pass for the library's.
        shmem_global_exit(0);
    }
    if (shmem_my_pe() == 2)
        for (;;)
            work++;
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
