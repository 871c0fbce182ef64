/* api_filter.c - resolves names of threads, objects, events and times, and filters the profile by
 * them. */
#include "api/api_filter.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/search.h"
#include "base/wordlist.h"
#include "kin/kin.h"
#include "profile/filter.h"
#include "profile/sample_filter.h"
#include "profile/span.h"
#include "profile/threads.h"

enum { MOST_LISTED = 20 };

/* A kind of things that can be selected by name. */
struct filter_kind {
	const char *what;
	size_t first, n; /* range of ids with names */
	bool (*is)(const struct profile *p, uint32_t id, const char *name);
	char *(*name)(const struct profile *p, uint32_t id); /* to be freed; NULL: not listed */
};

static bool event_is(const struct profile *p, uint32_t id, const char *name)
{
	return event_is_called(strtab_get(p->strings, p->samples.events[id].name), name);
}

static char *event_name(const struct profile *p, uint32_t id)
{
	return xprintf("%s", strtab_get(p->strings, p->samples.events[id].name));
}

/* Whether `name` means the file: its path, or the end of the path from a slash on. */
static bool path_is(const char *path, const char *name)
{
	size_t n = strlen(path), k = strlen(name);
	return k && k <= n && !strcmp(path + n - k, name) &&
	       (k == n || name[0] == '/' || path[n - k - 1] == '/');
}

static bool object_is(const struct profile *p, objid id, const char *name)
{
	const char *path = strtab_get(p->strings, p->objects[id].path);
	return *path ? path_is(path, name) : !strcmp(name, "[unknown]");
}

static char *object_name(const struct profile *p, uint32_t id)
{
	const char *path = strtab_get(p->strings, p->objects[id].path);
	return *path ? xprintf("%s", path) : NULL;
}

static char *task_name(const struct profile *p, uint32_t id)
{
	const struct task *t = &p->samples.tasks[id];
	const char *comm = strtab_get(p->strings, t->comm);
	return t->tid ? xprintf("%s/%u", comm, t->tid) : xprintf("%s", comm);
}

static char *comm_name(const struct profile *p, uint32_t id)
{
	return xprintf("%s", strtab_get(p->strings, p->samples.tasks[id].comm));
}

static bool comm_is(const struct profile *p, uint32_t id, const char *name)
{
	return !strcmp(strtab_get(p->strings, p->samples.tasks[id].comm), name);
}

static struct kin_error *not_among(const char *what, const char *name, const char *list)
{
	return err_new(KIN_ERROR_USAGE, "no %s '%s' in the data; there are: %s", what, name, list);
}

/* The first distinct names of a kind, and whether there are more. */
struct known_names {
	char *at[MOST_LISTED];
	size_t n;
	bool more;
};

static void add_name(struct known_names *k, char *name)
{
	size_t i = 0;
	while (name && i < k->n && strcmp(k->at[i], name) != 0)
		i++;
	k->more |= name && i == MOST_LISTED;
	if (name && i == k->n && i < MOST_LISTED)
		k->at[k->n++] = name;
	else
		free(name);
}

/* Collects distinct names: threads may share the name of a command. */
static struct known_names names_of(const struct profile *p, const struct filter_kind *k)
{
	struct known_names ret = { 0 };
	for (size_t i = k->first; i < k->n && !ret.more; i++)
		add_name(&ret, k->name(p, (uint32_t)i));
	return ret;
}

static struct kin_error *unknown(const struct profile *p, const struct filter_kind *k,
				 const char *name)
{
	struct known_names names = names_of(p, k);
	char *list = xprintf("%s", "");

	for (size_t i = 0; i < names.n; i++) {
		char *longer = xprintf("%s%s%s", list, i ? ", " : "", names.at[i]);
		free(names.at[i]);
		free(list);
		list = longer;
	}
	char *all = xprintf("%s%s", list, names.more ? ", ..." : "");
	struct kin_error *err =
		names.n ? not_among(k->what, name, all)
			: err_new(KIN_ERROR_USAGE, "no %s '%s': the profile records none", k->what,
				  name);
	free(all);
	free(list);
	return err;
}

/* *ret: selected ids as an array of booleans; NULL if no names are given. */
static struct kin_error *choose(const struct profile *p, const struct filter_kind *k,
				const char *const *names, uint8_t **ret)
{
	*ret = NULL;
	if (!names || !names[0])
		return NULL;
	uint8_t *chosen = *ret = xalloc(k->n + 1);
	for (; *names; names++) {
		bool found = false;
		for (size_t i = 0; i < k->n; i++) {
			if (!k->is(p, (uint32_t)i, *names))
				continue;
			chosen[i] = found = true;
		}
		if (!found)
			return unknown(p, k, *names);
	}
	return NULL;
}

/* All data is of this program, so only its name is valid, and selects everything. */
static struct kin_error *check_program(const char *program, const char *const *names)
{
	for (; names && *names; names++)
		if (!path_is(program, *names))
			return not_among("object", *names, program);
	return NULL;
}

static struct kin_error *not_in_time(const char *text, struct time_range whole)
{
	enum { S = 1000000000, US = 1000 };
	return err_new(KIN_ERROR_USAGE,
		       "no sample in the time '%.80s': those of the data are from %" PRIu64
		       ".%06u to %" PRIu64 ".%06u s",
		       text, whole.from_ns / S, (unsigned)(whole.from_ns % S / US), whole.to_ns / S,
		       (unsigned)(whole.to_ns % S / US));
}

static struct kin_error *choose_time(const struct profile *p, const char *text,
				     struct profile_part *part)
{
	struct time_range r;

	if (!text)
		return NULL;
	struct time_range whole = span_of(p);
	struct kin_error *err = span_parse(text, p, whole, &r);
	if (err)
		return err;
	if (!span_overlaps(r, whole))
		return not_in_time(text, whole);
	part->from_ns = r.from_ns ? r.from_ns : 1;
	part->to_ns = r.to_ns == UINT64_MAX ? 0 : r.to_ns + 1;
	return NULL;
}

/* Keeps the tasks that are in both selections. */
static void take_both(uint8_t **tasks, uint8_t *others, size_t n)
{
	if (!*tasks || !others) {
		*tasks = *tasks ? *tasks : others;
		return;
	}
	for (size_t i = 0; i < n; i++)
		(*tasks)[i] &= others[i];
	free(others);
}

/* "3", or "0-7". */
static bool rank_is(const struct profile *p, uint32_t id, const char *name)
{
	uint64_t rank = p->ranks[id].rank, first, last;
	int end = 0;

	if (name[0] < '0' || name[0] > '9')
		return false;
	if (sscanf(name, "%" SCNu64 "-%" SCNu64 "%n", &first, &last, &end) == 2 && end &&
	    !name[end])
		return first <= rank && rank <= last;
	end = 0;
	return sscanf(name, "%" SCNu64 "%n", &first, &end) == 1 && !name[end] && rank == first;
}

static char *rank_name(const struct profile *p, uint32_t id)
{
	return xprintf("%" PRIu32, p->ranks[id].rank);
}

/* The tasks of the selected ranks; NULL if no ranks are given. */
static uint8_t *tasks_of_ranks(const struct profile *p, const uint8_t *ranks)
{
	uint8_t *tasks = ranks ? xalloc(p->samples.n_tasks + 1) : NULL;

	for (size_t i = 0; tasks && i < p->samples.n_tasks; i++) {
		uint32_t rank = p->samples.tasks[i].rank;
		tasks[i] = rank && ranks[COUNT_WHILE(p->n_ranks, k, p->ranks[k].rank < rank - 1)];
	}
	return tasks;
}

struct kin_error *filter_apply(struct profile **p, const struct kin_open_opts *o,
			       const char *program)
{
	const struct filter_kind threads = { "thread", 1, (*p)->samples.n_tasks, task_is,
					     task_name };
	const struct filter_kind comms = { "command", 1, (*p)->samples.n_tasks, comm_is,
					   comm_name };
	const struct filter_kind ranks = { "rank", 0, (*p)->n_ranks, rank_is, rank_name };
	const struct filter_kind objects = { "object", 1, (*p)->n_objects, object_is, object_name };
	const struct filter_kind events = { "event", 0, (*p)->samples.n_events, event_is,
					    event_name };
	uint8_t *tasks = NULL, *of_comms = NULL, *in_objects = NULL, *of_events = NULL;
	uint8_t *of_ranks = NULL;
	struct profile_part part = { 0 };

	struct kin_error *err =
		o->ranks && (*p)->spreads
			? err_new(KIN_ERROR_USAGE,
				  "the data is the sum over ranks, which tells them "
				  "apart no more: --rank takes their own recordings")
			: choose(*p, &threads, o->threads, &tasks);
	if (!err)
		err = choose(*p, &comms, o->comms, &of_comms);
	if (!err)
		err = choose(*p, &ranks, o->ranks, &of_ranks);
	if (!err)
		err = program ? check_program(program, o->objects)
			      : choose(*p, &objects, o->objects, &in_objects);
	if (!err)
		err = choose(*p, &events, o->events, &of_events);
	if (!err)
		err = choose_time(*p, o->time, &part);
	take_both(&tasks, of_comms, (*p)->samples.n_tasks);
	take_both(&tasks, tasks_of_ranks(*p, of_ranks), (*p)->samples.n_tasks);
	if (!err && (tasks || in_objects || of_events || o->time)) {
		part.tasks = tasks;
		part.objects = in_objects;
		part.events = of_events;
		part.ranks = of_ranks;
		struct profile *chosen = profile_filter(*p, &part);
		profile_free(*p);
		*p = chosen;
	}
	free(tasks);
	free(of_ranks);
	free(in_objects);
	free(of_events);
	return err;
}

/* ---- filters of "hists": each is a list ---- */

static bool pid_is(const struct profile *p, uint32_t id, const char *name)
{
	char number[16];
	snprintf(number, sizeof(number), "%" PRIu32, p->samples.tasks[id].pid);
	return !strcmp(name, number);
}

static char *pid_name(const struct profile *p, uint32_t id)
{
	uint32_t pid = p->samples.tasks[id].pid;
	return pid ? xprintf("%" PRIu32, pid) : NULL;
}

/* Checks each word of a list separated by commas. */
static struct kin_error *check_list(const struct profile *p, struct filter_kind k, const char *list)
{
	struct kin_error *err = NULL;
	struct word w;
	while (!err && words_next_name(&list, &w)) {
		char *name = xprintf("%.*s", (int)w.n, w.s);
		bool found = false;
		for (size_t i = k.first; i < k.n && !found; i++)
			found = k.is(p, (uint32_t)i, name);
		err = found ? NULL : unknown(p, &k, name);
		free(name);
	}
	return err;
}

static char *cpu_name(const struct profile *p, uint32_t sample)
{
	unsigned cpu = p->samples.at[sample].cpu;
	return cpu != CPU_NONE ? xprintf("%u", cpu) : NULL;
}

static char *parallelism_name(const struct profile *p, uint32_t sample)
{
	unsigned n = p->samples.at[sample].parallelism;
	return n ? xprintf("%u", n) : NULL;
}

/* Checks ranges of numbers. They may be wider than the data: one sample within a range is
 * enough. */
static struct kin_error *check_ranges(const struct profile *p, const char *what,
				      char *(*name)(const struct profile *p, uint32_t sample),
				      const char *ranges, struct sample_filter_texts texts)
{
	struct sample_filter *f = NULL;
	struct kin_error *err = ranges ? sample_filter_new(p, &texts, &f) : NULL;
	bool found = !f;
	for (size_t i = 0; i < p->samples.n && !found; i++)
		found = sample_filter_passes(f, &p->samples.at[i]);
	sample_filter_free(f);
	if (err || found)
		return err;
	return unknown(p, &(struct filter_kind){ what, 0, p->samples.n, NULL, name }, ranges);
}

/* Checks time intervals. Each may be empty, but not all may lie outside the recording. */
static struct kin_error *check_times(const struct profile *p, const char *list)
{
	struct time_range whole = span_of(p);
	struct sample_filter *f = NULL;
	struct kin_error *err =
		list ? sample_filter_new(p, &(struct sample_filter_texts){ .times = list }, &f)
		     : NULL;
	if (f && !sample_filter_overlaps(f, whole))
		err = not_in_time(list, whole);
	sample_filter_free(f);
	return err;
}

struct kin_error *filter_check_hists(const struct profile *p, const struct kin_hists_opts *o)
{
	const size_t n = p->samples.n_tasks;
	const struct {
		const char *list;
		struct filter_kind kind;
	} lists[] = {
		{ o->comms, { "command", 1, n, comm_is, comm_name } },
		{ o->pids, { "process", 1, n, pid_is, pid_name } },
		{ o->tids, { "thread", 1, n, task_is, task_name } },
		{ o->dsos, { "object", 0, p->n_objects, object_is, object_name } },
	};
	struct kin_error *err = NULL;
	for (size_t i = 0; i < ARRAY_LEN(lists) && !err; i++)
		err = check_list(p, lists[i].kind, lists[i].list);
	if (!err)
		err = check_ranges(p, "processor", cpu_name, o->cpus,
				   (struct sample_filter_texts){ .cpus = o->cpus });
	if (!err)
		err = check_ranges(p, "parallelism", parallelism_name, o->parallelism,
				   (struct sample_filter_texts){ .parallelism = o->parallelism });
	return err ? err : check_times(p, o->times);
}
