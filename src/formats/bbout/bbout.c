/* bbout.c - bb.out, the text that programs built by old compilers with -a leave: how often each
 * basic block was executed. A group of lines per source file:
 *
 *	File main.c, 2 basic blocks
 *
 *	    Block #1: executed 1 time(s) address= 0x401000 function= main line= 3 file= main.c
 */
#include <ctype.h>
#include <string.h>

#include "base/err.h"
#include "input/input.h"

struct bbout {
	struct bytes b;
	struct profile_builder *into;
	struct source *source;
	size_t line, group_line;    /* line numbers; group_line 0: no group yet */
	uint64_t promised, present; /* blocks announced by the group's first line, and found */
	struct kin_error *err;      /* the first error; reading goes on */
};

struct bbout_text {
	const char *s, *end;
};

static bool probe(struct bytes head, const struct input_opts *o)
{
	static const char title[] = "Basic block profiling", group[] = " basic blocks";
	size_t n = bytes_left(&head) < 4096 ? bytes_left(&head) : 4096;

	(void)o;
	return !memchr(head.pos, '\0', n) && (memmem(head.pos, n, title, sizeof(title) - 1) ||
					      (n > 5 && !memcmp(head.pos, "File ", 5) &&
					       memmem(head.pos, n, group, sizeof(group) - 1)));
}

/* The end of the last `word` in t, or NULL. */
static const char *after_last(struct bbout_text t, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = t.end; (size_t)(p - t.s) >= n; p--)
		if (!memcmp(p - n, word, n))
			return p;
	return NULL;
}

static const char *after_first(struct bbout_text t, const char *word)
{
	const char *p = memmem(t.s, (size_t)(t.end - t.s), word, strlen(word));

	return p ? p + strlen(word) : NULL;
}

static bool starts_with(struct bbout_text t, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(t.end - t.s) >= n && !memcmp(t.s, word, n);
}

/* Digits from s on; the largest number if they do not fit. */
static uint64_t number(struct bbout_text t, unsigned base)
{
	uint64_t v = 0;

	for (; t.s < t.end && isxdigit((unsigned char)*t.s); t.s++) {
		unsigned digit = isdigit((unsigned char)*t.s) ? (unsigned)(*t.s - '0')
							      : (unsigned)((*t.s | 32) - 'a') + 10;
		if (digit >= base)
			break;
		if (__builtin_mul_overflow(v, base, &v) || __builtin_add_overflow(v, digit, &v))
			return UINT64_MAX;
	}
	return v;
}

/* "File NAME, N basic blocks" */
static bool parse_group(struct bbout_text line, uint64_t *n)
{
	const char *comma;

	if (!starts_with(line, "File "))
		return false;
	while ((comma = after_last(line, ", "))) {
		struct bbout_text rest = { comma, line.end };
		while (rest.s < rest.end && isdigit((unsigned char)*rest.s))
			rest.s++;
		if (rest.s > comma && starts_with(rest, " basic blocks")) {
			*n = number((struct bbout_text){ comma, rest.s }, 10);
			return true;
		}
		line.end = comma - 2;
	}
	return false;
}

/* Parses " N time" after "executed". Returns where that ends, or NULL. */
static const char *parse_count(struct bbout_text rest, uint64_t *count)
{
	const char *s = rest.s;

	while (rest.s < rest.end && (*rest.s == ' ' || isdigit((unsigned char)*rest.s)))
		rest.s++;
	if (rest.s - s < 2 || rest.s[-1] != ' ' || !starts_with(rest, "time"))
		return NULL;
	while (*s == ' ' && s < rest.s)
		s++;
	*count = number((struct bbout_text){ s, rest.s }, 10);
	return rest.s + 4;
}

/* "Block ...executed N time... address= 0xADDR" */
static bool parse_block(struct bbout_text line, struct block *ret)
{
	struct block block = { 0 };
	const char *name = after_first(line, "Block"), *address = after_last(line, " address= 0x");
	const char *executed;

	if (!name || !address || name > address)
		return false;
	block.addr = number((struct bbout_text){ address, line.end }, 16);
	line = (struct bbout_text){ name, address };
	for (; (executed = after_last(line, "executed")); line.end = executed - 8) {
		struct bbout_text rest = { executed, address };
		const char *end = parse_count(rest, &block.count);
		if (end && end <= address - strlen(" address= 0x")) {
			*ret = block;
			return true;
		}
	}
	return false;
}

static void complain(struct bbout *f, struct kin_error *err)
{
	if (f->err)
		kin_error_free(err);
	else
		f->err = err;
}

static void end_group(struct bbout *f)
{
	if (f->promised != f->present)
		complain(f,
			 err_new(KIN_ERROR_FORMAT,
				 "%s: the group at line %zu says %ju basic blocks and has %ju: cut "
				 "off or damaged; run the program again to its end",
				 f->b.name, f->group_line, (uintmax_t)f->promised,
				 (uintmax_t)f->present));
}

static void read_line(struct bbout *f, struct bbout_text line)
{
	struct block block;
	uint64_t n;

	if (parse_group(line, &n)) {
		end_group(f);
		f->group_line = f->line;
		f->promised = n;
		f->present = 0;
		f->source->n_blocks++;
		profile_add_block_record(f->into);
	} else if (parse_block(line, &block)) {
		f->present++;
		profile_add_block(f->into, block);
	}
}

static struct kin_error *read_bbout(struct bytes all, const struct input_opts *o,
				    struct profile_builder *into, struct source *source)
{
	struct bbout f = { .b = all, .into = into, .source = source };

	(void)o;
	while (bytes_left(&f.b)) {
		const uint8_t *end = memchr(f.b.pos, '\n', bytes_left(&f.b));
		f.line++;
		if (!end) { /* the incomplete last line cannot be trusted */
			complain(&f,
				 err_new(KIN_ERROR_FORMAT,
					 "%s: cut off in line %zu: the program or the copy did not "
					 "finish; run it again to its end",
					 f.b.name, f.line));
			break;
		}
		read_line(&f, (struct bbout_text){ (const char *)f.b.pos, (const char *)end });
		f.b.pos = end + 1;
	}
	end_group(&f);
	return f.err;
}

const struct format bbout_format = {
	.about = { .name = "bb.out", .what = "counts of basic blocks, of gcc -a", .is_read = true },
	.needs = FORMAT_NEEDS_PROGRAM,
	.recognise = probe,
	.is_vague = true,
	.read = read_bbout,
};
