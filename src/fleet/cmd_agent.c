/* cmd_agent.c - records the machine all the time, and sends the recordings to a store every minute.
 *
 * There are two processes. One records, into a new file each minute, and never waits for anything.
 * The other one sends finished files. Only a folder connects them, so either may be killed at any
 * time. */
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/folder.h"
#include "cli/arg.h"
#include "cli/command.h"
#include "cli/fleet.h"
#include "cli/message.h"
#include "cli/sampling.h"
#include "fleet/push.h"
#include "fleet/push_options.h"
#include "fleet/spool.h"
#include "record/record.h"

static const char *const description[] = {
	"Records everything that runs on this machine, at a low rate, and sends it to a store (kin "
	"push) every minute. Idle processors are not recorded. While the store is away recordings "
	"wait in a folder of bounded size; when it is full the oldest are dropped, with a message. "
	"If the agent or the machine is stopped, the agent's next start sends what was recorded.",
	"It runs until SIGINT or SIGTERM, then sends the rest. Every hour and at the end it prints "
	"its own cost in processor time and memory. doc/examples/kin-agent.service runs it under "
	"systemd. Recording the whole machine takes root, or kernel.perf_event_paranoid=-1.",
	NULL,
};

static const struct example examples[] = {
	{ "kin agent http://db:8123/profiles --service=web --service-version=7",
	  "49 samples a second" },
	{ "kin agent -F 19 --every=10m --spool=/var/spool/kin http://db:8123/p", "less of it" },
	{ 0 },
};

enum {
	AGENT_FREQUENCY = PUSH_OPTIONS_END,
	AGENT_EVERY,
	AGENT_SPOOL,
	AGENT_SPOOL_SIZE,
	AGENT_EVENT
};

static const struct opt_group agent_options = {
	"Recording",
	(const struct opt[]){
		{ AGENT_FREQUENCY, 'F', "frequency", "HZ",
		  "samples per second of CPU time; default: 49" },
		{ AGENT_EVENT, 'e', "event", "EVENT",
		  "what is counted, as in kin record, may be repeated; usually cycles, or CPU "
		  "time" },
		{ AGENT_EVERY, 0, "every", "TIME", "send after that time: 60s (the default), 10m" },
		{ AGENT_SPOOL, 0, "spool", "DIRECTORY",
		  "where recordings wait; default: kin/spool in /var/spool for root, in ~/.cache "
		  "for "
		  "others",
		  NULL, COMPLETE_DIRECTORY },
		{ AGENT_SPOOL_SIZE, 0, "spool-size", "SIZE",
		  "as much as may wait: 500K, 2G; default: 256M" },
		{ 0 },
	},
};

static const struct opt_group *const options[] = { &push_options, &agent_options, &general_options,
						   NULL };

static bool set(struct settings *s, int id, const char *arg, char error[512])
{
	enum { DAY_S = 86400 };
	switch (id) {
	case AGENT_FREQUENCY:
		return arg_u64(arg, 1, 10000, &s->agent.frequency) ||
		       arg_bad("--frequency", arg, "a number from 1 to 10000", error);
	case AGENT_EVERY:
		return (arg_duration(arg, &s->agent.every_ns) && s->agent.every_ns >= 1000000000) ||
		       arg_bad("--every", arg, "a time of at least a second: 60s, 10m", error);
	case AGENT_SPOOL:
		s->agent.spool = arg;
		return true;
	case AGENT_SPOOL_SIZE:
		return arg_size(arg, &s->agent.spool_bytes) ||
		       arg_bad("--spool-size", arg, "a size: 500K, 2G", error);
	case AGENT_EVENT:
		sampling_add_events(&s->agent.events, arg);
		return true;
	}
	return push_options_set(s, id, arg, error);
}

/* ---- resources used ---- */

struct agent_cost {
	uint64_t began_ns, told_ns;
	uint64_t samples, rows, files, lost;
};

/* "0.4 % of a core, 31 MB" */
static char *cost_in_words(int who, uint64_t began_ns)
{
	struct rusage r;
	double passed_ns = (double)(clock_now_ns() - began_ns);
	getrusage(who, &r);
	return xprintf("%.2f %% of a core, %.0f MiB at most",
		       100 * (double)clock_cpu_ns(&r) / passed_ns, (double)r.ru_maxrss / 1024);
}

/* ---- the sender ---- */

struct sender {
	const struct settings *settings;
	struct spool *spool;
	struct push *push;
	struct agent_cost cost;
	uint64_t not_before_ns; /* no attempt before this time, because the store is away */
	unsigned failures;      /* number of failures in a row */
};

static void tell(struct sender *s)
{
	char *cost = cost_in_words(RUSAGE_SELF, s->cost.began_ns);
	message("agent",
		"sent %" PRIu64 " samples in %" PRIu64 " rows of %" PRIu64
		" recordings; %zu wait, %.1f MB; sending takes %s",
		s->cost.samples, s->cost.rows, s->cost.files, s->spool->files.n,
		(double)s->spool->bytes / 1e6, cost);
	free(cost);
	s->cost.told_ns = clock_now_ns();
}

/* Waits longer after each failure, up to a minute. */
static void store_is_away(struct sender *s, struct kin_error *err)
{
	enum { LONGEST = 6 };
	if (!s->failures++)
		message("agent", "%s; recordings wait in %s", kin_error_message(err),
			s->spool->folder);
	kin_error_free(err);
	unsigned n = s->failures < LONGEST ? s->failures : LONGEST;
	s->not_before_ns = clock_now_ns() + ((uint64_t)1 << n) * 1000000000;
}

static bool is_empty(const struct kin_error *err)
{
	return kin_error_kind(err) == KIN_ERROR_UNSUPPORTED; /* a minute without samples */
}

/* False: try again later. */
static bool send_file(struct sender *s, const char *path)
{
	struct push_result r;
	struct kin_error *err = push_file(s->push, path, &r);
	if (r.doubt)
		message("agent", "%s", r.doubt);
	free(r.doubt);
	if (err && kin_error_kind(err) == KIN_ERROR_OS) {
		store_is_away(s, err);
		return false;
	}
	if (err && !is_empty(err))
		message("agent", "%s is dropped: %s", path, kin_error_message(err));
	kin_error_free(err);
	if (s->failures)
		message("agent", "the store is there again");
	s->failures = 0;
	s->cost.files++;
	s->cost.samples += r.samples;
	s->cost.rows += r.rows;
	unlink(path);
	malloc_trim(0); /* give memory back until the next minute */
	return true;
}

static void send_all(struct sender *s, bool last)
{
	enum { FREE_BYTES = 16 << 20 };
	uint64_t lost = s->spool->n_lost;
	struct kin_error *err = spool_look(s->spool, FREE_BYTES);
	if (err) {
		message_error("agent", err);
		return;
	}
	if (s->spool->n_lost > lost)
		message("agent", "%" PRIu64 " recording%s dropped: there is no more room in %s",
			s->spool->n_lost - lost, s->spool->n_lost - lost == 1 ? " is" : "s are",
			s->spool->folder);
	if (!last && clock_now_ns() < s->not_before_ns)
		return;
	for (size_t i = 0; i < s->spool->files.n; i++)
		if (!send_file(s, s->spool->files.at[i].path))
			break;
}

/* Sends files until the recorder closes its end of the pipe. The memory threshold makes large
 * blocks, such as debug information, go back to the system when their file is closed. */
static void send_until_over(struct sender *s, int over)
{
	enum { HOUR = 3600, LARGE = 1 << 20 };
	mallopt(M_MMAP_THRESHOLD, LARGE);
	struct pollfd p = { .fd = over, .events = POLLIN };
	bool is_over = false;
	while (!is_over) {
		is_over = poll(&p, 1, 1000) > 0;
		send_all(s, is_over);
		if (clock_now_ns() - s->cost.told_ns > (uint64_t)HOUR * 1000000000)
			tell(s);
	}
	kin_error_free(spool_look(s->spool, 0));
	tell(s);
}

static pid_t start_sender(struct sender *s, int *over)
{
	int ends[2];
	if (pipe(ends))
		return -1;
	pid_t pid = fork();
	if (!pid) { /* this process only ends after the recorder, whatever signals the terminal or
		       systemd send to both */
		close(ends[1]);
		signal(SIGINT, SIG_IGN);
		signal(SIGTERM, SIG_IGN);
		signal(SIGHUP, SIG_IGN);
		send_until_over(s, ends[0]);
		_exit(EXIT_OK);
	}
	close(ends[0]);
	*over = ends[1];
	return pid;
}

/* ---- the recorder ---- */

static volatile sig_atomic_t told_to_stop;

static void stop(int signal_number)
{
	(void)signal_number;
	told_to_stop = 1;
}

/* Set when the recorder reports that it cannot continue, most likely because the disk is full. */
static bool is_stuck;

static void say(const char *line)
{
	message("agent", "%s", line);
	is_stuck = true;
}

/* Called about four times a second. Every minute it gives back memory that making unwind tables has
 * used. */
static bool is_over(void *arg, const struct record_seen *now)
{
	enum { TICKS = 240 };
	unsigned *ticks = arg;
	(void)now;
	if (++*ticks % TICKS == 0)
		malloc_trim(0);
	return told_to_stop || is_stuck;
}

/* A full disk is the only problem that goes away by itself: the sender or somebody else makes
 * room. */
static bool may_pass(const struct kin_error *err)
{
	return kin_error_errno(err) == ENOSPC || kin_error_errno(err) == EDQUOT;
}

static void say_trouble(const struct record_opts *opts, const struct kin_error *err)
{
	char *remedy = record_remedy(opts);
	bool refused = kin_error_errno(err) == EACCES || kin_error_errno(err) == EPERM;
	message("agent", "%s%s%s", kin_error_message(err), refused ? ": " : "",
		refused ? remedy : "");
	free(remedy);
}

/* Returns true if there is no point in trying again. *troubles: number of failed starts in a
 * row. */
static bool record_once(const struct settings *s, const char *output, unsigned *troubles,
			int *status)
{
	enum { BUFFER_BYTES = 512 << 10, TABLE_BYTES = 40 << 20 };
	unsigned ticks = 0;
	const struct record_watch watch = { .tick = is_over, .arg = &ticks };
	struct record_opts opts = {
		.events = s->agent.events,
		.frequency = s->agent.frequency ? s->agent.frequency : 49,
		.everything = true,
		.no_idle = true,
		.output = output,
		.buffer_bytes = BUFFER_BYTES,
		.table_bytes = TABLE_BYTES,
		.parts = { .every_ns = s->agent.every_ns, .silent = true },
		.watch = &watch,
		.say = say,
	};
	is_stuck = false;
	struct record_result r;
	bool not_executed;
	struct kin_error *err = record(&opts, &r, &not_executed);
	if (err) {
		bool over = !may_pass(err);
		if (over || !(*troubles)++)
			say_trouble(&opts, err);
		kin_error_free(err);
		*status = EXIT_ERROR;
		return over || told_to_stop;
	}
	*troubles = 0;
	record_audit_done(&r.audit);
	*status = r.finished ? EXIT_OK : EXIT_ERROR;
	return told_to_stop;
}

static int record_on(const struct settings *s, struct spool *spool)
{
	char *output = spool_output(spool);
	uint64_t began = clock_now_ns();
	unsigned troubles = 0;
	int status;
	spool_adopt(spool);
	while (!record_once(s, output, &troubles, &status)) {
		if (troubles <= 1)
			message("agent", "the recording ended early; it begins anew");
		sleep(1);
		spool_adopt(spool);
	}
	char *cost = cost_in_words(RUSAGE_SELF, began);
	message("agent", "recording took %s", cost);
	free(cost);
	free(output);
	return status;
}

/* ---- the command ---- */

static int run_agent(const struct settings *s, struct push *push, struct spool *spool)
{
	struct sender sender = { .settings = s,
				 .spool = spool,
				 .push = push,
				 .cost = { .began_ns = clock_now_ns(),
					   .told_ns = clock_now_ns() } };
	int over = -1, status;
	signal(SIGINT, stop);
	signal(SIGTERM, stop);
	signal(SIGHUP, stop);
	pid_t pid = start_sender(&sender, &over);
	if (pid < 0)
		return message_error("agent", err_os(errno, "cannot start a process"));
	int ret = record_on(s, spool);
	close(over);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return ret;
}

static char *usual_spool(void)
{
	return geteuid() ? folder_cache("spool") : xprintf("/var/spool/kin");
}

static struct kin_error *begin_spool(const struct settings *s, struct spool *ret)
{
	enum { USUAL_BYTES = 256 << 20 };
	char *folder = s->agent.spool ? xprintf("%s", s->agent.spool) : usual_spool();
	struct kin_error *err =
		folder ? spool_open(folder,
				    s->agent.spool_bytes ? s->agent.spool_bytes : USUAL_BYTES, ret)
		       : err_new(KIN_ERROR_USAGE,
				 "this user has no folder where recordings could wait: "
				 "name one with --spool");
	free(folder);
	return err;
}

static int cmd_agent(const struct settings *s)
{
	struct settings own = *s;
	struct store_url url;
	struct push_opts opts;
	struct spool spool;
	struct push *push = NULL;
	if (!own.agent.every_ns)
		own.agent.every_ns = (uint64_t)60 * 1000000000;
	if (s->data.at.n != 1) {
		message("agent", "where to? kin agent http://HOST:8123/DATABASE");
		return EXIT_USAGE;
	}
	struct kin_error *err = push_options_take(&own, &url, &opts);
	if (err)
		return message_error("agent", err);
	if (!own.push.service)
		opts.service = "machine";
	if (!opts.bucket_s)
		opts.bucket_s = 60;
	int status;
	if ((err = begin_spool(&own, &spool))) {
		status = message_error("agent", err);
	} else {
		err = push_new(&url, &opts, &push);
		status = err ? message_error("agent", err) : run_agent(&own, push, &spool);
		push_free(push);
		spool_done(&spool);
	}
	store_url_done(&url);
	return status;
}

const struct command agent_command = {
	.name = "agent",
	.group = COMMANDS_MANY,
	.is_in_fleet = true,
	.summary = AGENT_SUMMARY,
	.operands = "URL",
	.description = description,
	.options = options,
	.examples = examples,
	.exit_status =
		"0 when it was told to stop, 1 if it could not record or had to end early, 2 "
		"if the command line makes no sense.",
	.set = set,
	.run = cmd_agent,
};
