/* callgrind.c - callgrind.out: Valgrind's callgrind writes it; KCachegrind, QCachegrind and
 * callgrind_annotate read it. */
#include "formats/callgrind/callgrind.h"

const struct format callgrind_format = {
	.about = { .name = "callgrind",
		   .what = "callgrind.out of Valgrind, for KCachegrind and callgrind_annotate",
		   .endings = (const char *const[]){ "callgrind.out", ".callgrind", NULL },
		   .is_read = true,
		   .is_written = true },
	.recognise = callgrind_recognise,
	.read = callgrind_read,
	.write = callgrind_write,
};
