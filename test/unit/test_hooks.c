/* The time that counting calls took: the part subtracted from samples, and the rest. */
#include "profile/hooks.h"

#include "base/err.h"
#include "tap.h"

enum { MAIN = 1, RUNTIME = 2, CALL_NS = 2 };

/* Return addresses of the functions' hooks, where their calls are counted. */
enum { F = 0x100, G = 0x200, UNCOUNTED = 0x300 };

struct made {
	struct profile_builder *b;
	stackid root;
};

static stackid below(struct made *m, stackid caller, objid object, uint64_t addr, uint32_t flags)
{
	struct frame f = { .addr = addr, .object = object, .flags = flags };
	return profile_add_stack(m->b, caller, profile_add_frame(m->b, f));
}

static void add_event(struct made *m, const char *name, enum event_kind kind, enum event_unit unit)
{
	strid id = profile_add_string(m->b, name, strlen(name));
	profile_add_event(m->b, (struct event){ .name = id, .kind = kind, .unit = unit });
}

static struct made begin(uint64_t hooks_ns)
{
	struct made m = { .b = profile_builder_new() };
	profile_add_object_of(m.b, "/prog", "", OBJECT_ELF, true);
	profile_add_object_of(m.b, "/libkinrt.so", "", OBJECT_ELF, false);
	add_event(&m, "task-clock", EVENT_ON_CPU, EVENT_NS);
	add_event(&m, "cycles", EVENT_ON_CPU, EVENT_COUNT);
	/* The first frame may be a hook. */
	profile_add_frame(m.b, (struct frame){ .addr = 0x5020,
					       .object = RUNTIME,
					       .flags = FRAME_HOOK | FRAME_RETURN });
	m.root = below(&m, 0, MAIN, 0x10, FRAME_RETURN);
	profile_add_arc(m.b, (struct arc){ 0x10, F, 100, MAIN, MAIN });
	profile_add_arc(m.b, (struct arc){ 0x20, F, 50, MAIN, MAIN });
	profile_add_arc(m.b, (struct arc){ 0x30, G, 350, MAIN, MAIN });
	profile_audit(m.b)->hooks_ns = hooks_ns;
	return m;
}

static void sample(struct made *m, stackid stack, uint16_t event, uint64_t weight)
{
	profile_add_sample(m->b, (struct sample){ .stack = stack,
						  .event = event,
						  .count = 1,
						  .cpu = CPU_NONE,
						  .weight = weight });
}

static struct profile *end(struct made *m)
{
	profile_add_source(m->b, "x.kin", (struct source){ .kind = "kin" });
	return profile_finish(m->b);
}

static uint64_t all(const struct profile *p)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < p->samples.n; i++)
		sum += p->samples.at[i].weight;
	return sum;
}

/* The weight of the samples whose innermost frame is at `addr`. */
static uint64_t at(const struct profile *p, uint64_t addr)
{
	const struct samples *s = &p->samples;
	uint64_t sum = 0;
	for (size_t i = 0; i < s->n; i++)
		if (s->frames[s->stacks[s->at[i].stack].frame].addr == addr)
			sum += s->at[i].weight;
	return sum;
}

static bool has_frame(const struct profile *p, uint32_t flag)
{
	const struct samples *s = &p->samples;
	for (size_t i = 1; i < s->n_stacks; i++)
		if (s->frames[s->stacks[i].frame].flags & flag)
			return true;
	return false;
}

/* 150 calls of F at 2 ns, 350 of G: 300 of 1000 ns in F's hook are subtracted, and all 500 ns in
 * G's. */
static void test_calls_cost(void)
{
	struct made m = begin(500 * CALL_NS);
	stackid f = below(&m, m.root, MAIN, F, FRAME_RETURN);
	stackid g = below(&m, f, MAIN, G, FRAME_RETURN);
	sample(&m, below(&m, f, RUNTIME, 0x5000, FRAME_HOOK), 0, 600);
	sample(&m, below(&m, f, RUNTIME, 0x5010, FRAME_HOOK), 0, 400);
	sample(&m, below(&m, g, RUNTIME, 0x5000, FRAME_HOOK), 0, 500);
	sample(&m, m.root, 0, 70);
	struct profile *p = end(&m);
	struct hooks_time t = hooks_take_off(p);
	OK(t.off_ns == 800 &&
	   t.sampled_ns == 1570);               /* calls times cost, at most what was sampled */
	OK(t.call_ns == CALL_NS);               /* the cost of a call */
	OK(at(p, F) == 700);                    /* the rest is the function's own */
	OK(at(p, G) == 0 && p->samples.n == 3); /* a sample without any weight left is dropped */
	OK(at(p, 0x10) == 70 && all(p) == 770); /* other samples stay */
	OK(!has_frame(p, FRAME_HOOK));          /* no stack ends in a hook */
	profile_free(p);
}

/* An arc that was new: found in C code that the hook calls. */
static void test_beyond_the_hook(void)
{
	struct made m = begin(500 * CALL_NS);
	stackid f = below(&m, m.root, MAIN, F, FRAME_RETURN);
	stackid hook = below(&m, f, RUNTIME, 0x5020, FRAME_HOOK | FRAME_RETURN);
	stackid c = below(&m, hook, RUNTIME, 0x6000, FRAME_RETURN);
	sample(&m, below(&m, c, RUNTIME, 0x6100, 0), 0, 5000);
	struct profile *p = end(&m);
	OK(hooks_take_off(p).off_ns == 5000 && p->samples.n == 0); /* all of it goes */
	profile_free(p);
}

static void test_signal_handler(void)
{
	struct made m = begin(500 * CALL_NS);
	stackid f = below(&m, m.root, MAIN, F, FRAME_RETURN);
	stackid hook = below(&m, f, RUNTIME, 0x5020, FRAME_HOOK);
	sample(&m, below(&m, hook, MAIN, 0x900, 0), 0, 5000);
	struct profile *p = end(&m);
	OK(hooks_take_off(p).off_ns == 0 &&
	   at(p, 0x900) == 5000); /* the program's own handler is not counting, though it came into
				     a hook */
	profile_free(p);
}

static void test_left_alone(void)
{
	struct made m = begin(500 * CALL_NS);
	stackid f = below(&m, m.root, MAIN, F, FRAME_RETURN);
	stackid cut = profile_add_stack(m.b, 0, profile_add_mark(m.b, MARK_CUT));
	stackid u = below(&m, m.root, MAIN, UNCOUNTED, FRAME_RETURN);
	sample(&m, below(&m, u, RUNTIME, 0x5000, FRAME_HOOK), 0, 10);
	sample(&m, below(&m, cut, RUNTIME, 0x5001, FRAME_HOOK), 0, 20);
	sample(&m, below(&m, 0, RUNTIME, 0x5002, FRAME_HOOK), 0, 30);
	sample(&m, below(&m, f, RUNTIME, 0x5003, FRAME_HOOK), 1, 40);
	struct profile *p = end(&m);
	OK(hooks_take_off(p).off_ns == 0); /* nothing is taken off */
	OK(at(p, 0x5000) == 10);           /* in a function whose calls were not counted */
	OK(at(p, 0x5001) == 20 && at(p, 0x5002) == 30); /* in an unknown function */
	OK(at(p, 0x5003) == 40);                        /* of an event other than time */
	profile_free(p);
}

static void test_cost_not_known(void)
{
	struct made m = begin(0);
	stackid f = below(&m, m.root, MAIN, F, FRAME_RETURN);
	sample(&m, below(&m, f, RUNTIME, 0x5000, FRAME_HOOK), 0, 600);
	struct profile *p = end(&m);
	OK(hooks_take_off(p).off_ns == 0 &&
	   at(p, 0x5000) == 600); /* without a cost nothing changes */
	profile_free(p);
}

int main(void)
{
	test_calls_cost();
	test_beyond_the_hook();
	test_signal_handler();
	test_left_alone();
	test_cost_not_known();
	return DONE();
}
