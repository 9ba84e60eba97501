// PEs that run different executables are told so in shmem_init, although their static data may be equally long. PE 1 goes on
// as a copy of this program whose last writable segment is 8 bytes longer.
// run: np=2,3 expect-exit=1 expect-stderr="PE 1: shmem_init: this PE runs another executable than PE 0"
#include <elf.h>
#include <fcntl.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARK "OTHER_EXECUTABLE"

/* Writes a copy of this program, with a longer .bss, to `path`. */
static int copy_longer(const char *path)
{
    int from = open("/proc/self/exe", O_RDONLY);
    int to = open(path, O_WRONLY | O_CREAT | O_EXCL, 0700);
    struct stat info;
    if (from < 0 || to < 0 || fstat(from, &info) != 0)
        return -1;
    char *image = malloc((size_t)info.st_size);
    if (!image || read(from, image, (size_t)info.st_size) != info.st_size)
        return -1;
    Elf64_Ehdr header;
    memcpy(&header, image, sizeof header);
    for (int i = header.e_phnum - 1; i >= 0; i--) {
        char *place = image + header.e_phoff + (size_t)i * sizeof(Elf64_Phdr);
        Elf64_Phdr segment;
        memcpy(&segment, place, sizeof segment);
        if (segment.p_type == PT_LOAD && segment.p_flags & PF_W) {
            segment.p_memsz += 8;
            memcpy(place, &segment, sizeof segment);
            break;
        }
    }
    int done = write(to, image, (size_t)info.st_size) == info.st_size;
    free(image);
    close(from);
    close(to);
    return done ? 0 : -1;
}

int main(int argc, char **argv)
{
    const char *rank = getenv("PMI_RANK"), *copy = getenv(MARK);
    if (copy) {
        unlink(copy);
    } else if (rank && strcmp(rank, "1") == 0) {
        char path[4096];
        const char *folder = getenv("TMPDIR");
        snprintf(path, sizeof path, "%s/longer", folder ? folder : "/tmp");
        if (copy_longer(path) != 0 || setenv(MARK, path, 1) != 0)
            return 3;
        execv(path, argv);
        return 4;
    }
    (void)argc;
    shmem_init();
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
