// Heat spreads over a plate: every cell becomes the mean of its four neighbours, step after step (a Jacobi iteration).
//
//   oshrun -n 4 examples/c/heat2d.c [NX NY STEPS]
//
// The NY rows of NX cells are split over the PEs. A PE also keeps a copy of the row above its first and of the row
// below its last: the halo. After each step it puts its edge rows straight into its neighbours' halos and then, after
// a fence, a flag that says which step they belong to. The loop needs no barrier. At the end PE 0 fetches all rows and
// compares them with its own serial computation.
// run: np=1,2,3,4,16
// run: np=1,3,4 args=33 57 100
// run: np=4,16 args=5 3 20
// run: np=2 expect-exit=2 expect-stderr="usage: heat2d" args=100 0 10

#include <math.h>
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static size_t nx = 256, ny = 256, steps = 200;

static uint64_t from_above, from_below; // the newest step whose edge row has arrived from that neighbour

// Returns the length of a row. Rows are numbered 1 to ny; rows 0 and ny + 1 and the outermost
// columns are the rim, whose temperature is fixed.
static size_t width(void) { return nx + 2; }

static size_t rows_of(int pe, int npes) { return ny / (size_t)npes + ((size_t)pe < ny % (size_t)npes); }

// Fills the plate for the start: all cold, but for the hot rim along the top.
static void fill(double *plate, size_t first_row, size_t rows)
{
    for (size_t i = 0; i < rows * width(); i++)
        plate[i] = first_row == 0 && i < width() ? 100.0 : 0.0;
}

static void relax(const double *from, double *to, size_t rows)
{
    const size_t w = width();
    for (size_t row = 1; row <= rows; row++)
        for (size_t i = row * w + 1; i <= row * w + nx; i++)
            to[i] = 0.25 * (from[i - w] + from[i + w] + from[i - 1] + from[i + 1]);
}

static void simulate(double *plates[2], int me, int npes)
{
    const size_t w = width(), bytes = w * sizeof(double), mine = rows_of(me, npes);
    const int above = mine > 0 && me > 0, below = me + 1 < npes && rows_of(me + 1, npes) > 0;
    const size_t rows_above = above ? rows_of(me - 1, npes) : 0;

    for (uint64_t step = 1; step <= steps; step++) {
        double *to = plates[step % 2];
        relax(plates[(step - 1) % 2], to, mine);
        if (above)
            shmem_putmem(to + (rows_above + 1) * w, to + w, bytes, me - 1);
        if (below)
            shmem_putmem(to, to + mine * w, bytes, me + 1);
        shmem_fence(); // to each PE, the row comes before the flag
        if (above)
            shmem_uint64_atomic_set(&from_below, step, me - 1);
        if (below)
            shmem_uint64_atomic_set(&from_above, step, me + 1);
        // A neighbour may be a step ahead by now, never two: it needs our next row. So two plates suffice.
        if (above)
            shmem_uint64_wait_until(&from_above, SHMEM_CMP_GE, step);
        if (below)
            shmem_uint64_wait_until(&from_below, SHMEM_CMP_GE, step);
    }
}

// Computes everything once more on this PE alone; returns how many cells differ, and the mean temperature.
static size_t compare_with_serial(const double *plate, int npes, double *mean)
{
    const size_t w = width(), cells = (ny + 2) * w;
    double *serial[2] = {malloc(cells * sizeof(double)), malloc(cells * sizeof(double))};
    double *row = malloc(w * sizeof(double));
    if (!serial[0] || !serial[1] || !row) {
        fprintf(stderr, "heat2d: no memory for the serial check of %zu x %zu cells\n", nx, ny);
        shmem_global_exit(EXIT_FAILURE);
    }
    fill(serial[0], 0, ny + 2);
    fill(serial[1], 0, ny + 2);
    for (size_t step = 1; step <= steps; step++)
        relax(serial[(step - 1) % 2], serial[step % 2], ny);

    size_t wrong = 0;
    double sum = 0.0;
    const double *expected = serial[steps % 2] + w;
    for (int pe = 0; pe < npes; pe++)
        for (size_t r = 1; r <= rows_of(pe, npes); r++, expected += w) {
            shmem_getmem(row, plate + r * w, w * sizeof(double), pe);
            for (size_t i = 1; i <= nx; i++) {
                wrong += !(fabs(row[i] - expected[i]) <= 1e-9); // written so that a NaN is wrong
                sum += row[i];
            }
        }
    *mean = sum / ((double)nx * (double)ny);
    free(serial[0]);
    free(serial[1]);
    free(row);
    return wrong;
}

static int parse(const char *text, size_t *value)
{
    char *rest;
    long number = strtol(text, &rest, 10);
    *value = (size_t)number;
    return *text != '\0' && *rest == '\0' && number >= 1 && number <= 1000000;
}

static double seconds(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), status = EXIT_SUCCESS;
    if (argc != 1 && !(argc == 4 && parse(argv[1], &nx) && parse(argv[2], &ny) && parse(argv[3], &steps))) {
        if (me == 0)
            fprintf(stderr, "usage: heat2d [NX NY STEPS]   (each 1 to 1000000; 256 256 200 when not given)\n");
        shmem_finalize();
        return 2;
    }

    // PE 0 has the most rows; symmetric memory has the same size everywhere. + 2 for the halo.
    size_t bytes = (rows_of(0, npes) + 2) * width() * sizeof(double);
    double *plates[2] = {shmem_malloc(bytes), shmem_malloc(bytes)};
    if (!plates[0] || !plates[1]) { // the same on all PEs
        if (me == 0)
            fprintf(stderr, "heat2d: no symmetric memory for 2 x %zu bytes; set SHMEM_SYMMETRIC_SIZE\n", bytes);
        shmem_finalize();
        return EXIT_FAILURE;
    }
    size_t first_row = 0; // of my part, its upper halo included
    for (int pe = 0; pe < me; pe++)
        first_row += rows_of(pe, npes);
    fill(plates[0], first_row, rows_of(me, npes) + 2);
    fill(plates[1], first_row, rows_of(me, npes) + 2);
    shmem_barrier_all(); // no neighbour's row may come before my plates are filled

    double start = seconds();
    simulate(plates, me, npes);
    shmem_barrier_all();
    double elapsed = seconds() - start;

    if (me == 0) {
        double mean, cells = (double)nx * (double)ny * (double)steps;
        size_t wrong = compare_with_serial(plates[steps % 2], npes, &mean);
        printf("%zu x %zu cells, %zu steps, %d PEs: mean %.6f, %.1f million cells/s, %s\n", nx, ny, steps, npes, mean,
               cells / elapsed * 1e-6, wrong == 0 ? "as computed serially" : "WRONG");
        if (wrong != 0) {
            fprintf(stderr, "heat2d: %zu cells differ from the serial computation\n", wrong);
            status = EXIT_FAILURE;
        }
    }
    shmem_free(plates[1]); // a barrier, too: nobody leaves while PE 0 still reads
    shmem_free(plates[0]);
    shmem_finalize();
    return status;
}
