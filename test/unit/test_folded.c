/* Stacks as text: folded lines, and the output of perf script. */
#include "tap.h"

#include <stdlib.h>

#include "base/err.h"
#include "export/folded.h"
#include "input/input.h"

static struct profile *read_text(const char *text, char *error, size_t size)
{
	static const struct format *const all[] = { &bbout_format, &perf_script_format,
						    &folded_format };
	struct profile_builder *b = profile_builder_new();
	struct input_opts o = { 0 };
	struct source source = { 0 };
	struct bytes bytes = bytes_of("text", text, strlen(text));
	struct kin_error *err = NULL;
	size_t i = 0;

	while (i < ARRAY_LEN(all) && !all[i]->recognise(bytes, &o))
		i++;
	err = i < ARRAY_LEN(all) ? all[i]->read(bytes, &o, b, &source)
				 : err_new(KIN_ERROR_FORMAT, "nothing known");
	snprintf(error, size, "%s", err ? kin_error_message(err) : "");
	kin_error_free(err);
	return profile_finish(b);
}

static const char *fold(const struct profile *p, const struct folded_opts *o)
{
	static char buf[8192];
	buf[0] = 0;
	FILE *out = fmemopen(buf, sizeof(buf), "w");
	struct kin_error *err = folded_write(out, p, o);
	OK(!err);
	kin_error_free(err);
	fclose(out);
	return buf;
}

/* Read, and written again. */
static const char *again(const char *text, const struct folded_opts *o, const char *error)
{
	char message[200];
	struct profile *p = read_text(text, message, sizeof(message));
	OK_STR(message, error);
	const char *ret = fold(p, o);
	profile_free(p);
	return ret;
}

static const struct folded_opts counts = { .annotate = true };
static const struct folded_opts weights = { .annotate = true, .weights = true };
static const struct folded_opts bare = { .annotate = true, .no_comm = true };

static void lines_come_out_as_they_went_in(void)
{
	static const char text[] = "prog;_start;main;f(int, char const*) 3\n"
				   "prog;_start;main;g_[i];h_[k] 4\n"
				   "two words;loop;Foo::bar<a b>_[j] 12345678901\n";
	OK_STR(again(text, &weights, ""), text);
}

static void equal_lines_are_summed_and_sorted(void)
{
	OK_STR(again("b;x;y 1\nb;x 5\n\na;x 2\r\n# note\nb;x;y 10\n", &counts, ""),
	       "a;x 2\nb;x 5\nb;x;y 11\n");
	OK_STR(again("a;x y\t7\nb;x 5\t \n", &counts, ""), "a;x y 7\nb;x 5\n");
}

static void the_first_name_may_be_a_function(void)
{
	struct profile *p;
	char error[200];
	OK_STR(again("main;f 1\nmain;g 2\n", &bare, ""), "main;f 1\nmain;g 2\n");
	OK_STR(again("f;g 1\nf 2\n", &bare, ""), "f 2\nf;g 1\n");
	OK_STR(again("a_name_that_no_comm_has;g 1\n", &bare, ""), "a_name_that_no_comm_has;g 1\n");
	OK_STR(again("[unknown];main;f 1\nprog;main 2\n", &counts, ""),
	       "[unknown];main;f 1\nprog;main 2\n");
	OK_STR(again("[unknown];main;f 1\n[unknown];g 2\n", &bare, ""), "g 2\nmain;f 1\n");
	OK_STR(again("[unknown];f 1\n_start;g 2\n", &bare, ""), "[unknown];f 1\n_start;g 2\n");
	p = read_text("prog-12/13;main 5\n", error, sizeof(error));
	OK(p->samples.n_tasks == 2 && p->samples.tasks[1].pid == 12);
	OK(p->samples.tasks[1].tid == 13);
	OK_STR(strtab_get(p->strings, p->samples.tasks[1].comm), "prog");
	OK_STR(fold(p, &(struct folded_opts){ .tid = true }), "prog-12/13;main 5\n");
	profile_free(p);
}

static void decimals_are_kept(void)
{
	static const struct {
		const char *text, *event;
		uint64_t first, second;
	} cases[] = {
		{ "a;f 1.5\na;g 2\n", "samples/1000", 1500, 2000 },
		{ "a;f 0.100\na;g 2.\n", "samples/1000", 100, 2000 },
		{ "a;f .0625\na;g 1\n", "samples/1000000", 62500, 1000000 },
		{ "a;f 1e-05\na;g 2.5e-4\n", "samples/1000000", 10, 250 },
		{ "a;f 0.30000000000000004\na;g 0.0000000006\n", "samples/1000000000", 300000000,
		  1 },
		{ "a;f 1e3\na;g 1.25E+2\n", "samples", 1000, 125 },
		{ "a;f 3.0\na;g 250e-1\n", "samples", 3, 25 },
		/* As many digits are kept as fit. */
		{ "a;f 18446744073709551.25\na;g 1.5\n", "samples", 18446744073709551, 2 },
		{ "a;f 18446744073709.25\na;g 1.5\n", "samples/1000", 18446744073709250, 1500 },
		/* So does the sum. */
		{ "a;f 18446744073709551610\na;g 1e400\n", "samples", UINT64_MAX - 5, 5 },
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char error[200];
		struct profile *p = read_text(cases[i].text, error, sizeof(error));
		OK_STR(error, "");
		OK_STR(strtab_get(p->strings, p->samples.events[0].name), cases[i].event);
		OK(p->samples.n == 2 && p->samples.at[0].weight == cases[i].first);
		OK(p->samples.at[1].weight == cases[i].second);
		profile_free(p);
	}
	OK_STR(again("a;f 1\na;g 1e\n", &counts,
		     "text: line 2 has no number at its end: cut off, or not of folded stacks"),
	       "a;f 1\n");
}

static void a_stack_may_be_one_frame(void)
{
	OK_STR(again("main 3\n\n# note\nf(int, char) 4\n", &bare, ""), "f(int, char) 4\nmain 3\n");
	OK_STR(again("main 1.5\n", &weights, ""), "[unknown];main 1500\n");
	OK_STR(again("main 3\nno number\nf 4\n", &bare, "nothing known"), "");
	OK_STR(again("main 3\nf", &bare,
		     "text: line 2 has no number at its end: cut off, or not of folded stacks"),
	       "main 3\n");
	OK_STR(again("main 3\n  f 4\n", &bare, "nothing known"), "");
}

static void two_numbers_are_a_comparison(void)
{
	static const char refusal[] =
		"text: each line has two numbers, as difffolded.pl writes them: "
		"kin diff BEFORE AFTER compares the two files that it was made of";
	OK_STR(again("a;f 1 2\na;g 0 3\n", &counts, refusal), "");
	OK_STR(again("f 1 2.5\n", &counts, refusal), "");
	OK_STR(again("a;f 1 2\na;g 3\n", &counts, ""), "a;f 1 2\na;g 3\n");
}

static void what_was_never_seen_is_no_sample(void)
{
	char error[200];
	struct profile *p = read_text("a;f 3\na;g 0\na;h 0.0\n", error, sizeof(error));
	OK_STR(error, "");
	OK(p->samples.n == 1 && p->samples.at[0].weight == 3);
	profile_free(p);
	OK_STR(again("a;f 0\n", &counts, ""), "");
	OK_STR(again("a;f -1\na;g 2\n", &counts,
		     "text: values below zero were left out: it is the difference of two profiles"),
	       "a;g 2\n");
}

static void damaged_lines_are_told(void)
{
	OK_STR(again("a;f 1\na;g\na;h 2\n", &counts,
		     "text: line 2 has no number at its end: cut off, or not of folded stacks"),
	       "a;f 1\na;h 2\n");
	OK_STR(again("a;f 1\na;g 2", &counts, ""), "a;f 1\na;g 2\n"); /* as editors leave it */
	OK_STR(again("a;f 99999999999999999999999\n", &weights, ""), "a;f 18446744073709551615\n");
	OK_STR(again("no stacks here\n", &bare, "nothing known"), "");
}

static const char script[] =
	"# captured on: today\n"
	"prog 4242/4243 [001]   123.000456:     250000 cpu-clock:u: \n"
	"\t    55d0c0ffee10 leaf+0x10 (/bin/prog)\n"
	"\t    55d0c0ffee20 inner (inlined)\n"
	"\t    55d0c0ffee20 operator()(int, char)+0x5 (/bin/a dir (copy)/prog)\n"
	"\t    7f0000000001 [unknown] (/lib/libc.so.6)\n"
	"\n"
	"my thread  4244 [000]   124.5:     250000 cpu-clock:u: \n"
	"\tffffffff81000000 do_work+0x1 ([kernel.kallsyms])\n"
	"\tffffffffc0000000 mod_f+0x1 ([ext4])\n"
	"\t               0 [unknown] ([unknown])\n"
	"\n"
	"      dd  4245 125.000001: cycles:  401000 main+0x4 (/bin/dd)\n"
	"      dd  4245 125.000002: cycles:  401010 f+0x4 (/bin/dd)\n";

static void perf_script_is_read(void)
{
	char error[200];
	struct profile *p = read_text(script, error, sizeof(error));
	const struct samples *s = &p->samples;
	OK_STR(error, "");
	OK(s->n == 4 && s->at[0].weight == 250000 && s->at[0].cpu == 1);
	OK(s->at[0].time_ns == 123000456000 && s->at[1].time_ns == 124500000000);
	OK(s->tasks[s->at[0].task].pid == 4242 && s->tasks[s->at[0].task].tid == 4243);
	OK_STR(strtab_get(p->strings, s->tasks[s->at[1].task].comm), "my thread");
	OK_STR(strtab_get(p->strings, s->events[s->at[0].event].name), "cpu-clock:u");
	OK(s->events[s->at[0].event].unit == EVENT_NS);
	OK(s->at[2].cpu == CPU_NONE && s->at[2].weight == 1);
	OK(s->events[s->at[2].event].unit == EVENT_COUNT);
	OK_STR(fold(p, &(struct folded_opts){ .annotate = true, .event = "cpu-clock:u" }),
	       "my thread;[unknown];mod_f_[k];do_work_[k] 1\n"
	       "prog;[unknown];operator()(int, char);inner_[i];leaf 1\n");
	OK_STR(fold(p, &(struct folded_opts){ .event = "cycles" }), "dd;f 1\ndd;main 1\n");
	profile_free(p);

	char cut[sizeof(script)];
	for (size_t n = 0; n < sizeof(script); n++) {
		memcpy(cut, script, n);
		cut[n] = '\0';
		p = read_text(cut, error, sizeof(error));
		if (p->samples.n > 4)
			OK(!"samples that are not there");
		profile_free(p);
	}
}

static void other_lines_are_passed_over(void)
{
	static const char text[] = "prog 1 1.0: PERF_RECORD_NAMESPACES 1/1 - nr_namespaces: 7\n"
				   "\t\t[0/net: 4/0xeffffff9, 1/uts: 4/0xeffffffe, \n"
				   "\t\t 4/user: 4/0xeffffffd]\n"
				   "prog 1 1.0: 5 cpu-clock: \n"
				   "\t10 leaf+0x1 (/bin/prog)\n"
				   "  prog.c:9\n"
				   "\t20 main+0x1 (/bin/prog)\n"
				   "  prog[20]\n"
				   "\n"
				   "prog 1 2.0: PERF_RECORD_EXIT(1:1):(0:0)\n";
	char error[200];
	struct profile *p = read_text(text, error, sizeof(error));
	OK_STR(error, "");
	OK(p->samples.n == 1 && p->samples.n_events == 1);
	OK_STR(fold(p, &counts), "prog;main;leaf 1\n");
	profile_free(p);
	OK_STR(again("prog 1 1.0: 5 cpu-clock: \n\t10 leaf+0x1 (/bin/prog)\n  prog\n", &counts,
		     "text: line 3 is neither a sample nor a frame of one as perf script prints "
		     "them"),
	       "prog;leaf 1\n");
}

/* One sample of each way that perf script prints them in by -F, and by perf's version. */
static void fields_may_be_missing_or_more(void)
{
#define CHAIN "\t            1145 leaf+0xc (/bin/x)\n\t            11d7 main+0x2 (/bin/x)\n"
	static const struct {
		const char *text, *event, *folded;
		uint32_t tid, weight;
		uint16_t cpu;
	} cases[] = {
		/* -F +misc, -F +tod, -L */
		{ "my x  3998 [001] U     2026-11-28 03:22:31.123456 8.422164:    1001 cycles:u: "
		  "\n" CHAIN "\n",
		  "cycles:u", "my x;main;leaf 1\n", 3998, 1001, 1 },
		{ "    spin  3998   2 28418.422164:    1001 cycles: \n" CHAIN "\n", "cycles",
		  "spin;main;leaf 1\n", 3998, 1001, 2 },
		/* -F -time, where names have numbers */
		{ "job 7  3998    1001001 cycles: \n" CHAIN "\n", "cycles", "job 7;main;leaf 1\n",
		  3998, 1001001, CPU_NONE },
		{ "job 7  3998 [003] cycles: \n" CHAIN "\n", "cycles", "job 7;main;leaf 1\n", 3998,
		  1, 3 },
		/* -F -event, -F -pid,-tid, -F -comm */
		{ "spin  3998 28418.422164:    1001001 \n" CHAIN "\n", "samples",
		  "spin;main;leaf 1\n", 3998, 1001001, CPU_NONE },
		{ "spin 28418.422164:    1001001 cycles: \n" CHAIN "\n", "cycles",
		  "spin;main;leaf 1\n", 0, 1001001, CPU_NONE },
		{ "28418.422164: \n" CHAIN "\n", "samples", "[unknown];main;leaf 1\n", 0, 1,
		  CPU_NONE },
		/* only commands and stacks */
		{ "spin \n" CHAIN "\n", "samples", "spin;main;leaf 1\n", 0, 1, CPU_NONE },
		{ "spin  3998 \n" CHAIN "\n", "samples", "spin;main;leaf 1\n", 3998, 1, CPU_NONE },
		{ "spin cycles:u: \n" CHAIN "\n", "cycles:u", "spin;main;leaf 1\n", 0, 1,
		  CPU_NONE },
		{ "\n" CHAIN "\n", "samples", "[unknown];main;leaf 1\n", 0, 1, CPU_NONE },
		{ " 3998/3999  \n" CHAIN "\n", "samples", "[unknown];main;leaf 1\n", 3999, 1,
		  CPU_NONE },
		{ "spin    1001001 \n" CHAIN "\n", "samples", "spin;main;leaf 1\n", 0, 1001001,
		  CPU_NONE },
		{ "    1001001 cycles: \n" CHAIN "\n", "cycles", "[unknown];main;leaf 1\n", 0,
		  1001001, CPU_NONE },
		{ " 3998    1001001 \n" CHAIN "\n", "samples", "[unknown];main;leaf 1\n", 3998,
		  1001001, CPU_NONE },
		/* -F +addr, +data_src, and fields behind a stack */
		{ "spin  3998 1.5:          7 cycles:      7ffe1234 12 |OP N/A|LCK N/A \n" CHAIN
		  "               0\n",
		  "cycles", "spin;main;leaf 1\n", 3998, 7, CPU_NONE },
		{ "spin  3998 1.5:          7 cycles: \n" CHAIN " ABI:2    IP:0x55d6f3287145 \n",
		  "cycles", "spin;main;leaf 1\n", 3998, 7, CPU_NONE },
		{ "spin  3998 1.5:          7 cycles: \n" CHAIN " insn: 48 01 c2\n", "cycles",
		  "spin;main;leaf 1\n", 3998, 7, CPU_NONE },
		{ "spin  3998 1.5:          7 cycles: \n" CHAIN " a+0x1/b+0x2/P/-/-/0 \n", "cycles",
		  "spin;main;leaf 1\n", 3998, 7, CPU_NONE },
		{ "spin  3998 1.5:          7 cycles: \n" CHAIN
		  "\n|3        while (1)\nPERF_RECORD_FINISHED_ROUND\n",
		  "cycles", "spin;main;leaf 1\n", 3998, 7, CPU_NONE },
		/* -F +srcline */
		{ "spin  3998 1.5:          7 cycles: \n\t            1145 leaf+0xc (/bin/x)\n"
		  "  a.c:3\n\t            11d7 main+0x2 (/bin/x)\n  a.c:9\n\n",
		  "cycles", "spin;main;leaf 1\n", 3998, 7, CPU_NONE },
		/* one frame, behind an event or none, and before and behind other things */
		{ "            spin  3998 1.500000:      557241008145 leaf\n", "samples",
		  "spin;leaf 1\n", 3998, 1, CPU_NONE },
		{ "            spin  3998 cycles:      557241a08145 leaf+0xc (/bin/x) insn: 48 "
		  "01\n",
		  "cycles", "spin;leaf 1\n", 3998, 1, CPU_NONE },
		{ "            spin  3998 1.5:          7 cycles:         7ffe1234      "
		  "557241a08145 "
		  "leaf+0xc (/bin/x)               0\n",
		  "cycles", "spin;leaf 1\n", 3998, 7, CPU_NONE },
		{ "            spin  3998 1.5:          7 cycles:      557241a08145 leaf+0xc "
		  "(/bin/x) "
		  "0x1/0x2/P/-/-/0\n",
		  "cycles", "spin;leaf 1\n", 3998, 7, CPU_NONE },
		{ "            spin  3998 1.5:          1 branches:      557241a08145 leaf+0xc "
		  "(/bin/x) "
		  "=>      557241a08150 main+0x0 (/bin/x)\n",
		  "branches", "spin;leaf 1\n", 3998, 1, CPU_NONE },
		/* one frame, without the fields that perf prints before it by default */
		{ "     557241a08145 leaf\n", "samples", "[unknown];leaf 1\n", 0, 1, CPU_NONE },
		{ " ffffffff81000000 do_work+0x1 ([kernel.kallsyms])\n", "samples",
		  "[unknown];do_work_[k] 1\n", 0, 1, CPU_NONE },
		{ "            my x      557241a08145 leaf+0xc (/bin/x)\n", "samples",
		  "my x;leaf 1\n", 0, 1, CPU_NONE },
		{ "            my x cycles:u:      557241a08145 leaf\n", "cycles:u",
		  "my x;leaf 1\n", 0, 1, CPU_NONE },
		{ "cycles:u:      557241a08145 leaf\n", "cycles:u", "[unknown];leaf 1\n", 0, 1,
		  CPU_NONE },
		{ " 3998      557241a08145 leaf\n", "samples", "[unknown];leaf 1\n", 3998, 1,
		  CPU_NONE },
		{ "            my x  3998    1001001      557241a08145 leaf\n", "samples",
		  "my x;leaf 1\n", 3998, 1001001, CPU_NONE },
		/* the words of a trace point */
		{ "            perf  8136 [000] 7.909988: sched:sched_stat_runtime: dead=perf "
		  "(1)\n",
		  "sched:sched_stat_runtime", "perf;[unknown] 1\n", 8136, 1, 0 },
	};
#undef CHAIN
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char error[200];
		struct profile *p = read_text(cases[i].text, error, sizeof(error));
		const struct samples *s = &p->samples;
		OK_STR(error, "");
		if (!OK(s->n == 1))
			continue;
		OK_STR(fold(p, &counts), cases[i].folded);
		OK_STR(strtab_get(p->strings, s->events[s->at[0].event].name), cases[i].event);
		OK(s->tasks[s->at[0].task].tid == cases[i].tid && s->at[0].cpu == cases[i].cpu);
		OK(s->at[0].weight == cases[i].weight);
		profile_free(p);
	}
	OK_STR(again("name   12345 something\n", &counts, "nothing known"), "");
	OK_STR(again("[    0.1] foo 1.5: bar\n", &counts, "nothing known"), "");
	OK_STR(again("ffffffff81000000 T do_work\nffffffff81000001 T f\n", &counts,
		     "nothing known"),
	       "");
	OK_STR(again("     557241a08145 leaf\n     557241a08145 leaf\n     557241a08155 main\n",
		     &counts, ""),
	       "[unknown];leaf 2\n[unknown];main 1\n");
}

static void times_between_samples_are_added_up(void)
{
	char error[200];
	struct profile *p = read_text("a  1 0.000000: cycles:  401000 f+0x4 (/bin/dd)\n"
				      "a  1 0.000009: cycles:  401000 f+0x4 (/bin/dd)\n"
				      "a  1 0.000004: cycles:  401000 f+0x4 (/bin/dd)\n",
				      error, sizeof(error));
	OK_STR(error, "");
	OK(p->samples.n == 3 && p->samples.at[1].time_ns == 9000);
	OK(p->samples.at[2].time_ns == 13000);
	profile_free(p);
}

static void objects_may_have_brackets(void)
{
	static const struct {
		const char *frame, *name, *object;
	} cases[] = {
		{ "f(int)+0x1 (/opt/a b/lib.so (deleted))", "f(int)", "/opt/a b/lib.so (deleted)" },
		{ "f(int) (/opt/a (1)/lib.so)", "f(int)", "/opt/a (1)/lib.so" },
		{ "[unknown] (/memfd:x (deleted))", "[unknown]", "/memfd:x (deleted)" },
		{ "(anonymous namespace)::f (/bin/x(1))", "(anonymous namespace)::f", "/bin/x(1)" },
		{ "operator()+0x1 (/bin/x)", "operator()", "/bin/x" },
		{ "f+0x1 (/bin/x))", "f", "/bin/x)" },
		{ "f+0x1 (/bin/x+0x1145)", "f", "/bin/x" },
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char error[200], text[200];
		snprintf(text, sizeof(text), "p 1 1.5: 1 cycles: 40 %s\n", cases[i].frame);
		struct profile *p = read_text(text, error, sizeof(error));
		const struct samples *s = &p->samples;
		const struct frame *f = &s->frames[s->stacks[s->at[0].stack].frame];
		OK_STR(strtab_get(p->strings, f->name), cases[i].name);
		OK_STR(strtab_get(p->strings, p->objects[f->object].path), cases[i].object);
		profile_free(p);
	}
}

static void times_off_the_cpu_are_known_by_name(void)
{
	char error[200];
	struct profile *p = read_text("dd  1 1.5:  3000 blocked:  401000 f+0x4 (/bin/dd)\n"
				      "dd  1 1.6:  2000 waiting:  401000 f+0x4 (/bin/dd)\n"
				      "dd  1 1.7:  1000 offcpu-time:  401000 f+0x4 (/bin/dd)\n"
				      "dd  1 1.8:  1 blocked_io:  401000 f+0x4 (/bin/dd)\n",
				      error, sizeof(error));
	static const enum event_kind kinds[] = { EVENT_BLOCKED, EVENT_WAITING, EVENT_BLOCKED,
						 EVENT_ON_CPU };
	OK_STR(error, "");
	OK(p->samples.n == 4);
	for (size_t i = 0; i < p->samples.n; i++) {
		const struct event *e = &p->samples.events[p->samples.at[i].event];
		OK(e->kind == kinds[i] && e->unit == (i < 3 ? EVENT_NS : EVENT_COUNT));
	}
	profile_free(p);
}

static const struct folded_name *inlines(void *arg, frameid frame, size_t *n)
{
	static const struct folded_name names[] = { { "outer", 0 }, { "in;ner", FRAME_INLINED } };
	(void)arg;
	*n = frame == 1 ? 2 : 0;
	return names;
}

static void names_may_come_from_elsewhere(void)
{
	struct profile_builder *b = profile_builder_new();
	struct sample s = { .count = 2, .weight = 7 };
	s.event = profile_add_event(b, (struct event){ .unit = EVENT_NS });
	stackid top = profile_add_stack(b, 0, profile_add_frame(b, (struct frame){ .addr = 0x10 }));
	s.stack = profile_add_stack(b, top, profile_add_frame(b, (struct frame){ .addr = 0x20 }));
	profile_add_sample(b, s);
	s.stack = top;
	profile_add_sample(b, s);
	s.stack = 0;
	profile_add_sample(b, s);
	struct profile *p = profile_finish(b);
	OK_STR(fold(p,
		    &(struct folded_opts){ .names = inlines, .annotate = true, .weights = true }),
	       "[unknown];[unknown] 7\n"
	       "[unknown];outer;in:ner_[i] 7\n"
	       "[unknown];outer;in:ner_[i];0x20 7\n");
	profile_free(p);
}

int main(void)
{
	lines_come_out_as_they_went_in();
	equal_lines_are_summed_and_sorted();
	the_first_name_may_be_a_function();
	decimals_are_kept();
	a_stack_may_be_one_frame();
	two_numbers_are_a_comparison();
	what_was_never_seen_is_no_sample();
	damaged_lines_are_told();
	perf_script_is_read();
	other_lines_are_passed_over();
	fields_may_be_missing_or_more();
	times_between_samples_are_added_up();
	objects_may_have_brackets();
	times_off_the_cpu_are_known_by_name();
	names_may_come_from_elsewhere();
	return DONE();
}
