/* exits.c - where the code of a function goes on in other functions, read from its bytes. */
#include "object/object_private.h"

bool object_call_before(const struct object_file *o, uint64_t addr, uint64_t *target)
{
	const struct machine *m = object_has_code(o) ? object_kind(o) : NULL;
	size_t n = 0;
	const uint8_t *code = m ? object_code_before(o, addr, &n) : NULL;

	for (; n; n--, code++)
		if (m->call_at(code, n, addr - n, target) == n)
			return true;
	return false;
}

/* Whether the word at the top of the stack is the code's own after an instruction: returning then
 * is a jump to anywhere, as in retpolines. */
static bool sets_top(const struct machine *m, const struct machine_effect *e, bool was_set)
{
	for (unsigned i = 0; i < e->n_changes; i++) {
		const struct machine_change *c = &e->change[i];
		if (c->kind == CHANGE_STORE && c->b == m->sp)
			was_set |= !c->n;
		else if (c->kind != CHANGE_STORE && c->a == m->sp)
			was_set = false;
	}
	return was_set;
}

/* Returns the size of the instruction; 0: it is not known. */
static size_t step_at(const struct machine *m, const uint8_t *code, size_t size, uint64_t addr,
		      struct machine_step *ret, bool *is_top_set)
{
	machine_effect_decoder *effects = machine_effects(m);
	struct machine_effect e = { 0 };

	*ret = (struct machine_step){ 0 };
	if (effects) {
		bool known = effects(code, size, addr, &e);
		*ret = (struct machine_step){ .target = e.target, .kind = e.kind };
		*is_top_set = sets_top(m, &e, *is_top_set);
		return known ? e.size : 0;
	}
	size_t n = m->length ? m->length(code, size) : 0;
	if (n && n <= size)
		m->step(code, n, addr, ret);
	return n <= size ? n : 0;
}

bool object_tail_calls(const struct object_file *o, uint64_t low, uint64_t high,
		       void (*add)(uint64_t site, uint64_t target, void *arg), void *arg)
{
	const struct machine *m = object_has_code(o) ? object_kind(o) : NULL;
	size_t size = 0, n;
	const uint8_t *code = m ? object_code_part(o, low, high - low, &size) : NULL;
	struct machine_step step = { 0 };
	bool is_top_set = false;

	if (!code || size < high - low)
		return false;
	for (uint64_t at = low; at < high; at += n) {
		n = step_at(m, code + (at - low), (size_t)(high - at), at, &step, &is_top_set);
		if (!n || step.kind == STEP_SWITCH || (step.kind == STEP_RETURN && is_top_set))
			return false;
		bool jumps = step.kind == STEP_JUMP || step.kind == STEP_BRANCH;
		if (jumps && (step.target < low || step.target >= high))
			add(at, step.target, arg);
	}
	return step.kind != STEP_ON && step.kind != STEP_BRANCH;
}

bool object_returns_from_signal(const struct object_file *o, uint64_t addr)
{
	const struct machine *m = object_has_code(o) ? object_kind(o) : NULL;
	size_t size = 0;
	const uint8_t *code = m && m->is_sigreturn
				      ? object_code_part(o, addr, 2 * MACHINE_CALL_MAX, &size)
				      : NULL;
	return code && m->is_sigreturn(code, size);
}
