// FARREACH_LANES and FARREACH_COMPLETIONS choose the resources that lanes of the device share, and
// the choice in force is told; empty ones stand for the default. Those that name nothing end the
// job, on one node too, with a message that names the choices.
// run: np=2 env=FARREACH_LANES= env=FARREACH_COMPLETIONS= env=SHMEM_INFO=1 expect-stdout="lanes dynamic, completion queues own"
// run: np=1 env=FARREACH_LANES=mpi+threads env=FARREACH_COMPLETIONS=shared env=SHMEM_INFO=1 expect-stdout="  FARREACH_LANES  " expect-stdout="  FARREACH_COMPLETIONS  " expect-stdout="lanes mpi+threads, completion queues shared, and no device"
// run: np=2 nodes=several env=FARREACH_LANES=static env=SHMEM_DEBUG=1 expect-stderr="lanes static, completion queues own, registers by libmlx5: contexts 1, QPs" expect-stderr="shmem_finalize: lanes static: 2 in all"
// run: np=2 nodes=several env=FARREACH_LANES=mpi+threads env=SHMEM_DEBUG=1 expect-stderr="shmem_finalize: lanes mpi+threads: 1 in all"
// run: np=2 nodes=1 env=FARREACH_LANES=fast expect-exit=nonzero expect-stderr="fast" expect-stderr="is none of mpi-everywhere, 2x-dynamic, dynamic, shared-dynamic, static and mpi+threads"
// run: np=1 env=FARREACH_LANES=Dynamic expect-exit=nonzero expect-stderr="FARREACH_LANES"
// run: np=1 env=FARREACH_COMPLETIONS=both expect-exit=nonzero expect-stderr="both" expect-stderr="is none of own and shared"
#include "check.h"

static long value;

int main(void)
{
    shmem_ctx_t ctx;

    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    CHECK_INT(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx), 0, "ctx_create");
    shmem_ctx_long_p(ctx, &value, me + 1, (me + 1) % npes);
    shmem_ctx_destroy(ctx);
    shmem_barrier_all();
    CHECK_INT(value, (me + npes - 1) % npes + 1, "p");
    shmem_finalize();
    return 0;
}
