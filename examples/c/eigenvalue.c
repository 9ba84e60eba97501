// The largest eigenvalue of a matrix, by power iteration, the matrix in square blocks on a square of PEs.
//
//   oshrun -n 4 examples/c/eigenvalue.c [N]
//
// Shows teams. PEs that do not fit into the square stay out of its team; shmem_team_split_2d makes
// a team of each row and each column. A reduction over the row adds up the products of its blocks
// and their parts of the vector, and a broadcast over the column brings the new part to where it is
// needed: to column c from the PE on the diagonal.
// The matrix has min(i, j) in row i, column j: 1 / (4 sin^2(pi / (4 N + 2))) is the right result.
// run: np=1,2,4,7,9
// run: np=4 args=77
// run: np=2 expect-exit=2 expect-stderr="usage: eigenvalue" args=none

#include <math.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

enum { ITERATIONS = 40 };

// Computes y = A x for the block whose first row and column are given, `rows` by `columns`; counted
// from 1.
static void multiply(double *y, const double *x, long row, long rows, long column, long columns)
{
    for (long i = 0; i < rows; i++) {
        y[i] = 0;
        for (long j = 0; j < columns; j++) {
            y[i] += x[j] * (double)(row + i < column + j ? row + i : column + j);
        }
    }
}

static double largest_eigenvalue(shmem_team_t row, shmem_team_t column, long n, double *x, double *y, double *norm)
{
    long side = shmem_team_n_pes(row), r = shmem_team_my_pe(column), c = shmem_team_my_pe(row);
    long block = (n + side - 1) / side;
    long rows = r == side - 1 ? n - r * block : block, columns = c == side - 1 ? n - c * block : block;
    for (long j = 0; j < columns; j++) {
        x[j] = 1;
    }
    for (int iteration = 0; iteration < ITERATIONS; iteration++) {
        multiply(y, x, r * block + 1, rows, c * block + 1, columns);
        shmem_double_sum_reduce(row, y, y, (size_t)rows); // the row's part of A x, on all PEs of the row
        *norm = 0;
        for (long i = 0; i < rows; i++) {
            *norm = fmax(*norm, fabs(y[i]));
        }
        shmem_double_max_reduce(column, norm, norm, 1);
        for (long i = 0; i < rows; i++) {
            y[i] /= *norm;
        }
        shmem_double_broadcast(column, x, y, (size_t)columns, (int)c); // from the diagonal
    }
    return *norm;
}

int main(int argc, char **argv)
{
    shmem_init();
    long n = argc > 1 ? atol(argv[1]) : 240;
    int side = (int)sqrt((double)shmem_n_pes());
    if (n < (long)side * side || n > 20000) {
        fprintf(stderr, "usage: eigenvalue [N], N from the number of PEs to 20000\n");
        shmem_global_exit(2);
    }
    double *x = shmem_calloc((size_t)n, sizeof *x), *y = shmem_calloc((size_t)n, sizeof *y);
    double *norm = shmem_calloc(1, sizeof *norm);
    shmem_team_t square, row, column;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, side * side, NULL, 0, &square);
    if (square != SHMEM_TEAM_INVALID) {
        shmem_team_split_2d(square, side, NULL, 0, &row, NULL, 0, &column);
        double found = largest_eigenvalue(row, column, n, x, y, norm);
        double half = sin(acos(-1) / (double)(4 * n + 2));
        double expected = 1 / (4 * half * half);
        if (shmem_my_pe() == 0) {
            printf("%ld x %ld on %d x %d PEs: %.6f, expected %.6f\n", n, n, side, side, found, expected);
        }
        if (fabs(found / expected - 1) > 1e-9) {
            fprintf(stderr, "eigenvalue: PE %d: %.17g is wrong\n", shmem_my_pe(), found);
            shmem_global_exit(1);
        }
        shmem_team_destroy(row);
        shmem_team_destroy(column);
        shmem_team_destroy(square);
    }
    shmem_free(norm);
    shmem_free(y);
    shmem_free(x);
    shmem_finalize();
    return 0;
}
