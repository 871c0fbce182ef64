/* session.c - the recorder's loop: reads records, writes samples, handles signals and time. */
#include "record/session.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "record/asleep.h"
#include "record/tracefs.h"

enum { ROUND_MS = 300, ROUND_DEEP_MS = 10, TOTALS_MAX = 256 };
static const uint64_t SECOND_NS = 1000000000;

/* ---- records ---- */

/* Finds the frames at the addresses in a sample's details: of its data, and both ends of its
 * branches. */
static void find_places(struct session *s, const struct perf_sample *d, const struct thread *t)
{
	s->places.n = 0;
	if (!d)
		return;
	vec_push(&s->places, unwinding_place(t->space, d->addr));
	for (size_t i = 0; i < d->n_taken; i++) {
		for (size_t end = 0; end < 2; end++)
			vec_push(
				&s->places,
				unwinding_place(t->space, perf_sample_word(d->taken, 3 * i + end)));
	}
}

/* Records a sample with the stack in s->stack. */
static void record_sample(struct session *s, const struct ring_record *r, struct thread *t)
{
	const struct record_event *e = &s->events.at.at[r->event];
	const struct perf_sample *from = &r->sample;
	const struct perf_sample *details = from->fields & WANTED_FIELDS ? from : NULL;
	struct sample sample = { .event = (uint16_t)s->event_ids[r->event],
				 .task = recording_task(s->recording, t),
				 .cpu = sample_cpu(from->cpu),
				 .parallelism = s->wall ? wall_running(s->wall) : 0,
				 .count = 1,
				 .time_ns = from->time,
				 .weight = from->period };
	struct walked_sample k = { .sample = sample,
				   .what = e,
				   .pid = t->pid,
				   .tid = t->tid,
				   .run = t->run,
				   .frames = s->stack.frames,
				   .n = s->stack.n,
				   .end = s->stack.end,
				   .serial = s->stack.serial,
				   .same_as = s->stack.same_as,
				   .n_same = s->stack.n_same,
				   .n_user = s->stack.n - s->stack.n_kernel,
				   .fields = from->raw.pos,
				   .n_fields = bytes_left(&from->raw),
				   .details = details };
	find_places(s, details, t);
	k.places = s->places.at;
	k.n_places = s->places.n;
	memcpy(k.comm, t->comm, sizeof(k.comm));
	recording_sample(s->recording, &k);
	s->samples++;
	s->outside += thread_is_outside(t);
	if (!r->event && e->is_clock)
		s->sampled_ns += from->period;
}

/* Records a sample for each other event of the group, with the same stack, weighted by its count
 * since the previous sample. */
static void record_group(struct session *s, const struct ring_record *r, struct thread *t)
{
	for (size_t i = 0; i < r->n_values; i++) {
		struct ring_record part = *r;
		part.event = r->values[i].event;
		part.sample.period = r->values[i].more;
		part.sample.raw = (struct bytes){ 0 };
		if (part.sample.period)
			record_sample(s, &part, t);
	}
}

/* Programs map the jitdump file that they write, so that the recorder learns of it. */
static void look_for_dump(struct session *s, const struct thread *t, uint64_t time_ns)
{
	for (size_t i = 0; i < t->space->at.n; i++) {
		const struct module *m = t->space->at.at[i].module;
		if (m->kind == KINF_JIT && strstr(m->path, "/jit-"))
			jit_add_dump(s->jit, t->pid, m->path, time_ns);
	}
}

/* Of the samples of a CPU, those of recorded tasks count. All tasks that are recorded are known,
 * since the kernel reports their start before they run. */
static bool is_wanted(const struct session *s, const struct ring_record *r)
{
	if (r->of_cpu && ((pid_t)r->sample.tid == -1 ||
			  !spaces_has(s->spaces, (pid_t)r->sample.pid, (pid_t)r->sample.tid)))
		return false;
	return s->events.at.at[r->event].purpose != EVENT_TRACKING &&
	       !(s->opts->not_self && (pid_t)r->sample.pid == getpid());
}

static void take_sample(struct session *s, const struct ring_record *r)
{
	const struct record_event *e = &s->events.at.at[r->event];
	if (!is_wanted(s, r))
		return;
	struct thread *t = spaces_sampled(s->spaces, &r->sample);
	if (!t->task) /* for files that it mapped before the recording */
		look_for_dump(s, t, r->sample.time);
	unwinding_sample(s->unwinding, t->space, &r->sample, &s->stack);
	if (s->wall)
		wall_sample(s->wall, t, r->sample.time, &s->stack, e->at_switches);
	if (e->purpose != EVENT_SAMPLED)
		return;
	record_sample(s, r, t);
	record_group(s, r, t);
}

static void take_switch(struct session *s, const struct ring_record *r)
{
	if (!s->wall || !r->sample.tid)
		return;
	wall_switch(s->wall, spaces_sampled(s->spaces, &r->sample), r);
}

static void end_thread(void *arg, struct thread *t, uint64_t time_ns, bool gone)
{
	struct session *s = arg;
	if (s->wall)
		wall_end(s->wall, t, time_ns, gone);
	if (!t->task)
		return;
	kinfile_writer_task_end(recording_writer(s->recording), t->task, time_ns, 0, -1);
	t->task = 0;
}

static void end_process(void *arg, pid_t pid, uint64_t time_ns)
{
	struct session *s = arg;
	jit_end(s->jit, pid, time_ns);
}

static void take(struct session *s, const struct ring_record *r)
{
	struct spaces_hooks hooks = { end_thread, end_process, s };
	if (r->header->type == PERF_RECORD_FORK && s->opts->no_inherit && !s->opts->everything)
		return; /* tasks started by it are not recorded */
	switch (r->header->type) {
	case PERF_RECORD_SAMPLE:
		take_sample(s, r);
		return;
	case PERF_RECORD_SWITCH:
		take_switch(s, r);
		return;
	case PERF_RECORD_SWITCH_CPU_WIDE:
		take_switch(s, r);
		return;
	case PERF_RECORD_THROTTLE:
		s->throttled++;
		kinfile_writer_lost(recording_writer(s->recording), KINF_THROTTLED, 1);
		break;
	case PERF_RECORD_EXIT:
		s->ended++;
		spaces_take(s->spaces, r, &hooks);
		break;
	default:
		spaces_take(s->spaces, r, &hooks);
		break;
	}
	const struct thread *t = r->header->type == PERF_RECORD_MMAP2
					 ? spaces_known(s->spaces, (pid_t)r->sample.tid)
					 : NULL;
	if (t)
		look_for_dump(s, t, r->sample.time);
}

/* Handles the records that the kernel has written; `all`: up to now. */
static void drain(struct session *s, bool all)
{
	struct ring_record r;
	rings_begin(s->rings, all);
	while (rings_next(s->rings, &r))
		take(s, &r);
}

/* ---- regular work ---- */

static void trouble(struct session *s, struct kin_error *err)
{
	if (!err)
		return;
	if (s->trouble) {
		kin_error_free(err);
		return;
	}
	s->trouble = err;
	char *line = xprintf("%s: recording no more; the program goes on", kin_error_message(err));
	s->opts->say(line);
	free(line);
}

static uint64_t lost(const struct session *s, const struct rings_totals *t)
{
	uint64_t records = rings_records_lost(s->rings);
	return t->lost > records ? t->lost : records;
}

/* CPU time that the events did not count but wait() reports, if that is clearly more: programs
 * executed with more rights than ours have no events. */
static uint64_t unseen_time(const struct session *s, const struct rings_totals *t)
{
	bool all = !s->gate && !s->opts->no_inherit && !s->opts->everything &&
		   !record_is_apart(s->opts);
	bool more = s->may_use_cpus && s->sampled_ns > t->running_ns;
	return all ? record_audit_unseen(s->used_ns, more ? s->sampled_ns : t->running_ns) : 0;
}

/* CPU time by the kernel's accounting. The work on a task's exit, which the events of tasks do not
 * count, is in samples of the CPUs and in what wait() reports. */
static uint64_t cpu_time(const struct session *s, const struct rings_totals *t)
{
	if (s->opts->everything)
		return 0;
	bool more = s->may_use_cpus && !record_is_apart(s->opts) && s->used_ns > t->running_ns;
	return more ? s->used_ns : t->running_ns + unseen_time(s, t);
}

/* Inherited events begin anew in each task, on each CPU: what a task does after its last sample is
 * not seen, and what it does first is seen too seldom. That matters where more than one task in 32
 * samples has ended lately. Then, and at first, the events of the CPUs are used. These cost more:
 * they also sample what runs beside, and wake CPUs that are idle. */
static void watch_tasks(struct session *s, uint64_t now)
{
	enum { SAMPLES = 32, FEW = 4 };
	struct session_window *w = &s->tasks;
	uint64_t few = (s->samples - w->samples) / SAMPLES + FEW, ended = s->ended - w->ended;
	if (!s->may_use_cpus)
		return;
	if (ended > few)
		rings_use_cpus(s->rings, true);
	if (now - w->time_ns < (w->time_ns == s->start_ns ? SECOND_NS / 4 : SECOND_NS))
		return;
	if (ended <= few / 2)
		rings_use_cpus(s->rings, false);
	*w = (struct session_window){ .time_ns = now, .samples = s->samples, .ended = s->ended };
}

/* If the kernel's work for a sample takes longer than the period, the program makes no progress,
 * and samples stand for a fraction of the time; so they do if the recorder cannot keep up. Samples
 * of user mode alone may be few for another reason. */
static void watch_rate(struct session *s, const struct rings_totals *t)
{
	enum { ENOUGH_NS = 50000000, CARRIED = 70, CARRIED_USER = 30 }; /* percent */
	const struct record_event *e = &s->events.at.at[0];
	struct session_window *w = &s->rate;
	uint64_t cpu_ns = t->running_ns - w->cpu_ns, sampled_ns = s->sampled_ns - w->sampled_ns;
	bool part = e->exclude_kernel || e->exclude_user;
	if (!e->is_clock || s->opts->no_idle || cpu_ns < ENOUGH_NS)
		return;
	*w = (struct session_window){ .cpu_ns = t->running_ns, .sampled_ns = s->sampled_ns };
	unsigned before = rings_slowness(s->rings);
	if (sampled_ns >= cpu_ns / 100 * (part ? CARRIED_USER : CARRIED) ||
	    !rings_slow_down(s->rings))
		return;
	char *line = xprintf("%llu samples per second are more than this machine can carry: %llu "
			     "from now on",
			     (unsigned long long)(e->frequency / before),
			     (unsigned long long)(e->frequency / rings_slowness(s->rings)));
	s->opts->say(line);
	free(line);
}

static void update_totals(struct session *s)
{
	struct kinfile_writer *w = recording_writer(s->recording);
	struct rings_totals t = rings_totals(s->rings);
	uint64_t n = lost(s, &t);
	if (n > s->lost_written)
		kinfile_writer_lost(w, KINF_LOST_SAMPLES, n - s->lost_written);
	s->lost_written = n;
	watch_rate(s, &t);
	uint64_t cpu_ns = cpu_time(s, &t);
	s->accounted = (struct session_window){ .cpu_ns = cpu_ns, .sampled_ns = s->sampled_ns };
	if (s->opts->parts.overwrite)
		return; /* the file covers only a part of the time */
	kinfile_writer_clock(w, cpu_ns > s->begin.cpu_ns ? cpu_ns - s->begin.cpu_ns : 0,
			     s->sampled_ns - s->begin.sampled_ns);
}

static struct record_seen seen_so_far(const struct session *s, uint64_t now)
{
	bool is_clock = s->events.at.at[0].is_clock;
	return (struct record_seen){ .time_ns = now - s->start_ns,
				     .samples = s->samples,
				     .lost = s->lost_written,
				     .processes = spaces_n_processes(s->spaces),
				     .threads = spaces_n_threads(s->spaces),
				     .cpu_ns = s->accounted.cpu_ns,
				     .sampled_ns = is_clock ? s->accounted.sampled_ns : 0 };
}

static void show(struct session *s, uint64_t now)
{
	struct record_seen seen = seen_so_far(s, now);
	s->shown_ns = now;
	s->opts->seen(s->opts->seen_arg, &seen);
}

static void tick(struct session *s)
{
	uint64_t now = clock_now_ns();
	watch_tasks(s, now);
	if (now - s->ticked_ns > SECOND_NS / 4) { /* before each write to the file */
		s->ticked_ns = now;
		if (s->followed.at.n < TOTALS_MAX)
			update_totals(s);
	}
	if (s->opts->seen && now - (s->shown_ns ? s->shown_ns : s->start_ns) >= SECOND_NS)
		show(s, now);
	trouble(s, recording_tick(s->recording, now));
	if (s->opts->max_bytes && !s->stop &&
	    (s->parts ? parts_bytes(s->parts) : 0) +
			    kinfile_writer_size(recording_writer(s->recording)) >
		    s->opts->max_bytes) {
		s->stop = true;
		s->opts->say("the file is as large as --max-size permits: recording ends");
	}
}

/* Follows threads that began after the listing, but before the threads that started them were
 * followed. */
static void look_again(struct session *s)
{
	struct thread_list now = { 0 }, missed = { 0 };
	s->looked_again = true;
	for (size_t i = 0; i < s->opts->n_pids; i++)
		kin_error_free(target_threads(s->opts->pids[i], &now));
	target_threads_once(&now);
	for (size_t i = 0; i < now.at.n; i++)
		if (!spaces_known(s->spaces, now.at.at[i]))
			vec_push(&missed.at, now.at.at[i]);
	rings_follow(s->rings, missed.at.at, missed.at.n, true);
	vec_free(&now.at);
	vec_free(&missed.at);
}

/* ---- head of a file ---- */

static void describe(struct session *s)
{
	struct kinfile_writer *w = recording_writer(s->recording);
	struct utsname u;
	char *cwd = getcwd(NULL, 0);
	if (cwd)
		kinfile_writer_info(w, "cwd", cwd);
	free(cwd);
	if (!uname(&u)) {
		kinfile_writer_info(w, "host", u.nodename);
		kinfile_writer_info(w, "kernel", u.release);
	}
	char *text = NULL;
	size_t size;
	FILE *f = xopen_memstream(&text, &size);
	for (size_t i = 0; s->opts->argv && s->opts->argv[i]; i++)
		fprintf(f, "%s%s", i ? " " : "", s->opts->argv[i]);
	xclose_memstream(f, &text);
	if (*text && (s->opts->everything || !record_is_apart(s->opts)))
		kinfile_writer_info(w, "command", text);
	free(text);
	if (s->user_only)
		kinfile_writer_info(w, "mode", "user");
	if (s->instead)
		kinfile_writer_info(w, "not counted", s->instead);
	if (s->wall)
		kinfile_writer_info(w, "wall-stacks",
				    s->exact_switches ? "at the switch"
						      : "estimated: nearest sample");
}

/* The event's name, with ":u" if the kernel let us sample user mode only. */
static char *event_name(const struct session *s, const struct record_event *e)
{
	return xprintf("%s%s", e->name, s->user_only && !strchr(e->name, ':') ? ":u" : "");
}

/* Returns whether some fields are pointers to constant texts. */
static bool describe_fields(struct session *s, const struct record_event *e, uint32_t id)
{
	char *format = tracefs_format(e->trace_point);
	bool points = format && strstr(format, "char *");
	if (format)
		recording_trace_format(s->recording, id, format);
	free(format);
	return points;
}

static void describe_strings(struct session *s)
{
	char *text = tracefs_strings();
	if (text)
		kinfile_writer_trace_strings(recording_writer(s->recording), text);
	free(text);
}

static void define_wall(struct session *s)
{
	struct kinfile_writer *w = recording_writer(s->recording);
	const char *how = s->exact_switches ? "" : " (place estimated)";
	char *blocked = xprintf("blocked%s", how), *waiting = xprintf("waiting%s", how);
	uint32_t b = kinfile_writer_event(w, blocked, KINF_NS, 0, KINF_EVENT_OFF_CPU);
	uint32_t r = kinfile_writer_event(w, waiting, KINF_NS, 0, KINF_EVENT_WAITING);
	if (!s->wall)
		s->wall = wall_new(s->recording, s->exact_switches, b, r, s->gate);
	free(blocked);
	free(waiting);
}

/* Defines the events in each file in the same order, so that they have the same ids. */
static void define_events(struct session *s)
{
	struct kinfile_writer *w = recording_writer(s->recording);
	bool has_strings = false;
	for (size_t i = 0; i < s->events.at.n; i++) {
		const struct record_event *e = &s->events.at.at[i];
		if (e->purpose != EVENT_SAMPLED)
			continue;
		bool is_trace = e->type == PERF_TYPE_TRACEPOINT && !e->is_read;
		char *name = event_name(s, e);
		s->event_ids[i] = kinfile_writer_event(
			w, name, e->is_clock ? KINF_NS : KINF_COUNT_UNIT,
			e->period ? e->period : e->frequency,
			(e->frequency && !e->period ? KINF_EVENT_FREQUENCY : 0) |
				(is_trace ? KINF_EVENT_TRACE : 0));
		free(name);
		if (is_trace)
			has_strings |= describe_fields(s, e, s->event_ids[i]);
	}
	if (has_strings)
		describe_strings(s);
	if (s->opts->wall)
		define_wall(s);
}

/* ---- markers ---- */

static void write_moment(struct session *s, const struct named_moment *m)
{
	kinfile_writer_marker(recording_writer(s->recording), m->time_ns, m->name);
}

/* Samples kept in memory are not in the file yet, so the most recent markers are kept, too. */
static void take_moment(struct session *s, const struct named_moment *m)
{
	enum { MOST = 1 << 16 };
	if (!s->opts->parts.overwrite) {
		write_moment(s, m);
		return;
	}
	if (s->moments.n == MOST) {
		s->moments.n = MOST / 2;
		memmove(s->moments.at, s->moments.at + MOST / 2, MOST / 2 * sizeof(*s->moments.at));
	}
	vec_push(&s->moments, *m);
}

static void take_command_mark(void *arg, const char *name)
{
	struct session *s = arg;
	struct named_moment m = { .time_ns = clock_now_ns() };
	if (marker_name(name, m.name))
		take_moment(s, &m);
}

static void take_signal_mark(struct session *s)
{
	struct named_moment m = { .time_ns = clock_now_ns() };
	snprintf(m.name, sizeof(m.name), "mark%u", ++s->n_signalled);
	char *line = xprintf("%s, %.3f s after the start", m.name,
			     (double)(m.time_ns - s->start_ns) / 1e9);
	take_moment(s, &m);
	if (!s->opts->parts.silent)
		s->opts->say(line);
	free(line);
}

static void take_markers(struct session *s)
{
	struct named_moment m;
	while (s->markers && markers_next(s->markers, clock_now_ns(), &m))
		take_moment(s, &m);
}

/* Writes the markers since the oldest sample. */
static void write_moments(struct session *s, uint64_t first_ns)
{
	for (size_t i = 0; i < s->moments.n; i++)
		if (s->moments.at[i].time_ns >= first_ns)
			write_moment(s, &s->moments.at[i]);
	s->moments.n = 0;
}

/* ---- files ---- */

struct kin_error *session_open_file(struct session *s, struct kinfile_writer **ret)
{
	const struct record_opts *o = s->opts;
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	uint64_t late_ns = clock_now_ns() - s->begin.time_ns;
	s->file.start_ns = s->begin.time_ns;
	s->file.start_time_ns = clock_ns_of(t) - late_ns;
	if (o->output_pipe)
		return kinfile_writer_to_pipe(o->output_pipe, &s->file, ret);
	if (!o->output || o->parts.overwrite) {
		*ret = kinfile_writer_to_nowhere(&s->file);
		return NULL;
	}
	struct kin_error *err = kinfile_writer_open(o->output, &s->file, ret);
	s->has_file = !err;
	return err;
}

static void ask_anew(void *arg, struct thread *t)
{
	(void)arg;
	t->task = 0;
}

static void begin_file(struct session *s, struct kinfile_writer *w)
{
	recording_go_on(s->recording, w, s->modules);
	spaces_each(s->spaces, ask_anew, NULL);
	define_events(s);
	describe(s);
}

/* Writes the samples kept in memory to a file, which becomes the current one. */
static struct kin_error *unload(struct session *s, uint64_t now_ns)
{
	struct kinfile_writer *w = NULL;
	uint64_t first_ns = recording_recent_ns(s->recording);
	uint64_t late_ns = now_ns - s->file.start_ns;
	s->file.start_time_ns += late_ns;
	s->file.start_ns = now_ns;
	if (first_ns && first_ns < now_ns) {
		s->file.start_time_ns -= now_ns - first_ns;
		s->file.start_ns = first_ns;
	}
	struct kin_error *err = kinfile_writer_open(s->opts->output, &s->file, &w);
	if (err)
		return err;
	s->has_file = true;
	recording_abandon_file(s->recording);
	begin_file(s, w);
	kinfile_writer_info(w, "samples", "the most recent ones, which were kept in memory");
	kinfile_writer_lost(w, KINF_LOST_SAMPLES, s->lost_written - s->begin.lost);
	kinfile_writer_lost(w, KINF_THROTTLED, s->throttled - s->begin.throttled);
	write_moments(s, s->file.start_ns);
	uint64_t sum = recording_write_recent(s->recording, s->event_ids[0]);
	kinfile_writer_clock(w, 0, s->events.at.at[0].is_clock ? sum : 0);
	return NULL;
}

static void write_switches(struct kinfile_writer *w, uint64_t switches, uint64_t preemptions)
{
	kinfile_writer_count(w, KINF_AUDIT_SWITCHES, switches);
	kinfile_writer_count(w, KINF_AUDIT_PREEMPTIONS, preemptions);
}

/* Writes totals of the current file. Those from wait() would cover all files of a program. */
static void write_counts(struct session *s)
{
	struct kinfile_writer *w = recording_writer(s->recording);
	const struct part_begin *b = &s->begin;
	if (s->opts->parts.overwrite)
		return;
	if (s->wall) {
		const struct wall_totals *t = wall_totals(s->wall);
		write_switches(w, t->switches - b->switches, t->preemptions - b->preemptions);
	} else if (!s->parts) {
		write_switches(w, s->switched, s->preempted);
	}
	if (s->opts->check) {
		const struct unwinding_stats *u = unwinding_stats(s->unwinding);
		kinfile_writer_count(w, KINF_AUDIT_CHECKED, u->checked - b->checked);
		kinfile_writer_count(w, KINF_AUDIT_CONTRADICTED, u->contradicted - b->contradicted);
	}
}

static void begin_counts(struct session *s, uint64_t now_ns)
{
	struct rings_totals t = rings_totals(s->rings);
	const struct unwinding_stats *u = unwinding_stats(s->unwinding);
	s->begin = (struct part_begin){ .time_ns = now_ns,
					.cpu_ns = cpu_time(s, &t),
					.sampled_ns = s->sampled_ns,
					.lost = s->lost_written,
					.throttled = s->throttled,
					.checked = u->checked,
					.contradicted = u->contradicted };
	if (s->wall) {
		s->begin.switches = wall_totals(s->wall)->switches;
		s->begin.preemptions = wall_totals(s->wall)->preemptions;
	}
}

static struct kin_error *end_file(struct session *s, enum kinf_end how, uint64_t detail,
				  uint64_t end_ns)
{
	const char *name = NULL;
	write_counts(s);
	struct kin_error *err = recording_end_file(s->recording, s->modules, how, detail, end_ns);
	bool keep = !err && s->parts && s->has_file;
	s->has_file = false;
	if (!keep || (err = parts_keep(s->parts, &name)))
		return err;
	char *line = xprintf("-> %s", name);
	if (!s->opts->parts.silent)
		s->opts->say(line);
	free(line);
	return NULL;
}

static bool part_is_over(struct session *s)
{
	bool due = parts_is_due(s->parts, kinfile_writer_size(recording_writer(s->recording)),
				s->begin.time_ns, clock_now_ns());
	return !s->trouble && (s->switch_now || due);
}

/* Ends the current file, and continues in another one. */
static void begin_part(struct session *s)
{
	struct kinfile_writer *w = NULL;
	drain(s, true);
	take_markers(s);
	uint64_t now = clock_now_ns();
	s->switch_now = false;
	update_totals(s);
	if (s->opts->parts.overwrite) {
		struct kin_error *err = unload(s, now);
		if (err) {
			trouble(s, err);
			return;
		}
	}
	trouble(s, end_file(s, KINF_STOPPED, 0, now));
	begin_counts(s, now);
	struct kin_error *err = s->trouble ? NULL : session_open_file(s, &w);
	trouble(s, err);
	begin_file(s, w ? w : kinfile_writer_to_nowhere(&s->file));
}

/* ---- the loop ---- */

static void take_signal(struct session *s, const struct signal_seen *seen)
{
	if (seen->ours)
		return;
	bool user = seen->number == SIGUSR1 || seen->number == SIGUSR2;
	bool end = seen->number == SIGINT || seen->number == SIGTERM || seen->number == SIGHUP ||
		   seen->number == SIGQUIT;
	bool alive = s->target.running && !s->target.ended;
	if (seen->number == SIGUSR2 && s->opts->parts.on_signal) {
		s->switch_now = true;
		return;
	}
	if (seen->number == SIGUSR2 && s->markers) {
		take_signal_mark(s);
		return;
	}
	if (alive)
		target_pass(&s->target, seen);
	if (user || (alive && !end))
		return;
	/* the program decides what the first signal means */
	if (!alive || ++s->interrupts > 1) {
		s->stop = true;
		s->stopped_by = alive ? seen->number : 0;
	}
}

/* How often memory missing from stack copies is read while it is still there. The time is at least
 * that between two samples of a CPU: at low rates, waking up costs more than everything else. */
static uint64_t deep_round_ms(const struct session *s)
{
	uint64_t per_second = s->events.at.at[0].frequency;
	uint64_t apart = per_second ? 2000 / per_second : 0;
	uint64_t ms = apart > ROUND_DEEP_MS ? apart : ROUND_DEEP_MS;
	return ms < ROUND_MS ? ms : ROUND_MS;
}

/* The time until the next reading; also chooses the size of stack copies. They are large in the
 * first half second, and as long as more than one stack in a thousand would not fit a small one.
 * For such stacks, and in the first tenth of a second, the time is short, and varies so that it is
 * in step with nothing. */
static uint64_t round_ms(struct session *s, uint64_t now)
{
	uint64_t age = now - s->start_ns;
	const struct unwinding_stats *u = unwinding_stats(s->unwinding);
	bool deep = u->deep > u->stacks / 1000;
	rings_choose(s->rings, deep || age < SECOND_NS / 2);
	uint64_t round = deep_round_ms(s);
	return deep || age < SECOND_NS / 10 ? round / 2 + now / 1000 % round : ROUND_MS;
}

static int time_left(struct session *s)
{
	uint64_t now = clock_now_ns(), round = round_ms(s, now);
	if (s->gate && gate_wait_ms(s->gate, now) < round)
		round = gate_wait_ms(s->gate, now);
	if (!s->deadline_ns)
		return (int)round;
	if (now >= s->deadline_ns)
		return 0;
	uint64_t ms = (s->deadline_ns - now) / 1000000 + 1;
	return (int)(ms < round ? ms : round);
}

static bool is_over(const struct session *s)
{
	const struct record_watch *w = s->opts->watch;
	struct record_seen seen = seen_so_far(s, clock_now_ns());
	if (s->stop || (w && w->tick(w->arg, &seen)) ||
	    (s->deadline_ns && clock_now_ns() >= s->deadline_ns))
		return true;
	if (s->target.running && record_is_apart(s->opts))
		return s->target.ended;
	/* A program with more rights than ours loses the kernel's events, but lives on. */
	return (!s->target.running || s->target.ended) && rings_all_gone(s->rings);
}

/* Programs started by another one often end soon after it. */
static void tell_of_others(struct session *s, uint64_t *ended_ns, bool *told)
{
	enum { SOON_MS = 600 };
	uint64_t now = clock_now_ns();
	if (*told || s->opts->parts.silent || !s->target.ended || record_is_apart(s->opts) ||
	    rings_all_gone(s->rings))
		return;
	*ended_ns = *ended_ns ? *ended_ns : now;
	if (now - *ended_ns < SOON_MS * UINT64_C(1000000))
		return;
	*told = true;
	s->opts->say("the program has ended; what it started has not and is recorded until it "
		     "ends, or until an interrupt");
}

/* The kernel removes the events of a program that is executed with more rights than ours. */
static void tell_of_rights(struct session *s, unsigned *rounds)
{
	bool unseen = s->target.running && !s->target.ended && !record_is_apart(s->opts) &&
		      rings_all_gone(s->rings);
	if (unseen && !target_is_leaving(&s->target) && ++*rounds == 2)
		s->opts->say("the program runs with more rights than this recorder (setuid): the "
			     "kernel does not let it be sampled; it runs on");
}

void session_run(struct session *s)
{
	const struct gate_marker marker = { take_command_mark, s };
	bool told = false;
	uint64_t ended_ns = 0;
	unsigned unseen = 0;
	while (!is_over(s)) {
		struct pollfd fds[] = { { rings_poll_fd(s->rings), POLLIN, 0 },
					{ s->signals.fd, POLLIN, 0 },
					{ s->gate ? gate_fd(s->gate) : -1, POLLIN, 0 },
					{ s->markers ? markers_fd(s->markers) : -1, POLLIN, 0 } };
		struct signal_seen seen;
		int n = poll(fds, ARRAY_LEN(fds), time_left(s));
		while (fds[1].revents && signals_next(&s->signals, &seen))
			take_signal(s, &seen);
		if (fds[0].revents)
			rings_polled(s->rings);
		if (s->gate && !gate_act(s->gate, s->rings, &marker, clock_now_ns()))
			s->stop = true;
		take_markers(s);
		drain(s, false);
		tick(s);
		if (s->parts && !s->stop && part_is_over(s))
			begin_part(s);
		target_look(&s->target);
		if (!n)
			tell_of_rights(s, &unseen);
		if (!s->looked_again && s->opts->n_pids)
			look_again(s);
		tell_of_others(s, &ended_ns, &told);
	}
}

/* ---- beginning and end ---- */

/* The process of a thread. 0: the thread is gone, or is the ended first thread of a process that
 * goes on. */
static pid_t process_of(pid_t tid)
{
	char path[64], line[128];
	int pid = 0;
	char state = '\0';
	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		sscanf(line, "State: %c", &state);
		if (sscanf(line, "Tgid: %d", &pid) == 1)
			break;
	}
	if (f)
		fclose(f);
	return state == 'Z' || state == 'X' ? 0 : (pid_t)pid;
}

static uint64_t own_cpu(void)
{
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	return clock_cpu_ns(&u);
}

void session_begin(struct session *s)
{
	if (s->opts->watch && s->opts->watch->begun)
		s->opts->watch->begun(s->opts->watch->arg);
	s->tasks.time_ns = s->start_ns;
	s->event_ids = xalloc(s->events.at.n * sizeof(*s->event_ids));
	define_events(s);
	describe(s);
	for (size_t i = 0; i < s->followed.at.n; i++) {
		pid_t tid = s->followed.at.at[i], pid = process_of(tid);
		if (!pid)
			continue;
		struct thread *t = spaces_thread(s->spaces, pid, tid);
		if (!s->wall)
			continue;
		bool asleep = !s->opts->kernel_chains &&
			      asleep_unwind(s->unwinding, t->space, tid, &s->stack);
		wall_present(s->wall, t, s->start_ns, asleep ? &s->stack : NULL, clock_now_ns());
	}
	s->result->audit.own_fixed_ns = own_cpu();
}

static bool same_object(const struct module *a, const struct module *b)
{
	return !strcmp(a->name, b->name) && a->build_id_size == b->build_id_size &&
	       !memcmp(a->build_id, b->build_id, a->build_id_size);
}

/* Failures in all modules of module i's file: there may be one of what was mapped before the
 * recording, and one of what was mapped since. 0 for all but the first of them. */
static uint64_t failures_in(const struct modules *all, size_t i)
{
	const struct module *m = modules_at(all, i);
	uint64_t sum = 0;
	for (size_t k = 0; k < modules_count(all); k++) {
		const struct module *other = modules_at(all, k);
		if (!other->failures || !same_object(m, other))
			continue;
		if (k < i)
			return 0;
		sum += other->failures;
	}
	return sum;
}

/* Collects the few objects with the most failures, most first. */
static void worst_objects(const struct session *s, struct record_audit *a)
{
	for (size_t i = 0; i < modules_count(s->modules); i++) {
		const struct module *m = modules_at(s->modules, i);
		uint64_t n = m->failures ? failures_in(s->modules, i) : 0;
		const char *name = *m->name ? m->name : "//anon";
		for (size_t k = 0; n && k < AUDIT_OBJECTS; k++) {
			if (n <= a->object[k].failures)
				continue;
			free(a->object[AUDIT_OBJECTS - 1].name);
			memmove(&a->object[k + 1], &a->object[k],
				(AUDIT_OBJECTS - 1 - k) * sizeof(a->object[0]));
			a->object[k].name = xprintf("%s", name);
			a->object[k].failures = n;
			break;
		}
	}
}

static void fill_audit(struct session *s, uint64_t end_ns)
{
	struct record_audit *a = &s->result->audit;
	const struct unwinding_stats *u = unwinding_stats(s->unwinding);
	struct rings_totals t = rings_totals(s->rings);
	a->samples = s->samples;
	a->duration_ns = end_ns - s->start_ns;
	a->on_ns = s->gate ? gate_open_ns(s->gate, &(uint64_t){ s->start_ns }, end_ns)
			   : a->duration_ns;
	a->cpu_ns = cpu_time(s, &t);
	a->unseen_ns = unseen_time(s, &t);
	a->sampled_ns = s->sampled_ns;
	a->is_clock = s->events.at.at[0].is_clock;
	a->user_only = s->user_only;
	a->by_pointers = s->opts->mode == UNWINDING_FP;
	a->lost = lost(s, &t);
	a->throttled = s->throttled;
	a->stacks = u->stacks;
	a->complete = u->complete;
	a->guesses = u->guesses;
	a->cut = u->cut;
	a->beyond = u->beyond;
	a->check = s->opts->check;
	a->checked = u->checked;
	a->contradicted = u->contradicted;
	a->frames = u->frames;
	a->guessed = u->guessed;
	a->outside = s->outside;
	a->processes = spaces_n_processes(s->spaces);
	a->threads = spaces_n_threads(s->spaces);
	a->switches = s->switched;
	a->preemptions = s->preempted;
	if (s->wall) {
		const struct wall_totals *w = wall_totals(s->wall);
		a->has_switches = true;
		a->switches = w->switches;
		a->preemptions = w->preemptions;
		a->blocked_ns = w->blocked_ns;
		a->waiting_ns = w->waiting_ns;
	}
	worst_objects(s, a);
}

static void end_wall(void *arg, struct thread *t)
{
	struct session *s = arg;
	wall_end(s->wall, t, clock_now_ns(), t->ended);
}

static void tell_of_dropped(struct session *s)
{
	uint64_t n = recording_recent_dropped(s->recording);
	char *line = xprintf("--overwrite: %llu samples are not in memory any more, and in no file",
			     (unsigned long long)n);
	if (n && !s->opts->parts.silent)
		s->opts->say(line);
	free(line);
}

void session_end(struct session *s)
{
	rings_disable(s->rings);
	drain(s, true);
	take_markers(s);
	uint64_t end = clock_now_ns(), drained = own_cpu();
	if (s->wall)
		spaces_each(s->spaces, end_wall, s);
	if (s->opts->parts.overwrite) {
		tell_of_dropped(s);
		trouble(s, unload(s, end));
	}
	update_totals(s);
	fill_audit(s, end);

	enum kinf_end how = KINF_STOPPED;
	uint64_t detail = 0;
	if (s->target.ended && (s->opts->everything || !record_is_apart(s->opts))) {
		bool exited = WIFEXITED(s->target.status);
		how = exited ? KINF_EXITED : KINF_SIGNALLED;
		detail = (uint64_t)(exited ? WEXITSTATUS(s->target.status)
					   : WTERMSIG(s->target.status));
	}
	struct kin_error *err = end_file(s, how, detail, end);
	struct recording_samples samples = recording_samples(s->recording);
	recording_free(s->recording);
	s->recording = NULL;
	s->result->finished = !err && !s->trouble;
	trouble(s, err);
	struct record_audit *audit = &s->result->audit;
	if (s->trouble && !s->opts->parts.overwrite && samples.written < samples.all) {
		audit->all_samples = samples.all;
		audit->written = samples.written;
	}
	if (s->trouble)
		snprintf(audit->trouble, sizeof(audit->trouble),
			 "%s: what was sampled from then on is in no file",
			 kin_error_message(s->trouble));
	audit->own_cpu_ns = own_cpu();
	audit->own_fixed_ns += audit->own_cpu_ns - drained;
}
