/* rt_python.c - functions of Python scripts, for versions of Python that cannot write a perf map.
 *
 * The interpreter keeps its own list of frames. Each activation of its evaluation loop has a small
 * struct on the C stack, which leads to the Python frames that the loop runs. The C frame that
 * contains the struct is the loop's; the Python functions are inserted after it, as callers. These
 * structs, frames and names are read through the kernel, which returns an error for unmapped
 * memory; an object that does not have the expected type is left out. No function of the
 * interpreter is called and nothing in it is changed.
 *
 * Each function gets an address below all mapped memory, two bytes long, so that it can stand in
 * stacks like code. Its name is written to the file when it is first seen (KINF_MADE). */
#include "rt.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/uio.h>

enum {
	FIRST = KINF_PYTHON, /* address of the first function */
	EACH = 2,            /* bytes per function */
	MOST = 1 << 14,      /* functions */
	SLOTS = 2 * MOST,
	MOST_THREADS = 512,
	NAMES_BLOCK = 16 << 10,
	TEXT_MAX = 1000, /* bytes of a function's name, and of a file's name */
};
_Static_assert(FIRST + MOST * EACH <= KINF_PYTHON_END, "below all memory");

/* Offsets in bytes, on all machines with 8-byte long and pointers. */
struct rt_python_layout {
	uint16_t interpreter; /* in _PyRuntime: the first interpreter */
	uint16_t threads;     /* in an interpreter: its first thread */
	uint16_t next, loop;  /* in a thread: the next thread; its current loop */
	uint16_t loop_before; /* in a loop's struct on the stack: the loop that called it */
	/* The innermost frame: per loop, in its struct (in_loop), or one for all, in the thread. */
	bool in_loop;
	uint16_t frame;
	uint16_t before, code; /* in a frame: its caller; its code object */
	uint16_t is_first;     /* in a frame: a byte, not 0 if its loop began with this frame; 0:
				  every frame has its own loop */
	uint16_t name, file;   /* in a code object: two strings */
};

enum {
	CODE_SIZE = RT_PYTHON_CODE, /* bytes to read of a code object */
	TYPE_AT = 8,                /* offset of the type in any object */
	FRAME_WORDS = 9,            /* words to read of a frame */
	THREAD_WORDS = 8,           /* words to read of a thread */
};

struct python_function {
	uint64_t code, name, file; /* addresses of objects */
};

struct rt_functions {
	struct python_function at[MOST];
	_Atomic uint32_t slot[SLOTS]; /* index + 1, by hash */
	uint32_t n;
};

/* ---- finding the interpreter ---- */

#ifdef RT_STATIC /* there is no interpreter in a static program */

void rt_python_init(void) {}

#else

static const struct rt_python_layout v3_10 = {
	.interpreter = 0x20,
	.threads = 8,
	.next = 8,
	.loop = 0x30,
	.loop_before = 8,
	.frame = 0x18,
	.before = 0x18,
	.code = 0x20,
	.name = 0x70,
	.file = 0x68,
};
static const struct rt_python_layout v3_11 = {
	.interpreter = 0x28,
	.threads = 0x10,
	.next = 8,
	.loop = 0x38,
	.loop_before = 16,
	.in_loop = true,
	.frame = 8,
	.before = 0x30,
	.code = 0x20,
	.is_first = 0x44,
	.name = 0x80,
	.file = 0x70,
};

static const struct rt_python_layout *layout_of(void)
{
	const unsigned long *version = dlsym(RTLD_DEFAULT, "Py_Version"); /* exists since 3.11 */

	if (version)
		return *version >> 16 == 0x30b ? &v3_11 : NULL;
	return dlsym(RTLD_DEFAULT, "Py_NewRef") ? &v3_10 : NULL; /* exists since 3.10 */
}

void rt_python_init(void)
{
	void *runtime = dlsym(RTLD_DEFAULT, "_PyRuntime");

	if (!runtime || !rt_option_on(&rt.options, "python", true))
		return;
	rt.python.code_type = (uint64_t)dlsym(RTLD_DEFAULT, "PyCode_Type");
	rt.python.text_type = (uint64_t)dlsym(RTLD_DEFAULT, "PyUnicode_Type");
	rt.python.runtime = (uint64_t)runtime;
	rt.python.layout = layout_of();
}

#endif

/* ---- memory ---- */

static uint64_t read_pointer(uint64_t at)
{
	uint64_t word = 0;

	return rt_peek(at, &word, sizeof(word)) ? word : 0;
}

/* ---- names ---- */

struct python_text { /* the start of a str: PEP 393 */
	uint64_t refs, type, size, hash;
	uint32_t state, unused;
};

static void put_character(struct text *t, uint32_t c)
{
	char bytes[4];
	size_t n = 0;

	if (c < 0x80)
		bytes[n++] = (char)(c < ' ' ? '?' : c);
	else if (c < 0x800)
		bytes[n++] = (char)(0xc0 | c >> 6);
	else if (c < 0x10000)
		bytes[n++] = (char)(0xe0 | c >> 12);
	else
		bytes[n++] = (char)(0xf0 | (c >> 18 & 7));
	if (c >= 0x10000)
		bytes[n++] = (char)(0x80 | (c >> 12 & 0x3f));
	if (c >= 0x800)
		bytes[n++] = (char)(0x80 | (c >> 6 & 0x3f));
	if (c >= 0x80)
		bytes[n++] = (char)(0x80 | (c & 0x3f));
	if (t->size - t->used > n) /* whole or not at all */
		text_bytes(t, bytes, n);
}

/* With the lock. */
static bool put_text(struct text *t, uint64_t object)
{
	enum { COMPACT = 1 << 5, ASCII = 1 << 6, ASCII_AT = 48, OTHERS_AT = 72 };
	static uint8_t bytes[4 * TEXT_MAX];
	struct python_text head;
	size_t size, n;

	if (!rt_peek(object, &head, sizeof(head)) || head.type != rt.python.text_type ||
	    !(head.state & COMPACT))
		return false;
	size = head.state >> 2 & 7; /* bytes per character */
	n = head.size < TEXT_MAX ? head.size : TEXT_MAX;
	if ((size != 1 && size != 2 && size != 4) ||
	    (n && !rt_peek(object + (head.state & ASCII ? ASCII_AT : OTHERS_AT), bytes, n * size)))
		return false;
	for (size_t i = 0; i < n; i++) {
		uint32_t c = 0;

		copy_bytes(&c, bytes + i * size, size); /* little-endian */
		put_character(t, c);
	}
	return true;
}

/* ---- in the file, with the lock ---- */

/* Writes a module that covers the addresses of all Python functions. */
static bool put_region(void)
{
	static struct rt_module region;

	region = (struct rt_module){ .start = FIRST,
				     .end = KINF_PYTHON_END,
				     .flags = KINF_MODULE_MADE,
				     .name = "//python" };
	rt_module_write(&region);
	if (region.record)
		region.record->mapped_at = 0;
	return region.record;
}

static bool put_name(uint32_t index, const char *name, size_t n)
{
	struct kinf_block *b = rt.python.names;
	uint64_t size = sizeof(struct kinf_made) + ((n + 7) & ~(uint64_t)7);
	struct kinf_made *r;

	if (!b && !put_region())
		return false;
	if (!b || b->used + size > b->size - sizeof(*b)) {
		b = rt_block(KINF_MADE, NAMES_BLOCK, 0);
		if (!b)
			return false;
		b->used = 0;
		rt.python.names = b;
	}
	r = (struct kinf_made *)(b->payload + b->used);
	*r = (struct kinf_made){ .size = (uint32_t)size,
				 .name_size = (uint32_t)n,
				 .start = FIRST + (uint64_t)index * EACH,
				 .end = FIRST + (uint64_t)(index + 1) * EACH };
	copy_bytes(r + 1, name, n);
	__atomic_store_n(&b->used, b->used + size, __ATOMIC_RELEASE);
	return true;
}

/* ---- functions ---- */

static _Atomic uint32_t *slot_of(struct rt_functions *t, const struct python_function *f)
{
	uint64_t hash = (f->code ^ f->name << 20 ^ f->file << 40) * UINT64_C(0x9e3779b97f4a7c15);

	for (uint32_t i = (uint32_t)(hash >> 40);; i++) {
		_Atomic uint32_t *at = &t->slot[i % SLOTS];
		uint32_t index = *at;
		const struct python_function *o = index ? &t->at[index - 1] : NULL;

		if (!o || (o->code == f->code && o->name == f->name && o->file == f->file))
			return at;
	}
}

static bool make_table(void)
{
	long m = SYS6(mmap, NULL, sizeof(struct rt_functions), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (m < 0 && m > -4096)
		return false;
	atomic_store(&rt.python.functions, (struct rt_functions *)m);
	return true;
}

/* With the lock. The function's address; 0: it has no name. */
static uint64_t add_function(const struct python_function *f)
{
	static char buffer[8 * TEXT_MAX + 8];
	struct text name = { .at = buffer, .size = sizeof(buffer) };
	struct rt_functions *t = rt.python.functions;
	_Atomic uint32_t *slot;

	if (!t && !make_table())
		return 0;
	t = rt.python.functions;
	slot = slot_of(t, f);
	if (*slot)
		return FIRST + (*slot - 1) * EACH;
	text_add(&name, "py::");
	if (t->n >= MOST || !put_text(&name, f->name))
		return 0;
	text_add(&name, ":");
	if (!put_text(&name, f->file) || !put_name(t->n, buffer, name.used))
		return 0;
	t->at[t->n++] = *f;
	atomic_store(slot, t->n);
	return FIRST + (uint64_t)(t->n - 1) * EACH;
}

/* The return address (address + 1) of the function with this code object, whose contents are
 * `words`; 0: none. */
static uint64_t address_of(uint64_t code, const uint64_t *words)
{
	const struct rt_python_layout *l = rt.python.layout;
	struct python_function f = { .code = code,
				     .name = words[l->name / 8],
				     .file = words[l->file / 8] };
	struct rt_functions *t = rt.python.functions;
	uint64_t mask, addr;
	uint32_t known;

	if (words[TYPE_AT / 8] != rt.python.code_type)
		return 0;
	known = t ? *slot_of(t, &f) : 0;
	if (known)
		return FIRST + (uint64_t)(known - 1) * EACH + 1;
	if (!rt_lock(&mask))
		return 0;
	addr = add_function(&f);
	rt_unlock(mask);
	return addr ? addr + 1 : 0;
}

/* ---- a walk ---- */

/* Finds the innermost loop of the thread whose stack pointer is sp: of all threads' loops the one
 * at the lowest address above sp. */
static void find_loop(struct rt_python_walk *w, uint64_t sp)
{
	const struct rt_python_layout *l = rt.python.layout;
	uint64_t interpreter = read_pointer(rt.python.runtime + l->interpreter),
		 words[THREAD_WORDS];
	uint64_t t = interpreter ? read_pointer(interpreter + l->threads) : 0;

	for (uint32_t n = 0; n < MOST_THREADS && rt_peek(t, words, sizeof(words)); n++) {
		uint64_t loop = words[l->loop / 8];

		if (loop >= sp && (!w->loop || loop < w->loop)) {
			w->loop = loop;
			w->frame = l->in_loop ? 0 : words[l->frame / 8];
		}
		t = words[l->next / 8];
	}
}

void rt_python_begin(struct rt_python_walk *w, uint64_t sp)
{
	w->loop = w->frame = w->chunk_at = 0;
	w->n = 0;
	w->is_torn = false;
	if (rt.python.layout && !rt.silent)
		find_loop(w, sp);
}

/* Frames of later versions lie next to each other in memory, so a whole chunk is read. */
static bool read_frame(struct rt_python_walk *w, uint64_t frame, uint64_t *words, size_t size)
{
	uint64_t chunk = frame & ~(uint64_t)(sizeof(w->chunk) - 1), skip = frame - chunk;

	if (skip > sizeof(w->chunk) - size)
		return rt_peek(frame, words, size);
	if (chunk != w->chunk_at) {
		w->chunk_at = 0;
		if (!rt_peek(chunk, w->chunk, sizeof(w->chunk)))
			return rt_peek(frame, words, size);
		w->chunk_at = chunk;
	}
	copy_bytes(words, w->chunk + skip, size);
	return true;
}

uint32_t rt_python_functions(struct rt_python_walk *w, unwind_read *read, void *arg, uint32_t at,
			     uint32_t room)
{
	const struct rt_python_layout *l = rt.python.layout;
	uint64_t before = 0, frame = w->frame, outer = 0, words[FRAME_WORDS];
	uint32_t first = w->n;
	bool is_last = false;

	if (!read(arg, w->loop + l->loop_before, &before))
		before = 0;
	if (l->in_loop && !read(arg, w->loop + l->frame, &frame))
		frame = 0;
	while (frame && w->n - first < room && w->n < RT_PYTHON_DEEPEST && !is_last &&
	       read_frame(w, frame, words, sizeof(words))) {
		w->met[w->n] = (struct rt_python_frame){ words[l->code / 8], at + w->n - first };
		w->n++;
		is_last = !l->is_first || ((const uint8_t *)words)[l->is_first];
		frame = words[l->before / 8];
	}
	/* Without a last frame the loop was just beginning or ending. */
	w->is_torn |= !is_last;
	if (l->in_loop && before && (!read(arg, before + l->frame, &outer) || outer != frame))
		w->n = first;
	w->frame = frame;
	w->loop = before;
	return w->n - first;
}

/* Names up to RT_PYTHON_AT_ONCE frames with one system call, which is what takes the time. Adjacent
 * frames with the same code count as one. Returns the number of frames named. */
static uint32_t name_some(struct rt_python_walk *w, uint32_t from, uint64_t *pc)
{
	struct iovec local[RT_PYTHON_AT_ONCE], remote[RT_PYTHON_AT_ONCE];
	uint32_t n = 0, end = from, i;
	uint64_t addr = 0, last = 0;
	long got;

	for (; end < w->n; end++) {
		uint64_t code = w->met[end].code;

		if (n && code == (uint64_t)remote[n - 1].iov_base)
			continue;
		if (n == RT_PYTHON_AT_ONCE)
			break;
		local[n] = (struct iovec){ w->codes[n], CODE_SIZE };
		remote[n++] = (struct iovec){ (void *)(uintptr_t)code, CODE_SIZE };
	}
	got = SYS6(process_vm_readv, rt.pid, local, n, remote, n, 0);
	for (i = from, n = 0; i < end; i++) {
		uint64_t code = w->met[i].code;

		if (i == from || code != last) {
			addr = got >= (long)(n + 1) * CODE_SIZE ? address_of(code, w->codes[n]) : 0;
			n++;
		}
		last = code;
		pc[w->met[i].at] = addr;
	}
	return end - from;
}

uint32_t rt_python_end(struct rt_python_walk *w, bool whole, uint64_t *pc, uint32_t n,
		       uint32_t *doubtful)
{
	bool is_torn = whole && w->n && !rt.python.layout->in_loop && (w->is_torn || w->frame);
	uint32_t kept = 0, first = *doubtful;

	for (uint32_t i = 0; i < w->n && !is_torn;)
		i += name_some(w, i, pc);
	for (uint32_t i = 0; i < n && w->n; i++) {
		if (pc[i] || !i) /* a call through a null pointer also begins with 0 */
			pc[kept++] = pc[i];
		else if (i < first)
			--*doubtful;
	}
	return w->n ? kept : n;
}

void rt_python_forked(void)
{
	rt.python.functions = NULL; /* the child's file has no names yet */
	rt.python.names = NULL;
}
