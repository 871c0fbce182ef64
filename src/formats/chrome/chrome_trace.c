/* chrome_trace.c - Chrome's trace events (the "Trace Event Format"), which Perfetto,
 * chrome://tracing and speedscope read: the functions of each thread, as slices in time.
 *
 * A sample stands for the time until the thread's next one, at most three times its own weight if
 * that is time, so that a sleeping thread is not shown at work. A function on the stacks of
 * consecutive samples is one slice. Samples without times are laid end to end. */
#include <stdlib.h>

#include "base/json.h"
#include "base/num.h"
#include "formats/chrome/chrome_trace.h"
#include "formats/formats.h"
#include "formats/tracks.h"

struct slice { /* an open slice */
	uint32_t function;
	uint64_t since_ns;
};

struct chrome {
	struct exported x;
	struct tracks tracks;
	struct track_path path;
	struct sink sink;
	VEC(struct slice) open;
	VEC(char *) names; /* by function: as JSON, with quotes */
	char *head;        /* "pid":1,"tid":2 */
	bool any;
};

static void put_number(struct sink *s, uint64_t v) { s->n += num_u64(sink_room(s, NUM_MAX), v); }

/* Writes microseconds, with a fraction. */
static void put_time(struct sink *s, uint64_t ns)
{
	uint64_t rest = ns % 1000;
	put_number(s, ns / 1000);
	if (!rest)
		return;
	char digits[] = { '.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10),
			  (char)('0' + rest % 10) };
	sink_bytes(s, digits, sizeof(digits));
}

static void begin_event(struct chrome *c, const char *phase)
{
	sink_str(&c->sink, c->any ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
	sink_str(&c->sink, phase);
	sink_str(&c->sink, "\",");
	sink_str(&c->sink, c->head);
	c->any = true;
}

static const char *name_of(struct chrome *c, uint32_t function)
{
	while (c->names.n <= function)
		vec_push(&c->names, NULL);
	char **name = &c->names.at[function];
	if (*name)
		return *name;
	size_t size;
	FILE *f = xopen_memstream(name, &size);
	struct sink *s = xalloc(sizeof(*s));
	sink_init(s, f);
	json_string(s, kin_samples_function(c->x.samples, function)->name);
	sink_flush(s);
	free(s);
	xclose_memstream(f, name);
	return *name;
}

/* Ends the slices from `depth` on. */
static void close_from(struct chrome *c, size_t depth, uint64_t now)
{
	while (c->open.n > depth) {
		struct slice s = c->open.at[--c->open.n];
		begin_event(c, "X");
		sink_str(&c->sink, ",\"ts\":");
		put_time(&c->sink, s.since_ns);
		sink_str(&c->sink, ",\"dur\":");
		put_time(&c->sink, now - s.since_ns);
		sink_str(&c->sink, ",\"name\":");
		sink_str(&c->sink, name_of(c, s.function));
		sink_char(&c->sink, '}');
	}
}

static void show(struct chrome *c, uint32_t stack, uint64_t now)
{
	size_t same = 0;
	track_path_of(&c->x, stack, &c->path);
	while (same < c->open.n && same < c->path.functions.n &&
	       c->open.at[same].function == c->path.functions.at[same])
		same++;
	close_from(c, same, now);
	for (size_t i = same; i < c->path.functions.n; i++)
		vec_push(&c->open, ((struct slice){ c->path.functions.at[i], now }));
}

/* The time for which the thread is assumed to stay at the sample's stack. */
static uint64_t duration(const struct chrome *c, const struct track *t, size_t i)
{
	enum { MOST = 3 };
	const struct track_sample *s = &t->at.at[i];
	bool is_time = *exported_event(&c->x, t->event)->unit;
	if (!s->time_ns)
		return is_time ? s->weight : s->weight * 1000;
	if (i + 1 == t->at.n || s[1].time_ns <= s->time_ns)
		return is_time && i + 1 == t->at.n ? s->weight : 0;
	uint64_t to_next = s[1].time_ns - s->time_ns;
	return is_time && to_next / MOST > s->weight ? s->weight : to_next;
}

static void put_slices(struct chrome *c, const struct track *t)
{
	uint64_t now = 0, end = 0;
	for (size_t i = 0; i < t->at.n; i++) {
		const struct track_sample *s = &t->at.at[i];
		now = s->time_ns ? s->time_ns - c->tracks.first_ns : end;
		if (now < end)
			now = end;
		if (now > end)
			close_from(c, 0, end);
		show(c, s->stack, now);
		end = now + duration(c, t, i);
	}
	close_from(c, 0, end);
}

static void put_name(struct chrome *c, const char *what, const char *name)
{
	begin_event(c, "M");
	sink_str(&c->sink, ",\"name\":\"");
	sink_str(&c->sink, what);
	sink_str(&c->sink, "\",\"args\":{\"name\":");
	json_string(&c->sink, name);
	sink_str(&c->sink, "}}");
}

/* Slices of a thread must nest, so each event of a thread is written as a thread of its own, with
 * an unused number. */
static void put_track(struct chrome *c, size_t i, uint32_t first_free)
{
	const struct track *t = &c->tracks.at[i];
	const struct kin_thread *thread = kin_samples_thread(c->x.samples, t->thread);
	bool is_first = !i || t[-1].thread != t->thread;
	uint32_t tid = is_first && thread->tid ? thread->tid : first_free + (uint32_t)i;
	char *name = exported_thread_name(&c->x, t->thread);
	char *title = xprintf("%s: %s", name, exported_event(&c->x, t->event)->name);
	c->head = xprintf("\"pid\":%u,\"tid\":%u", thread->pid ? thread->pid : 1, tid);
	put_name(c, "process_name", thread->name);
	put_name(c, "thread_name", c->x.n_events > 1 ? title : name);
	put_slices(c, t);
	free(c->head);
	free(title);
	free(name);
}

static void write_all(void *own, FILE *out)
{
	struct chrome *c = own;
	uint32_t free_tid = 1;
	sink_init(&c->sink, out);
	c->tracks = tracks_of(&c->x);
	for (size_t i = 0; i < c->tracks.n; i++) {
		uint32_t tid = kin_samples_thread(c->x.samples, c->tracks.at[i].thread)->tid;
		free_tid = tid >= free_tid && tid < UINT32_MAX / 2 ? tid + 1 : free_tid;
	}
	sink_str(&c->sink, CHROME_TRACE_HEAD);
	for (size_t i = 0; i < c->tracks.n; i++)
		put_track(c, i, free_tid);
	sink_str(&c->sink, "]}\n");
	sink_flush(&c->sink);
	for (size_t i = 0; i < c->names.n; i++)
		free(c->names.at[i]);
	vec_free(&c->names);
	vec_free(&c->open);
	tracks_done(&c->tracks);
	track_path_done(&c->path);
}

static struct kin_error *chrome_write(struct kin_profile *profile,
				      const struct kin_export_opts *opts, FILE *out)
{
	return exported_write(profile, opts, sizeof(struct chrome), write_all, out);
}

const struct format chrome_trace_format = {
	.about = { .name = "chrome-trace",
		   .what = "Chrome's trace events, for Perfetto: what each thread was in, over "
			   "time",
		   .endings = (const char *const[]){ ".trace.json", NULL },
		   .is_written = true },
	.write = chrome_write,
};
