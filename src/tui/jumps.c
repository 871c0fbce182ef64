/* jumps.c - reads the operand of a jump, as the disassembler writes it, and draws arrows. */
#include "tui/jumps.h"

#include <stdlib.h>
#include <string.h>

/* Calls on any machine: they return to the next instruction, so they get no arrow. */
static bool is_call(const char *text)
{
	static const char *const calls[] = { "call", "lcall", "bl ", "blr ", "jal " };
	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		if (!strncmp(text, calls[i], strlen(calls[i])))
			return true;
	return false;
}

/* The last operand is the address and nothing else: "jne 0x1234 <main+0x10>", "cbz x0, #0x1234". */
bool jumps_target(const struct page_row *r, uint64_t *ret)
{
	const char *name = strstr(r->name, " <"), *end = name ? name : r->name + strlen(r->name);
	const char *at = end;
	char *after;
	if (r->kind != KIN_ROW_PLAIN || is_call(r->name))
		return false;
	while (at > r->name && at[-1] != ' ')
		at--;
	at += *at == '#';
	if (at == r->name || strncmp(at, "0x", 2) != 0)
		return false;
	*ret = strtoull(at, &after, 16);
	return after == end;
}

bool jumps_is_at(const struct page *p, const struct page_row *r, uint64_t address)
{
	const char *cell = p->n_columns ? r->cells[p->n_columns - 1] : "";
	return r->kind == KIN_ROW_PLAIN && *cell && strtoull(cell, NULL, 16) == address;
}

const char *jumps_arrow(size_t line, size_t from, size_t to, bool ascii)
{
	size_t first = from < to ? from : to, last = from < to ? to : from;
	if (line < first || line > last)
		return "";
	if (line > first && line < last)
		return ascii ? "|" : "│";
	if (line == to)
		return ascii ? "+>" : line == first ? "╭>" : "╰>";
	return ascii ? "+-" : line == first ? "╭─" : "╰─";
}
