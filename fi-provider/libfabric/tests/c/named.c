// By libfabric: address vectors that processes share by their names.
#include "pair.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

static char name[40], text[] = "message";
static struct fid_av *vector;
static struct fi_av_attr attr;

static int open_vector(uint64_t flags) {
    attr = (struct fi_av_attr){.type = FI_AV_TABLE, .name = name, .flags = flags};
    return fi_av_open(domain, &attr, &vector, NULL);
}

// Returns the path of the file that holds the vector.
static const char *path(void) {
    static char all[200];
    int len = sprintf(all, "/dev/shm/farreach-%d-", (int)geteuid());
    for (const char *at = name; *at; at++)
        len += sprintf(all + len, "%02x", (unsigned)*at);
    return all;
}

// Opens an endpoint with the shared vector.
static struct fid_ep *endpoint(char *address) {
    struct fid_ep *one;
    size_t len = 64;
    OK(fi_endpoint(domain, info, &one, NULL) || fi_ep_bind(one, &vector->fid, 0));
    OK(fi_ep_bind(one, &tx->fid, FI_TRANSMIT) || fi_ep_bind(one, &rx->fid, FI_RECV));
    OK(fi_enable(one) || fi_getname(&one->fid, address, &len));
    return one;
}

// Takes a message, which is from this number.
static void expect(fi_addr_t from) {
    struct fi_cq_tagged_entry entry;
    fi_addr_t source = 77;
    CHECK(fi_cq_sreadfrom(rx, &entry, 1, &source, NULL, 10000) == 1 && source == from);
}

// Has a process open a vector, and kills it.
static void kill_one(void) {
    int ends[2];
    char byte = 0;
    OK(pipe(ends));
    pid_t victim = fork();
    if (victim == 0) {
        struct fi_info *hints = fi_allocinfo();
        hints->fabric_attr->prov_name = strdup("farreach");
        OK(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info));
        OK(fi_fabric(info->fabric_attr, &fabric, NULL) || fi_domain(fabric, info, &domain, NULL));
        OK(open_vector(0));
        CHECK(write(ends[1], &byte, 1) == 1);
        for (;;)
            pause();
    }
    close(ends[1]);
    CHECK(read(ends[0], &byte, 1) == 1);
    close(ends[0]);
    OK(access(path(), F_OK));
    OK(kill(victim, SIGKILL));
    CHECK(waitpid(victim, NULL, 0) == victim);
    OK(access(path(), F_OK));
}

int main(void) {
    char own[64] = {0}, theirs[64], third[64] = {0}, found[64], into[64];
    size_t len = sizeof found;
    fi_addr_t number[2] = {77, 77};
    sprintf(name, "vector/%d", (int)getpid());
    kill_one();
    begin(FI_MSG | FI_SOURCE | FI_DIRECTED_RECV | FI_SHARED_AV, FI_WAIT_UNSPEC);
    CHECK(info->caps & FI_SHARED_AV && info->domain_attr->caps & FI_SHARED_AV);

    // A vector that is to be read has a name, and is there.
    CHECK(fi_av_open(domain, &(struct fi_av_attr){.flags = FI_READ}, &vector, NULL) == -FI_EINVAL);
    CHECK(open_vector(FI_READ) == -FI_ENOENT);
    meet();
    if (leads)
        OK(open_vector(0));
    meet();
    if (!leads)
        OK(open_vector(FI_READ));
    fi_addr_t *numbers = attr.map_addr;
    CHECK(numbers);
    struct fid_ep *one = endpoint(own), *other_one = NULL;
    swap(own, theirs, sizeof own);

    // One process inserts, and both send to those numbers and get messages from them.
    if (leads) {
        CHECK(fi_av_insert(vector, own, 1, number, 0, NULL) == 1 && number[0] == 0);
        CHECK(fi_av_insert(vector, theirs, 1, NULL, 0, NULL) == 1);
    } else {
        CHECK(fi_av_insert(vector, own, 1, number, 0, NULL) == -FI_EACCES);
        CHECK(fi_av_remove(vector, &(fi_addr_t){0}, 1, 0) == -FI_EACCES);
    }
    meet();
    CHECK(numbers[0] == 0 && numbers[1] == 1);
    OK(fi_recv(one, into, sizeof into, NULL, FI_ADDR_UNSPEC, NULL));
    POST(fi_inject(one, text, sizeof text, leads));
    expect(leads);
    CHECK(strcmp(into, text) == 0);
    OK(fi_av_lookup(vector, !leads, found, &len) || memcmp(found, own, 60));

    // A message of a peer that is inserted after it has come.
    if (leads) {
        other_one = endpoint(third);
        POST(fi_inject(other_one, text, sizeof text, 1));
        POST(fi_inject(one, text, sizeof text, 1));
    } else {
        OK(fi_recv(one, into, sizeof into, NULL, 0, NULL));
        expect(0);
    }
    meet();
    if (leads)
        CHECK(fi_av_insert(vector, third, 1, number, 0, NULL) == 1 && number[0] == 2);
    meet();
    if (!leads) {
        OK(fi_recv(one, into, sizeof into, NULL, 2, NULL));
        expect(2);
    }
    meet();

    // A number that was removed is not given again.
    if (leads) {
        OK(fi_av_remove(vector, number, 1, 0));
        CHECK(fi_av_insert(vector, third, 1, number, 0, NULL) == 1 && number[0] == 3);
    }
    meet();
    CHECK(numbers[2] == FI_ADDR_NOTAVAIL && numbers[3] == 3);
    OK(fi_av_lookup(vector, 3, found, &len));
    CHECK(fi_av_lookup(vector, 2, found, &len) == -FI_EINVAL);
    meet();

    // It lasts as long as somebody has it open.
    CHECK(fi_close(&vector->fid) == -FI_EBUSY);
    OK(fi_close(&one->fid) || (other_one && fi_close(&other_one->fid)));
    if (leads)
        OK(fi_close(&vector->fid));
    meet();
    if (!leads) {
        OK(access(path(), F_OK));
        struct fid_av *before = vector;
        OK(open_vector(0) || fi_av_lookup(vector, 3, found, &len));
        OK(fi_close(&before->fid) || fi_close(&vector->fid));
    }
    meet();
    CHECK(access(path(), F_OK) && open_vector(FI_READ) == -FI_ENOENT);
    meet();
    if (leads) {
        // A file that others may write, and a name that is too long.
        int file = open(path(), O_CREAT | O_RDWR, 0600);
        OK(fchmod(file, 0666) || close(file));
        CHECK(open_vector(0) == -FI_EACCES && open_vector(FI_READ) == -FI_EACCES);
        OK(unlink(path()));
        char longer[102];
        memset(longer, 'x', 101), longer[101] = 0;
        struct fi_av_attr wrong = {.name = longer};
        CHECK(fi_av_open(domain, &wrong, &vector, NULL) == -ENAMETOOLONG);
    }
    OK(fi_close(&ep->fid));
    if (leads) {
        // The file of a process that was killed is replaced, and goes when any vector is opened.
        for (int by_name = 0; by_name < 2; by_name++) {
            sprintf(name, "killed %d", (int)getpid());
            kill_one();
            if (!by_name)
                sprintf(name, "other %d", (int)getpid());
            OK(open_vector(0));
            CHECK(fi_av_lookup(vector, 0, found, &len) == -FI_EINVAL);
            OK(fi_close(&vector->fid));
            sprintf(name, "killed %d", (int)getpid());
            CHECK(access(path(), F_OK));
        }
    }
    return end();
}
