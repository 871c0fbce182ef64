/* perf_sample.c - one sample, field by field, in the order in which the kernel writes them. */
#include "formats/perfdata/perf.h"

static void read_read(const struct perf_attr *a, struct bytes *b, struct perf_sample *s)
{
	uint64_t f = a->read_format;
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

/* n items of `size` bytes. */
static const uint8_t *take_array(struct bytes *b, uint64_t n, size_t size)
{
	if (n > bytes_left(b) / size) {
		bytes_fail(b);
		return NULL;
	}
	return bytes_take(b, (size_t)n * size).pos;
}

static void read_branches(const struct perf_attr *a, struct bytes *b, struct perf_sample *s)
{
	uint64_t n = bytes_u64(b);

	if (a->branch_type & PERF_BRANCH_HW_INDEX)
		bytes_u64(b);
	const uint8_t *at = take_array(b, n, 24);
	if (a->branch_type & PERF_BRANCH_COUNTERS)
		take_array(b, n, 8);
	if (!at)
		return;
	if (a->branch_type & PERF_BRANCH_CALL_STACK) {
		s->branches = at;
		s->n_branches = (size_t)n;
	} else {
		s->taken = at;
		s->n_taken = (size_t)n;
	}
}

/* One per bit of the mask; NULL: none. */
static const uint8_t *read_regs(uint64_t mask, struct bytes *b, uint64_t *abi)
{
	*abi = bytes_u64(b);
	return *abi ? take_array(b, (uint64_t)__builtin_popcountll(mask), 8) : NULL;
}

static void read_stack(struct bytes *b, struct perf_sample *s)
{
	uint64_t size = bytes_u64(b);

	if (!size)
		return;
	s->stack = take_array(b, size, 1);
	uint64_t used = bytes_u64(b); /* the rest is not the program's */
	s->stack_size = s->stack ? (size_t)(used < size ? used : size) : 0;
}

/* perf's off-CPU event: {pid, tid}, nanoseconds, call chain, cgroup. */
static void read_off_cpu(const struct perf *p, struct bytes raw, struct perf_sample *s)
{
	s->pid = bytes_u32(&raw);
	s->tid = bytes_u32(&raw);
	s->period = bytes_u64(&raw);
	uint64_t n = bytes_u64(&raw);
	s->chain = take_array(&raw, n, 8);
	s->n_chain = s->chain ? (size_t)n : 0;
	if (s->n_chain > 1)
		s->ip = perf_u64(p, s->chain + 8);
	s->mode = PERF_MODE_USER;
}

static void read_raw(const struct perf *p, const struct perf_attr *a, struct bytes *b,
		     struct perf_sample *s)
{
	uint32_t size = bytes_u32(b);
	struct bytes raw = bytes_take(b, size);

	s->raw = raw;
	if (a->off_cpu_raw && !b->failed)
		read_off_cpu(p, raw, s);
}

/* The cost of an access is one number, or three, from the lowest bits on: 32, 16, 16. */
static void read_weight(const struct perf_attr *a, struct bytes *b, struct perf_sample *s)
{
	uint64_t weight = bytes_u64(b);

	s->weight = weight;
	if (!(a->sample_type & PERF_WEIGHT_STRUCT))
		return;
	s->weight = (uint32_t)weight;
	s->ins_lat = (uint16_t)(weight >> 32);
	s->p_stage_cyc = (uint16_t)(weight >> 48);
}

static void read_details(const struct perf_attr *a, struct bytes *b, struct perf_sample *s)
{
	uint64_t t = a->sample_type;

	if (t & (PERF_WEIGHT | PERF_WEIGHT_STRUCT))
		read_weight(a, b, s);
	if (t & PERF_DATA_SRC)
		s->data_src = bytes_u64(b);
	if (t & PERF_TRANSACTION)
		s->transaction = bytes_u64(b);
	if (t & PERF_REGS_INTR)
		s->intr_regs = read_regs(a->regs_intr, b, &s->intr_regs_abi);
	if (t & PERF_PHYS_ADDR)
		s->phys_addr = bytes_u64(b);
	if (t & PERF_CGROUP)
		s->cgroup = bytes_u64(b);
	if (t & PERF_DATA_PAGE_SIZE)
		s->data_page_size = bytes_u64(b);
	if (t & PERF_CODE_PAGE_SIZE)
		s->code_page_size = bytes_u64(b);
	if (t & PERF_AUX)
		bytes_take(b, (size_t)bytes_u64(b));
}

/* ---- IDENTIFIER .. PERIOD: the record has all of them, a word each ---- */

/* 0 where it is not there. */
static uint64_t fixed_u64(const struct perf *p, const uint8_t *record, int at)
{
	return at > 0 ? perf_u64(p, record + at) : 0;
}

static uint32_t fixed_u32(const struct perf *p, const uint8_t *record, int at)
{
	return at > 0 ? perf_u32(p, record + at) : 0;
}

static uint32_t fixed_cpu(const struct perf *p, const struct perf_attr *a, const uint8_t *record)
{
	return a->sample_cpu > 0 ? perf_u32(p, record + a->sample_cpu) : NONE;
}

static uint64_t fixed_period(const struct perf *p, const struct perf_attr *a, const uint8_t *record)
{
	if (a->sample_period > 0)
		return perf_u64(p, record + a->sample_period);
	if (a->frequency)
		return a->unit == EVENT_NS ? 1000000000 / a->frequency : 1;
	return a->period;
}

static void read_fixed(const struct perf *p, const struct perf_attr *a, const uint8_t *record,
		       struct perf_sample *s)
{
	s->ip = fixed_u64(p, record, a->sample_ip);
	s->pid = fixed_u32(p, record, a->sample_tid);
	s->tid = fixed_u32(p, record, a->sample_tid > 0 ? a->sample_tid + 4 : -1);
	s->time = a->sample_time > 0 ? perf_u64(p, record + a->sample_time) : PERF_NO_TIME;
	s->addr = fixed_u64(p, record, a->sample_addr);
	s->cpu = fixed_cpu(p, a, record);
	s->period = fixed_period(p, a, record);
	s->mode = perf_u16(p, record + 4) & PERF_MODE_MASK;
}

/* As the stack of the chain begins: the sample's own address, if it is not 0, may be more precise.
 */
static bool find_leaf(const struct perf *p, uint64_t own_ip, const uint8_t *chain, uint64_t n,
		      struct perf_leaf_sample *ret)
{
	enum { FIRST = 4 }; /* marks and addresses that are looked at */
	unsigned mode = ret->own;

	for (size_t i = 0; i < FIRST && i < n; i++) {
		uint64_t ip = perf_u64(p, chain + 8 * i);
		if (ip >= PERF_CONTEXT_MAX) {
			mode = perf_mode_of_marker(ip, mode);
			continue;
		}
		if (own_ip && own_ip != ip) { /* mode: only the callers in user code are there */
			mode = ret->own;
			ip = own_ip;
		}
		ret->ip = ip;
		ret->mode = (uint8_t)mode;
		return true;
	}
	return false;
}

/* The chain of a sample that has nothing behind it; false: it has, or is damaged. */
static bool find_chain(const struct perf *p, const struct perf_attr *a, const uint8_t *record,
		       size_t size, const uint8_t **chain, size_t *n)
{
	size_t at = PERF_RECORD_HEADER + a->fixed + 8;

	if (!a->is_plain || !(a->sample_type & PERF_CALLCHAIN) || size < at)
		return false;
	*chain = record + at;
	*n = (size - at) / 8;
	return perf_u64(p, *chain - 8) == *n &&
	       (*n < 2 || perf_u64(p, *chain + 8 * (*n - 2)) != PERF_CONTEXT_USER_DEFERRED);
}

bool perf_sample_parse_chain(const struct perf *p, const struct perf_attr *a, const uint8_t *record,
			     size_t size, struct perf_chain_sample *ret)
{
	if (!find_chain(p, a, record, size, &ret->chain.at, &ret->chain.n))
		return false;
	ret->chain.ip = fixed_u64(p, record, a->sample_ip);
	ret->chain.mode = perf_u16(p, record + 4) & PERF_MODE_MASK;
	ret->time = a->sample_time > 0 ? perf_u64(p, record + a->sample_time) : PERF_NO_TIME;
	ret->period = fixed_period(p, a, record);
	ret->pid = fixed_u32(p, record, a->sample_tid);
	ret->tid = fixed_u32(p, record, a->sample_tid > 0 ? a->sample_tid + 4 : -1);
	ret->cpu = fixed_cpu(p, a, record);
	return true;
}

bool perf_sample_parse_leaf(const struct perf *p, const struct perf_attr *a, const uint8_t *record,
			    size_t size, struct perf_leaf_sample *ret)
{
	const uint8_t *chain;
	size_t n;

	/* The stacks of threads at switches need whole samples. */
	if (p->machine.has_switches || p->details.by_branch ||
	    !find_chain(p, a, record, size, &chain, &n))
		return false;
	ret->period = fixed_period(p, a, record);
	ret->pid = fixed_u32(p, record, a->sample_tid);
	ret->tid = fixed_u32(p, record, a->sample_tid > 0 ? a->sample_tid + 4 : -1);
	ret->cpu = fixed_cpu(p, a, record);
	ret->attr = (uint16_t)(a - p->attrs.at.at);
	ret->own = (uint8_t)(perf_u16(p, record + 4) & PERF_MODE_MASK);
	return find_leaf(p, fixed_u64(p, record, a->sample_ip), chain, n, ret);
}

bool perf_sample_parse(const struct perf *p, const struct perf_attr *a, const uint8_t *record,
		       size_t size, bool details, struct perf_sample *ret)
{
	struct bytes b = bytes_of(p->name, record, size);
	uint64_t t = a->sample_type;

	b.swap = p->swap;
	b.pos += PERF_RECORD_HEADER;
	if (bytes_left(&b) < a->fixed)
		return false;
	*ret = (struct perf_sample){ 0 };
	read_fixed(p, a, record, ret);
	b.pos += a->fixed;
	if (t & PERF_READ)
		read_read(a, &b, ret);
	if (t & PERF_CALLCHAIN) {
		uint64_t n = bytes_u64(&b);
		ret->chain = take_array(&b, n, 8);
		ret->n_chain = ret->chain ? (size_t)n : 0;
	}
	if (a->is_plain) {
		ret->is_longer = !b.failed && bytes_left(&b) >= 8;
		return !b.failed;
	}
	if (t & PERF_RAW)
		read_raw(p, a, &b, ret);
	if (t & PERF_BRANCH_STACK)
		read_branches(a, &b, ret);
	if (t & PERF_REGS_USER)
		ret->regs = read_regs(a->regs_user, &b, &ret->regs_abi);
	if (t & PERF_STACK_USER)
		read_stack(&b, ret);
	bool failed = b.failed; /* what follows is not about stacks */
	read_details(a, &b, ret);
	ret->is_longer = !b.failed && !(t & ~PERF_SAMPLE_FIELDS) && bytes_left(&b) >= 8;
	return !failed && (!details || !b.failed);
}
