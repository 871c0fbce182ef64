/* live.c - the recorder's thread, and the profiles that other threads take from it. */
#include "live/live.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/map64.h"
#include "base/num.h"
#include "base/vec.h"
#include "live/tally.h"
#include "record/recording.h"

struct live {
	struct record_opts opts;
	struct record_watch watch;
	pthread_t thread;
	atomic_bool stop, over;

	pthread_mutex_t lock; /* for all members below */
	pthread_cond_t changed;
	bool begun, done;
	struct kin_error *error; /* nothing was started */
	bool not_executed;
	struct record_result result;
	struct profile_builder *builder; /* data not taken yet, except the samples: */
	struct tally tally;
	struct map64 objects; /* module's number: id in the builder */
	uint64_t lost, lost_taken, dropped;
	struct live_progress progress;
	VEC(char *) messages;
	struct map64 placed; /* file ids of modules whose place was already looked up */
	VEC(struct live_place) places;
};

/* ---- in the recorder's thread ---- */

static void begun(void *arg)
{
	struct live *l = arg;
	pthread_mutex_lock(&l->lock);
	l->begun = true;
	pthread_cond_signal(&l->changed);
	pthread_mutex_unlock(&l->lock);
}

/* CPU time of the machine, which has been busy for that long since it started; 0: not known. */
static uint64_t machine_ns(void)
{
	enum { IDLE = 3, IOWAIT, FIELDS = 7 }; /* user nice system idle iowait irq softirq */
	unsigned long long ticks, sum = 0;
	FILE *f = fopen("/proc/stat", "re");

	if (!f)
		return 0;
	bool is_good = fscanf(f, "cpu") == 0;
	for (int i = 0; is_good && i < FIELDS; i++) {
		is_good = fscanf(f, "%llu", &ticks) == 1;
		sum += is_good && i != IDLE && i != IOWAIT ? ticks : 0;
	}
	fclose(f);
	return is_good ? sum * (1000000000 / (unsigned long)sysconf(_SC_CLK_TCK)) : 0;
}

static bool is_of_machine(const struct live *l)
{
	return l->opts.everything && !l->opts.n_cpus && !l->opts.cgroup;
}

static bool tick(void *arg, const struct record_seen *now)
{
	struct live *l = arg;
	pthread_mutex_lock(&l->lock);
	l->lost = now->lost;
	if (now->sampled_ns != l->progress.sampled_ns)
		l->progress = (struct live_progress){ is_of_machine(l) ? machine_ns() : now->cpu_ns,
						      now->sampled_ns };
	pthread_mutex_unlock(&l->lock);
	return atomic_load(&l->stop);
}

static strid string(struct live *l, const char *s)
{
	return profile_add_string(l->builder, s, strlen(s));
}

/* Adds the module's place to `places`, once per module. */
static void tell_place(struct live *l, const struct module *m, const char *build_id)
{
	uint32_t *asked = map64_at(&l->placed, m->file_id);
	if (*asked != NONE)
		return;
	*asked = 1;
	char *place = module_place(m);
	if (place)
		vec_push(&l->places, ((struct live_place){ xprintf("%s", m->name),
							   xprintf("%s", build_id), place }));
}

static objid object_of(struct live *l, const struct module *m)
{
	static const enum object_kind kinds[] = {
		[KINF_ELF] = OBJECT_ELF,   [KINF_KERNEL] = OBJECT_KERNEL,
		[KINF_VDSO] = OBJECT_VDSO, [KINF_KERNEL_MODULE] = OBJECT_KERNEL_MODULE,
		[KINF_JIT] = OBJECT_JIT,   [KINF_OTHER] = OBJECT_OTHER
	};
	char id[2 * BUILD_ID_MAX + 1] = "";

	/* The recorder has already given the module an id in its file. */
	uint32_t *at = map64_at(&l->objects, m->file_id);
	if (*at == NONE) {
		num_hex(id, m->build_id, m->build_id_size);
		*at = profile_add_object_of(l->builder, *m->name ? m->name : "//anon", id,
					    kinds[m->kind], m->main);
		tell_place(l, m, id);
	}
	return *at;
}

static objid kernel_object(struct live *l, const char *module)
{
	char path[80] = "[kernel.kallsyms]";
	if (module)
		snprintf(path, sizeof(path), "[%s]", module);
	return profile_add_object_of(l->builder, path, "",
				     module ? OBJECT_KERNEL_MODULE : OBJECT_KERNEL, false);
}

static frameid frame_of(struct live *l, const struct stack_frame *f,
			const struct watched_name *name)
{
	struct frame made = { .addr = f->addr,
			      .flags = f->flags,
			      .name = name->name ? string(l, name->name) : 0 };

	_Static_assert((unsigned)KINF_FRAME_RETURN == (unsigned)FRAME_RETURN &&
			       (unsigned)KINF_FRAME_KERNEL == (unsigned)FRAME_KERNEL &&
			       (unsigned)KINF_FRAME_GUESSED == (unsigned)FRAME_GUESSED &&
			       (unsigned)KINF_FRAME_SIGNAL == (unsigned)FRAME_SIGNAL &&
			       (unsigned)KINF_FRAME_MARK == (unsigned)FRAME_MARK,
		       "flags of frames are the same in both");
	if (f->flags & KINF_FRAME_KERNEL)
		made.object = kernel_object(l, name->module);
	else if (f->module)
		made.object = object_of(l, f->module);
	return profile_add_frame(l->builder, made);
}

static struct event event_of(struct live *l, const struct walked_sample *s)
{
	if (s->what)
		return (struct event){ .name = string(l, s->what->name),
				       .unit = s->what->is_clock ? EVENT_NS : EVENT_COUNT };
	return (struct event){ .name = string(l, s->waiting ? "waiting" : "blocked"),
			       .unit = EVENT_NS,
			       .kind = s->waiting ? EVENT_WAITING : EVENT_BLOCKED };
}

static void sample(void *arg, const struct walked_sample *s, const struct watched_name *names)
{
	struct live *l = arg;
	struct sample made = { .cpu = CPU_NONE, .count = 1, .weight = s->sample.weight };
	char comm[sizeof(s->comm) + 1] = "";

	memcpy(comm, s->comm, sizeof(s->comm));
	pthread_mutex_lock(&l->lock);
	if (l->tally.samples.n >= TALLY_MAX) { /* live_take() is called too seldom, or never */
		l->dropped++;
		pthread_mutex_unlock(&l->lock);
		return;
	}
	for (size_t i = s->n; i-- > 0;)
		made.stack = profile_add_stack(l->builder, made.stack,
					       frame_of(l, &s->frames[i], &names[i]));
	made.task = profile_add_task(l->builder, (struct task){ .pid = (uint32_t)s->pid,
								.tid = (uint32_t)s->tid,
								.comm = string(l, comm) });
	made.event = profile_add_event(l->builder, event_of(l, s));
	tally_add(&l->tally, &made);
	pthread_mutex_unlock(&l->lock);
}

/* The recorder's thread, for say(), which has no argument. */
static __thread struct live *recording;

static void say(const char *line)
{
	struct live *l = recording;
	pthread_mutex_lock(&l->lock);
	vec_push(&l->messages, xprintf("%s", line));
	pthread_mutex_unlock(&l->lock);
}

static void *live_run(void *arg)
{
	struct live *l = arg;
	struct record_result result;
	bool not_executed;
	sigset_t all;

	sigfillset(&all); /* signals are for the other threads */
	pthread_sigmask(SIG_BLOCK, &all, NULL);

	recording = l;
	struct kin_error *err = record(&l->opts, &result, &not_executed);
	atomic_store(&l->over, true);
	pthread_mutex_lock(&l->lock);
	l->error = err;
	l->not_executed = not_executed;
	l->result = result;
	l->lost = result.audit.lost;
	l->done = true;
	pthread_cond_signal(&l->changed);
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

/* ---- in other threads ---- */

static void free_live(struct live *l)
{
	profile_builder_free(l->builder);
	tally_done(&l->tally);
	map64_free(&l->objects);
	map64_free(&l->placed);
	for (size_t i = 0; i < l->places.n; i++)
		live_place_done(&l->places.at[i]);
	vec_free(&l->places);
	held_files_done(&l->result.held);
	for (size_t i = 0; i < l->messages.n; i++)
		free(l->messages.at[i]);
	vec_free(&l->messages);
	kin_error_free(l->error);
	pthread_mutex_destroy(&l->lock);
	pthread_cond_destroy(&l->changed);
	free(l);
}

static struct kin_error *with_remedy(const struct live *l, struct kin_error *err)
{
	int errnum = kin_error_errno(err);
	if (l->not_executed || (errnum != EACCES && errnum != EPERM))
		return err;
	char *remedy = record_remedy(&l->opts);
	struct kin_error *more = err_new(KIN_ERROR_OS, "%s: %s", kin_error_message(err), remedy);
	free(remedy);
	kin_error_free(err);
	return more;
}

struct kin_error *live_start(const struct record_opts *opts, struct live **ret)
{
	struct live *l = xalloc(sizeof(*l));
	l->watch =
		(struct record_watch){ .begun = begun, .sample = sample, .tick = tick, .arg = l };
	pthread_sigmask(SIG_SETMASK, NULL, &l->watch.signals);
	l->opts = *opts;
	l->opts.watch = &l->watch;
	l->opts.say = say;
	l->opts.output = NULL;
	l->opts.hold_files = true;
	if (is_of_machine(l))
		l->progress.cpu_ns = machine_ns();
	l->builder = profile_builder_new();
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->changed, NULL);
	int errnum = pthread_create(&l->thread, NULL, live_run, l);
	if (errnum) {
		free_live(l);
		return err_os(errnum, "cannot start a thread");
	}
	pthread_mutex_lock(&l->lock);
	while (!l->begun && !l->done)
		pthread_cond_wait(&l->changed, &l->lock);
	struct kin_error *err = l->error;
	l->error = NULL;
	pthread_mutex_unlock(&l->lock);
	if (err) {
		err = with_remedy(l, err);
		live_stop(l, NULL);
		return err;
	}
	*ret = l;
	return NULL;
}

struct profile *live_take(struct live *l)
{
	struct profile_builder *next = profile_builder_new();
	pthread_mutex_lock(&l->lock);
	struct profile_builder *b = l->builder;
	l->builder = next;
	map64_free(&l->objects);
	l->objects = (struct map64){ 0 };
	tally_move(&l->tally, b);
	profile_audit(b)->lost = l->lost - l->lost_taken + l->dropped;
	l->dropped = 0;
	l->lost_taken = l->lost;
	pthread_mutex_unlock(&l->lock);
	return profile_finish(b);
}

struct live_progress live_progress(struct live *l)
{
	pthread_mutex_lock(&l->lock);
	struct live_progress ret = l->progress;
	pthread_mutex_unlock(&l->lock);
	return ret;
}

bool live_is_over(struct live *l) { return atomic_load(&l->over); }

char *live_message(struct live *l)
{
	char *text = NULL;
	pthread_mutex_lock(&l->lock);
	if (l->messages.n) {
		text = l->messages.at[0];
		l->messages.n--;
		memmove(l->messages.at, l->messages.at + 1,
			l->messages.n * sizeof(*l->messages.at));
	}
	pthread_mutex_unlock(&l->lock);
	return text;
}

bool live_place(struct live *l, struct live_place *ret)
{
	pthread_mutex_lock(&l->lock);
	bool any = l->places.n;
	if (any)
		*ret = l->places.at[--l->places.n];
	pthread_mutex_unlock(&l->lock);
	return any;
}

void live_place_done(struct live_place *p)
{
	free(p->path);
	free(p->build_id);
	free(p->place);
}

void live_stop(struct live *l, struct record_result *result)
{
	if (!l)
		return;
	atomic_store(&l->stop, true);
	pthread_join(l->thread, NULL);
	if (result) {
		*result = l->result;
		result->held = (struct held_files){ 0 };
	} else {
		record_audit_done(&l->result.audit);
	}
	free_live(l);
}
