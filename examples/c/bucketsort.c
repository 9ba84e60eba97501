// Sorts a file of whole numbers, with the work and the memory split over the PEs.
//
//   oshrun -n 4 examples/c/bucketsort.c [-o OUTPUT] FILE
//
// The range of the numbers is cut into one bucket per PE. Each PE reads its slice of the file and counts how many of
// its numbers go to each bucket. An atomic fetch-and-add on the bucket's owner reserves that much room in the owner's
// memory and tells where it starts, so that all PEs can put their numbers at the same time without touching each
// other's. PE 0 writes the result and checks its order and a checksum.
// run: np=1,2,3,4,16 expect-stderr="1000 numbers" expect-stderr="are right" args=examples/c/numbers.txt
// run: np=3 expect-exit=2 expect-stderr="usage: bucketsort"
// run: np=3 expect-exit=1 expect-stderr="no-such-file: No such file" args=no-such-file
// run: np=3 expect-exit=1 expect-stderr="not a whole number" args=examples/c/hello.c

#define _POSIX_C_SOURCE 200809L // fseeko, getopt
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int me, npes;

// Symmetric variables, each PE's own value readable by all the others.
static int64_t lowest = INT64_MAX, highest = INT64_MIN; // of my slice
static size_t reserved;                                 // how much room in my bucket has been given away
static uint64_t total_count, total_checksum;            // of all that was read: collected on PE 0

static void die(const char *what, const char *why)
{
    fprintf(stderr, "bucketsort: PE %d: %s: %s\n", me, what, why);
    shmem_global_exit(EXIT_FAILURE); // ends all PEs
}

// Returns a number to be summed up: a sum does not depend on the order, and this depends on every
// bit of the number.
static uint64_t checksum(int64_t number)
{
    uint64_t x = (uint64_t)number * UINT64_C(0x9e3779b97f4a7c15);
    return (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
}

// Reads the numbers whose first character lies in this PE's share of the file; returns their
// number.
static size_t read_slice(const char *path, int64_t **numbers)
{
    FILE *file = fopen(path, "r");
    if (!file || fseeko(file, 0, SEEK_END) != 0)
        die(path, strerror(errno));
    off_t size = ftello(file), at = size / npes * me, end = me + 1 < npes ? at + size / npes : size;

    int c = ' ';
    fseeko(file, me > 0 && at > 0 ? at - 1 : 0, SEEK_SET);
    if (at > 0)
        while ((c = getc(file)) != EOF && !isspace(c)) // the rest of a number that began before: not mine
            at++;

    size_t count = 0, room = 0;
    *numbers = NULL;
    while (c != EOF) {
        while ((c = getc(file)) != EOF && isspace(c))
            at++;
        if (c == EOF || at >= end)
            break;
        char text[32] = "", *rest = text;
        size_t length = 0;
        for (; c != EOF && !isspace(c); c = getc(file), length++)
            if (length + 1 < sizeof text)
                text[length] = (char)c;
        at += (off_t)length + 1;
        if (count == room && !(*numbers = realloc(*numbers, (room = 2 * room + 1024) * sizeof **numbers)))
            die("reading", "out of memory");
        errno = 0;
        (*numbers)[count++] = strtoll(text, &rest, 10);
        if (rest != text + length || errno != 0)
            die(text, "not a whole number of 64 bits");
    }
    if (ferror(file))
        die(path, strerror(errno));
    fclose(file);
    return count;
}

// Returns the bucket of a number: the range from low to high is cut into npes buckets of the same
// width.
static int bucket_of(int64_t number, int64_t low, int64_t high)
{
    uint64_t width = ((uint64_t)high - (uint64_t)low) / (uint64_t)npes + 1;
    return width == 0 ? 0 : (int)(((uint64_t)number - (uint64_t)low) / width); // 0: one PE, the whole range
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

// Sends every number to the owner of its bucket, and sorts this PE's bucket.
static int64_t *distribute_and_sort(const int64_t *numbers, size_t count)
{
    int64_t low = INT64_MAX, high = INT64_MIN; // of all PEs; theirs are there since the last barrier
    for (int pe = 0; pe < npes; pe++) {
        int64_t their_low = shmem_int64_g(&lowest, pe), their_high = shmem_int64_g(&highest, pe);
        low = their_low < low ? their_low : low;
        high = their_high > high ? their_high : high;
    }

    // Group my numbers by bucket: those of bucket b go to grouped[begin[b]] .. grouped[begin[b + 1] - 1].
    size_t *begin = calloc((size_t)npes + 2, sizeof *begin), *room = calloc((size_t)npes, sizeof *room);
    int64_t *grouped = malloc((count + 1) * sizeof *grouped);
    if (!begin || !room || !grouped)
        die("sorting", "out of memory");
    for (size_t i = 0; i < count; i++)
        begin[bucket_of(numbers[i], low, high) + 2]++;
    for (int b = 0; b < npes; b++)
        begin[b + 2] += begin[b + 1];
    for (size_t i = 0; i < count; i++)
        grouped[begin[bucket_of(numbers[i], low, high) + 1]++] = numbers[i];

    // Reserve room in every bucket. Once everybody has, the largest bucket says how much memory it takes: symmetric
    // memory has the same size on all PEs.
    for (int b = 0; b < npes; b++)
        room[b] = shmem_size_atomic_fetch_add(&reserved, begin[b + 1] - begin[b], b);
    shmem_barrier_all();
    size_t largest = 0;
    for (int pe = 0; pe < npes; pe++) {
        size_t size = shmem_size_g(&reserved, pe);
        largest = size > largest ? size : largest;
    }
    int64_t *bucket = shmem_malloc((largest + 1) * sizeof *bucket); // + 1: for no numbers at all
    if (!bucket)
        die("shmem_malloc", "not enough symmetric memory; set SHMEM_SYMMETRIC_SIZE");

    for (int i = 0; i < npes; i++) {
        int b = (me + i) % npes; // so that not all PEs begin with PE 0
        shmem_int64_put(bucket + room[b], grouped + begin[b], begin[b + 1] - begin[b], b);
    }
    shmem_barrier_all(); // all that was put has arrived
    qsort(bucket, reserved, sizeof *bucket, ascending);
    shmem_barrier_all(); // all buckets are sorted
    free(begin);
    free(room);
    free(grouped);
    return bucket;
}

// Fetches the buckets one after the other on PE 0, checks them and writes them.
static int write_and_check(const int64_t *bucket, FILE *out)
{
    uint64_t count = 0, sum = 0, misplaced = 0;
    int64_t part[1024], previous = INT64_MIN;
    for (int pe = 0; pe < npes; pe++)
        for (size_t done = 0, n, size = shmem_size_g(&reserved, pe); done < size; done += n, count += n) {
            n = size - done < 1024 ? size - done : 1024;
            shmem_int64_get(part, bucket + done, n, pe);
            for (size_t i = 0; i < n; i++) {
                fprintf(out, "%" PRId64 "\n", part[i]);
                misplaced += part[i] < previous;
                sum += checksum(part[i]);
                previous = part[i];
            }
        }
    int right = misplaced == 0 && count == total_count && sum == total_checksum;
    fprintf(stderr, "bucketsort: %" PRIu64 " numbers sorted by %d PEs; order and checksum %s\n", count, npes,
            right ? "are right" : "are WRONG");
    return right;
}

int main(int argc, char **argv)
{
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    const char *output = NULL, *input = NULL;
    if (argc == 2)
        input = argv[1];
    else if (argc == 4 && strcmp(argv[1], "-o") == 0)
        output = argv[2], input = argv[3];
    if (!input || input[0] == '-') {
        if (me == 0)
            fprintf(stderr, "usage: bucketsort [-o OUTPUT] FILE   (FILE: whole numbers, white space between them)\n");
        shmem_finalize();
        return 2;
    }
    if (me == 0 && access(input, R_OK) != 0)
        die(input, strerror(errno)); // here, so that not every PE says so
    shmem_barrier_all();

    int64_t *numbers;
    size_t count = read_slice(input, &numbers);
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        lowest = numbers[i] < lowest ? numbers[i] : lowest;
        highest = numbers[i] > highest ? numbers[i] : highest;
        sum += checksum(numbers[i]);
    }
    shmem_uint64_atomic_add(&total_count, count, 0);
    shmem_uint64_atomic_add(&total_checksum, sum, 0);
    shmem_barrier_all();
    int64_t *bucket = distribute_and_sort(numbers, count);
    free(numbers);

    int right = 1;
    if (me == 0) {
        FILE *out = output ? fopen(output, "w") : stdout;
        if (!out)
            die(output, strerror(errno));
        right = write_and_check(bucket, out);
        if (fflush(out) != 0 || ferror(out))
            die(output ? output : "standard output", strerror(errno));
    }
    shmem_free(bucket); // a barrier, too: nobody leaves while PE 0 still reads
    shmem_finalize();
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
