/* stack_cache.c - the file: a head, then functions, frames and stacks, as rows. */
#include "fleet/stack_cache.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/folder.h"
#include "fleet/fleet_rows_hash.h"

enum { LARGEST = 40 << 20, ALL = 48 << 20 };

struct stack_cache_head {
	char magic[8];
	uint64_t checksum;          /* of what is behind the head */
	uint64_t functions, frames; /* bytes; the rest are stacks */
};

static const char magic[8] = "kinstk1";

/* Of another store names may be other ones. */
static char *path_of(const struct store_url *url)
{
	char *folder = folder_cache("stacks");
	if (!folder)
		return NULL;
	uint64_t hash = rows_hash_text(ROWS_HASH_START, url->scheme);
	for (size_t i = 0; i < url->shards.n; i++)
		hash = rows_hash_text(hash, url->shards.at[i]);
	hash = rows_hash_end(rows_hash_text(hash, url->database));
	char *path = xprintf("%s/%016llx", folder, (unsigned long long)hash);
	free(folder);
	return path;
}

/* ---- reading ---- */

/* What there is of the three parts; false: damaged. */
static bool parts_of(const struct file *f, struct bytes part[3])
{
	struct stack_cache_head h;
	if (f->size < sizeof(h))
		return false;
	memcpy(&h, f->data, sizeof(h));
	struct bytes rest = bytes_of("", f->data + sizeof(h), f->size - sizeof(h));
	if (memcmp(h.magic, magic, sizeof(magic)) != 0 ||
	    h.checksum != folder_checksum(rest.pos, bytes_left(&rest)))
		return false;
	part[0] = bytes_take(&rest, h.functions);
	part[1] = bytes_take(&rest, h.frames);
	part[2] = rest;
	return !rest.failed;
}

static struct map64 wanted_of(const struct answers *a)
{
	struct map64 ids = { 0 };
	for (size_t i = 0; i < a->sums.n; i++)
		*map64_at(&ids, a->sums.at[i].stack) = 1;
	return ids;
}

static void take(struct stack_cache *c, struct answers *a)
{
	struct bytes part[3];
	if (!parts_of(&c->file, part))
		return;
	struct map64 wanted = wanted_of(a);
	a->wanted = &wanted;
	bool sound = answers_take(a, ANSWERS_FUNCTIONS, 0, part[0]) &&
		     answers_take(a, ANSWERS_FRAMES, 0, part[1]) &&
		     answers_take(a, ANSWERS_KEPT_STACKS, 0, part[2]);
	a->wanted = NULL;
	map64_free(&wanted);
	c->n_taken = a->stacks.n;
	if (sound)
		c->stacks = part[2];
}

void stack_cache_open(struct stack_cache *c, const struct store_url *url, struct answers *a)
{
	struct stat st;
	*c = (struct stack_cache){ .path = path_of(url) };
	if (!c->path || stat(c->path, &st))
		return;
	struct kin_error *err = file_read(c->path, &(struct file_opts){ .max = LARGEST }, &c->file);
	if (!err) {
		take(c, a);
		folder_used(c->path);
	}
	kin_error_free(err);
}

/* ---- writing ---- */

/* Those that this report had, and those that it had no use for, as far as there is room. */
static void put_stacks(const struct stack_cache *c, const struct answers *a, struct http_bytes *all)
{
	for (size_t i = 0; i < a->stacks.n; i++)
		answers_put_stack(a, &a->stacks.at[i], all);
	for (struct bytes b = c->stacks; bytes_left(&b);) {
		const uint8_t *row = b.pos;
		uint64_t id = answers_skip_stack(&b);
		size_t n = (size_t)(b.pos - row);
		if (b.failed || all->n + n > LARGEST)
			return;
		if (map64_get(&a->stack_ids, id) != NONE)
			continue;
		vec_reserve(all, n);
		memcpy(all->at + all->n, row, n);
		all->n += n;
	}
}

static void keep(const struct stack_cache *c, const struct answers *a)
{
	struct stack_cache_head h = { 0 };
	struct http_bytes all = { 0 };
	vec_reserve(&all, sizeof(h));
	all.n = sizeof(h);
	for (size_t i = 0; i < a->functions.n; i++)
		rows_put_function(&a->functions.at[i], &all);
	h.functions = all.n - sizeof(h);
	for (size_t i = 0; i < a->frames.n; i++)
		rows_put_frame(&a->frames.at[i].row, &all);
	h.frames = all.n - sizeof(h) - h.functions;
	put_stacks(c, a, &all);
	memcpy(h.magic, magic, sizeof(magic));
	h.checksum = folder_checksum((const uint8_t *)all.at + sizeof(h), all.n - sizeof(h));
	memcpy(all.at, &h, sizeof(h));
	if (all.n <= LARGEST)
		folder_keep(c->path, all.at, all.n, ALL);
	vec_free(&all);
}

/* A frame whose row is missing has no name that could be kept. */
static bool all_known(const struct answers *a)
{
	for (size_t i = 0; i < a->frames.n; i++)
		if (!a->frames.at[i].known)
			return false;
	return true;
}

void stack_cache_close(struct stack_cache *c, const struct answers *a, bool is_whole)
{
	enum { PART = 16 };
	bool much = (a->stacks.n - c->n_taken) * PART > a->stacks.n;
	if (c->path && is_whole && much && all_known(a))
		keep(c, a);
	file_free(&c->file);
	free(c->path);
}
