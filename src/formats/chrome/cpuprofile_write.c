/* cpuprofile_write.c - writes the main event as a profile of V8 (DevTools protocol, type
 * Profiler.Profile), which VS Code and Chrome's DevTools open.
 *
 * It has one tree of calls and one list of samples in order, so threads, if there are several,
 * stand one after the other, each below a node of its own. A sample stands for the time up to the
 * next one: timeDeltas[0] is the time before the first. */
#include <stdlib.h>

#include "base/json.h"
#include "base/num.h"
#include "formats/chrome/cpuprofile.h"
#include "formats/tracks.h"

struct written_node {          /* id: its index + 1, as viewers expect */
	uint32_t function;     /* NONE: `name` */
	const char *name;      /* of the root, or a thread */
	uint32_t parent, last; /* indices; last: its latest child, NONE: it has none */
	uint32_t before;       /* the child of its parent before it; NONE: it is the first */
	uint64_t hits;
};

struct cpuprofile_writer {
	struct exported x;
	struct tracks tracks;
	struct track_path path;
	struct sink sink;
	VEC(struct written_node) nodes;
	struct map64 index; /* MAP64_PAIR(parent, function) -> index in nodes */
	VEC(char *) threads;
	VEC(uint32_t) samples; /* index in nodes, in order; of all threads */
	VEC(uint64_t) end_us;  /* the end of each sample's time, since the start */
};

static void put_number(struct sink *s, uint64_t v) { s->n += num_u64(sink_room(s, NUM_MAX), v); }

static uint32_t add_node(struct cpuprofile_writer *c, uint32_t parent, uint32_t function,
			 const char *name)
{
	uint32_t id = (uint32_t)c->nodes.n;
	struct written_node n = { function, name, parent, NONE, NONE, 0 };
	if (parent != NONE) {
		n.before = c->nodes.at[parent].last;
		c->nodes.at[parent].last = id;
	}
	vec_push(&c->nodes, n);
	return id;
}

static uint32_t node_of(struct cpuprofile_writer *c, uint32_t root, uint32_t stack)
{
	uint32_t at = root;
	track_path_of(&c->x, stack, &c->path);
	for (size_t i = 0; i < c->path.functions.n; i++) {
		uint32_t function = c->path.functions.at[i];
		uint32_t *id = map64_at(&c->index, MAP64_PAIR(at, function));
		if (*id == NONE)
			*id = add_node(c, at, function, NULL);
		at = *id;
	}
	return at;
}

/* Ends are rounded, rather than durations, so that these add up. */
static void add_track(struct cpuprofile_writer *c, const struct track *t, bool is_time,
		      uint32_t root, uint64_t *sum)
{
	for (size_t i = 0; i < t->at.n; i++) {
		const struct track_sample *s = &t->at.at[i];
		uint32_t node = node_of(c, root, s->stack);
		if (__builtin_add_overflow(*sum, s->weight, sum))
			*sum = UINT64_MAX;
		c->nodes.at[node].hits += s->count;
		vec_push(&c->samples, node);
		vec_push(&c->end_us, is_time ? *sum / 1000 : *sum);
	}
}

static void add_samples(struct cpuprofile_writer *c)
{
	bool is_time = *exported_event(&c->x, c->x.main)->unit;
	size_t n_threads = 0;
	uint64_t sum = 0;
	uint32_t root = add_node(c, NONE, NONE, "(root)");
	for (size_t i = 0; i < c->tracks.n; i++)
		n_threads += c->tracks.at[i].event == c->x.main;
	for (size_t i = 0; i < c->tracks.n; i++) {
		const struct track *t = &c->tracks.at[i];
		uint32_t top = root;
		if (t->event != c->x.main)
			continue;
		if (n_threads > 1) {
			char *name = exported_thread_name(&c->x, t->thread);
			vec_push(&c->threads, xprintf("(%s)", name));
			free(name);
			top = add_node(c, root, NONE, c->threads.at[c->threads.n - 1]);
		}
		add_track(c, t, is_time, top, &sum);
	}
}

/* Lines and columns begin with 0, and are -1 where they are not known. */
static void put_frame(struct cpuprofile_writer *c, const struct written_node *n)
{
	const struct kin_function *f =
		n->function == NONE ? NULL : kin_samples_function(c->x.samples, n->function);
	sink_str(&c->sink, "\"callFrame\":{\"functionName\":");
	json_string(&c->sink, f ? f->name : n->name);
	sink_str(&c->sink, ",\"scriptId\":\"0\",\"url\":");
	json_string(&c->sink, f ? f->file : "");
	sink_str(&c->sink, ",\"lineNumber\":");
	if (f && f->line)
		put_number(&c->sink, f->line - 1);
	else
		sink_str(&c->sink, "-1");
	sink_str(&c->sink, f && f->line ? ",\"columnNumber\":0}" : ",\"columnNumber\":-1}");
}

static void put_nodes(struct cpuprofile_writer *c)
{
	for (size_t i = 0; i < c->nodes.n; i++) {
		const struct written_node *n = &c->nodes.at[i];
		sink_str(&c->sink, i ? ",\n{\"id\":" : "{\"id\":");
		put_number(&c->sink, i + 1);
		sink_char(&c->sink, ',');
		put_frame(c, n);
		sink_str(&c->sink, ",\"hitCount\":");
		put_number(&c->sink, n->hits);
		sink_str(&c->sink, ",\"children\":[");
		for (uint32_t k = n->last; k != NONE; k = c->nodes.at[k].before) {
			if (k != n->last)
				sink_char(&c->sink, ',');
			put_number(&c->sink, k + 1);
		}
		sink_str(&c->sink, "]}");
	}
}

static void put_times(struct cpuprofile_writer *c)
{
	sink_str(&c->sink, "],\n\"startTime\":0,\"endTime\":");
	put_number(&c->sink, c->end_us.n ? c->end_us.at[c->end_us.n - 1] : 0);
	sink_str(&c->sink, ",\n\"samples\":[");
	for (size_t i = 0; i < c->samples.n; i++) {
		if (i)
			sink_char(&c->sink, ',');
		put_number(&c->sink, c->samples.at[i] + 1);
	}
	sink_str(&c->sink, "],\n\"timeDeltas\":[");
	for (size_t i = 0; i < c->samples.n; i++) {
		uint64_t end = i ? c->end_us.at[i - 1] : 0, begin = i > 1 ? c->end_us.at[i - 2] : 0;
		if (i)
			sink_char(&c->sink, ',');
		put_number(&c->sink, end - begin);
	}
	sink_str(&c->sink, "]}\n");
}

static void write_all(void *own, FILE *out)
{
	struct cpuprofile_writer *c = own;
	sink_init(&c->sink, out);
	c->tracks = tracks_of(&c->x);
	add_samples(c);
	sink_str(&c->sink, "{\"nodes\":[");
	put_nodes(c);
	put_times(c);
	sink_flush(&c->sink);
	tracks_done(&c->tracks);
	track_path_done(&c->path);
	map64_free(&c->index);
	vec_free(&c->nodes);
	vec_free(&c->samples);
	vec_free(&c->end_us);
	for (size_t i = 0; i < c->threads.n; i++)
		free(c->threads.at[i]);
	vec_free(&c->threads);
}

struct kin_error *cpuprofile_write(struct kin_profile *profile, const struct kin_export_opts *opts,
				   FILE *out)
{
	return exported_write(profile, opts, sizeof(struct cpuprofile_writer), write_all, out);
}
