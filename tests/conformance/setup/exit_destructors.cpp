// Destructors of static objects run after the implicit finalize. They may look at what their objects
// keep in symmetric memory, and give it back.
// run: np=1,2,3 expect-stdout="all destroyed"
// run: np=2 link=static expect-stdout="all destroyed"
// run: np=2 launcher=hydra,openmpi expect-stdout="all destroyed"
#include "check.h"

#include <memory>

namespace {

void fail(const char *what)
{
    fprintf(stderr, "FAILED: %s\n", what);
    _Exit(1);
}

// Constructed before shmem_init, and so destroyed after the implicit finalize.
struct Block {
    long *words = nullptr;
    long own[1000] = {};
    ~Block()
    {
        for (long i = 0; i < 1000; i++)
            if (words[i] != i * i || own[i] != -i)
                fail("a destructor finds other values than those stored");
        words[0] = own[0] = 7;
        shmem_free(words);
        puts("all destroyed");
    }
};

Block block;

struct Free {
    void operator()(long *words) const
    {
        if (words[0] != 99)
            fail("a deleter finds another value than the one stored");
        shmem_free(words);
    }
};

std::unique_ptr<long, Free> owner;

} // namespace

int main()
{
    shmem_init();
    block.words = static_cast<long *>(shmem_malloc(1000 * sizeof(long)));
    owner.reset(static_cast<long *>(shmem_malloc(sizeof(long))));
    CHECK(block.words != nullptr && owner != nullptr, "shmem_malloc returned NULL");
    *owner = 99;
    for (long i = 0; i < 1000; i++) {
        block.words[i] = i * i;
        block.own[i] = -i;
    }
    return 0;
}
