// Quiet delivers to a PE that is stopped by SIGSTOP: PE 0 puts, quiets and then reads PE 1's memory
// from outside, through /proc/PID/mem at the addresses that PE 1 uses itself.
// run: np=2 launcher=oshrun,hydra
#define _GNU_SOURCE
#include "check.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { WORDS = 131072 };

static long in_bss[WORDS];
static long in_data[3] = {1, 2, 3};
static long counter;

// PE 1 tells PE 0 its process and where it has its objects.
static struct {
    long pid;
    uintptr_t bss, data, counter, heap;
} target;

static char state_of(long pid)
{
    char path[64], line[512], *paren;
    char state = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    file = fopen(path, "r");
    CHECK(file != NULL, "cannot open %s", path);
    if (fgets(line, sizeof line, file) != NULL && (paren = strrchr(line, ')')) != NULL)
        state = paren[2];
    fclose(file);
    return state;
}

// Reads the other process's memory; /proc/PID/mem where it may be read, else process_vm_readv.
static void read_outside(void *to, uintptr_t address, size_t length)
{
    char path[64];
    ssize_t got = -1;

    snprintf(path, sizeof path, "/proc/%ld/mem", target.pid);
    int fd = open(path, O_RDONLY);
    if (fd >= 0) {
        got = pread(fd, to, length, (off_t)address);
        close(fd);
    }
    if (got != (ssize_t)length) {
        struct iovec local = {to, length}, remote = {(void *)address, length};
        got = process_vm_readv((pid_t)target.pid, &local, 1, &remote, 1, 0);
    }
    if (got != (ssize_t)length) {
        kill((pid_t)target.pid, SIGCONT);
        FAIL("cannot read %zu bytes at 0x%lx of process %ld: got %zd", length,
             (unsigned long)address, target.pid, got);
    }
}

static void put_all(long *on_heap, const long *source, long round)
{
    shmem_long_put(in_bss, source, WORDS, 1);
    shmem_long_put_nbi(on_heap, source, WORDS, 1);
    shmem_long_p(&in_data[1], 700 + round, 1);
    shmem_long_atomic_add(&counter, 11, 1);
    shmem_quiet();
}

static void expect(const long *got, const long *want, size_t words, const char *where)
{
    for (size_t i = 0; i < words; i++)
        if (got[i] != want[i]) {
            kill((pid_t)target.pid, SIGCONT);
            FAIL("word %zu of %s of the stopped PE: expected %ld, got %ld", i, where, want[i],
                 got[i]);
        }
}

static void stop_and_put(long *on_heap, long round)
{
    static long source[WORDS], seen[WORDS];
    long expected;

    for (long i = 0; i < WORDS; i++)
        source[i] = round * 1000000 + i;
    CHECK(kill((pid_t)target.pid, SIGSTOP) == 0, "cannot stop process %ld", target.pid);
    for (int tries = 0; state_of(target.pid) != 'T'; tries++) {
        CHECK(tries < 5000, "process %ld does not stop", target.pid);
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    put_all(on_heap, source, round);
    read_outside(seen, target.bss, sizeof seen);
    expect(seen, source, WORDS, ".bss");
    read_outside(seen, target.heap, sizeof seen);
    expect(seen, source, WORDS, "the heap");
    read_outside(seen, target.data, sizeof seen[0]);
    expected = 700 + round;
    expect(seen, &expected, 1, ".data");
    read_outside(seen, target.counter, sizeof seen[0]);
    expected = 11 * round;
    expect(seen, &expected, 1, "the counter");
    // Gets and fetches need no help from it either.
    CHECK_INT(shmem_long_g(&in_bss[WORDS - 1], 1), round * 1000000 + WORDS - 1, "g");
    CHECK_INT(shmem_long_atomic_fetch(&counter, 1), 11 * round, "atomic_fetch");
    CHECK(kill((pid_t)target.pid, SIGCONT) == 0, "cannot continue process %ld", target.pid);
}

int main(void)
{
    shmem_init();
    CHECK_INT(shmem_n_pes(), 2, "PEs");
    long *on_heap = (long *)shmem_malloc(WORDS * sizeof *on_heap);
    CHECK(on_heap != NULL, "shmem_malloc returned NULL");
    if (shmem_my_pe() == 1) {
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
        target.pid = (long)getpid();
        target.bss = (uintptr_t)in_bss;
        target.data = (uintptr_t)&in_data[1];
        target.counter = (uintptr_t)&counter;
        target.heap = (uintptr_t)on_heap;
        long copy[sizeof target / sizeof(long)];
        memcpy(copy, &target, sizeof target);
        shmem_putmem(&target, copy, sizeof target, 0);
    }
    shmem_barrier_all();
    for (long round = 1; round <= 3; round++) {
        if (shmem_my_pe() == 0)
            stop_and_put(on_heap, round);
        shmem_barrier_all();
        if (shmem_my_pe() == 1) {
            CHECK_INT(in_bss[7], round * 1000000 + 7, ".bss after SIGCONT");
            CHECK_INT(on_heap[8], round * 1000000 + 8, "heap after SIGCONT");
        }
        shmem_barrier_all();
    }
    shmem_free(on_heap);
    shmem_finalize();
    return 0;
}
