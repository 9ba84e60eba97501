// Each process prints its number, in order: a barrier before each turn.
//
//     cc $(pkg-config --cflags farreach-gasnet-seq) hello.c $(pkg-config --libs farreach-gasnet-seq)
//     oshrun -n 4 ./a.out
//
// run: np=1,3 mode=seq,parsync,par expect-stdout="node 0 of"
// run: np=2 mode=seq launcher=hydra expect-stdout="node 1 of 2"
#include <gasnet.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    if (gasnet_init(&argc, &argv) != GASNET_OK) return 1;
    if (gasnet_attach(NULL, 0, GASNET_PAGESIZE, 0) != GASNET_OK) return 1;
    for (gasnet_node_t turn = 0; turn < gasnet_nodes(); turn++) {
        gasnet_barrier((int)turn, 0);
        if (turn == gasnet_mynode()) {
            printf("node %u of %u: %s\n", turn, gasnet_nodes(), GASNET_CONFIG_STRING);
            fflush(stdout);
        }
    }
    gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS);
    gasnet_exit(0);
}
