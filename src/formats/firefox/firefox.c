/* firefox.c - profiles for profiler.firefox.com, by Firefox and other tools. */
#include "formats/firefox/firefox.h"

const struct format firefox_format = {
	.about = { .name = "firefox",
		   .what = "for profiler.firefox.com: threads and samples in time, inlined "
			   "functions, "
			   "libraries",
		   .endings = (const char *const[]){ ".profile.json", NULL },
		   .is_read = true,
		   .is_written = true },
	.recognise = firefox_recognise,
	.read = firefox_read,
	.write = firefox_write,
};
