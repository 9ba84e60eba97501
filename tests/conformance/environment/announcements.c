// SHMEM_VERSION prints the version of the library at start-up, SHMEM_INFO a text about the
// environment variables, with the old SMA_ names too; nothing is printed without them. Runs itself
// as jobs of one PE to read their output.
// run: np=1 launcher=none
#define _POSIX_C_SOURCE 200809L
#include "check.h"

static char output[65536];

static void run(const char *program, const char *setting)
{
    char command[1024];
    size_t length = 0, got;

    snprintf(command, sizeof command, "env %s '%s' child 2>&1", setting, program);
    FILE *pipe = popen(command, "r");
    CHECK(pipe != NULL, "popen failed");
    while ((got = fread(output + length, 1, sizeof output - 1 - length, pipe)) > 0)
        length += got;
    output[length] = 0;
    CHECK_INT(pclose(pipe), 0, setting);
}

static void expect(const char *setting, const char *text)
{
    CHECK(strstr(output, text) != NULL, "%s: no \"%s\" in: %s", setting, text, output);
}

static void expect_info(const char *setting)
{
    expect(setting, "SHMEM_VERSION");
    expect(setting, "SHMEM_INFO");
    expect(setting, "SHMEM_SYMMETRIC_SIZE");
    expect(setting, "SHMEM_DEBUG");
}

int main(int argc, char **argv)
{
    const char *vendor = SHMEM_VENDOR_STRING;

    if (argc > 1) {
        shmem_init();
        shmem_finalize();
        return 0;
    }
    run(argv[0], "NOTHING=1");
    CHECK(output[0] == 0, "printed without being asked: %s", output);
    run(argv[0], "SHMEM_VERSION=1");
    expect("SHMEM_VERSION", vendor);
    run(argv[0], "SHMEM_VERSION=0");
    expect("SHMEM_VERSION=0 (any value counts)", vendor);
    run(argv[0], "SMA_VERSION=yes");
    expect("SMA_VERSION", vendor);
    run(argv[0], "SHMEM_INFO=1");
    expect_info("SHMEM_INFO");
    run(argv[0], "SMA_INFO=1");
    expect_info("SMA_INFO");
    run(argv[0], "SHMEM_DEBUG=1");
    return 0;
}
