/* The four routines that pass a long double by value: Rust has no such type. The value goes through
 * memory, 16 bytes, to and from the routines of longdouble.rs. */

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
