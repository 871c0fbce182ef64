#include "record/kernel.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"

enum { TEXT_MAX = 128 << 20, CHUNK = 1 << 20 };

struct symbol {
	uint64_t addr;
	uint32_t name, module; /* offsets in text; module 0: none */
	uint32_t position;
};

struct kernel {
	bool begun, joined; /* the rest is the thread's until it is joined */
	atomic_bool done;
	bool threaded;
	pthread_t thread;
	char *text;
	size_t size;
	VEC(struct symbol) at;
};

struct kernel *kernel_new(void) { return xalloc(sizeof(struct kernel)); }

/* The kernel hands out a page at a time. */
static void read_text(struct kernel *k)
{
	int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	size_t cap = 0;
	ssize_t n = 1;
	while (fd >= 0 && n > 0 && k->size < TEXT_MAX) {
		if (cap - k->size < CHUNK + 1) {
			cap = cap ? 2 * cap : 16 * CHUNK;
			k->text = xrealloc(k->text, cap, 1);
		}
		n = read(fd, k->text + k->size, CHUNK);
		k->size += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0)
		close(fd);
	if (k->text)
		k->text[k->size] = '\0';
}

/* "ffffffff81000000 T _stext\t[module]" */
static void read_line(struct kernel *k, char *line)
{
	char *end;
	struct symbol s = { .addr = strtoull(line, &end, 16), .position = (uint32_t)k->at.n };
	if (!s.addr || end[0] != ' ' || !end[1] || !strchr("tTwW", end[1]) || end[2] != ' ')
		return;
	char *name = end + 3, *tab = strchr(name, '\t');
	s.name = (uint32_t)(name - k->text);
	if (tab) {
		*tab = '\0';
		if (tab[1] == '[') {
			tab[1 + strcspn(tab + 1, "]")] = '\0';
			s.module = (uint32_t)(tab + 2 - k->text);
		}
	}
	vec_push(&k->at, s);
}

static int by_address(const void *a, const void *b)
{
	const struct symbol *s = a, *t = b;
	if (s->addr != t->addr)
		return s->addr < t->addr ? -1 : 1;
	return s->position < t->position ? -1 : s->position > t->position;
}

static void *load(void *arg)
{
	struct kernel *k = arg;
	read_text(k);
	for (char *line = k->text; line && *line;) {
		char *end = strchr(line, '\n');
		if (end)
			*end = '\0';
		read_line(k, line);
		line = end ? end + 1 : NULL;
	}
	if (k->at.n)
		qsort(k->at.at, k->at.n, sizeof(*k->at.at), by_address);
	atomic_store(&k->done, true);
	return NULL;
}

static void begin(struct kernel *k)
{
	if (k->begun)
		return;
	k->begun = true;
	k->threaded = !pthread_create(&k->thread, NULL, load, k);
	if (!k->threaded)
		load(k);
}

bool kernel_is_ready(struct kernel *k)
{
	begin(k);
	return atomic_load(&k->done);
}

bool kernel_has_names(struct kernel *k)
{
	begin(k);
	if (k->threaded && !k->joined)
		pthread_join(k->thread, NULL);
	k->joined = true;
	return k->at.n;
}

bool kernel_find(struct kernel *k, uint64_t addr, struct kernel_symbol *ret)
{
	if (!kernel_has_names(k) || addr < k->at.at[0].addr)
		return false;
	size_t low = 0, high = k->at.n;
	while (low + 1 < high) {
		size_t mid = low + (high - low) / 2;
		if (k->at.at[mid].addr <= addr)
			low = mid;
		else
			high = mid;
	}
	while (low && k->at.at[low - 1].addr == k->at.at[low].addr)
		low--;
	const struct symbol *s = &k->at.at[low];
	*ret = (struct kernel_symbol){ .name = k->text + s->name,
				       .module = s->module ? k->text + s->module : NULL,
				       .addr = s->addr };
	return true;
}

bool kernel_range(struct kernel *k, uint64_t *start, uint64_t *end)
{
	bool from = false, to = false;
	if (!kernel_has_names(k))
		return false;
	for (size_t i = 0; i < k->at.n; i++) {
		const char *name = k->text + k->at.at[i].name;
		if (!strcmp(name, "_text") || (!from && !strcmp(name, "_stext"))) {
			*start = k->at.at[i].addr;
			from = true;
		} else if (!strcmp(name, "_etext")) {
			*end = k->at.at[i].addr;
			to = true;
		}
	}
	return from && to && *start < *end;
}

void kernel_free(struct kernel *k)
{
	if (!k)
		return;
	if (k->begun)
		kernel_has_names(k);
	free(k->text);
	vec_free(&k->at);
	free(k);
}
