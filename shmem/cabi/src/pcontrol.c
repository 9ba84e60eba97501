/* The routine with a variable number of arguments, which Rust cannot define. */

void pshmem_pcontrol(int level, ...);
void shmem_pcontrol(int level, ...) __attribute__((weak, alias("pshmem_pcontrol")));

void pshmem_pcontrol(int level, ...)
{
    (void)level;
}
