// Static data moves onto shared memory in place, in every way of linking: initial values stay, so
// do pointers into it, constants and thread-local data are left alone, and puts, gets, atomics and
// loads and stores through shmem_ptr reach all of it.
// run: np=1,2,3 nodes=1
// run: np=2,3 nodes=1 link=no-pie,static,static-pie,now,norelro
// run: np=2 link=no-pie,static launcher=hydra
// run: np=1 link=pie,no-pie,static launcher=none
// run: np=2 nodes=1 cc=clang
// run: np=2 nodes=1 cflags=-O0
// run: np=2,3 nodes=several args=several
// run: np=2 nodes=several link=no-pie,now,norelro args=several
#include "check.h"

#include <time.h>

// Whether peers may be on other nodes, where shmem_ptr gives NULL.
static int several;

enum { MEGABYTES = 6, WORDS = MEGABYTES * 1024 * 1024 / 8 };

struct node {
    struct node *next;
    const char *name;
    int (*function)(int);
    long value;
};

static int twice(int x)
{
    return 2 * x;
}

// Initialised data with pointers into itself, into constants and to functions.
extern struct node nodes[3];
struct node nodes[3] = {{&nodes[1], "one", twice, 1}, {&nodes[2], "two", NULL, 2}, {nodes, "three", twice, 3}};
static long *pointer_to_bss;
static long in_bss[WORDS];
static long large_data[WORDS] = {[0] = 1, [1000] = 1000, [WORDS / 2] = 77, [WORDS - 1] = -5};
static long **pointer_to_pointer = &pointer_to_bss;
static char string[] = "a string that may be changed";
static const char *const CONSTANT_POINTERS[] = {"alpha", "beta", "gamma"};
static __thread int thread_local_value = 9;
static __thread long thread_local_zero[100];
int public_global = 5;
int public_bss;
static unsigned char odd_bytes[4099] = {3};
static volatile int aligned_variable __attribute__((aligned(8192))) = 12;

// Changes values before shmem_init, so that init has to carry them over.
static void change_before(void)
{
    pointer_to_bss = &in_bss[123];
    in_bss[123] = 456;
    in_bss[WORDS - 1] = 789;
    large_data[2000] = 2001;
    string[0] = 'A';
    thread_local_value = 10;
    thread_local_zero[99] = 11;
    odd_bytes[4098] = 4;
}

static void expect_values(const char *when)
{
    CHECK(nodes[0].next == &nodes[1] && nodes[0].next->next->next == nodes,
          "%s: pointers into static data have changed", when);
    CHECK(nodes[0].function(21) == 42 && nodes[2].function == twice, "%s: function pointers", when);
    CHECK(strcmp(nodes[1].name, "two") == 0, "%s: pointer to a literal", when);
    CHECK(*pointer_to_pointer == &in_bss[123] && **pointer_to_pointer == 456,
          "%s: pointer into .bss", when);
    CHECK_INT(in_bss[WORDS - 1], 789, when);
    CHECK(large_data[0] == 1 && large_data[1000] == 1000 && large_data[WORDS / 2] == 77
              && large_data[WORDS - 1] == -5 && large_data[2000] == 2001 && large_data[2001] == 0,
          "%s: large initialised array", when);
    CHECK(strcmp(string, "A string that may be changed") == 0, "%s: string is \"%s\"", when, string);
    CHECK(strcmp(CONSTANT_POINTERS[2], "gamma") == 0, "%s: constant pointers", when);
    CHECK(thread_local_value == 10 && thread_local_zero[99] == 11 && thread_local_zero[0] == 0,
          "%s: thread-local data", when);
    CHECK(odd_bytes[0] == 3 && odd_bytes[4098] == 4, "%s: bytes", when);
    CHECK(aligned_variable == 12 && (uintptr_t)&aligned_variable % 8192 == 0, "%s: aligned", when);
    CHECK(public_global == 5 && public_bss == 0, "%s: public variables", when);
}

static int me, npes, right, left;

// Writes and reads the object at `address` on the right neighbour in all the ways there are.
static void reach(long *address, const char *what)
{
    long old = *address;

    shmem_barrier_all();
    shmem_long_p(address, 1000 + me, right);
    shmem_barrier_all();
    CHECK_INT(*address, 1000 + left, what);
    CHECK_INT(shmem_long_g(address, right), 1000 + me, what);
    shmem_barrier_all();
    CHECK_INT(shmem_long_atomic_fetch_add(address, 5, right), 1000 + me, what);
    shmem_barrier_all();
    CHECK_INT(*address, 1005 + left, what);
    long *direct = (long *)shmem_ptr(address, right);
    CHECK(direct != NULL || several, "%s: shmem_ptr returned NULL", what);
    CHECK(shmem_ptr(address, me) == address, "%s: shmem_ptr to oneself is not the address", what);
    CHECK_INT(direct ? *(volatile long *)direct : shmem_long_g(address, right), 1005 + me, what);
    shmem_barrier_all();
    if (direct)
        *(volatile long *)direct = 2000 + me;
    else
        shmem_long_p(address, 2000 + me, right);
    shmem_barrier_all();
    CHECK_INT(*(volatile long *)address, 2000 + left, what);
    shmem_barrier_all();
    *address = old;
    shmem_barrier_all();
}

static void reach_blocks(void)
{
    long *local = (long *)malloc(sizeof large_data);

    CHECK(local != NULL, "no memory");
    for (long i = 0; i < WORDS; i++)
        local[i] = i * 3 + me;
    shmem_barrier_all();
    shmem_long_put(large_data, local, WORDS, right);
    shmem_putmem(odd_bytes, "xyz", 3, right);
    shmem_barrier_all();
    for (long i = 0; i < WORDS; i++)
        CHECK(large_data[i] == i * 3 + left, "word %ld of the large array: expected %ld, got %ld",
              i, i * 3 + left, large_data[i]);
    CHECK(odd_bytes[1] == 'y' && odd_bytes[3] == 0, "bytes put to static data");
    shmem_long_get(local, large_data, WORDS, right);
    for (long i = 0; i < WORDS; i++)
        CHECK(local[i] == i * 3 + me, "word %ld by get", i);
    free(local);
    shmem_barrier_all();
}

int main(int argc, char **argv)
{
    several = argc > 1 && strcmp(argv[1], "several") == 0;
    static long function_static = 31;
    static long function_zero;
    time_t now = time(NULL);

    change_before();
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    right = (me + 1) % npes;
    left = (me + npes - 1) % npes;
    expect_values("after shmem_init");
    CHECK_INT(function_static, 31, "function-static after shmem_init");

    reach(&nodes[1].value, ".data");
    reach(&in_bss[0], "start of .bss");
    reach(&in_bss[WORDS - 1], "end of .bss");
    reach(&large_data[WORDS - 1], "large .data");
    reach(&function_static, "function-static");
    reach(&function_zero, "function-static zero");
    shmem_int_p(&public_global, 6, right);
    shmem_int_p(&public_bss, 7, right);
    shmem_int_p((int *)&aligned_variable, 13, right);
    shmem_char_p(&string[0], 'B', right);
    shmem_barrier_all();
    CHECK(public_global == 6 && public_bss == 7 && aligned_variable == 13 && string[0] == 'B',
          "puts to globals: %d, %d, %d, %c", public_global, public_bss, aligned_variable,
          string[0]);
    public_global = 5;
    public_bss = 0;
    aligned_variable = 12;
    string[0] = 'A';
    expect_values("after puts and gets");
    reach_blocks();

    // The rest of the process is as it was.
    CHECK(now > 0 && localtime(&now) != NULL && getenv("PATH") != NULL, "the C library");
    shmem_finalize();
    CHECK(nodes[0].next == &nodes[1] && **pointer_to_pointer == 456 && large_data[1] == 3 + left,
          "static data after shmem_finalize");
    return 0;
}
