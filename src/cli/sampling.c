#include "cli/sampling.h"

#include <errno.h>
#include <stdlib.h>

#include "cli/arg.h"

static bool take_ids(const char *option, const char *arg, struct pid_list *ret, char error[512])
{
	for (const char *s = arg;; s++) {
		char *end;
		errno = 0;
		long v = strtol(s, &end, 10);
		if (end == s || errno || v <= 0 || v > INT32_MAX || (*end && *end != ','))
			return arg_bad(option, arg, "a number of a process or thread", error);
		vec_push(&ret->at, (pid_t)v);
		s = end;
		if (!*s)
			return true;
	}
}

static void add_events(struct sampling *s, const char *arg)
{
	char *joined = s->events ? xprintf("%s,%s", s->events, arg) : xprintf("%s", arg);
	free(s->events);
	s->events = joined;
}

bool sampling_set(struct sampling *s, int id, const char *arg, char error[512])
{
	static const char sense[] = "a number that makes sense here";
	switch (id) {
	case SAMPLING_PID:
		return take_ids("-p", arg, &s->pids, error);
	case SAMPLING_TID:
		return take_ids("-t", arg, &s->tids, error);
	case SAMPLING_ALL:
		s->everything = true;
		break;
	case SAMPLING_EVENT:
		add_events(s, arg);
		break;
	case SAMPLING_FREQUENCY:
		return arg_u64(arg, 1, 1000000, &s->frequency) || arg_bad("-F", arg, sense, error);
	case SAMPLING_PERIOD:
		return arg_u64(arg, 1, UINT64_C(1) << 62, &s->period) ||
		       arg_bad("-c", arg, sense, error);
	}
	return true;
}

const char *sampling_conflict(const struct sampling *s, bool has_command)
{
	if (has_command && sampling_attaches(s))
		return "a command, and processes that run already: one or the other";
	if (sampling_attaches(s) && s->everything)
		return "-a is everything: without -p and -t";
	if (s->frequency && s->period)
		return "-F and -c: one or the other";
	return NULL;
}

void sampling_done(struct sampling *s)
{
	vec_free(&s->pids.at);
	vec_free(&s->tids.at);
	free(s->events);
}
