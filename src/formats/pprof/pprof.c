/* pprof.c - pprof's format: written by Go programs, by many libraries, and by exporters. */
#include "formats/pprof/pprof.h"

const struct format pprof_format = {
	.about = { .name = "pprof",
		   .what = "profile.proto, gzipped: for go tool pprof and all that reads it",
		   .endings = (const char *const[]){ ".pb.gz", ".pprof", ".pb", NULL },
		   .is_read = true,
		   .is_written = true,
		   .is_binary = true,
		   .is_packed = true },
	.recognise = pprof_recognise,
	.read = pprof_read,
	.write = pprof_write,
};
