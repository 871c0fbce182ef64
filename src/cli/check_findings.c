/* check_findings.c - writes findings, with one function for each format. */
#include "cli/check_findings.h"

#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/json.h"
#include "base/sink.h"

static const char *const kinds[] = {
	[FINDING_CALLS] = "calls",  [FINDING_TIME] = "time",   [FINDING_TOTAL] = "total",
	[FINDING_OUT] = "findings", [FINDING_ERROR] = "error",
};

void check_findings_add(struct check_findings *f, struct check_finding x) { vec_push(&f->at, x); }

void check_findings_done(struct check_findings *f)
{
	for (size_t i = 0; i < f->at.n; i++) {
		free(f->at.at[i].word);
		free(f->at.at[i].function);
		free(f->at.at[i].object);
		free(f->at.at[i].text);
		free(f->at.at[i].file);
	}
	vec_free(&f->at);
	remarks_free(&f->notes);
}

static const char *kind_of(const struct check_finding *x)
{
	return x->word ? x->word : kinds[x->kind];
}

/* What distinguishes the finding from others of its kind; for an error, its text. */
static const char *name_of(const struct check_finding *x)
{
	return x->function ? x->function : x->kind == FINDING_ERROR ? x->text : kind_of(x);
}

/* The function, "f" or "f (lib.so)"; to be freed. */
static char *subject(const struct check_finding *x)
{
	const char *name = name_of(x);
	return x->of_several ? xprintf("%s (%s)", name, x->object) : xprintf("%s", name);
}

/* The statement about it; to be freed. */
static char *phrase(const struct check_finding *x)
{
	return x->functions > 1 ? xprintf("%s, of %zu functions of that name together", x->text,
					  x->functions)
				: xprintf("%s", x->text);
}

/* "f: text"; to be freed. */
static char *sentence(const struct check_finding *x)
{
	char *name = subject(x), *text = phrase(x);
	char *ret = x->word       ? xprintf("%s: %s", x->word, text)
		    : x->function ? xprintf("%s: %s", name, text)
				  : xprintf("%s", text);
	free(name);
	free(text);
	return ret;
}

static const char *verdict(const struct check_findings *f)
{
	bool is_slower = false;
	for (size_t i = 0; i < f->at.n; i++) {
		if (f->at.at[i].kind == FINDING_ERROR)
			return "not comparable";
		is_slower |= f->at.at[i].kind != FINDING_OUT;
	}
	return is_slower ? "slower" : f->at.n ? "stands out" : "fine";
}

/* ---- text for people and editors: file:line: f: text ---- */

static void put_plain(struct sink *s, const char *text)
{
	char *safe = escape_copy(text);
	sink_str(s, safe);
	free(safe);
}

static void write_text(const struct check_findings *f, struct sink *s)
{
	const char *note;
	char line[32];
	for (size_t i = 0; i < f->at.n; i++) {
		const struct check_finding *x = &f->at.at[i];
		char *text = sentence(x);
		if (x->file) {
			put_plain(s, x->file);
			snprintf(line, sizeof(line), ":%u: ", x->line);
			sink_str(s, line);
		}
		put_plain(s, text);
		sink_char(s, '\n');
		free(text);
	}
	for (size_t i = 0; (note = remarks_next(&f->notes, KIN_REMARK_NOTE, &i));) {
		put_plain(s, note);
		sink_char(s, '\n');
	}
	sink_str(s, verdict(f));
	sink_char(s, '\n');
}

/* ---- JSON, and GitLab's code quality report ---- */

static void number(struct sink *s, const char *key, size_t n)
{
	char text[64];
	snprintf(text, sizeof(text), "\"%s\":%zu", key, n);
	sink_str(s, text);
}

static void write_json(const struct check_findings *f, struct sink *s)
{
	sink_char(s, '{');
	json_member(s, "verdict", verdict(f));
	sink_str(s, ",\n\"checked\":{");
	for (int i = 0; i < FINDING_ERROR; i++) {
		if (i == FINDING_OUT && !f->checked[i])
			continue;
		sink_str(s, i ? "," : "");
		number(s, kinds[i], f->checked[i]);
	}
	sink_str(s, "},\n\"notes\":[");
	remarks_json(&f->notes, KIN_REMARK_NOTE, "\n  ", s);
	sink_str(s, "],\n\"findings\":[");
	for (size_t i = 0; i < f->at.n; i++) {
		const struct check_finding *x = &f->at.at[i];
		char *text = phrase(x);
		sink_str(s, i ? ",\n  {" : "\n  {");
		json_member(s, "kind", kind_of(x));
		sink_char(s, ',');
		json_member(s, "function", x->function);
		sink_char(s, ',');
		json_member(s, "object", x->object);
		sink_char(s, ',');
		json_member(s, "text", text);
		free(text);
		sink_char(s, ',');
		json_member(s, "file", x->file);
		sink_char(s, ',');
		number(s, "line", x->line);
		sink_char(s, '}');
	}
	sink_str(s, "]}\n");
}

/* The same finding has the same fingerprint in the next pipeline, even if its numbers differ
 * (FNV-1a). */
static uint64_t fingerprint(const struct check_finding *x)
{
	uint64_t hash = 0xcbf29ce484222325u;
	const char *const parts[] = { kind_of(x), name_of(x), x->object ? x->object : "" };
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		for (const char *p = parts[i];; p++) {
			hash = (hash ^ (unsigned char)*p) * 0x100000001b3u;
			if (!*p)
				break;
		}
	return hash;
}

static void write_gitlab(const struct check_findings *f, struct sink *s)
{
	char text[64];
	sink_char(s, '[');
	for (size_t i = 0; i < f->at.n; i++) {
		const struct check_finding *x = &f->at.at[i];
		char *description = sentence(x);
		sink_str(s, i ? ",\n {" : "\n {");
		json_member(s, "description", description);
		sink_char(s, ',');
		snprintf(text, sizeof(text), "kin check: %s", kind_of(x));
		json_member(s, "check_name", text);
		sink_char(s, ',');
		snprintf(text, sizeof(text), "%016llx", (unsigned long long)fingerprint(x));
		json_member(s, "fingerprint", text);
		sink_char(s, ',');
		json_member(s, "severity", x->kind == FINDING_ERROR ? "blocker" : "major");
		sink_str(s, ",\"location\":{");
		json_member(s, "path", x->file ? x->file : ".");
		sink_str(s, ",\"lines\":{");
		number(s, "begin", x->line ? x->line : 1);
		sink_str(s, "}}}");
		free(description);
	}
	sink_str(s, f->at.n ? "\n]\n" : "]\n");
}

/* ---- GitHub workflow commands ---- */

/* Escapes text. A property must not contain "," and ":" either. */
static void put_command(struct sink *s, const char *text, bool property)
{
	char code[8];
	char *safe = escape_copy(text);
	for (const char *p = safe; *p; p++) {
		if (*p == '%' || (property && (*p == ',' || *p == ':'))) {
			snprintf(code, sizeof(code), "%%%02X", (unsigned)(unsigned char)*p);
			sink_str(s, code);
		} else {
			sink_char(s, *p);
		}
	}
	free(safe);
}

static void write_github(const struct check_findings *f, struct sink *s)
{
	char line[32];
	for (size_t i = 0; i < f->at.n; i++) {
		const struct check_finding *x = &f->at.at[i];
		char *text = sentence(x);
		sink_str(s, "::error ");
		if (x->file) {
			sink_str(s, "file=");
			put_command(s, x->file, true);
			snprintf(line, sizeof(line), ",line=%u,", x->line ? x->line : 1);
			sink_str(s, line);
		}
		sink_str(s, "title=kin check::");
		put_command(s, text, false);
		sink_char(s, '\n');
		free(text);
	}
	const char *note;
	for (size_t i = 0; (note = remarks_next(&f->notes, KIN_REMARK_NOTE, &i));) {
		sink_str(s, "::notice title=kin check::");
		put_command(s, note, false);
		sink_char(s, '\n');
	}
}

/* ---- JUnit XML ---- */

static void put_xml(struct sink *s, const char *text)
{
	char *safe = escape_copy(text);
	for (const char *p = safe; *p; p++) {
		const char *entity = *p == '&'   ? "&amp;"
				     : *p == '<' ? "&lt;"
				     : *p == '>' ? "&gt;"
				     : *p == '"' ? "&quot;"
						 : NULL;
		if (entity)
			sink_str(s, entity);
		else
			sink_char(s, *p);
	}
	free(safe);
}

static void write_case(const struct check_finding *x, struct sink *s)
{
	bool error = x->kind == FINDING_ERROR;
	char line[32], *name = subject(x), *text = phrase(x);
	sink_str(s, "  <testcase classname=\"kin.");
	sink_str(s, kind_of(x));
	sink_str(s, "\" name=\"");
	put_xml(s, name);
	free(name);
	if (x->file) {
		sink_str(s, "\" file=\"");
		put_xml(s, x->file);
		snprintf(line, sizeof(line), "\" line=\"%u", x->line);
		sink_str(s, line);
	}
	sink_str(s, error ? "\"><error message=\"" : "\"><failure message=\"");
	put_xml(s, text);
	free(text);
	sink_str(s, "\"/></testcase>\n");
}

/* Failures are test cases with names; a kind without failures is one test case. */
static void write_junit(const struct check_findings *f, struct sink *s)
{
	static const char *const of_all[] = {
		[FINDING_CALLS] = "each function",
		[FINDING_TIME] = "each function",
		[FINDING_TOTAL] = "all together",
		[FINDING_OUT] = "none stands out",
	};
	size_t failed[N_FINDING_KINDS] = { 0 }, good = 0;
	char text[256];
	for (size_t i = 0; i < f->at.n; i++)
		failed[f->at.at[i].kind]++;
	for (int i = 0; i < FINDING_ERROR; i++)
		good += f->checked[i] && !failed[i];
	snprintf(text, sizeof(text),
		 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		 "<testsuite name=\"kin check\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\">\n",
		 f->at.n + good, f->at.n - failed[FINDING_ERROR], failed[FINDING_ERROR]);
	sink_str(s, text);
	for (size_t i = 0; i < f->at.n; i++)
		write_case(&f->at.at[i], s);
	for (int i = 0; i < FINDING_ERROR; i++) {
		if (!f->checked[i] || failed[i])
			continue;
		snprintf(text, sizeof(text), "  <testcase classname=\"kin.%s\" name=\"%s\"/>\n",
			 kinds[i], of_all[i]);
		sink_str(s, text);
	}
	sink_str(s, "</testsuite>\n");
}

/* ---- interface ---- */

void check_findings_write(const struct check_findings *f, const char *format, FILE *out)
{
	static const struct {
		const char *name;
		void (*write)(const struct check_findings *f, struct sink *s);
	} formats[] = {
		{ "text", write_text },     { "json", write_json },   { "github", write_github },
		{ "gitlab", write_gitlab }, { "junit", write_junit },
	};
	struct sink s;
	sink_init(&s, out);
	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		if (!strcmp(formats[i].name, format))
			formats[i].write(f, &s);
	sink_flush(&s);
}
