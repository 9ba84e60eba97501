// Counts the words of text files, in a hash table that is spread over the memory of all PEs.
//
//   oshrun -n 4 examples/c/wordcount.c [--top K] [--slots N] [--check | --serial] FILE...
//
// A word's hash says which PE keeps it and in which slot. Any PE enters any word there by itself, with atomics:
// compare-and-swap claims an empty slot for one PE alone, fetch-and-add counts. The owner has nothing to do.
// run: np=1,2,3,4,16 expect-stderr="agrees" args=--check README.md CONTRIBUTING.md LICENSE-APACHE docs/critical-path.md
// run: np=2,4 expect-stderr="agrees" args=--check --slots 2000 --top 3 README.md README.md README.md README.md
// run: np=3 expect-exit=2 expect-stderr="usage: wordcount" args=--check
// run: np=3 expect-exit=1 expect-stderr="no-such-file: No such file" args=README.md no-such-file
// run: np=3 expect-exit=1 expect-stderr="no slot is free" args=--slots 2 README.md

#define _POSIX_C_SOURCE 200809L // fseeko
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST = 47 }; // bytes; longer words are cut

typedef struct {
    uint64_t state; // EMPTY, then the word's hash (even), then that + READY as soon as the word can be read
    uint64_t count;
    char word[LONGEST + 1];
} Entry;

enum { EMPTY = 0, READY = 1 };

typedef struct {
    Entry *entries;
    size_t length, room;
} List; // in the private memory of one PE

static int me, npes;
static Entry *table; // symmetric: this PE's part of the hash table
static size_t slots = 65536, top = 10;
static List serial; // the count without the table, on PE 0 only

static void die(const char *what, const char *why)
{
    fprintf(stderr, "wordcount: PE %d: %s: %s\n", me, what, why);
    shmem_global_exit(EXIT_FAILURE); // ends all PEs
}

// Returns the FNV-1a hash with a stronger end; never odd, never EMPTY.
static uint64_t hash_of(const char *word)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *word != '\0'; word++)
        hash = (hash ^ (unsigned char)*word) * UINT64_C(0x100000001b3);
    hash = (hash ^ hash >> 29) * UINT64_C(0x9e3779b97f4a7c15);
    return hash < 2 ? 2 : hash & ~(uint64_t)READY;
}

static void count_in_table(const char *word)
{
    uint64_t hash = hash_of(word), place = hash / 2;
    int owner = (int)(place % (uint64_t)npes);
    size_t at = (size_t)(place / (uint64_t)npes % slots);
    for (size_t tried = 0; tried < slots; tried++, at = (at + 1) % slots) {
        Entry *slot = &table[at];
        uint64_t state = shmem_uint64_atomic_compare_swap(&slot->state, EMPTY, hash, owner);
        if (state == EMPTY) { // it was free and now is mine
            shmem_putmem(slot->word, word, strlen(word) + 1, owner);
            shmem_fence(); // the word arrives before the state that announces it
            shmem_uint64_atomic_set(&slot->state, hash + READY, owner);
        } else {
            while (state == hash) // another PE is just writing the word
                state = shmem_uint64_atomic_fetch(&slot->state, owner);
            char present[LONGEST + 1];
            if (state != hash + READY)
                continue; // a word with another hash: try the next slot
            shmem_getmem(present, slot->word, sizeof present, owner);
            if (strcmp(present, word) != 0)
                continue; // another word with the same hash
        }
        shmem_uint64_atomic_fetch_add(&slot->count, 1, owner);
        return;
    }
    die(word, "no slot is free for this word; make the table larger with --slots");
}

static void append(List *list, const char *word, uint64_t count)
{
    if (list->length == list->room) {
        list->room = 2 * list->room + 1024;
        list->entries = realloc(list->entries, list->room * sizeof *list->entries);
        if (!list->entries)
            die("list of words", "out of memory");
    }
    Entry *entry = &list->entries[list->length++];
    entry->count = count;
    strcpy(entry->word, word);
}

static void count_serially(const char *word) { append(&serial, word, 1); }

// Returns whether a byte is in a word: letters and digits, and all bytes of UTF-8's longer
// characters.
static int in_word(int c) { return c != EOF && (isalnum(c) || c >= 0x80); }

// Cuts a file into so many parts and calls use(word) for each word that begins in the given one.
static void read_words(const char *path, int part, int parts, void (*use)(const char *word))
{
    FILE *file = fopen(path, "r");
    if (!file || fseeko(file, 0, SEEK_END) != 0)
        die(path, strerror(errno));
    off_t size = ftello(file), at = size / parts * part, end = part + 1 < parts ? at + size / parts : size;
    int c = ' ';
    fseeko(file, at > 0 ? at - 1 : 0, SEEK_SET);
    if (at > 0)
        while (in_word(c = getc(file))) // the rest of a word that began in the part before
            at++;
    while (c != EOF) {
        while ((c = getc(file)) != EOF && !in_word(c))
            at++;
        if (c == EOF || at >= end)
            break;
        char word[LONGEST + 1] = "";
        size_t length = 0;
        for (; in_word(c); c = getc(file), length++)
            if (length < LONGEST)
                word[length] = (char)(c < 0x80 ? tolower(c) : c);
        at += (off_t)length + 1;
        use(word);
    }
    if (ferror(file))
        die(path, strerror(errno));
    fclose(file);
}

static int by_word(const void *a, const void *b) { return strcmp(((const Entry *)a)->word, ((const Entry *)b)->word); }

static int by_count(const void *a, const void *b)
{
    uint64_t x = ((const Entry *)a)->count, y = ((const Entry *)b)->count;
    return x != y ? (x < y) - (x > y) : by_word(a, b);
}

static void sort(List *list, int (*order)(const void *, const void *))
{
    if (list->length > 0)
        qsort(list->entries, list->length, sizeof *list->entries, order);
}

static void merge_equal_words(List *list)
{
    size_t kept = 0;
    sort(list, by_word);
    for (size_t i = 0; i < list->length; i++)
        if (kept > 0 && strcmp(list->entries[kept - 1].word, list->entries[i].word) == 0)
            list->entries[kept - 1].count += list->entries[i].count;
        else
            list->entries[kept++] = list->entries[i];
    list->length = kept;
}

// Fetches the words that all PEs have in their parts of the table.
static List gather(void)
{
    List list = {NULL, 0, 0};
    Entry *part = malloc(slots * sizeof *part);
    if (!part)
        die("gathering the table", "out of memory");
    for (int pe = 0; pe < npes; pe++) {
        shmem_getmem(part, table, slots * sizeof *part, pe);
        for (size_t i = 0; i < slots; i++)
            if (part[i].state != EMPTY)
                append(&list, part[i].word, part[i].count);
    }
    free(part);
    sort(&list, by_word);
    return list;
}

static int equal(List a, List b) // both sorted by word
{
    size_t i = 0, n = a.length == b.length ? a.length : 0;
    while (i < n && by_word(&a.entries[i], &b.entries[i]) == 0 && a.entries[i].count == b.entries[i].count)
        i++;
    return i == a.length && i == b.length;
}

static void print(List list)
{
    uint64_t total = 0;
    sort(&list, by_count);
    for (size_t i = 0; i < list.length; i++) {
        total += list.entries[i].count;
        if (i < top)
            printf("%8" PRIu64 "  %s\n", list.entries[i].count, list.entries[i].word);
    }
    printf("%" PRIu64 " words, %zu distinct\n", total, list.length);
}

// Reads the options; returns where the files begin in argv, or 0.
static int parse(int argc, char **argv, int *check, int *only_serial)
{
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        size_t *value = strcmp(argv[i], "--top") == 0 ? &top : strcmp(argv[i], "--slots") == 0 ? &slots : NULL;
        if (value && i + 1 < argc) {
            char *rest;
            long number = strtol(argv[++i], &rest, 10);
            if (*rest != '\0' || number < 1 || number > 1000000000)
                return 0;
            *value = (size_t)number;
        } else if (strcmp(argv[i], "--check") == 0)
            *check = 1;
        else if (strcmp(argv[i], "--serial") == 0)
            *only_serial = 1;
        else
            return 0;
    }
    return i < argc ? i : 0;
}

int main(int argc, char **argv)
{
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    int check = 0, only_serial = 0, right = 1, first = parse(argc, argv, &check, &only_serial);
    if (first == 0) {
        if (me == 0)
            fprintf(stderr, "usage: wordcount [--top K] [--slots N] [--check | --serial] FILE...\n"
                            "  --top K    print the K most frequent words (10)\n"
                            "  --slots N  size of the table: N distinct words a PE (65536)\n"
                            "  --check    count serially as well, and compare\n"
                            "  --serial   count serially, on PE 0 alone\n");
        shmem_finalize();
        return 2;
    }

    if (me == 0)
        for (int i = first; i < argc; i++) {
            if (access(argv[i], R_OK) != 0)
                die(argv[i], strerror(errno)); // here, so that not every PE says so
            if (check || only_serial)
                read_words(argv[i], 0, 1, count_serially);
        }
    merge_equal_words(&serial);

    table = shmem_calloc(slots, sizeof *table); // all zero, on all PEs before anybody returns
    if (!table)
        die("shmem_calloc", "no symmetric memory for so many slots; set SHMEM_SYMMETRIC_SIZE");
    if (!only_serial)
        for (int i = first; i < argc; i++)
            read_words(argv[i], me, npes, count_in_table);
    shmem_barrier_all(); // everything is counted

    if (me == 0) {
        List words = only_serial ? serial : gather();
        right = !check || equal(words, serial);
        print(words);
        if (check)
            fprintf(stderr, "wordcount: the serial count %s\n", right ? "agrees" : "DIFFERS");
    }
    shmem_free(table); // a barrier, too: nobody leaves while PE 0 still reads
    shmem_finalize();
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
