/* Findings: each kind where it stands out, and none where it does not. */
#include <stdlib.h>
#include <string.h>

#include "findings/findings.h"
#include "formats/given_places.h"
#include "kin/kin.h"
#include "tap.h"

#define CHECK(cond, what) tap_ok((cond), __FILE__, __LINE__, (what))

enum { MOST = 12 };

struct made {
	struct profile_builder *b;
	uint16_t cpu, blocked, waiting;
	taskid task;
};

static uint16_t event(struct profile_builder *b, const char *name, enum event_kind kind)
{
	return profile_add_event(b,
				 (struct event){ .name = profile_add_string(b, name, strlen(name)),
						 .unit = EVENT_NS,
						 .kind = kind,
						 .counts_time = kind == EVENT_ON_CPU });
}

static taskid task(struct profile_builder *b, uint32_t pid, uint32_t tid, const char *name)
{
	return profile_add_task(b,
				(struct task){ .pid = pid,
					       .tid = tid,
					       .comm = profile_add_string(b, name, strlen(name)) });
}

static struct made begin(void)
{
	struct made m = { .b = profile_builder_new() };
	m.cpu = event(m.b, "task-clock", EVENT_ON_CPU);
	m.blocked = event(m.b, "blocked", EVENT_BLOCKED);
	m.waiting = event(m.b, "waiting", EVENT_WAITING);
	m.task = task(m.b, 1, 1, "main");
	return m;
}

/* Samples of 1 ms. `stack`: functions separated by spaces, outermost first; "@" before a function
 * of the kernel, "?" before code without a name, as an address. */
static void add(struct made *m, uint16_t of, const char *stack, unsigned count)
{
	char text[256];
	stackid at = 0;

	snprintf(text, sizeof(text), "%s", stack);
	for (char *save, *word = strtok_r(text, " ", &save); word;
	     word = strtok_r(NULL, " ", &save)) {
		struct frame f = { .flags = *word == '@' ? FRAME_KERNEL : 0 };
		word += *word == '@';
		if (*word == '?')
			f.addr = strtoul(word + 1, NULL, 16);
		else
			f.name = profile_add_string(m->b, word, strlen(word));
		at = profile_add_stack(m->b, at, profile_add_frame(m->b, f));
	}
	profile_add_sample(m->b, (struct sample){ .stack = at,
						  .task = m->task,
						  .event = of,
						  .count = count,
						  .weight = count * 1000000 });
}

/* Functions that begin with "my_" are own. */
static bool is_own(void *arg, frameid frame, size_t depth)
{
	(void)depth;
	return !strncmp(program_name(arg, program_place(arg, frame)), "my_", 3);
}

/* Functions named "..._O0" were compiled without optimisation. */
static const char *producer(void *arg, frameid frame)
{
	const char *name = program_name(arg, program_place(arg, frame));
	return strstr(name, "_O0")    ? "GNU C17 12.2.0 -mtune=generic -g"
	       : strstr(name, "_Off") ? "GNU C17 12.2.0 -mtune=generic -O2 -g -O0"
	       : strstr(name, "_go")  ? "Go cmd/compile go1.19.8; -N -l"
	       : strstr(name, "_any") ? "clang version 14.0.6"
	       : strstr(name, "_as")  ? "GNU AS 2.40"
				      : "GNU C17 12.2.0 -mtune=generic -g -Og";
}

static bool is_listed(const char *kind)
{
	const char *at = strstr(" " KIN_FINDING_KINDS " ", kind);
	return at && at[-1] == ' ' && at[strlen(kind)] == ' ';
}

/* "kind: text | view function", a line each, to be freed. */
static char *found(struct made *m)
{
	profile_add_source(m->b, "test", (struct source){ .kind = "test" });
	struct profile *p = profile_finish(m->b);
	struct program_opts opts = { 0 };
	struct program *g = program_new(p, NULL, &opts);
	struct findings f = findings_new(&(struct findings_input){ p, g, is_own, g, producer });
	char *text = xprintf("%s", "");

	for (size_t i = 0; i < f.at.n; i++) {
		const struct finding *x = &f.at.at[i];
		char *more = xprintf("%s%s: %s | %s %s\n", text, x->kind, x->text, x->view,
				     x->function ? x->function : "");
		free(text);
		text = more;
		CHECK(is_listed(x->kind), "the kind is listed");
		CHECK(!i || f.at.at[i - 1].share >= x->share, "the largest first");
	}
	findings_done(&f);
	program_free(g);
	profile_free(p);
	return text;
}

static void is_found(struct made *m, const char *expected, const char *what)
{
	char *text = found(m);
	tap_str(text, expected, __FILE__, __LINE__, what);
	free(text);
}

static void test_efforts(void)
{
	struct made m = begin();
	add(&m, m.cpu, "main my_parse malloc _int_malloc @asm_exc_page_fault", 200);
	add(&m, m.cpu, "main my_build operator_new malloc", 100);
	add(&m, m.cpu, "main my_parse", 700);
	is_found(&m,
		 "allocator: allocating and freeing memory takes 30 % of the time (\u00b1 3): for "
		 "my_parse 20 %, my_build 10 % | graph my_parse\n"
		 "page-faults: page faults take 20 % of the time "
		 "(\u00b1 "
		 "2): for my_parse 20 % | graph my_parse\n",
		 "what is done on behalf of own functions");

	m = begin();
	add(&m, m.cpu, "main malloc my_hook", 900); /* own code below it is own time */
	add(&m, m.cpu, "main malloc", 99);
	is_found(&m, "", "a hook that the allocator calls; less than a tenth is not said");

	m = begin();
	add(&m, m.cpu, "main my_f memcpy", 28);
	is_found(&m, "", "nothing is said of few samples");

	m = begin();
	add(&m, m.cpu, "main my_f my_memcpy", 800);
	add(&m, m.cpu, "main my_f mallocator", 200);
	is_found(&m, "", "names that only look alike");

	m = begin();
	add(&m, m.cpu, "main __memcpy_avx_unaligned_erms", 500);
	add(&m, m.cpu, "main @ksys_read @vfs_read", 500);
	is_found(&m,
		 "copying: copying memory takes 50 % of the time (\u00b1 3) | graph \n"
		 "reads-writes: system calls that read and write take 50 % of the time (\u00b1 3) "
		 "| "
		 "graph \n",
		 "for nobody's own function");
}

static void test_threads(void)
{
	struct made m = begin();
	m.task = task(m.b, 1, 1, "main");
	add(&m, m.cpu, "main", 50);
	m.task = task(m.b, 1, 2, "worker");
	add(&m, m.cpu, "main my_f", 900);
	m.task = task(m.b, 1, 3, "idle");
	add(&m, m.cpu, "main", 50);
	is_found(&m,
		 "busy-thread: one of 3 threads, worker, does 90 % of the work of its process | "
		 "flat "
		 "--by thread \n",
		 "one thread that works");

	m = begin();
	for (uint32_t i = 1; i < 4; i++) {
		m.task = task(m.b, i, i, "main"); /* processes of their own */
		add(&m, m.cpu, "main", i == 2 ? 900 : 50);
	}
	is_found(&m, "", "processes are no threads");

	m = begin();
	for (uint32_t i = 0; i < 4; i++) {
		m.task = task(m.b, 1, 1, i % 2 ? "sh" : "program"); /* exec, and exec */
		add(&m, m.cpu, "main", i == 2 ? 900 : 50);
	}
	is_found(&m, "", "nor are names of one thread");
}

static void test_waits(void)
{
	struct made m = begin();
	add(&m, m.cpu, "main my_f", 1000);
	add(&m, m.blocked, "main my_g pthread_mutex_lock @futex_wait", 500);
	add(&m, m.blocked, "main my_h pthread_cond_wait @futex_wait", 5000);
	add(&m, m.waiting, "main my_f", 2000);
	is_found(
		&m,
		"cpu-waits: threads waited 2.0 s for a CPU, beside 1.0 s on a CPU, 2.0 s of it in "
		"my_f | info \n"
		"lock-waits: threads waited 0.5 s for locks, beside 1.0 s on a CPU, 0.5 s of it in "
		"my_g | graph --event blocked my_g\n",
		"waits");
	m = begin();
	add(&m, m.cpu, "main my_f", 1000);
	add(&m, m.waiting, "main my_f", 100);
	is_found(&m, "", "short waits are none");
}

static void test_nameless(void)
{
	struct made m = begin();
	add(&m, m.cpu, "main ?1000", 300);
	add(&m, m.cpu, "main", 700);
	char *text = found(&m);
	CHECK(!!strstr(text, "nameless: code without names takes 30 % of the time"),
	      "code without names");
	free(text);
}

static void test_calls(void)
{
	struct made m = begin();
	is_found(&m, "", "no samples, no finding");
}

static void test_unoptimised(void)
{
	struct made m = begin();
	add(&m, m.cpu, "main my_O0", 300);
	add(&m, m.cpu, "main my_Off", 200);
	add(&m, m.cpu, "main my_go std_O0", 100);
	add(&m, m.cpu, "main my_f", 400);
	is_found(&m,
		 "unoptimised: code compiled without optimisation (-O) takes 60 % of the time "
		 "(\u00b1 3): for my_O0 30 %, my_Off 20 %, my_go 10 % | annotate my_O0\n",
		 "GCC without -O, or with -O0 last; Go with -N");
	m = begin();
	add(&m, m.cpu, "main my_f", 300);
	add(&m, m.cpu, "main my_any", 300);
	add(&m, m.cpu, "main my_as", 200);
	add(&m, m.cpu, "main my_O0", 100);
	add(&m, m.cpu, "main other_O0", 300);
	is_found(&m, "", "optimised, not known, little, or of others");
}

static void test_short_processes(void)
{
	for (unsigned count = 1; count < 3; count++) {
		struct made m = begin();
		for (uint32_t pid = 100; pid < 200; pid++) {
			m.task = task(m.b, pid, pid, "cc");
			add(&m, m.cpu, "main", count);
		}
		m.task = task(m.b, 1, 1, "make");
		add(&m, m.cpu, "main", 100);
		is_found(&m,
			 count == 1
				 ? "short-processes: 100 of 101 processes are so short that each "
				   "has a single sample, with 50 % of the time (\u00b1 7) | info "
				   "--threads=all \n"
				 : "",
			 "many processes with a single sample, or with two");
	}
}

/* A file with places: functions of /src/a.c in /bin/prog. */
struct placed {
	struct made m;
	struct given_places *places;
	uint32_t object;
	strid file;
};

static strid given(struct placed *p, const char *text)
{
	return strtab_add(given_strings(p->places), text);
}

static struct placed begin_placed(void)
{
	static const uint8_t nothing[1];
	struct bytes all = bytes_of(NULL, nothing, sizeof(nothing));
	struct placed p = { .m = begin() };
	p.places = given_new(p.m.b, &all);
	p.object = given_object(p.places, given(&p, "/bin/prog"), true);
	p.file = given(&p, "/src/a.c");
	return p;
}

static uint32_t function_of(struct placed *p, const char *name)
{
	return given_function(p->places, p->object, given(p, name), p->file);
}

/* Samples of "main" that calls the function at line 9, which is at that line. */
static void add_at(struct placed *p, const char *name, uint32_t line, const char *below,
		   unsigned count)
{
	stackid at = profile_add_stack(p->m.b, 0,
				       given_frame(p->places, function_of(p, "main"), p->file, 9));
	at = profile_add_stack(p->m.b, at,
			       given_frame(p->places, function_of(p, name), p->file, line));
	if (below)
		at = profile_add_stack(p->m.b, at,
				       given_frame(p->places, function_of(p, below), p->file, 99));
	profile_add_sample(p->m.b, (struct sample){ .stack = at,
						    .task = p->m.task,
						    .event = p->m.cpu,
						    .count = count,
						    .weight = count * 1000000 });
}

static void test_one_line(void)
{
	struct placed p = begin_placed();
	add_at(&p, "my_f", 11, NULL, 200);
	add_at(&p, "my_f", 11, "sort", 500);
	add_at(&p, "my_f", 12, NULL, 300);
	given_finish(p.places);
	is_found(&p.m,
		 "one-line: one line, a.c:11 in my_f, takes 70 % of the time (\u00b1 3), with what "
		 "it calls | annotate my_f\n",
		 "one own line with most of the time");
	p = begin_placed();
	add_at(&p, "my_f", 11, NULL, 400);
	add_at(&p, "my_f", 12, "sort", 300);
	add_at(&p, "other", 30, NULL, 700);
	given_finish(p.places);
	is_found(&p.m, "", "several lines; lines of others");
}

/* Counts calls between two functions, each way. */
static void count_calls(struct placed *p, const char *one, const char *other)
{
	const char *ends[] = { one, other };
	for (int i = 0; i < 2; i++) {
		objid from_object, to_object;
		uint64_t from = given_address(p->places, function_of(p, ends[i]), p->file, 20,
					      &from_object);
		uint64_t to = given_entry(p->places, function_of(p, ends[!i]), &to_object);
		profile_add_arc(p->m.b, (struct arc){ from + 1, to, 100, from_object, to_object });
	}
}

static void test_cycles(void)
{
	for (int is_real = 0; is_real < 2; is_real++) {
		struct placed p = begin_placed();
		count_calls(&p, "my_f", "my_g");
		stackid at = 0;
		for (int i = 0; i < (is_real ? 3 : 2); i++)
			at = profile_add_stack(
				p.m.b, at,
				given_frame(p.places, function_of(&p, i == 1 ? "my_g" : "my_f"),
					    p.file, 20 + (uint32_t)i));
		for (uint32_t i = 0; i < 100; i++)
			profile_add_sample(p.m.b, (struct sample){ .stack = at,
								   .task = p.m.task,
								   .event = p.m.cpu,
								   .count = 1,
								   .weight = 1000000 });
		given_finish(p.places);
		char *all = found(&p.m), *text = xprintf("\n%s", all);
		free(all);
		CHECK(!!strstr(text, is_real ? "\ncycle: stacks go round a cycle of 2 functions by "
					       "its counted calls (my_"
					     : "\nphantom-cycle: no stack goes round a cycle of 2 "
					       "functions by its counted calls (my_"),
		      "a cycle of counts");
		CHECK(!strstr(text, is_real ? "phantom" : "\ncycle"), "and not the other kind");
		free(text);
	}
	struct placed p = begin_placed();
	add_at(&p, "my_f", 11, NULL, 100);
	given_finish(p.places);
	char *text = found(&p.m);
	CHECK(!strstr(text, "cycle"), "no counts, no cycle");
	free(text);
}

int main(void)
{
	test_efforts();
	test_threads();
	test_waits();
	test_nameless();
	test_calls();
	test_unoptimised();
	test_short_processes();
	test_one_line();
	test_cycles();
	return DONE();
}
