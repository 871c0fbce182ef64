/* speedscope_write.c - writes a profile of samples in time for each thread and event; frames are
 * functions. */
#include <stdlib.h>

#include "base/json.h"
#include "base/num.h"
#include "formats/speedscope/speedscope.h"
#include "formats/tracks.h"

struct speedscope_writer {
	struct exported x;
	struct tracks tracks;
	struct track_path path;
	struct sink sink;
};

static void put_number(struct sink *s, uint64_t v) { s->n += num_u64(sink_room(s, NUM_MAX), v); }

static void put_samples(struct speedscope_writer *c, const struct track *t)
{
	for (size_t i = 0; i < t->at.n; i++) {
		sink_str(&c->sink, i ? ",[" : "[");
		track_path_of(&c->x, t->at.at[i].stack, &c->path);
		for (size_t k = 0; k < c->path.functions.n; k++) {
			if (k)
				sink_char(&c->sink, ',');
			put_number(&c->sink, c->path.functions.at[k]);
		}
		sink_char(&c->sink, ']');
	}
}

static void put_track(struct speedscope_writer *c, const struct track *t)
{
	const struct kin_event *e = exported_event(&c->x, t->event);
	char *thread = exported_thread_name(&c->x, t->thread);
	char *name =
		c->x.n_events == 1 ? xprintf("%s", thread) : xprintf("%s: %s", thread, e->name);
	sink_str(&c->sink, "{\"type\":\"sampled\",\"name\":");
	json_string(&c->sink, name);
	sink_str(&c->sink, ",\"" TRACK_EVENT "\":");
	json_string(&c->sink, e->name);
	sink_str(&c->sink, ",\"unit\":");
	sink_str(&c->sink, *e->unit ? "\"nanoseconds\"" : "\"none\"");
	sink_str(&c->sink, ",\"startValue\":0,\"endValue\":");
	put_number(&c->sink, t->weight);
	sink_str(&c->sink, ",\"samples\":[");
	put_samples(c, t);
	sink_str(&c->sink, "],\"weights\":[");
	for (size_t i = 0; i < t->at.n; i++) {
		if (i)
			sink_char(&c->sink, ',');
		put_number(&c->sink, t->at.at[i].weight);
	}
	sink_str(&c->sink, "]}");
	free(thread);
	free(name);
}

static void put_frames(struct speedscope_writer *c)
{
	for (uint32_t i = 0; i < kin_samples_n_functions(c->x.samples); i++) {
		const struct kin_function *f = kin_samples_function(c->x.samples, i);
		sink_str(&c->sink, i ? ",\n{\"name\":" : "{\"name\":");
		json_string(&c->sink, f->name);
		if (*f->file) {
			sink_str(&c->sink, ",\"file\":");
			json_string(&c->sink, f->file);
		}
		if (f->line) {
			sink_str(&c->sink, ",\"line\":");
			put_number(&c->sink, f->line);
		}
		sink_char(&c->sink, '}');
	}
}

/* The profile to be shown first: the one of the main event with the largest weight. */
static size_t find_active(const struct speedscope_writer *c)
{
	size_t best = 0;
	for (size_t i = 1; i < c->tracks.n; i++) {
		const struct track *t = &c->tracks.at[i], *b = &c->tracks.at[best];
		bool main = t->event == c->x.main, best_is_main = b->event == c->x.main;
		if (main > best_is_main || (main == best_is_main && t->weight > b->weight))
			best = i;
	}
	return best;
}

static void write_all(void *own, FILE *out)
{
	struct speedscope_writer *c = own;
	sink_init(&c->sink, out);
	c->tracks = tracks_of(&c->x);
	sink_str(&c->sink, "{\"$schema\":\"" SPEEDSCOPE_SCHEMA "\",\n"
			   "\"exporter\":\"kin " KIN_VERSION "\",\"name\":");
	json_string(&c->sink, c->x.title);
	sink_str(&c->sink, ",\"activeProfileIndex\":");
	put_number(&c->sink, find_active(c));
	sink_str(&c->sink, ",\n\"profiles\":[");
	for (size_t i = 0; i < c->tracks.n; i++) {
		if (i)
			sink_str(&c->sink, ",\n");
		put_track(c, &c->tracks.at[i]);
	}
	sink_str(&c->sink, "],\n\"shared\":{\"frames\":["); /* by now all frames are known */
	put_frames(c);
	sink_str(&c->sink, "]}}\n");
	sink_flush(&c->sink);
	tracks_done(&c->tracks);
	track_path_done(&c->path);
}

struct kin_error *speedscope_write(struct kin_profile *profile, const struct kin_export_opts *opts,
				   FILE *out)
{
	return exported_write(profile, opts, sizeof(struct speedscope_writer), write_all, out);
}
