/* push.c - sends one recording after the other: missing names, sums, then a receipt. */
#include "fleet/push.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/map64.h"
#include "fleet/store.h"
#include "formats/rows/rows_hash.h"
#include "formats/rows/sum_rows.h"
#include "input/paths.h"

/* The server inserts up to that many rows as one block: all of them or none. */
enum { ROWS_PER_INSERT = 500000 };
enum { ATTEMPTS = 5 };
enum { NO_ID = 0 }; /* never an id, since ids are hashes */
/* Number of ids to remember as known to the store; beyond it all are forgotten. */
enum { KNOWN_MAX = 1 << 19 };

struct known_hashes { /* ids that a shard is known to have */
	struct map64 ids;
};

struct push {
	const struct push_opts *opts;
	const struct store_url *url;
	struct store *store;
	struct known_hashes *shards; /* [url->shards.n] */
};

struct batch { /* a recording that is being sent */
	struct push *p;
	struct rows rows;
	size_t shard;
	const char *host, *service, *version;
	char *own_service;   /* owned */
	char *job_labels[2]; /* "rank=3", "job=1234"; owned; NULL: none */
	char *doubt;         /* owned; NULL: none */
	uint64_t content, number, samples;
	struct push_result *result;
	enum store_outcome outcome; /* outcome of the last query that failed */
	unsigned code;
	bool timed_out;
};

/* ---- the store's answers ---- */

static void take_outcome(struct batch *b, const struct store_answer *a)
{
	b->outcome = a->outcome;
	b->code = a->code;
	b->timed_out = a->timed_out;
}

static struct kin_error *ask(struct batch *b, const char *sql, const struct http_part *part,
			     struct row_buffer *ret)
{
	struct store_query q = { .sql = sql, .part = part };
	struct store_answer a;
	struct kin_error *err = store_ask(b->p->store, b->shard, &q, &a);
	take_outcome(b, &a);
	if (err)
		vec_free(&a.bytes);
	else
		*ret = a.bytes;
	return err;
}

static struct kin_error *insert(struct batch *b, const char *sql, struct row_buffer *rows)
{
	struct store_query q = { .sql = sql, .rows = rows->at, .n = rows->n };
	struct store_answer a = { 0 };
	struct kin_error *err = rows->n ? store_ask(b->p->store, b->shard, &q, &a) : NULL;
	take_outcome(b, &a);
	vec_free(&a.bytes);
	vec_free(rows);
	return err;
}

static struct kin_error *odd_answer(struct batch *b)
{
	b->outcome = STORE_UNKNOWN;
	return store_odd_answer(b->p->store, b->shard);
}

/* ---- missing names ---- */

/* Finds which of the ids the table lacks; only asks for ids that are not known to be there. NO_ID
 * is always included and must be reported as missing: otherwise there was no answer. */
static struct kin_error *find_missing(struct batch *b, const char *table, const char *column,
				      struct row_buffer *ids, struct map64 *ret)
{
	if (!ids->n)
		return NULL;
	row_u64(ids, NO_ID);
	struct http_part part = { "ids", ids->at, ids->n };
	struct row_buffer found = { 0 };
	char *sql = xprintf("SELECT id FROM ids WHERE id NOT IN (SELECT %s FROM {db}.%s WHERE %s "
			    "IN (SELECT id FROM ids)) FORMAT RowBinary",
			    column, table, column);
	struct kin_error *err = ask(b, sql, &part, &found);
	struct bytes all = bytes_of("", found.at, found.n);
	bool whole = found.n % sizeof(uint64_t) == 0, marked = false;
	while (!err && whole && bytes_left(&all)) {
		uint64_t id = bytes_u64(&all);
		if (id == NO_ID)
			marked = true;
		else
			*map64_at(ret, id) = 1;
	}
	if (!err && !marked)
		err = odd_answer(b);
	vec_free(&found);
	free(sql);
	return err;
}

static bool is_in(const struct map64 *m, uint64_t id) { return map64_get(m, id) != NONE; }

static void remember(struct batch *b, uint64_t id)
{
	*map64_at(&b->p->shards[b->shard].ids, id) = 1;
}

static bool is_known(const struct batch *b, uint64_t id)
{
	return is_in(&b->p->shards[b->shard].ids, id);
}

static struct kin_error *send_functions(struct batch *b)
{
	struct row_buffer ids = { 0 }, rows = { 0 };
	struct map64 missing = { 0 };
	const struct rows *r = &b->rows;
	for (size_t i = 0; i < r->functions.n; i++)
		if (!is_known(b, r->functions.at[i].id))
			row_u64(&ids, r->functions.at[i].id);
	struct kin_error *err = find_missing(b, "functions", "function", &ids, &missing);
	for (size_t i = 0; i < r->functions.n && !err; i++) {
		const struct rows_function *f = &r->functions.at[i];
		if (is_in(&missing, f->id))
			rows_put_function(f, &rows);
	}
	if (!err)
		err = insert(b, "INSERT INTO {db}.functions FORMAT RowBinary", &rows);
	for (size_t i = 0; i < r->functions.n && !err; i++)
		remember(b, r->functions.at[i].id);
	vec_free(&ids);
	vec_free(&rows);
	map64_free(&missing);
	return err;
}

static struct kin_error *send_frames(struct batch *b)
{
	struct row_buffer ids = { 0 }, rows = { 0 };
	struct map64 missing = { 0 };
	const struct rows *r = &b->rows;
	for (size_t i = 0; i < r->frames.n; i++)
		if (!is_known(b, r->frames.at[i].id))
			row_u64(&ids, r->frames.at[i].id);
	struct kin_error *err = find_missing(b, "frames", "frame", &ids, &missing);
	for (size_t i = 0; i < r->frames.n && !err; i++) {
		const struct rows_frame *f = &r->frames.at[i];
		if (is_in(&missing, f->id))
			rows_put_frame(f, &rows);
	}
	if (!err)
		err = insert(b, "INSERT INTO {db}.frames FORMAT RowBinary", &rows);
	for (size_t i = 0; i < r->frames.n && !err; i++)
		remember(b, r->frames.at[i].id);
	vec_free(&ids);
	vec_free(&rows);
	map64_free(&missing);
	return err;
}

static void add_stack(const struct rows *r, const struct rows_stack *s, struct row_buffer *rows)
{
	row_u64(rows, s->id);
	row_text(rows, s->comm);
	row_u8(rows, s->flags);
	row_length(rows, s->n);
	for (size_t i = 0; i < s->n; i++)
		row_u64(rows, r->frames.at[r->path.at[s->first + i]].id);
	row_length(rows, s->n);
	for (size_t i = 0; i < s->n; i++)
		row_u64(rows, r->frames.at[r->path.at[s->first + i]].function);
}

/* Sends stacks after all names, so that a stack in the store has all its names there. */
static struct kin_error *send_stacks(struct batch *b, const struct map64 *missing)
{
	struct row_buffer rows = { 0 };
	const struct rows *r = &b->rows;
	struct kin_error *err = NULL;
	size_t n = 0;
	for (size_t i = 0; i < r->stacks.n && !err; i++) {
		if (!is_in(missing, r->stacks.at[i].id))
			continue;
		add_stack(r, &r->stacks.at[i], &rows);
		b->result->stacks++;
		if (++n % (ROWS_PER_INSERT / 10) == 0)
			err = insert(b, "INSERT INTO {db}.stacks FORMAT RowBinary", &rows);
	}
	if (!err)
		err = insert(b, "INSERT INTO {db}.stacks FORMAT RowBinary", &rows);
	vec_free(&rows);
	return err;
}

static struct kin_error *send_names(struct batch *b)
{
	struct row_buffer ids = { 0 };
	struct map64 missing = { 0 };
	const struct rows *r = &b->rows;
	struct map64 *known = &b->p->shards[b->shard].ids;
	if (known->n > KNOWN_MAX)
		map64_free(known);
	b->result->stacks = 0;
	for (size_t i = 0; i < r->stacks.n; i++)
		if (!is_known(b, r->stacks.at[i].id))
			row_u64(&ids, r->stacks.at[i].id);
	struct kin_error *err = find_missing(b, "stacks", "stack", &ids, &missing);
	if (!err && missing.n)
		err = send_functions(b);
	if (!err && missing.n)
		err = send_frames(b);
	if (!err && missing.n)
		err = send_stacks(b, &missing);
	for (size_t i = 0; i < r->stacks.n && !err; i++)
		remember(b, r->stacks.at[i].id);
	vec_free(&ids);
	map64_free(&missing);
	return err;
}

static struct kin_error *send_events(struct batch *b)
{
	struct row_buffer rows = { 0 };
	const struct rows *r = &b->rows;
	for (size_t i = 0; i < r->events.n; i++) {
		const struct rows_event *e = &r->events.at[i];
		if (is_known(b, e->id))
			continue;
		row_u64(&rows, e->id);
		row_text(&rows, e->name);
		row_text(&rows, e->unit);
		row_u8(&rows, e->kind);
		row_u64(&rows, e->period);
		row_u64(&rows, e->frequency);
	}
	struct kin_error *err = insert(b, "INSERT INTO {db}.events FORMAT RowBinary", &rows);
	for (size_t i = 0; i < r->events.n && !err; i++)
		remember(b, r->events.at[i].id);
	return err;
}

/* ---- sums ---- */

static struct kin_error *send_sums(struct batch *b)
{
	static const char sql[] = "INSERT INTO {db}.samples FORMAT RowBinary";
	struct row_buffer rows = { 0 };
	const struct rows *r = &b->rows;
	uint64_t service = rows_hash_end(rows_hash_text(ROWS_HASH_START, b->service));
	struct kin_error *err = NULL;
	b->samples = 0;
	for (size_t i = 0; i < r->sums.n && !err; i++) {
		const struct rows_sum *x = &r->sums.at[i];
		row_u32(&rows, x->bucket);
		row_u64(&rows, service);
		row_u64(&rows, x->event);
		row_u64(&rows, x->stack);
		row_u64(&rows, b->number);
		row_u64(&rows, x->weight);
		row_u64(&rows, x->count);
		b->samples += x->count;
		if ((i + 1) % ROWS_PER_INSERT == 0)
			err = insert(b, sql, &rows);
	}
	if (!err)
		err = insert(b, sql, &rows);
	vec_free(&rows);
	return err;
}

static struct kin_error *send_receipt(struct batch *b)
{
	struct row_buffer row = { 0 };
	const struct rows *r = &b->rows;
	uint32_t low = UINT32_MAX, high = 0;
	size_t n = 0;
	for (size_t i = 0; i < r->sums.n; i++) {
		low = r->sums.at[i].bucket < low ? r->sums.at[i].bucket : low;
		high = r->sums.at[i].bucket > high ? r->sums.at[i].bucket : high;
	}
	while (b->p->opts->labels && b->p->opts->labels[n])
		n++;
	row_u32(&row, low);
	row_u32(&row, high);
	row_u64(&row, b->content);
	row_u64(&row, b->number);
	row_text(&row, b->service);
	row_text(&row, b->version);
	row_text(&row, b->host);
	row_length(&row, n + (b->job_labels[0] != NULL) + (b->job_labels[1] != NULL));
	for (size_t i = 0; i < n; i++)
		row_text(&row, b->p->opts->labels[i]);
	for (size_t i = 0; i < ARRAY_LEN(b->job_labels); i++)
		if (b->job_labels[i])
			row_text(&row, b->job_labels[i]);
	row_u64(&row, r->sums.n);
	row_u64(&row, b->samples);
	row_length(&row, b->doubt != NULL);
	if (b->doubt)
		row_text(&row, b->doubt);
	return insert(b, "INSERT INTO {db}.receipts FORMAT RowBinary", &row);
}

static struct kin_error *find_receipt(struct batch *b, bool *ret)
{
	struct row_buffer found = { 0 };
	char *sql = xprintf("SELECT count() FROM {db}.receipts WHERE content = %" PRIu64
			    " FORMAT RowBinary",
			    b->content);
	struct kin_error *err = ask(b, sql, NULL, &found);
	struct bytes all = bytes_of("", found.at, found.n);
	if (!err && found.n != sizeof(uint64_t))
		err = odd_answer(b);
	*ret = !err && bytes_u64(&all) > 0;
	vec_free(&found);
	free(sql);
	return err;
}

/* Checks that the receipt has arrived. After that the recording may be deleted. */
static struct kin_error *confirm(struct batch *b)
{
	bool found;
	struct kin_error *err = find_receipt(b, &found);
	if (err || found)
		return err;
	b->outcome = STORE_UNKNOWN;
	return err_new(KIN_ERROR_OS, "%s confirmed what was sent, but does not have it",
		       store_shard_name(b->p->store, b->shard));
}

/* ---- attempts ---- */

static bool lacks_tables(const struct batch *b)
{
	return b->outcome == STORE_REFUSED &&
	       (b->code == STORE_NO_TABLE || b->code == STORE_NO_DATABASE);
}

/* For the first recording ever the tables do not exist, and are created. */
static struct kin_error *find_receipt_or_begin(struct batch *b)
{
	struct kin_error *err = find_receipt(b, &b->result->was_there);
	if (!err || !lacks_tables(b))
		return err;
	kin_error_free(err);
	err = store_create(b->p->store, b->shard);
	return err ? err : find_receipt(b, &b->result->was_there);
}

static struct kin_error *attempt(struct batch *b)
{
	struct kin_error *err = find_receipt_or_begin(b);
	if (err || b->result->was_there)
		return err;
	if (getrandom(&b->number, sizeof(b->number), 0) != sizeof(b->number))
		b->number = rows_hash_number(b->content, (uint64_t)time(NULL));
	if ((err = send_events(b)) || (err = send_names(b)) || (err = send_sums(b)))
		return err;
	err = send_receipt(b);
	return err ? err : confirm(b);
}

static void wait_before(unsigned n)
{
	struct timespec t = { .tv_nsec = 50000000L << (n < 4 ? n : 4) };
	nanosleep(&t, NULL);
}

/* Whether to try again: the rows may have arrived, or the next attempt may work. Not if the server
 * was not reached or took too long. */
static bool may_go_on(struct batch *b, struct kin_error **err)
{
	if (b->timed_out)
		return false;
	if (b->outcome == STORE_UNKNOWN ||
	    (b->outcome == STORE_REFUSED && b->code == STORE_TOO_MANY_PARTS))
		return true;
	if (!lacks_tables(b))
		return false;
	struct kin_error *worse = store_create(b->p->store, b->shard);
	if (!worse)
		return true;
	kin_error_free(*err);
	*err = worse;
	return false;
}

static struct kin_error *send_batch(struct batch *b)
{
	struct kin_error *err = NULL;
	for (unsigned n = 1;; n++) {
		b->result->attempts = n;
		if (!(err = attempt(b)))
			return NULL;
		if (n == ATTEMPTS || !may_go_on(b, &err))
			return err;
		kin_error_free(err);
		/* The server may have been restarted and have lost unwritten rows. */
		map64_free(&b->p->shards[b->shard].ids);
		wait_before(n);
	}
}

/* ---- a file ---- */

static const char *command_of(struct kin_samples *s)
{
	for (uint32_t i = 0; i < kin_samples_n_recordings(s); i++)
		if (*kin_samples_recording(s, i)->command)
			return kin_samples_recording(s, i)->command;
	return "";
}

/* The service's name: the program. If there are several, their order is chance, so it is the
 * command that was recorded, else "machine". */
static char *service_of(struct kin_samples *s)
{
	const char *path = "", *command = command_of(s);
	bool several = false;
	for (uint32_t i = 0; i < kin_samples_n_objects(s); i++) {
		const struct kin_object *o = kin_samples_object(s, i);
		if (!o->is_main)
			continue;
		several |= *path && strcmp(path, o->path) != 0;
		path = o->path;
	}
	if (!several)
		return xprintf("%s", base_name(path));
	char *word = xprintf("%.*s", (int)strcspn(command, " "), command);
	char *name = xprintf("%s", *word ? base_name(word) : "machine");
	free(word);
	return name;
}

static const char *host_of(struct kin_samples *s)
{
	for (uint32_t i = 0; i < kin_samples_n_recordings(s); i++)
		if (*kin_samples_recording(s, i)->host)
			return kin_samples_recording(s, i)->host;
	return "";
}

static bool has_label(const struct push *p, const char *key)
{
	size_t n = strlen(key);
	for (size_t i = 0; p->opts->labels && p->opts->labels[i]; i++)
		if (!strncmp(p->opts->labels[i], key, n) && p->opts->labels[i][n] == '=')
			return true;
	return false;
}

/* Adds labels for the job and rank, if the recording is of one rank and the user has not set
 * them. */
static void find_job_labels(struct batch *b)
{
	struct kin_samples *s = b->rows.samples;
	if (kin_samples_n_recordings(s) != 1)
		return;
	const struct kin_recording *r = kin_samples_recording(s, 0);
	if (*r->rank && !has_label(b->p, "rank"))
		b->job_labels[0] = xprintf("rank=%s", r->rank);
	if (*r->job && !has_label(b->p, "job"))
		b->job_labels[1] = xprintf("job=%s", r->job);
}

/* Identifies the recording. Recordings with equal sums are distinguished by their start times or,
 * without these, by the file's modification time. */
static uint64_t content_of(const struct batch *b, const struct stat *st)
{
	uint64_t hash = rows_hash_number(ROWS_HASH_START, b->rows.made_of);
	bool timed = false;
	for (uint32_t i = 0; i < kin_samples_n_recordings(b->rows.samples); i++) {
		uint64_t began = kin_samples_recording(b->rows.samples, i)->start_time_ns;
		hash = rows_hash_number(hash, began);
		timed |= began != 0;
	}
	if (!timed)
		hash = rows_hash_number(hash, clock_ns_of(st->st_mtim));
	hash = rows_hash_text(hash, b->service);
	hash = rows_hash_text(hash, b->version);
	hash = rows_hash_text(hash, b->host);
	for (size_t i = 0; b->p->opts->labels && b->p->opts->labels[i]; i++)
		hash = rows_hash_text(hash, b->p->opts->labels[i]);
	return rows_hash_end(hash);
}

static struct kin_error *push_profile(struct push *p, struct kin_profile *profile, const char *path,
				      const struct stat *st, char *doubt, struct push_result *ret)
{
	struct batch b = { .p = p, .result = ret, .doubt = doubt };
	struct rows_opts opts = { .bucket_s = p->opts->bucket_s,
				  .now_s = (uint32_t)st->st_mtim.tv_sec };
	struct kin_error *err = rows_of(profile, &opts, &b.rows);
	ret->unread = err != NULL;
	if (err)
		return err_wrap(err, "%s", path);
	b.own_service = service_of(b.rows.samples);
	b.service = p->opts->service ? p->opts->service : b.own_service;
	b.version = p->opts->version ? p->opts->version : "";
	b.host = p->opts->host ? p->opts->host : host_of(b.rows.samples);
	b.shard = store_shard_of(p->store, b.host);
	b.content = content_of(&b, st);
	find_job_labels(&b);
	err = send_batch(&b);
	ret->rows = b.rows.sums.n;
	ret->samples = b.samples;
	free(b.own_service);
	for (size_t i = 0; i < ARRAY_LEN(b.job_labels); i++)
		free(b.job_labels[i]);
	rows_done(&b.rows);
	return err;
}

struct kin_error *push_files_find(const char *operand, struct push_files *ret)
{
	struct paths found = { 0 };
	*ret = (struct push_files){ 0 };
	struct kin_error *err = paths_expand(&found, operand);
	for (size_t i = 0; i < found.at.n; i++)
		vec_push(ret, found.at.at[i]);
	vec_free(&found.at);
	return err;
}

void push_files_done(struct push_files *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->at[i]);
	vec_free(f);
}

struct kin_error *push_file(struct push *p, const char *path, struct push_result *ret)
{
	const char *const paths[] = { path };
	struct kin_open_opts opts = { .size = sizeof(opts),
				      .debug_dir = p->opts->debug_dir,
				      .symfs = p->opts->symfs,
				      .one_by_one = true,
				      .seen_only = true };
	struct kin_profile *profile = NULL;
	struct stat st;
	*ret = (struct push_result){ 0 };
	if (!strcmp(path, "-") || stat(path, &st)) {
		st = (struct stat){ 0 };
		clock_gettime(CLOCK_REALTIME, &st.st_mtim);
	}
	struct kin_error *err = kin_profile_open(paths, 1, &opts, &profile);
	ret->unread = !profile;
	if (!profile)
		return err;
	if (err)
		ret->doubt = xprintf("%s", kin_error_message(err));
	kin_error_free(err);
	err = push_profile(p, profile, path, &st, ret->doubt, ret);
	kin_profile_free(profile);
	return err;
}

struct kin_error *push_new(const struct store_url *url, const struct push_opts *opts,
			   struct push **ret)
{
	struct store *store = NULL;
	struct kin_error *err = store_new(url, &store);
	if (err)
		return err;
	struct push *p = xalloc(sizeof(*p));
	p->opts = opts;
	p->url = url;
	p->store = store;
	p->shards = xalloc(url->shards.n * sizeof(*p->shards));
	*ret = p;
	return NULL;
}

void push_free(struct push *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->url->shards.n; i++)
		map64_free(&p->shards[i].ids);
	free(p->shards);
	store_free(p->store);
	free(p);
}
