/* script_values.c - values of a sample for both text and JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/escape.h"
#include "base/num.h"
#include "export/script_private.h"

void script_put_hex(struct sink *s, uint64_t v, int width)
{
	char text[20];
	int n = snprintf(text, sizeof(text), "%*" PRIx64, width, v);
	sink_bytes(s, text, (size_t)n);
}

void script_put_number(struct sink *s, uint64_t v) { s->n += num_u64(sink_room(s, NUM_MAX), v); }

void script_put_safe(struct sink *s, const char *text)
{
	if (escape_is_plain(text)) {
		sink_str(s, text);
		return;
	}
	char *safe = escape_copy(text);
	sink_str(s, safe);
	free(safe);
}

void script_put_padded(struct sink *s, uint64_t v, size_t width, char with)
{
	char text[NUM_MAX];
	size_t n = num_u64(text, v);
	for (; width > n; width--)
		sink_char(s, with);
	sink_bytes(s, text, n);
}

void script_put_time(struct sink *s, uint64_t ns, bool all_digits, size_t width)
{
	script_put_padded(s, ns / 1000000000, width, ' ');
	sink_char(s, '.');
	if (all_digits)
		script_put_padded(s, ns % 1000000000, 9, '0');
	else
		script_put_padded(s, ns % 1000000000 / 1000, 6, '0');
}

const char *script_string(const struct script *c, strid id)
{
	return strtab_get(c->p->strings, id);
}

uint64_t script_time(const struct script *c, const struct sample *x)
{
	return x->time_ns > c->from_ns ? x->time_ns - c->from_ns : 0;
}

bool script_has_trace(const struct script *c, const struct sample *x)
{
	return c->fields & SCRIPT_TRACE && c->p->samples.events[x->event].is_trace;
}

const char *script_trace(const struct script *c, const struct sample *x)
{
	if (!script_has_trace(c, x))
		return NULL;
	const struct detail *d = sample_detail(&c->p->samples, x);
	return d->has & DETAIL_TRACE ? script_string(c, d->trace) : NULL;
}

uint64_t script_addr(const struct detail *d) { return d->has & DETAIL_ADDR ? d->addr : 0; }

struct sampled_registers script_registers(const struct script *c, const struct detail *d,
					  uint64_t at)
{
	const struct detail_registers r = detail_registers(c->p->samples.words, at);
	struct sampled_registers ret = { .abi = r.abi };
	/* "AX BX . CX": names by number; ".": no name. */
	const char *names = script_string(c, d->register_names);

	for (unsigned i = 0; i < REGISTERS_MAX; i++) {
		size_t n = strcspn(names, " ");
		if (r.mask >> i & 1) {
			ret.at[ret.n] =
				(struct sampled_register){ names, *names == '.' ? 0 : (int)n, i,
							   r.values[ret.n] };
			ret.n++;
		}
		names += n + (names[n] == ' ');
	}
	return ret;
}

const uint8_t *script_code(const struct script *c, const struct sample *x, size_t *size)
{
	const uint8_t *code = program_code(c->g, c->p->samples.stacks[x->stack].frame, size);
	if (!code)
		*size = 0;
	return code;
}

const uint8_t *script_source(struct script *c, const struct sample *x, struct srcloc *where,
			     size_t *n)
{
	const uint8_t *text;
	if (!c->o->source || !program_line(c->g, c->p->samples.stacks[x->stack].frame, where) ||
	    !where->file || !where->line ||
	    !c->o->source(c->o->arg, where->file, where->line, &text, n))
		return NULL;
	return text;
}

size_t script_day(const struct script *c, const struct sample *x, char text[64])
{
	const struct source *source = &c->p->sources[x->source];
	uint64_t ns = x->time_ns + source->day_ns;
	time_t seconds = (time_t)(ns / 1000000000);
	struct tm tm;
	if (!source->has_day || !x->time_ns || !localtime_r(&seconds, &tm))
		return 0;
	size_t n = strftime(text, 64, "%F %T", &tm);
	int digits = c->o->nanoseconds ? 9 : 6;
	unsigned part = (unsigned)(ns % 1000000000 / (digits == 9 ? 1 : 1000));
	return n + (size_t)snprintf(text + n, 64 - n, ".%0*u", digits, part);
}

char script_mode(const struct sample *x)
{
	if (x->flags & FRAME_HYPERVISOR)
		return 'H';
	if (x->flags & FRAME_GUEST)
		return x->flags & FRAME_KERNEL ? 'G' : 'g';
	return x->flags & FRAME_KERNEL ? 'K' : 'U';
}
