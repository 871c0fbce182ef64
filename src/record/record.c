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

#include "base/err.h"
#include "record/session.h"

enum { DEFAULT_FREQUENCY = 999, FP_STACK = 1024 };

/* ---- events ---- */

static void set_rate(struct record_event *e, const struct record_opts *o)
{
	if (e->is_switches)
		return;
	e->period = o->period;
	e->frequency = o->frequency ? o->frequency : DEFAULT_FREQUENCY;
	if (o->period && e->is_clock && o->period < 10000)
		e->period = 10000; /* the least that the kernel's timers do, in ns */
}

/* Everything but the list itself. */
static struct rings_opts rings_opts_of(struct session *s)
{
	const struct record_opts *o = s->opts;
	bool fp = o->mode == UNWINDING_FP;
	return (struct rings_opts){
		.events = &s->events,
		.tids = s->followed.at.at,
		.n_tids = o->everything ? 0 : s->followed.at.n,
		.on_exec = o->argv && !o->everything,
		.callchain = true,
		.user_chain = fp,
		.stack_bytes = fp ? FP_STACK : UINT32_MAX,
		.switches = o->wall,
	};
}

static struct kin_error *open_list(struct session *s)
{
	struct rings_opts ro = rings_opts_of(s);
	for (size_t i = 0; i < s->events.at.n; i++)
		set_rate(&s->events.at.at[i], s->opts);
	return rings_open(&ro, &s->rings, &s->user_only);
}

/* Samples at switches are taken inside the kernel: whoever may not see that gets none. */
static struct kin_error *open_with_switches(struct session *s)
{
	if (!s->opts->wall)
		return open_list(s);
	vec_push(&s->events.at, record_event_switches());
	struct kin_error *err = open_list(s);
	s->exact_switches = !err && !s->user_only;
	if (!err && s->exact_switches)
		return NULL;
	kin_error_free(err);
	rings_free(s->rings);
	s->rings = NULL;
	s->events.at.n--;
	return open_list(s);
}

/* Cycles where there is something that counts them, else time. */
static struct kin_error *open_usual(struct session *s)
{
	vec_push(&s->events.at, record_event_cycles());
	struct kin_error *err = open_with_switches(s);
	if (!err || s->opts->period)
		return err;
	kin_error_free(err);
	s->events.at.n = 0;
	s->user_only = false;
	vec_push(&s->events.at, record_event_clock(!s->opts->everything));
	return open_with_switches(s);
}

static struct kin_error *open_events(struct session *s)
{
	if (!s->opts->events)
		return open_usual(s);
	struct kin_error *err = record_events_parse(s->opts->events, &s->events);
	return err ? err : open_with_switches(s);
}

/* ---- what is followed ---- */

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
	return NULL;
}

/* ---- files ---- */

static struct kin_error *open_files(struct session *s)
{
	const struct record_opts *o = s->opts;
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	uint64_t late_ns = session_now() - s->start_ns;
	const struct record_event *e = &s->events.at.at[0];
	struct kin_writer_opts wo = {
		.writer = KINF_BY_RECORDER,
		.pid = o->argv          ? (uint32_t)s->target.pid
		       : o->n_pids == 1 ? (uint32_t)o->pids[0]
					: 0,
		.ppid = o->argv ? (uint32_t)getpid() : 0,
#if defined(__x86_64__)
		.machine = EM_X86_64,
#else
		.machine = EM_AARCH64,
#endif
		.start_ns = s->start_ns,
		.start_time_ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec - late_ns,
		.period_ns = !e->is_clock ? 0
			     : e->period  ? e->period
					  : 1000000000u / e->frequency,
	};
	struct kin_writer *w = NULL;
	struct kin_error *err = NULL;
	if (o->output)
		err = kin_writer_open(o->output, &wo, &w);
	else
		w = kin_writer_to_nowhere(&wo);
	if (err)
		return err;
	s->jit = jit_new();
	s->kernel = kernel_new();
	s->modules = modules_new();
	s->spaces = spaces_new(s->modules, unwinding_release);
	s->unwinding = unwinding_new(o->mode, rings_stack_bytes(s->rings));
	s->recording = recording_new(w, s->jit, s->kernel, o->watch);
	s->result->recorded = true;
	size_t n_events = s->events.at.n - s->exact_switches;
	if (o->perf_data &&
	    (err = perfdata_open(o->perf_data, s->rings, n_events, s->kernel, &s->perfdata))) {
		o->say(kin_error_message(err));
		kin_error_free(err);
	}
	return NULL;
}

/* ---- running ---- */

static bool failed(int status) { return !WIFEXITED(status) || WEXITSTATUS(status); }

static uint64_t ns_of(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000;
}

static void keep_status(struct session *s)
{
	struct record_result *r = s->result;
	const struct rusage *u = &s->target.usage;
	s->used_ns += ns_of(u->ru_utime) + ns_of(u->ru_stime);
	s->preempted += (uint64_t)u->ru_nivcsw;
	s->switched += (uint64_t)u->ru_nivcsw + (uint64_t)u->ru_nvcsw;
	r->ended = s->target.ended;
	if (s->target.ended && (!failed(r->status) || failed(s->target.status)))
		r->status = s->target.status;
}

static struct kin_error *start_run(struct session *s, unsigned run)
{
	struct kin_error *err = target_start(s->opts->argv, &s->signals, &s->target);
	if (err)
		return err;
	if (run && !s->opts->everything)
		rings_follow(s->rings, &s->target.pid, 1, false);
	if (s->spaces)
		spaces_set_run(s->spaces, run);
	return NULL;
}

/* The first run is under way, or there is no program. */
static struct kin_error *run_all(struct session *s)
{
	const struct record_opts *o = s->opts;
	unsigned runs = o->argv && o->runs ? o->runs : 1;
	for (unsigned run = 0; run < runs && !s->stop; run++) {
		struct kin_error *err = run ? start_run(s, run) : NULL;
		if (!err && run)
			err = target_go(&s->target, o->argv[0]);
		if (err)
			return err;
		session_run(s);
		keep_status(s);
		if (s->deadline_ns && session_now() >= s->deadline_ns)
			break;
	}
	return NULL;
}

/* The program is more important than its profile. */
static struct kin_error *wait_unrecorded(struct session *s, struct kin_error *why)
{
	if (!s->opts->argv)
		return why;
	char *line = xprintf("%s: nothing is recorded; the program runs%s", kin_error_message(why),
			     kin_error_errno(why) ? " (-o names another file)" : "");
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
	if (s->recording) /* nothing ran: nothing is to be kept */
		kin_writer_abandon(recording_writer(s->recording));
	wall_free(s->wall);
	unwinding_free(s->unwinding);
	spaces_free(s->spaces);
	modules_free(s->modules);
	kernel_free(s->kernel);
	jit_free(s->jit);
	rings_free(s->rings);
	vec_free(&s->events.at);
	vec_free(&s->followed.at);
	free(s->event_ids);
	kin_error_free(s->trouble);
}

static void size_of_file(struct session *s)
{
	struct stat st;
	if (s->opts->output && !stat(s->opts->output, &st))
		s->result->audit.file_size = (uint64_t)st.st_size;
}

/* The file is made once the program runs: what cannot be started replaces no older recording. */
static struct kin_error *record_opened(struct session *s, bool *not_executed)
{
	const struct record_opts *o = s->opts;
	struct kin_error *err = NULL;
	signals_hurry(&s->signals);
	s->start_ns = session_now();
	s->deadline_ns = o->duration_ns ? s->start_ns + o->duration_ns : 0;
	if (!o->argv || o->everything)
		rings_enable(s->rings);
	if (o->argv)
		err = target_go(&s->target, o->argv[0]);
	*not_executed = err;
	if (err)
		return err;
	err = open_files(s);
	if (err)
		return wait_unrecorded(s, err);
	session_begin(s);
	err = run_all(s);
	session_end(s);
	size_of_file(s);
	s->result->stopped_by = s->stopped_by;
	return err;
}

static struct kin_error *record_signalled(struct session *s, bool *not_executed)
{
	const struct record_opts *o = s->opts;
	struct kin_error *err = find_threads(s);
	if (!err && o->argv)
		err = start_run(s, 0);
	if (err)
		return err;
	if (o->argv)
		vec_push(&s->followed.at, s->target.pid);
	err = open_events(s);
	if (o->argv && !o->everything)
		s->followed.at.n = 0; /* it is seen from its exec on */
	if (!err)
		err = record_opened(s, not_executed);
	if (err && o->argv && !s->target.running)
		target_cancel(&s->target);
	return err;
}

struct kin_error *record(const struct record_opts *opts, struct record_result *ret,
			 bool *not_executed)
{
	struct session *s = xalloc(sizeof(*s));
	*ret = (struct record_result){ 0 };
	*not_executed = false;
	s->opts = opts;
	s->result = ret;
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

char *record_remedy(const struct record_opts *opts)
{
	int level = read_int("/proc/sys/kernel/perf_event_paranoid");
	if (opts->everything && level > 0)
		return xprintf("the whole machine takes root, or sudo sysctl "
			       "kernel.perf_event_paranoid=-1; for "
			       "programs of your own name the command, or -p PID");
	if (level > 2)
		return xprintf("kernel.perf_event_paranoid is %d: sudo sysctl "
			       "kernel.perf_event_paranoid=2",
			       level);
	if (opts->n_pids || opts->n_tids)
		return xprintf("it takes root, or to be the user whose process it is");
	return xprintf("in a container its seccomp profile has to allow perf_event_open "
		       "(--cap-add PERFMON, --security-opt seccomp=...)");
}
