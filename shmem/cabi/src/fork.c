/* _Fork of a static executable, which oshcc links with --undefined=_Fork,--wrap=_Fork: see crate shmem, fork.rs.
   Weak names, because other C libraries, and programs that are linked without those options, have no such symbols. */
#include <sys/types.h>

pid_t farreach_fork_by(pid_t (*fork)(void), int *threads);

extern pid_t __real__Fork(void) __attribute__((weak));

/* Guards the lists of threads of glibc 2.34 and later. */
extern int _dl_stack_cache_lock __attribute__((weak, visibility("hidden")));

pid_t __wrap__Fork(void)
{
    return farreach_fork_by(__real__Fork, &_dl_stack_cache_lock);
}
