/* fetching.c - a progress text for downloads from debuginfod servers. */
#include "cli/fetching.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cli/message.h"

static void note(void *arg, const char *what, uint64_t bytes, uint64_t total)
{
	struct fetching *f = arg;
	char of[32] = "", name[64];
	const char *slash = what ? strrchr(what, '/') : NULL;
	pthread_mutex_lock(&f->lock);
	f->text[0] = '\0';
	if (total)
		snprintf(of, sizeof(of), " of %.1f", (double)total / 1e6);
	if (what) {
		snprintf(name, sizeof(name), "%s", slash ? slash + 1 : what);
		for (char *c = name; *c; c++) /* the text goes to a terminal */
			if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
				*c = '?';
		snprintf(f->text, sizeof(f->text), "debuginfod: %s, %.1f%s MB", name,
			 (double)bytes / 1e6, of);
	}
	pthread_mutex_unlock(&f->lock);
}

#define SYSTEM_DIRECTORY "/etc/debuginfod"

static bool has_urls(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	return urls && urls[strspn(urls, " ")];
}

static int is_list(const struct dirent *d)
{
	const char *end = strrchr(d->d_name, '.');
	return d->d_name[0] != '.' && end && !strcmp(end, ".urls");
}

/* The words of all lists, in order of their names, as elfutils' script for shells joins them; to be
 * freed. NULL: there are none. */
static char *system_urls(void)
{
	struct dirent **lists = NULL;
	char *urls = NULL;
	int n = scandir(SYSTEM_DIRECTORY, &lists, is_list, alphasort);
	for (int i = 0; i < n; i++) {
		char *path = xprintf(SYSTEM_DIRECTORY "/%s", lists[i]->d_name), line[1024];
		FILE *f = fopen(path, "re");
		while (f && fgets(line, sizeof(line), f)) {
			for (char *save, *word = strtok_r(line, " \t\r\n", &save); word;
			     word = strtok_r(NULL, " \t\r\n", &save)) {
				char *longer =
					xprintf("%s%s%s", urls ? urls : "", urls ? " " : "", word);
				free(urls);
				urls = longer;
			}
		}
		if (f)
			fclose(f);
		free(path);
		free(lists[i]);
	}
	free(lists);
	return urls;
}

bool fetching_has_system(void)
{
	char *urls = has_urls() ? NULL : system_urls();
	bool any = urls;
	free(urls);
	return any;
}

struct fetching *fetching_new(bool system)
{
	char *urls = system && !has_urls() ? system_urls() : NULL;
	if (urls)
		setenv("DEBUGINFOD_URLS", urls, 1);
	free(urls);
	struct fetching *f = xalloc(sizeof(*f));
	pthread_mutex_init(&f->lock, NULL);
	kin_error_free(kin_debuginfod_new(
		&(struct kin_debuginfod_opts){ sizeof(struct kin_debuginfod_opts), note, f },
		&f->servers));
	if (f->servers)
		return f;
	fetching_free(f);
	return NULL;
}

void fetching_free(struct fetching *f)
{
	if (!f)
		return;
	kin_debuginfod_free(f->servers);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

void fetching_tell(struct fetching *f, const char *name)
{
	const char *trouble = f ? kin_debuginfod_trouble(f->servers) : NULL;
	if (trouble && !f->told_trouble)
		message(name, "warning: %s", trouble);
	if (f)
		f->told_trouble |= trouble != NULL;
}
