// A handler that is left for ever: the process sends on, closes the engine and ends.
// run: np=2 mode=am
#include "check.h"

enum { END = 50, GONE };

static farreach_am_t *am;
static int is_gone;

static void on_end(farreach_am_message_t *message)
{
    const uint32_t source = message->source;
    farreach_am_leave_handler(am);
    OK(farreach_am_poll(am));
    OK(farreach_am_request_short(am, source, GONE, NULL, 0));
    farreach_am_close(am);
    exit(0);
}

static void on_gone(farreach_am_message_t *message)
{
    (void)message;
    is_gone = 1;
}

int main(void)
{
    const farreach_am_config_t config = {.version = FARREACH_AM_VERSION};
    OK(farreach_am_open(&config, &am));
    OK(farreach_am_register(am, END, on_end, NULL));
    OK(farreach_am_register(am, GONE, on_gone, NULL));
    OK(farreach_am_attach(am, NULL, 4096));
    if (farreach_am_rank(am) == 0) OK(farreach_am_request_short(am, 1, END, NULL, 0));
    while (!is_gone) OK(farreach_am_poll(am));
    farreach_am_close(am);
    return 0;
}
