// Every transfer, atomic and signalling routine, plain and ctx, of every type: a PE out of range is
// refused with one message that names routine and value.
// run: np=1 launcher=none timeout=40 args=0 2
// run: np=1 launcher=none timeout=40 args=1 2
#define _GNU_SOURCE
#include "cases.h"
#include "transfers.h"

static long target[4];

static void call_with_bad_pe(const void *data)
{
    ((const struct transfer *)data)->call(target, 1, 1);
}

int main(int argc, char **argv)
{
    size_t part = argc > 2 ? (size_t)atoi(argv[1]) : 0, parts = argc > 2 ? (size_t)atoi(argv[2]) : 1;

    for (size_t i = part; i < COUNT_OF(TRANSFERS); i += parts) {
        char routine[80];
        snprintf(routine, sizeof routine, "farreach: PE 0: %s: ", TRANSFERS[i].name);
        struct bad_case c = {routine, {"pe 1 is out of range (0 to 0)", NULL, NULL},
                             call_with_bad_pe, &TRANSFERS[i], 0};
        expect_refused(&c);
    }
    printf("%zu routines in %zu parts\n", COUNT_OF(TRANSFERS), parts);
    return failures != 0;
}
