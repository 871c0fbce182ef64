/* perf_dwarf.c - stack dumps: registers and a copy of the user's stack, as recorded by "perf record
 * --call-graph dwarf". They are walked by the call-frame information of the mapped files. */
#include <string.h>

#include "base/err.h"
#include "formats/perfdata/perf.h"
#include "unwind/perf_regs.h"
#include "unwind/unwinder.h"

enum { ABI_NONE, ABI_32, ABI_64 }; /* of the registers; kernel threads have none */
enum { OPEN_MAX_FILES = 200 };     /* files kept open for code without call-frame information */

struct perf_dwarf {
	struct unwinder *unwinder;
	struct perf *p;
	struct perf_space *space;
	uint32_t generation; /* of the space that is cached in the unwinder */
	size_t n_open;
	struct perf_places places; /* of the registers in `mask`, which the last sample had */
	uint64_t mask;
};

/* ---- call-frame information ---- */

static size_t copy_code(const uint8_t *at, size_t n, uint8_t *ret, size_t size)
{
	n = !at ? 0 : n < size ? n : size;
	if (n)
		memcpy(ret, at, n);
	return n;
}

static void close_file(struct perf *p, struct perf_object *o)
{
	struct kin_error *trouble = o->file ? object_trouble(o->file) : NULL;

	if (trouble)
		perf_unread(p, "stacks end early", trouble);
	object_free(o->file);
	o->file = NULL;
}

static void make_table(struct perf *p, struct perf_object *o)
{
	o->file = perf_object_open(p, o, o->build_id);
	if (!o->file)
		return;
	bool stays_open = p->dwarf->n_open < OPEN_MAX_FILES;
	o->table = object_unwind_table(o->file, p->machine.walked, stays_open);
	p->dwarf->n_open += stays_open;
	if (!stays_open)
		close_file(p, o);
}

static struct perf_object *with_table(struct perf *p, uint32_t object)
{
	struct perf_object *o = &p->objects.at[object];

	if (!o->has_table) {
		o->has_table = true;
		make_table(p, o);
	}
	return o;
}

/* Code without call-frame information is followed when a stack first has it. */
static const struct unwind_table *table_at(struct perf *p, uint32_t object, uint64_t addr)
{
	struct perf_object *o = with_table(p, object);

	if (o->table && o->file && unwind_table_lacks(o->table, addr)) {
		unwind_table_free(o->table);
		o->table = object_unwind_table(o->file, p->machine.walked, false);
	}
	return o->table;
}

/* ---- callbacks of the unwinder ---- */

static bool find(void *arg, uint64_t pc, struct unwind_code *ret)
{
	struct perf_dwarf *d = arg;
	struct perf_map m;

	if (!perf_space_find(d->space, pc, &m))
		return false;
	if (m.is_data)
		return false;
	ret->bias = perf_object_bias(d->p, &m, pc);
	ret->table = table_at(d->p, m.object, pc - ret->bias);
	ret->is_file = !perf_object_made(d->p, m.object);
	return true;
}

/* The row from the call-frame information of JIT code. */
static bool made_row(void *arg, uint64_t pc, struct unwind_row *ret)
{
	struct perf_dwarf *d = arg;
	struct perf_map m;
	const struct perf_made *made =
		perf_space_find(d->space, pc, &m) ? perf_object_made(d->p, m.object) : NULL;
	const struct perf_name *name = made ? perf_made_at(made, pc) : NULL;

	if (!name || !name->frames)
		return false;
	const struct perf_made_frames *f = &made->frames[name->frames - 1];
	return made_frames_row(d->p->machine.walked, &f->said, f->code, f->size, pc, ret);
}

/* Code that a process made is not in the file, but all of Python's trampolines are alike. */
static size_t made_code(struct perf_dwarf *d, const struct perf_made *made, uint64_t addr,
			uint8_t *ret, size_t size)
{
	const struct machine *machine = d->p->machine.walked;
	const struct perf_name *name = perf_made_at(made, addr);

	if (!name || !machine->trampoline ||
	    strncmp(profile_string(d->p->into, name->name), "py::", 4) != 0)
		return 0;
	size_t n = name->end - name->start, at = addr - name->start;
	const uint8_t *code = machine->trampoline(n);
	return copy_code(code ? code + at : NULL, n - at, ret, size);
}

static size_t code(void *arg, uint64_t addr, uint8_t *ret, size_t size)
{
	struct perf_dwarf *d = arg;
	struct perf_map m;
	size_t n = 0;

	if (!perf_space_find(d->space, addr, &m))
		return 0;
	const struct perf_made *made = perf_object_made(d->p, m.object);
	if (made)
		return made_code(d, made, addr, ret, size);
	const struct perf_object *o = with_table(d->p, m.object);
	const uint8_t *at =
		o->file ? object_code_part(o->file, addr - perf_object_bias(d->p, &m, addr), size,
					   &n)
			: NULL;
	return copy_code(at, n, ret, size);
}

/* ---- registers ---- */

/* The machine named in the file. A killed recorder wrote no name: then the requested registers
 * tell. */
const struct machine *perf_machine_of(const struct perf *p, const struct perf_attr *a)
{
	if (p->machine_name[0])
		return machine_by_name(p->machine_name);
	return p->big_endian ? NULL
			     : machine_by_registers(a->layout.regs_user | a->layout.regs_intr);
}

/* ---- walking ---- */

static void start(struct perf *p)
{
	struct perf_dwarf *d = p->dwarf = xalloc(sizeof(*d));
	struct unwinder_opts opts = { .find = find, .row = made_row, .code = code, .arg = d };

	d->p = p;
	d->unwinder = unwinder_new(&opts);
}

/* The quality of stack walks is part of the measurement. */
static void count(struct perf *p, const struct unwind_walk *w, const uint64_t *pcs)
{
	struct audit *audit = profile_audit(p->into);
	struct perf_map m;

	if (w->end == UNWIND_COMPLETE) {
		audit->complete += !w->guessed;
		audit->guessed += w->guessed != 0;
		return;
	}
	audit->truncated++;
	if (w->n && perf_space_find(p->dwarf->space, pcs[w->n - 1], &m))
		profile_add_failure(p->into, p->objects.at[m.object].id, 1);
}

/* Notes a stack that cannot be walked here: its callers are not known. */
static void leave_out(struct perf *p, const struct machine *m)
{
	const char *whose = p->swap            ? "a machine with another byte order"
			    : m                ? "32-bit programs"
			    : *p->machine_name ? p->machine_name
					       : "an unknown machine";

	profile_audit(p->into)->truncated++;
	if (!p->told_machine)
		perf_unread(p, "callers are not known",
			    err_new(KIN_ERROR_UNSUPPORTED,
				    "copies of stacks of %s cannot be followed", whose));
	p->told_machine = true;
}

static const struct perf_places *places_of(struct perf_dwarf *d, const struct machine *m,
					   uint64_t mask)
{
	if (d->places.machine != m || d->mask != mask)
		d->places = unwind_perf_places(m, mask);
	d->mask = mask;
	return &d->places;
}

size_t perf_dwarf_walk(struct perf *p, struct perf_space *space, const struct perf_attr *a,
		       const struct perf_sample *s, uint64_t *pcs, size_t max,
		       struct unwind_walk *w)
{
	const struct machine *m = perf_machine_of(p, a);
	uint64_t all[MACHINE_REGISTERS];

	*w = (struct unwind_walk){ .copy = s->stack,
				   .copy_size = s->stack_size,
				   .end = UNWIND_COMPLETE };
	if (s->user.abi == ABI_NONE)
		return 0;
	if (!m || s->user.abi != ABI_64 || p->swap) {
		leave_out(p, m);
		w->end = UNWIND_NO_CFI;
		return 0;
	}
	p->machine.walked = m;
	if (!p->dwarf)
		start(p);
	struct perf_dwarf *d = p->dwarf;
	d->space = space;
	if (d->generation != space->generation)
		unwinder_flush(d->unwinder);
	d->generation = space->generation;
	unwind_regs_of_perf(places_of(d, m, s->user.mask), s->user.values, all, &w->regs);
	w->copy_addr = w->regs.sp;
	unwinder_walk(d->unwinder, w, pcs, max);
	count(p, w, pcs);
	return w->n;
}

void perf_dwarf_object_done(struct perf *p, struct perf_object *o)
{
	unwind_table_free(o->table);
	close_file(p, o);
}

void perf_dwarf_done(struct perf_dwarf *d)
{
	if (d)
		unwinder_free(d->unwinder);
	free(d);
}
