/* spool.c - lists, adopts and limits the recordings that wait in a folder. */
#include "fleet/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/err.h"
#include "base/folder.h"

static const char output_name[] = "recording.kin";

struct kin_error *spool_open(const char *folder, uint64_t max_bytes, struct spool *ret)
{
	struct kin_error *err = folder_make(folder);
	if (err)
		return err;
	struct spool s = { .folder = xprintf("%s", folder), .max_bytes = max_bytes };
	char *path = xprintf("%s/lock", folder);
	s.lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (s.lock < 0)
		err = err_os(errno, "%s", path);
	else if (flock(s.lock, LOCK_EX | LOCK_NB))
		err = err_new(KIN_ERROR_USAGE,
			      "%s: another kin agent records there: end it, or name another folder "
			      "with --spool",
			      folder);
	free(path);
	if (err)
		spool_done(&s);
	else
		*ret = s;
	return err;
}

static void forget(struct spool *s)
{
	for (size_t i = 0; i < s->files.n; i++)
		free(s->files.at[i].path);
	s->files.n = 0;
	s->bytes = 0;
}

void spool_done(struct spool *s)
{
	forget(s);
	vec_free(&s->files);
	free(s->folder);
	if (s->lock >= 0)
		close(s->lock);
}

char *spool_output(const struct spool *s) { return xprintf("%s/%s", s->folder, output_name); }

void spool_adopt(struct spool *s)
{
	char *from = spool_output(s);
	for (unsigned i = 0; access(from, F_OK) == 0 && i < 1000; i++) {
		char *to = xprintf("%s/%s.left.%u", s->folder, output_name, i);
		/* unlike rename(), link() does not replace an existing file */
		bool done = link(from, to) == 0 && unlink(from) == 0;
		free(to);
		if (done)
			break;
	}
	free(from);
}

static int by_age(const void *a, const void *b)
{
	const struct spool_file *x = a, *y = b;
	if (x->modified_ns != y->modified_ns)
		return x->modified_ns < y->modified_ns ? -1 : 1;
	return strcmp(x->path, y->path);
}

/* Names recording.kin.* wait to be sent. */
static bool is_waiting(const char *name)
{
	size_t n = strlen(output_name);
	return !strncmp(name, output_name, n) && name[n] == '.' && name[n + 1];
}

static void list(struct spool *s, DIR *dir)
{
	for (const struct dirent *e; (e = readdir(dir));) {
		struct stat st;
		if (!is_waiting(e->d_name) ||
		    fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode))
			continue;
		vec_push(&s->files,
			 ((struct spool_file){ xprintf("%s/%s", s->folder, e->d_name),
					       (uint64_t)st.st_size,
					       (uint64_t)st.st_mtim.tv_sec * 1000000000u +
						       (uint64_t)st.st_mtim.tv_nsec }));
		s->bytes += (uint64_t)st.st_size;
	}
	if (s->files.n)
		qsort(s->files.at, s->files.n, sizeof(*s->files.at), by_age);
}

static bool is_too_much(const struct spool *s, uint64_t free_bytes)
{
	struct statvfs v;
	if (s->bytes > s->max_bytes)
		return true;
	return !statvfs(s->folder, &v) && (uint64_t)v.f_bavail * v.f_frsize < free_bytes;
}

struct kin_error *spool_look(struct spool *s, uint64_t free_bytes)
{
	DIR *dir = opendir(s->folder);
	if (!dir)
		return err_os(errno, "%s", s->folder);
	forget(s);
	list(s, dir);
	closedir(dir);
	size_t gone = 0;
	while (gone < s->files.n && is_too_much(s, free_bytes)) {
		struct spool_file *f = &s->files.at[gone++];
		s->n_lost += unlink(f->path) == 0;
		s->bytes -= f->bytes;
		free(f->path);
	}
	s->files.n -= gone;
	memmove(s->files.at, s->files.at + gone, s->files.n * sizeof(*s->files.at));
	return NULL;
}
