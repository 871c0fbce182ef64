/* compare.c - kin's unwinder next to libdw's on the same captured stacks.
 *
 *	compare [--check] [--stack=BYTES] [--hz=N] [--max=SAMPLES] PROGRAM [ARGUMENT...]
 *
 * Prints one line of results. With --check it is a test that prints TAP: all stacks that both
 * follow to the end must have the same frames, and 98 % must be complete. */
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

#include "capture.h"
#include "kin/kin.h"
#include "object/object.h"
#include "unwind/unwinder.h"

enum { DEPTH = 1024 };

struct module {
	const struct mapping *map;
	const char *path; /* the file; NULL if there is none */
	struct object_file *object;
	struct unwind_table *table;
	uint64_t bias;
};

struct walk {
	uint64_t pcs[DEPTH];
	size_t n;
	bool complete;
	enum unwind_end end;
};

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- kin ---- */

struct modules {
	struct module *at;
	size_t n, rows, bytes;
	double seconds; /* to make the tables */
};

static struct cfi_section as_cfi(const struct object_section *s, const struct object_frames *f)
{
	return (struct cfi_section){ .machine = &machine_x86_64,
				     .data = s->data,
				     .size = s->size,
				     .addr = s->addr,
				     .text_base = f->text_addr,
				     .data_base = f->data_addr };
}

static void make_table(struct modules *m, struct module *x)
{
	struct object_frames f = object_frames(x->object);
	struct cfi_section s[2] = { as_cfi(&f.eh_frame, &f), as_cfi(&f.debug_frame, &f) };
	s[1].debug_frame = true;
	double start = now();
	x->table = unwind_table_new(s->machine, s, f.debug_frame.data ? 2 : 1, NULL, NULL);
	m->seconds += now() - start;
	if (x->table) {
		m->rows += unwind_table_rows(x->table);
		m->bytes += unwind_table_bytes(x->table);
	}
}

static void set_bias(struct module *x)
{
	size_t n;
	const struct object_segment *s = object_segments(x->object, &n);
	uint64_t offset = x->map->offset;
	for (size_t i = 0; i < n; i++)
		if (s[i].executable && (s[i].offset & ~UINT64_C(0xfff)) <= offset &&
		    offset < s[i].offset + s[i].file_size)
			x->bias = x->map->addr - offset - (s[i].addr - s[i].offset);
}

/* The kernel's own object: of every process the same, so ours is looked at. */
static void make_vdso(struct modules *m, struct module *x)
{
	static char path[] = "/tmp/kin-vdso-XXXXXX";
	int fd = mkstemp(path);
	const void *image = (const void *)getauxval(AT_SYSINFO_EHDR);
	if (fd < 0 || !image)
		return;
	if (write(fd, image, 8192) == 8192) {
		struct kin_error *err = object_open(path, &(struct object_opts){ 0 }, &x->object);
		if (!err) {
			x->path = path;
			set_bias(x);
			make_table(m, x);
		}
		kin_error_free(err);
	}
	close(fd);
}

static void close_modules(struct modules *m)
{
	for (size_t i = 0; i < m->n; i++) {
		if (m->at[i].path && m->at[i].path != m->at[i].map->path)
			unlink(m->at[i].path);
		object_free(m->at[i].object);
		unwind_table_free(m->at[i].table);
	}
	free(m->at);
}

static struct modules open_modules(const struct capture *c)
{
	struct modules m = { .at = calloc(c->n_maps + 1, sizeof(*m.at)) };
	for (size_t i = 0; i < c->n_maps; i++) {
		struct module *x = &m.at[m.n++];
		x->map = &c->maps[i];
		if (!strcmp(x->map->path, "[vdso]"))
			make_vdso(&m, x);
		if (x->map->path[0] != '/')
			continue;
		struct kin_error *err =
			object_open(x->map->path, &(struct object_opts){ 0 }, &x->object);
		if (!err) {
			x->path = x->map->path;
			set_bias(x);
			make_table(&m, x);
		}
		kin_error_free(err);
	}
	return m;
}

static bool find(void *arg, uint64_t pc, struct unwind_code *ret)
{
	const struct modules *m = arg;
	for (size_t i = m->n; i-- > 0;)
		if (pc - m->at[i].map->addr < m->at[i].map->size) {
			ret->table = m->at[i].table;
			ret->bias = m->at[i].bias;
			ret->is_file = true;
			return true;
		}
	return false;
}

static void walk_own(struct unwinder *u, const struct sample *s, struct walk *ret)
{
	struct unwind_walk w = { 0 };
	w.regs.machine = &machine_x86_64;
	w.regs.pc = s->regs[16];
	w.regs.sp = s->regs[7];
	w.regs.fp = s->regs[6];
	w.regs.bx = s->regs[3];
	w.regs.all = s->regs;
	w.regs.exact = true;
	w.copy = s->stack;
	w.copy_addr = s->regs[7];
	w.copy_size = s->size;
	unwinder_walk(u, &w, ret->pcs, DEPTH);
	ret->n = w.n;
	ret->end = w.end;
	ret->complete = w.end == UNWIND_COMPLETE;
}

/* ---- libdw ---- */

struct peer {
	Dwfl *dwfl;
	const struct sample *sample;
	struct walk *to;
};

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
	struct peer *p = arg;
	(void)dwfl;
	if (*thread_arg)
		return 0;
	*thread_arg = arg;
	return (pid_t)p->sample->tid;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread_arg)
{
	(void)dwfl;
	(void)tid;
	*thread_arg = arg;
	return true;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *ret, void *arg)
{
	const struct sample *s = ((struct peer *)arg)->sample;
	uint64_t at = addr - s->regs[7];
	(void)dwfl;
	if (s->size < 8 || at > s->size - 8)
		return false;
	memcpy(ret, s->stack + at, 8);
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct sample *s = ((struct peer *)arg)->sample;
	return dwfl_thread_state_registers(thread, 0, 17, s->regs);
}

static int add_frame(Dwfl_Frame *frame, void *arg)
{
	struct walk *w = ((struct peer *)arg)->to;
	Dwarf_Addr pc;
	if (w->n == DEPTH || !dwfl_frame_pc(frame, &pc, NULL))
		return DWARF_CB_ABORT;
	w->pcs[w->n++] = pc;
	return DWARF_CB_OK;
}

static const Dwfl_Thread_Callbacks thread_callbacks = { .next_thread = next_thread,
							.get_thread = get_thread,
							.memory_read = read_memory,
							.set_initial_registers = set_registers };
static const Dwfl_Callbacks dwfl_callbacks = { .find_elf = dwfl_build_id_find_elf,
					       .find_debuginfo = dwfl_standard_find_debuginfo,
					       .section_address = dwfl_offline_section_address };

static bool open_peer(struct peer *p, const struct modules *m, uint32_t pid)
{
	p->dwfl = dwfl_begin(&dwfl_callbacks);
	dwfl_report_begin(p->dwfl);
	for (size_t i = 0; i < m->n; i++)
		if (m->at[i].path)
			dwfl_report_elf(p->dwfl, m->at[i].map->path, m->at[i].path, -1,
					m->at[i].bias, true);
	dwfl_report_end(p->dwfl, NULL, NULL);
	return dwfl_attach_state(p->dwfl, NULL, (pid_t)pid, &thread_callbacks, p);
}

static void walk_peer(struct peer *p, const struct sample *s, struct walk *ret)
{
	p->sample = s;
	p->to = ret;
	ret->n = 0;
	ret->complete = dwfl_getthread_frames(p->dwfl, (pid_t)s->tid, add_frame, p) == 0;
}

/* libdw also returns 0 where it lost the way. The outermost frame's return address is undefined, as
 * libdw itself reads it. */
static bool is_outermost(const struct peer *p, uint64_t pc)
{
	Dwarf_Frame *frame;
	Dwarf_Addr bias;
	Dwarf_Op mem[3], *ops = NULL;
	size_t n = 1;
	Dwfl_Module *module = dwfl_addrmodule(p->dwfl, pc);
	Dwarf_CFI *cfi = module ? dwfl_module_eh_cfi(module, &bias) : NULL;
	if (!cfi || dwarf_cfi_addrframe(cfi, pc - bias, &frame))
		return false;
	bool undefined = !dwarf_frame_register(frame, 16, mem, &ops, &n) && !n && ops == mem;
	free(frame);
	return undefined;
}

/* ---- both ---- */

struct result {
	size_t samples, frames, peer_frames, complete, peer_complete, both, equal;
	size_t ends[UNWIND_DAMAGED + 1];
	double seconds, peer_seconds;
};

static bool same(const struct walk *a, const struct walk *b)
{
	return a->n == b->n && !memcmp(a->pcs, b->pcs, a->n * sizeof(*a->pcs));
}

static void show(const struct modules *m, const char *who, const struct walk *w)
{
	printf("# %s: %s\n", who, w->complete ? "complete" : "not complete");
	for (size_t i = 0; i < w->n && i < 20; i++) {
		const struct module *x = NULL;
		for (size_t k = 0; k < m->n; k++)
			if (w->pcs[i] - m->at[k].map->addr < m->at[k].map->size)
				x = &m->at[k];
		printf("#   %#llx %s+%#llx\n", (unsigned long long)w->pcs[i],
		       x ? x->map->path : "?", (unsigned long long)(w->pcs[i] - (x ? x->bias : 0)));
	}
}

static void count(struct result *r, const struct modules *m, const struct walk *own,
		  const struct walk *peer, bool verbose)
{
	static int shown;
	r->ends[own->end]++;
	r->complete += own->complete;
	r->peer_complete += peer->complete;
	bool both = own->complete && peer->complete, equal = both && same(own, peer);
	r->both += both;
	r->equal += equal;
	bool odd = (both && !equal) || (verbose && !own->complete);
	if (odd && shown++ < 4) {
		printf("# %s\n", unwind_end_name(own->end));
		show(m, "kin", own);
		show(m, "libdw", peer);
	}
}

/* Few stacks at a time, walked right after they were copied, as when the kernel delivers them:
 * otherwise the time would be that of waiting for memory. */
enum { BATCH = 8, STACK_MAX = 65536 };

static void time_batch(struct result *r, struct unwinder *u, struct peer *p,
		       const struct capture *c, size_t first)
{
	static uint8_t stacks[BATCH][STACK_MAX];
	static struct walk walk;
	struct sample copies[BATCH];
	size_t n = 0;
	for (; n < BATCH && first + n < c->n_samples; n++) {
		copies[n] = c->samples[first + n];
		if (copies[n].size > STACK_MAX)
			copies[n].size = STACK_MAX;
		memcpy(stacks[n], copies[n].stack, copies[n].size);
		copies[n].stack = stacks[n];
	}
	bool own_first = first / BATCH % 2;
	for (int k = 0; k < 2; k++) {
		bool own = (k == 0) == own_first;
		double start = now();
		for (size_t i = 0; i < n; i++) {
			if (own)
				walk_own(u, &copies[i], &walk);
			else
				walk_peer(p, &copies[i], &walk);
			*(own ? &r->frames : &r->peer_frames) += walk.n;
		}
		*(own ? &r->seconds : &r->peer_seconds) += now() - start;
	}
}

static struct result compare(const struct capture *c, struct modules *m, bool verbose)
{
	static struct walk own, peer;
	struct result r = { .samples = c->n_samples };
	struct peer p;
	if (!c->n_samples || !open_peer(&p, m, c->samples[0].tid))
		return r;
	struct unwinder *u = unwinder_new(&(struct unwinder_opts){ .find = find, .arg = m });
	walk_peer(&p, &c->samples[0], &peer); /* libdw opens the files that it needs */
	for (size_t i = 0; i < c->n_samples; i += BATCH)
		time_batch(&r, u, &p, c, i);
	for (size_t i = 0; i < c->n_samples; i++) {
		walk_own(u, &c->samples[i], &own);
		walk_peer(&p, &c->samples[i], &peer);
		peer.complete &= peer.n && is_outermost(&p, peer.pcs[peer.n - 1] - (peer.n > 1));
		count(&r, m, &own, &peer, verbose);
	}
	dwfl_end(p.dwfl);
	unwinder_free(u);
	return r;
}

static void print_result(const struct result *r, const struct modules *m)
{
	double own = (double)r->frames / r->seconds / 1e6;
	double peer = (double)r->peer_frames / r->peer_seconds / 1e6;
	printf("# %zu stacks, %.1f frames each; complete: kin %.2f %%, libdw %.2f %%; both: %zu, "
	       "equal: %zu\n",
	       r->samples, (double)r->frames / (double)r->samples,
	       100.0 * (double)r->complete / (double)r->samples,
	       100.0 * (double)r->peer_complete / (double)r->samples, r->both, r->equal);
	printf("# kin %.2f M frames/s (%.2f us a stack), libdw %.2f M frames/s (%.2f us): %.1f "
	       "times\n",
	       own, 1e6 * r->seconds / (double)r->samples, peer,
	       1e6 * r->peer_seconds / (double)r->samples, own / peer);
	printf("# tables: %zu rows, %zu KiB, %.2f ms; ends:", m->rows, m->bytes >> 10,
	       1e3 * m->seconds);
	for (int i = 0; i <= UNWIND_DAMAGED; i++)
		printf(" %zu %s%s", r->ends[i], unwind_end_name((enum unwind_end)i),
		       i < UNWIND_DAMAGED ? "," : "\n");
}

static int check(const struct result *r)
{
	bool enough = r->both >= 50, equal = r->equal == r->both;
	bool complete = r->complete * 100 >= r->samples * 98;
	printf("%sok 1 - enough stacks that both follow to the end\n", enough ? "" : "not ");
	printf("%sok 2 - the same frames as libdw\n", equal ? "" : "not ");
	printf("%sok 3 - 98 %% of all stacks complete\n1..3\n", complete ? "" : "not ");
	return !(enough && equal && complete);
}

int main(int argc, char **argv)
{
	unsigned hz = 2000, stack = 16384, max = 4000;
	bool checking = false, verbose = false;
	int i = 1;
	for (; i < argc && argv[i][0] == '-'; i++) {
		checking |= !strcmp(argv[i], "--check");
		verbose |= !strcmp(argv[i], "--verbose");
		sscanf(argv[i], "--hz=%u", &hz);
		sscanf(argv[i], "--stack=%u", &stack);
		sscanf(argv[i], "--max=%u", &max);
	}
	struct capture c = { 0 };
	if (i == argc)
		return 2;
	const char *problem = capture_run(argv + i, hz, stack, max, &c);
	if (problem) {
		printf("1..0 # SKIP cannot sample: %s\n", problem);
		return 0;
	}
	struct modules m = open_modules(&c);
	struct result r = compare(&c, &m, verbose);
	close_modules(&m);
	capture_done(&c);
	if (!r.samples) {
		printf("1..0 # SKIP no samples\n");
		return 0;
	}
	print_result(&r, &m);
	return checking ? check(&r) : 0;
}
