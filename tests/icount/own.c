/* A program as somebody would write it, with a function whose instructions are to be counted. tests/icount/run does. */

#include <shmem.h>
#include <stdio.h>

enum { STEPS = 10, PUTS = 4 };

static long inbox[PUTS];

/* Executes seven instructions. */
void seven(void);
__asm__(".text\n"
        ".globl seven\n"
        ".type seven, @function\n"
        "seven:\n"
        "    nop; nop; nop; nop; nop; nop\n"
        "    ret\n"
        ".size seven, . - seven\n");

__attribute__((noinline)) static void exchange(const long *values, int to) {
    for (int i = 0; i < PUTS; i++) {
        shmem_putmem(&inbox[i], &values[i], sizeof *values, to);
    }
    seven();
    shmem_quiet();
}

int main(void) {
    shmem_init();
    int me = shmem_my_pe(), pes = shmem_n_pes();
    long values[PUTS] = {me, me + 1, me + 2, me + 3};
    for (int step = 0; step < STEPS; step++) {
        exchange(values, (me + 1) % pes);
    }
    shmem_barrier_all();
    long from = (me + pes - 1) % pes;
    int wrong = inbox[0] != from || inbox[PUTS - 1] != from + 3;
    printf("PE %d: %s\n", me, wrong ? "wrong" : "right");
    shmem_finalize();
    return wrong;
}
