/* runtime_file.c - reads threads, stacks and losses from the blocks of a runtime's file. */
#include "record/runtime_file.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "formats/kin/kin_write.h"

bool runtime_file_next_block(const struct file *f, size_t *at, struct kinf_block *head,
			     struct runtime_part *ret)
{
	if (f->size < *at || f->size - *at < sizeof(*head))
		return false;
	memcpy(head, f->data + *at, sizeof(*head));
	if (head->magic != KINF_BLOCK_MAGIC || head->size < sizeof(*head) ||
	    head->size > f->size - *at || head->used > head->size - sizeof(*head))
		return false;
	*ret = (struct runtime_part){ f->data + *at + sizeof(*head), (size_t)head->used };
	*at += (size_t)head->size;
	return true;
}

bool runtime_part_next_stack(struct runtime_part *p, struct kinf_stack *ret, const uint8_t **pcs)
{
	if (p->size < sizeof(*ret))
		return false;
	memcpy(ret, p->at, sizeof(*ret));
	size_t size = sizeof(*ret) + (size_t)ret->depth * sizeof(uint64_t);
	if (!ret->depth || size > p->size)
		return false;
	*pcs = p->at + sizeof(*ret);
	p->at += size;
	p->size -= size;
	return true;
}

static void add_stacks(struct runtime_part p, struct record_audit *a)
{
	struct kinf_stack s;
	const uint8_t *pcs;
	while (runtime_part_next_stack(&p, &s, &pcs)) {
		a->samples += s.count;
		a->stacks += s.count;
		a->frames += s.count * s.depth;
		a->complete += s.end == KINF_STACK_COMPLETE ? s.count : 0;
		a->cut += s.end == KINF_STACK_COMPLETE ? 0 : s.count;
	}
}

/* True if the key was not known before; adds it. */
static bool is_first(struct map64 *known, uint64_t key)
{
	size_t before = known->n;
	*map64_at(known, key) = 0;
	return known->n > before;
}

static void add_threads(struct runtime_part p, struct map64 *tids, struct record_audit *a)
{
	struct kinf_thread t;
	for (; p.size >= sizeof(t); p.at += sizeof(t), p.size -= sizeof(t)) {
		memcpy(&t, p.at, sizeof(t));
		a->threads += t.index > 0 && is_first(tids, t.tid);
	}
}

/* Settings are on one line, separated by commas. */
static bool names_run(struct runtime_part p, const char *run)
{
	char *setting = xprintf("options=run=%s,", run);
	bool found = memmem(p.at, p.size, setting, strlen(setting));
	free(setting);
	return found;
}

/* Checked before anything is added: a file of another run must not change the sums. */
static bool is_of_run(const struct file *f, const char *run)
{
	struct kinf_block head;
	struct runtime_part p;
	bool found = false;
	for (size_t at = KINF_PAGE; !found && runtime_file_next_block(f, &at, &head, &p);)
		found = head.type == KINF_INFO && names_run(p, run);
	return found;
}

static void add_blocks(const struct file *f, struct map64 *tids, struct record_audit *a)
{
	struct kinf_block head;
	struct runtime_part p;
	for (size_t at = KINF_PAGE; runtime_file_next_block(f, &at, &head, &p);) {
		if (head.type == KINF_STACKS)
			add_stacks(p, a);
		if (head.type == KINF_THREADS)
			add_threads(p, tids, a);
	}
}

static bool has_carries(struct runtime_part p)
{
	struct kinf_arc a;
	for (; p.size >= sizeof(a); p.at += sizeof(a), p.size -= sizeof(a)) {
		memcpy(&a, p.at, sizeof(a));
		if (a.to && a.count)
			return true;
	}
	return false;
}

static bool has_calls(struct runtime_part p)
{
	struct kinf_call c;
	for (; p.size >= sizeof(c); p.at += sizeof(c), p.size -= sizeof(c)) {
		memcpy(&c, p.at, sizeof(c));
		if (c.key > KINF_CALL_TAKEN && c.count)
			return true;
	}
	return false;
}

static bool has_latencies(struct runtime_part p)
{
	struct kinf_latency l;
	for (; p.size >= sizeof(l); p.at += sizeof(l), p.size -= sizeof(l)) {
		memcpy(&l, p.at, sizeof(l));
		if (l.to && l.count)
			return true;
	}
	return false;
}

static bool is_of_calls(uint32_t type, struct runtime_part p)
{
	return (type == KINF_CALLS && has_calls(p)) || (type == KINF_ARCS && has_carries(p)) ||
	       (type == KINF_RETIRED_ARCS && p.size);
}

static bool is_of_durations(uint32_t type, struct runtime_part p)
{
	return (type == KINF_LATENCIES && has_latencies(p)) ||
	       (type == KINF_RETIRED_LATENCIES && p.size);
}

static bool has_block(const char *path, bool (*is_one)(uint32_t type, struct runtime_part p))
{
	struct file f = { 0 };
	struct kin_error *err = file_read(path, &(struct file_opts){ 0 }, &f);
	struct kinf_block head;
	struct runtime_part p;
	bool found = false;
	for (size_t at = KINF_PAGE; !err && !found && runtime_file_next_block(&f, &at, &head, &p);)
		found = is_one(head.type, p);
	kin_error_free(err);
	file_free(&f);
	return found;
}

static bool is_of_samples(uint32_t type, struct runtime_part p)
{
	struct record_audit a = { 0 };
	if (type == KINF_STACKS)
		add_stacks(p, &a);
	return a.samples;
}

bool runtime_file_has_samples(const char *path) { return has_block(path, is_of_samples); }

bool runtime_file_has_calls(const char *path) { return has_block(path, is_of_calls); }

bool runtime_file_has_durations(const char *path) { return has_block(path, is_of_durations); }

bool runtime_file_header(const char *path, struct kinf_header *ret)
{
	struct file f = { 0 };
	struct kin_error *err = file_read(path, &(struct file_opts){ 0 }, &f);
	*ret = (struct kinf_header){ 0 };
	if (!err && f.size >= KINF_PAGE)
		memcpy(ret, f.data, sizeof(*ret));
	bool is_one = ret->magic == KINF_MAGIC && ret->writer == KINF_BY_RUNTIME;
	if (!is_one)
		*ret = (struct kinf_header){ 0 };
	kin_error_free(err);
	file_free(&f);
	return is_one;
}

char *runtime_file_trouble(const char *path)
{
	struct kinf_header h;
	return runtime_file_header(path, &h) ? kinfile_trouble(&h) : NULL;
}

/* Finds a fact among "name=value" lines. */
static char *find_fact(struct runtime_part p, const char *name)
{
	size_t n = strlen(name);
	for (const char *at = (const char *)p.at, *end = at + p.size; at < end;) {
		const char *line_end = memchr(at, '\n', (size_t)(end - at));
		size_t size = (size_t)((line_end ? line_end : end) - at);
		if (size > n && !memcmp(at, name, n) && at[n] == '=')
			return xprintf("%.*s", (int)(size - n - 1), at + n + 1);
		at += size + 1;
	}
	return NULL;
}

char *runtime_file_fact(const char *path, const char *name)
{
	struct file f = { 0 };
	struct kin_error *err = file_read(path, &(struct file_opts){ 0 }, &f);
	struct kinf_block head;
	struct runtime_part p;
	char *found = NULL;
	for (size_t at = KINF_PAGE; !err && !found && runtime_file_next_block(&f, &at, &head, &p);)
		found = head.type == KINF_INFO ? find_fact(p, name) : NULL;
	kin_error_free(err);
	file_free(&f);
	return found;
}

static bool lives(const struct kinf_header *h)
{
	return h->end == KINF_RUNNING && (!kill((pid_t)h->pid, 0) || errno == EPERM);
}

static bool add_file(const struct file *f, const char *run, struct record_audit *a,
		     struct runtime_ids *counted, bool *going_on)
{
	struct kinf_header h;
	if (f->size < KINF_PAGE)
		return false;
	memcpy(&h, f->data, sizeof(h));
	if (h.magic != KINF_MAGIC || h.writer != KINF_BY_RUNTIME || !is_of_run(f, run))
		return false;
	add_blocks(f, &counted->tids, a);
	a->processes += is_first(&counted->pids, h.pid);
	a->cpu_ns += h.cpu_ns;
	a->sampled_ns += h.sampled_ns;
	a->lost += h.losses[KINF_LOST_SAMPLES];
	if (!*a->trouble)
		snprintf(a->trouble, sizeof(a->trouble), "%.*s", (int)sizeof(h.error), h.error);
	*going_on = lives(&h);
	return true;
}

struct kin_error *runtime_file_check_busy(const char *path)
{
	return kinfile_file_check_busy(path);
}

bool runtime_file_add(const char *path, const char *run, struct record_audit *sum,
		      struct runtime_ids *counted, bool *going_on)
{
	struct file f = { 0 };
	struct kin_error *err = file_read(path, &(struct file_opts){ 0 }, &f);
	bool is_one = !err && add_file(&f, run, sum, counted, going_on);
	kin_error_free(err);
	file_free(&f);
	return is_one;
}

void runtime_ids_free(struct runtime_ids *counted)
{
	map64_free(&counted->pids);
	map64_free(&counted->tids);
}
