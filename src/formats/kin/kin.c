/* kin.c - .kin files: header and blocks (kin/format.h). Files that are still being written, or
 * whose writer was killed, are valid. Of damaged files the undamaged blocks are read. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/capped.h"
#include "base/err.h"
#include "formats/formats.h"
#include "formats/kin/crc32c.h"
#include "formats/kin/kin_private.h"
#include "formats/kin/kin_records.h"
#include "formats/saved.h"
#include "names/kept.h"
#include "profile/spreads.h"

static bool probe(struct bytes head, const struct input_opts *o)
{
	uint64_t magic = KINF_MAGIC;

	(void)o;
	return bytes_left(&head) >= sizeof(magic) &&
	       (!memcmp(head.pos, &magic, sizeof(magic)) ||
		(magic = __builtin_bswap64(magic), !memcmp(head.pos, &magic, sizeof(magic))));
}

static void keep(struct kinfile *f, struct kin_error *err)
{
	if (f->err)
		kin_error_free(err);
	else
		f->err = err;
}

void kinfile_damaged(struct kinfile *f, uint64_t offset, const char *what)
{
	if (!f->err)
		f->err = err_new(KIN_ERROR_FORMAT, "%s: damaged at offset %#jx: %s", f->w->b.name,
				 (uintmax_t)offset, what);
}

static void cut_off(struct kinfile *f, uint64_t offset, const char *where)
{
	struct kin_error *err = window_error(f->w);

	keep(f, err ? err
		    : err_new(KIN_ERROR_FORMAT,
			      "%s: cut off in the %s at offset %#jx: the copy did not finish, or "
			      "the disk was full",
			      f->w->b.name, where, (uintmax_t)offset));
}

/* ---- blocks ---- */

static bool is_zero(const void *at, size_t n)
{
	const uint8_t *p = at;

	for (size_t i = 0; i < n; i++)
		if (p[i])
			return false;
	return true;
}

/* Whether the payload matches its checksum; the window is left at its start. */
static bool checksum_fits(struct kinfile *f, const struct kinfile_block *b)
{
	enum { PIECE = 1 << 16 };
	uint64_t start = window_offset(f->w), left = b->used;
	uint32_t crc = 0;

	while (left) {
		size_t n = left < PIECE ? (size_t)left : PIECE;
		if (window_need(f->w, n) < n)
			break;
		crc = crc32c(crc, f->w->b.pos, n);
		f->w->b.pos += n;
		left -= n;
	}
	window_seek(f->w, start);
	return !left && crc == b->head.crc;
}

/* Checks the header of a block in a recorder's or a tool's file, where every field can be checked.
 * Returns what is wrong, or NULL. */
static const char *check_sealed(const struct kinf_block *h)
{
	static const char wrong[] = "the header of a block";

	if ((h->type != KINF_STREAM && h->type != KINF_NAMES) || !(h->flags & KINF_SEALED) ||
	    h->thread || !is_zero(h->own, sizeof(h->own)))
		return wrong;
	if (h->flags & ~(uint32_t)(KINF_SEALED | KINF_ZSTD) ||
	    !(h->flags & KINF_ZSTD) != !h->plain_size)
		return wrong;
	return h->size == (sizeof(*h) + h->used + 7) / 8 * 8 ? NULL : wrong;
}

static void unpack(struct kinfile *f, const struct kinfile_block *b)
{
	size_t n = (size_t)b->used, plain = b->head.plain_size;

	if (b->used > KIN_MAX_PLAIN || plain > KIN_MAX_PLAIN ||
	    plain > KIN_RATIO_FREE + n * KIN_MAX_RATIO) {
		kinfile_damaged(f, b->at, "a block that is too large");
		return;
	}
	if (window_need(f->w, n) < n)
		return; /* the file was truncated meanwhile */
	void (*read)(struct kinfile *, const uint8_t *, size_t, uint64_t) =
		b->head.type == KINF_NAMES ? kinfile_read_names : kinfile_read_records;
	if (!(b->head.flags & KINF_ZSTD)) {
		read(f, f->w->b.pos, n, b->at);
		return;
	}
	uint8_t *to = xrealloc(NULL, plain + 1, 1);
	size_t unpacked = ZSTD_decompress(to, plain, f->w->b.pos, n);
	if (ZSTD_getErrorCode(unpacked) == ZSTD_error_memory_allocation)
		xout_of_memory();
	if (unpacked == plain)
		read(f, to, plain, b->at);
	else
		kinfile_damaged(f, b->at, "a block that cannot be unpacked");
	free(to);
}

/* The reader for a type of block; NULL: such blocks are skipped. */
typedef void read_block(struct kinfile *f, const struct kinfile_block *b);

static read_block *reader_of(uint32_t type, bool first_pass)
{
	static const struct {
		read_block *read;
		bool first; /* read in the first pass, as other blocks refer to it */
	} types[] = {
		[KINF_INFO] = { kinfile_read_info, true },
		[KINF_MODULES] = { kinfile_read_modules, true },
		[KINF_THREADS] = { kinfile_read_threads, true },
		[KINF_ARCS] = { kinfile_read_arcs, false },
		[KINF_RETIRED_ARCS] = { kinfile_read_retired, false },
		[KINF_STACKS] = { kinfile_read_stacks, false },
		[KINF_COUNTS] = { kinfile_read_counts, false },
		[KINF_LATENCIES] = { kinfile_read_latencies, false },
		[KINF_STREAM] = { unpack, false },
		[KINF_RETIRED_COUNTS] = { kinfile_read_retired_counts, false },
		[KINF_RETIRED_LATENCIES] = { kinfile_read_retired_latencies, false },
		[KINF_NAMES] = { unpack, false },
		[KINF_MADE] = { kinfile_read_made, true },
		[KINF_CALLS] = { kinfile_read_calls, false },
		[KINF_TWICE] = { kinfile_read_twice, true },
	};

	if (type >= ARRAY_LEN(types) || types[type].first != first_pass)
		return NULL;
	return types[type].read;
}

static void read_payload(struct kinfile *f, const struct kinfile_block *b, bool first_pass)
{
	read_block *read = reader_of(b->head.type, first_pass);

	if (first_pass && b->head.type >= KINF_N_TYPES)
		kinfile_damaged(f, b->at, "a block of unknown type; a newer kin wrote it?");
	if (!read)
		return;
	if (b->head.flags & KINF_SEALED && !checksum_fits(f, b))
		kinfile_damaged(f, b->at, "the checksum of a block does not fit");
	else
		read(f, b);
}

/* Checks the padding after a sealed payload. */
static void check_padding(struct kinfile *f, const struct kinfile_block *b)
{
	size_t n = (size_t)(b->head.size - sizeof(b->head) - b->used);

	window_seek(f->w, b->at + sizeof(b->head) + b->used);
	if (window_need(f->w, n) >= n && !is_zero(f->w->b.pos, n))
		kinfile_damaged(f, b->at, "the padding behind a block");
}

/* Reads the block at an offset; false if no other can follow. */
static bool read_block_at(struct kinfile *f, uint64_t at, bool first_pass, uint64_t *next)
{
	struct kinfile_block b = { .at = at };
	uint64_t left = f->end - at;
	const char *wrong = NULL;

	window_seek(f->w, at);
	if (left < sizeof(b.head) || window_need(f->w, sizeof(b.head)) < sizeof(b.head)) {
		cut_off(f, at, "header of a block");
		return false;
	}
	memcpy(&b.head, f->w->b.pos, sizeof(b.head));
	f->w->b.pos += sizeof(b.head);
	if (!f->header.sealed && !b.head.magic && !b.head.type)
		return false; /* unused from here on */
	if (b.head.magic != KINF_BLOCK_MAGIC)
		wrong = "no block begins here";
	else if (b.head.size < sizeof(b.head) || b.head.size % 8)
		wrong = "the size of a block";
	else if (b.head.used > b.head.size - sizeof(b.head))
		wrong = "a block that holds more than its size";
	else if (f->header.sealed)
		wrong = check_sealed(&b.head);
	if (wrong) {
		kinfile_damaged(f, at, wrong);
		return false;
	}
	bool whole = b.head.size <= left;
	b.used = b.head.used < left - sizeof(b.head) ? b.head.used : left - sizeof(b.head);
	if (!whole)
		cut_off(f, at, "block");
	if (whole || !(b.head.flags & KINF_SEALED))
		read_payload(f, &b, first_pass);
	if (whole && f->header.sealed)
		check_padding(f, &b);
	*next = whole ? at + b.head.size : f->end;
	return whole && b.head.type != KINF_END;
}

/* Whether a file begins at an offset: another one was appended there. */
static bool is_file_at(struct kinfile *f, uint64_t at)
{
	return window_seek(f->w, at) && window_need(f->w, sizeof(uint64_t)) &&
	       format_recording_begins(f->w->b);
}

/* The next undamaged block, after a block so damaged that its end is unknown; the end of the file
 * if there is none. */
static uint64_t find_block(struct kinfile *f, uint64_t at)
{
	struct kinf_block h;

	for (at += 8; at < f->end && f->end - at >= sizeof(h); at += 8) {
		window_seek(f->w, at);
		if (window_need(f->w, sizeof(h)) < sizeof(h))
			break;
		if (format_recording_begins(f->w->b))
			return at;
		memcpy(&h, f->w->b.pos, sizeof(h));
		if (h.magic == KINF_BLOCK_MAGIC && h.size <= f->end - at && h.size >= sizeof(h) &&
		    h.used <= h.size - sizeof(h) && !check_sealed(&h))
			return at;
	}
	return f->end;
}

static void read_blocks(struct kinfile *f, bool first_pass)
{
	uint64_t at = KINF_PAGE, next;

	while (at < f->end) {
		if (is_file_at(f, at))
			f->end = at;
		else if (read_block_at(f, at, first_pass, &next))
			at = next;
		else if (f->header.sealed)
			at = find_block(f, at);
		else
			break;
	}
}

/* Skips the empty pages that a writer reserved and did not use; returns the offset behind them. */
static uint64_t skip_unused(struct kinfile *f, uint64_t at, uint64_t size)
{
	while (at < size && window_seek(f->w, at) && window_need(f->w, sizeof(uint64_t)) &&
	       !*f->w->b.pos)
		at += KINF_PAGE - at % KINF_PAGE;
	return at;
}

/* Reads the blocks of names that follow the recording. Anything else there is ignored. */
static void read_names(struct kinfile *f, uint64_t size)
{
	uint64_t at = f->end, next;
	struct kinf_block h;

	for (f->end = size; size - at >= sizeof(h); at = next) {
		window_seek(f->w, at);
		if (window_need(f->w, sizeof(h)) < sizeof(h))
			break;
		memcpy(&h, f->w->b.pos, sizeof(h));
		if (h.magic != KINF_BLOCK_MAGIC || h.type != KINF_NAMES ||
		    !read_block_at(f, at, false, &next))
			break;
	}
	at = skip_unused(f, at, size);
	if (is_file_at(f, at))
		keep(f, format_another(f->w->b.name, at));
}

/* ---- header ---- */

static const char *end_in_words(const struct kinf_header *h, char *buf, size_t size)
{
	switch ((enum kinf_end)h->end) {
	case KINF_RUNNING:
		return "still running, or killed";
	case KINF_EXITED:
		snprintf(buf, size, "exited with status %ju", (uintmax_t)h->end_detail);
		return buf;
	case KINF_EXITED_AT_ONCE:
		snprintf(buf, size, "exited at once with status %ju", (uintmax_t)h->end_detail);
		return buf;
	case KINF_SIGNALLED:
		snprintf(buf, size, "killed by signal %ju", (uintmax_t)h->end_detail);
		return buf;
	case KINF_EXECED:
		if (!h->became[0])
			return "became another program";
		snprintf(buf, size, "became another program: %.*s", (int)sizeof(h->became),
			 h->became);
		return buf;
	case KINF_STOPPED:
		return "complete";
	}
	return "not known";
}

static void add_number(struct kinfile *f, const char *name, uint64_t n)
{
	char text[24];

	if (!n)
		return;
	snprintf(text, sizeof(text), "%ju", (uintmax_t)n);
	profile_add_fact(f->into, name, text);
}

static const char *writer_in_words(uint32_t writer)
{
	return writer == KINF_BY_RUNTIME    ? "the program itself"
	       : writer == KINF_BY_RECORDER ? "kin record"
					    : "kin merge";
}

/* "2024-02-29T12:34:56.000000789Z", for people and programs. */
static const char *time_in_words(uint64_t ns, char *text, size_t size)
{
	enum { NS = 1000000000 };
	time_t seconds = (time_t)(ns / NS);
	struct tm t;
	if (!gmtime_r(&seconds, &t) || !strftime(text, size, "%Y-%m-%dT%H:%M:%S", &t))
		return "unknown";
	size_t n = strlen(text);
	snprintf(text + n, size - n, ".%09uZ", (unsigned)(ns % NS));
	return text;
}

static void describe_rank(struct kinfile *f)
{
	const struct kinf_header *h = &f->header;
	char rank[24], killed[48];

	if (!h->rank)
		return;
	snprintf(rank, sizeof(rank), "%ju", (uintmax_t)h->rank - 1);
	profile_add_fact(f->into, FACT_RANK, rank);
	if (h->end == KINF_SIGNALLED) {
		snprintf(killed, sizeof(killed), "%s (%d)", rank, (int)(h->end_detail & 127));
		profile_add_fact(f->into, FACT_KILLED, killed);
	} else if (h->end == KINF_RUNNING && h->writer == KINF_BY_RUNTIME) {
		profile_add_fact(f->into, FACT_NOT_ENDED, rank);
	}
}

static void describe(struct kinfile *f)
{
	const struct kinf_header *h = &f->header;
	char text[320];

	profile_add_fact(f->into, "written by", writer_in_words(h->writer));
	if (h->writer == KINF_BY_TOOL)
		return;
	add_number(f, "pid", h->pid);
	add_number(f, "parent", h->ppid);
	profile_add_fact(f->into, "end", end_in_words(h, text, sizeof(text)));
	f->source->machine = h->machine;
	f->source->unfinished = h->writer == KINF_BY_RECORDER && h->end == KINF_RUNNING;
	f->calls_alone = h->writer == KINF_BY_RUNTIME && !h->period_ns;
	describe_rank(f);
	add_number(f, FACT_RANKS, h->ranks);
	if (h->job[0])
		profile_add_fact(f->into, FACT_JOB, h->job);
	f->source->start_ns = h->start_ns;
	f->source->start_time_ns = h->start_time_ns;
	add_number(f, "period ns", h->period_ns);
	profile_add_fact(f->into, "started at",
			 time_in_words(h->start_time_ns, text, sizeof(text)));
	if (h->error[0]) {
		char *trouble = kinfile_trouble(h);
		profile_add_fact(f->into, FACT_TROUBLE, trouble);
		free(trouble);
	}
}

static uint64_t hooks_time(const struct kinfile *f)
{
	enum { PS_PER_NS = 1000 };
	unsigned __int128 ns = (unsigned __int128)f->calls * f->header.hook_ps / PS_PER_NS;

	return ns < UINT64_MAX ? (uint64_t)ns : UINT64_MAX;
}

/* The CPU time of the process. The runtime writes it now and then and at the end, but the time of a
 * thread with each sample: for a killed process the sum over threads is more recent. */
static uint64_t cpu_time(const struct kinfile *f)
{
	const struct kinf_header *h = &f->header;
	bool stale = h->writer == KINF_BY_RUNTIME && h->end == KINF_RUNNING;
	return stale && f->threads_cpu_ns > h->cpu_ns ? f->threads_cpu_ns : h->cpu_ns;
}

/* Adds the header's totals. Files of kin merge have theirs in a record. */
static void add_audit(struct kinfile *f)
{
	const struct kinf_header *h = &f->header;
	struct audit *a = profile_audit(f->into);

	if (h->writer == KINF_BY_TOOL)
		return;
	capped_add(&a->lost, h->losses[KINF_LOST_SAMPLES]);
	capped_add(&a->throttled, h->losses[KINF_THROTTLED]);
	capped_add(&a->lost_arcs, h->losses[KINF_LOST_ARCS]);
	capped_add(&a->lost_blocks, h->losses[KINF_LOST_BLOCKS]);
	capped_add(&a->lost_threads, h->losses[KINF_LOST_THREADS]);
	capped_add(&a->lost_modules, h->losses[KINF_LOST_MODULES]);
	capped_add(&a->hooks_ns, hooks_time(f));
	capped_add(&a->switches, f->has_switches ? 0 : f->switches);
	capped_add(&a->preemptions, f->has_switches ? 0 : f->preemptions);
	capped_add(&a->cpu_ns, cpu_time(f));
	capped_add(&a->sampled_ns, f->seen_sampled_ns ? f->seen_sampled_ns : h->sampled_ns);
	if (h->end_ns > h->start_ns)
		capped_add(&a->duration_ns, h->end_ns - h->start_ns);
	else if (f->last_ns > h->start_ns)
		capped_add(&a->duration_ns, f->last_ns - h->start_ns);
}

static void check_header(struct kinfile *f, const uint8_t *page)
{
	struct kinf_header *h = &f->header;
	uint8_t copy[KINF_PAGE];

	memcpy(copy, page, sizeof(copy));
	memset(copy + offsetof(struct kinf_header, crc), 0, sizeof(h->crc));
	if ((h->sealed || h->crc || h->writer != KINF_BY_RUNTIME) &&
	    (h->sealed != 1 || crc32c(0, copy, sizeof(copy)) != h->crc)) {
		kinfile_damaged(f, 0, "the header's checksum does not fit");
		h->size = 0; /* blocks are found by their magic numbers */
		h->sealed = h->writer != KINF_BY_RUNTIME;
	}
	if (h->writer < KINF_BY_RUNTIME || h->writer > KINF_BY_TOOL)
		kinfile_damaged(f, 0, "nobody known wrote it");
	if (h->size && h->size < KINF_PAGE) {
		kinfile_damaged(f, 0, "the size in the header");
		h->size = 0;
	}
	h->error[sizeof(h->error) - 1] = '\0';
	h->job[sizeof(h->job) - 1] = '\0';
}

static struct kin_error *read_header(struct kinfile *f)
{
	struct kinf_header *h = &f->header;
	size_t n = window_need(f->w, KINF_PAGE);

	if (n < sizeof(*h) || n < KINF_PAGE) {
		cut_off(f, 0, "header");
		return f->err;
	}
	memcpy(h, f->w->b.pos, sizeof(*h));
	if (h->magic != KINF_MAGIC)
		return err_new(KIN_ERROR_UNSUPPORTED,
			       "%s: written on a machine of the other byte order", f->w->b.name);
	if (h->version > KINF_VERSION || h->page != KINF_PAGE)
		return err_new(KIN_ERROR_UNSUPPORTED,
			       "%s: a .kin file of version %u, known are those up to %u; a newer "
			       "kin reads it, or it is damaged",
			       f->w->b.name, h->version, KINF_VERSION);
	check_header(f, f->w->b.pos);
	f->source->version = (int)h->version;
	return NULL;
}

/* A rank that ended before its first sample still belongs to the job, with 0 of everything. */
static void note_idle_rank(struct kinfile *f)
{
	const struct kinf_header *h = &f->header;

	if (h->rank && !f->has_task && !f->err && !f->source->unfinished)
		profile_add_task(f->into, (struct task){ .rank = h->rank,
							 .pid = (uint32_t)h->pid,
							 .tid = (uint32_t)h->pid });
}

/* ---- the file ---- */

static void release(struct kinfile *f)
{
	vec_free(&f->modules.at);
	vec_free(&f->made);
	map64_free(&f->modules.by_id);
	map64_free(&f->threads);
	vec_free(&f->twice);
	for (size_t i = 0; i < ARRAY_LEN(f->ids); i++)
		kinfile_ids_free(&f->ids[i]);
	kinfile_traces_free(f->traces);
	vec_free(&f->leaves);
	kept_free(f->kept);
	spread_set_free(f->spreads);
}

/* Notes the recording of a rank. Fails if it was read before. */
static struct kin_error *claim(struct kinfile *f)
{
	const struct kinf_header *h = &f->header;
	const char *path = f->w->b.name;

	if (!h->rank || h->writer == KINF_BY_TOOL)
		return NULL;
	struct rank_recording r = { .writer = h->writer,
				    .rank = h->rank,
				    .pid = h->pid,
				    .job = profile_add_string(f->into, h->job, strlen(h->job)),
				    .start_ns = h->start_ns,
				    .start_time_ns = h->start_time_ns,
				    .path = profile_add_string(f->into, path, strlen(path)) };
	return profile_add_rank_recording(f->into, r);
}

static struct kin_error *stream_kin(struct window *w, const struct input_opts *o,
				    struct profile_builder *into, struct source *source)
{
	struct kinfile f = { .w = w, .into = into, .source = source };
	uint64_t size = window_left(w);
	struct kin_error *err = read_header(&f);

	if (err)
		return err;
	f.stacks_only = o->needs.stacks;
	f.leaves_only = o->needs.no_callers && !o->details && o->branches != INPUT_BRANCHES;
	f.details = o->details;
	f.cpu_state = o->cpu_state;
	f.by_branch = o->branches == INPUT_BRANCHES;
	f.by_first = o->branches == INPUT_AS_RECORDED;
	f.traces = o->trace_fields ? kinfile_traces_new() : NULL;
	for (size_t i = 0; i < ARRAY_LEN(f.ids); i++)
		f.ids[i].next = 1;
	f.end = f.header.size && f.header.size < size ? f.header.size : size;
	bool piped = f.header.sealed && !f.header.size; /* its end is in a record */
	err = claim(&f);
	if (err) {
		release(&f);
		return err;
	}
	if (!piped)
		describe(&f);
	if (!f.header.sealed)
		read_blocks(&f, true);
	read_blocks(&f, false);
	if (piped)
		describe(&f);
	if (f.header.size > size)
		cut_off(&f, size, "data");
	else
		read_names(&f, size);
	keep(&f, window_error(w));
	kinfile_names_done(&f);
	if (f.spreads)
		profile_add_spreads(into, TAKE(f.spreads));
	add_audit(&f);
	kinfile_note_unsampled(&f);
	note_idle_rank(&f);
	release(&f);
	return f.err;
}

static struct kin_error *read_kin(struct bytes all, const struct input_opts *o,
				  struct profile_builder *into, struct source *source)
{
	struct window w = window_of(all);

	return stream_kin(&w, o, into, source);
}

static struct kin_error *write_kin(struct kin_profile *profile, const struct kin_export_opts *opts,
				   FILE *out)
{
	(void)opts;
	return saved_write(profile, "all.kin", out);
}

const struct format kinf_format = {
	.about = { .name = "kin",
		   .what = "a recording of kin",
		   .endings = (const char *const[]){ ".kin", NULL },
		   .is_read = true,
		   .is_written = true,
		   .is_recorded = true,
		   .is_binary = true },
	.recording = ".kin",
	.recognise = probe,
	.read = read_kin,
	.stream = stream_kin,
	.write = write_kin,
};
