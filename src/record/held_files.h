/* held_files.h - mapped files that are kept open until names have been made from them.
 *
 * At the end of a recording a path may lead to another file than the one that ran, or to none: the
 * process was in a container that is gone, or the file was removed. Kept open are the files that
 * stacks led into. For processes that see other file systems than we do, their root and its mounts
 * are kept open as well, for debug files. Their number is limited by file descriptors. */
#ifndef RECORD_HELD_FILES_H
#define RECORD_HELD_FILES_H

#include <sys/types.h>

#include "base/vec.h"

struct mapped_file {
	char *path;     /* as in the recording */
	char *build_id; /* in hex; "": none */
	int fd;
	size_t root; /* index into roots; SIZE_MAX: our own root */
};

struct mapped_root { /* the root folder of the processes in one mount namespace */
	uint64_t namespace, device, inode;
	int fd;           /* of the folder */
	char *seen;       /* our path of it, if there is one; "/" is its own */
	int namespace_fd; /* keeps its mounts alive when the processes have ended */
};

struct held_files {
	VEC(struct mapped_file) files;
	VEC(struct mapped_root) roots;
	size_t most_roots;
};

/* Keeps the root of a process open, and returns its index; SIZE_MAX if it is our own root, or the
 * process is gone. */
size_t held_files_root(struct held_files *h, pid_t pid);
char *held_path(int fd); /* a path to open it by; to be freed */
/* A path to open the file's root by; to be freed. NULL: it is our own root. */
char *held_files_top(const struct held_files *h, const struct mapped_file *f);
/* A path to open the file by its name below such a root; to be freed. */
char *held_files_below(const struct held_files *h, const struct mapped_file *f);
/* A path to open the file by, below its root if it still has a name there; to be freed. */
char *held_files_place(const struct held_files *h, const struct mapped_file *f);
void held_files_done(struct held_files *h);

#endif
