// A forked child has a private copy of static data and heap: it sees the data from before the fork,
// no later write by its parent or by other PEs, and its own writes stay its own. It may end by
// _exit or by exit(0) without disturbing the job. system() and popen() work.
// run: np=2,3
// run: np=2 launcher=hydra,openmpi
// run: np=3 nodes=several env=RDMAV_FORK_SAFE=1
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 200000 };

static long in_bss[WORDS];
static long in_data[4] = {1, 2, 3, 4};
static long go;

#define CHILD_CHECK(condition, ...)                                                                \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "FAILED: child: line %d: ", __LINE__);                                 \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fprintf(stderr, "\n");                                                                 \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

static void expect_in_child(const long *on_heap, long round, const char *when)
{
    for (long i = 0; i < WORDS; i += 997) {
        CHILD_CHECK(in_bss[i] == round + i, "%s: .bss word %ld is %ld, expected %ld", when, i,
                    in_bss[i], round + i);
        CHILD_CHECK(on_heap[i] == -(round + i), "%s: heap word %ld is %ld, expected %ld", when, i,
                    on_heap[i], -(round + i));
    }
    CHILD_CHECK(in_data[2] == round, "%s: .data is %ld, expected %ld", when, in_data[2], round);
}

static void child(long *on_heap, long round, int from_parent, int to_parent)
{
    char byte = 0;

    expect_in_child(on_heap, round, "right after fork");
    // The parent, and all other PEs, write now; the child must not see it.
    CHILD_CHECK(write(to_parent, "r", 1) == 1, "no pipe");
    CHILD_CHECK(read(from_parent, &byte, 1) == 1, "no word from the parent");
    expect_in_child(on_heap, round, "after its parent and other PEs have written");
    // Nobody must see this.
    for (long i = 0; i < WORDS; i++)
        in_bss[i] = on_heap[i] = 666;
    in_data[2] = 666;
    CHILD_CHECK(system("exit 3") != -1, "system() in the child failed");
    if (round % 2)
        exit(0);
    _exit(0);
}

static void fork_once(long *on_heap, long round)
{
    int me = shmem_my_pe(), npes = shmem_n_pes(), right = (me + 1) % npes, status;
    int to_child[2], to_parent[2];
    char byte;

    for (long i = 0; i < WORDS; i++) {
        in_bss[i] = round + i;
        on_heap[i] = -(round + i);
    }
    in_data[2] = round;
    shmem_barrier_all();
    CHECK(pipe(to_child) == 0 && pipe(to_parent) == 0, "no pipe");
    fflush(stdout);
    pid_t pid = fork();
    CHECK(pid >= 0, "fork failed");
    if (pid == 0) {
        close(to_child[1]);
        close(to_parent[0]);
        child(on_heap, round, to_child[0], to_parent[1]);
    }
    close(to_child[0]);
    close(to_parent[1]);
    CHECK(read(to_parent[0], &byte, 1) == 1, "no word from the child");
    shmem_barrier_all();
    // Stores by the parent, puts and atomics by its neighbour.
    for (long i = 0; i < WORDS; i += 2)
        in_bss[i] = on_heap[i] = 5000 + round;
    shmem_barrier_all();
    long source[3] = {round * 3, round * 3 + 1, round * 3 + 2};
    shmem_long_put(&in_bss[997], source, 3, right);
    shmem_long_put(&on_heap[997], source, 3, right);
    shmem_long_atomic_set(&in_data[2], 70 + round, right);
    shmem_barrier_all();
    CHECK(write(to_child[1], "g", 1) == 1, "no pipe to the child");
    CHECK(waitpid(pid, &status, 0) == pid, "waitpid failed");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with status 0x%x",
          status);
    close(to_child[1]);
    close(to_parent[0]);

    // All of that reached this process, and no write of its child.
    CHECK_INT(in_data[2], 70 + round, ".data after the child has ended");
    CHECK_INT(in_bss[997 + 2], round * 3 + 2, ".bss after the child has ended");
    CHECK_INT(on_heap[997 + 1], round * 3 + 1, "heap after the child has ended");
    CHECK_INT(in_bss[2], 5000 + round, ".bss after the child has ended");
    CHECK_INT(on_heap[2001], -(round + 2001), "heap after the child has ended");
    CHECK_INT(shmem_long_g(&on_heap[4], right), 5000 + round, "g after the child has ended");
    shmem_barrier_all();
}

int main(void)
{
    char line[64] = "";

    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    long *on_heap = (long *)shmem_malloc(WORDS * sizeof *on_heap);
    CHECK(on_heap != NULL, "shmem_malloc returned NULL");
    for (long round = 1; round <= 4; round++)
        fork_once(on_heap, round);

    CHECK_INT(system("exit 7") >> 8, 7, "exit status through system()");
    FILE *pipe_from = popen("echo from a shell", "r");
    CHECK(pipe_from != NULL && fgets(line, sizeof line, pipe_from) != NULL, "popen failed");
    CHECK_INT(pclose(pipe_from), 0, "pclose");
    CHECK(strcmp(line, "from a shell\n") == 0, "popen: got \"%s\"", line);
    shmem_long_p(&go, me + 1, (me + 1) % npes);
    shmem_long_wait_until(&go, SHMEM_CMP_NE, 0);
    CHECK_INT(go, (me + npes - 1) % npes + 1, "p after system() and popen()");
    shmem_free(on_heap);
    shmem_finalize();
    return 0;
}
