// Other threads write static data while shmem_init moves it to where peers reach it, and so does a
// signal handler: nothing that they write is lost, whatever signals they block, and whether they
// compute, allocate, wait for one another or are in the middle of a system call. With the argument
// `leader` the first thread has ended by then, and another one initialises. With `deaf` a thread
// has blocked the signals of the C library's own as well: then nothing is touched.
// run: np=1,2,4 cflags=-pthread
// run: np=2 nodes=1 cflags=-pthread link=static,static-pie,no-pie
// run: np=2 cflags=-pthread launcher=hydra,openmpi
// run: np=2 nodes=1 cflags=-pthread args=leader
// run: np=2 nodes=1 cflags=-pthread valgrind args=few
// run: np=1 nodes=1 cflags=-pthread expect-exit=1 expect-stderr="shmem_init: thread " expect-stderr="does not react to signals" args=deaf
#define _GNU_SOURCE
#include "check.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

enum { COUNTERS = 4, PAGE = 4096, LARGE = 48 << 20, FEW = 1 << 20 };

// Of each pair one word moves and the other one does not: they are equal if nothing is lost.
typedef struct {
    volatile long ticks, numbers, received, items, deaf[COUNTERS];
} Counts;

static struct {
    Counts counts;
    char other_pages[PAGE];
} in_data = {.other_pages = "initialised"};
static Counts *elsewhere;

// Takes its time to be copied.
static char in_bss[LARGE];
static volatile int stop;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct item {
    struct item *next;
} *list;
static int ends[2];
static char received[8];

// Runs on any thread that has not blocked the signal, on several at a time.
static void on_alarm(int signal)
{
    (void)signal;
    __atomic_fetch_add(&in_data.counts.ticks, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&elsewhere->ticks, 1, __ATOMIC_RELAXED);
}

static int is_few, is_deaf;

// Blocks all signals that the C library lets a program block, or all that the kernel does.
static void *count_deaf(void *number)
{
    long id = (long)(intptr_t)number, kernels = -1;
    sigset_t all;

    sigfillset(&all);
    CHECK_INT(pthread_sigmask(SIG_BLOCK, &all, NULL), 0, "pthread_sigmask");
    if (is_deaf && id == 0)
        CHECK(syscall(SYS_rt_sigprocmask, SIG_SETMASK, &kernels, NULL, sizeof kernels) == 0, "mask");
    while (!stop) {
        in_data.counts.deaf[id]++;
        elsewhere->deaf[id]++;
    }
    return NULL;
}

static void *allocate(void *nothing)
{
    while (!stop) {
        struct item *item = malloc(sizeof *item + elsewhere->items % 300);
        CHECK(item != NULL, "malloc");
        pthread_mutex_lock(&mutex);
        item->next = list;
        list = item;
        in_data.counts.items++;
        elsewhere->items++;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&mutex);
    }
    return nothing;
}

static void *release(void *nothing)
{
    pthread_mutex_lock(&mutex);
    for (;;) {
        while (list == NULL && !stop)
            pthread_cond_wait(&changed, &mutex);
        struct item *item = list;
        if (item == NULL)
            break;
        list = item->next;
        in_data.counts.items--;
        elsewhere->items--;
        free(item);
    }
    pthread_mutex_unlock(&mutex);
    return nothing;
}

static void *send_numbers(void *nothing)
{
    for (long number = 1; !stop; number++)
        CHECK(write(ends[1], &number, sizeof number) == sizeof number, "write");
    close(ends[1]);
    return nothing;
}

// Receives numbers: the kernel writes static data here.
static void *receive_numbers(void *nothing)
{
    for (long expected = 1; read(ends[0], received, sizeof received) == sizeof received; expected++) {
        long number;
        memcpy(&number, received, sizeof number);
        CHECK_INT(number, expected, "a number that was read into static data");
        in_data.counts.received++;
        elsewhere->received++;
    }
    return nothing;
}

static void *(*const work[])(void *) = {allocate, release, send_numbers, receive_numbers};
enum { OTHERS = sizeof work / sizeof work[0] };

static pthread_t threads[COUNTERS + OTHERS];

static void *initialise(void *first)
{
    struct itimerval every = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};

    if (first != NULL)
        CHECK_INT(pthread_join(*(pthread_t *)first, NULL), 0, "pthread_join of the first thread");
    memset(in_bss, 1, is_few ? FEW : LARGE);
    CHECK(pipe(ends) == 0, "pipe");
    for (long id = 0; id < COUNTERS + OTHERS; id++)
        CHECK_INT(pthread_create(&threads[id], NULL, id < COUNTERS ? count_deaf : work[id - COUNTERS],
                                 (void *)(intptr_t)id),
                  0, "pthread_create");
    CHECK(signal(SIGALRM, on_alarm) != SIG_ERR, "signal");
    CHECK(setitimer(ITIMER_REAL, &every, NULL) == 0, "setitimer");
    while (elsewhere->ticks < 3)
        usleep(1000);
    shmem_init();
    long ticks = elsewhere->ticks;
    while (elsewhere->ticks < ticks + 3)
        usleep(1000);
    CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0, "setitimer");
    pthread_mutex_lock(&mutex);
    stop = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    for (int id = 0; id < COUNTERS + OTHERS; id++)
        CHECK_INT(pthread_join(threads[id], NULL), 0, "pthread_join");

    CHECK_INT(in_data.counts.ticks, elsewhere->ticks, "signals");
    CHECK_INT(in_data.counts.items, elsewhere->items, "items");
    CHECK_INT(in_data.counts.received, elsewhere->received, "numbers");
    CHECK(elsewhere->received > 0, "nothing was received");
    for (int id = 0; id < COUNTERS; id++)
        CHECK_INT(in_data.counts.deaf[id], elsewhere->deaf[id], "increments of a thread");
    int me = shmem_my_pe(), npes = shmem_n_pes();
    shmem_barrier_all();
    shmem_long_p((long *)&in_data.counts.ticks, me + 7, (me + 1) % npes);
    shmem_barrier_all();
    CHECK_INT(in_data.counts.ticks, (me + npes - 1) % npes + 7, "a put to static data");
    shmem_finalize();
    exit(0);
}

int main(int argc, char **argv)
{
    const char *argument = argc > 1 ? argv[1] : "";
    static pthread_t first, second;

    is_few = strcmp(argument, "few") == 0;
    is_deaf = strcmp(argument, "deaf") == 0;
    elsewhere = mmap(NULL, sizeof *elsewhere, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(elsewhere != MAP_FAILED, "mmap");
    first = pthread_self();
    if (strcmp(argument, "leader") == 0) {
        CHECK_INT(pthread_create(&second, NULL, initialise, &first), 0, "pthread_create");
        pthread_exit(NULL);
    }
    initialise(NULL);
    return 0;
}
