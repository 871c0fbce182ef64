/* firefox_write.c - writes version 48 of the processed format. Later versions of the page read it.
 *
 * Each event of a thread is a thread with tables of its own, as the format requires. Functions
 * inlined at an address are separate frames with a larger depth. Weights are milliseconds, or
 * numbers of events. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/map64.h"
#include "base/num.h"
#include "base/strtab.h"
#include "formats/firefox/firefox.h"
#include "formats/tracks.h"

enum { PROCESSED_VERSION = 48, GECKO_VERSION = 27 };
enum category { OTHER, USER, KERNEL };

struct frame_row { /* a line of a location */
	uint64_t address;
	uint32_t depth, category, function, line;
};

struct stack_row {
	uint32_t frame, category, caller; /* NONE: root */
};

struct thread_tables {
	struct strtab *strings;
	struct map64 stack_ids; /* stack of kin's samples -> row of its innermost function */
	struct map64 frame_ids; /* MAP64_PAIR(location, line in it) */
	struct map64 function_ids, resource_ids;
	VEC(struct stack_row) stacks;
	VEC(struct frame_row) frames;
	VEC(uint32_t) functions, resources; /* kin's ids of functions, and of objects */
	VEC(uint32_t) todo;
};

struct firefox {
	struct exported x;
	struct tracks tracks;
	struct sink sink;
	struct thread_tables t; /* of the current thread */
};

/* ---- values ---- */

static void put_number(struct firefox *c, uint64_t v)
{
	c->sink.n += num_u64(sink_room(&c->sink, NUM_MAX), v);
}

/* NONE: null */
static void put_index(struct firefox *c, uint32_t v)
{
	if (v == NONE)
		sink_str(&c->sink, "null");
	else
		put_number(c, v);
}

static void put_ms(struct firefox *c, uint64_t ns)
{
	enum { DIGITS = 6, NS_PER_MS = 1000000 };
	char digits[1 + DIGITS] = ".";
	uint64_t rest = ns % NS_PER_MS;
	put_number(c, ns / NS_PER_MS);
	if (!rest)
		return;
	for (int i = DIGITS; i; i--, rest /= 10)
		digits[i] = (char)('0' + rest % 10);
	sink_bytes(&c->sink, digits, sizeof(digits));
}

/* "key":[value, ...]: `put` writes a value for each i below n. */
#define put_column(c, key, n, put)                                                                 \
	do {                                                                                       \
		sink_str(&(c)->sink, "\"" key "\":[");                                             \
		for (size_t i = 0; i < (n); i++) {                                                 \
			if (i)                                                                     \
				sink_char(&(c)->sink, ',');                                        \
			put;                                                                       \
		}                                                                                  \
		sink_str(&(c)->sink, "],");                                                        \
	} while (0)

static void put_length(struct firefox *c, size_t n, const char *after)
{
	sink_str(&c->sink, "\"length\":");
	put_number(c, n);
	sink_str(&c->sink, after);
}

/* ---- tables ---- */

static uint32_t function_of(struct firefox *c, uint32_t function)
{
	struct thread_tables *t = &c->t;
	uint32_t object = kin_samples_function(c->x.samples, function)->object;
	uint32_t *id = map64_at(&t->function_ids, function);
	if (*id == NONE) {
		*id = (uint32_t)t->functions.n;
		vec_push(&t->functions, function);
	}
	uint32_t *resource = map64_at(&t->resource_ids, object);
	if (*resource == NONE) {
		*resource = (uint32_t)t->resources.n;
		vec_push(&t->resources, object);
	}
	return *id;
}

static uint32_t frame_of(struct firefox *c, uint32_t location, const struct kin_line *lines,
			 size_t n, size_t i)
{
	struct thread_tables *t = &c->t;
	const struct kin_location *at = kin_samples_location(c->x.samples, location);
	uint32_t known = map64_get(&t->frame_ids, MAP64_PAIR(location, i));
	if (known != NONE)
		return known;
	*map64_at(&t->frame_ids, MAP64_PAIR(location, i)) = (uint32_t)t->frames.n;
	vec_push(&t->frames,
		 ((struct frame_row){ .address = at->address - (at->is_return && at->address),
				      .depth = (uint32_t)(n - 1 - i),
				      .category = at->is_kernel ? KERNEL : USER,
				      .function = function_of(c, lines[i].function),
				      .line = lines[i].line }));
	return (uint32_t)t->frames.n - 1;
}

/* Adds the functions of a location to the stack of the caller; returns the innermost one's. */
static uint32_t extend(struct firefox *c, uint32_t caller, uint32_t location)
{
	struct thread_tables *t = &c->t;
	size_t n;
	const struct kin_line *lines = kin_samples_lines(c->x.samples, location, &n);
	for (size_t i = n; i--;) {
		uint32_t frame = frame_of(c, location, lines, n, i);
		vec_push(&t->stacks,
			 ((struct stack_row){ frame, t->frames.at[frame].category, caller }));
		caller = (uint32_t)t->stacks.n - 1;
	}
	return caller;
}

static uint32_t stack_of(struct firefox *c, uint32_t stack)
{
	struct thread_tables *t = &c->t;
	uint32_t caller = NONE;
	t->todo.n = 0;
	for (; stack; stack = kin_samples_stack(c->x.samples, stack)->caller) {
		if ((caller = map64_get(&t->stack_ids, stack)) != NONE)
			break;
		vec_push(&t->todo, stack);
	}
	while (t->todo.n) {
		stack = t->todo.at[--t->todo.n];
		caller = extend(c, caller, kin_samples_stack(c->x.samples, stack)->location);
		*map64_at(&t->stack_ids, stack) = caller;
	}
	return caller;
}

static void tables_done(struct thread_tables *t)
{
	strtab_free(t->strings);
	map64_free(&t->stack_ids);
	map64_free(&t->frame_ids);
	map64_free(&t->function_ids);
	map64_free(&t->resource_ids);
	vec_free(&t->stacks);
	vec_free(&t->frames);
	vec_free(&t->functions);
	vec_free(&t->resources);
	vec_free(&t->todo);
}

/* ---- a thread ---- */

static void put_samples(struct firefox *c, const struct track *t)
{
	const struct track_sample *at = t->at.at;
	bool is_time = *exported_event(&c->x, t->event)->unit;
	uint64_t laid = 0;
	sink_str(&c->sink, "\"samples\":{");
	put_column(c, "stack", t->at.n, put_index(c, stack_of(c, at[i].stack)));
	put_column(c, "time", t->at.n,
		   (put_ms(c, at[i].time_ns ? at[i].time_ns - c->tracks.first_ns : laid),
		    laid += is_time ? at[i].weight : 1000000));
	put_column(c, "weight", t->at.n,
		   is_time ? put_ms(c, at[i].weight) : put_number(c, at[i].weight));
	sink_str(&c->sink,
		 is_time ? "\"weightType\":\"tracing-ms\"," : "\"weightType\":\"samples\",");
	put_length(c, t->at.n, "},\n");
}

static void put_frames(struct firefox *c)
{
	const struct frame_row *at = c->t.frames.at;
	size_t n = c->t.frames.n;
	sink_str(&c->sink, "\"frameTable\":{");
	put_column(c, "address", n,
		   at[i].address ? put_number(c, at[i].address) : sink_str(&c->sink, "-1"));
	put_column(c, "inlineDepth", n, put_number(c, at[i].depth));
	put_column(c, "category", n, put_number(c, at[i].category));
	put_column(c, "subcategory", n, put_number(c, 0));
	put_column(c, "func", n, put_number(c, at[i].function));
	put_column(c, "nativeSymbol", n, put_index(c, NONE));
	put_column(c, "innerWindowID", n, put_number(c, 0));
	put_column(c, "implementation", n, put_index(c, NONE));
	put_column(c, "line", n, put_index(c, at[i].line ? at[i].line : NONE));
	put_column(c, "column", n, put_index(c, NONE));
	put_length(c, n, "},\n");
}

static void put_stacks(struct firefox *c)
{
	const struct stack_row *at = c->t.stacks.at;
	size_t n = c->t.stacks.n;
	sink_str(&c->sink, "\"stackTable\":{");
	put_column(c, "frame", n, put_number(c, at[i].frame));
	put_column(c, "category", n, put_number(c, at[i].category));
	put_column(c, "subcategory", n, put_number(c, 0));
	put_column(c, "prefix", n, put_index(c, at[i].caller));
	put_length(c, n, "},\n");
}

static const struct kin_function *function_at(struct firefox *c, size_t i)
{
	return kin_samples_function(c->x.samples, c->t.functions.at[i]);
}

static uint32_t file_of(struct firefox *c, size_t i)
{
	const char *file = function_at(c, i)->file;
	return *file ? strtab_add(c->t.strings, file) : NONE;
}

static void put_functions(struct firefox *c)
{
	size_t n = c->t.functions.n;
	sink_str(&c->sink, "\"funcTable\":{");
	put_column(c, "name", n, put_number(c, strtab_add(c->t.strings, function_at(c, i)->name)));
	put_column(c, "isJS", n, sink_str(&c->sink, "false"));
	put_column(c, "relevantForJS", n, sink_str(&c->sink, "false"));
	put_column(c, "resource", n,
		   put_number(c, map64_get(&c->t.resource_ids, function_at(c, i)->object)));
	put_column(c, "fileName", n, put_index(c, file_of(c, i)));
	put_column(c, "lineNumber", n,
		   put_index(c, function_at(c, i)->line ? function_at(c, i)->line : NONE));
	put_column(c, "columnNumber", n, put_index(c, NONE));
	put_length(c, n, "},\n");
}

/* Type 1 is a library. libs[] has all objects in their order, except the unknown one. */
static void put_resources(struct firefox *c)
{
	const uint32_t *at = c->t.resources.at;
	size_t n = c->t.resources.n;
	sink_str(&c->sink, "\"resourceTable\":{");
	put_column(c, "lib", n, put_index(c, at[i] ? at[i] - 1 : NONE));
	put_column(c, "name", n,
		   put_number(c, strtab_add(c->t.strings, exported_object_name(&c->x, at[i]))));
	put_column(c, "host", n, put_index(c, NONE));
	put_column(c, "type", n, put_number(c, at[i] ? 1 : 0));
	put_length(c, n, "},\n");
}

static void put_strings(struct firefox *c)
{
	sink_str(&c->sink, "\"stringArray\":[");
	for (strid i = 0; i < strtab_count(c->t.strings); i++) {
		if (i)
			sink_char(&c->sink, ',');
		json_string(&c->sink, strtab_get(c->t.strings, i));
	}
	sink_str(&c->sink, "]}");
}

static void put_string_field(struct firefox *c, const char *key, const char *text)
{
	sink_str(&c->sink, key);
	json_string(&c->sink, text);
	sink_char(&c->sink, ',');
}

/* Writes the thread's name and ids. Threads of one process must have different ids: "123", "123:
 * cycles". */
static void put_identity(struct firefox *c, const struct track *t)
{
	const struct kin_thread *thread = kin_samples_thread(c->x.samples, t->thread);
	const char *event = exported_event(&c->x, t->event)->name;
	const char *name = *thread->name ? thread->name : "[unknown]";
	bool is_main_event = t->event == c->x.main;
	char *pid = xprintf("%u", thread->pid);
	char *tid =
		is_main_event ? xprintf("%u", thread->tid) : xprintf("%u: %s", thread->tid, event);
	char *title = is_main_event ? xprintf("%s", name) : xprintf("%s: %s", name, event);
	put_string_field(c, "\"name\":", title);
	put_string_field(c, "\"processName\":", name);
	put_string_field(c, "\"pid\":", pid);
	put_string_field(c, "\"tid\":", tid);
	put_string_field(c, "\"" TRACK_EVENT "\":", event);
	sink_str(&c->sink, thread->pid == thread->tid && is_main_event ? "\"isMainThread\":true,"
								       : "\"isMainThread\":false,");
	free(pid);
	free(tid);
	free(title);
}

static void put_thread(struct firefox *c, const struct track *t)
{
	c->t = (struct thread_tables){ .strings = strtab_new() };
	sink_char(&c->sink, '{');
	put_identity(c, t);
	sink_str(&c->sink, "\"processType\":\"default\",\"processStartupTime\":0,"
			   "\"processShutdownTime\":null,\"registerTime\":0,"
			   "\"unregisterTime\":null,\"pausedRanges\":[],\n");
	put_samples(c, t);
	put_frames(c);
	put_stacks(c);
	put_functions(c);
	put_resources(c);
	sink_str(&c->sink, "\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],"
			   "\"functionSize\":[],\"length\":0},\n"
			   "\"markers\":{\"data\":[],\"name\":[],\"startTime\":[],\"endTime\":[],"
			   "\"phase\":[],\"category\":[],\"length\":0},\n");
	put_strings(c);
	tables_done(&c->t);
}

/* ---- the whole file ---- */

/* A build id in Breakpad's form: a GUID, whose first three numbers are byte-swapped, and an age. To
 * be freed. */
static char *breakpad_id(const char *build_id)
{
	enum { DIGITS = 32 };
	static const int order[DIGITS / 2] = {
		3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15
	};
	char id[DIGITS + 2] = "";
	size_t n = strlen(build_id);
	for (int i = 0; i < DIGITS; i++) {
		size_t from = 2 * (size_t)order[i / 2] + (size_t)(i % 2);
		id[i] = from < n ? (char)toupper((unsigned char)build_id[from]) : '0';
	}
	id[DIGITS] = '0';
	return xprintf("%s", *build_id ? id : "");
}

static void put_libs(struct firefox *c)
{
	sink_str(&c->sink, "\"libs\":[");
	for (uint32_t i = 1; i < kin_samples_n_objects(c->x.samples); i++) {
		const struct kin_object *o = kin_samples_object(c->x.samples, i);
		const char *name = exported_object_name(&c->x, i);
		char *breakpad = breakpad_id(o->build_id);
		sink_str(&c->sink, i > 1 ? ",\n{\"arch\":\"\"," : "\n{\"arch\":\"\",");
		put_string_field(c, "\"name\":", name);
		put_string_field(c, "\"path\":", o->path);
		put_string_field(c, "\"debugName\":", name);
		put_string_field(c, "\"debugPath\":", o->path);
		put_string_field(c, "\"breakpadId\":", breakpad);
		sink_str(&c->sink, "\"codeId\":");
		if (*o->build_id)
			json_string(&c->sink, o->build_id);
		else
			sink_str(&c->sink, "null");
		sink_char(&c->sink, '}');
		free(breakpad);
	}
	sink_str(&c->sink, "],\n");
}

static void put_meta(struct firefox *c)
{
	const struct kin_event *e = exported_event(&c->x, c->x.main);
	uint64_t interval = e->period && *e->unit ? e->period
			    : e->frequency        ? 1000000000 / e->frequency
						  : 1000000;
	sink_str(&c->sink, "{\"meta\":{\"interval\":");
	put_ms(c, interval ? interval : 1);
	sink_str(&c->sink, ",\"startTime\":0,\"processType\":0,\"stackwalk\":1,\"version\":");
	put_number(c, GECKO_VERSION);
	sink_str(&c->sink, ",\"preprocessedProfileVersion\":");
	put_number(c, PROCESSED_VERSION);
	put_string_field(c, ",\"product\":", *c->x.title ? c->x.title : "kin");
	sink_str(&c->sink,
		 "\"importedFrom\":\"kin " KIN_VERSION "\",\"symbolicated\":true,"
		 "\"symbolicationNotSupported\":true,\"usesOnlyOneStackType\":true,"
		 "\"doesNotUseFrameImplementation\":true,\"sourceCodeIsNotOnSearchfox\":true,"
		 "\"markerSchema\":[],\"categories\":["
		 "{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
		 "{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
		 "{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]}]},\n");
}

/* Requests the lines of all functions before any table is written. The file of a function that is
 * only inlined is not known before; a table written earlier would lack it, and the function would
 * appear twice. */
static void learn_files(struct firefox *c)
{
	bool *seen = xalloc(kin_samples_n_stacks(c->x.samples) + 1);
	size_t n;
	for (size_t i = 0; i < c->tracks.n; i++)
		for (size_t k = 0; k < c->tracks.at[i].at.n; k++) {
			uint32_t stack = c->tracks.at[i].at.at[k].stack;
			while (stack && !seen[stack]) {
				const struct kin_stack *s = kin_samples_stack(c->x.samples, stack);
				seen[stack] = true;
				kin_samples_lines(c->x.samples, s->location, &n);
				stack = s->caller;
			}
		}
	free(seen);
}

static void write_all(void *own, FILE *out)
{
	struct firefox *c = own;
	sink_init(&c->sink, out);
	c->tracks = tracks_of(&c->x);
	learn_files(c);
	put_meta(c);
	put_libs(c);
	sink_str(&c->sink, "\"threads\":[");
	for (size_t i = 0; i < c->tracks.n; i++) {
		if (i)
			sink_str(&c->sink, ",\n");
		put_thread(c, &c->tracks.at[i]);
	}
	sink_str(&c->sink, "]}\n");
	sink_flush(&c->sink);
	tracks_done(&c->tracks);
}

struct kin_error *firefox_write(struct kin_profile *profile, const struct kin_export_opts *opts,
				FILE *out)
{
	return exported_write(profile, opts, sizeof(struct firefox), write_all, out);
}
