/* jump_values.c - follows constants, bounds and entries of tables through registers. */
#include "unwind/jump_values.h"

static bool has_register(unsigned reg) { return reg < MACHINE_REGISTERS; }

static uint32_t mask_of(unsigned reg) { return has_register(reg) ? UINT32_C(1) << reg : 0; }

static void bound(struct jump_values *v, unsigned reg, int64_t most)
{
	if (most < 0 || most >= JUMP_TABLE_MAX)
		return;
	v->bounded = mask_of(reg);
	for (unsigned i = 0; v->group[reg] && i < MACHINE_REGISTERS; i++)
		if (v->group[i] == v->group[reg])
			v->bounded |= mask_of(i);
	v->most = (uint32_t)most;
}

/* The base that c adds n to: the constant in its register; 0 without a register. */
static bool base_of(const struct jump_values *v, const struct machine_change *c, uint64_t *base)
{
	if (has_register(c->b) && v->kind[c->b] != JUMP_CONST)
		return false;
	*base = has_register(c->b) ? v->is[c->b] : 0;
	return true;
}

/* The table that is indexed in `c`. */
static bool table_of(const struct jump_values *v, const struct machine_change *c,
		     struct jump_table *ret)
{
	uint64_t base;
	if (!(v->bounded & mask_of(c->c)) || !base_of(v, c, &base))
		return false;
	*ret = (struct jump_table){ base + (uint64_t)(int64_t)c->n, base, v->most + 1, c->width };
	return true;
}

static void load_entry(struct jump_values *v, const struct jump_values *old,
		       const struct machine_change *c)
{
	struct jump_table t;
	if (!table_of(old, c, &t))
		return;
	for (unsigned i = 0; i < MACHINE_REGISTERS; i++) /* entries of another table */
		if (v->kind[i] > JUMP_CONST)
			v->kind[i] = JUMP_UNKNOWN;
	v->table = t;
	v->kind[c->a] = t.width == 8 ? JUMP_ENTRY : JUMP_DISTANCE;
}

static void add_base(struct jump_values *v, const struct jump_values *old,
		     const struct machine_change *c)
{
	unsigned a = c->a, b = c->b;
	bool is_distance = old->kind[a] == JUMP_DISTANCE && old->kind[b] == JUMP_CONST;
	if (!is_distance && old->kind[a] == JUMP_CONST && old->kind[b] == JUMP_DISTANCE)
		b = c->a;
	else if (!is_distance)
		return;
	v->table.base = old->is[b];
	v->kind[a] = JUMP_TARGET;
}

/* Register a is a copy of b, which was in `group` before the instruction, and may have another
 * value now. */
static void join_group(struct jump_values *v, unsigned a, unsigned b, uint8_t group)
{
	if (!group && a != b && v->n_groups < UINT8_MAX)
		group = v->group[b] = ++v->n_groups;
	v->group[a] = group;
}

/* A change that copies a register, or its lower bits, which are all of a bounded one. */
static void copy(struct jump_values *v, const struct jump_values *old,
		 const struct machine_change *c)
{
	if (!has_register(c->b) || c->n)
		return;
	if (old->bounded & mask_of(c->b))
		v->bounded |= mask_of(c->a);
	join_group(v, c->a, c->b, old->group[c->b]);
	if (c->kind != CHANGE_SET)
		return;
	v->kind[c->a] = old->kind[c->b];
	v->is[c->a] = old->is[c->b];
}

static void change(struct jump_values *v, const struct jump_values *old,
		   const struct machine_effect *e, const struct machine_change *c)
{
	switch ((enum change_kind)c->kind) {
	case CHANGE_SET:
	case CHANGE_NARROW:
		copy(v, old, c);
		return;
	case CHANGE_CONST:
		v->kind[c->a] = JUMP_CONST;
		v->is[c->a] = e->place;
		return;
	case CHANGE_ADD:
		add_base(v, old, c);
		return;
	case CHANGE_INDEXED:
		load_entry(v, old, c);
		return;
	case CHANGE_MASK:
		bound(v, c->a, c->n);
		return;
	case CHANGE_LOAD:
	case CHANGE_STORE:
		return;
	}
}

/* Mask of the registers that an instruction writes to. */
static uint32_t written(const struct machine_effect *e)
{
	uint32_t mask = e->lost;
	for (unsigned i = 0; i < e->n_changes; i++)
		if (e->change[i].kind != CHANGE_STORE)
			mask |= mask_of(e->change[i].a);
	return mask;
}

void jump_values_apply(const struct machine_effect *e, struct jump_values *v)
{
	uint32_t mask = written(e);
	if (mask) {
		struct jump_values old = *v;
		v->bounded &= ~mask;
		for (unsigned i = 0; i < MACHINE_REGISTERS; i++)
			if (mask >> i & 1)
				v->kind[i] = v->group[i] = 0;
		for (unsigned i = 0; i < e->n_changes; i++)
			if (has_register(e->change[i].a))
				change(v, &old, e, &e->change[i]);
	}
	if (has_register(e->compared)) {
		v->has_compared = true;
		v->compared = e->compared;
		v->compared_to = e->compare_to;
	} else if (!e->keeps_flags || (v->has_compared && mask >> v->compared & 1)) {
		v->has_compared = false;
	}
}

void jump_values_branch(const struct machine_effect *e, bool is_taken, struct jump_values *v)
{
	jump_values_apply(e, v);
	if (v->has_compared && (is_taken ? e->if_most : e->if_more))
		bound(v, v->compared, (int64_t)v->compared_to + e->most);
}

enum jump_value jump_values_target(const struct machine_effect *e, const struct jump_values *v,
				   struct jump_table *table, uint64_t *target)
{
	unsigned reg = e->at.a;
	if (e->is_table) {
		struct machine_change c = e->at;
		c.width = 8;
		return table_of(v, &c, table) ? JUMP_ENTRY : JUMP_UNKNOWN;
	}
	if (!has_register(reg) || v->kind[reg] == JUMP_DISTANCE)
		return JUMP_UNKNOWN;
	*table = v->table;
	*target = v->is[reg];
	return (enum jump_value)v->kind[reg];
}
