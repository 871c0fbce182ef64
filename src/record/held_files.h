/* held_files.h - files that were mapped, held open until names have been made of them.
 *
 * At the end of a recording a path may lead to another file than the one that ran, or to none: the
 * process was in a container that is gone by then, or the file was removed. Held are the files that
 * stacks led into and, of processes that see other file systems than we do, their root with all
 * that is mounted below it, for debug files: as many as there are places for. */
#ifndef RECORD_HELD_FILES_H
#define RECORD_HELD_FILES_H

#include <sys/types.h>

#include "base/vec.h"

struct mapped_file {
	char *path;     /* as in the recording */
	char *build_id; /* in hex; "": it has none */
	int fd;
	size_t root; /* index into roots; SIZE_MAX: the root that we see */
};

struct mapped_root { /* what processes of one mount namespace see */
	uint64_t namespace, device, inode;
	int fd;           /* of the folder */
	char *seen;       /* where it is for us, if it is anywhere: "/" is its own */
	int namespace_fd; /* keeps what is mounted there when they have ended */
};

struct held_files {
	VEC(struct mapped_file) files;
	VEC(struct mapped_root) roots;
};

/* The root of a process, which is held from now on; SIZE_MAX if it is the one that we see, or the
 * process is gone. */
size_t held_files_root(struct held_files *h, pid_t pid);
char *held_path(int fd); /* where it can be opened by us; to be freed */
/* The same of a file's root; NULL: it is the one that we see. */
char *held_files_top(const struct held_files *h, const struct mapped_file *f);
/* The same of a file: below its root, if it still has a name there. */
char *held_files_place(const struct held_files *h, const struct mapped_file *f);
void held_files_done(struct held_files *h);

#endif
