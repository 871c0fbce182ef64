/* record.c - opens events as the options say, starts the program, and records to the end. */
#include "record/record.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/job.h"
#include "machine/machine.h"
#include "record/session.h"
#include "record/tracefs.h"

enum { DEFAULT_FREQUENCY = 999, FP_STACK = 1024, RECENT_BYTES = 64 << 20 };

/* ---- events ---- */

static int read_int(const char *path)
{
	int v = -1000;
	FILE *f = fopen(path, "re");
	if (f && fscanf(f, "%d", &v) != 1)
		v = -1000;
	if (f)
		fclose(f);
	return v;
}

uint64_t record_max_rate(void)
{
	int n = read_int("/proc/sys/kernel/perf_event_max_sample_rate");
	return n > 0 ? (uint64_t)n : 0;
}

/* Sets what the event itself leaves open. */
static void set_rate(struct record_event *e, const struct record_opts *o)
{
	if (e->purpose != EVENT_SAMPLED)
		return;
	if (e->is_read) {
		e->period = e->frequency = 0;
		return;
	}
	if (!e->period && !e->frequency) {
		e->period = o->period;
		e->frequency = o->frequency;
		if (!o->period && !o->frequency && record_event_is_each(e))
			e->period = 1;
		else if (!o->frequency)
			e->frequency = DEFAULT_FREQUENCY;
	}
	if (e->period && e->is_clock && e->period < 10000)
		e->period = 10000; /* the shortest period of the kernel's timers, in ns */
}

static struct kin_error *check_rate(const struct record_opts *o)
{
	uint64_t most = record_max_rate();
	if (!o->strict_rate || !most || o->frequency <= most)
		return NULL;
	return err_new(KIN_ERROR_USAGE,
		       "-F %llu: the kernel permits %llu samples per second: sudo sysctl "
		       "kernel.perf_event_max_sample_rate=%llu",
		       (unsigned long long)o->frequency, (unsigned long long)most,
		       (unsigned long long)o->frequency);
}

/* The kernel refuses counters above its maximum rate; its timers have no such limit. */
static void limit_rate(struct record_event *e)
{
	uint64_t most = record_max_rate();
	if (!e->period && !e->is_clock && most && e->frequency > most)
		e->frequency = most;
}

/* Makes the names of events unique: the same event may be given twice, in and outside of a group.
 * The second becomes "cpu-clock#2". */
static void tell_apart(struct record_events *events)
{
	for (size_t i = 0; i < events->at.n; i++) {
		unsigned number = 1;
		struct record_event *e = &events->at.at[i];
		char name[sizeof(e->name)];
		snprintf(name, sizeof(name), "%.240s", e->name);
		for (size_t k = 0; k < i; k++)
			if (!strcmp(events->at.at[k].name, e->name)) {
				snprintf(e->name, sizeof(e->name), "%.240s#%u", name, ++number);
				k = (size_t)-1; /* that may be taken, too */
			}
	}
}

/* True for the events after an S event in the same group. */
static bool is_read_by_leader(const struct record_event *at, size_t i)
{
	bool is_read = false;
	for (size_t k = i; at[i].group && k && at[k - 1].group == at[i].group; k--)
		is_read |= at[k - 1].group_is_read;
	return is_read;
}

/* As perf names it: who reads the recording sees that time was left out on purpose. */
static void restrict_name(struct record_event *e, const char *modifier)
{
	size_t n = strlen(e->name);
	if (!strchr(e->name, ':') && n + strlen(modifier) < sizeof(e->name))
		strcpy(e->name + n, modifier);
}

/* Settings of the command line for all events. */
static void set_all(struct record_events *events, const struct record_opts *o)
{
	tell_apart(events);
	for (size_t i = 0; i < events->at.n; i++) {
		struct record_event *e = &events->at.at[i];
		if (e->purpose != EVENT_SAMPLED)
			continue;
		if (o->all_user || o->all_kernel) {
			e->exclude_kernel = o->all_user;
			e->exclude_user = o->all_kernel;
			restrict_name(e, o->all_user ? ":u" : ":k");
		}
		e->exclude_idle = o->no_idle;
		if (o->one_group)
			e->group = 1;
		e->is_read = is_read_by_leader(events->at.at, i);
		set_rate(e, o);
		limit_rate(e);
	}
}

/* All options but the list of events. */
static struct rings_opts rings_opts_of(struct session *s)
{
	const struct record_opts *o = s->opts;
	bool fp = o->mode == UNWINDING_FP, user = !o->kernel_chains;
	return (struct rings_opts){
		.events = &s->events,
		.tids = s->followed.at.at,
		.n_tids = o->everything ? 0 : s->followed.at.n,
		.on_exec = o->argv && !record_is_apart(o),
		.callchain = true,
		.user_chain = fp && user,
		.no_kernel_chain = o->user_chains,
		.stack_bytes = !user            ? 0
			       : fp             ? FP_STACK
			       : o->stack_bytes ? o->stack_bytes
						: UINT32_MAX,
		.switches = o->wall,
		.no_inherit = o->no_inherit,
		.on_demand = s->gate,
		.cpus_too = s->may_use_cpus,
		.spread = !o->exact,
		.cpus = o->cpus,
		.n_cpus = o->n_cpus,
		.cgroup_fd = s->cgroup_fd,
		.buffer_bytes = o->buffer_bytes,
		.filters = o->filters,
		.n_filters = o->n_filters,
		.wanted = o->wanted,
	};
}

static struct kin_error *open_list(struct session *s)
{
	struct rings_opts ro = rings_opts_of(s);
	set_all(&s->events, s->opts);
	return rings_open(&ro, &s->rings, &s->user_only);
}

/* Index of a requested context-switch event; n: none. It also serves to record waiting, and is
 * sampled at each switch: with two such events, kernels give samples of the second one the id of
 * the first. */
static size_t requested_switches(const struct session *s)
{
	const struct record_event *at = s->events.at.at;
	for (size_t i = 0; i < s->events.at.n; i++)
		if (record_event_is_switches(&at[i]) && !is_read_by_leader(at, i))
			return i;
	return s->events.at.n;
}

/* Samples at switches are taken inside the kernel: users who may not see that get none. */
static struct kin_error *open_with_switches(struct session *s)
{
	size_t n = s->events.at.n, requested = requested_switches(s);
	struct record_event before = { 0 };
	if (!s->opts->wall)
		return open_list(s);
	if (requested == n) {
		vec_push(&s->events.at, record_event_switches());
	} else {
		struct record_event *e = &s->events.at.at[requested];
		before = *e;
		e->at_switches = true;
		e->period = 1;
	}
	struct kin_error *err = open_list(s);
	s->exact_switches = !err && !s->user_only;
	if (!err && s->exact_switches)
		return NULL;
	kin_error_free(err);
	rings_free(s->rings);
	s->rings = NULL;
	s->events.at.n = n;
	if (requested < n)
		s->events.at.at[requested] = before;
	return open_list(s);
}

/* Whether the events of the CPUs may replace inherited ones. At high rates they would hold up the
 * recorder, too, and few tasks are shorter than a period. */
static bool may_use_cpus(const struct session *s)
{
	enum { RATE_MAX = 5000 };
	const struct record_opts *o = s->opts;
	const struct record_event *e = &s->events.at.at[0];
	return (o->argv || o->n_pids) && !o->everything && !o->n_tids && !o->no_inherit &&
	       !s->gate && s->events.at.n == 1 && !e->period && !o->period &&
	       (e->frequency ? e->frequency : o->frequency) <= RATE_MAX &&
	       (e->is_clock || record_event_is_cycles(e)) && rings_may_use_cpus();
}

/* If events are not sampled all the time, or of single tasks, a tracking event records all tasks
 * and mappings. */
static struct kin_error *open_with_tracking(struct session *s)
{
	size_t n = s->events.at.n;
	s->may_use_cpus = may_use_cpus(s);
	if (s->gate || s->may_use_cpus)
		vec_push(&s->events.at, record_event_tracking());
	struct kin_error *err = open_with_switches(s);
	if (err)
		s->events.at.n = n;
	return err;
}

static void use_clock(struct session *s, struct record_event *e)
{
	struct record_event clock = record_event_clock(!s->opts->everything);
	clock.exclude_kernel = e->exclude_kernel;
	clock.exclude_user = e->exclude_user;
	clock.exclude_idle = e->exclude_idle;
	clock.period = e->period;
	clock.frequency = e->frequency;
	clock.group = e->group;
	clock.group_is_read = e->group_is_read;
	*e = clock;
}

/* Replaces cycles by the CPU clock, on machines that have no counter of them. True if any event
 * changed. */
static bool replace_cycles(struct session *s)
{
	bool any = false;
	for (size_t i = 0; i < s->events.at.n; i++) {
		struct record_event *e = &s->events.at.at[i];
		if (!record_event_is_cycles(e))
			continue;
		use_clock(s, e);
		any = true;
	}
	return any;
}

/* Tells the user about the clock if cycles, or a period, were requested. */
static void tell_of_clock(struct session *s)
{
	const struct record_opts *o = s->opts;
	if (!o->events && !o->period)
		return;
	s->instead = "cycles";
	char *line = xprintf("this machine does not count cycles: samples are by %s%s",
			     s->events.at.at[0].is_clock ? s->events.at.at[0].name : "CPU time",
			     o->period ? ", and -c counts nanoseconds of it" : "");
	o->say(line);
	free(line);
}

static struct kin_error *open_events(struct session *s)
{
	struct kin_error *err = check_rate(s->opts);
	if (!err && s->opts->events)
		err = record_events_parse(s->opts->events, &s->events);
	else if (!err)
		vec_push(&s->events.at, record_event_cycles());
	if (!err)
		err = open_with_tracking(s);
	if (!err || kin_error_kind(err) != KIN_ERROR_UNSUPPORTED || !replace_cycles(s))
		return err;
	kin_error_free(err);
	err = open_with_tracking(s); /* sampling user mode only, if it was so before */
	if (!err)
		tell_of_clock(s);
	return err;
}

struct kin_error *record_check(const struct record_opts *opts)
{
	struct record_events events = { 0 };
	struct kin_error *err = check_rate(opts);
	if (!err && opts->events)
		err = record_events_parse(opts->events, &events);
	vec_free(&events.at);
	return err;
}

/* ---- the target ---- */

static struct kin_error *find_threads(struct session *s)
{
	const struct record_opts *o = s->opts;
	for (size_t i = 0; i < o->n_pids; i++) {
		struct kin_error *err = target_threads(o->pids[i], &s->followed);
		if (err)
			return err;
	}
	for (size_t i = 0; i < o->n_tids; i++)
		vec_push(&s->followed.at, o->tids[i]);
	target_threads_once(&s->followed);
	return NULL;
}

/* Opens a control group by its full path, or by its path below the control groups' mount. */
static int open_cgroup(const char *name)
{
	static const char *const roots[] = { "", "/sys/fs/cgroup/", "/sys/fs/cgroup/perf_event/" };
	int fd = -1;
	for (size_t i = name[0] == '/' ? 0 : 1; i < ARRAY_LEN(roots) && fd < 0; i++) {
		char *path = xprintf("%s%s", roots[i], name);
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		free(path);
	}
	return fd;
}

/* ---- files ---- */

static const char *job_variable(const char *name) { return getenv(name); }

/* Stores the parallel job that this process belongs to. */
static void put_job(struct kinfile_writer_opts *file, char id[64])
{
	struct job job = job_find(job_variable);
	snprintf(id, 64, "%s%s%s", job.id ? job.id : "", job.step ? "." : "",
		 job.step ? job.step : "");
	file->rank = job.rank;
	file->ranks = job.ranks;
	file->job = id;
}

static struct kinfile_writer_opts file_opts(const struct session *s)
{
	const struct record_opts *o = s->opts;
	const struct record_event *e = &s->events.at.at[0];
	bool own = o->argv && (o->everything || !record_is_apart(o));
	return (struct kinfile_writer_opts){
		.writer = KINF_BY_RECORDER,
		.pid = own              ? (uint32_t)s->target.pid
		       : o->n_pids == 1 ? (uint32_t)o->pids[0]
					: 0,
		.ppid = own ? (uint32_t)getpid() : 0,
		.level = o->compression,
		.machine = machine_native()->elf,
		.period_ns = !e->is_clock ? 0
			     : e->period  ? e->period
					  : 1000000000u / e->frequency,
	};
}

/* Samples kept in memory go into a file only at the end: check now that it can be made. */
static struct kin_error *try_output(struct session *s)
{
	struct kinfile_writer *w = NULL;
	struct kin_error *err = s->opts->parts.overwrite
					? kinfile_writer_open(s->opts->output, &s->file, &w)
					: NULL;
	kinfile_writer_abandon(w);
	return err;
}

static struct kin_error *open_files(struct session *s)
{
	const struct record_opts *o = s->opts;
	struct kinfile_writer *w = NULL;
	s->file = file_opts(s);
	put_job(&s->file, s->job);
	s->begin.time_ns = s->start_ns;
	struct kin_error *err = try_output(s);
	if (!err)
		err = session_open_file(s, &w);
	if (err)
		return err;
	if (parts_are_wanted(&o->parts))
		s->parts = parts_new(o->output, &o->parts);
	s->jit = jit_new();
	s->kernel = kernel_new();
	s->modules = modules_new(o->table_bytes);
	if (o->hold_files)
		modules_hold_files(s->modules, s->signals.files_before.rlim_cur);
	s->spaces = spaces_new(s->modules, unwinding_release);
	s->unwinding = unwinding_new(o->mode,
				     (struct unwinding_copies){ rings_stack_bytes(s->rings, false),
								rings_stack_bytes(s->rings, true) },
				     s->jit, o->check);
	s->recording = recording_new(w, s->jit, s->kernel, o->watch);
	if (o->parts.overwrite)
		recording_keep_recent(s->recording, RECENT_BYTES);
	s->result->recorded = true;
	return NULL;
}

/* ---- running ---- */

static bool failed(int status) { return !WIFEXITED(status) || WEXITSTATUS(status); }

static void keep_status(struct session *s)
{
	struct record_result *r = s->result;
	const struct rusage *u = &s->target.usage;
	r->ended = s->target.ended;
	if (s->target.ended && (!failed(r->status) || failed(s->target.status)))
		r->status = s->target.status;
	if (record_is_apart(s->opts) && !s->opts->everything)
		return; /* it only limits the time: its own does not count */
	s->used_ns += clock_cpu_ns(u);
	s->preempted += (uint64_t)u->ru_nivcsw;
	s->switched += (uint64_t)u->ru_nivcsw + (uint64_t)u->ru_nvcsw;
}

static struct kin_error *start_run(struct session *s, unsigned run)
{
	struct kin_error *err = target_start(s->opts->argv, &s->signals, &s->target);
	if (err)
		return err;
	if (run && !record_is_apart(s->opts))
		rings_follow(s->rings, &s->target.pid, 1, false);
	if (s->spaces)
		spaces_set_run(s->spaces, run);
	return NULL;
}

/* Called when the first run has started, or if there is no program. */
static struct kin_error *run_all(struct session *s)
{
	const struct record_opts *o = s->opts;
	unsigned runs = o->argv && o->runs ? o->runs : 1;
	for (unsigned run = 0; run < runs && !s->stop; run++) {
		struct kin_error *err = run ? start_run(s, run) : NULL;
		if (!err && run)
			err = target_go(&s->target, &s->signals, o->argv[0]);
		if (err)
			return err;
		if (run && s->gate)
			gate_begin_again(s->gate, s->rings, clock_now_ns());
		session_run(s);
		keep_status(s);
		if (s->deadline_ns && clock_now_ns() >= s->deadline_ns)
			break;
	}
	return NULL;
}

/* Runs the program without recording it: the program is more important than its profile. */
static struct kin_error *wait_unrecorded(struct session *s, struct kin_error *why)
{
	if (!s->opts->argv)
		return why;
	const char *output = s->opts->output;
	struct stat st;
	bool is_there = output && !stat(output, &st) && S_ISREG(st.st_mode);
	char *line = xprintf(
		"%s: nothing is recorded; the program runs%s%s%s%s", kin_error_message(why),
		kin_error_errno(why) ? " (-o names another file)" : "", is_there ? "; " : "",
		is_there ? output : "", is_there ? " stays as it is" : "");
	s->opts->say(line);
	free(line);
	kin_error_free(why);
	rings_free(s->rings);
	s->rings = NULL;
	target_wait(&s->target, &s->signals);
	keep_status(s);
	return NULL;
}

static void session_done(struct session *s)
{
	if (s->recording) { /* nothing ran: keep no file */
		recording_abandon_file(s->recording);
		recording_free(s->recording);
	}
	parts_free(s->parts);
	wall_free(s->wall);
	unwinding_free(s->unwinding);
	spaces_free(s->spaces);
	modules_free(s->modules);
	kernel_free(s->kernel);
	jit_free(s->jit);
	rings_free(s->rings);
	vec_free(&s->events.at);
	vec_free(&s->followed.at);
	vec_free(&s->places);
	free(s->event_ids);
	gate_free(s->gate);
	markers_free(s->markers);
	vec_free(&s->moments);
	if (s->cgroup_fd >= 0)
		close(s->cgroup_fd);
	kin_error_free(s->trouble);
}

static void size_of_file(struct session *s)
{
	struct stat st;
	s->result->audit.file_fixed = KINF_PAGE;
	if (s->parts) {
		s->result->n_parts = parts_count(s->parts);
		s->result->audit.file_fixed *= s->result->n_parts;
		s->result->audit.file_size = parts_bytes(s->parts);
	} else if (s->opts->output && !stat(s->opts->output, &st))
		s->result->audit.file_size = (uint64_t)st.st_size;
}

/* The file is made only once the program runs: one that cannot be started must not replace an older
 * recording. */
static struct kin_error *record_opened(struct session *s, bool *not_executed)
{
	const struct record_opts *o = s->opts;
	struct kin_error *err = NULL;
	signals_hurry(&s->signals);
	rings_attend(s->rings);
	s->start_ns = clock_now_ns();
	s->deadline_ns = o->duration_ns ? s->start_ns + o->duration_ns : 0;
	if (!o->argv || record_is_apart(o)) {
		rings_enable_tracking(s->rings);
		if (!s->gate)
			rings_enable(s->rings);
	} else if (s->may_use_cpus) {
		rings_enable(s->rings);
	}
	if (o->argv)
		err = target_go(&s->target, &s->signals, o->argv[0]);
	*not_executed = err;
	if (err)
		return err;
	if (s->gate)
		gate_begin(s->gate, s->rings, clock_now_ns());
	err = open_files(s);
	if (err)
		return wait_unrecorded(s, err);
	session_begin(s);
	err = run_all(s);
	session_end(s);
	s->result->held = modules_take_held(s->modules);
	size_of_file(s);
	s->result->stopped_by = s->stopped_by;
	return err;
}

/* Sets up what limits and controls the recording: control group, gate, markers. */
static struct kin_error *open_limits(struct session *s)
{
	const struct record_opts *o = s->opts;
	if (o->cgroup) {
		s->cgroup_fd = open_cgroup(o->cgroup);
		if (s->cgroup_fd < 0)
			return err_new(KIN_ERROR_USAGE, "control group '%s': %s", o->cgroup,
				       strerror(errno));
	}
	struct kin_error *err = o->markers ? markers_open(&s->markers) : NULL;
	if (!err && gate_is_needed(&o->gate))
		err = gate_open(&o->gate, &s->gate);
	return err;
}

static struct kin_error *record_signalled(struct session *s, bool *not_executed)
{
	const struct record_opts *o = s->opts;
	struct kin_error *err = find_threads(s);
	if (!err)
		err = open_limits(s);
	if (!err && o->argv)
		err = start_run(s, 0);
	if (err)
		return err;
	bool own = o->argv && !record_is_apart(o);
	if (own)
		vec_push(&s->followed.at, s->target.pid);
	err = open_events(s);
	if (own)
		s->followed.at.n = 0; /* it is followed from its exec on */
	if (!err)
		err = record_opened(s, not_executed);
	if (err && o->argv && !s->target.running)
		target_cancel(&s->target);
	return err;
}

struct kin_error *record(const struct record_opts *opts, struct record_result *ret,
			 bool *not_executed)
{
	*ret = (struct record_result){ 0 };
	*not_executed = false;
	if (!machine_native())
		return err_new(KIN_ERROR_UNSUPPORTED,
			       "cannot record here: kin does not know the registers of " KIN_MACHINE
			       "; reports of recordings made elsewhere work");
	struct session *s = xalloc(sizeof(*s));
	s->opts = opts;
	s->result = ret;
	s->cgroup_fd = -1;
	struct kin_error *err = opts->watch ? signals_open_few(&s->signals, &opts->watch->signals)
					    : signals_open(&s->signals);
	if (!err) {
		err = record_signalled(s, not_executed);
		signals_close(&s->signals);
	}
	session_done(s);
	free(s);
	return err;
}

/* ---- without permission ---- */

char *record_remedy(const struct record_opts *opts)
{
	int level = read_int("/proc/sys/kernel/perf_event_paranoid");
	if (opts->everything && level > 0 && geteuid())
		return xprintf("the whole machine takes root, or sudo sysctl "
			       "kernel.perf_event_paranoid=-1; for "
			       "programs of your own name the command, or -p PID");
	if (level > 2)
		return xprintf("kernel.perf_event_paranoid is %d: sudo sysctl "
			       "kernel.perf_event_paranoid=2",
			       level);
	bool of_kernel =
		opts->all_kernel ||
		(opts->events && (strstr(opts->events, ":k") || strstr(opts->events, "/k")));
	if (of_kernel && level > 1 && geteuid())
		return xprintf("the kernel's functions take root, or sudo sysctl "
			       "kernel.perf_event_paranoid=1");
	if (opts->events && tracefs_is_closed())
		return xprintf("trace points take root, or sudo mount -o remount,mode=755 "
			       "/sys/kernel/tracing");
	return xprintf("%sin a container its seccomp profile has to allow perf_event_open "
		       "(--cap-add PERFMON, --security-opt seccomp=...)",
		       opts->n_pids || opts->n_tids
			       ? "it takes root, or to be the user whose process it is; "
			       : "");
}
