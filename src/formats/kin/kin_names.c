/* kin_names.c - reads blocks of names in .kin files (KINF_NAMES). */
#include <stdlib.h>
#include <string.h>

#include "formats/kin/kin_records.h"
#include "names/kept.h"

/* Limits, because adding one takes time proportional to those before it. No real recording has so
 * many. */
enum { MAX_OBJECTS = 8192, MAX_SOURCES = 16384 };

struct kin_names {
	struct kept *k;
	struct bytes in;
	VEC(const char *) strings; /* of the block; [0] is string 1 */
	struct kept_object *object;
};

static const char *take_string(struct kin_names *x)
{
	uint64_t id = bytes_uleb(&x->in);

	if (!id)
		return NULL;
	if (id <= x->strings.n)
		return x->strings.at[id - 1];
	if (id != x->strings.n + 1) {
		bytes_fail(&x->in);
		return NULL;
	}
	struct kinfile_text t = kinfile_take_text(&x->in);
	const char *s = strtab_get(x->k->strings,
				   strtab_addn(x->k->strings, t.s, t.n ? strnlen(t.s, t.n) : 0));
	vec_push(&x->strings, s);
	return s;
}

static const char *take_name(struct kin_names *x)
{
	const char *s = take_string(x);
	if (!s)
		bytes_fail(&x->in);
	return s;
}

/* Reads the number of entries that follow, each of `least` bytes or more. */
static uint64_t take_number(struct kin_names *x, size_t least)
{
	uint64_t n = bytes_uleb(&x->in);
	if (!x->object || n > bytes_left(&x->in) / least) {
		bytes_fail(&x->in);
		return 0;
	}
	return n;
}

static void read_object(struct kin_names *x)
{
	struct kept_object o = { 0 };
	o.flags = kinfile_take32(&x->in);
	o.machine = kinfile_take32(&x->in);
	o.path = take_name(x);
	o.build_id = take_string(x);
	o.size = bytes_uleb(&x->in);
	o.modified_ns = bytes_uleb(&x->in);
	o.text_low = bytes_uleb(&x->in);
	o.text_high = o.text_low + bytes_uleb(&x->in);
	o.profiled_low = bytes_uleb(&x->in);
	o.profiled_high = o.profiled_low + bytes_uleb(&x->in);
	o.n_functions = bytes_uleb(&x->in);
	o.build_id = o.build_id ? o.build_id : "";
	if (!x->in.failed && x->k->objects.n < MAX_OBJECTS)
		x->object = kept_add_object(x->k, &o);
	else
		bytes_fail(&x->in);
}

static void read_symbols(struct kin_names *x)
{
	struct kept_symbol s = { 0 };
	for (uint64_t n = take_number(x, 6); n; n--) {
		s.addr += kinfile_take_signed(&x->in);
		s.end = s.addr + bytes_uleb(&x->in);
		s.name = take_name(x);
		s.flags = kinfile_take32(&x->in);
		s.owner = s.addr - kinfile_take_signed(&x->in);
		s.position += (uint32_t)kinfile_take_signed(&x->in);
		if (x->in.failed)
			return;
		vec_push(&x->object->symbols, s);
	}
}

static void read_aliases(struct kin_names *x)
{
	struct kept_alias a = { 0 };
	for (uint64_t n = take_number(x, 2); n; n--) {
		a.addr += kinfile_take_signed(&x->in);
		a.name = take_name(x);
		if (x->in.failed)
			return;
		vec_push(&x->object->aliases, a);
	}
}

static void read_lines(struct kin_names *x)
{
	struct kept_line l = { 0 };
	for (uint64_t n = take_number(x, 5); n; n--) {
		l.addr = l.end + kinfile_take_signed(&x->in);
		l.end = l.addr + bytes_uleb(&x->in);
		l.file = take_string(x);
		l.line += (uint32_t)kinfile_take_signed(&x->in);
		l.function = take_string(x);
		if (x->in.failed)
			return;
		vec_push(&x->object->lines, l);
	}
}

static void read_inlines(struct kin_names *x, bool has_calls)
{
	struct kept_inline i = { 0 };
	for (uint64_t n = take_number(x, has_calls ? 5 : 3); n; n--) {
		i.addr += kinfile_take_signed(&x->in);
		i.depth = kinfile_take32(&x->in);
		i.name = take_name(x);
		if (has_calls) {
			i.call_file = take_string(x);
			i.call_line += (uint32_t)kinfile_take_signed(&x->in);
		}
		if (x->in.failed)
			return;
		vec_push(&x->object->inlines, i);
	}
}

static void read_code(struct kin_names *x)
{
	uint64_t addr = bytes_uleb(&x->in);
	struct kinfile_text t = kinfile_take_text(&x->in);
	if (!x->object || !t.n || addr + t.n < addr)
		bytes_fail(&x->in);
	else
		vec_push(&x->object->code,
			 ((struct kept_code){ addr, kept_bytes(x->k, t.s, t.n), t.n }));
}

static void read_tail_calls(struct kin_names *x)
{
	uint64_t addr = 0, jump[KEPT_JUMPS_MAX];
	for (uint64_t n = take_number(x, 3); n; n--) {
		addr += kinfile_take_signed(&x->in);
		uint64_t to = addr - kinfile_take_signed(&x->in), last = addr;
		uint32_t n_jumps = kinfile_take32(&x->in);
		if (n_jumps > KEPT_JUMPS_MAX && n_jumps != KINF_N_NO_WAY)
			bytes_fail(&x->in);
		for (uint32_t i = 0; i < n_jumps && n_jumps != KINF_N_NO_WAY && !x->in.failed; i++)
			jump[i] = last += kinfile_take_signed(&x->in);
		if (x->in.failed)
			return;
		kept_add_tail_call(x->object, addr, to, jump, n_jumps);
	}
}

/* Only full pieces may be continued, which limits the number of pieces. */
static void read_source(struct kin_names *x)
{
	const char *path = take_name(x), *found = take_name(x);
	struct kinfile_text t = kinfile_take_text(&x->in);
	const struct kept_source *old = path ? kept_find_source(x->k, path) : NULL;
	bool fits = old ? old->size % KINF_SOURCE_PIECE == 0 && old->size
			: x->k->sources.n < MAX_SOURCES;
	if (x->in.failed || !fits || t.n > KINF_SOURCE_PIECE)
		bytes_fail(&x->in);
	else
		kept_add_source(x->k, path, found, t.s, t.n);
}

static void read_record(struct kin_names *x)
{
	switch ((enum kinf_name_record)bytes_u8(&x->in)) {
	case KINF_N_OBJECT:
		read_object(x);
		return;
	case KINF_N_SYMBOLS:
		read_symbols(x);
		return;
	case KINF_N_ALIASES:
		read_aliases(x);
		return;
	case KINF_N_LINES:
		read_lines(x);
		return;
	case KINF_N_INLINES:
		read_inlines(x, false);
		return;
	case KINF_N_CALLED:
		read_inlines(x, true);
		return;
	case KINF_N_CODE:
		read_code(x);
		return;
	case KINF_N_SOURCE:
		read_source(x);
		return;
	case KINF_N_TAIL_CALLS:
		read_tail_calls(x);
		return;
	}
	bytes_fail(&x->in);
}

void kinfile_read_names(struct kinfile *f, const uint8_t *plain, size_t n, uint64_t at)
{
	if (!f->kept)
		f->kept = kept_new();
	struct kin_names x = { .k = f->kept, .in = bytes_of(f->w->b.name, plain, n) };
	while (bytes_left(&x.in))
		read_record(&x);
	if (x.in.failed)
		kinfile_damaged(f, at, "names of sampled functions");
	vec_free(&x.strings);
}

void kinfile_names_done(struct kinfile *f)
{
	if (!f->kept)
		return;
	kept_sort(f->kept);
	profile_add_kept(f->into, f->kept);
}
