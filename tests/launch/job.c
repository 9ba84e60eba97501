// A program for the tests of how jobs start, end and die: its first argument names the action of
// its PEs.
#define _DEFAULT_SOURCE // usleep
#include <shmem.h>

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static long never;

static int is(const char *word, const char *other)
{
    return strcmp(word, other) == 0;
}

// Says on PE 0 that all PEs have come this far.
static void say_ready(void)
{
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        puts("ready");
        fflush(stdout);
    }
}

// Stays in one of the places where a PE can be for long.
static void stay(const char *where)
{
    volatile unsigned long work = 0;

    if (is(where, "barrier"))
        shmem_barrier_all();
    else if (is(where, "barriers"))
        for (;;)
            shmem_barrier_all();
    else if (is(where, "wait"))
        shmem_long_wait_until(&never, SHMEM_CMP_NE, 0);
    else if (is(where, "finalize"))
        shmem_finalize();
    else if (is(where, "sleep"))
        for (;;)
            sleep(1000);
    else if (is(where, "compute"))
        for (;;)
            work++;
    fprintf(stderr, "PE %d got past %s\n", shmem_my_pe(), where);
    exit(99);
}

// Keeps each PE elsewhere, with a piece of the heap and of the static data in use.
static void everywhere(void)
{
    static const char *const places[] = {"barrier", "compute", "wait", "sleep"};
    static char globals[1 << 20];
    char *heap = shmem_malloc(4 << 20);
    int me = shmem_my_pe();

    memset(heap, me, 4 << 20);
    memset(globals, me, sizeof globals);
    say_ready();
    stay(places[me % 4]);
}

// Lets PE 1 leave by `how` with a status, while the others stay `where`.
static void leave(const char *how, int status, const char *where)
{
    say_ready();
    if (shmem_my_pe() != 1)
        stay(where);
    usleep(20000);
    if (is(how, "exit"))
        exit(status);
    else if (is(how, "_exit"))
        _exit(status);
    else if (is(how, "kill"))
        kill(getpid(), status);
    else if (is(how, "abort"))
        abort();
    else if (is(how, "global_exit"))
        shmem_global_exit(status);
    else if (is(how, "crash"))
        *(volatile int *)(uintptr_t)(status + 8) = 1;
}

// Allocates `size` bytes, touches the first half and reads the neighbour's.
static void use_heap(size_t size)
{
    char *heap = shmem_malloc(size);
    int me = shmem_my_pe(), npes = shmem_n_pes(), next = (me + 1) % npes;

    if (heap == NULL) {
        fprintf(stderr, "PE %d: no %zu bytes\n", me, size);
        exit(3);
    }
    memset(heap, me + 1, size / 2);
    shmem_barrier_all();
    for (size_t at = 0; at < size / 2; at += size / 64)
        if (shmem_char_g(heap + at, next) != next + 1)
            exit(4);
    shmem_barrier_all();
}

// Puts `size` bytes of private memory to the next PE, gets them back and adds on PE 0.
static void transfer(size_t size)
{
    static long arrivals;
    int me = shmem_my_pe(), npes = shmem_n_pes(), next = (me + 1) % npes;
    char *there = shmem_malloc(size), *own = malloc(size), *back = malloc(size);

    if (there == NULL || own == NULL || back == NULL)
        exit(3);
    memset(own, me + 1, size);
    shmem_putmem(there, own, size, next);
    shmem_barrier_all();
    shmem_getmem(back, there, size, next);
    if (memcmp(own, back, size) != 0 || there[size - 1] != (me + npes - 1) % npes + 1)
        exit(4);
    shmem_long_atomic_inc(&arrivals, 0);
    shmem_barrier_all();
    if (me == 0 && arrivals != npes)
        exit(5);
    free(own);
    free(back);
}

// Puts, gets, atomic operations and barriers among all PEs, without an end.
static void traffic(void)
{
    enum { BYTES = 100000 };
    static long counter, element;
    static char own[BYTES], back[BYTES];
    char *there = shmem_malloc(BYTES);
    int npes = shmem_n_pes();

    say_ready();
    for (;;) {
        for (int pe = 0; pe < npes; pe++) {
            shmem_putmem(there, own, BYTES, pe);
            // Most of them ask for no answer.
            for (long i = 0; i < 50; i++)
                shmem_long_p(&element, i, pe);
            shmem_long_atomic_inc(&counter, pe);
            shmem_quiet();
            shmem_getmem(back, there, BYTES, pe);
            shmem_long_atomic_fetch_add(&counter, 1, pe);
        }
        shmem_barrier_all();
    }
}

// Leaves a process behind: a plain child, or one in a session of its own.
static void leave_process(int daemon)
{
    if (shmem_my_pe() == 0 && fork() == 0) {
        if (daemon)
            setsid();
        execlp("sleep", "sleep", "1000", (char *)NULL);
        _exit(1);
    }
    say_ready();
}

// Tries to change the length of the job's memory, which would take pages away from under all PEs.
static void resize(void)
{
    for (int fd = 3; fd < 100; fd++) {
        char path[32], name[64] = "";
        struct stat info;

        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        if (readlink(path, name, sizeof name - 1) < 0 || strstr(name, "memfd:farreach") == NULL)
            continue;
        if (fstat(fd, &info) == 0)
            for (int by = -1; by <= 1; by += 2)
                if (ftruncate(fd, info.st_size + by * 4096) == 0 || errno != EPERM)
                    exit(6);
        puts("the length stays");
    }
}

// Aborts PE 1, with something in the heap and in the static data.
static void leave_core(void)
{
    static char global[64];
    char *heap = shmem_malloc(4 << 20);

    snprintf(global, sizeof global, "%s-of-the-%s", "mark", "globals");
    snprintf(heap + (3 << 20), 64, "%s-of-the-%s", "mark", "heap");
    say_ready();
    if (shmem_my_pe() == 1)
        abort();
    stay("sleep");
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    if (is(what, "never-init") && getenv("PMI_RANK") != NULL && is(getenv("PMI_RANK"), "1"))
        return atoi(argv[2]);
    shmem_init();
    if (is(what, "everywhere"))
        everywhere();
    else if (is(what, "stay")) {
        say_ready();
        // Somebody stays out of the barrier, so that the others stay in.
        stay(shmem_my_pe() == 0 && !is(argv[2], "barriers") ? "sleep" : argv[2]);
    } else if (is(what, "leave"))
        leave(argv[2], atoi(argv[3]), argv[4]);
    else if (is(what, "heap"))
        use_heap(strtoull(argv[2], NULL, 0));
    else if (is(what, "resize"))
        resize();
    else if (is(what, "core"))
        leave_core();
    else if (is(what, "transfer"))
        transfer(strtoull(argv[2], NULL, 0));
    else if (is(what, "traffic"))
        traffic();
    else if (is(what, "leave-process"))
        leave_process(argc > 2);
    else if (is(what, "flood"))
        for (int line = 0; line < 20000; line++)
            printf("a line that nobody may want to read\n");
    int me = shmem_my_pe();
    printf("PE %d of %d\n", me, shmem_n_pes());
    shmem_finalize();
    // finally PE STATUS: a PE's actions after the end count as well.
    return is(what, "finally") && me == atoi(argv[2]) ? atoi(argv[3]) : 0;
}
