/* held_files.c - keeps open the root folders of processes in other mount namespaces. */
#include "record/held_files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"

char *held_path(int fd) { return xprintf("/proc/self/fd/%d", fd); }

static char *read_link(const char *path)
{
	char to[4096];
	ssize_t n = readlink(path, to, sizeof(to) - 1);
	return xprintf("%.*s", n > 0 ? (int)n : 0, to);
}

static bool look(const char *root, const char *namespace, struct mapped_root *ret)
{
	struct stat folder, in;
	if (stat(root, &folder) || stat(namespace, &in))
		return false;
	*ret = (struct mapped_root){ .namespace = in.st_ino,
				     .device = folder.st_dev,
				     .inode = folder.st_ino,
				     .fd = -1,
				     .namespace_fd = -1 };
	return true;
}

static bool same_root(const struct mapped_root *a, const struct mapped_root *b)
{
	return a->namespace == b->namespace && a->device == b->device && a->inode == b->inode;
}

static void root_done(struct mapped_root *r)
{
	if (r->fd >= 0)
		close(r->fd);
	if (r->namespace_fd >= 0)
		close(r->namespace_fd);
	free(r->seen);
}

static size_t add_root(struct held_files *h, const char *root, const char *namespace,
		       struct mapped_root *made)
{
	for (size_t i = 0; i < h->roots.n; i++)
		if (same_root(made, &h->roots.at[i]))
			return i;
	if (h->roots.n >= h->most_roots)
		return SIZE_MAX;
	made->fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	made->namespace_fd = open(namespace, O_RDONLY | O_CLOEXEC);
	made->seen = read_link(root);
	if (made->fd < 0) {
		root_done(made);
		return SIZE_MAX;
	}
	vec_push(&h->roots, *made);
	return h->roots.n - 1;
}

size_t held_files_root(struct held_files *h, pid_t pid)
{
	struct mapped_root own, made;
	char *root = xprintf("/proc/%d/root", (int)pid),
	     *namespace = xprintf("/proc/%d/ns/mnt", (int)pid);
	bool other = look("/proc/self/root", "/proc/self/ns/mnt", &own) &&
		     look(root, namespace, &made) && !same_root(&own, &made);
	size_t found = other ? add_root(h, root, namespace, &made) : SIZE_MAX;
	free(root);
	free(namespace);
	return found;
}

char *held_files_top(const struct held_files *h, const struct mapped_file *f)
{
	return f->root == SIZE_MAX ? NULL : held_path(h->roots.at[f->root].fd);
}

/* The kernel's records have paths as the process sees them; /proc shows paths as we see them. */
char *held_files_below(const struct held_files *h, const struct mapped_file *f)
{
	const char *seen = h->roots.at[f->root].seen, *path = f->path;
	size_t n = strlen(seen);
	if (n > 1 && !strncmp(path, seen, n) && path[n] == '/')
		path += n;
	char *top = held_files_top(h, f), *below = xprintf("%s%s", top, path);
	free(top);
	return below;
}

char *held_files_place(const struct held_files *h, const struct mapped_file *f)
{
	char *below = f->root == SIZE_MAX ? NULL : held_files_below(h, f);
	char *open = held_path(f->fd);
	bool there = below && file_is_same(below, open);
	free(there ? open : below);
	return there ? below : open;
}

void held_files_done(struct held_files *h)
{
	for (size_t i = 0; i < h->files.n; i++) {
		close(h->files.at[i].fd);
		free(h->files.at[i].path);
		free(h->files.at[i].build_id);
	}
	for (size_t i = 0; i < h->roots.n; i++)
		root_done(&h->roots.at[i]);
	vec_free(&h->files);
	vec_free(&h->roots);
}
