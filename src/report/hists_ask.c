/* hists_ask.c - parses the words of options: keys, columns, chains, filters. Their syntax is that
 * of perf report. */
#include "report/hists_ask.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/hist_key.h"
#include "base/err.h"
#include "base/wordlist.h"
#include "profile/detail.h"
#include "report/hists_style.h"

static const struct {
	const char *name;
	enum field_kind kind;
} figures[] = {
	{ "overhead_children", FIELD_CHILDREN },
	{ "overhead", FIELD_SELF },
	{ "latency_children", FIELD_LATENCY_CHILDREN },
	{ "latency", FIELD_LATENCY },
	{ "sample", FIELD_SAMPLES },
	{ "samples", FIELD_SAMPLES },
	{ "period", FIELD_PERIOD },
	{ "overhead_sys", FIELD_KERNEL },
	{ "overhead_us", FIELD_USER },
	{ "overhead_guest_sys", FIELD_GUEST_KERNEL },
	{ "overhead_guest_us", FIELD_GUEST_USER },
};

/* Keys of perf report 6.1 that have no equivalent here. */
static const struct {
	const char *name, *why;
} perfs_own[] = {
	{ "addr", "symoff has the function and how far into it" },
	{ "dso_size",
	  "how much of a file was mapped is not kept; symbol_size has that of functions" },
	{ "ipc_lbr",
	  "instructions of basic blocks are not counted: cycles has the time of branches" },
};

/* ---- words ---- */

/* `whole`: names with commas in brackets are one word. */
static const char *const *words(struct arena *a, const char *list, bool whole, size_t *n)
{
	const char **ret = arena_alloc(a, (strlen(list) + 2) * sizeof(*ret));
	struct word w;
	*n = 0;
	while (whole ? words_next_name(&list, &w) : words_next(&list, ",", &w))
		ret[(*n)++] = word_copy(a, w);
	return ret;
}

static struct kin_error *bad(const char *option, const char *word, const char *what)
{
	return err_new(KIN_ERROR_USAGE, "%s: '%.80s' is not %s", option, word, what);
}

/* ---- columns and order ---- */

static struct kin_error *find_field(const char *word, const char *option, struct field *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(figures); i++)
		if (!strcmp(word, figures[i].name)) {
			*ret = (struct field){ figures[i].kind, 0 };
			return NULL;
		}
	for (enum hist_key k = 0; k < N_HIST_KEYS; k++)
		if (!strcmp(word, hist_keys[k].name) ||
		    (hist_keys[k].alias && !strcmp(word, hist_keys[k].alias))) {
			*ret = (struct field){ FIELD_KEY, k };
			return NULL;
		}
	for (size_t i = 0; i < ARRAY_LEN(perfs_own); i++)
		if (!strcmp(word, perfs_own[i].name))
			return err_new(KIN_ERROR_USAGE, "%s: unsupported key '%s': %s", option,
				       word, perfs_own[i].why);
	struct arena a = { 0 };
	const char *list = "overhead, overhead_children, latency, latency_children, sample, period";
	for (enum hist_key k = 0; k < N_HIST_KEYS; k++)
		if (hist_keys[k].need == NEED_NOTHING && k != HIST_IPC)
			list = arena_printf(&a, "%s, %s", list, hist_keys[k].name);
	struct kin_error *err =
		err_new(KIN_ERROR_USAGE,
			"%s: unknown key '%.80s'; valid: %s; kin help report lists those of some "
			"recordings",
			option, word, list);
	arena_release(&a);
	return err;
}

static bool has_field(const struct hists_ask *a, struct field f)
{
	for (size_t i = 0; i < a->fields.n; i++)
		if (a->fields.at[i].kind == f.kind && a->fields.at[i].key == f.key)
			return true;
	return false;
}

static void add_field(struct hists_ask *a, struct field f)
{
	if (!has_field(a, f))
		vec_push(&a->fields, f);
}

static struct hist_term term_of(struct field f)
{
	static const enum hist_term_kind kinds[] = {
		[FIELD_CHILDREN] = TERM_CHILDREN,
		[FIELD_SELF] = TERM_SELF,
		[FIELD_LATENCY_CHILDREN] = TERM_LATENCY_CHILDREN,
		[FIELD_LATENCY] = TERM_LATENCY,
		[FIELD_SAMPLES] = TERM_COUNT,
		[FIELD_PERIOD] = TERM_WEIGHT,
		[FIELD_KERNEL] = TERM_LEVEL,
		[FIELD_USER] = TERM_LEVEL,
		[FIELD_GUEST_KERNEL] = TERM_LEVEL,
		[FIELD_GUEST_USER] = TERM_LEVEL,
		[FIELD_KEY] = TERM_KEY,
	};
	struct hist_term t = { .kind = kinds[f.kind], .key = f.key };
	if (t.kind == TERM_LEVEL)
		t.level = (enum hist_level)(f.kind - FIELD_KERNEL);
	return t;
}

static struct field field_of(struct hist_term t)
{
	static const enum field_kind kinds[] = {
		[TERM_CHILDREN] = FIELD_CHILDREN,
		[TERM_SELF] = FIELD_SELF,
		[TERM_LATENCY_CHILDREN] = FIELD_LATENCY_CHILDREN,
		[TERM_LATENCY] = FIELD_LATENCY,
		[TERM_COUNT] = FIELD_SAMPLES,
		[TERM_WEIGHT] = FIELD_PERIOD,
		[TERM_LEVEL] = FIELD_KERNEL,
		[TERM_KEY] = FIELD_KEY,
	};
	return (struct field){ (enum field_kind)(kinds[t.kind] + t.level), t.key };
}

static void add_term(struct hists_ask *a, struct field f)
{
	struct hist_term t = term_of(f);
	for (size_t i = 0; i < a->terms.n; i++)
		if (a->terms.at[i].kind == t.kind && a->terms.at[i].key == t.key &&
		    a->terms.at[i].level == t.level)
			return;
	vec_push(&a->terms, t);
}

static void add_figures(struct hists_ask *a, bool as_terms)
{
	const struct kin_hists_opts *g = a->given;
	static const enum field_kind kinds[] = { FIELD_LATENCY_CHILDREN, FIELD_LATENCY,
						 FIELD_CHILDREN, FIELD_SELF };
	bool children = !a->opts.no_children;
	bool wanted[] = { g->latency && children, g->latency, children, true };
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (wanted[i] && as_terms)
			add_term(a, (struct field){ kinds[i], 0 });
		else if (wanted[i])
			add_field(a, (struct field){ kinds[i], 0 });
	if (as_terms)
		return;
	if (g->levels) {
		add_field(a, (struct field){ FIELD_KERNEL, 0 });
		add_field(a, (struct field){ FIELD_USER, 0 });
	}
	if (g->show_samples)
		add_field(a, (struct field){ FIELD_SAMPLES, 0 });
	if (g->show_period)
		add_field(a, (struct field){ FIELD_PERIOD, 0 });
}

/* Rows are sorted by the figures first. With lists_lead this is not so if the given list contains
 * the word "overhead": that figure is then sorted at its position in the list. */
static void add_first_terms(struct hists_ask *a)
{
	const struct kin_hists_opts *g = a->given;
	const char *list = a->style->lists_lead && g->sort ? g->sort : "";
	bool given = strstr(list, "overhead"), children = !a->opts.no_children;
	if (!given)
		add_figures(a, true);
	else if (children && !strstr(list, "overhead_children"))
		add_term(a, (struct field){ FIELD_CHILDREN, 0 });
}

static struct kin_error *add_list(struct hists_ask *a, const char *option, const char *list,
				  bool as_terms)
{
	for (char *w; (w = words_next_copy(&a->arena, &list, ",+ "));) {
		struct field f = { 0 };
		struct kin_error *err = find_field(w, option, &f);
		if (err)
			return err;
		if (as_terms)
			add_term(a, f);
		else
			add_field(a, f);
	}
	return NULL;
}

const char *hists_ask_usual_keys(const struct hists_ask *a)
{
	if (a->given->accesses)
		return "local_weight,mem,sym,dso,symbol_daddr,dso_daddr,snoop,tlb,locked,blocked,"
		       "local_ins_lat";
	if (a->traces && a->style->trace_keys)
		return a->style->trace_keys;
	if (a->overview)
		return a->opts.fold_threads ? "comm,dso,sym" : "dso,sym";
	return a->branches ? "comm,dso_from,symbol_from,symbol_to,cycles" : "comm,dso,sym";
}

/* Drops the column Children if no row can have a value; a list of columns that was given stays. */
static void drop_children(struct hists_ask *a)
{
	size_t n = 0;
	for (size_t i = 0; i < a->fields.n; i++)
		if (a->fields.at[i].kind != FIELD_CHILDREN)
			a->fields.at[n++] = a->fields.at[i];
	a->fields.n = n;
}

/* Chooses columns and sort order. Given columns (-F) also define the order, unless keys (-s) do so
 * first. Keys alone come after the figures. Entries of either list are added to the other. */
static struct kin_error *choose_fields(struct hists_ask *a)
{
	const struct kin_hists_opts *g = a->given;
	bool only_fields = g->fields && g->fields[0] != '+';
	const char *usual = hists_ask_usual_keys(a);
	enum hist_key more;
	struct kin_error *err;
	if (!only_fields)
		add_first_terms(a);
	if (!only_fields || g->sort) {
		if ((!g->sort || g->sort[0] == '+') && (err = add_list(a, "--sort", usual, true)))
			return err;
		if (g->sort && (err = add_list(a, "--sort", g->sort, true)))
			return err;
	}
	if (a->style->more_key && a->style->more_key(a, &more))
		add_term(a, (struct field){ FIELD_KEY, more });
	if (g->parent)
		add_term(a, (struct field){ FIELD_KEY, HIST_PARENT });
	if (!only_fields)
		add_figures(a, false);
	if (g->fields && (err = add_list(a, "--columns", g->fields, false)))
		return err;
	if (a->style->says_missing && !only_fields && !a->stacks && !g->no_children)
		drop_children(a);
	for (size_t i = 0; i < a->terms.n; i++)
		add_field(a, field_of(a->terms.at[i]));
	for (size_t i = 0; i < a->fields.n; i++) {
		add_term(a, a->fields.at[i]);
		if (a->fields.at[i].kind == FIELD_KEY)
			vec_push(&a->keys, a->fields.at[i].key);
	}
	return NULL;
}

/* ---- chains ---- */

static bool chain_word(struct hists_ask *a, const char *w)
{
	static const char *const modes[] = { "none", "graph", "fractal", "flat", "folded" };
	static const char *const values[] = { "percent", "period", "count" };
	static const char *const keys[] = { "function", "address", "srcline" };
	for (size_t i = 0; i < ARRAY_LEN(modes); i++)
		if (!strcmp(w, modes[i])) {
			a->mode = (enum chain_mode)i;
			return true;
		}
	for (size_t i = 0; i < ARRAY_LEN(values); i++)
		if (!strcmp(w, values[i])) {
			a->value = (enum chain_value)i;
			return true;
		}
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (!strcmp(w, keys[i])) {
			a->opts.chain_key = (enum chain_key)i;
			return true;
		}
	if (strcmp(w, "caller") != 0 && strcmp(w, "callee") != 0)
		return !strcmp(w, "branch");
	a->opts.order = w[4] == 'e' && w[5] == 'r' ? CHAIN_CALLER : CHAIN_CALLEE;
	return true;
}

static struct kin_error *read_call_graph(struct hists_ask *a)
{
	const char *list = a->given->call_graph ? a->given->call_graph : "";
	size_t n = 0;
	a->mode = MODE_GRAPH;
	a->opts.order = a->given->no_children ? CHAIN_CALLEE : CHAIN_CALLER;
	a->threshold = 0.5;
	for (char *w; (w = words_next_copy(&a->arena, &list, ", "));) {
		char *end;
		if (chain_word(a, w))
			continue;
		double number = strtod(w, &end);
		if (end == w || *end || !(number >= 0) || n == 2 || !isfinite(number))
			return bad(
				"--call-graph", w,
				"graph, fractal, flat, folded, none, caller, callee, function, "
				"address, srcline, percent, period, count, a threshold or a limit");
		if (n++)
			a->print_limit = number < UINT32_MAX ? (uint32_t)number : 0;
		else
			a->threshold = number;
	}
	if (a->given->has_percent_limit)
		a->threshold = a->given->percent_limit;
	a->opts.chains = a->mode != MODE_NONE;
	return NULL;
}

/* ---- filters ---- */

static const char *const *name_list(struct hists_ask *a, const char *list, enum hist_key key)
{
	size_t n;
	if (!list)
		return NULL;
	const char *const *names = words(&a->arena, list, !a->style->splits_names, &n);
	if (n == 1)
		a->elided[key] = names[0];
	return n ? names : NULL;
}

static struct kin_error *read_filters(struct hists_ask *a, const struct profile *p)
{
	const struct kin_hists_opts *g = a->given;
	struct kin_error *err = sample_filter_new(
		p,
		&(struct sample_filter_texts){ .comms = g->comms,
					       .pids = g->pids,
					       .tids = g->tids,
					       .cpus = g->cpus,
					       .parallelism = g->parallelism,
					       .times = g->times,
					       .splits_names = a->style->splits_names },
		&a->samples);
	if (err)
		return err;
	a->elided[HIST_COMM] = sample_filter_comm(a->samples);
	a->filter = (struct hist_filter){ .samples = a->samples,
					  .dsos = name_list(a, g->dsos, HIST_DSO),
					  .symbols = name_list(a, g->symbols, HIST_SYM) };
	a->filter.no_kernel = g->no_kernel;
	a->filter.no_user = g->no_user;
	a->opts.filter = &a->filter;
	return NULL;
}

static struct kin_error *compile(const char *option, const char *text, regex_t *ret, bool *has)
{
	char why[128];
	int status = regcomp(ret, text, REG_EXTENDED | REG_NOSUB);
	if (status) {
		regerror(status, ret, why, sizeof(why));
		return err_new(KIN_ERROR_USAGE, "%s: '%.80s': %s", option, text, why);
	}
	*has = true;
	return NULL;
}

static struct kin_error *compile_patterns(struct hists_ask *a)
{
	const struct kin_hists_opts *g = a->given;
	struct kin_error *err = NULL;
	bool parent = g->parent;
	for (size_t i = 0; i < a->keys.n; i++)
		parent = parent || a->keys.at[i] == HIST_PARENT;
	if (parent)
		err = compile("--parent", g->parent ? g->parent : "^sys_|^do_page_fault",
			      &a->parent, &a->has_parent);
	if (!err && g->ignore_callees)
		err = compile("--ignore-callees", g->ignore_callees, &a->ignore, &a->has_ignore);
	a->opts.parent = a->has_parent ? &a->parent : NULL;
	a->opts.ignore_callees = a->has_ignore ? &a->ignore : NULL;
	return err;
}

/* ---- events ---- */

/* The number of the event's group. Events that were not counted together each have their own
 * number. */
static size_t group_of(const struct profile *p, const struct hists_ask *a, size_t event)
{
	if (a->given->group)
		return 0;
	if (a->given->no_group)
		return event;
	if (p->samples.events[event].group)
		for (size_t i = 0; i < event; i++)
			if (p->samples.events[i].group == p->samples.events[event].group)
				return i;
	return event;
}

static bool is_of_event(const struct hists_ask *a, const struct profile *p, const struct sample *s)
{
	return !a->style->recorded_events ||
	       (!p->samples.events[s->event].is_derived && sample_filter_covers(a->samples, s));
}

static void choose_events(struct hists_ask *a, const struct profile *p)
{
	size_t n = p->samples.n_events;
	bool *sampled = xalloc(n + 1);
	for (size_t i = 0; i < p->samples.n; i++) {
		const struct sample *s = &p->samples.at[i];
		if (is_of_event(a, p, s))
			sampled[s->event] = true;
	}
	for (size_t i = 0; i < n; i++)
		if (sampled[i])
			sampled[group_of(p, a, i)] = true;
	for (size_t i = 0; i < n; i++) {
		if (!sampled[i] || group_of(p, a, i) != i)
			continue;
		if (a->n_events++ != a->given->event)
			continue;
		for (size_t k = i; k < n; k++)
			if (group_of(p, a, k) == i)
				vec_push(&a->events, (uint16_t)k);
	}
	free(sampled);
	a->opts.events = a->events.at;
	a->opts.n_events = a->events.n;
}

/* ---- what the data has ---- */

static bool is_of_branches(const struct profile *p)
{
	for (size_t i = 1; i < p->samples.n_details; i++)
		if (p->samples.details[i].has & DETAIL_BRANCH)
			return true;
	return false;
}

/* Whether all events are trace points whose fields were read. */
static bool is_of_traces(const struct profile *p)
{
	bool any = false;
	for (size_t i = 0; i < p->samples.n_events; i++)
		if (!p->samples.events[i].is_trace)
			return false;
	for (size_t i = 1; i < p->samples.n_details && !any; i++)
		any = p->samples.details[i].has & DETAIL_TRACE;
	return any;
}

static bool has_accesses(const struct profile *p)
{
	for (size_t i = 1; i < p->samples.n_details; i++)
		if (p->samples.details[i].has & DETAIL_DATA_SRC)
			return true;
	return false;
}

static struct kin_error *check_data(const struct hists_ask *a, const struct profile *p)
{
	if (a->given->branches && !a->branches)
		return err_new(
			KIN_ERROR_USAGE,
			"--branch-stack: the recording has no branches as samples; kin record -b "
			"makes one that has, on machines that can");
	if (a->given->accesses && !has_accesses(p))
		return err_new(
			KIN_ERROR_USAGE,
			"--mem-mode: the recording has no accesses to memory; kin record -d or "
			"perf mem record makes one that has, on machines that can");
	return NULL;
}

static bool rows_have_key(const struct hists_ask *a, enum hist_key key)
{
	for (size_t i = 0; i < a->keys.n; i++)
		if (a->keys.at[i] == key)
			return true;
	return false;
}

/* Fails if a function was named and rows have no key for functions: with other sort keys a row
 * covers several functions. */
static struct kin_error *check_functions(const struct hists_ask *a)
{
	const struct kin_hists_opts *g = a->given;
	const char *name = g->function ? g->function : g->symbol_filter;
	if (!name || a->style->rows_by_first || rows_have_key(a, HIST_SYM) ||
	    rows_have_key(a, HIST_SYMOFF))
		return NULL;
	return err_new(KIN_ERROR_USAGE,
		       "%s%.200s: the keys of --sort say nothing of functions: add sym to them",
		       g->function ? "" : "--symbol-filter=", name);
}

static struct kin_error *check_keys(const struct hists_ask *a)
{
	for (size_t i = 0; i < a->keys.n; i++) {
		const struct hist_key_info *k = &hist_keys[a->keys.at[i]];
		if (k->need == NEED_BRANCHES && !a->branches)
			return err_new(
				KIN_ERROR_USAGE,
				"--sort: '%s' needs branches: -b, and a recording by kin record "
				"-b",
				k->name);
		if (k->need == NEED_ACCESSES && !a->given->accesses)
			return err_new(KIN_ERROR_USAGE,
				       "--sort: '%s' needs accesses to memory: --mem-mode, and a "
				       "recording by kin record -d or perf mem record",
				       k->name);
	}
	return NULL;
}

static bool in_list(const char *list, const char *word)
{
	size_t n = strlen(word);
	for (const char *at = list; (at = strstr(at, word)); at += n)
		if ((at == list || strchr(",+ ", at[-1])) && (!at[n] || strchr(", ", at[n])))
			return true;
	return false;
}

bool hists_ask_needs_details(const struct kin_hists_opts *g)
{
	bool needs = g->branches || g->accesses || g->socket;
	for (enum hist_key k = 0; k < N_HIST_KEYS && !needs; k++)
		needs = hist_keys[k].need != NEED_NOTHING &&
			((g->sort && in_list(g->sort, hist_keys[k].name)) ||
			 (g->fields && in_list(g->fields, hist_keys[k].name)));
	return needs;
}

static bool has_key(const struct kin_hists_opts *g, enum hist_key key)
{
	const char *const names[] = { hist_keys[key].name, hist_keys[key].alias };
	bool has = false;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		has = has || (names[i] && ((g->sort && in_list(g->sort, names[i])) ||
					   (g->fields && in_list(g->fields, names[i]))));
	return has;
}

bool hists_ask_needs_callers(const struct kin_hists_opts *g)
{
	bool chains = !g->call_graph || strcmp(g->call_graph, "none") != 0;
	bool children = !g->no_children && !g->accesses;
	/* The hierarchy needs callers, too: levels of unnamed code with equal weight are in the
	 * order of its frames. */
	return chains || children || g->hierarchy || g->parent || g->exclude_other ||
	       g->ignore_callees || g->hide_unresolved || has_key(g, HIST_PARENT) ||
	       (g->fields && in_list(g->fields, "overhead_children"));
}

bool hists_ask_needs_inlines(const struct kin_hists_opts *g, const struct hists_style *style)
{
	bool physical = g->self_physical || (style && style->self_physical);
	return g->inlines && (!physical || hists_ask_needs_callers(g));
}

bool hists_ask_needs_times(const struct kin_hists_opts *g)
{
	/* Wall is a sum of quotients: its last digits depend on how samples are grouped. */
	bool wall = g->latency || (g->sort && strstr(g->sort, "latency")) ||
		    (g->fields && strstr(g->fields, "latency"));
	return wall || g->times || g->cpus || has_key(g, HIST_TIME) || has_key(g, HIST_CPU) ||
	       hists_ask_needs_details(g);
}

bool hists_ask_needs_addresses(const struct kin_hists_opts *g)
{
	static const enum hist_key keys[] = { HIST_SYMOFF, HIST_SRCLINE, HIST_SRCFILE, HIST_IPC };
	bool needs = g->call_graph &&
		     (in_list(g->call_graph, "address") || in_list(g->call_graph, "srcline"));
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		needs = needs || has_key(g, keys[i]);
	return needs || hists_ask_needs_details(g);
}

static struct kin_error *read_socket(struct hists_ask *a)
{
	const char *text = a->given->socket;
	char *end;
	if (!text)
		return NULL;
	unsigned long n = strtoul(text, &end, 10);
	if (end == text || *end || text[0] == '-' || n >= UINT32_MAX)
		return bad("--socket-filter", text, "a number");
	a->filter.by_socket = true;
	a->filter.socket = (uint32_t)n;
	return NULL;
}

static bool shows_levels(const struct hists_ask *a)
{
	for (size_t i = 0; i < a->fields.n; i++)
		if (a->fields.at[i].kind >= FIELD_KERNEL && a->fields.at[i].kind < FIELD_KEY)
			return true;
	return false;
}

/* Whether Children can differ from Self. In perf's layout inlined functions alone do not count. */
static bool has_stacks(const struct profile *p, struct program *g, const struct hists_ask *a)
{
	for (size_t i = 0; i < p->samples.n_events && a->style->events_say_stacks; i++)
		if (p->samples.events[i].stacks)
			return true;
	for (size_t i = 1; i < p->samples.n_stacks; i++)
		if (p->samples.stacks[i].caller)
			return true;
	return a->opts.inlines && !a->style->self_physical && program_has_inlined(g, &p->samples);
}

/* ---- a first page ---- */

/* Whether the names of processes differ; a process has the name of its first thread. */
static bool has_programs(const struct profile *p)
{
	const struct samples *s = &p->samples;
	bool *sampled = xalloc(s->n_tasks + 1);
	const struct task *first = NULL;
	bool several = false;
	for (size_t i = 0; i < s->n; i++)
		sampled[s->at[i].task] = true;
	for (size_t i = 1; i < s->n_tasks && !several; i++) {
		const struct task *t = &s->tasks[i];
		if (!sampled[i] || t->pid != t->tid)
			continue;
		several = first && first->comm != t->comm;
		first = t;
	}
	free(sampled);
	return several;
}

/* Rows below this percentage are left out of the first page of a list. */
static const double FIRST_PERCENT = 0.5;

static void read_overview(struct hists_ask *a, const struct profile *p)
{
	const struct kin_hists_opts *g = a->given;
	a->overview = g->overview && !g->sort && !g->fields && !g->hierarchy && !a->branches &&
		      !g->accesses && !g->parent && !a->opts.chains;
	a->opts.passing = a->overview && !a->opts.no_children;
	a->opts.fold_threads = a->overview && has_programs(p);
	if (a->overview && g->first_rows && !g->has_percent_limit)
		a->percent_limit = FIRST_PERCENT;
}

/* ---- reading all options ---- */

static struct kin_error *read_all(struct hists_ask *a, const struct profile *p,
				  struct program *program)
{
	const struct kin_hists_opts *g = a->given;
	struct kin_error *err;
	a->opts.inlines = g->inlines;
	a->opts.self_physical = g->self_physical || a->style->self_physical;
	bool stacks = a->stacks = has_stacks(p, program, a); /* Children need stacks */
	a->opts.no_children = g->no_children || g->hierarchy || g->accesses || !stacks;
	a->opts.by_weight = g->accesses;
	a->opts.exclude_other = g->exclude_other;
	a->opts.hide_unresolved = g->hide_unresolved;
	a->opts.rules = &a->style->rows;
	a->opts.nanoseconds = g->nanoseconds;
	a->opts.time_quantum = g->time_quantum_ns ? g->time_quantum_ns : 100000000;
	a->branches = is_of_branches(p);
	a->traces = is_of_traces(p);
	a->opts.max_stack = g->max_stack ? g->max_stack : a->style->max_stack;
	a->opts.no_callers = g->no_callers;
	a->percent_limit = g->has_percent_limit ? g->percent_limit : 0;
	if (g->hierarchy && g->fields)
		return err_new(KIN_ERROR_USAGE, "--hierarchy and --columns exclude each other");
	if ((err = check_data(a, p)) || (err = read_call_graph(a)))
		return err;
	read_overview(a, p);
	if ((err = choose_fields(a)) || (err = check_keys(a)) || (err = check_functions(a)) ||
	    (err = read_filters(a, p)) || (err = read_socket(a)) || (err = compile_patterns(a)))
		return err;
	a->opts.levels = shows_levels(a);
	if (a->opts.levels && g->hierarchy)
		return err_new(KIN_ERROR_USAGE,
			       "--hierarchy and shares of kernel and user code exclude each other");
	a->opts.chains = a->opts.chains && stacks;
	choose_events(a, p);
	a->opts.keys = a->keys.at;
	a->opts.n_keys = a->keys.n;
	return NULL;
}

struct kin_error *hists_ask_new(const struct profile *p, struct program *program,
				const struct kin_hists_opts *given, const struct hists_style *style,
				struct hists_ask **ret)
{
	struct hists_ask *a = xalloc(sizeof(*a));
	a->given = given;
	a->style = style;
	struct kin_error *err = read_all(a, p, program);
	if (err)
		hists_ask_free(a);
	else
		*ret = a;
	return err;
}

void hists_ask_free(struct hists_ask *a)
{
	if (!a)
		return;
	vec_free(&a->keys);
	vec_free(&a->fields);
	vec_free(&a->terms);
	vec_free(&a->events);
	sample_filter_free(a->samples);
	if (a->has_parent)
		regfree(&a->parent);
	if (a->has_ignore)
		regfree(&a->ignore);
	arena_release(&a->arena);
	free(a);
}
