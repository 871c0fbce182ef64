/* script_fields.c - reads the list of requested sample fields, in the grammar of perf script -F. */
#include "export/script_fields.h"

#include <string.h>

#include "base/arena.h"
#include "base/err.h"

static const struct {
	const char *name;
	uint64_t field; /* enum script_field */
	bool usual;
} fields[] = {
	{ "comm", SCRIPT_COMM, true },
	{ "pid", SCRIPT_PID, false },
	{ "tid", SCRIPT_TID, true },
	{ "cpu", SCRIPT_CPU, true },
	{ "time", SCRIPT_TIME, true },
	{ "tod", SCRIPT_TOD, false },
	{ "period", SCRIPT_PERIOD, true },
	{ "event", SCRIPT_EVENT, true },
	{ "trace", SCRIPT_TRACE, true },
	{ "count", SCRIPT_COUNT, false },
	{ "ip", SCRIPT_IP, true },
	{ "sym", SCRIPT_SYM, true },
	{ "symoff", SCRIPT_SYMOFF, true },
	{ "dso", SCRIPT_DSO, true },
	{ "srcline", SCRIPT_SRCLINE, false },
	{ "srccode", SCRIPT_SRCCODE, false },
	{ "addr", SCRIPT_ADDR, false },
	{ "data_src", SCRIPT_DATA_SRC, false },
	{ "phys_addr", SCRIPT_PHYS_ADDR, false },
	{ "weight", SCRIPT_WEIGHT, false },
	{ "ins_lat", SCRIPT_INS_LAT, false },
	{ "data_page_size", SCRIPT_DATA_PAGE_SIZE, false },
	{ "code_page_size", SCRIPT_CODE_PAGE_SIZE, false },
	{ "iregs", SCRIPT_IREGS, false },
	{ "uregs", SCRIPT_UREGS, false },
	{ "brstack", SCRIPT_BRSTACK, false },
	{ "brstacksym", SCRIPT_BRSTACKSYM, false },
	{ "brstackoff", SCRIPT_BRSTACKOFF, false },
	{ "brstackinsn", SCRIPT_BRSTACKINSN, false },
	{ "brstackinsnlen", SCRIPT_BRSTACKINSNLEN, false },
	{ "insn", SCRIPT_INSN, false },
	{ "insnlen", SCRIPT_INSNLEN, false },
	{ "misc", SCRIPT_MISC, false },
	{ "flags", SCRIPT_FLAGS, false },
	{ "synth", SCRIPT_NOTHING, false },
	{ "callindent", SCRIPT_NOTHING, false },
	{ "ipc", SCRIPT_NOTHING, false },
	{ "metric", SCRIPT_NOTHING, false },
};

static uint64_t find_field(const char *word, size_t n)
{
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (strlen(fields[i].name) == n && !memcmp(fields[i].name, word, n))
			return fields[i].field;
	return 0;
}

/* Why a field of perf script is not supported, and what prints it instead. */
static const char *remedy_of(const char *word, size_t n)
{
	static const struct {
		const char *name, *remedy;
	} of_perf[] = {
		{ "bpf-output", "; perf script prints what BPF programs wrote" },
	};
	for (size_t i = 0; i < ARRAY_LEN(of_perf); i++)
		if (strlen(of_perf[i].name) == n && !memcmp(of_perf[i].name, word, n))
			return of_perf[i].remedy;
	return "";
}

static struct kin_error *no_field(const char *word, size_t n)
{
	struct arena a = { 0 };
	const char *list = "";
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		list = arena_printf(&a, "%s%s%s", list, i ? ", " : "", fields[i].name);
	struct kin_error *err =
		err_new(KIN_ERROR_USAGE, "--columns: unknown field '%.*s'; valid: %s%s",
			n > 80 ? 80 : (int)n, word, list, remedy_of(word, n));
	arena_release(&a);
	return err;
}

static const struct {
	const char *name;
	enum event_type type;
} prefixes[] = {
	{ "hw:", EVENT_HARDWARE },    { "sw:", EVENT_SOFTWARE }, { "trace:", EVENT_TRACE_POINT },
	{ "hw-cache:", EVENT_CACHE }, { "raw:", EVENT_RAW },     { "break:", EVENT_BREAKPOINT },
};

/* The type of events that a list of fields is for; EVENT_UNTYPED: all of them. */
static enum event_type take_prefix(const char **text)
{
	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
		size_t n = strlen(prefixes[i].name);
		if (!strncmp(*text, prefixes[i].name, n)) {
			*text += n;
			return prefixes[i].type;
		}
	}
	return EVENT_UNTYPED;
}

static struct kin_error *no_prefix(const char *word, size_t n)
{
	return err_new(
		KIN_ERROR_USAGE,
		"--columns: unknown type of events '%.*s' (hw, sw, trace, hw-cache, raw, break)",
		n > 80 ? 80 : (int)n, word);
}

static void choose(struct script_fields *f, enum event_type of, uint64_t field, bool away)
{
	for (size_t i = 0; i < EVENT_TYPES; i++)
		if (of == EVENT_UNTYPED || i == of)
			f->of[i] = away ? f->of[i] & ~field : f->of[i] | field;
}

/* The length of a field's name. One of perf's fields has a '-' in it. */
static size_t word_length(const char *s)
{
	static const char odd[] = "bpf-output";
	return !strncmp(s, odd, strlen(odd)) ? strlen(odd) : strcspn(s, ",+- ");
}

/* One list, up to a space or the end. */
static struct kin_error *read_list(const char **text, struct script_fields *f)
{
	const char *s = *text, *colon = s + strcspn(s, ":, ");
	enum event_type of = take_prefix(&s);
	if (*colon == ':' && of == EVENT_UNTYPED)
		return no_prefix(s, (size_t)(colon - s));
	if (*s != '+' && *s != '-')
		choose(f, of, ~UINT64_C(0), true);
	for (bool away = false; *s && *s != ' ';) {
		if (*s == ',' || *s == '+' || *s == '-') {
			away = *s == '-' || (*s == ',' && away);
			s++;
			continue;
		}
		size_t n = word_length(s);
		uint64_t field = find_field(s, n);
		if (!field)
			return no_field(s, n);
		choose(f, of, field, away);
		s += n;
	}
	*text = s;
	return NULL;
}

struct kin_error *script_fields_read(const char *text, struct script_fields *ret)
{
	struct script_fields f = { { 0 } };
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		choose(&f, EVENT_UNTYPED, fields[i].usual ? fields[i].field : 0, false);
	while (text && *text) {
		struct kin_error *err = read_list(&text, &f);
		if (err)
			return err;
		text += strspn(text, " ");
	}
	*ret = f;
	return NULL;
}

bool script_fields_any(const struct script_fields *f, uint64_t some)
{
	for (size_t i = 0; i < EVENT_TYPES; i++)
		if (f->of[i] & some)
			return true;
	return false;
}
