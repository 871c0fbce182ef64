/* perf_file.c - perf.data: the header, the events, and the sections about the recording. */
#include <string.h>

#include "base/err.h"
#include "formats/formats.h"
#include "formats/perfdata/perf.h"
#include "formats/perfdata/perf_write.h"

struct perf_section {
	uint64_t offset, size;
};

void perf_damaged(struct perf *p, uint64_t offset, const char *what)
{
	if (!p->err)
		p->err = err_new(KIN_ERROR_FORMAT, "%s: damaged at offset %#jx: %s", p->name,
				 (uintmax_t)offset, what);
}

static void cut_off(struct perf *p, uint64_t offset, const char *what)
{
	if (!p->err)
		p->err = err_new(
			KIN_ERROR_FORMAT,
			"%s: cut off in the %s at offset %#jx: the recording or the copy did "
			"not finish",
			p->name, what, (uintmax_t)offset);
}

void perf_another(struct perf *p, uint64_t offset)
{
	if (!p->err)
		p->err = format_another(p->name, offset);
}

static bool probe(struct bytes head, const struct input_opts *o)
{
	(void)o;
	return bytes_left(&head) >= 8 &&
	       (!memcmp(head.pos, "PERFILE2", 8) || !memcmp(head.pos, "2ELIFREP", 8));
}

/* Keeps the end of the last section in p->end: there the file ends. */
static void note_end(struct perf *p, struct perf_section s)
{
	if (s.offset <= UINT64_MAX - s.size && s.offset + s.size > p->end)
		p->end = s.offset + s.size;
}

/* Moves to a section; false if the file does not have all of it. */
static bool is_there(struct window *w, struct perf_section s)
{
	return window_seek(w, s.offset) && s.size <= window_left(w);
}

/* The same, and makes all of it available. */
static bool go_to(struct window *w, struct perf_section s)
{
	return is_there(w, s) && window_need(w, (size_t)s.size) >= s.size;
}

static struct perf_section read_section(struct perf *p, const uint8_t *at)
{
	return (struct perf_section){ perf_u64(p, at), perf_u64(p, at + 8) };
}

/* ---- events ---- */

static void read_ids(struct perf *p, struct window *w, struct perf_section ids, uint32_t attr)
{
	if (!ids.size)
		return;
	if (!go_to(w, ids)) {
		cut_off(p, ids.offset, "ids of an event");
		return;
	}
	for (uint64_t i = 0; i + 8 <= ids.size; i += 8)
		perf_attrs_add_id(p, perf_u64(p, w->b.pos + i), attr);
}

static void read_attrs(struct perf *p, struct window *w, struct perf_section attrs, uint64_t each)
{
	if (each < PERF_ATTR_MIN + 16 || each > UINT16_MAX) {
		perf_damaged(p, 16, "an impossible size of events");
		return;
	}
	for (uint64_t at = 0; at + each <= attrs.size; at += each) {
		if (!go_to(w, (struct perf_section){ attrs.offset + at, each })) {
			cut_off(p, attrs.offset + at, "list of events");
			return;
		}
		uint32_t index = (uint32_t)p->attrs.at.n;
		struct bytes b = bytes_take(&w->b, (size_t)each - 16);
		struct perf_section ids = read_section(p, w->b.pos);
		if (!perf_attrs_add(p, b)) {
			perf_damaged(p, attrs.offset + at, "too many events");
			return;
		}
		read_ids(p, w, ids, index);
	}
}

/* ---- features ---- */

static void read_feature(struct perf *p, struct window *w, unsigned feature, struct perf_section s)
{
	static const unsigned wanted[] = {
		PERF_F_BUILD_ID,   PERF_F_HOSTNAME,     PERF_F_ARCH,         PERF_F_NRCPUS,
		PERF_F_EVENT_DESC, PERF_F_CPU_TOPOLOGY, PERF_F_BRANCH_STACK, PERF_F_GROUP_DESC,
		PERF_F_DIR_FORMAT, PERF_F_OSRELEASE,    PERF_F_TRACING_DATA, PERF_F_CLOCK_DATA,
		PERF_F_FILE,       PERF_F_FILE2
	};
	bool is_wanted = p->watcher;
	note_end(p, s);
	for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
		is_wanted = is_wanted || wanted[i] == feature;
	if (!is_wanted && (!s.size || is_there(w, s)))
		return;
	if (!is_wanted || !go_to(w, s)) {
		cut_off(p, s.offset, "description of the recording");
		return;
	}
	struct bytes b = bytes_take(&w->b, (size_t)s.size);
	perf_feature(p, feature, b);
	if (p->watcher)
		p->watcher->feature(p, feature, b);
}

/* After the data there is a section for each bit that is set. Without them only some names are
 * missing. */
static void read_features(struct perf *p, struct window *w, const uint8_t *bits, uint64_t at)
{
	for (unsigned i = 0; i < PERF_FEATURES; i++) {
		uint64_t word = perf_u64(p, bits + i / 64 * 8);
		if (!(word >> i % 64 & 1))
			continue;
		if (!go_to(w, (struct perf_section){ at, 16 })) {
			cut_off(p, at, "description of the recording");
			return;
		}
		read_feature(p, w, i, read_section(p, w->b.pos));
		at += 16;
		note_end(p, (struct perf_section){ at, 0 });
	}
}

/* ---- the whole file ---- */

static void read_pipe(struct perf *p, struct window *w)
{
	w->b.pos += PERF_PIPE_HEADER;
	perf_records_read(p, w, UINT64_MAX);
}

static void read_file(struct perf *p, struct window *w)
{
	uint8_t h[PERF_HEADER];

	if (window_need(w, sizeof(h)) < sizeof(h)) {
		cut_off(p, 0, "header");
		return;
	}
	memcpy(h, w->b.pos, sizeof(h));
	struct perf_section attrs = read_section(p, h + 24), data = read_section(p, h + 40);
	read_attrs(p, w, attrs, perf_u64(p, h + 16));
	/* A killed recorder left no size: everything is read. */
	uint64_t end = data.size ? data.offset + data.size : UINT64_MAX;
	if (!data.size && !p->err)
		p->err = err_new(KIN_ERROR_FORMAT,
				 "%s: the recorder was killed: the file does not say how much data "
				 "it has, and what was not written yet is missing",
				 p->name);
	if (end < data.offset) {
		perf_damaged(p, 40, "more data than there are numbers");
		end = UINT64_MAX;
	}
	if (p->watcher)
		p->watcher->file(p, data.offset, data.size);
	note_end(p, attrs);
	note_end(p, data);
	if (data.size && window_seek(w, end))
		read_features(p, w, h + 72, end);
	if (!window_seek(w, data.offset)) {
		cut_off(p, data.offset, "data");
		return;
	}
	if (!p->watcher || !p->watcher->only_header)
		perf_records_read(p, w, end);
	if (data.size && window_seek(w, p->end) && window_need(w, 8) &&
	    format_recording_begins(w->b))
		perf_another(p, p->end);
}

static void done(struct perf *p)
{
	perf_queue_done(&p->queue);
	perf_attrs_done(&p->attrs);
	perf_objects_done(p);
	perf_tasks_done(p);
	perf_stacks_done(p);
	perf_details_done(p);
	perf_traces_done(&p->traces);
	perf_dwarf_done(p->dwarf);
	vec_free(&p->machine.waiting);
	perf_sums_done(p);
	free(p->leaves);
	map64_free(&p->build_ids);
	strtab_free(p->strings);
	arena_release(&p->arena);
	free(p);
}

static struct kin_error *read_all(struct perf *p, struct window *w, const struct input_opts *o,
				  struct profile_builder *into, struct source *source)
{

	p->name = w->b.name;
	p->symfs = o->symfs;
	p->details.branches = o->branches;
	p->details.by_branch = o->branches == INPUT_BRANCHES;
	p->details.wanted = o->details;
	p->details.cpu_state = o->cpu_state;
	p->traces.wanted = o->trace_fields;
	p->needs = o->needs;
	p->leaves_only = o->needs.no_callers && !o->details;
	if (p->leaves_only && o->needs.no_times)
		perf_leaves_start(p);
	else if (o->needs.no_times && !o->details)
		perf_sums_start(p, window_left(w));
	p->into = into;
	p->source = source;
	p->strings = strtab_new();
	p->big_endian = window_need(w, 8) >= 8 && *w->b.pos == '2';
	p->swap = w->b.swap = bytes_other_order(p->big_endian);
	perf_stacks_init(p);
	perf_space_init(p, &p->kernel);
	perf_space_init(p, &p->guest_kernel);
	if (window_need(w, PERF_PIPE_HEADER) < PERF_PIPE_HEADER)
		cut_off(p, 0, "header");
	else if (perf_u64(p, w->b.pos + 8) == PERF_PIPE_HEADER)
		read_pipe(p, w);
	else
		read_file(p, w);
	if (p->watcher)
		p->watcher->finish(p);
	else
		perf_machine_finish(p);
	struct kin_error *err = window_error(w);
	if (err)
		kin_error_free(p->err);
	else
		err = p->err;
	done(p);
	return err;
}

static struct kin_error *stream_perf(struct window *w, const struct input_opts *o,
				     struct profile_builder *into, struct source *source)
{
	return read_all(xalloc(sizeof(struct perf)), w, o, into, source);
}

struct kin_error *perf_file_watch(struct window *w, struct perf_watcher *watcher)
{
	struct perf *p = xalloc(sizeof(*p));
	struct profile_builder *unused = profile_builder_new();
	struct source source = { 0 };

	p->watcher = watcher;
	struct kin_error *err = read_all(p, w, &(struct input_opts){ 0 }, unused, &source);
	profile_builder_free(unused);
	return err;
}

static struct kin_error *read_perf(struct bytes all, const struct input_opts *o,
				   struct profile_builder *into, struct source *source)
{
	struct window w = window_of(all);

	return stream_perf(&w, o, into, source);
}

const struct format perf_format = {
	.about = { .name = "perf.data",
		   .what = "a recording of perf",
		   .endings = (const char *const[]){ ".data", NULL },
		   .is_read = true,
		   .is_written = true,
		   .is_recorded = true,
		   .is_binary = true },
	.recording = "perf.data",
	.recognise = probe,
	.read = read_perf,
	.stream = stream_perf,
	.write = perf_write,
};
