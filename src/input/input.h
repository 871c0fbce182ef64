/* input.h - files of every known format into one profile.
 *
 * Formats are in formats/formats.h. Which byte order and pointer size a
 * gmon.out has is not in the file: it comes from the executable, in struct input_target. */
#ifndef INPUT_INPUT_H
#define INPUT_INPUT_H

#include <stdio.h>

#include <sys/types.h>

#include "base/bytes.h"
#include "formats/formats.h"
#include "profile/profile.h"

struct input_target {  /* what the data was collected on */
	bool is_64bit; /* size of an address in the files */
	bool big_endian;
};

struct window;
struct input_held;

/* What samples are made of that hold more than a place and a time (profile/detail.h). */
enum input_branches {
	INPUT_SAMPLES,  /* samples, as always */
	INPUT_BRANCHES, /* each branch of their branch stacks is one, at its target, of weight 1 */
	INPUT_AS_RECORDED, /* branches, if those were what was recorded */
};

enum input_format { INPUT_AUTO, INPUT_MAGIC, INPUT_BSD, INPUT_44BSD };

struct input_opts {
	struct input_target target;
	enum input_format format; /* gprof's --file-format */
	bool gnu;                 /* accept and refuse exactly what GNU gprof 2.40 does */
	void (*on_source)(const struct source *s, const char *path,
			  void *arg); /* after each file; or NULL */
	void *arg;
	bool details;                 /* samples get theirs */
	bool trace_fields;            /* those of trace points, too; they alone without `details` */
	enum input_branches branches; /* implies details where it finds some */
	const char *symfs;            /* the files that data names are below this folder; NULL: / */
	struct input_held *held;      /* what was read of these paths before, or NULL */
};

/* Read files into a new profile, in the order given (in parallel, with the same result). "-" is
 * standard input; a directory stands for the gmon.out* files in it; a name with * ? [ that does
 * not exist is a glob. With `gnu` neither holds: a path is a path.
 *
 * On an error in file k what could be read of it and of all others is still in *ret (which is set
 * in every case); the first error is returned. With `gnu` reading stops at the first error. */
MUST_CHECK struct kin_error *input_read(const char *const *paths, size_t n,
					const struct input_opts *opts, struct profile **ret);

/* Standard input and pipes can be read only once: what they hold is read here, for those who have
 * to look at it before they know how input_read() is to be called. The paths outlive it. */
struct input_held *input_hold(const char *const *paths, size_t n);
void input_held_free(struct input_held *held);

/* Whether all of the files say by themselves what was profiled: an executable need not be known. */
bool input_says_program(const char *const *paths, size_t n, const struct input_held *held);

/* What keeps one of them from being read at all: it is not there, or of no known format. */
MUST_CHECK struct kin_error *input_check(const char *const *paths, size_t n,
					 const struct input_held *held);

/* Files appear whole or not at all; a device or a pipe is written directly. Nobody may read them
 * who may not read the files they are made of. */

/* What such a file may allow, at most: see out_open(). */
mode_t input_mode(const struct profile *p);

/* gmon_write - the GNU format, readable by every gprof: a histogram bin above 65535 or an arc count
 * above 2^32-1 becomes several records, which readers add up. */
MUST_CHECK struct kin_error *gmon_write(const char *path, const struct profile *p,
					const struct input_target *target);
/* 4.4BSD (bsd44) or old BSD. Counts that do not fit are an error, not a wrap. */
MUST_CHECK struct kin_error *bsd_write(const char *path, const struct profile *p,
				       const struct input_target *target, bool bsd44);
/* 4.4BSD as FreeBSD reads it: its header can say that bins have 32 or 64 bits. It does if they do
 * not fit 16: then no other gprof but this one reads it. */
MUST_CHECK struct kin_error *freebsd_write(const char *path, const struct profile *p,
					   const struct input_target *target);

#endif
