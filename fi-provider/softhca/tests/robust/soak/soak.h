/*
 * Parts that the workers and the referee of the soak share: the board, the windows, and the model
 * of the contents that a window must hold.
 *
 * Each worker has a window. In it every worker, the owner included, has a share of SLOTS slots.
 * Write number n of a worker goes to slot n % SLOTS of its share, from the slot's start, with a
 * length that follows from n. Each 8-byte word of it names the write and has a check sum, so that a
 * reader can tell of each word which write it is of, and whether it is whole.
 */
#ifndef SOAK_H
#define SOAK_H
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS = 8, SLOTS = 8, WORDS = 1024, MOST_ADDS = 1 << 20 };

/* A worker's memory that peers reach. */
struct window {
	_Atomic uint64_t added; /* fetch-and-add of 1 alone */
	_Atomic uint64_t swapped; /* compare-and-swap to one more */
	uint64_t unused[6];
	_Atomic uint64_t mailbox[WORKERS]; /* the number of the last write of each worker, written behind it */
	_Atomic uint64_t slots[WORKERS][SLOTS][WORDS];
};

/* Addresses by which a worker is reached. */
struct address {
	uint64_t base;
	uint32_t rkey, dctn, qpn[WORKERS];
	uint16_t lid;
};

/*
 * Counts of the operations of one worker on another: issued is counted before it is posted,
 * acknowledged after its completion was polled.
 */
struct account {
	_Atomic uint64_t adds, adds_acknowledged;
	_Atomic uint64_t swaps, swaps_acknowledged; /* attempts, and those that are known to have swapped */
	_Atomic uint64_t writes, writes_acknowledged;
	_Atomic uint64_t reads, errors;
};

/* Shared by all; the referee zeroes it before each round. */
struct board {
	struct address address[WORKERS];
	_Atomic int published[WORKERS], connected[WORKERS], drained[WORKERS], doomed[WORKERS];
	_Atomic int finish;
	struct account account[WORKERS][WORKERS]; /* by worker, to worker */
	_Atomic uint8_t fetched[WORKERS][MOST_ADDS]; /* the values that fetch-and-add gave: each once */
};

#define FAIL(...)                                                              \
	do {                                                                   \
		fprintf(stderr, "soak: " __VA_ARGS__);                         \
		fputc('\n', stderr);                                           \
		exit(1);                                                       \
	} while (0)
#define CHECK(condition)                                                       \
	do {                                                                   \
		if (!(condition))                                              \
			FAIL("%s:%d: %s (errno %m)", __FILE__, __LINE__, #condition); \
	} while (0)

static inline uint64_t mix(uint64_t x)
{
	/* splitmix64's finaliser: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014. */
	x += 0x9e3779b97f4a7c15;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static inline uint64_t draw(uint64_t *state)
{
	return mix((*state)++);
}

/* Returns the number of words of write n of `by` to `to`. */
static inline unsigned words_of(unsigned by, unsigned to, uint64_t n)
{
	static const unsigned most[] = { 1, 8, 64, 300, WORDS };
	uint64_t x = mix(n << 8 | by << 4 | to);
	return 1 + (x >> 8) % most[x % 5];
}

/* Returns word `at` of that write. */
static inline uint64_t word_of(unsigned by, unsigned to, uint64_t n, unsigned at)
{
	return n << 32 | (uint32_t)mix(n << 24 | (uint64_t)at << 8 | by << 4 | to);
}

/* Returns the latest write up to `last` that has word `at` of a slot; 0 when there is none. */
static inline uint64_t latest(unsigned by, unsigned to, unsigned slot, unsigned at, uint64_t last)
{
	uint64_t back = (last - slot) % SLOTS;
	if (last < back)
		return 0;
	for (uint64_t n = last - back; n > 0; n -= SLOTS) {
		if (words_of(by, to, n) > at)
			return n;
		if (n < SLOTS)
			break;
	}
	return 0;
}

/* Checks a word against the writes from `first` on that may be in it, up to `last`. */
static inline void check_word(unsigned by, unsigned to, unsigned slot, unsigned at, uint64_t word, uint64_t first, uint64_t last)
{
	uint64_t n = word >> 32;
	uint64_t least = latest(by, to, slot, at, first);
	if (n < least || n > last)
		FAIL("worker %u's window, slot %u of %u, word %u is of write %lu, not of %lu to %lu", to, slot, by, at, n, least, last);
	if (n == 0 ? word != 0 : n % SLOTS != slot || words_of(by, to, n) <= at || word != word_of(by, to, n, at))
		FAIL("worker %u's window, slot %u of %u, word %u is torn or not its own: %lx", to, slot, by, at, word);
}

static inline double seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

void work(unsigned self, uint64_t seed);

extern struct board *board;
extern struct window *windows[WORKERS];
#endif
