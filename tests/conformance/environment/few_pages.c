// A device that has not enough for a lane of each context: contexts then share, and the program, which
// is that of eight threads with a context each, runs all the same. SHMEM_DEBUG tells of it. And four
// registers for all lanes, which take turns then: two at a time would be told of in strict mode.
// run: np=3 nodes=several cflags=-pthread device="--uar-pages 6" env=SHMEM_DEBUG=1 expect-stderr="shared the default one" args=3
// run: np=3 nodes=several cflags=-pthread device="--legacy-uars --uar-pages 12" env=SHMEM_DEBUG=1 expect-stderr="with less" refuse-stderr=" 0 of them with less" args=3
// run: np=3 nodes=several cflags=-pthread device="--queue-pairs 7" env=SHMEM_DEBUG=1 env=FARREACH_LANES=mpi-everywhere expect-stderr="shared the default one" args=3
// run: np=3 nodes=several cflags=-pthread device="--strict --uar-pages 6" args=3
// run: np=3 nodes=several cflags=-pthread device=--strict env=FARREACH_LANES=static env=MLX5_TOTAL_UUARS=4 env=MLX5_NUM_LOW_LAT_UUARS=1 args=3
// run: np=3 nodes=several cflags=-pthread device="--legacy-uars --strict" env=FARREACH_LANES=static env=MLX5_TOTAL_UUARS=4 env=MLX5_NUM_LOW_LAT_UUARS=1 args=3
#include "../context/lanes.c"
