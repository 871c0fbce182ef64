/* Go's table of functions, in each of its forms: names, lines, frames; and damaged ones. */
#include <stdio.h>
#include <stdlib.h>

#include "lib/go_build.h"
#include "machine/machine.h"
#include "tap.h"
#include "unwind/step.h"
#include "unwind/unwind_table.h"

static const struct go_run frames[] = { { 0, 4 }, { 24, 0x2c }, { 0, 8 }, { 0, 0 } },
			   go_file[] = { { 0, 0x38 }, { 0, 0 } },
			   assembly[] = { { 1, 0x10 }, { 0, 0 } },
			   first_go_file[] = { { 1, 0x38 }, { 0, 0 } },
			   first_assembly[] = { { 2, 0x10 }, { 0, 0 } },
			   lines[] = { { 7, 8 }, { 12, 0x20 }, { 9, 0x10 }, { 0, 0 } },
			   one_line[] = { { 3, 0x10 }, { 0, 0 } },
			   leaf[] = { { 0, 0x10 }, { 0, 0 } };

/* The third one writes sp; the fourth has no values at all, as functions of C have none. */
static const struct go_made_function functions[] = {
	{ "main.main", 0, frames, go_file, lines, 0 },
	{ "runtime.goexit", 0x40, leaf, assembly, one_line, 1 },
	{ "runtime.systemstack", 0x60, leaf, assembly, one_line, 2 },
	{ "puts", 0x80, NULL, NULL, NULL, 0 },
	{ NULL, 0x90, NULL, NULL, NULL, 0 },
};

static void make(struct go_made *m, enum go_form form)
{
	struct go_made_function f[5];
	memcpy(f, functions, sizeof(f));
	for (size_t i = 0; form < GO_FORM_1_16 && i < 3; i++)
		f[i].files = i ? first_assembly : first_go_file;
	go_make(m, form, f);
}

static const char *described(const struct go_table *t)
{
	static char text[1024];
	size_t n = 0;
	*text = '\0';
	for (uint64_t i = 0; i < t->n; i++) {
		struct go_function f;
		uint32_t line = 0;
		if (!go_table_at(t, i, &f))
			return "damaged";
		const char *file = go_table_line(t, &f, f.low + 8, &line);
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s %llx-%llx %s:%u%s",
				      go_table_name(t, &f, 64), (unsigned long long)f.low,
				      (unsigned long long)f.high, file ? file : "-", line,
				      go_table_knows_frames(t, &f) ? " known" : "");
		struct go_values v = go_table_values(t, &f, f.frames);
		while (go_values_next(&v))
			n += (size_t)snprintf(text + n, sizeof(text) - n, " %llx:%d",
					      (unsigned long long)(v.low - f.low), v.value);
		n += (size_t)snprintf(text + n, sizeof(text) - n, "\n");
	}
	return text;
}

static const char all[] = "main.main 401000-401038 a.go:12 known 0:0 4:24 30:0\n"
			  "runtime.goexit 401040-401050 b.s:3 known 0:0\n"
			  "runtime.systemstack 401060-401070 b.s:3 0:0\n"
			  "puts 401080-401090 -:0\n",
		  old[] = "main.main 401000-401038 a.go:12 known 0:0 4:24 30:0\n"
			  "runtime.goexit 401040-401050 b.s:3 0:0\n"
			  "runtime.systemstack 401060-401070 b.s:3 0:0\n"
			  "puts 401080-401090 -:0\n";

static void test_forms(void)
{
	struct go_made m;
	struct go_table t;
	make(&m, GO_FORM_1_20);
	OK(go_made_open(&m, &t));
	OK_STR(described(&t), all);
	make(&m, GO_FORM_1_18);
	OK(go_made_open(&m, &t));
	OK_STR(described(&t), all);
	make(&m, GO_FORM_1_16);
	OK(go_made_open(&m, &t));
	OK_STR(described(&t), all);
	/* without marks nobody knows which assembly writes sp */
	for (size_t i = 0; i < 3; i++)
		m.at[(GO_LIST + 1) * GO_PART + 64 * i + 8 + 33] = 0;
	OK(go_made_open(&m, &t));
	OK_STR(described(&t), old);
	make(&m, GO_FORM_1_2);
	OK(go_made_open(&m, &t));
	OK_STR(described(&t), old);
}

static void test_text(void)
{
	struct go_made m;
	struct go_table t;
	make(&m, GO_FORM_1_20);
	m.text = 0; /* as of Go 1.26, which has it in the description of the module */
	OK(!go_made_open(&m, &t));
	m.module[0] = GO_TABLE;
	m.module[22] = GO_TEXT;
	OK(go_made_open(&m, &t) && t.text == GO_TEXT);
	m.module[0] = GO_TABLE + 8; /* of another table */
	OK(!go_made_open(&m, &t));
	make(&m, GO_FORM_1_18);
	m.text = GO_TABLE; /* there is no code */
	OK(!go_made_open(&m, &t));
}

static void test_find(void)
{
	struct go_made m;
	struct go_table t;
	struct go_function f;
	make(&m, GO_FORM_1_20);
	OK(go_made_open(&m, &t));
	OK(go_table_find(&t, GO_TEXT, &f) && !strcmp(go_table_name(&t, &f, 64), "main.main"));
	OK(go_table_find(&t, GO_TEXT + 0x37, &f) && f.low == GO_TEXT);
	OK(!go_table_find(&t, GO_TEXT + 0x38, &f)); /* between functions */
	OK(go_table_find(&t, GO_TEXT + 0x8f, &f) && f.low == GO_TEXT + 0x80);
	OK(!go_table_find(&t, GO_TEXT + 0x90, &f) && !go_table_find(&t, GO_TEXT - 1, &f));
	OK(go_table_find(&t, GO_TEXT, &f) && !go_table_name(&t, &f, 9)); /* its end counts */
}

static void test_damaged(void)
{
	struct go_made m;
	struct go_table t;
	struct go_function f;
	make(&m, GO_FORM_1_20);
	go_put(&m, m.list + 8, 0x90, 4); /* the second function starts behind the third */
	OK(!go_made_open(&m, &t));
	make(&m, GO_FORM_1_20);
	go_put(&m, 8, UINT64_MAX, 8); /* more functions than there is room for */
	OK(!go_made_open(&m, &t));
	make(&m, GO_FORM_1_20);
	go_put(&m, m.list + 4, 0xffffff, 4); /* its record is outside */
	OK(go_made_open(&m, &t) && !go_table_at(&t, 0, &f) && go_table_at(&t, 1, &f));
	make(&m, GO_FORM_1_20);
	go_put(&m, (GO_LIST + 1) * GO_PART + 4, 0xffffff, 4); /* its name is */
	OK(go_made_open(&m, &t) && go_table_at(&t, 0, &f) && !go_table_name(&t, &f, 64));
	make(&m, GO_FORM_1_20);
	memset(m.at + GO_VALUES * GO_PART + 1, 0xff, 5); /* a number without an end */
	OK(go_made_open(&m, &t) && go_table_at(&t, 0, &f));
	struct go_values v = go_table_values(&t, &f, f.frames);
	OK(!go_values_next(&v));
	for (size_t n = 0; n < sizeof(m.at); n++) { /* cut off anywhere */
		make(&m, GO_FORM_1_20);
		m.n = n;
		if (go_made_open(&m, &t))
			described(&t);
	}
	OK(m.n == sizeof(m.at) - 1);
}

/* ---- rows ---- */

static size_t no_code(void *arg, uint64_t addr, uint8_t *ret, size_t size)
{
	static const uint8_t systemstack[] = {
		0xff, 0xd7,             /* call *%rdi, */
		0x48, 0x8b, 0x63, 0x38, /* mov 0x38(%rbx), %rsp, */
		0xff, 0xd7,             /* call *%rdi */
	};
	(void)arg;
	memset(ret, 0x90, size);
	if (addr == GO_TEXT + 0x60 && size >= sizeof(systemstack))
		memcpy(ret, systemstack, sizeof(systemstack));
	return size;
}

static const char *row_at(const struct unwind_table *u, uint64_t at)
{
	static char text[96];
	const struct unwind_row *r = unwind_table_find(u, GO_TEXT + at);
	if (r->cfa == UNWIND_CFA_NONE)
		return "none";
	if (r->ra == UNWIND_UNKNOWN)
		return "outermost";
	snprintf(text, sizeof(text), "sp%+d return %s%+d%s", r->cfa_offset,
		 r->ra == UNWIND_SAME ? "in register" : "at CFA", r->ra_offset,
		 r->fp == UNWIND_UNKNOWN && r->bx == UNWIND_UNKNOWN ? "" : " and registers");
	return text;
}

static void test_rows(void)
{
	struct go_made m;
	struct go_table t;
	make(&m, GO_FORM_1_20);
	OK(go_made_open(&m, &t));
	struct code_file file = { .machine = &machine_x86_64, .code = no_code, .go = &t };
	struct unwind_table *u = unwind_table_of(&file, NULL, 0);
	OK_STR(row_at(u, 0), "sp+8 return at CFA-1");
	OK_STR(row_at(u, 4), "sp+32 return at CFA-1");
	OK_STR(row_at(u, 0x2f), "sp+32 return at CFA-1");
	OK_STR(row_at(u, 0x30), "sp+8 return at CFA-1");
	OK_STR(row_at(u, 0x40), "outermost"); /* goexit */
	OK_STR(row_at(u, 0x60), "none");      /* it writes sp */
	OK_STR(row_at(u, 0x61), "none");
	OK_STR(row_at(u, 0x67), "outermost"); /* but what it then calls is on another stack */
	OK_STR(row_at(u, 0x80), "none");      /* C */
	unwind_table_free(u);
	struct outermost o = { 0 };
	size_t whole = 0;
	outermost_find(&file, &o);
	for (size_t i = 0; i < o.n; i++) /* which .debug_frame gives a caller */
		whole += o.at[i].overrides && o.at[i].low == 0x401040 && o.at[i].high == 0x401050;
	OK(whole == 1);
	vec_free(&o);
	file.machine = &machine_aarch64;
	u = unwind_table_of(&file, NULL, 0);
	OK_STR(row_at(u, 0), "sp+0 return in register+0");
	OK_STR(row_at(u, 4), "sp+24 return at CFA-3");
	unwind_table_free(u);

	struct unwind_row row = go_row(&machine_x86_64, -8);
	OK(row.cfa == UNWIND_CFA_NONE);
	row = go_row(&machine_x86_64, 12); /* sp is at a word */
	OK(row.cfa == UNWIND_CFA_NONE);
	row = go_row(&machine_x86_64, INT32_MAX - 7);
	OK(row.cfa == UNWIND_CFA_NONE);
	row = go_row(&machine_aarch64, 1 << 20); /* more than a row can say */
	OK(row.cfa == UNWIND_CFA_NONE);
}

int main(void)
{
	test_forms();
	test_text();
	test_find();
	test_damaged();
	test_rows();
	return DONE();
}
