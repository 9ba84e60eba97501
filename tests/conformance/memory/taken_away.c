// A page of the symmetric heap that the system cannot provide is a message, never a bare SIGBUS:
// met by a routine of this PE, by a routine of another PE, and by a store of the program. A page is
// taken away by mapping a file without bytes there: the kernel answers behind a file's end as it
// does when it has no memory. (The node's memory itself cannot be cut.)
// run: np=2 expect-exit=1 expect-stderr="PE 1: shmem_int_p: the system has no memory for the symmetric memory of PE 1" args=routine
// run: np=2 nodes=1 expect-exit=1 expect-stderr="PE 0: shmem_putmem: the system has no memory for the symmetric memory of PE 1" args=peer
// run: np=2 expect-exit=1 expect-stderr="PE 1: a load or store of the program: the system has no memory for the symmetric memory of PE 1" args=store
#define _GNU_SOURCE
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BLOCK ((size_t)500 << 20)
#define PAGE ((uintptr_t)4096)

/* Takes the page of `place` away, in this process, and the one behind it. */
static int take_away(void *place)
{
    void *page = (void *)((uintptr_t)place & ~(PAGE - 1));
    int empty = memfd_create("empty", 0);
    return mmap(page, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, empty, 0) == page;
}

int main(int argc, char **argv)
{
    static char data[4096];
    const char *how = argc > 1 ? argv[1] : "";
    shmem_init();
    int me = shmem_my_pe();
    char *block = shmem_malloc(BLOCK);
    char *end = block + BLOCK - sizeof data;
    int who = strcmp(how, "peer") == 0 ? 0 : 1;
    void *place = me == who ? shmem_ptr(end, 1) : NULL;
    if (me == who && (place == NULL || !take_away(place))) {
        fprintf(stderr, "PE %d: the memory cannot be taken away\n", me);
        return 2;
    }
    shmem_barrier_all();
    if (strcmp(how, "routine") == 0 && me == 1)
        shmem_int_p((int *)end, 1, 1);
    if (strcmp(how, "peer") == 0 && me == 0)
        shmem_putmem(end, data, sizeof data, 1);
    if (strcmp(how, "store") == 0 && me == 1)
        *(volatile char *)end = 1;
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
