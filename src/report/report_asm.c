/* report_asm.c - the instructions of functions, with time and calls of each. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/num.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/vec.h"
#include "object/source.h"
#include "paths/stack_groups.h"
#include "report/reports.h"
#include "symbolize/inlined_into.h"

enum {
	SHARE,
	FUNCTION_SHARE,
	SELF,
	INCLUSIVE,
	SAMPLES,
	CALLS,
	ADDRESS,
	BYTES,
	TEXT,
	FUNCTION,
	OBJECT,
	FILE_NAME,
	LINE,
	INLINED,
	N_COLUMNS
};

enum asm_choice { CHOICE_NONE, CHOICE_INLINED /* subjects inlined there */, CHOICE_WHOLE };

enum { MOST_FUNCTIONS = 10, MOST_INSTRUCTIONS = 2000000 };

static const struct kin_column columns[N_COLUMNS] = {
	[SHARE] = { "share", "% time", "time at the instruction, as a share of the total",
		    KIN_CELL_SHARE },
	[FUNCTION_SHARE] = { "function_share", "% function",
			     "time at the instruction, as a share of its function's",
			     KIN_CELL_SHARE, .hidden = true },
	[SELF] = { "self", "self", "time at the instruction, seconds", KIN_CELL_TIME },
	[INCLUSIVE] = { "inclusive", "inclusive",
			"time of the samples with the instruction on their stack: of a call, with "
			"what it called",
			KIN_CELL_TIME },
	[SAMPLES] = { "samples", "samples", "how many were taken at the instruction",
		      KIN_CELL_COUNT },
	[CALLS] = { "calls", "calls", "of a call: how often it was made", KIN_CELL_COUNT,
		    .hidden = true },
	[ADDRESS] = { "address", "address", "as linked", KIN_CELL_ADDRESS },
	[BYTES] = { "bytes", "bytes", "the instruction, in hexadecimal", KIN_CELL_TEXT,
		    .hidden = true },
	[TEXT] = { "instruction", "instruction", "in the assembler's language; or a line of source",
		   KIN_CELL_TEXT, .tree = true },
	[FUNCTION] = { "function", "function", "that it is in", KIN_CELL_TEXT, .hidden = true,
		       .function = true },
	[OBJECT] = { "object", "object", "the program or library it is in", KIN_CELL_TEXT,
		     .hidden = true },
	[FILE_NAME] = { "file", "file", "the source file it was made of", KIN_CELL_TEXT,
			.hidden = true },
	[LINE] = { "line", "line", "in that file", KIN_CELL_COUNT, .hidden = true },
	[INLINED] = { "inlined", "inlined",
		      "functions that the instruction was inlined with, innermost first",
		      KIN_CELL_TEXT, .tree = true, .hidden = true },
};

struct asm_instruction {
	uint64_t addr; /* flat address */
	uint64_t calls, samples;
	double self, inclusive;
	uint32_t size;
	char *text;    /* owned */
	char *inlined; /* functions inlined there; owned; NULL: none */
	char bytes[2 * 16 + 1];
};

struct asm_stretch { /* a function, or a piece of a function */
	symid symbol;
	size_t first, n; /* range in code[] */
	char *inlined;   /* the inlined function to which the stretch is limited; owned. NULL: all
			    code is shown */
};

struct opened_source {
	const char *path; /* as in the debug information */
	struct source_text text;
	bool is_read;
	VEC(size_t) starts; /* offsets of the lines */
};

struct asm_job {
	const struct report_input *in;
	const struct report_opts *o;
	struct kin_table *t;
	VEC(struct asm_stretch) stretches; /* by address */
	VEC(struct asm_instruction) code;  /* by address, too */
	VEC(struct opened_source) sources;
	uint64_t base; /* flat address less link-time address, in the current stretch */
	const struct object_file *without_code; /* last object noted to have none */
	bool too_many;
};

/* ---- which functions ---- */

static int by_self(const void *l, const void *r, void *graph)
{
	const struct callgraph *g = graph;
	symid a = *(const symid *)l, b = *(const symid *)r;
	double x = g->nodes[a].self, y = g->nodes[b].self;
	if (x != y)
		return x > y ? -1 : 1;
	return ORDER(a, b);
}

/* Whether it is known where the function's code is. Functions of other tools' files, such as
 * callgrind.out, have a name alone, or made-up addresses. */
static bool has_code(const struct asm_job *j, symid id)
{
	const struct program *g = j->in->program;
	return !g || (program_kind(g, id) == PLACE_SYMBOL &&
		      program_has_offsets(g, program_object(g, id)));
}

static void choose_hottest(const struct asm_job *j, uint8_t *wanted)
{
	const struct callgraph *g = j->in->graph;
	symid *ids = xrealloc(NULL, g->n_symbols, sizeof(*ids));
	size_t n = 0, n_large = 0;
	for (symid i = 0; i < g->n_symbols; i++) {
		if (g->nodes[i].self <= 0 ||
		    g->nodes[i].self < j->o->min_share * report_whole(j->o, g->total))
			continue;
		n_large++;
		if (has_code(j, i))
			ids[n++] = i;
	}
	if (n_large && !n)
		table_note(j->t, "the data has names of functions alone, not where their code is");
	if (n)
		qsort_r(ids, n, sizeof(*ids), by_self, UNCONST(void *, g));
	for (size_t i = 0; i < n && i < MOST_FUNCTIONS; i++)
		wanted[ids[i]] = CHOICE_WHOLE;
	free(ids);
}

static bool choose_inlined(const struct asm_job *j, const char *name, uint8_t *wanted)
{
	size_t n;
	symid *into = report_inlined_into(j->in, name, &n);

	for (size_t i = 0; i < n; i++)
		if (has_code(j, into[i]) && !wanted[into[i]])
			wanted[into[i]] = CHOICE_INLINED;
	free(into);
	return n > 0;
}

static struct kin_error *choose_named(const struct asm_job *j, uint8_t *wanted)
{
	const struct symbols *s = j->in->symbols;
	for (const char *const *name = j->o->subjects; *name; name++) {
		bool found = false;
		size_t n;
		symid *named = report_symbols_named(j->in->symbols, *name, &n);
		for (size_t i = 0; i < n; i++) {
			if (!has_code(j, named[i]))
				continue;
			wanted[s->at[named[i]].owner] = CHOICE_WHOLE;
			found = true;
		}
		free(named);
		if (choose_inlined(j, *name, wanted) || found)
			continue;
		return n ? err_new(KIN_ERROR_USAGE,
				   "the data has the name of '%s' alone, not where its code is",
				   *name)
			 : report_no_function(j->in, *name, "with code to be shown");
	}
	return NULL;
}

/* ---- instructions ---- */

/* The target of a call or jump, "app::leaf(int)+0x12"; to be freed, or NULL. */
static char *target_name(struct asm_job *j, const struct object_instruction *i)
{
	const char *operand = i->operands;
	char *end;
	if (strncmp(operand, "0x", 2) != 0 && strncmp(operand, "#0x", 3) != 0)
		return NULL;
	uint64_t target = strtoull(operand + (*operand == '#'), &end, 16);
	if (*end)
		return NULL;
	symid id = symbols_find(j->in->symbols, target + j->base);
	if (id == NONE)
		return NULL;
	uint64_t offset = target + j->base - j->in->symbols->at[id].addr;
	const char *name = symbols_display(j->in->symbols, id);
	return offset ? xprintf("%s+0x%" PRIx64, name, offset) : xprintf("%s", name);
}

static bool is_branch(const char *mnemonic)
{
	static const char *const starts[] = { "call", "j", "lcall", "b", "cb", "tb" };
	for (size_t i = 0; i < ARRAY_LEN(starts); i++)
		if (!strncmp(mnemonic, starts[i], strlen(starts[i])))
			return true;
	return false;
}

static void add_instruction(const struct object_instruction *i, void *arg)
{
	struct asm_job *j = arg;
	struct asm_instruction x = { .addr = i->addr + j->base, .size = (uint32_t)i->size };

	if (j->code.n >= MOST_INSTRUCTIONS) {
		j->too_many = true;
		return;
	}
	num_hex(x.bytes, i->bytes, i->size < 16 ? i->size : 16);
	char *target = is_branch(i->mnemonic) ? target_name(j, i) : NULL;
	x.text = xprintf("%-6s %s%s%s%s", i->mnemonic, i->operands, target ? " <" : "",
			 target ? target : "", target ? ">" : "");
	free(target);
	size_t n = strlen(x.text);
	while (n && x.text[n - 1] == ' ')
		x.text[--n] = '\0';
	vec_push(&j->code, x);
}

static bool is_subject(const struct asm_job *j, const char *raw)
{
	for (const char *const *s = j->o->subjects; s && *s; s++)
		if (inlined_is_called(raw, *s, j->in->symbols->opts.style))
			return true;
	return false;
}

/* Drops the stretch's instructions that belong to none of the subjects. is_kept: [s->n] */
static void keep_subjects(struct asm_job *j, struct asm_stretch *s, const bool *is_kept)
{
	struct asm_instruction *code = j->code.at + s->first;
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		if (is_kept[i]) {
			code[n++] = code[i];
			continue;
		}
		free(code[i].text);
		free(code[i].inlined);
	}
	j->code.n = s->first + n;
	s->n = n;
}

/* Names the functions inlined at each instruction of the stretch, which is the last one so far:
 * "insert < push_back". */
static void name_inlined(struct asm_job *j, struct object_file *o, struct asm_stretch *s,
			 enum asm_choice choice)
{
	struct asm_instruction *code = j->code.at + s->first;
	uint64_t *addrs = xrealloc(NULL, s->n + 1, sizeof(*addrs));
	size_t count;
	for (size_t i = 0; i < s->n; i++)
		addrs[i] = code[i].addr - j->base;
	struct object_inline *list = object_inlines(o, addrs, s->n, &count);
	bool *is_kept = xalloc(s->n + 1);
	for (size_t i = 0; i < count; i++) {
		char **text = &code[list[i].address].inlined, *before = *text;
		char *readable = demangle(list[i].name, j->in->symbols->opts.style);
		*text = xprintf("%s%s%s", before ? before : "", before ? " < " : "",
				readable ? readable : list[i].name);
		if (choice == CHOICE_INLINED && is_subject(j, list[i].name)) {
			is_kept[list[i].address] = true;
			if (!s->inlined)
				s->inlined = xprintf("%s", readable ? readable : list[i].name);
		}
		free(readable);
		free(before);
	}
	if (choice == CHOICE_INLINED)
		keep_subjects(j, s, is_kept);
	free(is_kept);
	free(list);
	free(addrs);
}

static void note_without_code(struct asm_job *j, const struct object_file *o)
{
	if (o == j->without_code)
		return;
	j->without_code = o;
	table_note(j->t,
		   "the code of %s is not at hand: kin pack adds it to a recording, where there is",
		   object_path(o));
}

static struct kin_error *disassemble(struct asm_job *j, const uint8_t *wanted)
{
	const struct symbols *s = j->in->symbols;
	for (symid i = 0; i < s->n; i++) {
		struct object_file *o =
			wanted[s->at[i].owner] ? report_object_file(j->in, i) : NULL;
		if (!o)
			continue;
		if (!object_has_code(o)) {
			note_without_code(j, o);
			continue;
		}
		struct asm_stretch stretch = { .symbol = i, .first = j->code.n };
		j->base = s->parts[s->at[i].part].base;
		if (!object_instructions(o, s->at[i].addr - j->base, s->at[i].end - j->base,
					 j->o->intel, add_instruction, j)) {
			const char *problem = object_calls_problem(o);
			return err_new(KIN_ERROR_UNSUPPORTED, "%s: cannot be disassembled: %s",
				       object_path(o),
				       problem ? problem : "its machine is not known");
		}
		stretch.n = j->code.n - stretch.first;
		name_inlined(j, o, &stretch, wanted[s->at[i].owner]);
		if (stretch.n || wanted[s->at[i].owner] == CHOICE_WHOLE)
			vec_push(&j->stretches, stretch);
	}
	return NULL;
}

/* ---- time and calls ---- */

/* The instruction at an address, or NONE. */
static uint32_t find(const struct asm_job *j, uint64_t flat)
{
	size_t low = COUNT_WHILE(j->code.n, i, j->code.at[i].addr + j->code.at[i].size <= flat);
	return low < j->code.n && j->code.at[low].addr <= flat ? (uint32_t)low : NONE;
}

static uint32_t find_frame(const struct asm_job *j, frameid frame)
{
	const struct frame *f = &j->in->profile->samples.frames[frame];
	if (f->name)
		return NONE;
	uint64_t flat =
		program_flat(j->in->program, f->object, program_instruction(j->in->program, frame));
	return flat == UINT64_MAX ? NONE : find(j, flat);
}

static void measure_samples(struct asm_job *j)
{
	const struct samples *s = &j->in->profile->samples;
	if (!j->in->program || !s->n)
		return;
	uint32_t *instruction_of = xrealloc(NULL, s->n_frames + 1, sizeof(*instruction_of));
	instruction_of[0] = NONE;
	for (frameid i = 1; i < s->n_frames; i++)
		instruction_of[i] = find_frame(j, i);
	double *inclusive = stack_times(s, NULL, instruction_of, j->code.n);
	for (size_t i = 0; i < j->code.n; i++)
		j->code.at[i].inclusive = inclusive[i];
	uint16_t event = samples_event(s);
	for (size_t i = 0; i < s->n; i++) {
		uint32_t at = instruction_of[s->stacks[s->at[i].stack].frame];
		if (s->at[i].event != event || at == NONE)
			continue;
		j->code.at[at].self += (double)s->at[i].weight;
		j->code.at[at].samples += s->at[i].count;
	}
	free(inclusive);
	free(instruction_of);
}

/* Adds calls to call instructions. An arc's address in the caller is the return address, so the
 * call is before it. */
static void count_calls(struct asm_job *j)
{
	const struct profile *p = report_flat(j->in);
	for (size_t i = 0; i < p->n_arcs; i++) {
		struct arc arc = arc_at(&p->arcs, i);
		uint32_t at = arc.from ? find(j, arc.from - 1) : NONE;
		if (at == NONE)
			continue;
		uint64_t *calls = &j->code.at[at].calls;
		if (__builtin_add_overflow(*calls, arc.count, calls))
			*calls = UINT64_MAX;
	}
}

/* ---- source lines ---- */

static struct opened_source *source_of(struct asm_job *j, const char *path)
{
	for (size_t i = 0; i < j->sources.n; i++)
		if (!strcmp(j->sources.at[i].path, path))
			return &j->sources.at[i];
	struct opened_source s = { .path = path };
	struct kin_error *err = report_source(j->in, j->o, path, &s.text);
	s.is_read = !err;
	if (err)
		table_note(j->t, "%s", kin_error_message(err));
	kin_error_free(err);
	const uint8_t *line;
	size_t n, at = 0, start = 0;
	while (s.is_read && source_line(s.text.file.data, s.text.file.size, &at, &line, &n)) {
		vec_push(&s.starts, start);
		start = at;
	}
	vec_push(&j->sources, s);
	return &j->sources.at[j->sources.n - 1];
}

/* "file.c:12    text" */
static char *source_text(struct asm_job *j, const struct srcloc *at)
{
	struct opened_source *s = source_of(j, at->file);
	const char *file = report_file_name(j->o, at->file);
	const uint8_t *line;
	size_t n;
	if (!s->is_read || !at->line || at->line > s->starts.n)
		return xprintf("%s:%" PRIu32, file, at->line);
	size_t start = s->starts.at[at->line - 1];
	if (!source_line(s->text.file.data, s->text.file.size, &start, &line, &n))
		return xprintf("%s:%" PRIu32, file, at->line);
	while (n && (line[n - 1] == '\r' || line[n - 1] == ' '))
		n--;
	char *text = xprintf("%s:%" PRIu32 "  %.*s", file, at->line, (int)n, (const char *)line);
	for (char *c = text; *c; c++)
		*c = *c == '\t' ? ' ' : *c;
	return text;
}

/* ---- rows ---- */

/* The time of the function, including all its pieces, in ticks. */
static double time_of_function(const struct asm_job *j, const struct asm_stretch *s)
{
	const struct symbol *at = j->in->symbols->at;
	double self = 0;
	for (size_t k = 0; k < j->stretches.n; k++) {
		const struct asm_stretch *piece = &j->stretches.at[k];
		if (at[piece->symbol].owner != at[s->symbol].owner)
			continue;
		for (size_t i = piece->first; i < piece->first + piece->n; i++)
			self += j->code.at[i].self;
	}
	return self;
}

static void add_heading(struct asm_job *j, const struct asm_stretch *s, double function,
			uint32_t group)
{
	const struct callgraph *g = j->in->graph;
	struct kin_cell *c =
		table_add_row(j->t, (struct kin_row){ KIN_ROW_FUNCTION, 0, group, NULL });
	double self = 0;
	uint64_t samples = 0;
	for (size_t i = s->first; i < s->first + s->n; i++) {
		self += j->code.at[i].self;
		samples += j->code.at[i].samples;
	}
	if (j->in->profile->samples.n) {
		c[SHARE] = cell_share(g->total > 0 ? self / g->total : 0);
		if (function > 0)
			c[FUNCTION_SHARE] = cell_share(self / function);
		c[SELF] = cell_time(self);
		c[SAMPLES] = cell_count(samples);
	}
	c[OBJECT] = cell_text(report_object_name(j->in, s->symbol));
	char *text = xprintf("%s%s%s (%s)", s->inlined ? s->inlined : "",
			     s->inlined ? ", inlined into " : "",
			     report_symbol_name(j->in, j->o, s->symbol, j->t),
			     report_object_name(j->in, s->symbol));
	c[TEXT] = cell_text(table_text(j->t, text));
	free(text);
}

static void add_row(struct asm_job *j, const struct asm_stretch *s, const struct asm_instruction *i,
		    const struct srcloc *loc, double function, uint32_t group)
{
	const struct callgraph *g = j->in->graph;
	uint32_t depth = j->o->with_source ? 2 : 1;
	struct kin_cell *c =
		table_add_row(j->t, (struct kin_row){ KIN_ROW_PLAIN, depth, group, NULL });
	if (i->samples) {
		c[SHARE] = cell_share(g->total > 0 ? i->self / g->total : 0);
		c[FUNCTION_SHARE] = cell_share(function > 0 ? i->self / function : 0);
		c[SELF] = cell_time(i->self);
		c[SAMPLES] = cell_count(i->samples);
	}
	if (i->inclusive > 0)
		c[INCLUSIVE] = cell_time(i->inclusive);
	if (i->calls)
		c[CALLS] = cell_count(i->calls);
	c[ADDRESS] = cell_address(i->addr -
				  j->in->symbols->parts[j->in->symbols->at[s->symbol].part].base);
	c[BYTES] = cell_text(table_text(j->t, i->bytes));
	c[TEXT] = cell_text(table_text(j->t, i->text));
	c[OBJECT] = cell_text(report_object_name(j->in, s->symbol));
	c[FUNCTION] = cell_text(report_symbol_name(j->in, j->o, s->symbol, j->t));
	if (loc->file) {
		c[FILE_NAME] = cell_text(loc->file);
		c[LINE] = cell_count(loc->line);
	}
	if (i->inlined)
		c[INLINED] = cell_text(table_text(j->t, i->inlined));
}

static bool is_same_line(const struct srcloc *a, const struct srcloc *b)
{
	return a->line == b->line && a->file && b->file && !strcmp(a->file, b->file);
}

static void add_stretch(struct asm_job *j, const struct asm_stretch *s, uint32_t group)
{
	struct srcloc before = { 0 };
	double function = time_of_function(j, s);
	add_heading(j, s, function, group);
	for (size_t i = s->first; i < s->first + s->n; i++) {
		struct srcloc at = { 0 };
		symbols_place(j->in->symbols, j->code.at[i].addr, &at);
		if (j->o->with_source && at.file && !is_same_line(&at, &before)) {
			char *text = source_text(j, &at);
			struct kin_cell *c = table_add_row(
				j->t, (struct kin_row){ KIN_ROW_MEMBER, 1, group, NULL });
			c[TEXT] = cell_text(table_text(j->t, text));
			c[FILE_NAME] = cell_text(at.file);
			c[LINE] = cell_count(at.line);
			free(text);
		}
		add_row(j, s, &j->code.at[i], &at, function, group);
		before = at;
	}
}

/* Functions with most time first; pieces of a function by address. */
static int by_owner_time(const void *l, const void *r, void *arg)
{
	const struct report_input *in = arg;
	const struct asm_stretch *a = l, *b = r;
	symid x = in->symbols->at[a->symbol].owner, y = in->symbols->at[b->symbol].owner;
	if (in->graph->nodes[x].self != in->graph->nodes[y].self)
		return in->graph->nodes[x].self > in->graph->nodes[y].self ? -1 : 1;
	return ORDER(a->symbol, b->symbol);
}

static void free_job(struct asm_job *j)
{
	for (size_t i = 0; i < j->code.n; i++) {
		free(j->code.at[i].text);
		free(j->code.at[i].inlined);
	}
	for (size_t i = 0; i < j->sources.n; i++) {
		source_done(&j->sources.at[i].text);
		vec_free(&j->sources.at[i].starts);
	}
	for (size_t i = 0; i < j->stretches.n; i++)
		free(j->stretches.at[i].inlined);
	vec_free(&j->code);
	vec_free(&j->sources);
	vec_free(&j->stretches);
}

static struct kin_error *fill(struct asm_job *j)
{
	uint8_t *wanted = xalloc(j->in->symbols->n + 1);
	struct kin_error *err = NULL;

	if (j->o->subjects && j->o->subjects[0])
		err = choose_named(j, wanted);
	else
		choose_hottest(j, wanted);
	if (!err)
		err = disassemble(j, wanted);
	free(wanted);
	if (err)
		return err;
	measure_samples(j);
	count_calls(j);
	if (j->stretches.n)
		qsort_r(j->stretches.at, j->stretches.n, sizeof(*j->stretches.at), by_owner_time,
			UNCONST(void *, j->in));
	for (size_t i = 0; i < j->stretches.n; i++)
		add_stretch(j, &j->stretches.at[i], (uint32_t)i);
	if (j->too_many)
		table_note(j->t, "there is more code than the %d instructions shown",
			   MOST_INSTRUCTIONS);
	if (!j->in->profile->samples.n)
		table_note(j->t, "there are no samples: histograms do not tell instructions apart");
	return NULL;
}

static struct kin_error *asm_run(const struct report_input *in, const struct report_opts *o,
				 struct kin_table **ret)
{
	struct kin_table *t = table_new("asm", "Annotated instructions", columns, N_COLUMNS);
	struct asm_job j = { .in = in, .o = o, .t = t };

	report_describe(in, t);
	table_show(t, "inclusive", in->graph->measured != NULL);
	table_show(t, "share", !o->of_function);
	table_show(t, "function_share", o->of_function);
	table_show(t, "calls", in->graph->has_arcs);
	struct kin_error *err = fill(&j);
	free_job(&j);
	if (err)
		kin_table_free(t);
	else
		*ret = t;
	return err;
}

const struct report asm_report = {
	.name = "asm",
	.help = "machine instructions with time beside each",
	.run = asm_run,
	.by = REPORT_BY_PART | REPORT_BY_OBJECT,
};
