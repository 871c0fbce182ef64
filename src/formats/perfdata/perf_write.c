/* perf_write.c - writes samples as a perf.data file, for perf and for programs that read its files:
 * hotspot, flame graph scripts, AutoFDO.
 *
 * Stacks are written as call chains. The samples' processes, threads and objects are in records
 * without a time, which readers handle first. Profiles do not keep where objects were in memory, so
 * each object gets a place of its own, the same in all processes; only code made at run time and
 * the kernel keep theirs. No names are looked up: perf does that, by the build ids.
 *
 * Sizes of later parts are written before these, and `out` may be a pipe. So each such part is
 * generated twice, and only counted the first time. */
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/err.h"
#include "base/map64.h"
#include "base/num.h"
#include "base/vec.h"
#include "formats/exported.h"
#include "formats/perfdata/perf_format.h"
#include "formats/perfdata/perf_write.h"
#include "object/kernel.h"
#include "object/object.h"

#define KERNEL_NAME "[kernel.kallsyms]"

enum {
	ATTR = 112, /* size in perf 4.1 and later */
	PAGE = 4096,
	RECORD_MAX = 65528,
	NAME_MAX_BYTES = 4096, /* longer paths are truncated */
	BUILD_ID = 20,
	CLOCK_OF_KIN = 1, /* CLOCK_MONOTONIC */
	PROT_CODE = 5,    /* readable, executable */
	PRIVATE = 2,
};

/* Addresses for objects. Those that programs use are below or above. */
static const uint64_t first_place = UINT64_C(1) << 40, end_of_places = UINT64_C(1) << 45,
		      gap = UINT64_C(1) << 21;

struct written_mapping {
	uint64_t start, size, offset;
};

struct written_object {
	uint64_t bias; /* address in the file's memory minus link-time address */
	VEC(struct written_mapping) at;
	const char *path;
	uint8_t build_id[BUILD_ID];
	uint8_t build_id_size;
};

struct perf_writer {
	struct exported x;
	FILE *out;   /* NULL: only counted */
	uint64_t at; /* bytes so far */
	struct written_object *objects;
	uint64_t kernel_low, kernel_high; /* first and last address of its code and modules */
	uint64_t core_low, core_high;     /* the same without modules */
	uint64_t kernel_text;             /* address of its symbol _text; 0: not known */
	uint64_t first_ns, last_ns;       /* times of samples; 0: none has one */
	uint32_t n_cpus;
	const char *machine; /* as printed by uname; NULL: not known */
	bool any;            /* there is an address */
	struct map64 mapped; /* (process, object) -> 1 */
	struct map64 named;  /* (process, thread) -> kin's thread whose name it has */
	VEC(uint64_t) chain;
};

/* ---- bytes ---- */

static void put(struct perf_writer *w, const void *data, size_t n)
{
	if (w->out)
		fwrite(data, 1, n, w->out);
	w->at += n;
}

static void put_u32(struct perf_writer *w, uint32_t value) { put(w, &value, sizeof(value)); }
static void put_u64(struct perf_writer *w, uint64_t value) { put(w, &value, sizeof(value)); }

static void put_pair(struct perf_writer *w, uint32_t low, uint32_t high)
{
	put_u32(w, low);
	put_u32(w, high);
}

static void put_zeros(struct perf_writer *w, size_t n)
{
	static const char zeros[64];
	for (; n > sizeof(zeros); n -= sizeof(zeros))
		put(w, zeros, sizeof(zeros));
	put(w, zeros, n);
}

/* Text, NUL and padding. */
static void put_padded(struct perf_writer *w, const char *text, size_t room)
{
	size_t n = strnlen(text, room - 1);
	put(w, text, n);
	put_zeros(w, room - n);
}

static size_t room_for(const char *text, size_t unit)
{
	size_t n = strlen(text);
	return ((n < NAME_MAX_BYTES ? n : NAME_MAX_BYTES) / unit + 1) * unit;
}

static void put_header(struct perf_writer *w, uint32_t type, uint16_t misc, size_t size)
{
	uint16_t rest[2] = { misc, (uint16_t)size };
	put_u32(w, type);
	put(w, rest, sizeof(rest));
}

static uint64_t id_of(size_t column) { return column + 1; }

/* Appended to each record other than a sample: id of its event, and time. */
enum { TRAILER = 32 };
static void put_trailer(struct perf_writer *w, uint32_t pid, uint32_t tid, uint64_t time)
{
	put_pair(w, pid, tid);
	put_u64(w, time);
	put_u64(w, 0); /* CPU */
	put_u64(w, id_of(0));
}

static uint64_t count(struct perf_writer *w, void (*write)(struct perf_writer *w))
{
	FILE *out = w->out;
	uint64_t before = w->at;
	w->out = NULL;
	write(w);
	uint64_t n = w->at - before;
	w->out = out;
	w->at = before;
	return n;
}

/* ---- objects ---- */

static uint64_t page_of(uint64_t address) { return address & ~(uint64_t)(PAGE - 1); }

static void take_build_id(struct written_object *o, const char *hex)
{
	size_t n = strlen(hex) / 2;
	if (strspn(hex, "0123456789abcdef") != strlen(hex))
		return;
	o->build_id_size = (uint8_t)(n < BUILD_ID ? n : BUILD_ID);
	for (size_t i = 0; i < o->build_id_size; i++)
		o->build_id[i] =
			(uint8_t)(num_hex_digit(hex[2 * i]) << 4 | num_hex_digit(hex[2 * i + 1]));
}

/* Adds a mapping at link-time addresses, which are moved later. */
static void add_mapping(struct written_object *o, uint64_t low, uint64_t high, uint64_t offset)
{
	struct written_mapping m = { page_of(low), page_of(high + PAGE - 1) - page_of(low),
				     page_of(offset) };
	vec_push(&o->at, m);
}

static const char *machine_name(uint32_t elf_machine)
{
	static const struct {
		uint32_t elf;
		const char *name;
	} known[] = { { 62, "x86_64" }, { 183, "aarch64" }, { 243, "riscv64" } };
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (known[i].elf == elf_machine)
			return known[i].name;
	return NULL;
}

/* Adds the file's code, as loaders map it. */
static void find_segments(struct perf_writer *w, struct written_object *o,
			  const struct kin_object *from)
{
	struct object_opts opts = { .build_id = from->build_id, .no_debug_files = true };
	struct object_file *file = NULL;
	struct kin_error *err = object_open(from->path, &opts, &file);
	size_t n = 0;
	const struct object_segment *s = err ? NULL : object_segments(file, &n);
	for (size_t i = 0; i < n; i++)
		if (s[i].executable && s[i].size && s[i].addr < from->high &&
		    s[i].addr + s[i].size > from->low)
			add_mapping(o, s[i].addr, s[i].addr + s[i].size, s[i].offset);
	if (!err && !w->machine)
		w->machine = machine_name(object_elf_machine(file));
	object_free(file);
	kin_error_free(err); /* missing, or another build: addresses are as in the file */
}

static void place(struct perf_writer *w, uint32_t id, uint64_t *next)
{
	const struct kin_object *from = kin_samples_object(w->x.samples, id);
	struct written_object *o = &w->objects[id];
	bool made = from->kind == KIN_OBJECT_JIT;
	o->path = made ? "//anon" : from->path;
	if (!*o->path) /* addresses outside of all objects */
		return;
	take_build_id(o, from->build_id);
	if (from->kind == KIN_OBJECT_FILE && from->high > from->low)
		find_segments(w, o, from);
	if (from->kind == KIN_OBJECT_KERNEL || from->kind == KIN_OBJECT_OTHER ||
	    from->high <= from->low || from->high - from->low > end_of_places)
		return;
	if (!o->at.n)
		add_mapping(o, from->low, from->high, from->low);
	if (made)
		return;
	const struct written_mapping *last = &o->at.at[o->at.n - 1];
	uint64_t first = o->at.at[0].start, size = last->start + last->size - first;
	if (last->start < first || size > end_of_places - *next) {
		o->at.n = 0;
		return;
	}
	o->bias = *next - first;
	for (size_t i = 0; i < o->at.n; i++)
		o->at.at[i].start += o->bias;
	*next += (size + 2 * gap - 1) & ~(gap - 1);
}

static void place_objects(struct perf_writer *w)
{
	size_t n = kin_samples_n_objects(w->x.samples);
	uint64_t next = first_place;
	w->objects = xalloc((n + 1) * sizeof(*w->objects));
	for (uint32_t i = 0; i < n; i++)
		place(w, i, &next);
}

static void add_to_range(uint64_t *low, uint64_t *high, uint64_t address)
{
	*low = !*low || address < *low ? address : *low;
	*high = address > *high ? address : *high;
}

/* Takes the addresses of the running kernel, if the samples may be from it. */
static void place_kernel(struct perf_writer *w)
{
	uint64_t start, end;
	struct kernel *k = w->core_low ? kernel_new() : NULL;
	if (k && kernel_range(k, &start, &end) && start <= w->core_low && w->core_high <= end) {
		w->kernel_text = start;
		add_to_range(&w->kernel_low, &w->kernel_high, start);
		add_to_range(&w->kernel_low, &w->kernel_high, end);
	}
	kernel_free(k);
	if (!w->kernel_low)
		w->kernel_low = w->kernel_high = page_of(UINT64_MAX);
}

static bool is_of_kernel(const struct kin_location *l) { return l->is_kernel && l->address >> 63; }

static void look_at_locations(struct perf_writer *w)
{
	for (uint32_t i = 1; i < kin_samples_n_locations(w->x.samples); i++) {
		const struct kin_location *l = kin_samples_location(w->x.samples, i);
		w->any |= l->address != 0;
		if (!is_of_kernel(l))
			continue;
		add_to_range(&w->kernel_low, &w->kernel_high, l->address);
		if (!strcmp(kin_samples_object(w->x.samples, l->object)->path, KERNEL_NAME))
			add_to_range(&w->core_low, &w->core_high, l->address);
	}
}

static void look_at_samples(struct perf_writer *w)
{
	const struct kin_sample *s;
	long here = sysconf(_SC_NPROCESSORS_CONF);
	w->n_cpus = here > 0 ? (uint32_t)here : 1;
	while ((s = kin_samples_next(w->x.samples))) {
		if (s->time_ns && (!w->first_ns || s->time_ns < w->first_ns))
			w->first_ns = s->time_ns;
		if (s->time_ns > w->last_ns)
			w->last_ns = s->time_ns;
		if (s->cpu != UINT32_MAX && s->cpu >= w->n_cpus)
			w->n_cpus = s->cpu + 1;
	}
	kin_samples_rewind(w->x.samples);
}

/* ---- the data ---- */

static void put_mapping(struct perf_writer *w, uint32_t pid, const struct written_object *o,
			const struct written_mapping *m)
{
	size_t room = room_for(o->path, 8);
	put_header(w, PERF_R_MMAP2,
		   PERF_MODE_USER | (o->build_id_size ? PERF_MISC_MMAP_BUILD_ID : 0),
		   PERF_RECORD_HEADER + 64 + room + TRAILER);
	put_pair(w, pid, pid);
	put_u64(w, m->start);
	put_u64(w, m->size);
	put_u64(w, m->offset);
	put_u32(w, o->build_id_size); /* without a build id: the device, which is not known */
	put(w, o->build_id, BUILD_ID);
	put_pair(w, PROT_CODE, PRIVATE);
	put_padded(w, o->path, room);
	put_trailer(w, pid, pid, 0);
}

/* perf warns if a file has no kernel. After the name comes a symbol whose address is given, so that
 * perf finds the others. */
static void put_kernel(struct perf_writer *w)
{
	const char *name = w->kernel_text ? KERNEL_NAME "_text" : KERNEL_NAME;
	size_t room = room_for(name, 8);
	put_header(w, PERF_R_MMAP, PERF_MODE_KERNEL, PERF_RECORD_HEADER + 32 + room + TRAILER);
	put_pair(w, UINT32_MAX, 0);
	put_u64(w, w->kernel_low);
	put_u64(w, w->kernel_high - w->kernel_low + 1);
	put_u64(w, w->kernel_text);
	put_padded(w, name, room);
	put_trailer(w, UINT32_MAX, 0, 0);
}

static void put_comm(struct perf_writer *w, uint32_t pid, uint32_t tid, const char *name,
		     uint64_t time)
{
	size_t room = room_for(name, 8);
	put_header(w, PERF_R_COMM, 0, PERF_RECORD_HEADER + 8 + room + TRAILER);
	put_pair(w, pid, tid);
	put_padded(w, name, room);
	put_trailer(w, pid, tid, time);
}

/* Writes the thread's name, if it is new. */
static void put_name(struct perf_writer *w, const struct kin_sample *s, uint32_t pid, uint32_t tid)
{
	const struct kin_thread *t = kin_samples_thread(w->x.samples, s->thread);
	uint32_t *named = map64_at(&w->named, MAP64_PAIR(pid, tid));
	bool first = *named == NONE;
	if (*named != s->thread && *t->name)
		put_comm(w, pid, tid, t->name, first ? 0 : s->time_ns);
	*named = s->thread;
}

/* Writes the mapping of an object in the process, the first time. */
static void put_place(struct perf_writer *w, uint32_t pid, uint32_t object)
{
	const struct written_object *o = &w->objects[object];
	uint32_t *mapped = o->at.n ? map64_at(&w->mapped, MAP64_PAIR(pid, object)) : NULL;
	if (!mapped || *mapped != NONE)
		return;
	*mapped = 1;
	for (size_t i = 0; i < o->at.n; i++)
		put_mapping(w, pid, o, &o->at.at[i]);
}

/* Whether the address is really 0, as in a call through a null pointer; otherwise it is not
 * known. */
static bool is_zero(struct perf_writer *w, uint32_t location)
{
	size_t n;
	const struct kin_line *lines = kin_samples_lines(w->x.samples, location, &n);
	return n == 1 && !kin_samples_location(w->x.samples, location)->object &&
	       kin_samples_function(w->x.samples, lines->function)->is_unnamed;
}

/* Makes the chain of addresses, innermost first, with marks for the kernel or the user before them.
 * Writes mappings of objects that are new in the process. Returns whether the first address is the
 * kernel's. */
static bool chain_of(struct perf_writer *w, uint32_t stack, uint32_t pid)
{
	struct kin_samples *from = w->x.samples;
	bool in_kernel = false, leaf_in_kernel = false;
	w->chain.n = 0;
	while (stack && w->chain.n < RECORD_MAX / 8 - 16) {
		const struct kin_stack *at = kin_samples_stack(from, stack);
		const struct kin_location *l = kin_samples_location(from, at->location);
		stack = at->caller;
		if (!l->address && !is_zero(w, at->location))
			continue;
		put_place(w, pid, l->object);
		if (!w->chain.n)
			leaf_in_kernel = l->is_kernel;
		if (!w->chain.n || in_kernel != l->is_kernel)
			vec_push(&w->chain, l->is_kernel ? PERF_CONTEXT_KERNEL : PERF_CONTEXT_USER);
		in_kernel = l->is_kernel;
		vec_push(&w->chain, l->address + w->objects[l->object].bias);
	}
	return leaf_in_kernel;
}

static void put_sample(struct perf_writer *w, const struct kin_sample *s)
{
	enum { FIXED = 7 * 8 };
	const struct kin_thread *t = kin_samples_thread(w->x.samples, s->thread);
	bool known = t->tid || t->pid || *t->name;
	uint32_t pid = known ? t->pid : UINT32_MAX, tid = known ? t->tid : UINT32_MAX;
	put_name(w, s, pid, tid);
	bool kernel = chain_of(w, s->stack, pid);
	size_t n = w->chain.n;
	put_header(w, PERF_R_SAMPLE, kernel ? PERF_MODE_KERNEL : PERF_MODE_USER,
		   PERF_RECORD_HEADER + FIXED + n * 8);
	put_u64(w, id_of(w->x.column[s->event]));
	put_u64(w, n ? w->chain.at[1] : 0);
	put_pair(w, pid, tid);
	put_u64(w, s->time_ns);
	put_u64(w, s->cpu);
	put_u64(w, s->weight);
	put_u64(w, n);
	put(w, w->chain.at, n * 8);
}

static void write_data(struct perf_writer *w)
{
	const struct kin_sample *s;
	map64_free(&w->mapped);
	map64_free(&w->named);
	w->mapped = w->named = (struct map64){ 0 };
	put_kernel(w);
	while ((s = kin_samples_next(w->x.samples)))
		put_sample(w, s);
	kin_samples_rewind(w->x.samples);
}

/* ---- events ---- */

static bool has_clock(const struct perf_writer *w)
{
	return kin_samples_recording(w->x.samples, 0)->start_time_ns != 0;
}

/* The event that perf counts by that name. Other names are in write_events(); here events in
 * nanoseconds become a clock, and the rest the dummy, which counts nothing. */
static void event_of(const struct kin_event *e, uint32_t *type, uint64_t *config)
{
	static const struct {
		const char *name;
		uint32_t type;
		uint64_t config;
	} known[] = {
		{ "cpu-clock", PERF_SOFTWARE, PERF_CPU_CLOCK },
		{ "task-clock", PERF_SOFTWARE, PERF_TASK_CLOCK },
		{ "page-faults", PERF_SOFTWARE, 2 },
		{ "context-switches", PERF_SOFTWARE, 3 },
		{ "cpu-migrations", PERF_SOFTWARE, 4 },
		{ "cycles", PERF_HARDWARE, 0 },
		{ "instructions", PERF_HARDWARE, 1 },
		{ "cache-references", PERF_HARDWARE, 2 },
		{ "cache-misses", PERF_HARDWARE, 3 },
		{ "branches", PERF_HARDWARE, 4 },
		{ "branch-misses", PERF_HARDWARE, 5 },
	};
	size_t n = strcspn(e->name, ":");
	*type = PERF_SOFTWARE;
	*config = *e->unit ? PERF_TASK_CLOCK : PERF_DUMMY;
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (strlen(known[i].name) == n && !memcmp(known[i].name, e->name, n)) {
			*type = known[i].type;
			*config = known[i].config;
		}
}

static void put_attr(struct perf_writer *w, const struct kin_event *e)
{
	uint32_t type;
	uint64_t config;
	event_of(e, &type, &config);
	put_pair(w, type, ATTR);
	put_u64(w, config);
	put_u64(w, e->frequency ? e->frequency : e->period ? e->period : 1);
	put_u64(w, PERF_IDENTIFIER | PERF_IP | PERF_TID | PERF_TIME | PERF_CPU | PERF_PERIOD |
			   PERF_CALLCHAIN);
	put_u64(w, 0); /* read_format */
	put_u64(w, PERF_FLAG_SAMPLE_ID_ALL | PERF_FLAG_MMAP | PERF_FLAG_MMAP2 | PERF_FLAG_COMM |
			   (e->frequency ? PERF_FLAG_FREQ : 0) |
			   (has_clock(w) ? PERF_FLAG_USE_CLOCKID : 0));
	put_zeros(w, 44);
	put_u32(w, has_clock(w) ? CLOCK_OF_KIN : 0);
	put_zeros(w, ATTR - 96);
}

/* ---- description of the recording ---- */

static void put_string(struct perf_writer *w, const char *text)
{
	size_t room = room_for(text, 64);
	put_u32(w, (uint32_t)room);
	put_padded(w, text, room);
}

static void write_build_ids(struct perf_writer *w)
{
	for (uint32_t i = 0; i < kin_samples_n_objects(w->x.samples); i++) {
		const struct written_object *o = &w->objects[i];
		bool kernel = !strcmp(o->path, KERNEL_NAME);
		size_t room = room_for(o->path, 64);
		if (!o->build_id_size || (!o->at.n && !kernel))
			continue;
		put_header(w, 0,
			   (kernel ? PERF_MODE_KERNEL : PERF_MODE_USER) | PERF_MISC_BUILD_ID_SIZE,
			   PERF_RECORD_HEADER + 4 + 24 + room);
		put_u32(w, UINT32_MAX); /* of any process */
		put(w, o->build_id, BUILD_ID);
		put_u32(w, o->build_id_size);
		put_padded(w, o->path, room);
	}
}

static void write_host(struct perf_writer *w)
{
	put_string(w, kin_samples_recording(w->x.samples, 0)->host);
}

static void write_release(struct perf_writer *w)
{
	put_string(w, kin_samples_recording(w->x.samples, 0)->kernel);
}

static void write_version(struct perf_writer *w) { put_string(w, "kin " KIN_VERSION); }

static void write_machine(struct perf_writer *w) { put_string(w, w->machine); }

static void write_cpus(struct perf_writer *w) { put_pair(w, w->n_cpus, w->n_cpus); }

static void write_command(struct perf_writer *w)
{
	put_u32(w, 1);
	put_string(w, kin_samples_recording(w->x.samples, 0)->command);
}

static void write_events(struct perf_writer *w)
{
	put_pair(w, (uint32_t)w->x.n_events, ATTR);
	for (size_t i = 0; i < w->x.n_events; i++) {
		const struct kin_event *e = exported_event(&w->x, i);
		put_attr(w, e);
		put_u32(w, 1);
		put_string(w, e->name);
		put_u64(w, id_of(i));
	}
}

static void write_times(struct perf_writer *w)
{
	put_u64(w, w->first_ns);
	put_u64(w, w->last_ns);
}

/* The same moment on both clocks. */
static void write_clock(struct perf_writer *w)
{
	const struct kin_recording *r = kin_samples_recording(w->x.samples, 0);
	put_pair(w, 1, CLOCK_OF_KIN);
	put_u64(w, r->start_time_ns);
	put_u64(w, r->start_ns);
}

static bool has_host(const struct perf_writer *w)
{
	return *kin_samples_recording(w->x.samples, 0)->host;
}

static bool has_release(const struct perf_writer *w)
{
	return *kin_samples_recording(w->x.samples, 0)->kernel;
}

static bool has_command(const struct perf_writer *w)
{
	return *kin_samples_recording(w->x.samples, 0)->command;
}

static bool has_machine(const struct perf_writer *w) { return w->machine; }
static bool has_times(const struct perf_writer *w) { return w->first_ns; }

static const struct {
	enum perf_feature number; /* ascending */
	void (*write)(struct perf_writer *w);
	bool (*has)(const struct perf_writer *w); /* NULL: always */
} features[] = {
	{ PERF_F_BUILD_ID, write_build_ids, NULL },
	{ PERF_F_HOSTNAME, write_host, has_host },
	{ PERF_F_OSRELEASE, write_release, has_release },
	{ PERF_F_VERSION, write_version, NULL },
	{ PERF_F_ARCH, write_machine, has_machine },
	{ PERF_F_NRCPUS, write_cpus, NULL },
	{ PERF_F_CMDLINE, write_command, has_command },
	{ PERF_F_EVENT_DESC, write_events, NULL },
	{ PERF_F_SAMPLE_TIME, write_times, has_times },
	{ PERF_F_CLOCK_DATA, write_clock, has_clock },
};

static bool is_there(const struct perf_writer *w, size_t feature)
{
	return !features[feature].has || features[feature].has(w);
}

static void write_features(struct perf_writer *w)
{
	uint64_t at = w->at;
	for (size_t i = 0; i < ARRAY_LEN(features); i++)
		at += is_there(w, i) ? 16 : 0;
	for (size_t i = 0; i < ARRAY_LEN(features); i++) {
		if (!is_there(w, i))
			continue;
		uint64_t size = count(w, features[i].write);
		put_u64(w, at);
		put_u64(w, size);
		at += size;
	}
	for (size_t i = 0; i < ARRAY_LEN(features); i++)
		if (is_there(w, i))
			features[i].write(w);
}

/* ---- the file ---- */

static void put_start(struct perf_writer *w, uint64_t data_size)
{
	uint64_t ids = PERF_HEADER, n = w->x.n_events, attrs = ids + n * 8,
		 data = attrs + n * (ATTR + 16), bits[PERF_FEATURES / 64] = { 0 };
	for (size_t i = 0; i < ARRAY_LEN(features); i++)
		if (is_there(w, i))
			bits[features[i].number / 64] |= UINT64_C(1) << features[i].number % 64;
	put(w, "PERFILE2", 8);
	put_u64(w, PERF_HEADER);
	put_u64(w, ATTR + 16);
	put_u64(w, attrs);
	put_u64(w, n * (ATTR + 16));
	put_u64(w, data);
	put_u64(w, data_size);
	put_zeros(w, 16); /* event types, in old versions */
	put(w, bits, sizeof(bits));
	for (size_t i = 0; i < n; i++)
		put_u64(w, id_of(i));
	for (size_t i = 0; i < n; i++) {
		put_attr(w, exported_event(&w->x, i));
		put_u64(w, ids + i * 8);
		put_u64(w, 8);
	}
}

static void done(struct perf_writer *w)
{
	for (size_t i = 0; i < kin_samples_n_objects(w->x.samples); i++)
		vec_free(&w->objects[i].at);
	free(w->objects);
	map64_free(&w->mapped);
	map64_free(&w->named);
	vec_free(&w->chain);
}

static void write_all(struct perf_writer *w, FILE *out)
{
	look_at_locations(w);
	if (!w->any)
		return;
	look_at_samples(w);
	place_objects(w);
	place_kernel(w);
	w->out = out;
	put_start(w, count(w, write_data));
	write_data(w);
	write_features(w);
	done(w);
}

struct kin_error *perf_write(struct kin_profile *profile, const struct kin_export_opts *opts,
			     FILE *out)
{
	struct perf_writer w = { 0 };
	struct kin_error *err = exported_open(profile, opts, &w.x);
	if (err)
		return err;
	write_all(&w, out);
	err = exported_close(&w.x);
	if (!err && !w.any)
		err = err_new(
			KIN_ERROR_UNSUPPORTED,
			"there are names in the data and no addresses: perf.data has no place "
			"for them");
	return err;
}
