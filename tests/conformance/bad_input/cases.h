// Runs wrong calls, each in a process of its own that is a job of one PE, and looks at its message
// and its end: a message that names the routine and the mistake, and a nonzero status.
#ifndef FARREACH_TESTS_BAD_INPUT_CASES_H
#define FARREACH_TESTS_BAD_INPUT_CASES_H

#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

// One case: `run` is called in the child, after shmem_init unless it does that itself, and must not
// return. Each of the `wanted` texts has to be in the child's message.
struct bad_case {
    const char *routine;
    const char *wanted[3];
    void (*run)(const void *data);
    const void *data;
    int before_init;
};

static int failures;

static void complain(const struct bad_case *c, const char *what, const char *output)
{
    fprintf(stderr, "FAILED: %s (%s): %s; it said: %s\n", c->routine,
            c->wanted[0] != NULL ? c->wanted[0] : "", what, output[0] != 0 ? output : "nothing\n");
    failures++;
}

// Counts the lines that are the library's.
static int messages(const char *output)
{
    int count = 0;

    for (const char *at = output; (at = strstr(at, "farreach: ")) != NULL; at++)
        count += at == output || at[-1] == '\n';
    return count;
}

static void expect_refused(const struct bad_case *c)
{
    char output[4096];
    size_t length = 0;
    ssize_t got;
    int status, ends[2];

    CHECK(pipe(ends) == 0, "no pipe");
    fflush(NULL);
    pid_t pid = fork();
    CHECK(pid >= 0, "fork failed");
    if (pid == 0) {
        dup2(ends[1], 1);
        dup2(ends[1], 2);
        close(ends[0]);
        close(ends[1]);
        // A child that hangs is ended, and reported, as one that died.
        alarm(10);
        if (!c->before_init)
            shmem_init();
        c->run(c->data);
        printf("the call returned\n");
        fflush(stdout);
        _exit(99);
    }
    close(ends[1]);
    while (length < sizeof output - 1
           && (got = read(ends[0], output + length, sizeof output - 1 - length)) > 0)
        length += (size_t)got;
    output[length] = 0;
    close(ends[0]);
    CHECK(waitpid(pid, &status, 0) == pid, "waitpid failed");

    if (!WIFEXITED(status))
        complain(c, "died by a signal", output);
    else if (WEXITSTATUS(status) == 99)
        complain(c, "was not refused", output);
    else if (WEXITSTATUS(status) == 0)
        complain(c, "ended with status 0", output);
    else if (messages(output) != 1)
        complain(c, "did not give one message", output);
    else if (strstr(output, c->routine) == NULL)
        complain(c, "the message does not name the routine", output);
    else
        for (int i = 0; i < 3 && c->wanted[i] != NULL; i++)
            if (strstr(output, c->wanted[i]) == NULL)
                complain(c, c->wanted[i], output);
}

#endif
