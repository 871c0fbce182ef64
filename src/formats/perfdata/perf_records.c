/* perf_records.c - reads the records of a file: unpacks them, handles those about the file itself
 * at once, and puts all others in order of time.
 *
 * The kernel writes one buffer per CPU; perf copies them to the file in turn and marks the end of
 * each round. Records after a round are not older than the newest record of the round before, so
 * all records up to that time are known. */
#include <errno.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/err.h"
#include "formats/perfdata/perf.h"

enum { RECORD_MAX = 65536 };

/* Limits against compressed data that unpacks to too much. Stack dumps of a loop are nearly alike
 * and are packed a thousandfold, but each record has a time of its own, which takes at least a
 * byte. */
enum { UNPACKED_PER_BYTE = 4096, UNPACKED_FREE = 64 << 20, RECORDS_FREE = 1 << 16 };

/* One file of a recording. There are several only if perf recorded with threads. */
struct head {
	struct window *w;
	struct perf_reader reader;
	struct window_room room;
	uint64_t end;   /* end of the records in the file */
	uint64_t known; /* all records up to this time were read */
	uint64_t next, newest;
	bool is_done;
	ZSTD_DStream *unpack;
	uint8_t *out; /* unpacked bytes of an incomplete record */
	size_t n_out;
	uint64_t packed, unpacked, records; /* packed bytes, unpacked bytes, and records so far */
};

/* ---- one record ---- */

static uint64_t size_of(const struct perf *p, const uint8_t *record)
{
	uint64_t size = perf_u16(p, record + 6);

	if (perf_u32(p, record) > PERF_R_SIMPLEPERF)
		size |= (uint64_t)perf_u16(p, record + 4) << 16;
	return size;
}

/* Whether the time is set. */
static bool is_timed(uint64_t time) { return time && time != PERF_NO_TIME; }

static void add_record(struct perf *p, struct head *h, const uint8_t *data, size_t size,
		       uint64_t offset)
{
	uint32_t id;
	struct perf_record r;
	const struct perf_attr *a = perf_attrs_of(p, data, size, &id);
	bool is_leaf = a && p->leaves_only && perf_u32(p, data) == PERF_R_SAMPLE &&
		       perf_leaf_parse(p, a, data, size, &r.leaf);

	r.time = a ? perf_attrs_time(p, a, data, size) : PERF_NO_TIME;
	r.size = is_leaf ? 0 : (uint32_t)size;
	if (!is_leaf) {
		r.offset = offset;
		r.data = data;
		r.chunk = perf_reader_chunk(&h->reader, data);
	}
	if (!is_timed(r.time)) { /* made up by perf about the state before the recording */
		perf_machine_deliver(p, &r);
		return;
	}
	if (r.time > h->newest)
		h->newest = r.time;
	perf_queue_add(&p->queue, &r);
	if (perf_queue_is_full(&p->queue))
		perf_queue_flush(&p->queue, 0, perf_machine_deliver, p);
}

/* u32 type, u32 size, ...; then the ids. */
static void read_attr(struct perf *p, struct bytes b, uint64_t offset)
{
	uint32_t index = (uint32_t)p->attrs.at.n;
	size_t size = bytes_left(&b) >= 8 ? perf_u32(p, b.pos + 4) : 0;

	if (size < PERF_ATTR_MIN)
		size = PERF_ATTR_MIN;
	struct bytes attr = bytes_take(&b, size);
	if (b.failed || !perf_attrs_add(p, attr)) {
		perf_damaged(p, offset, "an event that cannot be read");
		return;
	}
	while (bytes_left(&b) >= 8)
		perf_attrs_add_id(p, bytes_u64(&b), index);
}

/* u64 type, u64 id; then a name if the type says so. */
static void update_event(struct perf *p, struct bytes b)
{
	enum { NAME = 2 };
	uint64_t type = bytes_u64(&b), id = bytes_u64(&b);
	uint32_t i = perf_attrs_find(&p->attrs, id);

	if (b.failed || type != NAME || i == NONE || !bytes_left(&b))
		return;
	uint32_t attr = p->attrs.ids.at[i].attr;
	size_t n = strnlen((const char *)b.pos, bytes_left(&b));
	if (n && attr < p->attrs.at.n)
		p->attrs.at.at[attr].name =
			arena_printf(&p->arena, "%.*s", (int)n, (const char *)b.pos);
}

static void end_round(struct perf *p, struct head *h, bool alone)
{
	if (h->next > h->known)
		h->known = h->next;
	h->next = h->newest;
	if (alone)
		perf_queue_flush(&p->queue, h->known, perf_machine_deliver, p);
}

static void unpack(struct perf *p, struct head *h, struct bytes packed, uint64_t offset);

/* Handles a record that is in memory as a whole. */
static void take(struct perf *p, struct head *h, const uint8_t *data, size_t size, uint64_t offset,
		 bool nested)
{
	uint32_t type = perf_u32(p, data);

	if (p->watcher)
		p->watcher->record(p, data);
	if (type < PERF_R_USER) {
		add_record(p, h, data, size, offset);
		return;
	}
	struct bytes b = bytes_of(p->name, data, size);
	b.swap = p->swap;
	b.pos = data + PERF_RECORD_HEADER;
	switch (type) {
	case PERF_R_ATTR:
		read_attr(p, b, offset);
		break;
	case PERF_R_BUILD_ID:
		b.pos = data;
		perf_build_id_record(p, b);
		break;
	case PERF_R_EVENT_UPDATE:
		update_event(p, b);
		break;
	case PERF_R_FEATURE: {
		uint64_t feature = bytes_u64(&b);
		if (p->watcher && !b.failed && feature < PERF_FEATURES)
			p->watcher->feature(p, (unsigned)feature, b);
		if (!b.failed && feature < PERF_FEATURES)
			perf_feature(p, (unsigned)feature, b);
		break;
	}
	case PERF_R_COMPRESSED:
	case PERF_R_COMPRESSED2:
		if (type == PERF_R_COMPRESSED2) {
			uint64_t n = bytes_u64(&b);
			b = bytes_take(&b, n < bytes_left(&b) ? (size_t)n : bytes_left(&b));
		}
		if (nested)
			perf_damaged(p, offset, "packed twice");
		else
			unpack(p, h, b, offset);
		break;
	default:
		if (type > PERF_R_LAST && type < PERF_R_SIMPLEPERF)
			perf_machine_note_unknown(p, type);
	}
}

/* ---- packed records ---- */

/* Handles whole records, and moves the rest of the last one to the front. False: damaged. */
static bool take_unpacked(struct perf *p, struct head *h, uint64_t offset)
{
	size_t at = 0;

	while (h->n_out - at >= PERF_RECORD_HEADER) {
		uint64_t size = size_of(p, h->out + at);
		if (size < PERF_RECORD_HEADER || size > RECORD_MAX) {
			perf_damaged(p, offset, "its compressed data does not hold a record");
			return false;
		}
		if (size > h->n_out - at)
			break;
		if (perf_u32(p, h->out + at) != PERF_R_FINISHED_ROUND)
			take(p, h, h->out + at, (size_t)size, offset, true);
		at += (size_t)size;
		h->records++;
	}
	memmove(h->out, h->out + at, h->n_out - at);
	h->n_out -= at;
	return true;
}

static bool is_absurd(const struct head *h)
{
	return h->unpacked > UNPACKED_FREE + h->packed * UNPACKED_PER_BYTE ||
	       h->records > RECORDS_FREE + h->packed;
}

static bool unpack_all(struct perf *p, struct head *h, ZSTD_inBuffer *in, uint64_t offset)
{
	for (bool more = true; more;) {
		ZSTD_outBuffer out = { h->out + h->n_out, 2 * RECORD_MAX - h->n_out, 0 };
		size_t status = ZSTD_decompressStream(h->unpack, &out, in);
		if (ZSTD_getErrorCode(status) == ZSTD_error_memory_allocation)
			xout_of_memory();
		if (ZSTD_isError(status)) {
			perf_damaged(p, offset, "it cannot be unpacked");
			return false;
		}
		h->n_out += out.pos;
		h->unpacked += out.pos;
		if (!take_unpacked(p, h, offset))
			return false;
		if (is_absurd(h)) {
			perf_damaged(p, offset, "it would unfold to absurdly much");
			return false;
		}
		more = in->pos < in->size || out.pos == out.size;
	}
	return true;
}

/* All packed records are one stream: if one cannot be unpacked, the rest is lost, too. */
static void unpack(struct perf *p, struct head *h, struct bytes packed, uint64_t offset)
{
	ZSTD_inBuffer in = { packed.pos, bytes_left(&packed), 0 };

	if (!h->unpack) {
		h->unpack = ZSTD_createDStream();
		if (!h->unpack)
			xout_of_memory();
		h->out = xrealloc(NULL, 2 * RECORD_MAX, 1);
	}
	h->packed += in.size;
	if (!unpack_all(p, h, &in, offset))
		h->is_done = true;
}

/* ---- one file ---- */

static uint64_t left(const struct head *h)
{
	uint64_t at = window_offset(h->w), n = window_left(h->w);

	if (at >= h->end)
		return 0;
	return h->end - at < n ? h->end - at : n;
}

/* Skips the payload that follows AUXTRACE and TRACING_DATA records. */
static void skip_payload(struct perf *p, struct head *h, uint64_t n, uint64_t offset)
{
	if (n > left(h)) {
		perf_damaged(p, offset, "its data go beyond the end");
		h->is_done = true;
	} else if (!window_seek(h->w, window_offset(h->w) + n)) {
		h->is_done = true;
	}
}

static void read_record(struct perf *p, struct head *h, uint64_t size, uint64_t offset, bool alone)
{
	const uint8_t *data = h->w->b.pos;
	uint32_t type = perf_u32(p, data);
	uint64_t payload = 0;

	if (type == PERF_R_AUXTRACE && size >= 16)
		payload = perf_u64(p, data + 8);
	if (type == PERF_R_TRACING_DATA && size >= 12)
		payload = ((uint64_t)perf_u32(p, data + 8) + 7) & ~UINT64_C(7);
	if (type == PERF_R_FINISHED_ROUND && p->watcher)
		p->watcher->record(p, data);
	if (type == PERF_R_FINISHED_ROUND)
		end_round(p, h, alone);
	else
		take(p, h, data, (size_t)size, offset, false);
	h->w->b.pos += size;
	if (type == PERF_R_TRACING_DATA && payload <= left(h) &&
	    window_need(h->w, (size_t)payload) >= payload)
		perf_traces_read(p, bytes_of(p->name, h->w->b.pos, (size_t)payload));
	if (payload)
		skip_payload(p, h, payload, offset);
}

/* If perf packed almost 64 KiB, the size does not fit its field, and is computed from another
 * one. */
static uint64_t repair_size(const struct perf *p, const struct head *h, uint64_t size)
{
	const uint8_t *data = h->w->b.pos;

	if (perf_u32(p, data) != PERF_R_COMPRESSED2 || bytes_left(&h->w->b) < 16)
		return size;
	uint64_t packed = perf_u64(p, data + 8), all = (packed + 16 + 7) & ~UINT64_C(7);
	return packed < RECORD_MAX && (uint16_t)all == size ? all : size;
}

/* Whether a whole record is in the window; *size is its size. Records larger than any of perf's
 * (simpleperf's own kinds) are skipped. */
static bool find_record(struct perf *p, struct head *h, uint64_t *size)
{
	uint64_t n = left(h), offset = window_offset(h->w);

	if (!n)
		return false;
	if (n < PERF_RECORD_HEADER || window_need(h->w, 16) < PERF_RECORD_HEADER) {
		perf_damaged(p, offset,
			     "it ends within a record; the recording or the copy did not "
			     "finish");
		return false;
	}
	if (format_recording_begins(h->w->b)) {
		perf_another(p, offset);
		return false;
	}
	*size = repair_size(p, h, size_of(p, h->w->b.pos));
	if (*size < PERF_RECORD_HEADER) {
		perf_damaged(p, offset, "a record shorter than its header");
		return false;
	}
	bool is_large = *size > RECORD_MAX;
	if (*size > n || (!is_large && window_need(h->w, (size_t)*size) < *size)) {
		perf_damaged(p, offset,
			     "it ends within a record; the recording or the copy did not "
			     "finish");
		return false;
	}
	return true;
}

/* Handles a record of the kernel that is in the window as a whole, as most are; otherwise returns
 * false. */
static bool read_at_hand(struct perf *p, struct head *h)
{
	const uint8_t *data = h->w->b.pos;
	size_t n = bytes_left(&h->w->b);
	uint64_t offset = window_offset(h->w);

	if (n < PERF_RECORD_HEADER || perf_u32(p, data) >= PERF_R_USER)
		return false;
	size_t size = perf_u16(p, data + 6);
	if (size < PERF_RECORD_HEADER || size > n || offset >= h->end || size > h->end - offset)
		return false;
	take(p, h, data, size, offset, false);
	h->w->b.pos += size;
	return true;
}

/* Reads to the end of a round if other files must be waited for, else to the end of the file. */
static void read_round(struct perf *p, struct head *h, bool alone)
{
	uint64_t known = h->known, size;

	while (!h->is_done && (alone || h->known == known)) {
		if (read_at_hand(p, h))
			continue;
		if (!find_record(p, h, &size))
			h->is_done = true;
		else if (size > RECORD_MAX)
			h->is_done = !window_seek(h->w, window_offset(h->w) + size);
		else
			read_record(p, h, size, window_offset(h->w), alone);
	}
}

/* ---- all files ---- */

struct heads {
	VEC(struct head) at;
	struct window *windows; /* of all files but the first */
	size_t n_windows;
};

/* data.0, data.1 ... beside a file called "data". */
static char *beside(const char *path, size_t i) { return xprintf("%s.%zu", path, i); }

static void open_beside(struct perf *p, struct heads *heads)
{
	enum { FILES_MAX = 1024 };

	heads->windows = xalloc(FILES_MAX * sizeof(*heads->windows));
	while (heads->n_windows < FILES_MAX) {
		char *path = beside(p->name, heads->n_windows);
		const char *name = arena_printf(&p->arena, "%s", path);
		struct window *w = &heads->windows[heads->n_windows];
		bool good = window_open(w, name);
		if (!good && errno == EMFILE && !p->err)
			p->err = err_os(errno, "%s", name);
		free(path);
		if (!good)
			return;
		heads->n_windows++;
		vec_push(&heads->at, ((struct head){ .w = w, .end = UINT64_MAX }));
	}
}

/* The file of which least is known; NULL if all were read. */
static struct head *least_known(struct heads *heads)
{
	struct head *least = NULL;

	for (size_t i = 0; i < heads->at.n; i++) {
		struct head *h = &heads->at.at[i];
		if (!h->is_done && (!least || h->known < least->known))
			least = h;
	}
	return least;
}

/* Lets the window read into the queue's memory, where waiting records stay. With leaves_only most
 * records do not wait. */
static void head_start(struct perf *p, struct head *h)
{
	h->reader.queue = &p->queue;
	h->room = (struct window_room){ perf_reader_take, &h->reader };
	if (!p->leaves_only)
		window_use_room(h->w, &h->room);
}

static void head_done(struct head *h)
{
	window_use_room(h->w, NULL);
	perf_reader_done(&h->reader);
	ZSTD_freeDStream(h->unpack);
	free(h->out);
}

void perf_records_read(struct perf *p, struct window *w, uint64_t end)
{
	struct heads heads = { 0 };

	vec_push(&heads.at, ((struct head){ .w = w, .end = end }));
	if (p->is_directory && w->fd >= 0)
		open_beside(p, &heads);
	for (size_t i = 0; i < heads.at.n; i++)
		head_start(p, &heads.at.at[i]);
	for (struct head *h; (h = least_known(&heads));) {
		read_round(p, h, heads.at.n == 1);
		struct head *next = least_known(&heads);
		perf_queue_flush(&p->queue, next ? next->known : PERF_NO_TIME, perf_machine_deliver,
				 p);
	}
	/* The file has less data than its header promised. */
	if (end != UINT64_MAX && window_offset(w) < end && !window_left(w))
		perf_damaged(p, window_offset(w),
			     "it ends before its data do; the recording or the "
			     "copy did not finish");
	for (size_t i = 0; i < heads.at.n; i++)
		head_done(&heads.at.at[i]);
	for (size_t i = 0; i < heads.n_windows; i++)
		window_close(&heads.windows[i]);
	free(heads.windows);
	vec_free(&heads.at);
}
