/* kin_write.c - puts records into blocks, interns frames and stacks, and seals blocks with
 * checksums. */
#include "formats/kin/kin_write.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include <zstd.h>

#include "base/capped.h"
#include "base/err.h"
#include "base/map64.h"
#include "base/num.h"
#include "base/out.h"
#include "base/records.h"
#include "base/strtab.h"
#include "formats/kin/crc32c.h"
#include "formats/kin/kin_private.h"

#define SECOND_NS 1000000000ull

enum { FULL = 256 << 10, KINDS = KINF_R_STRING + 1 };

struct frames {
	VEC(struct kinfile_frame) at; /* with ids from `first` on */
	uint32_t first;
	struct records ids;
};

/* A hash table of stacks. The hash covers all frames of a stack, rather than its caller's id. So
 * the slots of all callers on a stack are known at once, and are fetched from memory together. */
struct write_slot {
	uint32_t caller, frame;
	uint32_t stack; /* 0: empty */
	uint32_t hash;
};

struct write_path { /* a frame of the current stack that differs from the last stack */
	uint32_t frame, hash;
};

/* A frame of the last stack, root first: the next stack mostly begins with the same frames. */
struct write_step {
	struct kinfile_frame frame;
	uint32_t stack;
};

struct kinfile_writer {
	char *path; /* for messages */
	int fd;     /* -1: into `memory` */
	bool nowhere, piped;
	VEC(uint8_t) memory;
	int errnum; /* of the first write that failed; nothing is written after that */
	struct kinfile_packer packer;
	size_t limit; /* bytes for interned data */
	struct kinfile_plain plain;
	uint64_t committed_ns; /* time of the last commit, by tick()'s clock */
	uint64_t in_block;     /* samples in `plain` */
	uint64_t n_samples;
	uint32_t next_id[KINDS];
	struct strtab *modules; /* keys; ids are the strtab's */
	struct strtab *strings; /* an id is the strtab's + first_string - 1 */
	uint32_t first_string;
	struct frames frames;
	struct write_slot *slots;
	size_t n_slots;       /* a power of two, or 0 */
	VEC(uint32_t) hashes; /* of stacks with ids from first_stack on */
	uint32_t first_stack;
	VEC(struct write_path) way;
	VEC(struct write_step) last;
	struct kinf_header header;
};

/* ---- the file ---- */

static void put_at(struct kinfile_writer *w, struct iovec *v, int n, uint64_t offset)
{
	if (w->errnum || w->nowhere)
		return;
	if (w->piped) {
		if (!kinfile_pipe_write(w->fd, v, n))
			w->errnum = errno;
		return;
	}
	if (w->fd >= 0) {
		if (!kinfile_file_write(w->fd, v, n, offset))
			w->errnum = errno;
		return;
	}
	for (; n; v++, n--) {
		if (offset + v->iov_len > w->memory.n) {
			vec_reserve(&w->memory, offset + v->iov_len - w->memory.n);
			w->memory.n = offset + v->iov_len;
		}
		memcpy(w->memory.at + offset, v->iov_base, v->iov_len);
		offset += v->iov_len;
	}
}

static void seal_header(struct kinfile_writer *w, uint8_t page[KINF_PAGE])
{
	memset(page, 0, KINF_PAGE);
	w->header.crc = 0;
	memcpy(page, &w->header, sizeof(w->header));
	w->header.crc = crc32c(0, page, KINF_PAGE);
	memcpy(page, &w->header, sizeof(w->header));
}

static void put_header(struct kinfile_writer *w)
{
	uint8_t page[KINF_PAGE];

	if (w->piped)
		return; /* it was written already */
	seal_header(w, page);
	put_at(w, &(struct iovec){ page, sizeof(page) }, 1, 0);
}

/* ---- blocks ---- */

/* Begins a block with the next ids, so that it can be read without the blocks before it. */
static void begin_block(struct kinfile_writer *w)
{
	w->plain.time_ns = 0;
	for (uint32_t kind = 1; kind < KINDS; kind++) {
		kinfile_put_u8(&w->plain, KINF_R_FIRST_ID);
		kinfile_put(&w->plain, kind);
		kinfile_put(&w->plain, w->next_id[kind]);
	}
}

static struct kinfile_plain *begin_record(struct kinfile_writer *w, enum kinf_record kind)
{
	if (!w->plain.bytes.n)
		begin_block(w);
	kinfile_put_u8(&w->plain, (uint8_t)kind);
	return &w->plain;
}

struct kinf_block kinfile_seal(struct kinfile_packer *p, enum kinf_type type, const uint8_t *plain,
			       size_t n, const uint8_t **payload)
{
	struct kinf_block b = { .magic = KINF_BLOCK_MAGIC, .type = type };
	size_t room = ZSTD_compressBound(n);

	if (room > p->cap) {
		p->at = xrealloc(p->at, room, 1);
		p->cap = room;
	}
	size_t used = n;
	if (p->zstd)
		used = ZSTD_compressCCtx(p->zstd, p->at, room, plain, n, p->level);
	b.flags = KINF_SEALED;
	if (!ZSTD_isError(used) && used < n && n <= KIN_RATIO_FREE + used * KIN_MAX_RATIO) {
		b.flags |= KINF_ZSTD;
		b.plain_size = (uint32_t)n;
		b.used = used;
		*payload = p->at;
	} else {
		b.used = n;
		*payload = plain;
	}
	b.size = (sizeof(b) + b.used + 7) / 8 * 8;
	b.crc = crc32c(0, *payload, b.used);
	return b;
}

void kinfile_packer_init(struct kinfile_packer *p, int level)
{
	*p = (struct kinfile_packer){ .zstd = ZSTD_createCCtx(), .level = level };
}

void kinfile_packer_done(struct kinfile_packer *p)
{
	ZSTD_freeCCtx(p->zstd);
	free(p->at);
}

static void commit(struct kinfile_writer *w)
{
	static const uint8_t zeros[8];
	const uint8_t *payload;

	if (!w->plain.bytes.n || w->errnum || w->nowhere) {
		w->plain.bytes.n = 0;
		return;
	}
	struct kinf_block b = kinfile_seal(&w->packer, KINF_STREAM, w->plain.bytes.at,
					   w->plain.bytes.n, &payload);
	struct iovec v[] = { { &b, sizeof(b) },
			     { UNCONST(uint8_t *, payload), b.used },
			     { UNCONST(uint8_t *, zeros), b.size - sizeof(b) - b.used } };
	put_at(w, v, 3, w->header.size);
	w->plain.bytes.n = 0;
	if (w->errnum) { /* the file ends after its last block; the header says what is missing */
		int errnum = w->errnum;
		w->header.losses[KINF_LOST_SAMPLES] += w->in_block;
		w->n_samples -= w->in_block;
		w->in_block = 0;
		w->errnum = 0;
		if (!w->piped && ftruncate(w->fd, (off_t)w->header.size) < 0)
			w->errnum = errno; /* then only the header gives the size */
		w->errnum = 0;
		if (!w->header.error[0])
			snprintf(w->header.error, sizeof(w->header.error), "cannot write: %s",
				 strerror(errnum));
		put_header(w);
		w->errnum = errnum;
		return;
	}
	w->in_block = 0;
	w->header.size += b.size;
	put_header(w);
}

static void end_record(struct kinfile_writer *w)
{
	if (w->plain.bytes.n >= FULL)
		commit(w);
}

static struct kin_error *trouble(const struct kinfile_writer *w)
{
	return w->errnum ? err_os(w->errnum, "cannot write %s", w->path) : NULL;
}

struct kinfile_plain *kinfile_writer_plain(struct kinfile_writer *w)
{
	if (!w->plain.bytes.n)
		begin_block(w);
	return &w->plain;
}

void kinfile_writer_put_done(struct kinfile_writer *w) { end_record(w); }

uint32_t kinfile_writer_next_id(struct kinfile_writer *w, enum kinf_record kind)
{
	return w->next_id[kind]++;
}

/* ---- definitions ---- */

uint32_t kinfile_writer_module(struct kinfile_writer *w, enum kinf_module_kind kind, bool is_main,
			       const char *path, const void *build_id, size_t n)
{
	const uint8_t *id = build_id;
	size_t length = strlen(path);
	char *key = xalloc(length + 2 * n + 8), *p = key;

	p += sprintf(p, "%c%c", 'a' + (char)kind, is_main ? 'm' : ' ');
	p += num_hex(p, id, n);
	*p++ = ':';
	memcpy(p, path, length);
	uint32_t at = strtab_addn(w->modules, key, (size_t)(p - key) + length);
	free(key);
	if (at < w->next_id[KINF_R_MODULE])
		return at;
	struct kinfile_plain *r = begin_record(w, KINF_R_MODULE);
	kinfile_put(r, (uint64_t)kind | (is_main ? KINF_KIND_MAIN : 0));
	kinfile_put_text(r, path, length);
	kinfile_put_text(r, build_id, n);
	end_record(w);
	return w->next_id[KINF_R_MODULE]++;
}

uint32_t kinfile_writer_task(struct kinfile_writer *w, uint32_t pid, uint32_t tid, uint32_t run,
			     const char *comm)
{
	return kinfile_writer_task_of(w, 0, pid, tid, run, comm);
}

uint32_t kinfile_writer_task_of(struct kinfile_writer *w, uint32_t rank, uint32_t pid, uint32_t tid,
				uint32_t run, const char *comm)
{
	struct kinfile_plain *r = begin_record(w, rank ? KINF_R_RANK_TASK : KINF_R_TASK);
	if (rank)
		kinfile_put(r, rank - 1);
	kinfile_put(r, pid);
	kinfile_put(r, tid);
	kinfile_put(r, run);
	kinfile_put_text(r, comm, strlen(comm));
	end_record(w);
	return w->next_id[KINF_R_TASK]++;
}

uint32_t kinfile_writer_event(struct kinfile_writer *w, const char *name, enum kinf_unit unit,
			      uint64_t rate, uint32_t flags)
{
	struct kinfile_plain *r = begin_record(w, KINF_R_EVENT);
	kinfile_put(r, (uint64_t)unit);
	kinfile_put_text(r, name, strlen(name));
	kinfile_put(r, rate);
	kinfile_put(r, flags & ~KINF_EVENT_MORE);
	end_record(w);
	return w->next_id[KINF_R_EVENT]++;
}

void kinfile_writer_trace_format(struct kinfile_writer *w, uint32_t event, const char *text)
{
	struct kinfile_plain *r = begin_record(w, KINF_R_TRACE_FORMAT);
	kinfile_put(r, event);
	kinfile_put_text(r, text, strlen(text));
	end_record(w);
}

void kinfile_writer_trace_strings(struct kinfile_writer *w, const char *text)
{
	struct kinfile_plain *r = begin_record(w, KINF_R_TRACE_STRINGS);
	kinfile_put_text(r, text, strlen(text));
	end_record(w);
}

void kinfile_writer_trace_function(struct kinfile_writer *w, uint64_t addr, uint64_t start,
				   const char *name)
{
	struct kinfile_plain *r = begin_record(w, KINF_R_TRACE_FUNCTION);
	kinfile_put(r, addr);
	kinfile_put(r, start);
	kinfile_put_text(r, name, strlen(name));
	end_record(w);
}

uint32_t kinfile_writer_string(struct kinfile_writer *w, const char *s, size_t n)
{
	n = strnlen(s, n);
	uint32_t at = strtab_addn(w->strings, s, n);
	if (!at)
		return 0;
	uint32_t id = w->first_string + at - 1;
	if (id < w->next_id[KINF_R_STRING])
		return id;
	kinfile_put_text(begin_record(w, KINF_R_STRING), s, n);
	end_record(w);
	return w->next_id[KINF_R_STRING]++;
}

uint32_t kinfile_writer_put_frame(struct kinfile_writer *w, const struct kinfile_frame *f)
{
	struct kinfile_plain *r = begin_record(w, KINF_R_FRAME);
	kinfile_put(r, f->module);
	kinfile_put(r, f->addr);
	kinfile_put(r, f->name);
	kinfile_put(r, f->flags);
	end_record(w);
	return w->next_id[KINF_R_FRAME]++;
}

uint32_t kinfile_writer_put_stack(struct kinfile_writer *w, uint32_t caller, uint32_t frame)
{
	struct kinfile_plain *r = begin_record(w, KINF_R_STACK);
	kinfile_put(r, caller);
	kinfile_put(r, frame);
	end_record(w);
	return w->next_id[KINF_R_STACK]++;
}

/* ---- stacks ---- */

static uint64_t frame_hash(const void *frame)
{
	const struct kinfile_frame *f = frame;
	return records_mix(records_mix(records_mix(0, f->addr), MAP64_PAIR(f->module, f->name)),
			   f->flags);
}

static bool frame_same(const void *a, const void *b)
{
	const struct kinfile_frame *x = a, *y = b;
	return x->addr == y->addr && x->module == y->module && x->name == y->name &&
	       x->flags == y->flags;
}

static const struct records_kind frame_records = { sizeof(struct kinfile_frame), frame_hash,
						   frame_same };

uint32_t kinfile_writer_frame(struct kinfile_writer *w, const struct kinfile_frame *f)
{
	struct frames *x = &w->frames;
	uint32_t i = records_add(&x->ids, &frame_records, x->at.at, f, (uint32_t)x->at.n);

	if (i < x->at.n)
		return x->first + i;
	vec_push(&x->at, *f);
	return kinfile_writer_put_frame(w, f);
}

static uint32_t hash_of_stack(uint32_t caller, uint32_t frame)
{
	uint64_t h = (((uint64_t)caller << 32 | frame) ^ caller) * 0xd6e8feb86659fd93u;
	return (uint32_t)(h >> 32);
}

static void grow_slots(struct kinfile_writer *w)
{
	size_t n = w->n_slots ? 2 * w->n_slots : 1024;
	struct write_slot *slots = xalloc(n * sizeof(*slots));

	for (size_t i = 0; i < w->n_slots; i++) {
		size_t at = w->slots[i].hash & (n - 1);
		while (w->slots[i].stack && slots[at].stack)
			at = (at + 1) & (n - 1);
		if (w->slots[i].stack)
			slots[at] = w->slots[i];
	}
	free(w->slots);
	w->slots = slots;
	w->n_slots = n;
}

/* The stack of a frame called from the stack `caller`; caller 0: the outermost frame. */
static uint32_t stack_above(struct kinfile_writer *w, uint32_t caller, struct write_path p)
{
	size_t at = p.hash & (w->n_slots - 1);

	for (; w->slots[at].stack; at = (at + 1) & (w->n_slots - 1))
		if (w->slots[at].caller == caller && w->slots[at].frame == p.frame)
			return w->slots[at].stack;
	uint32_t stack = kinfile_writer_put_stack(w, caller, p.frame);
	w->slots[at] = (struct write_slot){ caller, p.frame, stack, p.hash };
	vec_push(&w->hashes, p.hash);
	return stack;
}

/* The number of outermost frames that are the same as in the last stack. */
static size_t same_as_last(const struct kinfile_writer *w, const struct kinfile_stack *s)
{
	size_t n = 0;

	while (!s->caller && n < w->last.n && n < s->n_frames &&
	       frame_same(&w->last.at[n].frame, &s->frames[s->n_frames - 1 - n]))
		n++;
	return n;
}

uint32_t kinfile_writer_stack(struct kinfile_writer *w, const struct kinfile_stack *s)
{
	if (w->errnum)
		return 0;
	size_t same = same_as_last(w, s), n = s->n_frames - same;
	uint32_t stack = same ? w->last.at[same - 1].stack : s->caller;
	uint32_t hash = stack ? w->hashes.at[stack - w->first_stack] : 0;

	for (size_t i = 0; i < same && s->ids; i++)
		s->ids[i] = w->last.at[i].stack;
	while (4 * (w->hashes.n + n) >= 3 * w->n_slots)
		grow_slots(w);
	w->way.n = 0;
	for (size_t i = n; i--;) {
		uint32_t frame = kinfile_writer_frame(w, &s->frames[i]);
		hash = hash_of_stack(hash, frame);
		__builtin_prefetch(&w->slots[hash & (w->n_slots - 1)]);
		vec_push(&w->way, ((struct write_path){ frame, hash }));
	}
	w->last.n = s->caller ? 0 : n ? same : w->last.n;
	for (size_t i = 0; i < n; i++) {
		stack = stack_above(w, stack, w->way.at[i]);
		if (!s->caller)
			vec_push(&w->last, ((struct write_step){ s->frames[n - 1 - i], stack }));
		if (s->ids)
			s->ids[same + i] = stack;
	}
	return stack;
}

bool kinfile_writer_knows_stack(const struct kinfile_writer *w, uint32_t stack)
{
	return stack >= w->first_stack && stack - w->first_stack < w->hashes.n;
}

/* Forgets interned data. All definitions stay valid in the file, and their ids are not used again;
 * but new data is not compared with them. */
static void forget(struct kinfile_writer *w)
{
	struct frames *x = &w->frames;

	vec_free(&x->at);
	records_free(&x->ids);
	*x = (struct frames){ .first = w->next_id[KINF_R_FRAME] };
	free(TAKE(w->slots));
	w->n_slots = 0;
	vec_free(&w->hashes);
	vec_free(&w->way);
	w->first_stack = w->next_id[KINF_R_STACK];
	vec_free(&w->last);
	strtab_free(w->strings);
	w->strings = strtab_new();
	w->first_string = w->next_id[KINF_R_STRING];
}

static size_t interned(const struct kinfile_writer *w)
{
	const size_t names = w->next_id[KINF_R_STRING] - w->first_string;

	return w->frames.at.cap * sizeof(*w->frames.at.at) + w->frames.ids.cap * sizeof(uint32_t) +
	       w->n_slots * sizeof(*w->slots) + w->hashes.cap * sizeof(uint32_t) + names * 96;
}

/* ---- measured data ---- */

void kinfile_writer_sample(struct kinfile_writer *w, const struct sample *s, uint32_t end,
			   const struct kinfile_beside *beside)
{
	if (w->errnum) {
		w->header.losses[KINF_LOST_SAMPLES]++;
		return;
	}
	struct kinfile_plain *r = begin_record(w, KINF_R_SAMPLE);
	kinfile_put_sample(r, s, end);
	/* In the same block as the sample. */
	if (beside && beside->fields) {
		kinfile_put_u8(r, KINF_R_TRACE_FIELDS);
		kinfile_put_text(r, beside->fields, beside->n_fields);
	}
	if (beside && beside->details)
		kinfile_put_details(r, beside->details, beside->words);
	w->in_block++;
	w->n_samples++;
	end_record(w);
}

void kinfile_writer_switch(struct kinfile_writer *w, uint32_t task, uint32_t cpu, uint64_t time_ns,
			   enum kinf_switch what)
{
	struct kinfile_plain *r = begin_record(w, KINF_R_SWITCH);
	kinfile_put(r, task);
	kinfile_put(r, cpu == UINT32_MAX ? 0 : (uint64_t)cpu + 1);
	kinfile_put_time(r, time_ns);
	kinfile_put(r, (uint64_t)what);
	end_record(w);
}

void kinfile_writer_task_end(struct kinfile_writer *w, uint32_t task, uint64_t time_ns,
			     uint64_t cpu_ns, int status)
{
	struct kinfile_plain *r = begin_record(w, KINF_R_TASK_END);
	kinfile_put(r, task);
	kinfile_put_time(r, time_ns);
	kinfile_put(r, cpu_ns);
	kinfile_put(r, status < 0 ? 0 : (uint64_t)status + 1);
	end_record(w);
}

void kinfile_writer_lost(struct kinfile_writer *w, enum kinf_loss what, uint64_t n)
{
	capped_add(&w->header.losses[what], n);
}

void kinfile_writer_unwind_failed(struct kinfile_writer *w, uint32_t module, uint64_t n)
{
	struct kinfile_plain *r = begin_record(w, KINF_R_UNWIND);
	kinfile_put(r, module);
	kinfile_put(r, n);
	end_record(w);
}

void kinfile_writer_count(struct kinfile_writer *w, enum kinf_audit what, uint64_t n)
{
	struct kinfile_plain *r = begin_record(w, KINF_R_AUDIT);
	kinfile_put(r, what + 1);
	for (int i = 0; i < (int)what; i++)
		kinfile_put(r, 0);
	kinfile_put(r, n);
	end_record(w);
}

void kinfile_writer_marker(struct kinfile_writer *w, uint64_t time_ns, const char *name)
{
	struct kinfile_plain *r = begin_record(w, KINF_R_MARKER);
	kinfile_put_time(r, time_ns);
	kinfile_put_text(r, name, strlen(name));
	end_record(w);
}

void kinfile_writer_info(struct kinfile_writer *w, const char *key, const char *value)
{
	char *text = xprintf("%s=%s", key, value);
	kinfile_put_text(begin_record(w, KINF_R_INFO), text, strlen(text));
	end_record(w);
	free(text);
}

void kinfile_writer_clock(struct kinfile_writer *w, uint64_t cpu_ns, uint64_t sampled_ns)
{
	w->header.cpu_ns = cpu_ns;
	w->header.sampled_ns = sampled_ns;
}

/* ---- opening and closing ---- */

/* Limits of memory for interned data. If nothing is written, a large limit saves little. */
enum { LIMIT = 64 << 20, NOWHERE_LIMIT = 2 << 20 };

static struct kinfile_writer *new_writer(const struct kinfile_writer_opts *o, const char *path,
					 int fd)
{
	struct kinfile_writer *w = xalloc(sizeof(*w));

	w->path = xprintf("%s", path);
	w->fd = fd;
	kinfile_packer_init(&w->packer, o->level ? o->level : 1);
	w->limit = o->memory ? o->memory : LIMIT;
	w->modules = strtab_new();
	w->strings = strtab_new();
	for (size_t i = 0; i < KINDS; i++)
		w->next_id[i] = 1;
	w->first_string = w->frames.first = w->first_stack = 1;
	w->header = (struct kinf_header){
		.magic = KINF_MAGIC,
		.version = KINF_VERSION,
		.page = KINF_PAGE,
		.writer = o->writer,
		.pid = o->pid,
		.ppid = o->ppid,
		.size = KINF_PAGE,
		.start_ns = o->start_ns,
		.start_time_ns = o->start_time_ns,
		.period_ns = o->period_ns,
		.sealed = 1,
		.machine = o->machine,
		.rank = o->rank,
		.ranks = o->ranks,
	};
	snprintf(w->header.job, sizeof(w->header.job), "%s", o->job ? o->job : "");
	w->committed_ns = o->start_ns;
	put_header(w);
	return w;
}

static void free_writer(struct kinfile_writer *w)
{
	forget(w);
	strtab_free(w->strings);
	strtab_free(w->modules);
	kinfile_packer_done(&w->packer);
	vec_free(&w->plain.bytes);
	vec_free(&w->memory);
	free(w->path);
	free(w);
}

struct kin_error *kinfile_writer_open(const char *path, const struct kinfile_writer_opts *opts,
				      struct kinfile_writer **ret)
{
	int fd = -1;
	struct kin_error *err = kinfile_file_create(path, &fd);
	if (err)
		return err;
	struct kinfile_writer *w = new_writer(opts, path, fd);
	if ((err = trouble(w))) {
		unlink(path); /* it was created here, and is of no use */
		close(fd);
		free_writer(w);
		return err;
	}
	*ret = w;
	return NULL;
}

struct kinfile_writer *kinfile_writer_to_nowhere(const struct kinfile_writer_opts *opts)
{
	struct kinfile_writer *w = new_writer(opts, "", -1);
	w->nowhere = true;
	w->memory.n = 0;
	if (!opts->memory)
		w->limit = NOWHERE_LIMIT;
	return w;
}

struct kin_error *kinfile_writer_to_pipe(int fd, const struct kinfile_writer_opts *opts,
					 struct kinfile_writer **ret)
{
	uint8_t page[KINF_PAGE];
	struct kinfile_writer *w = kinfile_writer_to_nowhere(opts);
	w->nowhere = false;
	w->limit = opts->memory ? opts->memory : LIMIT;
	w->fd = fd;
	free(w->path);
	w->path = xprintf("standard output");
	w->header.size = 0; /* not known yet: the file goes to its end */
	seal_header(w, page);
	w->header.size = KINF_PAGE;
	w->piped = true;
	put_at(w, &(struct iovec){ page, sizeof(page) }, 1, 0);
	struct kin_error *err = trouble(w);
	if (err)
		kinfile_writer_abandon(w);
	else
		*ret = w;
	return err;
}

struct kinfile_writer *kinfile_writer_in_memory(const struct kinfile_writer_opts *opts)
{
	return new_writer(opts, "", -1);
}

struct kin_error *kinfile_writer_tick(struct kinfile_writer *w, uint64_t now_ns, bool *forgot)
{
	bool full = interned(w) > w->limit;

	/* Together with the time until the next call this is less than a second. */
	if (now_ns - w->committed_ns >= SECOND_NS * 6 / 10) {
		commit(w);
		w->committed_ns = now_ns;
	}
	if (full)
		forget(w);
	if (forgot)
		*forgot = full;
	return trouble(w);
}

struct kin_error *kinfile_writer_flush(struct kinfile_writer *w)
{
	commit(w);
	return trouble(w);
}

uint64_t kinfile_writer_size(const struct kinfile_writer *w) { return w->header.size; }

uint64_t kinfile_writer_samples(const struct kinfile_writer *w)
{
	return w->nowhere ? 0 : w->n_samples;
}

static void finish(struct kinfile_writer *w, enum kinf_end end, uint64_t end_detail,
		   uint64_t end_ns)
{
	commit(w);
	int errnum = w->errnum;
	w->errnum = 0; /* the header's space was allocated before */
	w->header.end = end;
	w->header.end_detail = end_detail;
	w->header.end_ns = end_ns;
	put_header(w);
	if (w->piped && !errnum) {
		kinfile_put_text(begin_record(w, KINF_R_HEADER), &w->header, sizeof(w->header));
		commit(w);
	}
	if (errnum)
		w->errnum = errnum;
}

struct kin_error *kinfile_writer_close(struct kinfile_writer *w, enum kinf_end end,
				       uint64_t end_detail, uint64_t end_ns)
{
	finish(w, end, end_detail, end_ns);
	if (!w->nowhere && close(w->fd) < 0 && !w->errnum)
		w->errnum = errno;
	struct kin_error *err = trouble(w);
	free_writer(w);
	return err;
}

struct kin_error *kinfile_writer_finish_memory(struct kinfile_writer *w, const char *path,
					       const struct kept *kept)
{
	struct out *out;

	finish(w, KINF_STOPPED, 0, 0);
	struct kin_error *err = out_open(path, 0600, &out);
	if (!err) {
		size_t n;
		uint8_t *names = kinfile_names_blocks(kept, &n);
		out_put(out, w->memory.at, w->memory.n);
		out_put(out, names, n);
		free(names);
	}
	free_writer(w);
	return err ? err : out_close(out);
}

void kinfile_writer_abandon(struct kinfile_writer *w)
{
	if (!w)
		return;
	if (!w->nowhere)
		close(w->fd);
	free_writer(w);
}

char *kinfile_trouble(const struct kinf_header *h)
{
	static const char mark[] = ": error ";
	if (!h->error[0])
		return NULL;
	char *text = xprintf("%.*s", (int)sizeof(h->error), h->error), *at = strstr(text, mark),
	     *end;
	long number = at ? strtol(at + strlen(mark), &end, 10) : 0;
	if (!at || *end || number <= 0 || number > INT_MAX)
		return text;
	char *words = xprintf("%.*s: %s", (int)(at - text), text, strerror((int)number));
	free(text);
	return words;
}
