// The library tells programs that do operations in line (SHMEM_DIRECT) the PEs while there is a
// session, and nothing at any other time, to a child, to a program of another version, or where the
// checking library is loaded; then every operation is a call.
// run: np=2 nodes=1 cflags="-DSHMEM_DIRECT" args=life
// run: np=2 nodes=1 link=static cflags="-DSHMEM_DIRECT" args=life
// run: np=2 nodes=several cflags="-DSHMEM_DIRECT" args=life
// run: np=2 nodes=1 cflags="-DSHMEM_DIRECT" env=SHMEM_DEBUG=1 expect-stderr="shmem_init: the program was compiled with SHMEM_DIRECT of version 7, and this library has version 1: its operations call the library" args=version
// run: np=2 nodes=1 cflags="-DSHMEM_DIRECT" env=SHMEM_CHECK=1 args=checking
// run: np=1 nodes=1 cflags="-DSHMEM_DIRECT" env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="shmem_int_p: dest" args=freed
// run: np=2 nodes=1 cflags="-DSHMEM_DIRECT" expect-exit=1 expect-stderr="PE 1: shmem_int_p: pe 2 is out of range" args=nobody
// run: np=1 nodes=1 cflags="-DSHMEM_DIRECT" expect-exit=1 expect-stderr="shmem_int_p: dest" args=private
// run: np=1 nodes=1 cflags="-DSHMEM_DIRECT" expect-exit=1 expect-stderr="PE 0: shmem_int_g was called after shmem_finalize" args=after
// run: np=1 nodes=1 cflags="-DSHMEM_DIRECT" expect-exit=1 expect-stderr="PE 0: shmem_int_atomic_add was called before shmem_init" args=before
#define _GNU_SOURCE
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

static int flag;

static int is_empty(const struct farreach_direct *table)
{
    return table->pe_count == 0 && table->near_count == 0 && table->stores_alone == 0;
}

// Returns whether the table of this program is filled, whether or not there is a node of several
// PEs.
static int is_filled(void)
{
    const struct farreach_direct *table = &farreach_direct_1;
    return table->pe_count == (uint32_t)shmem_n_pes() && table->peers != NULL
           && table->peers[shmem_my_pe()].distance == 0
           && (table->near_count == 0 || table->near_count == table->pe_count)
           && (table->near_count != 0) == (table->stores_alone != 0);
}

// Checks that an operation is in line, which means: by the table. With one that says that the PE is
// elsewhere in this process, that is where the value goes.
static void is_in_line(void)
{
    static struct farreach_direct_peer peers[1];
    struct farreach_direct was = farreach_direct_1;
    int elsewhere = 0;

    peers[0].window_length = peers[0].atomic_length = SIZE_MAX;
    peers[0].distance = (uintptr_t)&elsewhere - (uintptr_t)&flag;
    farreach_direct_1.peers = peers;
    shmem_int_p(&flag, 3, 0);
    shmem_int_atomic_add(&flag, 4, 0);
    CHECK_INT(shmem_int_g(&flag, 0), 7, "in line");
    CHECK_INT(shmem_int_atomic_fetch(&flag, 0), 7, "in line");
    CHECK(shmem_ptr(&flag, 0) == &elsewhere, "shmem_ptr is not in line");
    farreach_direct_1 = was;
    CHECK_INT(elsewhere, 7, "where the table says");
    CHECK_INT(flag, 0, "elsewhere");
}

static void life(void)
{
    int status;
    pid_t child;

    for (int round = 0; round < 2; round++) {
        CHECK(is_empty(&farreach_direct_1), "there are PEs before shmem_init");
        shmem_init();
        CHECK(is_filled(), "the table is not filled");
        if (farreach_direct_1.near_count != 0)
            is_in_line();
        child = fork();
        if (child == 0)
            _exit(is_empty(&farreach_direct_1) ? 0 : 1);
        CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0, "a child has PEs");
        CHECK(is_filled(), "the table is not filled behind fork");
        shmem_barrier_all();
        shmem_finalize();
    }
    CHECK(is_empty(&farreach_direct_1), "there are PEs after shmem_finalize");
}

// Registers the table of a program that relies on another layout: nothing is written there.
static void version(void)
{
    struct farreach_direct other, before;

    memset(&other, 0, sizeof other);
    other.version = 7;
    other.bytes = sizeof other;
    before = other;
    farreach_direct_register(&other);
    shmem_init();
    CHECK(memcmp(&other, &before, sizeof other) == 0, "a table of another version was written");
    CHECK(is_filled(), "the program's own table is not filled");
    other.version = FARREACH_DIRECT_VERSION;
    other.bytes = sizeof other + 8;
    before = other;
    farreach_direct_register(&other);
    CHECK(memcmp(&other, &before, sizeof other) == 0, "a table of another length was written");
    // One of this version that comes later, with a shared library, is filled at once.
    other.bytes = sizeof other;
    farreach_direct_register(&other);
    CHECK(other.pe_count == farreach_direct_1.pe_count && other.p_int != NULL, "not filled at once");
    farreach_direct_forget(&other);
    shmem_finalize();
    CHECK(!is_empty(&other), "a forgotten table was written");
}

static void checking(void)
{
    shmem_init();
    CHECK(is_empty(&farreach_direct_1), "the checking library does not see the operations");
    shmem_int_p(&flag, 1 + shmem_my_pe(), (shmem_my_pe() + 1) % shmem_n_pes());
    shmem_barrier_all();
    CHECK(flag != 0, "nothing came");
    shmem_finalize();
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    if (strcmp(what, "life") == 0) {
        life();
    } else if (strcmp(what, "version") == 0) {
        version();
    } else if (strcmp(what, "checking") == 0) {
        checking();
    } else if (strcmp(what, "freed") == 0) {
        int *block;
        shmem_init();
        block = shmem_malloc(sizeof *block);
        shmem_free(block);
        shmem_int_p(block, 1, 0);
    } else if (strcmp(what, "nobody") == 0) {
        shmem_init();
        if (shmem_my_pe() == 1)
            shmem_int_p(&flag, 1, 2);
        shmem_barrier_all();
    } else if (strcmp(what, "private") == 0) {
        int *block = malloc(sizeof *block);
        shmem_init();
        shmem_int_p(block, 1, 0);
    } else if (strcmp(what, "after") == 0) {
        shmem_init();
        shmem_finalize();
        return shmem_int_g(&flag, 0);
    } else if (strcmp(what, "before") == 0) {
        shmem_int_atomic_add(&flag, 1, 0);
    } else {
        return 2;
    }
    return 0;
}
