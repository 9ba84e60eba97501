// Heat flows along a rod that is spread over all processes: each puts the ends of its part into its
// neighbours' segments, in two phases of a barrier. Node 0 gets all parts and compares them with
// the results of one process alone.
//
// run: np=1,2,4 mode=seq,par expect-stdout="the same" args=50
// run: np=3 mode=seq launcher=hydra args=20
#include <gasnet.h>
#include <stdio.h>

enum { CELLS = 1000 }; /* of each process; its segment has two halves of these, and one more at each end */

static double begin_with(uint32_t at) { return at % 97 * 1.5; }

static void step(const double *from, double *to)
{
    for (int i = 1; i <= CELLS; i++) to[i] = from[i] + 0.25 * (from[i - 1] - 2 * from[i] + from[i + 1]);
}

int main(int argc, char **argv)
{
    const size_t row = (CELLS + 2) * sizeof(double);
    const uintptr_t bytes =
        (2 * row + GASNET_PAGESIZE - 1) / GASNET_PAGESIZE * (uintptr_t)GASNET_PAGESIZE;
    if (gasnet_init(&argc, &argv) != GASNET_OK) return 1;
    if (gasnet_attach(NULL, 0, bytes, 0) != GASNET_OK) return 1;
    const int steps = argc > 1 ? atoi(argv[1]) : 200;
    const uint32_t nodes = gasnet_nodes(), me = gasnet_mynode();
    gasnet_seginfo_t *segments = malloc(nodes * sizeof *segments);
    gasnet_getSegmentInfo(segments, (int)nodes);
    double *half[2] = {segments[me].addr, (double *)segments[me].addr + CELLS + 2};

    for (int i = 1; i <= CELLS; i++) half[0][i] = begin_with(me * CELLS + (uint32_t)i - 1);
    for (int now = 0; now < steps; now++) {
        double *const mine = half[now % 2];
        const size_t offset = (size_t)((char *)mine - (char *)segments[me].addr);
        if (me > 0)
            gasnet_put_nbi(me - 1, (char *)segments[me - 1].addr + offset + row - sizeof *mine,
                           &mine[1], sizeof *mine);
        if (me + 1 < nodes)
            gasnet_put_nbi(me + 1, (char *)segments[me + 1].addr + offset, &mine[CELLS], sizeof *mine);
        gasnet_wait_syncnbi_puts();
        gasnet_barrier(now, 0);
        step(mine, half[(now + 1) % 2]);
    }
    gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS);

    uint32_t wrong = 0;
    if (me == 0) {
        const size_t cells = (size_t)nodes * CELLS;
        double *alone[2] = {calloc(cells + 2, sizeof **alone), calloc(cells + 2, sizeof **alone)};
        double *theirs = malloc(row);
        for (uint32_t i = 0; i < cells; i++) alone[0][i + 1] = begin_with(i);
        for (int now = 0; now < steps; now++)
            for (uint32_t node = 0; node < nodes; node++)
                step(alone[now % 2] + node * CELLS, alone[(now + 1) % 2] + node * CELLS);
        for (uint32_t node = 0; node < nodes; node++) {
            gasnet_get(theirs, node, (char *)segments[node].addr + (steps % 2 ? row : 0), row);
            for (uint32_t i = 1; i <= CELLS; i++)
                wrong += theirs[i] != alone[steps % 2][node * CELLS + i];
        }
        printf("%d steps on %u nodes: %s as alone\n", steps, nodes, wrong ? "NOT the same" : "the same");
        free(theirs);
        free(alone[0]);
        free(alone[1]);
    }
    free(segments);
    gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS);
    gasnet_exit(wrong != 0);
}
