/*
 * The soak: eight processes in an all-to-all of writes, reads and atomics against a model, some of
 *   which are killed. soak SEED SECONDS It must be the program that `softhca run` starts: its
 *   parent is the device's process. It plays rounds of a few seconds. In each, workers do random
 *   operations (worker.c), some are killed and one is stopped for a while at random moments; in
 *   every second round the device's process is stopped for a second, too. Then the memory of all,
 *   killed ones included, is compared with the acknowledged and the issued operations.
 */
#define _GNU_SOURCE
#include "soak.h"
#include <dirent.h>
#include <infiniband/verbs.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

struct board *board;
struct window *windows[WORKERS];

static pid_t referee, workers[WORKERS];
static double begin;

/* The most seconds that survivors may take from being told to finish to their ends. */
#define PATIENCE 20

static void *shared(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(memory != MAP_FAILED);
	return memory;
}

static void pause_for(double time)
{
	struct timespec rest = { (time_t)time, (long)((time - (time_t)time) * 1e9) };
	nanosleep(&rest, NULL);
}

/* Returns the number of open files of the device's process. */
static int files_of_the_device(void)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/fd", getppid());
	DIR *directory = opendir(path);
	CHECK(directory);
	int count = 0;
	while (readdir(directory))
		count++;
	closedir(directory);
	return count;
}

/* Returns the resident memory of the device's process, in KiB. */
static long memory_of_the_device(void)
{
	char path[64], line[256];
	snprintf(path, sizeof path, "/proc/%d/status", getppid());
	FILE *file = fopen(path, "r");
	CHECK(file);
	long size = -1;
	while (fgets(line, sizeof line, file))
		sscanf(line, "VmRSS: %ld", &size);
	fclose(file);
	CHECK(size > 0);
	return size;
}

static void start_workers(uint64_t seed)
{
	memset(board, 0, sizeof *board);
	for (unsigned i = 0; i < WORKERS; i++)
		memset(windows[i], 0, sizeof *windows[i]);
	begin = seconds();
	for (unsigned i = 0; i < WORKERS; i++) {
		CHECK((workers[i] = fork()) >= 0);
		if (workers[i])
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != referee)
			exit(1);
		work(i, mix(seed + i));
		exit(0);
	}
}

static uint64_t acknowledged_by_all_to(unsigned to)
{
	uint64_t sum = 0;
	for (unsigned by = 0; by < WORKERS; by++)
		if (by != to && !board->doomed[by])
			sum += board->account[by][to].adds_acknowledged + board->account[by][to].writes_acknowledged;
	return sum;
}

/* Stops a worker for a while: operations of others on it go on. */
static void stop_one(uint64_t *random)
{
	unsigned who = draw(random) % WORKERS;
	if (board->doomed[who] || !board->connected[who])
		return;
	kill(workers[who], SIGSTOP);
	pause_for(0.1);
	uint64_t before = acknowledged_by_all_to(who);
	for (double end = seconds() + 5; acknowledged_by_all_to(who) == before;)
		if (seconds() > end)
			FAIL("nothing reaches worker %u while it is stopped", who);
		else
			pause_for(0.01);
	kill(workers[who], SIGCONT);
}

static void stop_the_device(void)
{
	kill(getppid(), SIGSTOP);
	pause_for(1);
	kill(getppid(), SIGCONT);
}

static void kill_one(unsigned who)
{
	board->doomed[who] = 1;
	kill(workers[who], SIGKILL);
}

/* Disturbs a round besides its work: at random moments, in order of time. */
static unsigned disturb(uint64_t *random, double length, int round)
{
	unsigned kills = draw(random) % 5, killed = 0;
	/* In one of four rounds the first is killed while all are still being set up. */
	if (kills && draw(random) % 4 == 0) {
		pause_for(draw(random) % 100 / 1e3);
		kill_one(draw(random) % WORKERS);
		killed++;
	}
	double step = length / (kills + 3);
	pause_for(step * (draw(random) % 100) / 100);
	stop_one(random);
	while (killed < kills) {
		pause_for(step * (draw(random) % 100) / 100);
		unsigned who = draw(random) % WORKERS;
		if (board->doomed[who])
			continue;
		kill_one(who);
		killed++;
		if (killed == 1 && round % 2 == 1)
			stop_the_device();
	}
	double left = begin + length - seconds();
	if (left > 0)
		pause_for(left);
	return killed;
}

/* Waits for all; survivors must end by themselves, and well. */
static void end_workers(void)
{
	board->finish = 1;
	double end = seconds() + PATIENCE;
	for (unsigned i = 0; i < WORKERS; i++) {
		int status;
		pid_t got;
		while ((got = waitpid(workers[i], &status, WNOHANG)) == 0) {
			if (seconds() > end)
				FAIL("worker %u hangs", i);
			pause_for(0.005);
		}
		CHECK(got == workers[i]);
		workers[i] = 0;
		if (board->doomed[i] ? !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL : status != 0)
			FAIL("worker %u ended with status %#x", i, status);
	}
}

static void judge_counter(const char *what, unsigned to, uint64_t found, uint64_t least, uint64_t most)
{
	if (found < least || found > most)
		FAIL("worker %u's counter of %s is %lu; %lu were acknowledged and %lu issued", to, what, found, least, most);
}

/* Compares a window with the accounts. */
static void judge(unsigned to)
{
	struct window *window = windows[to];
	uint64_t adds = 0, adds_most = 0, swaps = 0, swaps_most = 0;
	for (unsigned by = 0; by < WORKERS; by++) {
		struct account *account = &board->account[by][to];
		int sure = !board->doomed[by] && !board->doomed[to];
		uint64_t writes = account->writes_acknowledged;
		if (sure && (account->adds != account->adds_acknowledged || account->writes != writes || account->errors))
			FAIL("worker %u lacks answers of %u, and neither was killed", by, to);
		adds += account->adds_acknowledged;
		adds_most += account->adds;
		swaps += account->swaps_acknowledged;
		/* A survivor knows of its attempts to a survivor which have swapped. */
		swaps_most += sure ? account->swaps_acknowledged : account->swaps;
		if (window->mailbox[by] < writes || window->mailbox[by] > account->writes)
			FAIL("worker %u's mailbox of %u says %lu; %lu were acknowledged and %lu issued", to, by, window->mailbox[by], writes,
			     account->writes);
		for (unsigned slot = 0; slot < SLOTS; slot++)
			for (unsigned at = 0; at < WORDS; at++)
				check_word(by, to, slot, at, window->slots[by][slot][at], writes, account->writes);
	}
	judge_counter("additions", to, window->added, adds, adds_most);
	judge_counter("swaps", to, window->swapped, swaps, swaps_most);
}

/* Returns the number of open files of the device's process when nobody uses the device. */
static int files_at_rest(void)
{
	/* It answers this child when it has begun to serve. */
	pid_t child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		struct ibv_device **list = ibv_get_device_list(NULL);
		_exit(list && list[0] && ibv_open_device(list[0]) ? 0 : 1);
	}
	int status, files;
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	do {
		files = files_of_the_device();
		pause_for(0.1);
	} while (files_of_the_device() != files);
	return files;
}

/* Checks that the device's process has let go of all files that the workers had. */
static void judge_the_device(int files)
{
	for (double end = seconds() + 5; files_of_the_device() != files; pause_for(0.01))
		if (seconds() > end)
			FAIL("the device has %d open files, and had %d", files_of_the_device(), files);
}

static void totals(uint64_t sums[5])
{
	for (unsigned by = 0; by < WORKERS; by++)
		for (unsigned to = 0; to < WORKERS; to++) {
			struct account *account = &board->account[by][to];
			sums[0] += account->writes_acknowledged;
			sums[1] += account->reads;
			sums[2] += account->adds_acknowledged;
			sums[3] += account->swaps_acknowledged;
			sums[4] += account->errors;
		}
}

static void end_all(void)
{
	if (getpid() != referee)
		return;
	kill(getppid(), SIGCONT);
	for (unsigned i = 0; i < WORKERS; i++)
		if (workers[i] > 0)
			kill(workers[i], SIGKILL);
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: soak SEED SECONDS\n");
		return 2;
	}
	uint64_t random = strtoull(argv[1], NULL, 0), sums[5] = { 0 };
	double end = seconds() + atof(argv[2]);
	referee = getpid();
	atexit(end_all);
	board = shared(sizeof *board);
	for (unsigned i = 0; i < WORKERS; i++)
		windows[i] = shared(sizeof *windows[i]);
	int files = files_at_rest(), round = 0;
	unsigned killed = 0;
	long memory = 0;
	do {
		start_workers(draw(&random));
		killed += disturb(&random, 2 + draw(&random) % 100 / 50.0, round);
		end_workers();
		for (unsigned to = 0; to < WORKERS; to++)
			judge(to);
		judge_the_device(files);
		totals(sums);
		if (round == 0)
			memory = memory_of_the_device();
		round++;
	} while (seconds() < end);
	long grown = memory_of_the_device() - memory;
	if (grown > 16 << 10)
		FAIL("the device has grown by %ld KiB since the first round", grown);
	printf("%d rounds, %u killed: %lu writes, %lu reads, %lu additions, %lu swaps acknowledged, %lu errors\n", round, killed, sums[0],
	       sums[1], sums[2], sums[3], sums[4]);
	return 0;
}
