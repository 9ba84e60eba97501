// The end of a job: by all, by one while others wait, compute or are in handlers, by the end of main, from
// signals, and by crashes. The job ends with the code, and nobody stays.
// run: np=1,3 mode=seq,par expect-exit=11 args=all 11
// run: np=2 mode=seq expect-exit=0 args=all 0
// run: np=3 mode=seq,par expect-exit=12 env=GASNET_EXITTIMEOUT=0.6 args=one 12
// run: np=2 mode=seq expect-exit=0 env=GASNET_EXITTIMEOUT=0.6 args=one 0
// run: np=3 mode=seq,par expect-exit=13 env=GASNET_EXITTIMEOUT=0.6 args=spin 13
// run: np=3 mode=seq expect-exit=14 env=GASNET_EXITTIMEOUT=0.6 expect-stdout="follows" args=quit 14
// run: np=2 mode=seq,par expect-exit=15 env=GASNET_EXITTIMEOUT=0.6 args=handler 15
// run: np=1,2 mode=seq,par expect-exit=16 env=GASNET_EXITTIMEOUT=0.6 args=signal 16
// run: np=1,2 mode=seq expect-exit=17 args=return 17
// run: np=2 mode=seq expect-exit=18 env=GASNET_EXITTIMEOUT=0.6 args=return-one 18
// run: np=2 mode=seq expect-exit=nonzero args=crash 0
// run: np=2 mode=seq expect-exit=19 args=before-attach 19
// run: np=2 mode=par expect-exit=20 env=GASNET_EXITTIMEOUT=0.6 args=threads 20
// run: np=2 mode=seq launcher=hydra expect-exit=21 args=all 21
// run: np=2 mode=seq launcher=hydra expect-exit=0 args=all 0
// run: np=2 mode=seq launcher=hydra expect-exit=22 env=GASNET_EXITTIMEOUT=0.6 args=one 22
#include "check.h"
#include <signal.h>

enum { END = 128 };

static int code;

static void end(gasnet_token_t token)
{
    (void)token;
    gasnet_exit(code);
}

static void on_signal(int number)
{
    (void)number;
    gasnet_exit(code);
}

static void on_quit(int number)
{
    (void)number;
    puts("follows");
    fflush(stdout);
    gasnet_exit(code);
}

static void wait_for_ever(void)
{
    static volatile int never;
    GASNET_BLOCKUNTIL(never);
}

#ifdef GASNET_PAR
static void *poll_for_ever(void *unused)
{
    wait_for_ever();
    return unused;
}

static void *exit_soon(void *unused)
{
    usleep(20000);
    gasnet_exit(code);
    return unused;
}
#endif

int main(int argc, char **argv)
{
    gasnet_handlerentry_t handlers[] = {{END, (void (*)())end}};
    const char *how = argv[1];
    code = atoi(argv[2]);
    if (!strcmp(how, "before-attach")) {
        GOOD(gasnet_init(&argc, &argv));
        gasnet_exit(code);
    }
    set_up(&argc, &argv, handlers, 1);
    const int is_first = me == 0;
    if (!strcmp(how, "all")) gasnet_exit(code);
    if (!strcmp(how, "return")) return code;
    if (!strcmp(how, "return-one") && is_first) return code;
    if (!strcmp(how, "one") && is_first) gasnet_exit(code);
    if (!strcmp(how, "one")) meet();
    if (!strcmp(how, "spin") && is_first) gasnet_exit(code);
    if (!strcmp(how, "spin")) for (volatile int i = 0;; i++) continue;
    if (!strcmp(how, "quit")) signal(SIGQUIT, on_quit), meet();
    if (!strcmp(how, "quit") && is_first) gasnet_exit(code);
    if (!strcmp(how, "handler") && is_first) GOOD(gasnet_AMRequestShort0(nodes - 1, END));
    if (!strcmp(how, "signal") && is_first) {
        signal(SIGUSR1, on_signal);
        raise(SIGUSR1);
    }
    if (!strcmp(how, "crash") && is_first) raise(SIGSEGV);
#ifdef GASNET_PAR
    if (!strcmp(how, "threads") && is_first) {
        pthread_t threads[2];
        pthread_create(&threads[0], NULL, poll_for_ever, NULL);
        pthread_create(&threads[1], NULL, exit_soon, NULL);
    }
#endif
    wait_for_ever();
}
