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

/* What a program's data is collected on. */
struct object_file;
struct input_target input_target_of(const struct object_file *program);

struct window;
struct input_held;

/* What samples are made of that hold more than a place and a time (profile/detail.h). */
enum input_branches {
	INPUT_SAMPLES,  /* samples, as always */
	INPUT_BRANCHES, /* each branch of their branch stacks is one, at its target, of weight 1 */
	INPUT_AS_RECORDED, /* branches, if those were what was recorded */
};

enum input_format { INPUT_AUTO, INPUT_MAGIC, INPUT_BSD, INPUT_44BSD };

/* What is read, and how, for programs that have it otherwise than we do. */
struct bsd_header {
	uint64_t low, high;
	uint32_t ncnt; /* bytes of header and samples: where the arcs start */
	uint32_t rate; /* 0: not said */
	bool is_44bsd;
	size_t size; /* bytes of header */
};
struct input_rules {
	bool (*reads)(const struct format *format); /* NULL: all */
	size_t shortest;                            /* what has fewer bytes is no data */
	bool stops;       /* reading ends at the first error, and a file with one is not told of */
	bool plain_paths; /* a directory is not the files in it, and a pattern is a name */
	bool version_stays; /* a file without a version is told of with that of the one before */
	struct gmon_rules {
		/* Whether it goes with what was read before, and may change it. NULL: ours. */
		struct kin_error *(*check)(const struct profile_builder *into, struct histogram *h);
		bool host_blocks; /* blocks of version 0 are as this machine writes them */
		bool host_counts; /* so is the number of blocks */
	} gmon;
	struct bsd_rules {
		bool any; /* what is of no other format is an old BSD file */
		/* Whether the header of a file of `bytes` makes sense, and goes with the first
		 * histogram, if there was one. NULL: ours. */
		struct kin_error *(*check)(const struct bsd_header *h,
					   const struct histogram *first, const char *path,
					   size_t bytes);
		bool like_first;    /* rate and unit are those of the first histogram */
		bool empty_is_none; /* without samples there is no histogram */
		bool any_tail;      /* the file may end within an arc */
	} bsd;
};

/* What nobody will look at is left out as far as that is sooner read: a reader may deliver more. */
struct input_needs {
	bool no_callers; /* of a stack only the frame that the sample was taken in */
	bool no_times;   /* samples that differ in their time and processor alone are one, of no
			  * time, no processor and no details; but for those of trace points */
	/* The frame that is to be in stacks in place of `frame`, the last one of p's so far: where
	 * they are alike to whoever will look at them. NULL: each is different. Equal stacks are
	 * then one. Of several files none is asked for. */
	frameid (*alike)(void *arg, const struct profile *p, frameid frame);
	void *alike_arg;
};

struct input_opts {
	struct input_target target;
	enum input_format format;        /* gprof's --file-format */
	const struct input_rules *rules; /* NULL: ours */
	void (*on_source)(const struct source *s, const char *path,
			  void *arg); /* after each file; or NULL */
	void *arg;
	struct input_needs needs;     /* what of samples will be looked at */
	bool details;                 /* samples get theirs */
	bool cpu_state;               /* registers and branches are in them; with `details` */
	bool trace_fields;            /* those of trace points, too; they alone without `details` */
	enum input_branches branches; /* implies details where it finds some */
	const char *symfs;            /* the files that data names are below this folder; NULL: / */
	struct input_held *held;      /* what was read of these paths before, or NULL */
};

static inline const struct input_rules *input_rules(const struct input_opts *o)
{
	static const struct input_rules ours;
	return o->rules ? o->rules : &ours;
}

/* Read files into a new profile, in the order given (in parallel, with the same result). "-" is
 * standard input; a directory stands for the gmon.out* files in it; a name with * ? [ that does
 * not exist is a glob. (But see input_rules.)
 *
 * On an error in file k what could be read of it and of all others is still in *ret (which is set
 * in every case); the first error is returned. */
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
 * who may not read the files they are made of (profile_file_mode()). */

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
