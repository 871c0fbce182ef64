/* input.c - recognises each file's format, and reads files in turn or in threads. */
#include "input/input.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/guard.h"
#include "formats/packed.h"
#include "input/paths.h"
#include "input/twins.h"
#include "input/window.h"
#include "object/object.h"

/* Limit for files that are read as a whole (BSD's formats, bb.out, pipes): none is that large, but
 * a disk image may be. */
enum { WHOLE_MAX = 1 << 30 };

/* Longer pipes are held in a temporary file. */
enum { HELD_IN_MEMORY = 1 << 20 };

/* Bytes below which one thread reads faster than two threads can be started and their parts
 * merged. */
enum { BYTES_PER_THREAD = 2 << 20, MAX_THREADS = 16 };

struct input_held {
	struct held_file {
		const char *path;
		struct file file;
		bool is_taken; /* read from here once; it would be empty the second time */
	} * at;
	size_t n;
};

/* A file to read. */
struct input_item {
	const char *path;
	const struct format *format; /* format of a name that is no file; NULL: it is a file */
	const struct file *file;     /* contents that are held in memory; NULL: none */
	const char *from;            /* where to read it: `path`, or a copy that is held */
	size_t size;                 /* bytes of a regular file or of `file`, else 0 */
	bool is_twin;                /* another file has the same data: see twins.h */
	bool lacks_accounting; /* set by reading it: it has samples of time, but no CPU time by the
				  kernel */
};

struct input_target input_target_of(const struct object_file *program)
{
	return (struct input_target){ .is_64bit = object_is_64bit(program),
				      .big_endian = object_big_endian(program) };
}

static struct kin_error *bad_magic(const char *path)
{
	struct kin_error *err = err_new(
		KIN_ERROR_FORMAT, "%s: not a GNU gmon.out, as --file-format=magic asks for", path);
	return err_about(err, (struct err_facts){ ERR_OTHER_FORMAT, path });
}

/* Files that kin cannot read, but that can be converted. */
static const struct relative {
	const char *text;
	size_t size;
	bool is_inside; /* the text may be anywhere in the head, not only at its start */
	const char *what;
} relatives[] = {
#define BEGINS(text) text, sizeof(text) - 1, false
	{ BEGINS("\xfd"
		 "7zXZ"),
	  "packed by xz: unpack it by xz -d" },
	{ BEGINS("BZh"), "packed by bzip2: unpack it by bzip2 -d" },
	{ BEGINS("\x04\x22\x4d\x18"), "packed by lz4: unpack it by lz4 -d" },
	{ BEGINS("PK\x03\x04"), "packed by zip: unpack it by unzip" },
#define PPROF                                                                                      \
	"go tool pprof -proto -output=FILE.pb.gz PROGRAM DATA makes a file of it that kin reads"
	{ BEGINS("heap profile: "), "a profile of the heap as text: " PPROF },
	{ BEGINS("--- heap"), "a profile of the heap as text: " PPROF },
	{ BEGINS("goroutine profile: "), "a profile of goroutines as text: " PPROF },
	{ BEGINS("heap_v2/"), "a profile of the heap by jemalloc: jeprof --collapsed PROGRAM DATA "
			      "prints folded stacks of it, which kin reads" },
	{ BEGINS("--- contention"), "a profile of locks as text: " PPROF },
	{ BEGINS("--- mutex"), "a profile of locks as text: " PPROF },
#undef PPROF
	{ BEGINS("FLR"), "a recording of Java's Flight Recorder: jfrconv of async-profiler makes "
			 "folded stacks or pprof of it" },
#define FOLDED " makes folded stacks of it, which kin reads"
	{ BEGINS("v8-version,"), "a log of node --prof: node --cpu-prof records what kin reads" },
	{ BEGINS("{\xa9\x03"), "a profile by Python's cProfile, which has no stacks: py-spy record "
			       "--format=raw makes what kin reads" },
	{ BEGINS("\x04\b{"), "a profile by stackprof: stackprof --stackcollapse" FOLDED },
	{ BEGINS("Analysis of sampling "),
	  "what sample of macOS prints: inferno-collapse-sample" FOLDED },
	{ BEGINS("Level,Function Name,"),
	  "a table of Visual Studio: inferno-collapse-vsprof" FOLDED },
	{ BEGINS("CPU: "), "what opreport prints, which has no stacks: kin record does what "
			   "oprofile did" },
#undef BEGINS
	{ "Function Stack", 0, true, "a table of VTune: inferno-collapse-vtune" FOLDED },
	{ "Time and Allocation Profiling Report", 0, true,
	  "what GHC's programs print: inferno-collapse-ghcprof" FOLDED },
	{ "<trace-query-result>", 0, true,
	  "an export of xctrace: inferno-collapse-xctrace" FOLDED },
	{ "Self Weight", 0, true, "a copy from Instruments: stackcollapse-instruments.pl" FOLDED },
	{ "TRACE START [", 0, true, "a trace by Xdebug: stackcollapse-xdebug.php" FOLDED },
	{ "Full thread dump ", 0, true, "what jstack prints: stackcollapse-jstack.pl" FOLDED },
	{ "\n]: ", 0, true, "what bpftrace prints: stackcollapse-bpftrace.pl" FOLDED },
	{ "`", 0, true, "perhaps what DTrace prints: inferno-collapse-dtrace" FOLDED },
#undef FOLDED
	{ ". ... raw event: size ", 0, true,
	  "what perf script -D prints: kin reads what it prints without -D, and perf.data" },
};

static const char *relative_of(struct bytes b)
{
	for (size_t i = 0; i < ARRAY_LEN(relatives); i++) {
		const struct relative *r = &relatives[i];
		if (r->is_inside ? format_head_has(&b, r->text)
				 : bytes_left(&b) >= r->size && !memcmp(b.pos, r->text, r->size))
			return r->what;
	}
	return NULL;
}

static struct kin_error *unknown_format(struct bytes all)
{
	const char *relative = relative_of(all);
	struct kin_error *err;

	if (relative) {
		err = err_new(KIN_ERROR_FORMAT, "%s: %s", all.name, relative);
	} else if (bytes_left(&all) < 20) {
		err = err_new(
			KIN_ERROR_FORMAT,
			"%s: %zu bytes are too short for a profile: the program or the copy did "
			"not finish; run it again to its end",
			all.name, bytes_left(&all));
	} else {
		char *known = format_names(false);
		err = err_new(KIN_ERROR_FORMAT, "%s: not a profile of a format that kin reads (%s)",
			      all.name, known);
		free(known);
	}
	return err_about(err, (struct err_facts){ ERR_NO_DATA, all.name });
}

static bool is_read(const struct format *format, const struct input_opts *o)
{
	bool (*reads)(const struct format *) = input_rules(o)->reads;
	return !reads || reads(format);
}

static const struct format *recognise_plain(struct bytes head, const struct input_opts *o)
{
	for (size_t i = 0; all_formats[i]; i++)
		if (all_formats[i]->recognise && is_read(all_formats[i], o) &&
		    all_formats[i]->recognise(head, o))
			return all_formats[i];
	return NULL;
}

/* True if files are not unpacked: one format was requested, or the rules allow only some
 * formats. */
static bool takes_as_is(const struct input_opts *o)
{
	return o->format != INPUT_AUTO || input_rules(o)->reads;
}

static bool is_to_unpack(const struct bytes *b, const struct input_opts *o)
{
	return is_packed(b) && !takes_as_is(o);
}

/* The contents that readers see; `room` as for unpacked(). */
static struct bytes contents_of(struct bytes b, size_t most, const struct input_opts *o,
				struct unpacked_bytes *room)
{
	*room = (struct unpacked_bytes){ 0 };
	return takes_as_is(o) ? b : without_mark(unpacked(b, most, room));
}

static const struct format *recognise(struct bytes head, const struct input_opts *o)
{
	struct unpacked_bytes room;
	if (is_to_unpack(&head, o))
		head.end = head.pos + min_u64(bytes_left(&head), PACKED_HEAD);
	const struct format *known = recognise_plain(contents_of(head, FORMAT_HEAD, o, &room), o);
	vec_free(&room.at);
	return known;
}

/* The format by the options and the contents. */
static struct kin_error *choose(struct bytes all, const struct input_opts *o,
				const struct format **ret)
{
	if (bytes_left(&all) < input_rules(o)->shortest)
		return unknown_format(all);
	switch (o->format) {
	case INPUT_MAGIC:
		if (!gmon_format.recognise(all, o))
			return bad_magic(all.name);
		*ret = &gmon_format;
		return NULL;
	case INPUT_BSD:
	case INPUT_44BSD:
		*ret = bsd44_format.recognise(all, o) ? &bsd44_format : &bsd_format;
		return NULL;
	case INPUT_AUTO:
		break;
	}
	const struct format *known = recognise(all, o);
	if (!known || (input_rules(o)->takes && !input_rules(o)->takes(known)))
		return unknown_format(all);
	*ret = known;
	return NULL;
}

/* from: where it is; path: its name. */
static struct kin_error *load(const char *from, const char *path, size_t in_memory,
			      struct file *ret)
{
	struct file_opts fo = {
		.max = WHOLE_MAX, .allow_fifo = true, .in_memory = in_memory, .name = path
	};
	struct kin_error *err = file_read(from, &fo, ret);

	return err ? err_about(err, (struct err_facts){ ERR_NO_DATA, path }) : NULL;
}

static void end_file(struct profile_builder *into, const char *path, struct source source,
		     const struct kin_error *err, const struct input_opts *o)
{
	if (!err || !input_rules(o)->stops)
		profile_add_source(into, path, source);
}

static struct kin_error *read_whole(const char *path, const struct file *file,
				    const struct input_opts *o, struct profile_builder *into)
{
	struct source source = { 0 };
	const struct format *reader = NULL;
	struct unpacked_bytes room;
	struct bytes all = bytes_of(path, file->data, file->size);
	struct kin_error *err = choose(all, o, &reader);

	if (err)
		return err;
	all = contents_of(all, UNPACKED_MOST, o, &room);
	source.kind = reader->about.name;
	err = reader->read(all, o, into, &source);
	if (!err && room.cut)
		err = err_new(KIN_ERROR_FORMAT,
			      "%s: damaged or cut off: only a part of it was read", path);
	vec_free(&room.at);
	end_file(into, path, source, err, o);
	return err;
}

static void need_head(struct window *w)
{
	window_need(w, FORMAT_HEAD);
	if (is_packed(&w->b))
		window_need(w, PACKED_HEAD);
}

/* Reads piece by piece if the file's format allows that. True if so, or if there was an error, such
 * as an unknown format. False: nothing was done. */
static bool read_stream(const struct input_item *it, const struct input_opts *o,
			struct profile_builder *into, struct kin_error **ret)
{
	struct source source = { 0 };
	const struct format *reader = NULL;
	struct window w;

	if (!window_open(&w, it->from))
		return false;
	w.b.name = it->path;
	need_head(&w);
	struct kin_error *err = window_error(&w);
	if (!err)
		err = choose(w.b, o, &reader);
	bool done = err || (reader->stream && !is_to_unpack(&w.b, o));
	if (!err && done) {
		source.kind = reader->about.name;
		err = reader->stream(&w, o, into, &source);
		end_file(into, it->path, source, err, o);
	}
	*ret = err;
	window_close(&w);
	return done;
}

/* Reads from a name that is no file. */
static struct kin_error *read_named(const struct input_item *it, const struct input_opts *o,
				    struct profile_builder *into)
{
	struct source source = { .kind = it->format->about.name };
	struct kin_error *err = it->format->fetch(it->path, o, into, &source);
	end_file(into, it->path, source, err, o);
	return err;
}

static struct kin_error *read_item(const struct input_item *it, const struct input_opts *o,
				   struct profile_builder *into)
{
	struct file file = { 0 };
	struct kin_error *err = NULL;

	if (it->format)
		return read_named(it, o, into);
	if (it->is_twin) {
		struct source left = { .kind = gmon_format.about.name, .left_out = true };
		end_file(into, it->path, left, NULL, o);
		return NULL;
	}
	if (it->file)
		return read_whole(it->path, it->file, o, into);
	if (it->size && read_stream(it, o, into, &err))
		return err;
	if ((err = load(it->from, it->path, 0, &file)))
		return err;
	err = read_whole(it->path, &file, o, into);
	file_free(&file);
	return err;
}

/* Keeps the first error, which explains those after it. */
static void keep_first(struct kin_error **first, struct kin_error *err)
{
	if (*first)
		kin_error_free(err);
	else
		*first = err;
}

/* Whether a file added samples of time, but no CPU time by the kernel's accounting. */
static bool lacks_accounting(const struct audit *before, const struct audit *after)
{
	return after->sampled_ns > before->sampled_ns && after->cpu_ns == before->cpu_ns;
}

static struct kin_error *read_in_turn(struct input_item *items, size_t n,
				      const struct input_opts *o, struct profile_builder *into)
{
	struct kin_error *first = NULL;

	for (size_t i = 0; i < n && !(first && input_rules(o)->stops); i++) {
		struct audit before = *profile_audit(into);
		keep_first(&first, read_item(&items[i], o, into));
		items[i].lacks_accounting = lacks_accounting(&before, profile_audit(into));
	}
	return first;
}

/* A thread reads one part of the list; the parts are merged in order. What a file is checked
 * against may be in another part. So after any mismatch all files are read again in turn, which
 * finds the file and the message to report. */

struct input_part {
	pthread_t thread;
	bool started;
	struct input_item *items;
	size_t n;
	const struct input_opts *o;
	struct profile_builder *builder;
	struct kin_error *err;
	bool out_of_memory;
};

static struct profile_builder *new_builder(const struct input_opts *o)
{
	struct profile_builder *b = profile_builder_new();

	if (o->needs.no_times)
		profile_sum_samples(b);
	return b;
}

static struct kin_error *read_into_part(struct input_part *p)
{
	p->builder = new_builder(p->o);
	return read_in_turn(p->items, p->n, p->o, p->builder);
}

static void *read_part(void *arg)
{
	struct input_part *p = arg;
	struct kin_error *err = GUARDED(read_into_part(p));

	/* The part read so far may be incomplete in any way. */
	p->out_of_memory = err == guard_error();
	p->err = err;
	return NULL;
}

/* Cuts the list into `n` stretches of about equal size. */
static void share_out(struct input_part *parts, size_t n, struct input_item *items, size_t n_items,
		      size_t bytes)
{
	size_t done = 0;

	for (size_t i = 0; i < n_items; i++) {
		struct input_part *p = &parts[done * n / (bytes + 1)];
		if (!p->n)
			p->items = &items[i];
		p->n++;
		done += items[i].size;
	}
}

static void run_parts(struct input_part *parts, size_t n)
{
	for (size_t i = 1; i < n; i++)
		parts[i].started =
			pthread_create(&parts[i].thread, NULL, read_part, &parts[i]) == 0;
	read_part(&parts[0]);
	for (size_t i = 1; i < n; i++) {
		if (parts[i].started)
			pthread_join(parts[i].thread, NULL);
		else
			read_part(&parts[i]);
	}
	for (size_t i = 0; i < n; i++) /* all threads have ended by now */
		if (parts[i].out_of_memory)
			xout_of_memory();
}

static bool must_redo(const struct kin_error *err, const struct input_opts *o)
{
	return err && (input_rules(o)->stops || kin_error_kind(err) == KIN_ERROR_MISMATCH);
}

/* Merges into parts[0].builder, with the first error in *first. False: all must be read again in
 * turn. */
static bool merge(struct input_part *parts, size_t n, const struct input_opts *o,
		  struct kin_error **first)
{
	bool redo = must_redo(parts[0].err, o);

	*first = TAKE(parts[0].err);
	for (size_t i = 1; i < n; i++) {
		redo |= must_redo(parts[i].err, o);
		keep_first(first, TAKE(parts[i].err));
		if (redo) {
			profile_builder_free(parts[i].builder);
			continue;
		}
		struct kin_error *err = profile_builder_merge(parts[0].builder, parts[i].builder);
		redo = err != NULL;
		kin_error_free(err);
	}
	return !redo;
}

static bool needs_order(const struct profile *p, const struct input_opts *o)
{
	if (!input_rules(o)->bsd.check || p->n_histograms < 2)
		return false;
	for (size_t i = 0; i < p->n_sources; i++)
		if (p->sources[i].kind != gmon_format.about.name)
			return true;
	return false;
}

static struct profile *finish(struct profile_builder *b, const struct input_item *items, size_t n,
			      const struct input_opts *o)
{
	for (size_t i = 0; i < n; i++)
		if (items[i].lacks_accounting)
			profile_audit(b)->cpu_ns = 0; /* not known for the sum */
	if (o->not_sampled)
		profile_add_unsampled(b, o->not_sampled_all);
	return profile_finish(b);
}

/* *ret is NULL if all must be read again in turn. */
static struct kin_error *read_in_threads(struct input_item *items, size_t n, size_t bytes,
					 size_t n_threads, const struct input_opts *o,
					 struct profile **ret)
{
	struct input_part *parts = xalloc(n_threads * sizeof(*parts));
	struct kin_error *err;

	for (size_t i = 0; i < n_threads; i++)
		parts[i].o = o;
	share_out(parts, n_threads, items, n, bytes);
	run_parts(parts, n_threads);
	bool good = merge(parts, n_threads, o, &err);
	*ret = finish(parts[0].builder, items, n, o);
	free(parts);
	if (good && !needs_order(*ret, o))
		return err;
	profile_free(*ret);
	*ret = NULL;
	kin_error_free(err);
	return NULL;
}

/* The number of threads worth using; 0 or 1: only the caller's. */
static size_t count_threads(size_t n_files, size_t bytes)
{
	size_t n = min_u64(min_u64(bytes / BYTES_PER_THREAD, n_files), MAX_THREADS);

	return n > 1 ? min_u64(n, (size_t)sysconf(_SC_NPROCESSORS_ONLN))
		     : n; /* sysconf() reads a file */
}

static struct kin_error *read_items(struct input_item *items, size_t n, const struct input_opts *o,
				    struct profile **ret)
{
	struct kin_error *err;
	size_t bytes = 0;

	for (size_t i = 0; i < n; i++)
		bytes += items[i].size;
	size_t n_threads = count_threads(n, bytes);
	if (n_threads > 1) {
		err = read_in_threads(items, n, bytes, n_threads, o, ret);
		if (*ret)
			return err;
	}
	struct profile_builder *builder = new_builder(o);
	err = read_in_turn(items, n, o, builder);
	*ret = finish(builder, items, n, o);
	return err;
}

/* Inputs that can be read only once */

static bool is_read_once(const char *path) { return !strcmp(path, "-") || file_is_fifo(path); }

static struct held_file *find_held(const struct input_held *held, const char *path)
{
	for (size_t i = 0; held && i < held->n; i++)
		if (!strcmp(held->at[i].path, path))
			return &held->at[i];
	return NULL;
}

struct input_held *input_hold(const char *const *paths, size_t n)
{
	struct input_held *held = xalloc(sizeof(*held));

	held->at = xalloc(n * sizeof(*held->at));
	for (size_t i = 0; i < n; i++) {
		struct held_file f = { .path = paths[i] };
		if (!is_read_once(paths[i]) || find_held(held, paths[i]))
			continue;
		struct kin_error *err = load(paths[i], paths[i], HELD_IN_MEMORY, &f.file);
		if (!err) /* else reading it fails again later, and the error is reported there */
			held->at[held->n++] = f;
		kin_error_free(err);
	}
	return held;
}

void input_held_free(struct input_held *held)
{
	if (!held)
		return;
	for (size_t i = 0; i < held->n; i++)
		file_free(&held->at[i].file);
	free(held->at);
	free(held);
}

/* Kinds of files */

static bool is_of_program(struct bytes head)
{
	const struct format *f = recognise(head, &(struct input_opts){ 0 });
	return f && !(f->needs & FORMAT_NEEDS_PROGRAM);
}

static bool says_program(const char *path, const struct input_held *held)
{
	const struct held_file *f = find_held(held, path);
	struct window w;

	if (f && !f->file.copy)
		return is_of_program(bytes_of(path, f->file.data, f->file.size));
	if (!window_open(&w, f ? f->file.copy : path))
		return false;
	need_head(&w);
	struct kin_error *err = window_error(&w);
	bool says = !err && is_of_program(w.b);
	kin_error_free(err);
	window_close(&w);
	return says;
}

static struct kin_error *check(const char *path, const struct input_held *held)
{
	const struct held_file *f = find_held(held, path);
	const struct input_opts any = { .target.is_64bit = true };
	const struct format *reader;
	struct file file = { 0 };
	struct window w;

	if (format_of_name(path))
		return NULL;
	if (f && !f->file.copy)
		return choose(bytes_of(path, f->file.data, f->file.size), &any, &reader);
	if (window_open(&w, f ? f->file.copy : path)) {
		w.b.name = path;
		need_head(&w);
		struct kin_error *err = window_error(&w);
		if (!err)
			err = choose(w.b, &any, &reader);
		window_close(&w);
		return err;
	}
	struct kin_error *err = load(path, path, 0, &file);
	if (!err)
		err = choose(bytes_of(path, file.data, file.size), &any, &reader);
	file_free(&file);
	return err;
}

/* Missing, or of unknown format: a program would not help. */
static bool is_unreadable(const char *path, const struct input_held *held)
{
	struct kin_error *err = check(path, held);
	kin_error_free(err);
	return err;
}

/* The operand with a file that does not name its program; n: none. *any: whether a file does. */
static size_t find_silent(const char *const *paths, size_t n, const struct input_held *held,
			  bool *any)
{
	struct paths files = { 0 };
	size_t *end = xalloc((n + 1) * sizeof(*end)); /* index after each operand's files */
	size_t silent = n;

	*any = false;
	for (size_t i = 0; i < n; i++) {
		bool says = format_of_name(paths[i]);
		struct kin_error *err = says ? NULL : paths_expand(&files, paths[i]);
		if (err && silent == n)
			silent = i;
		kin_error_free(err);
		*any |= says;
		end[i] = files.at.n;
	}
	size_t *twins = twins_find(files.at.at, files.at.n);
	for (size_t i = 0, operand = 0; i < files.at.n && silent == n; i++) {
		while (i >= end[operand])
			operand++;
		if (twins[i] < files.at.n)
			continue;
		if (says_program(files.at.at[i], held))
			*any = true;
		else if (!is_unreadable(files.at.at[i], held))
			silent = operand;
	}
	free(twins);
	free(end);
	paths_free(&files);
	return silent;
}

bool input_says_program(const char *const *paths, size_t n, const struct input_held *held,
			const char **silent)
{
	bool any;
	size_t i = find_silent(paths, n, held, &any);

	if (silent)
		*silent = i < n ? paths[i] : n ? paths[0] : NULL;
	return i == n && any;
}

struct kin_error *input_check(const char *const *paths, size_t n, const struct input_held *held)
{
	struct paths files = { 0 };
	struct kin_error *err = NULL;

	for (size_t i = 0; i < n && !err; i++)
		err = format_of_name(paths[i]) ? NULL : paths_expand(&files, paths[i]);
	for (size_t i = 0; i < files.at.n && !err; i++)
		err = check(files.at.at[i], held);
	paths_free(&files);
	return err;
}

/* The list */

static struct input_item make_item(const char *path, const struct input_held *held)
{
	struct input_item it = { .path = path, .from = path };
	struct held_file *f = find_held(held, path);
	struct stat st;

	if ((it.format = format_of_name(path)))
		return it;
	if (f && !f->is_taken) {
		f->is_taken = true;
		it.file = f->file.copy ? NULL : &f->file;
		it.from = f->file.copy ? f->file.copy : path;
		it.size = f->file.size;
	}
	if (!it.file && stat(it.from, &st) == 0 && S_ISREG(st.st_mode))
		it.size = (size_t)st.st_size;
	return it;
}

static struct kin_error *list_files(const char *const *paths, size_t n, const struct input_opts *o,
				    struct paths *ret)
{
	struct kin_error *first = NULL;

	for (size_t i = 0; i < n; i++) {
		if (input_rules(o)->plain_paths || format_of_name(paths[i]))
			paths_add(ret, paths[i]);
		else
			keep_first(&first, paths_expand_among(ret, paths[i], paths, n));
	}
	return first;
}

static void tell(const struct profile *p, const struct input_opts *o, const struct kin_error *err)
{
	int version = 0;

	if (!o->on_source || (err && input_rules(o)->whole))
		return;
	for (size_t i = 0; i < p->n_sources; i++) {
		struct source s = p->sources[i];
		if (s.kind == gmon_format.about.name)
			version = s.version;
		else if (input_rules(o)->version_stays)
			s.version = version;
		o->on_source(&s, strtab_get(p->strings, s.path), o->arg);
	}
}

struct kin_error *input_read(const char *const *paths, size_t n, const struct input_opts *opts,
			     struct profile **ret)
{
	struct paths files = { 0 };
	struct kin_error *err = list_files(paths, n, opts, &files);
	struct input_item *items = xalloc(files.at.n * sizeof(*items));
	struct input_opts o = *opts;
	struct input_held *own = NULL;

	if (files.at.n > 1) /* each file has frames of its own */
		o.needs.alike = NULL;
	if (!opts->held)
		own = input_hold((const char *const *)files.at.at, files.at.n);
	size_t *twins = input_rules(opts)->reads ? NULL : twins_find(files.at.at, files.at.n);
	for (size_t i = 0; i < files.at.n; i++) {
		items[i] = make_item(files.at.at[i], own ? own : opts->held);
		items[i].is_twin = twins && twins[i] < files.at.n;
	}
	free(twins);
	keep_first(&err, read_items(items, files.at.n, &o, ret));
	input_held_free(own);
	free(items);
	paths_free(&files);
	tell(*ret, opts, err);
	return err;
}
