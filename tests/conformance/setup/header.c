// shmem.h and shmemx.h alone, first and twice, without a warning from a pedantic compiler of each
// standard; it brings the types that its own prototypes need.
// run: np=1 std=c99,c11,c17 cflags="-Wpedantic -Wstrict-prototypes -Wundef"
// run: np=1 std=c99,c11 cc=clang cflags="-Wpedantic -Wstrict-prototypes -Wundef"
#include <shmem.h>
#include <shmem.h>
#include <shmemx.h>
#include <shmemx.h>

static uint64_t word;
static size_t size;

int main(void)
{
    ptrdiff_t distance = 1;
    shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
    int result, initialized = 1;

    shmem_query_initialized(&initialized);
    if (initialized != 0)
        return 2;
    shmem_init();
    shmem_ctx_uint64_p(ctx, &word, UINT64_C(5), 0);
    shmem_size_p(&size, (size_t)distance, 0);
    shmem_ctx_quiet(ctx);
    result = shmem_uint64_g(&word, 0) == 5 && size == 1 ? 0 : 1;
    if (SHMEM_CTX_INVALID == ctx || sizeof SHMEM_VENDOR_STRING > SHMEM_MAX_NAME_LEN)
        result = 1;
    shmem_finalize();
    return result;
}
