/* opt.c - the parser: letters, long names, their arguments and the errors. */
#include "options/opt.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/suggest.h"

struct opt_parser opt_parser(const struct opt_group *const *groups, int argc, char **argv)
{
	return (struct opt_parser){ .groups = groups, .argc = argc, .argv = argv, .next = 1 };
}

static PRINTF(2, 3) int fail(struct opt_parser *p, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(p->error, sizeof(p->error), fmt, ap);
	va_end(ap);
	return OPT_ERROR;
}

/* Whether `arg` is one of the words of `values`. If o->more, only the part before a comma
 * counts. */
static bool is_value(const struct opt *o, const char *arg)
{
	size_t n = o->more ? strcspn(arg, ",") : strlen(arg);
	for (const char *v = o->values; *v; v += strspn(v, " ")) {
		size_t len = strcspn(v, " ");
		if (len == n && !memcmp(v, arg, n))
			return true;
		v += len;
	}
	return false;
}

static int take(struct opt_parser *p, const struct opt *o, const char *arg)
{
	p->row = o;
	p->arg = arg;
	p->ended |= o->ends;
	if (arg && o->values && !o->more && !is_value(o, arg))
		return fail(p, "--%s: unknown value '%.80s'; valid: %s", o->name, arg, o->values);
	return o->id;
}

/* Whether the command line ends here, or continues with an option. */
static bool option_follows(const struct opt_parser *p)
{
	return p->next == p->argc || p->argv[p->next][0] == '-';
}

/* Whether a letter's argument, which would be the next word, is omitted. */
static bool letter_goes_without(const struct opt_parser *p, const struct opt *o)
{
	if (o->lenient == ARG_NEEDED || option_follows(p))
		return o->lenient != ARG_NEEDED;
	const char *next = p->argv[p->next];
	return o->values && !is_value(o, next) &&
	       (o->lenient == ARG_OR_OPTION || !access(next, F_OK));
}

static bool name_goes_without(const struct opt_parser *p, const struct opt *o)
{
	return o->lenient == ARG_OR_OPTION && option_follows(p);
}

/* ---- letters ---- */

static const struct opt_refusal *find_refused(const struct opt_parser *p, char letter,
					      const char *name, size_t len)
{
	for (size_t i = 0; p->refused && p->refused[i]; i++)
		for (const struct opt_refusal *r = p->refused[i]; r->name; r++)
			if (name ? strlen(r->name) == len && !memcmp(r->name, name, len)
				 : r->letter == letter)
				return r;
	return NULL;
}

static const struct opt *find_letter(const struct opt_parser *p, char letter)
{
	for (size_t g = 0; p->groups[g]; g++)
		for (const struct opt *o = p->groups[g]->opts; o->id; o++)
			if (o->letter == letter)
				return o;
	return NULL;
}

static int next_letter(struct opt_parser *p)
{
	char letter = *p->letters++;
	const struct opt *o = find_letter(p, letter);
	const char *rest = *p->letters ? p->letters : NULL;

	if (!rest)
		p->letters = NULL;
	if (!o) {
		const struct opt_refusal *r = find_refused(p, letter, NULL, 0);
		p->letters = NULL;
		return r ? fail(p, "option '-%c' is not supported here: %s", letter, r->why)
			 : fail(p, "unknown option '-%c'", letter);
	}
	if (!o->arg || (rest && o->lenient && o->values && !is_value(o, rest)))
		return take(p, o, NULL);
	p->letters = NULL;
	if (rest || opt_arg_is_optional(o) || letter_goes_without(p, o))
		return take(p, o, rest);
	if (p->next == p->argc)
		return fail(p, "option '-%c' needs an argument: %s", letter, o->arg);
	return take(p, o, p->argv[p->next++]);
}

/* ---- long names ---- */

/* The option of that name, or the only one whose name starts with it; *n: number of options that
 * match. */
static const struct opt *find_name(const struct opt_parser *p, const char *name, size_t len,
				   size_t *n)
{
	const struct opt *found = NULL;
	*n = 0;
	for (size_t g = 0; p->groups[g]; g++) {
		for (const struct opt *o = p->groups[g]->opts; o->id; o++) {
			if (!o->name || strncmp(o->name, name, len) != 0)
				continue;
			found = o;
			++*n;
			if (!o->name[len]) {
				*n = 1;
				return o;
			}
		}
	}
	return *n == 1 ? found : NULL;
}

static int unknown(struct opt_parser *p, const char *name, size_t len)
{
	struct suggestion s = suggestion_for(name, len);
	for (size_t g = 0; p->groups[g]; g++)
		for (const struct opt *o = p->groups[g]->opts; o->id; o++)
			if (o->name)
				suggestion_try(&s, o->name);
	for (size_t i = 0; p->refused && p->refused[i]; i++)
		for (const struct opt_refusal *r = p->refused[i]; r->name; r++)
			suggestion_try(&s, r->name);
	const struct opt_refusal *r = s.best ? find_refused(p, 0, s.best, strlen(s.best)) : NULL;
	if (r)
		return fail(p, "unknown option '--%.*s': for --%s, %s", (int)(len < 80 ? len : 80),
			    name, r->name, r->why);
	if (s.best)
		return fail(p, "unknown option '--%.*s': did you mean --%s?",
			    (int)(len < 80 ? len : 80), name, s.best);
	return fail(p, "unknown option '--%.*s'", (int)(len < 80 ? len : 80), name);
}

static int ambiguous(struct opt_parser *p, const char *name, size_t len)
{
	size_t n = (size_t)snprintf(p->error, sizeof(p->error),
				    "'--%.*s' is short for several options:", (int)len, name);
	for (size_t g = 0; p->groups[g]; g++)
		for (const struct opt *o = p->groups[g]->opts; o->id && n < sizeof(p->error); o++)
			if (o->name && !strncmp(o->name, name, len))
				n += (size_t)snprintf(p->error + n, sizeof(p->error) - n, " --%s",
						      o->name);
	return OPT_ERROR;
}

static int long_name(struct opt_parser *p, const char *word)
{
	size_t len = strcspn(word, "="), matches;
	const char *arg = word[len] ? word + len + 1 : NULL;
	const struct opt_refusal *r = find_refused(p, 0, word, len);
	const struct opt *o = find_name(p, word, len, &matches);

	if (r && (!o || o->name[len])) /* refused as completely as the option itself would be */
		return fail(p, "option '--%s' is not supported here: %s", r->name, r->why);
	if (!o)
		return matches ? ambiguous(p, word, len) : unknown(p, word, len);
	if (!o->arg && arg)
		return fail(p, "option '--%s' takes no argument", o->name);
	if (o->arg && !arg && !opt_arg_is_optional(o) && !name_goes_without(p, o)) {
		if (p->next == p->argc)
			return fail(p, "option '--%s' needs an argument: %s", o->name, o->arg);
		if (o->name[len] && p->argv[p->next][0] == '-' && p->argv[p->next][1])
			return fail(p, "'--%.*s' is short for '--%s', which needs an argument: %s",
				    (int)len, word, o->name, o->arg);
		arg = p->argv[p->next++];
	}
	return take(p, o, arg);
}

int opt_next(struct opt_parser *p)
{
	if (p->letters)
		return next_letter(p);
	if (p->next >= p->argc)
		return OPT_END;
	char *word = p->argv[p->next++];
	if (!p->ended && !strcmp(word, "--")) {
		p->ended = true;
		return opt_next(p);
	}
	if (p->ended || word[0] != '-' || !word[1]) {
		p->arg = word;
		return OPT_OPERAND;
	}
	if (word[1] == '-')
		return long_name(p, word + 2);
	p->letters = word + 1;
	return next_letter(p);
}

/* ---- fields ---- */

void string_list_add(struct string_list *l, const char *word)
{
	vec_reserve(&l->at, 2);
	l->at.at[l->at.n++] = word;
	l->at.at[l->at.n] = NULL;
}

bool opt_store(const struct opt *row, const char *of, void *base, const char *arg)
{
	if (!row->field.of || strcmp(row->field.of, of) != 0)
		return false;
	void *at = (char *)base + row->field.offset;
	switch (row->field.kind) {
	case FIELD_TRUE:
	case FIELD_FALSE:
		*(bool *)at = row->field.kind == FIELD_TRUE;
		break;
	case FIELD_TEXT:
		*(const char **)at = arg;
		break;
	case FIELD_LIST:
		string_list_add(at, arg);
		break;
	}
	return true;
}
