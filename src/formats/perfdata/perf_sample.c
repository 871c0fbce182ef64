/* perf_sample.c - parses one sample, field by field, in the order in which the kernel writes
 * them. */
#include "formats/perfdata/perf_sample.h"

#include "base/base.h"
#include "formats/perfdata/perf_format.h"

/* Places the fields of one word each, which come first and in this order. */
void perf_sample_layout_place(struct perf_sample_layout *l)
{
	const struct {
		uint64_t field;
		int *at; /* NULL: not used */
	} fixed[] = {
		{ PERF_IDENTIFIER, &l->id },
		{ PERF_IP, &l->ip },
		{ PERF_TID, &l->tid },
		{ PERF_TIME, &l->time },
		{ PERF_ADDR, &l->addr },
		{ PERF_ID, l->sample_type & PERF_IDENTIFIER ? NULL : &l->id },
		{ PERF_STREAM_ID, NULL },
		{ PERF_CPU, &l->cpu },
		{ PERF_PERIOD, &l->period },
	};
	uint64_t others = l->sample_type;
	int at = PERF_RECORD_HEADER;

	for (size_t i = 0; i < ARRAY_LEN(fixed); i++) {
		bool is_there = l->sample_type & fixed[i].field;
		if (fixed[i].at)
			*fixed[i].at = is_there ? at : -1;
		at += is_there ? 8 : 0;
		others &= ~fixed[i].field;
	}
	l->fixed = (size_t)at - PERF_RECORD_HEADER;
	l->is_plain = !(others & ~PERF_CALLCHAIN);
}

static void read_read(const struct perf_sample_layout *l, struct bytes *b, struct perf_sample *s)
{
	uint64_t f = l->read_format;
	uint64_t times = (f & PERF_READ_ENABLED ? 1 : 0) + (f & PERF_READ_RUNNING ? 1 : 0);
	uint64_t each = 1 + (f & PERF_READ_ID ? 1 : 0) + (f & PERF_READ_LOST ? 1 : 0);
	uint64_t words = times + each;

	if (f & PERF_READ_GROUP) {
		struct bytes ahead = *b;
		uint64_t n = bytes_u64(&ahead);
		if (n > bytes_left(b) / 8) {
			bytes_fail(b);
			return;
		}
		words = 1 + times + n * each;
	}
	s->read = bytes_take(b, (size_t)words * 8);
}

/* Takes n items of `size` bytes. */
static const uint8_t *take_array(struct bytes *b, uint64_t n, size_t size)
{
	if (n > bytes_left(b) / size) {
		bytes_fail(b);
		return NULL;
	}
	return bytes_take(b, (size_t)n * size).pos;
}

static void read_branches(const struct perf_sample_layout *l, struct bytes *b,
			  struct perf_sample *s)
{
	uint64_t n = bytes_u64(b);

	if (l->branch_type & PERF_BRANCH_HW_INDEX)
		bytes_u64(b);
	const uint8_t *at = take_array(b, n, 24);
	if (l->branch_type & PERF_BRANCH_COUNTERS)
		take_array(b, n, 8);
	if (!at)
		return;
	if (l->branch_type & PERF_BRANCH_CALL_STACK) {
		s->branches = at;
		s->n_branches = (size_t)n;
	} else {
		s->taken = at;
		s->n_taken = (size_t)n;
	}
}

static struct perf_registers read_registers(struct bytes *b, uint64_t mask)
{
	struct perf_registers r = { .abi = bytes_u64(b), .mask = mask };

	if (r.abi)
		r.values = take_array(b, (uint64_t)__builtin_popcountll(mask), 8);
	return r;
}

static void read_stack(struct bytes *b, struct perf_sample *s)
{
	uint64_t size = bytes_u64(b);

	if (!size)
		return;
	s->stack = take_array(b, size, 1);
	uint64_t used = bytes_u64(b); /* bytes that were copied; the rest is unset */
	s->stack_size = s->stack ? (size_t)(used < size ? used : size) : 0;
	s->stack_full = s->stack && used >= size;
}

/* The cost of an access is one number, or three. */
static void read_weight(const struct perf_sample_layout *l, struct bytes *b, struct perf_sample *s)
{
	uint64_t weight = bytes_u64(b);

	s->weight = weight;
	if (!(l->sample_type & PERF_WEIGHT_STRUCT))
		return;
	s->weight = (uint32_t)weight;
	s->ins_lat = (uint16_t)(weight >> 32);
	s->p_stage_cyc = (uint16_t)(weight >> 48);
}

static void read_details(const struct perf_sample_layout *l, struct bytes *b, struct perf_sample *s)
{
	uint64_t t = l->sample_type;

	if (t & (PERF_WEIGHT | PERF_WEIGHT_STRUCT))
		read_weight(l, b, s);
	if (t & PERF_DATA_SRC)
		s->data_src = bytes_u64(b);
	if (t & PERF_TRANSACTION)
		s->transaction = bytes_u64(b);
	if (t & PERF_REGS_INTR)
		s->interrupt = read_registers(b, l->regs_intr);
	if (t & PERF_PHYS_ADDR)
		s->phys_addr = bytes_u64(b);
	if (t & PERF_CGROUP)
		s->cgroup = bytes_u64(b);
	if (t & PERF_DATA_PAGE_SIZE)
		s->data_page_size = bytes_u64(b);
	if (t & PERF_CODE_PAGE_SIZE)
		s->code_page_size = bytes_u64(b);
	if (t & PERF_AUX)
		bytes_skip(b, bytes_u64(b));
}

/* ---- IDENTIFIER .. PERIOD: the record has all of them, a word each ---- */

static uint64_t fixed_u64(const struct perf_sample_layout *l, const uint8_t *record, int at,
			  uint64_t missing)
{
	return at > 0 ? bytes_load(record + at, 8, l->swap) : missing;
}

static uint32_t fixed_u32(const struct perf_sample_layout *l, const uint8_t *record, int at,
			  uint32_t missing)
{
	return at > 0 ? (uint32_t)bytes_load(record + at, 4, l->swap) : missing;
}

/* Reads all of them but ADDR. Inlined: if only the leaf is wanted, this takes half of a sample's
 * time. */
static inline __attribute__((always_inline)) void
read_fixed(const struct perf_sample_layout *l, const uint8_t *record, struct perf_sample *s)
{
	s->mode = (unsigned)bytes_load(record + 4, 2, l->swap) & PERF_MODE_MASK;
	s->ip = fixed_u64(l, record, l->ip, 0);
	s->pid = fixed_u32(l, record, l->tid, 0);
	s->tid = fixed_u32(l, record + 4, l->tid, 0);
	s->time = fixed_u64(l, record, l->time, PERF_NO_TIME);
	s->cpu = fixed_u32(l, record, l->cpu, NONE);
	s->period = fixed_u64(l, record, l->period, l->default_period);
}

bool perf_sample_is_deferred(const struct perf_sample *s, bool swap)
{
	return s->n_chain >= 2 &&
	       bytes_load(s->chain + 8 * (s->n_chain - 2), 8, swap) == PERF_CONTEXT_USER_DEFERRED;
}

bool perf_sample_parse_chain(const struct perf_sample_layout *l, const uint8_t *record, size_t size,
			     struct perf_sample *ret)
{
	size_t at = PERF_RECORD_HEADER + l->fixed + 8;

	if (!l->is_plain || !(l->sample_type & PERF_CALLCHAIN) || size < at)
		return false;
	ret->chain = record + at;
	ret->n_chain = (size - at) / 8;
	if (bytes_load(record + at - 8, 8, l->swap) != ret->n_chain ||
	    perf_sample_is_deferred(ret, l->swap))
		return false;
	read_fixed(l, record, ret);
	return true;
}

bool perf_sample_parse(const struct perf_sample_layout *l, const uint8_t *record, size_t size,
		       bool details, struct perf_sample *ret)
{
	struct bytes b = bytes_of(NULL, record, size);
	uint64_t t = l->sample_type;

	b.swap = l->swap;
	b.pos += PERF_RECORD_HEADER;
	if (bytes_left(&b) < l->fixed)
		return false;
	*ret = (struct perf_sample){ .fields = t, .addr = fixed_u64(l, record, l->addr, 0) };
	read_fixed(l, record, ret);
	b.pos += l->fixed;
	if (t & PERF_READ)
		read_read(l, &b, ret);
	if (t & PERF_CALLCHAIN) {
		uint64_t n = bytes_u64(&b);
		ret->chain = take_array(&b, n, 8);
		ret->n_chain = ret->chain ? (size_t)n : 0;
	}
	if (l->is_plain) {
		ret->is_longer = !b.failed && bytes_left(&b) >= 8;
		return !b.failed;
	}
	if (t & PERF_RAW)
		ret->raw = bytes_take(&b, bytes_u32(&b));
	if (t & PERF_BRANCH_STACK)
		read_branches(l, &b, ret);
	if (t & PERF_REGS_USER)
		ret->user = read_registers(&b, l->regs_user);
	if (t & PERF_STACK_USER)
		read_stack(&b, ret);
	bool failed = b.failed; /* the following fields do not concern stacks */
	read_details(l, &b, ret);
	ret->is_longer = !b.failed && !(t & ~PERF_SAMPLE_FIELDS) && bytes_left(&b) >= 8;
	return !failed && (!details || !b.failed);
}
