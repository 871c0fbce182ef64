/* Recent samples: new ones have their full weight, older ones less and less. */
#include "tap.h"

#include "lib/program_bias.h"
#include "live/fade.h"
#include "live/tally.h"

static strid add_string(struct profile_builder *b, const char *s)
{
	return profile_add_string(b, s, strlen(s));
}

/* "a" is called by main, in a thread of the number. */
static void add(struct profile_builder *b, const char *function, uint32_t tid, uint64_t weight)
{
	objid o = profile_add_object_of(b, "/not/there", "", OBJECT_ELF, true);
	struct frame caller = { .object = o, .addr = 0x1000, .name = add_string(b, "main") };
	struct frame leaf = { .object = o, .addr = 0x2000, .name = add_string(b, function) };
	struct sample s = { .count = 1, .weight = weight, .cpu = 1, .time_ns = 5 };

	s.stack = profile_add_stack(b, 0, profile_add_frame(b, caller));
	s.stack = profile_add_stack(b, s.stack, profile_add_frame(b, leaf));
	s.task = profile_add_task(
		b, (struct task){ .pid = 1, .tid = tid, .comm = add_string(b, "prog") });
	s.event = profile_add_event(
		b, (struct event){ .name = add_string(b, "cpu-clock"), .unit = EVENT_NS });
	profile_add_sample(b, s);
}

static uint64_t weight_of(const struct profile *p, const char *function, uint32_t tid)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < p->samples.n; i++) {
		const struct sample *s = &p->samples.at[i];
		frameid leaf = p->samples.stacks[s->stack].frame;
		const char *name = strtab_get(p->strings, p->samples.frames[leaf].name);
		if (!strcmp(name, function) && p->samples.tasks[s->task].tid == tid)
			sum += s->weight;
	}
	return sum;
}

static struct profile *fresh(uint64_t a, uint64_t b_in_1, uint64_t b_in_2)
{
	struct profile_builder *b = profile_builder_new();

	for (int i = 0; i < 2; i++)
		if (a)
			add(b, "a", 1, a / 2);
	if (b_in_1)
		add(b, "b", 1, b_in_1);
	if (b_in_2)
		add(b, "b", 2, b_in_2);
	profile_audit(b)->lost = 3;
	return profile_finish(b);
}

static struct profile *faded(const struct profile *past, double keep, const struct profile *fresh,
			     struct names *n, bool no_inlines)
{
	return fade(past, keep, fresh,
		    &(struct fade_naming){ .names = n, .no_inlines = no_inlines });
}

static void old_ones_fade(struct names *n)
{
	struct profile *f = fresh(8000, 4000, 2000), *g = fresh(0, 1000, 0);
	struct profile *one = faded(NULL, 1, f, n, false), *two = faded(one, 0.5, g, n, false);

	OK(one->samples.n == 3); /* equal ones are one */
	OK(weight_of(one, "a", 1) == 8000 && weight_of(one, "b", 2) == 2000);
	OK(one->samples.audit.lost == 3);
	OK(weight_of(two, "a", 1) == 4000);
	OK(weight_of(two, "b", 1) == 2000 + 1000);
	OK(weight_of(two, "b", 2) == 1000);
	OK(two->samples.audit.lost == 6);
	OK(two->samples.at[0].time_ns == 0 && two->samples.at[0].cpu == CPU_NONE);
	profile_free(f);
	profile_free(g);
	profile_free(one);
	profile_free(two);
}

static void what_is_gone_is_gone(struct names *n)
{
	struct profile *f = fresh(8000, 4000, 2000), *nothing = fresh(0, 0, 0);
	struct profile *p = faded(NULL, 1, f, n, false);
	size_t before = p->samples.n_stacks;

	for (int i = 0; i < 200; i++) {
		struct profile *next = faded(p, 7.0 / 8, nothing, n, false);
		OK(next->samples.n_stacks <= before);
		before = next->samples.n_stacks;
		profile_free(p);
		p = next;
	}
	OK(p->samples.n == 0);
	OK(p->samples.n_stacks == 1); /* nothing but the empty one */
	profile_free(p);
	profile_free(f);
	profile_free(nothing);
}

static uint64_t count_of(const struct profile *p)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < p->samples.n; i++)
		sum += p->samples.at[i].count;
	return sum;
}

/* A hundred threads with a sample each: a half of them is fifty. */
static void numbers_fade(struct names *n)
{
	struct profile_builder *b = profile_builder_new();

	for (uint32_t i = 0; i < 100; i++)
		add(b, "a", i + 1, 1000);
	struct profile *f = profile_finish(b), *nothing = fresh(0, 0, 0);
	struct profile *one = faded(NULL, 1, f, n, false),
		       *two = faded(one, 0.5, nothing, n, false);

	OK(count_of(one) == 100 && count_of(two) == 50);
	OK(two->samples.n == 100 && weight_of(two, "a", 7) == 500);
	profile_free(f);
	profile_free(nothing);
	profile_free(one);
	profile_free(two);
}

static void nothing_is_kept(struct names *n)
{
	struct profile *f = fresh(8000, 4000, 2000), *g = fresh(100, 0, 0);
	struct profile *one = faded(NULL, 1, f, n, false), *two = faded(one, 0, g, n, false);

	OK(two->samples.n == 1 && weight_of(two, "a", 1) == 100);
	profile_free(f);
	profile_free(g);
	profile_free(one);
	profile_free(two);
}

static void all_is_kept(struct names *n)
{
	struct profile *f = fresh(8000, 4000, 2000), *g = fresh(100, 0, 0);
	struct profile *one = faded(NULL, 1, f, n, false), *two = faded(one, 1, g, n, false);

	OK(weight_of(two, "a", 1) == 8100 && weight_of(two, "b", 2) == 2000);
	OK(two->samples.at[0].count == 4);
	profile_free(f);
	profile_free(g);
	profile_free(one);
	profile_free(two);
}

/* By instruction: whatever thread it was in, and whoever called. */
static void code_fades(void)
{
	struct profile *f = fresh(8000, 4000, 2000), *g = fresh(0, 1000, 0);
	struct profile *one = fade_code(NULL, 1, f), *two = fade_code(one, 0.5, g);
	uint64_t a = 0, b = 0;

	OK(two->samples.n == 2 && two->samples.n_stacks == 3);
	for (size_t i = 0; i < two->samples.n; i++) {
		const struct sample *s = &two->samples.at[i];
		const struct frame *leaf =
			&two->samples.frames[two->samples.stacks[s->stack].frame];
		OK(leaf->addr == 0x2000 && two->objects[leaf->object].kind == OBJECT_ELF);
		*(strcmp(strtab_get(two->strings, leaf->name), "a") ? &b : &a) += s->weight;
	}
	OK(a == 4000 && b == 3000 + 1000);
	profile_free(f);
	profile_free(g);
	profile_free(one);
	profile_free(two);
}

/* Of a file that is not there, and of this program. */
static void names_are_given_once(struct names *n)
{
	struct profile_builder *b = profile_builder_new();
	objid none = profile_add_object_of(b, "/not/there", "", OBJECT_ELF, false);
	objid self = profile_add_object_of(b, "/proc/self/exe", "", OBJECT_ELF, true);
	struct sample s = { .count = 1, .weight = 10 };

	s.stack = profile_add_stack(
		b, 0, profile_add_frame(b, (struct frame){ .object = none, .addr = 1 }));
	s.stack = profile_add_stack(
		b, s.stack, profile_add_frame(b, (struct frame){ .object = self, .addr = 1 }));
	s.event = profile_add_event(b, (struct event){ .name = add_string(b, "e") });
	profile_add_sample(b, s);
	struct profile *f = profile_finish(b), *p = faded(NULL, 1, f, n, false);

	for (size_t i = 1; i < p->samples.n_frames; i++)
		OK_STR(strtab_get(p->strings, p->samples.frames[i].name), "[unknown]");
	for (size_t i = 1; i < p->n_objects; i++)
		OK(p->objects[i].kind == OBJECT_OTHER); /* is not opened again */
	profile_free(f);
	profile_free(p);
}

/* The event on a CPU comes first, even if a sample of waiting was seen first. */
static void work_comes_before_waiting(struct names *n)
{
	static const struct {
		const char *name;
		enum event_kind kind;
	} events[] = { { "waiting", EVENT_WAITING },
		       { "blocked", EVENT_BLOCKED },
		       { "clock", EVENT_ON_CPU } };
	struct profile_builder *b = profile_builder_new();

	for (size_t i = 0; i < ARRAY_LEN(events); i++)
		profile_add_event(b, (struct event){ .name = add_string(b, events[i].name),
						     .unit = EVENT_NS,
						     .kind = events[i].kind });
	struct profile *f = profile_finish(b), *made = faded(NULL, 1, f, n, false);
	OK(made->samples.n_events == 3);
	OK(made->samples.events[0].kind == EVENT_ON_CPU);
	OK(made->samples.events[2].kind == EVENT_WAITING);
	profile_free(f);
	profile_free(made);
}

static __attribute__((noinline)) uintptr_t called_from(void)
{
	uintptr_t at = (uintptr_t)__builtin_return_address(0);
	__asm__ volatile("" ::: "memory");
	return at;
}

static inline __attribute__((always_inline)) uintptr_t innermost(void)
{
	uintptr_t at = called_from();
	__asm__ volatile("" ::: "memory"); /* no tail call */
	return at;
}

static inline __attribute__((always_inline)) uintptr_t in_between(void) { return innermost(); }

static __attribute__((noinline)) uintptr_t expanded(void)
{
	uintptr_t at = in_between();
	__asm__ volatile("" ::: "memory");
	return at;
}

/* The functions on the stack of the only sample: "a > b (inlined)". */
static void put_stack(const struct profile *p, stackid stack, char *ret)
{
	const struct frame *f = &p->samples.frames[p->samples.stacks[stack].frame];
	if (p->samples.stacks[stack].caller) {
		put_stack(p, p->samples.stacks[stack].caller, ret);
		strcat(ret, " > ");
	}
	strcat(ret, strtab_get(p->strings, f->name));
	strcat(ret, f->flags & FRAME_INLINED ? " (inlined)" : "");
}

static bool is_stack(const struct profile *p, const char *expected)
{
	char text[256] = "";
	put_stack(p, p->samples.at[0].stack, text);
	if (strcmp(text, expected) != 0)
		printf("# %s, not %s\n", text, expected);
	return p->samples.n == 1 && !strcmp(text, expected);
}

/* One sample in expanded(). */
static struct profile *in_expanded(void)
{
	uint64_t bias = program_bias();
	struct profile_builder *b = profile_builder_new();
	objid o = profile_add_object_of(b, "/proc/self/exe", "", OBJECT_ELF, true);
	struct frame at = { .object = o, .addr = expanded() - bias, .flags = FRAME_RETURN };
	struct sample s = { .count = 1, .weight = 8000, .cpu = 1 };
	s.stack = profile_add_stack(b, 0, profile_add_frame(b, at));
	s.event = profile_add_event(
		b, (struct event){ .name = add_string(b, "cpu-clock"), .unit = EVENT_NS });
	profile_add_sample(b, s);
	return profile_finish(b);
}

/* At each refresh new addresses are looked up; frames that have names keep them. */
static void inlined_functions_are_functions(struct names *n)
{
	struct profile *f = in_expanded();
	struct profile *one = faded(NULL, 1, f, n, false), *two = faded(one, 0.5, f, n, false);
	struct profile *folded = faded(NULL, 1, f, n, true);
	OK(is_stack(one, "expanded > in_between (inlined) > innermost (inlined)"));
	OK(is_stack(two, "expanded > in_between (inlined) > innermost (inlined)"));
	OK(two->samples.at[0].weight == 12000);
	OK(is_stack(folded, "expanded"));
	profile_free(f);
	profile_free(one);
	profile_free(two);
	profile_free(folded);
}

/* Whose code it is stays known when the source files are not any more. */
static void code_of_others_is_marked(struct names *n)
{
	struct profile *f = in_expanded();

	const char *all[] = { "/", NULL };
	for (int others = 0; others < 2; others++) {
		const struct own_dirs dirs = { .foreign = others ? all : NULL };
		struct own_code *own = own_code_new(&dirs, "", false);
		const struct fade_naming how = { .names = n, .own = own };
		struct profile *one = fade(NULL, 1, f, &how), *two = fade(one, 1, NULL, &how);
		OK(is_stack(two, "expanded > in_between (inlined) > innermost (inlined)"));
		size_t marked = 0;
		for (size_t i = 1; i < two->samples.n_frames; i++)
			marked += !!(two->samples.frames[i].flags & FRAME_FOREIGN);
		OK(marked == (others ? 3u : 0u));
		profile_free(one);
		profile_free(two);
		own_code_free(own);
	}
	profile_free(f);
}

/* The memory of waiting samples grows with distinct ones, not with time. */
static void equal_ones_are_one(void)
{
	struct tally t = { 0 };
	struct profile_builder *b = profile_builder_new();
	struct sample s = { .count = 1, .weight = 3 };

	for (uint32_t i = 0; i < 1000000; i++) {
		s.stack = i % 2;
		s.task = i % 10 / 5;
		tally_add(&t, &s);
	}
	OK(t.samples.n == 4);
	OK(t.samples.at[0].count == 300000 && t.samples.at[0].weight == 900000);
	tally_move(&t, b);
	OK(!t.samples.n && !t.ids.n);
	profile_builder_free(b);
}

int main(void)
{
	equal_ones_are_one();
	struct names *n = names_new(&(struct names_opts){ 0 });

	old_ones_fade(n);
	what_is_gone_is_gone(n);
	numbers_fade(n);
	nothing_is_kept(n);
	all_is_kept(n);
	code_fades();
	names_are_given_once(n);
	work_comes_before_waiting(n);
	inlined_functions_are_functions(n);
	code_of_others_is_marked(n);
	names_free(n);
	return DONE();
}
