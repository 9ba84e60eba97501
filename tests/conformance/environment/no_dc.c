// A device without dynamic connections. By RC it does, and contexts share the lane of the default one, as a
// lane of their own would have to reach peers that have none connected for it. DC is refused.
// run: np=3 nodes=several transport=rc cflags=-pthread device=--no-dc env=SHMEM_DEBUG=1 expect-stderr="shared the default one" args=3
// run: np=3 nodes=several transport=dc cflags=-pthread device=--no-dc expect-exit=1 expect-stderr="mlx5_0 has no dynamic connections (DC); use RC" args=3
#include "../context/lanes.c"
