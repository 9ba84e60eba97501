// shmem.h and shmemx.h alone, first and twice, in C++ of several standards; overloads do not get in the way of
// the C names, whose addresses can be taken.
// run: np=1 std=c++17,c++20 cflags=-Wpedantic
// run: np=1 std=c++17 cc=clang++ cflags=-Wpedantic
#include <shmem.h>
#include <shmem.h>
#include <shmemx.h>
#include <shmemx.h>

#include <cstring>

static long words[2];

template <typename T> static T through_generic(T *object, T value)
{
    shmem_p(object, value, 0);
    shmem_quiet();
    return shmem_g(static_cast<const T *>(object), 0);
}

int main()
{
    void (*put)(long *, const long *, std::size_t, int) = shmem_long_put;
    long (*fetch_add)(long *, long, int) = shmem_long_atomic_fetch_add;
    const long seven = 7;

    shmem_init();
    put(words, &seven, 1, 0);
    bool good = fetch_add(words, 3, 0) == 7 && through_generic(&words[1], 12L) == 12;
    char name[SHMEM_MAX_NAME_LEN];
    shmem_info_get_name(name);
    good = good && std::strcmp(name, SHMEM_VENDOR_STRING) == 0 && words[0] == 10;
    shmem_finalize();
    return good ? 0 : 1;
}
