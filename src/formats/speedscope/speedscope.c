/* speedscope.c - the files of speedscope.app, which many profilers write. */
#include "formats/speedscope/speedscope.h"

const struct format speedscope_format = {
	.about = { .name = "speedscope",
		   .what = "for speedscope.app: each thread's samples in time",
		   .endings = (const char *const[]){ ".speedscope.json", NULL },
		   .is_read = true,
		   .is_written = true },
	.recognise = speedscope_recognise,
	.read = speedscope_read,
	.write = speedscope_write,
};
