/* Operations on long double for Rust, which has no such type: arithmetic, and the four routines
 * that pass one by value. The value goes through memory, 16 bytes, to and from the routines of
 * longdouble.rs. */

#include <stddef.h>

/* acc[i] = acc[i] OP other[i]. Of a number and a NaN the number is the greater and the lesser one. */
#define COMBINE(name, of)                                                                           \
    void farreach_longdouble_##name(long double *acc, const long double *other, size_t count);      \
    void farreach_longdouble_##name(long double *acc, const long double *other, size_t count)       \
    {                                                                                               \
        for (size_t i = 0; i < count; ++i) {                                                        \
            const long double a = acc[i], b = other[i];                                             \
            acc[i] = of;                                                                            \
        }                                                                                           \
    }

COMBINE(sum, a + b)
COMBINE(prod, a * b)
COMBINE(max, a >= b || b != b ? a : b)
COMBINE(min, a <= b || b != b ? a : b)

struct farreach_context;

extern void farreach_longdouble_p(long double *dest, const long double *value, int pe);
extern void farreach_ctx_longdouble_p(struct farreach_context *ctx, long double *dest,
                                      const long double *value, int pe);
extern void farreach_longdouble_g(long double *value, const long double *source, int pe);
extern void farreach_ctx_longdouble_g(struct farreach_context *ctx, long double *value,
                                      const long double *source, int pe);

void pshmem_longdouble_p(long double *dest, long double value, int pe);
void pshmem_ctx_longdouble_p(struct farreach_context *ctx, long double *dest, long double value,
                            int pe);
long double pshmem_longdouble_g(const long double *source, int pe);
long double pshmem_ctx_longdouble_g(struct farreach_context *ctx, const long double *source, int pe);

/* The names without p are weak, as those of all routines are. */
#define WEAK(name) extern __typeof__(p##name) name __attribute__((weak, alias("p" #name)))
WEAK(shmem_longdouble_p);
WEAK(shmem_ctx_longdouble_p);
WEAK(shmem_longdouble_g);
WEAK(shmem_ctx_longdouble_g);

void pshmem_longdouble_p(long double *dest, long double value, int pe)
{
    farreach_longdouble_p(dest, &value, pe);
}

void pshmem_ctx_longdouble_p(struct farreach_context *ctx, long double *dest, long double value,
                            int pe)
{
    farreach_ctx_longdouble_p(ctx, dest, &value, pe);
}

long double pshmem_longdouble_g(const long double *source, int pe)
{
    long double value = 0;
    farreach_longdouble_g(&value, source, pe);
    return value;
}

long double pshmem_ctx_longdouble_g(struct farreach_context *ctx, const long double *source, int pe)
{
    long double value = 0;
    farreach_ctx_longdouble_g(ctx, &value, source, pe);
    return value;
}
