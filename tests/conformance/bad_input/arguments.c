// Wrong PEs, addresses and lengths for the routines of a few types of each size: negative PEs, stack,
// private heap, NULL, a shared library; lengths over PTRDIFF_MAX, byte counts that overflow, blocks
// that leave symmetric memory; calls before initialization, after finalize.
// run: np=1 launcher=none timeout=40 args=0 2
// run: np=1 launcher=none timeout=40 args=1 2
#define _GNU_SOURCE
#include "cases.h"
#include "transfers.h"

#include <limits.h>

static long target[64];

struct call {
    const struct transfer *transfer;
    void *at;
    size_t nelems;
    int pe;
    int finalize_first;
};

static void make_call(const void *data)
{
    const struct call *c = (const struct call *)data;

    if (c->finalize_first) {
        shmem_init();
        shmem_finalize();
    }
    c->transfer->call(c->at, c->nelems, c->pe);
}

static void refuse(struct call call, int before_init, const char *wanted, const char *value)
{
    struct bad_case c = {call.transfer->name, {wanted, value, NULL}, make_call, &call, before_init};
    expect_refused(&c);
}

// Returns whether a name is chosen: long names for some, and the few of each size and shape that
// are enough here.
static int chosen(const char *name)
{
    static const char *const some[] = {"_char_",   "_int_",  "_longdouble_", "_uint64_", "_put16",
                                       "_get128",  "mem",    "_signal_set",  "_signal_add",
                                       "_double_a"};
    for (size_t i = 0; i < COUNT_OF(some); i++)
        if (strstr(name, some[i]) != NULL)
            return 1;
    return 0;
}

static void try_all(const struct transfer *t, size_t turn)
{
    struct call good = {t, target, 1, 0, 0}, call;
    long on_stack[4] = {0};
    void *from_malloc = malloc(64);
    void *const bad_addresses[] = {on_stack, from_malloc, NULL, (void *)stderr, (void *)8,
                                   (void *)(UINTPTR_MAX - 7)};
    static const int bad_pes[] = {-1, INT_MIN, INT_MAX, 2};
    char text[64];

    call = good;
    call.pe = bad_pes[turn % COUNT_OF(bad_pes)];
    snprintf(text, sizeof text, "pe %d is out of range", call.pe);
    refuse(call, 0, text, NULL);

    for (size_t k = 0; k < 2; k++) {
        call = good;
        call.at = bad_addresses[(turn + k * 2) % COUNT_OF(bad_addresses)];
        snprintf(text, sizeof text, "%#lx", (unsigned long)(uintptr_t)call.at);
        refuse(call, 0, call.at == NULL ? "0x0" : text, "symmetric");
    }
    if (t->element != 0) {
        call = good;
        call.nelems = (size_t)PTRDIFF_MAX / t->element + 1;
        refuse(call, 0, "PTRDIFF_MAX", NULL);
        if (t->element > 1) {
            // The number of bytes wraps to that of two elements.
            call.nelems = SIZE_MAX / t->element + 3;
            refuse(call, 0, "PTRDIFF_MAX", NULL);
        }
        call.nelems = ((size_t)1 << 42) / t->element;
        refuse(call, 0, "symmetric", NULL);
    }
    refuse(good, 1, "before shmem_init", NULL);
    call = good;
    call.finalize_first = 1;
    refuse(call, 1, "after shmem_finalize", NULL);
    free(from_malloc);
}

int main(int argc, char **argv)
{
    size_t part = argc > 2 ? (size_t)atoi(argv[1]) : 0, parts = argc > 2 ? (size_t)atoi(argv[2]) : 1;
    size_t turn = 0;

    find_elements();
    for (size_t i = 0; i < COUNT_OF(TRANSFERS); i++)
        if (chosen(TRANSFERS[i].name) && turn++ % parts == part)
            try_all(&TRANSFERS[i], turn);
    printf("%zu routines in %zu parts\n", turn, parts);
    return failures != 0;
}
