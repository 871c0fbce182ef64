/* sampling.c - sets the sampling options of kin record and kin top. */
#include "cli/sampling.h"

#include <dirent.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/arg.h"
#include "record/record.h"

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

/* Adds all processes of a user, given by name or number. */
static bool take_user(const char *arg, struct pid_list *ret, char error[512])
{
	const struct passwd *user = getpwnam(arg);
	uint64_t uid = user ? user->pw_uid : 0;
	size_t before = ret->at.n;
	if (!user && !arg_u64(arg, 0, UINT32_MAX, &uid))
		return arg_bad("-u", arg, "a user's name or number", error);
	DIR *d = opendir("/proc");
	for (struct dirent *e; d && (e = readdir(d));) {
		struct stat st;
		uint64_t pid;
		if (arg_u64(e->d_name, 1, INT32_MAX, &pid) && pid != (uint64_t)getpid() &&
		    !fstatat(dirfd(d), e->d_name, &st, 0) && st.st_uid == uid)
			vec_push(&ret->at, (pid_t)pid);
	}
	if (d)
		closedir(d);
	if (ret->at.n == before)
		snprintf(error, 512, "-u %.80s: nothing of that user runs", arg);
	return ret->at.n > before;
}

/* "0-3,8" */
static bool take_cpus(const char *arg, struct cpu_list *ret, char error[512])
{
	static const char what[] = "a list of CPUs: 0-3,8";
	long most = sysconf(_SC_NPROCESSORS_CONF);
	for (const char *s = arg;; s++) {
		char *end;
		long first = strtol(s, &end, 10), last = first;
		if (end == s || first < 0)
			return arg_bad("-C", arg, what, error);
		if (*end == '-') {
			s = end + 1;
			last = strtol(s, &end, 10);
		}
		if (end == s || last < first || (*end && *end != ','))
			return arg_bad("-C", arg, what, error);
		if (last >= most) {
			snprintf(error, 512, "-C %.80s: this machine has CPUs 0 to %ld", arg,
				 most - 1);
			return false;
		}
		for (; first <= last; first++)
			vec_push(&ret->at, (int)first);
		s = end;
		if (!*s)
			return true;
	}
}

/* A number of pages, or bytes with a unit, which are rounded up to a power of two pages. */
static bool take_buffers(const char *arg, uint64_t *ret, char error[512])
{
	uint64_t n, page = (uint64_t)sysconf(_SC_PAGESIZE), size = page;
	if (strchr(arg, ',')) {
		snprintf(error, 512,
			 "-m %.80s: traces by the hardware (AUX) are not recorded: one number",
			 arg);
		return false;
	}
	if (arg_u64(arg, 1, UINT32_MAX, &n))
		n *= page;
	else if (!arg_size(arg, &n))
		return arg_bad("-m", arg, "a number of pages, or a size as 512K or 8M", error);
	while (size < n)
		size *= 2;
	*ret = size;
	return size <= (1u << 30) || arg_bad("-m", arg, "a buffer size up to 1G per CPU", error);
}

static bool take_frequency(const char *arg, uint64_t *ret, char error[512])
{
	uint64_t most = record_max_rate();
	if (!strcmp(arg, "max") && most) {
		*ret = most;
		return true;
	}
	return arg_u64(arg, 1, 1000000, ret) ||
	       arg_bad("-F", arg, "a number of samples per second from 1 to 1000000, or max",
		       error);
}

void sampling_add_events(char **events, const char *arg)
{
	char *joined = *events ? xprintf("%s,%s", *events, arg) : xprintf("%s", arg);
	free(*events);
	*events = joined;
}

bool sampling_set(struct sampling *s, int id, const char *arg, char error[512])
{
	switch (id) {
	case SAMPLING_PID:
		return take_ids("-p", arg, &s->pids, error);
	case SAMPLING_TID:
		return take_ids("-t", arg, &s->tids, error);
	case SAMPLING_ALL:
		s->everything = true;
		break;
	case SAMPLING_EVENT:
		sampling_add_events(&s->events, arg);
		break;
	case SAMPLING_FREQUENCY:
		return take_frequency(arg, &s->frequency, error);
	case SAMPLING_PERIOD:
		return arg_u64(arg, 1, UINT64_C(1) << 62, &s->period) ||
		       arg_bad("-c", arg, "a number of events per sample, from 1 on", error);
	case SAMPLING_USER:
		return take_user(arg, &s->pids, error);
	case SAMPLING_CPU:
		return take_cpus(arg, &s->cpus, error);
	case SAMPLING_NO_INHERIT:
		s->no_inherit = true;
		break;
	case SAMPLING_CGROUP:
		s->cgroup = arg;
		break;
	case SAMPLING_BUFFERS:
		return take_buffers(arg, &s->buffer_bytes, error);
	}
	return true;
}

const char *sampling_conflict(const struct sampling *s)
{
	if (s->cgroup && sampling_attaches(s))
		return "-G is a part of the whole machine: without -p, -t and -u";
	if (s->cgroup && !s->everything && !s->cpus.at.n)
		return "-G is a part of the whole machine: -a, too";
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
	vec_free(&s->cpus.at);
	free(s->events);
}
