// A buffer is put, its memory unmapped, moved, emptied, freed or copied by a fork, and the new
// contents of its address are put: these arrive, and nothing of the old ones.
// run: np=2
// run: np=2 nodes=several env=FARREACH_REGISTRATION_CACHE=1g,2 env=SHMEM_DEBUG=1 expect-stderr="registration cache: " refuse-stderr=" 0 invalidations"
// run: np=2 nodes=several env=FARREACH_REGISTRATION_CACHE=0
// run: np=2 nodes=several device="--strict" timeout=120
// run: np=2 nodes=several env=RDMAV_FORK_SAFE=1 env=SHMEM_DEBUG=1 expect-stderr="registration cache: 0 hits, 0 misses"
#include "registration/buffers.h"

#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 512 << 10, ROUNDS = 6 };

static unsigned char target[BYTES];
static int in_data = 5, in_bss;

static void fill(unsigned char *buffer, unsigned round)
{
    for (size_t i = 0; i < BYTES; i++)
        buffer[i] = picture(i, (unsigned)shmem_my_pe(), round);
}

// Puts the buffer to the neighbour, and checks the data from the other one.
static void put(const unsigned char *buffer, unsigned round, const char *what)
{
    int me = shmem_my_pe(), npes = shmem_n_pes(), left = (me + npes - 1) % npes;

    if (round % 2) {
        shmem_putmem_nbi(target, buffer, BYTES, (me + 1) % npes);
        shmem_quiet();
    } else {
        shmem_putmem(target, buffer, BYTES, (me + 1) % npes);
    }
    shmem_barrier_all();
    for (size_t i = 0; i < BYTES; i++)
        if (target[i] != picture(i, (unsigned)left, round))
            FAIL("%s: byte %zu is %d, expected %d", what, i, target[i],
                 picture(i, (unsigned)left, round));
    memset(target, 0, BYTES);
    shmem_barrier_all();
}

static void fill_and_put(unsigned char *buffer, unsigned round, const char *what)
{
    fill(buffer, round);
    put(buffer, round, what);
}

static unsigned char *map_again(unsigned char *at)
{
    void *got = mmap(at, BYTES, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    CHECK(got == at, "mmap");
    return at;
}

static void remapped(unsigned round)
{
    unsigned char *buffer = map(BYTES), *place = map(BYTES), *moved;

    fill_and_put(buffer, round, "new memory");
    map_again(buffer);
    fill_and_put(buffer, round + 1, "other memory in its place");
    CHECK(munmap(buffer, BYTES) == 0, "munmap");
    map_again(buffer);
    fill_and_put(buffer, round + 2, "memory unmapped and mapped again");
    moved = (unsigned char *)mremap(buffer, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, place);
    CHECK(moved == place, "mremap");
    put(moved, round + 2, "memory that was moved");
    map_again(buffer);
    fill_and_put(buffer, round + 3, "other memory where it was");
    CHECK(mremap(moved, BYTES, BYTES / 2, 0) == moved, "mremap");
    CHECK(mremap(moved, BYTES / 2, BYTES, MREMAP_MAYMOVE) != MAP_FAILED, "mremap");
    munmap(buffer, BYTES);
}

static void emptied(unsigned round)
{
    unsigned char *buffer = map(BYTES);

    fill_and_put(buffer, round, "new memory");
    CHECK(madvise(buffer, BYTES, MADV_DONTNEED) == 0, "madvise");
    fill_and_put(buffer, round + 1, "memory that was emptied");
    munmap(buffer, BYTES);
}

static void freed(unsigned round)
{
    for (unsigned i = 0; i < 4; i++) {
        unsigned char *buffer = (unsigned char *)malloc(BYTES);
        fill_and_put(buffer, round + i, "malloc");
        free(buffer);
        malloc_trim(0);
    }
    // The end of the heap, back and forth while nobody else moves it; all PEs put as often.
    for (unsigned i = 0; i < 4; i++) {
        unsigned char *end = (unsigned char *)sbrk(BYTES);
        CHECK(end != (void *)-1, "sbrk");
        fill_and_put(end, round + i, "sbrk");
        if (sbrk(0) == end + BYTES)
            sbrk(-BYTES);
    }
}

static void forked(unsigned round)
{
    unsigned char *buffer = map(BYTES);
    int status;

    fill_and_put(buffer, round, "new memory");
    pid_t child = fork();
    CHECK(child >= 0, "fork failed");
    if (child == 0) {
        in_bss++, in_data--;
        _exit(in_data == 4 && in_bss == 1 ? 0 : 9);
    }
    CHECK(in_data == 5 && in_bss == 0, "the child has changed the parent's static data");
    fill_and_put(buffer, round + 1, "memory that a child has, too");
    CHECK(waitpid(child, &status, 0) == child && status == 0, "the child ended with 0x%x", status);
    fill_and_put(buffer, round + 2, "memory that a child had");
    CHECK(system("exit 7") >> 8 == 7, "system()");
    fill_and_put(buffer, round + 3, "memory after system()");
    FILE *shell = popen("echo a line", "r");
    char line[32] = "";
    CHECK(shell != NULL && fgets(line, sizeof line, shell) != NULL, "popen");
    CHECK(strcmp(line, "a line\n") == 0 && pclose(shell) == 0, "popen gave \"%s\"", line);
    fill_and_put(buffer, round + 4, "memory after popen()");
    munmap(buffer, BYTES);
}

int main(void)
{
    shmem_init();
    for (unsigned round = 0; round < ROUNDS; round++) {
        remapped(round);
        emptied(round);
        freed(round);
        forked(round);
    }
    shmem_finalize();
    return 0;
}
