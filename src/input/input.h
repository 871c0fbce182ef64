/* input.h - reads files of all known formats into one profile.
 *
 * Formats are in formats/formats.h. The byte order and pointer size of a gmon.out are not in the
 * file: they come from the executable, in struct input_target. */
#ifndef INPUT_INPUT_H
#define INPUT_INPUT_H

#include <stdio.h>

#include <sys/types.h>

#include "base/bytes.h"
#include "formats/formats.h"
#include "profile/profile.h"

struct input_target {  /* the machine that data was collected on */
	bool is_64bit; /* size of an address in the files */
	bool big_endian;
};

/* The machine that a program's data was collected on. */
struct object_file;
struct input_target input_target_of(const struct object_file *program);

struct window;
struct input_held;

/* What becomes a sample of the profile, for data with branch stacks (profile/detail.h). */
enum input_branches {
	INPUT_SAMPLES,  /* samples as such */
	INPUT_BRANCHES, /* each branch of a branch stack becomes a sample at its target, of weight 1
			 */
	INPUT_AS_RECORDED, /* branches, if the file was recorded for them */
};

enum input_format { INPUT_AUTO, INPUT_MAGIC, INPUT_BSD, INPUT_44BSD };

/* Rules for reading files, and which, for programs that differ from our own. */
struct bsd_header {
	uint64_t low, high;
	uint32_t ncnt; /* size of header and samples in bytes: where the arcs start */
	uint32_t rate; /* 0: not given */
	bool is_44bsd;
	size_t size; /* size of the header in bytes */
};
struct input_rules {
	bool (*reads)(const struct format *format); /* NULL: all */
	/* Of the formats that all readers know; false: the file is an error. NULL: all. */
	bool (*takes)(const struct format *format);
	bool whole;       /* on_source is not called if there was an error */
	size_t shortest;  /* files with fewer bytes are no data */
	bool stops;       /* reading ends at the first error, and a file with one is not reported */
	bool plain_paths; /* a directory does not stand for its files, and a pattern is a plain name
			   */
	bool version_stays; /* a file without a version is reported with the previous one's */
	struct gmon_rules {
		/* Whether the histogram fits what was read before; may change it. NULL: our rule.
		 */
		struct kin_error *(*check)(const struct profile_builder *into, struct histogram *h);
		bool host_blocks; /* blocks of version 0 have this machine's byte order and word
				     size */
		bool host_counts; /* and so does the number of blocks */
	} gmon;
	struct bsd_rules {
		bool any; /* files that have no other format are old BSD files */
		/* Whether the header of a file of `bytes` is plausible and fits the first
		 * histogram, if there is one. NULL: our rule. */
		struct kin_error *(*check)(const struct bsd_header *h,
					   const struct histogram *first, const char *path,
					   size_t bytes);
		bool like_first;    /* rate and unit are taken from the first histogram */
		bool empty_is_none; /* without samples there is no histogram */
		bool any_tail;      /* the file may end within an arc */
	} bsd;
};

/* Data that will not be needed; readers may skip it to save time, or deliver it anyway. */
struct input_needs {
	bool no_callers; /* only the innermost frame of each stack */
	bool stacks;     /* only stacks, without samples */
	bool no_times;   /* samples that differ only in time and processor are merged, without time,
			    processor and details; except those of trace points */
	/* The frame to use in stacks in place of `frame`, the last one of p so far: an earlier one
	 * that the caller does not distinguish from it. NULL: all frames are different. Equal
	 * stacks are then merged. Not called when several files are read. */
	frameid (*alike)(void *arg, const struct profile *p, frameid frame);
	void *alike_arg;
};

struct input_opts {
	struct input_target target;
	enum input_format format;        /* gprof's --file-format */
	const struct input_rules *rules; /* NULL: our own */
	void (*on_source)(const struct source *s, const char *path,
			  void *arg); /* after each file; or NULL */
	void *arg;
	struct input_needs needs; /* what will not be needed */
	bool details;             /* read details of samples */
	bool cpu_state;           /* with registers and branches; needs `details` */
	bool not_sampled;         /* add the row of CPU time without samples (unsampled.h) */
	bool not_sampled_all;     /* however little it is */
	bool trace_fields;        /* read fields of trace points; without `details` only those */
	enum input_branches branches; /* implies details if there are branches */
	const char *symfs;            /* root folder of the files named in data; NULL: / */
	struct input_held *held;      /* contents of these paths that were read before, or NULL */
};

static inline const struct input_rules *input_rules(const struct input_opts *o)
{
	static const struct input_rules ours;
	return o->rules ? o->rules : &ours;
}

/* Reads files into a new profile, in the given order (in parallel, with the same result). "-" is
 * standard input; a directory stands for the gmon.out* files in it; a name with * ? [ that does not
 * exist is a glob. (But see input_rules.) A gmon.out of a run whose recording is among the files is
 * not read (input/twins.h).
 *
 * *ret is always set. On an error in a file it still has the readable part of that file and all
 * others; the first error is returned. */
MUST_CHECK struct kin_error *input_read(const char *const *paths, size_t n,
					const struct input_opts *opts, struct profile **ret);

/* Standard input and pipes can be read only once. This reads their contents for callers that must
 * inspect them before they call input_read(). The paths must outlive it. */
struct input_held *input_hold(const char *const *paths, size_t n);
void input_held_free(struct input_held *held);

/* Whether all readable files name the profiled program themselves, so that no executable is needed.
 * False if none can be read. *silent (silent may be NULL) is then the first path with a file that
 * does not, or else the first path; NULL: there are no paths. */
bool input_says_program(const char *const *paths, size_t n, const struct input_held *held,
			const char **silent);

/* The first error that keeps a file from being read at all: it is missing, or of no known
 * format. */
MUST_CHECK struct kin_error *input_check(const char *const *paths, size_t n,
					 const struct input_held *held);

/* Files appear atomically; devices and pipes are written directly. Files may be read only by users
 * who may read the files that they were made from (profile_file_mode()). */

/* gmon_write - the GNU format, readable by every gprof: a histogram bin above 65535 or an arc count
 * above 2^32-1 becomes several records, which readers add up. */
MUST_CHECK struct kin_error *gmon_write(const char *path, const struct profile *p,
					const struct input_target *target);
/* 4.4BSD (bsd44) or old BSD. Counts that do not fit are an error, not a wrap. */
MUST_CHECK struct kin_error *bsd_write(const char *path, const struct profile *p,
				       const struct input_target *target, bool bsd44);
/* 4.4BSD as read by FreeBSD: its header can say that bins have 32 or 64 bits. It does if counts do
 * not fit 16 bits; then no other gprof can read it. */
MUST_CHECK struct kin_error *freebsd_write(const char *path, const struct profile *p,
					   const struct input_target *target);

#endif
