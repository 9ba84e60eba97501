// The local side of a transfer may be anything: stack, malloc, read-only data, heap, static data;
// the remote side any part of a symmetric object. All combinations, all pairs of PEs.
// run: np=1,2,3,7 std=c99
#include "check.h"

enum { LENGTH = 61, MAX_PES = 8, SLOTS = MAX_PES * 8 };

static const int CONSTANT[LENGTH] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4};
static int source_in_data[LENGTH] = {1};
static int source_in_bss[LENGTH];
static int dest_in_data[SLOTS][LENGTH] = {{1}};
static int dest_in_bss[SLOTS][LENGTH];
static int me, npes;

static int value(int pe, int place, int i)
{
    return pe * 1000000 + place * 10000 + i;
}

static void fill(int *at, int place)
{
    for (int i = 0; i < LENGTH; i++)
        at[i] = value(me, place, i);
}

static void try_dest(int (*dest)[LENGTH], const int *const *sources, int nsources,
                     const char *dest_name)
{
    static const char *const names[] = {"stack", "malloc", ".data", ".bss", "heap", "constant"};

    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++)
        for (int s = 0; s < nsources; s++)
            shmem_int_put(dest[me * 8 + s], sources[s], LENGTH, (pe + me) % npes);
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++)
        for (int s = 0; s < nsources; s++)
            for (int i = 0; i < LENGTH; i++) {
                int want = s == nsources - 1 ? CONSTANT[i] : value(pe, s, i);
                CHECK(dest[pe * 8 + s][i] == want,
                      "put by PE %d from %s to %s, element %d: expected %d, got %d", pe, names[s],
                      dest_name, i, want, dest[pe * 8 + s][i]);
            }
}

static void get_into(int *local, int (*symmetric)[LENGTH], int writer, int place, int pe,
                     const char *where)
{
    memset(local, 0, sizeof(int) * LENGTH);
    shmem_int_get(local, symmetric[writer * 8 + place], LENGTH, pe);
    for (int i = 0; i < LENGTH; i++)
        CHECK(local[i] == value(writer, place, i),
              "get from PE %d into %s, element %d: expected %d, got %d", pe, where, i,
              value(writer, place, i), local[i]);
}

int main(void)
{
    static int dest_in_function[SLOTS][LENGTH];
    int on_stack[LENGTH];

    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    CHECK(npes <= MAX_PES, "run with at most %d PEs", (int)MAX_PES);
    int(*dest_on_heap)[LENGTH] = (int(*)[LENGTH])shmem_malloc(sizeof dest_in_bss);
    int *source_on_heap = (int *)shmem_malloc(sizeof on_stack);
    int *private_memory = (int *)malloc(sizeof on_stack);
    CHECK(dest_on_heap != NULL && source_on_heap != NULL && private_memory != NULL, "no memory");

    int *const writable[] = {on_stack, private_memory, source_in_data, source_in_bss,
                             source_on_heap};
    const int *const sources[] = {on_stack,      private_memory, source_in_data,
                                  source_in_bss, source_on_heap, CONSTANT};
    for (int place = 0; place < 5; place++)
        fill(writable[place], place);
    try_dest(dest_on_heap, sources, 6, "heap");
    try_dest(dest_in_data, sources, 6, ".data");
    try_dest(dest_in_bss, sources, 6, ".bss");
    try_dest(dest_in_function, sources, 6, "function-static");

    for (int pe = 0; pe < npes; pe++)
        for (int writer = 0; writer < npes; writer++)
            for (int place = 0; place < 5; place++) {
                get_into(on_stack, dest_on_heap, writer, place, pe, "stack");
                get_into(private_memory, dest_in_data, writer, place, pe, "malloc");
                get_into(source_in_data, dest_in_bss, writer, place, pe, ".data");
                get_into(source_in_bss, dest_in_function, writer, place, pe, ".bss");
                get_into(source_on_heap, dest_in_data, writer, place, pe, "heap");
            }
    shmem_barrier_all();
    free(private_memory);
    shmem_free(source_on_heap);
    shmem_free(dest_on_heap);
    shmem_finalize();
    return 0;
}
