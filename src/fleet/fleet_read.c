/* fleet_read.c - the format "store": reads a profile from a store, by its URL.
 *
 * The store adds up and kin makes the report: whatever the number of recordings, the store sends
 * one sum for each distinct stack, and the names. If a shard does not answer, the others' data is
 * returned together with an error. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/err.h"
#include "base/guard.h"
#include "fleet/fleet_profile.h"
#include "fleet/fleet_sql.h"
#include "fleet/stack_cache.h"
#include "fleet/store.h"
#include "formats/formats.h"
#include "formats/store_name.h"
#include "input/input.h"

struct fleet {
	const struct store_url *url;
	struct store *store;
	struct answers a;
	struct stack_cache cache;
	struct kin_error *err; /* the first error that leaves data incomplete */
	size_t n_empty;        /* shards without a database */
	pthread_mutex_t lock;  /* of has_contents and is_over of all questions */
	pthread_cond_t changed;
};

static void keep_first(struct fleet *f, struct kin_error *err)
{
	if (f->err)
		kin_error_free(err);
	else
		f->err = err;
}

static struct kin_error *damaged(const struct fleet *f, size_t shard)
{
	return err_new(KIN_ERROR_FORMAT, "%s: its answer is cut off, or damaged",
		       f->url->shards.at[shard]);
}

/* ---- queries, to all shards at once ---- */

struct fleet_question {
	pthread_t thread;
	bool started, is_joined, is_taken;
	bool has_contents, is_over;
	struct fleet *fleet;
	struct store *store;
	const struct store_url *url;
	size_t shard;
	struct row_buffer events;
	struct row_buffer contents; /* ids of the shard's recordings, and 0; empty if there is only
				       one shard */
	size_t n_contents;
	struct row_buffer doubles;      /* recordings that an earlier shard has, too; not to be
					   counted */
	struct kin_error *incomparable; /* why doubles are not known */
	struct store_answer answer;
	struct kin_error *err;
};

/* Sets a flag of a question. */
static void change(struct fleet_question *q, bool *flag)
{
	pthread_mutex_lock(&q->fleet->lock);
	*flag = true;
	pthread_cond_signal(&q->fleet->changed);
	pthread_mutex_unlock(&q->fleet->lock);
}

static bool has_no_table(const struct store_answer *a)
{
	return a->outcome == STORE_REFUSED &&
	       (a->code == STORE_NO_TABLE || a->code == STORE_NO_DATABASE);
}

/* Adds rollups' ids to `ids`. Adds none if the store has no such tables because it is empty or of
 * an older kin, or if the query does not fit: single recordings give the same sums. */
static struct kin_error *ask_span(struct fleet_question *q, size_t span, bool after_days,
				  struct row_buffer *ids)
{
	char *sql = fleet_sql_rollups(q->url, &rollup_spans[span], after_days);
	struct http_part part = { "ids", ids->at, ids->n };
	struct store_query query = { .sql = sql, .part = after_days ? &part : NULL };
	struct store_answer a = { 0 };
	struct kin_error *err = NULL;
	if (!after_days || fleet_sql_fits_url(sql))
		err = store_ask(q->store, q->shard, &query, &a);
	if (!err)
		row_bytes(ids, a.bytes.at, a.bytes.n);
	vec_free(&a.bytes);
	free(sql);
	if (err && has_no_table(&a)) {
		kin_error_free(err);
		err = NULL;
	}
	return err;
}

/* Days first: hours whose recordings are part of a chosen day are not used. */
static struct kin_error *ask_rollups(struct fleet_question *q, struct fleet_sums *of,
				     struct row_buffer *ids)
{
	struct kin_error *err = NULL;
	for (size_t i = N_ROLLUP_SPANS; i-- > 0 && !err;) {
		size_t before = ids->n;
		if (fleet_sql_may_use_rollups(q->url, &rollup_spans[i]))
			err = ask_span(q, i, of->rollups[ROLLUP_DAYS], ids);
		of->rollups[i] = ids->n > before;
	}
	return err;
}

static struct kin_error *ask_events(struct fleet_question *q)
{
	struct kin_error *err =
		store_ask(q->store, q->shard,
			  &(struct store_query){
				  .sql = "SELECT event, name, unit, kind, max(period), "
					 "max(frequency) FROM {db}.events GROUP BY event, name, "
					 "unit, kind ORDER BY event FORMAT RowBinary" },
			  &q->answer);
	q->events = q->answer.bytes;
	q->answer.bytes = (struct row_buffer){ 0 };
	return err;
}

static struct kin_error *ask_contents(struct fleet_question *q)
{
	char *sql = fleet_sql_contents(q->url);
	struct kin_error *err =
		store_ask(q->store, q->shard, &(struct store_query){ .sql = sql }, &q->answer);
	q->contents = q->answer.bytes;
	q->n_contents = q->contents.n / sizeof(uint64_t);
	q->answer.bytes = (struct row_buffer){ 0 };
	free(sql);
	return err;
}

struct fleet_events { /* a VEC */
	uint64_t *at;
	size_t n, cap;
};

/* The events in an answer; damage is reported later, when the answer is taken. */
static struct fleet_events events_of(const struct row_buffer *bytes)
{
	struct fleet_events ret = { 0 };
	struct answers a = { 0 };
	bool sound = answers_take(&a, ANSWERS_EVENTS, 0, bytes_of("", bytes->at, bytes->n));
	for (size_t i = 0; i < a.events.n && sound; i++)
		if (!i || a.events.at[i].id > a.events.at[i - 1].id)
			vec_push(&ret, a.events.at[i].id);
	answers_done(&a);
	return ret;
}

/* Asks for the sums. `without`: recordings to leave out; NULL: none. */
static struct kin_error *ask_sums(struct fleet_question *q, const struct row_buffer *without)
{
	struct row_buffer ids = { 0 };
	struct fleet_sums of = { .without = without };
	struct kin_error *err = ask_events(q);
	if (without)
		row_bytes(&ids, without->at, without->n);
	else if (!err)
		err = ask_rollups(q, &of, &ids);
	if (!err) {
		struct fleet_events events = events_of(&q->events);
		of.events = events.at;
		of.n = events.n;
		char *sql = fleet_sql_sums(q->url, &of);
		struct http_part part = { "ids", ids.at, ids.n };
		struct store_query query = { .sql = sql,
					     .part = fleet_sums_have_ids(&of) ? &part : NULL };
		err = store_ask(q->store, q->shard, &query, &q->answer);
		free(sql);
		vec_free(&events);
	}
	vec_free(&ids);
	return err;
}

/* Appends the remedy for sums that take too long. */
static struct kin_error *with_remedy(const struct fleet_question *q, struct kin_error *err)
{
	if (!err || !q->answer.timed_out || q->answer.outcome != STORE_UNKNOWN)
		return err;
	struct kin_error *more = err_new(KIN_ERROR_OS,
					 "%s; a URL with service= or from= asks for less, and kin "
					 "tidy makes sums that are added up faster",
					 kin_error_message(err));
	kin_error_free(err);
	return more;
}

static void *ask_shard(void *arg)
{
	struct fleet_question *q = arg;
	if (q->url->shards.n > 1)
		q->err = GUARDED(ask_contents(q));
	if (!q->err) {
		change(q, &q->has_contents);
		q->err = GUARDED(ask_sums(q, NULL));
	}
	q->err = with_remedy(q, q->err);
	change(q, &q->is_over);
	return NULL;
}

/* Waits for a shard's answer; asks now if it has no thread. */
static void await(struct fleet_question *q)
{
	if (q->is_joined)
		return;
	q->is_joined = true;
	if (q->started)
		pthread_join(q->thread, NULL);
	else
		ask_shard(q);
}

/* The shard to take next: one that has answered, or that has no thread. NULL: there is none yet. */
static struct fleet_question *next_to_take(const struct fleet *f, struct fleet_question *questions)
{
	struct fleet_question *idle = NULL;
	for (size_t i = 0; i < f->url->shards.n; i++) {
		struct fleet_question *q = &questions[i];
		if (!q->is_taken && q->is_over)
			return q;
		if (!q->is_taken && !q->started)
			idle = q;
	}
	return idle;
}

/* Waits for any shard's answer. Each is returned once. */
static struct fleet_question *await_next(struct fleet *f, struct fleet_question *questions)
{
	struct fleet_question *q;
	pthread_mutex_lock(&f->lock);
	while (!(q = next_to_take(f, questions)))
		pthread_cond_wait(&f->changed, &f->lock);
	pthread_mutex_unlock(&f->lock);
	await(q);
	q->is_taken = true;
	return q;
}

static void begin_questions(struct fleet *f, struct fleet_question *questions)
{
	for (size_t i = 0; i < f->url->shards.n; i++) {
		struct fleet_question *q = &questions[i];
		*q = (struct fleet_question){
			.fleet = f, .store = f->store, .url = f->url, .shard = i
		};
		q->started = !pthread_create(&q->thread, NULL, ask_shard, q);
	}
}

/* ---- recordings on several shards ---- */

/* Waits until each shard has sent its recordings' ids, or failed. */
static void await_contents(struct fleet *f, struct fleet_question *questions)
{
	for (size_t i = 0; i < f->url->shards.n; i++)
		if (!questions[i].started)
			await(&questions[i]);
	pthread_mutex_lock(&f->lock);
	for (size_t i = 0; i < f->url->shards.n; i++)
		while (!questions[i].has_contents && !questions[i].is_over)
			pthread_cond_wait(&f->changed, &f->lock);
	pthread_mutex_unlock(&f->lock);
}

/* Finds recordings of this shard that an earlier shard has, too. */
static struct kin_error *find_doubles(const struct fleet *f, struct fleet_question *q,
				      struct map64 *seen)
{
	struct bytes all = bytes_of("", q->contents.at, q->contents.n);
	bool marked = false;
	while (bytes_left(&all)) {
		uint64_t content = bytes_u64(&all);
		marked |= !content;
		uint32_t *at = content ? map64_at(seen, content) : NULL;
		if (at && *at == NONE)
			*at = (uint32_t)q->shard;
		else if (at && *at != q->shard)
			row_u64(&q->doubles, content);
	}
	return marked && !all.failed ? NULL : damaged(f, q->shard);
}

/* False if a shard has more recordings than were requested: the rest is not known. */
static bool are_all_known(const struct fleet *f, const struct fleet_question *questions)
{
	bool known = true;
	for (size_t i = 0; i < f->url->shards.n; i++)
		known &= questions[i].n_contents <= fleet_sql_contents_most(f->url);
	return known;
}

/* A server may have two names, or a recording was sent again by a URL with other shards. Such a
 * recording only counts on the first of these shards. */
static void compare_shards(struct fleet *f, struct fleet_question *questions)
{
	struct map64 seen = { 0 };
	for (size_t i = 0; i < f->url->shards.n; i++) {
		struct fleet_question *q = &questions[i];
		if (q->has_contents)
			q->incomparable = find_doubles(f, q, &seen);
		if (!q->incomparable && q->doubles.n && !are_all_known(f, questions))
			q->incomparable =
				err_new(KIN_ERROR_FORMAT,
					"%s has recordings that another shard has, too, and more "
					"than can be compared: is it the same server?",
					f->url->shards.at[i]);
	}
	map64_free(&seen);
}

/* Asks again if the shard's answer has recordings that count elsewhere. */
static void leave_out_doubles(struct fleet_question *q)
{
	if (q->err) {
		kin_error_free(q->incomparable);
		return;
	}
	q->err = q->incomparable;
	if (q->err || !q->doubles.n)
		return;
	vec_free(&q->events);
	vec_free(&q->answer.bytes);
	q->err = with_remedy(q, GUARDED(ask_sums(q, &q->doubles)));
}

/* ---- answers of the shards ---- */

/* Tables are missing. If no table exists nothing was ever sent to the shard, which is fine; if only
 * some are missing they were lost. */
static void pass_over_empty(struct fleet *f, struct fleet_question *q)
{
	bool begun = false;
	struct kin_error *err = store_is_begun(f->store, q->shard, &begun);
	if (!err && begun)
		return;
	kin_error_free(q->err);
	q->err = err;
	f->n_empty += !err;
}

static void take_sums(struct fleet *f, struct fleet_question *q)
{
	if (q->err && has_no_table(&q->answer)) {
		pass_over_empty(f, q);
	} else if (!q->err &&
		   (!answers_take(&f->a, ANSWERS_EVENTS, (uint32_t)q->shard,
				  bytes_of("", q->events.at, q->events.n)) ||
		    !answers_take(&f->a, ANSWERS_SUMS, (uint32_t)q->shard,
				  bytes_of("", q->answer.bytes.at, q->answer.bytes.n)))) {
		keep_first(f, damaged(f, q->shard));
	}
	vec_free(&q->events);
	vec_free(&q->contents);
	vec_free(&q->doubles);
	vec_free(&q->answer.bytes);
}

static char *names_of_missing(const struct store_url *url, const struct fleet_question *questions)
{
	char *names = NULL;
	size_t size;
	FILE *f = xopen_memstream(&names, &size);
	const char *between = "";
	for (size_t i = 0; i < url->shards.n; i++) {
		if (!questions[i].err)
			continue;
		fprintf(f, "%s%s", between, url->shards.at[i]);
		between = ", ";
	}
	xclose_memstream(f, &names);
	return names;
}

/* Names all shards that did not answer, with the reason of the first one. NULL: all did. Takes the
 * errors of the queries. */
static struct kin_error *missing_shards(const struct store_url *url,
					struct fleet_question *questions)
{
	char *names = names_of_missing(url, questions);
	struct kin_error *err = NULL;
	size_t n = 0, first = 0;
	for (size_t i = 0; i < url->shards.n; i++) {
		if (!questions[i].err)
			continue;
		if (!n++) {
			first = i;
			err = questions[i].err;
		} else {
			kin_error_free(questions[i].err);
		}
	}
	if (n == 1 && url->shards.n > 1)
		err = err_wrap(err,
			       "a part of the store is missing: what hosts sent to shard %zu of "
			       "%zu is not in this",
			       first + 1, url->shards.n);
	else if (n > 1)
		err = err_wrap(err,
			       "parts of the store are missing: what hosts sent to %zu of %zu "
			       "shards (%s) is not in this",
			       n, url->shards.n, names);
	free(names);
	return err;
}

static void take_shard(struct fleet *f, struct fleet_question *q)
{
	leave_out_doubles(q);
	take_sums(f, q);
}

/* Reads the local cache while the servers add up, and answers as they come, while other shards
 * still add up. */
static struct kin_error *take_answers(struct fleet *f, struct fleet_question *questions)
{
	stack_cache_open(&f->cache, f->url, &f->a);
	if (f->url->shards.n > 1) {
		await_contents(f, questions);
		compare_shards(f, questions);
	}
	for (size_t i = 0; i < f->url->shards.n; i++)
		take_shard(f, await_next(f, questions));
	return NULL;
}

static void read_sums(struct fleet *f)
{
	struct fleet_question *questions = xalloc(f->url->shards.n * sizeof(*questions));
	begin_questions(f, questions);
	struct kin_error *no_memory = GUARDED(take_answers(f, questions));
	for (size_t i = 0; i < f->url->shards.n; i++) /* no thread may run on */
		await(&questions[i]);
	if (no_memory)
		xout_of_memory();
	struct kin_error *missing = missing_shards(f->url, questions);
	if (missing) {
		kin_error_free(f->err);
		f->err = missing;
	}
	free(questions);
}

/* ---- rows that sums refer to ---- */

/* Reads a shard's rows with these ids, and frees the ids. */
static void read_table(struct fleet *f, uint32_t shard, enum answers_table table, const char *sql,
		       struct row_buffer *ids)
{
	struct http_part part = { "ids", ids->at, ids->n };
	struct store_query q = { .sql = sql, .part = ids->n ? &part : NULL };
	struct store_answer a = { 0 };
	struct kin_error *err = store_ask(f->store, shard, &q, &a);
	if (err)
		keep_first(f, err_wrap(err, "names are missing"));
	else if (!answers_take(&f->a, table, shard, bytes_of("", a.bytes.at, a.bytes.n)))
		keep_first(f, damaged(f, shard));
	vec_free(&a.bytes);
	vec_free(ids);
}

static void want(struct map64 *seen, struct row_buffer *ids, uint64_t id)
{
	uint32_t *at = map64_at(seen, id);
	if (*at == NONE)
		row_u64(ids, id);
	*at = 1;
}

static void read_stacks_of(struct fleet *f, uint32_t shard)
{
	struct row_buffer ids = { 0 };
	for (size_t i = 0; i < f->a.stacks.n; i++)
		if (f->a.stacks.at[i].shard == shard && f->a.stacks.at[i].node == NONE)
			row_u64(&ids, f->a.stacks.at[i].id);
	if (ids.n)
		read_table(f, shard, ANSWERS_STACKS,
			   "SELECT stack, comm, flags, frames FROM {db}.stacks WHERE stack IN "
			   "(SELECT id FROM ids) FORMAT RowBinary",
			   &ids);
}

static void read_names_of(struct fleet *f, uint32_t shard)
{
	struct row_buffer ids = { 0 };
	struct map64 seen = { 0 };
	read_stacks_of(f, shard);
	for (size_t i = 0; i < f->a.frames.n; i++)
		if (!f->a.frames.at[i].known)
			row_u64(&ids, f->a.frames.at[i].row.id);
	if (ids.n)
		read_table(f, shard, ANSWERS_FRAMES,
			   "SELECT frame, function, file, line, flags, address FROM {db}.frames "
			   "WHERE frame IN (SELECT id FROM ids) FORMAT RowBinary",
			   &ids);
	for (size_t i = 0; i < f->a.frames.n; i++)
		if (f->a.frames.at[i].known &&
		    map64_get(&f->a.function_ids, f->a.frames.at[i].row.function) == NONE)
			want(&seen, &ids, f->a.frames.at[i].row.function);
	if (ids.n)
		read_table(f, shard, ANSWERS_FUNCTIONS,
			   "SELECT function, name, file, line, object, build_id, kind, flags, "
			   "address FROM {db}.functions WHERE function IN (SELECT id FROM ids) "
			   "FORMAT RowBinary",
			   &ids);
	map64_free(&seen);
}

static void read_names(struct fleet *f)
{
	for (uint32_t shard = 0; shard < f->url->shards.n; shard++) {
		bool any = false;
		for (size_t i = 0; i < f->a.stacks.n && !any; i++)
			any = f->a.stacks.at[i].shard == shard;
		if (!any)
			continue;
		read_names_of(f, shard);
	}
}

/* Number of frames whose function is not known. */
static size_t unnamed_frames(const struct answers *a)
{
	size_t n = 0;
	for (size_t i = 0; i < a->frames.n; i++)
		n += !a->frames.at[i].known ||
		     map64_get(&a->function_ids, a->frames.at[i].row.function) == NONE;
	return n;
}

/* Number of sums whose event is not known; most have the event of the previous one. */
static size_t unnamed_sums(const struct answers *a)
{
	size_t n = 0;
	bool known = true;
	for (size_t i = 0; i < a->sums.n; i++) {
		if (!i || a->sums.at[i].event != a->sums.at[i - 1].event)
			known = answers_event(a, a->sums.at[i].event) != NULL;
		n += !known;
	}
	return n;
}

/* Reports missing rows. Missing stacks are counted with their samples instead. */
static void check_names(struct fleet *f)
{
	size_t frames = unnamed_frames(&f->a), sums = unnamed_sums(&f->a);
	if (frames)
		keep_first(f, err_new(KIN_ERROR_FORMAT,
				      "names are missing: the store has no functions for %zu "
				      "frame%s of stacks",
				      frames, frames == 1 ? "" : "s"));
	if (sums)
		keep_first(f, err_new(KIN_ERROR_FORMAT,
				      "names are missing: the store has no events for %zu sum%s",
				      sums, sums == 1 ? "" : "s"));
}

/* ---- the profile ---- */

static void add_damaged(uint64_t n, struct profile_builder *into)
{
	char *text = xprintf("%" PRIu64 " recording%s damaged when %s sent, so %s not in this", n,
			     n == 1 ? " was" : "s were", n == 1 ? "it was" : "they were",
			     n == 1 ? "part of it is" : "parts of them are");
	profile_add_fact(into, FACT_UNREAD, text);
	free(text);
}

static struct kin_error *read_store(const char *path, const struct store_url *url,
				    struct profile_builder *into)
{
	struct fleet f = { .url = url,
			   .lock = PTHREAD_MUTEX_INITIALIZER,
			   .changed = PTHREAD_COND_INITIALIZER };
	struct kin_error *err = store_new(url, &f.store);
	if (err)
		return err;
	read_sums(&f);
	stack_cache_take(&f.cache, &f.a);
	read_names(&f);
	check_names(&f);
	struct stack_order order = stack_order_of(&f.a);
	stack_cache_close(&f.cache, &f.a, &order, !f.err);
	uint64_t missing = fleet_profile(&f.a, &order, into);
	stack_order_free(&order);
	if (missing)
		keep_first(&f, err_new(KIN_ERROR_FORMAT,
				       "names are missing: the store has no stacks for %" PRIu64
				       " samples",
				       missing));
	if (f.a.n_damaged && f.a.sums.n)
		add_damaged(f.a.n_damaged, into);
	err = f.err;
	if (err && f.a.sums.n)
		profile_add_fact(into, FACT_UNREAD, kin_error_message(err));
	if (!err && f.n_empty == url->shards.n)
		err = err_new(KIN_ERROR_FORMAT, "there is no database '%s' at %s%s", url->database,
			      url->shards.at[0], url->shards.n > 1 ? ", or the other shards" : "");
	else if (!err && !f.a.sums.n)
		err = err_new(KIN_ERROR_FORMAT,
			      "%s: nothing in the store fits: look at service, version, host, "
			      "labels and times",
			      path);
	store_free(f.store);
	answers_done(&f.a);
	return err;
}

static struct kin_error *fetch(const char *path, const struct input_opts *o,
			       struct profile_builder *into, struct source *source)
{
	struct store_url url;
	struct kin_error *err = store_url_parse(path, (uint64_t)time(NULL), &url);
	(void)o;
	(void)source;
	if (err)
		return err;
	err = read_store(path, &url, into);
	store_url_done(&url);
	return err;
}

const struct format store_format = {
	.about = STORE_ABOUT(true),
	.is_named = store_is_named,
	.fetch = fetch,
};
