/*
 * Instructions of UCX for a put of 8 bytes, over the software device: beside_uct rc_mlx5|dc_mlx5
 * NAME ROUNDS, where NAME is printed for the transport. Counted as cases.c and far.c count ours, in
 * the same units: a loop of uct_ep_put_short, and the same loop without the call. UCX's turns
 * (uct_worker_progress), in which it takes completions, are not counted, which favours it.
 */
#include "loops.h"
#include "uct_side.h"

/* Puts between two turns of the device and of UCX: fewer than UCX has room for. */
enum { TURN = 64 };

static uint64_t value;

/* callgrind does not count while this runs. All that was put has arrived. */
static NOINLINE void icount_uncounted(int posted) {
    if (posted) {
        CHECK(!kick());
        while (uct_worker_progress(worker)) {
        }
        CHECK(*(volatile uint64_t *)word == value);
    }
    value++;
    __asm__ volatile("" : : : "memory");
}

static NOINLINE void call_put_short(long rounds, const struct operands *o) {
    struct operands v = *o;
    for (long i = 0; i < rounds; i += TURN) {
        for (long j = 0; j < TURN; j++) {
            uct_ep_put_short(v.target, v.local, 8, (uintptr_t)v.context, (uct_rkey_t)v.value);
        }
        icount_uncounted(1);
    }
}

static NOINLINE void bare_put_short(long rounds, const struct operands *o) {
    struct operands v = *o;
    for (long i = 0; i < rounds; i += TURN) {
        for (long j = 0; j < TURN; j++) {
            BARE_5(v.target, v.local, 8u, (uintptr_t)v.context, (uct_rkey_t)v.value);
        }
        icount_uncounted(0);
    }
}

int main(int argc, char **argv) {
    CHECK(argc == 4);
    open_domain();
    open_interface(argv[1]);
    connect_endpoint(0);
    register_memory();
    struct operands operands = {.target = ep, .local = &value, .context = word, .value = (long)rkey};
    count_loops("uct_ep_put_short 8 B", argv[2], call_put_short, bare_put_short, TURN, atol(argv[3]), &operands);
    fflush(stdout);
    /* UCX's own memory is left to the kernel. */
    _exit(0);
}
