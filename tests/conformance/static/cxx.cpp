// C++: constructors run before main and fill globals, which keep their values; objects with virtual
// functions, containers, inline and template statics, thread-local objects and destructors work on;
// plain members of static objects are symmetric.
// run: np=1,2,3 nodes=1
// run: np=2 nodes=1 link=no-pie,static
// run: np=2 launcher=hydra,openmpi std=c++17
#include "check.h"

#include <atomic>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Shape {
    virtual ~Shape() = default;
    virtual int sides() const = 0;
};

struct Square : Shape {
    long area = 16;
    int sides() const override { return 4; }
};

// Filled by a constructor before main, long before shmem_init.
struct Table {
    long cells[1000];
    long *middle;
    Table() : middle(&cells[500])
    {
        for (long i = 0; i < 1000; i++)
            cells[i] = i * i;
    }
};

template <typename T> struct Holder {
    static T value;
};
template <typename T> T Holder<T>::value = T(17);

Table table;
Square square;
Shape *shape = &square;
std::string text = "a string long enough to live on the private heap of the process";
std::string short_text = "short";
std::vector<int> numbers = {1, 2, 3, 4, 5};
std::map<std::string, int> counts = {{"one", 1}, {"two", 2}};
std::unique_ptr<Square> owned = std::make_unique<Square>();
std::atomic<long> atomic_counter{5};
thread_local std::string per_thread = "per thread";
inline long inline_variable = 8;

Table &lazily()
{
    static Table lazy;
    return lazy;
}

struct AtExit {
    ~AtExit()
    {
        if (text.size() < 20 || numbers.size() != 6) {
            fprintf(stderr, "FAILED: globals are damaged at exit\n");
            _Exit(1);
        }
    }
} at_exit;

void expect_values(const char *when)
{
    CHECK(table.middle == &table.cells[500] && *table.middle == 250000, "%s: table", when);
    CHECK(shape->sides() == 4 && dynamic_cast<Square *>(shape) == &square, "%s: virtual", when);
    CHECK(text.substr(0, 8) == "a string" && short_text == "short", "%s: strings", when);
    CHECK(numbers.at(4) == 5 && counts.at("two") == 2, "%s: containers", when);
    CHECK(owned->area == 16, "%s: unique_ptr", when);
    CHECK(Holder<long>::value == 17 && inline_variable == 8, "%s: template and inline", when);
    CHECK(per_thread == "per thread", "%s: thread-local", when);
}

} // namespace

int main()
{
    expect_values("before shmem_init");
    shmem_init();
    expect_values("after shmem_init");
    int me = shmem_my_pe(), npes = shmem_n_pes(), right = (me + 1) % npes;
    int left = (me + npes - 1) % npes;

    CHECK(lazily().cells[3] == 9, "a local static constructed after shmem_init");
    shmem_barrier_all();
    shmem_put(table.cells + 10, numbers.data() ? &table.cells[20] : nullptr, 5, right);
    shmem_p(&square.area, 100L + me, right);
    shmem_p(&lazily().cells[0], 200L + me, right);
    shmem_p(&Holder<long>::value, 300L + me, right);
    shmem_p(&inline_variable, 400L + me, right);
    shmem_barrier_all();
    CHECK_INT(table.cells[12], 22 * 22, "put to a member of a static object");
    CHECK_INT(square.area, 100 + left, "put to an object with virtual functions");
    CHECK_INT(lazily().cells[0], 200 + left, "put to a local static object");
    CHECK_INT(Holder<long>::value, 300 + left, "put to a static member of a template");
    CHECK_INT(inline_variable, 400 + left, "put to an inline variable");
    shmem_barrier_all();

    // The language goes on working: exceptions, threads, containers that grow, atomics.
    numbers.push_back(6);
    text += " and longer";
    counts["three"] = 3;
    try {
        throw std::runtime_error("caught");
    } catch (const std::exception &e) {
        CHECK(std::string(e.what()) == "caught", "exception");
    }
    std::thread([] { atomic_counter += 10; }).join();
    CHECK_INT(atomic_counter.load(), 15, "std::atomic");
    auto *direct = static_cast<std::atomic<long> *>(shmem_ptr(&atomic_counter, right));
    CHECK(direct != nullptr, "shmem_ptr to a std::atomic is NULL");
    shmem_barrier_all();
    direct->fetch_add(1);
    shmem_barrier_all();
    CHECK_INT(atomic_counter.load(), 16, "fetch_add through shmem_ptr");
    shmem_barrier_all();
    shmem_finalize();
    CHECK(text.find("longer") != std::string::npos && numbers.back() == 6, "after shmem_finalize");
    return 0;
}
