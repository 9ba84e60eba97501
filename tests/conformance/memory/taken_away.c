// A page of the symmetric heap that the system cannot provide is a message, never a bare SIGBUS: met by a routine of this
// PE, by a routine of another PE, and by a store of the program. The memory is taken away by cutting the node's memory short,
// behind which the kernel answers as it does when it has none.
// run: np=2 expect-exit=1 expect-stderr="PE 1: shmem_int_p: the system has no memory for the symmetric memory of PE 1" args=routine
// run: np=2 nodes=1 expect-exit=1 expect-stderr="PE 0: shmem_putmem: the system has no memory for the symmetric memory of PE 1" args=peer
// run: np=2 expect-exit=1 expect-stderr="PE 1: a load or store of the program: the system has no memory for the symmetric memory of PE 1" args=store
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BLOCK ((size_t)500 << 20)
#define CUT ((off_t)400 << 20)

/* Cuts the last CUT bytes off the node's memory: the end of the last PE's heap. */
static int cut_short(void)
{
    for (int fd = 3; fd < 256; fd++) {
        char link[64], name[64] = "";
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        if (readlink(link, name, sizeof name - 1) > 0 && strstr(name, "memfd:farreach"))
            return ftruncate(fd, lseek(fd, 0, SEEK_END) - CUT);
    }
    return -1;
}

int main(int argc, char **argv)
{
    static char data[4096];
    const char *how = argc > 1 ? argv[1] : "";
    shmem_init();
    int me = shmem_my_pe();
    char *block = shmem_malloc(BLOCK);
    char *end = block + BLOCK - sizeof data;
    if (me == 1 && cut_short() != 0) {
        fprintf(stderr, "PE 1: the node's memory cannot be cut\n");
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
