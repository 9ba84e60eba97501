// The 14 wait and test routines with every type: all comparisons, blocking and immediate, status
// masks, empty sets, vectors. The includer chooses language and names.
#include "check.h"

#include <time.h>

enum { ELEMENTS = 6, COMPARISONS = 6 };

// Values travel as 64-bit words holding the two's complement of the type's value.
typedef int64_t word;

struct sync {
    const char *name;
    size_t size;
    int is_signed;
    void (*set)(void *dest, word value, int pe);
    void (*store)(void *vars, size_t index, word value);
    void (*wait_until)(void *var, int cmp, word value);
    void (*wait_until_all)(void *vars, size_t n, const int *status, int cmp, word value);
    size_t (*wait_until_any)(void *vars, size_t n, const int *status, int cmp, word value);
    size_t (*wait_until_some)(void *vars, size_t n, size_t *indices, const int *status, int cmp,
                              word value);
    void (*wait_until_all_vector)(void *vars, size_t n, const int *status, int cmp,
                                  const void *values);
    size_t (*wait_until_any_vector)(void *vars, size_t n, const int *status, int cmp,
                                    const void *values);
    size_t (*wait_until_some_vector)(void *vars, size_t n, size_t *indices, const int *status,
                                     int cmp, const void *values);
    int (*test)(void *var, int cmp, word value);
    int (*test_all)(void *vars, size_t n, const int *status, int cmp, word value);
    size_t (*test_any)(void *vars, size_t n, const int *status, int cmp, word value);
    size_t (*test_some)(void *vars, size_t n, size_t *indices, const int *status, int cmp,
                        word value);
    int (*test_all_vector)(void *vars, size_t n, const int *status, int cmp, const void *values);
    size_t (*test_any_vector)(void *vars, size_t n, const int *status, int cmp,
                              const void *values);
    size_t (*test_some_vector)(void *vars, size_t n, size_t *indices, const int *status, int cmp,
                               const void *values);
};

#define WRAP(NAME, TYPE)                                                                           \
    static void set_##NAME(void *dest, word value, int pe)                                         \
    {                                                                                              \
        PLAIN(NAME, atomic_set)((TYPE *)dest, (TYPE)value, pe);                                    \
    }                                                                                              \
    static void store_##NAME(void *vars, size_t index, word value)                                 \
    {                                                                                              \
        ((TYPE *)vars)[index] = (TYPE)value;                                                       \
    }                                                                                              \
    WRAP_FAMILY(NAME, TYPE, wait_until, void, void, (void))                                        \
    WRAP_FAMILY(NAME, TYPE, test, int, int, return)

// RUN is `return`, or a cast to void where the single and the all form return nothing.
#define WRAP_FAMILY(NAME, TYPE, STEM, ONE, ALL, RUN)                                               \
    static ONE STEM##_##NAME(void *v, int cmp, word value)                                         \
    {                                                                                              \
        RUN PLAIN(NAME, STEM)((TYPE *)v, cmp, (TYPE)value);                                        \
    }                                                                                              \
    static ALL STEM##_all_##NAME(void *v, size_t n, const int *status, int cmp, word value)        \
    {                                                                                              \
        RUN PLAIN(NAME, STEM##_all)((TYPE *)v, n, status, cmp, (TYPE)value);                       \
    }                                                                                              \
    static size_t STEM##_any_##NAME(void *v, size_t n, const int *status, int cmp, word value)     \
    {                                                                                              \
        return PLAIN(NAME, STEM##_any)((TYPE *)v, n, status, cmp, (TYPE)value);                    \
    }                                                                                              \
    static size_t STEM##_some_##NAME(void *v, size_t n, size_t *indices, const int *status,        \
                                     int cmp, word value)                                          \
    {                                                                                              \
        return PLAIN(NAME, STEM##_some)((TYPE *)v, n, indices, status, cmp, (TYPE)value);          \
    }                                                                                              \
    static ALL STEM##_all_vector_##NAME(void *v, size_t n, const int *status, int cmp,             \
                                        const void *values)                                        \
    {                                                                                              \
        RUN PLAIN(NAME, STEM##_all_vector)((TYPE *)v, n, status, cmp, (const TYPE *)values);       \
    }                                                                                              \
    static size_t STEM##_any_vector_##NAME(void *v, size_t n, const int *status, int cmp,          \
                                           const void *values)                                     \
    {                                                                                              \
        return PLAIN(NAME, STEM##_any_vector)((TYPE *)v, n, status, cmp, (const TYPE *)values);    \
    }                                                                                              \
    static size_t STEM##_some_vector_##NAME(void *v, size_t n, size_t *indices,                    \
                                            const int *status, int cmp, const void *values)        \
    {                                                                                              \
        return PLAIN(NAME, STEM##_some_vector)((TYPE *)v, n, indices, status, cmp,                 \
                                               (const TYPE *)values);                              \
    }

AMO_TYPES(WRAP)

#define ROW_FAMILY(NAME, STEM)                                                                     \
    STEM##_##NAME, STEM##_all_##NAME, STEM##_any_##NAME, STEM##_some_##NAME,                       \
        STEM##_all_vector_##NAME, STEM##_any_vector_##NAME, STEM##_some_vector_##NAME

#define ROW(NAME, TYPE)                                                                            \
    {#NAME,        sizeof(TYPE), (TYPE)-1 < (TYPE)1,           set_##NAME,                         \
     store_##NAME, ROW_FAMILY(NAME, wait_until), ROW_FAMILY(NAME, test)},

static const struct sync TYPES[] = {AMO_TYPES(ROW)};

static const int CMPS[COMPARISONS] = {SHMEM_CMP_EQ, SHMEM_CMP_NE, SHMEM_CMP_GT,
                                      SHMEM_CMP_GE, SHMEM_CMP_LT, SHMEM_CMP_LE};
static const char *const CMP_NAMES[COMPARISONS] = {"EQ", "NE", "GT", "GE", "LT", "LE"};

// Returns whether `a CMP b` holds, for an index into CMPS and values of type t.
static int holds(const struct sync *t, int c, word a, word b)
{
    uint64_t mask = t->size == 8 ? ~UINT64_C(0) : UINT64_C(0xffffffff);
    uint64_t ua = (uint64_t)a & mask, ub = (uint64_t)b & mask;
    int less = t->is_signed ? a < b : ua < ub;

    switch (c) {
    case 0:
        return ua == ub;
    case 1:
        return ua != ub;
    case 2:
        return !less && ua != ub;
    case 3:
        return !less;
    case 4:
        return less;
    default:
        return less || ua == ub;
    }
}

// Returns the bound of three values such that BEFORE[c] does not satisfy `CMP BOUND` and AFTER[c]
// does. For signed types everything is moved across zero.
static word bound(const struct sync *t)
{
    return t->is_signed ? 0 : 5;
}

static word before(const struct sync *t, int c)
{
    static const int offset[COMPARISONS] = {-1, 0, 0, -1, 0, 1};
    return bound(t) + offset[c];
}

static word after(const struct sync *t, int c)
{
    static const int offset[COMPARISONS] = {0, 1, 1, 0, -1, 0};
    return bound(t) + offset[c];
}

static int me, npes;
static uint64_t in_bss[ELEMENTS];
static uint64_t in_data[ELEMENTS] = {1};

#define EXPECT(t, c, got, want, what)                                                              \
    CHECK((got) == (want), "%s %s %s: expected %lld, got %lld", (t)->name, (what), CMP_NAMES[c],   \
          (long long)(want), (long long)(got))

// Tries every comparison of every pair of interesting values: test tells the truth; wait_until
// returns.
static void immediate(const struct sync *t, void *vars)
{
    static const word values[] = {0, 1, -1, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, 12345};
    size_t n = t->size == 8 ? COUNT_OF(values) : 5;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            for (int c = 0; c < COMPARISONS; c++) {
                int want = holds(t, c, values[i], values[j]);
                t->store(vars, 0, values[i]);
                EXPECT(t, c, t->test(vars, CMPS[c], values[j]), want, "test");
                EXPECT(t, c, t->test_all(vars, 1, NULL, CMPS[c], values[j]), want, "test_all");
                EXPECT(t, c, t->test_any(vars, 1, NULL, CMPS[c], values[j]),
                       want ? (size_t)0 : SIZE_MAX, "test_any");
                if (want) {
                    t->wait_until(vars, CMPS[c], values[j]);
                    t->wait_until_all(vars, 1, NULL, CMPS[c], values[j]);
                }
            }
}

// Expects a list of indices without repetition, each one in the set `allowed`.
static void expect_indices(const struct sync *t, const size_t *indices, size_t count,
                           const int *allowed, const char *what)
{
    int seen[ELEMENTS] = {0};

    for (size_t i = 0; i < count; i++) {
        CHECK(indices[i] < ELEMENTS, "%s %s: index %zu is out of range", t->name, what, indices[i]);
        CHECK(allowed[indices[i]], "%s %s: returned element %zu, which is excluded or false",
              t->name, what, indices[i]);
        CHECK(!seen[indices[i]], "%s %s: returned element %zu twice", t->name, what, indices[i]);
        seen[indices[i]] = 1;
    }
}

static void store_vector(const struct sync *t, void *values, word value)
{
    for (size_t i = 0; i < ELEMENTS; i++)
        t->store(values, i, value);
}

// Tries empty sets: nelems 0 with NULL pointers, and every element excluded.
static void empty(const struct sync *t, void *vars, int c)
{
    static const int all_out[ELEMENTS] = {1, -1, 2, 7, 1, 1};
    uint64_t values[ELEMENTS];
    size_t indices[ELEMENTS];
    word value = bound(t);
    int cmp = CMPS[c];

    store_vector(t, vars, before(t, c));
    store_vector(t, values, value);
    t->wait_until_all(NULL, 0, NULL, cmp, value);
    t->wait_until_all(vars, ELEMENTS, all_out, cmp, value);
    t->wait_until_all_vector(NULL, 0, NULL, cmp, NULL);
    t->wait_until_all_vector(vars, ELEMENTS, all_out, cmp, values);
    EXPECT(t, c, t->wait_until_any(NULL, 0, NULL, cmp, value), SIZE_MAX, "wait_until_any of none");
    EXPECT(t, c, t->wait_until_any(vars, ELEMENTS, all_out, cmp, value), SIZE_MAX,
           "wait_until_any, all excluded");
    EXPECT(t, c, t->wait_until_any_vector(NULL, 0, NULL, cmp, NULL), SIZE_MAX,
           "wait_until_any_vector of none");
    EXPECT(t, c, t->wait_until_any_vector(vars, ELEMENTS, all_out, cmp, values), SIZE_MAX,
           "wait_until_any_vector, all excluded");
    EXPECT(t, c, t->wait_until_some(NULL, 0, NULL, NULL, cmp, value), (size_t)0,
           "wait_until_some of none");
    EXPECT(t, c, t->wait_until_some(vars, ELEMENTS, indices, all_out, cmp, value), (size_t)0,
           "wait_until_some, all excluded");
    EXPECT(t, c, t->wait_until_some_vector(NULL, 0, NULL, NULL, cmp, NULL), (size_t)0,
           "wait_until_some_vector of none");
    EXPECT(t, c, t->wait_until_some_vector(vars, ELEMENTS, indices, all_out, cmp, values),
           (size_t)0, "wait_until_some_vector, all excluded");
    EXPECT(t, c, t->test_all(NULL, 0, NULL, cmp, value), 1, "test_all of none");
    EXPECT(t, c, t->test_all(vars, ELEMENTS, all_out, cmp, value), 1, "test_all, all excluded");
    EXPECT(t, c, t->test_all_vector(NULL, 0, NULL, cmp, NULL), 1, "test_all_vector of none");
    EXPECT(t, c, t->test_all_vector(vars, ELEMENTS, all_out, cmp, values), 1,
           "test_all_vector, all excluded");
    EXPECT(t, c, t->test_any(NULL, 0, NULL, cmp, value), SIZE_MAX, "test_any of none");
    EXPECT(t, c, t->test_any(vars, ELEMENTS, all_out, cmp, value), SIZE_MAX,
           "test_any, all excluded");
    EXPECT(t, c, t->test_any(vars, ELEMENTS, NULL, cmp, value), SIZE_MAX, "test_any, all false");
    EXPECT(t, c, t->test_any_vector(NULL, 0, NULL, cmp, NULL), SIZE_MAX, "test_any_vector of none");
    EXPECT(t, c, t->test_any_vector(vars, ELEMENTS, NULL, cmp, values), SIZE_MAX,
           "test_any_vector, all false");
    EXPECT(t, c, t->test_some(NULL, 0, NULL, NULL, cmp, value), (size_t)0, "test_some of none");
    EXPECT(t, c, t->test_some(vars, ELEMENTS, indices, NULL, cmp, value), (size_t)0,
           "test_some, all false");
    EXPECT(t, c, t->test_some_vector(NULL, 0, NULL, NULL, cmp, NULL), (size_t)0,
           "test_some_vector of none");
    EXPECT(t, c, t->test_some_vector(vars, ELEMENTS, indices, all_out, cmp, values), (size_t)0,
           "test_some_vector, all excluded");
}

// Tries masks. Elements 0, 3 and 4 hold; 0 is excluded; so the set {1, 2, 3, 4, 5} has two that
// hold. Then the same with a vector in which only the values of 3 and 4 make the comparison hold.
static void masks(const struct sync *t, void *vars, int c)
{
    static const int status[ELEMENTS] = {1, 0, 0, 0, 0, 0};
    static const int only_false[ELEMENTS] = {1, 0, 0, 1, 1, 0};
    static const int only_true[ELEMENTS] = {1, 1, 1, 0, 0, 1};
    static const int answer[ELEMENTS] = {0, 0, 0, 1, 1, 0};
    uint64_t values[ELEMENTS];
    size_t indices[ELEMENTS + 1], found;
    word value = bound(t);
    int cmp = CMPS[c];

    for (size_t i = 0; i < ELEMENTS; i++)
        t->store(vars, i, i == 0 || i == 3 || i == 4 ? after(t, c) : before(t, c));
    indices[ELEMENTS] = 77;
    found = t->wait_until_any(vars, ELEMENTS, status, cmp, value);
    expect_indices(t, &found, 1, answer, "wait_until_any");
    found = t->test_any(vars, ELEMENTS, status, cmp, value);
    expect_indices(t, &found, 1, answer, "test_any");
    found = t->wait_until_some(vars, ELEMENTS, indices, status, cmp, value);
    EXPECT(t, c, found, (size_t)2, "wait_until_some");
    expect_indices(t, indices, found, answer, "wait_until_some");
    found = t->test_some(vars, ELEMENTS, indices, status, cmp, value);
    EXPECT(t, c, found, (size_t)2, "test_some");
    expect_indices(t, indices, found, answer, "test_some");
    EXPECT(t, c, t->test_all(vars, ELEMENTS, status, cmp, value), 0, "test_all, three false");
    EXPECT(t, c, t->test_all(vars, ELEMENTS, NULL, cmp, value), 0, "test_all without status");
    EXPECT(t, c, t->test_all(vars, ELEMENTS, only_true, cmp, value), 1, "test_all of the true");
    EXPECT(t, c, t->test_any(vars, ELEMENTS, only_false, cmp, value), SIZE_MAX,
           "test_any of the false");
    t->wait_until_all(vars, ELEMENTS, only_true, cmp, value);

    // All variables the same; only the vector differs. LT and GT, LE and GE change sides.
    word far_above = after(t, c) + (c == 4 || c == 5 ? 3 : -3);
    store_vector(t, vars, c == 0 || c == 1 ? bound(t) : after(t, c));
    for (size_t i = 0; i < ELEMENTS; i++) {
        word true_value = c == 0 ? bound(t) : c == 1 ? bound(t) + 1 : far_above;
        word false_value = c == 0 ? bound(t) + 1
                           : c == 1 ? bound(t)
                                    : after(t, c) + (c == 4 || c == 5 ? -1 : 1);
        t->store(values, i, i == 0 || i == 3 || i == 4 ? true_value : false_value);
    }
    found = t->wait_until_any_vector(vars, ELEMENTS, status, cmp, values);
    expect_indices(t, &found, 1, answer, "wait_until_any_vector");
    found = t->test_any_vector(vars, ELEMENTS, status, cmp, values);
    expect_indices(t, &found, 1, answer, "test_any_vector");
    found = t->wait_until_some_vector(vars, ELEMENTS, indices, status, cmp, values);
    EXPECT(t, c, found, (size_t)2, "wait_until_some_vector");
    expect_indices(t, indices, found, answer, "wait_until_some_vector");
    found = t->test_some_vector(vars, ELEMENTS, indices, status, cmp, values);
    EXPECT(t, c, found, (size_t)2, "test_some_vector");
    expect_indices(t, indices, found, answer, "test_some_vector");
    EXPECT(t, c, t->test_all_vector(vars, ELEMENTS, status, cmp, values), 0, "test_all_vector");
    EXPECT(t, c, t->test_all_vector(vars, ELEMENTS, only_true, cmp, values), 1,
           "test_all_vector of the true");
    t->wait_until_all_vector(vars, ELEMENTS, only_true, cmp, values);
    CHECK(indices[ELEMENTS] == 77, "%s: wrote more than nelems indices", t->name);
}

// Checks that a series of calls returns each of several elements that hold (without any mask).
static void all_turns_come(const struct sync *t, void *vars)
{
    uint64_t values[ELEMENTS];
    int seen[4][ELEMENTS] = {{0}};

    store_vector(t, vars, 9);
    store_vector(t, values, 9);
    for (int call = 0; call < 64 * ELEMENTS; call++) {
        seen[0][t->wait_until_any(vars, ELEMENTS, NULL, SHMEM_CMP_EQ, 9)] = 1;
        seen[1][t->test_any(vars, ELEMENTS, NULL, SHMEM_CMP_EQ, 9)] = 1;
        seen[2][t->wait_until_any_vector(vars, ELEMENTS, NULL, SHMEM_CMP_EQ, values)] = 1;
        seen[3][t->test_any_vector(vars, ELEMENTS, NULL, SHMEM_CMP_EQ, values)] = 1;
    }
    for (int routine = 0; routine < 4; routine++)
        for (int i = 0; i < ELEMENTS; i++)
            CHECK(seen[routine][i],
                  "%s: element %d holds, but %d calls of %s never returned it", t->name, i,
                  64 * ELEMENTS,
                  routine == 0   ? "wait_until_any"
                  : routine == 1 ? "test_any"
                  : routine == 2 ? "wait_until_any_vector"
                                 : "test_any_vector");
}

static void pause_a_little(void)
{
    const struct timespec moment = {0, 30000};
    nanosleep(&moment, NULL);
}

// Changes the right neighbour's elements 1 and 4 while it waits for them.
static void set_right(const struct sync *t, void *vars, word value, size_t index)
{
    t->set((char *)vars + index * t->size, value, (me + 1) % npes);
}

// Element 0 holds from the start; of the others, 1 and 4 are waited for.
static const int ONLY_1_AND_4[ELEMENTS] = {1, 0, 1, 1, 0, 1};

// Waits by one of the routines that look at one element or at all of them.
static void wait_for_all_by(const struct sync *t, void *vars, int c, int routine)
{
    uint64_t values[ELEMENTS];
    void *var1 = (char *)vars + t->size, *var4 = (char *)vars + 4 * t->size;
    word value = bound(t);
    int cmp = CMPS[c];

    store_vector(t, values, value);
    switch (routine) {
    case 0:
        t->wait_until(var1, cmp, value);
        t->wait_until(var4, cmp, value);
        break;
    case 1:
        t->wait_until_all(vars, ELEMENTS, ONLY_1_AND_4, cmp, value);
        break;
    case 2:
        t->wait_until_all_vector(vars, ELEMENTS, ONLY_1_AND_4, cmp, values);
        break;
    case 3:
        while (!t->test(var1, cmp, value) || !t->test(var4, cmp, value))
            continue;
        break;
    case 4:
        while (!t->test_all(vars, ELEMENTS, ONLY_1_AND_4, cmp, value))
            continue;
        break;
    default:
        while (!t->test_all_vector(vars, ELEMENTS, ONLY_1_AND_4, cmp, values))
            continue;
    }
}

// Waits by one of the routines that return indices; writes them, at least one, and returns how many.
static size_t wait_for_some_by(const struct sync *t, void *vars, int c, int routine,
                               const int *status, size_t *indices)
{
    uint64_t values[ELEMENTS];
    size_t found = 1;
    word value = bound(t);
    int cmp = CMPS[c];

    store_vector(t, values, value);
    switch (routine) {
    case 6:
        indices[0] = t->wait_until_any(vars, ELEMENTS, status, cmp, value);
        break;
    case 7:
        indices[0] = t->wait_until_any_vector(vars, ELEMENTS, status, cmp, values);
        break;
    case 8:
        found = t->wait_until_some(vars, ELEMENTS, indices, status, cmp, value);
        break;
    case 9:
        found = t->wait_until_some_vector(vars, ELEMENTS, indices, status, cmp, values);
        break;
    case 10:
        while ((indices[0] = t->test_any(vars, ELEMENTS, status, cmp, value)) == SIZE_MAX)
            continue;
        break;
    case 11:
        while ((indices[0] = t->test_any_vector(vars, ELEMENTS, status, cmp, values)) == SIZE_MAX)
            continue;
        break;
    case 12:
        while ((found = t->test_some(vars, ELEMENTS, indices, status, cmp, value)) == 0)
            continue;
        break;
    default:
        while ((found = t->test_some_vector(vars, ELEMENTS, indices, status, cmp, values)) == 0)
            continue;
    }
    CHECK(found >= 1, "%s, routine %d: returned no element", t->name, routine);
    return found;
}

// Waits by one of the routines until elements 1 and 4 have been set by the left neighbour.
static void wait_by(const struct sync *t, void *vars, int c, int routine)
{
    int status[ELEMENTS];
    size_t indices[ELEMENTS], found;

    if (routine < 6) {
        wait_for_all_by(t, vars, c, routine);
        return;
    }
    memcpy(status, ONLY_1_AND_4, sizeof status);
    for (size_t left_to_see = 2; left_to_see > 0; left_to_see -= found) {
        found = wait_for_some_by(t, vars, c, routine, status, indices);
        CHECK(found <= left_to_see, "%s, routine %d: returned %zu elements of %zu", t->name,
              routine, found, left_to_see);
        for (size_t i = 0; i < found; i++) {
            CHECK(indices[i] < ELEMENTS && status[indices[i]] == 0,
                  "%s, routine %d: returned element %zu, which is excluded", t->name, routine,
                  indices[i]);
            status[indices[i]] = 1;
        }
    }
}

static void blocking(const struct sync *t, void *vars, int c)
{
    word set = after(t, c);

    for (int routine = 0; routine < 14; routine++) {
        for (size_t i = 0; i < ELEMENTS; i++)
            t->store(vars, i, i == 0 ? set : before(t, c));
        shmem_barrier_all();
        if ((me + routine) % 2 == 0 && npes > 1) {
            // This PE lets its neighbour wait, then sets and waits itself.
            pause_a_little();
            set_right(t, vars, set, routine % 3 == 0 ? 1 : 4);
            pause_a_little();
            set_right(t, vars, set, routine % 3 == 0 ? 4 : 1);
        } else {
            set_right(t, vars, set, 4);
            set_right(t, vars, set, 1);
        }
        wait_by(t, vars, c, routine);
        CHECK(t->test((char *)vars + t->size, CMPS[c], bound(t))
                  && t->test((char *)vars + 4 * t->size, CMPS[c], bound(t)),
              "%s, routine %d returned although %s does not hold", t->name, routine, CMP_NAMES[c]);
        shmem_barrier_all();
    }
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    void *on_heap = shmem_malloc(sizeof in_bss);
    CHECK(on_heap != NULL, "shmem_malloc returned NULL");
    void *const objects[] = {on_heap, in_bss, in_data};

    for (size_t i = 0; i < COUNT_OF(TYPES); i++) {
        const struct sync *t = &TYPES[i];
        immediate(t, objects[i % 3]);
        for (int c = 0; c < COMPARISONS; c++) {
            empty(t, objects[c % 3], c);
            masks(t, objects[c % 3], c);
            // With many PEs two comparisons a type are enough.
            if (npes <= 3 || ((size_t)c + i) % 3 == 0)
                blocking(t, objects[(i + (size_t)c) % 3], c);
        }
        all_turns_come(t, objects[i % 3]);
    }
    shmem_barrier_all();
    shmem_free(on_heap);
    shmem_finalize();
    return 0;
}
