/* trace_points.c - loads libtraceevent, and has it print what trace_guard.c lets through. */
#include "input/trace_points.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/library.h"
#include "base/map64.h"
#include "input/trace_points_private.h"

#define LIBRARY "libtraceevent.so.1"

enum {
	POINTS_MAX = 1 << 16,
	STRINGS_MAX = 1 << 16,
	/* Where the library reads behind a record, it reads zeros: an offset and a length of 16
	 * bits, and elements of up to 8 bytes, lead no farther. */
	BEHIND = 1 << 20,
};

struct trace_library {
	__typeof__(&tep_parse_event) parse;
	__typeof__(&tep_find_event) find;
	__typeof__(&tep_print_event) print;
	__typeof__(&tep_register_print_string) add_string;
	__typeof__(&tep_free) free;
	__typeof__(&trace_seq_init) new_text;
	__typeof__(&trace_seq_reset) reset_text;
	__typeof__(&trace_seq_destroy) free_text;
};

struct trace_points {
	struct trace_layout layout;
	struct map64 by_id; /* number -> index */
	VEC(struct trace_point *) points;
	bool was_loaded;
	const char *problem; /* static, or owned by the loader */
	void *library;
	struct trace_library call;
	struct tep_handle *handle; /* NULL: not loaded, or not there */
	struct trace_seq text;
	size_t n_strings;
	uint8_t *record; /* TRACE_RECORD_MAX + BEHIND bytes; zeros from `used` on */
	size_t used;
};

/* libtraceevent parses with buffers that all its handles share. */
static pthread_mutex_t parsing = PTHREAD_MUTEX_INITIALIZER;

struct trace_points *trace_points_new(struct trace_layout layout)
{
	struct trace_points *t = xalloc(sizeof(*t));
	t->layout = layout;
	return t;
}

static void free_point(struct trace_point *p)
{
	vec_free(&p->fields);
	vec_free(&p->counts);
	arena_release(&p->arena);
	free(p);
}

void trace_points_free(struct trace_points *t)
{
	if (!t)
		return;
	if (t->handle) {
		t->call.free_text(&t->text);
		t->call.free(t->handle);
	}
	if (t->library)
		library_close(t->library);
	for (size_t i = 0; i < t->points.n; i++)
		free_point(t->points.at[i]);
	vec_free(&t->points);
	map64_free(&t->by_id);
	free(t->record);
	free(t);
}

/* ---- the library ---- */

static char *function_at(void *arg, unsigned long long *addr, char **module)
{
	const struct trace_points *t = arg;
	uint64_t start = *addr;
	const char *name = t->layout.function(t->layout.arg, *addr, &start);
	(void)module;
	*addr = start;
	return UNCONST(char *, name);
}

static bool find_functions(struct trace_library *f, void *library)
{
	f->parse = LIBRARY_FUNCTION(library, tep_parse_event);
	f->find = LIBRARY_FUNCTION(library, tep_find_event);
	f->print = LIBRARY_FUNCTION(library, tep_print_event);
	f->add_string = LIBRARY_FUNCTION(library, tep_register_print_string);
	f->free = LIBRARY_FUNCTION(library, tep_free);
	f->new_text = LIBRARY_FUNCTION(library, trace_seq_init);
	f->reset_text = LIBRARY_FUNCTION(library, trace_seq_reset);
	f->free_text = LIBRARY_FUNCTION(library, trace_seq_destroy);
	return f->parse && f->find && f->print && f->add_string && f->free && f->new_text &&
	       f->reset_text && f->free_text;
}

static bool start(struct trace_points *t)
{
	__typeof__(&tep_alloc) new_handle = LIBRARY_FUNCTION(t->library, tep_alloc);
	__typeof__(&tep_set_loglevel) log = LIBRARY_FUNCTION(t->library, tep_set_loglevel);
	__typeof__(&tep_set_long_size) longs = LIBRARY_FUNCTION(t->library, tep_set_long_size);
	__typeof__(&tep_set_file_bigendian) order =
		LIBRARY_FUNCTION(t->library, tep_set_file_bigendian);
	__typeof__(&tep_set_function_resolver) resolve =
		LIBRARY_FUNCTION(t->library, tep_set_function_resolver);
	if (!new_handle || !log || !longs || !order || !resolve ||
	    !find_functions(&t->call, t->library) || !(t->handle = new_handle()))
		return false;
	log(TEP_LOG_NONE);
	longs(t->handle, t->layout.is_32_bit ? 4 : 8);
	order(t->handle,
	      tep_is_bigendian() != t->layout.swapped ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	if (t->layout.function)
		resolve(t->handle, function_at, t);
	t->call.new_text(&t->text);
	t->record = xalloc(TRACE_RECORD_MAX + BEHIND);
	return true;
}

static bool load(struct trace_points *t)
{
	if (t->was_loaded)
		return t->handle;
	t->was_loaded = true;
	t->library = library_open(LIBRARY);
	if (!t->library)
		t->problem = LIBRARY ", which prints them, cannot be loaded";
	else if (!start(t))
		t->problem = LIBRARY " is of another version";
	return t->handle;
}

const char *trace_points_problem(const struct trace_points *t) { return t->problem; }

/* ---- descriptions ---- */

static void parse(struct trace_points *t, struct trace_point *p)
{
	if (!p->print || !trace_guard_text(p) || !load(t))
		return;
	char *text = trace_fields_text(p);
	pthread_mutex_lock(&parsing);
	bool good = !t->call.parse(t->handle, text, strlen(text), "kin");
	pthread_mutex_unlock(&parsing);
	free(text);
	p->event = good ? t->call.find(t->handle, p->id) : NULL;
	if (p->event && !trace_guard_event(p))
		p->event = NULL;
}

const struct trace_point *trace_points_add(struct trace_points *t, const char *text, size_t n)
{
	struct trace_point *p = xalloc(sizeof(*p));
	if (t->points.n >= POINTS_MAX || !trace_fields_read(p, text, n)) {
		free_point(p);
		return NULL;
	}
	uint32_t *known = map64_at(&t->by_id, p->id);
	if (*known != NONE) {
		free_point(p);
		return t->points.at[*known];
	}
	*known = (uint32_t)t->points.n;
	vec_push(&t->points, p);
	parse(t, p);
	return p;
}

uint16_t trace_point_id(const struct trace_point *p) { return p->id; }

const struct trace_point *trace_points_find(const struct trace_points *t, uint64_t id)
{
	uint32_t i = map64_get(&t->by_id, id);
	return i == NONE ? NULL : t->points.at[i];
}

/* "0xffffffff8281942f : "thaw_processes"". The library reads before texts of less than two
 * characters. */
static void add_string(struct trace_points *t, const char *line, size_t n)
{
	char *text = xprintf("%.*s", (int)n, line), *end;
	uint64_t addr = strtoull(text, &end, 16);
	if (!strncmp(end, " : \"", 4) && strlen(end) >= 7 && end[strlen(end) - 1] == '"')
		t->call.add_string(t->handle, end + 3, addr);
	free(text);
}

void trace_points_add_strings(struct trace_points *t, const char *text, size_t n)
{
	if (!load(t))
		return;
	while (n && t->n_strings++ < STRINGS_MAX) {
		const char *end = memchr(text, '\n', n);
		size_t line = end ? (size_t)(end - text) : n;
		add_string(t, text, line);
		text += line + !!end;
		n -= line + !!end;
	}
}

/* ---- records ---- */

void trace_points_print(struct trace_points *t, const struct trace_point *p, const uint8_t *raw,
			size_t size, FILE *out)
{
	bool swapped = t->layout.swapped;
	if (!p->event || !trace_guard_record(p, raw, size, swapped)) {
		if (!p->event && t->handle) /* as perf says it */
			fputs("[FAILED TO PARSE]", out);
		trace_fields_print(p, raw, size, swapped, out);
		return;
	}
	memcpy(t->record, raw, size);
	if (size < t->used)
		memset(t->record + size, 0, t->used - size);
	t->used = size;
	struct tep_record record = { .size = (int)size, .data = t->record };
	t->call.reset_text(&t->text);
	t->call.print(t->handle, &t->text, &record, "%s", TEP_PRINT_INFO);
	fwrite(t->text.buffer, 1, t->text.len, out);
}
