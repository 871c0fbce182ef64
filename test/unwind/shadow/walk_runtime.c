/* walk_runtime.c - the walker of the runtime in profiled programs: rt_stacks.c and rt_frames.c,
 * compiled in here, with functions of this file in the place of the rest of the runtime. Memory is
 * read from the traced process. */
#include "rt_frames.c"
#include "rt_stacks.c"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "walks.h"

struct rt rt;

/* ---- in the place of the runtime ---- */

bool rt_peek(uint64_t at, void *to, size_t n) { return process_peek(at, to, n); }
bool rt_lock(uint64_t *mask)
{
	*mask = 0;
	return true;
}
void rt_unlock(uint64_t mask) { (void)mask; }
void *rt_memory(size_t size) { return calloc(1, size); }
void rt_lose(enum kinf_loss what, uint64_t n) { (void)what, (void)n; }
struct kinf_block *rt_block(enum kinf_type type, uint64_t payload, uint32_t thread)
{
	(void)type, (void)payload, (void)thread;
	return NULL;
}
void rt_own_code(uint64_t *start, uint64_t *end) { *start = *end = 0; }
bool rt_module_is_gone(const struct rt_module *m)
{
	(void)m;
	return false;
}

struct rt_module *rt_module_at(uint64_t addr)
{
	for (struct rt_module *m = rt.active; m; m = m->next)
		if (addr >= m->start && addr < m->end)
			return m;
	return NULL;
}

struct rt_module *rt_module_learn(uint64_t addr) { return rt_module_at(addr); }

const struct rt_module *rt_made_known(uint64_t addr)
{
	for (const struct rt_module *m = rt.made.regions; m; m = m->next)
		if (addr >= m->start && addr < m->end)
			return m;
	return NULL;
}

const struct rt_module *rt_made_at(uint64_t addr) { return rt_made_known(addr); }

/* Python's functions are none of the processor's. */
void rt_python_begin(struct rt_python_walk *w, uint64_t sp)
{
	(void)sp;
	w->loop = 0;
}
uint32_t rt_python_functions(struct rt_python_walk *w, unwind_read *read, void *arg, uint32_t at,
			     uint32_t room)
{
	(void)w, (void)read, (void)arg, (void)at, (void)room;
	return 0;
}
uint32_t rt_python_end(struct rt_python_walk *w, bool whole, uint64_t *pc, uint32_t n,
		       uint32_t *doubtful)
{
	(void)w, (void)whole, (void)pc, (void)doubtful;
	return n;
}

/* ---- modules, as the loader knows them ---- */

static void copy_frames(struct rt_module *m)
{
	uint8_t *to = malloc(m->segment_size);

	m->transient = true;
	m->copy_addr = m->segment;
	m->copy_size = m->segment_size;
	if (process_peek(m->segment, to, m->segment_size))
		m->copy = to;
	else
		free(to);
}

/* The module whose ELF header is at `at`; false: there is none. */
static bool read_module(uint64_t at, struct rt_module *ret)
{
	Elf64_Ehdr e;
	Elf64_Phdr p[64], frames = { 0 };
	struct rt_module m = { .start = UINT64_MAX, .name = "" };

	if (!process_peek(at, &e, sizeof(e)) || memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 ||
	    e.e_phnum > 64 || !process_peek(at + e.e_phoff, p, e.e_phnum * sizeof(p[0])))
		return false;
	m.bias = at;
	for (size_t i = 0; i < e.e_phnum; i++)
		if (p[i].p_type == PT_LOAD && !p[i].p_offset)
			m.bias = at - (p[i].p_vaddr & ~UINT64_C(4095));
	for (size_t i = 0; i < e.e_phnum; i++) {
		uint64_t start = m.bias + p[i].p_vaddr, end = start + p[i].p_memsz;
		if (p[i].p_type == PT_GNU_EH_FRAME)
			frames = p[i];
		if (p[i].p_type != PT_LOAD)
			continue;
		m.start = start < m.start ? start : m.start;
		m.end = end > m.end ? end : m.end;
	}
	for (size_t i = 0; i < e.e_phnum && frames.p_type; i++)
		if (p[i].p_type == PT_LOAD && frames.p_vaddr - p[i].p_vaddr < p[i].p_filesz) {
			m.unwind = m.bias + frames.p_vaddr;
			m.unwind_size = frames.p_memsz;
			m.segment = m.bias + p[i].p_vaddr;
			m.segment_size = p[i].p_filesz;
		}
	if (m.unwind)
		copy_frames(&m);
	*ret = m;
	return m.end != 0;
}

static void add_module(struct rt_module *m, struct rt_module *_Atomic *list)
{
	m->next = *list;
	*list = m;
}

static void forget(struct rt_module *m)
{
	while (m) {
		struct rt_module *next = m->next;
		if (!m->origin)
			free(m->copy);
		free(m);
		m = next;
	}
}

static struct rt_module *new_module(struct rt_module like)
{
	struct rt_module *m = malloc(sizeof(*m));
	*m = like;
	return m;
}

/* A mapping outside of all modules: of code made at run time, or of a module's code once more. */
static void add_region(const struct code_map *map, const struct code_maps *all)
{
	struct rt_module m = { .start = map->start, .end = map->end, .name = "//anon" };

	for (size_t i = 0; i < all->n && map->inode; i++) {
		const struct code_map *o = &all->at[i];
		struct rt_module *origin = o->inode == map->inode ? rt_module_at(o->start) : NULL;
		if (!origin || map->offset - o->offset >= o->end - o->start)
			continue;
		m = *origin;
		m.bias += map->start - (o->start + (map->offset - o->offset));
		m.start = map->start;
		m.end = map->end;
		m.origin = origin;
		origin->keeps_fp = true;
		break;
	}
	add_module(new_module(m), &rt.made.regions);
}

static void maps(pid_t pid, const struct code_maps *now)
{
	(void)pid;
	forget(rt.active);
	forget(rt.made.regions);
	rt.active = rt.made.regions = NULL;
	for (size_t i = 0; i < now->n; i++) {
		struct rt_module m;
		const struct code_map *map = &now->at[i];
		uint64_t first = process_module_start(map);
		if (first && !rt_module_at(map->start) && read_module(first, &m))
			add_module(new_module(m), &rt.active);
	}
	for (size_t i = 0; i < now->n; i++)
		if (!rt_module_at(now->at[i].start))
			add_region(&now->at[i], now);
	rt.epoch++;
}

/* ---- walking ---- */

static void walk_there(const struct point *p, struct walked *ret)
{
	static struct rt_stacks *s;
	const struct user_regs_struct *g = p->regs;
	static ucontext_t u;
	greg_t *to = u.uc_mcontext.gregs;
	struct rt_clock nowhere = { 0 }; /* no memory may be read directly */
	struct stack_walk w = { 0 };

	if (!s) {
		s = calloc(1, sizeof(*s));
		rt.sampling.rows = calloc(sizeof(struct rt_row), 1 << ROW_BITS);
		rt.sampling.stacks = true;
	}
	w.s = s;
	to[REG_RAX] = (greg_t)g->rax, to[REG_RBX] = (greg_t)g->rbx, to[REG_RCX] = (greg_t)g->rcx;
	to[REG_RDX] = (greg_t)g->rdx, to[REG_RSI] = (greg_t)g->rsi, to[REG_RDI] = (greg_t)g->rdi;
	to[REG_RBP] = (greg_t)g->rbp, to[REG_RSP] = (greg_t)g->rsp, to[REG_RIP] = (greg_t)g->rip;
	to[REG_R8] = (greg_t)g->r8, to[REG_R9] = (greg_t)g->r9, to[REG_R10] = (greg_t)g->r10;
	to[REG_R11] = (greg_t)g->r11, to[REG_R12] = (greg_t)g->r12, to[REG_R13] = (greg_t)g->r13;
	to[REG_R14] = (greg_t)g->r14, to[REG_R15] = (greg_t)g->r15;
	walk(&w, &nowhere, &u);
	ret->n = w.n;
	for (size_t i = 0; i < w.n; i++)
		ret->at[i] = (struct walk_frame){ s->pc[i] & ~KINF_PC_INTERRUPTED,
						  w.first_doubtful && i >= w.first_doubtful };
	ret->complete = w.end == KINF_STACK_COMPLETE;
}

static void done(void) {}

const struct walker_kind walker_runtime = { "run", maps, walk_there, done };
