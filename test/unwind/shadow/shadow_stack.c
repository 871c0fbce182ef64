/* shadow_stack.c - follows calls, returns, signals and changes of stacks. */
#include "shadow_stack.h"

#include "walks.h"

enum {
	RESERVE = 64 << 10, /* room that code takes by setting the stack pointer, at most */
	/* The kernel's frame of a signal, from the stack pointer that the handler starts with. */
	SIGNAL_SP = 8 + 40 + 8 * 15,
	SIGNAL_PC = 8 + 40 + 8 * 16,
};

enum instruction instruction_at(const uint8_t *code, size_t n)
{
	size_t i = 0;
	uint8_t rex = 0;

	while (i < n && (code[i] == 0x66 || code[i] == 0x67 || code[i] == 0xf2 || code[i] == 0xf3 ||
			 code[i] == 0x2e || code[i] == 0x36 || code[i] == 0x3e || code[i] == 0x26 ||
			 code[i] == 0x64 || code[i] == 0x65))
		i++;
	if (i < n && (code[i] & 0xf0) == 0x40)
		rex = code[i++];
	if (i + 2 > n)
		return DO_OTHER;
	uint8_t op = code[i], modrm = code[i + 1], reg = modrm >> 3 & 7;
	if (op == 0xe8 || (op == 0xff && (reg == 2 || reg == 3)))
		return DO_CALL;
	if (op == 0xff && reg == 4)
		return DO_JUMP;
	if (op == 0xc2 || op == 0xc3)
		return DO_RETURN;
	if (op == 0x0f && modrm == 0x05)
		return DO_SYSCALL;
	bool is_load = modrm < 0xc0;
	if ((op == 0x8b && reg == 4 && !(rex & 4)) || (op == 0x5c && !(rex & 1)) || op == 0x87 ||
	    op == 0x94)
		return op == 0x8b && !is_load ? DO_SET_SP : DO_LOAD_SP;
	if (op == 0x89 && (modrm & 0xc7) == 0xc4 && !(rex & 1))
		return DO_SET_SP;
	if (op == 0x8d && reg == 4 && !(rex & 4) && (modrm & 7) != 4 && (modrm & 7) != 5)
		return DO_SET_SP; /* lea: from other registers than these two */
	return DO_OTHER;
}

static uint64_t peek(uint64_t at)
{
	uint64_t word = 0;
	process_peek(at, &word, sizeof(word));
	return word;
}

/* ---- stacks ---- */

void shadow_clear(struct shadow *s)
{
	for (size_t i = 0; i < s->stacks.n; i++)
		vec_free(&s->stacks.at[i].claimed);
	s->stacks.n = s->words.n = 0;
}

static uint32_t new_stack(struct shadow *s, uint64_t sp, bool whole)
{
	struct stack stack = { .low = sp, .high = sp, .top = NO_WORD, .is_whole = whole };
	vec_push(&s->stacks, stack);
	return (uint32_t)s->stacks.n - 1;
}

void shadow_begin(struct shadow *s, struct shadow_thread *t, const struct user_regs_struct *now,
		  bool whole)
{
	*t = (struct shadow_thread){
		.known = true, .top = NO_WORD, .popped = NO_WORD, .last = *now
	};
	t->stack = new_stack(s, now->rsp, whole);
	s->stacks.at[t->stack].start = now->rip;
}

static void seen_at(struct shadow *s, const struct shadow_thread *t, uint64_t sp)
{
	struct stack *k = &s->stacks.at[t->stack];
	k->low = sp < k->low ? sp : k->low;
	k->high = sp > k->high ? sp : k->high;
}

static void drop_claim(struct stack *k)
{
	k->claimed.n = 0;
	k->has_claim = k->claim_is_whole = false;
}

/* The newest stack that was seen there, or less than `reserve` below the current one. */
static uint32_t find_stack(const struct shadow *s, uint32_t current, uint64_t sp, uint64_t reserve)
{
	const struct stack *k = s->stacks.at;

	if (sp >= k[current].low && sp <= k[current].high)
		return current;
	for (size_t i = s->stacks.n; i-- > 0;)
		if (sp >= k[i].low && sp <= k[i].high)
			return (uint32_t)i;
	return sp < k[current].low && k[current].low - sp < reserve ? current : NO_WORD;
}

/* ---- words ---- */

static void push(struct shadow *s, struct shadow_thread *t, uint64_t at, uint64_t word)
{
	struct pushed p = { .at = at, .word = word, .caller = t->top, .stack = t->stack };
	vec_push(&s->words, p);
	t->top = (uint32_t)s->words.n - 1;
}

/* Takes off what is below the stack pointer. */
static void settle(struct shadow *s, struct shadow_thread *t, uint64_t sp)
{
	while (t->top != NO_WORD && s->words.at[t->top].stack == t->stack &&
	       s->words.at[t->top].at < sp)
		t->top = s->words.at[t->top].caller;
}

static void change_stack(struct shadow *s, struct shadow_thread *t, uint64_t sp, uint64_t reserve)
{
	uint32_t to = find_stack(s, t->stack, sp, reserve);
	if (to == t->stack) {
		uint32_t before = t->top;
		settle(s, t, sp);
		if (t->top == NO_WORD && before != NO_WORD) /* the claim may begin further out */
			drop_claim(&s->stacks.at[to]);
		t->has_skipped |= sp > t->last.rsp && t->top == NO_WORD;
		return;
	}
	s->stacks.at[t->stack].top = t->top;
	t->stack = to == NO_WORD ? new_stack(s, sp, false) : to;
	t->top = s->stacks.at[t->stack].top;
	t->has_changed = true;
	settle(s, t, sp);
}

/* ---- signals ---- */

/* Whether the kernel has put the frame of a signal there. */
static bool is_signal_frame(const struct shadow_thread *t, uint64_t sp)
{
	return peek(sp + SIGNAL_SP) == t->last.rsp;
}

static void enter_handler(struct shadow *s, struct shadow_thread *t,
			  const struct user_regs_struct *now)
{
	uint64_t sp = now->rsp;

	s->stacks.at[t->stack].top = t->top;
	if (sp > t->last.rsp || t->last.rsp - sp > RESERVE) { /* on a stack of its own */
		uint32_t to = find_stack(s, t->stack, sp, 0);
		t->stack = to == NO_WORD || to == t->stack ? new_stack(s, sp, false) : to;
	}
	seen_at(s, t, sp + SIGNAL_PC);
	push(s, t, sp + SIGNAL_PC, peek(sp + SIGNAL_PC));
	push(s, t, sp, peek(sp));
}

/* Back from a handler: to where the kernel's frame said. Programs may change that frame, as Go does
 * to insert a call. */
static void leave_handler(struct shadow *s, struct shadow_thread *t,
			  const struct user_regs_struct *now)
{
	uint64_t interrupted = 0;

	if (t->top != NO_WORD && s->words.at[t->top].at == t->last.rsp + SIGNAL_PC - 8) {
		const struct pushed *p = &s->words.at[t->top];
		interrupted = p->word;
		t->top = p->caller;
		if (t->top != NO_WORD)
			t->stack = s->words.at[t->top].stack;
		else
			t->stack = find_stack(s, t->stack, now->rsp, 0);
		if (t->stack == NO_WORD)
			t->stack = new_stack(s, now->rsp, false);
	}
	change_stack(s, t, now->rsp, 0);
	if (interrupted && peek(now->rsp) == interrupted && now->rip != interrupted)
		push(s, t, now->rsp, interrupted);
}

/* ---- words taken off by hand ---- */

/* The function took its return address off with "pop". */
static void note_popped(const struct shadow *s, struct shadow_thread *t,
			const struct user_regs_struct *now)
{
	if (t->top != NO_WORD && s->words.at[t->top].at == t->last.rsp &&
	    now->rsp == t->last.rsp + 8)
		t->popped = t->top;
}

/* SBCL's functions have "pop 8(%rbp)", which moves it to where frame pointers expect it. */
static void follow_popped(struct shadow *s, struct shadow_thread *t,
			  const struct user_regs_struct *now)
{
	uint64_t to = now->rbp + 8, word;

	if (t->popped == NO_WORD || to < now->rsp || to - now->rsp > RESERVE)
		return;
	word = s->words.at[t->popped].word;
	if (peek(to) != word)
		return;
	push(s, t, to, word);
	t->popped = NO_WORD;
}

/* Whether the function has put its stack pointer below that word again, and it is still there. */
static bool takes_back(const struct shadow *s, struct shadow_thread *t, uint64_t sp)
{
	if (t->popped == NO_WORD)
		return false;
	const struct pushed *p = &s->words.at[t->popped];
	if (sp > p->at || p->caller != t->top || peek(p->at) != p->word)
		return false;
	t->top = t->popped;
	t->popped = NO_WORD;
	return true;
}

/* ---- steps ---- */

/* Through a word that no call was seen to push: to the base's caller, or a jump. */
static bool return_beyond(struct shadow *s, struct shadow_thread *t, uint64_t to)
{
	struct stack *k = &s->stacks.at[t->stack];

	if (t->top != NO_WORD || !k->has_claim)
		return false;
	if (!k->claimed.n || k->claimed.at[0] != to) {
		s->refuted += k->claimed.n != 0;
		drop_claim(k);
		return false;
	}
	s->confirmed++;
	for (size_t i = 1; i < k->claimed.n; i++)
		k->claimed.at[i - 1] = k->claimed.at[i];
	k->claimed.n--;
	return true;
}

static enum left do_return(struct shadow *s, struct shadow_thread *t,
			   const struct user_regs_struct *now)
{
	bool is_known = t->top != NO_WORD && s->words.at[t->top].at == t->last.rsp &&
			s->words.at[t->top].word == now->rip;
	bool is_return = is_known || return_beyond(s, t, now->rip);

	settle(s, t, now->rsp);
	return is_return ? LEFT_BY_RETURN : LEFT_BY_WORD;
}

/* What lies on a new stack below a function that was called on another are no callers of it. */
static void do_call(struct shadow *s, struct shadow_thread *t, uint64_t sp)
{
	if (t->has_changed) {
		t->stack = new_stack(s, sp, false);
		t->top = NO_WORD;
	}
	t->has_changed = false;
	push(s, t, sp, peek(sp));
}

enum left shadow_step(struct shadow *s, struct shadow_thread *t, const struct user_regs_struct *now,
		      enum instruction did, bool signalled)
{
	enum left ret = LEFT_NOT;
	bool moved = now->rsp != t->last.rsp;

	if (signalled && is_signal_frame(t, now->rsp))
		enter_handler(s, t, now);
	else if (did == DO_SYSCALL && moved)
		leave_handler(s, t, now);
	else if (did == DO_CALL && now->rsp == t->last.rsp - 8)
		do_call(s, t, now->rsp);
	else if (did == DO_RETURN)
		ret = do_return(s, t, now);
	else if ((did == DO_SET_SP || did == DO_LOAD_SP) && moved)
		change_stack(s, t, now->rsp, did == DO_SET_SP ? RESERVE : 0);
	else if (moved && takes_back(s, t, now->rsp))
		ret = LEFT_BY_WORD;
	else if (moved) {
		note_popped(s, t, now);
		settle(s, t, now->rsp);
		follow_popped(s, t, now);
	}
	if (did == DO_JUMP && t->has_skipped)
		drop_claim(&s->stacks.at[t->stack]);
	if (did == DO_RETURN || did == DO_JUMP || did == DO_SYSCALL)
		t->has_changed = t->has_skipped = false;
	if (did == DO_RETURN || did == DO_CALL || did == DO_SYSCALL)
		t->popped = NO_WORD;
	seen_at(s, t, now->rsp);
	t->last = *now;
	return ret;
}
