/* kallsyms.c - reads lines of kallsyms, sorts them and drops aliases. */
#include "symbolize/kallsyms.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/search.h"
#include "base/vec.h"
#include "object/kernel.h"
#include "object/kernel_names.h"

enum { MAX_LINE = 1024 };

struct named_address {
	uint64_t addr;
	const char *name;
};

struct kallsyms {
	VEC(struct named_address) at; /* by address, one each */
	struct arena arena;
	struct kernel *running; /* looked up instead; NULL: the names are in `at` */
};

/* ---- reading ---- */

static const char *copy(struct arena *a, const char *s, size_t n)
{
	char *to = arena_alloc_bytes(a, n + 1);
	memcpy(to, s, n);
	to[n] = '\0';
	return to;
}

/* Functions only: t and T, and the weak ones. */
static void read_line(struct kallsyms *k, const char *line)
{
	uint64_t addr;
	char type;
	int name = 0;
	if (sscanf(line, "%" SCNx64 " %c %n", &addr, &type, &name) != 2 || !name || !addr ||
	    !strchr("tTwW", type))
		return;
	size_t n = strcspn(line + name, " \t\n");
	vec_push(&k->at, ((struct named_address){ addr, copy(&k->arena, line + name, n) }));
}

static int by_address(const void *a, const void *b)
{
	const struct named_address *x = a, *y = b;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void drop_aliases(struct kallsyms *k)
{
	size_t n = 0;
	for (size_t i = 0; i < k->at.n; i++)
		if (!n || k->at.at[n - 1].addr != k->at.at[i].addr)
			k->at.at[n++] = k->at.at[i];
		else if (kernel_name_rank(k->at.at[i].name) <
			 kernel_name_rank(k->at.at[n - 1].name))
			k->at.at[n - 1].name = k->at.at[i].name;
	k->at.n = n;
}

static bool is_sorted(const struct kallsyms *k)
{
	for (size_t i = 1; i < k->at.n; i++)
		if (k->at.at[i - 1].addr > k->at.at[i].addr)
			return false;
	return true;
}

struct kin_error *kallsyms_open(const char *path, struct kallsyms **ret)
{
	char line[MAX_LINE];
	FILE *f = fopen(path, "re");
	if (!f)
		return err_os(errno, "%s", path);
	struct kallsyms *k = xalloc(sizeof(*k));
	errno = 0;
	while (fgets(line, sizeof(line), f))
		read_line(k, line);
	struct kin_error *err = ferror(f) ? err_os(errno ? errno : EIO, "reading %s", path) : NULL;
	fclose(f);
	if (!err && !k->at.n)
		err = err_new(KIN_ERROR_FORMAT, "%s: no kernel symbols to be read there", path);
	if (err) {
		kallsyms_free(k);
		return err;
	}
	if (!is_sorted(k))
		qsort(k->at.at, k->at.n, sizeof(*k->at.at), by_address);
	drop_aliases(k);
	*ret = k;
	return NULL;
}

struct kin_error *kallsyms_trouble(const struct kallsyms *k)
{
	int errnum = k->running ? kernel_trouble(k->running) : 0;
	return errnum ? err_os(errnum, "reading the kernel's symbols") : NULL;
}

struct kallsyms *kallsyms_of_running(void)
{
	struct kernel *running = kernel_new();
	if (!kernel_has_names(running) && !kernel_trouble(running)) { /* k reports a trouble */
		kernel_free(running);
		return NULL;
	}
	struct kallsyms *k = xalloc(sizeof(*k));
	k->running = running;
	return k;
}

void kallsyms_free(struct kallsyms *k)
{
	if (!k)
		return;
	kernel_free(k->running);
	vec_free(&k->at);
	arena_release(&k->arena);
	free(k);
}

static const char *find_running(const struct kallsyms *k, uint64_t addr, uint64_t *start)
{
	struct kernel_symbol found;
	if (!kernel_has_names(k->running) || !kernel_find(k->running, addr, &found))
		return NULL;
	*start = found.addr;
	return found.name;
}

const char *kallsyms_find(const struct kallsyms *k, uint64_t addr, uint64_t *start)
{
	if (k->running)
		return find_running(k, addr, start);
	size_t low = COUNT_WHILE(k->at.n, i, k->at.at[i].addr <= addr);
	if (!low || addr - k->at.at[low - 1].addr > KERNEL_FUNCTION_MAX)
		return NULL;
	*start = k->at.at[low - 1].addr;
	return k->at.at[low - 1].name;
}
