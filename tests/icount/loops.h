/* The loops that tests/icount counts: one with a call, and one of the same shape without it. cases.c says how. */

#ifndef LOOPS_H
#define LOOPS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifndef __x86_64__
#error "the registers of a call are written down for x86-64 only"
#endif

struct operands {
    void *target;
    void *local;
    uint64_t *signal;
    long value;
    int pe;
    void *context; /* a private one */
    void *own; /* symmetric memory of this PE */
};

#define NOINLINE __attribute__((noinline))
/* Registers that a call may change, apart from those of its arguments; also memory and flags. */
#define CHANGES_0 "rdi", CHANGES_1
#define CHANGES_1 "rsi", CHANGES_2
#define CHANGES_2 "rdx", CHANGES_3
#define CHANGES_3 "rcx", CHANGES_4
#define CHANGES_4 "r8", CHANGES_5
#define CHANGES_5 "r9", CHANGES_6
#define CHANGES_6 "rax", "r10", "r11", "memory", "cc"

#define A1(a) __typeof__(a) a1 = (a)
#define A2(a, b) A1(a); __typeof__(b) a2 = (b)
#define A3(a, b, c) A2(a, b); __typeof__(c) a3 = (c)
#define A4(a, b, c, d) A3(a, b, c); __typeof__(d) a4 = (d)
#define A5(a, b, c, d, e) A4(a, b, c, d); __typeof__(e) a5 = (e)
#define A6(a, b, c, d, e, f) A5(a, b, c, d, e); __typeof__(f) a6 = (f)

#define BARE_0() __asm__ volatile("" : : : CHANGES_0)
#define BARE_1(...) A1(__VA_ARGS__); __asm__ volatile("" : "+D"(a1) : : CHANGES_1)
#define BARE_2(...) A2(__VA_ARGS__); __asm__ volatile("" : "+D"(a1), "+S"(a2) : : CHANGES_2)
#define BARE_3(...) A3(__VA_ARGS__); __asm__ volatile("" : "+D"(a1), "+S"(a2), "+d"(a3) : : CHANGES_3)
#define BARE_4(...) \
    A4(__VA_ARGS__); __asm__ volatile("" : "+D"(a1), "+S"(a2), "+d"(a3), "+c"(a4) : : CHANGES_4)
#define BARE_5(...) \
    A5(__VA_ARGS__); register __typeof__(a5) in_r8 __asm__("r8") = a5; \
    __asm__ volatile("" : "+D"(a1), "+S"(a2), "+d"(a3), "+c"(a4), "+r"(in_r8) : : CHANGES_5)
#define BARE_6(...) \
    A6(__VA_ARGS__); register __typeof__(a5) in_r8 __asm__("r8") = a5; \
    register __typeof__(a6) in_r9 __asm__("r9") = a6; \
    __asm__ volatile("" : "+D"(a1), "+S"(a2), "+d"(a3), "+c"(a4), "+r"(in_r8), "+r"(in_r9) : : CHANGES_6)

/* A seventh argument goes to the stack, in whichever way the compiler likes. So the bare loop calls something: a
   function that only returns, which takes two instructions; two that do nothing make up for them in the other. */
void nothing(void *dest, const void *source, size_t bytes, uint64_t *signal, uint64_t value, int operation, int pe);
__asm__(".text\n"
        ".type nothing, @function\n"
        "nothing:\n"
        "    ret\n"
        ".size nothing, . - nothing\n");
#define AS_MUCH_AS_A_BARE_CALL __asm__ volatile("nop; nop")

/* The result of a call, if it has one, is used. */
#define NOTHING
#define RESULT(type) type result =
#define USE __asm__ volatile("" : : "r"(result))

#define LOOPS(name, count, keep, use, routine, ...) \
    static NOINLINE void call_##name(long rounds, const struct operands *o) { \
        struct operands v = *o; \
        for (long i = 0; i < rounds; i++) { \
            keep routine(__VA_ARGS__); \
            use; \
        } \
        (void)v; \
    } \
    static NOINLINE void bare_##name(long rounds, const struct operands *o) { \
        struct operands v = *o; \
        for (long i = 0; i < rounds; i++) { \
            BARE_##count(__VA_ARGS__); \
        } \
        (void)v; \
    }

typedef void loop(long rounds, const struct operands *operands);

/* callgrind counts while this runs, and writes the counts at its end. */
static NOINLINE void icount_counted(loop *run, long rounds, const struct operands *operands) {
    run(rounds, operands);
    __asm__ volatile("" : : : "memory");
}

/* Stands in a loop without the call for a function of such a name that waits until calls are done:
 * there are none. */
static NOINLINE __attribute__((unused)) void icount_uncounted_nothing(void) {
    __asm__ volatile("" : : : "memory");
}

/* Runs the loops of one call with so many rounds and twice as many, after a first one of `first`. */
static inline void count_loops(const char *routine, const char *target, loop *call, loop *bare, long first, long rounds,
                               const struct operands *operands) {
    const struct {
        const char *kind;
        loop *run;
        long rounds;
    } loops[] = {
        {"first", call, first}, {"call", call, rounds}, {"call", call, 2 * rounds}, {"bare", bare, rounds}, {"bare", bare, 2 * rounds},
    };
    for (unsigned i = 0; i < sizeof loops / sizeof *loops; i++) {
        printf("loop\t%s\t%s\t%s\t%ld\n", routine, target, loops[i].kind, loops[i].rounds);
        icount_counted(loops[i].run, loops[i].rounds, operands);
    }
}

#endif
