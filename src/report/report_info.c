/* report_info.c - the contents of the data and of the program, before any analysis. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/audit.h"
#include "base/capped.h"
#include "names/kept.h"
#include "paths/path_tree.h"
#include "profile/span.h"
#include "report/reports.h"

enum { ABOUT, FACT, VALUE, DETAIL };

static const struct kin_column columns[] = {
	[ABOUT] = { "about", "about",
		    "what the fact is about: program, file, object, thread, "
		    "marker, samples, time, calls, blocks, own code, others' code, audit, "
		    "check",
		    KIN_CELL_TEXT },
	[FACT] = { "fact", "fact", "its value", KIN_CELL_TEXT },
	[VALUE] = { "value", "value", "a number, time or text", KIN_CELL_TEXT },
	[DETAIL] = { "detail", "detail", "more about it", KIN_CELL_TEXT },
};

static void add_fact(struct kin_table *t, const char *about, const char *fact,
		     struct kin_cell value, const char *detail)
{
	struct kin_cell *c = table_add_row(t, (struct kin_row){ .kind = KIN_ROW_PLAIN });
	c[ABOUT] = cell_text(about);
	c[FACT] = cell_text(fact);
	c[VALUE] = value;
	if (detail)
		c[DETAIL] = cell_text(table_text(t, detail));
}

static void add_text(struct kin_table *t, const char *about, const char *fact, const char *text)
{
	add_fact(t, about, fact, cell_text(table_text(t, text)), NULL);
}

static const char *yes_no(bool yes) { return yes ? "yes" : "no"; }

/* The kept names of an object; NULL if its file was read. */
static const struct kept_object *kept_of(const struct symbols_part *p)
{
	return p->object ? object_kept(p->object) : NULL;
}

/* The number of functions in an object for which only some functions became places. */
static size_t count_elsewhere(const struct symbols_part *p)
{
	struct symbol_table t = { 0 };
	size_t n = 0;
	if (kept_of(p))
		return kept_of(p)->n_functions;
	if (!p->is_chosen)
		return 0;
	kin_error_free(object_symbols(p->object, &(struct symtab_opts){ .exact = true }, &t));
	for (size_t i = 0; i < t.n; i++)
		n += t.at[i].flags & SYMBOL_FUNCTION && t.at[i].owner == i;
	free(t.at);
	return n;
}

static void add_program(struct kin_table *t, const struct report_input *in)
{
	struct object_file *o = in->symbols->object;
	struct address_range r = { 0 };
	char range[64];
	size_t functions = 0, lines = 0;

	if (!o)
		return;
	for (size_t i = 0; i < in->symbols->n_parts; i++)
		if (in->symbols->parts[i].object == o)
			functions += count_elsewhere(&in->symbols->parts[i]);
	for (size_t i = 0; i < in->symbols->n; i++) {
		const struct symbol *s = &in->symbols->at[i];
		const struct symbols_part *p = &in->symbols->parts[s->part];
		if (p->object != o)
			continue;
		functions += s->is_function && s->owner == i && !kept_of(p) && !p->is_chosen;
		lines += s->is_line;
	}
	r = object_profiled(o);
	add_text(t, "program", "path", object_path(o));
	add_text(t, "program", "machine", object_machine(o));
	add_text(t, "program", "byte order", object_big_endian(o) ? "big-endian" : "little-endian");
	add_fact(t, "program", "bits of an address", cell_count(object_is_64bit(o) ? 64 : 32),
		 NULL);
	if (object_build_id(o))
		add_text(t, "program", "build id", object_build_id(o));
	add_fact(t, "program", "functions", cell_count(functions), NULL);
	if (lines)
		add_fact(t, "program", "line places", cell_count(lines), NULL);
	add_text(t, "program", "line information", yes_no(object_has_lines(o)));
	if (r.low < r.high) {
		snprintf(range, sizeof(range), "0x%" PRIx64 "-0x%" PRIx64, r.low, r.high);
		add_text(t, "program", "code that is profiled", range);
	}
}

static void add_sources(struct kin_table *t, const struct profile *p)
{
	char text[160];

	for (size_t i = 0; i < p->n_sources; i++) {
		const struct source *s = &p->sources[i];
		snprintf(text, sizeof(text),
			 "%s, version %d: %" PRIu32 " histogram, %" PRIu32 " call, %" PRIu32
			 " block records",
			 s->kind, s->version, s->n_histograms, s->n_arcs, s->n_blocks);
		add_fact(t, "file", "path",
			 cell_text(table_text(t, strtab_get(p->strings, s->path))),
			 s->left_out  ? "left out: of the same run as a recording"
			 : s->version ? text
				      : s->kind);
		for (size_t k = 0; k < p->n_facts; k++)
			if (p->facts[k].source == i)
				add_text(t, "file",
					 table_text(t, strtab_get(p->strings, p->facts[k].name)),
					 strtab_get(p->strings, p->facts[k].value));
	}
}

/* ---- contents of recordings ---- */

static const char *kind_of(const struct object *o)
{
	static const char *const kinds[] = {
		[OBJECT_ELF] = "file",
		[OBJECT_KERNEL] = "kernel",
		[OBJECT_KERNEL_MODULE] = "kernel module",
		[OBJECT_VDSO] = "vdso",
		[OBJECT_JIT] = "code made at run time",
		[OBJECT_OTHER] = "memory",
	};
	return o->is_main ? "program" : kinds[o->kind];
}

static void add_objects(struct kin_table *t, const struct profile *p)
{
	for (size_t i = 1; i < p->n_objects; i++) {
		const struct object *o = &p->objects[i];
		const char *path = strtab_get(p->strings, o->path);
		const char *id = strtab_get(p->strings, o->build_id);
		int n = (int)kept_build_id_length(p->kept, path, id);
		char *detail = xprintf("build id %.*s", n, id);
		add_fact(t, "object", kind_of(o), cell_text(table_text(t, path)),
			 n ? detail : NULL);
		free(detail);
	}
}

struct ranked_file {
	uint64_t cpu_ns, sampled_ns, n_samples;
	size_t task;
};

static int by_time(const void *a, const void *b)
{
	const struct ranked_file *x = a, *y = b;
	if (x->cpu_ns != y->cpu_ns)
		return x->cpu_ns < y->cpu_ns ? 1 : -1;
	if (x->sampled_ns != y->sampled_ns)
		return x->sampled_ns < y->sampled_ns ? 1 : -1;
	if (x->n_samples != y->n_samples)
		return x->n_samples < y->n_samples ? 1 : -1;
	return x->task < y->task ? -1 : x->task > y->task;
}

/* Threads by their CPU time, largest first; to be freed. */
static struct ranked_file *rank_threads(const struct profile *p, size_t n)
{
	const struct samples *s = &p->samples;
	struct ranked_file *at = xalloc((n + 1) * sizeof(*at));
	for (size_t i = 0; i < n; i++)
		at[i] = (struct ranked_file){ .cpu_ns = s->tasks[i + 1].cpu_ns,
					      .sampled_ns = s->tasks[i + 1].sampled_ns,
					      .task = i + 1 };
	for (size_t i = 0; i < s->n; i++)
		if (s->at[i].task)
			at[s->at[i].task - 1].n_samples += s->at[i].count;
	qsort(at, n, sizeof(*at), by_time);
	return at;
}

static char *times_text(uint64_t cpu_ns, uint64_t sampled_ns)
{
	char *cpu = cpu_ns ? xprintf(", %.6f s of CPU time", (double)cpu_ns / 1e9) : NULL;
	char *sampled = sampled_ns ? xprintf(", %.6f s sampled", (double)sampled_ns / 1e9) : NULL;
	char *text = xprintf("%s%s", cpu ? cpu : "", sampled ? sampled : "");
	free(cpu);
	free(sampled);
	return text;
}

static void add_thread(struct kin_table *t, const struct profile *p, const struct task *k,
		       bool many_runs)
{
	char *times = times_text(k->cpu_ns, k->sampled_ns);
	char *whose = k->pid   ? xprintf("pid %" PRIu32 ", tid %" PRIu32, k->pid, k->tid)
		      : k->tid ? xprintf("tid %" PRIu32, k->tid)
			       : xprintf("of numbers not known");
	char *run = many_runs ? xprintf(", run %" PRIu32, k->run + 1) : NULL;
	char *detail = xprintf("%s%s%s", whose, run ? run : "", times);
	add_fact(t, "thread", "name", cell_text(table_text(t, strtab_get(p->strings, k->comm))),
		 detail);
	free(detail);
	free(run);
	free(whose);
	free(times);
}

static void add_other_threads(struct kin_table *t, const struct ranked_file *at, size_t n)
{
	uint64_t cpu_ns = 0, sampled_ns = 0;
	for (size_t i = 0; i < n; i++) {
		cpu_ns += at[i].cpu_ns;
		sampled_ns += at[i].sampled_ns;
	}
	char *times = times_text(cpu_ns, sampled_ns);
	char *detail = xprintf("together%s: --threads=all shows each", times);
	add_fact(t, "thread", "others", cell_count(n), detail);
	free(detail);
	free(times);
}

/* Adds threads in the order of the data; if there are too many, only those with the most CPU
 * time. */
static void add_threads(struct kin_table *t, const struct profile *p, size_t most)
{
	size_t n = p->samples.n_tasks ? p->samples.n_tasks - 1 : 0;
	bool many_runs = false, all = !most || n <= most;
	struct ranked_file *at = all ? NULL : rank_threads(p, n);

	for (size_t i = 1; i <= n; i++)
		many_runs |= p->samples.tasks[i].run > 0;
	for (size_t i = 0; i < (all ? n : most); i++)
		add_thread(t, p, &p->samples.tasks[all ? i + 1 : at[i].task], many_runs);
	if (!all)
		add_other_threads(t, at + most, n - most);
	free(at);
}

/* Adds markers, with their time relative to the first sample, as --time takes it. */
static void add_markers(struct kin_table *t, const struct profile *p)
{
	const struct samples *s = &p->samples;
	uint64_t first_ns = span_of(p).from_ns;

	for (size_t i = 0; i < s->n_markers; i++) {
		const struct marker *m = &s->markers[i];
		bool after = m->time_ns >= first_ns;
		uint64_t ns = after ? m->time_ns - first_ns : first_ns - m->time_ns;
		char *when = s->n ? xprintf("%s%" PRIu64 ".%06" PRIu64 " s", after ? "+" : "-",
					    ns / 1000000000, ns / 1000 % 1000000)
				  : NULL;
		add_fact(t, "marker", table_text(t, strtab_get(p->strings, m->name)),
			 cell_text(when ? table_text(t, when) : ""),
			 when ? "from the first sample on" : NULL);
		free(when);
	}
}

static void add_events(struct kin_table *t, const struct profile *p)
{
	const struct samples *s = &p->samples;

	for (size_t i = 0; i < s->n_events; i++) {
		const struct event *e = &s->events[i];
		char text[160];
		uint64_t count = 0;
		double weight = 0;
		for (size_t k = 0; k < s->n; k++) {
			if (s->at[k].event != i)
				continue;
			count += s->at[k].count;
			weight += (double)s->at[k].weight;
		}
		if (e->unit == EVENT_NS)
			snprintf(text, sizeof(text), "stand for %.6f s%s", weight / 1e9,
				 e->kind == EVENT_BLOCKED   ? " asleep"
				 : e->kind == EVENT_WAITING ? " waiting for a CPU"
							    : "");
		else
			snprintf(text, sizeof(text), "stand for %.0f", weight);
		add_fact(t, "samples", table_text(t, strtab_get(p->strings, e->name)),
			 cell_count(count), text);
	}
	if (s->n)
		add_fact(t, "samples", "distinct stacks", cell_count(samples_distinct_stacks(s)),
			 "callers of others among them");
}

/* The share of n in n + others, "12.5 % of all"; NULL if others is 0. */
static char *part_of(uint64_t n, uint64_t others, const char *of)
{
	double all = (double)n + (double)others;
	return others ? xprintf("%.3g %% of %s", 100 * (double)n / all, of) : NULL;
}

static void add_share(struct kin_table *t, const char *fact, uint64_t n, uint64_t others,
		      const char *of)
{
	char *detail = part_of(n, others, of);
	if (n)
		add_fact(t, "audit", fact, cell_count(n), detail);
	free(detail);
}

static void add_cpu_time(struct kin_table *t, const struct profile *p)
{
	const struct audit *a = &p->samples.audit;
	const struct {
		const char *fact;
		uint64_t ns;
	} times[] = {
		{ "CPU time by the kernel", a->cpu_ns },
		{ "CPU time sampled", a->sampled_ns },
		{ "duration", a->duration_ns },
	};
	for (size_t i = 0; i < ARRAY_LEN(times); i++) {
		if (!times[i].ns)
			continue;
		char *value = xprintf("%.6f s", (double)times[i].ns / 1e9), *detail = NULL;
		if (i == 1 && audit_is_behind(p))
			detail = xprintf("the kernel's accounting is from before the last of them");
		else if (i == 1 && audit_knows_time(p))
			detail = xprintf("%.1f %% of the kernel's accounting",
					 100 * (double)a->sampled_ns / (double)a->cpu_ns);
		add_fact(t, "audit", times[i].fact, cell_text(table_text(t, value)), detail);
		free(value);
		free(detail);
	}
}

/* Adds the requested sampling rate, and the rate that was reached. */
static void add_rate(struct kin_table *t, const struct profile *p)
{
	double rate = audit_rate(p);
	if (rate <= 0 || audit_is_behind(p))
		return;
	const struct event *e = &p->samples.events[samples_event(&p->samples)];
	double asked = e->frequency                       ? (double)e->frequency
		       : e->unit == EVENT_NS && e->period ? 1e9 / (double)e->period
							  : 0;
	char *detail = asked > 0 ? xprintf("per second of CPU time; asked for: %.4g", asked)
				 : xprintf("per second of CPU time");
	add_fact(t, "audit", "samples taken", cell_number((double)(uint64_t)(10 * rate + 0.5) / 10),
		 detail);
	free(detail);
}

/* Adds the objects in which stack walks ended, and those that have samples without names. */
static void add_objects_at_fault(struct kin_table *t, const struct report_input *in)
{
	const struct profile *p = in->profile;
	for (size_t i = 0; i < p->samples.n_failures && i < 10; i++) {
		const struct unwind_failure *f = &p->samples.failures[i];
		add_fact(t, "audit", "stacks that ended in", cell_count(f->count),
			 strtab_get(p->strings, p->objects[f->object].path));
	}
	for (objid i = 0; in->program && i < p->n_objects; i++)
		if (program_unnamed(in->program, i))
			add_fact(t, "audit", "samples without a name in",
				 cell_count(program_unnamed(in->program, i)),
				 program_object_name(in->program, i));
}

/* Adds what tells how far the data can be trusted: coverage always, defects only if there are
 * some. */
static void add_audit(struct kin_table *t, const struct report_input *in)
{
	const struct profile *p = in->profile;
	const struct audit *a = &p->samples.audit;
	const struct {
		const char *fact, *detail;
		uint64_t n;
	} counts[] = {
		{ "samples without meaning", "what they refer to is not in the file",
		  a->unresolved },
		{ "sampling held back", "times, by the kernel", a->throttled },
		{ "calls lost", "could not be counted", a->lost_arcs },
		{ "block executions lost", "could not be counted", a->lost_blocks },
		{ "threads lost", "have no counts of their own", a->lost_threads },
		{ "objects lost", "were mapped and are not in the file", a->lost_modules },
		{ "context switches", NULL, a->switches },
		{ "preemptions", NULL, a->preemptions },
	};
	add_cpu_time(t, p);
	add_rate(t, p);
	add_share(t, "samples lost", a->lost, p->samples.n, "all");
	struct audit_stacks stacks = audit_stacks(p);
	add_share(t, "stacks complete", stacks.complete, stacks.all - stacks.complete, "all");
	add_share(t, "stacks guessed", stacks.guessed, stacks.all - stacks.guessed,
		  "all: callers above [guessed] are likely, not certain");
	add_share(t, "stacks cut short", stacks.cut, stacks.all - stacks.cut,
		  "all: they could not be walked to their end");
	add_share(
		t, "of them beyond the copy", stacks.beyond, stacks.cut - stacks.beyond,
		"those: the kernel copies 64 KiB of a stack at most; kin run walks them in place");
	add_share(t, "stacks walked in two ways", stacks.checked, stacks.all - stacks.checked,
		  "all: by call-frame information, and by frame pointers");
	add_share(t, "of them contradicted", stacks.contradicted,
		  stacks.checked - stacks.contradicted, "those: the ways found different callers");
	for (size_t i = 0; i < ARRAY_LEN(counts); i++)
		if (counts[i].n)
			add_fact(t, "audit", counts[i].fact, cell_count(counts[i].n),
				 counts[i].detail);
	add_objects_at_fault(t, in);
}

static void add_time(struct kin_table *t, const struct report_input *in)
{
	const struct callgraph *g = in->graph;
	const struct profile *p = in->profile;
	double ticks = 0;
	char text[96];

	if (!p->n_histograms)
		return;
	for (size_t i = 0; i < p->n_histograms; i++) {
		const struct histogram *h = &p->histograms[i];
		double in_it = 0;
		struct hit hit;
		for (size_t at = 0; histogram_next(h, &at, &hit);)
			in_it += (double)hit.count;
		ticks += in_it;
		snprintf(text, sizeof(text),
			 "0x%" PRIx64 "-0x%" PRIx64 " in %" PRIu32 " bins of %.4g bytes", h->low,
			 h->high, h->n, h->n ? (double)(h->high - h->low) / h->n : 0);
		add_fact(t, "time", "histogram", cell_number(in_it), text);
	}
	snprintf(text, sizeof(text), "per unit of '%s'", g->dimension);
	add_fact(t, "time", "ticks", cell_number(ticks), NULL);
	add_fact(t, "time", "rate", cell_number(g->rate), text);
	add_fact(t, "time", "total", cell_time(ticks), NULL);
	add_fact(t, "time", "outside all functions", cell_time(g->outside),
		 g->outside > 0 ? "code without a symbol: in no row of any report" : NULL);
	add_fact(t, "time", "of functions", cell_text("measured"), "split where two share a bin");
}

static void add_calls(struct kin_table *t, const struct report_input *in)
{
	const struct profile *p = report_flat(in);
	uint64_t calls = 0, outside = 0, unknown = 0;

	if (!p->n_arcs)
		return;
	for (size_t i = 0; i < p->n_arcs; i++) {
		struct arc a = arc_at(&p->arcs, i);
		calls = capped_sum(calls, a.count);
		if (symbols_find(in->symbols, a.to) == NONE)
			unknown = capped_sum(unknown, a.count);
		else if (symbols_find(in->symbols, a.from) == NONE)
			outside = capped_sum(outside, a.count);
	}
	add_fact(t, "calls", "records", cell_count(p->n_arcs), "pairs of call site and callee");
	add_fact(t, "calls", "calls", cell_count(calls), NULL);
	add_fact(t, "calls", "from elsewhere", cell_count(outside),
		 outside ? "the caller is not a function of the program" : NULL);
	add_fact(t, "calls", "to elsewhere", cell_count(unknown),
		 unknown ? "the callee is not a function of the program" : NULL);
	add_fact(t, "calls", "cycles", cell_count(in->graph->n_cycles), NULL);
	if (p->n_histograms)
		add_fact(t, "calls", "time with callees", cell_text("estimated"),
			 "apportioned by call counts");
}

static void add_blocks(struct kin_table *t, const struct report_input *in)
{
	const struct profile *p = report_flat(in);
	size_t outside = 0;

	if (!p->n_blocks)
		return;
	for (size_t i = 0; i < p->n_blocks; i++)
		outside += symbols_find(in->symbols, p->blocks[i].addr) == NONE;
	add_fact(t, "blocks", "records", cell_count(p->n_block_records), NULL);
	add_fact(t, "blocks", "block counts", cell_count(p->n_blocks), NULL);
	add_fact(t, "blocks", "outside all functions", cell_count(outside), NULL);
}

static void add_rulings(struct kin_table *t, const struct report_input *in)
{
	for (size_t i = 0; i < in->n_rulings; i++) {
		const struct own_ruling *r = &in->rulings[i];
		add_fact(t, r->verdict.is_own ? "own code" : "others' code",
			 table_text(t, r->where), cell_share(r->share), r->verdict.why);
	}
}

static bool is_doubt(const struct report_input *in, const char *text)
{
	return remarks_have(in->remarks, KIN_REMARK_DOUBT, text);
}

/* Adds failures that happened while the rows above were made: these are not among the doubts
 * yet. */
static size_t add_new_troubles(struct kin_table *t, const struct report_input *in, bool shown)
{
	const struct remarks *of = in->program ? program_remarks(in->program) : NULL;
	const char *text;
	size_t n = 0;
	for (size_t i = 0; (text = remarks_next(of, KIN_REMARK_DOUBT, &i));) {
		if (is_doubt(in, text))
			continue;
		if (shown)
			add_text(t, "check", "doubt", text);
		n++;
	}
	return n;
}

static void add_remarks(struct kin_table *t, const struct report_input *in, enum kin_remark kind,
			const char *name)
{
	const char *text;
	for (size_t i = 0; (text = remarks_next(in->remarks, kind, &i));)
		add_text(t, "check", name, text);
}

static void put_part(FILE *f, const char **between, double share, const char *what)
{
	if (share > 0)
		fprintf(f, "%s%.3g %% %s", *between, 100 * share, what);
	*between = share > 0 ? ", " : *between;
}

/* What is proved of the stacks and what is not; NULL: there are none with callers. */
static char *proof_of(const struct profile *p)
{
	const struct audit_stacks s = audit_stacks(p);
	const char *between = "of the stacks ";
	double all = (double)s.all;
	char *text = NULL;
	size_t size;

	if (!s.all)
		return samples_have_callers(&p->samples)
			       ? xprintf("stacks are as the file has them, not proved")
			       : NULL;
	if (s.complete == s.all)
		return xprintf("the end of all stacks is proved");
	FILE *f = xopen_memstream(&text, &size);
	put_part(f, &between, floor(1000 * (double)s.complete / all) / 1000, "have a proved end");
	put_part(f, &between, (double)s.guessed / all, "have guessed callers");
	put_part(f, &between, (double)s.cut / all, "are cut");
	xclose_memstream(f, &text);
	return text;
}

static void add_checks(struct kin_table *t, const struct report_input *in)
{
	char *proof = proof_of(in->profile);

	if (in->program)
		program_look_for_troubles(in->program);
	bool in_doubt = is_doubt(in, NULL) || add_new_troubles(t, in, false);
	bool fits = !remarks_have(in->remarks, KIN_REMARK_WARNING, NULL);
	add_text(t, "check", "data fits the program", fits ? "yes" : "in doubt");
	add_remarks(t, in, KIN_REMARK_WARNING, "warning");
	add_text(t, "check", "a sum was too large", yes_no(in->profile->saturated));
	add_fact(t, "check", "can be trusted",
		 cell_text(table_text(t, in_doubt ? "in doubt" : "yes")), proof);
	free(proof);
	add_remarks(t, in, KIN_REMARK_DOUBT, "doubt");
	add_new_troubles(t, in, true);
}

static struct kin_error *info_run(const struct report_input *in, const struct report_opts *o,
				  struct kin_table **ret)
{
	struct kin_table *t = table_new("info", "What the data holds", columns, ARRAY_LEN(columns));

	report_describe(in, t);
	add_program(t, in);
	add_sources(t, in->profile);
	add_objects(t, in->profile);
	add_threads(t, in->profile, o->max_threads);
	add_markers(t, in->profile);
	add_events(t, in->profile);
	add_audit(t, in);
	add_time(t, in);
	add_calls(t, in);
	add_blocks(t, in);
	add_rulings(t, in);
	add_checks(t, in);
	bool empty = report_is_empty(in, NULL);
	if (!empty && !in->profile->n_histograms && !in->profile->samples.n)
		table_note(t, "The data holds no samples of time: only what was called or executed "
			      "is known.");
	if (!empty && !in->profile->n_arcs && !in->profile->samples.n)
		table_note(
			t,
			"The data holds no calls: there is time of functions, but no call graph.");
	*ret = t;
	return NULL;
}

const struct report info_report = {
	.name = "info",
	.help = "what the data and the program hold",
	.run = info_run,
};
