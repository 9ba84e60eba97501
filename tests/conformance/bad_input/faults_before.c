// The handler that the program had before shmem_init is called as the kernel would have called it:
// every time, with its arguments, its mask and its flags. The library's message comes after that as
// before.
// run: np=2 nodes=1 expect-exit=1 expect-stderr="farreach: PE 1: shmem_long_p: " expect-stderr="is not symmetric" args=jumps
// run: np=2 nodes=1 expect-exit=1 expect-stderr="farreach: PE 1: shmem_long_p: " expect-stderr="is not symmetric" args=returns
// run: np=2 nodes=1 link=static,no-pie expect-exit=1 expect-stderr="farreach: PE 1: " expect-stderr="is not symmetric" args=returns
// run: np=1 nodes=1 expect-exit=1 expect-stderr="farreach: PE 0: shmem_long_p: " args=own-stack
// run: np=1 nodes=1 expect-exit=1 expect-stderr="farreach: PE 0: shmem_long_p: " args=no-defer
// run: np=1 nodes=1 expect-exit=139 refuse-stderr="symmetric" args=once
// run: np=1 nodes=1 expect-exit=139 refuse-stderr="symmetric" args=ignores
#define _GNU_SOURCE
#include "check.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { PAGE = 4096, STACK = 65536 };

static const long CONSTANT[512] = {1, 2, 3};
static sigjmp_buf back;
static volatile sig_atomic_t handled;
static const char *how;
static char *pages, *stack;

static int is_blocked(int signal)
{
    sigset_t now;

    CHECK(sigprocmask(SIG_BLOCK, NULL, &now) == 0, "sigprocmask");
    return sigismember(&now, signal);
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    char here;
    int is_on_stack = &here >= stack && &here < stack + STACK;

    CHECK_INT(signal, SIGSEGV, "signal");
    CHECK(context != NULL, "no context");
    CHECK((char *)info->si_addr == pages + handled * PAGE, "fault %d: address %p, pages %p",
          (int)handled, info->si_addr, (void *)pages);
    CHECK_INT(is_blocked(SIGUSR1), 1, "a signal of the handler's mask is blocked");
    CHECK_INT(is_blocked(SIGUSR2), 0, "another signal is blocked");
    CHECK_INT(is_blocked(SIGSEGV), strcmp(how, "no-defer") != 0, "the signal itself is blocked");
    CHECK_INT(is_on_stack, strcmp(how, "own-stack") == 0, "runs on its own stack");
    if (strcmp(how, "returns") == 0 || strcmp(how, "once") == 0)
        CHECK(mprotect(info->si_addr, PAGE, PROT_READ | PROT_WRITE) == 0, "mprotect");
    handled++;
    if (strcmp(how, "returns") != 0 && strcmp(how, "once") != 0)
        siglongjmp(back, 1);
}

static void set_handler(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

    sigaddset(&action.sa_mask, SIGUSR1);
    if (strcmp(how, "once") == 0)
        action.sa_flags |= (int)SA_RESETHAND;
    if (strcmp(how, "no-defer") == 0)
        action.sa_flags |= SA_NODEFER;
    if (strcmp(how, "own-stack") == 0)
        action.sa_flags |= SA_ONSTACK;
    stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(stack != MAP_FAILED, "mmap");
    CHECK(sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = STACK}, NULL) == 0, "sigaltstack");
    if (strcmp(how, "ignores") == 0)
        action = (struct sigaction){.sa_handler = SIG_IGN};
    CHECK(sigaction(SIGSEGV, &action, NULL) == 0, "sigaction");
}

// Writes to page `i`, which may not be written.
static void fault(int i)
{
    volatile char *page = pages + i * PAGE;

    if (sigsetjmp(back, 1) == 0)
        *page = 'x';
    CHECK_INT(handled, i + 1, "faults handled");
    CHECK_INT(is_blocked(SIGUSR1), 0, "a signal is blocked behind the handler");
    CHECK_INT(is_blocked(SIGSEGV), 0, "SIGSEGV is blocked behind the handler");
}

int main(int argc, char **argv)
{
    CHECK(argc == 2, "usage: jumps|returns|own-stack|no-defer|once|ignores");
    how = argv[1];
    // No core files in the project.
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    pages = mmap(NULL, 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED, "mmap");
    set_handler();
    shmem_init();
    if (shmem_my_pe() == shmem_n_pes() - 1) {
        if (strcmp(how, "ignores") == 0)
            raise(SIGSEGV);
        fault(0);
        fault(1);
        // Into the hole between static data and heap of PE 0.
        shmem_long_p((long *)(uintptr_t)&CONSTANT[1], 5, 0);
        FAIL("the put returned");
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
