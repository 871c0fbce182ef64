/* rt_counts.c - counts executions of basic blocks, in slots of the mapped file. */
#include "rt.h"

enum { FIRST_SLOTS = 1024 };

static struct kinf_count *slot_at(void *table, uint64_t offset)
{
	return (struct kinf_count *)((uint8_t *)table + offset);
}

/* Counts one execution of the basic block at `addr`. The hooks call it if they find no slot. */
void rt_count(uint64_t addr)
{
	const struct rt_module *module;
	struct rt_own *own;
	uint64_t at;
	void *table;

	if (!rt.options.blocks && rt.state != RT_NEW)
		return;
	if (!rt_ready())
		return;
	module = rt_module_learn(addr);
	table = rt_table_with_room(&(struct rt_table){ KINF_COUNTS, sizeof(struct kinf_count),
						       FIRST_SLOTS, &rt_tls.counts,
						       offsetof(struct rt_thread, counts) });
	if (!table) {
		rt_lose(KINF_LOST_BLOCKS, 1);
		return;
	}
	own = rt_own(rt_block_of(table));
	if (module && module->transient)
		own->transient = true;
	for (at = rt_hash(addr, 0) & own->mask;;
	     at = (at + RT_STRIDE * sizeof(struct kinf_count)) & own->mask) {
		struct kinf_count *s = slot_at(table, at);
		uint64_t unused = 0;

		if (!s->addr && __atomic_compare_exchange_n(&s->addr, &unused, addr, false,
							    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			count_one(&own->used);
		if (s->addr == addr) {
			count_one(&s->count);
			return;
		}
	}
}

/* clang's code skips a guard that is 0, so guards get numbers; blocks are identified by address. */
RT_EXPORT void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *end);
void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *end)
{
	static uint32_t n;

	if (start == end || *start)
		return;
	while (start < end)
		*start++ = ++n;
}
