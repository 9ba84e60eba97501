// An MPI program: messages of all sizes, early ones, wild cards, probes, collectives, cancelled
// receives and accesses to windows, between any number of processes. With an argument nothing is
// compared and swapped in a window: Open MPI 4.1.4's osc/rdma crashes in that call, over any btl.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(it)                                                                                  \
    do {                                                                                           \
        if (!(it)) {                                                                               \
            fprintf(stderr, "%s:%d: process %d: %s\n", __FILE__, __LINE__, rank, #it);             \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                          \
        }                                                                                          \
    } while (0)
#define ALL MPI_COMM_WORLD
#ifdef OPEN_MPI
// mtl/ofi of 4.1.4 does not tell the sender when MPI_Mrecv has taken a message, over any provider.
#define send_claimed MPI_Isend
#else
#define send_claimed MPI_Issend
#endif
enum { MOST = 5000000, WORDS = 50000 };
static int rank, size, left, right;
static char sent[MOST], got[MOST];

static void fill(int len, int seed) {
    for (int i = 0; i < len; i++)
        sent[i] = (char)(i * 7 + seed);
    memset(got, 0, len);
}

static void is_got(const MPI_Status *status, int len, int tag, int seed) {
    int count;
    MPI_Get_count(status, MPI_CHAR, &count);
    CHECK(count == len && status->MPI_SOURCE == left && status->MPI_TAG == tag);
    for (int i = 0; i < len; i++)
        CHECK(got[i] == (char)(i * 7 + seed));
}

static void messages(int len, int round) {
    MPI_Status status, probed;
    MPI_Request request;
    MPI_Message message;
    int seed = left + round;
    fill(len, rank + round);
    MPI_Sendrecv(sent, len, MPI_CHAR, right, 1, got, MOST, MPI_CHAR, left, 1, ALL, &status);
    is_got(&status, len, 1, seed);
    // Early, any.
    memset(got, 0, len);
    MPI_Isend(sent, len, MPI_CHAR, right, 2, ALL, &request);
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, ALL, &probed);
    MPI_Recv(got, MOST, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, ALL, &status);
    is_got(&status, len, 2, seed);
    is_got(&probed, len, 2, seed);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    // Until it is matched.
    memset(got, 0, len);
    MPI_Issend(sent, len, MPI_CHAR, right, 3, ALL, &request);
    MPI_Recv(got, len, MPI_CHAR, MPI_ANY_SOURCE, 3, ALL, &status);
    is_got(&status, len, 3, seed);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    // Claimed.
    memset(got, 0, len);
    send_claimed(sent, len, MPI_CHAR, right, 4, ALL, &request);
    MPI_Mprobe(MPI_ANY_SOURCE, 4, ALL, &message, &probed);
    MPI_Mrecv(got, len, MPI_CHAR, &message, &status);
    is_got(&status, len, 4, seed);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

// Sends many messages from all to one, each sender's in its order.
static void many(void) {
    int *seen = calloc(size, sizeof *seen), word;
    for (int i = 0; rank == 0 && i < 500 * (size - 1); i++) {
        MPI_Status status;
        MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 5, ALL, &status);
        CHECK(word == seen[status.MPI_SOURCE]++);
    }
    for (int i = 0; rank != 0 && i < 500; i++)
        MPI_Send(&i, 1, MPI_INT, 0, 5, ALL);
    free(seen);
}

static void collectives(int n) {
    double *from = malloc(n * size * sizeof *from), *to = malloc(n * size * sizeof *to);
    for (int i = 0; i < n * size; i++)
        from[i] = rank + i;
    MPI_Allreduce(from, to, n, MPI_DOUBLE, MPI_SUM, ALL);
    for (int i = 0; i < n; i++)
        CHECK(to[i] == (double)i * size + size * (size - 1) / 2);
    MPI_Alltoall(from, n, MPI_DOUBLE, to, n, MPI_DOUBLE, ALL);
    for (int i = 0; i < n * size; i++)
        CHECK(to[i] == i / n + rank * n + i % n);
    MPI_Bcast(from, n, MPI_DOUBLE, size - 1, ALL);
    for (int i = 0; i < n; i++)
        CHECK(from[i] == size - 1 + i);
    MPI_Barrier(ALL);
    free(from);
    free(to);
}

static void cancels(void) {
    MPI_Request request;
    MPI_Status status;
    int is_cancelled;
    MPI_Irecv(got, 8, MPI_CHAR, left, 6, ALL, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &is_cancelled);
    CHECK(is_cancelled);
}

static void windows(void) {
    int *memory, *words = (int *)sent, *back = (int *)got, one = 1, bytes = sizeof one;
    MPI_Win window;
    MPI_Win_allocate((WORDS + 8) * bytes, bytes, MPI_INFO_NULL, ALL, &memory, &window);
    memset(memory, 0, (WORDS + 8) * bytes);
    for (int i = 0; i < WORDS; i++)
        words[i] = rank * WORDS + i;
    MPI_Win_fence(0, window);
    MPI_Put(words, WORDS, MPI_INT, right, 7, WORDS, MPI_INT, window);
    MPI_Win_fence(0, window);
    MPI_Get(back, WORDS, MPI_INT, left, 7, WORDS, MPI_INT, window);
    for (int i = 0; i < 50; i++)
        MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, window);
    MPI_Win_fence(0, window);
    int further = (left + size - 1) % size;
    for (int i = 0; i < WORDS; i++)
        CHECK(memory[7 + i] == left * WORDS + i && back[i] == further * WORDS + i);
    CHECK(rank != 0 || memory[0] == 50 * size);
    MPI_Win_free(&window);
}

// Counts in two words of the first process, from all processes at any time: in the second one by
// compare-and-swap.
static void counts(int swaps) {
    enum { ROUNDS = 100 };
    long *memory, before, seen = -1, one = 1;
    MPI_Win window;
    MPI_Win_allocate(2 * sizeof one, sizeof one, MPI_INFO_NULL, ALL, &memory, &window);
    memset(memory, 0, 2 * sizeof one);
    MPI_Barrier(ALL);
    MPI_Win_lock_all(0, window);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, 0, MPI_SUM, window);
        MPI_Win_flush(0, window);
        CHECK(before > seen && before < (long)ROUNDS * size);
        seen = before;
        for (long expected = 0, next = 1; swaps; expected = before, next = before + 1) {
            MPI_Compare_and_swap(&next, &expected, &before, MPI_LONG, 0, 1, window);
            MPI_Win_flush(0, window);
            if (before == expected)
                break;
        }
    }
    MPI_Barrier(ALL);
    long sums[2] = {0};
    MPI_Get(sums, 2, MPI_LONG, 0, 0, 2, MPI_LONG, window);
    MPI_Win_unlock_all(window);
    CHECK(sums[0] == (long)ROUNDS * size && sums[1] == (swaps ? sums[0] : 0));
    MPI_Win_free(&window);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(ALL, &rank);
    MPI_Comm_size(ALL, &size);
    right = (rank + 1) % size, left = (rank + size - 1) % size;
    int sizes[] = {0, 1, 8, 1000, 8192, 8193, 16000, 16384, 65536, 300000, MOST};
    for (int i = 0; i < (int)(sizeof sizes / sizeof *sizes); i++)
        messages(sizes[i], i);
    many();
    for (int n = 1; n < 100000; n *= 25)
        collectives(n);
    cancels();
    windows();
    counts(argc == 1);
    MPI_Finalize();
    return 0;
}
